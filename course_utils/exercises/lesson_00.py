"""Exercises of lesson 00: a first check, and similarity by hand.

See `model.py` on cases and mistakes' swaps.
"""

import numpy as np

from .comparing import difference
from .model import Case, completion, exercise, normal


def _similarity(rng, n):
    # the cosines of n rows whose mean is 0; 12 numbers in each are enough for all to differ
    return np.corrcoef(normal(rng, n, 12).numpy())


# A case for each of the first `asked` rows of each table. The best, second best and worst partners
# of a row lie on both sides of it.
def _nearest_cases(rng):
    return [
        Case(label, table, i)
        for label, table, asked in (
            ("The nearest other sentence, whichever row is asked for", _similarity(rng, 6), 6),
            ("The nearest other sentence, whichever row is asked for", _similarity(rng, 8), 8),
            (
                "All similarities but the diagonal are negative",
                # the others lie between -0.9 and -0.1, and the diagonal stays 1
                0.4 * _similarity(rng, 6) - 0.5 + 1.1 * np.eye(6),
                6,
            ),
            ("Two sentences", np.array([[1.0, -1.0], [-1.0, 1.0]]), 2),
            ("Two sentences", np.array([[1.0, 0.4], [0.4, 1.0]]), 2),
            (
                "A sentence that is there twice is nearest to its copy",
                _similarity(rng, 5)[[0, 0, 1, 2, 3, 4]][:, [0, 0, 1, 2, 3, 4]],
                2,
            ),
            (
                "The best two are close together, and the later one is nearer",
                np.array([[1.0, 0.5001, 0.5004], [0.5001, 1.0, 0.2], [0.5004, 0.2, 1.0]]),
                1,
            ),
        )
        for i in range(asked)
    ]


def _nearest(similarity, i):
    row = similarity[i].copy()
    row[i] = -np.inf
    return int(row.argmax())


NEAREST = exercise("00-nearest", _nearest_cases, _nearest)(
    itself=[
        {"row[i] = -np.inf": ""},
        {"row[i] = -np.inf": "", "row.argmax()": "row.argsort()[-1]"},
        {"-np.inf": "np.nan"},
    ],
    similarity={"int(row.argmax())": "float(row.max())"},
    without_sign={"similarity[i].copy()": "np.abs(similarity[i])"},
    shifted_places={"row[i] = -np.inf": "row = np.delete(row, i)"},
    least_similar={"-np.inf": "np.inf", "argmax": "argmin"},
    not_low_enough=[
        {"-np.inf": "0"},
        {"-np.inf": "-1"},
        {"int(row.argmax())": "int(row.argmax()) if row.max() > 0 else 0"},
        {"int(row.argmax())": "int(row.argmax()) if row.max() > -1 else 0"},
    ],
    copies_left_out=[
        {"row[i] = -np.inf": "", "row.argmax()": "row.argsort()[-2]"},
        *({"row[i] =": f"row[row {copy}] ="} for copy in ("> 0.999", ">= 1", "== 1")),
    ],
)


# --- completions ----------------------------------------------------------------------------------


def _one_with_all_cases(rng):  # tables of n rows of length 1, with 12 columns
    tables = [normal(rng, n, 12).numpy() for n in (5, 3, 1, 12)]
    five, three, one, twelve = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in tables
    )
    return [
        Case("One cosine for each row", five, five[0]),
        Case("One cosine for each row", five, five[4]),
        Case("One cosine for each row", three, three[1]),
        Case("One cosine for each row", one, one[0]),
        Case("The vector may be none of the rows", five, -five[0]),
        Case("As many rows as dimensions", twelve, five[1]),
    ]


def _one_with_all(vectors, vector):
    return (vectors * vector).sum(axis=1)


ONE_WITH_ALL = completion("00-one-with-all", _one_with_all_cases, _one_with_all)(
    not_added={".sum(axis=1)": ""},
    all_with_all={"(vectors * vector).sum(axis=1)": "vectors @ vectors.T"},
    columns_added=[
        {"axis=1": "axis=0"},
        {"(vectors * vector).sum(axis=1)": "vector @ vectors"},
        {"(vectors * vector).sum(axis=1)": "np.dot(vector, vectors)"},
    ],
    mean={".sum(": ".mean("},
    row_left_out={"(vectors *": "(vectors[1:] *"},
    distance={"(vectors * vector).sum(axis=1)": "np.linalg.norm(vectors - vector, axis=1)"},
)


def _ranked_cases(rng):
    return [
        *(
            Case("From the most similar to the least", _similarity(rng, n)[row])
            for n, row in ((5, 0), (5, 4), (8, 3))
        ),
        Case("Negative numbers come last", np.array(rng.sample([-0.9, -0.4, -0.1, 0.3, 0.8], 5))),
        Case(
            "Each position once, where two are equally similar",
            np.array(rng.sample([0.2, 0.6, 0.6, 0.9], 4)),
        ),
    ]


