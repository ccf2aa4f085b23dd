"""Answers to lesson 09; `__init__.py` says what the tables are."""

import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial import KDTree


# A pair is read with one [CLS] less than its two sentences have.
def tokens_by_combinations(lengths):
    return [
        sum(lengths),
        sum(map(sum, itertools.combinations(lengths, 2))) - math.comb(len(lengths), 2),
    ]


def angle(cosine):
    return np.arccos(np.clip(cosine, -1, 1))


# An answer that skips where `can_skip(apart, best)` is true. `apart`: how far the two angles with
# the pivot differ, in radians; `best`: a cosine.
def skip_where(can_skip):
    return lambda query_pivot, corpus_pivot, best: can_skip(
        np.abs(angle(query_pivot) - angle(corpus_pivot)), best
    )


skip_in_numpy = skip_where(lambda apart, best: np.cos(apart) <= best)


# An answer that changes the cosines first. One that is then outside -1 to 1 has NaN for its angle,
# with which no comparison is true: nothing is skipped.
def skip_without_clipping(change):
    def skip(query_pivot, corpus_pivot, best):
        with np.errstate(invalid="ignore"):
            apart = np.arccos(change(query_pivot)) - np.arccos(change(corpus_pivot))
        return np.cos(apart) <= best

    return skip


def in_degrees(cosine):
    return np.degrees(angle(cosine)).round()


# The diagonal becomes -2, which is below any cosine.
def pair_in(vectors):
    return divmod(int((vectors @ vectors.T).fill_diagonal_(-2).argmax()), len(vectors))


# An answer that looks only at the pairs of places that `pairs_among(number of vectors)` yields, and
# returns (0, 1) if there are none.
def closest_among(pairs_among):
    return lambda vectors: max(
        pairs_among(len(vectors)),
        key=lambda pair: float(torch.dot(*vectors[list(pair)])),
        default=(0, 1),
    )


RIGHT = {
    "09-tokens": [
        tokens_by_combinations,
        lambda *args: tuple(tokens_by_combinations(*args)),
        lambda *args: np.array(tokens_by_combinations(*args)),
    ],
    "09-can-skip": [
        skip_in_numpy,
        lambda query_pivot, corpus_pivot, best: skip_in_numpy(
            np.float32(query_pivot), np.float32(corpus_pivot), best
        ).tolist(),
        lambda *args: skip_in_numpy(*args).astype(int),
    ],
    "09-find-the-bug": [
        pair_in,
        lambda vectors: pair_in(vectors)[::-1],
        lambda vectors: np.array(pair_in(vectors)),
        lambda vectors: tuple(np.array(pair_in(vectors))),
        lambda vectors: torch.tensor(pair_in(vectors.double())),
    ],
}

COMPLETED = {
    "09-cls-chain": [
        lambda vectors: F.normalize(vectors.select(1, 0), dim=1),
        lambda vectors: (
            vectors[:, 0].numpy() / np.linalg.norm(vectors[:, 0].numpy(), axis=1, keepdims=True)
        ),
        lambda vectors: [
            [number / math.hypot(*text[0]) for number in text[0]] for text in vectors.tolist()
        ],
        lambda vectors: [text[0] / torch.sqrt(text[0] @ text[0]) for text in vectors],
        lambda vectors: F.normalize(vectors.double(), dim=-1).transpose(0, 1)[0],
        # a sum over the tokens, weighted by 1 at [CLS] and 0 elsewhere
        lambda vectors: F.normalize(
            torch.einsum("thd,h->td", vectors, torch.eye(vectors.shape[1])[0])
        ),
    ],
    "09-nearest": [
        lambda question, vectors, k: (question @ vectors.T).argsort()[::-1][:k],
        lambda question, vectors, k: np.argsort(np.linalg.norm(vectors - question, axis=1))[:k],
        lambda question, vectors, k: sorted(
            range(len(vectors)), key=lambda place: -sum(vectors[place] * question)
        )[:k],
        lambda question, vectors, k: (
            torch.topk(torch.tensor(vectors) @ torch.tensor(question), k).indices
        ),
        lambda question, vectors, k: (
            angle(np.inner(vectors.astype(np.float64), question)).argsort()[:k].tolist()
        ),
        # the first to the k-th neighbour; `k` alone would give no array where it is 1
        lambda question, vectors, k: KDTree(vectors).query(question, range(1, k + 1))[1],
    ],
}

