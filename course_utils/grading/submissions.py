"""Hand-ins as a learning platform gives them: which file is whose. Nothing is opened but archives and the roster.

No name from an archive is ever used as a path, links are not followed, and what unpacks to more than a limit is refused.
"""

import csv
import hashlib
import io
import itertools
import os
import re
import shutil
import stat
import time
import unicodedata
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ..exercises.framework import NOTEBOOKS
from .copies import GLOSSARY

LARGEST = 256 * 2**20  # bytes of one notebook
LARGEST_ARCHIVE = 16 * 2**30  # bytes of all notebooks of one archive
LARGEST_OF_ONE = 512 * 2**20  # bytes of all notebooks of an archive that one learner handed in
MOST_OF_ONE = 100  # notebooks in it
MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_.+")
CANVAS = re.compile(r"(?P<name>[^_/]+)(_LATE)?_(?P<id>\d+)_\d+_.+")
LESSON_LIKE = re.compile(r"(lesson|week|assignment|ps|hw)[-_ ]?\d+.*|\d\d(_.*)?", re.IGNORECASE)
IGNORED = (".ipynb_checkpoints", "__MACOSX", "yours_saved")  # the last: what a learner had before a reset (copies.SAVED)
KEYS = {"id": ("learner", "id", "username", "login", "identifier", "idnumber", "studentid", "sisloginid"), "name": ("name", "fullname", "student"),
        "email": ("email", "emailaddress", "mail"), "first": ("firstname", "givenname"), "last": ("lastname", "surname", "familyname")}


class HandInError(ValueError):
    """The submissions or the roster cannot be used. One sentence says why."""


@dataclass(frozen=True)
class HandIn:
    """One file: `path` holds its bytes, `file` is what it was called, `problem` says why it cannot be read, or nothing.

    platform: the learner's number there, such as "moodle 4711".
    """

    learner: str
    name: str
    file: str
    path: Path | None
    sha256: str = ""
    modified: float = 0.0
    problem: str = ""
    platform: str = ""


@dataclass(frozen=True)
class Learner:
    """A line of the roster."""

    learner: str
    name: str = ""
    email: str = ""


def read_roster(path):
    """The learners of a CSV file. Of its columns count an id (or username, learner, ...), a name (or first and last name), an email.

    Raises HandInError if there is neither an id nor an email, or one stands there twice.
    """
    try:
        rows = read_table(path)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise HandInError(f"The roster {path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    learners = {}
    for number, row in enumerate(rows, 2):
        cells = {alike(key): (value or "").strip() for key, value in row.items() if isinstance(key, str) and isinstance(value, (str, type(None)))}
        found = {what: next((cells[key] for key in keys if cells.get(key)), "") for what, keys in KEYS.items()}
        key = found["id"] or found["email"]
        if not key and not any(cells.values()):
            continue
        if not key:
            raise HandInError(f"The roster {path} has no id and no email in line {number}; name the columns id, name, email.")
        if shown(key) in learners:
            raise HandInError(f"The roster {path} has {key!r} twice (again in line {number}).")
        learners[shown(key)] = Learner(shown(key), shown(found["name"] or f"{found['first']} {found['last']}".strip()), shown(found["email"]))
    if not learners:
        raise HandInError(f"The roster {path} has no learners.")
    return learners


def read_table(path):
    """The rows of a CSV file in UTF-8, separated by commas or, as spreadsheets write it in much of Europe, by semicolons."""
    text = Path(path).read_text(encoding="utf-8-sig")
    first = text.partition("\n")[0]
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=";" if first.count(";") > first.count(",") else ","))


def alike(text):
    """A text without what differs between spellings of one name: case, accents, spaces, punctuation."""
    text = unicodedata.normalize("NFKD", str(text)).casefold()
    return "".join(letter for letter in text if letter.isalnum())


def shown(text, most=120):
    """A text from a stranger, fit to be shown: no control characters, no change of writing direction, not too long."""
    text = "".join(letter if unicodedata.category(letter)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for letter in str(text))
    return text.strip()[:most]


