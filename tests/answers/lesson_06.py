"""Answers to lesson 06."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA


def cosine_by_loop(a, b):
    lengths = math.hypot(*a.tolist()) * math.hypot(*b.tolist())
    product = sum(x * y for x, y in zip(a.tolist(), b.tolist()))
    return product / lengths if lengths else 0


def cosine_in_numpy(a, b):
    x, y = a.numpy().astype("float64"), b.numpy().astype("float64")
    n = np.linalg.norm(x) * np.linalg.norm(y)
    return np.dot(x, y) / n if n > 0 else 0.0


def mean_cosine_in_numpy(means, counts):
    s, n = np.average(means.numpy(), axis=0, weights=counts), sum(counts)
    return (n * np.dot(s, s) - 1) / (n - 1)


def plane_by_hand(first, second):
    both = np.vstack([first, second])
    both = both - both.mean(0)
    _, _, axes = np.linalg.svd(both, full_matrices=False)
    points = both @ axes[:2].T
    return cdist(points[: len(first)], points[len(first) :])


def cosine_of(a, b):
    lengths = a.norm() * b.norm()
    return 0.0 if lengths == 0 else (a @ b / lengths).item()


def centred(f, s, b):
    m = b.mean(0)
    return F.cosine_similarity(f - m, s - m)


def distances_in(first, second, rows=None):
    plane = PCA(2).fit(np.vstack([first, second]) if rows is None else rows)
    return cdist(plane.transform(first), plane.transform(second))


def assign_in_loops(vectors, centres, threshold):
    answer = []
    for v in vectors:
        cosines = [float(v @ c) / math.sqrt(float(c @ c)) for c in centres]
        best = max(cosines)
        answer.append(cosines.index(best) if best >= threshold else -1)
    return answer


RIGHT = {
    "06-assign": [
        assign_in_loops,
        lambda v, c, t: np.array(assign_in_loops(v, c, t)),
        lambda *args: np.array(assign_in_loops(*args)),
    ],
    "06-cosine": [cosine_by_loop, cosine_in_numpy, lambda a, b: cosine_of(a.double(), b.double())],
    "06-mean-cosine": [
        mean_cosine_in_numpy,
        lambda m, c: np.float32(mean_cosine_in_numpy(m, c)),
        lambda *args: np.array(mean_cosine_in_numpy(*args)),
    ],
    "06-centre": [
        centred,
        lambda f, s, b: centred(f.double(), s.double(), b.double()).tolist(),
        lambda f, s, b: centred(f, s, b).numpy(),
    ],
    "06-project": [
        plane_by_hand,
        lambda f, s: torch.from_numpy(plane_by_hand(f, s)),
        lambda f, s: distances_in(f, s).astype(np.float32).tolist(),
    ],
}

COMPLETED = {
    "06-cosine-table": [
        lambda a, b: [[cosine_by_loop(x, y) for y in b] for x in a],
        lambda a, b: F.cosine_similarity(a[:, None, :], b[None, :, :], dim=-1),
        lambda a, b: 1 - cdist(a, b, "cosine"),
        lambda a, b: a @ b.T / torch.outer(a.norm(dim=1), b.norm(dim=1)),
        lambda a, b: (
            (a.numpy() / np.linalg.norm(a, axis=1, keepdims=True)) @ F.normalize(b).numpy().T
        ),
        lambda a, b: torch.einsum(
            "nh,mh,n,m->nm", a, b, (a * a).sum(1).rsqrt(), (b * b).sum(1).rsqrt()
        ),
        lambda a, b: ((a @ b.T).T / a.norm(dim=1)).T.div(b.square().sum(1).sqrt()).double(),
    ],
    "06-share-kept": [
        lambda rows, axes: np.var(rows @ axes.T, axis=0).sum() / np.var(rows, axis=0).sum(),
        lambda rows, axes: np.trace(axes @ np.cov(rows.T) @ axes.T) / np.trace(np.cov(rows.T)),
        lambda rows, axes: (
            1 - np.square((m := rows - rows.mean(0)) - m @ axes.T @ axes).sum() / np.square(m).sum()
        ),
        lambda rows, axes: (
            torch.tensor((m := (rows - rows.mean(0)).astype("f")) @ axes.T.astype("f"))
            .square()
            .sum()
            / np.sum(m**2)
        ),
        lambda rows, axes: (
            (
                np.linalg.norm(np.einsum("nh,kh->nk", m := rows - rows.mean(0), axes))
                / np.linalg.norm(m)
            )
            ** 2
        ),
    ],
}

WRONG = {
    "06-cosine": [
        (lambda a, b: torch.dot(a, b) / (torch.norm(a) * torch.norm(b)), "different dtypes")
    ],
    "06-mean-cosine": [
        (lambda m, c: (m.mean(0) ** 2).sum().item(), "the cosine of each sentence with itself")
    ],
    "06-centre": [(lambda f, s, b: F.cosine_similarity(f, s), "do not subtract the mean")],
    "06-project": [
        (lambda f, s: cdist(PCA(2).fit_transform(f), PCA(2).fit_transform(s)), "a plane of its own")
    ],
}

PROMISES = {
    "06-assign": [],
    "06-cosine": [
        ("different dtypes", cosine_of),
        (
            "or whole numbers, down to int8",
            lambda a, b: cosine_of(a.double(), b.to(a.dtype).double()),
        ),
        (
            "or whole numbers, down to int8",
            lambda a, b: (lambda d: d / (a.double().norm() * b.double().norm()) if d else 0.0)(
                (a * b).sum().double()
            ),
        ),
        (
            "If either vector is all zeros",
            lambda a, b: math.nan if not a.any() and b.any() else cosine_of(a.double(), b.double()),
        ),
        (
            "If either vector is all zeros",
            lambda a, b: math.nan if not b.any() and a.any() else cosine_of(a.double(), b.double()),
        ),
        (
            "Return one number",
            lambda a, b: a.double() * b.double() / (a.double().norm() * b.double().norm() + 1e-300),
        ),
    ],
    "06-mean-cosine": [
        (
            "a batch may hold a single sentence",
            lambda m, c: mean_cosine_in_numpy(m, np.array(c) - (max(c) > 1) * (np.array(c) == 1)),
        ),
        (
            "Two sentences with the same text are different sentences",
            lambda m, c: mean_cosine_in_numpy(
                *map(np.array, zip(*{(tuple(x), n) for x, n in zip(m.tolist(), c)}))
            ),
        ),
        ("as one number", lambda m, c: torch.tensor([mean_cosine_in_numpy(m, c)] * len(c))),
    ],
    "06-centre": [
        ("(n, hidden), (n, hidden) and (m, hidden)", lambda f, s, b: centred(f, s, b[: len(f)])),
        ("row i of `first` with row i of `second`", lambda f, s, b: centred(f, s.flip(0), b)),
        (
            "the cosine of row i",
            lambda f, s, b: F.cosine_similarity(f - b.mean(0), s - b.mean(0), eps=1.0),
        ),
        ("as a tensor of shape (n,)", lambda f, s, b: centred(f, s, b)[:, None]),
        ("for all rows", lambda f, s, b: centred(f, s, b)[:1]),
    ],
    "06-project": [
        ("a row for each row of `first`", lambda f, s: distances_in(f, s).T, "transposed"),
        ("(n, hidden) and (m, hidden)", lambda f, s: distances_in(f, s)[: len(s)]),
        (
            "fitted by PCA to both sets together",
            lambda f, s: distances_in(f, s, rows=f if len(f) > 1 else np.vstack([f, s])),
        ),
        (
            "when one set has a single row",
            lambda f, s: (
                distances_in(f, s)
                if min(len(f), len(s)) > 1
                else cdist(PCA(2).fit_transform(f), s[:, :2])
            ),
        ),
    ],
}
