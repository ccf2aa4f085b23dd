"""A part is what is released, handed in and marked: a lesson's core, and each further part of it."""

import json
from dataclasses import replace

import pytest

from course_utils._support.notebooks import exercise_parts
from course_utils.tools.grading import marking
from course_utils.tools.grading.late import Terms, read_lateness
from course_utils.tools.grading.marking import Marker, assignment
from course_utils.tools.grading.owners import Owners
from course_utils.tools.grading.release import write_release
from course_utils.tools.grading.results import Mark, Result
from course_utils.tools.grading.texts import notebooks_named_in, own_part
from course_utils.tools.workspace.copies import REPORT_STUB

from .marks import ALL_04, WORK, learners

FURTHER = [name for name in WORK["exercises"] if exercise_parts()[name] == "04-lengths"]
CORE_FILE, FURTHER_FILE = "04_pooling.ipynb", "04_lengths.ipynb"


def result(*passed):
    """The result of a hand-in that has these exercises, all passed."""
    points = {name: WORK["exercises"][name][1] for name in passed}
    marks = {name: Mark(name, "passed", most, most) for name, most in points.items()}
    return Result("ok", "", sorted({exercise_parts()[name] for name in passed}), marks)


CORE, BOTH = (CORE_FILE, result(*ALL_04)), ("mine.ipynb", result(*ALL_04, *FURTHER))


def ada(*files, lessons=None):
    """The record of Ada, who hands these files in, one after the other: pairs (name, result)."""
    return learners(
        *(("ada", name, time, result) for time, (name, result) in enumerate(files)), lessons=lessons
    )["ada"]


def test_two_parts_in_two_files_count_together():
    record = ada(CORE, (FURTHER_FILE, result(*FURTHER)))
    assert (record.points, record.status, record.files, record.notes) == (
        record.of,
        "ok",
        [CORE_FILE, FURTHER_FILE],
        [],
    )


def test_a_part_that_nobody_handed_in_does_not_count():
    record = ada(CORE)
    assert (record.points, set(record.exercises)) == (record.of, {*ALL_04})


def test_a_part_that_was_released_counts_and_is_named():
    reason = ada(CORE, lessons=("04", "04-lengths")).reason
    assert f"{FURTHER[0]}: lesson 04-lengths was not handed in" in reason


@pytest.mark.parametrize("lessons, counted", [(None, {*ALL_04, *FURTHER}), (("04",), {*ALL_04})])
def test_of_a_file_with_several_parts_those_of_the_chosen_lessons_count(lessons, counted):
    assert set(ada(BOTH, lessons=lessons).exercises) == counted


def test_a_part_in_two_files_counts_once():
    (note,) = ada(BOTH, (FURTHER_FILE, result(*FURTHER))).notes
    assert note == (
        f"lesson 04-lengths was handed in more than once; the latest counts: {FURTHER_FILE}"
    )


@pytest.mark.parametrize("texts", [("My report", REPORT_STUB), (REPORT_STUB, "My report")])
def test_a_stub_takes_no_report_back(texts):
    reports = [replace(result(), texts={"14-report": text}) for text in texts]
    files = zip(("14_capstone.ipynb", "14_report.ipynb"), reports)
    assert ada(*files, lessons=("14-report",)).by_hand["14-report"].text == "My report"


def parts_of(lessons, name="a.ipynb", **contents):
    """The parts of lessons that a marker of these lessons finds in a file with these contents."""
    marker = Marker.__new__(Marker)  # without a sandbox, which only its __init__ needs
    marker.work = assignment(lessons)
    return marker.lessons_of({"present": (), "titles": (), "texts": (), **contents}, name)


@pytest.mark.parametrize(
    "file, parts",
    [
        # by its exercises and reports
        ({"present": FURTHER}, ["04-lengths"]),
        ({"present": ALL_04}, ["04"]),
        ({"present": [*FURTHER, *ALL_04]}, ["04", "04-lengths"]),
        ({"present": FURTHER, "texts": ["14-report"]}, ["04-lengths", "14-report"]),
        # else by its title
        ({"titles": [WORK["titles"]["04-lengths"]]}, ["04-lengths"]),
        ({"titles": ["04 Another title"]}, ["04", "04-lengths"]),
        # else by its name
        ({"name": "04_lengths-ada.ipynb"}, ["04-lengths"]),
        ({"name": "04_pooling-ada.ipynb"}, ["04"]),
    ],
)
def test_the_part_of_a_file_is_that_of_its_exercises_else_of_its_title_else_of_its_name(
    file, parts
):
    assert parts_of(None, **file) == parts


def test_a_file_with_other_parts_only_is_refused():
    with pytest.raises(marking.NotJudged, match="no exercise of 04"):
        parts_of(("04",), present=FURTHER)


def test_names_of_parts_are_known_in_names_of_files():
    assert own_part("04_lengths-ada") == own_part("04_pooling-ada") == "ada"
    assert notebooks_named_in("04_lengths-ada 05_attention") == ["04_lengths", "05_attention"]
    names = ("04_lengths", "lesson-04", "ada-further")
    assert list(map(Owners([], "", {}).is_lesson, names)) == [True, True, False]


def test_core_and_further_part_are_released_each_with_its_own_points(tmp_path):
    manifest = write_release(["04-lengths", "04"], tmp_path)
    assert (manifest["lessons"], set(manifest["points"])) == (
        ["04", "04-lengths"],
        {*ALL_04, *FURTHER},
    )
    cells = json.loads((tmp_path / "further" / FURTHER_FILE).read_text())["cells"]
    note = "".join(cells[1]["source"])
    assert [name for name in (*ALL_04, *FURTHER) if f"`{name}`" in note] == FURTHER


def test_each_part_has_its_own_date(tmp_path):
    table = tmp_path / "received.csv"
    table.write_text(
        "learner,received,lesson\nada,2026-12-05 09:00,4\nada,2026-12-04 09:00,lesson 04-lengths\n"
    )
    record = ada(CORE, (FURTHER_FILE, result(*FURTHER)))
    read_lateness(Terms("2026-12-04 18:00", "1 point a day", table)).write_to([record])
    days = [(part.lesson, part.days) for part in record.received]
    assert (days, record.deducted) == ([("04", 1), ("04-lengths", 0)], 1)
