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


def fill_of_the_best(logits, ids, mask_id, k):
    row = logits[ids == mask_id].squeeze(0)
    values, pieces = row.topk(k)
    return list(zip(pieces.tolist(), F.softmax(values, dim=0).tolist()))


def fill_by_exp(logits, ids, mask_id, k):
    row = torch.exp(logits[(ids == mask_id).nonzero()[0, 0]])
    values, pieces = (row / torch.sum(row)).topk(k)
    return [(int(a), float(b)) for a, b in zip(pieces, values)]


def fill_raw(logits, ids, mask_id, k):
    values, pieces = logits[ids == mask_id][0].topk(k)
    return [(int(a), float(b)) for a, b in zip(pieces, values)]


def fill_logs(logits, ids, mask_id, k):
    values, pieces = F.log_softmax(logits[ids == mask_id][0], dim=-1).topk(k)
    return [(int(a), float(b)) for a, b in zip(pieces, values)]


def fill_first(logits, ids, mask_id, k):
    values, pieces = logits[0].softmax(0).topk(k)
    return [(int(a), float(b)) for a, b in zip(pieces, values)]


def fill_backwards(logits, ids, mask_id, k):
    pairs = sorted(enumerate(logits[ids == mask_id][0].softmax(0).tolist()), key=lambda pair: pair[1])
    return pairs[:k]


def fill_last_k(logits, ids, mask_id, k):
    pairs = sorted(enumerate(logits[ids == mask_id][0].softmax(0).tolist()), key=lambda pair: pair[1])
    return pairs[-k:]


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


def mask_labels_after(ids, special_ids, mask_id, draws, share):
    hide = (draws < share) & ~torch.isin(ids, torch.tensor(special_ids))
    masked = ids.clone()
    labels = masked
    masked[hide] = mask_id
    return masked, torch.where(hide, labels, -100)


def mask_all_labels(ids, special_ids, mask_id, draws, share):
    hide = (draws < share) & ~torch.isin(ids, torch.tensor(special_ids))
    return torch.where(hide, mask_id, ids), ids


def mask_zero_labels(ids, special_ids, mask_id, draws, share):
    hide = (draws < share) & ~torch.isin(ids, torch.tensor(special_ids))
    return torch.where(hide, mask_id, ids), ids * hide


def mask_upside_down(ids, special_ids, mask_id, draws, share):
    masked, labels = mask_with_clones(ids, special_ids, mask_id, draws, share)
    return masked, torch.where(labels == -100, ids, -100)


def mask_ends_only(ids, special_ids, mask_id, draws, share):
    hide = draws < share
    hide[:, 0] = False
    hide[:, -1] = False
    return torch.where(hide, mask_id, ids), torch.where(hide, ids, -100)


def mask_all_but_padding(ids, special_ids, mask_id, draws, share):
    hide = (draws < share) & (ids != special_ids[0])
    return torch.where(hide, mask_id, ids), torch.where(hide, ids, -100)


def mask_smaller_or_equal(ids, special_ids, mask_id, draws, share):
    hide = (draws <= share) & ~torch.isin(ids, torch.tensor(special_ids))
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


def bits_softmax_log2(logits, targets):
    p = F.softmax(logits, dim=1)[torch.arange(len(targets)), targets]
    return -torch.log2(p)


def bits_softmax_log(logits, targets):
    p = torch.softmax(logits, 1)
    return torch.stack([-torch.log(p[i, t]) for i, t in enumerate(targets)])


def bits_with_epsilon(logits, targets):
    p = F.softmax(logits, dim=1)[range(len(targets)), targets]
    return -torch.log2(p + 1e-10)


def bits_of_the_mean(logits, targets):
    return F.cross_entropy(logits, targets) / math.log(2)


def bits_wrong_axis(logits, targets):
    return -(logits.log_softmax(0) / math.log(2))[torch.arange(len(targets)), targets]


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


def perplexity_all_places(logits, labels):
    targets = labels.clone()
    targets[targets == -100] = 0
    return F.cross_entropy(logits.transpose(1, 2), targets).exp().item()


def perplexity_zeros_counted(logits, labels):
    return F.cross_entropy(logits.transpose(1, 2), labels, reduction="none").mean().exp().item()


def perplexity_by_sentence(logits, labels):
    return torch.stack([F.cross_entropy(x, y) for x, y in zip(logits, labels)]).mean().exp().item()


