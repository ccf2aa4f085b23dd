"""Answers to lesson 02."""

import itertools
import math
from fractions import Fraction

import numpy as np
import scipy.special
import torch


def leaks(
    encode,
    ids,
    mask,
    size,
    *,
    others=None,
    count=None,
    most=1e-4,
    of=lambda change: change.abs().amax(2),
):
    """A right answer; each argument changes one thing."""
    count = mask if count is None else count
    swapped = torch.where(mask == 1, ids, (ids + 1) % size if others is None else others)
    return list((of(encode(swapped, mask) - encode(ids, mask)) * count).amax(1) > most)


def softmax(scores, mask):
    return scores.masked_fill(mask == 0, -torch.inf).softmax(1)


def padded(batch, pad_id, width=None):
    width = max(map(len, batch)) if width is None else width
    return [row + [pad_id] * (width - len(row)) for row in batch]


def masks(batch, width=None):
    return padded([[1] * len(row) for row in batch], 0, width)


def first_real(ids, mask):
    """The first real id of each row, in all its places."""
    return ids.gather(1, mask.argmax(1, keepdim=True)).expand_as(ids)


def cut(ids, n):
    return ids if len(ids) <= n else [*ids[: n - 1], ids[-1]]


def pad_in_numpy(batch, pad_id):
    lengths = np.array([len(ids) for ids in batch])
    mask = np.arange(lengths.max()) < lengths[:, None]
    rows = np.full(mask.shape, pad_id)
    rows[mask] = sum(batch, [])
    return rows, mask.astype(int)


def softmax_in_lists(scores, mask):
    result = []
    for row, real in zip(scores.tolist(), mask.tolist()):
        most = max(score for score, m in zip(row, real) if m)
        powers = [math.exp(score - most) if m else 0.0 for score, m in zip(row, real)]
        result.append([power / sum(powers) for power in powers])
    return result


RIGHT = {
    "02-pad-batch": [
        pad_in_numpy,
        lambda b, p: [padded(b, p), masks(b)],
        lambda b, p: (torch.tensor(padded(b, p)), np.array(masks(b))),
    ],
    "02-truncate": [
        cut,
        lambda ids, n: (*itertools.islice(ids[:-1], n - 1), ids[-1]),
        lambda ids, n: np.array(cut(ids, n)),
    ],
    "02-find-the-bug": [
        softmax_in_lists,
        lambda s, m: scipy.special.softmax(np.where(m, s.double(), -np.inf), axis=1).tolist(),
        lambda *args: np.array(softmax_in_lists(*args)),
    ],
    "02-padding-leaks": [
        leaks,
        lambda *a: np.array(leaks(*a)),
        lambda *args: np.array(leaks(*args)),
    ],
}

COMPLETED = {
    "02-pad-row": [
        lambda ids, width, p: (*padded([ids], p, width), *masks([ids], width)),
        lambda ids, width, p: [
            [ids[i] if i < len(ids) else p for i in range(width)],
            [1 if i < len(ids) else 0 for i in range(width)],
        ],
        lambda ids, width, p: (
            np.pad(ids, (0, width - len(ids)), constant_values=p),
            (np.arange(width) < len(ids)).astype(int),
        ),
        lambda ids, width, p: [
            torch.nn.functional.pad(row, (0, width - len(ids)), value=fill)
            for row, fill in ((torch.tensor(ids), p), (torch.ones(len(ids)), 0))
        ],
        lambda ids, width, p: tuple(
            zip(
                *itertools.islice(
                    itertools.chain(((i, 1) for i in ids), itertools.repeat((p, 0))), width
                )
            )
        ),
        lambda ids, width, p: np.array(
            [padded([ids], p, width)[0], np.repeat([1, 0], [len(ids), width - len(ids)])]
        ),
    ],
    "02-padding-share": [
        lambda lengths: sum(max(lengths) - n for n in lengths) / sum(max(lengths) for _ in lengths),
        lambda lengths: 1 - np.mean(lengths, dtype=np.float32) / np.max(lengths),
        lambda lengths: (
            (torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]).double().mean()
        ),
        lambda lengths: 1 - Fraction(sum(lengths), math.prod((len(lengths), max(lengths)))),
        lambda lengths: np.mean(np.array(masks([range(n) for n in lengths])) == 0),
    ],
}

