"""Exercises of lesson 09, Sentence Transformers. See `model.py` on cases and mistakes' swaps."""

from itertools import combinations, product
from numbers import Integral

import numpy as np
import torch

from ..pooling import normalise
from .comparing import difference
from .model import Case, completion, exercise, normal


def _tokens_cases(rng):
    return [
        Case("A handful of sentences", [rng.randint(4, 30) for _ in range(rng.randint(5, 8))]),
        Case("Two sentences make one pair", [rng.randint(5, 12), rng.randint(13, 20)]),
        Case("One sentence makes no pair", [rng.randint(5, 20)]),
        Case("Sentences of equal length", [rng.randint(6, 12)] * rng.randint(3, 6)),
        # Each of 279 texts is in 278 pairs, and there are 38781 pairs: whatever the lengths, pairs
        # hold an odd number of tokens above 2 ** 24, which float32 cannot count.
        Case(
            "Hundreds of long texts, to the last token", [rng.randint(260, 520) for _ in range(279)]
        ),
    ]


# What is wrong with two right numbers that are not integers, or None.
def _not_integers(outcome):
    items = [item.item() if hasattr(item, "item") else item for item in outcome]
    if all(isinstance(item, Integral) for item in items):
        return None
    return (
        f"your function returned {items}, and two integers are asked for; "
        "`/` gives a float, `//` an integer"
    )


def _tokens(lengths):
    lengths = np.array(lengths)
    # two sentences have two special tokens each, and their pair has three: one fewer than four
    table = lengths[:, None] + lengths - 1
    pair = np.triu(np.ones(table.shape, int), 1)
    alone, together = lengths.sum(), (table * pair).sum()
    return [int(alone), int(together)]


TOKENS = exercise(
    "09-tokens",
    _tokens_cases,
    _tokens,
    judge=lambda args, outcome: difference(outcome, _tokens(*args)) or _not_integers(outcome),
    points=2,
)(
    four_special={" - 1": ""},
    other_special=[{" - 1": more} for more in (" + 3", " + 1", " - 2", " - 3", " - 4")],
    # four special tokens in each pair, and then some subtracted from the sum
    saved_too_rarely=[
        {" - 1": "", "int(together)": f"int(together) - {saved}"}
        for saved in ("1", "len(lengths)", "len(lengths) + 1")
    ],
    both_orders={"    alone": "    pair = pair | pair.T\n    alone"},
    with_itself=[
        {"np.triu(np.ones(table.shape, int), 1)": "np.triu(np.ones(table.shape, int))"},
        {"(table * pair).sum()": "table.sum() / 2", "int(together)": "float(together)"},
        {"(table * pair).sum()": "table.sum() // 2"},
    ],
    # without the last sentence, without the first, or only neighbours
    pairs_left_out=[
        {"(table * pair)": kept}
        for kept in ("(table * pair)[:-1, :-1]", "(table * pair)[1:, 1:]", "np.diag(table, 1)")
    ],
    equal_lengths_skipped={"table * pair": "table * pair * (lengths[:, None] != lengths)"},
    special_changed=[{"lengths.sum()": f"(lengths {sign} 2).sum()"} for sign in "+-"],
    in_n_pairs={"int(together)": "int(together + alone)"},
    # each pair, or each sentence, is padded to the longest
    padding=[
        {"lengths[:, None] + lengths": "2 * np.maximum(lengths[:, None], lengths)"},
        {"np.array(lengths)": "np.full(len(lengths), max(lengths))"},
        {"lengths.sum()": "len(lengths) * lengths.max()"},
        {"lengths[:, None] + lengths": "0 * (lengths[:, None] + lengths) + 2 * lengths.max()"},
    ],
    floats={"int(alone), int(together)": "float(alone), float(together)"},
)


def _closest_cases(rng):
    n, hidden = rng.randint(7, 10), rng.randint(5, 7)

    # Random vectors. Those at i and j, about 7° apart, are closest, but for rare chances, and two
    # others are opposite to each other.
    def with_closest(i, j):
        vectors = normalise(normal(rng, n, hidden))
        first, second = rng.sample(sorted(set(range(n)) - {i, j}), 2)
        vectors[first] = -vectors[second]
        vectors[j] = normalise(vectors[i] + 0.05 * normal(rng, hidden))
        return vectors

    # vectors of length 1 whose cosines are exact
    halves = torch.tensor(rng.sample(list(product([0.5, -0.5], repeat=4)), n - 1))
    unit = torch.eye(hidden)[rng.randrange(hidden)]
    return [
        Case("The closest pair is the last two", with_closest(n - 2, n - 1)),
        Case("Vectors at random", normalise(normal(rng, n, hidden))),
        Case("The closest pair is the first and the last", with_closest(0, n - 1)),
        Case("Two equal vectors are a pair", torch.cat([halves, halves[[rng.randrange(3)]]])),
        # the two places that `topk(2)` finds among all cosines of 1 are both on the diagonal
        Case("Two equal vectors are a pair", torch.eye(4)[[0, 1, 2, 3, 0]]),
        Case("Several pairs are equally close", halves[[0, 1, 0, 2, 3, 1, 0, 4]]),
        # four vectors at nearly equal angles, over 90°
        Case("All cosines are negative", normalise(torch.eye(4) - 0.3 + 0.02 * normal(rng, 4, 4))),
        Case("Two vectors", torch.eye(hidden)[:2]),
        Case("Two opposite vectors", torch.stack([unit, -unit])),
    ]


