"""Exercises of lesson 09, Sentence Transformers."""

from itertools import combinations

import numpy as np
import torch

from ..pooling import normalise
from .framework import Case, Exercise, Mistake, difference, normal


def _tokens_cases(rng):
    lengths = [rng.randint(4, 30) for _ in range(rng.randint(5, 8))]
    many = [rng.randint(24, 50) for _ in range(2 * rng.randint(700, 800))]
    many[0] += 1 - _pairs_sum(many, -1) % 2  # an odd result, which float32 cannot hold
    return [
        Case("A handful of sentences", (lengths,)),
        Case("Two sentences make one pair", ([rng.randint(5, 12), rng.randint(13, 20)],)),
        Case("One sentence makes no pair", ([rng.randint(5, 20)],)),
        Case("Sentences of equal length", ([rng.randint(6, 12)] * rng.randint(3, 6),)),
        Case("More than a thousand sentences, to the last token", (many,)),
    ]


def _pairs_sum(lengths, extra):
    """The sum of len_i + len_j + extra over all pairs."""
    n = len(lengths)
    return (n - 1) * sum(lengths) + extra * n * (n - 1) // 2


def _tokens(lengths):
    return [sum(lengths), _pairs_sum(lengths, -1)]


TOKENS = Exercise(
    id="09-tokens",
    title="Count the tokens",
    arguments=("lengths",),
    cases=_tokens_cases,
    reference=_tokens,
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "A pair is read as [CLS] one [SEP] other [SEP], with *three* special tokens. Two sentences alone have "
            "four: one has to go.",
            lambda x: [sum(x), _pairs_sum(x, 0)],
        ),
        Mistake(
            "You count three special tokens *more* for each pair. The lengths have two each already: together four, "
            "and three are needed.",
            lambda x: [sum(x), _pairs_sum(x, 3)],
        ),
        Mistake(
            "You leave out all special tokens of a pair. It has three: [CLS] one [SEP] other [SEP].",
            lambda x: [sum(x), _pairs_sum(x, -4)],
        ),
        Mistake(
            "You count only two special tokens for a pair. It has three: [CLS] one [SEP] other [SEP].",
            lambda x: [sum(x), _pairs_sum(x, -2)],
        ),
        Mistake(
            "You count each pair twice, once in each order. For a similarity, one order is enough.",
            lambda x: [sum(x), 2 * _pairs_sum(x, -1)],
        ),
        Mistake(
            "You pair each sentence also with itself.",
            lambda x: [sum(x), _pairs_sum(x, -1) + sum(2 * n - 1 for n in x)],
        ),
        Mistake(
            "You take every sentence with every sentence, in both orders and with itself: n times n. There are n(n "
            "− 1)/2 pairs.",
            lambda x: [sum(x), 2 * _pairs_sum(x, -1) + sum(2 * n - 1 for n in x)],
        ),
        Mistake(
            "You pair each sentence with the next one only. *Every* two sentences make a pair.",
            lambda x: [sum(x), sum(a + b - 1 for a, b in zip(x, x[1:]))],
        ),
        Mistake(
            "You count passes. The tokens that are read in all passes together are asked for.",
            lambda x: [len(x), len(x) * (len(x) - 1) // 2],
        ),
        Mistake(
            "Sentences of equal length are a pair, too: compare places, not lengths.",
            lambda x: [sum(x), sum(a + b - 1 for a in x for b in x if a != b) // 2],
        ),
        Mistake(
            "The lengths hold [CLS] and [SEP] already. Do not add them again.",
            lambda x: [sum(x) + 2 * len(x), _pairs_sum(x, 3)],
        ),
        Mistake(
            "A pass reads [CLS] and [SEP] as well. Do not subtract them.",
            lambda x: [sum(x) - 2 * len(x), _pairs_sum(x, -1)],
        ),
        Mistake(
            "Each sentence is in n − 1 pairs, not in n.",
            lambda x: [sum(x), len(x) * sum(x) - len(x) * (len(x) - 1) // 2],
        ),
        Mistake(
            "Two things: you count each pair in both orders, and a pair has three special tokens, not four.",
            lambda x: [sum(x), 2 * _pairs_sum(x, 0)],
        ),
        Mistake(
            "You count padding: the shorter sentence of a pair as if it were as long as the other. No padding is "
            "counted, so a pair has `lengths[i] + lengths[j] - 1` tokens.",
            lambda x: [sum(x), sum(2 * max(a, b) - 1 for a, b in combinations(x, 2))],
        ),
        Mistake(
            "You count every sentence as if it were as long as the longest. No padding is counted.",
            lambda x: [len(x) * max(x), len(x) * (len(x) - 1) // 2 * (2 * max(x) - 1)],
        ),
        Mistake(
            "The two numbers are in the wrong order: one pass for each sentence comes first.",
            lambda x: _tokens(x)[::-1],
        ),
        Mistake(
            "You return only the second number. Return both: tokens of all sentences, tokens of all pairs.",
            lambda x: _tokens(x)[1],
        ),
    ),
    hints=(
        "The first number is the sum of the lengths. For the second, go through all pairs i < j. How many tokens "
        "has [CLS] one [SEP] other [SEP]?",
        "A pair has `lengths[i] + lengths[j] - 1` tokens: four special tokens become three.",
        "Two loops do: `for i in range(len(lengths)): for j in range(i): ...`. (Without loops: each length appears "
        "in n − 1 pairs.)",
    ),
)


def _unit_rows(rng, n, hidden):
    return normalise(normal(rng, n, hidden))


def _mean_cosine_cases(rng):
    hidden = rng.randint(5, 8)
    n = hidden + rng.randint(4, 9)  # never equal to hidden
    one = _unit_rows(rng, 1, hidden)[0]
    around = normalise(one + 0.3 * normal(rng, n + 2, hidden))
    return [
        Case("Vectors at random", (_unit_rows(rng, n, hidden).sum(dim=0), n)),
        Case("Vectors that point to about the same side", (around.sum(dim=0), n + 2)),
        Case("Two vectors make one pair", (_unit_rows(rng, 2, hidden).sum(dim=0), 2)),
        Case("All vectors are equal", (n * one, n)),
        Case("Two opposite vectors", (0 * one, 2)),
        Case("The vectors add up to nothing", (torch.eye(3)[0] * 0, 3)),
        Case("Thousands of vectors", (_unit_rows(rng, 2000, 4).sum(dim=0), 2000)),
    ]


def _mean_cosine(total, n):
    return float(total @ total - n) / (n * (n - 1))


def _squared(total):
    return float(total @ total)


def _mean_length(total, n):
    return _squared(total) ** 0.5 / n


MEAN_COSINE = Exercise(
    id="09-mean-cosine",
    title="The average of all pairs",
    arguments=("total", "n"),
    cases=_mean_cosine_cases,
    reference=_mean_cosine,
    minutes=12,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You average over n times n products, and n of these are a vector with itself, 1 each. Take these n out, "
            "above and below the line.",
            lambda t, n: _squared(t) / n**2,
        ),
        Mistake(
            "You divide by the number of products without those of a vector with itself, but these are still in the "
            "sum: subtract n.",
            lambda t, n: _squared(t) / (n * (n - 1)),
        ),
        Mistake(
            "You took the products of each vector with itself out of the sum, but still divide by n times n. "
            "How many products are left?",
            lambda t, n: (_squared(t) - n) / n**2,
        ),
        Mistake(
            "Your result is twice the average: the squared length holds each pair in both orders, and you divide by "
            "the number of pairs.",
            lambda t, n: 2 * _mean_cosine(t, n),
        ),
        Mistake(
            "Your result is half the average: the squared length holds each pair in both orders, so halve the sum "
            "only if you divide by n(n − 1)/2.",
            lambda t, n: _mean_cosine(t, n) / 2,
        ),
        Mistake(
            "This is the sum over all pairs. Divide it by the number of pairs for the average.",
            lambda t, n: (_squared(t) - n) / 2,
        ),
        Mistake(
            "This is the sum over all pairs in both orders. The average of the pairs is asked for.",
            lambda t, n: _squared(t) - n,
        ),
        Mistake(
            "You use the length of the sum. What multiplies out to products of pairs is its *square*, `total @ total`.",
            lambda t, n: (_squared(t) ** 0.5 - n) / (n * (n - 1)),
        ),
        Mistake("This is the length of the mean vector. Its square is closer to what you need.", _mean_length),
        Mistake(
            "You subtract 1. Each of the n vectors gives 1 with itself: subtract n.",
            lambda t, n: (_squared(t) - 1) / (n * (n - 1)),
        ),
        Mistake(
            "You subtract the number of dimensions. The number of vectors, n, is the sum of their cosines with "
            "themselves.",
            lambda t, n: (_squared(t) - len(t)) / (n * (n - 1)),
        ),
        *(
            Mistake(
                "Your result is never negative. An average of cosines can be: two opposite vectors have −1.", imitate
            )
            for imitate in (lambda t, n: max(0.0, _mean_cosine(t, n)), lambda t, n: abs(_mean_cosine(t, n)))
        ),
        Mistake(
            "You average the numbers of the vector `total`. A product of two vectors is needed: `total @ total`.",
            lambda t, n: float(t.mean()),
        ),
    ),
    hints=(
        "(a + b + c)·(a + b + c) has nine products. Three of them are a vector with itself. What do these three add "
        "up to? The other six are the pairs, each in both orders.",
        "For n vectors there are n · n products in `total @ total`: n of them are 1, and n(n − 1) belong to pairs.",
        "Test with vectors of your own: `rows = normalise(torch.randn(5, 3))`. The table `rows @ rows.T` has all the "
        "products.",
    ),
)


