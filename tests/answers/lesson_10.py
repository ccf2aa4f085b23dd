"""Answers to lesson 10; `__init__.py` says what the tables are."""

import copy
import itertools
import math
import operator
import re

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


# A right answer; `rise` and `fall` change the share of the peak, from 0 to 1, on either side of it.
def schedule(step, steps, warmup, peak, rise=lambda share: share, fall=lambda share: share):
    if step < warmup:
        return peak * rise(step / warmup)
    return peak * fall(max(0, steps - step) / (steps - warmup))


# An answer for which texts with the same `key` are the same; `result` changes what it returns.
def leaks_by(key, result=lambda leaked: leaked):
    def leaks(train, test):
        seen = {key(text) for text in train}
        return result([text for text in test if key(text) in seen])

    return leaks


# In small letters, with single spaces between words and none at the ends.
def one_space(text):
    return re.sub(r"\s+", " ", text.lower()).strip()


def one_epoch(model, optimizer, batches):
    for inputs, labels in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


def accuracy(model, validation):
    inputs, labels = validation
    with torch.no_grad():
        return (model(inputs).argmax(dim=-1) == labels).double().mean().item()


# A right answer. Each argument changes one thing:
#
# - `train(model, optimizer, batches)`: one epoch.
# - `result(scores, weights)`: what is returned for the accuracies and the best epoch's weights.
# - `measured_on(validation, batches)`: the (inputs, labels) on which the accuracy is measured.
def keep_with(
    train=one_epoch,
    result=lambda scores, weights: (scores, weights),
    measured_on=lambda validation, batches: validation,
    patience=None,  # stops when so many epochs in succession are below the best one
):
    def keep(make, batches, validation, epochs):
        model, optimizer = make()
        scores, weights = [], None
        for _ in range(epochs):
            train(model, optimizer, batches)
            scores.append(accuracy(model, measured_on(validation, batches)))
            if scores[-1] > max(scores[:-1], default=-1):  # any accuracy is above -1
                weights = copy.deepcopy(model.state_dict())
            if patience and max(scores[-patience:]) < max(scores):
                break
        return result(scores, weights)

    return keep


# Components are numbered from the first sentence on, as the pairs are. SciPy returns their number
# first, and then the component of each sentence.
def groups_by_scipy(pairs):
    numbers = {text: number for number, text in enumerate(dict.fromkeys(itertools.chain(*pairs)))}
    first = [numbers[text] for text, _ in pairs]
    second = [numbers[text] for _, text in pairs]
    links = coo_array((np.ones(len(pairs)), (first, second)), shape=(len(numbers), len(numbers)))
    return connected_components(links, directed=False)[1][first].tolist()


# An answer that changes the pairs before it groups them, or the numbers afterwards.
def groups_after(change=list, result=lambda groups: groups):
    return lambda pairs: result(groups_by_scipy(change(list(pairs))))


def clear_backward_step(model, optimizer, loss):
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


# An answer that calls `step(model, optimizer, loss)` for each batch, and returns the losses; it
# computes in `dtype`.
def train_by(step, dtype=torch.float32):
    def train(make, batches):
        model, optimizer = make()
        model.to(dtype)
        losses = []
        for inputs, labels in batches:
            loss = F.cross_entropy(model(inputs.to(dtype)), labels)
            losses.append(loss.item())
            step(model, optimizer, loss)
        return losses

    return train


RIGHT = {
    "10-leaks": [
        leaks_by(one_space),
        leaks_by(lambda text: tuple(text.lower().split())),
        leaks_by(lambda text: repr(text.casefold().split()), tuple),
    ],
    "10-diagnose": [
        keep_with(),
        keep_with(
            result=lambda scores, weights: [
                np.array(scores),
                {name: tensor.numpy() for name, tensor in weights.items()},
            ]
        ),
        # computes in float64
        keep_with(
            lambda model, optimizer, batches: one_epoch(
                model.double(), optimizer, [(inputs.double(), labels) for inputs, labels in batches]
            ),
            measured_on=lambda validation, _: (validation[0].double(), validation[1]),
        ),
    ],
    "10-schedule": [
        schedule,
        lambda *args: np.float64(schedule(*args)),
        lambda *args: torch.tensor(schedule(*args), dtype=torch.float32),
    ],
    "10-split-pairs": [
        groups_by_scipy,
        groups_after(result=tuple),
        groups_after(result=lambda groups: np.array(groups, dtype=int)),
    ],
}

