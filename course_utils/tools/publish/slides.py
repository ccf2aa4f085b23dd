"""A lesson as a lecture deck: one self-contained HTML file, made by nbconvert and reveal.js.

A lesson marks its slides with the standard metadata `slideshow.slide_type`: "slide" begins one, "-" continues it,
"fragment" appears at the next key press, "notes" are for the speaker; a cell without it is not shown. Tags say how a
code cell is shown: `slide-input` or `slide-output` for one half of it, `reveal` for an output that appears at the next
key press, `slide-columns` for code and output side by side. The tag `optional` on the first cell of a slide says so in
its corner, takes it out of the minutes, and puts into the notes how to pass over it. The deck sets type and pictures
as large as each slide allows; a diagram's steps (`<g class="cu-step" data-step="1">`) appear one at a time.
"""

import base64
import html
import json
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from ... import explore
from ..._support.fast_nbformat import nbformat
from ..._support.files import write_whole
from ..._support.notebooks import BEGIN, END, NOTEBOOKS, kind_of, padded, parts
from ...diagrams.the_way import LESSONS, the_way
from .book import MARKER
from .mathematics import with_mathml
from .paper import BROWSERS, print_pdf

DECK = Path(__file__).parent / "deck"
SIGN = '<svg class="sign" viewBox="0 0 24 24" role="img" aria-label="{}" {}>{}</svg>'
STROKE = 'fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"'
EXPLORER = re.compile(r'data-explorer="(\w+)"')
ALONE = {"merges": (), "threshold": ("pairs",), "losses": (), "hybrid": ("docs",)}  # explorers that need no encoder
WORDS_IN_A_LOOK = 40  # a room looks at a slide for as long as 40 words take to say
HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)


class SlidesError(RuntimeError):
    """A deck cannot be made. The message is one sentence."""


def lessons_with_decks(sources=NOTEBOOKS):
    """The keys of all lessons and further parts that have a lecture plan, in their order."""
    return [key for key, path in parts(sources).items() if '"id": "plan"' in path.read_text(encoding="utf-8")]


def find_lesson(key, sources=NOTEBOOKS):
    """The file of a lesson by its key, such as "05", "5" or "05-further". Raises SlidesError, listing the keys."""
    lessons = parts(sources)
    if not lessons:
        raise SlidesError(f"There are no lessons in {sources}. Install the course again.")
    name = padded(key or "")
    if name not in lessons:
        raise SlidesError(f"There is no lesson {key}. The lessons are {', '.join(lessons)}.")
    return lessons[name]


def timing(notebook):
    """The sections and total minutes of the lecture, from the table in the lecture plan.

    Returns [("Too many vectors", 6), ...] and the stated total. Raises ValueError if there is no plan, its parts do not
    add up to its total, or its sections are not those of the slides.
    """
    plan = next((cell.source for cell in notebook.cells if cell.id == "plan"), None)
    if plan is None:
        raise ValueError("it has no lecture plan")
    table = re.findall(r"^\| *([^|]+?) *\| *(\d+) *\|$", plan, re.MULTILINE)
    rows = [(name.strip(), int(minutes)) for name, minutes in table]
    total = re.search(r"^Total: (\d+) minutes", plan, re.MULTILINE)
    if not rows or total is None or sum(minutes for _, minutes in rows) != int(total[1]):
        raise ValueError("the minutes of its lecture plan do not add up to the stated total")
    first = [HEADING.findall(cell.source)[:1] for cell in notebook.cells if _slide_type(cell) == "slide"]
    opened = [name for headings in first for marks, name in headings if marks == "##"]
    if [name for name, _ in rows] != opened:
        raise ValueError(f"the sections of its lecture plan are not the ## headings of its slides: {opened}")
    return rows, int(total[1])


def explorer_pages(book, sources=NOTEBOOKS):
    """The addresses of all explorers in the book, by their names.

    book: its address or folder; a lesson's explorer stands in a cell named after it, mostly in a further part.
    """
    folder = f"{book.rstrip('/')}/" if book else ""
    known = {path.stem for path in Path(explore.__file__).parent.glob("*.js")}
    return {
        name.replace("-", "_"): f"{folder}{path.stem}.html#explore-{name}"
        for path in parts(sources).values()
        for name in re.findall(r'"id": "explore-([\w-]+)"', path.read_text(encoding="utf-8"))
        if name.replace("-", "_") in known
    }


