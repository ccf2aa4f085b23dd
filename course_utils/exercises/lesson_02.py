"""Exercises of lesson 02, padding and truncation."""

from functools import partial

import torch

from .._support.recipes import small_encoder
from .comparing import difference
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _ids(rng, count):
    """`count` different ids, none of them familiar from the lesson (0, 101, 102)."""
    return rng.sample(range(1000, 30000), count)


def _pad_cases(rng):
    pad_id = rng.randint(3, 90)
    lengths = rng.choice([(5, 2, 9, 7), (7, 9, 2, 5), (2, 9, 5, 7), (9, 2, 7, 5)])  # never sorted
    shuffled = [_ids(rng, n) for n in lengths]
    yield Case("Each row stays in its place and becomes as long as the longest", shuffled, pad_id)
    yield Case(
        "The longest sentence may be anywhere in the batch",  # `max` of these lists would pick the third
        [_ids(rng, 3), _ids(rng, 8), [rng.randint(30000, 30500), *_ids(rng, 4)], _ids(rng, 4)],
        pad_id + 1,
    )
    yield Case("Sentences of equal length need no padding", [_ids(rng, 5) for _ in range(3)], pad_id)
    yield Case("A single sentence stays as it is", [_ids(rng, 6)], pad_id)
    yield Case("Padding has the id that is given", [_ids(rng, 4), _ids(rng, 6)], 0)
    yield Case(
        "A real token with the id of padding is still real",
        [[*_ids(rng, 3), pad_id, *_ids(rng, 2)], _ids(rng, 3), [pad_id, *_ids(rng, 1), pad_id]],
        pad_id,
    )
    yield Case("An empty sentence becomes a row of padding", [[], _ids(rng, 3)], pad_id)
    yield Case("If all sentences are empty, the rows are empty", [[], []], pad_id)


def _width(batch):
    return max(len(ids) for ids in batch)


def _padded(batch, pad_id, width=None):
    width = _width(batch) if width is None else width
    return [ids + [pad_id] * (width - len(ids)) for ids in batch]


def _masks(batch, width=None):
    return _padded([[1] * len(ids) for ids in batch], 0, _width(batch) if width is None else width)


def _left(rows, fill):
    return [[fill] * (_width(rows) - len(row)) + row for row in rows]


PAD = exercise("02-pad-batch", _pad_cases, lambda batch, pad_id: (_padded(batch, pad_id), _masks(batch)), points=2)(
    mask_by_pad_id=lambda b, p: (_padded(b, p), [[int(i != p) for i in row] for row in _padded(b, p)]),
    mask_by_zero=lambda b, p: (_padded(b, p), [[int(i != 0) for i in row] for row in _padded(b, p)]),
    filled_with_zero=lambda b, p: (_padded(b, 0), _masks(b)),
    mask_of_ones=lambda b, p: (_padded(b, p), [[1] * _width(b) for _ in b]),
    mask_upside_down=lambda b, p: (_padded(b, p), [[1 - m for m in row] for row in _masks(b)]),
    mask_too_short=lambda b, p: (_padded(b, p), [[1] * len(ids) for ids in b]),
    mask_filled_with_pad_id=lambda b, p: (_padded(b, p), _padded([[1] * len(ids) for ids in b], p)),
    left=lambda b, p: (_left(b, p), _left([[1] * len(ids) for ids in b], 0)),
    all_left_but_mask=lambda b, p: (_left(b, p), _masks(b)),
    mask_first=lambda b, p: (_masks(b), _padded(b, p)),
    ids_only=_padded,
    pairs=lambda b, p: list(zip(_padded(b, p), _masks(b), strict=True)),
    dictionary=lambda b, p: {"input_ids": _padded(b, p), "attention_mask": _masks(b)},
    cut_to_shortest=lambda b, p: ([ids[: min(map(len, b))] for ids in b], [[1] * min(map(len, b)) for _ in b]),
    one_longer=lambda b, p: (_padded(b, p, _width(b) + 1), _masks(b, _width(b) + 1)),
    first_length=lambda b, p: (_padded(b, p, len(b[0])), _masks(b, len(b[0]))),
    last_length=lambda b, p: (_padded(b, p, len(b[-1])), _masks(b, len(b[-1]))),
    max_of_lists=(
        lambda b, p: (_padded(b, p, len(max(b))), _masks(b, len(max(b)))),
        lambda b, p: max(b) - len(b[0]),
        lambda b, p: len(b[0]) < max(b),
        lambda b, p: range(max(b)),
    ),
    first_row_only=lambda b, p: (_padded(b, p)[:1], _masks(b)[:1]),
    one_token_only=lambda b, p: (
        [ids + [p] * (len(ids) < _width(b)) for ids in b],
        [[1] * len(ids) + [0] * (len(ids) < _width(b)) for ids in b],
    ),
    no_padding=lambda b, p: (b, [[1] * len(ids) for ids in b]),
    none_for_rows=(lambda b, p: ([None for _ in b], _masks(b)), lambda b, p: ([None for _ in b], [None for _ in b])),
)


