"""Combining the marks of several hand-ins, and tables that instructors fill in.

No notebook is run here.
"""

import csv
import io
import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import example, given, strategies as st

from course_utils.tools.grading import (
    csv_files,
    handed_files,
    manual,
    platforms,
    reading,
    reports,
    rosters,
    store,
    submissions,
    texts,
)
from course_utils.tools.grading.records import doubtful_owners, page_name, records
from course_utils.tools.grading.results import (
    NOT_MARKED,
    STATUSES,
    GradeError,
    LearnerRecord,
    Result,
    gravest,
)
from course_utils.tools.workspace.copies import REPORT_STUB

from .grader import ROOT, points_of
from .marks import ALL_04, ALL_05, BOTH, FULL, WORK, learners, result

FAILED = Result(NOT_MARKED, "its marking process ended twice")
# of the report that a person marks: {row: its most points}, and the points of all rows
RUBRIC, REPORT = WORK["rubrics"]["14-report"], points_of("14-report")
# a report that waits for its points
HANDED_IN = result(lesson="14-report", texts={"14-report": "My report."})


def test_a_hand_in_that_was_replaced_says_nothing_any_more():
    ada = learners(
        ("ada", "old.ipynb", 1, result(state="timeout")), ("ada", "new.ipynb", 2, result(*ALL_04))
    )["ada"]
    assert (ada.points, ada.status, ada.files) == (FULL, "ok", ["new.ipynb"])
    assert ada.problems == ["problem of ok"]
    assert "more than once; the latest counts: new.ipynb" in ada.notes[0]


# Ada's first hand-in, with two right answers
EARLIER = ("ada", "full.ipynb", 1, result(*ALL_04[:2], texts={ALL_04[0]: "mine"}))


def stubs():
    # the result of a hand-in of lesson 04 in which nothing was filled in
    stub = result(texts={ALL_04[0]: "stub"})
    marks = {name: replace(mark, status="not attempted") for name, mark in stub.exercises.items()}
    return replace(stub, exercises=marks)


def test_a_stub_handed_in_later_takes_no_answer_back():
    ada = learners(EARLIER, ("ada", "stub.ipynb", 2, stubs()))["ada"]
    assert [ada.exercises[name].status for name in ALL_04[:3]] == ["passed", "passed", "failed"]
    assert (ada.points, ada.texts) == (points_of(*ALL_04[:2]), {ALL_04[0]: "mine"})
    assert ada.files == ["full.ipynb", "stub.ipynb"]
    assert any(note.startswith(f"stub.ipynb has no answer to {ALL_04[0]}") for note in ada.notes)
    # nor the mark of a hand-in that is not marked yet, which may have an answer
    hand_ins = (EARLIER, ("ada", "b.ipynb", 2, FAILED), ("ada", "c.ipynb", 3, stubs()))
    assert learners(*hand_ins)["ada"].points is None


def test_stubs_alone_are_a_note():
    ada = learners(("ada", "stub.ipynb", 1, stubs()), lessons=("04",))["ada"]
    assert (ada.status, ada.notes) == ("ok", ["nothing was filled in"])


def test_another_answer_handed_in_later_counts_even_if_it_is_worse():
    assert learners(EARLIER, ("ada", "wrong.ipynb", 2, result()))["ada"].points == 0


def test_an_unreadable_file_is_a_note_beside_a_notebook_and_else_the_status():
    unreadable = ("bob", "notes.ipynb", 2, Result("unreadable", "it is not JSON"))
    note = "unreadable: notes.ipynb: it is not JSON"
    beside_a_notebook = learners(("bob", "a.ipynb", 1, result(*ALL_04)), unreadable)["bob"]
    assert (beside_a_notebook.points, beside_a_notebook.status) == (FULL, "ok")
    assert beside_a_notebook.notes == [note]
    alone = learners(unreadable)["bob"]
    assert (alone.points, f"{alone.status}: {alone.reason}") == (0, note)


