"""The grader gives each odd but honest notebook the points that a real kernel gives it (test_odd_kernel.py)."""

import os

import pytest

from course_utils.exercises import judging
from course_utils.tools.grading.marking import Marker
from course_utils.tools.grading.sandbox import Sandbox, isolation_problem

from .odd import ODD


@pytest.fixture(scope="module")
def marker(one_thread):
    if reason := isolation_problem():
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    with pytest.MonkeyPatch.context() as patch, Sandbox(seconds=10, memory=2**30, cold=False) as sandbox:
        patch.setattr(judging, "SECONDS", 2)
        patch.setattr(Marker, "sandbox_patience", 3)
        marker = Marker(sandbox, ("04",), seed=4, seconds=10)
        sandbox.wait()
        yield marker


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_odd_but_honest_notebooks_get_what_they_deserve(odd, marker, record_property):
    marks = marker.mark(odd.build())["exercises"]
    assert sum(mark["points"] for mark in marks.values()) == odd.points, {
        one: mark["messages"] for one, mark in marks.items()
    }
    record_property("hand-in", "honest")  # counted and printed by tests/conftest.py
