"""What lesson 09 lists and counts does not hang on a near tie, so it is the same on every processor: `make matrix`."""

import re

import nbformat
import numpy as np
import pytest

from course_utils import closest_pairs, embed, load_encoder, load_reviews, search
from course_utils._support.notebooks import NOTEBOOKS


@pytest.fixture(scope="module")
def corpus():
    """The sentences that the lesson embeds, as it collects them."""
    candidates = load_reviews("rotten_tomatoes")["text"].tolist()
    for review in load_reviews("imdb")["text"][:4000]:
        candidates += re.split(r"(?<=[.!?])\s+", review)
    return [text for text in dict.fromkeys(candidates) if 4 <= len(text.split()) <= 12][:6000]


@pytest.fixture(scope="module")
def vectors(corpus):
    return embed(corpus)


def test_the_closest_pairs_are_not_a_near_tie(corpus, vectors):
    tokenizer, _ = load_encoder()
    first = {}
    for place, ids in enumerate(tokenizer(corpus)["input_ids"]):
        first.setdefault(tuple(ids), place)
    _, cosines = closest_pairs(vectors[list(first.values())], k=7)
    assert np.diff(cosines).max() < -1e-4
    _, cosines = closest_pairs(vectors, k=200)
    equal = (cosines > 0.9999).sum()
    assert cosines[equal - 1] > 0.99999 and cosines[equal] < 0.999 and len(first) == len(corpus) - equal


def test_the_search_results_are_not_a_near_tie(vectors):
    _, cosines = search(
        embed(
            [
                "A story about growing old",
                "The plot makes no sense at all.",
                "great music",
                "This film is very funny.",
                "The plot makes perfect sense.",
            ]
        ),
        vectors,
        4,
    )
    assert np.diff(cosines, axis=1).max() < -1e-3


@pytest.fixture(scope="module")
def judged(corpus, vectors):
    """The labels of the sentences of Rotten Tomatoes, and their vectors: the first of the corpus."""
    opinion = load_reviews("rotten_tomatoes").set_index("text")["label"]
    labels = opinion[[text for text in corpus if text in opinion.index]].to_numpy()
    return labels, vectors[: len(labels)]


def test_the_neighbours_of_other_opinion_are_not_a_near_tie(judged):
    labels, rows = judged
    places, cosines = search(rows, rows, k=3)
    assert (cosines[:, 1] - cosines[:, 2] < 2e-6).sum() == 0, (
        "the share of neighbours of the same opinion hangs on no tie"
    )
    shown = np.flatnonzero(labels[places[:, 1]] != labels)[[2, 14, 34]]
    assert (cosines[shown, 1] - cosines[shown, 2]).min() > 1e-3


def test_what_the_statements_find_is_not_a_near_tie(judged):
    cells = [cell for path in NOTEBOOKS.glob("09_*.ipynb") for cell in nbformat.read(path, as_version=4).cells]
    (statements,) = (cell.source for cell in cells if cell.id == "statements")
    lists = {}
    exec(statements, lists)
    _, cosines = search(embed(lists["praise"] + lists["blame"]), judged[1], k=11)
    assert (cosines[:, 9] - cosines[:, 10]).min() > 1e-4


@pytest.mark.parametrize("k", [11])
def test_no_vote_of_the_neighbours_hangs_on_a_near_tie(judged, k):
    labels, rows = judged
    places, cosines = search(rows, rows, k=k + 2)
    votes = labels[places[:, 1:-1]].sum(axis=1)
    would_turn = (labels[places[:, k]] != labels[places[:, k + 1]]) & (abs(2 * votes - k) == 1)
    assert (cosines[:, k] - cosines[:, k + 1])[would_turn].min() > 1e-5
