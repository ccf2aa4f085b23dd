"""Answers to lesson 07; `__init__.py` says what the tables are."""

import functools
import math
import statistics

import numpy as np
import torch
import torch.nn.functional as F


# The piece has the probability p where its logit is log(p / (1 - p)) above the log-sum-exp of the
# others. A row that moves by `hidden` raises its logit by the square of the length of `hidden`.
def row_with_torch(hidden, table, bias, piece, p):
    logits = table @ hidden + bias
    keep = torch.arange(len(bias)) != piece
    rise = torch.logit(torch.tensor(p)) + torch.logsumexp(logits[keep], 0) - logits[piece]
    return table[piece] + rise / hidden.norm() ** 2 * hidden


def mask_with_where(ids, special_ids, mask_id, draws, share):
    special = sum(ids == number for number in special_ids).bool()
    hide = torch.logical_and(draws < share, torch.logical_not(special))
    return torch.where(hide, mask_id, ids), torch.where(hide, ids, -100)


def bits_row_by_row(logits, targets):
    nats = [torch.logsumexp(row, 0) - row[target] for row, target in zip(logits.double(), targets)]
    return (torch.stack(nats) / np.log(2)).float()


def perplexity_with_the_library(logits, labels):
    return torch.exp(F.cross_entropy(logits.flatten(0, 1), labels.flatten()))


# The logarithm of the sum of the exponentials. Less the highest number, no exponent is above 0, so
# no exponential overflows.
def log_sum(numbers):
    highest = max(numbers)
    return highest + math.log(math.fsum(math.exp(number - highest) for number in numbers))


def bits_in_lists(logits, targets):
    return [
        (log_sum(row) - row[target]) / math.log(2)
        for row, target in zip(logits.tolist(), targets.tolist())
    ]


RIGHT = {
    "07-edit-row": [
        row_with_torch,
        lambda *args: list(row_with_torch(*args)),
        lambda *args: np.array(row_with_torch(*args)),
    ],
    "07-mask-tokens": [
        mask_with_where,
        lambda *args: np.array(mask_with_where(*args)),
        lambda *args: list(mask_with_where(*args)),
    ],
    "07-surprisal": [
        bits_row_by_row,
        bits_in_lists,
        lambda logits, targets: F.cross_entropy(logits, targets, reduction="none") / math.log(2),
    ],
    "07-find-the-bug": [
        perplexity_with_the_library,
        lambda logits, labels: torch.nn.functional.cross_entropy(
            logits.double().transpose(1, 2), labels
        ).exp(),
        lambda *args: np.array(perplexity_with_the_library(*args)),
    ],
}

COMPLETED = {
    "07-labels": [
        lambda ids, chosen: torch.where(chosen, ids, -100),
        lambda ids, chosen: np.where(chosen, ids, -100).astype(np.int32),
        lambda ids, chosen: ids * chosen - 100 * ~chosen,
        lambda ids, chosen: torch.full_like(ids, -100).masked_scatter(chosen, ids[chosen]),
        lambda ids, chosen: np.ma.array(ids, mask=~chosen).filled(-100).tolist(),
        lambda ids, chosen: ids.index_put(torch.where(chosen.logical_not()), torch.tensor(-100)),
    ],
    # the mean surprisal of the targets, in bits
    "07-nats-to-bits": [
        lambda logits, targets: F.cross_entropy(logits, targets) * math.log2(math.e),
        lambda logits, targets: np.log2(np.exp(F.cross_entropy(logits, targets).item())),
        lambda logits, targets: statistics.fmean(bits_in_lists(logits, targets)),
        lambda logits, targets: F.nll_loss(logits.double().softmax(1).log2(), targets),
        lambda logits, targets: bits_row_by_row(logits, targets).mean().numpy(),
        lambda logits, targets: math.log(perplexity_with_the_library(logits[None], targets), 2),
        # `logaddexp2` adds up powers of 2, column by column
        lambda logits, targets: (
            functools.reduce(torch.logaddexp2, (logits / math.log(2)).unbind(1)).mean()
            - logits[range(len(targets)), targets].mean() / math.log(2)
        ),
    ],
}

WRONG = {
    "07-edit-row": [
        (
            # changes numbers by 2e-4, which is more than the check allows for rounding
            lambda hidden, table, bias, piece, p: (
                row_with_torch(hidden, table, bias, piece, p) + 2e-4 * table[piece].sign()
            ),
            "The row is raised",
        ),
        (lambda hidden, table, bias, piece, p: (table[piece], bias), "a tuple where the shape"),
    ],
    "07-surprisal": [
        (  # adds 1e-12 against the logarithm of 0, and so limits the bits to 40
            lambda logits, targets: (
                -(logits.softmax(-1) + 1e-12)[range(len(targets)), targets].log2()
            ),
            "may have been rounded to 0",
        ),
        (lambda logits, targets: bits_row_by_row(logits, targets).mean(), "a single number"),
    ],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "07-edit-row": [
        (  # gives the piece half of the probability
            "gives the piece the probability `p` at this mask",
            lambda hidden, table, bias, piece, p: row_with_torch(hidden, table, bias, piece, p / 2),
            "the piece has the probability",
        ),
        (
            "Return a new row for this piece, of shape (d,)",
            lambda *args: row_with_torch(*args)[None],
            "shape",
        ),
    ],
    "07-mask-tokens": [
        (  # masks only the first row
            "for a whole batch",
            # a draw of 1 is below no share
            lambda ids, special_ids, mask_id, draws, share: mask_with_where(
                ids, special_ids, mask_id, torch.cat([draws[:1], torch.ones_like(draws[1:])]), share
            ),
        ),
        (
            "the ids with `mask_id`",
            lambda *args: mask_with_where(*args)[::-1],
            "in the reverse order",
        ),
    ],
    "07-surprisal": [
        # returns only the first surprisal
        ("as a tensor of shape (n,)", lambda *args: bits_row_by_row(*args)[:1]),
        (  # (n, 1)
            "as a tensor of shape (n,)",
            lambda *args: bits_row_by_row(*args)[:, None],
            "their shape is",
        ),
        # limits the bits: to 149, those of the smallest probability in float32, and to more
        ("its surprisal is then large", lambda *args: bits_row_by_row(*args).clamp(max=149)),
        ("its surprisal is then large", lambda *args: bits_row_by_row(*args).clamp(max=1000)),
        ("its surprisal is then large", lambda *args: bits_row_by_row(*args).clamp(max=10000)),
    ],
    "07-find-the-bug": [
        (  # as it is given: the mean over all positions, and 2 to the power of nats
            "two** mistakes",
            lambda logits, labels: (
                2 ** F.cross_entropy(logits.flatten(0, 1), labels.flatten().clamp(min=0)).item()
            ),
            "Your mean includes all positions",
        ),
        # returns the same number twice
        ("Return one number", lambda *args: perplexity_with_the_library(*args).repeat(2)),
    ],
}
