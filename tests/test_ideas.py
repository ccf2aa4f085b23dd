"""The concept inventory, where to begin, what is due, and what a class has gained."""

import csv
import io
import linecache
import os
import random
from datetime import UTC, datetime, timedelta

import nbformat
import numpy as np
import pytest
from fsrs import Card, Rating, Scheduler

from course_utils import check, progress
from course_utils._support.notebooks import lesson_cells, part_with
from course_utils.diary import schedule
from course_utils.diary.passed import remember
from course_utils.diary.workspace import RECORD
from course_utils.exercises import all_exercises
from course_utils.tools.ideas import asking, gains, route, sheets
from course_utils.tools.ideas.inventory import FORMS, inventory
from course_utils.tools.workspace.lab import write_at_first

from .commands import output_of
from .sources import DIVIDED, SOURCES

# of the first answers: any time, which `test_a_damaged_record_is_moved_aside` has as text
START = datetime(2026, 1, 5, 18, tzinfo=UTC)
GUESS, SURE = 0, 2  # how sure a learner is, the least and the most
IDEAS = list(inventory().values())
QUESTIONS = [getattr(idea, form) for idea in IDEAS for form in FORMS]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    # the current folder, which an empty record of passed exercises makes a workspace
    (tmp_path / RECORD).write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---------------------------------------------------------------- the inventory


@pytest.mark.parametrize("key", DIVIDED)
def test_a_core_has_two_ideas_and_each_of_its_exercises_needs_one(key):
    ideas = [idea for idea in IDEAS if idea.lesson == key]
    assert len(ideas) == 2
    assert {name for idea in ideas for name in idea.exercises} == {
        name for name in all_exercises() if part_with(name) == key
    }


@pytest.mark.parametrize("idea", IDEAS, ids=[idea.id for idea in IDEAS])
def test_an_idea_names_cells_of_its_lesson_and_has_evidence_of_each_error(idea):
    cells = {cell.id for cell in lesson_cells(SOURCES[idea.lesson])}
    assert {idea.section, *(getattr(idea, form).cell for form in FORMS)} <= cells
    errors = {option.error for form in FORMS for option in getattr(idea, form).options}
    assert errors - {""} <= idea.evidence.keys(), errors
    for evidence in idea.evidence.values():
        assert all(evidence[key] for key in ("held", "kind", "where"))
        assert 0 <= evidence["found"] <= evidence["seen"]


@pytest.mark.parametrize("question", QUESTIONS, ids=[question.id for question in QUESTIONS])
def test_a_question_has_one_right_option_and_three_others_that_look_like_it(question):
    assert question.ask.endswith("?")
    assert len({option.text for option in question.options}) == len(question.options) == 4
    assert sum(option.right for option in question.options) == 1
    assert all(
        option.why and not option.why.startswith(("Right.", "No.")) for option in question.options
    )
    # characters between the shortest and the longest: few words, so that none stands out
    assert np.ptp([len(option.text) for option in question.options]) <= 24


def test_the_position_of_the_right_option_and_its_length_tell_nothing():
    positions = np.bincount([question.right for question in QUESTIONS], minlength=4)
    # by chance 0.25, for the position and for the length; wide enough for so few questions
    assert 0.15 < min(positions) / len(QUESTIONS) <= max(positions) / len(QUESTIONS) < 0.35
    right_is_longest = [
        question.right == np.argmax([len(option.text) for option in question.options])
        for question in QUESTIONS
    ]
    assert np.mean(right_is_longest) < 0.35


# ---------------------------------------------------------------- where to begin


def cores_to(last):
    # from "01" to this number
    return [f"{number:02d}" for number in range(1, last + 1)]


