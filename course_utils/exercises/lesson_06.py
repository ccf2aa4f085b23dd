"""Exercises of lesson 06, similarity and projections."""

import math
from functools import partial

import numpy as np
import torch

from ..pooling import normalise
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _cosine_cases(rng):
    hidden = rng.randint(6, 9)
    a, b = normal(rng, hidden) + 0.5, normal(rng, hidden) + 0.5
    whole = torch.tensor([rng.choice([-1, 1]) * rng.randint(40, 120) for _ in range(hidden)])
    zero = torch.zeros(hidden)
    some = [rng.randint(1, 40) for _ in range(hidden - 1)]
    balanced = torch.tensor([*some, -sum(some)]).float()
    (first_a, first_b), third_b = (v.clone() for v in (a, b)), b.clone()
    first_a[0] = first_b[0] = third_b[2] = 0
    yield Case("Two vectors of one dtype", a, b)
    yield Case("The lengths of the vectors do not matter", 0.01 * a, 250 * b)
    yield Case("Opposite directions give -1", a, -3 * a)
    yield Case("float32 and float64 together", a, 0.7 * b.double())
    yield Case("float64 and float32 together", b.double(), a)
    yield Case("Whole numbers and decimals together", whole, a)
    yield Case("Products of int8 numbers do not fit into int8", whole.to(torch.int8), whole.flip(0).to(torch.int8))
    yield Case("Very short vectors have a direction, too", 1e-17 * a, 1e-17 * b)
    yield Case("A zero among other numbers makes no zero vector", first_a, first_b)
    yield Case("A zero among other numbers makes no zero vector", a, third_b)
    yield Case("Numbers that add up to 0 make no zero vector", balanced, b)
    yield Case("All numbers may be negative", -a.abs() - 0.1, b.abs() + 0.1)
    yield Case("Very long vectors: their squares do not fit into float32", 1e22 * a, 1e22 * b)
    yield Case("A vector of zeros gives 0", zero, b)
    yield Case("A vector of zeros gives 0, in second place too", a, zero)
    yield Case("Two vectors of zeros give 0", zero, zero.clone())


def _cosine(a, b):
    a, b = a.double(), b.double()
    lengths = a.norm() * b.norm()
    return 0.0 if lengths == 0 else (a @ b / lengths).clamp(-1, 1).item()


def _wide(a, b):
    return a.double(), b.double()


def _number(value):
    return value.item() if hasattr(value, "item") else value


def _ratio(a, b, bottom, top=torch.dot, of_zero=None, wide=True):
    """top / bottom for the two vectors. If `of_zero` is given, it is returned when either vector is zero."""
    if of_zero is not None and not (a.any() and b.any()):
        return of_zero
    a, b = _wide(a, b) if wide else (a, b)
    return _number(top(a, b) / bottom(a, b))


def _lengths(a, b):
    return a.norm() * b.norm()


def _squares(a, b):
    return (a * a).sum().sqrt() * (b * b).sum().sqrt()


def _sums(a, b):
    return (a * b).sum()


def _cosine_of(convert, of_zero, a, b):
    """The correct formula applied after `convert`, which may lose information."""
    if of_zero is not None and not (a.any() and b.any()):
        return of_zero
    a, b = convert(a, b)
    return _number(a @ b / (a.norm() * b.norm()))


