"""A class marked as an instructor does it: one command, its tables and pages, and what is and is
not marked again.
"""

import json
import os
import re
import shutil
import time
from dataclasses import asdict
from types import SimpleNamespace
from unittest.mock import MagicMock, Mock

import nbformat
import pytest
from click.testing import CliRunner

from course_utils.tools import cli
from course_utils.tools.grading import class_run, fleet, marking
from course_utils.tools.grading.csv_files import read_table
from course_utils.tools.grading.platforms import PLATFORMS
from course_utils.tools.grading.records import page_name
from course_utils.tools.grading.results import GradeError, Mark, Result

from . import grader
from .grader import (
    course,
    graded,
    hand_in,
    nbgrader_environment,
    points_of,
    skip_unless_isolated,
    write_class,
)
from .marks import result

one_sandbox = grader.one_sandbox
# the points of lesson 04, and of one of its exercises
FULL, MAX_POOL = points_of("04"), points_of("04-max-pool")
# an answer that averages over the padding too
HALF = "def my_mean_pool(token_embeddings, attention_mask):\n    return token_embeddings.mean(1)"
REPORT = "14_report.ipynb"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with `class`, hand-ins of six, and roster.csv, which has one who handed nothing in
    and lacks =fay.
    """
    skip_unless_isolated()
    folder = tmp_path_factory.mktemp("class")
    prints = "# mine\ndef my_mean_pool(a, b):\n    print('x' * 10**6)\n    return a"
    exits = "import os\ndef my_mean_pool(a, b):\n    os._exit(0)"
    write_class(
        folder / "class",
        ada=hand_in("04", all="solution"),
        bob=hand_in("04", mean_pool=HALF, max_pool="solution"),
        cleo=hand_in("04"),
        dan="no notebook at all",
        eve=hand_in("04", mean_pool=exits),
        **{"=fay": hand_in("04", mean_pool=prints, max_pool="solution")},
    )
    (folder / "roster.csv").write_text(
        "id,name,email\nada,Ada Lovelace,ada@example.org\nbob,Bob,\ncleo,,\ndan,,\neve,,\ngus,Gus,\n"
    )
    return folder


def course_grade(folder, out, *options, env=None):
    """`course grade` on the class of a folder.

    Its exit status is 4, as it is doubtful to whom some of the hand-ins belong.
    """
    return course(
        "grade",
        folder / "class",
        *("--roster", folder / "roster.csv", "--seed", 7, "--lessons", "04", "--out", out),
        *options,
        env=env,
    )


@pytest.fixture(scope="module")
def marked_class(folder):
    # the finished process of the command that marked the class
    return course_grade(folder, folder / "out", "--workers", 1)


@pytest.fixture(scope="module")
def out(folder, marked_class):
    """The folder of the results of the class, as one command writes them."""
    return folder / "out"


@pytest.fixture
def copied(folder, out, tmp_path):
    """A copy of the folder of the class, with its results in `out`."""
    return shutil.copytree(folder, tmp_path / "copied")


def results(out):
    # {learner: the stored result}
    entries = map(json.loads, (out / "results.jsonl").read_text().splitlines())
    return {entry["learner"]: entry["result"] for entry in entries}


@pytest.fixture
def known_answers(monkeypatch):
    """`grade` runs nothing: an exercise of lesson 04 is passed if its cell is the lesson's own
    answer, and else failed.
    """

    def mark_here(jobs, settings, workers):
        for job in jobs:
            cells = [cell.source for cell in nbformat.read(job["path"], as_version=4).cells]
            passed = [name for name, answer in grader.solutions("04").items() if answer in cells]
            yield job["key"], result(*passed)

    monkeypatch.setattr(class_run, "mark_here", mark_here)
    monkeypatch.setattr(class_run, "isolation_problem", lambda: "")


def graded_again(folder, **options):
    """`grade` on a class with or without earlier results in `out` of its folder.

    The result has `marked`, the number of notebooks that were marked, and `records` by learner.
    """
    progress = Mock(side_effect=lambda results, number_of_notebooks: results)
    records = graded(folder / "class", folder / "out", progress, lessons=("04",), **options)
    _, marked = progress.call_args.args
    return SimpleNamespace(marked=marked, records=records)


def test_the_command_doubts_whose_hand_ins_are_and_says_where_the_results_are(marked_class):
    assert marked_class.stderr.startswith(
        "1 on the roster have handed nothing in (gus), and hand-ins of 1 belong to nobody on it "
        "(=fay/04_pooling.ipynb)"
    )
    assert marked_class.returncode == 4
    assert all(words in marked_class.stdout for words in ("7 learners", "summary.html"))


def test_everybody_has_a_row_with_points_and_a_status(out):
    rows = read_table(out / "grades.csv")
    assert [(row["learner"], int(row["total"]), row["status"]) for row in rows] == [
        ("'=fay", MAX_POOL, "ok"),  # so that no spreadsheet takes the name for a formula
        ("ada", FULL, "ok"),
        ("bob", MAX_POOL, "ok"),
        ("cleo", 0, "ok"),
        ("dan", 0, "unreadable"),
        ("eve", 0, "crashed"),
        ("gus", 0, "nothing handed in"),
    ]
    assert {row["of"] for row in rows} == {str(FULL)}
    row_of = {row["learner"]: row for row in rows}
    assert row_of["ada"]["04-mean-pool"] == str(points_of("04-mean-pool"))
    assert row_of["ada"]["name"] == "Ada Lovelace"
    assert row_of["'=fay"]["notes"] == "not on the roster"
    assert "not JSON" in row_of["dan"]["reason"]
    assert "exit status 0" in row_of["eve"]["reason"]


def test_results_hold_everything_for_machines(out):
    bob, cleo = results(out)["bob"], results(out)["cleo"]
    mark = bob["exercises"]["04-mean-pool"]
    assert (mark["status"], mark["points"], mark["seed"]) == ("failed", 0, 7)
    assert "padding" in mark["mistakes"][0]
    assert "mean(1)" in bob["texts"]["04-mean-pool"]
    assert cleo["exercises"]["04-max-pool"]["status"] == "not attempted"


def test_beside_the_results_stand_pages_and_a_table_for_each_platform(out):
    tables_of_platforms = {f"{platform.name}.csv" for platform in PLATFORMS}
    assert {path.name for path in out.iterdir()} == tables_of_platforms | {
        "feedback",
        "class.csv",
        "class.html",
        "grades.csv",
        "results.jsonl",
        "results.jsonl.lock",
        "summary.html",
    }


def test_each_learner_has_a_page_which_tells_the_mistake(out):
    pages = [
        "ada.html",
        "bob.html",
        "cleo.html",
        "dan.html",
        "eve.html",
        page_name("=fay"),
        "gus.html",
    ]
    assert sorted(path.name for path in (out / "feedback").iterdir()) == pages
    assert {row["page"] for row in read_table(out / "grades.csv")} == {
        f"feedback/{page}" for page in pages
    }
    (mistake,) = results(out)["bob"]["exercises"]["04-mean-pool"]["mistakes"]
    page = (out / "feedback" / "bob.html").read_text()
    # up to its first code, which the page formats; 40 characters are enough to know it by
    assert all(words in page for words in (mistake.partition("`")[0][:40], "padding"))
    assert "(given" not in page, "what the answer was given stays secret"


def test_the_class_report_can_have_names_and_links_without_marking_again(copied):
    report = copied / "out" / "class.html"
    assert "<bdi>Bob</bdi>" not in report.read_text()
    again = graded_again(copied, roster=copied / "roster.csv", names=True, decks="../decks")
    assert again.marked == 0
    assert "<bdi>Bob</bdi>" in report.read_text()
    assert 'href="../decks/04_pooling.slides.html#/7"' in report.read_text()


def test_where_nothing_changed_nothing_is_marked_again_and_all_files_stay(copied, known_answers):
    before = {path: path.read_bytes() for path in (copied / "out").rglob("*") if path.is_file()}
    assert graded_again(copied, roster=copied / "roster.csv").marked == 0
    assert {path: path.read_bytes() for path in before} == before


def test_secret_names_of_pages_replace_the_plain_ones_and_stay_in_later_runs(copied, known_answers):
    hidden = graded_again(copied, secret_pages=True).records
    later = graded_again(copied, secret_pages=False).records
    pages = {path.name for path in (copied / "out" / "feedback").iterdir()}
    assert {record.page for record in hidden.values()} == pages
    assert {record.page for record in later.values()} == pages
    assert all(re.fullmatch(r"[0-9a-f]{32}\.html", page) for page in pages)


def test_only_what_is_new_is_marked_again(copied, known_answers):
    write_class(copied / "class", cleo=hand_in("04", max_pool="solution"))
    again = graded_again(copied)
    assert again.marked == 1
    assert again.records["cleo"].points == MAX_POOL
    assert "gus" not in again.records, "without the roster, who handed nothing in is unknown"


def test_with_only_the_old_results_of_others_stay(copied, known_answers):
    write_class(copied / "class", cleo=hand_in("04", all="solution"), ada=hand_in("04"))
    again = graded_again(copied, only=("cleo",))
    assert again.marked == 1
    assert again.records["ada"].points == FULL
    assert graded_again(copied, only=("cleo",), regrade=True).marked == 1


def test_only_needs_a_learner_who_is_there_and_results_of_the_others(copied, known_answers):
    with pytest.raises(GradeError, match=r"--only: there is no such learner as cle\."):
        graded_again(copied, only=("cle",))
    with pytest.raises(GradeError, match="mark the class once without --only"):
        graded(copied / "class", copied / "new", only=("cleo",))


def test_a_learners_many_notebooks_cost_the_class_no_more_than_two(monkeypatch):
    def ask(job):
        # the third of a learner's is not run: two took more than twice the "seconds" of a notebook
        time.sleep(0.2)
        return {"key": job["key"], "result": asdict(Result("ok"))}

    process = MagicMock(ask=ask)
    process.__enter__.return_value = process
    monkeypatch.setattr(fleet, "MarkingProcess", lambda settings: process)
    jobs = [
        {"key": number, "name": "", "path": "", "learner": learner}
        for number, learner in enumerate(["eve"] * 8 + ["ada"])
    ]
    marked = dict(fleet.mark_here(jobs, {"seconds": 0.15}, workers=1))
    assert [mark.status for mark in marked.values()] == ["ok"] * 2 + ["unreadable"] * 6 + ["ok"]
    assert "this learner's later notebooks had taken" in marked[2].reason


@pytest.mark.parametrize(
    "drawn, status",
    [(["failed", "passed", "passed"], "passed"), (["failed", "passed", "failed"], "failed")],
)
def test_a_pass_after_a_failure_counts_only_if_it_is_repeated(drawn, status):
    marker = marking.Marker.__new__(marking.Marker)  # without a sandbox, which only __init__ needs
    # `drawn` has the results of three attempts: with the statements that the answer needs, then
    # twice with all cells, from the top to the end. "more" names the runs that are tried after a
    # failure, here that one.
    marker.attempt = lambda *_: (Mark("", drawn.pop(0), 0, 1), {"more": ["end"]})
    mark = marker.mark_exercise(b"", "04-mean-pool", 0)
    assert drawn == [], "all results were asked for"
    assert mark.status == status
    assert (marking.DIFFERS in mark.messages) == (status == "failed")


def test_an_interruption_loses_nothing(tmp_path, known_answers):
    def stop_after_two(results, number_of_notebooks):
        yield from (next(results), next(results))
        raise KeyboardInterrupt

    write_class(tmp_path / "class", **dict.fromkeys("abcd", hand_in("04")))
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        graded(tmp_path / "class", out, stop_after_two, lessons=("04",))
    assert {path.name for path in out.iterdir()} == {"results.jsonl", "results.jsonl.lock"}
    assert graded_again(tmp_path).marked == 2
    assert len(read_table(out / "grades.csv")) == 4


@pytest.mark.nightly
def test_two_workers_give_the_same_results_to_the_byte(folder, out, tmp_path):
    environment = {  # as instructors run it
        **os.environ,
        "COURSE_COLD_SANDBOX": "",
        "PYTHONPATH": str(grader.ROOT),
    }
    assert course_grade(folder, tmp_path / "out", "--workers", 2, env=environment).returncode == 4
    for name in ("results.jsonl", "grades.csv", "summary.html", "class.html", "class.csv"):
        assert (tmp_path / "out" / name).read_bytes() == (out / name).read_bytes(), name


@pytest.mark.usefixtures("one_sandbox")
def test_what_a_person_marks_waits_and_then_counts(tmp_path):
    source, out, most = tmp_path / "class", tmp_path / "out", points_of("14-report")
    report = hand_in("14-report", report="**Result.** I wrote <script>alert(1)</script> this.")
    write_class(source, ada=(REPORT, report), bob=(REPORT, hand_in("14-report")))
    learners = graded(source, out)
    assert [(record.points, record.of, record.waiting) for record in learners.values()] == [
        (0, most, most),
        (0, most, 0),
    ]
    # a point in each line of Ada's, then half a point in that of the result
    marked = re.sub(r"(?m)^(ada,,14-report: \w+),,", r"\1,1,", (out / "manual.csv").read_text())
    (out / "manual.csv").write_text(
        marked.replace("Result,1,2,,", 'Result,"0,5",2,"Well said, <b>Ada</b>",')
    )
    ada = graded(source, out)["ada"]
    lines = marking.assignment()["rubrics"]["14-report"]
    assert (ada.points, ada.waiting) == (len(lines) - 0.5, 0)
    page = (out / "feedback" / "ada.html").read_text()
    assert all(words in page for words in ("Result: 0.5 of 2. Well said", "&lt;script&gt;"))
    assert not re.search("<b>Ada|<script>alert", page)


PRINTS_ADAS_SCORE_AND_ALL_STUDENTS = """
import sys
from nbgrader.api import Gradebook
with Gradebook('sqlite:///' + sys.argv[1]) as book:
    submission = book.find_submission('lesson-14-report', 'ada')
    scores = (submission.score, submission.max_score, submission.needs_manual_grade)
    print(*scores, sorted(student.id for student in book.students))
