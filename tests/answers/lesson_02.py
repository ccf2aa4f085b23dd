"""Answers to lesson 02 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import math
from itertools import zip_longest

import numpy as np
import scipy.special
import torch


def pad_by_columns(batch, pad_id):
    if not any(batch):
        return batch, batch
    ids = list(zip(*zip_longest(*batch, fillvalue=pad_id)))
    mask = list(zip(*zip_longest(*([1] * len(row) for row in batch), fillvalue=0)))
    return ids, mask


def pad_by_index(batch, pad_id):
    longest = 0
    for row in batch:
        if len(row) > longest:
            longest = len(row)
    input_ids, attention_mask = [], []
    for row in batch:
        new_row, mask_row = [], []
        for position in range(longest):
            if position < len(row):
                new_row.append(row[position])
                mask_row.append(1)
            else:
                new_row.append(pad_id)
                mask_row.append(0)
        input_ids.append(new_row)
        attention_mask.append(mask_row)
    return [input_ids, attention_mask]


def pad_by_copy(batch, pad_id):
    rows = [list(row) for row in batch]
    masks = [[True for _ in row] for row in rows]
    width = max(map(len, rows))
    for row, mask in zip(rows, masks):
        while len(row) < width:
            row.append(pad_id)
            mask.append(False)
    return rows, masks


def pad_in_place(batch, pad_id):
    width = max(map(len, batch))
    mask = []
    for row in batch:
        mask.append([1] * len(row) + [0] * (width - len(row)))
        row += [pad_id] * (width - len(row))
    return batch, mask


def pad_mask_from_ids(batch, pad_id):
    rows, _ = pad_by_index(batch, pad_id)
    return rows, [[0 if i == pad_id else 1 for i in row] for row in rows]


def truncate_by_position(ids, max_length):
    return [i for position, i in enumerate(ids) if position < max_length - 1 or position == len(ids) - 1]


def truncate_by_pop(ids, max_length):
    ids = list(ids)
    while len(ids) > max_length:
        ids.pop(-2)
    return ids


def truncate_by_middle(ids, max_length):
    first, *middle, last = ids
    return [first, *middle[: max_length - 2], last]


def truncate_in_place(ids, max_length):
    if len(ids) > max_length:
        del ids[max_length - 1 : -1]
    return ids


def truncate_by_first_sep(ids, max_length):
    return ids if len(ids) <= max_length else [i for i in ids if i != ids[-1]][: max_length - 1] + [ids[-1]]


def truncate_without_repeats(ids, max_length):
    ids = list(dict.fromkeys(ids[:-1])) + ids[-1:]
    return cut(ids, max_length)


def softmax_by_loop(scores, mask):
    result = torch.zeros_like(scores)
    for i in range(len(scores)):
        real = mask[i].bool()
        result[i, real] = scores[i, real].softmax(0)
    return result


def softmax_by_hand(scores, mask):
    scores = torch.where(mask == 1, scores, -torch.inf)
    powers = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
    return powers / powers.sum(1, keepdim=True)


def softmax_in_place(scores, mask):
    scores[mask == 0] = -math.inf
    return scores.softmax(1)


def leaks_by_rows(encode, input_ids, attention_mask, vocabulary_size):
    found = []
    for ids, mask in zip(input_ids, attention_mask):
        other = [int(i) if real else (int(i) + 7) % vocabulary_size for i, real in zip(ids, mask)]
        before, after = encode(ids[None], mask[None])[0], encode(torch.tensor([other]), mask[None])[0]
        found.append(any((a - b).abs().max() > 1e-4 for a, b, real in zip(after, before, mask) if real))
    return found


def leaks_at_random(encode, input_ids, attention_mask, vocabulary_size):
    others = input_ids.clone()
    while (others == input_ids)[attention_mask == 0].any():
        noise = torch.randint(0, vocabulary_size, input_ids.shape)
        others = torch.where(attention_mask == 1, input_ids, noise)
    difference = encode(input_ids, attention_mask) - encode(others, attention_mask)
    return ((difference.abs() > 1e-4).any(-1) & attention_mask.bool()).any(-1)


def leaks_in_numpy(encode, input_ids, attention_mask, vocabulary_size):
    others = np.where(attention_mask == 0, (input_ids + vocabulary_size - 1) % vocabulary_size, input_ids)
    change = encode(torch.tensor(others), attention_mask).numpy() - encode(input_ids, attention_mask).numpy()
    return (abs(change).max(axis=2) * attention_mask.numpy()).max(axis=1) > 1e-4


def leaks_against_alone(encode, input_ids, attention_mask, vocabulary_size):
    found = []
    for ids, mask in zip(input_ids, attention_mask):
        real = mask == 1
        alone = encode(ids[real][None], mask[real][None])
        found.append(bool((encode(ids[None], mask[None])[:, real] - alone).abs().max() > 1e-4))
    return found


def leaks_in_place(encode, input_ids, attention_mask, vocabulary_size):
    before = encode(input_ids, attention_mask)
    input_ids[attention_mask == 0] = 5
    return ((encode(input_ids, attention_mask) - before).abs().amax(2) * attention_mask).amax(1) > 1e-4


def leaks_by_closeness(encode, input_ids, attention_mask, vocabulary_size):
    swapped = input_ids.masked_fill(attention_mask == 0, 0)
    swapped[(attention_mask == 0) & (input_ids == 0)] = vocabulary_size - 1
    before, after = encode(input_ids, attention_mask), encode(swapped, attention_mask)
    return tuple(
        not torch.allclose(a[m == 1], b[m == 1], rtol=0, atol=1e-4) for a, b, m in zip(before, after, attention_mask)
    )


def leaks_by_loose_closeness(encode, input_ids, attention_mask, vocabulary_size):
    swapped = torch.where(attention_mask == 0, (input_ids + 2) % vocabulary_size, input_ids)
    real = (attention_mask == 1).numpy()
    before, after = encode(input_ids, attention_mask).numpy(), encode(swapped, attention_mask).numpy()
    return [not np.allclose(a[r], b[r], atol=1e-4) for a, b, r in zip(after, before, real)]


def leaks_after_the_length(encode, input_ids, attention_mask, vocabulary_size):
    swapped = input_ids.clone()
    for row, mask in zip(swapped, attention_mask):
        row[int(mask.sum()) :] = (row[int(mask.sum()) :] + 5) % vocabulary_size
    change = (encode(swapped, attention_mask) - encode(input_ids, attention_mask)).abs().amax(2)
    return ((change * attention_mask).amax(1) > 1e-4).tolist()


def leaks_on_the_right(encode, input_ids, attention_mask, vocabulary_size):
    swapped = input_ids.clone()
    for row, mask in zip(swapped, attention_mask):
        last = int(mask.nonzero().max())
        row[last + 1 :] = (row[last + 1 :] + 1) % vocabulary_size
    change = (encode(swapped, attention_mask) - encode(input_ids, attention_mask)).abs().amax(2)
    return ((change * attention_mask).amax(1) > 1e-4).tolist()


def leaks_with_ones(encode, input_ids, attention_mask, vocabulary_size):
    ones = torch.ones_like(attention_mask)
    swapped = torch.where(attention_mask == 0, (input_ids + 5) % vocabulary_size, input_ids)
    change = (encode(swapped, ones) - encode(input_ids, ones)).abs().amax(2)
    return [bool((row[mask == 1] > 1e-4).any()) for row, mask in zip(change, attention_mask)]


def leaks_with_ones_once(encode, input_ids, attention_mask, vocabulary_size):
    swapped = torch.where(attention_mask == 0, (input_ids + 1) % vocabulary_size, input_ids)
    change = encode(swapped, torch.ones_like(attention_mask)) - encode(input_ids, attention_mask)
    return ((change.abs().amax(2) * attention_mask).amax(1) > 1e-4).tolist()


def leaks_by_norm(encode, input_ids, attention_mask, vocabulary_size):
    swapped = torch.where(attention_mask == 0, (input_ids + 4) % vocabulary_size, input_ids)
    norms = encode(swapped, attention_mask).norm(dim=-1) - encode(input_ids, attention_mask).norm(dim=-1)
    return ((norms.abs() > 1e-4) & (attention_mask == 1)).any(1).tolist()


def leaks_by_mean_vector(encode, input_ids, attention_mask, vocabulary_size):
    swapped = torch.where(attention_mask == 0, (input_ids + 1) % vocabulary_size, input_ids)
    m = attention_mask[..., None]
    means = [(encode(i, attention_mask) * m).sum(1) / m.sum(1) for i in (swapped, input_ids)]
    return ((means[0] - means[1]).abs() > 1e-4).any(1).tolist()


def leaks(encode, ids, mask, size, *, others=None, count=None, most=1e-4, of=lambda change: change.abs().amax(2)):
    """A right answer; each argument changes one thing."""
    count = mask if count is None else count
    swapped = torch.where(mask == 1, ids, (ids + 1) % size if others is None else others)
    return list((of(encode(swapped, mask) - encode(ids, mask)) * count).amax(1) > most)


def always():
    return torch.Generator().manual_seed(0)


def first_real(ids, mask):
    return ids.gather(1, mask.argmax(1, keepdim=True)).expand_as(ids)


def softmax_of_batch(scores, mask):
    lowered = scores.masked_fill(mask == 0, -torch.inf)
    powers = torch.exp(lowered - lowered.max())
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_by_minimum(scores, mask):
    return torch.where(mask == 1, scores, scores.amin(1, keepdim=True) - 50).softmax(1)


def truncate_if_no_sep(ids, max_length):
    kept = list(ids[: max_length - 1])
    if kept[-1] != ids[-1]:
        kept += ids[-1:]
    return kept


def softmax(scores, mask, low=-float("inf"), dim=1):
    return scores.masked_fill(mask == 0, low).softmax(dim)


def padded(batch, pad_id, width=None):
    width = max(map(len, batch)) if width is None else width
    return [row + [pad_id] * (width - len(row)) for row in batch]


def masks(batch, width=None):
    return padded([[1] * len(row) for row in batch], 0, width)


def cut(ids, n):
    return ids if len(ids) <= n else [*ids[: n - 1], ids[-1]]


RIGHT = {
    "02-pad-batch": [
        pad_by_columns,
        pad_by_index,
        pad_by_copy,
        lambda b, p: (torch.tensor(padded(b, p)), np.array(masks(b))),
    ],
    "02-truncate": [
        truncate_by_position,
        truncate_by_pop,
        truncate_by_middle,
        lambda ids, n: np.array(cut(ids, n)),
        lambda ids, n: tuple(cut(ids, n)),
    ],
    "02-find-the-bug": [
        softmax_by_loop,
        softmax_by_hand,
        lambda s, m: torch.softmax(s + (1 - m) * -1e9, 1),
        lambda s, m: torch.where(m.bool(), s, torch.finfo(s.dtype).min).softmax(-1),
        lambda s, m: (s + m.log()).softmax(-1),
        lambda s, m: scipy.special.softmax(np.where(m, s.double(), -np.inf), axis=1).tolist(),
    ],
    "02-padding-leaks": [
        leaks_by_rows,
        leaks_at_random,
        leaks_in_numpy,
        leaks_by_closeness,
        leaks,
        lambda *a: torch.stack(leaks(*a)),
    ],
}

WRONG = {
    "02-pad-batch": [
        (pad_mask_from_ids, "find padding by its id"),
        (pad_in_place, "changes `batch`"),
        (lambda b, p: print(end=""), "`return`"),
        (lambda b, p: (padded(sorted(b, key=len), p), masks(sorted(b, key=len))), "Each row stays in its place"),
    ],
    "02-truncate": [
        (lambda ids, n: ids[0:n], "cut off [SEP]"),
        (truncate_in_place, "changes `ids`"),
        (truncate_by_first_sep, "may contain [SEP]"),
        (truncate_if_no_sep, "add no [SEP]"),
    ],
    "02-find-the-bug": [
        (lambda s, m: (s * m).softmax(-1), "a score of 0 is not a weight of 0"),
        (softmax_in_place, "changes `scores`"),
        (lambda s, m: softmax(s, m).clamp(min=1e-5), "gives padding the weight 1e-05 where exactly 0 is expected"),
        (softmax_by_minimum, "where exactly 0 is expected"),
        (softmax_of_batch, "largest score of the whole batch"),
        (lambda s, m: softmax(s, m, -1e5), "not low enough"),
    ],
    "02-padding-leaks": [
        (lambda *a: leaks(*a, count=torch.ones_like(a[2])), "compare padded positions too"),
        (leaks_with_ones, "a mask of ones"),
        (leaks_with_ones_once, "a mask of ones"),
        (lambda *a: leaks(*a, most=1e-6), "smaller than 1e-4"),
        (lambda *a: leaks(*a, most=1e-3), "miss a small leak"),
        (lambda *a: leaks(*a, of=lambda change: change.norm(dim=2)), "or take their norm"),
        (leaks_by_loose_closeness, "`rtol`"),
        (leaks_after_the_length, "first positions of each row"),
        (leaks_on_the_right, "may stand on the left, too"),
        (leaks_against_alone, "the sentence alone"),
        (lambda e, i, m, n: leaks(e, i, m, n, others=-1 - i), "negative"),
        (lambda e, i, m, n: leaks(e, i, m, n, others=i - 1), "negative"),
        (leaks_by_norm, "compare the norms"),
        (lambda e, i, m, n: leaks(e, i, m, n, others=torch.zeros_like(i)), "One fixed id"),
        (lambda e, i, m, n: leaks(e, i, m, n, others=(i + 1).clamp(max=n - 1)), "formulas that fit most ids"),
        (lambda e, i, m, n: leaks(e, i, m, n, others=n - 1 - i), "formulas that fit most ids"),
        (lambda e, i, m, n: leaks(e, i, m, n, others=i ^ 1), "past the end of the vocabulary"),
        (lambda e, i, m, n: leaks(e, i, m, n, others=i + 1), "past the end of the vocabulary"),
        (leaks_in_place, "changes `input_ids`"),
    ],
}

PROMISES = {
    "02-pad-batch": [
        ("Return a pair of tables", lambda b, p: {"input_ids": padded(b, p), "attention_mask": masks(b)}),
        ("first `input_ids`, then `attention_mask`", lambda b, p: (masks(b), padded(b, p))),
        ("may be empty", lambda b, p: (padded(b, p), masks([row or [p] for row in b]))),
        ("any of them, even all", lambda b, p: (padded(b, p, w := max(1, *map(len, b))), masks(b, w))),
        ("as long as the longest row of the batch", lambda b, p: (padded(b, p, 20), masks(b, 20))),
        (
            "with padding on the right",
            lambda b, p: tuple([row[::-1] for row in rows] for rows in (padded([r[::-1] for r in b], p), masks(b))),
        ),
        ("A real token may have the same id as padding", pad_mask_from_ids),
        ("they must not change", pad_in_place),
        ("pad_batch(batch, pad_id)", lambda b, p: (padded(b, 0), masks(b))),
    ],
    "02-truncate": [
        ("do not write 101 or 102", lambda ids, n: ids if len(ids) <= n else [*ids[: n - 1], 102]),
        ("do not write 101 or 102", lambda ids, n: ids if len(ids) <= n else [101, *ids[1 : n - 1], ids[-1]]),
        ("the text may contain `[CLS]` and `[SEP]` itself", truncate_by_first_sep),
        ("the text may contain `[CLS]` and `[SEP]` itself", truncate_without_repeats),
        ("the text may contain `[CLS]` and `[SEP]` itself", lambda ids, n: cut(ids[: ids.index(ids[-1]) + 1], n)),
        ("the text may contain `[CLS]` and `[SEP]` itself", truncate_if_no_sep),
        ("keep the first ones and the last", lambda ids, n: ids if len(ids) <= n else [ids[0], *ids[1 - n :]]),
        ("exactly `max_length` in all", lambda ids, n: ids if len(ids) <= n else [*ids[: n - 2], ids[-1]]),
        ("the last, which is `[SEP]`", lambda ids, n: ids[:n]),
        ("If there are more than `max_length` ids", lambda ids, n: ids if len(ids) < n else [*ids[: n - 2], ids[-1]]),
        ("Otherwise return them as they are", lambda ids, n: [*ids[: n - 1], ids[-1]]),
        ("`max_length` is at least 2", lambda ids, n: cut(ids, max(n, 3))),
        ("The list `ids` itself must not change", truncate_in_place),
    ],
    "02-find-the-bug": [
        ("weights of the same shape", lambda s, m: softmax(s, m)[:, m.any(0)].T),
        ("0 at padding", lambda s, m: softmax(s, m) + 0.001 * (1 - m)),
        ("0 at padding", lambda s, m: softmax(s, m).clamp(min=1e-5)),
        ("exactly 0 at padding", softmax_by_minimum),
        ("exactly 0 at padding", lambda s, m: softmax(s, m).clamp(min=1e-30)),
        ("in each row the softmax", softmax_of_batch),
        ("in each row the softmax", lambda s, m: softmax(s, m, dim=0)),
        ("in each row the softmax", lambda s, m: softmax(s * 2, m)),
        (
            "Padding may stand on either side",
            lambda s, m: softmax(s, (torch.arange(s.shape[1]) < m.sum(1, keepdim=True)).long()),
        ),
        ("Any score, real or padded, may be 0", lambda s, m: softmax(s, (s * m != 0).long())),
        ("between minus a million and a million", lambda s, m: softmax(s.clamp(max=1e5), m)),
        ("between minus a million and a million", lambda s, m: softmax(s.clamp(min=-1e5), m)),
        ("between minus a million and a million", lambda s, m: softmax(s, m, -1e5)),
        ("Any score, real or padded", lambda s, m: (s + (1 - m) * -2e6).softmax(1)),
        ("Neither argument may change", softmax_in_place),
    ],
    "02-padding-leaks": [
        ("Return one truth value for each row", lambda *a: any(leaks(*a))),
        ("at the row's padded positions", lambda e, i, m, n: leaks(e, i, m, n, others=i)),
        ("any of its real tokens", lambda e, i, m, n: leaks(e, i, m, n, count=(m.cumsum(1) == 1) * m)),
        (
            "any of its real tokens",
            lambda e, i, m, n: leaks(e, i, m, n, count=(m.cumsum(1) == m.sum(1, keepdim=True)) * m),
        ),
        ("any of its real tokens", leaks_by_mean_vector),
        ("any of its real tokens", leaks_with_ones),
        *(
            ("by more than 1e-4", lambda *a, most=most: leaks(*a, most=most))
            for most in (0.0, 1e-6, 5e-5, 2e-4, 1e-3, 1e-2, 1.0)
        ),
        *(
            ("change a number in the vector", lambda *a, of=of: leaks(*a, of=of))
            for of in (
                lambda change: change.amax(2),
                lambda change: -change.amin(2),
                lambda change: change[:, :, 0].abs(),
                lambda change: change[:, :, -1].abs(),
                lambda change: change.norm(dim=2),
                lambda change: change.abs().mean(2),
                lambda change: change.sum(2).abs(),
            )
        ),
        ("change a number in the vector", leaks_by_norm),
        ("by more than 1e-4", leaks_by_loose_closeness),
        ("`vocabulary_size - 1`", lambda e, i, m, n: leaks(e, i, m, n, others=i + 1)),
        ("`vocabulary_size - 1`", lambda e, i, m, n: leaks(e, i, m, n, others=i ^ 1)),
        ("try one other id at each", lambda e, i, m, n: leaks(e, i, m, n, others=n - 1 - i)),
        ("try one other id at each", lambda e, i, m, n: leaks(e, i, m, n, others=(i + 1).clamp(max=n - 1))),
        (
            "try one other id at each",
            lambda e, i, m, n: leaks(e, i, m, n, others=torch.randint(n, i.shape, generator=always())),
        ),
        ("Any of them may stand at a padded position", lambda *a: leaks(*a, others=first_real(*a[1:3]))),
        ("Ids go from 0", lambda e, i, m, n: leaks(e, i, m, n, others=-1 - i)),
        ("Ids go from 0", lambda e, i, m, n: leaks(e, i, m, n, others=i - 1)),
        *(
            ("Any of them may stand at a padded position", lambda *a, n=n: leaks(*a, others=torch.full_like(a[1], n)))
            for n in (0, 7, 21)
        ),
        (
            "One padded position that gets through is a leak",
            lambda e, i, m, n: leaks(e, i, m, n, others=torch.where((1 - m).cumsum(1) == 1, (i + 1) % n, i)),
        ),
        (
            "the vectors of the padded positions themselves does not count",
            lambda *a: leaks(*a, count=torch.ones_like(a[2])),
        ),
        ("Padding may stand on either side", leaks_against_alone),
        ("Padding may stand on either side", leaks_after_the_length),
        ("Padding may stand on either side", leaks_on_the_right),
        ("a row may have none", lambda e, i, m, n: [bool(x) for x in leaks(e, i, m, n) if not m.all()]),
        ("The two tensors must not change", leaks_in_place),
    ],
}
