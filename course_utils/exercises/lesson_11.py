"""Exercises of lesson 11, fine-tuning embeddings. See `model.py` on cases and mistakes' swaps."""

import math

import numpy as np
import torch

from ..pooling import normalise
from .comparing import TOLERANCE, number_difference
from .model import Case, completion, exercise, normal


# Anchors, a row near each of them, and a row far from each: three tensors of the same shape.
def _near_and_far(rng, rows):
    anchor = normal(rng, rows, rng.randint(3, 6))
    return (
        anchor,
        anchor + 0.2 * normal(rng, *anchor.shape),
        anchor + 4 * normal(rng, *anchor.shape),
    )


def _triplet_cases(rng):
    anchor, near, far = _near_and_far(rng, rng.randint(5, 8))
    # mixed: the first two rows are near and the others far; opposite: the other way round
    mixed, opposite = torch.cat([near[:2], far[2:]]), torch.cat([far[:2], near[2:]])
    return [
        Case("Some triplets are right by far, some are wrong", anchor, mixed, opposite, 1.0),
        Case("All are right by more than the margin: the loss is 0", anchor, near, near + 30, 1.0),
        Case(
            "Right, by less than the margin",
            anchor,
            near,
            near + 0.05 * normal(rng, *anchor.shape),
            2.0,
        ),
        Case("Another margin", anchor, mixed, opposite, rng.choice([0.5, 3.0, 5.0])),
        Case("One triplet", anchor[:1], far[:1], near[:1], 1.5),
        Case(
            "Negatives of other rows are nearer to the anchor than its own",
            anchor,
            # between the anchor and the negative of its row, which is the anchor of another row
            0.9 * anchor + 0.1 * anchor.roll(1, 0),
            anchor.roll(1, 0),
            10.0,
        ),
    ]


def _triplet(anchor, positive, negative, margin):
    near = (anchor - positive).norm(dim=1)
    far = (anchor - negative).norm(dim=1)
    apart = near - far
    costs = (apart + margin).clamp(min=0)
    return costs.mean()


TRIPLET = exercise("11-triplet-loss", _triplet_cases, _triplet, points=3)(
    not_clamped=[{".clamp(min=0)": other} for other in ("", ".abs()", ".clamp(max=0)")],
    mean_clamped={
        "(apart + margin).clamp(min=0)": "apart + margin",
        "costs.mean()": "costs.mean().clamp(min=0)",
    },
    margin_not_added=[
        {"apart + margin": other}
        for other in ("apart", "apart - margin", "apart + 1.0", "apart + 0.5")
    ],
    margin_after=[
        {"(apart + margin).clamp(min=0)": "apart.clamp(min=0) + margin"},
        {"apart + margin": "apart", "return costs.mean()": "return costs.mean() + margin"},
        {"(apart + margin).clamp(min=0)": "apart.clamp(min=margin)"},
    ],
    swapped={"near - far": "far - near"},
    not_euclidean=[
        {".norm(dim=1)": other}
        for other in (".pow(2).sum(dim=1)", ".pow(2).mean(dim=1)", ".abs().sum(dim=1)")
    ],
    cosines=[
        {"near - far": f"{cosine.format('negative')} - {cosine.format('positive')}"}
        for cosine in ("torch.cosine_similarity(anchor, {})", "(anchor * {}).sum(dim=1)")
    ],
    normalised={
        "    near =": (
            "    anchor, positive, negative = map(normalise, (anchor, positive, negative))\n"
            "    near ="
        )
    },
    from_positive=[
        {"(anchor - negative)": "(positive - negative)"},
        {"near - far": "near - torch.minimum(far, (positive - negative).norm(dim=1))"},
    ],
    not_row_by_row=[
        {".norm(dim=1)": ".norm()"},
        {"norm(dim=1)": "norm(dim=0)"},
        {"near - far": "torch.cdist(anchor, positive) - torch.cdist(anchor, negative)"},
        {"near - far": "near - torch.cdist(anchor, negative).amin(dim=1)"},
    ],
    sum={"costs.mean()": "costs.sum()"},
    mean_of_costly=[
        {"costs.mean()": "costs[costs > 0].mean()"},
        {"costs.mean()": "costs.sum() / max(1, (costs > 0).sum())"},
    ],
)


