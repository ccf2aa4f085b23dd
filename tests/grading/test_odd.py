"""The grader gives each odd but honest notebook the points that a real kernel gives it (test_odd_kernel.py)."""

import pytest

from ..grader import each_run_or_nightly, strict_marker, total
from .odd import ODD


@pytest.fixture(scope="module")
def marker(one_thread):
    with strict_marker(seconds=10, seconds_of_a_call=2) as marker:
        yield marker


@pytest.mark.parametrize("odd", each_run_or_nightly(ODD))
def test_odd_but_honest_notebooks_get_what_they_deserve(odd, marker):
    result = marker.mark(odd.build())
    messages = {exercise_id: mark.messages for exercise_id, mark in result.exercises.items()}
    assert total(result) == odd.points, messages
