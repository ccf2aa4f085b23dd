"""Where the lessons treat something.

An exercise or a mistake leads to a section of the book, and to a slide.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from docutils.nodes import make_id

from ..._support.fast_nbformat import read_notebook
from ..._support.notebooks import lesson_cells, name_of, part_of, part_with, parts
from ...exercises.model import told
from ..publish.lectures import read_lecture
from ..publish.slides import HEADING, lectures


@dataclass(frozen=True)
class Place:
    """Where a lesson treats something.

    page, deck: files of the book and of `course slides`.
    number: the slide's, counted from 1; 0 without a slide.
    question: the one that the slide asks, if it has one.
    """

    section: str
    page: str
    slide: str = ""
    number: int = 0
    deck: str = ""
    question: str = ""

    @property
    def lesson(self) -> str:
        """The key of the notebook that has the section; `deck_of` that of the slide's."""
        return part_of(self.page.partition(".")[0])

    @property
    def deck_of(self) -> str:
        return part_of(self.deck.partition(".")[0])


def place_of(exercise: str, shown_in: str = "") -> Place | None:
    """The place of a cell: of `shown_in`, else of the one that the exercise names, else its own.

    shown_in: a cell's id, such as "padding", or with another part, "04 diagram-broadcast".

    Of a cell of another part, the slide alone is taken. Returns None if there is no such cell.
    """
    named_part, _, cell = (shown_in or told(exercise)[1]).rpartition(" ")
    own_part = part_with(exercise)
    part = named_part or own_part
    place = _section_above(own_part, _number(own_part, exercise, cell))
    if place is None or cell and not _has(part, cell):
        return None
    number = _slide_of(part, _number(part, exercise, cell) or 0, cell)
    if number is None:
        return place
    slide = _slides(part)[number]
    deck = f"{parts()[part].stem}.slides.html#/{number}"
    return replace(place, slide=slide.title, number=number + 1, deck=deck, question=slide.question)


def _has(part: str, cell: str) -> bool:
    """Whether a part has a cell, or a slide that shows it: a picture for the lecture alone."""
    is_shown = any(cell in slide.cells for slide in _slides(part))
    return is_shown or any(other.id == cell for other in cells_of(part))


def _number(part: str, exercise: str, cell: str = "") -> int | None:
    """The number of a cell in a part; if the part has none of this id, of an exercise's answer."""
    numbers = {other.id: number for number, other in enumerate(cells_of(part))}
    return numbers.get(cell, numbers.get(exercise))


def _section_above(part: str, number: int | None) -> Place | None:
    """The last section above a cell that is no exercise's own, as a place without a slide."""
    if number is None:
        return None
    titles = list(filter(None, map(_section, cells_of(part)[: number + 1])))
    if not titles:
        return None
    return Place(titles[-1], f"{name_of(parts()[part])}.html#{make_id(titles[-1])}")


def _slide_of(part: str, number: int, cell: str) -> int | None:
    """The number of the slide that a place of a part leads to, or None.

    It is the first that shows the cell or, without a cell, the first of the section above the
    place; else the last one above the place.
    """
    cells, slides = cells_of(part), _slides(part)
    if cell:
        wanted = [place for place, slide in enumerate(slides) if cell in slide.cells]
    else:
        sections = [place for place, other in enumerate(cells) if _section(other)]
        start = max(place for place in sections if place <= number)
        end = min((place for place in sections if place > number), default=len(cells))
        wanted = [place for place, slide in enumerate(slides) if start <= slide.cell_number < end]
    above = [place for place, slide in enumerate(slides) if number and slide.cell_number <= number]
    return next(iter(wanted + above[-1:]), None)


def _section(cell: Any) -> str:
    """The title of the section that a cell begins, if that is no exercise's own; else ""."""
    if cell.cell_type != "markdown":
        return ""
    title, *_ = [*re.findall(r"^## (.+)$", cell.source, re.MULTILINE), ""]
    return "" if title.startswith("Exercise") else title


@cache
def cells_of(part: str) -> list[Any]:
    """The cells of a lesson. [] if there is none."""
    path = parts().get(part)
    return lesson_cells(read_notebook(path)) if path else []


def code_of(part: str) -> str:
    """The code of a lesson."""
    return "\n".join(cell.source for cell in cells_of(part) if cell.cell_type == "code")


@dataclass(frozen=True)
class _Slide:
    """A slide.

    cell_number: of the lesson's cell that it belongs to; -1 for the title slide.
    question: what it asks, "" if it asks nothing.
    cells: the ids of those it shows.
    """

    cell_number: int
    title: str
    question: str
    cells: list[str]


@cache
def _slides(part: str) -> list[_Slide]:
    """The slides of a lesson's lecture. [] if it has none.

    A slide belongs to the section that it is called after, else to the first cell that it shows; if
    the lesson has neither, to what the slide before it belongs to, and a first one to the first
    section. The title belongs to none.
    """
    if part not in lectures():
        return []
    cells = cells_of(part)
    cell_number = next((number for number, cell in enumerate(cells) if _section(cell)), 0)
    numbers = {cell.id: number for number, cell in enumerate(cells)}
    headings: dict[str, int] = {}
    for number, cell in enumerate(cells):
        headings |= {title: number for _, title in HEADING.findall(cell.source)}
    slides = []
    for slide in read_lecture(lectures()[part]).slides:
        ids = [block.cell for block in slide.blocks if block.cell]
        shown = [numbers[cell_id] for cell_id in ids if cell_id in numbers]
        before = shown[0] if shown else cell_number
        cell_number = headings.get(slide.title, before)
        quizzes = [cells[number] for number in shown if cells[number].id.startswith("quiz-")]
        question = _question_in(quizzes[0].source) if quizzes else ""
        title = slide.title.replace("*", "")
        slides.append(_Slide(cell_number if slide.level else -1, title, question, ids))
    return slides


def _question_in(quiz: str) -> str:
    question, _, _ = quiz.partition("<details>")
    return " ".join(question.removeprefix("**Predict.**").replace("*", "").split())
