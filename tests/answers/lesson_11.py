"""Answers to lesson 11; `__init__.py` says what the tables are."""

import math
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F


def ranking_short(anchor, positive, scale):
    table = F.normalize(anchor, dim=1) @ F.normalize(positive, dim=1).T
    return F.cross_entropy(scale * table, torch.arange(len(table)))


def triplet_library(anchor, positive, negative, margin):
    return F.triplet_margin_loss(anchor, positive, negative, margin=margin)


def euclidean(first, second):
    return (first - second).norm(dim=1)


def triplet_farthest_positive(anchor, positive, negative, margin):
    farthest = torch.cdist(anchor, positive).max(dim=1).values
    return torch.relu(farthest - euclidean(anchor, negative) + margin).mean()


# A right answer. `most` limits how many of the labels count, the most frequent first.
def stuck_counter(positives, most=None):
    copies = Counter(positives).most_common(most)
    return sum(count * math.log(count) for _, count in copies) / len(positives)


# An answer for which texts are the same if they are equal after `change`.
def stuck_after(change):
    return lambda positives: stuck_counter([change(text) for text in positives])


# A right answer: (place of the epoch to keep, its test accuracy). Each keyword changes one thing:
# `p_of(dev, test)`, the p of the standard error; `is_near(dev, limit)`, which epochs are good
# enough; `first`, the place to begin with; `digits`, to which the accuracy is rounded (9 change
# nothing that the check sees).
def kept_epoch(
    dev, test, n, *, p_of=lambda dev, _: max(dev), is_near=np.greater_equal, first=0, digits=9
):
    p = p_of(dev, test)
    near_best = is_near(dev, max(dev) - np.sqrt(p * (1 - p) / n))
    place = first + list(near_best[first:]).index(True)
    return place, round(test[place], digits)


RIGHT = {
    "11-triplet-loss": [
        triplet_library,
        lambda anchor, positive, negative, margin: triplet_library(
            anchor.double(), positive.double(), negative.double(), margin
        ).item(),
        lambda *args: np.array(triplet_library(*args)),
    ],
    "11-ranking-loss": [
        ranking_short,
        lambda anchor, positive, scale: ranking_short(
            anchor.double(), positive.double(), scale
        ).item(),
        lambda *args: np.array(ranking_short(*args)),
    ],
    "11-stuck-loss": [
        stuck_counter,
        lambda positives: torch.tensor(stuck_counter(positives)),
        lambda positives: np.array(stuck_counter(positives)),
    ],
    "11-pick-epoch": [
        kept_epoch,
        lambda *args: np.array(kept_epoch(*args)),
        lambda *args: list(kept_epoch(*args)),
    ],
}

COMPLETED = {
    # the share of triplets whose negative is farther away than their positive by `margin` or more
    "11-rests": [
        lambda anchor, positive, negative, margin: np.mean(
            np.linalg.norm(anchor - negative, axis=1) - np.linalg.norm(anchor - positive, axis=1)
            >= margin
        ),
        lambda anchor, positive, negative, margin: (
            sum(
                math.dist(middle, far) >= math.dist(middle, near) + margin
                for middle, near, far in zip(anchor.tolist(), positive.tolist(), negative.tolist())
            )
            / len(anchor)
        ),
        lambda anchor, positive, negative, margin: (
            (euclidean(anchor, positive) - euclidean(anchor, negative) + margin)
            .relu()
            .eq(0)
            .double()
            .mean()
        ),
        lambda anchor, positive, negative, margin: (
            1
            - (euclidean(anchor, negative) < euclidean(anchor, positive) + margin).sum().item()
            / len(anchor)
        ),
        # the diagonal has the distances of each anchor to its own text
        lambda anchor, positive, negative, margin: (
            (
                torch.cdist(anchor, negative).diag().square()
                >= (torch.cdist(anchor, positive).diag() + margin) ** 2
            )
            .float()
            .mean()
            .item()
        ),
        lambda anchor, positive, negative, margin: (
            (F.triplet_margin_loss(anchor, positive, negative, margin, reduction="none") == 0)
            .float()
            .mean()
            .item()
        ),
    ],
    # how many items were right before and are wrong after
    "11-lost": [
        lambda before, after: np.count_nonzero(before > after),
        lambda before, after: sum(
            was and not now for was, now in zip(before.tolist(), after.tolist())
        ),
        lambda before, after: before.sum() - np.logical_and(before, after).sum(),
        lambda before, after: len({*np.flatnonzero(before)} - {*np.flatnonzero(after)}),
        lambda before, after: int(before.astype(float) @ (1.0 - after)),
        lambda before, after: (~torch.tensor(after))[torch.tensor(before)].sum(),
        lambda before, after: Counter(zip(before.tolist(), after.tolist()))[True, False],
        lambda before, after: np.maximum(before.astype(int) - after, 0).sum(),
    ],
}

WRONG = {}

# words of the exercise's text, an answer that breaks them, and sometimes words of its message
PROMISES = {
    # compares with the farthest of all positives, not the row's own
    "11-triplet-loss": [("with one row for each triplet", triplet_farthest_positive)],
    "11-ranking-loss": [
        (  # a scale above 100 counts as 100
            "`scale` may be as large as 500",
            lambda anchor, positive, scale: ranking_short(anchor, positive, min(scale, 100)),
            "A scale of 500, and cosines close together: your",
        ),
        # returns bits
        ("natural logarithm", lambda *args: ranking_short(*args) / math.log(2)),
    ],
    "11-stuck-loss": [
        # counts only the two most common labels
        ("not only two labels", lambda positives: stuck_counter(positives, most=2)),
        (  # takes texts that differ only in capitals for the same
            "even if they differ only in a capital or a space",
            stuck_after(str.lower),
            "capitals or spaces differ",
        ),
        # takes texts that differ only in the spaces around them for the same
        ("even if they differ only in a capital or a space", stuck_after(str.strip)),
        (  # takes texts that differ only in the number of spaces between words for the same
            "even if they differ only in a capital or a space",
            stuck_after(lambda text: " ".join(text.split())),
        ),
    ],
    "11-pick-epoch": [
        (  # never keeps the first epoch, if there are more
            "Keep the earliest epoch",
            lambda dev, test, n: kept_epoch(dev, test, n, first=min(1, len(dev) - 1)),
        ),
        (  # refuses an epoch that is exactly one standard error lower
            "at most one standard error",
            lambda *args: kept_epoch(*args, is_near=np.greater),
            "ne standard error lower",
        ),
        # computes with 42 triplets, whatever n is
        ("the development part has `n` triplets", lambda dev, test, n: kept_epoch(dev, test, 42)),
        (  # takes the best test accuracy for p
            "with p the best development accuracy",
            lambda *args: kept_epoch(*args, p_of=lambda _, test: max(test)),
            "Your p is not the best development accuracy",
        ),
        (  # takes the mean of all development accuracies for p
            "with p the best development accuracy",
            lambda *args: kept_epoch(*args, p_of=lambda dev, _: sum(dev) / len(dev)),
            "Your p is not the best development accuracy",
        ),
        (  # takes a half for p, whatever the accuracies are
            "with p the best development accuracy",
            lambda *args: kept_epoch(*args, p_of=lambda *_: 0.5),
            "Your p is not the best development accuracy",
        ),
        # rounds the accuracy
        ("the accuracy to report for it", lambda *args: kept_epoch(*args, digits=3)),
        # returns only the epoch
        ("Return two values", lambda *args: kept_epoch(*args)[0]),
    ],
}
