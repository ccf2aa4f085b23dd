"""Files of a download, and of the zips in it, before their owners are known.

The files are untrusted; nothing but zips is parsed here. No name from a zip is ever used as a path,
links are not followed, and what unpacks to more than a limit is refused.
"""

import errno
import hashlib
import io
import itertools
import os
import re
import stat
import time
import zipfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..._support.files import file_sha256
from .platforms import readings
from .results import GradeError
from .texts import LONGEST_PATH, for_keys, for_messages, notebooks_named_in

LARGEST = 256 * 2**20  # bytes per notebook
LARGEST_ARCHIVE = 16 * 2**30  # bytes of all notebooks in one archive
LARGEST_OF_ONE = 512 * 2**20  # bytes of all notebooks in an archive that one learner handed in
MOST_OF_ONE = 100  # notebooks in such an archive; in a class's, files of one and the same path
MOST_MEMBERS, MOST_MEMBERS_OF_ONE = 200_000, 20_000  # of an archive: a class's, one learner's
ZIP = re.compile(r"\.zip$", re.IGNORECASE)
# the file in the place of one that iCloud has not downloaded: .lesson_05.ipynb.icloud
PLACEHOLDER = re.compile(r"^\..*\.ipynb\.icloud$", re.IGNORECASE)
# how to go on after a fault of the machine, by errno
ADVICE = {
    # archives are unpacked in the results folder
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT),
        "free some space in the results folder, or choose one on a larger disk",
    ),
    errno.EROFS: "choose a results folder that can be written to",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "give yourself permission to access it"),
    errno.ENOENT: "do not change the submissions while they are being read",
    errno.EMFILE: "raise `ulimit -n`",
    errno.EIO: "check the disk",
}
ENCRYPTED, IN_UTF8 = 0x1, 0x800  # of a member's flags
# errno values of an OSError that a damaged archive causes, not the machine: decompressors set none,
# and seeking to a place before the file's beginning is invalid
DAMAGED = (None, errno.EINVAL)
FILE_NUMBERS = itertools.count()  # of unpacked files, whose names must differ in one folder
# folders without hand-ins; yours_saved and live_copies are the course's own, for a learner's files
# from before a reset and for copies of live lessons
IGNORED = "__MACOSX __pycache__ yours_saved live_copies venv site-packages node_modules".split()


@dataclass(frozen=True)
class HandedFile:
    """A file whose owner is not yet known.

    parts: its path, as the names of folders and the file.
    outer: how many of these, from the first, are not from a learner's zip: no learner chose them.
    path: where a notebook's bytes are; None for other files. sha256: of these bytes, in hex.
    modified: seconds since 1970; 0 if it is not known.
    problem: why it cannot be marked, if somebody may have meant it as a notebook; "" otherwise.
    """

    parts: tuple[str, ...]
    outer: int
    path: Path | None = None
    sha256: str = ""
    modified: float = 0.0
    problem: str = ""

    @property
    def notebook(self) -> bool:
        """Whether it counts as a notebook."""
        return self.path is not None or bool(self.problem)

    @property
    def file(self) -> str:
        """Its path as text, shortened to LONGEST_PATH."""
        return for_keys("/".join(self.parts), LONGEST_PATH)


@dataclass(frozen=True)
class LeftOut:
    """A file or folder that was seen but does not count: `why` completes a sentence about it.

    maybe: the learners on the roster to one of whom it may belong nevertheless.
    """

    file: str
    why: str
    maybe: tuple[str, ...] = ()


@contextmanager
def machine_faults(beginning: str) -> Generator[None]:
    """Turn an OSError into a GradeError that says what to do.

    beginning: of the sentence, such as "Cannot read X".
    """
    try:
        yield
    except OSError as error:
        advice = ADVICE.get(error.errno or 0, "fix that")
        raise GradeError(
            f"{beginning}: {error.strerror or error}; {advice}, and run the command again."
        ) from None


def is_ignored(folder: str) -> bool:
    """Whether nothing in a folder of this name is a hand-in: it is hidden, or is one of IGNORED."""
    # the name of a learner may begin with a dot, and then so does the folder that a platform made
    return folder in IGNORED or folder.startswith(".") and not readings(folder)


