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


def texts_loop(places, owners, k):
    seen = []
    for place in places:
        if owners[place] not in seen:
            seen.append(owners[place])
        if len(seen) == k:
            break
    return seen


def texts_as_shown(places, owners, k):
    return list({owners[place] for place in places[:k]})


RIGHT = {
    "12-word-score": [score_in_steps, score_numpy],
    "12-ndcg": [ndcg_loops, ndcg_numpy],
    "12-fuse": [fuse_one_by_one, fuse_torch],
    "12-find-the-bug": [texts_loop],
}
WRONG = {
    "12-word-score": [(score_of_a_length, "relative to mean_length")],
    "12-find-the-bug": [(texts_as_shown, "Two faults")],
}
PROMISES = {
    "12-word-score": [
        ("`length` and `mean_length` are above 0", lambda f, n, m, k, b: score_in_steps(f, max(n, m), m, k, b)),
        ("`length` and `mean_length` are above 0", lambda f, n, m, k, b: score_in_steps(f, min(n, m), m, k, b)),
        ("`k1` is 0 or more", lambda f, n, m, k, b: score_in_steps(f, n, m, max(k, 0.01), b)),
        ("`b` is between 0 and 1", lambda f, n, m, k, b: score_in_steps(f, n, m, k, b or 0.75)),
        ("`b` is between 0 and 1", lambda f, n, m, k, b: score_in_steps(f, n, m, k, min(b, 0.95))),
        ("A word that the text does not have", lambda f, n, m, k, b: score_in_steps(f or 0.1, n, m, k, b)),
        ("also where `k1` is 0", lambda f, n, m, k, b: f / (f + k * (1 - b + b * n / m))),
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
        ("by descending sum of formula 12.4", lambda a, b, c: fuse_one_by_one(a, b, c)[::-1]),
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
        ("the first `k`", lambda p, o, k: texts_loop(p, o, k + 1)),
        (
            "If there are fewer than `k` texts, return all of them",
            lambda p, o, k: t if len(t := texts_loop(p, o, k)) == k else t + [t[-1] if t else 0] * (k - len(t)),
        ),
        ("as a list", lambda p, o, k: set(texts_loop(p, o, k))),
    ],
}
