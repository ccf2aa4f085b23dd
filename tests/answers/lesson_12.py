"""Answers to lesson 12."""

import math

import numpy as np
import torch


def score_in_steps(count, length, mean_length, k1, b):
    if not count:
        return 0
    ratio = length / mean_length
    norm = (1 - b) + b * ratio
    return count / (count + k1 * norm)


def score_numpy(count, length, mean_length, k1, b):
    count = np.float64(count)
    denominator = count + k1 * np.interp(b, [0, 1], [1, length / mean_length])
    return count / denominator if denominator > 0 else np.float64(0)


def score_in_float32(count, length, mean_length, k1, b):
    f, n, m, k, b = torch.tensor([count, length, mean_length, k1, b], dtype=torch.float32)
    return 1 / (1 + k / f + k * b / f * (n / m - 1)) if f else f


def score_of_a_length(count, length, mean_length, k1, b):
    return count / (count + k1 * (1 - b + b * length)) if count else 0


def ndcg_loops(places, grades, k):
    dcg = ideal = 0
    for i in range(min(k, len(places))):
        if places[i] in grades:
            dcg += grades[places[i]] / math.log2(i + 2)
    best = sorted(grades.values())[::-1]
    for i in range(min(k, len(best))):
        ideal += best[i] / math.log2(i + 2)
    return dcg / ideal


def ndcg_numpy(places, grades, k):
    discount = 1 / np.log(np.arange(2, k + 2))  # another base divides both sums
    found = np.array([grades.get(p, 0) for p in places[:k]], dtype=float)
    best = np.sort(list(grades.values()))[::-1][:k]
    return (found * discount[: len(found)]).sum() / (best * discount[: len(best)]).sum()


def ndcg_in_float32(places, grades, k):
    """The shares of the best sum, added."""
    weights = torch.log2(torch.arange(2, k + 2, dtype=torch.float32)).reciprocal()
    best = torch.tensor(list(grades.values())).topk(min(k, len(grades))).values
    ideal = best.float() @ weights[: len(best)]
    shares = [grades[p] * weight / ideal for p, weight in zip(places, weights) if p in grades]
    return torch.stack(shares).sum() if shares else 0.0


def fuse_one_by_one(one, other, c):
    def value(place):
        return sum(1 / (c + places.index(place) + 1) for places in (one, other) if place in places)

    both = one + [place for place in other if place not in one]
    return sorted(both, key=value, reverse=True)


def fuse_torch(one, other, c):
    places = list(dict.fromkeys(one + other))
    if not places:
        return []
    sums = torch.zeros(len(places), dtype=torch.float64)
    for ranking in (one, other):
        for rank, place in enumerate(ranking, 1):
            sums[places.index(place)] += 1 / (c + rank)
    order = torch.argsort(sums, descending=True, stable=True)
    return [places[i] for i in order]


def fuse_in_float32(one, other, c):
    """From all places by a stable sort, those of `one` first."""
    places = [*one, *(place for place in other if place not in one)]
    sums = np.zeros(len(places), np.float32)
    for ranking in (other, one):
        at = np.array([places.index(place) for place in ranking], dtype=int)
        sums[at] += np.float32(1) / np.arange(c + 1, c + len(at) + 0.5, dtype=np.float32)
    return np.array(places)[np.argsort(-sums, kind="stable")]


def pages_loop(places, owners, k):
    seen = []
    for place in places:
        if owners[place] not in seen:
            seen.append(owners[place])
        if len(seen) == k:
            break
    return seen


def pages_by_first_place(places, owners, k):
    of = [owners[place] for place in places]
    return sorted(set(of), key=of.index)[:k]


def pages_unique(places, owners, k):
    pages, first = np.unique(np.array(owners)[np.array(places, dtype=int)], return_index=True)
    return pages[np.argsort(first)][:k]


def pages_as_a_tuple(places, owners, k):
    return tuple(pages_by_first_place(places, owners, k))


def pages_as_shown(places, owners, k):
    return list({owners[place] for place in places[:k]})


def ndcg_with(ideal):
    """An answer whose best possible list is `ideal(places, grades, k)`."""

    def ndcg(places, grades, k):
        def gain(values):
            return sum(value / np.log2(rank + 2) for rank, value in enumerate(values))

        best = gain(ideal(places, grades, k))
        return gain([grades.get(place, 0) for place in places[:k]]) / best if best else 0

    return ndcg


