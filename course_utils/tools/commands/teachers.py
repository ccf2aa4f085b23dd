"""Commands for those who teach the course: assignments and marks, decks, questions and cards.

A command imports what it needs when it runs, so that `course --help` does not load PyTorch.
"""

import os
import sys
from pathlib import Path
from typing import Any

import click

from ..grading.platforms import PLATFORMS
from .options import ANY_PATH, FILE, FOLDER, numbers, only_one


@click.command()
@click.option(
    "--lessons",
    multiple=True,
    required=True,
    metavar="NN",
    help="Lessons and further parts: 05 05-layer, or 04,05.",
)
@click.argument("more", nargs=-1, metavar="[NN]...")
@click.option("--out", type=FOLDER, required=True, help="Folder for the copies and manifest.json.")
@click.option(
    "--due",
    default="",
    show_default=False,
    help='The deadline to show to learners, such as "Friday, 4 December, 18:00".',
)
@click.option(
    "--without-solutions",
    is_flag=True,
    help="solution() shows no answers in these copies. They stay in the installed course, for who looks there.",
)
def release(
    lessons: tuple[str, ...], more: tuple[str, ...], out: Path, due: str, without_solutions: bool
) -> None:
    """Write copies of lessons to give to a class: course release --lessons 04 05 --out DIR."""
    from ..grading.release import write_release
    from ..grading.results import counted

    manifest = write_release(numbers([*lessons, *more]), out, due, solutions=not without_solutions)
    click.echo(
        f"{counted(len(manifest['lessons']), 'lesson')}, {manifest['of']} points together, in {out}."
    )


@click.command()
@click.argument("submissions", type=ANY_PATH)
@click.option(
    "--out",
    type=FOLDER,
    required=True,
    help="Folder for all results; created if it does not exist.",
)
@click.option(
    "--lessons",
    multiple=True,
    metavar="NN,NN",
    help="The lessons and further parts that count, such as 05,05-layer. Default: all that anyone handed in.",
)
@click.option(
    "--roster", type=ANY_PATH, help="A CSV file of the class with the columns id, name, email."
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),  # at most: against slips of the keyboard
    help="Number of marking processes. Default: one per processor, at most 8.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="LEARNER",
    help="Mark only this learner and keep the others' results. Can be given several times.",
)
@click.option("--regrade", is_flag=True, help="Also mark again what has not changed.")
@click.option(
    "--seconds",
    type=click.IntRange(5, 86400),  # at most a day
    default=120,  # as in `Options`
    help="Time limit for one notebook, in seconds.",
)
@click.option(
    "--memory",
    type=click.IntRange(256, 2**20),  # at most a terabyte
    default=2048,  # as in `Options`, there in bytes
    help="Memory limit for one notebook in MB, in addition to what the course itself uses.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Draw the same inputs as an earlier run. Default: new inputs.",
)
@click.option(
    "--due",
    metavar="DATE",
    help='The deadline, such as "2026-12-04 18:00". Needs --received. Later runs keep it, until --due none.',
)
@click.option(
    "--late",
    metavar="RULE",
    help='What late days cost, such as "10% a day, at most 50%" or "none". Default: late hand-ins are only listed.',
)
@click.option(
    "--received",
    type=ANY_PATH,
    multiple=True,
    callback=only_one,
    help="A CSV file of dates from the learning platform: learner, received, lesson.",
)
@click.option(
    "--resemblance",
    is_flag=True,
    help="Also write resemblance.html and .csv: which hand-ins share more code than chance explains. No mark changes.",
)
@click.option(
    "--nbgrader",
    "course",
    type=FOLDER,
    help="Also write points and hand-ins to this nbgrader course folder.",
)
@click.option(
    "--feedback-zip",
    type=click.Choice([platform.name for platform in PLATFORMS if platform.feedback]),
    help="Also write the learners' pages to a zip, named as this platform takes them back.",
)
@click.option(
    "--secret-pages",
    is_flag=True,
    help="Give the learners' pages names that nobody can guess, now and in later runs, to publish the folder feedback.",
)
@click.option(
    "--names", is_flag=True, help="Say in class.html and class.csv who made which mistake."
)
@click.option(
    "--book",
    default="",
    show_default=False,
    metavar="ADDRESS",
    help="Where the links of class.html find the book. Default: beside it, if it is there.",
)
@click.option(
    "--decks",
    default="",
    show_default=False,
    metavar="ADDRESS",
    help="Where the links of class.html find the decks. Default: beside it, if they are there.",
)
@click.option(
    "--unsafe-no-isolation",
    "unsafe",
    is_flag=True,
    help="Run learners' code with YOUR rights. Only for code that you would run yourself.",
)
def grade(
    submissions: Path,
    out: Path,
    lessons: tuple[str, ...],
    memory: int,
    course: Path | None,
    unsafe: bool,
    **options: Any,
) -> None:
    """Mark a class: SUBMISSIONS is a folder or a zip, as a learning platform exports it."""
    if os.name != "posix":
        raise click.ClickException(
            "The grader needs Linux. On Windows, use WSL: Windows lacks what the grader needs to "
            "isolate submissions."
        )
    from ..grading.class_run import Options
    from ..grading.command import mark

    marking = Options(
        lessons=numbers(lessons) or None,
        isolated=not unsafe,
        memory=memory * 2**20,
        beside=(course,) if course else (),
        **options,  # each has the name of a field
    )
    sys.exit(mark(submissions, out, marking, course))


