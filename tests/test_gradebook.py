"""Combining the marks of several hand-ins, and tables that instructors fill in. No notebook is run here."""

import csv
import io
import re
import unicodedata
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from course_utils.tools.grading import gradebook
from course_utils.tools.grading.fleet import NOT_MARKED
from course_utils.tools.grading.gradebook import page_name, read_manual, records, unclaimed, write_tables
from course_utils.tools.grading.marking import STATES, assignment
from course_utils.tools.grading.store import GradeError
from course_utils.tools.grading.submissions import HandIn
from course_utils.tools.grading.untrusted import for_cells, from_cells

from .grader import points_of

WORK = assignment()


def result(*passed, lesson="04", state="ok", missing=(), texts=None):
    marks = {
        one: {
            "title": one,
            "status": "passed" if one in passed else "missing" if one in missing else "failed",
            "points": most if one in passed else 0,
            "of": most,
            "state": "missing exercise" if one in missing else state,
            "reason": "why",
            "messages": [],
            "discreet": [],
            "mistake": "",
            "seed": 1,
        }
        for one, (_, most) in WORK["exercises"].items()
        if one[:2] == lesson
    }
    return {
        "status": state,
        "reason": "",
        "lessons": [lesson],
        "exercises": marks,
        "texts": texts or {},
        "problems": [f"problem of {state}"],
    }


def learners(*hand_ins, lessons=None, people=None):
    """Records made of (learner, file, modified, result)."""
    found = [HandIn(learner, "", file, None, f"{learner}{file}", modified) for learner, file, modified, _ in hand_ins]
    entries = {(learner, file): {"result": result} for learner, file, _, result in hand_ins}
    return {one["learner"]: one for one in records(found, entries, people or {}, WORK, lessons)}


ALL_04 = [one for one in WORK["exercises"] if one[:2] == "04"]
ALL_05 = [one for one in WORK["exercises"] if one[:2] == "05"]
RUBRIC = assignment()["rubrics"]["14-report"]
FULL, BOTH, REPORT = points_of("04"), points_of("04", "05"), points_of("14-report")


def test_a_hand_in_that_was_replaced_says_nothing_any_more():
    ada = learners(("ada", "old.ipynb", 1, result(state="timeout")), ("ada", "new.ipynb", 2, result(*ALL_04)))["ada"]
    assert (ada["points"], ada["status"], ada["files"]) == (FULL, "ok", ["new.ipynb"])
    assert ada["problems"] == ["problem of ok"]
    assert "more than once; the latest counts: new.ipynb" in ada["notes"][0]


def test_a_copied_cell_does_not_replace_its_lesson():
    mixed = result(*ALL_05, lesson="05")
    mixed["exercises"].update(result("04-baseline", missing={*ALL_04} - {"04-baseline"})["exercises"])
    mixed["lessons"] = ["04", "05"]
    ada = learners(("ada", "04.ipynb", 1, result(*ALL_04)), ("ada", "05.ipynb", 2, mixed))["ada"]
    assert (ada["points"], ada["status"]) == (BOTH, "ok")


def test_lessons_that_were_not_handed_in():
    found = learners(("ada", "04.ipynb", 1, result(*ALL_04)), ("bob", "05.ipynb", 1, result(*ALL_05, lesson="05")))
    assert [(one["points"], one["of"], one["status"]) for one in found.values()] == [
        (FULL, BOTH, "missing exercise"),
        (BOTH - FULL, BOTH, "missing exercise"),
    ]
    assert "05-entropy: lesson 05 was not handed in" in found["ada"]["reason"]
    assert learners(("ada", "04.ipynb", 1, result(*ALL_04)), lessons=("04",))["ada"]["of"] == FULL


