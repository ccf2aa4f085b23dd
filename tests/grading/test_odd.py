"""The grader gives each odd but honest notebook the points that a real kernel gives it (test_odd_kernel.py)."""

import pytest

from course_utils.exercises import judging
from course_utils.tools.grading.marking import Marker
from course_utils.tools.grading.sandbox import Sandbox

from ..grader import isolation, total
from .odd import ODD


@pytest.fixture(scope="module")
def marker(one_thread):
    isolation()
    with pytest.MonkeyPatch.context() as patch, Sandbox(seconds=10, memory=2**30, cold=False) as sandbox:
        patch.setattr(judging, "SECONDS", 2)
        patch.setattr(Marker, "sandbox_patience", 3)
        marker = Marker(sandbox, ("04",), seed=4, seconds=10)
        sandbox.wait()
        yield marker


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_odd_but_honest_notebooks_get_what_they_deserve(odd, marker, record_property):
    result = marker.mark(odd.build())
    assert total(result) == odd.points, {one: mark.messages for one, mark in result.exercises.items()}
    record_property("hand-in", "honest")  # counted and printed by tests/conftest.py
