"""The concept inventory, where to begin, what is due, and what a class has gained."""

import csv
import io
import linecache
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import nbformat
import numpy as np
import pytest
from click.testing import CliRunner
from fsrs import Card, Rating, Scheduler

from course_utils import check, progress
from course_utils._support.notebooks import cores, kind_of, lesson_cells, part_with
from course_utils.diary import schedule
from course_utils.diary.passed import remember
from course_utils.diary.workspace import RECORD
from course_utils.exercises import all_exercises
from course_utils.tools.cli import main
from course_utils.tools.ideas import asking, gains, route, sheets
from course_utils.tools.ideas.inventory import FORMS, inventory
from course_utils.tools.workspace.lab import write_at_first

from .commands import output_of
from .sources import SOURCES

DAY = timedelta(days=1)
START = datetime(2026, 1, 5, 18, tzinfo=UTC)
IDEAS = list(inventory().values())


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    (tmp_path / RECORD).write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---------------------------------------------------------------- the inventory


WITH_EXERCISES = [key for key in cores() if kind_of(SOURCES[key]) != "page"]


@pytest.mark.parametrize("key", WITH_EXERCISES)
def test_a_core_has_two_ideas_and_each_of_its_exercises_needs_one(key):
    ideas = [idea for idea in IDEAS if idea.lesson == key]
    assert len(ideas) == 2
    assert {name for idea in ideas for name in idea.exercises} == {
        n for n in all_exercises() if part_with(n) == key
    }


@pytest.mark.parametrize("idea", IDEAS, ids=[one.id for one in IDEAS])
def test_a_question_has_its_cell_its_evidence_and_options_that_look_alike(idea):
    cells = {cell.id for cell in lesson_cells(SOURCES[idea.lesson])}
    errors = set()
    for form in FORMS:
        one = getattr(idea, form)
        assert one.ask.endswith("?") and one.cell in cells
        assert len({option.text for option in one.options}) == len(one.options) == 4
        assert sum(option.right for option in one.options) == 1
        assert all(
            option.why and not option.why.startswith(("Right.", "No.")) for option in one.options
        )
        lengths = [len(option.text) for option in one.options]
        assert max(lengths) - min(lengths) <= 24, lengths
        errors |= {option.error for option in one.options if option.error}
    assert idea.section in cells and errors <= idea.evidence.keys(), errors
    for found in idea.evidence.values():
        assert (
            found["held"]
            and found["kind"]
            and found["where"]
            and 0 <= found["found"] <= found["seen"]
        )


def test_the_position_of_the_right_option_and_its_length_tell_nothing():
    questions = [getattr(idea, form) for idea in IDEAS for form in FORMS]
    shares = np.bincount([asked.right for asked in questions], minlength=4) / len(questions)
    longest = np.mean(
        [
            asked.right == np.argmax([len(option.text) for option in asked.options])
            for asked in questions
        ]
    )
    assert shares.min() > 0.15 and shares.max() < 0.35 and longest < 0.35


# ---------------------------------------------------------------- where to begin


def to(last):
    return [f"{number:02d}" for number in range(1, last + 1)]


# (known cores, cores of which the first idea is known, begin, skip, cores of which a section is to be read)
PROFILES = [
    ([], [], "00", [], []),
    (["02"], [], "00", ["02"], []),
    (["10"], ["05"], "00", ["10"], []),
    ([], ["02", "03"], "00", [], []),
    (["03", "04", "05"], [], "00", ["03", "04", "05"], []),
    *[(to(last), [], f"{last + 1:02d}", to(last), []) for last in range(1, 11)],
    *[
        (to(last), [f"{last + 1:02d}"], f"{last + 2:02d}", to(last + 1), [f"{last + 1:02d}"])
        for last in range(9)
    ],
    ([], ["01", "02"], "03", ["01", "02"], ["01", "02"]),
    (["01"], ["02"], "03", ["01", "02"], ["02"]),
    (["01", "03"], ["02"], "04", ["01", "02", "03"], ["02"]),
    (["01", "02", "05"], [], "03", ["01", "02", "05"], []),
    (["01", "02", "04", "06"], ["03"], "05", ["01", "02", "03", "04", "06"], ["03"]),
    (["08", "09", "10"], ["01"], "02", ["01", "08", "09", "10"], ["01"]),
]