def refused(parts: tuple[str, ...], problem: str, outer: int | None = None) -> HandedFile:
    """A file that may be a notebook, and is not read.

    outer: see `HandedFile`; None for all parts.
    """
    return HandedFile(parts, outer or len(parts), problem=problem)


def hidden(parts: tuple[str, ...], outer: int | None = None) -> Iterator[HandedFile | LeftOut]:
    """What is reported about a file whose name begins with a dot.

    That is nothing unless it may be a notebook. outer: see `refused`.
    """
    name = parts[-1]
    if PLACEHOLDER.search(name):
        yield refused(
            parts,
            "it is only iCloud's mark in the place of a file that it has not downloaded",
            outer,
        )
    elif name.lower().endswith(".ipynb") and not name.startswith("._"):  # macOS makes these
        yield LeftOut(
            for_keys("/".join(parts), LONGEST_PATH),
            "its name begins with a dot, so it was skipped; rename it if it is a hand-in",
        )


def in_place(path: Path, parts: tuple[str, ...]) -> HandedFile:
    """A file that lies in a folder, with the checksum of a notebook. Raises OSError.

    parts: its path among the submissions.
    """
    about = path.lstat()
    if not is_notebook(path.name):
        return HandedFile(parts, len(parts))
    if about.st_size > LARGEST:
        return refused(parts, f"it is larger than {LARGEST // 2**20} MB")
    return HandedFile(parts, len(parts), path, file_sha256(path), about.st_mtime)


def is_notebook(name: str) -> bool:
    """Whether a file of this name counts as a notebook."""
    # not only at the end: some browsers save "x.ipynb.txt" or "x.ipynb.json"
    return ".ipynb" in name.lower()


def utf8_name(name: str) -> str:
    """A file's name from the disk, read as UTF-8: Python may have read it in the locale's encoding.

    Bytes that are not UTF-8 become lone surrogates.
    """
    return os.fsencode(name).decode("utf-8", "surrogateescape")


# ---------------------------------------------------------------- zips


class _Packed(io.BufferedReader):
    """An archive's bytes, of which at most `most` can be read in one call, else BadZipFile.

    `zipfile` reads the directory in one call, so this bounds the memory that it takes.
    """

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(io.FileIO(path))
        self.most = most

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > self.most:
            raise zipfile.BadZipFile("its directory is too long")
        return super().read(size)


@contextmanager
def open_zip(path: Path, members: int) -> Generator[zipfile.ZipFile]:
    """An archive with at most this many members, without those in ignored folders.

    Raises BadZipFile for one that is too large, and that or another error of `zipfile` for one that
    is damaged; OSError for a fault of the disk, see DAMAGED.
    """
    # 256 bytes for each entry of the directory, which has 46 and a path; and always more than the
    # megabyte that `_unpack` reads in one call
    with _Packed(path, max(members * 256, 2**21)) as packed:
        packed.read(1)  # what the disk refuses here, `zipfile` would call a damaged archive
        archive = zipfile.ZipFile(packed)
        number = sum(not _is_skipped(member) for member in archive.infolist())
        if number > members:
            raise zipfile.BadZipFile(f"it has {number} members, and at most {members} are allowed")
        yield archive


