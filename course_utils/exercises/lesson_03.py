"""Exercises of lesson 03, contextual vectors."""

import math

import torch

from ..pooling import normalise
from .framework import Case, Exercise, Mistake, normal


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
    return [
        *(
            Case("A word of several pieces gets the mean of their vectors", (states, word_ids, word))
            for word in several
        ),
        *(Case("A word of one piece gets that piece's vector", (states, word_ids, word)) for word in single),
        Case("Special tokens and padding belong to no word", (padded, word_ids + [None] * 3, several[-1])),
        Case("Words are counted from 0", (states[[0, 1, 2, 3, 4]], [None, 0, 0, 1, None], 0)),
        Case("As many tokens as dimensions", (normal(rng, hidden, hidden), small, 1)),
    ]


def _pieces(word_ids, index):
    return [position for position, word in enumerate(word_ids) if word == index]


def _word_vector(h, w, i):
    return h[_pieces(w, i)].mean(dim=0)


def _total(rows):
    """The mean of the rows, computed with Python's sum, which is 0 if there are no rows."""
    rows = list(rows)
    return sum(rows) / len(rows)


WORD_0_IS_FALSY = (
    "Word number 0 gets lost: 0 counts as false in `if word`. Ask for `word is not None`, or compare with `index` only."
)
LAST_PIECE_LOST = (
    "The word's last piece gets lost: a slice ends *before* its second number. Add 1 to the position of the last "
    "piece, or index with the list of positions."
)