def test_a_file_that_may_be_a_learners_is_on_the_learners_row():
    gathered = submissions.Gathered(
        [], [handed_files.LeftOut("x.ipynb", "its name matches ada and bob", ("ada",))]
    )
    (ada,) = records(gathered, {}, {"ada": rosters.Learner("ada")}, WORK, ("04",))
    assert ada.status == "nothing handed in"
    assert ada.reason == "what may be this learner's was left out"
    assert ada.notes == ["left out: x.ipynb: its name matches ada and bob"]
    assert "was left out" in platforms.in_a_sentence(ada)


@pytest.mark.parametrize(
    "data, words",
    [
        (b" \n", "it is empty"),
        ("{}".encode("utf-16"), "in UTF-16; save it as UTF-8"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "a pointer of Git LFS"),
        (b"\xef\xbb\xbf\n<!DOCTYPE html><title>Sign in</title>", "a web page"),
        (b'{"cells": [\n<<<<<<< HEAD\n=======\n>>>>>>> main\n]}', "the marks of a conflict in Git"),
        (b"PK\3\4...", "a zip archive"),
        (b"# a script", "it is not JSON"),
    ],
)
def test_what_is_no_notebook_is_said(data, words):
    with pytest.raises(reading.Broken, match=f"this file is not a notebook: .*{words}"):
        reading.read_notebook(data)


@pytest.mark.parametrize(
    "absent, strangers, doubts",  # beside Ada: who handed nothing in, who is not on the roster
    [(1, 0, ""), (9, 0, "Nearly everybody.*"), (1, 1, ".*run this again.*")],
    ids=["one of two", "nine of ten", "one, and perhaps the stranger"],
)
def test_a_class_whose_hand_ins_may_be_other_peoples_is_doubted(absent, strangers, doubts):
    absentee = LearnerRecord("n", "", status="nothing handed in")
    stranger = LearnerRecord("x", "", notes=["not on the roster"], files=["hw4 x/a.ipynb"])
    doubt = doubtful_owners(
        [*[absentee] * absent, *[stranger] * strangers, LearnerRecord("ada", "")]
    )
    assert re.fullmatch(doubts, doubt)


def test_a_hand_in_that_may_be_of_either_namesake_is_noted_for_both_and_gives_neither_0():
    people = {key: rosters.Learner(key, "Leon Ray") for key in "ab"} | {
        "cleo": rosters.Learner("cleo", "Cleo Oz"),
        # two without a name are no namesakes, of each other or of the nameless stranger x
        "dan": rosters.Learner("dan"),
        "eve": rosters.Learner("eve"),
    }
    hand_ins = [
        submissions.HandIn("71", "Leon Ray", file="71/a.ipynb"),
        submissions.HandIn("x", file="x.ipynb"),
    ]
    entries = {
        (hand_in.learner, hand_in.file): store.Entry(
            hand_in.learner, hand_in.name, hand_in.file, "", "", result(*ALL_04)
        )
        for hand_in in hand_ins
    }
    class_records = records(submissions.Gathered(hand_ins), entries, people, WORK, ("04",))
    record_of = {record.learner: record for record in class_records}
    note = "left out: 71/a.ipynb: several on the roster have this name"
    assert [record_of[key].notes for key in people] == [[note], [note], [], [], []]
    assert {record_of[key].reason for key in "ab"} == {"what may be this learner's was left out"}
    # Moodle's fourth column; without a grade, a learner is not given 0
    table = platforms.MOODLE.table(class_records, "Title")
    assert [row[3] for row in table] == ["Grade", FULL, None, None, 0, 0, 0, FULL]


