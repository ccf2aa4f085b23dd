"""Collect hand-ins as exported by a learning platform.

`handed_files` unpacks zips, and `owners` decides which learner each file belongs to. Only zips and
the roster are parsed; links are not followed.
"""

import os
import re
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..workspace.copies import GLOSSARY
from .handed_files import (
    DAMAGED,
    MOST_MEMBERS,
    MOST_OF_ONE,
    ZIP,
    HandedFile,
    LeftOut,
    hidden,
    in_archive,
    in_place,
    is_ignored,
    machine_faults,
    open_zip,
    parts_of,
    refused,
    utf8_name,
)
from .owners import Owner, Owners
from .platforms import readings
from .results import GradeError
from .rosters import Learner
from .texts import for_messages, stem_of

DEEPEST = 50  # folders in one another that are read
LONGEST = 3_500  # bytes of a folder's path, so that the system can open what is in it
ARCHIVE = re.compile(r"\.(zip|7z|rar|tar|gz|tgz|bz2|xz)$", re.IGNORECASE)
JUNK = re.compile(r"thumbs\.db|desktop\.ini|icon\r", re.IGNORECASE)
# only beside the hand-ins; inside a learner's folder such a file is handed in
BESIDE = re.compile(r"(readme|license)(\..*)?|.*\.(csv|tsv|md)", re.IGNORECASE)


@dataclass(frozen=True)
class HandIn(Owner):
    """One handed-in file, with whose it is.

    file: its original name. path: of its bytes. problem: why it is unreadable, if it is.
    """

    file: str = ""
    path: Path | None = None
    sha256: str = ""
    modified: float = 0.0
    problem: str = ""


class Gathered(list[HandIn]):
    """A list of hand-ins. left_out: the files that belong to no learner."""

    def __init__(self, hand_ins: Iterable[HandIn] = (), left_out: Iterable[LeftOut] = ()) -> None:
        super().__init__(hand_ins)
        self.left_out = list(left_out)


def gather(
    source: str | Path, folder: str | Path, roster: Mapping[str, Learner] | None = None
) -> Gathered:
    """The hand-ins in a folder, a zip, or one notebook, ordered by learner and file.

    Its `left_out` lists the files that belong to no learner.

    folder: an empty one, for unpacked archives.
    roster: see `read_roster`.

    Raises GradeError if there are no hand-ins, or if something cannot be read or unpacked through
    no learner's fault.
    """
    source, people = Path(source), roster or {}
    shown = for_messages(source, 300)
    with machine_faults(f"Cannot read {shown}"):
        seen = list(_seen(source, Path(folder), people))
    # the glossary is part of every workspace
    files = [
        file for file in seen if isinstance(file, HandedFile) and file.parts[-1].lower() != GLOSSARY
    ]
    result = Gathered(left_out=[file for file in seen if isinstance(file, LeftOut)])
    owners = Owners(files, source.resolve().stem, people)
    by_learner: dict[str, list[tuple[HandedFile, HandIn]]] = {}
    for file in files:
        owner = owners.of(file)
        if isinstance(owner, Owner):
            by_learner.setdefault(owner.learner, []).append((file, _hand_in(file, owner)))
        elif file.notebook or ARCHIVE.search(file.parts[-1]) or len(file.parts) == 1:
            result.left_out.append(owner)
    for learner, handed_in in sorted(by_learner.items()):
        result += _kept(handed_in, learner in people, left_out=result.left_out)
    result.left_out.sort(key=lambda left: left.file)
    if not result:
        first = next(iter(result.left_out), None)
        example = f" that belong to a learner; {first.file}: {first.why}" if first else ""
        raise GradeError(f"There are no hand-ins in {shown}{example}.")
    return result


# ---------------------------------------------------------------- which files there are


def _seen(
    source: Path, folder: Path, people: Mapping[str, Learner]
) -> Iterable[HandedFile | LeftOut]:
    """What lies in a folder, a zip, or one notebook. Raises GradeError for anything else."""
    shown = for_messages(source, 300)
    try:
        kind = source.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise GradeError(f"There is no {shown}.") from None
    if stat.S_ISDIR(kind):
        return _in_folder(source, folder, people)
    if not stat.S_ISREG(kind):
        raise GradeError(f"{shown} is a device or a pipe; give a folder, a zip, or a notebook.")
    if source.suffix.lower() == ".zip" or zipfile.is_zipfile(source):
        return in_archive(source, folder, (), whole=True)
    file = in_place(source, (source.name,))
    if not file.notebook:
        raise GradeError(f"{shown} is neither a folder, nor a zip, nor a notebook.")
    return [file]


def _in_folder(
    source: Path, folder: Path, people: Mapping[str, Learner]
) -> Iterator[HandedFile | LeftOut]:
    """What lies in a folder, to DEEPEST levels. What is too deep is one learner's, and refused."""
    todo: list[tuple[tuple[str, ...], Path]] = [((), source)]
    while todo:
        place, path = todo.pop()
        if len(place) > DEEPEST or len(os.fsencode(path)) > LONGEST:
            yield refused(place, f"it is a folder within {DEEPEST} others, where nothing is read")
            continue
        with machine_faults(f"Cannot read {for_messages(path, 300)}"):
            folders, files = _listed(path)
        others = [
            name
            for name in files
            if not name.startswith(".") and not JUNK.fullmatch(name) and not BESIDE.fullmatch(name)
        ]
        is_alone = len(others) == 1 and not folders
        archives = [] if place else _class_archives(path, others, is_alone, people)
        for name in archives:
            label = () if is_alone else (ZIP.sub("", utf8_name(name)),)
            yield from in_archive(path / name, folder, label, whole=True)
        links = [name for name in folders if (path / name).is_symlink()]
        for name in reversed(folders):
            if name not in links:
                todo.append(((*place, utf8_name(name)), path / name))
        for name in (*links, *files):
            if name not in archives:
                yield from _file(path / name, (*place, utf8_name(name)), folder)


