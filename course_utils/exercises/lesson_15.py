"""Exercises of lesson 15: a static model, the last token, late chunks, associations."""

import numpy as np
import torch

from ..pooling import max_pool, mean_pool, normalise
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _distil_case(rng, label, ids=None, unseen=False, a=None, tokens=6, d=4):
    """ids: lists of token ids; drawn without. unseen: whether one token has the count 0."""
    table = np.array([[rng.gauss(0, 1) for _ in range(d)] for _ in range(tokens)])
    counts = np.array(rng.sample([3, 10, 40, 150, 600, 2500, 9000], tokens))
    if unseen:
        counts[ids[0][0]] = 0
    if ids is None:
        ids = [rng.sample(range(tokens), rng.randint(2, 4)) for _ in range(rng.randint(3, 4))]
    return Case(label, ids, table, counts, a or rng.choice([0.002, 0.005, 0.02]))


def _distil_cases(rng):
    x, y, z = rng.sample(range(6), 3)
    yield _distil_case(rng, "Several texts")
    yield _distil_case(rng, "A token that occurs twice", [[x, y, x], [y, z, z]])
    yield _distil_case(rng, "A text without tokens", [[x, y], [], [z, y]])
    yield _distil_case(rng, "Only a text without tokens", [[]])
    yield _distil_case(rng, "One text", [[x, z]])
    yield _distil_case(rng, "A token that was never counted", [[x, y], [z, x]], unseen=True)
    yield _distil_case(rng, "A larger a: rare and frequent tokens weigh more alike", a=rng.choice([0.3, 0.5]))


def _weights(counts, a):
    return a / (a + counts / counts.sum())


def _unit(vectors):
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _summed(ids, rows):
    return np.array([rows[one].sum(axis=0) if len(one) else np.zeros(rows.shape[1]) for one in ids])


def _distilled(ids, table, counts, a):
    return _unit(_summed(ids, table * _weights(counts, a)[:, None]))


def _with(weights):
    return lambda ids, table, counts, a: _unit(_summed(ids, table * weights(counts, a)[:, None]))


def _means(ids, table, counts, a):
    return np.array(
        [v / max(1, len(one)) for one, v in zip(ids, _summed(ids, table * _weights(counts, a)[:, None]), strict=True)]
    )


def _weighted_means(ids, table, counts, a):
    w = _weights(counts, a)
    return np.array(
        [(table[one] * w[one, None]).sum(0) / w[one].sum() if len(one) else np.zeros(table.shape[1]) for one in ids]
    )


def _nan_for_empty(ids, table, counts, a):
    right = _distilled(ids, table, counts, a)
    right[[not len(one) for one in ids]] = np.nan
    return right


def _rarest_first(counts, a, turn=1):
    ranks = np.empty(len(counts))
    ranks[np.argsort(turn * counts)] = np.arange(2, len(counts) + 2)
    return _weights(1 / ranks, a)


