"""Answers to lesson 12."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import torch
from sklearn.metrics import dcg_score


def score_in_steps(count, length, mean_length, k1, b):
    if not count:
        return 0
    ratio = length / mean_length
    norm = (1 - b) + b * ratio
    return count / (count + k1 * norm)


def ndcg_loops(places, grades, k):
    dcg = ideal = 0
    best = sorted(grades.values())[::-1]
    for i in range(k):
        dcg += grades.get(places[i], 0) / math.log2(i + 2) if i < len(places) else 0
        ideal += best[i] / math.log2(i + 2) if i < len(best) else 0
    return dcg / ideal


def fuse_one_by_one(one, other, c):
    def value(place):
        return sum(1 / (c + places.index(place) + 1) for places in (one, other) if place in places)

    both = one + [place for place in other if place not in one]
    return sorted(both, key=value, reverse=True)


def fuse_in_float32(one, other, c):
    places = [*one, *(place for place in other if place not in one)]
    ranks = [
        [row.index(place) + 1 if place in row else math.inf for place in places]
        for row in (one, other)
    ]
    sums = (1 / (c + np.array(ranks, dtype=np.float32))).sum(axis=0)
    return np.array(places)[np.argsort(-sums, kind="stable")]


def pages_loop(places, owners, k):
    seen = []
    for place in places:
        if owners[place] not in seen:
            seen.append(owners[place])
    return seen[:k]


RIGHT = {
    "12-word-score": [
        score_in_steps,
        lambda *args: torch.tensor(score_in_steps(*args), dtype=torch.float32),
        lambda f, n, m, k, b: (
            np.divide(f, f + k * np.interp(b, [0, 1], [1, n / m])) if f else np.float64(0)
        ),
    ],
    "12-ndcg": [
        ndcg_loops,
        lambda *args: torch.tensor(ndcg_loops(*args), dtype=torch.float32),
        lambda *args: np.array(ndcg_loops(*args)),
    ],
    "12-fuse": [fuse_one_by_one, fuse_in_float32, lambda *args: np.array(fuse_one_by_one(*args))],
    "12-find-the-bug": [
        pages_loop,
        lambda p, o, k: tuple(sorted({o[x] for x in p}, key=[o[x] for x in p].index)[:k]),
        lambda *args: np.array(pages_loop(*args)),
    ],
}
COMPLETED = {
    "12-gain": [
        lambda found: sum(
            grade / math.log(1 + rank, 2) for rank, grade in enumerate(found, start=1)
        ),
        lambda found: np.sum(np.array(found) / np.log2(np.arange(len(found)) + 2)),
        lambda found: (
            torch.tensor(found).float() @ torch.log2(torch.arange(2.0, len(found) + 2)).reciprocal()
        ),
        lambda found: math.fsum(found[i] * math.log(2, i + 2) for i in range(len(found))),
        lambda found: math.log(2) * np.dot(found, 1 / np.log1p(np.arange(1, len(found) + 1))),
        # of one alone it makes no list
        lambda found: dcg_score([[*found, 0, 0]], [range(len(found) + 2, 0, -1)]),
    ],
    "12-fused-score": [
        lambda ranks, c: math.fsum(1 / (c + rank) for rank in ranks if rank),
        lambda ranks, c: sum(0 if rank is None else (c + rank) ** -1 for rank in ranks),
        lambda ranks, c: sum(Fraction(1, c + rank) for rank in ranks if rank is not None),
        lambda ranks, c: np.nansum(1 / (c + np.array(ranks, dtype=float))),
        lambda ranks, c: np.reciprocal(
            c + np.array([math.inf if r is None else r for r in ranks], dtype=np.float32)
        ).sum(),
        lambda ranks, c: torch.tensor([1 / (c + rank) for rank in ranks if rank is not None]).sum(),
    ],
}
WRONG = {
    "12-word-score": [
        (lambda f, n, m, k, b: f and f / (f + k * (1 - b + b * n // m)), "whole number"),
        (lambda f, n, m, k, b: f and f / (f + k * (b + (1 - b) * m / n)), "upside down"),
    ],
    "12-ndcg": [
        (lambda p, g, k: ndcg_loops(p, {x: 2 ** g[x] - 1 for x in g}, k), "not the grades")
    ],
    "12-find-the-bug": [
        (
            lambda places, owners, k: list({owners[place] for place in places[:k]}),
            "cut to k windows",
        ),
        (lambda places, owners, k: pages_loop(places, owners, k)[::-1], "reverse order"),
    ],
}
PROMISES = {
    "12-word-score": [
        (
            "`length` and `mean_length` are above 0",
            lambda f, n, m, k, b: score_in_steps(f, max(n, m), m, k, b),
        ),
        (
            "`length` and `mean_length` are above 0",
            lambda f, n, m, k, b: score_in_steps(f, min(n, m), m, k, b),
        ),
        ("`k1` is 0 or more", lambda f, n, m, k, b: score_in_steps(f, n, m, max(k, 0.01), b)),
        ("`b` is between 0 and 1", lambda f, n, m, k, b: score_in_steps(f, n, m, k, min(b, 0.95))),
        ("If `count` is 0, return 0", lambda f, n, m, k, b: score_in_steps(f or 0.1, n, m, k, b)),
        ("Return a number", lambda f, n, m, k, b: [score_in_steps(f, n, m, k, b)]),
    ],
    "12-ndcg": [
        ("the best first", lambda p, g, k: ndcg_loops(p[::-1], g, k)),
        ("it may be shorter than `k`", lambda p, g, k: ndcg_loops(p, g, min(k, len(p) or k))),
        ("or empty", lambda p, g, k: ndcg_loops(p, g, k) if p else None),
        ("Return a number", lambda p, g, k: [ndcg_loops(p, g, k)]),
    ],
    "12-fuse": [
        (
            "in the order of `one`",
            lambda a, b, c: (
                fuse_one_by_one(a[::-1], b[::-1], c)
                if len(a) == len(b) and a[::-1] == b
                else fuse_one_by_one(a, b, c)
            ),
        ),
        ("Either list may be empty", lambda a, b, c: fuse_one_by_one(a, b, c) if a and b else []),
        ("`c` is a number above 0", lambda a, b, c: fuse_one_by_one(a, b, max(c, 1))),
        ("Return a list of places", lambda a, b, c: fuse_one_by_one(a, b, c)[:1]),
    ],
    "12-find-the-bug": [
        ("the first `k`", lambda p, o, k: pages_loop(p[: 3 * k], o, k)),
        ("the first `k`", lambda p, o, k: pages_loop([x for x in p if o[x]], o, k)),
        (
            "If there are fewer than `k` pages, return all of them",
            lambda p, o, k: [pages_loop(p, o, len(o))[at] for at in range(k)],
        ),
        ("it may be empty", lambda p, o, k: pages_loop(p, o, k) if p else None),
        ("in a list, a tuple or an array", lambda p, o, k: set(pages_loop(p, o, k))),
        ("in a list, a tuple or an array", lambda p, o, k: " ".join(map(str, pages_loop(p, o, k)))),
    ],
}
