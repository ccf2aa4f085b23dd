"""The learner's copies: written once, renewed if unedited, otherwise merged; no work is overwritten.

Also the commands that manage them.
"""

import errno
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from unittest.mock import Mock, patch

import nbformat
import pytest
from filelock import FileLock
from hypothesis import given, settings, strategies
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_utils import __version__
from course_utils._support.files import Notice, save_beside
from course_utils._support.notebooks import PICTURES
from course_utils.diary.passed import passed, remember
from course_utils.diary.workspace import RECORD, SAVED
from course_utils.tools.grading.results import GradeError
from course_utils.tools.grading.submissions import gather
from course_utils.tools.workspace import copies, lab
from course_utils.tools.workspace.copies import CopyError, write_workspace
from course_utils.tools.workspace.merging import CODE_NOTE, FRAME_NOTE, TEXT_NOTE, fingerprint
from course_utils.tools.workspace.overview import overview

from .commands import output_of, run, run_lab
from .grader import COURSE
from .offline import free_port, open_when_ready

FILE = "00_start_here.ipynb"
# the cell of an exercise: in the course, in a fresh copy, and with a learner's answer
SOLVED = "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
STUBBED = "def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
ANSWERED = "def f(x):\n    return 3"
# nbgrader's mark of a cell in which learners write an answer
ANSWER = {
    "grade": False,
    "grade_id": "00-f",
    "locked": False,
    "schema_version": 3,
    "solution": True,
    "task": False,
}


# `kind` is "code" or "markdown"; `name` becomes the id.
def new_cell(name, text, kind="markdown", **metadata):
    return (new_code_cell if kind == "code" else new_markdown_cell)(
        text, id=name, metadata=metadata
    )


# The cell of the exercise, which asks for a function of this name.
def answer(name="f"):
    return new_cell("00-f", SOLVED.replace("def f", f"def {name}"), "code", nbgrader=ANSWER)


def lesson(*, title="# Title", work="x = 1", function="f", end="The end", above=(), below=()):
    """Cells: a title, some work, `above`, an exercise, an end (unless None), `below`.

    function: the name of the one that the exercise asks for.
    """
    last = [] if end is None else [new_cell("end", end)]
    return [
        new_cell("title", title),
        new_cell("work", work, "code"),
        *above,
        answer(function),
        *last,
        *below,
    ]


# Writes the course's only lesson, with these cells.
def course(folder, *cells):
    folder.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells)), folder / FILE)


@pytest.fixture
def sources(tmp_path):
    """A course with one lesson."""
    course(tmp_path / "notebooks", *lesson())
    return tmp_path / "notebooks"


@pytest.fixture
def workspace(sources, tmp_path):
    """A workspace written from it."""
    write_workspace(tmp_path / "my work", sources)
    return tmp_path / "my work"


class LearnersCopy:
    """A learner's copy of the lesson, to be edited as JupyterLab would."""

    def __init__(self, workspace):
        self.path = workspace / FILE
        self.notebook = json.loads(self.path.read_text(encoding="utf-8"))
        self.cells = self.notebook["cells"]

    def __getitem__(self, name):
        return next(cell for cell in self.cells if cell.get("id") == name)

    # Add a cell below the one with the id `after`, or above all if that is None.
    def add(self, after, text, kind="code", name=None):
        place = self.cells.index(self[after]) + 1 if after else 0
        self.cells.insert(place, new_cell(name or str(uuid.uuid4()), text, kind))

    # Write the file; returns its bytes.
    def save(self):
        self.path.write_text(json.dumps(self.notebook), encoding="utf-8")
        return self.path.read_bytes()

    def texts(self):
        return ["".join(cell["source"]) for cell in self.cells]


def edited(workspace, **texts):
    """Give cells of the learner's copy other texts, and save it. Returns the file's bytes.

    texts: {id of a cell: text}; `f` stands for the exercise, since no keyword can be its id "00-f".
    """
    own_copy = LearnersCopy(workspace)
    for name, text in texts.items():
        own_copy["00-f" if name == "f" else name]["source"] = text
    return own_copy.save()


def updated(workspace, cells):
    """Change the course's lesson and update. Returns the update's message, and the cells' texts."""
    sources = workspace.with_name("notebooks")
    course(sources, *cells)
    ((_, _, message),) = update_workspace(workspace, sources)
    return message, LearnersCopy(workspace).texts()


def updates_nothing(workspace):
    """Whether another update leaves the lesson as it is."""
    before = (workspace / FILE).read_bytes()
    report = update_workspace(workspace, workspace.with_name("notebooks"))
    return report == [(FILE, "unchanged", "")] and (workspace / FILE).read_bytes() == before


def update_workspace(workspace, sources):
    return write_workspace(workspace, sources, merging=True)


def reset(workspace, sources):
    return copies.reset_lesson(workspace, "00", sources)


# ---------------------------------------------------------------- written once


