"""Answers to lesson 05; `__init__.py` says what the tables are."""

import itertools
import math
import statistics

import numpy as np
import torch
import torch.nn.functional as F
from scipy import special, stats


def attention_by_head(queries, keys, values, heads):
    received = []
    for columns in torch.arange(queries.shape[1]).chunk(heads):
        logits = queries[:, columns] @ keys[:, columns].T / math.sqrt(len(columns))
        received.append(torch.softmax(logits, dim=1) @ values[:, columns])
    return torch.cat(received, dim=1)


# (tokens, hidden) becomes (heads, tokens, numbers of one head).
def by_head(table, heads):
    return torch.stack(table.chunk(heads, dim=1))


def weights_of_real_tokens(queries, keys, mask):
    real = mask.nonzero().flatten()
    logits = torch.einsum("hid,hjd->hij", queries, keys[:, real]) / np.sqrt(queries.size(-1))
    weights = torch.zeros(len(queries), len(mask), len(mask))
    weights[:, :, real] = torch.softmax(logits, -1)
    return weights


# `d`: by default, how many numbers a query has.
def scaled_products(queries, keys, d=None):
    d = queries.size(2) if d is None else d
    return torch.bmm(queries, keys.permute(0, 2, 1)) / d**0.5


# -1e9 is far below the lowest scores, of about minus a million.
def lowered_at_padding(logits, mask):
    return torch.where(mask.bool(), logits, torch.tensor(-1e9))


# The state given, and that after each layer.
def states_of(state, layers):
    return list(itertools.accumulate(layers, lambda before, layer: layer(before), initial=state))


