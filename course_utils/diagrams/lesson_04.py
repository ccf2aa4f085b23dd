"""The diagrams of lesson 04: pooling."""

import math
from contextlib import nullcontext

from .canvas import SMALL, Canvas, text_width


def three_poolings(tokens, mask, values):
    """How CLS, mean and max pooling turn the vectors of a sentence's tokens into one vector.

    tokens: of one sentence, padding included. mask: 1 for each token that counts, else 0.
    values: a few coordinates of each token's vector, (tokens, coordinates).
    """
    canvas = Canvas("04 three poolings", 250)
    counted = [row for row, counts in zip(values.tolist(), mask) if counts]
    pooled = {
        "CLS pooling: the first vector": counted[0],
        "mean pooling: the mean over the real tokens": [sum(column) / len(counted) for column in zip(*counted)],
        "max pooling: the largest value of each coordinate": [max(column) for column in zip(*counted)],
    }
    low, high = float(values.min()), float(values.max())

    def shades(row):
        return [(value - low) / (high - low) for value in row]

    wide, left = 500 / len(tokens) - 6, 13
    for at, (token, counts, row) in enumerate(zip(tokens, mask, values.tolist())):
        x = left + at * (wide + 6)
        canvas.tokens(x, 8, [token], None if counts else "padding", width=wide)
        canvas.arrow((x + wide / 2, 36), (x + wide / 2, 54))
        canvas.vector(x + wide / 2 - 14, 56, cells=len(row), values=shades(row), kind="vector" if counts else "padding")
    right, end = left + 494, left + sum(map(int, mask)) * (wide + 6) - 6
    for at, (name, row) in canvas.steps(enumerate(pooled.items())):
        y, stop = 124 + at * 42, left + wide if at == 0 else end
        canvas.arrow((left, y), (stop, y), kind="sentence", tip=False, thick=True)
        canvas.arrow((stop, y), (right - 60, y), kind="sentence")
        canvas.vector(right - 56, y - 9, len(row), "sentence", 56, 18, values=shades(row), across=True)
        canvas.label(left, y + 18, name, kind="sentence")
    return canvas.finish(
        f"The {len(tokens)} tokens of a padded sentence, each with its vector. CLS pooling takes the first vector. "
        "Mean pooling takes the mean, and max pooling takes the largest value of each coordinate, both over the "
        f"{len(counted)} real tokens. Each pooling returns one vector."
    )


def _names(canvas, places, words, middle):
    """Write each word beside its place, where it covers no place and no line to the middle, or leave it out."""
    taken = [(x - 8, y - 8, x + 8, y + 8) for x, y in places]
    for x, y in places:
        far = [(x + (middle[0] - x) * at / 40, y + (middle[1] - y) * at / 40) for at in range(41)]
        taken += [(a - 2, b - 2, a + 2, b + 2) for a, b in far]
    for (x, y), word in zip(places, words):
        wide = text_width(word, SMALL) + 2
        sides = (x + 11, y), (x - 11 - wide, y), (x - wide / 2, y - 17), (x - wide / 2, y + 17)
        for left, height in sides:
            box = (left, height - 8, left + wide, height + 8)
            inside = box[0] > 0 and box[1] > 0 and box[2] < canvas.width and box[3] < canvas.height - 18
            if inside and not any(
                box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken
            ):
                canvas.label(left, height, word)
                taken.append(box)
                break


