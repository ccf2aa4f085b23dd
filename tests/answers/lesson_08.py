"""Answers to lesson 08."""

import math
import statistics

import numpy as np
import pandas as pd
import torch
from scipy.stats import rankdata, spearmanr


def spearman_by_counting(x, y):
    def ranks(column):
        return np.array(
            [sum(v < u for v in column) + (sum(v == u for v in column) + 1) / 2 for u in column]
        )

    return np.corrcoef(ranks(x), ranks(y))[0, 1]


def spearman_in_float32(x, y):
    numbers = torch.tensor([x, y])
    below = (numbers[:, :, None] > numbers[:, None]).float()
    return torch.corrcoef((below - below.transpose(1, 2)).mean(dim=2))[0, 1]


def held_out(train_values, train_labels, *test, candidates=None, compare=np.greater_equal):
    """A right answer, with places to break one sentence of the text."""
    values, labels = np.array(train_values), np.array(train_labels)
    candidates = np.unique(train_values) if candidates is None else np.unique(candidates)
    right = np.array([(compare(values, t) == labels).mean() for t in candidates])
    threshold = candidates[right.argmax()]
    return np.mean(compare(np.array(test[0]), threshold) == np.array(test[1]))


def grouped_by_loop(gold, a, b, groups, draws):
    rows_of = {group: [row for row, of in enumerate(groups) if of == group] for group in groups}
    gains = []
    for drawn in draws:
        rows = [row for group in drawn for row in rows_of[group]]
        one, other = (
            spearmanr([gold[r] for r in rows], [model[r] for r in rows]).statistic
            for model in (a, b)
        )
        gains.append(one - other)
    return [np.percentile(gains, 2.5), np.percentile(gains, 97.5)]


def grouped(gold, a, b, groups, draws, chosen=None, method="linear"):
    """A right answer, with places to break one sentence of the text."""
    gold, a, b, groups = map(np.array, (gold, a, b, groups))
    chosen = chosen or (
        lambda groups, drawn: np.concatenate([np.flatnonzero(groups == g) for g in drawn])
    )
    gains = []
    for drawn in draws:
        rows = chosen(groups, drawn)
        gains.append(
            spearman_in_float32(gold[rows], a[rows]) - spearman_in_float32(gold[rows], b[rows])
        )
    return np.percentile(gains, [2.5, 97.5], method=method)


def gain_by(spearman, interval=lambda gains: np.percentile(gains, [2.5, 97.5])):
    return lambda gold, a, b, draws: interval(
        [spearman(gold[r], a[r]) - spearman(gold[r], b[r]) for r in draws]
    )


RIGHT = {
    "08-spearman": [
        spearman_by_counting,
        spearman_in_float32,
        lambda x, y: spearmanr(x, y).statistic,
        lambda x, y: torch.tensor(spearman_by_counting(x, y)),
    ],
    "08-threshold": [
        held_out,
        lambda *args: np.array(held_out(*args)),
        lambda *args: torch.tensor(held_out(*args)),
    ],
    "08-groups": [grouped_by_loop, grouped, lambda *args: torch.tensor(grouped(*args))],
}
COMPLETED = {
    "08-paired-gain": [
        lambda gold, a, b, draws: grouped_by_loop(gold, a, b, range(len(gold)), draws),
        gain_by(spearman_in_float32),
        gain_by(
            lambda x, y: pd.Series(x).corr(pd.Series(y), method="spearman"),
            lambda gains: pd.Series(gains).quantile([0.025, 0.975]).tolist(),
        ),
    ],
    "08-inner-mask": [
        lambda mask: (
            mask * (mask.cumsum(dim=1) > 1) * (mask.cumsum(dim=1) < mask.sum(dim=1, keepdim=True))
        ),
        lambda mask: [
            [int(0 < place < sum(row) - 1) for place in range(len(row))] for row in mask.tolist()
        ],
        lambda mask: torch.nn.functional.pad(mask[:, 2:], (1, 1)),
        lambda mask: np.array([[0, *row[2:], 0] for row in mask.numpy()], dtype=float),
        lambda mask: mask.scatter(1, torch.outer(mask.sum(dim=1) - 1, torch.tensor([0, 1])), 0),
    ],
    "08-baseline": [
        lambda v, y, t: (np.mean((v >= t) == y), np.bincount(y).max() / len(y)),
        lambda v, y, t: [
            (sum(y[v >= t]) + sum(1 - y[v < t])) / len(y),
            0.5 + abs(sum(y) / len(y) - 0.5),
        ],
        lambda v, y, t: (
            sum((value >= t) == (label == 1) for value, label in zip(v.tolist(), y.tolist()))
            / len(v),
            max(map(y.tolist().count, (0, 1))) / len(y),
        ),
        lambda v, y, t: (
            torch.tensor(np.array([(v >= t) == y, y == (2 * y.sum() > len(y))])).float().mean(dim=1)
        ),
        lambda v, y, t: (
            1 - np.abs((v >= t) - y).mean(),
            1 - min((y != answer).mean() for answer in (0, 1)),
        ),
    ],
}
WRONG = {
    "08-spearman": [(lambda x, y: 100 * spearman_by_counting(x, y), "times 100")],
    "08-threshold": [(lambda *a: 1 - held_out(*a), "1 minus the right result")],
}
PROMISES = {
    "08-spearman": [
        (
            "lists of numbers",
            lambda x, y: spearman_by_counting([int(v) for v in x], [int(v) for v in y]),
        ),
        ("lists of numbers", lambda x, y: spearman_by_counting(np.round(x, 2), np.round(y, 2))),
        ("They are equally long", lambda x, y: spearman_by_counting(x, y) if len(x) > 2 else 0.0),
        ("Return a number", lambda x, y: round(spearman_by_counting(x, y), 4)),
        (
            "Equal numbers share the mean of the ranks",
            lambda x, y: np.corrcoef(rankdata(x), rankdata(y, "ordinal"))[0, 1],
        ),
        (
            "Equal numbers share the mean of the ranks",
            lambda x, y: np.corrcoef(rankdata(x, "ordinal"), rankdata(y))[0, 1],
        ),
    ],
    "08-threshold": [
        ("*at least* the threshold", lambda *a: held_out(*a, compare=lambda v, t: v >= t - 1e-3)),
        ("one of the training values", lambda *a: held_out(*a, candidates=np.round(a[0], 2))),
        ("one of the training values", lambda *a: held_out(*a, candidates=np.unique(a[0])[:-1])),
        (
            "one of the training values",
            lambda *a: held_out(*a, candidates=[t for t, label in zip(*a[:2]) if label]),
        ),
    ],
    "08-groups": [
        (
            "an interval that copies cannot narrow",
            lambda *a: grouped(
                *a, chosen=lambda g, _: np.random.default_rng(0).integers(len(g), size=len(g))
            ),
        ),
        (
            "as often as it was drawn",
            lambda *a: grouped(*a[:4], [drawn[: max(a[3]) + 1] for drawn in a[4]]),
        ),
        ("with all its rows", lambda *a: grouped(*zip(*dict.fromkeys(zip(*a[:4]))), a[4])),
        (
            "For every resample there is a difference",
            lambda *a: grouped(*a[:4], [list(drawn) for drawn in set(map(tuple, a[4]))]),
        ),
        ("the low one first", lambda *a: grouped(*a)[::-1], "in the reverse order"),
        ("as `np.percentile` computes them by default", lambda *a: grouped(*a, method="lower")),
    ],
}
