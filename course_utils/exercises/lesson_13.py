"""Exercises of lesson 13, small and fast search. See `model.py` on cases and mistakes' swaps."""

import numpy as np

from .comparing import difference
from .model import Case, completion, exercise


# A table of this size and dtype, each number of which is what `draw()` returns.
def _numbers(rows, columns, draw, dtype=np.float32):
    return np.array([[draw() for _ in range(columns)] for _ in range(rows)], dtype=dtype)


# n vectors of d numbers, d at most 8, and the lowest and the highest number of each dimension:
# float32 arrays of the shapes (n, d), (d,) and (d,).
#
# All are multiples of powers of two, so each number falls in the same step in every precision.
def _calibrated(rng, n, d):
    # different steps, so that ranges of 255 steps are about 1, 1/2, 1/4 and 1/8 long
    step = 2 ** -np.array(rng.sample([8, 9, 10, 11] * 2, d), dtype=np.float32)
    low = np.array([-rng.randint(40, 200) for _ in range(d)], dtype=np.float32) * step
    # how many steps above the lowest, never a whole number of them
    count = _numbers(n, d, lambda: rng.randint(0, 254) + rng.choice([0.25, 0.5, 0.75]))
    return low + count * step, low, low + 255 * step


def _int8_cases(rng):
    n, d = rng.randint(4, 6), rng.randint(5, 7)
    vectors, low, high = _calibrated(rng, n, d)
    beyond = 7.5 * (high - low) / 255  # seven steps and a half
    return [
        Case("Numbers inside the ranges", vectors, low, high),
        Case(
            "The lowest and the highest number of each dimension", np.stack([low, high]), low, high
        ),
        Case("One vector", vectors[:1], low, high),
        Case(
            "Numbers below and above the ranges",
            np.stack([low - beyond, high + beyond, *vectors]),
            low,
            high,
        ),
        Case(
            "A dimension that was constant",
            # its step is 1: half a step is rounded down in every other vector
            np.column_stack([vectors[:, :-1], low[-1] + 2.5 * np.arange(n, dtype=np.float32)]),
            low,
            np.append(high[:-1], low[-1]),
        ),
    ]


def _int8(vectors, low, high):
    step = (high - low) / np.float32(255)
    step = np.where(step == 0, np.float32(1), step)
    count = np.floor((vectors - low) / step)
    code = np.clip(count, 0, 255) - 128
    return code.astype(np.int64).astype(np.int8)


# What is wrong with right numbers that do not take one byte each; or None. A dtype of Torch is
# written `torch.int8`.
def _of_one_byte(outcome):
    kind = str(getattr(outcome, "dtype", type(outcome).__name__))
    if kind.rpartition(".")[2] == "int8":
        return None
    return (
        f"the numbers are right, but your result has the dtype {kind}, "
        "and one byte each is the point: int8"
    )


INT8 = exercise(
    "13-int8",
    _int8_cases,
    _int8,
    judge=lambda args, outcome: difference(outcome, _int8(*args).tolist()) or _of_one_byte(outcome),
    points=2,
)(
    wraps_around=[
        *(
            {"np.clip(count, 0, 255)": other}
            for other in ("count", "np.minimum(count, 255)", "count.clip(0)")
        ),
        {"np.clip(count, 0, 255) - 128": "np.clip(count - 128, 0, 255)"},
    ],
    not_shifted=[{" - 128": ""}, {" - 128": "", "astype(np.int8)": "astype(np.uint8)"}],
    nearest_step=[{"np.floor(": f"np.{other}("} for other in ("round", "ceil")],
    divided_by_256={"np.float32(255)": "np.float32(256)"},
    other_ranges=[
        {"step = (high - low)": f"low, high = {ranges}\n    step = (high - low)"}
        for ranges in (
            "vectors.min(axis=0), vectors.max(axis=0)",
            "vectors.min(), vectors.max()",
            "vectors.min(axis=1, keepdims=True), vectors.max(axis=1, keepdims=True)",
            "low.min(), high.max()",
            "low, low + (high - low).max()",
        )
    ],
    zero_by_zero=[
        {
            "np.where(step == 0, np.float32(1), step)": "step",
            "code.astype": "np.nan_to_num(code).astype",
        },
        {"np.float32(1)": "np.float32(1) / 255"},
    ],
    constant_as_lowest={"count =": "vectors = np.clip(vectors, low, high)\n    count ="},
    low_not_subtracted={"(vectors - low)": "vectors"},
    cut_by_astype={"np.floor": ""},
    not_one_byte={".astype(np.int8)": ""},
)


