"""Exercises of lesson 11, fine-tuning embeddings."""

import torch
from torch.nn.functional import cosine_similarity, cross_entropy

from ..pooling import normalise
from .framework import Case, Exercise, Mistake, normal


def _triplet_cases(rng):
    n, hidden = rng.randint(5, 8), rng.randint(3, 6)
    anchor = normal(rng, n, hidden)
    near, far = anchor + 0.2 * normal(rng, n, hidden), anchor + 4 * normal(rng, n, hidden)
    mixed = torch.cat([near[:2], far[2:]])
    other = torch.cat([far[:2], near[2:]])
    return [
        Case("Some triplets are right by far, some are wrong", (anchor, mixed, other, 1.0)),
        Case("All are right by more than the margin: the loss is 0", (anchor, near, near + 30, 1.0)),
        Case("All are right, by less than the margin", (anchor, near, near + 0.05 * normal(rng, n, hidden), 2.0)),
        Case("Another margin", (anchor, mixed, other, rng.choice([0.5, 3.0, 5.0]))),
        Case("One triplet", (anchor[:1], far[:1], near[:1], 1.5)),
    ]


def _triplet(
    anchor, positive, negative, margin, distance=lambda a, b: (a - b).norm(dim=1), floor=True, mean=torch.mean
):
    loss = distance(anchor, positive) - distance(anchor, negative) + margin
    return mean(loss.clamp(min=0) if floor else loss)


TRIPLET = Exercise(
    id="11-triplet-loss",
    title="Triplet loss",
    arguments=("anchor", "positive", "negative", "margin"),
    cases=_triplet_cases,
    reference=_triplet,
    minutes=10,
    difficulty=2,
    points=3,
    mistakes=(
        Mistake(
            "Triplets that are right by more than the margin make your loss smaller. Each counts 0 at least: clamp "
            "*before* the mean.",
            lambda a, p, n, m: _triplet(a, p, n, m, floor=False),
        ),
        Mistake(
            "You clamp the mean. Each triplet counts 0 at least: clamp first, then take the mean.",
            lambda a, p, n, m: _triplet(a, p, n, m, floor=False).clamp(min=0),
        ),
        Mistake(
            "The margin is missing: a triplet must be right by at least `margin`.",
            lambda a, p, n, m: _triplet(a, p, n, 0),
        ),
        Mistake(
            "The margin has the wrong sign: it is added, so that being right by little still costs.",
            lambda a, p, n, m: _triplet(a, p, n, -m),
        ),
        Mistake(
            "Positive and negative are exchanged: this loss pushes the positive away.",
            lambda a, p, n, m: _triplet(a, n, p, m),
        ),
        Mistake(
            "These are squared distances. Take the root: `norm(dim=1)`.",
            lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: ((x - y) ** 2).sum(dim=1)),
        ),
        Mistake(
            "This is the sum over the batch. The mean is asked for.",
            lambda a, p, n, m: _triplet(a, p, n, m, mean=torch.sum),
        ),
        Mistake(
            "These are distances from the positive to the negative. Both distances start at the anchor.",
            lambda a, p, n, m: ((a - p).norm(dim=1) - (p - n).norm(dim=1) + m).clamp(min=0).mean(),
        ),
        Mistake(
            "These are cosines. Here the distance is Euclidean.",
            lambda a, p, n, m: (cosine_similarity(a, n) - cosine_similarity(a, p) + m).clamp(min=0).mean(),
        ),
        Mistake(
            "You take one distance over the whole batch. Each row has its own: `norm(dim=1)`.",
            lambda a, p, n, m: ((a - p).norm() - (a - n).norm() + m).clamp(min=0),
        ),
        Mistake(
            "`norm(dim=0)` gives one distance for each column. Each row has its own: `norm(dim=1)`.",
            lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: (x - y).norm(dim=0)),
        ),
        Mistake(
            "You compare every anchor with every positive. Each row is a triplet of its own.",
            lambda a, p, n, m: _triplet(a, p, n, m, torch.cdist),
        ),
        Mistake(
            "Do not normalise here: the distances are those of the vectors as they are given.",
            lambda a, p, n, m: _triplet(normalise(a), normalise(p), normalise(n), m),
        ),
        Mistake("`margin` is not used: yours is always 1.", lambda a, p, n, m: _triplet(a, p, n, 1.0)),
        Mistake("`margin` is not used: yours is always 0.5.", lambda a, p, n, m: _triplet(a, p, n, 0.5)),
        Mistake(
            "These are the losses of the single triplets. Return their mean.",
            lambda a, p, n, m: _triplet(a, p, n, m, mean=lambda x: x),
        ),
    ),
    hints=(
        "Two distances for each row: anchor to positive, anchor to negative. The first should be smaller, by `margin`.",
        "`(anchor - positive).norm(dim=1)` has one distance for each row. What is missing to the margin is first "
        "minus second plus margin, or 0.",
        "`torch.relu(...)` or `.clamp(min=0)` sets what is below 0 to 0. The mean comes last.",
    ),
)


