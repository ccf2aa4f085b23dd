"""The first answers of the check tests, right and wrong, get through the grader what the instant check says of them."""

from functools import cache
from pathlib import Path

import nbformat
import pytest

from course_utils.exercises import find
from course_utils.exercises.judging import examine
from course_utils.tools.grading.marking import Marker, assignment, cases_of
from course_utils.tools.grading.program import cell_checksum
from course_utils.tools.grading.sandbox import Sandbox

from .answers import ANSWERS
from .grader import isolation

SEED = 20
EACH_RUN = ("00", "04", "05", "07", "11")  # the other lessons nightly: each takes seconds
FUNCTIONS = assignment()["exercises"]


def rows():
    """Two hand-ins of each lesson: the first right answer to each exercise, and the first wrong ones."""
    for lesson, module in ANSWERS.items():
        for kind in ("RIGHT", "WRONG"):
            slow = [] if lesson in EACH_RUN else [pytest.mark.nightly]
            yield pytest.param(lesson, kind, list(getattr(module, kind)), id=f"{lesson}-{kind.lower()}", marks=slow)


def first(lesson, kind, exercise_id):
    answer = getattr(ANSWERS[lesson], kind)[exercise_id][0]
    return answer if kind == "RIGHT" else answer[0]


def notebook(lesson, kind, exercises):
    """A notebook: the answers' file as one cell, then each answer under its exercise's name, followed by its check."""
    sources = [Path(ANSWERS[lesson].__file__).read_text()]
    for exercise_id in exercises:
        function = FUNCTIONS[exercise_id][0]
        sources += [
            f"{function} = {kind}[{exercise_id!r}][0]{'' if kind == 'RIGHT' else '[0]'}",
            f'check("{exercise_id}", {function})',
        ]
    return nbformat.writes(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    ).encode()


@pytest.fixture(scope="module")
def sandbox():
    isolation()
    with Sandbox(cold=False) as sandbox:
        sandbox.wait()
        yield sandbox


@cache
def marker(sandbox, lesson):
    marker, own = Marker(sandbox, (lesson,), SEED), Path(ANSWERS[lesson].__file__).read_text()
    sandbox.prepare([own])
    # the answers' file is not a learner's cell, so failures are not retried
    marker.work = {**marker.work, "by_hand": {}, "known": {cell_checksum(own): own}}
    return marker


@pytest.mark.parametrize("lesson, kind, exercises", list(rows()))
def test_the_grader_says_what_the_check_says(lesson, kind, exercises, sandbox, one_thread):
    marks = marker(sandbox, lesson).mark(notebook(lesson, kind, exercises)).exercises
    for exercise_id in exercises:
        mark, answer = marks[exercise_id], first(lesson, kind, exercise_id)
        report = examine(find(exercise_id), answer, SEED, cases=cases_of(exercise_id, SEED))
        assert (mark.status, mark.messages) == (report.status, list(report.messages)), exercise_id
        assert mark.points == (mark.of if kind == "RIGHT" else 0) and mark.of == FUNCTIONS[exercise_id][1] > 0
        assert mark.mistake == report.mistake
