"""Exercises of lesson 08, a similarity benchmark."""

import numpy as np
from scipy.stats import kendalltau, rankdata

from .framework import Case, Exercise, Mistake


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
    return [
        Case("All numbers differ", (x, y)),
        Case("One number is far from all others", (x, outlier)),
        Case("A curve that only rises is perfect, 1", (x, cubes)),
        Case("A curve that only falls is −1", (x, [-value for value in cubes])),
        Case("Equal numbers share the mean of their ranks", (_tied(rng), _distinct(rng, 8))),
        Case("Equal numbers in both columns", (_tied(rng), _tied(rng))),
    ]


def _correlation(x, y):
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def _of_ranks(method):
    return lambda x, y: _correlation(rankdata(x, method), rankdata(y, method))


def _short_formula(x, y):
    d, n = rankdata(x) - rankdata(y), len(x)
    return float(1 - 6 * (d * d).sum() / (n * (n * n - 1)))


def _cosine_of_ranks(x, y):
    x, y = rankdata(x), rankdata(y)
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


SHARE = "Equal numbers must share a rank, the mean of the places that they take: 3, 3, 7 have the ranks 1.5, 1.5, 3. "

SPEARMAN = Exercise(
    id="08-spearman",
    title="Spearman's correlation",
    arguments=("x", "y"),
    cases=_spearman_cases,
    reference=_of_ranks("average"),
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "This is Pearson's correlation of the numbers themselves. Replace each number by its rank first.",
            _correlation,
        ),
        Mistake(
            "`argsort` gives the places of the sorted numbers, not the rank of each number. (Its argsort again "
            "does, if no numbers are equal.)",
            lambda x, y: _correlation(np.argsort(x, kind="stable"), np.argsort(y, kind="stable")),
        ),
        Mistake(SHARE + "Yours get different ranks, by the order in which they come.", _of_ranks("ordinal")),
        Mistake(SHARE + "Yours all get the lowest of these places.", _of_ranks("min")),
        Mistake(SHARE + "Yours all get the highest of these places.", _of_ranks("max")),
        Mistake(
            SHARE
            + (
                "Yours are numbered without gaps, so that a value that comes three times counts as much as one that "
                "comes once."
            ),
            _of_ranks("dense"),
        ),
        Mistake(
            "The short formula, 1 − 6Σd²/(n³ − n), holds only if no two numbers are equal. Compute Pearson's "
            "correlation of the ranks.",
            _short_formula,
        ),
        Mistake(
            "You multiply ranks without taking their means away. Pearson's correlation centres both columns first.",
            _cosine_of_ranks,
        ),
        Mistake(
            "One of your columns is ranked from the top and the other from the bottom, which turns the sign round.",
            lambda x, y: -_of_ranks("average")(x, y),
        ),
        Mistake(
            "You return the square of the correlation, which cannot be negative.",
            lambda x, y: _of_ranks("average")(x, y) ** 2,
        ),
        Mistake(
            "This is Kendall's tau, which counts pairs in the same order. Spearman's is Pearson's correlation of "
            "the ranks.",
            lambda x, y: float(kendalltau(x, y).statistic),
        ),
    ),
    hints=(
        "Two steps: a rank for each number of each column, then Pearson's correlation of the two columns of ranks.",
        "The rank of a number is how many numbers of its column are smaller, plus half of the others that are equal "
        "to it, plus 1.",
        "`scipy.stats.rankdata` gives such ranks, and `np.corrcoef(a, b)[0, 1]` is Pearson's correlation.",
    ),
)


def _accuracy(threshold, values, labels, judge=np.greater_equal):
    return float((judge(np.array(values), threshold) == np.array(labels)).mean())


def _threshold(values, labels, judge=np.greater_equal, lowest=True):
    """The value with the highest accuracy as a threshold; of equally good values, the lowest (or the highest)."""
    return max(
        sorted(set(values), reverse=not lowest), key=lambda threshold: _accuracy(threshold, values, labels, judge)
    )


def _held_out(train, labels, test, test_labels):
    return _accuracy(_threshold(train, labels), test, test_labels)


def _other_thresholds(train, labels, test, test_labels):
    """The results of wrong choices of the threshold. Each must differ from the right result in at least one case."""
    above, best = _threshold(train, labels, np.greater), _threshold(train, labels)
    return {
        "tuned on test": _accuracy(_threshold(test, test_labels), test, test_labels),
        "on both": _accuracy(_threshold(train + test, labels + test_labels), test, test_labels),
        "training accuracy": _accuracy(best, train, labels),
        "above": _accuracy(above, test, test_labels, np.greater),
        "mixed": _accuracy(best, test, test_labels, np.greater),
        "highest": _accuracy(_threshold(train, labels, lowest=False), test, test_labels),
        "mean": _accuracy(np.mean(train), test, test_labels),
        "half": _accuracy(0.5, test, test_labels),
        "wrong share": 1 - _held_out(train, labels, test, test_labels),
    }


