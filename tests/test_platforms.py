"""A learning platform is one entry of PLATFORMS, by which names are read and grades written.

An invented one shows that nothing else must change.
"""

import re
import zipfile
from csv import reader
from types import SimpleNamespace

import pytest

from course_utils.tools.grading import platforms
from course_utils.tools.grading.class_run import _refuse_other_worksheets
from course_utils.tools.grading.marking import assignment
from course_utils.tools.grading.platforms import CANVAS, MOODLE, Platform, readings
from course_utils.tools.grading.records import records
from course_utils.tools.grading.reports import (
    table_or_nothing,
    write_feedback_zip,
    write_for_people,
)
from course_utils.tools.grading.results import GradeError, LearnerRecord
from course_utils.tools.grading.store import Entry

from .grader import points_of
from .hand_ins import collecting  # noqa: F401
from .marks import result

FULL = points_of("04")  # all points of lesson 04


# the table of NUMBERS_FIRST
def table(learners, title):
    return [
        ["Username", f"{title} Points Grade", "End"],
        *([f"#{learner.number}", learner.points, "#"] for learner in learners),
    ]


# An invented platform, whose names begin with two numbers, as "1234~67~Ada Lovelace~". No real one
# writes "~" there, so a real one that is added later cannot read these names.
NUMBERS_FIRST = Platform(
    "numbers-first",
    re.compile(r"^(?P<id>\d+)~(?P<file>\d+)~(?P<name>.+?)~(?=$|[. ])", re.DOTALL),
    table,
    repeats_name=True,
)
FILES = {  # {file: the platform, number and name of its learner}
    "1234~67~Ada Lovelace~/04_pooling.ipynb": ("numbers-first", "1234", "Ada Lovelace"),
    "1235~68~Bob Ray~ 04_pooling.ipynb": ("numbers-first", "1235", "Bob Ray"),
    "Cleo Oz_4711_assignsubmission_file_/04_pooling.ipynb": ("moodle", "4711", "Cleo Oz"),
    "raydan_LATE_812_99001_04_pooling.ipynb": ("canvas", "812", "raydan"),
    "eve/04_pooling.ipynb": ("", "", ""),
}
MAY_BE_MALLORYS_OR_CLEOS = "1236~69~Mallory~ x_4711_assignsubmission_y.ipynb"


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(reader(file))


@pytest.fixture
def learners(collect, tmp_path, monkeypatch):
    """The records of the learners of FILES, in that order, each with full points.

    The tables for their platforms are written into `tmp_path`.
    """
    monkeypatch.setattr(platforms, "PLATFORMS", (*platforms.PLATFORMS, NUMBERS_FIRST))
    collected = collect(list(FILES))
    work = assignment(("04",))
    passed = result(*work["exercises"])
    entries = {
        (hand_in.learner, hand_in.file): Entry(hand_in.learner, "", hand_in.file, "", "", passed)
        for hand_in in collected.hand_ins
    }
    of_class = records(collected.hand_ins, entries, {}, work)
    write_for_people(tmp_path, of_class, work, isolated=True)
    return of_class


def test_a_name_that_is_read_in_two_ways_is_left_out(collect, monkeypatch):
    monkeypatch.setattr(platforms, "PLATFORMS", (*platforms.PLATFORMS, NUMBERS_FIRST))
    collected = collect([*FILES, MAY_BE_MALLORYS_OR_CLEOS])
    assert collected.left_out == [MAY_BE_MALLORYS_OR_CLEOS]
    assert "1236 and 4711" in collected.reasons


def test_the_names_of_each_platform_are_read(learners):
    assert {
        learner.files[0]: (learner.platform, learner.number, learner.name) for learner in learners
    } == FILES


def test_the_added_platform_gets_a_table_and_the_others_keep_theirs(learners, tmp_path):
    title = assignment(("04",))["titles"]["04"]
    assert [
        line
        for line in rows(tmp_path / "numbers-first.csv")
        if line[0] in ("Username", "#1234", "#1235")
    ] == [
        ["Username", f"{title} Points Grade", "End"],
        ["#1234", str(FULL), "#"],
        ["#1235", str(FULL), "#"],
    ]
    # all learners are in each table, below one line of headings in Moodle's and two in Canvas's
    assert len(rows(tmp_path / "moodle.csv")) == 1 + len(FILES)
    assert len(rows(tmp_path / "canvas.csv")) == 2 + len(FILES)


