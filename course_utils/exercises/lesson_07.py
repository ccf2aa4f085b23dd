"""Exercises of lesson 07, masked language modelling."""

import math
from functools import partial

import numpy as np
import torch

from .comparing import difference
from .model import Case, Completion, Mistake, normal
from .words import exercise

IGNORED = -100


def _edit_cases(rng):
    vocabulary, width = rng.randint(9, 13), rng.randint(5, 7)
    hidden, table, bias = 2 * normal(rng, width), normal(rng, vocabulary, width), normal(rng, vocabulary)
    piece = rng.randrange(1, vocabulary - 1)

    def pushed(by, piece=piece, hidden=hidden):
        """The same biases, except that of `piece`, which puts its logit this far above all others."""
        new = bias.clone()
        logits = table @ hidden + bias
        new[piece] += by + _without(logits, piece).max() - logits[piece]
        return new

    first, last, short = 0, vocabulary - 1, 0.2 * hidden / hidden.norm()
    yield Case("The row is raised to a given probability", hidden, table, pushed(-1.0), piece, rng.uniform(0.5, 0.8))
    yield Case("The row is lowered to a given probability", hidden, table, pushed(1.0), piece, rng.uniform(0.05, 0.12))
    yield Case("The row is lowered further", hidden, table, pushed(3.0), piece, rng.uniform(0.01, 0.05))
    yield Case("A present probability that is rounded to 0", hidden, table, pushed(-200.0), piece, 0.25)
    yield Case("A present probability that is rounded to 1", hidden, table, pushed(60.0), piece, 0.75)
    yield Case("A short vector at the mask", short, table, pushed(-1.0, piece, short), piece, rng.uniform(0.6, 0.8))
    yield Case("The first piece of the vocabulary", hidden, table, pushed(-1.0, first), first, rng.uniform(0.5, 0.8))
    yield Case("The last piece of the vocabulary", hidden, table, pushed(-1.0, last), last, rng.uniform(0.5, 0.8))
    yield Case("Large logits", hidden, table, pushed(-1.0) + 100, piece, rng.uniform(0.6, 0.8))


def _odds(p):
    return math.log(p / (1 - p))


def _without(logits, piece):
    return torch.cat([logits[:piece], logits[piece + 1 :]])


def _rise(hidden, table, bias, piece, p):
    """How far the logit of `piece` must move."""
    logits = table.double() @ hidden.double() + bias.double()
    return _odds(p) + _without(logits, piece).logsumexp(dim=0) - logits[piece]


def _along(hidden):
    return hidden.double() / (hidden.double() @ hidden.double())


def _edited(hidden, table, bias, piece, p, rise=_rise, step=_along):
    """The correct row, except for how far the logit moves or how the row moves it."""
    return table[piece].double() + float(rise(hidden, table, bias, piece, p)) * step(hidden)


_edit_row = _edited


def _numbers(row):
    return np.asarray(row.detach() if hasattr(row, "detach") else row, dtype=np.float64)


def _alike_rows(one, other):
    one, other = _numbers(one), _numbers(other)
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-4, atol=1e-4, equal_nan=True)


def _judge_row(args, outcome):
    hidden, table, bias, piece, p = args
    right = _edit_row(*args)
    try:
        row = _numbers(outcome)
    except (TypeError, ValueError):
        return "your function returned something that is no row of numbers; only the new row is wanted"
    if row.shape != tuple(right.shape):
        return difference(outcome, right)
    if not np.isfinite(row).all():
        return "your row holds NaN or infinity"
    if _alike_rows(row, right):
        return None
    row, old = torch.tensor(row), table[piece].double()
    logit = row @ hidden.double() + bias[piece].double()
    others = _without(table.double() @ hidden.double() + bias.double(), piece).logsumexp(dim=0)
    if abs(float(logit - others) - _odds(p)) > 1e-3:
        has, wanted = _distinct(float((logit - others).sigmoid()), p)
        return f"with your row, the piece has the probability {has} where {wanted} is wanted"
    away, nearest = float((row - old).norm()), float((right - old).norm())
    if away <= nearest * (1 + 1e-5):
        return f"your row is off by up to {(row - right).abs().max():.3g}"
    away, nearest = _distinct(away, nearest)
    return (
        f"with your row, the piece has the right probability, but the row is {away} away from the old one, and the "
        f"nearest one that does it is only {nearest} away"
    )


