"""Exercises of lesson 04, pooling. See `model.py` on cases and mistakes' swaps."""

import torch

from ..pooling import normalise
from .model import Case, completion, exercise, normal, padded


# The cases of both poolings. added_to_real: a number added to the vectors of real tokens only.
def _pooling_cases(rng, added_to_real=0.0):
    vectors, mask = padded(rng, [5, 2, 4], width=5, hidden=rng.randint(6, 9))
    vectors = vectors + added_to_real * mask.unsqueeze(-1)
    zeros = vectors.clone()
    zeros[[0, 1, 2], [2, 0, 3]] = 0  # one real token of each sentence
    return [
        Case("A batch without padding", normal(rng, 2, 4, 6), torch.ones(2, 4, dtype=torch.int64)),
        Case("Padding does not count", vectors, mask),
        Case("A real token may hold zeros", zeros, mask),
        Case("A sentence alone gives the same vector as in a batch", vectors[1:2], mask[1:2]),
        Case("A mask of true and false works too", vectors, mask.bool()),
        Case("Padding on the left does not count either", vectors.flip(1), mask.flip(1)),
    ]


def _mean_cases(rng):
    vectors, mask = padded(rng, [3, 5], width=5, hidden=6)
    return [
        *_pooling_cases(rng),
        Case("Token vectors in float64 give vectors in float64", vectors.double(), mask),
    ]


def _max_cases(rng):
    vectors, mask = padded(rng, [4, 2], width=4, hidden=7)

    # Vectors of `dtype`, and their mask. At real tokens the first number is `share` of the dtype's
    # lowest, and the others are up to 5% closer to 0.
    def lowest(dtype, share):
        bottom = share * torch.finfo(dtype).min
        low = bottom * (1 - 0.01 * vectors.abs().clamp(max=5).to(dtype))
        low[..., 0] = bottom
        return torch.where(mask.unsqueeze(-1) == 1, low, vectors.to(dtype)), mask

    return [
        # most numbers of real tokens are below 0, and most of padding above
        *_pooling_cases(rng, added_to_real=-4.0),
        Case("Numbers down to the lowest of float32", *lowest(torch.float32, 1)),
        # half of the lowest, so that differences of two such numbers do not overflow
        Case(
            "In float64, numbers far below the lowest of float32, give float64",
            *lowest(torch.float64, 0.5),
        ),
    ]


def _mean_pool(vectors, mask):
    real = mask.unsqueeze(-1).to(vectors.dtype)
    total = (vectors * real).sum(dim=1)
    count = real.sum(dim=1)
    return total / count


# The mask, as true and false, if all padding stood on the right: the ones of a row come first.
def _ones_first(mask):
    return torch.arange(mask.shape[1]) < mask.long().sum(dim=1, keepdim=True)


MEAN = exercise(
    "04-mean-pool",
    _mean_cases,
    _mean_pool,
    ("token_embeddings", "attention_mask"),
    strict=True,
    points=2,
)(
    padding_added={"vectors * real": "vectors"},
    padded_length={"/ count": "/ vectors.shape[1]"},
    padding_averaged={"total / count": "vectors.mean(dim=1)"},
    nonzero_counted={"count = real": "count = (vectors * real).any(dim=-1, keepdim=True)"},
    sum={" / count": ""},
    always_float32={"total / count": "(total / count).float()"},
    real_in_batch={"/ count": "/ mask.sum()"},
    upside_down=[{"real = mask": "real = (1 - mask)"}, {"real = mask": "real = (mask == 0)"}],
    right_only={"real = mask": "real = _ones_first(mask)"},
    # the first and the last real token of each sentence, [CLS] and [SEP], do not count
    special_left_out=lambda tokens, mask: torch.stack(
        [row[real.bool()][1:-1].mean(dim=0) for row, real in zip(tokens, mask, strict=True)]
    ),
    first_token={"total / count": "vectors[:, 0]"},
    not_along_tokens=[
        {"(vectors * real).sum(dim=1)": "(vectors * real).sum(dim=-1)"},
        {"dim=1": "dim=0"},
    ],
)


