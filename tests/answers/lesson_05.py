"""Answers to lesson 05; `__init__.py` says what the tables are."""

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
        logits = queries[:, own] @ keys[:, own].T / math.sqrt(len(own))
        parts.append(torch.softmax(logits, dim=1) @ values[:, own])
    return torch.cat(parts, dim=1)


def weights_of_real_tokens(queries, keys, mask):
    real = mask.nonzero().flatten()
    weights = torch.zeros(len(queries), len(mask), len(mask))
    weights[:, :, real] = torch.softmax(
        torch.einsum("hid,hjd->hij", queries, keys[:, real]) / np.sqrt(queries.size(-1)), -1
    )
    return weights


def scaled_products(queries, keys, divisor=None):
    divisor = queries.size(2) if divisor is None else divisor
    return torch.bmm(queries, keys.permute(0, 2, 1)) / divisor**0.5


def lowered_at_padding(logits, mask):
    return torch.where(mask.bool(), logits, torch.tensor(-1e9))


def states_of(state, layers):
    return list(itertools.accumulate(layers, lambda before, layer: layer(before), initial=state))


# A right answer; each keyword exchanges one step: `numbers`, which of a vector are replaced;
# `shift`, from how many tokens before; `length`, of a change; `rest`, the layers that are run from a
# depth on.
def map_by_loops(target, source, layers, numbers=slice(None), shift=0, length=None, rest=None):
    length = length or (lambda change: math.hypot(*change.tolist()))
    rest = rest or (lambda depth: layers[depth:])
    targets, sources = states_of(target, layers), states_of(source, layers)
    rows = []
    for depth in range(len(targets)):
        rows.append([])
        for position in range(target.shape[1]):
            patched = targets[depth].clone()
            patched[0, position, numbers] = sources[depth][0, position - shift, numbers]
            changed = states_of(patched, rest(depth))[-1] - targets[-1]
            rows[-1].append(length(changed[0].mean(0)))
    return rows


def entropy_by_where(weights):
    terms = torch.where(weights > 0, -weights * torch.log2(weights), torch.zeros_like(weights))
    return terms.sum(-1)


def weights_by_log_sum(queries, keys, mask):
    logits = (queries / math.sqrt(queries.shape[2])) @ keys.transpose(1, 2)
    logits[:, :, mask == 0] = -torch.inf
    return (logits - torch.logsumexp(logits, 2, keepdim=True)).exp()


RIGHT = {
    "05-find-the-bug": [
        joined,
        lambda queries, keys, values, heads: joined(
            queries.double(), keys.double(), values.double(), heads
        ),
        lambda queries, keys, values, heads: torch.cat(
            [
                *F.scaled_dot_product_attention(
                    *(torch.stack(table.chunk(heads, 1)) for table in (queries, keys, values))
                )
            ],
            1,
        ),
        lambda *args: joined(*args).tolist(),
    ],
    "05-attention-weights": [
        weights_of_real_tokens,
        weights_by_log_sum,
        lambda queries, keys, mask: F.softmax(
            scaled_products(queries, keys).masked_fill(
                mask == 0, scaled_products(queries, keys).min().item() - 50
            ),
            -1,
        ),
        lambda queries, keys, mask: F.softmax(
            lowered_at_padding(scaled_products(queries.double(), keys.double()), mask), -1
        ).numpy(),
        # with the identity for values, attention returns the weights
        lambda queries, keys, mask: F.scaled_dot_product_attention(
            queries, keys, torch.eye(len(mask)).expand(len(queries), -1, -1), attn_mask=mask.bool()
        ),
        lambda *args: list(weights_of_real_tokens(*args)),
    ],
    "05-entropy": [
        entropy_by_where,
        lambda weights: scipy.stats.entropy(weights.numpy(), base=2, axis=-1),
        lambda weights: torch.distributions.Categorical(probs=weights).entropy() / math.log(2),
        lambda weights: -(weights * (weights + torch.finfo(weights.dtype).eps).log2()).sum(-1),
    ],
    "05-patching-map": [
        map_by_loops,
        lambda *args: np.array(map_by_loops(*args)),
        lambda *args: tuple(map_by_loops(*args)),
    ],
}