COSINE = exercise("06-cosine", _cosine_cases, _cosine, points=2)(
    nan_for_zeros=partial(_cosine_of, _wide, None),
    two_dtypes=[
        lambda a, b, top=top, bottom=bottom, zero=zero: _ratio(a, b, bottom, top, zero, wide=False)
        for top in (torch.dot, torch.matmul)
        for bottom in (_lengths, _squares)
        for zero in (None, 0.0)
    ],
    int8_overflow=[lambda a, b, zero=zero: _ratio(a, b, _squares, _sums, zero, wide=False) for zero in (None, 0.0)],
    float32_overflow=(
        *(partial(_cosine_of, lambda a, b: (a.float(), b.float()), zero) for zero in (None, 0.0)),
        lambda a, b: (lambda n: 0.0 if n == 0 else (a.float() @ b.float() / n).item())(
            a.float().norm() * b.float().norm()
        ),
    ),
    one_dtype=[
        partial(_cosine_of, convert, zero)
        for zero in (None, 0.0)
        for convert in (lambda a, b: (a, b.to(a.dtype)), lambda a, b: (a.to(b.dtype), b))
    ],
    short_as_zero=lambda a, b: torch.cosine_similarity(a.double(), b.double(), dim=0).item(),
    ready_made=(
        lambda a, b: torch.cosine_similarity(a.float(), b.float(), dim=0).item(),
        lambda a, b: torch.cosine_similarity(a, b, dim=0).item(),
    ),
    dot_product=[lambda a, b, zero=zero: _ratio(a, b, lambda a, b: 1.0, of_zero=zero) for zero in (None, 0.0)],
    squared_lengths=[
        lambda a, b, zero=zero: _ratio(a, b, lambda a, b: _lengths(a, b) ** 2, of_zero=zero) for zero in (None, 0.0)
    ],
    one_length=[
        lambda a, b, zero=zero, one=one: _ratio(a, b, lambda a, b: (a, b)[one].norm(), of_zero=zero)
        for zero in (None, 0.0)
        for one in (0, 1)
    ],
    sum_of_lengths=[
        lambda a, b, zero=zero: _ratio(a, b, lambda a, b: a.norm() + b.norm(), of_zero=zero) for zero in (None, 0.0)
    ],
    distance=lambda a, b: 1 - _cosine(a, b),
    euclidean=lambda a, b: (a.double() - b.double()).norm().item(),
    no_sign=lambda a, b: abs(_cosine(a, b)),
    cut_at_zero=lambda a, b: max(0.0, _cosine(a, b)),
    two_zeros_one=lambda a, b: 1.0 if not (a.any() or b.any()) else _cosine(a, b),
    zero_is_one=lambda a, b: _cosine(a, b) if a.any() and b.any() else 1.0,
    nan_for_one_zero=lambda a, b: _cosine_of(_wide, None, a, b) if a.any() or b.any() else 0.0,
    one_number_zero=lambda a, b: 0.0 if (a == 0).any() or (b == 0).any() else _cosine(a, b),
    first_number_zero=lambda a, b: 0.0 if a[0] == 0 or b[0] == 0 else _cosine(a, b),
    sum_zero=lambda a, b: 0.0 if a.double().sum() == 0 or b.double().sum() == 0 else _cosine(a, b),
    largest_with_sign=(
        lambda a, b: _cosine(a / a.max(), b / b.max()) if a.any() and b.any() else 0.0,
        lambda a, b: (
            _cosine(a.double() / a.double().max(), b.double() / b.double().max()) if a.any() and b.any() else 0.0
        ),
    ),
    angle=[lambda a, b, unit=unit: math.acos(_cosine(a, b)) * unit for unit in (1, 180 / math.pi)],
    rounded=[lambda a, b, digits=digits: round(_cosine(a, b), digits) for digits in (1, 2, 3, 4)],
    products=lambda a, b: _wide(a, b)[0] * _wide(a, b)[1] / (a.double().norm() * b.double().norm()),
)


def _batches(rng, counts, spread=1.0):
    """The means of batches of unit vectors that share a direction, and their counts."""
    hidden = rng.randint(5, 8)
    shared = normal(rng, 1, hidden)
    batches = [normalise(shared + spread * normal(rng, count, hidden)) for count in counts]
    return torch.stack([batch.mean(dim=0) for batch in batches]), list(counts)


def _mean_cosine_cases(rng):
    sizes = rng.sample(range(2, 40), 4)
    axes = torch.eye(4)
    n = rng.randint(3, 6)
    means, counts = _batches(rng, sizes[:2])
    yield Case("Batches of different sizes", *_batches(rng, sizes))
    yield Case("Two batches of the same texts", means[[0, 1, 0]], [*counts, counts[0]])
    yield Case("One large batch beside small ones", *_batches(rng, [300, 2, 3], 2.0))
    yield Case("One batch alone", *_batches(rng, [rng.randint(4, 9)]))
    yield Case("Two batches of one sentence each", *_batches(rng, [1, 1]))
    yield Case("A batch of one sentence among others", *_batches(rng, [1, rng.randint(4, 9), rng.randint(10, 15)]))
    yield Case("Equal vectors everywhere: 1", axes[:1].repeat(3, 1), [2, n, 1])
    yield Case("Opposite directions", torch.stack([axes[0], -axes[0]]), [n, n + 2])
    yield Case("Right angles between all sentences: 0", axes[: n - 1 if n < 6 else 4], [1] * (n - 1 if n < 6 else 4))


