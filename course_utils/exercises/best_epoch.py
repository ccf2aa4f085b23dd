"""The exercise of lesson 10 that trains, and keeps the weights of the best epoch.

An answer trains with torch; the reference computes the same with NumPy, which takes a tenth of the
time.
"""

import numpy as np
import torch

from .._support.recipes import linear_maker
from .model import Case, exercise, normal
from .otherwise import Otherwise


def small_training(rng, width, classes, size, number, rate):
    """A maker of a linear layer, and batches."""
    make = linear_maker(normal(rng, classes, width), rate)
    labels = [torch.tensor([rng.randrange(classes) for _ in range(size)]) for _ in range(number)]
    return make, [(normal(rng, size, width), some) for some in labels]


def _softmax(logits):
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


# Inputs with a 1 behind each, by which the bias is multiplied, and labels.
def _numbers(data):
    inputs, labels = data
    return np.column_stack([inputs, np.ones(len(inputs))]), np.asarray(labels)


# The gradient of the cross-entropy.
#
# twice: of the shares in place of the logits, so that there are two softmaxes.
def _gradient(layer, batch, twice=False):
    inputs, labels = batch
    right = np.eye(len(layer))[labels]
    shares = _softmax(inputs @ layer.T)
    error = shares - right
    if twice:
        error = _softmax(shares) - right
        error = shares * (error - (error * shares).sum(axis=1, keepdims=True))
    return error.T @ inputs / len(inputs)


def _accuracy(layer, data):
    inputs, labels = data
    return float(((inputs @ layer.T).argmax(axis=1) == labels).mean())


def _loss(layer, data):
    inputs, labels = data
    return -np.log(_softmax(inputs @ layer.T)[np.arange(len(labels)), labels]).mean()


# Validation data on which the layer after the epoch `best` is always right.
#
# With a shift of the labels, it never is. copies: how often the data hold what all layers get
# right. No input is near the edge between two classes, where another order of additions may tip a
# prediction. Returns the accuracies and the losses of the layers, too.
def _validation(rng, layers, best, size, shift, copies):
    inputs = normal(rng, size, layers[0].shape[1] - 1)
    logits = _numbers((inputs, []))[0] @ np.swapaxes(layers, 1, 2)
    *_, second, first = np.moveaxis(np.sort(logits), -1, 0)
    is_certain = (first - second > 0.02).all(axis=0)
    predicted = logits.argmax(axis=-1)
    is_agreed = (predicted == predicted[0]).all(axis=0)
    times = is_certain * np.where(is_agreed, copies, 1)
    labels = (predicted[best] + shift) % len(layers[0])
    right = np.average(predicted == labels, axis=1, weights=times).tolist()
    of_labels = _softmax(logits)[:, np.arange(size), labels]
    losses = np.average(-np.log(of_labels), axis=1, weights=times)
    repeated = inputs.repeat_interleave(torch.tensor(times), dim=0)
    return (repeated, torch.tensor(labels.repeat(times))), right, losses


# What `keep_best` takes, drawn until the accuracies and losses after the epochs are as wanted.
def _training(rng, wanted, best, epochs, classes=2, number=1, size=8, shift=0, copies=1):
    while True:
        make, batches = small_training(
            rng, rng.randint(3, 5), classes, 4, number, rng.choice([2.0, 3.0])
        )
        layers, _ = _LAYERS(make, batches, batches[0], epochs)
        validation, right, losses = _validation(rng, layers, best, size, shift, copies)
        if wanted(right, losses):
            return make, batches, validation, epochs


def _best_cases(rng):
    cases = {
        "One epoch, one batch": _training(rng, lambda right, _: True, best=0, epochs=1),
        "The best epoch is in the middle, and a smaller rise comes later": _training(
            rng,
            lambda right, _: right[2] < right[3] < 1 > right[0],
            best=1,
            epochs=4,
            number=2,
            size=16,
        ),
        "Two epochs are equally good": _training(
            rng, lambda right, _: right.count(1) == 2 and right[3] < 1, best=1, epochs=4
        ),
        "The first epoch is the best": _training(
            rng, lambda right, _: max(right[1:]) < 1, best=0, epochs=12
        ),
        "The last epoch is the best, by a single right answer": _training(
            rng, lambda right, _: 0.999 < right[0] < 1, best=1, epochs=2, number=2, copies=300
        ),
        "Three classes, and the lowest loss is that of another epoch than the best": _training(
            rng,
            lambda right, losses: max(right[0], right[2]) < 1 and min(losses) < losses[1] - 0.001,
            best=1,
            epochs=3,
            classes=3,
            number=2,
            size=16,
        ),
        "No epoch gets anything right": _training(
            rng, lambda right, _: not any(right), best=0, epochs=3, classes=4, shift=1
        ),
    }
    return [Case(label, *drawn) for label, drawn in cases.items()]


def _best(make, batches, validation, epochs):
    _, weight, rate = make.recipe
    layer = np.column_stack([weight, np.zeros(len(weight))])
    validation, *batches = map(_numbers, [validation, *batches])
    scores = []
    gradient = 0
    best, weights = -1, None
    for _ in range(epochs):
        for batch in batches:
            gradient = 0
            gradient = gradient + _gradient(layer, batch)
            layer = layer - rate * gradient
        score = _accuracy(layer, validation)
        scores.append(score)
        if score > best:
            best = score
            weights = {"weight": layer[:, :-1], "bias": layer[:, -1]}
    return scores, weights


# in place of the accuracies
_LAYERS = Otherwise(_best, (("scores.append(score)", "scores.append(layer)"),))
_MEASURED = "        score = _accuracy(layer, validation)\n"

DIAGNOSE = exercise("10-diagnose", _best_cases, _best, points=3)(
    last_weights={
        "return scores": 'weights = {"weight": layer[:, :-1], "bias": layer[:, -1]}\n    return scores'
    },
    last_of_ties={"score > best": "score >= best"},
    compared_with_previous={
        "            best = score\n": "",
        "layer[:, -1]}": "layer[:, -1]}\n        best = score",
    },
    lowest_loss={
        "-1, None": "-np.inf, None",
        "scores.append(score)": "scores.append(score)\n        score = -_loss(layer, validation)",
    },
    accuracy_before={_MEASURED: "", "        for batch": f"{_MEASURED}        for batch"},
    nothing_right=[{"-1, None": "0, None"}, {"-1, None": "0, {}"}],
    gradients_add_up=[
        {"            gradient = 0\n": ""},
        {
            "            gradient = 0\n": "",
            "        for batch": "        gradient = 0\n        for batch",
        },
    ],
    fresh_each_epoch={
        "range(epochs):": "range(epochs):\n        layer = np.column_stack([weight, np.zeros(len(weight))])"
    },
    stops_early=[
        {"if score > best": f"if score {worse}:\n            break\n        if score > best"}
        for worse in ("<= best", "< best")
    ],
    softmax_twice={"_gradient(layer, batch)": "_gradient(layer, batch, twice=True)"},
)
