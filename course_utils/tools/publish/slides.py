"""A lecture as a deck: one self-contained HTML file, made by nbconvert and reveal.js.

A lecture (see `lectures`) has slides, speaker's notes and the cells whose outputs it shows. The
deck sets type and pictures as large as each slide allows; a diagram's steps (`<g class="cu-step"
data-step="1">`) appear one at a time. The notes say which section takes which minutes.
"""

import html
import itertools
import json
import os
import re
from copy import deepcopy
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from urllib.parse import quote

from ..._support.fast_nbformat import nbformat, read_notebook
from ..._support.files import write_whole
from ..._support.notebooks import (
    BEGIN,
    END,
    NOTEBOOKS,
    is_core,
    lesson_named,
    name_of,
    part_of,
    parts,
)
from ...diagrams.the_way import LESSONS, the_way
from ..pages import filled
from . import PublishError
from .book import MARKER
from .explorers import SOURCE
from .lectures import Block, Lecture, Slide, read_lecture
from .mathematics import with_mathml

DECK = Path(__file__).parent / "deck"
# a sign that many fonts lack, as a drawing: the sign itself, and its strokes (from signs.json)
SIGN = (
    '<svg class="sign" viewBox="0 0 24 24" role="img" aria-label="{}" fill="none" '
    'stroke="currentColor" stroke-width="2" stroke-linecap="round">{}</svg>'
)
EXPLORER = re.compile(r'data-explorer="(\w+)"')
# an estimate: a room looks at a slide for as long as 40 words take to say, about 15 seconds
WORDS_IN_A_LOOK = 40
KINDS = ("title", "opening", "plain")  # of slides, by their level
# of a book or of decks: a web address with a host, or an absolute or relative folder
ADDRESS = re.compile(r"https?://[^/\s]\S*|/([\w.~%-]\S*)?|[\w.~%-][\w./~%-]*")


def lectures(sources: str | Path = NOTEBOOKS) -> dict[str, Path]:
    """{key: path} of the lessons that have a lecture, in their order, such as {"04": ...}."""
    paths = {
        key: Path(sources) / "lectures" / f"{path.stem}.md" for key, path in parts(sources).items()
    }
    return {key: path for key, path in paths.items() if path.is_file()}


def explorer_pages(book: str, sources: str | Path = NOTEBOOKS) -> dict[str, str]:
    """The addresses of all explorers in the book, by their names.

    book: its address or folder, "" for addresses within the book. An explorer NAME stands in a cell
    with the id explore-NAME, mostly of a further part; an "_" of its name is a "-" there.
    """
    folder = f"{book.rstrip('/')}/" if book else ""
    pages = {}
    for path in parts(sources).values():
        # in the notebook's JSON, which need not be parsed for this
        for name in re.findall(r'"id": "explore-([\w-]+)"', path.read_text(encoding="utf-8")):
            explorer = name.replace("-", "_")
            if (SOURCE / f"{explorer}.js").exists():
                pages[explorer] = f"{folder}{name_of(path)}.html#explore-{name}"
    return pages


def deck_cells(
    lecture: Lecture, explorer_links: dict[str, str] | None = None
) -> list[nbformat.NotebookNode]:
    """The cells of a deck.

    Raw cells between them open and close slides, notes, and what appears at a press of a key.

    explorer_links: what `explorer_pages` returns, for links from the pictures of explorers; without
    it, no links.

    Raises PublishError for a cell that cannot be embedded.
    """
    # {path: {id: cell}}: `_embedded` fills it, so that each notebook is read once
    cells_by_notebook: dict[Path, dict[str, nbformat.NotebookNode]] = {}
    bodies = [
        _body(lecture, slide, cells_by_notebook, explorer_links or {}) for slide in lecture.slides
    ]
    words = [_words(slide, body) for slide, body in zip(lecture.slides, bodies)]
    durations = seconds_of_slides(lecture, words)
    cells = []
    start = 0  # the minute in which the next section begins
    for slide, body, seconds in zip(lecture.slides, bodies, durations, strict=True):
        cells.append(_raw(f'<section class="{KINDS[slide.level]}" data-timing="{seconds}">'))
        for press, cells_of_press in itertools.groupby(body, lambda cell: cell.metadata.press):
            if press:
                cells += [_raw('<div class="fragment">'), *cells_of_press, _raw("</div>")]
            else:
                cells += cells_of_press
        plan_or_minutes = filled("notes.md.j2", lecture=lecture, slide=slide, start=start)
        for note in filter(str.strip, [plan_or_minutes, *slide.texts("notes")]):
            cells += [_raw('<aside class="notes">'), _text(note), _raw("</aside>")]
        cells.append(_raw("</section>"))
        start += slide.minutes
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
    return cells


