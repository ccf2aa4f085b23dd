"""Merge a lesson that both the learner and the course changed, cell by cell.

Cells are plain dictionaries, as in a notebook's JSON. A checksum per cell id identifies what the
course last wrote.
"""

import hashlib
import json
import re
import uuid
from collections import Counter
from typing import Any

Cell = dict[str, Any]

VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NOTE_ID = re.compile(r".*-(yours|frame)-\w{8}")  # ids of the notes below
TEXT_NOTE = (
    "*Your text from before the update. The course has changed this cell, too; its new text is "
    "above.*\n\n"
)
CODE_NOTE = (
    "*Your code from before the update. The course has changed this cell, too; its new code is "
    "above.*\n\n"
)
FRAME_NOTE = (
    "*The course has changed the given lines of this exercise. Your answer above is unchanged; "
    "the new lines are:*\n\n"
)
IN_WORDS = {  # what is counted in a merge, and what is said after a number of such cells
    # the course's cells
    "new": "new",
    "renewed": "renewed",
    "removed": "removed",
    # the learner's, which stay: answers to exercises, edited cells of the course, added cells
    "answers": "with your answer kept",
    "edited": "edited by you and kept",
    "added": "of your own kept",
    # cells that both have changed, and exercises whose given lines the course has changed
    "both": "changed by the course and by you (your text is below the course's)",
    "frames": "with new given lines (a note below your answer shows them)",
    # cells that the learner deleted and the course did not change
    "deleted": "deleted by you and not restored",
}
STUB = ["# YOUR CODE HERE", "raise NotImplementedError()"]  # nbgrader's wording


def parse_notebook(content: str | bytes) -> dict[str, Any] | None:
    """A notebook of format 4 from its text, as plain data; None for anything else.

    A cell without an id has "".
    """
    try:
        notebook = json.loads(content)
        notebook["metadata"] = dict(notebook.get("metadata", {}))
        notebook["nbformat_minor"] = int(notebook.get("nbformat_minor", 0))
        cells = [_read_cell(cell) for cell in notebook["cells"]]
        return notebook | {"cells": cells} if notebook["nbformat"] == 4 else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _read_cell(cell: Cell) -> Cell:
    cell_id = cell.get("id")
    is_valid = isinstance(cell_id, str) and VALID_ID.fullmatch(cell_id)
    return {
        **cell,
        "id": cell_id if is_valid else "",
        "metadata": dict(cell.get("metadata", {})),
        "source": "".join(cell["source"]),
    }


def checksum(cell: Cell) -> str:
    """A checksum of what a person edits in a cell: its type and its text, whatever its line ends."""
    text = "".join(cell["source"]).replace("\r\n", "\n")
    return hashlib.sha256(json.dumps([cell["cell_type"], text]).encode()).hexdigest()[:16]


