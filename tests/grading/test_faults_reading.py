"""Faults while hand-ins are read.

Faults of the machine or of the instructor's input end in one sentence; a damaged file affects only
its learner.
"""

import contextlib
import json
import os
import re
import struct
import zipfile
from pathlib import Path

import pytest

from course_utils.tools.grading import submissions
from course_utils.tools.grading.results import GradeError
from course_utils.tools.grading.rosters import read_roster
from course_utils.tools.grading.submissions import gather

from ..grader import ROOT, course, skip_unless_isolated
from ..hand_ins import NOTEBOOK

# A program that gathers hand-ins and prints their problems, or the fault that stopped it. It runs
# in a process of its own, whose limits, mounts, rights and locale differ. Arguments: a class, a
# folder for unpacking, and how many files it may have open at once ("": as many as usual).
GATHER = """
import json, os, resource, sys
from course_utils.tools.grading.results import GradeError
from course_utils.tools.grading.submissions import gather
source, folder, most_open = sys.argv[1:]
if most_open:
    # beside those that are open already; to be listed, this folder is open itself
    already_open = len(os.listdir("/proc/self/fd")) - 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (already_open + int(most_open),) * 2)
try:
    print(json.dumps({hand_in.learner: hand_in.problem for hand_in in gather(source, folder)}))
except GradeError as error:
    print(json.dumps(str(error)))
"""

# a prefix of commands: root without its right to read all files
ORDINARY = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.fixture
def place(tmp_path):
    """A folder with two others: `class`, where ada hands in a notebook and bob a zip, and
    `unpacked`, an empty one for unpacking.
    """
    (tmp_path / "unpacked").mkdir()
    for learner in ("ada", "bob"):
        (tmp_path / "class" / learner).mkdir(parents=True)
    (tmp_path / "class" / "ada" / "04_pooling.ipynb").write_text(NOTEBOOK)
    with zipfile.ZipFile(tmp_path / "class" / "bob" / "work.zip", "w") as archive:
        # unpacked, it is larger than the small disk and the largest file allowed below
        archive.writestr("04_pooling.ipynb", NOTEBOOK + " " * 300_000)
    return tmp_path


# What is wrong with each learner's hand-in, or "", by learner.
def problems(place, source="class"):
    hand_ins = gather(place / source, place / "unpacked")
    return {hand_in.learner: hand_in.problem for hand_in in hand_ins}


# Gather in a separate process, and return it when it has finished. most_open: see GATHER. options:
# further arguments of `course`.
def gather_apart(place, most_open="", **options):
    return course(place / "class", place / "unpacked", most_open, program=["-c", GATHER], **options)


# Gathering must end with a fault of the machine: a sentence with these words, a regular expression.
# prefix: words of a command that runs the process.
def assert_fault(place, words, prefix=(), most_open=""):
    done = gather_apart(place, most_open, before=list(prefix))
    assert done.stdout, done.stderr
    sentence = json.loads(done.stdout)
    assert re.search(f"{words}.*, and run the command again\\.$", sentence), sentence
    assert "\n" not in sentence


# ---------------------------------------------------------------- the machine

BIND = ("bwrap", "--dev-bind", "/", "/")
CANNOT_READ = "Cannot .*Permission denied; give yourself permission"


# {} in a prefix: the folder of the fixture `place`. /proc/self/mem: reading it from its start is
# an error.
@pytest.mark.parametrize(
    "prefix, words",
    [
        (
            (*BIND, "--size", "65536", "--tmpfs", "{}/unpacked"),
            r"Cannot unpack .*bob.* No space left on device; .*larger disk",
        ),
        (
            (*BIND, "--ro-bind", "{}/unpacked", "{}/unpacked"),
            "Read-only file system; choose a results folder that can be written to",
        ),
        (("prlimit", "--fsize=65536"), "File too large"),
        (
            (*BIND, "--bind", "/proc/self/mem", "{}/class/ada/04_pooling.ipynb"),
            "Input/output error; check the disk",
        ),
        (
            (*BIND, "--bind", "/proc/self/mem", "{}/class/bob/work.zip"),
            "Input/output error; check the disk",
        ),
    ],
    ids=["full", "read-only", "small files", "damaged notebook", "damaged zip"],
)
def test_a_fault_of_the_disk_stops_the_run(place, prefix, words):
    if prefix[0] == "bwrap":
        skip_unless_isolated()
    assert_fault(place, words, prefix=[part.format(place) for part in prefix])


