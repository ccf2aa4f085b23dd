"""Commands for those who write the course, in a clone of it."""

from pathlib import Path

import click

from ..._support.notebooks import KINDS, as_key, part_of
from .options import FOLDER


def _short(path: Path) -> Path:
    # as it can be typed in the current folder, if it is inside
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@click.command()
@click.option(
    "--out",
    type=FOLDER,
    required=True,
    help="Folder for the copies and for what pip shall install there.",
)
def colab(out: Path) -> None:
    """For releases: write learner's copies for Google Colab, which install the course."""
    from ..publish.elsewhere import write_colab

    click.echo(f"{len(write_colab(out))} files written to {out}.")


@click.command()
def links() -> None:
    """For authors: renew the badge and the links to Colab and others in the READMEs."""
    from ..publish.elsewhere import write_links

    changed = write_links()
    for path in changed:
        click.echo(f"{_short(path)}: renewed.")
    if not changed:
        click.echo("Badge and links are up to date.")


@click.command()
@click.argument("lesson", metavar="NN")
@click.argument("name")
@click.option("--title", help="Default: made from the name.")
def new_exercise(lesson: str, name: str, title: str | None) -> None:
    """For authors: write the skeleton of exercise NAME, such as weighted-pool, into lesson NN."""
    from .. import authoring

    path, code, words, answers = map(_short, authoring.new_exercise(as_key(lesson), name, title))
    click.echo(
        f"Written: text, answer and check in {path}; cases and mistakes in {code}; title, hints "
        f"and messages in {words}; right and wrong answers in {answers}.\n"
        "The three cells stand above the end of the lesson, and the rest at the end of each file: "
        "move them to where they belong.\n"
        "A core has room for three exercises; others go into a further part, such as 04-lengths.\n"
        f"Fill in everything marked TODO, then: make lesson L={as_key(lesson)}. For each promise of "
        "the text, a mistake whose `breaks` has its words, or under PROMISES an answer that breaks "
        "only this; and at least one answer under WRONG or PROMISES."
    )


@click.command()
@click.argument("number", metavar="NN")
@click.argument("title")
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="full",
    help=". ".join(f"{kind}: {meaning}" for kind, meaning in KINDS.items()) + ".",
)
def new_lesson(number: str, title: str, kind: str) -> None:
    """For authors: write the skeleton of lesson NN."""
    from .. import authoring
    from ..pages import filled

    path = authoring.new_lesson(number, title, kind)
    click.echo(
        filled(
            "needed.txt", path=_short(path), key=part_of(path), number=number, kind=kind
        ).rstrip()
    )


@click.command()
@click.argument("number", metavar="NN")
def new_lecture(number: str) -> None:
    """For authors: write the skeleton of the lecture of lesson NN, or of a further part."""
    from .. import authoring

    path = authoring.new_lecture(as_key(number))
    click.echo(f"Written: {_short(path)}. Then: course slides {as_key(number)}.")
