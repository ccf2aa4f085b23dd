"""Exercises of lesson 11, fine-tuning embeddings."""

import itertools
import math
from collections import Counter
from functools import partial
from statistics import pstdev, stdev

import numpy as np
import torch
from torch.nn.functional import cosine_similarity, cross_entropy

from ..pooling import normalise
from .comparing import difference
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _triplet_cases(rng):
    n, hidden = rng.randint(5, 8), rng.randint(3, 6)
    anchor = normal(rng, n, hidden)
    near, far = anchor + 0.2 * normal(rng, n, hidden), anchor + 4 * normal(rng, n, hidden)
    mixed = torch.cat([near[:2], far[2:]])
    other = torch.cat([far[:2], near[2:]])
    yield Case("Some triplets are right by far, some are wrong", anchor, mixed, other, 1.0)
    yield Case("All are right by more than the margin: the loss is 0", anchor, near, near + 30, 1.0)
    yield Case("All are right, by less than the margin", anchor, near, near + 0.05 * normal(rng, n, hidden), 2.0)
    yield Case("Another margin", anchor, mixed, other, rng.choice([0.5, 3.0, 5.0]))
    yield Case("One triplet", anchor[:1], far[:1], near[:1], 1.5)
    # each positive lies between its anchor and the row's negative, which is the anchor of another row
    yield Case(
        "Negatives of other rows are nearer to the anchor than its own",
        anchor,
        0.9 * anchor + 0.1 * anchor.roll(1, 0),
        anchor.roll(1, 0),
        10.0,
    )


def _triplet(
    anchor, positive, negative, margin, distance=lambda a, b: (a - b).norm(dim=1), floor=True, mean=torch.mean
):
    loss = distance(anchor, positive) - distance(anchor, negative) + margin
    return mean(loss.clamp(min=0) if floor else loss)


