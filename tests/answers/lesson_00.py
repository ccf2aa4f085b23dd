"""Answers to lesson 00: right ones in several styles, wrong ones with the words they must be told."""

import math

import numpy as np


def by_copy(similarity, i):
    row = similarity[i].copy()
    row[i] = -np.inf
    return np.argmax(row)


def by_sorting(similarity, i):
    return sorted((j for j in range(len(similarity)) if j != i), key=lambda j: -similarity[i][j])[0]


def minus_one(similarity, i):
    row = similarity[i].tolist()
    row[i] = -1  # no cosine is smaller
    return row.index(max(row))


def reset_in_loop(a, b):
    for x, y in zip(a, b):
        total = 0
        total += x * y
    return total


def return_in_loop(a, b):
    total = 0
    for x, y in zip(a, b):
        total += x * y
        return total


def in_place(similarity, i):
    similarity[i, i] = -1e9
    return int(similarity[i].argmax())


def zero_diagonal(similarity, i):
    row = list(similarity[i])
    row[i] = 0
    return row.index(max(row))


def popped(similarity, i):
    row = list(similarity[i])
    row.pop(i)
    return row.index(max(row))


RIGHT = {
    "00-nearest": [by_copy, by_sorting, minus_one],
    "00-similarity": [
        lambda a, b: np.sum(a * b),
        lambda a, b: math.fsum(map(float.__mul__, a.tolist(), b.tolist())),
        lambda a, b: (a * b).sum().item(),
    ],
}

WRONG = {
    "00-nearest": [
        (lambda s, i: np.argmax(s[i]), "most similar to itself"),
        (lambda s, i: sorted(s[i])[-2], "The position of the sentence"),
        (popped, "one too small"),
        (lambda s, i: np.argmin(s[i]), "least similar"),
        (lambda s, i: np.argmax(s), "whole table"),
        (zero_diagonal, "still wins"),
        (lambda s, i: np.argsort(s[i])[-3], "second best"),
        (lambda s, i: np.argsort(s[i])[-2], "stands there twice"),
        (lambda s, i: int(np.argmax(s[i] * (s[i] < 0.9999) - 9 * (s[i] >= 0.9999))), "not the value 1"),
        (in_place, "changes `similarity`"),
        (lambda s, i: None, "`return`"),
    ],
    "00-similarity": [
        (lambda a, b: a * b, "do not add up"),
        (lambda a, b: np.mean(a * b), "mean of the products"),
        (lambda a, b: sum(a) + sum(b), "Multiply number by number first"),
        (lambda a, b: math.dist(a, b), "the distance"),
        (lambda a, b: np.outer(a, b), "same position"),
        (lambda a, b: sum(x * x for x in a), "`b` plays no part"),
        (return_in_loop, "`return` inside the loop"),
        (reset_in_loop, "back to 0 each time"),
        (lambda a, b: sum(abs(x * y) for x, y in zip(a, b)), "drop the signs"),
    ],
}
