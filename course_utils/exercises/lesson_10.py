"""Exercises of lesson 10, fine-tuning a classifier."""

import math
import re
import string
from functools import partial
from itertools import combinations

import numpy as np
import torch

from .._support.recipes import linear_maker
from .comparing import TOLERANCE, difference
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _leak_cases(rng):
    def sentence(number):
        return f"{rng.choice(['a fine', 'A dull', 'one  more'])} film , number {number} ."

    train = [sentence(number) for number in range(6)]
    clean = [sentence(number) for number in range(20, 25)]
    loud, wide = sentence(10), sentence(11)
    year = rng.randint(1950, 2020)
    accent = f"amélie , a film of {year} ."  # its capital is not among A to Z
    both = [*train, loud.upper(), _wide(wide), accent.upper()]  # in each part, some texts are not in the common form
    dirty = [*clean, train[2].upper(), _wide(train[4]), train[0], loud, wide, accent]
    rng.shuffle(dirty)
    long = " ".join(["so"] * 60)
    three = [f"{word} film of {year}" for word in ("bold", "cold", "awful")]
    yield Case("The same text, in capitals (É, too) or with other spaces", both, dirty)
    yield Case("No text is in both parts", train, clean)
    yield Case("The order of `test`", three, [three[1], three[2], three[0]])
    yield Case("A text that appears twice in the test part", train, [train[1], clean[0], train[1]])
    yield Case("A word more, or a word less", [train[0] + " and more", "good"], [train[0], "film", "good good"])
    yield Case("Nothing to train on", [], clean)
    yield Case("Nothing to test", train, [])
    yield Case(
        "Two or three spaces, and spaces at the ends",
        ["a fine film", " one more ", "so  dull", "a   year"],
        ["A  fine film", " a fine film ", "a fine   film", "one more", "so dull", "a year"],
    )
    yield Case("Tabs", [*train[:2], "\ta\tfine year\t"], [train[1].replace(" ", "\t") + "\t", "a fine year"])
    yield Case(
        "Line ends (`\\n` and `\\r\\n`)",
        [*train[:3], "a fine\nyear", "\nso dull\n", "one\r\nmore\r\n"],
        [train[2].replace(" ", "\n"), train[0] + "\n", train[1] + "\r\n", "a fine year", "so dull", "one more"],
    )
    yield Case("An empty text, in both parts", [train[0], ""], ["", clean[0]])
    yield Case(
        "Punctuation counts",
        ["fine .", "Good!", "well-made", "'cold'", "not good , bad", "its own"],
        ["fine", "good", "good.", "well made", "cold", "not good bad", "it's own"],
    )
    yield Case(
        "Each word counts, with its letters and its place",
        ["not good bad", "now here", f"a cliché of {year}", "naïve", f"films of {year}", "the cat", long + " fun"],
        [
            "bad not good",
            "nowhere",
            f"a cliche of {year}",
            "naîve",
            f"film of {year}",
            f"films of {year + 1}",
            "cat",
            long + " dull",
        ],
    )
    yield Case("A text that appears twice in the training part", [train[0], train[1], train[0]], [clean[0], train[0]])


def _wide(text):
    return "  " + text.replace(" ", "  ") + " "


def _one_form(text):
    return " ".join(text.lower().split())


def _leaks(train, test, key=_one_form, of_train=None):
    """The reference; `key` and, for the texts of `train` alone, `of_train` imitate mistakes in the comparison."""
    seen = {(of_train or key)(text) for text in train}
    return [text for text in test if key(text) in seen]


def _alike_texts(one, other):
    """Whether two lists hold the same texts in any order: that of a set differs from run to run."""
    return type(one) is type(other) is list and sorted(one) == sorted(other)


def _by_set(of_each, train, test):
    """A mistake: one text for each different one, as sets and dictionaries hold them."""
    return list({_one_form(text): of_each(text) for text in _leaks(train, test)}.values())


def _as_in_train(train, test):
    written = {_one_form(text): text for text in train}
    return [written[_one_form(text)] for text in _leaks(train, test)]


WHITE = (" ", " \t", " \n", " \t\n", "\t\n", "\t\n\r")


