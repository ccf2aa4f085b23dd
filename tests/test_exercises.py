"""Checks pass right answers in several styles, and tell wrong ones what is wrong."""

import time
from dataclasses import replace
from itertools import product
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from course_utils._support.marks import code_marks
from course_utils._support.notebooks import exercise_parts
from course_utils.exercises import LESSONS, all_exercises, check, find, tasks_of
from course_utils.exercises.comparing import copied
from course_utils.exercises.judging import _problem, examine
from course_utils.exercises.model import Completion
from course_utils.tools.grading.marking import cases_of

from .answers import ANSWERS
from .sources import cell_of

EXERCISES = all_exercises()
TASKS = tasks_of(LESSONS)
SECONDS_FOR_SEEDS = 20  # after which no other seed begins


# The first few seeds: `most` of them, or `if_slow` of an exercise that has a time limit of its own.
def seeds_for(exercise_id, most=3, if_slow=1):
    return range(if_slow if find(exercise_id).seconds else most)


def checked(exercise_id, answer, seed):
    """As `check`, on cases that are drawn once for all answers."""
    return examine(find(exercise_id), answer, seed, cases=cases_of(exercise_id, seed))


# The tables of `answers` are {exercise id: entries}. An entry of RIGHT and COMPLETED is an answer;
# of WRONG, (answer, words of its message); of PROMISES, (words of the text, answer), and perhaps
# words of the message as a third.
def _cases(table, entries_of=list):
    return [
        pytest.param(exercise_id, entry, id=f"{exercise_id}-{table.lower()}-{number}")
        for module in ANSWERS.values()
        for exercise_id, entries in getattr(module, table).items()
        for number, entry in enumerate(entries_of(entries))
    ]


def _with_a_message(promises):
    """Those that also say what such an answer is told, as entries of WRONG."""
    return [(answer, *message) for _, answer, *message in promises if message]


@pytest.mark.parametrize(
    "most, if_slow", [(3, 1), pytest.param(200, 2, marks=pytest.mark.nightly)], ids=["few", "many"]
)
@pytest.mark.parametrize("exercise_id, answer", _cases("RIGHT") + _cases("COMPLETED"))
def test_right_answers_pass(exercise_id, answer, most, if_slow):
    """Rounding may not fail an answer."""
    end = time.monotonic() + SECONDS_FOR_SEEDS
    for seed in seeds_for(exercise_id, most, if_slow):
        report = checked(exercise_id, answer, seed)
        assert report.status == "passed", report
        if time.monotonic() > end:
            break


@pytest.mark.parametrize(
    "kind, exercise_id",
    [*product(["RIGHT"], EXERCISES), *product(["COMPLETED"], sorted(TASKS.keys() - EXERCISES))],
)
def test_there_are_three_right_answers(kind, exercise_id):
    assert len(getattr(ANSWERS[exercise_id[:2]], kind)[exercise_id]) >= 3, (
        "write at least three right answers, beside those of the check and the lesson"
    )


@pytest.mark.parametrize(
    "exercise_id, wrong", _cases("WRONG") + _cases("PROMISES", _with_a_message)
)
def test_wrong_answers_fail_and_are_told_why(exercise_id, wrong):
    answer, words = wrong
    for seed in seeds_for(exercise_id):
        report = checked(exercise_id, answer, seed)
        assert report.status == "failed", report
        assert words in report.messages[0], report


def spoil(value):
    """Change a value in place. Returns whether there was anything to change.

    Of a list, a tuple or a dictionary, the first entry that can change is changed, however deep it
    stands, and only if there is none, the list or dictionary itself.
    """
    if isinstance(value, list | tuple | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            if spoil(entry):
                return True
    match value:
        case torch.Tensor() | np.ndarray():
            value[...] = value == 0  # every entry changes: 0 becomes 1, and all others become 0
        case list():
            value.append(0)
        case set():
            value.add((0, 0))
        case dict():
            value[0] = 0
        case _:  # a number, a text, or a tuple of such
            return False
    return True


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))
def test_no_argument_may_change(exercise):
    # where nothing in an argument can be changed in place, as in a number, the answer passes
    for place, name in enumerate(exercise.arguments):

        def answer(*args):
            result = copied(exercise.reference(*args))
            spoil(args[place])
            return result

        report = checked(exercise.id, answer, 0)
        if any(spoil(copied(case.args[place])) for case in cases_of(exercise.id, 0)):
            assert f"Your function changes `{name}`, which belongs to the caller." in " ".join(
                report.messages
            )
        else:
            assert report.passed


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))
def test_every_exercise_is_complete(exercise):
    messages = [mistake.message for mistake in exercise.mistakes]
    assert len(messages) >= 5, "five mistakes at least"
    assert len({*messages}) == len(messages), "two mistakes have the same message"
    assert len(exercise.hints) >= 2
    assert "TODO" not in repr(exercise), "fill in everything marked TODO"
    promised = getattr(ANSWERS.get(exercise.lesson), "PROMISES", {})
    assert exercise.id in promised, (
        f"its promises are missing in tests/answers/lesson_{exercise.lesson}.py; "
        "write [] if all of them are `breaks` of its mistakes"
    )
    assert promised[exercise.id] or any(mistake.breaks for mistake in exercise.mistakes), (
        f"its promises are missing in tests/answers/lesson_{exercise.lesson}.py, "
        "or as `breaks` of its mistakes"
    )


