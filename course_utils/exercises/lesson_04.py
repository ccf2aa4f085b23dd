"""Exercises of lesson 04, pooling."""

import torch

from ..pooling import max_pool, mean_pool, normalise
from .framework import Case, Exercise, Mistake, normal


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
    return [
        Case("A batch without padding", (full, torch.ones(2, 4, dtype=torch.int64))),
        Case("Padding does not count", (vectors, mask)),
        Case("A real token may hold zeros", (zeros, mask)),
        Case("More padding changes nothing", (wider, wider_mask)),
        Case("A sentence alone gives the same vector as in a batch", (vectors[1:2], mask[1:2])),
        Case("Rows in another order give the same vectors in that order", (vectors[[2, 0, 1]], mask[[2, 0, 1]])),
        Case("A mask of true and false works too", (vectors, mask.bool())),
        Case("Padding on the left does not count either", (vectors.flip(1), mask.flip(1))),
        Case(
            "As many tokens as dimensions",
            (normal(rng, 2, hidden, hidden), torch.tensor([[1] * hidden, [1] * (hidden - 2) + [0] * 2])),
        ),
    ]


def _mean_cases(rng):
    vectors, mask = _padded(rng, [3, 5], 5, 6)
    return [*_pooling_cases(rng), Case("Token vectors in float64 give vectors in float64", (vectors.double(), mask))]


def _max_cases(rng):
    vectors, mask = _padded(rng, [4, 2], 4, 7)

    def lowest(dtype, share):
        low = share * torch.finfo(dtype).min * (1 - 0.01 * vectors[1].abs().clamp(max=5).to(dtype))
        low[:, 0] = share * torch.finfo(dtype).min
        row = torch.where(mask[1].unsqueeze(-1) == 1, low, vectors[1].to(dtype))
        return torch.stack([vectors[0].to(dtype), row]), mask

    return [
        *_pooling_cases(rng, shift=-4.0),
        Case("Numbers down to the lowest of float32", lowest(torch.float32, 1)),
        # half of the lowest, since differences of float64 are taken in float64
        Case(
            "In float64, numbers far below the lowest of float32, and a result in float64", lowest(torch.float64, 0.5)
        ),
    ]


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


_UNSQUEEZE = (
    "The mask and the vectors do not line up: the mask has one number per token, (batch, tokens), and the vectors "
    "have `hidden` numbers per token. Give the mask a last dimension of size 1 with `unsqueeze(-1)`."
)
_FIRST_TOKEN = "You return the vector of the first token. That is CLS pooling; here all real tokens take part."
_RIGHT_ONLY = (
    "You cut each row after as many tokens as are real. With padding on the left, that cuts real tokens off: use the "
    "mask."
)
_ALONG_HIDDEN = (
    "You work along the last dimension, over the numbers inside one token's vector. Tokens are dimension 1: use "
    "`dim=1`."
)
_ALONG_BATCH = "You work along dimension 0, over the sentences of the batch. Tokens are dimension 1: use `dim=1`."


def _weighted(t, m):
    return t * m.unsqueeze(-1)


def _count(m):
    return m.sum(dim=1, keepdim=True)