def _total(means, counts):
    counts = torch.tensor(counts, dtype=torch.float64)
    return counts @ means.double(), counts


def _mean_cosine(means, counts):
    total, counts = _total(means, counts)
    n = counts.sum()
    return ((total @ total - n) / (n * (n - 1))).item()


def _each_mean_once(means, counts):
    """Of batches with equal means, only the first counts."""
    once = {tuple(mean): count for mean, count in zip(means.tolist()[::-1], counts[::-1])}
    return _mean_cosine(torch.tensor(list(once)), list(once.values()))


def _of_total(formula, means, counts):
    """A wrong formula of the sum of all vectors (as its squared length) and their number."""
    total, counts = _total(means, counts)
    return formula((total @ total).item(), counts.sum().item())


def _within(weights, means, counts):
    """The mean of the mean cosines within each batch; a batch of one sentence has none and counts 0."""
    found = [((n * n * (m @ m) - n) / (n * (n - 1))).item() if n > 1 else 0.0 for m, n in zip(means, counts)]
    return float(np.average(found, weights=weights(counts)))


def _within_larger(weight, means, counts):
    """As `_within`, over the batches of at least two sentences."""
    larger = [(_mean_cosine(m[None], [n]), weight(n)) for m, n in zip(means, counts) if n > 1]
    return sum(cosine * weighs for cosine, weighs in larger) / sum(weighs for _, weighs in larger) if larger else 0.0


def _only(across, empty, means, counts):
    """The mean cosine over pairs within a batch only, or across batches only; `empty` where there are none."""
    total, _ = _total(means, counts)
    inside = sum((n * n * (m.double() @ m.double())).item() for m, n in zip(means, counts))
    n, squares = sum(counts), sum(n * n for n in counts)
    cosines, pairs = ((total @ total).item() - inside, n * n - squares) if across else (inside - n, squares - n)
    return cosines / pairs if pairs else empty(means, counts)


def _less_squares(means, counts):
    """Takes the squared lengths of the means, each times its count, out of the sum."""
    total, counts = _total(means, counts)
    n = counts.sum()
    return ((total @ total - counts @ means.double().square().sum(dim=1)) / (n * (n - 1))).item()


def _unweighted(means, counts):
    n = sum(counts)
    middle = means.double().mean(dim=0)
    return ((n * middle @ middle - 1) / (n - 1)).item()


def _between_means(scaled, means, counts):
    rows = normalise(means) if scaled else means
    if len(rows) == 1:
        return 1.0
    table = rows @ rows.T
    return ((table.sum() - table.trace()) / (len(rows) * (len(rows) - 1))).item()


NO_PAIRS = (lambda m, c: math.nan, lambda m, c: 0.0, lambda m, c: 0.0 / 0, _mean_cosine)

MEAN_COSINE = exercise(
    "06-mean-cosine",
    _mean_cosine_cases,
    _mean_cosine,
    alike=lambda one, other: not math.isfinite(one) and not math.isfinite(other),
    points=2,
)(
    with_itself=partial(_of_total, lambda square, n: square / n**2),
    divided_by_all_pairs=partial(_of_total, lambda square, n: (square - n) / n**2),
    itself_in_sum=partial(_of_total, lambda square, n: square / (n * (n - 1))),
    counted_once=partial(_of_total, lambda square, n: 2 * (square - n) / (n * (n - 1))),
    subtracted_from_mean=partial(_of_total, lambda square, n: (square / n**2 - n) / (n * (n - 1))),
    length_of_mean=partial(_of_total, lambda square, n: math.sqrt(square) / n),
    mean_of_means=_unweighted,
    mean_of_means_with_itself=lambda means, counts: (lambda m: (m @ m).item())(means.double().mean(dim=0)),
    equal_means_once=_each_mean_once,
    means_compared=[partial(_between_means, scaled) for scaled in (True, False)],
    within_averaged=(
        lambda means, counts: float(np.average((means * means).sum(dim=1), weights=counts)),
        *(partial(_within_larger, weights) for weights in (lambda n: 1, lambda n: n)),
        *(partial(_within, weights) for weights in (lambda counts: None, lambda counts: counts)),
    ),
    within_only=[partial(_only, False, empty) for empty in NO_PAIRS],
    across_only=[partial(_only, True, empty) for empty in NO_PAIRS],
    squared_means_subtracted=_less_squares,
    mean_normalised=lambda means, counts: 1.0,
)


