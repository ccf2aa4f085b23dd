"""Exercises of lesson 09, Sentence Transformers."""

import numpy as np
import torch

from ..pooling import normalise
from .framework import Case, Exercise, Mistake, difference, normal, top_pairs


def _tokens_cases(rng):
    lengths = [rng.randint(4, 30) for _ in range(rng.randint(5, 8))]
    many = [rng.randint(4, 30) for _ in range(rng.randint(400, 600))]
    return [
        Case("A handful of sentences", (lengths,)),
        Case("Two sentences make one pair", ([rng.randint(5, 12), rng.randint(13, 20)],)),
        Case("One sentence makes no pair", ([rng.randint(5, 20)],)),
        Case("Sentences of equal length", ([rng.randint(6, 12)] * rng.randint(3, 6),)),
        Case("Hundreds of sentences", (many,)),
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


def _search_cases(rng):
    n, hidden = rng.randint(8, 12), rng.randint(4, 6)
    corpus = normal(rng, n, hidden) * torch.tensor([[rng.choice([0.2, 1.0, 6.0])] for _ in range(n)])
    query = normal(rng, hidden)
    corpus[rng.randrange(n)] = 9 * (query.roll(1) + 0.4 * query)  # a long vector that is not the nearest
    near = rng.randrange(n)
    plain = normal(rng, n, hidden)
    corpus[near] = 0.1 * (query + 0.1 * normal(rng, hidden))  # a short vector that is the nearest
    return [
        Case("Vectors of different lengths: only the direction counts", (query, corpus, 3)),
        Case("A longer query changes nothing", (5 * query, corpus, 2)),
        Case("One result", (normal(rng, hidden), plain, 1)),
        Case("The whole corpus, in order", (query, corpus, n)),
        Case("All cosines are negative", (query, -(query + 0.3 * normal(rng, n, hidden)), 3)),
    ]


def _cosines(query, corpus):
    return (corpus @ query) / (corpus.norm(dim=1) * query.norm())


def _search(query, corpus, k):
    return top_pairs(_cosines(query, corpus), k)


SEARCH = Exercise(
    id="09-search",
    title="A search",
    arguments=("query", "corpus", "k"),
    cases=_search_cases,
    reference=_search,
    minutes=8,
    difficulty=1,
    points=2,
    mistakes=(
        Mistake(
            "These are dot products, and long vectors win them. Divide by both lengths, or normalise first.",
            lambda q, c, k: top_pairs(c @ q, k),
        ),
        Mistake(
            "Only the query is normalised. The vectors of the corpus have different lengths, too.",
            lambda q, c, k: top_pairs(c @ (q / q.norm()), k),
        ),
        Mistake(
            "Only the corpus is normalised. The order is right, the cosines are not: divide by the length of the "
            "query as well.",
            lambda q, c, k: top_pairs(c @ q / c.norm(dim=1), k),
        ),
        Mistake(
            "You divide by the length of the whole table, one number. Each vector has its own: `norm(dim=1)`.",
            lambda q, c, k: top_pairs(c @ q / (c.norm() * q.norm()), k),
        ),
        Mistake(
            "You divide by the lengths of the columns. A vector is a row: `norm(dim=1)`.",
            lambda q, c, k: top_pairs((c / c.norm(dim=0)) @ (q / q.norm()), k),
        ),
        Mistake(
            "These are the *least* similar vectors.",
            lambda q, c, k: [(i, -v) for i, v in top_pairs(-_cosines(q, c), k)],
        ),
        Mistake(
            "The nearest by distance are not the nearest by cosine when lengths differ. Compute cosines.",
            lambda q, c, k: [
                (i, float(_cosines(q, c)[i])) for i in (c - q).norm(dim=1).topk(k, largest=False).indices.tolist()
            ],
        ),
        Mistake(
            "You take the absolute value, so that opposite vectors count as similar.",
            lambda q, c, k: top_pairs(_cosines(q, c).abs(), k),
        ),
        Mistake(
            "The right places, in the wrong order: the most similar comes first.",
            lambda q, c, k: _search(q, c, k)[::-1],
        ),
        Mistake(
            "Your pairs are the other way round: (place, cosine) is asked for.",
            lambda q, c, k: [(v, i) for i, v in _search(q, c, k)],
        ),
        Mistake(
            "You return all places and all cosines apart. Pairs are asked for: `list(zip(places, cosines))`.",
            lambda q, c, k: tuple(map(list, zip(*_search(q, c, k)))),
        ),
        Mistake(
            "You leave out the nearest. Here the query is not in the corpus, so the nearest counts.",
            lambda q, c, k: top_pairs(_cosines(q, c), min(k + 1, len(c)))[1:],
        ),
        Mistake(
            "These are distances. Cosines are asked for, the highest first.",
            lambda q, c, k: [(i, -v) for i, v in top_pairs(-(c - q).norm(dim=1), k)],
        ),
        Mistake(
            "The order is that of dot products, and only the numbers are cosines. Sort by cosine.",
            lambda q, c, k: [(i, float(_cosines(q, c)[i])) for i, _ in top_pairs(c @ q, k)],
        ),
        Mistake("You return all vectors of the corpus, not the first k.", lambda q, c, k: _search(q, c, len(c))),
        Mistake(
            "Your pairs are sorted by place. Sort by cosine, the highest first.",
            lambda q, c, k: sorted(_search(q, c, k)),
        ),
        Mistake(
            "0, 1, 2 and so on are ranks, not places in the corpus.",
            lambda q, c, k: list(enumerate(v for _, v in _search(q, c, k))),
        ),
        Mistake(
            "You return the places without their cosines. Pairs (place, cosine) are asked for.",
            lambda q, c, k: [i for i, _ in _search(q, c, k)],
        ),
        Mistake(
            "You return the cosines without their places. Pairs (place, cosine) are asked for.",
            lambda q, c, k: [v for _, v in _search(q, c, k)],
        ),
    ),
    hints=(
        "Normalise the query and every row of the corpus. Then one matrix product gives all cosines at once.",
        "`values.topk(k)` has `.indices` and `.values`, the largest first.",
        "`list(zip(top.indices.tolist(), top.values.tolist()))` makes the pairs.",
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


EXERCISES = (TOKENS, CLOSEST, SEARCH)