def _closest(vectors):
    table = vectors @ vectors.T
    n = len(table)
    others = table.fill_diagonal_(-2)  # less than any cosine
    place = others.argmax().item()
    row, column = divmod(place, n)
    return [row, column]


# Put the smaller index of a pair first; leave any other value unchanged.
#
# Rounding, which differs between processors, decides which of the two indices `argmax` finds
# first.
def _in_order(pair):
    pair = pair.tolist() if hasattr(pair, "tolist") else pair
    return sorted(pair) if isinstance(pair, (list, tuple)) and len(pair) == 2 else pair


# Whether two pairs are the same in either order, or each is a row and itself: which row that is
# depends on rounding.
def _alike_pairs(one, other):
    pairs = [_in_order(one), _in_order(other)]
    both_on_diagonal = all(
        isinstance(pair, list) and len(pair) == 2 and pair[0] == pair[1] for pair in pairs
    )
    return both_on_diagonal or difference(pairs[0], pairs[1]) is None


# What is wrong with a pair of rows, or None. Where several pairs are closest, but for rounding,
# each of them is right.
def _closest_problem(vectors, outcome):
    table = (vectors.double() @ vectors.double().T).tolist()
    cosines = {(i, j): table[i][j] for i, j in combinations(range(len(table)), 2)}
    highest = max(cosines.values())
    # cosines in float32 are off by less than 1e-6
    closest = [pair for pair, cosine in cosines.items() if cosine > highest - 1e-6]
    problems = [difference(_in_order(outcome), pair) for pair in closest]
    return _not_integers(outcome) if None in problems else problems[0]


CLOSEST = exercise(
    "09-find-the-bug",
    _closest_cases,
    _closest,
    judge=lambda args, outcome: _closest_problem(args[0], outcome),
    alike=_alike_pairs,
    points=2,
)(
    itself=[
        {".fill_diagonal_(-2)": "", "argmax()": place}
        for place in (
            "argmax()",
            "flatten().topk(2).indices[1]",
            "flatten().argsort(descending=True)[1]",
        )
    ],
    not_low_enough=[
        {"fill_diagonal_(-2)": "fill_diagonal_(0)"},
        {"fill_diagonal_(-2)": "triu(1)"},
        {"return [row, column]": "return [row, column] if others.max() > 0 else None"},
        {"fill_diagonal_(-2)": "fill_diagonal_(-1)"},
    ],
    pairs_left_out=[
        {"vectors @ vectors.T": "vectors[:-1] @ vectors[:-1].T"},
        {
            "vectors @ vectors.T": "vectors[:-1] @ vectors[:-1].T",
            "[row, column]": "[row, column] if n > 1 else None",
        },
        # only neighbours: pair i of them stands at row i, column i + 1
        {"others.argmax().item()": "others.diag(1).argmax().item() * (n + 1) + 1"},
    ],
    row_by_row=[
        {"[row, column]": f"others.{highest}.tolist()"}
        for highest in ("argmax(dim=1)", "amax(dim=1)")
    ],
    cosine_returned={"[row, column]": "others.max().item()"},
    absolute={"vectors @ vectors.T": "(vectors @ vectors.T).abs()"},
    ones_left_out=[
        {"fill_diagonal_(-2)": f"masked_fill(table > 0.9999, {fill})"} for fill in (-2, -1, 0)
    ],
    farthest={"fill_diagonal_(-2)": "fill_diagonal_(2)", "argmax": "argmin"},
    flat_index={"return [row, column]": "return place"},
    divided_by_hidden={"divmod(place, n)": "divmod(place, vectors.shape[1])"},
    # the n largest cosines are taken to be those on the diagonal
    after_the_diagonal=[
        {".fill_diagonal_(-2)": "", "others.argmax()": f"others.flatten().{place}"}
        for place in ("topk(n + 1).indices[-1]", "argsort(descending=True, stable=True)[n]")
    ],
    # The diagonal, or all up to it, is removed: the place in what is left is no place in the table,
    # whether its rows are taken to have n numbers or n - 1.
    place_in_shorter_list=[
        {"table.fill_diagonal_(-2)": kept, "divmod(place, n)": f"divmod(place, {width})"}
        for kept, width in product(
            ("table[~torch.eye(n).bool()]", "table[torch.ones(n, n).triu(1).bool()]"),
            ("n", "n - 1"),
        )
    ],
)


