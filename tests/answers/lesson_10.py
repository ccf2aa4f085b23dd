"""Answers to lesson 10."""

import copy
import itertools
import math
import operator
import re
import string
import unicodedata

import numpy as np
import torch
import torch.nn.functional as F


def schedule(step, steps, warmup, peak, rise=lambda share: share, fall=lambda share: share):
    """A right answer; each argument changes one thing."""
    if step < warmup:
        return peak * rise(step / warmup)
    return peak * fall(max(0, steps - step) / (steps - warmup))


def half_wave(share):
    return (1 - math.cos(math.pi * share)) / 2


def leaks_by(key, result=lambda found: found):
    """An answer that compares by `key`."""

    def leaks(train, test):
        seen = {key(text) for text in train}
        return result([text for text in test if key(text) in seen])

    return leaks


def leaks_word_by_word(train, test):
    found = []
    for text in test:
        for other in train:
            if text.lower().split() == other.lower().split():
                found.append(text)
                break
    return found


def leaks_uneven(of_train):
    """An answer that brings the texts of `train` into another form than those of `test`."""
    return lambda train, test: [text for text in test if one_space(text) in map(of_train, train)]


def one_space(text):
    return re.sub(r"\s+", " ", text.lower()).strip()


def one_line(text):
    return " ".join(text.split())


def no_accents(text):
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def leaks_longest_first(train, test):
    longest = max(len(text) for text in train)  # raises if there is none
    return [text for text in leaks_by(one_space)(train, test) if len(text) <= 2 * longest]


def leaks_first_of_test(train, test):
    assert test[0] is not None
    return leaks_by(one_space)(train, test)


def leaks_part(train, test):
    return [text for text in test if any(one_space(other).startswith(one_space(text)) for other in train)]


def schedule_numpy(step, steps, warmup, peak):
    return np.interp(step, [0, warmup, steps], [0, peak, 0]) if warmup else np.interp(step, [0, steps], [peak, 0])


def schedule_in_float32(step, steps, warmup, peak):
    i, n, w, top = torch.tensor([step, steps, warmup, peak], dtype=torch.float32)
    up = i * top / w if warmup else top
    return torch.minimum(up, top - (i - w) * top / (n - w)).clamp(min=0)


def schedule_torch(step, steps, warmup, peak):
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=peak)
    from transformers import get_linear_schedule_with_warmup

    schedule = get_linear_schedule_with_warmup(optimizer, warmup, steps)
    for _ in range(step):
        optimizer.step()
        schedule.step()
    return torch.tensor(schedule.get_last_lr()[0])


def one_epoch(model, optimizer, batches):
    for inputs, labels in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


def accuracy(model, validation):
    inputs, labels = validation
    with torch.no_grad():
        return (model(inputs).argmax(dim=-1) == labels).double().mean().item()


def keep_all(make, batches, validation, epochs):
    model, optimizer = make()
    found = []
    for _ in range(epochs):
        one_epoch(model, optimizer, batches)
        found.append((accuracy(model, validation), {k: v.numpy().copy() for k, v in model.state_dict().items()}))
    return [score for score, _ in found], max(found, key=lambda pair: pair[0])[1]


def keep_with(train=one_epoch, better=operator.gt, result=lambda s, w: (s, w), on=None, before=False, stop=0):
    """A right answer; each argument changes one thing. stop: after so many epochs without a better one."""

    def keep(make, batches, validation, epochs):
        model, optimizer = make()
        scores, best, weights = [], -1.0, None
        for _ in range(epochs):
            if before:
                scores.append(accuracy(model, validation))
            train(model, optimizer, batches)
            if not before:
                scores.append(accuracy(model, on(validation) if on else validation))
            if better(scores[-1], best):
                best, weights = scores[-1], copy.deepcopy(model.state_dict())
            if stop and len(scores) > stop and max(scores[-stop:]) < best:
                break
        return result(scores, weights)

    return keep


def keep_in_second_model(make, batches, validation, epochs):
    """`make` gives the place for the best weights, too; of the model only the parameters are kept."""
    (model, optimizer), (best, _), scores = make(), make(), []
    for _ in range(epochs):
        one_epoch(model, optimizer, batches)
        scores.append(accuracy(model, validation))
        if scores[-1] > max(scores[:-1], default=-1):
            best.load_state_dict(model.state_dict())
    return np.array(scores), dict(best.named_parameters())


