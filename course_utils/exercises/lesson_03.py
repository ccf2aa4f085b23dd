"""Exercises of lesson 03, contextual vectors."""

import math
from functools import partial

import numpy as np
import torch

from ..pooling import normalise
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _word_cases(rng):
    hidden = rng.randint(5, 8)
    pieces = [1, 3, 1, 2, 1, 4]
    rng.shuffle(pieces)
    word_ids = [None, *(word for word, count in enumerate(pieces) for _ in range(count)), None]
    states = normal(rng, len(word_ids), hidden) + 3
    padded = torch.cat([states, 50 + normal(rng, 3, hidden)])
    small = [None, 0, 1, 1, 2, 2, 2, None, None][:hidden]
    several = [word for word, count in enumerate(pieces) if count > 1]
    single = [word for word, count in enumerate(pieces) if count == 1]
    for word in several:
        yield Case("A word of several pieces gets the mean of their vectors", states, word_ids, word)
    for word in single:
        yield Case("A word of one piece gets that piece's vector", states, word_ids, word)
    yield Case("Special tokens and padding belong to no word", padded, word_ids + [None] * 3, several[-1])
    yield Case("Words are counted from 0", states[[0, 1, 2, 3, 4]], [None, 0, 0, 1, None], 0)
    yield Case("As many tokens as dimensions", normal(rng, hidden, hidden), small, 1)


def _pieces(word_ids, index):
    return [position for position, word in enumerate(word_ids) if word == index]


def _word_vector(h, w, i):
    return h[_pieces(w, i)].mean(dim=0)


def _total(rows):
    """The mean of the rows, computed with Python's sum, which is 0 if there are no rows."""
    rows = list(rows)
    return sum(rows) / len(rows)


WORD_VECTOR = exercise("03-word-vector", _word_cases, _word_vector, arguments=("hidden_states", "word_ids", "index"))(
    token_position=lambda h, w, i: h[i],
    only_cls_added=lambda h, w, i: h[i + 1],
    first_piece=lambda h, w, i: h[w.index(i)],
    last_piece=lambda h, w, i: h[_pieces(w, i)[-1]],
    sum=lambda h, w, i: h[_pieces(w, i)].sum(dim=0),
    divided_by_all=lambda h, w, i: h[_pieces(w, i)].sum(dim=0) / len(w),
    divided_by_all_words=lambda h, w, i: h[_pieces(w, i)].sum(dim=0) / sum(x is not None for x in w),
    maximum=lambda h, w, i: h[_pieces(w, i)].amax(dim=0),
    pieces_returned=lambda h, w, i: h[_pieces(w, i)],
    kept_dimension=lambda h, w, i: h[_pieces(w, i)].mean(dim=0, keepdim=True),
    inside_vectors=lambda h, w, i: h[_pieces(w, i)].mean(dim=1),
    one_number=lambda h, w, i: h[_pieces(w, i)].mean(),
    all_tokens=lambda h, w, i: h.mean(dim=0),
    all_words=lambda h, w, i: h[[x is not None for x in w]].mean(dim=0),
    other_words=lambda h, w, i: h[[x is not None and x != i for x in w]].mean(dim=0),
    list_compared=lambda h, w, i: h[w == i].mean(dim=0),
    none_in_tensor=lambda h, w, i: h[torch.tensor(w) == i].mean(dim=0),
    word_zero_lost=(
        lambda h, w, i: h[[p for p, x in enumerate(w) if x and x == i]].mean(dim=0),
        lambda h, w, i: torch.stack([h[p] for p, x in enumerate(w) if x and x == i]).mean(dim=0),
        lambda h, w, i: _total(h[p] for p, x in enumerate(w) if x and x == i),
    ),
    last_piece_lost=(
        lambda h, w, i: h[_pieces(w, i)[0] : _pieces(w, i)[-1]].mean(dim=0),
        lambda h, w, i: torch.stack([h[p] for p in _pieces(w, i)[:-1]]).mean(dim=0),
    ),
    none_as_zero=lambda h, w, i: h[[p for p, x in enumerate(w) if (x or 0) == i]].mean(dim=0),
    counted_from_one=lambda h, w, i: _word_vector(h, w, i - 1),
    next_word=lambda h, w, i: _word_vector(h, w, i + 1),
    cls_skipped_once=lambda h, w, i: h[1:][_pieces(w[:-1], i)].mean(dim=0),
    none_dropped=lambda h, w, i: h[_pieces([x for x in w if x is not None], i)].mean(dim=0),
)


