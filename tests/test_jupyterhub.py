"""A class on a JupyterHub: an ordinary user, a read-only installation owned by another user, and no network."""

import os
import shutil
import tempfile
from pathlib import Path

import nbformat
import pytest

from course_utils._support.notebooks import cores

from .grader import NOBODY, course, isolation, ordinary_user
from .project import ROOT
from .sources import printed_by

RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=180, kernel_name="python3", resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(notebook, sys.argv[1])
"""


@pytest.fixture
def room():
    isolation()  # the same mechanism makes this machine's files read-only
    if os.getuid() != 0:
        pytest.skip("the other tests run as an ordinary user already")
    room = Path(tempfile.mkdtemp(prefix="ordinary-"))
    os.chown(room, NOBODY, NOBODY)
    yield room
    shutil.rmtree(room)


@pytest.mark.nightly
def test_a_student_gets_copies_works_and_is_remembered(room):
    own = {"HOME": str(room), "PYTHONPATH": str(ROOT), "TQDM_DISABLE": "1"}
    student = {"before": ordinary_user(room), "env": {**os.environ, **own}}
    home = room / "sentence embeddings"
    for _ in range(2):  # a hub may do this before each start
        done = course("lab", "--write-only", "--workspace", home, **student)
        assert done.returncode == 0 and f"{len(cores())} lessons and" in done.stdout, done.stderr
    assert (home / "00_start_here.ipynb").stat().st_uid == NOBODY and (
        home / "glossary.ipynb"
    ).exists()

    lesson = nbformat.read(home / "00_start_here.ipynb", as_version=4)
    (answer,) = [cell for cell in lesson.cells if cell.id == "00-nearest"]
    answer.source = "def nearest(table, i):\n    return max({*range(len(table))} - {i}, key=lambda j: table[i, j])"
    nbformat.write(lesson, home / "00_start_here.ipynb")
    done = course(home / "00_start_here.ipynb", home, program=["-c", RUN], **student)
    assert done.returncode == 0, done.stderr[-2000:]
    run = nbformat.read(home / "00_start_here.ipynb", as_version=4)
    assert any("✓ passed" in printed_by(cell) for cell in run.cells)

    done = course("progress", "--workspace", home, **student)
    assert done.returncode == 0 and done.stdout.startswith("1 of "), done.stdout + done.stderr