def could_do(known):
    """The exercises of cores for which these ideas are enough."""
    lacking = {
        exercise_id for idea in IDEAS if idea.id not in known for exercise_id in idea.exercises
    }
    return {exercise_id for idea in IDEAS for exercise_id in idea.exercises} - lacking


@pytest.mark.parametrize(("whole", "half", "begin", "skip", "sections"), PROFILES)
def test_the_route_of_a_profile(whole, half, begin, skip, sections):
    known = {idea.id for idea in IDEAS if idea.lesson in whole}
    known |= {next(idea.id for idea in IDEAS if idea.lesson == lesson) for lesson in half}
    session = asking.Placing()
    for asked in route.placing():  # who does not know guesses, and may be right
        sure = 2 if asked.id.removesuffix(".before") in known else 0
        assert session.answer(asked.right, sure) == "", "no feedback before the end"
    found = route.route(known & {item.removesuffix(".before") for item, _, _ in session.given})
    assert (found.begin, list(found.skip), sorted({idea[:2] for idea in found.sections})) == (
        begin,
        skip,
        sections,
    )
    assert f"Begin with lesson {begin}" in session.end()
    skipped = {
        one for idea in IDEAS if idea.lesson in set(skip) - set(sections) for one in idea.exercises
    }
    assert skipped <= could_do(known), "what is skipped whole could be done"


def test_by_doing_a_core_is_known_if_its_exercise_is_passed(workspace):
    assert "Begin with lesson 00" in repr(asking.place(by="doing"))
    for one in ("01-wordpiece", "02-pad-batch"):
        remember(one, workspace)
    assert "Begin with lesson 03; skip 01 and 02." in repr(asking.place(by="doing"))
    with pytest.raises(ValueError, match='"questions" or "doing"'):
        asking.place(by="heart")
    assert all(part_with(one) == lesson for lesson, one in route.BY_DOING.items())


# ---------------------------------------------------------------- what stayed


def test_the_schedule_is_the_librarys(workspace):
    rng = random.Random(3)
    own = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    now, card = START, None
    for _ in range(40):
        right, sure = rng.random() < 0.8, rng.randrange(3)
        schedule.record(workspace, "02-mask.after", right, sure, now=now)
        rating = Rating.Again if not right else Rating.Hard if sure == 0 else Rating.Good
        card = own.review_card(card or Card(card_id=0, due=now), rating, now)[0]
        assert schedule.read_schedule(workspace).cards["02-mask.after"] == card.to_dict()
        now = card.due + timedelta(hours=rng.randrange(72))


@pytest.mark.parametrize("new_a_day", [3, 50])
def test_a_finished_core_a_named_mistake_and_a_passed_exercise_come_back(
    new_a_day, workspace, monkeypatch
):
    monkeypatch.setattr(sheets, "NEW_A_DAY", new_a_day)
    assert repr(asking.review()) == "Nothing is left to ask today."
    mistake = next(one for one in all_exercises()["02-pad-batch"].mistakes if one.card)
    check("02-pad-batch", mistake.imitations[0])
    assert sheets.due_today(workspace)[0] == [f"02-pad-batch {mistake.name}"]
    sheet = sheets.sheet_of(f"02-pad-batch {mistake.name}")
    assert mistake.does in sheet.ask and sheet.back == mistake.because
    for name in ("02-pad-batch", "02-find-the-bug"):
        check(name, all_exercises()[name].reference)
    today = sheets.due_today(workspace)[0]
    assert (today[1:], sheets.material("02")[:3]) == (
        sheets.material("02")[:new_a_day],
        ["02-recall-1", "02-recall-2", "02-recall-3"],
    )
    _, writing, _ = sheets.due_today(workspace, datetime.now(UTC) + 30 * DAY)
    assert sorted(writing) == ["02-find-the-bug", "02-pad-batch"]
    assert f"to review today: {len(today)}" in repr(progress())
    session = asking.Reviewing(workspace)
    while (sheet := session.sheet()) is not None:
        session.answer(1, None if sheet.back else 2)
    assert f"of {len(today)} right" in session.end()
    asked_how_sure = any(item in sheets.material("02")[3:] for item in today)
    assert ("how sure you were: sure: " in repr(progress())) == asked_how_sure
    assert sheets.due_today(workspace)[0] == [], "not before tomorrow"


