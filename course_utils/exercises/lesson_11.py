"""Exercises of lesson 11, fine-tuning embeddings."""

import itertools
import math
from statistics import pstdev

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
        # each positive lies between its anchor and the row's negative, which is the anchor of another row
        Case(
            "Negatives of other rows are nearer to the anchor than its own",
            (anchor, 0.9 * anchor + 0.1 * anchor.roll(1, 0), anchor.roll(1, 0), 10.0),
        ),
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
            "Triplets that are right by more than the margin make your loss smaller. Each costs at least 0: clamp "
            "*before* the mean.",
            lambda a, p, n, m: _triplet(a, p, n, m, floor=False),
        ),
        Mistake(
            "You clamp the mean. Each triplet costs at least 0: clamp first, then take the mean.",
            lambda a, p, n, m: _triplet(a, p, n, m, floor=False).clamp(min=0),
        ),
        Mistake(
            "The margin is missing: a triplet must be right by at least `margin`.",
            lambda a, p, n, m: _triplet(a, p, n, 0),
        ),
        Mistake(
            "The margin has the wrong sign. It is added, so that a triplet that is right by only a little still costs.",
            lambda a, p, n, m: _triplet(a, p, n, -m),
        ),
        Mistake(
            "Positive and negative are swapped: this loss pushes the positive away.",
            lambda a, p, n, m: _triplet(a, n, p, m),
        ),
        Mistake(
            "These are squared distances. Take the root: `norm(dim=1)`.",
            lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: ((x - y) ** 2).sum(dim=1)),
        ),
        Mistake(
            "This is the sum over the batch. Return the mean.", lambda a, p, n, m: _triplet(a, p, n, m, mean=torch.sum)
        ),
        Mistake(
            "These are distances from the positive to the negative. Both distances start at the anchor.",
            lambda a, p, n, m: ((a - p).norm(dim=1) - (p - n).norm(dim=1) + m).clamp(min=0).mean(),
        ),
        Mistake(
            "These are cosines. The distance here is Euclidean.",
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
            "You take the nearest negative of the whole batch. Each row is a triplet of its own: row i of `negative` "
            "belongs to row i of `anchor`.",
            lambda a, p, n, m: ((a - p).norm(dim=1) - torch.cdist(a, n).amin(dim=1) + m).clamp(min=0).mean(),
        ),
        Mistake(
            "Do not normalise here: the distances are those of the vectors as they are given.",
            lambda a, p, n, m: _triplet(normalise(a), normalise(p), normalise(n), m),
        ),
        Mistake("`margin` is not used: yours is always 1.", lambda a, p, n, m: _triplet(a, p, n, 1.0)),
        Mistake("`margin` is not used: yours is always 0.5.", lambda a, p, n, m: _triplet(a, p, n, 0.5)),
        Mistake(
            "These are the costs of the single triplets. Return their mean.",
            lambda a, p, n, m: _triplet(a, p, n, m, mean=lambda x: x),
        ),
        Mistake(
            "You take the mean over the triplets that cost something. Those that cost 0 count as well.",
            lambda a, p, n, m: _triplet(a, p, n, m, mean=lambda x: x[x > 0].mean() if (x > 0).any() else x.sum()),
        ),
        Mistake(
            "These are sums of absolute differences. The distance here is Euclidean: `norm(dim=1)`.",
            lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: (x - y).abs().sum(dim=1)),
        ),
    ),
    hints=(
        "Two distances for each row: anchor to positive, anchor to negative. The first should be smaller, by `margin`.",
        "`(anchor - positive).norm(dim=1)` has one distance for each row.",
        "`torch.relu(...)` or `.clamp(min=0)` sets what is below 0 to 0. The mean comes last.",
    ),
)


