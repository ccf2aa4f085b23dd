"""Merge a lesson that both the learner and the course changed, cell by cell, without losing the learner's work.

Cells are plain dictionaries, as in a notebook's JSON. A checksum per cell id identifies what the course last wrote.
"""

import hashlib
import json
import re
from collections import Counter

# ids made by editors; the course's ids are words
BY_PROGRAMS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?")
OURS = re.compile(r".*-(yours|frame)(-\d+)?")  # ids of the notes below
TEXT_NOTE = "*Your text from before the update. The course has changed this cell, too; its new text is above.*\n\n"
CODE_NOTE = "*Your code from before the update. The course has changed this cell, too; its new code is above.*\n\n"
FRAME_NOTE = (
    "*The course has changed the given lines of this exercise. Your answer above is unchanged; the new lines are:*\n\n"
)
STUB = ["# YOUR CODE HERE", "raise NotImplementedError()"]  # nbgrader's wording


def read_notebook(content):
    """A notebook of format 4 from its bytes, as plain data. None for anything else."""
    try:
        notebook = json.loads(content)
        for cell in notebook["cells"]:
            if cell["cell_type"] not in ("code", "markdown", "raw") or not isinstance(
                cell.setdefault("metadata", {}), dict
            ):
                return None
            text_of(cell)
            cell["source"] = "".join(cell["source"])
            if cell["cell_type"] == "code":
                cell.setdefault("outputs", [])
                cell.setdefault("execution_count", None)
        sound = isinstance(notebook["cells"], list) and isinstance(notebook.setdefault("metadata", {}), dict)
        minor = notebook.setdefault("nbformat_minor", 0)
        return notebook if sound and notebook["nbformat"] == 4 and isinstance(minor, int) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def text_of(cell):
    """A cell's text, with normalised line ends. Raises TypeError if it has none."""
    source = cell["source"]
    if not isinstance(source, (str, list)):
        raise TypeError("a source is a text or a list of texts")
    return "".join(source).replace("\r\n", "\n")


def checksum(cell):
    """A checksum of what a person edits in a cell: its type and its text."""
    return hashlib.sha256(json.dumps([cell["cell_type"], text_of(cell)]).encode()).hexdigest()[:16]


def fingerprint(notebook_text):
    """A checksum of what a person edits in a notebook: the cells' types and texts. None if it is not a notebook."""
    try:
        return _whole(json.loads(notebook_text)["cells"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _whole(cells):
    return hashlib.sha256(json.dumps([(cell["cell_type"], text_of(cell)) for cell in cells]).encode()).hexdigest()


def checksums(notebook_text):
    """The checksum of each cell, by id."""
    # a test ensures that the course's cells have ids
    return {cell["id"]: checksum(cell) for cell in json.loads(notebook_text)["cells"]}


def recover(mine, new, whole):
    """The cell checksums of the copy that a learner started from, if only the whole copy's checksum is known.

    They can be recovered if the learner only wrote answers and added cells, and the exercises' frames are unchanged:
    the learner's copy, with the answers reset and those cells removed, then has that checksum. Returns None otherwise.
    """
    frames = {cell["id"]: cell for cell in new if _is_answer(cell)}
    before = [frames.get(cell.get("id"), cell) for cell in mine if not BY_PROGRAMS.fullmatch(str(cell.get("id", "")))]
    try:
        return {cell["id"]: checksum(cell) for cell in before} if whole == _whole(before) else None
    except (KeyError, TypeError):  # cells without ids
        return None


def merge(mine, new, base):
    """Merge the learner's cells with the course's new ones. Returns them in one list, and a Counter of what was done.

    Its keys:
    - new, renewed, removed: cells of the course.
    - answers, edited, own: the learner's cells that stay: answers to exercises, other cells of the course that the
      learner changed, cells that the learner added.
    - both: cells that both changed; the course's version is used, with the learner's text in a note below.
    - frames: exercises whose frame changed; a note says so.
    - away: cells that the learner deleted and the course did not change; they stay deleted.

    base: checksum by id of what the course last wrote, or None if unknown; every difference then counts as changed by
    both.
    """
    course = {cell["id"]: cell for cell in new}
    mine = identified(mine, course, base)
    texts, done = {cell["source"] for cell in mine}, Counter()
    taken = {cell["id"] for cell in mine} | set(course) | set(base or ())
    theirs = {cell["id"]: cell for cell in mine if cell["id"] in course}

    followers, last = {None: []}, None  # cells that the course does not have (any more), by the one that they follow
    for cell in mine:
        if cell["id"] in course:
            last = cell["id"]
        elif base is not None and base.get(cell["id"]) == checksum(cell):
            done["removed"] += 1
        else:
            followers.setdefault(last, []).append(cell)
            done["own"] += not OURS.fullmatch(cell["id"])

    merged = followers[None]

    def add_note(cell, kind, text):
        if text not in texts:  # left by an interrupted update
            note = {"cell_type": "markdown", "id": _free(f"{cell['id'][:50]}-{kind}", taken), "metadata": {}}
            pictures = {"attachments": cell["attachments"]} if cell.get("attachments") else {}
            merged.append(note | {"source": text} | pictures)

    for cell in new:
        name, own = cell["id"], theirs.get(cell["id"])
        was, is_now = (base or {}).get(name), checksum(cell)
        if own is None and was == is_now:
            done["away"] += 1
        elif own is None or checksum(own) == was != is_now:
            merged.append(cell)
            done["new" if own is None else "renewed"] += 1
        elif checksum(own) == is_now:
            merged.append(_kept(own, cell))
        elif _is_answer(cell) or was == is_now:
            merged.append(_kept(own, cell))
            done["answers" if _is_answer(cell) else "edited"] += 1
            if _is_answer(cell) and (was != is_now if base is not None else has_other_frame(own, cell)):
                done["frames"] += 1
                add_note(cell, "frame", FRAME_NOTE + as_block(cell))
        else:
            merged.append(cell)
            done["both"] += 1
            if own["source"].strip():
                is_text = own["cell_type"] == "markdown"
                text = TEXT_NOTE + own["source"] if is_text else CODE_NOTE + as_block(own)
                add_note({**own, "id": name}, "yours", text)
        merged += followers.get(name, [])
    return merged, done


def identified(mine, course, base):
    """The learner's cells, each with a unique id: that of the matching course cell, or an unused one.

    An editor may have dropped or duplicated ids. A cell is then identified by its text, an answer by the name of its
    exercise.
    """
    base, taken, names = base or {}, set(course) | set(base or ()), {}
    wanted = [cell.get("id") if isinstance(cell.get("id"), str) else None for cell in mine]
    for place, (cell, name) in enumerate(zip(mine, wanted)):
        clash = base and name in course and name not in base and checksum(cell) != checksum(course[name])
        if name in taken and name not in names.values() and not clash:
            names[place] = name
    left = [name for name in [*base, *course] if name not in names.values()]
    for place, cell in enumerate(mine):
        if place not in names:
            exercise = exercise_of(cell)

            def is_same(name, cell=cell, exercise=exercise):
                own = course.get(name)
                if checksum(cell) in (base.get(name), own and checksum(own)):
                    return True
                return exercise is not None and own is not None and exercise_of(own) == exercise

            same = next(filter(is_same, left), None)
            if same is not None:
                names[place] = same
                left = [name for name in left if name != same]
    taken |= set(filter(None, wanted))
    first = set(names.values())
    for place, name in enumerate(wanted):
        if place not in names:
            fit = (
                name is not None and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) and name not in {*first, *course, *base}
            )
            names[place] = name if fit else _free("own", taken)
            first.add(names[place])
    return [{**cell, "id": names[place]} for place, cell in enumerate(mine)]


def _free(name, taken):
    """An unused id: name, name-2, ..."""
    free = next(one for one in (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))) if one not in taken)
    taken.add(free)
    return free


