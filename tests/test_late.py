"""Late hand-ins: what the teacher writes, what it costs, and where it is shown. No notebook is run here."""

import time

import pytest

from course_utils.tools.grading.class_run import Options, grade
from course_utils.tools.grading.csv_files import read_table
from course_utils.tools.grading.late import KEPT, Terms, keep, read_lateness, read_rule, with_kept
from course_utils.tools.grading.reports import write_for_people
from course_utils.tools.grading.results import NOT_MARKED, GradeError, Result
from course_utils.tools.grading.rosters import Learner

from .grader import points_of
from .marks import ALL_04, ALL_05, FULL, WORK, learners, result

DUE = "2026-12-04 18:00 +01:00"
ENGLISH = "Identifier,Full name,Email address,Last modified (submission)"
GERMAN = "ID;Vollständiger Name;E-Mail-Adresse;Zuletzt geändert (Abgabe)"


def handed_in(learner, *passed, lesson="04"):
    """(learner, file, modified, result), as `learners` takes it: these exercises are passed."""
    return learner, f"{learner}-{lesson}.ipynb", 1, result(*passed, lesson=lesson)


ADA = handed_in("ada", *ALL_04)
BOB = handed_in("bob", *ALL_04)
ADA_05 = handed_in("ada", ALL_05[0], lesson="05")


def class_with_dates(
    folder,
    table,
    *hand_ins,
    rule="1 point a day",
    due=DUE,
    header="learner,received,lesson",
    people=None,
):
    """({learner: record}, sentences for the teacher) of a class with a table of dates.

    table: the lines of received.csv below `header`. hand_ins: from `handed_in`; without any, Ada's
    of lesson 04 alone. people: the roster, {learner: Learner}.
    """
    (folder / "received.csv").write_text(f"{header}\n{table}\n")
    lateness = read_lateness(Terms(due, rule, folder / "received.csv"))
    records = learners(*(hand_ins or [ADA]), people=people)
    return records, lateness.write_to(list(records.values()))


def ada_with_dates(folder, table, *hand_ins, **terms):
    # Ada's record from `class_with_dates`, which takes the same arguments
    return class_with_dates(folder, table, *hand_ins, **terms)[0]["ada"]


# --- the rule


@pytest.mark.parametrize(
    "text, days, points",
    [
        # percentages are of the points possible
        ("10% a day", 0, 0),
        ("10% a day", 2, 4),
        ("10 % per day", 2, 4),
        ("12.5%/day", 1, 2.5),
        # points
        ("2 points a day", 3, 6),
        ("1 point a day", 3, 3),  # the singular
        # nothing is deducted
        ("none", 9, 0),
        ("NONE", 9, 0),
        ("0% a day", 9, 0),
        # at most so much
        ("10% a day, at most 50%", 9, 10),
        ("2 points a day at most 25%", 9, 5),
        ("10% a day, at most 3 points", 9, 3),
        # the first days are free
        ("after 3  free days, 10% a day", 3, 0),  # however it is spaced
        ("after 3 free days, 10% a day", 4, 2),
        ("After 1 free day, 10% a day, at most 50%", 99, 10),
    ],
)
def test_what_days_cost_of_20_points(text, days, points):
    assert read_rule(text).deduction(days, 20) == points


@pytest.mark.parametrize(
    "text",
    [
        "10%",  # of what time?
        "ten percent a day",
        "10% an hour",
        "-1 points a day",
        "10% a day, then 5%",  # only its beginning is a rule
        "",
        "1" * 9999,  # must be shortened in the message
    ],
)
def test_other_rules_are_refused_with_an_example(text):
    with pytest.raises(GradeError, match='is not understood; write it like "10% a day"') as error:
        read_rule(text)
    assert len(str(error.value)) < 400  # the example and the shortened rule: about 250 signs


# --- dates


