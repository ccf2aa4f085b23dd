"""Exact nearest-neighbour search, in blocks: the full table of pairs is never stored. Derived in
lesson 09.
"""

import math

import numpy as np
import torch
from numpy.typing import ArrayLike

BLOCK = 1 << 22  # similarities in a block: 16 MB in float32, about the size of a cache
SAME = 1e-6  # cosines this close are equal but for rounding, which differs between processors


def search(
    queries: ArrayLike | torch.Tensor, corpus: ArrayLike | torch.Tensor, k: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """The k vectors of `corpus` with the highest cosine to each query, the most similar first.

    queries, corpus: arrays or tensors of numbers, (m, hidden) and (n, hidden); they need not be
    normalised. k: how many to find for each query.

    Returns (places, cosines), arrays (m, k): indices into `corpus` and their cosines. Of vectors
    whose cosines are equal (each within 1e-6 of the next), the first in the corpus comes first. A
    run of such cosines that is wider than 1e-6 may be ordered otherwise if it spans several blocks.

    Raises TypeError for non-numeric input or a k that is not a whole number; ValueError for no
    vectors, zero vectors, NaN or infinity, unequal dimensions, or a k below 1 or larger than the
    corpus. Memory: the unit vectors in float32, the results, and a few blocks of BLOCK
    similarities, or of k for each of 2,048 queries where that is more.
    """
    queries, corpus = _unit_vectors("queries", queries), _unit_vectors("corpus", corpus)
    if queries.shape[1] != corpus.shape[1]:
        raise ValueError(
            f"queries have {queries.shape[1]} dimensions and the corpus {corpus.shape[1]}; both "
            "must come from the same model"
        )
    _check_k(k, len(corpus))
    # a block is square if there are enough queries, but never narrower than k: merging its k best
    # columns would save nothing
    rows = min(len(queries), math.isqrt(BLOCK))
    columns = max(k, BLOCK // rows)
    places, cosines = [], []
    with torch.inference_mode():
        for group in queries.split(rows):
            best, best_places = (
                torch.empty(len(group), 0),
                torch.empty(len(group), 0, dtype=torch.int64),
            )
            for start in range(0, len(corpus), columns):
                values, block_places = _highest(group @ corpus[start : start + columns].T, k)
                candidates = torch.cat([best, values], dim=1)
                candidate_places = torch.cat([best_places, block_places + start], dim=1)
                best, chosen = _highest(candidates, k)
                best_places = candidate_places.gather(1, chosen)
            cosines.append(best)
            places.append(best_places)
    return torch.cat(places).numpy(), torch.cat(cosines).clamp(-1, 1).numpy()


def _highest(cosines: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(values, columns) of the k highest cosines in each row, or of all if a row has fewer.

    Of equal cosines the first are taken, and come first.
    """
    columns = cosines.shape[1]
    k, width = min(k, columns), min(k + 1, columns)
    # `topk` orders equal cosines at will. So take more of them, until every row has a gap after its
    # k-th value or later: no cosine beyond the gap equals the k-th.
    while True:
        values, places = cosines.topk(width, dim=1)
        drops = values[:, :-1] - values[:, 1:] > SAME
        if width == columns or drops[:, k - 1 :].any(dim=1).all():
            break
        width = min(2 * width, columns)
    # equal cosines are on one level; within a level, the order is that of the columns
    level = torch.nn.functional.pad(drops.cumsum(dim=1), (1, 0))
    order = (level * columns + places).argsort(dim=1)[:, :k]
    return values.gather(1, order), places.gather(1, order)


def _unit_vectors(name: str, vectors: ArrayLike | torch.Tensor) -> torch.Tensor:
    """The vectors as a float32 tensor (n, hidden), scaled to unit length.

    name: what an error calls them. Raises TypeError and ValueError as `search` does.
    """
    # torch takes no array that runs backwards ("C"), and warns of one that is read only ("W")
    given = vectors if isinstance(vectors, torch.Tensor) else np.require(vectors, None, ["C", "W"])
    numeric = (
        not given.is_complex() and given.dtype != torch.bool
        if isinstance(given, torch.Tensor)
        else given.dtype.kind in "iuf"  # whole numbers with and without a sign, and decimals
    )
    if not numeric:
        raise TypeError(f"{name} must hold numbers; got {given.dtype}")
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(
            f"{name} must have the shape (vectors, dimensions), with at least one of each; got "
            f"{tuple(given.shape)}"
        )
    numbers = torch.as_tensor(given).detach().cpu()
    # other numbers may lie beyond float32's range: they are scaled before they are rounded to it
    fits_float32 = numbers.dtype in (torch.float16, torch.bfloat16, torch.float32)
    numbers = numbers.float() if fits_float32 else numbers.double()
    largest = numbers.abs().amax(dim=1, keepdim=True)
    for wrong, reason in (
        (~torch.isfinite(largest), "holds NaN or infinity"),
        (largest == 0, "is a zero vector, which has no direction"),
    ):
        if wrong.any():
            raise ValueError(
                f"{name}[{int(wrong.nonzero()[0, 0])}] {reason} ({int(wrong.sum())} such vectors in all)"
            )
    # so that the squares in `norm` neither overflow nor vanish
    scaled = (numbers / largest).float()
    return scaled / scaled.norm(dim=1, keepdim=True)


def _check_k(k: int, size: int) -> None:
    """Raise TypeError or ValueError unless k is a whole number from 1 to the corpus's size."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"k must be a whole number; got {type(k).__name__}")
    if not 1 <= k <= size:
        raise ValueError(f"k must be between 1 and {size} (the corpus has {size} vectors); got {k}")
