"""Exercises of lesson 02, padding and truncation."""

import torch

from .._support.values import small_encoder
from .framework import Case, Exercise, Mistake, difference, normal


def _ids(rng, count):
    """`count` different ids, none of them familiar from the lesson (0, 101, 102)."""
    return rng.sample(range(1000, 30000), count)


def _pad_cases(rng):
    pad_id = rng.randint(3, 90)
    lengths = rng.choice([(5, 2, 9, 7), (7, 9, 2, 5), (2, 9, 5, 7), (9, 2, 7, 5)])  # never sorted
    shuffled = [_ids(rng, n) for n in lengths]
    return [
        Case("Each row stays in its place and becomes as long as the longest", (shuffled, pad_id)),
        Case(
            "The longest sentence may stand anywhere",  # `max` of these lists would pick the third
            ([_ids(rng, 3), _ids(rng, 8), [rng.randint(30000, 30500), *_ids(rng, 4)], _ids(rng, 4)], pad_id + 1),
        ),
        Case("Sentences of one length need no padding", ([_ids(rng, 5) for _ in range(3)], pad_id)),
        Case("One sentence alone stays as it is", ([_ids(rng, 6)], pad_id)),
        Case("The padding id is the one that is given", ([_ids(rng, 4), _ids(rng, 6)], 0)),
        Case(
            "A real token with the padding's id is still real",
            ([[*_ids(rng, 3), pad_id, *_ids(rng, 2)], _ids(rng, 3), [pad_id, *_ids(rng, 1), pad_id]], pad_id),
        ),
        Case("An empty sentence becomes all padding", ([[], _ids(rng, 3)], pad_id)),
        Case("If all sentences are empty, so are the rows", ([[], []], pad_id)),
    ]


def _width(batch):
    return max(len(ids) for ids in batch)


def _padded(batch, pad_id, width=None):
    width = _width(batch) if width is None else width
    return [ids + [pad_id] * (width - len(ids)) for ids in batch]


def _masks(batch, width=None):
    return _padded([[1] * len(ids) for ids in batch], 0, _width(batch) if width is None else width)


def _pad_batch(batch, pad_id):
    return _padded(batch, pad_id), _masks(batch)


def _left(rows, fill):
    return [[fill] * (_width(rows) - len(row)) + row for row in rows]


_ONE_MORE_OR_LESS = (
    "Your rows are one longer than the longest sentence. Padding fills up to the longest; the longest itself gets none."
)

_MAX_OF_LISTS = (
    "`max(batch)` is a list, and not the longest: it compares lists by their first id. The longest length is "
    "`max(len(ids) for ids in batch)`."
)