def _listed(folder: Path) -> tuple[list[str], list[str]]:
    """The names of a folder's folders, links to folders among them, and of its files, in order."""
    with os.scandir(folder) as entries:
        is_folder = {entry.name: entry.is_dir() for entry in entries}
    names = sorted(is_folder)
    folders = [name for name in names if is_folder[name] and not is_ignored(name)]
    return folders, [name for name in names if not is_folder[name]]


def _file(path: Path, label: tuple[str, ...], folder: Path) -> Iterator[HandedFile | LeftOut]:
    with machine_faults(f"Cannot read {for_messages(path, 300)}"):
        if path.name.startswith("."):
            yield from hidden(label)
        elif not stat.S_ISREG(path.lstat().st_mode):
            yield refused(label, "it is a link or a device, which is not followed")
        elif ZIP.search(path.name):
            yield from in_archive(path, folder, (*label[:-1], ZIP.sub("", label[-1])))
        else:
            yield in_place(path, label)


def _class_archives(
    source: Path, names: list[str], is_alone: bool, people: Mapping[str, Learner]
) -> list[str]:
    """The zips in a folder that holds only the platform's: one, or one for each assignment.

    Their names are then not learners', and they contain entries of a platform that has unmistakable
    ones, or of learners; if there are several, each of at least two, so that nobody's own zip is
    taken for a class's.
    """
    owners = Owners([], "", people)
    fewest = 1 if is_alone else 2  # learners
    for name in names:
        path = source / name
        if not ZIP.search(name) or owners.identifies(stem_of(name)) or path.is_symlink():
            return []
        try:
            with open_zip(path, MOST_MEMBERS) as archive:
                entries = {part for member in archive.infolist() for part in parts_of(member)}
        except Exception as error:  # reported when it is unpacked
            if isinstance(error, OSError) and error.errno not in DAMAGED:
                raise
            return []
        ways = [reading for entry in entries for reading in readings(entry)]
        is_platforms = any(reading.platform.is_unmistakable for reading in ways)
        learners = sum(owners.identifies(entry) for entry in entries)
        if not is_platforms and learners < fewest:
            return []
    return names


# ---------------------------------------------------------------- what counts of a learner's files


def _hand_in(file: HandedFile, owner: Owner) -> HandIn:
    return HandIn(
        owner.learner,
        for_messages(owner.name),
        owner.platform,
        owner.number,
        owner.turn,
        file=file.file,
        path=file.path,
        sha256=file.sha256,
        modified=file.modified,
        problem=file.problem,
    )


def _kept(
    files: Sequence[tuple[HandedFile, HandIn]], is_listed: bool, left_out: list[LeftOut]
) -> list[HandIn]:
    """The files of a learner that count.

    These are the notebooks or, if there are none, a reason for each of the others.

    is_listed: whether the roster has this learner.
    left_out: a list to which is added what does not count.
    """
    files = sorted(files, key=lambda pair: (pair[1].file, pair[1].sha256))
    kept = [hand_in for file, hand_in in files if file.notebook]
    kept.sort(key=lambda hand_in: (-hand_in.turn, -hand_in.modified))
    has_notebooks = bool(kept)
    for file, hand_in in files:
        name = for_messages(file.parts[-1])
        if file.notebook or JUNK.fullmatch(name):
            continue
        if has_notebooks and ARCHIVE.search(name):
            why = (
                f"it is an archive that is not opened; {for_messages(hand_in.learner)} has handed "
                "in other files"
            )
            left_out.append(LeftOut(hand_in.file, why))
        elif not has_notebooks and (len(file.parts) > 1 or is_listed or hand_in.platform):
            kept.append(replace(hand_in, path=None, problem=f"{name} is not a notebook"))
        elif not has_notebooks and not BESIDE.fullmatch(name):
            left_out.append(
                LeftOut(hand_in.file, "it is not a notebook, and its name matches no learner")
            )
    return _with_different_names(_at_most(kept))


def _at_most(hand_ins: list[HandIn]) -> list[HandIn]:
    """The first of these, as many as are marked, and one that says how many are not."""
    kept, more = hand_ins[:MOST_OF_ONE], len(hand_ins) - MOST_OF_ONE
    if more > 0:
        problem = f"they are left out; at most {MOST_OF_ONE} files of a learner are marked"
        kept.append(replace(kept[0], file=f"{more} more", path=None, sha256="", problem=problem))
    return kept


def _with_different_names(hand_ins: list[HandIn]) -> list[HandIn]:
    """These in order, with numbers behind names that occur twice, as in two archives of one
    learner.
    """
    renamed: dict[str, HandIn] = {}
    for hand_in in sorted(hand_ins, key=lambda hand_in: (hand_in.file, hand_in.sha256)):
        name, number = hand_in.file, 1
        while name in renamed:
            number += 1
            name = f"{hand_in.file} ({number})"
        renamed[name] = replace(hand_in, file=name)
    return list(renamed.values())
