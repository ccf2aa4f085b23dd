"""Late hand-ins: what the teacher writes, what it costs, and where it is shown. No notebook is run here."""

import time
from types import SimpleNamespace

import pytest

from course_utils.tools.grading.class_run import Options, grade
from course_utils.tools.grading.csv_files import read_table
from course_utils.tools.grading.late import KEPT, Terms, keep, read_lateness, read_rule, with_kept
from course_utils.tools.grading.reports import write_tables
from course_utils.tools.grading.results import NOT_MARKED, GradeError, Result
from course_utils.tools.grading.rosters import Learner

from .grader import points_of
from .marks import ALL_04, ALL_05, FULL, WORK, learners, result

DUE = "2026-12-04 18:00 +01:00"
ENGLISH = "Identifier,Full name,Email address,Last modified (submission)"
GERMAN = "ID;Vollständiger Name;E-Mail-Adresse;Zuletzt geändert (Abgabe)"
ADA, BOB = ("ada", "a.ipynb", 1, result(*ALL_04)), ("bob", "b.ipynb", 1, result(*ALL_04))


def late(
    folder,
    table,
    *hand_ins,
    rule="1 point a day",
    due=DUE,
    header="learner,received,lesson",
    people=None,
):
    """The records of a class of which these dates are known, and what the teacher is told."""
    (folder / "received.csv").write_text(f"{header}\n{table}\n")
    lateness = read_lateness(Terms(due, rule, folder / "received.csv"))
    found = learners(*(hand_ins or [ADA]), people=people)
    return SimpleNamespace(
        **found, told=lateness.write_to(list(found.values())), all=list(found.values())
    )


# --- the rule


@pytest.mark.parametrize(
    "text, days, points",
    [
        *(("10% a day", 0, 0), ("10% a day", 2, 4), ("10 % per day", 2, 4), ("12.5%/day", 1, 2.5)),
        *(
            ("2 points a day", 3, 6),
            ("1 point a day", 3, 3),
            ("none", 9, 0),
            ("NONE", 9, 0),
            ("0% a day", 9, 0),
        ),
        *(("10% a day, at most 50%", 9, 10), ("2 points a day at most 25%", 9, 5)),
        *(
            ("10% a day, at most 3 points", 9, 3),
            ("After 1 free day, 10% a day, at most 50%", 99, 10),
        ),
        *(("after 3 free days, 10% a day", 3, 0), ("after 3 free days, 10% a day", 4, 2)),
    ],
)
def test_what_days_cost_of_20_points(text, days, points):
    assert read_rule(text).deduction(days, 20) == points


@pytest.mark.parametrize(
    "text",
    [
        "10%",
        "ten percent a day",
        "10% an hour",
        "-1 points a day",
        "10% a day, then 5%",
        "",
        "1" * 9999,
    ],
)
def test_other_rules_are_refused_with_an_example(text):
    with pytest.raises(GradeError, match='is not understood; write it like "10% a day"') as error:
        read_rule(text)
    assert len(str(error.value)) < 400


def test_a_rule_is_said_in_words():
    assert "after 3 free days, 10% a day" in str(read_rule("after 3  free days, 10% a day"))


# --- dates


@pytest.mark.parametrize(
    "received, days",
    [
        *(
            ("2026-12-04 18:00", 0),
            ("2026-12-04 18:01", 1),
            ("2026-12-05 18:00", 1),
            ("2026-12-05 18:00:01", 2),
        ),
        *(
            ("2026-12-04T17:00:00Z", 0),
            ("2026-12-04 17:00:01 UTC", 1),
            ("2026-12-04 12:30-05:00", 1),
        ),
        *(
            ("2026-12-01 00:00", 0),
            ('"Friday, 4 December 2026, 6:00 PM"', 0),
            ('"Friday, 4 December 2026, 18:03"', 1),
        ),
        *(
            ('"Friday, December 4, 2026, 6:01 PM"', 1),
            ('"4 Dec 2026, 18:01"', 1),
            ('"4 January 2026, 18:01"', 0),
        ),
        *(('"Sonntag, 4. Jänner 2026, 18:01"', 0), ('"Freitag, 4. Dezember 2026, 18:01"', 1)),
        ("2026-12-07 09:00\nada,2026-12-05 09:00", 3),  # the latest of two
    ],
)
def test_started_days_count(tmp_path, received, days):
    ada = late(tmp_path, f"ada,{received}").ada
    assert (ada.late_days, ada.deducted, ada.points) == (days, days, FULL - days)