TRIPLET = exercise("11-triplet-loss", _triplet_cases, _triplet, points=3)(
    not_clamped=lambda a, p, n, m: _triplet(a, p, n, m, floor=False),
    mean_clamped=lambda a, p, n, m: _triplet(a, p, n, m, floor=False).clamp(min=0),
    no_margin=lambda a, p, n, m: _triplet(a, p, n, 0),
    margin_subtracted=lambda a, p, n, m: _triplet(a, p, n, -m),
    swapped=(
        lambda a, p, n, m: _triplet(a, n, p, m),
        lambda a, p, n, m: _triplet(a, n, p, m, lambda x, y: ((x - y) ** 2).sum(dim=1)),
    ),
    clamped_above=lambda a, p, n, m: _triplet(a, p, n, m, floor=False, mean=lambda x: x.clamp(max=0).mean()),
    size_of_cost=lambda a, p, n, m: _triplet(a, p, n, m, floor=False, mean=lambda x: x.abs().mean()),
    sum_not_clamped=lambda a, p, n, m: _triplet(a, p, n, m, floor=False, mean=torch.sum),
    no_margin_not_clamped=lambda a, p, n, m: _triplet(a, p, n, 0, floor=False),
    margin_subtracted_not_clamped=lambda a, p, n, m: _triplet(a, p, n, -m, floor=False),
    swapped_not_clamped=lambda a, p, n, m: _triplet(a, n, p, m, floor=False),
    squared=(
        lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: ((x - y) ** 2).sum(dim=1)),
        lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: ((x - y) ** 2).mean(dim=1)),
        lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: ((x - y) ** 2).sum(dim=1), mean=torch.sum),
        lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: ((x - y) ** 2).sum(dim=1), floor=False),
    ),
    sum=lambda a, p, n, m: _triplet(a, p, n, m, mean=torch.sum),
    from_positive=(
        lambda a, p, n, m: ((a - p).norm(dim=1) - (p - n).norm(dim=1) + m).clamp(min=0).mean(),
        lambda a, p, n, m: ((a - p).norm(dim=1) - (p - n).norm(dim=1) + m).mean(),
    ),
    cosines=(
        lambda a, p, n, m: (cosine_similarity(a, n) - cosine_similarity(a, p) + m).clamp(min=0).mean(),
        lambda a, p, n, m: (cosine_similarity(a, p) - cosine_similarity(a, n) + m).clamp(min=0).mean(),
        lambda a, p, n, m: ((a * n).sum(dim=1) - (a * p).sum(dim=1) + m).clamp(min=0).mean(),
        lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: cosine_similarity(x, y).clamp(-1, 1).acos()),
    ),
    one_distance=lambda a, p, n, m: ((a - p).norm() - (a - n).norm() + m).clamp(min=0),
    per_column=(
        lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: (x - y).norm(dim=0)),
        lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: ((x - y) ** 2).sum(dim=0)),
    ),
    all_positives=lambda a, p, n, m: _triplet(a, p, n, m, torch.cdist),
    nearest_negative=lambda a, p, n, m: ((a - p).norm(dim=1) - torch.cdist(a, n).amin(dim=1) + m).clamp(min=0).mean(),
    normalised=(
        lambda a, p, n, m: _triplet(normalise(a), normalise(p), normalise(n), m),
        lambda a, p, n, m: _triplet(normalise(a), normalise(p), normalise(n), m, mean=torch.sum),
        lambda a, p, n, m: _triplet(*map(normalise, (a, p, n)), m, lambda x, y: ((x - y) ** 2).sum(dim=1)),
    ),
    margin_of_one=lambda a, p, n, m: _triplet(a, p, n, 1.0),
    margin_of_half=lambda a, p, n, m: _triplet(a, p, n, 0.5),
    single_costs=lambda a, p, n, m: _triplet(a, p, n, m, mean=lambda x: x),
    mean_of_costly=lambda a, p, n, m: _triplet(
        a, p, n, m, mean=lambda x: x[x > 0].mean() if (x > 0).any() else x.sum()
    ),
    absolute=lambda a, p, n, m: _triplet(a, p, n, m, lambda x, y: (x - y).abs().sum(dim=1)),
    margin_after=(
        lambda a, p, n, m: _triplet(a, p, n, 0) + m,
        lambda a, p, n, m: _triplet(a, p, n, 0, mean=lambda x: x.clamp(min=m).mean()),
        lambda a, p, n, m: _triplet(a, p, n, 0, floor=False).clamp(min=0) + m,
        lambda a, p, n, m: _triplet(a, p, n, 0, mean=lambda x: (x + m).sum()),
    ),
    nearer_negative=(
        lambda a, p, n, m: (
            ((a - p).norm(dim=1) - torch.minimum((a - n).norm(dim=1), (p - n).norm(dim=1)) + m).clamp(min=0).mean()
        ),
        lambda a, p, n, m: (
            ((a - p).norm(dim=1) - ((a - n).norm(dim=1) + (p - n).norm(dim=1)) / 2 + m).clamp(min=0).mean()
        ),
    ),
)


def _ranking_cases(rng):
    n, hidden = rng.randint(5, 8), rng.randint(4, 7)
    anchor = normal(rng, n, hidden) * torch.tensor([[rng.choice([0.3, 1.0, 4.0])] for _ in range(n)])
    positive = (anchor + 0.8 * normal(rng, n, hidden)) * torch.tensor([[rng.choice([0.5, 1.0, 3.0])] for _ in range(n)])
    close = 4 * normalise(normal(rng, 1, hidden)) + 0.2 * normal(rng, n, hidden)
    opposite = torch.cat([anchor[:1], -2 * anchor[:1], anchor[2:]])
    yield Case("Each anchor has its positive in the same row", anchor, positive, 20.0)
    yield Case("Another scale", anchor, positive, rng.choice([1.0, 5.0]))
    yield Case("Positives that do not belong to their anchors", anchor, positive.roll(1, 0), 10.0)
    yield Case("One pair: nothing to choose from, so the loss is 0", anchor[:1], positive[:1], 20.0)
    # in both, each anchor is nearest to another's positive, so the right answers are not lost in rounding
    yield Case("A scale of 500, and cosines close together", close, 3 * close.roll(1, 0), 500.0)
    # the logit of an anchor's own positive is -500 and the highest is 500; float64 ends at e to the power of -745
    yield Case("A scale of 500, and cosines far apart", opposite, 3 * opposite.roll(1, 0), 500.0)