def test_a_copied_cell_does_not_replace_its_lesson():
    # Ada's notebook of lesson 05 also has one answer of lesson 04
    copied = result("04-baseline", missing={*ALL_04} - {"04-baseline"})
    mixed = result(*ALL_05, lesson="05")
    mixed = replace(mixed, lessons=["04", "05"], exercises={**mixed.exercises, **copied.exercises})
    ada = learners(("ada", "04.ipynb", 1, result(*ALL_04)), ("ada", "05.ipynb", 2, mixed))["ada"]
    assert (ada.points, ada.status) == (BOTH, "ok")


def test_lessons_that_were_not_handed_in():
    adas, bobs = result(*ALL_04), result(*ALL_05, lesson="05")
    record_of = learners(("ada", "04.ipynb", 1, adas), ("bob", "05.ipynb", 1, bobs))
    assert [(record.points, record.of, record.status) for record in record_of.values()] == [
        (FULL, BOTH, "missing exercise"),
        (BOTH - FULL, BOTH, "missing exercise"),
    ]
    assert f"{ALL_05[0]}: lesson 05 was not handed in" in record_of["ada"].reason


def test_a_cell_that_cannot_be_read_is_not_missing():
    marked, first = result(*ALL_04[1:]), ALL_04[0]
    marked.exercises[first] = replace(
        marked.exercises[first], status="missing", state="unreadable cell", reason="no Python"
    )
    ada = learners(("ada", "a.ipynb", 1, marked))["ada"]
    assert (ada.status, ada.reason) == ("unreadable cell", f"{first}: no Python")
    assert ada.points == FULL - points_of(first)


def test_of_several_states_the_gravest_counts():
    order = "unreadable, crashed, memory, timeout, unreadable cell, missing exercise, ok".split(
        ", "
    )
    assert [gravest(order[place:]) for place in range(len(order))] == order
    assert gravest([]) == "ok"


def test_the_readme_lists_all_statuses():
    readme = (ROOT / "course_utils/tools/grading/README.md").read_text()
    section = readme.partition("### Statuses")[2].partition("###")[0]
    assert set(re.findall(r"^\| `(.*?)` \|", section, re.MULTILINE)) == set(STATUSES)


# --- a hand-in on which the grader failed


PARTLY_MARKED = [
    ("ada", "a.ipynb", 1, result(*ALL_04)),
    ("bob", "b.ipynb", 1, FAILED),
    ("cleo", "c.ipynb", 1, result(*ALL_04)),
    ("cleo", "new.ipynb", 2, FAILED),  # the latest counts, even if the grader failed on it
]


@pytest.fixture
def tables(tmp_path):
    # the folder of what is written of PARTLY_MARKED
    reports.write_for_people(tmp_path, list(learners(*PARTLY_MARKED).values()), WORK, isolated=True)
    return tmp_path


def test_the_table_of_grades_is_empty_where_nothing_was_marked(tables):
    ada, *others = csv_files.read_table(tables / "grades.csv")
    assert ada["total"] == str(FULL)
    for row in others:
        points = [row[column] for column in ("total", *ALL_04)]
        assert (row["status"], set(points)) == ("not marked", {""})


@pytest.mark.parametrize("learner", ["bob", "cleo"])
def test_the_page_of_a_learner_who_is_not_marked_gives_no_points(tables, learner):
    page = (tables / "feedback" / f"{learner}.html").read_text()
    points = re.findall("is not marked yet because the grader failed|0</strong> of", page)
    assert points == ["is not marked yet because the grader failed"]


def test_moodle_gets_no_grade_of_who_is_not_marked(tables):
    assert [row["Grade"] for row in csv_files.read_table(tables / "moodle.csv")] == [
        str(FULL),
        "",
        "",
    ]


def test_canvas_gets_no_grade_of_who_is_not_marked(tables):
    rows = csv_files.read_table(tables / "canvas.csv")
    # the first row says the points possible
    assert [list(row.values())[-1] for row in rows] == [str(FULL), str(FULL), "", ""]


