"""Answers to lesson 09 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import itertools

import numpy as np
import torch
import torch.nn.functional as F


def tokens_by_loops(lengths):
    pairs = 0
    for i in range(len(lengths)):
        for j in range(i):
            pairs += lengths[i] - 2 + lengths[j] - 2 + 3
    return sum(lengths), pairs


def tokens_by_combinations(lengths):
    return [sum(lengths), sum(a + b - 1 for a, b in itertools.combinations(lengths, 2))]


def tokens_in_numpy(lengths):
    x, n = np.array(lengths), len(lengths)
    return x.sum(), (n - 1) * x.sum() - n * (n - 1) // 2


def tokens_four_specials(lengths):
    return sum(lengths), sum(a + b for a, b in itertools.combinations(lengths, 2))


def search_normalised(query, corpus, k):
    values, places = torch.topk(F.normalize(corpus, dim=1) @ F.normalize(query, dim=0), k)
    return [(int(place), float(value)) for place, value in zip(places, values)]


def search_by_sorting(query, corpus, k):
    cosines = F.cosine_similarity(corpus, query.unsqueeze(0)).tolist()
    return sorted(enumerate(cosines), key=lambda pair: -pair[1])[:k]


def search_by_dot(query, corpus, k):
    values, places = (corpus @ query).topk(k)
    return list(zip(places.tolist(), values.tolist()))


def closest_unsorted(vectors):
    table = vectors @ vectors.T
    table.fill_diagonal_(-2)
    return divmod(int(table.argmax()), len(vectors))


def closest_filled(vectors):
    table = vectors @ vectors.T
    table.fill_diagonal_(-2)
    place = int(table.argmax())
    return sorted([place // len(vectors), place % len(vectors)])


def closest_by_loop(vectors):
    best, pair = -9, None
    for i, j in itertools.combinations(range(len(vectors)), 2):
        if float(vectors[i] @ vectors[j]) > best + 1e-6:
            best, pair = float(vectors[i] @ vectors[j]), (i, j)
    return pair


def closest_with_itself(vectors):
    place = int((vectors @ vectors.T).argmax())
    return place // len(vectors), place % len(vectors)


def closest_turned(vectors):
    return closest_filled(vectors)[::-1]


RIGHT = {
    "09-tokens": [tokens_by_loops, tokens_by_combinations, tokens_in_numpy],
    "09-search": [search_normalised, search_by_sorting],
    "09-find-the-bug": [closest_filled, closest_by_loop, closest_unsorted, closest_turned],
}
WRONG = {
    "09-tokens": [(tokens_four_specials, "Two sentences alone have four")],
    "09-search": [(search_by_dot, "These are dot products")],
    "09-find-the-bug": [(closest_with_itself, "a vector and itself")],
}
