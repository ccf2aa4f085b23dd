"""Combining the marks of several hand-ins, and tables that instructors fill in. No notebook is run here."""

import csv
import io
import re
import unicodedata
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from course_utils.tools.grading.csv_files import read_table, write_table
from course_utils.tools.grading.handed_files import LeftOut
from course_utils.tools.grading.manual import read_manual
from course_utils.tools.grading.platforms import MOODLE, in_a_sentence
from course_utils.tools.grading.reading import Broken, read_notebook
from course_utils.tools.grading.records import doubtful_owners, page_name, records
from course_utils.tools.grading.reports import write_tables
from course_utils.tools.grading.results import (
    NOT_MARKED,
    STATUSES,
    GradeError,
    LearnerRecord,
    Result,
    gravest,
)
from course_utils.tools.grading.rosters import Learner
from course_utils.tools.grading.store import Entry
from course_utils.tools.grading.submissions import Gathered, HandIn
from course_utils.tools.grading.texts import for_cells, from_cells

from .grader import ROOT, points_of
from .marks import ALL_04, ALL_05, BOTH, FULL, WORK, learners, result

FAILED = Result(NOT_MARKED, "its marking process ended twice")
RUBRIC, REPORT = WORK["rubrics"]["14-report"], points_of("14-report")


def test_a_hand_in_that_was_replaced_says_nothing_any_more():
    ada = learners(
        ("ada", "old.ipynb", 1, result(state="timeout")), ("ada", "new.ipynb", 2, result(*ALL_04))
    )["ada"]
    assert (ada.points, ada.status, ada.files, ada.problems) == (
        FULL,
        "ok",
        ["new.ipynb"],
        ["problem of ok"],
    )
    assert "more than once; the latest counts: new.ipynb" in ada.notes[0]


def test_a_stub_handed_in_later_takes_no_answer_back():
    earlier = result(*ALL_04[:2], texts={ALL_04[0]: "mine"})
    stubs = result(texts={ALL_04[0]: "stub"})
    untouched = {
        one: replace(mark, status="not attempted") for one, mark in stubs.exercises.items()
    }
    stubs = replace(stubs, exercises=untouched)
    ada = learners(("ada", "full.ipynb", 1, earlier), ("ada", "stub.ipynb", 2, stubs))["ada"]
    assert [ada.exercises[one].status for one in ALL_04[:3]] == ["passed", "passed", "failed"]
    assert ada.points == points_of(*ALL_04[:2]) and ada.files == ["full.ipynb", "stub.ipynb"]
    assert ada.texts == {ALL_04[0]: "mine"}
    assert any(note.startswith(f"stub.ipynb has no answer to {ALL_04[0]}") for note in ada.notes)
    alone = learners(("ada", "stub.ipynb", 1, stubs), lessons=("04",))["ada"]
    assert (alone.status, alone.notes) == ("ok", ["nothing was filled in"])
    wrong = learners(("ada", "full.ipynb", 1, earlier), ("ada", "wrong.ipynb", 2, result()))["ada"]
    assert wrong.points == 0, "another answer counts, even a worse one"


def test_an_unreadable_file_beside_a_notebook_is_a_note():
    unreadable = "bob", "notes.ipynb", 2, Result("unreadable", "it is not JSON")
    both, alone = (
        learners(("bob", "a.ipynb", 1, result(*ALL_04)), unreadable)["bob"],
        learners(unreadable)["bob"],
    )
    assert (both.points, both.status, both.notes) == (
        FULL,
        "ok",
        ["unreadable: notes.ipynb: it is not JSON"],
    )
    assert (alone.points, alone.status, alone.reason) == (
        0,
        "unreadable",
        "notes.ipynb: it is not JSON",
    )


def test_a_file_that_may_be_a_learners_is_on_the_learners_row():
    found = Gathered([], [LeftOut("x.ipynb", "its name matches ada and bob", ("ada",))])
    (ada,) = records(found, {}, {"ada": Learner("ada")}, WORK, ("04",))
    assert (ada.status, ada.reason) == (
        "nothing handed in",
        "what may be this learner's was left out",
    )
    assert ada.notes == [
        "left out: x.ipynb: its name matches ada and bob"
    ] and "was left out" in in_a_sentence(ada)