# A right answer. Each keyword exchanges one step:
#
# - `numbers`: which numbers of a vector are replaced.
# - `shift`: how many tokens before the patched one stands the token whose vector is taken.
# - `layers_after(layers, depth)`: the layers that are run on the patched state.
# - `length(change)`: the number for a change (hidden,) of the mean of the tokens' last vectors.
def map_by_loops(
    target,
    source,
    layers,
    numbers=slice(None),
    shift=0,
    layers_after=lambda layers, depth: layers[depth:],
    length=lambda change: math.hypot(*change.tolist()),
):
    targets, sources = states_of(target, layers), states_of(source, layers)

    def effect(depth, position):
        patched = targets[depth].clone()
        patched[0, position, numbers] = sources[depth][0, position - shift, numbers]
        last = states_of(patched, layers_after(layers, depth))[-1]
        return length((last - targets[-1])[0].mean(0))

    rows = []
    for depth in range(len(targets)):
        rows.append([effect(depth, position) for position in range(target.shape[1])])
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
        attention_by_head,
        lambda queries, keys, values, heads: attention_by_head(
            queries.double(), keys.double(), values.double(), heads
        ),
        # head by head, joined at the end
        lambda queries, keys, values, heads: (
            F.scaled_dot_product_attention(
                by_head(queries, heads), by_head(keys, heads), by_head(values, heads)
            )
            .transpose(0, 1)
            .flatten(1)
        ),
        lambda *args: attention_by_head(*args).tolist(),
    ],
    "05-attention-weights": [
        weights_of_real_tokens,
        weights_by_log_sum,
        # padding gets 50 less than the lowest score: its weight is below e^-50, or 2e-22
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
        lambda weights: stats.entropy(weights.numpy(), base=2, axis=-1),
        lambda weights: torch.distributions.Categorical(probs=weights).entropy() / math.log(2),
        # what is added, 1e-7, changes the logarithms of tiny weights only, which hardly count
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
        lambda queries, keys, values: attention_by_head(queries, keys, values, heads=1),
        lambda queries, keys, values: (
            weights_by_log_sum(queries[None], keys[None], torch.ones(len(keys)))[0] @ values
        ),
        lambda queries, keys, values: (
            special.softmax(np.inner(queries, keys) / np.sqrt(queries.shape[1]), axis=1)
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
    # the mean weight of a word on the word before it, without [CLS] and [SEP]: of n tokens, n - 3
    # are words with a word before them
    "05-previous-score": [
        lambda weights: weights[:, :, 2:-1, 1:-2].diagonal(dim1=2, dim2=3).mean(2),
        lambda weights: torch.stack(
            [weights[:, :, i, i - 1] for i in range(2, weights.shape[2] - 1)]
        ).mean(0),
        lambda weights: weights.numpy()[
            :, :, range(2, weights.shape[2] - 1), range(1, weights.shape[2] - 2)
        ].mean(axis=-1),
        lambda weights: (
            np.trace(
                weights[:, :, 1:-1, 1:-1].numpy(), offset=-1, axis1=2, axis2=3, dtype=np.float64
            )
            / (weights.shape[2] - 3)
        ),
        lambda weights: (
            torch.einsum("lhii->lh", weights[:, :, 2:-1, 1:-2]) / len(weights[0, 0, 3:])
        ),
        # the rows from the second word on, each numbered by the place of the word before
        lambda weights: [
            [statistics.fmean(row[i] for i, row in enumerate(head[2:-1], 1)) for head in layer]
            for layer in weights.tolist()
        ],
        # nothing but the diagonal below the main one is left
        lambda weights: (
            weights[:, :, 1:-1, 1:-1].tril(-1).triu(-1).sum((2, 3)) / (weights.shape[3] - 3)
        ),
    ],
}

WRONG = {
    "05-find-the-bug": [
        (
            lambda queries, keys, values, heads: (
                2 * attention_by_head(queries, keys, values, heads)
            ),
            "times 2",
        )
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
        (  # keeps the heads apart: (tokens, heads, numbers of one head)
            "of shape (tokens, hidden)",
            lambda queries, keys, values, heads: attention_by_head(
                queries, keys, values, heads
            ).unflatten(-1, (heads, -1)),
        ),
        (  # (hidden, tokens)
            "of shape (tokens, hidden)",
            lambda queries, keys, values, heads: attention_by_head(queries, keys, values, heads).T,
        ),
        (  # a single token loses its dimension
            "any number of tokens",
            lambda queries, keys, values, heads: attention_by_head(
                queries, keys, values, heads
            ).squeeze(0),
        ),
        (  # exchanges queries and keys where there are as many tokens as heads
            "any number of tokens",
            lambda queries, keys, values, heads: (
                attention_by_head(keys, queries, values, heads)
                if len(queries) == heads
                else attention_by_head(queries, keys, values, heads)
            ),
        ),
        # takes two heads, whatever their number
        (
            "and heads",
            lambda queries, keys, values, heads: attention_by_head(queries, keys, values, 2),
        ),
    ],
    "05-attention-weights": [
        (  # only the first head
            "for all heads at once",
            lambda queries, keys, mask: weights_of_real_tokens(queries, keys, mask)[0],
        ),
        (  # takes 4 for d where it is smaller
            "d can be any number",
            lambda queries, keys, mask: F.softmax(
                lowered_at_padding(scaled_products(queries, keys, max(queries.shape[-1], 4)), mask),
                -1,
            ),
        ),
        (  # takes padding for real, and real tokens for padding
            "1 for real tokens and 0 for padding",
            lambda queries, keys, mask: weights_of_real_tokens(queries, keys, 1 - mask),
        ),
        (  # takes the first positions to be the real ones
            "which may be on the right, on the left or on both sides",
            lambda queries, keys, mask: weights_of_real_tokens(
                queries, keys, mask.sort(descending=True).values
            ),
        ),
        (  # takes the first positions if the mask begins with 1, and otherwise the last
            "which may be on the right, on the left or on both sides",
            lambda queries, keys, mask: weights_of_real_tokens(
                queries, keys, mask.sort(descending=bool(mask[0])).values
            ),
        ),
        (  # (tokens, heads, tokens)
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
        (  # takes the logarithm of 3e-4 for that of a smaller weight; the check has some of 2e-7
            "the entropy of each row in bits",
            lambda weights: -(weights * weights.clamp(min=3e-4).log2()).sum(-1),
            "Small weights count, too",
        ),
        (  # leaves out weights below 1e-6
            "the entropy of each row in bits",
            lambda weights: entropy_by_where(torch.where(weights < 1e-6, 0, weights)),
            "Small weights count, too",
        ),
        (  # returns the entropy of each column
            "of each row",
            lambda weights: entropy_by_where(
                weights.transpose(-1, -2) if weights.ndim > 1 else weights
            ),
        ),
    ],
    "05-patching-map": [
        (  # leaves out the first row where there is one layer
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
        (  # leaves out the first token
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
                target, source, layers, layers_after=lambda layers, depth: layers[depth : depth + 1]
            ),
        ),
        (  # the largest change of a number
            "the Euclidean length of the change",
            lambda *args: map_by_loops(*args, length=lambda change: change.abs().max()),
        ),
        (  # the sum of the changes of all numbers
            "the Euclidean length of the change",
            lambda *args: map_by_loops(*args, length=lambda change: change.abs().sum()),
        ),
        (
            "the Euclidean length of the change",
            lambda *args: np.array(map_by_loops(*args)) ** 2,
            "squared",
        ),
    ],
}
