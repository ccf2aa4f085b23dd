"""Answers to lesson 07 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F


def fill_by_sorting(logits, ids, mask_id, k):
    for place in range(len(ids)):
        if ids[place] == mask_id:
            p = F.softmax(logits[place], dim=0).tolist()
    return sorted(enumerate(p), key=lambda pair: -pair[1])[:k]


def fill_with_nonzero(logits, ids, mask_id, k):
    place = (ids == mask_id).nonzero().item()
    values, pieces = torch.topk(torch.softmax(logits, -1)[place], k)
    return [[piece.item(), value.item()] for value, piece in zip(values, pieces)]


def fill_in_numpy(logits, ids, mask_id, k):
    row = logits.numpy()[int(np.argmax(ids.numpy() == mask_id))].astype("float64")
    p = np.exp(row - row.max())
    p = p / p.sum()
    return [(int(i), p[i]) for i in np.argsort(-p)[:k]]


def fill_over_tokens(logits, ids, mask_id, k):
    p = F.softmax(logits, dim=0)[ids == mask_id][0]
    best = torch.argsort(p, descending=True)[:k]
    return [(int(i), float(p[i])) for i in best]


def fill_raw(logits, ids, mask_id, k):
    values, pieces = logits[ids == mask_id][0].topk(k)
    return [(int(a), float(b)) for a, b in zip(pieces, values)]


def mask_by_loop(ids, special_ids, mask_id, draws, share):
    masked, labels = [], []
    for row, numbers in zip(ids.tolist(), draws.tolist()):
        one, other = [], []
        for number, draw in zip(row, numbers):
            hide = number not in special_ids and draw < float(torch.tensor(share))
            one.append(mask_id if hide else number)
            other.append(number if hide else -100)
        masked.append(one)
        labels.append(other)
    return torch.tensor(masked), torch.tensor(labels)


def mask_with_where(ids, special_ids, mask_id, draws, share):
    special = sum(ids == number for number in special_ids).bool()
    hide = torch.logical_and(draws < share, torch.logical_not(special))
    return torch.where(hide, mask_id, ids), torch.where(hide, ids, -100)


def mask_with_clones(ids, special_ids, mask_id, draws, share):
    labels, masked = ids.clone(), ids.clone()
    hide = draws < share
    for number in special_ids:
        hide = hide & (ids != number)
    masked[hide] = mask_id
    labels[~hide] = -100
    return [masked, labels]


def mask_in_place(ids, special_ids, mask_id, draws, share):
    hide = (draws < share) & ~torch.isin(ids, torch.tensor(special_ids))
    labels = torch.where(hide, ids, torch.tensor(-100))
    ids[hide] = mask_id
    return ids, labels


def mask_specials_too(ids, special_ids, mask_id, draws, share):
    hide = draws < share
    return torch.where(hide, mask_id, ids), torch.where(hide, ids, -100)


def mask_hide(ids, special_ids, mask_id, draws, share):
    return (draws < share) & ~torch.isin(ids, torch.tensor(special_ids))


def bits_by_loop(logits, targets):
    found = []
    for row, target in zip(logits.double(), targets):
        found.append((torch.logsumexp(row, 0) - row[target]) / np.log(2))
    return torch.stack(found).float()


def bits_with_log2_of_e(logits, targets):
    return F.nll_loss(F.log_softmax(logits, 1), targets, reduction="none") * math.log2(math.e)


def perplexity_with_the_library(logits, labels):
    return torch.exp(F.cross_entropy(logits.flatten(0, 1), labels.flatten()))


def perplexity_in_bits(logits, labels):
    bits = []
    for row, wanted in zip(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)):
        if wanted != -100:
            bits.append(-torch.log2(torch.softmax(row, 0)[wanted]))
    return 2 ** (sum(bits) / len(bits)).item()


def perplexity_weighted(logits, labels):
    loss = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    return math.exp(loss.sum() / (labels != -100).sum())


def perplexity_as_given(logits, labels):
    log_p = logits.log_softmax(dim=-1)
    loss = -log_p.gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return 2 ** loss.mean().item()


def perplexity_in_place(logits, labels):
    keep = labels != -100
    labels[~keep] = 0
    loss = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    return loss[keep].mean().exp().item()


RIGHT = {
    "07-fill": [fill_by_sorting, fill_with_nonzero, fill_in_numpy],
    "07-mask-tokens": [mask_by_loop, mask_with_where, mask_with_clones],
    "07-surprisal": [
        bits_by_loop,
        bits_with_log2_of_e,
        lambda x, t: F.cross_entropy(x, t, reduction="none") / np.log(2),
    ],
    "07-find-the-bug": [perplexity_with_the_library, perplexity_in_bits, perplexity_weighted],
}

WRONG = {
    "07-fill": [
        (fill_over_tokens, "runs over the tokens"),
        (lambda x, ids, m, k: fill_raw(x, ids, m, k).append(0), "`return`"),
    ],
    "07-mask-tokens": [
        (mask_in_place, "changes `ids`"),
        (mask_specials_too, "special tokens as well"),
        (mask_hide, "returned a Tensor"),
    ],
    "07-surprisal": [(lambda x, t: F.cross_entropy(x, t, reduction="none"), "These are nats")],
    "07-find-the-bug": [(perplexity_as_given, "Both mistakes"), (perplexity_in_place, "changes `labels`")],
}
