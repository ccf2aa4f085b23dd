"""The exercise of lesson 10 that trains, and keeps the weights of the best epoch.

An answer trains with torch; the reference computes the same with NumPy, which takes a tenth of the
time.
"""

from collections import namedtuple

import numpy as np
import torch

from .._support.recipes import linear_maker
from .model import Case, exercise, normal

# How far the highest logit lies above the next one, at least. An answer may add in another order,
# so its logits are rounded otherwise; with this lead its predictions are still the same.
LEAST_LEAD = 0.02
# How far the lowest loss lies below that of the epoch with the highest accuracy, at least, so that
# rounding does not decide which loss is the lowest.
LEAST_LOSS_GAP = 0.001

# the layer at the start and at the end of an epoch
_Epoch = namedtuple("_Epoch", "before after")


def small_training(rng, width, classes, batch_size, batch_count, rate):
    """A maker of a linear layer and its optimiser, and batches of inputs and labels.

    width: numbers in an input. rate: the learning rate. The maker is that of `linear_maker`. Each
    batch is (inputs (batch_size, width) of float32, labels (batch_size,) of int64).
    """
    make = linear_maker(normal(rng, classes, width), rate)
    labels = [
        torch.tensor([rng.randrange(classes) for _ in range(batch_size)])
        for _ in range(batch_count)
    ]
    return make, [(normal(rng, batch_size, width), batch_labels) for batch_labels in labels]


def _softmax(logits):
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _as_arrays(data):
    """Inputs (n, width + 1) and labels (n,) as NumPy's arrays.

    Each input ends with a 1, which the bias multiplies.
    """
    inputs, labels = data
    return np.column_stack([inputs, np.ones(len(inputs))]), np.asarray(labels)


def _gradient(layer, batch, twice):
    """The gradient of the cross-entropy with respect to the layer, of the layer's shape.

    layer: (classes, width + 1); its last column is the bias. batch: as from `_as_arrays`.
    twice: whether softmax is taken twice, which is the mistake of giving probabilities to
    cross-entropy: it takes logits.
    """
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


def _trained(make, batches, epochs, clear_each="batch", fresh_each_epoch=False, twice=False):
    """Train a layer, and yield an `_Epoch` after each epoch.

    The defaults are right, and other values are mistakes. clear_each: before what gradients are set
    to 0, each "batch" or each "epoch", or "never" again. fresh_each_epoch: whether each epoch
    begins with the first weights. twice: as in `_gradient`.
    """
    _, weight, rate = make.recipe  # what `linear_maker` made it of
    layer = fresh = np.column_stack([weight, np.zeros(len(weight))])
    batches = [_as_arrays(batch) for batch in batches]
    gradient = 0
    for _ in range(epochs):
        before = layer = fresh if fresh_each_epoch else layer
        for place, batch in enumerate(batches):
            if clear_each == "batch" or (clear_each == "epoch" and place == 0):
                gradient = 0
            gradient = gradient + _gradient(layer, batch, twice)
            layer = layer - rate * gradient
        yield _Epoch(before, layer)


# The reference: the accuracy after each epoch, and the weights after the best one. Mistakes replace
# parts of its text; for them, `score` and `best` have lines of their own, and -1, which is below
# any accuracy, stands beside the other first values.
def _best(make, batches, validation, epochs):
    validation = _as_arrays(validation)
    scores, best, weights = [], -1, None
    # the last three are the defaults, written out for the mistakes that replace them
    for epoch in _trained(
        make, batches, epochs, clear_each="batch", fresh_each_epoch=False, twice=False
    ):
        scores.append(_accuracy(epoch.after, validation))
        score = scores[-1]
        if score > best:
            weights = _weights(epoch.after)
        best = max(best, score)
    return scores, weights


def _weights(layer):
    return {"weight": layer[:, :-1], "bias": layer[:, -1]}


