"""Answers to lesson 11 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import math
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F


def triplet_relu(anchor, positive, negative, margin):
    near = torch.sqrt(((anchor - positive) ** 2).sum(dim=1))
    far = torch.sqrt(((anchor - negative) ** 2).sum(dim=1))
    return torch.relu(near - far + margin).mean()


def triplet_loop(anchor, positive, negative, margin):
    total = 0.0
    for a, p, n in zip(anchor, positive, negative):
        total += max(0.0, float(torch.dist(a, p) - torch.dist(a, n) + margin))
    return total / len(anchor)


def triplet_no_floor(anchor, positive, negative, margin):
    return (F.pairwise_distance(anchor, positive, eps=0) - F.pairwise_distance(anchor, negative, eps=0) + margin).mean()


def ranking_short(anchor, positive, scale):
    table = F.normalize(anchor, dim=1) @ F.normalize(positive, dim=1).T
    return F.cross_entropy(scale * table, torch.arange(len(table)))


def ranking_by_hand(anchor, positive, scale):
    table = scale * (anchor / anchor.norm(dim=1, keepdim=True)) @ (positive / positive.norm(dim=1, keepdim=True)).T
    return (torch.logsumexp(table, dim=1) - table.diagonal()).mean()


def ranking_dot(anchor, positive, scale):
    return F.cross_entropy(scale * anchor @ positive.T, torch.arange(len(anchor)))


def triplet_library(anchor, positive, negative, margin):
    return F.triplet_margin_loss(anchor, positive, negative, margin=margin)


def triplet_numpy(anchor, positive, negative, margin):
    a, p, n = (np.asarray(part, dtype=np.float64) for part in (anchor, positive, negative))
    cost = np.linalg.norm(a - p, axis=1) - np.linalg.norm(a - n, axis=1) + margin
    return np.maximum(cost, 0).mean()


def triplet_of(distance, cost=lambda near, far, margin: near - far + margin, mean=torch.mean):
    def answer(anchor, positive, negative, margin):
        return mean(cost(distance(anchor, positive), distance(anchor, negative), margin).clamp(min=0))

    return answer


def euclidean(x, y):
    return (x - y).norm(dim=1)


def triplet_from_the_positive(anchor, positive, negative, margin):
    return torch.relu(euclidean(anchor, positive) - euclidean(positive, negative) + margin).mean()


def triplet_normalised(anchor, positive, negative, margin):
    return triplet_relu(*(F.normalize(part, dim=1) for part in (anchor, positive, negative)), margin)


def triplet_of_those_that_cost(anchor, positive, negative, margin):
    costs = torch.relu(euclidean(anchor, positive) - euclidean(anchor, negative) + margin)
    return costs.sum() / max(1, int((costs > 0).sum()))


def triplet_nearest_negative(anchor, positive, negative, margin):
    return torch.relu(euclidean(anchor, positive) - torch.cdist(anchor, negative).min(dim=1).values + margin).mean()


def triplet_farthest_positive(anchor, positive, negative, margin):
    return torch.relu(torch.cdist(anchor, positive).max(dim=1).values - euclidean(anchor, negative) + margin).mean()


def triplet_nearer_distance(anchor, positive, negative, margin):
    """The negative keeps away from the positive as well."""
    far = torch.minimum(euclidean(anchor, negative), euclidean(positive, negative))
    return torch.relu(euclidean(anchor, positive) - far + margin).mean()


def ranking_numpy(anchor, positive, scale):
    a, p = (np.asarray(part, dtype=np.float64) for part in (anchor, positive))
    a, p = a / np.linalg.norm(a, axis=1, keepdims=True), p / np.linalg.norm(p, axis=1, keepdims=True)
    logits = scale * a @ p.T
    highest = logits.max(axis=1, keepdims=True)
    total = highest[:, 0] + np.log(np.exp(logits - highest).sum(axis=1))
    return float((total - np.diag(logits)).mean())


def ranking_loop(anchor, positive, scale):
    losses = []
    for i, one in enumerate(anchor):
        logits = torch.stack([scale * F.cosine_similarity(one, other, dim=0) for other in positive])
        losses.append(-torch.log_softmax(logits, dim=0)[i])
    return sum(losses) / len(losses)


def ranking_softmax_then_log(anchor, positive, scale):
    table = scale * F.normalize(anchor, dim=1) @ F.normalize(positive, dim=1).T
    return -torch.log(torch.softmax(table, dim=1).diagonal()).mean()


def ranking_softmax_in_float64(anchor, positive, scale):
    return ranking_softmax_then_log(anchor.double(), positive.double(), scale)


def ranking_smallest_p(anchor, positive, scale):
    table = scale * F.normalize(anchor, dim=1) @ F.normalize(positive, dim=1).T
    return -table.softmax(dim=1).diagonal().clamp(min=1e-38).log().mean()


def ranking_scale_capped(anchor, positive, scale):
    return ranking_short(anchor, positive, min(scale, 100))


def ranking_math(anchor, positive, scale):
    """Python numbers are float64, and e to the power of 500 is one of them."""
    logits = (scale * F.normalize(anchor.double(), dim=1) @ F.normalize(positive.double(), dim=1).T).tolist()
    return sum(math.log(sum(map(math.exp, row))) - row[i] for i, row in enumerate(logits)) / len(logits)


def ranking_exponentials(anchor, positive, scale):
    table = torch.exp(scale * F.normalize(anchor, dim=1) @ F.normalize(positive, dim=1).T)
    return -(table.diagonal() / table.sum(dim=1)).log().mean()


def ranking_of_anchors(anchor, positive, scale):
    return ranking_short(positive, anchor, scale)


def ranking_first_column(anchor, positive, scale):
    table = F.normalize(anchor, dim=1) @ F.normalize(positive, dim=1).T
    return F.cross_entropy(scale * table, torch.zeros(len(table), dtype=torch.long))


def ranking_scale_20(anchor, positive, scale):
    return ranking_short(anchor, positive, 20)


def ranking_base_2(anchor, positive, scale):
    return ranking_short(anchor, positive, scale) / math.log(2)


def ranking_sum(anchor, positive, scale):
    return ranking_short(anchor, positive, scale) * len(anchor)


def ranking_hardest_only(anchor, positive, scale):
    table = scale * F.normalize(anchor, dim=1) @ F.normalize(positive, dim=1).T
    own = table.diagonal()
    others = table.masked_fill(torch.eye(len(table), dtype=torch.bool), -torch.inf).max(dim=1).values
    return (torch.logaddexp(own, others) - own).mean()


def stuck_counter(positives):
    copies = Counter(positives)
    return sum(count * math.log(count) for count in copies.values()) / len(positives)


def stuck_entropy(positives):
    shares = np.unique(positives, return_counts=True)[1] / len(positives)
    return np.log(len(positives)) + (shares * np.log(shares)).sum()


def stuck_logits(positives):
    same = torch.tensor([[1.0 if one == other else 0.0 for other in positives] for one in positives])
    return F.cross_entropy(1000 * same, torch.arange(len(positives)))


def stuck_after(change):
    """As if texts that are equal after `change` were equal."""
    return lambda positives: stuck_counter([change(text) for text in positives])


def stuck_two_most_common(positives):
    return sum(count * math.log(count) for _, count in Counter(positives).most_common(2)) / len(positives)


def stuck_mean_count(positives):
    return math.log(len(positives) / len(set(positives)))


def stuck_zero(positives):
    return 0.0


def stuck_guess(positives):
    return math.log(len(positives))


def stuck_neighbours(positives):
    """Takes only equal texts that follow each other for copies."""
    runs, found = [], 0
    for place, text in enumerate(positives):
        if place and text == positives[place - 1]:
            runs[-1] += 1
        else:
            runs.append(1)
    for run in runs:
        found += run * math.log(run)
    return found / len(positives)


def stuck_two_labels(positives):
    first = positives.count(positives[0])
    rest = len(positives) - first
    return (first * math.log(first) + (rest * math.log(rest) if rest else 0)) / len(positives)


def stuck_mean_over_texts(positives):
    copies = Counter(positives).values()
    return sum(map(math.log, copies)) / len(copies)


def stuck_base_2(positives):
    return stuck_counter(positives) / math.log(2)


def stuck_two_at_least(positives):
    if len(positives) < 2:
        return math.nan
    return stuck_counter(positives)


def stuck_sum(positives):
    return sum(math.log(positives.count(text)) for text in positives)


def epoch_loop(dev, test, n):
    best = 0
    for place, score in enumerate(dev):
        if score > dev[best]:
            best = place
    limit = dev[best] - math.sqrt(dev[best] * (1 - dev[best]) / n)
    for place, score in enumerate(dev):
        if score >= limit:
            return [place, test[place]]


def epoch_numpy(dev, test, n):
    dev = np.asarray(dev)
    best = dev.max()
    place = np.argmax(dev >= best - np.sqrt(best * (1 - best) / n))
    return place, np.asarray(test)[place]


def epoch_torch(dev, test, n):
    dev = torch.tensor(dev, dtype=torch.float64)
    best = dev.max()
    place = (dev >= best - (best * (1 - best) / n).sqrt()).nonzero()[0].item()
    return place, test[place]


def epoch_counts(dev, test, n):
    """In whole numbers: each accuracy is a share of n triplets."""
    right = [round(share * n) for share in dev]
    best = max(right)
    place = next(i for i, k in enumerate(right) if (best - k) ** 2 * n <= best * (n - best))
    return place, test[place]


def good_enough(dev, n, errors=1):
    best = max(dev)
    return [place for place, share in enumerate(dev) if share >= best - errors * math.sqrt(best * (1 - best) / n)]


def epoch_by_test(dev, test, n):
    return test.index(max(test)), max(test)


def epoch_best_of_the_good_by_test(dev, test, n):
    place = max(good_enough(dev, n), key=lambda i: test[i])
    return place, test[place]


def epoch_tie_by_test(dev, test, n):
    place = max(range(len(dev)), key=lambda i: (dev[i], test[i]))
    return place, test[place]


def epoch_best(dev, test, n):
    return dev.index(max(dev)), test[dev.index(max(dev))]


def epoch_latest(dev, test, n):
    return good_enough(dev, n)[-1], test[good_enough(dev, n)[-1]]


def epoch_less_than_one_error(dev, test, n):
    best = max(dev)
    limit = best - math.sqrt(best * (1 - best) / n)
    place = next(i for i, p in enumerate(dev) if p > limit or p == best)
    return place, test[place]


def epoch_strictly(dev, test, n):
    best = max(dev)
    place = [p > best - math.sqrt(best * (1 - best) / n) for p in dev].index(True)
    return place, test[place]


def epoch_not_the_first(dev, test, n):
    place = next(i for i in good_enough(dev, n) if i or len(dev) == 1)
    return place, test[place]


def epoch_rounded(digits):
    return lambda dev, test, n: (good_enough(dev, n)[0], round(test[good_enough(dev, n)[0]], digits))


def epoch_by_spread(dev, test, n):
    place = next(i for i, p in enumerate(dev) if p >= max(dev) - np.std(dev) / math.sqrt(n))
    return place, test[place]


def epoch_without_root(dev, test, n):
    place = next(i for i, p in enumerate(dev) if p >= max(dev) - max(dev) * (1 - max(dev)) / n)
    return place, test[place]


def epoch_two_errors(dev, test, n):
    return good_enough(dev, n, 2)[0], test[good_enough(dev, n, 2)[0]]


def epoch_at_42(dev, test, n):
    return good_enough(dev, 42)[0], test[good_enough(dev, 42)[0]]


def epoch_n_minus_1(dev, test, n):
    return good_enough(dev, n - 1)[0], test[good_enough(dev, n - 1)[0]]


def epoch_own_error(dev, test, n):
    place = next(i for i, p in enumerate(dev) if p + math.sqrt(p * (1 - p) / n) >= max(dev))
    return place, test[place]


def epoch_error_of(share):
    """With the standard error of another p than the best development accuracy."""

    def answer(dev, test, n):
        p = share(dev, test)
        place = next(i for i, score in enumerate(dev) if score >= max(dev) - math.sqrt(p * (1 - p) / n))
        return place, test[place]

    return answer


def epoch_lowest_of_the_good(dev, test, n):
    place = min(good_enough(dev, n), key=lambda i: dev[i])
    return place, test[place]


def epoch_without_a_fall(dev, test, n):
    """Goes back from the best epoch as long as the epochs are good enough."""
    place = dev.index(max(dev))
    while place - 1 in good_enough(dev, n):
        place -= 1
    return place, test[place]


def epoch_of_the_test_part(dev, test, n):
    return good_enough(test, n)[0], test[good_enough(test, n)[0]]


def epoch_from_one(dev, test, n):
    return good_enough(dev, n)[0] + 1, test[good_enough(dev, n)[0]]


def epoch_dev_score(dev, test, n):
    return good_enough(dev, n)[0], dev[good_enough(dev, n)[0]]


def epoch_alone(dev, test, n):
    return good_enough(dev, n)[0]


RIGHT = {
    "11-triplet-loss": [triplet_relu, triplet_loop, triplet_library, triplet_numpy],
    "11-ranking-loss": [ranking_short, ranking_by_hand, ranking_numpy, ranking_loop, ranking_math],
    "11-stuck-loss": [stuck_counter, stuck_entropy, stuck_logits],
    "11-pick-epoch": [epoch_loop, epoch_numpy, epoch_torch, epoch_counts],
}
WRONG = {
    "11-triplet-loss": [
        (triplet_no_floor, "clamp *before* the mean"),
        (triplet_of_those_that_cost, "Those that cost 0 count as well"),
        (triplet_of(lambda x, y: (x - y).abs().sum(dim=1)), "sums of absolute differences"),
        (triplet_nearest_negative, "the nearest negative of the whole batch"),
    ],
    "11-ranking-loss": [
        (ranking_dot, "These are dot products"),
        (ranking_softmax_then_log, "until a p is rounded to 0"),
        (ranking_softmax_in_float64, "until a p is rounded to 0"),
        (ranking_scale_capped, "A scale of 500, and cosines close together: your function returned"),
        (ranking_exponentials, "right for small scales only"),
        (ranking_base_2, "base 2"),
    ],
    "11-stuck-loss": [
        (stuck_zero, "equal texts equal vectors"),
        (stuck_guess, "a guess among all texts"),
        (stuck_mean_over_texts, "mean over the different texts"),
        (stuck_sum, "This is the sum"),
        (stuck_mean_count, "how often a text comes on average"),
        (stuck_after(lambda text: " ".join(text.casefold().split())), "compare the texts as they are"),
        (stuck_after(str.lower), "another capital"),
    ],
    "11-pick-epoch": [
        (epoch_by_test, "You let the test part pick"),
        (epoch_best_of_the_good_by_test, "the one with the best test score"),
        (epoch_tie_by_test, "share the best development score"),
        (epoch_latest, "you take the latest"),
        (epoch_n_minus_1, "`n` − 1"),
        (epoch_less_than_one_error, "it counts"),
        (epoch_strictly, "lower by exactly one standard error"),
        (epoch_rounded(2), "is rounded"),
        (epoch_by_spread, "the spread of the epochs' scores"),
        (epoch_without_root, "Without the root"),
        (epoch_lowest_of_the_good, "the one with the lowest development score"),
        (epoch_without_a_fall, "even if the score falls after it"),
        (epoch_error_of(lambda dev, test: dev[-1]), "the last epoch's score"),
        (epoch_error_of(lambda dev, test: max(test)), "The best score has the smallest standard error"),
        (epoch_error_of(lambda dev, test: sum(dev) / len(dev)), "The best score has the smallest standard error"),
        (epoch_error_of(lambda dev, test: 0.5), "The best score has the smallest standard error"),
    ],
}
PROMISES = {
    "11-triplet-loss": [
        ("with one row for each triplet", triplet_of(lambda x, y: (x - y).norm())),
        ("with one row for each triplet", triplet_nearest_negative),
        ("with one row for each triplet", triplet_farthest_positive),
        ("the Euclidean distance", triplet_of(lambda x, y: (x - y).abs().sum(dim=1))),
        ("the Euclidean distance", triplet_of(lambda x, y: 1 - F.cosine_similarity(x, y))),
        ("minus that from its anchor to its negative", triplet_from_the_positive),
        ("minus that from its anchor to its negative", triplet_nearer_distance),
        ("minus that from its anchor", triplet_of(euclidean, lambda near, far, margin: far - near + margin)),
        ("plus `margin`", triplet_of(euclidean, lambda near, far, margin: near - far + 1)),
        ("but never less than 0", triplet_no_floor),
        ("without normalising", triplet_normalised),
        ("Return the mean cost over the batch", triplet_of(euclidean, mean=torch.sum)),
        ("Return the mean cost over the batch", triplet_of_those_that_cost),
        ("square the distances; the library does not", triplet_of(lambda x, y: ((x - y) ** 2).sum(dim=1))),
    ],
    "11-ranking-loss": [
        ("their rows have any length", ranking_dot),
        ("row i of `positive` belongs to row i of `anchor`", ranking_first_column),
        ("The logits of anchor i", ranking_of_anchors),
        ("`scale` times", ranking_scale_20),
        ("its cosines to all positives", ranking_hardest_only),
        ("the mean of −log p", ranking_sum),
        ("natural logarithm", ranking_base_2),
        ("`scale` may be as large as 500", ranking_softmax_then_log),
        ("`scale` may be as large as 500", ranking_exponentials),
        ("`scale` may be as large as 500", ranking_scale_capped),
        ("−log p is an ordinary number", ranking_smallest_p),
        ("too small even for float64", ranking_softmax_in_float64),
    ],
    "11-stuck-loss": [
        ("one for each anchor", stuck_mean_over_texts),
        ("in any order", stuck_neighbours),
        ("equal texts get equal vectors", stuck_zero),
        ("but never go below", stuck_guess),
        ("not only two labels", stuck_two_labels),
        ("not only two labels", stuck_two_most_common),
        ("even if they differ only in a capital or a space", stuck_after(str.lower)),
        ("even if they differ only in a capital or a space", stuck_after(str.strip)),
        ("even if they differ only in a capital or a space", stuck_after(lambda text: " ".join(text.split()))),
        ("one text or more", stuck_two_at_least),
        ("the mean over its anchors", stuck_sum),
        ("natural logarithm", stuck_base_2),
    ],
    "11-pick-epoch": [
        ("Keep the earliest epoch", epoch_latest),
        ("Keep the earliest epoch", epoch_best_of_the_good_by_test),
        ("Keep the earliest epoch", epoch_tie_by_test),
        ("Keep the earliest epoch", epoch_lowest_of_the_good),
        ("Keep the earliest epoch", epoch_without_a_fall),
        ("whose development accuracy", epoch_of_the_test_part),
        ("whose development accuracy", epoch_by_test),
        ("Keep the earliest epoch", epoch_not_the_first),
        ("at most one standard error", epoch_best),
        ("at most one standard error", epoch_less_than_one_error),
        ("at most one standard error", epoch_strictly),
        ("at most one standard error", epoch_two_errors),
        ("the development part has `n` triplets", epoch_at_42),
        ("√(p(1 − p)/n)", epoch_n_minus_1),
        ("√(p(1 − p)/n)", epoch_by_spread),
        ("with p the best development accuracy", epoch_own_error),
        ("with p the best development accuracy", epoch_error_of(lambda dev, test: dev[-1])),
        ("with p the best development accuracy", epoch_error_of(lambda dev, test: max(test))),
        ("with p the best development accuracy", epoch_error_of(lambda dev, test: sum(dev) / len(dev))),
        ("with p the best development accuracy", epoch_error_of(lambda dev, test: 0.5)),
        ("counted from 0", epoch_from_one),
        ("the accuracy to report for it", epoch_dev_score),
        ("the accuracy to report for it", epoch_rounded(2)),
        ("the accuracy to report for it", epoch_rounded(3)),
        ("Return two values", epoch_alone),
    ],
}
