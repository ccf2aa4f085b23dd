"""Answers to lesson 11 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

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


def triplet_floor_last(anchor, positive, negative, margin):
    return torch.relu(triplet_no_floor(anchor, positive, negative, margin))


def triplet_no_margin(anchor, positive, negative, margin):
    return torch.relu((anchor - positive).norm(dim=1) - (anchor - negative).norm(dim=1)).mean()


def triplet_margin_minus(anchor, positive, negative, margin):
    return torch.relu((anchor - positive).norm(dim=1) - (anchor - negative).norm(dim=1) - margin).mean()


def triplet_exchanged(anchor, positive, negative, margin):
    return triplet_relu(anchor, negative, positive, margin)


def triplet_squared(anchor, positive, negative, margin):
    return torch.relu(((anchor - positive) ** 2).sum(1) - ((anchor - negative) ** 2).sum(1) + margin).mean()


def triplet_sum(anchor, positive, negative, margin):
    return torch.relu((anchor - positive).norm(dim=1) - (anchor - negative).norm(dim=1) + margin).sum()


def triplet_cosine(anchor, positive, negative, margin):
    near = 1 - F.cosine_similarity(anchor, positive)
    far = 1 - F.cosine_similarity(anchor, negative)
    return torch.relu(near - far + margin).mean()


def triplet_rows(anchor, positive, negative, margin):
    return torch.relu((anchor - positive).norm(dim=1) - (anchor - negative).norm(dim=1) + margin)


def ranking_short(anchor, positive, scale):
    table = F.normalize(anchor, dim=1) @ F.normalize(positive, dim=1).T
    return F.cross_entropy(scale * table, torch.arange(len(table)))


def ranking_by_hand(anchor, positive, scale):
    table = scale * (anchor / anchor.norm(dim=1, keepdim=True)) @ (positive / positive.norm(dim=1, keepdim=True)).T
    return (torch.logsumexp(table, dim=1) - table.diagonal()).mean()


def ranking_dot(anchor, positive, scale):
    return F.cross_entropy(scale * anchor @ positive.T, torch.arange(len(anchor)))


def ranking_half(anchor, positive, scale):
    return F.cross_entropy(scale * F.normalize(anchor) @ positive.T, torch.arange(len(anchor)))


def ranking_no_scale(anchor, positive, scale):
    return ranking_short(anchor, positive, 1)


def ranking_divided(anchor, positive, scale):
    return ranking_short(anchor, positive, 1 / scale)


def ranking_columns(anchor, positive, scale):
    table = scale * F.normalize(anchor) @ F.normalize(positive).T
    return -torch.log_softmax(table, dim=0).diagonal().mean()


def ranking_sum(anchor, positive, scale):
    return ranking_by_hand(anchor, positive, scale) * len(anchor)


def ranking_zeros(anchor, positive, scale):
    table = scale * F.normalize(anchor) @ F.normalize(positive).T
    return F.cross_entropy(table, torch.zeros(len(table)).long())


def ranking_probability(anchor, positive, scale):
    return torch.softmax(scale * F.normalize(anchor) @ F.normalize(positive).T, dim=1).diag().mean()


def ranking_sign(anchor, positive, scale):
    return torch.log_softmax(scale * F.normalize(anchor) @ F.normalize(positive).T, dim=1).diag().mean()


def pairs_loop(rows):
    found = []
    for premise, hypothesis, label in rows:
        if label == "entailment":
            found.append((premise, hypothesis))
    return found


def pairs_short(rows):
    return [row[:2] for row in rows if row[2].startswith("entail")]


def pairs_not_neutral(rows):
    return [(a, b) for a, b, label in rows if label != "neutral"]


def pairs_all(rows):
    return [(a, b) for a, b, _ in rows]


def pairs_not_contradiction(rows):
    return [(a, b) for a, b, label in rows if label != "contradiction"]


def pairs_inverted(rows):
    return [(a, b) for a, b, label in rows if label != "entailment"]


def pairs_with_label(rows):
    return [row for row in rows if row[2] == "entailment"]


def pairs_turned(rows):
    return [(b, a) for a, b, label in rows if label == "entailment"]


def epoch_index(dev, test):
    place = dev.index(max(dev))
    return place, test[place]


def epoch_loop(dev, test):
    best = 0
    for place, score in enumerate(dev):
        if score > dev[best]:
            best = place
    return [best, test[best]]


def epoch_by_test(dev, test):
    return test.index(max(test)), max(test)


def epoch_highest_test(dev, test):
    return dev.index(max(dev)), max(test)


def epoch_dev_score(dev, test):
    return dev.index(max(dev)), max(dev)


def epoch_last(dev, test):
    return len(test) - 1, test[-1]


def epoch_later(dev, test):
    best = 0
    for place, score in enumerate(dev):
        if score >= dev[best]:
            best = place
    return best, test[best]


def epoch_from_one(dev, test):
    place = dev.index(max(dev))
    return place + 1, test[place]


def triplet_columns(anchor, positive, negative, margin):
    return torch.relu((anchor - positive).norm(dim=0) - (anchor - negative).norm(dim=0) + margin).mean()


def triplet_every(anchor, positive, negative, margin):
    return torch.relu(torch.cdist(anchor, positive) - torch.cdist(anchor, negative) + margin).mean()


def triplet_normalised(anchor, positive, negative, margin):
    a, p, n = (torch.nn.functional.normalize(x, dim=1) for x in (anchor, positive, negative))
    return torch.relu((a - p).norm(dim=1) - (a - n).norm(dim=1) + margin).mean()


def triplet_margin_one(anchor, positive, negative, margin):
    return torch.nn.functional.triplet_margin_loss(anchor, positive, negative, margin=1.0, eps=0)


def ranking_softmax_twice(anchor, positive, scale):
    table = scale * torch.nn.functional.normalize(anchor, dim=1) @ torch.nn.functional.normalize(positive, dim=1).T
    return torch.nn.functional.cross_entropy(table.softmax(dim=1), torch.arange(len(table)))


def ranking_log_of_mean(anchor, positive, scale):
    table = scale * torch.nn.functional.normalize(anchor, dim=1) @ torch.nn.functional.normalize(positive, dim=1).T
    return -torch.log(table.softmax(dim=1).diagonal().mean())


def ranking_whole_table(anchor, positive, scale):
    table = scale * torch.nn.functional.normalize(anchor, dim=1) @ torch.nn.functional.normalize(positive, dim=1).T
    return -torch.log(table.softmax(dim=1)).mean()


def ranking_normalised_columns(anchor, positive, scale):
    table = scale * torch.nn.functional.normalize(anchor, dim=0) @ torch.nn.functional.normalize(positive, dim=0).T
    return torch.nn.functional.cross_entropy(table, torch.arange(len(table)))


def ranking_twenty(anchor, positive, scale):
    table = 20 * torch.nn.functional.normalize(anchor, dim=1) @ torch.nn.functional.normalize(positive, dim=1).T
    return torch.nn.functional.cross_entropy(table, torch.arange(len(table)))


def epoch_first_fall(dev, test):
    for i in range(len(dev) - 1):
        if dev[i + 1] < dev[i]:
            return i, test[i]
    return len(dev) - 1, test[-1]


RIGHT = {
    "11-triplet-loss": [triplet_relu, triplet_loop],
    "11-ranking-loss": [ranking_short, ranking_by_hand],
    "11-find-the-bug": [pairs_loop, pairs_short],
    "11-pick-epoch": [epoch_index, epoch_loop],
}
WRONG = {
    "11-triplet-loss": [
        (triplet_no_floor, "clamp *before* the mean"),
        (triplet_floor_last, "You clamp the mean"),
        (triplet_no_margin, "The margin is missing"),
        (triplet_margin_minus, "wrong sign"),
        (triplet_exchanged, "exchanged"),
        (triplet_squared, "squared distances"),
        (triplet_sum, "the sum over the batch"),
        (triplet_cosine, "These are cosines"),
        (triplet_rows, "single triplets"),
        (triplet_columns, "one distance for each column"),
        (triplet_every, "every anchor with every positive"),
        (triplet_normalised, "Do not normalise"),
        (triplet_margin_one, "yours is always 1"),
    ],
    "11-ranking-loss": [
        (ranking_dot, "These are dot products"),
        (ranking_half, "Only the anchors"),
        (ranking_no_scale, "The scale is missing"),
        (ranking_divided, "You divide by the scale"),
        (ranking_columns, "runs over the anchors"),
        (ranking_sum, "the sum over the batch"),
        (ranking_zeros, "the first column"),
        (ranking_probability, "The logarithm is missing"),
        (ranking_sign, "The sign is missing"),
        (ranking_softmax_twice, "taken twice"),
        (ranking_log_of_mean, "logarithm of each"),
        (ranking_whole_table, "Only the diagonal counts"),
        (ranking_normalised_columns, "You normalise columns"),
        (ranking_twenty, "yours is always 20"),
    ],
    "11-find-the-bug": [
        (pairs_not_neutral, "Contradictions are among your pairs"),
        (pairs_all, "You keep every row"),
        (pairs_not_contradiction, "Neutral rows"),
        (pairs_inverted, "You keep what should go"),
        (pairs_with_label, "The label is still"),
        (pairs_turned, "exchanged"),
    ],
    "11-pick-epoch": [
        (epoch_by_test, "You let the test part pick"),
        (epoch_highest_test, "highest test score of any epoch"),
        (epoch_dev_score, "the development score"),
        (epoch_last, "the last epoch"),
        (epoch_later, "the later one"),
        (epoch_from_one, "count epochs from 1"),
        (epoch_first_fall, "stop at the first fall"),
    ],
}
