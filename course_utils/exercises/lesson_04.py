"""Exercises of lesson 04, pooling."""

import torch

from ..pooling import max_pool, mean_pool, normalise
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _padded(rng, lengths, width, hidden):
    """Random token vectors and their mask (int64, as tokenizers return it); the right padding holds large numbers."""
    mask = torch.tensor([[1] * n + [0] * (width - n) for n in lengths])
    vectors = normal(rng, len(lengths), width, hidden)
    return vectors + 5 * (1 - mask).unsqueeze(-1) * normal(rng, len(lengths), width, hidden).abs(), mask


def _pooling_cases(rng, shift=0.0):
    hidden = rng.randint(6, 9)
    vectors, mask = _padded(rng, [5, 2, 4], 5, hidden)
    vectors = vectors + shift * mask.unsqueeze(-1)
    wider = torch.cat([vectors, 9 + normal(rng, 3, 4, hidden)], dim=1)
    wider_mask = torch.cat([mask, torch.zeros(3, 4, dtype=mask.dtype)], dim=1)
    zeros = vectors.clone()
    zeros[[0, 1, 2], [2, 0, 3]] = 0
    full = normal(rng, 2, 4, hidden)
    yield Case("A batch without padding", full, torch.ones(2, 4, dtype=torch.int64))
    yield Case("Padding does not count", vectors, mask)
    yield Case("A real token may hold zeros", zeros, mask)
    yield Case("More padding changes nothing", wider, wider_mask)
    yield Case("A sentence alone gives the same vector as in a batch", vectors[1:2], mask[1:2])
    yield Case("Rows in another order give the same vectors in that order", vectors[[2, 0, 1]], mask[[2, 0, 1]])
    yield Case("A mask of true and false works too", vectors, mask.bool())
    yield Case("Padding on the left does not count either", vectors.flip(1), mask.flip(1))
    yield Case(
        "As many tokens as dimensions",
        normal(rng, 2, hidden, hidden),
        torch.tensor([[1] * hidden, [1] * (hidden - 2) + [0] * 2]),
    )


def _mean_cases(rng):
    vectors, mask = _padded(rng, [3, 5], 5, 6)
    yield from _pooling_cases(rng)
    yield Case("Token vectors in float64 give vectors in float64", vectors.double(), mask)


def _max_cases(rng):
    vectors, mask = _padded(rng, [4, 2], 4, 7)

    def lowest(dtype, share):
        low = share * torch.finfo(dtype).min * (1 - 0.01 * vectors[1].abs().clamp(max=5).to(dtype))
        low[:, 0] = share * torch.finfo(dtype).min
        row = torch.where(mask[1].unsqueeze(-1) == 1, low, vectors[1].to(dtype))
        return torch.stack([vectors[0].to(dtype), row]), mask

    yield from _pooling_cases(rng, shift=-4.0)
    yield Case("Numbers down to the lowest of float32", *lowest(torch.float32, 1))
    # half of the lowest, since differences of float64 are taken in float64
    yield Case(
        "In float64, numbers far below the lowest of float32, and a result in float64", *lowest(torch.float64, 0.5)
    )


def _both_low(one, other):
    """Whether two results differ only where both hold numbers far below all that is usual, of nearly the same size.

    So do the results of two poolings that fill padding with different low numbers.
    """
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    off = one != other
    return all(
        ((low := result[off]) < -50).all() and low.isfinite().all() and low.min() >= 2 * low.max()
        for result in (one, other)
    )


def _weighted(t, m):
    return t * m.unsqueeze(-1)


def _count(m):
    return m.sum(dim=1, keepdim=True)


