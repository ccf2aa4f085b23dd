"""Unpack the notebooks of zips, which are untrusted.

No name from an archive is ever used as a path, links are not followed, and what unpacks to more
than a limit is refused.
"""

import errno
import hashlib
import io
import itertools
import stat
import time
import zipfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .handed_files import (
    BEGINNING,
    LARGEST,
    ZIP,
    HandedFile,
    LeftOut,
    begins_notebook,
    hidden,
    is_ignored,
    machine_faults,
    may_be_notebook,
    refused,
)
from .names import notebooks_named_in
from .store import GradeError
from .untrusted import for_messages

LARGEST_ARCHIVE = 16 * 2**30  # bytes of all notebooks in one archive
LARGEST_OF_ONE = 512 * 2**20  # bytes of all notebooks in an archive that one learner handed in
MOST_OF_ONE = 100  # notebooks in such an archive, and per path in a class's
MOST_MEMBERS, MOST_MEMBERS_OF_ONE = 200_000, 20_000  # of an archive: a class's, one learner's
ENCRYPTED, IN_UTF8 = 0x1, 0x800  # of a member's flags
DAMAGED = (None, errno.EINVAL)  # the errno values of a damaged archive
NUMBERS = itertools.count()


class _Packed(io.BufferedReader):
    """An archive's bytes. Its directory is read at once; one that is too long is refused.

    fault: the error that `zipfile` hides.
    """

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(io.FileIO(path))
        self.most = most
        self.fault: OSError | None = None

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > self.most:
            raise zipfile.BadZipFile("its directory is too long")
        try:
            return super().read(size)
        except OSError as error:
            self.fault = error
            raise


@contextmanager
def open_zip(path: Path, members: int) -> Generator[zipfile.ZipFile]:
    """An archive with at most this many members. Raises BadZipFile."""
    # an entry of the directory takes fewer than 256 bytes
    with _Packed(path, max(members * 256, 2**21)) as packed:
        try:
            packed.read(1)
            archive = zipfile.ZipFile(packed)
            number = sum(not _is_skipped(member) for member in archive.infolist())
            if number > members:
                raise zipfile.BadZipFile(
                    f"it has {number} members, and at most {members} are allowed"
                )
            yield archive
        except Exception as error:
            raise packed.fault or error from None


def parts_of(member: zipfile.ZipInfo) -> tuple[str, ...]:
    """A member's path as names of folders and a file; no part leads out of the archive."""
    name = member.filename
    if not member.flag_bits & IN_UTF8:  # macOS writes UTF-8 anyway
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "..", "."))


def _is_skipped(member: zipfile.ZipInfo) -> bool:
    return any(is_ignored(folder) for folder in parts_of(member)[:-1])


def in_archive(
    path: Path, folder: Path, label: tuple[str, ...], whole: bool = False
) -> Iterator[HandedFile | LeftOut]:
    """Unpack the files of an archive under numbered names.

    folder: where to.
    label: the path that stands for the archive.
    whole: it is the class's archive, not one learner's; zips inside it are opened too.

    An archive that cannot be unpacked is refused. Raises GradeError for the class's, and
    MachineFault.
    """
    unpacking = _Unpacking(folder, label, whole)
    try:
        with open_zip(path, MOST_MEMBERS if whole else MOST_MEMBERS_OF_ONE) as archive:
            # a lesson's own name first, since only so many notebooks of one learner are read
            for member in sorted(
                archive.infolist(), key=lambda member: not notebooks_named_in(member.filename)
            ):
                yield from unpacking.member(archive, member)
    except GradeError:  # of a zip inside it
        raise
    except Exception as error:  # each compression method has its own errors
        if isinstance(error, OSError) and error.errno not in DAMAGED:
            with machine_faults(f"Cannot unpack {for_messages(path, 300)}"):
                raise
        problem = for_messages(str(error) or type(error).__name__, 300)
        if whole:
            raise GradeError(
                f"The archive {for_messages(path, 300)} cannot be unpacked ({problem.rstrip('.')}); download it again."
            ) from None
        yield refused(label, f"the archive cannot be unpacked: {problem}")


class _Unpacking:
    """The members of one archive that have been seen, and what may still be unpacked."""

    def __init__(self, folder: Path, label: tuple[str, ...], whole: bool) -> None:
        self.folder, self.label, self.whole = folder, label, whole
        self.outer = None if whole else len(label) or None
        self.bytes_left = LARGEST_ARCHIVE if whole else LARGEST_OF_ONE
        self.looked_into = 0
        self.notebooks = Counter()  # by path; of one learner's archive, all together

    def member(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo
    ) -> Iterator[HandedFile | LeftOut]:
        """Yield what a member is; a notebook is unpacked, a zip in the class's archive too."""
        if member.flag_bits & ENCRYPTED:
            raise zipfile.BadZipFile("it needs a password")
        inner = parts_of(member)
        if member.is_dir() or not inner or _is_skipped(member):
            return
        parts, name = (*self.label, *inner), inner[-1]
        is_zip = bool(ZIP.search(name))
        if name.startswith("."):
            yield from hidden(parts, self.outer)
        elif stat.S_ISLNK(member.external_attr >> 16):
            yield refused(parts, "it is a link, which is not followed", self.outer)
        elif (
            is_zip and not self.whole or not is_zip and not self._is_notebook(archive, member, name)
        ):
            yield HandedFile(parts, self.outer or len(parts))
        elif problem := self._excess(member, inner, is_zip):
            yield refused(parts, problem, self.outer)
        else:
            path, digest = self._unpack(archive, member, ".zip" if is_zip else ".ipynb")
            if is_zip:
                yield from in_archive(path, self.folder, (*parts[:-1], ZIP.sub("", name)))
                path.unlink()
            else:
                self.bytes_left -= member.file_size
                when = _seconds(member.date_time)
                yield HandedFile(parts, self.outer or len(parts), path, digest, when)

    def _is_notebook(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> bool:
        if name.lower().endswith(".ipynb") or not may_be_notebook(name):
            return name.lower().endswith(".ipynb")
        self.looked_into += 1
        if not self.whole and self.looked_into > MOST_OF_ONE:
            return False
        with archive.open(member) as packed:
            return begins_notebook(packed.read(BEGINNING))

    def _excess(self, member: zipfile.ZipInfo, inner: tuple[str, ...], is_zip: bool) -> str:
        """Why a member is beyond the limits; "" if it is within them."""
        path = inner if self.whole else ()
        self.notebooks[path] += 1
        most = min(LARGEST_OF_ONE if is_zip else LARGEST, self.bytes_left)
        if member.file_size > most:
            return f"it unpacks to more than {most // 2**20} MB; hand it in without its outputs"
        if self.notebooks[path] > MOST_OF_ONE:
            return f"it is one of more than {MOST_OF_ONE} notebooks; hand in only the lesson's"
        return ""

    def _unpack(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, suffix: str
    ) -> tuple[Path, str]:
        """Write a member to a numbered file. Returns this and its SHA-256."""
        path = self.folder / f"{next(NUMBERS):06d}{suffix}"
        digest, left = hashlib.sha256(), member.file_size
        try:
            with archive.open(member) as packed, open(path, "wb") as unpacked:
                # so that an archive with false sizes does no harm
                while left and (data := packed.read(min(left, 2**20))):
                    left -= len(data)
                    digest.update(data)
                    unpacked.write(data)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path, digest.hexdigest()


def _seconds(date: tuple[int, int, int, int, int, int]) -> float:
    try:
        return time.mktime((*date, 0, 0, -1))
    except (OverflowError, ValueError):
        return 0.0
