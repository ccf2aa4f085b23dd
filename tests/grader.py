"""Helpers of the grader's tests: hand-ins made from the lessons, and `course grade` as an instructor runs it."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import nbformat
import psutil
import pytest

from course_utils._support.notebooks import BEGIN, END, exercise_parts, parts
from course_utils.exercises import judging
from course_utils.tools.grading import class_run
from course_utils.tools.grading.marking import Marker, assignment
from course_utils.tools.grading.sandbox import Sandbox, isolation_problem
from course_utils.tools.workspace.copies import learner_copy

from .project import ROOT

COURSE = [sys.executable, "-m", "course_utils.tools.cli"]
EXTRAS = Path(sys.prefix) / "grading"  # nbgrader, as `make test` installs it
LESSON = ("04", "04-lengths")  # the two parts of lesson 04
# what a marking process is started with
SETTINGS = {"lessons": ["04"], "seed": 1, "isolated": True, "seconds": 60, "memory": 2**31}


def isolation():
    """Skip the test where submissions cannot be isolated; on CI, fail it."""
    if reason := isolation_problem():
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)


@contextmanager
def ready_sandbox(**options):
    """A sandbox that is ready; skips the test where nothing can be isolated."""
    isolation()
    with Sandbox(**options) as sandbox:
        sandbox.filtered = sandbox.wait()
        yield sandbox


@pytest.fixture(scope="module")
def one_sandbox():
    """`grade` marks in this process, in a sandbox that all tests of the module share, and starts no marking process."""
    with ready_sandbox() as sandbox, pytest.MonkeyPatch.context() as patch:

        def mark_here(jobs, settings, workers):
            marker = Marker(sandbox, settings["lessons"], settings["seed"], settings["seconds"])
            for job in jobs:
                yield job["key"], marker.mark(Path(job["path"]).read_bytes(), job["name"])

        patch.setattr(class_run, "mark_here", mark_here)
        yield


def graded(source, out, progress=lambda results, total: results, **options):
    """`grade` with one worker and these options: the records by learner."""
    records = class_run.grade(source, out, class_run.Options(**{"workers": 1, **options}), progress)
    return {record.learner: record for record in records}


def total(result):
    """The points of a hand-in."""
    return sum(mark.points for mark in result.exercises.values())


def start(*arguments, **more):
    """Start `course` with these arguments, its error messages in a pipe."""
    return subprocess.Popen(
        [*COURSE, *map(str, arguments)],
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1", **more},
    )


def begun(process, sign, seconds=90):
    """Wait until `sign()` returns something true while the process runs, and return that."""
    deadline = time.monotonic() + seconds
    while not (result := sign()):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    return result


def runs(process):
    """Whether a process runs. One that ended stays as a zombie until its parent waits for it."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def most_memory():
    """The most memory that this process has had, in kB."""
    import resource  # Windows, where other tests import this module, has none

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def first_result(out):
    """Whether a run has stored a result."""
    path = Path(out) / "results.jsonl"
    return path.exists() and path.stat().st_size > 0


@contextmanager
def strict_marker(seconds, seconds_of_a_call):
    """A marker of lesson 04 and its further part in a warm sandbox of its own, which waits for nothing long."""
    with (
        pytest.MonkeyPatch.context() as patch,
        ready_sandbox(seconds=seconds, memory=2**30, cold=False) as sandbox,
    ):
        patch.setattr(judging, "SECONDS", seconds_of_a_call)
        patch.setattr(Marker, "sandbox_patience", 3)
        patch.setattr(Marker, "cell_patience", 3)
        yield Marker(sandbox, LESSON, seed=4, seconds=seconds)


def each_run_or_nightly(notebooks, step=3):
    """Parameters of a test: every third of these in each run of the tests, the others nightly."""
    return [
        pytest.param(case, id=case.name, marks=[pytest.mark.nightly] if number % step else [])
        for number, case in enumerate(notebooks)
    ]


def needs_extras():
    """The environment in which nbgrader can be imported; without it, the test is skipped, and fails on CI."""
    if not EXTRAS.is_dir():
        assert not os.environ.get("CI"), "make test installs nbgrader"
        pytest.skip("nbgrader is not installed (`make test` does it)")
    return {
        **os.environ,
        "PYTHONPATH": f"{ROOT}:{EXTRAS}",
        "PATH": f"{EXTRAS / 'bin'}:{os.environ['PATH']}",
    }


def points_of(*names):
    """The total points of lessons or exercises: points_of("04", "05-entropy")."""
    work, lesson_of = assignment(), exercise_parts()
    # a name is an exercise, a cell that is marked by hand, or a lesson
    points = {exercise: most for exercise, (_, most) in work["exercises"].items()}
    points |= work["by_hand"]
    assert {*names} <= {*points, *map(lesson_of.get, points)}
    return sum(most for name, most in points.items() if {name, lesson_of[name]} & {*names})


@cache
def solutions(lesson):
    """The answers of a lesson and its further parts by exercise: {"04-mean-pool": source}."""
    paths = [path for key, path in parts().items() if key[:2] == lesson[:2]]
    cells = [cell for path in paths for cell in nbformat.read(path, as_version=4).cells]
    return {
        cell.metadata.nbgrader.grade_id: re.sub(f" *({BEGIN}|{END})\n?", "", cell.source)
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def hand_in(lesson, **answers):
    """A learner's copy of a lesson with these answers, as {exercise name with "_" for "-": source}.

    The source "solution" means the lesson's own answer. Other exercises stay stubs; all="solution" solves everything.
    """
    copy = learner_copy(nbformat.read(parts()[lesson], as_version=4))
    for cell in copy.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            # as an argument: "04-mean-pool" is mean_pool
            name = marks["grade_id"].partition("-")[2].replace("-", "_")
            answer = answers.get(name, answers.get("all", cell.source))
            cell.source = solutions(lesson)[marks["grade_id"]] if answer == "solution" else answer
    return nbformat.writes(copy) + "\n"


def write_class(folder, **learners):
    """Write the files of a class: {learner: text of the notebook, or (file name, text)}."""
    for learner, file in learners.items():
        name, text = file if isinstance(file, tuple) else ("04_pooling.ipynb", file)
        (folder / learner).mkdir(parents=True, exist_ok=True)
        (folder / learner / name).write_text(text)
    return folder


def course(*arguments, env=None, before=(), program=COURSE[1:], cwd="/", **more):
    """Run `course`, or another program with this Python, with these arguments, and return the finished process.

    before: words of a command that runs it, such as `setpriv`. more: arguments of subprocess.run.
    """
    environment = env or {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*before, sys.executable, *program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=cwd,
        env={**environment, "OMP_NUM_THREADS": "1"},
        **more,
    )