PAD = Exercise(
    id="02-pad-batch",
    title="Pad a batch",
    arguments=("batch", "pad_id"),
    cases=_pad_cases,
    reference=_pad_batch,
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "Nearly: you find padding by its id. In one case a real token has the same id, and your mask hides it. "
            "Make the mask from the lengths instead.",
            lambda b, p: (_padded(b, p), [[int(i != p) for i in row] for row in _padded(b, p)]),
        ),
        Mistake(
            "The mask has 0 wherever an id is 0, but padding has the id `pad_id`, which is another number here. "
            "Make the mask from the lengths instead.",
            lambda b, p: (_padded(b, p), [[int(i != 0) for i in row] for row in _padded(b, p)]),
        ),
        Mistake("You fill up with 0. The id for padding is given: `pad_id`.", lambda b, p: (_padded(b, 0), _masks(b))),
        Mistake(
            "The ids are right, but the mask is 1 everywhere. Padding needs a 0. (If you wrote `[[0] * width] * n`: "
            "that is one row n times, and a change in one shows in all.)",
            lambda b, p: (_padded(b, p), [[1] * _width(b) for _ in b]),
        ),
        Mistake(
            "The mask is upside down: 1 marks a real token, 0 marks padding.",
            lambda b, p: (_padded(b, p), [[1 - m for m in row] for row in _masks(b)]),
        ),
        Mistake(
            "The ids are right, but the mask's rows are only as long as the sentences. They need a 0 for each "
            "padding token.",
            lambda b, p: (_padded(b, p), [[1] * len(ids) for ids in b]),
        ),
        Mistake(
            "The mask is filled up with `pad_id`. In the mask padding is always 0.",
            lambda b, p: (_padded(b, p), _padded([[1] * len(ids) for ids in b], p)),
        ),
        Mistake(
            "Padding stands on the left. Here it belongs on the right, after the sentence.",
            lambda b, p: (_left(b, p), _left([[1] * len(ids) for ids in b], 0)),
        ),
        Mistake(
            "The ids are padded on the left. Here padding belongs on the right, after the sentence.",
            lambda b, p: (_left(b, p), _masks(b)),
        ),
        Mistake(
            "You return the mask first. The ids come first, then the mask.", lambda b, p: (_masks(b), _padded(b, p))
        ),
        Mistake("You return only the ids. The mask is asked for too: `return input_ids, attention_mask`.", _padded),
        Mistake(
            "You return one pair (ids, mask) for each sentence. Two tables are asked for: all ids, then all masks.",
            lambda b, p: list(zip(_padded(b, p), _masks(b), strict=True)),
        ),
        Mistake(
            "You return a dictionary. Two tables are asked for: `return input_ids, attention_mask`.",
            lambda b, p: {"input_ids": _padded(b, p), "attention_mask": _masks(b)},
        ),
        Mistake(
            "You cut long sentences down to the shortest. Padding never cuts: fill the short ones up to the longest.",
            lambda b, p: ([ids[: min(map(len, b))] for ids in b], [[1] * min(map(len, b)) for _ in b]),
        ),
        Mistake(_ONE_MORE_OR_LESS, lambda b, p: (_padded(b, p, _width(b) + 1), _masks(b, _width(b) + 1))),
        Mistake(
            "You pad to the length of the first sentence. Take the longest of the batch: it may stand anywhere.",
            lambda b, p: (_padded(b, p, len(b[0])), _masks(b, len(b[0]))),
        ),
        Mistake(
            "You pad to the length of the last sentence. Take the longest of the batch: it may stand anywhere.",
            lambda b, p: (_padded(b, p, len(b[-1])), _masks(b, len(b[-1]))),
        ),
        Mistake(_MAX_OF_LISTS, lambda b, p: (_padded(b, p, len(max(b))), _masks(b, len(max(b))))),
        Mistake(_MAX_OF_LISTS, lambda b, p: max(b) - len(b[0])),
        Mistake(_MAX_OF_LISTS, lambda b, p: len(b[0]) < max(b)),
        Mistake(_MAX_OF_LISTS, lambda b, p: range(max(b))),
        Mistake(
            "You return only the first row. Does `return` stand inside the loop? It belongs after it.",
            lambda b, p: (_padded(b, p)[:1], _masks(b)[:1]),
        ),
        Mistake(
            "You add one padding token to each short sentence. Add as many as are missing: the longest length minus "
            "its own length.",
            lambda b, p: (
                [ids + [p] * (len(ids) < _width(b)) for ids in b],
                [[1] * len(ids) + [0] * (len(ids) < _width(b)) for ids in b],
            ),
        ),
        Mistake(
            "You return the batch without padding. Rows of different lengths make no rectangle.",
            lambda b, p: (b, [[1] * len(ids) for ids in b]),
        ),
    ),
    hints=(
        "First find the length of the longest list. Each list then lacks that length minus its own.",
        "`ids + [pad_id] * missing` makes a new, longer list. `ids.append(...)` and `ids += ...` would change the "
        "caller's.",
        "A row of the mask is `[1] * len(ids) + [0] * missing`. It needs no look at the ids.",
    ),
)