def _closest_cases(rng):
    n, hidden = rng.randint(7, 10), rng.randint(5, 7)

    free = normalise(normal(rng, n, hidden))
    twice = free.clone()
    twice[n - 1] = twice[0]
    twice[4] = normalise(twice[2] + 0.2 * twice[1])
    twice[5] = -twice[3]  # so that neither the next best nor the worst pair depends on how the equal ones are ordered
    late = normalise(normal(rng, n, hidden))
    late[n - 1] = normalise(late[n - 3] + 0.05 * normal(rng, hidden))
    apart = normalise(torch.eye(4) - 0.3 + 0.02 * normal(rng, 4, 4))
    one = torch.eye(hidden)[rng.randrange(hidden)]
    return [
        Case("Vectors at random", (free,)),
        Case("The closest pair stands at the end", (late,)),
        Case("Two equal vectors are a pair", (twice,)),
        Case("All cosines are negative", (apart,)),
        Case("Two vectors", (normalise(normal(rng, 2, hidden)),)),
        Case("Two opposite vectors", (torch.stack([one, -one]),)),
    ]


def _off_diagonal(table):
    return ~torch.eye(len(table)).bool()


def _closest(vectors, fill=-2.0, keep=lambda table: torch.ones_like(table).triu(1).bool(), less=None):
    table = vectors @ vectors.T
    if less is not None:
        table, keep = table - less * torch.eye(len(table)), torch.ones_like
    place = table.masked_fill(~keep(table).bool(), fill).argmax().item()
    return [place // len(table), place % len(table)]


def _in_order(pair):
    """Put the smaller index of a pair first; leave any other value unchanged.

    Rounding, which differs between processors, decides which of the two indices `argmax` finds first.
    """
    pair = pair.tolist() if hasattr(pair, "tolist") else pair
    return sorted(pair) if isinstance(pair, (list, tuple)) and len(pair) == 2 else pair


# The returned pair does not show which cells were filled, or with what.
_ZERO = (
    "Where your table holds no pair, on the diagonal or below it, it holds 0. That is not low: if all cosines are "
    "negative, 0 is the highest. Fill with something below −1."
)
_MINUS_ONE = (
    "Where your table holds no pair, it holds −1. Opposite vectors have this cosine, too: fill with less, such as −2."
)

CLOSEST = Exercise(
    id="09-find-the-bug",
    title="Find the bug: the closest pair",
    arguments=("vectors",),
    cases=_closest_cases,
    reference=_closest,
    judge=lambda args, outcome: difference(_in_order(outcome), _closest(*args)),
    alike=lambda one, other: difference(_in_order(one), _in_order(other)) is None,
    minutes=8,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You find a vector and itself: the diagonal of the table holds the cosine of each vector with itself, "
            "1. Leave it out.",
            lambda v: _closest(v, keep=lambda t: torch.ones_like(t).bool()),
        ),
        Mistake(_ZERO, lambda v: _closest(v, fill=0.0, keep=_off_diagonal)),
        Mistake(_ZERO, lambda v: _closest(v, fill=0.0)),
        Mistake(_ZERO, lambda v: _closest(v, less=1.0)),
        Mistake(_MINUS_ONE, lambda v: _closest(v, fill=-1.0, keep=_off_diagonal)),
        Mistake(_MINUS_ONE, lambda v: _closest(v, fill=-1.0)),
        Mistake(
            "You take the absolute value, so that opposite vectors count as close.", lambda v: _closest_absolute(v)
        ),
        Mistake(
            "You leave out every pair with a cosine of 1. Equal vectors in different places are a pair; only the "
            "diagonal has to go.",
            lambda v: _closest(v, keep=lambda t: (t < 0.9999) & torch.ones_like(t).triu(1).bool()),
        ),
        Mistake("You find the pair that is farthest apart.", lambda v: _farthest(v)),
        Mistake(
            "You return the number that `argmax` gives for the table as one long row. Its row is this number // n, "
            "its column the rest.",
            lambda v: (lambda i: i[0] * len(v) + i[1])(_closest(v)),
        ),
        Mistake(
            "You compare each vector with the next one only. Every two vectors make a pair.",
            lambda v: (lambda i: [i, i + 1])((v[:-1] * v[1:]).sum(dim=1).argmax().item()),
        ),
    ),
    hints=(
        "What is the largest number of the table, always? Print `vectors @ vectors.T` for three vectors.",
        "Take the diagonal out before `argmax`, with a value that no cosine can have: `table.fill_diagonal_(-2)`.",
        "The rest of the function with the bug can stay: a row is the number that `argmax` gives, `// len(table)`, "
        "a column the rest.",
    ),
)


def _closest_absolute(vectors):
    table = (vectors @ vectors.T).abs().triu(1)
    return list(divmod(table.argmax().item(), len(table)))


def _farthest(vectors):
    table = (vectors @ vectors.T).masked_fill(~torch.ones(len(vectors), len(vectors)).triu(1).bool(), 2.0)
    return list(map(int, np.unravel_index(table.argmin().item(), table.shape)))


EXERCISES = (TOKENS, MEAN_COSINE, CLOSEST)
