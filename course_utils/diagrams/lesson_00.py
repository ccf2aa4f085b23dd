"""The diagram of lesson 00: vectors at the angle of their cosine."""

import math
from collections.abc import Mapping

from .canvas import MIDDLE, SMALL, WIDTH, Canvas, Diagram

# how far from the corner the tips are (a vector's length is 1), and the arc
REACH = {"tip": 112, "arc": 26}
# heights: of the corner where both arrows of a pair begin, and of the texts below it
Y = {"corner": 160, "name": 178, "cosine": 202, "conclusion": 226}


def _place(corner_x: float, turn: float, distance: float) -> tuple[float, float]:
    """The point at this distance from the corner. turn: the angle in radians, upwards from the right."""
    return corner_x + distance * math.cos(turn), Y["corner"] - distance * math.sin(turn)


def _pair(canvas: Canvas, x: float, level: str, turned: str, angle: float) -> None:
    """Two arrows from the corner at x: one to the right, one turned, with their names.

    level, turned: the names of these arrows. angle: between them, in radians.
    """
    for turn in (0, angle):
        canvas.arrow((x, Y["corner"]), _place(x, turn, REACH["tip"]), kind="sentence", thick=True)
    # the arc of the angle, as eight short lines
    canvas.path(*[_place(x, angle * eighths / 8, REACH["arc"]) for eighths in range(9)], tip=False)
    # as near to the arc as there are 14 to either arrow; for small angles, beyond the tips
    degrees_at = min(max(REACH["arc"] + 18, 14 / math.sin(angle / 2 or 1e-9)), REACH["tip"] + 22)
    canvas.text(*_place(x, angle / 2, degrees_at), f"{math.degrees(angle):.0f}°", SMALL)
    canvas.text(x + REACH["tip"] / 2, Y["name"], level, SMALL, kind="sentence")
    tip_x, tip_y = _place(x, angle, REACH["tip"])
    # right of the tip, but not in the next pair's column
    canvas.text(min(tip_x + 30, x + REACH["tip"]), tip_y - 14, turned, SMALL, kind="sentence")


def angles(pairs: Mapping[tuple[str, str], float], conclusion: str = "") -> Diagram:
    """Pairs of vectors, each drawn as two arrows at the angle that corresponds to their cosine.

    pairs: {(name of the level arrow, name of the turned one): cosine}; a name may be "". There is
    room for two pairs, and for three with cosines of 0 or more; others overlap or leave the drawing.
    conclusion: a line below the arrows. Raises ValueError for a cosine beyond -1 or 1, and for what
    leaves the drawing.
    """
    lowest = "conclusion" if conclusion else "cosine"
    canvas = Canvas("00 angles", Y[lowest] + 12)  # 12: half a line of text, and an edge
    descriptions = []
    for column, ((level, turned), cosine) in enumerate(pairs.items()):
        angle = math.acos(round(cosine, 6))  # in float32, the cosine of equal vectors may be over 1
        # of the corner, near the left edge of the column, or as far from it as the tip reaches left
        x = WIDTH / len(pairs) * column + 22 + REACH["tip"] * max(0, -cosine)
        _pair(canvas, x, level, turned, angle)
        canvas.text(x + REACH["tip"] / 2, Y["cosine"], f"cosine {cosine:.2f}", bold=True)
        descriptions.append(
            f"{' and '.join(filter(None, (level, turned))) or 'two arrows without names'}, "
            f"{math.degrees(angle):.0f} degrees, cosine {cosine:.2f}"
        )
    if conclusion:
        canvas.text(MIDDLE, Y["conclusion"], conclusion, bold=True, kind="sentence")
    return canvas.finish(
        "Two arrows of length 1 for each pair, and the angle between them: "
        f"{'; '.join(descriptions)}."
    )
