"""Answers to lesson 08."""

import math

import numpy as np
import scipy.stats
import torch


def spearman_by_counting(x, y):
    def ranks(column):
        return np.array([sum(v < u for v in column) + (sum(v == u for v in column) + 1) / 2 for u in column])

    return np.corrcoef(ranks(x), ranks(y))[0, 1]


def spearman_in_scipy(x, y):
    return scipy.stats.spearmanr(x, y)[0]


def spearman_in_plain_python(x, y):
    def ranks(column):
        ordered = sorted(column)
        return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in column]

    one, other, n = ranks(x), ranks(y), len(x)
    mean = sum(one) / n
    together = sum(p * q for p, q in zip(one, other)) / n - mean * mean
    return together / math.sqrt((sum(p * p for p in one) / n - mean**2) * (sum(q * q for q in other) / n - mean**2))


def spearman_in_float32(x, y):
    numbers = torch.tensor([x, y])
    below = (numbers[:, :, None] > numbers[:, None]).float()
    return torch.corrcoef((below - below.transpose(1, 2)).mean(dim=2))[0, 1]


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


def held_out_by_two_shares(train_values, train_labels, test_values, test_labels):
    def right(threshold, values, labels):
        shown = sum(value >= threshold and label == 1 for value, label in zip(values, labels))
        away = sum(value < threshold and label == 0 for value, label in zip(values, labels))
        return shown / len(values) + away / len(values)

    best = max(right(t, train_values, train_labels) for t in train_values)
    threshold = min(t for t in train_values if right(t, train_values, train_labels) == best)
    return right(threshold, test_values, test_labels)


def held_out_in_float32(train_values, train_labels, test_values, test_labels):
    values, labels = torch.tensor(train_values), torch.tensor(train_labels).float()
    candidates = values.sort().values
    called = (values >= candidates[:, None]).float()
    best = candidates[(1 - (called * (1 - labels)).mean(dim=1) - ((1 - called) * labels).mean(dim=1)).argmax()]
    return sum((value >= best.item()) == label for value, label in zip(test_values, test_labels)) / len(test_values)


def held_out_on_test(train_values, train_labels, test_values, test_labels):
    values, labels = np.asarray(test_values), np.asarray(test_labels)
    return max(((values >= t) == labels).mean() for t in values)


def held_out(train_values, train_labels, test_values, test_labels, candidates=None, compare=np.greater_equal):
    """A right answer, with places to break one sentence of the text."""
    values, labels = np.array(train_values), np.array(train_labels)
    candidates = np.unique(train_values) if candidates is None else np.unique(candidates)
    right = [(compare(values, t) == labels).sum() for t in candidates]
    best = candidates[np.argmax(right)]
    return np.mean(compare(np.array(test_values), best) == np.array(test_labels))


def grouped_by_loop(gold, a, b, groups, draws):
    rows_of = {}
    for row, group in enumerate(groups):
        rows_of.setdefault(group, []).append(row)
    gains = []
    for drawn in draws:
        rows = [row for group in drawn for row in rows_of[group]]
        one, other = (
            scipy.stats.spearmanr([gold[r] for r in rows], [model[r] for r in rows]).statistic for model in (a, b)
        )
        gains.append(one - other)
    return [np.percentile(gains, 2.5), np.percentile(gains, 97.5)]


def grouped_in_plain_python(gold, a, b, groups, draws):
    gains = []
    for drawn in draws:
        rows = [row for group in drawn for row, of in enumerate(groups) if of == group]
        score, one, other = ([column[row] for row in rows] for column in (gold, a, b))
        gains.append(spearman_in_plain_python(score, one) - spearman_in_plain_python(score, other))
    gains.sort()
    ends = []
    for share in (0.025, 0.975):
        place, rest = divmod(share * (len(gains) - 1), 1)
        ends.append(gains[int(place)] * (1 - rest) + gains[int(place) + 1] * rest)
    return ends


