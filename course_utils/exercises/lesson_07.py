"""Exercises of lesson 07, masked language modelling.

See `model.py` on cases and mistakes' swaps.
"""

import math

import numpy as np
import torch

from .comparing import as_float64, difference, distinct_texts, safely
from .model import Case, completion, exercise, normal

IGNORED = -100  # the label of a place that does not count, as for `cross_entropy` of PyTorch


def _edit_cases(rng):
    vocabulary, width = rng.randint(9, 13), rng.randint(5, 7)
    hidden, table, bias = (
        2 * normal(rng, width),
        normal(rng, vocabulary, width),
        normal(rng, vocabulary),
    )
    piece = rng.randrange(1, vocabulary - 1)

    # The arguments of an answer that gives `piece` the probability `p`. Its logit is so far `lead`
    # above the highest other one (below it, if negative); `more` is added to all logits.
    def arguments(lead, p, piece=piece, hidden=hidden, more=0):
        logits = table @ hidden + bias
        shifted = bias + more
        shifted[piece] += lead + _without(logits, piece).max() - logits[piece]
        return hidden, table, shifted, piece, p

    return [
        Case("The row is raised to a given probability", *arguments(-1.0, rng.uniform(0.5, 0.8))),
        Case(
            "The row of the first piece is lowered",
            *arguments(1.0, rng.uniform(0.05, 0.12), piece=0),
        ),
        Case(
            "The row of the last piece is lowered further",
            *arguments(3.0, rng.uniform(0.01, 0.05), piece=vocabulary - 1),
        ),
        Case("A present probability that is rounded to 0", *arguments(-200.0, 0.25)),
        Case("A present probability that is rounded to 1", *arguments(60.0, 0.75)),
        Case(
            "A short vector at the mask",
            *arguments(-1.0, rng.uniform(0.6, 0.8), hidden=0.2 * hidden / hidden.norm()),
        ),
        # exp(100) does not fit into float32
        Case("Large logits", *arguments(-1.0, rng.uniform(0.6, 0.8), more=100)),
    ]


# The logits of all pieces but this.
def _without(logits, piece):
    return torch.cat([logits[:piece], logits[piece + 1 :]])


def _edit_row(hidden, table, bias, piece, p):
    hidden, table, bias = hidden.double(), table.double(), bias.double()
    logits = table @ hidden + bias
    others = _without(logits, piece).logsumexp(dim=0)
    # how far the logit must rise for the piece to have the probability p
    rise = math.log(p / (1 - p)) + others - logits[piece]
    step = hidden / (hidden @ hidden)
    return table[piece] + rise * step


# Whether two rows are equal, but for the rounding of answers that compute in float32.
def _alike_rows(one, other):
    one, other = as_float64(one), as_float64(other)
    return one.shape == other.shape and np.allclose(
        one, other, rtol=1e-4, atol=1e-4, equal_nan=True
    )


def _judge_row(args, outcome):
    *_, piece, p = args
    hidden, table, bias = (tensor.double() for tensor in args[:3])
    right = _edit_row(*args)
    row = safely(as_float64, outcome, otherwise=np.array(np.nan))
    if row.shape != tuple(right.shape) or not np.isfinite(row).all():
        return difference(outcome, right)
    if _alike_rows(row, right):
        return None
    row = torch.tensor(row)
    others = _without(table @ hidden + bias, piece).logsumexp(dim=0)
    log_odds = row @ hidden + bias[piece] - others
    # float32 moves log-odds by less than 1e-3, even with logits in the hundreds
    if abs(float(log_odds) - math.log(p / (1 - p))) > 1e-3:
        probability, wanted = distinct_texts(float(log_odds.sigmoid()), p, digits=3)
        return (
            f"with your row, the piece has the probability {probability} where {wanted} is wanted"
        )
    # right, but not the nearest row
    distances = (float((new_row - table[piece]).norm()) for new_row in (row, right))
    distance, shortest = distinct_texts(*distances, digits=3)
    return (
        f"with your row, the piece has the right probability, but the row is {distance} away "
        f"from the old one, and the nearest one that does it is only {shortest} away"
    )


