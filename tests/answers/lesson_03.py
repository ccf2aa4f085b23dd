"""Answers to lesson 03."""

import math
import operator

import numpy as np
import torch
import torch.nn.functional as F


def word_by_mask(h, w, i):
    keep = torch.tensor([x == i for x in w])
    return torch.mean(h[keep], 0)


def nearest_by_loop(vectors, senses):
    right = 0
    for i in range(len(vectors)):
        best, best_cosine = None, -2
        for j in range(len(vectors)):
            if i == j:
                continue
            c = F.cosine_similarity(vectors[i], vectors[j], dim=0)
            if c > best_cosine:
                best, best_cosine = j, c
        if senses[best] == senses[i]:
            right += 1
    return right / len(vectors)


def word_in_float64(h, w, i):
    return np.array([h[p].numpy() for p, word in enumerate(w) if word == i], dtype=np.float64).mean(axis=0)


def nearest_by_library(v, s):
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=1, metric="cosine").fit(v).kneighbors(return_distance=False)[:, 0]
    return np.mean(np.array(s)[found] == np.array(s))


def nearest_from(start):
    """A loop whose best cosine so far begins at `start`."""

    def nearest(vectors, senses):
        cosines, right = (unit := F.normalize(vectors)) @ unit.T, 0
        for i, row in enumerate(cosines.tolist()):
            best, place = start, i
            for j, cosine in enumerate(row):
                if j != i and cosine > best:
                    best, place = cosine, j
            right += senses[place] == senses[i]
        return right / len(senses)

    return nearest


def nearest_with_lists_compared(vectors, senses):
    nearest = ((unit := F.normalize(vectors)) @ unit.T).fill_diagonal_(float("-inf")).argmax(1).tolist()
    return np.mean([senses[j] for j in nearest] == senses)


def nearest_changed(change):
    def nearest(vectors, senses):
        cosines = change((unit := F.normalize(vectors)) @ unit.T).fill_diagonal_(float("-inf"))
        return sum(senses[j] == sense for sense, j in zip(senses, cosines.argmax(1).tolist())) / len(senses)

    return nearest


def nearest_of_two_kinds(v, s):
    labels = [sense == s[0] for sense in s]
    return nearest_by_loop(v, labels)


def nearest_by_part(part):
    """Labels count as the same if this part of them is."""
    return lambda v, s: nearest_by_loop(v, [part(label) for label in s])


def nearest_among_same_letter(v, s):
    cosines, right = F.normalize(v) @ F.normalize(v).T, 0
    for i, label in enumerate(s):
        others = [j for j in range(len(s)) if j != i]
        alike = [j for j in others if s[j][0] == label[0]] or others
        right += s[max(alike, key=lambda j: cosines[i, j])] == label
    return right / len(s)


def patch_in_a_loop(embeddings, layers, layer, position, vector):
    states = [embeddings.clone()]
    if layer == 0:
        states[0][position] = vector
    for k, (mix, weight) in enumerate(layers):
        new = torch.tanh(mix @ states[-1] @ weight)
        if k + 1 == layer:
            new[position] = vector
        states.append(new)
    return states


def patch_in_numpy(embeddings, layers, layer, position, vector):
    state, states = embeddings.numpy().astype(np.float64), []
    for number in range(len(layers) + 1):
        if number > 0:
            mix, weight = (matrix.numpy().astype(np.float64) for matrix in layers[number - 1])
            state = np.tanh(mix @ state @ weight)
        if number == layer:
            state = state.copy()
            state[position] = vector.numpy()
        states.append(state)
    return np.stack(states)


def patch_in_place(embeddings, layers, layer, position, vector):
    state, states = embeddings, []
    for number in range(len(layers) + 1):
        if number:
            mix, weight = layers[number - 1]
            state = torch.tanh(mix @ state @ weight)
        if number == layer:
            state[position] = vector
        states.append(state)
    return torch.stack(states)


def patch_of_three(e, layers, layer, position, vector):
    (a, b), (c, d), (f, g) = layers
    return patch_in_a_loop(e, [(a, b), (c, d), (f, g)], layer, position, vector)


def word_in_lists(h, w, i):
    rows = [row for row, word in zip(h.tolist(), w) if word == i]
    return [math.fsum(column) / len(rows) for column in zip(*rows)]