def _cosines(v):
    unit = normalise(v)
    return unit @ unit.T


def _products(unit):
    return unit @ unit.T


def _turned(rng, rows):
    """Rotate the rows at random into a space with more dimensions, which leaves their cosines unchanged."""
    few = len(rows[0])
    turn = torch.linalg.qr(normal(rng, few + 4, few + 4)).Q
    return torch.tensor(rows, dtype=torch.float32) @ turn[:few]


def _pairs(rng, count, common=0.0, lengths=()):
    """`count` pairs of rows: the rows of a pair are close (cosine about 0.95), other rows are further apart."""
    rows = []
    for number in range(count):
        for side in (1, -1):
            row = [0.0] * (2 * count + 1)
            row[number], row[count + number], row[-1] = 1.0, 0.16 * side, common
            length = lengths[len(rows)] if lengths else 1.0
            rows.append([length * (x + rng.uniform(-0.01, 0.01)) for x in row])
    return _turned(rng, rows)


def _in_a_plane(rng, *degrees):
    """Rows at the given angles in one plane, each slightly perturbed; the plane is rotated at random."""
    return _turned(rng, _unit_rows(*(angle + rng.uniform(-2, 2) for angle in degrees)))


def _unit_rows(*degrees):
    return [[math.cos(math.radians(angle)), math.sin(math.radians(angle))] for angle in degrees]


def _far_from_0(rng):
    """Two close rows, and one further out on either side. Without their mean, the close ones are opposite."""
    ones, one, other = torch.linalg.qr(torch.cat([torch.ones(6, 1), normal(rng, 6, 2)], dim=1)).Q.T
    return torch.stack([4 * ones + x * one + y * other for x, y in ((-0.1, 0), (0.1, 0), (-1, 0.2), (1, -0.2))])