def test_copies_are_written_stubbed_and_without_pictures_for_the_lecture_and_only_once(
    sources, workspace
):
    copy = workspace / FILE
    copy.unlink()
    course(
        sources, *lesson(below=[new_cell("pictures", PICTURES), new_cell("draw", "draw()", "code")])
    )
    assert write_workspace(workspace, sources) == [(FILE, "written", "")]
    assert LearnersCopy(workspace).texts() == ["# Title", "x = 1", STUBBED, "The end"]
    metadata = LearnersCopy(workspace).notebook["metadata"]  # as JupyterLab stores it on opening
    assert metadata["kernelspec"]["display_name"] == "Python 3 (ipykernel)"
    assert metadata["language_info"]["version"] == platform.python_version()
    before = copy.stat().st_mtime_ns
    assert write_workspace(workspace, sources) == [(FILE, "unchanged", "")]
    assert copy.stat().st_mtime_ns == before


def test_a_copy_that_was_only_run_is_renewed(sources, workspace):
    own_copy = LearnersCopy(workspace)
    own_copy["work"]["execution_count"] = 7
    own_copy.notebook["metadata"]["language_info"] = {"name": "python", "version": "3"}
    own_copy.save()
    course(sources, *lesson(title="second text"))
    assert write_workspace(workspace, sources) == [(FILE, "renewed", "")]
    assert LearnersCopy(workspace).texts()[0] == "second text"


# A record is {name of a file: {id of a cell: checksum}} as JSON, and has the course's version.
ODD_ENTRIES = [7, None, [], {"whole": 3, "cells": []}, {"cells": {"title": 4}}]
DAMAGED_RECORDS = ["{", f'["{FILE}"]', "{}", *(json.dumps({FILE: entry}) for entry in ODD_ENTRIES)]
# of a copy that does not say itself what the course wrote there
ODD_METADATA = [None, 3, {}, {"written": None}, {"written": [3]}, {"written": ["title"]}]


def forget_what_was_written(workspace):
    """Make of a copy one of an earlier course, or of an editor that drops metadata."""
    own_copy = LearnersCopy(workspace)
    del own_copy.notebook["metadata"]["course"]
    own_copy.save()


@pytest.mark.filterwarnings("ignore:.*was damaged or no ordinary file")
@pytest.mark.parametrize("record", [None, *DAMAGED_RECORDS])
def test_what_was_edited_is_kept_whatever_the_record_holds(sources, workspace, record):
    forget_what_was_written(workspace)
    edited_bytes = edited(workspace, title="# Title!")
    if record is None:
        (workspace / RECORD).unlink()
    else:
        (workspace / RECORD).write_text(record)
    assert write_workspace(workspace, sources) == [(FILE, "kept", "")]
    assert json.loads((workspace / RECORD).read_text())["version"] == __version__
    course(sources, new_cell("title", "# New"))
    assert write_workspace(workspace, sources) == [(FILE, "kept", "")]
    assert (workspace / FILE).read_bytes() == edited_bytes
    assert "# Title!" in "".join(updated(workspace, [new_cell("title", "# New")])[1])


def test_a_file_in_the_place_of_the_workspace_is_named(sources):
    with pytest.raises(CopyError, match="Cannot write .*: File exists"):
        write_workspace(sources / FILE, sources)


def test_missing_and_damaged_lessons_of_the_course_are_named(sources, tmp_path):
    with pytest.raises(CopyError, match="There are no lessons"):
        write_workspace(tmp_path / "new", tmp_path / "nothing")
    (sources / FILE).write_text("<<<<<<< HEAD")
    with pytest.raises(ValueError, match="00_start_here.ipynb is damaged"):
        write_workspace(tmp_path / "new", sources)


def test_an_incomplete_installation_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "incomplete", lambda: "05_attention.ipynb is missing")
    with pytest.raises(
        CopyError, match="only in part: 05_attention.ipynb is missing. Install it again"
    ):
        write_workspace(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_each_solution_becomes_a_stub():
    assert copies.stub_out(f"{SOLVED}\nx = 1\n{SOLVED}") == f"{STUBBED}\nx = 1\n{STUBBED}"


# no end, no beginning, and a second end
@pytest.mark.parametrize(
    "source", ["### BEGIN SOLUTION\nx", "### END SOLUTION", SOLVED + "\n    ### END SOLUTION"]
)
def test_marks_without_partner_are_an_error(source):
    with pytest.raises(ValueError, match="has no matching marker"):
        copies.stub_out(source)


# ---------------------------------------------------------------- reset and update


def test_an_update_keeps_answers_and_own_cells_and_renews_the_rest(sources, workspace):
    own_copy = LearnersCopy(workspace)
    own_copy["00-f"]["source"] = ANSWERED
    own_copy["00-f"]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["seen\n"]}]
    own_copy.add("work", "my_own = 2")
    own_copy.add("work", "# my note", "markdown")
    own_copy.add(None, "before all")
    before = own_copy.save()
    course(
        sources,
        *lesson(
            title="# New title",
            end=None,
            above=[new_cell("extra", "More")],
            below=[new_cell("last", "Now ends")],
        ),
    )
    message = (
        "cells: 2 new, 1 renewed, 1 removed, 1 with your answer kept, 3 of your own kept; your previous file is "
        "yours_saved/00_start_here-1.ipynb"
    )
    assert update_workspace(workspace, sources) == [(FILE, "merged", message)]
    merged = LearnersCopy(workspace)
    assert merged.texts() == [
        "before all",
        "# New title",
        "x = 1",
        "# my note",
        "my_own = 2",
        "More",
        ANSWERED,
        "Now ends",
    ]
    assert merged["00-f"]["outputs"][0]["text"] == ["seen\n"]
    assert merged["00-f"]["metadata"]["nbgrader"]["solution"]
    assert (workspace / SAVED / "00_start_here-1.ipynb").read_bytes() == before
    nbformat.validate(nbformat.read(merged.path, as_version=4))
    assert updates_nothing(workspace)
    assert write_workspace(workspace, sources) == [(FILE, "unchanged", "")]
    assert os.listdir(workspace / SAVED) == ["00_start_here-1.ipynb"]


