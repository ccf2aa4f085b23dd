"""Lesson 12: its stored searches are those of this documentation; the script that writes them."""

import random

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from torch.nn.functional import normalize

from course_utils import embed, load_doc_queries, load_docstrings
from course_utils.embedding import hidden_states
from course_utils.ranking import chunks, max_sim
from course_utils.trainings import learning_curve, rerank, search

from .tables import replace, written

PAGE = """Do a thing
well.

More.

Parameters
----------
x : array
    What it is.

Returns
-------
None"""


def test_the_parts_of_a_docstring():
    assert search.summary(PAGE) == "Do a thing well."
    assert [part.split()[0] for part in search.sections(PAGE)] == ["Do", "Parameters", "Returns"]
    assert search.sections("One line.") == ["One line."]


def windows_of(docs):
    # a list of windows for each page
    return [chunks(page, search.WORDS) for page in search.pages(docs)]


def test_the_stored_vectors_are_those_of_this_documentation():
    docs = load_docstrings()
    with safe_open(search.VECTORS, "np") as stored:
        assert stored.metadata() == {"checksum": search.checksum(docs)}, (
            "run the script again: the packages changed"
        )
        vectors, owners = stored.get_tensor("vectors"), stored.get_tensor("owners")
    # (place of the page, window), in the order of the stored vectors
    owned = [(place, window) for place, page in enumerate(windows_of(docs)) for window in page]
    places, windows = zip(*owned)
    assert owners.tolist() == list(places)
    assert (len(vectors), vectors.dtype) == (len(windows), np.float16)
    # The cosine of each vector with its stored form in float16. Every 1500th: to encode all would
    # take long.
    assert (embed(windows[::1500]) * vectors[::1500]).sum(axis=1).min() > 0.999


def test_the_stored_runs_have_a_list_for_each_way_and_query():
    docs, queries, runs = load_docstrings(), load_doc_queries(), pd.read_csv(search.RUNS)
    ways = {*search.ways(docs), *search.others(), "mean of windows", "late interaction"}
    assert runs["way"].value_counts().to_dict() == dict.fromkeys(ways, len(queries))
    lists = runs["names"].str.split()
    assert set(lists.explode()) <= set(docs["name"])
    # how many lists have so many different names: four had a text that is no longer in the corpus
    expected = {search.DEPTH: len(runs) - 4, search.DEPTH - 1: 4}
    assert lists.map(set).map(len).value_counts().to_dict() == expected


def test_the_runs_have_the_ranks_of_their_names():
    stored, runs = pd.read_csv(search.RUNS), search.load_doc_runs()
    lists = runs.groupby(["way", "query"], sort=False)
    assert lists["name"].agg(" ".join).tolist() == stored["names"].tolist()
    assert (runs["rank"] == lists.cumcount() + 1).all()


def test_only_the_lessons_windows_have_stored_vectors(tiny, monkeypatch):
    windows = [window for page in windows_of(load_docstrings()) for window in page]
    stored = search.load_window_vectors(windows, "sentence-transformers/all-MiniLM-L6-v2")
    # 384: the packaged encoder's numbers
    assert (stored.shape, stored.dtype) == ((len(windows), 384), np.float32)
    of_packaged = search.load_window_vectors(windows[:3], "packaged")
    # fewer windows are encoded; the stored ones were rounded to float16, so their cosine is about 1
    assert (of_packaged * stored[:3]).sum(axis=1) == pytest.approx(1, abs=1e-3)
    # another encoder's are encoded, too
    assert search.load_window_vectors(windows[:3], str(tiny)) == pytest.approx(
        embed(windows[:3], model=str(tiny)), abs=1e-2
    )


FEW_QUERIES, FEW_RANKS = 3, 4


@pytest.fixture
def small(monkeypatch):
    # few pages, documentation queries, ranks, reviews and queries about reviews
    docs, queries = load_docstrings(), load_doc_queries()[:FEW_QUERIES]
    # of middle length, so that they have some windows and are read quickly
    docs = docs[docs["text"].str.len().between(700, 1500)][:10].reset_index(drop=True)
    reviews, review_queries = search.load_reviews("rotten_tomatoes")[:20], search.load_queries()[:2]
    replace(
        monkeypatch,
        search,
        load_docstrings=lambda: docs,
        load_doc_queries=lambda: queries,
        load_reviews=lambda name: reviews,
        load_queries=lambda: review_queries,
        DEPTH=FEW_RANKS,
    )


@pytest.mark.nightly
def test_the_script_writes_the_stored_form(small, tmp_path):
    runs, _ = written(search, tmp_path, search.RUNS, search.REVIEWS)
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in (search.RUNS, search.REVIEWS, search.VECTORS)
    }
    # a list for each query and each of ten ways: those of the test of the stored runs
    assert runs["names"].str.split().map(len).tolist() == [FEW_RANKS] * (10 * FEW_QUERIES)