WORD_VECTOR = Exercise(
    id="03-word-vector",
    title="The vector of a word",
    arguments=("hidden_states", "word_ids", "index"),
    cases=_word_cases,
    reference=_word_vector,
    minutes=10,
    difficulty=1,
    mistakes=(
        Mistake(
            "You take the token at position `index`. That is a position among tokens; `index` counts words. [CLS] "
            "and the pieces of earlier words stand before it: look the word up in `word_ids`.",
            lambda h, w, i: h[i],
        ),
        Mistake(
            "You add 1 for [CLS], but earlier words may have several pieces, too. Look the word up in `word_ids`.",
            lambda h, w, i: h[i + 1],
        ),
        Mistake(
            "You take the first piece only. Take the mean over all pieces of the word.", lambda h, w, i: h[w.index(i)]
        ),
        Mistake(
            "You take the last piece only. Take the mean over all pieces of the word.",
            lambda h, w, i: h[_pieces(w, i)[-1]],
        ),
        Mistake(
            "You add the pieces up but do not divide: this is the sum, not the mean.",
            lambda h, w, i: h[_pieces(w, i)].sum(dim=0),
        ),
        Mistake(
            "You add up the word's pieces but divide by the number of all tokens. Divide by the number of its pieces.",
            lambda h, w, i: h[_pieces(w, i)].sum(dim=0) / len(w),
        ),
        Mistake(
            "You add up the word's pieces but divide by the number of tokens that belong to any word. Divide by the "
            "number of its own pieces.",
            lambda h, w, i: h[_pieces(w, i)].sum(dim=0) / sum(x is not None for x in w),
        ),
        Mistake(
            "You take the largest value of each dimension. The mean over the pieces is asked for.",
            lambda h, w, i: h[_pieces(w, i)].amax(dim=0),
        ),
        Mistake(
            "You return the vectors of the pieces. Take their mean, over `dim=0`, so that one vector of shape "
            "(hidden,) is left.",
            lambda h, w, i: h[_pieces(w, i)],
        ),
        Mistake(
            "The right numbers in the wrong shape: (1, hidden). Drop the first dimension; one vector has the shape "
            "(hidden,).",
            lambda h, w, i: h[_pieces(w, i)].mean(dim=0, keepdim=True),
        ),
        Mistake(
            "You average over the numbers inside each vector. Pieces are dimension 0: use `dim=0`.",
            lambda h, w, i: h[_pieces(w, i)].mean(dim=1),
        ),
        Mistake(
            "You average everything into one number. Say over which dimension: `mean(dim=0)`.",
            lambda h, w, i: h[_pieces(w, i)].mean(),
        ),
        Mistake(
            "You average over all tokens. Only the pieces of the word with the number `index` count.",
            lambda h, w, i: h.mean(dim=0),
        ),
        Mistake(
            "You average over all words. Only the pieces of the word with the number `index` count.",
            lambda h, w, i: h[[x is not None for x in w]].mean(dim=0),
        ),
        Mistake(
            "You average all the *other* words. Keep the positions where `word_ids` equals `index`.",
            lambda h, w, i: h[[x is not None and x != i for x in w]].mean(dim=0),
        ),
        Mistake(
            "`word_ids == index` compares the list as a whole with a number, which is never true. Compare item by "
            "item: `[word == index for word in word_ids]`.",
            lambda h, w, i: h[w == i].mean(dim=0),
        ),
        Mistake(WORD_0_IS_FALSY, lambda h, w, i: h[[p for p, x in enumerate(w) if x and x == i]].mean(dim=0)),
        Mistake(
            WORD_0_IS_FALSY, lambda h, w, i: torch.stack([h[p] for p, x in enumerate(w) if x and x == i]).mean(dim=0)
        ),
        Mistake(WORD_0_IS_FALSY, lambda h, w, i: _total(h[p] for p, x in enumerate(w) if x and x == i)),
        Mistake(LAST_PIECE_LOST, lambda h, w, i: h[_pieces(w, i)[0] : _pieces(w, i)[-1]].mean(dim=0)),
        Mistake(LAST_PIECE_LOST, lambda h, w, i: torch.stack([h[p] for p in _pieces(w, i)[:-1]]).mean(dim=0)),
        Mistake(
            "You treat special tokens as word 0: `None` is not 0. Compare `word == index` without changing `None`.",
            lambda h, w, i: h[[p for p, x in enumerate(w) if (x or 0) == i]].mean(dim=0),
        ),
        Mistake(
            "You count words from 1. `word_ids` counts from 0: the first word has the number 0.",
            lambda h, w, i: _word_vector(h, w, i - 1),
        ),
        Mistake(
            "You take the word after the one asked for. `word_ids` and `index` both count words from 0: no 1 is "
            "needed.",
            lambda h, w, i: _word_vector(h, w, i + 1),
        ),
        Mistake(
            "The positions are off by one: you skip [CLS] when you count but not when you look up. `word_ids` has "
            "an entry for [CLS] already.",
            lambda h, w, i: h[1:][_pieces(w[:-1], i)].mean(dim=0),
        ),
        Mistake(
            "The positions are off by one: you drop `None` from `word_ids`, so every position moves.",
            lambda h, w, i: h[_pieces([x for x in w if x is not None], i)].mean(dim=0),
        ),
    ),
    hints=(
        "`word_ids` is as long as the sentence has tokens. At which positions does it say `index`? There may be "
        "several, always side by side.",
        "Collect the positions with `enumerate`, then index the tensor with that list: `hidden_states[positions]` "
        "has the shape (pieces, hidden).",
        "The mean of those rows over `dim=0` is the answer.",
    ),
)


def _cosines(v):
    unit = normalise(v)
    return unit @ unit.T


def _products(unit):
    return unit @ unit.T