def _ranked(row):
    return np.argsort(-row).tolist()


def _ranked_problem(args, outcome):  # positions of equal similarities may come in either order
    (row,), places = args, list(outcome)
    # what is no list, such as an iterator, differs from the list of its items
    if (
        difference(outcome, places) is None
        and sorted(places) == list(range(len(row)))
        and (np.diff(row[places]) <= 0).all()
    ):
        return None
    return difference(outcome, _ranked(row))


RANKED = completion("00-ranked", _ranked_cases, _ranked, judge=_ranked_problem)(
    ascending={"-row": "row"},
    similarities=[
        {"np.argsort(-row)": values}
        for values in ("np.sort(row)[::-1]", "np.sort(row)", "np.sort(-row)")
    ],
    minus_outside={"np.argsort(-row)": "(-np.argsort(row))"},
    looked_up_by_value=[
        {
            "np.argsort(-row).tolist()": (
                f"[row.tolist().index(value) for value in np.sort(row){order}]"
            )
        }
        for order in ("[::-1]", "")
    ],
    left_out=[
        {"np.argsort(-row)": f"np.argsort({part}"}
        for part in ("-row)[1:]", "row)[::-1][1:]", "row)[:-1]")
    ],
)


# --- the odd one out ------------------------------------------------------------------------------


# A copy of a symmetric table with 1 on the diagonal. Each change (rows, columns, value) is made on
# both sides of the diagonal, later ones over earlier ones.
def _changed(table, *changes):
    table = table.copy()
    for rows, columns, value in changes:
        table[rows, columns] = table[columns, rows] = value
    np.fill_diagonal(table, 1.0)
    return table


def _odd_cases(rng):
    n = rng.randint(6, 8)
    flat, order = np.full((n, n), 0.5), rng.sample(range(3), 3)
    all_rows = slice(None)

    # `odd` is far from all others; the lowest single similarity is that of two that fit otherwise
    def with_odd(odd):
        pair = [i for i in range(n) if i != odd][:2]
        return _changed(0.5 + 0.1 * _similarity(rng, n), (odd, all_rows, 0.2), (*pair, 0.05))

    return [
        *(
            Case("The lowest mean similarity to the others", with_odd(odd))
            for odd in (0, rng.randint(2, n - 2), n - 1)
        ),
        # 0 and 1 are far from each other, and 0 fits a little less to the rest; n - 1 has the
        # lowest median
        Case(
            "A single very low similarity lowers the mean",
            _changed(flat, (0, 1, -0.9), (0, slice(2, None), 0.47), (n - 1, slice(1, -1), 0.42)),
        ),
        # 2 is far from all but 0; n - 1 is far from 2 alone, and near to none
        Case(
            "A single very high similarity does not make up for the others",
            _changed(
                flat, (2, all_rows, 0.1), (n - 1, all_rows, 0.4), (n - 1, 2, 0.1), (0, 2, 0.9)
            ),
        ),
        Case(
            "The diagonal does not count",
            # NaN, high and low numbers stand there, added to 1; the odd sentence, 2, has NaN
            with_odd(2) + np.diag([np.nan, 8.0, np.nan, -10.0, *[8.0] * (n - 4)]),
        ),
        Case("All similarities may be negative", with_odd(1) - 1.5),
        # sums of quarters are exact in any order
        Case(
            "Of two equally odd sentences, the first",
            _changed(with_odd(4), ([1, 4], all_rows, 0.25)),
        ),
        Case(
            "Three sentences",
            np.array([[1.0, 0.9, 0.3], [0.9, 1.0, 0.4], [0.3, 0.4, 1.0]])[order][:, order],
        ),
        # the others have about 0.5
        Case("The lowest mean, by however little", _changed(flat, (-1, all_rows, 0.4996))),
    ]


def _odd(similarity):
    n = len(similarity)
    others = ~np.eye(n, dtype=bool)
    means = [row[other].mean() for row, other in zip(similarity, others)]
    return int(np.argmin(means))


ODD = exercise("00-odd-one-out", _odd_cases, _odd, points=2)(
    diagonal_in_sums=[
        {
            "row[other].mean() for": "row.sum() for",
            "np.argmin(means)": "np.argmin(means - np.diag(similarity))",
        },
        # with NaN written on the diagonal, all means are NaN, and `argmin` finds the first
        lambda similarity: 0,
    ],
    values_left_out={"row[other]": "row[row < 0.999]"},
    fits_best={"argmin": "argmax"},
    lowest_single=[{".mean()": f".{extreme}()"} for extreme in ("min", "max")],
    second_of_ties={"np.argmin(means)": "n - 1 - np.argmin(means[::-1])"},
)


# --- tensors --------------------------------------------------------------------------------------