DISTIL = exercise(
    "15-distil", _distil_cases, lambda ids, table, counts, a: _distilled(ids, table, counts, a), points=2
)(
    counts_as_they_are=_with(lambda counts, a: a / (a + counts)),
    share_of_the_largest=_with(lambda counts, a: a / (a + counts / counts.max())),
    inverted=_with(lambda counts, a: 1 - _weights(counts, a)),
    no_weights=_with(lambda counts, a: np.ones(len(counts))),
    lost_brackets=_with(lambda counts, a: a / a + counts / counts.sum()),
    shares_as_weights=(
        _with(lambda counts, a: counts / counts.sum()),
        _with(lambda counts, a: 1 - counts / counts.sum()),
    ),
    own_a=(_with(lambda counts, a: _weights(counts, 1e-4)), _with(lambda counts, a: _weights(counts, 1e-3))),
    zipf_ranks=(
        _with(lambda counts, a: _weights(1 / np.arange(2, len(counts) + 2), a)),
        _with(lambda counts, a: _weights(1 / np.arange(1, len(counts) + 1), a)),
        _with(_rarest_first),
        _with(lambda counts, a: _rarest_first(counts, a, -1)),
    ),
    each_token_once=lambda ids, table, counts, a: _distilled([[*dict.fromkeys(one)] for one in ids], table, counts, a),
    counted_here=lambda ids, table, counts, a: _distilled(
        ids, table, np.maximum(1, np.bincount([i for one in ids for i in one], minlength=len(table))), a
    ),
    not_of_length_one=(
        _means,
        _weighted_means,
        lambda ids, table, counts, a: _summed(ids, table * _weights(counts, a)[:, None]),
    ),
    rows_scaled_first=lambda ids, table, counts, a: _unit(_summed(ids, _unit(table) * _weights(counts, a)[:, None])),
    rows_scaled_last=lambda ids, table, counts, a: _unit(_summed(ids, _unit(table * _weights(counts, a)[:, None]))),
    weighed_twice=_with(lambda counts, a: _weights(counts, a) ** 2),
    empty_is_nan=_nan_for_empty,
    empty_left_out=lambda ids, table, counts, a: _distilled([one for one in ids if len(one)], table, counts, a),
    all_texts_together=lambda ids, table, counts, a: _distilled([[i for one in ids for i in one]], table, counts, a)[0],
)


def _padded(rng, lengths, width, hidden, left=False):
    """Random token vectors and their mask; where padding stands, the vectors hold large numbers."""
    mask = torch.tensor([[1] * n + [0] * (width - n) for n in lengths])
    mask = mask.flip(1) if left else mask
    vectors = normal(rng, len(lengths), width, hidden)
    return vectors + 5 * (1 - mask).unsqueeze(-1) * (1 + normal(rng, len(lengths), width, hidden).abs()), mask


def _last_cases(rng):
    hidden, width = rng.randint(6, 9), rng.randint(6, 8)
    lengths = [width - 2, 2, width, width - 3]
    shorter = [width - 2, 3, width - 1]
    yield Case("Padding on the right", *_padded(rng, lengths, width, hidden))
    yield Case("Padding on the left", *_padded(rng, lengths, width, hidden, left=True))
    yield Case("A batch without padding", *_padded(rng, [width] * 3, width, hidden))
    yield Case("Padding on the right, and the first text has none", *_padded(rng, sorted(lengths)[::-1], width, hidden))
    yield Case("Padding on the left, and the first text has none",
               *_padded(rng, sorted(lengths)[::-1], width, hidden, left=True))  # fmt: skip
    for side, left in (("right", False), ("left", True)):
        last_longest, two_longest = [width - 3, 2, width], [width, width, 3]
        yield Case(
            f"Padding on the {side}, and the last text has none", *_padded(rng, last_longest, width, hidden, left)
        )
        yield Case(f"Only one text has padding, on the {side}", *_padded(rng, two_longest, width, hidden, left))
        yield Case(
            f"Only the middle text has padding, on the {side}", *_padded(rng, [width, 3, width], width, hidden, left)
        )
        yield Case(f"Every text has padding on the {side}", *_padded(rng, shorter, width + 2, hidden, left))
        yield Case(f"One text, with padding on the {side}", *_padded(rng, [width - 2], width, hidden, left))
        yield Case(f"A text of one token, with padding on the {side}", *_padded(rng, [width, 1], width, hidden, left))
        vectors, mask = _padded(rng, lengths, width, hidden, left)
        vectors[torch.arange(4), _places(mask)] = 0
        yield Case(f"The last token's vector holds zeros, padding on the {side}", vectors, mask)


def _places(m):
    """The place of the last real token of each row."""
    return (m * torch.arange(m.shape[1])).argmax(dim=1)


def _at(h, places):
    return h[torch.arange(len(h)), places]


def _last(last_hidden_state, attention_mask):
    return _at(last_hidden_state, _places(attention_mask))


def _counted(h, m):
    return _at(h, m.sum(dim=1) - 1)


def _last_nonzero(h, m):
    return _last(h, (h * m.unsqueeze(-1) != 0).any(dim=-1).long())