EDIT_ROW = exercise(
    "07-edit-row", _edit_cases, _edit_row, judge=_judge_row, alike=_alike_rows, points=2
)(
    log_probabilities={"math.log(p / (1 - p))": "math.log(p)", "_without(logits, piece)": "logits"},
    compared_with_all={"_without(logits, piece)": "logits"},
    no_logarithm=[
        {"math.log(p / (1 - p))": other} for other in ("p / (1 - p)", "p", "math.log(p)")
    ],
    others_left_out=[{" + others": ""}, {"logsumexp": "amax"}],
    no_bias=[{"@ hidden + bias": "@ hidden"}, {"- logits[piece]": "- table[piece] @ hidden"}],
    wrong_direction={"table[piece] + rise": "table[piece] - rise"},
    wrong_length=[{"/ (hidden @ hidden)": other} for other in ("/ hidden.norm()", "")],
    added_to_all={"hidden / (hidden @ hidden)": "torch.ones_like(hidden)"},
    not_nearest=[
        {"hidden / (hidden @ hidden)": "torch.ones_like(hidden) / hidden.sum()"},
        {"rise * step": "rise * table[piece] / (table[piece] @ hidden)"},
        {"table[piece] + rise * step": "(table[piece] @ hidden + rise) * step"},
    ],
    change_returned={"table[piece] + rise * step": "rise * step"},
    # the present log-odds from a probability: in float64, in float32, and kept off 0 and 1
    infinite_logarithm=[
        {"+ others - logits[piece]": f"- torch.logit(logits{kind}.softmax(dim=0)[piece]{bound})"}
        for kind, bound in (("", ""), (".float()", ""), (".float()", ", 1e-6"))
    ],
    overflow=[
        {"_without(logits, piece).logsumexp(dim=0)": other}
        for other in (
            "_without(logits.float(), piece).exp().sum().log()",
            "(logits.float().exp().sum() - logits.float().exp()[piece]).log()",
        )
    ],
)


def _mask_cases(rng):
    special = rng.sample(range(20, 30), 4)  # words have the ids below 20
    pad, first, last, mask_id = special
    # rows of 6, 9 and 4 words between two special tokens, padded to 11 ids
    ids = torch.tensor(
        [[first, *(rng.randrange(20) for _ in range(n)), last, *[pad] * (9 - n)] for n in (6, 9, 4)]
    )

    # Random numbers. Four columns are set, so that words and special tokens both get some below the
    # share and some above: the first three hold [CLS] and two words, the last padding or [SEP].
    def drawn(share):
        draws = torch.tensor([[rng.random() for _ in row] for row in ids])
        draws[:, :3] = torch.tensor([0.5 * share, 0.5 * share, 0.5 * (1 + share)])
        draws[:, -1] = 0.7 * share
        return draws

    equal_to_share, at_masks = drawn(0.25), drawn(0.4)
    equal_to_share[[0, 1], [3, 4]] = 0.25
    at_masks[:, 3] = torch.tensor([0.1, 0.9, 0.1])  # below the share of 0.4, above, below
    with_masks, with_zeros = ids.clone(), ids.clone()
    with_masks[:, 3] = mask_id
    with_zeros[:, 1] = 0
    return [
        Case("A batch with padding", ids, special, mask_id, drawn(0.15), 0.15),
        Case(
            "A [MASK] that stands in the text already is special, too",
            with_masks,
            special,
            mask_id,
            at_masks,
            0.4,
        ),
        Case("Id 0 is no special token here", with_zeros, special, mask_id, drawn(0.3), 0.3),
        Case(
            "A draw equal to the share does not choose", ids, special, mask_id, equal_to_share, 0.25
        ),
    ]


def _mask_tokens(ids, special_ids, mask_id, draws, share):
    special = torch.isin(ids, torch.tensor(special_ids))
    chosen = (draws < share) & ~special
    masked = ids.masked_fill(chosen, mask_id)
    labels = ids.masked_fill(~chosen, IGNORED)
    return masked, labels


