"""Exercises of lesson 02, padding and truncation. See `model.py` on cases and mistakes' swaps."""

import torch

from .._support.recipes import small_encoder
from .comparing import weights_difference
from .model import Case, completion, exercise, mask_of, normal


# `count` different ids. All are above those of special tokens: the cases draw these below 100, and
# the lesson shows 0, 101 and 102.
def _ids(rng, count):
    return rng.sample(range(1000, 30000), count)


def _pad_cases(rng):
    pad_id = rng.randint(3, 90)
    lengths = rng.choice([(5, 2, 9, 7), (7, 9, 2, 5), (2, 9, 5, 7), (9, 2, 7, 5)])  # never sorted
    # `max(batch)` compares the first ids, and picks this list, although another one is longer
    largest_first = [rng.randint(30000, 30500), *_ids(rng, 4)]
    return [
        Case(
            "Each row stays in its place and becomes as long as the longest",
            [_ids(rng, n) for n in lengths],
            pad_id,
        ),
        Case(
            "The longest sentence may be anywhere in the batch",
            [_ids(rng, 3), _ids(rng, 8), largest_first, _ids(rng, 4)],
            pad_id + 1,
        ),
        Case("A single sentence stays as it is", [_ids(rng, 6)], pad_id),
        Case("Padding has the id that is given", [_ids(rng, 4), _ids(rng, 6)], 0),
        Case(
            "A real token with the id of padding is still real",
            [[*_ids(rng, 3), pad_id, *_ids(rng, 2)], _ids(rng, 3), [pad_id, *_ids(rng, 1), pad_id]],
            pad_id,
        ),
        Case("An empty sentence becomes a row of padding", [[], _ids(rng, 3)], pad_id),
        Case("If all sentences are empty, the rows are empty", [[], []], pad_id),
    ]


def _pad_batch(batch, pad_id):
    width = max(len(ids) for ids in batch)
    rows, masks = [], []
    for ids in batch:
        padding = [pad_id] * (width - len(ids))
        rows.append(ids + padding)
        ones, zeros = [1] * len(ids), [0] * len(padding)
        masks.append(ones + zeros)
    return rows, masks


PAD = exercise("02-pad-batch", _pad_cases, _pad_batch, points=2)(
    mask_from_ids=[
        {"ones + zeros": f"[int(i != {padding}) for i in rows[-1]]"} for padding in ("pad_id", "0")
    ],
    filled_with_zero={"[pad_id] *": "[0] *"},
    mask_of_ones=[{"ones + zeros": f"[{number}] * width"} for number in "10"],
    mask_filled_with_pad_id={"[0] * len(padding)": "padding"},
    mask_upside_down={"ones + zeros": "[1 - number for number in ones + zeros]"},
    mask_too_short={"ones + zeros": "ones"},
    left=[
        {"ids + padding": "padding + ids", "ones + zeros": "zeros + ones"},
        {"ids + padding": "padding + ids"},
        {"ones + zeros": "zeros + ones"},
    ],
    other_length=[
        *(
            {"max(len(ids) for ids in batch)": f"len({row})"}
            for row in ("batch[0]", "batch[-1]", "max(batch)")
        ),
        {"max(len": "min(len", "ids + padding": "ids[:width]", "ones + zeros": "ones[:width]"},
    ],
    no_pair=[
        {"return rows, masks": f"return {other}"}
        for other in (
            "rows",
            "list(zip(rows, masks))",
            '{"input_ids": rows, "attention_mask": masks}',
        )
    ],
    first_row_only={"    return rows, masks": "        return rows, masks"},
    no_padding={"ids + padding": "ids"},
)


def _truncate_cases(rng):
    cls, sep = rng.sample(range(3, 90), 2)  # not 101 and 102: see `fixed_id`

    # `length` ids, [CLS] and [SEP] among them.
    def sentence(length):
        return [cls, *_ids(rng, length - 2), sep]

    inside = _ids(rng, 4)
    return [
        Case("A long sentence is truncated", sentence(rng.randint(12, 16)), rng.randint(6, 8)),
        Case("One token too many", sentence(9), 8),
        Case("A sentence of exactly max_length stays as it is", sentence(7), 7),
        Case("A short sentence stays as it is", sentence(4), rng.randint(8, 12)),
        Case("One token below the limit", sentence(6), 7),
        Case("[CLS] and [SEP] are left when max_length is 2", sentence(5), 2),
        # without the last id, 6 ids are kept; they end with a [SEP] of the text
        Case(
            "The text may contain [CLS] and [SEP]",
            [cls, inside[0], sep, cls, inside[1], sep, *inside[2:], sep],
            7,
        ),
        Case(
            "[CLS] and [SEP] in a short text", [cls, sep, *inside[:2], cls, sep], rng.randint(8, 12)
        ),
    ]