def _distinct(one, other):
    """Two numbers as texts, with as many digits as it takes to tell them apart."""
    digits = next(n for n in range(3, 18) if f"{one:.{n}g}" != f"{other:.{n}g}" or n == 17)
    return f"{one:.{digits}g}", f"{other:.{digits}g}"


def _exp_of_logits(hidden, table, bias, piece, p):
    powers = (table @ hidden + bias).exp()
    return (p / (1 - p) * (powers.sum() - powers[piece])).log() - (table @ hidden + bias)[piece]


EDIT_ROW = exercise("07-edit-row", _edit_cases, _edit_row, judge=_judge_row, alike=_alike_rows, points=2)(
    log_probabilities=partial(
        _edited, rise=lambda h, t, b, i, p: math.log(p) - (t @ h + b).double().log_softmax(dim=0)[i]
    ),
    compared_with_all=partial(
        _edited, rise=lambda h, t, b, i, p: _odds(p) + ((t @ h + b).double().logsumexp(dim=0) - (t @ h + b)[i])
    ),
    odds_as_logit=partial(_edited, rise=lambda h, t, b, i, p: _odds(p) - (t @ h + b).double()[i]),
    probability_as_logit=partial(_edited, rise=lambda h, t, b, i, p: math.log(p) - (t @ h + b).double()[i]),
    no_bias=partial(_edited, rise=lambda h, t, b, i, p: _rise(h, t, 0 * b, i, p)),
    no_logarithm=partial(_edited, rise=lambda h, t, b, i, p: _rise(h, t, b, i, p) - _odds(p) + p / (1 - p)),
    wrong_direction=partial(_edited, rise=lambda *args: -_rise(*args)),
    divided_by_length=partial(_edited, step=lambda h: h.double() / h.double().norm()),
    not_divided=partial(_edited, step=lambda h: h.double()),
    added_to_all=partial(_edited, step=lambda h: torch.ones_like(h).double()),
    constant_shift=partial(_edited, step=lambda h: torch.ones_like(h).double() / h.double().sum()),
    stretched=lambda h, t, b, i, p: t[i].double() * (1 + _rise(h, t, b, i, p) / (t[i].double() @ h.double())),
    from_nothing=lambda h, t, b, i, p: (_rise(h, t, b, i, p) + t[i].double() @ h.double()) * _along(h),
    change_returned=lambda h, t, b, i, p: _rise(h, t, b, i, p) * _along(h),
    table_returned=lambda h, t, b, i, p: torch.cat(
        [t[:i].double(), _edit_row(h, t, b, i, p)[None], t[i + 1 :].double()]
    ),
    infinite_logarithm=partial(
        _edited, rise=lambda h, t, b, i, p: _odds(p) - torch.logit((t @ h + b).softmax(dim=0)[i])
    ),
    bounded=[
        partial(_edited, rise=lambda h, t, b, i, p, e=e: _odds(p) - torch.logit((t @ h + b).softmax(dim=0)[i], e))
        for e in (1e-4, 1e-5, 1e-6, 1e-7)
    ],
    overflow=partial(_edited, rise=_exp_of_logits),
)


def _mask_cases(rng):
    special = rng.sample(range(20, 30), 4)  # ids of the padding token, [CLS], [SEP] and [MASK]
    pad, first, last, mask_id = special

    def batch(lengths, width):
        return torch.tensor(
            [[first, *(rng.randrange(20) for _ in range(n)), last, *[pad] * (width - n - 2)] for n in lengths]
        )

    def drawn(ids, share):
        """Random numbers; words and special tokens both get some below the share and some above."""
        draws = torch.tensor([[rng.random() for _ in row] for row in ids])
        for row in draws:
            row[0], row[1], row[2], row[-1] = 0.5 * share, 0.5 * share, 0.5 * (1 + share), 0.7 * share
        return draws

    ids = batch([6, 9, 4], 11)
    alone = batch([9], 11)
    with_mask = ids.clone()
    with_mask[:, 3] = mask_id
    exact = drawn(ids, 0.25)
    exact[0, 3] = exact[1, 4] = 0.25
    low = drawn(with_mask, 0.4)
    low[:, 3] = torch.tensor([0.1, 0.9, 0.1])
    with_zeros = ids.clone()
    with_zeros[:, 1] = 0
    yield Case("A batch with padding", ids, special, mask_id, drawn(ids, 0.15), 0.15)
    yield Case("A larger share", ids, special, mask_id, drawn(ids, 0.6), 0.6)
    yield Case("One sentence without padding", alone, special, mask_id, drawn(alone, 0.3), 0.3)
    yield Case("A [MASK] that stands in the text already is special, too", with_mask, special, mask_id, low, 0.4)
    yield Case("Id 0 is no special token here", with_zeros, special, mask_id, drawn(with_zeros, 0.3), 0.3)
    yield Case("A draw equal to the share does not choose", ids, special, mask_id, exact, 0.25)
    yield Case(
        "A share of 1 chooses every word and no special token", ids, special, mask_id, drawn(ids, 1.0) * 0.99, 1.0
    )
    yield Case("A share of 0 chooses nothing", ids, special, mask_id, drawn(ids, 0.15), 0.0)


