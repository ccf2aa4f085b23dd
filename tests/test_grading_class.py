"""A class marked as an instructor does it: one command, its tables and pages, and what is and is not marked again."""

import json
import os
import re
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from unittest.mock import MagicMock

import nbformat
import pytest
from click.testing import CliRunner

from course_utils.tools import cli
from course_utils.tools.grading import class_run, fleet, marking
from course_utils.tools.grading.csv_files import read_table
from course_utils.tools.grading.marking import assignment
from course_utils.tools.grading.platforms import PLATFORMS
from course_utils.tools.grading.records import page_name
from course_utils.tools.grading.results import GradeError, Mark, Result

from . import grader
from .grader import course, graded, hand_in, isolation, needs_extras, points_of, write_class
from .marks import result

one_sandbox, solutions = grader.one_sandbox, grader.solutions
FULL, UNIT = points_of("04"), points_of("04-max-pool")
# averages over the padding too
HALF = "def my_mean_pool(token_embeddings, attention_mask):\n    return token_embeddings.mean(1)"
REPORT = "14_report.ipynb"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A class of six, and a roster of seven."""
    isolation()
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


def mark(folder, out, *more, **how):
    """The command that marks the class of a folder."""
    more = ("--roster", folder / "roster.csv", "--seed", 7, "--lessons", "04", *more)
    return course("grade", folder / "class", "--out", out, *more, **how)


@pytest.fixture(scope="module")
def out(folder):
    done = mark(folder, folder / "out", "--workers", 1)
    assert done.returncode == 4 and done.stderr.startswith(
        "1 on the roster have handed nothing in (gus), and hand-ins of 1 belong to nobody on it (=fay/04_pooling.ipynb)"
    )
    assert "7 learners" in done.stdout and "summary.html" in done.stdout
    return folder / "out"


def results(out):
    return {
        entry["learner"]: entry
        for entry in map(json.loads, (out / "results.jsonl").read_text().splitlines())
    }


@pytest.fixture
def known_answers(monkeypatch):
    """`grade` runs nothing: an exercise of lesson 04 is passed if its cell is the lesson's own answer."""

    def mark_here(jobs, settings, workers):
        for job in jobs:
            cells = {cell.source for cell in nbformat.read(job["path"], as_version=4).cells}
            yield (
                job["key"],
                result(*(one for one, answer in solutions("04").items() if answer in cells)),
            )

    monkeypatch.setattr(class_run, "mark_here", mark_here)
    monkeypatch.setattr(class_run, "isolation_problem", lambda: "")


def counted(source, out, **options):
    """How many notebooks `grade` marked, and its records."""
    totals = []
    learners = graded(
        source,
        out,
        lambda results, total: totals.append(total) or results,
        lessons=("04",),
        **options,
    )
    return totals[0], learners


def test_everybody_has_a_row_with_points_and_a_status(out):
    rows = {row["learner"]: row for row in read_table(out / "grades.csv")}
    names = "'=fay ada bob cleo dan eve gus".split()
    assert list(rows) == names, "no spreadsheet takes a name for a formula"
    assert {row["of"] for row in rows.values()} == {str(FULL)}
    assert [rows[one]["total"] for one in rows] == [*map(str, (UNIT, FULL, UNIT, 0, 0, 0, 0))]
    statuses = ["ok", "ok", "ok", "ok", "unreadable", "crashed", "nothing handed in"]
    assert [row["status"] for row in rows.values()] == statuses
    assert (
        rows["ada"]["04-mean-pool"] == str(points_of("04-mean-pool"))
        and rows["ada"]["name"] == "Ada Lovelace"
    )
    assert rows["'=fay"]["notes"] == "not on the roster"
    assert "not JSON" in rows["dan"]["reason"] and "exit status 0" in rows["eve"]["reason"]


def test_results_hold_everything_for_machines(out):
    entries = results(out)
    mark = entries["bob"]["result"]["exercises"]["04-mean-pool"]
    assert (mark["status"], mark["points"], mark["seed"]) == ("failed", 0, 7) and "padding" in mark[
        "mistakes"
    ][0]
    assert "mean(1)" in entries["bob"]["result"]["texts"]["04-mean-pool"]
    assert entries["cleo"]["result"]["exercises"]["04-max-pool"]["status"] == "not attempted"
    names = {
        *"feedback class.csv class.html grades.csv results.jsonl results.jsonl.lock summary.html".split()
    }
    assert {path.name for path in out.iterdir()} == names | {
        f"{platform.name}.csv" for platform in PLATFORMS
    }


def test_pages(out):
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
    (mistake,) = results(out)["bob"]["result"]["exercises"]["04-mean-pool"]["mistakes"]
    page = (out / "feedback" / "bob.html").read_text()
    assert "padding" in page and "(given" not in page and mistake.partition("`")[0][:40] in page


