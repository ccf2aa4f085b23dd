"""Answers to lesson 09."""

import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial import KDTree

from course_utils import closest_pairs


def tokens_by_combinations(lengths):
    return [sum(lengths), sum(a + b - 1 for a, b in itertools.combinations(lengths, 2))]


def tokens_as_floats(lengths):
    n = len(lengths)
    return [sum(lengths), (n - 1) * sum(lengths) - n * (n - 1) / 2]


def angle(cosine):
    return np.arccos(np.clip(cosine, -1, 1))


def skip_where(found):
    """Skip where `found` of the two angles and `best`."""
    return lambda query_pivot, corpus_pivot, best: found(
        angle(query_pivot), angle(corpus_pivot), best
    )


skip_in_numpy = skip_where(lambda x, y, best: np.cos(x - y) <= best)


def skip_without_clipping(change):
    """Changes the cosines in this way, and turns what is not from -1 to 1 then into NaN."""

    def skip(query_pivot, corpus_pivot, best):
        with np.errstate(invalid="ignore"):
            return np.cos(np.arccos(change(query_pivot)) - np.arccos(change(corpus_pivot))) <= best

    return skip


def in_degrees(cosine):
    return np.degrees(angle(cosine)).round()


def clipped_if_very_near(cosine):
    return np.where(np.abs(cosine) < 1 + 2e-7, np.clip(cosine, -1, 1), cosine)


def pair_in(vectors, table=None, diagonal=-2):
    """A right answer; each argument changes one thing."""
    table = vectors @ vectors.T if table is None else table
    return divmod(int(table.fill_diagonal_(diagonal).argmax()), len(vectors))


def closest_among(places):
    """Looks at the pairs of these places only; `places` gets the number of vectors."""

    def among(vectors):
        pairs = list(places(len(vectors)))
        return max(
            pairs, key=lambda pair: float(vectors[pair[0]] @ vectors[pair[1]]), default=(0, 1)
        )

    return among


closest_range_too_short = closest_among(
    lambda n: ((i, j) for i in range(n - 2) for j in range(i + 1, n))
)


RIGHT = {
    "09-tokens": [
        tokens_by_combinations,
        lambda *args: tuple(tokens_by_combinations(*args)),
        lambda *args: np.array(tokens_by_combinations(*args)),
    ],
    "09-can-skip": [
        skip_in_numpy,
        lambda *args: skip_in_numpy(*args).tolist(),
        lambda *args: skip_in_numpy(*args).astype(int),
    ],
    "09-find-the-bug": [
        pair_in,
        lambda vectors: closest_pairs(vectors)[0][0],
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
        lambda vectors: [[x / math.hypot(*text[0]) for x in text[0]] for text in vectors.tolist()],
        lambda vectors: [text[0] / torch.sqrt(text[0] @ text[0]) for text in vectors],
        lambda vectors: F.normalize(vectors.double(), dim=-1).transpose(0, 1)[0],
        lambda vectors: F.normalize(
            torch.einsum("thd,h->td", vectors, torch.eye(vectors.shape[1])[0])
        ),
    ],
    "09-nearest": [
        lambda question, vectors, k: (question @ vectors.T).argsort()[::-1][:k],
        lambda question, vectors, k: np.argsort(np.linalg.norm(vectors - question, axis=1))[:k],
        lambda question, vectors, k: sorted(
            range(len(vectors)), key=lambda at: -sum(vectors[at] * question)
        )[:k],
        lambda question, vectors, k: (
            torch.topk(torch.tensor(vectors) @ torch.tensor(question), k).indices
        ),
        lambda question, vectors, k: (
            angle(np.inner(vectors.astype(np.float64), question)).argsort()[:k].tolist()
        ),
        lambda question, vectors, k: KDTree(vectors).query(question, range(1, k + 1))[1],
    ],
}
WRONG = {}
PROMISES = {
    "09-tokens": [
        ("two integers", tokens_as_floats, "two integers are asked for"),
        (
            "the number of tokens read with one pass for each sentence",
            lambda lengths: (max(lengths), tokens_by_combinations(lengths)[1]),
        ),
        (
            "the number of tokens read with one pass for each pair",
            lambda lengths: (
                sum(lengths),
                tokens_by_combinations(lengths)[1] / max(1, math.comb(len(lengths), 2)),
            ),
        ),
    ],
    "09-can-skip": [
        ("skip every such sentence", skip_where(lambda x, y, best: np.cos(0.86 * (x - y)) <= best)),
        (
            "skip every such sentence",
            skip_where(lambda x, y, best: abs(x - y) >= np.arccos(best) + 1e-4),
        ),
        (
            "certainly not above `best`",
            skip_where(lambda x, y, best: np.cos(1.12 * (x - y)) <= best),
        ),
        (
            "certainly not above `best`",
            skip_where(lambda x, y, best: abs(x - y) >= np.arccos(best) - 1e-4),
        ),
        ("certainly not above `best`", skip_where(lambda x, y, best: 1 - (x - y) ** 2 / 2 <= best)),
        (
            "certainly not above `best`",
            lambda q, c, best: abs(in_degrees(q) - in_degrees(c)) >= in_degrees(best),
        ),
        ("certainly not above `best`", skip_without_clipping(lambda cosine: np.round(cosine, 4))),
        ("All numbers are from −1 to 1", lambda q, c, best: skip_in_numpy(abs(q), c, best)),
        ("All numbers are from −1 to 1", lambda q, c, best: skip_in_numpy(q, c, max(0.0, best))),
        ("with n at least 1", lambda *args: skip_in_numpy(*args).squeeze()),
        ("in their order", lambda q, c, best: skip_in_numpy(q, np.sort(c), best)),
        (
            "up to a millionth outside",
            skip_without_clipping(lambda cosine: np.round(cosine, 6)),
            "Rounding put the cosine of a sentence above 1: your function returned",
        ),
        ("up to a millionth outside", skip_without_clipping(clipped_if_very_near)),
    ],
    "09-find-the-bug": [
        ("with n at least 2", lambda vectors: pair_in(vectors) if len(vectors) > 2 else (0, 0)),
        (
            "Return the indices",
            lambda vectors: float((vectors @ vectors.T).fill_diagonal_(-2).max()),
        ),
        (
            "as two integers",
            lambda vectors: [float(place) for place in pair_in(vectors)],
            "two integers are asked for",
        ),
        ("count as a pair, even if they are equal", closest_range_too_short, "the last two"),
        (
            "count as a pair, even if they are equal",
            closest_among(lambda n: itertools.combinations(range(n - 1), 2)),
        ),
        (
            "count as a pair, even if they are equal",
            closest_among(lambda n: itertools.combinations(range(1, n), 2)),
        ),
        (
            "with the highest cosine",
            lambda vectors: (vectors @ vectors.mean(dim=0)).topk(2).indices,
        ),
    ],
}