MEAN = "Compute the arithmetic mean of the values."
MEAN_BODY = "It adds all numbers up and divides by how many there are."
PAGES_TO_MINE = {
    # the first question, and its right page; the comments at the others are about this question
    "a.Series.mean": f"{MEAN}\n\n{MEAN_BODY}",
    # the same last name
    "a.DataFrame.mean": (
        "Return the mean over the requested axis.\n\nIt adds numbers and divides by their count."
    ),
    # nearly the same summary
    "b.average": "Compute the arithmetic mean of all the values.\n\nThe mean with weights.",
    # holds the right page's piece
    "b.shared": f"Something about boats and rivers.\n\n{MEAN_BODY}",
    # wrong
    "b.plot": "Draw a picture of the values.\n\nAxes, colours and a legend.",
    # wrong; a signature is no question
    "b.signature": "sort(values, axis) of an array.\n\nIt sorts.",
    # has no piece, so it is neither wrong nor a question
    "b.alone": "This page has no body at all.",
    # wrong; three words are no question
    "b.few": "Too few words.\n\nSome text that follows it.",
}


@pytest.fixture(scope="module")
def mined():
    """(questions, table) of PAGES_TO_MINE."""
    return rerank.mined(pd.DataFrame(PAGES_TO_MINE.items(), columns=["name", "text"]))


def test_the_right_text_of_a_question_is_the_piece_of_its_page(mined):
    question, right, _, _ = mined[0][0]
    assert question == MEAN
    assert right == f"a.Series.mean {MEAN_BODY}"


def test_near_pages_that_may_be_right_do_not_count_as_wrong(mined):
    questions, table = mined
    _, _, near, far = questions[0]
    assert far == []
    wrong = {"b.plot", "b.signature", "b.few"}
    assert len(near) == len(wrong) - rerank.SKIPPED
    assert {near[0].split()[0], table[0]["nearest"]} <= wrong


def test_a_page_asks_if_it_has_a_piece_and_a_summary_of_some_words(mined):
    _, table = mined
    # not the last three: a signature, no piece, three words
    assert [row["question"] for row in table] == [*PAGES_TO_MINE][:5]


@pytest.mark.parametrize(
    "near, far, from_near, from_far",
    [
        (["near"], ["far 1", "far 2", "far 3"], 1, 3),  # far ones take the places of near ones
        ([*"abcdef"], [*"xyz"], rerank.HARD, 1),
    ],
    ids=["one near text", "enough near texts"],
)
def test_a_group_has_the_right_text_first_and_no_text_twice(near, far, from_near, from_far):
    ((_, texts),) = rerank.groups([("question", "right", near, far)], random.Random(0))
    assert texts[0] == "right"
    assert len({*texts} & {*near}) == from_near
    assert len({*texts} & {*far}) == from_far
    assert len({*texts}) == len(texts) == rerank.GROUP


def test_the_stored_scores_are_those_of_the_candidates():
    docs, queries, scores = load_docstrings(), load_doc_queries(), pd.read_csv(rerank.SCORES)
    scored = scores.groupby("query")["name"].agg(set)
    assert len(queries) == len(scored)
    for query, places in zip(queries["id"], rerank.candidates(docs, queries)):
        assert scored[query] == set(docs["name"].iloc[places])


def test_the_negatives_that_were_looked_at_are_those_of_questions():
    looked, mined = pd.read_csv(rerank.LOOKED), pd.read_csv(rerank.MINED)
    assert not looked.duplicated(["question", "near"]).any()
    assert set(looked["grade"]) <= {0, 1, 2}
    assert set(looked["question"]) <= set(mined["question"])
    assert set(looked["near"]) <= set(load_docstrings()["name"])


@pytest.mark.nightly
def test_the_re_rankers_script_writes_the_stored_form(monkeypatch, tmp_path, tiny):
    # 40 pages, not side by side, so that they have different summaries
    docs, queries = load_docstrings()[:1600:40].reset_index(drop=True), load_doc_queries()[:3]
    replace(monkeypatch, rerank, load_docstrings=lambda: docs, load_doc_queries=lambda: queries)
    # both searches that are read found the same five pages for each query
    names = " ".join(docs["name"][:5])
    pd.DataFrame([(way, query, names) for way in rerank.FOUND for query in queries["id"]]).to_csv(
        tmp_path / "runs.csv", index=False, header=["way", "query", "names"]
    )
    replace(monkeypatch, rerank, RUNS=tmp_path / "runs.csv", NEAR=20, HELD=4, EPOCHS=1, READ=60)
    # the default of `longest`, which was read at the definition: the tiny encoder has 64 positions
    monkeypatch.setattr(rerank.scores_of, "__defaults__", (60,))
    monkeypatch.setattr(learning_curve, "encoder_folder", lambda: tiny)
    written(rerank, tmp_path, rerank.SCORES, rerank.MINED, rerank.STEPS)


def test_late_interaction_is_max_sim_of_each_pair():
    queries = ["drop rows with gaps", "short"]
    texts = ["Remove missing values from a table.", "Sort.", ""]
    # each text alone, so that there is no padding
    batches = (hidden_states([text]) for text in [*queries, *texts])
    tokens = [normalize(states[-1][0], dim=-1) for batch in batches for _, states, _ in batch]
    of_queries, of_texts = tokens[: len(queries)], tokens[len(queries) :]
    expected = [[max_sim(query, text) for text in of_texts] for query in of_queries]
    assert search.late_interaction(queries, texts) == pytest.approx(np.array(expected), abs=1e-5)