def test_where_both_changed_a_cell_the_learners_stands_below_and_an_answer_stays_above_its_new_frame(
    workspace,
):
    edited(
        workspace,
        title="# Mine ``` with fences",
        work="x = 10\n```y```",
        f=ANSWERED,
        end="Half \ud83d",  # half of an emoji, which UTF-8 cannot encode
    )
    message, texts = updated(workspace, lesson(title="# Theirs", work="x = 2", function="f_of"))
    assert re.match(
        r"cells: 1 with your answer kept, 1 edited by you and kept, 2 changed by the course and by you .*, "
        r"1 with new given lines \(a note below your answer shows them\)",
        message,
    )
    frame = f"{FRAME_NOTE}```python\n{STUBBED.replace('def f', 'def f_of')}\n```"
    code = f"{CODE_NOTE}````python\nx = 10\n```y```\n````"
    text = f"{TEXT_NOTE}# Mine ``` with fences"
    assert texts == ["# Theirs", text, "x = 2", code, ANSWERED, frame, "Half \ud83d"]
    message, texts_after_another = updated(
        workspace, lesson(title="# Theirs again", work="x = 3", function="f_of")
    )
    assert re.match("cells: 2 renewed, 1 with your answer kept", message)
    # the text, the code and the frame in the notes, at 1, 3 and 5
    assert texts_after_another[1::2] == texts[1::2], "the learner's notes stay"


def test_a_report_that_a_person_marks_is_an_answer_too(workspace):
    report = new_cell(
        "report", "By the teacher", nbgrader={**ANSWER, "grade": True, "grade_id": "00-report"}
    )
    assert updated(workspace, [new_cell("title", "# Title"), report])[1] == [
        "# Title",
        "YOUR ANSWER HERE",
    ]
    edited(workspace, report="My report ✓")
    message, texts = updated(workspace, [new_cell("title", "# Other"), report])
    assert texts == ["# Other", "My report ✓"]
    assert message.count("1 with your answer kept") == 1


def test_what_was_deleted_stays_away_until_it_changes_and_what_was_removed_stays_if_edited(
    workspace,
):
    own_copy = LearnersCopy(workspace)
    own_copy.cells.remove(own_copy["work"])
    own_copy["title"]["source"] = "   "  # of blanks there is nothing to keep
    own_copy["end"]["source"] = "My end"
    own_copy.save()
    message, texts = updated(workspace, lesson(title="# Other", end=None))
    assert texts == ["# Other", STUBBED, "My end"]
    assert "1 deleted by you and not restored" in message
    assert updated(workspace, lesson(title="# Other", work="x = 2", end=None))[1] == [
        "# Other",
        "x = 2",
        STUBBED,
        "My end",
    ]


LOST_IDS = {
    "missing": lambda cell: cell.pop("id"),
    "all the same": lambda cell: cell.update(id="same"),
    "odd": lambda cell: cell.update(
        id=["no", "text"] if cell["cell_type"] == "markdown" else "ö" * 99
    ),
    "pasted": lambda cell: cell.update(id=str(uuid.uuid4())),  # cutting and pasting gives a new id
    "twice": lambda cell: None,  # the test itself adds a cell with an id that is there
}


@pytest.mark.parametrize("way", LOST_IDS)
def test_ids_that_an_editor_lost_or_gave_twice(workspace, way):
    own_copy = LearnersCopy(workspace)
    own_copy["00-f"]["source"] = ANSWERED
    own_copy.add("end", "own")
    twice = ["def f(x):\n    return 4"] if way == "twice" else []
    own_copy.cells += [{**own_copy["00-f"], "source": text} for text in twice]
    for cell in own_copy.cells:
        LOST_IDS[way](cell)
    # cells have ids since version 4.5 of the format
    own_copy.notebook["nbformat_minor"] = 4 if way == "missing" else 5
    own_copy.save()
    _, texts = updated(workspace, lesson(title="# New title", above=[new_cell("more", "More")]))
    assert texts == ["# New title", "x = 1", "More", ANSWERED, "The end", "own", *twice]
    nbformat.validate(nbformat.read(own_copy.path, as_version=4))
    assert len({cell["id"] for cell in LearnersCopy(workspace).cells}) == len(texts)


def test_an_update_that_was_cut_off_before_its_record_is_not_done_twice(workspace):
    edited(workspace, title="Mine", work="x = 9", f=ANSWERED)
    record = (workspace / RECORD).read_bytes()
    message, _ = updated(workspace, lesson(title="# Theirs", work="x = 2", function="g"))
    assert "changed by the course and by you" in message
    (workspace / RECORD).write_bytes(record)
    assert updates_nothing(workspace)