def _max_pool(vectors, mask):
    padding = (mask == 0).unsqueeze(-1)
    filled = vectors.masked_fill(padding, -torch.inf)
    return filled.amax(dim=1)


MAX = exercise(
    "04-max-pool",
    _max_cases,
    _max_pool,
    ("token_embeddings", "attention_mask"),
    strict=True,
    points=2,
)(
    padding_compared={"filled.amax": "vectors.amax"},
    padding_as_zero={"-torch.inf": "0.0"},
    values_and_places=[{"filled.amax(dim=1)": "tuple(filled.max(dim=1))"}, {"amax": "argmax"}],
    upside_down={"mask == 0": "mask == 1"},
    not_low_enough=[{"-torch.inf": low} for low in ("-1.0", "-100.0", "-1e3", "-1e4", "-1e9")],
    zeros_as_padding={
        "padding = (mask == 0).unsqueeze(-1)": "padding = vectors * mask.unsqueeze(-1) == 0"
    },
    always_float32={"filled.amax(dim=1)": "filled.amax(dim=1).float()"},
    right_only={"mask == 0": "~_ones_first(mask)"},
    first_token={"filled.amax(dim=1)": "vectors[:, 0]"},
    not_along_tokens=[{"dim=1": "dim=-1"}, {"dim=1": "dim=0"}, {"dim=1": "dim=(0, 1)"}],
)

# (token vectors, mask) -> pooled vectors. "cls" takes the first real token, wherever padding
# stands; "careless" is the mean with padding.
_POOLINGS = {
    "cls": lambda tokens, mask: tokens[torch.arange(len(tokens)), mask.argmax(dim=1)],
    "mean": _mean_pool,
    "max": _max_pool,
    "careless": lambda tokens, mask: tokens.mean(dim=1),
}


# The rows, each turned in a random direction by the angle that has the given cosine. Lengths stay.
#
# rows: (count, width). cosines: one for each row, or a single one for all.
def _turned(rng, rows, cosines):
    cosines = torch.tensor(cosines).unsqueeze(-1)
    sines = (1 - cosines**2).sqrt()
    directions = normalise(rows)
    random_rows = normal(rng, *rows.shape)
    # without its part along the row, a random vector is at a right angle to the row
    along = (random_rows * directions).sum(dim=1, keepdim=True)
    at_right_angles = normalise(random_rows - along * directions)
    return rows.norm(dim=1, keepdim=True) * (cosines * directions + sines * at_right_angles)


# Token vectors (sentences, tokens, 6) and mask of sentences with these numbers of tokens.
def _batch(rng, lengths, left=False):
    tokens, mask = padded(rng, lengths, max(lengths), hidden=6, left=left)
    # In this column all numbers are below 0, so that an answer that sets padding to 0 finds 0 as
    # the maximum.
    tokens[..., 0] = -1 - tokens[..., 0].abs()
    return tokens, mask


# The arguments of an answer: pooled vectors with the few digits of float16, token vectors, mask.
#
# pooling: a name in `_POOLINGS`. batch: token vectors and mask. pooled_length: token vectors are
# scaled so that all pooled vectors have this length; None leaves them as they are. cosines: of the
# stored vectors with the pooled ones, one for each row or one for all. scaled_to_1: the stored rows
# that get length 1, by default none.
def _stored(rng, pooling, batch, *, pooled_length=None, cosines=(1.0,), scaled_to_1=slice(0)):
    pool = _POOLINGS[pooling]
    tokens, mask = batch
    if pooled_length is not None:
        tokens = pooled_length * tokens / pool(tokens, mask).norm(dim=1)[:, None, None]
    stored = _turned(rng, pool(tokens, mask), cosines)
    stored[scaled_to_1] = normalise(stored[scaled_to_1])
    return stored.half().float(), tokens, mask