LAST = exercise("15-last-token", _last_cases, _last, points=2)(
    always_last=lambda h, m: h[:, -1],
    counted=_counted,
    one_row_decides=(
        lambda h, m: h[:, -1] if m[0, -1] else _counted(h, m),
        lambda h, m: h[:, -1] if m[:, -1].any() else _counted(h, m),
        lambda h, m: _counted(h, m) if m[0, 0] else h[:, -1],
        lambda h, m: _counted(h, m) if m[:, 0].any() else h[:, -1],
        lambda h, m: h[:, -1] if m[-1, -1] else _counted(h, m),
        lambda h, m: _counted(h, m) if m[-1, 0] else h[:, -1],
        lambda h, m: h[:, -1] if m[0, -1] and m[-1, -1] else _counted(h, m),
    ),
    most_rows_decide=(
        lambda h, m: h[:, -1] if m[:, -1].float().mean() > 0.5 else _counted(h, m),
        lambda h, m: h[:, -1] if m[:2, -1].all() else _counted(h, m),
    ),
    always_first=lambda h, m: h[:, 0],
    first_real=lambda h, m: _at(h, m.argmax(dim=1)),
    counted_from_the_end=(lambda h, m: _at(h, m.flip(1).argmax(dim=1)), lambda h, m: _at(h, -m.flip(1).argmax(dim=1))),
    one_too_far=(
        lambda h, m: _at(h, m.sum(dim=1)),
        lambda h, m: _at(h, m.sum(dim=1).clamp(max=h.shape[1] - 1)),
        lambda h, m: _at(h, (_places(m) + 1).clamp(max=h.shape[1] - 1)),
        lambda h, m: h[:, -1] if m[:, -1].all() else _at(h, m.sum(dim=1)),
    ),
    one_before=(
        lambda h, m: _at(h, _places(m) - 1),
        lambda h, m: _at(h, (_places(m) - 1).clamp(min=0)),
        lambda h, m: _at(h, m.sum(dim=1) - 2),
        lambda h, m: torch.stack([vectors[marks == 1][-2] for vectors, marks in zip(h, m)]),
    ),
    no_rows=(lambda h, m: h[:, _places(m)], lambda h, m: h[:, m.sum(dim=1) - 1]),
    one_place_for_all=(
        lambda h, m: h[:, m.sum(dim=1).max() - 1],
        lambda h, m: h[:, _places(m).max()],
        lambda h, m: h[:, _places(m)[0]],
    ),
    zeroed_and_last=lambda h, m: (h * m.unsqueeze(-1))[:, -1],
    last_nonzero=_last_nonzero,
    upside_down=lambda h, m: _last(h, 1 - m),
    averaged=(mean_pool, lambda h, m: h.mean(dim=1), max_pool),
    scaled=lambda h, m: normalise(_last(h, m)),
    squeezed=lambda h, m: _last(h, m).squeeze(),
    places_returned=(lambda h, m: _places(m), lambda h, m: m.sum(dim=1) - 1),
)


def _one_pass(rng, real, hidden, padding=0, inside=()):
    """Token vectors of one text, and the mask of [CLS], [SEP] and padding, whose vectors hold large numbers.

    real: tokens between [CLS] and the last [SEP]. inside: positions of a [SEP] among them.
    """
    special = torch.tensor([1] + [0] * real + [1] + [1] * padding)
    special[list(inside)] = 1
    vectors = normal(rng, len(special), hidden) + 0.5 * normal(rng, 1, hidden)
    # lengths from 0.5 to 3, so that the mean of tokens is not that of their directions
    vectors = vectors * torch.tensor([rng.uniform(0.5, 3) for _ in special]).unsqueeze(-1)
    return vectors + 6 * special.unsqueeze(-1) * normal(rng, len(special), hidden).abs(), special