MEAN = Exercise(
    id="04-mean-pool",
    strict=True,
    title="Mean pooling",
    arguments=("token_embeddings", "attention_mask"),
    cases=_mean_cases,
    reference=mean_pool,
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You average over all positions, padding too. The mask is not used: the vector of a sentence now "
            "depends on how much padding its batch has.",
            lambda t, m: t.mean(dim=1),
        ),
        Mistake(
            "You add up only real tokens, but you divide by the padded length. Divide by the number of real tokens, "
            "`attention_mask.sum(dim=1)`.",
            lambda t, m: _weighted(t, m).sum(dim=1) / t.shape[1],
        ),
        Mistake(
            "You add up padding too, and divide by the number of real tokens. Multiply by the mask before you add.",
            lambda t, m: t.sum(dim=1) / _count(m),
        ),
        Mistake(
            "You divide by a count of what is not zero. A real token may hold zeros, too: divide by the number of real "
            "tokens, `attention_mask.sum(dim=1)`.",
            lambda t, m: _weighted(t, m).sum(dim=1) / (_weighted(t, m) != 0).any(dim=-1).sum(dim=1, keepdim=True),
        ),
        Mistake(
            "You add the real tokens up but do not divide: this is the sum, not the mean.",
            lambda t, m: _weighted(t, m).sum(dim=1),
        ),
        Mistake(
            "Your result is always float32. It should have the dtype of the token vectors, which may be float64: turn "
            "the mask into that dtype, `attention_mask.to(token_embeddings.dtype)`.",
            lambda t, m: mean_pool(t, m).float(),
        ),
        Mistake(
            "You divide by the number of real tokens in the whole batch. Each sentence has its own number: "
            "`attention_mask.sum(dim=1)`.",
            lambda t, m: _weighted(t, m).sum(dim=1) / m.sum(),
        ),
        Mistake(
            "The mask is upside down: you average the padding. 1 marks a real token.",
            lambda t, m: _weighted(t, 1 - m.long()).sum(dim=1) / _count(1 - m.long()),
        ),
        Mistake(
            _RIGHT_ONLY,
            lambda t, m: torch.stack([v[:n].mean(dim=0) for v, n in zip(t, m.long().sum(dim=1), strict=True)]),
        ),
        Mistake(
            "You leave out the first and the last real token. [CLS] and [SEP] are real tokens here: their mask is "
            "1, and the library counts them.",
            lambda t, m: torch.stack([v[k.bool()][1:-1].mean(dim=0) for v, k in zip(t, m, strict=True)]),
        ),
        Mistake(
            "You average the averages over sentences too: the batch dimension is gone. Each sentence keeps its own "
            "row.",
            lambda t, m: (_weighted(t, m).sum(dim=1) / _count(m)).mean(dim=0),
        ),
        Mistake(_FIRST_TOKEN, lambda t, m: t[:, 0]),
        Mistake(_ALONG_HIDDEN, lambda t, m: t.mean(dim=-1)),
        Mistake(_ALONG_HIDDEN, lambda t, m: _weighted(t, m).sum(dim=-1) / _count(m)),
        Mistake(_ALONG_BATCH, lambda t, m: t.mean(dim=0)),
        Mistake(_ALONG_BATCH, lambda t, m: _weighted(t, m).sum(dim=0) / m.sum(dim=0).unsqueeze(-1)),
        Mistake(_UNSQUEEZE, lambda t, m: (t * m).sum(dim=1) / _count(m)),
        Mistake(_UNSQUEEZE, lambda t, m: (t * m).sum(dim=1) / m.sum(dim=1)),
        Mistake(
            "The sum is right, but the division does not line up: `attention_mask.sum(dim=1)` has the shape "
            "(batch,) and the sum (batch, hidden). Keep the dimension with `keepdim=True`.",
            lambda t, m: _weighted(t, m).sum(dim=1) / m.sum(dim=1),
        ),
    ),
    hints=(
        "Start from the loop in the section above. What does multiplying a vector by 0 or by 1 do to a sum?",
        "The mask has the shape (batch, tokens). With `attention_mask.unsqueeze(-1)` it becomes (batch, tokens, 1) "
        "and multiplies whole vectors.",
        "Add up over `dim=1`, then divide by the number of real tokens of each sentence, kept in the shape (batch, 1).",
    ),
)

