"""Answers to lesson 04; `__init__.py` says what the tables are."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from course_utils import cls_pool


def mean(tokens, mask):
    mask = mask.to(tokens.dtype)
    return torch.einsum("bth,bt->bh", tokens, mask) / mask.sum(-1)[:, None]


def real_rows(tokens, mask):
    return [vectors[real == 1].tolist() for vectors, real in zip(tokens, mask)]


def mean_in_lists(tokens, mask):
    means = [[sum(column) / len(rows) for column in zip(*rows)] for rows in real_rows(tokens, mask)]
    return torch.tensor(means, dtype=tokens.dtype)


def maximum(tokens, mask):
    return torch.from_numpy(
        tokens.numpy().max(axis=1, where=mask.numpy()[..., None] != 0, initial=-np.inf)
    )


def max_in_lists(tokens, mask):
    return torch.tensor(
        [[max(column) for column in zip(*rows)] for rows in real_rows(tokens, mask)],
        dtype=tokens.dtype,
    )


def unit_in_lists(vectors):
    rows = [[number / (math.hypot(*row) or 1) for number in row] for row in vectors.tolist()]
    return torch.tensor(rows, dtype=vectors.dtype)


# A right answer, if `same(vectors, pooled)` tells rightly whether two tables of vectors agree.
def how(
    vectors,
    tokens,
    mask,
    same=lambda vectors, pooled: (F.cosine_similarity(vectors, pooled) > 0.999).all(),
):
    ways = {
        "cls": cls_pool,
        "mean": mean,
        "max": maximum,
        "careless": lambda tokens, _: tokens.mean(1),
    }
    fitting = [name for name, pool in ways.items() if same(vectors, pool(tokens, mask))]
    return [*fitting, "other"][0]


def table(vectors):
    unit = F.normalize(vectors)
    return unit @ unit.T


def baseline_in_numpy(vectors):
    return table(vectors).numpy()[~np.eye(len(vectors), dtype=bool)].mean()


RIGHT = {
    "04-mean-pool": [
        mean,
        mean_in_lists,
        lambda tokens, mask: torch.stack(
            [vectors[real == 1].mean(dim=0) for vectors, real in zip(tokens, mask)]
        ),
    ],
    "04-max-pool": [
        maximum,
        max_in_lists,
        lambda tokens, mask: (
            torch.where(mask.bool()[..., None], tokens, -torch.inf).max(dim=1).values
        ),
    ],
    "04-normalise": [
        unit_in_lists,
        lambda vectors: torch.nan_to_num(
            vectors.double() / torch.linalg.norm(vectors.double(), dim=1, keepdim=True)
        ).to(vectors.dtype),
        lambda vectors: torch.nn.functional.normalize(vectors, dim=1),
    ],
    "04-how-pooled": [how, lambda *args: np.array(how(*args)), lambda *args: np.str_(how(*args))],
    "04-baseline": [
        baseline_in_numpy,
        lambda *args: baseline_in_numpy(*args).item(),
        lambda *args: np.array(baseline_in_numpy(*args)),
    ],
}

COMPLETED = {
    "04-first-real-token": [
        lambda tokens, mask: torch.stack(
            [row[real.tolist().index(1)] for row, real in zip(tokens, mask)]
        ),
        lambda tokens, mask: [rows[0] for rows in real_rows(tokens, mask)],
        lambda tokens, mask: tokens.numpy()[
            np.arange(len(tokens)), np.argmax(mask.numpy() == 1, axis=1)
        ],
        lambda tokens, mask: tokens.gather(
            1, mask.max(1).indices[:, None, None].expand(-1, 1, tokens.shape[2])
        ).squeeze(1),
        lambda tokens, mask: torch.einsum(
            "bth,bt->bh", tokens.double(), (mask * (mask.cumsum(1) == 1)).double()
        ),
        lambda tokens, mask: tokens[range(len(tokens)), (mask.cumsum(dim=1) == 0).sum(dim=1)],
        lambda tokens, mask: tokens[
            range(len(tokens)),
            torch.where(mask == 1, torch.arange(mask.shape[1]), mask.shape[1]).amin(1),
        ],
    ],
    "04-all-cosines": [
        lambda queries, documents: F.cosine_similarity(queries[:, None], documents[None], dim=2),
        lambda queries, documents: [
            [
                sum(map(math.prod, zip(query, document)))
                / math.hypot(*query)
                / math.hypot(*document)
                for document in documents.tolist()
            ]
            for query in queries.tolist()
        ],
        lambda queries, documents: np.einsum(
            "qh,dh->qd", *(F.normalize(rows.double()).numpy() for rows in (queries, documents))
        ),
        lambda queries, documents: (
            1 - torch.cdist(F.normalize(queries), F.normalize(documents)) ** 2 / 2
        ),
        lambda queries, documents: table(torch.cat([queries, documents]))[
            : len(queries), len(queries) :
        ],
        lambda queries, documents: torch.stack(
            [F.normalize(documents) @ row / row.norm() for row in queries]
        ),
    ],
}

WRONG = {
    "04-normalise": [(lambda vectors: 0.5 * F.normalize(vectors), "times 0.5")],
    "04-how-pooled": [(lambda *args: how(*args, same=torch.allclose), "too strict")],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "04-mean-pool": [
        (
            "a tensor of shape (batch, hidden)",
            lambda tokens, mask: mean(tokens, mask).numpy(),
            "returned an ndarray",
        ),
        (
            "Its dtype must be that of the token vectors",
            lambda tokens, mask: mean(tokens, mask).double(),
            "dtype",
        ),
        (  # leaves the first real token out
            "Only real tokens count",
            lambda tokens, mask: torch.stack(
                [vectors[real.bool()][1:].mean(0) for vectors, real in zip(tokens, mask)]
            ),
        ),
        (  # takes a mask of 1 and 0 for indices
            "The mask may contain 1 and 0",
            lambda tokens, mask: torch.stack(
                [vectors[real].mean(0) for vectors, real in zip(tokens, mask)]
            ),
        ),
        # torch subtracts no booleans
        ("or true and false", lambda tokens, mask: mean(tokens, 1 - (1 - mask))),
    ],
    "04-max-pool": [
        # computes in float32, whatever the dtype
        ("the same arguments", lambda tokens, mask: maximum(tokens.float(), mask).to(tokens.dtype)),
        (
            "a tensor of shape (batch, hidden)",
            lambda tokens, mask: maximum(tokens, mask).numpy(),
            "returned an ndarray",
        ),
    ],
    "04-normalise": [
        (
            "a tensor of the same shape and dtype",
            lambda vectors: F.normalize(vectors).numpy(),
            "returned an ndarray",
        ),
        *(
            (  # zeros for some rows
                "scaled to length 1",
                lambda vectors, test=test: (
                    F.normalize(vectors) * torch.stack([test(row) for row in vectors])[:, None]
                ),
            )
            for test in (
                lambda row: row.all(),  # zeros for a row with a 0
                lambda row: row.sum() != 0,  # ... with the sum 0
                lambda row: row.max() > 0,  # ... without a positive number
            )
        ),
    ],
    "04-how-pooled": [
        (  # takes the mean over all positions for the masked one
            "the mean over all positions, including padding",
            lambda *args: {"careless": "mean"}.get(how(*args), how(*args)),
        ),
        (  # accepts a little less
            "the cosine of its result with `vectors` is above 1 - 1e-3",
            lambda *args: how(
                *args,
                same=lambda vectors, pooled: F.cosine_similarity(vectors, pooled).min() > 0.9985,
            ),
        ),
        (  # looks only at the first and the last row
            "in every row",
            lambda *args: how(
                *args,
                same=lambda vectors, pooled: (
                    F.cosine_similarity(vectors, pooled)[[0, -1]].min() > 0.999
                ),
            ),
        ),
        (  # accepts opposite vectors
            "the cosine of its result with `vectors`",
            lambda *args: how(
                *args,
                same=lambda vectors, pooled: (
                    F.cosine_similarity(vectors, pooled).abs().min() > 0.999
                ),
            ),
        ),
        (
            'If there is no such pooling, return `"other"`',
            lambda *args: {"other": "none"}.get(how(*args), how(*args)),
        ),
        (  # expects vectors of length 1
            "may or may not have been scaled to length 1",
            lambda *args: how(
                *args,
                same=lambda vectors, pooled: torch.allclose(
                    vectors, F.normalize(pooled), atol=1e-2
                ),
            ),
        ),
        (  # leaves the last row out
            "only one row does",
            lambda vectors, tokens, mask: how(vectors[:-1], tokens[:-1], mask[:-1]),
        ),
    ],
    "04-baseline": [
        (  # leaves pairs with a cosine of 0 out
            "over all pairs of rows",
            lambda vectors: table(vectors)[table(vectors).triu(1) != 0].mean(),
        ),
        # one for each row
        ("as one number", lambda vectors: (table(vectors).sum(1) - 1) / (len(vectors) - 1)),
    ],
}
