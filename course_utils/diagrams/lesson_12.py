"""The diagram of lesson 12: the gain of a list."""

from collections.abc import Sequence
from math import log2

from .canvas import Diagram
from .kinds import Cell, table


def gain_of_a_list(found: Sequence[int], graded: Sequence[int]) -> Diagram:
    """What each place of a list gains, beside the best possible list.

    found: the grades of the results, from the first place on; 0 for a text that was not judged or
    is of no use. graded: the grades of all judged texts, in any order; one of them must be above 0.
    """
    discounts = [log2(1 + rank) for rank in range(1, len(found) + 1)]
    best = sorted(graded, reverse=True)[: len(found)]
    rows: list[list[Cell]] = [
        [("rank", "bare"), *[(rank, "bare") for rank in range(1, len(found) + 1)]],
        [("log2(1 + rank)", "bare"), *[(f"{discount:.2f}", "bare") for discount in discounts]],
    ]
    sums = []
    # name, grades, kind, and with which key press the list appears; its gains come one press later
    lists = (("grades found", found, "token", 0), ("best possible", best, "sentence", 2))
    for name, grades, kind, press in lists:
        gains = [grade / discount for grade, discount in zip(grades, discounts)]
        missing = [None] * (len(found) - len(grades))
        boxes = [(grade, f"{kind} {press}") for grade in grades]
        below = [(f"{gain:.2f}", f"bare {press + 1}") for gain in gains]
        total = (f"sum {sum(gains):.2f}", f"bare thick {press + 1}")
        rows.append([(name, f"bare thick {press}"), *boxes])
        rows.append([("gain", f"bare {press + 1}"), *below, *missing, total])
        sums.append(sum(gains))
    own, most = sums
    return table(
        rows,
        "What each place of a list gains, and the best possible list.",
        f"nDCG = {own:.2f} / {most:.2f} = {own / most:.2f}",
    )
