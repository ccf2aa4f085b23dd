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


def pad_shared_rows(batch, pad_id):
    rows, _ = pad_by_index(batch, pad_id)
    mask = [[0] * len(rows[0])] * len(rows)
    for i, ids in enumerate(batch):
        for j in range(len(ids)):
            mask[i][j] = 1
    return rows, mask


def pad_left(batch, pad_id):
    width = max(map(len, batch))
    return (
        [[pad_id] * (width - len(row)) + row for row in batch],
        [[0] * (width - len(row)) + [1] * len(row) for row in batch],
    )


def pad_to_first(batch, pad_id):
    width = len(batch[0])
    return (
        [row + (width - len(row)) * [pad_id] for row in batch],
        [[1] * len(row) + (width - len(row)) * [0] for row in batch],
    )


def pad_one_more(batch, pad_id):
    width = max(map(len, batch)) + 1
    return (
        [row + (width - len(row)) * [pad_id] for row in batch],
        [[1] * len(row) + (width - len(row)) * [0] for row in batch],
    )


def pad_to_max_of_lists(batch, pad_id):
    width = len(max(batch))
    return (
        [row + (width - len(row)) * [pad_id] for row in batch],
        [[1] * len(row) + (width - len(row)) * [0] for row in batch],
    )


def pad_minus_a_list(batch, pad_id):
    longest = max(batch)
    return [row + (longest - len(row)) * [pad_id] for row in batch], []


def pad_up_to_a_list(batch, pad_id):
    rows = [list(row) for row in batch]
    for row in rows:
        while len(row) < max(batch):
            row.append(pad_id)
    return rows, []


def pad_return_too_early(batch, pad_id):
    input_ids, attention_mask = [], []
    for row, mask in zip(*pad_by_copy(batch, pad_id)):
        input_ids.append(row)
        attention_mask.append(mask)
        return input_ids, attention_mask


def pad_returning_tensors(batch, pad_id):
    ids, mask = pad_by_index(batch, pad_id)
    return torch.tensor(ids), torch.tensor(mask)


def pad_cutting(batch, pad_id):
    width = min(len(row) for row in batch)
    return [row[:width] for row in batch], [[1] * width for _ in batch]


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


def truncate_and_pad(ids, max_length):
    ids = truncate_by_pop(ids, max_length)
    while len(ids) < max_length:
        ids.append(0)
    return ids


def if_long(cut):
    return lambda ids, max_length: cut(ids, max_length) if len(ids) > max_length else ids


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


def softmax_by_bare_powers(scores, mask):
    powers = torch.exp(scores) * mask
    return powers / powers.sum(1, keepdim=True)


def softmax_by_bare_powers_of_lowered(scores, mask):
    powers = torch.exp(scores + mask.log())
    return powers / powers.sum(-1).unsqueeze(-1)


def softmax_renormalised(scores, mask):
    weights = scores.softmax(-1) * mask
    return weights / weights.sum(-1, keepdim=True)


def softmax_hiding_zeros(scores, mask):
    scores = scores * mask
    scores[scores == 0] = -math.inf
    return scores.softmax(-1)


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