def deck_cells(notebook, pages=None, lesson=""):
    """The cells of a lesson on slides or in speaker notes, each with `metadata.deck`, which the template reads.

    pages: what `explorer_pages` returns, for links from the pictures of explorers; without it, no links.
    lesson: its number, such as "05": the title slide shows where it stands on the map of the course.
    """
    rows, total = timing(notebook)
    optional = ["optional" in cell.metadata.get("tags", []) for cell in notebook.cells if _slide_type(cell) == "slide"]
    cells, number, start, opening = [], 0, 0, None
    for cell in notebook.cells:
        kind = _slide_type(cell)
        if kind in ("", "skip"):
            continue
        heading = HEADING.search(cell.source) if cell.cell_type == "markdown" else None
        level = len(heading[1]) if heading else 3
        cell.metadata["deck"] = _how_shown(cell, kind, level, opens=kind == "slide" or not cells)
        opening = cell if cell.metadata.deck["opens"] else opening
        opening.metadata.deck["words"] += len(cell.source.split()) if cell.cell_type == "markdown" else 0
        _prepare(cell, pages or {})
        cells.append(cell)
        if kind != "slide":
            continue
        number += 1
        following = next((at for at in range(number + 1, len(optional) + 1) if not optional[at - 1]), None)
        if following and (optional[number - 1] or optional[number]):
            which = "This slide is" if optional[number - 1] else "The slide after this one is"
            cells.append(_notes(f"**{which} optional**, not in the minutes. To pass over it: G, {following}, Enter."))
        if level == 2:
            minutes = dict(rows)[heading[2]]
            when = f"from minute {start} to {start + minutes} of {total}"
            cells.append(_notes(f"**{heading[2]}:** {minutes} minutes, {when}."))
            start += minutes
        elif level == 1:
            cells.append(_notes(next(cell.source for cell in notebook.cells if cell.id == "plan")))
            if lesson in LESSONS:
                cells.append(_map_of(lesson))
    if not cells or not any(cell.metadata.deck["opens"] for cell in cells):
        raise ValueError("it has no slide tags")
    for cell, after in zip(cells, [*cells[1:], None]):
        cell.metadata.deck["closes"] = after is None or after.metadata.deck["opens"]
    _spread_minutes([cell for cell in cells if cell.metadata.deck["opens"]], rows)
    return cells


def _how_shown(cell, kind, level, opens):
    """What the template must know of a cell."""
    tags = cell.metadata.get("tags", [])
    shown = {"input": "slide-output" not in tags, "output": "slide-input" not in tags, "reveal": "reveal" in tags}
    shown |= {"columns": "slide-columns" in tags, "optional": kind == "slide" and "optional" in tags}
    place = {1: "title", 2: "opening"}.get(level, "plain")
    return {"type": kind, "kind": place, "opens": opens, "closes": False, "words": 0, **shown}


def _prepare(cell, pages):
    """Change what a cell shows: formulas, the marks of a solution, attention views, pictures of explorers."""
    if cell.cell_type == "markdown":
        cell.source = with_mathml(cell.source)
        return
    cell.source = "\n".join(line for line in cell.source.splitlines() if line.strip() not in (BEGIN, END))
    for output in cell.outputs:
        shown = output.get("data", {}).get("text/html", "")
        if "</iframe>" in shown:
            output.data["text/html"] = _handing_keys_on(shown)
        elif (explorer := EXPLORER.search(shown)) and explorer[1] in pages:
            target = html.escape(pages[explorer[1]])
            link = f'<a href="{target}" target="_blank" rel="noopener">Try it in the book</a>'
            output.data["text/html"] = f'{shown}<p class="explore-link">{link}</p>'


