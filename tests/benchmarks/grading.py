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

from ..grader import COURSE, EXTRAS, ROOT, hand_in
from .speed import machine, show

PAGE = ROOT / "course_utils/tools/grading/README.md"
BEGIN, END = "<!-- bench grading: begin -->", "<!-- bench grading: end -->"
LESSONS = {"04": "04_pooling.ipynb", "14": "14_capstone.ipynb"}
NBGRADER = """
c = get_config()
c.CourseDirectory.course_id = "bench"
c.ExecutePreprocessor.timeout = 300
"""


def write_class(folder, lesson, size, nbgrader=False):
    """Write hand-ins that solve everything; each has a different comment."""
    text = hand_in(lesson, all="solution")
    for number in range(size):
        inner = f"lesson-{lesson}" if nbgrader else ""
        target = folder / f"learner{number:03d}" / inner / LESSONS[lesson]
        target.parent.mkdir(parents=True)
        target.write_text(text.replace("# ", f"# {number} ", 1))
    return folder


def timed(command, folder, environment=None):
    begin = time.perf_counter()
    words = list(map(str, command))
    done = subprocess.run(
        words, cwd=folder, env=environment or os.environ, capture_output=True, text=True
    )
    seconds = time.perf_counter() - begin
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr[-3000:]}")
    return seconds


def ours(room, lesson, size, workers):
    source = room / f"class-{lesson}"
    if not source.exists():
        write_class(source, lesson, size)
    out = room / f"out-{lesson}-{workers}"
    seconds = timed(
        [*COURSE, "grade", source, "--out", out, "--workers", workers, "--lessons", lesson], room
    )
    totals = {line.split(",")[-6] for line in (out / "grades.csv").read_text().splitlines()[1:]}
    assert len(totals) == 1 and totals != {"0"}, totals
    return seconds / size


def theirs(room, lesson, size):
    """nbgrader's seconds per hand-in. Its command starts once for all."""
    course = room / f"nbgrader-{lesson}"
    source = course / "source" / f"lesson-{lesson}"
    source.mkdir(parents=True)
    shutil.copyfile(ROOT / "notebooks" / LESSONS[lesson], source / LESSONS[lesson])
    (course / "nbgrader_config.py").write_text(NBGRADER)
    programs = f"{EXTRAS / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{EXTRAS}", "PATH": programs}
    nbgrader = [sys.executable, "-W", "ignore", "-m", "nbgrader"]
    timed([*nbgrader, "db", "assignment", "add", f"lesson-{lesson}"], course, environment)
    timed([*nbgrader, "generate_assignment", f"lesson-{lesson}"], course, environment)
    write_class(course / "submitted", lesson, size, nbgrader=True)
    seconds = timed([*nbgrader, "autograde", f"lesson-{lesson}"], course, environment)
    timed([*nbgrader, "export"], course, environment)
    scores = {
        float(line.split(",")[-2]) for line in (course / "grades.csv").read_text().splitlines()[1:]
    }
    assert len(scores) == 1 and scores != {0.0}, scores
    return seconds / size


@click.command()
@click.option("--size", default=200, show_default=True, help="Hand-ins of the class.")
@click.option(
    "--nbgrader", "few", default=4, show_default=True, help="Hand-ins that nbgrader marks."
)
@click.option(
    "--write/--no-write",
    default=True,
    show_default=True,
    help="Renew the table in the grader's README.md.",
)
def main(size, few, write):
    """Measure, print a table, and put it into the grader's README.md."""
    cores = len(os.sched_getaffinity(0))
    several, rows = sorted({1, 2, cores, 2 * cores}), []
    with tempfile.TemporaryDirectory(prefix="bench-") as room:
        room = Path(room)
        for lesson in LESSONS:
            slow = theirs(room, lesson, few)
            click.echo(f"{lesson}: nbgrader {slow:.2f} s a hand-in", err=True)
            found = {
                workers: ours(room, lesson, size, workers)
                for workers in (several if lesson == "04" else [cores])
            }
            click.echo(f"{lesson}: {found}", err=True)
            rates = [f"{1 / found[workers]:.1f}" if workers in found else "" for workers in several]
            rows.append((lesson, f"{slow:.1f} s", *rates, f"{slow / found[cores]:.0f}"))
    counts = [
        f"hand-ins a second, {number} {'worker' if number == 1 else 'workers'}"
        for number in several
    ]
    head = ["lesson", "nbgrader, a hand-in", *counts, f"times nbgrader, with {cores} workers"]
    lines = [
        *(f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"),
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        f"A class of {size}, isolated, the whole command with warm-up and pages (`make bench`); nbgrader marked "
        f"{few} of them, one after the other, as its command does. Lesson 14's answers call the encoder. Measured "
        f"on: {machine()}, {cores} cores.",
    ]
    show(PAGE, lines, BEGIN, END, write)


if __name__ == "__main__":
    main()
