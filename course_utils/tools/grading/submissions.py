"""Collect hand-ins as exported by a learning platform; `owners` decides which learner each file belongs to.

Only archives and the roster are parsed. No name from an archive is ever used as a path, links are not followed, and
archives that unpack to more than a limit are refused.
"""

import csv
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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ..._support.files import file_sha256
from ..._support.tables import begun
from ..workspace.copies import GLOSSARY
from .owners import Owners, Roster, normalised, notebooks_named_in, stem_of
from .platforms import PARTICIPANT, readings
from .untrusted import for_keys, for_messages

LARGEST = 256 * 2**20  # bytes per notebook
LARGEST_ARCHIVE = 16 * 2**30  # bytes of all notebooks in one archive
LARGEST_OF_ONE = 512 * 2**20  # bytes of all notebooks in an archive that one learner handed in
MOST_OF_ONE = 100  # notebooks in such an archive, and per path in a class's
MOST_MEMBERS, MOST_MEMBERS_OF_ONE = 200_000, 20_000  # of an archive: a class's, one learner's
DEEPEST = 50  # folders in one another that are read
TOO_LONG = "its name, with those of the folders above it, is too long to be read"
MOST_TOLD = 20  # problems of one kind that are listed one by one
LARGEST_ROSTER = 2**26  # bytes
ZIP, ARCHIVE = re.compile(r"\.zip$", re.IGNORECASE), re.compile(r"\.(zip|7z|rar|tar|gz|tgz|bz2|xz)$", re.IGNORECASE)
PLACEHOLDER = re.compile(r"^\..*\.ipynb\.icloud$")
# Blackboard's attempt_2026-12-04-17-00-00, nbgrader's +2026-12-04 18:03:11; Teams' Version 10, Autolab's _10_handin
# ILIAS's 20261204180311
DAY_OF_ATTEMPT = r"(20\d\d)[-_]?(0[1-9]|1[0-2])[-_]?([0-2]\d|3[01])"
ATTEMPT = re.compile(rf"(?<!\d){DAY_OF_ATTEMPT}[-_ T]?([01]\d|2[0-3])[-_:h]?([0-5]\d)(?:[-_:m]?([0-5]\d))?(?!\d)")
VERSION = re.compile(r"(?<![^\W_])(?:version|versuch|attempt)[ _-]?(\d{1,4})(?!\d)|_(\d{1,4})_handin", re.IGNORECASE)
JUNK = re.compile(r"thumbs\.db|desktop\.ini|icon\r", re.IGNORECASE)
# only beside the hand-ins; inside a learner's folder such a file is handed in
BESIDE = re.compile(r"(readme|license)(\..*)?|.*\.(csv|tsv|md)", re.IGNORECASE)
FIRST_KEY = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:(cells)"\s*:\s*\[|(?:metadata|nbformat|nbformat_minor|worksheets)"\s*:)'
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
# the last two hold a learner's files from before a reset, and live copies (passed.SAVED, passed.LIVE)
COPIES = ".ipynb_checkpoints"
IGNORED = (
    COPIES, "__MACOSX", "__pycache__", "yours_saved", "live_copies", "venv", "site-packages",
    "node_modules",
)  # fmt: skip
KEYS = {  # what a column is called, in English or German, without signs, spaces and accents
    "id": (
        "learner", "id", "username", "login", "identifier", "idnumber", "studentid", "sisloginid",
        "anmeldename", "benutzername", "idnummer", "matrikelnummer", "matrikelnr", "sid", "netid", "studentnumber",
        "orgdefinedid", "githubusername", "sisuserid",
    ),
    "name": ("name", "fullname", "student", "vollstandigername"),
    "email": ("email", "emailaddress", "mail", "emailadresse"),
    "first": ("firstname", "givenname", "vorname"),
    "last": ("lastname", "surname", "familyname", "nachname"),
    "login": ("sisloginid",),
    "sis": ("sisuserid",),
}  # fmt: skip
HEADINGS = {name for names in KEYS.values() for name in names}
ENCRYPTED = 0x1  # of a member's flags
MOST_ABOVE = 5  # lines above the header of a roster


class HandInError(ValueError):
    """The submissions or the roster cannot be used. The message is one sentence."""


class MachineFault(HandInError):
    """Something cannot be read or written through no learner's fault: a full disk, a missing permission.

    The message says what to do in one sentence.
    """


