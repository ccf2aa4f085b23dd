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


RIGHT = {
    "08-spearman": [spearman_by_counting, spearman_in_pandas, spearman_in_scipy],
    "08-threshold": [held_out_by_loop, held_out_in_numpy],
    "08-find-the-bug": [difference_by_loop, difference_with_quantile],
}
WRONG = {
    "08-spearman": [(spearman_pearson, "Pearson's correlation of the numbers themselves")],
    "08-threshold": [(held_out_on_test, "choose the threshold on the test pairs")],
    "08-find-the-bug": [(difference_of_intervals, "subtract their far ends")],
}
