"""Lessons released to a class: their content, and that nbgrader accepts them."""

import json
import re
import shutil

import nbformat
import pytest

from course_utils._support.notebooks import BEGIN, part_of, parts
from course_utils.tools.grading.marking import assignment
from course_utils.tools.grading.release import write_release
from course_utils.tools.workspace.copies import CopyError

from .commands import output_of
from .grader import course, nbgrader_environment, points_of

POINTS_OF_BOTH = points_of("04", "05")
ALL_KEYS = ", ".join(parts())
LESSONS = tuple(assignment()["titles"])  # those with exercises to mark
COPIES = ["04_pooling.ipynb", "05_attention.ipynb"]


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """(the folder of a release of lessons 04 and 05, its manifest), which all tests share."""
    folder = tmp_path_factory.mktemp("released")
    return folder, write_release(["05", "04"], folder, "Friday, 18:00")


def test_the_manifest_says_what_was_released(released):
    folder, manifest = released
    assert manifest["lessons"] == ["04", "05"]
    assert json.loads((folder / "manifest.json").read_text()) == manifest
    assert sorted(manifest["sha256"]) == [*COPIES, "glossary.ipynb"]
    assert {path.name for path in folder.iterdir()} == {*manifest["sha256"], "manifest.json"}
    assert manifest["of"] == sum(manifest["points"].values()) == POINTS_OF_BOTH


@pytest.mark.parametrize("name", COPIES)
def test_copies_bear_points_and_a_due_note_and_no_solutions(name, released):
    notebook = nbformat.read(released[0] / name, as_version=4)
    nbformat.validate(notebook)
    assert BEGIN not in str(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    most_points = points_of(part_of(name))
    due_note = notebook.cells[1].source
    assert "Due: Friday, 18:00." in due_note
    assert f"{most_points} points" in due_note
    # "**2 points.**" ends the text of an exercise
    ends = [re.search(r"\*\*(\d+) points?\.\*\*$", cell.source) for cell in notebook.cells]
    points = [int(end[1]) for end in ends if end]
    assert len(points) == len(assignment((part_of(name),))["exercises"])
    assert sum(points) == most_points


@pytest.mark.parametrize("solutions", [True, False])
def test_copies_may_show_no_solutions(tmp_path, solutions):
    write_release(LESSONS, tmp_path, solutions=solutions)
    # the name of a lesson begins with its number, below 20; the glossary has none
    for path in tmp_path.rglob("[01]*.ipynb"):
        code = [
            cell.source
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code"
        ]
        assert ("setup(solutions=False)" in code[0]) != solutions, path


def test_the_same_input_gives_the_same_bytes(tmp_path):
    for name in ("one", "other"):
        write_release(LESSONS, tmp_path / name)
    # "*.*": files, since folders have no ending
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*")]
    assert len(files) == len(LESSONS) + 2  # the glossary, and the manifest
    assert [
        name
        for name in files
        if (tmp_path / "one" / name).read_bytes() != (tmp_path / "other" / name).read_bytes()
    ] == []


def test_a_page_without_exercises_is_not_released_for_marking(tmp_path):
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# 99 Page")])
    nbformat.write(page, tmp_path / "99_page.ipynb")
    with pytest.raises(
        CopyError, match="lesson '99' has no exercises, so there is nothing to mark."
    ):
        write_release(["99"], tmp_path / "out", sources=tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_file_that_was_changed_since_its_release_is_not_overwritten(tmp_path):
    write_release(["04"], tmp_path)
    write_release(["04"], tmp_path, "later")  # overwriting an earlier release is allowed
    (tmp_path / "04_pooling.ipynb").write_text("{}")
    before = (tmp_path / "manifest.json").read_bytes()
    with pytest.raises(CopyError, match="04_pooling.ipynb was changed after its release"):
        write_release(["04", "05"], tmp_path)
    assert (tmp_path / "manifest.json").read_bytes() == before
    assert not (tmp_path / "05_attention.ipynb").exists()


@pytest.mark.parametrize(
    "arguments, status, words",
    [
        *(
            (
                ["--out", "out", "--lessons", *lessons],
                0,
                f"2 lessons, {POINTS_OF_BOTH} points together, in out.",
            )
            for lessons in (["04", "05"], ["04,05"])
        ),
        (
            ["--lessons", "99", "--out", "out"],
            1,
            f"lesson '99' is not in this course; its lessons are {ALL_KEYS}.",
        ),
        (["--lessons", ",", "--out", "out"], 1, "lesson '' is not in this course"),
        (["--out", "out"], 2, "Missing option '--lessons'"),
        (["--lessons", "04", "--out", "manifest.json/out"], 1, "Cannot write to manifest.json/out"),
        (
            ["--lessons", "04", "--out", "."],
            1,
            "manifest.json was changed after its release, or no",
        ),
    ],
    ids=[
        *("lessons apart", "lessons with a comma", "unknown", "a comma alone", "none"),
        "out in a file",
        "a manifest of something else",
    ],
)
def test_the_command_says_what_was_released_or_why_nothing_was(
    tmp_path, monkeypatch, arguments, status, words
):
    (tmp_path / "manifest.json").write_text('{"name": "an app"}')
    monkeypatch.chdir(tmp_path)
    assert words in output_of("release", *arguments, status=status)


# For a process of its own, since this one has imported them.
RELEASES_AS_ON_WINDOWS = """
import sys
from pathlib import Path
sys.modules["resource"] = sys.modules["fcntl"] = None  # only Unix has these
from course_utils.tools.grading.release import write_release
write_release(["04"], Path(sys.argv[1]))
"""


def test_a_release_can_be_made_on_windows(tmp_path):
    done = course(tmp_path, program=["-c", RELEASES_AS_ON_WINDOWS])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "04_pooling.ipynb").exists(), done.stderr


# For a process of its own, since nbgrader is not installed beside the course, but apart.
GENERATES_ASSIGNMENT = """
import json, sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from nbgrader.apps import NbGraderAPI
from nbgrader.nbgraderformat import read
from traitlets.config import Config
root = Path(sys.argv[1])
config = Config()
config.ClearSolutions.enforce_metadata = False  # completions have gaps, and no points
config.CourseDirectory.root = str(root)
config.CourseDirectory.db_url = f"sqlite:///{root}/gradebook.db"
for path in (root / "source" / "course").iterdir():
    read(path, as_version=4)  # checks the metadata of the cells
api = NbGraderAPI(config=config)
with api.gradebook:
    pass  # so that it exists
report = api.generate_assignment("course", force=True, create=True)
with api.gradebook as book:
    notebooks = book.find_assignment("course").notebooks
    points = {notebook.name: notebook.max_score for notebook in notebooks}
print(json.dumps(points if report["success"] else report))
"""


@pytest.mark.nightly
def test_nbgrader_accepts_the_source_lessons_with_their_points(tmp_path):
    environment = nbgrader_environment()
    (tmp_path / "source" / "course").mkdir(parents=True)
    for lesson in LESSONS:
        shutil.copy(parts()[lesson], tmp_path / "source" / "course")
    done = course(tmp_path, program=["-c", GENERATES_ASSIGNMENT], env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]  # the error itself, below what nbgrader logs
    points = {parts()[lesson].stem: points_of(lesson) for lesson in LESSONS}
    assert json.loads(done.stdout.splitlines()[-1]) == points
    copy = (tmp_path / "release" / "course" / "04_pooling.ipynb").read_text()
    assert BEGIN not in copy
    assert "YOUR CODE HERE" in copy
