"""A lesson that got another number: workspaces and hand-ins made before lose nothing, and are understood or refused."""

import contextlib
import json
import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_utils._support import passed as records
from course_utils._support.notebooks import NOTEBOOKS
from course_utils._support.passed import PROGRESS, RECORD, SAVED, forget, passed, remember
from course_utils._support.renamed import NEW_IDS, RENAMED, new_id
from course_utils.exercises import all_exercises, find
from course_utils.tools.grading.marking import Marker
from course_utils.tools.grading.owners import own_part
from course_utils.tools.grading.sandbox import Sandbox
from course_utils.tools.workspace import copies, renames
from course_utils.tools.workspace.copies import CopyError, reset_lesson, update_workspace, write_workspace

from .cutting import cutter
from .grader import hand_in, isolation
from .test_workspace import run

OLD, NEW = "12_capstone.ipynb", "14_capstone.ipynb"
FRAME = "def find(q):\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
MINE = "def find(q):\n    return 'mine'"


def capstone(number, *more):
    """The capstone as the course has it under a number."""
    answer = {"grade": False, "grade_id": f"{number}-search", "locked": False, "schema_version": 3, "solution": True}
    report = {**answer, "grade": True, "points": 8, "grade_id": f"{number}-report"}
    return new_notebook(
        cells=[
            new_markdown_cell(f"# {number} Capstone", id="title"),
            new_markdown_cell("The task", id="task"),
            new_code_cell(FRAME, id=f"{number}-search", metadata={"nbgrader": answer}),
            new_code_cell(f'check("{number}-search", find)', id=f"{number}-search-check"),
            new_markdown_cell("A report", id=f"{number}-report", metadata={"nbgrader": report}),
            *more,
        ]
    )


@pytest.fixture
def place(tmp_path):
    """(sources, workspace): a workspace written when the capstone was lesson 12; the course has renamed it since."""
    sources, workspace = tmp_path / "notebooks", tmp_path / "work"
    sources.mkdir()
    nbformat.write(capstone("12"), sources / OLD)
    write_workspace(workspace, sources)
    (sources / OLD).unlink()
    nbformat.write(capstone("14", new_markdown_cell("More", id="more")), sources / NEW)
    return sources, workspace


def edit(path):
    """Work in a copy: an answer, a report, a note in the course's text, and a cell of one's own."""
    copy = json.loads(path.read_text(encoding="utf-8"))
    cells = {cell["id"]: cell for cell in copy["cells"]}
    prefix = next(name[:2] for name in cells if name.endswith("-search"))
    cells[f"{prefix}-search"]["source"] = MINE
    cells[f"{prefix}-report"]["source"] = "My report"
    cells["task"]["source"] += " (my note)"
    copy["cells"].append({"cell_type": "markdown", "id": "0123abcd", "metadata": {}, "source": "My own cell"})
    path.write_text(json.dumps(copy), encoding="utf-8")
    return path.read_bytes()


def texts(path):
    return {cell["id"]: cell["source"] for cell in nbformat.read(path, as_version=4).cells}


def files(workspace):
    found = (path for path in workspace.rglob("*.ipynb") if path.is_file())
    return {str(path.relative_to(workspace)): path.read_bytes() for path in found}


@contextlib.contextmanager
def set_aside(workspace):
    """The copy under the old name is elsewhere meanwhile, and comes back."""
    aside = (workspace / OLD).rename(workspace.parent / OLD)
    yield
    aside.rename(workspace / OLD)


WORK = {"title": "# 14 Capstone", "task": "The task (my note)", "14-search": MINE, "more": "More"}
WORK |= {"14-search-check": 'check("14-search", find)', "14-report": "My report", "0123abcd": "My own cell"}


def test_an_untouched_copy_is_renamed_and_renewed(place):
    sources, workspace = place
    assert update_workspace(workspace, sources) == [(OLD, "renamed", ""), (NEW, "renewed", "")]
    assert not (workspace / OLD).exists() and texts(workspace / NEW)["more"] == "More"
    assert OLD not in json.loads((workspace / RECORD).read_text())
    before = files(workspace)
    assert update_workspace(workspace, sources) == [(NEW, "unchanged", "")] and files(workspace) == before