MEAN = exercise("04-mean-pool", _mean_cases, mean_pool, strict=True, points=2)(
    padding_averaged=lambda t, m: t.mean(dim=1),
    padded_length=lambda t, m: _weighted(t, m).sum(dim=1) / t.shape[1],
    padding_added=lambda t, m: t.sum(dim=1) / _count(m),
    nonzero_counted=lambda t, m: (
        _weighted(t, m).sum(dim=1) / (_weighted(t, m) != 0).any(dim=-1).sum(dim=1, keepdim=True)
    ),
    sum=lambda t, m: _weighted(t, m).sum(dim=1),
    always_float32=lambda t, m: mean_pool(t, m).float(),
    real_in_batch=lambda t, m: _weighted(t, m).sum(dim=1) / m.sum(),
    upside_down=lambda t, m: _weighted(t, 1 - m.long()).sum(dim=1) / _count(1 - m.long()),
    right_only=lambda t, m: torch.stack([v[:n].mean(dim=0) for v, n in zip(t, m.long().sum(dim=1), strict=True)]),
    special_left_out=lambda t, m: torch.stack([v[k.bool()][1:-1].mean(dim=0) for v, k in zip(t, m, strict=True)]),
    batch_averaged=lambda t, m: (_weighted(t, m).sum(dim=1) / _count(m)).mean(dim=0),
    first_token=lambda t, m: t[:, 0],
    along_hidden=(
        lambda t, m: t.mean(dim=-1),
        lambda t, m: _weighted(t, m).sum(dim=-1) / _count(m),
        lambda t, m: _weighted(t, m).sum(dim=-1) / m.sum(dim=1),
        lambda t, m: _weighted(t, m).sum(dim=-1) / m,
    ),
    along_batch=(lambda t, m: t.mean(dim=0), lambda t, m: _weighted(t, m).sum(dim=0) / m.sum(dim=0).unsqueeze(-1)),
    no_unsqueeze=(lambda t, m: (t * m).sum(dim=1) / _count(m), lambda t, m: (t * m).sum(dim=1) / m.sum(dim=1)),
    no_keepdim=lambda t, m: _weighted(t, m).sum(dim=1) / m.sum(dim=1),
    normalised=lambda t, m: normalise(mean_pool(t, m)),
    token_dimension_kept=lambda t, m: mean_pool(t, m).unsqueeze(1),
)


MAX = exercise("04-max-pool", _max_cases, max_pool, alike=_both_low, strict=True, points=2)(
    padding_compared=lambda t, m: t.amax(dim=1),
    padding_as_zero=lambda t, m: _weighted(t, m).amax(dim=1),
    values_and_places=lambda t, m: tuple(t.masked_fill(m.unsqueeze(-1) == 0, float("-inf")).max(dim=1)),
    places_returned=lambda t, m: t.masked_fill(m.unsqueeze(-1) == 0, float("-inf")).argmax(dim=1),
    upside_down=lambda t, m: t.masked_fill(m.unsqueeze(-1) == 1, float("-inf")).amax(dim=1),
    not_low_enough=[lambda t, m, low=low: t.masked_fill(m.unsqueeze(-1) == 0, low).amax(dim=1) for low in (-1.0, -1e9)],
    zeros_as_padding=lambda t, m: (k := _weighted(t, m)).masked_fill(k == 0, float("-inf")).amax(dim=1),
    always_float32=lambda t, m: max_pool(t, m).float(),
    nan_by_infinity=lambda t, m: (t + (1 - m.long().unsqueeze(-1)) * float("-inf")).amax(dim=1),
    one_minus_bool=lambda t, m: (t - (1 - m.unsqueeze(-1)) * 1e9).amax(dim=1),
    bitwise_not=lambda t, m: t.masked_fill((~m).bool().unsqueeze(-1), float("-inf")).amax(dim=1),
    fill_with_numbers=lambda t, m: t.masked_fill(~m.unsqueeze(-1), float("-inf")).amax(dim=1),
    right_only=lambda t, m: torch.stack([v[:n].amax(dim=0) for v, n in zip(t, m.long().sum(dim=1), strict=True)]),
    minimum=lambda t, m: t.masked_fill(m.unsqueeze(-1) == 0, float("inf")).amin(dim=1),
    first_token_competes=lambda t, m: t[:, 0],
    along_hidden=(
        lambda t, m: t.masked_fill(m.unsqueeze(-1) == 0, float("-inf")).amax(dim=-1),
        lambda t, m: t.amax(dim=-1),
    ),
    along_batch=lambda t, m: t.amax(dim=0),
    whole_batch=lambda t, m: t.masked_fill(m.unsqueeze(-1) == 0, float("-inf")).amax(dim=(0, 1)),
    no_unsqueeze=(lambda t, m: t.masked_fill(m == 0, float("-inf")).amax(dim=1), lambda t, m: (t * m).amax(dim=1)),
)