def _ranking_cases(rng):
    n, hidden = rng.randint(5, 8), rng.randint(4, 7)
    anchor = normal(rng, n, hidden) * torch.tensor([[rng.choice([0.3, 1.0, 4.0])] for _ in range(n)])
    positive = (anchor + 0.8 * normal(rng, n, hidden)) * torch.tensor([[rng.choice([0.5, 1.0, 3.0])] for _ in range(n)])
    return [
        Case("Each anchor has its positive in the same row", (anchor, positive, 20.0)),
        Case("Another scale", (anchor, positive, rng.choice([1.0, 5.0]))),
        Case("Positives that do not belong to their anchors", (anchor, positive.roll(1, 0), 10.0)),
        Case("One pair: nothing to choose from, so the loss is 0", (anchor[:1], positive[:1], 20.0)),
    ]


def _cosines(anchor, positive):
    return cosine_similarity(anchor[:, None], positive[None], dim=2)


def _ranking(anchor, positive, scale, scores=_cosines, **how):
    return cross_entropy(scale * scores(anchor, positive), torch.arange(len(anchor)), **how)


RANKING = Exercise(
    id="11-ranking-loss",
    title="Multiple-negatives ranking loss",
    arguments=("anchor", "positive", "scale"),
    cases=_ranking_cases,
    reference=_ranking,
    minutes=12,
    difficulty=3,
    points=3,
    mistakes=(
        Mistake(
            "These are dot products. Divide by both lengths: cosines are asked for.",
            lambda a, p, s: _ranking(a, p, s, lambda x, y: x @ y.T),
        ),
        Mistake(
            "Only the anchors are normalised.",
            lambda a, p, s: _ranking(a, p, s, lambda x, y: x @ y.T / x.norm(dim=1, keepdim=True)),
        ),
        Mistake(
            "Only the positives are normalised.",
            lambda a, p, s: _ranking(a, p, s, lambda x, y: x @ y.T / y.norm(dim=1)),
        ),
        Mistake(
            "The scale is missing: cosines lie between −1 and 1, and are multiplied by `scale` before the softmax.",
            lambda a, p, s: _ranking(a, p, 1.0),
        ),
        Mistake("You divide by the scale. Multiply.", lambda a, p, s: _ranking(a, p, 1 / s)),
        Mistake(
            "Your softmax runs over the anchors. Each anchor chooses among the positives: a row of the table.",
            lambda a, p, s: _ranking(p, a, s),
        ),
        Mistake(
            "This is the sum over the batch. The mean is asked for.", lambda a, p, s: _ranking(a, p, s, reduction="sum")
        ),
        Mistake(
            "The right answer of each row is the first column in your function. Row i has its positive in column i.",
            lambda a, p, s: cross_entropy(s * _cosines(a, p), torch.zeros(len(a), dtype=torch.int64)),
        ),
        Mistake(
            "The logarithm is missing: this is the mean probability of the right positive.",
            lambda a, p, s: (s * _cosines(a, p)).softmax(dim=1).diagonal().mean(),
        ),
        Mistake(
            "The sign is missing: a logarithm of a probability is negative, and a loss should fall.",
            lambda a, p, s: -_ranking(a, p, s),
        ),
        Mistake(
            "`cross_entropy` does the softmax itself. Yours is taken twice.",
            lambda a, p, s: cross_entropy((s * _cosines(a, p)).softmax(dim=1), torch.arange(len(a))),
        ),
        Mistake(
            "You take the logarithm of the mean probability. Take the logarithm of each, then the mean.",
            lambda a, p, s: -(s * _cosines(a, p)).softmax(dim=1).diagonal().mean().log(),
        ),
        Mistake(
            "This is the mean over the whole table. Only the diagonal counts: each anchor with its own positive.",
            lambda a, p, s: -(s * _cosines(a, p)).log_softmax(dim=1).mean(),
        ),
        Mistake(
            "You normalise columns, `dim=0`. Each *row* is a vector: `dim=1`.",
            lambda a, p, s: _ranking(a, p, s, lambda x, y: normalise(x.T).T @ normalise(y.T)),
        ),
        Mistake("`scale` is not used: yours is always 20.", lambda a, p, s: _ranking(a, p, 20.0)),
        Mistake(
            "You return the losses of the single rows. Return their mean.",
            lambda a, p, s: _ranking(a, p, s, reduction="none"),
        ),
    ),
    hints=(
        "First a table of cosines: row i, column j holds the cosine of anchor i to positive j. Normalise both, then "
        "one matrix product.",
        "Each row is a choice with one right answer, as in lesson 07: the right column of row i is i.",
        "`torch.nn.functional.cross_entropy(scale * table, torch.arange(len(table)))`.",
    ),
)

