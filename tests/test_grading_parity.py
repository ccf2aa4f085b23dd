"""The first answers of the check tests, right or wrong, get through the grader what the instant check says of them."""

import os
from functools import cache
from itertools import zip_longest
from pathlib import Path

import nbformat
import pytest

from course_utils.exercises import check
from course_utils.tools.grading.marking import Marker, assignment
from course_utils.tools.grading.program import checksum
from course_utils.tools.grading.sandbox import Sandbox, why_not

from .answers import ANSWERS

SEED = 20
FUNCTIONS = assignment()["exercises"]


def rows():
    """Hand-ins of a lesson: the first right answer to each exercise, the first wrong one, and the second of each."""
    for lesson, module in ANSWERS.items():
        of_each = [
            [
                (exercise_id, kind, number)
                for number in range(2)
                for kind in ("RIGHT", "WRONG")
                if number < len(getattr(module, kind).get(exercise_id, []))
            ]
            for exercise_id in module.RIGHT | module.WRONG
        ]
        for number, row in enumerate(zip_longest(*of_each)):
            yield pytest.param(lesson, [answer for answer in row if answer], id=f"{lesson}-{number}")


def notebook(lesson, row):
    """A notebook: the answers' file as one cell, then each answer under its exercise's name, followed by its check."""
    sources = [Path(ANSWERS[lesson].__file__).read_text()]
    for exercise_id, kind, number in row:
        function = FUNCTIONS[exercise_id][0]
        sources += [
            f"{function} = {kind}[{exercise_id!r}][{number}]{'' if kind == 'RIGHT' else '[0]'}",
            f'check("{exercise_id}", {function})',
        ]
    return nbformat.writes(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    ).encode()


@pytest.fixture(scope="module")
def sandbox():
    if reason := why_not():
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    with Sandbox(cold=False) as sandbox:
        sandbox.wait()
        yield sandbox


@cache
def marker(sandbox, lesson):
    marker, own = Marker(sandbox, (lesson,), SEED), Path(ANSWERS[lesson].__file__).read_text()
    sandbox.prepare([own])
    # the answers' file is not a learner's cell, so failures are not retried
    marker.work = {**marker.work, "by_hand": {}, "known": {checksum(own): own}}
    return marker


@pytest.mark.parametrize("lesson, row", list(rows()))
def test_the_grader_says_what_the_check_says(lesson, row, sandbox, one_thread):
    marks = marker(sandbox, lesson).mark(notebook(lesson, row))["exercises"]
    for exercise_id, kind, number in row:
        mark, answer = marks[exercise_id], getattr(ANSWERS[lesson], kind)[exercise_id][number]
        report = check(exercise_id, answer if kind == "RIGHT" else answer[0], SEED)
        assert (mark["status"], mark["messages"]) == (report.status, list(report.messages)), (exercise_id, kind, number)
        assert mark["points"] == (mark["of"] if kind == "RIGHT" else 0) and mark["of"] == FUNCTIONS[exercise_id][1] > 0
        assert mark["mistake"] == report.mistake