def _how_cases(rng):
    lengths = [5, *rng.sample([2, 3, 4], 3)]
    every_row, every_other_row = slice(None), slice(None, None, 2)
    one_pooling, another_pooling = rng.sample(sorted(_POOLINGS), 2)
    return [
        Case("Stored with few digits: cls", *_stored(rng, "cls", _batch(rng, lengths))),
        Case(
            "Stored with few digits: mean",
            *_stored(rng, "mean", _batch(rng, lengths), scaled_to_1=every_row, pooled_length=3),
        ),
        Case("Stored with few digits: max", *_stored(rng, "max", _batch(rng, lengths))),
        Case(
            "Stored with few digits: careless",
            *_stored(rng, "careless", _batch(rng, lengths), scaled_to_1=every_row),
        ),
        # 0.9988 and 0.9992 are closer to the limit of 0.999 than the mistakes of `other_limit`, and
        # further from it than the digits of float16 can move them
        Case(
            "A cosine of 0.9988 does not fit",
            *_stored(
                rng,
                another_pooling,
                _batch(rng, [3, 4]),
                cosines=[0.9988] * 2,
                scaled_to_1=every_row,
            ),
        ),
        Case(
            "A cosine of 0.9992 in every row fits",
            *_stored(
                rng,
                one_pooling,
                _batch(rng, [4, 3, 5]),
                cosines=[0.9992] * 3,
                scaled_to_1=every_row,
            ),
        ),
        Case(
            "A cosine of 0.9988 in one row does not fit",
            *_stored(
                rng,
                rng.choice(["cls", "mean", "max"]),
                _batch(rng, [3, 3, 5, 3]),
                cosines=[1, 1, 1, 0.9988],
            ),
        ),
        Case(
            "A row in the middle points the opposite way",
            *_stored(
                rng, "mean", _batch(rng, lengths), cosines=[1, -1.0, 1, 1], scaled_to_1=every_row
            ),
        ),
        Case(
            "Some rows scaled to length 1, padding on the left: max",
            *_stored(rng, "max", _batch(rng, lengths, left=True), scaled_to_1=every_other_row),
        ),
        Case(
            "Padding on the left: cls",
            *_stored(rng, "cls", _batch(rng, lengths, left=True), pooled_length=0.3),
        ),
        Case("Padding on the left: mean", *_stored(rng, "mean", _batch(rng, lengths, left=True))),
        Case("Only one row has padding: mean", *_stored(rng, "mean", _batch(rng, [4, 4, 2]))),
    ]


def _how_pooled(vectors, tokens, mask):
    lowest = {}
    for name, pool in _POOLINGS.items():
        pooled = pool(tokens, mask)
        cosines = torch.cosine_similarity(vectors, pooled, dim=1)
        lowest[name] = cosines.min()
    fitting = [name for name, cosine in lowest.items() if cosine > 0.999]  # the limit of the text
    return fitting[0] if fitting else "other"


HOW = exercise(
    "04-how-pooled",
    _how_cases,
    _how_pooled,
    points=2,
    arguments=("vectors", "token_embeddings", "attention_mask"),
)(
    # vectors fit if they differ by no more than the digits of float16 explain
    not_rescaled={"cosines.min()": "(vectors - pooled).abs().max()", "> 0.999": "<= 1e-2"},
    product_for_cosine=[
        {"cosines.min()": "(vectors * pooled).sum(dim=1).min()"},
        {"cosines.min()": "(vectors * normalise(pooled)).sum(dim=1).min()"},
    ],
    always_other={"0.999": "2"},  # no cosine is above 2
    other_limit=[{"0.999": "1 - 1e-5"}, {"0.999": "0.99"}],
    not_each_row=[
        {"dim=1": "dim=0"},
        {"cosines.min()": "cosines.mean()"},
        {"(vectors, pooled, dim=1)": "(vectors.flatten(), pooled.flatten(), dim=0)"},
    ],
    one_row_only=[{"cosines.min()": "cosines.max()"}, {"cosines.min()": "cosines[0]"}],
    position_zero={"pooled = ": "pooled = tokens[:, 0] if name == 'cls' else "},
    right_only=[
        {"pool(tokens, mask)": f"pool(tokens, _ones_first(mask) if name in {names} else mask)"}
        for names in (("mean", "max"), ("mean",), ("max",))
    ],
    maximum_with_padding=[
        {"pooled = ": f"pooled = {compared}.amax(dim=1) if name == 'max' else "}
        for compared in ("tokens", "(tokens * mask[..., None])")
    ],
    best_fit={'fitting[0] if fitting else "other"': "max(lowest, key=lowest.get)"},
)


