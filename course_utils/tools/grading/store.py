"""A class's results in a file of JSON lines, with one writer at a time. When `put` returns, the
result is on disk.
"""

import json
import os
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from filelock import Timeout

from ..._support.files import alone, save_beside, write_whole
from .results import GradeError, Result, result_from

PATIENCE = 5  # seconds to wait for another writer
BEGINNING = b'{"learner": '  # of each line


@dataclass(frozen=True)
class Entry:
    """The result of one hand-in.

    learner, name: the learner's key and name.
    file, sha256: the hand-in's path and checksum.
    made_with: what the result depends on beside the file, as text: if this or the checksum has
    changed, `class_run` marks the hand-in again.
    """

    learner: str
    name: str
    file: str
    sha256: str
    made_with: str
    result: Result


@contextmanager
def opened(path: Path, anew: bool = False) -> Generator["Store"]:
    """The results in a file, locked against other writers. See `Store`.

    Raises GradeError if another process still writes to it after PATIENCE seconds.
    """
    try:
        with alone(path, PATIENCE):
            yield Store(path, anew)
    except Timeout:
        raise GradeError(f"Another `course grade` is already writing to {path.parent}.") from None


class Store:
    """The results in one file, by learner and file name.

    A result is appended as a line; of two lines about one hand-in, the last counts. A last
    line that is only begun is removed from the file. The file need not exist.

    entries: by the learner's key and the file name.
    anew: if they cannot be read, keep the file under another name, and start without results.

    Raises GradeError if they cannot be read, unless `anew`; OSError from the file system.
    """

    def __init__(self, path: Path, anew: bool) -> None:
        self.path = path
        self.entries = self._read(anew)

    def _read(self, anew: bool) -> dict[tuple[str, str], Entry]:
        if not self.path.exists():
            return {}
        content = self.path.read_bytes()
        *lines, torn = content.split(b"\n")  # torn: what stands behind the last end of a line
        entries = {}
        try:
            # it may be shorter than BEGINNING
            if not torn.startswith(BEGINNING[: len(torn)]):
                raise ValueError("the last line is nothing that `put` began")
            for line in lines:
                data = json.loads(line)
                entry = replace(Entry(**data), result=result_from(data["result"]))
                entries[entry.learner, entry.file] = entry
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            if not anew:
                raise GradeError(
                    f"{self.path} cannot be used: {' '.join(str(error).split())[:100]}; with "
                    "--regrade it is kept under another name, and everything is marked again."
                ) from None
            save_beside(content, self.path.parent, self.path.name)
            self.path.unlink()
            return {}
        if torn:  # a power cut may end a file within a line
            os.truncate(self.path, len(content) - len(torn))
        return entries

    def put(self, entry: Entry) -> None:
        """Append a result. On return it is on disk."""
        with open(self.path, "ab") as file:
            file.write(_line(entry))
            file.flush()
            os.fsync(file.fileno())
        self.entries[entry.learner, entry.file] = entry

    def keep(self, keys: Collection[tuple[str, str]]) -> None:
        """Delete all results but those of these keys, as in `entries`, and sort the file."""
        self.entries = {key: entry for key, entry in sorted(self.entries.items()) if key in keys}
        write_whole(self.path, b"".join(map(_line, self.entries.values())))


def _line(entry: Entry) -> bytes:
    return json.dumps(asdict(entry)).encode() + b"\n"