COPIES_LOST = (
    "You leave out cells by their value. A row that stands there twice also has the cosine 1 with its copy, and that "
    "is a pair like any other. Choose the diagonal by its place: `torch.eye(n, dtype=torch.bool)`."
)
WRONG_DIMENSION = (
    "You divide each *column* by its length. Divide each row by its own length: `norm(dim=1, keepdim=True)`."
)
NO_KEEPDIM = (
    "`norm(dim=1)` has the shape (n,), and PyTorch lays it along the columns, so it fits only by accident. Keep the "
    "dimension: `norm(dim=1, keepdim=True)`, of shape (n, 1)."
)


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
    return [
        Case("Six of ten rows have a nearest row of their own sense", (mixed[order], [senses[i] for i in order])),
        Case(
            "Similarity is the cosine: the lengths of the vectors do not matter",
            (
                _pairs(rng, 4, common=0.6, lengths=(0.1, 10, 1, 1, 0.1, 10, 0.1, 10)),
                [f"sense {i // 2}" for i in range(8)],
            ),
        ),
        Case(
            "A row is never its own neighbour, even when all cosines are negative",
            (_in_a_plane(rng, 0, 100, 245), [one, two, one]),
        ),
        Case(
            "The nearest row decides, not the average of a sense",
            (_in_a_plane(rng, 0, 20, 180, 190, 70, 75, 80), [one] * 4 + [two] * 3),
        ),
        Case("Three senses", (mixed, lonely)),
        Case(
            "A row that stands there twice is nearest to its copy",
            (_in_a_plane(rng, 0, 10, 100, 110)[[0, 0, 1, 2, 2, 3]], [one, one, two, two, two, one]),
        ),
        Case(
            "Two equal rows of different senses are each other's nearest",
            (_along_axes(rng, 2, 2, 3, 3, 5, 5), ["river", "money", "money", "river", "bird", "bird"]),
        ),
        Case(
            "The most similar row decides, by however little",
            (_turned(rng, _unit_rows(0, 30, -29.998, 180, 209.998, 150)), [one, two, one, two, two, one]),
        ),
        Case(
            "The cosine is that of the rows as they are, without a mean subtracted",
            (_far_from_0(rng), [one, one, two, two]),
        ),
        Case("Opposite rows are the least similar ones", (_in_a_plane(rng, 0, 60, 175), [one, one, two])),
        Case(
            "Of negative cosines, the one closest to 0 is the largest", (_in_a_plane(rng, 245, 100, 0), [one, two, two])
        ),
        Case("The only other row is the nearest, even at the cosine −1", (_opposite(rng), [one, two])),
        Case("Two rows of one sense give 1", (_pairs(rng, 1), [one, one])),
    ]


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


STARTS_AT_0 = (
    "Your largest cosine so far starts at 0, but all cosines of a row can be negative, and then no row beats it. "
    "Start from minus infinity."
)

FROM_MINUS_1 = (
    "You set a row's cosine with itself to −1, but another row's cosine can be −1, too, and then the row finds itself. "
    "Use minus infinity."
)
SECOND = (
    "You take the second largest cosine of each row. If two rows are equal, both their cosines are 1, and the second "
    "may be the row itself. Leave the row out by its position."
)