WRONG = {}

PROMISES = {
    "02-pad-batch": [
        ("may be empty", lambda b, p: (padded(b, p), masks([row or [p] for row in b]))),
        (
            "any or even all of them may be empty",
            lambda b, p: (padded(b, p, w := max(1, *map(len, b))), masks(b, w)),
        ),
        (
            "first `input_ids`, then `attention_mask`",
            lambda b, p: (masks(b), padded(b, p)),
            "in the reverse order",
        ),
        ("as long as the longest row of the batch", lambda b, p: (padded(b, p, 20), masks(b, 20))),
    ],
    "02-truncate": [
        (
            "do not write 101 or 102",
            lambda ids, n: ids if len(ids) <= n else [101, *ids[1 : n - 1], ids[-1]],
        ),
        (
            "the text between them may also contain `[CLS]` and `[SEP]`",
            lambda ids, n: cut([*dict.fromkeys(ids[:-1]), ids[-1]], n),
        ),
        (
            "the text between them may also contain `[CLS]` and `[SEP]`",
            lambda ids, n: cut(ids[: ids.index(ids[-1]) + 1], n),
        ),
        (
            "If there are more than `max_length` ids",
            lambda ids, n: ids if len(ids) < n else [*ids[: n - 2], ids[-1]],
        ),
        ("`max_length` is at least 2", lambda ids, n: cut(ids, max(n, 3))),
    ],
    "02-find-the-bug": [
        ("weights of the same shape", lambda s, m: softmax(s, m)[:, m.any(0)].T),
        (
            "0 at padding",
            lambda s, m: softmax(s, m).clamp(min=1e-5),
            "gives padding the weight 1e-05 where exactly 0",
        ),
        ("exactly 0 at padding", lambda s, m: softmax(s, m).clamp(min=1e-30)),
        ("in each row the softmax", lambda s, m: softmax(s * 2, m)),
        (
            "Padding may be on either side",
            lambda s, m: softmax(s, (torch.arange(s.shape[1]) < m.sum(1, keepdim=True)).long()),
        ),
        ("between minus a million and a million", lambda s, m: softmax(s.clamp(max=1e5), m)),
        ("between minus a million and a million", lambda s, m: softmax(s.clamp(min=-1e5), m)),
        ("Any score, even at padding", lambda s, m: (s + (1 - m) * -2e6).softmax(1)),
    ],
    "02-padding-leaks": [
        ("at the row's padded positions", lambda e, i, m, n: leaks(e, i, m, n, others=i)),
        (
            "in the vectors of its real tokens",
            lambda e, i, m, n: leaks(e, i, m, n, count=(m.cumsum(1) == 1) * m),
        ),
        (
            "in the vectors of its real tokens",
            lambda e, i, m, n: leaks(e, i, m, n, count=(m.cumsum(1) == m.sum(1, keepdim=True)) * m),
        ),
        *(
            ("by more than 1e-4", lambda *a, most=most: leaks(*a, most=most))
            for most in (1e-6, 5e-5, 2e-4, 1e-2)
        ),
        *(
            ("change any number in the vectors", lambda *a, of=of: leaks(*a, of=of))
            for of in (
                lambda change: change[:, :, 0].abs(),
                lambda change: change[:, :, -1].abs(),
                lambda change: change.sum(2).abs(),
            )
        ),
        (
            "Any of them may stand at a padded position",
            lambda *a: leaks(*a, others=first_real(*a[1:3])),
        ),
        *(
            (
                "Any of them may stand at a padded position",
                lambda *a, n=n: leaks(*a, others=torch.full_like(a[1], n)),
            )
            for n in (7, 21)
        ),
        (
            "Padding may stand on either side",
            lambda e, i, m, n: leaks(
                e, i, m, n, others=torch.where(m.flip(1).cumsum(1).flip(1) == 0, (i + 1) % n, i)
            ),
        ),
        (
            "a row may have none",
            lambda e, i, m, n: [bool(x) for x in leaks(e, i, m, n) if not m.all()],
        ),
    ],
}
