"""Answers to lesson 04."""

import functools
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

from course_utils import cls_pool


def mean(h, m):
    m = m.to(h.dtype)
    return torch.einsum("bth,bt->bh", h, m) / m.sum(-1)[:, None]


def real_rows(h, m):
    return [
        [row for row, real in zip(rows, mask) if real] for rows, mask in zip(h.tolist(), m.tolist())
    ]


def mean_in_lists(h, m):
    means = [[sum(column) / len(rows) for column in zip(*rows)] for rows in real_rows(h, m)]
    return torch.tensor(means, dtype=h.dtype)


def maximum(h, m):
    return torch.from_numpy(h.numpy().max(axis=1, where=m.numpy()[..., None] != 0, initial=-np.inf))


def max_in_lists(h, m):
    return torch.tensor(
        [[max(column) for column in zip(*rows)] for rows in real_rows(h, m)], dtype=h.dtype
    )


def unit_in_lists(v):
    rows = [[x / (math.hypot(*row) or 1) for x in row] for row in v.tolist()]
    return torch.tensor(rows, dtype=v.dtype)


def how(v, t, m, same=lambda v, p: (F.cosine_similarity(v, p) > 0.999).all()):
    """A right answer, if `same` says rightly whether two tables of vectors are the same."""
    ways = {"cls": cls_pool, "mean": mean, "max": maximum, "careless": lambda t, m: t.mean(1)}
    return next((name for name, pool in ways.items() if same(v, pool(t, m))), "other")


def table(v):
    unit = F.normalize(v)
    return unit @ unit.T


def baseline_in_numpy(v):
    return table(v).numpy()[~np.eye(len(v), dtype=bool)].mean()


RIGHT = {
    "04-mean-pool": [
        mean,
        mean_in_lists,
        lambda t, m: torch.einsum("bth,bt->bh", t, m.to(t.dtype)) / m.sum(1, keepdim=True),
    ],
    "04-max-pool": [
        maximum,
        max_in_lists,
        lambda t, m: torch.where(m.bool()[..., None], t, -torch.inf).max(dim=1).values,
    ],
    "04-normalise": [
        unit_in_lists,
        lambda v: torch.nan_to_num(
            v.double() / torch.linalg.norm(v.double(), dim=1, keepdim=True)
        ).to(v.dtype),
        lambda v: torch.nn.functional.normalize(v, dim=1),
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
        lambda t, m: torch.stack([row[real.tolist().index(1)] for row, real in zip(t, m)]),
        lambda t, m: [rows[0] for rows in real_rows(t, m)],
        lambda t, m: t.numpy()[np.arange(len(t)), np.argmax(m.numpy() == 1, axis=1)],
        lambda t, m: t.gather(1, m.max(1).indices[:, None, None].expand(-1, 1, t.shape[2])).squeeze(
            1
        ),
        lambda t, m: torch.einsum("bth,bt->bh", t.double(), (m * (m.cumsum(1) == 1)).double()),
        lambda t, m: t[range(len(t)), (m.cumsum(dim=1) == 0).sum(dim=1)],
        lambda t, m: t[
            range(len(t)), torch.where(m == 1, torch.arange(m.shape[1]), m.shape[1]).amin(1)
        ],
    ],
    "04-all-cosines": [
        lambda q, d: F.cosine_similarity(q[:, None], d[None], dim=2),
        lambda q, d: [
            [sum(map(math.prod, zip(a, b))) / math.hypot(*a) / math.hypot(*b) for b in d.tolist()]
            for a in q.tolist()
        ],
        lambda q, d: np.einsum(
            "qh,dh->qd", *(F.normalize(rows.double()).numpy() for rows in (q, d))
        ),
        lambda q, d: 1 - torch.cdist(F.normalize(q), F.normalize(d)) ** 2 / 2,
        lambda q, d: table(torch.cat([q, d]))[: len(q), len(q) :],
        lambda q, d: torch.stack([F.normalize(d) @ row / row.norm() for row in q]),
    ],
}

WRONG = {
    "04-normalise": [(lambda v: 0.5 * F.normalize(v), "times 0.5")],
    "04-how-pooled": [(lambda *a: how(*a, same=torch.allclose), "too strict")],
}

PROMISES = {
    "04-mean-pool": [
        (
            "a tensor of shape (batch, hidden)",
            lambda h, m: mean(h, m).numpy(),
            "returned an ndarray",
        ),
        ("Its dtype must be that of the token vectors", lambda h, m: mean(h, m).double(), "dtype"),
        (
            "Only real tokens count",
            lambda h, m: torch.stack([r[k.bool()][1:].mean(0) for r, k in zip(h, m)]),
        ),
        (
            "The mask may contain 1 and 0",
            lambda h, m: torch.stack([row[k].mean(0) for row, k in zip(h, m)]),
        ),
        ("or true and false", lambda h, m: mean(h, 1 - (1 - m))),
    ],
    "04-max-pool": [
        ("the same arguments", lambda h, m: maximum(h.float(), m).to(h.dtype)),
        (
            "a tensor of shape (batch, hidden)",
            lambda h, m: maximum(h, m).numpy(),
            "returned an ndarray",
        ),
    ],
    "04-normalise": [
        (
            "a tensor of the same shape and dtype",
            lambda v: F.normalize(v).numpy(),
            "returned an ndarray",
        ),
        *(
            (
                "scaled to length 1",
                lambda v, test=test: (
                    F.normalize(v) * torch.stack([test(row) for row in v])[:, None]
                ),
            )
            for test in (
                lambda row: row.all(),
                lambda row: row.sum() != 0,
                lambda row: row.max() > 0,
            )
        ),
    ],
    "04-how-pooled": [
        (
            "the mean over all positions, including padding",
            lambda *a: {"careless": "mean"}.get(how(*a), how(*a)),
        ),
        (
            "the cosine of its result with `vectors` is above 1 - 1e-3",
            lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p).min() > 0.9985),
        ),
        (
            "in every row",
            lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p)[[0, -1]].min() > 0.999),
        ),
        (
            "the cosine of its result with `vectors`",
            lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p).abs().min() > 0.999),
        ),
        (
            'If there is no such pooling, return `"other"`',
            lambda *a: {"other": "none"}.get(how(*a), how(*a)),
        ),
        (
            "may or may not have been scaled to length 1",
            lambda *a: how(*a, same=lambda v, p: torch.allclose(v, F.normalize(p), atol=1e-2)),
        ),
        ("only one row does", lambda v, t, m: how(v[:-1], t[:-1], m[:-1])),
    ],
    "04-baseline": [
        ("over all pairs of rows", lambda v: (c := table(v).triu(1))[c != 0].mean()),
        ("as one number", lambda v: (table(v).sum(1) - 1) / (len(v) - 1)),
    ],
}