"""


@pytest.mark.nightly
def test_into_nbgrader(tmp_path):
    environment = nbgrader_environment()
    skip_unless_isolated()
    report = hand_in("14-report", report="Mine <img src=x onerror=alert(1)>")
    source = write_class(
        tmp_path / "class", **{"ada": (REPORT, report), "e ve": (REPORT, hand_in("14-report"))}
    )
    command = [*"grade --lessons 04,14-report --out out --nbgrader nb".split(), source]
    done = course(*command, "--workers", 1, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 submissions written" in done.stdout, done.stderr

    # the gradebook
    book = course(
        tmp_path / "nb" / "gradebook.db",
        program=["-W", "ignore", "-c", PRINTS_ADAS_SCORE_AND_ALL_STUDENTS],
        env=environment,
    )
    students = ["ada", f"hand-in-{page_name('e ve').removesuffix('.html')}"]
    assert book.stdout == f"0.0 {points_of('14-report'):.1f} True {students}\n", book.stderr

    # what formgrader shows
    written = (tmp_path / "nb" / "autograded" / "ada" / "lesson-14-report" / REPORT).read_text()
    assert re.findall("(?:<|&lt;)img", written) == ["&lt;img"], "formgrader shows Markdown as HTML"

    # nbgrader's own feedback
    feedback = course(
        tmp_path / "nb",
        f"--CourseDirectory.db_url=sqlite:///{tmp_path / 'nb' / 'gradebook.db'}",
        program="-m nbgrader generate_feedback lesson-14-report --force --course-dir".split(),
        env=environment,
        cwd=tmp_path,
    )
    assert feedback.returncode == 0, feedback.stderr
    assert any((tmp_path / "nb" / "feedback").rglob("*.html")), feedback.stderr

    # once more, over what is there
    again = course(*command, env=environment, cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def totals(out):
    return {(row["learner"], row["total"]) for row in read_table(out / "grades.csv")}


@pytest.mark.nightly
def test_without_isolation_it_marks_when_told_to(folder, out, tmp_path):
    no_programs = {**os.environ, "PATH": str(tmp_path)}
    options = "--unsafe-no-isolation --workers 1 --lessons 04 --out out".split()
    done = course("grade", folder / "class", *options, env=no_programs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Warning: learners' code runs with your own rights" in done.stderr
    # without the roster, who handed nothing in has no row
    assert totals(tmp_path / "out") == totals(out) - {("gus", "0")}
    assert "isolation" in (tmp_path / "out" / "summary.html").read_text()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["nowhere", "--out", "bad"], "There is no nowhere"),
        (["class", "--out", "bad", "--lessons", "4"], "lesson '4' is not in this course"),
        (["class", "--out", "bad", "--roster", "nowhere.csv"], "nowhere.csv cannot be read"),
        (
            ["class", "--out", "bad", "--roster", "/dev/zero"],
            "/dev/zero cannot be read: It is a pipe or a device, not a file.",
        ),
        (["class"], "Missing option '--out'"),
        (
            ["class", "--out", "bad", "--book", "javascript:x"],
            "--book and --decks must be an address",
        ),
    ],
)
def test_bad_command_lines_end_in_one_sentence(folder, monkeypatch, arguments, words):
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli.main, ["grade", *arguments])
    assert type(done.exception) is SystemExit, done.stderr
    assert done.exit_code in (1, 2)  # 2: click's own messages
    assert words in done.stderr
    assert not (folder / "bad" / "results.jsonl").exists(), "nothing was marked"