def _truncate_cases(rng):
    cls, sep = rng.sample(range(3, 90), 2)

    def sentence(length):
        return [cls, *_ids(rng, length - 2), sep]

    yield Case("A long sentence is truncated", sentence(rng.randint(12, 16)), rng.randint(6, 8))
    yield Case("One token too many", sentence(9), 8)
    yield Case("A sentence of exactly max_length stays as it is", sentence(7), 7)
    yield Case("A short sentence stays as it is", sentence(4), rng.randint(8, 12))
    yield Case("One token below the limit", sentence(6), 7)
    yield Case("[CLS] and [SEP] are left when max_length is 2", sentence(5), 2)
    yield Case(
        "The text may contain [CLS] and [SEP]",
        [cls, *_ids(rng, 1), sep, cls, *_ids(rng, 1), sep, *_ids(rng, 2), sep],
        7,
    )  # cut just after a [SEP]
    yield Case("A short text may contain [CLS] and [SEP]", [cls, sep, *_ids(rng, 2), cls, sep], rng.randint(8, 12))


def _truncate(ids, n):
    return ids if len(ids) <= n else ids[: n - 1] + ids[-1:]


TRUNCATE = exercise("02-truncate", _truncate_cases, _truncate, arguments=("ids", "max_length"))(
    sep_cut_off=lambda ids, n: ids[:n],
    one_too_long_with_sep=lambda ids, n: ids if len(ids) <= n else ids[:n] + ids[-1:],
    one_too_long_and_sep_twice=lambda ids, n: ids[:n] + ids[-1:],
    one_too_short=lambda ids, n: ids if len(ids) <= n else ids[: n - 2] + ids[-1:],
    special_not_counted=lambda ids, n: ids if len(ids) <= n else ids[: n + 1] + ids[-1:],
    sep_twice_for_short=lambda ids, n: ids[: n - 1] + ids[-1:],
    berts_sep=lambda ids, n: ids if len(ids) <= n else ids[: n - 1] + [102],
    end_kept=lambda ids, n: ids if len(ids) <= n else ids[:1] + ids[len(ids) - n + 1 :],
    last_ids_kept=lambda ids, n: ids[-n:],
    special_removed=(lambda ids, n: ids[1:-1][:n], lambda ids, n: ids[1:-1][: n - 2]),
    zero_at_end=lambda ids, n: ids if len(ids) <= n else ids[: n - 1] + [0],
    short_filled_up=lambda ids, n: _truncate(ids, n) + [0] * (n - len(ids)),
    not_cut=lambda ids, n: ids,
    none_for_long=lambda ids, n: ids if len(ids) <= n else None,
    none_for_all=lambda ids, n: None,
    none_for_short=(
        lambda ids, n: None if len(ids) <= n else _truncate(ids, n),
        lambda ids, n: None if len(ids) < n else _truncate(ids, n),
    ),
    number_joined_to_list=(
        lambda ids, n: ids if len(ids) <= n else ids[: n - 1] + ids[-1],
        lambda ids, n: ids[: n - 1] + ids[-1],
    ),
    equal_ids_dropped=(
        lambda ids, n: [i for i in ids if i != ids[-1]][: n - 1] + ids[-1:],
        lambda ids, n: ids if len(ids) <= n else [i for i in ids if i != ids[-1]][: n - 1] + ids[-1:],
    ),
    no_second_sep=lambda ids, n: ids[: n - 1] + ids[-1:] * (ids[: n - 1][-1] != ids[-1]),
    sep_left_out=lambda ids, n: ids if len(ids) <= n else ids[: n - 1],
)


