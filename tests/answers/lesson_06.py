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


def cosine_plain_with_zero(a, b):
    if torch.count_nonzero(a) == 0 or torch.count_nonzero(b) == 0:
        return 0.0
    return (a @ b / (a.pow(2).sum().sqrt() * b.pow(2).sum().sqrt())).item()


def cosine_sums(a, b):
    return ((a * b).sum() / ((a * a).sum().sqrt() * (b * b).sum().sqrt())).item()


def cosine_no_zero(a, b):
    a, b = a.double(), b.double()
    return (a * b).sum() / torch.sqrt(a.pow(2).sum() * b.pow(2).sum())


def cosine_float(a, b):
    a, b = a.float(), b.float()
    n = torch.linalg.norm(a) * torch.linalg.norm(b)
    if n == 0:
        return 0.0
    return (torch.dot(a, b) / n).item()


def cosine_like_a(a, b):
    b = b.type_as(a)
    if not a.any() or not b.any():
        return 0.0
    return torch.dot(a, b).item() / (a.norm() * b.norm()).item()


def cosine_of_eps(a, b):
    a, b = a.double(), b.double()
    return (a @ b / (a.norm() * b.norm() + 1e-8)).item()


def cosine_allclose(a, b):
    a, b = a.to(torch.float64), b.to(torch.float64)
    if torch.allclose(a, torch.zeros_like(a)) or torch.allclose(b, torch.zeros_like(b)):
        return 0.0
    return torch.dot(a / a.norm(), b / b.norm()).item()


def cosine_short_is_zero(a, b):
    a, b = a.double(), b.double()
    la, lb = a.norm().item(), b.norm().item()
    if la < 1e-12 or lb < 1e-12:
        return 0.0
    return float(a @ b) / la / lb


def cosine_scaled(a, b):
    a, b = a.double(), b.double()
    if not a.any() or not b.any():
        return 0
    a, b = a / max(a), b / max(b)
    return cosine_by_loop(a, b)


def cosine_both_zero(a, b):
    a, b = a.double(), b.double()
    if a.sum() == 0 and b.sum() == 0:
        return 0.0
    return (a @ b / (a.norm() * b.norm())).item()


def cosine_in_place(a, b):
    a /= a.norm()
    return 0.0


def cosine_dot(a, b):
    return torch.dot(a.double(), b.double()).item()


def cosine_squared(a, b):
    a, b = a.double(), b.double()
    n = a.pow(2).sum() * b.pow(2).sum()
    return 0.0 if n == 0 else (a @ b / n).item()


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


def centred_table(f, s, b):
    m = b.mean(0)
    return F.normalize(f - m) @ F.normalize(s - m).T


def centred_one_norm(f, s, b):
    f, s = f - b.mean(0), s - b.mean(0)
    f, s = f / torch.linalg.norm(f), s / torch.linalg.norm(s)
    return (f * s).sum(1)


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


def plane_refit(first, second):
    pca = PCA(n_components=2)
    pca.fit(np.vstack([first, second]))
    a, b = pca.fit_transform(first), pca.fit_transform(second)
    return cdist(a, b)


def plane_of_first(first, second):
    pca = PCA(n_components=2)
    a = pca.fit_transform(first)
    return cdist(a, pca.transform(second))


def plane_of_second(first, second):
    pca = PCA(n_components=2)
    b = pca.fit_transform(second)
    return cdist(pca.transform(first), b)


def plane_fitted_twice(first, second):
    pca = PCA(2).fit(first).fit(second)
    return cdist(pca.transform(first), pca.transform(second))


def plane_of_three(first, second):
    p = PCA(n_components=3).fit_transform(np.vstack([first, second]))
    return cdist(p[: len(first)], p[len(first) :])


def plane_of_centred(first, second):
    pca = PCA(2).fit(np.vstack([first - first.mean(0), second - second.mean(0)]))
    return cdist(pca.transform(first), pca.transform(second))


def plane_centred_points(first, second):
    pca = PCA(2).fit(np.vstack([first, second]))
    return cdist(pca.transform(first - first.mean(0)), pca.transform(second - second.mean(0)))


def plane_stacked_table(first, second):
    p = PCA(2).fit_transform(np.vstack([first, second]))
    return cdist(p, p)


def plane_points(first, second):
    p = PCA(2).fit_transform(np.vstack([first, second]))
    return p[: len(first)], p[len(first) :]


def plane_in_place(first, second):
    both = np.vstack([first, second])
    first -= both.mean(0)
    second -= both.mean(0)
    return plane_by_hand(first, second)


