"""All lessons as a book: a site that needs no server or network, and one PDF.

`course book` writes build/book.

Sphinx with MyST-NB renders the stored outputs; nothing is run. What is not for readers of a book is
changed on the way: pictures for the lecture are removed, and a solution becomes a stub with the
folded solution below it.
"""

import io
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..._support.fast_nbformat import nbformat, read_notebook
from ..._support.notebooks import (
    BEGIN,
    END,
    FURTHER,
    NOTEBOOKS,
    is_core,
    lesson_cells,
    name_of,
    part_of,
    parts,
)
from ...diagrams.the_way import LESSONS, the_way
from ..workspace.copies import stub_out
from . import PublishError
from .explorers import write_explorers
from .figures import number_figures, without_blank_lines
from .front import literature_page, title_page
from .listings import set_listings
from .mathematics import with_mathml
from .paper import find_browser, print_pdf

SETTINGS = Path(__file__).parent / "book"
# a folder without this file was not made by this command; earlier books have it, so the name stays
MARKER = ".made-by-make-book"
PDF = "sentence-embeddings.pdf"
# A page loads files of the book only. 'unsafe-inline': the theme and the attention views have
# scripts in the page itself. 'wasm-unsafe-eval': the explorers run WebAssembly.
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="'
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'self'"
    '">'
)
EXPLORER = " data-explorer="  # the attribute of the element that an explorer's script fills
PASSED = "✓ passed"  # in the output of a `check`
FOLDED = '<details class="solution"><summary>One way to write it</summary>\n\n{}\n\n</details>'


def read_lessons(sources: str | Path = NOTEBOOKS) -> dict[str, nbformat.NotebookNode]:
    """{name: notebook} of the lessons, and the glossary if it exists, in reading order.

    The names are those of `name_of`, the cells those of `for_readers`, with the map of the course
    below the title where it has one. Raises PublishError if there are no lessons, or for one that
    cannot go into the book; ValueError for a damaged one; OSError.
    """
    notebooks = {}
    for path in [*parts(sources).values(), *Path(sources).glob("glossary.ipynb")]:
        notebook = read_notebook(path)
        try:
            cells = for_readers(lesson_cells(notebook), _chapter(path, notebooks))
        except (PublishError, ValueError) as error:
            raise PublishError(f"The lesson {path} cannot go into the book: {error}.") from None
        if path.stem[:2] in LESSONS:
            the_map = without_blank_lines(the_way(path.stem[:2]).svg)
            # the first line end is that of the title
            cells[0].source = cells[0].source.replace(
                "\n", f'\n\n<div class="cu-diagram cu-map">{the_map}</div>\n', 1
            )
        notebook.cells = cells
        notebooks[name_of(path)] = notebook
    if not notebooks.keys() - {"glossary"}:
        raise PublishError(f"There are no lessons in {sources}. Install the course again.")
    return notebooks


def _chapter(path: Path, earlier: Iterable[str]) -> str:
    """What figures are numbered by: "5" in a core, "5a" in its first further part.

    In the glossary it is "G".

    earlier: the names of the notebooks before it.
    """
    number = path.stem[:2]
    if not number.isdigit():
        return path.stem[0].upper()
    if is_core(part_of(path)):
        return str(int(number))
    # "abcdef": a lesson has six further parts at most
    before = sum(name.startswith(f"{FURTHER}/{number}_") for name in earlier)
    return f"{int(number)}{'abcdef'[before]}"


