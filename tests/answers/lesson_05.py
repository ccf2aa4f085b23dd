"""Answers to lesson 05."""

import functools
import itertools
import math
import statistics

import numpy as np
import scipy.stats
import torch
import torch.nn.functional as F


def joined(queries, keys, values, heads):
    parts = []
    for own in torch.arange(queries.shape[1]).chunk(heads):
        q, k, v = queries[:, own], keys[:, own], values[:, own]
        parts.append(torch.softmax(q @ k.T / math.sqrt(len(own)), dim=1) @ v)
    return torch.cat(parts, dim=1)


def weights_of_real_tokens(q, k, m):
    real = m.nonzero().flatten()
    w = torch.zeros(len(q), len(m), len(m))
    w[:, :, real] = torch.softmax(
        torch.einsum("hid,hjd->hij", q, k[:, real]) / np.sqrt(q.size(-1)), -1
    )
    return w


def scores(q, k, d=None):
    return torch.bmm(q, k.permute(0, 2, 1)) / (q.size(2) if d is None else d) ** 0.5


def low(s, m):
    return torch.where(m.bool(), s, torch.tensor(-1e9))


def states_of(state, layers):
    return list(itertools.accumulate(layers, lambda before, layer: layer(before), initial=state))


def run(state, layers):
    return functools.reduce(lambda before, layer: layer(before), layers, state)


def map_by_loops(target, source, layers, token=slice(None), shift=0, length=None, rest=None):
    """The map, with one step exchanged."""
    length = length or (lambda v: math.sqrt(sum(x * x for x in v.tolist())))
    rest = rest or (lambda k: layers[k:])
    t, s = states_of(target, layers), states_of(source, layers)
    rows = []
    for k in range(len(t)):
        rows.append([])
        for i in range(target.shape[1]):
            patched = t[k].clone()
            patched[0, i, token] = s[k][0, i - shift, token]
            rows[-1].append(length(run(patched, rest(k))[0].mean(0) - t[-1][0].mean(0)))
    return rows


def entropy_by_where(weights):
    return torch.where(weights > 0, -weights * torch.log2(weights), torch.zeros_like(weights)).sum(
        -1
    )


def weights_for_padding_at_one_end(q, k, m):
    real = int(m.sum())
    kept = torch.zeros_like(m)
    kept[:real] = 1
    return weights_of_real_tokens(q, k, kept if m[0] else kept.flip(0))


def weights_by_log_sum(q, k, m):
    s = (q / math.sqrt(q.shape[2])) @ k.transpose(1, 2)
    s[:, :, m == 0] = -torch.inf
    return (s - torch.logsumexp(s, 2, keepdim=True)).exp()


RIGHT = {
    "05-find-the-bug": [
        joined,
        lambda q, k, v, n: joined(q.double(), k.double(), v.double(), n),
        lambda q, k, v, n: torch.cat(
            [*F.scaled_dot_product_attention(*(torch.stack(x.chunk(n, 1)) for x in (q, k, v)))], 1
        ),
        lambda *args: joined(*args).tolist(),
    ],
    "05-attention-weights": [
        weights_of_real_tokens,
        weights_by_log_sum,
        lambda q, k, m: F.softmax(
            scores(q, k).masked_fill(m == 0, scores(q, k).min().item() - 50), -1
        ),
        lambda q, k, m: F.softmax(low(scores(q.double(), k.double()), m), -1).numpy(),
        # as values, it returns the weights
        lambda q, k, m: F.scaled_dot_product_attention(
            q, k, torch.eye(len(m)).expand(len(q), -1, -1), attn_mask=m.bool()
        ),
        lambda *args: list(weights_of_real_tokens(*args)),
    ],
    "05-entropy": [
        entropy_by_where,
        lambda w: scipy.stats.entropy(w.numpy(), base=2, axis=-1),
        lambda w: torch.distributions.Categorical(probs=w).entropy() / math.log(2),
        lambda w: -(w * (w + torch.finfo(w.dtype).eps).log2()).sum(-1),
    ],
    "05-patching-map": [
        map_by_loops,
        lambda *args: np.array(map_by_loops(*args)),
        lambda *args: tuple(map_by_loops(*args)),
    ],
}

COMPLETED = {
    "05-one-head": [
        lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None])[0],
        lambda q, k, v: joined(q, k, v, heads=1),
        lambda q, k, v: weights_by_log_sum(q[None], k[None], torch.ones(len(k)))[0] @ v,
        lambda q, k, v: (
            scipy.special.softmax(np.inner(q, k) / np.sqrt(q.shape[1]), axis=1) @ v.numpy()
        ),
        lambda q, k, v: (
            torch.softmax((k.square().sum(1) - torch.cdist(q, k) ** 2) / 2 / q.shape[1] ** 0.5, 1)
            @ v
        ),
    ],
    "05-previous-score": [
        lambda w: w[:, :, 2:-1, 1:-2].diagonal(dim1=2, dim2=3).mean(2),
        lambda w: torch.stack([w[:, :, i, i - 1] for i in range(2, w.shape[2] - 1)]).mean(0),
        lambda w: w.numpy()[:, :, range(2, w.shape[2] - 1), range(1, w.shape[2] - 2)].mean(axis=-1),
        lambda w: (
            np.trace(w[:, :, 1:-1, 1:-1].numpy(), -1, 2, 3, dtype=np.float64) / (w.shape[2] - 3)
        ),
        lambda w: torch.einsum("lhii->lh", w[:, :, 2:-1, 1:-2]) / len(w[0, 0, 3:]),
        lambda w: [
            [statistics.fmean(row[i] for i, row in enumerate(head[2:-1], 1)) for head in layer]
            for layer in w.tolist()
        ],
        lambda w: w[:, :, 1:-1, 1:-1].tril(-1).triu(-1).sum((2, 3)) / (w.shape[3] - 3),
    ],
}