def _cosines(anchor, positive):
    return cosine_similarity(anchor[:, None], positive[None], dim=2)


def _hardest(anchor, positive, scale):
    logits = scale * _cosines(anchor, positive)
    own = logits.diagonal()
    return (torch.logaddexp(own, (logits - torch.diag(torch.full_like(own, torch.inf))).amax(dim=1)) - own).mean()


def _own_left_out(anchor, positive, scale, alone=None):
    """Only the other positives are in the sum below the line. alone: the loss of a single pair."""
    logits = scale * _cosines(anchor, positive)
    others = logits - torch.diag(torch.full((len(logits),), torch.inf))
    return alone if alone is not None and len(logits) == 1 else (others.logsumexp(dim=1) - logits.diagonal()).mean()


def _exponentials(logits):
    powers = logits.exp()
    return -(powers.diagonal() / powers.sum(dim=1)).log().mean()


def _judge(right, allowed):
    """As for any number, but it may differ by `allowed(*args)`: float32 rounds large logits, as the text has them."""

    def judge(args, outcome):
        problem = difference(outcome, right(*args))
        near = problem and np.ndim(outcome) == 0 and abs(float(outcome) - right(*args)) <= allowed(*args)
        return None if near else problem

    return judge


def _ranking(anchor, positive, scale, scores=_cosines, **how):
    return cross_entropy(scale * scores(anchor, positive), torch.arange(len(anchor)), **how)