def _centre_cases(rng):
    hidden = rng.randint(6, 9)
    shift = normal(rng, 1, hidden) + 1  # so small that the cosines may be computed from products of whole vectors
    background = normal(rng, rng.randint(10, 14), hidden) + shift
    first = normal(rng, 4, hidden) + shift + 0.5
    second = first * 0.6 + 0.4 * shift + normal(rng, 4, hidden)
    lengths = torch.tensor([[0.3], [2.0], [9.0], [1.0]])
    far = normal(rng, 1, hidden)
    shortest = (torch.cat([first, second]) - background.mean(dim=0)).norm(dim=1).min()
    yield Case("Some pairs against a background in a cone", first, second, background)
    yield Case("All vectors moved by the same vector", first + far, second + far, background + far)
    yield Case("One pair", first[:1], second[:1], background)
    yield Case("Pairs and background of one length", first, second, background[:4])
    yield Case("Short vectors", *tuple(1e-4 / shortest * rows for rows in (first, second, background)))
    yield Case(
        "As many pairs as dimensions",
        normal(rng, hidden, hidden) + shift,
        normal(rng, hidden, hidden) + shift,
        background,
    )
    yield Case("Vectors of very different lengths", first * lengths, second * lengths.flip(0), background)
    yield Case("Pairs in another order", first[[2, 0, 3, 1]], second[[2, 0, 3, 1]], background)


def _rows_cosine(one, other):
    return (one * other).sum(dim=1) / (one.norm(dim=1) * other.norm(dim=1))


def _minus(middle_1, f, s, b, middle_2=None):
    """The cosines after subtracting `middle_1(first, second, background)`, or `middle_2` from the second rows."""
    return _rows_cosine(f - middle_1(f, s, b), s - (middle_2 or middle_1)(f, s, b))


def _mean(v):
    return v.mean(dim=0)


def _with_epsilon(cosine):
    return lambda f, s, b: cosine(f - _mean(b), s - _mean(b))