def test_a_cell_that_cannot_be_read_is_not_missing(monkeypatch):
    monkeypatch.setattr(
        gradebook,
        "STATES",
        (
            *(state for state in STATES if state not in ("missing exercise", "ok")),
            "unreadable cell",
            "missing exercise",
            "ok",
        ),
    )
    found = result(*ALL_04[1:])
    found["exercises"][ALL_04[0]].update(status="missing", state="unreadable cell", reason="its cell is no Python")
    ada = learners(("ada", "a.ipynb", 1, found))["ada"]
    assert (ada["status"], ada["reason"], ada["points"]) == (
        "unreadable cell",
        f"{ALL_04[0]}: its cell is no Python",
        FULL - points_of(ALL_04[0]),
    )


# --- a hand-in on which the grader failed


def test_what_was_not_marked_has_no_points_anywhere(tmp_path):
    found = learners(
        ("ada", "a.ipynb", 1, result(*ALL_04)),
        ("bob", "b.ipynb", 1, NOT_MARKED),
        ("cleo", "c.ipynb", 1, result(*ALL_04)),
        ("cleo", "new.ipynb", 2, NOT_MARKED),
    )
    assert [(one["status"], one["points"]) for one in found.values()] == [
        ("ok", FULL),
        ("not marked", None),
        ("not marked", None),
    ], "the latest counts, whatever is in it"
    write_tables(tmp_path, list(found.values()), WORK, True)
    rows = {row["learner"]: row for row in gradebook.read_table(tmp_path / "grades.csv")}
    for one in ("bob", "cleo"):
        assert (
            {rows[one][column] for column in (*ALL_04, "total")} == {""}
            and rows[one]["status"] == "not marked"
            and "ended twice" in rows[one]["reason"]
        )
        page = (tmp_path / "feedback" / f"{one}.html").read_text()
        assert (
            "is not marked yet because the grader failed" in page
            and "0</strong> of" not in page
            and "look for this exercise" not in page
        )
    assert rows["ada"]["total"] == str(FULL)
    assert [row["Grade"] for row in gradebook.read_table(tmp_path / "moodle.csv")] == [str(FULL), "", ""]
    canvas = [list(row.values())[-1] for row in gradebook.read_table(tmp_path / "canvas.csv")]
    assert canvas == [str(FULL), str(FULL), "", ""], "the first row says the most"
    summary = (tmp_path / "summary.html").read_text()
    assert (
        "failed on 2 learners, who are not marked and not counted below: <bdi>bob</bdi>, <bdi>cleo</bdi>" in summary
        and "1 of 1</dd>" in summary
    )


def test_a_later_hand_in_of_the_lesson_counts_in_its_place():
    ada = learners(("ada", "a.ipynb", 1, NOT_MARKED), ("ada", "b.ipynb", 2, result(*ALL_04)))["ada"]
    assert (ada["points"], ada["status"]) == (FULL, "ok") and ada["notes"] == [
        "not marked: a.ipynb: its marking process ended twice"
    ]
    both = learners(("ada", "a.ipynb", 1, NOT_MARKED), ("ada", "b.ipynb", 2, result(*ALL_04)), lessons=("04", "05"))[
        "ada"
    ]
    assert (both["points"], both["status"]) == (None, "not marked"), "it may have been lesson 05"


def test_a_class_of_which_nothing_was_marked(tmp_path):
    found = learners(("ada", "a.ipynb", 1, NOT_MARKED))
    write_tables(tmp_path, list(found.values()), WORK, True)
    assert gradebook.read_table(tmp_path / "grades.csv")[0]["total"] == "" and found["ada"]["status"] == "not marked"


# --- pages


@pytest.mark.parametrize(
    "key, page",
    [
        ("ada", "ada"),
        ("smith-jones-2", "smith-jones-2"),
        ("4711", "4711"),
        ("1234567890", "1234567890"),
        ("x" * 60, "x" * 60),
        ("Ada", "ada-[hash]"),
        ("José Ñ", "jose-n-[hash]"),
        ("a--b", "a-b-[hash]"),
        ("../a", "a-[hash]"),
        ("李雷", "learner-[hash]"),
        ("-", "learner-[hash]"),
        ("x" * 61, "x" * 49 + "-[hash]"),
        ("ada-0123456789", "ada-0123456789-[hash]"),
        ("", "learner-[hash]"),
        ("a\n", "a-[hash]"),
    ],
)
def test_a_page_is_named_after_the_key_alone(key, page):
    assert re.fullmatch(re.escape(page).replace(re.escape("[hash]"), "[0-9a-f]{10}") + r"\.html", page_name(key))


