"""Lesson 05: its references agree with torch and with slow loops."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from course_utils.attention import attend
from course_utils.exercises.lesson_05 import ATTENTION_WEIGHTS, ENTROPY, FIND_THE_BUG

SENTENCE = "Embeddings, for the café-owner: naïve?"


@pytest.mark.parametrize("real", [7, 4, 1])
def test_weights_with_a_mask_are_those_of_torch(real):
    generator = torch.Generator().manual_seed(real)
    queries, keys = torch.randn(2, 3, 7, 4, generator=generator)
    mask = (torch.arange(7) < real).long()
    identity = torch.eye(7).expand(3, 7, 7)  # as values, it returns the weights
    weights = scaled_dot_product_attention(queries, keys, identity, attn_mask=mask.bool())
    torch.testing.assert_close(ATTENTION_WEIGHTS.reference(queries, keys, mask), weights)


@pytest.mark.parametrize("seed", range(3))
def test_heads_put_together_are_those_of_torch(seed):
    generator = torch.Generator().manual_seed(seed)
    q, k, v = torch.randn(3, 7, 12, generator=generator)
    split = [torch.stack(x.chunk(3, dim=1)) for x in (q, k, v)]
    right = torch.cat(list(scaled_dot_product_attention(*split)), dim=1)
    torch.testing.assert_close(FIND_THE_BUG.reference(q, k, v, 3), right)


def test_entropy_is_that_of_a_slow_loop():
    _, attentions = attend(SENTENCE)
    for layer, head in [(0, 2), (1, 8), (3, 0), (5, 11)]:
        bits = [
            -sum(p * math.log2(p) for p in row if p > 0) for row in attentions[layer, head].tolist()
        ]
        assert ENTROPY.reference(attentions)[layer, head].tolist() == pytest.approx(bits, abs=1e-5)