MASK_TOKENS = exercise("07-mask-tokens", _mask_cases, _mask_tokens, points=2)(
    special_chosen=[
        {" & ~special": spared}
        for spared in (
            "",
            " & (ids != mask_id)",
            " & (ids != special_ids[0])",
            " & (~special | (ids == mask_id))",
        )
    ],
    zero_spared={"chosen = ": "chosen = (ids != 0) & "},
    labels_after_masking={"labels = ids": "labels = masked"},
    labels_everywhere={"labels = ids.masked_fill(~chosen, IGNORED)": "labels = ids"},
    labels_inverted=[
        {"(~chosen, IGNORED": "(chosen, IGNORED"},
        {"(chosen, mask_id": "(~chosen, mask_id"},
    ],
    labels_of_special=[
        {"~chosen, IGNORED": f"{others}, IGNORED"}
        for others in ("~chosen & ~special", "draws >= share", "masked != mask_id")
    ],
    labels_zero=[{"IGNORED": number} for number in ("0", "-1", "100")],
    labels_short={"labels = ids.masked_fill(~chosen, IGNORED)": "labels = ids[chosen]"},
    # 103 is the id of [MASK] in BERT, here and below
    fixed_number=[{"chosen, mask_id": "chosen, 103"}, {"< share": "< 0.15"}],
    equal_chosen={"draws < share": "draws <= share"},
    larger_chosen=[{"draws < share": f"draws {sign} share"} for sign in (">", ">=")],
    ids_only={"return masked, labels": "return masked"},
)


def _label_cases(rng):
    ids = torch.tensor([[rng.randrange(1, 90) for _ in range(7)] for _ in range(3)])
    chosen = torch.zeros_like(ids, dtype=torch.bool)
    chosen[[0, 0, 2], [1, 4, 6]] = True
    return [
        Case("A few chosen tokens in a batch", ids, chosen),
        Case("Id 0 is a piece like any other", ids.masked_fill(chosen, 0), chosen),
    ]


def _labels(ids, chosen):
    return ids.masked_fill(~chosen, IGNORED)


LABELS = completion("07-labels", _label_cases, _labels)(
    labels_inverted={"~chosen": "chosen"},
    labels_zero=[{"IGNORED": number} for number in ("0", "-1", "100")],
    labels_mask=[{"IGNORED": "103"}, {"ids.": "torch.full_like(ids, 103)."}],
    labels_everywhere={".masked_fill(~chosen, IGNORED)": ""},
    labels_short={".masked_fill(~chosen, IGNORED)": "[chosen]"},
    ids_lost={"return ids": "return torch.ones_like(ids)"},
)


# Logits (rows, vocabulary), and the id of the right piece of each row.
#
# The factor spreads the logits, so that probabilities are clearly unequal.
def _logits_and_targets(rng, rows, vocabulary):
    return (
        2 * normal(rng, rows, vocabulary),
        torch.tensor([rng.randrange(vocabulary) for _ in range(rows)]),
    )


def _surprisal_cases(rng):
    rows = rng.randint(5, 7)
    logits, targets = _logits_and_targets(rng, rows, rng.randint(9, 14))
    # exp(900) is infinite, in float64 as well, and exp(-900) is 0
    levels = 900.0 * (torch.arange(rows) % 2)[:, None]
    hopeless = logits.clone()
    hopeless[torch.arange(rows), targets] = torch.tensor(
        [-2000.0, -50000.0, *[-900.0] * (rows - 2)]
    )
    return [
        Case("Some positions", logits, targets),
        Case("One position", logits[:1], targets[:1]),
        Case(
            "The same number added to all logits of a place changes nothing",
            10 * logits + levels,
            targets,
        ),
        Case(
            "The surprisal of a very improbable piece is large, and it is not infinite",
            hopeless,
            targets,
        ),
    ]


def _surprisal(logits, targets):
    log_p = logits.log_softmax(dim=-1)
    rows = torch.arange(len(targets))
    of_target = log_p[rows, targets]
    return -of_target / math.log(2)


SURPRISAL = exercise("07-surprisal", _surprisal_cases, _surprisal)(
    nats={" / math.log(2)": ""},
    multiplied_by_ln2={"/ math.log(2)": "* math.log(2)"},
    base_ten={"math.log(2)": "math.log(10)"},
    no_sign={"-of_target": "of_target"},
    infinite=[
        {"log_softmax(dim=-1)": f"{other}.log()"}
        for other in (
            "softmax(dim=-1)",
            "double().softmax(dim=-1)",
            *(f"softmax(dim=-1).clamp(min=1e-{digits})" for digits in (6, 7, 8, 9, 10, 12)),
            *(f"softmax(dim=-1).add(1e-{digits})" for digits in (6, 7, 8, 9, 10, 12)),
        )
    ],
    overflow=[
        {"logits.log_softmax(dim=-1)": other}
        for other in (
            "logits - logits.exp().sum(dim=-1, keepdim=True).log()",
            "(logits.exp() / logits.exp().sum(dim=-1, keepdim=True)).log()",
            "logits - logits.max() - (logits - logits.max()).exp().sum(dim=-1, keepdim=True).log()",
        )
    ],
    over_positions={"dim=-1": "dim=0"},
    logits={".log_softmax(dim=-1)": ""},
    all_pieces=[{"log_p[rows, targets]": other} for other in ("log_p", "log_p[:, targets]")],
    entropy={"-of_target": "torch.special.entr(log_p.exp()).sum(dim=-1)"},
    best_guess={"log_p[rows, targets]": "log_p.amax(dim=-1)"},
)