MAX = Exercise(
    id="04-max-pool",
    strict=True,
    alike=_both_low,
    title="Max pooling",
    arguments=("token_embeddings", "attention_mask"),
    cases=_max_cases,
    reference=max_pool,
    minutes=8,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake("You take the maximum over padding too. The mask is not used.", lambda t, m: t.amax(dim=1)),
        Mistake(
            "Padding counts as 0 in your function, and 0 is larger than every negative number. For a "
            "maximum, padding must become minus infinity.",
            lambda t, m: _weighted(t, m).amax(dim=1),
        ),
        Mistake(
            "`max(dim=1)` returns two things, the values and where they stand. Take `.values`, or use `amax(dim=1)`.",
            lambda t, m: tuple(t.masked_fill(m.unsqueeze(-1) == 0, float("-inf")).max(dim=1)),
        ),
        Mistake(
            "You return where the maximum stands, not the maximum. Take `.values`, or use `amax(dim=1)`.",
            lambda t, m: t.masked_fill(m.unsqueeze(-1) == 0, float("-inf")).argmax(dim=1),
        ),
        Mistake(
            "The mask is upside down: you take the maximum of the padding. 1 marks a real token.",
            lambda t, m: t.masked_fill(m.unsqueeze(-1) == 1, float("-inf")).amax(dim=1),
        ),
        *(
            Mistake(
                "A number that you put in is not low enough: real tokens may hold smaller ones, and then yours wins. "
                "Use minus infinity, `float('-inf')`, and only at padding, with `masked_fill`.",
                lambda t, m, low=low: t.masked_fill(m.unsqueeze(-1) == 0, low).amax(dim=1),
            )
            for low in (-1.0, -1e9)
        ),
        Mistake(
            "You treat each 0 in the product with the mask as padding. A real token may hold zeros, too: fill where "
            "the mask is 0, `attention_mask.unsqueeze(-1) == 0`.",
            lambda t, m: (k := _weighted(t, m)).masked_fill(k == 0, float("-inf")).amax(dim=1),
        ),
        Mistake(
            "Your result is always float32. It should have the dtype of the token vectors, which may be float64.",
            lambda t, m: max_pool(t, m).float(),
        ),
        Mistake(
            "The result holds NaN, because minus infinity times 0 is not a number. Do not multiply by infinity: fill "
            "it in where the mask is 0, with `masked_fill`.",
            lambda t, m: (t + (1 - m.long().unsqueeze(-1)) * float("-inf")).amax(dim=1),
        ),
        Mistake(
            "`1 - attention_mask` does not work with a mask of true and false. Write `attention_mask == 0`.",
            lambda t, m: (t - (1 - m.unsqueeze(-1)) * 1e9).amax(dim=1),
        ),
        Mistake(
            "`~` turns true and false round, but of the whole numbers 1 and 0 it makes -2 and -1, which both count "
            "as true. Write `attention_mask == 0`.",
            lambda t, m: t.masked_fill((~m).bool().unsqueeze(-1), float("-inf")).amax(dim=1),
        ),
        Mistake(
            "`masked_fill` needs true and false, and the mask holds the numbers 1 and 0. Write `attention_mask == 0`.",
            lambda t, m: t.masked_fill(~m.unsqueeze(-1), float("-inf")).amax(dim=1),
        ),
        Mistake(
            _RIGHT_ONLY,
            lambda t, m: torch.stack([v[:n].amax(dim=0) for v, n in zip(t, m.long().sum(dim=1), strict=True)]),
        ),
        Mistake(
            "You return the minimum, not the maximum.",
            lambda t, m: t.masked_fill(m.unsqueeze(-1) == 0, float("inf")).amin(dim=1),
        ),
        Mistake(_FIRST_TOKEN.replace("take part", "compete"), lambda t, m: t[:, 0]),
        Mistake(_ALONG_HIDDEN, lambda t, m: t.masked_fill(m.unsqueeze(-1) == 0, float("-inf")).amax(dim=-1)),
        Mistake(_ALONG_HIDDEN, lambda t, m: t.amax(dim=-1)),
        Mistake(_ALONG_BATCH, lambda t, m: t.amax(dim=0)),
        Mistake(
            "You take one maximum over the whole batch. Each sentence keeps its own row.",
            lambda t, m: t.masked_fill(m.unsqueeze(-1) == 0, float("-inf")).amax(dim=(0, 1)),
        ),
        Mistake(_UNSQUEEZE, lambda t, m: t.masked_fill(m == 0, float("-inf")).amax(dim=1)),
        Mistake(_UNSQUEEZE, lambda t, m: (t * m).amax(dim=1)),
    ),
    hints=(
        "Padding must never be the largest. Which number is smaller than all others?",
        "`tensor.masked_fill(where, value)` returns a copy with `value` wherever `where` is true. `where` needs the "
        "shape (batch, tokens, 1).",
        "Fill padding with `float('-inf')`, then take `amax(dim=1)`.",
    ),
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
    return [
        Case("Every row has length 1", (some,)),
        Case("Every row has length 1", (parts,)),
        Case("Scaling a row first changes nothing", (some * torch.tensor([[0.01], [3.0], [100.0], [0.5]]),)),
        Case("As many rows as dimensions", (normal(rng, hidden, hidden),)),
        Case("One row alone", (some[:1],)),
        Case("A row of length 1e-10 gets length 1 too", (tiny,)),
        Case("A row of zeros stays zeros", (zero,)),
        Case("Rows in float64 give rows in float64", (some[1:].double(),)),
    ]