NEAREST_SENSE = Exercise(
    id="03-nearest-sense",
    title="The nearest neighbour's sense",
    arguments=("vectors", "senses"),
    cases=_nearest_cases,
    reference=_nearest_sense,
    minutes=15,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(COPIES_LOST, lambda v, s: _share((c := _cosines(v)).masked_fill(c > 0.9999, float("-inf")), s)),
        Mistake(
            "Every row finds itself: its cosine with itself is 1, so your share is always 1. Take the diagonal out "
            "before you look for the largest.",
            lambda v, s: _share(_cosines(v), s),
        ),
        Mistake(
            "You set the diagonal to 0, but cosines can be negative, and then 0 is the largest and the row finds "
            "itself. Use minus infinity.",
            lambda v, s: _share(_without_self(_cosines(v), 0.0), s),
        ),
        Mistake(
            "You take the cosine that is furthest from 0, whatever its sign. A cosine near −1 means opposite rows. "
            "Take the largest.",
            lambda v, s: _share(_without_self(_cosines(v).abs(), -1.0), s),
        ),
        Mistake(FROM_MINUS_1, lambda v, s: _share(_without_self(_cosines(v), -1.0), s)),
        Mistake(SECOND, lambda v, s: _share(_cosines(v), s, lambda row: row.topk(2).indices[1])),
        Mistake(SECOND, lambda v, s: _share(_cosines(v), s, lambda row: row.argsort()[-2])),
        Mistake(SECOND, lambda v, s: _share(_cosines(v), s, lambda row: row.argsort(descending=True)[1])),
        Mistake(STARTS_AT_0, lambda v, s: _running_maximum(v, s, lambda senses: None)),
        Mistake(STARTS_AT_0, lambda v, s: _running_maximum(v, s, lambda senses: senses[0])),
        Mistake(STARTS_AT_0, lambda v, s: _running_maximum(v, s, lambda senses: senses[None])),
        Mistake(
            "`senses` is a list, and a list takes one position at a time, not a tensor of many. Go through them: "
            "`for n in nearest.tolist()`, then `senses[n]`.",
            lambda v, s: s[_cosines(v).argmax(dim=1)],
        ),
        Mistake(NO_KEEPDIM, lambda v, s: _share(_without_self(_products(v / v.norm(dim=1))), s)),
        Mistake(
            "The vectors are not normalised row by row, so long rows are preferred. Divide each row by its "
            "own length first.",
            lambda v, s: _share(_without_self(v @ v.T), s),
        ),
        Mistake(
            "The vectors are not normalised, and a row can find itself. Divide each row by its length, and take the "
            "diagonal out.",
            lambda v, s: _share(v @ v.T, s),
        ),
        *(
            Mistake(
                "You subtract a mean before you compare (`corrcoef` does, too). The cosine takes the rows as they are.",
                lambda v, s, dim=dim: _share(_without_self(_cosines(v - v.mean(dim=dim, keepdim=True))), s),
            )
            for dim in (0, 1)
        ),
        Mistake(
            "You look for the smallest distance between rows as they are, so short rows attract each other. Use the "
            "cosine.",
            lambda v, s: _share(-_without_self(torch.cdist(v, v), float("inf")), s),
        ),
        Mistake(WRONG_DIMENSION, lambda v, s: _share(_without_self(_products(v / v.norm(dim=0))), s)),
        Mistake(
            "You take the *least* similar row. The most similar one is asked for: `argmax`.",
            lambda v, s: _share(_without_self(_cosines(v), float("inf")), s, torch.Tensor.argmin),
        ),
        Mistake(
            "You take the *least* similar row. The most similar one is asked for: `argmax`.",
            lambda v, s: _share(
                _without_self(_cosines(v)).masked_fill(torch.eye(len(v), dtype=torch.bool), 2.0), s, torch.Tensor.argmin
            ),
        ),
        Mistake(
            "You return the share of rows whose nearest row has *another* sense. Subtract it from 1.",
            lambda v, s: 1 - _nearest_sense(v, s),
        ),
        Mistake(
            "You return how many rows are right. Divide by the number of rows for the share.",
            lambda v, s: _nearest_sense(v, s) * len(s),
        ),
        Mistake("You return a percentage. The share is a number from 0 to 1.", lambda v, s: 100 * _nearest_sense(v, s)),
        Mistake(
            "You return one true or false per row. Return their mean, one number.",
            lambda v, s: [s[i] == sense for i, sense in zip(_without_self(_cosines(v)).argmax(dim=1), s, strict=True)],
        ),
        Mistake(
            "You return the positions of the nearest rows. Compare their senses with those of the rows, and return "
            "the share that agrees.",
            lambda v, s: _without_self(_cosines(v)).argmax(dim=1),
        ),
        Mistake(
            "You return the senses of the nearest rows. Compare them with those of the rows, and return the share "
            "that agrees.",
            lambda v, s: [s[i] for i in _without_self(_cosines(v)).argmax(dim=1)],
        ),
        Mistake(
            "You divide by n − 1. Every one of the n rows has a nearest row, so n rows are judged.",
            lambda v, s: _nearest_sense(v, s) * len(s) / (len(s) - 1),
        ),
        Mistake("You compare each row only with the rows after it. All other rows are candidates.", _among_later),
        Mistake(
            "You compare with the mean vector of each sense, and the row itself is in one of these means. Compare "
            "row with row.",
            lambda v, s: _by_centre(v, s, leave_out=False),
        ),
        Mistake(
            "You compare with the mean vector of each sense. Compare row with row: the one most similar other row "
            "decides.",
            lambda v, s: _by_centre(v, s, leave_out=True),
        ),
    ),
    hints=(
        "Divide each row by its length: then `unit @ unit.T` is the table of all cosines. In row i, the largest cell "
        "is that of the nearest row. Which cell must not win?",
        "`masked_fill(torch.eye(n, dtype=torch.bool), float('-inf'))` returns a copy whose diagonal never wins. "
        "`argmax(dim=1)` then gives one position per row.",
        "Count the rows for which `senses[nearest[i]] == senses[i]`, and divide by the number of rows.",
    ),
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
    return [
        Case("Hidden state 2 of 4 layers", drawn(4, 2)),
        Case("Hidden state 1 is the output of the first layer", drawn(2, 1)),
        Case("Hidden state 0 is the embedding output", drawn(2, 0)),
        Case("The last hidden state", drawn(2, 2)),
        Case("The hidden state below the last of 5 layers", drawn(5, 4)),
        Case("The first position", drawn(2, 1, position=0)),
        Case("The last position", drawn(2, 1, position=last)),
        Case("One layer, patched below it", drawn(1, 0)),
        Case("One layer, patched above it", drawn(1, 1)),
        Case("A token that no other one reads", (embeddings, unread, 1, last, vector)),
        Case("A vector equal to the one that it replaces", (embeddings, layers, 2, 1, clean[2][1].clone())),
    ]


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