def _late_cases(rng):
    hidden = rng.randint(6, 9)
    vectors, special = _one_pass(rng, 12, hidden)
    padded = _one_pass(rng, 9, hidden, padding=4)
    two = _one_pass(rng, 11, hidden, inside=[6])
    yield Case("Three spans of real tokens, one after the other", vectors, special, [(1, 4), (4, 9), (9, 13)])
    yield Case(
        "A span that begins at [CLS], and one that ends behind [SEP]", vectors, special, [(0, 5), (5, 9), (9, 14)]
    )
    yield Case("The last span holds padding, too", *padded, [(1, 6), (6, 15)])
    yield Case("Spans that hold a [SEP] in their middle, or stand behind it", *two, [(1, 5), (4, 9), (8, 12)])
    yield Case("Spans that overlap, and tokens in none", vectors, special, [(2, 7), (4, 9), (11, 13)])
    yield Case("Spans in another order", vectors, special, [(9, 13), (1, 4), (4, 9)])
    yield Case("A span of one token", vectors, special, [(3, 4), (4, 13)])
    yield Case("One span over all", *padded, [(0, 15)])


def _late(vectors, special, spans, pool=lambda rows: rows.mean(dim=0)):
    return normalise(torch.stack([pool(vectors[a:z][special[a:z] == 0]) for a, z in spans]))


def _from(vectors, spans, rows_of):
    """Means of the rows that `rows_of(start, end)` takes, normalised; an empty span gives zeros."""
    return normalise(torch.stack([rows_of(a, z).sum(dim=0) / max(1, len(rows_of(a, z))) for a, z in spans]))


def _each_once(vectors, special, spans):
    left, found = special.clone(), []
    for a, z in spans:
        rows = vectors[a:z][left[a:z] == 0]
        found.append(rows.sum(dim=0))
        left[a:z] = 1
    return normalise(torch.stack(found))


LATE_CHUNKS = exercise(
    "15-late-chunks",
    _late_cases,
    lambda last_hidden_state, special, spans: _late(last_hidden_state, special, spans),
    points=2,
)(
    special_counted=(
        lambda h, special, spans: _from(h, spans, lambda a, z: h[a:z]),
        lambda h, special, spans: torch.stack([h[a:z].mean(dim=0) for a, z in spans]),
    ),
    only_padding_left_out=lambda h, special, spans: _from(
        h, spans, lambda a, z: h[: 1 + int((special == 0).nonzero().max()) + 1][a:z]
    ),
    counted_without_cls=(
        lambda h, special, spans: _from(h, spans, lambda a, z: h[special == 0][a:z]),
        lambda h, special, spans: _from(h, spans, lambda a, z: h[special == 0][max(0, a - 1) : z - 1]),
    ),
    one_too_late=(
        lambda h, special, spans: _from(h, spans, lambda a, z: h[1:][a:z][special[1:][a:z] == 0]),
        lambda h, special, spans: _from(h, spans, lambda a, z: h[1:-1][a:z]),
    ),
    end_included=(
        lambda h, special, spans: _late(h, special, [(a, z + 1) for a, z in spans]),
        lambda h, special, spans: _from(h, spans, lambda a, z: h[a : z + 1]),
    ),
    end_as_length=lambda h, special, spans: _late(h, special, [(a, a + z) for a, z in spans]),
    up_to_the_next=lambda h, special, spans: _from(
        h,
        list(zip([a for a, _ in spans], [*[a for a, _ in spans[1:]], len(h)])),
        lambda a, z: h[a:z][special[a:z] == 0],
    ),
    each_token_once=_each_once,
    upside_down=lambda h, special, spans: _from(h, spans, lambda a, z: h[a:z][special[a:z] != 0]),
    not_normalised=(
        lambda h, special, spans: torch.stack([h[a:z][special[a:z] == 0].mean(dim=0) for a, z in spans]),
        lambda h, special, spans: torch.stack([h[a:z][special[a:z] == 0].sum(dim=0) for a, z in spans]),
    ),
    normalised_too_early=(
        lambda h, special, spans: torch.stack([normalise(h[a:z][special[a:z] == 0]).mean(dim=0) for a, z in spans]),
        lambda h, special, spans: _late(normalise(h), special, spans),
    ),
    normalised_together=(
        lambda h, special, spans: (
            (v := torch.stack([h[a:z][special[a:z] == 0].mean(dim=0) for a, z in spans])) / v.norm()
        ),
        lambda h, special, spans: (
            (v := torch.stack([h[a:z][special[a:z] == 0].mean(dim=0) for a, z in spans])) / v.norm(dim=0)
        ),
    ),
    maximum=lambda h, special, spans: _late(h, special, spans, lambda rows: rows.amax(dim=0)),
    first_token=lambda h, special, spans: _late(h, special, spans, lambda rows: rows[0]),
    whole_text=(
        lambda h, special, spans: _late(h, special, [(0, len(h))] * len(spans)),
        lambda h, special, spans: _late(h, special, [(0, len(h))]),
        lambda h, special, spans: _late(h, special, [(0, len(h))])[0],
    ),
    along_hidden=lambda h, special, spans: [h[a:z][special[a:z] == 0].mean(dim=-1) for a, z in spans],
)


