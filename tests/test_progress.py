"""Passed exercises are remembered without disturbing a lesson; overview, minutes, saved files."""

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
from unittest.mock import patch
from xml.etree import ElementTree

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
    is_core,
    part_of,
    parts,
)
from course_utils.diary.passed import PROGRESS, passed, remember
from course_utils.diary.records import LARGEST
from course_utils.diary.schedule import SCHEDULE, read_schedule
from course_utils.diary.workspace import LIVE, RECORD, SAVED
from course_utils.exercises import LESSONS as WITH_EXERCISES, all_exercises, check
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
from .project import ROOT
from .sources import SOURCES, cell_of

LESSONS = list(parts().values())
EXERCISES_OF_CORES = sum(is_core(key) for key in exercise_parts().values())
NONE_PASSED = f"0 of {EXERCISES_OF_CORES} exercises of the cores passed"
DAMAGED = ".progress.damaged.json"  # the name under which a damaged PROGRESS is kept


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A workspace, which is also the current folder."""
    folder = tmp_path / "my work, Übung 1"
    folder.mkdir()
    (folder / RECORD).write_text("{}")
    monkeypatch.chdir(folder)
    return folder


# Two answers to the exercise 00-nearest, which asks for the text most similar to text `i`: the
# wrong one does not leave out the text itself.


def right(similarity, i):
    others = [other for other in range(len(similarity)) if other != i]
    return max(others, key=lambda other: similarity[i, other])


def wrong(similarity, i):
    return int(similarity[i].argmax())


NO_SPACE = OSError(errno.ENOSPC, "No space left on device")


def refuse(path):
    raise PermissionError(errno.EACCES, "Permission denied", str(path))


# ---------------------------------------------------------------- remembering


def test_a_passed_check_is_remembered_and_stays(workspace):
    assert not check("00-nearest", wrong).passed
    assert not (workspace / PROGRESS).exists()
    assert check("00-nearest", right).passed
    assert json.loads((workspace / PROGRESS).read_text()) == {"passed": ["00-nearest"]}
    assert not check("00-nearest", wrong).passed
    assert passed(workspace) == {"00-nearest"}
    written = (workspace / PROGRESS).stat().st_mtime_ns
    assert check("00-nearest", right).passed
    assert (workspace / PROGRESS).stat().st_mtime_ns == written, "nothing new, nothing written"


def test_remembering_leaves_the_random_numbers_of_a_learner_alone(workspace):
    before = random.getstate()
    check("00-nearest", right, seed=1)
    assert random.getstate() == before
    assert passed(workspace) == {"00-nearest"}


def test_outside_a_workspace_the_report_is_the_same_and_nothing_is_written(
    workspace, tmp_path, monkeypatch
):
    inside = check("00-nearest", right, seed=1)
    monkeypatch.chdir(tmp_path)
    assert check("00-nearest", right, seed=1) == inside
    assert os.listdir(tmp_path) == [workspace.name]


DAMAGED_CONTENTS = {  # {case: what lies in PROGRESS}
    "empty": b"",
    "half": b'{"passed": ["00-nea',
    "a list": b"[]",
    "a number": b"7",
    "no list": b'{"passed": {"a": 1}}',
    "null": b"null",
    "not UTF-8": b"\xff\xfe\x00",
    "deep": b"[" * 50_000,  # more than the parser of JSON can recurse
    "large": b" " * (LARGEST + 1),
    "conflict": b"<<<<<<< HEAD\n{}",
}


@pytest.mark.parametrize("content", DAMAGED_CONTENTS.values(), ids=DAMAGED_CONTENTS)
def test_a_damaged_file_is_moved_aside_and_a_new_one_begun(workspace, content):
    (workspace / PROGRESS).write_bytes(content)
    assert passed(workspace) == set()
    assert NONE_PASSED in repr(progress())
    sentence = (
        ".progress.json, the record of what you passed, was damaged. It is kept as {}, and a new "
        "one was begun."
    )
    assert remember("04-mean-pool") == sentence.format(DAMAGED)
    assert passed(workspace) == {"04-mean-pool"}
    (workspace / PROGRESS).write_bytes(content + b"again")
    assert remember("04-max-pool") == sentence.format(".progress.damaged-2.json")
    assert (workspace / DAMAGED).read_bytes() == content
    assert (workspace / ".progress.damaged-2.json").read_bytes() == content + b"again"


@pytest.mark.parametrize(
    "stored, remembered, is_damaged",
    [
        ({"passed": ["00-nearest", 3, None]}, ["00-nearest", "04-mean-pool"], True),
        ({}, ["04-mean-pool"], False),
        (
            # "\ud800", half of a character, is a name that UTF-8 cannot encode, and JSON can
            {"passed": ["99-of-a-later-course", "\ud800"]},
            ["04-mean-pool", "99-of-a-later-course", "\ud800"],
            False,
        ),
    ],
    ids=["entries that are no names", "no list yet", "names of a later course"],
)
def test_readable_entries_of_a_file_count_and_those_of_a_later_course_stay(
    workspace, stored, remembered, is_damaged
):
    (workspace / PROGRESS).write_text(json.dumps({**stored, "later": [1]}))
    remember("04-mean-pool")
    assert json.loads((workspace / PROGRESS).read_text()) == {"later": [1], "passed": remembered}
    assert (workspace / DAMAGED).exists() == is_damaged


SOMETHING_ELSE = {
    "folder": lambda path: (path / "inside").mkdir(parents=True),
    "pipe": lambda path: os.mkfifo(path),  # which Windows lacks
    "dangling link": lambda path: path.symlink_to(path / "nowhere" / "x"),
    "device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("thing", SOMETHING_ELSE)
def test_something_else_of_that_name_does_no_harm(workspace, thing):
    SOMETHING_ELSE[thing](workspace / PROGRESS)
    began = time.monotonic()
    assert check("00-nearest", right).passed
    # 20 seconds: room for a slow machine
    assert time.monotonic() - began < 200, "reading a pipe would wait for ever"
    assert passed(workspace) == {"00-nearest"}
    assert os.path.lexists(workspace / DAMAGED)


@pytest.mark.parametrize(
    "function", ["os.fsync", "os.replace", "course_utils._support.files.open", "os.open"]
)
@pytest.mark.parametrize("before", ['{"passed": ["04-mean-pool"]}', "damaged"])
def test_a_full_disk_reaches_no_lesson_loses_nothing_and_is_told(
    workspace, monkeypatch, capsys, function, before
):
    (workspace / PROGRESS).write_text(before)
    with monkeypatch.context() as context:
        context.chdir(workspace.parent)
        report = check("00-nearest", right, seed=1)
    # create: the name of a built-in function is not in the module
    with patch(function, side_effect=NO_SPACE, create=True):
        assert check("00-nearest", right, seed=1) == report
    assert capsys.readouterr().out == (
        "You passed 00-nearest, but that could not be recorded in .progress.json: No space left on "
        "device. Your answer is not affected; fix that, and run this check again.\n"
    )
    assert (workspace / PROGRESS).read_text() == before
    assert [*workspace.glob("*.tmp"), *workspace.glob("*damaged*")] == []


def test_a_link_is_not_followed_out_of_the_workspace(workspace, tmp_path):
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text('{"passed": ["04-mean-pool"]}')
    for name in (PROGRESS, SCHEDULE):
        (workspace / name).symlink_to(elsewhere)
    assert check("00-nearest", right).passed
    assert passed(workspace) == {"00-nearest"}
    assert elsewhere.read_text() == '{"passed": ["04-mean-pool"]}'
    assert (workspace / DAMAGED).resolve() == elsewhere


def test_a_damaged_or_newer_schedule_is_told_at_a_check(workspace, capsys):
    (workspace / SCHEDULE).write_text("{")
    check("00-nearest", right)
    assert capsys.readouterr().out == (
        ".schedule.json cannot be read. It is kept, with `damaged` in its name, and the review "
        "begins anew.\n"
    )
    assert (workspace / ".schedule.damaged.json").read_text() == "{"
    (workspace / SCHEDULE).write_text('{"version": 99}')
    check("00-nearest", right)
    assert "was written by a newer version of the course" in capsys.readouterr().out


def no_locks(descriptor, operation):
    raise OSError(errno.ENOLCK, "No locks available")


def test_a_home_without_locks_records_what_was_passed(workspace, monkeypatch, capsys):
    monkeypatch.setattr("fcntl.flock", no_locks)
    assert check("00-nearest", right).passed
    assert passed(workspace) == {"00-nearest"}
    assert len(read_schedule(workspace).answers) == 1
    assert capsys.readouterr().out == "", "nothing to do, nothing to say"
    assert list(workspace.glob("*.lease")) == []


# Holds the lock of a file for ever, on a file system without locks.
HOLD = """
import errno, fcntl, sys, time
from course_utils._support import files
def no_locks(descriptor, operation):
    raise OSError(errno.ENOLCK, "No locks available")