LABELS = ("entailment", "neutral", "contradiction")


def _pairs_cases(rng):
    def rows(number, labels=LABELS):
        return [(f"premise {rng.randint(0, 99)}", f"hypothesis {i}", rng.choice(labels)) for i in range(number)]

    every = [
        ("A man plays.", "Somebody plays.", "entailment"),
        ("A man plays.", "He is good.", "neutral"),
        ("A man plays.", "Nobody plays.", "contradiction"),
    ]
    mixed = every + rows(rng.randint(4, 7))
    rng.shuffle(mixed)
    return [
        Case("All three labels", (mixed,)),
        Case("Only contradictions", (rows(3, LABELS[2:]),)),
        Case("Only entailments", (rows(3, LABELS[:1]),)),
        Case("Nothing", ([],)),
    ]


def _pairs(rows, keep=("entailment",)):
    return [(premise, hypothesis) for premise, hypothesis, label in rows if label in keep]


PAIRS = Exercise(
    id="11-find-the-bug",
    title="Find the bug: pairs that belong together",
    arguments=("rows",),
    cases=_pairs_cases,
    reference=_pairs,
    minutes=8,
    difficulty=1,
    points=2,
    mistakes=(
        Mistake(
            "Contradictions are among your pairs. They speak of the same thing and say the opposite: as positives, "
            "they teach just the weakness.",
            lambda rows: _pairs(rows, ("entailment", "contradiction")),
        ),
        Mistake(
            "You keep every row. Neutral ones do not say the same, and contradictions say the opposite.",
            lambda rows: _pairs(rows, LABELS),
        ),
        Mistake(
            "Neutral rows are among your pairs. They may be true together, and do not say the same.",
            lambda rows: _pairs(rows, ("entailment", "neutral")),
        ),
        Mistake("You keep what should go: neutral rows and contradictions.", lambda rows: _pairs(rows, LABELS[1:])),
        Mistake("You keep the contradictions only.", lambda rows: _pairs(rows, LABELS[2:])),
        Mistake(
            "The label is still in your rows. Pairs (premise, hypothesis) are asked for.",
            lambda rows: [row for row in rows if row[2] == "entailment"],
        ),
        Mistake("The two sentences of each pair are exchanged.", lambda rows: [pair[::-1] for pair in _pairs(rows)]),
    ),
    hints=(
        "Which of the three labels means that the second sentence follows from the first?",
        "A comparison with `!=` keeps everything else, whatever it is. Compare with `==`.",
    ),
)


