"""Answers to lesson 04; `__init__.py` says what the tables are."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from course_utils import cls_pool


def mean(tokens, mask):
    mask = mask.to(tokens.dtype)
    return torch.einsum("bth,bt->bh", tokens, mask) / mask.sum(-1)[:, None]


# The vectors of each text's real tokens, as lists of numbers.
def real_rows(tokens, mask):
    return [vectors[real == 1].tolist() for vectors, real in zip(tokens, mask)]


# An answer that applies `pool` to each column of a text's real tokens; `zip` yields the columns.
def pooled_in_lists(pool):
    return lambda tokens, mask: torch.tensor(
        [list(map(pool, zip(*rows))) for rows in real_rows(tokens, mask)], dtype=tokens.dtype
    )


def maximum(tokens, mask):
    return torch.from_numpy(
        tokens.numpy().max(axis=1, where=mask.numpy()[..., None] != 0, initial=-np.inf)
    )


# Divides each row by its length, and a row of zeros by 1.
def unit_by_hypot(vectors):
    rows = [np.array(row) / (math.hypot(*row) or 1) for row in vectors.tolist()]
    return torch.tensor(np.array(rows), dtype=vectors.dtype)


def all_above_the_limit(vectors, pooled):
    return (F.cosine_similarity(vectors, pooled) > 1 - 1e-3).all()


# A right answer, if `agree(vectors, pooled)` tells rightly whether two tables of vectors agree.
def pooling_by_cosines(vectors, tokens, mask, agree=all_above_the_limit):
    ways = {
        "cls": cls_pool,
        "mean": mean,
        "max": maximum,
        "careless": lambda tokens, _: tokens.mean(1),
    }
    fitting = [name for name, pool in ways.items() if agree(vectors, pool(tokens, mask))]
    return fitting[0] if fitting else "other"


def cosine_table(vectors):
    unit = F.normalize(vectors)
    return unit @ unit.T


def baseline_in_numpy(vectors):
    return cosine_table(vectors).numpy()[~np.eye(len(vectors), dtype=bool)].mean()


RIGHT = {
    "04-mean-pool": [
        mean,
        pooled_in_lists(lambda numbers: sum(numbers) / len(numbers)),
        lambda tokens, mask: torch.stack(
            [vectors[real == 1].mean(dim=0) for vectors, real in zip(tokens, mask)]
        ),
    ],
    "04-max-pool": [
        maximum,
        pooled_in_lists(max),
        lambda tokens, mask: (
            torch.where(mask.bool()[..., None], tokens, -torch.inf).max(dim=1).values
        ),
    ],
    "04-normalise": [
        unit_by_hypot,
        lambda vectors: torch.nan_to_num(
            vectors.double() / torch.linalg.norm(vectors.double(), dim=1, keepdim=True)
        ).to(vectors.dtype),
        lambda vectors: torch.nn.functional.normalize(vectors, dim=1),
    ],
    "04-how-pooled": [
        pooling_by_cosines,
        lambda *args: np.array(pooling_by_cosines(*args)),
        lambda *args: np.str_(pooling_by_cosines(*args)),
    ],
    "04-baseline": [
        baseline_in_numpy,
        lambda *args: baseline_in_numpy(*args).item(),
        # the squared length of the sum of unit vectors is that of each, 1, and each cosine twice
        lambda vectors: (
            (F.normalize(vectors).sum(dim=0).square().sum() - len(vectors))
            / (len(vectors) * (len(vectors) - 1))
        ),
    ],
}

COMPLETED = {
    "04-first-real-token": [
        lambda tokens, mask: torch.stack(
            [row[real.tolist().index(1)] for row, real in zip(tokens, mask)]
        ),
        lambda tokens, mask: [rows[0] for rows in real_rows(tokens, mask)],
        # `argmax` finds the first of equal numbers
        lambda tokens, mask: tokens.numpy()[
            np.arange(len(tokens)), np.argmax(mask.numpy() == 1, axis=1)
        ],
        # `gather` needs the place once for each number of the vector
        lambda tokens, mask: tokens.gather(
            1, mask.max(1).indices[:, None, None].expand(-1, 1, tokens.shape[2])
        ).squeeze(1),
        # a sum of the vectors, weighted by 1 at the first real token and 0 elsewhere
        lambda tokens, mask: torch.einsum(
            "bth,bt->bh", tokens.double(), (mask * (mask.cumsum(1) == 1)).double()
        ),
        # the place equals the number of positions before the first 1
        lambda tokens, mask: tokens[range(len(tokens)), (mask.cumsum(dim=1) == 0).sum(dim=1)],
        # the lowest place of a real token; padding counts as a place behind the last
        lambda tokens, mask: tokens[
            range(len(tokens)),
            torch.where(mask == 1, torch.arange(mask.shape[1]), mask.shape[1]).amin(1),
        ],
    ],
    "04-all-cosines": [
        lambda queries, documents: F.cosine_similarity(queries[:, None], documents[None], dim=2),
        # cell by cell
        lambda queries, documents: [
            [float(query @ document) for document in unit_by_hypot(documents)]
            for query in unit_by_hypot(queries)
        ],
        lambda queries, documents: np.einsum(
            "qh,dh->qd", *(F.normalize(rows.double()).numpy() for rows in (queries, documents))
        ),
        # vectors of length 1: |x - y|² is 2 - 2 x·y
        lambda queries, documents: (
            1 - torch.cdist(F.normalize(queries), F.normalize(documents)) ** 2 / 2
        ),
        # queries are the first rows and documents the last columns of the table of all with all
        lambda queries, documents: cosine_table(torch.cat([queries, documents]))[
            : len(queries), len(queries) :
        ],
        lambda queries, documents: torch.stack(
            [F.normalize(documents) @ row / row.norm() for row in queries]
        ),
    ],
}

WRONG = {
    "04-normalise": [(lambda vectors: 0.5 * F.normalize(vectors), "times 0.5")],
    "04-how-pooled": [
        (lambda *args: pooling_by_cosines(*args, agree=torch.allclose), "too strict")
    ],
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
        (  # leaves out the first real token
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
        # fails at a mask of booleans, which torch does not subtract
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
        (  # returns zeros for a row that contains a 0
            "scaled to length 1",
            lambda vectors: F.normalize(vectors) * vectors.all(dim=1, keepdim=True),
        ),
        (  # returns zeros for a row with the sum 0
            "scaled to length 1",
            lambda vectors: F.normalize(vectors) * (vectors.sum(1, keepdim=True) != 0),
        ),
        (  # returns zeros for a row without a positive number
            "scaled to length 1",
            lambda vectors: F.normalize(vectors) * (vectors.amax(1, keepdim=True) > 0),
        ),
    ],
    "04-how-pooled": [
        (  # calls the mean over all positions "mean"
            "the mean over all positions, including padding",
            lambda *args: pooling_by_cosines(*args).replace("careless", "mean"),
        ),
        (  # leaves out the last row
            "only one row does",
            lambda vectors, tokens, mask: pooling_by_cosines(vectors[:-1], tokens[:-1], mask[:-1]),
        ),
        (  # looks only at the first and the last row
            "in every row",
            lambda *args: pooling_by_cosines(
                *args,
                agree=lambda vectors, pooled: (
                    F.cosine_similarity(vectors, pooled)[[0, -1]].min() > 1 - 1e-3
                ),
            ),
        ),
        (  # accepts opposite vectors
            "the cosine of its result with `vectors`",
            lambda *args: pooling_by_cosines(
                *args,
                agree=lambda vectors, pooled: (
                    F.cosine_similarity(vectors, pooled).abs().min() > 1 - 1e-3
                ),
            ),
        ),
        (  # returns "none" instead
            'If there is no such pooling, return `"other"`',
            lambda *args: pooling_by_cosines(*args).replace("other", "none"),
        ),
        (  # expects vectors of length 1, and allows 1e-2 for the few digits
            "may or may not have been scaled to length 1",
            lambda *args: pooling_by_cosines(
                *args,
                agree=lambda vectors, pooled: torch.allclose(
                    vectors, F.normalize(pooled), atol=1e-2
                ),
            ),
        ),
    ],
    "04-baseline": [
        (  # leaves out pairs with a cosine of 0, with those that `triu` sets to 0
            "over all pairs of rows",
            lambda vectors: cosine_table(vectors)[cosine_table(vectors).triu(1) != 0].mean(),
        ),
        # one mean for each row, without the cosine of 1 with itself
        ("as one number", lambda vectors: (cosine_table(vectors).sum(1) - 1) / (len(vectors) - 1)),
    ],
}
