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


OF_AN_EXERCISE = {"title", "hints", "mistakes", "no_card", "shown_in"}
OF_A_MISTAKE = {"does", "because", "breaks", "shown_in"}


def test_a_mistake_has_its_words_shared_or_own_and_all_its_imitations():
    built = exercise("04-x", None, lambda table, i=0: table, words=WORDS)(sum=[abs, min], half=abs)
    assert built.arguments == ("table",)  # without those that have a default
    added, halved = built.mistakes
    assert added.message == "You add. Divide." and added.breaks == ("the mean",) and not added.card
    assert halved.message == "You halve." and not halved.card  # a card would explain nothing
    assert added.imitations == (abs, min) and halved.imitations == (abs,)


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_words_of_a_lesson_fit_its_code(lesson):
    words, described = dict(words_of(lesson)), tasks_of([lesson])
    shared = words.pop("shared", {}).get("mistakes", {})
    assert words.keys() == described.keys()
    for name, own in words.items():
        mistakes = own.get("mistakes", {})
        known = {mistake.name for mistake in described[name].mistakes}
        assert own.keys() <= OF_AN_EXERCISE and own["title"] and own["hints"]
        assert known >= mistakes.keys() | set(own.get("no_card", "").split()), name
        assert all(of_mistake.keys() <= OF_A_MISTAKE for of_mistake in mistakes.values()), name
        assert all(mistake.does for mistake in described[name].mistakes), name
    users = [mistake.name for task in described.values() for mistake in task.mistakes]
    assert all(users.count(name) > 1 for name in shared)


TASKS = tasks_of(LESSONS)


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_there_are_twelve_messages_at_most_of_two_sentences_each(task):
    assert len(task.mistakes) <= 12
    for mistake in task.mistakes:
        sentences = re.split(r"(?<=[.?!])\s", re.sub(r"`[^`]*`", "code", mistake.message))
        assert len(sentences) <= 2, mistake.message