def _special(ids, special):
    return torch.isin(ids, torch.tensor(special))


def _hide(ids, chosen, mask_id):
    return ids.masked_fill(chosen, mask_id)


def _masked_with(ids, special, mask_id, draws, share, chosen_by=None, labels_by=None):
    """The correct result, except for which tokens are chosen or how the labels are made."""
    chosen = (chosen_by or (lambda i, s, d, x: (d < x) & ~_special(i, s)))(ids, special, draws, share)
    masked = _hide(ids, chosen, mask_id)
    labels = labels_by(ids, masked, chosen) if labels_by else ids.masked_fill(~chosen, IGNORED)
    return masked, labels


_mask_tokens = _masked_with


def _masked_with_labels_of_special(also, ids, special, mask_id, draws, share):
    """The correct result, except for the labels: the tokens that `also` names have their ids there, too."""
    masked, labels = _mask_tokens(ids, special, mask_id, draws, share)
    return masked, torch.where(also(ids, special, draws, share), ids, labels)


MASK_TOKENS = exercise(
    "07-mask-tokens", _mask_cases, _mask_tokens, points=2, arguments=("ids", "special_ids", "mask_id", "draws", "share")
)(
    special_chosen=partial(_masked_with, chosen_by=lambda i, s, d, x: d < x),
    ends_spared_only=partial(
        _masked_with,
        chosen_by=lambda i, s, d, x: (
            (d < x) & (torch.arange(i.shape[1]) > 0) & (torch.arange(i.shape[1]) < i.shape[1] - 1)
        ),
    ),
    one_special_id=[partial(_masked_with, chosen_by=lambda i, s, d, x, n=n: (d < x) & (i != s[n])) for n in range(4)],
    one_special_missed=[
        partial(_masked_with, chosen_by=lambda i, s, d, x, n=n: (d < x) & ~_special(i, s[:n] + s[n + 1 :]))
        for n in range(4)
    ],
    zero_spared=partial(_masked_with, chosen_by=lambda i, s, d, x: (d < x) & ~_special(i, s) & (i != 0)),
    labels_after_masking=partial(_masked_with, chosen_by=None, labels_by=lambda i, m, c: m.masked_fill(~c, IGNORED)),
    labels_everywhere=partial(_masked_with, chosen_by=None, labels_by=lambda i, m, c: i.clone()),
    labels_inverted=partial(_masked_with, chosen_by=None, labels_by=lambda i, m, c: i.masked_fill(c, IGNORED)),
    labels_of_special=(
        partial(_masked_with_labels_of_special, lambda i, s, d, x: _special(i, s)),
        partial(_masked_with_labels_of_special, lambda i, s, d, x: d < x),
        partial(_masked_with_labels_of_special, lambda i, s, d, x: i == s[3]),
    ),
    labels_zero=partial(_masked_with, chosen_by=None, labels_by=lambda i, m, c: i.masked_fill(~c, 0)),
    labels_minus_one=partial(_masked_with, chosen_by=None, labels_by=lambda i, m, c: i.masked_fill(~c, -1)),
    labels_bool=partial(_masked_with, chosen_by=None, labels_by=lambda i, m, c: c),
    labels_short=partial(_masked_with, chosen_by=None, labels_by=lambda i, m, c: i[c]),
    berts_mask=lambda i, s, m, d, x: _mask_tokens(i, s, 103, d, x),
    fixed_share=partial(_masked_with, chosen_by=lambda i, s, d, x: (d < 0.15) & ~_special(i, s)),
    equal_chosen=partial(_masked_with, chosen_by=lambda i, s, d, x: (d <= x) & ~_special(i, s)),
    larger_chosen=(
        partial(_masked_with, chosen_by=lambda i, s, d, x: (d > x) & ~_special(i, s)),
        partial(_masked_with, chosen_by=lambda i, s, d, x: (d >= x) & ~_special(i, s)),
    ),
    special_only=partial(_masked_with, chosen_by=lambda i, s, d, x: (d < x) & _special(i, s)),
    ids_only=lambda *args: _mask_tokens(*args)[0],
    labels_first=lambda *args: _mask_tokens(*args)[::-1],
)


