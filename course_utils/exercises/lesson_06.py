"""Exercises of lesson 06, similarity and projections.

See `model.py` on cases and mistakes' swaps.
"""

import numpy as np
import torch

from ..pooling import normalise
from .model import Case, completion, exercise, normal


def _cosine_cases(rng):
    hidden = rng.randint(6, 9)
    # 0.5 is added so that the cosine of `a` and `b` tends to be above 0
    a, b, zero = normal(rng, hidden) + 0.5, normal(rng, hidden) + 0.5, torch.zeros(hidden)
    # each fits into int8, and no product of two does
    integers = torch.tensor([rng.choice([-1, 1]) * rng.randint(40, 120) for _ in range(hidden)])
    all_but_first = torch.arange(hidden) > 0
    return [
        Case("Vectors of different dtypes", a, 0.7 * b.double()),
        Case("Vectors of different dtypes", integers, a),
        Case(
            "Products of int8 numbers do not fit into int8",
            integers.to(torch.int8),
            integers.flip(0).to(torch.int8),
        ),
        # products of about 1e-34 are not yet 0 in float32
        Case("Very short vectors have a direction, too", 1e-17 * a, 1e-17 * b),
        Case(
            "A zero among other numbers makes no zero vector", all_but_first * a, all_but_first * b
        ),
        Case(
            "Numbers that add up to 0 make no zero vector",
            torch.cat([integers, -integers]).float(),
            torch.cat([a, b]),
        ),
        Case("A cosine may be negative, and so may all numbers", -a.abs() - 0.1, b.abs() + 0.1),
        Case("Very long vectors: their squares do not fit into float32", 1e22 * a, 1e22 * b),
        Case("A vector of zeros gives 0, in first place, in second and in both", zero, b),
        Case("A vector of zeros gives 0, in first place, in second and in both", a, zero),
        Case(
            "A vector of zeros gives 0, in first place, in second and in both", zero, zero.clone()
        ),
    ]


def _cosine(a, b):
    a, b = a.double(), b.double()
    dot = a @ b
    lengths = a.norm() * b.norm()
    cosine = dot / lengths * (1 - 1e-15)  # never beyond 1 by rounding
    return 0.0 if lengths == 0 else cosine.item()


COSINE = exercise("06-cosine", _cosine_cases, _cosine, points=2)(
    two_dtypes={".double()": ""},
    own_dtype=[
        {
            ".double()": "",
            "a @ b": "(a * b).sum()",
            "a.norm() * b.norm()": "(a * a).sum().sqrt() * (b * b).sum().sqrt()",
        },
        {"a.double()": "a", "b.double()": "b.to(a.dtype)"},
        {"a.double()": "a.to(b.dtype)", "b.double()": "b"},
    ],
    float32_overflow={".double()": ".float()"},
    nan_for_zeros={"lengths == 0": "False"},
    short_as_zero={"lengths == 0": "lengths < 1e-8"},
    ready_made=[
        lambda a, b: torch.cosine_similarity(a, b, dim=0).item(),
        lambda a, b: torch.cosine_similarity(a.float(), b.float(), dim=0).item(),
    ],
    dot_product={"dot / lengths": "dot"},
    squared_lengths={"a.norm() * b.norm()": "(a @ a) * (b @ b)"},
    other_divisor=[
        {"a.norm() * b.norm()": other} for other in ("a.norm()", "(a.norm() + b.norm())")
    ],
    cut_at_zero={"cosine.item()": "max(0.0, cosine.item())"},
    zeros_not_zero=[{"0.0 if": "1.0 if"}, {"lengths == 0": "a.norm() + b.norm() == 0"}],
    other_test_for_zeros=[  # each test is made of `a` and of `b`, in the place of {}
        {"lengths == 0": f"{test.format('a')} or {test.format('b')}"}
        for test in ("({} == 0).any()", "{}[0] == 0", "{}.sum() == 0")
    ],
)