@pytest.mark.parametrize("metadata", ODD_METADATA, ids=repr)
def test_without_a_record_all_that_differs_counts_as_the_learners(workspace, metadata):
    (workspace / RECORD).write_text("{}")
    own_copy = LearnersCopy(workspace)
    own_copy.notebook["metadata"]["course"] = metadata
    own_copy.save()
    edited(workspace, work="x = 10", f=ANSWERED)
    message, texts = updated(workspace, lesson(title="# New", end=None))
    code = f"{CODE_NOTE}```python\nx = 10\n```"
    assert texts == ["# New", TEXT_NOTE + "# Title", "x = 1", code, ANSWERED, "The end"]
    assert "no record of which cells you changed" in message
    assert updates_nothing(workspace)


# ---------------------------------------------------------------- the file decides


def test_a_lesson_that_was_open_during_an_update_is_updated_again(sources, workspace):
    """JupyterLab asks "Overwrite or Revert?" when an open lesson was changed; "Overwrite" brings the
    old one back, with the cells that the learner edited meanwhile.
    """
    open_in_jupyterlab = (workspace / FILE).read_bytes()
    second = lesson(title="# Second", work="x = 2", above=[new_cell("extra", "More")])
    updated(workspace, second)
    (workspace / FILE).write_bytes(open_in_jupyterlab)
    assert update_workspace(workspace, sources) == [(FILE, "renewed", "")]
    assert LearnersCopy(workspace).texts() == ["# Second", "x = 2", "More", STUBBED, "The end"]

    (workspace / FILE).write_bytes(open_in_jupyterlab)
    edited(workspace, f=ANSWERED, end="My end")
    # at once, or only at the next version
    for title in ("# Second", "# Third"):
        course(sources, *lesson(title=title, work="x = 2", above=[new_cell("extra", "More")]))
        own_copy = (workspace / FILE).read_bytes()
        ((_, action, description),) = update_workspace(workspace, sources)
        assert (action, description.partition(";")[0]) == (
            "merged",
            "cells: 1 new, 2 renewed, 1 with your answer kept, 1 edited by you and kept",
        )
        assert LearnersCopy(workspace).texts() == [title, "x = 2", "More", ANSWERED, "My end"]
        assert updates_nothing(workspace)
        (workspace / FILE).write_bytes(own_copy)


def test_a_restored_backup_is_updated_whatever_became_of_the_record(sources, workspace):
    edited(workspace, f=ANSWERED)
    backup = (workspace / FILE).read_bytes()
    updated(workspace, lesson(title="# Second"))
    for record in ("{}", (workspace / RECORD).read_text()):
        (workspace / RECORD).write_text(record)
        (workspace / FILE).write_bytes(backup)
        message, texts = updated(workspace, lesson(title="# Second"))
        assert message.startswith("cells: 1 renewed, 1 with your answer kept; ")
        assert texts == ["# Second", "x = 1", ANSWERED, "The end"]


def test_a_merge_that_changes_no_cell_still_notes_the_version(sources, workspace):
    own_copy = LearnersCopy(workspace)
    own_copy.cells.remove(own_copy["end"])
    own_copy["work"]["source"] = "x = 2"
    own_copy.save()
    # the course has made the learner's two changes itself
    second = [new_cell("title", "# Title"), new_cell("work", "x = 2", "code"), answer()]
    assert updated(workspace, second)[0] == ""
    assert not (workspace / SAVED).exists()
    third = [new_cell("title", "# Title"), new_cell("work", "x = 3", "code"), answer()]
    course(sources, *third)
    assert update_workspace(workspace, sources) == [(FILE, "renewed", "")]


def test_a_copy_that_says_nothing_of_its_version_is_compared_with_the_record(sources, workspace):
    forget_what_was_written(workspace)
    course(sources, *lesson(title="# Second"))
    assert update_workspace(workspace, sources) == [(FILE, "renewed", "")]


# ---------------------------------------------------------------- links, pipes, damaged records

ODD_THINGS = {
    "link": lambda path, elsewhere: path.symlink_to(elsewhere),
    "dangling link": lambda path, elsewhere: path.symlink_to(elsewhere.with_name("nothing")),
    "device": lambda path, elsewhere: path.symlink_to("/dev/zero"),
    "pipe": lambda path, elsewhere: os.mkfifo(path),
    "folder": lambda path, elsewhere: path.mkdir(),
}


@pytest.fixture
def elsewhere(tmp_path):
    """A file outside the workspace, which must stay as it is."""
    path = tmp_path / "elsewhere" / FILE
    path.parent.mkdir()
    path.write_text("{}")
    yield path
    assert path.read_text() == "{}"
    assert os.listdir(path.parent) == [FILE]