def centre_of_gravity(points, shares, tokens, counted=None):
    """The vectors of a sentence as points in a plane, with their mean, and how averaged padding pulls it away.

    points: (n, 2), along the two main directions, the real tokens first. shares: of the spread, along the two.
    tokens: the real ones. counted: {how many points count: cosine to the mean of the real ones}, each in a step.
    """
    counted, real = counted or {}, len(tokens)
    tall, area = (250, 230) if counted else (260, 208)  # of the drawing, and of the points in it
    canvas = Canvas("04 centre of gravity", tall)
    points = points[:, ::-1] if counted else points  # the main direction upwards: the padding lies below the tokens
    wide = 340 if counted else 490
    low, high = points.min(axis=0), points.max(axis=0)
    unit = min((wide - 40) / (high - low)[0], (area - 40) / (high - low)[1])
    up = 1 if not counted or points[:real, 1].mean() > points[real:, 1].mean() else -1

    def place(point):
        x, y = (point - (low + high) / 2) * unit
        return float(wide / 2 + 10 + x), float(area / 2 - up * y)

    at = [place(point) for point in points]
    middles = {count: place(points[:count].mean(axis=0)) for count in (real, *counted)}
    x0, y0 = middles[real]
    for x, y in at[:real]:
        canvas.circle(x, y, 6, "vector")
    if not counted:
        _names(canvas, at[:real], tokens, (x0, y0))
        with canvas.step():
            for x, y in at:
                canvas.arrow((x, y), (x0, y0), kind="sentence", tip=False)
            canvas.circle(x0, y0, 11, "sentence", "dot")
            canvas.label(160, area + 16, "their mean is at the centre", kind="sentence", bold=True)
            canvas.circle(142, area + 16, 9, "sentence", "dot")
    else:
        canvas.circle(x0, y0, 9, "sentence", "dot")
        canvas.circle(wide + 16, 22, 9, "sentence", "dot")
        canvas.label(6, min(y for _, y in at[:real]) + 30, "real tokens", kind="vector")
        canvas.label(wide + 34, 22, f"mean of {real} tokens", kind="sentence", bold=True)
    before, (x_end, y_end) = real, at[-1]
    for number, (count, cosine) in canvas.steps(enumerate(counted.items(), start=1)):
        for x, y in at[before:count]:
            canvas.circle(x, y, 6, "padding")
        if before == real:
            canvas.text(x_end - 32, y_end, "padding", SMALL, "end", kind="padding")
        canvas.arrow(middles[before], middles[count], kind="loss", tip=False, thick=True)
        canvas.circle(*middles[count], 9, "loss", "dot")
        canvas.label(middles[count][0] + 13, middles[count][1], f"+ {count - real}", kind="loss")
        canvas.circle(wide + 16, 22 + 50 * number, 9, "loss", "dot")
        canvas.label(wide + 34, 22 + 50 * number, f"{count - real} padding tokens:\ncosine {cosine:.2f}", kind="loss")
        before = count
    flat = f"all dimensions projected onto a plane, which shows {shares[0] + shares[1]:.0%} of the spread"
    canvas.text(260, tall - 10, flat, SMALL, quiet=True)
    told = ", ".join(f"{cosine:.2f} with {count - real} of them" for count, cosine in counted.items())
    return canvas.finish(
        f"Points in a plane: the vectors of {real} real tokens, with their mean at the centre"
        + (
            ". The vectors at padded positions lie apart, and the more of them are averaged, the further the mean "
            f"moves towards them. Its cosine with the mean of the real tokens is {told}" * bool(counted)
        )
        + "."
    )


def masked_mean(mask, values, equal):
    """Each vector of a padded sentence times its mask value, the sum of the products, and the division.

    mask: 1 or 0 for each token. values: a few coordinates of each vector, (tokens, coordinates).
    equal: whether the result is the mean that a loop computes.
    """
    canvas, real, rows = Canvas("04 masked mean", 232), sum(mask), values.tolist()
    low, high = float(values.min()), float(values.max())

    def shades(row):
        return [(value - low) / (high - low) for value in row]

    left, gap = 76, 442 / len(mask)
    for y, name in ((32, "vectors"), (78, "mask"), (122, "product")):
        canvas.text(left - 8, y, name, SMALL, "end")
    for at, (counts, row) in enumerate(zip(mask, rows)):
        x = left + at * gap
        canvas.vector(x, 8, len(row), "vector" if counts else "padding", gap - 6, 48, values=shades(row))
        canvas.text(x + gap / 2 - 3, 78, counts, bold=not counts, kind=None if counts else "loss")
        if counts:
            canvas.vector(x, 98, len(row), "vector", gap - 6, 48, values=shades(row))
        else:
            canvas.box(x, 98, gap - 6, 48, 0, "padding", SMALL, dashed=True, round_by=0)
    right, total = left + gap * len(mask) - 6, [sum(row[at] for row, counts in zip(rows, mask) if counts)
                                                for at in range(len(rows[0]))]  # fmt: skip
    with canvas.step():
        canvas.bracket(left, right, 152)
        canvas.text(left - 8, 196, "add up", SMALL, "end", bold=True)
        canvas.box(left, 178, 72, 36, "sum", "vector")
    with canvas.step():
        canvas.arrow((left + 74, 196), (left + 204, 196), f"divide by {real}")
        canvas.vector(left + 206, 172, len(total), "sentence", 28, 48, values=shades([one / real for one in total]))
        canvas.label(left + 244, 196, f"{'=' if equal else '≠'} mean of real tokens", kind="sentence", bold=True)
    return canvas.finish(
        f"The vectors of {len(mask)} tokens; below them, the mask with {real} ones and {len(mask) - real} zeros; below "
        f"the mask, the products, which are zero at padding. The products are added up, and the sum is divided by "
        f"{real}. The result is {'' if equal else 'not '}the mean from the loop."
    )


