"""The diagrams of lesson 11: triplets and their parts, data and losses, margins, a training, ten losses, collapse."""

import math

from .canvas import SMALL, Canvas, text_width


def one_encoder(anchor, positive, negative, near, far):
    """A triplet: three texts, one encoder, three vectors, two cosines.

    near, far: the cosines of the anchor to the positive and to the negative.
    """
    canvas = Canvas("11 one encoder", 234)
    texts = {"positive: a paraphrase": positive, "anchor": anchor, "negative: a denial": negative}
    for at, (name, text) in enumerate(texts.items()):
        middle = 48 + at * 74
        canvas.label(6, middle - 30, name, quiet=True)
        canvas.box(4, middle - 18, 222, 36, text, "token", SMALL)
        canvas.arrow((226, middle), (252, middle))
        canvas.arrow((352, middle), (374, middle))
        canvas.vector(376, middle - 18, kind="sentence", width=26, height=36)
    canvas.box(254, 24, 98, 196, "encoder\n\nthe same\nweights\nthree times", "layer", SMALL, thick=True)
    for middle, value in canvas.steps(((85, near), (159, far))):
        nearer = bool(value == max(near, far))
        kind = "loss" if nearer else "padding"
        canvas.arrow((406, middle - 32), (406, middle + 32), kind=kind, tip=False, thick=True)
        words = f"cosine {value:.2f}" + "\nnearer" * nearer
        canvas.text(416, middle, words, anchor="start", bold=nearer, kind=kind)
    return canvas.finish(
        f"Three texts pass through one encoder with the same weights: the anchor, {anchor!r}, the positive, "
        f"{positive!r}, and the negative, {negative!r}. The cosine of anchor and positive is {near:.2f}, that of "
        f"anchor and negative {far:.2f}."
    )


def parts_by_construction(parts):
    """The parts of a data set, none of which shares a construction with another.

    parts: {name: (number of triplets, names of its constructions)}: trained on, decided with, reported on.
    """
    kinds, told, y, placed = ("layer", "token", "sentence"), [], 32, []
    for (name, (count, constructions)), kind in zip(parts.items(), kinds):
        x, top = 118, y
        for construction in constructions:
            wide = text_width(construction, SMALL) + 18
            if x + wide > 518:
                x, y = 118, y + 29
            placed.append((x, y, wide, construction, kind))
            x += wide + 6
        told.append((name, count, (top + y + 25) / 2, kind, constructions))
        y += 43
    canvas = Canvas("11 parts by construction", y - 12)
    canvas.text(260, 11, "Each way of denying stands in one part only", bold=True)
    for name, count, middle, kind, _ in canvas.steps(told):
        canvas.text(4, middle, f"{name}\n{count} triplets", SMALL, "start", kind=kind, bold=True)
        for x, top, wide, construction, own in placed:
            if own == kind:
                canvas.box(x, top, wide, 25, construction, own, SMALL)
    words = "; ".join(f"{name}, {count} triplets: {', '.join(them)}" for name, count, _, _, them in told)
    return canvas.finish(f"Three parts of triplets. Each way of denying stands in one of them only. {words}.")


def data_and_losses(rows):
    """Shapes of data, each with losses that fit. rows: [(the columns of the data, losses)], ours last."""
    canvas = Canvas("11 data and losses", 24 + 44 * len(rows))
    canvas.label(4, 10, "you have", quiet=True)
    canvas.label(290, 10, "losses that fit", quiet=True)
    kinds = {"score": "plain", "class": "plain", "0 or 1": "plain", "negative": "loss", "positive": "sentence"}
    for at, (columns, losses) in canvas.steps(enumerate(rows)):
        y = 24 + 44 * at
        ours = at == len(rows) - 1
        for place, column in enumerate(columns):
            canvas.box(4 + 84 * place, y, 78, 34, column, kinds.get(column, "token") if ours else "plain", SMALL)
        canvas.arrow((84 * len(columns), y + 17), (286, y + 17), kind="loss" if ours else "plain", thick=ours)
        losses = f"ours: {losses}" if ours else losses
        canvas.box(288, y, 228, 34, losses, "loss" if ours else "plain", SMALL, bold=ours, thick=ours)
    told = "; ".join(f"{', '.join(columns)}: {losses}" for columns, losses in rows)
    return canvas.finish(f"Shapes of data, one in each row, with the losses that fit. {told}.")


