"""Record which exercises were passed, in the learner's workspace. Nothing is recorded elsewhere."""

from pathlib import Path
from typing import Any

from .._support.files import alone
from .records import PATIENCE, read, write_over
from .workspace import RECORD, current

PROGRESS = ".progress.json"  # {"passed": [ids of exercises]}


def remember(exercise_id: str, folder: str | Path | None = None) -> None:
    """Record in a workspace (by default the current folder) that an exercise was passed.

    This is never undone here. No error here reaches the lesson: a full disk, a read-only folder, a
    lock held by another process.
    """
    try:
        folder = Path(folder) if folder else current()
        path = folder / PROGRESS
        if (folder / RECORD).is_file() and exercise_id not in passed(folder):
            with alone(path, PATIENCE):
                ids, others, sound = _read(path)
                write_over(path, {**others, "passed": sorted(ids | {exercise_id})}, sound)
    except Exception:  # no error in recording may disturb a lesson
        pass


def passed(folder: str | Path) -> set[str]:
    """The ids of the exercises passed in a workspace.

    Raises OSError if the file exists but cannot be read.
    """
    return _read(Path(folder) / PROGRESS)[0]


def _read(path: Path) -> tuple[set[str], dict[str, Any], bool]:
    """The ids, the other entries, and whether the file is sound.

    Of a damaged file, whatever can be read counts.
    """
    content, sound = read(path)
    entries = content.pop("passed", [])
    listed = entries if isinstance(entries, list) else []
    ids = {entry for entry in listed if isinstance(entry, str)}
    return (
        ids,
        content,
        sound and entries is listed and all(isinstance(entry, str) for entry in listed),
    )