LEAKS = exercise("10-leaks", _leak_cases, _leaks, alike=_alike_texts, points=2)(
    as_written=(
        lambda train, test: _leaks(train, test, lambda text: text),
        lambda train, test: list(set(train) & set(test)),
    ),
    space_counts=lambda train, test: _leaks(train, test, str.lower),
    capitals_count=lambda train, test: _leaks(train, test, lambda text: " ".join(text.split())),
    ends_stripped_only=(
        lambda train, test: _leaks(train, test, lambda text: text.lower().strip()),
        lambda train, test: _leaks(train, test, str.strip),
        lambda train, test: _leaks(train, test, lambda text: text.lower().strip(" ")),
    ),
    only_test_normalised=[
        lambda train, test, form=form: _leaks(train, test, of_train=form)
        for form in (
            lambda text: text,
            str.lower,
            lambda text: text.lower().strip(),
            lambda text: " ".join(text.split()),
            lambda text: re.sub(" +", " ", text.lower()).strip(),
        )
    ],
    only_train_normalised=lambda train, test: _leaks(train, test, lambda text: text, _one_form),
    two_spaces_only=(
        lambda train, test: _leaks(train, test, lambda text: text.lower().replace("  ", " ").strip()),
        lambda train, test: _leaks(train, test, lambda text: text.lower().replace("  ", " ")),
        lambda train, test: _leaks(train, test, lambda text: text.lower().strip().replace("  ", " ")),
    ),
    sets_of_words=lambda train, test: _leaks(train, test, lambda text: frozenset(text.lower().split())),
    all_space_removed=lambda train, test: _leaks(train, test, lambda text: "".join(text.lower().split())),
    punctuation_removed=[
        lambda train, test, form=form: _leaks(train, test, form)
        for form in (
            lambda text: " ".join(re.findall(r"\w+", text.lower())),
            lambda text: _one_form(re.sub(r"[^\w\s]", "", text)),
            lambda text: _one_form(re.sub(r"[^\w\s]", " ", text)),
            lambda text: " ".join(re.findall("[a-z]+", text.lower())),
            lambda text: " ".join(re.findall("[a-z0-9]+", text.lower())),
            lambda text: " ".join(re.findall("[a-z']+", text.lower())),
            lambda text: " ".join(re.findall(r"[\w']+", text.lower())),
            lambda text: _one_form(re.sub("[^a-z0-9 ]", "", text.lower())),
            lambda text: " ".join(word.strip(string.punctuation) for word in text.lower().split()),
            lambda text: " ".join(re.findall(r"[^\W\d_]+", text.lower())),
        )
    ],
    changed_texts=lambda train, test: [" ".join(text.lower().split()) for text in _leaks(train, test)],
    train_returned=(
        lambda train, test: _leaks(test, train),
        _as_in_train,
        lambda train, test: _as_in_train(train[::-1], test),
        lambda train, test: list(dict.fromkeys(_leaks(test, train))),
        lambda train, test: list(dict.fromkeys(_as_in_train(train, test))),
    ),
    listed_once=(
        lambda train, test: list(dict.fromkeys(_leaks(train, test))),
        lambda train, test: _by_set(lambda text: text, train, test),
        lambda train, test: _by_set(lambda text: text, train, test[::-1]),
        lambda train, test: _by_set(_one_form, train, test),
    ),
    listed_for_each_in_train=lambda train, test: [text for text in test for other in train if _leaks([other], [text])],
    part_of_longer=lambda train, test: [
        text
        for text in test
        if any(" ".join(text.lower().split()) in " ".join(other.lower().split()) for other in train)
    ],
    not_in_train=lambda train, test: [text for text in test if text not in _leaks(train, test)],
    number=(
        lambda train, test: len(_leaks(train, test)),
        lambda train, test: len(_leaks(train, test)) / max(1, len(test)),
    ),
    spaces_only=[
        lambda train, test, form=form, white=white: _leaks(
            train, test, lambda text: form(re.sub(f"[{white}]+", " ", text.lower()))
        )
        for white in WHITE
        for form in (str.strip, lambda text: text.strip(" "))
    ]
    + [
        lambda train, test: _leaks(train, test, lambda text: " ".join(filter(None, text.lower().split(" ")))),
        lambda train, test: _leaks(train, test, lambda text: re.sub(" +", " ", text.lower())),
        lambda train, test: _leaks(
            train, test, lambda text: text.lower().replace("\t", " ").replace("\n", " ").replace("  ", " ").strip()
        ),
        lambda train, test: _leaks(
            train, test, lambda text: " ".join(line.strip() for line in text.lower().splitlines())
        ),
    ],
    capitals_left=[
        lambda train, test, form=form: _leaks(train, test, lambda text: form(" ".join(text.split())))
        for form in (
            lambda text: text[:1].lower() + text[1:],
            lambda text: text[:1].upper() + text[1:],
            lambda text: " ".join(word[:1].lower() + word[1:] for word in text.split()),
            lambda text: re.sub("[A-Z]", lambda match: match[0].lower(), text),
        )
    ],
)


def _schedule_cases(rng):
    steps = rng.randint(40, 90)
    warmup, peak = rng.randint(5, 9), rng.choice([2.0, 5.0, 10.0])
    middle = rng.randint(warmup + 5, steps - 5)
    early = rng.choice([step for step in range(1, warmup) if 2 * step != warmup])  # halfway, curves meet the line
    small = (rng.randint(50, 300) + 0.33) * 1e-7 * steps / (steps - middle)  # as encoders need it; rounding shows
    yield Case("The first step: nothing yet", 0, steps, warmup, peak)
    yield Case("Within the warm-up", early, steps, warmup, peak)
    yield Case("The end of the warm-up: the peak", warmup, steps, warmup, peak)
    yield Case("On the way down", middle, steps, warmup, peak)
    yield Case("The last step", steps - 1, steps, warmup, peak)
    yield Case("At the end", steps, steps, warmup, peak)
    yield Case("Long after the last step: still 0", steps + rng.randint(3, 9), steps, warmup, peak)
    yield Case("No warm-up: the peak at once", 0, steps, 0, peak)
    yield Case("No warm-up: on the way down", middle, steps, 0, small)
    yield Case("A warm-up of one step", 0, steps, 1, peak)
    yield Case("A warm-up of one step", 1, steps, 1, peak)


def _rate(step, steps, warmup, peak):
    return peak * (step / warmup if step < warmup else max(0, steps - step) / (steps - warmup))


def _problem_of_rate(args, outcome):
    """As for any number, but the allowed difference is a part of the peak, which may be small."""
    right, peak = _rate(*args), args[3]
    problem = difference(outcome, right)
    if problem or abs(float(outcome) - right) <= TOLERANCE * peak:
        return problem
    return f"your function returned {float(outcome):.6g} where {right:.6g} is expected"


def _way(share):
    """A mistake in the decay: `share` gives the fraction of the peak left, from step, steps and warmup."""
    return lambda step, steps, warmup, peak: peak * (step / warmup if step < warmup else share(step, steps, warmup))