def _ranking_cases(rng):
    n, hidden = rng.randint(5, 8), rng.randint(4, 7)
    anchor = normal(rng, n, hidden) * torch.tensor([[rng.choice([0.3, 1.0, 4.0])] for _ in range(n)])
    positive = (anchor + 0.8 * normal(rng, n, hidden)) * torch.tensor([[rng.choice([0.5, 1.0, 3.0])] for _ in range(n)])
    close = 4 * normalise(normal(rng, 1, hidden)) + 0.2 * normal(rng, n, hidden)
    opposite = torch.cat([anchor[:1], -2 * anchor[:1], anchor[2:]])
    return [
        Case("Each anchor has its positive in the same row", (anchor, positive, 20.0)),
        Case("Another scale", (anchor, positive, rng.choice([1.0, 5.0]))),
        Case("Positives that do not belong to their anchors", (anchor, positive.roll(1, 0), 10.0)),
        Case("One pair: nothing to choose from, so the loss is 0", (anchor[:1], positive[:1], 20.0)),
        # in both, each anchor is nearest to another's positive, so the right answers are not lost in rounding
        Case("A scale of 500, and cosines close together", (close, 3 * close.roll(1, 0), 500.0)),
        # the logit of an anchor's own positive is -500 and the highest is 500; float64 ends at e to the power of -745
        Case("A scale of 500, and cosines far apart", (opposite, 3 * opposite.roll(1, 0), 500.0)),
    ]


def _cosines(anchor, positive):
    return cosine_similarity(anchor[:, None], positive[None], dim=2)


def _hardest(anchor, positive, scale):
    logits = scale * _cosines(anchor, positive)
    own = logits.diagonal()
    return (torch.logaddexp(own, (logits - torch.diag(torch.full_like(own, torch.inf))).amax(dim=1)) - own).mean()