def _ranking_cases(rng):
    n, hidden = rng.randint(5, 8), rng.randint(4, 7)
    # of several lengths: the dot product of two rows is far from their cosine
    lengths = torch.tensor([rng.choice([0.3, 1.0, 4.0]) for _ in range(2 * n)]).reshape(2, n, 1)
    anchor = normal(rng, n, hidden) * lengths[0]
    positive = (anchor + 0.8 * normal(rng, n, hidden)) * lengths[1]
    # all rows lie around one direction
    close = 4 * normalise(normal(rng, 1, hidden)) + 0.2 * normal(rng, n, hidden)
    opposite = torch.cat([anchor[:1], -2 * anchor[:1], anchor[2:]])
    return [
        Case("Each anchor has its positive in the same row", anchor, positive, 20.0),
        Case("Another scale", anchor, positive, rng.choice([1.0, 5.0])),
        Case("Positives that do not belong to their anchors", anchor, positive.roll(1, 0), 10.0),
        Case("One pair: nothing to choose from, so the loss is 0", anchor[:1], positive[:1], 20.0),
        # in both, each anchor is nearest to another's positive, so the right answers are not lost
        # in rounding
        Case("A scale of 500, and cosines close together", close, 3 * close.roll(1, 0), 500.0),
        # for the second anchor, the logit of its own positive is -500 and the highest is 500;
        # float64 ends at e to the power of -745
        Case("A scale of 500, and cosines far apart", opposite, 3 * opposite.roll(1, 0), 500.0),
    ]


def _ranking(anchor, positive, scale):
    a = normalise(anchor)
    p = normalise(positive)
    logits = scale * (a @ p.T)
    log_p = logits.log_softmax(dim=1)
    own = log_p.diagonal()
    return -own.mean()


# What is wrong with a loss, or None. It may be off as other results may, or by as much as its
# logits: in float32, up to a millionth of the scale.
def _judge_ranking(args, outcome):
    anchor, positive, scale = args
    right = _ranking(anchor.double(), positive.double(), scale).item()
    return number_difference(outcome, right, max(TOLERANCE * max(1, right), 1e-6 * scale))


RANKING = exercise(
    "11-ranking-loss",
    _ranking_cases,
    _ranking,
    judge=_judge_ranking,
    # Losses of one mistake differ by rounding, in float32 and with a scale of up to 500. `isclose`
    # raises for what is no number; then the two are not alike.
    alike=lambda one, other: math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-4),
    points=3,
)(
    dot_products=[
        {"normalise(anchor)": "anchor", "normalise(positive)": "positive"},
        {"normalise(anchor)": "anchor"},
        {"normalise(positive)": "positive"},
        # each column has length 1, not each row
        {"(anchor)": "(anchor.T).T", "(positive)": "(positive.T).T"},
    ],
    no_scale=[
        {"scale * (a @ p.T)": other}
        for other in ("a @ p.T", "(a @ p.T) / scale", "20.0 * (a @ p.T)")
    ],
    underflow=[
        {"logits.log_softmax(dim=1)": f"{other}.log()"}
        for other in (
            "logits.softmax(dim=1)",
            "logits.double().softmax(dim=1)",
            "(logits.exp() / logits.exp().sum(dim=1, keepdim=True))",
            *(f"logits.softmax(dim=1).clamp(min=1e-{digits})" for digits in (12, 10, 9, 8)),
            *(f"(logits.softmax(dim=1) + 1e-{digits})" for digits in (10, 9, 8)),
        )
    ],
    over_anchors={"dim=1": "dim=0"},
    sum={"own.mean()": "own.sum()"},
    not_the_diagonal=[{"log_p.diagonal()": other} for other in ("log_p[:, 0]", "log_p")],
    log_not_of_each=[
        {"-own.mean()": other}
        for other in (
            "own.exp().mean()",
            "-own.exp().mean()",
            "-own.exp().mean().log()",
            "math.log(len(own)) - own.logsumexp(dim=0)",
        )
    ],
    no_sign={"-own": "own"},
    softmax_twice={"logits.log_softmax": "logits.softmax(dim=1).log_softmax"},
    own_left_out={
        "logits.log_softmax(dim=1)": (
            "logits - logits.clone().fill_diagonal_(-torch.inf).logsumexp(dim=1, keepdim=True)"
        )
    },
    both_directions=[
        {"own = log_p.diagonal()": f"own = (log_p + logits.log_softmax(dim=0)).diagonal(){half}"}
        for half in (" / 2", "")
    ],
    own_cosines_only=[
        {"log_p.diagonal()": "logits.diagonal().log_softmax(dim=0)"},
        {"log_p.diagonal()": "logits.diagonal()"},
        {"log_p.diagonal()": "(a * p).sum(dim=1) - 1"},
    ],
)


