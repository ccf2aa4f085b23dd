"""A part is what is released, handed in and marked: a lesson's core, and its further part, made here from the core."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from course_utils._support import notebooks
from course_utils._support.notebooks import cores, exercise_parts, part_of
from course_utils.tools.grading import late, marking, names, places
from course_utils.tools.grading.late import Terms, read_lateness
from course_utils.tools.grading.marking import Marker, assignment
from course_utils.tools.grading.names import notebooks_named_in, own_part
from course_utils.tools.grading.owners import Owners
from course_utils.tools.grading.places import place_of
from course_utils.tools.grading.records import records
from course_utils.tools.grading.release import write_release
from course_utils.tools.grading.results import Mark, Result
from course_utils.tools.grading.store import Entry
from course_utils.tools.grading.submissions import Gathered, HandIn
from course_utils.tools.workspace.copies import REPORT_STUB

CACHES = exercise_parts, assignment, names.lesson_names, own_part, places.cells_of, places._slides
NAME = "04_lengths.ipynb"


@pytest.fixture
def divided(tmp_path, monkeypatch):
    """The cores alone, the last exercise of lesson 04 in a further part. Returns its id, and those of the others."""
    folder = tmp_path / "lessons"
    folder.mkdir()
    for path in cores().values():
        shutil.copy(path, folder)
    core = nbformat.read(folder / "04_pooling.ipynb", as_version=4)
    ids = [
        cell.metadata.nbgrader.grade_id
        for cell in core.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    ]
    moved = [
        cell
        for cell in core.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith(ids[-1])
    ]
    title = nbformat.v4.new_markdown_cell("# 04 Pooling, further", id="title")
    section = nbformat.v4.new_markdown_cell("## A section of its own", id="own")
    further = nbformat.v4.new_notebook(cells=[title, section, *moved], metadata=core.metadata)
    core.cells = [cell for cell in core.cells if cell not in moved]
    nbformat.write(core, folder / "04_pooling.ipynb")
    (folder / "further").mkdir()
    nbformat.write(further, folder / "further" / NAME)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", folder)
    for one in CACHES:
        one.cache_clear()
    yield ids[-1], ids[:-1]
    monkeypatch.undo()
    for one in CACHES:
        one.cache_clear()


def result(*ids):
    """A hand-in in which these exercises are passed."""
    work = assignment()["exercises"]
    marks = {one: Mark(one, "passed", work[one][1], work[one][1]) for one in ids}
    return Result("ok", "", sorted({exercise_parts()[one] for one in ids}), marks)


def ada(*hand_ins, lessons=None):
    found = Gathered(
        HandIn("ada", file=file, sha256=file, modified=n) for n, (file, _) in enumerate(hand_ins)
    )
    entries = {("ada", file): Entry("ada", "", file, "", "", one) for file, one in hand_ins}
    return records(found, entries, {}, assignment(), lessons)[0]


def test_both_files_of_one_learner(divided):
    further, core = divided
    both = ada(("04_pooling.ipynb", result(*core)), (NAME, result(further)))
    assert (
        both.points == both.of and both.status == "ok" and len(both.files) == 2 and not both.notes
    )
    alone = ada(("04_pooling.ipynb", result(*core)))
    assert alone.points == alone.of and further not in alone.exercises, (
        "nobody handed the further part in"
    )
    less = ada(("04_pooling.ipynb", result(*core)), lessons=("04", "04-lengths"))
    assert f"{further}: lesson 04-lengths was not handed in" in less.reason


def test_an_undivided_hand_in_has_both_parts_and_counts_for_those_that_count(divided):
    further, core = divided
    old = ("04_pooling.ipynb", result(*core, further))
    assert set(ada(old).exercises) == {*core, further}
    assert set(ada(old, lessons=("04",)).exercises) == {*core}
    assert set(ada(old, lessons=("04-lengths",)).exercises) == {further}
    newer = ada(old, (NAME, result(further)))
    assert newer.notes == [
        f"lesson 04-lengths was handed in more than once; the latest counts: {NAME}"
    ]


def test_a_stub_in_the_part_takes_no_report_back_that_an_undivided_hand_in_has():
    written, stub = (
        replace(result(), texts={"14-report": text}) for text in ("My report", REPORT_STUB)
    )
    for order in ((written, stub), (stub, written)):
        record = ada(*zip(("14_capstone.ipynb", "14_report.ipynb"), order), lessons=("14-report",))
        assert record.by_hand["14-report"].text == "My report"


def test_the_part_of_a_file_is_that_of_its_exercises_else_of_its_title_else_of_its_name(divided):
    further, core = divided
    marker = Marker.__new__(Marker)
    marker.work = assignment()

    def keys(present=(), titles=(), name="a.ipynb", texts=()):
        return marker.lessons_of(
            {"present": list(present), "titles": list(titles), "texts": texts}, name
        )

    assert (
        keys([further]) == ["04-lengths"]
        and keys(core) == ["04"]
        and keys([further, *core]) == ["04", "04-lengths"]
    )
    marker.work["by_hand"] |= {core[0]: 12}
    assert keys([further], texts=[core[0]]) == ["04", "04-lengths"], "a report that a person marks"
    assert keys(titles=["04 Pooling, further"]) == ["04-lengths"]
    assert keys(name="04_lengths-ada.ipynb") == ["04-lengths"] and keys(
        name="04_pooling-ada.ipynb"
    ) == ["04"]
    marker.work = assignment(("04",))
    with pytest.raises(marking._Unreadable, match="no exercise of 04"):
        keys([further])


def test_file_names(divided):
    assert own_part("04_lengths-ada") == own_part("04_pooling-ada") == "ada"
    assert notebooks_named_in("04_lengths-ada 05_attention") == ["04_lengths", "05_attention"]
    judge = Owners([], "", {})
    for name in ("04_lengths", "lesson-04"):
        assert judge.is_lesson(name)
    assert not judge.is_lesson("ada-further")


def test_core_and_further_part_are_released_each_with_its_own_points(divided, tmp_path):
    further, core = divided
    manifest = write_release(["04-lengths", "04"], tmp_path / "out", sources=notebooks.NOTEBOOKS)
    assert manifest["lessons"] == ["04", "04-lengths"] and set(manifest["points"]) == {
        *core,
        further,
    }
    note = json.loads((tmp_path / "out" / "further" / NAME).read_text())["cells"][1]["source"]
    assert f"`{further}`" in "".join(note) and not any(f"`{one}`" in "".join(note) for one in core)
    manifest = write_release(["04"], tmp_path / "core", sources=notebooks.NOTEBOOKS)
    assert set(manifest["points"]) == {*core} and not (tmp_path / "core" / "further").exists()


def test_an_unknown_key_is_answered_with_the_keys(divided):
    with pytest.raises(
        ValueError,
        match="lesson '05-layer' is not in this course; its lessons are .*04, 04-lengths",
    ):
        assignment(("05-layer",))


def test_dates_by_part(divided, tmp_path):
    further, core = divided
    table = tmp_path / "received.csv"
    table.write_text(
        "learner,received,lesson\nada,2026-12-05 09:00,4\nada,2026-12-04 09:00,lesson 04-lengths\n"
    )
    one = ada(("04_pooling.ipynb", result(*core)), (NAME, result(further)))
    read_lateness(Terms("2026-12-04 18:00", "1 point a day", table)).write_to([one])
    assert [(part.lesson, part.days) for part in one.received] == [
        ("04", 1),
        ("04-lengths", 0),
    ] and one.deducted == 1
    assert late._lesson("", "04-lengths") == "04-lengths"


def test_links_lead_to_the_notebook_that_has_the_exercise(divided):
    further, core = divided
    place = place_of(further, "own")
    assert (place.lesson, place.section, place.number) == ("04-lengths", "A section of its own", 0)
    assert (
        place.page.startswith(f"further/{Path(NAME).stem}.html#")
        and part_of(Path(NAME)) == place.lesson
    )
    assert place_of(core[0]).lesson == "04"
