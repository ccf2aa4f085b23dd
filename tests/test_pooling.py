"""Pooling: equal to sentence-transformers' on awkward input, with the properties that lesson 04 teaches."""

import pytest
import torch
from hypothesis import given, strategies as st
from sentence_transformers.sentence_transformer.modules import Pooling

from course_utils import mean_pool, normalise
from course_utils.pooling import POOLINGS

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
MASKS = [torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.float32]
each_pooling = pytest.mark.parametrize("pool", POOLINGS.values(), ids=list(POOLINGS))


@st.composite
def batches(draw):
    """Token embeddings and a mask. Each row has padding on the left, on the right, on both sides or nowhere."""
    rows, tokens, hidden = (draw(st.integers(1, largest)) for largest in (4, 6, 5))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    embeddings = torch.randn(rows, tokens, hidden, generator=generator, dtype=torch.float64)
    # small, ordinary and large; all fit into float16, which ends at 65504
    embeddings *= draw(st.sampled_from([1e-3, 1, 100]))
    mask = torch.zeros(rows, tokens)
    for row in range(rows):
        # the tokens of the sentence; all before and behind them is padding
        start = draw(st.integers(0, tokens - 1))
        end = draw(st.integers(start + 1, tokens))
        mask[row, start:end] = 1
    return embeddings.to(draw(st.sampled_from(FLOATS))), mask.to(draw(st.sampled_from(MASKS)))


def library_pool(name, embeddings, mask):
    pooling = Pooling(embeddings.shape[-1], pooling_mode=name)
    return pooling({"token_embeddings": embeddings, "attention_mask": mask})["sentence_embedding"]


@pytest.mark.parametrize("name", POOLINGS)
@given(batches())
def test_the_same_as_the_library(name, batch):
    ours, theirs = POOLINGS[name](*batch), library_pool(name, *batch)
    assert ours.dtype == theirs.dtype
    assert torch.equal(ours, theirs)


# 1e4: larger than any embedding, and still a number in float16
@each_pooling
@given(batches(), st.sampled_from([float("nan"), float("inf"), float("-inf"), 1e4]), st.booleans())
def test_what_stands_at_padding_does_not_matter(pool, batch, rubbish, is_left):
    embeddings, mask = batch
    is_padding = ~mask.bool().unsqueeze(-1)
    # the batch, and as many tokens of padding again, to the right of it or to the left
    blocks = [embeddings.masked_fill(is_padding, rubbish), torch.full_like(embeddings, rubbish)]
    masks = [mask, torch.zeros_like(mask)]
    order = -1 if is_left else 1
    pooled = pool(torch.cat(blocks[::order], dim=1), torch.cat(masks[::order], dim=1))
    torch.testing.assert_close(pooled, pool(embeddings, mask))


@each_pooling
@given(batches())
def test_inputs_are_left_as_they_were(pool, batch):
    embeddings, mask = batch
    embeddings_before, mask_before = embeddings.clone(), mask.clone()
    pooled = pool(embeddings, mask)
    pooled += 1  # a view of the input would change it
    assert torch.equal(embeddings, embeddings_before)
    assert torch.equal(mask, mask_before)


def test_half_precision_is_added_up_in_single():
    # 4,000 times 1.5 is 6000. A sum in float16 would stop at 4096, where its numbers are 4 apart.
    embeddings = torch.full((1, 4000, 2), 1.5, dtype=torch.float16)
    assert mean_pool(embeddings, torch.ones(1, 4000)).tolist() == [[1.5, 1.5]]


