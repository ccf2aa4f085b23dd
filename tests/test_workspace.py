"""The learner's copies: written once, renewed if unedited, otherwise merged; no work is ever overwritten.

Also the commands that manage them.
"""

import errno
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
import types
import urllib.request
import uuid
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path
from urllib.error import URLError

import nbformat
import pytest
from click.testing import CliRunner
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_utils import __version__
from course_utils._support import downloads, notebooks
from course_utils._support.notebooks import PICTURES
from course_utils._support.passed import RECORD, SAVED, passed, remember
from course_utils.tools import cli, doctor
from course_utils.tools.grading.submissions import HandInError, gather
from course_utils.tools.workspace import lab
from course_utils.tools.workspace.copies import (
    CopyError,
    learner_copy,
    reset_lesson,
    stub_out,
    update_workspace,
    write_workspace,
)
from course_utils.tools.workspace.merging import FRAME_NOTE, TEXT_NOTE, fingerprint
from course_utils.tools.workspace.overview import NoWorkspace, overview

from .offline import free_port

FILE = "00_start_here.ipynb"
SOLVED = "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
STUBBED = "def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    write_source(folder, "first text")
    return folder


def write_source(folder, text):
    cells = [new_markdown_cell(text), new_code_cell(SOLVED), new_markdown_cell(PICTURES), new_code_cell("draw()")]
    nbformat.write(new_notebook(cells=cells), folder / FILE)


def test_copies_are_written_stubbed_and_without_pictures_for_the_lecture_and_only_once(sources, tmp_path):
    copy = tmp_path / "w" / FILE
    assert write_workspace(tmp_path / "w", sources) == [(FILE, "written")]
    assert [cell.source for cell in nbformat.read(copy, as_version=4).cells] == ["first text", STUBBED]
    before = copy.stat().st_mtime_ns
    assert write_workspace(tmp_path / "w", sources) == [(FILE, "unchanged")] and copy.stat().st_mtime_ns == before
    copy.unlink()
    assert write_workspace(tmp_path / "w", sources) == [(FILE, "written")]


def test_copies_hold_what_jupyterlab_stores_on_opening(sources, tmp_path):
    copy = tmp_path / "w" / FILE
    for write in (write_workspace, update_workspace, reset):
        copy.unlink(missing_ok=True)
        write(tmp_path / "w", sources)
        metadata = nbformat.read(copy, as_version=4).metadata
        assert metadata.kernelspec.display_name == "Python 3 (ipykernel)"
        assert metadata.language_info.version == platform.python_version()


@pytest.mark.parametrize("done, action", [("nothing", "renewed"), ("run", "renewed"), ("one character", "kept")])
def test_a_copy_is_renewed_until_one_character_is_edited(sources, tmp_path, done, action):
    copy = tmp_path / "w" / FILE
    write_workspace(tmp_path / "w", sources)
    mine = nbformat.read(copy, as_version=4)
    if done == "run":
        mine.cells[-1].execution_count = 7
        mine.metadata["language_info"] = {"name": "python", "version": "3"}
    elif done == "one character":
        mine.cells[0].source += "!"
    if done != "nothing":
        nbformat.write(mine, copy)
    write_source(sources, "second text")
    assert write_workspace(tmp_path / "w", sources) == [(FILE, action)]
    assert ("second text" in copy.read_text()) == (action == "renewed")


@pytest.mark.parametrize("record", ["kept", "lost", "broken", "odd"])
def test_an_edited_copy_is_never_touched(sources, tmp_path, record):
    write_workspace(tmp_path / "w", sources)
    mine = tmp_path / "w" / FILE
    text = nbformat.writes(new_notebook(cells=[new_markdown_cell("my own work")]))
    mine.write_text(text)
    if record == "lost":
        (tmp_path / "w" / RECORD).unlink()
    elif record != "kept":
        (tmp_path / "w" / RECORD).write_text({"broken": "{", "odd": '["00_start_here.ipynb"]'}[record])
    write_workspace(tmp_path / "w", sources)
    write_source(sources, "second text")
    assert write_workspace(tmp_path / "w", sources) == [(FILE, "kept")]
    assert mine.read_text() == text


def test_a_failure_midway_keeps_the_record_of_what_was_done(sources, tmp_path):
    second = tmp_path / "w" / "01_second.ipynb"
    (sources / second.name).write_text((sources / FILE).read_text())
    second.mkdir(parents=True)
    with pytest.raises(CopyError, match="01_second.ipynb: Is a directory"):
        write_workspace(tmp_path / "w", sources)
    second.rmdir()
    write_source(sources, "second text")
    assert write_workspace(tmp_path / "w", sources) == [(FILE, "renewed"), (second.name, "written")]
    assert not list((tmp_path / "w").glob("*.tmp"))


def test_a_damaged_source_and_nowhere_to_write_are_one_sentence(sources, tmp_path):
    (tmp_path / "w").write_text("a file stands here")
    with pytest.raises(CopyError, match="Cannot write .*: File exists"):
        write_workspace(tmp_path / "w", sources)
    with pytest.raises(CopyError, match="There are no lessons"):
        write_workspace(tmp_path / "v", tmp_path / "nothing")
    (sources / FILE).write_text("<<<<<<< HEAD")
    with pytest.raises(CopyError, match="00_start_here.ipynb is damaged"):
        write_workspace(tmp_path / "v", sources)


def test_many_at_once_do_no_harm(sources, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: write_workspace(tmp_path / "w", sources), range(64)))
    assert STUBBED in nbformat.read(tmp_path / "w" / FILE, as_version=4).cells[-1].source
    assert not list((tmp_path / "w").glob("*.tmp"))


