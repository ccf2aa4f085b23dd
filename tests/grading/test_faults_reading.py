"""Faults while hand-ins are read.

Faults of the machine or of the instructor's input end in one sentence; a damaged file affects only its learner.
"""

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

from ..grader import ROOT, course, isolation
from ..hand_ins import NOTEBOOK

# a program that gathers hand-ins and prints their problems, or the fault that stopped it; with so
# many file descriptors left, if the number is not 0
GATHER = """
import json, os, resource, sys
from course_utils.tools.grading.store import GradeError
from course_utils.tools.grading.submissions import gather
source, folder, descriptors = sys.argv[1:]
if int(descriptors):
    # listing this folder needs one itself
    used = len(os.listdir("/proc/self/fd")) - 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + int(descriptors) - 1,) * 2)
try:
    print(json.dumps({hand_in.learner: hand_in.problem for hand_in in gather(source, folder)}))
except GradeError as error:
    print(json.dumps(str(error)))
"""

# a prefix of commands: root without its right to read all files
ORDINARY = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.fixture
def place(tmp_path):
    """A folder with a class, of ada, who hands in a notebook, and bob, who hands in a zip; and one for unpacking."""
    (tmp_path / "unpacked").mkdir()
    for learner in ("ada", "bob"):
        (tmp_path / "class" / learner).mkdir(parents=True)
    (tmp_path / "class" / "ada" / "04_pooling.ipynb").write_text(NOTEBOOK)
    with zipfile.ZipFile(tmp_path / "class" / "bob" / "work.zip", "w") as archive:
        # more than the small disks and the limit of files below have room for
        archive.writestr("04_pooling.ipynb", NOTEBOOK + " " * 300_000)
    return tmp_path


# What is wrong with each learner's hand-in, or "", by learner.
def problems(place, source="class"):
    hand_ins = gather(place / source, place / "unpacked")
    return {hand_in.learner: hand_in.problem for hand_in in hand_ins}


# Gather in a separate process.
def gather_apart(place, descriptors=0, **how):
    folders = (place / "class", place / "unpacked")
    return course(*folders, descriptors, program=["-c", GATHER], **how)


# Gathering must end with a fault of the machine: a sentence with these words.
def assert_fault(place, words, prefix=(), descriptors=0):
    done = gather_apart(place, descriptors, before=list(prefix))
    assert done.stdout, done.stderr
    sentence = json.loads(done.stdout)
    assert re.search(f"{words}.*, and run the command again\\.$", sentence), sentence
    assert "\n" not in sentence


# ---------------------------------------------------------------- the machine

BIND = ("bwrap", "--dev-bind", "/", "/")
# seen from the class's folder
UNREADABLE = "ada/04_pooling.ipynb", "ada", "bob/work.zip", "../class"


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
        isolation()
    assert_fault(place, words, prefix=[part.format(place) for part in prefix])


@pytest.mark.parametrize(
    "name, mode, words",
    [
        *(
            (name, 0o000, "Cannot .*Permission denied; give yourself permission")
            for name in UNREADABLE
        ),
        ("../unpacked", 0o555, "Cannot unpack .*Permission denied"),
    ],
)
def test_a_file_that_may_not_be_read_or_written_stops_the_run(place, name, mode, words):
    (place / "class" / name).chmod(mode)
    try:
        assert_fault(place, words, prefix=ORDINARY)
    finally:
        (place / "class" / name).chmod(0o755)


@pytest.mark.parametrize("descriptors", [1, 2])
def test_too_many_open_files_stop_the_run(place, descriptors):
    """With one descriptor left, listing the folder or reading the notebook fails; with two, unpacking the zip fails."""
    assert_fault(place, "Too many open files; raise `ulimit -n`", descriptors=descriptors)


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


# Put these bytes at these places.
def put(data, value, *offsets):
    for offset in offsets:
        data[offset : offset + len(value)] = value


def replace(data, value):
    data[:] = value


def misname(data, central):
    put(data, b"\x08", 7, central + 9)  # a flag: the name is in UTF-8
    put(data, b"\xff", 30, central + 46)  # the name's first letter