WRONG = {}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "09-tokens": [
        (
            "two integers",
            lambda lengths: [sum(lengths), float(tokens_by_combinations(lengths)[1])],
            "two integers are asked for",
        ),
        (  # counts only the longest sentence
            "the number of tokens read with one pass for each sentence",
            lambda lengths: (max(lengths), tokens_by_combinations(lengths)[1]),
        ),
        (  # returns the mean over the pairs
            "the number of tokens read with one pass for each pair",
            lambda lengths: (
                sum(lengths),
                tokens_by_combinations(lengths)[1] / max(1, math.comb(len(lengths), 2)),
            ),
        ),
    ],
    # the check has sentences at 0.9, 0.9999, 1.0001 and 1.15 times the angle of `best`
    "09-can-skip": [
        # takes the angle for a little smaller: 0.86 times 1.15 is below 1
        ("skip every such sentence", skip_where(lambda apart, best: np.cos(0.86 * apart) <= best)),
        (  # asks for a little more than the angle of `best`
            "skip every such sentence",
            skip_where(lambda apart, best: apart >= np.arccos(best) + 1e-4),
        ),
        (  # takes the angle for a little larger: 1.12 times 0.9 is above 1
            "certainly not above `best`",
            skip_where(lambda apart, best: np.cos(1.12 * apart) <= best),
        ),
        (  # is content with a little less than the angle of `best`
            "certainly not above `best`",
            skip_where(lambda apart, best: apart >= np.arccos(best) - 1e-4),
        ),
        # approximates the cosine by a parabola, which lies below it
        ("certainly not above `best`", skip_where(lambda apart, best: 1 - apart**2 / 2 <= best)),
        (  # computes with whole degrees
            "certainly not above `best`",
            lambda query_pivot, corpus_pivot, best: (
                abs(in_degrees(query_pivot) - in_degrees(corpus_pivot)) >= in_degrees(best)
            ),
        ),
        # rounds the cosines to four decimals
        ("certainly not above `best`", skip_without_clipping(lambda cosine: np.round(cosine, 4))),
        (  # takes a negative cosine for a positive one
            "All numbers are from −1 to 1",
            lambda query_pivot, corpus_pivot, best: skip_in_numpy(
                abs(query_pivot), corpus_pivot, best
            ),
        ),
        (  # takes a negative `best` for 0
            "All numbers are from −1 to 1",
            lambda query_pivot, corpus_pivot, best: skip_in_numpy(
                query_pivot, corpus_pivot, max(0.0, best)
            ),
        ),
        # a single sentence loses its dimension
        ("with n at least 1", lambda *args: skip_in_numpy(*args).squeeze()),
        (  # answers in the order of the cosines
            "in their order",
            lambda query_pivot, corpus_pivot, best: skip_in_numpy(
                query_pivot, np.sort(corpus_pivot), best
            ),
        ),
        (  # rounding to six decimals removes less than half a millionth, not nearly a whole one
            "up to a millionth outside",
            skip_without_clipping(lambda cosine: np.round(cosine, 6)),
            "Rounding put the cosine of a sentence above 1: your function returned",
        ),
        (  # clips what is one step of float32 (1.2e-7) outside, but not two or more
            "up to a millionth outside",
            skip_without_clipping(
                lambda cosine: np.where(np.abs(cosine) < 1 + 2e-7, np.clip(cosine, -1, 1), cosine)
            ),
        ),
    ],
    "09-find-the-bug": [
        # gives up where there are two vectors
        ("with n at least 2", lambda vectors: pair_in(vectors) if len(vectors) > 2 else (0, 0)),
        (  # returns the cosine itself
            "Return the indices",
            lambda vectors: float((vectors @ vectors.T).fill_diagonal_(-2).max()),
        ),
        (
            "as two integers",
            lambda vectors: [float(place) for place in pair_in(vectors)],
            "two integers are asked for",
        ),
        (  # leaves out the pair of the last two
            "count as a pair, even if they are equal",
            closest_among(
                lambda count: (
                    pair for pair in itertools.combinations(range(count), 2) if pair[0] < count - 2
                )
            ),
            "the last two",
        ),
        (  # leaves out the last vector
            "count as a pair, even if they are equal",
            closest_among(lambda count: itertools.combinations(range(count - 1), 2)),
        ),
        (  # leaves out the first vector
            "count as a pair, even if they are equal",
            closest_among(lambda count: itertools.combinations(range(1, count), 2)),
        ),
        (  # returns the two that have the highest products with the mean of all
            "with the highest cosine",
            lambda vectors: (vectors @ vectors.mean(dim=0)).topk(2).indices,
        ),
    ],
}