fcntl.flock = no_locks
files.LEASE = float(sys.argv[2])
with files.alone(sys.argv[1], 1, quiet=True):
    print("held", flush=True)
    time.sleep(1000)
"""


@pytest.mark.parametrize("machine", ["this", "another"])
def test_without_locks_a_dead_process_holds_nobody_up_for_long(tmp_path, monkeypatch, machine):
    monkeypatch.setattr("fcntl.flock", no_locks)
    monkeypatch.setattr(files, "LEASE", 3.0)
    path = tmp_path / "a.json"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), "3"], stdout=subprocess.PIPE, cwd=ROOT
    )
    try:
        assert holder.stdout.readline() == b"held\n"
    finally:
        holder.kill()
        holder.wait()
    lease = tmp_path / "a.json.lease"
    if machine == "another":  # of which nobody here can know whether the process lives
        lease.write_text(re.sub("^host=.*$", "host=elsewhere", lease.read_text(), flags=re.M))
    with pytest.warns(files.Notice, match="has no locks"), files.alone(path, 0.1):
        assert lease.exists()
    assert not lease.exists()


def test_a_lock_that_another_holds_delays_a_lesson_by_a_second_at_most(workspace):
    with FileLock(workspace / f"{PROGRESS}.lock"):
        began = time.monotonic()
        remember("00-nearest")
        assert 0.5 < time.monotonic() - began < 60  # a second, and room for a busy machine
        assert passed(workspace) == set()
    remember("00-nearest")
    assert passed(workspace) == {"00-nearest"}


def test_without_rights_a_lesson_goes_on(workspace, monkeypatch):
    (workspace / PROGRESS).write_text("{}")
    read = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: refuse(path) if path.name == PROGRESS else read(path)
    )
    remember("00-nearest")
    assert all(words in repr(progress()) for words in (NONE_PASSED, "passed cannot be read"))
    assert (workspace / PROGRESS).read_text() == "{}"


def test_a_folder_that_is_gone_does_no_harm(workspace):
    shutil.rmtree(workspace)
    remember("00-nearest")
    assert NONE_PASSED in repr(progress())


# Waits until `start`, so that two processes remember 50 names and 50 answers each at once. It
# imports little, so that both are ready by then: a late one would only meet the other less often.
REMEMBER_MANY = """
import errno, fcntl, sys, time
from course_utils.diary import schedule
from course_utils.diary.passed import remember
folder, name, start, locks = sys.argv[1:]
def no_locks(descriptor, operation):
    raise OSError(errno.ENOLCK, "No locks available")
