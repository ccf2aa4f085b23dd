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


def neighbours(v):
    return F.cosine_similarity(v[:-1], v[1:]).mean().item()


RIGHT = {
    "04-mean-pool": [mean_by_loop, mean_by_einsum, mean_by_expand],
    "04-max-pool": [max_by_loop, max_by_where],
    "04-normalise": [unit_by_loop, lambda v: F.normalize(v), lambda v: F.normalize(v, p=2, dim=-1)],
    "04-baseline": [baseline_by_loop, baseline_in_numpy],
}

WRONG = {
    "04-mean-pool": [
        (lambda h, m: torch.mean(h, 1), "over all positions, padding too"),
        (lambda h, m: torch.einsum("bth,bt->bh", h, m.float()) / h.size(1), "divide by the padded length"),
        (lambda h, m: h.sum(1) / m.sum(1)[:, None], "add up padding too"),
        (lambda h, m: (h * m[:, :, None]).sum(1), "the sum, not the mean"),
        (lambda h, m: (h * m[:, :, None]).mean(1), "divide by the padded length"),
        (lambda h, m: h[:, 0, :], "CLS pooling"),
        (lambda h, m: torch.mean(h, dim=2), "Tokens are dimension 1"),
        (lambda h, m: torch.mean(h, dim=0), "over the sentences of the batch"),
        (lambda h, m: (m * h).sum(1) / m.sum(1, keepdim=True), "unsqueeze(-1)"),
        (lambda h, m: (h * m[..., None]).sum(1) / m.sum(), "whole batch"),
        (lambda h, m: (h * (1 - m.long())[..., None]).sum(1) / (1 - m.long()).sum(1, keepdim=True), "upside down"),
        (lambda h, m: (h * m[..., None]).sum(1) / m.sum(1), "keepdim=True"),
        (lambda h, m: torch.stack([row[: int(k.sum())].mean(0) for row, k in zip(h, m)]), "With padding on the left"),
        (mean_in_place, "changes `token_embeddings`"),
        (lambda h, m: mean_by_loop(h, m).numpy(), "returned a ndarray"),
        (lambda h, m: mean_by_loop(h, m).double(), "dtype"),
        (lambda h, m: None, "`return`"),
        (lambda h, m: h.no_such_method(), "AttributeError"),
    ],
    "04-max-pool": [
        (lambda h, m: h.max(dim=1).values, "over padding too"),
        (lambda h, m: (h * m[:, :, None]).max(dim=1).values, "minus infinity"),
        (lambda h, m: h.masked_fill(~m.bool()[..., None], float("-inf")).max(dim=1), "two things"),
        (
            lambda h, m: h.masked_fill(~m.bool()[..., None], float("-inf")).max(dim=1).indices,
            "where the maximum stands",
        ),
        (lambda h, m: h.masked_fill(m.bool()[..., None], float("-inf")).amax(1), "upside down"),
        (lambda h, m: h.masked_fill(~m.bool()[..., None], float("-inf")).amax(2), "Tokens are dimension 1"),
        (lambda h, m: h.amax(0), "over the sentences of the batch"),
        (lambda h, m: h[:, 0], "CLS pooling"),
        (lambda h, m: h.masked_fill(m[..., None] == 0, -100).amax(1), "not low enough"),
        (lambda h, m: (h - (1 - m.int())[..., None] * 1e4).amax(1), "enough: a real token"),
        (lambda h, m: (h - (1 - m)[..., None] * 1e9).amax(1), "does not work with a mask of true and false"),
        (lambda h, m: torch.stack([row[: int(k.sum())].amax(0) for row, k in zip(h, m)]), "With padding on the left"),
        (max_in_place, "changes `token_embeddings`"),
    ],
    "04-normalise": [
        (lambda v: v / torch.linalg.norm(v, dim=1, keepdim=True), "0 is divided by 0"),
        (lambda v: v / torch.linalg.norm(v), "Each row has its own"),
        (lambda v: F.normalize(v, dim=0), "You scale the columns"),
        (lambda v: v / (v**2).sum(1, keepdim=True), "squared length"),
        (lambda v: F.normalize(v, p=1, dim=1), "sum of absolute values"),
        (lambda v: v / v.norm(dim=1), "keepdim=True"),
        (lambda v: v.norm(dim=1, keepdim=True), "You return the lengths"),
        (lambda v: v / (v.norm(dim=1, keepdim=True) + 1e-6), "bound or addition is too large"),
        (lambda v: v / v.norm(dim=1, keepdim=True).clamp(min=1e-3), "bound or addition is too large"),
    ],
    "04-baseline": [
        (lambda v: (F.normalize(v) @ F.normalize(v).T).mean().item(), "Leave the diagonal out"),
        (lambda v: F.normalize(v) @ F.normalize(v).T, "whole table"),
        (
            lambda v: ((F.normalize(v) @ F.normalize(v).T).sum() / 2 - len(v) / 2) / (len(v) * (len(v) - 1)),
            "counts every pair twice",
        ),
        (
            lambda v: torch.triu(F.normalize(v) @ F.normalize(v).T, 1).sum() * 4 / (len(v) * (len(v) - 1)),
            "add every pair twice",
        ),
        (lambda v: (v @ v.T)[~torch.eye(len(v), dtype=bool)].mean(), "not normalised"),
        (neighbours, "only neighbours"),
        (lambda v: ((v @ v.T).sum() - len(v)) / (len(v) * (len(v) - 1)), "only after normalising"),
        (lambda v: (c := F.normalize(v) @ F.normalize(v).T)[c < 0.9999].mean(), "by their value"),
    ],
}