def _hamming_cases(rng):
    # the query stands in the first row, the corpus in the others
    rows = _numbers(1 + rng.randint(4, 7), rng.randint(3, 6), lambda: rng.randrange(256), np.uint8)
    query, corpus = rows[0], rows[1:]
    long = _numbers(1, 48, lambda: rng.randrange(256), np.uint8)[0]
    return [
        Case("Vectors of a few bytes", query, corpus),
        Case(
            "48 bytes that differ in hundreds of bits",
            long,
            # all bits differ, none, and those of 40 bytes
            np.stack([~long, long, [*~long[:40], *long[40:]]]),
        ),
        Case("One vector to compare with", query, corpus[:1]),
        Case(
            "Bits that are all 0, and all 1",
            np.zeros(2, np.uint8),
            np.array([[0, 0], [255, 255]], np.uint8),
        ),
    ]


def _hamming(query, corpus):
    bits = np.unpackbits(query ^ corpus, axis=1)
    return bits.sum(axis=1, dtype=np.int64)


HAMMING = exercise("13-hamming", _hamming_cases, _hamming)(
    bytes_counted=[
        {"query ^ corpus": "(query != corpus).astype(np.uint8)"},
        # only whether each byte is 0
        {"query ^ corpus": "np.packbits(query > 0) ^ np.packbits(corpus > 0, axis=1)"},
    ],
    eight_bit_sum=[{"np.int64": "np.uint8"}, {"np.int64": "np.int8"}],
    equal_bits={"query ^ corpus": "~(query ^ corpus)"},
    both_ones=[{"query ^ corpus": f"query {sign} corpus"} for sign in "&|"],
    bytes_subtracted=[{"query ^ corpus": "query - corpus"}, {"query ^ corpus": "corpus - query"}],
    bytes_added={"np.unpackbits(query ^ corpus, axis=1)": "query ^ corpus"},
    share=[
        {
            "return bits.sum(axis=1, dtype=np.int64)": (
                f"return bits.sum(axis=1, dtype=np.int64) / {length}"
            )
        }
        for length in ("bits.shape[1]", "corpus.shape[1]")
    ],
    ones_compared={
        "query ^ corpus": "corpus",
        "bits.sum(axis=1, dtype=np.int64)": (
            "abs(bits.sum(axis=1) - np.unpackbits(query).sum(dtype=int))"
        ),
    },
    order_returned={
        "return bits.sum(axis=1, dtype=np.int64)": "return bits.sum(axis=1).argsort(kind='stable')"
    },
    one_long_row=[
        {"bits.sum(axis=1, dtype=np.int64)": total}
        for total in ("int(bits.sum())", "[int(bits.sum())]", "bits.sum(axis=0, dtype=int)")
    ],
)


def _rescore_cases(rng):
    # A query, a corpus, candidates and k. No two scores with the query are nearly equal: they are
    # different multiples of 1/64, the lowest possible one being `lowest` / 64. n: vectors of the
    # corpus. count: candidates. d: dimensions, a power of two, so that dividing by it is exact.
    def drawn(n, count, k, d=4, lowest=-40):
        query = np.array([rng.choice([-1.0, 1.0]) for _ in range(d)], dtype=np.float32)
        corpus = _numbers(n, d, lambda: rng.randint(-8, 8) / 16)
        # drawn from 100 numbers more than are needed; up to 16 drawn from -150 on are all below 0
        scores = np.array(rng.sample(range(lowest, lowest + 100 + n), n)) / 64
        # Query entries are ±1, so adding c * query to a vector changes its score by c * d: this
        # gives each vector the score that is drawn for it.
        corpus += np.outer((scores - corpus @ query) / d, query).astype(np.float32)
        return query, corpus, np.array(rng.sample(range(n), count)), k

    n = rng.randint(12, 16)
    query, corpus, *_ = drawn(n, count=n, k=3)  # its candidates and its k are not used
    order = np.argsort(-(corpus @ query))
    missing = np.array(rng.sample(order[2:].tolist(), 5))  # none of the best two
    return [
        Case("Candidates in no particular order", *drawn(n, count=7, k=3, d=8)),
        Case("The best of the corpus are not among the candidates", query, corpus, missing, 2),
        Case("As many as there are candidates", *drawn(n, count=5, k=5)),
        Case("One result", *drawn(n, count=6, k=1)),
        Case("All scores are negative", *drawn(n, count=6, k=4, lowest=-150)),
        # among few, an order that is only partly right may be right by chance
        Case("Many candidates", *drawn(n=800, count=800, k=400)),
    ]


def _rescored(query, corpus, candidates, k):
    scores = corpus[candidates] @ query
    order = np.argsort(-scores)
    return candidates[order][:k]


