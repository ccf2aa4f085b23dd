"""Answers to lesson 00; `__init__.py` says what the tables are."""

import statistics

import numpy as np
import torch
from scipy.spatial.distance import cdist


# The similarities of sentence `i` to all but itself.
def others_of(similarity, i):
    return [float(value) for place, value in enumerate(similarity[i]) if place != i]


def odd_by_min(similarity):
    means = [statistics.fmean(others_of(similarity, i)) for i in range(len(similarity))]
    return means.index(min(means))


def kept_by_loop(table, keep):
    pairs = zip(table.flatten().tolist(), keep.flatten().tolist())
    return statistics.fmean(number for number, is_kept in pairs if is_kept)


def nearest_in_float32(similarity, i):
    order = torch.tensor(similarity[i], dtype=torch.float32).argsort(descending=True)
    return order[order != i][0].item()


def weighted_sums(vectors, factors):
    return torch.einsum("swn,sw->sn", vectors, factors)


RIGHT = {
    "00-nearest": [
        nearest_in_float32,
        lambda similarity, i: max(
            (place for place in range(len(similarity)) if place != i),
            key=lambda place: similarity[i, place],
        ),
        lambda *args: np.array(nearest_in_float32(*args)),
    ],
    "00-odd-one-out": [
        odd_by_min,
        lambda similarity: np.nanmean(
            np.where(np.eye(len(similarity)), np.nan, similarity.astype(np.float64)), axis=1
        ).argmin(),
        lambda *args: np.array(odd_by_min(*args)),
    ],
    "00-shares": [
        lambda table: (table.T / table.sum(dim=1)).T.numpy(),
        lambda table: [[number / sum(row) for number in row] for row in table.tolist()],
        lambda table: torch.nn.functional.normalize(table.double(), p=1, dim=1),
        lambda table: (table.log() - table.sum(1, keepdim=True).log()).exp(),
    ],
    "00-weighted-sum": [
        weighted_sums,
        lambda *args: weighted_sums(*args).tolist(),
        lambda vectors, factors: np.sum(vectors.numpy() * factors.numpy()[..., None], axis=1),
    ],
    "00-kept-mean": [
        kept_by_loop,
        lambda table, keep: np.mean(table.numpy()[keep.numpy() == 1]),
        lambda *args: np.array(kept_by_loop(*args)),
    ],
}

COMPLETED = {
    "00-one-with-all": [
        lambda vectors, vector: [sum(x * y for x, y in zip(row, vector)) for row in vectors],
        lambda vectors, vector: np.einsum(
            "nd,d->n", vectors.astype(np.float32), vector.astype(np.float32)
        ),
        lambda vectors, vector: torch.mv(torch.from_numpy(vectors), torch.from_numpy(vector)),
        # vectors of length 1: |x - y|² is 2 - 2 x·y
        lambda vectors, vector: 1 - np.linalg.norm(vectors - vector, axis=1) ** 2 / 2,
        lambda vectors, vector: 1 - cdist(vectors, [vector], "cosine")[:, 0],
    ],
    "00-ranked": [
        lambda row: np.argsort(row)[::-1],
        lambda row: sorted(range(len(row)), key=lambda place: row[place], reverse=True),
        # for each value, from the highest, all places that hold it
        lambda row: tuple(
            place for value in sorted({*row})[::-1] for place in np.flatnonzero(row == value)
        ),
        lambda row: list(torch.tensor(row, dtype=torch.float32).sort(descending=True).indices),
        # the highest cosine has the smallest angle
        lambda row: [place for _, place in sorted(zip(np.arccos(row), range(len(row))))],
        # a place's rank is the number of higher values
        lambda row: np.argsort((row > row[:, None]).sum(axis=1), kind="stable"),
    ],
}