def _normalise_cases(rng):
    rows = normal(rng, 4, rng.randint(5, 8))
    unequal = rows * torch.tensor([[0.1], [3.0], [10.0], [0.5]])
    # a row may hold a 0, add up to 0, or hold nothing above 0
    unequal[0, 0] = 0
    unequal[1] = torch.tensor([3.0, -3.0] + [0.0] * (unequal.shape[1] - 2))
    unequal[2] = -rows[2].abs()
    return [
        Case("Every row has length 1", rows),
        Case("Every row has length 1", unequal),
        Case("One row alone", unequal[1:2]),
        Case(
            "A row of length 1e-10 gets length 1 too",
            normalise(rows) * torch.tensor([[1.0], [1e-10]] * 2),
        ),
        Case("A row of zeros stays zeros", rows.index_fill(0, torch.tensor([2]), 0.0)),
        Case("Rows in float64 give rows in float64", rows.double()),
    ]


def _normalise(vectors):
    lengths = vectors.norm(dim=1, keepdim=True)
    return vectors / lengths.clamp(min=1e-12)  # only a row of zeros is as short


NORMALISE = exercise("04-normalise", _normalise_cases, _normalise, strict=True)(
    nan_for_zeros={".clamp(min=1e-12)": ""},
    bound_too_large=[
        *({"lengths.clamp(min=1e-12)": f"(lengths + 1e-{digits})"} for digits in (9, 8, 6, 5, 4)),
        *({"min=1e-12": f"min=1e-{digits}"} for digits in (9, 8, 6, 5, 4)),
    ],
    always_float32={
        "vectors / lengths.clamp(min=1e-12)": "(vectors / lengths.clamp(min=1e-12)).float()"
    },
    one_length={"dim=1, keepdim=True": ""},
    columns_scaled={"dim=1": "dim=0"},
    squared_length={"keepdim=True)": "keepdim=True) ** 2"},
    sum_of_row={"norm(": "sum("},
    absolute_sum={"norm(": "abs().sum("},
    largest_value=[{"norm(": "amax("}, {"norm(": "abs().amax("}],
    lengths_returned={"return vectors / lengths.clamp(min=1e-12)": "return lengths"},
)


def _baseline_cases(rng):
    # around a point off the origin, so that all cosines tend to be above 0
    cone = normal(rng, rng.randint(5, 7), rng.randint(6, 9)) + 1.5
    return [
        Case("Vectors in a cone", cone),
        Case(
            "Vectors spread around the origin",
            # three at right angles to each other, and corners of a cube
            torch.cat([2 * torch.eye(3, cone.shape[1]), cone.sign()]),
        ),
        Case(
            "The lengths of the vectors do not matter",
            cone * torch.linspace(0.2, 6, len(cone)).unsqueeze(-1),
        ),
        Case("Two vectors make one pair", cone[:2]),
        Case("Two equal rows are a pair like any other", torch.cat([cone, cone[:1]])),
    ]


def _baseline(vectors):
    unit = normalise(vectors)
    cosines = unit @ unit.T
    n = len(vectors)
    total = cosines.sum() - cosines.diagonal().sum()
    return (total / (n * (n - 1))).item()