@given(st.lists(st.text(), unique=True) | st.lists(st.text("aA-Á0ｅ ."), unique=True))
def test_no_two_learners_share_a_page(keys):
    keys = {*keys, *(page_name(key)[:-5] for key in keys)}  # learners whose names equal another's page name
    assert len({page_name(key) for key in keys}) == len(keys) and all(
        re.fullmatch(r"[a-z0-9-]{1,60}\.html", page_name(key)) for key in keys
    )


def test_who_hands_in_late_moves_no_page():
    before, after = (
        learners(("李雷", "a", 1, result())),
        learners(("李雷", "a", 1, result()), ("王芳", "b", 1, result()), ("Ada", "c", 1, result())),
    )
    assert before["李雷"]["page"] == after["李雷"]["page"] and len({one["page"] for one in after.values()}) == 3


# --- tables

ODD = st.text(st.sampled_from("=+-@＝＋－＠﹦;,\t\n\r\"' \u00a0\u200b\ufeff\u2060\u3164\u2028ab1")) | st.text(
    st.characters(exclude_categories=("Cs", "Cc"))
)


def formula(cell):
    """Whether a spreadsheet may treat a cell as a formula: its first visible character is a sign."""
    shown = next(
        (
            letter
            for letter in cell
            if not letter.isspace()
            and unicodedata.category(letter) not in ("Cf", "Cc", "Zs")
            and letter not in "\u3164\u115f\u1160\uffa0"
        ),
        "",
    )
    return unicodedata.normalize("NFKC", shown) in ("=", "+", "-", "@")


@given(st.lists(st.lists(ODD, min_size=3, max_size=3), min_size=2))
@example([["a", "b", "c"], ["a", 'b;"=1', "c"], ["a", 'b\n"=1', "c"], ["'=1", "''=1", '";\t"＝1']])
def test_no_cell_is_a_formula_whatever_separates_cells(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "table.csv"
    gradebook._write_table(path, rows[0], rows[1:], mark="\ufeff")
    written = path.read_bytes().decode("utf-8-sig")
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(written, newline=""), delimiter=separator):
            assert not [cell for cell in row if formula(cell)]
    assert [[from_cells(cell) for cell in row] for row in csv.reader(io.StringIO(written, newline=""))] == rows


@pytest.mark.parametrize(
    "text", ["Smith - Jones", "a-b", "x@y.org", "a = b", "x;y", "1-2", "'quoted", "C++", "", '"a"', "Ada, née King"]
)
def test_what_is_no_formula_stays_as_it_is(text):
    assert for_cells(text) == text


def test_what_belongs_to_nobody_is_said(tmp_path):
    files = [
        SimpleNamespace(file=f"=x{number}.ipynb", why="two learners may be meant by `812`") for number in range(201)
    ]
    write_tables(tmp_path, [], WORK, True, files)
    rows = gradebook.read_table(tmp_path / "left_out.csv")
    assert (
        len(rows) == 201
        and rows[0] == {"file": "'=x0.ipynb", "why": "two learners may be meant by `812`"}
        and gradebook.left_out(tmp_path) == 201
    )
    summary = (tmp_path / "summary.html").read_text()
    assert (
        "<h2>Left out</h2>" in summary
        and "201 files belong to no learner" in summary
        and "=x199.ipynb" in summary
        and "=x200.ipynb" not in summary
    )
    write_tables(tmp_path, [], WORK, True)
    assert (
        not (tmp_path / "left_out.csv").exists()
        and "Left out" not in (tmp_path / "summary.html").read_text()
        and gradebook.left_out(tmp_path) == 0
    )