@pytest.mark.timeout(120)  # reading a pipe would wait for ever
@pytest.mark.parametrize("thing", ODD_THINGS)
def test_what_is_no_file_is_neither_read_nor_replaced_and_is_named(
    sources, workspace, elsewhere, thing
):
    (workspace / FILE).unlink()
    ODD_THINGS[thing](workspace / FILE, elsewhere)
    before = os.lstat(workspace / FILE)
    kind = "no ordinary file" if thing in ("pipe", "folder") else "a symbolic link"
    sentence = (
        f"{FILE} is {kind}, which the course neither follows nor replaces. Rename or delete it, "
        "and run this again."
    )
    for command in (write_workspace, update_workspace):
        reports = command(workspace, sources)
        assert reports == [(FILE, "blocked", sentence)]
        assert copies.report_lines(reports, workspace) == [sentence]
    with pytest.raises(CopyError, match=re.escape(sentence)):
        reset(workspace, sources)
    assert os.lstat(workspace / FILE) == before
    (workspace / FILE).rename(workspace / "mine")
    assert write_workspace(workspace, sources) == [(FILE, "written", "")]


def test_linked_folders_of_a_workspace_get_no_files_and_a_linked_workspace_does(
    sources, workspace, elsewhere
):
    (sources / "further").mkdir()
    for name in ("00_x.ipynb", "00_y.ipynb"):
        shutil.copy(sources / FILE, sources / "further" / name)
    (workspace / "further").symlink_to(elsewhere.parent)
    reports = update_workspace(workspace, sources)
    assert [report.action for report in reports] == ["unchanged", "blocked", "blocked"]
    (line,) = copies.report_lines(reports, workspace)
    assert line.startswith("further is a symbolic link, which the course neither follows")

    before = edited(workspace, title="Mine")
    (workspace / SAVED).symlink_to(elsewhere.parent)
    course(sources, *lesson(title="# New"))
    for command in (update_workspace, reset):
        with pytest.raises(CopyError, match=f"^{SAVED} is a symbolic link"):
            command(workspace, sources)
    assert (workspace / FILE).read_bytes() == before

    (workspace / SAVED).unlink()
    link = workspace.with_name("link")
    link.symlink_to(workspace)
    assert update_workspace(link, sources)[0].action == "merged"


def test_lab_follows_no_link_either(workspace, elsewhere):
    (workspace / "today.ipynb").symlink_to(elsewhere.with_name("today.ipynb"))
    (workspace / lab.LAB_FILES).symlink_to(elsewhere.parent)
    lab.write_at_first(workspace)
    assert (workspace / "today.ipynb").is_symlink()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("thing", ["damaged", *ODD_THINGS])
def test_a_damaged_record_is_kept_beside_and_named(sources, workspace, elsewhere, thing):
    (workspace / RECORD).unlink()
    if thing == "damaged":
        (workspace / RECORD).write_text("{")
    else:
        ODD_THINGS[thing](workspace / RECORD, elsewhere)
    before = os.lstat(workspace / RECORD)
    sentence = (
        ".course.json, the record of what the course wrote, was damaged or no ordinary file. It is "
        "kept as .course.damaged.json, and a new one was begun."
    )
    with pytest.warns(Notice, match=f"^{sentence}$"):
        assert write_workspace(workspace, sources) == [(FILE, "unchanged", "")]
    assert os.lstat(workspace / ".course.damaged.json").st_ino == before.st_ino
    assert json.loads((workspace / RECORD).read_text())["version"] == __version__


def test_a_record_that_may_not_be_read_is_not_written_over(sources, workspace, monkeypatch):
    before = (workspace / RECORD).read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(copies, "read_record", Mock(side_effect=PermissionError(13, "Not yours")))
        with pytest.raises(CopyError, match="Not yours"):
            write_workspace(workspace, sources)
    assert (workspace / RECORD).read_bytes() == before


def test_line_ends_of_another_system_are_no_edit(sources, workspace):
    own_copy = LearnersCopy(workspace)
    own_copy["00-f"]["source"] = "".join(own_copy["00-f"]["source"]).replace("\n", "\r\n")
    own_copy.path.write_bytes(
        json.dumps(own_copy.notebook, indent=1).replace("\n", "\r\n").encode()
    )
    course(sources, new_cell("title", "# New"), answer())
    assert update_workspace(workspace, sources)[0][1] == "renewed"
    edited(workspace, f="def f(x):\r\n    return 3")
    assert updated(workspace, [new_cell("title", "# Newer"), answer()])[1] == [
        "# Newer",
        "def f(x):\r\n    return 3",
    ]


# JSON that is cut off, not a dict, or has no list of cells; a byte order mark; bytes that are no
# text; and lists nested too deeply to be parsed
UNREADABLE = [b"", b"{", b"[]", b"\xef\xbb\xbf{}", b"\x00\xff", b'{"cells": 3}', b"[" * 99_999]


@pytest.mark.parametrize(
    "content",
    # the last two are JSON with cells, but of an older format and of none
    [
        *UNREADABLE,
        b'{"cells": [{"cell_type": "code", "source": "x"}], "nbformat": 3}',
        b'{"cells": [], "nbformat": 4, "nbformat_minor": 1e999}',
    ],
    ids=lambda content: repr(content[-20:]),
)
def test_what_is_no_notebook_stays_and_is_named_and_is_saved_at_a_reset(
    sources, workspace, content
):
    path = workspace / FILE
    path.write_bytes(content)
    course(sources, new_cell("title", "# New"))
    by_lab = "unreadable" if content in UNREADABLE else "kept"
    assert write_workspace(workspace, sources) == [(FILE, by_lab, "")]
    assert update_workspace(workspace, sources) == [(FILE, "unreadable", "")]
    assert path.read_bytes() == content
    _, saved = reset(workspace, sources)
    assert saved.read_bytes() == content
    assert LearnersCopy(workspace).texts() == ["# New"]