def _stuck_cases(rng):
    # eight different texts
    a, b, c, d, e, f, g, h = rng.sample(
        "praise blame neutral sport music travel food science".split(), 8
    )
    n = rng.randint(6, 10)  # pairs
    few = rng.randint(2, n // 2 - 1)  # less than half of them
    return [
        Case("One of two texts comes more often", rng.sample([a, b], n, counts=(few, n - few))),
        Case("Six texts twice, the others once", rng.sample([a, b, c, d, e, f] * 2 + [g, h], 14)),
        Case("One text comes five times", [a, b, c, d, a, a, a, a]),
        Case("All positives differ", [a, b, c, d, e]),
        Case(
            "Capitals, spaces and the order of words count",
            rng.sample([d, d.title(), f"{d} ", f"{d} it", f"{d}  it", f"it {d}", f"so {d}", d], 8),
        ),
        Case("All positives are the same text", [g] * n),
        Case("One pair", [h]),
    ]


# The lowest mean loss of a batch whose positives are these texts: equal ones have equal logits, so
# the probability of each is at most 1 / count.
def _lowest_loss(positives):
    copies = [positives.count(text) for text in positives]
    costs = [math.log(count) for count in copies]
    return sum(costs) / len(costs)


STUCK = exercise(
    "11-stuck-loss",
    _stuck_cases,
    _lowest_loss,
    # 1e-4: a loss in float32, computed with a large scale, is right too
    judge=lambda args, outcome: number_difference(outcome, _lowest_loss(*args), 1e-4),
    points=3,
)(
    zero={"sum(costs) / len(costs)": "0.0"},
    not_copies_counted=[
        {"positives.count(text)": other}
        for other in (
            "len(positives)",
            "len(set(positives))",
            "len(positives) / len(set(positives))",
        )
    ],
    mean_of_texts=[
        {"for text in positives": "for text in set(positives)"},
        {"for text in positives": "for text in set(positives)", "len(costs)": "len(positives)"},
    ],
    log_not_of_each=[
        {
            "math.log(count)": "count",
            "sum(costs) / len(costs)": "math.log(sum(costs) / len(costs))",
        },
        {"math.log(count)": "count"},
        {"math.log(count)": "1 / count"},
    ],
    no_sign={"sum(costs) /": "-sum(costs) /"},
    base_two=[{"math.log(": "math.log2("}, {"math.log(": "math.log10("}],
    sum={" / len(costs)": ""},
    texts_normalised=[
        {"    copies =": f"    positives = [{same} for text in positives]\n    copies ="}
        for same in ("text.lower()", "text.strip()", "' '.join(text.split())")
    ],
    other_copies=[
        {"positives.count(text)": "max(1, positives.count(text) - 1)"},
        {"positives.count(text)": "positives.count(text) - 1", "math.log(count)": "count"},
    ],
    entropy={"math.log(count)": "math.log(len(positives) / count)"},
    costly_rows_only={"in copies": "in copies if count > 1", "len(costs)": "max(1, len(costs))"},
)


def _epoch_cases(rng):
    # Most cases have so many triplets: the standard error of 0.7 is then 0.023. Development
    # accuracies are shares of a case's triplets, test accuracies odd shares of 400, of four digits.
    n = 400
    low_epochs = rng.randint(3, 6)
    # 0.4 to 0.45, then 0.6, 0.685 (within 0.023 of the best), 0.7 (the best) and 0.62
    rising = [
        *((160 + 4 * rng.randint(0, 5)) / n for _ in range(low_epochs)),
        *(0.6, 0.685, 0.7, 0.62),
    ]
    test = [_share_with_four_digits(rng, 121) for _ in rising]
    # the luckiest score, at an epoch that the development part rejects
    test[low_epochs : low_epochs + 3] = 0.8025, 0.5525, 0.6025
    return [
        Case("An earlier epoch is lower by less than one standard error", rising, test, n),
        Case(
            "Earlier epochs are lower by more than one standard error",
            [0.5, 0.6, 0.7, 0.66],
            [0.6025, 0.4025, _share_with_four_digits(rng, 181), 0.6525],
            n,
        ),
        # 0.95 is within the standard error of 0.5, of the mean and of any test score, and not
        # within that of 0.97
        Case("The least error of all", [0.5, 0.95, 0.97, 0.5], [0.4025, 0.4525, 0.5025, 0.6025], n),
        # the error of 32 in 64 is exactly 1/16, in floating point too
        Case("One standard error lower", [20 / 64, 28 / 64, 32 / 64], [0.4025, 0.5025, 0.6025], 64),
        Case(
            "The first is good enough", [0.69, 0.6, 0.7, 0.695], [0.5025, 0.5225, 0.6025, 0.5525], n
        ),
        Case(
            "Three epochs share the best score, and the second of them has the highest test score",
            [0.5, 0.7, 0.5, 0.7, 0.7],
            [0.4025, 0.5125, 0.6025, 0.5525, 0.3025],
            n,
        ),
        Case(
            "Lower by more than one standard error, less than two", [0.67, 0.7], [0.5025, 0.6025], n
        ),
        # The error is 0.108: 11/16 is within it, 10/16 is not. 1/16 makes the scores vary: their
        # standard deviation over the root of 16 is 0.069, over that of 4 it is 0.137.
        Case(
            "Fewer triplets, so a larger difference is within one standard error",
            [1 / 16, 10 / 16, 11 / 16, 12 / 16],
            [0.4025, 0.5025, 0.6025, 0.6525],
            16,
        ),
        Case(
            "Lower by hardly more than one standard error", [26 / 42, 29 / 42], [0.5025, 0.6025], 42
        ),
        Case("The standard error is that of the best score", [0.985, 0.99], [0.5025, 0.6025], n),
        Case("A standard error of 0", [399 / 400, 1.0, 1.0], [0.5025, 0.6025, 0.7025], n),
        Case("One epoch", [rng.randint(20, 30) / 42], [0.4525], 42),
    ]


# An odd number of 400 triplets, `least` or up to 36 more: a share that needs four digits.
def _share_with_four_digits(rng, least):
    return (least + 2 * rng.randint(0, 18)) / 400


# Of the epochs whose development score is within one standard error of the best, the first one's
# place and its test score.
def _epoch(dev, test, n):
    p = max(dev)
    error = (p * (1 - p) / n) ** 0.5
    limit = max(dev) - error  # not of p: some mistakes take another one
    good = [place for place, share in enumerate(dev) if share >= limit]
    place = good[0]
    return place, test[place]


EPOCH = exercise("11-pick-epoch", _epoch_cases, _epoch, points=2)(
    test_picks=[
        {"good[0]": "test.index(max(test))"},
        {"    p = max(dev)": "    dev = test\n    p = max(dev)"},
    ],
    test_breaks_ties=[
        {"good[0]": "max(good, key=lambda place: test[place])"},
        {"good[0]": "max(range(len(dev)), key=lambda place: (dev[place], test[place]))"},
    ],
    # An error without its square root is this mistake, too: p(1 − p)/n is less than 1/n, so no
    # lower score is within it.
    highest=[{" - error": ""}, {"good[0]": "len(dev) - 1 - dev[::-1].index(max(dev))"}],
    not_the_earliest={"good[0]": "good[-1]"},
    two_errors={"- error": "- 2 * error"},
    other_p=[
        {"p = max(dev)": f"p = {other}"}
        for other in ("dev[-1]", "sum(dev) / len(dev)", "max(test)", "0.5")
    ]
    + [{"share >= limit": "share >= max(dev) - (share * (1 - share) / n) ** 0.5"}],
    other_n=[
        {"(p * (1 - p) / n) ** 0.5": other}
        for other in (
            "(p * (1 - p)) ** 0.5",
            "(p * (1 - p) / len(dev)) ** 0.5",
            "(p * (1 - p) / max(1, n - 1)) ** 0.5",
        )
    ],
    spread_of_epochs=[
        {"(p * (1 - p) / n) ** 0.5": f"np.std(dev){other}"}
        for other in ("", " / n ** 0.5", " / len(dev) ** 0.5")
    ],
    strictly_within=[
        {"share >= limit": "share > limit or share == p"},
        {">=": ">"},
        {">=": ">", "good[0]": "(good or [0])[0]"},
    ],
    best_test_returned=[{"test[place]": "max(test)"}, {"test[place]": "max(test[: place + 1])"}],
    development_returned={"test[place]": "dev[place]"},
    counted_from_one={"return place,": "return place + 1,"},
)


def _rests_cases(rng):
    anchor, near, far = _near_and_far(rng, rng.randint(6, 9))
    # for distances without rounding: 3, and 4 or 5
    zeros, side = torch.zeros(2, 2), float(rng.choice([4, 5]))
    return [
        Case(
            "Some are right by the margin", anchor, torch.cat([near[:3], far[3:]]), far.flip(0), 1.0
        ),
        Case("All cost nothing", anchor, near, near + 30, 1.0),
        Case("All are wrong", anchor, near + 30, near, 0.5),
        Case("Right by less", anchor, near, anchor + 0.5 * normal(rng, *anchor.shape), 5.0),
        Case("Another margin", anchor, near, far, rng.choice([2.0, 4.0, 6.0])),
        Case("Wrong, by less than the margin", anchor, near, anchor + 0.8 * (near - anchor), 3.0),
        Case(
            "Farther by exactly the margin",
            zeros,
            zeros + torch.tensor([3.0, 0.0]),
            torch.tensor([[0.0, side], [0.0, 3.5]]),
            side - 3,
        ),
    ]


def _share_that_costs_nothing(anchor, positive, negative, margin):
    near = (anchor - positive).norm(dim=1)
    far = (anchor - negative).norm(dim=1)
    needed = near + margin
    return (needed <= far).float().mean().item()


RESTS = completion("11-rests", _rests_cases, _share_that_costs_nothing)(
    strictly_beyond={"needed <= far": "needed < far"},
    margin_not_added=[{"near + margin": other} for other in ("near", "near - margin", "margin")]
    + [{"near + margin": "near", "<=": "<"}, {"needed <= far": "near <= margin"}],
    costly=[{"needed <= far": "needed > far"}, {"needed <= far": "needed >= far"}],
    swapped={"    needed =": "    near, far = far, near\n    needed ="},
    either_way={"needed <= far": "(far - near).abs() >= margin"},
    mean_cost=[{"needed <= far": "(needed - far).clamp(min=0)"}, {"needed <= far": "needed - far"}],
    squared={".norm(dim=1)": ".norm(dim=1) ** 2"},
    one_number=[{").float()": f").{other}().float()"} for other in ("sum", "all")],
)


def _lost_cases(rng):
    def answers(count):
        return np.array([rng.random() < 0.5 for _ in range(count)])

    count = rng.randint(20, 40)
    before = answers(count)
    return [
        Case("Some are lost, some gained", before, answers(count)),
        Case("Nothing changes", before, before.copy()),
        Case("All change", before, ~before),
        Case("Only gains", np.zeros(count, bool), answers(count)),
        Case("Only losses", np.ones(count, bool), answers(count)),
    ]


def _items_lost(before, after):
    right_before, wrong_after = before, ~after
    return int((right_before & wrong_after).sum())


LOST = completion("11-lost", _lost_cases, _items_lost)(
    gains_subtracted={"right_before & wrong_after": "before.astype(int) - after"},
    changed_counted={"right_before & wrong_after": "before != after"},
    right_twice={"~after": "after"},
    gained={"before, ~after": "~before, after"},
    wrong_before_too=[
        {"right_before & wrong_after": "wrong_after"},
        {"right_before & wrong_after": "~(before & after)"},
    ],
    wrong_twice={"= before": "= ~before"},
    or_for_and={"right_before & wrong_after": "right_before | wrong_after"},
    joined_by_and={"right_before & wrong_after": "before and not after"},
)
