"""Exercises of lesson 03, contextual vectors."""

import math
from itertools import combinations

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
    strict=True,
    title="The vector of a word",
    arguments=("hidden_states", "word_ids", "index"),
    cases=_word_cases,
    reference=_word_vector,
    minutes=8,
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


def _gap_cases(rng):
    hidden = rng.randint(6, 9)
    names = rng.sample(["river", "money", "bird", "machine", "coil", "season"], 4)

    def drawn(counts):
        senses = [name for name, count in zip(names, counts, strict=False) for _ in range(count)]
        rng.shuffle(senses)
        centre = {name: normal(rng, hidden) for name in names}
        return torch.stack([centre[name] + normal(rng, hidden) + 1 for name in senses]), senses

    some, senses = drawn((4, 4))
    order = [3, 0, 5, 1, 7, 2, 6, 4]
    lengths = torch.tensor([0.2, 9, 1, 0.5, 6, 3, 0.1, 20]).unsqueeze(-1)
    return [
        Case("Two senses with as many sentences each", (some, senses)),
        Case("Two senses, one with more sentences than the other: all pairs count alike", drawn((3, 6))),
        Case("The lengths of the vectors do not matter", (some * lengths, senses)),
        Case("Rows in another order give the same number", (some[order], [senses[i] for i in order])),
        Case("Three senses", drawn((2, 3, 4))),
        Case("A sense with a single sentence has no pair within it, and still counts between", drawn((1, 4))),
        Case("Three rows", drawn((2, 1))),
        Case("Two equal rows are a pair like any other", (torch.cat([some, some[:1]]), [*senses, senses[0]])),
    ]


def _split(c, senses):
    """The cosines within and between senses from a table (n, n); each pair of different rows counts once."""
    pairs = list(combinations(range(len(senses)), 2))
    return (
        torch.stack([c[i, j] for i, j in pairs if senses[i] == senses[j]]),
        torch.stack([c[i, j] for i, j in pairs if senses[i] != senses[j]]),
    )


def _within_between(v, senses):
    within, between = _split(_cosines(v), senses)
    return within.mean().item(), between.mean().item()


def _sense_gap(v, senses):
    within, between = _within_between(v, senses)
    return within - between


def _with_diagonal(v, senses):
    same = _same(senses)
    c = _cosines(v)
    return (c[same].mean() - c[~same].mean()).item()


def _same(senses):
    return torch.tensor([[one == other for other in senses] for one in senses])


def _gap_by_sense(v, senses, of_nothing=None):
    """Average within each sense first, then over the senses.

    A sense without pairs counts as `of_nothing`, or is left out ("skip").
    """
    c, means = _cosines(v), []
    for kind in sorted(set(senses)):
        values = [c[i, j].item() for i, j in combinations(range(len(senses)), 2) if senses[i] == senses[j] == kind]
        if values or of_nothing is None:
            means.append(sum(values) / len(values))
        elif of_nothing != "skip":
            means.append(of_nothing)
    return sum(means) / len(means) - _within_between(v, senses)[1]


def _gap_by_block(v, senses):
    """Average each sense's block of the table, including the diagonal, then average over the blocks."""
    c, blocks = _cosines(v), [[name == kind for name in senses] for kind in sorted(set(senses))]
    return (torch.stack([c[block][:, block].mean() for block in blocks]).mean() - c[~_same(senses)].mean()).item()


def _gap_from(c, senses):
    """The mean within senses minus the mean between senses, from a table (n, n) that may be wrong."""
    within, between = _split(c, senses)
    return (within.mean() - between.mean()).item()


def _products(unit):
    return unit @ unit.T


def _gap_of_cells(v, senses, keep, keep_not):
    """The mean cosine over `keep` minus that over `keep_not`.

    Each of the two selects cells, given the table of cosines, the mask of same-sense pairs and the mask of the
    diagonal.
    """
    c, same = _cosines(v), _same(senses)
    itself = torch.eye(len(senses), dtype=torch.bool)
    return (c[keep(c, same, itself)].mean() - c[keep_not(c, same, itself)].mean()).item()


def _gap_of_centres(v, senses):
    """1 minus the mean cosine between the mean vectors of the senses."""
    centres = torch.stack([v[[name == kind for name in senses]].mean(dim=0) for kind in sorted(set(senses))])
    c = _cosines(centres)
    return (1 - c[~torch.eye(len(c), dtype=torch.bool)].mean()).item()


def _gap_of_neighbours(v, senses):
    c = _cosines(v).diagonal(1).tolist()
    within = [x for x, one, other in zip(c, senses, senses[1:], strict=False) if one == other]
    between = [x for x, one, other in zip(c, senses, senses[1:], strict=False) if one != other]
    return sum(within) / len(within) - sum(between) / len(between)


def _gap_to_all(v, senses):
    c, n = _cosines(v), len(senses)
    return _within_between(v, senses)[0] - ((c.sum() - n) / (n * (n - 1))).item()


