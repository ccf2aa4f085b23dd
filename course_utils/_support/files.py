"""Read and write files. `write_whole` replaces a file completely or not at all; `save_beside`, for
copies of a person's work, never overwrites one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import secrets
import stat
import warnings
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

# what a file system without locks answers when it is asked for one
WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
POLL = 0.02  # seconds between two tries to get a lock
# seconds without a sign of life of who holds a file in place of a lock; clients of a share may see
# such a sign three seconds late
LEASE = 10.0


class Notice(UserWarning):
    """A sentence for the person who works with the course. A command prints it as it is."""


def file_sha256(path: str | Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_regular(path: str | Path) -> bool:
    """Whether a path is that of an ordinary file: no link, folder, pipe or device, and not missing.

    Raises OSError if the system does not tell.
    """
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def read_named(path: str | Path) -> bytes:
    """The bytes of a file that a person named, which may be a link to one.

    Raises OSError if it cannot be read, or is a pipe or a device, which might never end.
    """
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # of a folder, the system itself says so
        raise OSError(errno.EINVAL, "It is a pipe or a device, not a file", str(path))
    return Path(path).read_bytes()


def write_whole(path: str | Path, content: str | bytes, through_links: bool = True) -> None:
    """Write text or bytes to a file atomically (write beside it and rename).

    An existing file keeps its permissions and, where the system allows it, its owner and group; a
    new one gets those of the umask. Readers never see half a file; of concurrent writers, the last
    one wins.

    through_links: whether a link stays a link, and the file that it leads to is written; otherwise
    a file takes the link's place.

    Raises OSError, or UnicodeEncodeError for text with lone surrogates; the file is unchanged then.
    """
    path = Path(os.path.realpath(path)) if through_links else Path(path)
    if isinstance(content, str):
        content = content.encode()
    previous = path.lstat() if os.path.lexists(path) else None
    if previous is not None and stat.S_ISLNK(previous.st_mode):
        previous = None  # the rename takes its name away, and changes nothing else
    if previous is not None and not stat.S_ISREG(previous.st_mode):
        # a rename would replace a device with a file
        raise FileExistsError(errno.EEXIST, "It is not a file", str(path))
    unfinished = path.with_name(f"{path.name}{secrets.token_hex(4)}.tmp")
    # not by `tempfile`, whose files nobody else may read, whatever the umask
    with open(unfinished, "xb") as file:
        try:
            if previous is not None:
                _take_over_access(unfinished, previous)
            file.write(content)
            file.flush()
            # before the rename, or a power cut could leave an empty file
            os.fsync(file.fileno())
            file.close()
            os.replace(unfinished, path)
        except BaseException:
            file.close()
            unfinished.unlink()
            raise


def _take_over_access(path: Path, previous: os.stat_result) -> None:
    """Give a new file, which is still empty, the group, owner and permissions of an earlier one."""
    present = path.stat()
    if hasattr(os, "chown"):  # which Windows lacks
        # one by one: a member of the group may set the group, but only root the owner
        if present.st_gid != previous.st_gid:
            with contextlib.suppress(PermissionError):
                os.chown(path, -1, previous.st_gid)
        if present.st_uid != previous.st_uid:
            with contextlib.suppress(PermissionError):
                os.chown(path, previous.st_uid, -1)
    os.chmod(path, stat.S_IMODE(previous.st_mode))


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
            write_whole(path, content, through_links=False)
            # so that the new name survives a power cut, before the caller replaces the original;
            # not every system allows it
            with contextlib.suppress(OSError):
                handle = os.open(folder, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
            return path
        if is_regular(path) and path.read_bytes() == content:
            return path
    raise AssertionError("counting has no end")


def alone(
    path: str | Path, seconds: float, quiet: bool = False
) -> contextlib.AbstractContextManager[None]:
    """Hold the lock of a file, `NAME.lock` beside it, for the length of a `with` block.

    Where the file system has no locks, as on some shares, a file `NAME.lease` that exists is the
    lock, and a Notice says so, unless `quiet`. Its holder refreshes it; if none has for LEASE
    seconds, on a machine that was switched off, say, the next process takes it over.

    The block raises filelock.Timeout (an OSError) if another process holds the lock for `seconds`,
    or such a file for a little more than LEASE.
    """
    from filelock import FileLock  # here, since the block may not be able to import it

    path = Path(path)
    lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=seconds, fallback_to_soft=False)
    return _holding(lock, path, seconds, quiet)


@contextlib.contextmanager
def _holding(lock: BaseFileLock, path: Path, seconds: float, quiet: bool) -> Generator[None]:
    try:
        lock.acquire(poll_interval=POLL)
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise
        from filelock import SoftFileLease

        if not quiet:
            warnings.warn(
                Notice(
                    f"The disk of {path.parent.resolve()} has no locks, as some network shares; a "
                    "file stands for one. Run only one `course` command at a time there."
                ),
                stacklevel=2,
            )
        lock = SoftFileLease(
            path.with_name(f"{path.name}.lease"),
            timeout=max(seconds, LEASE * 1.2),
            lease_duration=LEASE,
        )
        lock.acquire(poll_interval=POLL)
    try:
        yield
    finally:
        lock.release()
