"""Answers to lesson 06."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA


def cosine_by_loop(a, b):
    dot, aa, bb = 0.0, 0.0, 0.0
    for x, y in zip(a.tolist(), b.tolist()):
        dot += x * y
        aa += x * x
        bb += y * y
    if aa == 0 or bb == 0:
        return 0
    return dot / math.sqrt(aa * bb)


def cosine_in_numpy(a, b):
    x, y = a.numpy().astype("float64"), b.numpy().astype("float64")
    n = np.linalg.norm(x) * np.linalg.norm(y)
    return np.dot(x, y) / n if n > 0 else 0.0


def cosine_of_units(a, b):
    a, b = a.to(torch.float64), b.to(torch.float64)
    if torch.all(a == 0) or torch.all(b == 0):
        return torch.tensor(0.0)
    return torch.sum((a / torch.linalg.norm(a)) * (b / torch.linalg.norm(b)))


def cosine_plain(a, b):
    return torch.dot(a, b) / (torch.norm(a) * torch.norm(b))


def mean_cosine_by_pairs_of_batches(means, counts):
    total, pairs = 0.0, 0
    for k in range(len(counts)):
        for j in range(len(counts)):
            cosines = counts[k] * counts[j] * float(means[k] @ means[j])
            total += cosines - (counts[k] if j == k else 0)
            pairs += counts[k] * counts[j] - (counts[k] if j == k else 0)
    return total / pairs


def mean_cosine_in_numpy(means, counts):
    s, n = np.average(means.numpy(), axis=0, weights=counts), sum(counts)
    return (n * np.dot(s, s) - 1) / (n - 1)


def mean_cosine_weighted(means, counts):
    c = torch.as_tensor(counts).unsqueeze(1)
    n = c.sum()
    m = (means * c).sum(0) / n
    return (n * m.pow(2).sum() - 1) / (n - 1)


def plane_by_hand(first, second):
    both = np.vstack([first, second])
    both = both - both.mean(0)
    _, _, axes = np.linalg.svd(both, full_matrices=False)
    points = both @ axes[:2].T
    return cdist(points[: len(first)], points[len(first) :])


def wide(a, b):
    return a.double(), b.double()


def cosine_of(a, b):
    lengths = a.norm() * b.norm()
    return 0.0 if lengths == 0 else (a @ b / lengths).item()


def without_single(means, counts):
    """Leaves out batches of a single sentence, if that leaves any."""
    kept = [place for place, n in enumerate(counts) if n > 1] or list(range(len(counts)))
    return means[kept], [counts[place] for place in kept]


def centred(f, s, b):
    m = b.mean(0)
    return F.cosine_similarity(f - m, s - m)


def distances_in(first, second, rows=None):
    plane = PCA(2).fit(np.vstack([first, second]) if rows is None else rows)
    return cdist(plane.transform(first), plane.transform(second))


RIGHT = {
    "06-cosine": [cosine_by_loop, cosine_in_numpy, cosine_of_units],
    "06-mean-cosine": [mean_cosine_by_pairs_of_batches, mean_cosine_in_numpy, mean_cosine_weighted],
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

WRONG = {
    "06-cosine": [(cosine_plain, "different dtypes")],
    "06-mean-cosine": [
        (lambda m, c: ((m.mean(0) ** 2).sum()).item(), "weight each by its count"),
        (lambda m, c: (F.normalize(m) @ F.normalize(m).T).mean(), "Batches of different sizes"),
    ],
    "06-centre": [(lambda f, s, b: F.cosine_similarity(f, s), "do not subtract the mean")],
    "06-project": [
        (lambda f, s: cdist(PCA(2).fit_transform(f), PCA(2).fit_transform(s)), "a plane of its own"),
        (lambda f, s: s, "where (5, 4) is expected"),
    ],
}

PROMISES = {
    "06-cosine": [
        ("different dtypes", cosine_of),
        ("or whole numbers, down to int8", lambda a, b: cosine_of(a.double(), b.to(a.dtype).double())),
        (
            "or whole numbers, down to int8",
            lambda a, b: (lambda d: d / (a.double().norm() * b.double().norm()) if d else 0.0)((a * b).sum().double()),
        ),
        ("If either is all zeros", lambda a, b: math.nan if not a.any() and b.any() else cosine_of(*wide(a, b))),
        ("If either is all zeros", lambda a, b: math.nan if not b.any() and a.any() else cosine_of(*wide(a, b))),
        ("Return one number", lambda a, b: a.double() * b.double() / (a.double().norm() * b.double().norm() + 1e-300)),
    ],
    "06-mean-cosine": [
        ("a batch may hold a single sentence", lambda m, c: mean_cosine_in_numpy(*without_single(m, c))),
        (
            "Two sentences with the same text are different sentences",
            lambda m, c: mean_cosine_in_numpy(*map(np.array, zip(*{(tuple(x), n) for x, n in zip(m.tolist(), c)}))),
        ),
        ("as one number", lambda m, c: torch.tensor([mean_cosine_in_numpy(m, c)] * len(c))),
    ],
    "06-centre": [
        ("(n, hidden), (n, hidden) and (m, hidden)", lambda f, s, b: centred(f, s, b[: len(f)])),
        ("row i of `first` with row i of `second`", lambda f, s, b: centred(f, s.flip(0), b)),
        ("the cosine of row i", lambda f, s, b: F.cosine_similarity(f - b.mean(0), s - b.mean(0), eps=1.0)),
        ("in the shape (n,)", lambda f, s, b: centred(f, s, b)[:, None]),
        ("for all rows", lambda f, s, b: centred(f, s, b)[:1]),
    ],
    "06-project": [
        ("(n, hidden) and (m, hidden)", lambda f, s: distances_in(f, s)[: len(s)]),
        (
            "the rows of both sets together",
            lambda f, s: distances_in(f, s, rows=f if len(f) > 1 else np.vstack([f, s])),
        ),
        (
            "when one set has a single row",
            lambda f, s: distances_in(f, s) if min(len(f), len(s)) > 1 else cdist(PCA(2).fit_transform(f), s[:, :2]),
        ),
    ],
}