@pytest.mark.parametrize("source", ["### BEGIN SOLUTION\nx", "### END SOLUTION", SOLVED + "\n    ### END SOLUTION"])
def test_marks_without_partner_are_an_error(source):
    with pytest.raises(ValueError, match="has no matching marker"):
        stub_out(source)


def test_two_regions_in_one_cell():
    assert stub_out(f"{SOLVED}\nx = 1\n{SOLVED}") == f"{STUBBED}\nx = 1\n{STUBBED}"


# ---------------------------------------------------------------- reset and update

ANSWER = {"grade": False, "grade_id": "00-f", "locked": False, "schema_version": 3, "solution": True, "task": False}
FRAME = "def {name}(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
ANSWERED = "def f(x):\n    return 3"


def part(name, text, kind="markdown", **metadata):
    return (new_code_cell if kind == "code" else new_markdown_cell)(text, id=name, metadata=metadata)


def answer(name="f"):
    return part("00-f", FRAME.format(name=name), "code", nbgrader=ANSWER)


def lesson(title="# Title", work="x = 1", f="f", end="The end", *, above=(), below=()):
    """Cells: a title, some work, `above`, an exercise, an end (unless None), `below`."""
    last = [] if end is None else [part("end", end)]
    return [part("title", title), part("work", work, "code"), *above, answer(f), *last, *below]


def course(folder, *cells):
    folder.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells)), folder / FILE)


@pytest.fixture
def place(tmp_path):
    """A course with one lesson, and a workspace written from it."""
    sources, workspace = tmp_path / "notebooks", tmp_path / "my work"
    course(sources, *lesson())
    write_workspace(workspace, sources)
    return sources, workspace


class Mine:
    """A learner's copy, to be edited as JupyterLab would."""

    def __init__(self, workspace):
        self.path = workspace / FILE
        self.notebook = json.loads(self.path.read_text(encoding="utf-8"))
        self.cells = self.notebook["cells"]

    def __getitem__(self, name):
        return next(cell for cell in self.cells if cell.get("id") == name)

    def add(self, after, text, kind="code", name=None):
        cell = {"cell_type": kind, "id": name or str(uuid.uuid4()), "metadata": {}, "source": text.splitlines(True)}
        if kind == "code":
            cell |= {"outputs": [], "execution_count": None}
        self.cells.insert(self.cells.index(self[after]) + 1 if after else 0, cell)

    def save(self):
        self.path.write_text(json.dumps(self.notebook), encoding="utf-8")

    def texts(self):
        return ["".join(cell["source"]) for cell in self.cells]


def edited(workspace, **texts):
    mine = Mine(workspace)
    for name, text in texts.items():
        mine["00-f" if name == "f" else name]["source"] = text
    mine.save()
    return mine.path.read_bytes()


def updated(place, cells):
    """Change the course's lesson and update. Returns what the update says it did, and the texts of the cells."""
    sources, workspace = place
    course(sources, *cells)
    ((_, _, words),) = update_workspace(workspace, sources)
    return words, Mine(workspace).texts()


def reset(workspace, sources):
    return reset_lesson(workspace, "00", sources)


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_an_update_keeps_answers_and_own_cells_and_renews_the_rest(place):
    sources, workspace = place
    mine = Mine(workspace)
    mine["00-f"]["source"] = ANSWERED
    mine["00-f"]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["seen\n"]}]
    mine.add("work", "my_own = 2")
    mine.add("work", "# my note", "markdown")
    mine.add(None, "before all")
    mine.save()
    before = mine.path.read_bytes()
    course(sources, *lesson("# New title", end=None, above=[part("extra", "More")], below=[part("last", "Now ends")]))
    ((name, action, words),) = update_workspace(workspace, sources)
    assert (name, action) == (FILE, "merged")
    assert words == (
        "2 cells new, 1 renewed, 1 removed; your 1 answer and 3 own cells are kept; your previous file is "
        "yours_saved/00_start_here-1.ipynb"
    )
    now = Mine(workspace)
    expected = ["before all", "# New title", "x = 1", "# my note", "my_own = 2", "More", ANSWERED, "Now ends"]
    assert now.texts() == expected
    assert now["00-f"]["outputs"][0]["text"] == ["seen\n"] and now["00-f"]["metadata"]["nbgrader"]["solution"]
    assert (workspace / SAVED / "00_start_here-1.ipynb").read_bytes() == before
    nbformat.validate(nbformat.read(now.path, as_version=4))
    after = now.path.read_bytes()
    assert update_workspace(workspace, sources) == [(name, "unchanged", "")] and now.path.read_bytes() == after
    assert write_workspace(workspace, sources) == [(name, "unchanged")]
    assert os.listdir(workspace / SAVED) == ["00_start_here-1.ipynb"]


def test_where_both_changed_a_cell_the_learners_stands_below(place):
    edited(place[1], title="# Mine ``` with fences", work="x = 10\n```y```")
    words, texts = updated(place, lesson("# Theirs", "x = 2"))
    assert words.startswith(
        "2 cells changed by the course and by you: your text is below the course's; your previous file is"
    )
    assert texts[:3] == ["# Theirs", TEXT_NOTE + "# Mine ``` with fences", "x = 2"]
    assert texts[3].endswith("\n````python\nx = 10\n```y```\n````") and texts[3].startswith("*Your code from before")
    words, again = updated(place, lesson("# Theirs again", "x = 3"))
    assert words.startswith("2 cells renewed; your previous file is") and again[1] == texts[1]


