"""Answers to lesson 02; `__init__.py` says what the tables are."""

import itertools
from fractions import Fraction

import numpy as np
import scipy.special
import torch


# `width`: by default, that of the longest row.
def padded(batch, pad_id, width=None):
    width = max(map(len, batch)) if width is None else width
    return [row + [pad_id] * (width - len(row)) for row in batch]


# 1 at an id, 0 at padding.
def masks(batch, width=None):
    return padded([[1] * len(row) for row in batch], 0, width)


# Differs from a right answer if all rows are empty.
def pad_at_least_one_column(batch, pad_id):
    width = max(1, *map(len, batch))
    return padded(batch, pad_id, width), masks(batch, width)


def pad_row(ids, width, pad_id):
    return padded([ids], pad_id, width)[0], masks([ids], width)[0]


def cut(ids, most):
    return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]


def softmax(scores, mask):
    return scores.masked_fill(mask == 0, -torch.inf).softmax(1)


def softmax_in_numpy(scores, mask):
    return scipy.special.softmax(np.where(mask, scores.double(), -np.inf), axis=1)


def leaks(
    encode,
    ids,
    mask,
    size,
    *,
    replacement=None,
    counted=None,
    threshold=1e-4,
    size_of_change=lambda change: change.abs().amax(2),
):
    """A right answer: for each row, whether other ids at its padding change its real vectors.

    Each keyword exchanges one step: `replacement` (batch, tokens), the other ids; `counted` (batch,
    tokens), 1 where a change counts; `threshold`, above which it does; `size_of_change`, what makes
    one number of the change of each vector: (batch, tokens, hidden) to (batch, tokens).
    """
    replacement = (ids + 1) % size if replacement is None else replacement
    counted = mask if counted is None else counted
    before = encode(ids, mask)
    after = encode(torch.where(mask == 1, ids, replacement), mask)
    change = size_of_change(after - before) * counted
    return list(change.amax(1) > threshold)


# Other ids at the padding behind the text; the same ids at the padding before it.
def changed_only_behind(ids, mask, size):
    real_from_here_on = mask.flip(1).cumsum(1).flip(1)
    return torch.where(real_from_here_on == 0, (ids + 1) % size, ids)


RIGHT = {
    "02-pad-batch": [
        lambda batch, pad_id: [padded(batch, pad_id), masks(batch)],
        lambda batch, pad_id: (np.array(padded(batch, pad_id), int), np.array(masks(batch), int)),
        lambda batch, pad_id: (torch.tensor(padded(batch, pad_id)), np.array(masks(batch))),
    ],
    "02-truncate": [
        cut,
        lambda ids, max_length: (*itertools.islice(ids[:-1], max_length - 1), ids[-1]),
        lambda ids, max_length: np.array(cut(ids, max_length)),
    ],
    "02-find-the-bug": [
        softmax_in_numpy,
        lambda scores, mask: softmax_in_numpy(scores, mask).tolist(),
        lambda scores, mask: softmax(scores.double(), mask),
    ],
    "02-padding-leaks": [
        leaks,
        lambda *args: np.array(leaks(*args)),
        lambda *args: torch.tensor(leaks(*args)),
    ],
}

COMPLETED = {
    "02-pad-row": [
        pad_row,
        lambda *args: list(pad_row(*args)),
        lambda *args: tuple(tuple(row) for row in pad_row(*args)),
        lambda *args: tuple(np.array(row) for row in pad_row(*args)),
        lambda *args: [torch.tensor(row, dtype=torch.float64) for row in pad_row(*args)],
        lambda *args: np.array(pad_row(*args)),
    ],
    "02-padding-share": [
        lambda lengths: 1 - sum(lengths) / (len(lengths) * max(lengths)),
        lambda lengths: 1 - np.mean(lengths, dtype=np.float32) / np.max(lengths),
        lambda lengths: 1 - torch.tensor(lengths).double().mean() / max(lengths),
        lambda lengths: 1 - Fraction(sum(lengths), len(lengths) * max(lengths)),
        # the share of zeros in the mask
        lambda lengths: np.mean(np.array(masks([[0] * length for length in lengths])) == 0),
    ],
}

