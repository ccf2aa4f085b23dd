"""Exercises of lesson 09, Sentence Transformers."""

from functools import partial
from itertools import combinations, product
from numbers import Integral

import numpy as np
import torch

from ..pooling import normalise
from .comparing import difference
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _tokens_cases(rng):
    lengths = [rng.randint(4, 30) for _ in range(rng.randint(5, 8))]
    yield Case("A handful of sentences", lengths)
    yield Case("Two sentences make one pair", [rng.randint(5, 12), rng.randint(13, 20)])
    yield Case("One sentence makes no pair", [rng.randint(5, 20)])
    yield Case("Sentences of equal length", [rng.randint(6, 12)] * rng.randint(3, 6))
    yield Case("Hundreds of long texts, to the last token", _long_texts(rng))


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


def _of_mean(whole, x, first=None):
    """A mistake: both numbers from the mean length, cut or rounded by `whole`."""
    n, mean = len(x), whole(sum(x) / len(x))
    return [sum(x) if first is None else round(mean * n), round((2 * mean - 1) * (n * (n - 1) // 2))]


def _in_float32(pairs):
    return lambda x: [sum(x), int(pairs(torch.tensor(x, dtype=torch.float32)))]


def _pair_table(x):
    return (x[:, None] + x - 1).triu(1)


TOKENS = exercise(
    "09-tokens",
    _tokens_cases,
    _tokens,
    judge=lambda args, outcome: difference(outcome, _tokens(*args)) or _not_integers(outcome),
    points=2,
)(
    four_special=lambda x: [sum(x), _pairs_sum(x, 0)],
    three_more=lambda x: [sum(x), _pairs_sum(x, 3)],
    three_off=lambda x: [sum(x), _pairs_sum(x, -3)],
    one_more=lambda x: [sum(x), _pairs_sum(x, 1)],
    saved_too_rarely=[
        lambda x, saved=saved: [sum(x), _pairs_sum(x, 0) - saved(len(x))]
        for saved in (lambda n: 1, lambda n: n, lambda n: n - 1)
    ],
    no_special=lambda x: [sum(x), _pairs_sum(x, -4)],
    two_special=lambda x: [sum(x), _pairs_sum(x, -2)],
    both_orders=lambda x: [sum(x), 2 * _pairs_sum(x, -1)],
    with_itself=lambda x: [sum(x), _pairs_sum(x, -1) + sum(2 * n - 1 for n in x)],
    all_with_all=lambda x: [sum(x), 2 * _pairs_sum(x, -1) + sum(2 * n - 1 for n in x)],
    one_left_out=[
        lambda x, kept=kept, more=more: [sum(x), _pairs_sum(kept(x), more)]
        for kept in (lambda x: x[:-1], lambda x: x[1:])
        for more in (-1, 0)
    ],
    halved=(lambda x: [sum(x), _pairs_sum(x, -1) // 2], lambda x: [sum(x), _pairs_sum(x, -1) / 2]),
    neighbours_only=(
        lambda x: [sum(x), sum(a + b - 1 for a, b in zip(x, x[1:]))],
        lambda x: [sum(x), sum(a + b for a, b in zip(x, x[1:]))],
        lambda x: [sum(x), sum(a + b - 1 for a, b in zip(x[::2], x[1::2]))],
    ),
    passes=(
        lambda x: [len(x), len(x) * (len(x) - 1) // 2],
        lambda x: [len(x), len(x) * (len(x) - 1)],
        lambda x: [len(x), len(x) ** 2],
    ),
    equal_lengths_skipped=(
        lambda x: [sum(x), sum(a + b - 1 for a in x for b in x if a != b) // 2],
        lambda x: [sum(x), sum(a + b - 1 for a in x for b in x if a != b)],
        lambda x: [sum(x), sum(a + b - 1 for a, b in combinations(set(x), 2))],
        lambda x: [sum(x), sum(a + b for a, b in combinations(set(x), 2))],
    ),
    special_added=[lambda x, more=more: [sum(x) + 2 * len(x), _pairs_sum(x, more)] for more in (3, -1, 0, 2, 4)],
    special_subtracted=[lambda x, more=more: [sum(x) - 2 * len(x), _pairs_sum(x, more)] for more in (-1, -4, 0, -3)],
    in_n_pairs=(lambda x: [sum(x), len(x) * sum(x) - len(x) * (len(x) - 1) // 2], lambda x: [sum(x), len(x) * sum(x)]),
    both_orders_and_specials=[lambda x, more=more: [sum(x), 2 * _pairs_sum(x, more)] for more in (0, -2, -4, 3)],
    with_itself_and_specials=[
        lambda x, more=more: [sum(x), _pairs_sum(x, more) + sum(2 * n + more for n in x)] for more in (0, -2, -4, 3)
    ],
    padding_of_pairs=[
        lambda x, more=more: [sum(x), sum(2 * max(a, b) + more for a, b in combinations(x, 2))] for more in (-1, 0)
    ],
    padding_of_all=(
        lambda x: [len(x) * max(x), len(x) * (len(x) - 1) // 2 * (2 * max(x) - 1)],
        lambda x: [len(x) * max(x), len(x) * (len(x) - 1) * max(x)],
        lambda x: [sum(x), len(x) * (len(x) - 1) // 2 * (2 * max(x) - 1)],
        lambda x: [len(x) * max(x), _pairs_sum(x, -1)],
    ),
    order_of_results=lambda x: _tokens(x)[::-1],
    pairs_only=lambda x: _tokens(x)[1],
    mean_rounded=[
        partial(_of_mean, whole, first=first)
        for whole in (round, int, partial(round, ndigits=1), partial(round, ndigits=2), partial(round, ndigits=3))
        for first in (None, "of the mean")
    ],
    in_float32=(
        _in_float32(lambda x: (len(x) - 1) * x.sum() - len(x) * (len(x) - 1) / 2),
        _in_float32(lambda x: torch.tensor(float(_pairs_sum(x.int().tolist(), -1)))),
        _in_float32(lambda x: _pair_table(x).sum()),
        _in_float32(lambda x: (x[:, None] + x - 1).triu(1)[torch.ones(len(x), len(x)).triu(1).bool()].sum()),
        _in_float32(lambda x: ((x[:, None] + x - 1).sum() - (2 * x - 1).sum()) / 2),
    ),
    floats=lambda x: [float(number) for number in _tokens(x)],
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
    yield Case("Vectors at random", normalise(normal(rng, n, hidden)))
    yield Case("The closest pair is the last two", drawn(n - 2, n - 1))
    yield Case("The closest pair is the first and the last", drawn(0, n - 1))
    yield Case("Two equal vectors are a pair", torch.cat([halves[:place], halves[[twin]], halves[place:]]))
    yield Case("Two equal vectors are a pair", halves[[0, 0, 1]])
    yield Case("Two equal vectors are a pair", torch.eye(4)[[0, 1, 2, 3, 0]])  # `topk` finds the diagonal twice
    yield Case("Several pairs are equally close", tied)
    for spread in (False, True):
        yield Case("A pair is a little closer than the members of a group", _group_and_pair(rng, spread))
    yield Case("All cosines are negative", apart)
    yield Case("Two vectors", torch.eye(hidden)[:2])
    yield Case("Two opposite vectors", torch.stack([one, -one]))


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


def _alike_pairs(one, other):
    """Whether two pairs are the same in either order, or both are a row and itself, which depends on rounding."""
    pairs = [_in_order(one), _in_order(other)]
    if all(isinstance(pair, list) and len(pair) == 2 and pair[0] == pair[1] for pair in pairs):
        return True
    return difference(*pairs) is None


def _nth_highest(n, order):
    """A mistake: the place of the n-th highest number of the table, with its diagonal."""
    return lambda v: _place((order((v @ v.T).flatten()))[n(len(v))], len(v))


def _place(place, n):
    return list(divmod(int(place), n))


def _second_in_rows(vectors):
    values, places = (vectors @ vectors.T).topk(2, dim=1)
    row = values[:, 1].argmax().item()
    return [row, places[row, 1].item()]


def _second_in_sorted_rows(vectors):
    table = (vectors @ vectors.T).numpy()
    second = table.argsort(axis=1)[:, -2]
    row = table[np.arange(len(table)), second].argmax()
    return [int(row), int(second[row])]


def _in_shorter_list(keep, width):
    """A mistake: a place in the list of some numbers of the table is turned into a row and a column."""
    return lambda v: _place((v @ v.T)[keep(torch.ones(len(v), len(v))).bool()].argmax(), width(len(v)))


def _high_filled(limit, fill):
    """A mistake: every number of the table above `limit` is replaced."""

    def closest(vectors):
        table = vectors @ vectors.T
        return _place(table.masked_fill(table >= limit, fill).argmax(), len(table))

    return closest


def _searched(vectors, end, start=-2.0, default=None):
    """A mistake: a search of the pairs below `end` from `start`, which returns `default` if it finds none above."""
    pair = default
    for i, j in combinations(range(end), 2):
        if (cosine := float(vectors[i] @ vectors[j])) > start:
            start, pair = cosine, [i, j]
    return pair


def _closest_problem(vectors, outcome):
    table = (vectors.double() @ vectors.double().T).tolist()
    cosines = {(i, j): table[i][j] for i, j in combinations(range(len(table)), 2)}
    closest = [pair for pair, cosine in cosines.items() if cosine > max(cosines.values()) - 1e-6]
    problems = [difference(_in_order(outcome), pair) for pair in closest]
    return _not_integers(outcome) if None in problems else problems[0]


CLOSEST = exercise(
    "09-find-the-bug",
    _closest_cases,
    _closest,
    judge=lambda args, outcome: _closest_problem(*args, outcome),
    alike=_alike_pairs,
    points=2,
)(
    itself=(
        lambda v: _closest(v, keep=lambda t: torch.ones_like(t).bool()),
        _nth_highest(lambda n: 1, lambda numbers: numbers.topk(2).indices),
        _nth_highest(lambda n: 1, lambda numbers: numbers.argsort(descending=True)),
        _nth_highest(lambda n: -2, lambda numbers: numbers.argsort()),
    ),
    zeros_outside=(
        lambda v: _closest(v, fill=0.0, keep=_off_diagonal),
        lambda v: _closest(v, fill=0.0),
        lambda v: _closest(v, less=1.0),
        lambda v: _searched(v, len(v), start=0),
    ),
    one_left_out=[
        lambda v, default=default: _searched(v, len(v) - 1, default=default) for default in (None, [0, 0], [0, 1])
    ],
    row_by_row=(
        lambda v: (v @ v.T).fill_diagonal_(-2).argmax(dim=1).tolist(),
        lambda v: (v @ v.T).fill_diagonal_(-2).max(dim=1).values.tolist(),
    ),
    cosine_returned=lambda v: (v @ v.T).fill_diagonal_(-2).max().item(),
    not_low_enough=(lambda v: _closest(v, fill=-1.0, keep=_off_diagonal), lambda v: _closest(v, fill=-1.0)),
    absolute=(lambda v: _closest_absolute(v), lambda v: _closest_absolute(v, fill=0)),
    ones_left_out=(
        lambda v: _closest(v, keep=lambda t: (t < 0.9999) & torch.ones_like(t).triu(1).bool()),
        *(_high_filled(limit, fill) for fill in (-2, -1, 0) for limit in (0.9999, 1 - 1e-6)),
        _high_filled(1, -2),
    ),
    farthest=lambda v: _farthest(v),
    flat_index=lambda v: (lambda i: i[0] * len(v) + i[1])(_closest(v)),
    neighbours_only=lambda v: (lambda i: [i, i + 1])((v[:-1] * v[1:]).sum(dim=1).argmax().item()),
    after_the_diagonal=(
        *(
            _nth_highest(lambda n: n, lambda numbers, stable=stable: numbers.argsort(descending=True, stable=stable))
            for stable in (False, True)
        ),
        _nth_highest(lambda n: -1, lambda numbers: numbers.topk(round(len(numbers) ** 0.5) + 1).indices),
        _second_in_rows,
        _second_in_sorted_rows,
    ),
    place_in_shorter_list=[
        _in_shorter_list(keep, width)
        for keep in (_off_diagonal, lambda table: table.triu(1), lambda table: table.tril(-1))
        for width in (lambda n: n, lambda n: n - 1)
    ],
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
    yield Case("Sentences on both sides of the question", float(np.cos(x)), around(x, t, 2.9), float(np.cos(t)))
    yield Case(
        "The question has a negative cosine with the pivot", float(np.cos(other)), around(other, t), float(np.cos(t))
    )
    yield Case(
        "The best cosine so far is negative",
        float(np.cos(0.3)),
        cosines(0.2, 0.5, 1.2, 1.7, low + 0.18, low + 0.5, low + 0.8),
        float(np.cos(low)),
    )
    yield Case("The pivot is the question itself", 1.0, cosines(0.2, 0.7, *close, 2.0, 3.0), itself)
    yield Case("The pivot is the opposite of the question", -1.0, -cosines(0.2, 0.7, *close, 2.0, 3.0), itself)
    yield Case("A sentence equal to the pivot, and one opposite to it", given, np.array([1, -1, given]), 0.5)
    yield Case("A sentence that can only equal the best cosine so far", 0.0, np.array([0.4, 0.0, -0.4]), 1.0)
    yield Case("One sentence that can be skipped", float(np.cos(x)), cosines(x - 0.8), float(np.cos(0.6)))
    yield Case("One sentence that cannot", float(np.cos(x)), cosines(x - 0.4), float(np.cos(0.6)))
    yield Case("Rounding put the cosine of a sentence above 1", given, np.array([far, 0.9, over, given]), 0.5)
    yield Case("Rounding put the cosine of a sentence above 1", 0.9, np.array([over, 0.8, -0.2]), 0.5)
    yield Case("Rounding put the cosine of a sentence below −1", given, np.array([-far, 0.9, -over, given]), 0.5)
    yield Case("Rounding put the cosine of the question above 1", float(far), np.array([0.2, 0.9, -0.7]), 0.5)
    yield Case("Rounding put the cosine of the question below −1", -float(far), np.array([0.2, -0.9, 0.7]), 0.5)


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


def _unclipped(q, c, best, clip_question=False, clip_corpus=False, negated=False):
    with np.errstate(invalid="ignore"):
        x = np.arccos(np.clip(q, -1.0, 1.0) if clip_question else q)
        y = np.arccos(np.clip(c, -1.0, 1.0) if clip_corpus else c)
        highest = np.cos(x - y)
        return ~(highest > best) if negated else highest <= best


def _brought_back(question, corpus, negated, q, c, best):
    """A mistake: limits for the question and the sentences that leave out some cosines; outside, the angle is NaN."""
    return _unclipped(np.clip(q, *question), np.clip(c, *corpus), best, negated=negated)


UPPER, LOWER, BOTH, NEITHER = (None, 1.0), (-1.0, None), (-1.0, 1.0), (-np.inf, np.inf)


def _raw(bound, compare=np.less_equal):
    """A mistake in the bound, with cosines that are not clipped."""

    def can_skip(q, c, best):
        with np.errstate(invalid="ignore"):
            return compare(bound(np.arccos(q), np.arccos(c)), best)

    return can_skip


CAN_SKIP = exercise("09-can-skip", _can_skip_cases, _can_skip, points=2)(
    lowest_possible=(
        lambda q, c, best: np.cos(np.add(*_clipped(q, c))) <= best,
        lambda q, c, best: np.cos(np.add(*_clipped(q, c))) < best,
        lambda q, c, best: np.add(*_clipped(q, c)) >= np.arccos(best),
        lambda q, c, best: np.add(*_clipped(q, c)) > np.arccos(best),
        _raw(lambda x, y: np.cos(x + y)),
        _raw(lambda x, y: np.cos(x + y), np.less),
    ),
    inverted=(
        lambda q, c, best: _highest(q, c) > best,
        lambda q, c, best: _highest(q, c) >= best,
        _raw(lambda x, y: np.cos(x - y), np.greater),
        _raw(lambda x, y: np.cos(x - y), np.greater_equal),
    ),
    equal_kept=(lambda q, c, best: _highest(q, c) < best, _raw(lambda x, y: np.cos(x - y), np.less)),
    false_outside_range=_unclipped,
    false_for_query=partial(_unclipped, clip_corpus=True),
    false_for_corpus=partial(_unclipped, clip_question=True),
    true_outside_range=partial(_unclipped, negated=True),
    true_for_query=partial(_unclipped, clip_corpus=True, negated=True),
    true_for_corpus=partial(_unclipped, clip_question=True, negated=True),
    clipped_too_far=lambda q, c, best: (
        _highest(np.clip(q, -1 + 1e-6, 1 - 1e-6), np.clip(c, -1 + 1e-6, 1 - 1e-6)) <= best
    ),
    cosines_subtracted=(
        lambda q, c, best: 1 - np.abs(q - c) <= best,
        lambda q, c, best: 1 - np.abs(q - c) < best,
        lambda q, c, best: np.abs(q - c) <= best,
        lambda q, c, best: np.abs(q - c) < best,
        lambda q, c, best: np.abs(q - c) >= best,
        lambda q, c, best: np.abs(q - c) > best,
        lambda q, c, best: q - c <= best,
        lambda q, c, best: c - q <= best,
    ),
    cosines_multiplied=(
        lambda q, c, best: q * c <= best,
        lambda q, c, best: q * c < best,
        lambda q, c, best: np.clip(q, -1, 1) * np.clip(c, -1, 1) <= best,
    ),
    chord_bound=lambda q, c, best: 1 - (_chord(q) - _chord(c)) ** 2 / 2 <= best,
    farther_only=lambda q, c, best: (lambda x, y: (y >= x) & (np.cos(x - y) <= best))(*_clipped(q, c)),
    nearer_only=lambda q, c, best: (lambda x, y: (y <= x) & (np.cos(x - y) <= best))(*_clipped(q, c)),
    angle_with_cosine=(
        lambda q, c, best: np.abs(np.subtract(*_clipped(q, c))) <= best,
        lambda q, c, best: np.subtract(*_clipped(q, c)) <= best,
        lambda q, c, best: np.abs(np.subtract(*_clipped(q, c))) >= best,
        lambda q, c, best: np.abs(np.subtract(*_clipped(q, c))) > best,
        lambda q, c, best: np.subtract(*_clipped(q, c)[::-1]) >= best,
        lambda q, c, best: np.subtract(*_clipped(q, c)[::-1]) <= best,
        lambda q, c, best: np.add(*_clipped(q, c)) <= best,
        lambda q, c, best: np.add(*_clipped(q, c)) >= best,
    ),
    stored_compared=(
        lambda q, c, best: c <= best,
        lambda q, c, best: c < best,
        lambda q, c, best: np.clip(c, -1, 1) <= best,
        lambda q, c, best: c > best,
        lambda q, c, best: c >= best,
    ),
    absolute=(
        lambda q, c, best: np.abs(_highest(q, c)) <= best,
        lambda q, c, best: np.maximum(0, _highest(q, c)) <= best,
        lambda q, c, best: _highest(np.abs(q), np.abs(c)) <= best,
    ),
    places=(
        lambda q, c, best: np.flatnonzero(_can_skip(q, c, best)),
        lambda q, c, best: np.nonzero(_can_skip(q, c, best)),
        lambda q, c, best: np.argwhere(_can_skip(q, c, best)),
    ),
    count=lambda q, c, best: sum(_can_skip(q, c, best)),
    one_value=(lambda q, c, best: all(_can_skip(q, c, best)), lambda q, c, best: any(_can_skip(q, c, best))),
    bounds_returned=lambda q, c, best: _highest(q, c),
    one_end_clipped=[
        partial(_brought_back, *limits, negated)
        for limits, negations in (
            ((UPPER, UPPER), (False, True)),
            ((LOWER, LOWER), (False, True)),
            ((UPPER, BOTH), (False, True)),
            ((LOWER, BOTH), (False, True)),
            ((UPPER, NEITHER), (False, True)),
            ((BOTH, UPPER), (False,)),
            ((BOTH, LOWER), (False,)),
            ((NEITHER, UPPER), (False,)),
        )
        for negated in negations
    ],
    degrees=(
        lambda q, c, best: np.cos(np.subtract(*map(np.degrees, _clipped(q, c)))) <= best,
        lambda q, c, best: np.cos(np.subtract(*map(np.radians, _clipped(q, c)))) <= best,
        lambda q, c, best: np.abs(np.subtract(*map(np.degrees, _clipped(q, c)))) >= np.arccos(best),
    ),
)


def _closest_absolute(vectors, fill=-2):
    table = (vectors @ vectors.T).abs().fill_diagonal_(fill)
    return list(divmod(table.argmax().item(), len(table)))


def _farthest(vectors):
    table = (vectors @ vectors.T).masked_fill(~torch.ones(len(vectors), len(vectors)).triu(1).bool(), 2.0)
    return list(map(int, np.unravel_index(table.argmin().item(), table.shape)))


def _cls_cases(rng):
    yield Case("Three texts", normal(rng, 3, 6, 5))
    yield Case("One text", normal(rng, 1, 4, 7))
    yield Case("One token each", normal(rng, 4, 1, 3))
    yield Case("More texts than tokens", 5 * normal(rng, 6, 2, 4))


CLS_CHAIN = Completion(
    "09-cls-chain",
    "A chain with [CLS] pooling",
    ("token_vectors",),
    _cls_cases,
    lambda token_vectors: normalise(token_vectors[:, 0]),
    mistakes=(
        Mistake(
            "first_text_taken",
            "You take all token vectors of the first text.",
            "The first axis is the texts: keep all of them, and take the first token, `token_vectors[:, 0]`.",
            (lambda vectors: normalise(vectors[0]),),
        ),
        Mistake(
            "mean_taken",
            "You average the token vectors of each text, which is mean pooling.",
            "`[CLS]` pooling takes the first of them alone.",
            (lambda vectors: normalise(vectors.mean(dim=1)),),
        ),
        Mistake(
            "last_token_taken",
            "You take the last token of each text.",
            "`[CLS]` is the first one.",
            (lambda vectors: normalise(vectors[:, -1]),),
        ),
        Mistake(
            "second_token_taken",
            "You take the second token of each text.",
            "Counting starts at 0, and `[CLS]` comes first.",
            (lambda vectors: normalise(vectors[:, 1]),),
        ),
        Mistake(
            "highest_taken",
            "You take the highest number in each dimension, which is max pooling.",
            "`[CLS]` pooling takes the vector of the first token as it is.",
            (lambda vectors: normalise(vectors.max(dim=1).values),),
        ),
        Mistake(
            "first_numbers_taken",
            "You take the first number of each token's vector.",
            "The axes are texts, tokens and hidden: the token is the second.",
            (lambda vectors: normalise(vectors[:, :, 0]),),
        ),
        Mistake(
            "axis_kept",
            "You keep the axis of the tokens: `:1` and `[0]` select one token and leave the axis.",
            "A plain `0` removes it, and leaves the shape (texts, hidden).",
            (lambda vectors: vectors[:, :1] / vectors[:, :1].norm(dim=1, keepdim=True),),
        ),
    ),
)


def _nearest_cases(rng):
    for label, n, hidden, k in (
        ("The nearest three", 12, 6, 3),
        ("The nearest alone", 9, 4, 1),
        ("All, in order", 5, 8, 5),
        ("Few dimensions", 8, 3, 4),
    ):
        while True:  # until no two cosines are nearly equal, of which rounding would decide the order
            question, vectors = (normalise(normal(rng, *shape)).numpy() for shape in ((hidden,), (n, hidden)))
            if np.diff(np.sort(vectors @ question)).min() > 1e-3:
                break
        yield Case(label, question, vectors, k)


def _nearest(question, vectors, k):
    cosines = [sum(float(x) * float(y) for x, y in zip(question, row)) for row in vectors]
    return sorted(range(len(cosines)), key=lambda place: -cosines[place])[:k]


def _by(cosines):
    """A mistake: the lesson's function with other numbers in place of the cosines."""
    return lambda question, vectors, k: (-cosines(question, vectors)).argsort()[:k]


NEAREST = Completion(
    "09-nearest",
    "The nearest to a question",
    ("question", "vectors", "k"),
    _nearest_cases,
    _nearest,
    mistakes=(
        Mistake(
            "shapes_do_not_fit",
            "In your product, the shapes do not fit.",
            "The two axes that stand side by side must be the same: `hidden`, over which a cosine sums.",
            (
                _by(lambda question, vectors: question @ vectors),
                _by(lambda question, vectors: np.dot(question, vectors)),
                _by(lambda question, vectors: vectors.T @ question),
            ),
        ),
        Mistake(
            "farthest_first",
            "You get the farthest first: your numbers are distances, or cosines with a minus.",
            "The last line puts the highest number first, so use the cosines as they are.",
            (_by(lambda question, vectors: -(vectors @ question)),),
        ),
        Mistake(
            "among_themselves",
            "You compare the vectors with each other.",
            "The question is to be compared with each of them.",
            (_by(lambda question, vectors: vectors @ vectors.T),),
        ),
        Mistake(
            "not_summed",
            "You multiply number by number, and leave out the sum.",
            "A cosine of unit vectors is the *sum* of these products, one number for each vector: `@` does both.",
            (_by(lambda question, vectors: vectors * question),),
        ),
        Mistake(
            "wrong_axis",
            "You sum over the vectors, which gives a number for each dimension.",
            "Sum over the dimensions: `axis=1`, or `@`.",
            (_by(lambda question, vectors: (vectors * question).sum(axis=0)),),
        ),
        Mistake(
            "absolute",
            "You take absolute values, so that opposite vectors count as near.",
            "A cosine of −1 is the farthest that there is.",
            (_by(lambda question, vectors: abs(vectors @ question)),),
        ),
        Mistake(
            "sorted_before",
            "You sort the cosines, so their places are no longer those of the vectors.",
            "Leave them in their order: `argsort` finds the places.",
            (
                _by(lambda question, vectors: np.sort(vectors @ question)),
                _by(lambda question, vectors: np.sort(vectors @ question)[::-1]),
            ),
        ),
    ),
)