def test_a_cell_that_only_the_learner_changed_stays(place):
    edited(place[1], work="x = 10", end="   ")
    words, texts = updated(place, lesson("# Theirs", end="The new end"))
    assert texts[1] == "x = 10" and "your 1 edited cell is kept" in words
    assert texts[-1] == "The new end", "of blanks there is nothing to keep"


def test_an_answer_stays_where_it_is_and_a_new_frame_is_shown(place):
    edited(place[1], f=ANSWERED)
    words, texts = updated(place, lesson(f="f_of"))
    said = "your 1 answer is kept; the given lines of 1 exercise changed: a note below your answer shows the new ones"
    assert said in words
    assert texts[2] == ANSWERED and texts[3].startswith(FRAME_NOTE) and "def f_of(x):\n    # YOUR CODE" in texts[3]


def test_a_report_that_a_person_marks_is_an_answer_too(place):
    report = part("report", "By the teacher", nbgrader={**ANSWER, "grade": True, "grade_id": "00-report"})
    assert updated(place, [part("title", "# Title"), report])[1] == ["# Title", "YOUR ANSWER HERE"]
    edited(place[1], report="My report ✓")
    words, texts = updated(place, [part("title", "# Other"), report])
    assert texts == ["# Other", "My report ✓"] and "your 1 answer is kept" in words


def test_what_was_deleted_stays_away_until_it_changes_and_what_was_removed_stays_if_edited(place):
    mine = Mine(place[1])
    mine.cells.remove(mine["work"])
    mine["end"]["source"] = "My end"
    mine.save()
    words, texts = updated(place, lesson("# Other", end=None))
    assert texts == ["# Other", STUBBED, "My end"] and "1 cell that you deleted was not restored" in words
    assert updated(place, lesson("# Other", "x = 2", end=None))[1] == ["# Other", "x = 2", STUBBED, "My end"]


@pytest.mark.parametrize("way", ["missing", "all the same", "twice", "odd", "pasted"])
def test_ids_that_an_editor_lost_or_gave_twice(place, way):
    mine = Mine(place[1])
    mine["00-f"]["source"] = ANSWERED
    mine.add("end", "own")
    twice = ["def f(x):\n    return 4"] if way == "twice" else []
    mine.cells += [{**mine["00-f"], "source": text} for text in twice]
    for cell in mine.cells:
        if way == "missing":
            del cell["id"]
            mine.notebook["nbformat_minor"] = 4
        elif way == "all the same":
            cell["id"] = "same"
        elif way == "odd":
            cell["id"] = ["no", "text"] if cell is mine.cells[0] else "ö" * 99
        elif way == "pasted":  # cutting and pasting gives a new id
            cell["id"] = str(uuid.uuid4())
    mine.save()
    _, texts = updated(place, lesson("# New title", above=[part("more", "More")]))
    assert texts == ["# New title", "x = 1", "More", ANSWERED, "The end", "own", *twice]
    nbformat.validate(nbformat.read(mine.path, as_version=4))
    assert len({cell["id"] for cell in Mine(place[1]).cells}) == 6 + len(twice)


def test_an_own_cell_may_have_the_id_that_the_course_takes_later(place):
    mine = Mine(place[1])
    mine.add("title", "own", name="extra")
    mine.save()
    _, texts = updated(place, lesson(below=[part("extra", "Theirs")]))
    assert texts == ["# Title", "own", "x = 1", STUBBED, "The end", "Theirs"]
    assert Mine(place[1])["extra"]["source"] == ["Theirs"]


def test_an_update_that_was_cut_off_before_its_record_is_not_done_twice(place):
    sources, workspace = place
    edited(workspace, title="Mine", work="x = 9", f=ANSWERED)
    record = (workspace / RECORD).read_bytes()
    course(sources, *lesson("# Theirs", "x = 2", "g", below=[part("more", "More")]))
    assert update_workspace(workspace, sources)[0][1] == "merged"
    after = Mine(workspace).path.read_bytes()
    (workspace / RECORD).write_bytes(record)
    assert update_workspace(workspace, sources)[0][1] == "unchanged" and Mine(workspace).path.read_bytes() == after


def test_the_record_is_written_when_it_changed_or_is_gone_and_at_no_other_time(place):
    sources, workspace = place
    written = (workspace / RECORD).stat().st_mtime_ns
    write_workspace(workspace, sources)
    update_workspace(workspace, sources)
    assert (workspace / RECORD).stat().st_mtime_ns == written
    edited(workspace, title="Mine")
    (workspace / RECORD).unlink()
    assert write_workspace(workspace, sources) == [(FILE, "kept")]
    assert json.loads((workspace / RECORD).read_text()) == {"version": __version__}, "it is a workspace again"


def old_format(workspace):
    """The record as it was before it listed cells."""
    record = json.loads((workspace / RECORD).read_text())
    old = {name: entry["whole"] for name, entry in record.items() if name != "version"}
    (workspace / RECORD).write_text(json.dumps(old))


def test_an_old_record_still_renews_what_was_not_touched(place):
    sources, workspace = place
    old_format(workspace)
    course(sources, part("title", "# New"))
    assert update_workspace(workspace, sources) == [(FILE, "renewed", "")] and not (workspace / SAVED).exists()
    assert isinstance(json.loads((workspace / RECORD).read_text())[FILE]["cells"], dict)


def test_with_an_old_record_answers_and_own_cells_are_told_from_the_course(place):
    old_format(place[1])
    mine = Mine(place[1])
    mine["00-f"]["source"] = ANSWERED
    mine.add("work", "own")
    mine.save()
    words, texts = updated(place, lesson("# New", end=None))
    assert texts == ["# New", "x = 1", "own", ANSWERED]
    assert words.startswith("1 cell renewed, 1 removed; your 1 answer and 1 own cell are kept; your previous file")


