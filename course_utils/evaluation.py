"""Evaluate similarities: correlations, thresholds and bootstrap intervals. Derived in lesson 08."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

BLOCK = 2_000_000  # numbers of a column resampled at a time, to bound memory: 16 MB


def _columns(*columns: ArrayLike) -> list[np.ndarray]:
    """The columns as float64 arrays.

    Raises TypeError if they are not numeric, ValueError if one is empty, a single number or not
    finite, or if their last dimensions differ.
    """
    checked = []
    for place, values in enumerate(columns, start=1):
        column = np.asarray(values)
        if column.dtype.kind not in "biuf":  # booleans, integers with or without a sign, floats
            raise TypeError(f"argument {place} must hold numbers; got {column.dtype}")
        if column.ndim < 1 or column.shape[-1] == 0:
            raise ValueError(
                f"argument {place} is empty or a single number; a list of numbers is needed"
            )
        not_finite = int((~np.isfinite(column)).sum())
        if not_finite:
            raise ValueError(
                f"argument {place} holds {not_finite} values that are not finite (NaN or infinity)"
            )
        checked.append(column.astype(np.float64))
    lengths = [column.shape[-1] for column in checked]
    if len(set(lengths)) > 1:
        raise ValueError(f"the columns must be equally long; got {lengths}")
    return checked


def pearson(x: ArrayLike, y: ArrayLike) -> float | np.ndarray:
    """Pearson's correlation, between -1 and 1: how close are `x` and `y` to a rising line?

    x, y: numbers, shape (..., n); with more dimensions, one correlation per row.

    Returns a float, or an array (...). Raises TypeError or ValueError for columns that are not
    numeric, of unequal length, not finite, shorter than two, or constant (then no correlation
    exists). It is scipy.stats.pearsonr.
    """
    from scipy.stats import pearsonr

    x, y = _columns(x, y)
    if x.shape[-1] < 2:
        raise ValueError("a correlation needs at least two pairs")
    if (np.ptp(x, axis=-1) == 0).any() or (np.ptp(y, axis=-1) == 0).any():
        raise ValueError("a column is constant, so it has no correlation with anything")
    return _plain(pearsonr(x, y, axis=-1).statistic)


# A single number as a float, an array as it is.
def _plain(value: np.ndarray) -> float | np.ndarray:
    return float(value) if np.ndim(value) == 0 else value


def ranks(x: ArrayLike) -> np.ndarray:
    """The rank of each number within its row, from 1; ties share the mean of their ranks.

    x: shape (..., n). Returns float64 of the same shape. It is scipy.stats.rankdata(x, axis=-1).
    Raises TypeError or ValueError for what is not numeric, empty or not finite.
    """
    from scipy.stats import rankdata

    return rankdata(_columns(x)[0], axis=-1)


def spearman(x: ArrayLike, y: ArrayLike) -> float | np.ndarray:
    """Spearman's rank correlation (Spearman 1904): Pearson's of the ranks. Arguments and errors as
    in `pearson`.
    """
    x, y = _columns(x, y)
    return pearson(ranks(x), ranks(y))


# The columns as in `_columns`. Raises ValueError, too, unless each row has both labels, 0 and 1.
def _two_classes(labels: ArrayLike, scores: ArrayLike) -> list[np.ndarray]:
    labels, scores = _columns(labels, scores)
    if not np.isin(labels, (0, 1)).all():
        raise ValueError("labels must be 0 or 1")
    is_constant = labels.min(axis=-1) == labels.max(axis=-1)
    if is_constant.any():
        # of the first row that lacks a class
        raise ValueError(
            f"all labels are {labels[is_constant].flat[0]:.0f}; both classes are needed"
        )
    return [labels, scores]


def auc(labels: ArrayLike, scores: ArrayLike) -> float | np.ndarray:
    """Area under the ROC curve: how often a random positive scores above a random negative (ties
    count half).

    labels, scores: shape (..., n); labels are 0 or 1. Returns a float, or an array (...). Raises
    TypeError or ValueError for unfit columns, or if a row of labels lacks a class. Hanley and
    McNeil (1982), section 3. Equal to sklearn.metrics.roc_auc_score, many rows at a time.
    """
    labels, scores = _two_classes(labels, scores)
    positives = labels.sum(axis=-1)
    # how many pairs of a positive and a negative have the positive above: the sum of the ranks of
    # the positives, less the least that it can be
    above = (labels * ranks(scores)).sum(axis=-1) - positives * (positives + 1) / 2
    return _plain(above / (positives * (labels.shape[-1] - positives)))


def best_threshold(labels: ArrayLike, scores: ArrayLike) -> tuple[float, float]:
    """(threshold, accuracy) of the threshold at which "score >= threshold" is right most often.

    labels, scores: shape (n,). The threshold lies halfway between two scores, or it is the lowest
    score (all are positive) or just above the highest (none is); of equally good ones, the lowest
    is taken. Raises as `auc` does. Choose it on other pairs than those that you report on.
    """
    labels, scores = _two_classes(labels, scores)
    values = np.unique(scores)
    # just above the highest in float32, since scores in float32 round what they are compared with
    above_all = np.nextafter(np.float32(values[-1]), np.float32(np.inf))
    candidates = np.array([values[0], *(values[:-1] + values[1:]) / 2, above_all])
    right = [((scores >= threshold) == labels).mean() for threshold in candidates]
    return float(candidates[np.argmax(right)]), float(max(right))


def bootstrap(
    statistic: Callable[..., float | np.ndarray],
    *columns: ArrayLike,
    repeats: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float, float]:
    """A statistic with its percentile bootstrap interval (Efron 1979): what if other pairs had been
    drawn?

    statistic: a function of as many columns as are given. It also takes them with one row per
    resample, (repeats, n), as `pearson`, `spearman` and `auc` do.
    columns: numbers, shape (n,) each; the same rows are drawn from all of them.

    Returns (value, low, high). For "is A better than B?", let the statistic be a difference; its
    interval contains 0 if chance may be the reason. Equal to scipy.stats.bootstrap(paired=True,
    method="percentile") with the same generator. Raises ValueError for `repeats` below 1 or a
    `level` outside 0 to 1, TypeError or ValueError for unfit columns, and what the statistic
    raises, also for a resample: one of few rows may be constant or lack a class.
    """
    pairs = _columns(*columns)
    if repeats < 1 or not 0 < level < 1:
        raise ValueError(
            f"repeats must be at least 1 and level between 0 and 1; got {repeats} and {level}"
        )
    n = pairs[0].shape[-1]
    generator = np.random.default_rng(seed)
    values = []  # of the statistic, an array for each block of resamples
    step = max(1, BLOCK // n)
    for start in range(0, repeats, step):
        rows = generator.integers(0, n, (min(step, repeats - start), n))
        values.append(np.asarray(statistic(*(column[rows] for column in pairs))))
    low, high = np.quantile(np.concatenate(values), [(1 - level) / 2, (1 + level) / 2])
    return float(statistic(*pairs)), float(low), float(high)