def _bits_cases(rng):
    logits, targets = _logits_and_targets(rng, rng.randint(4, 6), rng.randint(9, 12))
    return [
        Case("Several masked places", logits, targets),
        Case("One masked place", logits[:1], targets[:1]),
    ]


def _mean_bits(logits, targets):
    nats = torch.nn.functional.cross_entropy(logits, targets)
    return nats / math.log(2)


NATS_TO_BITS = completion("07-nats-to-bits", _bits_cases, _mean_bits)(
    nats_returned={"nats / math.log(2)": "nats"},
    no_sign={"return nats": "return -nats"},
    multiplied={"/ math.log(2)": "* math.log(2)"},
    other_divisor=[{"math.log(2)": other} for other in ("2", "math.log(10)", "math.log10(2)")],
    power=[{"nats / math.log(2)": other} for other in ("2**nats", "nats.exp()")],
    logarithm=[{"nats / math.log(2)": other} for other in ("nats.log2()", "nats.log()")],
    averaged_again=[{"log(2)": f"log(2) {sign} len(targets)"} for sign in "/*"],
)


def _perplexity_cases(rng):
    rows, tokens, vocabulary = rng.randint(3, 4), rng.randint(6, 8), rng.randint(9, 12)
    logits = 1.5 * normal(rng, rows, tokens, vocabulary)
    ids = torch.tensor([[rng.randrange(vocabulary) for _ in range(tokens)] for _ in range(rows)])

    kept = torch.zeros_like(ids, dtype=torch.bool)
    # four places of the first sentence, one of the second, two of the third
    kept[[0, 0, 0, 0, 1, 2, 2], [0, 1, 2, -1, 2, 1, 3]] = True
    labels = ids.masked_fill(~kept, IGNORED)
    only_one = torch.full_like(ids, IGNORED)
    only_one[1, 3] = ids[1, 3]
    return [
        Case("A few chosen places, more of them in one sentence than in another", logits, labels),
        Case("One chosen place in the whole batch", logits, only_one),
        Case("Piece 0 is a piece like any other", logits, labels.masked_fill(kept, 0)),
    ]


def _perplexity(logits, labels):
    log_p = logits.log_softmax(dim=-1)
    targets = labels.clamp(min=0)  # any id, where a label does not count
    loss = -log_p.gather(-1, targets[..., None])[..., 0]
    chosen = labels != IGNORED
    mean = loss[chosen].mean().item()
    return math.exp(mean)


BUG = exercise("07-find-the-bug", _perplexity_cases, _perplexity, points=2)(
    mean_left={"loss[chosen]": "loss"},
    power_left=[
        {"math.exp(mean)": other}
        for other in ("2**mean", "math.exp(mean / math.log(2))", "2 ** (mean * math.log(2))")
    ],
    divided_by_all={"loss[chosen]": "(loss * chosen)"},
    piece_zero_left_out={"labels != IGNORED": "labels > 0"},
    not_chosen={"labels != IGNORED": "labels == IGNORED"},
    loss_in_nats=[{"math.exp(mean)": other} for other in ("mean", "mean / math.log(2)")],
    no_sign={"loss = -log_p": "loss = log_p"},
    sum={".mean()": ".sum()"},
    mean_of_perplexities=[
        {"loss[chosen]": f"({powers})", "math.exp(mean)": mean}
        for powers, mean in (
            ("loss[chosen].exp()", "mean"),
            ("2 ** loss[chosen]", "mean"),
            ("(-loss[chosen]).exp()", "1 / mean"),  # 1 divided by the mean probability
        )
    ],
    # the second form is NaN where a sentence has no chosen place
    mean_of_sentences=[
        {
            "loss[chosen]": (
                f"torch.stack([row[kept].mean() for row, kept in zip(loss, chosen){condition}])"
            )
        }
        for condition in (" if kept.any()", "")
    ],
    over_tokens={"dim=-1": "dim=1"},
)
