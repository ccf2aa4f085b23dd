"""Answers to lesson 06 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial.distance import cdist
from scipy.stats import percentileofscore
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


def cosine_nan_to_num(a, b):
    a, b = a.double(), b.double()
    return torch.nan_to_num((a * b).sum() / (a.pow(2).sum().sqrt() * b.pow(2).sum().sqrt()), 0.0).item()


def cosine_plain(a, b):
    return torch.dot(a, b) / (torch.norm(a) * torch.norm(b))


def cosine_in_place(a, b):
    a /= a.norm()
    return 0.0


def percent_by_loop(cosine, random_cosines):
    lower = 0
    for c in random_cosines:
        if c < cosine:
            lower += 1
    return lower / len(random_cosines) * 100


def percent_sorted(c, r):
    return 100 * np.searchsorted(np.sort(r.numpy()), np.asarray(c, dtype=r.numpy().dtype)) / r.numel()


def centred_by_loop(first, second, background):
    m = torch.zeros(background.shape[1])
    for row in background:
        m = m + row / len(background)
    return torch.stack([F.cosine_similarity(a - m, b - m, dim=0) for a, b in zip(first, second)])


def centred_with_units(f, s, b):
    m = b.mean(0, keepdim=True)
    return torch.einsum("nh,nh->n", F.normalize(f - m), F.normalize(s - m))


def centred_in_place(f, s, b):
    m = b.mean(0)
    f -= m
    s -= m
    return F.cosine_similarity(f, s)


def plane_by_hand(first, second):
    both = np.vstack([first, second])
    both = both - both.mean(0)
    _, _, axes = np.linalg.svd(both, full_matrices=False)
    points = both @ axes[:2].T
    return cdist(points[: len(first)], points[len(first) :])


def plane_by_split(first, second):
    points = PCA(2).fit_transform(np.vstack((first, second)))
    a, b = points[: first.shape[0]], points[first.shape[0] :]
    return np.array([[math.dist(p, q) for q in b] for p in a])


def plane_in_place(first, second):
    both = np.vstack([first, second])
    first -= both.mean(0)
    second -= both.mean(0)
    return plane_by_hand(first, second)


RIGHT = {
    "06-cosine": [cosine_by_loop, cosine_in_numpy, cosine_of_units, cosine_nan_to_num],
    "06-percentile": [
        percent_by_loop,
        percent_sorted,
        lambda c, r: percentileofscore(r.tolist(), c, kind="strict"),
        lambda c, r: float((r.numpy() < c).mean() * 100),
    ],
    "06-centre": [
        centred_by_loop,
        centred_with_units,
        lambda f, s, b: F.cosine_similarity(f - b.mean(0), s - b.mean(0)),
    ],
    "06-project": [plane_by_hand, plane_by_split],
}

WRONG = {
    "06-cosine": [(cosine_plain, "different dtypes"), (cosine_in_place, "changes `a`")],
    "06-percentile": [
        (lambda c, r: 100 * np.mean(r.numpy() <= c), "`<`, not `<=`"),
        (lambda c, r: (r < c).mean(), "RuntimeError"),
    ],
    "06-centre": [
        (lambda f, s, b: F.cosine_similarity(f, s), "do not subtract the mean"),
        (centred_in_place, "changes `first`"),
    ],
    "06-project": [
        (lambda f, s: cdist(PCA(2).fit_transform(f), PCA(2).fit_transform(s)), "a plane of its own"),
        (plane_in_place, "changes `first`"),
        (lambda f, s: torch.from_numpy(plane_by_hand(f, s)), "returned a Tensor"),
    ],
}