@pytest.mark.parametrize(
    "data, words",
    [
        (b" \n", "it is empty"),
        ("{}".encode("utf-16"), "in UTF-16; save it as UTF-8"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "a pointer of Git LFS"),
        (b"\n<!DOCTYPE html><title>Sign in</title>", "a web page"),
        (b'{"cells": [\n<<<<<<< HEAD\n=======\n>>>>>>> main\n]}', "the marks of a conflict in Git"),
        (b"PK\3\4...", "a zip archive"),
        (b"# a script", "it is not JSON"),
    ],
)
def test_what_is_no_notebook_is_said(data, words):
    with pytest.raises(Broken, match=f"this file is not a notebook: .*{words}"):
        read_notebook(data)


@pytest.mark.parametrize(
    "nothing, strangers, words", [(1, 0, ""), (9, 0, "Nearly everybody"), (1, 1, "run this again")]
)
def test_a_class_whose_hand_ins_may_be_other_peoples_is_doubted(nothing, strangers, words):
    learners = [
        LearnerRecord(f"n{number}", "", status="nothing handed in") for number in range(nothing)
    ]
    learners += [
        LearnerRecord("x", "", notes=["not on the roster"], files=["hw4 x/a.ipynb"])
        for _ in range(strangers)
    ]
    doubt = doubtful_owners([*learners, LearnerRecord("ada", "")])
    assert words in doubt and bool(doubt) == bool(words)


def test_what_is_one_of_several_namesakes_is_on_the_rows_of_all_and_gives_none_of_them_0():
    people = {one: Learner(one, "Leon Ray") for one in "ab"} | {"cleo": Learner("cleo", "Cleo Oz")}
    entry = Entry("71", "Leon Ray", "71/a.ipynb", "", "", result(*ALL_04))
    made = records(
        Gathered([HandIn("71", "Leon Ray", file="71/a.ipynb")]),
        {("71", "71/a.ipynb"): entry},
        people,
        WORK,
        ("04",),
    )
    found = {one.learner: one for one in made}
    for one in "ab":
        assert found[one].notes == ["left out: 71/a.ipynb: several on the roster have this name"]
        assert found[one].reason == "what may be this learner's was left out"
    assert [row[3] for row in MOODLE.table(made, "Title")[1:]] == [FULL, None, None, 0] and found[
        "cleo"
    ].notes == []


def test_a_copied_cell_does_not_replace_its_lesson():
    copied = result("04-baseline", missing={*ALL_04} - {"04-baseline"})
    mixed = result(*ALL_05, lesson="05")
    mixed = replace(mixed, lessons=["04", "05"], exercises={**mixed.exercises, **copied.exercises})
    ada = learners(("ada", "04.ipynb", 1, result(*ALL_04)), ("ada", "05.ipynb", 2, mixed))["ada"]
    assert (ada.points, ada.status) == (BOTH, "ok")


def test_lessons_that_were_not_handed_in():
    found = learners(
        ("ada", "04.ipynb", 1, result(*ALL_04)),
        ("bob", "05.ipynb", 1, result(*ALL_05, lesson="05")),
    )
    assert {(one.of, one.status) for one in found.values()} == {(BOTH, "missing exercise")}
    assert [one.points for one in found.values()] == [FULL, BOTH - FULL]
    assert f"{ALL_05[0]}: lesson 05 was not handed in" in found["ada"].reason
    assert learners(("ada", "04.ipynb", 1, result(*ALL_04)), lessons=("04",))["ada"].of == FULL


def test_a_cell_that_cannot_be_read_is_not_missing():
    found, first = result(*ALL_04[1:]), ALL_04[0]
    why = "its cell is no Python"
    found.exercises[first] = replace(
        found.exercises[first], status="missing", state="unreadable cell", reason=why
    )
    ada = learners(("ada", "a.ipynb", 1, found))["ada"]
    points = FULL - points_of(first)
    assert (ada.status, ada.reason, ada.points) == ("unreadable cell", f"{first}: {why}", points)