def _pairs_drawn(rng, differing):
    """Training and test values and labels, drawn until the wrong methods named in `differing` give another result."""
    while True:
        labels, test_labels = (
            [int(rng.random() < 0.5) for _ in range(n)] for n in (rng.randint(9, 12), rng.randint(8, 10))
        )
        train = [round(min(0.99, max(0.01, rng.gauss(0.3 + 0.15 * label, 0.2))), 2) for label in labels]
        test = [rng.choice(train) if rng.random() < 0.6 else round(rng.uniform(0.1, 0.9), 2) for _ in test_labels]
        if min(labels) == max(labels) or min(test_labels) == max(test_labels):
            continue
        right, wrong = _held_out(train, labels, test, test_labels), _other_thresholds(train, labels, test, test_labels)
        if all(abs(wrong[name] - right) > 1e-3 for name in differing):
            return train, labels, test, test_labels


def _threshold_cases(rng):
    return [
        Case(
            "The threshold comes from the training pairs alone",
            _pairs_drawn(rng, ("tuned on test", "training accuracy", "wrong share")),
        ),
        Case("The test pairs have no say in the threshold", _pairs_drawn(rng, ("on both", "tuned on test"))),
        Case("A value equal to the threshold counts as similar", _pairs_drawn(rng, ("above", "mixed"))),
        Case("Of equally good thresholds, the lowest", _pairs_drawn(rng, ("highest",))),
        Case("The threshold is searched, not fixed", _pairs_drawn(rng, ("mean", "half"))),
    ]


THRESHOLD = Exercise(
    id="08-threshold",
    title="A threshold, chosen honestly",
    arguments=("train_values", "train_labels", "test_values", "test_labels"),
    cases=_threshold_cases,
    reference=_held_out,
    minutes=12,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You choose the threshold on the test pairs, and measure on the same ones. The best of many tries looks "
            "better than it is: choose it on the training pairs.",
            lambda *a: _other_thresholds(*a)["tuned on test"],
        ),
        Mistake(
            "You choose the threshold on training and test pairs together. The test pairs must have no say in it.",
            lambda *a: _other_thresholds(*a)["on both"],
        ),
        Mistake(
            "You return the accuracy on the training pairs, on which the threshold was chosen. Measure on the test "
            "pairs.",
            lambda *a: _other_thresholds(*a)["training accuracy"],
        ),
        Mistake(
            "You return the threshold. The accuracy on the test pairs at this threshold is asked for.",
            lambda train, labels, *_: _threshold(train, labels),
        ),
        Mistake(
            "Your threshold is tried with `>`. A value equal to the threshold counts as similar: `>=`.",
            lambda *a: _other_thresholds(*a)["above"],
        ),
        Mistake(
            "The threshold is chosen with `>=`, and the test pairs are judged with `>`. Use `>=` for both.",
            lambda *a: _other_thresholds(*a)["mixed"],
        ),
        Mistake(
            "Of equally good thresholds you take the highest. The lowest is asked for.",
            lambda *a: _other_thresholds(*a)["highest"],
        ),
        Mistake(
            "Your threshold is the mean of the training values, whatever their labels are. Try each value, and keep "
            "the one that is right most often.",
            lambda *a: _other_thresholds(*a)["mean"],
        ),
        Mistake(
            "Your threshold is 0.5. Cosines have no natural middle: try each training value, and keep the one that "
            "is right most often.",
            lambda *a: _other_thresholds(*a)["half"],
        ),
        Mistake(
            "You return the share of pairs that are judged wrongly.", lambda *a: _other_thresholds(*a)["wrong share"]
        ),
        Mistake(
            "You return how many test pairs are right. The accuracy is their share: divide by the number of test "
            "pairs.",
            lambda train, labels, test, test_labels: _held_out(train, labels, test, test_labels) * len(test),
        ),
    ),
    hints=(
        "The candidates are the training values, tried from the lowest to the highest. For each, in how many "
        "*training* pairs is (value >= candidate) the label?",
        "Keep a candidate only if it is strictly better than the best so far: then the lowest of equally good ones "
        "stays.",
        "At the end, judge the test pairs with the candidate that you kept, and return the share of right ones.",
    ),
)