def grouped_in_float32(gold, a, b, groups, draws):
    columns, groups, gains = torch.tensor([gold, a, b]), torch.tensor(groups), []
    for drawn in draws:
        gold_, one, other = columns[:, torch.cat([(groups == g).nonzero()[:, 0] for g in drawn])].tolist()
        gains.append(spearman_in_float32(gold_, one) - spearman_in_float32(gold_, other))
    return torch.stack(gains).quantile(torch.tensor([0.025, 0.975]))


def quick_spearman(x, y):
    x, y = (np.sign(c[:, None] - c).sum(axis=1) for c in (x, y))
    return x @ y / np.sqrt((x @ x) * (y @ y))


def grouped(gold, a, b, groups, draws, chosen=None, method="linear"):
    """A right answer, with places to break one sentence of the text."""
    gold, a, b, groups = map(np.array, (gold, a, b, groups))
    chosen = chosen or (lambda groups, drawn: np.concatenate([np.flatnonzero(groups == g) for g in drawn]))
    gains = []
    for drawn in draws:
        rows = chosen(groups, drawn)
        gains.append(quick_spearman(gold[rows], a[rows]) - quick_spearman(gold[rows], b[rows]))
    return np.percentile(gains, [2.5, 97.5], method=method)


def grouped_in_blocks(groups, drawn):
    """Rows of a group taken from where it begins, as if they stood together."""
    return np.concatenate([np.flatnonzero(groups == g)[0] + np.arange((groups == g).sum()) for g in drawn]) % len(
        groups
    )


def grouped_of_one_size(groups, drawn):
    """As many rows of each group as the first one has, as if all had as many."""
    size = (groups == groups[0]).sum()
    return np.concatenate([np.resize(np.flatnonzero(groups == g), size) for g in drawn])


def held_out_by_cuts(train_values, train_labels, test_values, test_labels):
    """Sorts the training pairs, the highest value first, and cuts between two of them, also between equal values."""
    pairs = sorted(zip(train_values, train_labels), key=lambda pair: pair[0], reverse=True)
    labels = np.array([label for _, label in pairs])
    right = [labels[: k + 1].sum() + (1 - labels[k + 1 :]).sum() for k in range(len(pairs))]
    cut = max(k for k, n in enumerate(right) if n == max(right))
    return np.mean((np.array(test_values) >= pairs[cut][0]) == np.array(test_labels))


def held_out_by_cumulated_counts(train_values, train_labels, test_values, test_labels):
    """As `held_out_by_cuts`, in the order in which an unstable sort leaves equal values."""
    order = np.argsort(train_values)
    values, labels = np.array(train_values)[order], np.array(train_labels)[order]
    right = np.cumsum(1 - labels) - (1 - labels) + np.cumsum(labels[::-1])[::-1]
    return np.mean((np.array(test_values) >= values[right.argmax()]) == np.array(test_labels))


def held_out_by_a_dict(train_values, train_labels, test_values, test_labels):
    label_of = dict(zip(train_values, train_labels))
    return held_out(list(label_of), list(label_of.values()), test_values, test_labels)


def held_out_if_better(train_values, train_labels, test_values, test_labels, best):
    """Keeps a candidate that is right more often than the best so far, from `best` on."""
    threshold = min(train_values)
    for candidate in sorted(train_values):
        right = np.mean((np.array(train_values) >= candidate) == np.array(train_labels))
        if right > best:
            best, threshold = right, candidate
    return np.mean((np.array(test_values) >= threshold) == np.array(test_labels))


def held_out_either_way(train_values, train_labels, test_values, test_labels):
    """Takes a threshold that is nearly always wrong for as good as one that is nearly always right."""
    values, labels = np.array(train_values), np.array(train_labels)
    right = [((values >= t) == labels).mean() for t in sorted(train_values)]
    threshold = sorted(train_values)[int(np.argmax([max(r, 1 - r) for r in right]))]
    return np.mean((np.array(test_values) >= threshold) == np.array(test_labels))