def gather(source, folder, roster=None, skip=()):
    """The hand-ins in a folder, a zip, or one notebook, in order of learner and file.

    folder: an empty one, for what archives hold. roster: see `read_roster`. skip: folders that hold none, such as that of
    the results. Raises HandInError if there is nothing.
    """
    source, folder, skip = Path(source), Path(folder), {Path(path).resolve() for path in skip}
    if not source.exists():
        raise HandInError(f"There is no {source}.")
    if source.is_dir():
        found = list(_in_folder(source, folder, skip))
    elif zipfile.is_zipfile(source):
        found = list(_in_archive(source, folder, PurePosixPath(), whole=True))
    elif source.suffix == ".ipynb":
        found = [_in_place(source, PurePosixPath(source.name))]
    else:
        raise HandInError(f"{source} is neither a folder, nor a zip, nor a notebook.")
    found = [one for one in found if PurePosixPath(one.file).name.lower() != GLOSSARY]  # it comes along with a whole workspace
    if not found:
        raise HandInError(f"There are no hand-ins in {source}.")
    named = list(_named(found, source.resolve().stem, roster or {}))
    have = {one.learner for one, raw in named if _is_notebook(raw)}
    kept = [one if _is_notebook(raw) else replace(one, path=None, problem=f"{PurePosixPath(one.file).name} is no notebook")
            for one, raw in named if _is_notebook(raw) or one.learner not in have and "/" in raw.file]
    kept.sort(key=lambda one: (one.learner, one.file, one.sha256))
    seen = set()
    for place, one in enumerate(kept):  # two archives may hold files of one name
        names = (one.file if number == 1 else f"{one.file} ({number})" for number in itertools.count(1))
        kept[place] = replace(one, file=next(name for name in names if (one.learner, name) not in seen))
        seen.add((one.learner, kept[place].file))
    return kept


def _is_notebook(one):
    return PurePosixPath(one.file).suffix.lower() == ".ipynb" or bool(one.problem and not one.path)


def _in_folder(source, folder, skip):
    for here, folders, files in os.walk(source):
        folders[:] = sorted(name for name in folders if name not in IGNORED and not name.startswith(".") and (Path(here) / name).resolve() not in skip)
        for name in [*(name for name in folders if (Path(here) / name).is_symlink()), *sorted(files)]:
            path = Path(here) / name
            label = PurePosixPath(path.relative_to(source).as_posix())
            if name.startswith("."):
                continue
            if not stat.S_ISREG(path.lstat().st_mode):
                yield _refused(label, "it is a link or a device, which is not followed")
            elif path.suffix.lower() == ".zip" and zipfile.is_zipfile(path):
                yield from _in_archive(path, folder, label.with_suffix(""))
            else:
                yield _in_place(path, label)


def _in_place(path, label):
    about = path.lstat()
    if about.st_size > LARGEST:
        return _refused(label, f"it is larger than {LARGEST // 2**20} MB")
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return _refused(label, f"it cannot be read: {error.strerror}")
    return HandIn("", "", str(label), path, digest, about.st_mtime)


def _refused(label, problem):
    return HandIn("", "", str(label), None, problem=problem)


def _in_archive(path, folder, label, whole=False):
    """Unpack the files of an archive under numbers of our own. whole: it is the class's, not one learner's."""
    left, notebooks, target = LARGEST_ARCHIVE if whole else LARGEST_OF_ONE, 0, None
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                name = PurePosixPath(*(part for part in PurePosixPath(member.filename.replace("\\", "/")).parts if part not in ("/", "..", ".")))
                if member.is_dir() or not name.name or name.name.startswith(".") or set(name.parts) & set(IGNORED):
                    continue
                if stat.S_ISLNK(member.external_attr >> 16):
                    yield _refused(label / name, "it is a link, which is not followed")
                    continue
                if name.suffix.lower() != ".ipynb":
                    yield HandIn("", "", str(label / name), None)
                    continue
                notebooks += 1
                if member.file_size > min(LARGEST, left) or notebooks > MOST_OF_ONE and not whole:
                    yield _refused(label / name, f"it unpacks to more than {min(LARGEST, left) // 2**20} MB, or is one of too many")
                    continue
                target = Path(folder) / f"{next(NUMBERS):06d}.ipynb"
                with archive.open(member) as packed, open(target, "wb") as unpacked:
                    shutil.copyfileobj(_Bounded(packed, member.file_size), unpacked, 2**20)
                left -= member.file_size
                one = _in_place(target, label / name)
                target = None
                yield replace(one, modified=_seconds(member.date_time))
    except Exception as error:  # each way of packing has errors of its own
        if target is not None:
            target.unlink(missing_ok=True)
        if whole:
            raise HandInError(f"The archive {path} cannot be unpacked: {error}.") from None
        yield _refused(label, f"the archive cannot be unpacked: {error}")


