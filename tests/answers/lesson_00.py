"""Answers to lesson 00."""

import statistics

import numpy as np
import torch
from scipy.spatial.distance import cdist


def by_copy(similarity, i):
    row = similarity[i].copy()
    row[i] = -np.inf
    return np.argmax(row)


def left_out(similarity, i):
    """The similarities of a sentence to the others."""
    return [float(value) for j, value in enumerate(similarity[i]) if j != i]


def odd_by_nan(similarity):
    table = similarity.astype(np.float64)
    np.fill_diagonal(table, np.nan)
    return np.nanmean(table, axis=1).argmin()


def odd_by_min(similarity):
    return min(range(len(similarity)), key=lambda i: statistics.fmean(left_out(similarity, i)))


def kept_by_loop(table, keep):
    values = [
        value
        for row, kept in zip(table.tolist(), keep.tolist())
        for value, k in zip(row, kept)
        if k
    ]
    return sum(values) / len(values)


def nearest_in_float32(similarity, i):
    row = torch.tensor(similarity, dtype=torch.float32)[i]
    order = row.argsort(descending=True)
    return order[order != i][0].item()


def weighted(vectors, factors):
    return torch.einsum("swn,sw->sn", vectors, factors)


RIGHT = {
    "00-nearest": [by_copy, nearest_in_float32, lambda *args: np.array(by_copy(*args))],
    "00-odd-one-out": [odd_by_nan, odd_by_min, lambda *args: np.array(odd_by_nan(*args))],
    "00-shares": [
        lambda t: (t.T / t.sum(dim=1)).T.numpy(),
        lambda t: [[x / sum(row) for x in row] for row in t.tolist()],
        lambda t: torch.nn.functional.normalize(t.double(), p=1, dim=1),
        lambda t: (t.log() - t.sum(1, keepdim=True).log()).exp(),
    ],
    "00-weighted-sum": [
        weighted,
        lambda *args: weighted(*args).tolist(),
        lambda v, w: np.sum(v.numpy() * w.numpy()[..., None], axis=1),
    ],
    "00-kept-mean": [
        kept_by_loop,
        lambda t, k: np.mean(t.numpy()[k.numpy() == 1]),
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
        lambda vectors, vector: 1 - np.linalg.norm(vectors - vector, axis=1) ** 2 / 2,
        lambda vectors, vector: 1 - cdist(vectors, [vector], "cosine")[:, 0],
    ],
    "00-ranked": [
        lambda row: np.argsort(row)[::-1],
        lambda row: sorted(range(len(row)), key=row.tolist().__getitem__, reverse=True),
        lambda row: tuple(i for x in sorted({*row})[::-1] for i in np.flatnonzero(row == x)),
        lambda row: list(torch.tensor(row, dtype=torch.float32).sort(descending=True).indices),
        lambda row: [i for _, i in sorted(zip(np.arccos(row), range(len(row))))],
        lambda row: np.argsort((row > row[:, None]).sum(axis=1), kind="stable"),
    ],
}

WRONG = {"00-weighted-sum": [(lambda v, w: v * w, "not with the words")]}

PROMISES = {
    "00-nearest": [
        (
            "at least two sentences",
            lambda s, i: int(np.where(np.arange(len(s)) == i, s.min(), s[i]).argmax()),
        )
    ],
    "00-odd-one-out": [
        (
            "the position of the sentence",
            lambda s: min(np.mean(left_out(s, i)) for i in range(len(s))),
            "is expected",
        ),
        (
            "mean similarity",
            lambda s: int(np.argmin([np.median(left_out(s, i)) for i in range(len(s))])),
        ),
        ("with at least three sentences", lambda s: odd_by_min(s) if len(s) > 3 else -1),
        ("Similarities may be negative", lambda s: odd_by_min(np.abs(s))),
        ("anything, even NaN", lambda s: int(np.nanargmin(s.sum(axis=1) - s.diagonal()))),
    ],
    "00-shares": [
        (
            "each number divided by the sum of its row",
            lambda t: t.square() / t.square().sum(dim=1, keepdim=True),
        ),
        ("any number of rows", lambda t: t / t.sum(dim=1, keepdim=True) if len(t) > 1 else t),
        ("and columns", lambda t: (t / t.sum(dim=1, keepdim=True)).squeeze()),
        (
            "possibly as many rows as columns",
            lambda t: t / (t.sum(1) if len(t) == t.shape[1] else t.sum(1, keepdim=True)),
        ),
    ],
    "00-weighted-sum": [
        ("by that word's factor", lambda v, w: v.sum(dim=1) * w.sum(dim=1, keepdim=True)),
        ("The result has the shape (sentences, numbers)", lambda v, w: w.unsqueeze(1) @ v),
        (
            "Any two of the three sizes may be equal",
            lambda v, w: (v * (w if v.shape[-1] == w.shape[-1] == len(w) else w.unsqueeze(-1))).sum(
                dim=1
            ),
        ),
        ("Factors may be 0", lambda v, w: weighted(v, w) / w.ne(0).all(dim=1, keepdim=True)),
    ],
    "00-kept-mean": [
        ("the mean of all numbers", lambda t, k: t[k == 1].float().median().item()),
        (
            "as one plain number, not a tensor",
            lambda t, k: t[k == 1].float().mean(),
            "`.item()` takes it out",
        ),
        ("with at least one 1", lambda t, k: kept_by_loop(t, k) if k.sum() > 1 else 0.0),
        ("holds integers or decimals", lambda t, k: t[k == 1].mean().item()),
        (
            "even NaN",
            lambda t, k: float(t.float().masked_fill(t == torch.inf, 0).mul(k).sum() / k.sum()),
        ),
        (
            "or infinity",
            lambda t, k: (torch.nan_to_num(t, 0.0, float("inf")).mul(k).sum() / k.sum()).item(),
        ),
    ],
}
