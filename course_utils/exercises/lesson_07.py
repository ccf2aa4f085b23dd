"""Exercises of lesson 07, masked language modelling."""

import math

import torch

from .framework import Case, Exercise, Mistake, normal, top_pairs

IGNORED = -100


def _fill_cases(rng):
    tokens, vocabulary = rng.randint(7, 9), rng.randint(24, 30)
    mask_id = rng.randint(15, 20)
    others = rng.sample([number for number in range(vocabulary) if number != mask_id], tokens)

    def with_mask_at(place):
        return torch.tensor(others[:place] + [mask_id] + others[place + 1 :])

    logits, middle = 2 * normal(rng, tokens, vocabulary), rng.randint(2, tokens - 3)
    sure = logits.clone()
    sure[middle, rng.randrange(vocabulary)] = 12.0
    return [
        Case("A mask in the middle", (logits, with_mask_at(middle), mask_id, 3)),
        Case("A mask in another place", (logits, with_mask_at(tokens - 2), mask_id, 4)),
        Case("A mask at the very end", (logits, with_mask_at(tokens - 1), mask_id, 3)),
        Case("One candidate", (2 * normal(rng, tokens, vocabulary), with_mask_at(middle), mask_id, 1)),
        Case("A model that is nearly certain", (sure, with_mask_at(middle), mask_id, 2)),
        Case("The same number added to all logits changes nothing", (logits + 200, with_mask_at(middle), mask_id, 3)),
        Case("All candidates together have the probability 1", (logits, with_mask_at(1), mask_id, vocabulary)),
    ]


def _place(ids, mask_id):
    return ids.tolist().index(mask_id)


def _fill(logits, ids, mask_id, k):
    return top_pairs(logits[_place(ids, mask_id)].softmax(dim=-1), k)


def _by_hand(row):
    return row.exp() / row.exp().sum()


def _unit_of_top(row, k):
    top = row.topk(k)
    return list(zip(top.indices.tolist(), top.values.softmax(dim=-1).tolist()))


WRONG_AXIS = (
    "Your softmax runs over the tokens: it compares one piece at different places. Compare the pieces at one place: "
    "softmax over the last dimension, the vocabulary."
)

