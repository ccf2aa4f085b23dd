"""The diagrams of lesson 04: pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .canvas import Canvas, Diagram
from .look import shades

if TYPE_CHECKING:
    import torch

GAP = 6  # between two tokens


def three_poolings(tokens: Sequence[str], mask: Sequence[int], values: torch.Tensor) -> Diagram:
    """How CLS, mean and max pooling turn the vectors of a sentence's tokens into one vector.

    tokens: of one sentence, padding included. mask: 1 for each token that counts, else 0.
    values: a few coordinates of each token's vector, (tokens, coordinates).
    """
    canvas = Canvas("04 three poolings", 250)
    rows = values.tolist()
    counted = [row for row, counts in zip(rows, mask) if counts]
    pooled = {
        "CLS pooling: the first vector": counted[0],
        "mean pooling: the mean over the real tokens": [
            sum(column) / len(counted) for column in zip(*counted)
        ],
        "max pooling: the largest value of each coordinate": [
            max(column) for column in zip(*counted)
        ],
    }
    low, high = float(values.min()), float(values.max())
    wide, left = 500 / len(tokens) - GAP, 13  # the width of a token, the edge of the first one
    for place, (token, counts, row) in enumerate(zip(tokens, mask, rows)):
        x = left + place * (wide + GAP)
        middle = x + wide / 2
        canvas.tokens(x, 8, [token], None if counts else "padding", width=wide)
        canvas.arrow((middle, 36), (middle, 54))
        kind = "vector" if counts else "padding"
        canvas.vector(middle - 14, 56, len(row), kind, values=shades(row, low, high))
    # the edge of the drawing, and that of the last real token
    right, end = left + 494, left + len(counted) * (wide + GAP) - GAP
    for number, (name, row) in canvas.steps(enumerate(pooled.items())):
        y = 124 + number * 42
        # the line is thick below the vectors that are used
        stop = left + wide if number == 0 else end
        canvas.arrow((left, y), (stop, y), kind="sentence", tip=False, thick=True)
        canvas.arrow((stop, y), (right - 60, y), kind="sentence")
        canvas.vector(
            right - 56, y - 9, len(row), "sentence", 56, 18, shades(row, low, high), across=True
        )
        canvas.label(left, y + 18, name, kind="sentence")
    return canvas.finish(
        f"The {len(tokens)} tokens of a padded sentence, each with its vector. CLS pooling takes "
        "the first vector. Mean pooling takes the mean, and max pooling takes the largest value "
        f"of each coordinate, both over the {len(counted)} real tokens. Each pooling returns one "
        "vector."
    )
