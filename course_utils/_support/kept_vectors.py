"""Vectors of large collections, kept in the user's cache folder: a lesson that is run again, or
another one on the same texts, need not compute them again.

A file is named by a digest of all that its vectors depend on, so it is never out of date. The
folder is $COURSE_VECTORS if that variable is set; if it is set and empty, nothing is kept.
"""

import contextlib
import os
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np

from .files import write_whole

VARIABLE = "COURSE_VECTORS"
MOST_BYTES = 400 * 2**20  # of all files; beyond that, those that were read longest ago go


def folder() -> Path | None:
    """Where vectors are kept, or None for nowhere."""
    if VARIABLE in os.environ:
        return Path(os.environ[VARIABLE]) if os.environ[VARIABLE] else None
    import platformdirs

    return Path(platformdirs.user_cache_dir("sentence-embeddings-course")) / "vectors"


def read(name: str) -> np.ndarray | None:
    """The array that is kept under this name, or None.

    A damaged file counts as none: its checksum is compared, and nothing in it is executed.
    """
    kept = folder()
    if kept is None:
        return None
    path = kept / f"{name}.npz"
    # ValueError: no array, or one that needs pickle; KeyError: another one
    with contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        if not path.is_file():  # nor waits for a pipe
            return None
        with np.load(path, allow_pickle=False) as arrays:
            vectors = arrays["vectors"]
        path.touch()  # it was used
        return vectors
    return None


def keep(name: str, vectors: np.ndarray) -> None:
    """Keep an array under this name, if there is room: a full or read-only disk is no error."""
    kept = folder()
    if kept is None or vectors.nbytes > MOST_BYTES // 4:
        return
    content = BytesIO()
    np.savez(content, vectors=vectors)
    with contextlib.suppress(OSError):
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)  # the texts may be private
        write_whole(kept / f"{name}.npz", content.getvalue())
        _make_room(kept)


def _make_room(kept: Path) -> None:
    """Remove the files that were read longest ago, beyond MOST_BYTES."""
    by_age = [(path.stat(), path) for path in kept.glob("*.npz")]
    by_age.sort(key=lambda pair: pair[0].st_mtime, reverse=True)
    total = 0
    for status, path in by_age:
        total += status.st_size
        if total > MOST_BYTES:
            path.unlink(missing_ok=True)