class Gathered(list):
    """A list of hand-ins. left_out: the files that belong to no learner."""

    def __init__(self, left_out=()):
        super().__init__()
        self.left_out = list(left_out)


@dataclass(frozen=True)
class LeftOut:
    """A file or folder that was seen but does not count: `why` completes a sentence about it.

    maybe: the learners on the roster to one of whom it may belong nevertheless.
    """

    file: str
    why: str
    maybe: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A file whose owner is not yet known.

    outer: how many parts of its path are not from a learner's zip.
    nested: it is a zip in a zip.
    """

    parts: tuple
    outer: int
    path: Path | None
    sha256: str = ""
    modified: float = 0.0
    problem: str = ""
    nested: bool = False

    @property
    def notebook(self):
        return self.path is not None or bool(self.problem)

    @property
    def file(self):
        return for_keys("/".join(self.parts), 300)


@dataclass(frozen=True)
class HandIn:
    """One handed-in file: `path` holds its bytes, `file` is its original name, `problem` why it is unreadable, if so.

    platform, number: the learning platform that it was downloaded from, and the learner's number there.
    turn: the platform's number of the file, the larger the later; 0 if it has none.
    doubt: why it may be somebody else's all the same, "" if nothing points to it.
    """

    learner: str
    name: str
    file: str
    path: Path | None
    sha256: str = ""
    modified: float = 0.0
    problem: str = ""
    platform: str = ""
    number: str = ""
    turn: int = 0
    doubt: str = ""


@dataclass(frozen=True)
class Learner:
    """A line of the roster.

    raw: the id as written there, if it is not fit to be shown.
    login, sis: what Canvas's gradebook has beside its own id.
    also: what stands in the roster's other columns of ids.
    """

    learner: str
    name: str = ""
    email: str = ""
    raw: str = ""
    login: str = ""
    sis: str = ""
    also: tuple[str, ...] = ()


def read_roster(path):
    """The learners in a CSV file.

    The columns that count are an id (or username, learner, ...), a name (or first and last name) and an email, in
    English or German. Lines above these headings do not count, nor do those of Canvas's gradebook about no learner.
    "Participant 812", as Moodle's grading worksheet has it, is the number 812.

    Raises HandInError if there is neither an id nor an email, or one occurs twice.
    """
    try:
        rows = numbered_rows(path, HEADINGS)
    except UnicodeDecodeError:
        raise HandInError(f"The roster {for_messages(path, 300)} is not in UTF-8; save it as CSV in UTF-8.") from None
    except (OSError, csv.Error) as error:
        raise HandInError(
            f"The roster {for_messages(path, 300)} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from None
    learners = {}
    for number, row in rows:
        cells = {
            normalised(key): (value or "").strip()
            for key, value in row.items()
            if isinstance(key, str) and isinstance(value, (str, type(None)))
        }
        found = {what: next((cells[key] for key in keys if cells.get(key)), "") for what, keys in KEYS.items()}
        key = PARTICIPANT.sub(r"\1", found["id"]) or found["email"]
        if not key and normalised(cells.get("student", "a name")) in ("", "pointspossible"):
            continue
        if not any(cells.values()) or cells.get("student") == "Student, Test":  # a blank row; Canvas's own student
            continue
        if not key:
            raise HandInError(
                f"The roster {path} has no id and no email in line {number}; name the columns id, name, email."
            )
        if for_keys(key) in learners:
            raise HandInError(f"The roster {path} has {for_messages(key)!r} twice (again in line {number}).")
        last = found["last"] or found["name"]  # beside a first name, the column Name has the last one
        full = found["name"] if not found["first"] or found["first"] in found["name"] else f"{found['first']} {last}"
        name = for_messages(full.strip() or f"{found['first']} {found['last']}".strip())
        learners[for_keys(key)] = Learner(
            for_keys(key),
            name,
            for_messages(found["email"]),
            key if for_keys(key) != key else "",
            for_messages(found["login"]),
            for_messages(found["sis"]),
            tuple(dict.fromkeys(cells[name] for name in KEYS["id"] if cells.get(name) and cells[name] != key)),
        )
    if not learners:
        raise HandInError(f"The roster {path} has no learners.")
    return learners


def roster_of(records):
    """A `Roster` that finds these learners by id, name or e-mail."""
    return Roster({one.learner: Learner(one.learner, one.name, one.email) for one in records})


def read_table(path, headings=()):
    """The rows of a CSV file, see `numbered_rows`."""
    return [row for _, row in numbered_rows(path, headings)]


def numbered_rows(path, headings=()):
    """[(the line where it ends, row)] of a CSV file in UTF-8, separated by commas, semicolons or tabs.

    headings: the first line with one of them is the header, if there is one near the beginning; else the first line.

    Raises csv.Error, with the line. An unclosed quotation mark is an error too: it would swallow the lines after it.
    """
    with open(path, "rb") as file:
        data = file.read(LARGEST_ROSTER + 1)
    if len(data) > LARGEST_ROSTER:
        raise csv.Error(f"it is larger than {LARGEST_ROSTER // 2**20} MB")
    text = data.decode("utf-8-sig")
    text, sep_lines, sign = begun(text)
    lines = text.split("\n", MOST_ABOVE)
    headers = (at for at, line in enumerate(lines) if headings & {normalised(one) for one in re.split("[,;\t]", line)})
    above = next(headers, 0) if headings else 0
    text = "\n".join(lines[above:])
    sign = begun(text)[2] if above else sign  # of the header
    above += sep_lines
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    try:
        return [(above + reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise csv.Error(f"line {above + reader.line_num + 1}: {error}; is there an unclosed quotation mark?") from None


def gather(source, folder, roster=None, skip=()):
    """The hand-ins in a folder, a zip, or one notebook, as a list ordered by learner and file.

    Its `left_out` lists the files that belong to no learner.

    folder: an empty one, for unpacked archives.
    roster: see `read_roster`.
    skip: folders without hand-ins, such as that of the results.

    Raises HandInError if there are no hand-ins, MachineFault if something cannot be read or unpacked through no
    learner's fault.
    """
    source, folder, skip = Path(source), Path(folder), {Path(path).resolve() for path in skip}
    people = roster or {}
    with _faults(f"Cannot read {for_messages(source, 300)}"):
        try:
            kind = os.stat(source).st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise HandInError(f"There is no {for_messages(source, 300)}.") from None
        if stat.S_ISDIR(kind):
            seen = list(_in_folder(source, folder, skip, people))
        elif not stat.S_ISREG(kind):
            raise HandInError(
                f"{for_messages(source, 300)} is a device or a pipe; give a folder, a zip, or a notebook."
            )
        elif source.suffix.lower() == ".zip" or zipfile.is_zipfile(source):
            seen = list(_in_archive(source, folder, (), whole=True))
        elif source.suffix.lower() == ".ipynb" or _holds_notebook(source):
            seen = [_in_place(source, (source.name,))]
        else:
            raise HandInError(f"{for_messages(source, 300)} is neither a folder, nor a zip, nor a notebook.")
    # the glossary is part of every workspace
    found = [one for one in seen if isinstance(one, Found) and one.parts[-1].lower() != GLOSSARY]
    result = Gathered(one for one in seen if isinstance(one, LeftOut))
    mine = {}
    owners = Owners(found, source.resolve().stem, people)
    for one in found:
        owner = owners.of(one)
        if not owner.why:
            mine.setdefault(owner.learner, []).append((one, _hand_in(one, owner)))
        elif one.notebook or ARCHIVE.search(one.parts[-1]) or len(one.parts) == 1:
            result.left_out.append(LeftOut(one.file, owner.why, owner.maybe))
    for learner, files in sorted(mine.items()):
        result += _kept(files, learner in people, result.left_out)
    result.left_out.sort(key=lambda one: one.file)
    if not result:
        first, *more = result.left_out or [None]
        others = f" (and {len(more)} more)" if more else ""
        why = f" that belong to a learner; {first.file}: {first.why}{others}" if first else ""
        raise HandInError(f"There are no hand-ins in {for_messages(source, 300)}{why}.")
    return result


def _hand_in(one, owner):
    """A file as the hand-in of its owner."""
    about = (for_messages(owner.name), one.file, one.path, one.sha256, one.modified, one.problem)
    turn = owner.turn or _stated_turn("/".join(one.parts[: one.outer]))
    return HandIn(owner.learner, *about, owner.platform, owner.number, turn, owner.doubt)


def _stated_turn(path):
    """The date, or the number of the version, that a platform writes into a name: the larger the later; 0 without."""
    if found := ATTEMPT.findall(path):
        return int("".join(part.zfill(2) for part in found[-1]).ljust(14, "0"))
    return max((int(one or other) for one, other in VERSION.findall(path)), default=0)


def _kept(files, listed, left_out):
    """The files of a learner that count: the notebooks or, if there are none, a reason for each of the others.

    files: pairs of Found and HandIn.
    listed: whether the roster has this learner.
    left_out: a list to which is added what does not count.
    """
    files.sort(key=lambda pair: (pair[1].file, pair[1].sha256))
    notebooks = sorted((one for found, one in files if found.notebook), key=lambda one: (-one.turn, -one.modified))
    others = [(found, one) for found, one in files if not found.notebook and not JUNK.fullmatch(found.parts[-1])]
    if notebooks:
        for found, one in others:
            if ARCHIVE.search(for_messages(found.parts[-1])):
                why = f"it is an archive that is not opened; {for_messages(one.learner)} has handed in other files"
                left_out.append(LeftOut(one.file, why))
        return _with_different_names(_at_most(notebooks))
    kept, too_many = [], 0
    for found, one in others:
        name = for_messages(found.parts[-1])
        if len(found.parts) > 1 or listed or one.platform:
            too_many += len(kept) >= MOST_TOLD
            if not too_many:
                what = "in a zip within a zip, which is not opened" if found.nested else "not a notebook"
                kept.append(replace(one, path=None, problem=f"{name} is {what}"))
        elif not BESIDE.fullmatch(name):
            left_out.append(LeftOut(one.file, "it is not a notebook, and its name matches no learner"))
    if too_many:
        left_out.append(LeftOut(files[0][1].learner, f"{too_many} more files of this learner are not notebooks"))
    return _with_different_names(kept)


def _at_most(notebooks):
    """The first of these notebooks, as many as are marked and listed, and one that says how many are left out."""
    kept = [one for one in notebooks if one.path][:MOST_OF_ONE]
    kept += [one for one in notebooks if not one.path][: MOST_TOLD + 1]
    if len(kept) < len(notebooks):
        problem = (
            f"they are left out; at most {MOST_OF_ONE} notebooks of a learner are marked and {MOST_TOLD} problems "
            "listed"
        )
        more = f"{len(notebooks) - len(kept)} more"
        kept.append(replace(notebooks[0], file=more, path=None, sha256="", problem=problem))
    return kept


def _with_different_names(hand_ins):
    """These hand-ins in order, with numbers behind names that occur twice: two archives may hold files of one name."""
    numbers, names, renamed = Counter(), set(), []
    for one in sorted(hand_ins, key=lambda one: (one.file, one.sha256)):
        name = one.file
        while name in names:
            numbers[one.file] += 1
            name = f"{one.file} ({numbers[one.file] + 1})"
        names.add(name)
        renamed.append(replace(one, file=name))
    return renamed


def _machine_fault(what, error):
    """An OSError as a sentence that begins with what failed, and says what to do."""
    advice = ADVICE.get(error.errno, "fix that")
    return MachineFault(f"{what}: {error.strerror or error}; {advice}, and run the command again.")


@contextmanager
def _faults(what):
    """Name the file or folder concerned in a fault of the machine."""
    try:
        yield
    except OSError as error:
        raise _machine_fault(what, error) from None


def _in_folder(source, folder, skip, people):
    """What lies in a folder, to DEEPEST levels. What cannot be read for its depth is one learner's, and refused."""
    todo = [((), source)]
    while todo:
        place, here = todo.pop()
        if len(place) > DEEPEST:
            yield _refused(place, f"it is a folder within {DEEPEST} others, where nothing is read")
            continue
        with _faults(f"Cannot read {for_messages(here, 300)}"):
            try:
                folders, files = _listed(here)
            except OSError as error:
                if error.errno != errno.ENAMETOOLONG:
                    raise
                yield _refused(place, TOO_LONG)
                continue
        inner = [name for name in folders if name not in IGNORED and (here / name).resolve() not in skip]
        alone = not any(not name.startswith(".") for name in inner)
        whole = () if place else _whole_zips(source, files, alone, people)
        for name in whole:
            label = () if alone and len(whole) == 1 else (ZIP.sub("", utf8_name(name)),)
            yield from _in_archive(source / name, folder, label, whole=True)
        files = [name for name in files if name not in whole]
        for name in inner:
            if name.startswith("."):
                yield from _hidden((*place, utf8_name(name)), _hidden_notebooks(here / name))
        if place and COPIES in folders and not files and not inner:
            yield _only_copies(place)
        links = [name for name in inner if not name.startswith(".") and os.path.islink(here / name)]
        todo += [
            ((*place, utf8_name(name)), here / name)
            for name in reversed(inner)
            if not name.startswith(".") and name not in links
        ]
        for name in [*links, *files]:
            yield from _file(here / name, (*place, utf8_name(name)), folder)