@pytest.mark.parametrize("record", ["old", "lost"])
def test_what_an_old_record_cannot_tell_counts_as_the_learners(place, record):
    sources, workspace = place
    if record == "old":
        old_format(workspace)
    else:
        (workspace / RECORD).write_text("{}")
    edited(workspace, work="x = 10", f=ANSWERED)
    words, texts = updated(place, lesson("# New", end=None))
    assert texts[:3] == ["# New", TEXT_NOTE + "# Title", "x = 1"] and "x = 10" in texts[3]
    assert texts[4:] == [ANSWERED, "The end"] and "no record of which cells you changed" in words
    after = Mine(workspace).path.read_bytes()
    assert update_workspace(workspace, sources) == [(FILE, "unchanged", "")]
    assert Mine(workspace).path.read_bytes() == after


@pytest.mark.parametrize("entry", [7, None, [], {"whole": 3, "cells": []}, {"cells": {"title": 4}}])
def test_an_odd_record_loses_nothing(place, entry):
    edited(place[1], title="My title")
    (place[1] / RECORD).write_text(json.dumps({FILE: entry}))
    assert "My title" in "".join(updated(place, [part("title", "# New")])[1])


def test_line_ends_of_another_system_are_no_edit(place):
    sources, workspace = place
    mine = Mine(workspace)
    mine["00-f"]["source"] = "".join(mine["00-f"]["source"]).replace("\n", "\r\n")
    mine.path.write_bytes(json.dumps(mine.notebook, indent=1).replace("\n", "\r\n").encode())
    course(sources, part("title", "# New"), answer())
    assert update_workspace(workspace, sources)[0][1] == "renewed"
    edited(workspace, f="def f(x):\r\n    return 3")
    assert updated(place, [part("title", "# Newer"), answer()])[1] == ["# Newer", "def f(x):\r\n    return 3"]


def test_halves_of_letters_are_kept(place):
    edited(place[1], end="\ud83d")
    assert updated(place, lesson("# New"))[1][-1] == "\ud83d"


@pytest.mark.parametrize(
    "content, by_lab",
    [
        *((content, "unreadable") for content in (b"", b"{", b"[]", b"\xef\xbb\xbf{}", b"\x00\xff", b'{"cells": 3}')),
        (b"[" * 99_999, "unreadable"),
        (b'{"cells": [{"cell_type": "code", "source": "x", "metadata": []}], "nbformat": 4}', "kept"),
        (b'{"cells": [{"cell_type": "code", "source": "x"}], "nbformat": 3}', "kept"),
        (b'{"cells": [], "nbformat": 4, "nbformat_minor": "5"}', "kept"),
    ],
)
def test_what_is_no_notebook_stays_and_is_named_and_is_saved_at_a_reset(place, content, by_lab):
    sources, workspace = place
    path = workspace / FILE
    path.write_bytes(content)
    course(sources, part("title", "# New"))
    assert write_workspace(workspace, sources) == [(FILE, by_lab)] and path.read_bytes() == content
    assert update_workspace(workspace, sources) == [(FILE, "unreadable", "")] and path.read_bytes() == content
    name, saved = reset(workspace, sources)
    assert saved.read_bytes() == content and Mine(workspace).texts() == ["# New"]


def test_outputs_too_deep_to_be_written_leave_a_lesson_as_it_is(place, monkeypatch):
    sources, workspace = place
    before = edited(workspace, title="My title")
    course(sources, part("title", "# New"))

    def too_deep(_):
        raise RecursionError

    monkeypatch.setattr("course_utils.tools.workspace.copies.write_notebook", too_deep)
    assert update_workspace(workspace, sources)[0][1] == "unreadable" and Mine(workspace).path.read_bytes() == before


@pytest.mark.parametrize("where", ["os.fsync", "os.replace", "tempfile.NamedTemporaryFile", "os.mkdir"])
@pytest.mark.parametrize("command", [update_workspace, reset])
def test_on_a_full_disk_everything_is_as_before(place, monkeypatch, where, command):
    sources, workspace = place
    before, record = edited(workspace, title="My title"), (workspace / RECORD).read_bytes()
    course(sources, part("title", "# New"))
    said = "00_start_here.ipynb: No space left on device. None of your work is lost; fix that, and run this again.$"
    with monkeypatch.context() as patch:
        patch.setattr(where, full)
        with pytest.raises(CopyError, match=f"^Cannot write .*{said}"):
            command(workspace, sources)
    assert (workspace / FILE).read_bytes() == before and (workspace / RECORD).read_bytes() == record
    assert not list(workspace.rglob("*.tmp"))
    command(workspace, sources)
    assert [path.read_bytes() for path in (workspace / SAVED).iterdir()] == [before]


def test_a_lesson_that_is_saved_at_the_very_moment_is_not_overwritten(place, monkeypatch):
    sources, workspace = place
    edited(workspace, title="My title")
    course(sources, part("title", "# New"))
    from course_utils.tools.workspace import copies

    real = copies.save_beside

    def saved_meanwhile(*arguments):
        edited(workspace, title="My newest title")
        return real(*arguments)

    monkeypatch.setattr(copies, "save_beside", saved_meanwhile)
    for command in (update_workspace, reset):
        edited(workspace, title="My title")
        with pytest.raises(CopyError, match="was just saved by another program"):
            command(workspace, sources)
        assert Mine(workspace).texts()[0] == "My newest title"