def margin_ring(near, far, margin):
    """Three negatives around an anchor, and what each costs under triplet loss.

    near: the distance of the positive. far: those of three negatives. margin: by which they should be farther.
    """
    canvas = Canvas("11 margin ring", 256)
    x, y, unit = 140, 128, 115 / max(*far, near + margin)

    def place(distance, degrees):
        angle = math.radians(degrees)
        return x + unit * distance * math.cos(angle), y - unit * distance * math.sin(angle)

    canvas.circle(x, y, unit * near, "sentence", look="ring")
    canvas.circle(x, y, 6, "vector")
    canvas.text(x, y + 18, "anchor", SMALL)
    positive = place(near, 145)
    canvas.circle(*positive, 6, "sentence")
    canvas.arrow((x, y), positive, kind="sentence", tip=False)
    canvas.text(290, 30, f"positive: near = {near:g}", anchor="start", kind="sentence")
    with canvas.step():
        canvas.circle(x, y, unit * (near + margin), "loss", dashed=True, look="ring")
        canvas.text(290, 58, f"ring: near + margin = {near + margin:g}", anchor="start", kind="loss")
    costs = [max(0, near - distance + margin) for distance in far]
    ways = (38, 0, -17), (0, 0, 17), (-62, 17, 0)  # in degrees, and how far right of the dot and below it its name is
    for at, (distance, cost, (degrees, right, below)) in canvas.steps(enumerate(zip(far, costs, ways))):
        across, down = place(distance, degrees)
        canvas.circle(across, down, 6, "loss")
        canvas.text(across + right, down + below, f"n{at + 1}", SMALL)
        canvas.text(290, 112 + at * 42, f"n{at + 1}: far = {distance:g}", anchor="start")
        kind = "loss" if cost else "sentence"
        canvas.text(420, 112 + at * 42, f"costs {cost:g}", anchor="start", bold=True, kind=kind)
        if at == len(far) - 1:
            canvas.label(290, 240, "Beyond the ring: no cost", bold=True, kind="sentence")
    told = "; ".join(f"at {distance:g} it costs {cost:g}" for distance, cost in zip(far, costs))
    return canvas.finish(
        f"An anchor, a positive at distance {near:g} on a circle around it, and a dashed ring one margin further out, "
        f"at {near + margin:g}. A negative beyond the ring costs nothing, one inside it what is missing: {told}."
    )


def moved_triplet(texts, before, after, margin):
    """A triplet before and after a training: how far its positive and its negative are from its anchor.

    texts: anchor, positive, negative. before, after: the distances of positive and negative. margin: of the loss.
    """
    canvas = Canvas("11 moved triplet", 276)
    unit = min(84 / (max(before[0], after[0]) + margin), 120 / max(before[1], after[1]))
    for x, title, (near, far) in canvas.steps(((120, "before", before), (390, "after", after))):
        y, kind = 124, "loss" if far < near else "sentence"
        words = f"{title}: the denial is {'nearer' if far < near else 'farther'}\ndenial {far:g}, paraphrase {near:g}"
        canvas.text(x, 16, words, SMALL, bold=True, kind=kind)
        canvas.circle(x, y, unit * near, "sentence", look="ring")
        canvas.circle(x, y, unit * (near + margin), "padding", dashed=True, look="ring")
        for distance, kind, way in ((near, "sentence", -1), (far, "loss", 1)):
            end = (x + way * unit * distance * 0.8, y - unit * distance * 0.6)
            canvas.arrow((x, y), end, kind=kind, tip=False, thick=True)
            canvas.circle(*end, 6, kind, look="dot")
        canvas.circle(x, y, 6, "vector", look="dot")
    for at, (text, kind) in enumerate(zip(texts, ("vector", "sentence", "loss"))):
        canvas.circle(14, 226 + 21 * at, 5, kind, look="dot")
        name = ("anchor", "paraphrase", "denial")[at]
        canvas.label(28, 226 + 21 * at, f"{name}: {text}")
    canvas.label(366, 268, "dashed: the margin", quiet=True)
    numbers = [" and ".join(f"{one:g}" for one in pair) for pair in (before, after)]
    return canvas.finish(
        f"The anchor {texts[0]!r} with its positive {texts[1]!r} and its negative {texts[2]!r}, as distances, 1 minus "
        f"the cosine. Before the training they are {numbers[0]}, after it {numbers[1]}. A dashed ring lies a margin "
        f"of {margin:g} beyond the positive."
    )


