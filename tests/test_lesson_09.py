"""Lesson 09: its references equal the library, and what it lists and counts does not hang on a near tie."""

import itertools
import re

import numpy as np
import pytest
import torch

from course_utils import closest_pairs, embed, load_encoder, load_reviews, search
from course_utils.exercises.lesson_09 import CLOSEST, SEARCH, TOKENS


def test_the_tokens_of_pairs_are_what_the_tokenizer_gives():
    tokenizer, _ = load_encoder()
    texts = ["Yes", "The ferry leaves at noon.", "unbelievably", "No, I never said so!"]
    lengths = [len(ids) for ids in tokenizer(texts)["input_ids"]]
    read = sum(len(tokenizer(one, other)["input_ids"]) for one, other in itertools.combinations(texts, 2))
    assert TOKENS.reference(lengths) == [sum(lengths), read]


@pytest.mark.parametrize("seed", range(3))
def test_search_and_closest_are_the_courses(seed):
    torch.manual_seed(seed)
    corpus, query = torch.randn(30, 8), torch.randn(8)
    places, cosines = search(query[None], corpus, 5)
    ours = SEARCH.reference(query, corpus, 5)
    assert [place for place, _ in ours] == places[0].tolist() and [c for _, c in ours] == pytest.approx(
        cosines[0].tolist(), abs=1e-6
    )
    pairs, _ = closest_pairs(corpus)
    assert CLOSEST.reference(corpus / corpus.norm(dim=1, keepdim=True)) == pairs[0].tolist()


@pytest.fixture(scope="module")
def corpus():
    """As the lesson builds it."""
    candidates = load_reviews("rotten_tomatoes")["text"].tolist()
    for review in load_reviews("imdb")["text"]:
        candidates += re.split(r"(?<=[.!?])\s+", review)
    return [text for text in dict.fromkeys(candidates) if 4 <= len(text.split()) <= 12][:10_000]


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
                "I laughed from beginning to end.",
                "The plot makes perfect sense.",
            ]
        ),
        vectors,
        4,
    )
    assert np.diff(cosines, axis=1).max() < -1e-3


def test_the_neighbours_of_other_opinion_are_not_a_near_tie(corpus, vectors):
    opinion = load_reviews("rotten_tomatoes").set_index("text")["label"]
    labels = opinion[[text for text in corpus if text in opinion.index]].to_numpy()
    rows = vectors[: len(labels)]
    places, cosines = search(rows, rows, k=3)
    assert (cosines[:, 1] - cosines[:, 2] < 2e-6).sum() == 0, (
        "the share of neighbours of the same opinion hangs on no tie"
    )
    shown = np.flatnonzero(labels[places[:, 1]] != labels)[[2, 14, 34]]
    assert (cosines[shown, 1] - cosines[shown, 2]).min() > 1e-3
