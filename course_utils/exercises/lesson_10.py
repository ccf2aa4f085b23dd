"""Exercises of lesson 10, fine-tuning a classifier."""

import re

import torch
from torch.nn.functional import cross_entropy

from .._support.values import linear_maker
from .framework import Case, Exercise, Mistake, normal


def _schedule_cases(rng):
    steps = rng.randint(40, 90)
    warmup, peak = rng.randint(5, 9), rng.choice([2.0, 5.0, 10.0])
    middle = rng.randint(warmup + 5, steps - 5)
    return [
        Case("The first step: nothing yet", (0, steps, warmup, peak)),
        Case("Within the warm-up", (rng.randint(1, warmup - 1), steps, warmup, peak)),
        Case("The end of the warm-up: the peak", (warmup, steps, warmup, peak)),
        Case("On the way down", (middle, steps, warmup, peak)),
        Case("The last step", (steps - 1, steps, warmup, peak)),
        Case("At the end", (steps, steps, warmup, peak)),
        Case("Long after the last step: still 0", (steps + rng.randint(3, 9), steps, warmup, peak)),
        Case("No warm-up", (3, steps, 0, peak)),
    ]


def _rate(step, steps, warmup, peak):
    return peak * (step / warmup if step < warmup else max(0, steps - step) / (steps - warmup))


def _way(share):
    """A mistake in the decay: `share` gives the fraction of the peak left, from step, steps and warmup."""
    return lambda step, steps, warmup, peak: peak * (step / warmup if step < warmup else share(step, steps, warmup))


SCHEDULE = Exercise(
    id="10-schedule",
    title="Learning rate with a warm-up",
    arguments=("step", "steps", "warmup", "peak"),
    cases=_schedule_cases,
    reference=_rate,
    minutes=8,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake("After the last step your rate is below 0. It stays at 0.", _way(lambda i, n, w: (n - i) / (n - w))),
        Mistake(
            "The rate starts at the peak and only falls. For the first `warmup` steps it rises from 0.",
            lambda i, n, w, p: p * max(0, n - i) / n,
        ),
        Mistake(
            "The rate starts at the peak and only falls, and below 0 in the end. For the first `warmup` steps it "
            "rises from 0; at the end it stays 0.",
            lambda i, n, w, p: p * (n - i) / n,
        ),
        Mistake("The rate rises, and then stays at the peak. It falls to 0 at the last step.", _way(lambda i, n, w: 1)),
        Mistake(
            "After the warm-up, the rate jumps below the peak: divide what is left by `steps - warmup`, not by "
            "`steps`.",
            _way(lambda i, n, w: max(0, n - i) / n),
        ),
        Mistake(
            "After the warm-up, the rate jumps below the peak, and it ends below 0: divide what is left by `steps - "
            "warmup`, and stop at 0.",
            _way(lambda i, n, w: (n - i) / n),
        ),
        Mistake(
            "On the way down, divide by `steps - warmup`: so many steps lie between the peak and 0.",
            _way(lambda i, n, w: max(0, 1 - (i - w) / n)),
        ),
        Mistake(
            "On the way down, count the steps that are *left*: `steps - step`.", _way(lambda i, n, w: (i - w) / (n - w))
        ),
        Mistake(
            "On the way down, count the steps that are *left*: `steps - step`.",
            _way(lambda i, n, w: min(1, (i - w) / (n - w))),
        ),
        Mistake(
            "Your rate reaches 0 one step too early: it is 0 at `steps`, not at `steps - 1`.",
            _way(lambda i, n, w: max(0, n - 1 - i) / (n - 1 - w)),
        ),
        Mistake("The peak is missing: these are shares of it.", lambda i, n, w, p: _rate(i, n, w, 1.0)),
        Mistake(
            "The peak is missing: these are shares of it. (And after the last step, the rate stays 0.)",
            lambda i, n, w, p: i / w if i < w else (n - i) / (n - w),
        ),
        Mistake(
            "The first step has the rate 0: `step / warmup`, not `(step + 1) / warmup`.",
            lambda i, n, w, p: _rate(min(i + 1, w), n, w, p) if i < w else _rate(i, n, w, p),
        ),
        Mistake(
            "The first step has the rate 0: `step / warmup`, not `(step + 1) / warmup`. (And after the last step, "
            "the rate stays 0.)",
            lambda i, n, w, p: _rate(min(i + 1, w), n, w, p) if i < w else p * (n - i) / (n - w),
        ),
    ),
    hints=(
        "Two straight lines: from 0 to `peak` over `warmup` steps, then from `peak` to 0 over the rest.",
        "`if step < warmup: return peak * step / warmup`. For the way down, which share of `steps - warmup` is left?",
    ),
)


