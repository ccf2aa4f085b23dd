"""Exercises of lesson 00: a first check, and similarity by hand."""

import numpy as np

from .comparing import difference
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _similarity(rng, n):
    vectors = normal(rng, n, 12).numpy()
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def _nearest_cases(rng):
    """Tables whose best, second best and worst partners lie on both sides of i."""
    cases = []
    for size in (6, 8):
        table = _similarity(rng, size)
        for i in range(size):
            cases.append(Case("The nearest other sentence, whichever row is asked for", table, i))
    low = (_similarity(rng, 6) + 1) * 0.4 - 0.9  # between -0.9 and -0.1
    np.fill_diagonal(low, 1.0)
    twice = _similarity(rng, 5)[[0, 0, 1, 2, 3, 4]][:, [0, 0, 1, 2, 3, 4]]
    yield from cases
    for i in range(6):
        yield Case("All similarities but the diagonal are negative", low, i)
    for cosine in (-1.0, 0.4):
        for i in (0, 1):
            yield Case("Two sentences", np.array([[1.0, cosine], [cosine, 1.0]]), i)
    for i in (0, 1):
        yield Case("A sentence that is there twice is nearest to its copy", twice, i)
    close = np.array([[1.0, 0.5001, 0.5004], [0.5001, 1.0, 0.2], [0.5004, 0.2, 1.0]])
    yield Case("The best two are close together, and the later one is nearer", close, 0)


NEAREST = exercise(
    "00-nearest",
    _nearest_cases,
    lambda similarity, i: max((j for j in range(len(similarity)) if j != i), key=lambda j: similarity[i][j]),
)(
    itself=lambda s, i: int(s[i].argmax()),
    similarity=(lambda s, i: float(np.delete(s[i], i).max()), lambda s, i: float(np.sort(s[i])[-2])),
    own_similarity=lambda s, i: float(s[i].max()),
    without_sign=lambda s, i: int(np.where(np.arange(len(s)) == i, -1, np.abs(s[i])).argmax()),
    shifted_places=lambda s, i: int(np.delete(s[i], i).argmax()),
    least_similar=lambda s, i: int(s[i].argmin()),
    whole_table=lambda s, i: int(s.argmax()),
    zero_for_itself=lambda s, i: int(np.where(np.arange(len(s)) == i, 0, s[i]).argmax()),
    minus_one_for_itself=lambda s, i: int(np.where(np.arange(len(s)) == i, -1, s[i]).argmax()),
    second_largest=lambda s, i: int(np.argsort(s[i])[-2]),
    copies_left_out=(
        lambda s, i: int(np.where(s[i] > 0.999, -2, s[i]).argmax()),
        lambda s, i: int(np.where(s[i] >= 1, -2, s[i]).argmax()),
        lambda s, i: int(np.where(s[i] == 1, -2, s[i]).argmax()),
    ),
    nan_for_itself=lambda s, i: int(np.where(np.arange(len(s)) == i, np.nan, s[i]).argmax()),
    second_best=lambda s, i: int(np.argsort(s[i])[-3]),
    all_in_order=lambda s, i: np.argsort(-s[i]),
)


# --- completions -------------------------------------------------------------------------------------------------


def _one_with_all_cases(rng):
    for rows, place in ((5, 0), (5, 4), (3, 1), (1, 0)):
        vectors = normal(rng, rows, 12).numpy()
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        yield Case("One cosine for each row", vectors, vectors[place])
    yield Case("The vector may be none of the rows", vectors, -vectors[0])


ONE_WITH_ALL = Completion(
    "00-one-with-all",
    "One with all",
    ("vectors", "vector"),
    _one_with_all_cases,
    lambda vectors, v: vectors @ v,
    mistakes=(
        Mistake(
            "turned_round",
            "The sizes in `vector @ vectors` don't match: the last size on the left must equal the first on the right.",
            "Write `vectors` first.",
            (lambda vectors, v: v @ vectors,),
        ),
        Mistake(
            "all_with_all",
            "You compare every vector with every other vector.",
            "Compare the rows only with `vector`.",
            (lambda vectors, v: vectors @ vectors.T,),
        ),
        Mistake(
            "not_added",
            "You multiply number by number, but you don't add up the products.",
            "`@` does both.",
            (lambda vectors, v: vectors * v,),
        ),
    ),
)


