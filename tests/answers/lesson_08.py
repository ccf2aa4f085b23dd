"""Answers to lesson 08; `__init__.py` says what the tables are."""

import numpy as np
import pandas as pd
import torch
from scipy.stats import rankdata, spearmanr


# A number's rank in a list that holds it; equal numbers share the mean of their ranks.
def rank_in(numbers, value):
    lower = sum(other < value for other in numbers)
    equal = sum(other == value for other in numbers)
    return lower + (equal + 1) / 2


def ranks_by_counting(numbers):
    return [rank_in(numbers, value) for value in numbers]


def spearman_by_counting(first, second):
    return np.corrcoef(ranks_by_counting(first), ranks_by_counting(second))[0, 1]


# Replaces a rank by the share of lower numbers less that of higher ones, which is a linear function
# of the rank.
def spearman_in_float32(first, second):
    numbers = torch.tensor(np.float32([first, second]))
    is_higher = (numbers[:, :, None] > numbers[:, None]).float()
    return torch.corrcoef((is_higher - is_higher.transpose(1, 2)).mean(dim=2))[0, 1]


def spearman_of_scipy(first, second):
    return spearmanr(first, second).statistic


# A right answer; each keyword breaks one sentence of the text: `candidates`, the thresholds that
# are tried, and `compare(values, threshold)`, which is true where the answer is 1.
def accuracy_held_out(
    train_values,
    train_labels,
    test_values,
    test_labels,
    *,
    candidates=None,
    compare=np.greater_equal,
):
    values, labels = np.array(train_values), np.array(train_labels)
    candidates = np.unique(train_values if candidates is None else candidates)
    shares_right = np.array(
        [(compare(values, candidate) == labels).mean() for candidate in candidates]
    )
    threshold = candidates[shares_right.argmax()]
    return np.mean(compare(np.array(test_values), threshold) == np.array(test_labels))


# The rows of the groups that were drawn, each group as often as it was drawn.
def rows_of(groups, drawn):
    return np.concatenate([np.flatnonzero(groups == group) for group in drawn])


# A right answer. `chosen(groups, drawn)` (the rows of one resample) and `method` (as in
# np.percentile) break one sentence of the text each; `spearman` computes the same correlation in
# another way. Returns the ends of the interval that holds the middle 95 % of the gains.
def interval_of_groups(
    gold, a, b, groups, draws, *, chosen=rows_of, method="linear", spearman=spearman_in_float32
):
    gold, a, b, groups = map(np.array, (gold, a, b, groups))
    gains = []
    for drawn in draws:
        rows = chosen(groups, drawn)
        gains.append(spearman(gold[rows], a[rows]) - spearman(gold[rows], b[rows]))
    return np.percentile(gains, [2.5, 97.5], method=method)


# An answer that correlates by `spearman`. `interval` returns both ends of the interval that holds
# the middle 95 % of the gains.
def gain_by(spearman, interval=lambda gains: np.percentile(gains, [2.5, 97.5])):
    return lambda gold, a, b, draws: interval(
        [spearman(gold[rows], a[rows]) - spearman(gold[rows], b[rows]) for rows in draws]
    )


RIGHT = {
    "08-spearman": [
        spearman_by_counting,
        spearman_in_float32,
        spearman_of_scipy,
        lambda first, second: torch.tensor(spearman_by_counting(first, second)),
    ],
    "08-threshold": [
        accuracy_held_out,
        lambda values, labels, *test: accuracy_held_out(np.float32(values), labels, *test),
        lambda *args: torch.tensor(accuracy_held_out(*args)),
    ],
    "08-groups": [
        lambda *args: interval_of_groups(*args, spearman=spearman_of_scipy).tolist(),
        interval_of_groups,
        lambda *args: interval_of_groups(
            *args,
            chosen=lambda groups, drawn: [
                row for wanted in drawn for row, group in enumerate(groups) if group == wanted
            ],
        ),
    ],
}