@pytest.mark.parametrize(
    "function", ["os.fsync", "os.replace", "course_utils._support.files.open", "os.mkdir"]
)
@pytest.mark.parametrize("command", [update_workspace, reset])
def test_on_a_full_disk_everything_is_as_before(sources, workspace, function, command):
    before, record = edited(workspace, title="My title"), (workspace / RECORD).read_bytes()
    course(sources, new_cell("title", "# New"))
    no_space = OSError(errno.ENOSPC, "No space left on device")
    message = (
        "^Cannot write .*my work: No space left on device. "
        "None of your work is lost; fix that, and run this again.$"
    )
    # create: the name of a built-in function is not in the module
    with (
        patch(function, side_effect=no_space, create=True),
        pytest.raises(CopyError, match=message),
    ):
        command(workspace, sources)
    assert [(workspace / name).read_bytes() for name in (FILE, RECORD)] == [before, record]
    assert not list(workspace.rglob("*.tmp"))
    command(workspace, sources)
    assert [path.read_bytes() for path in (workspace / SAVED).iterdir()] == [before]


@pytest.mark.parametrize("command", [update_workspace, reset])
def test_a_lesson_that_is_saved_at_the_very_moment_is_not_overwritten(
    sources, workspace, monkeypatch, command
):
    edited(workspace, title="My title")
    course(sources, new_cell("title", "# New"))

    def saved_meanwhile(*arguments):
        edited(workspace, title="My newest title")
        return save_beside(*arguments)

    monkeypatch.setattr(copies, "save_beside", saved_meanwhile)
    with pytest.raises(CopyError, match="was just saved by another program"):
        command(workspace, sources)
    assert LearnersCopy(workspace).texts()[0] == "My newest title"


def test_an_update_brings_the_folder_of_further_parts(sources, workspace):
    further = sources / "further" / "00_x.ipynb"
    further.parent.mkdir()
    shutil.copy(sources / FILE, further)
    # the report of the last lesson: (file, action, description)
    assert update_workspace(workspace, sources)[-1][:2] == ("00_x.ipynb", "written")
    written = edited(workspace, title="My title")
    (workspace / "further" / "00_x.ipynb").write_bytes(written)
    course(sources, *lesson(title="# New"))
    shutil.copy(sources / FILE, further)
    assert update_workspace(workspace, sources)[-1].action == "merged"
    assert (workspace / SAVED / "00_x-1.ipynb").read_bytes() == written


# a greater main version, and a greater last part
@pytest.mark.parametrize("newer", ["99.0.0", __version__.rpartition(".")[0] + ".1000"])
def test_a_workspace_of_a_newer_course_is_left_alone(sources, workspace, newer):
    # An older course would take untouched lessons back, and offer to merge its own into the others.
    record = json.loads((workspace / RECORD).read_text())
    assert record["version"] == __version__
    (workspace / RECORD).write_text(json.dumps(record | {"version": newer}))
    edited(workspace, title="My title")
    course(sources, new_cell("title", "# Old"))
    before = [(workspace / name).read_bytes() for name in (FILE, RECORD)]
    for command in (write_workspace, update_workspace, reset):
        with pytest.raises(
            CopyError, match=f"was written by version {newer} of the course.*nothing was changed"
        ):
            command(workspace, sources)
    assert [(workspace / name).read_bytes() for name in (FILE, RECORD)] == before
    assert not (workspace / SAVED).exists()


@pytest.mark.parametrize("command", [write_workspace, update_workspace, reset])
def test_one_command_at_a_time(sources, workspace, monkeypatch, command):
    monkeypatch.setattr(copies, "PATIENCE", 0.1)
    is_running = pytest.raises(CopyError, match="Another `course` command is running in")
    with FileLock(workspace / f"{RECORD}.lock"), is_running:
        command(workspace, sources)


