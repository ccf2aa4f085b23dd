"""Answers to lesson 03."""

import math
import statistics

import numpy as np
import torch
import torch.nn.functional as F


def word_by_mask(h, w, i):
    keep = torch.tensor([x == i for x in w])
    return torch.mean(h[keep], 0)


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


def patch_of_three(e, layers, layer, position, vector):
    (a, b), (c, d), (f, g) = layers
    return patch_in_a_loop(e, [(a, b), (c, d), (f, g)], layer, position, vector)


def nearest_by_loop(vectors, senses):
    right = 0
    for i, row in enumerate(vectors):
        others = [j for j in range(len(senses)) if j != i]
        nearest = max(others, key=lambda j: F.cosine_similarity(row, vectors[j], dim=0))
        right += senses[nearest] == senses[i]
    return right / len(senses)


def nearest_changed(change):
    """Right, but for what is done to the table of cosines before the search."""

    def nearest(vectors, senses):
        cosines = change((unit := F.normalize(vectors)) @ unit.T, senses).fill_diagonal_(-torch.inf)
        return sum(
            senses[j] == sense for sense, j in zip(senses, cosines.argmax(1).tolist())
        ) / len(senses)

    return nearest


def nearest_by_part(part):
    """Labels count as the same if this part of them is."""
    return lambda v, s: nearest_by_loop(v, [part(label) for label in s])


RIGHT = {
    "03-word-vector": [
        word_by_mask,
        lambda *args: word_by_mask(*args).tolist(),
        lambda h, w, i: word_by_mask(h, w, i).double().numpy(),
    ],
    "03-nearest-sense": [
        nearest_by_loop,
        lambda v, s: torch.tensor(nearest_by_loop(v, s)),
        lambda *args: np.array(nearest_by_loop(*args)),
    ],
    "03-patch": [
        patch_in_a_loop,
        lambda *args: torch.stack(patch_in_a_loop(*args)),
        lambda *args: torch.stack(patch_in_a_loop(*args)).tolist(),
    ],
}

COMPLETED = {
    "03-token-in-all-states": [
        lambda states, row, position: torch.stack(states)[:, row, position],
        lambda states, row, position: [state[row][position].tolist() for state in states],
        lambda states, row, position: np.array([state.numpy()[row, position] for state in states]),
        lambda states, row, position: tuple(
            state.select(0, row).select(0, position).double() for state in states
        ),
        lambda states, row, position: torch.cat([s[row, position : position + 1] for s in states]),
        lambda states, row, position: torch.einsum(
            "lbth,b,t->lh",
            torch.stack(states),
            *(torch.eye(n)[i] for n, i in zip(states[0].shape, (row, position))),
        ),
    ],
    "03-gap-from-table": [
        lambda c, s: np.subtract(
            *(
                statistics.fmean(
                    x
                    for i, row in enumerate(c.tolist())
                    for j, x in enumerate(row[:i])
                    if (s[i] == s[j]) == same
                )
                for same in (True, False)
            )
        ),
        lambda c, s: (
            c[(k := torch.tensor(np.equal.outer(s, s))).triu(1)].mean() - c[~k].double().mean()
        ),
        lambda c, s: (
            np.ma.array(c, mask=~(k := np.equal.outer(s, s)) | np.eye(len(s), dtype=bool)).mean()
            - np.ma.array(c, mask=k).mean()
        ),
        lambda c, s: (
            ((c * (k := torch.tensor([[a == b for b in s] for a in s]))).sum() - c.trace())
            / (k.sum() - len(s))
            - (c * ~k).sum() / (~k).sum()
        ),
        lambda c, s: (
            torch.nanmean(
                (t := c.clone().fill_diagonal_(torch.nan)).where(
                    k := torch.tensor(np.equal.outer(s, s)), torch.nan
                )
            )
            - t[~k].mean()
        ),
    ],
    "03-overtaken": [
        lambda first, second, draws: (
            sum(sum(first[d]) < sum(second[d]) for d in draws) / len(draws)
        ),
        lambda first, second, draws: np.mean(first[draws].mean(1) < second[draws].mean(1)),
        lambda first, second, draws: (
            torch.tensor(first - second).float()[torch.tensor(draws)].mean(1).lt(0).float().mean()
        ),
        lambda first, second, draws: np.mean(
            np.einsum("dw->d", (first - second)[draws]) / len(first) < 0, dtype="f"
        ),
        lambda first, second, draws: statistics.mean(
            statistics.fmean(first[d] - second[d]) < 0 for d in draws
        ),
        lambda first, second, draws: (
            (draws[:, :, None] == np.arange(len(first))).mean(axis=1) @ (first - second) < 0
        ).mean(),
        lambda first, second, draws: (
            np.diff([values[draws].mean(1) for values in (first, second)], axis=0) > 0
        ).mean(),
    ],
}

WRONG = {
    "03-word-vector": [
        (lambda h, w, i: h[torch.tensor(w).eq(i)].mean(dim=0), "`None` is not a number")
    ]
}

PROMISES = {
    "03-word-vector": [
        ("all pieces", lambda h, w, i: h[[p for p, x in enumerate(w) if x == i][:2]].mean(dim=0)),
        ("Words are numbered from 0", lambda h, w, i: word_by_mask(h, w, i) if i else h[1]),
        ("of shape (hidden,)", lambda h, w, i: word_by_mask(h, w, i)[None], "their shape is"),
    ],
    "03-nearest-sense": [
        ("a number from 0 to 1", lambda v, s: 100 * nearest_by_loop(v, s), "times 100"),
        ("the same label", lambda v, s: 1 - nearest_by_loop(v, s), "1 minus"),
        ("the same label", nearest_by_part(lambda label: label[0])),
        ("the same label", nearest_by_part(lambda label: label[-1])),
        ("the same label", nearest_by_part(len)),
        ("the same label", nearest_by_part(lambda label: label.split()[0])),
        ("the same label", nearest_by_part(sorted)),
        (
            "most similar *other* row",
            nearest_changed(
                lambda c, s: c + 3 * torch.tensor([[a[0] == b[0] for a in s] for b in s])
            ),
        ),
        ("most similar *other* row", nearest_changed(lambda c, s: c.round(decimals=2))),
        ("most similar *other* row", nearest_changed(lambda c, s: c.round(decimals=4))),
        ("more than two values", lambda v, s: nearest_by_loop(v, [sense == s[0] for sense in s])),
        ("can be negative, down to −1", nearest_changed(lambda c, s: c.clamp(min=0))),
    ],
    "03-patch": [
        ("one or more pairs", patch_of_three),
        (
            "(len(layers) + 1, tokens, hidden)",
            lambda *args: torch.stack(patch_in_a_loop(*args)).transpose(0, 1),
        ),
    ],
}