# The cosines of these angles in radians, shuffled, in float32.
def _cosines(rng, *angles):
    return np.cos(rng.sample(angles, len(angles))).astype(np.float32)


# Cosines with the pivot of sentences on both sides of a question.
#
# question: the angle of the question with the pivot. best: that of the question with the best
# sentence so far. The angle between a sentence and the question is at least a share of `best`: with
# a share below 1, the sentence may be better than the best. more: other sentences' angles with the
# pivot. All angles are in radians.
def _around(rng, question, best, *more):
    around = [
        question + side * best * share
        for side, share in product((-1, 1), (0.3, 0.6, 0.9, 0.9999, 1.0001, 1.15, 1.35))
    ]
    return _cosines(rng, *around, *more)


def _can_skip_cases(rng):
    # Angles, in radians, unless they are called cosines. A sentence can be skipped if its angle
    # with the pivot differs from the question's by at least that of the best sentence so far.
    question, best = rng.uniform(1.0, 1.3), rng.uniform(0.5, 0.7)
    wide = rng.uniform(1.8, 2.0)  # its cosine is negative
    middle, low = rng.randint(400, 600) / 1000, rng.uniform(0.1, 0.3)  # cosines
    # their cosines, 4e-5 from `middle`, equal it in four decimals: rounding makes ties of them
    nearly_middle = np.arccos([middle - 4e-5, middle + 4e-5])
    return [
        Case(
            "Sentences on both sides of the question",
            np.cos(question).item(),
            _around(rng, question, best, 2.9),
            np.cos(best).item(),
        ),
        Case(
            "The question has a negative cosine with the pivot",
            np.cos(np.pi - question).item(),
            _around(rng, np.pi - question, best),
            np.cos(best).item(),
        ),
        Case(
            "The best cosine so far is negative",
            np.cos(0.3).item(),
            # the last two can be skipped: they are further than `wide` from 0.3
            _cosines(rng, 0.2, 0.5, 1.2, 1.7, wide + 0.18, wide + 0.5, wide + 0.8),
            np.cos(wide).item(),
        ),
        Case(
            "The pivot is the question itself",
            1.0,
            _cosines(rng, 0.2, 0.7, *nearly_middle, 2.0, 3.0),
            middle,
        ),
        Case(
            "The pivot is the opposite of the question",
            -1.0,
            -_cosines(rng, 0.2, 0.7, 2.0, 3.0),
            0.5,
        ),
        Case(
            "A sentence equal to the pivot, and one opposite to it",
            low,
            np.array([1, -1, low]),
            0.5,
        ),
        Case(
            "A sentence that can only equal the best cosine so far",
            0.0,
            np.array([0.4, 0.0, -0.4]),
            1.0,
        ),
        Case(
            "One sentence that can be skipped",
            np.cos(question).item(),
            _cosines(rng, question - 0.8),  # at least 0.8 from the question, and the best is at 0.6
            np.cos(0.6).item(),
        ),
        Case(
            "One sentence that cannot",
            np.cos(question).item(),
            _cosines(rng, question - 0.4),  # it may be nearer than 0.6
            np.cos(0.6).item(),
        ),
        *_rounded_cases(low),
    ]


# Cosines beyond 1 or −1, by one step of float32 or by eight, which are nearly a millionth.
def _rounded_cases(low):
    one_step, eight_steps = 1 + 2.0**-23, 1 + 2.0**-20
    return [
        Case(
            "Rounding put the cosine of a sentence above 1",
            low,
            np.array([eight_steps, 0.9, one_step, low]),
            0.5,
        ),
        Case(
            "Rounding put the cosine of a sentence above 1",
            0.9,
            np.array([one_step, 0.8, -0.2]),
            0.5,
        ),
        Case(
            "Rounding put the cosine of a sentence below −1",
            low,
            np.array([-eight_steps, 0.9, -one_step, low]),
            0.5,
        ),
        Case(
            "Rounding put the cosine of the question above 1",
            eight_steps,
            np.array([0.2, 0.9, -0.7]),
            0.5,
        ),
        Case(
            "Rounding put the cosine of the question below −1",
            -eight_steps,
            np.array([0.2, -0.9, 0.7]),
            0.5,
        ),
    ]