# The arguments of an answer: the means of some batches of unit vectors, (batches, hidden), and
# `counts`, how many vectors each batch has. All vectors are drawn around one direction.
def _batches(rng, counts):
    shared = normal(rng, 1, rng.randint(5, 8))
    batches = [normalise(shared + normal(rng, n, shared.shape[1])) for n in counts]
    return torch.stack([vectors.mean(dim=0) for vectors in batches]), counts


def _mean_cosine_cases(rng):
    means, counts = _batches(rng, rng.sample(range(2, 40), 3))
    return [
        Case("Batches of different sizes", means, counts),
        Case("Two batches of the same texts", means[[0, 1, 0]], [counts[0], counts[1], counts[0]]),
        Case("One batch alone", *_batches(rng, [rng.randint(4, 9)])),
        Case(
            "A batch of one sentence among others",
            *_batches(rng, [1, rng.randint(4, 9), rng.randint(10, 15)]),
        ),
    ]


def _mean_cosine(means, counts):
    sizes = torch.tensor(counts, dtype=torch.float64)
    n = sizes.sum()
    total = sizes @ means.double()
    # all cosines of two vectors, in both orders, without the 1 of each vector with itself
    cosines = total @ total - n
    return (cosines / (n * (n - 1))).item()


# the squared lengths of the means
_SQUARED_LENGTHS = "(means.double() ** 2).sum(dim=1)"

# Swaps of " - n" include the line end: `within_only` brings in another " - n", and two mistakes may
# be tried at once.
MEAN_COSINE = exercise("06-mean-cosine", _mean_cosine_cases, _mean_cosine, points=2)(
    with_itself={" - n\n": "\n", "n * (n - 1)": "n * n"},
    divided_by_all_pairs={"n * (n - 1)": "n * n"},
    itself_in_sum={" - n\n": "\n"},
    counted_once={"(cosines /": "(2 * cosines /"},
    other_ones=[
        {" - n\n": f" - {ones}\n"} for ones in ("len(counts)", f"sizes @ {_SQUARED_LENGTHS}")
    ],
    subtracted_from_mean={"total @ total": "total @ total / n**2"},
    length_of_mean={"cosines / (n * (n - 1))": "total.norm() / n"},
    mean_of_means={"sizes @ means.double()": "n * means.double().mean(dim=0)"},
    # each batch counts once, and its mean is taken for one vector
    means_compared=[
        {"torch.tensor(counts, dtype=torch.float64)": "torch.ones(len(counts)).double()", old: new}
        for old, new in (
            ("means.double()", "normalise(means.double())"),
            (" - n\n", f" - {_SQUARED_LENGTHS}.sum()\n"),
        )
    ],
    # only pairs of one batch
    within_only=[
        {"total @ total": f"sizes**2 @ {_SQUARED_LENGTHS}", "n * (n - 1)": "(sizes**2).sum() - n"},
        {"total @ total - n": f"{_SQUARED_LENGTHS}.sum()", "(n * (n - 1))": "len(sizes)"},
    ],
    # only pairs of two batches
    across_only={
        " - n\n": f" - sizes**2 @ {_SQUARED_LENGTHS}\n",
        "n * (n - 1)": "n**2 - (sizes**2).sum()",
    },
)


def _centre_cases(rng):
    hidden = rng.randint(6, 9)
    # Small, for answers that multiply the vectors as they are, and subtract the mean's part from
    # the product: with a large shift they would lose digits.
    shift = normal(rng, 1, hidden) + 1
    background = normal(rng, rng.randint(10, 14), hidden) + shift
    first = normal(rng, 4, hidden) + shift + 0.5
    # around the same shift as the first, and 0.6 of each row is that of the first
    second = first * 0.6 + 0.4 * shift + normal(rng, 4, hidden)
    shortest = (torch.cat([first, second]) - background.mean(dim=0)).norm(dim=1).min()
    return [
        Case("Some pairs against a background in a cone", first, second, background),
        Case("One pair", first[:1], second[:1], background),
        # the shortest has the length 1e-4 when centred: the bounds of `bound_too_large` show
        Case("Short vectors", *(1e-4 / shortest * rows for rows in (first, second, background))),
    ]