def _truncate(ids, max_length):
    if len(ids) <= max_length:
        return ids
    first = ids[: max_length - 1]
    return first + ids[-1:]


TRUNCATE = exercise("02-truncate", _truncate_cases, _truncate)(
    sep_cut_off=[{"first + ids[-1:]": "ids[:max_length]"}, {"first + ids[-1:]": "first"}],
    too_long=[
        {"max_length - 1": "max_length"},
        {"<= max_length": "<= max_length + 2", "max_length - 1": "max_length + 1"},
    ],
    one_too_short={"max_length - 1": "max_length - 2"},
    sep_twice_for_short={"len(ids) <= max_length": "False"},
    fixed_id=[
        {"ids[-1:]": "[102]"},
        {"ids[-1:]": "[0]"},
        {"first + ids[-1:]": "[101] + first[1:] + [102]"},
    ],
    end_kept=[
        {"first + ids[-1:]": "ids[:1] + ids[len(ids) - max_length + 1 :]"},
        {"first + ids[-1:]": "ids[-max_length:]"},
    ],
    not_cut={"len(ids) <= max_length": "True"},
    # every [SEP] inside the text is dropped, or the one just before the cut
    sep_of_the_text_dropped=[
        {"first + ids[-1:]": "[i for i in ids if i != ids[-1]][: max_length - 1] + ids[-1:]"},
        {"first + ids[-1:]": "first + ids[-1:] * (first[-1] != ids[-1])"},
    ],
)


FAR = 999_990.0  # so that with the scores of ±10 it stays within a million


def _bug_cases(rng):
    lengths = [6, 3, 4]
    mask = mask_of(lengths)
    scores = 1.5 * normal(rng, 3, 6)  # spread out, so that weights are clearly unequal
    with_zero = scores.clone()
    with_zero[:, 1] = 0.0
    # one real token in each row has all the weight, however far scores are rounded
    sure = torch.full((3, 6), -10.0)
    sure[range(3), [rng.randrange(length) for length in lengths]] = 10.0
    middle_row, opposite_rows = torch.tensor([[0], [1], [0]]), torch.tensor([[1], [0], [-1]])
    padding_above = FAR * (1 - mask)
    return [
        Case("No padding: the ordinary softmax", normal(rng, 2, 5), torch.ones(2, 5).long()),
        Case("Padding gets the weight 0, and the weights of real tokens add up to 1", scores, mask),
        # 6 lifts padding above most real scores
        Case("The scores at padded positions change nothing", scores + 6 * (1 - mask), mask),
        Case("A real token may have the score 0", with_zero, mask),
        # in the middle row, real scores are a million below 0 as well
        Case(
            "Padding may be a million above 0", sure + padding_above - FAR * mask * middle_row, mask
        ),
        Case("The score of padding may be a million below 0", scores - padding_above, mask),
        Case("All real scores may be a million below 0", sure - FAR * mask, mask),
        Case(
            "One row may be a million above 0, another a million below 0",
            sure + FAR * opposite_rows,
            mask,
        ),
        Case("Padding may be on the left", scores.flip(1), mask.flip(1)),
        Case("A row alone gives the same weights as in a batch", scores[1:2], mask[1:2]),
        Case(
            "As many sentences as tokens", normal(rng, 4, 4), torch.ones(4, 4).tril().flip(0).long()
        ),
    ]


# For imitations: the powers divided by their sums along `dim`.
def _shares(powers, dim):
    return powers / powers.sum(dim=dim, keepdim=True)


def _masked_softmax(scores, attention_mask):
    padding = attention_mask == 0
    masked = scores.masked_fill(padding, -torch.inf)
    return torch.softmax(masked, dim=1)


