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


def in_place(similarity, i):
    similarity[i, i] = -1e9
    return int(similarity[i].argmax())


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
        (in_place, "changes `similarity`"),
        (lambda s, i: None, "`return`"),
    ],
    "00-similarity": [(lambda a, b: a * b, "do not add up")],
}
