"""Where the lessons treat something: the section of the book and the slide that an exercise or a mistake leads to."""

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
    """Where a lesson treats something. page, deck: files of the book and of `course slides`; number: the slide's.

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
    """The place of the cell `shown_in`; without it, of the one that the exercise names, else of the exercise itself.

    Of a cell of another part, the slide alone is taken. Returns None if there is no such cell.
    """
    named, _, cell = (shown_in or told(exercise)[1]).rpartition(" ")
    own = part_with(exercise)
    part = _part_with_cell(named or own, cell) if cell else own
    here = _find_place(own, cell if part == own else "", exercise)
    if here is None or part == own:
        return here
    there = _find_place(part, cell, "")
    if there is None or not there.number:  # a further part without a deck
        return here
    return replace(there, section=here.section, page=here.page)


def _part_with_cell(part, cell):
    """This part, or the first other one of its lesson, if that has the cell, or a slide that shows it."""
    others = [key for key in parts() if key[:2] == part[:2] and key != part]
    for key in (part, *others):
        if any(other.id == cell for other in cells_of(key)) or any(
            cell in slide.cells for slide in _slides(key)
        ):
            return key
    return part


def _find_place(part, cell, exercise):
    """The place of a cell, or of an exercise, in a lesson, or None.

    The section is the last one above that is no exercise's own. The slide is the one that the cell
    is on or follows; of an exercise, the first of its section, or else the last above.
    """
    cells, slides = cells_of(part), _slides(part)
    showing = [number for number, slide in enumerate(slides) if cell in slide.cells]
    answer = next(
        (at for at, other in enumerate(cells) if exercise and _grade_id(other) == exercise), None
    )
    start = (
        next((at for at, other in enumerate(cells) if other.id == cell), None) if cell else answer
    )
    if start is None and showing:  # a picture for the lecture alone
        slide = slides[showing[0]]
        start = slide.at if slide.sure or answer is None else answer
    if start is None:
        return None
    sections = [at for at, other in enumerate(cells) if _section(other)]
    above = [at for at in sections if at <= start]
    if not above:
        return None
    path, title = parts()[part], _section(cells[above[-1]])
    place = Place(title, f"{name_of(path)}.html#{make_id(title)}")
    if not showing and not cell:
        end = next((at for at in sections if at > start), len(cells))
        showing = [number for number, slide in enumerate(slides) if above[-1] <= slide.at < end]
    if not showing:
        showing = [number for number, slide in enumerate(slides) if slide.at <= start][-1:]
    if not showing:
        return place
    number, slide = showing[0], slides[showing[0]]
    deck = f"{path.stem}.slides.html#/{number}"
    return replace(place, slide=slide.title, number=number + 1, deck=deck, question=slide.question)


def _grade_id(cell):
    marks = cell.metadata.get("nbgrader", {})
    return marks.get("grade_id") if marks.get("solution") else None


def _section(cell):
    """The title of the section that a cell begins, if that is no exercise's own; else ""."""
    heading = (
        re.search(r"^## (.+)$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else None
    )
    return heading[1] if heading and not heading[1].startswith("Exercise") else ""


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
    """A slide: the number of the lesson's cell that it belongs to, its title, what it asks, and the cells it shows.

    sure: whether the lesson itself says where it belongs.
    """

    at: int
    title: str
    question: str
    cells: list[str]
    sure: bool


@cache
def _slides(part):
    """The slides of a lesson's lecture. [] if it has none.

    A slide belongs to the section that it is called after, else to the first cell that it shows; if
    the lesson has neither, to what the slide before it belongs to, and a first one to the first
    section. The title belongs to none.
    """
    if part not in lectures():
        return []
    cells = cells_of(part)
    at = next((number for number, cell in enumerate(cells) if _section(cell)), 0)
    numbers = {cell.id: number for number, cell in enumerate(cells)}
    headings = {
        title: number
        for number, cell in enumerate(cells)
        for _, title in HEADING.findall(cell.source)
    }
    slides = []
    for slide in read_lecture(lectures()[part]).slides:
        blocks = [block.cell for block in slide.blocks if block.cell]
        shown = [numbers[cell] for cell in blocks if cell in numbers]
        sure = slide.title in headings or bool(shown)
        if sure:
            at = headings[slide.title] if slide.title in headings else shown[0]
        questions = [
            cells[number].source for number in shown if cells[number].id.startswith("quiz-")
        ]
        question = questions[0].partition("<details>")[0] if questions else ""
        question = " ".join(question.removeprefix("**Predict.**").replace("*", "").split())
        slides.append(
            _Slide(at if slide.level else -1, slide.title.replace("*", ""), question, blocks, sure)
        )
    return slides