@pytest.mark.parametrize(
    "name, mode, words",
    [
        ("class/ada/04_pooling.ipynb", 0o000, CANNOT_READ),
        ("class/ada", 0o000, CANNOT_READ),
        ("class/bob/work.zip", 0o000, CANNOT_READ),
        ("class", 0o000, CANNOT_READ),
        ("unpacked", 0o555, "Cannot unpack .*Permission denied"),
    ],
)
def test_a_file_that_may_not_be_read_or_written_stops_the_run(place, name, mode, words):
    (place / name).chmod(mode)
    try:
        assert_fault(place, words, prefix=ORDINARY)
    finally:
        (place / name).chmod(0o755)


@pytest.mark.parametrize("most_open", [0, 1])
def test_too_many_open_files_stop_the_run(place, most_open):
    """If no file may be opened, listing the folder fails; if one may, unpacking the zip, for which
    two are needed, fails.
    """
    assert_fault(place, "Too many open files; raise `ulimit -n`", most_open=most_open)


@pytest.mark.parametrize("name", ["ada/04_pooling.ipynb", "ada", "bob/work.zip"])
def test_a_file_that_vanishes_while_it_is_read_stops_the_run(place, monkeypatch, name):
    listed = submissions._listed  # the only step between listing a folder and reading its files

    def listed_and_lost(folder):
        names = listed(folder)
        if folder == (place / "class" / name).parent:
            (place / "class" / name).rename(place / "gone")
        return names

    monkeypatch.setattr(submissions, "_listed", listed_and_lost)
    with pytest.raises(
        GradeError, match="No such file or directory; do not change the submissions"
    ):
        gather(place / "class", place / "unpacked")


# ---------------------------------------------------------------- what the instructor gives


# Overwrite the bytes at each of these offsets with `value`; returns the same data.
def overwritten(data, value, *offsets):
    for offset in offsets:
        data[offset : offset + len(value)] = value
    return data


def misnamed(data, central):
    overwritten(data, b"\x08", 7, central + 9)  # a flag: the name is in UTF-8
    return overwritten(data, b"\xff", 30, central + 46)  # the name's first letter


