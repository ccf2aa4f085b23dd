"""The diagram of lesson 08: the same pairs in two orders."""

from collections.abc import Sequence

import numpy as np

from ..evaluation import ranks, spearman
from .canvas import SMALL, Canvas, Diagram


def two_orders(names: Sequence[str], scores: np.ndarray, cosines: np.ndarray) -> Diagram:
    """A few pairs in the order of their scores, joined with their places by cosine.

    names: a short text for each pair. scores, cosines: numbers (pairs,). Equal ones share the mean
    of their ranks.
    """
    row, high = 27, 22  # from one row to the next, and the height of a box
    score_x, cosine_x = 291, 339  # the middles of two columns
    left, right = 382, 484  # the left edges of the boxes
    by_score, by_cosine = ranks(scores), ranks(cosines)
    worst = int(np.argmax(np.abs(by_score - by_cosine)))
    canvas = Canvas("08 two orders", 66 + row * len(names))
    canvas.label(4, 18, "first sentence of the pair", quiet=True)
    columns = {
        score_x: "score",
        cosine_x: "cosine",
        left + 16: "rank by\nscore",
        right + 6: "rank by\ncosine",
    }
    for x, heading in columns.items():
        canvas.text(x, 18, heading, SMALL, quiet=True)

    # {pair: height of its row} in both orders
    score_order = np.argsort(scores, kind="stable")
    starts = {pair: 52 + row * place for place, pair in enumerate(score_order)}
    ends = {pair: 52 + row * place for place, pair in enumerate(np.argsort(cosines, kind="stable"))}
    for pair, y in starts.items():
        canvas.label(4, y, names[pair])
        canvas.text(score_x, y, f"{scores[pair]:.1f}", SMALL)
    with canvas.step():
        for pair, y in starts.items():
            canvas.box(left, y - high / 2, 32, high, f"{by_score[pair]:g}", "token", size=SMALL)
    with canvas.step():
        for pair, y in ends.items():
            canvas.box(
                right, y - high / 2, 32, high, f"{by_cosine[pair]:g}", "sentence", size=SMALL
            )
            canvas.text(cosine_x, starts[pair], f"{cosines[pair]:.2f}", SMALL)
    with canvas.step():
        for pair, y in ends.items():
            moves_most = bool(pair == worst)
            kind = "loss" if moves_most else "padding"
            start = (left + 32, starts[pair])
            canvas.arrow(start, (right, y), kind=kind, thick=moves_most, tip=False)
        moved = f"{names[worst].rstrip('.')}: from {by_score[worst]:g} to {by_cosine[worst]:g}"
        canvas.text(516, 54 + row * len(names), moved, SMALL, "end", bold=True, kind="loss")
    both = ", ".join(
        f"{names[pair]} {by_score[pair]:g} and {by_cosine[pair]:g}" for pair in score_order
    )
    return canvas.finish(
        f"{len(names)} pairs with two ranks each, by the person's score and by the cosine: {both}. "
        "Equal scores share a rank. A line joins the two places of a pair; lines that cross are "
        "pairs that the two rankings order differently. The two ranks differ most for "
        f"{names[worst].rstrip('.')}. Spearman's correlation of these is {spearman(scores, cosines):.2f}."
    )