def test_an_edited_copy_is_renamed_and_merged(place):
    sources, workspace = place
    mine = edit(workspace / OLD)
    (renamed, merged) = update_workspace(workspace, sources)
    assert renamed == (OLD, "renamed", "") and merged[:2] == (NEW, "merged")
    assert texts(workspace / NEW) == WORK and not (workspace / OLD).exists()
    assert (workspace / SAVED / "14_capstone-1.ipynb").read_bytes() == mine
    before = files(workspace)
    for _ in range(2):
        assert update_workspace(workspace, sources) == [(NEW, "unchanged", "")] and files(workspace) == before
    assert write_workspace(workspace, sources) == [(NEW, "unchanged")]
    marks = [cell.metadata.get("nbgrader", {}) for cell in nbformat.read(workspace / NEW, as_version=4).cells]
    assert {mark.get("grade_id") for mark in marks} == {None, "14-search", "14-report"}


@pytest.mark.parametrize("record", ["lost", "old"])
def test_without_a_full_record_nothing_is_lost_either(place, record):
    sources, workspace = place
    edit(workspace / OLD)
    known = json.loads((workspace / RECORD).read_text())
    (workspace / RECORD).write_text(json.dumps({} if record == "lost" else {OLD: known[OLD]["whole"]}))
    assert [row[:2] for row in update_workspace(workspace, sources)] == [(OLD, "renamed"), (NEW, "merged")]
    found = texts(workspace / NEW)
    assert (found["14-search"], found["14-report"], found["0123abcd"]) == (MINE, "My report", "My own cell")
    assert any("(my note)" in text for text in found.values()) and not (workspace / OLD).exists()


def test_lab_renames_too_and_keeps_what_was_edited(place):
    sources, workspace = place
    mine = edit(workspace / OLD)
    assert write_workspace(workspace, sources) == [(OLD, "renamed"), (NEW, "kept")]
    assert (workspace / NEW).read_bytes() == mine and not (workspace / OLD).exists()
    assert update_workspace(workspace, sources)[0][:2] == (NEW, "merged") and texts(workspace / NEW) == WORK


def test_the_courses_copy_under_the_new_name_gives_way_to_the_learners(place):
    sources, workspace = place
    edit(workspace / OLD)
    with set_aside(workspace):
        write_workspace(workspace, sources)  # as by an earlier course that did not know of the old name
    assert [row[:2] for row in update_workspace(workspace, sources)] == [(OLD, "renamed"), (NEW, "merged")]
    assert texts(workspace / NEW) == WORK and not (workspace / OLD).exists()


def test_an_untouched_old_copy_gives_way_to_work_under_the_new_name(place):
    sources, workspace = place
    old = (workspace / OLD).read_bytes()
    with set_aside(workspace):
        write_workspace(workspace, sources)
        edit(workspace / NEW)
    assert update_workspace(workspace, sources)[0] == (OLD, "renamed", "")
    assert texts(workspace / NEW) == WORK and not (workspace / OLD).exists()
    assert old in files(workspace).values()


@pytest.mark.parametrize("command", [write_workspace, update_workspace])
@pytest.mark.parametrize("theirs", ["a notebook", "no notebook", "the course's"])
def test_a_learners_own_file_of_that_name_and_the_old_one_both_stay(place, command, theirs):
    sources, workspace = place
    mine = edit(workspace / OLD)
    if theirs == "the course's":
        with set_aside(workspace):
            write_workspace(workspace, sources)
            edit(workspace / NEW)
    else:
        own = json.dumps(new_notebook(cells=[new_markdown_cell("My thesis", id="a")]))
        (workspace / NEW).write_text(own if theirs == "a notebook" else "shopping list")
    before = files(workspace)
    for _ in range(2):
        assert [row[:2] for row in command(workspace, sources)] == [(OLD, "both")] and files(workspace) == before
    (workspace / NEW).rename(workspace / "mine.ipynb")  # as the message says
    update_workspace(workspace, sources)
    assert texts(workspace / NEW) == WORK and (workspace / "mine.ipynb").read_bytes() == before[NEW]
    assert mine in files(workspace).values() and not (workspace / OLD).exists()


