"""Exercises of lesson 08, a similarity benchmark."""

import math
import operator
import re
from functools import partial
from itertools import combinations

import numpy as np
import torch
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr

from .comparing import difference
from .model import Case, Completion, Mistake
from .words import exercise


def _distinct(rng, n, low=-50, high=50):
    return [float(value) for value in rng.sample(range(low, high), n)]


def _tied(rng):
    """Eight numbers: one value once, one twice, one five times, not in sorted order."""
    values = rng.sample(range(1, 6), 3)
    found = [float(value) for value, times in zip(values, (1, 2, 5)) for _ in range(times)]
    rng.shuffle(found)
    return found if found != sorted(found) else found[::-1]


def _spearman_cases(rng):
    n = rng.randint(8, 10)
    x = _distinct(rng, n)
    y = [value + rng.uniform(-30, 30) for value in x]
    outlier = list(y)
    outlier[x.index(min(x))] = 4000.0
    cubes = [value**3 for value in x]
    close = rng.sample(range(-12, 12), 9)
    place = rng.randrange(8)
    one, other = sorted(close)[place : place + 2]
    swapped = [{one: other, other: one}.get(value, value) for value in close]  # 59/60, which no rounding leaves alone
    two = _distinct(rng, 4)
    yield Case("All numbers differ", x, y)
    yield Case("One number is far from all others", x, outlier)
    yield Case("A curve that only rises is perfect, 1", x, cubes)
    yield Case("A curve that only falls is −1", x, [-value for value in cubes])
    yield Case("Equal numbers share the mean of their ranks", _tied(rng), _distinct(rng, 8))
    yield Case("Equal numbers in both columns", _tied(rng), _tied(rng))
    yield Case("Numbers that differ only in the fifth decimal", [0.5 + 0.00001 * v for v in close], swapped)
    yield Case("Lists of two numbers", two[:2], two[2:])


def _correlation(x, y):
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    x, y = x - x.mean(), y - y.mean()
    with np.errstate(invalid="ignore"):  # some mistakes make all numbers of a list equal
        return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def _of_ranks(method):
    return lambda x, y: _correlation(rankdata(x, method), rankdata(y, method))


def _short_formula(x, y, method="average"):
    d, n = rankdata(x, method) - rankdata(y, method), len(x)
    return float(1 - 6 * (d * d).sum() / (n * (n * n - 1)))


def _cosine_of_ranks(x, y):
    x, y = rankdata(x), rankdata(y)
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def _shared_with_next(column, whole=False):
    """A mistake: each number shares its rank with the next one only, so that three equal numbers get unequal ranks."""
    order = np.argsort(column, kind="stable")
    ranks = np.empty(len(column))
    ranks[order] = np.arange(1, len(column) + 1)
    before = ranks.copy()
    for one, other in zip(order, order[1:]):
        if column[one] == column[other]:
            ranks[one] = ranks[other] = (before if whole else ranks)[[one, other]].mean()
    return ranks


def _order_of_pairs(x, y):
    """How many pairs of places have the same order in both lists, how many have another, and how many there are."""
    signs = [np.sign((a - b) * (c - d)) for (a, c), (b, d) in combinations(zip(x, y), 2)]
    return signs.count(1), signs.count(-1), len(signs)


def _tau(x, y, ties_count):
    same, other, pairs = _order_of_pairs(x, y)
    return (same - other) / (pairs if ties_count else same + other)


SORTS = ("stable", "quicksort")  # the second is NumPy's default, and may change the order of equal numbers


SPEARMAN = exercise("08-spearman", _spearman_cases, _of_ranks("average"), points=2)(
    pearson=_correlation,
    one_ranked=[
        lambda x, y, method=method, first=first: (
            _correlation(rankdata(x, method), y) if first else _correlation(x, rankdata(y, method))
        )
        for method in ("average", "min", "dense")
        for first in (True, False)
    ],
    argsort=[
        lambda x, y, kind=kind: _correlation(np.argsort(x, kind=kind), np.argsort(y, kind=kind)) for kind in SORTS
    ],
    ties_by_order=[
        *(
            lambda x, y, kind=kind: _correlation(*(np.argsort(np.argsort(c, kind=kind)) for c in (x, y)))
            for kind in SORTS
        ),
        lambda x, y: _correlation(rankdata(x, "ordinal"), rankdata(y)),
        lambda x, y: _correlation(rankdata(x), rankdata(y, "ordinal")),
    ],
    ties_lowest=_of_ranks("min"),
    ties_highest=_of_ranks("max"),
    ties_dense=_of_ranks("dense"),
    short_formula=[partial(_short_formula, method=method) for method in ("average", "min", "max", "dense")],
    not_centred=_cosine_of_ranks,
    opposite_ends=lambda x, y: -_of_ranks("average")(x, y),
    squared=lambda x, y: _of_ranks("average")(x, y) ** 2,
    rounded=[lambda x, y, digits=digits: round(_of_ranks("average")(x, y), digits) for digits in (2, 3, 4)],
    kendall=(
        lambda x, y: float(kendalltau(x, y).statistic),
        partial(_tau, ties_count=True),
        partial(_tau, ties_count=False),
        lambda x, y: float(kendalltau(x, y, variant="c").statistic),
    ),
    more_than_a_number=(
        lambda x, y: tuple(pearsonr(rankdata(x), rankdata(y))),
        lambda x, y: tuple(spearmanr(x, y)),
        lambda x, y: np.corrcoef(rankdata(x), rankdata(y)),
    ),
    two_divisors=(
        lambda x, y: _of_ranks("average")(x, y) * len(x) / (len(x) - 1),
        lambda x, y: _of_ranks("average")(x, y) * (len(x) - 1) / len(x),
    ),
    p_value=lambda x, y: float(spearmanr(x, y).pvalue),
    covariance=[lambda x, y, ddof=ddof: float(np.cov(rankdata(x), rankdata(y), ddof=ddof)[0, 1]) for ddof in (0, 1)],
    ties_with_next=[
        lambda x, y, whole=whole: _correlation(_shared_with_next(x, whole), _shared_with_next(y, whole))
        for whole in (False, True)
    ],
)