def waste_full_batches_only(lengths, batch_size):
    real = total = 0
    for i in range(len(lengths) // batch_size):
        batch = lengths[i * batch_size : (i + 1) * batch_size]
        real += sum(batch)
        total += max(batch) * batch_size
    return 1 - real / total


def waste_last_as_full(lengths, batch_size):
    total = 0
    for i in range(0, len(lengths), batch_size):
        total += max(lengths[i : i + batch_size]) * batch_size
    return (total - sum(lengths)) / total


def waste_mean_of_shares(lengths, batch_size):
    shares = []
    for i in range(0, len(lengths), batch_size):
        shares.append(waste_by_steps(lengths[i : i + batch_size], batch_size))
    return sum(shares) / len(shares)


def waste_to_place(lengths, batch_size, place):
    padding = total = 0
    for i in range(0, len(lengths), batch_size):
        batch = lengths[i : i + batch_size]
        padding += sum(batch[place] - length for length in batch)
        total += batch[place] * len(batch)
    return padding / total


def waste_return_too_early(lengths, batch_size):
    for i in range(0, len(lengths), batch_size):
        batch = lengths[i : i + batch_size]
        return 1 - sum(batch) / (max(batch) * len(batch))


def waste_forgets_step(lengths, batch_size):
    real = total = 0
    for i in range(len(lengths)):
        batch = lengths[i : i + batch_size]
        real += sum(batch)
        total += max(batch) * len(batch)
    return 1 - real / total


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
        (
            lambda b, p: (pad_by_index(b, p)[0], [[int(bool(i)) for i in row] for row in pad_by_index(b, p)[0]]),
            "wherever an id is 0",
        ),
        (lambda b, p: pad_by_index(b, 0), "fill up with 0"),
        (lambda b, p: (pad_by_copy(b, p)[0], [[1 for _ in row] for row in pad_by_copy(b, p)[0]]), "1 everywhere"),
        (pad_shared_rows, "one row n times"),
        (
            lambda b, p: (pad_by_copy(b, p)[0], [[int(not m) for m in row] for row in pad_by_copy(b, p)[1]]),
            "upside down",
        ),
        (lambda b, p: (pad_by_copy(b, p)[0], [[1 for _ in row] for row in b]), "only as long as the sentences"),
        (pad_left, "on the left"),
        (lambda b, p: pad_by_index(b, p)[::-1], "mask first"),
        (lambda b, p: pad_by_index(b, p)[0], "only the ids"),
        (lambda b, p: list(zip(*pad_by_index(b, p))), "one pair"),
        (lambda b, p: dict(zip(["input_ids", "attention_mask"], pad_by_index(b, p))), "dictionary"),
        (pad_returning_tensors, "tensors"),
        (pad_cutting, "Padding never cuts"),
        (pad_one_more, "one longer than the longest"),
        (pad_to_first, "length of the first sentence"),
        (pad_to_max_of_lists, "by their first id"),
        (pad_minus_a_list, "by their first id"),
        (pad_up_to_a_list, "by their first id"),
        (pad_return_too_early, "only the first row"),
        (lambda b, p: (b, [[1] * len(row) for row in b]), "without padding"),
        (pad_in_place, "changes `batch`"),
        (lambda b, p: print(end=""), "`return`"),
    ],
    "02-truncate": [
        (lambda ids, n: ids[0:n], "cut off [SEP]"),
        (if_long(lambda ids, n: [*ids[:n], ids[-1]]), "one too long"),
        (if_long(lambda ids, n: ids[0 : n - 2] + [ids[-1]]), "one too short"),
        (lambda ids, n: [*ids[: n - 1], ids[-1]], "[SEP] twice"),
        (if_long(lambda ids, n: [*ids[: n - 1], 102]), "You end with 102"),
        (if_long(lambda ids, n: [ids[0], *ids[len(ids) - (n - 1) :]]), "drop its beginning"),
        (lambda ids, n: ids[max(0, len(ids) - n) :], "keep the last ids"),
        (lambda ids, n: [i for i in ids[1:-1]][: n - 2], "take [CLS] and [SEP] away"),
        (if_long(lambda ids, n: ids[: n - 1] + [0]), "which is padding"),
        (truncate_and_pad, "padding is another step"),
        (lambda ids, n: list(ids), "without cutting"),
        (if_long(lambda ids, n: ids[: n - 1]), "leave out [SEP] as well"),
        (truncate_in_place, "changes `ids`"),
        (if_long(lambda ids, n: print(end="")), "For long sentences"),
        (if_long(lambda ids, n: ids[: n - 1].append(ids[-1])), "`append` changes"),
        (lambda ids, n: ids[: n - 1].append(ids[-1]), "For every sentence"),
        (lambda ids, n: truncate_by_pop(ids, n) if len(ids) > n else None, "For short sentences"),
        (if_long(lambda ids, n: ids[: n - 1] + ids[-1]), "`ids[-1:]` is a list"),
        (lambda ids, n: ids[: n - 1] + ids[-1], "`ids[-1:]` is a list"),
    ],
    "02-find-the-bug": [
        (lambda s, m: (s * m).softmax(-1), "a score of 0 is not a weight of 0"),
        (lambda s, m: s.masked_fill(m == 0, 0).softmax(1), "a score of 0 is not a weight of 0"),
        (lambda s, m: s.softmax(1), "The mask is not used"),
        (lambda s, m: s.softmax(1) * m, "before you removed it"),
        (lambda s, m: (s * m).softmax(1) * m, "with the score 0"),
        (lambda s, m: s.masked_fill(m.bool(), -math.inf).softmax(1), "upside down"),
        (lambda s, m: (s + m * -1e9).softmax(1), "upside down"),
        (lambda s, m: (s - (1 - m) * math.inf).softmax(1), "minus infinity times 0"),
        (lambda s, m: (s + m).softmax(1), "add the mask to the scores"),
        (lambda s, m: s.masked_fill(m == 0, -10).softmax(1), "not low enough"),
        (lambda s, m: s.masked_fill(m == 0, math.inf).softmax(1), "plus infinity"),
        (lambda s, m: s.masked_fill(m == 0, -math.inf).softmax(0), "over the sentences of the batch"),
        (lambda s, m: s.masked_fill(m == 0, -math.inf), "The softmax over each row is missing"),
        (lambda s, m: s.masked_fill(m == 0, -math.inf).log_softmax(-1), "logarithm"),
        (softmax_in_place, "changes `scores`"),
        (softmax_hiding_zeros, "find padding by its score"),
        (softmax_renormalised, "after the powers of e"),
        (lambda s, m: (s * m).softmax(1) * m / ((s * m).softmax(1) * m).sum(1, keepdim=True), "after the powers of e"),
        (softmax_by_bare_powers, "in a computer"),
        (softmax_by_bare_powers_of_lowered, "in a computer"),
        *(
            (lambda s, m, low=low: s.masked_fill(m != 1, low).softmax(1), "not low enough")
            for low in (-50, -100, -1000)
        ),
        *((lambda s, m, low=low: (s - (1 - m) * low).softmax(1), "not low enough") for low in (100, 1000)),
        (lambda s, m: s.masked_fill(m, -math.inf).softmax(1), "`attention_mask == 0`"),
        (lambda s, m: s.masked_fill(1 - m, -math.inf).softmax(1), "`attention_mask == 0`"),
        (lambda s, m: torch.where(m, s, -1e9).softmax(-1), "`attention_mask == 0`"),
    ],
    "02-waste": [
        (lambda n, size: waste_by_steps(sorted(n), size), "You sort the lengths"),
        (lambda n, size: 1 - sum(n) / len(n) / max(n), "longest sentence of *all*"),
        (waste_last_as_full, "as if it were full"),
        (waste_full_batches_only, "leave out the last batch"),
        (waste_mean_of_shares, "mean of the batches' shares"),
        (lambda n, size: 1 / (1 - waste_by_steps(n, size)) - 1, "number of real tokens"),
        (lambda n, size: 1 - waste_by_steps(n, size), "share of *real* tokens"),
        (lambda n, size: waste_by_steps(n, size) * 100, "per cent"),
        (lambda n, size: waste_to_place(n, size, 0), "the first sentence of a batch"),
        (lambda n, size: waste_to_place(n, size, -1), "the last sentence of a batch"),
        (lambda n, size: round(waste_by_steps(n, size), 2), "You round"),
        (lambda n, size: float(f"{waste_by_steps(n, size):.3f}"), "You round"),
        (waste_return_too_early, "only the first batch"),
        (waste_forgets_step, "Your batches overlap"),
        (
            lambda n, size: [waste_by_steps(n[i : i + size], size) for i in range(0, len(n), size)],
            "share for each batch",
        ),
        (waste_sorting_in_place, "changes `lengths`"),
    ],
}