COMPLETED = {
    "08-paired-gain": [
        gain_by(spearman_of_scipy),
        gain_by(spearman_in_float32),
        gain_by(
            lambda first, second: pd.Series(first).corr(pd.Series(second), method="spearman"),
            lambda gains: pd.Series(gains).quantile([0.025, 0.975]).tolist(),
        ),
    ],
    "08-inner-mask": [
        # more than one token up to here, and fewer than all
        lambda mask: (
            mask * (mask.cumsum(dim=1) > 1) * (mask.cumsum(dim=1) < mask.sum(dim=1, keepdim=True))
        ),
        lambda mask: [
            [int(0 < place < sum(row) - 1) for place in range(len(row))] for row in mask.tolist()
        ],
        # this and the next drop the first two positions, and add a 0 on either side
        lambda mask: torch.nn.functional.pad(mask[:, 2:], (1, 1)),
        lambda mask: np.array([[0, *row[2:], 0] for row in mask.numpy()], dtype=float),
        # writes 0 at two positions: at 0, and at that of the last token
        lambda mask: mask.scatter(1, torch.outer(mask.sum(dim=1) - 1, torch.tensor([0, 1])), 0),
    ],
    # the accuracy with the threshold, and that of giving all pairs the more frequent label
    "08-baseline": [
        lambda values, labels, threshold: (
            np.mean((values >= threshold) == labels),
            np.bincount(labels).max() / len(labels),
        ),
        # right ones on both sides of the threshold, and how far the share of ones is from a half
        lambda values, labels, threshold: [
            (sum(labels[values >= threshold]) + sum(1 - labels[values < threshold])) / len(labels),
            0.5 + abs(sum(labels) / len(labels) - 0.5),
        ],
        lambda values, labels, threshold: (
            sum(
                (value >= threshold) == (label == 1)
                for value, label in zip(values.tolist(), labels.tolist())
            )
            / len(values),
            max(map(labels.tolist().count, (0, 1))) / len(labels),
        ),
        # the means of two rows, in float32; 1 is the more frequent label if more than half have it
        lambda values, labels, threshold: torch.tensor(
            np.mean(
                [(values >= threshold) == labels, labels == (2 * labels.sum() > len(labels))],
                axis=1,
                dtype=np.float32,
            )
        ),
        # shares of wrong ones
        lambda values, labels, threshold: (
            1 - np.abs((values >= threshold) - labels).mean(),
            1 - min((labels != answer).mean() for answer in (0, 1)),
        ),
    ],
}

WRONG = {
    "08-spearman": [(lambda first, second: 100 * spearman_by_counting(first, second), "times 100")],
    "08-threshold": [(lambda *args: 1 - accuracy_held_out(*args), "1 minus the right result")],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "08-spearman": [
        (  # cuts off decimals
            "lists of numbers",
            lambda first, second: spearman_by_counting(
                [int(number) for number in first], [int(number) for number in second]
            ),
        ),
        (  # rounds to two decimals
            "lists of numbers",
            lambda first, second: spearman_by_counting(np.round(first, 2), np.round(second, 2)),
        ),
        (  # gives up where there are two numbers
            "They are equally long",
            lambda first, second: spearman_by_counting(first, second) if len(first) > 2 else 0.0,
        ),
        # rounds the result to four decimals
        ("Return a number", lambda first, second: round(spearman_by_counting(first, second), 4)),
        (  # equal numbers of the second list get different ranks; in the next, those of the first
            "Equal numbers share the mean of the ranks",
            lambda first, second: np.corrcoef(rankdata(first), rankdata(second, "ordinal"))[0, 1],
        ),
        (
            "Equal numbers share the mean of the ranks",
            lambda first, second: np.corrcoef(rankdata(first, "ordinal"), rankdata(second))[0, 1],
        ),
    ],
    "08-threshold": [
        (  # accepts values that are up to 1e-3 below the threshold
            "*at least* the threshold",
            lambda *args: accuracy_held_out(
                *args, compare=lambda values, threshold: values >= threshold - 1e-3
            ),
        ),
        (  # tries values that are rounded to two decimals
            "one of the training values",
            lambda train_values, *rest: accuracy_held_out(
                train_values, *rest, candidates=np.round(train_values, 2)
            ),
        ),
        (  # does not try the largest value
            "one of the training values",
            lambda train_values, *rest: accuracy_held_out(
                train_values, *rest, candidates=np.unique(train_values)[:-1]
            ),
        ),
        (  # tries only values that are labelled 1
            "one of the training values",
            lambda values, labels, *test: accuracy_held_out(
                values,
                labels,
                *test,
                candidates=[value for value, label in zip(values, labels) if label],
            ),
        ),
    ],
    "08-groups": [
        (  # draws rows, and not groups; other rows for other groups
            "an interval that copies cannot narrow",
            lambda *args: interval_of_groups(
                *args,
                chosen=lambda groups, drawn: np.random.default_rng(drawn).integers(
                    len(groups), size=len(groups)
                ),
            ),
        ),
        (  # uses no more draws than there are groups, which are numbered from 0
            "as often as it was drawn",
            lambda gold, a, b, groups, draws: interval_of_groups(
                gold, a, b, groups, [drawn[: max(groups) + 1] for drawn in draws]
            ),
        ),
        (  # takes equal rows once: `dict.fromkeys` keeps the first
            "with all its rows",
            lambda gold, a, b, groups, draws: interval_of_groups(
                *zip(*dict.fromkeys(zip(gold, a, b, groups))), draws
            ),
        ),
        (  # takes equal resamples once
            "For every resample there is a difference",
            lambda gold, a, b, groups, draws: interval_of_groups(
                gold, a, b, groups, [list(drawn) for drawn in set(map(tuple, draws))]
            ),
        ),
        (
            "the low one first",
            lambda *args: interval_of_groups(*args)[::-1],
            "in the reverse order",
        ),
        (  # takes the next lower gain where a percentile lies between two
            "as `np.percentile` computes them by default",
            lambda *args: interval_of_groups(*args, method="lower"),
        ),
    ],
}
