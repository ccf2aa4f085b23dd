"""Exercises of lesson 07, masked language modelling."""

import math

import numpy as np
import torch

from .framework import Case, Exercise, Mistake, difference, normal

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
    return [
        Case("The row is raised to a given probability", (hidden, table, pushed(-1.0), piece, rng.uniform(0.5, 0.8))),
        Case("The row is lowered to a given probability", (hidden, table, pushed(1.0), piece, rng.uniform(0.05, 0.12))),
        Case("The row is lowered further", (hidden, table, pushed(3.0), piece, rng.uniform(0.01, 0.05))),
        Case("A present probability that is rounded to 0", (hidden, table, pushed(-200.0), piece, 0.25)),
        Case("A present probability that is rounded to 1", (hidden, table, pushed(60.0), piece, 0.75)),
        Case("A short vector at the mask", (short, table, pushed(-1.0, piece, short), piece, rng.uniform(0.6, 0.8))),
        Case("The first piece of the vocabulary", (hidden, table, pushed(-1.0, first), first, rng.uniform(0.5, 0.8))),
        Case("The last piece of the vocabulary", (hidden, table, pushed(-1.0, last), last, rng.uniform(0.5, 0.8))),
        Case("Large logits", (hidden, table, pushed(-1.0) + 100, piece, rng.uniform(0.6, 0.8))),
    ]


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


def _edited(rise=_rise, step=_along):
    """The correct row, except for how far the logit moves or how the row moves it."""

    def imitate(hidden, table, bias, piece, p):
        return table[piece].double() + float(rise(hidden, table, bias, piece, p)) * step(hidden)

    return imitate


_edit_row = _edited()


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


ROUNDED = (
    "Nearly: where the present probability is rounded to 0 or 1, its logarithm (or that of the rest) is infinite. Stay "
    "with logits: `logsumexp` of the other pieces' logits."
)