EMBEDDINGS, MASK = torch.zeros(2, 3, 4), torch.ones(2, 3)
TENSOR, SHAPE = "must be a torch.Tensor; got", r"attention_mask must have the shape \(2, 3\).*got"
ZERO = "attention_mask is 0 everywhere in row"
BAD = {  # {case: (embeddings, mask, error, words of its message)}
    "embeddings no tensor": ([[1.0]], MASK, TypeError, f"token_embeddings {TENSOR} list"),
    "mask no tensor": (EMBEDDINGS, [[1, 1, 1]] * 2, TypeError, f"attention_mask {TENSOR} list"),
    "mask missing": (EMBEDDINGS, None, TypeError, f"attention_mask {TENSOR} NoneType"),
    "array": (EMBEDDINGS.numpy(), MASK, TypeError, f"token_embeddings {TENSOR} ndarray"),
    "whole numbers": (
        EMBEDDINGS.long(),
        MASK,
        TypeError,
        "token_embeddings must hold floating-point numbers; got torch.int64",
    ),
    "one sentence": (
        EMBEDDINGS[0],
        MASK[0],
        ValueError,
        r"shape \(batch, tokens, hidden\); got \(3, 4\)",
    ),
    "mask of one sentence": (EMBEDDINGS, MASK[0], ValueError, rf"{SHAPE} \(3,\)"),
    "mask turned": (EMBEDDINGS, MASK.t(), ValueError, rf"{SHAPE} \(3, 2\)"),
    "mask unsqueezed": (EMBEDDINGS, MASK.unsqueeze(-1), ValueError, rf"{SHAPE} \(2, 3, 1\)"),
    "swapped": (MASK, EMBEDDINGS, ValueError, "token_embeddings must have the shape"),
    "mask of weights": (EMBEDDINGS, MASK / 2, ValueError, "attention_mask must hold only 0 and 1"),
    "mask of twos": (EMBEDDINGS, MASK * 2, ValueError, "attention_mask must hold only 0 and 1"),
    "mask negative": (EMBEDDINGS, -MASK, ValueError, "attention_mask must hold only 0 and 1"),
    "mask not a number": (
        EMBEDDINGS,
        MASK * float("nan"),
        ValueError,
        "attention_mask must hold only 0 and 1",
    ),
    "all zero": (
        EMBEDDINGS,
        torch.tensor([[1, 1, 0], [0, 0, 0]]),
        ValueError,
        f"{ZERO} 1: there is nothing",
    ),
    "no tokens": (torch.zeros(2, 0, 4), torch.ones(2, 0), ValueError, f"{ZERO} 0"),
}


@each_pooling
@pytest.mark.parametrize("embeddings, mask, error, words", BAD.values(), ids=BAD)
def test_bad_input_is_named(pool, embeddings, mask, error, words):
    with pytest.raises(error, match=words):
        pool(embeddings, mask)


@pytest.mark.parametrize("dtype", FLOATS)
def test_normalised_vectors_have_length_one_and_are_those_of_the_library(dtype):
    vectors = (torch.randn(3, 5, 8, dtype=torch.float64) * 10).to(dtype)
    before = vectors.clone()
    unit = normalise(vectors)
    assert torch.equal(vectors, before), "the input is left as it was"
    lengths = unit.double().norm(dim=-1)
    # 1e-2: bfloat16 has 8 significant bits, so a number near 1 may be wrong by nearly 0.004
    torch.testing.assert_close(lengths, torch.ones_like(lengths), atol=1e-2, rtol=0)
    # the same numbers, shape and dtype
    torch.testing.assert_close(unit, torch.nn.functional.normalize(vectors, dim=-1))
    assert torch.equal(normalise(vectors[0, 0]), unit[0, 0]), "one vector alone"


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_zero_vector_stays_zero(dtype):
    zero = torch.zeros(2, 4, dtype=dtype)
    assert torch.equal(normalise(zero), zero)


@pytest.mark.parametrize(
    "value, got",
    [([1.0], "list"), (torch.ones(3, dtype=torch.int64), "torch.int64"), (None, "NoneType")],
)
def test_only_floating_point_tensors_are_normalised(value, got):
    with pytest.raises(
        TypeError, match=f"vectors must be a torch.Tensor of floating-point numbers; got {got}"
    ):
        normalise(value)