# With angles x and y to the pivot, question and sentence are at least |x - y| apart, so their
# cosine is at most cos(x - y). Some mistakes do not clip: NumPy need not warn of their NaN.
def _can_skip(query_pivot, corpus_pivot, best):
    q = np.clip(query_pivot, -1, 1)
    c = np.clip(corpus_pivot, -1, 1)
    with np.errstate(invalid="ignore"):
        x, y = np.arccos(q), np.arccos(c)
        highest = np.cos(x - y)
        skip = highest <= best
    return skip.tolist()


CAN_SKIP = exercise("09-can-skip", _can_skip_cases, _can_skip, points=2)(
    lowest_possible={"x - y": "x + y"},
    inverted=[{"<= best": "> best"}, {"<= best": ">= best"}],
    equal_kept={"<= best": "< best"},
    not_clipped=[
        {"-1, 1": "-np.inf, np.inf"},
        {"-1, 1": "-np.inf, np.inf", "highest <= best": "~(highest > best)"},
        {"query_pivot, -1, 1": "query_pivot, -np.inf, np.inf"},
        {"corpus_pivot, -1, 1": "corpus_pivot, -np.inf, np.inf"},
        {"-1, 1": "-np.inf, 1"},
        {"-1, 1": "-1, np.inf"},
    ],
    clipped_too_far={"-1, 1": "-1 + 1e-6, 1 - 1e-6"},
    cosines_subtracted=[
        {"np.cos(x - y)": other}
        for other in ("1 - np.abs(q - c)", "np.abs(q - c)", "q - c", "c - q")
    ],
    cosines_multiplied={"np.cos(x - y)": "q * c"},
    one_side_only=[
        {"highest <= best": f"(highest <= best) & (y {sign} x)"} for sign in (">=", "<=")
    ],
    angle_with_cosine=[
        {"np.cos(x - y)": other} for other in ("np.abs(x - y)", "x - y", "y - x", "x + y")
    ],
    stored_compared={"np.cos(x - y)": "c"},
    absolute=[
        {"np.cos(x - y)": "np.abs(np.cos(x - y))"},
        {"np.cos(x - y)": "np.maximum(0, np.cos(x - y))"},
        {"np.arccos(q), np.arccos(c)": "np.arccos(np.abs(q)), np.arccos(np.abs(c))"},
    ],
    not_truth_values=[
        {"skip.tolist()": other}
        for other in ("np.flatnonzero(skip)", "skip.sum()", "skip.all()", "skip.any()", "highest")
    ],
)


def _cls_cases(rng):
    return [
        Case("Three texts", normal(rng, 3, 6, 5)),
        Case("One text", normal(rng, 1, 4, 7)),
        Case("One token each", normal(rng, 4, 1, 3)),
        Case("More texts than tokens", 5 * normal(rng, 6, 2, 4)),
    ]


def _cls_chain(token_vectors):
    first = 0
    pooled = token_vectors[:, first]
    return pooled / pooled.norm(dim=1, keepdim=True)


CLS_CHAIN = completion("09-cls-chain", _cls_cases, _cls_chain)(
    one_text_taken={"[:, first]": "[first]"},
    mean_taken={"[:, first]": "[:, first:].mean(dim=1)"},
    last_token_taken={"first = 0": "first = -1"},
    counted_from_1={"first = 0": "first = 1"},
    highest_taken={"[:, first]": "[:, first:].amax(dim=1)"},
    first_numbers_taken={"[:, first]": "[:, :, first]"},
    axis_kept={"[:, first]": "[:, [first]]"},
)


def _nearest_cases(rng):
    for label, n, hidden, k in (
        ("The nearest three", 12, 6, 3),
        ("The nearest alone", 9, 4, 1),
        ("All, in order", 5, 8, 5),
        ("Few dimensions", 8, 3, 4),
    ):
        # until no two cosines are so nearly equal that rounding decides their order
        while True:
            question, vectors = (
                normalise(normal(rng, *shape)).numpy() for shape in ((hidden,), (n, hidden))
            )
            if np.diff(np.sort(vectors @ question)).min() > 1e-3:
                break
        yield Case(label, question, vectors, k)


def _nearest(question, vectors, k):
    products = vectors * question
    cosines = products.sum(axis=1)
    return (-cosines).argsort()[:k]


NEAREST = completion("09-nearest", _nearest_cases, _nearest)(
    farthest_first={"(-cosines)": "cosines"},
    among_themselves=[
        {"products.sum(axis=1)": f"vectors @ vectors{others}"} for others in (".T", "[0]")
    ],
    not_summed={"products.sum(axis=1)": "products"},
    wrong_axis={"axis=1": "axis=0"},
    absolute={"(-cosines)": "(-abs(cosines))"},
    sorted_before=[
        {"(-cosines)": f"(-{other})"}
        for other in ("np.sort(cosines)", "np.sort(cosines)[::-1]", "cosines.argsort()")
    ],
)
