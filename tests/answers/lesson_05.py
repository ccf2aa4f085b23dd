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


def joined_interleaved(q, k, v, n):
    out = [joined_by_loop(q[:, h::n], k[:, h::n], v[:, h::n], 1) for h in range(n)]
    return torch.stack(out, dim=-1).flatten(1)


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
        (lambda q, k, v, n: joined(q, k, v, n, split="wrong"), "a head then holds numbers of several tokens"),
        (lambda q, k, v, n: joined(q, k, v, n, dim=-2), "so columns add up to 1"),
        (lambda q, k, v, n: joined(q, k, v, n, dim=0), "runs over the heads"),
        (lambda q, k, v, n: joined(q, k, v, n, join="wrong"), "put together in the wrong order"),
        (lambda q, k, v, n: joined(q, k, v, n, split="wrong", join="wrong"), "The way back was right"),
        (lambda q, k, v, n: joined(q, k, v, n, root=False), "It was right; keep it"),
        (lambda q, k, v, n: joined(k, q, v, n), "exchange queries and keys"),
        (lambda q, k, v, n: joined_by_loop(q, k, v, 1), "one large head"),
        (lambda q, k, v, n: joined(q / 32**0.5, k, v, n, root=False), "right for this model only"),
        (lambda q, k, v, n: joined(q / 32**0.5, k, v, n, root=False, dim=1), "so columns add up to 1"),
        (joined_interleaved, "every so many-th number of a vector, and they are put back"),
        (lambda q, k, v, n: joined_by_library(q / n**0.5, k, v, n), "root of `hidden`"),
        (lambda q, k, v, n: joined_by_loop(q, k, v, n).unflatten(-1, (n, -1)).transpose(0, 1), "not put together"),
        (joined_with_view, "RuntimeError"),
        (joined_in_place, "changes `queries`"),
    ],
    "05-attention-weights": [
        (lambda q, k, m: F.softmax(scores(q, k), -1), "The mask is not used: padding"),
        (lambda q, k, m: F.softmax(scores(q, k), -1) * m[None, None], "rows no longer add up to 1"),
        (lambda q, k, m: F.softmax(scores(q, k).masked_fill(~m.bool(), 0), -1), "e to the power of 0 is 1"),
        (lambda q, k, m: F.softmax(m * scores(q, k), -1), "e to the power of 0 is 1"),
        (lambda q, k, m: F.softmax(low(scores(q, k, 1), m), -1), "The scores are not divided"),
        (lambda q, k, m: F.softmax(low(scores(q, k, q.size(-1) ** 2), m), -1), "You divide by d."),
        (lambda q, k, m: F.softmax(low(scores(q, k, 32), m), -1), "right for this model only"),
        (lambda q, k, m: F.softmax(low(scores(q, k, q.size(1)), m), -1), "number of tokens"),
        (lambda q, k, m: F.softmax(scores(q, k).masked_fill(m == 0, -math.inf), 1), "down the columns"),
        (lambda q, k, m: F.softmax(scores(q, k).masked_fill(m == 0, -math.inf), 0), "over the heads"),
        (lambda q, k, m: scores(q, k).masked_fill(m == 0, -math.inf), "You return the scores"),
        (lambda q, k, m: F.softmax(scores(q, k).masked_fill(m.bool(), -math.inf), 2), "upside down"),
        (lambda q, k, m: F.softmax(scores(q, k).masked_fill(m[:, None] == 0, -math.inf), 2), "mask the *rows*"),
        (
            lambda q, k, m: F.softmax(scores(q, k).masked_fill(~(m[:, None].bool() & m.bool()), -math.inf), 2),
            "rows *and* columns",
        ),
        (lambda q, k, m: weights_then_again(q, k, m) * m[:, None], "rows of padding tokens are set to 0"),
        (lambda q, k, m: weights_then_again(k, q, m), "exchange queries and keys"),
        (lambda q, k, m: F.softmax(scores(q, k) + (1 - m) * -torch.inf, -1), "0 times infinity"),
        (lambda q, k, m: F.softmax(scores(q, k).masked_fill(m.logical_not(), -10.0), -1), "not low enough"),
        (lambda q, k, m: F.softmax(scores(q, k) - 10 * (1 - m), -1), "not low enough"),
        (lambda q, k, m: F.softmax(scores(q, k * m[:, None]), -1), "e to the power of 0 is 1"),
        (
            lambda q, k, m: F.softmax(scores(q * m[:, None], k * m[:, None]), -1),
            "You multiply queries or keys by the mask",
        ),
        (lambda q, k, m: weights_then_again(q * m[None, :, None], k, m), "You multiply queries by the mask, too"),
        (
            lambda q, k, m: F.softmax(low(torch.matmul(q, k.permute(2, 1, 0)) / q.size(-1) ** 0.5, m), -1),
            "`keys.T` turns all three",
        ),
        (lambda q, k, m: F.softmax(low(torch.matmul(q, k) / q.size(-1) ** 0.5, m), -1), "Swap the last two dimensions"),
        (weights_in_place, "changes `queries`"),
        (mask_in_place, "changes `attention_mask`"),
    ],
    "05-previous-token": [
        (lambda a: pick(a, 1, -2, 1).mean(-1), "You score the *next* token. Row i"),
        (lambda a: pick(a, 1, -1, 0).mean(-1), "You score the same token"),
        (lambda a: torch.diagonal(a, -1, 2, 3).mean(2), "[CLS] and [SEP] take part. Only"),
        (lambda a: pick(a, 1, -1).mean(-1), "looking at [CLS] is counted"),
        (lambda a: pick(a, 2, 0).mean(-1), "[SEP] looking at the last word"),
        (lambda a: torch.diagonal(a[..., 1:-1, 1:-1], -2, 2, 3).mean(2), "two places back"),
        (lambda a: pick(a / a[..., 1:-1].sum(-1, keepdim=True), 2, -1).mean(-1), "add up to 1 again"),
        (lambda a: pick(a, 2, -1).sum(-1), "You return the sum"),
        (lambda a: pick(a, 2, -1).sum(-1) / (a.size(-1) - 2), "number of word pieces"),
        (lambda a: pick(a, 2, -1), "one number per pair"),
        (lambda a: pick(a, 2, -1).mean(), "everything into one number"),
        (lambda a: pick(a, 2, -1).mean((1, 2)), "average over heads"),
        (lambda a: previous_by_loop(a.transpose(-1, -2)), "You score the *next* token. Row i"),
        (lambda a: torch.diagonal(a, -1).mean(-1), "the first two dimensions"),
        (previous_in_place, "changes `attentions`"),
    ],
    "05-entropy": [
        (lambda w: -torch.sum(w * torch.log2(w), dim=-1), "0 times infinity is not a number"),
        (lambda w: entropy_by_where(w) * math.log(2), "These are nats"),
        (lambda w: -torch.sum(w * torch.log(w), -1), "These are nats"),
        (lambda w: torch.distributions.Categorical(w).entropy(), "These are nats"),
        (lambda w: -entropy_by_where(w), "The sign is missing"),
        (lambda w: entropy_by_where(w).mean(), "average all rows"),
        (lambda w: entropy_by_where(w) / w.size(-1), "You take the mean over a row"),
        (lambda w: entropy_by_where(w) / math.log2(w.size(-1)), "divide by the maximum"),
        (lambda w: -(w * torch.log2(w + 0.01)).sum(-1), "too large and changes the result"),
        (
            lambda w: entropy_by_where(w.transpose(-1, -2)) if w.dim() > 1 else entropy_by_where(w),
            "add up over the columns",
        ),
        (lambda w: entropy_by_where(w)[..., None], "wrong shape"),
        (lambda w: torch.nan_to_num(-w * torch.log2(w)).sum(0), "along the *last* dimension"),
        (lambda w: -(w + 1e-10).log2().sum(-1), "without their weights"),
        (lambda w: torch.log2(1 / w).sum(-1), "without their weights"),
        (entropy_in_place, "changes `weights`"),
        (lambda w: -(w * w.clamp_(min=1e-9).log2()).sum(-1), "changes `weights`"),
    ],
}