# (known cores, cores of which the first idea is known, begin, skip,
# cores of which a section is to be read)
PROFILES = [
    # lesson 01 is not known: begin with the introduction, and skip only what is known whole
    ([], [], "00", [], []),
    (["02"], [], "00", ["02"], []),
    (["10"], ["05"], "00", ["10"], []),
    ([], ["02", "03"], "00", [], []),
    (["03", "04", "05"], [], "00", ["03", "04", "05"], []),
    # all cores up to one: begin after it
    *[(cores_to(last), [], f"{last + 1:02d}", cores_to(last), []) for last in range(1, 11)],
    # ... and half of the next one: read a section of it
    *[
        (cores_to(half - 1), [f"{half:02d}"], f"{half + 1:02d}", cores_to(half), [f"{half:02d}"])
        for half in range(1, 10)
    ],
    # halves and wholes mixed
    ([], ["01", "02"], "03", ["01", "02"], ["01", "02"]),
    (["01"], ["02"], "03", ["01", "02"], ["02"]),
    (["01", "03"], ["02"], "04", ["01", "02", "03"], ["02"]),
    (["01", "02", "05"], [], "03", ["01", "02", "05"], []),
    (["01", "02", "04", "06"], ["03"], "05", ["01", "02", "03", "04", "06"], ["03"]),
    (["08", "09", "10"], ["01"], "02", ["01", "08", "09", "10"], ["01"]),
]


def placed(known):
    """A session of placing after all answers: sure where the idea is known, else lucky guesses.

    known: ids of ideas; that of a question before the course is the idea's and ".before".
    """
    session = asking.Placing()
    for question in route.placing():
        sure = SURE if question.id.removesuffix(".before") in known else GUESS
        assert session.answer(question.right, sure) == "", "no feedback before the end"
    return session


@pytest.mark.parametrize(("whole", "half", "begin", "skip", "sections"), PROFILES)
def test_the_route_of_a_profile(whole, half, begin, skip, sections):
    known = {idea.id for idea in IDEAS if idea.lesson in whole}
    # of a core that is half known, the first idea
    known |= {next(idea.id for idea in IDEAS if idea.lesson == lesson) for lesson in half}
    session = placed(known)
    asked_about = {item.removesuffix(".before") for item, _, _ in session.answered}
    planned = route.route(known & asked_about)
    assert planned.begin == begin
    assert list(planned.skip) == skip
    # an idea's id begins with its lesson
    assert sorted({idea_id[:2] for idea_id in planned.sections}) == sections
    assert f"Begin with lesson {begin}" in session.end()
    skipped = [idea for idea in IDEAS if idea.lesson in set(skip) - set(sections)]
    too_hard = {name for idea in IDEAS if idea.id not in known for name in idea.exercises}
    assert too_hard.isdisjoint(name for idea in skipped for name in idea.exercises), (
        "what is skipped whole could be done"
    )


def test_by_doing_a_core_is_known_if_its_exercise_is_passed(workspace):
    assert "Begin with lesson 00" in repr(asking.place(by="doing"))
    for exercise_id in ("01-wordpiece", "02-pad-batch"):
        remember(exercise_id, workspace)
    assert "Begin with lesson 03; skip 01 and 02." in repr(asking.place(by="doing"))
    assert all(part_with(exercise) == lesson for lesson, exercise in route.BY_DOING.items())
    with pytest.raises(ValueError, match='"questions" or "doing"'):
        asking.place(by="heart")


# ---------------------------------------------------------------- what stayed


def test_the_schedule_is_the_librarys(workspace):
    rng = random.Random(3)
    own = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    now, card = START, None
    for _ in range(40):  # answers at random, mostly right, up to three days after they were due
        right, sure = rng.random() < 0.8, rng.randrange(3)
        schedule.record(workspace, "02-mask.after", right, sure, now=now)
        # how sure, from 0 to 2: a lucky guess was hard
        rating = (Rating.Hard, Rating.Good, Rating.Good)[sure] if right else Rating.Again
        card = own.review_card(card or Card(card_id=0, due=now), rating, now)[0]
        assert schedule.read_schedule(workspace).cards["02-mask.after"] == card.to_dict()
        now = card.due + timedelta(hours=rng.randrange(72))


