"""Exercises of lesson 13, Small and fast."""

from functools import partial

import numpy as np

from .comparing import difference
from .model import Case, Completion
from .words import exercise


def _numbers(rng, rows, columns, draw):
    return np.array([[draw() for _ in range(columns)] for _ in range(rows)], dtype=np.float32)


def _calibrated(rng, n, d, outside=False, constant=False):
    """Vectors, lowest and highest, all of them multiples of powers of two: in every precision, each falls in one step.

    outside: whether some numbers lie outside the ranges. constant: whether one dimension has lowest = highest,
    which one vector exceeds.
    """
    step = np.array([2.0 ** -rng.randint(8, 11) for _ in range(d)], dtype=np.float32)
    low = np.array([-rng.randint(40, 200) for _ in range(d)], dtype=np.float32) * step
    high = low + 255 * step
    place = _numbers(rng, n, d, lambda: rng.randint(0, 254) + rng.choice([0.25, 0.5, 0.75]))
    if outside:
        place[rng.randrange(n), rng.randrange(d)] = -rng.randint(2, 60) - 0.5
        place[rng.randrange(n), rng.randrange(d)] = 255 + rng.randint(2, 60) + 0.5
    vectors = low + place * step
    if constant:
        at = rng.randrange(d)
        high[at] = low[at]
        vectors[:, at] = low[at]
        vectors[rng.randrange(n), at] += rng.randint(2, 60) + 0.5
    return vectors, low, high


def _int8_cases(rng):
    n, d = rng.randint(4, 6), rng.randint(5, 7)
    vectors, low, high = _calibrated(rng, n, d)
    ends = np.stack([low, high])
    outside = _calibrated(rng, n, d, outside=True)
    shifted = _calibrated(rng, n, d)
    shifted[0][0] = shifted[1] - 7.5 * (shifted[2] - shifted[1]) / 255
    above = _calibrated(rng, n, d)
    above[0][-1] = above[2] + 7.5 * (above[2] - above[1]) / 255
    yield Case("Numbers inside the ranges", vectors, low, high)
    yield Case("The lowest and the highest number of each dimension", ends, low, high)
    yield Case("One vector", *_calibrated(rng, 1, d))
    yield Case("A number below its range", *shifted)
    yield Case("A number above its range", *above)
    yield Case("Numbers outside the ranges on both sides", *outside)
    yield Case("A dimension that was constant", *_calibrated(rng, n, d, constant=True))


def _int8(vectors, low, high, steps=255, shift=-128, clip=True, rounding=np.floor):
    step = (high - low) / np.float32(steps)
    step = np.where(step == 0, np.float32(1), step)
    place = rounding((vectors - low) / step)
    place = np.clip(place, 0, 255) if clip else place
    return (place + shift).astype(np.int64).astype(np.int8)


def _or(step, other):
    return np.where(step == 0, np.float32(other), step)


def _steps(vectors, low, high, clip=True):
    """How many steps, with decimals."""
    place = (vectors - low) / _or((high - low) / np.float32(255), 1)
    return np.clip(place, 0, 255) if clip else place


def _unsafe(vectors, low, high):
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.clip(np.floor((vectors - low) / ((high - low) / 255)), 0, 255)
    return np.where(np.isnan(place), 0, place - 128)


def _range_for_step(vectors, low, high):
    """Where `low` equals `high`, the range is 1, and not the step."""
    step = np.where(high == low, np.float32(1), high - low) / np.float32(255)
    return (np.clip(np.floor((vectors - low) / step), 0, 255) - 128).astype(np.int8)


