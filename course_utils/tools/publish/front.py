"""The pages of the book that are not lessons: the first one, and the one about the literature.

The rows of the latter, with what the lessons measured, are in literature.toml.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from ..._support.notebooks import ROUTES, part_of
from ..pages import filled
from ..workspace import overview
from .figures import DRAWING, without_blank_lines
from .headings import HEADING, anchor_of

FOLDER = Path(__file__).parent
# what a lesson shows, beside what a paper says; in the order in which the page counts them
VERDICTS = ("same", "weaker", "opposite", "not comparable")


def title_page(
    lessons: Mapping[str, NotebookNode], sources: str | Path, pdf: str = "", megabytes: float = 0
) -> str:
    """The first page as Markdown: a picture, an introduction, and a card for each lesson.

    lessons: {name: notebook} of the book; their figures are already numbered.
    sources: their folder.
    pdf, megabytes: the name of the file with the whole book, "" if there is none, and its size.
    """
    course = overview.lessons(sources)
    cores = []
    for core in course:
        if core.is_core:
            # such as "05-effects" of "05"
            further = [part for part in course if part.key.startswith(f"{core.key}-")]
            cores.append((core, further))
    return filled(
        "index.md.j2",
        hero=(FOLDER / "book" / "hero.svg").read_text(encoding="utf-8").strip(),
        cores=cores,
        names={part_of(name): name for name in lessons},
        pictures={name: _first_drawing(notebook) for name, notebook in lessons.items()},
        one_day=ROUTES["one day"],
        hours=overview.Overview(course, frozenset()).hours,  # whatever exercises are solved
        pdf=pdf,
        megabytes=megabytes,
        # the name of a further part has a "/"; its core's page lists it
        pages=[*(name for name in lessons if "/" not in name), "literature"],
    )


def _first_drawing(notebook: NotebookNode) -> str:
    """The lesson's first drawing, for its card, or "".

    It stands there without what is written for screen readers: the card's link says enough.
    """
    figures = [cell for cell in notebook.cells if "mystnb" in cell.metadata]
    for figure in figures:
        for output in figure.get("outputs", []):
            drawing = DRAWING.search(output.get("data", {}).get("text/html", ""))
            if drawing:
                return without_blank_lines(re.sub(r'\s+(role|aria-label)="[^"]*"', "", drawing[0]))
    return ""


def claims() -> list[tuple[str, list[dict[str, Any]]]]:
    """[(title of the part, [claim])] in the order of the page.

    A claim is {key: text}, as in the file: says, source, theirs, ours, verdict (one of VERDICTS),
    because (which may be missing if the verdict is "same"), and cells: one or more, such as
    "01:vocabulary", separated by spaces.
    """
    table = tomllib.loads((FOLDER / "literature.toml").read_text(encoding="utf-8"))
    return [(part["title"], part["claim"]) for part in table["part"]]


def literature_page(lessons: Mapping[str, NotebookNode]) -> str:
    """The page about the literature as Markdown; a cell's link leads to the heading above it.

    lessons: {name: notebook} of the book.
    """
    link_of = _links(lessons)
    parts = claims()
    verdicts: Counter[str] = Counter()
    for _, part in parts:
        for claim in part:
            verdicts[claim["verdict"]] += 1
            # the book may lack a lesson; a cell begins with the lesson's two digits
            links = [link_of.get(cell, f"lesson {cell[:2]}") for cell in claim["cells"].split()]
            # several cells may stand below one heading
            claim["links"] = ", ".join(dict.fromkeys(links))
    return filled("literature.md.j2", parts=parts, verdicts=verdicts, order=VERDICTS)


def _links(lessons: Mapping[str, NotebookNode]) -> dict[str, str]:
    """For each cell, such as "08-thresholds:pooling", a link to the heading above it."""
    links = {}
    for name, notebook in lessons.items():
        key = part_of(name)
        heading = ""  # the last heading so far
        for cell in notebook.cells:
            headings = HEADING.findall(cell.source) if cell.cell_type == "markdown" else []
            heading = headings[-1] if headings else heading
            links[f"{key}:{cell.get('id')}"] = (
                f"[{key[:2]}, {heading}](<{name}.ipynb#{anchor_of(heading)}>)"
            )
    return links