def _file(path, label, folder):
    """A file, or what is in an archive. What is a link, or hidden, or cannot be reached, is refused or left out."""
    if path.name.startswith("."):
        yield from _hidden(label, _is_hidden_notebook(path.name))
        return
    with _faults(f"Cannot read {for_messages(path, 300)}"):
        try:
            kind = path.lstat().st_mode
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            yield _refused(label, TOO_LONG)
            return
        if not stat.S_ISREG(kind):
            yield _refused(label, "it is a link or a device, which is not followed")
        elif ZIP.search(path.name):
            yield from _in_archive(path, folder, (*label[:-1], ZIP.sub("", label[-1])))
        else:
            yield _in_place(path, label)


def _listed(folder):
    """The names of a folder's folders, links to folders among them, and of its files, each in order."""
    with os.scandir(folder) as entries:
        kinds = {entry.name: entry.is_dir() for entry in entries}
    return sorted(name for name in kinds if kinds[name]), sorted(name for name in kinds if not kinds[name])


def _hidden_notebooks(folder):
    """How many hidden notebooks are in a hidden folder, as far down as folders are read."""
    number, todo = 0, [(1, folder)]
    while todo:
        depth, here = todo.pop()
        with suppress(OSError):  # nobody misses what is hidden and cannot be read
            folders, files = _listed(here)
            number += sum(map(_is_hidden_notebook, files))
            if depth < DEEPEST:
                todo += [(depth + 1, here / name) for name in folders if not os.path.islink(here / name)]
    return number