def test_a_workspace_of_an_older_course_is_updated_and_says_which_wrote_it(place):
    sources, workspace = place
    record = json.loads((workspace / RECORD).read_text())
    assert record.pop("version") == __version__
    mine = edited(workspace, title="My title")
    for older in ({}, {"version": "0.0.9"}, {"version": "next"}, {"version": 7}):
        (workspace / RECORD).write_text(json.dumps(record | older))
        assert write_workspace(workspace, sources) and update_workspace(workspace, sources)
        assert json.loads((workspace / RECORD).read_text())["version"] == __version__
    assert (workspace / FILE).read_bytes() == mine


@pytest.mark.parametrize("newer", ["99.0.0", __version__.rpartition(".")[0] + ".1000"])
def test_a_workspace_of_a_newer_course_is_left_alone(place, newer):
    """An older course would take untouched lessons back, and offer to merge its own into the others."""
    sources, workspace = place
    record = json.loads((workspace / RECORD).read_text()) | {"version": newer}
    (workspace / RECORD).write_text(json.dumps(record))
    edited(workspace, title="My title")
    course(sources, part("title", "# Old"))
    before = {path: path.read_bytes() for path in workspace.rglob("*.*") if path.suffix != ".lock"}
    for command in (write_workspace, update_workspace, reset):
        with pytest.raises(CopyError, match=f"was written by version {newer} of the course.*nothing was changed"):
            command(workspace, sources)
    assert {path: path.read_bytes() for path in workspace.rglob("*.*") if path.suffix != ".lock"} == before


def test_a_course_that_is_installed_in_part_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("course_utils.tools.workspace.copies.incomplete", lambda: "05_attention.ipynb is missing")
    with pytest.raises(CopyError, match="only in part: 05_attention.ipynb is missing. Install it again"):
        write_workspace(tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_one_command_at_a_time(place, monkeypatch):
    sources, workspace = place
    monkeypatch.setattr("course_utils.tools.workspace.copies.PATIENCE", 0.1)
    with FileLock(workspace / f"{RECORD}.lock"):
        for command in (update_workspace, reset):
            with pytest.raises(CopyError, match="Another `course` command is running in"):
                command(workspace, sources)


def test_a_reset_saves_first_under_a_name_that_is_free(place):
    sources, workspace = place
    untouched = (workspace / FILE).read_bytes()
    assert reset(workspace, sources) == (FILE, None) and not (workspace / SAVED).exists()
    versions = [edited(workspace, title=text) for text in ("one", "two") if reset(workspace, sources)]
    _, saved = reset(workspace, sources)
    assert saved == workspace / SAVED / "00_start_here-2.ipynb"
    assert [path.read_bytes() for path in sorted(saved.parent.iterdir())] == versions
    assert (workspace / FILE).read_bytes() == untouched
    (workspace / FILE).unlink()
    assert reset(workspace, sources) == (FILE, None) and (workspace / FILE).read_bytes() == untouched
    course(sources, part("title", "# New"))
    assert update_workspace(workspace, sources)[0][1] == "renewed", "after a reset it counts as never edited"


def test_a_reset_needs_room_for_what_is_saved_a_workspace_and_a_lesson(place, tmp_path):
    sources, workspace = place
    before = edited(workspace, title="My title")
    (workspace / SAVED).write_text("a file of that name")
    with pytest.raises(CopyError, match="Cannot write"):
        reset(workspace, sources)
    assert (workspace / FILE).read_bytes() == before
    with pytest.raises(NoWorkspace, match="is not a folder with your lessons"):
        reset(tmp_path, sources)
    with pytest.raises(CopyError, match="There is no lesson 07; the lessons are 00."):
        reset_lesson(workspace, "07", sources)


@pytest.mark.parametrize("zipped", [False, True])
def test_the_grader_passes_over_what_a_learner_had_before(place, tmp_path, zipped):
    sources, workspace = place
    edited(workspace, title="My title")
    _, saved = reset(workspace, sources)
    os.utime(saved)  # opened and saved again, so it is the newest file
    ada, bob, only = tmp_path / "class" / "ada", tmp_path / "class" / "bob", tmp_path / "only" / SAVED
    for folder in (ada, bob, only, tmp_path / "unpacked"):
        folder.mkdir(parents=True)
    if zipped:
        with zipfile.ZipFile(ada / "all.zip", "w") as archive:
            for path in workspace.rglob("*.ipynb"):
                archive.write(path, path.relative_to(workspace))
    else:
        workspace.rename(ada / "workspace")
    (bob / FILE).write_text("{}")
    found = gather(tmp_path / "class", tmp_path / "unpacked")
    names = [(one.learner, Path(one.file).name, SAVED in one.file) for one in found]
    assert names == [("ada", FILE, False), ("bob", FILE, False)]
    (only / "00_start_here-1.ipynb").write_text("{}")
    with pytest.raises(HandInError, match="no hand-ins"):
        gather(tmp_path / "only", tmp_path / "unpacked")


NAMES = ["a", "b", "c", "d", "00-f", "g"]


@st.composite
def histories(draw):
    """A lesson, the learner's edits to it, and the course's changes in the meantime."""

    def made(names, version):
        return [
            answer("g" if draw(st.integers(0, 4)) == 0 and version else "f")
            if name == "00-f"
            else part(
                name,
                f"course {name} {draw(st.integers(0, 1)) * version}",
                draw(st.sampled_from(["code", "markdown"])) if not version else kinds[name],
            )
            for name in names
        ]

    first = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    kinds = dict.fromkeys(NAMES, "markdown")
    cells = made(first, 0)
    kinds |= {cell.id: cell.cell_type for cell in cells}
    second = made(draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True)), 1)
    step = st.sampled_from(["edit", "edit", "add", "delete", "repeat", "no id", "move"])
    steps = draw(st.lists(st.tuples(step, st.integers(0, 20)), max_size=6))
    return cells, steps, second, draw(st.sampled_from(["new", "new", "old", "lost"]))


