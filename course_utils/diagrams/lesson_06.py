"""The diagram of lesson 06: what a plane leaves out."""

import textwrap
from collections.abc import Sequence

import numpy as np

from .canvas import SMALL, Canvas, Diagram, Place

WIDEST, HIGHEST = 360, 184  # how much room the distances in the plane and out of it have
DOT = 4  # the radius of a dot


def _triangle(canvas: Canvas, corner: Place, dot: Place, inside: float, true: float) -> None:
    """The distance in the plane along the base, and the true one to the dot, with their numbers."""
    (left, base), (x, y) = corner, dot
    for end in ((x, base), dot):
        canvas.arrow(corner, end, kind="loss", thick=True, tip=False)
    middle = (left + x) / 2
    canvas.text(middle, base + 16, f"{inside:.2f}", bold=True, kind="loss")
    height = (base + y) / 2
    canvas.text(middle - 7, height + 10, f"{true:.2f}", bold=True, kind="loss", anchor="end")
    canvas.text(middle - 7, height - 20, "true\ndistance", SMALL, kind="loss", anchor="end")


def beside_the_plane(
    tokens: Sequence[str], vectors: np.ndarray, points: np.ndarray, named: Sequence[str]
) -> Diagram:
    """How far each token's vector lies from the middle in a plane, and how far out of the plane.

    Both distances make a right angle, so the distance from the lower left corner is the true one.
    A triangle shows it for the token nearest to the middle of the plane.
    tokens: n names. vectors: (n, hidden). points: (n, 2), the same in the plane. named: the tokens
    whose names stand beside their dots; the names of the others stand together.
    """
    canvas = Canvas("06 beside the plane", 258)
    left, base = 100, 214  # the corner, the middle of all vectors
    inside = np.linalg.norm(points, axis=1)
    true = np.linalg.norm(vectors - np.mean(vectors, axis=0), axis=1)
    outside = np.sqrt(np.clip(true**2 - inside**2, 0, None))
    unit = min(WIDEST / inside.max(), HIGHEST / outside.max())
    places = [(left + unit * x, base - unit * y) for x, y in zip(inside, outside)]
    nearest = int(inside.argmin())
    canvas.arrow((left, base), (510, base))
    canvas.text(500, base + 34, "distance from the middle, in the plane", SMALL, "end", quiet=True)
    for x, _ in places:
        canvas.circle(x, base, DOT, "plain", "dot")
    with canvas.step():
        canvas.label(10, 12, "↑ out of the plane", quiet=True)
        others = []
        for number, (token, (x, y)) in enumerate(zip(tokens, places)):
            canvas.circle(x, y, DOT, "loss" if number == nearest else "plain", "dot")
            canvas.arrow((x, base), (x, y), tip=False, dashed=True)
            if token in named:
                look = {"bold": True} if number == nearest else {"quiet": True}
                canvas.label(x + 10, y, token, mono=True, **look)
            else:
                others.append(number)
        if others:
            others.sort(key=inside.item)
            x = max(places[number][0] for number in others)
            y = np.mean([places[number][1] for number in others])
            words = ", ".join(tokens[number] for number in others)
            canvas.label(x + 10, y, textwrap.fill(words, 11), quiet=True)
    with canvas.step():
        x, y = places[nearest]
        canvas.label(
            x + 30,
            y - 18,
            f"near in the plane, far in {np.shape(vectors)[1]} dimensions",
            bold=True,
            kind="loss",
        )
        _triangle(canvas, (left, base), (x, y), inside[nearest], true[nearest])
    distances = [f"{token} {x:.2f} in, {y:.2f} out" for token, x, y in zip(tokens, inside, outside)]
    return canvas.finish(
        f"For each token, its distance from the middle in the plane and out of the plane: "
        f"{'; '.join(distances)}. {tokens[nearest]} is nearest to the middle in the plane "
        f"({inside[nearest]:.2f}), but its true distance is {true[nearest]:.2f}."
    )