def test_a_learners_own_file_of_the_old_name_is_not_the_courses(tmp_path, place):
    sources, _ = place
    workspace = tmp_path / "another"
    write_workspace(workspace, sources)
    own = json.dumps(new_notebook(cells=[new_markdown_cell("My plans", id="a")]))
    (workspace / OLD).write_text(own)
    assert update_workspace(workspace, sources) == [(NEW, "unchanged", "")] and (workspace / OLD).read_text() == own


def test_an_old_copy_that_is_no_notebook_any_more_is_renamed_and_stays(place):
    sources, workspace = place
    (workspace / OLD).write_text("{ half a")
    assert update_workspace(workspace, sources) == [(OLD, "renamed", ""), (NEW, "unreadable", "")]
    assert (workspace / NEW).read_text() == "{ half a"


@pytest.mark.parametrize("call", range(9))
def test_an_update_that_is_cut_off_anywhere_is_completed_by_the_next(place, monkeypatch, call):
    sources, workspace = place
    mine = edit(workspace / OLD)
    (workspace / SAVED).mkdir()
    (workspace / SAVED / "12_capstone-1.ipynb").write_bytes(b"an earlier version")
    cut = cutter(call)

    with monkeypatch.context() as patch:  # as by a power cut: nothing is written any more, not even the record
        patch.setattr(renames.os, "rename", cut(os.rename))
        for name in ("write_whole", "save_beside"):
            patch.setattr(copies, name, cut(getattr(copies, name)))
        if call < 6:
            with pytest.raises(KeyboardInterrupt):
                update_workspace(workspace, sources)
        else:
            update_workspace(workspace, sources)
    assert mine in files(workspace).values() or texts(workspace / NEW) == WORK
    update_workspace(workspace, sources)
    assert texts(workspace / NEW) == WORK and not (workspace / OLD).exists()
    assert {mine, b"an earlier version"} <= set(files(workspace).values())
    assert [name for name in files(workspace) if "12_" in name] == []
    before = files(workspace)
    assert update_workspace(workspace, sources) == [(NEW, "unchanged", "")] and files(workspace) == before


def test_saved_versions_and_the_checkpoint_get_the_new_name(place):
    sources, workspace = place
    for name in (f"{SAVED}/12_capstone-1", f"{SAVED}/12_capstone-2", f"{SAVED}/14_capstone-1", "notes"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / f"{name}.ipynb").write_text(name)
    (workspace / renames.CHECKPOINTS).mkdir()
    (workspace / renames.CHECKPOINTS / "12_capstone-checkpoint.ipynb").write_text("checkpoint")
    update_workspace(workspace, sources)
    found = {path.name: path.read_text() for path in workspace.rglob("*.ipynb") if path.name != NEW}
    assert found == {
        "14_capstone-1.ipynb": f"{SAVED}/14_capstone-1",
        "14_capstone-2.ipynb": f"{SAVED}/12_capstone-1",
        "14_capstone-3.ipynb": f"{SAVED}/12_capstone-2",
        "14_capstone-checkpoint.ipynb": "checkpoint",
        "notes.ipynb": "notes",
    }


def test_a_reset_restores_the_renamed_lesson_and_saves_what_was_written(place):
    sources, workspace = place
    mine = edit(workspace / OLD)
    assert reset_lesson(workspace, "14", sources)[0] == NEW
    assert texts(workspace / NEW)["14-search"] != MINE and mine in files(workspace).values()
    assert update_workspace(workspace, sources) == [(NEW, "unchanged", "")]
    with pytest.raises(CopyError, match="no lesson 12"):
        reset_lesson(workspace, "12", sources)