def _exponentials(logits):
    powers = logits.exp()
    return -(powers.diagonal() / powers.sum(dim=1)).log().mean()


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
        Mistake("You divide by the scale. Multiply by it.", lambda a, p, s: _ranking(a, p, 1 / s)),
        Mistake(
            "Your loss is right only until a p is rounded to 0: its logarithm is then lost, in float64 too. Take the "
            "logarithm and the softmax in one step, as `log_softmax`, `logsumexp` and `cross_entropy` do.",
            lambda a, p, s: -(s * _cosines(a, p)).softmax(dim=1).diagonal().log().mean(),
        ),
        Mistake(
            "Your loss is right for small scales only: e to the power of a large logit overflows. Take the logarithm "
            "and the softmax in one step, as `log_softmax`, `logsumexp` and `cross_entropy` do.",
            lambda a, p, s: _exponentials(s * _cosines(a, p)),
        ),
        Mistake(
            "This is a logarithm to the base 2. Take the natural one.", lambda a, p, s: _ranking(a, p, s) / math.log(2)
        ),
        Mistake(
            "Your softmax runs over the anchors. Each anchor chooses among the positives: a row of the table.",
            lambda a, p, s: _ranking(p, a, s),
        ),
        Mistake("This is the sum over the batch. Return the mean.", lambda a, p, s: _ranking(a, p, s, reduction="sum")),
        Mistake(
            "Your function takes the first column as the right answer of each row. Row i has its positive in column i.",
            lambda a, p, s: cross_entropy(s * _cosines(a, p), torch.zeros(len(a), dtype=torch.int64)),
        ),
        Mistake(
            "The logarithm is missing: this is the mean probability of the right positive.",
            lambda a, p, s: (s * _cosines(a, p)).softmax(dim=1).diagonal().mean(),
        ),
        Mistake(
            "The minus sign is missing: the logarithm of a probability is negative, and a loss is not.",
            lambda a, p, s: -_ranking(a, p, s),
        ),
        Mistake(
            "The softmax is taken twice: `cross_entropy` already contains one.",
            lambda a, p, s: cross_entropy((s * _cosines(a, p)).softmax(dim=1), torch.arange(len(a))),
        ),
        Mistake(
            "You take the logarithm of the mean probability. Take the logarithm of each, then the mean.",
            lambda a, p, s: -(s * _cosines(a, p)).softmax(dim=1).diagonal().mean().log(),
        ),
        Mistake(
            "You take the logarithm of the mean probability. Take the logarithm of each, then the mean.",
            lambda a, p, s: math.log(len(a)) - (s * _cosines(a, p)).log_softmax(dim=1).diagonal().logsumexp(dim=0),
        ),
        Mistake(
            "This is the mean over the whole table. Only the diagonal counts: each anchor with its own positive.",
            lambda a, p, s: -(s * _cosines(a, p)).log_softmax(dim=1).mean(),
        ),
        Mistake(
            "You normalise columns, `dim=0`. Each *row* is a vector: `dim=1`.",
            lambda a, p, s: _ranking(a, p, s, lambda x, y: normalise(x.T).T @ normalise(y.T)),
        ),
        Mistake(
            "You compare the own positive with one other text only. The softmax runs over all positives of the batch.",
            _hardest,
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


def _stuck_cases(rng):
    words = rng.sample(("praise", "blame", "neutral", "sport", "music", "travel", "food", "science"), 8)
    n = rng.randint(6, 10)
    few = rng.randint(2, n // 2 - 1)
    two = [words[0]] * few + [words[1]] * (n - few)
    twice = words[:6] * 2 + words[6:]
    word = words[3]
    alike = [word, word.title(), f"{word} ", f"{word} it", f"{word}  it", f"it {word}", f"so {word}", word]
    rng.shuffle(two)
    rng.shuffle(twice)
    rng.shuffle(alike)
    return [
        Case("Two texts, one more often than the other", (two,)),
        Case("Six texts come twice, the others once", (twice,)),
        Case("One text comes five times", ([words[0], *words[1:4], *[words[0]] * 4],)),
        Case("All positives differ", (words[:5],)),
        Case("Texts with another capital, space or order of words are different texts", (alike,)),
        Case("All positives are the same text", ([words[6]] * n,)),
        Case("One pair", ([words[7]],)),
    ]


def _lowest(positives, cost=math.log, mean=lambda costs: sum(costs) / len(costs)):
    return mean([cost(positives.count(text)) for text in positives])


def _first_and_rest(positives):
    return _lowest(["first" if text == positives[0] else "rest" for text in positives])


def _runs(positives):
    places = itertools.accumulate((text != before for before, text in itertools.pairwise(positives)), initial=0)
    return _lowest(list(places))


def _over_texts(positives):
    texts = dict.fromkeys(positives)
    return sum(math.log(positives.count(text)) for text in texts) / len(texts)


STUCK = Exercise(
    id="11-stuck-loss",
    title="A loss that gets stuck",
    arguments=("positives",),
    cases=_stuck_cases,
    reference=_lowest,
    minutes=15,
    difficulty=3,
    points=3,
    mistakes=(
        Mistake(
            "Yours is 0 for every batch. An encoder gives equal texts equal vectors, so an anchor cannot tell its own "
            "positive from a copy of it elsewhere in the batch.",
            lambda positives: 0.0,
        ),
        Mistake(
            "This is the loss of a guess among all texts of the batch. The encoder can put an anchor's positive ahead "
            "of all texts that differ from it.",
            lambda positives: math.log(len(positives)),
        ),
        Mistake(
            "This is the logarithm of the number of different texts. What an anchor cannot tell apart are the copies "
            "of its own positive: count these.",
            lambda positives: math.log(len(set(positives))),
        ),
        Mistake(
            "You take the mean over the different texts. The loss is the mean over the rows of the batch: a text that "
            "comes five times counts five times.",
            _over_texts,
        ),
        Mistake(
            "This is the logarithm of how often a text comes on average. Take the logarithm for each row, of how often "
            "its own positive comes, and then the mean over the rows.",
            lambda positives: math.log(len(positives) / len(set(positives))),
        ),
        Mistake(
            "You take the logarithm of the mean. Take the logarithm for each row, then the mean.",
            lambda positives: math.log(_lowest(positives, float)),
        ),
        Mistake(
            "This is how many equal positives a row has, on average. The loss of a row is −log p: which p does the "
            "row's own positive get if it shares the first place with its copies?",
            lambda positives: _lowest(positives, float),
        ),
        Mistake(
            "This is the mean probability of the right positive. The loss is the mean of −log p.",
            lambda positives: _lowest(positives, lambda count: 1 / count),
        ),
        Mistake(
            "The minus sign is missing: the logarithm of a probability is negative, and a loss is not.",
            lambda positives: -_lowest(positives),
        ),
        Mistake(
            "This is a logarithm to the base 2. Take the natural one, as the loss does.",
            lambda positives: _lowest(positives, math.log2),
        ),
        Mistake("This is the sum over the batch. Return the mean.", lambda positives: _lowest(positives, mean=sum)),
        Mistake(
            "Yours is the loss of the worst row. The loss of a batch is the mean over its rows.",
            lambda positives: _lowest(positives, mean=max),
        ),
        Mistake(
            "You treat all texts that differ from the first one as one text. Count the copies of each text.",
            _first_and_rest,
        ),
        Mistake(
            "You take texts for equal that differ in capitals or spaces. An encoder may place them apart: compare the "
            "texts as they are.",
            lambda positives: _lowest([" ".join(text.lower().split()) for text in positives]),
        ),
        Mistake("You only count copies that follow each other. Equal texts may come anywhere in the batch.", _runs),
        Mistake(
            "You count only the *other* copies of a row's positive. The positive itself shares the probability with "
            "them, so it counts too.",
            lambda positives: _lowest(positives, lambda count: math.log(max(count - 1, 1))),
        ),
    ),
    hints=(
        "Take a batch of four pairs in which three positives are the same word. Which vectors do these three get? "
        "Which logits does each of the four anchors see?",
        "With a large scale, the softmax leaves probability only to the columns with the highest logit. If k columns "
        "are equal, each gets 1/k.",
        "The loss is the mean over the rows: each row adds −log p of its own positive.",
    ),
)


def _epoch_cases(rng):
    n = 400  # the standard error of 0.7 is 0.023; all accuracies below are shares of n, the test's with four digits
    late = rng.randint(3, 6)
    rising = [(160 + 4 * rng.randint(0, 5)) / n for _ in range(late)] + [0.6, 0.685, 0.7, 0.62]
    test = [_odd(rng, 121) for _ in rising]
    test[late] = 0.8025  # the luckiest test score, at an epoch that the development part rejects
    test[late + 1], test[late + 2] = 0.5525, 0.6025
    place = rng.randint(20, 30)
    return [
        Case("An earlier epoch is lower by less than one standard error", (rising, test, n)),
        Case(
            "Earlier epochs are lower by more than one standard error",
            ([0.5, 0.6, 0.7, 0.66], [0.6025, 0.4025, _odd(rng, 181), 0.6525], n),
        ),
        # 0.95 is within the standard error of 0.5, of the mean and of any test score, and not within that of 0.97
        Case(
            "The best score has the smallest standard error",
            ([0.5, 0.95, 0.97, 0.5], [0.4025, 0.4525, 0.5025, 0.6025], n),
        ),
        # the error of 32 in 64 is exactly 1/16, in floating point too
        Case(
            "An epoch is lower by exactly one standard error",
            ([20 / 64, 28 / 64, 32 / 64], [0.4025, 0.5025, 0.6025], 64),
        ),
        Case("The first epoch is good enough", ([0.69, 0.6, 0.7, 0.695], [0.5025, 0.5225, 0.6025, 0.5525], n)),
        Case(
            "Three epochs share the best score, and the second of them has the highest test score",
            ([0.5, 0.7, 0.5, 0.7, 0.7], [0.4025, 0.5125, 0.6025, 0.5525, 0.3025], n),
        ),
        Case(
            "Of three good enough epochs, the middle one has the highest test score",
            ([0.5, 0.69, 0.695, 0.7], [0.4025, 0.5025, 0.6025, 0.5525], n),
        ),
        Case("An epoch is lower by more than one standard error and less than two", ([0.67, 0.7], [0.5025, 0.6025], n)),
        # the standard deviation of the four scores, divided by the root of 16, is 0.069
        Case(
            "Fewer triplets, so a larger difference is within one standard error",
            ([1 / 16, 10 / 16, 11 / 16, 12 / 16], [0.4025, 0.5025, 0.6025, 0.6525], 16),
        ),
        Case(
            "Of four good enough epochs, one stands before a fall, and a later one is lower",
            ([0.5, 0.69, 0.55, 0.69, 0.68, 0.7, 0.6], [0.4025, 0.5025, 0.3025, 0.5225, 0.5425, 0.6025, 0.4525], n),
        ),
        Case("An epoch is lower by hardly more than one standard error", ([26 / 42, 29 / 42], [0.5025, 0.6025], 42)),
        Case("The standard error is that of the best score", ([0.985, 0.99], [0.5025, 0.6025], n)),
        Case(
            "All are right after the second epoch: the standard error is 0",
            ([399 / 400, 1.0, 1.0], [0.5025, 0.6025, 0.7025], n),
        ),
        Case(
            "The score rises again after a fall",
            ([0.5, 0.6, 0.55, 0.7, 0.6], [0.4025, 0.5025, 0.6025, 0.5625, 0.3025], n),
        ),
        Case("One epoch", ([place / 42], [0.4525], 42)),
    ]


def _odd(rng, least):
    """An odd number of 400 triplets, `least` or up to 36 more: a share that needs four digits."""
    return (least + 2 * rng.randint(0, 18)) / 400


def _error(share, n):
    return (share * (1 - share) / n) ** 0.5


def _epoch(dev, test, n, errors=1.0, error=_error):
    least = max(dev) - errors * error(max(dev), n)
    place = next(place for place, share in enumerate(dev) if share >= least)
    return place, test[place]


def _good_enough(dev, n):
    return [place for place, share in enumerate(dev) if share >= max(dev) - _error(max(dev), n)]


def _unbroken(dev, n):
    """The first epoch of the run of good ones that ends with the best."""
    best, good = dev.index(max(dev)), _good_enough(dev, n)
    return next(place for place in good if all(between in good for between in range(place, best)))


def _at(place, test):
    return place, test[place]


EPOCH = Exercise(
    id="11-pick-epoch",
    title="Pick an epoch",
    arguments=("dev", "test", "n"),
    cases=_epoch_cases,
    reference=_epoch,
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You let the test part pick the epoch. Its score is then the luckiest one, and says too much about new "
            "sentences. The development part picks.",
            lambda dev, test, n: _epoch(test, test, n, 0),
        ),
        Mistake(
            "You let the test part pick the epoch, with one standard error. The development part picks.",
            lambda dev, test, n: _epoch(test, test, n),
        ),
        Mistake(
            "Of the epochs that are good enough on the development part, you take the one with the best test score. "
            "Then the test part has picked. Take the earliest.",
            lambda dev, test, n: _at(max(_good_enough(dev, n), key=test.__getitem__), test),
        ),
        Mistake(
            "Where epochs share the best development score, you take the one with the best test score. Then the test "
            "part has picked.",
            lambda dev, test, n: _at(max(range(len(dev)), key=lambda i: (dev[i], test[i])), test),
        ),
        Mistake(
            # p(1 − p)/n is less than 1/n, so no other epoch is within it
            "You keep the epoch with the highest development score. Keep the earliest that is lower by one standard "
            "error at most, √(p(1 − p)/n). Without the root, no other epoch is ever near enough.",
            lambda dev, test, n: _epoch(dev, test, n, 0),
        ),
        Mistake(
            "Of the epochs that are good enough, you take the latest. Take the earliest.",
            lambda dev, test, n: _at(_good_enough(dev, n)[-1], test),
        ),
        Mistake(
            "Of the epochs that are good enough, you take the one with the lowest development score. Take the "
            "earliest.",
            lambda dev, test, n: _at(min(_good_enough(dev, n), key=dev.__getitem__), test),
        ),
        Mistake(
            "You want all epochs from yours to the best one to be good enough. The earliest good one counts, even if "
            "the score falls after it.",
            lambda dev, test, n: _at(_unbroken(dev, n), test),
        ),
        Mistake(
            "You take the standard error of the last epoch's score. Take that of the best one.",
            lambda dev, test, n: _epoch(dev, test, n, error=lambda _, n: _error(dev[-1], n)),
        ),
        Mistake(
            "Your epoch is right. The score is not: return the test score of that epoch, not the highest one.",
            lambda dev, test, n: (_epoch(dev, test, n)[0], max(test)),
        ),
        Mistake(
            "You return the development score. It was used to pick, so it is too high: return the test score of that "
            "epoch.",
            lambda dev, test, n: (_epoch(dev, test, n)[0], dev[_epoch(dev, test, n)[0]]),
        ),
        Mistake("You allow two standard errors. Allow one.", lambda dev, test, n: _epoch(dev, test, n, 2)),
        Mistake(
            "You take the spread of the epochs' scores. The standard error is √(p(1 − p)/n), with p the best score.",
            lambda dev, test, n: _epoch(dev, test, n, error=lambda _, n: pstdev(dev) / n**0.5),
        ),
        Mistake(
            "You leave out an epoch that is lower by exactly one standard error. The text says *at most*: it counts.",
            lambda dev, test, n: _at(
                next(i for i, p in enumerate(dev) if p > max(dev) - _error(max(dev), n) or p == max(dev)), test
            ),
        ),
        Mistake(
            "Your epoch is right, and its test score is rounded. Return the score as it stands in `test`.",
            lambda dev, test, n: (_epoch(dev, test, n)[0], round(_epoch(dev, test, n)[1], 2)),
        ),
        Mistake(
            "You do not divide by `n`: this is the standard deviation of a single triplet.",
            lambda dev, test, n: _epoch(dev, test, n, error=lambda p, n: _error(p, 1)),
        ),
        Mistake(
            "You divide by the number of epochs. `n` is the number of triplets in the development part.",
            lambda dev, test, n: _epoch(dev, test, len(dev)),
        ),
        Mistake(
            "You divide by `n` − 1. The text asks for √(p(1 − p)/n).",
            lambda dev, test, n: _epoch(dev, test, max(n - 1, 1)),
        ),
        Mistake(
            "You take the standard error of each epoch's own score. Take that of the best one.",
            lambda dev, test, n: _at(
                next(i for i, share in enumerate(dev) if share >= max(dev) - _error(share, n)), test
            ),
        ),
        Mistake(
            "You take the last epoch, whatever the development part says.",
            lambda dev, test, n: (len(dev) - 1, test[-1]),
        ),
        Mistake(
            "You count epochs from 1. Count them from 0, as places in the list.",
            lambda dev, test, n: (_epoch(dev, test, n)[0] + 1, _epoch(dev, test, n)[1]),
        ),
        Mistake("You return only the epoch. Return (epoch, test score).", lambda dev, test, n: _epoch(dev, test, n)[0]),
        Mistake("You return only the score. Return (epoch, test score).", lambda dev, test, n: _epoch(dev, test, n)[1]),
        Mistake(
            "You return (test score, epoch). The epoch comes first.", lambda dev, test, n: _epoch(dev, test, n)[::-1]
        ),
    ),
    hints=(
        "Two lists, one number an epoch. Which of them may you look at while you still choose?",
        "First the highest development score, then its standard error, then the first place in `dev` that is at least "
        "the difference of the two.",
    ),
)

EXERCISES = (TRIPLET, RANKING, STUCK, EPOCH)