def _accuracy(threshold, values, labels, judge=operator.ge):
    return sum(judge(value, threshold) == label for value, label in zip(values, labels, strict=True)) / len(values)


def _threshold(values, labels, judge=operator.ge, lowest=True):
    """The value with the highest accuracy as a threshold; of equally good values, the lowest (or the highest)."""
    return max(
        sorted(set(values), reverse=not lowest), key=lambda threshold: _accuracy(threshold, values, labels, judge)
    )


def _held_out(train, labels, test, test_labels):
    return _accuracy(_threshold(train, labels), test, test_labels)


def _best_of(candidates, values, labels):
    """The lowest of the candidates that are right most often, for answers that try more than the training values."""
    return max(sorted(set(candidates)), key=lambda threshold: _accuracy(threshold, values, labels))


def _between(values):
    """Thresholds halfway between neighbouring values."""
    values = sorted(set(values))
    return [(one + other) / 2 for one, other in zip(values, values[1:])]


def _with_candidates(candidates_of, train, labels, test, test_labels):
    """The accuracy with the lowest of other candidates that are right most often on the training pairs."""
    return _accuracy(_best_of(candidates_of(train, labels, test), train, labels), test, test_labels)


def _as_the_library(train, labels, test, test_labels):
    """The accuracy with a threshold as Sentence Transformers chooses it: between values or above all, highest first."""
    candidates = sorted({min(train), *_between(train), _just_beyond(train)}, reverse=True)
    return _accuracy(max(candidates, key=lambda threshold: _accuracy(threshold, train, labels)), test, test_labels)


def _beyond(train):
    return max(train) + 1.0


def _just_beyond(train):
    return math.nextafter(max(train), math.inf)


def _cut_between_rows(in_order, train, labels, test, test_labels):
    """A cut between two rows that may have equal values; `in_order(values, labels)` sorts the rows."""
    rows = in_order(train, labels)
    right = [sum((at >= cut) == label for at, (_, label) in enumerate(rows)) for cut in range(len(rows))]
    return _accuracy(rows[right.index(max(right))][0], test, test_labels)


def _f1(threshold, values, labels):
    called = [label for value, label in zip(values, labels, strict=True) if value >= threshold]
    return 2 * sum(called) / (len(called) + sum(labels))


def _with_best_f1(train, labels, test, test_labels):
    threshold = max(sorted(set(train)), key=lambda threshold: _f1(threshold, train, labels))
    return _accuracy(threshold, test, test_labels)


def _by_measure(measure, ties_highest, train, labels, test, test_labels, more=()):
    """The accuracy with the training value at which `measure(hits, false alarms, similar, other)` is highest."""

    def of(threshold):
        called = [label for value, label in zip(train, labels) if value >= threshold]
        return measure(sum(called), len(called) - sum(called), sum(labels), len(labels) - sum(labels))

    candidates = sorted({*train, *more}, reverse=ties_highest)
    return _accuracy(max(candidates, key=of), test, test_labels)


def _recall(hits, alarms, similar, other):
    return hits / max(1, similar)


def _precision(hits, alarms, similar, other):
    return hits / max(1, hits + alarms)


def _balanced(hits, alarms, similar, other):
    return _recall(hits, alarms, similar, other) - alarms / max(1, other)


def _if_above_half(otherwise, train, labels, *test):
    """The accuracy after a search that begins with an accuracy of 0.5, and else with another threshold."""
    best = _threshold(train, labels)
    return _accuracy(best if _accuracy(best, train, labels) > 0.5 else otherwise(train), *test)


def _middle_of_means(train, labels, *test):
    means = [np.mean([value for value, label in zip(train, labels) if label == one]) for one in (0, 1)]
    return _accuracy(sum(means) / 2, *test)


def _lists_equal(threshold, values, labels):
    return float([value >= threshold for value in values] == labels)


def _all_right_or(otherwise, train, labels):
    best = _threshold(train, labels)
    return best if _accuracy(best, train, labels) == 1 else otherwise


def _by_equal_lists(choose, train, labels, *test):
    return _lists_equal(choose(train, labels), *test)


