"""Results and records of invented learners, made without running a notebook."""

from course_utils._support.notebooks import exercise_parts
from course_utils.tools.grading.marking import assignment
from course_utils.tools.grading.records import records
from course_utils.tools.grading.results import Mark, Result
from course_utils.tools.grading.store import Entry
from course_utils.tools.grading.submissions import Gathered, HandIn

from .grader import points_of

WORK = assignment()
ALL_04 = [exercise for exercise in WORK["exercises"] if exercise_parts()[exercise] == "04"]
ALL_05 = [exercise for exercise in WORK["exercises"] if exercise_parts()[exercise] == "05"]
# the points of lesson 04, and of both lessons
FULL, BOTH = points_of("04"), points_of("04", "05")


def result(*passed, lesson="04", state="ok", missing=(), texts=None):
    """The result of a hand-in of one lesson.

    passed: the exercises that are passed. missing: those that have no answer. All others failed.
    state: the status of the result, one of `STATUSES` in results.py; also the state of each
    exercise that is not missing. texts: the answers, by exercise.
    """
    marks = {}
    for exercise, (_, most) in WORK["exercises"].items():
        if exercise_parts()[exercise] == lesson:
            if exercise in passed:
                status, ended, points = "passed", state, most
            elif exercise in missing:
                status, ended, points = "missing", "missing exercise", 0
            else:
                status, ended, points = "failed", state, 0
            marks[exercise] = Mark(
                title=exercise,
                status=status,
                points=points,
                of=most,
                state=ended,
                reason="why",
                seed=1,
            )
    return Result(state, "", [lesson], marks, texts or {}, [f"problem of {state}"])


def learners(*hand_ins, lessons=None, people=None):
    """{learner: record} of hand-ins, each (learner, file, modified, result).

    modified: when the file was last changed, in seconds. lessons, people: the lessons that
    count and the roster; without them, all lessons, and a class without a roster.
    """
    gathered = Gathered(
        HandIn(learner, file=file, sha256=f"{learner}{file}", modified=modified)
        for learner, file, modified, _ in hand_ins
    )
    entries = {
        (learner, file): Entry(learner, "", file, "", "", result)
        for learner, file, _, result in hand_ins
    }
    return {
        record.learner: record for record in records(gathered, entries, people or {}, WORK, lessons)
    }