def test_of_several_states_the_gravest_counts_and_the_readme_lists_them_all():
    order = [
        "unreadable",
        "crashed",
        "memory",
        "timeout",
        "unreadable cell",
        "missing exercise",
        "ok",
    ]
    assert [gravest(order[place:]) for place in range(len(order))] == order and gravest([]) == "ok"
    page = (
        (ROOT / "course_utils/tools/grading/README.md")
        .read_text()
        .partition("### Statuses")[2]
        .partition("###")[0]
    )
    assert set(re.findall(r"(?m)^\| `(.*?)` \|", page)) == set(STATUSES)


# --- a hand-in on which the grader failed


def test_what_was_not_marked_has_no_points_anywhere(tmp_path):
    found = learners(
        ("ada", "a.ipynb", 1, result(*ALL_04)),
        ("bob", "b.ipynb", 1, FAILED),
        ("cleo", "c.ipynb", 1, result(*ALL_04)),
        ("cleo", "new.ipynb", 2, FAILED),
    )
    standing = [(one.status, one.points) for one in found.values()]
    assert standing == [("ok", FULL), ("not marked", None), ("not marked", None)], (
        "the latest counts, whatever it is"
    )
    write_tables(tmp_path, list(found.values()), WORK, True)
    rows = {row["learner"]: row for row in read_table(tmp_path / "grades.csv")}
    assert rows["ada"]["total"] == str(FULL)
    for one in ("bob", "cleo"):
        assert {rows[one][column] for column in (*ALL_04, "total")} == {""} and rows[one][
            "status"
        ] == "not marked"
        page = (tmp_path / "feedback" / f"{one}.html").read_text()
        assert "is not marked yet because the grader failed" in page and "0</strong> of" not in page
    assert [row["Grade"] for row in read_table(tmp_path / "moodle.csv")] == [str(FULL), "", ""]
    canvas = [list(row.values())[-1] for row in read_table(tmp_path / "canvas.csv")]
    assert canvas == [str(FULL), str(FULL), "", ""], "the first row says the most"
    summary = (tmp_path / "summary.html").read_text()
    assert (
        "failed on 2 learners, who are not marked and not counted below: <bdi>bob</bdi>, <bdi>cleo</bdi>"
        in summary
    )
    write_tables(tmp_path, [found["bob"]], WORK, True)  # a class of which nothing was marked


def test_a_later_hand_in_of_the_lesson_counts_in_its_place():
    hand_ins = ("ada", "a.ipynb", 1, FAILED), ("ada", "b.ipynb", 2, result(*ALL_04))
    ada, both = learners(*hand_ins)["ada"], learners(*hand_ins, lessons=("04", "05"))["ada"]
    assert (ada.points, ada.status, ada.notes) == (
        FULL,
        "ok",
        ["not marked: a.ipynb: its marking process ended twice"],
    )
    assert (both.points, both.status) == (None, "not marked"), "it may have been lesson 05"


# --- pages


SUM = "-[0-9a-f]{10}"


@pytest.mark.parametrize(
    "key, name",
    [
        *((key, key) for key in ("ada", "smith-jones-2", "4711", "1234567890", "x" * 60)),
        *(
            ("Ada", f"ada{SUM}"),
            ("José Ñ", f"jose-n{SUM}"),
            ("a--b", f"a-b{SUM}"),
            ("../a", f"a{SUM}"),
        ),
        *(
            ("a\n", f"a{SUM}"),
            ("x" * 61, "x" * 49 + SUM),
            ("ada-0123456789", f"ada-0123456789{SUM}"),
        ),
        *((key, f"learner{SUM}") for key in ("李雷", "-", "")),
    ],
)
def test_a_page_is_called_as_its_learner_with_a_checksum_unless_the_key_is_plain(key, name):
    assert re.fullmatch(rf"{name}\.html", page_name(key))