def _raw(html_text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_raw_cell(html_text, metadata={"raw_mimetype": "text/html"})


def _text(text: str, press: int = 0) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(text.strip(), metadata={"press": press})


def _code_cell(
    source: str, outputs: list[nbformat.NotebookNode], *, press: int = 0, echo: bool = False
) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(
        source, outputs=outputs, metadata={"press": press, "echo": echo}
    )


def _words(slide: Slide, body: list[nbformat.NotebookNode]) -> int:
    """How many words are read on a slide, and said: those of its text and notes, without code."""
    texts_read = [cell.source for cell in body if cell.cell_type == "markdown"]
    return sum(len(text.split()) for text in texts_read + slide.texts("notes"))


def _body(
    lecture: Lecture,
    slide: Slide,
    cells_by_notebook: dict[Path, dict[str, nbformat.NotebookNode]],
    explorer_links: dict[str, str],
) -> list[nbformat.NotebookNode]:
    """The cells that a slide shows; `metadata.press` says at which press of a key.

    The first is its heading. cells_by_notebook, explorer_links: for `_embedded`.
    """
    cells = [_heading_cell(lecture, slide)]
    for block in slide.blocks:
        if block.kind == "embed":
            cells.append(_embedded(lecture, block, cells_by_notebook, explorer_links))
        # text that comes at once, before anything else, is set in one cell with the heading
        elif block.kind == "text" and block.press == 0 and len(cells) == 1:
            cells[0].source += f"\n\n{block.text.strip()}"
        elif block.kind == "text":
            cells.append(_text(block.text, block.press))
    number = lecture.lesson[:2]
    if slide.level == 0 and number in LESSONS:
        map_as_html = {"text/html": the_way(number)._repr_html_()}
        cells.append(_code_cell("", [nbformat.v4.new_output("display_data", map_as_html)]))
    return cells


def _heading_cell(lecture: Lecture, slide: Slide) -> nbformat.NotebookNode:
    if slide.level:
        return _text(f"{'#' * (slide.level + 1)} {slide.title}")
    further = "" if is_core(part_of(lecture.lesson)) else ", further"
    return _text(
        f"# {lecture.title}\n{lecture.subtitle}\n\n"
        f"Lesson {lecture.lesson[:2]}{further} · {lecture.minutes} minutes"
    )


def _embedded(
    lecture: Lecture,
    block: Block,
    cells_by_notebook: dict[Path, dict[str, nbformat.NotebookNode]],
    explorer_links: dict[str, str],
) -> nbformat.NotebookNode:
    """The cell that a block embeds, ready to be shown.

    cells_by_notebook: {path: {id: cell}} of those that were read; what is read is added.

    Raises PublishError for no notebook, no such cell, or one that would show nothing.
    """
    path = (lecture.path.parent / block.text).resolve()
    if path not in cells_by_notebook:
        try:
            cells_by_notebook[path] = {cell.id: cell for cell in read_notebook(path).cells}
        except (OSError, ValueError):
            raise lecture.wrong(
                block.line, f"{block.text}, seen from the lecture's folder, is not a valid notebook"
            ) from None
    cell = cells_by_notebook[path].get(block.cell)
    if cell is None:
        raise lecture.wrong(block.line, f"{path.name} has no cell {block.cell}")
    if cell.cell_type == "markdown":
        return _text(cell.source, block.press)
    if not cell.outputs and not block.echo:
        raise lecture.wrong(
            block.line, f"the cell {block.cell} shows nothing: run the lesson, or show its code too"
        )
    outputs = deepcopy(cell.outputs)
    for output in outputs:
        if "text/html" in output.get("data", {}):
            output.data["text/html"] = _on_a_slide(output.data["text/html"], explorer_links)
    lines = [line for line in cell.source.splitlines() if line.strip() not in (BEGIN, END)]
    # below a function, the formatter leaves two lines empty: on a slide, one is enough
    code = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    return _code_cell(code, outputs, press=block.press, echo=block.echo)


def _on_a_slide(shown: str, explorer_links: dict[str, str]) -> str:
    """An output as a slide shows it.

    An attention view gives the keys pressed in its frame to the deck; an explorer gets a link to
    the book.
    """
    if "</iframe>" in shown:
        script = (DECK / "frame.html").read_text(encoding="utf-8")
        # the frame's page is in srcdoc='...', so the script goes, escaped, before the last quote
        return shown.replace("'></iframe>", f"{html.escape(script)}'></iframe>")
    explorer = EXPLORER.search(shown)
    if explorer is None or explorer[1] not in explorer_links:
        return shown
    address = html.escape(explorer_links[explorer[1]])
    return (
        f'{shown}<p class="explore-link">'
        f'<a href="{address}" target="_blank" rel="noopener">Try it in the book</a></p>'
    )


def seconds_of_slides(lecture: Lecture, words: list[int]) -> list[int]:
    """The seconds of each slide: its share of its section's minutes, by its words.

    words: how many are read and said on each slide; a pause to look is added. What comes before the
    first section is part of that section. Returns [] for a lecture without sections, which
    `read_lecture` refuses.
    """
    weights = [WORDS_IN_A_LOOK + count for count in words]
    section_starts = [index for index, slide in enumerate(lecture.slides) if slide.level == 1]
    seconds = []
    for (_, minutes), section_end in zip(lecture.sections, [*section_starts[1:], len(weights)]):
        # from the first slide that has no seconds yet
        section_weights = weights[len(seconds) : section_end]
        # rounded as moments of the section, so that its slides take exactly its minutes
        moments = [
            60 * minutes * weight // sum(section_weights)
            for weight in itertools.accumulate(section_weights, initial=0)
        ]
        seconds += [after - before for before, after in itertools.pairwise(moments)]
    return seconds


def book_seen_from(out: str | Path) -> str | None:
    """The address of the book for links of decks in the folder `out`: "" if that is the book's own
    folder, None if there is no book.

    It is looked for in `out` itself, beside it as `book`, and where `course book` puts it.
    """
    for folder in (Path(out), Path(out).resolve().parent / "book", Path("build/book")):
        if (folder / MARKER).exists():
            address = os.path.relpath(folder, out).replace(os.sep, "/")
            return "" if address == "." else quote(address)
    return None


def render(path: Path, book: str | None = None) -> str:
    """The deck of one lecture as HTML text.

    path: the lecture's file, in the folder `lectures` below the lessons.
    book: where the book's pages are, as in `write_deck`.

    Raises PublishError for a lecture that cannot be read, or a `book` that is neither an address
    nor a folder.
    """
    from nbconvert.exporters import HTMLExporter

    if book and not ADDRESS.fullmatch(book):
        raise PublishError(
            f"--book must be an address (https://...) or a folder beside the deck; got {book!r}."
        )
    lecture = read_lecture(path)
    explorer_links = {} if book is None else explorer_pages(book, path.parents[1])  # the lessons
    signs = json.loads(_read(DECK / "signs.json"))
    deck = {  # for index.html.j2
        "title": lecture.title,
        **_styles_and_script(),
        "own": _read(DECK / "deck.js"),  # the deck's own script; `script` is reveal.js
        "signs": {sign: SIGN.format(sign, drawn) for sign, drawn in signs.items()},
        "seconds": 60 * lecture.minutes,
    }
    exporter = HTMLExporter(
        extra_template_basedirs=[str(DECK.parent)], template_name="deck", exclude_anchor_links=True
    )
    page, _ = exporter.from_notebook_node(
        nbformat.v4.new_notebook(cells=deck_cells(lecture, explorer_links)),
        resources={"deck": deck, "metadata": {"name": path.stem}},
    )
    return page


def _read(path: Traversable) -> str:
    return path.read_text(encoding="utf-8")


def _styles_and_script() -> dict[str, str]:
    # "css" and "script": reveal.js, as sphinx_revealjs brings it, with the deck's own styles
    from pygments.formatters import HtmlFormatter

    reveal = resources.files("sphinx_revealjs") / "_static" / "revealjs"
    styles = (
        _read(reveal / "dist/reset.css"),
        _read(reveal / "dist/reveal.css"),
        HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight"),
        _read(DECK.parent / "formulas.css"),
        _read(DECK / "deck.css"),
    )
    script = "\n".join(_read(reveal / name) for name in ("dist/reveal.js", "plugin/notes/notes.js"))
    # a page's script would end at the first </script in it
    return {"css": "\n".join(styles), "script": script.replace("</script", "<\\/script")}


def write_deck(
    number: str, out: str | Path, sources: str | Path = NOTEBOOKS, book: str | None = None
) -> Path:
    """Write NN_name.slides.html to a folder, which is created if needed. Returns its path.

    book: the address of the book, or its folder seen from the deck's ("" if both are one), for
    links from the pictures of explorers. Without it, there are none.

    Raises PublishError for a lesson without a lecture, and as `render` does; ValueError for an
    unknown lesson; OSError if the deck cannot be written.
    """
    path = Path(sources) / "lectures" / f"{lesson_named(number, sources).stem}.md"
    if not path.is_file():
        raise PublishError(
            f"Lesson {number} has no lecture: `course new-lecture {number}` begins one, {path}."
        )
    text = render(path, book)
    target = Path(out) / f"{path.stem}.slides.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, text)
    return target
