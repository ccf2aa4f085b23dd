"""Passed exercises are remembered, never at a lesson's expense; the overview; the stated minutes per lesson."""

import errno
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from filelock import FileLock

from course_utils._support import files
from course_utils._support.colours import contrast
from course_utils._support.notebooks import (
    NOTEBOOKS,
    PICTURES,
    ROUTES,
    cores,
    exercise_parts,
    part_of,
    parts,
)
from course_utils.diary.passed import PROGRESS, passed, remember
from course_utils.diary.records import LARGEST
from course_utils.diary.workspace import LIVE, RECORD, SAVED
from course_utils.exercises import LESSONS as WITH_EXERCISES
from course_utils.exercises import all_exercises, check
from course_utils.tools.authoring import COUNTS, ROW
from course_utils.tools.workspace.copies import learner_copy
from course_utils.tools.workspace.overview import (
    Lesson,
    Overview,
    lesson_minutes,
    lessons,
    overview,
    progress,
)

from .commands import run

ROOT = Path(__file__).resolve().parents[1]
LESSONS = list(parts().values())
ALL = len(all_exercises())
OF_CORES = sum(len(key) == 2 for key in exercise_parts().values())


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A workspace, which is also the current folder."""
    folder = tmp_path / "my work, Übung 1"
    folder.mkdir()
    (folder / RECORD).write_text("{}")
    monkeypatch.chdir(folder)
    return folder


def right(similarity, i):
    return max((j for j in range(len(similarity)) if j != i), key=lambda j: similarity[i, j])


def wrong(similarity, i):
    return int(similarity[i].argmax())


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def refuse(path):
    raise PermissionError(errno.EACCES, "Permission denied", str(path))


def as_remembered(workspace):
    return json.loads((workspace / PROGRESS).read_text())


# ---------------------------------------------------------------- remembering


def test_a_passed_check_is_remembered_and_stays(workspace):
    assert not check("00-nearest", wrong).passed and not (workspace / PROGRESS).exists()
    assert check("00-nearest", right).passed
    assert as_remembered(workspace) == {"passed": ["00-nearest"]}
    assert not check("00-nearest", wrong).passed and passed(workspace) == {"00-nearest"}
    written = (workspace / PROGRESS).stat().st_mtime_ns
    assert check("00-nearest", right).passed
    assert (workspace / PROGRESS).stat().st_mtime_ns == written, "nothing new, nothing written"


def test_elsewhere_nothing_is_written_and_the_report_and_the_random_numbers_are_the_same(
    workspace, tmp_path, monkeypatch
):
    random.seed(3)
    before = random.getstate()
    here = check("00-nearest", right, seed=1)
    assert random.getstate() == before and passed(workspace)
    monkeypatch.chdir(tmp_path)
    assert (
        here == check("00-nearest", right, seed=1)
        and here.passed
        and os.listdir(tmp_path) == [workspace.name]
    )


STRANGE = {
    "empty": b"", "half": b'{"passed": ["00-nea', "a list": b"[]", "a number": b"7", "no list": b'{"passed": {"a": 1}}',
    "nothing": b"null", "no text": b"\xff\xfe\x00", "deep": b"[" * 50_000, "large": b" " * (LARGEST + 1),
    "conflict": b"<<<<<<< HEAD\n{}",
}  # fmt: skip


@pytest.mark.parametrize("content", STRANGE.values(), ids=STRANGE)
def test_a_damaged_file_is_moved_aside_and_a_new_one_begun(workspace, content):
    (workspace / PROGRESS).write_bytes(content)
    assert passed(workspace) == set() and f"0 of {OF_CORES}" in repr(progress())
    remember("04-mean-pool")
    assert (
        passed(workspace) == {"04-mean-pool"}
        and (workspace / ".progress.damaged.json").read_bytes() == content
    )
    (workspace / PROGRESS).write_bytes(content + b"again")
    remember("04-max-pool")
    assert (workspace / ".progress.damaged.json").read_bytes() == content
    assert (workspace / ".progress.damaged-2.json").read_bytes() == content + b"again"


@pytest.mark.parametrize(
    "there, then, damaged",
    [
        ({"passed": ["00-nearest", 3, None]}, ["00-nearest", "04-mean-pool"], True),
        ({}, ["04-mean-pool"], False),
        (
            {"passed": ["99-of-a-later-course", "\ud800"]},
            ["04-mean-pool", "99-of-a-later-course", "\ud800"],
            False,
        ),
    ],
    ids=["damaged", "of others", "later"],
)
def test_what_can_be_read_of_a_file_counts_and_what_others_wrote_stays(
    workspace, there, then, damaged
):
    (workspace / PROGRESS).write_text(json.dumps({**there, "later": [1]}))
    remember("04-mean-pool")
    assert as_remembered(workspace) == {"later": [1], "passed": then}
    assert (workspace / ".progress.damaged.json").exists() == damaged


SOMETHING_ELSE = {
    "folder": lambda path: (path / "inside").mkdir(parents=True),
    "pipe": lambda path: os.mkfifo(path),
    "dangling link": lambda path: path.symlink_to(path / "nowhere" / "x"),
}


@pytest.mark.parametrize("thing", SOMETHING_ELSE)
def test_something_else_of_that_name_does_no_harm(workspace, thing):
    SOMETHING_ELSE[thing](workspace / PROGRESS)
    began = time.monotonic()
    assert check("00-nearest", right).passed and time.monotonic() - began < 20
    assert passed(workspace) == {"00-nearest"} and os.path.lexists(
        workspace / ".progress.damaged.json"
    )


@pytest.mark.parametrize(
    "where", ["os.fsync", "os.replace", "tempfile.NamedTemporaryFile", "os.open"]
)
@pytest.mark.parametrize("before", ['{"passed": ["04-mean-pool"]}', "damaged"])
def test_a_full_disk_reaches_no_lesson_and_loses_nothing(workspace, monkeypatch, where, before):
    (workspace / PROGRESS).write_text(before)
    with monkeypatch.context() as patch:
        patch.chdir(workspace.parent)
        report = check("00-nearest", right, seed=1)
    with monkeypatch.context() as patch:
        patch.setattr(where, full)
        assert check("00-nearest", right, seed=1) == report
    assert (workspace / PROGRESS).read_text() == before
    assert not [
        path for path in workspace.iterdir() if path.suffix == ".tmp" or "damaged" in path.name
    ]


def test_a_lock_that_another_holds_delays_a_lesson_by_a_second_at_most(workspace):
    with FileLock(workspace / f"{PROGRESS}.lock"):
        began = time.monotonic()
        remember("00-nearest")
        assert 0.5 < time.monotonic() - began < 5 and passed(workspace) == set()
    remember("00-nearest")
    assert passed(workspace) == {"00-nearest"}


def test_without_rights_a_lesson_goes_on(workspace, monkeypatch):
    (workspace / PROGRESS).write_text("{}")
    with monkeypatch.context() as patch:
        read = Path.read_bytes
        patch.setattr(
            Path, "read_bytes", lambda path: refuse(path) if path.name == PROGRESS else read(path)
        )
        remember("00-nearest")
        assert f"0 of {OF_CORES}" in repr(progress())
    assert (workspace / PROGRESS).read_text() == "{}"


def test_a_folder_that_is_gone_does_no_harm(workspace):
    shutil.rmtree(workspace)
    remember("00-nearest")
    assert f"0 of {OF_CORES}" in repr(progress())


def test_two_kernels_at_once_lose_nothing(tmp_path):
    (tmp_path / RECORD).write_text("{}")
    script = (
        "import sys, time\nfrom course_utils.diary.passed import remember\n"
        "while time.time() < float(sys.argv[3]): pass\n"
        "for n in range(50): remember(f'{sys.argv[2]}-{n}', sys.argv[1])"
    )
    start = time.time() + 1
    command = [sys.executable, "-c", script, str(tmp_path)]
    running = [subprocess.Popen([*command, name, str(start)], cwd=ROOT) for name in ("00", "01")]
    assert [process.wait(120) for process in running] == [0, 0]
    assert passed(tmp_path) == {f"{name}-{n}" for name in ("00", "01") for n in range(50)}
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        RECORD,
        PROGRESS,
        f"{PROGRESS}.lock",
    ]


# ---------------------------------------------------------------- the picture


def test_the_lessons_say_what_the_exercises_say():
    found = [one for lesson in lessons() for one, _ in lesson.exercises]
    assert sorted(found) == sorted(all_exercises())
    assert [lesson.key for lesson in lessons()] == [part_of(path) for path in LESSONS]
    assert all(
        title and title[0].isupper() for lesson in lessons() for _, title in lesson.exercises
    )


def test_outside_a_workspace_everything_is_open_whatever_lies_there(tmp_path, monkeypatch):
    (tmp_path / PROGRESS).write_text('{"passed": ["00-nearest"]}')
    pictures = set()
    for folder in (NOTEBOOKS, tmp_path):
        monkeypatch.chdir(folder)
        pictures.add((repr(progress()), progress()._repr_html_()))
    ((text, _),) = pictures
    cores = (
        f"0 of {OF_CORES} exercises of the cores passed, 0 of {len(WITH_EXERCISES)} cores finished"
    )
    assert text.startswith(cores) and "✓" not in text


SIMPLE = Overview((Lesson("00", "Start", 25, (("00-a", "A"),)),), frozenset({"00-a"}))


def test_the_text_picture_and_titles_that_are_no_markup():
    course = (
        Lesson("00", "Start", 25, (("00-a", "A"), ("00-b", "B"))),
        Lesson("01", "Tokens: <b>", 100, (("01-a", '"><img src=x>'),)),
        Lesson("02", "A page", 5, ()),  # counts as neither finished nor open
    )
    assert repr(Overview(course, frozenset({"00-a", "99-x"}))).splitlines() == [
        "1 of 3 exercises of the cores passed, 0 of 2 cores finished. The cores take about 2 hours, the "
        "one-day route 2, everything 2.",
        "",
        "00  Start         25 min  ✓○  1 of 2",
        "01  Tokens: <b>  100 min  ○   0 of 1",
        "02  A page         5 min",
        "",
        "next: lesson 00, Start (exercise 00-b)",
    ]
    everything = Overview(course, frozenset({"00-a", "00-b", "01-a"}))
    assert everything.advice == "next: nothing is open; every exercise is passed."
    assert "2 of 2 cores finished" in everything.totals
    html = replace(everything, due=2)._repr_html_()
    assert "(<code>course review</code>, " in html and "`" not in html
    assert (
        html.count(" of 1</td>") == 1
        and "of 0" not in html
        and "<b>" not in html
        and "<img" not in html
    )


def test_the_html_picture_is_a_table_that_can_be_read_without_colours(workspace):
    remember("04-mean-pool")
    text = progress()._repr_html_()
    # fails where one is not closed
    tags = list(ElementTree.fromstring(f"<div>{text}</div>").iter())
    squares = [tag.attrib for tag in tags if tag.get("role") == "img"]
    exercises = [one for lesson in lessons() for one, _ in lesson.exercises]
    assert [square["title"].partition(",")[0] for square in squares] == exercises
    assert all(square["aria-label"] == square["title"] for square in squares)
    done = [square["title"] for square in squares if square["title"].endswith(": passed")]
    assert done == ["04-mean-pool, Mean pooling: passed"]
    assert text.count("✓") == 1 and text.count("○") == ALL - 1
    scopes = [tag.get("scope") for tag in tags]
    assert (scopes.count("row"), scopes.count("col")) == (len(LESSONS), 4)
    assert [tag.tag for tag in tags].count("caption") == 1 and "<script" not in text
    assert not any(name.startswith("on") for tag in tags for name in tag.attrib)
    colours = re.findall(r"(?<!border: )(?:background|color): ([^;\"]+)", text)
    # what is not a square takes the page's own colours, dark or light
    assert set(colours) <= {"inherit", "transparent", "#007a5e", "#ffffff"}


def test_ticks_are_seen_on_their_square_and_squares_on_light_and_dark_pages():
    square = re.search(r"background: (#\w+)", SIMPLE._repr_html_())[1]
    assert contrast(square, "#ffffff") > 4.5 and contrast(square, "#111111") > 3


# ---------------------------------------------------------------- the command


def test_the_command_prints_the_picture(workspace, tmp_path, monkeypatch):
    remember("00-nearest")
    shown = repr(progress())
    workspace.rename(tmp_path / "workspace")
    # the current folder is a workspace, holds one, or is elsewhere
    for folder, arguments in (
        ("workspace", []),
        (".", []),
        ("..", ["--workspace", tmp_path / "workspace"]),
    ):
        monkeypatch.chdir(tmp_path / folder)
        assert run("progress", *arguments) == (f"{shown}\n", 0)


@pytest.mark.parametrize("command", [["progress"], ["reset", "04"], ["update"]])
@pytest.mark.parametrize("folder", ["empty", "missing", "file"])
def test_what_is_no_workspace_is_one_sentence(tmp_path, command, folder):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    printed, status = run(*command, "--workspace", tmp_path / folder)
    assert status == 1 and len(printed.splitlines()) == 1
    assert printed.startswith(f"Error: {tmp_path / folder} is not a folder with your lessons")
    assert (
        sorted(os.listdir(tmp_path)) == ["empty", "file"] and os.listdir(tmp_path / "empty") == []
    )


def test_notes_that_may_not_be_read_are_one_sentence(workspace, monkeypatch):
    remember("00-nearest")
    monkeypatch.setattr("course_utils.diary.passed._read", refuse)
    assert run("progress") == (f"Error: {PROGRESS}: Permission denied.\n", 1)


def test_a_terminal_without_these_signs_gets_question_marks(workspace):
    remember("00-nearest")
    done = subprocess.run(
        [sys.executable, "-m", "course_utils.tools.cli", "progress"],
        capture_output=True,
        env={
            **os.environ,
            "PYTHONIOENCODING": "cp1252",
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "0",
        },
    )
    assert done.returncode == 0, done.stderr
    assert re.search(rb"^00  Start here +\d+ min  \?+ +1 of \d", done.stdout, re.MULTILINE)


# ---------------------------------------------------------------- minutes


def cell(kind, text, name="x", **metadata):
    return {"cell_type": kind, "id": name, "metadata": metadata, "source": text.splitlines(True)}


WORDS = "word " * 160
PLAIN = cell("markdown", f"# 04 Title\n\n{WORDS * 5}")
COUNTED = {  # what takes ten minutes more
    "code": [cell("code", "x = 1")] * 22,
    "folded": [cell("code", "x = 1\n" * 18, jupyter={"source_hidden": True})] * 24,
    "pictures": [{**cell("code", ""), "outputs": [{"data": {"image/png": ""}}]}] * 8,
    "recall": [cell("markdown", "<details></details>" * 11, "recall")],
    "quiz": [cell("markdown", "?", f"quiz-{n}") for n in range(10)],
    "exercise": [
        cell(
            "markdown",
            "## Exercise: a\n\n`04-a` · difficulty 1 of 3 · 10 minutes\n\nWrite it in 90 minutes.",
        )
    ],
}
UNREAD = [
    *[cell("code", "x", tags=["completion"])] * 99,
    cell("raw", WORDS * 50),
    cell("markdown", WORDS * 50, nbgrader={"solution": True}),
    cell("markdown", f"```python\n{WORDS * 50}\n```\n"),
    cell("markdown", f"[here](http://{'x/' * 9999} 'a')"),
    cell("markdown", "| --- | --- |\n" * 999),
    cell("markdown", f"{PICTURES}\n\n{WORDS * 50}"),
    *[cell("code", "draw()")] * 50,
]


@pytest.mark.parametrize(
    "more, minutes", [([], 5), (UNREAD, 5), *((more, 15) for more in COUNTED.values())]
)
def test_minutes_count_what_a_learner_reads_runs_and_writes(more, minutes):
    assert (
        lesson_minutes({"cells": [PLAIN, *more]}) == minutes and lesson_minutes({"cells": []}) == 5
    )


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_its_copy_and_the_readme_say_how_long_it_takes_and_how_many_exercises_it_has(path):
    readme = (ROOT if len(part_of(path)) == 2 else NOTEBOOKS) / "README.md"
    notebook, text = nbformat.read(path, as_version=4), readme.read_text(encoding="utf-8")
    (row,) = re.findall(ROW.format(name=path.stem) + ".*$", text, re.MULTILINE)
    number, minutes = list(exercise_parts().values()).count(part_of(path)), lesson_minutes(notebook)
    number -= path.stem.endswith("_report")  # a text
    assert learner_copy(notebook).cells[0].source == notebook.cells[0].source
    assert re.findall(r"About (\d+) minutes", notebook.cells[0].source) == [str(minutes)]
    exercises = re.findall(rf"\b({'|'.join(COUNTS)}|\d+) exercises?\b", notebook.cells[0].source)
    assert exercises in ([], [COUNTS[number]])
    assert [part.strip() for part in row.split("|")][-3:-1] == [
        str(minutes),
        str(number),
    ] and "TODO" not in row
    assert (
        f"# {row[3 : row.index(']')]}"
        == notebook.cells[0].source.partition("\n")[0].partition(", further:")[0]
    )


@pytest.mark.parametrize(
    "where, way", [("README.md", "notebooks/"), ("notebooks/00_start_here.ipynb", "")]
)
def test_the_readme_and_lesson_00_say_how_long_each_route_takes_and_link_to_one_day(where, way):
    text = (ROOT / where).read_text(encoding="utf-8")
    if where.endswith(".ipynb"):
        text = next(
            "".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["id"] == "map"
        )
    for route, hours in overview(None).hours.items():
        assert re.findall(rf"^- \*{route}\* \((\d+) hours\): ", text, re.MULTILINE) == [str(hours)]
    assert overview(None).on("one day").minutes <= 7.5 * 60
    (day,) = re.findall(r"^- \*one day\* .*$", text, re.MULTILINE)
    assert re.findall(r"\[(\d\d)\]\((.*?)\)", day) == [
        (number, f"{way}{cores()[number].name}") for number in ROUTES["one day"]
    ]
    tensors = overview(None).on("everything").lessons[1]
    assert tensors.key == "00-tensors" and f"add {tensors.minutes} minutes for [tensors]" in text


# ---------------------------------------------------------------- files


def test_a_file_is_whole_or_as_before_and_keeps_its_permissions(tmp_path, monkeypatch):
    path = tmp_path / "a b.txt"
    files.write_whole(path, "one")
    path.chmod(0o600)
    files.write_whole(path, "two")
    assert path.read_text() == "two" and path.stat().st_mode & 0o777 == 0o600
    for where in ("os.fsync", "os.replace", "os.chmod"):
        with monkeypatch.context() as patch:
            patch.setattr(where, full)
            with pytest.raises(OSError, match="No space"):
                files.write_whole(path, "three")
    with pytest.raises(UnicodeEncodeError):
        files.write_whole(path, "\ud800")
    assert path.read_text() == "two" and os.listdir(tmp_path) == ["a b.txt"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "file")
    files.write_whole(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink() and (
        tmp_path / "elsewhere" / "file"
    ).read_text() == "text"


def test_saving_beside_takes_free_names_and_writes_nothing_twice(tmp_path, monkeypatch):
    folder = tmp_path / "saved"
    assert files.save_beside(b"one", folder, "a.ipynb") == folder / "a-1.ipynb"
    assert files.save_beside(b"two", folder, "a.ipynb") == folder / "a-2.ipynb"
    assert files.save_beside(b"one", folder, "a.ipynb") == folder / "a-1.ipynb"
    (folder / "a-3.ipynb").symlink_to(folder / "nowhere")
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            files.save_beside(b"three", folder, "a.ipynb")
    assert sorted(os.listdir(folder)) == ["a-1.ipynb", "a-2.ipynb", "a-3.ipynb"]
    assert files.save_beside(b"three", folder, "a.ipynb") == folder / "a-4.ipynb"


@pytest.mark.parametrize("inner", [SAVED, LIVE])
def test_a_saved_lesson_counts_for_the_workspace_that_it_belongs_to(workspace, monkeypatch, inner):
    (workspace / inner).mkdir()
    monkeypatch.chdir(workspace / inner)
    remember("00-nearest")
    assert passed(workspace) == {
        "00-nearest"
    } and f"1 of {OF_CORES} exercises of the cores passed" in repr(progress())
    assert os.listdir(workspace / inner) == []