def _patch_by(change, chosen=lambda n, layer: n == layer):
    """An imitation that changes the hidden state number `layer` in another way."""

    def imitate(e, layers, layer, position, vector):
        states = _run(e, layers, lambda n, state: change(state, position, vector) if chosen(n, layer) else state)
        return torch.stack(states)

    return imitate


def _patch_after_the_run(e, layers, layer, position, vector):
    states = _run(e, layers)
    states[layer] = _with(states[layer], position, vector)
    return torch.stack(states)


def _patch_not_shown(e, layers, layer, position, vector):
    patch = _patch_by(_with)
    clean, states = torch.stack(_run(e, layers)), patch(e, layers, layer, position, vector)
    states[layer] = clean[layer]
    return states


def _first_matrices(e, layers, layer, position, vector):
    return _patched(e, [layers[0]] * len(layers), layer, position, vector)


def _no_tanh_at_the_end(e, layers, layer, position, vector):
    def step(state, mix, weight):
        return mix @ state @ weight if weight is layers[-1][1] else _layer(state, mix, weight)

    return _patch_where(lambda n, layer: n == layer, step=step)(e, layers, layer, position, vector)


NOT_READ = (
    "You replace the vector only after all layers have run, so no layer reads it. Replace it in the loop, before the "
    "next layer is computed."
)

