"""`course grade`: mark a class, and say in the terminal what came of it and what is left to do."""

import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from .class_run import Options, grade
from .records import doubtful_owners
from .reports import FEEDBACK_ZIP, GRADES
from .results import counted
from .texts import in_words

# exit statuses; click's own are 1 for an error and 2 for a wrong use
SOME_NOT_MARKED = 3  # somebody has no points yet
DOUBTFUL = 4  # hand-ins may be somebody else's
ENDED_BY_SIGNAL = 128  # to which the signal's number is added, as shells do


def mark(submissions: Path, out: Path, options: Options, course: Path | None = None) -> int:
    """Mark a class and print the outcome. course: an nbgrader course folder to write to.

    Returns the exit status: 0, SOME_NOT_MARKED, DOUBTFUL, or after a signal ENDED_BY_SIGNAL and its
    number. Raises what `grade` and `nbgrader_course.export` do, OSError, and ClickException if the
    summary cannot be printed.
    """
    if not options.isolated:
        warn(
            "Warning: learners' code runs with your own rights, and can read, change and send what "
            "you can."
        )
    try:
        with signals_as_ctrl_c():
            learners = grade(submissions, out, options, bar, warn)
        if course is not None:
            from .nbgrader_course import export

            click.echo(f"nbgrader: {export(learners, course)} submissions written to {course}.")
    except KeyboardInterrupt as interrupt:
        with suppress(OSError):  # the terminal may be gone
            warn(f"Stopped. What was marked is kept in {out}; run the same command to continue.")
        # `signals_as_ctrl_c` gives the number of other signals; Ctrl-C itself comes without one
        return ENDED_BY_SIGNAL + (interrupt.args[0] if interrupt.args else signal.SIGINT)
    try:
        _print_summary(learners, out, options)
    except OSError as error:
        raise click.ClickException(
            f"All results are in {out}, but a summary cannot be printed: {error.strerror}."
        ) from None
    if unmarked := [learner.learner for learner in learners if learner.points is None]:
        warn(
            f"Not marked: {in_words(unmarked)}. They have no points yet; run the same command "
            "to try again."
        )
        return SOME_NOT_MARKED
    if doubt := doubtful_owners(learners):
        warn(doubt)
        return DOUBTFUL
    return 0


def warn(sentence: str) -> None:
    """Print to the standard error stream."""
    click.echo(sentence, err=True)


@contextmanager
def signals_as_ctrl_c() -> Generator[None]:
    """Treat SIGTERM and SIGHUP as Ctrl-C, so that the run cleans up.

    The KeyboardInterrupt has the signal's number as its argument. A signal that somebody ignores or
    handles is left as it is.
    """

    def raise_interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    # `nohup` ignores SIGHUP, which must stay ignored
    treated = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) == signal.SIG_DFL
    ]
    for number in treated:
        signal.signal(number, raise_interrupt)
    try:
        yield
    finally:
        for number in treated:
            signal.signal(number, signal.SIG_DFL)


def bar(results: Iterable, total: int) -> Iterable:
    """Wrap results in a progress bar with the time left."""
    from tqdm import tqdm

    # a scheduler may close the error stream; to tqdm, None means hidden unless in a terminal
    hidden = sys.stderr is None or not total or "TQDM_DISABLE" in os.environ or None
    return tqdm(
        results, total=total, desc="Marking", unit="notebook", mininterval=0.5, disable=hidden
    )


def _print_summary(learners: Sequence, out: Path, options: Options) -> None:
    states = Counter(learner.status for learner in learners)
    shares = ", ".join(f"{number} {state}" for state, number in states.most_common())
    click.echo(
        f"{counted(len(learners), 'learner')}: {shares}.\n"
        f"Grades: {out / GRADES}\n"
        f"Summary: {out / 'summary.html'}\n"
        f"Feedback: {out / 'feedback'}\n"
        f"For the next lecture: {out / 'class.html'}"
    )
    if any(learner.waiting for learner in learners):
        click.echo(
            f"To mark by hand: fill in the points in {out / 'manual.csv'} and run this again."
        )
    if options.resemblance:
        click.echo(f"Resemblance: {out / 'resemblance.html'}")
    if options.feedback_zip:
        click.echo(
            f"For {options.feedback_zip.title()}: {out / FEEDBACK_ZIP.format(options.feedback_zip)}"
        )
