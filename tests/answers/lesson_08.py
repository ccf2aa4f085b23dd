"""Answers to lesson 08 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import numpy as np
import pandas as pd
import scipy.stats


def spearman_by_counting(x, y):
    def ranks(column):
        return np.array([sum(v < u for v in column) + (sum(v == u for v in column) + 1) / 2 for u in column])

    return np.corrcoef(ranks(x), ranks(y))[0, 1]


def spearman_in_pandas(x, y):
    return pd.Series(x).corr(pd.Series(y), method="spearman")


def spearman_in_scipy(x, y):
    return scipy.stats.spearmanr(x, y)[0]


def spearman_pearson(x, y):
    return np.corrcoef(x, y)[0][1]


def spearman_argsort(x, y):
    return np.corrcoef(np.argsort(x, kind="stable"), np.argsort(y, kind="stable"))[0][1]


def spearman_argsort_twice(x, y):
    def ranks(column):
        order = sorted(range(len(column)), key=lambda i: column[i])
        return [order.index(i) for i in range(len(column))]

    return np.corrcoef(ranks(x), ranks(y))[0][1]


def spearman_index(x, y):
    a, b = [sorted(x).index(v) + 1 for v in x], [sorted(y).index(v) + 1 for v in y]
    return scipy.stats.pearsonr(a, b)[0]


def spearman_unique(x, y):
    a, b = np.unique(x, return_inverse=True)[1], np.unique(y, return_inverse=True)[1]
    return np.corrcoef(a, b)[0][1]


def spearman_school_formula(x, y):
    d = pd.Series(x).rank() - pd.Series(y).rank()
    n = len(x)
    return 1 - 6 * (d**2).sum() / (n**3 - n)


def spearman_turned(x, y):
    return np.corrcoef(pd.Series(x).rank(), pd.Series(y).rank(ascending=False))[0][1]


def spearman_squared(x, y):
    return scipy.stats.spearmanr(x, y)[0] ** 2


def spearman_uncentred(x, y):
    a, b = scipy.stats.rankdata(x), scipy.stats.rankdata(y)
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def held_out_by_loop(train_values, train_labels, test_values, test_labels):
    best, threshold = -1, None
    for candidate in sorted(train_values):
        right = 0
        for value, label in zip(train_values, train_labels):
            right += (1 if value >= candidate else 0) == label
        if right > best:
            best, threshold = right, candidate
    return sum((value >= threshold) == bool(label) for value, label in zip(test_values, test_labels)) / len(test_values)


def held_out_in_numpy(train_values, train_labels, test_values, test_labels):
    values, labels = np.asarray(train_values), np.asarray(train_labels)
    candidates = np.unique(values)
    right = ((values >= candidates[:, None]) == labels).sum(axis=1)
    return np.mean((np.asarray(test_values) >= candidates[right.argmax()]) == np.asarray(test_labels))


def held_out_on_test(train_values, train_labels, test_values, test_labels):
    values, labels = np.asarray(test_values), np.asarray(test_labels)
    return max(((values >= t) == labels).mean() for t in values)


def held_out_on_all(train_values, train_labels, test_values, test_labels):
    return held_out_in_numpy(train_values + test_values, train_labels + test_labels, test_values, test_labels)


def held_out_on_train(train_values, train_labels, test_values, test_labels):
    return held_out_in_numpy(train_values, train_labels, train_values, train_labels)


def held_out_threshold(train_values, train_labels, test_values, test_labels):
    values, labels = np.asarray(train_values), np.asarray(train_labels)
    candidates = np.unique(values)
    return candidates[((values >= candidates[:, None]) == labels).sum(axis=1).argmax()]


def held_out_above(train_values, train_labels, test_values, test_labels):
    values, labels = np.asarray(train_values), np.asarray(train_labels)
    candidates = np.unique(values)
    right = ((values > candidates[:, None]) == labels).sum(axis=1)
    return np.mean((np.asarray(test_values) > candidates[right.argmax()]) == np.asarray(test_labels))


def held_out_last_best(train_values, train_labels, test_values, test_labels):
    best, threshold = -1, None
    for candidate in sorted(train_values):
        right = sum((value >= candidate) == label for value, label in zip(train_values, train_labels))
        if right >= best:
            best, threshold = right, candidate
    return sum((value >= threshold) == label for value, label in zip(test_values, test_labels)) / len(test_values)


def held_out_half(train_values, train_labels, test_values, test_labels):
    return np.mean([(value >= 0.5) == label for value, label in zip(test_values, test_labels)])


def held_out_count(train_values, train_labels, test_values, test_labels):
    return held_out_by_loop(train_values, train_labels, test_values, test_labels) * len(test_values)


def difference_by_loop(right_a, right_b, rows):
    differences = []
    for drawn in rows:
        differences.append(sum(right_a[i] - right_b[i] for i in drawn) / len(drawn))
    return np.percentile(differences, 2.5), np.percentile(differences, 97.5)


def difference_with_quantile(right_a, right_b, rows):
    gain = np.subtract(right_a, right_b)
    return tuple(np.quantile(gain[np.asarray(rows)].mean(1), [0.025, 0.975]))


def difference_of_intervals(right_a, right_b, rows):
    a, b, rows = np.array(right_a), np.array(right_b), np.array(rows)
    low_a, high_a = np.percentile(a[rows].mean(axis=1), [2.5, 97.5])
    low_b, high_b = np.percentile(b[rows].mean(axis=1), [2.5, 97.5])
    return low_a - high_b, high_a - low_b


def difference_end_by_end(right_a, right_b, rows):
    a, b, rows = np.array(right_a), np.array(right_b), np.array(rows)
    ends = np.percentile(a[rows].mean(axis=1), [2.5, 97.5]) - np.percentile(b[rows].mean(axis=1), [2.5, 97.5])
    return min(ends), max(ends)


def difference_of_ninety(right_a, right_b, rows):
    gain = np.subtract(right_a, right_b)[np.array(rows)].mean(1)
    return np.percentile(gain, 5), np.percentile(gain, 95)


def difference_b_minus_a(right_a, right_b, rows):
    return difference_by_loop(right_b, right_a, rows)


def difference_turned(right_a, right_b, rows):
    low, high = difference_by_loop(right_a, right_b, rows)
    return high, low


def difference_extremes(right_a, right_b, rows):
    gain = np.subtract(right_a, right_b)[np.array(rows)].mean(1)
    return gain.min(), gain.max()


def difference_without_signs(right_a, right_b, rows):
    gain = np.abs(np.subtract(right_a, right_b)[np.array(rows)].mean(1))
    return tuple(np.percentile(gain, [2.5, 97.5]))


def difference_sums(right_a, right_b, rows):
    gain = np.subtract(right_a, right_b)[np.array(rows)].sum(1)
    return tuple(np.percentile(gain, [2.5, 97.5]))


RIGHT = {
    "08-spearman": [spearman_by_counting, spearman_in_pandas, spearman_in_scipy],
    "08-threshold": [held_out_by_loop, held_out_in_numpy],
    "08-find-the-bug": [difference_by_loop, difference_with_quantile],
}
WRONG = {
    "08-spearman": [
        (spearman_pearson, "Pearson's correlation of the numbers themselves"),
        (spearman_argsort, "places of the sorted numbers"),
        (spearman_argsort_twice, "by the order in which they come"),
        (spearman_index, "the lowest of these places"),
        (spearman_unique, "numbered without gaps"),
        (spearman_school_formula, "short formula"),
        (spearman_turned, "turns the sign round"),
        (spearman_squared, "the square of the correlation"),
        (spearman_uncentred, "without taking their means away"),
    ],
    "08-threshold": [
        (held_out_on_test, "choose the threshold on the test pairs"),
        (held_out_on_all, "training and test pairs together"),
        (held_out_on_train, "accuracy on the training pairs"),
        (held_out_threshold, "You return the threshold"),
        (held_out_above, "tried with `>`"),
        (held_out_last_best, "you take the highest"),
        (held_out_half, "Your threshold is 0.5"),
        (held_out_count, "how many test pairs are right"),
    ],
    "08-find-the-bug": [
        (difference_of_intervals, "subtract their far ends"),
        (difference_end_by_end, "subtract end from end"),
        (difference_of_ninety, "holds 90% of the differences"),
        (difference_b_minus_a, "A minus B is asked for"),
        (difference_turned, "the low one first"),
        (difference_extremes, "from the smallest to the largest"),
        (difference_without_signs, "Keep the signs"),
        (difference_sums, "You add the differences up"),
    ],
}