def test_the_class_report_says_what_to_teach_again(out, folder, tmp_path):
    shown = (out / "class.html").read_text()
    assert "1 of 4 were told: You average over all positions, including padding." in shown
    assert "slide 8 of deck 04" in shown and "Ada Lovelace" not in shown
    assert "return token_embeddings.mean(1)" in shown and "ada@example.org" not in shown
    rows = [row for row in read_table(out / "class.csv") if row["kind"] == "mistake"]
    assert [rows[0][column] for column in ("exercise", "name", "who")] == [
        "04-mean-pool",
        "padding_averaged",
        "",
    ]
    again = shutil.copytree(out, tmp_path / "out")
    assert (
        counted(
            folder / "class", again, roster=folder / "roster.csv", names=True, decks="../decks"
        )[0]
        == 0
    )
    assert "<bdi>Bob</bdi>" in (again / "class.html").read_text()
    assert 'href="../decks/04_pooling.slides.html#/7"' in (again / "class.html").read_text()


def test_only_what_is_new_is_marked_again(folder, out, tmp_path, known_answers):
    source = shutil.copytree(folder / "class", tmp_path / "class")
    mine = shutil.copytree(out, tmp_path / "out")
    before = {path.name: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    assert counted(source, mine, roster=folder / "roster.csv")[0] == 0
    after = {path.name: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    assert {name: after[name] for name in before} == before
    hidden, later = (counted(source, mine, secret_pages=secret)[1] for secret in (True, False))
    pages = {one.page for one in hidden.values()}
    assert (
        pages
        == {one.page for one in later.values()}
        == {path.name for path in (mine / "feedback").iterdir()}
    )
    assert not pages & {*before} and {len(page) for page in pages} == {32 + len(".html")}

    write_class(source, cleo=hand_in("04", max_pool="solution"))
    marked, learners = counted(source, mine)
    assert (
        marked == 1
        and learners["cleo"].points == points_of("04-max-pool")
        and "gus" not in learners
    )

    write_class(source, cleo=hand_in("04", all="solution"), ada=hand_in("04"))
    marked, learners = counted(source, mine, only=("cleo",))
    assert marked == 1 and learners["ada"].points == FULL, "of the others, the old result stays"
    assert counted(source, mine, only=("cleo",), regrade=True)[0] == 1
    with pytest.raises(GradeError, match="--only: there is no such learner as cle"):
        graded(source, mine, only=("cle",), lessons=("04",))
    with pytest.raises(GradeError, match="mark the class once without --only"):
        graded(source, tmp_path / "new", only=("cleo",))


def test_a_learners_many_notebooks_cost_the_class_no_more_than_two(monkeypatch):
    def ask(job):
        time.sleep(0.2)
        return {"key": job["key"], "result": asdict(Result("ok"))}

    process = MagicMock(ask=ask)
    process.__enter__.return_value = process
    monkeypatch.setattr(fleet, "MarkingProcess", lambda settings: process)
    jobs = [
        {"key": place, "name": "", "path": "", "learner": who}
        for place, who in enumerate(["eve"] * 8 + ["ada"])
    ]
    found = dict(fleet.mark_here(jobs, {"seconds": 0.15}, workers=1))
    assert [found[place].status for place in range(9)] == ["ok"] * 2 + ["unreadable"] * 6 + ["ok"]
    assert "this learner's later notebooks had taken" in found[2].reason


@pytest.mark.parametrize(
    "drawn, status",
    [(["failed", "passed", "passed"], "passed"), (["failed", "passed", "failed"], "failed")],
)
def test_an_answer_that_passes_by_chance_has_one_try(drawn, status):
    marker = marking.Marker.__new__(marking.Marker)
    marker.attempt = lambda *_: (Mark("", drawn.pop(0), 0, 1), {"more": ["end"]})
    mark = marker.exercise(b"", "04-mean-pool", 0)
    assert (mark.status, marking.DIFFERS in mark.messages) == (
        status,
        status == "failed",
    ) and not drawn


def test_an_interruption_loses_nothing(tmp_path, known_answers):
    def stop_after_two(results, total):
        yield from (next(results), next(results))
        raise KeyboardInterrupt

    source, out = (
        write_class(tmp_path / "class", **dict.fromkeys("abcd", hand_in("04"))),
        tmp_path / "out",
    )
    with pytest.raises(KeyboardInterrupt):
        graded(source, out, stop_after_two, lessons=("04",))
    assert {path.name for path in out.iterdir()} == {"results.jsonl", "results.jsonl.lock"}
    assert counted(source, out)[0] == 2
    assert len(read_table(out / "grades.csv")) == 4


@pytest.mark.nightly
def test_two_workers_give_the_same_results_to_the_byte(folder, out, tmp_path):
    as_instructors_run_it = {
        **os.environ,
        "COURSE_COLD_SANDBOX": "",
        "PYTHONPATH": str(grader.ROOT),
    }
    assert mark(folder, tmp_path / "out", "--workers", 2, env=as_instructors_run_it).returncode == 4
    for name in ("results.jsonl", "grades.csv", "summary.html", "class.html", "class.csv"):
        assert (tmp_path / "out" / name).read_bytes() == (out / name).read_bytes(), name


@pytest.mark.usefixtures("one_sandbox")
def test_hand_marked_cells(tmp_path):
    source, out, most = tmp_path / "class", tmp_path / "out", points_of("14-report")
    report = "**Result.** I wrote <script>alert(1)</script> this."
    write_class(
        source,
        ada=(REPORT, hand_in("14-report", report=report)),
        bob=(REPORT, hand_in("14-report")),
    )
    learners = graded(source, out)
    assert [(one.points, one.of, one.waiting) for one in learners.values()] == [
        (0, most, most),
        (0, most, 0),
    ]
    marked = re.sub(r"(?m)^(ada,,14-report: \w+),,", r"\1,1,", (out / "manual.csv").read_text())
    (out / "manual.csv").write_text(
        marked.replace("Result,1,2,,", 'Result,"0,5",2,"Well said, <b>Ada</b>",')
    )
    ada = graded(source, out)["ada"]
    assert (ada.points, ada.waiting) == (len(assignment()["rubrics"]["14-report"]) - 0.5, 0)
    page = (out / "feedback" / "ada.html").read_text()
    assert "Result: 0.5 of 2. Well said" in page and "<b>Ada" not in page
    assert "<script>alert" not in page and "&lt;script&gt;" in page


@pytest.mark.nightly
def test_into_nbgrader(tmp_path):
    environment = needs_extras()
    isolation()
    report = "Mine <img src=x onerror=alert(1)>"
    source = write_class(tmp_path / "class", ada=(REPORT, hand_in("14-report", report=report)))
    write_class(source, **{"e ve": (REPORT, hand_in("14-report"))})
    command = (
        "grade",
        source,
        "--out",
        tmp_path / "out",
        "--nbgrader",
        tmp_path / "nb",
        "--lessons",
        "14-report",
    )
    done = course(*command, "--workers", 1, env=environment)
    assert done.returncode == 0 and "2 submissions written" in done.stdout, done.stderr
    script = """
import sys; from nbgrader.api import Gradebook
with Gradebook('sqlite:///' + sys.argv[1]) as book:
    one = book.find_submission('lesson-14-report', 'ada')
    print(one.score, one.max_score, one.needs_manual_grade, sorted(student.id for student in book.students))"""
    told = course(
        tmp_path / "nb" / "gradebook.db", program=["-W", "ignore", "-c", script], env=environment
    )
    points = f"0.0 {points_of('14-report'):.1f}"
    assert (
        told.stdout.strip() == f"{points} True {['ada', 'hand-in-' + Path(page_name('e ve')).stem]}"
    ), told.stderr
    written = (tmp_path / "nb" / "autograded" / "ada" / "lesson-14-report" / REPORT).read_text()
    assert "<img" not in written and "Mine &lt;img" in written, "formgrader shows Markdown as HTML"
    database = f"--CourseDirectory.db_url=sqlite:///{tmp_path / 'nb' / 'gradebook.db'}"
    nbgrader = [
        "-m",
        "nbgrader",
        "generate_feedback",
        "lesson-14-report",
        "--force",
        "--course-dir",
    ]
    feedback = course(tmp_path / "nb", database, program=nbgrader, env=environment, cwd=tmp_path)
    assert feedback.returncode == 0 and list((tmp_path / "nb" / "feedback").rglob("*.html")), (
        feedback.stderr
    )
    again = course(*command, env=environment)
    assert again.returncode == 0, again.stderr


@pytest.mark.nightly
def test_without_isolation_it_marks_when_told_to(folder, out, tmp_path):
    (tmp_path / "empty").mkdir()
    path = {**os.environ, "PATH": str(tmp_path / "empty")}
    more = ("--unsafe-no-isolation", "--workers", 1, "--lessons", "04")
    done = course("grade", folder / "class", "--out", tmp_path / "out", *more, env=path)
    assert (
        done.returncode == 0 and "Warning: learners' code runs with your own rights" in done.stderr
    )
    totals = [
        {row["learner"]: row["total"] for row in read_table(one / "grades.csv")}
        for one in (tmp_path / "out", out)
    ]
    assert totals[0].items() <= totals[1].items()
    assert "isolation" in (tmp_path / "out" / "summary.html").read_text()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["nowhere", "--out", "bad"], "There is no nowhere"),
        (["class", "--out", "bad", "--lessons", "4"], "lesson '4' is not in this course"),
        (["class", "--out", "bad", "--roster", "nowhere.csv"], "nowhere.csv cannot be read"),
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
    assert (
        done.exit_code in (1, 2) and words in done.stderr and isinstance(done.exception, SystemExit)
    )