def choices_in_a_batch(anchors, cosines, scale):
    """The cosines of anchors to all positives and negatives of a batch, and the probability of an anchor's own.

    anchors: n short texts. cosines: (n, 2n), positives first. scale: cosines times this are the logits.
    """
    count, cell, left, top = len(anchors), 38, 136, 58
    canvas = Canvas("11 choices in a batch", top + 46 * count + 24)
    shares = []
    for choices in (count, 2 * count):
        powers = [[math.exp(scale * float(value)) for value in row[:choices]] for row in cosines]
        shares.append([row[at] / sum(row) for at, row in enumerate(powers)])
    for at, text in enumerate(anchors):
        canvas.text(left - 8, top + 21 + at * 46, text, SMALL, "end")

    def columns(first, title, kind, left):
        for place in range(count):
            x = left + place * 39
            canvas.text(x + cell / 2, top - 12, place + 1, SMALL)
            for at, row in enumerate(cosines):
                own, written = at == first + place, f"{float(row[first + place]):.2f}"
                canvas.box(x, top + at * 46, cell, 42, written, "sentence" if own else kind, SMALL, thick=own)
        canvas.text(left + 19 * count, 14, title, SMALL, quiet=True)

    def shown(shares, x, among):
        canvas.text(x, top - 44, "p", SMALL, bold=True)
        canvas.text(x, top - 26, among, SMALL, quiet=True)
        for at, share in enumerate(shares):
            canvas.text(x, top + 21 + at * 46, f"{share:.2f}", SMALL, bold=True)

    columns(0, "positives", "plain", left)
    canvas.box(left, top + 46 * count + 4, 16, 16, kind="sentence", thick=True)
    canvas.label(left + 24, top + 46 * count + 12, "its own positive", quiet=True)
    beyond = left + 39 * count
    with canvas.step():
        shown(shares[0], beyond + 31, f"among {count}")
    with canvas.step():
        columns(count, "denials", "loss", beyond + 64)
        shown(shares[1], beyond + 64 + 39 * count + 42, f"among all {2 * count}")
    pairs = ", ".join(f"{one:.2f} and {other:.2f}" for one, other in zip(*shares))
    return canvas.finish(
        f"A matrix of cosines, one row for each of {count} anchors, one column for each of their positives. Each "
        "anchor's own positive is on the diagonal, and the others are negatives. The softmax of a row gives p, the "
        f"probability of its own positive. The denials of all anchors add {count} columns, and p, now among all "
        f"{2 * count}, falls: {pairs}."
    )


