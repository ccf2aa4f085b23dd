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
PARTS_OF_04 = ("04", "04-lengths")  # keys of the two notebooks of lesson 04
# what a marking process is started with (fleet.py); memory: bytes that a submission may use
SETTINGS = {"lessons": ["04"], "seed": 1, "isolated": True, "seconds": 60, "memory": 2 * 2**30}


def skip_unless_isolated():
    """Skip the test where submissions cannot be isolated; on CI, fail it."""
    if reason := isolation_problem():
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)


@contextmanager
def ready_sandbox(**options):
    """A sandbox that is ready; skips the test where nothing can be isolated.

    `sandbox.filtered` says whether it has a filter of system calls.
    """
    skip_unless_isolated()
    with Sandbox(**options) as sandbox:
        sandbox.filtered = sandbox.wait()  # ours: the sandbox itself does not keep it
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


def graded(source, out, progress=lambda results, _: results, **options):
    """`grade` with one worker, unless the options say otherwise: the records by learner.

    progress: is given the results, which it must hand on one by one, and their number.
    options: fields of class_run.Options.
    """
    records = class_run.grade(source, out, class_run.Options(**{"workers": 1, **options}), progress)
    return {record.learner: record for record in records}


def total(result):
    """The points of a hand-in."""
    return sum(mark.points for mark in result.exercises.values())


def start(*arguments, **variables):
    """Start `course` with these arguments, its error messages in a pipe, and return the Popen.

    variables: of the environment, beside this process's.
    """
    return subprocess.Popen(
        [*COURSE, *map(str, arguments)],
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
    )


def wait_for_sign(process, sign, seconds=90):
    """Wait until `sign()` returns something true, and return that.

    Fails the test if the process, a Popen, ends before, or if there is no sign within the seconds.
    """
    deadline = time.monotonic() + seconds
    while not (result := sign()):
        assert process.poll() is None, "the process ended before it gave a sign"
        assert time.monotonic() < deadline, f"the process gave no sign within {seconds} seconds"
        time.sleep(0.05)
    return result


def runs(process):
    """Whether a process runs. One that ended stays as a zombie until its parent waits for it."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def most_memory():
    """The most memory that this process has had, in kB (Linux)."""
    import resource  # Windows, where other tests import this module, has none

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def has_a_result(out):
    """Whether a run with this results folder has stored a result."""
    path = Path(out) / "results.jsonl"
    return path.exists() and path.stat().st_size > 0


@contextmanager
def strict_marker(seconds, seconds_of_a_call):
    """A marker of lesson 04 and its further part in a warm sandbox of its own, with short limits.

    seconds: for a submission. seconds_of_a_call: for one call of an answer.
    """
    with (
        pytest.MonkeyPatch.context() as patch,
        ready_sandbox(seconds=seconds, memory=2**30, cold=False) as sandbox,  # bytes
    ):
        patch.setattr(judging, "SECONDS", seconds_of_a_call)
        # seconds, enough for what is not stuck; by default 20 and more
        patch.setattr(Marker, "sandbox_patience", 3)
        patch.setattr(Marker, "cell_patience", 3)
        yield Marker(sandbox, PARTS_OF_04, seed=4, seconds=seconds)


def each_run_or_nightly(cases, step=3):
    """Parameters of a test: one in `step` of these in each run of the tests, the others nightly."""
    return [
        pytest.param(case, id=case.name, marks=[pytest.mark.nightly] if number % step else [])
        for number, case in enumerate(cases)
    ]


def nbgrader_environment():
    """The environment variables with which nbgrader can be imported.

    Without nbgrader, the test is skipped; on CI, it fails.
    """
    if not EXTRAS.is_dir():
        assert not os.environ.get("CI"), "make test installs nbgrader"
        pytest.skip("nbgrader is not installed (`make test` does it)")
    return {
        **os.environ,
        "PYTHONPATH": f"{ROOT}:{EXTRAS}",
        "PATH": f"{EXTRAS / 'bin'}:{os.environ['PATH']}",
    }


def points_of(*names):
    """The total points of lessons or exercises: points_of("04", "05-entropy").

    A lesson stands for all its exercises, but not for those of its further parts.
    """
    work, lesson_of = assignment(), exercise_parts()
    # {exercise: points}; a cell that is marked by hand counts as an exercise, too
    points = {exercise: most for exercise, (_, most) in work["exercises"].items()}
    points |= work["by_hand"]
    assert {*names} <= {*points, *(lesson_of[exercise] for exercise in points)}, "an unknown name"
    return sum(
        most
        for exercise, most in points.items()
        if exercise in names or lesson_of[exercise] in names
    )


@cache
def solutions(lesson):
    """The answers of a lesson and its further parts by exercise: {"04-mean-pool": source}."""
    # keys of all parts begin with the same number: "04", "04-lengths"
    paths = [path for key, path in parts().items() if key[:2] == lesson[:2]]
    cells = [cell for path in paths for cell in nbformat.read(path, as_version=4).cells]
    return {
        cell.metadata.nbgrader.grade_id: re.sub(f" *({BEGIN}|{END})\n?", "", cell.source)
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def hand_in(lesson, **answers):
    """A learner's copy of a lesson with these answers, as {exercise name with "_" for "-": source}.

    The source "solution" means the lesson's own answer. Other exercises stay stubs; all="solution"
    solves everything. Fails if the lesson itself has no exercise of a name.
    """
    copy = learner_copy(nbformat.read(parts()[lesson], as_version=4))
    for cell in copy.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            exercise = marks["grade_id"]
            # "04-mean-pool" is the argument mean_pool
            name = exercise.partition("-")[2].replace("-", "_")
            answer = answers.pop(name, answers.get("all", cell.source))
            cell.source = solutions(lesson)[exercise] if answer == "solution" else answer
    assert answers.keys() <= {"all"}, "an unknown exercise"
    return nbformat.writes(copy) + "\n"


def write_class(folder, **learners):
    """Write the files of a class, and return its folder.

    learners: the text of each one's notebook of lesson 04, or (file name, text).
    """
    for learner, file in learners.items():
        name, text = file if isinstance(file, tuple) else ("04_pooling.ipynb", file)
        (folder / learner).mkdir(parents=True, exist_ok=True)
        (folder / learner / name).write_text(text)
    return folder


def course(*arguments, env=None, before=(), program=COURSE[1:], cwd="/", **more):
    """Run `course`, or another program with this Python, and return the finished process.

    arguments: of the program. env: all environment variables but OMP_NUM_THREADS, by default this
    process's and PYTHONPATH. cwd: its working folder, by default one without files of the course.
    before: words of a command that runs it, such as `setpriv`. program: what Python is to run, such
    as ["-c", code]. more: arguments of subprocess.run.
    """
    environment = env or {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*before, sys.executable, *program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,  # seconds, after which a run that hangs fails the test
        cwd=cwd,
        env={**environment, "OMP_NUM_THREADS": "1"},
        **more,
    )
