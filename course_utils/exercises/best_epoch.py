"""The exercise of lesson 10 that trains, and keeps the weights of the best epoch.

An answer trains with torch; the reference computes the same with NumPy, which takes a tenth of the
time.
"""

import numpy as np
import torch

from .._support.recipes import linear_maker
from .model import Case, exercise, normal
from .otherwise import Otherwise

# how far the logits of two classes are apart, so that another order of additions tips no prediction
LEAST_LEAD = 0.02


def small_training(rng, width, classes, batch_size, batch_count, rate):
    """A maker of a linear layer and its optimiser, and batches of inputs and labels."""
    make = linear_maker(normal(rng, classes, width), rate)
    labels = [
        torch.tensor([rng.randrange(classes) for _ in range(batch_size)])
        for _ in range(batch_count)
    ]
    return make, [(normal(rng, batch_size, width), batch_labels) for batch_labels in labels]


def _softmax(logits):
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


# The inputs, each with a 1 behind it that a layer's bias is multiplied by, and the labels, as arrays
# of NumPy.
def _with_ones(data):
    inputs, labels = data
    return np.column_stack([inputs, np.ones(len(inputs))]), np.asarray(labels)


# The gradient of the cross-entropy with respect to the layer.
#
# twice: the cross-entropy is given the shares in place of the logits, so softmax is taken twice.
def _gradient(layer, batch, twice=False):
    inputs, labels = batch
    targets = np.eye(len(layer))[labels]
    shares = _softmax(inputs @ layer.T)
    error = shares - targets
    if twice:
        error = _softmax(shares) - targets
        # back through the first softmax, by the chain rule
        error = shares * (error - (error * shares).sum(axis=1, keepdims=True))
    return error.T @ inputs / len(inputs)


def _accuracy(layer, data):
    inputs, labels = data
    return float(((inputs @ layer.T).argmax(axis=1) == labels).mean())


def _loss(layer, data):
    inputs, labels = data
    return -np.log(_softmax(inputs @ layer.T)[np.arange(len(labels)), labels]).mean()


def _best(make, batches, validation, epochs):
    _, weight, rate = make.recipe  # what `linear_maker` made it of
    layer = np.column_stack([weight, np.zeros(len(weight))])
    validation, *batches = map(_with_ones, [validation, *batches])
    scores = []
    gradient = 0  # set here too, for the mistake that lets gradients add up
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


# as `_best`, but with the layer after each epoch in place of its accuracy
_LAYERS_AND_WEIGHTS = Otherwise(_best, (("scores.append(score)", "scores.append(layer)"),))


# The arguments of an answer. They are drawn again until no prediction on the validation data is
# near to another class, and `wanted` accepts the accuracies (`scores`) and losses after the epochs.
#
# wanted: takes both lists, and returns whether they will do.
def _training(rng, wanted, epochs, classes=2, batch_count=1, validation_size=9):
    while True:
        # at such rates, accuracy goes up and down
        width, rate = rng.randint(3, 5), rng.choice([2.0, 3.0])
        make, batches = small_training(
            rng, width, classes, batch_size=4, batch_count=batch_count, rate=rate
        )
        validation = (
            normal(rng, validation_size, width),
            torch.tensor(rng.choices(range(classes), k=validation_size)),
        )
        layers, _ = _LAYERS_AND_WEIGHTS(make, batches, validation, epochs)
        validation_arrays = _with_ones(validation)
        # (epochs, rows, classes), the highest logit last
        logits = np.sort(validation_arrays[0] @ np.swapaxes(layers, 1, 2))
        leads = logits[..., -1] - logits[..., -2]
        scores = [_accuracy(layer, validation_arrays) for layer in layers]
        losses = [_loss(layer, validation_arrays) for layer in layers]
        if (leads > LEAST_LEAD).all() and wanted(scores, losses):
            return make, batches, validation, epochs


def _best_cases(rng):
    return [
        Case("One epoch, one batch", *_training(rng, lambda scores, losses: True, epochs=1)),
        Case(
            "The best epoch is in the middle, and a smaller rise comes later",
            *_training(
                rng,
                lambda scores, losses: max(scores[0], scores[2]) < scores[3] < scores[1],
                epochs=4,
                batch_count=2,
            ),
        ),
        Case(
            "Two epochs are equally good",
            *_training(
                rng,
                lambda scores, losses: (
                    scores.count(max(scores)) == 2 and max(scores[0], scores[-1]) < max(scores)
                ),
                epochs=4,
            ),
        ),
        Case(
            "The first epoch is the best",
            *_training(rng, lambda scores, losses: max(scores[1:]) < scores[0], epochs=12),
        ),
        Case(
            "The last epoch is the best",
            *_training(rng, lambda scores, losses: scores[0] < scores[1], epochs=2, batch_count=2),
        ),
        Case(
            "Three classes, and the lowest loss is that of another epoch than the best",
            *_training(
                rng,
                lambda scores, losses: (
                    max(scores[0], scores[2]) < scores[1] and min(losses) < losses[1] - 0.001
                ),
                epochs=3,
                classes=3,
                batch_count=2,
            ),
        ),
        Case(
            "No epoch gets anything right",
            *_training(
                rng, lambda scores, losses: not any(scores), epochs=3, classes=4, validation_size=4
            ),
        ),
    ]


# the line that measures the accuracy: a mistake has it before the batches
_MEASURED = "        score = _accuracy(layer, validation)\n"

DIAGNOSE = exercise("10-diagnose", _best_cases, _best, points=3)(
    last_weights={
        "return scores": 'weights = {"weight": layer[:, :-1], "bias": layer[:, -1]}\n    return scores'
    },
    last_of_ties={"score > best": "score >= best"},
    # `best` is set after each epoch, and not only after a better one
    compared_with_previous={
        "            best = score\n": "",
        "layer[:, -1]}": "layer[:, -1]}\n        best = score",
    },
    # `score` is minus the loss once the accuracy is stored
    lowest_loss={
        "-1, None": "-np.inf, None",
        "scores.append(score)": "scores.append(score)\n        score = -_loss(layer, validation)",
    },
    accuracy_before={_MEASURED: "", "        for batch": f"{_MEASURED}        for batch"},
    nothing_right=[{"-1, None": "0, None"}, {"-1, None": "0, {}"}],
    # never set to 0 again, or only before each epoch
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
