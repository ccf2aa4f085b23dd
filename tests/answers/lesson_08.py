"""Answers to lesson 08; `__init__.py` says what the tables are."""

import numpy as np
import pandas as pd
import torch
from scipy.stats import rankdata, spearmanr


def spearman_by_counting(first, second):
    def ranks(column):
        return np.array(
            [
                sum(other < value for other in column)
                + (sum(other == value for other in column) + 1) / 2
                for value in column
            ]
        )

    return np.corrcoef(ranks(first), ranks(second))[0, 1]


def spearman_in_float32(first, second):
    numbers = torch.tensor([first, second])
    below = (numbers[:, :, None] > numbers[:, None]).float()
    return torch.corrcoef((below - below.transpose(1, 2)).mean(dim=2))[0, 1]


def spearman_of_scipy(first, second):
    return spearmanr(first, second).statistic


# A right answer; each keyword breaks one sentence of the text.
def held_out(
    train_values,
    train_labels,
    test_values,
    test_labels,
    *,
    candidates=None,
    compare=np.greater_equal,
):
    values, labels = np.array(train_values), np.array(train_labels)
    candidates = np.unique(train_values) if candidates is None else np.unique(candidates)
    right = np.array([(compare(values, candidate) == labels).mean() for candidate in candidates])
    threshold = candidates[right.argmax()]
    return np.mean(compare(np.array(test_values), threshold) == np.array(test_labels))


# A right answer. `chosen` (the rows of one resample) and `method` (as in np.percentile) break one
# sentence of the text each; `spearman` computes the same correlation in another way.
def grouped(
    gold, a, b, groups, draws, *, chosen=None, method="linear", spearman=spearman_in_float32
):
    gold, a, b, groups = map(np.array, (gold, a, b, groups))
    chosen = chosen or (
        lambda groups, drawn: np.concatenate([np.flatnonzero(groups == group) for group in drawn])
    )
    gains = []
    for drawn in draws:
        rows = chosen(groups, drawn)
        gains.append(spearman(gold[rows], a[rows]) - spearman(gold[rows], b[rows]))
    return np.percentile(gains, [2.5, 97.5], method=method)


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
        held_out,
        lambda values, labels, *test: held_out(np.float32(values), labels, *test),
        lambda *args: torch.tensor(held_out(*args)),
    ],
    "08-groups": [
        lambda *args: grouped(*args, spearman=spearman_of_scipy).tolist(),
        grouped,
        lambda *args: torch.tensor(grouped(*args)),
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
        # without the first two, one place to the right
        lambda mask: torch.nn.functional.pad(mask[:, 2:], (1, 1)),
        lambda mask: np.array([[0, *row[2:], 0] for row in mask.numpy()], dtype=float),
        # 0 in the last and in the first place
        lambda mask: mask.scatter(1, torch.outer(mask.sum(dim=1) - 1, torch.tensor([0, 1])), 0),
    ],
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
        # both as the rows of one table
        lambda values, labels, threshold: (
            torch.tensor(
                np.array(
                    [(values >= threshold) == labels, labels == (2 * labels.sum() > len(labels))]
                )
            )
            .float()
            .mean(dim=1)
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
    "08-threshold": [(lambda *args: 1 - held_out(*args), "1 minus the right result")],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "08-spearman": [
        (  # cuts decimals off
            "lists of numbers",
            lambda first, second: spearman_by_counting(
                [int(number) for number in first], [int(number) for number in second]
            ),
        ),
        (
            "lists of numbers",
            lambda first, second: spearman_by_counting(np.round(first, 2), np.round(second, 2)),
        ),
        (  # gives up where there are two numbers
            "They are equally long",
            lambda first, second: spearman_by_counting(first, second) if len(first) > 2 else 0.0,
        ),
        ("Return a number", lambda first, second: round(spearman_by_counting(first, second), 4)),
        (  # equal numbers of one list get different ranks
            "Equal numbers share the mean of the ranks",
            lambda first, second: np.corrcoef(rankdata(first), rankdata(second, "ordinal"))[0, 1],
        ),
        (
            "Equal numbers share the mean of the ranks",
            lambda first, second: np.corrcoef(rankdata(first, "ordinal"), rankdata(second))[0, 1],
        ),
    ],
    "08-threshold": [
        (  # accepts a little less
            "*at least* the threshold",
            lambda *args: held_out(
                *args, compare=lambda values, threshold: values >= threshold - 1e-3
            ),
        ),
        (  # tries rounded values
            "one of the training values",
            lambda train_values, *rest: held_out(
                train_values, *rest, candidates=np.round(train_values, 2)
            ),
        ),
        (  # does not try the largest value
            "one of the training values",
            lambda train_values, *rest: held_out(
                train_values, *rest, candidates=np.unique(train_values)[:-1]
            ),
        ),
        (  # tries only values that are labelled 1
            "one of the training values",
            lambda values, labels, *test: held_out(
                values,
                labels,
                *test,
                candidates=[value for value, label in zip(values, labels) if label],
            ),
        ),
    ],
    "08-groups": [
        (  # draws rows, and not groups
            "an interval that copies cannot narrow",
            lambda *args: grouped(
                *args,
                chosen=lambda groups, _: np.random.default_rng(0).integers(
                    len(groups), size=len(groups)
                ),
            ),
        ),
        (  # takes no more draws than there are groups
            "as often as it was drawn",
            lambda gold, a, b, groups, draws: grouped(
                gold, a, b, groups, [drawn[: max(groups) + 1] for drawn in draws]
            ),
        ),
        (  # equal rows are taken once
            "with all its rows",
            lambda gold, a, b, groups, draws: grouped(
                *zip(*dict.fromkeys(zip(gold, a, b, groups))), draws
            ),
        ),
        (  # equal resamples are taken once
            "For every resample there is a difference",
            lambda gold, a, b, groups, draws: grouped(
                gold, a, b, groups, [list(drawn) for drawn in set(map(tuple, draws))]
            ),
        ),
        ("the low one first", lambda *args: grouped(*args)[::-1], "in the reverse order"),
        (
            "as `np.percentile` computes them by default",
            lambda *args: grouped(*args, method="lower"),
        ),
    ],
}