def _leak_cases(rng):
    def sentence(number):
        return f"{rng.choice(['a fine', 'A dull', 'one  more'])} film , number {number} ."

    train = [sentence(number) for number in range(6)]
    clean = [sentence(number) for number in range(20, 25)]
    dirty = clean + [train[2].upper(), "  " + train[4].replace(" ", "  ") + " ", train[0]]
    rng.shuffle(dirty)
    return [
        Case("The same text, in other letters and with other spaces", (train, dirty)),
        Case("No text is in both parts", (train, clean)),
        Case("A text that stands twice in the test part", (train, [train[1], clean[0], train[1]])),
        Case("Part of a text is not the text", ([train[0] + " and more"], [train[0], "film"])),
        Case("Nothing to train on", ([], clean)),
        Case("Two spaces, and spaces at the ends", (["a fine film"], ["A  fine film", " a fine film "])),
        Case(
            "Tabs, line ends and three spaces are white space, too",
            (train[:3], [train[1].replace(" ", "\t"), train[0].replace(" ", "   ") + "\n"]),
        ),
        Case(
            "Order, punctuation and the ends of words count",
            (["not good , bad", "now here", "fine ."], ["bad , not good", "nowhere", "fine"]),
        ),
    ]


def _leaks(train, test, key=lambda text: " ".join(text.lower().split())):
    seen = {key(text) for text in train}
    return [text for text in test if key(text) in seen]


LEAKS = Exercise(
    id="10-leaks",
    title="What stands in both parts",
    arguments=("train", "test"),
    cases=_leak_cases,
    reference=_leaks,
    minutes=8,
    difficulty=1,
    points=2,
    mistakes=(
        Mistake(
            "You compare texts letter by letter. Capital letters and spaces differ, and the model reads the same "
            "tokens.",
            lambda train, test: _leaks(train, test, lambda text: text),
        ),
        Mistake(
            'You make the letters small, and leave the spaces as they are. `" ".join(text.split())` makes them alike.',
            lambda train, test: _leaks(train, test, str.lower),
        ),
        Mistake(
            "You make the spaces alike, and leave capital letters as they are.",
            lambda train, test: _leaks(train, test, lambda text: " ".join(text.split())),
        ),
        Mistake(
            "You strip the ends only. Spaces inside a text differ, too.",
            lambda train, test: _leaks(train, test, lambda text: text.lower().strip()),
        ),
        Mistake(
            "You exchange two spaces for one. Three spaces, tabs and line ends are left: `split()` without an "
            "argument takes all white space.",
            lambda train, test: _leaks(train, test, lambda text: text.lower().replace("  ", " ").strip()),
        ),
        Mistake(
            "You compare sets of words. The order of the words belongs to a text.",
            lambda train, test: _leaks(train, test, lambda text: frozenset(text.lower().split())),
        ),
        Mistake(
            "You take all white space away, and `now here` becomes `nowhere`. Leave one space between words.",
            lambda train, test: _leaks(train, test, lambda text: "".join(text.lower().split())),
        ),
        Mistake(
            "You leave punctuation out. Here, only capital letters and white space may differ.",
            lambda train, test: _leaks(train, test, lambda text: " ".join(re.findall(r"\w+", text.lower()))),
        ),
        Mistake(
            "You return the texts in their small letters. The texts of `test` are asked for, as they stand there.",
            lambda train, test: [" ".join(text.lower().split()) for text in _leaks(train, test)],
        ),
        Mistake(
            "These are the texts of `train`. The texts of `test` that are leaked are asked for.",
            lambda train, test: _leaks(test, train),
        ),
        Mistake(
            "A text that stands twice in `test` leaks twice: list both.",
            lambda train, test: list(dict.fromkeys(_leaks(train, test))),
        ),
        Mistake(
            "A part of a text is found as if it were the text. Compare whole texts.",
            lambda train, test: [
                text
                for text in test
                if any(" ".join(text.lower().split()) in " ".join(other.lower().split()) for other in train)
            ],
        ),
        Mistake(
            "These are the clean ones. Those that also stand in `train` are asked for.",
            lambda train, test: [text for text in test if text not in _leaks(train, test)],
        ),
        Mistake("You return their number. The texts are asked for.", lambda train, test: len(_leaks(train, test))),
    ),
    hints=(
        "Make every text of `train` comparable, and keep the results in a set. Then go through `test`.",
        '`" ".join(text.lower().split())` has small letters, and one space between words.',
    ),
)


