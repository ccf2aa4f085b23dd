"""The diagrams of lesson 11: triplets, their parts, data and losses, a margin, ten losses."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from .canvas import SMALL, WIDTH, Canvas, Diagram, text_width

# the members of a triplet, and their kinds
MEMBERS = {"anchor": "vector", "positive": "sentence", "denial": "loss"}
UP = np.array([1, -1])  # a drawing counts downwards
SHORT_NAMES = {
    "OnlineContrastiveLoss": "online",
    "BatchSemiHardTripletLoss": "semi-hard",
    "CosineSimilarityLoss": "cosine",
    "MultipleNegativesRankingLoss": "ranking",
    "MegaBatchMarginLoss": "mega-batch",
    "BatchAllTripletLoss": "batch all",
    "BatchHardTripletLoss": "batch hard",
}


def one_encoder(anchor: str, positive: str, negative: str, near: float, far: float) -> Diagram:
    """A triplet: three texts, one encoder, three vectors, two cosines.

    near, far: the cosines of the anchor to the positive and to the negative.
    """
    row, high = 74, 36
    canvas = Canvas("11 one encoder", 234)
    texts = {"positive: a paraphrase": positive, "anchor": anchor, "negative: a denial": negative}
    for at, (name, text) in enumerate(texts.items()):
        middle = 48 + at * row
        canvas.label(6, middle - 30, name, quiet=True)
        canvas.box(4, middle - high / 2, 222, high, text, "token", SMALL)
        canvas.arrow((226, middle), (252, middle))
        canvas.arrow((352, middle), (374, middle))
        canvas.vector(376, middle - high / 2, kind="sentence", width=26, height=high)
    words = "encoder\n\nthe same\nweights\nthree times"
    canvas.box(254, 24, 98, 196, words, "layer", SMALL, thick=True)
    nearest = max(near, far)
    for middle, cosine in canvas.steps(((85, near), (159, far))):
        kind, remark = ("loss", "\nnearer") if cosine == nearest else ("padding", "")
        ends = ((406, middle - 32), (406, middle + 32))
        canvas.arrow(*ends, kind=kind, tip=False, thick=True)
        words = f"cosine {cosine:.2f}{remark}"
        canvas.text(416, middle, words, anchor="start", bold=bool(remark), kind=kind)
    return canvas.finish(
        f"Three texts pass through one encoder with the same weights: the anchor, {anchor!r}, the "
        f"positive, {positive!r}, and the negative, {negative!r}. The cosine of anchor and "
        f"positive is {near:.2f}, that of anchor and negative {far:.2f}."
    )


def parts_by_construction(parts: Mapping[str, tuple[int, Sequence[str]]]) -> Diagram:
    """The parts of a data set, none of which shares a construction with another.

    parts: {name: (number of triplets, names of its constructions)}: trained on, decided with,
    reported on.
    """
    left, right, high, gap = 118, 518, 25, 6
    boxes, names, y = [], [], 32  # boxes of a part: (its kind, left, top, width, construction)
    for (name, (count, constructions)), kind in zip(parts.items(), ("layer", "token", "sentence")):
        x, top = left, y
        for construction in constructions:
            wide = text_width(construction, SMALL) + 18
            if x + wide > right:
                x, y = left, y + high + 4
            boxes.append((kind, x, y, wide, construction))
            x += wide + gap
        names.append((kind, (top + y + high) / 2, f"{name}\n{count} triplets"))
        y += 43
    canvas = Canvas("11 parts by construction", y - 12)
    canvas.text(WIDTH / 2, 11, "Each way of denying stands in one part only", bold=True)
    for kind, middle, words in canvas.steps(names):
        canvas.text(4, middle, words, SMALL, "start", kind=kind, bold=True)
        for own, x, top, wide, construction in boxes:
            if own == kind:
                canvas.box(x, top, wide, high, construction, kind, SMALL)
    listed = "; ".join(
        f"{name}, {count} triplets: {', '.join(ways)}" for name, (count, ways) in parts.items()
    )
    return canvas.finish(
        f"Three parts of triplets. Each way of denying stands in one of them only. {listed}."
    )


def data_and_losses(rows: Sequence[tuple[Sequence[str], str]]) -> Diagram:
    """Shapes of data, each with losses that fit.

    rows: [(the columns of the data, losses)], ours last.
    """
    row, wide, right = 44, 84, 288
    kinds = {"anchor": "token", "positive": "sentence", "negative": "loss"}
    canvas = Canvas("11 data and losses", 24 + row * len(rows))
    canvas.label(4, 10, "you have", quiet=True)
    canvas.label(right + 2, 10, "losses that fit", quiet=True)
    for at, (columns, losses) in canvas.steps(enumerate(rows)):
        y = 24 + row * at
        ours = at == len(rows) - 1
        colour = "loss" if ours else "plain"
        for place, column in enumerate(columns):
            kind = kinds[column] if ours else "plain"
            canvas.box(4 + wide * place, y, wide - 6, 34, column, kind, SMALL)
        start, end = (wide * len(columns), y + 17), (right - 2, y + 17)
        canvas.arrow(start, end, kind=colour, thick=ours)
        words = f"ours: {losses}" if ours else losses
        canvas.box(right, y, 228, 34, words, colour, SMALL, bold=ours, thick=ours)
    shapes = "; ".join(f"{', '.join(columns)}: {losses}" for columns, losses in rows)
    return canvas.finish(f"Shapes of data, one in each row, with the losses that fit. {shapes}.")


def margin_ring(near: float, far: Sequence[float], margin: float) -> Diagram:
    """Three negatives around an anchor, and what each costs under triplet loss.

    near: the distance of the positive. far: those of three negatives. margin: by which they should
    be farther.
    """
    ring = near + margin
    x, y, words = 140, 128, 290  # where the anchor is, and the left end of the words
    unit = 115 / max(*far, ring)
    canvas = Canvas("11 margin ring", 256)

    def place(distance, degrees):
        angle = math.radians(degrees)
        return x + unit * distance * math.cos(angle), y - unit * distance * math.sin(angle)

    canvas.circle(x, y, unit * near, "sentence", look="ring")
    canvas.circle(x, y, 6, "vector")
    canvas.text(x, y + 18, "anchor", SMALL)
    positive = place(near, 145)
    canvas.circle(*positive, 6, "sentence")
    canvas.arrow((x, y), positive, kind="sentence", tip=False)
    canvas.text(words, 30, f"positive: near = {near:g}", anchor="start", kind="sentence")
    with canvas.step():
        canvas.circle(x, y, unit * ring, "loss", dashed=True, look="ring")
        canvas.text(words, 58, f"ring: near + margin = {ring:g}", anchor="start", kind="loss")
    costs = [max(0, ring - distance) for distance in far]
    # the direction of each negative, in degrees, and how far right of and below the dot its name is
    ways = ((38, 0, -17), (0, 0, 17), (-62, 17, 0))
    negatives = list(zip(far, costs, ways))
    for at, (distance, cost, way) in canvas.steps(enumerate(negatives)):
        degrees, right, below = way
        name, line = f"n{at + 1}", 112 + at * 42
        across, down = place(distance, degrees)
        canvas.circle(across, down, 6, "loss")
        canvas.text(across + right, down + below, name, SMALL)
        canvas.text(words, line, f"{name}: far = {distance:g}", anchor="start")
        kind = "loss" if cost else "sentence"
        canvas.text(words + 130, line, f"costs {cost:g}", anchor="start", bold=True, kind=kind)
        if at == len(far) - 1:
            canvas.label(words, 240, "Beyond the ring: no cost", bold=True, kind="sentence")
    prices = "; ".join(f"at {distance:g} it costs {cost:g}" for distance, cost in zip(far, costs))
    return canvas.finish(
        f"An anchor, a positive at distance {near:g} on a circle around it, and a dashed ring one "
        f"margin further out, at {ring:g}. A negative beyond the ring costs nothing, one inside it "
        f"what is missing: {prices}."
    )


def loss_family(points: np.ndarray, forces: Mapping[str, np.ndarray]) -> Diagram:
    """What each of ten losses does to two triplets: an arrow for each point that it moves.

    points: (3, 2, 2): anchors, positives and negatives of two triplets, as unit vectors in the
    plane. forces: {name of a loss: the negative gradient at each point, of the shape of points}.
    Within a loss, longer arrows are stronger forces; one below a twentieth of the strongest is left
    out.
    """
    columns, wide, high, radius = 4, 130, 138, 44
    canvas = Canvas("11 loss family", 424)
    points = np.asarray(points, dtype=float)
    effects = []
    for at, (name, force) in enumerate(forces.items()):
        row, column = divmod(at, columns)
        x, y = 65 + column * wide, 84 + row * high
        short = SHORT_NAMES.get(name, name.removesuffix("Loss").lower())
        canvas.text(x, y - 72, short, SMALL, bold=True)
        canvas.circle(x, y, radius, look="ring", dashed=True)
        force = np.asarray(force, dtype=float)
        strengths = np.linalg.norm(force, axis=-1)
        moves = strengths >= 0.05 * strengths.max()
        for member, kind in enumerate(MEMBERS.values()):
            for triplet, point in enumerate(points[member]):
                start = np.array([x, y]) + radius * point * UP
                across, down = start.tolist()
                canvas.circle(across, down, 4, kind)
                if moves[member, triplet]:
                    strength = strengths[member, triplet]
                    long = 18 + 10 * strength / strengths.max()
                    end = start + long * force[member, triplet] / strength * UP
                    canvas.arrow((across, down), tuple(end.tolist()), kind=kind, thick=True)
        effects.append(f"{short}: {_effect(points, force, moves)}")
    for at, (word, kind) in enumerate(MEMBERS.items()):
        canvas.circle(320, 324 + at * 28, 4, kind)
        canvas.label(332, 324 + at * 28, word)
    return canvas.finish(
        "Two triplets on a circle, under each of ten losses. In the first, above, the denial is "
        "nearer to the anchor than the positive is; the second, below, is right by far. Arrows are "
        "negative gradients, and say whether a positive or a denial is pulled towards its own "
        f"anchor or pushed away. {'. '.join(effects)}."
    )


def _effect(points: np.ndarray, force: np.ndarray, moves: np.ndarray) -> str:
    """In words, whether a triplet's positive and denial are pulled to its anchor or pushed away."""
    of_triplets = []
    for triplet, which in enumerate(("first", "second")):
        anchor = points[0, triplet]
        words = []
        for member, word in ((1, "positive"), (2, "denial")):
            if moves[member, triplet]:
                toward = (anchor - points[member, triplet]) @ force[member, triplet]
                words.append(f"{word} {'pulled' if toward > 0 else 'pushed'}")
        of_triplets.append(f"{which}, {' and '.join(words) or 'neither positive nor denial moved'}")
    return "; ".join(of_triplets)