def _truncate_cases(rng):
    cls, sep = rng.sample(range(3, 90), 2)

    def sentence(length):
        return [cls, *_ids(rng, length - 2), sep]

    return [
        Case("A long sentence is cut", (sentence(rng.randint(12, 16)), rng.randint(6, 8))),
        Case("One token too many", (sentence(9), 8)),
        Case("A sentence of exactly max_length stays as it is", (sentence(7), 7)),
        Case("A short sentence stays as it is", (sentence(4), rng.randint(8, 12))),
        Case("One token below the limit", (sentence(6), 7)),
        Case("[CLS] and [SEP] are left when max_length is 2", (sentence(5), 2)),
        Case(
            "The text may contain [CLS] and [SEP]",
            ([cls, *_ids(rng, 1), sep, cls, *_ids(rng, 1), sep, *_ids(rng, 2), sep], 7),
        ),  # cut just after a [SEP]
        Case("So may a short text", ([cls, sep, *_ids(rng, 2), cls, sep], rng.randint(8, 12))),
    ]


def _truncate(ids, n):
    return ids if len(ids) <= n else ids[: n - 1] + ids[-1:]


_ALWAYS_SEP = (
    "Long sentences are right. A sentence below the limit gets [SEP] twice: your slice keeps all of it, and then one "
    "more [SEP] is added. Return short sentences as they are."
)

_NOTHING = (
    "For {} your function returns nothing (`None`). Is a `return` missing? Or do you return what `append` gives "
    "back? `append` changes a list and returns `None`; `+` joins two lists."
)
_NUMBER = (
    "`ids[-1]` is a number, and a number cannot be joined to a list. `ids[-1:]` is a list that holds only the last id."
)

TRUNCATE = Exercise(
    id="02-truncate",
    title="Truncate",
    arguments=("ids", "max_length"),
    cases=_truncate_cases,
    reference=_truncate,
    minutes=6,
    difficulty=1,
    mistakes=(
        Mistake("You cut off [SEP]. The last id must still be the one that `ids` ended with.", lambda ids, n: ids[:n]),
        Mistake(
            "Nearly: the result is one too long. With [SEP] added, only `max_length - 1` other ids fit.",
            lambda ids, n: ids if len(ids) <= n else ids[:n] + ids[-1:],
        ),
        Mistake(
            "One too long, and short sentences get [SEP] twice. Return short ones as they are; in long ones "
            "`max_length - 1` ids fit before [SEP].",
            lambda ids, n: ids[:n] + ids[-1:],
        ),
        Mistake(
            "The result is one too short. `max_length` counts [CLS] and [SEP]: before [SEP] there is room for "
            "`max_length - 1` ids.",
            lambda ids, n: ids if len(ids) <= n else ids[: n - 2] + ids[-1:],
        ),
        Mistake(
            "The result is too long: `max_length` counts [CLS] and [SEP] too, and you kept `max_length` tokens "
            "between them.",
            lambda ids, n: ids if len(ids) <= n else ids[: n + 1] + ids[-1:],
        ),
        Mistake(_ALWAYS_SEP, lambda ids, n: ids[: n - 1] + ids[-1:]),
        Mistake(
            "You end with 102. That is [SEP] in BERT's vocabulary only; here the ids come from another tokenizer. "
            "Take the last id of `ids`.",
            lambda ids, n: ids if len(ids) <= n else ids[: n - 1] + [102],
        ),
        Mistake(
            "You keep the end of the text and drop its beginning. Keep [CLS] and the ids that follow it.",
            lambda ids, n: ids if len(ids) <= n else ids[:1] + ids[len(ids) - n + 1 :],
        ),
        Mistake(
            "You keep the last ids, so [CLS] and the beginning are gone. Keep the beginning.", lambda ids, n: ids[-n:]
        ),
        Mistake("You take [CLS] and [SEP] away. Both stay, and both count.", lambda ids, n: ids[1:-1][:n]),
        Mistake("You take [CLS] and [SEP] away. Both stay, and both count.", lambda ids, n: ids[1:-1][: n - 2]),
        Mistake(
            "You replace the last id by 0, which is padding. The last id must be [SEP], the one that `ids` ended with.",
            lambda ids, n: ids if len(ids) <= n else ids[: n - 1] + [0],
        ),
        Mistake(
            "You fill short sentences up to `max_length`. Here they stay as they are; padding is another step.",
            lambda ids, n: _truncate(ids, n) + [0] * (n - len(ids)),
        ),
        Mistake("You return the sentence without cutting.", lambda ids, n: ids),
        Mistake(_NOTHING.format("long sentences"), lambda ids, n: ids if len(ids) <= n else None),
        Mistake(_NOTHING.format("every sentence"), lambda ids, n: None),
        Mistake(
            "For short sentences your function returns nothing (`None`). They need a `return` too: give them back "
            "as they are.",
            lambda ids, n: None if len(ids) <= n else _truncate(ids, n),
        ),
        Mistake(
            "For short sentences your function returns nothing (`None`). They need a `return` too: give them back "
            "as they are.",
            lambda ids, n: None if len(ids) < n else _truncate(ids, n),
        ),
        Mistake(_NUMBER, lambda ids, n: ids if len(ids) <= n else ids[: n - 1] + ids[-1]),
        Mistake(_NUMBER, lambda ids, n: ids[: n - 1] + ids[-1]),
        *(
            Mistake(
                "You drop each id that equals the last one. The text may contain [SEP] too, and there it stays.",
                imitate,
            )
            for imitate in (
                lambda ids, n: [i for i in ids if i != ids[-1]][: n - 1] + ids[-1:],
                lambda ids, n: ids if len(ids) <= n else [i for i in ids if i != ids[-1]][: n - 1] + ids[-1:],
            )
        ),
        Mistake(
            "You add no [SEP] where the ids before it end with one. The text may contain [SEP] too: the last of "
            "`ids` is kept all the same.",
            lambda ids, n: ids[: n - 1] + ids[-1:] * (ids[: n - 1][-1] != ids[-1]),
        ),
        Mistake(
            "You cut off as many ids as are too many, but leave out [SEP] as well: the result is one too short.",
            lambda ids, n: ids if len(ids) <= n else ids[: n - 1],
        ),
    ),
    hints=(
        "Two cases: short enough (nothing to do), or too long. Treat the first one first.",
        "Of `max_length` places, the last belongs to [SEP]. How many are left for the beginning?",
        "`ids[:max_length - 1]` is the beginning, `ids[-1:]` a list that holds only the last id. `+` joins lists.",
    ),
)


