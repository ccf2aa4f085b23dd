"""Lesson 09: the tokens of pairs, sentences that can be skipped, and a search that re-ranks."""

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
    lengths_of_pairs = [
        len(tokenizer(first, second)["input_ids"])
        for first, second in itertools.combinations(texts, 2)
    ]
    assert TOKENS.reference(lengths) == [sum(lengths), sum(lengths_of_pairs)]


@pytest.mark.parametrize("best", [-0.9, -0.3, 0.0, 0.4, 0.9])
@pytest.mark.parametrize("hidden", [2, 3, 50])
def test_no_sentence_is_skipped_that_is_above_the_best(hidden, best):
    torch.manual_seed(hidden)
    unit_vectors = torch.nn.functional.normalize(torch.randn(200, hidden, dtype=torch.float64))
    pivot, question, *sentences = unit_vectors.numpy()
    sentences = np.array(sentences)
    # In 50 dimensions hardly any is skipped, since all are far from the pivot, and none is where
    # `best` is lowest. 1e-9 is for rounding: the cosines are computed from numbers with 16 digits.
    skipped = np.array(CAN_SKIP.reference(float(question @ pivot), sentences @ pivot, best))
    assert (sentences[skipped] @ question <= best + 1e-9).all()


def test_each_sentence_that_is_not_skipped_could_be_above_the_best():
    # The bound is reached: in the plane of pivot and question there is a vector at each angle from
    # the pivot. The angles are in radians.
    for question_angle, sentence_angle in np.random.default_rng(0).uniform(0, np.pi, (100, 2)):
        cosine = np.cos(question_angle - sentence_angle)
        # the cosines with the pivot: of the question, and of the one sentence
        to_pivot = np.cos(question_angle), np.array([np.cos(sentence_angle)])
        assert CAN_SKIP.reference(*to_pivot, cosine - 1e-6) == [False]
        assert CAN_SKIP.reference(*to_pivot, cosine + 1e-6) == [True]


def test_the_search_to_take_along_re_ranks_its_candidates():
    number, candidates = 150, 100  # the lesson's function re-ranks the 100 nearest
    vectors = np.eye(number, dtype=np.float32)
    query = np.linspace(1, 0, number, dtype=np.float32)  # the first documents are nearest
    model = SimpleNamespace(encode_query=lambda text: query)
    ask = function_of("09", "take-it-with-you", "ask", util=util, model=model)
    documents = [f"document {place}" for place in range(number)]

    def rank_backwards(question, texts, top_k):
        assert (question, texts) == ("Which?", documents[:candidates])
        # the farthest candidate first, with scores 9, 8, ...
        farthest = candidates - 1
        return [{"corpus_id": farthest - place, "score": 9 - place} for place in range(top_k)]

    ranker = SimpleNamespace(rank=rank_backwards)
    assert [text for _, text in ask("Which?", documents, vectors, k=2)] == documents[:2]
    assert ask("Which?", documents, vectors, k=2, ranker=ranker) == [
        (9, "document 99"),
        (8, "document 98"),
    ]
