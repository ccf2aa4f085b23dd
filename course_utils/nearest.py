"""Exact nearest-neighbour search, in blocks: the full table of pairs is never stored. Derived in lesson 09."""

import math

import torch

from ._support.vectors import check_k, unit_vectors

BLOCK = 1 << 22  # similarities computed at a time: 16 MB, about the size of a cache
SAME = 1e-6  # cosines that are no further apart are equal but for rounding, which differs between processors


def search(queries, corpus, k=5):
    """The k vectors of `corpus` with the highest cosine to each query, the most similar first.

    queries, corpus: arrays or tensors of numbers, (m, hidden) and (n, hidden); they need not be normalised.

    Returns (places, cosines), arrays (m, k): indices into `corpus` and their cosines. Of vectors whose cosines are
    equal (each within 1e-6 of the next), the first in the corpus comes first.

    Raises TypeError for non-numeric input; ValueError for no vectors, zero vectors, NaN or infinity, unequal
    dimensions, or a k below 1 or larger than the corpus. Memory: a block of BLOCK similarities and the results.
    """
    queries, corpus = unit_vectors("queries", queries), unit_vectors("corpus", corpus)
    if queries.shape[1] != corpus.shape[1]:
        raise ValueError(
            f"queries have {queries.shape[1]} dimensions and the corpus {corpus.shape[1]}; both must come from the "
            "same model"
        )
    check_k(k, len(corpus), f"the corpus has {len(corpus)} vectors")
    rows = min(len(queries), math.isqrt(BLOCK))
    columns = max(k, BLOCK // rows)
    places, cosines = [], []
    with torch.inference_mode():
        for start in range(0, len(queries), rows):
            block = queries[start : start + rows]
            best = torch.empty(len(block), 0), torch.empty(len(block), 0, dtype=torch.int64)
            for column in range(0, len(corpus), columns):
                found = block @ corpus[column : column + columns].T
                values, where = _highest(found, k)
                values, where = torch.cat([best[0], values], 1), torch.cat([best[1], where + column], 1)
                values, chosen = _highest(values, k)
                best = values, where.gather(1, chosen)
            cosines.append(best[0])
            places.append(best[1])
    return torch.cat(places).numpy(), torch.cat(cosines).clamp(-1, 1).numpy()


def _highest(cosines, k):
    """(values, columns) of the k highest cosines in each row, fewer if it is shorter; of equal ones the first."""
    columns = cosines.shape[1]
    k, width = min(k, columns), min(k + 1, columns)
    while True:
        values, places = cosines.topk(width, dim=1)
        drops = values[:, :-1] - values[:, 1:] > SAME
        if width == columns or drops[:, k - 1 :].any(dim=1).all():
            break
        width = min(2 * width, columns)  # equal cosines go on beyond these
    level = torch.nn.functional.pad(drops.cumsum(dim=1), (1, 0))
    order = (level * columns + places).argsort(dim=1)[:, :k]
    return values.gather(1, order), places.gather(1, order)


def closest_pairs(vectors, k=1):
    """The k pairs of different rows with the highest cosine, the most similar first.

    vectors: array or tensor of numbers (n, hidden), n at least 2.

    Returns (pairs, cosines): an array (k, 2) of indices, the smaller one first, and an array (k,). Errors as in
    `search`; there are n(n - 1)/2 pairs.
    """
    vectors = unit_vectors("vectors", vectors)
    n = len(vectors)
    if n < 2:
        raise ValueError("a pair needs at least two vectors")
    check_k(k, n * (n - 1) // 2, f"{n} vectors make {n * (n - 1) // 2} pairs")
    values, one, other = torch.empty(0), torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64)
    with torch.inference_mode():
        start = 0
        while start < n - 1:
            rows = min(max(1, BLOCK // (n - start)), n - 1 - start)
            # every row with those after it, and some before
            found = vectors[start : start + rows] @ vectors[start + 1 :].T
            found[torch.ones(rows, rows, dtype=torch.bool).tril(-1).nonzero(as_tuple=True)] = -2  # the pairs before it
            bound = values[-1] if len(values) == k else -2
            candidates = found.amax(dim=1) > bound  # most rows have no better candidate and are skipped
            row = candidates.nonzero()[:, 0]
            if len(row):
                top = found[row].topk(min(k, found.shape[1]), dim=1)
                keep = top.values > bound
                values = torch.cat([values, top.values[keep]])
                one = torch.cat([one, (row + start)[:, None].expand_as(keep)[keep]])
                other = torch.cat([other, (top.indices + start + 1)[keep]])
                order = values.argsort(descending=True, stable=True)[:k]
                values, one, other = values[order], one[order], other[order]
            start += rows
    return torch.stack([one, other], dim=1).numpy(), values.clamp(-1, 1).numpy()