def test_the_summary_names_who_is_not_marked(tables):
    assert (
        "failed on 2 learners, who are not marked and not counted below: "
        "<bdi>bob</bdi>, <bdi>cleo</bdi>"
    ) in (tables / "summary.html").read_text()


NOT_MARKED_THEN_FULL = [("ada", "a.ipynb", 1, FAILED), ("ada", "b.ipynb", 2, result(*ALL_04))]


def test_a_later_hand_in_of_the_lesson_counts_in_its_place():
    ada = learners(*NOT_MARKED_THEN_FULL)["ada"]
    assert (ada.points, ada.status) == (FULL, "ok")
    assert ada.notes == ["not marked: a.ipynb: its marking process ended twice"]


def test_a_later_hand_in_does_not_count_for_what_may_have_been_another_lesson():
    ada = learners(*NOT_MARKED_THEN_FULL, lessons=("04", "05"))["ada"]
    assert (ada.points, ada.status) == (None, "not marked")


# --- pages


CHECKSUM = "-[0-9a-f]{10}"


@pytest.mark.parametrize(
    "key, name",
    [
        # plain keys: small letters, digits and single hyphens, at most 60 of them
        ("ada", "ada"),
        ("smith-jones-2", "smith-jones-2"),
        ("4711", "4711"),
        ("1234567890", "1234567890"),
        ("x" * 60, "x" * 60),
        # others
        ("Ada", f"ada{CHECKSUM}"),
        ("José Ñ", f"jose-n{CHECKSUM}"),
        ("a--b", f"a-b{CHECKSUM}"),
        ("../a", f"a{CHECKSUM}"),
        ("a\n", f"a{CHECKSUM}"),
        ("x" * 61, "x" * 49 + CHECKSUM),  # again 60
        ("ada-0123456789", f"ada-0123456789{CHECKSUM}"),  # as if it had a checksum
        # without any Latin letter
        ("李雷", f"learner{CHECKSUM}"),
        ("-", f"learner{CHECKSUM}"),
        ("", f"learner{CHECKSUM}"),
    ],
)
def test_a_page_is_called_as_its_learner_with_a_checksum_unless_the_key_is_plain(key, name):
    assert re.fullmatch(rf"{name}\.html", page_name(key))


# any texts, and texts that nearly coincide
KEYS = st.lists(st.text(), unique=True) | st.lists(st.text("aA-Á0ｅ ."), unique=True)


@given(KEYS)
def test_no_two_learners_share_a_page(keys):
    # and learners whose keys equal the name of another's page
    keys = {*keys, *(page_name(key).removesuffix(".html") for key in keys)}
    plain = {page_name(key) for key in keys}
    secret = {page_name(key, b"one secret") for key in keys}
    assert (len(plain), len(secret)) == (len(keys), len(keys))
    assert secret.isdisjoint(page_name(key, b"another") for key in keys)
    assert all(re.fullmatch(r"[a-z0-9-]{1,60}\.html", name) for name in plain)
    assert all(re.fullmatch(r"[0-9a-f]{32}\.html", name) for name in secret)


# --- tables

# signs that begin a formula, also in full width; separators, quotation marks, blanks and invisible
# characters
SIGNS = "=+-@＝＋－＠﹦;,\t\n\r\"' \u00a0\u200b\ufeff\u2060\u3164\u2028ab1"
ODD_CELL = st.text(st.sampled_from(SIGNS)) | st.text(st.characters(exclude_categories=("Cs", "Cc")))


def may_be_formula(cell):
    """Whether a spreadsheet may treat a cell as a formula: its first visible character is a sign
    that begins one.
    """
    for letter in cell:
        invisible = unicodedata.category(letter) in ("Cf", "Cc", "Zs") or letter.isspace()
        if not invisible and letter not in "\u3164\u115f\u1160\uffa0":  # letters without ink
            return unicodedata.normalize("NFKC", letter) in ("=", "+", "-", "@")
    return False