CENTRE = exercise(
    "06-centre",
    _centre_cases,
    partial(_minus, lambda f, s, b: _mean(b)),
    points=2,
    arguments=("first", "second", "background"),
)(
    not_subtracted=lambda f, s, b: _rows_cosine(f, s),
    one_number=partial(_minus, lambda f, s, b: b.mean()),
    mean_of_each_sentence=(
        partial(_minus, lambda f, s, b: b.mean(dim=1)),
        partial(_minus, lambda f, s, b: b.mean(dim=1, keepdim=True)),
    ),
    own_numbers_mean=partial(
        _minus, lambda f, s, b: f.mean(dim=1, keepdim=True), middle_2=lambda f, s, b: s.mean(dim=1, keepdim=True)
    ),
    own_set_mean=(
        partial(_minus, lambda f, s, b: _mean(f), middle_2=lambda f, s, b: _mean(s)),
        lambda f, s, b: torch.cosine_similarity(f - _mean(f), s - _mean(s)),
    ),
    pair_mean=partial(_minus, lambda f, s, b: _mean(torch.cat([f, s]))),
    one_set_mean=[
        lambda f, s, b, of=of, cosine=cosine: cosine(f - _mean((f, s)[of]), s - _mean((f, s)[of]))
        for of in (0, 1)
        for cosine in (_rows_cosine, torch.cosine_similarity)
    ],
    first_vector=partial(_minus, lambda f, s, b: b[0]),
    median=[
        partial(_minus, middle)
        for middle in (lambda f, s, b: b.median(dim=0).values, lambda f, s, b: b.quantile(0.5, dim=0))
    ],
    bound_too_large=(
        *(_with_epsilon(lambda x, y, eps=eps: torch.cosine_similarity(x, y, eps=eps)) for eps in (1e-3, 1e-2)),
        *(
            _with_epsilon(lambda x, y, eps=eps: (x * y).sum(1) / (x.norm(dim=1) * y.norm(dim=1) + eps))
            for eps in (1e-8, 1e-6)
        ),
    ),
    distance=lambda f, s, b: 1 - _rows_cosine(f - _mean(b), s - _mean(b)),
    mean_of_all=partial(_minus, lambda f, s, b: _mean(torch.cat([f, s, b]))),
    first_only=lambda f, s, b: _rows_cosine(f - _mean(b), s),
    second_only=lambda f, s, b: _rows_cosine(f, s - _mean(b)),
    added=partial(_minus, lambda f, s, b: -_mean(b)),
    lengths_from_before=lambda f, s, b: ((f - _mean(b)) * (s - _mean(b))).sum(dim=1) / (f.norm(dim=1) * s.norm(dim=1)),
    normalised_first=lambda f, s, b: _rows_cosine(normalise(f) - _mean(b), normalise(s) - _mean(b)),
    all_normalised_first=lambda f, s, b: _rows_cosine(
        normalise(f) - _mean(normalise(b)), normalise(s) - _mean(normalise(b))
    ),
    background_normalised=partial(_minus, lambda f, s, b: _mean(normalise(b))),
    mean_normalised=partial(_minus, lambda f, s, b: _mean(b) / _mean(b).norm()),
    not_normalised=[
        lambda f, s, b, of=of: ((normalise(f) - of(b)) * (normalise(s) - of(b))).sum(dim=1)
        for of in (_mean, lambda b: _mean(normalise(b)))
    ],
    one_length=lambda f, s, b: (
        ((f - _mean(b)) * (s - _mean(b))).sum(dim=1) / ((f - _mean(b)).norm() * (s - _mean(b)).norm())
    ),
    standardised=lambda f, s, b: _rows_cosine((f - _mean(b)) / b.std(dim=0), (s - _mean(b)) / b.std(dim=0)),
    dot_products=lambda f, s, b: ((f - _mean(b)) * (s - _mean(b))).sum(dim=1),
    table_returned=lambda f, s, b: normalise(f - _mean(b)) @ normalise(s - _mean(b)).T,
    mean_of_pairs=lambda f, s, b: _rows_cosine(f - _mean(b), s - _mean(b)).mean().item(),
    along_columns=lambda f, s, b: torch.cosine_similarity(f - _mean(b), s - _mean(b), dim=0),
)


def _project_cases(rng):
    hidden = rng.randint(6, 9)
    turn = torch.linalg.qr(normal(rng, hidden, hidden)).Q.double().numpy()

    def placed(rows, offset=(0.0, 0.0, 0.0)):
        """Rows given on three axes, with a little noise added, rotated at random into the full space."""
        wide = np.array([[rng.uniform(-0.2, 0.2) for _ in range(hidden)] for _ in rows])
        wide[:, :3] += np.array(rows) + np.array(offset)
        return wide @ turn

    # Together they vary most along axes 1 and 2; each set alone has a different plane.
    first = placed([(-5, 0.2, 1.2), (-2.5, -0.4, -1.2), (0, 0.3, 1.5), (2.5, 0, -1.4), (5, -0.2, 1)])
    second = placed([(0.3, -2, 1.3), (-0.2, 0, -1.4), (0, 2.5, 1.2), (0.4, 5, -1.3)], (1.0, 4.0, 0.5))
    far = np.zeros(hidden)
    far[0] = 40.0
    yield Case("Two sets, one plane for both", first, second)
    yield Case("The other way round, the table is turned", second, first)
    yield Case("A set against itself", first, first.copy())
    yield Case("The second set is part of the first", first, first[:3])
    yield Case("A set that was moved away stays away", first, first + 9 * turn[1])
    yield Case("Moving both sets together changes nothing", first + far, second + far)
    yield Case("A single row as the second set", first, second[3:])
    yield Case("A single row as the first set", second[:1], first)


def _pca():
    from sklearn.decomposition import PCA  # slow to import, and only this exercise needs it

    return PCA(n_components=2)