def _shares_cases(rng):
    return [
        Case(label, normal(rng, rows, columns).abs() + 0.1)  # so that no sum is near 0
        for label, rows, columns in [
            ("Each row adds up to 1", 3, 5),
            ("More rows than columns", 6, 2),
            ("As many rows as columns", 4, 4),
            ("One row", 1, 4),
            ("One column", 3, 1),
        ]
    ]


def _shares(table):
    return table / table.sum(dim=1, keepdim=True)


SHARES = exercise("00-shares", _shares_cases, _shares)(
    lost_dimension={", keepdim=True": ""},
    column_sums={"dim=1": "dim=0"},
    whole_sum={"dim=1, keepdim=True": ""},
    other_divisor=[{".sum(": f".{other}("} for other in ("amax", "mean", "norm")],
    softmax={"table / table.sum(dim=1, keepdim=True)": "table.softmax(dim=1)"},
)


def _factor_cases(rng):
    return [
        *(
            Case(label, normal(rng, sentences, words, numbers), normal(rng, sentences, words))
            for label, sentences, words, numbers in (
                ("Three different sizes", 2, 5, 3),
                ("As many words as numbers", 2, 4, 4),
                ("As many sentences as words", 3, 3, 5),
                ("As many sentences as numbers", 3, 4, 3),
                ("All three sizes equal", 3, 3, 3),
                ("One sentence of one word", 1, 1, 4),
            )
        ),
        # in the first sentence, all are 0
        Case("Factors of 0", normal(rng, 3, 4, 2), normal(rng, 3, 4).tril(-1)),
    ]


def _weighted_sum(vectors, factors):
    return (vectors * factors.unsqueeze(-1)).sum(dim=1)


WEIGHTED = exercise("00-weighted-sum", _factor_cases, _weighted_sum)(
    factors_on_numbers=[{".unsqueeze(-1)": ""}, {"unsqueeze(-1)": "unsqueeze(1)"}],
    sum_inside_vectors={"dim=1": "dim=-1"},
    sum_over_sentences={"dim=1": "dim=0"},
    mean=[
        {".sum(": ".mean("},
        {"return (vectors": "return 1 / factors.sum(dim=1, keepdim=True) * (vectors"},
    ],
    negative_changed=[{"* factors": f"* factors.{change}"} for change in ("clamp(min=0)", "abs()")],
)


def _kept_cases(rng):
    import torch

    # 0 and 1 at random, each at least once in every row
    def keep(rows, columns):
        return torch.tensor(
            [rng.sample([1, 0, *rng.choices((0, 1), k=columns - 2)], columns) for _ in range(rows)]
        )

    # the mean of the rows' means is another number
    unequal = torch.tensor([[1, 0, 0, 0], [1, 1, 1, 0]])
    integers = torch.tensor([[3, *rng.choices(range(1, 10), k=3)], [1, 2, 4, rng.randint(1, 9)]])
    return [
        Case("Only the kept numbers count", normal(rng, 3, 5), keep(3, 5)),
        Case("Rows that keep different numbers of values", normal(rng, 2, 4), unequal),
        Case("As many rows as columns", normal(rng, 3, 3), keep(3, 3)),
        Case("A table of integers", integers, unequal),
        Case(
            "A kept 0 counts like any other number",
            normal(rng, 2, 3).tril(),
            torch.tensor([[1, 1, 0], [1, 0, 1]]),
        ),
        Case(
            "NaN where `keep` holds 0",
            normal(rng, 2, 4).masked_fill(unequal == 0, torch.nan),
            unequal,
        ),
        Case(
            "Infinity where `keep` holds 0",
            normal(rng, 2, 4).masked_fill(unequal == 0, torch.inf),
            unequal,
        ),
        Case(
            "A single 1",
            normal(rng, 3, 4),
            torch.tensor([[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]),
        ),
        Case("All kept", normal(rng, 3, 5), torch.ones(3, 5).long()),
    ]


def _kept_mean(table, keep):
    return table[keep == 1].float().mean().item()


def _judge_kept(args, outcome):
    if type(outcome).__name__ == "Tensor" and outcome.numel() == 1:
        return (
            "your function returned a Tensor where one Python number is asked for: `.item()` takes "
            "it out"
        )
    return difference(outcome, _kept_mean(*args))


KEPT = exercise("00-kept-mean", _kept_cases, _kept_mean, judge=_judge_kept)(
    mask_as_positions={"keep == 1": "keep"},
    upside_down={"== 1": "== 0"},
    multiplied_by_mask=[
        {"table[keep == 1].float().mean()": mean}
        for mean in (
            "((table * keep).sum() / keep.sum())",
            "(table * keep).mean()",
            "(table * keep).float().mean()",
        )
    ],
    mean_of_row_means={
        "table[keep == 1].float().mean()": (
            "np.nanmean([row[kept == 1].float().mean() for row, kept in zip(table, keep)])"
        )
    },
    counted_all_cells={".float().mean()": ".float().sum().div(keep.numel())"},
)
