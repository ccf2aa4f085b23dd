"""The diagrams of lesson 04: pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .canvas import Canvas, Diagram
from .look import shades

if TYPE_CHECKING:
    import torch

# the edge of the first token, the width of all tokens with the gaps after them, and one gap
LEFT, TOKENS_WIDTH, GAP = 13, 500, 6
POOLED_WIDTH = 56  # of a pooled vector
# the tops of the tokens and their vectors, the line of the first pooling, and from it to the next
TOKENS, VECTORS, POOLING, ROW = 8, 56, 124, 42


def three_poolings(tokens: Sequence[str], mask: Sequence[int], values: torch.Tensor) -> Diagram:
    """How CLS, mean and max pooling turn the vectors of a sentence's tokens into one vector.

    tokens: of one sentence, padding at the end included. mask: 1 for each token that counts, the
    first one among them, else 0.
    values: a few coordinates of each token's vector, (tokens, coordinates).
    """
    canvas = Canvas("04 three poolings", 250)
    rows = values.tolist()
    counted = [row for row, counts in zip(rows, mask) if counts]
    columns = list(zip(*counted))  # for each coordinate, its values in all tokens that count
    pooled = {
        "CLS pooling: the first vector": counted[0],
        "mean pooling: the mean over the real tokens": [
            sum(column) / len(counted) for column in columns
        ],
        "max pooling: the largest value of each coordinate": [max(column) for column in columns],
    }
    low, high = float(values.min()), float(values.max())
    wide = TOKENS_WIDTH / len(tokens) - GAP  # the width of a token
    for place, (token, counts, row) in enumerate(zip(tokens, mask, rows)):
        x = LEFT + place * (wide + GAP)
        middle = x + wide / 2
        # by default, a token is 28 units high, and a vector 28 wide
        canvas.tokens(x, TOKENS, [token], None if counts else ["padding"], width=wide)
        canvas.arrow((middle, TOKENS + 28), (middle, VECTORS - 2))
        canvas.vector(
            middle - 14,
            VECTORS,
            len(row),
            "vector" if counts else "padding",
            values=shades(row, low, high),
        )
    # the left edge of the pooled vectors, which end with the last token; the right edge of the last
    # real token
    pooled_left = LEFT + TOKENS_WIDTH - GAP - POOLED_WIDTH
    real_end = LEFT + len(counted) * (wide + GAP) - GAP
    for number, (name, row) in canvas.steps(enumerate(pooled.items())):
        y = POOLING + number * ROW
        # the line is thick below the vectors that are used
        stop = LEFT + wide if number == 0 else real_end
        canvas.arrow((LEFT, y), (stop, y), kind="sentence", tip=False, thick=True)
        canvas.arrow((stop, y), (pooled_left - 4, y), kind="sentence")
        canvas.vector(
            pooled_left,
            y - 9,
            len(row),
            "sentence",
            POOLED_WIDTH,
            18,
            values=shades(row, low, high),
            across=True,
        )
        canvas.label(LEFT, y + 18, name, kind="sentence")
    return canvas.finish(
        f"The {len(tokens)} tokens of a padded sentence, each with its vector. CLS pooling takes "
        "the first vector. Mean pooling takes the mean, and max pooling takes the largest value "
        f"of each coordinate, both over the {len(counted)} real tokens. Each pooling returns one "
        "vector."
    )