@pytest.mark.parametrize(
    "received, days",
    [
        # without an offset: at the clock of the deadline
        ("2026-12-01 00:00", 0),
        ("2026-12-04 18:00", 0),
        ("2026-12-04 18:01", 1),
        ("2026-12-05 18:00", 1),
        ("2026-12-05 18:00:01", 2),
        # with an offset
        ("2026-12-04T17:00:00Z", 0),
        ("2026-12-04 17:00:01 UTC", 1),
        ("2026-12-04 12:30-05:00", 1),
        # as Moodle writes dates in English
        ('"Friday, 4 December 2026, 6:00 PM"', 0),
        ('"Friday, 4 December 2026, 18:03"', 1),
        ('"Friday, December 4, 2026, 6:01 PM"', 1),
        ('"4 Dec 2026, 18:01"', 1),
        ('"4 January 2026, 18:01"', 0),  # long before the deadline
        # and in German, here with Austria's word for January
        ('"Sonntag, 4. Jänner 2026, 18:01"', 0),
        ('"Freitag, 4. Dezember 2026, 18:01"', 1),
        # the latest of two
        ("2026-12-07 09:00\nada,2026-12-05 09:00", 3),
    ],
)
def test_started_days_count(tmp_path, received, days):
    ada = ada_with_dates(tmp_path, f"ada,{received}")  # 1 point a day
    assert (ada.late_days, ada.deducted, ada.points) == (days, days, FULL - days)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="on Windows no test can set the time zone")