BUG = exercise(
    "02-find-the-bug",
    _bug_cases,
    _masked_softmax,
    judge=lambda args, outcome: weights_difference(
        outcome, _masked_softmax(*args), mask=args[1], most=0
    ),
    points=2,
)(
    score_zero={"(masked,": "(scores * attention_mask,"},
    mask_unused=[{"(masked,": "(scores,"}, {"(masked,": "(scores + attention_mask,"}],
    zeroed_after_softmax=[
        {"(masked,": f"({scores},", "dim=1)": "dim=1) * attention_mask"}
        for scores in ("scores", "scores * attention_mask")
    ],
    upside_down=[{"== 0": "== 1"}, {"== 0": "== 1", "-torch.inf": "-1e9"}],
    times_infinity=[
        {"(masked,": "(scores + padding * -torch.inf,"},
        {"(masked,": "(scores * torch.where(padding, -torch.inf, 1.0),"},
    ],
    found_by_score=[
        {"attention_mask == 0": "scores * attention_mask == 0"},
        {"attention_mask == 0": "scores == 0"},
    ],
    not_low_enough=[
        *(
            {"-torch.inf": low}
            for low in ("-10.0", "-100.0", "1e9", "torch.inf", "scores.min() - 1")
        ),
        {"(masked,": "(scores - 100 * padding,"},
        {"(masked,": "(torch.where(padding, scores.amin(dim=1, keepdim=True) - 1, scores),"},
    ],
    removed_after_powers=[
        {"torch.softmax(masked": f"_shares(torch.softmax({scores}, dim=1) * attention_mask"}
        for scores in ("scores", "scores * attention_mask")
    ],
    powers_underflow=[
        {"torch.softmax(masked": "_shares(torch.exp(masked)"},
        {"torch.softmax(masked": "_shares(torch.exp(scores) * attention_mask"},
        {"torch.softmax(masked": "_shares(torch.exp(masked - masked.max())"},
    ],
    not_each_row=[
        {"dim=1": "dim=0"},
        {"dim=1": "dim=0", "-torch.inf": "-1e9"},
        # over the whole batch, and over its real tokens in one long row
        {"(masked, dim=1)": "(masked.flatten(), dim=0).reshape(scores.shape)"},
        {"(masked, dim=1)": "(scores[~padding], dim=0)"},
    ],
)


# The number of ids of most cases. It is even: `_small_leak_cases` draws even ids, and the next id
# must be in the vocabulary, too.
VOCABULARY = 22
# So few ids that a case can have every id at padding behind every real one. The number is odd, so
# that one id is as far from the first as from the last: `SMALL_VOCABULARY - 1 - id` does not
# replace it.
SMALL_VOCABULARY = 3


# What an answer takes after the encoder: ids and mask (rows, width), and the vocabulary's size.
#
# lengths: how many real tokens each row has. If the number is negative, they stand on the right,
# behind the padding. pad_ids: the id of padding in each row. No real token has one of these ids,
# nor the id before one: with the next id in its place, it would become padding.
def _leak_batch(rng, width, lengths, pad_ids):
    padded_right = mask_of([abs(length) for length in lengths], width)
    is_padded_left = torch.tensor(lengths)[:, None] < 0
    mask = torch.where(is_padded_left, padded_right.flip(1), padded_right)
    not_drawn = {*pad_ids, *((pad_id - 1) % VOCABULARY for pad_id in pad_ids)}
    free = [i for i in range(VOCABULARY) if i not in not_drawn]
    real = torch.tensor([rng.choices(free, k=width) for _ in lengths])
    return torch.where(mask == 1, real, torch.tensor(pad_ids)[:, None]), mask, VOCABULARY


# Cases whose vectors change by 0.00015 or 0.00007, on either side of the limit of 0.0001.
#
# Only four ids have vectors other than 0, all so short that the attention weights are nearly 1/5.
# Each is the padding of one row, and the id that replaces it has the vector 0. So where it holds
# 0.01, the number changes by 0.01 / 5 times the leak: with 0.075, by 0.00015. Number 2 of each
# vector is near 10, where an `rtol` of 1e-5 adds 1e-4 to the limit.
def _small_leak_cases(rng):
    # only even ids, so that the next id, which replaces one, is none of these
    grows, shrinks, grows_widely, shrinks_too = rng.sample(range(0, VOCABULARY, 2), 4)
    tokens = torch.zeros(VOCABULARY, 8)
    for token, number, value in ((grows, 5, -0.01), (shrinks, 2, 0.01), (shrinks_too, 7, 0.01)):
        tokens[token, number] = value
    tokens[grows_widely, [0, 1, 3, 4, 5, 6]] = -0.01
    # all positions are nearly alike, and so are the attention weights
    positions = (0.1 + 0.005 * torch.arange(8.0))[:, None].repeat(1, 8)
    positions[:, 2] = 10.0
    batch = _leak_batch(
        rng,
        width=5,
        lengths=(4, 4, 4, 4, 5),  # the last row has no padding
        pad_ids=[grows, shrinks, grows_widely, shrinks_too, 0],
    )
    return [
        Case(label, small_encoder(tokens, positions, rule, leak), *batch)
        for label, rule, leak in (
            ("One number, or more, may grow or shrink by 0.00015", "none", 0.075),
            ("A single token may change by 0.00015", "one", 0.075),
            ("Changes of 0.00007 do not count", "none", 0.035),
        )
    ]