RESCORE = exercise("13-rescore", _rescore_cases, _rescored, points=2)(
    places_in_candidates={"candidates[order]": "order"},
    lowest_first={"-scores": "scores"},
    whole_corpus={"corpus[candidates]": "corpus", "candidates[order]": "order"},
    first_k_only={"scores = ": "candidates = candidates[:k]\n    scores = "},
    not_ordered={"candidates[order]": "candidates"},
    scores_returned={"candidates[order]": "scores[order]"},
    all_returned={"[:k]": ""},
    absolute={"-scores": "-np.abs(scores)"},
    normalised=[
        {"@ query": f"@ query / {lengths}"}
        for lengths in (
            "np.linalg.norm(corpus[candidates], axis=1)",
            "(np.linalg.norm(corpus[candidates], axis=1) * np.linalg.norm(query))",
        )
    ],
    sorted_by_place={"candidates[order][:k]": "np.sort(candidates[order][:k])"},
    partly_ordered=[
        {"np.argsort(-scores)": "np.argpartition(-scores, k - 1)"},
        {"np.argsort(-scores)": "np.argpartition(-scores, min(k, len(scores) - 1))"},
        {"np.argsort(-scores)": "np.argpartition(scores, -k)[::-1]"},
    ],
)


def _decode_cases(rng):
    # without 127, which stands for the highest number and all above it, not for a step
    def codes(n, d):
        return _numbers(n, d, lambda: rng.randint(-128, 126), np.int8)

    _, low, high = _calibrated(rng, 1, 5)
    return [
        Case(
            "One vector of two numbers",
            codes(1, 2),
            # steps of 1/2
            np.array([-20, 3], np.float32),
            np.array([107.5, 130.5], np.float32),
        ),
        Case("Several vectors", codes(4, 5), low, high),
        Case(
            "The lowest code is half a step above `low`",
            np.full((1, 5), -128, dtype=np.int8),
            low,
            high,
        ),
    ]


def _decoded(codes, low, high):
    step = (high - low) / 255
    count = codes + 128.0
    return low + (count + 0.5) * step


DECODE = completion("13-decode", _decode_cases, _decoded)(
    lower_end={"count + 0.5": "count"},
    upper_end=[{"count + 0.5": "count + 1"}, {"count + 0.5": "count - 0.5"}],
    not_shifted_back=[{"codes + 128.0": "codes.astype(float)"}, {"codes + 128.0": "codes - 128.0"}],
    low_left_out=[{"return low": "return 0"}, {"return low": "return high"}],
    not_times_step=[
        {" * step": ""},
        {"(count + 0.5) * step": "count + 0.5 * step"},
        {"(count + 0.5) * step": "codes + 128.5 * step"},
    ],
    divided_by_step={"* step": "/ step"},
)


def _sign_cases(rng):
    rows = _numbers(4, 40, lambda: rng.choice([-9, -4, -1, 2, 3, 8]) / 4)
    return [
        Case("Two rows", rows[0, :4], rows[1:3, :4]),
        Case("One row", rows[0, :7], rows[1:2, :7]),
        Case("Many dimensions", rows[0], rows[1:]),
        Case(
            "The same vector, its double and its opposite",
            rows[0, :6],
            np.outer([1, 2, -1], rows[0, :6]),
        ),
        Case("0 is not above 0", np.zeros(6, dtype=np.float32), rows[:, :6]),
    ]


def _signs_apart(query, corpus):
    of_query, of_corpus = query > 0, corpus > 0
    return (of_query != of_corpus).sum(axis=1)


SIGNS = completion("13-signs", _sign_cases, _signs_apart)(
    equal_bits={"of_query != of_corpus": "of_query == of_corpus"},
    numbers_compared={"query > 0, corpus > 0": "query, corpus"},
    three_signs=[
        {"query > 0, corpus > 0": "np.sign(query), np.sign(corpus)"},
        {"of_query != of_corpus": "query * corpus < 0"},
        {"of_query != of_corpus": "query * corpus <= 0"},
    ],
    zero_above={"query > 0, corpus > 0": "query >= 0, corpus >= 0"},
    differences_cancel=[
        {"of_query != of_corpus": "np.sign(query) - np.sign(corpus)"},
        {"of_query != of_corpus": "of_query.astype(int) - of_corpus"},
    ],
    another_mark={
        "query > 0, corpus > 0": (
            "query > query.mean(), corpus > corpus.mean(axis=1, keepdims=True)"
        )
    },
    only_one_side=[
        {"of_query != of_corpus": "of_query > of_corpus"},
        {"of_query != of_corpus": "of_corpus > of_query"},
    ],
    both_above=[{"of_query != of_corpus": f"of_query {sign} of_corpus"} for sign in "&|"],
)
