"""A part is what is released, handed in and marked: a lesson's core, and each further part of it."""

import json
from dataclasses import replace

import pytest

from course_utils._support.notebooks import exercise_parts
from course_utils.tools.grading import marking
from course_utils.tools.grading.late import Terms, read_lateness
from course_utils.tools.grading.marking import Marker, assignment
from course_utils.tools.grading.owners import Owners
from course_utils.tools.grading.places import place_of
from course_utils.tools.grading.release import write_release
from course_utils.tools.grading.results import Mark, Result
from course_utils.tools.grading.texts import notebooks_named_in, own_part
from course_utils.tools.workspace.copies import REPORT_STUB

from .marks import ALL_04, WORK, learners

NAME = "04_lengths.ipynb"
FURTHER = [one for one in WORK["exercises"] if exercise_parts()[one] == "04-lengths"]
CORE_FILE, FURTHER_FILE = "04_pooling.ipynb", NAME


def result(*ids):
    """A hand-in in which these exercises are passed."""
    work = WORK["exercises"]
    marks = {one: Mark(one, "passed", work[one][1], work[one][1]) for one in ids}
    return Result("ok", "", sorted({exercise_parts()[one] for one in ids}), marks)


def ada(*hand_ins, lessons=None):
    found = [("ada", file, place, one) for place, (file, one) in enumerate(hand_ins)]
    return learners(*found, lessons=lessons)["ada"]


def test_both_files_of_one_learner():
    both = ada((CORE_FILE, result(*ALL_04)), (FURTHER_FILE, result(*FURTHER)))
    assert both.points == both.of and both.status == "ok"
    assert len(both.files) == 2 and not both.notes
    alone = ada((CORE_FILE, result(*ALL_04)))
    assert alone.points == alone.of and set(alone.exercises) == {*ALL_04}, "nobody handed it in"
    less = ada((CORE_FILE, result(*ALL_04)), lessons=("04", "04-lengths"))
    assert f"{FURTHER[0]}: lesson 04-lengths was not handed in" in less.reason


def test_a_file_with_exercises_of_several_parts_counts_for_those_that_count():
    mixed = ("mine.ipynb", result(*ALL_04, *FURTHER))
    assert set(ada(mixed).exercises) == {*ALL_04, *FURTHER}
    assert set(ada(mixed, lessons=("04",)).exercises) == {*ALL_04}
    newer = ada(mixed, (FURTHER_FILE, result(*FURTHER)))
    assert newer.notes == [
        f"lesson 04-lengths was handed in more than once; the latest counts: {NAME}"
    ]


def test_a_stub_takes_no_report_back():
    written, stub = (
        replace(result(), texts={"14-report": text}) for text in ("My report", REPORT_STUB)
    )
    for order in ((written, stub), (stub, written)):
        record = ada(*zip(("14_capstone.ipynb", "14_report.ipynb"), order), lessons=("14-report",))
        assert record.by_hand["14-report"].text == "My report"


def test_the_part_of_a_file_is_that_of_its_exercises_else_of_its_title_else_of_its_name():
    marker = Marker.__new__(Marker)
    marker.work = assignment()

    def keys(present=(), titles=(), name="a.ipynb", texts=()):
        return marker.lessons_of({"present": present, "titles": titles, "texts": texts}, name)

    assert keys(FURTHER) == ["04-lengths"] and keys(ALL_04) == ["04"]
    assert keys([*FURTHER, *ALL_04]) == ["04", "04-lengths"]
    assert keys(FURTHER, texts=["14-report"]) == ["04-lengths", "14-report"]
    assert keys(titles=[WORK["titles"]["04-lengths"]]) == ["04-lengths"]
    assert keys(titles=["04 Another title"]) == ["04", "04-lengths"]
    assert keys(name="04_lengths-ada.ipynb") == ["04-lengths"]
    assert keys(name="04_pooling-ada.ipynb") == ["04"]
    marker.work = assignment(("04",))
    with pytest.raises(marking._NoAnswer, match="no exercise of 04"):
        keys(FURTHER)


def test_file_names():
    assert own_part("04_lengths-ada") == own_part("04_pooling-ada") == "ada"
    assert notebooks_named_in("04_lengths-ada 05_attention") == ["04_lengths", "05_attention"]
    judge = Owners([], "", {})
    assert judge.is_lesson("04_lengths") and judge.is_lesson("lesson-04")
    assert not judge.is_lesson("ada-further")


def test_core_and_further_part_are_released_each_with_its_own_points(tmp_path):
    manifest = write_release(["04-lengths", "04"], tmp_path)
    assert manifest["lessons"] == ["04", "04-lengths"]
    assert set(manifest["points"]) == {*ALL_04, *FURTHER}
    cells = json.loads((tmp_path / "further" / NAME).read_text())["cells"]
    note = "".join(cells[1]["source"])
    assert all(f"`{one}`" in note for one in FURTHER)
    assert not any(f"`{one}`" in note for one in ALL_04)


def test_dates_by_part(tmp_path):
    table = tmp_path / "received.csv"
    table.write_text(
        "learner,received,lesson\nada,2026-12-05 09:00,4\nada,2026-12-04 09:00,lesson 04-lengths\n"
    )
    one = ada((CORE_FILE, result(*ALL_04)), (FURTHER_FILE, result(*FURTHER)))
    read_lateness(Terms("2026-12-04 18:00", "1 point a day", table)).write_to([one])
    days = [(part.lesson, part.days) for part in one.received]
    assert days == [("04", 1), ("04-lengths", 0)] and one.deducted == 1


def test_links_lead_to_the_notebook_that_has_the_exercise():
    place = place_of(FURTHER[0])
    assert place.lesson == "04-lengths" and place.page.startswith("further/04_lengths.html#")
    assert place_of(ALL_04[0]).lesson == "04"