FAR = 999_990.0  # with a few units more or less still within a million


def _bug_cases(rng):
    lengths = [6, 3, 4]
    mask = torch.tensor([[1] * n + [0] * (6 - n) for n in lengths])
    scores = 1.5 * normal(rng, 3, 6)
    with_zero = scores.clone()
    with_zero[:, 1] = 0.0
    sure = torch.full((3, 6), -10.0)  # one real token in each row has all the weight, however far scores are rounded
    for row, n in enumerate(lengths):
        sure[row, rng.randrange(n)] = 10.0
    down, apart = torch.tensor([[0], [1], [0]]), torch.tensor([[1], [0], [-1]])
    yield Case(
        "Without padding, the result is the ordinary softmax", normal(rng, 2, 5), torch.ones(2, 5, dtype=torch.int64)
    )
    yield Case("Padding gets the weight 0, and the weights of real tokens add up to 1", scores, mask)
    yield Case("The scores at padded positions change nothing", scores + 6 * (1 - mask), mask)
    yield Case("A real token may have the score 0", with_zero, mask)
    yield Case(  # in one row real tokens are a million below 0
        "The score of padding may be a million above 0", sure + FAR * (1 - mask - down * mask), mask
    )
    yield Case("The score of padding may be a million below 0", scores - FAR * (1 - mask), mask)
    yield Case("All real scores may be a million below 0", sure - FAR * mask, mask)
    yield Case("One row may be a million above 0, another a million below 0", sure + FAR * apart, mask)
    yield Case("Padding may be on the left", scores.flip(1), mask.flip(1))
    yield Case("A row alone gives the same weights as in a batch", scores[1:2], mask[1:2])
    yield Case(
        "As many sentences as tokens",
        normal(rng, 4, 4),
        torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]),
    )


def _softmax(scores, keep, low=float("-inf"), dim=1):
    return torch.softmax(scores.masked_fill(~keep, low), dim=dim)


def _shares(powers):
    return powers / powers.sum(dim=1, keepdim=True)


def _masked_softmax(scores, attention_mask):
    return _softmax(scores, attention_mask == 1)


def _judge_weights(args, outcome):
    """Weights of real tokens may be off by 1e-5. The weight of padding is 0, and nothing near it."""
    if problem := difference(outcome, _masked_softmax(*args)):
        return problem
    real = args[1].bool().flatten().tolist()
    weights = [float(weight) for row in outcome for weight in row]
    most = max((abs(weight) for weight, counts in zip(weights, real, strict=True) if not counts), default=0)
    return f"your function gives padding the weight {most:.3g} where exactly 0 is expected" if most else None


