"""Answers to lesson 03 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import numpy as np
import torch
import torch.nn.functional as F


def word_by_loop(hidden_states, word_ids, index):
    total, count = torch.zeros(hidden_states.shape[1]), 0
    for vector, w in zip(hidden_states, word_ids):
        if w == index:
            total = total + vector
            count += 1
    return total / count


def word_by_mask(h, w, i):
    keep = torch.tensor([x == i for x in w])
    return torch.mean(h[keep], 0)


def word_by_span(h, w, i):
    start = w.index(i)
    return h[start : start + w.count(i)].mean(0)


def word_by_weights(h, w, i):
    weight = torch.tensor([float(x == i) for x in w])
    return weight @ h / weight.sum()


def word_in_place(h, w, i):
    for k in range(len(w)):
        if w[k] is None:
            w[k] = -1
    return h[torch.tensor(w) == i].mean(0)


def gap_by_loop(vectors, senses):
    within, between = [], []
    for i in range(len(senses)):
        for j in range(i):
            c = F.cosine_similarity(vectors[i], vectors[j], dim=0).item()
            if senses[i] == senses[j]:
                within.append(c)
            else:
                between.append(c)
    return np.mean(within) - np.mean(between)


def gap_in_numpy(v, s):
    u = v.numpy() / np.linalg.norm(v.numpy(), axis=1, keepdims=True)
    c, s = u @ u.T, np.array(s)
    same = s[:, None] == s[None, :]
    other = same.copy()
    np.fill_diagonal(same, False)
    return c[same].mean() - c[~other].mean()


def gap_by_sums(v, s):
    c = F.cosine_similarity(v[:, None], v[None], dim=-1)
    ids = torch.tensor([sorted(set(s)).index(x) for x in s])
    same = (ids[:, None] == ids).float()
    n = len(s)
    return ((c * same).sum() - n) / (same.sum() - n) - (c * (1 - same)).sum() / (1 - same).sum()


def gap_in_place(v, s):
    v /= v.norm(dim=1, keepdim=True)
    return gap_by_loop(v, s)


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


def nearest_in_numpy(v, s):
    u = v.numpy() / np.linalg.norm(v.numpy(), axis=1)[:, None]
    c = u @ u.T - 10 * np.eye(len(u))
    s = np.asarray(s)
    return np.mean(s[c.argmax(axis=1)] == s)


def nearest_by_topk(v, s):
    c = F.cosine_similarity(v[:, None], v[None], dim=-1)
    second = [
        int(row.topk(2).indices[1]) if int(row.topk(2).indices[0]) == i else int(row.topk(2).indices[0])
        for i, row in enumerate(c)
    ]
    return torch.tensor([float(s[i] == s[j]) for i, j in enumerate(second)]).mean()


def nearest_in_place(v, s):
    v /= v.norm(dim=1, keepdim=True)
    return nearest_by_loop(v, s)


def gap_by_value(vectors, senses):
    unit = F.normalize(vectors)
    cosines = unit @ unit.T
    same = torch.tensor([[a == b for a in senses] for b in senses])
    return (cosines[same & (cosines < 0.9999)].mean() - cosines[~same].mean()).item()


def nearest_by_value(vectors, senses):
    unit = F.normalize(vectors)
    cosines = unit @ unit.T
    cosines[cosines > 0.999] = -2
    return sum(senses[j] == sense for sense, j in zip(senses, cosines.argmax(1).tolist())) / len(senses)


RIGHT = {
    "03-word-vector": [word_by_loop, word_by_mask, word_by_span, word_by_weights],
    "03-sense-gap": [gap_by_loop, gap_in_numpy, gap_by_sums],
    "03-nearest-sense": [nearest_by_loop, nearest_in_numpy, nearest_by_topk],
}

WRONG = {
    "03-word-vector": [
        (lambda h, w, i: h[i, :], "the token at position `index`"),
        (word_in_place, "changes `word_ids`"),
        (lambda h, w, i: word_by_loop(h, w, i).tolist(), "returned a list"),
    ],
    "03-sense-gap": [(gap_by_value, "by their value"), (gap_in_place, "changes `vectors`")],
    "03-nearest-sense": [(nearest_by_value, "by their value"), (nearest_in_place, "changes `vectors`")],
}