if locks == "no locks":
    fcntl.flock = no_locks
while time.time() < float(start):
    pass
for number in range(50):
    remember(f"{name}-{number}", folder)
    schedule.record(folder, f"{name}-recall-{number}", True)
"""


@pytest.mark.parametrize("locks", ["locks", "no locks"])
def test_two_kernels_at_once_lose_nothing(tmp_path, locks):
    (tmp_path / RECORD).write_text("{}")
    start = str(time.time() + 1)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", REMEMBER_MANY, str(tmp_path), name, start, locks], cwd=ROOT
        )
        for name in ("00", "01")
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    assert passed(tmp_path) == {f"{name}-{number}" for name in ("00", "01") for number in range(50)}
    assert len(read_schedule(tmp_path).answers) == 2 * 50
    assert sorted(os.listdir(tmp_path)) == sorted(
        [RECORD, PROGRESS, f"{PROGRESS}.lock", SCHEDULE, f"{SCHEDULE}.lock"]
    )


# ---------------------------------------------------------------- the picture


def test_the_overview_finds_each_exercise_once():
    assert sorted(name for lesson in lessons() for name, _ in lesson.exercises) == sorted(
        all_exercises()
    )


def test_outside_a_workspace_everything_is_open_whatever_lies_there(tmp_path, monkeypatch):
    (tmp_path / PROGRESS).write_text('{"passed": ["00-nearest"]}')
    pictures = set()
    for folder in (NOTEBOOKS, tmp_path):
        monkeypatch.chdir(folder)
        pictures.add((repr(progress()), progress()._repr_html_()))
    assert len(pictures) == 1, "the same in both folders"
    text, _ = pictures.pop()
    assert text.startswith(f"{NONE_PASSED}, 0 of {len(WITH_EXERCISES)} cores finished")
    assert "✓" not in text


LESSONS_WITH_MARKUP = (
    Lesson("00", "Start", 25, (("00-a", "A"), ("00-b", "B"))),
    Lesson("01", "Tokens: <b>", 100, (("01-a", '"><img src=x>'),)),
    Lesson("02", "A page", 5, ()),  # counts as neither finished nor open
)
FINISHED = Overview(LESSONS_WITH_MARKUP, frozenset({"00-a", "00-b", "01-a"}))


def test_the_text_picture_has_a_row_for_each_lesson():
    assert repr(Overview(LESSONS_WITH_MARKUP, frozenset({"00-a", "99-x"}))).splitlines() == [
        "1 of 3 exercises of the cores passed, 0 of 2 cores finished. The cores take about 2 hours, the "
        "one-day route 2, everything 2.",
        "",
        "00  Start         25 min  ✓○  1 of 2",
        "01  Tokens: <b>  100 min  ○   0 of 1",
        "02  A page         5 min",
        "",
        "next: lesson 00, Start (exercise 00-b)",
    ]


def test_a_finished_course_has_no_advice():
    assert FINISHED.advice == "next: nothing is open; every exercise is passed."
    assert "2 of 2 cores finished" in FINISHED.totals


def test_the_html_picture_shows_titles_and_commands_as_text():
    html = replace(FINISHED, due=2)._repr_html_()
    assert html.count("(<code>course review</code>, ") == 1
    assert html.count(" of 1</td>") == 1, "only lesson 01 has one exercise"
    # no Markdown, no count for a lesson without exercises, and no markup from titles
    assert [text for text in ("`", "of 0", "<b>", "<img") if text in html] == []


def test_the_html_picture_is_a_table_that_says_in_words_what_its_squares_show(workspace):
    remember("04-mean-pool")
    text = progress()._repr_html_()
    # ElementTree raises an error where a tag is not closed
    tags = list(ElementTree.fromstring(f"<div>{text}</div>").iter())
    squares = [tag.attrib for tag in tags if tag.get("role") == "img"]
    titles = [square["title"] for square in squares]
    exercises = [name for lesson in lessons() for name, _ in lesson.exercises]
    assert [title.partition(",")[0] for title in titles] == exercises
    assert [square["aria-label"] for square in squares] == titles
    assert [title for title in titles if title.endswith(": passed")] == [
        "04-mean-pool, Mean pooling: passed"
    ]
    assert text.count("✓") == 1
    assert text.count("○") == len(exercises) - 1
    scopes = [tag.get("scope") for tag in tags]
    assert scopes.count("row") == len(LESSONS)
    assert scopes.count("col") == 4, "lesson, minutes, exercises, passed"
    assert text.count("<caption") == 1
    assert "<script" not in text
    assert not any(name.startswith("on") for tag in tags for name in tag.attrib)


def test_what_is_not_a_square_takes_the_colours_of_the_page_dark_or_light(workspace):
    remember("04-mean-pool")
    # the values of the properties "background" and "color", other than a border's
    colours = re.findall(r"(?<!border: )(?:background|color): ([^;\"]+)", progress()._repr_html_())
    # the last two are those of a passed square and its tick
    assert set(colours) <= {"inherit", "transparent", "#007a5e", "#ffffff"}


def test_ticks_are_seen_on_their_square_and_squares_on_light_and_dark_pages():
    square = re.search(r"background: (#\w+)", FINISHED._repr_html_())[1]
    # WCAG 2 requires 4.5 of text, as the white tick is, and 3 of graphics, here on the nearly black
    # page of a dark theme; on a white page, the square has the contrast of its tick.
    assert contrast(square, "#ffffff") > 4.5
    assert contrast(square, "#111111") > 3


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
def test_a_command_says_in_one_line_that_a_folder_is_no_workspace(tmp_path, command, folder):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    printed, status = run(*command, "--workspace", tmp_path / folder)
    assert status == 1
    assert len(printed.splitlines()) == 1
    assert printed.startswith(f"Error: {tmp_path / folder} is not a folder with your lessons")
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "empty", tmp_path / "file"]


def test_progress_that_may_not_be_read_is_an_error_of_one_line(workspace, monkeypatch):
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
PLAIN = cell("markdown", f"# 04 Title\n\n{WORDS * 5}")  # 4 minutes: 200 words a minute
# Each of these adds 10 to 12 minutes to PLAIN, and the sum is rounded to 15: a multiple of 5. The
# docstring of `lesson_minutes` says how long each kind of cell takes.
TEN_MINUTES_MORE = {
    # 30 + 12 seconds each, for 210 characters, however they are broken into lines
    "code": [cell("code", "x = 1\n" * 70)] * 15,
    "broken code": [cell("code", "x\n =\n  1\n" * 70)] * 15,
    # 30 seconds each: folded code does not count
    "folded": [cell("code", "x = 1\n" * 70, jupyter={"source_hidden": True})] * 22,
    # a minute and 30 seconds each
    "pictures": [{**cell("code", ""), "outputs": [{"data": {"image/png": ""}}]}] * 8,
    "recall": [cell("markdown", "<details></details>" * 11, "recall")],  # 11 questions
    "quiz": [cell("markdown", "?", f"quiz-{n}") for n in range(10)],
    "exercise": [  # the minutes of its heading, not those of its text
        cell(
            "markdown",
            "## Exercise: a\n\n`04-a` · difficulty 1 of 3 · 10 minutes\n\nWrite it in 90 minutes.",
        )
    ],
}
# Each line would add more than 3.5 minutes if it counted: PLAIN would no longer be rounded to 5.
NOT_COUNTED = [
    *[cell("code", "x", tags=["completion"])] * 99,
    cell("raw", WORDS * 50),
    cell("markdown", WORDS * 50, nbgrader={"solution": True}),  # a learner writes this text
    cell("markdown", f"```python\n{WORDS * 50}\n```\n"),
    cell("markdown", f"[here](http://{'x/' * 9999} 'a')"),
    cell("markdown", "| --- | --- |\n" * 999),
    # with this heading begin the pictures for the lecture: what stands below it does not count
    cell("markdown", f"{PICTURES}\n\n{WORDS * 50}"),
    *[cell("code", "draw()")] * 50,
]


@pytest.mark.parametrize(
    "cells, minutes",
    [
        ([], 5),
        ([PLAIN], 5),
        ([PLAIN, *NOT_COUNTED], 5),
        *(([PLAIN, *cells], 15) for cells in TEN_MINUTES_MORE.values()),
    ],
    ids=["no cells", "plain", "not counted", *TEN_MINUTES_MORE],
)
def test_minutes_count_what_a_learner_reads_runs_and_writes(cells, minutes):
    assert lesson_minutes({"cells": cells}) == minutes


each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


def number_of_exercises(path):
    # a report's exercise is a text, which does not count: `True` is subtracted as 1
    return [*exercise_parts().values()].count(part_of(path)) - path.stem.endswith("_report")


@each_lesson
def test_the_first_cell_says_how_long_a_lesson_takes_and_how_many_exercises_it_has(path):
    notebook = SOURCES[part_of(path)]
    start = notebook.cells[0].source
    assert learner_copy(notebook).cells[0].source == start
    assert re.findall(r"About (\d+) minutes", start) == [str(lesson_minutes(notebook))], (
        f"make lesson L={part_of(path)} writes them; or shorten the text"
    )
    # the number may be left out; it is written as a word
    assert re.findall(rf"\b({'|'.join(COUNTS)}|\d+) exercises?\b", start) in (
        [],
        [COUNTS[number_of_exercises(path)]],
    )


@each_lesson
def test_the_row_of_a_lesson_says_its_title_minutes_and_exercises(path):
    readme = (ROOT if is_core(part_of(path)) else NOTEBOOKS) / "README.md"
    (row,) = re.findall(
        ROW.format(name=path.stem) + ".*$", readme.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert "TODO" not in row
    notebook = SOURCES[part_of(path)]
    link, *_, minutes, number, _ = row.removeprefix("|").split("|")
    assert (minutes.strip(), number.strip()) == (
        str(lesson_minutes(notebook)),
        str(number_of_exercises(path)),
    ), f"make lesson L={part_of(path)} writes both; or shorten the text"
    title = re.match(r"# (.*?)(?:, further:.*)?\n", f"{notebook.cells[0].source}\n")[1]
    assert f"[{title}](" in link


@pytest.mark.parametrize(
    "text, prefix",  # prefix: of the links to lessons
    [
        ((ROOT / "README.md").read_text(encoding="utf-8"), "notebooks/"),
        (cell_of("00", "map").source, ""),
    ],
    ids=["README.md", "lesson 00"],
)
def test_the_readme_and_lesson_00_say_how_long_each_route_takes_and_link_to_one_day(text, prefix):
    for route, hours in overview(None).hours.items():
        assert re.findall(rf"^- \*{route}\* \((\d+) hours\): ", text, re.MULTILINE) == [str(hours)]
    (day,) = re.findall(r"^- \*one day\* .*$", text, re.MULTILINE)
    assert re.findall(r"\[(\d\d)\]\((.*?)\)", day) == [
        (number, f"{prefix}{cores()[number].name}") for number in ROUTES["one day"]
    ]
    (tensors,) = [lesson for lesson in lessons() if lesson.key == "00-tensors"]
    assert re.findall(r"add (\d+) minutes for \[tensors\]", text) == [str(tensors.minutes)]


def test_one_day_has_at_most_450_minutes():
    # 7.5 hours: with a break, a working day
    assert overview(None).on("one day").minutes <= 450, "shorten a core of the route one day"


# ---------------------------------------------------------------- files


def test_a_file_is_whole_or_as_before_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "a b.txt"
    files.write_whole(path, "one")
    path.chmod(0o600)
    files.write_whole(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    for function in ("os.fsync", "os.replace", "os.chmod"):
        with patch(function, side_effect=NO_SPACE), pytest.raises(OSError, match="No space"):
            files.write_whole(path, "three")
    # half of a character, which UTF-8 cannot encode
    with pytest.raises(UnicodeEncodeError):
        files.write_whole(path, "\ud800")
    assert path.read_text() == "two"
    assert os.listdir(tmp_path) == ["a b.txt"]


@pytest.mark.parametrize("umask, mode", [(0o077, 0o600), (0o002, 0o664), (0o022, 0o644)])
def test_a_new_file_may_be_read_by_whom_the_umask_allows(workspace, umask, mode):
    before = os.umask(umask)
    try:
        files.write_whole("a.txt", "text")
        saved = files.save_beside(b"text", "saved", "b.txt")
        remember("00-nearest")
    finally:
        os.umask(before)
    written = [Path("a.txt"), saved, Path(PROGRESS)]
    assert [path.stat().st_mode & 0o777 for path in written] == [mode] * 3


def test_a_file_that_root_writes_again_stays_its_owners(tmp_path):
    if os.name != "posix" or os.getuid() != 0:
        pytest.skip("only root may give a file to somebody else")
    path = tmp_path / "a.txt"
    path.write_text("one")
    os.chown(path, 65534, 65533)
    files.write_whole(path, "two")
    status = path.stat()
    assert (status.st_uid, status.st_gid, path.read_text()) == (65534, 65533, "two")


def test_a_link_stays_a_link_unless_the_caller_wants_none(tmp_path):
    link, target = tmp_path / "link", tmp_path / "elsewhere" / "file"
    target.parent.mkdir()
    link.symlink_to(target)
    files.write_whole(link, "text")
    assert link.is_symlink()
    files.write_whole(link, "other", through_links=False)
    assert not link.is_symlink()
    assert (target.read_text(), link.read_text()) == ("text", "other")


@pytest.mark.parametrize("through_links", [True, False])
def test_a_device_is_not_replaced(tmp_path, through_links):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="It is not a file"):
        files.write_whole(tmp_path / "pipe", "text", through_links)
    assert not (tmp_path / "pipe").is_file()


def test_saving_beside_takes_free_names_and_writes_nothing_twice(tmp_path):
    folder = tmp_path / "saved"
    assert files.save_beside(b"one", folder, "a.ipynb") == folder / "a-1.ipynb"
    assert files.save_beside(b"two", folder, "a.ipynb") == folder / "a-2.ipynb"
    assert files.save_beside(b"one", folder, "a.ipynb") == folder / "a-1.ipynb"
    # a link that leads nowhere takes a name, too
    (folder / "a-3.ipynb").symlink_to(folder / "nowhere")
    with patch("os.fsync", side_effect=NO_SPACE), pytest.raises(OSError, match="No space"):
        files.save_beside(b"three", folder, "a.ipynb")
    assert sorted(os.listdir(folder)) == ["a-1.ipynb", "a-2.ipynb", "a-3.ipynb"]
    assert files.save_beside(b"three", folder, "a.ipynb") == folder / "a-4.ipynb"


@pytest.mark.parametrize("inner", [SAVED, LIVE])
def test_a_saved_lesson_counts_for_the_workspace_that_it_belongs_to(workspace, monkeypatch, inner):
    (workspace / inner).mkdir()
    monkeypatch.chdir(workspace / inner)
    remember("00-nearest")
    assert passed(workspace) == {"00-nearest"}
    assert os.listdir(workspace / inner) == []
    assert f"1 of {EXERCISES_OF_CORES} exercises of the cores passed" in repr(progress())