def _vectors(rng, n, d):
    """Vectors of different lengths."""
    return np.array([[round(rng.gauss(0, 1), 3) for _ in range(d)] for _ in range(n)]) * np.array(
        [[rng.choice([0.5, 1.0, 2.0, 3.0])] for _ in range(n)]
    )


def _weat_cases(rng):
    def drawn(x, y, a, b, d=6):
        return [_vectors(rng, n, d) for n in (x, y, a, b)]

    def near(*lists):
        """The first list lies near the third, the second near the fourth."""
        x, y, a, b = lists
        return x + 2 * a.mean(axis=0), y + 2 * b.mean(axis=0), a, b

    n = rng.randint(4, 6)
    yield Case("Four lists of the same length", *drawn(n, n, n, n))
    yield Case("The first two lists differ in length", *drawn(rng.randint(7, 9), rng.randint(3, 4), n, n))
    yield Case("The last two lists differ in length", *drawn(n, n, rng.randint(6, 8), rng.randint(2, 3)))
    x, y, a, b = near(*drawn(n, n + 1, 3, 4))
    yield Case("The first list is near the third, the second near the fourth", x, y, a, b)
    yield Case("The first list is near the fourth, the second near the third", y, x, a, b)
    yield Case("One vector in the first list", *drawn(1, n, 3, 3))
    yield Case("One vector in each of the last two lists", *drawn(n, n + 2, 1, 1))
    yield Case("One vector in each list", *near(*drawn(1, 1, 1, 1)))
    x, y, a, b = drawn(n, n, 4, 4)
    long = a * np.array([[1.0], [1.0], [1.0], [40.0]])
    yield Case("One vector is forty times as long", x, y, long, b)


