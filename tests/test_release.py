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

from .grader import course, needs_extras, points_of

BOTH = points_of("04", "05")
NUMBERS = ", ".join(parts())
LESSONS = tuple(assignment()["titles"])
COPIES = ["04_pooling.ipynb", "05_attention.ipynb"]


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The folder of a release of COPIES, and its manifest."""
    folder = tmp_path_factory.mktemp("released")
    return folder, write_release(["05", "04"], folder, "Friday, 18:00")


def test_the_manifest_says_what_was_released(released):
    folder, manifest = released
    assert manifest["lessons"] == ["04", "05"]
    assert json.loads((folder / "manifest.json").read_text()) == manifest
    assert sorted(manifest["sha256"]) == [*COPIES, "glossary.ipynb"]
    assert {path.name for path in folder.iterdir()} == {*manifest["sha256"], "manifest.json"}
    assert manifest["of"] == sum(manifest["points"].values()) == BOTH


@pytest.mark.parametrize("name", COPIES)
def test_copies_bear_points_and_a_due_note_and_no_solutions(name, released):
    notebook = nbformat.read(released[0] / name, as_version=4)
    nbformat.validate(notebook)
    assert BEGIN not in str(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    full = points_of(part_of(name))
    due_note = notebook.cells[1].source
    assert "Due: Friday, 18:00." in due_note
    assert f"{full} points" in due_note
    # "**2 points.**" ends the text of an exercise
    ends = [re.search(r"\*\*(\d+) points?\.\*\*$", cell.source) for cell in notebook.cells]
    points = [int(end[1]) for end in ends if end]
    assert len(points) == len(assignment((part_of(name),))["exercises"])
    assert sum(points) == full


@pytest.mark.parametrize("solutions", [True, False])
def test_copies_may_show_no_solutions(tmp_path, solutions):
    write_release(LESSONS, tmp_path, solutions=solutions)
    for path in tmp_path.rglob("[01]*.ipynb"):
        first = next(
            cell.source
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code"
        )
        assert ("setup(solutions=False)" in first) != solutions, path


def test_the_same_input_gives_the_same_bytes(tmp_path):
    for name in ("one", "other"):
        write_release(LESSONS, tmp_path / name)
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*")]
    assert len(files) == len(LESSONS) + 2
    changed = [
        name
        for name in files
        if (tmp_path / "one" / name).read_bytes() != (tmp_path / "other" / name).read_bytes()
    ]
    assert changed == []


def test_a_page_is_no_lesson_to_mark(tmp_path):
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# 99 Page")])
    nbformat.write(page, tmp_path / "99_page.ipynb")
    with pytest.raises(
        CopyError, match="lesson '99' has no exercises, so there is nothing to mark."
    ):
        write_release(["99"], tmp_path / "out", sources=tmp_path)
    assert not (tmp_path / "out").exists()


def test_nothing_of_a_persons_is_overwritten(tmp_path):
    write_release(["04"], tmp_path)
    write_release(["04"], tmp_path, "later")  # overwriting an earlier release is allowed
    (tmp_path / "04_pooling.ipynb").write_text("{}")
    before = (tmp_path / "manifest.json").read_bytes()
    with pytest.raises(CopyError, match="04_pooling.ipynb was changed after its release"):
        write_release(["04", "05"], tmp_path)
    assert (tmp_path / "manifest.json").read_bytes() == before
    assert not (tmp_path / "05_attention.ipynb").exists()


@pytest.mark.parametrize(
    "arguments, words",
    [
        *(
            (["--out", "out", "--lessons", *lessons], f"2 lessons, {BOTH} points together, in out.")
            for lessons in (["04", "05"], ["04,05"])
        ),
        (
            ["--lessons", "99", "--out", "out"],
            f"lesson '99' is not in this course; its lessons are {NUMBERS}.",
        ),
        (["--out", "out"], "Missing option '--lessons'"),
        (["--lessons", "04", "--out", "file/out"], "Cannot write to file/out"),
    ],
)
def test_the_command(tmp_path, arguments, words):
    (tmp_path / "file").write_text("")
    done = course("release", *arguments, cwd=tmp_path)
    assert words in (done.stderr if done.returncode else done.stdout), done.stderr
    assert "Traceback" not in done.stderr


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


@pytest.mark.nightly
def test_nbgrader_accepts_the_source_lessons(tmp_path):
    # nbgrader's check of the cells' metadata, and `generate_assignment` for each lesson, with the
    # course's points.
    environment = needs_extras()
    (tmp_path / "source" / "course").mkdir(parents=True)
    for lesson in LESSONS:
        shutil.copy(parts()[lesson], tmp_path / "source" / "course")
    script = """
import json, sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from nbgrader.apps import NbGraderAPI
from nbgrader.nbgraderformat import read
from traitlets.config import Config
root, config = Path(sys.argv[1]), Config()
config.ClearSolutions.enforce_metadata = False  # completions have gaps, and no points
config.CourseDirectory.root, config.CourseDirectory.db_url = str(root), f"sqlite:///{root}/gradebook.db"
for path in (root / "source" / "course").iterdir():
    read(path, as_version=4)
api = NbGraderAPI(config=config)
with api.gradebook:
    pass
report = api.generate_assignment("course", force=True, create=True)
with api.gradebook as book:
    notebooks = book.find_assignment("course").notebooks
    points = {notebook.name: notebook.max_score for notebook in notebooks}
print(json.dumps(points if report["success"] else report))
"""
    done = course(tmp_path, program=["-c", script], env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    points = {parts()[lesson].stem: points_of(lesson) for lesson in LESSONS}
    assert json.loads(done.stdout.splitlines()[-1]) == points
    copy = (tmp_path / "release" / "course" / "04_pooling.ipynb").read_text()
    assert BEGIN not in copy
    assert "YOUR CODE HERE" in copy
