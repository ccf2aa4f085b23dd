"""The commands for authors, on a copy of a few files: what they write, and that invalid input changes nothing."""

import ast
import functools
import re
import runpy
import shutil
import tomllib
from collections import defaultdict
from pathlib import Path

import nbformat
import pytest

from course_utils._support.notebooks import cores, exercise_parts, kind_of
from course_utils.tools import authoring
from course_utils.tools.publish.slides import render

from .commands import output_of
from .lesson import CASES, QUICK, WHOLE


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of lessons 04 and 05.

    `course(*words, status=0)` runs a command in it, which must end with this status, and returns its output.
    """
    for source in (
        authoring.NOTEBOOKS / "04_pooling.ipynb",
        authoring.NOTEBOOKS / "05_attention.ipynb",
        authoring.EXERCISES / "lesson_04.py",
        authoring.EXERCISES / "lesson_04.toml",
        authoring.ROOT / "README.md",
    ):
        shutil.copy(source, tmp_path)
    answers = tmp_path / "answers"
    answers.mkdir()
    shutil.copy(authoring.ANSWERS / "lesson_04.py", answers)
    # By default, the commands write into the checkout: replace them by ones that write into
    # `tmp_path`.
    for command, places in (
        ("new_exercise", {"exercises": tmp_path, "answers": answers}),
        ("new_lesson", {"readme": tmp_path / "README.md", "claims": tmp_path}),
        ("new_lecture", {}),
    ):
        write = functools.partial(getattr(authoring, command), folder=tmp_path, **places)
        monkeypatch.setattr(authoring, command, write)
    monkeypatch.chdir(tmp_path)
    return output_of


def files():
    """{path: text} of the files of the course, from its folder, which is the current one."""
    return {f"{path}": path.read_text("utf-8") for path in Path().rglob("*.*")}


def rows_of(name):
    """The rows of the README's table whose links match this name, a regular expression."""
    return re.findall(
        rf"^\| \[.*\]\(notebooks/{name}\.ipynb\) \|.*$", files()["README.md"], re.MULTILINE
    )


def test_a_skeleton_of_an_exercise_is_ready_to_be_filled_in(course):
    before, old_tables = files(), runpy.run_path("answers/lesson_04.py")
    text = course("new-exercise", "04", "new-small-task")
    assert all(words in text for words in ("make lesson L=04", "at least one answer under WRONG"))
    after, new_tables = files(), runpy.run_path("answers/lesson_04.py")
    assert {name for name in after if after[name] != before[name]} == {
        "04_pooling.ipynb",
        "lesson_04.py",
        "lesson_04.toml",
        "answers/lesson_04.py",
    }

    notebook = nbformat.reads(after["04_pooling.ipynb"], as_version=4)
    nbformat.validate(notebook)
    ids = " ".join(cell.id for cell in notebook.cells)
    assert "ex-new-small-task 04-new-small-task 04-new-small-task-check recap" in ids

    assert ast.parse(after["lesson_04.py"]).body[-1].targets[0].id == "NEW_SMALL_TASK"
    words_of = tomllib.loads(after["lesson_04.toml"])
    assert words_of["04-new-small-task"]["title"] == "New small task"

    for table in ("RIGHT", "WRONG", "PROMISES"):
        assert list(new_tables[table]) == [*old_tables[table], "04-new-small-task"]


def test_a_new_exercise_is_counted_when_its_lesson_is_renewed(course):
    course("new-exercise", "04", "new-task")
    before = files()["04_pooling.ipynb"]
    assert [path.name for path in authoring.renew("04", ".", Path("README.md"))] == [
        "04_pooling.ipynb",
        "README.md",
    ]
    count_before, count_after = (
        re.search(r"with \w+ exercises\.", text)[0]
        for text in (before, files()["04_pooling.ipynb"])
    )
    assert count_before != count_after
    in_core = list(exercise_parts().values()).count("04")
    assert rows_of("04_pooling")[0].endswith(f"| {in_core + 1} |")
    assert authoring.renew("04", ".", Path("README.md")) == [], "there is no more to renew"


def test_the_routes_in_a_text_are_brought_into_line():
    paths = {number: Path(f"{number}_x.ipynb") for number in ("00", "04", "05")}
    text = (
        "- *one day* (1 hour): the cores [01](x.ipynb), [04](y.ipynb) and [05](z), then\n"
        "- *everything* (2 hours): all"
    )
    assert authoring.with_routes(text, {"one day": 7, "everything": 1}, paths, "a/") == (
        "- *one day* (7 hours): the cores [04](a/04_x.ipynb) and [05](a/05_x.ipynb), then\n- *everything* (1 hour): all"
    )


def test_a_skeleton_of_a_further_part_is_named_after_its_core(course):
    shutil.copy(authoring.NOTEBOOKS / "README.md", ".")
    text = course("new-lesson", "04", "Sums", "--kind", "further")
    for words in ("row in the table of notebooks/README.md", "claims/04-sums.toml", "L=04-sums."):
        assert words in text
    assert "further/04_sums.ipynb) | TODO | 5 | 0 |" in files()["README.md"]