COMPLETED = {
    "05-one-head": [
        lambda queries, keys, values: F.scaled_dot_product_attention(
            queries[None], keys[None], values[None]
        )[0],
        lambda queries, keys, values: joined(queries, keys, values, heads=1),
        lambda queries, keys, values: (
            weights_by_log_sum(queries[None], keys[None], torch.ones(len(keys)))[0] @ values
        ),
        lambda queries, keys, values: (
            scipy.special.softmax(np.inner(queries, keys) / np.sqrt(queries.shape[1]), axis=1)
            @ values.numpy()
        ),
        # q·k from squared distances; what a whole row has in common does not change its softmax
        lambda queries, keys, values: (
            torch.softmax(
                (keys.square().sum(1) - torch.cdist(queries, keys) ** 2)
                / 2
                / queries.shape[1] ** 0.5,
                1,
            )
            @ values
        ),
    ],
    # the mean weight of a word on the word before it, without [CLS] and [SEP]
    "05-previous-score": [
        lambda weights: weights[:, :, 2:-1, 1:-2].diagonal(dim1=2, dim2=3).mean(2),
        lambda weights: torch.stack(
            [weights[:, :, i, i - 1] for i in range(2, weights.shape[2] - 1)]
        ).mean(0),
        lambda weights: weights.numpy()[
            :, :, range(2, weights.shape[2] - 1), range(1, weights.shape[2] - 2)
        ].mean(axis=-1),
        lambda weights: (
            np.trace(weights[:, :, 1:-1, 1:-1].numpy(), -1, 2, 3, dtype=np.float64)
            / (weights.shape[2] - 3)
        ),
        lambda weights: (
            torch.einsum("lhii->lh", weights[:, :, 2:-1, 1:-2]) / len(weights[0, 0, 3:])
        ),
        lambda weights: [
            [statistics.fmean(row[i] for i, row in enumerate(head[2:-1], 1)) for head in layer]
            for layer in weights.tolist()
        ],
        lambda weights: (
            weights[:, :, 1:-1, 1:-1].tril(-1).triu(-1).sum((2, 3)) / (weights.shape[3] - 3)
        ),
    ],
}