# An encoder that ignores the mask, in which position 1 attends to position 3, but 0 and 2 do not.
#
# table: the token vectors. The scores of the first number decide: from 1 they are 0, from 0 and 2
# that of position 3 is -10 * 10, far below the others.
def _seen_from_one_position(table):
    tokens, positions = table.clone(), torch.zeros(8, table.shape[1])
    tokens[:, 0] = 0.0
    positions[:4, 0] = torch.tensor([-10.0, 0.0, -10.0, 10.0])
    return small_encoder(tokens, positions, "none")


def _leak_cases(rng):
    hidden = rng.randint(5, 7)
    # short vectors, so that no token takes nearly all attention; no case is wider than 8 positions
    table, positions = 0.4 * normal(rng, VOCABULARY, hidden), 0.4 * normal(rng, 8, hidden)
    # For an answer that replaces id 0, the padding, by -1: behind the vocabulary, each row of the
    # table is that of id 0, so that -1 changes nothing and the leak is not found.
    too_long = torch.cat([table, table[:1].repeat(VOCABULARY, 1)])
    small_leaks = _small_leak_cases(rng)
    # Each id stands at padding behind every first id. In some rows it is the first or the last real
    # id, too.
    all_ids = torch.tensor(
        [
            [first, (first + padding) % SMALL_VOCABULARY, padding]
            for padding in range(SMALL_VOCABULARY)
            for first in range(SMALL_VOCABULARY)
        ]
    )
    return [
        Case(
            "An encoder that masks out padding does not leak, on either side",
            small_encoder(table, positions, "none", leak=0.0),
            *_leak_batch(rng, 6, (6, 3, -2, -4), [0] * 4),
        ),
        Case(
            "An encoder without a mask leaks where there is padding",
            small_encoder(too_long, positions, "none"),
            *_leak_batch(rng, 7, rng.sample([7, 4, 3], 3), [0] * 3),
        ),
        Case(
            "A mask multiplied into the scores leaks",
            small_encoder(table, positions, "product"),
            *_leak_batch(rng, 6, (5, 2, 4), [0] * 3),
        ),
        Case(
            "One padded position is enough for a leak, on either side",
            small_encoder(table, positions, "ends"),
            *_leak_batch(rng, 7, (3, 7, -3, -6), [0] * 4),
        ),
        Case(
            "One affected real token is enough for a leak",
            _seen_from_one_position(table),
            *_leak_batch(rng, 4, (3, 3), [0] * 2),
        ),
        *small_leaks,
        Case(
            "Whatever the id of padding is, another id replaces it",
            small_encoder(table[:SMALL_VOCABULARY], positions, "none"),
            all_ids,
            torch.tensor([[1, 1, 0]] * len(all_ids)),
            SMALL_VOCABULARY,
        ),
        Case(
            "Without padding, nothing can leak",
            small_encoder(table, positions, "none"),
            *_leak_batch(rng, 5, (5, 5), [0] * 2),
        ),
    ]


def _leaks(encode, input_ids, attention_mask, vocabulary_size):
    padding = attention_mask == 0
    others = (input_ids + 1) % vocabulary_size
    swapped = torch.where(padding, others, input_ids)
    before = encode(input_ids, attention_mask)
    after = encode(swapped, attention_mask)
    largest = (after - before).abs().amax(dim=2)
    leak = (largest * attention_mask).amax(dim=1) > 1e-4  # the limit of the text
    return leak.tolist()