def _rounded_unsafe(vectors, low, high):
    """Two mistakes at once: rounds to the nearest step, and divides 0 by 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.clip(np.round((vectors - low) / ((high - low) / 255)), 0, 255)
    return np.where(np.isnan(place), 0, place - 128)


def _around_zero(vectors, low, high, rounding, each, least):
    """Scaled by the largest absolute value, of each dimension or of all."""
    largest = np.maximum(np.abs(low), np.abs(high))
    largest = largest if each else largest.max()
    return np.clip(rounding(vectors / largest * 127), least, 127).astype(np.int8)


def _of_one_byte(outcome):
    """What is wrong with right numbers that do not take one byte each; or None."""
    kind = str(getattr(outcome, "dtype", type(outcome).__name__))
    if kind.rpartition(".")[2] == "int8":
        return None
    return f"the numbers are right, but your result has the dtype {kind}, and one byte each is the point: int8"


INT8 = exercise(
    "13-int8",
    _int8_cases,
    _int8,
    judge=lambda args, outcome: difference(outcome, _int8(*args).tolist()) or _of_one_byte(outcome),
    points=2,
)(
    wraps_around=(
        lambda v, low, high: _int8(v, low, high, clip=False),
        lambda v, low, high: _int8(v, low, high, clip=False, rounding=lambda x: np.minimum(np.floor(x), 255)),
        lambda v, low, high: _int8(v, low, high, clip=False, rounding=lambda x: np.maximum(np.floor(x), 0)),
    ),
    not_shifted=lambda v, low, high: _int8(v, low, high, shift=0).view(np.uint8),
    shifted_too_late=lambda v, low, high: _int8(v, low, high, shift=0),
    shifted_by_127=lambda v, low, high: _int8(v, low, high, shift=-127),
    nearest_step=(
        lambda v, low, high: _int8(v, low, high, rounding=np.round),
        lambda v, low, high: _int8(v, low, high, rounding=lambda x: np.floor(x + 0.5)),
        lambda v, low, high: _int8(v, low, high, rounding=np.ceil),
        _rounded_unsafe,
    ),
    divided_by_256=lambda v, low, high: _int8(v, low, high, steps=256),
    own_ranges=(
        lambda v, low, high: _int8(v, v.min(axis=0), v.max(axis=0)),
        lambda v, low, high: _int8(v, v.min(), v.max()),
        lambda v, low, high: _int8(v, v.min(axis=1, keepdims=True), v.max(axis=1, keepdims=True)),
    ),
    one_range=(
        lambda v, low, high: _int8(v, low.min(), high.max()),
        lambda v, low, high: _int8(v, low, low + (high - low).max()),
        lambda v, low, high: _int8(v, low, low + (high - low).mean()),
    ),
    zero_by_zero=lambda v, low, high: _unsafe(v, low, high),
    constant_as_lowest=[
        lambda v, low, high: _int8(np.clip(v, low, high), low, high),
        lambda v, low, high: _int8(np.where(low == high, low, v), low, high),
    ],
    range_for_step=_range_for_step,
    clipped_too_late=lambda v, low, high: (
        np.clip(np.floor(_steps(v, low, high, clip=False)) - 128, 0, 255).astype(np.int64).astype(np.int8)
    ),
    around_zero=tuple(
        partial(_around_zero, rounding=rounding, each=each, least=least)
        for rounding in (np.round, np.floor, np.trunc)
        for each in (False, True)
        for least in (-128, -127)
    ),
    low_not_subtracted=lambda v, low, high: _int8(v + low, low, high),
    cut_by_astype=(
        lambda v, low, high: np.trunc(_steps(v, low, high) - 128).astype(np.int8),
        lambda v, low, high: np.trunc(_steps(np.clip(v, low, high), low, high) - 128).astype(np.int8),
    ),
    not_one_byte=lambda v, low, high: _int8(v, low, high).astype(int),
)


def _bytes(rng, n, count):
    return np.array([[rng.randrange(256) for _ in range(count)] for _ in range(n)], dtype=np.uint8)


def _hamming_cases(rng):
    n, count = rng.randint(4, 7), rng.randint(3, 6)
    query, corpus = _bytes(rng, 1, count)[0], _bytes(rng, n, count)
    near = np.repeat(query[None], 4, axis=0)
    for row in (1, 2, 3):
        near[row, row - 1] ^= 1 << rng.randrange(8)
    near[3, 0] ^= 1 << rng.randrange(8)
    long = _bytes(rng, 1, 48)[0]
    far = np.stack([~long, long, np.where(np.arange(48) < 40, ~long, long)]).astype(np.uint8)
    yield Case("Vectors of a few bytes", query, corpus)
    yield Case("Vectors that differ in no bit, one or two", query, near)
    yield Case("48 bytes that differ in hundreds of bits", long, far)
    yield Case("One vector to compare with", query, corpus[:1])
    yield Case("One byte each", query[:1], corpus[:, :1])
    yield Case("Bits that are all 0, and all 1", np.zeros(2, np.uint8), np.array([[0, 0], [255, 255]], np.uint8))


def _hamming(query, corpus):
    return np.bitwise_count(query ^ corpus).sum(axis=1, dtype=np.int64)


def _opened(query, corpus):
    return np.unpackbits(query).astype(int), np.unpackbits(corpus, axis=1).astype(int)


HAMMING = exercise("13-hamming", _hamming_cases, lambda query, corpus: _hamming(query, corpus).tolist())(
    bytes_counted=(lambda q, c: (q != c).sum(axis=1), lambda q, c: (q != c).mean(axis=1)),
    eight_bit_sum=(
        lambda q, c: np.bitwise_count(q ^ c).sum(axis=1, dtype=np.uint8),
        lambda q, c: _hamming(q, c).astype(np.int8),
    ),
    equal_bits=(lambda q, c: 8 * len(q) - _hamming(q, c), lambda q, c: 1 - _hamming(q, c) / (8 * len(q))),
    both_ones=lambda q, c: np.bitwise_count(q & c).sum(axis=1, dtype=int),
    either_one=lambda q, c: np.bitwise_count(q | c).sum(axis=1, dtype=int),
    bytes_subtracted=(
        lambda q, c: np.bitwise_count(c - q).sum(axis=1, dtype=int),
        lambda q, c: np.bitwise_count(q - c).sum(axis=1, dtype=int),
        lambda q, c: np.bitwise_count(q.astype(int) - c).sum(axis=1, dtype=int),
    ),
    bytes_added=(
        lambda q, c: (q ^ c).sum(axis=1, dtype=int),
        lambda q, c: np.linalg.norm((q ^ c).astype(float), axis=1),
    ),
    one_number=(lambda q, c: int(_hamming(q, c).sum()), lambda q, c: [int(_hamming(q, c).sum())]),
    share=(lambda q, c: _hamming(q, c) / (8 * len(q)), lambda q, c: _hamming(q, c) / len(q)),
    per_byte=lambda q, c: np.bitwise_count(q ^ c),
    ones_compared=(
        lambda q, c: np.abs(np.subtract.outer(_opened(q, c)[0].sum(), _opened(q, c)[1].sum(axis=1))),
        lambda q, c: np.abs(np.bitwise_count(q).astype(int) - np.bitwise_count(c)).sum(axis=1),
    ),
    one_for_each_byte=(
        lambda q, c: np.bitwise_count(q ^ c).sum(axis=0, dtype=int),
        lambda q, c: (_opened(q, c)[0] != _opened(q, c)[1]).sum(axis=0),
    ),
    order_returned=(
        lambda q, c: np.argsort(_hamming(q, c), kind="stable"),
        lambda q, c: np.argsort(-_hamming(q, c), kind="stable"),
    ),
    packed_again=lambda q, c: _hamming(np.packbits(q > 0), np.packbits(c > 0, axis=1)),
    one_long_row=(
        lambda q, c: [int((np.unpackbits(q) ^ np.unpackbits(c)).sum())],
        lambda q, c: (np.unpackbits(q) ^ np.unpackbits(c)).sum(axis=1),
        lambda q, c: int((np.unpackbits(q) ^ np.unpackbits(c)).sum()),
    ),
    eight_for_each_byte=lambda q, c: 8 * (q != c).sum(axis=1),
    one_bit_missing=(lambda q, c: _hamming(q & 127, c & 127), lambda q, c: _hamming(q & 254, c & 254)),
)


def _rescore_cases(rng):
    def drawn(n, d, count, k, where=None):
        """A query, a corpus, and candidates whose scores with the query are apart."""
        scores = np.array(rng.sample(range(-40, 60 + n), n)) / 64
        query = np.array([rng.choice([-1.0, 1.0]) for _ in range(d)], dtype=np.float32)
        corpus = _numbers(rng, n, d, lambda: rng.randint(-8, 8) / 16)
        corpus += ((scores - corpus @ query) / d)[:, None] * query
        candidates = np.array(rng.sample(range(n), count) if where is None else where)
        return query, corpus.astype(np.float32), candidates, k

    n = rng.randint(12, 16)
    query, corpus, _, _ = drawn(n, 4, n, 3)
    order = np.argsort(-(corpus @ query))
    long = corpus.copy()
    long[order[0]] += 8 * query * np.float32([1, 1, -1, -1])  # of the same score, at a wide angle to the query
    missing = rng.sample(order[2:].tolist(), 5)
    below = drawn(n, 8, 6, 4)
    below[1][:] = below[1] - 2 * below[0] / 8
    yield Case("Candidates in no particular order", *drawn(n, 8, 7, 3))
    yield Case("The best of the corpus are not among the candidates", query, corpus, np.array(missing), 2)
    yield Case("The best candidate stands last", query, corpus, np.array([*order[4:9], order[0]]), 2)
    yield Case("As many as there are candidates", *drawn(n, 4, 5, 5))
    yield Case("Vectors that are not of length 1", query, long, np.array([*order[5:10], order[0]]), 3)
    yield Case("One result", *drawn(n, 4, 6, 1))
    yield Case("All scores are negative", *below)
    yield Case("Many candidates", *drawn(800, 4, 800, 400))


def _scores(query, corpus, candidates):
    return corpus[candidates] @ query


def _rescored(query, corpus, candidates, k):
    return candidates[np.argsort(-_scores(query, corpus, candidates))[:k]]


def _cosine_order(q, c, candidates, k):
    scores = _scores(q, c, candidates) / np.linalg.norm(c[candidates], axis=1)
    return candidates[np.argsort(-scores)[:k]]


RESCORE = exercise(
    "13-rescore",
    _rescore_cases,
    lambda *args: _rescored(*args).tolist(),
    points=2,
    arguments=("query", "corpus", "candidates", "k"),
)(
    places_in_candidates=(
        lambda q, c, candidates, k: np.argsort(-_scores(q, c, candidates))[:k],
        lambda q, c, candidates, k: np.argsort(-_scores(q, c, candidates) / np.linalg.norm(c[candidates], axis=1))[:k],
        lambda q, c, candidates, k: np.argsort(-_scores(q, c, candidates[:k])),
    ),
    lowest_first=(
        lambda q, c, candidates, k: candidates[np.argsort(_scores(q, c, candidates))[:k]],
        lambda q, c, candidates, k: candidates[np.argsort(_scores(q, c, candidates))[:k][::-1]],
    ),
    best_last=lambda q, c, candidates, k: _rescored(q, c, candidates, k)[::-1],
    whole_corpus=lambda q, c, candidates, k: np.argsort(-(c @ q))[:k],
    first_k_only=lambda q, c, candidates, k: _rescored(q, c, candidates[:k], k),
    not_ordered=lambda q, c, candidates, k: candidates[:k],
    scores_returned=(
        lambda q, c, candidates, k: np.sort(-_scores(q, c, candidates))[:k] * -1,
        lambda q, c, candidates, k: _scores(q, c, candidates),
        lambda q, c, candidates, k: _scores(q, c, candidates)[:k],
    ),
    vectors_returned=lambda q, c, candidates, k: c[_rescored(q, c, candidates, k)],
    all_returned=lambda q, c, candidates, k: _rescored(q, c, candidates, len(candidates)),
    absolute=lambda q, c, candidates, k: candidates[np.argsort(-np.abs(_scores(q, c, candidates)))[:k]],
    normalised=_cosine_order,
    sorted_by_place=lambda q, c, candidates, k: np.sort(_rescored(q, c, candidates, k)),
    one_place_off=(
        lambda q, c, candidates, k: _rescored(q, c, candidates, k - 1),
        lambda q, c, candidates, k: _rescored(q, c, candidates, k + 1),
        lambda q, c, candidates, k: _rescored(q, c, candidates, min(k, len(candidates) - 1)),
        lambda q, c, candidates, k: _rescored(q, c, candidates, k + 1)[1:],
    ),
    dropped_too_late=lambda q, c, candidates, k: [x for x in np.argsort(-(c @ q))[:k].tolist() if x in candidates],
    other_order=(
        lambda q, c, candidates, k: np.sort(candidates)[np.argsort(-_scores(q, c, candidates))[:k]],
        lambda q, c, candidates, k: candidates[np.argsort(-_scores(q, c, np.sort(candidates)))[:k]],
    ),
    partly_ordered=(
        lambda q, c, candidates, k: candidates[np.argpartition(-_scores(q, c, candidates), k - 1)[:k]],
        lambda q, c, candidates, k: candidates[
            np.argpartition(-_scores(q, c, candidates), min(k, len(candidates) - 1))[:k]
        ],
        lambda q, c, candidates, k: candidates[np.argpartition(_scores(q, c, candidates), -k)[-k:]],
        lambda q, c, candidates, k: candidates[np.argpartition(_scores(q, c, candidates), -k)[-k:][::-1]],
    ),
)


def _decode_cases(rng):
    step = np.float32(rng.choice([0.5, 0.25]))
    low = np.array([-rng.randint(4, 40), rng.randint(1, 9)], dtype=np.float32)
    few = np.array([[rng.randint(-128, -100), rng.randint(1, 126)]], dtype=np.int8)
    yield Case("One vector of two numbers", few, low, low + 255 * step)
    for label, n, d in [("Several vectors", 4, 5), ("Many dimensions", 3, 12)]:
        _, low, high = _calibrated(rng, n, d)
        yield Case(label, _numbers(rng, n, d, lambda: rng.randint(-128, 126)).astype(np.int8), low, high)
    _, low, high = _calibrated(rng, 2, 4)
    yield Case("The lowest code is half a step above `low`", np.full((1, 4), -128, dtype=np.int8), low, high)


DECODE = Completion(
    "13-decode",
    "Decode",
    ("codes", "low", "high"),
    _decode_cases,
    lambda codes, low, high: (low + (codes + 128.5) * (high - low) / 255).tolist(),
)


def _sign_cases(rng):
    def number():
        """A few quarters above or below 0."""
        return rng.choice([-1, 1]) * rng.randint(1, 9) / 4

    for label, n, d in [("Two rows", 2, 4), ("One row", 1, 7), ("Many dimensions", 3, 40)]:
        corpus = _numbers(rng, n + 1, d, number)
        yield Case(label, corpus[0], corpus[1:])
    corpus = _numbers(rng, 3, 6, number)
    yield Case(
        "The same vector, its double and its opposite", corpus[0], np.stack([corpus[0], corpus[0] * 2, -corpus[0]])
    )
    yield Case("0 is not above 0", np.zeros(6, dtype=np.float32), corpus)


SIGNS = Completion(
    "13-signs",
    "Signs that differ",
    ("query", "corpus"),
    _sign_cases,
    lambda query, corpus: ((query > 0) != (corpus > 0)).sum(axis=1).tolist(),
)