FILL = Exercise(
    id="07-fill",
    title="Fill the mask",
    arguments=("logits", "ids", "mask_id", "k"),
    cases=_fill_cases,
    reference=_fill,
    minutes=8,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(WRONG_AXIS, lambda x, ids, m, k: top_pairs(x.softmax(dim=0)[_place(ids, m)], k)),
        Mistake(
            "Your softmax runs over all places and pieces together, so that the whole table adds up to 1. The row "
            "of the mask alone must: take the row first.",
            lambda x, ids, m, k: top_pairs(x.flatten().softmax(dim=0).view_as(x)[_place(ids, m)], k),
        ),
        Mistake(
            "You return logits. Turn them into probabilities: `softmax` over the vocabulary.",
            lambda x, ids, m, k: top_pairs(x[_place(ids, m)], k),
        ),
        Mistake(
            "You return logarithms of probabilities. `softmax` gives the probabilities themselves.",
            lambda x, ids, m, k: top_pairs(x[_place(ids, m)].log_softmax(dim=-1), k),
        ),
        Mistake(
            "Your softmax sees only the k best logits, so that these k alone add up to 1. Softmax over the whole "
            "vocabulary first, then the k best.",
            lambda x, ids, m, k: _unit_of_top(x[_place(ids, m)], k),
        ),
        Mistake(
            "You divide logits by their sum, and logits may be negative. Softmax: e to the power of each, then "
            "divide by the sum of these.",
            lambda x, ids, m, k: top_pairs(x[_place(ids, m)] / x[_place(ids, m)].sum(), k),
        ),
        Mistake(
            "e to the power of a large logit does not fit into a float32, and infinity divided by infinity is NaN. "
            "Use `softmax`, which takes the largest logit away first.",
            lambda x, ids, m, k: top_pairs(_by_hand(x[_place(ids, m)]), k),
        ),
        Mistake(
            "You read the first place, where [CLS] stands. Find the place of `mask_id` in `ids`.",
            lambda x, ids, m, k: top_pairs(x[0].softmax(dim=-1), k),
        ),
        Mistake(
            "You read the third place, where the mask stood in the lesson's sentence. Find the place of `mask_id` "
            "in `ids`.",
            lambda x, ids, m, k: top_pairs(x[2].softmax(dim=-1), k),
        ),
        Mistake(
            "You read the last place. Find the place of `mask_id` in `ids`.",
            lambda x, ids, m, k: top_pairs(x[-1].softmax(dim=-1), k),
        ),
        Mistake(
            "You average over all places. Only the row at the mask says what may stand there.",
            lambda x, ids, m, k: top_pairs(x.softmax(dim=-1).mean(dim=0), k),
        ),
        Mistake(
            "You use `mask_id` as a place. It is the number of the piece [MASK]; its place is where `ids` holds it.",
            lambda x, ids, m, k: top_pairs(x[m].softmax(dim=-1), k),
        ),
        Mistake(
            "You return the k *least* probable pieces. The most probable come first.",
            lambda x, ids, m, k: top_pairs(x[_place(ids, m)].softmax(dim=-1), k, largest=False),
        ),
        Mistake(
            "The right pieces, in the wrong order: the most probable comes first.",
            lambda x, ids, m, k: _fill(x, ids, m, k)[::-1],
        ),
        Mistake(
            "Your pairs are the other way round: (piece, probability) is asked for.",
            lambda x, ids, m, k: [(p, piece) for piece, p in _fill(x, ids, m, k)],
        ),
        Mistake(
            "You return the pieces without their probabilities. Pairs (piece, probability) are asked for.",
            lambda x, ids, m, k: [piece for piece, _ in _fill(x, ids, m, k)],
        ),
        Mistake(
            "You return the probabilities without their pieces. Pairs (piece, probability) are asked for.",
            lambda x, ids, m, k: [p for _, p in _fill(x, ids, m, k)],
        ),
        Mistake(
            "You return two lists, one of pieces and one of probabilities. A list of pairs is asked for: `zip` "
            "makes one of the two.",
            lambda x, ids, m, k: list(zip(*_fill(x, ids, m, k))),
        ),
    ),
    hints=(
        "Three steps: the place of the mask, the row of logits at that place, its softmax. Which dimension of "
        "`logits` is the vocabulary?",
        "`ids.tolist().index(mask_id)` is the place. `.topk(k)` has `.values` and `.indices`, already sorted.",
        "`list(zip(top.indices.tolist(), top.values.tolist()))` makes the pairs.",
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
    low[:, 3] = 0.1
    return [
        Case("A batch with padding", (ids, special, mask_id, drawn(ids, 0.15), 0.15)),
        Case("A larger share", (ids, special, mask_id, drawn(ids, 0.6), 0.6)),
        Case("One sentence without padding", (alone, special, mask_id, drawn(alone, 0.3), 0.3)),
        Case("A [MASK] that stands in the text already is special, too", (with_mask, special, mask_id, low, 0.4)),
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

MASK_TOKENS = Exercise(
    id="07-mask-tokens",
    strict=True,
    title="Mask a batch",
    arguments=("ids", "special_ids", "mask_id", "draws", "share"),
    cases=_mask_cases,
    reference=_mask_tokens,
    minutes=12,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You choose special tokens as well. [CLS], [SEP] and padding are in `special_ids`, and nobody should "
            "learn to predict them: choose among the others.",
            _masked_with(lambda i, s, d, x: d < x),
        ),
        Mistake(
            "You spare the first and the last column only. Special tokens stand elsewhere, too (padding, and [SEP] "
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
            "Your labels are taken from the ids *after* masking, so every label at a chosen place is [MASK]. Take "
            "them from the ids that came in.",
            _masked_with(None, lambda i, m, c: m.masked_fill(~c, IGNORED)),
        ),
        Mistake(
            "Your labels hold every id. Where nothing was chosen there is nothing to predict: -100.",
            _masked_with(None, lambda i, m, c: i.clone()),
        ),
        Mistake(
            "Your labels are upside down: −100 where a token was chosen, and ids where none was. It is the chosen "
            "tokens that must be predicted.",
            _masked_with(None, lambda i, m, c: i.masked_fill(c, IGNORED)),
        ),
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
            "You return where tokens were chosen as true and false. The labels are ids: the true one where chosen, "
            "-100 elsewhere.",
            _masked_with(None, lambda i, m, c: c),
        ),
        Mistake(
            "Your labels hold only the chosen ids. They need the shape of `ids`, with -100 in the other places.",
            _masked_with(None, lambda i, m, c: i[c]),
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
            "Turned round: you choose the tokens whose draw is *larger* than the share, so most of the text is gone.",
            _masked_with(lambda i, s, d, x: (d > x) & ~_special(i, s)),
        ),
        Mistake(
            "Turned round: you choose the tokens whose draw is *larger* than the share, so most of the text is gone.",
            _masked_with(lambda i, s, d, x: (d >= x) & ~_special(i, s)),
        ),
        Mistake(
            "You choose among the special tokens only. Turn that round: `~special`.",
            _masked_with(lambda i, s, d, x: (d < x) & _special(i, s)),
        ),
        Mistake(
            "You return the masked ids only. The labels are asked for, too: `return masked, labels`.",
            lambda *args: _mask_tokens(*args)[0],
        ),
        Mistake("You return the labels first. The masked ids come first.", lambda *args: _mask_tokens(*args)[::-1]),
    ),
    hints=(
        "Make a tensor of true and false first: chosen or not. Two conditions must both hold; `&` joins them, with "
        "brackets around each.",
        "`torch.isin(ids, torch.tensor(special_ids))` is true for special tokens; `~` turns it round.",
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
        Case("The same number added to all logits changes nothing", (logits + 150, targets)),
        Case(
            "A very improbable piece has a large surprisal: its logit decides how large, and it is not infinite",
            (unlikely, targets),
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
                lambda x, t, log=log: -_picked(log(x.softmax(dim=-1)), t),
            )
            for log in (torch.log2,)
        ),
        *(
            Mistake(
                "You bound the probability from below, or add something to it, against the logarithm of 0. That "
                "changes the result of a very improbable piece: use `log_softmax`.",
                lambda x, t, small=small, way=way: -_picked(way(x.softmax(dim=-1), small).log2(), t),
            )
            for small in (1e-5, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12, 1e-20, 1e-30, 1e-38, 1e-45)
            for way in (lambda p, s: p + s, lambda p, s: p.clamp(min=s))
        ),
        Mistake(
            "Your softmax runs over the positions (`dim=0`). Each position compares the pieces of the vocabulary: "
            "`dim=-1`.",
            lambda x, t: -_log_p(x, t, dim=0) / math.log(2),
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
            "You return the entropy of each position, its surprisal *expected* before anybody knows the target. The "
            "target's own is asked for.",
            lambda x, t: torch.special.entr(x.softmax(dim=-1)).sum(dim=-1) / math.log(2),
        ),
        Mistake(
            "You return the surprisal of the model's own best guess. That of `targets` is asked for.",
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
            "The minus sign is gone, so a better model gets a larger number. It was right.",
            lambda x, y: math.exp(-_nats(x, y)[_at(y)].mean().item()),
        ),
        Mistake(
            "You take the sum over the chosen places, which grows with the text. The mean was right.",
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
            "Your softmax runs over the tokens (`dim=1`). `dim=-1`, the vocabulary, was right.",
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

EXERCISES = (FILL, MASK_TOKENS, SURPRISAL, BUG)
