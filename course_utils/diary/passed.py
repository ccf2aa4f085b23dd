"""Record which exercises were passed, in the learner's workspace. Nothing is recorded elsewhere."""

from pathlib import Path
from typing import Any

from .._support.files import alone
from .records import PATIENCE, read, reason, write_over
from .workspace import RECORD, current

PROGRESS = ".progress.json"  # {"passed": [ids of exercises]}


def remember(exercise_id: str, folder: str | Path | None = None) -> str:
    """Record in a workspace, by default the current one, that an exercise was passed.

    Outside a workspace nothing is recorded, and no later failure removes a record. No error here
    reaches the lesson, be it a full disk, a read-only folder or a lock held by another process.

    Returns a sentence for the learner: that it could not be recorded, or that the record was
    damaged and is kept under another name; else "".
    """
    try:
        folder = Path(folder) if folder else current()
        path = folder / PROGRESS
        if not (folder / RECORD).is_file() or exercise_id in passed(folder):
            return ""
        with alone(path, PATIENCE, quiet=True):
            ids, others, sound = _read(path)
            aside = write_over(path, {**others, "passed": sorted(ids | {exercise_id})}, sound)
    except Exception as error:  # no error in recording may disturb a lesson
        return (
            f"You passed {exercise_id}, but that could not be recorded in {PROGRESS}: "
            f"{reason(error)}. Your answer is not affected; fix that, and run this check again."
        )
    if aside is None:
        return ""
    return (
        f"{PROGRESS}, the record of what you passed, was damaged. It is kept as {aside.name}, and "
        "a new one was begun."
    )


def passed(folder: str | Path) -> set[str]:
    """The ids of the exercises passed in a workspace; an empty set if nothing was recorded.

    Raises OSError if the file exists but cannot be read.
    """
    return _read(Path(folder) / PROGRESS)[0]


def _read(path: Path) -> tuple[set[str], dict[str, Any], bool]:
    """The ids of passed exercises, the other entries of the file, and whether it is sound.

    Of a damaged file, whatever can be read counts. Other entries are of a newer course or of
    somebody's own, and `remember` writes them back.
    """
    content, sound = read(path)
    entries = content.pop("passed", [])
    listed = entries if isinstance(entries, list) else []
    ids = {entry for entry in listed if isinstance(entry, str)}
    only_ids = isinstance(entries, list) and all(isinstance(entry, str) for entry in entries)
    return ids, content, sound and only_ids