def _epoch_cases(rng):
    n = rng.randint(5, 8)
    dev = [round(value, 3) for value in sorted(rng.sample(range(500, 700), n))]
    dev = [value / 1000 for value in dev]
    best = rng.randrange(1, n - 1)
    dev[best], dev[-1] = dev[-1], dev[best]
    test = [rng.randint(500, 700) / 1000 for _ in range(n)]
    lucky = best - 1
    test[lucky] = 0.9
    tied = [0.5, 0.7, 0.6, 0.7, 0.4]
    return [
        Case("The test part has its highest score elsewhere", (dev, test)),
        Case("Two epochs are equally good: take the earlier one", (tied, [0.4, 0.5, 0.6, 0.65, 0.3])),
        Case("It falls once, and rises again later", ([0.5, 0.6, 0.55, 0.7, 0.6], [0.4, 0.5, 0.6, 0.55, 0.3])),
        Case("The first epoch is the best", ([0.8, 0.7, 0.75], [0.6, 0.7, 0.65])),
        Case("One epoch", ([0.5], [0.45])),
    ]


def _epoch(dev, test):
    best = max(range(len(dev)), key=dev.__getitem__)
    return best, test[best]


EPOCH = Exercise(
    id="11-pick-epoch",
    title="Pick an epoch",
    arguments=("dev", "test"),
    cases=_epoch_cases,
    reference=_epoch,
    minutes=6,
    difficulty=1,
    points=2,
    mistakes=(
        Mistake(
            "You let the test part pick the epoch. Then its score is the luckiest one, and tells nothing about new "
            "sentences. The development part picks.",
            lambda dev, test: _epoch(test, test),
        ),
        Mistake(
            "You return the highest test score of any epoch. Return the one of the epoch that the development part "
            "picks.",
            lambda dev, test: (_epoch(dev, test)[0], max(test)),
        ),
        Mistake(
            "You return the development score. It was used to pick, so it is too high; the test score of that epoch "
            "is asked for.",
            lambda dev, test: (_epoch(dev, test)[0], max(dev)),
        ),
        Mistake(
            "You stop at the first fall. A later epoch may be better: look at all of them.",
            lambda dev, test: (lambda best: (best, test[best]))(
                next((i for i in range(len(dev) - 1) if dev[i + 1] < dev[i]), len(dev) - 1)
            ),
        ),
        Mistake(
            "You take the last epoch, whatever the development part says.", lambda dev, test: (len(dev) - 1, test[-1])
        ),
        Mistake(
            "Of two equally good epochs, you take the later one. Take the earlier: less training, less forgotten.",
            lambda dev, test: (lambda best: (best, test[best]))(max(range(len(dev)), key=lambda i: (dev[i], i))),
        ),
        Mistake(
            "You count epochs from 1. The place in the list is asked for, from 0.",
            lambda dev, test: (_epoch(dev, test)[0] + 1, _epoch(dev, test)[1]),
        ),
        Mistake(
            "This is the worst epoch of the development part.",
            lambda dev, test: _epoch([-value for value in dev], test),
        ),
        Mistake("You return only the epoch. Return (epoch, test score).", lambda dev, test: _epoch(dev, test)[0]),
        Mistake("You return only the score. Return (epoch, test score).", lambda dev, test: _epoch(dev, test)[1]),
        Mistake(
            "You pick by the mean of both parts. The test part must not take part in picking.",
            lambda dev, test: _epoch([a + b for a, b in zip(dev, test)], test),
        ),
    ),
    hints=(
        "Two lists, one number an epoch. Which of them may you look at while you still choose?",
        "`dev.index(max(dev))` is the first place of the highest number.",
    ),
)

EXERCISES = (TRIPLET, RANKING, PAIRS, EPOCH)
