"""Answers to lesson 06."""

import math
from fractions import Fraction

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


def cosine_from_largest(a, b):
    """First each vector's largest number is made 1."""
    if not a.any() or not b.any():
        return 0.0
    a, b = (x.float() / x.float().abs().max() for x in (a, b))
    return (a * b).sum() / (a * a).sum().sqrt() / (b * b).sum().sqrt()


def cosine_in_fractions(a, b):
    a, b = ([Fraction(x) for x in v.tolist()] for v in (a, b))
    dot, squares = sum(x * y for x, y in zip(a, b)), sum(x * x for x in a) * sum(x * x for x in b)
    return math.copysign(math.sqrt(dot * dot / squares), dot) if squares else 0.0


def mean_cosine_in_lists(means, counts):
    """Pairs within each batch, then twice those across two batches."""
    means, cosines, pairs = means.tolist(), [], 0
    for k, (one, n) in enumerate(zip(means, counts)):
        cosines.append(n * n * sum(x * x for x in one) - n)
        pairs += n * (n - 1)
        for other, m in zip(means[:k], counts):
            cosines.append(2 * n * m * sum(x * y for x, y in zip(one, other)))
            pairs += 2 * n * m
    return math.fsum(cosines) / pairs


def mean_cosine_of_shares(means, counts):
    """In float32: the share of each batch, then the mean with each sentence itself, put right."""
    n = sum(counts)
    shares = torch.tensor([count / n for count in counts])
    with_itself = shares @ (means @ means.T) @ shares
    return with_itself + (with_itself - 1) / (n - 1)


def centred_in_lists(first, second, background):
    middle = [sum(column) / len(background) for column in zip(*background.tolist())]
    cosines = []
    for a, b in zip(first.tolist(), second.tolist()):
        a, b = ([x - m for x, m in zip(row, middle)] for row in (a, b))
        cosines.append(sum(x * y for x, y in zip(a, b)) / (math.hypot(*a) * math.hypot(*b)))
    return cosines


def centred_by_shares(f, s, b):
    """In float32: the mean of the differences, and rows of length 1."""
    f, s = ((rows[:, None] - b).div(len(b)).sum(1) for rows in (f, s))
    f, s = (rows / torch.linalg.norm(rows, dim=1, keepdim=True) for rows in (f, s))
    return torch.einsum("nh,nh->n", f, s)


def centred_by_products(f, s, b):
    """In float32, without any subtraction of vectors."""
    m = b.mean(0)

    def product(x, y):
        return (x * y).sum(1) - x @ m - y @ m + m @ m

    return product(f, s) / (product(f, f) * product(s, s)).sqrt()


def points_of_covariance(first, second):
    both = np.vstack([first, second])
    return np.split(both @ np.linalg.eigh(np.cov(both.T))[1][:, -2:], [len(first)])


def plane_of_covariance(first, second):
    return cdist(*points_of_covariance(first, second))


def plane_in_float32(first, second):
    both = torch.tensor(np.vstack([first, second]), dtype=torch.float32)
    axes = torch.linalg.svd(both - both.mean(0)).Vh[:2]
    a, b = (both @ axes.T).tensor_split([len(first)])
    return (a[:, None] - b).square().sum(2).sqrt()


def plane_of_products(first, second):
    """The points from the products of all rows with each other."""
    both = np.vstack([first, second])
    both = both - both.mean(0)
    values, vectors = np.linalg.eigh(both @ both.T)
    points = vectors[:, -2:] * np.sqrt(values[-2:])
    return np.array([[math.dist(a, b) for b in points[len(first) :]] for a in points[: len(first)]])


def plane_by_squares(first, second):
    """Squared distances from lengths and products."""
    a, b = points_of_covariance(first, second)
    squares = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T
    return np.sqrt(np.maximum(squares, 0))