def test_a_home_without_locks_gets_its_lessons_and_one_sentence(tmp_path, monkeypatch):
    def no_locks(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    # writes twice: a live copy, and the lessons
    text = output_of("lab", "--write-only", "--live", "00", "--workspace", tmp_path / "w")
    sentence = (
        f"The disk of {tmp_path / 'w'} has no locks, as some network shares; a file stands for "
        "one. Run only one `course` command at a time there.\n"
    )
    assert text.count(sentence) == 1
    assert "files.py" not in text
    assert (tmp_path / "w" / FILE).exists()
    assert not list(tmp_path.rglob("*.lease"))


def test_a_reset_saves_first_under_a_name_that_is_free(sources, workspace):
    untouched = (workspace / FILE).read_bytes()
    assert reset(workspace, sources) == (FILE, None)
    assert not (workspace / SAVED).exists()
    versions = [edited(workspace, title="one")]
    reset(workspace, sources)
    versions.append(edited(workspace, title="two"))
    _, saved = reset(workspace, sources)
    assert saved == workspace / SAVED / "00_start_here-2.ipynb"
    assert [path.read_bytes() for path in sorted(saved.parent.iterdir())] == versions
    assert (workspace / FILE).read_bytes() == untouched
    (workspace / FILE).unlink()
    assert reset(workspace, sources) == (FILE, None)
    assert (workspace / FILE).read_bytes() == untouched
    course(sources, new_cell("title", "# New"))
    assert update_workspace(workspace, sources)[0][1] == "renewed", (
        "after a reset it counts as never edited"
    )


@pytest.mark.parametrize("zipped", [False, True])
def test_the_grader_passes_over_what_a_learner_had_before(sources, workspace, tmp_path, zipped):
    edited(workspace, title="My title")
    _, saved = reset(workspace, sources)
    os.utime(saved)  # opened and saved again, so it is the newest file
    ada, bob = (tmp_path / "class" / name for name in ("ada", "bob"))
    only = tmp_path / "only" / SAVED
    for folder in (ada, bob, only, tmp_path / "unpacked"):
        folder.mkdir(parents=True)
    shutil.copy(saved, bob / FILE)
    shutil.copy(saved, only)
    if zipped:
        shutil.make_archive(ada / "all", "zip", workspace)
    else:
        workspace.rename(ada / "workspace")
    hand_ins = gather(tmp_path / "class", tmp_path / "unpacked")
    assert [
        (hand_in.learner, Path(hand_in.file).name, SAVED in hand_in.file) for hand_in in hand_ins
    ] == [("ada", FILE, False), ("bob", FILE, False)]
    with pytest.raises(GradeError, match="no hand-ins"):
        gather(tmp_path / "only", tmp_path / "unpacked")


# ids of cells in the histories
NAMES = ["a", "b", "c", "d", "00-f", "g"]


@strategies.composite
def histories(draw):
    """(cells of a lesson, a learner's steps, cells of the next version, "kept" or "lost").

    A step is (what is done, a number from which the place follows); `edit_by_steps` does them. The
    last says what became of the workspace's record.
    """
    kinds = {name: draw(strategies.sampled_from(["code", "markdown"])) for name in NAMES}

    def version_of_course(version):
        names = draw(strategies.lists(strategies.sampled_from(NAMES), min_size=1, unique=True))
        # in one of five histories, the exercise's function is renamed
        exercise = answer("g" if version and draw(strategies.integers(0, 4)) == 0 else "f")
        # in some, text differs from version 0
        texts = {
            name: f"course {name} {draw(strategies.integers(0, 1)) * version}" for name in names
        }
        return [
            exercise if name == "00-f" else new_cell(name, texts[name], kinds[name])
            for name in names
        ]

    # "edit" stands twice, as "kept" below, so that it is drawn more often
    step = strategies.sampled_from(["edit", "edit", "add", "delete", "repeat", "no id", "move"])
    steps = strategies.lists(strategies.tuples(step, strategies.integers(0, 20)), max_size=6)
    return (
        version_of_course(0),
        draw(steps),
        version_of_course(1),
        draw(strategies.sampled_from(["kept", "kept", "lost"])),
    )


# Edit a copy by the steps of a history, and save it if there are any.
def edit_by_steps(own_copy, steps):
    for number, (step, where) in enumerate(steps):
        place = where % len(own_copy.cells) if own_copy.cells else 0
        # an emoji, a fence and blanks at the end: what a merge could damage
        text = f"mine {number} \U0001f642\n```\n  "
        if step == "add" or not own_copy.cells:
            # the same in each run, and different for each of at most six steps
            name = f"{where * 7 + number:08x}"
            own_copy.cells.insert(
                place, {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}
            )
        elif step == "edit":
            own_copy.cells[place]["source"] = text
        elif step == "delete":
            own_copy.cells.pop(place)
        elif step == "repeat":
            own_copy.cells.insert(where % (len(own_copy.cells) + 1), dict(own_copy.cells[place]))
        elif step == "no id":
            own_copy.cells[place].pop("id", None)
        else:
            own_copy.cells.append(own_copy.cells.pop(place))
    if steps:
        own_copy.save()


def course_text(cells):
    return nbformat.writes(copies.learner_copy(new_notebook(cells=cells)))


@settings(max_examples=50)
@given(histories())
def test_whatever_was_done_nothing_that_a_learner_wrote_is_lost(history):
    first, steps, second, record = history
    with tempfile.TemporaryDirectory() as folder:
        sources, workspace = Path(folder) / "notebooks", Path(folder) / "work"
        course(sources, *first)
        write_workspace(workspace, sources)
        own_copy = LearnersCopy(workspace)
        edit_by_steps(own_copy, steps)
        before = own_copy.path.read_bytes()
        untouched = fingerprint(before) == fingerprint(course_text(first))
        written = [text for text in own_copy.texts() if text.startswith("mine")]
        if record == "lost":
            (workspace / RECORD).write_text("{}")
        course(sources, *second)
        ((_, action, _),) = update_workspace(workspace, sources)
        after = own_copy.path.read_bytes()
        texts = LearnersCopy(workspace).texts()
        # what a learner wrote is there
        assert [text for text in written if not any(text in kept for kept in texts)] == []
        # the file before a merge is saved
        if action == "merged":
            assert [path.read_bytes() for path in (workspace / SAVED).iterdir()] == [before]
            nbformat.validate(json.loads(after))
            assert len({cell["id"] for cell in LearnersCopy(workspace).cells}) == len(texts)
        else:
            assert not (workspace / SAVED).exists()
        # what nobody edited is renewed, whatever became of the record
        if untouched:
            assert fingerprint(after) == fingerprint(course_text(second))
            assert action in ("renewed", "unchanged")
        # where nothing was edited, all of the course's new text is there
        if not steps:
            new = copies.learner_copy(new_notebook(cells=second)).cells
            assert all(cell.source in texts for cell in new if cell.id != "00-f")
        assert updates_nothing(workspace)


def test_the_commands_say_what_they_did(tmp_path, monkeypatch):
    workspace = tmp_path / "workspace"
    write_workspace(workspace)
    monkeypatch.chdir(tmp_path)
    remember("00-nearest", workspace)
    own_copy = LearnersCopy(workspace)
    own_copy.add(None, "Mine")
    own_copy.save()
    (workspace / "05_attention.ipynb").unlink()
    assert run("update") == ("05_attention.ipynb: written\n", 0)
    assert run("update") == ("Nothing has changed: your lessons are up to date.\n", 0)
    assert "Which lesson? Name it as in: course reset 04" in run("reset")[0]
    assert f"yours is saved as {Path('workspace', SAVED, '00_start_here-1.ipynb')}." in output_of(
        "reset", "0"
    )
    assert passed(workspace) == {"00-nearest"}
    keys = ", ".join(lesson.key for lesson in overview(None).lessons)
    # no such lesson, no number, nothing, a part of a lesson, and more digits than `int` reads
    for wrong in ("99", "foo", "", "05_further", "9" * 5000):
        assert output_of("reset", wrong, status=1).endswith(f"; the lessons are {keys}.\n")
    (workspace / "05_attention.ipynb").write_text("{")
    assert re.search(
        r"\A05_attention.ipynb: this file is not a valid notebook.* `.*reset 05`.*\n\Z",
        run("update")[0],
    )


def test_lab_names_the_commands_that_bring_the_courses_version(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "course_utils.tools.workspace.lab.write_workspace",
        lambda _: [copies.FileReport("04_pooling.ipynb", "kept", "")],
    )
    text, _ = run_lab(monkeypatch, "--workspace", tmp_path / "my work")
    assert f'course update --workspace "{tmp_path / "my work"}"` merges' in text
    assert f'course reset 04 --workspace "{tmp_path / "my work"}"` saves' in text
    assert "home folder" not in text
    monkeypatch.chdir(tmp_path)
    assert "course update` merges" in run_lab(monkeypatch)[0]


def test_lab_makes_the_folder_of_an_encoder_absolute_for_kernels(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_ENCODER", "model")
    (tmp_path / "model").mkdir()
    monkeypatch.setattr("course_utils.tools.workspace.lab.write_workspace", lambda _: [])
    run_lab(monkeypatch, "--workspace", tmp_path / "my work")
    # here it is not the path of a folder: "model" is in tmp_path
    assert os.environ["COURSE_ENCODER"] == "model", "it may be a hub's name"
    monkeypatch.chdir(tmp_path)
    run_lab(monkeypatch)
    assert os.environ["COURSE_ENCODER"] == str(tmp_path / "model")


def test_lab_starts_with_the_courses_layout_and_keeps_the_learners(monkeypatch, tmp_path):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    lab.write_at_first(tmp_path)
    (stored,) = (tmp_path / lab.LAB_FILES).iterdir()
    command = lab.command_line(tmp_path, ("--port", "9999"))
    assert command[-2:] == ["--port", "9999"]
    assert f"--LabApp.workspaces_dir={stored.parent}" in command
    assert "--no-browser" in command or not sys.platform.startswith("linux")
    data = json.loads(stored.read_text())["data"]
    assert "toc" in data["layout-restorer:data"]["right"]["current"]
    stored.write_text("{}")
    lab.write_at_first(tmp_path)
    assert stored.read_text() == "{}"


def test_lab_starts_serves_the_first_lesson_and_prints_its_address_without_a_home_folder(
    tmp_path, monkeypatch
):
    # That it starts with a home folder is shown by the tests in a browser.
    port = free_port()
    (tmp_path / "file").touch()
    # nobody, not even root, can make that folder
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "me"))
    for name in (*lab.HOMELESS, "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with subprocess.Popen(
        [
            *COURSE,
            "lab",
            "--workspace",
            str(tmp_path / "w"),
            f"--port={port}",
            "--IdentityProvider.token=secret",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as started:
        try:
            opened = f"127.0.0.1:{port}/lab/tree/00_start_here.ipynb?token="
            assert next(started.stdout).startswith("Your home folder cannot be written")
            assert any(opened in line for line in started.stdout), (
                "it ended without printing its address"
            )
            address = (
                f"http://127.0.0.1:{port}/api/contents/00_start_here.ipynb?content=0&token=secret"
            )
            assert json.load(open_when_ready(address))["type"] == "notebook"
        finally:
            started.terminate()