def _centred_cosines(first, second, background):
    middle = background.mean(dim=0)
    centred_first = first - middle
    centred_second = second - middle
    dots = (centred_first * centred_second).sum(dim=1)
    lengths = centred_first.norm(dim=1) * centred_second.norm(dim=1)
    return dots / lengths


CENTRE = exercise(
    "06-centre",
    _centre_cases,
    _centred_cosines,
    # 1e-5 is what `difference` allows. A vector of zeros has the cosine NaN, or 0 by another
    # formula: the mistake is the same.
    alike=lambda one, other: torch.allclose(one.nan_to_num(), other.nan_to_num(), atol=1e-5),
    points=2,
)(
    not_subtracted={" - middle": ""},
    one_number=[
        {"background.mean(dim=0)": "background.mean()"},
        {
            f"{rows} - middle": f"{rows} - {rows}.mean(dim=1, keepdim=True)"
            for rows in ("first", "second")
        },
    ],
    own_set_mean={
        f"{rows} - middle": f"{rows} - {rows}.mean(dim=0)" for rows in ("first", "second")
    },
    other_mean=[
        {"background.mean": f"torch.cat({sets}).mean"}
        for sets in ("[first, second]", "[first, second, background]")
    ],
    one_side=[{f"{rows} - middle": rows} for rows in ("first", "second")],
    normalised_first=[
        {"first - middle": "normalise(first) - middle", "second -": "normalise(second) -"},
        {
            "first - middle": "normalise(first) - middle",
            "second -": "normalise(second) -",
            "background.mean": "normalise(background).mean",
        },
        {"background.mean": "normalise(background).mean"},
    ],
    lengths_from_before={"centred_first.norm": "first.norm", "centred_second.norm": "second.norm"},
    bound_too_large=[
        {"/ lengths": f"/ {other}"} for other in ("(lengths + 1e-8)", "(lengths + 1e-6)")
    ],
    one_length={"norm(dim=1)": "norm()"},
    dot_products={"dots / lengths": "dots"},
    along_columns={"dim=1": "dim=0"},
)


def _project_cases(rng):
    hidden = rng.randint(6, 9)
    turn = torch.linalg.qr(normal(rng, hidden, hidden)).Q.double().numpy()

    def placed(rows, offset=(0.0, 0.0, 0.0)):
        # Rows given by three coordinates, moved by the offset, with a little noise in all `hidden`
        # numbers. All are turned by one random rotation.
        wide = np.array([[rng.uniform(-0.2, 0.2) for _ in range(hidden)] for _ in rows])
        wide[:, :3] += np.array(rows) + np.array(offset)
        return wide @ turn

    # Together they vary most along the first two axes. Alone, the first set varies along axes 1 and
    # 3, and the second along 2 and 3.
    first = placed(
        [(-5, 0.2, 1.2), (-2.5, -0.4, -1.2), (0, 0.3, 1.5), (2.5, 0, -1.4), (5, -0.2, 1)]
    )
    second = placed(
        [(0.3, -2, 1.3), (-0.2, 0, -1.4), (0, 2.5, 1.2), (0.4, 5, -1.3)], (1.0, 4.0, 0.5)
    )
    return [
        Case("Two sets, one plane for both", first, second),
        Case("A set that was moved away stays away", first, first + 9 * turn[1]),  # in the plane
        Case("A single row as the second set", first, second[3:]),
        Case("A single row as the first set", second[:1], first),
    ]


