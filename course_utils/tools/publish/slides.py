"""A lesson as a lecture deck: one self-contained HTML file, made by nbconvert and reveal.js.

A lesson marks its slides with the standard metadata `slideshow.slide_type`: "slide" begins one, "-" continues it,
"fragment" appears at the next key press, "notes" are for the speaker; a cell without it is not shown. Tags say how a
code cell is shown: `slide-input` or `slide-output` for one half of it, `reveal` for an output that appears at the next
key press, `slide-columns` for code and output side by side, `slide-small` and `slide-large` for the size of type or
view.
"""

import re
from importlib.util import find_spec
from pathlib import Path

from ..._support.fast_nbformat import nbformat
from ..._support.files import write_whole
from ..._support.notebooks import BEGIN, END, NOTEBOOKS, kind_of
from .mathematics import with_mathml

DECK = Path(__file__).parent / "deck"
HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)


class SlidesError(RuntimeError):
    """A deck cannot be made. The message is one sentence."""


def find_lesson(number, sources=NOTEBOOKS):
    """The file of a lesson by its number, such as "05" or "5". Raises SlidesError, listing the existing numbers."""
    lessons = {path.name[:2]: path for path in sorted(Path(sources).glob("[0-9][0-9]_*.ipynb"))}
    if not lessons:
        raise SlidesError(f"There are no lessons in {sources}. Install the course from a checkout: pip install -e .")
    if not number or number.zfill(2) not in lessons:
        raise SlidesError(f"There is no lesson {number}. The lessons are {', '.join(lessons)}.")
    return lessons[number.zfill(2)]


def timing(notebook):
    """The sections and total minutes of the lecture, from the table in the lecture plan.

    Returns [("Too many vectors", 6), ...] and the stated total. Raises ValueError if there is no plan, its parts do not
    add up to its total, or its sections are not those of the slides.
    """
    plan = next((cell.source for cell in notebook.cells if cell.id == "plan"), None)
    if plan is None:
        raise ValueError("it has no lecture plan")
    rows = [
        (name.strip(), int(minutes))
        for name, minutes in re.findall(r"^\| *([^|]+?) *\| *(\d+) *\|$", plan, re.MULTILINE)
    ]
    total = re.search(r"^Total: (\d+) minutes", plan, re.MULTILINE)
    if not rows or total is None or sum(minutes for _, minutes in rows) != int(total[1]):
        raise ValueError("the minutes of its lecture plan do not add up to the stated total")
    opened = [
        name
        for cell in notebook.cells
        if _slide_type(cell) == "slide"
        for marks, name in HEADING.findall(cell.source)[:1]
        if marks == "##"
    ]
    if [name for name, _ in rows] != opened:
        raise ValueError(f"the sections of its lecture plan are not the ## headings of its slides: {opened}")
    return rows, int(total[1])


def deck_cells(notebook):
    """The cells of a lesson on slides or in speaker notes, each with `metadata.deck`, which the template reads."""
    rows, total = timing(notebook)
    starts = {
        name: (sum(minutes for _, minutes in rows[:place]), minutes) for place, (name, minutes) in enumerate(rows)
    }
    cells = []
    for cell in notebook.cells:
        kind = _slide_type(cell)
        if kind in ("", "skip"):
            continue
        tags, heading = (
            cell.metadata.get("tags", []),
            HEADING.search(cell.source) if cell.cell_type == "markdown" else None,
        )
        level = len(heading[1]) if heading else 3
        cell.metadata["deck"] = {
            "type": kind,
            "opens": kind == "slide" or not cells,
            "kind": {1: "title", 2: "opening"}.get(level, "plain"),
            "closes": False,
            "input": "slide-output" not in tags,
            "output": "slide-input" not in tags,
            "reveal": "reveal" in tags,
            "columns": "slide-columns" in tags,
            "small": "slide-small" in tags,
            "large": "slide-large" in tags,
        }
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
        else:
            cell.source = "\n".join(line for line in cell.source.splitlines() if line.strip() not in (BEGIN, END))
        cells.append(cell)
        if kind == "slide" and level == 2:
            start, minutes = starts[heading[2]]
            cells.append(
                _notes(f"**{heading[2]}:** {minutes} minutes, from minute {start} to {start + minutes} of {total}.")
            )
        elif kind == "slide" and level == 1:
            cells.append(_notes(next(cell.source for cell in notebook.cells if cell.id == "plan")))
    if not cells or not any(cell.metadata.deck["opens"] for cell in cells):
        raise ValueError("it has no slide tags")
    for cell, after in zip(cells, [*cells[1:], None]):
        cell.metadata.deck["closes"] = after is None or after.metadata.deck["opens"]
    return cells


def _slide_type(cell):
    return cell.metadata.get("slideshow", {}).get("slide_type", "")


def _notes(text):
    return nbformat.v4.new_markdown_cell(text, metadata={"deck": {"type": "notes", "opens": False, "closes": False}})


def render(path):
    """The deck of one lesson as HTML text.

    Raises SlidesError with a one-sentence message: not a notebook, no slide tags, a plan that does not add up.
    """
    package = find_spec("sphinx_revealjs")
    if package is None or find_spec("nbconvert") is None:
        raise SlidesError(
            'The decks need nbconvert and reveal.js, which are not installed here. Try: pip install -e ".[publish]"'
        )
    from nbconvert.exporters import HTMLExporter
    from pygments.formatters import HtmlFormatter

    try:
        notebook = nbformat.read(path, as_version=4)
    # the class depends on what is wrong with the notebook
    except (nbformat.ValidationError, ValueError, TypeError, KeyError, AttributeError, OSError):
        raise SlidesError(
            f"{path} is not a valid notebook. Fetch it again, for example with: git checkout {path}"
        ) from None
    try:
        if kind_of(notebook) == "page":
            raise ValueError("it is a page, which has no deck")
        if not any(_slide_type(cell) == "slide" for cell in notebook.cells):
            raise ValueError('it has no slide tags: no cell has slideshow.slide_type "slide" in its metadata')
        notebook.cells = deck_cells(notebook)
    except ValueError as error:
        raise SlidesError(f"{path.name}: {error}.") from None
    reveal = Path(package.submodule_search_locations[0]) / "_static" / "revealjs"
    files = {
        name: (reveal / name).read_text(encoding="utf-8")
        for name in ("dist/reset.css", "dist/reveal.css", "dist/reveal.js", "plugin/notes/notes.js")
    }
    css = [
        files["dist/reset.css"],
        files["dist/reveal.css"],
        HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight"),
        (DECK.parent / "formulas.css").read_text(encoding="utf-8"),
        (DECK / "deck.css").read_text(encoding="utf-8"),
    ]
    script = "\n".join(
        files[name].replace("</script", "<\\/script") for name in ("dist/reveal.js", "plugin/notes/notes.js")
    )
    title = HEADING.search(notebook.cells[0].source)
    deck = {"title": title[2] if title else path.stem, "css": "\n".join(css), "script": script}
    exporter = HTMLExporter(extra_template_basedirs=[str(DECK.parent)], template_name="deck")
    return exporter.from_notebook_node(notebook, resources={"deck": deck, "metadata": {"name": path.stem}})[0]


def write_deck(number, out, sources=NOTEBOOKS):
    """Write NN_name.slides.html to a folder, which is created if needed. Returns its path.

    Raises SlidesError with a one-sentence message.
    """
    path = find_lesson(number, sources)
    text, target = render(path), Path(out) / f"{path.stem}.slides.html"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text)
    except OSError as error:
        raise SlidesError(f"Cannot write {target}: {error.strerror or error}.") from None
    return target
