"""Answers to lesson 04 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

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


def mean_by_expand(h, m):
    wide = m[:, :, None].expand(h.size()).float()
    return torch.sum(h * wide, 1) / torch.clamp(wide.sum(1), min=1e-9)


def mean_in_place(h, m):
    h *= m.unsqueeze(-1)
    return h.sum(1) / m.sum(1, keepdim=True)


def max_by_loop(h, m):
    return torch.stack([row[mask.bool()].max(dim=0).values for row, mask in zip(h, m)])


def max_by_where(h, m):
    low = torch.where(m[..., None].bool(), h, torch.tensor(float("-inf")))
    return torch.max(low, 1)[0]


def max_in_place(h, m):
    h[m == 0] = -1e9
    return h.max(1).values


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


def mean_in_numpy_with_torch_around(h, m):
    keep = m.numpy().astype(h.numpy().dtype)[..., None]
    return torch.from_numpy((h.numpy() * keep).sum(1) / keep.sum(1))


def mean(h, m, *, count=None, keep=None):
    """A right answer; each argument changes one thing."""
    keep = m if keep is None else keep
    weight = keep.unsqueeze(-1).to(h.dtype)
    return (h * weight).sum(1) / (weight.sum(1) if count is None else count)


def right_only(m):
    return torch.arange(m.shape[1]) < m.long().sum(1, keepdim=True)


def maximum(h, m, low=-float("inf")):
    return h.masked_fill(m.unsqueeze(-1) == 0, low).amax(1)


def zeros_as_padding(h, m):
    kept = h * m.unsqueeze(-1)
    kept[kept == 0] = float("-inf")
    return kept.max(1).values


def row_by_row(angle):
    """Vectors are scaled to length 1 with this limit on the cosine."""
    return lambda v, p: (F.normalize(v) * F.normalize(p)).sum(1).min() > angle


def unit_in_place(v):
    v /= v.norm(dim=1, keepdim=True).clamp(min=1e-12)
    return v


def how_by_angles(vectors, token_embeddings, attention_mask):
    real = attention_mask == 1
    ways = {"careless": token_embeddings.numpy().mean(1)}
    rows = [h[r].numpy() for h, r in zip(token_embeddings, real)]
    for name, way in {
        "cls": lambda row: row[0],
        "mean": lambda row: row.mean(0),
        "max": lambda row: row.max(0),
    }.items():
        ways[name] = np.stack([way(row) for row in rows])
    for name, pooled in ways.items():
        top = (pooled * vectors.numpy()).sum(1)
        if (top > 0.999 * np.linalg.norm(pooled, axis=1) * np.linalg.norm(vectors, axis=1)).all():
            return name
    return "other"


def how_by_distance(vectors, token_embeddings, attention_mask):
    unit = F.normalize(vectors)
    for name, pool in {"mean": mean, "cls": cls_pool, "max": maximum}.items():
        if (F.normalize(pool(token_embeddings, attention_mask)) - unit).norm(dim=1).max() < 0.0447:
            return name
    return "careless" if (F.normalize(token_embeddings.mean(1)) - unit).norm(dim=1).max() < 0.0447 else "other"


def how(v, t, m, *, same=None, ways=None):
    """A right answer; each argument changes one thing."""
    ways = {"cls": cls_pool, "mean": mean, "max": maximum, "careless": lambda t, m: t.mean(1), **(ways or {})}
    same = same or (lambda v, p: (F.cosine_similarity(v, p) > 0.999).all())
    return next((name for name, pool in ways.items() if same(v, pool(t, m))), "other")


def how_with_padding(v, t, m):
    padded = (m == 0).any(1)
    return how(v[padded], t[padded], m[padded])


def max_of_the_first(t, m):
    return torch.stack([x[: int(k.sum())].amax(0) for x, k in zip(t, m)])


def how_in_place(v, t, m):
    found = how(v, t, m)
    v /= v.norm(dim=1, keepdim=True) + 1
    return found


def table(v):
    unit = F.normalize(v)
    return unit @ unit.T


def baseline_from_the_sum(v):
    total = F.normalize(v.double()).sum(0)
    return (total @ total - len(v)) / (len(v) * (len(v) - 1))


def baseline_in_place(v):
    v /= v.norm(dim=1, keepdim=True)
    return baseline_from_the_sum(v)


RIGHT = {
    "04-mean-pool": [mean_by_loop, mean_by_einsum, mean_by_expand, mean_in_numpy_with_torch_around],
    "04-max-pool": [
        max_by_loop,
        max_by_where,
        lambda h, m: maximum(h, m, torch.finfo(h.dtype).min),
        lambda h, m: maximum(h, m, h.min()),
        lambda h, m: torch.tensor(
            [[max(column) for column in zip(*row[k.bool()].tolist())] for row, k in zip(h, m)], dtype=h.dtype
        ),
    ],
    "04-normalise": [
        unit_by_loop,
        lambda v: F.normalize(v),
        lambda v: F.normalize(v, p=2, dim=-1),
        lambda v: torch.nan_to_num(v.double() / torch.linalg.norm(v.double(), dim=1, keepdim=True)).to(v.dtype),
        lambda v: torch.stack([row / row.norm() if row.any() else torch.zeros_like(row) for row in v]),
    ],
    "04-how-pooled": [how_by_angles, how_by_distance, how, lambda *a: how(*a, same=row_by_row(0.999))],
    "04-baseline": [baseline_by_loop, baseline_in_numpy, baseline_from_the_sum],
}

WRONG = {
    "04-mean-pool": [
        (lambda h, m: torch.mean(h, 1), "over all positions, padding too"),
        (mean_in_place, "changes `token_embeddings`"),
        (lambda h, m: mean_by_loop(h, m).numpy(), "returned an ndarray"),
        (lambda h, m: mean_by_loop(h, m).double(), "dtype"),
        (lambda h, m: mean_by_loop(h.float(), m), "should have the dtype"),
        (lambda h, m: mean(h, m, count=(h * m[..., None] != 0).any(2).sum(1)[:, None]), "count of what is not zero"),
        (lambda h, m: mean(h, m, count=(h * m[..., None] != 0).sum(1)), "count of what is not zero"),
        (lambda h, m: None, "`return`"),
        (lambda h, m: h.no_such_method(), "AttributeError"),
    ],
    "04-max-pool": [
        (lambda h, m: h.max(dim=1).values, "over padding too"),
        (max_in_place, "changes `token_embeddings`"),
        *((lambda h, m, low=low: maximum(h, m, low), "not low enough") for low in (-1e4, -1e6, -1e25, -3.4e38)),
        (lambda h, m: maximum(h, m, torch.finfo(torch.float32).min), "not low enough"),
        (lambda h, m: maximum(h, m).numpy(), "returned an ndarray"),
        (lambda h, m: maximum(h.float(), m), "always float32"),
        (zeros_as_padding, "may hold zeros"),
        (lambda h, m: (h + (1 - m.long()[..., None]) * -1e9).amax(1), "not low enough"),
        (lambda h, m: maximum(h, m).clamp(min=-1e4), "that you put in is not low enough"),
    ],
    "04-normalise": [
        (lambda v: v / torch.linalg.norm(v, dim=1, keepdim=True), "0 is divided by 0"),
        *(
            (lambda v, more=more: v / (v.norm(dim=1, keepdim=True) + more), "too large for short rows")
            for more in (1e-12, 1e-9, 1e-6, 1e-4)
        ),
        *((lambda v, eps=eps: F.normalize(v, eps=eps), "too large for short rows") for eps in (1e-9, 1e-8, 1e-3, 1e-1)),
        (lambda v: 0.5 * F.normalize(v), "off by up to"),
        (lambda v: F.normalize(v).numpy(), "returned an ndarray"),
        (lambda v: F.normalize(v.float()), "always float32"),
    ],
    "04-how-pooled": [
        (lambda *a: how(*a, same=lambda v, p: torch.allclose(v, p)), "too exact"),
        (lambda *a: "other", 'always return "other"'),
        *(
            (lambda *a, most=most: how(*a, same=row_by_row(most)), "is too exact")
            for most in (0.9995, 1 - 1e-5, 1 - 1e-6)
        ),
        *((lambda *a, least=least: how(*a, same=row_by_row(least)), "too generous") for least in (0.98, 0.995, 0.9985)),
        (lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p).mean() > 0.999), "hides in a mean"),
        (
            lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v.ravel(), p.ravel(), 0) > 0.999),
            "one cosine over all",
        ),
        (lambda v, t, m: how(v[:: len(v) - 1], t[:: len(v) - 1], m[:: len(v) - 1]), "the last one only"),
        (lambda *a: how(*a, same=lambda v, p: torch.allclose(v, p, atol=1e-2)), "scaled to length 1"),
        (lambda *a: how(*a, ways={"cls": lambda t, m: t[:, 0]}), "first *real* token"),
        (lambda *a: how(*a, same=lambda v, p: (F.cosine_similarity(v, p, dim=0) > 0.999).all()), "along dimension 0"),
        (lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p, 0).min() > 0.999), "along dimension 0"),
        (how_with_padding, "only at rows with padding"),
        (lambda *a: how(*a, ways={"max": max_of_the_first}), "cuts real tokens off"),
        (lambda v, t, m: how(v, t, m, ways={"mean": lambda t, m: mean(t, right_only(m))}), "cuts real tokens off"),
    ],
    "04-baseline": [(lambda v: (F.normalize(v) @ F.normalize(v).T).mean().item(), "Leave the diagonal out")],
}

PROMISES = {
    "04-mean-pool": [
        ("a tensor (batch, hidden)", lambda h, m: mean(h, m).numpy()),
        ("of the same dtype as the token vectors", lambda h, m: mean(h, m).double()),
        ("which may be float32 or float64", lambda h, m: mean(h, m).float()),
        ("Only real tokens count", lambda h, m: mean(h, m, keep=torch.ones_like(m), count=m.sum(1, keepdim=True))),
        ("Only real tokens count", lambda h, m: mean(h, m, count=h.shape[1])),
        ("Only real tokens count", lambda h, m: torch.stack([r[k.bool()][1:].mean(0) for r, k in zip(h, m)])),
        ("also those that hold zeros", lambda h, m: mean(h, m, count=(h * m[..., None] != 0).any(2).sum(1)[:, None])),
        ("The mask may hold 1 and 0", lambda h, m: torch.stack([row[k].mean(0) for row, k in zip(h, m)])),
        ("or true and false", lambda h, m: mean(h, 1 - (1 - m))),
        ("the padding may stand on the left", lambda h, m: mean(h, right_only(m))),
        ("Neither tensor may change", mean_in_place),
    ],
    "04-max-pool": [
        (
            "the same arguments",
            lambda h, m: maximum(h.float(), m).double() if h.dtype == torch.float64 else maximum(h, m),
        ),
        ("a tensor (batch, hidden)", lambda h, m: maximum(h, m).amax(0)),
        ("a tensor (batch, hidden)", lambda h, m: maximum(h, m).numpy()),
        ("of the same dtype as the token vectors", lambda h, m: maximum(h, m).float()),
        ("The mask may again hold true and false", lambda h, m: (h - (1 - m)[..., None] * 1e38).amax(1)),
        ("the padding may stand on the left", lambda h, m: maximum(h, right_only(m))),
        ("may hold zeros", zeros_as_padding),
        ("the lowest of their dtype", lambda h, m: maximum(h, m, -1e6)),
        ("the lowest of their dtype", lambda h, m: maximum(h, m, -1e25)),
        ("the lowest of their dtype", lambda h, m: maximum(h, m, -1e38)),
        ("the lowest of their dtype", lambda h, m: maximum(h, m, torch.finfo(torch.float32).min)),
        ("the lowest of their dtype", lambda h, m: (h * m[..., None]).amax(1)),
        ("Neither tensor may change", max_in_place),
    ],
    "04-normalise": [
        ("a tensor of the same shape and dtype", lambda v: F.normalize(v).numpy()),
        ("a tensor of the same shape and dtype", lambda v: F.normalize(v).tolist()),
        ("a tensor of the same shape and dtype", lambda v: F.normalize(v).double()),
        ("float32 or float64", lambda v: F.normalize(v).float()),
        ("each row", lambda v: v / v.norm()),
        ("scaled to length 1", lambda v: F.normalize(v, p=1)),
        ("scaled to length 1", lambda v: torch.stack([F.normalize(r, dim=0) if r.all() else 0 * r for r in v])),
        ("scaled to length 1", lambda v: torch.stack([F.normalize(r, dim=0) if r.sum() else 0 * r for r in v])),
        ("scaled to length 1", lambda v: torch.stack([F.normalize(r, dim=0) if r.max() > 0 else 0 * r for r in v])),
        ("must come back as zeros", lambda v: v / v.norm(dim=1, keepdim=True)),
        ("not as NaN", lambda v: F.normalize(v) + 0 * (v / v.norm(dim=1, keepdim=True))),
        ("as short as 1e-10", lambda v: F.normalize(v, eps=1e-9)),
        ("as short as 1e-10", lambda v: v / (v.norm(dim=1, keepdim=True) + 1e-12)),
        ("The tensor itself must not change", unit_in_place),
    ],
    "04-how-pooled": [
        ("the first real token", lambda *a: how(*a, ways={"cls": lambda t, m: t[:, 0]})),
        ("the mean over all positions, padding too", lambda *a: {"careless": "mean"}.get(how(*a), how(*a))),
        *(("a cosine above 1 - 1e-3", lambda *a, x=x: how(*a, same=row_by_row(x))) for x in (0.3, 0.98, 0.995, 0.9985)),
        *(
            ("the limit above decides", lambda *a, x=x: how(*a, same=row_by_row(x)))
            for x in (0.9995, 1 - 1e-5, 1 - 1e-6)
        ),
        ("in every row", lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p).mean() > 0.999)),
        ("in every row", lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v.ravel(), p.ravel(), 0) > 0.999)),
        ("in every row", lambda v, t, m: how(v[:: len(v) - 1], t[:: len(v) - 1], m[:: len(v) - 1])),
        ("in every row", lambda *a: how(*a, same=lambda v, p: (F.cosine_similarity(v, p) > 0.999).any())),
        ("in every row", lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p)[0] > 0.999)),
        ("in every row", lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p)[-1] > 0.999)),
        ("in every row", lambda *a: how(*a, same=lambda v, p: F.cosine_similarity(v, p).median() > 0.999)),
        ("in every row", lambda *a: how(*a, same=lambda v, p: (F.cosine_similarity(v, p, dim=0) > 0.999).all())),
        ("in every row", how_with_padding),
        ("a cosine above", lambda *a: how(*a, same=lambda v, p: (F.cosine_similarity(v, p).abs() > 0.999).all())),
        ('If none has, return `"other"`', lambda *a: {"other": "none"}.get(how(*a), how(*a))),
        ("may have been scaled to length 1", lambda *a: how(*a, same=lambda v, p: torch.allclose(v, p, atol=1e-2))),
        ("or not", lambda *a: how(*a, same=lambda v, p: torch.allclose(v, F.normalize(p), atol=1e-2))),
        (
            "stored with few digits",
            lambda *a: how(*a, same=lambda v, p: torch.allclose(F.normalize(v), F.normalize(p), rtol=0, atol=1e-6)),
        ),
        ("Padding may stand on the left", lambda v, t, m: how(v, t, right_only(m).long())),
        ("Padding may stand on the left", lambda *a: how(*a, ways={"max": max_of_the_first})),
        ("only one row has any", lambda v, t, m: how(v[:-1], t[:-1], m[:-1])),
        ("No tensor may change", how_in_place),
    ],
    "04-baseline": [
        ("over all pairs of rows", lambda v: table(v).diagonal(1).mean()),
        ("over all pairs of rows", lambda v: (c := table(v).triu(1))[c != 0].mean()),
        ("i ≠ j", lambda v: table(v).mean()),
        ("as one number", lambda v: (table(v).sum(1) - 1) / (len(v) - 1)),
        ("are not normalised", lambda v: ((v @ v.T).sum() - (v * v).sum()) / (len(v) * (len(v) - 1))),
        ("it must not count", lambda v: (table(v).sum() - len(v)) / len(v) ** 2),
        ("Two rows at different places count", lambda v: table(v)[table(v) < 0.9999].mean()),
        ("The tensor itself must not change", baseline_in_place),
    ],
}