def utf8_name(name):
    """A file's name as UTF-8, which nearly all systems write, also where Python was told that it is ASCII."""
    return os.fsencode(name).decode("utf-8", "surrogateescape")


def _whole_zips(source, files, alone, people):
    """The zips in a folder that holds only the platform's: one, or one for each assignment.

    Their names are then not learners', and they contain entries of a platform that has unmistakable ones, or of
    learners; if there are several, each of at least two, so that nobody's own zip is taken for a class's.

    alone: whether there is no folder beside them.
    """
    rest = [
        name for name in files if not name.startswith(".") and not JUNK.fullmatch(name) and not BESIDE.fullmatch(name)
    ]
    least = 1 if alone and len(rest) == 1 else 2
    owners = Owners([], "", people)
    for name in rest:
        if not ZIP.search(name) or owners.strong(stem_of(name)) or (source / name).is_symlink():
            return []
        try:
            with _open_zip(source / name, MOST_MEMBERS) as archive:
                parts = {part for member in archive.infolist() for part in _parts(member)}
        except Exception as error:  # reported when it is unpacked
            if isinstance(error, OSError) and error.errno not in DAMAGED:
                raise
            return []
        unmistakable = any(one.platform.is_unmistakable for part in parts for one in readings(part))
        if not unmistakable and sum(owners.strong(part) for part in parts) < least:
            return []
    return rest


