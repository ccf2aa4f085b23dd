"""The diagrams of lesson 11: a margin, and ten losses."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from .canvas import SMALL, Canvas, Diagram

# the members of a triplet, and their kinds
MEMBERS = {"anchor": "vector", "positive": "sentence", "denial": "loss"}
UP = np.array([1, -1])  # a drawing counts downwards
BIG_DOT, DOT = 6, 4  # radii of points in the two diagrams
SHORT_NAMES = {
    "OnlineContrastiveLoss": "online",
    "BatchSemiHardTripletLoss": "semi-hard",
    "CosineSimilarityLoss": "cosine",
    "MultipleNegativesRankingLoss": "ranking",
    "MegaBatchMarginLoss": "mega-batch",
    "BatchAllTripletLoss": "batch all",
    "BatchHardTripletLoss": "batch hard",
}


def margin_ring(near: float, far: Sequence[float], margin: float) -> Diagram:
    """Three negatives around an anchor, and what each costs under triplet loss.

    near: the distance of the positive. far: those of three negatives. margin: how much farther than
    the positive they should be.
    """
    ring = near + margin
    x, y = 140, 128  # where the anchor is
    words_x, costs_x = 290, 420  # where the words and the costs begin
    # what a distance of 1 is in the drawing: the farthest, drawn 115 long, stays inside it
    unit = 115 / max(*far, ring)
    canvas = Canvas("11 margin ring", 256)

    def place(distance: float, degrees: float) -> tuple[float, float]:
        angle = math.radians(degrees)
        return x + unit * distance * math.cos(angle), y - unit * distance * math.sin(angle)

    canvas.circle(x, y, unit * near, "sentence", look="ring")
    canvas.circle(x, y, BIG_DOT, "vector")
    canvas.text(x, y + 18, "anchor", SMALL)
    positive = place(near, 145)
    canvas.circle(*positive, BIG_DOT, "sentence")
    canvas.arrow((x, y), positive, kind="sentence", tip=False)
    canvas.text(words_x, 30, f"positive: near = {near:g}", anchor="start", kind="sentence")
    with canvas.step():
        canvas.circle(x, y, unit * ring, "loss", dashed=True, look="ring")
        canvas.text(words_x, 58, f"ring: near + margin = {ring:g}", anchor="start", kind="loss")
    costs = [max(0, ring - distance) for distance in far]
    # the direction of each negative, in degrees, and how far right of and below the dot its name is
    directions = ((38, 0, -17), (0, 0, 17), (-62, 17, 0))
    negatives = enumerate(zip(far, costs, directions, strict=True))
    for number, (distance, cost, (degrees, right, below)) in canvas.steps(negatives):
        name, line_y = f"n{number + 1}", 112 + number * 42
        dot_x, dot_y = place(distance, degrees)
        canvas.circle(dot_x, dot_y, BIG_DOT, "loss")
        canvas.text(dot_x + right, dot_y + below, name, SMALL)
        canvas.text(words_x, line_y, f"{name}: far = {distance:g}", anchor="start")
        kind = "loss" if cost else "sentence"
        canvas.text(costs_x, line_y, f"costs {cost:g}", anchor="start", bold=True, kind=kind)
        if number == len(far) - 1:
            canvas.label(words_x, 240, "Beyond the ring: no cost", bold=True, kind="sentence")
    prices = "; ".join(f"at {distance:g} it costs {cost:g}" for distance, cost in zip(far, costs))
    return canvas.finish(
        f"An anchor, a positive at distance {near:g} on a circle around it, and a dashed ring one "
        f"margin further out, at {ring:g}. A negative beyond the ring costs nothing, one inside it "
        f"what is missing: {prices}."
    )


def loss_family(points: np.ndarray, forces: Mapping[str, np.ndarray]) -> Diagram:
    """What each of ten losses does to two triplets: an arrow for each point that it moves.

    points: (3, 2, 2): anchors, positives and negatives of two triplets, as unit vectors in the
    plane. forces: {name of a loss: the negative gradient at each point, of the shape of points, not
    0 everywhere}. All may be tensors. Within a loss, longer arrows are stronger forces; one below a
    twentieth of the strongest is left out.
    """
    columns, wide, high, radius = 4, 130, 138, 44  # of the small drawings, one for each loss
    shortest, stretch = 18, 10  # an arrow is from 18 to 28 units long
    canvas = Canvas("11 loss family", 424)
    points = np.asarray(points, dtype=float)
    kinds = tuple(MEMBERS.values())
    effects = []
    for number, (name, given) in enumerate(forces.items()):
        row, column = divmod(number, columns)
        x, y = 65 + column * wide, 84 + row * high
        short = SHORT_NAMES.get(name, name.removesuffix("Loss").lower())
        canvas.text(x, y - 72, short, SMALL, bold=True)
        canvas.circle(x, y, radius, look="ring", dashed=True)
        force = np.asarray(given, dtype=float)
        strengths = np.linalg.norm(force, axis=-1)  # (3, 2), as `moves`
        moves = strengths >= strengths.max() / 20  # weaker forces are left out
        for place in np.ndindex(moves.shape):  # (member, triplet)
            kind = kinds[place[0]]
            start = np.array([x, y]) + radius * points[place] * UP
            canvas.circle(start[0], start[1], DOT, kind)
            if moves[place]:
                length = shortest + stretch * strengths[place] / strengths.max()
                end = start + length * force[place] / strengths[place] * UP
                canvas.arrow(tuple(start), tuple(end), kind=kind, thick=True)
        effects.append(f"{short}: {_effect(points, force, moves)}")
    for number, (word, kind) in enumerate(MEMBERS.items()):  # what the colours mean
        canvas.circle(320, 324 + number * 28, DOT, kind)
        canvas.label(332, 324 + number * 28, word)
    return canvas.finish(
        "Two triplets on a circle, under each of ten losses. In the first, above, the denial is "
        "nearer to the anchor than the positive is; the second, below, is right by far. Arrows are "
        "negative gradients, and say whether a positive or a denial is pulled towards its own "
        f"anchor or pushed away. {'. '.join(effects)}."
    )


def _effect(points: np.ndarray, force: np.ndarray, moves: np.ndarray) -> str:
    """In words, whether a triplet's positive and denial are pulled to its anchor or pushed away."""
    sentences = []
    for triplet, name in enumerate(("first", "second")):
        anchor = points[0, triplet]
        words = []
        for member, word in ((1, "positive"), (2, "denial")):
            if moves[member, triplet]:
                toward = (anchor - points[member, triplet]) @ force[member, triplet]
                words.append(f"{word} {'pulled' if toward > 0 else 'pushed'}")
        sentences.append(f"{name}, {' and '.join(words) or 'neither positive nor denial moved'}")
    return "; ".join(sentences)