def _curve(rise=float, fall=float, ends=True):
    """A mistake: `rise` and `fall` give the share of the peak on the way up and down in place of a straight line."""

    def rate(step, steps, warmup, peak):
        if step < warmup:
            return peak * rise(step / warmup)
        left = (steps - step) / (steps - warmup)
        return peak * fall(max(0.0, left) if ends else left)

    return rate


def _half_wave(share):
    return (1 - math.cos(math.pi * share)) / 2


def _quarter_wave(share):
    return math.sin(math.pi / 2 * share)


def _late_quarter_wave(share):
    return 1 - math.cos(math.pi / 2 * share)


def _warmup_as_share(step, steps, warmup, peak):
    if step < warmup * steps:
        return peak * step / (warmup * steps)
    return 0.0 if step >= steps else peak * (steps - step) / (steps - warmup * steps)


SCHEDULE = exercise("10-schedule", _schedule_cases, _rate, judge=_problem_of_rate, points=2)(
    below_zero=_way(lambda i, n, w: (n - i) / (n - w)),
    no_warmup=lambda i, n, w, p: p * max(0, n - i) / n,
    no_warmup_and_below_zero=lambda i, n, w, p: p * (n - i) / n,
    no_fall=_way(lambda i, n, w: 1),
    jump_after_warmup=_way(lambda i, n, w: max(0, n - i) / n),
    jump_and_below_zero=_way(lambda i, n, w: (n - i) / n),
    divided_by_steps=(
        _way(lambda i, n, w: max(0, 1 - (i - w) / n)),
        _way(lambda i, n, w: 1 - (i - w) / n),
        _way(lambda i, n, w: max(0, 1 - (i - w) / n) if i < n else 0),
    ),
    steps_done=(_way(lambda i, n, w: (i - w) / (n - w)), _way(lambda i, n, w: min(1, (i - w) / (n - w)))),
    zero_too_early=_way(lambda i, n, w: max(0, n - 1 - i) / (n - 1 - w)),
    zero_without_warmup=(
        lambda i, n, w, p: _rate(i, n, w, p) if w or i else 0.0,
        lambda i, n, w, p: _rate(i, n, max(1, w), p),
        lambda i, n, w, p: p * (n - i) / (n - w) if i >= w and (w or i) else p * i / max(1, w),
        lambda i, n, w, p: p * (i / max(1, w) if i < max(1, w) else (n - i) / (n - max(1, w))),
        lambda i, n, w, p: _rate(i, n, w, p) if w else 0.0,
    ),
    divided_by_zero=(
        lambda i, n, w, p: p * (i / w) if i <= w else _rate(i, n, w, p),
        lambda i, n, w, p: float(p) * i / w if i <= w else _rate(i, n, w, p),
    ),
    no_peak=lambda i, n, w, p: _rate(i, n, w, 1.0),
    no_peak_and_below_zero=lambda i, n, w, p: i / w if i < w else (n - i) / (n - w),
    first_step_above_zero=(
        lambda i, n, w, p: _rate(min(i + 1, w), n, w, p) if i < w else _rate(i, n, w, p),
        lambda i, n, w, p: _rate(i + 1, n, w, p),
        lambda i, n, w, p: p * (i + 1) / (w + 1) if i < w else _rate(i, n, w, p),
    ),
    first_step_and_below_zero=lambda i, n, w, p: _rate(min(i + 1, w), n, w, p) if i < w else p * (n - i) / (n - w),
    rounded=[lambda *args, digits=digits: round(_rate(*args), digits) for digits in (7, 6, 5, 4, 3, 2)],
    warmup_as_share=(
        _warmup_as_share,
        lambda i, n, w, p: 0.0 if i >= n else _warmup_as_share(i, n, w, p),
        lambda i, n, w, p: p if w * n == i else _warmup_as_share(i, n, w, p),
    ),
    whole_division=[
        lambda i, n, w, p, up=up, down=down: up(i, w, p) if i < w else down(i, n, w, p)
        for up in (lambda i, w, p: p * (i // w), lambda i, w, p: p * i // w, lambda i, w, p: p * i / w)
        for down in (
            lambda i, n, w, p: p * (max(0, n - i) // (n - w)),
            lambda i, n, w, p: p * ((n - i) // (n - w)),
            lambda i, n, w, p: p * max(0, n - i) // (n - w),
        )
    ]
    + [lambda i, n, w, p: p * (i // w) if i < w else _rate(i, n, w, p)],
    curve=[
        _curve(rise, fall, ends)
        for rise in (float, _half_wave, _quarter_wave, _late_quarter_wave, lambda share: share**2, math.sqrt)
        for fall in (float, _half_wave, _quarter_wave, _late_quarter_wave, lambda share: share**2)
        for ends in (True, False)
        if rise is not float or fall is not float
    ]
    + [
        _curve(fall=lambda share: math.sqrt(max(0, share))),
        _curve(fall=lambda share: share**3),
        _way(lambda i, n, w: (w / i) ** 0.5 if i else 1),
        _way(lambda i, n, w: (max(1, w) / i) ** 0.5 if i else 1),
        _way(lambda i, n, w: math.exp(-(i - w) / (n - w)) if i < n else 0),
        _way(lambda i, n, w: math.exp(-(i - w) / (n - w))),
    ],
)


def _logits(state, inputs):
    return inputs @ state["weight"].T + state["bias"]


def _softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _epochs(make, epochs, train, error=lambda logits, right: _softmax(logits) - right):
    """The weights after each epoch of gradient descent on `make`'s linear layer, where `train(step)` runs one epoch.

    In NumPy and with the gradient of the cross-entropy written out, which for so small a layer is much faster.
    """
    _, weight, rate = make.recipe
    state, gradient, states = {"weight": weight.numpy(), "bias": np.float32([0] * len(weight))}, {}, []

    def step(inputs, labels, clear=True):
        inputs, right = inputs.numpy(), np.eye(len(weight), dtype=np.float32)[labels.numpy()]
        off = error(_logits(state, inputs), right)
        for name, now in (("weight", off.T @ inputs / len(off)), ("bias", off.mean(axis=0))):
            gradient[name] = now if clear else gradient.get(name, 0) + now
            state[name] = state[name] - rate * gradient[name]

    for _ in range(epochs):
        train(step)
        states.append(dict(state))
    return states


def _states(make, batches, epochs):
    return _epochs(make, epochs, lambda step: [step(*batch) for batch in batches])


def _accuracies(states, validation):
    inputs, labels = (part.numpy() for part in validation)
    return [float((_logits(state, inputs).argmax(axis=1) == labels).mean()) for state in states]


def _losses(states, validation):
    inputs, labels = (part.numpy() for part in validation)
    return [-np.log(_softmax(_logits(state, inputs))[np.arange(len(labels)), labels]).mean() for state in states]


def _predicted(draw, states, number):
    """Inputs, and what the model predicts for them after each epoch: (epochs, inputs).

    No prediction is near the edge between two classes, where another order of additions may tip it.
    """
    inputs = draw.standard_normal((number, states[0]["weight"].shape[1]), dtype=np.float32)
    logits = np.stack([_logits(state, inputs) for state in states])
    second, first = np.moveaxis(np.sort(logits)[..., -2:], -1, 0)
    clear = (first - second).min(axis=0) > 0.02
    return inputs[clear], logits.argmax(axis=-1)[:, clear]


def _validation(draw, states, wanted, size=7, tries=40):
    """Validation data on which the numbers of right answers after the epochs are as wanted, or None."""
    inputs, predicted = _predicted(draw, states, 100)
    if len(inputs) < size:
        return None
    places = draw.random((tries, len(inputs))).argsort(axis=1)[:, :size]
    source = draw.integers(len(states), size=(tries, 1))  # so that one epoch does well
    labels = draw.integers(len(states[0]["bias"]), size=places.shape)
    labels = np.where(draw.random(places.shape) < 0.8, predicted[source, places], labels)
    right = (predicted[:, places] == labels).sum(axis=-1).T.tolist()
    number = next((number for number, counts in enumerate(right) if wanted(counts)), None)
    return None if number is None else (torch.tensor(inputs[places[number]]), torch.tensor(labels[number]))


def _ahead_by_one(draw, states):
    """Validation data on which the last epoch is right once more than another, and has not the lowest loss, or None."""
    inputs, predicted = _predicted(draw, states, 1500)
    labels, other = predicted[-1].copy(), predicted[draw.integers(len(states) - 1)]
    (differ,) = np.nonzero(other != labels)
    labels[differ[1::2]] = other[differ[1::2]]
    if len(differ) and len(differ) % 2 == 0:  # as many for each of the two: leave out one
        inputs, labels, predicted = (np.delete(part, differ[-1], axis=-1) for part in (inputs.T, labels, predicted))
        inputs = inputs.T
    *before, last = (predicted == labels).sum(axis=1).tolist()
    if last != max(before) + 1 or round(last / len(labels), 2) != round((last - 1) / len(labels), 2):
        return None
    validation = torch.tensor(inputs), torch.tensor(labels)
    *losses, loss = _losses(states, validation)
    return validation if min(losses) < loss - 0.01 else None


def _all_wrong(states, validation):
    """The same inputs with labels that no epoch predicts, for which there must be more classes than epochs."""
    predicted = np.stack([_logits(state, validation[0].numpy()).argmax(axis=1) for state in states])
    classes = len(states[0]["bias"])
    return validation[0], torch.tensor([min(set(range(classes)) - set(column)) for column in predicted.T.tolist()])


def _best_cases(rng):
    draw = np.random.default_rng(rng.randrange(2**32))

    def case(label, find, epochs=4, classes=2, number=2):
        while True:
            width = rng.randint(3, 5)
            make = linear_maker(normal(rng, classes, width), rng.choice([2.0, 3.0]))
            batches = [
                (normal(rng, 4, width), torch.tensor([rng.randrange(classes) for _ in range(4)])) for _ in range(number)
            ]
            if validation := find(draw, _states(make, batches, epochs)):
                return Case(label, make, batches, validation, epochs)

    def where(wanted):
        return lambda draw, states: _validation(draw, states, wanted)

    def rises_again(scores):
        return scores[2] < min(scores[0], scores[3]) and max(scores[0], scores[3]) < scores[1]

    def only_best(scores, place):
        return all(score < scores[place] for n, score in enumerate(scores) if n != place % len(scores))

    def nothing_right(draw, states):
        validation = _validation(draw, states, any)
        return validation and _all_wrong(states, validation)

    yield case("The best epoch is in the middle, and a smaller rise comes later", where(rises_again))
    yield case(
        "Two epochs are equally good", where(lambda s: s.count(max(s)) == 2 and s.index(max(s)) > 0 and s[-1] < max(s))
    )
    yield case("The first epoch is the best", where(lambda s: only_best(s, 0)), epochs=12)
    yield case("The last epoch is the best, by a single right answer", _ahead_by_one, epochs=3)
    yield case("Three classes", where(lambda s: only_best(s, 1)), epochs=3, classes=3, number=3)
    yield case("One epoch, one batch", where(lambda s: s[0] > 0), epochs=1, number=1)
    yield case("No epoch gets anything right", nothing_right, epochs=3, classes=4)


def _best(make, batches, validation, epochs, states=_states, pick=lambda scores: scores.index(max(scores))):
    """The reference; `states` and `pick` imitate mistakes in the training and in the choice."""
    after = states(make, batches, epochs)
    scores = _accuracies(after, validation)
    return scores, after[pick(scores)]


def _other_training(train):
    """A mistake in the training: `train(step, batches)` runs one epoch in a wrong way."""
    return lambda m, b, v, e: _best(
        m, b, v, e, lambda make, batches, epochs: _epochs(make, epochs, lambda step: train(step, batches))
    )


def _untrained_first(make, batches, validation, epochs):
    (start,) = _epochs(make, 1, lambda step: None)
    return _best(make, batches, validation, epochs, lambda m, b, e: [start, *_states(m, b, e)][:e])


def _weights_of_before(make, batches, validation, epochs):
    after = [*_epochs(make, 1, lambda step: None), *_states(make, batches, epochs)]
    scores = _accuracies(after[1:], validation)
    return scores, after[scores.index(max(scores))]


def _lowest_loss(make, batches, validation, epochs):
    after = _states(make, batches, epochs)
    losses = _losses(after, validation)
    return _accuracies(after, validation), after[losses.index(min(losses))]


def _on_the_batches(make, batches, validation, epochs):
    joined = tuple(torch.cat(column) for column in zip(*batches, strict=True))
    return _best(make, batches, joined, epochs)


def _none_if_all_wrong(make, batches, validation, epochs):
    scores, weights = _best(make, batches, validation, epochs)
    return scores, weights if max(scores) > 0 else None


def _last_rise(scores, first):
    """The last epoch with a higher accuracy than the one before it, where before the first it is `first`, or None."""
    rises = [place for place, score in enumerate(scores) if score > [first, *scores][place]]
    return rises[-1] if rises else None


def _above_the_one_before(first, make, batches, validation, epochs):
    after = _states(make, batches, epochs)
    scores = _accuracies(after, validation)
    place = _last_rise(scores, first)
    return scores, None if place is None else after[place]


def _other_loss(error):
    """A mistake in the loss: `error(logits, right)` is its gradient for each row, times the number of rows."""
    return lambda m, b, v, e: _best(
        m, b, v, e, lambda make, batches, epochs: _epochs(make, epochs, lambda s: [s(*one) for one in batches], error)
    )


def _of_probabilities(logits, right):
    """The gradient of the cross-entropy of a softmax, taken as logits, or of the mean squared error of it."""
    p = _softmax(logits)
    off = _softmax(p) - right
    return p * (off - (off * p).sum(axis=1, keepdims=True))


def _stopped(is_worse, make, batches, validation, epochs):
    scores, _ = _best(make, batches, validation, epochs)
    end = next((n for n in range(1, epochs) if is_worse(scores[n], max(scores[:n]), scores[n - 1])), epochs - 1)
    return _best(make, batches, validation, end + 1)


DIAGNOSE = exercise("10-diagnose", _best_cases, _best, points=3)(
    last_weights=lambda m, b, v, e: _best(m, b, v, e, pick=lambda scores: -1),
    last_of_ties=lambda m, b, v, e: _best(m, b, v, e, pick=lambda s: len(s) - 1 - s[::-1].index(max(s))),
    compared_with_previous=[partial(_above_the_one_before, first) for first in (-1, 0)],
    lowest_accuracy=lambda m, b, v, e: _best(m, b, v, e, pick=lambda s: s.index(min(s))),
    lowest_loss=_lowest_loss,
    first_weights=lambda m, b, v, e: _best(m, b, v, e, pick=lambda scores: 0),
    weights_before=_weights_of_before,
    accuracy_before=_untrained_first,
    nothing_right=_none_if_all_wrong,
    accuracy_on_batches=_on_the_batches,
    gradients_add_up=_other_training(lambda step, b: [step(*batch, clear=False) for batch in b]),
    cleared_each_epoch=_other_training(
        lambda step, b: [step(*batch, clear=place == 0) for place, batch in enumerate(b)]
    ),
    last_batch_left_out=_other_training(lambda step, b: [step(*batch) for batch in b[:-1]]),
    batches_repeated=_other_training(lambda step, b: [step(*batch) for batch in [*b, *b]]),
    fresh_each_epoch=lambda m, b, v, e: _best(m, b, v, e, lambda make, batches, n: _states(make, batches, 1) * n),
    weights_only=lambda m, b, v, e: _best(m, b, v, e)[1],
    best_accuracy_only=lambda m, b, v, e: (max(_best(m, b, v, e)[0]), _best(m, b, v, e)[1]),
    stops_early=[
        partial(_stopped, is_worse)
        for is_worse in (
            lambda new, best, before: new <= best,
            lambda new, best, before: new < best,
            lambda new, best, before: new < before,
        )
    ],
    softmax_twice=_other_loss(_of_probabilities),
)


def _group_cases(rng):
    nouns = ["door", "lamp", "boat", "train", "piano", "river", "oven", "letter", "garden", "window", "clock", "coat"]
    words = [f"The {noun} is {rng.choice(['old', 'new', 'green', 'lost'])}." for noun in nouns]
    rng.shuffle(words)
    a, b, c, d, e, f, g, h, *_ = words
    many = [f"Sentence {number}." for number in range(rng.randint(30, 40))]
    chain = list(zip(many, many[1:]))
    rng.shuffle(chain)
    chain.insert(rng.randint(3, 9), (a, b))
    swapped = [pair if rng.random() < 0.5 else pair[::-1] for pair in [(a, b), (b, c), (d, e), (e, f), (f, g)]]
    rng.shuffle(swapped)
    yield Case("No sentence is in two pairs", [(a, b), (c, d), (e, f)])
    yield Case("A sentence that stands first in two pairs", [(a, b), (c, d), (a, e)])
    yield Case("A sentence that stands second in two pairs", [(a, b), (c, d), (e, b)])
    yield Case("A sentence that stands first in one pair and second in another", [(a, b), (c, d), (d, e), (f, a)])
    yield Case("A chain of pairs", swapped)
    yield Case("A pair that joins two groups", [(a, b), (c, d), (e, f), (g, h), (f, a)])
    yield Case("A later pair joins two groups: no number is left out", [(a, b), (c, d), (b, d), (e, f), (g, h)])
    yield Case("A pair that joins the last two groups", [(a, b), (c, d), (e, f), (g, h), (h, d)])
    yield Case("A long chain, in any order", chain)
    yield Case("The same pair twice, and once in the other order", [(a, b), (c, d), (a, b), (d, c)])
    yield Case("A pair of the same sentence", [(a, a), (b, c), (d, a), (e, e), (c, d)])
    yield Case("One pair", [(a, b)])
    yield Case("No pairs", [])
    yield Case(
        "Sentences are compared as they are written",
        [(a, b), (c, a.upper()), (d, b.replace(" ", "  ")), (e, a.rstrip(".")), (f, " " + b)],
    )
    yield Case("An empty sentence, in two pairs", [(a, b), (c, ""), (d, e), ("", f)])


def _linked(pairs):
    """The number of the first pair of its group, for each pair."""
    of = {}
    for number, (one, other) in enumerate(pairs):
        met = {of.get(one, number), of.get(other, number)}
        of |= {sentence: min(met) for sentence, old in of.items() if old in met}
        of[one] = of[other] = min(met)
    return [of[one] for one, _ in pairs]


def _counted(numbers):
    """The same groups, numbered from 0 in the order in which they come."""
    order = {number: place for place, number in enumerate(dict.fromkeys(numbers))}
    return [order[number] for number in numbers]


def _groups(pairs):
    return _counted(_linked(pairs))


def _greedy(order, pairs):
    """A mistake: each pair joins the first group that has one of its sentences; no two groups are ever joined."""
    of, numbers = {}, []
    for number, pair in enumerate(pairs):
        found = next((of[sentence] for sentence in pair[::order] if sentence in of), number)
        for sentence in pair:
            of.setdefault(sentence, found)
        numbers.append(found)
    return _counted(numbers)


def _neighbours(pairs):
    """A mistake: the first pair with a sentence in common, and no further."""
    return _counted(
        [next(n for n, other in enumerate(pairs) if set(pair) & set(other)) for pair in pairs]  # itself at last
    )


def _positions(pairs):
    """A mistake: a sentence that stands first is not the same as when it stands second."""
    return _groups([((0, one), (1, other)) for one, other in pairs])


def _lists(pairs):
    groups = _groups(pairs)
    return [[n for n, group in enumerate(groups) if group == number] for number in sorted(set(groups))]


def _by_size(pairs):
    groups = _groups(pairs)
    order = sorted(set(groups), key=lambda group: (-groups.count(group), group))
    return [order.index(group) for group in groups]


def _swept(sweeps, result, pairs):
    """A mistake: each pair's sentences get the lower of their two numbers, in a fixed number of sweeps."""
    of, numbers = {}, []
    for _ in range(sweeps):
        numbers = []
        for number, (one, other) in enumerate(pairs):
            of[one] = of[other] = min(of.get(one, number), of.get(other, number))
            numbers.append(of[one])
    return _counted(numbers if result is None else [result(of[one], of[other]) for one, other in pairs])


def _joins(choose, overwrite, pairs, at_end=None):
    """A mistake: each pair takes one of the numbers of its sentences, and no two groups are ever joined."""
    of, numbers = {}, []
    for number, pair in enumerate(pairs):
        found = choose([of[sentence] for sentence in pair if sentence in of] or [number])
        for sentence in pair:
            of[sentence] = found if overwrite else of.get(sentence, found)
        numbers.append(found)
    return _counted(numbers if at_end is None else [of[pair[at_end]] for pair in pairs])


def _joins_pairs(turned, pairs):
    """A mistake: each pair takes the number of the first, or the last, earlier pair with a common sentence."""
    numbers = []
    for number, pair in enumerate(pairs):
        earlier = [numbers[n] for n in range(number) if set(pair) & set(pairs[n])]
        numbers.append(earlier[-1 if turned else 0] if earlier else number)
    return _counted(numbers)


def _double_loop(lower, pairs):
    numbers = list(range(len(pairs)))
    for i, j in combinations(range(len(pairs)), 2):
        if set(pairs[i]) & set(pairs[j]):
            numbers[j] = min(numbers[i], numbers[j]) if lower else numbers[i]
            numbers[i] = numbers[j] if lower else numbers[i]
    return _counted(numbers)


def _with_previous(keep, pairs):
    """A mistake: a pair is compared with the pair before it alone, or with the group of that pair."""
    numbers, last = [], set()
    for pair in pairs:
        common = last & set(pair)
        numbers.append(numbers[-1] if common else len(set(numbers)))
        last = (last if keep and common else set()) | set(pair)
    return numbers


def _by_joined_sets(pairs):
    """The right groups, numbered by their places in a list of sets from which joined ones are taken."""
    groups = []
    for pair in pairs:
        met = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if group not in met] + [set(pair).union(*met)]
    return [next(n for n, group in enumerate(groups) if pair[0] in group) for pair in pairs]


def _ordered_by(key, pairs):
    """The right groups, numbered in another order: that of the lowest `key` of their sentences."""
    groups = _groups(pairs)
    least = {}
    for group, pair in zip(groups, pairs):
        least[group] = min([*map(key, pair), *([least[group]] if group in least else [])])
    order = sorted(least, key=least.get)
    return [order.index(group) for group in groups]


def _numbers_of_arrays(pairs):
    """As `_ordered_by`, with an array of two columns, which an empty list does not make."""
    if not pairs:
        return np.array(pairs)[:, 0]
    return _ordered_by(str, pairs)


def _with_gaps(choose, pairs):
    """The right groups, with numbers that are counted when a group begins and left out when it is joined."""
    of, count = {}, 0
    for pair in pairs:
        met = {of[sentence] for sentence in pair if sentence in of}
        number = choose(met) if met else count
        count += not met
        of |= {sentence: number for sentence, old in of.items() if old in met} | dict.fromkeys(pair, number)
    return [of[one] for one, _ in pairs]


SPLIT_PAIRS = exercise("10-split-pairs", _group_cases, _groups, points=3)(
    first_sentences=lambda pairs: _counted([one for one, _ in pairs]),
    second_sentences=lambda pairs: _counted([other for _, other in pairs]),
    same_side_only=_positions,
    not_joined=[
        *(partial(_greedy, order) for order in (1, -1)),
        *(
            partial(_joins, choose, overwrite, at_end=at_end)
            for choose in (min, max, lambda met: met[0], lambda met: met[-1])
            for overwrite in (False, True)
            for at_end in (None, 0, 1)
        ),
        *(partial(_swept, 1, result) for result in (None, lambda one, _: one, lambda _, other: other, min, max)),
        *(partial(_joins_pairs, turned) for turned in (False, True)),
        *(partial(_double_loop, lower) for lower in (False, True)),
    ],
    chain_not_followed=_neighbours,
    equal_pairs=lambda pairs: _counted([tuple(pair) for pair in pairs]),
    equal_pairs_either_order=lambda pairs: _counted([frozenset(pair) for pair in pairs]),
    numbers_left_out=(_linked, partial(_with_gaps, min), partial(_with_gaps, max)),
    numbered_from_one=lambda pairs: [n + 1 for n in _groups(pairs)],
    numbered_from_last=lambda pairs: _counted(_linked(pairs)[::-1])[::-1],
    largest_first=_by_size,
    sentences_normalised=[
        lambda pairs, form=form: _groups([tuple(map(form, pair)) for pair in pairs])
        for form in (_one_form, str.strip, lambda text: text.strip().lower(), lambda text: " ".join(text.split()))
    ],
    capitals_ignored=lambda pairs: _groups([tuple(map(str.lower, pair)) for pair in pairs]),
    places_returned=_lists,
    count=lambda p: len(_lists(p)),
    one_group=lambda pairs: [0 for _ in pairs],
    empty_skipped=(
        lambda pairs: _groups([tuple(text or object() for text in pair) for pair in pairs]),
        lambda pairs: _groups([tuple(text.strip() or object() for text in pair) for pair in pairs]),
    ),
    previous_only=(partial(_with_previous, False), partial(_with_previous, True)),
    numbered_otherwise=(partial(_ordered_by, str), _numbers_of_arrays, _by_joined_sets),
)


def _epoch_cases(rng):
    for label, count, size in (
        ("One batch", 1, 5),
        ("Two batches", 2, 4),
        ("Five batches", 5, 3),
        ("Batches of one example", 4, 1),
    ):
        width, classes = rng.randint(2, 4), rng.randint(2, 3)
        batches = [
            (normal(rng, size, width), torch.tensor([rng.randrange(classes) for _ in range(size)]))
            for _ in range(count)
        ]
        yield Case(label, linear_maker(normal(rng, classes, width), 0.5), batches)


def _train_epoch(make, batches, clear=lambda optimizer, place: True, after=False):
    """The losses of one epoch. clear: whether the gradients are cleared at a batch; after: only after `backward`."""
    layer, optimizer = make()
    losses = []
    for place, (inputs, labels) in enumerate(batches):
        loss = torch.nn.functional.cross_entropy(layer(inputs), labels)
        if clear(optimizer, place) and not after:
            optimizer.zero_grad()
        loss.backward()
        if after:
            optimizer.zero_grad()
        optimizer.step()
        losses.append(loss.item())
    return losses


TRAIN = Completion(
    "10-train",
    "Four steps for each batch",
    ("make", "batches"),
    _epoch_cases,
    _train_epoch,
    mistakes=(
        Mistake(
            "never_cleared",
            "The gradients are never cleared, so each step follows the sum of all gradients so far.",
            "`backward` adds to what is there: call `stepper.zero_grad()` before it.",
            (partial(_train_epoch, clear=lambda optimizer, place: False),),
        ),
        Mistake(
            "cleared_after_backward",
            "You clear the gradients between `backward` and `step`, so `step` has nothing to follow.",
            "Clear them before `backward`, or after `step`.",
            (partial(_train_epoch, after=True),),
        ),
        Mistake(
            "stepped_twice",
            "The optimizer takes two steps for each batch, and the gradients are never cleared.",
            "The missing call changes no weight: it clears the gradients, before `backward`.",
            (partial(_train_epoch, clear=lambda optimizer, place: optimizer.step()),),
        ),
    ),
    hints=(
        "What does `backward` do with the gradients of the batch before?",
        "An optimizer has a method that clears the gradients of all its weights.",
    ),
)


def _report_cases(rng):
    def scores(settings):
        return {setting: rng.randint(500, 900) / 1000 for setting in settings}

    for label, settings in (
        ("Learning rates", (0.001, 0.01, 0.1)),
        ("Epochs", tuple(range(1, 9))),
        ("One setting", ("only",)),
        ("Names", ("head", "last layer", "everything")),
    ):
        drawn = rng.sample(range(500, 900), len(settings))
        if len(drawn) > 1:  # the best is neither the first nor the last, and of many not the second
            best, place = drawn.index(max(drawn)), rng.randrange((len(drawn) + 1) // 3, len(drawn) - 1)
            drawn[best], drawn[place] = drawn[place], drawn[best]
        validation = dict(zip(settings, drawn))
        turned = settings[1:] + settings[:1]  # the keys need not come in the same order
        yield Case(label, {name: score / 1000 for name, score in validation.items()}, scores(turned))
    low, middle, good, best = (score / 1000 for score in sorted(rng.sample(range(500, 900), 4)))
    validation = {"b": best, "a": good, "c": low, "d": middle}  # each way to choose ends at another setting
    yield Case("The highest test score belongs to another", validation, {"b": 0.4, "a": 0.95, "c": 0.5, "d": 0.6})


def _by_position(validation_scores, test_scores):
    """A mistake: the place of the best validation score, looked up in the other dictionary."""
    place = int(np.argmax(list(validation_scores.values())))
    return list(test_scores.values())[place]


def _score_to_report(validation_scores, test_scores):
    return test_scores[max(validation_scores, key=validation_scores.get)]


REPORT = Completion(
    "10-report",
    "The score to report",
    ("validation_scores", "test_scores"),
    _report_cases,
    _score_to_report,
    mistakes=(
        Mistake(
            "chosen_on_test",
            "You choose the setting with the best *test* score, so the test part has decided something.",
            "Let the validation scores choose, and report the test score of that setting.",
            (lambda validation_scores, test_scores: max(test_scores.values()),),
        ),
        Mistake(
            "largest_key",
            "`max(validation_scores)` compares the keys of the dictionary, and not the scores.",
            "Tell `max` what to compare: `max(validation_scores, key=validation_scores.get)`.",
            (lambda validation_scores, test_scores: test_scores[max(validation_scores)],),
        ),
        Mistake(
            "validation_reported",
            "You report the best validation score, which was picked because it is high.",
            "The validation scores choose the setting. Report its test score.",
            (lambda validation_scores, test_scores: max(validation_scores.values()),),
        ),
        Mistake(
            "worst_setting",
            "You choose the setting with the lowest validation score.",
            "Take the highest: `max(..., key=...)`.",
            (lambda validation_scores, test_scores: test_scores[min(validation_scores, key=validation_scores.get)],),
        ),
        Mistake(
            "first_setting",
            "You take the first setting, whatever its score.",
            "`max(validation_scores, key=validation_scores.get)` returns the key with the highest score.",
            (
                lambda validation_scores, test_scores: test_scores[next(iter(test_scores))],
                lambda validation_scores, test_scores: test_scores[next(iter(validation_scores))],
            ),
        ),
        Mistake(
            "by_position",
            "You look up the best setting by its position, but the two dictionaries may order their keys differently.",
            "Use the key itself: `max(validation_scores, key=validation_scores.get)`.",
            (_by_position,),
        ),
    ),
    hints=("Which of the two parts may decide?", "`max` takes a function `key`: the score of each setting."),
)


def _last_token_cases(rng):
    def padded(lengths, width):
        mask = torch.tensor([[int(place < length) for place in range(width)] for length in lengths])
        return normal(rng, len(lengths), width, rng.randint(2, 5)), mask

    yield Case("Rows of different lengths", *padded([5, 2, 4], 6))
    yield Case("A batch without padding", *padded([3, 3], 3))
    yield Case("One row, one real token", *padded([1], 4))
    yield Case("The longest row is not the first", *padded([rng.randint(1, 3), 7, rng.randint(4, 6)], 7))


def _last_real_token(states, attention_mask):
    return torch.stack([row[sum(marks) - 1] for row, marks in zip(states, attention_mask.tolist(), strict=True)])


def _rows(states):
    return torch.arange(len(states))


LAST_TOKEN = Completion(
    "10-last-token",
    "The last real token",
    ("states", "attention_mask"),
    _last_token_cases,
    _last_real_token,
    mistakes=(
        Mistake(
            "last_position",
            "You take the last position of each row, which may be padding.",
            "Count the real tokens of each row in the mask.",
            (lambda states, mask: states[:, -1],),
        ),
        Mistake(
            "one_too_far",
            "You go one position too far: a row with n real tokens has them at 0 to n - 1.",
            "Subtract 1 from the number of real tokens.",
            (lambda states, mask: states[_rows(states), mask.sum(dim=1)],),
        ),
        Mistake(
            "first_real_token",
            "You take the first real token: `argmax` returns the first position that holds the largest value.",
            "Count the real tokens instead: `attention_mask.sum(dim=1)`.",
            (lambda states, mask: states[_rows(states), mask.argmax(dim=1)],),
        ),
        Mistake(
            "first_padding",
            "You take the first padding token: `argmin` finds the first 0 of the mask.",
            "The last real token is one position before, and a row without padding has no 0.",
            (lambda states, mask: states[_rows(states), mask.argmin(dim=1)],),
        ),
        Mistake(
            "longest_row",
            "You read all rows at the position where the longest one ends.",
            "Each row has its own last token: leave out the maximum over the rows.",
            (lambda states, mask: states[:, mask.sum(dim=1).max() - 1],),
        ),
        Mistake(
            "counted_over_the_batch",
            "You count the real tokens of the whole batch, and not of each row.",
            "`dim=1` counts along each row.",
            (
                lambda states, mask: states[_rows(states), mask.sum() - 1],
                lambda states, mask: states[:, mask.sum() - 1],
            ),
        ),
    ),
    hints=("How many real tokens does each row have?", "Positions are counted from 0."),
)
