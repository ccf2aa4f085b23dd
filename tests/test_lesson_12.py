"""Lesson 12: stored searches that are those of this documentation, and a script that writes them."""

import random

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open

from course_utils import embed, load_doc_queries, load_docstrings
from course_utils.embedding import hidden_states
from course_utils.ranking import chunks, max_sim
from course_utils.trainings import learning_curve, rerank, search

from .tables import replace, written

PAGE = "Do a thing\nwell.\n\nMore.\n\nParameters\n----------\nx : array\n    What it is.\n\nReturns\n-------\nNone"


def test_the_parts_of_a_docstring():
    assert search.summary(PAGE) == "Do a thing well."
    assert [part.split()[0] for part in search.sections(PAGE)] == ["Do", "Parameters", "Returns"]
    assert (
        search.sections("One line.")
        == search.ways(documented(("a", "One line.")))["summary"][0]
        == ["One line."]
    )


def test_the_stored_vectors_are_those_of_this_documentation():
    docs = load_docstrings()
    with safe_open(search.VECTORS, "np") as stored:
        assert stored.metadata() == {"checksum": search.checksum(docs)}, (
            "run the script again: the packages changed"
        )
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
    assert set(runs["way"]) == {
        *search.ways(docs),
        *search.others(),
        "mean of windows",
        "late interaction",
    }
    assert len(runs) == len(queries) * runs["way"].nunique()
    for names in runs["names"].str.split():
        # four lists had a text that is no longer in the corpus
        assert search.DEPTH - 1 <= len(set(names)) == len(names) <= search.DEPTH and set(
            names
        ) <= set(docs["name"])


def test_the_runs_have_the_ranks_of_their_names():
    stored, runs = pd.read_csv(search.RUNS), search.load_doc_runs()
    assert (
        runs.groupby(["way", "query"], sort=False)["name"].agg(" ".join).tolist()
        == stored["names"].tolist()
    )
    assert (
        runs.groupby(["way", "query"])["rank"]
        .agg(list)
        .map(lambda ranks: ranks == [*range(1, len(ranks) + 1)])
    ).all()


def test_only_the_lesson_s_windows_have_stored_vectors(tiny, monkeypatch):
    windows = [
        window for page in search.pages(load_docstrings()) for window in chunks(page, search.WORDS)
    ]
    found = search.load_window_vectors(windows, "sentence-transformers/all-MiniLM-L6-v2")
    assert found.shape == (len(windows), 384) and found.dtype == np.float32
    some = windows[:3]
    assert (search.load_window_vectors(some, "packaged") * found[:3]).sum(axis=1) == pytest.approx(
        1, abs=1e-3
    )
    assert search.load_window_vectors(some, str(tiny)) == pytest.approx(
        embed(some, model=str(tiny)), abs=1e-2
    )


@pytest.fixture
def small(monkeypatch):
    docs, queries = load_docstrings(), load_doc_queries()[:3]
    docs = docs[docs["text"].str.len().between(700, 1500)][:10].reset_index(drop=True)
    reviews, wanted = search.load_reviews("rotten_tomatoes")[:20], search.load_queries()[:2]
    loads = {"load_docstrings": lambda: docs, "load_doc_queries": lambda: queries}
    loads |= {"load_reviews": lambda name: reviews, "load_queries": lambda: wanted}
    replace(monkeypatch, search, **loads, DEPTH=4)


@pytest.mark.nightly
def test_the_script_writes_the_stored_form(small, tmp_path):
    runs, _ = written(search, tmp_path, search.RUNS, search.REVIEWS)
    files = {path.name for path in (search.RUNS, search.REVIEWS, search.VECTORS)}
    assert {path.name for path in tmp_path.iterdir()} == files
    assert len(runs) == 10 * 3 and (runs["names"].str.split().map(len) == 4).all()


def documented(*rows):
    return pd.DataFrame(rows, columns=["name", "text"])