def _epoch_cases(rng):
    def maker(width, classes=2, rate=0.5):
        return linear_maker(normal(rng, classes, width), rate)

    def batches(number, width, classes=2):
        return [
            (normal(rng, 4, width), torch.tensor([rng.randrange(classes) for _ in range(4)])) for _ in range(number)
        ]

    width = rng.randint(3, 5)
    return [
        Case("Several batches", (maker(width), batches(5, width))),
        Case("Three classes", (maker(width, 3), batches(4, width, 3))),
        Case("Another learning rate", (maker(width, rate=0.05), batches(4, width))),
        Case("One batch", (maker(width), batches(1, width))),
    ]


def _epoch(make, batches, order="zero backward step", loss_of=cross_entropy, after=False):
    losses, (model, optimizer) = [], make()
    for inputs, labels in batches:
        loss = loss_of(model(inputs), labels)
        for what in order.split():
            {"zero": optimizer.zero_grad, "backward": loss.backward, "step": optimizer.step}[what]()
        losses.append((loss_of(model(inputs), labels) if after else loss).item())
    return losses


EPOCH = Exercise(
    id="10-find-the-bug",
    title="Find the bug: one epoch",
    arguments=("make", "batches"),
    cases=_epoch_cases,
    reference=_epoch,
    minutes=10,
    difficulty=2,
    points=3,
    mistakes=(
        Mistake(
            "Gradients add up from batch to batch: `backward` adds to what is there. Clear them each time, with "
            "`optimizer.zero_grad()`.",
            lambda m, b: _epoch(m, b, "backward step"),
        ),
        Mistake(
            "You step before the gradients of this batch are there: first `backward`, then `step`.",
            lambda m, b: _epoch(m, b, "step zero backward"),
        ),
        Mistake(
            "The weights do not change from batch to batch: `loss.backward()` or `optimizer.step()` is missing or "
            "stands outside the loop, `make()` stands inside it, or the gradients are cleared between the two.",
            lambda m, b: _epoch(m, b, "zero backward"),
        ),
        Mistake(
            "`cross_entropy` takes logits. You give it probabilities, so a softmax is taken twice.",
            lambda m, b: _epoch(m, b, loss_of=lambda x, y: cross_entropy(x.softmax(dim=-1), y)),
        ),
        Mistake(
            "These are losses after the update. The loss that the update is made from is asked for.",
            lambda m, b: _epoch(m, b, after=True),
        ),
        Mistake(
            "These are sums over the batch. The mean is asked for, which is what `cross_entropy` gives.",
            lambda m, b: _epoch(m, b, loss_of=lambda x, y: cross_entropy(x, y, reduction="sum")),
        ),
        Mistake(
            "You return the mean of the losses. The list of all losses is asked for.",
            lambda m, b: sum(_epoch(m, b)) / len(b),
        ),
        Mistake("You return the last loss only. The list of all losses is asked for.", lambda m, b: _epoch(m, b)[-1]),
    ),
    hints=(
        "Four things happen for each batch: loss, clear, backward, step. Which of them does the function lack?",
        "Print `model.weight.grad` after each `backward`: does it grow?",
        "`optimizer.zero_grad()` comes before `loss.backward()`, and `optimizer.step()` after it.",
    ),
)

EXERCISES = (LEAKS, EPOCH, SCHEDULE)
