"""Vectors of many sentences, kept in the user's cache folder: a lesson that is run again, or
another one with some of the same sentences, need not compute them again.

A file holds what one call has added. Its name begins with the recipe, a digest of all that vectors
depend on but the sentence, and each sentence has a digest of its tokens as a name: so nothing is
ever out of date. The folder is $COURSE_VECTORS if that variable is set; if it is set and empty,
nothing is kept.
"""

import contextlib
import hashlib
import os
import zipfile
from collections.abc import Iterable, Mapping
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


def read(recipe: str, names: Iterable[bytes]) -> dict[bytes, np.ndarray]:
    """{name: its vectors} of those sentences that are kept under this recipe.

    A damaged file counts as none: its checksum is compared, and nothing in it is executed.
    """
    kept = folder()
    wanted = set(names)
    found: dict[bytes, np.ndarray] = {}
    for path in sorted(kept.glob(f"{recipe}-*.npz")) if kept else []:
        # ValueError: no array, or one that needs pickle; KeyError: another one
        with contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            found |= _read_file(path, wanted - found.keys())
    return found


def _read_file(path: Path, wanted: set[bytes]) -> dict[bytes, np.ndarray]:
    if not path.is_file():  # nor waits for a pipe
        return {}
    with np.load(path, allow_pickle=False) as arrays:
        names = [row.tobytes() for row in arrays["names"]]
        if wanted.isdisjoint(names):
            return {}
        vectors = arrays["vectors"]
    with contextlib.suppress(OSError):  # a read-only folder is read all the same
        path.touch()  # it was used
    return {name: vector for name, vector in zip(names, vectors, strict=True) if name in wanted}


def keep(recipe: str, vectors: Mapping[bytes, np.ndarray]) -> None:
    """Keep {name: its vectors} under this recipe, if there is room: a full or read-only disk is no
    error.
    """
    kept = folder()
    if kept is None:
        return
    rows = np.stack(list(vectors.values()))
    if rows.nbytes > MOST_BYTES // 4:
        return
    joined = b"".join(vectors)
    names = np.frombuffer(joined, np.uint8).reshape(len(vectors), -1)  # of equal length
    content = BytesIO()
    np.savez(content, names=names, vectors=rows)
    file = f"{recipe}-{hashlib.blake2b(joined, digest_size=8).hexdigest()}.npz"
    with contextlib.suppress(OSError):
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)  # the texts may be private
        write_whole(kept / file, content.getvalue())
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
