"""What lesson 02 rebuilds gives the same results as the libraries on the same input."""

import random
import re

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from course_utils import load_encoder, load_reviews
from course_utils.exercises import find, written_solution


def in_both_forms(exercise_id):
    """Values for `parametrize`: the function that the check compares with, and the one that the
    lesson's solution cell defines.
    """
    names = {"torch": torch}
    solution = written_solution(find(exercise_id))
    exec(solution, names)
    function_name = re.search(r"def (\w+)", solution)[1]
    return [
        pytest.param(find(exercise_id).reference, id="reference"),
        pytest.param(names[function_name], id="lesson"),
    ]


@pytest.fixture(scope="module")
def tokenizer():
    return load_encoder()[0]


CLS, SEP, PAD, HELLO = 101, 102, 0, 7592  # ids in BERT's vocabulary
VOCABULARY_SIZE = 30_522  # BERT's
AWKWARD_BATCHES = [
    [[CLS, SEP]],
    [[CLS, SEP], [CLS, HELLO, SEP], [CLS, SEP]],
    [[], [CLS, SEP]],
    [[CLS, PAD, PAD, SEP], [CLS, PAD, SEP]],  # the text contains [PAD]
    [[5] * 600, [CLS, SEP]],  # more than the 512 ids that BERT reads; 5 is a token without a use
]


def random_batch(rng):
    """Up to 9 rows of up to 30 ids each, which may all be empty, and a last one that is not."""
    lengths = [rng.randint(0, 30) for _ in range(rng.randint(1, 9))]
    return [[rng.randrange(VOCABULARY_SIZE) for _ in range(length)] for length in lengths] + [[CLS]]


@pytest.mark.parametrize("pad_batch", in_both_forms("02-pad-batch"))
def test_padding_equals_the_tokenizers(pad_batch, tokenizer):
    rng = random.Random(0)
    for batch in [*AWKWARD_BATCHES, *(random_batch(rng) for _ in range(50))]:
        library = tokenizer.pad({"input_ids": [list(ids) for ids in batch]})
        ids, mask = pad_batch(batch, tokenizer.pad_token_id)
        assert {"input_ids": ids, "attention_mask": mask} == dict(library)


AWKWARD_TEXTS = [
    "",
    "Paris",
    "😀🎉 Ünïcode  \t\n zero\u200b",
    "[SEP] [CLS] [PAD]",
    "北京",
    "a" * 300,  # one word, longer than the tokenizer cuts: [UNK]
    "long " * 700,  # more tokens than the highest limit
]


@pytest.fixture(scope="module")
def truncated(tokenizer):
    """[(ids of a text, a limit, the ids that the tokenizer keeps)]

    The limits are 2, the lowest, at which only the two special tokens stay, and some above it; the
    usual 256 and 512; and for each text its length, one less and one more.
    """
    reviews = load_reviews("imdb")["text"].sample(3, random_state=0).tolist()
    cases = []
    for text in [*AWKWARD_TEXTS, *reviews]:
        ids = tokenizer(text)["input_ids"]
        about_its_length = {max(2, len(ids) - 1), len(ids), len(ids) + 1}
        for limit in {2, 3, 4, 5, 6, 17, 256, 512} | about_its_length:
            kept = tokenizer(text, truncation=True, max_length=limit)["input_ids"]
            cases.append((ids, limit, kept))
    return cases


@pytest.mark.parametrize("truncate", in_both_forms("02-truncate"))
def test_truncation_equals_the_tokenizers(truncate, truncated):
    for ids, limit, kept in truncated:
        assert truncate(ids, limit) == kept


@pytest.mark.parametrize("masked_softmax", in_both_forms("02-find-the-bug"))
def test_masked_weights_equal_torchs_attention(masked_softmax):
    # With unit vectors as keys, a query's scores are its own numbers; as values, they return the
    # weights. The factor 3 makes the weights clearly unequal.
    scores = 3 * torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
    mask = (torch.arange(8) < torch.tensor([[8], [1], [3], [5], [7]])).long()  # five lengths
    units, is_visible = torch.eye(8).expand(5, 8, 8), mask.bool()[:, None]
    weights = scaled_dot_product_attention(
        scores[:, None], units, units, attn_mask=is_visible, scale=1.0
    )
    assert torch.allclose(masked_softmax(scores, mask), weights[:, 0], atol=1e-6)
