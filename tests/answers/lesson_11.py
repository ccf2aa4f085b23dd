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


def ranking_short(anchor, positive, scale):
    table = F.normalize(anchor, dim=1) @ F.normalize(positive, dim=1).T
    return F.cross_entropy(scale * table, torch.arange(len(table)))


def ranking_by_hand(anchor, positive, scale):
    table = scale * (anchor / anchor.norm(dim=1, keepdim=True)) @ (positive / positive.norm(dim=1, keepdim=True)).T
    return (torch.logsumexp(table, dim=1) - table.diagonal()).mean()


def ranking_dot(anchor, positive, scale):
    return F.cross_entropy(scale * anchor @ positive.T, torch.arange(len(anchor)))


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


RIGHT = {
    "11-triplet-loss": [triplet_relu, triplet_loop],
    "11-ranking-loss": [ranking_short, ranking_by_hand],
    "11-find-the-bug": [pairs_loop, pairs_short],
    "11-pick-epoch": [epoch_index, epoch_loop],
}
WRONG = {
    "11-triplet-loss": [(triplet_no_floor, "clamp *before* the mean")],
    "11-ranking-loss": [(ranking_dot, "These are dot products")],
    "11-find-the-bug": [(pairs_not_neutral, "Contradictions are among your pairs")],
    "11-pick-epoch": [(epoch_by_test, "You let the test part pick")],
}