def _spread_minutes(slides, rows):
    """Give each slide its seconds of its section's minutes, by the words that are read and said, and a pause to look.

    What comes before the first section is part of the first section's minutes.
    """
    sections, opened = [[]], False
    for slide in slides:
        if slide.metadata.deck["kind"] == "opening":
            if opened:
                sections.append([])
            opened = True
        sections[-1].append(slide)
    for (name, minutes), section in zip(rows, sections, strict=True):
        decks = [slide.metadata.deck for slide in section]
        parts = [0 if deck["optional"] else WORDS_IN_A_LOOK + deck["words"] for deck in decks]
        if not any(parts):
            raise ValueError(f"all slides of its section {name!r} are optional")
        for place, deck in enumerate(decks):
            ends = [60 * minutes * sum(parts[:count]) // sum(parts) for count in (place, place + 1)]
            deck["seconds"] = ends[1] - ends[0]


def _handing_keys_on(view):
    """An attention view that gives the keys pressed in its frame to the deck."""
    script = (DECK / "frame.html").read_text(encoding="utf-8")
    return view.replace("'></iframe>", f"{html.escape(script)}'></iframe>")


def _slide_type(cell):
    return cell.metadata.get("slideshow", {}).get("slide_type", "")


def _map_of(lesson):
    shown = nbformat.v4.new_output("display_data", {"text/html": the_way(lesson)._repr_html_()})
    deck = {"type": "-", "opens": False, "closes": False, "input": False, "output": True, "reveal": False}
    return nbformat.v4.new_code_cell(outputs=[shown], metadata={"deck": deck | {"columns": False}})


def _notes(text):
    return nbformat.v4.new_markdown_cell(text, metadata={"deck": {"type": "notes", "opens": False, "closes": False}})


def book_seen_from(out):
    """The folder of the book that links of decks in the folder `out` lead to; None if there is no book.

    It is looked for in `out` itself, beside it as `book`, and where `course book` puts it.
    """
    for folder in (Path(out), Path(out).parent / "book", Path("build/book")):
        if (folder / MARKER).exists():
            way = os.path.relpath(folder, out).replace(os.sep, "/")
            return "" if way == "." else quote(way)
    return None


def render(path, book=None):
    """The deck of one lesson as HTML text.

    book: where the book's pages are, as in `write_deck`.

    Raises SlidesError with a one-sentence message: not a notebook, no slide tags, a plan that does not add up, an
    address that is none.
    """
    if book and not re.match(r"https?://[^/]|[\w./~%-]*$", book):
        raise SlidesError(f"--book must be an address (https://...) or a folder beside the deck; got {book!r}.")
    package = find_spec("sphinx_revealjs")
    if package is None or find_spec("nbconvert") is None:
        raise SlidesError(
            "The decks need nbconvert and reveal.js, which are not installed here. Install the course again."
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
        minutes = timing(notebook)[1]
        pages = {} if book is None else explorer_pages(book, path.parent)
        notebook.cells = deck_cells(notebook, pages, path.stem[:2])
    except ValueError as error:
        raise SlidesError(f"{path.name}: {error}.") from None
    reveal = Path(package.submodule_search_locations[0]) / "_static" / "revealjs"

    def texts(folder, *names):
        return [(folder / name).read_text(encoding="utf-8") for name in names]

    css = texts(reveal, "dist/reset.css", "dist/reveal.css")
    css += [HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight")]
    css += texts(DECK, "../formulas.css", "deck.css")
    explorers = _explorers_in(notebook.cells)
    css += texts(Path(explore.__file__).parent, "view.css") if explorers else []
    script = "\n".join(texts(reveal, "dist/reveal.js", "plugin/notes/notes.js")).replace("</script", "<\\/script")
    title = HEADING.search(notebook.cells[0].source)
    signs = json.loads((DECK / "signs.json").read_text(encoding="utf-8"))
    deck = {
        "title": title[2] if title else path.stem,
        "css": "\n".join(css),
        "script": script,
        "own": (DECK / "deck.js").read_text(encoding="utf-8"),
        "explorers": explorers,
        "signs": {sign: SIGN.format(sign, STROKE, drawn) for sign, drawn in signs.items()},
        "seconds": 60 * minutes,
    }
    exporter = HTMLExporter(extra_template_basedirs=[str(DECK.parent)], template_name="deck", exclude_anchor_links=True)
    exporter.register_filter("base64", lambda text: base64.b64encode(text.encode()).decode())
    return exporter.from_notebook_node(notebook, resources={"deck": deck, "metadata": {"name": path.stem}})[0]


def _explorers_in(cells):
    """The script of the explorers on the slides that run in the deck itself, or ""."""
    shown = "".join(output.get("data", {}).get("text/html", "") for cell in cells for output in cell.get("outputs", []))
    names = sorted(set(EXPLORER.findall(shown)) & ALONE.keys())
    if not names:
        return ""
    data = {"pairs": explore.compute.scored_cosines, "docs": explore.compute.documentation}
    held = {
        name: {
            "module": base64.b64encode(explore.module(name).encode()).decode(),
            "data": {part: data[part]() for part in ALONE[name]},
        }
        for name in names
    }
    page = Path(explore.__file__).parent / "page"
    parts = [(page / file).read_text(encoding="utf-8").replace("export ", "") for file in ("model.js", "compute.js")]
    parts += [f"const EXPLORERS = {json.dumps(held, separators=(',', ':'))};"]
    return "\n".join([*parts, (DECK / "explore.js").read_text(encoding="utf-8")]).replace("</", "<\\/")


def write_deck(number, out, sources=NOTEBOOKS, book=None):
    """Write NN_name.slides.html to a folder, which is created if needed. Returns its path.

    book: the address of the book, or its folder seen from the deck's ("" if both are one), for links from the pictures
    of explorers. Without it, there are none.

    Raises SlidesError with a one-sentence message.
    """
    path = find_lesson(number, sources)
    text, target = render(path, book), Path(out) / f"{path.stem}.slides.html"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text)
    except OSError as error:
        raise SlidesError(f"Cannot write {target}: {error.strerror or error}.") from None
    return target


def write_pdf(deck):
    """Print a deck beside it, as NN_name.slides.pdf. Returns "" or why there is no PDF, as text for the user."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return "Chromium was not found, so no PDF was made. The decks themselves can be printed: add ?print-pdf."
    return print_pdf(browser, deck.resolve(), deck.resolve().with_suffix(".pdf"), "?print-pdf")
