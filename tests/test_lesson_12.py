"""Lesson 12: stored searches that are those of this documentation, and a script that writes them."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from safetensors import safe_open

from course_utils import embed, load_doc_queries, load_docstrings
from course_utils.ranking import chunks
from course_utils.trainings import search

from .costly import costly

PAGE = "Do a thing\nwell.\n\nMore.\n\nParameters\n----------\nx : array\n    What it is.\n\nReturns\n-------\nNone"


def test_the_parts_of_a_docstring():
    assert search.summary(PAGE) == "Do a thing well."
    assert [part.split()[0] for part in search.sections(PAGE)] == ["Do", "Parameters", "Returns"]
    assert (
        search.sections("One line.")
        == ["One line."]
        == search.ways(pd.DataFrame([("a", "One line.")], columns=["name", "text"]))["summary"][0]
    )


def test_the_stored_vectors_are_those_of_this_documentation():
    docs = load_docstrings()
    with safe_open(search.VECTORS, "np") as stored:
        assert stored.metadata() == {"checksum": search.checksum(docs)}, "run the script again: the packages changed"
        vectors, owners = stored.get_tensor("vectors"), stored.get_tensor("owners")
    windows = [chunks(page, search.WORDS) for page in search.pages(docs)]
    assert owners.tolist() == [place for place, own in enumerate(windows) for _ in own]
    flat = [window for own in windows for window in own]
    some = np.arange(0, len(flat), 1500)
    assert vectors.dtype == np.float16 and len(vectors) == len(flat)
    cosines = (embed([flat[place] for place in some]) * vectors[some]).sum(axis=1)
    assert cosines.min() > 0.999


def test_the_stored_runs_have_every_query_once_a_way():
    docs, queries, runs = load_docstrings(), load_doc_queries(), pd.read_csv(search.RUNS)
    assert set(runs["way"]) == {*search.ways(docs), "mean of windows", "late interaction"}
    assert not runs.duplicated(["way", "query"]).any() and len(runs) == len(queries) * runs["way"].nunique()
    for names in runs["names"].str.split():
        # four lists had a text that is no longer in the corpus
        assert search.DEPTH - 1 <= len(set(names)) == len(names) <= search.DEPTH and set(names) <= set(docs["name"])


@pytest.fixture
def small(monkeypatch):
    docs, queries = load_docstrings()[:1600:160].reset_index(drop=True), load_doc_queries()[:3]
    monkeypatch.setattr(search, "load_docstrings", lambda: docs)
    monkeypatch.setattr(search, "load_doc_queries", lambda: queries)
    reviews, wanted = search.load_reviews("rotten_tomatoes")[:20], search.load_queries()[:2]
    monkeypatch.setattr(search, "load_reviews", lambda name: reviews)
    monkeypatch.setattr(search, "load_queries", lambda: wanted)
    monkeypatch.setattr(search, "DEPTH", 4)


@costly("course_utils/*.py", "course_utils/trainings/*.py")
def test_the_script_writes_the_stored_form(small, tmp_path):
    done = CliRunner().invoke(search.main, ["--folder", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    files = (search.RUNS, search.REVIEWS, search.VECTORS)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in files)
    for path in files[:2]:
        found, stored = pd.read_csv(tmp_path / path.name), pd.read_csv(path)
        assert list(found.columns) == list(stored.columns) and len(found)
    runs = pd.read_csv(tmp_path / search.RUNS.name)
    assert len(runs) == 8 * 3 and (runs["names"].str.split().map(len) == 4).all()