def _hidden(parts, notebooks):
    if notebooks and PLACEHOLDER.search(parts[-1].lower()):
        yield _refused(parts, "it is only iCloud's mark in the place of a file that it has not downloaded")
    elif notebooks:
        yield LeftOut(
            for_keys("/".join(parts), 300),
            f"its name begins with a dot, so {'it was' if notebooks == 1 else f'its {notebooks} notebooks were'} "
            "skipped; rename it if it is a hand-in",
        )


def _is_hidden_notebook(name):
    name = name.lower()
    return bool(PLACEHOLDER.search(name)) or name.endswith(".ipynb") and not name.startswith("._")  # made by macOS


def _in_place(path, parts):
    about = path.lstat()
    eligible = _may_be_notebook(path.name)
    if about.st_size > LARGEST and eligible:
        return _refused(parts, f"it is larger than {LARGEST // 2**20} MB")
    if not (path.suffix.lower() == ".ipynb" or eligible and _holds_notebook(path)):
        return Found(parts, len(parts), None)
    return Found(parts, len(parts), path, file_sha256(path), about.st_mtime)


def _may_be_notebook(name):
    return PurePosixPath(name).suffix.lower() in ("", ".json", ".ipynb") or ".ipynb" in name.lower()


def _holds_notebook(path):
    with open(path, "rb") as file:
        return _begins_notebook(file.read(2**18))