FAR = 999_990.0  # with a few units more or less still within a million


def _bug_cases(rng):
    lengths = [6, 3, 4]
    mask = torch.tensor([[1] * n + [0] * (6 - n) for n in lengths])
    scores = 1.5 * normal(rng, 3, 6)
    with_zero = scores.clone()
    with_zero[:, 1] = 0.0
    steps = (2 * scores).round() / 2  # exact in float32 even a million away from 0
    down, apart = torch.tensor([[0], [1], [0]]), torch.tensor([[1], [0], [-1]])
    return [
        Case("Without padding it is the ordinary softmax", (normal(rng, 2, 5), torch.ones(2, 5, dtype=torch.int64))),
        Case("Padding gets the weight 0, and real tokens share 1", (scores, mask)),
        Case("The scores at padded positions change nothing", (scores + 6 * (1 - mask), mask)),
        Case("A real token may have the score 0", (with_zero, mask)),
        Case(  # in one row real tokens are a million below 0
            "Padding may score a million above 0", (steps + FAR * (1 - mask - down * mask), mask)
        ),
        Case("Padding may score a million below 0", (steps - FAR * (1 - mask), mask)),
        Case("All real scores may be a million below 0", (steps - FAR * mask, mask)),
        Case("One row may be a million above 0, another a million below", (steps + FAR * apart, mask)),
        Case("Padding may stand on the left", (scores.flip(1), mask.flip(1))),
        Case("A row alone gives the same weights as in a batch", (scores[1:2], mask[1:2])),
        Case(
            "As many sentences as tokens",
            (normal(rng, 4, 4), torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])),
        ),
    ]


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


