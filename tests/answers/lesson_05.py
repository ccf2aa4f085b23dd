"""Answers to lesson 05 as learners write them: right ones in several styles, wrong ones with what they must be told."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def joined_by_loop(queries, keys, values, heads):
    size = queries.shape[1] // heads
    parts = []
    for h in range(heads):
        own = slice(h * size, (h + 1) * size)
        q, k, v = queries[:, own], keys[:, own], values[:, own]
        parts.append(torch.softmax(q @ k.T / math.sqrt(size), dim=1) @ v)
    return torch.cat(parts, dim=1)


def joined_by_library(queries, keys, values, heads):
    q, k, v = (torch.stack(x.chunk(heads, dim=1)) for x in (queries, keys, values))
    return torch.cat(list(F.scaled_dot_product_attention(q, k, v)), dim=-1)


def joined_by_einsum(queries, keys, values, heads):
    q, k, v = (x.unflatten(-1, (heads, -1)) for x in (queries, keys, values))
    w = torch.einsum("ihd,jhd->hij", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("hij,jhd->ihd", F.softmax(w, -1), v).flatten(1)


def joined(q, k, v, n, dim=-1, root=True, split="right", join="right"):
    t, hidden = q.shape
    size = hidden // n
    if split == "right":
        q, k, v = (x.view(t, n, size).permute(1, 0, 2) for x in (q, k, v))
    else:
        q, k, v = (x.view(n, t, size) for x in (q, k, v))
    s = torch.bmm(q, k.mT)
    out = torch.bmm(F.softmax(s / size**0.5 if root else s, dim=dim), v)
    return out.permute(1, 0, 2).reshape(t, hidden) if join == "right" else out.reshape(t, hidden)


def joined_in_place(q, k, v, n):
    q /= (q.shape[1] // n) ** 0.5
    return joined(q, k, v, n, root=False)


def joined_with_view(q, k, v, n):
    t, hidden = q.shape
    q, k, v = (x.view(t, n, -1).transpose(0, 1) for x in (q, k, v))
    return ((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v).transpose(0, 1).view(t, hidden)


def weights_by_loop(queries, keys, attention_mask):
    result = torch.zeros(len(queries), queries.shape[1], queries.shape[1])
    for h, (q, k) in enumerate(zip(queries, keys)):
        for i in range(len(q)):
            powers = [
                math.exp(float(q[i] @ k[j]) / math.sqrt(len(q[i]))) if attention_mask[j] else 0.0 for j in range(len(k))
            ]
            result[h, i] = torch.tensor(powers) / sum(powers)
    return result


def weights_then_again(q, k, m):
    w = torch.softmax(torch.einsum("hid,hjd->hij", q, k) / np.sqrt(q.size(-1)), -1) * m
    return w / w.sum(-1, keepdim=True)


def weights_added(q, k, m):
    return F.softmax(torch.matmul(q, k.permute(0, 2, 1)) * q.size(2) ** -0.5 + (1.0 - m.float()) * -1e9, dim=2)


def scores(q, k, d=None):
    return torch.bmm(q, k.permute(0, 2, 1)) / (q.size(2) if d is None else d) ** 0.5


def low(s, m):
    return torch.where(m.bool(), s, torch.tensor(-1e9))


def weights_in_place(q, k, m):
    q /= q.size(-1) ** 0.5
    return F.softmax(low(scores(q, k, 1), m), -1)


def mask_in_place(q, k, m):
    w = weights_then_again(q, k, m)
    m[:] = 1
    return w


def previous_by_loop(attentions):
    layers, heads, n, _ = attentions.shape
    result = torch.zeros(layers, heads)
    for layer in range(layers):
        for head in range(heads):
            result[layer, head] = sum(attentions[layer, head, i, i - 1] for i in range(2, n - 1)) / (n - 3)
    return result


def previous_by_index(a):
    i = torch.arange(2, a.shape[-1] - 1)
    return a[..., i, i - 1].mean(-1)


def previous_by_mask(a):
    n = a.shape[-1]
    mask = torch.zeros(n, n)
    for i in range(2, n - 1):
        mask[i, i - 1] = 1
    return (a * mask).sum((-1, -2)) / mask.sum()


def pick(a, start, stop, step=-1):
    i = torch.arange(start, a.shape[-1] + stop)
    return a[:, :, i, i + step]


def previous_in_place(a):
    a[:, :, 0] = 0
    a[:, :, -1] = 0
    return previous_by_index(a)


def entropy_by_where(weights):
    return torch.where(weights > 0, -weights * torch.log2(weights), torch.zeros_like(weights)).sum(-1)


def entropy_by_nan(w):
    return torch.nan_to_num(w * torch.log(w)).sum(dim=-1) / -math.log(2)


def entropy_by_loop(w):
    if w.dim() > 1:
        return torch.stack([entropy_by_loop(row) for row in w])
    return torch.tensor(-sum(p * math.log2(p) for p in w.tolist() if p > 0))


def entropy_in_place(w):
    w[w == 0] = 1
    return -(w * w.log2()).sum(-1)


RIGHT = {
    "05-find-the-bug": [joined_by_loop, joined_by_library, joined_by_einsum],
    "05-attention-weights": [
        weights_by_loop,
        weights_then_again,
        weights_added,
        lambda q, k, m: F.softmax(scores(q, k) + (1 - m) * torch.finfo(torch.float32).min, -1),  # transformers' own way
    ],
    "05-previous-token": [previous_by_loop, previous_by_index, previous_by_mask],
    "05-entropy": [entropy_by_where, entropy_by_nan, entropy_by_loop, lambda w: -(w * (w + 1e-12).log2()).sum(-1)],
}

WRONG = {
    "05-find-the-bug": [
        (lambda q, k, v, n: joined(q, k, v, n, dim=1, split="wrong"), "Both mistakes are still there"),
        (joined_with_view, "RuntimeError"),
        (joined_in_place, "changes `queries`"),
    ],
    "05-attention-weights": [
        (lambda q, k, m: F.softmax(scores(q, k), -1), "The mask is not used: padding"),
        (weights_in_place, "changes `queries`"),
        (mask_in_place, "changes `attention_mask`"),
    ],
    "05-previous-token": [
        (lambda a: pick(a, 1, -2, 1).mean(-1), "You score the *next* token. Row i"),
        (previous_in_place, "changes `attentions`"),
    ],
    "05-entropy": [
        (lambda w: -torch.sum(w * torch.log2(w), dim=-1), "0 times infinity is not a number"),
        (entropy_in_place, "changes `weights`"),
    ],
}