WRONG = {
    "05-find-the-bug": [(lambda q, k, v, n: 2 * joined(q, k, v, n), "times 2")],
    "05-entropy": [
        (lambda w: -torch.sum(w * torch.log2(w), dim=-1), "0 times infinity is not a number")
    ],
}

PROMISES = {
    "05-find-the-bug": [
        ("of shape (tokens, hidden)", lambda q, k, v, n: joined(q, k, v, n).unflatten(-1, (n, -1))),
        ("of shape (tokens, hidden)", lambda q, k, v, n: joined(q, k, v, n).T),
        ("any number of tokens", lambda q, k, v, n: joined(q, k, v, n).squeeze(0)),
        (
            "any number of tokens",
            lambda q, k, v, n: joined(k, q, v, n) if len(q) == n else joined(q, k, v, n),
        ),
        ("and heads", lambda q, k, v, n: joined(q, k, v, 2)),
    ],
    "05-attention-weights": [
        ("for all heads at once", lambda q, k, m: weights_of_real_tokens(q, k, m)[0]),
        (
            "d can be any number",
            lambda q, k, m: F.softmax(low(scores(q, k, max(q.shape[-1], 4)), m), -1),
        ),
        (
            "1 for real tokens and 0 for padding",
            lambda q, k, m: weights_of_real_tokens(q, k, 1 - m),
        ),
        (
            "which may be on the right, on the left or on both sides",
            lambda q, k, m: weights_of_real_tokens(q, k, m.sort(descending=True).values),
        ),
        ("which may be on the right, on the left or on both sides", weights_for_padding_at_one_end),
        (
            "(heads, tokens, tokens)",
            lambda q, k, m: weights_of_real_tokens(q, k, m).transpose(0, 1),
        ),
        (
            "Padding gets a weight of 0",
            lambda *a: weights_of_real_tokens(*a).clamp(min=1e-6),
            "the weight 1e-06",
        ),
        (
            "they look at real tokens",
            lambda q, k, m: torch.where(
                m[:, None] == 0, torch.eye(len(m)), weights_of_real_tokens(q, k, m)
            ),
        ),
    ],
    "05-entropy": [
        (
            "the last dimension disappears",
            lambda w: entropy_by_where(w).unsqueeze(-1),
            "their shape is",
        ),
        (
            "the last dimension disappears",
            lambda w: torch.atleast_1d(entropy_by_where(w)),
            "their shape is",
        ),
        ("of any shape", lambda w: entropy_by_where(w.flatten(0, -3) if w.ndim > 3 else w)),
        (
            "the entropy of each row in bits",
            lambda w: -(w * w.clamp(min=3e-4).log2()).sum(-1),
            "Small weights count, too",
        ),
        (
            "the entropy of each row in bits",
            lambda w: entropy_by_where(torch.where(w < 1e-6, 0, w)),
            "Small weights count, too",
        ),
        ("of each row", lambda w: entropy_by_where(w.transpose(-1, -2) if w.ndim > 1 else w)),
    ],
    "05-patching-map": [
        (
            "one or more functions",
            lambda t, s, f: map_by_loops(t, s, f) if len(f) > 1 else map_by_loops(t, s, f)[1:],
        ),
        ("one or more functions", lambda t, s, f: map_by_loops(t, s, f[:6])),
        ("layer k is `layers[k - 1]`", lambda t, s, f: map_by_loops(t, s, f[:1] * len(f))),
        (
            "two texts with the same number of tokens",
            lambda t, s, f: [row[1:] for row in map_by_loops(t, s, f)],
        ),
        ("by the vector of token i", lambda t, s, f: map_by_loops(t, s, f, shift=1)),
        ("by the vector of token i", lambda t, s, f: map_by_loops(t, s, f, token=slice(-1))),
        (
            "run the remaining layers",
            lambda t, s, f: map_by_loops(t, s, f, rest=lambda k: f[k : k + 1]),
        ),
        *(
            (
                "the Euclidean length of the change",
                lambda t, s, f, length=length: map_by_loops(t, s, f, length=length),
            )
            for length in (lambda v: v.abs().max(), lambda v: v.abs().sum())
        ),
        (
            "the Euclidean length of the change",
            lambda *a: np.array(map_by_loops(*a)) ** 2,
            "squared",
        ),
    ],
}
