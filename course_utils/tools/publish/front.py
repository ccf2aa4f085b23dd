"""The first page of the book: a picture of what the course is about, and a card for each lesson."""

import re
from collections.abc import Mapping
from pathlib import Path

from nbformat import NotebookNode

from ..._support.notebooks import ROUTES, part_of
from ..workspace.overview import Lesson, Overview
from ..workspace.overview import lessons as stated
from .figures import DRAWING, without_blank_lines

FOLDER = Path(__file__).parent


def title_page(lessons: Mapping[str, NotebookNode], sources: str | Path, extras: str = "") -> str:
    """The first page as Markdown: a picture, an introduction, and each lesson with its minutes and
    exercises.

    lessons: {name: notebook} of the book. sources: their folder. extras: more links, below the
    introduction.
    """
    templates = ("templates/index.txt", "templates/card.txt", "book/hero.svg")
    page, card, hero = ((FOLDER / name).read_text(encoding="utf-8") for name in templates)
    course = stated(sources)
    names = {part_of(name): name for name in lessons}
    cards = []
    for core in course:
        if core.is_core:
            name, title = names[core.key], f"{core.key} {core.title}"
            further = [part for part in course if part.key.startswith(f"{core.key}-")]
            facts = _facts(core) + _further_parts(further, names)
            cards.append(card.format(art=_art(lessons[name]), title=title, name=name, facts=facts))
    if "glossary" in lessons:
        art, facts = _art(lessons["glossary"]), "Each term in a sentence or two"
        cards.append(card.format(art=art, title="Glossary", name="glossary", facts=facts))
    hours = Overview(course, frozenset()).hours
    return page.format(
        hero=hero.strip(),
        count=sum(lesson.is_core for lesson in course),
        numbers=", ".join(ROUTES["one day"]),
        **{route.split()[-1]: _count(number, "hour") for route, number in hours.items()},
        extras=extras,
        cards="\n\n".join(cards),
        names="\n".join([*(name for name in lessons if "/" not in name), "literature"]),
    )


def _count(number, thing):
    return f"{number} {thing}{'s' * (number != 1)}"


def _facts(lesson: Lesson):
    exercises = f" · {_count(len(lesson.exercises), 'exercise')}" if lesson.exercises else ""
    return f"{lesson.minutes} minutes{exercises}"


def _further_parts(lessons, names):
    """The list of a core's further parts, for its card."""
    if not lessons:
        return ""
    links = [
        f"[{lesson.title}]({names[lesson.key]}.ipynb) · {_facts(lesson)}" for lesson in lessons
    ]
    listed = "".join(f"<li>\n\n{link}\n\n</li>" for link in links)
    return f'\n\n<ul class="further" aria-label="Further parts">{listed}</ul>'


def _art(notebook):
    """The lesson's first drawing, for its card, or "".

    It stands there without what is written for screen readers: the card's link says enough.
    """
    figures = [cell for cell in notebook.cells if "mystnb" in cell.metadata]
    shown = [
        output.data.get("text/html", "")
        for cell in figures
        for output in cell.outputs
        if "data" in output
    ]
    drawing = DRAWING.search("".join(shown))
    return (
        without_blank_lines(re.sub(r'\s+(role|aria-label)="[^"]*"', "", drawing[0]))
        if drawing
        else ""
    )
