"""A page of the book: what the literature says, beside what the lessons measured.

Its rows are in literature.toml.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from ..._support.notebooks import part_of
from .headings import HEADING, anchor_of

VERDICTS = ("same", "weaker", "opposite", "not comparable")
ROW = "| {says} *{source}* | {theirs} | {ours} ({links}) | **{verdict}**{because} |"
PAGE = """# What the literature says, and what we saw

The lessons rest on papers, on documentation, and on five tutorials that the course began with. Each row is a claim of
one of them, its number where it gives one, and what a cell of the lessons printed. {count} claims: {verdicts}.

- **same**: what we saw agrees in direction.
- **weaker**: it holds in part, or the interval reaches 0.
- **opposite**: we saw the reverse.
- **not comparable**: another quantity, or a model that the claim is not about.

Numbers in brackets are 95% intervals, wider where a cell makes several comparisons; counts, formulas and checks of
equality have none. The encoder is the packaged one, much smaller than most models of the papers, so a row says what to
expect of such an encoder, not who is right.
"""
PART = """
## {title}

| They say | Their number | Ours | Verdict |
|---|---|---|---|
{rows}
"""


def claims() -> list[tuple[str, list[dict[str, Any]]]]:
    """[(title of the part, [claim])] in the order of the page; the `cells` of a claim are words in
    one text.
    """
    text = (Path(__file__).parent / "literature.toml").read_text(encoding="utf-8")
    return [(part["title"], part["claim"]) for part in tomllib.loads(text)["part"]]


def literature_page(lessons: Mapping[str, NotebookNode]) -> str:
    """The page as Markdown. lessons: {name: notebook} of the book; a cell's link leads to the
    heading above it.
    """
    links = _links(lessons)
    text, verdicts = [], Counter()
    for title, part in claims():
        verdicts.update(claim["verdict"] for claim in part)
        rows = [_row(claim, links) for claim in part]
        text.append(PART.format(title=title, rows="\n".join(rows)))
    counted = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS)
    return PAGE.format(count=verdicts.total(), verdicts=counted) + "".join(text)


def _links(lessons):
    """For each cell, such as "08-thresholds:pooling", a link to the heading above it."""
    links = {}
    for name, notebook in lessons.items():
        key, heading = part_of(name), ""
        for cell in notebook.cells:
            headings = HEADING.findall(cell.source) if cell.cell_type == "markdown" else []
            heading = [heading, *headings][-1]
            links[f"{key}:{cell.get('id')}"] = (
                f"[{key[:2]}, {heading}](<{name}.ipynb#{anchor_of(heading)}>)"
            )
    return links


def _row(claim, links):
    # the book may lack a lesson
    listed = dict.fromkeys(links.get(cell, f"lesson {cell[:2]}") for cell in claim["cells"].split())
    because = f": {claim['because']}" if "because" in claim else ""
    return ROW.format(**{**claim, "links": ", ".join(listed), "because": because})