RIGHT = {
    "12-word-score": [score_in_steps, score_numpy, score_in_float32],
    "12-ndcg": [ndcg_loops, ndcg_numpy, ndcg_in_float32],
    "12-fuse": [fuse_one_by_one, fuse_torch, fuse_in_float32],
    "12-find-the-bug": [pages_loop, pages_by_first_place, pages_unique, pages_as_a_tuple],
}
WRONG = {
    "12-word-score": [
        (score_of_a_length, "relative to mean_length"),
        (lambda f, n, m, k, b: f and f / (f + k * (1 - b + b * n // m)), "whole number"),
        (lambda f, n, m, k, b: f and f / (f + k * (b + (1 - b) * m / n)), "Two faults"),
        (lambda f, n, m, k, b: f and (k + 1) * f / (f + k * (1 - b + b * m / n)), "no factor k1 + 1"),
    ],
    "12-ndcg": [
        (ndcg_with(lambda p, g, k: sorted((g[x] for x in p if x in g), reverse=True)[:k]), "texts *found*"),
        (ndcg_with(lambda p, g, k: list(g.values())[:k]), "in the order of the dictionary"),
        (ndcg_with(lambda p, g, k: sorted(g.values(), reverse=True)[: len(p[:k])]), "as short as the list"),
    ],
    "12-find-the-bug": [
        (pages_as_shown, "Two faults"),
        (lambda places, owners, k: list(dict.fromkeys(owners))[:k], "leave `places` out"),
        (lambda places, owners, k: (pages_loop(places, owners, k) + [None] * k)[:k], "fill the list"),
        (lambda places, owners, k: sorted({owners[place] for place in places})[: k + 1], "one page too many"),
        (lambda places, owners, k: pages_loop(places[:k], owners, k)[::-1], "its order is reversed"),
    ],
}
PROMISES = {
    "12-word-score": [
        ("`length` and `mean_length` are above 0", lambda f, n, m, k, b: score_in_steps(f, max(n, m), m, k, b)),
        ("`length` and `mean_length` are above 0", lambda f, n, m, k, b: score_in_steps(f, min(n, m), m, k, b)),
        ("`k1` is 0 or more", lambda f, n, m, k, b: score_in_steps(f, n, m, max(k, 0.01), b)),
        ("`b` is between 0 and 1", lambda f, n, m, k, b: score_in_steps(f, n, m, k, b or 0.75)),
        ("`b` is between 0 and 1", lambda f, n, m, k, b: score_in_steps(f, n, m, k, min(b, 0.95))),
        ("If `count` is 0, return 0", lambda f, n, m, k, b: score_in_steps(f or 0.1, n, m, k, b)),
        ("even if `k1` is 0", lambda f, n, m, k, b: f / (f + k * (1 - b + b * n / m))),
        ("Return a number", lambda f, n, m, k, b: [score_in_steps(f, n, m, k, b)]),
    ],
    "12-ndcg": [
        ("the best first", lambda p, g, k: ndcg_loops(p[::-1], g, k)),
        ("it may be shorter than `k`", lambda p, g, k: ndcg_loops(p, g, min(k, len(p) or k))),
        ("or empty", lambda p, g, k: ndcg_loops(p, g, k) if p else None),
        ("a page that it lacks has the grade 0", lambda p, g, k: ndcg_loops([x for x in p if x in g], g, k)),
        ("Return a number", lambda p, g, k: [ndcg_loops(p, g, k)]),
    ],
    "12-fuse": [
        ("by descending sum of formula (12.4)", lambda a, b, c: fuse_one_by_one(a, b, c)[::-1]),
        (
            "in the order of `one`",
            lambda a, b, c: (
                fuse_torch(a[::-1], b[::-1], c) if len(a) == len(b) and a[::-1] == b else fuse_one_by_one(a, b, c)
            ),
        ),
        ("Either list may be empty", lambda a, b, c: fuse_one_by_one(a, b, c) if a and b else []),
        ("`c` is a number above 0", lambda a, b, c: fuse_one_by_one(a, b, max(c, 1))),
        ("Return a list of places", lambda a, b, c: fuse_one_by_one(a, b, c)[:1]),
    ],
    "12-find-the-bug": [
        ("the first `k`", lambda p, o, k: pages_loop(p, o, k + 1)),
        ("the first `k`", lambda p, o, k: pages_loop(p[: 3 * k], o, k)),
        ("the first `k`", lambda p, o, k: pages_loop([x for x in p if o[x]], o, k)),
        (
            "If there are fewer than `k` pages, return all of them",
            lambda p, o, k: t if len(t := pages_loop(p, o, k)) == k else t + [t[-1] if t else 0] * (k - len(t)),
        ),
        ("it may be empty", lambda p, o, k: pages_loop(p, o, k) if p else None),
        ("in a list, a tuple or an array", lambda p, o, k: set(pages_loop(p, o, k))),
        ("in a list, a tuple or an array", lambda p, o, k: " ".join(map(str, pages_loop(p, o, k)))),
    ],
}
