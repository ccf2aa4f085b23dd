"""Answers to lesson 07."""

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


def change_of_row(rise, hidden):
    return rise * hidden / (hidden @ hidden)


def right_rise(hidden, table, bias, piece, p):
    logits = table @ hidden + bias
    others = torch.cat([logits[:piece], logits[piece + 1 :]])
    return math.log(p / (1 - p)) + others.logsumexp(0) - logits[piece]


def row_with_one_number_changed(hidden, table, bias, piece, p):
    row, j = table[piece].clone(), hidden.abs().argmax()
    row[j] += right_rise(hidden, table, bias, piece, p) / hidden[j]
    return row


def row_never_lowered(hidden, table, bias, piece, p):
    return table[piece] + change_of_row(
        right_rise(hidden, table, bias, piece, p).clamp(min=0), hidden
    )


def row_unless_rounded_to(whole):
    def row(hidden, table, bias, piece, p):
        if (table @ hidden + bias).softmax(0)[piece] == whole:
            return table[piece].clone()
        return row_with_torch(hidden, table, bias, piece, p)

    return row


def row_by_powers(hidden, table, bias, piece, p):
    logits = table @ hidden + bias
    others = sum(
        math.exp(x) if x < 88 else math.inf for j, x in enumerate(logits.tolist()) if j != piece
    )
    return table[piece] + change_of_row(math.log(p / (1 - p) * others) - logits[piece], hidden)


def row_plus_a_little(small):
    """Against a division by 0."""

    def row(hidden, table, bias, piece, p):
        return table[piece] + right_rise(hidden, table, bias, piece, p) * hidden / (
            hidden @ hidden + small
        )

    return row


def mask_with_where(ids, special_ids, mask_id, draws, share):
    special = sum(ids == number for number in special_ids).bool()
    hide = torch.logical_and(draws < share, torch.logical_not(special))
    return torch.where(hide, mask_id, ids), torch.where(hide, ids, -100)


def bits_by_loop(logits, targets):
    found = []
    for row, target in zip(logits.double(), targets):
        found.append((torch.logsumexp(row, 0) - row[target]) / np.log(2))
    return torch.stack(found).float()


def perplexity_with_the_library(logits, labels):
    return torch.exp(F.cross_entropy(logits.flatten(0, 1), labels.flatten()))


def perplexity_as_given(logits, labels):
    log_p = logits.log_softmax(dim=-1)
    loss = -log_p.gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return 2 ** loss.mean().item()


def log_sum(numbers):
    return max(numbers) + math.log(math.fsum(math.exp(x - max(numbers)) for x in numbers))


def row_in_lists(hidden, table, bias, piece, p):
    h, rows = hidden.tolist(), table.tolist()
    logits = [math.fsum(x * y for x, y in zip(row, h)) + b for row, b in zip(rows, bias.tolist())]
    now = logits.pop(piece)
    step = (math.log(p) - math.log1p(-p) + log_sum(logits) - now) / math.fsum(x * x for x in h)
    return [x + step * y for x, y in zip(rows[piece], h)]


def mask_in_lists(ids, special_ids, mask_id, draws, share):
    masked, labels = [], []
    for row, drawn in zip(ids.tolist(), draws.tolist()):
        hide = [draw < share and number not in special_ids for number, draw in zip(row, drawn)]
        masked.append([mask_id if h else number for number, h in zip(row, hide)])
        labels.append([number if h else -100 for number, h in zip(row, hide)])
    return masked, labels


def bits_in_lists(logits, targets):
    return [
        (log_sum(row) - row[target]) / math.log(2)
        for row, target in zip(logits.tolist(), targets.tolist())
    ]


def perplexity_in_lists(logits, labels):
    nats = []
    for row, label in zip(logits.flatten(0, 1).tolist(), labels.flatten().tolist()):
        if label != -100:
            nats.append(log_sum(row) - row[label])
    return math.exp(sum(nats) / len(nats))