def _distances_in_plane(first, second):
    from sklearn.decomposition import PCA  # slow to import, and only this exercise needs it

    stacked = np.concatenate([first, second])
    plane = PCA(2).fit(stacked)
    points_1 = plane.transform(first)
    points_2 = plane.transform(second)
    differences = points_1[:, None] - points_2
    return np.linalg.norm(differences, axis=-1)


PROJECT = exercise("06-project", _project_cases, _distances_in_plane, points=2)(
    own_planes={
        f"plane.transform({rows})": f"plane.fit_transform({rows})" for rows in ("first", "second")
    },
    fitted_on_one=[
        {"fit(stacked)": other} for other in ("fit(first)", "fit(second)", "fit(first).fit(second)")
    ],
    not_projected=[
        {"plane.transform(first)": f"first{columns}", "plane.transform(second)": f"second{columns}"}
        for columns in ("", "[:, :2]")
    ],
    other_axes=[{"PCA(2)": f"PCA({n})"} for n in (1, 3)],
    # the first two right singular vectors span the plane of a PCA without centring
    no_mean_subtracted={
        f"plane.transform({rows})": f"{rows} @ np.linalg.svd(stacked)[2][:2].T"
        for rows in ("first", "second")
    },
    whitened={"PCA(2)": "PCA(2, whiten=True)"},
    centred_apart=[
        {"[first, second]": "[first - first.mean(axis=0), second - second.mean(axis=0)]"},
        {
            f"plane.transform({rows})": f"plane.transform({rows} - {rows}.mean(axis=0))"
            for rows in ("first", "second")
        },
    ],
    # distances to the first rows of all, where those of the second set are wanted
    other_rows={"- points_2": "- plane.transform(stacked)[: len(second)]"},
    absolute_differences={
        "np.linalg.norm(differences, axis=-1)": "np.abs(differences).sum(axis=-1)"
    },
)


def _table_cases(rng):
    hidden = rng.randint(5, 8)
    first, second = normal(rng, 4, hidden) + 0.5, normal(rng, 3, hidden)
    return [
        Case(
            "Two tables of different heights",
            torch.tensor([[0.1], [2.0], [30.0], [4.0]]) * first,
            second,
        ),
        Case("As many rows as columns", second, normal(rng, 3, hidden)),
    ]


def _cosine_table(first, second):
    dots = first @ second.T
    first_lengths, second_lengths = first.norm(dim=1), second.norm(dim=1)
    both = first_lengths[:, None] * second_lengths
    return dots / both


COSINE_TABLE = completion("06-cosine-table", _table_cases, _cosine_table)(
    one_length=[{"/ both": "/ first_lengths[:, None]"}, {"/ both": "/ second_lengths"}],
    lengths_on_the_wrong_axis=[
        {"/ both": f"/ ({other})"}
        for other in (
            "first_lengths * second_lengths",
            "first_lengths * second_lengths[:, None]",
            "first_lengths",
            "second_lengths[:, None]",
        )
    ],
    sum_of_lengths={"* second_lengths": "+ second_lengths"},
    no_brackets={"/ both": "/ first_lengths[:, None] * second_lengths"},
    not_divided={" / both": ""},
    root_or_square=[{"/ both": f"/ both ** {power}"} for power in (0.5, 2)],
    no_negative=[
        {"dots / both": "(dots / both).clamp(min=0)"},
        {"dots / both": "(dots / both + 1) / 2"},
    ],
)


def _share_cases(rng):
    hidden = rng.randint(5, 8)
    # the mean is not near 0, so that it shows where it is not subtracted
    rows = 3 * normal(rng, 9, hidden).double().numpy() + 2
    # along the axes of a PCA the coordinates are uncorrelated, so that sums over the axes would go
    # unnoticed
    axes = np.linalg.qr(normal(rng, hidden, hidden).double().numpy())[0].T
    return [
        Case("One axis", rows, axes[:1]),
        Case("Two axes at a right angle", rows, axes[:2]),
        Case("Three axes at right angles", rows, axes[:3]),
    ]