def _ranked_cases(rng):
    for size, row in ((5, 0), (5, 4), (8, 3)):
        yield Case("From the most similar to the least", _similarity(rng, size)[row])
    yield Case("Negative numbers come last", np.array(rng.sample([-0.9, -0.4, -0.1, 0.3, 0.8], 5)))
    yield Case("Each position once, where two are equally similar", np.array(rng.sample([0.2, 0.6, 0.6, 0.9], 4)))


def _ranked(row):
    return np.argsort(-row).tolist()


def _ranked_problem(args, outcome):
    """Positions of equal similarities may come in either order."""
    (row,) = args
    if sorted(outcome) == list(range(len(row))) and (np.diff(row[outcome]) <= 0).all():
        return None
    return difference(outcome, _ranked(row))


RANKED = Completion(
    "00-ranked",
    "Ranked by similarity",
    ("row",),
    _ranked_cases,
    _ranked,
    judge=_ranked_problem,
    mistakes=(
        Mistake(
            "ascending",
            "You return the positions from the least similar to the most.",
            "Sort `-row`, or reverse the order with `[::-1]`.",
            (lambda row: np.argsort(row).tolist(),),
        ),
        Mistake(
            "similarities",
            "You return the sorted similarities.",
            "Return the positions instead.",
            (lambda row: np.sort(row)[::-1].tolist(), lambda row: np.sort(row).tolist()),
        ),
        Mistake(
            "ranks",
            "You return the rank of each sentence.",
            "Return the positions in order of rank: use `argsort` only once.",
            (lambda row: (-row).argsort().argsort().tolist(),),
        ),
        Mistake(
            "minus_outside",
            "You put the minus in front of the positions.",
            "Put it in front of the similarities: `(-row).argsort()`.",
            (lambda row: (-row.argsort()).tolist(),),
        ),
        Mistake(
            "looked_up_by_value",
            "You look up each similarity in the row, so two equal similarities get the same position.",
            "Use `argsort`, which returns each position once.",
            (lambda row: [row.tolist().index(value) for value in np.sort(row)[::-1]],),
        ),
    ),
)


# --- the odd one out ---------------------------------------------------------------------------------------------


def _others(similarity, i):
    return np.delete(similarity[i], i)


def _odd(similarity, pick=np.argmin, summary=np.mean):
    return int(pick([summary(_others(similarity, i)) for i in range(len(similarity))]))


def _odd_cases(rng):
    def ring(n, odd):
        """Sentence `odd` is far from all others, and not the one with the lowest single similarity."""
        table = 0.5 + 0.1 * _similarity(rng, n)
        table[odd] = table[:, odd] = 0.2
        far = [i for i in range(n) if i != odd][:2]
        table[far[0], far[1]] = table[far[1], far[0]] = 0.05  # the lowest, of two that fit otherwise
        np.fill_diagonal(table, 1.0)
        return table

    n = rng.randint(6, 8)
    unequal = ring(n, 2)
    unequal[np.diag_indices(n)] = [np.nan, 9.0, np.nan, -9.0, *[9.0] * (n - 4)]
    tied = ring(n, 4)
    tied[[1, 4]], tied[:, [1, 4]] = 0.25, 0.25  # sums of quarters are exact in any order
    np.fill_diagonal(tied, 1.0)
    lowest = np.full((n, n), 0.5)  # 0 and 1 are far from each other, and 0 fits a little less to the rest
    lowest[0, 1] = lowest[1, 0] = -0.9
    lowest[0, 2:] = lowest[2:, 0] = 0.47
    lowest[n - 1, 1:-1] = lowest[1:-1, n - 1] = 0.42  # the lowest median
    np.fill_diagonal(lowest, 1.0)
    partner = np.full((n, n), 0.5)  # 2 is far from all but 0; n - 1 is far from none, and near to none
    partner[2] = partner[:, 2] = 0.1
    partner[n - 1] = partner[:, n - 1] = 0.4
    partner[n - 1, 2] = partner[2, n - 1] = 0.1
    partner[0, 2] = partner[2, 0] = 0.9
    np.fill_diagonal(partner, 1.0)
    three = np.array([[1.0, 0.9, 0.3], [0.9, 1.0, 0.4], [0.3, 0.4, 1.0]])
    order = rng.sample(range(3), 3)
    for odd in (0, rng.randint(2, n - 2), n - 1):
        yield Case("The lowest mean similarity to the others", ring(n, odd))
    yield Case("A single very low similarity lowers the mean", lowest)
    yield Case("A single very high similarity does not make up for the others", partner)
    yield Case("The diagonal does not count", unequal)
    yield Case("All similarities may be negative", ring(n, 1) - 1.5)
    yield Case("Of two equally odd sentences, the first", tied)
    yield Case("Three sentences", three[order][:, order])
    close = np.full((n, n), 0.5)
    close[-1] = close[:, -1] = 0.4996
    np.fill_diagonal(close, 1.0)
    yield Case("The lowest mean, by however little", close)