def test_a_wrong_function_that_the_lesson_gives_is_not_the_learners_mistake(workspace):
    (cell,) = [cell for cell in SOURCES["00"].cells if cell.id == "careless"]
    for source, recorded in (
        (cell.source, []),
        (cell.source.replace("careless", "my"), ["00-nearest itself"]),
    ):
        source = source.rpartition("\n\n")[0]
        name = f"<cell {source[:12]}>"
        linecache.cache[name] = len(source), None, source.splitlines(True), name  # as IPython does
        namespace = {}
        exec(compile(source, name, "exec"), namespace)
        (function,) = (thing for word, thing in namespace.items() if word.endswith("nearest"))
        assert (check("00-nearest", function).status, sheets.due_today(workspace)[0]) == (
            "failed",
            recorded,
        )


def test_outside_a_workspace_nothing_is_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "a review needs a folder with your lessons" in repr(asking.review())
    check("02-pad-batch", all_exercises()["02-pad-batch"].reference)
    assert asking.predictions("02").session.answer(1, 2).startswith("**Right.**")
    assert list(tmp_path.iterdir()) == []
    for key in ("02", "08-thresholds"):  # of a further part too
        for name in sheets.predictions_of(key):
            assert sum(option.right for option in sheets.sheet_of(name).options) == 1
    with pytest.raises(ValueError, match="'99' has no predictions"):
        asking.predictions("99")


@pytest.fixture
def path(workspace):
    """The record of a workspace in which one question was answered."""
    schedule.record(workspace, "02-mask.after", True, 2, now=START)
    return workspace / schedule.SCHEDULE


@pytest.mark.parametrize(
    "old, new",
    [
        ("{", "["),
        ('"due": "2026', '"due": "yesterday'),
        ('"right": true', '"right": 3'),
        ('"at": "2026-01-05T18:00:00+00:00"', '"at": "2026-01-05"'),
        ('"cards": {', '"cards": 3, "was": {'),
    ],
)
def test_a_damaged_record_is_moved_aside(workspace, path, old, new):
    damaged = path.read_text().replace(old, new)
    path.write_text(damaged)
    assert old not in damaged and "will be moved aside" in repr(asking.review())
    schedule.record(workspace, "02-mask.before", True, 2)
    assert (
        (workspace / ".schedule.damaged.json").read_text(),
        schedule.read_schedule(workspace).cards.keys(),
    ) == (damaged, {"02-mask.before"})


def test_a_record_of_a_newer_version_is_left_alone(workspace, path):
    text = path.read_text().replace('"version": 1', '"version": 2')
    path.write_text(text)
    assert "newer version of the course" in repr(asking.review()) and "newer version" in repr(
        progress()
    )
    with pytest.raises(schedule.ScheduleProblem, match="newer version"):
        schedule.record(workspace, "02-mask.after", True, 2)
    check("02-pad-batch", all_exercises()["02-pad-batch"].reference)  # which must not be disturbed
    assert path.read_text() == text


def test_a_clock_set_back_makes_nothing_due_earlier_or_later(workspace, path):
    due = schedule.read_schedule(workspace).cards["02-mask.after"]["due"]
    schedule.record(workspace, "02-mask.before", True, 2, now=START - 400 * DAY)
    assert schedule.read_schedule(workspace).cards["02-mask.before"]["due"] == due


def test_an_item_that_an_update_dropped_is_not_asked(workspace):
    schedule.begin(workspace, ["02-gone.after", "02-pad-batch gone", "02-recall-9", "77-quiz-x"])
    assert sheets.due_today(workspace)[0] == []


WRITER = """
import sys
from course_utils.diary import schedule
for number in range(25):
    schedule.record(sys.argv[1], f"02-recall-{number}", True)
"""


def test_two_windows_lose_no_answer(workspace):
    command = [sys.executable, "-c", WRITER, str(workspace)]
    writers = [subprocess.Popen(command) for _ in range(2)]
    assert (
        [writer.wait() for writer in writers],
        len(schedule.read_schedule(workspace).answers),
    ) == ([0, 0], 50)


# ---------------------------------------------------------------- what a class has gained


