"""Answers to lesson 04."""

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


RIGHT = {
    "04-mean-pool": [mean_by_loop, mean_by_einsum],
    "04-max-pool": [max_by_loop],
    "04-normalise": [
        unit_by_loop,
        lambda v: torch.nan_to_num(v.double() / torch.linalg.norm(v.double(), dim=1, keepdim=True)).to(v.dtype),
    ],
    "04-how-pooled": [how],
    "04-baseline": [baseline_by_loop, baseline_in_numpy, baseline_from_the_sum],
}

WRONG = {
    "04-mean-pool": [(lambda h, m: torch.mean(h, 1), "over all positions, padding too")],
    "04-max-pool": [(lambda h, m: h.max(dim=1).values, "over padding too")],
    "04-normalise": [
        (lambda v: v / torch.linalg.norm(v, dim=1, keepdim=True), "0 is divided by 0"),
        (lambda v: 0.5 * F.normalize(v), "off by up to"),
    ],
    "04-how-pooled": [(lambda *a: how(*a, same=lambda v, p: torch.allclose(v, p)), "too exact")],
    "04-baseline": [(lambda v: (F.normalize(v) @ F.normalize(v).T).mean().item(), "Leave the diagonal out")],
}

PROMISES = {
    "04-mean-pool": [
        ("a tensor (batch, hidden)", lambda h, m: mean(h, m).numpy(), "returned an ndarray"),
        ("of the same dtype as the token vectors", lambda h, m: mean(h, m).double(), "dtype"),
        ("Only real tokens count", lambda h, m: torch.stack([r[k.bool()][1:].mean(0) for r, k in zip(h, m)])),
        ("The mask may hold 1 and 0", lambda h, m: torch.stack([row[k].mean(0) for row, k in zip(h, m)])),
        ("or true and false", lambda h, m: mean(h, 1 - (1 - m))),
    ],
    "04-max-pool": [
        (
            "the same arguments",
            lambda h, m: maximum(h.float(), m).double() if h.dtype == torch.float64 else maximum(h, m),
        ),
        ("a tensor (batch, hidden)", lambda h, m: maximum(h, m).numpy(), "returned an ndarray"),
    ],
    "04-normalise": [
        ("a tensor of the same shape and dtype", lambda v: F.normalize(v).numpy(), "returned an ndarray"),
        ("a tensor of the same shape and dtype", lambda v: F.normalize(v).double()),
        ("scaled to length 1", lambda v: torch.stack([F.normalize(r, dim=0) if r.all() else 0 * r for r in v])),
        ("scaled to length 1", lambda v: torch.stack([F.normalize(r, dim=0) if r.sum() else 0 * r for r in v])),
        ("scaled to length 1", lambda v: torch.stack([F.normalize(r, dim=0) if r.max() > 0 else 0 * r for r in v])),
    ],
    "04-how-pooled": [
        ("the mean over all positions, padding too", lambda *a: {"careless": "mean"}.get(how(*a), how(*a))),
        *(("a cosine above 1 - 1e-3", lambda *a, x=x: how(*a, same=row_by_row(x))) for x in (0.3, 0.98, 0.995, 0.9985)),
        ("in every row", lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p)[-1] > 0.999)),
        ("in every row", lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p).median() > 0.999)),
        ("a cosine above", lambda *a: how(*a, same=lambda v, p: (F.cosine_similarity(v, p).abs() > 0.999).all())),
        ('If none has, return `"other"`', lambda *a: {"other": "none"}.get(how(*a), how(*a))),
        ("or not", lambda *a: how(*a, same=lambda v, p: torch.allclose(v, F.normalize(p), atol=1e-2))),
        ("Padding may stand on the left", lambda v, t, m: how(v, t, right_only(m).long())),
        ("only one row has any", lambda v, t, m: how(v[:-1], t[:-1], m[:-1])),
    ],
    "04-baseline": [
        ("over all pairs of rows", lambda v: (c := table(v).triu(1))[c != 0].mean()),
        ("as one number", lambda v: (table(v).sum(1) - 1) / (len(v) - 1)),
    ],
}
