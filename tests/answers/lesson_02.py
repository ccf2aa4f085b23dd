"""Answers to lesson 02 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import math
from itertools import zip_longest

import torch


def pad_by_columns(batch, pad_id):
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


def waste_by_steps(lengths, batch_size):
    padding = total = start = 0
    while start < len(lengths):
        batch = lengths[start : start + batch_size]
        for length in batch:
            padding += max(batch) - length
            total += max(batch)
        start += batch_size
    return padding / total


def waste_by_batches(lengths, batch_size):
    batches, batch = [], []
    for length in lengths:
        batch.append(length)
        if len(batch) == batch_size:
            batches.append(batch)
            batch = []
    if batch:
        batches.append(batch)
    return 1 - sum(map(sum, batches)) / sum(max(b) * len(b) for b in batches)


def waste_by_masks(lengths, batch_size):
    masks = []
    for part in torch.tensor(lengths).split(batch_size):
        masks.append((torch.arange(part.max()) < part[:, None]).flatten())
    return 1 - torch.cat(masks).double().mean()


def waste_sorting_in_place(lengths, batch_size):
    lengths.sort()
    return waste_by_steps(lengths, batch_size)


RIGHT = {
    "02-pad-batch": [pad_by_columns, pad_by_index, pad_by_copy],
    "02-truncate": [truncate_by_position, truncate_by_pop, truncate_by_middle],
    "02-find-the-bug": [
        softmax_by_loop,
        softmax_by_hand,
        lambda s, m: torch.softmax(s + (1 - m) * -1e9, 1),
        lambda s, m: torch.where(m.bool(), s, torch.finfo(s.dtype).min).softmax(-1),
        lambda s, m: (s + m.log()).softmax(-1),
    ],
    "02-waste": [waste_by_steps, waste_by_batches, waste_by_masks],
}

WRONG = {
    "02-pad-batch": [
        (pad_mask_from_ids, "find padding by its id"),
        (pad_in_place, "changes `batch`"),
        (lambda b, p: print(end=""), "`return`"),
    ],
    "02-truncate": [(lambda ids, n: ids[0:n], "cut off [SEP]"), (truncate_in_place, "changes `ids`")],
    "02-find-the-bug": [
        (lambda s, m: (s * m).softmax(-1), "a score of 0 is not a weight of 0"),
        (softmax_in_place, "changes `scores`"),
    ],
    "02-waste": [
        (lambda n, size: waste_by_steps(sorted(n), size), "You sort the lengths"),
        (waste_sorting_in_place, "changes `lengths`"),
    ],
}