def table(form, right, learners, shuffled=False, moodle=True):
    """A platform's report of responses: `right` is learners x ideas."""
    order = np.random.default_rng(4).permutation(len(IDEAS)) if shuffled else range(len(IDEAS))
    questions = [getattr(IDEAS[at], form) for at in order]
    head = ["Last name", "Email address"]
    for number, asked in enumerate(questions, 1):
        head += (
            [f"Question {number}", f"Response {number}"] if moodle else [f"{number}: {asked.ask}"]
        )
    rows = [head]
    for learner, is_right in zip(learners, right):
        cells = ["Somebody", f"{learner}@example.org"]
        for at, asked in zip(order, questions):
            chosen = asked.right if is_right[at] else (asked.right + 1) % 4
            cells += [asked.ask] * moodle + [asked.options[chosen].text]
        rows.append(cells)
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue()


@pytest.fixture
def read(tmp_path, monkeypatch):
    """A function that writes the texts of two tables and reads both as Answers; intervals are rough and quick."""
    monkeypatch.setattr(gains, "REPEATS", 100)

    def read_both(*texts):
        paths = [tmp_path / f"{form}.csv" for form in FORMS]
        for path, text in zip(paths, texts):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return gains.read_both(*paths)

    return read_both


ALL_RIGHT = np.ones((3, len(IDEAS)))


