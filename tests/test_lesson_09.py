"""Lesson 09: its references equal the library."""

import itertools

import pytest
import torch

from course_utils import closest_pairs, load_encoder, search
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