# the page's name in the zip of each platform that takes one
PAGES = {
    "moodle": "Cleo Oz_4711_assignfeedback_file_/feedback.html",
    "canvas": "raydan_812_99001_feedback.html",
}


@pytest.mark.parametrize(
    "platform", [platform.name for platform in platforms.PLATFORMS if platform.feedback]
)
def test_feedback_is_zipped_as_a_platform_takes_it_back(platform, learners, tmp_path):
    assert write_feedback_zip(tmp_path, learners, platform) == 1, "FILES has one of each platform"
    with zipfile.ZipFile(tmp_path / f"feedback_{platform}.zip") as archive:
        begins = {name: archive.read(name)[:15] for name in archive.namelist()}
    assert begins == {PAGES[platform]: b"<!DOCTYPE html>"}


def test_feedback_on_two_assignments_goes_back_to_each_of_them():
    # for each assignment, Moodle gives a learner another number
    files = [f"{number}/A_b_{number}_assignsubmission_file_/x.ipynb" for number in (71, 81)]
    assert MOODLE.feedback_names(LearnerRecord("ada", "ada.html", handed_in=files)) == [
        "A b_71_assignfeedback_file_/feedback.html",
        "A b_81_assignfeedback_file_/feedback.html",
    ]


WORKSHEETS = {  # {language: (line of headings, what stands before a learner's number)}
    "en": (
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (submission),"
        "Last modified (grade),Feedback comments\n",
        "Participant ",
    ),
    "de": (
        "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,"
        "Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback als Kommentar\n",
        "Teilnehmer/in",
    ),
}


@pytest.mark.parametrize("header, participant", WORKSHEETS.values(), ids=WORKSHEETS)
def test_moodles_own_worksheet_is_filled_in(header, participant, learners, tmp_path):
    # Moodle takes a worksheet back only with its own headings, in the language of the site.
    # People are a number, a name and an address. Their lines also say that there is no grade yet,
    # and that 6 points are the most.
    people = ["4711,Cleo Oz,c@x.org", "12,Eve,Eve@x.org", "13,Nobody,n@x.org"]
    lines = [f'{participant}{person},-,,"6,00",-,-,\n' for person in people]
    eve = learners[-1]  # the last of FILES; she has no number, and is found by her address
    eve.email = "eve@x.org"
    eve.points = 1.5
    worksheet = tmp_path / "worksheet.csv"
    worksheet.write_text(header + "".join(lines), encoding="utf-8-sig")
    downloads = [table_or_nothing(path) for path in (tmp_path / "no.csv", worksheet)]
    write_for_people(tmp_path, learners, assignment(("04",)), isolated=True, downloads=downloads)
    headings, of_cleo, of_eve, of_nobody = rows(tmp_path / "moodle.csv")
    assert ",".join(headings) + "\n" == header
    # "-" is guarded against spreadsheets, as in all tables; Moodle does not read these cells
    dash = "'-"
    assert of_cleo == [
        f"{participant}4711",
        "Cleo Oz",
        "c@x.org",
        dash,
        str(FULL),
        "6,00",
        dash,
        dash,
        f"{FULL} of {FULL} points.",
    ]
    assert of_eve[4] == "1,5", "her points, with the comma of the worksheet"
    assert of_nobody == [f"{participant}13", "Nobody", "n@x.org", dash, "", "6,00", dash, dash, ""]


@pytest.mark.parametrize(
    "login, grades",
    [("AB12", [FULL]), ("ab12", [FULL]), ("AB12", ["", ""])],
    ids=["one row", "the same twice in a row", "two rows alike"],
)
def test_one_row_of_moodles_worksheet_may_name_a_learner_by_an_id_with_capitals(
    learners, login, grades
):
    row = {"ID": "Teilnehmer/in13", "Bewertung": "", "Zuletzt geändert (Bewertung)": "-"}
    learners[0].learner = "AB12"
    worksheet = [row | {"Anmeldename": login, "ID-Nummer": "AB12"}] * len(grades)
    _, *lines = MOODLE.filled(worksheet, learners)
    assert [line[1] for line in lines] == grades