MISTAKE = next(mistake for mistake in all_exercises()["02-pad-batch"].mistakes if mistake.card)
ITEM = f"02-pad-batch {MISTAKE.name}"  # the review's question about it


def test_nothing_is_asked_before_a_mistake_is_named_and_then_it_is(workspace):
    assert repr(asking.review()) == "Nothing is left to ask today."
    check("02-pad-batch", MISTAKE.imitations[0])
    assert sheets.due_today(workspace)[0] == [ITEM]
    sheet = sheets.sheet_of(ITEM)
    assert MISTAKE.does in sheet.ask
    assert sheet.back == MISTAKE.because


# 3: only what is to be recalled; 50: more than a core has
@pytest.fixture(params=[3, 50], ids=["few new a day", "all new at once"])
def today(request, workspace, monkeypatch):
    # the items that are due after a mistake was named and all exercises of the core were passed
    monkeypatch.setattr(sheets, "NEW_A_DAY", request.param)
    check("02-pad-batch", MISTAKE.imitations[0])
    for name in ("02-pad-batch", "02-find-the-bug"):
        check(name, all_exercises()[name].reference)
    return sheets.due_today(workspace)[0]


def test_after_the_mistake_so_many_questions_a_day_of_a_finished_core_are_due(today):
    assert today == [ITEM, *sheets.material("02")[: sheets.NEW_A_DAY]]
    # first those to recall, of which the learner is not asked how sure they are
    assert sheets.material("02")[:3] == ["02-recall-1", "02-recall-2", "02-recall-3"]


def test_a_core_may_have_no_questions_from_memory(monkeypatch):
    monkeypatch.setattr(sheets, "_cells", lambda path: [])  # as a lesson of the kind "page"
    assert sheets.recalled_of.__wrapped__("02") == {}  # without the cache


def test_a_passed_exercise_is_to_be_written_again_within_a_month(workspace, today):
    _, to_write, _ = sheets.due_today(workspace, datetime.now(UTC) + timedelta(days=30))
    assert sorted(to_write) == ["02-find-the-bug", "02-pad-batch"]


def test_what_was_reviewed_is_counted_and_no_longer_due(workspace, today):
    assert f"to review today: {len(today)}" in repr(progress())
    session = asking.Reviewing(workspace)
    while (sheet := session.sheet()) is not None:
        # a sheet with a back is recalled: nobody is asked how sure they are
        session.answer(1, None if sheet.back else SURE)
    assert f"of {len(today)} right" in session.end()
    # behind the three questions to recall
    asked_how_sure = any(item in sheets.material("02")[3:] for item in today)
    assert ("how sure you were: sure: " in repr(progress())) == asked_how_sure
    assert sheets.due_today(workspace)[0] == [], "not before tomorrow"


# "careless" is the lesson's own wrong function; under another name it is the learner's
@pytest.mark.parametrize("word, recorded", [("careless", []), ("my", ["00-nearest itself"])])
def test_a_wrong_function_that_the_lesson_gives_is_not_the_learners_mistake(
    workspace, word, recorded, monkeypatch
):
    (cell,) = [cell for cell in SOURCES["00"].cells if cell.id == "careless"]
    # without the last line, which calls the function
    source = cell.source.replace("careless", word).rpartition("\n\n")[0]
    file = f"<cell {source[:12]}>"  # another name for another source, as IPython has
    # as IPython does
    monkeypatch.setitem(linecache.cache, file, (len(source), None, source.splitlines(True), file))
    namespace = {}
    exec(compile(source, file, "exec"), namespace)
    (function,) = (value for name, value in namespace.items() if name.endswith("nearest"))
    assert check("00-nearest", function).status == "failed"
    assert sheets.due_today(workspace)[0] == recorded


def test_outside_a_workspace_nothing_is_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "a review needs a folder with your lessons" in repr(asking.review())
    check("02-pad-batch", all_exercises()["02-pad-batch"].reference)
    assert asking.predictions("02").session.answer(1, SURE).startswith("**Right.**")
    assert list(tmp_path.iterdir()) == []


