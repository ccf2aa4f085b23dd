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
        "mistakes": {
            "sum": {"breaks": ["the mean"]},
            "half": {"does": "You halve."},
            "twice": {"does": "You double.", "because": "Once is enough."},
        },
    },
}
# with two imitations of the mistake `sum`, and one of each other
EXERCISE = exercise(
    "04-x",
    cases=None,  # nothing is drawn here
    reference=lambda table, i=0: table,  # `i` has a default, so learners do not get it
    words=WORDS,
)(sum=[abs, min], half=abs, twice=abs)  # any functions: they are not called
KEYS_OF_AN_EXERCISE = {"title", "hints", "mistakes", "no_card", "shown_in"}
KEYS_OF_A_MISTAKE = {"does", "because", "breaks", "shown_in"}
TASKS = tasks_of(LESSONS)
each_task = pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))


def test_arguments_are_the_parameters_without_a_default():
    assert EXERCISE.arguments == ("table",)


def test_a_mistake_has_its_words_shared_or_own():
    added, halved, _ = EXERCISE.mistakes
    assert [added.message, halved.message] == ["You add. Divide.", "You halve."]
    assert added.breaks == ("the mean",)


def test_a_mistake_makes_no_card_if_the_words_say_so_or_do_not_say_why_it_is_wrong():
    # `no_card` names the first; a card of the second would explain nothing; the third makes one
    assert [mistake.card for mistake in EXERCISE.mistakes] == [False, False, True]


def test_a_mistake_has_all_its_imitations():
    assert [mistake.imitations for mistake in EXERCISE.mistakes] == [(abs, min), (abs,), (abs,)]


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_exercise_of_a_lesson_has_words_and_shared_ones_are_used_twice(lesson):
    words, tasks = words_of(lesson), tasks_of([lesson])
    assert words.keys() - {"shared"} == tasks.keys()
    users = [mistake.name for task in tasks.values() for mistake in task.mistakes]
    assert all(users.count(name) > 1 for name in words.get("shared", {}).get("mistakes", {}))


@each_task
def test_the_words_of_an_exercise_fit_its_code(task):
    words = words_of(task.lesson)[task.id]
    assert words.keys() <= KEYS_OF_AN_EXERCISE
    assert words["title"]
    assert words["hints"]
    words_by_mistake = words.get("mistakes", {})
    assert all(entry.keys() <= KEYS_OF_A_MISTAKE for entry in words_by_mistake.values())
    known = {mistake.name for mistake in task.mistakes}
    assert known >= {*words_by_mistake, *words.get("no_card", "").split()}
    assert all(mistake.does for mistake in task.mistakes)


@each_task
def test_there_are_twelve_messages_at_most_of_two_sentences_each(task):
    assert len(task.mistakes) <= 12  # a limit for authors: each message must earn its place
    for mistake in task.mistakes:
        # code may hold full stops, which end no sentence
        sentences = re.split(r"(?<=[.?!])\s", re.sub(r"`[^`]*`", "code", mistake.message))
        assert len(sentences) <= 2, mistake.message