def _directions(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _associations(x, a, b, of=np.mean):
    return of(_directions(x) @ _directions(a).T, axis=1) - of(_directions(x) @ _directions(b).T, axis=1)


def _effect(x, y, a, b, spread=None, associations=_associations, middle=np.mean):
    """The effect size; `spread` gets the associations of both lists and returns what is divided by."""
    sx, sy = associations(x, a, b), associations(y, a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        divisor = np.std(np.r_[sx, sy]) if spread is None else spread(sx, sy)
        return float(np.float64(middle(sx) - middle(sy)) / divisor)


def _pooled(ddof):
    def spread(sx, sy):
        within = ((sx - sx.mean()) ** 2).sum() + ((sy - sy.mean()) ** 2).sum()
        return np.sqrt(within / (len(sx) + len(sy) - ddof)) if len(sx) + len(sy) > ddof else np.nan

    return spread


def _sample(values):
    """The sample standard deviation; of one value, NaN."""
    return np.std(values, ddof=1) if len(values) > 1 else np.nan


def _plain_products(x, a, b):
    return (x @ a.T).mean(axis=1) - (x @ b.T).mean(axis=1)


def _to_the_mean(x, a, b):
    return (_directions(x) @ _directions(np.stack([a.mean(axis=0), b.mean(axis=0)])).T) @ np.array([1, -1])


def _to_the_mean_direction(x, a, b):
    ends = np.stack([_directions(a).mean(axis=0), _directions(b).mean(axis=0)])
    return _directions(x) @ _directions(ends).T @ np.array([1, -1])


def _distances(x, a, b):
    return np.linalg.norm(x[:, None] - b, axis=2).mean(axis=1) - np.linalg.norm(x[:, None] - a, axis=2).mean(axis=1)


WEAT = exercise("15-weat", _weat_cases, lambda x, y, a, b: _effect(x, y, a, b), points=2)(
    sample_deviation=lambda *lists: _effect(*lists, spread=lambda sx, sy: _sample(np.r_[sx, sy])),
    sums=(
        lambda *lists: _effect(*lists, middle=np.sum),
        lambda *lists: _effect(*lists, middle=np.sum, spread=lambda sx, sy: _sample(np.r_[sx, sy])),
    ),
    not_divided=(
        lambda *lists: _effect(*lists, spread=lambda sx, sy: 1),
        lambda *lists: _effect(*lists, spread=lambda sx, sy: 1, middle=np.sum),
    ),
    only_first=(
        lambda *lists: _effect(*lists, spread=lambda sx, sy: np.std(sx)),
        lambda *lists: _effect(*lists, spread=lambda sx, sy: _sample(sx)),
    ),
    only_second=(
        lambda *lists: _effect(*lists, spread=lambda sx, sy: np.std(sy)),
        lambda *lists: _effect(*lists, spread=lambda sx, sy: _sample(sy)),
    ),
    within_lists=(
        lambda *lists: _effect(*lists, spread=_pooled(2)),
        lambda *lists: _effect(*lists, spread=_pooled(0)),
        lambda *lists: _effect(*lists, spread=lambda sx, sy: (np.std(sx) + np.std(sy)) / 2),
        lambda *lists: _effect(*lists, spread=lambda sx, sy: np.sqrt((np.var(sx) + np.var(sy)) / 2)),
        lambda *lists: _effect(*lists, spread=lambda sx, sy: (_sample(sx) + _sample(sy)) / 2),
        lambda *lists: _effect(*lists, spread=lambda sx, sy: np.sqrt((_sample(sx) ** 2 + _sample(sy) ** 2) / 2)),
    ),
    variance=lambda *lists: _effect(*lists, spread=lambda sx, sy: np.var(np.r_[sx, sy])),
    dot_products=lambda *lists: _effect(*lists, associations=_plain_products),
    attributes_added=lambda *lists: _effect(*lists, associations=lambda *one: _associations(*one, of=np.sum)),
    cosine_to_mean=(
        lambda *lists: _effect(*lists, associations=_to_the_mean),
        lambda *lists: _effect(*lists, associations=_to_the_mean_direction),
    ),
    sign_turned=lambda x, y, a, b: _effect(y, x, a, b),
    absolute=lambda *lists: abs(_effect(*lists)),
    second_ignored=lambda x, y, a, b: float(
        _associations(x, a, b).mean() / np.std(np.r_[_associations(x, a, b), _associations(y, a, b)])
    ),
    first_attribute_only=lambda *lists: _effect(
        *lists, associations=lambda x, a, b: (_directions(x) @ _directions(a).T).mean(axis=1)
    ),
    distances=lambda *lists: _effect(*lists, associations=_distances),
    rounded=(lambda *lists: round(_effect(*lists), 2), lambda *lists: round(_effect(*lists), 3)),
)


# --- completions -------------------------------------------------------------------------------------------------


def _kept_cases(rng):
    places = rng.sample(range(500), 60)
    yield Case("Some of the ten are among the candidates", places[:20], places[20 - rng.randint(2, 8) :][:10])
    yield Case("All are, in another order", places[:20], rng.sample(places[:20], 10))
    yield Case("None is", places[:20], places[20:30])
    yield Case("Fewer candidates than ten", places[:4], rng.sample(places[:13], 10))
    yield Case("Fewer wanted pages", places[:30], [places[50], places[3], places[29]])


KEPT = Completion(
    "15-kept",
    "The share kept",
    ("candidates", "ten"),
    _kept_cases,
    lambda candidates, ten: len(set(ten) & set(candidates)) / len(ten),
    mistakes=(
        Mistake(
            "compared_in_order",
            "You compare the two lists place by place.",
            "One of the ten may stand anywhere among the candidates: ask `in candidates` for each.",
            (
                lambda candidates, ten: sum(one == other for one, other in zip(candidates, ten)) / len(ten),
                lambda candidates, ten: sum(one == other for one, other in zip(sorted(candidates), ten)) / len(ten),
            ),
        ),
        Mistake(
            "places_added",
            "Your list holds the pages' places, and `sum` adds these up.",
            "Put True or False into it for each of the ten: `page in candidates`.",
            (lambda candidates, ten: sum(set(ten) & set(candidates)) / len(ten),),
        ),
        Mistake(
            "lost_counted",
            "You count the pages that are lost.",
            "Count those that are among the candidates.",
            (lambda candidates, ten: sum(page not in candidates for page in ten) / len(ten),),
        ),
        Mistake(
            "first_candidates_only",
            "You look at the first candidates only.",
            "Here there may be more than ten, and a page may stand anywhere among them.",
            (
                lambda candidates, ten: sum(page in candidates[:10] for page in ten) / len(ten),
                lambda candidates, ten: sum(page in candidates[: len(ten)] for page in ten) / len(ten),
            ),
        ),
    ),
)


def _looks_back_cases(rng):
    yield Case("Some tokens before", rng.randint(6, 8), rng.randint(2, 3))
    yield Case("One token before", rng.randint(5, 7), 1)
    yield Case("A window of 0: only itself", rng.randint(4, 6), 0)
    yield Case("A window longer than the text", rng.randint(3, 5), rng.randint(7, 9))
    yield Case("One token", 1, 2)


def _looking(seen):
    """A mask from a condition on how far back token j lies from token i."""
    return lambda tokens, window: seen(torch.arange(tokens)[:, None] - torch.arange(tokens), window)


LOOKS_BACK = Completion(
    "15-looks-back",
    "Back, and not far",
    ("tokens", "window"),
    _looks_back_cases,
    lambda tokens, window: torch.ones(tokens, tokens).tril().triu(-window).bool(),
    mistakes=(
        Mistake(
            "both_sides",
            "Your tokens look ahead, too.",
            "A token that comes later has a negative `apart`: ask for `apart >= 0` as well.",
            (_looking(lambda apart, window: apart.abs() <= window), _looking(lambda apart, window: apart <= window)),
        ),
        Mistake(
            "ahead",
            "Your tokens look ahead instead of back.",
            "`apart` is $i - j$, so a token before token i has a positive `apart`.",
            (
                _looking(lambda apart, window: (apart <= 0) & (apart >= -window)),
                _looking(lambda apart, window: (apart <= 0) & (apart > -window)),
            ),
        ),
        Mistake(
            "all_before",
            "Your tokens look at everything before them.",
            "At most `window` tokens back: ask for `apart <= window` as well.",
            (_looking(lambda apart, window: apart >= 0),),
        ),
        Mistake(
            "one_too_few",
            "Your window is one token too short.",
            "Up to `window` tokens *before* it, and the token itself: `apart <= window`.",
            (_looking(lambda apart, window: (apart >= 0) & (apart < window)),),
        ),
        Mistake(
            "not_itself",
            "Your tokens do not look at themselves.",
            "A token's own `apart` is 0: ask for `apart >= 0`.",
            (
                _looking(lambda apart, window: (apart > 0) & (apart <= window)),
                _looking(lambda apart, window: (apart > 0) & (apart < window)),
                _looking(lambda apart, window: (apart.abs() <= window) & (apart != 0)),
            ),
        ),
        Mistake(
            "joined_by_or",
            "You join two conditions by `|`, and one of them is always true.",
            "Both have to hold: `&`.",
            (_looking(lambda apart, window: (apart >= 0) | (apart <= window)),),
        ),
        Mistake(
            "upside_down",
            "Your mask is True where a token may *not* look.",
            "Turn it around with `~`.",
            (_looking(lambda apart, window: (apart < 0) | (apart > window)),),
        ),
    ),
)
