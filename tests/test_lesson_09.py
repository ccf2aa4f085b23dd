"""Lesson 09: its references equal the library."""

import itertools

import pytest
import torch

from course_utils import closest_pairs, load_encoder
from course_utils.exercises.lesson_09 import CLOSEST, MEAN_COSINE, TOKENS


def test_the_tokens_of_pairs_are_what_the_tokenizer_gives():
    tokenizer, _ = load_encoder()
    texts = ["Yes", "The ferry leaves at noon.", "unbelievably", "No, I never said so!"]
    lengths = [len(ids) for ids in tokenizer(texts)["input_ids"]]
    read = sum(len(tokenizer(one, other)["input_ids"]) for one, other in itertools.combinations(texts, 2))
    assert TOKENS.reference(lengths) == [sum(lengths), read]


@pytest.mark.parametrize("seed", range(3))
def test_the_closest_pair_is_the_courses(seed):
    torch.manual_seed(seed)
    rows = torch.nn.functional.normalize(torch.randn(30, 8))
    pairs, _ = closest_pairs(rows)
    assert CLOSEST.reference(rows) == pairs[0].tolist()


@pytest.mark.parametrize("n", [2, 3, 50])
def test_the_average_of_all_pairs_is_that_of_the_table(n):
    torch.manual_seed(n)
    rows = torch.nn.functional.normalize(torch.randn(n, 8))
    one, other = torch.triu_indices(n, n, offset=1)
    table = (rows[one] * rows[other]).sum(dim=1)
    assert MEAN_COSINE.reference(rows.sum(dim=0), n) == pytest.approx(table.mean().item(), abs=1e-6)
