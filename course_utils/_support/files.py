"""Read and write files. `write_whole` replaces a file completely or not at all; `save_beside`, for
copies of a person's work, never overwrites one.
"""

import contextlib
import errno
import hashlib
import itertools
import os
import stat
import tempfile
import warnings
from collections.abc import Generator, Mapping
from pathlib import Path


def file_sha256(path: str | Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write text or bytes to a file atomically (write beside it and rename), keeping its
    permissions.

    A link stays a link: the file that it leads to is written. Readers never see half a file; of
    concurrent writers, the last one wins. Raises OSError, or UnicodeEncodeError for text with lone
    surrogates; the file is unchanged then.
    """
    path = Path(os.path.realpath(path))
    if isinstance(content, str):
        content = content.encode()
    if path.exists() and not path.is_file():  # a rename would replace a device with a file
        raise FileExistsError(errno.EEXIST, "It is not a file", str(path))
    # of a new file: a temporary one has 0o600, which nobody else may read
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
    with tempfile.NamedTemporaryFile(
        "wb", dir=path.parent, prefix=path.name, suffix=".tmp", delete=False
    ) as unfinished:
        try:
            unfinished.write(content)
            unfinished.flush()
            # before the rename, or a power cut could leave an empty file
            os.fsync(unfinished.fileno())
            unfinished.close()
            os.chmod(unfinished.name, mode)
            os.replace(unfinished.name, path)
        except BaseException:
            unfinished.close()
            os.unlink(unfinished.name)
            raise


def write_changed(texts: Mapping[Path, str]) -> list[Path]:
    """Write texts to their files and create the folders. Returns the paths of those that changed.

    Raises OSError, or UnicodeError for a text, or a file that is there, which is not UTF-8.
    """
    changed = []
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)
            changed.append(path)
    return changed


def save_beside(content: bytes, folder: str | Path, name: str) -> Path:
    """Save bytes in a folder under the first free name: for "a.txt", a-1.txt, a-2.txt and so on.

    An existing file with the same bytes is reused. Returns the path; the bytes are on disk then.
    Creates the folder, but not its parents. Raises OSError, and leaves no partial file.
    """
    folder = Path(folder)
    stem, suffix = os.path.splitext(name)
    folder.mkdir(exist_ok=True)
    for number in itertools.count(1):
        path = folder / f"{stem}-{number}{suffix}"
        if not os.path.lexists(path):
            write_whole(path, content)
            # so that the new name survives a power cut, before the caller replaces the original;
            # not every system allows it
            with contextlib.suppress(OSError):
                handle = os.open(folder, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
            return path
        if path.is_file() and path.read_bytes() == content:
            return path
    raise AssertionError("counting has no end")


@contextlib.contextmanager
def alone(path: str | Path, seconds: float) -> Generator[None]:
    """Hold the lock of a file, `NAME.lock` beside it, for the length of a `with` block.

    Raises filelock.Timeout (an OSError) if another process holds it for `seconds`.
    """
    from filelock import FileLock

    path = Path(path)
    # filelock warns on file systems where it must lock differently
    with warnings.catch_warnings(action="ignore"):
        lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=seconds)
        lock.acquire(poll_interval=0.02)
    try:
        yield
    finally:
        lock.release()
