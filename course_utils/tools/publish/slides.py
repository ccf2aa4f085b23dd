"""A lecture as a deck: one self-contained HTML file, made by nbconvert and reveal.js.

A lecture (see `lectures`) has slides, speaker's notes and the cells whose outputs it shows. The deck sets type and
pictures as large as each slide allows; a diagram's steps (`<g class="cu-step" data-step="1">`) appear one at a time.
The notes say which section takes which minutes, and how to pass over an optional slide.
"""

import base64
import html
import json
import os
import re
import shutil
from copy import deepcopy
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from ... import explore
from ..._support.fast_nbformat import nbformat
from ..._support.files import write_whole
from ..._support.notebooks import BEGIN, END, NOTEBOOKS, name_of, padded, part_of, parts
from ...diagrams.the_way import LESSONS, the_way
from .book import MARKER
from .lectures import LectureError, read_lecture
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


def lectures(sources=NOTEBOOKS):
    """{key: path} of all lectures, in the order of their lessons."""
    folder = Path(sources) / "lectures"
    paths = {key: folder / f"{path.stem}.md" for key, path in parts(sources).items()}
    return {key: path for key, path in paths.items() if path.is_file()}


def find_lesson(key, sources=NOTEBOOKS):
    """The file of a lesson by its key, such as "05", "5" or "05-effects". Raises SlidesError, listing the keys."""
    lessons = parts(sources)
    if not lessons:
        raise SlidesError(f"There are no lessons in {sources}. Install the course again.")
    name = padded(key or "")
    if name not in lessons:
        raise SlidesError(f"There is no lesson {key}. The lessons are {', '.join(lessons)}.")
    return lessons[name]


def explorer_pages(book, sources=NOTEBOOKS):
    """The addresses of all explorers in the book, by their names.

    book: its address or folder; a lesson's explorer stands in a cell named after it, mostly in a further part.
    """
    folder = f"{book.rstrip('/')}/" if book else ""
    known = {path.stem for path in Path(explore.__file__).parent.glob("*.js")}
    return {
        name.replace("-", "_"): f"{folder}{name_of(path)}.html#explore-{name}"
        for path in parts(sources).values()
        for name in re.findall(r'"id": "explore-([\w-]+)"', path.read_text(encoding="utf-8"))
        if name.replace("-", "_") in known
    }


def deck_cells(lecture, pages=None):
    """The cells of a deck, each with `metadata.deck`, which the template reads.

    pages: what `explorer_pages` returns, for links from the pictures of explorers; without it, no links.
    """
    number, cells, start, notebooks = lecture.lesson[:2], [], 0, {}
    for place, slide in enumerate(lecture.slides):
        shown, notes = [_heading(lecture, slide)], []
        for block in slide.blocks:
            if block.kind == "text" and block.press == 0 and len(shown) == 1:
                shown[0].source += f"\n\n{block.text.strip()}"
            elif block.kind == "embed":
                shown.append(_embedded(lecture, block, notebooks, pages or {}))
            elif block.kind == "text":
                shown.append(_text(block.text, press=block.press))
            else:
                notes += [block.text] if block.kind == "notes" else []
        if slide.level == 0 and number in LESSONS:
            shown.append(_map_of(number))
        presses = [0, *(cell.metadata.deck["press"] for cell in shown), 0]
        for at, cell in enumerate(shown, 1):
            begins, ends = presses[at] != presses[at - 1], presses[at] != presses[at + 1]
            cell.metadata.deck.update(begins=presses[at] and begins, ends=presses[at] and ends)
        read_and_said = [cell.source for cell in shown if cell.cell_type == "markdown"] + notes
        words = sum(len(text.split()) for text in read_and_said)
        whole = [*shown, *(_text(text, type="notes") for text in [*_added_notes(lecture, place, start), *notes])]
        kind = ("title", "opening", "plain")[slide.level]
        whole[0].metadata.deck.update(opens=True, kind=kind, optional=slide.optional, words=words)
        whole[-1].metadata.deck["closes"] = True
        cells += whole
        start += slide.minutes
    _spread_minutes([cell for cell in cells if cell.metadata.deck["opens"]], lecture)
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
    return cells


def _marked(cell, **deck):
    """A cell with what the template must know of it."""
    cell.metadata = {"deck": {"type": "-", "opens": False, "closes": False, "press": 0, "input": False} | deck}
    return cell


def _text(text, **deck):
    return _marked(nbformat.v4.new_markdown_cell(text.strip()), **deck)


def _heading(lecture, slide):
    """The cell that a slide begins with."""
    if slide.level:
        return _text(f"{'#' * (slide.level + 1)} {slide.title}")
    which = f"{lecture.lesson[:2]}{', further' * (len(part_of(lecture.lesson)) > 2)}"
    return _text(f"# {lecture.title}\n{lecture.subtitle}\n\nLesson {which} · {lecture.minutes} minutes")


