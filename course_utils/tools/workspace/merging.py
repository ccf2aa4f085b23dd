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
TEXT_NOTE = "*Your text from before the update. The course has changed this cell, too; its new text is above.*\n\n"
CODE_NOTE = "*Your code from before the update. The course has changed this cell, too; its new code is above.*\n\n"
FRAME_NOTE = (
    "*The course has changed the given lines of this exercise. Your answer above is unchanged; "
    "the new lines are:*\n\n"
)
IN_WORDS = {  # after a number of cells
    "new": "new",
    "renewed": "renewed",
    "removed": "removed",
    "answers": "with your answer kept",
    "edited": "edited by you and kept",
    "own": "of your own kept",
    "both": "changed by the course and by you (your text is below the course's)",
    "frames": "with new given lines (a note below your answer shows them)",
    "away": "deleted by you and not restored",
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
    name = cell.get("id")
    is_valid = isinstance(name, str) and VALID_ID.fullmatch(name)
    return {
        **cell,
        "id": name if is_valid else "",
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
    learners: list[Cell], new: list[Cell], base: dict[str, str]
) -> tuple[list[Cell], Counter[str]]:
    """Merge the learner's cells with the course's new ones.

    Returns them in one list, and a Counter of what was done.

    Its keys:
    - new, renewed, removed: cells of the course.
    - answers, edited, own: the learner's cells that stay: answers to exercises, other cells of the
      course that the learner changed, cells that the learner added.
    - both: cells that both changed; the course's version is used, with the learner's text in a note
      below.
    - frames: exercises whose frame changed; a note says so.
    - away: cells that the learner deleted and the course did not change; they stay deleted.

    base: checksum by id of what the course last wrote, or empty if unknown; every difference then
    counts as changed by both.
    """
    done: Counter[str] = Counter()
    course = {cell["id"]: cell for cell in new}
    learners = identified(learners, course, base)
    kept = {cell["id"]: cell for cell in learners if cell["id"] in course}
    followers = _followers(learners, course, base, done)
    present = {cell["source"] for cell in learners}
    merged = followers[""]
    for cell in new:
        name = cell["id"]
        for part in _merge_cell(cell, kept.get(name), base.get(name), done):
            # a note may be there already: an interrupted update has left it
            if not (NOTE_ID.fullmatch(part["id"]) and part["source"] in present):
                merged.append(part)
        merged += followers.get(name, [])
    return merged, done


def _followers(
    learners: list[Cell], course: dict[str, Cell], base: dict[str, str], done: Counter[str]
) -> dict[str, list[Cell]]:
    """The learner's own cells by the id of the course's cell above; "" for those on top."""
    followers: dict[str, list[Cell]] = {"": []}
    above = ""
    for cell in learners:
        if cell["id"] in course:
            above = cell["id"]
        elif base.get(cell["id"]) == checksum(cell):
            done["removed"] += 1
        else:
            followers.setdefault(above, []).append(cell)
            done["own"] += not NOTE_ID.fullmatch(cell["id"])
    return followers


def _merge_cell(cell: Cell, own: Cell | None, was: str | None, done: Counter[str]) -> list[Cell]:
    """What takes the place of a course's cell: nothing, a cell, or a cell and a note below.

    own: the learner's version of it. was: the checksum of what the course wrote there last.
    """
    is_now = checksum(cell)
    if own is None and was == is_now:
        done["away"] += 1
        return []
    if own is None or checksum(own) == was != is_now:
        done["new" if own is None else "renewed"] += 1
        return [cell]
    kept = {**own, "metadata": {**own["metadata"], **cell["metadata"]}}
    if checksum(own) == is_now:
        return [kept]
    if exercise_of(cell) is not None:
        done["answers"] += 1
        if was == is_now or not has_other_frame(own, cell):
            return [kept]
        done["frames"] += 1
        return [kept, _note(cell, "frame", FRAME_NOTE + as_block(cell))]
    if was == is_now:
        done["edited"] += 1
        return [kept]
    done["both"] += 1
    if not own["source"].strip():
        return [cell]
    is_text = own["cell_type"] == "markdown"
    note = TEXT_NOTE + own["source"] if is_text else CODE_NOTE + as_block(own)
    return [cell, _note(own, "yours", note)]


def _note(cell: Cell, kind: str, text: str) -> Cell:
    """A note about a cell, with the cell's pictures."""
    note = {
        "cell_type": "markdown",
        "id": f"{cell['id'][:50]}-{kind}-{_new_id()}",
        "metadata": {},
        "source": text,
    }
    return note | {name: cell[name] for name in ("attachments",) if name in cell}


def identified(learners: list[Cell], course: dict[str, Cell], base: dict[str, str]) -> list[Cell]:
    """The learner's cells, each with the id of the matching course cell, or an unused one.

    An editor may have dropped or duplicated ids. A cell is then identified by its text, an answer
    by the name of its exercise.
    """
    left = dict.fromkeys([*base, *course])  # ids that no cell has yet, in order
    cells: list[Cell] = []
    taken = {""}
    for cell in learners:
        name = "" if cell["id"] in taken else cell["id"]
        taken.add(name)
        left.pop(name, None)
        cells.append({**cell, "id": name})
    for cell in cells:
        if cell["id"] not in base and cell["id"] not in course:
            matching = (name for name in left if _is_same(cell, course.get(name), base.get(name)))
            cell["id"] = next(matching, cell["id"] or _new_id())
            left.pop(cell["id"], None)
    return cells


def _new_id() -> str:
    return uuid.uuid4().hex[:8]


def _is_same(cell: Cell, course_cell: Cell | None, was: str | None) -> bool:
    """Whether a learner's cell is this one of the course, by its text or by its exercise."""
    if checksum(cell) == was:
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
    return not frame <= lines.union(STUB)


def as_block(cell: Cell) -> str:
    """A cell's text as a fenced code block, even if it contains backticks."""
    text = cell["source"]
    language = "python" if cell["cell_type"] == "code" else ""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def in_words(done: Counter[str]) -> str:
    """A one-line description of a merge."""
    parts = [f"{done[key]} {words}" for key, words in IN_WORDS.items() if done[key]]
    return f"cells: {', '.join(parts) or 'put into the order of the course'}"


def write_notebook(notebook: dict[str, Any]) -> str:
    """The text of a notebook, formatted as nbformat does it, in ASCII.

    JSON can hold lone surrogates, and a file in UTF-8 cannot.
    """
    cells = [{**cell, "source": cell["source"].splitlines(True)} for cell in notebook["cells"]]
    return json.dumps({**notebook, "cells": cells}, indent=1, sort_keys=True) + "\n"