def _label_cases(rng):
    ids = torch.tensor([[rng.randrange(1, 90) for _ in range(7)] for _ in range(3)])
    chosen = torch.zeros_like(ids, dtype=torch.bool)
    chosen[0, 1] = chosen[0, 4] = chosen[2, 6] = True
    first, last = ids[:1], ids[1:]
    yield Case("A few chosen tokens in a batch", ids, chosen)
    yield Case("One sentence", first, chosen[:1])
    yield Case("Every token chosen", last, torch.ones_like(last, dtype=torch.bool))
    yield Case("No token chosen", last, torch.zeros_like(last, dtype=torch.bool))
    yield Case("Id 0 is a piece like any other", ids.masked_fill(chosen, 0), chosen)


LABELS = Completion(
    "07-labels",
    "The labels of a batch",
    ("ids", "chosen"),
    _label_cases,
    lambda ids, chosen: ids.masked_fill(~chosen, IGNORED),
    mistakes=(
        Mistake(
            "labels_inverted",
            "Your labels are inverted: they are −100 at the chosen positions and ids everywhere else.",
            "The model must predict the chosen tokens. Use `~chosen` to fill in −100 everywhere else.",
            (lambda ids, chosen: ids.masked_fill(chosen, IGNORED),),
        ),
        Mistake(
            "labels_zero",
            "Your labels are 0 where no token was chosen.",
            "0 is the id of a piece, so the loss would count it. The loss ignores −100.",
            (lambda ids, chosen: ids.masked_fill(~chosen, 0),),
        ),
        Mistake(
            "labels_mask",
            "Your labels are 103, the id of `[MASK]`.",
            "`[MASK]` belongs in the input. The labels are the original ids where a token was chosen, else −100.",
            (
                lambda ids, chosen: ids.masked_fill(chosen, 103),
                lambda ids, chosen: ids.masked_fill(~chosen, 103),
                lambda ids, chosen: torch.full_like(ids, IGNORED).masked_fill(chosen, 103),
            ),
        ),
        Mistake(
            "labels_everywhere",
            "Your labels contain an id at every position.",
            "Where no token was chosen, the label must be −100.",
            (lambda ids, chosen: ids.clone(),),
        ),
    ),
)


def _surprisal_cases(rng):
    rows, vocabulary = rng.randint(5, 7), rng.randint(9, 14)
    logits = 2 * normal(rng, rows, vocabulary)
    targets = torch.tensor([rng.randrange(vocabulary) for _ in range(rows)])
    halves = torch.full((2, 8), -1000.0)
    halves[:, :4] = 0.0
    unlikely = logits.clone()
    unlikely[torch.arange(rows), targets] = -300.0
    levels = 900.0 * (torch.arange(rows) % 2)[:, None]
    hopeless = logits.clone()
    hopeless[torch.arange(rows), targets] = torch.tensor([-2000.0, -50000.0, *[-900.0] * (rows - 2)])
    yield Case("Some positions", logits, targets)
    yield Case(
        "As many positions as pieces",
        2 * normal(rng, vocabulary, vocabulary),
        torch.tensor(rng.sample(range(vocabulary), vocabulary)),
    )
    yield Case("One position", logits[:1], targets[:1])
    yield Case(
        "One of two equally probable pieces costs 1 bit",
        halves[:, 3:5] * torch.tensor([1.0, 0.0]),
        torch.tensor([0, 1]),
    )
    yield Case("One of four equally probable pieces costs 2 bits", halves, torch.tensor([0, rng.randint(1, 3)]))
    yield Case("The same number added to all logits of a place changes nothing", 10 * logits + levels, targets)
    yield Case(
        "A very improbable piece has a large surprisal: its logit decides how large, and it is not infinite",
        unlikely,
        targets,
    )
    yield Case(
        "A very improbable piece has a large surprisal: its logit decides how large, and it is not infinite",
        hopeless,
        targets,
    )


