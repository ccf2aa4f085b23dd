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
from course_utils.tools.grading.handed_files import MachineFault
from course_utils.tools.grading.results import GradeError
from course_utils.tools.grading.rosters import read_roster
from course_utils.tools.grading.submissions import gather

from ..grader import ROOT, course, isolation

NOTEBOOK = '{"cells": [], "nbformat": 4}'
GATHER = """
import json, os, resource, sys
from course_utils.tools.grading.store import GradeError
from course_utils.tools.grading.submissions import gather
source, folder, descriptors = sys.argv[1:]
if int(descriptors):
    used = len(os.listdir("/proc/self/fd")) - 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + int(descriptors) - 1,) * 2)
try:
    print(json.dumps({one.learner: one.problem for one in gather(source, folder)}))
except GradeError as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""

# root without its right to read all files
ORDINARY = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.fixture(autouse=True)
def counted(record_property):
    record_property("hand-in", "fault")


@pytest.fixture
def place(tmp_path):
    """A class of ada, who hands in a notebook, and bob, who hands in a zip; and a folder for unpacking."""
    (tmp_path / "unpacked").mkdir()
    for learner in ("ada", "bob"):
        (tmp_path / "class" / learner).mkdir(parents=True)
    (tmp_path / "class" / "ada" / "04_pooling.ipynb").write_text(NOTEBOOK)
    with zipfile.ZipFile(tmp_path / "class" / "bob" / "work.zip", "w") as archive:
        archive.writestr("04_pooling.ipynb", NOTEBOOK + " " * 300_000)
    return tmp_path


def collected(place, source="class"):
    return {one.learner: one.problem for one in gather(place / source, place / "unpacked")}


def elsewhere(place, *before, descriptors=0):
    """Gather in a separate process with this command prefix. Returns the learners, or the one-sentence error."""
    folders = (place / "class", place / "unpacked")
    done = course(*folders, descriptors, program=["-c", GATHER], before=list(map(str, before)))
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def is_fault(said, words):
    """Whether this is a one-sentence fault of the machine."""
    kind, sentence = said
    assert kind == "MachineFault" and re.search(words, sentence), said
    assert sentence.endswith(", and run the command again.") and "\n" not in sentence


# ---------------------------------------------------------------- the machine

BIND = ("bwrap", "--dev-bind", "/", "/")
NAMES = "ada/04_pooling.ipynb", "ada", "bob/work.zip", "../class"


@pytest.mark.parametrize(
    "before, words",
    [
        (
            (*BIND, "--size", "65536", "--tmpfs", "{}/unpacked"),
            r"Cannot unpack .*bob.* No space left on device; .*TMPDIR",
        ),
        ((*BIND, "--ro-bind", "{}/unpacked", "{}/unpacked"), "Read-only file system"),
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
def test_a_fault_of_the_disk_stops_the_run(place, before, words):
    if before[0] == "bwrap":
        isolation()
    is_fault(elsewhere(place, *(part.format(place) for part in before)), words)


@pytest.mark.parametrize(
    "name, mode, words",
    [
        *((name, 0, "Cannot .*Permission denied; give yourself permission") for name in NAMES),
        ("../unpacked", 0o555, "Cannot unpack .*Permission denied"),
    ],
)
def test_what_may_not_be_read_or_written_is_no_learners_fault(place, name, mode, words):
    (place / "class" / name).chmod(mode)
    try:
        is_fault(elsewhere(place, *ORDINARY), words)
    finally:
        (place / "class" / name).chmod(0o755)


@pytest.mark.parametrize("descriptors", [1, 2])
def test_too_many_open_files(place, descriptors):
    """With one descriptor left, listing the folder or reading the notebook fails; with two, unpacking the zip fails."""
    is_fault(elsewhere(place, descriptors=descriptors), "Too many open files; raise `ulimit -n`")


@pytest.mark.parametrize("name", NAMES[:3])
def test_what_vanishes_while_it_is_read(place, monkeypatch, name):
    listed = submissions._listed

    def listed_and_lost(folder):
        names = listed(folder)
        if folder == (place / "class" / name).parent:
            (place / "class" / name).rename(place / "gone")
        return names

    monkeypatch.setattr(submissions, "_listed", listed_and_lost)
    with pytest.raises(
        MachineFault, match="No such file or directory; do not change the submissions"
    ):
        gather(place / "class", place / "unpacked")


# ---------------------------------------------------------------- what the instructor gives


def put(data, value, *places):
    """Put these bytes at these places."""
    for place in places:
        data[place : place + len(value)] = value


def renamed(data, central):
    put(data, b"\x08", 7, central + 9)  # the name is in UTF-8
    put(data, b"\xff", 30, central + 46)


# what is done to a zip's bytes; the second argument is where its directory begins
DAMAGE = {
    "encrypted": lambda data, central: put(data, b"\1", 6, central + 8),
    "an unknown way of packing": lambda data, central: put(
        data, struct.pack("<H", 99), 8, central + 10
    ),
    "a name in no encoding": renamed,
    "larger than it says": lambda data, central: put(data, struct.pack("<I", 10), central + 24),
    "a directory elsewhere": lambda data, central: put(
        data, struct.pack("<I", 2**31), len(data) - 6
    ),
    "a member elsewhere": lambda data, central: put(data, struct.pack("<I", 2**31), central + 42),
    "other bytes": lambda data, central: put(data, bytes(30), 60),
    "truncated": lambda data, central: data.__delitem__(slice(len(data) // 2, None)),
    "empty": lambda data, central: data.clear(),
    "text": lambda data, central: data.__setitem__(slice(None), b"404 not found"),
}


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_zip_is_its_learners_and_the_classs_stops_the_run(place, kind, method):
    with zipfile.ZipFile(place / "whole.zip", "w", method) as archive:
        archive.writestr("04_pooling.ipynb", NOTEBOOK + "".join(map(str, range(5000))))
    data = bytearray((place / "whole.zip").read_bytes())
    DAMAGE[kind](data, data.index(b"PK\1\2"))
    (place / "class" / "bob" / "work.zip").write_bytes(data)
    found = collected(place)
    assert "ZipInfo" not in found["bob"] and ("a password" in found["bob"]) == (kind == "encrypted")
    assert (
        found["ada"] == ""
        and "cannot be unpacked" in found["bob"]
        and not list((place / "unpacked").iterdir())
    )
    (place / "class.zip").write_bytes(data)
    words = r"The archive \S+class.zip cannot be unpacked \(.*\); download it again\.$"
    with pytest.raises(GradeError, match=words) as caught:
        gather(place / "class.zip", place / "unpacked")
    assert not isinstance(caught.value, MachineFault)


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
def test_a_source_that_is_none(place, make, words):
    make(place / "source")
    with pytest.raises(GradeError, match=words):
        gather(place / "source", place / "unpacked")


def test_names_in_another_encoding(place):
    os.mkdir(os.fsencode(place / "class") + b"/Zo\xeb")
    Path(os.fsdecode(os.fsencode(place / "class") + b"/Zo\xeb/x\xe9.ipynb")).write_text(NOTEBOOK)
    (one,) = [
        one for one in gather(place / "class", place / "unpacked") if one.learner.startswith("Zo")
    ]
    assert one.learner.startswith("Zo\ufffd~") and one.path.read_text() == NOTEBOOK
    json.dumps([one.learner, one.file]).encode()
    (one.learner + one.file).encode()


def flatten(folder, name):
    """Leave one of the folders of this name that lie in one another."""
    while (folder / name / name).exists():
        (folder / name / name).rename(folder / "inner")
        (folder / name).rmdir()
        (folder / "inner").rename(folder / name)


@pytest.mark.parametrize("name, levels", [("d", 1500), ("d" * 200, 60)], ids=["deep", "long"])
@pytest.mark.parametrize("above", ["eve", "eve/.hidden"])
def test_folders_in_one_another_are_one_learners_problem(place, name, levels, above):
    here = os.open(place / "class", os.O_RDONLY)
    for folder in [*above.split("/"), *[name] * levels]:
        os.mkdir(folder, dir_fd=here)
        here, outer = os.open(folder, os.O_RDONLY, dir_fd=here), here
        os.close(outer)
    os.close(os.open("04_pooling.ipynb", os.O_CREAT, dir_fd=here))
    os.close(here)
    try:
        found = collected(place)
    finally:  # too deep for pytest, which would fail when it clears its folders
        flatten(place / "class" / above, name)
    assert {one: found[one] for one in ("ada", "bob")} == {"ada": "", "bob": ""}
    if above == "eve":
        assert re.search("within 50 others|too long to be read", found["eve"])


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {}]
)
def test_names_are_read_as_utf8_whatever_the_locale_says(place, locale):
    for name in ("Ömer", "王"):
        (place / "class" / name).mkdir()
        (place / "class" / name / "04_pooling.ipynb").write_text(NOTEBOOK)
    folders = (place / "class", place / "unpacked", 0)
    done = course(
        *folders, program=["-c", GATHER], env={**os.environ, "PYTHONPATH": str(ROOT), **locale}
    )
    assert sorted(json.loads(done.stdout)) == ["ada", "bob", "Ömer", "王"], done.stderr


def test_odd_but_sound_archives_are_read(place):
    """A large one of the new kind, a date that never was, a name in UTF-8 that does not say so, as macOS packs it."""
    path = place / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        with archive.open("ada/04_pooling.ipynb", "w", force_zip64=True) as member:
            member.write(NOTEBOOK.encode())
        archive.writestr(
            zipfile.ZipInfo("bob/04_pooling.ipynb", (1980, 0, 0, 31, 63, 62)), NOTEBOOK
        )
        archive.writestr("Zo__/04_pooling.ipynb", NOTEBOOK)
    path.write_bytes(path.read_bytes().replace(b"Zo__", "Zoë".encode()))
    assert collected(place, "class.zip") == {"Zoë": "", "ada": "", "bob": ""}


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
def test_a_roster_that_cannot_be_used(place, make, words):
    make(place / "roster.csv")
    with pytest.raises(GradeError, match=f"roster.csv.*{words}"):
        read_roster(place / "roster.csv")
