"""A page of the book: what the literature says, beside what the lessons measured. Its rows are in literature.toml."""

import tomllib
from collections import Counter
from pathlib import Path

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


def claims():
    """[(title of the part, [claim])] in the order of the page; a claim is a dictionary, its `cells` a list."""
    text = (Path(__file__).parent / "literature.toml").read_text(encoding="utf-8")
    parts = [(part["title"], part["claim"]) for part in tomllib.loads(text)["part"]]
    for _, rows in parts:
        for claim in rows:
            claim["cells"] = claim["cells"].split()
    return parts


def literature_page(lessons):
    """The page as Markdown. lessons: {name: notebook} of the book; a cell's link leads to the heading above it."""
    named = {part_of(name): name for name in lessons}
    text, found = [], Counter()
    for title, part in claims():
        found.update(claim["verdict"] for claim in part)
        rows = []
        for claim in part:
            links = dict.fromkeys(_link(cell, named, lessons) for cell in claim["cells"])
            because = f": {claim['because']}" if "because" in claim else ""
            rows.append(ROW.format(**{**claim, "links": ", ".join(links), "because": because}))
        text.append(PART.format(title=title, rows="\n".join(rows)))
    verdicts = ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS)
    return PAGE.format(count=found.total(), verdicts=verdicts) + "".join(text)


def _link(cell, named, lessons):
    """A cell, such as "08-thresholds:pooling", as a link to the heading above it; plain if the book lacks it."""
    key, _, wanted = cell.partition(":")
    if key not in named:
        return f"lesson {key[:2]}"
    heading = ""
    for one in lessons[named[key]].cells:
        if one.cell_type == "markdown" and (found := HEADING.findall(one.source)):
            heading = found[-1]
        if one.get("id") == wanted:
            break
    return f"[{key[:2]}, {heading}](<{named[key]}.ipynb#{anchor_of(heading)}>)"