def for_readers(cells: list[nbformat.NotebookNode], chapter: str) -> list[nbformat.NotebookNode]:
    """The cells that a reader gets, folded solutions among them; the given ones are changed.

    chapter: what the numbers of figures begin with, such as "5a". Raises PublishError for a figure
    that cannot be drawn or has no alt text, an output that is an error nobody wanted, or an
    unreadable formula; ValueError for an unpaired solution mark.
    """
    kept = []
    for cell in cells:
        kept.append(cell)
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
            # the only solutions in Markdown are model answers to a report
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = FOLDED.format(cell.source)
            continue
        if PASSED in str(cell.outputs) and re.search(r"^check\(", cell.source, re.MULTILINE):
            cell.outputs = []  # the check of the solution; the book shows a stub
        # a folded copy follows the cell, which becomes a stub
        if BEGIN in cell.source:
            kept.append(_folded_solution(cell.source))
            cell.source = stub_out(cell.source)
        _prepare_outputs(cell)
    number_figures(kept, chapter)
    return kept


def _folded_solution(source: str) -> nbformat.NotebookNode:
    lines = [line for line in source.splitlines() if line.strip() not in (BEGIN, END)]
    return nbformat.v4.new_markdown_cell(FOLDED.format("\n".join(["```python", *lines, "```"])))


# changes the HTML among a cell's outputs; raises PublishError for an error that no tag allows
def _prepare_outputs(cell: nbformat.NotebookNode) -> None:
    may_fail = "raises-exception" in cell.metadata.get("tags", [])
    for output in cell.outputs:
        if output.output_type == "error" and not may_fail:
            raise PublishError(f"the cell {cell.id} ended with {output.ename}")
        if "text/html" in output.get("data", {}):
            output.data["text/html"] = _made_accessible(output.data["text/html"])


def _made_accessible(html: str) -> str:
    """The HTML of an output, with what screen readers need.

    An attention view gets a title, and its menus names. An empty heading, as in the corner of a
    table, becomes an ordinary cell.
    """
    html = html.replace("<th></th>", "<td></td>")
    html = re.sub(r'<select id="(\w+)"', r'<select aria-label="\1" id="\1"', html)
    html = html.replace(
        '<meta charset="utf-8">', '<meta charset="utf-8"><title>Attention view</title>'
    )
    # "aspect-ratio:640/480" begins with a view's width in pixels, which book.css needs as --wide
    return re.sub(r"(?=aspect-ratio:(\d+)/)", r"--wide:\1px;", html, count=1)