def test_passed_exercises_count_under_their_new_ids(place):
    _, workspace = place
    (workspace / PROGRESS).write_text('{"passed": ["04-mean-pool", "12-search", "12-of-a-later-course"], "later": 1}')
    assert passed(workspace) == {"04-mean-pool", "14-search", "12-of-a-later-course"}
    remember("12-diagnose", workspace)  # a check in a notebook that was not updated
    kept = ["04-mean-pool", "12-diagnose", "12-of-a-later-course", "14-search"]
    assert json.loads((workspace / PROGRESS).read_text()) == {"later": 1, "passed": kept}
    assert "14-diagnose" in passed(workspace)
    assert forget(workspace, "14") == {"14-search"} and forget(workspace, "14-further-broken") == {"14-diagnose"}
    assert passed(workspace) == {"04-mean-pool", "12-of-a-later-course"}
    assert records.new_id("12-search") == "14-search"


def test_the_command_says_what_it_did(place, monkeypatch):
    sources, workspace = place
    monkeypatch.setattr(copies, "NOTEBOOKS", sources)
    monkeypatch.setattr(copies.update_workspace, "__defaults__", (sources,))
    own = (workspace / NEW, "mine")
    own[0].write_text(own[1])
    edit(workspace / OLD)
    said = run("update", "--workspace", workspace).output
    assert said.startswith(f"{OLD}: this lesson is now called {NEW}, and you have a file of that name, too.")
    assert "give one of them another name, and run `" in said and "Nothing has changed" in said
    own[0].unlink()
    said = run("update", "--workspace", workspace).output.splitlines()
    assert said[0].startswith(f"{OLD}: this lesson is now called {NEW}, and your file too.")
    assert said[1].startswith(f"{NEW}: 1 cell new") and "your 2 answers" in said[1]


def test_the_table_fits_the_course():
    there = {path.stem for path in NOTEBOOKS.glob("[0-9]*.ipynb")}
    for one in RENAMED:
        assert one.new in there and one.old not in there
    assert not NEW_IDS.keys() & all_exercises().keys(), "an id once given is not given again"
    for path in NOTEBOOKS.glob("[0-9]*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        assert not {cell.id.removesuffix("-check") for cell in cells} & NEW_IDS.keys(), path.name
    assert own_part("12_capstone-ada (2)") == "ada" and own_part("12_capstone") == "", "a file is named after a lesson"
    assert new_id("12-search-check") == "14-search-check" and new_id("12-other") == "12-other" and new_id(None) is None


def test_a_check_under_an_old_id_says_the_new_one():
    for old, new in NEW_IDS.items():
        with pytest.raises(ValueError, match=f"it is now '{new}'" if new in all_exercises() else "is not an exercise"):
            find(old)
    assert NEW_IDS["12-search"] in all_exercises()


def old_hand_in():
    """A hand-in made when the capstone was lesson 12."""
    new = hand_in("14", all="solution").replace("# 14 Capstone", "# 12 Capstone")
    return new.replace('"14-', '"12-')


@pytest.fixture(scope="module")
def sandbox():
    isolation()
    with Sandbox() as made:
        made.wait()
        yield made


SENTENCE = (
    "it has lesson 12 of an earlier version of this course, which is lesson 14 now: `course update` makes it "
    "14_capstone.ipynb and keeps the answers; hand that in"
)


@pytest.mark.parametrize("name", [OLD, NEW, "work.ipynb"])
@pytest.mark.parametrize("lessons", [("14",), ("04", "14")])
def test_a_hand_in_under_the_old_ids_is_refused_in_one_sentence(sandbox, name, lessons):
    marked = Marker(sandbox, lessons, 1).mark(old_hand_in().encode(), name)
    assert (marked.status, marked.reason, marked.exercises) == ("unreadable", SENTENCE, {})


def test_the_old_file_name_alone_does_no_harm(sandbox):
    marked = Marker(sandbox, ("14",), 1).mark(hand_in("14").encode(), OLD)
    assert marked.lessons == ["14"] and marked.problems == []


def test_old_cells_beside_answers_that_count_are_named(sandbox):
    both = json.loads(hand_in("04"))
    both["cells"] += [{**cell, "id": f"x{n}"} for n, cell in enumerate(json.loads(old_hand_in())["cells"])]
    marked = Marker(sandbox, ("04", "14"), 1).mark(json.dumps(both).encode(), "x.ipynb")
    assert marked.lessons == ["04"] and marked.problems == [SENTENCE]
