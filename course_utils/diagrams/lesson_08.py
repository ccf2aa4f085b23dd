"""The diagram of lesson 08: the same pairs in two orders."""

from collections.abc import Sequence

import numpy as np

from ..evaluation import ranks, spearman
from .canvas import SMALL, Canvas, Diagram

# the left edge of the names, the middles of two columns, and the left edges of the boxes
X = {"name": 4, "score": 291, "cosine": 339, "by score": 382, "by cosine": 484}
# the middles of the headings and of the first row, and from one row to the next
HEADING_Y, FIRST_Y, ROW = 18, 52, 27
BOX = (32, 22)  # the width and the height of a rank's box


def _heights(numbers: np.ndarray) -> dict[int, float]:
    """{pair: the y of its row}, from the lowest of these numbers; equal ones in the given order."""
    return {
        pair: FIRST_Y + ROW * place for place, pair in enumerate(np.argsort(numbers, kind="stable"))
    }


def two_orders(names: Sequence[str], scores: np.ndarray, cosines: np.ndarray) -> Diagram:
    """A few pairs in the order of their scores, joined with their places by cosine.

    names: a short text for each pair. scores, cosines: numbers (pairs,). The lowest has rank 1, and
    equal ones share the mean of their ranks.
    """
    by_score, by_cosine = ranks(scores), ranks(cosines)
    worst = int(np.argmax(np.abs(by_score - by_cosine)))  # the pair whose ranks differ most
    below_y = FIRST_Y + ROW * len(names)
    canvas = Canvas("08 two orders", below_y + 14)
    canvas.label(X["name"], HEADING_Y, "first sentence of the pair", quiet=True)
    # {x of the middle: heading}; 16 is half a box, but with it the last heading would leave the
    # drawing
    columns = {
        X["score"]: "score",
        X["cosine"]: "cosine",
        X["by score"] + 16: "rank by\nscore",
        X["by cosine"] + 6: "rank by\ncosine",
    }
    for x, heading in columns.items():
        canvas.text(x, HEADING_Y, heading, SMALL, quiet=True)

    by_score_y, by_cosine_y = _heights(scores), _heights(cosines)
    for pair, y in by_score_y.items():
        canvas.label(X["name"], y, names[pair])
        canvas.text(X["score"], y, f"{scores[pair]:.1f}", SMALL)
    with canvas.step():
        for pair, y in by_score_y.items():
            canvas.box(X["by score"], y - BOX[1] / 2, *BOX, f"{by_score[pair]:g}", "token", SMALL)
    with canvas.step():
        for pair, y in by_cosine_y.items():
            canvas.box(
                X["by cosine"], y - BOX[1] / 2, *BOX, f"{by_cosine[pair]:g}", "sentence", SMALL
            )
            canvas.text(X["cosine"], by_score_y[pair], f"{cosines[pair]:.2f}", SMALL)
    with canvas.step():
        for pair, y in by_cosine_y.items():
            moves_most = bool(pair == worst)  # not a number of NumPy, which the canvas cannot use
            canvas.arrow(
                (X["by score"] + BOX[0], by_score_y[pair]),
                (X["by cosine"], y),
                kind="loss" if moves_most else "padding",
                thick=moves_most,
                tip=False,
            )
        # a colon follows the name, so its own full stop is cut; 516 is the right edge of the boxes
        moved = f"{names[worst].rstrip('.')}: from {by_score[worst]:g} to {by_cosine[worst]:g}"
        canvas.text(516, below_y + 2, moved, SMALL, "end", bold=True, kind="loss")
    both = ", ".join(
        f"{names[pair]} {by_score[pair]:g} and {by_cosine[pair]:g}" for pair in by_score_y
    )
    return canvas.finish(
        f"{len(names)} pairs with two ranks each, by the person's score and by the cosine: {both}. "
        "Equal scores share a rank. A line joins the two places of a pair; lines that cross are "
        "pairs that the two rankings order differently. The two ranks differ most for "
        f"{names[worst].rstrip('.')}. Spearman's correlation of these is "
        f"{spearman(scores, cosines):.2f}."
    )
