"""Answers to lesson 04."""

import functools
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

from course_utils import cls_pool


def mean_by_loop(token_embeddings, attention_mask):
    result = []
    for i in range(token_embeddings.shape[0]):
        keep = attention_mask[i] == 1
        result.append(token_embeddings[i][keep].mean(0))
    return torch.stack(result)


def mean_by_einsum(h, m):
    m = m.to(h.dtype)
    return torch.einsum("bth,bt->bh", h, m) / m.sum(-1)[:, None]


def max_by_loop(h, m):
    return torch.stack([row[mask.bool()].max(dim=0).values for row, mask in zip(h, m)])


def unit_by_loop(v):
    out = torch.zeros_like(v)
    for i, row in enumerate(v):
        length = (row**2).sum() ** 0.5
        out[i] = row / length if length > 0 else row
    return out


def baseline_by_loop(v):
    total, pairs = 0.0, 0
    for i in range(len(v)):
        for j in range(i + 1, len(v)):
            total += F.cosine_similarity(v[i], v[j], dim=0)
            pairs += 1
    return total / pairs


def baseline_in_numpy(v):
    u = v.numpy()
    u = u / np.linalg.norm(u, axis=1, keepdims=True)
    return (u @ u.T)[~np.eye(len(u), dtype=bool)].mean()


def mean(h, m):
    weight = m.unsqueeze(-1).to(h.dtype)
    return (h * weight).sum(1) / weight.sum(1)


def right_only(m):
    return torch.arange(m.shape[1]) < m.long().sum(1, keepdim=True)


def maximum(h, m):
    return h.masked_fill(m.unsqueeze(-1) == 0, -torch.inf).amax(1)


def row_by_row(angle):
    """Vectors are scaled to length 1 with this limit on the cosine."""
    return lambda v, p: (F.normalize(v) * F.normalize(p)).sum(1).min() > angle


def how(v, t, m, same=lambda v, p: (F.cosine_similarity(v, p) > 0.999).all()):
    """A right answer, if `same` says rightly whether two tables of vectors are the same."""
    ways = {"cls": cls_pool, "mean": mean, "max": maximum, "careless": lambda t, m: t.mean(1)}
    return next((name for name, pool in ways.items() if same(v, pool(t, m))), "other")


def table(v):
    unit = F.normalize(v)
    return unit @ unit.T


def baseline_from_the_sum(v):
    total = F.normalize(v.double()).sum(0)
    return (total @ total - len(v)) / (len(v) * (len(v) - 1))


def real_rows(h, m):
    return [[row for row, real in zip(rows, mask) if real] for rows, mask in zip(h.tolist(), m.tolist())]


def mean_in_lists(h, m):
    means = [[sum(column) / len(rows) for column in zip(*rows)] for rows in real_rows(h, m)]
    return torch.tensor(means, dtype=h.dtype)


def mean_by_shares(h, m):
    shares = m / m.sum(1, keepdim=True)
    return torch.bmm(shares[:, None].float(), h.float())[:, 0].to(h.dtype)


def mean_less_padding(h, m):
    padding = (m == 0).unsqueeze(2)
    return (h.sum(1) - (h * padding).sum(1)) / (h.shape[1] - padding.sum(1))


def max_in_lists(h, m):
    return torch.tensor([[max(column) for column in zip(*rows)] for rows in real_rows(h, m)], dtype=h.dtype)


def max_in_numpy(h, m):
    return torch.from_numpy(h.numpy().max(axis=1, where=m.numpy()[..., None] != 0, initial=-np.inf))


def max_of_two(h, m):
    """Padding repeats the first real token."""
    first = h[torch.arange(len(h)), m.int().argmax(1)]
    tokens = torch.where(m[..., None] == 1, h, first[:, None])
    return functools.reduce(torch.maximum, tokens.unbind(1))


def unit_in_lists(v):
    rows = [[x / (math.hypot(*row) or 1) for x in row] for row in v.tolist()]
    return torch.tensor(rows, dtype=v.dtype)


def unit_from_largest(v):
    """First each row's largest number is made 1."""
    largest = v.float().abs().amax(1, keepdim=True)
    rows = v.float() / torch.where(largest == 0, 1, largest)
    return (rows / (rows * rows).sum(1, keepdim=True).sqrt().clamp(min=1)).to(v.dtype)


def how_in_lists(v, t, m):
    tokens, real = t.tolist(), real_rows(t, m)
    results = {
        "cls": [rows[0] for rows in real],
        "mean": [[sum(column) for column in zip(*rows)] for rows in real],
        "max": [[max(column) for column in zip(*rows)] for rows in real],
        "careless": [[sum(column) for column in zip(*rows)] for rows in tokens],
    }
    for name, rows in results.items():
        if all(
            sum(map(math.prod, zip(a, b))) > 0.999 * math.hypot(*a) * math.hypot(*b) for a, b in zip(v.tolist(), rows)
        ):
            return name
    return "other"


def how_by_distance(v, t, m):
    """The squared distance of two rows of length 1 is twice what their cosine lacks to 1."""
    return how(v, t, m, same=lambda v, p: ((F.normalize(v) - F.normalize(p)) ** 2).sum(1).max() < 2e-3)