def _gap_divided_by_all(v, senses):
    within, between = _split(_cosines(v), senses)
    return ((within.sum() - between.sum()) / (len(within) + len(between))).item()


def _gap_divided_by_cells(v, senses):
    within, between = _split(_cosines(v), senses)
    return (2 * (within.sum() - between.sum()) / len(senses) ** 2).item()


def _gap_of_sums(v, senses):
    within, between = _split(_cosines(v), senses)
    return (within.sum() - between.sum()).item()


def _diagonal_in_the_count(v, senses):
    within, between = _split(_cosines(v), senses)
    return (within.sum() * 2 / _same(senses).sum() - between.mean()).item()


MEAN_OF_MEANS = (
    "You take the mean of each sense first and then the mean of those. Here all pairs count alike: put the pairs of "
    "all senses together."
)
DIAGONAL_BY_VALUE = (
    "You look for the diagonal by its value, but after rounding, a row's cosine with itself may be a little less or "
    "more than 1. Choose the diagonal by its place: `torch.eye(n, dtype=torch.bool)`."
)
COPIES_LOST = (
    "You leave out cells by their value. A row that stands there twice also has the cosine 1 with its copy, and that "
    "is a pair like any other. Choose the diagonal by its place: `torch.eye(n, dtype=torch.bool)`."
)
WHOLE_LISTS = (
    "One of your two means is taken over the wrong cells, or over none at all. `senses == senses` compares two lists "
    "as a whole. Compare item by item: `[[one == other for other in senses] for one in senses]`."
)
WRONG_DIMENSION = (
    "You divide each *column* by its length. Divide each row by its own length: `norm(dim=1, keepdim=True)`."
)
NO_KEEPDIM = (
    "`norm(dim=1)` has the shape (n,), and PyTorch lays it along the columns, so it fits only by accident. Keep the "
    "dimension: `norm(dim=1, keepdim=True)`, of shape (n, 1)."
)
WHOLE_LENGTH = "You divide by the length of the whole matrix. Each row has its own length: `norm(dim=1, keepdim=True)`."

SENSE_GAP = Exercise(
    id="03-sense-gap",
    title="The sense gap",
    arguments=("vectors", "senses"),
    cases=_gap_cases,
    reference=_sense_gap,
    minutes=12,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "Each row's similarity to itself, always 1, is in your mean within senses. Leave the diagonal out.",
            _with_diagonal,
        ),
        Mistake(
            "Each row's cosine with itself is in your mean *between*: `~within` turns the diagonal on again. Use "
            "`~same`.",
            lambda v, s: _gap_of_cells(
                v, s, lambda c, same, itself: same & ~itself, lambda c, same, itself: ~(same & ~itself)
            ),
        ),
        Mistake(
            COPIES_LOST,
            lambda v, s: _gap_of_cells(
                v, s, lambda c, same, itself: same & (c < 0.9999), lambda c, same, itself: ~same
            ),
        ),
        Mistake(
            DIAGONAL_BY_VALUE,
            lambda v, s: _gap_of_cells(v, s, lambda c, same, itself: same & (c < 1), lambda c, same, itself: ~same),
        ),
        Mistake(
            DIAGONAL_BY_VALUE,
            lambda v, s: _gap_of_cells(v, s, lambda c, same, itself: same & (c != 1), lambda c, same, itself: ~same),
        ),
        Mistake(WHOLE_LISTS, lambda v, s: float("nan")),
        Mistake(
            WHOLE_LISTS,
            lambda v, s: (_cosines(v)[~torch.eye(len(s), dtype=torch.bool)].mean() - _cosines(v)[-2].mean()).item(),
        ),
        Mistake(WRONG_DIMENSION, lambda v, s: _gap_from(_products(v / v.norm(dim=0)), s)),
        Mistake(NO_KEEPDIM, lambda v, s: _gap_from(_products(v / v.norm(dim=1)), s)),
        Mistake(WHOLE_LENGTH, lambda v, s: _gap_from(_products(v / v.norm()), s)),
        Mistake(
            "You take the diagonal out of the sum within senses but still count its n cells when you divide.",
            _diagonal_in_the_count,
        ),
        Mistake(
            "The vectors are not normalised, so your products mix direction and length. Divide each row by its "
            "length first.",
            lambda v, s: _gap_from(v @ v.T, s),
        ),
        Mistake(
            "The vectors are not normalised, and each row's product with itself is in your mean too.",
            lambda v, s: ((v @ v.T)[_same(s)].mean() - (v @ v.T)[~_same(s)].mean()).item(),
        ),
        Mistake(
            "The sign is turned round: you subtract *within* from *between*. Within minus between is asked for.",
            lambda v, s: -_sense_gap(v, s),
        ),
        Mistake(
            "The sign is turned round, and each row's similarity to itself is in your mean within senses.",
            lambda v, s: -_with_diagonal(v, s),
        ),
        Mistake(
            "You return the mean within senses only. Subtract the mean over pairs of different senses.",
            lambda v, s: _within_between(v, s)[0],
        ),
        Mistake(
            "You return the mean between senses only. The mean within senses minus this one is asked for.",
            lambda v, s: _within_between(v, s)[1],
        ),
        Mistake(
            "You return the two means. Return one number: within minus between.", lambda v, s: _within_between(v, s)
        ),
        Mistake(MEAN_OF_MEANS, _gap_by_sense),
        Mistake(MEAN_OF_MEANS, lambda v, s: _gap_by_sense(v, s, of_nothing=float("nan"))),
        Mistake(MEAN_OF_MEANS, lambda v, s: _gap_by_sense(v, s, of_nothing=0.0)),
        Mistake(MEAN_OF_MEANS, lambda v, s: _gap_by_sense(v, s, of_nothing="skip")),
        Mistake(MEAN_OF_MEANS + " And leave each row's cosine with itself out.", _gap_by_block),
        Mistake(
            "You compare the mean vectors of the senses. Compare sentences with sentences, pair by pair.",
            _gap_of_centres,
        ),
        Mistake(
            "You use distances, which are small for similar rows. Use cosines.",
            lambda v, s: _gap_from(torch.cdist(v, v), s),
        ),
        Mistake(
            "You compare only neighbours, row i with row i + 1. Every pair of different rows counts.",
            _gap_of_neighbours,
        ),
        Mistake(
            "You subtract the mean over *all* pairs. Subtract the mean over pairs of *different* senses.", _gap_to_all
        ),
        Mistake(
            "You divide both sums by the number of all pairs. Each mean has its own number of pairs.",
            _gap_divided_by_all,
        ),
        Mistake("You divide both sums by n × n. Each mean has its own number of pairs.", _gap_divided_by_cells),
        Mistake("You subtract sums. Divide each by its own number of pairs first.", _gap_of_sums),
        Mistake(
            "You divide one mean by the other. The difference is asked for.",
            lambda v, s: _within_between(v, s)[0] / _within_between(v, s)[1],
        ),
    ),
    hints=(
        "Normalise the rows; then `unit @ unit.T` is the table of all cosines. Each of its cells belongs to one of "
        "three kinds: a row with itself, two rows of one sense, two rows of different senses.",
        "A second table says which cells are which: `same = torch.tensor([[a == b for b in senses] for a in "
        "senses])`. A tensor indexed with a table of true and false gives the chosen cells.",
        "`same & ~torch.eye(n, dtype=torch.bool)` leaves the diagonal out. One mean over these cells, one over "
        "`~same`, and the difference.",
    ),
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
    radians = [math.radians(angle + rng.uniform(-2, 2)) for angle in degrees]
    return _turned(rng, [[math.cos(angle), math.sin(angle)] for angle in radians])