COMPLETED = {
    "10-train": [
        # a tuple, since a lambda is one expression; so is the next
        train_by(
            lambda model, optimizer, loss: (model.zero_grad(), loss.backward(), optimizer.step())
        ),
        train_by(
            lambda model, optimizer, loss: (
                loss.backward(),
                optimizer.step(),
                optimizer.zero_grad(set_to_none=False),
            )
        ),
        # plain gradient descent, without the optimizer
        train_by(
            lambda model, optimizer, loss: [
                parameter.data.sub_(optimizer.param_groups[0]["lr"] * slope)
                for parameter, slope in zip(
                    model.parameters(), torch.autograd.grad(loss, [*model.parameters()])
                )
            ]
        ),
        train_by(clear_backward_step),
        lambda *args: torch.tensor(
            train_by(clear_backward_step, torch.float64)(*args), dtype=torch.float64
        ),
    ],
    "10-report": [
        lambda validation, test: test[max(validation.items(), key=operator.itemgetter(1))[0]],
        lambda validation, test: test[
            sorted(validation, key=lambda setting: -validation[setting])[0]
        ],
        lambda validation, test: test[
            {score: setting for setting, score in validation.items()}[max(validation.values())]
        ],
        lambda validation, test: test[[*validation][np.argmax([*validation.values()])]],
        lambda validation, test: next(
            test[setting]
            for setting in test
            if all(validation[setting] >= score for score in validation.values())
        ),
        lambda validation, test: torch.tensor([test[setting] for setting in validation])[
            torch.tensor([*validation.values()]).argmax()
        ],
        lambda validation, test: (
            pd.DataFrame({"dev": validation, "test": test}).sort_values("dev")["test"].iloc[-1]
        ),
    ],
    "10-last-token": [
        # the first 1 of the reversed mask
        lambda states, mask: states[
            range(len(states)), mask.shape[1] - 1 - mask.flip(1).argmax(dim=1)
        ],
        lambda states, mask: states.numpy()[
            np.arange(len(states)), np.count_nonzero(mask.numpy(), axis=1) - 1
        ],
        lambda states, mask: [
            vectors[sum(real) - 1] for vectors, real in zip(states.tolist(), mask.tolist())
        ],
        lambda states, mask: torch.stack(
            [vectors[real == 1][-1] for vectors, real in zip(states, mask)]
        ),
        # the sum up to here is first highest at the last 1; a sum of vectors weighted by 1 and 0
        lambda states, mask: torch.einsum(
            "bth,bt->bh", states, F.one_hot(mask.cumsum(dim=1).argmax(dim=1), mask.shape[1]).float()
        ),
        # where the mask is 1 and the next number is not
        lambda states, mask: states[mask > F.pad(mask[:, 1:], (0, 1))],
        # the highest place of a 1; `gather` needs it once for each number of the vector
        lambda states, mask: states.gather(
            1,
            (mask * torch.arange(mask.shape[1]))
            .amax(dim=1)[:, None, None]
            .expand(-1, 1, states.shape[2]),
        ).squeeze(1),
        lambda states, mask: states.double().take_along_dim(
            mask.sum(dim=1)[:, None, None] - 1, dim=1
        )[:, 0],
    ],
}

