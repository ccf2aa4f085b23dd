"""The diagrams of lesson 04: pooling."""

import math
from contextlib import nullcontext

from .canvas import SMALL, Canvas


def three_poolings(tokens, mask, values):
    """How [CLS], mean and maximum pooling make one vector of a sentence from the vectors of its tokens.

    tokens: of one sentence, padding included. mask: 1 for each token that counts, else 0.
    values: a few coordinates of each token's vector, (tokens, coordinates).
    """
    canvas = Canvas("04 three poolings", 250)
    counted = [row for row, counts in zip(values.tolist(), mask) if counts]
    pooled = {
        "[CLS]: the first vector": counted[0],
        "mean of the vectors that count": [sum(column) / len(counted) for column in zip(*counted)],
        "maximum of each coordinate": [max(column) for column in zip(*counted)],
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
        f"The {len(tokens)} tokens of a padded sentence, each with its vector. [CLS] pooling takes the first vector. "
        "Mean pooling takes the mean, and maximum pooling the largest value of each coordinate, over the "
        f"{len(counted)} tokens that the mask counts. Each gives one vector."
    )


def lined_up(names, *attempts):
    """Pairs of shapes below each other from the right, as torch lines them up; the first column that fails is marked.

    names: of the two tensors. attempts: one or more pairs of shapes, each shown one step after the other.
    """
    canvas, told = Canvas("04 shapes lined up", 118 * len(attempts) - 6), []
    for number, shapes in enumerate(attempts):
        y, backs = 8 + 118 * number, range(1, max(map(len, shapes)) + 1)
        columns = [{shape[-back] for shape in shapes if len(shape) >= back} for back in backs]
        fails = next((back for back, sizes in zip(backs, columns) if len(sizes - {1}) > 1), None)
        sizes = sorted(columns[fails - 1]) if fails else []
        verdict = f"{' and '.join(map(str, sizes))}: an error" if fails else "no error: the 1 is repeated"
        told.append(f"{' and '.join(str(tuple(shape)) for shape in shapes)} give {verdict}")
        with canvas.step() if number else nullcontext():
            for row, (name, shape) in enumerate(zip(names, shapes)):
                canvas.text(16, y + 16 + 38 * row, name, anchor="start", mono=True)
                for back, size in enumerate(reversed(shape), start=1):
                    kind = "loss" if back == fails else "sentence" if size == 1 else "plain"
                    canvas.box(512 - 118 * back, y + 38 * row, 110, 32, size, kind, thick=kind != "plain")
            kind = "loss" if fails else "sentence"
            canvas.text(504, y + 88, verdict, anchor="end", kind=kind)
    return canvas.finish(
        f"Shapes lined up from the right: {'; '.join(told)}. The sizes of a column must be equal, or one of them 1 or "
        "missing."
    )


def number_line(real, padded):
    """One coordinate of a sentence's vectors: real tokens, the padding after the product with the mask, and after -inf.

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
    canvas.text(place(max(real)), 164, f"the maximum wanted: {max(real):.3f}", SMALL, kind="sentence")
    with canvas.step():
        canvas.box(place(padded) - 7, 83, 14, 14, kind="loss", round_by=7)
        canvas.text(place(padded) + 8, 44, "padding times 0", SMALL, kind="loss")
        canvas.arrow((place(padded), 54), (place(padded), 80), kind="loss")
    with canvas.step():
        canvas.arrow((100, 25), (26, 25), kind="padding", dashed=True)
        canvas.label(108, 25, "padding as minus infinity: never the maximum", kind="padding")
    return canvas.finish(
        f"A number line for one coordinate. The {len(real)} real tokens lie below 0, and the largest of them is "
        f"{max(real):.3f}. Padding times 0 lies at 0, to the right of all of them. As minus infinity it lies to the "
        f"left of every number."
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
