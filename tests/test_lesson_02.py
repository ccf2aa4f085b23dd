"""What lesson 02 rebuilds gives the same results as the libraries on the same input."""

import random
import re

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from course_utils import load_encoder, load_reviews
from course_utils.exercises import find, written_solution


def in_both_forms(exercise_id):
    """The form that the check requires, and that of the lesson's solution cell."""
    names = {"torch": torch}
    text = written_solution(find(exercise_id))
    exec(text, names)
    return [
        pytest.param(find(exercise_id).reference, id="reference"),
        pytest.param(names[re.search(r"def (\w+)", text)[1]], id="lesson"),
    ]


@pytest.fixture(scope="module")
def tokenizer():
    return load_encoder()[0]


def awkward_batches():
    rng = random.Random(0)
    yield [[101, 102]]
    yield [[101, 102], [101, 7592, 102], [101, 102]]
    yield [[], [101, 102]]
    yield [[101, 0, 0, 102], [101, 0, 102]]  # the text contains [PAD]
    yield [[5] * 600, [101, 102]]
    for _ in range(50):
        yield [
            [rng.randrange(30522) for _ in range(rng.randint(0, 30))]
            for _ in range(rng.randint(1, 9))
        ] + [[101]]


@pytest.mark.parametrize("pad_batch", in_both_forms("02-pad-batch"))
def test_padding_equals_the_tokenizers(pad_batch, tokenizer):
    for batch in awkward_batches():
        theirs = tokenizer.pad({"input_ids": [list(ids) for ids in batch]})
        ids, mask = pad_batch(batch, tokenizer.pad_token_id)
        assert ids == theirs["input_ids"] and mask == theirs["attention_mask"]


@pytest.fixture(scope="module")
def truncated(tokenizer):
    """Pairs of the arguments of `truncate` and what the tokenizer returns."""
    texts = [
        "",
        "Paris",
        "😀🎉 Ünïcode  \t\n zero\u200b",
        "[SEP] [CLS] [PAD]",
        "北京",
        "a" * 300,
        "long " * 700,
    ]
    texts += load_reviews("imdb")["text"].sample(3, random_state=0).tolist()
    pairs = []
    for text in texts:
        whole = tokenizer(text)["input_ids"]
        for n in {2, 3, 4, 5, 6, 17, max(2, len(whole) - 1), len(whole), len(whole) + 1, 256, 512}:
            pairs.append(((whole, n), tokenizer(text, truncation=True, max_length=n)["input_ids"]))
    return pairs


@pytest.mark.parametrize("truncate", in_both_forms("02-truncate"))
def test_truncation_equals_the_tokenizers(truncate, truncated):
    for args, theirs in truncated:
        assert truncate(*args) == theirs


@pytest.mark.parametrize("masked_softmax", in_both_forms("02-find-the-bug"))
def test_masked_weights_equal_torchs_attention(masked_softmax):
    scores = 3 * torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
    mask = (torch.arange(8) < torch.tensor([8, 1, 3, 5, 7])[:, None]).long()
    # One query per row: its product with key j is score j; as values, `eye` returns the weights.
    eye, hidden = torch.eye(8).expand(5, 8, 8), mask.bool()[:, None]
    weights = scaled_dot_product_attention(scores[:, None], eye, eye, attn_mask=hidden, scale=1.0)
    assert torch.allclose(masked_softmax(scores, mask), weights[:, 0], atol=1e-6)