def test_without_an_offset_dates_are_local(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    try:
        ada = ada_with_dates(tmp_path, "ada,2026-12-04T17:00:01Z", due="2026-12-04 18:00")
        assert ada.late_days == 1
        assert "Due 2026-12-04 18:00 (CET)." in ada.due
        ada = ada_with_dates(tmp_path, "ada,2026-10-25 18:00", due="2026-10-24 18:00")
        assert ada.late_days == 2, "the day had 25 hours"
    finally:
        monkeypatch.undo()
        time.tzset()


# --- a class


# at 10% a day, two days cost a fifth of the points
ADA_IS_LATE = f"Received 2026-12-06 09:00, 2 days late: {FULL / 5:g} points deducted."


@pytest.fixture
def reports(tmp_path):
    """The folder with the reports of a class in which Ada is two days late, and Bob in time."""
    records, _ = class_with_dates(
        tmp_path,
        "ada,2026-12-06 09:00\nbob,2026-12-04 09:00",
        ADA,
        BOB,
        rule="10% a day, at most 50%",
    )
    write_for_people(tmp_path, list(records.values()), WORK, isolated=True)
    return tmp_path


@pytest.mark.parametrize(
    "column, of_ada, of_bob",
    [("deducted", FULL / 5, 0), ("late days", 2, 0), ("total", FULL - FULL / 5, FULL)],
)
def test_the_table_of_grades_has_days_and_points(reports, column, of_ada, of_bob):
    ada, bob = read_table(reports / "grades.csv")
    assert (float(ada[column]), float(bob[column])) == (of_ada, of_bob)


def test_moodle_gets_the_reduced_grade_and_the_reason(reports):
    ada, _ = read_table(reports / "moodle.csv")
    assert float(ada["Grade"]) == FULL - FULL / 5
    assert ADA_IS_LATE in ada["Feedback comments"]


@pytest.mark.parametrize(
    "page, received",
    [
        ("feedback/ada.html", ADA_IS_LATE),
        ("feedback/bob.html", "Received 2026-12-04 09:00, in time."),
        ("summary.html", '<table id="late">'),
        ("summary.html", ADA_IS_LATE),
    ],
)
def test_pages_say_when_it_was_received_and_what_the_terms_are(reports, page, received):
    text = (reports / page).read_text()
    assert text.count(received) == 1
    assert (
        "Due 2026-12-04 18:00 (UTC+01:00). What late hand-ins lose: 10% a day, at most 50%." in text
    )


def test_without_a_deadline_tables_have_no_dates(tmp_path):
    write_for_people(tmp_path, list(learners(ADA).values()), WORK, isolated=True)
    assert "deducted" not in read_table(tmp_path / "grades.csv")[0]
    assert "Late hand-ins" not in (tmp_path / "summary.html").read_text()


@pytest.mark.parametrize(
    "rule, loses, notes",
    [
        (None, "", ["Received 2026-12-05 09:00, 1 day late."]),
        ("none", " Late hand-ins lose no points.", []),
    ],
    ids=["no rule", "the rule none"],
)
def test_the_late_lose_nothing_and_need_review_only_where_no_rule_is_given(
    tmp_path, rule, loses, notes
):
    ada = ada_with_dates(tmp_path, "ada,2026-12-05 09:00", rule=rule)
    assert (ada.points, ada.due) == (FULL, f"Due 2026-12-04 18:00 (UTC+01:00).{loses}")
    assert ada.notes == notes


def test_where_no_date_is_known_nothing_is_deducted(tmp_path):
    records, sentences = class_with_dates(tmp_path, "ada,2026-12-04 09:00", ADA, BOB)
    assert records["bob"].points == FULL
    assert "It is not known when this was received" in records["bob"].notes[-1]
    assert sentences[-1].endswith("for review: bob.")


def test_who_handed_nothing_in_is_not_late(tmp_path):
    records, _ = class_with_dates(tmp_path, "ada,2026-12-04 09:00", people={"gus": Learner("gus")})
    assert (records["gus"].notes, records["gus"].received) == ([], [])


def test_each_lesson_has_its_own_dates_and_does_not_fall_below_0(tmp_path):
    # the lesson is written in three ways; Ada handed in nothing of lesson 06: its date is ignored
    dates = "ada,2026-12-05 09:00,4\nada,2026-12-24 09:00,lesson 05\nada,2026-12-31 09:00,06"
    ada = ada_with_dates(tmp_path, dates, ADA, ADA_05, rule="50% a day")
    assert [(lesson.lesson, lesson.days, lesson.deducted) for lesson in ada.received] == [
        ("04", 1, FULL / 2),
        ("05", 20, points_of(ALL_05[0])),
    ]
    assert (ada.points, ada.late_days) == (FULL / 2, 21)


def test_a_date_without_a_lesson_is_of_all_lessons_without_their_own(tmp_path):
    dates = "ada,2026-12-05 09:00,04\nada,2026-12-04 09:00,"
    received = ada_with_dates(tmp_path, dates, ADA, ADA_05).received
    assert [lesson.days for lesson in received] == [1, 0]


def test_a_lesson_without_a_date_is_named(tmp_path):
    notes = ada_with_dates(tmp_path, "ada,2026-12-05 09:00,04", ADA, ADA_05).notes
    assert "Lesson 05: it is not known" in notes[-1]


@pytest.mark.parametrize(
    "header, of_ada, of_bob",
    [
        (  # by the e-mail address, in any case of letters
            ENGLISH,
            'Participant 77,,ADA@example.org,"Sunday, 6 December 2026, 9:00 AM"',
            "Participant 78,,BOB@example.org,-",
        ),
        (  # by the full name, with the last name first
            ENGLISH,
            'Participant 77,"Lovelace, Ada",,"Sunday, 6 December 2026, 9:00 AM"',
            'Participant 78,"Builder, Bob",,-',
        ),
        (  # by the user name
            ENGLISH,
            'ada,,,"Sunday, 6 December 2026, 9:00 AM"',
            "bob,,,-",
        ),
        # by the user name in the column for the full name, in a German worksheet
        (GERMAN, "Teilnehmer/in77;ada;;Sonntag, 6. Dezember 2026, 09:00", "Teilnehmer/in78;bob;;-"),
    ],
)
def test_learners_are_found_as_platforms_name_them(tmp_path, header, of_ada, of_bob):
    # nothing is said of Bob: he is not in this class, and his row has no date
    people = {"ada": Learner("ada", "Ada Lovelace", "ada@example.org")}
    records, sentences = class_with_dates(
        tmp_path, f"{of_ada}\n{of_bob}", header=header, people=people
    )
    assert records["ada"].late_days == 2
    assert sentences == ["Late: Ada Lovelace (2 days)."]


def test_a_learner_who_is_not_marked_loses_nothing_yet(tmp_path):
    ada = ada_with_dates(
        tmp_path, "ada,2026-12-06 09:00", ("ada", "ada-04.ipynb", 1, Result(NOT_MARKED, "it ended"))
    )
    assert (ada.points, ada.late_days, ada.deducted) == (None, 2, None)
    write_for_people(tmp_path, [ada], WORK, isolated=True)
    assert read_table(tmp_path / "grades.csv")[0]["deducted"] == ""


@pytest.fixture
def kept(tmp_path):
    """A folder of results of lesson 04 in which a deadline and a table of dates were kept.

    The table that the teacher gave is deleted, so that only the kept copy can be read.
    """
    received = tmp_path / "mine.csv"
    received.write_text("learner,received\nada,2026-12-06 09:00\n")
    keep(Terms(DUE, "1 point a day", received), tmp_path, ["04"])
    received.unlink()
    return tmp_path


def test_a_deadline_stays_with_the_results_until_it_is_removed(kept):
    ada = learners(ADA)["ada"]
    for _ in range(2):  # what is kept may be kept again
        terms = with_kept(Terms(), kept, ["04"])
        keep(terms, kept, ["04"])
        assert read_lateness(terms).write_to([ada]) == ["Late: ada (2 days)."]
        assert ada.points == FULL - 2
    keep(with_kept(Terms("none"), kept, ["04"]), kept, ["04"])
    assert with_kept(Terms(), kept, ["04"]) == Terms()


def test_a_kept_deadline_is_of_its_lessons_alone(kept):
    assert with_kept(Terms(), kept, ["08"]) == Terms()


def test_a_kept_deadline_that_is_damaged_must_be_given_again(kept):
    (kept / KEPT).write_text("{")
    with pytest.raises(GradeError, match="deadline.json is damaged; give --due"):
        with_kept(Terms(), kept, ["04"])


@pytest.mark.parametrize(
    "status, days",
    [
        ("Extension granted until: Monday, 7 December 2026, 6:00 PM", 0),
        # as in a German worksheet, behind another status; its date may be in English
        ("bewertet - Verlängertes Abgabeende bis: Monday, 7 December 2026, 6:00 PM", 0),
        ("Submitted", 2),  # no extension
    ],
)
def test_an_extension_that_moodle_granted_a_learner_counts(tmp_path, status, days):
    header = "Identifier,Full name,Status,Last modified (submission)"
    row = f'Participant 77,ada,"{status}","Sunday, 6 December 2026, 9:00 AM"'
    assert ada_with_dates(tmp_path, row, header=header).late_days == days


# --- bad input


def test_unknown_learners_are_named_in_one_sentence(tmp_path):
    rows = [f"x{number},2026-12-05 09:00" for number in range(9)]
    # below the header and nine rows, line 11 names nobody
    records, sentences = class_with_dates(tmp_path, "\n".join([*rows, ",2026-12-05 09:00"]))
    assert sentences[0] == (
        "--received has lines about learners who are not in this class: "
        "line 11, x0, x1, x2 and 6 others."
    )
    assert len(sentences) == 2  # the other says that Ada has no date
    assert records["ada"].points == FULL


@pytest.mark.parametrize(
    "table, message",
    [
        # no rows, or no column of dates
        ("", "received.csv has no lines"),
        ("learner,received\n", "received.csv has no lines"),
        ("learner,when\nada,2026-12-05 09:00\n", "no column `received`"),
        # dates: in another form, without a time, of no calendar, of a far year
        (
            "learner,received\nada,2026-12-05 09:00\nbob,04/12/2026\n",
            "line 3: '04/12/2026' is no date and time; write",
        ),
        ("learner,received\nada,2026-12-05\n", "line 2: .* is no date"),
        ("learner,received\nada,2026-13-01 09:00\n", "line 2: .* is no date"),
        ("learner,received\nada,9999-12-31 23:59\n", "line 2: '9999-12-31 23:59' is no date"),
        # a date with commas and without quotation marks
        (
            "learner,received\nada,Friday, 4 December 2026, 6:00 PM\n",
            "line 2: there are more values than columns",
        ),
        ("learner,received,lesson\nada,2026-12-05 09:00,77\n", "line 2: '77' is no lesson"),
        # no CSV in UTF-8
        ('learner,received\nada,"2026\n', "received.csv, line 2: a quotation mark is never closed"),
        (b"learner,received\n\xff,\n", "is not in UTF-8"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(tmp_path, table, message):
    (tmp_path / "received.csv").write_bytes(table if isinstance(table, bytes) else table.encode())
    with pytest.raises(GradeError, match=message) as error:
        read_lateness(Terms(DUE, None, tmp_path / "received.csv"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "options, message",
    [
        # a deadline that is no date, has no time, or is in another form
        ({"due": "Friday, 18:00"}, "is no date and time; write"),
        ({"due": "2026-12-04"}, "is no date and time; write"),
        ({"due": "4.12.2026 18:00"}, "is no date and time; write"),
        # a deadline without readable dates, or with a wrong rule
        ({"due": DUE}, "--due needs --received"),
        ({"due": DUE, "late": "10%"}, "is not understood"),
        ({"due": DUE, "received": "nowhere.csv"}, "nowhere.csv cannot be read: No such file"),
        # no deadline
        ({"late": "10% a day"}, "--late and --received need a deadline"),
        ({"received": "r.csv"}, "--late and --received need a deadline"),
    ],
)
def test_bad_options_are_refused_before_anything_is_marked(tmp_path, options, message):
    with pytest.raises(GradeError, match=message):
        grade(tmp_path, tmp_path / "out", Options(isolated=False, **options))
    assert not (tmp_path / "out").exists()