BUG = exercise("02-find-the-bug", _bug_cases, _masked_softmax, judge=_judge_weights, points=2)(
    score_zero=lambda s, m: torch.softmax(s * m, dim=1),
    mask_unused=lambda s, m: torch.softmax(s, dim=1),
    zeroed_after_softmax=lambda s, m: torch.softmax(s, dim=1) * m,
    removed_after_softmax=lambda s, m: torch.softmax(s * m, dim=1) * m,
    upside_down=(lambda s, m: _softmax(s, m == 0), lambda s, m: _softmax(s, m == 0, -1e9)),
    nan_by_infinity=lambda s, m: torch.softmax(s + (1 - m) * float("-inf"), dim=1),
    times_infinity=lambda s, m: torch.softmax(s * torch.where(m == 1, 1.0, float("-inf")), dim=1),
    mask_added=lambda s, m: torch.softmax(s + m, dim=1),
    plus_infinity=lambda s, m: _softmax(s, m == 1, float("inf")),
    found_by_score=lambda s, m: _softmax(s, s * m != 0),
    zero_scores_only=lambda s, m: _softmax(s, s != 0),
    just_below_the_lowest=(
        lambda s, m: _softmax(s, m == 1, float(s.min()) - 1),
        lambda s, m: torch.where(m == 1, s, s.amin(dim=1, keepdim=True) - 1).softmax(dim=1),
    ),
    not_low_enough=(
        *(
            lambda s, m, low=low: _softmax(s, m == 1, low)
            for low in (-1.0, -5.0, -10.0, -20.0, -100.0, -1000.0, -9999.0, -1e4, -1e5)
        ),
        *(
            lambda s, m, low=low: torch.softmax(s + low * (1 - m), dim=1)
            for low in (-5.0, -10.0, -100.0, -1000.0, -1e4, -1e5)
        ),
    ),
    removed_after_powers=(
        lambda s, m: _shares(torch.softmax(s, dim=1) * m),
        lambda s, m: _shares(torch.softmax(s * m, dim=1) * m),
    ),
    powers_underflow=(
        lambda s, m: _shares(torch.exp(s) * m),
        lambda s, m: _shares(torch.exp(s.masked_fill(m == 0, float("-inf")))),
    ),
    largest_of_batch=(
        lambda s, m: _shares(torch.exp(s.masked_fill(m == 0, float("-inf")) - s[m == 1].max())),
        lambda s, m: _shares(torch.exp(s.masked_fill(m == 0, float("-inf")) - s.max())),
        lambda s, m: _shares(torch.exp(s - s.max()) * m),
    ),
    not_true_or_false=(lambda s, m: s.masked_fill(m, float("-inf")), lambda s, m: torch.where(m, s, float("-inf"))),
    over_sentences=(
        lambda s, m: torch.softmax(s * m, dim=0),
        lambda s, m: _softmax(s, m == 1, dim=0),
        lambda s, m: _softmax(s, m == 1, -1e9, dim=0),
    ),
    all_rows_at_once=(
        lambda s, m: torch.softmax(s[m == 1], dim=0),
        lambda s, m: torch.zeros_like(s).masked_scatter(m == 1, torch.softmax(s[m == 1], dim=0)),
    ),
    scores_divided=lambda s, m: s * m / (s * m).sum(dim=1, keepdim=True),
    scores_returned=lambda s, m: s.masked_fill(m == 0, float("-inf")),
    logarithm=lambda s, m: torch.log_softmax(s.masked_fill(m == 0, float("-inf")), dim=1),
)


VOCABULARY = 22
FEW = 3  # so few ids, and an odd number of them, that a case can have all of them at padding, after all real ones