@click.command()
@click.argument("lesson")
@click.option(
    "--out",
    type=FOLDER,
    default=Path("."),
    help="Folder for the deck; created if it does not exist.",
)
@click.option("--pdf", is_flag=True, help="Also print each deck to a PDF, with Chromium.")
@click.option(
    "--book",
    default=None,
    show_default=False,
    metavar="ADDRESS",
    help="Where the book is, for links from the pictures of explorers. Default: build/book, or beside the decks.",
)
def slides(lesson: str, out: Path, pdf: bool, book: str | None) -> None:
    """Write the lecture deck of a LESSON, such as 05, or of "all", as one HTML file each.

    Press S for the speaker's notes.
    """
    from ..publish.paper import print_pdf
    from ..publish.slides import book_seen_from, lectures, write_deck

    problem = ""  # after the first one no more is printed, and the decks are still written
    if book is None:
        book = book_seen_from(out)
    for number in lectures() if lesson == "all" else [lesson]:
        deck = write_deck(number, out, book=book)
        click.echo(f"{deck} ({deck.stat().st_size / 1e6:.1f} MB)")
        if pdf and not problem:
            page = deck.resolve()
            # with this query, reveal.js lays the slides out as pages
            problem = print_pdf(page, page.with_suffix(".pdf"), "?print-pdf")
            if not problem:
                click.echo(f"{deck.with_suffix('.pdf')}")
    click.echo("Open a deck in a browser; S opens the notes, ? lists all keys.")
    if book is None:
        click.echo("There is no book here, so no slide links to it; `course book` writes one.")
    if problem:
        raise click.ClickException(problem)


@click.command()
@click.option(
    "--out",
    type=ANY_PATH,
    default=Path("build/book"),
    help="Folder for the book. An older book there is replaced.",
)
def book(out: Path) -> None:
    """Write all lessons as a book: a static site and, with Chromium, a PDF."""
    from ..publish.book import write_book

    page = write_book(out, say=click.echo)
    click.echo(f"The book is ready. Open {page}")


@click.command()
@click.option(
    "--format",
    "export_format",
    type=click.Choice(["moodle", "qti"]),
    required=True,
    help="moodle: Moodle XML. qti: an IMS content package of QTI 2.1 items.",
)
@click.option(
    "--lesson",
    "lessons",
    multiple=True,
    metavar="NN",
    help="Can be given several times. Default: all lessons.",
)
@click.option(
    "--out",
    type=FILE,
    required=True,
    help="The file to write. An earlier export there is replaced, and nothing else.",
)
@click.option(
    "--before/--after",
    "is_before",
    default=None,
    help="The concept inventory instead, in one of its two forms: for before the course, or for after it.",
)
def quiz(export_format: str, lessons: tuple[str, ...], out: Path, is_before: bool | None) -> None:
    """Write the questions of the lessons as a question bank for a learning platform."""
    from ..publish import question_banks

    if is_before is None:
        bank = question_banks.questions(numbers(lessons))
    else:
        bank = question_banks.of_inventory("before" if is_before else "after", numbers(lessons))
    write = {"moodle": question_banks.moodle, "qti": question_banks.qti}[export_format]
    question_banks.write_export(out, write(bank))
    click.echo(f"{len(bank)} questions in {out}.")


@click.command()
@click.option(
    "--out",
    type=FILE,
    required=True,
    help="The file to write, such as cards.apkg. An earlier export there is replaced, and nothing else.",
)
def cards(out: Path) -> None:
    """Write cards for Anki: the terms of the glossary, and the known mistakes of the exercises."""
    from ..publish.cards import deck
    from ..publish.question_banks import write_export

    content, terms, mistakes = deck()
    write_export(out, content)
    click.echo(f"{terms} terms and {mistakes} mistakes in {out}.")


@click.command()
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
@click.option("--out", type=FILE, help="Also write the table to this file, as CSV.")
def gains(before: Path, after: Path, out: Path | None) -> None:
    """What a class has learned: its answers to `course quiz --before` and `--after`."""
    from ..._support.files import write_whole
    from ..ideas import gains as class_gains

    table, learners, notices = class_gains.gains(*class_gains.read_both(before, after))
    if out is not None:
        # shares to a tenth of a percent, far finer than the intervals of a class
        write_whole(out, table.round(3).to_csv(index_label="idea"))
    click.echo(class_gains.in_words(table, learners, notices), nl=False)
