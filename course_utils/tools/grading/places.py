"""Where the lessons treat something.

An exercise or a mistake leads to a section of the book, and to a slide.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from docutils.nodes import make_id

from ..._support.fast_nbformat import read_notebook
from ..._support.notebooks import lesson_cells, name_of, part_with, parts
from ...exercises.model import words_of_mistakes
from ..publish.headings import TITLE
from ..publish.lectures import read_lecture
from ..publish.slides import lectures


@dataclass(frozen=True)
class _Slide:
    """A slide.

    index: counted from 0, as in the address of the slide.
    title: without the signs of emphasis.
    cell_index: of the lesson's cell that it belongs to; -1 for the title slide.
    question: what it asks, "" if it asks nothing.
    cell_ids: of the cells that it shows.
    """

    index: int
    cell_index: int
    title: str
    question: str
    cell_ids: list[str]


@dataclass(frozen=True)
class Place:
    """Where a lesson treats something.

    lesson, deck_lesson: the keys of the notebook that has the section, and of the one whose lecture
    has the slide.
    section, slide: their titles; "" without a slide.
    page, deck: the addresses of section and slide in the book and in what `course slides` writes.
    slide_number: counted from 1; 0 without a slide.
    question: the one that the slide asks, if it asks one.
    """

    lesson: str
    section: str
    page: str
    deck_lesson: str = ""
    slide: str = ""
    slide_number: int = 0
    deck: str = ""
    question: str = ""


def place_of(exercise: str, shown_in: str = "") -> Place | None:
    """The place of a cell: of `shown_in`, else of the one that the exercise names, else its own.

    exercise: its id.
    shown_in: a cell's id, such as "padding", or with another part, "04 diagram-broadcast".

    Of a cell of another part, the slide alone is taken. Returns None if there is no such cell.
    """
    shown_in = shown_in or words_of_mistakes(exercise)[1]  # [1]: the `shown_in` of the exercise
    other_part, _, cell_id = shown_in.rpartition(" ")
    own_part = part_with(exercise)
    own_cells = _cell_indices(own_part)
    # the section is one of the exercise's own part: above the named cell, if it stands there, else
    # above the exercise
    above = cell_id if other_part in ("", own_part) else exercise
    place = _section_above(own_part, own_cells.get(above, own_cells.get(exercise)))
    # the slide is one of the part that is named, else of the exercise's own
    deck_part = other_part or own_part
    cell_index = _cell_indices(deck_part).get(cell_id or exercise)
    is_picture = cell_index is None and bool(_slides_showing(deck_part, cell_id))
    if place is None or (cell_index is None and not is_picture):
        return None
    # a picture for the lecture alone has no cell, but a slide, so no index is needed to find that
    slide = _slide_of(deck_part, cell_id, cell_index or 0)
    if slide is None:
        return place
    return replace(
        place,
        deck_lesson=deck_part,
        slide=slide.title,
        slide_number=slide.index + 1,
        deck=f"{parts()[deck_part].stem}.slides.html#/{slide.index}",
        question=slide.question,
    )


def _section_above(part: str, cell_index: int | None) -> Place | None:
    """The last section above a cell that is no exercise's own, as a place without a slide.

    Returns None without a cell, and if there is no section above it.
    """
    if cell_index is not None:
        for cell in reversed(cells_of(part)[: cell_index + 1]):
            if section := _section(cell):
                return Place(part, section, f"{name_of(parts()[part])}.html#{make_id(section)}")
    return None


def _slide_of(part: str, cell_id: str, cell_index: int) -> _Slide | None:
    """The slide that a place of a part leads to, or None.

    It is the first that shows the cell or, without a cell, the first of the section; else the last
    one above.
    """
    slides = _slides_showing(part, cell_id) if cell_id else _slides_of_section(part, cell_index)
    # the first cell is the lesson's title; without a cell, too, the index is 0
    if not slides and cell_index > 0:
        slides = [slide for slide in _slides(part) if slide.cell_index <= cell_index][-1:]
    return slides[0] if slides else None


def _slides_showing(part: str, cell_id: str) -> list[_Slide]:
    return [slide for slide in _slides(part) if cell_id in slide.cell_ids]


def _slides_of_section(part: str, cell_index: int) -> list[_Slide]:
    """The slides of the section that a cell is in; there must be one, see `_section_above`."""
    cells = cells_of(part)
    starts = [index for index, cell in enumerate(cells) if _section(cell)]
    start = max(index for index in starts if index <= cell_index)
    end = min((index for index in starts if index > cell_index), default=len(cells))
    return [slide for slide in _slides(part) if start <= slide.cell_index < end]


def _section(cell: Any) -> str:
    """The title of the section that a cell begins, if that is no exercise's own; else ""."""
    heading = re.search(r"^## (.+)$", cell.source, re.MULTILINE)
    if cell.cell_type != "markdown" or heading is None or heading[1].startswith("Exercise"):
        return ""
    return heading[1]


@cache
def cells_of(part: str) -> list[Any]:
    """The cells of the lesson with this key; [] if there is none. Cached: do not change them."""
    path = parts().get(part)
    return lesson_cells(read_notebook(path)) if path else []


def code_of(part: str) -> str:
    """The code of the lesson with this key; "" if there is none."""
    return "\n".join(cell.source for cell in cells_of(part) if cell.cell_type == "code")


@cache
def _cell_indices(part: str) -> dict[str, int]:
    return {cell.id: index for index, cell in enumerate(cells_of(part))}


@cache
def _slides(part: str) -> list[_Slide]:
    """The slides of a lesson's lecture. [] if it has none.

    A slide belongs to the section that it is called after, else to the first cell that it shows; if
    the lesson has neither, to what the slide before it belongs to, and a first one to the first
    section. The title belongs to none.
    """
    if part not in lectures():
        return []
    cells, indices = cells_of(part), _cell_indices(part)
    heading_indices = {
        title: index for index, cell in enumerate(cells) for title in TITLE.findall(cell.source)
    }
    # what the next slide belongs to, unless it says so itself; first the first section
    cell_index = min((index for index, cell in enumerate(cells) if _section(cell)), default=0)
    slides = []
    for index, slide in enumerate(read_lecture(lectures()[part]).slides):
        cell_ids = [block.cell for block in slide.blocks if block.cell]
        shown = [cell_id for cell_id in cell_ids if cell_id in indices]
        if slide.title in heading_indices:
            cell_index = heading_indices[slide.title]
        elif shown:
            cell_index = indices[shown[0]]
        quizzes = [cell_id for cell_id in shown if cell_id.startswith("quiz-")]
        question = _question_in(cells[indices[quizzes[0]]].source) if quizzes else ""
        belongs_to = cell_index if slide.level else -1  # the title slide has level 0
        slides.append(_Slide(index, belongs_to, slide.title.replace("*", ""), question, cell_ids))
    return slides


def _question_in(quiz: str) -> str:
    # the answer is folded into <details>
    question, _, _ = quiz.partition("<details>")
    return " ".join(question.removeprefix("**Predict.**").replace("*", "").split())