def lined_up(names, *attempts):
    """Pairs of shapes, aligned from the right as torch does it; the first column that fails is marked.

    names: of the two tensors. attempts: one or more pairs of shapes, shown step by step.
    """
    canvas, told = Canvas("04 shapes lined up", 118 * len(attempts) - 6), []
    for number, shapes in enumerate(attempts):
        y, backs = 8 + 118 * number, range(1, max(map(len, shapes)) + 1)
        columns = [{shape[-back] for shape in shapes if len(shape) >= back} for back in backs]
        fails = next((back for back, sizes in zip(backs, columns) if len(sizes - {1}) > 1), None)
        sizes = sorted(columns[fails - 1]) if fails else []
        verdict = f"error: {' and '.join(map(str, sizes))} differ" if fails else "no error: the 1 is repeated"
        told.append(f"{' and '.join(str(tuple(shape)) for shape in shapes)}, {verdict}")
        with canvas.step() if number else nullcontext():
            for row, (name, shape) in enumerate(zip(names, shapes)):
                canvas.text(16, y + 16 + 38 * row, name, anchor="start", mono=True)
                for back, size in enumerate(reversed(shape), start=1):
                    kind = "loss" if back == fails else "sentence" if size == 1 else "plain"
                    canvas.box(512 - 118 * back, y + 38 * row, 110, 32, size, kind, thick=kind != "plain")
            kind = "loss" if fails else "sentence"
            canvas.text(504, y + 88, verdict, anchor="end", kind=kind)
    return canvas.finish(
        f"Shapes aligned from the right. {'; '.join(told)}. In each column, the sizes must be equal, or one of them "
        "must be 1 or missing."
    )


def number_line(real, padded):
    """One coordinate of a sentence's vectors: real tokens, padding multiplied by the mask, and padding set to -inf.

    real: the values of real tokens, all negative. padded: the value at padding after the product.
    """
    canvas = Canvas("04 number line", 190)
    low = min(real)

    def place(value):
        return 450 - value / low * 300

    canvas.arrow((20, 90), (505, 90))
    canvas.arrow((place(0), 80), (place(0), 100), tip=False)
    canvas.text(place(0), 114, "0", SMALL)
    for value in real:
        canvas.box(place(value) - 5, 85, 10, 10, kind="token", round_by=5)
    canvas.text((place(low) + place(max(real))) / 2, 60, f"{len(real)} real tokens", kind="token")
    canvas.arrow((place(max(real)), 150), (place(max(real)), 100), kind="sentence")
    canvas.text(place(max(real)), 164, f"the true maximum: {max(real):.3f}", SMALL, kind="sentence")
    with canvas.step():
        canvas.box(place(padded) - 7, 83, 14, 14, kind="loss", round_by=7)
        canvas.text(place(padded) + 8, 44, "padding times 0", SMALL, kind="loss")
        canvas.arrow((place(padded), 54), (place(padded), 80), kind="loss")
    with canvas.step():
        canvas.arrow((100, 25), (26, 25), kind="padding", dashed=True)
        canvas.label(108, 25, "padding set to minus infinity: never the maximum", kind="padding")
    return canvas.finish(
        f"A number line for one coordinate. The {len(real)} real tokens lie below 0, and the largest of them is "
        f"{max(real):.3f}. Padding multiplied by 0 lies at 0, to the right of all of them. Padding set to minus "
        "infinity lies to the left of every number."
    )


def zero_wins(wins):
    """A square for each coordinate, marked where the 0 at padding is larger than the values of all real tokens."""
    canvas, columns = Canvas("04 zero wins", 236), math.ceil((len(wins) * 500 / 195) ** 0.5)
    cell = 500 / columns
    for at, lost in enumerate(wins):
        x, y = 10 + at % columns * cell, 8 + at // columns * cell
        canvas.box(x, y, cell - 2.5, cell - 2.5, kind="loss" if lost else "vector", round_by=2, thick=lost)
    canvas.box(20, 212, 13, 13, kind="vector", round_by=2)
    canvas.label(40, 218, f"a real token wins: {len(wins) - sum(wins)}")
    canvas.box(260, 212, 13, 13, kind="loss", round_by=2, thick=True)
    canvas.label(280, 218, f"padding wins: {sum(wins)}", kind="loss", bold=True)
    return canvas.finish(
        f"A square for each of the {len(wins)} coordinates. In the {sum(wins)} marked ones, the 0 at padding "
        f"is larger than the values of all real tokens and becomes the maximum."
    )


