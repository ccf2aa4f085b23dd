"""Answers to lesson 07."""

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


def row_in_numpy(hidden, table, bias, piece, p):
    h, t, b = hidden.numpy().astype("float64"), table.numpy().astype("float64"), bias.numpy()
    others = np.delete(t @ h + b, piece)
    sum_of_others = others.max() + np.log(np.exp(others - others.max()).sum())
    wanted = sum_of_others + np.log(p) - np.log(1 - p)
    return t[piece] + (wanted - b[piece] - t[piece] @ h) * h / (h**2).sum()


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
    return table[piece] + change_of_row(right_rise(hidden, table, bias, piece, p).clamp(min=0), hidden)


def row_unless_rounded_to(whole):
    def row(hidden, table, bias, piece, p):
        if (table @ hidden + bias).softmax(0)[piece] == whole:
            return table[piece].clone()
        return row_with_torch(hidden, table, bias, piece, p)

    return row


def row_by_powers(hidden, table, bias, piece, p):
    logits = table @ hidden + bias
    others = sum(math.exp(x) if x < 88 else math.inf for j, x in enumerate(logits.tolist()) if j != piece)
    return table[piece] + change_of_row(math.log(p / (1 - p) * others) - logits[piece], hidden)


def row_by_clamped_double_softmax(hidden, table, bias, piece, p):
    now = (table @ hidden + bias).double().softmax(0)[piece].clamp(1e-9, 1 - 1e-9)
    return table[piece] + change_of_row(math.log(p / (1 - p)) - torch.log(now / (1 - now)), hidden)


def row_slightly_off(hidden, table, bias, piece, p):
    right = row_with_torch(hidden, table, bias, piece, p)
    side = torch.ones_like(hidden) - hidden.sum() / (hidden @ hidden) * hidden
    return right + 0.01 * side


def row_by_log_softmax(hidden, table, bias, piece, p):
    log_p = F.log_softmax(table @ hidden + bias, dim=-1)
    return table[piece] + change_of_row(math.log(p) - log_p[piece], hidden)


def row_plus_a_little(small):
    """Against a division by 0."""

    def row(hidden, table, bias, piece, p):
        return table[piece] + right_rise(hidden, table, bias, piece, p) * hidden / (hidden @ hidden + small)

    return row


def mask_with_where(ids, special_ids, mask_id, draws, share):
    special = sum(ids == number for number in special_ids).bool()
    hide = torch.logical_and(draws < share, torch.logical_not(special))
    return torch.where(hide, mask_id, ids), torch.where(hide, ids, -100)


def mask_as_lists(ids, special_ids, mask_id, draws, share):
    masked, labels = mask_with_where(ids, special_ids, mask_id, draws, share)
    return {"a": masked.tolist()}["a"], labels.double()


def mask_hide(ids, special_ids, mask_id, draws, share):
    return (draws < share) & ~torch.isin(ids, torch.tensor(special_ids))


def mask_first_row_only(ids, special_ids, mask_id, draws, share):
    hide = mask_hide(ids, special_ids, mask_id, draws, share)
    hide[1:] = False
    return torch.where(hide, mask_id, ids), torch.where(hide, ids, -100)


def bits_by_loop(logits, targets):
    found = []
    for row, target in zip(logits.double(), targets):
        found.append((torch.logsumexp(row, 0) - row[target]) / np.log(2))
    return torch.stack(found).float()


def bits_in_numpy(logits, targets):
    rows = logits.numpy().astype("float64")
    rows = rows - rows.max(axis=1, keepdims=True)
    log_p = rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))
    return (-log_p[np.arange(len(rows)), targets.numpy()] / np.log(2)).tolist()


def perplexity_with_the_library(logits, labels):
    return torch.exp(F.cross_entropy(logits.flatten(0, 1), labels.flatten()))


def perplexity_in_bits(logits, labels):
    bits = []
    for row, wanted in zip(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)):
        if wanted != -100:
            bits.append(-torch.log2(torch.softmax(row, 0)[wanted]))
    return 2 ** (sum(bits) / len(bits)).item()


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


def row_by_least_squares(hidden, table, bias, piece, p):
    """In float32: the smallest change that gives the logit which is wanted."""
    logits = table @ hidden + bias
    others = logits.clone()
    others[piece] = -torch.inf
    wanted = others.logsumexp(0) - math.log(1 / p - 1)
    return table[piece] + torch.linalg.pinv(hidden[None])[:, 0] * (wanted - logits[piece])


