"""Answers to lesson 04 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import numpy as np
import torch
import torch.nn.functional as F


def mean_by_loop(token_embeddings, attention_mask):
    result = []
    for i in range(token_embeddings.shape[0]):
        keep = attention_mask[i] == 1
        result.append(token_embeddings[i][keep].mean(0))
    return torch.stack(result)


def mean_by_einsum(h, m):
    m = m.float()
    return torch.einsum("bth,bt->bh", h, m) / m.sum(-1)[:, None]


def mean_by_expand(h, m):
    wide = m[:, :, None].expand(h.size()).float()
    return torch.sum(h * wide, 1) / torch.clamp(wide.sum(1), min=1e-9)


def mean_in_place(h, m):
    h *= m.unsqueeze(-1)
    return h.sum(1) / m.sum(1, keepdim=True)


def max_by_loop(h, m):
    return torch.stack([row[mask.bool()].max(dim=0).values for row, mask in zip(h, m)])


def max_by_where(h, m):
    low = torch.where(m[..., None].bool(), h, torch.tensor(float("-inf")))
    return torch.max(low, 1)[0]


def max_in_place(h, m):
    h[m == 0] = -1e9
    return h.max(1).values


def unit_by_loop(v):
    out = torch.zeros_like(v)
    for i, row in enumerate(v):
        length = (row**2).sum() ** 0.5
        out[i] = row / length if length > 0 else row
    return out


def baseline_by_loop(v):
    total, pairs = 0.0, 0
    for i in range(len(v)):
        for j in range(i + 1, len(v)):
            total += F.cosine_similarity(v[i], v[j], dim=0)
            pairs += 1
    return total / pairs


def baseline_in_numpy(v):
    u = v.numpy()
    u = u / np.linalg.norm(u, axis=1, keepdims=True)
    return (u @ u.T)[~np.eye(len(u), dtype=bool)].mean()


RIGHT = {
    "04-mean-pool": [mean_by_loop, mean_by_einsum, mean_by_expand],
    "04-max-pool": [max_by_loop, max_by_where],
    "04-normalise": [unit_by_loop, lambda v: F.normalize(v), lambda v: F.normalize(v, p=2, dim=-1)],
    "04-baseline": [baseline_by_loop, baseline_in_numpy],
}

WRONG = {
    "04-mean-pool": [
        (lambda h, m: torch.mean(h, 1), "over all positions, padding too"),
        (mean_in_place, "changes `token_embeddings`"),
        (lambda h, m: mean_by_loop(h, m).numpy(), "returned a ndarray"),
        (lambda h, m: mean_by_loop(h, m).double(), "dtype"),
        (lambda h, m: None, "`return`"),
        (lambda h, m: h.no_such_method(), "AttributeError"),
    ],
    "04-max-pool": [
        (lambda h, m: h.max(dim=1).values, "over padding too"),
        (max_in_place, "changes `token_embeddings`"),
    ],
    "04-normalise": [(lambda v: v / torch.linalg.norm(v, dim=1, keepdim=True), "0 is divided by 0")],
    "04-baseline": [(lambda v: (F.normalize(v) @ F.normalize(v).T).mean().item(), "Leave the diagonal out")],
}