NORMALISE = Exercise(
    id="04-normalise",
    strict=True,
    alike=_only_short_rows_differ,
    title="Normalising",
    arguments=("vectors",),
    cases=_normalise_cases,
    reference=normalise,
    minutes=5,
    difficulty=1,
    mistakes=(
        Mistake(
            "Nearly: a row of zeros becomes NaN, because 0 is divided by 0. Keep the length from being 0, for "
            "example with `clamp(min=1e-12)`.",
            lambda v: v / v.norm(dim=1, keepdim=True),
        ),
        *(
            Mistake(
                "Your bound, or what you add to the lengths, is too large for short rows: they do not get length 1. "
                "Use a lower bound such as `clamp(min=1e-12)`, and add nothing.",
                lambda v, more=more: v / (v.norm(dim=1, keepdim=True) + more),
            )
            for more in (1e-9, 1e-4, 1e-2, 1.0)
        ),
        Mistake(
            "Your result is always float32. It should have the dtype of `vectors`, which may be float64.",
            lambda v: normalise(v).float(),
        ),
        Mistake(
            "You divide everything by one length, that of the whole tensor. Each row has its own: `dim=1, "
            "keepdim=True`.",
            lambda v: v / v.norm(),
        ),
        Mistake(
            "You scale the columns. Rows are sentences: take the length along `dim=1`.",
            lambda v: v / v.norm(dim=0, keepdim=True).clamp(min=1e-12),
        ),
        Mistake(
            "You scale the columns. Rows are sentences: take the length along `dim=1`.",
            lambda v: v / v.norm(dim=0, keepdim=True),
        ),
        Mistake(
            "You divide by the squared length. Take the root: `vectors.norm(dim=1, keepdim=True)`.",
            lambda v: v / (v * v).sum(dim=1, keepdim=True).clamp(min=1e-12),
        ),
        Mistake(
            "You divide by the squared length. Take the root: `vectors.norm(dim=1, keepdim=True)`.",
            lambda v: v / (v * v).sum(dim=1, keepdim=True),
        ),
        Mistake(
            "You make the numbers of each row add up to 1. Length 1 means that their *squares* add up to 1.",
            lambda v: v / v.sum(dim=1, keepdim=True),
        ),
        Mistake(
            "You divide by the sum of absolute values. Length is the root of the sum of squares.",
            lambda v: v / v.abs().sum(dim=1, keepdim=True).clamp(min=1e-12),
        ),
        Mistake(
            "You divide by the largest value of each row. Length is the root of the sum of squares.",
            lambda v: v / v.amax(dim=1, keepdim=True),
        ),
        Mistake(
            "The lengths lost their dimension: (n,) does not line up with (n, hidden). Use `keepdim=True`.",
            lambda v: v / v.norm(dim=1),
        ),
        Mistake(
            "The lengths lost their dimension: (n,) does not line up with (n, hidden). Use `keepdim=True`.",
            lambda v: v / v.norm(dim=1).clamp(min=1e-12),
        ),
        Mistake("You return the lengths. Divide the vectors by them.", lambda v: v.norm(dim=1, keepdim=True)),
    ),
    hints=(
        "The length of a row is the root of the sum of its squares; torch has it as `norm`.",
        "With `keepdim=True` the lengths have the shape (n, 1) and divide whole rows. `clamp(min=...)` keeps a "
        "number from falling below a bound.",
    ),
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
    return [
        *(
            Case(
                f"Stored with few digits: {way}",
                stored(pool, lengths, unit=range(4) if way in ("mean", "careless") else (), even=way == "mean"),
            )
            for way, pool in ways.items()
        ),
        Case("A cosine of 0.9988 does not fit", stored(ways[far], [3, 4], cosines=[0.9988] * 2, unit=range(2))),
        Case(
            "A cosine of 0.9992 in every row fits",
            stored(ways[near], [4, 3, 5], cosines=[0.9992] * 3, unit=range(3), even=True, thin=True),
        ),
        Case(
            "A cosine of 0.9988 in one row does not fit",
            stored(ways[rng.choice(["cls", "mean", "max"])], [3, 3, 5, 3], cosines=[1, 1, 1, 0.9988]),
        ),
        Case("A row in the middle points the opposite way", stored(_one_opposite, lengths, unit=range(4))),
        Case("The first row points the opposite way", stored(lambda t, m: -_one_opposite(t, m), [5, 3])),
        Case("Some rows scaled to length 1: cls", stored(ways["cls"], lengths, unit=(0, 2))),
        Case(
            "Some rows scaled to length 1, padding on the left: max",
            stored(ways["max"], lengths, left=True, unit=(0, 2)),
        ),
        *(Case(f"Padding on the left: {way}", stored(ways[way], lengths, left=True)) for way in ("cls", "mean")),
        Case("Only one row has padding: mean", stored(ways["mean"], [4, 4, 2])),
        Case("Only one row has padding: careless", stored(ways["careless"], [4, 4, 2])),
        Case("The last position is none of the four", stored(lambda t, m: t[:, -1], [3, 4, 4], left=True)),
    ]


def _one_opposite(t, m):
    pooled = _ways()["mean"](t, m)
    pooled[1] = -pooled[1]
    return pooled


def _how(v, t, m, ways=None, close=lambda v, pooled: bool((torch.cosine_similarity(v, pooled) > 0.999).all())):
    return next((name for name, pool in (ways or _ways()).items() if close(v, pool(t, m))), "other")


def _fits(close):
    """An imitation that compares in another way."""
    return lambda v, t, m: _how(v, t, m, close=close)


def _nearest_way(v, t, m):
    return max(_ways(), key=lambda name: torch.cosine_similarity(v, _ways()[name](t, m)).min().item())


HOW = Exercise(
    id="04-how-pooled",
    title="How were these pooled?",
    arguments=("vectors", "token_embeddings", "attention_mask"),
    cases=_how_cases,
    reference=_how,
    minutes=12,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You compare numbers as they are. Some of these vectors were scaled to length 1 afterwards, and then no "
            "pooling fits. Compare directions, by cosine.",
            _fits(lambda v, pooled: bool((v - pooled).abs().max() <= 1e-2)),
        ),
        Mistake(
            'You always return "other". If you compare for equality, that is too exact: the numbers were stored with '
            "few digits. A cosine above 0.999 fits.",
            lambda v, t, m: "other",
        ),
        Mistake(
            "Your comparison is too exact: a cosine of 0.9992 fits, too. The limit is 0.999.",
            _fits(lambda v, pooled: bool((torch.cosine_similarity(v, pooled) > 1 - 1e-5).all())),
        ),
        Mistake(
            "Your comparison is too generous: a cosine of 0.9988 does not fit. The limit is 0.999.",
            _fits(lambda v, pooled: bool((torch.cosine_similarity(v, pooled) > 0.99).all())),
        ),
        Mistake(
            "You take cosines along dimension 0, over the sentences of the batch. Take one for each row: `dim=1`.",
            _fits(lambda v, pooled: bool((torch.cosine_similarity(v, pooled, dim=0) > 0.999).all())),
        ),
        Mistake(
            "You look only at rows with padding. Every row has to fit.",
            lambda v, t, m: _how(*(x[(m == 0).any(dim=1)] for x in (v, t, m))),
        ),
        Mistake(
            "You compare the rows' mean cosine with 0.999. One row that does not fit hides in a mean: compare the "
            "lowest.",
            _fits(lambda v, pooled: bool(torch.cosine_similarity(v, pooled).mean() > 0.999)),
        ),
        Mistake(
            "You take one cosine over all rows together. Take one for each row (`dim=1`): every row has to fit, and "
            "each may have a length of its own.",
            _fits(lambda v, pooled: bool(torch.cosine_similarity(v.flatten(), pooled.flatten(), dim=0) > 0.999)),
        ),
        Mistake(
            "You look at the first row only. A row without padding has the same mean either way, and a later row may "
            "fit nothing: every row has to fit.",
            lambda v, t, m: _how(v[:1], t[:1], m[:1]),
        ),
        Mistake(
            "You look at the first row and the last one only. Every row has to fit.",
            lambda v, t, m: _how(v[[0, -1]], t[[0, -1]], m[[0, -1]]),
        ),
        Mistake(
            "You are content if one row fits. A row without padding has the same mean either way: every row has to "
            "fit.",
            _fits(lambda v, pooled: bool((torch.cosine_similarity(v, pooled) > 0.999).any())),
        ),
        Mistake(
            "You take position 0 for CLS. With padding on the left the first *real* token stands further right; "
            "`cls_pool` of the course finds it.",
            lambda *a: _how(*a, ways=_ways(cls=lambda t, m: t[:, 0])),
        ),
        *(
            Mistake(_RIGHT_ONLY, lambda *a, names=names: _how(*a, ways=_ways(**{name: _RIGHT[name] for name in names})))
            for names in (("mean", "max"), ("mean",), ("max",))
        ),
        Mistake("Your maximum includes padding.", lambda *a: _how(*a, ways=_ways(max=lambda t, m: t.amax(dim=1)))),
        Mistake(
            "You return the pooling that fits best, even if it does not fit. If no way has a cosine above 0.999 in "
            'every row, the answer is "other".',
            _nearest_way,
        ),
        Mistake(
            '"mean" and "careless" are the wrong way round: "careless" counts padding.',
            lambda *a: {"mean": "careless", "careless": "mean"}.get(_how(*a), _how(*a)),
        ),
    ),
    hints=(
        "Pool the token vectors in each of the four ways, and compare each result with `vectors`, row by row.",
        "Scaling a row changes its length and not its direction. "
        "`torch.nn.functional.cosine_similarity(a, b, dim=1)` gives one number for each row.",
        'The smallest of these numbers decides: if it is above 0.999, every row fits. If no way fits, return "other".',
    ),
)