def keep_in_plain_python(make, batches, validation, epochs):
    """In lists, with the gradient written out."""
    model, optimizer = make()
    weight, bias, rate = model.weight.tolist(), model.bias.tolist(), optimizer.param_groups[0]["lr"]

    def logits(x):
        return [math.fsum(map(operator.mul, x, row)) + b for row, b in zip(weight, bias)]

    def step(inputs, labels):
        nonlocal weight, bias
        slopes = []
        for x, label in zip(inputs, labels):
            powers = [math.exp(value) for value in logits(x)]
            slopes.append([power / sum(powers) - (label == k) for k, power in enumerate(powers)])
        off = [rate / len(slopes) * slope for slope in map(sum, zip(*slopes))]
        along = [[sum(s[k] * x[i] for s, x in zip(slopes, inputs)) for i in range(len(x))] for k in range(len(bias))]
        weight = [[w - rate / len(slopes) * a for w, a in zip(*rows)] for rows in zip(weight, along)]
        bias = [b - o for b, o in zip(bias, off)]

    scores, states = [], []
    for _ in range(epochs):
        for inputs, labels in batches:
            step(inputs.tolist(), labels.tolist())
        inputs, labels = (part.tolist() for part in validation)
        right = [max(range(len(bias)), key=logits(x).__getitem__) == label for x, label in zip(inputs, labels)]
        scores.append(sum(1 / len(right) for one in right if one))
        states.append({"weight": weight, "bias": bias})
    return scores, states[max(range(epochs), key=scores.__getitem__)]


def sums(model, optimizer, batches):
    for inputs, labels in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels, reduction="sum").backward()
        optimizer.step()


def probabilities(model, optimizer, batches):
    for inputs, labels in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(inputs).softmax(dim=-1), labels).backward()
        optimizer.step()


def wide(part):
    return part[0].double(), part[1]


def in_float64(model, optimizer, batches):
    one_epoch(model.double(), optimizer, map(wide, batches))


def joined(model, optimizer, batches):
    one_epoch(model, optimizer, [tuple(torch.cat(column) for column in zip(*batches, strict=True))])


def groups_union_find(pairs):
    parent = list(range(len(pairs)))

    def root(n):
        while parent[n] != n:
            n = parent[n]
        return n

    last = {}
    for n, pair in enumerate(pairs):
        for sentence in pair:
            if sentence in last:
                one, other = sorted((root(last[sentence]), root(n)))
                parent[other] = one
            last[sentence] = n
    roots = [root(n) for n in range(len(pairs))]
    names = {}
    return [names.setdefault(one, len(names)) for one in roots]


def groups_by_flooding(pairs):
    """Gives a number to a pair and to all that can be reached from it, sentence by sentence."""
    groups, count = [None] * len(pairs), 0
    for start in range(len(pairs)):
        waiting = [start] if groups[start] is None else []
        count += len(waiting)
        while waiting:
            place = waiting.pop()
            groups[place] = count - 1
            waiting += [n for n, pair in enumerate(pairs) if groups[n] is None and {*pair} & {*pairs[place]}]
    return groups


def groups_of_sets(pairs):
    sets = []
    for pair in pairs:
        joined = {*pair}.union(*(one for one in sets if one & {*pair}))
        sets = [*(one for one in sets if not one & joined), joined]
    found = [next(n for n, one in enumerate(sets) if pair[0] in one) for pair in pairs]
    return [list(dict.fromkeys(found)).index(n) for n in found]


def groups_after(change=list, result=lambda found: found):
    """An answer that changes the pairs before it groups them, or the numbers afterwards."""
    return lambda pairs: result(groups_union_find(change(list(pairs))))


def each(change):
    return lambda pairs: [tuple(change(sentence) for sentence in pair) for pair in pairs]


def groups_few_rounds(pairs):
    numbers = list(range(len(pairs)))
    for _ in range(3):
        for n, pair in enumerate(pairs):
            numbers[n] = min(numbers[m] for m, other in enumerate(pairs) if set(pair) & set(other))
    return [sorted(set(numbers)).index(n) for n in numbers]