WRONG = {
    "00-weighted-sum": [(lambda vectors, factors: vectors * factors, "not with the words")],
    "00-ranked": [
        # iterators, in a wrong order and in the right one
        (lambda row: reversed(range(len(row))), "where a list is expected"),
        (lambda row: iter(np.argsort(-row)), "where a list is expected"),
    ],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "00-nearest": [
        (  # replaces the diagonal by the lowest similarity, which the only other may have, too
            "at least two sentences",
            lambda similarity, i: int(
                np.where(np.arange(len(similarity)) == i, similarity.min(), similarity[i]).argmax()
            ),
        )
    ],
    "00-odd-one-out": [
        (  # returns the lowest mean itself
            "the position of the sentence",
            lambda similarity: min(
                np.mean(others_of(similarity, i)) for i in range(len(similarity))
            ),
            "is expected",
        ),
        (  # takes the median
            "mean similarity",
            lambda similarity: int(
                np.argmin([np.median(others_of(similarity, i)) for i in range(len(similarity))])
            ),
        ),
        (  # gives up where there are only three
            "with at least three sentences",
            lambda similarity: odd_by_min(similarity) if len(similarity) > 3 else -1,
        ),
        # takes the similarities without their signs
        ("Similarities may be negative", lambda similarity: odd_by_min(np.abs(similarity))),
        (  # subtracts the diagonal from the sums, where NaN stays NaN
            "anything, even NaN",
            lambda similarity: int(np.nanargmin(similarity.sum(axis=1) - similarity.diagonal())),
        ),
    ],
    "00-shares": [
        (  # divides squares by their sum
            "each number divided by the sum of its row",
            lambda table: table.square() / table.square().sum(dim=1, keepdim=True),
        ),
        (  # leaves a single row as it is
            "any number of rows",
            lambda table: table / table.sum(dim=1, keepdim=True) if len(table) > 1 else table,
        ),
        # a single row or column loses its dimension
        ("and columns", lambda table: (table / table.sum(dim=1, keepdim=True)).squeeze()),
        (  # in a square table, divides column j by the sum of row j
            "possibly as many rows as columns",
            lambda table: (
                table
                / (table.sum(1) if len(table) == table.shape[1] else table.sum(1, keepdim=True))
            ),
        ),
    ],
    "00-weighted-sum": [
        (  # multiplies the sum of the vectors by the sum of the factors
            "by that word's factor",
            lambda vectors, factors: vectors.sum(dim=1) * factors.sum(dim=1, keepdim=True),
        ),
        (  # has the shape (sentences, 1, numbers)
            "The result has the shape (sentences, numbers)",
            lambda vectors, factors: factors.unsqueeze(1) @ vectors,
        ),
        (  # where all three sizes are equal, takes the factors to be (words, numbers)
            "Any two of the three sizes may be equal",
            lambda vectors, factors: (
                weighted_sums(vectors, factors)
                if len(set(vectors.shape)) > 1
                else (vectors * factors).sum(dim=1)
            ),
        ),
        (  # divides a sentence with a factor of 0 by 0
            "Factors may be 0",
            lambda vectors, factors: (
                weighted_sums(vectors, factors) / factors.ne(0).all(dim=1, keepdim=True)
            ),
        ),
    ],
    "00-kept-mean": [
        # takes the median
        ("the mean of all numbers", lambda table, keep: table[keep == 1].float().median().item()),
        (
            "as one plain number, not a tensor",
            lambda table, keep: table[keep == 1].float().mean(),
            "`.item()` takes it out",
        ),
        (  # gives up where a single number is kept
            "with at least one 1",
            lambda table, keep: kept_by_loop(table, keep) if keep.sum() > 1 else 0.0,
        ),
        # torch takes no mean of integers
        ("holds integers or decimals", lambda table, keep: table[keep == 1].mean().item()),
        (  # replaces infinity, but not NaN, which stays NaN when multiplied by 0
            "even NaN",
            lambda table, keep: float(
                table.float().masked_fill(table == torch.inf, 0).mul(keep).sum() / keep.sum()
            ),
        ),
        (  # replaces NaN, but not infinity, which becomes NaN when multiplied by 0
            "or infinity",
            lambda table, keep: (
                torch.nan_to_num(table, nan=0.0, posinf=torch.inf).mul(keep).sum() / keep.sum()
            ).item(),
        ),
    ],
}
