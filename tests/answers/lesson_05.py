"""Answers to lesson 05."""

import functools
import itertools
import math

import numpy as np
import scipy.stats
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


def joined(q, k, v, n, dim=-1, split="right"):
    t, hidden = q.shape
    q, k, v = (x.view(t, n, -1).transpose(0, 1) if split == "right" else x.view(n, t, -1) for x in (q, k, v))
    out = F.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=dim) @ v
    return out.transpose(0, 1).reshape(t, hidden)


def tokens_left_first(q, k, v, n):
    t, hidden = q.shape
    q, k, v = (x.view(t, n, -1) for x in (q, k, v))
    return (F.softmax(q @ k.mT / math.sqrt(hidden // n), dim=-1) @ v).transpose(0, 1).reshape(t, hidden)


def split_by_heads(q, k, v, n):
    t, hidden = q.shape
    q, k, v = (torch.stack(x.split(n, dim=1)) for x in (q, k, v))
    return torch.cat(list(F.softmax(q @ k.mT / math.sqrt(hidden // n), dim=-1) @ v), dim=1)


def weights_by_loop(queries, keys, attention_mask):
    result = torch.zeros(len(queries), queries.shape[1], queries.shape[1])
    for h, (q, k) in enumerate(zip(queries, keys)):
        for i in range(len(q)):
            found = {j: float(q[i] @ k[j]) / math.sqrt(len(q[i])) for j in range(len(k)) if attention_mask[j]}
            powers = {j: math.exp(score - max(found.values())) for j, score in found.items()}
            for j, power in powers.items():
                result[h, i, j] = power / sum(powers.values())
    return result


def weights_of_real_tokens(q, k, m):
    real = m.nonzero().flatten()
    w = torch.zeros(len(q), len(m), len(m))
    w[:, :, real] = torch.softmax(torch.einsum("hid,hjd->hij", q, k[:, real]) / np.sqrt(q.size(-1)), -1)
    return w


def weights_filled_below_all(q, k, m):
    s = scores(q, k)
    return F.softmax(s.masked_fill(m == 0, s.min().item() - 50), -1)


def scores(q, k, d=None):
    return torch.bmm(q, k.permute(0, 2, 1)) / (q.size(2) if d is None else d) ** 0.5


def low(s, m):
    return torch.where(m.bool(), s, torch.tensor(-1e9))


def states_of(state, layers):
    return list(itertools.accumulate(layers, lambda before, layer: layer(before), initial=state))


def run(state, layers):
    return functools.reduce(lambda before, layer: layer(before), layers, state)


def map_by_loops(target, source, layers, swap=None, length=None, rest=None):
    """The map, with one step exchanged."""
    length = length or (lambda v: math.sqrt(sum(x * x for x in v.tolist())))
    rest = rest or (lambda k: layers[k:])
    t, s = states_of(target, layers), states_of(source, layers)
    before = t[-1][0].mean(0)
    rows = []
    for k in range(len(t)):
        row = []
        for i in range(target.shape[1]):
            patched = t[k].clone()
            other = s[k]
            if swap:
                swap(patched, other, i)
            else:
                patched[0, i] = other[0, i]
            row.append(length(run(patched, rest(k))[0].mean(0) - before))
        rows.append(row)
    return rows


def map_recursively(target, source, layers):
    def below(state, other, left):
        end = run(state, left).mean(1)
        row = []
        for i in range(state.shape[1]):
            mask = (torch.arange(state.shape[1]) == i)[None, :, None]
            row.append(torch.dist(run(torch.where(mask, other, state), left).mean(1), end))
        return [torch.stack(row), *(below(left[0](state), left[0](other), left[1:]) if left else [])]

    return torch.stack(below(target, source, layers))


def map_in_numpy(target, source, layers):
    t, s = states_of(target, layers), states_of(source, layers)
    found = np.empty((len(layers) + 1, target.shape[1]))
    for k, i in np.ndindex(*found.shape):
        patched = t[k].numpy().copy()
        patched[:, i] = s[k].numpy()[:, i]
        moved = run(torch.from_numpy(patched), layers[k:]) - t[-1]
        found[k, i] = np.linalg.norm(moved.numpy().astype(np.float64).mean(axis=1))
    return found


def swap_first_number(patched, other, i):
    patched[0, i, :-1] = other[0, i, :-1]


def swap_shifted(patched, other, i):
    patched[0, i] = other[0, i - 1]


def entropy_by_where(weights):
    return torch.where(weights > 0, -weights * torch.log2(weights), torch.zeros_like(weights)).sum(-1)


def joined_in_float64(q, k, v, n):
    return joined(q.double(), k.double(), v.double(), n)


def weights_for_padding_on_the_right(q, k, m):
    return weights_of_real_tokens(q, k, (torch.arange(len(m)) < m.sum()).int())


def weights_for_padding_at_one_end(q, k, m):
    real = int(m.sum())
    kept = torch.zeros_like(m)
    kept[:real] = 1
    return weights_of_real_tokens(q, k, kept if m[0] else kept.flip(0))


def entropy_by_scipy(w):
    return scipy.stats.entropy(w.numpy(), base=2, axis=-1)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def softmax_of(row):
    powers = [math.exp(x - max(row)) for x in row]
    return [x / sum(powers) for x in powers]


def joined_in_lists(queries, keys, values, heads):
    q, k, v = queries.tolist(), keys.tolist(), values.tolist()
    size, rows = len(q[0]) // heads, []
    for query in q:
        row = []
        for own in (slice(start, start + size) for start in range(0, size * heads, size)):
            weights = softmax_of([dot(query[own], key[own]) / size**0.5 for key in k])
            row += [dot(weights, column) for column in zip(*(value[own] for value in v))]
        rows.append(row)
    return rows


def joined_by_log_sum(q, k, v, n):
    """The weights as powers of e; scaled before the products."""
    q, k, v = (x.unflatten(1, (n, -1)) for x in (q, k, v))
    s = torch.einsum("ihd,jhd->hij", q / q.shape[2] ** 0.25, k / q.shape[2] ** 0.25)
    return torch.einsum("hij,jhd->ihd", (s - s.logsumexp(2, keepdim=True)).exp(), v).flatten(1)


def weights_by_log_sum(q, k, m):
    s = (q / math.sqrt(q.shape[2])) @ k.transpose(1, 2)
    s[:, :, m == 0] = -torch.inf
    return (s - torch.logsumexp(s, 2, keepdim=True)).exp()


def entropy_in_lists(weights):
    def entropy(row):
        if isinstance(row[0], list):
            return [entropy(inner) for inner in row]
        return math.fsum(x * math.log2(1 / x) for x in row if x > 0)

    return entropy(weights.tolist())


def entropy_below_even_weights(w):
    """The most that there can be, less the divergence from even weights."""
    n = w.shape[-1]
    return math.log2(n) - torch.xlogy(w, w * n).sum(-1) / math.log(2)


def entropy_of_the_library(w):
    return torch.distributions.Categorical(probs=w).entropy() / math.log(2)


def map_of_a_batch(target, source, layers):
    """All patches of a hidden state at once; the vectors' changes are averaged, not the vectors."""
    rows = []
    for k, (t, s) in enumerate(zip(states_of(target, layers), states_of(source, layers))):
        here = torch.eye(t.shape[1]).unsqueeze(2)
        changes = run(t * (1 - here) + s * here, layers[k:]) - run(t, layers[k:])
        rows.append(changes.mean(1).square().sum(1).sqrt())
    return torch.stack(rows)


RIGHT = {
    "05-find-the-bug": [
        joined_by_loop,
        joined_in_float64,
        joined_in_lists,
        joined_by_log_sum,
        lambda *args: joined_by_loop(*args).numpy(),
        lambda *args: joined_by_loop(*args).tolist(),
    ],
    "05-attention-weights": [
        weights_by_loop,
        weights_of_real_tokens,
        weights_filled_below_all,
        weights_by_log_sum,
        lambda q, k, m: F.softmax(low(scores(q.double(), k.double()), m), -1).numpy(),
        lambda *args: list(weights_of_real_tokens(*args)),
    ],
    "05-entropy": [
        entropy_by_where,
        entropy_by_scipy,
        entropy_in_lists,
        entropy_below_even_weights,
        entropy_of_the_library,
        lambda w: -(w * (w + torch.finfo(w.dtype).eps).log2()).sum(-1),
    ],
    "05-patching-map": [map_by_loops, map_recursively, map_in_numpy, map_of_a_batch],
}

WRONG = {
    "05-find-the-bug": [
        (lambda q, k, v, n: joined(q, k, v, n, dim=1, split="wrong"), "Both mistakes are still there"),
        (tokens_left_first, "the tokens are still in the first dimension"),
        (split_by_heads, "Your pieces have as many numbers as there are heads"),
    ],
    "05-attention-weights": [(lambda q, k, m: F.softmax(scores(q, k), -1), "The mask has no effect: padding")],
    "05-entropy": [(lambda w: -torch.sum(w * torch.log2(w), dim=-1), "0 times infinity is not a number")],
    "05-patching-map": [
        (lambda t, s, f: map_by_loops(t, s, f, rest=lambda k: f), "You run all layers after each patch")
    ],
}

PROMISES = {
    "05-find-the-bug": [
        ("of shape (tokens, hidden)", lambda q, k, v, n: joined(q, k, v, n).unflatten(-1, (n, -1))),
        ("of shape (tokens, hidden)", lambda q, k, v, n: joined(q, k, v, n).T),
        ("any number of tokens", lambda q, k, v, n: joined(q, k, v, n).squeeze(0)),
        ("any number of tokens", lambda q, k, v, n: joined(q, k, v, n, dim=1 if len(q) == n else -1)),
        ("and heads", lambda q, k, v, n: joined(q, k, v, 2)),
    ],
    "05-attention-weights": [
        ("for all heads at once", lambda q, k, m: weights_of_real_tokens(q, k, m)[0]),
        ("d can be any number", lambda q, k, m: F.softmax(low(scores(q, k, max(q.shape[-1], 4)), m), -1)),
        ("1 for real tokens and 0 for padding", lambda q, k, m: weights_of_real_tokens(q, k, 1 - m)),
        ("which may be on the right, on the left or on both sides", weights_for_padding_on_the_right),
        ("which may be on the right, on the left or on both sides", weights_for_padding_at_one_end),
        ("(heads, tokens, tokens)", lambda q, k, m: weights_of_real_tokens(q, k, m).transpose(0, 1)),
        ("Padding gets a weight of 0", lambda *a: weights_of_real_tokens(*a).clamp(min=1e-6), "gets the weight 1e-06"),
        (
            "they look at real tokens",
            lambda q, k, m: torch.where(m[:, None] == 0, torch.eye(len(m)), weights_of_real_tokens(q, k, m)),
        ),
    ],
    "05-entropy": [
        ("of any shape", lambda w: entropy_by_where(w.flatten(0, -3) if w.ndim > 3 else w)),
        (
            "the entropy of each row in bits",
            lambda w: -(w * w.clamp(min=3e-3).log2()).sum(-1),
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
        ("one or more functions", lambda t, s, f: map_by_loops(t, s, f) if len(f) > 1 else map_by_loops(t, s, f)[1:]),
        ("one or more functions", lambda t, s, f: map_by_loops(t, s, f[:2])),
        ("one or more functions", lambda t, s, f: map_by_loops(t, s, f[:6])),
        ("layer k is `layers[k - 1]`", lambda t, s, f: map_by_loops(t, s, f[:1] * len(f))),
        ("two texts with the same number of tokens", lambda t, s, f: [row[1:] for row in map_by_loops(t, s, f)]),
        ("by the vector of token i", lambda t, s, f: map_by_loops(t, s, f, swap=swap_shifted)),
        ("by the vector of token i", lambda t, s, f: map_by_loops(t, s, f, swap=swap_first_number)),
        ("run the remaining layers", lambda t, s, f: map_by_loops(t, s, f, rest=lambda k: f[k : k + 1])),
        (
            "the Euclidean length of the change in the sentence vector",
            lambda t, s, f: map_by_loops(t, s, f, length=lambda v: v.abs().max()),
        ),
    ],
}
