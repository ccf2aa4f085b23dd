"""Record which exercises were passed, in the learner's workspace, and remember how many hints were shown.

`check` records nothing outside a workspace.
"""

import itertools
import json
import os
from pathlib import Path

from .files import alone, write_whole
from .notebooks import part_with

RECORD = ".course.json"  # a folder that holds it is a workspace
SAVED = "yours_saved"  # in the workspace: learners' files from before a reset or an update; the grader ignores it
LIVE = "live_copies"  # the same for the live copies of `course lab --live`
PROGRESS = ".progress.json"  # {"passed": [ids of exercises]}
LARGEST = 2**20  # bytes; this course never writes a larger one
hints_shown = {}  # id of an exercise -> how many of its hints were shown; cleared by `setup`
shows = {"solutions": True}  # whether `solution` shows answers; set by `setup`
PATIENCE = 1  # seconds to wait for another kernel


def current():
    """The folder where this process works, or its workspace if that is its folder of saved files or of live copies.

    Raises OSError if it is gone.
    """
    folder = Path(os.getcwd())
    return folder.parent if folder.name in (SAVED, LIVE) and (folder.parent / RECORD).is_file() else folder


def remember(exercise_id, folder=None):
    """Record in a workspace (by default the current folder) that an exercise was passed. This is never undone here.

    No error here reaches the lesson: a full disk, a read-only folder, a lock held by another process.
    """
    try:
        folder = Path(folder) if folder else current()
        if (folder / RECORD).is_file() and exercise_id not in passed(folder):
            _change(folder, lambda ids: ids | {exercise_id})
    except Exception:  # no error in recording may disturb a lesson
        pass


def passed(folder):
    """The ids of the exercises passed in a workspace, as a set.

    Raises OSError if the file exists but cannot be read.
    """
    return _read(Path(folder) / PROGRESS)[0]


def passed_in(folder, part):
    """The ids of the exercises passed in a core or a further part, such as "04". Raises OSError as `passed` does."""
    return {one for one in passed(folder) if part_with(one) == part}


def forget(folder, part):
    """Remove the exercises of a core or a further part from those passed. Returns their ids. Raises OSError."""
    gone = passed_in(folder, part)
    if gone:
        _change(Path(folder), lambda ids: ids - gone)
    return gone


def _change(folder, change):
    """Read, change and write the file under a lock."""
    path = folder / PROGRESS
    with alone(path, PATIENCE):
        ids, others, sound = _read(path)
        write_over(path, {**others, "passed": sorted(change(ids))}, sound)


def write_over(path, content, sound):
    """Write a record as JSON over the old one, which is moved aside first if it is not sound. Raises OSError."""
    aside = None if sound else _move_aside(path)
    try:
        write_whole(path, json.dumps(content, indent=1) + "\n")
    except OSError:
        if aside is not None:
            os.rename(aside, path)
        raise


def _read(path):
    """(ids, other entries, whether the file is sound) of a progress file.

    A missing file is sound; of a damaged one, whatever can be read counts.
    """
    if not os.path.lexists(path):
        return set(), {}, True
    if not path.is_file() or path.stat().st_size > LARGEST:  # opening a pipe would block
        return set(), {}, False
    content = path.read_bytes()
    try:
        others = json.loads(content)
        ids = others.pop("passed")
        texts = {one for one in ids if isinstance(one, str)} if isinstance(ids, list) else set()
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return set(), {}, False
    return texts, others, isinstance(ids, list) and all(isinstance(one, str) for one in ids)


def _move_aside(path):
    """Rename a damaged .progress.json to .progress.damaged.json, with a number if that is taken. Returns the path."""
    for number in itertools.count(1):
        aside = path.with_name(f"{path.stem}.damaged{f'-{number}' if number > 1 else ''}{path.suffix}")
        if not os.path.lexists(aside):
            os.rename(path, aside)
            return aside