def write_book(
    out: str | Path, sources: str | Path = NOTEBOOKS, say: Callable[[str], object] = print
) -> Path:
    """Write the site and, if Chromium is installed, the PDF into a folder.

    out: the folder; an earlier book in it is deleted. say: is given sentences about the progress.

    Returns the path of index.html. Raises PublishError if a link is broken or the folder holds
    anything but a book, ValueError for a damaged lesson, OSError. An earlier book then stays,
    except after an OSError in replacing it.
    """
    lessons = read_lessons(sources)
    out = Path(out).resolve()
    if out.exists() and any(out.iterdir()) and not (out / MARKER).exists():
        raise PublishError(
            f"{out} was not made by `course book`, so it was left unchanged. Choose another folder "
            "with --out, or move it away."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    # beside `out`, so that `rename` stays on one disk
    with tempfile.TemporaryDirectory(
        dir=out.parent, prefix="book-", ignore_cleanup_errors=True
    ) as temporary:
        site = _build(Path(temporary), lessons, sources, say)
        if out.exists():
            shutil.rmtree(out)
        site.rename(out)
    return out / "index.html"


def _build(
    temporary: Path,
    lessons: Mapping[str, nbformat.NotebookNode],
    sources: str | Path,
    say: Callable[[str], object],
) -> Path:
    """Build the site in a temporary folder. Returns its folder.

    lessons: as `read_lessons` gives them; some get a cell more. For sources and say, see
    `write_book`.
    """
    source = temporary / "source"
    (source / FURTHER).mkdir(parents=True)
    for name, notebook in lessons.items():
        key = part_of(name)
        further = [f"/{other}" for other in lessons if other.startswith(f"{FURTHER}/{key}_")]
        if further:  # they hang below their core in the table of contents
            toctree = "\n".join(["```{toctree}", ":hidden:", "", *further, "```"])
            notebook.cells.append(nbformat.v4.new_markdown_cell(toctree))
        nbformat.write(notebook, source / f"{name}.ipynb")
    (source / "literature.md").write_text(literature_page(lessons), encoding="utf-8")
    front = source / "index.md"
    front.write_text(title_page(lessons, sources), encoding="utf-8")
    say(f"Reading {len(lessons)} lessons, which takes a minute or two.")
    pdf = _paper(source, temporary / "paper", say)
    if pdf:
        front.write_text(
            title_page(lessons, sources, PDF, pdf.stat().st_size / 1e6),  # MB
            encoding="utf-8",
        )
    say("Writing the pages.")
    site = temporary / "site"
    _sphinx("html", source, site)
    if pdf:
        shutil.copy2(pdf, site)
    _add_explorers(site, say)
    (site / MARKER).touch()
    return site


def _paper(source: Path, folder: Path, say: Callable[[str], object]) -> Path | None:
    """Print the book. Returns the path of the PDF, or None after saying why there is none."""
    if find_browser() is None:
        say(
            "Chromium was not found on PATH, so no PDF was made. The pages themselves can be printed."
        )
        return None
    _sphinx("singlehtml", source, folder)
    page = folder / "index.html"
    # on the single page, Sphinx 9 links to #document-NAME#SECTION, which leads nowhere: no element
    # has the first id, and #SECTION alone is enough
    text = re.sub(r'href="#document-[\w-]+#', 'href="#', page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")
    say("Printing the PDF, which takes about half a minute.")
    problem = print_pdf(page, folder / PDF)
    if problem:
        say(problem)
    return None if problem else folder / PDF


def _sphinx(builder: str, source: Path, out: Path) -> None:
    """Run Sphinx once over all lessons.

    builder: "html" or "singlehtml". Raises PublishError with its first error or warning: no warning
    is allowed.
    """
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    warnings = io.StringIO()
    with patch_docutils(SETTINGS), docutils_namespace():
        try:
            app = Sphinx(
                source,
                SETTINGS,
                out,
                source.parent / "doctrees",
                builder,
                status=None,
                warning=warnings,
            )
            app.connect("html-page-context", _finish_page)
            app.build()
        except SphinxError as error:
            raise PublishError(
                f"Sphinx could not build the book: {str(error).splitlines()[0]}"
            ) from None
    # without the colours of a terminal
    messages = re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue()).strip()
    if messages:
        raise PublishError(f"Sphinx warns: {messages.splitlines()[0].replace(f'{source}/', '')}")


def _finish_page(app: Any, name: str, template: str, context: dict, doctree: Any) -> None:
    """Change a page; called by Sphinx, which fixes the arguments, before it is written.

    context: changed: what the template of the page is given.
    """
    context["metatags"] = context.get("metatags", "") + POLICY
    if "body" in context:
        # with MyST-NB's label, screen readers would not read the text that is seen on folded code
        hidden_summary = '<summary aria-label="Toggle hidden content">'
        context["body"] = set_listings(context["body"].replace(hidden_summary, "<summary>"))


def _add_explorers(site: Path, say: Callable[[str], object]) -> None:
    """Add what the explorers need to the site, or turn them into pictures and say why."""
    pages = [
        page for page in site.glob("**/*.html") if EXPLORER in page.read_text(encoding="utf-8")
    ]
    if not pages:
        return
    say("Preparing the explorers.")
    attribute = EXPLORER
    try:
        write_explorers(site / "_static" / "explore")
    except PublishError as error:
        say(f"{error} The book shows their pictures.")
        attribute = " data-picture-of="  # which no script looks for

    # slide decks link to the id, which must be there even if no script runs
    def with_id(explorer: re.Match[str]) -> str:
        return f' id="explore-{explorer[1].replace("_", "-")}"{attribute}"{explorer[1]}"'

    for page in pages:
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(f'{EXPLORER}"(\\w+)"', with_id, text), encoding="utf-8")
