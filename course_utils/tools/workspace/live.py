"""Live copies: a lesson whose worked cells are empty, the code to type, and `reveal`."""

import re
import textwrap
from functools import partial
from pathlib import Path

from ..._support.fast_nbformat import nbformat, read_notebook
from ..._support.files import write_whole
from ..._support.notebooks import NOTEBOOKS, lesson_named, name_of, part_of, parts, seen_from
from ...diary.workspace import LIVE
from ..pages import filled
from .copies import CopyError, changing, copied, learner_copy, obstacle, with_note, write_copy
from .merging import fingerprint

WIDTH = 88  # columns of a comment, with its "# ": as wide as formatters make code by default
NOTE = (
    "**This is a live copy of [{name}](../{name}).** Its worked cells are empty but for a comment "
    "that says what to write. Write it, or add `reveal()` below the comment and press Ctrl+Enter: "
    "the code comes back, and Ctrl+Enter runs it. If there is code of yours in the cell, the "
    "course's goes into a new cell below. All of it is in [{page}]({page}), too.\n\n"
    "What you hand in is [your own copy]({up}), not this one."
)


def typed_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The cells that are emptied in a live copy: worked ones that are not folded.

    A cell is worked if its metadata `course.does` say what to write. The place of a cell in this
    list, from 1, is its number in the live copy, on the page to type, and for `reveal`.
    """
    worked = [cell for cell in notebook.cells if cell.metadata.get("course", {}).get("does")]
    return [cell for cell in worked if not cell.metadata.get("jupyter", {}).get("source_hidden")]


def live_copy(notebook: nbformat.NotebookNode, *, key: str, name: str) -> nbformat.NotebookNode:
    """The live copy of a source notebook; `key` is its key, `name` its file in the workspace, such
    as "further/05_effects.ipynb".

    A learner's copy, except for the worked cells, links to other lessons, and two cells after the
    title. Raises CopyError if there is nothing to empty.
    """
    cells_to_empty = {cell.id: cell for cell in typed_cells(notebook)}
    if not cells_to_empty:
        raise CopyError(
            f"{name} has no cells to type, so there is no live copy of it; cores have one."
        )
    numbers = {cell_id: number for number, cell_id in enumerate(cells_to_empty, 1)}
    copy = learner_copy(notebook)
    for cell in copy.cells:
        if cell.id in cells_to_empty:
            # from the source, since a learner's copy has no metadata `course`
            purpose = f"{numbers[cell.id]}. {cells_to_empty[cell.id].metadata.course.does}"
            cell.source = textwrap.indent(textwrap.fill(purpose, WIDTH - len("# ")), "# ")
            # JupyterLab tells `reveal` the id of the cell that runs, and nothing else about where
            # it is
            cell.id = _live_id(key, cell.id)
    note = NOTE.format(name=name, page=live_file(name).with_suffix(".html").name, up=f"../{name}")
    return with_note(
        copy,
        nbformat.v4.new_markdown_cell(note, id="live-note"),
        nbformat.v4.new_code_cell("from course_utils import reveal", id="live-reveal"),
        lambda link: f"../{seen_from(name, link)}",
    )


def _live_id(key: str, cell_id: str) -> str:
    return f"live_{key}_{cell_id}"


def live_file(name: str) -> Path:
    """The file of a live copy, as a path in the workspace. name: of the lesson's notebook."""
    return Path(LIVE) / f"{Path(name).stem}_live.ipynb"


def page_to_type(notebook: nbformat.NotebookNode, key: str) -> str:
    """The code of the emptied cells as an HTML page, to read beside the live copy or to print.

    notebook: the source. key: of the lesson, such as "04".
    """
    typed_ids = [cell.id for cell in typed_cells(notebook)]
    heading = ""
    sections = []
    for cell in notebook.cells:
        heading_line = re.search("^## (.+)", cell.source, re.MULTILINE)
        if cell.cell_type == "markdown" and heading_line:
            heading = heading_line[1]
        elif cell.id in typed_ids:
            sections.append((heading, cell))
            heading = ""  # stands above the first cell of its section only
    return filled(
        "to_type.html.j2",
        title=notebook.cells[0].source.splitlines()[0].removeprefix("# "),
        key=key,
        sections=sections,
    )


def write_live(
    workspace: str | Path, key: str, sources: str | Path = NOTEBOOKS
) -> tuple[Path, bool]:
    """Write the live copy of a lesson into a workspace, and a page of the code to type.

    An edited live copy stays as it is, and so does its page if there is one. Returns the copy's
    file, as a path in the workspace, and whether it was edited. Raises CopyError, also if a link or
    no ordinary file is in its place, or ValueError for an unknown lesson.
    """
    path = lesson_named(key, sources)
    key = part_of(path)  # "04" also if it was called "4"
    file = live_file(path.name)
    target = Path(workspace) / file
    to_type = target.with_suffix(".html")
    text = copied(path, partial(live_copy, key=key, name=f"{name_of(path)}.ipynb"))
    page = page_to_type(read_notebook(path), key)
    with changing(Path(workspace)) as record:
        if blocked := obstacle(Path(workspace), target):
            raise CopyError(blocked)
        write_copy(target, text, record)
        edited = fingerprint(target.read_bytes()) != fingerprint(text)
        if not (edited and to_type.exists()):
            write_whole(to_type, page, through_links=False)
    return file, edited


def reveal(lesson: str | None = None, number: int | None = None) -> None:
    """Bring the code of an emptied cell of a live copy back.

    lesson, number: such as "04", 3 for the third emptied cell of lesson 04; by default, the cell
    that is running.

    The code takes the place of the running cell's text, or goes into a new cell below if that has
    other code. If there is nothing to bring back, a sentence says so.
    """
    from IPython import get_ipython

    shell = get_ipython()
    # what JupyterLab sent to run this cell; an IPython without a kernel has no `get_parent`
    request = (shell.get_parent() if hasattr(shell, "get_parent") else None) or {}
    running_id = str(request.get("metadata", {}).get("cellId", ""))
    cell = _cell_to_reveal(lesson, number, running_id)
    if shell is None or cell is None:
        print(
            "There is no code to bring back here: run reveal() in an emptied cell of a live copy "
            "in JupyterLab, or name a lesson and a number of its page, such as "
            'reveal("04", 1).'
        )
        return
    lines = map(str.strip, request.get("content", {}).get("code", "").splitlines())
    # anything but comments and the call of `reveal` itself
    has_own_code = any(line and not line.startswith(("#", "reveal(")) for line in lines)
    shell.set_next_input(cell.source, replace=not has_own_code)


def _cell_to_reveal(
    lesson: str | None, number: int | None, running_id: str
) -> nbformat.NotebookNode | None:
    """Emptied cell `number` of a lesson or, without a lesson, the one whose id in the live copy is
    `running_id`; None if there is no such cell.
    """
    # `_live_id` puts the key, which has no "_" itself, between "live_" and the next "_"
    key = running_id.removeprefix("live_").partition("_")[0] if lesson is None else lesson
    path = parts().get(key)
    cells = typed_cells(read_notebook(path)) if path else []
    if lesson is None:
        chosen = [cell for cell in cells if _live_id(key, cell.id) == running_id]
    else:
        # not cells[number - 1], which would take 0 and below from the end
        chosen = [cell for place, cell in enumerate(cells, start=1) if place == number]
    return chosen[0] if chosen else None