def _plane(rows, axes=2, centred=True):
    """A function that projects rows into the plane of these rows. As scikit-learn's PCA, and faster."""
    if len(rows) < axes:
        _pca().fit(rows)  # raises as an answer's PCA does
    middle = rows.mean(axis=0) if centred else 0 * rows[0]
    directions = np.linalg.svd(rows - middle, full_matrices=False)[2][:axes]
    return lambda other: (other - middle) @ directions.T


def _table(one, other):
    return np.linalg.norm(one[:, None] - other[None], axis=-1)


def _projected(f, s, rows, **options):
    """The distances of both sets in the plane of these rows."""
    to_plane = _plane(rows, **options)
    return _table(to_plane(f), to_plane(s))


def _stacked(f, s):
    return np.concatenate([f, s])


def _distances(f, s):
    return _projected(f, s, _stacked(f, s))


def _centred(rows):
    return rows - rows.mean(axis=0)


def _whitened(f, s):
    both = _stacked(f, s)
    to_plane = _plane(both)
    spread = to_plane(both).std(axis=0, ddof=1)
    return _table(to_plane(f) / spread, to_plane(s) / spread)


def _standardised(f, s):
    spread = _stacked(f, s).std(axis=0)
    return _distances(f / spread, s / spread)


def _side_by_side(f, s):
    plane = _pca().fit(np.concatenate([f, s], axis=1))
    return _table(plane.transform(f), plane.transform(s))


PROJECT = exercise("06-project", _project_cases, _distances, points=2, arguments=("first", "second"))(
    own_planes=lambda f, s: _table(_pca().fit_transform(f), _pca().fit_transform(s)),
    fitted_on_first=lambda f, s: _projected(f, s, f),
    fitted_on_second=lambda f, s: _projected(f, s, s),
    second_fit_forgets=lambda f, s: (_plane(f), _projected(f, s, s))[1],
    all_dimensions=_table,
    first_two_dimensions=lambda f, s: _table(f[:, :2], s[:, :2]),
    one_axis=lambda f, s: _projected(f, s, _stacked(f, s), axes=1),
    three_axes=lambda f, s: _projected(f, s, _stacked(f, s), axes=3),
    no_mean_subtracted=lambda f, s: _projected(f, s, _stacked(f, s), centred=False),
    whitened=_whitened,
    standardised=_standardised,
    centred=lambda f, s: _distances(_centred(f), _centred(s)),
    fitted_on_centred=lambda f, s: _projected(f, s, _stacked(_centred(f), _centred(s))),
    projected_centred=lambda f, s: _projected(_centred(f), _centred(s), _stacked(f, s)),
    squared=lambda f, s: _distances(f, s) ** 2,
    absolute_differences=lambda f, s: (lambda to: np.abs(to(f)[:, None] - to(s)[None]).sum(axis=-1))(
        _plane(_stacked(f, s))
    ),
    turned=lambda f, s: _distances(f, s).T,
    stacked_distances=lambda f, s: (lambda both: _distances(both, both))(_stacked(f, s)),
    points_returned=lambda f, s: tuple(_plane(_stacked(f, s))(rows) for rows in (f, s)),
    stacked_sideways=_side_by_side,
)


def _table_cases(rng):
    hidden = rng.randint(5, 8)
    first, second = normal(rng, 4, hidden) + 0.5, normal(rng, 3, hidden)
    yield Case("Two tables of different heights", first, second)
    yield Case("As many rows as columns", second, normal(rng, 3, hidden))
    yield Case(
        "The lengths of the first rows do not matter", torch.tensor([[0.1], [2.0], [30.0], [4.0]]) * first, second
    )
    yield Case("The lengths of the second rows do not matter", first, torch.tensor([[5.0], [0.2], [7.0]]) * second)
    yield Case("A table with itself has ones on the diagonal", first, first.clone())


def _cosine_table(first, second):
    return normalise(first) @ normalise(second).T


def _divided_by(lengths):
    """The table of dot products, divided by `lengths` of the lengths of both."""
    return lambda first, second: first @ second.T / lengths(first.norm(dim=1), second.norm(dim=1))