@given(st.lists(st.text(), unique=True) | st.lists(st.text("aA-Á0ｅ ."), unique=True))
def test_no_two_learners_share_a_page(keys):
    # learners whose names equal another's page name
    keys = {*keys, *(page_name(key)[:-5] for key in keys)}
    assert len({page_name(key) for key in keys}) == len(keys)
    assert all(re.fullmatch(r"[a-z0-9-]{1,60}\.html", page_name(key)) for key in keys)
    secret = [page_name(key, b"a") for key in keys]
    assert len(set(secret)) == len(keys) and not {page_name(key, b"b") for key in keys} & {*secret}
    assert all(re.fullmatch(r"[0-9a-f]{32}\.html", name) for name in secret)


# --- tables

ODD = st.text(
    st.sampled_from("=+-@＝＋－＠﹦;,\t\n\r\"' \u00a0\u200b\ufeff\u2060\u3164\u2028ab1")
) | st.text(st.characters(exclude_categories=("Cs", "Cc")))


def formula(cell):
    """Whether a spreadsheet may treat a cell as a formula: its first visible character is a sign."""
    for letter in cell:
        hidden = (
            unicodedata.category(letter) in ("Cf", "Cc", "Zs")
            or letter in "\u3164\u115f\u1160\uffa0"
        )
        if not (letter.isspace() or hidden):
            return unicodedata.normalize("NFKC", letter) in ("=", "+", "-", "@")
    return False


@given(st.lists(st.lists(ODD, min_size=3, max_size=3), min_size=2))
@example([["a", "b", "c"], ["a", 'b;"=1', "c"], ["a", 'b\n"=1', "c"], ["'=1", "''=1", '";\t"＝1']])
def test_no_cell_is_a_formula_whatever_separates_cells(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "table.csv"
    write_table(path, rows[0], rows[1:], mark="\ufeff")
    written = path.read_bytes().decode("utf-8-sig")
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(written, newline=""), delimiter=separator):
            assert not [cell for cell in row if formula(cell)]
    assert [
        [from_cells(cell) for cell in row] for row in csv.reader(io.StringIO(written, newline=""))
    ] == rows


@pytest.mark.parametrize(
    "text",
    [
        "Smith - Jones",
        "a-b",
        "x@y.org",
        "a = b",
        "x;y",
        "1-2",
        "'quoted",
        "C++",
        "",
        '"a"',
        "Ada, née King",
    ],
)
def test_what_is_no_formula_stays_as_it_is(text):
    assert for_cells(text) == text


def test_no_cell_is_a_command_of_a_terminal():
    assert (
        "\x1b" not in for_cells("\x1b[2J")
        and "\x9b" not in for_cells("\x9b2J")
        and for_cells(5) == 5
    )


def test_what_belongs_to_nobody_is_said(tmp_path):
    why = "two learners may be meant by `812`"
    left_out = [SimpleNamespace(file=f"=x{number}.ipynb", why=why) for number in range(201)]
    write_tables(tmp_path, [], WORK, True, left_out)
    rows, summary = read_table(tmp_path / "left_out.csv"), (tmp_path / "summary.html").read_text()
    assert len(rows) == 201 and rows[0] == {"file": "'=x0.ipynb", "why": why}
    assert "<h2>Left out</h2>" in summary and "201 files belong to no learner" in summary
    assert "=x199.ipynb" in summary and "=x200.ipynb" not in summary
    write_tables(tmp_path, [], WORK, True)
    assert not (tmp_path / "left_out.csv").exists()
    assert "Left out" not in (tmp_path / "summary.html").read_text()


# --- points given by hand


@pytest.fixture
def capstone():
    found = result(lesson="14-report", texts={"14-report": "My report."})
    return learners(("ada", "a.ipynb", 1, found), ("José", "b.ipynb", 1, found))


