"""What JupyterLab computes in the background: the longest vectors of lessons, once."""

import os
import subprocess
import sys

import pytest

from course_utils._support import kept_vectors
from course_utils.tools import beforehand

MANY_WORDS = 20_000  # several seconds of computing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other priorities")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """The folder of vectors."""
    monkeypatch.setenv(kept_vectors.VARIABLE, str(tmp_path))
    return tmp_path


def run_in_background(parent, change):
    """Run the module as `start` does, after this change of it."""
    # with the lowest priority it would wait for all other tests
    program = (
        "from course_utils.tools import beforehand\nbeforehand.LOWEST_PRIORITY = 1\n"
        f"{change}\nbeforehand.main({parent})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        start_new_session=True,  # as `start` does: it lowers the priority of its session
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_cells_use_only_names_that_they_define():
    for lesson in beforehand._lessons():
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F821", "-"]
        done = subprocess.run(command, input=lesson, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.nightly
def test_cells_of_lessons_that_embed_much_run_without_the_others():
    # in place of `embed`: print the number of words, and return no vectors that were computed
    sizes = """
import course_utils, numpy
def embed(texts, model):
    print("words", sum(len(text.split()) for text in texts))
    return numpy.ones((len(texts), 384), numpy.float32)
course_utils.embed = embed"""
    printed = run_in_background(os.getpid(), sizes).splitlines()
    words = [int(line.split()[1]) for line in printed if line.startswith("words")]
    assert sum(number > MANY_WORDS for number in words) == len(list(beforehand._lessons()))


def test_it_runs_once_and_gives_way(monkeypatch):
    lesson = "import os; print(os.nice(0))"
    monkeypatch.setattr(beforehand, "_lessons", lambda: [lesson])
    assert not beforehand.marker().exists()
    printed = run_in_background(os.getpid(), f"beforehand._lessons = lambda: [{lesson!r}]")
    assert printed.endswith("1\n")
    assert beforehand.marker().exists() and beforehand.start() is None


def test_it_ends_with_its_jupyterlab(place):
    assert (
        run_in_background(0, "beforehand._lessons = lambda: ['import time; time.sleep(3600)']")
        == ""
    )
    assert not any(place.iterdir())
