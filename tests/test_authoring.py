"""The commands for authors, on a copy of a few files: what they write, and that invalid input changes nothing."""

import ast
import functools
import re
import shutil
import tomllib
from collections import defaultdict
from pathlib import Path

import nbformat
import pytest

from course_utils._support.notebooks import exercise_parts, parts
from course_utils.tools import authoring
from course_utils.tools.publish.slides import render

from .commands import run
from .lesson import CASES, WHOLE


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of lessons 04 and 05.

    `course(*words)` runs a command in it and returns its output and exit status.
    """
    lessons = [authoring.NOTEBOOKS / "04_pooling.ipynb", authoring.NOTEBOOKS / "05_attention.ipynb"]
    for source in (
        *lessons,
        authoring.EXERCISES / "lesson_04.py",
        authoring.EXERCISES / "lesson_04.toml",
        authoring.ROOT / "README.md",
    ):
        shutil.copy(source, tmp_path)
    answers = tmp_path / "answers"
    answers.mkdir()
    shutil.copy(authoring.ANSWERS / "lesson_04.py", answers)
    for command, places in (
        ("new_exercise", {"exercises": tmp_path, "answers": answers}),
        ("new_lesson", {"readme": tmp_path / "README.md", "claims": tmp_path}),
        ("new_lecture", {}),
    ):
        write = functools.partial(getattr(authoring, command), folder=tmp_path, **places)
        monkeypatch.setattr(authoring, command, write)
    monkeypatch.chdir(tmp_path)

    return run


def files():
    """{name: text} of the course."""
    return {f"{path}": path.read_text("utf-8") for path in Path().rglob("*.*")}


def row(name):
    return re.findall(
        rf"^\| \[.*\]\(notebooks/{name}\.ipynb\) \|.*$", files()["README.md"], re.MULTILINE
    )


def test_a_skeleton_of_an_exercise_is_ready_to_be_filled_in(course):
    path, new, before = "04_pooling.ipynb", "skeleton-of-tests", files()
    said, status = course("new-exercise", "04", new)
    assert status == 0 and "make lesson L=04" in said and "PROMISES are required" in said
    after = files()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {path, "lesson_04.py", "lesson_04.toml", "answers/lesson_04.py"}
    notebook = nbformat.reads(after[path], as_version=4)
    nbformat.validate(notebook)
    ids = [cell.id for cell in notebook.cells]
    place = ids.index(f"04-{new}")
    assert ids[place - 1 : place + 3] == [f"ex-{new}", f"04-{new}", f"04-{new}-check", "recap"]
    assert ast.parse(after["lesson_04.py"]).body[-1].targets[0].id == "SKELETON_OF_TESTS"
    assert tomllib.loads(after["lesson_04.toml"])[f"04-{new}"]["title"] == "Skeleton of tests"
    old, tables = {}, {}
    exec(compile(before["answers/lesson_04.py"], "answers", "exec"), old)
    exec(compile(after["answers/lesson_04.py"], "answers", "exec"), tables)
    for table in ("RIGHT", "WRONG", "PROMISES"):
        assert list(tables[table]) == [*old[table], f"04-{new}"]

    changed = authoring.renew("04", ".", authoring.Path("README.md"))
    assert [path.name for path in changed] == ["04_pooling.ipynb", "README.md"]
    with_words = [
        re.search(r"with \w+ exercises\.", text)[0] for text in (before[path], files()[path])
    ]
    assert with_words[0] != with_words[1]
    core = list(exercise_parts().values()).count("04")
    assert row("04_pooling")[0].endswith(f"| {core + 1} |")
    assert authoring.renew("04", ".", authoring.Path("README.md")) == []


def test_the_routes_in_a_text_are_brought_into_line():
    paths = {number: authoring.Path(f"{number}_x.ipynb") for number in ("00", "04", "05")}
    text = (
        "- *one day* (1 hour): the cores [01](x.ipynb), [04](y.ipynb) and [05](z), then\n"
        "- *everything* (2 hours): all"
    )
    assert authoring.with_routes(text, {"one day": 7, "everything": 1}, paths, "a/") == (
        "- *one day* (7 hours): the cores [04](a/04_x.ipynb) and [05](a/05_x.ipynb), then\n- *everything* (1 hour): all"
    )


@pytest.mark.parametrize("kind", ["full", "page"])
def test_a_skeleton_of_a_lesson_and_its_row(course, kind):
    said, status = course("new-lesson", "98", "Where to go: a map", "--kind", kind)
    assert status == 0 and said.endswith("Then: make lesson L=98.\n")
    required, optional = said.split("If the lesson has them:")
    assert "tests/claims/98.toml" in required and "tests/test_lesson_98.py" in optional
    for needed in (
        "course_utils/diagrams/lesson_98.py",
        "course new-exercise 98 NAME",
        "three questions",
    ):
        assert (needed in required) == (kind != "page"), needed
    assert tomllib.loads(files()["98.toml"]) == {}
    notebook = nbformat.reads(files()["98_where_to_go_a_map.ipynb"], as_version=4)
    nbformat.validate(notebook)
    assert authoring.kind_of(notebook) == kind
    link = "[98 Where to go: a map](notebooks/98_where_to_go_a_map.ipynb)"
    assert row(r"\d\w+")[-1] == f"| {link} | TODO | 5 | 0 |"
    said, status = course("new-exercise", "98", "first")
    assert (status, "is a page, which has no exercises" in said) == (
        (1, True) if kind == "page" else (0, False)
    )
    if kind != "page":
        written = files()
        assert "\n\n\ndef _first_cases(rng):" in written["lesson_98.py"]
        assert written["lesson_98.toml"].startswith("# The words of lesson 98")
        assert "98-first" in written["answers/lesson_98.py"]


@pytest.mark.parametrize(
    "words, sentence",
    [
        (
            ["new-exercise", "04", "Weighted-Pool"],
            "lower-case words joined by hyphens, such as weighted-pool; got",
        ),
        (["new-exercise", "04", "weighted_pool"], "lower-case words joined by hyphens"),
        (["new-exercise", "04", "mean-pool"], "04_pooling.ipynb already has 04-mean-pool"),
        (["new-exercise", "13", "first"], "There is no lesson 13; the lessons are 04, 05."),
        (["new-exercise", "../04", "first"], "There is no lesson ../04"),
        (["new-exercise", "04"], "Missing argument 'NAME'"),
        *(
            (["new-lesson", x, "A"], f"two digits that no other lesson has; got {x!r}")
            for x in ("04", "4")
        ),
        (["new-lesson", "13"], "Missing argument 'TITLE'"),
        *(
            (["new-lesson", "13", title], "A lesson needs a one-line title")
            for title in (" ", "?", "one\ntwo")
        ),
        (
            ["new-lesson", "13", "One", "--kind", "leaf"],
            "'leaf' is not one of 'full', 'further', 'page'",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(course, words, sentence):
    before = files()
    said, status = course(*words)
    assert status in (1, 2) and sentence in said.splitlines()[-1] and "Traceback" not in said
    assert files() == before


def test_a_skeleton_of_a_lecture_is_a_deck_at_once(course):
    said, status = course("new-lecture", "04")
    assert status == 0 and "course slides 04" in said
    path = next(Path.cwd().rglob("lectures/04_pooling.md"))
    assert "TODO" in path.read_text(encoding="utf-8") and "One call" in render(path)
    before = files()
    said, status = course("new-lecture", "04")
    assert status == 1 and "exists already" in said and files() == before


def test_make_lesson_runs_each_file_with_a_case_for_every_lesson(request):
    """Looks at the tests that pytest has collected: in `make test`, all of them."""
    kinds = {path.name[:2]: authoring.kind_of(nbformat.read(path, 4)) for path in parts().values()}
    lessons = {number for number, kind in kinds.items() if kind != "page"}
    seen = defaultdict(set)
    for item in request.session.items:
        if found := re.search(r"\[(\d\d)[_\]-]", item.nodeid):
            seen[item.nodeid.partition("[")[0]].add(found[1])
    assert all((authoring.ROOT / f"tests/test_{name}.py").is_file() for name in (*CASES, *WHOLE))
    for test, numbers in seen.items():
        name = test.partition("::")[0].removeprefix("tests/test_").removesuffix(".py")
        assert name in (*CASES, *WHOLE) or not numbers >= lessons, (
            f"{test} is missing in tests/lesson.py"
        )