def test_a_report_has_points_when_all_lines_of_its_rubric_have_some(tmp_path, capstone):
    path, ada = tmp_path / "manual.csv", capstone["ada"]
    read_manual(path, list(capstone.values()))
    rows = read_table(path)
    assert [row["cell"] for row in rows if row["learner"] == "ada"] == [
        f"14-report: {row}" for row in sorted(RUBRIC)
    ]
    assert sum(int(row["of"]) for row in rows) == 2 * REPORT
    text = path.read_text(encoding="utf-8-sig")
    for row, most in RUBRIC.items():
        assert ada.by_hand["14-report"].points is None and ada.waiting == REPORT
        text = text.replace(
            f"ada,,14-report: {row},,{most}", f"ada,,14-report: {row},{most},{most}"
        )
        path.write_text(text, encoding="utf-8")
        read_manual(path, list(capstone.values()))
    assert ada.by_hand["14-report"].points == REPORT and ada.waiting == 0
    assert capstone["José"].by_hand["14-report"].points is None


def test_what_a_person_writes_stays(tmp_path, capstone):
    path = tmp_path / "manual.csv"
    read_manual(path, list(capstone.values()))
    assert path.read_bytes().startswith(b"\xef\xbb\xbf"), "so that spreadsheets read José"
    given = dict.fromkeys(RUBRIC, "1") | {"Result": "1,5"}
    lines = [
        f"ada;14-report: {row};{n};;{'+ clear writing' * (row == 'Result')};-Kim"
        for row, n in given.items()
    ]
    header, other = "learner;cell;points;of;comment;second marker", "zoe;14-report: Result;3;2;;Lee"
    path.write_text("\n".join([header, *lines, other]))
    for _ in range(3):  # each run reads what the one before wrote
        (said,) = read_manual(path, list(capstone.values()))
        report = capstone["ada"].by_hand["14-report"]
        assert (report.points, report.of, report.text) == (len(RUBRIC) + 0.5, REPORT, "My report.")
        assert (
            "Result: 1.5 of 2. + clear writing\n" in report.comment
            and "Advice: 1 of 1" in report.comment
        )
    rows = [[*row.values()] for row in read_table(path) if row["cell"] == "14-report: Result"]
    # learner, points, of, second marker
    columns = [[row[place] for place in (0, 3, 4, 7)] for row in rows]
    assert columns == [
        ["José", "", "2", ""],
        ["ada", "1,5", "2", "'-Kim"],
        ["zoe", "3", "2", "Lee"],
    ]
    assert "lines of zoe belong to no learner" in said


# --- points given in place of the computed ones

HEADER, ONE = "learner,cell,points,comment\n", ALL_04[0]


def overridden(folder, lines, *more, **how):
    """The records of ada, who failed everything, and of others, after reading these lines of manual.csv."""
    (folder / "manual.csv").write_text(HEADER + lines)
    found = learners(("ada", "a.ipynb", 1, result()), *more, **how)
    return found, read_manual(folder / "manual.csv", list(found.values()))


def test_a_teacher_overrides_a_mark_and_says_why(tmp_path):
    most = points_of(ONE)
    bob = "bob", "b.ipynb", 1, result()
    lines = f'ADA,{ONE},{most},"the idea is right, <b>Ada</b>"\nbob,{ONE},,Look at the mask.\n'
    found, told = overridden(tmp_path, lines, bob)
    assert told == [] and [found[one].points for one in found] == [most, 0]
    write_tables(tmp_path, list(found.values()), WORK, True)
    moodle, bobs = read_table(tmp_path / "moodle.csv")
    assert moodle["Grade"] == str(most) and ONE in bobs["Feedback comments"]
    assert f" Given by the teacher: {ONE}. Not yet passed: " in moodle["Feedback comments"]
    pages = [(tmp_path / "feedback" / f"{one}.html").read_text() for one in found]
    why = "because the idea is right, &lt;b&gt;Ada&lt;/b&gt;"
    assert f"Computed: 0 of {most}; your teacher gives {most} of {most}, {why}" in pages[0]
    assert "1 marked by your teacher" in pages[0] and f'hint("{ONE}")' not in pages[0]
    assert (
        "Comment of your teacher" in pages[1]
        and "Look at the mask." in pages[1]
        and f'hint("{ONE}")' in pages[1]
    )
    assert "The points of one mark were given by hand" in (tmp_path / "summary.html").read_text()