def perplexity_of_probabilities(logits, labels):
    hidden = (labels != -100).nonzero().tolist()
    p = [logits.double().softmax(2)[i, j, labels[i, j]].item() for i, j in hidden]
    return 1 / statistics.geometric_mean(p)


RIGHT = {
    "07-edit-row": [row_with_torch, row_in_lists, lambda *args: list(row_with_torch(*args))],
    "07-mask-tokens": [
        mask_with_where,
        mask_in_lists,
        lambda *args: [np.array(table) for table in mask_in_lists(*args)],
    ],
    "07-surprisal": [
        bits_by_loop,
        bits_in_lists,
        lambda x, t: F.cross_entropy(x, t, reduction="none") / math.log(2),
    ],
    "07-find-the-bug": [
        perplexity_with_the_library,
        perplexity_in_lists,
        perplexity_of_probabilities,
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
        lambda x, t: F.cross_entropy(x, t) * math.log2(math.e),
        lambda x, t: np.log2(np.exp(F.cross_entropy(x, t).item())),
        lambda x, t: statistics.fmean(bits_in_lists(x, t)),
        lambda x, t: F.nll_loss(x.double().softmax(1).log2(), t),
        lambda x, t: bits_by_loop(x, t).mean().numpy(),
        lambda x, t: math.log(perplexity_with_the_library(x[None], t), 2),
        lambda x, t: (
            functools.reduce(torch.logaddexp2, (x / math.log(2)).unbind(1)).mean()
            - x[range(len(t)), t].mean() / math.log(2)
        ),
    ],
}

WRONG = {
    "07-edit-row": [
        (
            lambda h, t, b, i, p: row_with_torch(h, t, b, i, p) + 2e-4 * t[i].sign(),
            "The row is raised",
        ),
        (lambda h, t, b, i, p: (t[i], b), "a tuple where the shape"),
    ],
    "07-surprisal": [
        (
            lambda x, t: -(x.softmax(-1) + 1e-12)[range(len(t)), t].log2(),
            "may have been rounded to 0",
        ),
        (lambda x, t: bits_by_loop(x, t).mean(), "a single number"),
    ],
}

PROMISES = {
    "07-edit-row": [
        (
            "gives the piece the probability `p` at this mask",
            lambda h, t, b, i, p: row_with_torch(h, t, b, i, p / 2),
            "the piece has the probability",
        ),
        *(
            ("gives the piece the probability `p` at this mask", row_plus_a_little(x))
            for x in (1e-2, 1e-5)
        ),
        (
            "return the one nearest to the old row",
            row_with_one_number_changed,
            "the nearest one that does it",
        ),
        ("may be lower than the piece's current probability", row_never_lowered),
        *(
            ("so close to 0 or 1 that it is rounded", row_unless_rounded_to(whole))
            for whole in (0, 1)
        ),
        ("The logits may be large", row_by_powers),
        (
            "Return a new row for this piece, of shape (d,)",
            lambda *args: row_with_torch(*args)[None],
            "shape",
        ),
    ],
    "07-mask-tokens": [
        (
            "for a whole batch",
            lambda ids, *args: [
                torch.cat([found[:1], other[1:]])
                for found, other in zip(
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
        ("as a tensor of shape (n,)", lambda *args: bits_by_loop(*args)[:1]),
        ("as a tensor of shape (n,)", lambda *args: bits_by_loop(*args)[:, None], "their shape is"),
        *(
            (
                "its surprisal is then large",
                lambda x, t, most=most: bits_by_loop(x, t).clamp(max=most),
            )
            for most in (149, 1000, 10000)
        ),
    ],
    "07-find-the-bug": [
        ("two** mistakes", perplexity_as_given, "Your mean includes all positions"),
        ("Return one number", lambda *args: perplexity_with_the_library(*args).repeat(2)),
    ],
}