def _begins_notebook(data):
    """Whether these first bytes look like a notebook's. They are untrusted, and so not parsed here."""
    first = FIRST_KEY.match(data)
    return bool(first) and (bool(first[1]) or b'"cell_type"' in data or b'"nbformat"' in data)


def _only_copies(folder, outer=None):
    problem = f"there are only Jupyter's own copies, in {COPIES}; the notebook itself is missing"
    return _refused((*folder, COPIES), problem, outer)


def _refused(parts, problem, outer=None):
    return Found(parts, outer or len(parts), None, problem=problem)


class _Packed(io.BufferedReader):
    """An archive's bytes. Its directory is read at once; one that is too long is refused.

    fault: the error that `zipfile` hides.
    """

    def __init__(self, path, most):
        super().__init__(io.FileIO(path))
        self.most, self.fault = most, None

    def read(self, size=-1):
        if size is not None and size > self.most:
            raise zipfile.BadZipFile("its directory is too long")
        try:
            return super().read(size)
        except OSError as error:
            self.fault = error
            raise


@contextmanager
def _open_zip(path, members):
    """An archive with at most this many members. Raises BadZipFile."""
    with _Packed(path, max(members * 256, 2**21)) as packed:
        try:
            packed.read(1)
            archive = zipfile.ZipFile(packed)
            number = sum(not {*member.filename.split("/")} & {*IGNORED} for member in archive.infolist())
            if number > members:
                raise zipfile.BadZipFile(f"it has {number} members, and at most {members} are allowed")
            yield archive
        except Exception as error:
            raise packed.fault or error from None


def _parts(member):
    """A member's path as names of folders and a file, without parts that lead out of the archive."""
    name = member.filename
    if not member.flag_bits & 0x800:  # declared to be in the old encoding; macOS writes UTF-8 anyway
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "..", "."))


def _in_archive(path, folder, label, whole=False):
    """Unpack the files of an archive under numbered names.

    whole: it is the class's archive, not one learner's; zips inside it are opened too.
    """
    unpacking = _Unpacking(Path(folder), label, whole)
    try:
        with _open_zip(path, MOST_MEMBERS if whole else MOST_MEMBERS_OF_ONE) as archive:
            # a lesson's own name first, since only so many notebooks of one learner are read
            for member in sorted(archive.infolist(), key=lambda one: not notebooks_named_in(one.filename)):
                if member.flag_bits & ENCRYPTED:
                    raise zipfile.BadZipFile("it needs a password")
                yield from unpacking.member(archive, member)
        yield from unpacking.not_unpacked()
    except Exception as error:  # each compression method has its own errors
        was_writing = unpacking.discard_unfinished()
        if isinstance(error, MachineFault):
            raise
        if isinstance(error, OSError) and error.errno not in DAMAGED:
            if was_writing:
                what = f"Cannot unpack {for_messages('/'.join(label) or path, 300)} into {folder}"
            else:
                what = f"Cannot read {for_messages(path, 300)}"
            raise _machine_fault(what, error) from None
        problem = for_messages(str(error) or type(error).__name__, 300)
        if whole:
            raise HandInError(
                f"The archive {for_messages(path, 300)} cannot be unpacked ({problem.rstrip('.')}); download it again."
            ) from None
        yield _refused(label, f"the archive cannot be unpacked: {problem}")


