"""The files of the diary: JSON, changed under a lock.

A damaged one is moved aside. Whether anything in it still counts, each kind of record decides.
"""

import json
import os
from pathlib import Path
from typing import Any

from .._support.files import is_regular, write_whole

LARGEST = 2**22  # bytes (4 MiB); the `schedule.KEPT` answers take about 3
PATIENCE = 1  # seconds to wait for another kernel that holds the lock


def read(path: Path) -> tuple[dict[str, Any], bool]:
    """The entries of a record, and whether the file is sound.

    A missing file is sound, without entries. No entries are read, and the file is not sound, where
    it is a link or another thing that is no ordinary file, larger than LARGEST or not a JSON object.

    Raises OSError if it cannot be read.
    """
    if not os.path.lexists(path):
        return {}, True
    # opening a pipe would block, and a link may lead anywhere
    if not is_regular(path) or path.stat().st_size > LARGEST:
        return {}, False
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}, False
    return (content, True) if isinstance(content, dict) else ({}, False)


def write_over(path: Path, content: dict[str, Any], sound: bool) -> Path | None:
    """Write a record over the old one, which is moved aside first if it is not sound.

    sound: what `read` said of it, under the same lock (`alone`).

    Returns where the old one is now, None if it was sound. Raises OSError; a record that was moved
    aside is then back in its place.
    """
    aside = None if sound else _move_aside(path)
    try:
        write_whole(path, json.dumps(content, indent=1) + "\n", through_links=False)
    except OSError:
        if aside is not None:
            os.rename(aside, path)
        raise
    return aside


def reason(error: Exception) -> str:
    """Why a record cannot be read or written, for the middle of a sentence."""
    if isinstance(error, TimeoutError):
        return "another program is writing there"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).rstrip(".") or type(error).__name__


def _move_aside(path: Path) -> Path:
    """Rename a damaged record, such as .progress.json to .progress.damaged.json, with a number if
    that is taken. Returns the new path.
    """
    aside = path.with_name(f"{path.stem}.damaged{path.suffix}")
    number = 1
    while os.path.lexists(aside):
        number += 1
        aside = path.with_name(f"{path.stem}.damaged-{number}{path.suffix}")
    return path.rename(aside)
