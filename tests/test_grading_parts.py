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

# the exercises of the further part of lesson 04, as ALL_04 are those of its core
FURTHER = [name for name in WORK["exercises"] if exercise_parts()[name] == "04-lengths"]
CORE_FILE, FURTHER_FILE = "04_pooling.ipynb", "04_lengths.ipynb"


def passed(*exercises):
    """The result of a hand-in that has these exercises, all passed."""
    marks = {
        name: Mark(name, "passed", most, most)
        for name, (_, most) in WORK["exercises"].items()
        if name in exercises
    }
    return Result("ok", "", sorted({exercise_parts()[name] for name in exercises}), marks)


# hand-ins: pairs (name of the file, result)
CORE_ALONE = (CORE_FILE, passed(*ALL_04))
FURTHER_ALONE = (FURTHER_FILE, passed(*FURTHER))
CORE_AND_FURTHER = ("mine.ipynb", passed(*ALL_04, *FURTHER))


def record_of(*hand_ins, lessons=None):
    """The record of a learner with these hand-ins, the latest last.

    lessons: those that count; None for all that somebody handed in.
    """
    rows = [("ada", file, time, result) for time, (file, result) in enumerate(hand_ins)]
    return learners(*rows, lessons=lessons)["ada"]


def test_two_parts_in_two_files_count_together():
    record = record_of(CORE_ALONE, FURTHER_ALONE)
    assert record.points == record.of
    assert record.status == "ok"
    assert record.files == [CORE_FILE, FURTHER_FILE]
    assert record.notes == []


def test_a_part_that_nobody_handed_in_does_not_count():
    record = record_of(CORE_ALONE)
    assert record.points == record.of
    assert set(record.exercises) == {*ALL_04}


def test_a_part_that_was_released_counts_and_is_named():
    record = record_of(CORE_ALONE, lessons=("04", "04-lengths"))
    assert set(record.exercises) == {*ALL_04, *FURTHER}
    assert f"{FURTHER[0]}: lesson 04-lengths was not handed in" in record.reason


@pytest.mark.parametrize(
    "lessons, counted",
    [(None, {*ALL_04, *FURTHER}), (("04",), {*ALL_04})],
    ids=["none chosen", "the core chosen"],
)
def test_of_a_file_with_several_parts_those_of_the_chosen_lessons_count(lessons, counted):
    assert set(record_of(CORE_AND_FURTHER, lessons=lessons).exercises) == counted


def test_a_part_in_two_files_counts_once():
    record = record_of(CORE_AND_FURTHER, FURTHER_ALONE)
    note = f"lesson 04-lengths was handed in more than once; the latest counts: {FURTHER_FILE}"
    assert (record.of, record.notes) == (record_of(CORE_AND_FURTHER).of, [note])


@pytest.mark.parametrize(
    "texts",
    [("My report", REPORT_STUB), (REPORT_STUB, "My report")],
    ids=["the stub is later", "the stub is earlier"],
)
def test_an_unwritten_report_does_not_replace_a_written_one(texts):
    reports = [replace(passed(), texts={"14-report": text}) for text in texts]
    hand_ins = zip(("14_capstone.ipynb", "14_report.ipynb"), reports)
    assert record_of(*hand_ins, lessons=("14-report",)).by_hand["14-report"].text == "My report"


def parts_of(lessons, name="a.ipynb", **contents):
    """The parts of lessons that a marker of these lessons (None for all) finds in a file.

    contents: those of present (its exercises), titles, and texts (the reports in it) that are not
    empty. Raises NotJudged if it finds none.
    """
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
        (
            {"present": FURTHER, "titles": [WORK["titles"]["04"]], "name": "04_pooling.ipynb"},
            ["04-lengths"],
        ),
        # else by its title
        ({"titles": [WORK["titles"]["04-lengths"]]}, ["04-lengths"]),
        ({"titles": [WORK["titles"]["04-lengths"]], "name": "04_pooling.ipynb"}, ["04-lengths"]),
        # a title that the learner changed: all parts with its number
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
    assert notebooks_named_in("04_lengths-ada 05_attention") == ["04_lengths", "05_attention"]


def test_what_a_learner_added_to_the_name_of_a_part_is_the_learners_own():
    assert own_part("04_lengths-ada") == own_part("04_pooling-ada") == "ada"


@pytest.mark.parametrize(
    "name, is_lesson", [("04_lengths", True), ("lesson-04", True), ("ada-further", False)]
)
def test_a_name_of_a_lesson_is_not_taken_for_a_learners(name, is_lesson):
    assert Owners([], "", {}).is_lesson(name) == is_lesson


def test_core_and_further_part_are_released_each_with_its_own_points(tmp_path):
    manifest = write_release(["04-lengths", "04"], tmp_path)
    assert manifest["lessons"] == ["04", "04-lengths"]
    assert set(manifest["points"]) == {*ALL_04, *FURTHER}
    cells = json.loads((tmp_path / "further" / FURTHER_FILE).read_text())["cells"]
    # the cell below the title, which names the exercises that give points
    note = "".join(cells[1]["source"])
    assert [name for name in (*ALL_04, *FURTHER) if f"`{name}`" in note] == FURTHER


def test_each_part_has_its_own_date(tmp_path):
    table = tmp_path / "received.csv"
    table.write_text(
        "learner,received,lesson\nada,2026-12-05 09:00,4\nada,2026-12-04 09:00,lesson 04-lengths\n"
    )
    record = record_of(CORE_ALONE, FURTHER_ALONE)
    read_lateness(Terms("2026-12-04 18:00", "1 point a day", table)).write_to([record])
    assert [(part.lesson, part.days) for part in record.received] == [("04", 1), ("04-lengths", 0)]
    assert record.deducted == 1