def word_by_shares(h, w, i):
    shares = torch.tensor([word == i for word in w]).float() / w.count(i)
    return shares @ h


def nearest_in_lists(vectors, senses):
    def cosine(a, b):
        return sum(map(operator.mul, a, b)) / math.hypot(*a) / math.hypot(*b)

    rows, right = vectors.tolist(), 0
    for i, row in enumerate(rows):
        others = [j for j in range(len(rows)) if j != i]
        right += senses[max(others, key=lambda j: cosine(row, rows[j]))] == senses[i]
    return right / len(rows)


def nearest_by_distance(v, s):
    """Of rows of length 1 the nearest has the largest cosine."""
    unit = F.normalize(v)
    far = (unit[:, None] - unit).square().sum(2).fill_diagonal_(torch.inf)
    return sum(1 / len(s) for i, j in enumerate(far.argmin(1)) if s[i] == s[j])


def nearest_by_other_length(v, s):
    """A row's own length scales all its cosines alike."""
    share = ((v @ v.T) / (v * v).sum(1).sqrt()).fill_diagonal_(-torch.inf)
    return np.mean([s[i] == s[row.argmax()] for i, row in enumerate(share)])


def patch_in_lists(embeddings, layers, layer, position, vector):
    def times(a, b):
        return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]

    state, states = embeddings.tolist(), []
    for number, step in enumerate([None, *layers]):
        if step:
            mix, weight = (matrix.tolist() for matrix in step)
            state = [[math.tanh(x) for x in row] for row in times(mix, times(state, weight))]
        if number == layer:
            state = [vector.tolist() if token == position else row for token, row in enumerate(state)]
        states.append(state)
    return states


RIGHT = {
    "03-word-vector": [
        word_by_mask,
        word_in_float64,
        word_in_lists,
        word_by_shares,
        lambda h, w, i: word_by_mask(h, w, i).tolist(),
    ],
    "03-nearest-sense": [
        nearest_by_loop,
        nearest_by_library,
        nearest_in_lists,
        nearest_by_distance,
        nearest_by_other_length,
        lambda v, s: torch.tensor(nearest_by_loop(v, s)),
    ],
    "03-patch": [
        patch_in_a_loop,
        patch_in_numpy,
        patch_in_lists,
        lambda *args: torch.stack(patch_in_a_loop(*args)),
        lambda *args: torch.stack(patch_in_a_loop(*args)).tolist(),
    ],
}

WRONG = {
    "03-word-vector": [
        (lambda h, w, i: h[i, :], "the token at position `index`"),
        (lambda h, w, i: h[torch.tensor(w).eq(i)].mean(dim=0), "`None` is not a number"),
    ],
    "03-nearest-sense": [
        (lambda v, s: (torch.tensor(s) == torch.tensor(s)).float().mean(), "the labels are strings"),
        (nearest_with_lists_compared, "between two lists"),
    ],
    "03-patch": [(patch_in_place, "changes `embeddings`")],
}

PROMISES = {
    "03-word-vector": [
        ("all pieces", lambda h, w, i: h[[p for p, x in enumerate(w) if x == i][:2]].mean(dim=0)),
        ("Words are numbered from 0", lambda h, w, i: word_by_mask(h, w, i) if i else h[1]),
    ],
    "03-nearest-sense": [
        ("the same label", nearest_by_part(lambda label: label[0])),
        ("the same label", nearest_by_part(lambda label: label[-1])),
        ("the same label", nearest_by_part(len)),
        ("the same label", nearest_by_part(lambda label: label.split()[0])),
        ("the same label", nearest_by_part(sorted)),
        ("most similar *other* row", nearest_among_same_letter),
        ("most similar *other* row", nearest_changed(lambda cosines: cosines.round(decimals=2))),
        ("most similar *other* row", nearest_changed(lambda cosines: cosines.round(decimals=4))),
        ("more than two values", nearest_of_two_kinds),
        ("can be negative, down to −1", nearest_changed(lambda cosines: cosines.clamp(min=0))),
        ("can be negative, down to −1", nearest_from(-1)),
    ],
    "03-patch": [
        ("one or more pairs", patch_of_three),
        ("(len(layers) + 1, tokens, hidden)", lambda *args: torch.stack(patch_in_a_loop(*args)).transpose(0, 1)),
    ],
}
