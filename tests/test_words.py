"""The words of exercises fit their code."""

import re

import pytest

from course_utils.exercises import LESSONS, tasks_of
from course_utils.exercises.model import exercise, words_of

WORDS = {
    "shared": {"mistakes": {"sum": {"does": "You add.", "because": "Divide."}}},
    "04-x": {
        "title": "X",
        "hints": ["Think."],
        "no_card": "sum",
        "mistakes": {"sum": {"breaks": ["the mean"]}, "half": {"does": "You halve."}},
    },
}
# with two imitations of the mistake `sum`, and one of `half`
EXERCISE = exercise("04-x", None, lambda table, i=0: table, words=WORDS)(sum=[abs, min], half=abs)
# the keys that there may be in the words
OF_AN_EXERCISE = {"title", "hints", "mistakes", "no_card", "shown_in"}
OF_A_MISTAKE = {"does", "because", "breaks", "shown_in"}


def test_arguments_are_the_parameters_without_a_default():
    assert EXERCISE.arguments == ("table",)


def test_a_mistake_has_its_words_shared_or_own():
    added, halved = EXERCISE.mistakes
    assert [added.message, halved.message] == ["You add. Divide.", "You halve."]
    assert added.breaks == ("the mean",)


def test_a_mistake_makes_no_card_if_the_words_say_so_or_do_not_say_why_it_is_wrong():
    # `no_card` names the first; a card of the second would explain nothing
    assert [mistake.card for mistake in EXERCISE.mistakes] == [False, False]


def test_a_mistake_has_all_its_imitations():
    assert [mistake.imitations for mistake in EXERCISE.mistakes] == [(abs, min), (abs,)]


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_words_of_a_lesson_fit_its_code(lesson):
    words, tasks = dict(words_of(lesson)), tasks_of([lesson])
    shared = words.pop("shared", {}).get("mistakes", {})
    assert words.keys() == tasks.keys()
    for name, own in words.items():
        assert own.keys() <= OF_AN_EXERCISE, name
        assert own["title"], name
        assert own["hints"], name
        mistakes = own.get("mistakes", {})
        assert all(of_mistake.keys() <= OF_A_MISTAKE for of_mistake in mistakes.values()), name
        known = {mistake.name for mistake in tasks[name].mistakes}
        assert known >= {*mistakes, *own.get("no_card", "").split()}, name
        assert all(mistake.does for mistake in tasks[name].mistakes), name
    users = [mistake.name for task in tasks.values() for mistake in task.mistakes]
    assert all(users.count(name) > 1 for name in shared)


TASKS = tasks_of(LESSONS)


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_there_are_twelve_messages_at_most_of_two_sentences_each(task):
    assert len(task.mistakes) <= 12
    for mistake in task.mistakes:
        sentences = re.split(r"(?<=[.?!])\s", re.sub(r"`[^`]*`", "code", mistake.message))
        assert len(sentences) <= 2, mistake.message