def _added_notes(lecture, place, start):
    """What the notes say by themselves: the plan, the minutes of a section, how to pass over an optional slide."""
    slide, notes = lecture.slides[place], []
    optional = [one.optional for one in lecture.slides]
    target = next((at for at in range(place + 1, len(optional)) if not optional[at]), None)
    if target and (optional[place] or optional[place + 1]):
        which = "This slide is" if optional[place] else "The slide after this one is"
        notes.append(f"**{which} optional**, not in the minutes. To pass over it: G, {target + 1}, Enter.")
    if slide.level == 0:
        rows = "\n".join(f"| {title} | {minutes} |" for title, minutes in lecture.sections)
        plan = "".join(block.text for block in slide.blocks if block.kind == "plan")
        table = f"| section | minutes |\n|---|---|\n{rows}\n\nTotal: {lecture.minutes} minutes."
        notes.append(f"## Lecture plan\n\n{table}\n\n{plan}")
    if slide.level == 1:
        when = f"from minute {start} to {start + slide.minutes} of {lecture.minutes}"
        notes.append(f"**{slide.title}:** {slide.minutes} minutes, {when}.")
    return notes


def _embedded(lecture, block, notebooks, pages):
    """The cell that a block embeds, ready to be shown. Raises LectureError."""
    path = (lecture.path.parent / block.text).resolve()
    if path not in notebooks:
        try:
            notebooks[path] = {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}
        except OSError:
            raise lecture.wrong(
                block.line, f"there is no notebook {block.text}, seen from the lecture's folder"
            ) from None
        # the class depends on what is wrong with the notebook
        except (nbformat.ValidationError, ValueError, TypeError, KeyError, AttributeError):
            raise lecture.wrong(block.line, f"{block.text} is not a valid notebook: fetch it again") from None
    found = notebooks[path].get(block.cell)
    if found is None:
        near = get_close_matches(block.cell, notebooks[path], n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise lecture.wrong(block.line, f"{path.name} has no cell {block.cell}{meant}".rstrip("?"))
    if found.cell_type == "markdown":
        return _text(found.source, press=block.press)
    if not found.outputs and not block.echo:
        raise lecture.wrong(block.line, f"the cell {block.cell} shows nothing: run the lesson, or show its code too")
    cell = nbformat.v4.new_code_cell(found.source, outputs=deepcopy(found.outputs))
    cell.source = "\n".join(line for line in cell.source.splitlines() if line.strip() not in (BEGIN, END))
    for output in cell.outputs:
        shown = output.get("data", {}).get("text/html", "")
        if "</iframe>" in shown:
            output.data["text/html"] = _handing_keys_on(shown)
        elif (explorer := EXPLORER.search(shown)) and explorer[1] in pages:
            target = html.escape(pages[explorer[1]])
            link = f'<a href="{target}" target="_blank" rel="noopener">Try it in the book</a>'
            output.data["text/html"] = f'{shown}<p class="explore-link">{link}</p>'
    return _marked(cell, press=block.press, input=block.echo)


def _spread_minutes(slides, lecture):
    """Give each slide its seconds of its section's minutes, by the words that are read and said, and a pause to look.

    What comes before the first section is part of the first section's minutes.
    """
    sections, opened = [[] for _ in lecture.sections], 0
    for slide, cell in zip(lecture.slides, slides, strict=True):
        opened += slide.level == 1
        sections[max(opened, 1) - 1].append((slide, cell.metadata.deck))
    for (name, minutes), section in zip(lecture.sections, sections, strict=True):
        parts = [0 if slide.optional else WORDS_IN_A_LOOK + deck["words"] for slide, deck in section]
        if not any(parts):
            raise lecture.wrong(section[0][0].line, f"all slides of its section {name!r} are optional")
        for place, (_, deck) in enumerate(section):
            ends = [60 * minutes * sum(parts[:count]) // sum(parts) for count in (place, place + 1)]
            deck["seconds"] = ends[1] - ends[0]


def _handing_keys_on(view):
    """An attention view that gives the keys pressed in its frame to the deck."""
    script = (DECK / "frame.html").read_text(encoding="utf-8")
    return view.replace("'></iframe>", f"{html.escape(script)}'></iframe>")


def _map_of(lesson):
    shown = nbformat.v4.new_output("display_data", {"text/html": the_way(lesson)._repr_html_()})
    return _marked(nbformat.v4.new_code_cell(outputs=[shown]))


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
    """The deck of one lecture as HTML text.

    book: where the book's pages are, as in `write_deck`.

    Raises SlidesError with a one-sentence message: a lecture that cannot be read, an address that is none.
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
        lecture = read_lecture(path)
        pages = {} if book is None else explorer_pages(book, path.parents[1])
        notebook = nbformat.v4.new_notebook(cells=deck_cells(lecture, pages))
    except LectureError as error:
        raise SlidesError(str(error)) from None
    except ValueError as error:  # a formula
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
    signs = json.loads((DECK / "signs.json").read_text(encoding="utf-8"))
    deck = {
        "title": lecture.title,
        "css": "\n".join(css),
        "script": script,
        "own": (DECK / "deck.js").read_text(encoding="utf-8"),
        "explorers": explorers,
        "signs": {sign: SIGN.format(sign, STROKE, drawn) for sign, drawn in signs.items()},
        "seconds": 60 * lecture.minutes,
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
    lesson = find_lesson(number, sources)
    path = Path(sources) / "lectures" / f"{lesson.stem}.md"
    if not path.is_file():
        raise SlidesError(f"Lesson {number} has no lecture: `course new-lecture {number}` begins one, {path}.")
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