def _leak_cases(rng):
    hidden = rng.randint(5, 7)
    table, positions = 0.4 * normal(rng, VOCABULARY, hidden), 0.4 * normal(rng, 8, hidden)

    def batch(lengths, width, pad_id, left=False):
        rows = [rng.choices([i for i in range(VOCABULARY) if i != pad_id], k=n) for n in lengths]
        ids = _left(rows, pad_id) if left else _padded(rows, pad_id, width)
        ones = [[1] * n for n in lengths]
        return torch.tensor(ids), torch.tensor(_left(ones, 0) if left else _masks(ones, width)), VOCABULARY

    def encoder(rule, leak=1.0, table=table, positions=positions):
        return small_encoder(table, positions, rule, leak)

    def changing(by, pad_id, rule, where, start=None, short=0.1):
        """An encoder in which any other id at the only padded of 5 positions changes the numbers `where` by `by`.

        Only the padding id has a vector, and all vectors are so short that the attention weights are nearly 1/5.
        `start`: what is in these numbers without padding, if not the same as in the others. `short`: what the padding
        id has in them.
        """
        tokens, places = torch.zeros(VOCABULARY, 6), (0.1 + 0.005 * torch.arange(8.0))[:, None].repeat(1, 6)
        tokens[pad_id, where] = -short if by > 0 else short
        if start is not None:
            places[:, where] = start
        return small_encoder(tokens, places, rule, abs(by) / (0.2 * short))

    def middle():
        """An encoder in which position 3 is seen from position 1, and neither from 0 nor from 2."""
        far, quiet = torch.zeros(8, hidden), table.clone()
        far[[0, 2], 0], far[3, 0], quiet[:, 0] = -10.0, 10.0, 0.0
        return small_encoder(quiet, far, "none")

    ragged, one_padded = rng.sample([7, 4, 3], 3), rng.sample([4, 4, 5], 3)
    # With more rows than ids, a negative id does not lead to a real one. These rows are those of padding.
    too_long = torch.cat([table, table[:1].repeat(VOCABULARY, 1)])
    # To the row of two tokens it is the same whether it stands at 0 and 1 or at 4 and 5.
    in_fours = torch.cat([positions[:4], positions[:4]])
    one, two, three, four, five = rng.sample(range(VOCABULARY // 2), 5)
    # Each id stands at padding in four rows, and in some of them is the first or the last real one too.
    all_ids = torch.tensor([[first % FEW, (first + i) % FEW, i] for i in range(FEW) for first in range(4)])
    yield Case("An encoder that masks out padding does not leak", encoder("none", 0.0), *batch(ragged, 7, 0))
    yield Case(
        "An encoder without a mask leaks where there is padding", encoder("none", table=too_long), *batch(ragged, 7, 0)
    )
    yield Case("A mask multiplied into the scores leaks", encoder("product"), *batch([5, 2, 4], 6, 1))
    yield Case("A mask applied after the softmax leaks", encoder("late"), *batch([3, 6, 2], 6, 0))
    yield Case("One padded position is enough for a leak", encoder("ends"), *batch([3, 7, 4], 7, 0))
    yield Case(
        "One padded position on the left is enough for a leak", encoder("ends"), *batch([3, 7, 6], 7, 0, left=True)
    )
    yield Case("One affected real token is enough for a leak", middle(), *batch([3, 3], 4, 2))
    yield Case(
        "Padding on the left does not always leak",
        encoder("none", 0.0, positions=in_fours),
        *batch([6, 2, 5], 6, 0, left=True),
    )
    yield Case("One number may grow by 0.00015", changing(1.5e-4, one, "one", [5]), *batch(one_padded, 5, one))
    yield Case(  # a number near 10, where an `rtol` of 1e-5 adds 1e-4 to the limit
        "One number may shrink by 0.00015",
        changing(-1.5e-4, two, "none", [2], start=10.0, short=0.01),
        *batch(one_padded, 5, two),
    )
    yield Case(
        "All numbers may grow by 0.00015", changing(1.5e-4, three, "none", slice(None)), *batch(one_padded, 5, three)
    )
    yield Case("A change of 0.00007 does not count", changing(7e-5, three, "one", [4]), *batch(one_padded, 5, three))
    yield Case(
        "Many changes of 0.00007 do not count", changing(7e-5, four, "none", slice(None)), *batch(one_padded, 5, four)
    )
    yield Case(
        "A vector may change and keep its norm",  # one number goes from 0.01 to -0.01
        changing(-0.02, five, "none", [3], start=-0.01),
        *batch(one_padded, 5, five),
    )
    yield Case(
        "Whatever the id of padding is, another id replaces it",
        encoder("none", table=table[:FEW]),
        all_ids,
        torch.tensor([[1, 1, 0]] * len(all_ids)),
        FEW,
    )
    yield Case("Without padding, nothing can leak", encoder("none"), *batch([5, 5], 5, 0))


def _next_ids(ids, size):
    return (ids + 1) % size


def _changes(encode, ids, mask, size, others=_next_ids):
    """What other ids at padding add to each number of each vector: (batch, tokens, hidden)."""
    return encode(torch.where(mask == 0, others(ids, size), ids), mask) - encode(ids, mask)


def _largest(changes, mask):
    """The largest change at real tokens: one number for each row."""
    return (changes.abs().amax(dim=2) * mask).amax(dim=1)


def _leaks(encode, ids, mask, size, others=_next_ids):
    return (_largest(_changes(encode, ids, mask, size, others), mask) > 1e-4).tolist()


def _leaks_by(measure, encode, ids, mask, size, most=1e-4):
    """Leaks as found by another measure: `measure(changes, mask)` is one number for each row."""
    return (measure(_changes(encode, ids, mask, size), mask) > most).tolist()


def _leaks_by_norm(encode, ids, mask, size):
    before, after = (encode(i, mask).norm(dim=2) for i in (ids, torch.where(mask == 0, _next_ids(ids, size), ids)))
    return (((after - before).abs() * mask).amax(dim=1) > 1e-4).tolist()


def _constant(number):
    return lambda ids, size: torch.full_like(ids, number % size)


def _alone(encode, ids, mask, size):
    found = []
    for row, real, vectors in zip(ids, mask == 1, encode(ids, mask), strict=True):
        alone = encode(row[real][None], torch.ones(1, int(real.sum()), dtype=mask.dtype))[0]
        found.append(bool((vectors[real] - alone).abs().max() > 1e-4))
    return found


def _one_swapped(place, encode, ids, mask, size):
    swapped = ids.clone()
    for row, padding in enumerate(mask == 0):
        if padding.any():
            column = padding.nonzero()[place, 0]
            swapped[row, column] = (ids[row, column] + 1) % size
    return (_largest(encode(swapped, mask) - encode(ids, mask), mask) > 1e-4).tolist()


def _after_as_many_as_are_real(mask):
    return torch.arange(mask.shape[1]) >= mask.sum(dim=1, keepdim=True)


def _after_the_last(mask):
    return mask.flip(1).cumsum(dim=1).flip(1) == 0


def _swapped_at(encode, ids, mask, size, at):
    changes = encode(torch.where(at(mask), _next_ids(ids, size), ids), mask) - encode(ids, mask)
    return (_largest(changes, mask) > 1e-4).tolist()


def _by_closeness(encode, ids, mask, size):
    before, after = encode(ids, mask), encode(torch.where(mask == 0, _next_ids(ids, size), ids), mask)
    return [not torch.allclose(a[m == 1], b[m == 1], atol=1e-4) for a, b, m in zip(after, before, mask, strict=True)]


LEAKS = exercise(
    "02-padding-leaks",
    _leak_cases,
    _leaks,
    points=2,
    arguments=("encode", "input_ids", "attention_mask", "vocabulary_size"),
)(
    first_tokens_only=partial(_leaks_by, lambda changes, mask: changes[:, 0].abs().amax(dim=1) * mask[:, 0]),
    padded_compared=partial(_leaks_by, lambda changes, mask: changes.abs().amax(dim=(1, 2))),
    no_absolute_value=[
        partial(_leaks_by, lambda changes, mask, sign=sign: ((sign * changes).amax(dim=2) * mask).amax(dim=1))
        for sign in (1, -1)
    ],
    first_number_only=partial(_leaks_by, lambda changes, mask: (changes[:, :, 0].abs() * mask).amax(dim=1)),
    changes_added=[
        partial(_leaks_by, measure)
        for measure in (
            lambda changes, mask: (changes.norm(dim=2) * mask).amax(dim=1),
            lambda changes, mask: (changes.abs().sum(dim=2) * mask).amax(dim=1),
        )
    ],
    changes_averaged=[
        partial(_leaks_by, measure)
        for measure in (
            lambda changes, mask: (changes.abs().mean(dim=2) * mask).amax(dim=1),
            lambda changes, mask: ((changes * mask[..., None]).sum(dim=1) / mask.sum(dim=1)[:, None]).abs().amax(1),
        )
    ],
    norms_compared=_leaks_by_norm,
    real_swapped=lambda e, i, m, n: (_largest(e(_next_ids(i, n), m) - e(i, m), m) > 1e-4).tolist(),
    mask_of_ones=lambda e, i, m, n: (
        _largest(e(torch.where(m == 0, _next_ids(i, n), i), torch.ones_like(m)) - e(i, torch.ones_like(m)), m) > 1e-4
    ).tolist(),
    mask_changed=lambda e, i, m, n: (_largest(e(i, torch.ones_like(m)) - e(i, m), m) > 1e-4).tolist(),
    compared_with_alone=_alone,
    first_positions_as_real=lambda *a: _swapped_at(*a, at=_after_as_many_as_are_real),
    right_only=lambda *a: _swapped_at(*a, at=_after_the_last),
    tiny_changes=partial(_leaks_by, _largest, most=0.0),
    small_leak_missed=[partial(_leaks_by, _largest, most=most) for most in (1e-3, 1e-2)],
    relative_tolerance=_by_closeness,
    negative_ids=[
        lambda *a, others=others: _leaks(*a, others=others)
        for others in (lambda ids, size: ids - 1, lambda ids, size: -1 - ids)
    ],
    id_not_swapped=(
        *(lambda *a, n=n: _leaks(*a, others=_constant(n)) for n in (-1, 0, 1)),
        *(
            lambda *a, others=others: _leaks(*a, others=others)
            for others in (lambda ids, size: size - 1 - ids, lambda ids, size: (ids + 3) % size)
        ),
    ),
    beyond_vocabulary=lambda *a: _leaks(*a, others=lambda ids, size: ids + 1),
    one_position_only=[partial(_one_swapped, place) for place in (0, -1)],
    one_value=lambda *a: any(_leaks_by(_largest, *a)),
    inverted=lambda *a: [not leak for leak in _leaks_by(_largest, *a)],
    amount_returned=lambda e, i, m, n: _largest(_changes(e, i, m, n), m).tolist(),
)


# --- completions -------------------------------------------------------------------------------------------------


def _pad_row_cases(rng):
    pad = rng.randint(1, 99)
    for length, width in ((3, 7), (1, 4), (5, 5)):
        yield Case(
            "The mask has as many ones as there are ids", [rng.randint(100, 999) for _ in range(length)], width, pad
        )
    yield Case("A real token may have the id of padding", [rng.randint(100, 999), pad, pad], 6, pad)


def _mask_from_ids(ids, width, pad):
    padded = ids + [pad] * (width - len(ids))
    return padded, [int(number != pad) for number in padded]


PAD_ROW = Completion(
    "02-pad-row",
    "Pad a row",
    ("ids", "width", "pad_id"),
    _pad_row_cases,
    lambda ids, width, pad: (ids + [pad] * (width - len(ids)), [1] * len(ids) + [0] * (width - len(ids))),
    mistakes=(
        Mistake(
            "mask_from_ids",
            "You compute the mask from the ids.",
            "A real token may have the id of padding, but its mask is 1. Use the lengths, `len(ids)` and `missing`.",
            (_mask_from_ids,),
        ),
        Mistake(
            "mask_upside_down",
            "Your mask is inverted.",
            "1 marks a real token, and 0 marks padding.",
            (lambda ids, width, pad: (ids + [pad] * (width - len(ids)), [0] * len(ids) + [1] * (width - len(ids))),),
        ),
        Mistake(
            "mask_of_ones",
            "Your mask is 1 everywhere.",
            "Padding needs a 0: the mask has `len(ids)` ones, and then `missing` zeros.",
            (lambda ids, width, pad: (ids + [pad] * (width - len(ids)), [1] * width),),
        ),
        Mistake(
            "mask_too_short",
            "Your mask is only as long as the row before padding.",
            "It also needs a 0 for each `[PAD]`, so add `missing` zeros.",
            (lambda ids, width, pad: (ids + [pad] * (width - len(ids)), [1] * len(ids)),),
        ),
    ),
)


def _padding_share_cases(rng):
    for before, after in ((1, 1), (2, 4), (5, 1)):
        shorter = [rng.randint(1, 20) for _ in range(before + after)]
        yield Case("The longest row determines the width", [*shorter[:before], rng.randint(25, 40), *shorter[before:]])
    yield Case("Rows of equal length have no padding", [rng.randint(5, 9)] * 4)


PADDING_SHARE = Completion(
    "02-padding-share",
    "The share of padding",
    ("lengths",),
    _padding_share_cases,
    lambda lengths: sum(max(lengths) - length for length in lengths) / (len(lengths) * max(lengths)),
    mistakes=(
        Mistake(
            "one_row_only",
            "You count the positions of only one row.",
            "Each row of the batch is as wide as the longest row. Multiply by the number of rows, `len(lengths)`.",
            (lambda lengths: 1 - sum(lengths) / max(lengths),),
        ),
        Mistake(
            "always_32_rows",
            "You assume that the batch has 32 rows.",
            "A batch can have any number of rows. Use `len(lengths)`.",
            (lambda lengths: 1 - sum(lengths) / (32 * max(lengths)),),
        ),
        Mistake(
            "model_maximum",
            "You assume that each row is padded to 512 tokens.",
            "Each row is as wide as the longest row of its batch, which has `max(lengths)` tokens.",
            (lambda lengths: 1 - sum(lengths) / (512 * len(lengths)),),
        ),
        Mistake(
            "first_row_as_width",
            "You use the length of the first row as the width.",
            "Each row is as wide as the longest row of its batch, which has `max(lengths)` tokens.",
            (lambda lengths: 1 - sum(lengths) / (len(lengths) * lengths[0]),),
        ),
    ),
)