def exercise_of(cell):
    """The name of the exercise that a cell answers, or None."""
    marks = cell["metadata"].get("nbgrader")
    return marks.get("grade_id") if isinstance(marks, dict) and marks.get("solution") else None


def _is_answer(cell):
    return exercise_of(cell) is not None


def _kept(mine, course):
    """A learner's cell with the course's metadata; its text and outputs stay."""
    return {**mine, "metadata": {**mine["metadata"], **course["metadata"]}}


def has_other_frame(answer, stub):
    """Whether an answer lacks a line of its frame."""
    lines = {line.strip() for line in answer["source"].splitlines()}
    return any(line.strip() not in lines for line in stub["source"].splitlines() if line.strip() not in STUB)


def as_block(cell):
    """A cell's text as a fenced code block, even if it contains backticks."""
    text, language = cell["source"], "python" if cell["cell_type"] == "code" else ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def in_words(done):
    """A one-line description of a merge."""
    course = [f"{done[what]} {what}" for what in ("new", "renewed", "removed") if done[what]]
    if course:
        number, what = course[0].split()
        course[0] = f"{count(int(number), 'cell')} {what}"
    kinds = {"answers": "answer", "edited": "edited cell", "own": "own cell"}
    yours = [count(done[kind], words) for kind, words in kinds.items() if done[kind]]
    parts = [", ".join(course)]
    if done["both"]:
        parts.append(f"{count(done['both'], 'cell')} changed by the course and by you: your text is below the course's")
    if yours:
        alone = done["answers"] + done["edited"] + done["own"] == 1
        parts.append(f"your {listed(yours)} {'is' if alone else 'are'} kept")
    if done["frames"]:
        parts.append(
            f"the given lines of {count(done['frames'], 'exercise')} changed: a note below your answer shows the new "
            "ones"
        )
    if done["away"]:
        parts.append(
            f"{count(done['away'], 'cell')} that you deleted {'was' if done['away'] == 1 else 'were'} not restored"
        )
    changed = course or done["both"] or done["frames"]
    return "; ".join(filter(None, parts) if changed else ["cells put into the course's order", *parts[1:]])


def listed(words):
    """Words as "one, two and three"."""
    return f"{', '.join(words[:-1])}{' and ' if words[1:] else ''}{words[-1]}"


def count(number, word):
    """Such as "1 cell", "2 cells"."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def write_notebook(notebook):
    """The text of a notebook, formatted as nbformat does it."""
    cells = [{**cell, "source": cell["source"].splitlines(True)} for cell in notebook["cells"]]
    text = json.dumps({**notebook, "cells": cells}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, which JSON can hold and a file cannot
        text = json.dumps({**notebook, "cells": cells}, indent=1, sort_keys=True) + "\n"
    return text