def _ways(**other):
    return {
        "cls": lambda t, m: t[torch.arange(len(t)), m.argmax(dim=1)],
        "mean": lambda t, m: _weighted(t, m).sum(dim=1) / _count(m),
        "max": lambda t, m: t.masked_fill(m.unsqueeze(-1) == 0, float("-inf")).amax(dim=1),
        "careless": lambda t, m: t.mean(dim=1),
        **other,
    }


_RIGHT = {  # right with padding on the right only
    name: lambda t, m, pool=pool: torch.stack([pool(v[:n]) for v, n in zip(t, m.sum(dim=1), strict=True)])
    for name, pool in {"mean": lambda v: v.mean(dim=0), "max": lambda v: v.amax(dim=0)}.items()
}


def _aside(rng, rows, cosines):
    """Turn each row by a random angle of the given cosine."""
    other = normal(rng, *rows.shape)
    other = other - torch.cosine_similarity(other, rows).unsqueeze(-1) * other.norm(dim=1, keepdim=True) * normalise(
        rows
    )
    cosines = torch.tensor(cosines).unsqueeze(-1)
    return cosines * rows + (1 - cosines**2).sqrt() * rows.norm(dim=1, keepdim=True) * normalise(other)


def _how_cases(rng):
    def stored(way, lengths, *, left=False, unit=(), cosines=(), even=False, thin=False):
        vectors, mask = _padded(rng, lengths, max(lengths), 6)
        vectors, mask = (vectors.flip(1), mask.flip(1)) if left else (vectors, mask)
        if thin:  # turning the rows leaves nothing of the first column
            vectors[:, :, 0] /= 100
        if even:  # all results of the same length
            vectors = 3 * vectors / way(vectors, mask).norm(dim=1)[:, None, None]
        pooled = way(vectors, mask)
        pooled = _aside(rng, pooled, cosines) if cosines else pooled
        for row in unit:
            pooled[row] = pooled[row] / pooled[row].norm()
        return pooled.half().float(), vectors, mask

    ways = _ways()
    lengths = [5, *rng.sample([2, 3, 4], 3)]
    near, far = rng.sample(sorted(ways), 2)
    for way, pool in ways.items():
        yield Case(
            f"Stored with few digits: {way}",
            *stored(pool, lengths, unit=range(4) if way in ("mean", "careless") else (), even=way == "mean"),
        )
    yield Case("A cosine of 0.9988 does not fit", *stored(ways[far], [3, 4], cosines=[0.9988] * 2, unit=range(2)))
    yield Case(
        "A cosine of 0.9992 in every row fits",
        *stored(ways[near], [4, 3, 5], cosines=[0.9992] * 3, unit=range(3), even=True, thin=True),
    )
    yield Case(
        "A cosine of 0.9988 in one row does not fit",
        *stored(ways[rng.choice(["cls", "mean", "max"])], [3, 3, 5, 3], cosines=[1, 1, 1, 0.9988]),
    )
    yield Case("A row in the middle points the opposite way", *stored(_one_opposite, lengths, unit=range(4)))
    yield Case("The first row points the opposite way", *stored(lambda t, m: -_one_opposite(t, m), [5, 3]))
    yield Case("Some rows scaled to length 1: cls", *stored(ways["cls"], lengths, unit=(0, 2)))
    yield Case(
        "Some rows scaled to length 1, padding on the left: max", *stored(ways["max"], lengths, left=True, unit=(0, 2))
    )
    for way in ("cls", "mean"):
        yield Case(f"Padding on the left: {way}", *stored(ways[way], lengths, left=True))
    yield Case("Only one row has padding: mean", *stored(ways["mean"], [4, 4, 2]))
    yield Case("Only one row has padding: careless", *stored(ways["careless"], [4, 4, 2]))
    yield Case("The last position is none of the four", *stored(lambda t, m: t[:, -1], [3, 4, 4], left=True))


def _one_opposite(t, m):
    pooled = _ways()["mean"](t, m)
    pooled[1] = -pooled[1]
    return pooled


def _how(v, t, m, ways=None, close=lambda v, pooled: bool((torch.cosine_similarity(v, pooled) > 0.999).all())):
    return next((name for name, pool in (ways or _ways()).items() if close(v, pool(t, m))), "other")


def _fits(close):
    """An imitation that compares in another way."""
    return lambda v, t, m: _how(v, t, m, close=close)


