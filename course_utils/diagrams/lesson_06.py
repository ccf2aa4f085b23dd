"""The diagram of lesson 06: what a plane leaves out."""

import textwrap
from collections.abc import Sequence

import numpy as np

from .canvas import SMALL, Canvas, Diagram, Place

WIDEST, HIGHEST = 360, 184  # how much room the distances in the plane and out of it have
LEFT, BASE = 100, 214  # the corner, the middle of all vectors: both of its distances are 0
# of the line for the plane: its end, its name, and the number of a distance along it
AXIS_END, AXIS_NAME, NUMBER_Y = 510, (500, 248), 230
DOT, FROM_DOT = 4, 10  # the radius of a dot, and how far right of its middle a name begins
NAMES_WIDTH = 11  # letters in a line of the names that stand together


def beside_the_plane(
    tokens: Sequence[str], vectors: np.ndarray, points: np.ndarray, named: Sequence[str]
) -> Diagram:
    """How far each token's vector lies from the middle in a plane, and how far out of the plane.

    Both distances make a right angle, so the distance from the lower left corner is the true one.
    A triangle shows it for the token nearest to the middle of the plane.
    tokens: n names. vectors: (n, hidden). points: (n, 2), the same projected on the plane, with the
    middle of all at (0, 0). named: the tokens whose names stand beside their dots; the names of the
    others stand together, right of the last of their dots.
    """
    inside, outside, true = _distances(vectors, points)
    nearest = int(inside.argmin())
    unit = min(WIDEST / inside.max(), HIGHEST / outside.max())
    dots = [(LEFT + unit * x, BASE - unit * y) for x, y in zip(inside, outside)]
    canvas = Canvas("06 beside the plane", 258)
    canvas.arrow((LEFT, BASE), (AXIS_END, BASE))
    canvas.text(*AXIS_NAME, "distance from the middle, in the plane", SMALL, "end", quiet=True)
    for x, _ in dots:
        canvas.circle(x, BASE, DOT, "plain", "dot")
    with canvas.step():
        _raised(canvas, tokens, dots, nearest, named)
    with canvas.step():
        x, y = dots[nearest]
        canvas.label(
            x + 30,
            y - 18,
            f"near in the plane, far in {np.shape(vectors)[1]} dimensions",
            bold=True,
            kind="loss",
        )
        _triangle(canvas, (x, y), inside[nearest], true[nearest])
    distances = [f"{token} {x:.2f} in, {y:.2f} out" for token, x, y in zip(tokens, inside, outside)]
    return canvas.finish(
        f"For each token, its distance from the middle in the plane and out of the plane: "
        f"{'; '.join(distances)}. {tokens[nearest]} is nearest to the middle in the plane "
        f"({inside[nearest]:.2f}), but its true distance is {true[nearest]:.2f}."
    )


def _distances(vectors: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, ...]:
    """How far each vector is from the middle of all: in the plane, out of it, in all dimensions.

    Returns three arrays (n,).
    """
    inside = np.linalg.norm(points, axis=1)
    true = np.linalg.norm(vectors - np.mean(vectors, axis=0), axis=1)
    # clip: rounding may leave a negative square of a vector in the plane
    return inside, np.sqrt(np.clip(true**2 - inside**2, 0, None)), true


def _raised(
    canvas: Canvas, tokens: Sequence[str], dots: Sequence[Place], nearest: int, named: Sequence[str]
) -> None:
    """Draw the dots above the line; names stand beside their dots or, if not `named`, together.

    dots: places of all tokens. nearest: the number of the token that is nearest to the middle.
    """
    canvas.label(10, 12, "↑ out of the plane", quiet=True)
    others = []
    for number, (token, (x, y)) in enumerate(zip(tokens, dots)):
        is_nearest = number == nearest
        canvas.circle(x, y, DOT, "loss" if is_nearest else "plain", "dot")
        canvas.arrow((x, BASE), (x, y), tip=False, dashed=True)
        if token in named:
            canvas.label(x + FROM_DOT, y, token, mono=True, bold=is_nearest, quiet=not is_nearest)
        else:
            others.append(number)
    if others:
        others.sort(key=lambda number: dots[number][0])  # from left to right
        names = ", ".join(tokens[number] for number in others)
        rightmost = dots[others[-1]][0]
        mean_y = float(np.mean([dots[number][1] for number in others]))
        canvas.label(rightmost + FROM_DOT, mean_y, textwrap.fill(names, NAMES_WIDTH), quiet=True)


def _triangle(canvas: Canvas, dot: Place, inside: float, true: float) -> None:
    """Draw the distance in the plane along the line, and the true one to the dot, with numbers.

    inside, true: these two distances, as they are written.
    """
    x, y = dot
    for end in ((x, BASE), dot):
        canvas.arrow((LEFT, BASE), end, kind="loss", thick=True, tip=False)
    middle_x, middle_y = (LEFT + x) / 2, (BASE + y) / 2
    canvas.text(middle_x, NUMBER_Y, f"{inside:.2f}", bold=True, kind="loss")
    # to the left of the slanted side, its name above its number
    canvas.text(middle_x - 7, middle_y + 10, f"{true:.2f}", anchor="end", bold=True, kind="loss")
    canvas.text(middle_x - 7, middle_y - 20, "true\ndistance", SMALL, "end", kind="loss")