WRONG = {
    "10-split-pairs": [
        (groups_after(result=lambda groups: [group + 1 for group in groups]), "plus 1")
    ],
    "10-leaks": [(leaks_by(str), "as they are written")],
    "10-schedule": [(lambda step, steps, warmup, peak: peak * (1 - step / steps), "below 0")],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "10-split-pairs": [
        # leaves out pairs that come again
        ("for each pair", groups_after(lambda pairs: list(dict.fromkeys(pairs)))),
        (  # leaves out pairs of a sentence with itself
            "for each pair",
            groups_after(lambda pairs: [pair for pair in pairs if pair[0] != pair[1]]),
        ),
        # sorts the numbers
        ("in the order of `pairs`", groups_after(result=sorted)),
        ("in the order of `pairs`", groups_after(result=lambda groups: groups[::-1]), "reverse"),
        (  # a full stop at the end does not count
            "as they are written",
            groups_after(
                lambda pairs: [tuple(text.rstrip(".") for text in pair) for pair in pairs]
            ),
        ),
    ],
    "10-leaks": [
        # needs a first text in `train`
        ("either may be empty", lambda train, test: leaks_by(one_space)([train[0], *train], test)),
        ("Return the list", leaks_by(one_space, set), "a set"),
        ("in the order of `test`", leaks_by(one_space, sorted)),
        ("in the order of `test`", leaks_by(one_space, lambda leaked: leaked[::-1])),
        (  # returns them without the spaces around them
            "as they are written there",
            leaks_by(one_space, lambda leaked: [text.strip() for text in leaked]),
        ),
        (  # leaves capitals with accents as they are: `lower` of bytes knows only ASCII
            "differ only in capitalisation",
            leaks_by(lambda text: tuple(text.encode().lower().split())),
        ),
        (  # knows only three kinds of white space
            "(spaces, tabs, line ends)",
            leaks_by(lambda text: re.sub(r"[ \t\n]+", " ", text).strip(" ").lower()),
        ),
        (  # a tab inside a text counts
            "(spaces, tabs, line ends)",
            leaks_by(lambda text: re.sub(r"[ \n]+", " ", text.lower()).strip()),
        ),
        (  # a line end inside a text counts
            "(spaces, tabs, line ends)",
            leaks_by(lambda text: re.sub(r"[ \t]+", " ", text.lower()).strip()),
        ),
        (  # leaves out empty texts
            "those texts of `test` that also occur in `train`",
            leaks_by(one_space, lambda leaked: [text for text in leaked if text.strip()]),
        ),
        # without apostrophes
        ("punctuation", leaks_by(lambda text: one_space(text.replace("'", "")))),
        # without marks at the end
        ("punctuation", leaks_by(lambda text: one_space(text).rstrip(".!?"))),
        # hyphens are spaces
        ("punctuation", leaks_by(lambda text: one_space(text.replace("-", " ")))),
        # all marks at the end of a sentence are full stops
        ("punctuation", leaks_by(lambda text: one_space(re.sub("[!?]", ".", text)))),
        # all letters with accents are the same
        ("accents", leaks_by(lambda text: one_space(text).encode("ascii", "replace"))),
        ("the order of the words", leaks_by(lambda text: tuple(sorted(one_space(text).split())))),
        (  # the beginning of a training text counts, too
            "an extra word",
            lambda train, test: [
                text
                for text in test
                if any(one_space(other).startswith(one_space(text)) for other in train)
            ],
        ),
        # without "the"
        ("an extra word", leaks_by(lambda text: one_space(re.sub(r"\bthe\b", "", text.lower())))),
        (  # a word that is repeated counts once
            "an extra word",
            leaks_by(
                lambda text: tuple(word for word, _ in itertools.groupby(one_space(text).split()))
            ),
        ),
        (  # all numbers are the same
            "Anything else makes two texts different",
            leaks_by(lambda text: re.sub(r"\d+", "0", one_space(text))),
        ),
        # only the first 80 characters count
        ("Anything else makes two texts different", leaks_by(lambda text: one_space(text)[:80])),
        (  # without an s at the end of a word
            "Anything else makes two texts different",
            leaks_by(lambda text: re.sub(r"s\b", "", one_space(text))),
        ),
    ],
    "10-schedule": [
        # rises by the square root
        ("rises in a straight line", lambda *args: schedule(*args, rise=math.sqrt)),
        (  # takes `warmup` for a share of the steps, and returns 0 after the warm-up
            "to `peak` (at step `warmup`)",
            lambda step, steps, warmup, peak: (
                schedule(step, steps, warmup * steps, peak) if warmup * steps > step else 0.0
            ),
        ),
        (  # begins at the peak if the warm-up is one step
            "rises in a straight line from 0 (at step 0)",
            lambda step, steps, warmup, peak: schedule(
                step, steps, warmup if warmup > 1 or step else 0, peak
            ),
        ),
        (  # reaches the peak one step later
            "to `peak` (at step `warmup`)",
            lambda step, steps, warmup, peak: (
                peak * step / (warmup + 1)
                if step <= warmup
                else schedule(step, steps, warmup, peak)
            ),
        ),
        # rounds to seven decimals
        ("falls in a straight line", lambda *args: round(schedule(*args), 7)),
        (  # divides by a `warmup` of 0
            "may be 0",
            lambda step, steps, warmup, peak: (
                peak * min(step / warmup, (steps - step) / (steps - warmup))
                if step < steps
                else 0.0
            ),
        ),
    ],
    "10-diagnose": [
        # stops after 3 epochs below the best one
        ("in each of the `epochs` epochs", keep_with(patience=3)),
        # stops after 10 epochs below the best one
        ("in each of the `epochs` epochs", keep_with(patience=10)),
        (  # leaves out the last batch
            "go through all batches",
            keep_with(lambda model, optimizer, batches: one_epoch(model, optimizer, batches[:-1])),
        ),
        (  # goes through the batches twice
            "once, in their order",
            keep_with(lambda model, optimizer, batches: one_epoch(model, optimizer, batches * 2)),
        ),
        (  # takes the batches in the reverse order
            "in their order",
            keep_with(lambda model, optimizer, batches: one_epoch(model, optimizer, batches[::-1])),
        ),
        (  # takes one step for all batches together
            "one step of the optimizer",
            keep_with(
                lambda model, optimizer, batches: one_epoch(
                    model, optimizer, [[torch.cat(column) for column in zip(*batches, strict=True)]]
                )
            ),
        ),
        # returns no accuracies
        ("Return two things", keep_with(result=lambda scores, weights: weights)),
        (  # returns only the best accuracy
            "the list of these accuracies, one for each epoch",
            keep_with(result=lambda scores, weights: (max(scores), weights)),
        ),
        (  # returns one tensor, and no dictionary
            "as a dictionary like `model.state_dict()`",
            keep_with(result=lambda scores, weights: (scores, weights["weight"])),
        ),
        (  # leaves out the bias
            "as a dictionary like `model.state_dict()`",
            keep_with(result=lambda scores, weights: (scores, {"weight": weights["weight"]})),
        ),
        (  # measures it on the training examples
            "measure the accuracy on `validation`",
            keep_with(measured_on=lambda _, batches: map(torch.cat, zip(*batches))),
        ),
        (  # rounds it to three decimals
            "the accuracy on `validation`",
            keep_with(
                result=lambda scores, weights: ([round(score, 3) for score in scores], weights)
            ),
        ),
        (  # returns it in percent
            "the accuracy on `validation`",
            keep_with(result=lambda scores, weights: ([100 * score for score in scores], weights)),
        ),
    ],
}