ODD = exercise("00-odd-one-out", _odd_cases, _odd, points=2)(
    diagonal_in_sums=lambda s: int((s.sum(axis=1) - s.diagonal()).argmin()),
    values_left_out=lambda s: int(np.argmin([row[row < 0.999].mean() for row in s])),
    fits_best=lambda s: _odd(s, pick=np.argmax),
    lowest_single=lambda s: int(np.where(np.eye(len(s)) == 1, np.inf, s).min(axis=1).argmin()),
    lowest_maximum=lambda s: int(np.where(np.eye(len(s)) == 1, -np.inf, s).max(axis=1).argmin()),
    place_in_whole_table=lambda s: int(s.argmin()),
    mean_similarity=lambda s: float(min(_others(s, i).mean() for i in range(len(s)))),
    all_means=lambda s: [float(_others(s, i).mean()) for i in range(len(s))],
    mean_of_nan=lambda s: int(np.where(np.eye(len(s)) == 1, np.nan, s).mean(axis=1).argmin()),
    second_of_ties=lambda s: len(s) - 1 - int(np.argmin([_others(s, i).mean() for i in range(len(s))][::-1])),
)


def _table(rng, rows, columns):
    return normal(rng, rows, columns).abs() + 0.1


SHARES = exercise(
    "00-shares",
    lambda rng: [
        Case("Each row adds up to 1", _table(rng, 3, 5)),
        Case("More rows than columns", _table(rng, 6, 2)),
        Case("As many rows as columns", _table(rng, 4, 4)),
        Case("One row", _table(rng, 1, 4)),
        Case("One column", _table(rng, 3, 1)),
    ],
    lambda table: table / table.sum(dim=1, keepdim=True),
)(
    lost_dimension=lambda t: t / t.sum(dim=1),
    column_sums=lambda t: t / t.sum(dim=0),
    whole_sum=lambda t: t / t.sum(),
    sums=(lambda t: t.sum(dim=1), lambda t: t.sum(dim=1, keepdim=True)),
    largest=lambda t: t / t.amax(dim=1, keepdim=True),
    softmax=lambda t: t.softmax(dim=1),
)


def _factor_cases(rng):
    def case(label, sentences, words, numbers):
        return Case(label, normal(rng, sentences, words, numbers), normal(rng, sentences, words))

    vectors, factors = normal(rng, 2, 4, 3), normal(rng, 2, 4)
    factors[0, 1], factors[1] = 0.0, 0.0
    yield case("Three different sizes", 2, 5, 3)
    yield case("As many words as numbers", 2, 4, 4)
    yield case("As many sentences as words", 3, 3, 5)
    yield case("As many sentences as numbers", 3, 4, 3)
    yield case("All three sizes equal", 3, 3, 3)
    yield case("One sentence of one word", 1, 1, 4)
    yield Case("Factors of 0", vectors, factors)