NUMBERS = itertools.count()


def _seconds(date):
    """A zip's date, on the clock of files."""
    try:
        return time.mktime((*date, 0, 0, -1))
    except (OverflowError, ValueError):
        return 0.0


class _Bounded:
    """A file that ends where its archive says, so that an archive that lies about sizes does no harm."""

    def __init__(self, file, left):
        self.file, self.left = file, left

    def read(self, size):
        data = self.file.read(min(size, self.left))
        self.left -= len(data)
        return data


def _named(found, root, roster):
    """Pairs of the hand-in with its learner, and the hand-in as found."""
    spellings = _spellings(roster)
    notebooks = sum(map(_is_notebook, found))
    folders = [PurePosixPath(one.file).parent.parts for one in found if _is_notebook(one) or "/" in one.file]  # a roster beside them is no hand-in
    common = os.path.commonprefix(folders) if folders else ()
    for one in found:
        parts = PurePosixPath(one.file).parts
        entry, is_file = _entry(parts, len(os.path.commonprefix([parts[:-1], common])), root, notebooks == 1)
        moodle, canvas = MOODLE.fullmatch(entry), CANVAS.fullmatch(entry)
        match = moodle or canvas
        own = own_part(PurePosixPath(entry).stem) if is_file else entry
        learner, name = (match["id"], match["name"].replace("_", " ")) if match else (own or root, "")
        hints = [name, learner, entry, own, *(re.split(r"[\s_]+", own) if is_file and not match else [])]
        person = next((spellings[alike(hint)] for hint in hints if alike(hint) in spellings), None)
        if person is not None:
            learner, name = person.learner, person.name or name
        platform = f"{'moodle' if moodle else 'canvas'} {match['id']}" if match else ""
        yield replace(one, learner=shown(learner) or "nameless", name=shown(name), file=shown(one.file, 300), platform=platform), one


def _entry(parts, common, root, alone):
    """The part of a path that says whose it is, and whether that is the file itself.

    It is the outermost below what all paths share, since what lies within a learner's folder the learner chose. alone: it is the only
    notebook, so that the paths share all of it.
    """
    below = [part for part in parts[common:-1] if not LESSON_LIKE.fullmatch(part)]
    if below:
        return below[0], False
    shared = [part for part in parts[:common] if not LESSON_LIKE.fullmatch(part)]
    if own_part(PurePosixPath(parts[-1]).stem) and not (shared and (alone or MOODLE.fullmatch(shared[-1]))):
        return parts[-1], True
    return (shared[-1] if shared else root), False


def _spellings(roster):
    """What means whom: ids before e-mails before names, and nothing that two could claim."""
    def forms(person):
        words = person.name.replace(",", " ").split()
        return ([person.learner], [person.email, person.email.partition("@")[0]], ["".join(words[n:] + words[:n]) for n in range(len(words))])

    spellings = {}
    for rank in range(3):
        claims = {}
        for person in roster.values():
            for text in filter(None, map(alike, forms(person)[rank])):
                claims.setdefault(text, {})[person.learner] = person
        for text, persons in claims.items():
            if len(persons) == 1:
                spellings.setdefault(text, *persons.values())
    return spellings


def own_part(stem, folder=NOTEBOOKS):
    """What a learner added to a lesson's file name: "ada" of "04_pooling-ada (2)"."""
    for lesson in (path.stem for path in Path(folder).glob("[0-9]*.ipynb")):
        stem = stem.replace(lesson, " ")
    stem = re.sub(r"\(\d+\)|[-_ ]copy\d*\b", " ", stem, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", stem).strip(" _-.")