def test_no_cell_is_a_command_of_a_terminal():
    assert "\x1b" not in for_cells("\x1b[2J") and "\x9b" not in for_cells("\x9b2J") and for_cells(5) == 5


@pytest.fixture
def capstone():
    report = {"14-report": "My report."}
    return learners(
        ("ada", "a.ipynb", 1, result(lesson="14", texts=report)),
        ("José", "b.ipynb", 1, result(lesson="14", texts=report)),
    )


def test_a_report_has_points_when_all_lines_of_its_rubric_have_some(tmp_path, capstone):
    path = tmp_path / "manual.csv"
    read_manual(path, list(capstone.values()))
    rows = gradebook.read_table(path)
    assert [row["cell"] for row in rows if row["learner"] == "ada"] == [f"14-report: {row}" for row in sorted(RUBRIC)]
    assert sum(int(row["of"]) for row in rows) == 2 * REPORT
    text = path.read_text(encoding="utf-8-sig")
    for row, most in RUBRIC.items():
        assert capstone["ada"]["by_hand"]["14-report"]["points"] is None and capstone["ada"]["waiting"] == REPORT
        text = text.replace(f"ada,,14-report: {row},,{most}", f"ada,,14-report: {row},{most},{most}")
        path.write_text(text, encoding="utf-8")
        read_manual(path, list(capstone.values()))
    assert capstone["ada"]["by_hand"]["14-report"]["points"] == REPORT and capstone["ada"]["waiting"] == 0
    assert capstone["José"]["by_hand"]["14-report"]["points"] is None


def test_what_a_person_writes_stays(tmp_path, capstone):
    path = tmp_path / "manual.csv"
    read_manual(path, list(capstone.values()))
    assert path.read_bytes().startswith(b"\xef\xbb\xbf"), "so that spreadsheets read José"
    given = dict.fromkeys(RUBRIC, "1") | {"Result": "1,5"}
    lines = [
        f"ada;14-report: {row};{points};;{'+ clear writing' * (row == 'Result')};-Kim" for row, points in given.items()
    ]
    path.write_text(
        "\n".join(["learner;cell;points;of;comment;second marker", *lines, "zoe;14-report: Result;3;2;;Lee"])
    )
    for _ in range(3):  # each run reads what the one before wrote
        read_manual(path, list(capstone.values()))
        report = capstone["ada"]["by_hand"]["14-report"]
        assert (report["points"], report["of"], report["text"]) == (len(RUBRIC) + 0.5, REPORT, "My report.")
        assert "Result: 1.5 of 2. + clear writing\n" in report["comment"] and "Advice: 1 of 1" in report["comment"]
    rows = [row for row in gradebook.read_table(path) if row["cell"] == "14-report: Result"]
    assert [(row["learner"], row["points"], row["of"], row["second marker"]) for row in rows] == [
        ("José", "", "2", ""),
        ("ada", "1,5", "2", "'-Kim"),
        ("zoe", "3", "2", "Lee"),
    ]
    assert unclaimed(tmp_path, list(capstone.values())) == ["zoe"]


@pytest.mark.parametrize(
    "text, words",
    [
        ("learner,cell\nada,14-report\n", "needs the columns"),
        ("learner,cell,points\nada,14-report: Result,1\nada,14-report: Result,\n", "line 3: ada has a second line"),
        (
            "learner,cell,points\nada,14-report,5\n",
            "line 2: 14-report is marked by the rows of its rubric now, 14-report: Q",
        ),
        (
            "learner,cell,points,comment\nada,14-report: Result,1,good, but short\n",
            "line 2: there are more values than columns",
        ),
        ("learner,cell,points\nada,14-report: Result,3\n", "line 2: points must be a number from 0 to 2, got '3'"),
    ],
)
def test_bad_tables_change_nothing(tmp_path, capstone, text, words):
    (tmp_path / "manual.csv").write_text(text)
    with pytest.raises(GradeError, match=words):
        read_manual(tmp_path / "manual.csv", list(capstone.values()))
    assert (tmp_path / "manual.csv").read_text() == text
