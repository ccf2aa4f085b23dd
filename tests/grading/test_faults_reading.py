"""Faults while hand-ins are read.

Faults of the machine or of the instructor's input end in one sentence; a damaged file affects only its learner.
"""

import json
import os
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from course_utils.tools.grading import submissions
from course_utils.tools.grading.submissions import HandInError, MachineFault, gather, read_roster

from ..grader import ROOT, isolation

NOTEBOOK = '{"cells": [], "nbformat": 4}'
GATHER = """
import json, os, resource, sys
from course_utils.tools.grading.submissions import HandInError, gather
source, folder, descriptors = sys.argv[1:]
if int(descriptors):
    used = len(os.listdir("/proc/self/fd")) - 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + int(descriptors) - 1,) * 2)
try:
    print(json.dumps({one.learner: one.problem for one in gather(source, folder)}))
except HandInError as error:
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
    done = subprocess.run(
        [
            *map(str, before),
            sys.executable,
            "-c",
            GATHER,
            str(place / "class"),
            str(place / "unpacked"),
            str(descriptors),
        ],
        cwd="/",
        text=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        timeout=60,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def is_fault(said, words):
    """Whether this is a one-sentence fault of the machine."""
    kind, sentence = said
    assert (
        kind == "MachineFault"
        and re.search(words, sentence)
        and sentence.endswith(", and run the command again.")
        and "\n" not in sentence
    ), said


# ---------------------------------------------------------------- the machine


def test_a_full_disk_stops_the_run(place):
    isolation()
    said = elsewhere(place, "bwrap", "--dev-bind", "/", "/", "--size", 65536, "--tmpfs", place / "unpacked")
    is_fault(said, r"Cannot unpack .*bob.* No space left on device; .*TMPDIR")


def test_a_disk_that_cannot_be_written_to(place):
    isolation()
    is_fault(
        elsewhere(place, "bwrap", "--dev-bind", "/", "/", "--ro-bind", place / "unpacked", place / "unpacked"),
        "Read-only file system",
    )


def test_a_limit_on_the_size_of_files(place):
    is_fault(elsewhere(place, "prlimit", "--fsize=65536"), "File too large")


@pytest.mark.parametrize("name", ["ada/04_pooling.ipynb", "ada", "bob/work.zip", "../class"])
def test_what_may_not_be_read_is_no_learners_fault(place, name):
    (place / "class" / name).chmod(0)
    try:
        is_fault(elsewhere(place, *ORDINARY), "Cannot read .*Permission denied; give yourself permission")
    finally:
        (place / "class" / name).chmod(0o755)


def test_where_nothing_may_be_written(place):
    (place / "unpacked").chmod(0o555)
    is_fault(elsewhere(place, *ORDINARY), "Cannot unpack .*Permission denied")


@pytest.mark.parametrize("name", ["ada/04_pooling.ipynb", "bob/work.zip"])
def test_a_disk_that_fails(place, name):
    isolation()
    is_fault(
        elsewhere(place, "bwrap", "--dev-bind", "/", "/", "--bind", "/proc/self/mem", place / "class" / name),
        "Input/output error; check the disk",
    )


@pytest.mark.parametrize("descriptors", [1, 2])
def test_too_many_open_files(place, descriptors):
    """With one descriptor left, listing the folder or reading the notebook fails; with two, unpacking the zip fails."""
    is_fault(elsewhere(place, descriptors=descriptors), "Too many open files; raise `ulimit -n`")


@pytest.mark.parametrize("name", ["ada/04_pooling.ipynb", "bob/work.zip", "ada"])
def test_what_vanishes_while_it_is_read(place, monkeypatch, name):
    walk = os.walk

    def walk_and_lose(*arguments, **options):
        for step in walk(*arguments, **options):
            if Path(step[0]) == (place / "class" / name).parent:
                (place / "class" / name).rename(place / "gone")
            yield step

    monkeypatch.setattr(submissions.os, "walk", walk_and_lose)
    with pytest.raises(MachineFault, match="No such file or directory; do not change the submissions"):
        gather(place / "class", place / "unpacked")


# ---------------------------------------------------------------- what the instructor gives


def damaged(data, kind):
    """The bytes of a zip with one damaged member."""
    data = bytearray(data)
    central = data.index(b"PK\1\2")
    if kind == "encrypted":
        data[6] |= 1
        data[central + 8] |= 1
    elif kind == "an unknown way of packing":
        data[8:10] = data[central + 10 : central + 12] = struct.pack("<H", 99)
    elif kind == "a name in no encoding":
        data[7] |= 8
        data[central + 9] |= 8
        for place in (30, central + 46):
            data[place] = 0xFF
    elif kind == "larger than it says":
        data[central + 24 : central + 28] = struct.pack("<I", 10)
    elif kind == "a directory elsewhere":
        data[-6:-2] = struct.pack("<I", 2**31)
    elif kind == "a member elsewhere":
        data[central + 42 : central + 46] = struct.pack("<I", 2**31)
    elif kind == "other bytes":
        data[60:90] = bytes(30)
    elif kind == "truncated":
        del data[len(data) // 2 :]
    elif kind == "empty":
        del data[:]
    elif kind == "text":
        data[:] = b"404 not found"
    return bytes(data)


KINDS = [
    "encrypted",
    "an unknown way of packing",
    "a name in no encoding",
    "larger than it says",
    "a directory elsewhere",
    "a member elsewhere",
    "other bytes",
    "truncated",
    "empty",
    "text",
]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_zip_is_its_learners_and_the_classs_stops_the_run(place, kind, method):
    with zipfile.ZipFile(place / "whole.zip", "w", method) as archive:
        archive.writestr("04_pooling.ipynb", NOTEBOOK + "".join(map(str, range(5000))))
    data = damaged((place / "whole.zip").read_bytes(), kind)
    (place / "class" / "bob" / "work.zip").write_bytes(data)
    found = collected(place)
    assert found["ada"] == "" and "cannot be unpacked" in found["bob"] and not list((place / "unpacked").iterdir())
    (place / "class.zip").write_bytes(data)
    with pytest.raises(
        HandInError, match=r"The archive \S+class.zip cannot be unpacked \(.*\); download it again\.$"
    ) as caught:
        gather(place / "class.zip", place / "unpacked")
    assert not isinstance(caught.value, MachineFault)


def test_a_large_zip_of_the_new_kind_is_read(place):
    with (
        zipfile.ZipFile(place / "class.zip", "w") as archive,
        archive.open("ada/04_pooling.ipynb", "w", force_zip64=True) as member,
    ):
        member.write(NOTEBOOK.encode())
    assert collected(place, "class.zip") == {"ada": ""}


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda path: os.mkfifo(path), "a device or a pipe"),
        (lambda path: path.symlink_to("/dev/zero"), "a device or a pipe"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
        (lambda path: path.symlink_to("nowhere"), "There is no"),
        (lambda path: path.symlink_to("/dev/null/x"), "There is no"),
        (lambda path: path.write_bytes(b"\x89PNG"), "neither a folder"),
    ],
)
def test_a_source_that_is_none(place, make, words):
    make(place / "source")
    with pytest.raises(HandInError, match=words):
        gather(place / "source", place / "unpacked")


def test_names_in_another_encoding(place):
    os.mkdir(os.fsencode(place / "class") + b"/Zo\xeb")
    Path(os.fsdecode(os.fsencode(place / "class") + b"/Zo\xeb/x\xe9.ipynb")).write_text(NOTEBOOK)
    (one,) = [one for one in gather(place / "class", place / "unpacked") if one.learner.startswith("Zo")]
    assert one.learner.startswith("Zo\ufffd~") and one.path.read_text() == NOTEBOOK
    json.dumps([one.learner, one.file]).encode()
    (one.learner + one.file).encode()


def test_names_that_are_utf8_and_do_not_say_so(place):
    """As macOS packs them."""
    with zipfile.ZipFile(place / "class.zip", "w") as archive:
        archive.writestr("Zo__/04_pooling.ipynb", NOTEBOOK)
    (place / "class.zip").write_bytes((place / "class.zip").read_bytes().replace(b"Zo__", "Zoë".encode()))
    assert list(collected(place, "class.zip")) == ["Zoë"]


def test_a_date_that_never_was(place):
    with zipfile.ZipFile(place / "class.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo("ada/04_pooling.ipynb", (1980, 0, 0, 31, 63, 62)), NOTEBOOK)
    assert collected(place, "class.zip") == {"ada": ""}


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.symlink_to(path), "Too many levels"),
        (lambda path: path.symlink_to("/dev/zero"), "larger than 64 MB"),
        (lambda path: path.symlink_to("/dev/null"), "has no learners"),
        (lambda path: path.symlink_to("/proc/self/mem"), "Input/output error"),
        (lambda path: path.write_text("id,name\nada,Ada\n", encoding="utf-16"), "not in UTF-8; save it"),
        (lambda path: path.write_text('id,name\nada,"' + "A" * 200_000), "field larger"),
        (lambda path: path.write_text('id,name\nada,"Ada\nbob,Bob\n'), "line 2: unexpected end"),
        (lambda path: path.write_bytes(b"PK\3\4\x14\0\6\0\x9c"), "not in UTF-8; save it"),  # a spreadsheet file
        (lambda path: path.write_text("id;name\nada;Ada\nada;Bob\n"), r"'ada' twice \(again in line 3\)"),
    ],
)
def test_a_roster_that_cannot_be_used(place, make, words):
    make(place / "roster.csv")
    with pytest.raises(HandInError, match=f"The roster .*{words}"):
        read_roster(place / "roster.csv")