BASELINE = exercise("04-baseline", _baseline_cases, _baseline, points=2)(
    diagonal_in_mean=[
        {"(total /": "(cosines.sum() /", "n * (n - 1)": "n * n"},
        {"(total /": "(cosines.triu().sum() /", "n * (n - 1)": "n * (n + 1) / 2"},
    ],
    divided_by_n_squared={"n * (n - 1)": "n * n"},
    diagonal_added={"(total /": "(cosines.sum() /"},
    once_and_twice=[{"n * (n - 1)": "n * (n - 1) / 2"}, {"(total /": "(cosines.triu(1).sum() /"}],
    not_normalised=[
        {"normalise(vectors)": "vectors"},
        {"normalise(vectors)": "vectors", "cosines.diagonal().sum()": "n"},
    ],
    cells_by_value={"(total / (n * (n - 1)))": "cosines[cosines < 0.9999].mean()"},
    neighbours_only={"(total / (n * (n - 1)))": "cosines.diagonal(1).mean()"},
    sum={" / (n * (n - 1))": ""},
)


def _first_token_cases(rng):
    vectors, mask = padded(rng, [5, 2, 4], width=6, hidden=4)
    return [
        Case("Padding on the right", vectors, mask),
        Case("Padding on the left", vectors.flip(1), mask.flip(1)),
        Case("One sentence, one real token", normal(rng, 1, 4, 3), torch.tensor([[0, 0, 0, 1]])),
    ]


def _first_real_token(token_embeddings, attention_mask):
    first = attention_mask.argmax(dim=1)
    return token_embeddings[torch.arange(len(first)), first]


FIRST_TOKEN = completion("04-first-real-token", _first_token_cases, _first_real_token)(
    whole_mask_searched={"argmax(dim=1)": "argmax().repeat(len(attention_mask))"},
    place_0_taken={"argmax(dim=1)": "argmax(dim=1) * 0"},
    padding_found={"argmax": "argmin"},
    values_and_places={"argmax(dim=1)": "max(dim=1).values"},
    dimension_kept={"argmax(dim=1)": "argmax(dim=1, keepdim=True)"},
    one_too_far=[
        {", first": ", first - 1"},
        {", first": ", (first + 1).clamp(max=attention_mask.shape[1] - 1)"},
    ],
    padding_counted={
        "attention_mask.argmax(dim=1)": "attention_mask.shape[1] - attention_mask.sum(dim=1)"
    },
    last_real_token={
        "attention_mask.argmax(dim=1)": (
            "attention_mask.shape[1] - 1 - attention_mask.flip(1).argmax(dim=1)"
        )
    },
)


def _all_cosines_cases(rng):
    # not 5, the number of documents: without .T the shapes must not fit
    hidden = rng.choice([4, 6, 7])
    documents = normal(rng, 5, hidden)
    return [
        Case("Two queries, five documents", normal(rng, 2, hidden), documents),
        Case("As many queries as documents", normal(rng, 5, hidden), documents),
    ]


def _all_cosines(queries, documents):
    queries = normalise(queries)
    documents = normalise(documents)
    return queries @ documents.T


ALL_COSINES = completion("04-all-cosines", _all_cosines_cases, _all_cosines)(
    documents_first={"queries @ documents.T": "documents @ queries.T"},
    row_by_row={"queries @ documents.T": "(queries * documents).sum(dim=1)"},
    with_itself=[
        {"queries @ documents.T": f"{rows} @ {rows}.T"} for rows in ("queries", "documents")
    ],
    softmax_taken={"queries @ documents.T": "(queries @ documents.T).softmax(dim=1)"},
    lengths_divided_again=[
        {"documents.T": f"documents.T / {more}"}
        for more in ("queries.shape[1]", "queries.shape[1] ** 0.5")
    ],
)