def _share_kept(rows, axes):
    moved = rows - rows.mean(axis=0)
    points = moved @ axes.T
    return (points**2).sum() / (moved**2).sum()


SHARE_KEPT = completion("06-share-kept", _share_cases, _share_kept)(
    axes_added={"moved @ axes.T": "(moved @ axes.T).sum(axis=1)"},
    some_axes=[{"axes.T": f"axes[:{count}].T"} for count in (1, 2)],
    not_projected={"moved @ axes.T": "moved"},
    mean_not_subtracted={"moved @": "rows @"},
    rows_normalised={"moved @": "(moved / np.linalg.norm(moved, axis=1, keepdims=True)) @"},
    divided_by_rows=[
        {"(points**2)": f"((points / {other}) ** 2)"} for other in ("len(rows)", "len(rows) ** 0.5")
    ],
    squared_already={"points**2": "points**4"},
)


def _assign_cases(rng):
    hidden, k = rng.randint(5, 8), rng.randint(3, 5)
    directions = normalise(normal(rng, k, hidden))
    # The first two directions are close. Products favour the second, since its centre is nearly
    # ten times as long.
    directions[1] = normalise(directions[0] + 0.6 * directions[1])
    lengths = torch.tensor([0.1, 0.95, *(rng.uniform(0.2, 0.9) for _ in range(k - 2))])[:, None]
    # the first vector has the direction of the first, short centre
    vectors = (
        torch.cat([directions[:1], normalise(normal(rng, rng.randint(5, 8), hidden))])
        .double()
        .numpy()
    )
    centres = (lengths * directions).double().numpy()
    best = (vectors @ directions.double().numpy().T).max(axis=1)
    threshold = float(best.min() + best.max()) / 2  # some vectors are above, some below
    axes = np.eye(hidden)  # cosines of 0 are exact on every processor
    return [
        Case(
            "All are near enough, and the lengths of the centres do not matter",
            vectors,
            centres,
            -1.0,
        ),
        Case(
            "Some vectors are near enough to a centre, others are not", vectors, centres, threshold
        ),
        Case("None is near enough", vectors[1:], centres, 1.0),
        Case("One vector, one centre", vectors[:1], centres[:1], 0.5),
        Case(
            "A cosine equal to the threshold is high enough",
            np.concatenate([axes[:2], -axes[:1]]),
            0.5 * axes[:1],
            0.0,
        ),
        Case(
            # of each vector, one cosine is −1, and the three others are 0
            "Of equal cosines, the first centre",
            axes[[0, 3]],
            0.5 * axes[:4] * [[-1], [1], [1], [-1]],
            -0.5,
        ),
    ]


def _assign(vectors, centres, threshold):
    lengths = np.linalg.norm(centres, axis=1)
    cosines = vectors @ centres.T / lengths
    nearest = cosines.argmax(axis=1)
    highest = cosines.max(axis=1)
    return np.where(highest >= threshold, nearest, -1).tolist()


ASSIGN = exercise("06-assign", _assign_cases, _assign, points=2)(
    threshold_on_products={"highest >=": "highest * lengths[nearest] >="},
    dot_product={" / lengths": ""},
    by_distance={
        "cosines.argmax(axis=1)": (
            "np.linalg.norm(vectors[:, None] - centres, axis=2).argmin(axis=1)"
        ),
        "cosines.max(axis=1)": "cosines[np.arange(len(nearest)), nearest]",
    },
    always_assigned={"highest >= threshold": "True"},
    strictly_above={">=": ">"},
    not_above={">=": "<"},
    last_of_equal={"cosines.argmax(axis=1)": "len(centres) - 1 - cosines[:, ::-1].argmax(axis=1)"},
    other_sign_for_none=[
        {"nearest, -1": f"nearest, {none}"} for none in ("0", "len(centres)", "np.nan")
    ],
    left_out={"np.where(highest >= threshold, nearest, -1)": "nearest[highest >= threshold]"},
)