# Wrong choices of the threshold. Each must differ from the right result in at least one case.
OTHER_THRESHOLDS = {
    "tuned on test": lambda train, labels, test, test_labels: _held_out(test, test_labels, test, test_labels),
    "tuned on test, of training values": lambda train, labels, test, test_labels: max(
        _accuracy(threshold, test, test_labels) for threshold in train
    ),
    "on both": lambda train, labels, test, test_labels: _held_out(
        train + test, labels + test_labels, test, test_labels
    ),
    "on both, above": lambda train, labels, test, test_labels: _accuracy(
        _threshold(train + test, labels + test_labels, operator.gt), test, test_labels, operator.gt
    ),
    "above and highest": lambda train, labels, test, test_labels: _accuracy(
        _threshold(train, labels, operator.gt, lowest=False), test, test_labels, operator.gt
    ),
    "above and first": lambda train, labels, test, test_labels: _accuracy(
        max(train, key=lambda threshold: _accuracy(threshold, train, labels, operator.gt)),
        test,
        test_labels,
        operator.gt,
    ),
    "at most": lambda train, labels, test, test_labels: _accuracy(
        _threshold(train, labels, operator.le), test, test_labels, operator.le
    ),
    "training accuracy": lambda train, labels, test, test_labels: _held_out(train, labels, train, labels),
    "above": lambda train, labels, test, test_labels: _accuracy(
        _threshold(train, labels, operator.gt), test, test_labels, operator.gt
    ),
    "mixed": lambda train, labels, test, test_labels: _accuracy(
        _threshold(train, labels), test, test_labels, operator.gt
    ),
    "mixed the other way": lambda train, labels, test, test_labels: _accuracy(
        _threshold(train, labels, operator.gt), test, test_labels
    ),
    "highest": lambda train, labels, test, test_labels: _accuracy(
        _threshold(train, labels, lowest=False), test, test_labels
    ),
    "first": lambda train, labels, test, test_labels: _accuracy(
        max(train, key=lambda threshold: _accuracy(threshold, train, labels)), test, test_labels
    ),
    "mean": lambda train, labels, test, test_labels: _accuracy(sum(train) / len(train), test, test_labels),
    "median": lambda train, labels, test, test_labels: _accuracy(float(np.median(train)), test, test_labels),
    "half": lambda train, labels, test, test_labels: _accuracy(0.5, test, test_labels),
    "wrong share": lambda *args: 1 - _held_out(*args),
    "beyond": partial(_with_candidates, lambda train, labels, test: [*train, _beyond(train)]),
    "just beyond": partial(_with_candidates, lambda train, labels, test: [*train, _just_beyond(train)]),
    "between": partial(_with_candidates, lambda train, labels, test: _between(train)),
    "between and lowest": partial(_with_candidates, lambda train, labels, test: [min(train), *_between(train)]),
    "between and beyond": partial(
        _with_candidates, lambda train, labels, test: [min(train), *_between(train), _beyond(train)]
    ),
    "between and just beyond": partial(
        _with_candidates, lambda train, labels, test: [min(train), *_between(train), _just_beyond(train)]
    ),
    "test values": partial(_with_candidates, lambda train, labels, test: train + test),
    "test values only": partial(_with_candidates, lambda train, labels, test: test),
    "grid": partial(_with_candidates, lambda train, labels, test: [step / 100 for step in range(101)]),
    # as np.linspace
    "grid of products": partial(_with_candidates, lambda train, labels, test: [0.01 * step for step in range(101)]),
    "values of similar pairs": partial(
        _with_candidates, lambda train, labels, test: [value for value, label in zip(train, labels) if label]
    ),
    "best F1": _with_best_f1,
    "one pair per value": lambda train, labels, test, test_labels: _held_out(
        *map(list, zip(*dict(zip(train, labels)).items())), test, test_labels
    ),
    "between equal values": partial(_cut_between_rows, lambda values, labels: sorted(zip(values, labels))),
    "between equal values as listed": partial(
        _cut_between_rows, lambda values, labels: sorted(zip(values, labels), key=operator.itemgetter(0))
    ),
    "taken as sorted": partial(_cut_between_rows, lambda values, labels: list(zip(values, labels))),
    "values sorted alone": partial(_cut_between_rows, lambda values, labels: list(zip(sorted(values), labels))),
    "values sorted, not labels": lambda train, *others: _held_out(sorted(train), *others),
    "last": lambda train, labels, test, test_labels: _accuracy(
        max(train[::-1], key=lambda threshold: _accuracy(threshold, train, labels)), test, test_labels
    ),
    "lowest": lambda train, labels, test, test_labels: _accuracy(min(train), test, test_labels),
    "lowest similar": lambda train, labels, test, test_labels: _accuracy(
        min(value for value, label in zip(train, labels) if label), test, test_labels
    ),
    "middle of means": _middle_of_means,
    "hits minus false alarms": partial(_by_measure, _balanced, True),
    "hits minus false alarms, lowest": partial(_by_measure, _balanced, False),
    "hits minus false alarms, or nothing": partial(_by_measure, _balanced, True, more=[math.inf]),
    "precision": partial(_by_measure, _precision, False),
}


# As many training pairs, and values that are so many halves of halves: rounding then decides neither between equally
# good thresholds, whose sums of shares are exact, nor whether a value is at least the threshold, in float32, too.
TRAINED, UNIT = (8, 16), 1 / 128


def _pairs_drawn(rng, differing):
    """Training and test values and labels, drawn until the wrong methods named in `differing` give another result."""
    while True:
        labels, test_labels = (
            [int(rng.random() < 0.5) for _ in range(n)] for n in (rng.choice(TRAINED), rng.randint(8, 10))
        )
        train = [round(min(0.99, max(0.01, rng.gauss(0.3 + 0.15 * label, 0.2))) / UNIT) * UNIT for label in labels]
        test = [rng.choice(train) if rng.random() < 0.6 else round(rng.uniform(0.1, 0.9), 2) for _ in test_labels]
        if min(labels) == max(labels) or min(test_labels) == max(test_labels):
            continue
        drawn = train, labels, test, test_labels
        if all(abs(OTHER_THRESHOLDS[name](*drawn) - _held_out(*drawn)) > 1e-3 for name in differing):
            return drawn