def test_near_pages_that_may_be_right_do_not_count_as_wrong():
    mean = "Compute the arithmetic mean of the values."
    body = "It adds all numbers up and divides by how many there are."
    docs = documented(
        ("a.Series.mean", f"{mean}\n\n{body}"),
        (
            "a.DataFrame.mean",
            "Return the mean over the requested axis.\n\nIt adds numbers and divides by their count.",
        ),
        ("b.average", "Compute the arithmetic mean of all the values.\n\nThe mean with weights."),
        ("b.shared", f"Something about boats and rivers.\n\n{body}"),
        ("b.plot", "Draw a picture of the values.\n\nAxes, colours and a legend."),
        ("b.signature", "sort(values, axis) of an array.\n\nIt sorts."),
        ("b.alone", "This page has no body at all."),
        ("b.few", "Too few words.\n\nSome text that follows it."),
    )
    questions, table = rerank.mined(docs)
    asked, right, near, far = questions[0]
    assert asked == mean and right == [f"a.Series.mean {body}"] and far == []
    wrong = {"b.plot", "b.signature", "b.few"}
    assert len(near) == 3 - rerank.SKIPPED and near[0].split()[0] in wrong
    assert table[0]["nearest"] in wrong
    questions = ["a.Series.mean", "a.DataFrame.mean", "b.average", "b.shared", "b.plot"]
    assert [row["question"] for row in table] == questions


def test_a_group_has_the_right_text_first_and_no_text_twice():
    questions = [
        ("asked", ["right"], ["near 1"], ["far 1", "far 2", "far 3"]),
        ("asked", ["right"], [*"abcdef"], [*"xyz"]),
    ]
    (_, few), (_, many) = rerank.groups(questions, random.Random(0))
    assert few[:2] == ["right", "near 1"] and len({*few}) == len(few) == rerank.HARD + 2
    assert many[0] == "right" and {*many[1:4]} < {*"abcdef"} and many[4] in "xyz"
    assert len({*many}) == len(many)


def test_the_stored_scores_are_those_of_the_candidates():
    docs, queries, scores = load_docstrings(), load_doc_queries(), pd.read_csv(rerank.SCORES)
    of = scores.groupby("query")["name"].agg(set)
    assert len(queries) == len(of)
    for one, places in zip(queries["id"], rerank.candidates(docs, queries)):
        assert of[one] == set(docs["name"].iloc[places])


def test_the_negatives_that_were_looked_at_are_those_of_questions():
    looked, mined = pd.read_csv(rerank.LOOKED), pd.read_csv(rerank.MINED)
    assert not looked.duplicated(["question", "near"]).any() and set(looked["grade"]) <= {0, 1, 2}
    assert set(looked["question"]) <= set(mined["question"]) and set(looked["near"]) <= set(
        load_docstrings()["name"]
    )


@pytest.mark.nightly
def test_the_re_ranker_s_script_writes_the_stored_form(monkeypatch, tmp_path, tiny):
    docs, queries = load_docstrings()[:1600:40].reset_index(drop=True), load_doc_queries()[:3]
    replace(monkeypatch, rerank, load_docstrings=lambda: docs, load_doc_queries=lambda: queries)
    found = " ".join(docs["name"][:5])
    pd.DataFrame([(way, one, found) for way in rerank.FOUND for one in queries["id"]]).to_csv(
        tmp_path / "runs.csv", index=False, header=["way", "query", "names"]
    )
    replace(monkeypatch, rerank, RUNS=tmp_path / "runs.csv", NEAR=20, HELD=4, EPOCHS=1, READ=60)
    # the tiny encoder has 64 positions
    monkeypatch.setattr(rerank.scores_of, "__defaults__", (60,))
    monkeypatch.setattr(learning_curve, "encoder_folder", lambda: tiny)
    written(rerank, tmp_path, rerank.SCORES, rerank.MINED, rerank.STEPS)


def test_late_interaction_is_max_sim_of_each_pair():
    queries, texts = (
        ["drop rows with gaps", "short"],
        ["Remove missing values from a table.", "Sort.", ""],
    )
    tokens = [
        states[-1][0] for text in [*queries, *texts] for _, states, _ in hidden_states([text])
    ]
    tokens = [vectors / vectors.norm(dim=-1, keepdim=True) for vectors in tokens]
    wanted = [[max_sim(query, text) for text in tokens[2:]] for query in tokens[:2]]
    assert search.late_interaction(queries, texts) == pytest.approx(np.array(wanted), abs=1e-5)