LEAKS = exercise("02-padding-leaks", _leak_cases, _leaks, points=2)(
    padded_compared={"largest * attention_mask": "largest"},
    no_absolute_value=[
        {"(after - before).abs()": change} for change in ("after - before", "before - after")
    ],
    not_number_by_number=[
        *({"amax(dim=2)": f"{other}(dim=2)"} for other in ("mean", "norm")),
        {"(after - before)": "(after.norm(dim=2) - before.norm(dim=2))", ".amax(dim=2)": ""},
    ],
    real_swapped=[
        {"torch.where(padding, others, input_ids)": "others"},
        {"attention_mask == 0": "attention_mask == 1"},
    ],
    mask_changed=[
        {", attention_mask)": ", torch.ones_like(attention_mask))"},
        {"swapped, attention_mask": "input_ids, torch.ones_like(attention_mask)"},
    ],
    # in a row of n real tokens, all positions from n on are taken for padding
    right_only={
        "attention_mask == 0": (
            "torch.arange(attention_mask.shape[1]) >= attention_mask.sum(dim=1, keepdim=True)"
        )
    },
    other_limit=[
        {"1e-4": "0"},
        {"1e-4": "1e-3"},
        {"(after - before).abs()": "((after - before).abs() - 1e-5 * before.abs())"},
    ],
    outside_vocabulary=[
        {"(input_ids + 1) % vocabulary_size": f"input_ids {sign} 1"} for sign in "+-"
    ],
    # one id replaces all padding, also where padding has this very id
    id_not_swapped=[
        {"(input_ids + 1) %": f"0 * input_ids + ({number}) %"} for number in (0, 1, -1)
    ],
    # only the first padded position of a row gets another id
    one_position_only={
        "attention_mask == 0": "(attention_mask == 0) & ((attention_mask == 0).cumsum(dim=1) == 1)"
    },
    one_value={"leak.tolist()": "bool(leak.any())"},
)


def _pad_row_cases(rng):
    pad = rng.randint(2, 99)
    return [
        *(
            Case("The mask has as many ones as there are ids", _ids(rng, length), width, pad)
            for length, width in ((3, 7), (1, 4), (5, 5))
        ),
        Case("A real token may have the id of padding", [*_ids(rng, 1), pad, pad], 6, pad),
    ]


def _pad_row(ids, width, pad_id):
    missing = width - len(ids)
    padded = ids + [pad_id] * missing
    ones, zeros = [1] * len(ids), [0] * missing
    return padded, ones + zeros


PAD_ROW = completion("02-pad-row", _pad_row_cases, _pad_row)(
    mask_from_ids={"ones + zeros": "[int(number != pad_id) for number in padded]"},
    mask_upside_down={"ones + zeros": "[1 - number for number in ones + zeros]"},
    mask_of_ones=[{"ones + zeros": f"[{number}] * width"} for number in "10"],
    mask_too_short=[{"ones + zeros": "ones"}, {"ones + zeros": "zeros"}],
    mask_too_long=[{"[1] * len(ids)": "[1] * width"}, {"[0] * missing": "[0] * width"}],
    padding_first={"ones + zeros": "zeros + ones"},
)


def _padding_share_cases(rng):
    # the number of rows, and the place of the longest: neither first nor last, nor always the same
    for rows, longest in ((3, 1), (7, 2), (7, 5)):
        lengths = rng.choices(range(1, 21), k=rows)
        lengths[longest] = rng.randint(25, 40)
        yield Case("The longest row determines the width", lengths)
    yield Case("Rows of equal length have no padding", [rng.randint(5, 9)] * 4)


def _padding_share(lengths):
    rows = len(lengths)
    width = max(lengths)
    return 1 - sum(lengths) / (rows * width)


PADDING_SHARE = completion("02-padding-share", _padding_share_cases, _padding_share)(
    not_multiplied=[{"rows * width": other} for other in ("width", "rows", "rows + width")],
    other_width=[
        {"max(lengths)": other} for other in ("lengths[0]", "lengths[-1]", "min(lengths)")
    ],
    fixed_number=[
        {"len(lengths)": "32"},
        {"max(lengths)": "512"},
        {"len(lengths)": "32", "max(lengths)": "512"},
    ],
    one_part_only=[
        {"rows * width": part} for part in ("sum(lengths)", "rows * width - sum(lengths)")
    ],
    special_added={"* width": "* (width + 2)"},
    rows_miscounted=[
        {"len(lengths)": "(len(lengths) - 1)"},
        {"len(lengths)": "(len(lengths) + 1)"},
    ],
)