def plane_in_lists(first, second):
    """Two axes, turned again and again until they lie in the plane."""

    def dot(a, b):
        return sum(x * y for x, y in zip(a, b))

    rows = [*first.tolist(), *second.tolist()]
    middle = [sum(column) / len(rows) for column in zip(*rows)]
    rows = [[x - m for x, m in zip(row, middle)] for row in rows]
    products = [[dot(a, b) for b in zip(*rows)] for a in zip(*rows)]
    one, two = rows[0], rows[-1]
    for _ in range(60):
        one, two = ([dot(row, axis) for row in products] for axis in (one, two))
        one = [x / math.hypot(*one) for x in one]
        two = [y - dot(one, two) * x for x, y in zip(one, two)]
        two = [x / math.hypot(*two) for x in two]
    points = [(dot(row, one), dot(row, two)) for row in rows]
    return [[math.dist(a, b) for b in points[len(first) :]] for a in points[: len(first)]]


def assign_in_loops(vectors, centres, threshold):
    answer = []
    for v in vectors:
        cosines = [float(v @ c) / math.sqrt(float(c @ c)) for c in centres]
        best = max(cosines)
        answer.append(cosines.index(best) if best >= threshold else -1)
    return answer


def assign_by_units(vectors, centres, threshold):
    units = F.normalize(torch.from_numpy(centres.copy()), dim=1)
    best = (torch.from_numpy(vectors.copy()) @ units.T).max(dim=1)
    return [i if c >= threshold else -1 for c, i in zip(best.values.tolist(), best.indices.tolist())]


def assign_by_distance_of_units(vectors, centres, threshold):
    """Of unit vectors, the nearest one has the highest cosine."""
    units = centres / np.sqrt((centres**2).sum(axis=1, keepdims=True))
    nearest = cdist(vectors, units).argmin(axis=1)
    cosines = (vectors * units[nearest]).sum(axis=1)
    return [int(i) if c >= threshold else -1 for i, c in zip(nearest, cosines)]


RIGHT = {
    "06-assign": [
        assign_in_loops,
        assign_by_units,
        assign_by_distance_of_units,
        lambda v, c, t: np.array(assign_in_loops(v, c, t)),
    ],
    "06-cosine": [cosine_by_loop, cosine_in_numpy, cosine_of_units, cosine_from_largest, cosine_in_fractions],
    "06-mean-cosine": [
        mean_cosine_by_pairs_of_batches,
        mean_cosine_in_numpy,
        mean_cosine_weighted,
        mean_cosine_in_lists,
        mean_cosine_of_shares,
    ],
    "06-centre": [
        centred,
        centred_in_lists,
        centred_by_shares,
        centred_by_products,
        lambda f, s, b: centred(f.double(), s.double(), b.double()).tolist(),
        lambda f, s, b: centred(f, s, b).numpy(),
    ],
    "06-project": [
        plane_by_hand,
        plane_of_covariance,
        plane_in_float32,
        plane_of_products,
        plane_by_squares,
        plane_in_lists,
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
    "06-assign": [
        (
            "such a mean is shorter than 1",
            lambda v, c, t: (
                assign_by_units(v, c, t)
                if len(c) == 1
                else [i if i >= 0 and v[n] @ c[i] >= t else -1 for n, i in enumerate((v @ c.T).argmax(axis=1).tolist())]
            ),
        )
    ],
    "06-cosine": [
        ("different dtypes", cosine_of),
        ("or whole numbers, down to int8", lambda a, b: cosine_of(a.double(), b.to(a.dtype).double())),
        (
            "or whole numbers, down to int8",
            lambda a, b: (lambda d: d / (a.double().norm() * b.double().norm()) if d else 0.0)((a * b).sum().double()),
        ),
        ("If either vector is all zeros", lambda a, b: math.nan if not a.any() and b.any() else cosine_of(*wide(a, b))),
        ("If either vector is all zeros", lambda a, b: math.nan if not b.any() and a.any() else cosine_of(*wide(a, b))),
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
        ("as a tensor of shape (n,)", lambda f, s, b: centred(f, s, b)[:, None]),
        ("for all rows", lambda f, s, b: centred(f, s, b)[:1]),
    ],
    "06-project": [
        ("(n, hidden) and (m, hidden)", lambda f, s: distances_in(f, s)[: len(s)]),
        (
            "fitted by PCA to both sets together",
            lambda f, s: distances_in(f, s, rows=f if len(f) > 1 else np.vstack([f, s])),
        ),
        (
            "when one set has a single row",
            lambda f, s: distances_in(f, s) if min(len(f), len(s)) > 1 else cdist(PCA(2).fit_transform(f), s[:, :2]),
        ),
    ],
}
