"""The words of exercises fit their code, and where they do not, one sentence says so."""

import re

import pytest

from course_utils.exercises import LESSONS, completions_of, exercises_of
from course_utils.exercises.words import WordsError, exercise, words_of

WORDS = {
    "shared": {"mistakes": {"sum": {"does": "You add.", "because": "Divide."}}},
    "04-x": {
        "title": "X",
        "hints": ["Think."],
        "no_card": "sum",
        "mistakes": {"sum": {"breaks": ["the mean"]}, "half": {"does": "You halve."}},
    },
}


def built(words=WORDS, names=("sum", "half"), **changes):
    own = {**words["04-x"], **changes}
    return exercise("04-x", None, lambda table, i=0: table, words={**words, "04-x": own})(**dict.fromkeys(names, abs))


def test_a_mistake_has_its_words_shared_or_own_and_all_its_imitations():
    assert built().arguments == ("table",)  # without those that have a default
    one, other = built().mistakes
    assert one.message == "You add. Divide." and one.breaks == ("the mean",) and not one.card
    assert other.message == "You halve." and not other.card  # a card would explain nothing
    assert [mistake.imitations for mistake in (one, other)] == [(abs,), (abs,)]
    words = {**WORDS, "04-x": {**WORDS["04-x"], "mistakes": {}}}
    (several,) = exercise("04-x", None, abs, ("table",), words)(sum=[abs, min]).mistakes
    assert several.imitations == (abs, min)


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"title": ""}, "there is no title"),
        ({"hints": []}, "there is no hints"),
        ({"hint": ["Think."]}, "'hint' is neither a mistake in the code nor one of"),
        ({"no_card": "summ"}, "'summ' is neither a mistake"),
        ({"mistakes": {"half": {"does": "You halve."}, "third": {"does": "?"}}}, "'third' is neither a mistake"),
        ({"mistakes": {}}, "the mistake 'half' must have `does`"),
        ({"mistakes": {"half": {"does": "", "because": "No."}}}, "the mistake 'half' must have `does`"),
        ({"mistakes": {"half": {"does": "You halve.", "why": "No."}}}, r"it has \['does', 'why'\]"),
    ],
)
def test_words_that_do_not_fit_the_code_are_named(changes, sentence):
    with pytest.raises(WordsError, match=f"^lesson_04.toml, 04-x: .*{sentence}"):
        built(**changes)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    (tmp_path / "lesson_04.toml").write_text("[04-x\n")
    for lesson in ("04", "05"):
        with pytest.raises(WordsError, match=f"^lesson_{lesson}.toml cannot be read: "):
            words_of(lesson, tmp_path)


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_words_are_left_over(lesson):
    words, described = words_of(lesson), {**exercises_of([lesson]), **completions_of([lesson])}
    shared = words.get("shared", {}).get("mistakes", {})
    assert words.keys() - {"shared"} == described.keys()
    users = [mistake.name for one in described.values() for mistake in one.mistakes]
    assert all(users.count(name) > 1 for name in shared)


TASKS = {**exercises_of(LESSONS), **completions_of(LESSONS)}


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_there_are_twelve_messages_at_most_of_two_sentences_each(task):
    assert len(task.mistakes) <= 12
    for mistake in task.mistakes:
        plain = re.sub(r"`[^`]*`", "code", mistake.message)
        sentences = re.split(r"(?<=[.?!])\s", plain)
        assert len(sentences) <= 2, mistake.message