@settings(max_examples=80)
@given(histories())
def test_whatever_was_done_nothing_that_a_learner_wrote_is_lost(history):
    first, steps, second, record = history
    with tempfile.TemporaryDirectory() as folder:
        sources, workspace = Path(folder) / "notebooks", Path(folder) / "work"
        course(sources, *first)
        write_workspace(workspace, sources)
        mine = Mine(workspace)
        for number, (step, where) in enumerate(steps):
            place = where % len(mine.cells) if mine.cells else 0
            text = f"mine {number} \U0001f642\n```\n  "
            if step == "add" or not mine.cells:
                name = uuid.UUID(int=where * 7 + number, version=4).hex[:8]
                mine.cells.insert(place, {"cell_type": "markdown", "id": name, "metadata": {}, "source": text})
            elif step == "edit":
                mine.cells[place]["source"] = text
            elif step == "delete":
                mine.cells.pop(place)
            elif step == "repeat":
                mine.cells.insert(where % (len(mine.cells) + 1), dict(mine.cells[place]))
            elif step == "no id":
                mine.cells[place].pop("id", None)
            else:
                mine.cells.append(mine.cells.pop(place))
        if steps:
            mine.save()
        before = mine.path.read_bytes()
        untouched = fingerprint(before) == fingerprint(course_text(first))
        written = [text for text in mine.texts() if text.startswith("mine")]
        if record == "old":
            old_format(workspace)
        elif record == "lost":
            (workspace / RECORD).write_text("{}")
        course(sources, *second)
        ((name, action, _),) = update_workspace(workspace, sources)
        after = mine.path.read_bytes()
        texts = Mine(workspace).texts()
        assert all(any(text in one for one in texts) for text in written)
        if action == "merged":
            assert [path.read_bytes() for path in (workspace / SAVED).iterdir()] == [before]
            nbformat.validate(json.loads(after))
            assert len({cell["id"] for cell in Mine(workspace).cells}) == len(texts)
        else:
            assert not (workspace / SAVED).exists()
        if untouched and record != "lost":
            assert fingerprint(after) == fingerprint(course_text(second))
        if record == "lost" or not steps:  # then all the course's new text is included
            new = learner_copy(new_notebook(cells=second)).cells
            assert all(cell.source in texts for cell in new if cell.id != "00-f")
        assert update_workspace(workspace, sources) == [(name, "unchanged", "")] and mine.path.read_bytes() == after


def course_text(cells):
    return nbformat.writes(learner_copy(new_notebook(cells=cells)))


def run(*arguments):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


def test_the_commands_say_what_they_did(tmp_path, monkeypatch):
    workspace = tmp_path / "workspace"
    write_workspace(workspace)
    monkeypatch.chdir(tmp_path)
    remember("04-mean-pool", workspace)
    edited_lesson = nbformat.read(workspace / "04_pooling.ipynb", as_version=4)
    edited_lesson.cells[0].source = "Mine"
    nbformat.write(edited_lesson, workspace / "04_pooling.ipynb")
    (workspace / "05_attention.ipynb").unlink()
    done = run("update")
    assert done.exit_code == 0 and done.output == "05_attention.ipynb: written\n"
    assert run("update").output == "Nothing has changed: your lessons are up to date.\n"
    done = run("reset", "4")
    assert done.exit_code == 0 and done.output.splitlines()[0] == (
        "04_pooling.ipynb is restored to the course's version; yours is saved as "
        f"{Path('workspace', SAVED, '04_pooling-1.ipynb')}."
    )
    assert passed(workspace) == {"04-mean-pool"}
    assert run("reset", "04_pooling.ipynb", "--forget").output.endswith("Forgotten: 04-mean-pool.\n")
    assert passed(workspace) == set()
    for wrong in ("99", "foo", "", "05_further", "9" * 5000):
        done = run("reset", wrong)
        keys = ", ".join(lesson.key for lesson in overview(None).lessons)
        assert done.exit_code == 1 and done.output.endswith(f"; the lessons are {keys}.\n")
    (workspace / "05_attention.ipynb").write_text("{")
    said = run("update").output
    assert "05_attention.ipynb: this file is not a valid notebook and was left unchanged. `" in said
    assert "reset 05`" in said


def test_lab_names_the_commands_that_bring_the_courses_version(tmp_path, monkeypatch):
    monkeypatch.setattr(cli.os, "execv", lambda *_: None)
    monkeypatch.setattr(cli.subprocess, "call", lambda *_: 0)
    monkeypatch.setattr("course_utils.tools.kernels.provisioner.start_warm", lambda: None)
    kept = [("04_pooling.ipynb", "kept")]
    monkeypatch.setattr("course_utils.tools.workspace.copies.write_workspace", lambda _, **__: kept)
    said = run("lab", "--workspace", tmp_path / "my work").output
    assert f'course update --workspace "{tmp_path / "my work"}"` merges' in said
    assert f'course reset 04 --workspace "{tmp_path / "my work"}"` saves' in said
    assert "home folder" not in said
    monkeypatch.chdir(tmp_path)
    assert "course update` merges" in run("lab").output