@given(st.lists(st.lists(ODD_CELL, min_size=3, max_size=3), min_size=2))  # a header and rows
@example([["a", "b", "c"], ["a", 'b;"=1', "c"], ["a", 'b\n"=1', "c"], ["'=1", "''=1", '";\t"＝1']])
def test_no_cell_is_a_formula_whatever_separates_cells(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "table.csv"
    csv_files.write_table(path, rows[0], rows[1:], mark="\ufeff")
    written = path.read_bytes().decode("utf-8-sig")
    for separator in ";\t,":
        read = list(csv.reader(io.StringIO(written, newline=""), delimiter=separator))
        assert not [cell for row in read for cell in row if may_be_formula(cell)]
    assert [list(map(texts.from_cells, row)) for row in read] == rows, (
        "read with commas, it is the same"
    )


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
        5,
    ],
)
def test_what_is_no_formula_stays_as_it_is(text):
    assert texts.for_cells(text) == text


def test_no_cell_is_a_command_of_a_terminal():
    # both characters begin one: ESC, and the same in one byte with "["
    assert not {"\x1b", "\x9b"} & {*texts.for_cells("\x1b[2J"), *texts.for_cells("\x9b2J")}


def test_what_belongs_to_nobody_is_said(tmp_path):
    why = "two learners may be meant by `812`"
    # one more than the summary lists
    left_out = [handed_files.LeftOut(f"=x{number}.ipynb", why) for number in range(201)]
    reports.write_for_people(tmp_path, [], WORK, isolated=True, left_out=left_out)
    rows = csv_files.read_table(tmp_path / "left_out.csv")
    assert (len(rows), rows[0]) == (201, {"file": "'=x0.ipynb", "why": why})
    summary = (tmp_path / "summary.html").read_text()
    assert "<h2>Left out</h2>" in summary and "201 files belong to no learner" in summary
    assert ("=x199.ipynb" in summary, "=x200.ipynb" in summary) == (True, False), "200 are listed"


def test_where_nothing_is_left_out_any_more_neither_table_nor_summary_says_so(tmp_path):
    reports.write_for_people(
        tmp_path, [], WORK, isolated=True, left_out=[handed_files.LeftOut("x.ipynb", "why")]
    )
    reports.write_for_people(tmp_path, [], WORK, isolated=True)
    assert not (tmp_path / "left_out.csv").exists()
    assert "Left out" not in (tmp_path / "summary.html").read_text()


# --- points given by hand


@pytest.fixture
def two_reports():
    return learners(("ada", "a.ipynb", 1, HANDED_IN), ("José", "b.ipynb", 1, HANDED_IN))


def test_a_report_has_points_when_all_lines_of_its_rubric_have_some(tmp_path, two_reports):
    path, ada = tmp_path / "manual.csv", two_reports["ada"]
    manual.read_manual(path, list(two_reports.values()))
    rows = csv_files.read_table(path)
    assert [row["cell"] for row in rows if row["learner"] == "ada"] == [
        f"14-report: {row}" for row in sorted(RUBRIC)
    ]
    assert sum(int(row["of"]) for row in rows) == 2 * REPORT
    text = path.read_text(encoding="utf-8-sig")
    for row, most in RUBRIC.items():  # fill in one line after the other
        assert (ada.by_hand["14-report"].points, ada.waiting) == (None, REPORT)
        text = text.replace(
            f"ada,,14-report: {row},,{most}", f"ada,,14-report: {row},{most},{most}"
        )
        path.write_text(text, encoding="utf-8")
        manual.read_manual(path, list(two_reports.values()))
    assert (ada.by_hand["14-report"].points, ada.waiting) == (REPORT, 0)
    assert two_reports["José"].by_hand["14-report"].points is None


