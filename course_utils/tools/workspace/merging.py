"""Merge a lesson that both the learner and the course changed, cell by cell.

Cells are plain dictionaries, as in a notebook's JSON, with their source as one text. A checksum per
cell id identifies what the course wrote. A copy carries those of its own version in its metadata,
so that a copy of an older one, saved over a newer or restored from a backup, is known as what it is.
"""

import hashlib
import json
import re
import uuid
from collections import Counter
from typing import Any

Cell = dict[str, Any]

VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # as nbformat defines it
NOTE_ID = re.compile(r".*-(yours|frame)-\w{8}")  # as `_note_about` makes it
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

    A cell without a valid id has "". Each cell has metadata, and its source is one text.
    """
    try:
        notebook = json.loads(content)
        notebook["metadata"] = dict(notebook.get("metadata", {}))
        notebook["nbformat_minor"] = int(notebook.get("nbformat_minor", 0))
        cells = [_read_cell(cell) for cell in notebook["cells"]]
        return notebook | {"cells": cells} if notebook["nbformat"] == 4 else None
    # an OverflowError: JSON can hold a number that is infinite
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
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
    """A checksum of what a person edits in a cell: its type and text, whatever its line ends.

    It has 16 hexadecimal digits of SHA-256, which is enough to tell versions of a cell apart.
    """
    text = "".join(cell["source"]).replace("\r\n", "\n")
    return hashlib.sha256(json.dumps([cell["cell_type"], text]).encode()).hexdigest()[:16]


def fingerprint(notebook_text: str | bytes) -> list[str] | None:
    """The checksums of a notebook's cells, in order. None if it is not a notebook."""
    try:
        return [checksum(cell) for cell in json.loads(notebook_text)["cells"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def checksums(notebook_text: str) -> dict[str, str]:
    """The checksum of each cell of a notebook that the course wrote, by id, in order."""
    # a test ensures that the course's cells have ids
    return {cell["id"]: checksum(cell) for cell in json.loads(notebook_text)["cells"]}


def as_metadata(checksums_by_id: dict[str, str]) -> dict[str, list[str]]:
    """The entry `course` of a copy's metadata, from which `written_in` reads the checksums again.

    A list, since JSON may be written with its keys sorted, and the order of the cells counts.
    """
    return {"written": [f"{cell_id} {digest}" for cell_id, digest in checksums_by_id.items()]}


def written_in(notebook_text: str | bytes) -> dict[str, str]:
    """The checksums of the cells by id, in order, as the course wrote them into this very file.

    Empty if the file does not say, as one of an earlier course, or one whose metadata an editor has
    dropped.
    """
    try:
        lines = json.loads(notebook_text)["metadata"]["course"]["written"]
        return dict(line.split(" ") for line in lines)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def merge(
    learner_cells: list[Cell], course_cells: list[Cell], checksums_written: dict[str, str]
) -> tuple[list[Cell], Counter[str]]:
    """Merge the learner's cells with the course's new ones.

    Returns them in one list, and how many cells were treated in which way, by the keys of IN_WORDS.
    Where both changed a cell, the course's version is used, with the learner's text in a note
    below.

    checksums_written: checksum by id of what the course wrote, in the version that the learner's
    cells come from, or empty if unknown; every cell that differs then counts as changed by both,
    but an answer stays an answer.
    """
    counts: Counter[str] = Counter()
    course_by_id = {cell["id"]: cell for cell in course_cells}
    learner_cells = identified(learner_cells, course_by_id, checksums_written)
    learner_by_id = {cell["id"]: cell for cell in learner_cells}
    followers = _followers(learner_cells, course_by_id, checksums_written, counts)
    texts_present = {cell["source"] for cell in learner_cells}
    merged = list(followers[""])
    for course_cell in course_cells:
        cell_id = course_cell["id"]
        cells = _merge_cell(
            course_cell, learner_by_id.get(cell_id), checksums_written.get(cell_id), counts
        )
        # without a note that an interrupted update has left already
        merged += [
            cell
            for cell in cells
            if not (NOTE_ID.fullmatch(cell["id"]) and cell["source"] in texts_present)
        ]
        merged += followers.get(cell_id, [])
    return merged, counts


def _followers(
    learner_cells: list[Cell],
    course_by_id: dict[str, Cell],
    checksums_written: dict[str, str],
    counts: Counter[str],
) -> dict[str, list[Cell]]:
    """The learner's own cells by the id of the course's cell above; "" for those on top.

    Adds to `counts` how many cells the course has removed and the learner has added.
    """
    followers: dict[str, list[Cell]] = {"": []}
    id_above = ""
    for cell in learner_cells:
        if cell["id"] in course_by_id:
            id_above = cell["id"]
        elif checksums_written.get(cell["id"]) == checksum(cell):
            counts["removed"] += 1
        else:
            followers.setdefault(id_above, []).append(cell)
            # a note of an earlier update stays, but is not the learner's own
            counts["added"] += not NOTE_ID.fullmatch(cell["id"])
    return followers


def _merge_cell(
    course_cell: Cell, learner_cell: Cell | None, last_written: str | None, counts: Counter[str]
) -> list[Cell]:
    """What takes the place of a course's cell: nothing, a cell, or a cell and a note below.

    Adds to `counts` how the cell was treated.

    learner_cell: the learner's version of it, None if there is none.
    last_written: the checksum of what the course wrote there last.
    """
    course_changed = checksum(course_cell) != last_written
    if learner_cell is None:
        counts["new" if course_changed else "deleted"] += 1
        return [course_cell] if course_changed else []
    # only the course has changed the cell
    if course_changed and checksum(learner_cell) == last_written:
        counts["renewed"] += 1
        return [course_cell]
    # the learner's text stays, with what the course says about the cell
    kept = {**learner_cell, "metadata": {**learner_cell["metadata"], **course_cell["metadata"]}}
    if checksum(learner_cell) == checksum(course_cell):
        return [kept]
    # an answer to an exercise
    if exercise_of(course_cell) is not None:
        counts["answers"] += 1
        if not course_changed or not has_other_frame(learner_cell, course_cell):
            return [kept]
        counts["frames"] += 1
        return [kept, _note_about(course_cell, "frame", FRAME_NOTE + as_block(course_cell))]
    # only the learner has changed the cell
    if not course_changed:
        counts["edited"] += 1
        return [kept]
    # both have
    counts["both"] += 1
    return [course_cell, *_notes_with_replaced_text(learner_cell)]


def _notes_with_replaced_text(learner_cell: Cell) -> list[Cell]:
    if not learner_cell["source"].strip():
        return []
    if learner_cell["cell_type"] == "markdown":
        return [_note_about(learner_cell, "yours", TEXT_NOTE + learner_cell["source"])]
    return [_note_about(learner_cell, "yours", CODE_NOTE + as_block(learner_cell))]


def _note_about(cell: Cell, kind: str, text: str) -> Cell:
    note = {
        "cell_type": "markdown",
        "id": f"{cell['id'][:49]}-{kind}-{_new_id()}",  # of at most 64 characters
        "metadata": {},
        "source": text,
    }
    if "attachments" in cell:  # its pictures
        note["attachments"] = cell["attachments"]
    return note


def identified(
    learner_cells: list[Cell], course_by_id: dict[str, Cell], checksums_written: dict[str, str]
) -> list[Cell]:
    """Copies of the learner's cells, each with the id of the matching course cell, or with an id
    that no other cell has.

    An editor may have dropped or duplicated ids. A cell is then identified by its text, an answer
    by the name of its exercise.
    """
    unused_ids = dict.fromkeys([*checksums_written, *course_by_id])  # in order
    used_ids = {""}
    cells: list[Cell] = []
    for cell in learner_cells:
        # of several cells with one id, the first keeps it
        cell_id = "" if cell["id"] in used_ids else cell["id"]
        used_ids.add(cell_id)
        unused_ids.pop(cell_id, None)
        cells.append({**cell, "id": cell_id})
    for cell in cells:
        if cell["id"] not in checksums_written and cell["id"] not in course_by_id:
            # the first unused id of the course that fits; else the cell's own id, or a new one
            matching = (
                unused_id
                for unused_id in unused_ids
                if _is_same_cell(
                    cell, course_by_id.get(unused_id), checksums_written.get(unused_id)
                )
            )
            cell["id"] = next(matching, cell["id"] or _new_id())
            unused_ids.pop(cell["id"], None)
    return cells


def _new_id() -> str:
    return uuid.uuid4().hex[:8]  # as long as those of nbformat; NOTE_ID expects 8, too


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
    # an answer replaces STUB, so those lines may be missing
    return not frame <= lines.union(STUB)


def as_block(cell: Cell) -> str:
    """A cell's text as a fenced code block in Markdown, even if it contains backticks."""
    text = cell["source"]
    language = "python" if cell["cell_type"] == "code" else ""
    # longer than any row of backticks inside, and three at least
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def in_words(counts: Counter[str]) -> str:
    """A one-line description of a merge, from the counts that `merge` returns."""
    phrases = [f"{counts[key]} {words}" for key, words in IN_WORDS.items() if counts[key]]
    return f"cells: {', '.join(phrases) or 'put into the order of the course'}"


def write_notebook(notebook: dict[str, Any]) -> str:
    """The text of a notebook, formatted as nbformat does it, in ASCII.

    notebook: as `parse_notebook` returns it. In ASCII, because JSON can hold lone surrogates, and a
    file in UTF-8 cannot.
    """
    cells = [{**cell, "source": cell["source"].splitlines(True)} for cell in notebook["cells"]]
    return json.dumps({**notebook, "cells": cells}, indent=1, sort_keys=True) + "\n"
