"""A notebook's bytes as cells. Part of what the sandbox sees."""

import hashlib
import json
from typing import NamedTuple

UTF_16 = "it is in UTF-16; save it as UTF-8"
WEB_PAGE = "it is a web page; download the notebook itself"
# what people hand in by mistake, by how such a file begins, in lower case
NO_NOTEBOOKS = {
    b"\xff\xfe": UTF_16,
    b"\xfe\xff": UTF_16,
    b"version https://git-lfs": (
        "it is a pointer of Git LFS; hand in the file that `git lfs pull` fetches"
    ),
    b"<!doctype html": WEB_PAGE,
    b"<html": WEB_PAGE,
    b"pk\3\4": "it is a zip archive under another name",
}


class Broken(Exception):
    """This notebook gives no answer. The message says why, without a full stop at its end."""


class CellUnreadable(Broken):
    """The answer is in a cell that is not valid Python."""


class Cell(NamedTuple):
    """A cell of a notebook.

    kind: "code", "markdown" or "raw". grade_id: nbgrader's id, None if it has none. A hand-in may
    have anything as these two.
    """

    kind: object
    source: str
    grade_id: object = None


def read_notebook(data: bytes) -> tuple[list[Cell], str]:
    """The cells of a notebook, and the version of Python with which it was last run, or "".

    What is no cell is skipped.

    Raises Broken if the bytes are not a notebook.
    """
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Broken(f"this file is not a notebook: {_kind_of_file(data)}") from None
    cells = _within(notebook, "cells")
    if not isinstance(cells, list):
        raise Broken("this file is not a notebook: it has no cells")
    read = [_cell(cell) for cell in cells if isinstance(cell, dict)]
    # a hand-in may have a text of any length there; a version is short
    return read, _text(_within(notebook, "metadata", "language_info", "version"))[:20]


def _kind_of_file(data: bytes) -> str:
    """What a file is that is not JSON, and what to do."""
    if not data.strip():
        return "it is empty"
    if b"\n<<<<<<< " in data:
        return "it holds the marks of a conflict in Git; resolve it, and save again"
    # a page may begin with a byte order mark, and with empty lines
    start = data.removeprefix(b"\xef\xbb\xbf")[:1000].lstrip().lower()
    for beginning, kind in NO_NOTEBOOKS.items():
        if start.startswith(beginning):
            return kind
    return "it is not JSON"


def _cell(cell: dict) -> Cell:
    grade_id = _within(cell, "metadata", "nbgrader", "grade_id")
    return Cell(cell.get("cell_type"), _text(cell.get("source")), grade_id)


# a notebook has a text as a string, or as a list of its lines; anything else is no text
def _text(source: object) -> str:
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _within(value: object, *keys: str) -> object:
    """The value under these keys of nested dicts, or None."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def cell_checksum(source: str) -> str:
    """A checksum of a cell's text, to recognise cells that the learner left unchanged.

    It does not depend on the kind of line ends, nor on white space around the text.
    """
    text = source.replace("\r\n", "\n").strip()
    # "replace": a hand-in may hold lone surrogates, which cannot be encoded
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