WRONG = {
    "05-find-the-bug": [
        (lambda queries, keys, values, heads: 2 * joined(queries, keys, values, heads), "times 2")
    ],
    "05-entropy": [
        (
            lambda weights: -torch.sum(weights * torch.log2(weights), dim=-1),
            "0 times infinity is not a number",
        )
    ],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "05-find-the-bug": [
        (  # keeps the heads apart
            "of shape (tokens, hidden)",
            lambda queries, keys, values, heads: joined(queries, keys, values, heads).unflatten(
                -1, (heads, -1)
            ),
        ),
        (
            "of shape (tokens, hidden)",
            lambda queries, keys, values, heads: joined(queries, keys, values, heads).T,
        ),
        (  # a single token loses its dimension
            "any number of tokens",
            lambda queries, keys, values, heads: joined(queries, keys, values, heads).squeeze(0),
        ),
        (  # exchanges queries and keys where there are as many tokens as heads
            "any number of tokens",
            lambda queries, keys, values, heads: (
                joined(keys, queries, values, heads)
                if len(queries) == heads
                else joined(queries, keys, values, heads)
            ),
        ),
        ("and heads", lambda queries, keys, values, heads: joined(queries, keys, values, 2)),
    ],
    "05-attention-weights": [
        (  # only the first head
            "for all heads at once",
            lambda queries, keys, mask: weights_of_real_tokens(queries, keys, mask)[0],
        ),
        (  # takes 4 for a smaller d
            "d can be any number",
            lambda queries, keys, mask: F.softmax(
                lowered_at_padding(scaled_products(queries, keys, max(queries.shape[-1], 4)), mask),
                -1,
            ),
        ),
        (  # looks at the padding
            "1 for real tokens and 0 for padding",
            lambda queries, keys, mask: weights_of_real_tokens(queries, keys, 1 - mask),
        ),
        (  # takes the first places for the real ones
            "which may be on the right, on the left or on both sides",
            lambda queries, keys, mask: weights_of_real_tokens(
                queries, keys, mask.sort(descending=True).values
            ),
        ),
        (  # expects the real tokens at one end: where the mask begins with 1, or else at the other
            "which may be on the right, on the left or on both sides",
            lambda queries, keys, mask: weights_of_real_tokens(
                queries, keys, mask.sort(descending=bool(mask[0])).values
            ),
        ),
        (
            "(heads, tokens, tokens)",
            lambda queries, keys, mask: weights_of_real_tokens(queries, keys, mask).transpose(0, 1),
        ),
        (  # gives padding a small weight
            "Padding gets a weight of 0",
            lambda *args: weights_of_real_tokens(*args).clamp(min=1e-6),
            "the weight 1e-06",
        ),
        (  # padding looks at itself
            "they look at real tokens",
            lambda queries, keys, mask: torch.where(
                mask[:, None] == 0,
                torch.eye(len(mask)),
                weights_of_real_tokens(queries, keys, mask),
            ),
        ),
    ],
    "05-entropy": [
        (  # keeps the last dimension, with the length 1
            "the last dimension disappears",
            lambda weights: entropy_by_where(weights).unsqueeze(-1),
            "their shape is",
        ),
        (  # keeps it for a single row
            "the last dimension disappears",
            lambda weights: torch.atleast_1d(entropy_by_where(weights)),
            "their shape is",
        ),
        (  # joins the first dimensions where there are more than three
            "of any shape",
            lambda weights: entropy_by_where(
                weights.flatten(0, -3) if weights.ndim > 3 else weights
            ),
        ),
        (  # takes the logarithm of a larger weight for a small one
            "the entropy of each row in bits",
            lambda weights: -(weights * weights.clamp(min=3e-4).log2()).sum(-1),
            "Small weights count, too",
        ),
        (  # leaves small weights out
            "the entropy of each row in bits",
            lambda weights: entropy_by_where(torch.where(weights < 1e-6, 0, weights)),
            "Small weights count, too",
        ),
        (  # of each column
            "of each row",
            lambda weights: entropy_by_where(
                weights.transpose(-1, -2) if weights.ndim > 1 else weights
            ),
        ),
    ],
    "05-patching-map": [
        (  # without the first row where there is one layer
            "one or more functions",
            lambda target, source, layers: (
                map_by_loops(target, source, layers)
                if len(layers) > 1
                else map_by_loops(target, source, layers)[1:]
            ),
        ),
        (  # only the first six layers
            "one or more functions",
            lambda target, source, layers: map_by_loops(target, source, layers[:6]),
        ),
        (  # applies the first layer each time
            "layer k is `layers[k - 1]`",
            lambda target, source, layers: map_by_loops(target, source, layers[:1] * len(layers)),
        ),
        (  # leaves the first token out
            "two texts with the same number of tokens",
            lambda target, source, layers: [
                row[1:] for row in map_by_loops(target, source, layers)
            ],
        ),
        (  # takes the vector of the token before
            "by the vector of token i",
            lambda target, source, layers: map_by_loops(target, source, layers, shift=1),
        ),
        (  # leaves the last number of the vector as it was
            "by the vector of token i",
            lambda target, source, layers: map_by_loops(target, source, layers, numbers=slice(-1)),
        ),
        (  # runs only the next layer
            "run the remaining layers",
            lambda target, source, layers: map_by_loops(
                target, source, layers, rest=lambda depth: layers[depth : depth + 1]
            ),
        ),
        *(
            (  # the largest change of a number, and the sum of all
                "the Euclidean length of the change",
                lambda target, source, layers, length=length: map_by_loops(
                    target, source, layers, length=length
                ),
            )
            for length in (lambda change: change.abs().max(), lambda change: change.abs().sum())
        ),
        (
            "the Euclidean length of the change",
            lambda *args: np.array(map_by_loops(*args)) ** 2,
            "squared",
        ),
    ],
}
