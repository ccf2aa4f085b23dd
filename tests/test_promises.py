"""The text of an exercise is its contract: an answer that breaks only one of its promises fails, whatever is drawn.

A known mistake names the words of the text that it breaks (`breaks` in exercises/lesson_NN.toml), and test_exercises.py
tries it. `PROMISES` in `answers` lists what no known mistake breaks: words of the text, an answer that breaks only
these, and perhaps what it is told, which test_exercises.py checks. 20 seeds are tried, most of them nightly.
"""

import re

import pytest

from course_utils._support.notebooks import part_with
from course_utils.exercises import LESSONS, exercises_of
from course_utils.exercises.judging import examine
from course_utils.tools.grading.marking import cases_of
from course_utils.tools.workspace.copies import stub_out

from .answers import ANSWERS
from .sources import SOURCES


def text_of(exercise_id):
    """What a learner reads: the cell above the answer, and the stub with its docstring."""
    cells = SOURCES[part_with(exercise_id)].cells
    (place,) = (
        place
        for place, cell in enumerate(cells)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == exercise_id
    )
    return cells[place - 1].source + "\n" + stub_out(cells[place].source)


# how a text says that an argument may not change; test_exercises.py changes each argument of each exercise
UNCHANGED = re.compile(
    "not change|change neither|(neither|no) [a-z]+ may change|stays? as (it is|they are)|leave it as it is|"
    "belongs to the caller",
    re.IGNORECASE,
)
# lessons and exercises whose texts do not say that arguments may not change
SAYS_NOTHING = {"06", "08", "09", "10", "11", "12", "13-hamming"}
PROMISES = {  # {exercise: tuples of the words, the answer and perhaps what the answer is told}
    exercise_id: promises
    for module in ANSWERS.values()
    for exercise_id, promises in module.PROMISES.items()
}


def in_one_line(text):
    return " ".join(text.split())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # wrong answers divide by 0
@pytest.mark.parametrize(
    "seeds", [[0], pytest.param(range(1, 20), marks=pytest.mark.nightly)], ids=["one", "others"]
)
@pytest.mark.parametrize("exercise_id, promises", PROMISES.items(), ids=PROMISES)
def test_an_answer_that_breaks_one_promise_of_the_text_fails_on_every_seed(
    exercise_id, promises, seeds
):
    exercise, text = exercises_of(LESSONS)[exercise_id], in_one_line(text_of(exercise_id))
    words_of_mistakes = [words for mistake in exercise.mistakes for words in mistake.breaks]
    promised = [*(words for words, *_ in promises), *words_of_mistakes]
    missing = [words for words in promised if in_one_line(words) not in text]
    assert missing == [], "the text does not say this"
    for seed in seeds:
        cases = cases_of(exercise_id, seed)
        broken_and_passed = [
            words
            for words, answer, *_ in promises
            if examine(exercise, answer, seed, cases=cases).status != "failed"
        ]
        assert broken_and_passed == [], f"an answer that breaks this passes with seed {seed}"


@pytest.mark.parametrize("exercise_id", exercises_of(LESSONS))
def test_the_text_says_that_arguments_may_not_change(exercise_id):
    is_said = bool(UNCHANGED.search(in_one_line(text_of(exercise_id))))
    may_be_silent = bool({exercise_id, exercise_id[:2]} & SAYS_NOTHING)
    assert is_said != may_be_silent, (
        'either the text says "do not change ...", or SAYS_NOTHING names the exercise or its lesson'
    )
