"""Exercises of lesson 09, Sentence Transformers."""

from itertools import combinations, product
from numbers import Integral

import numpy as np
import torch

from ..pooling import normalise
from .framework import Case, Exercise, Mistake, difference, normal


def _tokens_cases(rng):
    lengths = [rng.randint(4, 30) for _ in range(rng.randint(5, 8))]
    return [
        Case("A handful of sentences", (lengths,)),
        Case("Two sentences make one pair", ([rng.randint(5, 12), rng.randint(13, 20)],)),
        Case("One sentence makes no pair", ([rng.randint(5, 20)],)),
        Case("Sentences of equal length", ([rng.randint(6, 12)] * rng.randint(3, 6),)),
        Case("Hundreds of long texts, to the last token", (_long_texts(rng),)),
    ]


def _long_texts(rng):
    """Lengths whose pairs float32 cannot count, and whose mean, cut or rounded, gives neither of the two numbers."""
    n = 279  # with fewer, no such mean is cut
    pairs = n * (n - 1) // 2
    while True:
        total = rng.randrange(260 * n, 420 * n)
        mean = total / n
        if (
            _pairs_sum([total] + [0] * (n - 1), -1) % 2  # odd, and above 2 ** 24
            and int(mean * n) < total
            and int((2 * mean - 1) * pairs) < (n - 1) * total - pairs
            and 2 * pairs * abs(mean - round(mean, 3)) > 2
        ):
            break
    apart = [rng.randint(0, 99) for _ in range(n // 2)]
    lengths = [total // n + d for half in (1, -1) for d in (half * one for one in apart)] + [total // n]
    lengths = [length + (place < total % n) for place, length in enumerate(lengths)]
    rng.shuffle(lengths)
    return lengths


def _not_integers(outcome):
    """What is wrong with two numbers that are right, but not integers; or None."""
    items = [item.item() if hasattr(item, "item") else item for item in outcome]
    if all(isinstance(item, Integral) for item in items):
        return None
    return f"your function returned {items}, and two integers are asked for; `/` gives a float, `//` an integer"


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
    judge=lambda args, outcome: difference(outcome, _tokens(*args)) or _not_integers(outcome),
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


def _can_skip_cases(rng):
    def cosines(*angles):
        angles = list(angles)
        rng.shuffle(angles)
        return np.cos(np.array(angles)).astype(np.float32)

    def around(x, t, *more):
        """Sentences nearer to the pivot than the question (at the angle x) and farther, within the angle t and not."""
        return cosines(
            *(x + sign * t * share for sign in (-1, 1) for share in (0.3, 0.6, 0.9, 0.9999, 1.0001, 1.15, 1.35)), *more
        )

    x, t = rng.uniform(1.0, 1.3), rng.uniform(0.5, 0.7)
    other = np.pi - x
    low = rng.uniform(1.8, 2.0)
    itself = rng.randint(400, 600) / 1000
    close = np.arccos([itself - 4e-5, itself + 4e-5])  # equal to it in four decimals
    given, step = rng.uniform(0.1, 0.3), np.finfo(np.float32).eps
    over, far = 1 + step, 1 + 8 * step  # 8 steps are nearly a millionth
    return [
        Case("Sentences on both sides of the question", (float(np.cos(x)), around(x, t, 2.9), float(np.cos(t)))),
        Case(
            "The question has a negative cosine with the pivot",
            (float(np.cos(other)), around(other, t), float(np.cos(t))),
        ),
        Case(
            "The best cosine so far is negative",
            (float(np.cos(0.3)), cosines(0.2, 0.5, 1.2, 1.7, low + 0.18, low + 0.5, low + 0.8), float(np.cos(low))),
        ),
        Case("The pivot is the question itself", (1.0, cosines(0.2, 0.7, *close, 2.0, 3.0), itself)),
        Case("The pivot is the opposite of the question", (-1.0, -cosines(0.2, 0.7, *close, 2.0, 3.0), itself)),
        Case("A sentence equal to the pivot, and one opposite to it", (given, np.array([1, -1, given]), 0.5)),
        Case("A sentence that can only equal the best cosine so far", (0.0, np.array([0.4, 0.0, -0.4]), 1.0)),
        Case("One sentence that can be skipped", (float(np.cos(x)), cosines(x - 0.8), float(np.cos(0.6)))),
        Case("One sentence that cannot", (float(np.cos(x)), cosines(x - 0.4), float(np.cos(0.6)))),
        Case("Rounding put the cosine of a sentence above 1", (given, np.array([far, 0.9, over, given]), 0.5)),
        Case("Rounding put the cosine of a sentence above 1", (0.9, np.array([over, 0.8, -0.2]), 0.5)),
        Case("Rounding put the cosine of a sentence below −1", (given, np.array([-far, 0.9, -over, given]), 0.5)),
        Case("Rounding put the cosine of the question above 1", (float(far), np.array([0.2, 0.9, -0.7]), 0.5)),
        Case("Rounding put the cosine of the question below −1", (-float(far), np.array([0.2, -0.9, 0.7]), 0.5)),
    ]


def _clipped(*cosines):
    return [np.arccos(np.clip(cosine, -1.0, 1.0)) for cosine in cosines]


def _highest(query_pivot, corpus_pivot):
    """The highest cosine that the question and each sentence can have."""
    x, y = _clipped(query_pivot, corpus_pivot)
    return np.cos(x - y)


def _can_skip(query_pivot, corpus_pivot, best):
    return (_highest(query_pivot, corpus_pivot) <= best).tolist()


def _chord(cosine):
    return np.sqrt(2 - 2 * np.clip(cosine, -1.0, 1.0))


def _unclipped(clip_question=False, clip_corpus=False, negated=False):
    def imitate(q, c, best):
        with np.errstate(invalid="ignore"):
            x = np.arccos(np.clip(q, -1.0, 1.0) if clip_question else q)
            y = np.arccos(np.clip(c, -1.0, 1.0) if clip_corpus else c)
            highest = np.cos(x - y)
            return ~(highest > best) if negated else highest <= best

    return imitate


CAN_SKIP = Exercise(
    id="09-can-skip",
    title="Skip for certain",
    arguments=("query_pivot", "corpus_pivot", "best"),
    cases=_can_skip_cases,
    reference=_can_skip,
    minutes=12,
    difficulty=3,
    points=2,
    mistakes=(
        Mistake(
            "You compare the *lowest* cosine that is possible, that of the sum of the angles. A sentence can be "
            "skipped only if even the highest one is not above `best`.",
            lambda q, c, best: np.cos(np.add(*_clipped(q, c))) <= best,
        ),
        Mistake(
            "True and False are exchanged: True is for a sentence that can be skipped.",
            lambda q, c, best: _highest(q, c) > best,
        ),
        Mistake(
            "A sentence that can only equal `best` cannot be above it. Skip it too.",
            lambda q, c, best: _highest(q, c) < best,
        ),
        *(
            Mistake(
                f"{where} just outside −1 to 1, your function returns {negated}. Count such a number as 1 or −1: "
                "`np.clip(..., -1, 1)`. (NumPy gives NaN for its arccos, and `<=` or `>` with NaN is False.)",
                _unclipped(negated=negated, **clipped),
            )
            for negated in (False, True)
            for where, clipped in (
                ("Where rounding put a cosine with the pivot", {}),
                ("For every sentence, if rounding put `query_pivot`", {"clip_corpus": True}),
                ("For a sentence whose number in `corpus_pivot` rounding put", {"clip_question": True}),
            )
        ),
        Mistake(
            "You clip to a little less than 1, and so you miss some sentences when question or sentence has a cosine "
            "of 1 with the pivot. Clip to 1 and −1: both have an arccos.",
            lambda q, c, best: _highest(np.clip(q, -1 + 1e-6, 1 - 1e-6), np.clip(c, -1 + 1e-6, 1 - 1e-6)) <= best,
        ),
        Mistake(
            "You subtract cosines. What the text says holds for angles: turn both cosines into angles first.",
            lambda q, c, best: 1 - np.abs(q - c) <= best,
        ),
        Mistake(
            "You multiply the two cosines. A sentence can have a higher cosine with the question than this product.",
            lambda q, c, best: q * c <= best,
        ),
        Mistake(
            "Your bound is never too low, but a lower one holds: it uses the straight distances between the vectors. "
            "Use the angles.",
            lambda q, c, best: 1 - (_chord(q) - _chord(c)) ** 2 / 2 <= best,
        ),
        Mistake(
            "You skip only sentences farther from the pivot than the question. One that is much nearer to the "
            "pivot than the question can be skipped as well.",
            lambda q, c, best: (lambda x, y: (y >= x) & (np.cos(x - y) <= best))(*_clipped(q, c)),
        ),
        Mistake(
            "You skip only sentences nearer to the pivot than the question. One that is much farther from the "
            "pivot than the question can be skipped as well.",
            lambda q, c, best: (lambda x, y: (y <= x) & (np.cos(x - y) <= best))(*_clipped(q, c)),
        ),
        *(
            Mistake("You compare an angle with the cosine `best`. Turn the angle into a cosine first.", imitate)
            for imitate in (
                lambda q, c, best: np.abs(np.subtract(*_clipped(q, c))) <= best,
                lambda q, c, best: np.subtract(*_clipped(q, c)) <= best,
                lambda q, c, best: np.abs(np.subtract(*_clipped(q, c))) >= best,
            )
        ),
        Mistake(
            "You compare the stored cosines with `best`. They are cosines with the pivot, and the question is "
            "somewhere else.",
            lambda q, c, best: c <= best,
        ),
        *(
            Mistake("A cosine can be negative, and −0.9 is not high: take no absolute value and no 0 in its place.", f)
            for f in (
                lambda q, c, best: np.abs(_highest(q, c)) <= best,
                lambda q, c, best: np.maximum(0, _highest(q, c)) <= best,
                lambda q, c, best: _highest(np.abs(q), np.abs(c)) <= best,
            )
        ),
        Mistake(
            "You return the places of the sentences that can be skipped. A truth value for each sentence is asked for.",
            lambda q, c, best: np.flatnonzero(_can_skip(q, c, best)),
        ),
        Mistake(
            "You return how many sentences can be skipped. A truth value for each sentence is asked for.",
            lambda q, c, best: sum(_can_skip(q, c, best)),
        ),
        Mistake(
            "You return one truth value for all sentences. Each sentence has its own.",
            lambda q, c, best: all(_can_skip(q, c, best)),
        ),
        Mistake(
            "You return the highest cosines that are possible. Compare them with `best`.",
            lambda q, c, best: _highest(q, c),
        ),
    ),
    hints=(
        "Draw a circle with the pivot at the top, and the question at the angle x from it. A sentence is at the angle "
        "y from the pivot, on the left or on the right. Where is it nearest to the question?",
        "The smallest possible angle gives the highest possible cosine. `np.arccos` turns a cosine into an angle, "
        "`np.cos` an angle into a cosine.",
        "Can a cosine of 1.000001 be turned into an angle? Bring it back with `np.clip(..., -1, 1)` first.",
    ),
)


def _closest_cases(rng):
    n, hidden = rng.randint(7, 10), rng.randint(5, 7)

    def drawn(i, j):
        """Random vectors, of which those at i and j are closest. Two others are opposite to each other."""
        vectors = normalise(normal(rng, n, hidden))
        first, second = rng.sample(sorted(set(range(n)) - {i, j}), 2)
        vectors[first] = -vectors[second]
        vectors[j] = normalise(vectors[i] + 0.05 * normal(rng, hidden))
        return vectors

    halves = torch.tensor(rng.sample(list(product([0.5, -0.5], repeat=4)), n - 1))  # their cosines are exact
    twin, place = rng.randrange(3), rng.randrange(4, n - 1)
    tied = halves[[0, 1, 0, 2, 3, 1, 0, 4]]
    apart = normalise(torch.eye(4) - 0.3 + 0.02 * normal(rng, 4, 4))
    one = torch.eye(hidden)[rng.randrange(hidden)]
    return [
        Case("Vectors at random", (normalise(normal(rng, n, hidden)),)),
        Case("The closest pair is the last two", (drawn(n - 2, n - 1),)),
        Case("The closest pair is the first and the last", (drawn(0, n - 1),)),
        Case("Two equal vectors are a pair", (torch.cat([halves[:place], halves[[twin]], halves[place:]]),)),
        Case("Two equal vectors are a pair", (halves[[0, 0, 1]],)),
        Case("Two equal vectors are a pair", (torch.eye(4)[[0, 1, 2, 3, 0]],)),  # `topk` finds the diagonal twice
        Case("Several pairs are equally close", (tied,)),
        *(
            Case("A pair is a little closer than the members of a group", (_group_and_pair(rng, spread),))
            for spread in (False, True)
        ),
        Case("All cosines are negative", (apart,)),
        Case("Two vectors", (torch.eye(hidden)[:2],)),
        Case("Two opposite vectors", (torch.stack([one, -one]),)),
    ]


def _group_and_pair(rng, spread):
    """Four vectors with a cosine of 0.95 to one another, and two with one of 0.9501, orthogonal to them.

    spread: whether the two differ by a little in four numbers, or by more in one, as other distances would notice.
    """
    axes, cosine = torch.eye(9), 0.9501
    group = [0.95**0.5 * axes[0] + 0.05**0.5 * axes[place] for place in (1, 2, 3, 4)]
    one, across = torch.tensor([[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, -0.5, -0.5]]) @ axes[5:] if spread else axes[5:7]
    later = [*group[2:], one, cosine * one + (1 - cosine**2) ** 0.5 * across]
    rng.shuffle(later)
    return torch.stack([*group[:2], *later])


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


def _closest_problem(vectors, outcome):
    table = (vectors.double() @ vectors.double().T).tolist()
    cosines = {(i, j): table[i][j] for i, j in combinations(range(len(table)), 2)}
    closest = [pair for pair, cosine in cosines.items() if cosine > max(cosines.values()) - 1e-6]
    problems = [difference(_in_order(outcome), pair) for pair in closest]
    return _not_integers(outcome) if None in problems else problems[0]


# The returned pair does not show which cells were filled, or with what.
_ZERO = (
    "Where your table holds no pair, on the diagonal or below it, it holds 0. That is not low: if all cosines are "
    "negative, 0 is the highest. Fill with something below −1."
)
_MINUS_ONE = (
    "Where your table holds no pair, its number is not low enough. Opposite vectors have a cosine of −1: fill with "
    "less, such as −2."
)

CLOSEST = Exercise(
    id="09-find-the-bug",
    title="Find the bug: the closest pair",
    arguments=("vectors",),
    cases=_closest_cases,
    reference=_closest,
    judge=lambda args, outcome: _closest_problem(*args, outcome),
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
        *(
            Mistake("You take the absolute value, so that opposite vectors count as close.", imitate)
            for imitate in (lambda v: _closest_absolute(v), lambda v: _closest_absolute(v, fill=0))
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


def _closest_absolute(vectors, fill=-2):
    table = (vectors @ vectors.T).abs().fill_diagonal_(fill)
    return list(divmod(table.argmax().item(), len(table)))


def _farthest(vectors):
    table = (vectors @ vectors.T).masked_fill(~torch.ones(len(vectors), len(vectors)).triu(1).bool(), 2.0)
    return list(map(int, np.unravel_index(table.argmin().item(), table.shape)))


EXERCISES = (TOKENS, CLOSEST, CAN_SKIP)