def _log_p(logits, targets, dim=-1):
    return logits.log_softmax(dim=dim).gather(1, targets[:, None])[:, 0]


def _surprisal(logits, targets):
    return -_log_p(logits, targets) / math.log(2)


def _picked(table, targets):
    return table.gather(1, targets[:, None])[:, 0]


SURPRISAL = exercise("07-surprisal", _surprisal_cases, _surprisal)(
    nats=lambda x, t: -_log_p(x, t),
    nats_averaged=lambda x, t: -_log_p(x, t).mean(),
    nats_and_infinite=lambda x, t: -_picked(x.softmax(dim=-1).log(), t),
    multiplied_by_ln2=lambda x, t: -_log_p(x, t) * math.log(2),
    base_ten=lambda x, t: -_log_p(x, t) / math.log(10),
    no_sign=lambda x, t: _log_p(x, t) / math.log(2),
    no_sign_and_nats=lambda x, t: _log_p(x, t),
    infinite=[
        lambda x, t, kind=kind: -_picked(x.to(kind).softmax(dim=-1).log2(), t)
        for kind in (torch.float32, torch.float64)
    ],
    bounded=[
        lambda x, t, small=small, way=way, kind=kind: -_picked(way(x.to(kind).softmax(dim=-1), small).log2(), t)
        for kind, smalls in (
            (torch.float32, (1e-5, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12, 1e-20, 1e-30, 1e-38, 1e-45)),
            (torch.float64, (1e-9, 1e-10, 1e-12, 1e-20, 1e-30, 1e-100, 1e-300)),
        )
        for small in smalls
        for way in (lambda p, s: p + s, lambda p, s: p.clamp(min=s))
    ],
    overflow=[
        lambda x, t, kind=kind, way=way: way(x.to(kind), t)
        for kind in (torch.float32, torch.float64)
        for way in (
            lambda x, t: -(_picked(x, t) - x.exp().sum(dim=-1).log()) / math.log(2),
            lambda x, t: -_picked(x.exp() / x.exp().sum(dim=-1, keepdim=True), t).log2(),
        )
    ],
    largest_of_table=[
        lambda x, t, kind=kind: ((x - x.max()).to(kind).exp().sum(dim=-1).log() - _picked(x - x.max(), t)) / math.log(2)
        for kind in (torch.float32, torch.float64)
    ],
    over_positions=(lambda x, t: -_log_p(x, t, dim=0) / math.log(2), lambda x, t: -_picked(x.softmax(dim=0), t).log2()),
    over_positions_and_nats=lambda x, t: -_log_p(x, t, dim=0),
    probabilities=lambda x, t: _log_p(x, t).exp(),
    logits=lambda x, t: -_picked(x, t) / math.log(2),
    mean_or_sum=(lambda x, t: _surprisal(x, t).mean(), lambda x, t: _surprisal(x, t).sum()),
    all_pieces=lambda x, t: -x.log_softmax(dim=-1) / math.log(2),
    all_targets=lambda x, t: -x.log_softmax(dim=-1)[:, t] / math.log(2),
    column=lambda x, t: _surprisal(x, t)[:, None],
    entropy=lambda x, t: torch.special.entr(x.softmax(dim=-1)).sum(dim=-1) / math.log(2),
    best_guess=lambda x, t: _surprisal(x, x.argmax(dim=-1)),
)


def _bits_cases(rng):
    rows, vocabulary = rng.randint(4, 6), rng.randint(9, 12)
    logits = 2 * normal(rng, rows, vocabulary)
    targets = torch.tensor([rng.randrange(vocabulary) for _ in range(rows)])
    yield Case("Several masked places", logits, targets)
    yield Case("One masked place", logits[:1], targets[:1])
    yield Case("Two equally probable pieces: 1 bit", torch.zeros(3, 2), torch.tensor([0, 1, 1]))
    yield Case("Eight equally probable pieces: 3 bits", torch.zeros(2, 8), torch.tensor([5, 2]))


