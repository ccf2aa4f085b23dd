"""Answers to lesson 12; `__init__.py` says what the tables are."""

import math
from fractions import Fraction

import numpy as np
import torch
from sklearn.metrics import dcg_score


def score_in_steps(count, length, mean_length, k1, b):
    if not count:
        return 0
    length_factor = (1 - b) + b * (length / mean_length)
    return count / (count + k1 * length_factor)


def discounted(grades):
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def ndcg_in_steps(places, grades, k):
    best = sorted(grades.values(), reverse=True)
    return discounted(grades.get(place, 0) for place in places[:k]) / discounted(best[:k])


def fuse_one_by_one(one, other, c):
    def score(place):
        return sum(1 / (c + places.index(place) + 1) for places in (one, other) if place in places)

    both = one + [place for place in other if place not in one]
    return sorted(both, key=score, reverse=True)


def fuse_in_float32(one, other, c):
    both = [*one, *(place for place in other if place not in one)]
    ranks = [  # (2, places); 1 / infinity is 0 for a place that a list lacks
        [places.index(place) + 1 if place in places else math.inf for place in both]
        for places in (one, other)
    ]
    scores = (1 / (c + np.array(ranks, dtype=np.float32))).sum(axis=0)
    return np.array(both)[np.argsort(-scores, kind="stable")]


def pages_loop(places, owners, k):
    pages = []
    for place in places:
        if owners[place] not in pages:
            pages.append(owners[place])
    return pages[:k]


RIGHT = {
    "12-word-score": [
        score_in_steps,
        lambda *args: torch.tensor(score_in_steps(*args), dtype=torch.float32),
        lambda count, length, mean_length, k1, b: (
            # `interp` goes from 1 at b = 0 to the ratio of the lengths at b = 1
            np.divide(count, count + k1 * np.interp(b, [0, 1], [1, length / mean_length]))
            if count
            else np.float64(0)
        ),
    ],
    "12-ndcg": [
        ndcg_in_steps,
        lambda *args: torch.tensor(ndcg_in_steps(*args), dtype=torch.float32),
        lambda *args: np.array(ndcg_in_steps(*args)),
    ],
    "12-fuse": [fuse_one_by_one, fuse_in_float32, lambda *args: np.array(fuse_one_by_one(*args))],
    "12-find-the-bug": [
        pages_loop,
        # a key keeps the place where it was first put in
        lambda places, owners, k: tuple({owners[place]: True for place in places})[:k],
        lambda *args: np.array(pages_loop(*args)),
    ],
}

COMPLETED = {
    # the sum of grade / log2(1 + rank); `found` has the grades of the results, the best first
    "12-gain": [
        lambda found: sum(
            grade / math.log(1 + rank, 2) for rank, grade in enumerate(found, start=1)
        ),
        lambda found: np.sum(np.array(found) / np.log2(np.arange(len(found)) + 2)),
        lambda found: (
            torch.tensor(found).float() @ torch.log2(torch.arange(2.0, len(found) + 2)).reciprocal()
        ),
        # log(2, n) is 1 / log2(n)
        lambda found: math.fsum(
            grade * math.log(2, rank + 1) for rank, grade in enumerate(found, start=1)
        ),
        # log2(n) is log(n) / log(2), and `log1p` of the ranks is log(1 + rank)
        lambda found: math.log(2) * np.dot(found, 1 / np.log1p(np.arange(1, len(found) + 1))),
        # two more results of grade 0, since `dcg_score` refuses a single one
        lambda found: dcg_score([[*found, 0, 0]], [range(len(found) + 2, 0, -1)]),
    ],
    # the sum of 1 / (c + rank); a rank is None for a list that lacks the page
    "12-fused-score": [
        lambda ranks, c: math.fsum(1 / (c + rank) for rank in ranks if rank),
        lambda ranks, c: sum(0 if rank is None else (c + rank) ** -1 for rank in ranks),
        lambda ranks, c: sum(Fraction(1, c + rank) for rank in ranks if rank is not None),
        # None becomes nan, which `nansum` skips
        lambda ranks, c: np.nansum(1 / (c + np.array(ranks, dtype=float))),
        lambda ranks, c: np.reciprocal(
            c + np.array([math.inf if rank is None else rank for rank in ranks], dtype=np.float32)
        ).sum(),
        lambda ranks, c: torch.tensor([1 / (c + rank) for rank in ranks if rank is not None]).sum(),
    ],
}

