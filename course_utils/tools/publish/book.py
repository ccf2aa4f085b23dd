"""All lessons as a book: a site that needs no server or network, and one PDF. `course book` writes build/book.

Sphinx with MyST-NB renders the stored outputs; nothing is run. Content for other readers is changed on the way:
pictures for the lecture are removed, and a solution becomes a stub with the folded solution below it.
"""

import io
import re
import shutil
import tempfile
from pathlib import Path

from tqdm import tqdm

from ..._support.fast_nbformat import nbformat
from ..._support.notebooks import BEGIN, END, FURTHER, NOTEBOOKS, lesson_cells, name_of, part_of, parts
from ...diagrams.the_way import LESSONS, the_way
from ..workspace.copies import stub_out
from .explorers import ExplorersError, write_explorers
from .figures import number_figures, without_blank_lines
from .front import title_page
from .headings import HEADING, jupyter_anchor
from .listings import set_listings
from .literature import literature_page
from .mathematics import with_mathml
from .paper import BROWSERS, print_pdf

SETTINGS = Path(__file__).parent / "book"
MARKER = ".made-by-make-book"  # a folder without it was not made by this command
PDF = "sentence-embeddings.pdf"
# jQuery and d3 in an attention view
LIBRARIES = re.compile(r"(?:<script>(?:(?!</script>).){20000,}?</script>)+", re.DOTALL)
# a page loads its own files only; the theme and the attention views have scripts in the page itself
POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'self'"
)
EXPLORER = " data-explorer="
PASSED = "✓ passed"
FOLDED = '<details class="solution"><summary>One way to write it</summary>\n\n{}\n\n</details>'


class BookError(RuntimeError):
    """The book cannot be built. The message is one sentence."""


def read_lessons(sources=NOTEBOOKS):
    """{name: notebook} of the lessons, and the glossary if it exists, in reading order; see `name_of`.

    Raises BookError if there are no lessons, or for a file that is not a notebook or cannot go into the book.
    """
    notebooks = {}
    for path in [*parts(sources).values(), *Path(sources).glob("glossary.ipynb")]:
        try:
            notebook = nbformat.read(path, as_version=4)
            nbformat.validate(notebook)
            notebooks[name_of(path)] = notebook
            notebook.cells = for_readers(lesson_cells(notebook), _chapter(path, notebooks))
            if path.stem[:2] in LESSONS:
                _put_map(notebook.cells[0], path.stem[:2])
        except OSError as error:
            raise BookError(f"Cannot read {path}: {error.strerror or error}.") from None
        except (nbformat.reader.NotJSONError, nbformat.ValidationError, ValueError, AttributeError, KeyError) as error:
            if type(error) is ValueError:
                raise BookError(f"The lesson {path} cannot go into the book: {error}.") from None
            raise BookError(
                f"The lesson {path} is damaged. Fetch it again, for example with: git checkout {path}"
            ) from None
    if not notebooks.keys() - {"glossary"}:
        raise BookError(f"There are no lessons in {sources}. Install the course again.")
    if "glossary" in notebooks:
        _set_glossary(notebooks["glossary"].cells)
    return notebooks


def _set_glossary(cells):
    """Terms directly below the title, since no heading level may be skipped, and a link to each letter's first term."""
    first = {}
    for cell in cells:
        cell.source = re.sub("(?m)^### ", "## ", cell.source)
        for term in HEADING.findall(cell.source):
            first.setdefault(term[0].upper(), jupyter_anchor(term))
    letters = " ".join(f"[{letter}](#{anchor})" for letter, anchor in first.items())
    cells[0].source = re.sub(r"\A# .+\n", lambda title: f"{title[0]}\n{letters}\n", cells[0].source)


def _put_map(opening, lesson):
    """The map of the course below the title of a lesson, with the place where it stands."""
    drawn = f'<div class="cu-diagram cu-map">{without_blank_lines(the_way(lesson).svg)}</div>'
    opening.source = re.sub(r"\A(# .+\n)", lambda title: f"{title[1]}\n{drawn}\n", opening.source)