def fingerprint(notebook_text: str | bytes) -> list[str] | None:
    """The checksums of a notebook's cells, in order. None if it is not a notebook."""
    try:
        return [checksum(cell) for cell in json.loads(notebook_text)["cells"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def checksums(notebook_text: str) -> dict[str, str]:
    """The checksum of each cell, by id, in order."""
    # a test ensures that the course's cells have ids
    return {cell["id"]: checksum(cell) for cell in json.loads(notebook_text)["cells"]}


def merge(
    learners: list[Cell], new: list[Cell], checksums_written: dict[str, str]
) -> tuple[list[Cell], Counter[str]]:
    """Merge the learner's cells with the course's new ones.

    Returns them in one list, and how many cells were treated in which way, by the keys of IN_WORDS.
    Where both changed a cell, the course's version is used, with the learner's text in a note
    below.

    checksums_written: checksum by id of what the course last wrote, or empty if unknown; every
    difference then counts as changed by both.
    """
    counts: Counter[str] = Counter()
    course = {cell["id"]: cell for cell in new}
    learners = identified(learners, course, checksums_written)
    versions = {cell["id"]: cell for cell in learners if cell["id"] in course}
    followers = _followers(learners, course, checksums_written, counts)
    texts_present = {cell["source"] for cell in learners}
    merged = list(followers[""])
    for cell in new:
        for part in _merge_cell(
            cell, versions.get(cell["id"]), checksums_written.get(cell["id"]), counts
        ):
            # an interrupted update may have left the same note
            if not (NOTE_ID.fullmatch(part["id"]) and part["source"] in texts_present):
                merged.append(part)
        merged += followers.get(cell["id"], [])
    return merged, counts


def _followers(
    learners: list[Cell],
    course: dict[str, Cell],
    checksums_written: dict[str, str],
    counts: Counter[str],
) -> dict[str, list[Cell]]:
    """The learner's own cells by the id of the course's cell above; "" for those on top."""
    followers: dict[str, list[Cell]] = {"": []}
    id_above = ""
    for cell in learners:
        if cell["id"] in course:
            id_above = cell["id"]
        elif checksums_written.get(cell["id"]) == checksum(cell):
            counts["removed"] += 1
        else:
            followers.setdefault(id_above, []).append(cell)
            # a note of an earlier update stays, but is not the learner's own
            counts["added"] += not NOTE_ID.fullmatch(cell["id"])
    return followers


def _merge_cell(
    new: Cell, version: Cell | None, last_written: str | None, counts: Counter[str]
) -> list[Cell]:
    """What takes the place of a course's cell: nothing, a cell, or a cell and a note below.

    version: the learner's version of it.
    last_written: the checksum of what the course wrote there last.
    """
    course_changed = checksum(new) != last_written
    if version is None:
        counts["new" if course_changed else "deleted"] += 1
        return [new] if course_changed else []
    # only the course has changed the cell
    if course_changed and checksum(version) == last_written:
        counts["renewed"] += 1
        return [new]
    # the learner's text stays, with what the course says about the cell
    kept = {**version, "metadata": {**version["metadata"], **new["metadata"]}}
    if checksum(version) == checksum(new):
        return [kept]
    # an answer to an exercise
    if exercise_of(new) is not None:
        counts["answers"] += 1
        if not course_changed or not has_other_frame(version, new):
            return [kept]
        counts["frames"] += 1
        return [kept, _note_about(new, "frame", FRAME_NOTE + as_block(new))]
    # only the learner has changed the cell
    if not course_changed:
        counts["edited"] += 1
        return [kept]
    # both have
    counts["both"] += 1
    return [new, *_notes_with_replaced_text(version)]


def _notes_with_replaced_text(version: Cell) -> list[Cell]:
    if not version["source"].strip():
        return []
    if version["cell_type"] == "markdown":
        return [_note_about(version, "yours", TEXT_NOTE + version["source"])]
    return [_note_about(version, "yours", CODE_NOTE + as_block(version))]


def _note_about(cell: Cell, kind: str, text: str) -> Cell:
    note = {
        "cell_type": "markdown",
        "id": f"{cell['id'][:50]}-{kind}-{_new_id()}",
        "metadata": {},
        "source": text,
    }
    if "attachments" in cell:  # its pictures
        note["attachments"] = cell["attachments"]
    return note


def identified(
    learners: list[Cell], course: dict[str, Cell], checksums_written: dict[str, str]
) -> list[Cell]:
    """The learner's cells, each with the id of the matching course cell, or an unused one.

    An editor may have dropped or duplicated ids. A cell is then identified by its text, an answer
    by the name of its exercise.
    """
    unused_ids = dict.fromkeys([*checksums_written, *course])  # in order
    used_ids = {""}
    cells: list[Cell] = []
    for cell in learners:
        # of several cells with one id, the first keeps it
        cell_id = "" if cell["id"] in used_ids else cell["id"]
        used_ids.add(cell_id)
        unused_ids.pop(cell_id, None)
        cells.append({**cell, "id": cell_id})
    for cell in cells:
        if cell["id"] not in checksums_written and cell["id"] not in course:
            # the first unused id of the course that fits; else the cell's own id, or a new one
            matching = (
                unused_id
                for unused_id in unused_ids
                if _is_same_cell(cell, course.get(unused_id), checksums_written.get(unused_id))
            )
            cell["id"] = next(matching, cell["id"] or _new_id())
            unused_ids.pop(cell["id"], None)
    return cells


def _new_id() -> str:
    return uuid.uuid4().hex[:8]


def _is_same_cell(cell: Cell, course_cell: Cell | None, last_written: str | None) -> bool:
    if checksum(cell) == last_written:
        return True
    if course_cell is None:
        return False
    exercise = exercise_of(cell)
    return checksum(cell) == checksum(course_cell) or (
        exercise is not None and exercise == exercise_of(course_cell)
    )


def exercise_of(cell: Cell) -> str | None:
    """The name of the exercise that a cell answers, or None."""
    marks = cell["metadata"].get("nbgrader")
    return marks.get("grade_id") if isinstance(marks, dict) and marks.get("solution") else None


def has_other_frame(answer: Cell, stub: Cell) -> bool:
    """Whether an answer lacks a line of its frame."""
    lines = {line.strip() for line in answer["source"].splitlines()}
    frame = {line.strip() for line in stub["source"].splitlines()}
    # an answer replaces the stub, so those lines may be missing
    return not frame <= lines.union(STUB)


def as_block(cell: Cell) -> str:
    """A cell's text as a fenced code block, even if it contains backticks."""
    text = cell["source"]
    language = "python" if cell["cell_type"] == "code" else ""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def in_words(counts: Counter[str]) -> str:
    """A one-line description of a merge."""
    parts = [f"{counts[key]} {words}" for key, words in IN_WORDS.items() if counts[key]]
    return f"cells: {', '.join(parts) or 'put into the order of the course'}"


def write_notebook(notebook: dict[str, Any]) -> str:
    """The text of a notebook, formatted as nbformat does it, in ASCII.

    JSON can hold lone surrogates, and a file in UTF-8 cannot.
    """
    cells = [{**cell, "source": cell["source"].splitlines(True)} for cell in notebook["cells"]]
    return json.dumps({**notebook, "cells": cells}, indent=1, sort_keys=True) + "\n"