def _nearest_cases(rng):
    one, two, three = rng.sample(["river", "money", "bird", "machine", "coil", "season"], 3)
    mixed, senses = _pairs(rng, 5, common=0.6), [one, one, two, two, one, two, two, one, one, one]
    order = list(range(10))
    rng.shuffle(order)
    lonely = [one, one, two, three, one, two, two, two, one, three]
    return [
        Case("Six of ten rows have a nearest row of their own sense", (mixed, senses)),
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
        Case("Rows in another order give the same number", (mixed[order], [senses[i] for i in order])),
        Case("Three senses", (mixed, lonely)),
        Case(
            "A row that stands there twice is nearest to its copy",
            (_in_a_plane(rng, 0, 10, 100, 110)[[0, 0, 1, 2, 2, 3]], [one, one, two, two, two, one]),
        ),
        Case("Two rows of different senses give 0", (_pairs(rng, 1), [one, two])),
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

NEAREST_SENSE = Exercise(
    id="03-nearest-sense",
    title="The nearest neighbour's sense",
    arguments=("vectors", "senses"),
    cases=_nearest_cases,
    reference=_nearest_sense,
    minutes=12,
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
            "The vectors are not normalised row by row, so the longest row wins everywhere. Divide each row by its "
            "own length first.",
            lambda v, s: _share(_without_self(v @ v.T), s),
        ),
        Mistake(
            "The vectors are not normalised, and a row can find itself. Divide each row by its length, and take the "
            "diagonal out.",
            lambda v, s: _share(v @ v.T, s),
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
            "You return the share of rows whose nearest row has *another* sense. Turn it round.",
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
        "Begin with the table of cosines, as for the sense gap. In row i, the largest cell tells the nearest row. "
        "Which cell is always the largest, and must not win?",
        "`masked_fill(torch.eye(n, dtype=torch.bool), float('-inf'))` returns a copy whose diagonal never wins. "
        "`argmax(dim=1)` then gives one position per row.",
        "Count the rows for which `senses[nearest[i]] == senses[i]`, and divide by the number of rows.",
    ),
)

EXERCISES = (WORD_VECTOR, SENSE_GAP, NEAREST_SENSE)