def _training(rng, wanted, epochs, classes=2, batch_count=1, validation_size=9):
    """The arguments of an answer, drawn until predictions are clear and `wanted` is true.

    wanted: takes the accuracies after the epochs, one argument for each, and the list `losses`;
    returns whether they will do.
    """
    while True:
        make, batches, validation = _drawn(rng, classes, batch_count, validation_size)
        layers = [epoch.after for epoch in _trained(make, batches, epochs)]
        inputs, labels = _as_arrays(validation)
        scores = [_accuracy(layer, (inputs, labels)) for layer in layers]
        losses = [_loss(layer, (inputs, labels)) for layer in layers]
        logits = inputs @ np.swapaxes(layers, 1, 2)  # (epochs, rows, classes)
        if _is_clear(logits) and wanted(*scores, losses=losses):
            return make, batches, validation, epochs


# Arguments of an answer without the number of epochs, drawn once.
def _drawn(rng, classes, batch_count, validation_size):
    # at such rates, accuracy goes up and down
    width, rate = rng.randint(3, 5), rng.choice([2.0, 3.0])
    make, batches = small_training(
        rng, width, classes, batch_size=4, batch_count=batch_count, rate=rate
    )
    validation = (
        normal(rng, validation_size, width),
        torch.tensor(rng.choices(range(classes), k=validation_size)),
    )
    return make, batches, validation


def _is_clear(logits):
    """Whether the highest logit of each row lies above the next one by more than LEAST_LEAD."""
    return (np.diff(np.sort(logits))[..., -1] > LEAST_LEAD).all()


def _best_cases(rng):
    return [
        Case("One epoch, one batch", *_training(rng, lambda score, losses: True, epochs=1)),
        Case(
            "The best epoch is in the middle, and a smaller rise comes later",
            *_training(
                rng,
                lambda first, second, third, fourth, losses: max(first, third) < fourth < second,
                epochs=4,
                batch_count=2,
            ),
        ),
        Case(
            "Two epochs are equally good",
            *_training(
                rng,
                lambda first, second, third, fourth, losses: max(first, fourth) < second == third,
                epochs=4,
            ),
        ),
        # with 12 epochs, an answer that stops early does so before the last one
        Case(
            "The first epoch is the best",
            *_training(rng, lambda first, *others, losses: max(others) < first, epochs=12),
        ),
        Case(
            "The last epoch is the best",
            *_training(rng, lambda first, last, losses: first < last, epochs=2, batch_count=2),
        ),
        Case(
            "Three classes, and the lowest loss is that of another epoch than the best",
            *_training(
                rng,
                lambda first, second, third, losses: (
                    max(first, third) < second and min(losses) < losses[1] - LEAST_LOSS_GAP
                ),
                epochs=3,
                classes=3,
                batch_count=2,
            ),
        ),
        Case(
            "No epoch gets anything right",
            *_training(
                rng, lambda *scores, losses: not any(scores), epochs=3, classes=4, validation_size=4
            ),
        ),
    ]


DIAGNOSE = exercise("10-diagnose", _best_cases, _best, points=3)(
    last_weights={"return scores, weights": "return scores, _weights(epoch.after)"},
    last_of_ties={"score > best": "score >= best"},
    # `best` becomes the last score, and not the highest so far
    compared_with_previous={"max(best, score)": "score"},
    # the epoch with the highest minus loss is kept
    lowest_loss={
        "scores, best, weights = [], -1, None": "scores, best, weights = [], -np.inf, None",
        "score = scores[-1]": "score = -_loss(epoch.after, validation)",
    },
    accuracy_before={"_accuracy(epoch.after, ": "_accuracy(epoch.before, "},
    # a score of 0 is not above the first `best`
    nothing_right=[
        {"scores, best, weights = [], -1, None": f"scores, best, weights = [], 0, {nothing}"}
        for nothing in ("None", "{}")
    ],
    gradients_add_up=[
        {'clear_each="batch"': f'clear_each="{clear_each}"'} for clear_each in ("never", "epoch")
    ],
    fresh_each_epoch={"fresh_each_epoch=False": "fresh_each_epoch=True"},
    stops_early=[
        {"if score > best": f"if score {no_better}: break\n        if score > best"}
        for no_better in ("<= best", "< best")
    ],
    softmax_twice={"twice=False": "twice=True"},
)