_NOT_LOW_ENOUGH = (
    "Your number for padding is not low enough: real scores may be a million below 0, and then padding wins. Which "
    "number is lower than all others?"
)
_TOO_LATE = (
    "You take padding out after the powers of e. When a padded score is very high, or real ones are very low, all "
    "real powers are 0 by then, and 0 divided by 0 is NaN. Use the mask before the softmax."
)
_BY_HAND = (
    "e to the power of a very low score is 0 in a computer, and 0 divided by 0 is NaN (for a very high score it is "
    "infinity). `torch.softmax` avoids this, because it takes the row's largest score off first. Use it on the "
    "lowered scores."
)
_TRUE_OR_FALSE = (
    "The mask holds the numbers 1 and 0, and `masked_fill` and `torch.where` need true or false, so your function "
    "raises an error. For padding write `attention_mask == 0`."
)
_ALONG_BATCH = (
    "Your weights add up to 1 over the sentences of the batch. Each row has its own softmax, over its tokens: `dim=1`."
)

BUG = Exercise(
    id="02-find-the-bug",
    title="Find the bug",
    arguments=("scores", "attention_mask"),
    cases=_bug_cases,
    reference=_masked_softmax,
    judge=_judge_weights,
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "The bug is still there: padding gets the score 0, and a score of 0 is not a weight of 0. What is e to "
            "the power of 0? Which score would give a weight of 0?",
            lambda s, m: torch.softmax(s * m, dim=1),
        ),
        Mistake("The mask is not used: padding takes part as if it were real.", lambda s, m: torch.softmax(s, dim=1)),
        Mistake(
            "Padding has the weight 0 now, but the real tokens of a row no longer add up to 1: padding took its "
            "share in the softmax before you removed it. Use the mask before the softmax.",
            lambda s, m: torch.softmax(s, dim=1) * m,
        ),
        Mistake(
            "Padding has the weight 0 now, but the real tokens of a row no longer add up to 1. Padding still takes "
            "part in the softmax with the score 0. Change what goes into the softmax.",
            lambda s, m: torch.softmax(s * m, dim=1) * m,
        ),
        Mistake(
            "The mask is upside down: you lower the scores of real tokens. 1 marks a real token.",
            lambda s, m: _softmax(s, m == 0),
        ),
        Mistake(
            "The mask is upside down: you lower the scores of real tokens. 1 marks a real token.",
            lambda s, m: _softmax(s, m == 0, -1e9),
        ),
        Mistake(
            "The result holds NaN, because minus infinity times 0 is not a number. Do not multiply by infinity: "
            "fill it in where the mask is 0, with `masked_fill`.",
            lambda s, m: torch.softmax(s + (1 - m) * float("-inf"), dim=1),
        ),
        Mistake(
            "You add the mask to the scores. That lifts real scores by 1 and no more. Padding needs a score that is "
            "lower than all others.",
            lambda s, m: torch.softmax(s + m, dim=1),
        ),
        Mistake(
            "You use plus infinity: then padding wins everything, and the result holds NaN. Use *minus* infinity.",
            lambda s, m: _softmax(s, m == 1, float("inf")),
        ),
        Mistake(
            "Nearly: you find padding by its score. A real token can have the score 0 too, and you hide it. Ask the "
            "mask: `attention_mask == 0`.",
            lambda s, m: _softmax(s, s * m != 0),
        ),
        *(
            Mistake(_NOT_LOW_ENOUGH, lambda s, m, low=low: _softmax(s, m == 1, low))
            for low in (-1.0, -5.0, -10.0, -20.0, -100.0, -1000.0, -9999.0, -1e4, -1e5)
        ),
        *(
            Mistake(_NOT_LOW_ENOUGH, lambda s, m, low=low: torch.softmax(s + low * (1 - m), dim=1))
            for low in (-5.0, -10.0, -100.0, -1000.0, -1e4, -1e5)
        ),
        Mistake(_TOO_LATE, lambda s, m: _shares(torch.softmax(s, dim=1) * m)),
        Mistake(_TOO_LATE, lambda s, m: _shares(torch.softmax(s * m, dim=1) * m)),
        Mistake(_BY_HAND, lambda s, m: _shares(torch.exp(s) * m)),
        Mistake(_BY_HAND, lambda s, m: _shares(torch.exp(s.masked_fill(m == 0, float("-inf"))))),
        *(
            Mistake(
                "You take the largest score of the whole batch off. In a row that is far below it, all powers of e are "
                "0, and 0 divided by 0 is NaN. Take off each row's own: `amax(dim=1, keepdim=True)`.",
                imitate,
            )
            for imitate in (
                lambda s, m: _shares(torch.exp(s.masked_fill(m == 0, float("-inf")) - s[m == 1].max())),
                lambda s, m: _shares(torch.exp(s.masked_fill(m == 0, float("-inf")) - s.max())),
                lambda s, m: _shares(torch.exp(s - s.max()) * m),
            )
        ),
        Mistake(_TRUE_OR_FALSE, lambda s, m: s.masked_fill(m, float("-inf"))),
        Mistake(_TRUE_OR_FALSE, lambda s, m: torch.where(m, s, float("-inf"))),
        Mistake(_ALONG_BATCH, lambda s, m: torch.softmax(s * m, dim=0)),
        Mistake(_ALONG_BATCH, lambda s, m: _softmax(s, m == 1, dim=0)),
        Mistake(_ALONG_BATCH, lambda s, m: _softmax(s, m == 1, -1e9, dim=0)),
        Mistake(
            "You divide scores by their sum. A softmax divides e to the power of each score by the sum of these "
            "powers.",
            lambda s, m: s * m / (s * m).sum(dim=1, keepdim=True),
        ),
        Mistake(
            "You return the lowered scores. The softmax over each row is missing.",
            lambda s, m: s.masked_fill(m == 0, float("-inf")),
        ),
        Mistake(
            "You return the logarithm of the weights. Use `torch.softmax`, not `log_softmax`.",
            lambda s, m: torch.log_softmax(s.masked_fill(m == 0, float("-inf")), dim=1),
        ),
    ),
    hints=(
        "Work it out for one padded position: its score times its mask value is 0. Softmax takes e to the power of "
        "the score. What is that for 0?",
        "For which score is e to the power of it 0? Padding needs that score *before* the softmax.",
        "`scores.masked_fill(attention_mask == 0, float('-inf'))` returns a copy of the scores with minus infinity "
        "at padding.",
    ),
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
    return [
        Case("An encoder that hides padding does not leak", (encoder("none", 0.0), *batch(ragged, 7, 0))),
        Case(
            "An encoder without a mask leaks where there is padding",
            (encoder("none", table=too_long), *batch(ragged, 7, 0)),
        ),
        Case("A mask multiplied into the scores leaks", (encoder("product"), *batch([5, 2, 4], 6, 1))),
        Case("A mask used after the softmax leaks", (encoder("late"), *batch([3, 6, 2], 6, 0))),
        Case("One padded position is enough", (encoder("ends"), *batch([3, 7, 4], 7, 0))),
        Case("One padded position is enough, on the left too", (encoder("ends"), *batch([3, 7, 6], 7, 0, left=True))),
        Case("One real token that notices is enough", (middle(), *batch([3, 3], 4, 2))),
        Case(
            "Padding on the left need not leak",
            (encoder("none", 0.0, positions=in_fours), *batch([6, 2, 5], 6, 0, left=True)),
        ),
        Case("One number may grow by 0.00015", (changing(1.5e-4, one, "one", [5]), *batch(one_padded, 5, one))),
        Case(  # a number near 10, where an `rtol` of 1e-5 adds 1e-4 to the limit
            "It may shrink by 0.00015",
            (changing(-1.5e-4, two, "none", [2], start=10.0, short=0.01), *batch(one_padded, 5, two)),
        ),
        Case(
            "All numbers may grow by 0.00015",
            (changing(1.5e-4, three, "none", slice(None)), *batch(one_padded, 5, three)),
        ),
        Case("A change of 0.00007 does not count", (changing(7e-5, three, "one", [4]), *batch(one_padded, 5, three))),
        Case("Nor do many of them", (changing(7e-5, four, "none", slice(None)), *batch(one_padded, 5, four))),
        Case(
            "A vector may change and keep its norm",  # one number goes from 0.01 to -0.01
            (changing(-0.02, five, "none", [3], start=-0.01), *batch(one_padded, 5, five)),
        ),
        Case(
            "Whatever id stands at padding, another one takes its place",
            (encoder("none", table=table[:FEW]), all_ids, torch.tensor([[1, 1, 0]] * len(all_ids)), FEW),
        ),
        Case("Without padding nothing can leak", (encoder("none"), *batch([5, 5], 5, 0))),
    ]


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


