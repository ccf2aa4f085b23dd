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
    return make, [(normal(rng, size, width), batch_labels) for batch_labels in labels]


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


# What an answer takes, drawn until the accuracies (`scores`) and losses after the epochs are as
# wanted.
#
# `wanted` takes both lists. No validation input is so near the edge between two classes, with logits
# less than 0.02 apart, that another order of additions may tip a prediction.
def _training(rng, wanted, epochs, classes=2, number=1, size=9):
    while True:
        width, rate = rng.randint(3, 5), rng.choice([2.0, 3.0])
        make, batches = small_training(rng, width, classes, 4, number, rate)
        inputs, labels = normal(rng, size, width), rng.choices(range(classes), k=size)
        validation = inputs, torch.tensor(labels)
        layers, _ = _LAYERS(make, batches, validation, epochs)
        logits = _numbers(validation)[0] @ np.swapaxes(layers, 1, 2)
        *_, second, first = np.moveaxis(np.sort(logits), -1, 0)
        scores = [_accuracy(layer, _numbers(validation)) for layer in layers]
        losses = [_loss(layer, _numbers(validation)) for layer in layers]
        if (first - second > 0.02).all() and wanted(scores, losses):
            return make, batches, validation, epochs


def _best_cases(rng):
    for label, wanted, epochs, more in (
        ("One epoch, one batch", lambda scores, _: True, 1, {}),
        (
            "The best epoch is in the middle, and a smaller rise comes later",
            lambda scores, _: max(scores[0], scores[2]) < scores[3] < scores[1],
            4,
            {"number": 2},
        ),
        (
            "Two epochs are equally good",
            lambda scores, _: (
                scores.count(max(scores)) == 2 and scores[-1] < max(scores) > scores[0]
            ),
            4,
            {},
        ),
        ("The first epoch is the best", lambda scores, _: max(scores[1:]) < scores[0], 12, {}),
        ("The last epoch is the best", lambda scores, _: scores[0] < scores[1], 2, {"number": 2}),
        (
            "Three classes, and the lowest loss is that of another epoch than the best",
            lambda scores, losses: (
                max(scores[0], scores[2]) < scores[1] and min(losses) < losses[1] - 0.001
            ),
            3,
            {"classes": 3, "number": 2},
        ),
        (
            "No epoch gets anything right",
            lambda scores, _: not any(scores),
            3,
            {"classes": 4, "size": 4},
        ),
    ):
        yield Case(label, *_training(rng, wanted, epochs, **more))


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