def loss_family(points, forces):
    """What each of ten losses does to two triplets on a circle: an arrow for each point that it moves.

    points: (3, 2, 2): anchors, positives and negatives of two triplets, as unit vectors in the plane. forces: {name of
    a loss: the negative gradient at each point, of the shape of points}. Within a loss, longer arrows are stronger
    forces; one below a twentieth of the strongest is left out.
    """
    canvas, radius, told = Canvas("11 loss family", 424), 44, []
    members = {"anchor": "vector", "positive": "sentence", "denial": "loss"}
    for at, (name, force) in enumerate(forces.items()):
        x, y = 65 + at % 4 * 130, 84 + at // 4 * 138
        canvas.text(x, y - 72, _short(name), SMALL, bold=True)
        canvas.circle(x, y, radius, look="ring", dashed=True)
        strength = [[math.hypot(*map(float, pull)) for pull in row] for row in force]
        most, moved = max(map(max, strength)), [[], []]
        for member, (word, kind) in enumerate(members.items()):
            for one in range(2):
                (across, up), (right, above) = (map(float, part[member][one]) for part in (points, force))
                start = (x + radius * across, y - radius * up)
                canvas.circle(*start, 4, kind)
                share = strength[member][one] / most
                if share >= 0.05:
                    long = (18 + 10 * share) / strength[member][one]
                    canvas.arrow(start, (start[0] + long * right, start[1] - long * above), kind=kind, thick=True)
                    toward = sum((float(a) - float(b)) * float(f) for a, b, f in zip(
                        points[0][one], points[member][one], force[member][one]))  # fmt: skip
                    if member:
                        moved[one].append(f"{word} {'pulled' if toward > 0 else 'pushed'}")
        told.append(f"{_short(name)}: " + "; ".join(
            f"{which}, {' and '.join(words) or 'neither positive nor denial moved'}"
            for which, words in zip(("first", "second"), moved)))  # fmt: skip
    for at, (word, kind) in enumerate(members.items()):
        canvas.circle(320, 324 + at * 28, 4, kind)
        canvas.label(332, 324 + at * 28, word)
    return canvas.finish(
        "Two triplets on a circle, under each of ten losses. In the first, above, the denial is nearer to the anchor "
        "than the positive is; the second, below, is right by far. Arrows are negative gradients, and say whether a "
        f"positive or a denial is pulled towards its own anchor or pushed away. {'. '.join(told)}."
    )


def _short(name):
    """The name of a loss in a few letters: BatchHardTripletLoss is "batch hard"."""
    known = {"OnlineContrastive": "online", "BatchSemiHardTriplet": "semi-hard", "CosineSimilarity": "cosine"}
    known |= {"MultipleNegativesRanking": "ranking", "MegaBatchMargin": "mega-batch"}
    known |= {"BatchAllTriplet": "batch all", "BatchHardTriplet": "batch hard"}
    return known.get(name.removesuffix("Loss"), name.removesuffix("Loss").lower())


def _fan(cosine, count):
    """Angles of `count` directions, evenly spread, whose mean cosine with each other is the given one."""
    low, high = 0.0, 2 * math.pi / count
    for _ in range(60):
        gap = (low + high) / 2
        total = abs(sum(complex(math.cos(gap * at), math.sin(gap * at)) for at in range(count))) ** 2
        low, high = (gap, high) if (total - count) / (count * (count - 1)) > cosine else (low, gap)
    return [gap * (at - (count - 1) / 2) for at in range(count)]


def collapse(cosines, count=7):
    """How near texts that have nothing to do with each other are: arrows with the given mean cosine.

    cosines: {name: mean cosine of unrelated texts}, at most three.
    """
    canvas = Canvas("11 collapse", 244)
    for at, (name, cosine) in canvas.steps(enumerate(cosines.items())):
        x, y, radius = 88 + at * 172, 80, 72
        canvas.circle(x, y, radius, look="ring", dashed=True)
        for angle in _fan(float(cosine), count):
            end = (x + (radius - 4) * math.sin(angle), y - (radius - 4) * math.cos(angle))
            canvas.arrow((x, y), end, kind="loss" if at == len(cosines) - 1 else "padding")
        last = at == len(cosines) - 1
        canvas.text(x, 172, f"mean cosine {float(cosine):.2f}", SMALL, bold=True)
        canvas.text(x, 196, name, SMALL, quiet=True)
        if last and cosine > 0.8:
            canvas.text(260, 228, "Unrelated reviews end up pointing the same way", bold=True, kind="loss")
    told = "; ".join(f"{name}, {float(cosine):.2f}" for name, cosine in cosines.items())
    return canvas.finish(
        f"Fans of {count} arrows, drawn so that their mean cosine is the one measured for unrelated texts: {told}. "
        "The higher it is, the more they point the same way."
    )
