"""A class's results in a SQLite database, with one writer at a time. When `put` returns, results
are on disk.
"""

import itertools
import json
import os
import sqlite3
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Self

from .results import Result, result_from

VERSION = 1
PATIENCE = 5  # seconds to wait for another writer
OF_THE_MACHINE = (
    "SQLITE_FULL",
    "SQLITE_IOERR",
    "SQLITE_READONLY",
    "SQLITE_CANTOPEN",
    "SQLITE_PERM",
    "SQLITE_NOMEM",
)


class GradeError(RuntimeError):
    """A class cannot be marked. The message is one sentence."""


class Damaged(GradeError):
    """A file holds no results that this version can read."""


@dataclass(frozen=True)
class Entry:
    """The result of one hand-in. made_with: what it depends on beside the file."""

    learner: str
    name: str
    file: str
    sha256: str
    made_with: str
    result: Result


COLUMNS = tuple(column.name for column in fields(Entry))
TEXTS = ", ".join(f"{column} TEXT NOT NULL" for column in COLUMNS)
SCHEMA = f"CREATE TABLE results ({TEXTS}, PRIMARY KEY (learner, file))"


class Store:
    """The results in one file, by learner and file name, as a context manager that locks them
    against others.

    anew: if they cannot be read, rename the file, and start without results.

    Raises GradeError.
    """

    def __init__(self, path: str | Path, anew: bool = False) -> None:
        self.path = Path(path)
        try:
            self.entries = self._opened()
        except Damaged:
            if not anew:
                raise
            set_aside(self.path)
            self.entries = self._opened()

    def _opened(self) -> dict[tuple[str, str], Entry]:
        if os.path.lexists(self.path) and self.path.exists() and not self.path.is_file():
            raise self._damaged("it is not a file")
        with self._sentences():
            self.db = sqlite3.connect(self.path, timeout=PATIENCE)
            try:
                return self._locked()
            except BaseException:
                self.db.close()
                raise

    def _locked(self) -> dict[tuple[str, str], Entry]:
        """Lock the file until it is closed, and read it. A file of another kind is not written
        to.
        """
        # also avoids shared memory, which network file systems lack
        self.db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self.db.execute("BEGIN EXCLUSIVE")
        (version,) = self.db.execute("PRAGMA user_version").fetchone()
        if not version and not self.db.execute("SELECT * FROM sqlite_master").fetchone():
            self.db.execute(SCHEMA)
            self.db.execute(f"PRAGMA user_version = {VERSION}")
        elif version != VERSION:
            raise self._damaged(f"it is a database of version {version}, not {VERSION}")
        self.db.commit()
        (problem,) = self.db.execute("PRAGMA quick_check(1)").fetchone()
        if problem != "ok":
            raise self._damaged(problem)
        entries = {}
        for row in self.db.execute(f"SELECT {', '.join(COLUMNS)} FROM results"):
            try:
                entry = Entry(*row[:-1], result=result_from(json.loads(row[-1])))
            except (ValueError, TypeError, RecursionError):
                raise self._damaged(
                    f"the result of {str(row[0])[:80]!r} has an unexpected form"
                ) from None
            entries[entry.learner, entry.file] = entry
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = FULL")
        return entries

    def put(self, *entries: Entry) -> None:
        """Write results, all or none."""
        places = ", ".join("?" * len(COLUMNS))
        rows = [(*astuple(entry)[:-1], json.dumps(asdict(entry.result))) for entry in entries]
        with self._sentences(), self.db:
            self.db.executemany(f"INSERT OR REPLACE INTO results VALUES ({places})", rows)
        self.entries.update({(entry.learner, entry.file): entry for entry in entries})

    def keep(self, keys: Collection[tuple[str, str]]) -> None:
        """Delete all other results."""
        gone = [key for key in self.entries if key not in keys]
        with self._sentences(), self.db:
            self.db.executemany("DELETE FROM results WHERE learner = ? AND file = ?", gone)
        self.entries = {key: entry for key, entry in self.entries.items() if key in keys}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    def _damaged(self, why: object) -> Damaged:
        return Damaged(
            f"{self.path} cannot be used: {' '.join(str(why).split())[:200]}; with --regrade it is kept under another "
            "name, and everything is marked again."
        )

    @contextmanager
    def _sentences(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorname", None) or ""
            if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise GradeError(
                    f"Another `course grade` is already writing to {self.path.parent}."
                ) from None
            if code.startswith(OF_THE_MACHINE):
                raise GradeError(
                    f"Cannot write {self.path}: {error}; once that is fixed, run the same command to continue."
                ) from None
            raise self._damaged(error) from None


def set_aside(path: Path) -> None:
    """Rename a database and its side files to the first free name of NAME-1, NAME-2, ..."""
    targets = (
        path.with_name(f"{path.stem}-{number}{path.suffix}") for number in itertools.count(1)
    )
    target = next(target for target in targets if not any(map(os.path.lexists, _files(target))))
    for old, new in zip(_files(path), _files(target)):
        if os.path.lexists(old):
            os.rename(old, new)


def _files(path: Path) -> list[Path]:
    """A database, and the files that SQLite may leave beside it."""
    return [path.with_name(path.name + end) for end in ("", "-wal", "-shm", "-journal")]
