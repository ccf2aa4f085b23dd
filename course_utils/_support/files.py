"""Files that hold a person's work: written whole or not at all, and never over what nobody has saved."""

import contextlib
import errno
import itertools
import os
import stat
import tempfile
import warnings
from pathlib import Path


def write_whole(path, text):
    """Write beside and rename, so that nobody ever sees half a file and two at once do no harm. A file's permissions
    stay.

    Raises OSError, or UnicodeEncodeError for a text with halves of letters; the file is then as it was.
    """
    path, content = Path(os.path.realpath(path)), text.encode()
    if path.exists() and not path.is_file():  # a rename would put a file in the place of a device
        raise FileExistsError(errno.EEXIST, "It is not a file", str(path))
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
    with tempfile.NamedTemporaryFile(
        "wb", dir=path.parent, prefix=path.name, suffix=".tmp", delete=False
    ) as unfinished:
        try:
            unfinished.write(content)
            unfinished.flush()
            os.fsync(unfinished.fileno())  # before the rename, or a power cut leaves an empty file
            unfinished.close()
            os.chmod(unfinished.name, mode)
            os.replace(unfinished.name, path)
        except BaseException:
            unfinished.close()
            os.unlink(unfinished.name)
            raise


def save_beside(content, folder, name):
    """Put bytes into a file of a folder that nobody has yet, name-1, name-2, ...; when this returns, they are on disk.

    A file there that holds the same bytes already is taken instead. Returns its path. Raises OSError, and leaves
    nothing half written.
    """
    folder, name = Path(folder), Path(name)
    folder.mkdir(exist_ok=True)
    for number in itertools.count(1):
        path = folder / f"{name.stem}-{number}{name.suffix}"
        try:
            saved = open(path, "xb")  # noqa: SIM115 (closed below, after an error of its own)
        except FileExistsError:
            if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
                return path
            continue
        with saved:
            try:
                saved.write(content)
                saved.flush()
                os.fsync(saved.fileno())
            except BaseException:
                saved.close()
                path.unlink()
                raise
        _sync_folder(folder)
        return path


def _sync_folder(folder):
    """The name of a new file, too, must outlive a power cut. Not every system lets a folder be synchronised."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def alone(path, seconds):
    """Hold the lock that belongs to a file, `NAME.lock` beside it. Raises filelock.Timeout (an OSError) if another
    holds it for so long.
    """
    from filelock import FileLock

    path = Path(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on odd file systems filelock says that it locks in another way
        lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=seconds)
        lock.acquire(poll_interval=0.02)
    try:
        yield
    finally:
        lock.release()