EDIT_ROW = Exercise(
    id="07-edit-row",
    title="Change one row",
    arguments=("hidden", "table", "bias", "piece", "p"),
    cases=_edit_cases,
    reference=_edit_row,
    judge=_judge_row,
    alike=_alike_rows,
    minutes=20,
    difficulty=3,
    points=2,
    mistakes=(
        Mistake(
            "You move the logit by the difference of the log probabilities, as if the sum over the vocabulary stayed "
            "the same. It changes with this piece. Compare the piece with all others together: p to 1 - p.",
            _edited(lambda h, t, b, i, p: math.log(p) - (t @ h + b).double().log_softmax(dim=0)[i]),
        ),
        Mistake(
            "You compare the piece with the whole vocabulary, itself included. p to 1 - p is a comparison with the "
            "*other* pieces: leave its own logit out of the `logsumexp`.",
            _edited(lambda h, t, b, i, p: _odds(p) + ((t @ h + b).double().logsumexp(dim=0) - (t @ h + b)[i])),
        ),
        Mistake(
            "You set the logit to log(p / (1 - p)). That would be right if the other pieces together had the logit 0: "
            "add the `logsumexp` of their logits.",
            _edited(lambda h, t, b, i, p: _odds(p) - (t @ h + b).double()[i]),
        ),
        Mistake(
            "You set the logit to log p. A logit means something only in comparison with the other pieces' logits.",
            _edited(lambda h, t, b, i, p: math.log(p) - (t @ h + b).double()[i]),
        ),
        Mistake(
            "You leave out the bias. The logits are `table @ hidden + bias`.",
            _edited(lambda h, t, b, i, p: _rise(h, t, 0 * b, i, p)),
        ),
        Mistake(
            "The logarithm is missing: p / (1 - p) is a ratio of probabilities, and logits are logarithms.",
            _edited(lambda h, t, b, i, p: _rise(h, t, b, i, p) - _odds(p) + p / (1 - p)),
        ),
        Mistake(
            "The right step in the wrong direction: you subtract it from the row.", _edited(lambda *args: -_rise(*args))
        ),
        Mistake(
            "You divide by the length of `hidden`. The dot product multiplies by `hidden` once more, so divide by its "
            "square, `hidden @ hidden`.",
            _edited(step=lambda h: h.double() / h.double().norm()),
        ),
        Mistake(
            "You add the rise times `hidden`. The dot product with `hidden` then moves the logit `hidden @ hidden` "
            "times too far: divide by that.",
            _edited(step=lambda h: h.double()),
        ),
        Mistake(
            "You add the rise of the logit to every number of the row. The row moves the logit through its dot product "
            "with `hidden`.",
            _edited(step=lambda h: torch.ones_like(h).double()),
        ),
        Mistake(
            "The probability is right, but a nearer row gives it, too: you add the same to every number of the row. "
            "Move the row in the direction that changes the dot product with `hidden` most.",
            _edited(step=lambda h: torch.ones_like(h).double() / h.double().sum()),
        ),
        Mistake(
            "The probability is right, but a nearer row gives it, too: you stretch the old row. Move it in the "
            "direction that changes the dot product with `hidden` most.",
            lambda h, t, b, i, p: t[i].double() * (1 + _rise(h, t, b, i, p) / (t[i].double() @ h.double())),
        ),
        Mistake(
            "The probability is right, but a nearer row gives it, too: you build the row from nothing. Start from the "
            "old row and add the change.",
            lambda h, t, b, i, p: (_rise(h, t, b, i, p) + t[i].double() @ h.double()) * _along(h),
        ),
        Mistake(
            "You return the change of the row. The new row is the old one plus the change.",
            lambda h, t, b, i, p: _rise(h, t, b, i, p) * _along(h),
        ),
        Mistake(
            "You return the whole table. One row is asked for: (d,).",
            lambda h, t, b, i, p: torch.cat([t[:i].double(), _edit_row(h, t, b, i, p)[None], t[i + 1 :].double()]),
        ),
        Mistake(ROUNDED, _edited(lambda h, t, b, i, p: _odds(p) - torch.logit((t @ h + b).softmax(dim=0)[i]))),
        *(
            Mistake(
                "You keep the present probability away from 0 and 1. Where it is nearer to them, your row moves by "
                "too little. Stay with logits: `logsumexp` of the other pieces' logits.",
                _edited(lambda h, t, b, i, p, e=e: _odds(p) - torch.logit((t @ h + b).softmax(dim=0)[i], e)),
            )
            for e in (1e-4, 1e-5, 1e-6, 1e-7)
        ),
        Mistake(
            "e to the power of a large logit does not fit into a float32, and a difference of two such powers loses "
            "what is small. `logsumexp` of the other pieces' logits does neither.",
            _edited(_exp_of_logits),
        ),
    ),
    hints=(
        "Two questions. How far must this one logit move, if all other logits stay where they are? And in which "
        "direction does a step of a given length change the dot product with `hidden` most?",
        "The piece has the probability p if its logit, minus the `logsumexp` of all *other* logits, is "
        "log(p / (1 - p)).",
        "A row plus a multiple of `hidden` is the nearest one: adding `c * hidden` moves the logit by "
        "`c * (hidden @ hidden)`.",
    ),
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
    return [
        Case("A batch with padding", (ids, special, mask_id, drawn(ids, 0.15), 0.15)),
        Case("A larger share", (ids, special, mask_id, drawn(ids, 0.6), 0.6)),
        Case("One sentence without padding", (alone, special, mask_id, drawn(alone, 0.3), 0.3)),
        Case("A [MASK] that stands in the text already is special, too", (with_mask, special, mask_id, low, 0.4)),
        Case("Id 0 is no special token here", (with_zeros, special, mask_id, drawn(with_zeros, 0.3), 0.3)),
        Case("A draw equal to the share does not choose", (ids, special, mask_id, exact, 0.25)),
        Case(
            "A share of 1 chooses every word and no special token", (ids, special, mask_id, drawn(ids, 1.0) * 0.99, 1.0)
        ),
        Case("A share of 0 chooses nothing", (ids, special, mask_id, drawn(ids, 0.15), 0.0)),
    ]


def _special(ids, special):
    return torch.isin(ids, torch.tensor(special))


def _hide(ids, chosen, mask_id):
    return ids.masked_fill(chosen, mask_id)


def _masked_with(chosen_by=None, labels_by=None):
    """The correct result, except for which tokens are chosen or how the labels are made."""

    def imitate(ids, special, mask_id, draws, share):
        chosen = (chosen_by or (lambda i, s, d, x: (d < x) & ~_special(i, s)))(ids, special, draws, share)
        masked = _hide(ids, chosen, mask_id)
        labels = labels_by(ids, masked, chosen) if labels_by else ids.masked_fill(~chosen, IGNORED)
        return masked, labels

    return imitate


_mask_tokens = _masked_with()


def _masked_with_labels_of_special(also):
    """The correct result, except for the labels: the tokens that `also` names have their ids there, too."""

    def imitate(ids, special, mask_id, draws, share):
        masked, labels = _mask_tokens(ids, special, mask_id, draws, share)
        return masked, torch.where(also(ids, special, draws, share), ids, labels)

    return imitate


SPECIAL_LABELS = (
    "Your labels hold ids of special tokens. These are never chosen, and so never predicted: their label is -100, too."
)

MASK_TOKENS = Exercise(
    id="07-mask-tokens",
    title="Mask a batch",
    arguments=("ids", "special_ids", "mask_id", "draws", "share"),
    cases=_mask_cases,
    reference=_mask_tokens,
    minutes=12,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You choose special tokens as well. Those in `special_ids`, such as [CLS], [SEP] and padding, are never "
            "predicted: choose among the others.",
            _masked_with(lambda i, s, d, x: d < x),
        ),
        Mistake(
            "You spare the first and the last column only. There are special tokens elsewhere too (padding, and [SEP] "
            "before it): look each id up in `special_ids`.",
            _masked_with(
                lambda i, s, d, x: (
                    (d < x) & (torch.arange(i.shape[1]) > 0) & (torch.arange(i.shape[1]) < i.shape[1] - 1)
                )
            ),
        ),
        *(
            Mistake(
                "You spare only one of the special ids. None of those in `special_ids` may be chosen.",
                _masked_with(lambda i, s, d, x, n=n: (d < x) & (i != s[n])),
            )
            for n in range(4)
        ),
        *(
            Mistake(
                "One of the special ids is not spared. None of those in `special_ids` may be chosen, a [MASK] that "
                "stands in the text included.",
                _masked_with(lambda i, s, d, x, n=n: (d < x) & ~_special(i, s[:n] + s[n + 1 :])),
            )
            for n in range(4)
        ),
        Mistake(
            "You spare the id 0 as well. Only the ids in `special_ids` are special.",
            _masked_with(lambda i, s, d, x: (d < x) & ~_special(i, s) & (i != 0)),
        ),
        Mistake(
            "Your labels are taken from the ids *after* masking, so every label at a chosen place is [MASK]. Take "
            "them from the ids that came in.",
            _masked_with(None, lambda i, m, c: m.masked_fill(~c, IGNORED)),
        ),
        Mistake(
            "Your labels hold every id. Where nothing was chosen there is nothing to predict: -100.",
            _masked_with(None, lambda i, m, c: i.clone()),
        ),
        Mistake(
            "Your labels are the wrong way round: −100 where a token was chosen, and ids where none was. The chosen "
            "tokens are the ones to predict.",
            _masked_with(None, lambda i, m, c: i.masked_fill(c, IGNORED)),
        ),
        Mistake(SPECIAL_LABELS, _masked_with_labels_of_special(lambda i, s, d, x: _special(i, s))),
        Mistake(SPECIAL_LABELS, _masked_with_labels_of_special(lambda i, s, d, x: d < x)),
        Mistake(SPECIAL_LABELS, _masked_with_labels_of_special(lambda i, s, d, x: i == s[3])),  # each [MASK]
        *(
            Mistake(
                f"Your labels hold {value} where nothing was chosen. {why} Use -100.",
                _masked_with(None, lambda i, m, c, value=value: i.masked_fill(~c, value)),
            )
            for value, why in (
                (0, "That is the number of a piece, and the loss would ask for it."),
                (-1, "The library ignores another number."),
            )
        ),
        Mistake(
            "Your labels are true and false. They must be ids: the true one where a token was chosen, -100 elsewhere.",
            _masked_with(None, lambda i, m, c: c),
        ),
        Mistake(
            "Your labels hold only the chosen ids. They need the shape of `ids`, with -100 in the other places.",
            _masked_with(None, lambda i, m, c: i[c]),
        ),
        Mistake(
            "You put 103 in the chosen places, the number of [MASK] in the lesson's tokenizer. Use `mask_id`.",
            lambda i, s, m, d, x: _mask_tokens(i, s, 103, d, x),
        ),
        Mistake(
            "Your function compares with 0.15, whatever the share. Use `share`.",
            _masked_with(lambda i, s, d, x: (d < 0.15) & ~_special(i, s)),
        ),
        Mistake(
            "A draw that equals the share is chosen in your function. Smaller is asked for: `<`, not `<=`.",
            _masked_with(lambda i, s, d, x: (d <= x) & ~_special(i, s)),
        ),
        Mistake(
            "You choose the tokens whose draw is *larger* than the share. Choose those whose draw is smaller.",
            _masked_with(lambda i, s, d, x: (d > x) & ~_special(i, s)),
        ),
        Mistake(
            "You choose the tokens whose draw is *larger* than the share. Choose those whose draw is smaller.",
            _masked_with(lambda i, s, d, x: (d >= x) & ~_special(i, s)),
        ),
        Mistake(
            "You choose among the special tokens only. Choose among the others: `~special`.",
            _masked_with(lambda i, s, d, x: (d < x) & _special(i, s)),
        ),
        Mistake(
            "You return the masked ids only. The labels are also needed: `return masked, labels`.",
            lambda *args: _mask_tokens(*args)[0],
        ),
        Mistake("You return the labels first. The masked ids come first.", lambda *args: _mask_tokens(*args)[::-1]),
    ),
    hints=(
        "First make a tensor of true and false: chosen or not. Two conditions must both hold; join them with `&`, with "
        "brackets around each.",
        "`torch.isin(ids, torch.tensor(special_ids))` is true for special tokens; `~` negates it.",
        "`ids.masked_fill(chosen, mask_id)` returns a copy with [MASK] in the chosen places. The labels are the "
        "same kind of copy, with -100 in the others.",
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
    return [
        Case("Some positions", (logits, targets)),
        Case(
            "As many positions as pieces",
            (2 * normal(rng, vocabulary, vocabulary), torch.tensor(rng.sample(range(vocabulary), vocabulary))),
        ),
        Case("One position", (logits[:1], targets[:1])),
        Case(
            "One of two equally probable pieces costs 1 bit",
            (halves[:, 3:5] * torch.tensor([1.0, 0.0]), torch.tensor([0, 1])),
        ),
        Case("One of four equally probable pieces costs 2 bits", (halves, torch.tensor([0, rng.randint(1, 3)]))),
        Case("The same number added to all logits of a place changes nothing", (10 * logits + levels, targets)),
        Case(
            "A very improbable piece has a large surprisal: its logit decides how large, and it is not infinite",
            (unlikely, targets),
        ),
        Case(
            "A very improbable piece has a large surprisal: its logit decides how large, and it is not infinite",
            (hopeless, targets),
        ),
    ]


def _log_p(logits, targets, dim=-1):
    return logits.log_softmax(dim=dim).gather(1, targets[:, None])[:, 0]


def _surprisal(logits, targets):
    return -_log_p(logits, targets) / math.log(2)


def _picked(table, targets):
    return table.gather(1, targets[:, None])[:, 0]


NATS = "These are nats: the library's logarithm has the base e. Divide by ln 2, `math.log(2)`, for bits."

SURPRISAL = Exercise(
    id="07-surprisal",
    title="Surprisal in bits",
    arguments=("logits", "targets"),
    cases=_surprisal_cases,
    reference=_surprisal,
    minutes=8,
    difficulty=2,
    mistakes=(
        Mistake(NATS, lambda x, t: -_log_p(x, t)),
        Mistake(
            f"{NATS} And you return their mean; one number per position is asked for.",
            lambda x, t: -_log_p(x, t).mean(),
        ),
        Mistake(
            f"{NATS} And where softmax rounds to 0, its logarithm is infinite: use `log_softmax`.",
            lambda x, t: -_picked(x.softmax(dim=-1).log(), t),
        ),
        Mistake(
            "You multiply by ln 2. A nat is more than a bit, so the number of bits is larger: divide.",
            lambda x, t: -_log_p(x, t) * math.log(2),
        ),
        Mistake("You divide by ln 10 or use `log10`. Bits have the base 2.", lambda x, t: -_log_p(x, t) / math.log(10)),
        Mistake(
            "The minus sign is missing: the logarithm of a probability is negative, and its surprisal is positive.",
            lambda x, t: _log_p(x, t) / math.log(2),
        ),
        Mistake("The minus sign is missing, and these are nats: divide by ln 2, too.", lambda x, t: _log_p(x, t)),
        *(
            Mistake(
                "Nearly: where softmax rounds a probability to 0, its logarithm is infinite. `log_softmax` takes "
                "both steps at once and keeps the number.",
                lambda x, t, kind=kind: -_picked(x.to(kind).softmax(dim=-1).log2(), t),
            )
            for kind in (torch.float32, torch.float64)
        ),
        *(
            Mistake(
                "You bound the probability from below, or add something to it, against the logarithm of 0. That "
                "changes the result of a very improbable piece: use `log_softmax`.",
                lambda x, t, small=small, way=way, kind=kind: (
                    -_picked(way(x.to(kind).softmax(dim=-1), small).log2(), t)
                ),
            )
            for kind, smalls in (
                (torch.float32, (1e-5, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12, 1e-20, 1e-30, 1e-38, 1e-45)),
                (torch.float64, (1e-9, 1e-10, 1e-12, 1e-20, 1e-30, 1e-100, 1e-300)),
            )
            for small in smalls
            for way in (lambda p, s: p + s, lambda p, s: p.clamp(min=s))
        ),
        *(
            Mistake(
                "e to the power of a large logit does not fit into a float32, and here not even into a float64. Use "
                "`log_softmax`, which subtracts the largest logit of each place first.",
                lambda x, t, kind=kind, way=way: way(x.to(kind), t),
            )
            for kind in (torch.float32, torch.float64)
            for way in (
                lambda x, t: -(_picked(x, t) - x.exp().sum(dim=-1).log()) / math.log(2),
                lambda x, t: -_picked(x.exp() / x.exp().sum(dim=-1, keepdim=True), t).log2(),
            )
        ),
        *(
            Mistake(
                "You subtract the largest logit of the whole table. In a row whose logits are far below it, every "
                "power is then rounded to 0. Subtract the largest of each row, as `log_softmax` does.",
                lambda x, t, kind=kind: (
                    ((x - x.max()).to(kind).exp().sum(dim=-1).log() - _picked(x - x.max(), t)) / math.log(2)
                ),
            )
            for kind in (torch.float32, torch.float64)
        ),
        *(
            Mistake(
                "Your softmax runs over the positions (`dim=0`). Each position compares the pieces of the vocabulary: "
                "`dim=-1`.",
                imitate,
            )
            for imitate in (
                lambda x, t: -_log_p(x, t, dim=0) / math.log(2),
                lambda x, t: -_picked(x.softmax(dim=0), t).log2(),
            )
        ),
        Mistake(
            "Your softmax runs over the positions (`dim=0`), and these are nats. Use `dim=-1`, and divide by ln 2.",
            lambda x, t: -_log_p(x, t, dim=0),
        ),
        Mistake("You return probabilities. Their surprisal is −log2 of them.", lambda x, t: _log_p(x, t).exp()),
        Mistake(
            "You take the logit for a logarithm of a probability. Normalise first: `log_softmax` over the vocabulary.",
            lambda x, t: -_picked(x, t) / math.log(2),
        ),
        Mistake(
            "You return one number, a mean or a sum. One surprisal per position is asked for: (n,).",
            lambda x, t: _surprisal(x, t).mean(),
        ),
        Mistake(
            "You return one number, a mean or a sum. One surprisal per position is asked for: (n,).",
            lambda x, t: _surprisal(x, t).sum(),
        ),
        Mistake(
            "You return the surprisal of every piece of the vocabulary. Only that of each position's target is "
            "asked for: (n,).",
            lambda x, t: -x.log_softmax(dim=-1) / math.log(2),
        ),
        Mistake(
            "`[:, targets]` takes *all* targets in every row. Row i needs target i: `[torch.arange(len(targets)), "
            "targets]`, or `gather`.",
            lambda x, t: -x.log_softmax(dim=-1)[:, t] / math.log(2),
        ),
        Mistake(
            "You return a column of shape (n, 1). Take the last dimension away: `.squeeze(-1)`.",
            lambda x, t: _surprisal(x, t)[:, None],
        ),
        Mistake(
            "You return the entropy of each position, which is the surprisal to be expected on average. Return the "
            "surprisal of the target.",
            lambda x, t: torch.special.entr(x.softmax(dim=-1)).sum(dim=-1) / math.log(2),
        ),
        Mistake(
            "You return the surprisal of the model's own best guess. Return that of `targets`.",
            lambda x, t: _surprisal(x, x.argmax(dim=-1)),
        ),
    ),
    hints=(
        "`logits.log_softmax(dim=-1)` holds the logarithm of every probability, to the base e. Which entry of each "
        "row do you need?",
        "Rows 0, 1, 2, … with their targets: `table[torch.arange(len(targets)), targets]`.",
        "The logarithm to the base 2 is the natural logarithm divided by ln 2, `math.log(2)`. And the surprisal is "
        "its negative.",
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
    return [
        Case("A few chosen places, more of them in one sentence than in another", (logits, uneven)),
        Case("What the model says at places that were not chosen does not count", (wild, uneven)),
        Case("One chosen place in the whole batch", (logits, only((1, 3)))),
        Case("Every place chosen", (logits, ids.clone())),
        Case(
            "Piece 0 is a piece like any other",
            (logits, torch.where(uneven == IGNORED, uneven, torch.zeros_like(uneven))),
        ),
        Case("Equal logits: the perplexity is the size of the vocabulary", (torch.zeros_like(logits), uneven)),
    ]


def _nats(x, labels, dim=-1):
    """The negative log probability of each label, (batch, tokens); of piece 0 where no token was chosen."""
    return -x.log_softmax(dim=dim).gather(-1, labels.clamp(min=0)[..., None])[..., 0]


def _at(labels):
    return labels != IGNORED


def _perplexity(x, labels):
    return math.exp(_nats(x, labels)[_at(labels)].mean().item())


BASE = "`2 **` wants bits, and this loss is in nats. Either use `math.exp`, or divide the loss by ln 2 first."
PLACES = (
    "The mean still runs over all places: where the label is -100, `clamp` asks for piece 0. Take the mean over the "
    "chosen places only: `loss[labels != -100]`."
)

BUG = Exercise(
    id="07-find-the-bug",
    title="Find the bug",
    arguments=("logits", "labels"),
    cases=_perplexity_cases,
    reference=_perplexity,
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "Both mistakes are still there. One is in what the mean runs over, the other in the power.",
            lambda x, y: 2 ** _nats(x, y).mean().item(),
        ),
        Mistake(f"One mistake is fixed, the other is not. {BASE}", lambda x, y: 2 ** _nats(x, y)[_at(y)].mean().item()),
        Mistake(f"One mistake is fixed, the other is not. {PLACES}", lambda x, y: math.exp(_nats(x, y).mean().item())),
        Mistake(
            "The places without a label add 0 to your sum, but you still divide by the number of all places. Divide "
            "by the number of chosen ones.",
            lambda x, y: math.exp((_nats(x, y) * _at(y)).mean().item()),
        ),
        Mistake(
            f"The places without a label add 0 to your sum, but you still divide by the number of all places. {BASE}",
            lambda x, y: 2 ** (_nats(x, y) * _at(y)).mean().item(),
        ),
        Mistake(
            "You leave out piece 0 everywhere. It is a piece like any other; leave out the places whose label is -100.",
            lambda x, y: math.exp(_nats(x, y)[y > 0].mean().item()),
        ),
        Mistake(
            "You convert to bits and then use e. Bits go with `2 **`, nats with `math.exp`. And "
            f"{PLACES[0].lower()}{PLACES[1:]}",
            lambda x, y: math.exp(_nats(x, y).mean().item() / math.log(2)),
        ),
        Mistake(
            "You convert to bits and then use e. Bits go with `2 **`, nats with `math.exp`.",
            lambda x, y: math.exp(_nats(x, y)[_at(y)].mean().item() / math.log(2)),
        ),
        Mistake(
            "You multiply by ln 2. A nat is more than a bit: divide by ln 2, then use `2 **`.",
            lambda x, y: 2 ** (_nats(x, y)[_at(y)].mean().item() * math.log(2)),
        ),
        Mistake(
            "You return the loss in nats. The perplexity is e to the power of it.",
            lambda x, y: _nats(x, y)[_at(y)].mean().item(),
        ),
        Mistake(
            "You return the loss in bits. The perplexity is 2 to the power of it.",
            lambda x, y: _nats(x, y)[_at(y)].mean().item() / math.log(2),
        ),
        Mistake(
            "The minus sign is missing, so a better model gets a larger number. The given function has it.",
            lambda x, y: math.exp(-_nats(x, y)[_at(y)].mean().item()),
        ),
        Mistake(
            "You take the sum over the chosen places, which grows with the text. Take the mean, as the "
            "given function does.",
            lambda x, y: math.exp(min(700.0, _nats(x, y)[_at(y)].sum().item())),
        ),
        Mistake(
            "You take the mean of perplexities. The mean of the loss comes first, then the power.",
            lambda x, y: _nats(x, y)[_at(y)].exp().mean().item(),
        ),
        *(
            Mistake(
                "You average each sentence first, so that a chosen token in a sentence with few of them counts "
                "more. Take one mean over all chosen tokens.",
                lambda x, y, some=some: math.exp(
                    torch.stack([_nats(x, y)[i][_at(y)[i]].mean() for i in range(len(x)) if some(_at(y)[i])])
                    .mean()
                    .item()
                ),
            )
            for some in (torch.any, lambda row: True)
        ),
        Mistake(
            "Your softmax runs over the tokens (`dim=1`). It must run over the vocabulary, `dim=-1`, as it does in the "
            "given function.",
            lambda x, y: math.exp(_nats(x, y, dim=1)[_at(y)].mean().item()),
        ),
        Mistake(
            "You return one number per chosen place. One number for all is asked for.",
            lambda x, y: _nats(x, y)[_at(y)].exp(),
        ),
    ),
    hints=(
        "Compare with the lesson's loss by hand. Which places does its mean run over? And what does the base of a "
        "logarithm have to do with the base of a power?",
        "`loss[labels != -100]` keeps the chosen places. The logarithm of `log_softmax` has the base e.",
        "`math.exp(loss[labels != -100].mean().item())`",
    ),
)

EXERCISES = (EDIT_ROW, MASK_TOKENS, SURPRISAL, BUG)