def mask_in_lists(ids, special_ids, mask_id, draws, share):
    masked, labels = [], []
    for row, drawn in zip(ids.tolist(), draws.tolist()):
        hide = [draw < share and number not in special_ids for number, draw in zip(row, drawn)]
        masked.append([mask_id if h else number for number, h in zip(row, hide)])
        labels.append([number if h else -100 for number, h in zip(row, hide)])
    return masked, labels


def mask_in_numpy(ids, special_ids, mask_id, draws, share):
    ids, draws = ids.numpy(), draws.numpy()
    rows, columns = np.nonzero((draws < np.float32(share)) & ~np.isin(ids, special_ids))
    masked, labels = ids.copy(), np.full_like(ids, -100)
    labels[rows, columns] = ids[rows, columns]
    masked[rows, columns] = mask_id
    return [masked, labels]


def bits_in_lists(logits, targets):
    return [(log_sum(row) - row[target]) / math.log(2) for row, target in zip(logits.tolist(), targets.tolist())]


def bits_by_log_sum(logits, targets):
    """In float32, without log_softmax."""
    return torch.stack([(row.logsumexp(0) - row[t]) / math.log(2) for row, t in zip(logits, targets)])


def bits_of_powers_of_two(logits, targets):
    """In float32: how many times as probable as the target each piece is."""
    x = logits * math.log2(math.e)
    x = x - x[range(len(x)), targets][:, None]
    most = x.amax(1, keepdim=True)
    return most[:, 0] + (2 ** (x - most)).sum(1).log2()


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


def perplexity_of_parts(logits, labels):
    """In float32: the mean log-sum-exp less the mean logit."""
    chosen = logits[labels != -100]
    return (chosen.logsumexp(1).mean() - chosen.gather(1, labels[labels != -100][:, None]).mean()).exp()


RIGHT = {
    "07-edit-row": [
        row_with_torch,
        row_in_numpy,
        row_in_lists,
        row_by_least_squares,
        lambda *args: list(row_with_torch(*args)),
    ],
    "07-mask-tokens": [mask_with_where, mask_as_lists, mask_in_lists, mask_in_numpy],
    "07-surprisal": [bits_by_loop, bits_in_numpy, bits_in_lists, bits_by_log_sum, bits_of_powers_of_two],
    "07-find-the-bug": [
        perplexity_with_the_library,
        perplexity_in_bits,
        perplexity_in_lists,
        perplexity_of_probabilities,
        perplexity_of_parts,
    ],
}

WRONG = {
    "07-edit-row": [
        (row_by_log_softmax, "p to 1 - p"),
        (row_by_clamped_double_softmax, "A present probability that is rounded to 0"),
        (lambda h, t, b, i, p: row_with_torch(h, t, b, i, p) + 2e-4 * t[i].sign(), "The row is raised"),
        (row_slightly_off, "the nearest one that does it is only"),
        (lambda h, t, b, i, p: (t[i], b), "no row of numbers"),
    ],
    "07-mask-tokens": [(mask_hide, "items")],
    "07-surprisal": [(lambda x, t: F.cross_entropy(x, t, reduction="none"), "These are nats")],
    "07-find-the-bug": [(perplexity_as_given, "Both mistakes")],
}

PROMISES = {
    "07-edit-row": [
        (
            "gives the piece the probability `p` at this mask",
            lambda h, t, b, i, p: row_with_torch(h, t, b, i, 1 - p),
            "the piece has the probability",
        ),
        *(("gives the piece the probability `p` at this mask", row_plus_a_little(x)) for x in (1e-2, 1e-3, 1e-4, 1e-5)),
        ("return the one nearest to the old row", row_with_one_number_changed, "the nearest one that does it"),
        ("may be lower than the piece's current probability", row_never_lowered),
        ("so close to 0 or 1 that it is rounded", row_unless_rounded_to(0)),
        ("so close to 0 or 1 that it is rounded", row_unless_rounded_to(1)),
        ("The logits may be large", row_by_powers),
        ("Return a new row for this piece, of shape (d,)", lambda *args: row_with_torch(*args)[None], "shape"),
    ],
    "07-mask-tokens": [("for a whole batch", mask_first_row_only)],
    "07-surprisal": [
        ("as a tensor of shape (n,)", lambda *args: bits_by_loop(*args)[:1]),
        *(
            ("its surprisal is then large", lambda x, t, most=most: bits_by_loop(x, t).clamp(max=most))
            for most in (149, 1000, 10000)
        ),
        (
            "its surprisal is then large",
            lambda x, t: (-x.double().softmax(-1)[range(len(t)), t].log2()).clamp(max=1000),
        ),
    ],
    "07-find-the-bug": [],
}