WRONG = {
    "12-word-score": [
        (  # cuts off decimals: `//` for `/`
            lambda count, length, mean_length, k1, b: (
                count and count / (count + k1 * (1 - b + b * length // mean_length))
            ),
            "whole number",
        ),
        (  # turns the ratio of the lengths upside down, and exchanges b and 1 - b
            lambda count, length, mean_length, k1, b: (
                count and count / (count + k1 * (b + (1 - b) * mean_length / length))
            ),
            "upside down",
        ),
    ],
    "12-ndcg": [
        (  # takes another usual gain, which is exponential in the grade
            lambda places, grades, k: ndcg_in_steps(
                places, {place: 2**grade - 1 for place, grade in grades.items()}, k
            ),
            "not the grades",
        )
    ],
    "12-find-the-bug": [
        (  # returns the different pages of the first k windows
            lambda places, owners, k: list({owners[place] for place in places[:k]}),
            "cut to k windows",
        ),
        (lambda places, owners, k: pages_loop(places, owners, k)[::-1], "reverse order"),
    ],
}

# words of the exercise's text, an answer that breaks them, and sometimes words of its message
PROMISES = {
    "12-word-score": [
        (  # a length below the mean counts as the mean
            "`length` and `mean_length` are above 0",
            lambda count, length, mean_length, k1, b: score_in_steps(
                count, max(length, mean_length), mean_length, k1, b
            ),
        ),
        (  # a length above the mean counts as the mean
            "`length` and `mean_length` are above 0",
            lambda count, length, mean_length, k1, b: score_in_steps(
                count, min(length, mean_length), mean_length, k1, b
            ),
        ),
        (  # a k1 of 0 becomes a small number
            "`k1` is 0 or more",
            lambda count, length, mean_length, k1, b: score_in_steps(
                count, length, mean_length, max(k1, 0.01), b
            ),
        ),
        (  # a b of 1 becomes a little less
            "`b` is between 0 and 1",
            lambda count, length, mean_length, k1, b: score_in_steps(
                count, length, mean_length, k1, min(b, 0.95)
            ),
        ),
        (  # a count of 0 becomes a small number, so the score is above 0
            "If `count` is 0, return 0",
            lambda count, length, mean_length, k1, b: score_in_steps(
                count or 0.1, length, mean_length, k1, b
            ),
        ),
        (  # returns a list of one number
            "Return a number",
            lambda count, length, mean_length, k1, b: [
                score_in_steps(count, length, mean_length, k1, b)
            ],
        ),
    ],
    "12-ndcg": [
        # reads the list from its end
        ("the best first", lambda places, grades, k: ndcg_in_steps(places[::-1], grades, k)),
        (  # counts no more places of the best possible list than were found, unless none was
            "it may be shorter than `k`",
            lambda places, grades, k: ndcg_in_steps(places, grades, min(k, len(places) or k)),
        ),
        (  # returns None for an empty list
            "or empty",
            lambda places, grades, k: ndcg_in_steps(places, grades, k) if places else None,
        ),
        # returns a list of one number
        ("Return a number", lambda places, grades, k: [ndcg_in_steps(places, grades, k)]),
    ],
    "12-fuse": [
        (  # reverses the order of equal ones where each list is the other's reverse
            "in the order of `one`",
            lambda one, other, c: (
                fuse_one_by_one(one[::-1], other[::-1], c)
                if len(one) == len(other) and one[::-1] == other
                else fuse_one_by_one(one, other, c)
            ),
        ),
        (  # returns no places if one of the lists is empty
            "Either list may be empty",
            lambda one, other, c: fuse_one_by_one(one, other, c) if one and other else [],
        ),
        # a c below 1 becomes 1
        ("`c` is a number above 0", lambda one, other, c: fuse_one_by_one(one, other, max(c, 1))),
        # returns only the first place
        ("Return a list of places", lambda one, other, c: fuse_one_by_one(one, other, c)[:1]),
    ],
    "12-find-the-bug": [
        # looks only at the first 3 k windows
        ("the first `k`", lambda places, owners, k: pages_loop(places[: 3 * k], owners, k)),
        (  # never returns page 0, as if 0 meant that there is no page
            "the first `k`",
            lambda places, owners, k: pages_loop(
                [place for place in places if owners[place]], owners, k
            ),
        ),
        (  # expects k pages: raises IndexError if there are fewer
            "If there are fewer than `k` pages, return all of them",
            lambda places, owners, k: [
                pages_loop(places, owners, len(owners))[rank] for rank in range(k)
            ],
        ),
        (  # returns None for an empty list
            "it may be empty",
            lambda places, owners, k: pages_loop(places, owners, k) if places else None,
        ),
        (  # returns a set, which has no order
            "in a list, a tuple or an array",
            lambda places, owners, k: set(pages_loop(places, owners, k)),
        ),
        (  # returns a text
            "in a list, a tuple or an array",
            lambda places, owners, k: " ".join(map(str, pages_loop(places, owners, k))),
        ),
    ],
}