def _bug_cases(rng):
    def models(n, together, lead=0.0):
        """Which pairs two models get right; `together` is the probability that the second agrees with the first."""
        a = [int(rng.random() < 0.7) for _ in range(n)]
        b = [one if rng.random() < together else int(rng.random() < 0.7 - lead) for one in a]
        a[:2], b[:2] = [1, 0], [1, 1]
        return a, b

    def rows(n, repeats):
        return [[rng.randrange(n) for _ in range(n)] for _ in range(repeats)]

    many, few = rng.randint(24, 30), rng.randint(12, 16)
    return [
        Case("Two models that are right about mostly the same pairs", (*models(many, 0.85), rows(many, 101))),
        Case("Two models that have little in common", (*models(many, 0.2), rows(many, 101))),
        Case("The second model is worse", (*models(many, 0.6, 0.5), rows(many, 101))),
        Case("Few pairs", (*models(few, 0.7), rows(few, 101))),
        Case("A model compared with itself differs by nothing", (*[models(many, 1.0)[0]] * 2, rows(many, 61))),
    ]


def _resampled(right, rows):
    return np.array(right, dtype=float)[np.array(rows)].mean(axis=1)


def _ends(values, level=95):
    low, high = np.percentile(values, [(100 - level) / 2, (100 + level) / 2])
    return float(low), float(high)


def _paired(a, b, rows, level=95):
    return _ends(_resampled(a, rows) - _resampled(b, rows), level)


def _two_intervals(a, b, rows):
    (low_a, high_a), (low_b, high_b) = _ends(_resampled(a, rows)), _ends(_resampled(b, rows))
    return low_a - high_b, high_a - low_b


def _same_ends(a, b, rows):
    (low_a, high_a), (low_b, high_b) = _ends(_resampled(a, rows)), _ends(_resampled(b, rows))
    return tuple(sorted((low_a - low_b, high_a - high_b)))


def _other_rows(a, b, rows):
    return _ends(_resampled(a, rows) - _resampled(b, rows[::-1]))


def _normal_ends(a, b, rows):
    values = _resampled(a, rows) - _resampled(b, rows)
    return float(values.mean() - 1.96 * values.std()), float(values.mean() + 1.96 * values.std())


BUG = Exercise(
    id="08-find-the-bug",
    title="Find the bug: is A better than B?",
    arguments=("right_a", "right_b", "rows"),
    cases=_bug_cases,
    reference=_paired,
    minutes=10,
    difficulty=3,
    points=2,
    mistakes=(
        Mistake(
            "You make an interval for each model, and subtract their far ends. Both models saw the same pairs: for "
            "each resample, take the difference of the two accuracies *on these same pairs*, and then the "
            "percentiles of the differences.",
            _two_intervals,
        ),
        Mistake(
            "You make an interval for each model, and subtract end from end. Take the difference within each "
            "resample first, then its percentiles.",
            _same_ends,
        ),
        Mistake(
            "The two models are measured on different resamples. The same rows must be drawn for both.", _other_rows
        ),
        Mistake(
            "Your interval holds 90% of the differences. For 95%, cut off 2.5% at each end.",
            lambda a, b, rows: _paired(a, b, rows, 90),
        ),
        Mistake(
            "Your interval goes from the smallest to the largest difference. For 95%, cut off 2.5% at each end.",
            lambda a, b, rows: _paired(a, b, rows, 100),
        ),
        Mistake(
            "You subtract the first model from the second. A minus B is asked for.",
            lambda a, b, rows: _paired(b, a, rows),
        ),
        Mistake(
            "You return the ends in the wrong order: the low one first.", lambda a, b, rows: _paired(a, b, rows)[::-1]
        ),
        Mistake(
            "You take the absolute value of the differences, so that no interval can hold 0. Keep the signs.",
            lambda a, b, rows: _ends(np.abs(_resampled(a, rows) - _resampled(b, rows))),
        ),
        Mistake(
            "You use the mean and 1.96 standard deviations, as if the differences had a normal distribution. Take "
            "the percentiles 2.5 and 97.5.",
            _normal_ends,
        ),
        Mistake(
            "You add the differences up. Accuracies are means over the pairs of a resample.",
            lambda a, b, rows: tuple(len(a) * end for end in _paired(a, b, rows)),
        ),
    ),
    hints=(
        "If both models are right about the same pairs, their accuracies rise and fall together from resample to "
        "resample. Does the function make use of that?",
        "An interval for the difference needs one difference for each resample: `a[rows].mean(axis=1) - "
        "b[rows].mean(axis=1)`.",
        "Then one call of `np.percentile` on these differences.",
    ),
)

EXERCISES = (SPEARMAN, THRESHOLD, BUG)