def test_without_an_offset_dates_are_local(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    try:
        ada = late(tmp_path, "ada,2026-12-04T17:00:01Z", due="2026-12-04 18:00").ada
        assert ada.late_days == 1 and "Due 2026-12-04 18:00 (CET)." in ada.due
        assert late(tmp_path, "ada,2026-10-25 18:00", due="2026-10-24 18:00").ada.late_days == 2, (
            "the day had 25 hours"
        )
    finally:
        monkeypatch.undo()
        time.tzset()


# --- a class


def test_it_stands_on_the_page_and_in_the_tables(tmp_path):
    found = late(
        tmp_path,
        "ada,2026-12-06 09:00\nbob,2026-12-04 09:00",
        ADA,
        BOB,
        rule="10% a day, at most 50%",
    )
    cost = FULL / 5
    write_tables(tmp_path, found.all, WORK, True)
    columns = [
        [float(row[one]) for one in ("deducted", "late days", "total")]
        for row in read_table(tmp_path / "grades.csv")
    ]
    assert columns == [[cost, 2, FULL - cost], [0, 0, FULL]]
    pages = [(tmp_path / "feedback" / f"{one}.html").read_text() for one in ("ada", "bob")]
    said = f"Received 2026-12-06 09:00, 2 days late: {cost:g} points deducted."
    assert said in pages[0] and "Received 2026-12-04 09:00, in time." in pages[1]
    summary = (tmp_path / "summary.html").read_text()
    for page in (*pages, summary):
        assert (
            "Due 2026-12-04 18:00 (UTC+01:00). What late hand-ins lose: 10% a day, at most 50%."
            in page
        )
    moodle = read_table(tmp_path / "moodle.csv")[0]
    assert said in moodle["Feedback comments"] and float(moodle["Grade"]) == FULL - cost
    assert (
        '<table id="late">' in summary
        and summary.count(said) == 1
        and found.told == ["Late: ada (2 days)."]
    )


def test_without_a_deadline_tables_have_no_dates(tmp_path):
    write_tables(tmp_path, list(learners(ADA).values()), WORK, True)
    assert "deducted" not in read_table(tmp_path / "grades.csv")[0]
    assert "Late hand-ins" not in (tmp_path / "summary.html").read_text()


def test_without_a_rule_the_late_are_listed_for_review(tmp_path):
    ada = late(tmp_path, "ada,2026-12-05 09:00", rule=None).ada
    assert (ada.points, ada.due) == (FULL, "Due 2026-12-04 18:00 (UTC+01:00).")
    assert ada.notes == ["Received 2026-12-05 09:00, 1 day late."]
    none = late(tmp_path, "ada,2026-12-05 09:00", rule="none").ada
    assert (none.points, none.notes) == (FULL, []) and "Late hand-ins lose no points." in none.due


def test_where_no_date_is_known_nothing_is_deducted(tmp_path):
    people = {"gus": Learner("gus")}
    found = late(tmp_path, "ada,2026-12-04 09:00", ADA, BOB, people=people)
    assert (
        found.bob.points == FULL and "It is not known when this was received" in found.bob.notes[-1]
    )
    assert found.gus.notes == [] and found.gus.received == [], "who handed nothing in is not late"
    assert found.told[-1].endswith("for review: bob.")


def test_each_lesson_costs_its_own_points(tmp_path):
    five = "ada", "5.ipynb", 2, result(*ALL_05[:1], lesson="05")
    table = "ada,2026-12-05 09:00,4\nada,2026-12-24 09:00,lesson 05\nada,2026-12-31 09:00,06"
    ada = late(tmp_path, table, ADA, five, rule="50% a day").ada
    few = points_of(ALL_05[0])
    assert [(one.lesson, one.days, one.deducted) for one in ada.received] == [
        ("04", 1, FULL / 2),
        ("05", 20, few),
    ]
    assert (ada.points, ada.late_days) == (FULL / 2, 21), "a lesson does not fall below 0"
    part = late(tmp_path, "ada,2026-12-05 09:00,04\nada,2026-12-04 09:00,", ADA, five).ada
    assert [one.days for one in part.received] == [1, 0], (
        "a line without a lesson is about the others"
    )
    assert (
        "Lesson 05: it is not known"
        in late(tmp_path, "ada,2026-12-05 09:00,04", ADA, five).ada.notes[-1]
    )
    assert late(tmp_path, "ada,2026-12-24 09:00", ADA, five, rule="50% a day").ada.points == 0


@pytest.mark.parametrize(
    "header, who, when",
    [
        (ENGLISH, who, '"Sunday, 6 December 2026, 9:00 AM"')
        for who in (
            "Participant 77,,ADA@example.org,",
            'Participant 77,"Lovelace, Ada",,',
            "ada,,,",
        )
    ]
    + [(GERMAN, "Teilnehmer/in77;ada;;", "Sonntag, 6. Dezember 2026, 09:00")],
)
def test_learners_are_found_as_platforms_name_them(tmp_path, header, who, when):
    people = {"ada": Learner("ada", "Ada Lovelace", "ada@example.org")}
    found = late(
        tmp_path,
        f"{who}{when}\n{who.replace('77', '78').replace('ada', 'bob')}-",
        header=header,
        people=people,
    )
    assert found.ada.late_days == 2 and found.told == ["Late: Ada Lovelace (2 days)."]


def test_a_learner_who_is_not_marked_loses_nothing_yet(tmp_path):
    ada = late(
        tmp_path, "ada,2026-12-06 09:00", ("ada", "a.ipynb", 1, Result(NOT_MARKED, "it ended"))
    ).ada
    assert (ada.points, ada.late_days, ada.deducted) == (None, 2, None)
    write_tables(tmp_path, [ada], WORK, True)
    assert read_table(tmp_path / "grades.csv")[0]["deducted"] == ""


def test_a_deadline_stays_with_the_results_until_it_is_removed(tmp_path):
    received = tmp_path / "mine.csv"
    received.write_text("learner,received\nada,2026-12-06 09:00\n")
    assert with_kept(Terms(), tmp_path, ["04"]) == Terms()
    keep(Terms(DUE, "1 point a day", received), tmp_path, ["04"])
    received.unlink()
    ada = learners(ADA)["ada"]
    for _ in range(2):  # what is kept may be kept again
        kept = with_kept(Terms(), tmp_path, ["04"])
        keep(kept, tmp_path, ["04"])
        assert (
            read_lateness(kept).write_to([ada]) == ["Late: ada (2 days)."]
            and ada.points == FULL - 2
        )
    assert with_kept(Terms(), tmp_path, ["08"]) == Terms(), "dates are of these lessons alone"
    keep(with_kept(Terms("none"), tmp_path, ["04"]), tmp_path, ["04"])
    assert with_kept(Terms(), tmp_path, ["04"]) == Terms()
    (tmp_path / KEPT).write_text("{")
    with pytest.raises(GradeError, match="deadline.json is damaged; give --due"):
        with_kept(Terms(), tmp_path, ["04"])


@pytest.mark.parametrize(
    "until", ["Extension granted until: ", "bewertet - Verlängertes Abgabeende bis: "]
)
def test_a_deadline_that_moodle_moved_for_one_counts(tmp_path, until):
    how = {"header": "Identifier,Full name,Status,Last modified (submission)"}
    status = f'"{until}Monday, 7 December 2026, 6:00 PM"'
    received = '"Sunday, 6 December 2026, 9:00 AM"'
    assert late(tmp_path, f"Participant 77,ada,{status},{received}", **how).ada.late_days == 0
    assert late(tmp_path, f"Participant 77,ada,Submitted,{received}", **how).ada.late_days == 2


# --- bad input


def test_unknown_learners_are_named_in_one_sentence(tmp_path):
    found = late(
        tmp_path,
        "\n".join(f"x{number},2026-12-05 09:00" for number in range(9)) + "\n,2026-12-05 09:00",
    )
    said = "--received has lines about learners who are not in this class:"
    assert found.told[0] == f"{said} line 11, x0, x1, x2 and 6 others."
    assert found.ada.points == FULL and len(found.told) == 2
    late(tmp_path, "ada,2026-12-05 09:00")
    assert read_lateness(Terms(DUE, None, tmp_path / "received.csv")).write_to([]) == [
        f"{said} ada."
    ], "nobody is in the class"


@pytest.mark.parametrize(
    "table, words",
    [
        ("", "received.csv has no lines"),
        ("learner,received\n", "received.csv has no lines"),
        ("learner,when\nada,2026-12-05 09:00\n", "no column `received`"),
        (
            "learner,received\nada,2026-12-05 09:00\nbob,04/12/2026\n",
            "line 3: '04/12/2026' is no date and time; write",
        ),
        *(
            (f"learner,received\nada,{bad}\n", "line 2: .* is no date")
            for bad in ("2026-12-05", "2026-13-01 09:00")
        ),
        ("learner,received\nada,9999-12-31 23:59\n", "line 2: '9999-12-31 23:59' is no date"),
        (
            "learner,received\nada,Friday, 4 December 2026, 6:00 PM\n",
            "line 2: there are more values than columns",
        ),
        ("learner,received,lesson\nada,2026-12-05 09:00,77\n", "line 2: '77' is no lesson"),
        ('learner,received\nada,"2026\n', "received.csv, line 2: a quotation mark is never closed"),
        (b"learner,received\n\xff,\n", "is not in UTF-8"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(tmp_path, table, words):
    (tmp_path / "received.csv").write_bytes(table if isinstance(table, bytes) else table.encode())
    with pytest.raises(GradeError, match=words) as error:
        read_lateness(Terms(DUE, None, tmp_path / "received.csv"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "options, words",
    [
        *(
            ({"due": due}, "is no date and time; write")
            for due in ("Friday, 18:00", "2026-12-04", "4.12.2026 18:00")
        ),
        ({"due": DUE}, "--due needs --received"),
        ({"due": DUE, "late": "10%"}, "is not understood"),
        ({"due": DUE, "received": "nowhere.csv"}, "nowhere.csv cannot be read: No such file"),
        ({"late": "10% a day"}, "--late and --received need a deadline"),
        ({"received": "r.csv"}, "--late and --received need a deadline"),
    ],
)
def test_bad_options_are_refused_before_anything_is_marked(tmp_path, options, words):
    with pytest.raises(GradeError, match=words):
        grade(tmp_path, tmp_path / "out", Options(isolated=False, **options))
    assert not (tmp_path / "out").exists()