def _as_it_is(rows):
    return rows


def _nearest_way(v, t, m):
    return max(_ways(), key=lambda name: torch.cosine_similarity(v, _ways()[name](t, m)).min().item())


HOW = exercise(
    "04-how-pooled", _how_cases, _how, points=2, arguments=("vectors", "token_embeddings", "attention_mask")
)(
    not_rescaled=_fits(lambda v, pooled: bool((v - pooled).abs().max() <= 1e-2)),
    product_for_cosine=[
        _fits(lambda v, pooled, one=one, two=two: bool(((one(v) * two(pooled)).sum(dim=1) > 0.999).all()))
        for one, two in ((_as_it_is, _as_it_is), (normalise, _as_it_is), (_as_it_is, normalise))
    ],
    always_other=lambda v, t, m: "other",
    too_exact=_fits(lambda v, pooled: bool((torch.cosine_similarity(v, pooled) > 1 - 1e-5).all())),
    too_generous=_fits(lambda v, pooled: bool((torch.cosine_similarity(v, pooled) > 0.99).all())),
    along_batch=_fits(lambda v, pooled: bool((torch.cosine_similarity(v, pooled, dim=0) > 0.999).all())),
    padded_rows_only=lambda v, t, m: _how(*(x[(m == 0).any(dim=1)] for x in (v, t, m))),
    mean_cosine=_fits(lambda v, pooled: bool(torch.cosine_similarity(v, pooled).mean() > 0.999)),
    one_cosine=_fits(lambda v, pooled: bool(torch.cosine_similarity(v.flatten(), pooled.flatten(), dim=0) > 0.999)),
    first_row_only=lambda v, t, m: _how(v[:1], t[:1], m[:1]),
    first_and_last_only=lambda v, t, m: _how(v[[0, -1]], t[[0, -1]], m[[0, -1]]),
    one_row_fits=_fits(lambda v, pooled: bool((torch.cosine_similarity(v, pooled) > 0.999).any())),
    position_zero=lambda *a: _how(*a, ways=_ways(cls=lambda t, m: t[:, 0])),
    right_only=[
        lambda *a, ways=ways: _how(*a, ways=_ways(**ways))
        for ways in (_RIGHT, {"mean": _RIGHT["mean"]}, {"max": _RIGHT["max"]})
    ],
    maximum_with_padding=[
        lambda *a, pool=pool: _how(*a, ways=_ways(max=pool))
        for pool in (lambda t, m: t.amax(dim=1), lambda t, m: _weighted(t, m).amax(dim=1))
    ],
    careless_sum_masked=lambda *a: _how(*a, ways=_ways(careless=lambda t, m: _weighted(t, m).sum(dim=1) / t.shape[1])),
    best_fit=_nearest_way,
    names_swapped=lambda *a: {"mean": "careless", "careless": "mean"}.get(_how(*a), _how(*a)),
)