def _baseline_cases(rng):
    def cone(n, hidden, pull):
        return normal(rng, n, hidden) + pull * normal(rng, 1, hidden)

    hidden = rng.randint(6, 9)
    some = cone(rng.randint(5, 7), hidden, 1.5)
    lengths = torch.linspace(0.2, 6, len(some)).unsqueeze(-1)
    return [
        Case("Vectors spread around the origin", (cone(6, hidden, 0.0),)),
        Case("Vectors spread around the origin", (torch.cat([2 * torch.eye(3, hidden), some.sign()]),)),  # right angles
        Case("Vectors in a cone", (some,)),
        Case("The lengths of the vectors do not matter", (some * lengths,)),
        Case("Two vectors make one pair", (cone(2, hidden, 1.0),)),
        Case("Rows in another order give the same number", (some.flip(0),)),
        Case("Two equal rows are a pair like any other", (torch.cat([some, some[:1]]),)),
    ]


def _cosines(v):
    u = normalise(v)
    return u @ u.T


def _baseline(v):
    c, n = _cosines(v), len(v)
    return ((c.sum() - n) / (n * (n - 1))).item()


BASELINE = Exercise(
    id="04-baseline",
    title="The random baseline",
    arguments=("vectors",),
    cases=_baseline_cases,
    reference=_baseline,
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "Each vector's similarity to itself, always 1, is in your mean. Leave the diagonal out.",
            lambda v: _cosines(v).mean().item(),
        ),
        Mistake(
            "You take the diagonal out of the sum but still divide by n × n. There are n × (n − 1) pairs of "
            "different rows.",
            lambda v: ((_cosines(v).sum() - len(v)) / len(v) ** 2).item(),
        ),
        Mistake(
            "You divide by the number of pairs counted once, n × (n − 1) / 2, but add every pair twice.",
            lambda v: 2 * _baseline(v),
        ),
        Mistake(
            "You add every pair once and divide by n × (n − 1), which counts every pair twice.",
            lambda v: _baseline(v) / 2,
        ),
        Mistake(
            "The vectors are not normalised, so your products mix direction and length. Divide each row by its "
            "length first.",
            lambda v: ((v @ v.T).sum() - (v * v).sum()).item() / (len(v) * (len(v) - 1)),
        ),
        Mistake(
            "The vectors are not normalised, and each vector's product with itself is in your mean too.",
            lambda v: (v @ v.T).mean().item(),
        ),
        Mistake(
            "You take n away from the sum, but the diagonal holds 1 only after normalising. Divide each row by its "
            "length first.",
            lambda v: ((v @ v.T).sum() - len(v)).item() / (len(v) * (len(v) - 1)),
        ),
        Mistake(
            "You leave out cells by their value. Two equal rows also give 1, and they are a pair. Leave out the "
            "diagonal, by position.",
            lambda v: _cosines(v)[_cosines(v) < 0.9999].mean().item(),
        ),
        Mistake(
            "You compare only neighbours, row i with row i + 1. Every pair of different rows counts.",
            lambda v: _cosines(v).diagonal(1).mean().item(),
        ),
        Mistake(
            "You return the whole table of cosines. One number is asked for: the mean over pairs of different rows.",
            _cosines,
        ),
        Mistake(
            "You return the sum over pairs. Divide by their number for the mean.",
            lambda v: (_cosines(v).sum() - len(v)).item(),
        ),
    ),
    hints=(
        "After normalising, `unit @ unit.T` is the table of all cosines, (n, n). Which of its cells compare a row "
        "with itself?",
        "The n cells on the diagonal are 1. Take them out of the sum; n × (n − 1) cells are left. `.item()` makes a "
        "plain number.",
    ),
)

EXERCISES = (MEAN, MAX, NORMALISE, HOW, BASELINE)