COSINE_TABLE = Completion(
    "06-cosine-table",
    "All cosines",
    ("first", "second"),
    _table_cases,
    _cosine_table,
    mistakes=(
        Mistake(
            "one_length",
            "You divide by only one of the two lengths.",
            "Divide each dot product by both: `lengths[:, None] * others`.",
            (_divided_by(lambda rows, columns: rows[:, None]), _divided_by(lambda rows, columns: columns)),
        ),
        Mistake(
            "lengths_on_the_wrong_axis",
            "Your lengths are on the wrong axis.",
            "Row i of the table belongs to row i of `first`, so `lengths` needs the shape (n, 1), and `others` varies "
            "along the columns: `lengths[:, None] * others`.",
            (
                _divided_by(lambda rows, columns: rows * columns[:, None]),
                _divided_by(lambda rows, columns: rows * columns),
                _divided_by(lambda rows, columns: rows[:, None] * columns[:, None]),
                _divided_by(lambda rows, columns: rows),
                _divided_by(lambda rows, columns: columns[:, None]),
            ),
        ),
        Mistake(
            "sum_of_lengths",
            "You divide by the sum of the two lengths.",
            "Divide by their product.",
            (_divided_by(lambda rows, columns: rows[:, None] + columns),),
        ),
        Mistake(
            "no_brackets",
            "You divide by `lengths`, and then multiply by `others`.",
            "Put the product of the lengths in brackets: `dots / (lengths[:, None] * others)`.",
            (lambda first, second: first @ second.T / first.norm(dim=1)[:, None] * second.norm(dim=1),),
        ),
        Mistake(
            "not_divided",
            "You return the dot products themselves.",
            "Divide them by both lengths, and assign the result to `dots`.",
            (lambda first, second: first @ second.T,),
        ),
        Mistake(
            "euclidean",
            "You return Euclidean distances.",
            "Divide the dot products by the lengths to get cosines.",
            (torch.cdist,),
        ),
    ),
)


def _share_cases(rng):
    hidden = rng.randint(5, 8)
    rows = 3 * normal(rng, 9, hidden).double().numpy() + 2
    axes = np.linalg.svd(rows - rows.mean(axis=0))[2]
    # Along the axes of a PCA the coordinates are uncorrelated, so that sums over the axes would go unnoticed.
    other_axes = np.linalg.qr(normal(rng, hidden, hidden).double().numpy())[0].T
    yield Case("The first two axes of a PCA", rows, axes[:2])
    yield Case("One axis", rows, axes[:1])
    yield Case("Axes that are not the first", rows, axes[2:4])
    yield Case("All axes hold everything", rows, axes)
    yield Case("Two axes at a right angle that no PCA chose", rows, other_axes[:2])
    yield Case("Three axes at right angles that no PCA chose", rows, other_axes[:3])


def _share_kept(rows, axes):
    moved = rows - rows.mean(axis=0)
    return ((moved @ axes.T) ** 2).sum() / (moved**2).sum()


def _share_of_points(points):
    """The share as the cell computes it from these points, which `points(moved, axes, rows)` gives."""

    def share(rows, axes):
        moved = rows - rows.mean(axis=0)
        return (points(moved, axes, rows) ** 2).sum() / (moved**2).sum()

    return share


SHARE_KEPT = Completion(
    "06-share-kept",
    "The share of given axes",
    ("rows", "axes"),
    _share_cases,
    _share_kept,
    mistakes=(
        Mistake(
            "axes_added",
            "You add up the coordinates of each row.",
            "Keep one coordinate for each axis, the shape (n, k). They are squared first and added up afterwards. Only "
            "for the axes of a PCA does your share come out right.",
            (_share_of_points(lambda moved, axes, rows: (moved @ axes.T).sum(axis=1)),),
        ),
        Mistake(
            "not_transposed",
            "The shapes do not fit: `moved` is (n, hidden) and `axes` is (k, hidden).",
            "Transpose the axes, `axes.T`, which makes them (hidden, k).",
            (_share_of_points(lambda moved, axes, rows: moved @ axes),),
        ),
        Mistake(
            "some_axes",
            "You use only some of the axes.",
            "Use all k of them: `axes.T` has a column for each axis.",
            (
                _share_of_points(lambda moved, axes, rows: moved @ axes[:2].T),
                _share_of_points(lambda moved, axes, rows: moved @ axes[:1].T),
            ),
        ),
        Mistake(
            "not_projected",
            "You don't project the rows, so the share is always 1.",
            "Take the dot product of each row of `moved` with each axis.",
            (_share_of_points(lambda moved, axes, rows: moved),),
        ),
        Mistake(
            "mean_not_subtracted",
            "You project the rows without subtracting their mean.",
            "Use `moved`.",
            (_share_of_points(lambda moved, axes, rows: rows @ axes.T),),
        ),
    ),
)