def test_a_lesson_without_predictions_is_named():
    with pytest.raises(ValueError, match="'99' has no predictions"):
        asking.predictions("99")


@pytest.fixture
def schedule_path(workspace):
    """The path of the record of a workspace in which one question was answered."""
    schedule.record(workspace, "02-mask.after", True, SURE, now=START)
    return workspace / schedule.SCHEDULE


@pytest.mark.parametrize(
    "old, new",
    [
        ("{", "["),
        ('"due": "2026', '"due": "yesterday'),
        ('"right": true', '"right": 3'),
        ('"item": "02-mask.after"', '"question": "02-mask.after"'),
        ('"at": "2026-01-05T18:00:00+00:00"', '"at": "2026-01-05"'),
        ('"cards": {', '"cards": 3, "was": {'),
        ('"answers": [', '"answers": {}, "were": ['),
    ],
    ids=["no JSON", "no date", "no bool", "no item", "no time zone", "no cards", "no answers"],
)
def test_a_damaged_record_is_moved_aside(workspace, schedule_path, old, new):
    damaged = schedule_path.read_text().replace(old, new)
    assert old not in damaged
    schedule_path.write_text(damaged)
    assert "It is kept, with damaged in its name" in repr(asking.review())
    schedule.record(workspace, "02-mask.before", True, SURE)
    assert (workspace / ".schedule.damaged.json").read_text() == damaged
    assert schedule.read_schedule(workspace).cards.keys() == {"02-mask.before"}


def test_a_record_of_a_newer_version_is_left_alone(workspace, schedule_path):
    text = schedule_path.read_text().replace('"version": 1', '"version": 2')
    schedule_path.write_text(text)
    assert "newer version of the course" in repr(asking.review())
    assert "newer version" in repr(progress())
    with pytest.raises(schedule.ScheduleProblem, match="newer version"):
        schedule.record(workspace, "02-mask.after", True, SURE)
    check("02-pad-batch", all_exercises()["02-pad-batch"].reference)  # which must not be disturbed
    assert schedule_path.read_text() == text


def test_a_clock_set_back_makes_nothing_due_earlier_or_later(workspace, schedule_path):
    due = schedule.read_schedule(workspace).cards["02-mask.after"]["due"]
    schedule.record(workspace, "02-mask.before", True, SURE, now=START - timedelta(days=400))
    assert schedule.read_schedule(workspace).cards["02-mask.before"]["due"] == due


def test_an_item_that_an_update_dropped_is_not_asked(workspace):
    schedule.begin(workspace, ["02-gone.after", "02-pad-batch gone", "02-recall-9", "77-quiz-x"])
    assert sheets.due_today(workspace)[0] == []


# ---------------------------------------------------------------- what a class has gained


def table(form, right, learners, *, shuffled=False, moodle=True):
    """The text of a platform's report of responses to a form, as CSV.

    right: whether each answer is right, of shape (learners, ideas). learners: the first parts of
    their addresses. shuffled: the questions are not in the inventory's order. Moodle has two
    columns for each question, other platforms one, with the question as heading.
    """
    order = np.random.default_rng(4).permutation(len(IDEAS)) if shuffled else range(len(IDEAS))
    questions = [getattr(IDEAS[place], form) for place in order]
    head = ["Last name", "Email address"]
    for number, question in enumerate(questions, 1):
        head += (
            [f"Question {number}", f"Response {number}"]
            if moodle
            else [f"{number}: {question.ask}"]
        )
    rows = [head]
    for learner, is_right in zip(learners, right):
        cells = ["Somebody", f"{learner}@example.org"]
        for place, question in zip(order, questions):
            # one of four options: the right one or the next
            chosen = question.right if is_right[place] else (question.right + 1) % 4
            if moodle:
                cells.append(question.ask)
            cells.append(question.options[chosen].text)
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


