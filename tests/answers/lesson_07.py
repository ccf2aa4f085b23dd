"""Answers to lesson 07; `__init__.py` says what the tables are."""

import functools
import math
import statistics

import numpy as np
import torch
import torch.nn.functional as F


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


def log_sum(numbers):
    return max(numbers) + math.log(math.fsum(math.exp(number - max(numbers)) for number in numbers))


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
    "07-nats-to-bits": [
        lambda logits, targets: F.cross_entropy(logits, targets) * math.log2(math.e),
        lambda logits, targets: np.log2(np.exp(F.cross_entropy(logits, targets).item())),
        lambda logits, targets: statistics.fmean(bits_in_lists(logits, targets)),
        lambda logits, targets: F.nll_loss(logits.double().softmax(1).log2(), targets),
        lambda logits, targets: bits_row_by_row(logits, targets).mean().numpy(),
        lambda logits, targets: math.log(perplexity_with_the_library(logits[None], targets), 2),
        lambda logits, targets: (
            functools.reduce(torch.logaddexp2, (logits / math.log(2)).unbind(1)).mean()
            - logits[range(len(targets)), targets].mean() / math.log(2)
        ),
    ],
}

WRONG = {
    "07-edit-row": [
        (
            lambda hidden, table, bias, piece, p: (
                row_with_torch(hidden, table, bias, piece, p) + 2e-4 * table[piece].sign()
            ),
            "The row is raised",
        ),
        (lambda hidden, table, bias, piece, p: (table[piece], bias), "a tuple where the shape"),
    ],
    "07-surprisal": [
        (
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
        (  # half of the probability
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
            lambda ids, *args: [
                torch.cat([right[:1], untouched[1:]])
                for right, untouched in zip(
                    mask_with_where(ids, *args), (ids, torch.full_like(ids, -100))
                )
            ],
        ),
        (
            "the ids with `mask_id`",
            lambda *args: mask_with_where(*args)[::-1],
            "in the reverse order",
        ),
    ],
    "07-surprisal": [
        # only the first one
        ("as a tensor of shape (n,)", lambda *args: bits_row_by_row(*args)[:1]),
        (  # (n, 1)
            "as a tensor of shape (n,)",
            lambda *args: bits_row_by_row(*args)[:, None],
            "their shape is",
        ),
        *(
            (  # no more than some number of bits
                "its surprisal is then large",
                lambda logits, targets, most=most: bits_row_by_row(logits, targets).clamp(max=most),
            )
            for most in (149, 1000, 10000)
        ),
    ],
    "07-find-the-bug": [
        (  # as it is given: the mean over all positions, and 2 to the power of nats
            "two** mistakes",
            lambda logits, labels: (
                2 ** F.cross_entropy(logits.flatten(0, 1), labels.flatten().clamp(min=0)).item()
            ),
            "Your mean includes all positions",
        ),
        ("Return one number", lambda *args: perplexity_with_the_library(*args).repeat(2)),
    ],
}
