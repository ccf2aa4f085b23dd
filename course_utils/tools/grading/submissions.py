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
from .texts import LONGEST_PATH, for_messages, stem_of

DEEPEST = 50  # folders in one another that are read; far more than any course or platform makes
# bytes of a folder's path: Linux opens paths of at most 4096, of which a file's name takes 255
LONGEST = 3_500
ARCHIVE = re.compile(r"\.(zip|7z|rar|tar|gz|tgz|bz2|xz)$", re.IGNORECASE)
# files that Windows and macOS make; the name of the last one ends in a carriage return
JUNK = re.compile(r"thumbs\.db|desktop\.ini|icon\r", re.IGNORECASE)
# no hand-ins if they lie beside them; inside a learner's folder such a file is handed in
BESIDE = re.compile(r"(readme|license)(\..*)?|.*\.(csv|tsv|md)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class HandIn(Owner):
    """One handed-in file, with whose it is.

    file: its path as it was handed in, shortened, with a number if the learner has two of the name.
    path: where its bytes are; None if it cannot be marked.
    modified: seconds since 1970; 0 for what is not a notebook.
    problem: why it cannot be marked, "" if it can.
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

    folder: an empty one, for the files of archives, which must stay while the hand-ins are used.
    roster: see `read_roster`.

    Raises GradeError if there are no hand-ins, or if something cannot be read or unpacked through
    no learner's fault.
    """
    source, people = Path(source), roster or {}
    shown = for_messages(source, LONGEST_PATH)
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
        # `owner` is a LeftOut here; other files in folders, such as pictures, are not reported
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
    shown = for_messages(source, LONGEST_PATH)
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
    """What lies in a folder and the folders in it, in the order of names.

    A folder deeper than DEEPEST, or with a path longer than LONGEST, is refused like a file, so
    that the learner who has handed it in is told.
    """
    todo: list[tuple[tuple[str, ...], Path]] = [((), source)]
    while todo:
        parts, path = todo.pop()
        # of the source itself, only what is in it
        if parts and (len(parts) > DEEPEST or len(os.fsencode(path)) > LONGEST):
            yield refused(
                parts,
                f"it is a folder within {DEEPEST} others, or with a path of more than {LONGEST:,} "
                "bytes, where nothing is read",
            )
            continue
        with machine_faults(f"Cannot read {for_messages(path, LONGEST_PATH)}"):
            folders, files = _listed(path)
        others = [
            name
            for name in files
            if not name.startswith(".") and not JUNK.fullmatch(name) and not BESIDE.fullmatch(name)
        ]
        is_alone = len(others) == 1 and not folders
        # a class's zips lie at the top; deeper ones are learners' own
        archives = [] if parts else _class_archives(path, others, is_alone, people)
        for name in archives:
            assignment = () if is_alone else (ZIP.sub("", utf8_name(name)),)
            yield from in_archive(path / name, folder, assignment, whole=True)
        links = [name for name in folders if (path / name).is_symlink()]
        for name in reversed(folders):  # `todo` is a stack: the first folder is taken next
            if name not in links:
                todo.append(((*parts, utf8_name(name)), path / name))
        for name in (*links, *files):
            if name not in archives:
                yield from _file(path / name, (*parts, utf8_name(name)), folder)


def _listed(folder: Path) -> tuple[list[str], list[str]]:
    """The names of a folder's folders, without the ignored ones, and of its files, both in order.

    A link to a folder counts as a folder.
    """
    with os.scandir(folder) as entries:
        is_folder = dict(sorted((entry.name, entry.is_dir()) for entry in entries))
    folders = [name for name in is_folder if is_folder[name] and not is_ignored(name)]
    return folders, [name for name in is_folder if not is_folder[name]]


# what a file is: see `HandedFile`, `LeftOut`; `folder` is for the files of a zip
def _file(path: Path, parts: tuple[str, ...], folder: Path) -> Iterator[HandedFile | LeftOut]:
    with machine_faults(f"Cannot read {for_messages(path, LONGEST_PATH)}"):
        if path.name.startswith("."):
            yield from hidden(parts)
        elif not stat.S_ISREG(path.lstat().st_mode):
            yield refused(parts, "it is a link or a device, which is not followed")
        elif ZIP.search(path.name):
            yield from in_archive(path, folder, (*parts[:-1], ZIP.sub("", parts[-1])))
        else:
            yield in_place(path, parts)


def _class_archives(
    source: Path, names: list[str], is_alone: bool, people: Mapping[str, Learner]
) -> list[str]:
    """The zips of a folder that holds nothing but the platform's: one, or one for each assignment.

    names: of the files in it. is_alone: whether there is one, and no folder beside it.

    Returns all of the names or, if one of them is not such a zip, none. A class's zip is not named
    after a learner. In it are names that only a platform gives, or names of learners: of one if
    the zip is alone, else of two, so that nobody's own zip is taken for a class's.
    """
    owners = Owners([], "", people)  # of no files: it only tells which names are learners'
    fewest_learners = 1 if is_alone else 2
    for name in names:
        path = source / name
        if not ZIP.search(name) or owners.identifies(stem_of(name)) or path.is_symlink():
            return []
        try:
            with open_zip(path, MOST_MEMBERS) as archive:
                entries = {part for member in archive.infolist() for part in parts_of(member)}
        except Exception as error:  # a damaged or hostile archive may raise anything
            if isinstance(error, OSError) and error.errno not in DAMAGED:
                raise  # through no learner's fault
            return []  # a damaged archive is reported when it is unpacked
        ways_to_read = [reading for entry in entries for reading in readings(entry)]
        is_platforms = any(reading.platform.is_unmistakable for reading in ways_to_read)
        learners = sum(  # as the name of a folder, or of a file
            owners.identifies(entry) or owners.identifies(stem_of(entry)) for entry in entries
        )
        if not is_platforms and learners < fewest_learners:
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
    left_out: changed: archives and files of nobody that do not count are added to it.
    """
    # by the hand-in's name, which decides below where two are equally late
    files = sorted(files, key=lambda pair: (pair[1].file, pair[1].sha256))
    kept = [hand_in for file, hand_in in files if file.notebook]
    kept.sort(key=lambda hand_in: (-hand_in.turn, -hand_in.modified))  # the latest first
    others = [(file, hand_in) for file, hand_in in files if not file.notebook]
    if kept:
        left_out += [
            LeftOut(
                hand_in.file,
                f"it is an archive that is not opened; {for_messages(hand_in.learner)} has handed "
                "in other files",
            )
            for file, hand_in in others
            if ARCHIVE.search(file.parts[-1])
        ]
    else:
        for file, hand_in in others:
            name = file.parts[-1]
            if JUNK.fullmatch(name):
                continue
            # somebody's: in a folder, or named by the roster or the platform
            if len(file.parts) > 1 or is_listed or hand_in.platform:
                kept.append(
                    replace(hand_in, path=None, problem=f"{for_messages(name)} is not a notebook")
                )
            elif not BESIDE.fullmatch(name):
                left_out.append(
                    LeftOut(hand_in.file, "it is not a notebook, and its name matches no learner")
                )
    return _with_different_names(_at_most(kept))


def _at_most(hand_ins: list[HandIn]) -> list[HandIn]:
    """The first MOST_OF_ONE of these and, if there are more, one whose problem says how many."""
    kept = hand_ins[:MOST_OF_ONE]
    if len(hand_ins) > MOST_OF_ONE:
        kept.append(
            replace(
                kept[0],
                file=f"{len(hand_ins) - MOST_OF_ONE} more",
                path=None,
                sha256="",
                problem=f"they are left out; at most {MOST_OF_ONE} files of a learner are marked",
            )
        )
    return kept


def _with_different_names(hand_ins: list[HandIn]) -> list[HandIn]:
    """These in the order of their names, with a number behind a name that has occurred before, as
    in two archives of one learner.
    """
    renamed: dict[str, HandIn] = {}
    for hand_in in sorted(hand_ins, key=lambda hand_in: (hand_in.file, hand_in.sha256)):
        name, number = hand_in.file, 1
        while name in renamed:
            number += 1
            name = f"{hand_in.file} ({number})"
        renamed[name] = replace(hand_in, file=name)
    return list(renamed.values())