def _leaks_by(measure, most=1e-4):
    """Leaks as found by another measure: `measure(changes, mask)` is one number for each row."""

    def leaks(encode, ids, mask, size):
        return (measure(_changes(encode, ids, mask, size), mask) > most).tolist()

    return leaks


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


def _one_swapped(place):
    def leaks(encode, ids, mask, size):
        swapped = ids.clone()
        for row, padding in enumerate(mask == 0):
            if padding.any():
                column = padding.nonzero()[place, 0]
                swapped[row, column] = (ids[row, column] + 1) % size
        return (_largest(encode(swapped, mask) - encode(ids, mask), mask) > 1e-4).tolist()

    return leaks


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


_SAME_ID = (
    "At some padded positions your other id is the very one that stands there, and nothing is swapped. One fixed id "
    "does this, and so do formulas that fit most ids: try yours on 0, 1 and 2, in a vocabulary of 3."
)
_ONE_POSITION = (
    "You swap one padded position of a row. An encoder may hide that one and not the others: swap all of them."
)

LEAKS = Exercise(
    id="02-padding-leaks",
    title="Does padding leak?",
    arguments=("encode", "input_ids", "attention_mask", "vocabulary_size"),
    cases=_leak_cases,
    reference=_leaks,
    minutes=15,
    difficulty=3,
    points=2,
    mistakes=(
        Mistake(
            "You compare the vectors of first tokens only. A leak may show in any real token: compare all of them.",
            _leaks_by(lambda changes, mask: changes[:, 0].abs().amax(dim=1) * mask[:, 0]),
        ),
        Mistake(
            "You compare padded positions too. Their vectors may change, since another id stands there. Only the "
            "vectors of real tokens count.",
            _leaks_by(lambda changes, mask: changes.abs().amax(dim=(1, 2))),
        ),
        *(
            Mistake(
                "You do not take the absolute value: a number that becomes smaller has changed too.",
                _leaks_by(lambda changes, mask, sign=sign: ((sign * changes).amax(dim=2) * mask).amax(dim=1)),
            )
            for sign in (1, -1)
        ),
        Mistake(
            "You look at the first number of each vector only. Any of its numbers may change.",
            _leaks_by(lambda changes, mask: (changes[:, :, 0].abs() * mask).amax(dim=1)),
        ),
        *(
            Mistake(
                "You add changes up, or take their norm. Many small changes then look like a large one. Take the "
                "largest: one number must change by more than 1e-4.",
                _leaks_by(measure),
            )
            for measure in (
                lambda changes, mask: (changes.norm(dim=2) * mask).amax(dim=1),
                lambda changes, mask: (changes.abs().sum(dim=2) * mask).amax(dim=1),
            )
        ),
        *(
            Mistake(
                "You take a mean, and a change in one number of one real token gets lost in it. Compare number by "
                "number.",
                _leaks_by(measure),
            )
            for measure in (
                lambda changes, mask: (changes.abs().mean(dim=2) * mask).amax(dim=1),
                lambda changes, mask: ((changes * mask[..., None]).sum(dim=1) / mask.sum(dim=1)[:, None]).abs().amax(1),
            )
        ),
        Mistake(
            "You compare the norms of the vectors. A vector can change and keep its norm: compare number by number.",
            _leaks_by_norm,
        ),
        Mistake(
            "You swap the ids of real tokens too, so their vectors must change. Swap only where the mask is 0.",
            lambda e, i, m, n: (_largest(e(_next_ids(i, n), m) - e(i, m), m) > 1e-4).tolist(),
        ),
        Mistake(
            "Every row with padding counts as a leak, even if the encoder hides it. Do you give the encoder a mask "
            "of ones? Hand over `attention_mask` both times.",
            lambda e, i, m, n: (
                _largest(e(torch.where(m == 0, _next_ids(i, n), i), torch.ones_like(m)) - e(i, torch.ones_like(m)), m)
                > 1e-4
            ).tolist(),
        ),
        Mistake(
            "You change the mask and leave the ids. An encoder may use the mask and still let padding through. Leave "
            "the mask as it is, and put other ids at the padded positions.",
            lambda e, i, m, n: (_largest(e(i, torch.ones_like(m)) - e(i, m), m) > 1e-4).tolist(),
        ),
        Mistake(
            "You compare with the sentence alone, without padding. With padding on the left its tokens stand at other "
            "positions, and their vectors change although padding is hidden. Keep the positions, and swap the ids.",
            _alone,
        ),
        *(
            Mistake(message, lambda *a, at=at: _swapped_at(*a, at=at))
            for message, at in (
                (
                    "You take the first positions of each row for its real tokens, and swap the others. With padding "
                    "on the left, these are real tokens. Swap where the mask is 0.",
                    _after_as_many_as_are_real,
                ),
                (
                    "You swap padding only to the right of the real tokens. It may stand on the left, too: swap where "
                    "the mask is 0.",
                    _after_the_last,
                ),
            )
        ),
        Mistake(
            "You count changes that are smaller than 1e-4, such as rounding makes. Only a change of more than 1e-4 "
            "counts.",
            _leaks_by(_largest, most=0.0),
        ),
        *(
            Mistake(
                "You miss a small leak: a change of 0.00015 is more than 1e-4, and counts.", _leaks_by(_largest, most)
            )
            for most in (1e-3, 1e-2)
        ),
        Mistake(
            "You allow a larger change where a number is large. `allclose` and `isclose` do so, with their `rtol`: "
            "write `rtol=0`, and 1e-4 is the limit for all numbers.",
            _by_closeness,
        ),
        *(
            Mistake(
                "Some of your other ids are negative. The lowest id is 0, and many encoders raise an error below it. "
                "With `% vocabulary_size` each id is one of the vocabulary.",
                lambda *a, others=others: _leaks(*a, others=others),
            )
            for others in (lambda ids, size: ids - 1, lambda ids, size: -1 - ids)
        ),
        *(Mistake(_SAME_ID, lambda *a, n=n: _leaks(*a, others=_constant(n))) for n in (-1, 0, 1)),
        *(
            Mistake(_SAME_ID, lambda *a, others=others: _leaks(*a, others=others))
            for others in (lambda ids, size: size - 1 - ids, lambda ids, size: (ids + 3) % size)
        ),
        Mistake(
            "Your other ids run past the end of the vocabulary: the largest id is `vocabulary_size - 1`. With "
            "`% vocabulary_size` they begin again at 0.",
            lambda *a: _leaks(*a, others=lambda ids, size: ids + 1),
        ),
        *(Mistake(_ONE_POSITION, _one_swapped(place)) for place in (0, -1)),
        Mistake(
            "You return one truth value for the whole batch. One for each row is asked for.",
            lambda *a: any(_leaks_by(_largest)(*a)),
        ),
        Mistake(
            "True and False are the wrong way round: a row is True if its padding leaks.",
            lambda *a: [not leak for leak in _leaks_by(_largest)(*a)],
        ),
        Mistake(
            "You return by how much the vectors change. Compare that with 1e-4: True or False is asked for.",
            lambda e, i, m, n: _largest(_changes(e, i, m, n), m).tolist(),
        ),
    ),
    hints=(
        "Encode twice, with the same mask: once as it is, and once with other ids at the padded positions. What may "
        "not have changed?",
        "`torch.where(attention_mask == 0, other_ids, input_ids)` swaps only at padding. Which formula gives, for any "
        "id, another one of the vocabulary?",
        "The absolute difference of the two results has the shape (batch, tokens, hidden). Its `amax(dim=2)` is one "
        "number for each position. Set it to 0 at padding, and take the largest of each row.",
    ),
)

EXERCISES = (PAD, TRUNCATE, BUG, LEAKS)