def perplexity_without_zero(logits, labels):
    loss = -logits.log_softmax(-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    keep = labels.clamp(min=0) != 0
    return math.exp(loss[keep].mean())


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
        (fill_of_the_best, "only the k best logits"),
        (fill_by_exp, "does not fit into a float32"),
        (fill_raw, "You return logits"),
        (fill_logs, "logarithms of probabilities"),
        (fill_first, "where [CLS] stands"),
        (fill_backwards, "*least* probable"),
        (fill_last_k, "in the wrong order"),
        (lambda x, ids, m, k: [(p, i) for i, p in fill_by_sorting(x, ids, m, k)], "the other way round"),
        (lambda x, ids, m, k: [i for i, _ in fill_by_sorting(x, ids, m, k)], "without their probabilities"),
        (lambda x, ids, m, k: torch.softmax(x[ids == m][0], 0).topk(k).values.tolist(), "without their pieces"),
        (
            lambda x, ids, m, k: tuple(t.tolist() for t in reversed(torch.softmax(x[ids == m][0], 0).topk(k))),
            "two lists",
        ),
        (lambda x, ids, m, k: fill_raw(x, ids, m, k).append(0), "`return`"),
    ],
    "07-mask-tokens": [
        (mask_in_place, "changes `ids`"),
        (mask_specials_too, "special tokens as well"),
        (mask_labels_after, "*after* masking"),
        (mask_all_labels, "hold every id"),
        (mask_zero_labels, "hold 0 where nothing was chosen"),
        (mask_upside_down, "upside down"),
        (mask_ends_only, "the first and the last column only"),
        (mask_all_but_padding, "only one of the special ids"),
        (mask_smaller_or_equal, "`<`, not `<=`"),
        (mask_hide, "returned a Tensor"),
        (lambda *args: mask_with_where(*args)[0], "The labels are asked for, too"),
        (lambda *args: mask_with_where(*args)[::-1], "The masked ids come first"),
        (lambda i, s, m, d, x: (mask_with_where(i, s, m, d, x)[0], mask_hide(i, s, m, d, x)), "true and false"),
        (lambda i, s, m, d, x: (mask_with_where(i, s, m, d, x)[0], i[mask_hide(i, s, m, d, x)]), "only the chosen ids"),
        (lambda i, s, m, d, x: mask_with_where(i, s, m, 1 - d, 1 - x), "Turned round"),
    ],
    "07-surprisal": [
        (lambda x, t: F.cross_entropy(x, t, reduction="none"), "These are nats"),
        (lambda x, t: F.cross_entropy(x, t), "return their mean"),
        (bits_softmax_log2, "`log_softmax` takes both steps at once"),
        (bits_softmax_log, "its logarithm is infinite"),
        (bits_with_epsilon, "bound the probability from below"),
        (bits_of_the_mean, "One surprisal per position"),
        (bits_wrong_axis, "runs over the positions"),
        (lambda x, t: -F.cross_entropy(x, t, reduction="none") / math.log(2), "minus sign"),
        (lambda x, t: F.cross_entropy(x, t, reduction="none") * math.log(2), "multiply by ln 2"),
        (lambda x, t: F.cross_entropy(x, t, reduction="none") / math.log(10), "Bits have the base 2"),
        (lambda x, t: F.softmax(x, 1)[range(len(t)), t], "You return probabilities"),
        (lambda x, t: -F.log_softmax(x, 1)[:, t] / math.log(2), "takes *all* targets"),
        (lambda x, t: bits_by_loop(x, t).unsqueeze(1), "column of shape"),
        (lambda x, t: -x[torch.arange(len(t)), t] / math.log(2), "take the logit"),
    ],
    "07-find-the-bug": [
        (perplexity_as_given, "Both mistakes"),
        (lambda x, y: 2 ** F.cross_entropy(x.transpose(1, 2), y).item(), "`2 **` wants bits"),
        (perplexity_all_places, "still runs over all places"),
        (perplexity_zeros_counted, "divide by the number of all places"),
        (perplexity_by_sentence, "each sentence first"),
        (perplexity_without_zero, "leave out piece 0"),
        (perplexity_in_place, "changes `labels`"),
        (lambda x, y: F.cross_entropy(x.transpose(1, 2), y).item(), "the loss in nats"),
        (lambda x, y: F.cross_entropy(x.transpose(1, 2), y).item() / math.log(2), "the loss in bits"),
        (lambda x, y: math.exp(F.cross_entropy(x.transpose(1, 2), y) / math.log(2)), "convert to bits and then use e"),
        (lambda x, y: math.exp(F.cross_entropy(x.transpose(1, 2), y, reduction="sum")), "grows with the text"),
        (lambda x, y: F.cross_entropy(x.transpose(1, 2), y, reduction="none")[y != -100].exp(), "One number for all"),
        (lambda x, y: 1 / perplexity_weighted(x, y), "minus sign is gone"),
    ],
}