def _only_short_rows_differ(one, other):
    """Whether two results have the same directions, and the same lengths but in some rows."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    same = torch.isclose(one.norm(dim=1), other.norm(dim=1), rtol=0, atol=1e-5)
    return bool(same.any()) and torch.allclose(normalise(one), normalise(other), rtol=0, atol=1e-4)


def _normalise_cases(rng):
    hidden = rng.randint(5, 8)
    some = normal(rng, 4, hidden)
    zero = some.clone()
    zero[2] = 0
    parts = some.clone()  # a row may hold a 0, add up to 0, or hold no positive number
    parts[0, 0], parts[1], parts[2] = 0, 0, -some[2].abs()
    parts[1, :2] = torch.tensor([3.0, -3.0])
    tiny = normalise(some) * torch.tensor([[1.0], [1e-10], [1.0], [1e-10]])
    yield Case("Every row has length 1", some)
    yield Case("Every row has length 1", parts)
    yield Case("Scaling a row first changes nothing", some * torch.tensor([[0.01], [3.0], [100.0], [0.5]]))
    yield Case("As many rows as dimensions", normal(rng, hidden, hidden))
    yield Case("One row alone", some[:1])
    yield Case("A row of length 1e-10 gets length 1 too", tiny)
    yield Case("A row of zeros stays zeros", zero)
    yield Case("Rows in float64 give rows in float64", some[1:].double())


NORMALISE = exercise("04-normalise", _normalise_cases, normalise, alike=_only_short_rows_differ, strict=True)(
    nan_for_zeros=lambda v: v / v.norm(dim=1, keepdim=True),
    bound_too_large=[lambda v, more=more: v / (v.norm(dim=1, keepdim=True) + more) for more in (1e-9, 1e-4, 1e-2, 1.0)],
    always_float32=lambda v: normalise(v).float(),
    one_length=lambda v: v / v.norm(),
    columns_scaled=(
        lambda v: v / v.norm(dim=0, keepdim=True).clamp(min=1e-12),
        lambda v: v / v.norm(dim=0, keepdim=True),
    ),
    squared_length=(
        lambda v: v / (v * v).sum(dim=1, keepdim=True).clamp(min=1e-12),
        lambda v: v / (v * v).sum(dim=1, keepdim=True),
    ),
    sum_of_row=lambda v: v / v.sum(dim=1, keepdim=True),
    absolute_sum=lambda v: v / v.abs().sum(dim=1, keepdim=True).clamp(min=1e-12),
    largest_value=lambda v: v / v.amax(dim=1, keepdim=True),
    no_keepdim=(lambda v: v / v.norm(dim=1), lambda v: v / v.norm(dim=1).clamp(min=1e-12)),
    lengths_returned=lambda v: v.norm(dim=1, keepdim=True),
)


def _baseline_cases(rng):
    def cone(n, hidden, pull):
        return normal(rng, n, hidden) + pull * normal(rng, 1, hidden)

    hidden = rng.randint(6, 9)
    some = cone(rng.randint(5, 7), hidden, 1.5)
    lengths = torch.linspace(0.2, 6, len(some)).unsqueeze(-1)
    yield Case("Vectors spread around the origin", cone(6, hidden, 0.0))
    yield Case("Vectors spread around the origin", torch.cat([2 * torch.eye(3, hidden), some.sign()]))  # right angles
    yield Case("Vectors in a cone", some)
    yield Case("The lengths of the vectors do not matter", some * lengths)
    yield Case("Two vectors make one pair", cone(2, hidden, 1.0))
    yield Case("Rows in another order give the same number", some.flip(0))
    yield Case("Two equal rows are a pair like any other", torch.cat([some, some[:1]]))


def _cosines(v):
    u = normalise(v)
    return u @ u.T


def _baseline(v):
    c, n = _cosines(v), len(v)
    return ((c.sum() - n) / (n * (n - 1))).item()


BASELINE = exercise("04-baseline", _baseline_cases, _baseline, points=2, arguments=("vectors",))(
    diagonal_in_mean=lambda v: _cosines(v).mean().item(),
    divided_by_n_squared=lambda v: ((_cosines(v).sum() - len(v)) / len(v) ** 2).item(),
    counted_once_added_twice=lambda v: 2 * _baseline(v),
    added_once_counted_twice=lambda v: _baseline(v) / 2,
    not_normalised=lambda v: ((v @ v.T).sum() - (v * v).sum()).item() / (len(v) * (len(v) - 1)),
    not_normalised_with_diagonal=lambda v: (v @ v.T).mean().item(),
    n_subtracted=lambda v: ((v @ v.T).sum() - len(v)).item() / (len(v) * (len(v) - 1)),
    cells_by_value=lambda v: _cosines(v)[_cosines(v) < 0.9999].mean().item(),
    neighbours_only=lambda v: _cosines(v).diagonal(1).mean().item(),
    table_returned=_cosines,
    sum=lambda v: (_cosines(v).sum() - len(v)).item(),
)


def _first_token_cases(rng):
    vectors, mask = _padded(rng, [5, 2, 4], 6, 4)
    yield Case("Padding on the right", vectors, mask)
    yield Case("Padding on the left", vectors.flip(1), mask.flip(1))
    yield Case("A batch without padding", normal(rng, 2, 3, 5), torch.ones(2, 3, dtype=torch.int64))
    yield Case("One sentence, one real token", normal(rng, 1, 4, 3), torch.tensor([[0, 0, 0, 1]]))


def _first_real_token(token_embeddings, attention_mask):
    first = attention_mask.tolist()
    return torch.stack([rows[marks.index(1)] for rows, marks in zip(token_embeddings, first, strict=True)])


FIRST_TOKEN = Completion(
    "04-first-real-token",
    "The first real token",
    ("token_embeddings", "attention_mask"),
    _first_token_cases,
    _first_real_token,
    mistakes=(
        Mistake(
            "whole_mask_searched",
            "You search the whole mask at once, and every sentence gets the place found in the first one.",
            "`dim=1` searches each row.",
            (lambda vectors, mask: vectors[:, mask.flatten().argmax()],),
        ),
        Mistake(
            "place_0_taken",
            "You take the vector at position 0, which may be padding.",
            "Look in the mask for the first 1 of each row.",
            (lambda vectors, mask: vectors[:, 0],),
        ),
        Mistake(
            "padding_found",
            "You find the first padding token: `argmin` looks for the lowest mask value, 0.",
            "Real tokens have the mask value 1, so look for the highest value.",
            (lambda vectors, mask: vectors[torch.arange(len(vectors)), mask.argmin(dim=1)],),
        ),
        Mistake(
            "values_and_places",
            "`max(dim=1)` returns two tensors, the highest values and their positions.",
            "You need only the positions, which `argmax(dim=1)` returns.",
            (lambda vectors, mask: vectors[torch.arange(len(vectors)), mask.max(dim=1)],),
        ),
        Mistake(
            "along_batch",
            "You search along dimension 0, which runs over the sentences.",
            "The tokens are dimension 1 of the mask, so use `dim=1`.",
            (lambda vectors, mask: vectors[torch.arange(len(vectors)), mask.argmax(dim=0)],),
        ),
        Mistake(
            "dimension_kept",
            "`first` has the shape (batch, 1), because of `keepdim=True`.",
            "It needs one position per sentence, with the shape (batch,): leave `keepdim` out.",
            (lambda vectors, mask: vectors[torch.arange(len(vectors)), mask.argmax(dim=1, keepdim=True)],),
        ),
        Mistake(
            "padding_counted",
            "You count the padding tokens of each sentence.",
            "Their number is the position of the first real token only if all of them are on the left. Look in the "
            "mask for the first 1 of each row.",
            (lambda vectors, mask: vectors[torch.arange(len(vectors)), mask.shape[1] - mask.sum(dim=1)],),
        ),
    ),
)


def _all_cosines_cases(rng):
    hidden = rng.choice([4, 6, 7])  # not 5, the number of documents: without .T the shapes must not fit
    documents = normal(rng, 5, hidden)
    yield Case("Two queries, five documents", normal(rng, 2, hidden), documents)
    yield Case("One query", normal(rng, 1, hidden), documents)
    yield Case("As many queries as documents", normal(rng, 5, hidden), documents)
    yield Case("A query that is a document, three times as long", 3 * documents[1:3], documents)


def _all_cosines(queries, documents):
    return torch.stack([torch.cosine_similarity(query, documents, dim=1) for query in queries])


ALL_COSINES = Completion(
    "04-all-cosines",
    "All cosines at once",
    ("queries", "documents"),
    _all_cosines_cases,
    _all_cosines,
    mistakes=(
        Mistake(
            "documents_first",
            "Your table has the shape (documents, queries).",
            "Each row belongs to a query: start with `queries`, and transpose `documents`.",
            (lambda queries, documents: normalise(documents) @ normalise(queries).T,),
        ),
        Mistake(
            "not_transposed",
            "The shapes do not fit: `queries` is (queries, hidden) and `documents` is (documents, hidden).",
            "Transpose the second tensor, `documents.T`, which makes it (hidden, documents).",
            (lambda queries, documents: normalise(queries) @ normalise(documents),),
        ),
        Mistake(
            "elementwise",
            "`*` multiplies the numbers at the same places.",
            "The matrix product `@` multiplies each query with each document, and adds up.",
            (lambda queries, documents: normalise(queries) * normalise(documents),),
        ),
        Mistake(
            "row_by_row",
            "You compare row i of `queries` with row i of `documents` only.",
            "Every query needs a cosine with every document: the matrix product `@` computes them all.",
            (
                lambda queries, documents: torch.cosine_similarity(queries, documents),
                lambda queries, documents: (normalise(queries) * normalise(documents)).sum(dim=1),
            ),
        ),
    ),
)