@pytest.mark.parametrize(
    "text, notes", [("My report.", []), (REPORT_STUB, ["nothing was filled in"])]
)
@pytest.mark.parametrize("lessons", [("14-report",), ("04", "14-report")])
def test_who_wrote_a_report_has_filled_something_in(lessons, text, notes):
    report = replace(stubs(), texts={"14-report": text})
    assert learners(("ada", "a.ipynb", 1, report), lessons=lessons)["ada"].notes == notes


def test_the_table_begins_with_a_mark_so_that_spreadsheets_read_names(tmp_path, two_reports):
    manual.read_manual(tmp_path / "manual.csv", list(two_reports.values()))
    assert (tmp_path / "manual.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_what_a_person_writes_stays(tmp_path, two_reports):
    path = tmp_path / "manual.csv"
    # -Kim and Lee stand in a column that the teacher added
    lines = [f"ada;14-report: {row};1;;;-Kim" for row in RUBRIC if row != "Result"]
    # Ada's line for the result has a decimal comma; Zoe is nobody
    last_lines = "ada;14-report: Result;1,5;;+ clear writing;-Kim\nzoe;14-report: Result;3;2;;Lee"
    path.write_text("\n".join(["learner;cell;points;of;comment;second marker", *lines, last_lines]))
    for _ in range(3):  # each run reads what the one before wrote
        (notice,) = manual.read_manual(path, list(two_reports.values()))
        report = two_reports["ada"].by_hand["14-report"]
        assert report.points == len(RUBRIC) + 0.5  # 1 for each row, and 1.5 for the result
        assert report.of == REPORT
        assert report.text == "My report."
        assert re.search(
            r"^Result: 1\.5 of 2\. \+ clear writing\n(.*\n)+Advice: 1 of 1", report.comment, re.M
        )
    rows = [row for row in csv_files.read_table(path) if row["cell"] == "14-report: Result"]
    columns = ("learner", "points", "of", "second marker")
    assert [[row[column] for column in columns] for row in rows] == [
        ["José", "", "2", ""],
        ["ada", "1,5", "2", "'-Kim"],
        ["zoe", "3", "2", "Lee"],
    ]
    assert "lines of zoe belong to no learner" in notice


# --- points given in place of the computed ones

HEADER = "learner,cell,points,comment\n"
FIRST, MOST = ALL_04[0], points_of(ALL_04[0])  # an exercise, and its points


def overridden(folder, lines, *others, lessons=None):
    """Read these lines of manual.csv. Returns (records, notices).

    The records are of ada, who failed everything, and of others.
    """
    (folder / "manual.csv").write_text(HEADER + lines)
    record_of = learners(("ada", "a.ipynb", 1, result()), *others, lessons=lessons)
    return record_of, manual.read_manual(folder / "manual.csv", list(record_of.values()))


@pytest.fixture
def marked_by_hand(tmp_path):
    # the folder of what is written of two learners who failed everything:
    # Ada is given all points of FIRST, and Bob is told something
    lines = f'ADA,{FIRST},{MOST},"the idea is right, <b>Ada</b>"\nbob,{FIRST},,Look at the mask.\n'
    record_of, notices = overridden(tmp_path, lines, ("bob", "b.ipynb", 1, result()))
    assert notices == []
    reports.write_for_people(tmp_path, list(record_of.values()), WORK, isolated=True)
    return tmp_path


def test_moodle_gets_what_the_teacher_gave(marked_by_hand):
    ada, bob = csv_files.read_table(marked_by_hand / "moodle.csv")
    assert (ada["Grade"], bob["Grade"]) == (str(MOST), "0")
    assert f" Given by the teacher: {FIRST}. Not yet passed: " in ada["Feedback comments"]
    assert FIRST in bob["Feedback comments"]


GIVEN = (
    f"Computed: 0 of {MOST}; your teacher gives {MOST} of {MOST}, because the idea is right, "
    "&lt;b&gt;Ada&lt;/b&gt;"
)
HINT = f'hint("{FIRST}")'


@pytest.mark.parametrize(
    "file, words, are_there",
    [
        ("feedback/ada.html", GIVEN, True),
        ("feedback/ada.html", "1 marked by your teacher", True),
        ("feedback/ada.html", HINT, False),
        ("feedback/bob.html", "Comment of your teacher", True),
        ("feedback/bob.html", "Look at the mask.", True),
        ("feedback/bob.html", HINT, True),
        ("summary.html", "The points of one mark were given by hand", True),
    ],
)
def test_pages_say_what_the_teacher_gave_and_why(marked_by_hand, file, words, are_there):
    assert (words in (marked_by_hand / file).read_text()) == are_there


def test_an_override_is_never_lost(tmp_path):
    # the second line has neither points nor a comment, so its wrong name is no error
    lines = f"ada,{FIRST},1,why\nada,04-mean-pol,,\nzoe,{FIRST},,Come and see me.\n"
    _, (of_lesson, of_stranger) = overridden(tmp_path, lines, lessons=("05",))
    assert f"lines about {FIRST} are of lessons that do not count here" in of_lesson
    assert "lines of zoe belong to no learner" in of_stranger
    for _ in range(2):  # marked again, with the lesson
        ada = learners(("ada", "a.ipynb", 1, result(*ALL_04[1:])))["ada"]
        assert manual.read_manual(tmp_path / "manual.csv", [ada]) == [of_stranger]
        assert (ada.points, ada.remarks[FIRST].computed) == (FULL - MOST + 1, 0)
    rows = csv_files.read_table(tmp_path / "manual.csv")
    assert [(row["learner"], row["points"], row["comment"]) for row in rows] == [
        ("ada", "", ""),
        ("ada", "1", "why"),
        ("zoe", "", "Come and see me."),
    ]
    assert "ada and zoe" in manual.read_manual(tmp_path / "manual.csv", [])[0], "nobody is here"


def test_an_override_where_the_grader_failed(tmp_path):
    (tmp_path / "manual.csv").write_text(HEADER + f"bob,{FIRST},1,seen by eye\n")
    bob = learners(("bob", "b.ipynb", 1, FAILED), lessons=("04",))["bob"]
    manual.read_manual(tmp_path / "manual.csv", [bob])
    reports.write_for_people(tmp_path, [bob], WORK, isolated=True)
    (row,) = csv_files.read_table(tmp_path / "grades.csv")
    assert (row[FIRST], row["total"]) == ("1", "")
    assert (
        "Computed: not marked yet; your teacher gives 1 of"
        in (tmp_path / "feedback" / "bob.html").read_text()
    )


RESULT = "ada,14-report: Result"
# beginnings of messages
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
        (
            f"ada,{FIRST},1,",
            f"line 2: points that replace the computed ones of {FIRST} need a reason",
        ),
        (f"ada,{FIRST},99,why", f"{TOO_MUCH} {MOST}, got '99'"),
        (
            "ada,04-mean-pol,1,why",
            "line 2: '04-mean-pol' is no exercise of this course; did you mean '04-mean-pool'",
        ),
        ("zoe,04-mean-pol,,why", "did you mean '04-mean-pool'"),
        ("ada,14-report: Resul,1,why", "did you mean '14-report: Result'"),
        (f"ada,{FIRST},1,why\nada,{FIRST},1,why", TWICE),
        (
            None,
            "needs the columns learner, cell and points",
        ),  # a table without the column of points
    ],
)
def test_bad_tables_change_nothing(tmp_path, lines, words):
    text = "learner,cell\nada,14-report\n" if lines is None else f"{HEADER}{lines}\n"
    (tmp_path / "manual.csv").write_text(text)
    ada = learners(("ada", "a.ipynb", 1, result()), ("ada", "b.ipynb", 1, HANDED_IN))["ada"]
    with pytest.raises(GradeError, match=words):
        manual.read_manual(tmp_path / "manual.csv", [ada])
    assert (tmp_path / "manual.csv").read_text() == text