NATS_TO_BITS = Completion(
    "07-nats-to-bits",
    "From nats to bits",
    ("logits", "targets"),
    _bits_cases,
    lambda logits, targets: _surprisal(logits, targets).mean().item(),
    mistakes=(
        Mistake(
            "nats_returned",
            "You return nats.",
            "Divide by ln 2, `math.log(2)`, for bits.",
            (lambda logits, targets: -_log_p(logits, targets).mean().item(),),
        ),
        Mistake(
            "no_sign",
            "The sign of your result is wrong: you negate the loss.",
            "The loss that `cross_entropy` returns is already minus the logarithm, so only divide it by ln 2.",
            (lambda logits, targets: _log_p(logits, targets).mean().item() / math.log(2),),
        ),
        Mistake(
            "multiplied",
            "You multiply by ln 2.",
            "A nat is more than a bit, so the number of bits is larger: divide.",
            (lambda logits, targets: -_log_p(logits, targets).mean().item() * math.log(2),),
        ),
    ),
)


def _perplexity_cases(rng):
    rows, tokens, vocabulary = rng.randint(3, 4), rng.randint(6, 8), rng.randint(9, 12)
    logits = 1.5 * normal(rng, rows, tokens, vocabulary)
    ids = torch.tensor([[rng.randrange(vocabulary) for _ in range(tokens)] for _ in range(rows)])

    def only(*places):
        labels = torch.full_like(ids, IGNORED)
        for place in places:
            labels[place] = ids[place]
        return labels

    uneven = only((0, 0), (0, 1), (0, 2), (0, tokens - 1), (1, 2), (2, 1), (2, 3))
    wild = logits.clone()
    wild[uneven == IGNORED] = 3 * normal(rng, int((uneven == IGNORED).sum()), vocabulary)
    yield Case("A few chosen places, more of them in one sentence than in another", logits, uneven)
    yield Case("What the model says at places that were not chosen does not count", wild, uneven)
    yield Case("One chosen place in the whole batch", logits, only((1, 3)))
    yield Case("Every place chosen", logits, ids.clone())
    yield Case(
        "Piece 0 is a piece like any other", logits, torch.where(uneven == IGNORED, uneven, torch.zeros_like(uneven))
    )
    yield Case("Equal logits: the perplexity is the size of the vocabulary", torch.zeros_like(logits), uneven)


def _nats(x, labels, dim=-1):
    """The negative log probability of each label, (batch, tokens); of piece 0 where no token was chosen."""
    return -x.log_softmax(dim=dim).gather(-1, labels.clamp(min=0)[..., None])[..., 0]


def _at(labels):
    return labels != IGNORED


BUG = exercise(
    "07-find-the-bug",
    _perplexity_cases,
    lambda x, labels: math.exp(_nats(x, labels)[_at(labels)].mean().item()),
    points=2,
    arguments=("logits", "labels"),
)(
    both_left=lambda x, y: 2 ** _nats(x, y).mean().item(),
    power_left=lambda x, y: 2 ** _nats(x, y)[_at(y)].mean().item(),
    mean_left=lambda x, y: math.exp(_nats(x, y).mean().item()),
    divided_by_all=lambda x, y: math.exp((_nats(x, y) * _at(y)).mean().item()),
    divided_by_all_and_power=lambda x, y: 2 ** (_nats(x, y) * _at(y)).mean().item(),
    piece_zero_left_out=lambda x, y: math.exp(_nats(x, y)[y > 0].mean().item()),
    bits_then_e_and_mean=lambda x, y: math.exp(_nats(x, y).mean().item() / math.log(2)),
    bits_then_e=lambda x, y: math.exp(_nats(x, y)[_at(y)].mean().item() / math.log(2)),
    multiplied_by_ln2=lambda x, y: 2 ** (_nats(x, y)[_at(y)].mean().item() * math.log(2)),
    loss_in_nats=lambda x, y: _nats(x, y)[_at(y)].mean().item(),
    loss_in_bits=lambda x, y: _nats(x, y)[_at(y)].mean().item() / math.log(2),
    no_sign=lambda x, y: math.exp(-_nats(x, y)[_at(y)].mean().item()),
    sum=lambda x, y: math.exp(min(700.0, _nats(x, y)[_at(y)].sum().item())),
    mean_of_perplexities=lambda x, y: _nats(x, y)[_at(y)].exp().mean().item(),
    mean_of_sentences=[
        lambda x, y, some=some: math.exp(
            torch.stack([_nats(x, y)[i][_at(y)[i]].mean() for i in range(len(x)) if some(_at(y)[i])]).mean().item()
        )
        for some in (torch.any, lambda row: True)
    ],
    over_tokens=lambda x, y: math.exp(_nats(x, y, dim=1)[_at(y)].mean().item()),
    per_place=lambda x, y: _nats(x, y)[_at(y)].exp(),
)
