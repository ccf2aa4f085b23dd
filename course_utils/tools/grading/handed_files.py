"""Files of a download before their owners are known, and which of them are notebooks.

The files are untrusted, so only their first bytes are looked at here; nothing is parsed.
"""

import errno
import os
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..._support.files import file_sha256
from .platforms import readings
from .store import GradeError
from .untrusted import for_keys

LARGEST = 256 * 2**20  # bytes per notebook
BEGINNING = 2**18  # bytes that are looked at
ZIP = re.compile(r"\.zip$", re.IGNORECASE)
PLACEHOLDER = re.compile(r"^\..*\.ipynb\.icloud$", re.IGNORECASE)
FIRST_KEY = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*\{\s*"
    rb'"(?:(cells)"\s*:\s*\[|(?:metadata|nbformat|nbformat_minor|worksheets)"\s*:)'
)
ADVICE = {
    errno.ENOSPC: "free some space there, or set TMPDIR to a folder on a larger disk",
    errno.EDQUOT: "free some space there, or set TMPDIR to another disk",
    errno.EACCES: "give yourself permission to access it",
    errno.EPERM: "give yourself permission to access it",
    errno.EROFS: "set TMPDIR to a writable folder",
    errno.ENOENT: "do not change the submissions while they are being read",
    errno.EMFILE: "raise `ulimit -n`",
    errno.EIO: "check the disk",
}
# yours_saved and live_copies hold a learner's files from before a reset, and live copies
IGNORED = "__MACOSX __pycache__ yours_saved live_copies venv site-packages node_modules".split()


class MachineFault(GradeError):
    """Something cannot be read or written through no learner's fault, such as a full disk.

    The message says what to do in one sentence.
    """


@dataclass(frozen=True)
class HandedFile:
    """A file whose owner is not yet known.

    outer: how many parts of its path are not from a learner's zip, so that no learner chose them.
    path: where a notebook's bytes are; None for other files.
    problem: why it cannot be marked, if somebody may have meant it as a notebook.
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
        """Its path as text."""
        return for_keys("/".join(self.parts), 300)


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
    """Raise MachineFault for an OSError. beginning: of the sentence, such as "Cannot read X"."""
    try:
        yield
    except OSError as error:
        advice = ADVICE.get(error.errno or 0, "fix that")
        why = error.strerror or error
        raise MachineFault(f"{beginning}: {why}; {advice}, and run the command again.") from None


def is_ignored(folder: str) -> bool:
    """Whether what is in a folder of this name is no hand-in: what is hidden, copies, packages.

    A learner's own name may begin with a dot, and so the platform's folder.
    """
    return folder in IGNORED or folder.startswith(".") and not readings(folder)


def refused(parts: tuple[str, ...], problem: str, outer: int | None = None) -> HandedFile:
    """A file that may be a notebook, and is not read."""
    return HandedFile(parts, outer or len(parts), problem=problem)


def hidden(parts: tuple[str, ...], outer: int | None = None) -> Iterator[HandedFile | LeftOut]:
    """What is reported of a file whose name begins with a dot."""
    name = parts[-1]
    if PLACEHOLDER.search(name):
        problem = "it is only iCloud's mark in the place of a file that it has not downloaded"
        yield refused(parts, problem, outer)
    elif name.lower().endswith(".ipynb") and not name.startswith("._"):  # which macOS makes
        why = "its name begins with a dot, so it was skipped; rename it if it is a hand-in"
        yield LeftOut(for_keys("/".join(parts), 300), why)


def in_place(path: Path, parts: tuple[str, ...]) -> HandedFile:
    """A file that lies in a folder. It is a notebook by its name or by its content."""
    about = path.lstat()
    is_notebook = path.suffix.lower() == ".ipynb"
    if not is_notebook and may_be_notebook(path.name) and about.st_size <= LARGEST:
        with open(path, "rb") as file:
            is_notebook = begins_notebook(file.read(BEGINNING))
    if not is_notebook:
        return HandedFile(parts, len(parts))
    if about.st_size > LARGEST:
        return refused(parts, f"it is larger than {LARGEST // 2**20} MB")
    return HandedFile(parts, len(parts), path, file_sha256(path), about.st_mtime)


def may_be_notebook(name: str) -> bool:
    """Whether a file's name allows it to be a notebook: "x.ipynb.txt", "x.json", "x"."""
    return PurePosixPath(name).suffix.lower() in ("", ".json") or ".ipynb" in name.lower()


def begins_notebook(data: bytes) -> bool:
    """Whether these first bytes look like a notebook's. They are untrusted, and so not parsed."""
    first = FIRST_KEY.match(data)
    return bool(first) and (bool(first[1]) or b'"cell_type"' in data or b'"nbformat"' in data)


def utf8_name(name: str) -> str:
    """A file's name as UTF-8, which nearly all systems write, whatever Python was told."""
    return os.fsencode(name).decode("utf-8", "surrogateescape")