# What becomes of a zip's bytes: functions of the bytes, which they may change, and of `central`,
# the offset of the zip's directory. The header of the only member is at 0, and the directory
# repeats its fields: hence two offsets of one field. They are those of the ZIP specification
# (APPNOTE.TXT, 4.3.7, 4.3.12 and 4.3.16).
DAMAGE = {
    # bit 0 of the flags
    "encrypted": lambda data, central: overwritten(data, b"\1", 6, central + 8),
    # the method; 99 is none that zipfile knows
    "an unknown way of packing": lambda data, central: overwritten(
        data, struct.pack("<H", 99), 8, central + 10
    ),
    "a name in no encoding": misnamed,
    # the size when unpacked
    "larger than it says": lambda data, central: overwritten(
        data, struct.pack("<I", 10), central + 24
    ),
    # where the end record says that the directory begins
    "a directory elsewhere": lambda data, central: overwritten(
        data, struct.pack("<I", 2**31), len(data) - 6
    ),
    # where the directory says that the header begins
    "a member elsewhere": lambda data, central: overwritten(
        data, struct.pack("<I", 2**31), central + 42
    ),
    # packed data, which begins at 46: behind the header of 30 bytes, and the name of 16
    "other bytes": lambda data, _: overwritten(data, bytes(30), 60),
    "truncated": lambda data, _: data[: len(data) // 2],
    "empty": lambda data, _: b"",
    "text": lambda data, _: b"404 not found",
}


@pytest.fixture(params=[zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def damaged_zip(place, kind, request):
    """The bytes of a damaged zip, packed in each way in turn. kind: of DAMAGE, as the test says."""
    with zipfile.ZipFile(place / "sound.zip", "w", request.param) as archive:
        # digits, so that even packed they are far more than the bytes that are damaged
        archive.writestr("04_pooling.ipynb", NOTEBOOK + "".join(map(str, range(5000))))
    data = bytearray((place / "sound.zip").read_bytes())
    return DAMAGE[kind](data, data.index(b"PK\1\2"))  # the signature of the directory


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_zip_is_its_learners_problem(place, kind, damaged_zip):
    (place / "class" / "bob" / "work.zip").write_bytes(damaged_zip)
    problem_of = problems(place)
    assert problem_of["ada"] == ""
    assert "cannot be unpacked" in problem_of["bob"]
    assert "ZipInfo" not in problem_of["bob"], "a name of Python's"
    assert ("a password" in problem_of["bob"]) == (kind == "encrypted")
    assert not list((place / "unpacked").iterdir())


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_zip_of_the_class_stops_the_run(place, kind, damaged_zip):
    (place / "class.zip").write_bytes(damaged_zip)
    with pytest.raises(
        GradeError,
        match=r"The archive \S+class.zip cannot be unpacked \(.*\); download it again\.$",
    ):
        gather(place / "class.zip", place / "unpacked")


# a function that makes a path a link to this
def link(target):
    return lambda path: path.symlink_to(target)


# a function that makes a path a file with this text
def holding(text, encoding="utf-8"):
    return lambda path: path.write_bytes(text.encode(encoding))


@pytest.mark.parametrize(
    "make, words",
    [
        (os.mkfifo, "a device or a pipe"),
        (link("/dev/zero"), "a device or a pipe"),
        (link("source"), "Too many levels of symbolic links"),  # to itself
        (lambda path: None, "There is no"),  # nothing is made
        (link("nowhere"), "There is no"),
        (link("/dev/null/x"), "There is no"),  # inside what is no folder
        (holding("\x89PNG", "latin-1"), "neither a folder"),  # a picture
        (holding("x"), "neither a folder"),
        (Path.mkdir, "no hand-ins"),
    ],
)
def test_a_source_that_is_no_folder_of_hand_ins_stops_the_run(place, make, words):
    make(place / "source")
    with pytest.raises(GradeError, match=words):
        gather(place / "source", place / "unpacked")


def test_names_in_another_encoding_are_read_and_can_be_written_in_utf8(place):
    learner = Path(os.fsdecode(os.fsencode(place / "class") + b"/Zo\xeb"))
    learner.mkdir()
    (learner / os.fsdecode(b"x\xe9.ipynb")).write_text(NOTEBOOK)
    (hand_in,) = [
        hand_in
        for hand_in in gather(place / "class", place / "unpacked")
        if hand_in.learner.startswith("Zo")
    ]
    assert hand_in.path.read_text() == NOTEBOOK
    assert hand_in.learner.startswith("Zo\ufffd~")
    # raises UnicodeEncodeError for what UTF-8 cannot hold
    (hand_in.learner + hand_in.file).encode()


# Make folders in one another, and a notebook in the innermost: step by step, since the whole path
# is too long for the system.
def make_folders(place, names):
    with contextlib.chdir(place):
        for name in names:
            os.mkdir(name)
            os.chdir(name)
        Path("04_pooling.ipynb").touch()


# Of folders of this name that are in one another, leave one: the innermost takes the place of all.
def flatten(folder, name):
    while (folder / name / name).exists():
        (folder / name / name).rename(folder / "inner")
        (folder / name).rmdir()
        (folder / "inner").rename(folder / name)


# far deeper than the 50 levels that are searched; a path far longer than the 4,096 bytes that Linux
# allows
@pytest.mark.parametrize("name, levels", [("d", 1500), ("d" * 200, 60)], ids=["deep", "long"])
# a hidden folder is not searched, so there is no problem to report
@pytest.mark.parametrize(
    "outer, words",
    [("eve", "within 50 others|too long to be read"), ("eve/.hidden", "^$")],
    ids=["eve", "hidden"],
)
def test_folders_in_one_another_are_one_learners_problem(place, name, levels, outer, words):
    make_folders(place / "class", [*outer.split("/"), *[name] * levels])
    try:
        problem_of = problems(place)
    finally:  # too deep for pytest, which would fail when it clears its folders
        flatten(place / "class" / outer, name)
    assert problem_of["ada"] == ""
    assert problem_of["bob"] == ""
    assert re.search(words, problem_of.get("eve", ""))


@pytest.mark.parametrize(
    "locale",
    [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {}],
    ids=["C", "this one"],
)
def test_names_are_read_as_utf8_whatever_the_locale_says(place, locale):
    for name in ("Ömer", "王"):
        (place / "class" / name).mkdir()
        (place / "class" / name / "04_pooling.ipynb").write_text(NOTEBOOK)
    done = gather_apart(place, env={**os.environ, "PYTHONPATH": str(ROOT), **locale})
    assert sorted(json.loads(done.stdout)) == ["ada", "bob", "Ömer", "王"], done.stderr


def test_odd_but_sound_archives_are_read(place):
    """A member of the kind for large files, a date that never was, and a name in UTF-8 without its
    flag.
    """
    path = place / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        with archive.open("ada/04_pooling.ipynb", "w", force_zip64=True) as member:
            member.write(NOTEBOOK.encode())
        # month and day 0, and the most that the bits of hour, minute and second hold
        archive.writestr(
            zipfile.ZipInfo("bob/04_pooling.ipynb", (1980, 0, 0, 31, 63, 62)), NOTEBOOK
        )
        archive.writestr("Zo__/04_pooling.ipynb", NOTEBOOK)
    path.write_bytes(path.read_bytes().replace(b"Zo__", "Zoë".encode()))
    assert problems(place, "class.zip") == {"Zoë": "", "ada": "", "bob": ""}


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda path: None, "No such file"),  # nothing is made
        (Path.mkdir, "Is a directory"),
        (link("roster.csv"), "Too many levels"),  # to itself
        (link("/dev/null"), "a pipe or a device"),
        (holding(""), "has no learners"),
        (holding("id,name\n"), "has no learners"),
        (link("/proc/self/mem"), "Input/output error"),  # as of a damaged disk
        (holding("id,name\nada,Ada\n", "utf-16"), "not in UTF-8; save it"),
        (holding("id\n\xff", "latin-1"), "not in UTF-8; save it"),
        (holding("colour\nblue\n"), "has no id and no email in line 2"),
        (holding('id,name\nada,"Ada\nbob,Bob\n'), "line 2: a quotation mark is never closed"),
        (holding("PK\3\4\x14\0\6\0\x9c", "latin-1"), "not in UTF-8; save it"),  # a spreadsheet file
        # line numbers count all lines of the file: below Excel's line about the separator, below a
        # title, and with another separator
        (holding("id\nada\nada\n"), r"'ada' twice \(again in line 3\)"),
        (holding("sep=,\nid\nada\nada\n"), r"'ada' twice \(again in line 4\)"),
        (holding("Report\nof 2026\nid\nada\nada\n"), r"'ada' twice \(again in line 5\)"),
        (holding("id;name\nada;Bob\nada;Bob\n"), r"'ada' twice \(again in line 3\)"),
    ],
)
def test_a_roster_that_cannot_be_used_stops_the_run(place, make, words):
    make(place / "roster.csv")
    with pytest.raises(GradeError, match=f"roster.csv.*{words}"):
        read_roster(place / "roster.csv")