def plane_own_centres(first, second):
    return plane_by_hand(first - first.mean(0), second - second.mean(0))


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
    "06-cosine": [
        (cosine_plain, "different dtypes"),
        (cosine_plain_with_zero, "different dtypes"),
        (cosine_sums, "computed in int8"),
        (cosine_no_zero, "0 is divided by 0"),
        (cosine_float, "You compute in float32"),
        (cosine_like_a, "dtype of the other"),
        (cosine_of_eps, "keeps the division"),
        (cosine_allclose, "takes them for zeros"),
        (cosine_short_is_zero, "takes them for zeros"),
        (lambda a, b: 0.0 if 0 in a or 0 in b else cosine_in_numpy(a, b), "as soon as *one* number is 0"),
        (lambda a, b: 0.0 if not a.all() or not b.all() else cosine_by_loop(a, b), "as soon as *one* number is 0"),
        (lambda a, b: 0.0 if a[0] == 0 or b[0] == 0 else cosine_in_numpy(a, b), "first number only"),
        (lambda a, b: 0.0 if a.sum() == 0 or b.sum() == 0 else cosine_in_numpy(a, b), "adds the numbers up"),
        (cosine_scaled, "largest number with its sign"),
        (lambda a, b: math.acos(max(-1.0, min(1.0, cosine_by_loop(a, b)))), "the angle"),
        (lambda a, b: round(cosine_by_loop(a, b), 3), "You round"),
        (lambda a, b: F.cosine_similarity(a.double(), b.double(), dim=0), "`eps` of torch"),
        (lambda a, b: F.cosine_similarity(a.double()[None], b.double()[None]).item(), "`eps` of torch"),
        (cosine_dot, "the dot product"),
        (cosine_squared, "squared* lengths"),
        (lambda a, b: 1 - cosine_by_loop(a, b), "1 minus the cosine"),
        (lambda a, b: abs(cosine_in_numpy(a, b)), "lose the sign"),
        (cosine_both_zero, "unless both are zeros"),
        (cosine_in_place, "changes `a`"),
        (lambda a, b: F.cosine_similarity(a, b, dim=0).item(), "does not take what you gave it"),
        (lambda a, b: torch.cdist(a.double()[None], b.double()[None]).item(), "Euclidean distance"),
    ],
    "06-percentile": [
        (lambda c, r: 100 * np.mean(r.numpy() <= c), "`<`, not `<=`"),
        (lambda c, r: percentileofscore(r.numpy(), c, kind="mean"), "count ties half"),
        (lambda c, r: (r < c).float().mean(), "share from 0 to 1"),
        (lambda c, r: 100 * sum(x > c for x in r.tolist()) / len(r), "*higher*"),
        (lambda c, r: 100 * (r >= c).double().mean().item(), "100 minus"),
        (lambda c, r: len(r[r < c]), "how many random pairs"),
        (lambda c, r: r < c, "one true or false per random pair"),
        (lambda c, r: (c - r.double().mean()) / r.double().std(), "standard deviations"),
        (lambda c, r: int(np.rint(percent_by_loop(c, r))), "You round"),
        (lambda c, r: round(percent_by_loop(c, r), 2), "You round"),
        (lambda c, r: 100 * np.searchsorted(r.numpy(), np.float32(c)) / len(r), "needs sorted numbers"),
        (lambda c, r: (r < c).mean(), "RuntimeError"),
    ],
    "06-centre": [
        (lambda f, s, b: F.cosine_similarity(f, s), "do not subtract the mean"),
        (lambda f, s, b: F.cosine_similarity(f - b.mean(), s - b.mean()), "one number, the mean over everything"),
        (
            lambda f, s, b: F.cosine_similarity(f - f.mean(1, keepdim=True), s - s.mean(1, keepdim=True)),
            "its own numbers",
        ),
        (lambda f, s, b: F.cosine_similarity(f - f.mean(0), s - s.mean(0)), "each set's own mean"),
        (
            lambda f, s, b: F.cosine_similarity(f - torch.vstack([f, s]).mean(0), s - torch.vstack([f, s]).mean(0)),
            "of `first` and `second` together",
        ),
        (
            lambda f, s, b: torch.sum((F.normalize(f) - b.mean(0)) * (F.normalize(s) - b.mean(0)), -1),
            "length 1 any more",
        ),
        (centred_one_norm, "one length for the whole table"),
        (lambda f, s, b: F.cosine_similarity(f - b.mean(0), s), "from `first` only"),
        (
            lambda f, s, b: F.cosine_similarity(
                F.normalize(f) - F.normalize(b).mean(0), F.normalize(s) - F.normalize(b).mean(0)
            ),
            "before you subtract the mean",
        ),
        (
            lambda f, s, b: F.cosine_similarity(F.normalize(f) - b.mean(0), F.normalize(s) - b.mean(0)),
            "normalise first",
        ),
        (lambda f, s, b: ((f - b.mean(0)) * (s - b.mean(0))).sum(-1), "dot products"),
        (lambda f, s, b: F.cosine_similarity(f - b.mean(1), s - b.mean(1)), "wrong dimension"),
        (centred_table, "table of all cosines"),
        (lambda f, s, b: torch.diag(centred_table(f, s, b)).mean(), "mean over the pairs"),
        (centred_in_place, "changes `first`"),
    ],
    "06-project": [
        (lambda f, s: cdist(PCA(2).fit_transform(f), PCA(2).fit_transform(s)), "a plane of its own"),
        (plane_refit, "a plane of its own"),
        (plane_of_first, "on `first` only"),
        (plane_of_second, "on `second` only"),
        (plane_fitted_twice, "forgets the first"),
        (plane_of_three, "three axes"),
        (plane_of_centred, "after each set was centred"),
        (plane_centred_points, "before you project it"),
        (lambda f, s: cdist(f, s), "all dimensions"),
        (lambda f, s: cdist(f[:, :2], s[:, :2]), "first two dimensions"),
        (plane_own_centres, "lie on one another"),
        (plane_stacked_table, "within both sets stacked"),
        (plane_points, "You return the points"),
        (lambda f, s: plane_by_hand(s, f), "table is turned"),
        (lambda f, s: plane_by_hand(f, s) ** 2, "squared distances"),
        (plane_in_place, "changes `first`"),
        (lambda f, s: torch.from_numpy(plane_by_hand(f, s)), "returned a Tensor"),
    ],
}