def groups_no_empty_list(pairs):
    assert pairs[0] is not None
    return groups_union_find(pairs)


RIGHT = {
    "10-leaks": [leaks_by(one_space), leaks_by(lambda text: repr(text.casefold().split()), tuple), leaks_word_by_word],
    "10-diagnose": [keep_with(), keep_all, keep_in_second_model, keep_with(in_float64, on=wide), keep_in_plain_python],
    "10-schedule": [schedule, schedule_numpy, schedule_torch, schedule_in_float32],
    "10-split-pairs": [
        groups_union_find,
        groups_by_flooding,
        groups_of_sets,
        groups_after(result=tuple),
        groups_after(result=lambda found: np.array(found, dtype=int)),
    ],
}
WRONG = {
    "10-split-pairs": [(groups_after(lambda pairs: [(one, one) for one, _ in pairs]), "the first sentences only")],
    "10-leaks": [(leaks_by(str), "as they are written")],
    "10-schedule": [(lambda i, n, w, peak: peak * (1 - i / n), "only falls")],
}
PROMISES = {
    "10-split-pairs": [
        ("may be empty", groups_no_empty_list),
        ("if a chain of such pairs leads from one to the other", groups_few_rounds),
        ("for each pair", groups_after(lambda pairs: list(dict.fromkeys(pairs)))),
        ("for each pair", groups_after(lambda pairs: [pair for pair in pairs if pair[0] != pair[1]])),
        ("in the order of `pairs`", groups_after(result=sorted)),
        ("in the order of `pairs`", groups_after(result=lambda found: found[::-1])),
        ("as they are written", groups_after(each(lambda text: " ".join(text.split())))),
        ("as they are written", groups_after(each(str.strip))),
        ("as they are written", groups_after(each(lambda text: text.rstrip(".")))),
        ("an empty sentence is a sentence like any other", groups_after(each(lambda text: text or object()))),
    ],
    "10-leaks": [
        ("either may be empty", leaks_longest_first),
        ("either may be empty", leaks_first_of_test),
        ("Return the list", leaks_by(one_space, set), "a set"),
        ("in the order of `test`", leaks_by(one_space, sorted)),
        ("in the order of `test`", leaks_by(one_space, lambda found: found[::-1])),
        ("as they are written there", leaks_by(one_space, lambda found: [text.strip() for text in found])),
        (
            "differ only in capitalisation",
            leaks_by(lambda text: re.sub("[A-Z]", lambda m: m[0].lower(), one_line(text))),
        ),
        ("differ only in capitalisation", leaks_by(lambda text: tuple(text.encode().lower().split()))),
        ("(spaces, tabs, line ends)", leaks_by(lambda text: re.sub(r"[ \t\n]+", " ", text).strip(" ").lower())),
        ("(spaces, tabs, line ends)", leaks_by(lambda text: re.sub(r"[ \t]+", " ", text.lower()).strip(" \t"))),
        ("(spaces, tabs, line ends)", leaks_by(lambda text: re.sub(r"[ \n]+", " ", text.lower()).strip())),
        ("(spaces, tabs, line ends)", leaks_by(lambda text: re.sub(r"[\t\n]", " ", text.lower()).strip())),
        ("between words and at the ends", leaks_by(lambda text: re.sub(r"\s+", " ", text.lower()))),
        (
            "differ only in capitalisation",
            leaks_uneven(lambda text: re.sub(r"\s+", " ", text[:1].lower() + text[1:]).strip()),
        ),
        ("(spaces, tabs, line ends)", leaks_uneven(lambda text: re.sub(r"[ \n]+", " ", text.lower()).strip())),
        ("(spaces, tabs, line ends)", leaks_uneven(lambda text: re.sub(r"[ \t]+", " ", text.lower()).strip())),
        ("between words and at the ends", leaks_uneven(lambda text: re.sub(r"\s+", " ", text.lower()))),
        ("between words and at the ends", leaks_uneven(lambda text: re.sub(r"\s+", " ", text.lower()).lstrip())),
        (
            "those texts of `test` that also occur in `train`",
            leaks_by(one_space, lambda found: [text for text in found if text.strip()]),
            "An empty text",
        ),
        ("punctuation", leaks_by(lambda text: one_space(re.sub(r"[^\w\s]", "", text)))),
        ("punctuation", leaks_by(lambda text: one_space(text.replace("'", "")))),
        ("punctuation", leaks_by(lambda text: one_space(text).rstrip(".!?")), "Punctuation counts"),
        ("punctuation", leaks_by(lambda text: one_space(text).strip(string.punctuation + " "))),
        ("punctuation", leaks_by(lambda text: one_space(text.replace("-", " ")))),
        ("punctuation", leaks_by(lambda text: one_space(text.strip("'")))),
        ("punctuation", leaks_by(lambda text: one_space(re.sub("[!?]", ".", text)))),
        ("accents", leaks_by(lambda text: no_accents(one_space(text)))),
        ("accents", leaks_by(lambda text: one_space(text).encode("ascii", "ignore"))),
        ("accents", leaks_by(lambda text: one_space(text).encode("ascii", "replace"))),
        ("the order of the words", leaks_by(lambda text: sorted(one_space(text).split()).__repr__())),
        ("an extra word", leaks_part, "A word more, or a word less"),
        ("an extra word", leaks_by(lambda text: one_space(re.sub(r"\bthe\b", "", text.lower())))),
        ("Anything else makes two texts different", leaks_by(lambda text: re.sub(r"\d+", "0", one_space(text)))),
        ("Anything else makes two texts different", leaks_by(lambda text: one_space(text)[:80])),
        ("Anything else makes two texts different", leaks_by(lambda text: re.sub(r"s\b", "", one_space(text)))),
        ("an extra word", leaks_by(lambda text: tuple(k for k, _ in itertools.groupby(one_space(text).split())))),
    ],
    "10-schedule": [
        ("rises in a straight line", lambda *args: schedule(*args, rise=lambda share: share**2)),
        ("rises in a straight line", lambda *args: schedule(*args, rise=half_wave)),
        (
            "rises in a straight line from 0 (at step 0)",
            lambda i, n, w, peak: schedule(i, n, w if w > 1 or i else 0, peak),
        ),
        ("rises in a straight line", lambda *args: schedule(*args, rise=int)),
        (
            "to `peak` (at step `warmup`)",
            lambda i, n, w, peak: peak * i / (w + 1) if i <= w else schedule(i, n, w, peak),
        ),
        ("falls in a straight line", lambda *args: schedule(*args, fall=half_wave)),
        ("falls in a straight line", lambda *args: round(schedule(*args), 7), "You round"),
        ("may be 0", lambda i, n, w, peak: peak * min(i / w, (n - i) / (n - w)) if i < n else 0.0),
    ],
    "10-diagnose": [
        ("in each of the `epochs` epochs", keep_with(stop=True)),
        ("in each of the `epochs` epochs", keep_with(stop=3)),
        ("in each of the `epochs` epochs", keep_with(stop=4)),
        ("in each of the `epochs` epochs", keep_with(stop=10)),
        ("in their order", keep_with(lambda m, o, b: one_epoch(m, o, b[::-1]))),
        ("one step of the optimizer", keep_with(joined)),
        ("the cross-entropy of each batch", keep_with(sums)),
        ("the cross-entropy of each batch", keep_with(probabilities)),
        ("After each epoch", keep_with(before=True)),
        ("as a dictionary like `model.state_dict()`", keep_with(result=lambda s, w: (s, w["weight"]))),
        ("as a dictionary like `model.state_dict()`", keep_with(result=lambda s, w: (s, {"weight": w["weight"]}))),
        ("the highest accuracy", keep_with(better=lambda new, old: new > old + 1e-3)),
        ("the highest accuracy", keep_with(better=lambda new, old: round(new, 2) > round(old, 2))),
        ("the accuracy on `validation`", keep_with(result=lambda s, w: ([round(score, 3) for score in s], w))),
        ("the accuracy on `validation`", keep_with(result=lambda s, w: ([100 * score for score in s], w))),
    ],
}