# What is done to a zip's bytes. `central` is the offset of its directory, which repeats the fields of the member's
# header; their offsets are those of the ZIP specification (APPNOTE.TXT, 4.3.7, 4.3.12 and 4.3.16).
DAMAGE = {
    # bit 0 of the flags
    "encrypted": lambda data, central: put(data, b"\1", 6, central + 8),
    # the method; 99 is none that zipfile knows
    "an unknown way of packing": lambda data, central: put(
        data, struct.pack("<H", 99), 8, central + 10
    ),
    "a name in no encoding": misname,
    # the size when unpacked
    "larger than it says": lambda data, central: put(data, struct.pack("<I", 10), central + 24),
    # where the end record says that the directory begins
    "a directory elsewhere": lambda data, central: put(
        data, struct.pack("<I", 2**31), len(data) - 6
    ),
    # where the directory says that the header begins
    "a member elsewhere": lambda data, central: put(data, struct.pack("<I", 2**31), central + 42),
    # packed data
    "other bytes": lambda data, _: put(data, bytes(30), 60),
    "truncated": lambda data, _: replace(data, data[: len(data) // 2]),
    "empty": lambda data, _: data.clear(),
    "text": lambda data, _: replace(data, b"404 not found"),
}


@pytest.fixture(params=[zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def damaged_zip(place, kind, request):
    """The bytes of a zip, packed in this way, to which this damage was done."""
    with zipfile.ZipFile(place / "sound.zip", "w", request.param) as archive:
        archive.writestr("04_pooling.ipynb", NOTEBOOK + "".join(map(str, range(5000))))
    data = bytearray((place / "sound.zip").read_bytes())
    DAMAGE[kind](data, data.index(b"PK\1\2"))  # the signature of the directory
    return data


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
    words = r"The archive \S+class.zip cannot be unpacked \(.*\); download it again\.$"
    with pytest.raises(GradeError, match=words):
        gather(place / "class.zip", place / "unpacked")


# each returns a function that makes a path a link to this, or a file with this text
def link(target):
    return lambda path: path.symlink_to(target)


def holding(text, encoding="utf-8"):
    return lambda path: path.write_bytes(text.encode(encoding))


@pytest.mark.parametrize(
    "make, words",
    [
        *((make, "a device or a pipe") for make in (os.mkfifo, link("/dev/zero"))),
        (link("source"), "Too many levels of symbolic links"),
        *(
            (make, "There is no")
            for make in (lambda path: None, link("nowhere"), link("/dev/null/x"))
        ),
        *((holding(text, "latin-1"), "neither a folder") for text in ("\x89PNG", "x")),
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
    hand_ins = gather(place / "class", place / "unpacked")
    (hand_in,) = (each for each in hand_ins if each.learner.startswith("Zo"))
    assert hand_in.path.read_text() == NOTEBOOK
    assert hand_in.learner.startswith("Zo\ufffd~")
    # raises UnicodeEncodeError for what UTF-8 cannot hold
    (hand_in.learner + hand_in.file).encode()


# Make folders in one another, and a notebook in the innermost: step by step, since the whole path
# is too long for the system.
def make_folders(place, names):
    outer = os.open(place, os.O_RDONLY)
    for name in names:  # only the folder that the next one goes into stays open
        os.mkdir(name, dir_fd=outer)
        inner = os.open(name, os.O_RDONLY, dir_fd=outer)
        os.close(outer)
        outer = inner
    os.close(os.open("04_pooling.ipynb", os.O_CREAT, dir_fd=outer))
    os.close(outer)


# Of folders of this name that are in one another, leave one.
def flatten(folder, name):
    while (folder / name / name).exists():
        (folder / name / name).rename(folder / "inner")
        (folder / name).rmdir()
        (folder / "inner").rename(folder / name)


@pytest.mark.parametrize("name, levels", [("d", 1500), ("d" * 200, 60)], ids=["deep", "long"])
@pytest.mark.parametrize("outer", ["eve", "eve/.hidden"])
def test_folders_in_one_another_are_one_learners_problem(place, name, levels, outer):
    make_folders(place / "class", [*outer.split("/"), *[name] * levels])
    try:
        problem_of = problems(place)
    finally:  # too deep for pytest, which would fail when it clears its folders
        flatten(place / "class" / outer, name)
    assert problem_of["ada"] == ""
    assert problem_of["bob"] == ""
    # what is in a hidden folder is passed over without a word
    if outer == "eve":
        assert re.search("within 50 others|too long to be read", problem_of["eve"])


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
    """A member of the kind for large files, a date that never was, and a name in UTF-8 without its flag."""
    path = place / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        with archive.open("ada/04_pooling.ipynb", "w", force_zip64=True) as member:
            member.write(NOTEBOOK.encode())
        archive.writestr(
            zipfile.ZipInfo("bob/04_pooling.ipynb", (1980, 0, 0, 31, 63, 62)), NOTEBOOK
        )
        archive.writestr("Zo__/04_pooling.ipynb", NOTEBOOK)
    path.write_bytes(path.read_bytes().replace(b"Zo__", "Zoë".encode()))
    assert problems(place, "class.zip") == {"Zoë": "", "ada": "", "bob": ""}


# how the roster is made; words of the message
@pytest.mark.parametrize(
    "make, words",
    [
        (lambda path: None, "No such file"),
        (Path.mkdir, "Is a directory"),
        (link("roster.csv"), "Too many levels"),
        *(
            (make, "has no learners")
            for make in (link("/dev/null"), holding(""), holding("id,name\n"))
        ),
        (link("/proc/self/mem"), "Input/output error"),
        (holding("id,name\nada,Ada\n", "utf-16"), "not in UTF-8; save it"),
        (holding("id\n\xff", "latin-1"), "not in UTF-8; save it"),
        (holding("colour\nblue\n"), "has no id and no email in line 2"),
        (holding('id,name\nada,"Ada\nbob,Bob\n'), "line 2: a quotation mark is never closed"),
        (holding("PK\3\4\x14\0\6\0\x9c", "latin-1"), "not in UTF-8; save it"),  # a spreadsheet file
        *(
            (holding(f"{above}id\nada\nada\n"), rf"'ada' twice \(again in line {line}\)")
            for above, line in (("", 3), ("sep=,\n", 4), ("Report\nof 2026\n", 5))
        ),
        (holding("id;name\nada;Bob\nada;Bob\n"), r"'ada' twice \(again in line 3\)"),
    ],
)
def test_a_roster_that_cannot_be_used_stops_the_run(place, make, words):
    make(place / "roster.csv")
    with pytest.raises(GradeError, match=f"roster.csv.*{words}"):
        read_roster(place / "roster.csv")