class _Unpacking:
    """The members of one archive that have been seen, and what may still be unpacked. See `_in_archive`."""

    def __init__(self, folder, label, whole):
        self.folder, self.label, self.whole = folder, label, whole
        self.outer = None if whole else len(label) or None
        self.bytes_left = LARGEST_ARCHIVE if whole else LARGEST_OF_ONE
        self.notebooks = self.looked_into = 0
        self.times, self.hidden = Counter(), Counter()  # by path
        self.refused, self.unfinished = [], None
        self.folders, self.copies = set(), set()  # those that hold anything else, and those that hold Jupyter's copies

    def member(self, archive, member):
        """Yield what a member is; a notebook is unpacked, a zip in the class's archive too."""
        inner = _parts(member)
        if not member.is_dir() and COPIES in inner:
            self.copies.add((*self.label, *inner[: inner.index(COPIES)]))
        if member.is_dir() or not inner or set(inner) & set(IGNORED):
            return
        self.folders |= {(*self.label, *inner[:place]) for place in range(1, len(inner))}
        parts, name = (*self.label, *inner), inner[-1]
        is_zip, dotted = bool(ZIP.search(name)), [place for place, part in enumerate(inner, 1) if part.startswith(".")]
        if dotted:
            self.hidden[parts[: len(self.label) + dotted[0]]] += _is_hidden_notebook(name)
        elif stat.S_ISLNK(member.external_attr >> 16):
            yield _refused(parts, "it is a link, which is not followed", self.outer)
        elif is_zip and not self.whole or not is_zip and not self._holds_notebook(archive, member, name):
            yield Found(parts, self.outer or len(parts), None, nested=is_zip)
        elif self._may_unpack(member, parts, inner, is_zip):
            digest = self._unpack(archive, member, ".zip" if is_zip else ".ipynb")
            target = self.unfinished
            if is_zip:
                yield from _in_archive(target, self.folder, (*parts[:-1], ZIP.sub("", name)))
                target.unlink()
            else:
                self.bytes_left -= member.file_size
                yield Found(parts, self.outer or len(parts), target, digest, _seconds(member.date_time))
            self.unfinished = None

    def _holds_notebook(self, archive, member, name):
        if not _may_be_notebook(name) or name.lower().endswith(".ipynb"):
            return _may_be_notebook(name)
        self.looked_into += 1
        with archive.open(member) as packed:
            return (self.whole or self.looked_into <= MOST_OF_ONE) and _begins_notebook(packed.read(2**18))

    def _may_unpack(self, member, parts, inner, is_zip):
        """Whether a member is within the limits; else it is refused."""
        self.times[inner] += 1
        self.notebooks += not is_zip
        most = min(LARGEST_OF_ONE if is_zip else LARGEST, self.bytes_left)
        if member.file_size <= most and (self.times[inner] if self.whole else self.notebooks) <= MOST_OF_ONE:
            return True
        problem = (
            f"it unpacks to more than {most // 2**20} MB; hand it in without its outputs"
            if member.file_size > most
            else f"it is one of more than {MOST_OF_ONE} notebooks; hand in only the lesson's"
        )
        self.refused.append(_refused(parts, problem, self.outer))
        return False

    def _unpack(self, archive, member, suffix):
        """Write a member to a numbered file, `unfinished`. Returns its SHA-256."""
        self.unfinished = self.folder / f"{next(NUMBERS):06d}{suffix}"
        digest, size = hashlib.sha256(), member.file_size
        with archive.open(member) as packed, open(self.unfinished, "wb") as unpacked:
            # so that an archive with false sizes does no harm
            while size and (data := packed.read(min(size, 2**20))):
                size -= len(data)
                digest.update(data)
                unpacked.write(data)
        return digest.hexdigest()

    def not_unpacked(self):
        """Yield what was refused or hidden, in short."""
        yield from self.refused[:MOST_TOLD]
        if len(self.refused) > MOST_TOLD:
            problem = (
                f"it is one of {len(self.refused)} files that are too large or too many to read, of which {MOST_TOLD} "
                "are listed"
            )
            yield _refused(self.refused[-1].parts, problem, self.outer)
        for parts, number in self.hidden.items():
            yield from _hidden(parts, number)
        for folder in sorted(self.copies - self.folders):
            yield _only_copies(folder, self.outer)

    def discard_unfinished(self):
        """Delete the file that was being written. Returns whether there was one."""
        if self.unfinished is None:
            return False
        with suppress(OSError):
            self.unfinished.unlink(missing_ok=True)
        return True


NUMBERS = itertools.count()
DAMAGED = (None, errno.EINVAL)  # the errno values of a damaged archive


def _seconds(date):
    """A zip member's date as a file timestamp."""
    try:
        return time.mktime((*date, 0, 0, -1))
    except (OverflowError, ValueError):
        return 0.0