def test_lab_command_passes_flags_on_and_needs_no_display(monkeypatch, tmp_path):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    command = lab.command_line(tmp_path, ("--port", "9999"))
    assert command[-2:] == ["--port", "9999"]
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in command
    if sys.platform.startswith("linux"):
        assert "--no-browser" in command


def test_lab_starts_with_the_courses_layout_and_keeps_the_learners(tmp_path):
    lab.write_first_layout(tmp_path)
    (stored,) = (tmp_path / lab.LAB_FILES).iterdir()
    assert f"--LabApp.workspaces_dir={stored.parent}" in lab.command_line(tmp_path)
    assert "toc" in json.loads(stored.read_text())["data"]["layout-restorer:data"]["right"]["current"]
    stored.write_text("{}")
    lab.write_first_layout(tmp_path)
    assert stored.read_text() == "{}"


def test_lab_reports_an_impossible_workspace_in_one_line(tmp_path):
    (tmp_path / "w").write_text("")
    result = run("lab", "--workspace", tmp_path / "w")
    assert result.exit_code == 1 and result.output.startswith("Error: Cannot write ")


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Write the runtime file of a running server, as Jupyter does."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "runtime").mkdir()

    def write(number, **more):
        note = {"url": "http://localhost:1/", "hostname": "localhost", "port": 1, "token": "", "pid": os.getpid()}
        note |= {"root_dir": str(tmp_path / "w"), **more}
        (tmp_path / "runtime" / f"jpserver-{number}.json").write_text(json.dumps(note))

    return write


def test_a_lab_that_runs_is_found_by_its_note(notes, tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "w")
    assert lab.find_running_server(tmp_path / "w") is None
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
        # another folder, a process that is gone, a port where nobody listens
        for number, more in enumerate([{"root_dir": str(tmp_path)}, {"pid": 2**22 + 1}, {"port": 1}], 1):
            notes(number, **{"port": port, **more})
        assert lab.find_running_server(tmp_path / "w") is None
        notes(4, port=port, url=f"http://localhost:{port}/", hostname="0.0.0.0", token="abc")
        found = {"port": port, "address": f"http://localhost:{port}/lab/tree/00_start_here.ipynb?token=abc"}
        assert lab.find_running_server(tmp_path / "w") == lab.find_running_server(tmp_path / "link") == found
        live = lab.find_running_server(tmp_path / "w", "workspaces/a/tree/b.ipynb")["address"]
        assert live == f"http://localhost:{port}/lab/workspaces/a/tree/b.ipynb?token=abc"


@pytest.mark.parametrize("note", ["[]", "{", '{"pid": 1}', "\x00"])
def test_a_damaged_note_keeps_nobody_from_working(notes, tmp_path, note):
    (tmp_path / "runtime" / "jpserver-1.json").write_text(note)
    assert lab.find_running_server(tmp_path) is None


def test_lab_starts_serves_the_first_lesson_and_prints_its_address_without_a_home_folder(tmp_path, monkeypatch):
    """With one, the tests in a browser start it."""
    port = free_port()
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "me"))  # nobody, not even root, can make that folder
    for name in lab.HOMELESS:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, "-m", "course_utils.tools.cli", "lab", "--workspace", str(tmp_path / "w")]
    command += [f"--port={port}", "--IdentityProvider.token=secret"]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **piped, env=environment) as started:
        try:
            lines = []
            for line in started.stdout:
                lines.append(line)
                if f"127.0.0.1:{port}/lab/tree/00_start_here.ipynb?token=" in line:
                    break
            else:
                pytest.fail("".join(lines))
            address = f"http://127.0.0.1:{port}/api/contents/00_start_here.ipynb?content=0&token=secret"
            assert json.load(open_when_ready(address))["type"] == "notebook"
            mine = tmp_path / "w" / "04_pooling.ipynb"
            mine.unlink()
            second = run("lab", "--workspace", tmp_path / "w", "--port=9")
            homeless, found = second.output.splitlines()
            assert second.exit_code == 0 and not mine.exists()
            assert homeless.startswith("Your home folder cannot be written, so Jupyter keeps its files")
            assert f"on port {port}: continue at http://" in found
            assert "/lab/tree/00_start_here.ipynb?token=secret, or stop it" in found
        finally:
            started.terminate()


def open_when_ready(address, seconds=30):
    """The address is printed shortly before the server listens."""
    end = time.monotonic() + seconds
    while True:
        try:
            return urllib.request.urlopen(address, timeout=seconds)
        except URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def test_the_doctor_finds_all_well_here(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "DISK_GB", 0)  # free space on this machine does not matter here
    monkeypatch.setattr(doctor, "MEMORY_GB", 0)
    status = doctor.main()
    lines = capsys.readouterr().out.splitlines()
    assert status == 0, lines
    assert [line[:4] for line in lines] == ["OK  "] * len(doctor.CHECKS)


def test_the_doctor_names_wrong_and_missing_packages(tmp_path):
    lock = tmp_path / "requirements.lock"
    lock.write_text("click==0.1\nno-such-package==1.0\nappnope==9 ; sys_platform == 'nowhere'\n")
    finding = doctor.packages(lock)
    assert not finding.ok and "locked 0.1" in finding.detail and "no-such-package missing" in finding.detail
    assert str(finding).startswith("FAIL") and f'Fix: "{sys.executable}" -m pip install -r' in str(finding)
    lock.write_text("not a requirement ===\n")
    assert not doctor.packages(lock).ok
    assert not doctor.packages(tmp_path / "gone").ok
    lock.write_text("")
    assert not doctor.packages(lock).ok