def _chapter(path, notebooks):
    """What figures are numbered by: 5 in a core, 5a and 5b in its further parts, G in the glossary."""
    if not path.stem[0].isdigit():
        return path.stem[0].upper()
    if len(part_of(path)) == 2:
        return str(int(path.stem[:2]))
    earlier = sum(Path(other).name[:2] == path.stem[:2] for other in notebooks) - 1  # it stands there already
    return f"{int(path.stem[:2])}{chr(96 + earlier)}"


def for_readers(cells, chapter):
    """The cells that a reader gets. Figures are numbered within the chapter.

    Raises ValueError for a figure that cannot be drawn or has no alt text, an output that is an error nobody wanted, an
    unreadable formula, or an unpaired solution mark.
    """
    kept, shared = [], ""
    for cell in cells:
        tags = cell.metadata.get("tags", [])
        kept.append(cell)
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
        if cell.cell_type == "code" and BEGIN in cell.source:
            written = "\n".join(line for line in cell.source.splitlines() if line.strip() not in (BEGIN, END))
            kept.append(nbformat.v4.new_markdown_cell(FOLDED.format(f"```python\n{written}\n```")))
            cell.source = stub_out(cell.source)
        elif cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution"):  # a report
            cell.source = FOLDED.format(cell.source)
        if PASSED in str(cell.get("outputs")) and re.search("^check\\(", cell.source, re.MULTILINE):
            cell.outputs = []  # the check of the solution; the book shows a stub
        for output in cell.get("outputs", []):
            if output.output_type == "error" and "raises-exception" not in tags:
                raise ValueError(f"the cell {cell.id} ended with {output.ename}")
    number_figures(kept, chapter)
    for output in (output for cell in kept for output in cell.get("outputs", [])):
        if "text/html" in (data := output.get("data", {})):
            data["text/html"] = data["text/html"].replace("<th></th>", "<td></td>")  # the corner of a table
            if "<iframe" in data["text/html"]:
                data["text/html"], shared = _lighter(data["text/html"], shared)
    return kept


def _lighter(view, shared):
    """An attention view without its libraries, and the libraries.

    They are stored once in the page, before the first view; book.js restores them. The view's page and menus get names
    for screen readers.
    """
    view = re.sub(r'<select id="(\w+)"', r'<select aria-label="\1" id="\1"', view)
    view = re.sub(r"(?=aspect-ratio:(\d+)/)", r"--wide:\1px;", view, count=1)  # of the drawing, for book.css
    view = view.replace('<meta charset="utf-8">', '<meta charset="utf-8"><title>Attention view</title>')
    scripts = LIBRARIES.search(view)
    if not scripts or shared not in ("", scripts[0]):
        return view, shared
    libraries = f'<template id="view-libraries">{scripts[0].replace("&#39;", chr(39)).replace("&amp;", "&")}</template>'
    view = view.replace(scripts[0], "<!--libraries-->").replace(" srcdoc='", " data-view='")
    return view if shared else libraries + view, scripts[0]


def _finish(app, name, template, context, doctree):
    """The last change of a page, called by Sphinx before it is written."""
    context["metatags"] = (
        context.get("metatags", "") + f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    )
    if "body" in context:
        # MyST-NB's name for folded code is not the one that can be read on it
        context["body"] = set_listings(
            context["body"].replace('<summary aria-label="Toggle hidden content">', "<summary>")
        )


def _with_further_parts(lessons):
    """Hang a core's further parts below it in the table of contents."""
    for name, notebook in lessons.items():
        further = [f"/{other}" for other in lessons if other.startswith(f"{FURTHER}/{name[:2]}_")]
        if further:
            listed = "\n".join(["```{toctree}", ":hidden:", "", *further, "```"])
            notebook.cells.append(nbformat.v4.new_markdown_cell(listed))


def _sphinx(builder, source, out, lessons):
    """Run Sphinx once over this many lessons.

    Raises BookError with its first warning: all warnings are errors, unless conf.py lists them with a reason.
    """
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    warnings = io.StringIO()
    pages = lessons + 2  # the first one, and that of the literature
    with (
        patch_docutils(SETTINGS),
        docutils_namespace(),
        tqdm(total=2 * pages, desc=f"Building {pages} pages ({builder})", unit="page", disable=None) as bar,
    ):
        try:
            app = Sphinx(source, SETTINGS, out, source.parent / "doctrees", builder, status=None, warning=warnings)
            app.connect("source-read", lambda *_: bar.update())
            app.connect("html-page-context", lambda *_: bar.update())
            app.connect("html-page-context", _finish)
            app.build()
        except SphinxError as error:
            raise BookError(f"Sphinx could not build the book: {str(error).splitlines()[0]}") from None
    if messages := re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue()).strip():
        raise BookError(f"Sphinx warns: {messages.splitlines()[0].replace(f'{source}/', '')}")