RANKING = exercise(
    "11-ranking-loss",
    _ranking_cases,
    _ranking,
    judge=_judge(lambda a, p, scale: _ranking(a.double(), p.double(), scale).item(), lambda a, p, scale: 1e-6 * scale),
    alike=lambda one, other: math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-4),  # of no numbers, this raises
    points=3,
)(
    dot_products=lambda a, p, s: _ranking(a, p, s, lambda x, y: x @ y.T),
    anchors_normalised=lambda a, p, s: _ranking(a, p, s, lambda x, y: x @ y.T / x.norm(dim=1, keepdim=True)),
    positives_normalised=lambda a, p, s: _ranking(a, p, s, lambda x, y: x @ y.T / y.norm(dim=1)),
    no_scale=lambda a, p, s: _ranking(a, p, 1.0),
    divided_by_scale=lambda a, p, s: _ranking(a, p, 1 / s),
    underflow=(
        lambda a, p, s: -(s * _cosines(a, p)).softmax(dim=1).diagonal().log().mean(),
        lambda a, p, s: -(s * _cosines(a.double(), p.double())).softmax(dim=1).diagonal().log().mean(),
    ),
    overflow=lambda a, p, s: _exponentials(s * _cosines(a, p)),
    base_two=(lambda a, p, s: _ranking(a, p, s) / math.log(2), lambda a, p, s: _ranking(a, p, s) / math.log(10)),
    over_anchors=lambda a, p, s: _ranking(p, a, s),
    sum=lambda a, p, s: _ranking(a, p, s, reduction="sum"),
    first_column=lambda a, p, s: cross_entropy(s * _cosines(a, p), torch.zeros(len(a), dtype=torch.int64)),
    mean_probability=lambda a, p, s: (s * _cosines(a, p)).softmax(dim=1).diagonal().mean(),
    no_sign=lambda a, p, s: -_ranking(a, p, s),
    softmax_twice=lambda a, p, s: cross_entropy((s * _cosines(a, p)).softmax(dim=1), torch.arange(len(a))),
    log_of_mean=(
        lambda a, p, s: -(s * _cosines(a, p)).softmax(dim=1).diagonal().mean().log(),
        lambda a, p, s: math.log(len(a)) - (s * _cosines(a, p)).log_softmax(dim=1).diagonal().logsumexp(dim=0),
    ),
    whole_table=lambda a, p, s: -(s * _cosines(a, p)).log_softmax(dim=1).mean(),
    columns_normalised=(
        lambda a, p, s: _ranking(a, p, s, lambda x, y: normalise(x.T).T @ normalise(y.T)),
        lambda a, p, s: _ranking(a, p, s, lambda x, y: (x / x.norm()) @ (y / y.norm()).T),
    ),
    one_other=_hardest,
    fixed_scale=lambda a, p, s: _ranking(a, p, 20.0),
    single_losses=lambda a, p, s: _ranking(a, p, s, reduction="none"),
    small_number_added=[
        lambda a, p, s, small=small, change=change: (
            -change((s * _cosines(a, p)).softmax(dim=1).diagonal(), small).log().mean()
        )
        for small in (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-15, 1e-16)
        for change in (torch.add, torch.clamp)
    ],
    own_left_out=(_own_left_out, partial(_own_left_out, alone=0.0)),
    both_directions=(
        lambda a, p, s: (_ranking(a, p, s) + _ranking(p, a, s)) / 2,
        lambda a, p, s: _ranking(a, p, s) + _ranking(p, a, s),
    ),
    own_cosines_only=(
        lambda a, p, s: -(s * cosine_similarity(a, p)).log_softmax(dim=0).mean(),
        lambda a, p, s: -(s * cosine_similarity(a, p)).mean(),
        lambda a, p, s: -cosine_similarity(a, p).mean(),
        lambda a, p, s: (1 - cosine_similarity(a, p)).mean(),
        lambda a, p, s: -torch.nn.functional.logsigmoid(s * cosine_similarity(a, p)).mean(),
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
    yield Case("Two texts, one more often than the other", two)
    yield Case("Six texts come twice, the others once", twice)
    yield Case("One text comes five times", [words[0], *words[1:4], *[words[0]] * 4])
    yield Case("All positives differ", words[:5])
    yield Case("Texts with another capital, space or order of words are different texts", alike)
    yield Case("All positives are the same text", [words[6]] * n)
    yield Case("One pair", [words[7]])


def _lowest(positives, cost=math.log, mean=lambda costs: sum(costs) / len(costs)):
    return mean([cost(positives.count(text)) for text in positives])


def _runs(positives):
    places = itertools.accumulate((text != before for before, text in itertools.pairwise(positives)), initial=0)
    return _lowest(list(places))


def _over_texts(positives):
    texts = dict.fromkeys(positives)
    return sum(math.log(positives.count(text)) for text in texts) / len(texts)


def _entropy(positives, log=math.log):
    shares = [count / len(positives) for count in Counter(positives).values()]
    return -sum(share * log(share) for share in shares)


def _two_labels(labels, positives):
    return sum(count * math.log(count) for count in map(positives.count, labels(positives)) if count) / len(positives)


def _most_common_two(positives):
    return [text for text, _ in Counter(positives).most_common(2)]


def _costly_rows(positives):
    costs = [math.log(count) for count in map(positives.count, positives) if count > 1]
    return sum(costs) / max(1, len(costs))


STUCK = exercise("11-stuck-loss", _stuck_cases, _lowest, judge=_judge(_lowest, lambda positives: 1e-4), points=3)(
    zero=lambda positives: 0.0,
    guess_among_all=lambda positives: math.log(len(positives)),
    different_texts=lambda positives: math.log(len(set(positives))),
    mean_of_texts=_over_texts,
    mean_count=lambda positives: math.log(len(positives) / len(set(positives))),
    log_of_mean_count=lambda positives: math.log(_lowest(positives, float)),
    copies_counted=lambda positives: _lowest(positives, float),
    mean_probability=lambda positives: _lowest(positives, lambda count: 1 / count),
    no_sign=lambda positives: -_lowest(positives),
    base_two=(lambda positives: _lowest(positives, math.log2), lambda positives: _lowest(positives, math.log10)),
    sum=lambda positives: _lowest(positives, mean=sum),
    worst_row=lambda positives: _lowest(positives, mean=max),
    two_texts=lambda positives: _lowest(["first" if text == positives[0] else "rest" for text in positives]),
    texts_normalised=[
        lambda positives, form=form: _lowest(list(map(form, positives)))
        for form in (
            lambda text: " ".join(text.lower().split()),
            lambda text: text.lower().strip(),
            str.lower,
            str.strip,
            lambda text: " ".join(text.split()),
            lambda text: "".join(text.lower().split()),
            lambda text: " ".join(sorted(text.lower().split())),
        )
    ],
    runs_only=_runs,
    other_copies=(
        lambda positives: _lowest(positives, lambda count: math.log(max(count - 1, 1))),
        lambda positives: _lowest(positives, lambda count: count - 1),
    ),
    entropy=(
        _entropy,
        partial(_entropy, log=math.log2),
        lambda positives: math.exp(_entropy(positives)),
        lambda positives: math.log(max(1, len(set(positives)))) - _entropy(positives),
    ),
    two_texts_only=(
        partial(_two_labels, _most_common_two),
        partial(_two_labels, lambda positives: list(dict.fromkeys(positives))[:2]),
        partial(_two_labels, lambda positives: ["praise", "blame"]),
    ),
    costly_rows_only=_costly_rows,
)


def _epoch_cases(rng):
    n = 400  # the standard error of 0.7 is 0.023; all accuracies below are shares of n, the test's with four digits
    late = rng.randint(3, 6)
    rising = [(160 + 4 * rng.randint(0, 5)) / n for _ in range(late)] + [0.6, 0.685, 0.7, 0.62]
    test = [_odd(rng, 121) for _ in rising]
    test[late] = 0.8025  # the luckiest test score, at an epoch that the development part rejects
    test[late + 1], test[late + 2] = 0.5525, 0.6025
    place = rng.randint(20, 30)
    yield Case("An earlier epoch is lower by less than one standard error", rising, test, n)
    yield Case(
        "Earlier epochs are lower by more than one standard error",
        [0.5, 0.6, 0.7, 0.66],
        [0.6025, 0.4025, _odd(rng, 181), 0.6525],
        n,
    )
    # 0.95 is within the standard error of 0.5, of the mean and of any test score, and not within that of 0.97
    yield Case(
        "The best score has the smallest standard error", [0.5, 0.95, 0.97, 0.5], [0.4025, 0.4525, 0.5025, 0.6025], n
    )
    # the error of 32 in 64 is exactly 1/16, in floating point too
    yield Case(
        "An epoch is lower by exactly one standard error", [20 / 64, 28 / 64, 32 / 64], [0.4025, 0.5025, 0.6025], 64
    )
    yield Case("The first epoch is good enough", [0.69, 0.6, 0.7, 0.695], [0.5025, 0.5225, 0.6025, 0.5525], n)
    yield Case(
        "Three epochs share the best score, and the second of them has the highest test score",
        [0.5, 0.7, 0.5, 0.7, 0.7],
        [0.4025, 0.5125, 0.6025, 0.5525, 0.3025],
        n,
    )
    yield Case(
        "Of three good enough epochs, the middle one has the highest test score",
        [0.5, 0.69, 0.695, 0.7],
        [0.4025, 0.5025, 0.6025, 0.5525],
        n,
    )
    yield Case("An epoch is lower by more than one standard error and less than two", [0.67, 0.7], [0.5025, 0.6025], n)
    # the standard deviation of the four scores, divided by the root of 16, is 0.069
    yield Case(
        "Fewer triplets, so a larger difference is within one standard error",
        [1 / 16, 10 / 16, 11 / 16, 12 / 16],
        [0.4025, 0.5025, 0.6025, 0.6525],
        16,
    )
    yield Case(
        "Of four good enough epochs, one stands before a fall, and a later one is lower",
        [0.5, 0.69, 0.55, 0.69, 0.68, 0.7, 0.6],
        [0.4025, 0.5025, 0.3025, 0.5225, 0.5425, 0.6025, 0.4525],
        n,
    )
    yield Case("An epoch is lower by hardly more than one standard error", [26 / 42, 29 / 42], [0.5025, 0.6025], 42)
    yield Case("The standard error is that of the best score", [0.985, 0.99], [0.5025, 0.6025], n)
    yield Case(
        "All are right after the second epoch: the standard error is 0",
        [399 / 400, 1.0, 1.0],
        [0.5025, 0.6025, 0.7025],
        n,
    )
    yield Case(
        "The score rises again after a fall", [0.5, 0.6, 0.55, 0.7, 0.6], [0.4025, 0.5025, 0.6025, 0.5625, 0.3025], n
    )
    yield Case("One epoch", [place / 42], [0.4525], 42)


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


def _strictly(find):
    """A mistake: only what is above the limit counts; `find(dev, good)` is the epoch, or an error if there is none."""

    def pick(dev, test, n):
        limit = max(dev) - _error(max(dev), n)
        return _at(find(dev, [place for place, share in enumerate(dev) if share > limit]), test)

    return pick


EPOCH = exercise("11-pick-epoch", _epoch_cases, _epoch, points=2)(
    test_picks=lambda dev, test, n: _epoch(test, test, n, 0),
    test_picks_with_error=lambda dev, test, n: _epoch(test, test, n),
    best_test_of_good=lambda dev, test, n: _at(max(_good_enough(dev, n), key=test.__getitem__), test),
    test_breaks_ties=lambda dev, test, n: _at(max(range(len(dev)), key=lambda i: (dev[i], test[i])), test),
    # p(1 − p)/n is less than 1/n, so no other epoch is within it
    highest=(
        lambda dev, test, n: _epoch(dev, test, n, 0),
        lambda dev, test, n: _at(len(dev) - 1 - dev[::-1].index(max(dev)), test),
    ),
    latest_good=lambda dev, test, n: _at(_good_enough(dev, n)[-1], test),
    lowest_good=lambda dev, test, n: _at(min(_good_enough(dev, n), key=dev.__getitem__), test),
    all_between=lambda dev, test, n: _at(_unbroken(dev, n), test),
    last_error=lambda dev, test, n: _epoch(dev, test, n, error=lambda _, n: _error(dev[-1], n)),
    best_test_returned=(
        lambda dev, test, n: (_epoch(dev, test, n)[0], max(test)),
        lambda dev, test, n: (_epoch(dev, test, n)[0], max(test[: _epoch(dev, test, n)[0] + 1])),
    ),
    development_returned=lambda dev, test, n: (_epoch(dev, test, n)[0], dev[_epoch(dev, test, n)[0]]),
    two_errors=lambda dev, test, n: _epoch(dev, test, n, 2),
    spread_of_epochs=(
        lambda dev, test, n: _epoch(dev, test, n, error=lambda _, n: pstdev(dev) / n**0.5),
        lambda dev, test, n: _epoch(dev, test, n, error=lambda _, n: pstdev(dev)),
        lambda dev, test, n: _epoch(dev, test, n, error=lambda _, n: pstdev(dev) / len(dev) ** 0.5),
        lambda dev, test, n: _epoch(dev, test, n, error=lambda _, n: stdev([*dev, *dev[: len(dev) < 2]])),
        lambda dev, test, n: _epoch(
            dev, test, n, error=lambda _, n: stdev([*dev, *dev[: len(dev) < 2]]) / len(dev) ** 0.5
        ),
    ),
    strictly_within=(
        lambda dev, test, n: _at(
            next(i for i, p in enumerate(dev) if p > max(dev) - _error(max(dev), n) or p == max(dev)), test
        ),
        *(
            _strictly(find)
            for find in (
                lambda dev, good: good[0],
                lambda dev, good: [place in good for place in range(len(dev))].index(True),
                lambda dev, good: next(iter(good)),
                lambda dev, good: min(good),
                lambda dev, good: good[0] if good else 0,
                lambda dev, good: good[0] if good else len(dev) - 1,
                lambda dev, good: good[0] if good else -1,
            )
        ),
    ),
    rounded=lambda dev, test, n: (_epoch(dev, test, n)[0], round(_epoch(dev, test, n)[1], 2)),
    not_divided_by_n=(
        lambda dev, test, n: _epoch(dev, test, n, error=lambda p, n: _error(p, 1)),
        lambda dev, test, n: _epoch(dev, test, n, error=lambda p, n: p * (1 - p)),
    ),
    divided_by_epochs=lambda dev, test, n: _epoch(dev, test, len(dev)),
    divided_by_n_minus_one=lambda dev, test, n: _epoch(dev, test, max(n - 1, 1)),
    own_errors=lambda dev, test, n: _at(
        next(i for i, share in enumerate(dev) if share >= max(dev) - _error(share, n)), test
    ),
    last_epoch=lambda dev, test, n: (len(dev) - 1, test[-1]),
    counted_from_one=lambda dev, test, n: (_epoch(dev, test, n)[0] + 1, _epoch(dev, test, n)[1]),
    epoch_only=lambda dev, test, n: _epoch(dev, test, n)[0],
    score_only=lambda dev, test, n: _epoch(dev, test, n)[1],
    reversed=lambda dev, test, n: _epoch(dev, test, n)[::-1],
    other_p=[
        lambda dev, test, n, p=p: _epoch(dev, test, n, error=lambda _, n: _error(p(dev, test), n))
        for p in (
            lambda dev, test: max(test),
            lambda dev, test: sum(dev) / len(dev),
            lambda dev, test: 0.5,
            lambda dev, test: test[dev.index(max(dev))],
            lambda dev, test: dev[0],
            lambda dev, test: min(dev),
            lambda dev, test: sum(test) / len(test),
        )
    ],
)


def _rests_cases(rng):
    n, hidden = rng.randint(6, 9), rng.randint(3, 6)
    anchor = normal(rng, n, hidden)
    near, far = anchor + 0.2 * normal(rng, n, hidden), anchor + 4 * normal(rng, n, hidden)
    yield Case("Some triplets are right by the margin", anchor, torch.cat([near[:3], far[3:]]), far.flip(0), 1.0)
    yield Case("All cost nothing", anchor, near, near + 30, 1.0)
    yield Case("All are wrong", anchor, near + 30, near, 0.5)
    yield Case("Right, and by less than the margin", anchor, near, anchor + 0.5 * normal(rng, n, hidden), 5.0)
    yield Case("Another margin", anchor, near, far, rng.choice([2.0, 4.0, 6.0]))
    direction = near - anchor
    yield Case("Wrong, by less than the margin", anchor, anchor + direction, anchor + 0.8 * direction, 3.0)
    # distances without rounding: 3, and 4 or 5
    zeros, side = torch.zeros(2, 2), float(rng.choice([4, 5]))
    exact = torch.tensor([[0.0, side], [0.0, 3.5]])
    yield Case(
        "Farther by exactly the margin: it costs nothing", zeros, zeros + torch.tensor([3.0, 0.0]), exact, side - 3
    )


def _share_that_costs_nothing(anchor, positive, negative, margin):
    near, far = (anchor - positive).norm(dim=1), (anchor - negative).norm(dim=1)
    return (near + margin <= far).float().mean().item()


def _share(counts):
    """What an answer returns that counts the triplets for which `counts(near, far, margin)` is true."""

    def share(anchor, positive, negative, margin):
        near, far = (anchor - positive).norm(dim=1), (anchor - negative).norm(dim=1)
        return counts(near, far, margin).float().mean().item()

    return share


RESTS = Completion(
    "11-rests",
    "Triplets that cost nothing",
    ("anchor", "positive", "negative", "margin"),
    _rests_cases,
    _share_that_costs_nothing,
    mistakes=(
        Mistake(
            "strictly_beyond",
            "You leave out a triplet whose negative is farther than the positive by exactly the margin.",
            "It costs max(0, 0) = 0: *at least* the margin is enough.",
            (_share(lambda near, far, margin: near + margin < far),),
        ),
        Mistake(
            "no_margin",
            "You count every triplet whose negative is farther than its positive.",
            "It still costs something if it is farther by less than `margin`.",
            (_share(lambda near, far, margin: far > near), _share(lambda near, far, margin: far >= near)),
        ),
        Mistake(
            "margin_subtracted",
            "The margin has the wrong sign.",
            "The negative must be farther than the positive *plus* the margin.",
            (
                _share(lambda near, far, margin: far >= near - margin),
                _share(lambda near, far, margin: far > near - margin),
            ),
        ),
        Mistake(
            "distance_alone",
            "You compare the distance of the negative with the margin alone.",
            "What counts is by how much it is larger than that of the positive: `far - near`.",
            (_share(lambda near, far, margin: far >= margin), _share(lambda near, far, margin: far > margin)),
        ),
        Mistake(
            "costly",
            "You count the triplets that cost something.",
            "The function returns the share of those that cost *nothing*.",
            (_share(lambda near, far, margin: near - far + margin > 0),),
        ),
        Mistake(
            "costly_and_exact",
            "You count the triplets that cost something, and those that are right by exactly the margin.",
            "The function returns the share of those that cost *nothing*, which includes the latter.",
            (_share(lambda near, far, margin: near - far + margin >= 0),),
        ),
        Mistake(
            "swapped",
            "`near` and `far` are swapped: you count triplets whose *positive* is farther away.",
            "A triplet costs nothing if its negative is farther, by at least the margin.",
            (
                _share(lambda near, far, margin: near - far >= margin),
                _share(lambda near, far, margin: near - far > margin),
                _share(lambda near, far, margin: near > far),
            ),
        ),
        Mistake(
            "either_way",
            "You take the absolute difference of the two distances.",
            "The sign matters: the *negative* must be the one that is farther.",
            (_share(lambda near, far, margin: (far - near).abs() >= margin),),
        ),
        Mistake(
            "mean_cost",
            "This is the mean cost of the triplets.",
            "`rests` should be true or false for each triplet: does it cost nothing?",
            (_share(lambda near, far, margin: (near - far + margin).clamp(min=0)),),
        ),
    ),
)


def _lost_cases(rng):
    def answers(count):
        return np.array([rng.random() < 0.5 for _ in range(count)])

    count = rng.randint(20, 40)
    before = answers(count)
    yield Case("Some are lost, some gained", before, answers(count))
    yield Case("Nothing changes", before, before.copy())
    yield Case("All change", before, ~before)
    yield Case("Only gains", np.zeros(count, bool), answers(count))
    yield Case("Only losses", np.ones(count, bool), answers(count))


def _items_lost(before, after):
    return int((before & ~after).sum())


LOST = Completion(
    "11-lost",
    "Right before, wrong now",
    ("before", "after"),
    _lost_cases,
    _items_lost,
    mistakes=(
        Mistake(
            "gains_subtracted",
            "You take the difference of two counts, so that each item gained hides one lost.",
            "Count the items that were right before *and* are wrong now.",
            (
                lambda before, after: int(before.sum()) - int(after.sum()),
                lambda before, after: int(after.sum()) - int(before.sum()),
                lambda before, after: max(0, int(before.sum()) - int(after.sum())),
                lambda before, after: abs(int(after.sum()) - int(before.sum())),
            ),
        ),
        Mistake(
            "changed_counted",
            "You count all that changed, the items gained as well.",
            "Count those that were right before and are wrong now.",
            (lambda before, after: int((before != after).sum()),),
        ),
        Mistake(
            "right_twice",
            "You count the items that were right both times.",
            "Those lost are wrong *now*: turn the second array around with `~`.",
            (lambda before, after: int((before & after).sum()),),
        ),
        Mistake(
            "gained",
            "You count the items gained: wrong before, right now.",
            "It is the other way round: right before and wrong now.",
            (lambda before, after: int((~before & after).sum()),),
        ),
        Mistake(
            "wrong_now",
            "You count every item that is wrong now.",
            "One that was wrong before has not been lost.",
            (lambda before, after: int((~after).sum()),),
        ),
        Mistake(
            "wrong_twice",
            "You count the items that were wrong both times.",
            "Those lost were right *before*: leave the first array as it is.",
            (lambda before, after: int((~before & ~after).sum()),),
        ),
        Mistake(
            "or_for_and",
            "You combine the two conditions with *or*.",
            "Both must be true of the same item: `&`.",
            (
                lambda before, after: int((before | ~after).sum()),
                lambda before, after: int((before | after).sum()),
                lambda before, after: int((~before | after).sum()),
            ),
        ),
        Mistake(
            "not_of_both",
            "You count every item that was not right both times.",
            "`~` belongs to `after` alone: `before & ~after`, without parentheses around both.",
            (lambda before, after: int((~(before & after)).sum()),),
        ),
    ),
)