@pytest.mark.parametrize("side", ["does", "because"])
@pytest.mark.parametrize("exercise", TASKS.values(), ids=list(TASKS))
def test_no_two_cards_of_an_exercise_have_the_same_front_or_back(exercise, side):
    texts = [getattr(mistake, side) for mistake in exercise.mistakes if mistake.card]
    assert [text for text in texts if texts.count(text) > 1] == [], (
        f"two mistakes have this `{side}`: change it, or name one of them under `no_card`"
    )


@pytest.mark.parametrize(
    "seeds", [[0], pytest.param(range(1, 3), marks=pytest.mark.nightly)], ids=["one", "more"]
)
@pytest.mark.parametrize("exercise", TASKS.values(), ids=list(TASKS))
def test_the_reference_passes_and_each_mistake_is_told_its_own_sentence(exercise, seeds):
    # a completion takes little time
    for seed in range(10) if isinstance(exercise, Completion) else seeds:
        assert checked(exercise.id, exercise.reference, seed).passed
        for mistake in exercise.mistakes:
            for imitate in mistake.imitations:
                report = checked(exercise.id, imitate, seed)
                assert report.mistakes == (mistake.message,), report


@pytest.mark.parametrize(
    "seeds",
    [range(1, 3), pytest.param(range(3, 20), marks=pytest.mark.nightly)],
    ids=["some", "all"],
)
@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))
def test_no_mistake_passes_on_any_seed(exercise, seeds):
    for seed in seeds:
        cases = cases_of(exercise.id, seed)
        assert checked(exercise.id, exercise.reference, seed).passed
        for mistake in exercise.mistakes:
            for imitate in mistake.imitations:
                assert any(_problem(exercise, case, case.outcome_of(imitate)) for case in cases), (
                    mistake.name
                )


def test_no_mistake_is_named_where_the_reference_misses_the_target_too():
    """An encoder set by name may not reach it, and then a threshold, say, leaves nothing out."""
    exercise = replace(EXERCISES["14-search"], judge=lambda args, found: "the target is missed")
    same = replace(exercise.mistakes[0], imitations=(exercise.reference,))
    report = examine(replace(exercise, mistakes=(same,)), exercise.reference, 0)
    assert report.status == "failed"
    assert report.mistakes == ()
    assert "the target is missed" in report.messages[0]


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))
def test_the_solution_in_the_lesson_passes(exercise):
    """The check's stored output says that it passes; that output is compared with a fresh run."""
    check_cell = cell_of(exercise.lesson, f"{exercise.id}-check")
    assert check_cell.outputs, f"make lesson L={exercise_parts()[exercise.id]} stores what it shows"
    assert "✓ passed" in check_cell.outputs[0].data["text/plain"]


@pytest.mark.parametrize(
    "exercise_id, answer",
    [
        # what stands for an answer before there is one
        ("04-mean-pool", None),
        ("04-mean-pool", ...),
        *product(EXERCISES, [Mock(side_effect=NotImplementedError)]),  # as a stub raises it
    ],
)
def test_stubs_are_not_attempted_yet(exercise_id, answer):
    report = check(exercise_id, answer)
    assert report.status == "not attempted"
    assert report.passed is False
    assert all("not attempted yet" in text for text in (str(report), report._repr_html_()))


def test_a_message_shows_code_and_emphasis_and_leaves_products_alone():
    assert code_marks("Mask the *rows*, `a *b* c`, of 2 * n * m, <b>, **kwargs and *args, *.") == (
        "Mask the <em>rows</em>, <code>a *b* c</code>, of 2 * n * m, &lt;b&gt;, "
        "**kwargs and *args, *."
    )
