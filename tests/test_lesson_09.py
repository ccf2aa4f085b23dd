"""Lesson 09: its references equal the library."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sentence_transformers import util

from course_utils import load_encoder
from course_utils.exercises.lesson_09 import CAN_SKIP, TOKENS

from .sources import function_of


def test_the_tokens_of_pairs_are_what_the_tokenizer_gives():
    tokenizer, _ = load_encoder()
    texts = ["Yes", "The ferry leaves at noon.", "unbelievably", "No, I never said so!"]
    lengths = [len(ids) for ids in tokenizer(texts)["input_ids"]]
    read = sum(
        len(tokenizer(one, other)["input_ids"]) for one, other in itertools.combinations(texts, 2)
    )
    assert TOKENS.reference(lengths) == [sum(lengths), read]


@pytest.mark.parametrize("hidden", [2, 3, 50])
def test_no_sentence_is_skipped_that_is_above_the_best(hidden):
    torch.manual_seed(hidden)
    rows = torch.nn.functional.normalize(torch.randn(200, hidden, dtype=torch.float64)).numpy()
    pivot, question, rows = rows[0], rows[1], rows[2:]
    for best in (-0.9, -0.3, 0.0, 0.4, 0.9):
        skipped = np.array(CAN_SKIP.reference(float(question @ pivot), rows @ pivot, best))
        assert (rows[skipped] @ question <= best + 1e-9).all()


def test_each_sentence_that_is_not_skipped_could_be_above_the_best():
    """The bound is reached: in the plane of pivot and question there is a vector at each angle from the pivot."""
    x, y = np.random.default_rng(0).uniform(0, np.pi, size=(2, 100))
    for one, other in zip(x, y):
        # the pivot is (1, 0)
        question, sentence = ([np.cos(angle), np.sin(angle)] for angle in (one, other))
        cosine = np.dot(question, sentence)
        given = (question[0], np.array([sentence[0]]))
        assert CAN_SKIP.reference(*given, cosine - 1e-6) == [False]
        assert CAN_SKIP.reference(*given, cosine + 1e-6) == [True]


def test_the_search_to_take_along_re_ranks_its_candidates():
    vectors = np.eye(150, dtype=np.float32)
    query = np.linspace(1, 0, 150, dtype=np.float32)  # the first documents are nearest
    model = SimpleNamespace(encode_query=lambda text, **_: query)
    ask = function_of("09", "take-it-with-you", "ask", util=util, model=model)
    documents = [f"document {number}" for number in range(150)]

    def backwards(question, texts, top_k):
        assert question == "Which?" and texts == documents[:100]
        return [{"corpus_id": 99 - place, "score": 9 - place} for place in range(top_k)]

    ranker = SimpleNamespace(rank=backwards)
    assert [text for _, text in ask("Which?", documents, vectors, k=2)] == documents[:2]
    ranked = ask("Which?", documents, vectors, k=2, ranker=ranker)
    assert ranked == [(9, "document 99"), (8, "document 98")]
