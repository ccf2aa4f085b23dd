"""`make bench`: hand-ins marked per second by `course grade`, isolated, against `nbgrader autograde`.

Both sides mark the same exercises, as whole commands on a class of different hand-ins, warm-up and writing included.
nbgrader marks a few of the class (`--nbgrader`), one after the other, as its command does. Lesson 04's answers are
arithmetic; lesson 14's search calls the encoder.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import pandas as pd

from ..grader import COURSE, EXTRAS, ROOT, hand_in
from .speed import machine, show

PAGE = ROOT / "course_utils/tools/grading/README.md"
BEGIN, END = "<!-- bench grading: begin -->", "<!-- bench grading: end -->"
LESSONS = {"04": "04_pooling.ipynb", "14": "14_capstone.ipynb"}
NBGRADER = """
c = get_config()
c.CourseDirectory.course_id = "bench"
c.ExecutePreprocessor.timeout = 300  # seconds, of one cell
"""


def write_class(folder, lesson, size, inner=""):
    """Write `size` hand-ins that solve everything. inner: a folder within each learner's."""
    text = hand_in(lesson, all="solution")
    for number in range(size):
        target = folder / f"learner{number:03d}" / inner / LESSONS[lesson]
        target.parent.mkdir(parents=True)
        # a number in the lesson's title, so that no two files are the same
        target.write_text(text.replace("# ", f"# {number} ", 1))


def timed(command, folder, environment=None):
    """The seconds that a command takes; ends this program if it fails."""
    words = list(map(str, command))
    begin = time.perf_counter()
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode:
        # the last characters, which say what failed
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr[-3000:]}")
    return seconds


# Fails unless all hand-ins got the same points, more than 0: they have the same answers.
def check_scores(grades, column):
    (score,) = pd.read_csv(grades)[column].unique()
    assert score > 0


def course_grade(room, lesson, size, workers):
    """The seconds per hand-in of `course grade`.

    room: the folder of all files of the benchmark. The first call for a lesson writes its class.
    """
    source, out = room / f"class-{lesson}", room / f"out-{lesson}-{workers}"
    if not source.exists():
        write_class(source, lesson, size)
    seconds = timed(
        [*COURSE, "grade", source, "--out", out, "--workers", workers, "--lessons", lesson], room
    )
    check_scores(out / "grades.csv", "total")
    return seconds / size


def nbgrader_autograde(room, lesson, size):
    """The seconds per hand-in of nbgrader, whose command starts once for all.

    Only marking is timed; before, nbgrader sets up a course from the lesson, in a folder of `room`.
    """
    course = room / f"nbgrader-{lesson}"
    source = course / "source" / f"lesson-{lesson}"
    source.mkdir(parents=True)
    shutil.copy(ROOT / "notebooks" / LESSONS[lesson], source)
    (course / "nbgrader_config.py").write_text(NBGRADER)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}:{EXTRAS}",
        "PATH": f"{EXTRAS / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    nbgrader = [sys.executable, "-W", "ignore", "-m", "nbgrader"]
    timed([*nbgrader, "db", "assignment", "add", f"lesson-{lesson}"], course, environment)
    timed([*nbgrader, "generate_assignment", f"lesson-{lesson}"], course, environment)
    write_class(course / "submitted", lesson, size, inner=f"lesson-{lesson}")
    seconds = timed([*nbgrader, "autograde", f"lesson-{lesson}"], course, environment)
    timed([*nbgrader, "export"], course, environment)
    check_scores(course / "grades.csv", "score")
    return seconds / size


def measure(room, lesson, size, nbgrader_size, numbers_of_workers):
    """The seconds per hand-in of nbgrader, and {number of workers: those of `course grade`}."""
    of_nbgrader = nbgrader_autograde(room, lesson, nbgrader_size)
    click.echo(f"{lesson}: nbgrader {of_nbgrader:.2f} s a hand-in", err=True)
    of_course = {
        workers: course_grade(room, lesson, size, workers) for workers in numbers_of_workers
    }
    click.echo(f"{lesson}: {of_course}", err=True)
    return of_nbgrader, of_course


def table(seconds_of, numbers_of_workers, cores):
    """The lines of a Markdown table. seconds_of: {lesson: what `measure` returns}."""
    counts = [
        f"hand-ins a second, {number} {'worker' if number == 1 else 'workers'}"
        for number in numbers_of_workers
    ]
    head = ["lesson", "nbgrader, a hand-in", *counts, f"times nbgrader, with {cores} workers"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for lesson, (of_nbgrader, of_course) in seconds_of.items():
        rates = [
            f"{1 / of_course[number]:.1f}" if number in of_course else ""  # not measured
            for number in numbers_of_workers
        ]
        times = f"{of_nbgrader / of_course[cores]:.0f}"
        lines.append(f"| {' | '.join([lesson, f'{of_nbgrader:.1f} s', *rates, times])} |")
    return lines


@click.command()
@click.option(
    "--size",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Hand-ins of the class.",
)
@click.option(
    "--nbgrader",
    "nbgrader_size",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Hand-ins that nbgrader marks.",
)
@click.option(
    "--write/--no-write",
    default=True,
    show_default=True,
    help="Renew the table in the grader's README.md.",
)
def main(size, nbgrader_size, write):
    """Measure, print a table, and put it into the grader's README.md."""
    cores = len(os.sched_getaffinity(0))
    # twice the cores: to see whether more workers help
    numbers_of_workers = sorted({1, 2, cores, 2 * cores})
    seconds_of = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for lesson in LESSONS:
            # lesson 14, whose search calls the encoder, with one number of workers only
            measured = numbers_of_workers if lesson == "04" else [cores]
            seconds_of[lesson] = measure(Path(folder), lesson, size, nbgrader_size, measured)
    lines = [
        *table(seconds_of, numbers_of_workers, cores),
        "",
        f"A class of {size}, isolated, the whole command with warm-up and pages (`make bench`); "
        f"nbgrader marked {nbgrader_size} of them, one after the other, as its command does. "
        f"Lesson 14's answers call the encoder. Measured on: {machine()}, {cores} cores.",
    ]
    show(PAGE, lines, BEGIN, END, write)


if __name__ == "__main__":
    main()
