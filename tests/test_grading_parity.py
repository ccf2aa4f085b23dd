"""Every answer of the check tests, right or wrong, gets through the grader what the instant check says of it."""

import os
from functools import cache
from importlib import import_module
from pathlib import Path

import nbformat
import pytest

from course_utils.exercises import LESSONS, all_exercises, check
from course_utils.grading.marking import Marker, assignment
from course_utils.grading.program import checksum
from course_utils.grading.sandbox import Sandbox, why_not

SEED = 20
ANSWERS = {lesson: import_module(f"tests.answers.lesson_{lesson}") for lesson in LESSONS}
FUNCTIONS = assignment()["exercises"]


def notebook(exercise_id, kind, number):
    """A hand-in: the answers' file as one cell, and one answer under the exercise's name in the next."""
    path = "" if kind == "RIGHT" else "[0]"
    answer = f"{FUNCTIONS[exercise_id][0]} = {kind}[{exercise_id!r}][{number}]{path}"
    cells = [nbformat.v4.new_code_cell(Path(ANSWERS[exercise_id[:2]].__file__).read_text()),
             nbformat.v4.new_code_cell(answer), nbformat.v4.new_code_cell(f'check("{exercise_id}", {FUNCTIONS[exercise_id][0]})')]
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()


@pytest.fixture(scope="module")
def sandbox():
    if reason := why_not():
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    with Sandbox() as sandbox:
        sandbox.wait()
        yield sandbox


@cache
def markers(sandbox, lesson):
    return Marker(sandbox, (lesson,), SEED)


def cases():
    for exercise_id in all_exercises():
        for kind in ("RIGHT", "WRONG"):
            for number, answer in enumerate(getattr(ANSWERS[exercise_id[:2]], kind)[exercise_id]):
                yield pytest.param(exercise_id, kind, number, answer, id=f"{exercise_id}-{kind.lower()}-{number}")


@pytest.mark.parametrize("exercise_id, kind, number, answer", list(cases()))
def test_the_grader_says_what_the_check_says(exercise_id, kind, number, answer, sandbox, one_thread):
    marker = markers(sandbox, exercise_id[:2])
    own = checksum(Path(ANSWERS[exercise_id[:2]].__file__).read_text())  # no learner's cell, so that what fails is not tried twice
    marker.work = {**assignment((exercise_id[:2],)), "exercises": {exercise_id: FUNCTIONS[exercise_id]}, "by_hand": {}, "known": [own]}
    mark = marker.mark(notebook(exercise_id, kind, number))["exercises"][exercise_id]
    report = check(exercise_id, answer if kind == "RIGHT" else answer[0], SEED)
    assert (mark["status"], mark["messages"]) == (report.status, list(report.messages))
    assert mark["points"] == (mark["of"] if kind == "RIGHT" else 0) and mark["of"] == FUNCTIONS[exercise_id][1] > 0
    assert mark["mistake"] == report.mistake