def test_a_skeleton_replaces_no_further_part(course):
    Path("further").mkdir()
    Path("further", "04_sums.ipynb").write_text("mine")
    before = files()
    assert "exists already" in course("new-lesson", "04", "Sums", "--kind", "further", status=1)
    assert files() == before


@pytest.mark.parametrize("kind", ["full", "page"])
def test_a_skeleton_of_a_lesson_is_valid_and_gets_a_row_in_the_readme(course, kind):
    text = course("new-lesson", "98", "Where to go: a map", "--kind", kind)
    assert text.endswith("Then: make lesson L=98.\n")
    required, optional = text.split("If the lesson has them:")
    assert "tests/claims/98.toml" in required
    assert "tests/test_lesson_98.py" in optional
    for words in (
        "course_utils/diagrams/lesson_98.py",
        "course new-exercise 98 NAME",
        "three questions",
    ):
        assert (words in required) == (kind == "full"), words
    assert tomllib.loads(files()["98.toml"]) == {}
    notebook = nbformat.reads(files()["98_where_to_go.ipynb"], as_version=4)
    nbformat.validate(notebook)
    assert kind_of(notebook) == kind
    assert rows_of(r"\d\w+")[-1] == (
        "| [98 Where to go: a map](notebooks/98_where_to_go.ipynb) | TODO | 5 | 0 |"
    )


def test_a_page_gets_no_exercise(course):
    course("new-lesson", "98", "A map", "--kind", "page")
    assert "is a page, which has no exercises" in course("new-exercise", "98", "first", status=1)


def test_the_first_exercise_of_a_new_lesson_makes_its_files(course):
    course("new-lesson", "98", "A map", "--kind", "full")
    course("new-exercise", "98", "first")
    assert "\n\n\ndef _first_cases(rng):" in files()["lesson_98.py"]
    assert files()["lesson_98.toml"].startswith("# The words of lesson 98")
    assert "98-first" in files()["answers/lesson_98.py"]


@pytest.mark.parametrize(
    "words, status, sentence",  # 2: the command cannot be called so; 1: it refuses what it is given
    [
        (
            ["new-exercise", "04", "Weighted-Pool"],
            1,
            "lower-case words joined by hyphens, such as weighted-pool; got",
        ),
        (["new-exercise", "04", "weighted_pool"], 1, "lower-case words joined by hyphens"),
        (["new-exercise", "04", "mean-pool"], 1, "04_pooling.ipynb already has 04-mean-pool"),
        (["new-exercise", "13", "first"], 1, "There is no lesson 13; the lessons are 04, 05."),
        (["new-exercise", "../04", "first"], 1, "There is no lesson ../04"),
        (["new-exercise", "04"], 2, "Missing argument 'NAME'"),
        (
            ["new-lesson", "04", "A"],
            1,
            "two digits that no other lesson has (a further part: --kind further); got '04'",
        ),
        (["new-lesson", "4", "A"], 1, "--kind further); got '4'"),
        (["new-lesson", "13"], 2, "Missing argument 'TITLE'"),
        (["new-lesson", "13", " "], 1, "A lesson needs a one-line title"),
        (["new-lesson", "13", "?"], 1, "A lesson needs a one-line title"),
        (["new-lesson", "13", "one\ntwo"], 1, "A lesson needs a one-line title"),
        (
            ["new-lesson", "13", "One", "--kind", "leaf"],
            2,
            "'leaf' is not one of 'full', 'further', 'page'",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(course, words, status, sentence):
    before = files()
    assert sentence in course(*words, status=status).splitlines()[-1]
    assert files() == before


def test_a_skeleton_of_a_lecture_is_a_deck_at_once_and_is_not_replaced(course):
    assert "course slides 04" in course("new-lecture", "04")
    (path,) = Path.cwd().rglob("lectures/04_pooling.md")
    assert "TODO" in path.read_text("utf-8")
    assert "One call" in render(path)  # from the lesson's own text
    before = files()
    assert "exists already" in course("new-lecture", "04", status=1)
    assert files() == before


def test_make_lesson_runs_each_file_with_a_case_for_every_lesson(request):
    """A test file with a case for every lesson must be one of those that `make lesson` runs.

    Looks at the tests that pytest has collected: in `make test`, all of them.
    """
    kinds = {number: kind_of(nbformat.read(path, 4)) for number, path in cores().items()}
    lessons = {number for number, kind in kinds.items() if kind != "page"}
    lessons_of = defaultdict(set)  # {a test, "tests/test_x.py::test_y": lessons it has cases for}
    for item in request.session.items:
        # the names of such cases begin with the lesson's number
        if match := re.search(r"\[(\d\d)[_\]-]", item.nodeid):
            lessons_of[item.nodeid.partition("[")[0]].add(match[1])
    files_that_run = {f"tests/test_{name}.py" for name in (*QUICK, *CASES, *WHOLE)}
    assert all((authoring.ROOT / file).is_file() for file in files_that_run)
    for test, numbers in lessons_of.items():
        if numbers >= lessons:
            assert test.partition("::")[0] in files_that_run, f"add {test} to tests/lesson.py"