def ties_shared_in_the_first_column_only(x, y):
    return np.corrcoef(scipy.stats.rankdata(x), scipy.stats.rankdata(y, "ordinal"))[0, 1]


RIGHT = {
    "08-spearman": [
        spearman_by_counting,
        spearman_in_plain_python,
        spearman_in_float32,
        lambda x, y: torch.tensor(spearman_by_counting(x, y)),
    ],
    "08-threshold": [
        held_out_by_loop,
        held_out,
        held_out_by_two_shares,
        held_out_in_float32,
        lambda *args: torch.tensor(held_out(*args)),
    ],
    "08-groups": [
        grouped_by_loop,
        grouped,
        grouped_in_plain_python,
        grouped_in_float32,
        lambda *args: torch.tensor(grouped(*args)),
    ],
}
WRONG = {
    "08-spearman": [(spearman_pearson, "Pearson's correlation of the numbers themselves")],
    "08-threshold": [(held_out_on_test, "choose the threshold on the test pairs")],
}
PROMISES = {
    "08-spearman": [
        ("lists of numbers", lambda x, y: spearman_by_counting([int(v) for v in x], [int(v) for v in y])),
        ("lists of numbers", lambda x, y: spearman_by_counting(np.round(x, 2), np.round(y, 2))),
        ("They are equally long", lambda x, y: spearman_in_scipy(x, y) if len(x) > 2 else 0.0),
        ("Return a number", lambda x, y: np.corrcoef(scipy.stats.rankdata(x), scipy.stats.rankdata(y))),
        ("Equal numbers share the mean of the ranks", ties_shared_in_the_first_column_only),
        ("Equal numbers share the mean of the ranks", lambda x, y: ties_shared_in_the_first_column_only(y, x)),
    ],
    "08-threshold": [
        ("*at least* the threshold", lambda *a: held_out(*a, compare=lambda v, t: v >= t - 1e-3)),
        ("one of the training values", lambda *a: held_out(*a, candidates=np.round(a[0], 2))),
        ("with which most *training* pairs are right", lambda *a: held_out_if_better(*a, best=0.5)),
        ("with which most *training* pairs are right", held_out_either_way),
        ("one of the training values", lambda *a: held_out(*a, candidates=np.unique(a[0])[:-1])),
        ("one of the training values", lambda *a: held_out(*a, candidates=np.unique(a[0])[1:])),
        ("one of the training values", lambda *a: held_out(*a, candidates=[t for t in a[0] if a[0].count(t) == 1])),
        ("one of the training values", lambda *a: held_out(*a, candidates=sorted({*a[0]} & {*a[2]}) or a[0])),
        ("with which most *training* pairs are right", lambda *a: held_out_by_a_dict(a[0][::-1], a[1][::-1], *a[2:])),
        ("with which most *training* pairs are right", held_out_by_cumulated_counts),
        ("with which most *training* pairs are right", held_out_by_cuts),
    ],
    "08-groups": [
        (
            "an interval that copies cannot narrow",
            lambda *a: grouped(*a, chosen=lambda g, _: np.random.default_rng(0).integers(len(g), size=len(g))),
        ),
        ("they may have different sizes", lambda *a: grouped(*a, chosen=grouped_of_one_size)),
        ("their rows need not stand together", lambda *a: grouped(*a, chosen=grouped_in_blocks)),
        ("as often as it was drawn", lambda *a: grouped(*a[:4], [drawn[: max(a[3]) + 1] for drawn in a[4]])),
        (
            "For every resample there is a difference",
            lambda *a: grouped(*a[:4], [list(drawn) for drawn in set(map(tuple, a[4]))]),
        ),
        ("as `np.percentile` computes them by default", lambda *a: grouped(*a, method="lower")),
    ],
}
