"""Answers to lesson 13."""

import numpy as np
import torch


def int8(vectors, low, high, steps=255, least=0, most=255):
    """A right answer; each argument changes one thing."""
    step = np.where(high == low, 1, (high - low) / steps)
    return (np.clip(np.floor((vectors - low) / step), least, most) - 128).astype(int).astype(np.int8)


def int8_clipped_first(vectors, low, high):
    """Where `low` equals `high`, nothing is left to count."""
    width = np.where(high == low, 255, high - low)
    return ((np.clip(vectors, low, high) - low) * 255 // width - 128).astype("int8")


def int8_range_for_step(vectors, low, high):
    step = np.where(high == low, 1, high - low) / 255
    return (np.clip(np.floor((vectors - low) / step), 0, 255) - 128).astype(np.int8)


def int8_clipped_too_late(vectors, low, high):
    step = np.where(high == low, 1, (high - low) / 255)
    return np.clip(np.floor((vectors - low) / step) - 128, 0, 255).astype(np.int8)


def int8_rounded_and_divided_by_zero(vectors, low, high):
    with np.errstate(divide="ignore", invalid="ignore"):
        return (np.clip(np.round((vectors - low) / ((high - low) / 255)), 0, 255) - 128).astype(np.int8)


def int8_cut_and_clipped_first(vectors, low, high):
    step = np.where(high == low, 1, (high - low) / 255)
    return ((np.clip(vectors, low, high) - low) / step - 128).astype(np.int8)


def int8_by_comparing(vectors, low, high):
    """Counts how many of the 255 ends of steps a number has reached, in float32."""
    ends = low + np.arange(1, 256, dtype=np.float32)[:, None] * np.where(high == low, 1, (high - low) / 255)
    return ((vectors[:, None] >= ends.astype(np.float32)).sum(axis=1) - 128).astype(np.int8)


def int8_in_torch(vectors, low, high):
    v, a, b = (torch.from_numpy(x) for x in (vectors, low, high))
    step = (b - a) / 255
    step[step == 0] = 1
    return (((v - a) / step).floor().clamp(0, 255) - 128).to(torch.int8)


def int8_in_plain_python(vectors, low, high):
    def code(x, low, high):
        step = (high - low) / 255 if high > low else 1.0
        return max(0, min(255, int((x - low) // step))) - 128

    return np.array([[code(*of) for of in zip(row, low.tolist(), high.tolist())] for row in vectors.tolist()], np.int8)


def int8_symmetric(vectors, low, high):
    return np.clip(np.round(vectors * 127 / np.abs(np.stack([low, high])).max()), -127, 127).astype(np.int8)


def hamming_counted(query, corpus):
    return np.bitwise_count(query ^ corpus).sum(axis=1)


def hamming_unpacked(query, corpus):
    return (np.unpackbits(query) != np.unpackbits(corpus, axis=1)).sum(axis=1)


def hamming_by_loops(query, corpus):
    return [sum(bin(int(a) ^ int(b)).count("1") for a, b in zip(query, row)) for row in corpus]


def hamming_squeezed(query, corpus):
    found = hamming_counted(query, corpus)
    return found if len(found) > 1 else int(found[0])


def hamming_absolute(query, corpus):
    apart = np.abs(query.astype(int) - corpus.astype(int)).astype(np.uint8)
    return np.bitwise_count(apart).sum(axis=1)


def rescore_plain(query, corpus, candidates, k):
    scores = corpus[candidates] @ query
    return candidates[np.argsort(-scores)[:k]]


def rescore_sorted(query, corpus, candidates, k):
    return sorted(candidates.tolist(), key=lambda place: -float(corpus[place] @ query))[:k]


def rescore_topk(query, corpus, candidates, k):
    rows = torch.from_numpy(corpus[candidates])
    return torch.from_numpy(candidates)[(rows @ torch.from_numpy(query)).topk(k).indices]


def rescore_in_plain_python(query, corpus, candidates, k):
    rows, q = corpus.tolist(), query.tolist()
    scores = {place: sum(a * b for a, b in zip(rows[place], q)) for place in candidates.tolist()}
    return sorted(scores, key=scores.get, reverse=True)[:k]


def rescore_bug(query, corpus, candidates, k):
    scores = corpus[candidates] @ query
    return np.argsort(-scores)[:k]


def rescore_by_cosine_in_candidates(query, corpus, candidates, k):
    rows = corpus[candidates]
    return np.argsort(-(rows @ query) / np.linalg.norm(rows, axis=1))[:k]


def rescore_one_number(query, corpus, candidates, k):
    found = rescore_plain(query, corpus, candidates, k)
    return found if k > 1 else int(found[0])


RIGHT = {
    "13-int8": [int8, int8_in_torch, int8_in_plain_python, int8_by_comparing],
    "13-hamming": [hamming_counted, hamming_unpacked, hamming_by_loops],
    "13-rescore": [rescore_plain, rescore_sorted, rescore_topk, rescore_in_plain_python],
}
WRONG = {
    "13-int8": [
        (lambda *args: int8(*args, least=-np.inf, most=np.inf), "wrap around: 300 becomes 44"),
        (int8_clipped_first, "Clip the counts, not the numbers"),
        (int8_range_for_step, "let the *range* be 1"),
        (int8_clipped_too_late, "after you have subtracted 128"),
        (int8_rounded_and_divided_by_zero, "to the nearest step"),
        (int8_cut_and_clipped_first, "leave the rounding to `astype`"),
    ],
    "13-hamming": [(lambda query, corpus: np.count_nonzero(query != corpus, axis=1), "the *bytes* that differ")],
    "13-rescore": [
        (rescore_bug, "places in the list of candidates"),
        (rescore_by_cosine_in_candidates, "places in the list of candidates"),
        (lambda q, c, found, k: np.argsort(-(c[found[:k]] @ q)), "places in the list of candidates"),
        (lambda q, c, found, k: c[rescore_plain(q, c, found, k)], "return the vectors"),
    ],
}
PROMISES = {
    "13-int8": [
        ("Each dimension's range, from `low` to `high`,", int8_symmetric),
        ("is divided into 255 steps of equal length", lambda *args: int8(*args, most=254, steps=254)),
        ("fewer than 0 counts as 0", lambda *args: int8(*args, least=-np.inf)),
        ("more than 255 as 255", lambda *args: int8(*args, most=np.inf)),
        ("dtype int8", lambda *args: int8(*args).astype(int), "one byte each is the point"),
        ("dtype int8", lambda *args: int8(*args).tolist(), "one byte each is the point"),
        ("(n, d), with n at least 1", lambda *args: int8(*args).squeeze()),
    ],
    "13-hamming": [
        ("how many bits of the query differ from those of each row", hamming_absolute),
        ("one number for each row, in their order", lambda *args: np.sort(hamming_counted(*args))),
        ("with n at least 1", hamming_squeezed),
    ],
    "13-rescore": [
        (
            "of the k candidates with the highest dot product",
            lambda q, c, *more: [p for p in rescore_sorted(q, c, *more) if c[p] @ q > 0],
        ),
        (
            "k is from 1 to the number of candidates",
            lambda q, c, found, k: rescore_plain(q, c, found, min(k, len(found) - 1)),
        ),
        ("k is from 1 to the number of candidates", rescore_one_number),
    ],
}