@pytest.mark.timeout(120)  # reading a pipe would wait for ever
def test_a_pipe_is_no_table(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="It is a pipe or a device, not a file"):
        gains.read_both(tmp_path / "pipe", tmp_path / "pipe")


ALL_RIGHT = np.ones((3, len(IDEAS)))  # the answers of three learners


@pytest.mark.parametrize("shuffled", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("moodle", [False, True], ids=["other", "moodle"])
def test_answers_are_found_wherever_their_columns_stand(read, shuffled, moodle):
    right = np.random.default_rng(0).random((9, len(IDEAS))) < 0.5
    for answers in read(
        *(table(form, right, range(9), shuffled=shuffled, moodle=moodle) for form in FORMS)
    ):
        assert (answers.right == right).all(axis=None)
        assert list(answers.right) == list(inventory())
        assert answers.notices == []


def test_an_invented_class_gets_its_parameters_back(read):
    """150 learners, and for each idea a known share before and a known gain."""
    rng, n = np.random.default_rng(2), 150
    gain = np.linspace(0, 0.9, len(IDEAS))
    before = rng.random((n, len(IDEAS))) < 0.4
    after = before | (rng.random((n, len(IDEAS))) < gain)
    noise = rng.random(n) < 0.5  # the answers about the last idea: chance, and the same twice
    before[:, -1], after[:, -1] = noise, noise
    measured, learners, notices = gains.gains(
        *read(table("before", before, range(n)), table("after", after, range(n)))
    )
    assert learners == n
    assert notices == []
    # 90 learners can gain: a gain's standard error is at most sqrt(0.25 / 90) = 0.05
    assert np.allclose(measured["gain"][:-1], gain[:-1], atol=0.15)
    # of the 95% intervals, here from few resamples
    assert ((measured["gain from"] <= gain) & (gain <= measured["gain to"]))[:-1].mean() > 0.8
    # again more than two standard errors, 0.04 and 0.08
    assert abs(measured["difficulty"].iloc[-1] - 0.5) < 0.1
    assert abs(measured["discrimination"].iloc[-1]) < 0.2
    lines = gains.in_words(measured, learners, notices)
    assert f"Ideas without a gain: {IDEAS[0].id}, {IDEAS[-1].id}." in lines
    assert "Somebody" not in lines


def test_gain_is_hakes_and_unknown_where_all_were_right_before():
    # a row for each of four learners, and a column for each of two ideas
    before = np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    after = np.array([[1, 1], [0, 0], [1, 1], [1, 1]])
    assert np.array_equal(gains.measures(before, after)["gain"], [0.5, np.nan], equal_nan=True)


def test_discrimination_follows_how_much_an_item_depends_on_ability():
    rng = np.random.default_rng(1)
    ability = rng.normal(size=(4000, 1))
    slope = np.repeat([0, 0.5, 1, 2], 5)  # five items of each
    # as in a logistic model; the first 2000 rows are the answers before, the others those after
    right = rng.random((4000, 20)) < 1 / (1 + np.exp(-slope * ability))
    one_of_each = gains.measures(right[:2000], right[2000:])["discrimination"][::5]
    assert list(one_of_each) == sorted(one_of_each)
    # of 4000 answers that depend on nothing, the correlation's standard error is 0.016
    assert abs(one_of_each[0]) < 0.05
    assert one_of_each[-1] > 0.5
    item = right[:, 10]  # the first of the third slope
    assert one_of_each[2] == pytest.approx(np.corrcoef(item, right.sum(1) - item)[0, 1])


BEFORE, AFTER = (table(form, ALL_RIGHT, "abc") for form in FORMS)


@pytest.mark.parametrize(
    "before, problem",
    [
        (BEFORE + '"never closed', "is not a table"),
        ("", "is not a table"),
        (b"\xff\xfe\0", "is not a table"),
        # without a column that names learners, without answers, with one learner (c) in both
        (BEFORE.replace("Email address", "Colour"), "no column that names the same learners"),
        ("email address,Grade\na@example.org,3\n", "No column .* holds answers to the before form"),
        (
            table("before", ALL_RIGHT, "cde"),
            f"1 learners and {len(IDEAS)} ideas are in both tables",
        ),
    ],
)
def test_a_table_without_what_is_needed_is_refused_with_the_reason(read, before, problem):
    with pytest.raises(ValueError, match=problem):
        gains.gains(*read(before, AFTER))


def test_what_is_left_out_is_said(read):
    again = table("before", 0 * ALL_RIGHT, "a").splitlines()[1]  # all wrong at the second attempt
    # with Excel's first line, and a row at the end that has no learner
    exported = f"sep=,\n{BEFORE}{again}\na total,\n"
    before, after = read(exported, table("after", ALL_RIGHT, "bcd"))
    assert list(before.right.index) == [f"{learner}@example.org" for learner in "abc"]
    assert before.right.all(axis=None)
    assert "1 rows without" in before.notices[0]
    assert "1 later attempts" in before.notices[1]
    _, learners, notices = gains.gains(before, after)
    assert learners == 2
    assert "2 learners are in one table only" in notices[-1]


def with_column(table_of_three, name, cells):
    """The text of a table of three learners with this column of three cells put in front."""
    lines = zip([name, *cells], table_of_three.splitlines())
    return "\n".join(f"{cell},{line}" for cell, line in lines)


each_name_of_ids = pytest.mark.parametrize(
    "name", ["ID number", "sis_id", "SIS User ID", "ID-Nummer"]
)


@each_name_of_ids
def test_a_column_that_names_no_learner_of_both_tables_does_not_count(read, name):
    tables = read(
        with_column(BEFORE, name, ["", "2", ""]),
        with_column(AFTER, name, ["-", "-", "-"]),  # how Moodle writes an empty cell
    )
    assert gains.gains(*tables)[1] == 3  # all, by their addresses


@each_name_of_ids
def test_the_column_that_names_most_learners_in_both_tables_counts(read, name):
    before = with_column(BEFORE, name, ["1", "2", "-"])
    after = with_column(AFTER, name, ["-", "1", "2"]).replace("Email address", "Colour")
    # 1 and 2; a hyphen names nobody
    assert gains.gains(*read(before, after))[1] == 2


# ---------------------------------------------------------------- the commands


ANSWER = "A\n3\n"  # the first option, and "sure"


def test_place_asks_in_a_terminal(workspace):
    printed = output_of("place", keys=ANSWER * 20)  # two questions about each of ten cores
    assert all(words in printed for words in ("20 of 20 · Lesson 10", "Begin with lesson"))
    assert "04-mean-pool" in output_of("place", "--by-doing", "--workspace", workspace)
    output_of("place", keys="A\n", status=1)  # stopped


def test_review_asks_in_a_terminal(workspace):
    for name in ("02-pad-batch", "02-find-the-bug"):
        remember(name, workspace)
    due = sheets.due_today(workspace)[0][: asking.A_DAY]
    # to recall: a line to see the answer, then how well it was known
    keys = ["\nA\n" if "-recall-" in item else ANSWER for item in due]
    printed = output_of("review", keys="".join(keys))
    assert all(
        words in printed
        for words in (f"{len(due)} of {len(due)} · Lesson 02", f"of {len(due)} right.")
    )
    assert len(schedule.read_schedule(workspace).answers) == len(due)


def test_the_forms_are_exported(tmp_path):
    for flag, form in (("--before", "moodle"), ("--after", "qti")):
        assert f"{len(IDEAS)} questions in" in output_of(
            "quiz", flag, "--format", form, "--out", tmp_path / form
        )
    assert "i02-mask.before" in (tmp_path / "moodle").read_text()


def test_gains_writes_a_table(tmp_path):
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
    write_at_first(workspace / "nowhere")  # a folder that is not there: nothing is raised