@pytest.mark.parametrize("shuffled", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("moodle", [False, True], ids=["other", "moodle"])
def test_answers_are_found_wherever_their_columns_stand(read, shuffled, moodle):
    right = np.random.default_rng(0).random((9, len(IDEAS))) < 0.5
    for answers in read(*(table(form, right, range(9), shuffled, moodle) for form in FORMS)):
        assert (answers.right == right).all(axis=None) and answers.notices == []
        assert list(answers.right) == list(inventory())


def test_an_invented_class_gets_its_parameters_back(read):
    """150 learners, and for each idea a known share before and a known gain."""
    rng, n = np.random.default_rng(2), 150
    gain = np.linspace(0, 0.9, len(IDEAS))
    before = rng.random((n, len(IDEAS))) < 0.4
    after = before | (rng.random((n, len(IDEAS))) < gain)
    noise = rng.random(n) < 0.5  # about the last idea, nobody's knowledge counts
    before[:, -1], after[:, -1] = noise, noise
    found, learners, notices = gains.gains(
        *read(table("before", before, range(n)), table("after", after, range(n)))
    )
    assert learners == n and notices == []
    assert np.allclose(found["gain"][:-1], gain[:-1], atol=0.15)
    assert ((found["gain from"] <= gain) & (gain <= found["gain to"]))[:-1].mean() > 0.8
    assert (
        abs(found["difficulty"].iloc[-1] - 0.5) < 0.1
        and abs(found["discrimination"].iloc[-1]) < 0.2
    )
    lines = gains.in_words(found, learners, notices)
    assert (
        f"Ideas without a gain: {IDEAS[0].id}, {IDEAS[-1].id}." in lines and "Somebody" not in lines
    )


def test_gain_is_hakes_and_discrimination_follows_how_much_an_item_depends_on_ability():
    first, second = (
        np.array([[0, 1], [0, 1], [1, 1], [1, 1]]),
        np.array([[1, 1], [0, 0], [1, 1], [1, 1]]),
    )
    gain = gains.measures(first, second)["gain"]
    assert gain[0] == 0.5 and np.isnan(gain[1])
    rng = np.random.default_rng(1)
    ability, slope = rng.normal(size=(4000, 1)), np.repeat([0, 0.5, 1, 2], 5)
    right = rng.random((4000, 20)) < 1 / (1 + np.exp(-slope * ability))
    found = gains.measures(right[:2000], right[2000:])["discrimination"][::5]
    assert list(found) == sorted(found) and abs(found[0]) < 0.05 and found[-1] > 0.5
    assert found[2] == pytest.approx(np.corrcoef(right[:, 10], right.sum(1) - right[:, 10])[0, 1])


BEFORE, AFTER = (table(form, ALL_RIGHT, "abc") for form in FORMS)


@pytest.mark.parametrize(
    "before, problem",
    [
        (BEFORE + '"never closed', "is not a table"),
        ("", "is not a table"),
        (b"\xff\xfe\0", "is not a table"),
        (BEFORE.replace("Email address", "Colour"), "no column that names the same learners"),
        ("email address,Grade\na@example.org,3\n", "No column .* holds answers to the before form"),
        (
            table("before", ALL_RIGHT, "cde"),
            f"1 learners and {len(IDEAS)} ideas are in both tables",
        ),
    ],
)
def test_other_tables_get_a_sentence(read, before, problem):
    with pytest.raises(gains.GainsProblem, match=problem):
        gains.gains(*read(before, AFTER))


def test_what_is_left_out_is_said(read):
    again = table("before", 0 * ALL_RIGHT, "a").splitlines()[1]  # all wrong at the second attempt
    odd = f"sep=,\n{BEFORE}{again}\na total,\n"
    before, after = read(odd, table("after", ALL_RIGHT, "bcd"))
    assert list(before.right.index) == [f"{learner}@example.org" for learner in "abc"]
    assert before.right.all(axis=None)
    assert "1 rows without" in before.notices[0] and "1 later attempts" in before.notices[1]
    _, learners, notices = gains.gains(before, after)
    assert learners == 2 and "2 learners are in one table only" in notices[-1]


@pytest.mark.parametrize("name", ["ID number", "sis_id", "SIS User ID", "ID-Nummer"])
@pytest.mark.parametrize(
    "before, after, learners", [(["", "2", ""], ["-", "-", "-"], "abc"), ("128", "312", "12")]
)
def test_the_column_that_names_most_learners_in_both_tables_counts(
    read, name, before, after, learners
):
    texts = []
    for text, cells in ((BEFORE, before), (AFTER, after)):
        rows = [f"{cell},{line}" for cell, line in zip([name, *cells], text.splitlines())]
        texts.append("\n".join(rows))
    if learners == "12":
        texts[1] = texts[1].replace("Email address", "Colour")
    assert gains.gains(*read(*texts))[1] == len(learners)


# ---------------------------------------------------------------- the commands


def test_place_and_review_ask_in_a_terminal(workspace):
    answer = "A\n3\n"
    asked = output_of("place", keys=answer * 20)
    assert "20 of 20 · Lesson 10" in asked and "Begin with lesson" in asked
    old = CliRunner(charset="cp1252")  # as a terminal of Windows
    assert "20 of 20" in old.invoke(main, ["place"], input=answer * 20).output
    assert "04-mean-pool" in output_of("place", "--by-doing", "--workspace", workspace)
    for name in ("02-pad-batch", "02-find-the-bug"):
        remember(name, workspace)
    due = sheets.due_today(workspace)[0][: asking.A_DAY]
    asked = output_of(
        "review", keys="".join("\nA\n" if "-recall-" in item else answer for item in due)
    )
    assert f"{len(due)} of {len(due)} · Lesson 02" in asked and f"of {len(due)} right." in asked
    assert len(schedule.read_schedule(workspace).answers) == len(due)
    output_of("place", keys="A\n", status=1)  # stopped


def test_the_forms_are_exported_and_gains_writes_a_table(tmp_path):
    for flag, form in (("--before", "moodle"), ("--after", "qti")):
        assert f"{len(IDEAS)} questions in" in output_of(
            "quiz", flag, "--format", form, "--out", tmp_path / form
        )
    assert "i02-mask.before" in (tmp_path / "moodle").read_text()
    right = np.random.default_rng(0).random((2, 6, len(IDEAS))) < 0.5
    files = [tmp_path / f"{form}.csv" for form in FORMS]
    for file, form, answers in zip(files, FORMS, right):
        file.write_text(table(form, answers, range(6)))
    out = tmp_path / "gains.csv"
    assert "6 learners answered both forms" in output_of("gains", *files, "--out", out)
    assert out.read_text().startswith("idea,before,after,gain,gain from,gain to")
    assert "none.csv" in output_of("gains", files[0], tmp_path / "none.csv", status=1)


def test_todays_notebook_is_written_once(workspace):
    write_at_first(workspace)
    notebook = nbformat.read(workspace / "today.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert [cell.source for cell in notebook.cells if cell.cell_type == "code"][1:] == [
        "review()",
        "progress()",
    ]
    (workspace / "today.ipynb").write_text("mine")
    write_at_first(workspace)
    assert (workspace / "today.ipynb").read_text() == "mine"
    write_at_first(workspace / "nowhere")
