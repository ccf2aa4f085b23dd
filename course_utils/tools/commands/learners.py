"""Commands for learners.

A command imports what it needs when it runs, so that `course --help` does not load PyTorch.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..._support.notebooks import ROUTES, as_key
from .options import ANY_PATH, EXISTING_FILE, FOLDER, learners_workspace

if TYPE_CHECKING:
    from ..ideas.asking import Session

RELOAD = "If {which} is open in JupyterLab, choose File > Reload Notebook from Disk."


@click.command()
def doctor() -> None:
    """Check this machine: Python, packages, kernel, encoder, disk, memory, grader, hub."""
    from .. import doctor as checks

    sys.exit(checks.main())


@click.command()
@click.option("--model", help="A hub name or a folder. Default: the packaged encoder.")
@click.option(
    "--data",
    default="course",
    help='"course", "stsb" (from the model hub) or a file: sts-test.csv, or a table with '
    "sentence1, sentence2, score.",
)
@click.option(
    "--repeats", default=1000, type=click.IntRange(min=1), help="Resamples for each interval."
)
def benchmark(model: str | None, data: str, repeats: int) -> None:
    """Print how well similarities agree with human scores, for each layer of an encoder."""
    from ...benchmark import SIMILAR, score_table, similarities
    from ...data import load_scored_pairs

    pairs = load_scored_pairs(data)
    table = score_table(similarities(pairs, model), pairs["score"], repeats)
    similar = (pairs["score"] >= SIMILAR).mean()
    click.echo(
        f"{len(pairs):,} pairs, {similar:.0%} of them similar (score {SIMILAR} or more). "
        "In brackets: 95% bootstrap intervals over pairs.\n"
    )
    click.echo(table.to_string())


@click.command()
@click.argument("texts", type=EXISTING_FILE)
@click.option("--out", required=True, type=FOLDER, help="The folder of the shards.")
@click.option("--shard", default=1000, type=click.IntRange(min=1), help="Texts in a shard.")
@click.option("--model", help="A hub name or a folder. Default: the packaged encoder.")
def embed(texts: Path, out: Path, shard: int, model: str | None) -> None:
    """Embed a file of texts, one a line, into a folder of shards.

    An interrupted run goes on where it stopped.
    """
    from ..corpus import embed_corpus, lines_of

    lines = lines_of(texts)
    new, old = embed_corpus(lines, out, shard, model)
    click.echo(f"{len(lines):,} texts in {new + old} shards: {new} written, {old} found.")


@click.command()
@learners_workspace
def progress(workspace: Path) -> None:
    """Show what you have passed, lesson by lesson, and what comes next."""
    from ..workspace.overview import overview

    # the text form of what a notebook shows, with its ticks in green
    click.echo(repr(overview(workspace)).replace("✓", click.style("✓", fg="green")))


@click.command()
@click.option(
    "--by-doing",
    is_flag=True,
    help="Judge by one exercise of each core instead, those you have passed.",
)
@click.option(
    "--workspace",
    type=ANY_PATH,
    help="With --by-doing: the folder with your copies of the lessons.",
)
def place(by_doing: bool, workspace: Path | None) -> None:
    """Find out where to begin: twenty questions in ten minutes.

    In a notebook, place() asks the same.
    """
    from ..ideas import asking
    from ..workspace.copies import existing_workspace

    if by_doing:
        click.echo(asking.plain(asking.by_doing(existing_workspace(workspace))))
    else:
        _ask(asking.Placing())


@click.command()
@learners_workspace
def review(workspace: Path) -> None:
    """Ask what is due today, in about five minutes. In a notebook, review() asks the same.

    The schedule is FSRS. If you use the cards of `course cards` in Anki, choose one of the two.
    """
    from ..ideas.asking import Reviewing

    _ask(Reviewing(workspace))


def _ask(session: Session) -> None:
    """Ask all questions of a session in a terminal, then print its result."""
    from ..ideas.asking import plain

    while (sheet := session.sheet()) is not None:
        number = len(session.answered) + 1
        click.echo(f"\n{number} of {session.count} · {sheet.about}\n{plain(sheet.ask)}")
        if sheet.back:  # the learner recalls the answer, and then says how much of it they had
            click.prompt("Answer in your head, then press Enter", default="", show_default=False)
            click.echo(plain(sheet.back))
        # a question has at most four options
        letters = "ABCD"[: len(sheet.options)]
        for letter, option in zip(letters, sheet.options, strict=True):
            click.echo(f"  {letter}. {plain(option.text)}")
        chosen = _place_of_choice("Your answer", letters)
        # None: at a question with a back, the choice says how well it was recalled
        sure = (
            None
            if sheet.back
            else _place_of_choice("How sure? 1 a guess, 2 fairly sure, 3 sure", "123")
        )
        if feedback := session.answer(chosen, sure):
            click.echo(plain(feedback))
    click.echo(f"\n{plain(session.end())}")


def _place_of_choice(prompt: str, letters: str) -> int:
    # from 0; prompts again until one of these letters (or digits) is typed
    letter = click.prompt(prompt, type=click.Choice(list(letters), case_sensitive=False))
    return letters.index(letter.upper())


@click.command()
@click.argument("lesson", metavar="NN", required=False)
@learners_workspace
def reset(lesson: str | None, workspace: Path) -> None:
    """Restore lesson NN, or a further part such as 05-layer, to the course's version.

    Yours is saved first, in the folder yours_saved beside it. What you passed still counts.
    """
    from ..workspace.copies import reset_lesson

    if lesson is None:
        raise click.UsageError("Which lesson? Name it as in: course reset 04")
    name, saved = reset_lesson(workspace, as_key(lesson))
    restored = f"{name} is restored to the course's version"
    if saved:
        click.echo(f"{restored}; yours is saved as {saved}.\n{RELOAD.format(which='it')}")
    else:
        click.echo(f"{restored}.")


@click.command()
@learners_workspace
def update(workspace: Path) -> None:
    """Update your lessons to the current course. Nothing that you wrote is lost."""
    from ..workspace.copies import report_lines, write_workspace

    report = write_workspace(workspace, merging=True)
    for line in report_lines(report, workspace):
        click.echo(line)
    actions = {action for _, action, _ in report}
    if actions & {"renewed", "merged"}:
        click.echo(RELOAD.format(which="one of these"))
    elif actions == {"unchanged"}:
        click.echo("Nothing has changed: your lessons are up to date.")


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--workspace",
    type=ANY_PATH,
    default=Path("workspace"),
    help="Folder for your copies of the lessons. Your changes there are never overwritten.",
)
@click.option(
    "--write-only",
    is_flag=True,
    help="Only write the copies; do not start JupyterLab. For a JupyterHub, which has its own.",
)
@click.option(
    "--live",
    metavar="NN",
    help="Also write a live copy of this lesson, such as 04, for typing its code in front of a "
    "class or before reading it, and open it beside that code.",
)
@click.option(
    "--route",
    # the last word of each: "one day" is `--route day`
    type=click.Choice([name.split()[-1] for name in ROUTES]),
    help="Print the lessons of this route, and open the first one that is not finished.",
)
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def lab(
    workspace: Path, write_only: bool, live: str | None, route: str | None, flags: tuple[str, ...]
) -> None:
    """Write your copies of the lessons and open JupyterLab on the first one.

    Further FLAGS go to JupyterLab.
    """
    from ..workspace.lab import open_lab

    open_lab(workspace.expanduser(), flags, write_only, live, route, click.echo)