PATCH = Exercise(
    id="03-patch",
    title="Change one vector and run on",
    arguments=("embeddings", "layers", "layer", "position", "vector"),
    cases=_patch_cases,
    reference=_patched,
    minutes=20,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You return the hidden states of a run without any patch. Replace the vector at `position` in hidden state "
            "`layer`.",
            lambda e, ls, k, p, v: torch.stack(_run(e, ls)),
        ),
        Mistake(NOT_READ, _patch_after_the_run),
        Mistake(
            "The hidden state `layer` that you return is the one without the patch. Replace the vector before you "
            "store the hidden state, also in the last one, which no layer reads.",
            _patch_not_shown,
        ),
        Mistake(
            "You patch one hidden state too high: hidden state 0 is `embeddings`, hidden state 1 is what the first "
            "layer returns.",
            _patch_where(lambda n, layer: n == layer + 1),
        ),
        Mistake(
            "You patch one hidden state too low: hidden state `layer` is the *output* of layer `layer`, not its input.",
            _patch_where(lambda n, layer: n == layer - 1),
        ),
        Mistake(
            "Hidden state 0 is never patched. With `layer` = 0, replace the vector in (a copy of) `embeddings`, before "
            "the first layer.",
            _patch_where(lambda n, layer: n == layer and n > 0),
        ),
        Mistake(
            "The last hidden state is never patched: `layer` may be `len(layers)`.",
            lambda e, ls, k, p, v: torch.stack(
                _run(e, ls, lambda n, state: _with(state, p, v) if n == k < len(ls) else state)
            ),
        ),
        Mistake(
            "You replace the vector in hidden state `layer` and in each one above it. Replace it once, and let the "
            "layers above compute theirs.",
            _patch_where(lambda n, layer: n >= layer),
        ),
        Mistake(
            "You replace the vector in hidden states below `layer`, too. These stay what they are without the patch.",
            _patch_where(lambda n, layer: n <= layer),
        ),
        Mistake(
            "You replace the vector in every hidden state. Only hidden state `layer` is patched.",
            _patch_where(lambda n, layer: True),
        ),
        Mistake(
            "You replace the vectors of all tokens. Only the one at `position` is replaced.",
            _patch_by(lambda state, p, v: v.expand_as(state)),
        ),
        Mistake(
            "You add `vector` to the vector at `position`. It takes its place.",
            _patch_by(lambda state, p, v: _with(state, p, state[p] + v)),
        ),
        Mistake(
            "You return the last hidden state only. Collect all of them and stack them.",
            lambda *args: _patched(*args)[-1],
        ),
        Mistake(
            "Hidden state 0 is missing from what you return. The list begins with the embeddings.",
            lambda *args: _patched(*args)[1:],
        ),
        Mistake("Every layer uses the matrices of the first one. Take each layer's own pair.", _first_matrices),
        Mistake(
            "The layers compute without `torch.tanh`.",
            _patch_where(lambda n, layer: n == layer, step=lambda state, mix, weight: mix @ state @ weight),
        ),
        Mistake("The last layer computes without `torch.tanh`. All layers are of the same kind.", _no_tanh_at_the_end),
        Mistake(
            "Your layers leave `mix` out, so that no token reads another one: `torch.tanh(mix @ state @ weight)`.",
            _patch_where(lambda n, layer: n == layer, step=lambda state, mix, weight: torch.tanh(state @ weight)),
        ),
        Mistake(
            "Your layers use `mix` or `weight` transposed: `torch.tanh(mix @ state @ weight)`.",
            _patch_where(
                lambda n, layer: n == layer, step=lambda state, mix, weight: torch.tanh(mix.T @ state @ weight)
            ),
        ),
        Mistake(
            "Your layers use `mix` or `weight` transposed: `torch.tanh(mix @ state @ weight)`.",
            _patch_where(
                lambda n, layer: n == layer, step=lambda state, mix, weight: torch.tanh(mix @ state @ weight.T)
            ),
        ),
    ),
    hints=(
        "First write the run without a patch: `state = embeddings`, and a loop over the pairs in `layers` that "
        "computes the next `state`. Collect every state, the first one included.",
        "A state has its number before the next layer reads it: `embeddings` is number 0, and after the pair "
        "`layers[k - 1]` comes number k. There, ask whether the number is `layer`.",
        "`state = state.clone()` and then `state[position] = vector` change a copy. Do it before the state is "
        "collected and before the next layer.",
    ),
)

EXERCISES = (WORD_VECTOR, NEAREST_SENSE, PATCH)