def how_by_angle(v, t, m):
    def same(v, p):
        v, p = v.double().numpy(), p.double().numpy()
        cosines = np.einsum("bh,bh->b", v, p) / np.sqrt((v**2).sum(1) * (p**2).sum(1))
        return np.all(np.arccos(np.clip(cosines, -1, 1)) < math.acos(0.999))

    return how(v, t, m, same=same)


def baseline_in_lists(v):
    units = [[x / math.hypot(*row) for x in row] for row in v.tolist()]
    cosines = [sum(x * y for x, y in zip(a, b)) for a, b in itertools.combinations(units, 2)]
    return math.fsum(cosines) / len(cosines)


def baseline_by_rows(v):
    """The mean over rows of each row's mean cosine to the others."""
    means = [F.cosine_similarity(v[i : i + 1], torch.cat([v[:i], v[i + 1 :]])).mean() for i in range(len(v))]
    return torch.stack(means).mean()


RIGHT = {
    "04-mean-pool": [mean_by_loop, mean_by_einsum, mean_in_lists, mean_by_shares, mean_less_padding],
    "04-max-pool": [max_by_loop, max_in_lists, max_in_numpy, max_of_two],
    "04-normalise": [
        unit_by_loop,
        unit_in_lists,
        unit_from_largest,
        lambda v: torch.nan_to_num(v.double() / torch.linalg.norm(v.double(), dim=1, keepdim=True)).to(v.dtype),
    ],
    "04-how-pooled": [how, how_in_lists, how_by_distance, how_by_angle],
    "04-baseline": [baseline_by_loop, baseline_in_numpy, baseline_from_the_sum, baseline_in_lists, baseline_by_rows],
}

WRONG = {
    "04-mean-pool": [(lambda h, m: torch.mean(h, 1), "over all positions, including padding")],
    "04-max-pool": [(lambda h, m: h.max(dim=1).values, "include padding in the maximum")],
    "04-normalise": [
        (lambda v: v / torch.linalg.norm(v, dim=1, keepdim=True), "0 is divided by 0"),
        (lambda v: 0.5 * F.normalize(v), "off by up to"),
    ],
    "04-how-pooled": [(lambda *a: how(*a, same=lambda v, p: torch.allclose(v, p)), "too strict")],
    "04-baseline": [(lambda v: (F.normalize(v) @ F.normalize(v).T).mean().item(), "Leave out the diagonal")],
}

PROMISES = {
    "04-mean-pool": [
        ("a tensor of shape (batch, hidden)", lambda h, m: mean(h, m).numpy(), "returned an ndarray"),
        ("Its dtype must be that of the token vectors", lambda h, m: mean(h, m).double(), "dtype"),
        ("Only real tokens count", lambda h, m: torch.stack([r[k.bool()][1:].mean(0) for r, k in zip(h, m)])),
        ("The mask may contain 1 and 0", lambda h, m: torch.stack([row[k].mean(0) for row, k in zip(h, m)])),
        ("or true and false", lambda h, m: mean(h, 1 - (1 - m))),
    ],
    "04-max-pool": [
        (
            "the same arguments",
            lambda h, m: maximum(h.float(), m).double() if h.dtype == torch.float64 else maximum(h, m),
        ),
        ("a tensor of shape (batch, hidden)", lambda h, m: maximum(h, m).numpy(), "returned an ndarray"),
    ],
    "04-normalise": [
        ("a tensor of the same shape and dtype", lambda v: F.normalize(v).numpy(), "returned an ndarray"),
        ("a tensor of the same shape and dtype", lambda v: F.normalize(v).double()),
        ("scaled to length 1", lambda v: torch.stack([F.normalize(r, dim=0) if r.all() else 0 * r for r in v])),
        ("scaled to length 1", lambda v: torch.stack([F.normalize(r, dim=0) if r.sum() else 0 * r for r in v])),
        ("scaled to length 1", lambda v: torch.stack([F.normalize(r, dim=0) if r.max() > 0 else 0 * r for r in v])),
    ],
    "04-how-pooled": [
        ("the mean over all positions, including padding", lambda *a: {"careless": "mean"}.get(how(*a), how(*a))),
        *(
            ("the cosine of its result with `vectors` is above 1 - 1e-3", lambda *a, x=x: how(*a, same=row_by_row(x)))
            for x in (0.3, 0.98, 0.995, 0.9985)
        ),
        ("in every row", lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p)[-1] > 0.999)),
        ("in every row", lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p).median() > 0.999)),
        (
            "the cosine of its result with `vectors`",
            lambda *a: how(*a, same=lambda v, p: (F.cosine_similarity(v, p).abs() > 0.999).all()),
        ),
        ('If there is no such pooling, return `"other"`', lambda *a: {"other": "none"}.get(how(*a), how(*a))),
        (
            "may or may not have been scaled to length 1",
            lambda *a: how(*a, same=lambda v, p: torch.allclose(v, F.normalize(p), atol=1e-2)),
        ),
        ("Padding may be on the left", lambda v, t, m: how(v, t, right_only(m).long())),
        ("only one row does", lambda v, t, m: how(v[:-1], t[:-1], m[:-1])),
    ],
    "04-baseline": [
        ("over all pairs of rows", lambda v: (c := table(v).triu(1))[c != 0].mean()),
        ("as one number", lambda v: (table(v).sum(1) - 1) / (len(v) - 1)),
    ],
}