def _assign_cases(rng):
    hidden, k = rng.randint(5, 8), rng.randint(3, 5)
    directions = normalise(normal(rng, k, hidden))
    directions[1] = normalise(directions[0] + 0.6 * directions[1])
    lengths = torch.tensor([0.1, 0.95, *(rng.uniform(0.2, 0.9) for _ in range(k - 2))])[:, None]
    others = normalise(normal(rng, rng.randint(5, 8), hidden))
    # the first vector has the direction of a short centre, and a long one is near
    vectors = torch.cat([directions[:1], others]).double().numpy()
    centres = (lengths * directions).double().numpy()
    best = np.sort((vectors @ directions.double().numpy().T).max(axis=1))
    wide = np.diff(best).argmax()  # far from every cosine, so that rounding decides nothing
    threshold = float(best[wide] + best[wide + 1]) / 2
    axes = np.eye(hidden)
    yield Case("All are near enough, and the lengths of the centres do not matter", vectors, centres, -1.0)
    yield Case("Some vectors are near enough to a centre, others are not", vectors, centres, threshold)
    yield Case("None is near enough", vectors[1:], centres, 1.0)
    yield Case("One vector, one centre", vectors[:1], centres[:1], 0.5)
    # cosines of 0 are exact on every processor
    both_ways = np.concatenate([axes[:2], -axes[:1]])
    yield Case("A cosine equal to the threshold is high enough", both_ways, 0.5 * axes[:1], 0.0)
    yield Case("Of equal cosines, the first centre", axes[[0, 3]], 0.5 * axes[:4] * [[-1], [1], [1], [-1]], -0.5)


def _assign(vectors, centres, threshold, length=1, compare=np.greater_equal, none=-1):
    """As asked; with `length=0`, the centres stay as long as they are."""
    cosines = vectors @ centres.T / np.linalg.norm(centres, axis=1) ** length
    return np.where(compare(cosines.max(axis=1), threshold), cosines.argmax(axis=1), none).tolist()


def _threshold_on_products(vectors, centres, threshold):
    nearest = _assign(vectors, centres, -2)
    return [i if v @ centres[i] >= threshold else -1 for i, v in zip(nearest, vectors)]


def _by_distance(vectors, centres, threshold):
    """The centre at the smallest Euclidean distance, as long as the centres are."""
    units = centres / np.linalg.norm(centres, axis=1, keepdims=True)
    places = np.linalg.norm(vectors[:, None] - centres, axis=2).argmin(axis=1)
    return [int(i) if v @ units[i] >= threshold else -1 for i, v in zip(places, vectors)]


def _last_of_equal(vectors, centres, threshold):
    backwards = _assign(vectors, centres[::-1], threshold)
    return [len(centres) - 1 - i if i >= 0 else -1 for i in backwards]


def _farthest(vectors, centres, threshold):
    cosines = vectors @ centres.T / np.linalg.norm(centres, axis=1)
    return np.where(cosines.max(axis=1) >= threshold, cosines.argmin(axis=1), -1).tolist()


ASSIGN = exercise("06-assign", _assign_cases, _assign, points=2)(
    threshold_on_products=_threshold_on_products,
    dot_product=partial(_assign, length=0),
    by_distance=_by_distance,
    always_assigned=lambda vectors, centres, threshold: _assign(vectors, centres, -2),
    strictly_above=partial(_assign, compare=np.greater),
    not_above=partial(_assign, compare=np.less),
    last_of_equal=_last_of_equal,
    farthest=_farthest,
    other_sign_for_none=[partial(_assign, none=none) for none in (0, 1, -2, math.nan)],
    left_out=lambda vectors, centres, threshold: [i for i in _assign(vectors, centres, threshold) if i >= 0],
    nearest_of_each_centre=lambda vectors, centres, threshold: _assign(
        centres / np.linalg.norm(centres, axis=1, keepdims=True), vectors, threshold
    ),
    booleans=lambda vectors, centres, threshold: [i >= 0 for i in _assign(vectors, centres, threshold)],
)
