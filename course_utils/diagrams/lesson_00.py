"""The diagram of lesson 00: vectors at the angle of their cosine."""

import math
from collections.abc import Mapping

from .canvas import MIDDLE, SMALL, Canvas, Diagram

ARROW = 112  # the length of a vector of length 1


def angles(pairs: Mapping[tuple[str, str], float], conclusion: str = "") -> Diagram:
    """Pairs of vectors, each drawn as two arrows at the angle that corresponds to their cosine.

    pairs: {(name, name): cosine}. conclusion: a line below the arrows.
    """
    canvas = Canvas("00 angles", 238 if conclusion else 214)
    base = 160
    told = []
    for at, ((one, other), cosine) in enumerate(pairs.items()):
        angle = math.acos(cosine)
        x = canvas.width / len(pairs) * at + 22

        def place(turn, distance, x=x):
            return x + distance * math.cos(turn), base - distance * math.sin(turn)

        for turn in (0, angle):
            canvas.arrow((x, base), place(turn, ARROW), kind="sentence", thick=True)
        canvas.path(*[place(angle * part / 8, 26) for part in range(9)], tip=False)
        canvas.text(*place(angle / 2, 44), f"{math.degrees(angle):.0f}°", SMALL)
        canvas.text(x + ARROW / 2, base + 18, one, SMALL, kind="sentence")
        end = place(angle, ARROW)
        canvas.text(
            min(max(end[0] + 10, x + 30), x + 110), end[1] - 14, other, SMALL, kind="sentence"
        )
        canvas.text(x + ARROW / 2, base + 42, f"cosine {cosine:.2f}", bold=True)
        names = " and ".join(filter(None, (one, other)))
        told.append(f"{names}, {math.degrees(angle):.0f} degrees, cosine {cosine:.2f}")
    if conclusion:
        canvas.text(MIDDLE, 226, conclusion, bold=True, kind="sentence")
    return canvas.finish(
        f"Two arrows of length 1 for each pair, and the angle between them: {'; '.join(told)}."
    )