@pytest.mark.parametrize(
    "status, reason, sentence",
    [
        ("nothing handed in", "", "Nothing was handed in."),
        ("unreadable", "x.pdf is not a notebook", "Not readable: x.pdf is not a notebook."),
    ],
)
def test_who_has_nothing_or_nothing_readable_is_told_why(status, reason, sentence):
    record = LearnerRecord("ada", "", status=status, reason=reason, points=0, of=4)
    assert platforms.in_a_sentence(record) == f"0 of 4 points. {sentence}"


def test_the_worksheet_of_another_assignment_is_refused(tmp_path):
    worksheet, roster = tmp_path / "w.csv", tmp_path / "r.csv"
    worksheet.write_text("ID,Bewertung\nTeilnehmer/in95,\nTeilnehmer/in96,\n")
    roster.write_text("id,name\n1,Ada\n")
    hand_ins = [SimpleNamespace(platform="moodle", number=number) for number in ("91", "92")]
    with pytest.raises(
        GradeError, match="w.csv is the worksheet of another assignment: .* such as 91"
    ):
        _refuse_other_worksheets({worksheet: table_or_nothing(worksheet)}, hand_ins)
    # one number in common is enough, and a roster is no worksheet
    hand_ins.append(SimpleNamespace(platform="moodle", number="96"))
    tables = {path: table_or_nothing(path) for path in (worksheet, roster)}
    _refuse_other_worksheets(tables, hand_ins)


def test_canvas_keeps_what_its_own_table_has():
    ada = LearnerRecord("812", "a.html", "Ada", login="al1", sis="S1", listed=True, points=3, of=3)
    # below two lines of headings
    assert CANVAS.table([ada], "Title")[2] == ["Ada", "812", "S1", "al1", "", 3]


# {platform: (name of a download, how the lines of two learners begin in its table)}: Bob, who has
# no number there, and Ada, to whom the download belongs
TABLES = {
    "moodle": (
        "Ada Lovelace_4711_assignsubmission_file_",
        [["", "Bob", "bob@x.org", "2", "3"], ["Participant 4711", "Ada Lovelace"]],
    ),
    "canvas": (
        "ada_812_99001_04.ipynb",
        [["Bob", "", "", "bob", "", "2"], ["Ada Lovelace", "812", "", "", "", "3"]],
    ),
}


@pytest.mark.parametrize("platform", platforms.PLATFORMS, ids=lambda platform: platform.name)
def test_each_platform_reads_its_names_and_writes_its_lines(platform):
    assert platform.name in TABLES, (
        f"add {platform.name} to TABLES: a name of a download, and lines of its table"
    )
    name, lines = TABLES[platform.name]
    (number,) = [reading.id for reading in readings(name) if reading.platform == platform]
    bob = LearnerRecord("bob", "bob.html", "Bob", "bob@x.org", points=2, of=3)
    ada = LearnerRecord(
        "ada", "a.html", "Ada Lovelace", platform=platform.name, number=number, points=3, of=3
    )
    # without Canvas's second line of headings
    header, *of_learners = [
        line for line in platform.table([bob, ada], "Title") if "Points Possible" not in line
    ]
    for line, begin in zip(of_learners, lines, strict=True):
        assert [str(value) for value in line[: len(begin)]] == begin
        assert len(line) == len(header)


@pytest.mark.parametrize(
    "entry, ways",
    [
        # as Moodle names a file; without a name
        ("Ada_4711_assignsubmission_file_x", [(MOODLE, "4711", "Ada", "")]),
        ("_4711_assignsubmission_file_x", []),
        # as Canvas does, the learner being late; without a name
        ("adal_LATE_812_99001_x", [(CANVAS, "812", "adal", "99001")]),
        ("_812_99001_x", []),
        # a date is no number, either way round
        ("ada_2024_11_300", []),
        ("ada_3_11_2024_x", []),
        # two pairs of numbers, of which either may be the learner's and the file's
        ("x_812_813_99002_y", [(CANVAS, "812", "x", "813"), (CANVAS, "813", "x 812", "99002")]),
        # the second pair ends in a date
        ("ada_812_99001_x_4_20241130_y", [(CANVAS, "812", "ada", "99001")]),
        # both platforms
        (
            "ada_812_99001_x_812_assignsubmission_y",
            [(CANVAS, "812", "ada", "99001"), (MOODLE, "812", "ada 812 99001 x", "")],
        ),
    ],
)
def test_all_ways_to_read_a_name(entry, ways):
    assert [
        (reading.platform, reading.id, reading.name, reading.file) for reading in readings(entry)
    ] == ways
