"""The diagram of lesson 00: vectors at the angle of their cosine."""

import math
from collections.abc import Mapping

from .canvas import MIDDLE, SMALL, WIDTH, Canvas, Diagram

ARROW = 112  # the length of a vector of length 1


def angles(pairs: Mapping[tuple[str, str], float], conclusion: str = "") -> Diagram:
    """Pairs of vectors, each drawn as two arrows at the angle that corresponds to their cosine.

    pairs: {(name, name): cosine}. conclusion: a line below the arrows.
    """
    canvas = Canvas("00 angles", 238 if conclusion else 214)
    base = 160  # the height of the corners, where both arrows of a pair begin
    descriptions = []

    def place(corner: float, turn: float, distance: float) -> tuple[float, float]:
        return corner + distance * math.cos(turn), base - distance * math.sin(turn)

    for column, ((level, turned), cosine) in enumerate(pairs.items()):
        angle = math.acos(cosine)
        x = WIDTH / len(pairs) * column + 22
        for turn in (0, angle):
            canvas.arrow((x, base), place(x, turn, ARROW), kind="sentence", thick=True)
        # the arc of the angle, as eight short lines
        canvas.path(*[place(x, angle * part / 8, 26) for part in range(9)], tip=False)
        canvas.text(*place(x, angle / 2, 44), f"{math.degrees(angle):.0f}°", SMALL)
        canvas.text(x + ARROW / 2, base + 18, level, SMALL, kind="sentence")
        end = place(x, angle, ARROW)
        canvas.text(
            min(max(end[0] + 10, x + 30), x + 110),  # within the pair's own column
            end[1] - 14,
            turned,
            SMALL,
            kind="sentence",
        )
        canvas.text(x + ARROW / 2, base + 42, f"cosine {cosine:.2f}", bold=True)
        names = " and ".join(filter(None, (level, turned)))
        descriptions.append(f"{names}, {math.degrees(angle):.0f} degrees, cosine {cosine:.2f}")
    if conclusion:
        canvas.text(MIDDLE, 226, conclusion, bold=True, kind="sentence")
    return canvas.finish(
        "Two arrows of length 1 for each pair, and the angle between them: "
        f"{'; '.join(descriptions)}."
    )