def _along_axes(rng, *lengths):
    """Rows of whole lengths along axes, two on each axis, so that cosines are exactly 0 or 1."""
    axes = rng.sample(range(7), len(lengths) // 2)
    rows = torch.zeros(len(lengths), 7)
    for row, length in enumerate(lengths):
        rows[row, axes[row // 2]] = length
    return rows


def _opposite(rng):
    """Two rows whose cosine is exactly −1."""
    rows = torch.zeros(2, 5)
    rows[:, rng.randrange(5)] = torch.tensor([3.0, -2.0])
    return rows


def _nearest_cases(rng):
    # two labels with the same letters, first and last ones included, and a third that begins with the first
    one, two = rng.sample(rng.choice([("diary", "dairy"), ("casual", "causal"), ("martial", "marital")]), 2)
    three = one + " 2"
    mixed, senses = _pairs(rng, 5, common=0.6), [one, one, two, two, one, two, two, one, one, one]
    order = list(range(10))
    rng.shuffle(order)
    lonely = [one, one, two, three, one, two, two, two, one, three]
    yield Case("Six of ten rows have a nearest row of their own sense", mixed[order], [senses[i] for i in order])
    yield Case(
        "Similarity is the cosine: the lengths of the vectors do not matter",
        _pairs(rng, 4, common=0.6, lengths=(0.1, 10, 1, 1, 0.1, 10, 0.1, 10)),
        [f"sense {i // 2}" for i in range(8)],
    )
    yield Case(
        "A row is never its own neighbour, even when all cosines are negative",
        _in_a_plane(rng, 0, 100, 245),
        [one, two, one],
    )
    yield Case(
        "Only the nearest row counts, not the average of a sense",
        _in_a_plane(rng, 0, 20, 180, 190, 70, 75, 80),
        [one] * 4 + [two] * 3,
    )
    yield Case("Three senses", mixed, lonely)
    yield Case(
        "A row that occurs twice is nearest to its copy",
        _in_a_plane(rng, 0, 10, 100, 110)[[0, 0, 1, 2, 2, 3]],
        [one, one, two, two, two, one],
    )
    yield Case(
        "Two equal rows of different senses are each other's nearest",
        _along_axes(rng, 2, 2, 3, 3, 5, 5),
        ["river", "money", "money", "river", "bird", "bird"],
    )
    yield Case(
        "The most similar row counts, even if it leads by very little",
        _turned(rng, _unit_rows(0, 30, -29.998, 180, 209.998, 150)),
        [one, two, one, two, two, one],
    )
    yield Case(
        "The cosine is that of the rows as they are, without a mean subtracted", _far_from_0(rng), [one, one, two, two]
    )
    yield Case("Opposite rows are the least similar ones", _in_a_plane(rng, 0, 60, 175), [one, one, two])
    yield Case(
        "Of negative cosines, the one closest to 0 is the largest", _in_a_plane(rng, 245, 100, 0), [one, two, two]
    )
    yield Case("The only other row is the nearest, even at the cosine −1", _opposite(rng), [one, two])
    yield Case("Two rows of one sense give 1", _pairs(rng, 1), [one, one])


def _share(table, senses, pick=torch.Tensor.argmax):
    """The share of rows whose picked column has the row's sense."""
    return sum(senses[pick(row)] == sense for row, sense in zip(table, senses, strict=True)) / len(senses)


def _without_self(table, value=float("-inf")):
    return table.masked_fill(torch.eye(len(table), dtype=torch.bool), value)


def _nearest_sense(v, senses):
    return _share(_without_self(_cosines(v)), senses)


def _running_maximum(v, senses, unset):
    """Compare each row's sense with that of its nearest row, ignoring cosines of 0 or less.

    A row without such a neighbour is given the label `unset(senses)`.
    """
    c, right = _cosines(v).tolist(), 0
    for i, sense in enumerate(senses):
        above = [(cosine, j) for j, cosine in enumerate(c[i]) if j != i and cosine > 0]
        right += (senses[max(above)[1]] if above else unset(senses)) == sense
    return right / len(senses)


def _by_centre(v, senses, leave_out):
    unit, right = normalise(v), 0
    for i, sense in enumerate(senses):
        best = {}
        for kind in sorted(set(senses)):
            members = [j for j, name in enumerate(senses) if name == kind and not (leave_out and j == i)]
            if members:
                best[kind] = torch.cosine_similarity(unit[members].mean(dim=0), v[i], dim=0).item()
        right += max(best, key=best.get) == sense
    return right / len(senses)


def _among_later(v, senses):
    c = _cosines(v)
    return sum(senses[i + 1 + c[i, i + 1 :].argmax()] == senses[i] for i in range(len(v) - 1)) / len(v)


NEAREST_SENSE = exercise("03-nearest-sense", _nearest_cases, _nearest_sense, points=2, arguments=("vectors", "senses"))(
    cells_by_value=lambda v, s: _share((c := _cosines(v)).masked_fill(c > 0.9999, float("-inf")), s),
    finds_itself=lambda v, s: _share(_cosines(v), s),
    zero_for_itself=lambda v, s: _share(_without_self(_cosines(v), 0.0), s),
    without_sign=lambda v, s: _share(_without_self(_cosines(v).abs(), -1.0), s),
    minus_one_for_itself=lambda v, s: _share(_without_self(_cosines(v), -1.0), s),
    second_largest=(
        lambda v, s: _share(_cosines(v), s, lambda row: row.topk(2).indices[1]),
        lambda v, s: _share(_cosines(v), s, lambda row: row.argsort()[-2]),
        lambda v, s: _share(_cosines(v), s, lambda row: row.argsort(descending=True)[1]),
    ),
    starts_at_zero=(
        lambda v, s: _running_maximum(v, s, lambda senses: None),
        lambda v, s: _running_maximum(v, s, lambda senses: senses[0]),
        lambda v, s: _running_maximum(v, s, lambda senses: senses[None]),
    ),
    list_of_places=lambda v, s: s[_cosines(v).argmax(dim=1)],
    senses_in_tensor=lambda v, s: torch.tensor(s),
    lists_compared=(
        lambda v, s: float(_nearest_sense(v, s) == 1),  # lists are equal if all of their items are
        lambda v, s: float(_nearest_sense(v, s) == 1) / len(s),
    ),
    lengths_along_columns=lambda v, s: _share(_without_self(_products(v / v.norm(dim=1))), s),
    not_normalised=lambda v, s: _share(_without_self(v @ v.T), s),
    not_normalised_and_itself=lambda v, s: _share(v @ v.T, s),
    mean_subtracted=[
        lambda v, s, dim=dim: _share(_without_self(_cosines(v - v.mean(dim=dim, keepdim=True))), s) for dim in (0, 1)
    ],
    distance=lambda v, s: _share(-_without_self(torch.cdist(v, v), float("inf")), s),
    columns_divided=lambda v, s: _share(_without_self(_products(v / v.norm(dim=0))), s),
    least_similar=(
        lambda v, s: _share(_without_self(_cosines(v), float("inf")), s, torch.Tensor.argmin),
        lambda v, s: _share(
            _without_self(_cosines(v)).masked_fill(torch.eye(len(v), dtype=torch.bool), 2.0), s, torch.Tensor.argmin
        ),
    ),
    other_sense_share=lambda v, s: 1 - _nearest_sense(v, s),
    count=lambda v, s: _nearest_sense(v, s) * len(s),
    percentage=lambda v, s: 100 * _nearest_sense(v, s),
    per_row=lambda v, s: [s[i] == sense for i, sense in zip(_without_self(_cosines(v)).argmax(dim=1), s, strict=True)],
    positions_returned=lambda v, s: _without_self(_cosines(v)).argmax(dim=1),
    senses_returned=lambda v, s: [s[i] for i in _without_self(_cosines(v)).argmax(dim=1)],
    divided_by_n_minus_one=lambda v, s: _nearest_sense(v, s) * len(s) / (len(s) - 1),
    later_rows_only=_among_later,
    sense_means_with_itself=lambda v, s: _by_centre(v, s, leave_out=False),
    sense_means=lambda v, s: _by_centre(v, s, leave_out=True),
)


def _matrices(rng, tokens, hidden):
    """One layer: how much each token takes from every token, and a weight matrix."""
    return normal(rng, tokens, tokens).softmax(dim=-1), 1.5 * normal(rng, hidden, hidden) / hidden**0.5


def _patch_cases(rng):
    tokens, hidden = rng.sample(range(3, 7), 2)

    def drawn(count, layer, position=None):
        layers = [_matrices(rng, tokens, hidden) for _ in range(count)]
        position = rng.randrange(1, tokens - 1) if position is None else position
        return normal(rng, tokens, hidden), layers, layer, position, normal(rng, hidden)

    embeddings, layers, _, _, vector = drawn(3, 1)
    last = tokens - 1
    unread = [(mix.clone(), weight) for mix, weight in layers]
    for mix, _ in unread:
        mix[:last, last] = 0  # no other token takes anything from the last one
    clean = _run(embeddings, layers)
    yield Case("Hidden state 2 of 4 layers", *drawn(4, 2))
    yield Case("Hidden state 1 is the output of the first layer", *drawn(2, 1))
    yield Case("Hidden state 0 is the embedding output", *drawn(2, 0))
    yield Case("The last hidden state", *drawn(2, 2))
    yield Case("The hidden state below the last of 5 layers", *drawn(5, 4))
    yield Case("The first position", *drawn(2, 1, position=0))
    yield Case("The last position", *drawn(2, 1, position=last))
    yield Case("One layer, patched below it", *drawn(1, 0))
    yield Case("One layer, patched above it", *drawn(1, 1))
    yield Case("A token that no other one reads", embeddings, unread, 1, last, vector)
    yield Case("A vector equal to the one that it replaces", embeddings, layers, 2, 1, clean[2][1].clone())


def _layer(state, mix, weight):
    return torch.tanh(mix @ state @ weight)


def _run(embeddings, layers, patch=lambda number, state: state, step=_layer):
    """All hidden states as a list. `patch` gets each one with its number before the next layer reads it."""
    states = [patch(0, embeddings)]
    for number, (mix, weight) in enumerate(layers, start=1):
        states.append(patch(number, step(states[-1], mix, weight)))
    return states


def _with(state, position, vector):
    state = state.clone()
    state[position] = vector
    return state


def _patch_where(chosen, **more):
    """An imitation that patches the hidden states whose number is `chosen`, given the number and `layer`."""

    def imitate(e, layers, layer, position, vector):
        return torch.stack(
            _run(e, layers, lambda n, state: _with(state, position, vector) if chosen(n, layer) else state, **more)
        )

    return imitate


_patched = _patch_where(lambda n, layer: n == layer)


def _patch_by(change, e, layers, layer, position, vector, chosen=lambda n, layer: n == layer):
    """An imitation that changes the hidden state number `layer` in another way."""
    states = _run(e, layers, lambda n, state: change(state, position, vector) if chosen(n, layer) else state)
    return torch.stack(states)


def _patch_after_the_run(e, layers, layer, position, vector):
    states = _run(e, layers)
    states[layer] = _with(states[layer], position, vector)
    return torch.stack(states)


def _patch_not_shown(e, layers, layer, position, vector):
    patch = partial(_patch_by, _with)
    clean, states = torch.stack(_run(e, layers)), patch(e, layers, layer, position, vector)
    states[layer] = clean[layer]
    return states


def _no_tanh_at_the_end(e, layers, layer, position, vector):
    def step(state, mix, weight):
        return mix @ state @ weight if weight is layers[-1][1] else _layer(state, mix, weight)

    return _patch_where(lambda n, layer: n == layer, step=step)(e, layers, layer, position, vector)


PATCH = exercise(
    "03-patch", _patch_cases, _patched, points=2, arguments=("embeddings", "layers", "layer", "position", "vector")
)(
    no_patch=lambda e, ls, k, p, v: torch.stack(_run(e, ls)),
    patched_at_the_end=_patch_after_the_run,
    stored_before_patch=_patch_not_shown,
    one_too_high=_patch_where(lambda n, layer: n == layer + 1),
    one_too_low=_patch_where(lambda n, layer: n == layer - 1),
    never_state_zero=_patch_where(lambda n, layer: n == layer and n > 0),
    never_last_state=lambda e, ls, k, p, v: torch.stack(
        _run(e, ls, lambda n, state: _with(state, p, v) if n == k < len(ls) else state)
    ),
    above_too=_patch_where(lambda n, layer: n >= layer),
    below_too=_patch_where(lambda n, layer: n <= layer),
    every_state=_patch_where(lambda n, layer: True),
    all_tokens=partial(_patch_by, lambda state, p, v: v.expand_as(state)),
    added=partial(_patch_by, lambda state, p, v: _with(state, p, state[p] + v)),
    last_only=lambda *args: _patched(*args)[-1],
    embeddings_missing=lambda *args: _patched(*args)[1:],
    first_matrices=lambda e, layers, layer, position, vector: _patched(
        e, [layers[0]] * len(layers), layer, position, vector
    ),
    no_tanh=_patch_where(lambda n, layer: n == layer, step=lambda state, mix, weight: mix @ state @ weight),
    last_without_tanh=_no_tanh_at_the_end,
    no_mix=_patch_where(lambda n, layer: n == layer, step=lambda state, mix, weight: torch.tanh(state @ weight)),
    transposed=(
        _patch_where(lambda n, layer: n == layer, step=lambda state, mix, weight: torch.tanh(mix.T @ state @ weight)),
        _patch_where(lambda n, layer: n == layer, step=lambda state, mix, weight: torch.tanh(mix @ state @ weight.T)),
    ),
)


def _all_states_cases(rng):
    layers, batch, tokens, hidden = rng.sample(range(2, 8), 4)
    states = tuple(normal(rng, batch, tokens, hidden) for _ in range(layers + 1))
    yield Case("A token inside a sentence", states, rng.randrange(batch), rng.randrange(1, tokens))
    yield Case("The first token of the first sentence", states, 0, 0)
    yield Case("The last token of the last sentence", states, batch - 1, tokens - 1)
    yield Case("The row and the position have the same number", states, 1, 1)


def _token_in_all_states(hidden_states, row, position):
    return torch.stack(hidden_states)[:, row, position]


ALL_STATES = Completion(
    "03-token-in-all-states",
    "One token in all hidden states",
    ("hidden_states", "row", "position"),
    _all_states_cases,
    _token_in_all_states,
    mistakes=(
        Mistake(
            "row_and_position_swapped",
            "You swap `row` and `position`.",
            "A hidden state has the shape (batch, tokens, hidden), so the row comes first: `state[row, position]`.",
            (lambda states, row, position: torch.stack([state[position, row] for state in states]),),
        ),
        Mistake(
            "tuple_indexed",
            "You index `hidden_states` like a tensor, but it is a tuple of tensors.",
            "Loop over it, and index each `state`.",
            (lambda states, row, position: states[:, row, position],),
        ),
        Mistake(
            "row_forgotten",
            "You always take the first sentence.",
            "Select the sentence with `row`.",
            (lambda states, row, position: torch.stack([state[0, position] for state in states]),),
        ),
        Mistake(
            "embeddings_skipped",
            "Hidden state 0 is missing.",
            "Start with the first item of `hidden_states`, the output of the embeddings.",
            (lambda states, row, position: torch.stack([state[row, position] for state in states[1:]]),),
        ),
        Mistake(
            "last_state_lost",
            "The last hidden state is missing.",
            "There is one more hidden state than there are layers. Loop over all items of `hidden_states`.",
            (lambda states, row, position: torch.stack([state[row, position] for state in states[:-1]]),),
        ),
    ),
)


def _gap_cases(rng):
    one, two, three = rng.sample(["river", "money", "bird", "machine", "season"], 3)
    senses = [one, one, two, two, one, two]
    rng.shuffle(senses)
    yield Case("Three rows of each sense", _cosines(normal(rng, 6, 4)), senses)
    yield Case("Unequal numbers of rows", _cosines(normal(rng, 5, 3)), [one, one, two, one, two])
    yield Case("Three senses", _cosines(normal(rng, 7, 4)), [one, two, three, two, one, three, three])
    yield Case(
        "Rows of a sense are alike, and the diagonal does not count", _cosines(_pairs(rng, 2)), [one, one, two, two]
    )
    yield Case("Negative cosines", _cosines(_in_a_plane(rng, 0, 130, 240)), [one, two, two])


def _gap_from_table(cosines, senses):
    within, between = [], []
    for i, row in enumerate(cosines.tolist()):
        for j, cosine in enumerate(row):
            if i != j:
                (within if senses[i] == senses[j] else between).append(cosine)
    return sum(within) / len(within) - sum(between) / len(between)


GAP_FROM_TABLE = Completion(
    "03-gap-from-table", "The gap from a table of cosines", ("cosines", "senses"), _gap_cases, _gap_from_table
)


def _overtaken_cases(rng):
    def columns(words, lead):
        second = np.array([rng.randint(4, 10) for _ in range(words)]) / 16  # exact sums, so no lead is 0 by rounding
        return second + np.array(lead) / 16, second, np.array([rng.choices(range(words), k=words) for _ in range(50)])

    yield Case("The first is ahead, mostly by a few words", *columns(6, [5, -1, 4, -2, 0, -1]))
    yield Case("The second is ahead", *columns(5, [-1, -2, 1, 0, -3]))
    yield Case("Two equal columns", *columns(7, [0] * 7))
    yield Case("One word decides", *columns(8, [-6, 1, 1, 1, 1, 1, 1, 1]))


def _overtaken(first, second, draws):
    leads = [sum(first[word] - second[word] for word in draw) for draw in draws.tolist()]
    return sum(lead < 0 for lead in leads) / len(leads)


OVERTAKEN = Completion(
    "03-overtaken",
    "The second layer ahead",
    ("first", "second", "draws"),
    _overtaken_cases,
    _overtaken,
    mistakes=(
        Mistake(
            "subtracted_the_other_way",
            "You subtract `first` from `second`.",
            "The lead of `first` over `second` is `first - second`.",
            (lambda first, second, draws: _overtaken(second, first, draws),),
        ),
        Mistake(
            "draws_left_out",
            "You do not use `draws`.",
            "Index the differences with `draws`, and take the mean of each draw.",
            (lambda first, second, draws: (first < second).mean(),),
        ),
        Mistake(
            "not_one_value_for_each_draw",
            "Your `leads` does not contain one mean for each draw.",
            "Each row of `draws` is one draw, so take the mean with `axis=1`.",
            (
                lambda first, second, draws: float((first - second)[draws].mean() < 0),
                lambda first, second, draws: ((first - second)[draws].mean(axis=0) < 0).mean(),
                lambda first, second, draws: ((first - second)[draws] < 0).mean(),
            ),
        ),
    ),
)