def _best_is_none(rng):
    """No training value is as good as a threshold above all of them: the most similar training pair is labelled 0."""
    train = sorted((rng.randint(12, 102) + place / 8) * UNIT for place in range(TRAINED[0]))
    labels = [1] + [0] * (len(train) - 1)
    test = [train[-1], train[-1], train[-1] + 0.05, train[-1] + 0.1, train[0] - 0.02, train[1]]
    test_labels = [1, 1, 1, 1, 0, 0]
    order, other = rng.sample(range(len(train)), len(train)), rng.sample(range(len(test)), len(test))
    return (
        [train[place] for place in order],
        [labels[place] for place in order],
        [test[place] for place in other],
        [test_labels[place] for place in other],
    )


def _just_below(rng, similar):
    """Test values just below the best threshold, above the training value under it.

    similar: how many training pairs are similar. The lowest of them is the best threshold.
    """
    low = sorted(rng.sample(range(10, 40), TRAINED[0] - similar))
    high = sorted(rng.sample(range(60, 90), similar))
    train = [value * UNIT for value in low + high]
    labels = [0] * len(low) + [1] * len(high)
    best, under = high[0] * UNIT, low[-1] * UNIT
    test = [best, best - 0.02, best - 0.03, best + 0.04, under, under + 0.001]
    test_labels = [1, 0, 0, 1, 0, 0]
    order = rng.sample(range(len(train)), len(train))
    return [train[place] for place in order], [labels[place] for place in order], test, test_labels


