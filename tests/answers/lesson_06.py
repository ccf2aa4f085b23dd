"""Answers to lesson 06; `__init__.py` says what the tables are."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA


def cosine_by_loop(first, second):
    lengths = math.hypot(*first.tolist()) * math.hypot(*second.tolist())
    product = sum(x * y for x, y in zip(first.tolist(), second.tolist()))
    return product / lengths if lengths else 0


# The squared length of the mean of `total` unit vectors is the mean of all total² cosines, and
# `total` of these are 1: those of a vector with itself.
def mean_cosine_in_numpy(means, counts):
    total = sum(counts)
    mean = np.average(means.numpy(), axis=0, weights=counts)
    return (total * np.dot(mean, mean) - 1) / (total - 1)


# Takes batches with the same mean and count once.
def mean_cosine_without_copies(means, counts):
    distinct = {(tuple(mean), count) for mean, count in zip(means.tolist(), counts)}
    means, counts = map(np.array, zip(*distinct))
    return mean_cosine_in_numpy(torch.from_numpy(means), counts)


# Rows moved so that their mean is 0.
def centred(rows):
    return rows - rows.mean(0)


def plane_by_hand(first, second):
    both = centred(np.vstack([first, second]))
    _, _, axes = np.linalg.svd(both, full_matrices=False)
    points = both @ axes[:2].T
    return cdist(points[: len(first)], points[len(first) :])


# Right for two vectors in float64.
def cosine_of(first, second):
    lengths = first.norm() * second.norm()
    return 0.0 if lengths == 0 else (first @ second / lengths).item()


def cosines_around(first, second, background):
    middle = background.mean(0)
    return F.cosine_similarity(first - middle, second - middle)


# Distances in a plane that is fitted to `rows`, by default those of both sets.
def distances_in(first, second, rows=None):
    plane = PCA(2).fit(np.vstack([first, second]) if rows is None else rows)
    return cdist(plane.transform(first), plane.transform(second))


def assign_in_loops(vectors, centres, threshold):
    answer = []
    for vector in vectors:
        cosines = [float(vector @ centre) / math.sqrt(float(centre @ centre)) for centre in centres]
        best = max(cosines)
        answer.append(cosines.index(best) if best >= threshold else -1)
    return answer


RIGHT = {
    "06-assign": [
        assign_in_loops,
        lambda *args: np.array(assign_in_loops(*args)),
        lambda *args: torch.tensor(assign_in_loops(*args)),
    ],
    "06-cosine": [
        cosine_by_loop,
        lambda *args: np.float64(cosine_by_loop(*args)),
        lambda first, second: cosine_of(first.double(), second.double()),
    ],
    "06-mean-cosine": [
        mean_cosine_in_numpy,
        lambda means, counts: np.float32(mean_cosine_in_numpy(means, counts)),
        lambda *args: np.array(mean_cosine_in_numpy(*args)),
    ],
    "06-centre": [
        cosines_around,
        lambda first, second, background: cosines_around(
            first.double(), second.double(), background.double()
        ).tolist(),
        lambda first, second, background: cosines_around(first, second, background).numpy(),
    ],
    "06-project": [
        plane_by_hand,
        lambda first, second: torch.from_numpy(plane_by_hand(first, second)),
        lambda first, second: distances_in(first, second).astype(np.float32).tolist(),
    ],
}

COMPLETED = {
    "06-cosine-table": [
        lambda first, second: [[cosine_by_loop(x, y) for y in second] for x in first],
        lambda first, second: F.cosine_similarity(first[:, None, :], second[None, :, :], dim=-1),
        lambda first, second: 1 - cdist(first, second, "cosine"),
        lambda first, second: first @ second.T / torch.outer(first.norm(dim=1), second.norm(dim=1)),
        lambda first, second: (
            (first.numpy() / np.linalg.norm(first, axis=1, keepdims=True))
            @ F.normalize(second).numpy().T
        ),
        # `rsqrt` of a squared length is 1 / length
        lambda first, second: torch.einsum(
            "nh,mh,n,m->nm",
            first,
            second,
            (first * first).sum(1).rsqrt(),
            (second * second).sum(1).rsqrt(),
        ),
        # divided by the lengths after the product
        lambda first, second: (
            ((first @ second.T).T / first.norm(dim=1)).T.div(second.square().sum(1).sqrt()).double()
        ),
    ],
    # the share of the variance that the projection on the axes keeps
    "06-share-kept": [
        lambda rows, axes: np.var(rows @ axes.T, axis=0).sum() / np.var(rows, axis=0).sum(),
        lambda rows, axes: np.trace(axes @ np.cov(rows.T) @ axes.T) / np.trace(np.cov(rows.T)),
        # 1 minus what the projection leaves
        lambda rows, axes: (
            1
            - np.square(centred(rows) - centred(rows) @ axes.T @ axes).sum()
            / np.square(centred(rows)).sum()
        ),
        # in float32
        lambda rows, axes: (
            torch.tensor(centred(rows).astype("f") @ axes.T.astype("f")).square().sum()
            / np.sum(centred(rows).astype("f") ** 2)
        ),
        # from the lengths of both tables
        lambda rows, axes: (
            (
                np.linalg.norm(np.einsum("nh,kh->nk", centred(rows), axes))
                / np.linalg.norm(centred(rows))
            )
            ** 2
        ),
    ],
}

WRONG = {
    "06-assign": [
        (
            # no cosine is below -2
            lambda vectors, centres, threshold: assign_in_loops(vectors, centres, -2),
            "assign every vector",
        )
    ],
    "06-cosine": [
        (
            lambda first, second: (
                torch.dot(first, second) / (torch.norm(first) * torch.norm(second))
            ),
            "different dtypes",
        )
    ],
    "06-mean-cosine": [
        (
            lambda means, counts: (means.mean(0) ** 2).sum().item(),
            "the cosine of each sentence with itself",
        )
    ],
    "06-centre": [
        (
            lambda first, second, background: F.cosine_similarity(first, second),
            "do not subtract the mean",
        )
    ],
    "06-project": [
        (
            lambda first, second: cdist(PCA(2).fit_transform(first), PCA(2).fit_transform(second)),
            "a plane of its own",
        )
    ],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "06-assign": [],  # known mistakes break its promises
    "06-cosine": [
        # fails at two dtypes, which torch does not multiply
        ("different dtypes", cosine_of),
        (  # changes the second vector to the dtype of the first
            "or whole numbers, down to int8",
            lambda first, second: cosine_of(first.double(), second.to(first.dtype).double()),
        ),
        (  # multiplies before it changes the dtype
            "or whole numbers, down to int8",
            lambda first, second: torch.nan_to_num(
                (first * second).sum().double() / (first.double().norm() * second.double().norm())
            ),
        ),
        (  # returns NaN where only the first vector is all zeros
            "If either vector is all zeros",
            lambda first, second: (
                math.nan
                if not first.any() and second.any()
                else cosine_of(first.double(), second.double())
            ),
        ),
        (  # returns NaN where only the second vector is all zeros
            "If either vector is all zeros",
            lambda first, second: (
                math.nan
                if not second.any() and first.any()
                else cosine_of(first.double(), second.double())
            ),
        ),
        (  # does not add up the products; 1e-300 only prevents a division by 0
            "Return one number",
            lambda first, second: (
                first.double()
                * second.double()
                / (first.double().norm() * second.double().norm() + 1e-300)
            ),
        ),
    ],
    "06-mean-cosine": [
        (  # a batch of one sentence has the count 0 if any is larger
            "a batch may hold a single sentence",
            lambda means, counts: mean_cosine_in_numpy(
                means, np.array(counts) - (max(counts) > 1) * (np.array(counts) == 1)
            ),
        ),
        ("Two sentences with the same text are different sentences", mean_cosine_without_copies),
        (  # returns the same number for each batch
            "as one number",
            lambda means, counts: torch.tensor([mean_cosine_in_numpy(means, counts)] * len(counts)),
        ),
    ],
    "06-centre": [
        (  # uses only as many rows of the background as there are pairs
            "(n, hidden), (n, hidden) and (m, hidden)",
            lambda first, second, background: cosines_around(
                first, second, background[: len(first)]
            ),
        ),
        (  # pairs them in the reverse order
            "row i of `first` with row i of `second`",
            lambda first, second, background: cosines_around(first, second.flip(0), background),
        ),
        (  # divides by 1 where a vector is shorter than that
            "the cosine of row i",
            lambda first, second, background: F.cosine_similarity(
                first - background.mean(0), second - background.mean(0), eps=1.0
            ),
        ),
        (  # (n, 1)
            "as a tensor of shape (n,)",
            lambda first, second, background: cosines_around(first, second, background)[:, None],
        ),
        # only the first row
        (
            "for all rows",
            lambda first, second, background: cosines_around(first, second, background)[:1],
        ),
    ],
    "06-project": [
        (
            "a row for each row of `first`",
            lambda first, second: distances_in(first, second).T,
            "transposed",
        ),
        (  # returns no more rows than `second` has
            "(n, hidden) and (m, hidden)",
            lambda first, second: distances_in(first, second)[: len(second)],
        ),
        (  # fits the plane to `first` alone, unless that is a single row
            "fitted by PCA to both sets together",
            lambda first, second: distances_in(
                first, second, rows=first if len(first) > 1 else np.vstack([first, second])
            ),
        ),
        (  # if a set has a single row, fits the plane to `first` alone, and projects only that
            "when one set has a single row",
            lambda first, second: (
                distances_in(first, second)
                if min(len(first), len(second)) > 1
                else cdist(PCA(2).fit_transform(first), second[:, :2])
            ),
        ),
    ],
}