def test_the_doctor_works_without_torch_and_says_so(tmp_path):
    """A bare Python with only the standard library and pip."""
    here = str(doctor.PACKAGE.parent)
    code = f"import sys; sys.path.insert(0, {here!r}); from course_utils.tools import doctor; sys.exit(doctor.main())"
    base = getattr(sys, "_base_executable", sys.executable)
    done = subprocess.run([base, "-I", "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert "torch missing" in done.stdout or "missing, locked" in done.stdout
    assert "FAIL  encoder" in done.stdout and "FAIL  notebook kernel" in done.stdout
    assert "\nOK    Python" in done.stdout
    assert all(line.endswith("Fix: make setup") for line in done.stdout.splitlines() if line.startswith("FAIL"))


@pytest.mark.parametrize("answers, says", [(True, "answers"), (False, "does not answer")])
def test_the_doctor_asks_the_hub(answers, says, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(downloads, "hub_answers", lambda: answers)
    assert f" {says};" in str(doctor.hub())


def test_the_doctor_says_what_a_place_may_break(tmp_path, monkeypatch):
    fine = tmp_path / "course"
    assert doctor.place(fine.parent).ok and ";" not in str(doctor.place(Path(tmp_path.anchor, "tmp")))
    for name, says in {"OneDrive - School": "with --workspace", "Kurs für alle": "beyond ASCII are fine"}.items():
        (tmp_path / name).mkdir()
        assert doctor.place(tmp_path / name).ok and says in str(doctor.place(tmp_path / name))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert not doctor.place(tmp_path).ok


@pytest.mark.parametrize("home, says", [("me", "can be written"), ("file/me", "cannot be written")])
def test_the_doctor_looks_at_the_home_folder(tmp_path, monkeypatch, home, says):
    (tmp_path / "file").touch()
    monkeypatch.setattr(Path, "home", lambda: tmp_path / home)
    assert doctor.home().ok and doctor.home().detail.startswith(says)


@pytest.mark.parametrize(
    "changed, says",
    [
        ({}, ""),
        ({"course_utils/b.ipynb": None}, "b.ipynb is missing"),
        ({"course_utils/b.ipynb": "cut", "course_utils/c.csv": None}, "b.ipynb is cut off, and 1 more file"),
        ({"../bin/course": "with another first line, as pipx writes it"}, ""),
        ({"course.dist-info/RECORD": None}, "pip has not recorded what it installed"),
    ],
)
def test_the_doctor_sees_an_installation_that_broke_off(tmp_path, monkeypatch, changed, says):
    place = tmp_path / "packages"
    recorded = ("course_utils/a.py", "course_utils/b.ipynb", "course_utils/c.csv", "../bin/course")
    record = "".join(f"{name},,10\n" for name in recorded)
    for name, text in {**dict.fromkeys(recorded, "0123456789"), "course.dist-info/RECORD": record, **changed}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        if text:
            (place / name).write_text(text)
    monkeypatch.setattr(notebooks, "INSTALLED", True)
    monkeypatch.setattr(notebooks.metadata, "distribution", lambda _: PathDistribution(place / "course.dist-info"))
    assert notebooks.incomplete() == says
    finding = doctor.course()
    assert finding.ok == (not says) and says in finding.detail


def test_the_doctor_tells_of_a_proxy_without_its_password(monkeypatch):
    for name in (*doctor.PROXIES, "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert str(doctor.proxy()).endswith("proxy: none")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy.school:8080")
    assert "proxy.school:8080" in str(doctor.proxy()) and "secret" not in str(doctor.proxy())
    assert "set NO_PROXY" in str(doctor.proxy())
    monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1")
    assert "not for localhost" in str(doctor.proxy())


VERSIONS = [types.SimpleNamespace(version=version) for version in ("0.1.0", "0.0.9")]
BROKEN = [
    ("python_version", "BITS", 32, "32-bit, for which there is no PyTorch"),
    ("pip", "metadata.version", lambda _: "19.0.3", "too old"),
    ("course", "metadata.distributions", lambda **_: VERSIONS, "2 versions are installed: 0.0.9, 0.1.0"),
    ("disk", "DISK_GB", 10**9, "GB free"),
    ("memory", "MEMORY_GB", 10**9, "GB"),
]


@pytest.mark.parametrize("name, thing, value, says", BROKEN)
def test_the_doctor_names_what_cannot_work(name, thing, value, says, monkeypatch):
    monkeypatch.setattr(f"{doctor.__name__}.{thing}", value)
    finding = getattr(doctor, name)()
    assert not finding.ok and says in str(finding) and "Fix: " in str(finding)


def test_the_doctor_goes_on_after_a_check_that_breaks(monkeypatch, capsys):
    def broken_thing():
        raise PermissionError("not for you")

    monkeypatch.setattr(doctor, "CHECKS", (broken_thing, doctor.python_version))
    assert doctor.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("FAIL  broken thing: PermissionError: not for you") and lines[1].startswith("OK")


def test_the_doctor_tries_the_encoder_that_lessons_will_use(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_ENCODER", str(tmp_path))
    finding = doctor.first_embedding()
    assert not finding.ok and "no config.json" in finding.detail and finding.fix == "unset COURSE_ENCODER"


def test_the_doctor_sees_a_foreign_kernel(monkeypatch):
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

    other = KernelSpec(argv=["/opt/other/bin/python"])
    monkeypatch.setattr(KernelSpecManager, "get_kernel_spec", lambda self, name: other)
    assert "a different Python" in doctor.kernel().detail and sys.executable in doctor.kernel().fix