WEIGHTED = exercise(
    "00-weighted-sum", _factor_cases, lambda v, w: (v * w.unsqueeze(-1)).sum(dim=1), arguments=("vectors", "factors")
)(
    factors_on_numbers=lambda v, w: (v * w).sum(dim=1),
    unsqueezed_in_the_middle=lambda v, w: (v * w.unsqueeze(1)).sum(dim=1),
    not_added=lambda v, w: v * w.unsqueeze(-1),
    sum_inside_vectors=lambda v, w: (v * w.unsqueeze(-1)).sum(dim=-1),
    sum_over_sentences=lambda v, w: (v * w.unsqueeze(-1)).sum(dim=0),
    weighted_mean=lambda v, w: (v * w.unsqueeze(-1)).sum(dim=1) / w.sum(dim=1, keepdim=True),
    plain_mean=lambda v, w: (v * w.unsqueeze(-1)).mean(dim=1),
    negative_as_zero=lambda v, w: (v * w.clamp(min=0).unsqueeze(-1)).sum(dim=1),
    factors_without_sign=lambda v, w: (v * w.abs().unsqueeze(-1)).sum(dim=1),
    factors_added=lambda v, w: (v + w.unsqueeze(-1)).sum(dim=1),
)


def _kept_cases(rng):
    import torch

    def keep(rows, columns):
        mask = torch.tensor([[rng.randint(0, 1) for _ in range(columns)] for _ in range(rows)])
        mask[0, 0], mask[-1, -1] = 1, 0
        return mask

    table, mask = normal(rng, 3, 5), keep(3, 5)
    unequal = torch.tensor([[1, 0, 0, 0], [1, 1, 1, 0]])  # the mean of the rows' means is another number
    spoilt = normal(rng, 3, 4)
    spoiling = keep(3, 4)
    spoilt[spoiling == 0] = float("nan")
    endless = normal(rng, 2, 4).masked_fill(unequal == 0, float("inf"))
    zero = normal(rng, 2, 3)
    zero[0] = 0.0
    whole = torch.tensor([[rng.randint(1, 9) for _ in range(4)] for _ in range(2)])
    whole[0, 0], whole[1, :3] = 3, torch.tensor([1, 2, 4])
    single = torch.zeros(3, 4, dtype=torch.int64)
    single[1, 2] = 1
    yield Case("Only the kept numbers count", table, mask)
    yield Case("Rows that keep different numbers of values", normal(rng, 2, 4), unequal)
    yield Case("As many rows as columns", normal(rng, 3, 3), keep(3, 3))
    yield Case("A table of integers", whole, unequal)
    yield Case("A kept 0 counts like any other number", zero, torch.tensor([[1, 1, 0], [1, 0, 1]]))
    yield Case("NaN where `keep` holds 0", spoilt, spoiling)
    yield Case("Infinity where `keep` holds 0", endless, unequal)
    yield Case("A single 1", normal(rng, 3, 4), single)
    yield Case("All kept", table, torch.ones_like(mask))


def _kept_mean(table, keep):
    return table[keep == 1].float().mean().item()


def _judge_kept(args, outcome):
    if type(outcome).__name__ == "Tensor":
        return "your function returned a Tensor where one Python number is asked for: `.item()` takes it out"
    return difference(outcome, _kept_mean(*args))


KEPT = exercise("00-kept-mean", _kept_cases, _kept_mean, judge=_judge_kept)(
    mask_as_positions=lambda t, k: t[k].float().mean().item(),
    upside_down=lambda t, k: t[k == 0].float().mean().item(),
    whole_mean=lambda t, k: t.float().mean().item(),
    multiplied_by_mask=lambda t, k: ((t * k).sum() / k.sum()).item(),
    mean_of_row_means=lambda t, k: float(
        np.mean([row[kept == 1].float().mean().item() for row, kept in zip(t, k) if (kept == 1).any()])
    ),
    counted_all_cells=lambda t, k: (t[k == 1].float().sum() / k.numel()).item(),
    mean_of_integers=lambda t, k: t[k == 1].mean().item(),
    sum=lambda t, k: t[k == 1].float().sum().item(),
)