WRONG = {}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "02-pad-batch": [
        (  # the mask of an empty row begins with a 1
            "may be empty",
            lambda batch, pad_id: (padded(batch, pad_id), masks([row or [0] for row in batch])),
        ),
        ("any or even all of them may be empty", pad_at_least_one_column),
        (
            "first `input_ids`, then `attention_mask`",
            lambda batch, pad_id: (masks(batch), padded(batch, pad_id)),
            "in the reverse order",
        ),
        (  # pads to 20 ids, which is more than any row of the check has
            "as long as the longest row of the batch",
            lambda batch, pad_id: (padded(batch, pad_id, 20), masks(batch, 20)),
        ),
    ],
    "02-truncate": [
        (  # writes the id that [CLS] has in BERT
            "do not write 101 or 102",
            lambda ids, max_length: (
                ids if len(ids) <= max_length else [101, *ids[1 : max_length - 1], ids[-1]]
            ),
        ),
        (  # drops every id that comes again
            "the text between them may also contain `[CLS]` and `[SEP]`",
            lambda ids, max_length: cut([*dict.fromkeys(ids[:-1]), ids[-1]], max_length),
        ),
        (  # ends at the first [SEP]
            "the text between them may also contain `[CLS]` and `[SEP]`",
            lambda ids, max_length: cut(ids[: ids.index(ids[-1]) + 1], max_length),
        ),
        (  # cuts exactly `max_length` ids, too
            "If there are more than `max_length` ids",
            lambda ids, max_length: (
                ids if len(ids) < max_length else [*ids[: max_length - 2], ids[-1]]
            ),
        ),
        # keeps three ids at least
        ("`max_length` is at least 2", lambda ids, max_length: cut(ids, max(max_length, 3))),
    ],
    "02-find-the-bug": [
        (  # drops the columns that hold only padding, and transposes the rest
            "weights of the same shape",
            lambda scores, mask: softmax(scores, mask)[:, mask.any(0)].T,
        ),
        (
            "0 at padding",
            lambda scores, mask: softmax(scores, mask).clamp(min=1e-5),
            "gives padding the weight 1e-05 where exactly 0",
        ),
        # gives padding a weight too small to see
        ("exactly 0 at padding", lambda scores, mask: softmax(scores, mask).clamp(min=1e-30)),
        # makes the softmax sharper
        ("in each row the softmax", lambda scores, mask: softmax(scores * 2, mask)),
        (  # takes the first positions of a row to be the real ones
            "Padding may be on either side",
            lambda scores, mask: softmax(
                scores, torch.arange(scores.shape[1]) < mask.sum(1, keepdim=True)
            ),
        ),
        (  # limits high scores to a hundred thousand; the next limits low ones to minus that
            "between minus a million and a million",
            lambda scores, mask: softmax(scores.clamp(max=1e5), mask),
        ),
        (
            "between minus a million and a million",
            lambda scores, mask: softmax(scores.clamp(min=-1e5), mask),
        ),
        (  # subtracts 2e6 at padding: from a million, that leaves a score that real tokens have
            "Any score, even at padding",
            lambda scores, mask: (scores + (1 - mask) * -2e6).softmax(1),
        ),
    ],
    "02-padding-leaks": [
        (  # changes no id
            "at the row's padded positions",
            lambda encode, ids, mask, size: leaks(encode, ids, mask, size, replacement=ids),
        ),
        (  # looks at the first real token alone
            "in the vectors of its real tokens",
            lambda encode, ids, mask, size: leaks(
                encode, ids, mask, size, counted=(mask.cumsum(1) == 1) * mask
            ),
        ),
        (  # looks at the last real token alone
            "in the vectors of its real tokens",
            lambda encode, ids, mask, size: leaks(
                encode,
                ids,
                mask,
                size,
                counted=(mask.cumsum(1) == mask.sum(1, keepdim=True)) * mask,
            ),
        ),
        # other limits than 1e-4; the check has changes of 7e-5 and 1.5e-4, on either side of it
        ("by more than 1e-4", lambda *args: leaks(*args, threshold=1e-6)),
        ("by more than 1e-4", lambda *args: leaks(*args, threshold=5e-5)),
        ("by more than 1e-4", lambda *args: leaks(*args, threshold=2e-4)),
        ("by more than 1e-4", lambda *args: leaks(*args, threshold=1e-2)),
        (  # looks at the first number of a vector alone
            "change any number in the vectors",
            lambda *args: leaks(*args, size_of_change=lambda change: change[:, :, 0].abs()),
        ),
        (  # looks at the last number of a vector alone
            "change any number in the vectors",
            lambda *args: leaks(*args, size_of_change=lambda change: change[:, :, -1].abs()),
        ),
        (  # changes of opposite signs cancel
            "change any number in the vectors",
            lambda *args: leaks(*args, size_of_change=lambda change: change.sum(2).abs()),
        ),
        (  # puts the first real id of a row at its padding, where the same id may stand already
            "Any of them may stand at a padded position",
            lambda encode, ids, mask, size: leaks(
                encode,
                ids,
                mask,
                size,
                replacement=ids.gather(1, mask.argmax(1, keepdim=True)).expand_as(ids),
            ),
        ),
        (  # puts one id at all padding, where it may stand already; the next takes the last id
            "Any of them may stand at a padded position",
            lambda encode, ids, mask, size: leaks(
                encode, ids, mask, size, replacement=torch.full_like(ids, size // 2)
            ),
        ),
        (
            "Any of them may stand at a padded position",
            lambda encode, ids, mask, size: leaks(
                encode, ids, mask, size, replacement=torch.full_like(ids, size - 1)
            ),
        ),
        (  # changes no id at the padding before a text
            "Padding may stand on either side",
            lambda encode, ids, mask, size: leaks(
                encode, ids, mask, size, replacement=changed_only_behind(ids, mask, size)
            ),
        ),
        (  # returns nothing for a batch without any padding
            "a row may have none",
            lambda encode, ids, mask, size: [] if mask.all() else leaks(encode, ids, mask, size),
        ),
    ],
}