def parts_of(member: zipfile.ZipInfo) -> tuple[str, ...]:
    """A member's path as names of folders and a file; no part leads out of the archive."""
    name = member.filename
    # without the flag, `zipfile` decodes as cp437, but macOS writes UTF-8 anyway
    if not member.flag_bits & IN_UTF8:
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
    label: the path that stands for the archive; the files' own paths follow it.
    whole: it is the class's archive, not one learner's; zips inside it are opened too.

    A learner's archive that cannot be unpacked is `refused`, after the files before the fault.
    Raises GradeError for the class's, and for a fault of the machine, such as a full disk.
    """
    unpacking = _Unpacking(folder, label, whole=whole)
    try:
        with open_zip(path, MOST_MEMBERS if whole else MOST_MEMBERS_OF_ONE) as archive:
            # a lesson's own name first, since only so many notebooks of one learner are read
            lessons_first = sorted(
                archive.infolist(), key=lambda member: not notebooks_named_in(member.filename)
            )
            for member in lessons_first:
                yield from unpacking.files_in(archive, member)
    except GradeError:  # of a zip inside it
        raise
    except Exception as error:  # each compression method has its own errors
        if isinstance(error, OSError) and error.errno not in DAMAGED:
            with machine_faults(f"Cannot unpack {for_messages(path, LONGEST_PATH)}"):
                raise  # again in here, so that it becomes a sentence with advice
        problem = for_messages(str(error) or type(error).__name__, LONGEST_PATH)
        if whole:
            raise GradeError(
                f"The archive {for_messages(path, LONGEST_PATH)} cannot be unpacked "
                f"({problem.rstrip('.')}); download it again."
            ) from None
        yield refused(label, f"the archive cannot be unpacked: {problem}")


class _Unpacking:
    """The members of one archive that have been seen, and what may still be unpacked."""

    def __init__(self, folder: Path, label: tuple[str, ...], whole: bool) -> None:
        self.folder, self.label, self.whole = folder, label, whole
        self.bytes_left = LARGEST_ARCHIVE if whole else LARGEST_OF_ONE
        self.notebooks = Counter()  # by path; of one learner's archive, all together

    def files_in(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo
    ) -> Iterator[HandedFile | LeftOut]:
        """Yield what a member is: nothing for folders and what is ignored.

        A notebook is unpacked. A zip in the class's archive is too, and its own files are yielded.
        Raises BadZipFile for an encrypted member, and what `zipfile` raises.
        """
        if member.flag_bits & ENCRYPTED:
            raise zipfile.BadZipFile("it needs a password")
        inner = parts_of(member)
        if member.is_dir() or not inner or _is_skipped(member):
            return
        name = inner[-1]
        parts = (*self.label, *inner)
        # learners chose what is in their own archives
        outer = len(parts) if self.whole else len(self.label)
        is_zip = bool(ZIP.search(name))
        is_opened = self.whole if is_zip else is_notebook(name)
        if name.startswith("."):
            yield from hidden(parts, outer)
        elif stat.S_ISLNK(member.external_attr >> 16):  # the upper half is the mode of Unix
            yield refused(parts, "it is a link, which is not followed", outer)
        elif not is_opened:
            yield HandedFile(parts, outer)
        elif problem := self._counted_excess(member, inner, is_zip):
            yield refused(parts, problem, outer)
        else:
            path, digest = self._unpack(archive, member, ".zip" if is_zip else ".ipynb")
            if is_zip:
                yield from in_archive(path, self.folder, (*parts[:-1], ZIP.sub("", name)))
                path.unlink()
            else:
                self.bytes_left -= member.file_size
                yield HandedFile(parts, outer, path, digest, _seconds(member.date_time))

    def _counted_excess(self, member: zipfile.ZipInfo, inner: tuple[str, ...], is_zip: bool) -> str:
        """Count a member. Returns why it is beyond the limits, "" if it is within them.

        The caller takes the bytes of a notebook from `bytes_left` once it is unpacked.
        """
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
        path = self.folder / f"{next(FILE_NUMBERS):06d}{suffix}"
        digest, left = hashlib.sha256(), member.file_size
        try:
            with archive.open(member) as packed, open(path, "wb") as unpacked:
                # no more than the stated size, so that an archive with false sizes does no harm
                while left and (data := packed.read(min(left, 2**20))):
                    left -= len(data)
                    digest.update(data)
                    unpacked.write(data)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path, digest.hexdigest()


def _seconds(date: tuple[int, int, int, int, int, int]) -> float:
    # a date in a zip, which is in local time, as seconds since 1970; 0 if the system has no number
    # for it; 31 February is the same as 3 March
    try:
        # mktime ignores the weekday and the day of the year; -1: it finds out about summer time
        return time.mktime((*date, 0, 0, -1))
    except (OverflowError, ValueError):
        return 0.0
