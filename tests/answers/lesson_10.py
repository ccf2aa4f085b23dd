"""Answers to lesson 10 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import re

import torch.nn.functional as F


def schedule_if(step, steps, warmup, peak):
    if step < warmup:
        return peak * step / warmup
    if step >= steps:
        return 0.0
    return peak * (1 - (step - warmup) / (steps - warmup))


def schedule_min(step, steps, warmup, peak):
    return peak * max(0, min(step / max(1, warmup) if step < warmup else 1, (steps - step) / (steps - warmup)))


def schedule_falls(step, steps, warmup, peak):
    return peak * (1 - step / steps)


def key(text):
    return re.sub(r"\s+", " ", text).strip().casefold()


def leaks_set(train, test):
    seen = set(map(key, train))
    return [text for text in test if key(text) in seen]


def leaks_loop(train, test):
    found = []
    for text in test:
        for other in train:
            if text.lower().split() == other.lower().split():
                found.append(text)
                break
    return found


def leaks_exact(train, test):
    return [text for text in test if text in train]


def epoch_plain(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def epoch_clear_last(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        loss = -F.log_softmax(model(inputs), dim=1)[range(len(labels)), labels].mean()
        loss.backward()
        optimizer.step()
        model.zero_grad()
        losses.append(float(loss))
    return losses


def epoch_adds_up(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


RIGHT = {
    "10-leaks": [leaks_set, leaks_loop],
    "10-find-the-bug": [epoch_plain, epoch_clear_last],
    "10-schedule": [schedule_if, schedule_min],
}
WRONG = {
    "10-leaks": [(leaks_exact, "letter by letter")],
    "10-find-the-bug": [(epoch_adds_up, "Gradients add up")],
    "10-schedule": [(schedule_falls, "only falls")],
}