def _all_similar(rng):
    """Every training pair is similar, except one in the middle; some test values lie below all training values."""
    train = [value * UNIT for value in sorted(rng.sample(range(25, 115), TRAINED[0]))]
    labels = [1] * len(train)
    labels[len(train) // 2] = 0
    test, test_labels = [train[0], train[0] - 0.03, train[0] - 0.05, train[0] - 0.08, train[-1]], [1, 0, 0, 0, 1]
    order = rng.sample(range(len(train)), len(train))
    return [train[place] for place in order], [labels[place] for place in order], test, test_labels


def _equal_values(rng):
    """Two draws that differ in the labels of two equal training values: 0 and 1, or 1 and 0.

    Whatever order a sort leaves them in, a cut between them is right more often than any threshold in one of the two.
    The best threshold occurs twice in training and is no test value.
    """
    low, best, one, other, equal, high = sorted(value * UNIT for value in rng.sample(range(12, 120, 6), 6))
    rows = [*((value, 0) for value in (low, one, other)), (best, 1), (best, 1), *[(equal, None)] * 2, (high, 1)]
    rng.shuffle(rows)
    values, labels = map(list, zip(*rows))
    first, second = (place for place, label in enumerate(labels) if label is None)
    test = [low, *(best + share * (equal - best) for share in (0.3, 0.6, 0.9)), (equal + high) / 2, high]
    for labels[first], labels[second] in ((0, 1), (1, 0)):
        yield values, list(labels), test, [0, 1, 1, 1, 1, 1]


def _seldom_right(rng):
    """The best threshold is right on a third of the training pairs; the other two are right less often.

    The test values lie between the training values, or closely around the best one. All their labels are 1, so the
    lower a threshold is, the more it gets right.
    """
    low, middle, best = (
        number * UNIT for number in (rng.randint(13, 38), rng.randint(45, 64), rng.randint(77, 102) + 0.5)
    )
    rows = [(low, 1), (middle, 0), (middle, 0), (best, 0), (best, 0), (best, 0)]
    rng.shuffle(rows)
    test = [best, best + 0.05, best - 0.00001, (middle + best) / 2, (low + middle) / 2]
    return [value for value, _ in rows], [label for _, label in rows], test, [1] * 5


def _threshold_cases_drawn(rng):
    yield Case(
        "Test pairs for which another threshold would be best",
        *_pairs_drawn(rng, ("tuned on test", "training accuracy", "wrong share")),
    )
    yield Case("Test pairs for which another threshold would be best", *_pairs_drawn(rng, ("on both", "tuned on test")))
    yield Case("Values equal to the threshold", *_pairs_drawn(rng, ("above", "mixed")))
    yield Case("Several thresholds are equally good", *_pairs_drawn(rng, ("highest", "first", "last")))
    yield Case("The best threshold is neither 0.5 nor the mean", *_pairs_drawn(rng, ("mean", "half")))
    yield Case("The most similar training pair is labelled 0", *_best_is_none(rng))
    yield Case("Test values just below the best threshold", *_just_below(rng, rng.randint(3, 5)))
    yield Case("The highest training value is the best threshold", *_just_below(rng, 1))
    yield Case("Test values below all training values", *_all_similar(rng))
    yield Case("The best threshold is right on less than half of the training pairs", *_seldom_right(rng))
    for drawn in _equal_values(rng):
        yield Case("Training pairs with equal values", *drawn)


TOLD_ALIKE = {
    "tuned on test, of training values": "tuned on test",
    "just beyond": "beyond",
    "between and lowest": "between",
    "between and beyond": "between",
    "between and just beyond": "between",
    "median": "mean",
    "test values only": "test values",
    "grid": "test values",
    "grid of products": "test values",
    "between equal values as listed": "between equal values",
    "values sorted alone": "taken as sorted",
    "values sorted, not labels": "taken as sorted",
    "best F1": "values of similar pairs",
    "hits minus false alarms, lowest": "hits minus false alarms",
    "hits minus false alarms, or nothing": "hits minus false alarms",
    "precision": "hits minus false alarms",
}  # methods that are told the same sentence


def _threshold_cases(rng):
    """Cases in which no two wrong methods that are told different sentences give the same results throughout."""
    while True:
        cases, told = list(_threshold_cases_drawn(rng)), {}
        for name, method in OTHER_THRESHOLDS.items():
            results = tuple(round(method(*case.args), 6) for case in cases)
            told.setdefault(results, set()).add(TOLD_ALIKE.get(name, name))
        if all(len(names) == 1 for names in told.values()):
            return cases


THRESHOLD = exercise(
    "08-threshold",
    _threshold_cases,
    _held_out,
    points=2,
    arguments=("train_values", "train_labels", "test_values", "test_labels"),
)(
    chosen_on_test=[OTHER_THRESHOLDS[name] for name in ("tuned on test", "tuned on test, of training values")],
    chosen_on_both=[OTHER_THRESHOLDS[name] for name in ("on both", "on both, above")],
    training_accuracy=OTHER_THRESHOLDS["training accuracy"],
    threshold_returned=lambda train, labels, *_: _threshold(train, labels),
    greater_only=[OTHER_THRESHOLDS[name] for name in ("above", "above and highest", "above and first")],
    at_most=OTHER_THRESHOLDS["at most"],
    more_than_the_accuracy=(
        lambda *args: (_held_out(*args), _threshold(*args[:2])),
        lambda *args: (_threshold(*args[:2]), _held_out(*args)),
    ),
    percent=lambda *args: 100 * _held_out(*args),
    greater_on_test=OTHER_THRESHOLDS["mixed"],
    greater_on_training=OTHER_THRESHOLDS["mixed the other way"],
    f1=[OTHER_THRESHOLDS[name] for name in ("values of similar pairs", "best F1")],
    assumed_sorted=[
        OTHER_THRESHOLDS[name] for name in ("taken as sorted", "values sorted alone", "values sorted, not labels")
    ],
    above_all=[OTHER_THRESHOLDS[name] for name in ("beyond", "just beyond")],
    first_of_ties=OTHER_THRESHOLDS["first"],
    between_values=[
        *(
            OTHER_THRESHOLDS[name]
            for name in ("between", "between and lowest", "between and beyond", "between and just beyond")
        ),
        _as_the_library,
        *(
            partial(_with_candidates, lambda train, labels, test, n=n: np.linspace(min(train), max(train), n).tolist())
            for n in (50, 100, 101, 200, 1000)
        ),
    ],
    other_candidates=[
        *(OTHER_THRESHOLDS[name] for name in ("test values", "test values only", "grid", "grid of products")),
        *(
            partial(_with_candidates, lambda train, labels, test, ends=ends: np.linspace(*ends).tolist())
            for ends in ((0, 1, 11), (0, 1, 20), (0, 1, 21), (0, 1, 50), (0, 1, 51), (0, 1, 100), (0, 1, 201))
            + ((0, 1, 1000), (0, 1, 1001), (-1, 1, 21), (-1, 1, 200), (-1, 1, 201), (-1, 1, 2001))
        ),
    ],
    equal_values_cut=[OTHER_THRESHOLDS[name] for name in ("between equal values", "between equal values as listed")],
    values_once=OTHER_THRESHOLDS["one pair per value"],
    highest_of_ties=OTHER_THRESHOLDS["highest"],
    mean_of_values=[OTHER_THRESHOLDS[name] for name in ("mean", "median")],
    one_half=OTHER_THRESHOLDS["half"],
    share_wrong=OTHER_THRESHOLDS["wrong share"],
    count=lambda train, labels, test, test_labels: _held_out(train, labels, test, test_labels) * len(test),
    begins_at_half=[
        partial(_if_above_half, otherwise) for otherwise in (lambda train: 0.0, lambda train: 0.5, lambda train: 1.0)
    ],
    chosen_by_other_measure=[
        partial(_by_measure, measure, ties_highest)
        for measure in (_balanced, _precision)
        for ties_highest in (True, False)
    ]
    + [partial(_by_measure, _balanced, True, more=[math.inf])],
    lists_compared=[
        partial(_by_equal_lists, choose)
        for choose in (
            _threshold,
            lambda train, labels: _all_right_or(min(train), train, labels),
            lambda train, labels: _all_right_or(max(train), train, labels),
            lambda train, labels: _all_right_or(train[0], train, labels),
        )
    ],
)


def _grouped(rng, sizes, scattered=False):
    """Scores and two models' similarities for groups of rows that resemble each other, with the group of each row.

    The second model is noisier than the first. scattered: the rows of a group do not stand together.
    """
    gold, a, b, groups = [], [], [], []
    scores = rng.sample(range(51), len(sizes))  # no two groups have the same score, so no resample is constant
    for group, size in enumerate(sizes):
        score = scores[group] / 10
        near, far = score + rng.gauss(0, 1.5), score + rng.gauss(0, 3)
        for _ in range(size):
            gold.append(score)
            a.append(round(near + rng.gauss(0, 0.8), 3))
            b.append(round(far + rng.gauss(0, 0.8), 3))
            groups.append(group)
    order = rng.sample(range(len(gold)), len(gold)) if scattered else range(len(gold))
    return tuple([column[place] for place in order] for column in (gold, a, b, groups))


def _with_copies(gold, a, b, groups):
    """The same, but in every other group all rows are copies of its first one."""
    rows = [groups.index(group) if group % 2 else row for row, group in enumerate(groups)]
    return *([column[row] for row in rows] for column in (gold, a, b)), groups


def _draws(rng, groups, repeats=7):
    """Resamples of group numbers, each with at least three different groups."""
    found = []
    while len(found) < repeats:
        drawn = [rng.randrange(groups) for _ in range(groups)]
        if len(set(drawn)) >= 3:
            found.append(drawn)
    return found


def _groups_cases(rng):
    many = rng.randint(9, 11)
    uneven = [1, 2, 1, *rng.sample([1, 3, 4, 6], 4)]
    gold, a, b, groups = _grouped(rng, [1] * 12, scattered=True)
    twice = [
        [place, place, place, *rest, place, place]  # more than there are groups
        for place, *_, x, y in _draws(rng, 7)
        for rest in [[x, y, (x + 1) % 7, (y + 2) % 7]]
    ]
    once = _draws(rng, 7)
    again = 3 * once[:3] + [[*once[3][1:], once[3][0]]]  # the last one draws the same groups in another order
    copies = _with_copies(*_grouped(rng, [3] * many))
    same = _grouped(rng, [2] * 8)
    yield Case("Three rows of each pair", *_grouped(rng, [3] * many), _draws(rng, many))
    yield Case("Groups of different sizes", *_grouped(rng, uneven), _draws(rng, len(uneven)))
    yield Case("Rows of a group that do not stand together", *_grouped(rng, uneven, True), _draws(rng, len(uneven)))
    yield Case("Each row is a group of its own", gold, a, b, groups, _draws(rng, 12))
    yield Case("A group counts as often as it was drawn", *_grouped(rng, uneven, True), twice)
    yield Case("Some rows of a group are equal", *copies, _draws(rng, many))
    yield Case("Some resamples draw the same groups", *_grouped(rng, uneven), once + again)
    yield Case("A model compared with itself differs by nothing", same[0], same[1], same[1], same[3], _draws(rng, 8))


def _correlations(columns, ranked=True):
    """The correlation of the first row of a table with each other row: Spearman's, or Pearson's."""
    if ranked:
        columns = np.sign(columns[:, :, None] - columns[:, None]).sum(axis=2)  # twice the ranks, less their mean
    columns = columns - columns.mean(axis=1, keepdims=True)
    squares = (columns * columns).sum(axis=1)
    with np.errstate(invalid="ignore"):  # some mistakes take rows of one group only, whose scores are equal
        return columns[1:] @ columns[0] / np.sqrt(squares[1:] * squares[0])


def _ends(values, level=95):
    return np.percentile(values, [(100 - level) / 2, (100 + level) / 2]).tolist()


def _rows_drawn(groups, drawn):
    return (np.array(groups) == np.array(drawn)[:, None]).nonzero()[1]


def _both(gold, a, b, rows_of, ranked=True):
    """The correlations of both models in each resample; `rows_of` gives the rows of each."""
    columns = np.array([gold, a, b], dtype=float)
    return np.array([_correlations(columns[:, rows], ranked) for rows in rows_of]).T


def _gains(gold, a, b, groups, draws, ranked=True):
    one, other = _both(gold, a, b, [_rows_drawn(groups, drawn) for drawn in draws], ranked)
    return one - other


def _grouped_gain(gold, a, b, groups, draws, level=95):
    return _ends(_gains(gold, a, b, groups, draws), level)


def _problem_of_interval(args, outcome):
    """As for any list, but the ends are shown with six digits, which are enough to tell two of them apart."""
    problem = difference(outcome, _grouped_gain(*args))
    return problem and re.sub(r"\d+\.\d{6,}(e-\d+)?", lambda number: f"{float(number[0]):.6g}", problem)


def _with_rows(rows_of, gold, a, b, groups, draws):
    """The interval, with the rows of each resample chosen by `rows_of(groups, drawn)`."""
    one, other = _both(gold, a, b, [rows_of(np.array(groups), drawn) for drawn in draws])
    return _ends(one - other)


def _of_group_means(gold, a, b, groups, draws):
    groups = np.array(groups)
    means = [
        [np.mean(np.array(column)[groups == group]) for group in range(max(groups) + 1)] for column in (gold, a, b)
    ]
    return _grouped_gain(*means, list(range(max(groups) + 1)), draws)


def _in_order(drawn):
    return tuple(sorted(drawn))


def _far_ends(gold, a, b, groups, draws):
    (low_a, high_a), (low_b, high_b) = map(_ends, _both(gold, a, b, [_rows_drawn(groups, drawn) for drawn in draws]))
    return low_a - high_b, high_a - low_b


def _end_from_end(gold, a, b, groups, draws):
    (low_a, high_a), (low_b, high_b) = map(_ends, _both(gold, a, b, [_rows_drawn(groups, drawn) for drawn in draws]))
    return low_a - low_b, high_a - high_b


def _not_paired(gold, a, b, groups, draws):
    one, other = _both(gold, a, b, [_rows_drawn(groups, drawn) for drawn in draws])
    return _ends(one - other[::-1])


def _normal_ends(*args):
    values = _gains(*args)
    return (values.mean() + np.array([-1.96, 1.96]) * values.std()).tolist()


def _deviation_ends(factor, ddof, divided, *args):
    values = _gains(*args)
    reach = factor * values.std(ddof=ddof) / (len(values) ** 0.5 if divided else 1)
    return [values.mean() - reach, values.mean() + reach]


def _in_blocks(groups, drawn):
    """Rows of a group taken from where it begins, as if they stood together."""
    blocks = [np.flatnonzero(groups == group)[0] + np.arange((groups == group).sum()) for group in drawn]
    return np.concatenate(blocks) % len(groups)


def _in_equal_blocks(groups, drawn, size=lambda groups: len(groups) // (max(groups) + 1)):
    return np.concatenate([np.arange(group * size(groups), (group + 1) * size(groups)) for group in drawn]) % len(
        groups
    )


def _in_running_blocks(groups, drawn):
    """Rows of a group taken as if the groups stood one after the other."""
    ends = np.cumsum(np.bincount(groups))
    return np.concatenate([np.arange(ends[group] - (groups == group).sum(), ends[group]) for group in drawn])


GROUPS = exercise("08-groups", _groups_cases, _grouped_gain, judge=_problem_of_interval, points=2)(
    draws_as_rows=partial(_with_rows, lambda groups, drawn: np.array(drawn)),
    groups_once=partial(_with_rows, lambda groups, drawn: np.flatnonzero(np.isin(groups, drawn))),
    one_row_each=[
        partial(
            _with_rows, lambda groups, drawn, at=at: np.array([np.flatnonzero(groups == group)[at] for group in drawn])
        )
        for at in (0, -1)
    ],
    group_means=_of_group_means,
    far_ends=_far_ends,
    end_from_end=_end_from_end,
    other_resamples=_not_paired,
    pearson=lambda *args: _ends(_gains(*args, ranked=False)),
    subtracted_reversed=lambda gold, a, b, groups, draws: _grouped_gain(gold, b, a, groups, draws),
    ninety_percent=lambda *args: _grouped_gain(*args, level=90),
    whole_range=lambda *args: _grouped_gain(*args, level=100),
    percentiles_as_quantiles=lambda *args: np.percentile(_gains(*args), [0.025, 0.975]).tolist(),
    equal_rows_once=lambda gold, a, b, groups, draws: _grouped_gain(
        *map(list, zip(*dict.fromkeys(zip(gold, a, b, groups)))), draws
    ),
    equal_resamples_once=lambda gold, a, b, groups, draws: _grouped_gain(
        gold, a, b, groups, sorted(set(map(_in_order, draws)))
    ),
    ends_reversed=lambda *args: _grouped_gain(*args)[::-1],
    absolute=lambda *args: _ends(np.abs(_gains(*args))),
    normal_interval=(
        _normal_ends,
        *(
            partial(_deviation_ends, factor, ddof, divided)
            for factor in (1.96, 2, 1)
            for ddof in (0, 1)
            for divided in (False, True)
            if (factor, ddof, divided) != (1.96, 0, False)
        ),
    ),
    equal_blocks=(
        partial(_with_rows, _in_equal_blocks),
        partial(_with_rows, partial(_in_equal_blocks, size=lambda groups: (groups == groups[0]).sum())),
        partial(_with_rows, _in_blocks),
        partial(_with_rows, _in_running_blocks),
    ),
)


def _paired_cases(rng):
    generator = np.random.default_rng(rng.randrange(2**32))
    for label, n in (("Two models that differ", 12), ("A longer table", 20), ("Equal scores share a rank", 12)):
        gold = generator.permutation(n).astype(float)
        if label.startswith("Equal"):
            gold = np.floor(gold / 3)
        close, far = (gold + generator.normal(0, spread * n, n) for spread in (0.15, 0.5))
        yield Case(label, gold, close, far, generator.integers(n, size=(40, n)))
    yield Case("The second model is ahead", gold, far, close, generator.integers(n, size=(40, n)))


def _interval_over(difference, gold, a, b, draws):
    return np.percentile([difference(gold, a, b, rows) for rows in draws], [2.5, 97.5])


_spearman = _of_ranks("average")


def _correlated(gold, a, b, rows, correlation=_spearman):
    return correlation(gold[rows], a[rows]) - correlation(gold[rows], b[rows])


_paired_interval = partial(_interval_over, _correlated)


PAIRED_GAIN = Completion(
    "08-paired-gain",
    "The interval of a difference",
    ("gold", "a", "b", "draws"),
    _paired_cases,
    _paired_interval,
    mistakes=(
        Mistake(
            "all_rows_each_time",
            "Your difference is the same each time, so the interval has no width.",
            "Take only the rows of the resample: `gold[rows]`, `a[rows]` and `b[rows]`.",
            (lambda gold, a, b, draws: _paired_interval(gold, a, b, [np.arange(len(gold))]),),
        ),
        Mistake(
            "subtracted_reversed",
            "You subtract the first model's correlation from the second's.",
            "Subtract that of `b` from that of `a`.",
            (
                lambda gold, a, b, draws: _paired_interval(gold, b, a, draws),
                partial(_interval_over, lambda gold, a, b, rows: _correlated(gold, b, a, rows, _correlation)),
            ),
        ),
        Mistake(
            "pearson",
            "These are differences of Pearson's correlations.",
            "Use Spearman's: the lesson's `spearman` computes them.",
            (partial(_interval_over, partial(_correlated, correlation=_correlation)),),
        ),
        Mistake(
            "one_model",
            "You resample one model only, or you leave the other one out.",
            "Each difference needs two correlations, and both take the same rows.",
            (
                partial(_interval_over, lambda gold, a, b, rows: _spearman(gold[rows], a[rows])),
                partial(_interval_over, lambda gold, a, b, rows: _spearman(gold[rows], a[rows]) - _spearman(gold, b)),
            ),
        ),
        Mistake(
            "scores_not_resampled",
            "Your scores stay in the order of the table, so they no longer belong to the cosines beside them.",
            "Take the rows of all three columns: `gold[rows]`, too.",
            (partial(_interval_over, lambda gold, a, b, rows: _spearman(gold, a[rows]) - _spearman(gold, b[rows])),),
        ),
        Mistake(
            "model_against_model",
            "You correlate the two models with each other.",
            "Correlate each of them with the scores, and subtract.",
            (partial(_interval_over, lambda gold, a, b, rows: _spearman(a[rows], b[rows])),),
        ),
        Mistake(
            "absolute",
            "You take the absolute value of the differences, so that no interval can hold 0.",
            "Keep the signs.",
            (partial(_interval_over, lambda gold, a, b, rows: abs(_correlated(gold, a, b, rows))),),
        ),
    ),
)


def _inner_cases(rng):
    for label, lengths in (("Padding on the right", [5, 3, 4]), ("No padding", [4, 4]), ("Nothing between", [2, 6])):
        width = max(lengths) + rng.randint(0, 2) * (label != "No padding")
        yield Case(label, torch.tensor([[1] * n + [0] * (width - n) for n in lengths]))


def _inner_mask(attention_mask):
    rows = [[0] + [1] * (sum(row) - 2) + [0] * (len(row) - sum(row) + 1) for row in attention_mask.tolist()]
    return torch.tensor(rows)


def _last_column(attention_mask):
    inner = attention_mask.clone()
    inner[:, [0, -1]] = 0
    return inner


INNER_MASK = Completion(
    "08-inner-mask",
    "Without the special tokens",
    ("attention_mask",),
    _inner_cases,
    _inner_mask,
    mistakes=(
        Mistake(
            "last_column",
            "You clear the last column, which is padding in the shorter rows.",
            "The last real token of a row stands at the number of its real tokens, minus 1.",
            (_last_column,),
        ),
    ),
)


def _baseline_cases(rng):
    for label, similar, other in (
        ("Few similar pairs", 2, 8),
        ("Mostly similar pairs", 8, 2),
        ("As many of both", 5, 5),
        ("One similar pair", 1, 15),
    ):
        labels = [1] * similar + [0] * other
        rng.shuffle(labels)
        values = [rng.choice(range(20, 60)) / 64 + 0.25 * label for label in labels]
        yield Case(label, np.array(values), np.array(labels), rng.choice(values))


def _accuracy_and_baseline(values, labels, threshold):
    share = sum(labels.tolist()) / len(labels)
    return _accuracy(threshold, values.tolist(), labels.tolist()), max(share, 1 - share)


def _with_baseline(baseline):
    """An answer with a right accuracy and another baseline."""

    def answer(values, labels, threshold):
        return ((values >= threshold) == labels).mean(), float(baseline(values, labels, threshold))

    return answer


BASELINE = Completion(
    "08-baseline",
    "An accuracy beside its baseline",
    ("values", "labels", "threshold"),
    _baseline_cases,
    _accuracy_and_baseline,
    mistakes=(
        Mistake(
            "one_answer_only",
            'Your baseline is that of one answer: always "similar", or always "not similar".',
            "Take the better of the two.",
            (
                _with_baseline(lambda values, labels, threshold: labels.mean()),
                _with_baseline(lambda values, labels, threshold: 1 - labels.mean()),
            ),
        ),
        Mistake(
            "worse_answer",
            "Your baseline is that of the worse of the two answers.",
            "Take the better one, which is right more often.",
            (_with_baseline(lambda values, labels, threshold: min(labels.mean(), 1 - labels.mean())),),
        ),
        Mistake(
            "one_half",
            "Your baseline is 0.5, whatever the labels are.",
            "Count how often each of the two answers would be right: `labels.mean()` is the share of similar pairs.",
            (_with_baseline(lambda values, labels, threshold: 0.5),),
        ),
        Mistake(
            "of_the_threshold",
            "Your baseline depends on the threshold.",
            "An answer that never changes looks at no cosine: use the labels alone.",
            (
                _with_baseline(lambda values, labels, threshold: (values >= threshold).mean()),
                _with_baseline(lambda values, labels, threshold: 1 - (values >= threshold).mean()),
                _with_baseline(
                    lambda values, labels, threshold: max((values >= threshold).mean(), (values < threshold).mean())
                ),
            ),
        ),
        Mistake(
            "count",
            "Your baseline is a number of pairs.",
            "Like the accuracy, it is a share: divide by the number of pairs.",
            (_with_baseline(lambda values, labels, threshold: max(labels.sum(), (1 - labels).sum())),),
        ),
    ),
)