def test_an_override_is_never_lost(tmp_path):
    # the second line says nothing
    lines = f"ada,{ONE},1,why\nada,04-mean-pol,,\nzoe,{ONE},,Come and see me.\n"
    _, told = overridden(tmp_path, lines, lessons=("05",))
    here, strangers = told
    assert f"lines about {ONE} are of lessons that do not count here" in here
    assert "lines of zoe belong to no learner" in strangers
    for _ in range(2):  # marked again, with the lesson
        found = learners(("ada", "a.ipynb", 1, result(*ALL_04[1:])))
        assert read_manual(tmp_path / "manual.csv", list(found.values())) == [strangers]
        assert (
            found["ada"].points == FULL - points_of(ONE) + 1
            and found["ada"].remarks[ONE].computed == 0
        )
    rows = [
        (row["learner"], row["points"], row["comment"])
        for row in read_table(tmp_path / "manual.csv")
    ]
    assert rows == [("ada", "", ""), ("ada", "1", "why"), ("zoe", "", "Come and see me.")]
    assert "ada and zoe" in read_manual(tmp_path / "manual.csv", [])[0], "nobody is here"


def test_an_override_where_the_grader_failed(tmp_path):
    (tmp_path / "manual.csv").write_text(HEADER + f"bob,{ONE},1,seen by eye\n")
    bob = learners(("bob", "b.ipynb", 1, FAILED), lessons=("04",))["bob"]
    read_manual(tmp_path / "manual.csv", [bob])
    write_tables(tmp_path, [bob], WORK, True)
    row, page = (
        read_table(tmp_path / "grades.csv")[0],
        (tmp_path / "feedback" / "bob.html").read_text(),
    )
    assert (row[ONE], row["total"]) == (
        "1",
        "",
    ) and "Computed: not marked yet; your teacher gives 1 of" in page


RESULT = "ada,14-report: Result"
TWICE, TOO_MUCH = "line 3: ada has a second line", "line 2: points must be a number from 0 to"


@pytest.mark.parametrize(
    "lines, words",
    [
        (f"{RESULT},1,\n{RESULT},,", TWICE),
        (
            "ada,14-report,5,",
            "line 2: '14-report' is no exercise of this course; did you mean '14-report: ",
        ),
        (f"{RESULT},1,good, but short", "line 2: there are more values than columns"),
        *((f"{RESULT},{bad},", f"{TOO_MUCH} 2, got '{bad}'") for bad in ("3", "-1", "six", "nan")),
        (f"ada,{ONE},1,", f"line 2: points that replace the computed ones of {ONE} need a reason"),
        (f"ada,{ONE},99,why", f"{TOO_MUCH} {points_of(ONE)}, got '99'"),
        (
            "ada,04-mean-pol,1,why",
            "line 2: '04-mean-pol' is no exercise of this course; did you mean '04-mean-pool'",
        ),
        ("zoe,04-mean-pol,,why", "did you mean '04-mean-pool'"),
        ("ada,14-report: Resul,1,why", "did you mean '14-report: Result'"),
        (f"ada,{ONE},1,why\nada,{ONE},1,why", TWICE),
        (None, "needs the columns"),
    ],
)
def test_bad_tables_change_nothing(tmp_path, lines, words):
    text = "learner,cell\nada,14-report\n" if lines is None else f"{HEADER}{lines}\n"
    (tmp_path / "manual.csv").write_text(text)
    report = result(lesson="14-report", texts={"14-report": "My report."})
    ada = learners(("ada", "a.ipynb", 1, result()), ("ada", "b.ipynb", 1, report))["ada"]
    with pytest.raises(GradeError, match=words):
        read_manual(tmp_path / "manual.csv", [ada])
    assert (tmp_path / "manual.csv").read_text() == text