def library_chain(modules, pooling, shapes, equal):
    """The library's modules as a chain, the lesson's own calls below, and whether both return the same vectors.

    modules: their names. pooling: the name of the mode. shapes: of each module's output, or a short text.
    equal: whether the vectors agree.
    """
    ours = ("model", "mean_pooling", "normalize")
    canvas, gap = Canvas("04 library chain", 244), 514 / len(modules)
    wide = gap - 42
    for y, names, title in ((30, modules, "Sentence Transformers"), (150, ours, "our own code")):
        with nullcontext() if y == 30 else canvas.step():
            canvas.label(6, y - 16, title, bold=True)
            for at, (name, shape) in enumerate(zip(names, shapes, strict=True)):
                x, kind = 6 + gap * at, "layer" if at == 0 else "sentence"
                under = f"\n({pooling})" if y == 30 and name == "Pooling" else ""
                canvas.box(x, y, wide, 46, f"{name}{under}", kind, SMALL, mono=y > 30)
                if at + 1 < len(modules):
                    canvas.arrow((x + wide + 3, y + 23), (x + gap - 3, y + 23))
                canvas.text(x + wide / 2, y + 62, shape, SMALL, quiet=True)
    with canvas.step():
        x = 6 + gap * (len(modules) - 1) + wide + 6
        canvas.text(x + 14, 113, "=" if equal else "≠", 30, kind="sentence" if equal else "loss", bold=True)
        canvas.path((x, 53), (x + 14, 53), (x + 14, 92), tip=False)
        canvas.path((x, 173), (x + 14, 173), (x + 14, 134), tip=False)
    return canvas.finish(
        f"A chain of modules: {', '.join(modules)}. Its pooling is {pooling}. Below it is the chain of the lesson's "
        f"own calls: {', '.join(ours)}. The vectors at the ends are {'equal' if equal else 'not equal'}."
    )


def unit_circle(lengths, cosine):
    """Two vectors in the plane that holds both, at their true angle, and each divided by its length.

    lengths: of the two vectors. cosine: of the angle between them.
    """
    canvas, angle = Canvas("04 unit circle", 240), math.acos(cosine)
    unit = min(340 / max(lengths), 190 / (lengths[0] * max(math.sin(angle), 0.1)))
    x, y, turns = 20, 214, (angle, 0.0)

    def end(length, turn):
        return x + unit * length * math.cos(turn), y - unit * length * math.sin(turn)

    for name, length, turn in zip("uv", lengths, turns):
        canvas.arrow((x, y), end(length, turn), kind="vector", thick=True)
        tip = end(length, turn)
        canvas.label(tip[0] + 8, tip[1], f"{name}, length {length:.1f}", kind="vector", bold=True)
    with canvas.step():
        around = [end(1, angle * at / 12) for at in range(13)]
        canvas.path(*around, tip=False, dashed=True)
        for turn in turns:
            canvas.arrow((x, y), end(1, turn), kind="sentence", thick=True)
        canvas.label(around[3][0] + 16, y - 50, "each divided by its length", kind="sentence", bold=True)
    with canvas.step():
        text = f"their dot product = their cosine = {cosine:.3f}"
        canvas.label(around[3][0] + 16, y - 24, text, kind="sentence", bold=True)
    return canvas.finish(
        f"Two arrows from one point, with lengths {lengths[0]:.1f} and {lengths[1]:.1f} and an angle of "
        f"{math.degrees(angle):.0f} degrees between them. Divided by their lengths, both end on a circle of radius 1, "
        f"at the same angle. Their dot product is then their cosine, {cosine:.3f}."
    )


def cones(means):
    """Two arrows for each space, at the angle whose cosine is the mean cosine of its random pairs.

    means: {pooling: mean cosine of random pairs}.
    """
    canvas = Canvas("04 cones", 210)
    wide = canvas.width / len(means)
    for at, (name, mean) in enumerate(means.items()):
        angle = math.acos(mean)
        x, y, radius = wide * (at + 0.5), 142, 92
        for turned in (math.pi / 2 - angle / 2, math.pi / 2 + angle / 2):
            end = (x + radius * math.cos(turned), y - radius * math.sin(turned))
            canvas.arrow((x, y), end, kind="sentence", thick=True)
        canvas.text(x, 26, f"{math.degrees(angle):.0f}°")
        canvas.text(x, 166, name, mono=True, bold=True)
        canvas.text(x, 190, f"mean cosine {mean:.2f}", SMALL, quiet=True)
    told = ", ".join(f"{name} {math.degrees(math.acos(mean)):.0f}° ({mean:.2f})" for name, mean in means.items())
    return canvas.finish(
        f"Two arrows for each pooling, at the angle whose cosine is the mean cosine of its random pairs: {told}."
    )