def _add_explorers(site, say):
    """Add what the explorers need to the site, or turn them into pictures and say why."""
    pages = [page for page in site.glob("**/*.html") if EXPLORER in page.read_text(encoding="utf-8")]
    if not pages:
        return
    say("Preparing the explorers.")
    attribute = EXPLORER
    try:
        write_explorers(site / "_static" / "explore")
    except ExplorersError as error:
        say(f"{error} The book shows their pictures.")
        attribute = " data-picture-of="
    for page in pages:
        text = re.sub(
            f'{EXPLORER}"(\\w+)"',  # decks link to the place, also where no script runs
            lambda found: f' id="explore-{found[1].replace("_", "-")}"{attribute}"{found[1]}"',
            page.read_text(encoding="utf-8"),
        )
        page.write_text(text, encoding="utf-8")


def write_book(out, sources=NOTEBOOKS, say=print):
    """Write the site and, if Chromium is installed, the PDF into a folder, replacing an earlier book.

    Returns index.html. Raises BookError with a one-sentence message if Sphinx is missing, a lesson is damaged, a link
    is broken, the folder cannot be written or is not a book's. An earlier book then stays.
    """
    try:
        import myst_nb  # noqa: F401
        import pydata_sphinx_theme  # noqa: F401
        import sphinx  # noqa: F401
    except ImportError:
        raise BookError(
            "The book needs Sphinx, MyST-NB and the PyData theme, which are not installed here. Install "
            "the course again."
        ) from None
    lessons, out = read_lessons(sources), Path(out).resolve()
    try:
        if out.exists() and any(out.iterdir()) and not (out / MARKER).exists():
            raise BookError(
                f"{out} was not made by `course book`, so it was left unchanged. Choose another folder with --out, or "
                "move it away."
            )
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix="book-", ignore_cleanup_errors=True) as room:
            source, paper, site = (Path(room) / name for name in ("source", "paper", "site"))
            (source / FURTHER).mkdir(parents=True)
            _with_further_parts(lessons)
            for name, notebook in lessons.items():
                nbformat.write(notebook, source / f"{name}.ipynb")
            (source / "literature.md").write_text(literature_page(lessons), encoding="utf-8")
            extras = "[The glossary](glossary.ipynb) explains each term in a sentence or two." * ("glossary" in lessons)
            extras += " [A table](literature.md) sets what papers report beside what we saw."
            (source / "index.md").write_text(title_page(lessons, source, sources, extras), encoding="utf-8")
            say(f"Reading {len(lessons)} lessons.")
            problem = "Chromium was not found, so no PDF was made. The pages themselves can be printed."
            if browser := next(filter(None, map(shutil.which, BROWSERS)), None):
                _sphinx("singlehtml", source, paper, len(lessons))
                page = paper / "index.html"
                whole = page.read_text(encoding="utf-8")
                # Sphinx 9 gives no id there
                page.write_text(re.sub(r'href="#document-[\w-]+#', 'href="#', whole), encoding="utf-8")
                say("Printing the PDF, which takes about half a minute.")
                problem = print_pdf(browser, page, paper / PDF)
            if problem:
                say(problem)
            else:
                size = f"{(paper / PDF).stat().st_size / 1e6:.1f} MB"
                extras += f' <a href="{PDF}">The whole book as a PDF</a> ({size}), for printing.'
                (source / "index.md").write_text(title_page(lessons, source, sources, extras), encoding="utf-8")
            say("Writing the pages.")
            _sphinx("html", source, site, len(lessons))
            if not problem:
                shutil.copy2(paper / PDF, site)
            _add_explorers(site, say)
            (site / MARKER).touch()
            if out.exists():
                shutil.rmtree(out)
            site.rename(out)
    except OSError as error:
        raise BookError(f"Cannot write {out}: {error.strerror or error}.") from None
    return out / "index.html"
