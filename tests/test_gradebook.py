"""Who has what: marks of several hand-ins put together, and tables that people fill in. No notebook is run here."""

import csv

import pytest

from course_utils.grading import gradebook
from course_utils.grading.gradebook import GradeError, guarded, read_manual, records, unclaimed
from course_utils.grading.marking import assignment
from course_utils.grading.submissions import HandIn

WORK = assignment()


def result(*passed, lesson="04", state="ok", missing=(), texts=None):
    marks = {one: {"title": one, "status": "passed" if one in passed else "missing" if one in missing else "failed", "points": most if one in passed else 0,
                   "of": most, "state": "missing exercise" if one in missing else state, "reason": "why", "messages": [], "discreet": [], "mistake": "", "seed": 1}
             for one, (_, most) in WORK["exercises"].items() if one[:2] == lesson}
    return {"status": state, "reason": "", "lessons": [lesson], "exercises": marks, "texts": texts or {}, "problems": [f"problem of {state}"]}


def learners(*hand_ins, lessons=None, people=None):
    """Records made of (learner, file, modified, result)."""
    found = [HandIn(learner, "", file, None, f"{learner}{file}", modified) for learner, file, modified, _ in hand_ins]
    entries = {(learner, file): {"result": result} for learner, file, _, result in hand_ins}
    return {one["learner"]: one for one in records(found, entries, people or {}, WORK, lessons)}


ALL_04 = [one for one in WORK["exercises"] if one[:2] == "04"]
ALL_05 = [one for one in WORK["exercises"] if one[:2] == "05"]


def test_a_hand_in_that_was_replaced_says_nothing_any_more():
    ada = learners(("ada", "old.ipynb", 1, result(state="timeout")), ("ada", "new.ipynb", 2, result(*ALL_04)))["ada"]
    assert (ada["points"], ada["status"], ada["files"], ada["problems"]) == (7, "ok", ["new.ipynb"], ["problem of ok"])
    assert "more than once; the latest counts, new.ipynb" in ada["notes"][0]


def test_a_copied_cell_does_not_replace_its_lesson():
    mixed = result(*ALL_05, lesson="05")
    mixed["exercises"].update(result("04-baseline", missing=ALL_04[:3])["exercises"])
    mixed["lessons"] = ["04", "05"]
    ada = learners(("ada", "04.ipynb", 1, result(*ALL_04)), ("ada", "05.ipynb", 2, mixed))["ada"]
    assert (ada["points"], ada["status"]) == (14, "ok")


def test_lessons_that_were_not_handed_in():
    found = learners(("ada", "04.ipynb", 1, result(*ALL_04)), ("bob", "05.ipynb", 1, result(*ALL_05, lesson="05")))
    assert [(one["points"], one["of"], one["status"]) for one in found.values()] == [(7, 14, "missing exercise")] * 2
    assert "05-entropy: lesson 05 was not handed in" in found["ada"]["reason"]
    assert learners(("ada", "04.ipynb", 1, result(*ALL_04)), lessons=("04",))["ada"]["of"] == 7


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "Ada;=1+cmd|'/C calc'!A0;", "a\n=b", "\t=x", "a\r\n+1", " =1", "plain - text", "x;y", "'quoted"])
def test_no_cell_is_a_formula_and_all_come_back(text):
    shown = guarded(text)
    for separator in ",;":
        for cell in next(csv.reader([shown], delimiter=separator)) if "\n" not in shown and "\r" not in shown else shown.splitlines():
            assert cell.strip()[:1] not in ("=", "+", "-", "@")
    assert gradebook._unguarded(shown) == text


def test_no_cell_is_a_command_of_a_terminal():
    assert "\x1b" not in guarded("\x1b[2J") and "\x9b" not in guarded("\x9b2J") and guarded(5) == 5


@pytest.fixture
def capstone():
    report = {"12-report": "My report."}
    return learners(("ada", "a.ipynb", 1, result(lesson="12", texts=report)), ("José", "b.ipynb", 1, result(lesson="12", texts=report)))


def test_what_a_person_writes_stays(tmp_path, capstone):
    path = tmp_path / "manual.csv"
    read_manual(path, list(capstone.values()))
    assert path.read_bytes().startswith(b"\xef\xbb\xbf"), "so that spreadsheets read José"
    path.write_text("learner;cell;points;of;comment;second marker\nada;12-report;6,5;8;+ clear writing;Kim\nzoe;12-report;3;8;;Lee\n")
    for _ in range(3):
        read_manual(path, list(capstone.values()))
        assert capstone["ada"]["by_hand"]["12-report"] == {"points": 6.5, "of": 8, "comment": "+ clear writing", "text": "My report."}
    rows = gradebook.read_table(path)
    assert [(row["learner"], row["points"], row["second marker"]) for row in rows] == [("José", "", ""), ("ada", "6,5", "Kim"), ("zoe", "3", "Lee")]
    assert unclaimed(tmp_path, list(capstone.values())) == ["zoe"]


@pytest.mark.parametrize("text, words", [
    ("learner,cell\nada,12-report\n", "needs the columns"),
    ("learner,cell,points\nada,12-report,5\nada,12-report,\n", "line 3: ada has a second line"),
    ("learner,cell,points,comment\nada,12-report,5,good, but short\n", "line 2: there are more values than columns"),
    ("learner,cell,points\nada,12-report,9\n", "line 2: points must be a number from 0 to 8, got '9'"),
])
def test_bad_tables_change_nothing(tmp_path, capstone, text, words):
    (tmp_path / "manual.csv").write_text(text)
    with pytest.raises(GradeError, match=words):
        read_manual(tmp_path / "manual.csv", list(capstone.values()))
    assert (tmp_path / "manual.csv").read_text() == text


def test_a_torn_line_takes_no_other_with_it(tmp_path):
    (tmp_path / "journal-1-of-1.jsonl").write_text('\n{"learner": "ada", "file": "a", "sha256": "1"}\n{"learner": "bob", "fi\n{"learner": "cleo", "file": "c"}\n')
    assert list(gradebook._read_results(tmp_path)) == [("ada", "a"), ("cleo", "c")]
