"""The diagrams of lesson 06: vectors, centring, and what a plane leaves out."""

import math
import textwrap

import numpy as np

from .canvas import SMALL, Canvas


def four_vectors(vectors, cosines=()):
    """Vectors of two whole numbers as arrows from one origin, each labelled with its numbers; the first is thick.

    vectors: (n, 2). cosines: of the first with each of the others, written under their numbers in the last step.
    """
    canvas, unit, origin = Canvas("06 four vectors", 198), 13, (240, 113)

    def end_of(x, y):
        return origin[0] + x * unit, origin[1] - y * unit

    def draw(x, y, **look):
        end = end_of(x, y)
        canvas.arrow(origin, end, **look)
        canvas.text(end[0] + (9 if x > 0 else -9), end[1], f"({x:g}, {y:g})", anchor="start" if x > 0 else "end")

    for x, y in canvas.steps(vectors[1:]):
        draw(x, y, kind="vector")
    draw(*vectors[0], kind="sentence", thick=True)
    names, told = [f"({x:g}, {y:g})" for x, y in vectors], ""
    if len(cosines):
        with canvas.step():
            for (x, y), cosine in zip(vectors[1:], cosines, strict=True):
                across, down = end_of(x, y)
                away, anchor = (68, "start") if x > 0 else (-72, "end")
                canvas.text(across + away, down, f"cosine {cosine:g}", anchor=anchor, kind="sentence", bold=True)
                means = {1: "same direction", 0: "right angle", -1: "opposite"}.get(round(cosine, 6), "")
                canvas.text(across + away, down + 20, means, SMALL, anchor, kind="sentence")
        told = " Cosines with the first: " + ", ".join(f"{cosine:g}" for cosine in cosines) + "."
    return canvas.finish(f"Arrows from one origin: {names[0]}, drawn thick, and {', '.join(names[1:])}.{told}")


def centring(loose, tight, names):
    """Unit vectors of two spaces as arrows from zero, and those of the second space once more from the tip of m.

    m is the mean vector. From zero, m points upwards, and across lies the axis along which the vectors vary most at a
    right angle to m. From the tip of m, one looks along m: across and up lie the two axes of largest variance.
    loose, tight: (n, hidden), rows of length 1; every sixth is drawn. names: of the two spaces.
    """
    canvas, unit, base = Canvas("06 centring", 260), 150, 214

    def seen(rows):
        """The length of m, and each row along m and on the two axes."""
        mean = rows.mean(axis=0)
        up = mean / np.linalg.norm(mean)
        aside = rows - np.outer(rows @ up, up)
        axes = np.linalg.svd(aside, full_matrices=False)[2][:2]
        axes *= np.where(((aside @ axes.T) ** 3).sum(axis=0) < 0, -1, 1)[:, None]
        return float(np.linalg.norm(mean)), (rows @ up)[::6], (aside @ axes.T)[::6]

    told = []
    for x, name, rows in ((90, names[0], loose), (264, names[1], tight)):
        length, up, across = seen(rows)
        canvas.text(x, 12, name, bold=True)
        for high, (wide, _) in zip(up, across):
            canvas.arrow((x, base), (x + unit * wide, base - unit * high), kind="vector")
        canvas.arrow((x, base), (x, base - unit * length), kind="loss", thick=True)
        canvas.text(x, base + 16, f"mean m: length {length:.2f}", SMALL, kind="loss")
        canvas.text(x, base + 36, "one direction" if length > 0.9 else "many directions", bold=True)
        told.append(f"{name} {length:.2f}")
    with canvas.step():
        unit, middle = 74 / np.linalg.norm(across, axis=1).max(), (438, 126)
        canvas.text(middle[0], 12, f"{names[1]}, minus m", bold=True)
        for wide, high in across:
            canvas.arrow(middle, (middle[0] + unit * wide, middle[1] - unit * high), kind="vector")
        canvas.circle(*middle, 4, "loss", "dot")
        canvas.text(middle[0], base + 16, "seen from m", SMALL, kind="loss")
        canvas.text(middle[0], base + 36, "many directions", bold=True)
    return canvas.finish(
        f"Two bundles of arrows from zero, with their mean vectors m. Their lengths: {', '.join(told)}. Drawn "
        "are shadows in a plane, so all arrows are shorter than 1. The arrows of "
        f"{names[1]} all point the way of m. The same arrows, drawn from the tip of m, point to all sides."
    )


def beside_the_plane(tokens, vectors, points, named):
    """How far each token's vector lies from the middle in a plane, and how far out of the plane.

    Both make a right angle, so the distance from the lower left corner is the true one. The token nearest to the middle
    of the plane is the one whose triangle is drawn.
    tokens: n names. vectors: (n, hidden). points: (n, 2), the same in the plane. named: the tokens to write down
    beside their dots; the others are written together.
    """
    canvas, left, base = Canvas("06 beside the plane", 258), 100, 214
    inside = np.linalg.norm(points, axis=1)
    true = np.linalg.norm(vectors - np.mean(vectors, axis=0), axis=1)
    outside = np.sqrt(np.clip(true**2 - inside**2, 0, None))
    unit = min(360 / inside.max(), 184 / outside.max())
    spots = [(left + unit * x, base - unit * y) for x, y in zip(inside, outside)]
    canvas.arrow((left, base), (510, base))
    canvas.text(500, base + 34, "distance from the middle, in the plane", SMALL, "end", quiet=True)
    for x, _ in spots:
        canvas.circle(x, base, 4, "plain", "dot")
    nearest = int(inside.argmin())
    with canvas.step():
        canvas.label(left - 90, 12, "↑ out of the plane", quiet=True)
        for at, (token, (x, y)) in enumerate(zip(tokens, spots)):
            canvas.circle(x, y, 4, "loss" if at == nearest else "plain", "dot")
            canvas.arrow((x, base), (x, y), tip=False, dashed=True)
            if token in named:
                canvas.label(x + 10, y, token, mono=True, bold=at == nearest, quiet=at != nearest)
        rest = sorted((at for at, token in enumerate(tokens) if token not in named), key=inside.item)
        if rest:
            x, y = max(spots[at][0] for at in rest), np.mean([spots[at][1] for at in rest])
            canvas.label(x + 10, y, textwrap.fill(", ".join(tokens[at] for at in rest), 11), quiet=True)
    with canvas.step():
        found = f"near in the plane, far in {np.shape(vectors)[1]} dimensions"
        x, y = spots[nearest]
        canvas.label(x + 30, y - 18, found, bold=True, kind="loss")
        canvas.arrow((left, base), (x, base), kind="loss", thick=True, tip=False)
        canvas.arrow((left, base), (x, y), kind="loss", thick=True, tip=False)
        canvas.text((left + x) / 2, base + 16, f"{inside[nearest]:.2f}", bold=True, kind="loss")
        beside, middle = (left + x) / 2 - 7, (base + y) / 2
        canvas.text(beside, middle + 10, f"{true[nearest]:.2f}", bold=True, kind="loss", anchor="end")
        canvas.text(beside, middle - 20, "true\ndistance", SMALL, kind="loss", anchor="end")
    told = "; ".join(f"{token} {x:.2f} in, {y:.2f} out" for token, x, y in zip(tokens, inside, outside))
    return canvas.finish(
        f"For each token, its distance from the middle in the plane and out of the plane: {told}. {tokens[nearest]} is "
        f"nearest to the middle in the plane ({inside[nearest]:.2f}), but its true distance is {true[nearest]:.2f}."
    )


def two_planes(in_one, in_two, names, share):
    """The tokens of two sentences in one common plane, and in two planes laid on one another, with both means.

    in_one, in_two: points (n, 2) of the first sentence and (m, 2) of the second. names: of the two sentences.
    share: of the variance that the common plane keeps.
    """
    canvas = Canvas("06 two planes", 258)
    unit, told = 92 / max(np.abs(points).max() for points in (*in_one, *in_two)), []
    common = f"one plane: {share:.0%} of the variance"
    for x, title, sets in ((130, common, in_one), (390, "a plane for each", in_two)):
        canvas.text(x, 12, title, SMALL, bold=True)
        canvas.arrow((x - 100, 138), (x + 100, 138), tip=False, dashed=True)
        canvas.arrow((x, 46), (x, 230), tip=False, dashed=True)
        spots = [[(x + unit * one, 138 - unit * other) for one, other in points] for points in sets]
        means = [tuple(np.mean(one, axis=0)) for one in spots]
        for one in spots[0]:
            canvas.circle(*one, 4, "vector", "dot")
        for one, other in spots[1]:
            canvas.box(one - 4, other - 4, 8, 8, kind="vector", round_by=0)
        with canvas.step():
            canvas.box(means[1][0] - 10, means[1][1] - 10, 20, 20, kind="sentence", thick=True, round_by=0)
            canvas.circle(*means[0], 7, "sentence", "dot")
            between = abs(math.dist(*means) / unit)
            canvas.text(x, 246, f"means {between:.2f} apart{', always' if between < 0.005 else ''}", kind="sentence",
                        bold=True)  # fmt: skip
            told.append(f"{between:.2f}")
    canvas.text(246, 34, names[0], SMALL, "end")
    canvas.circle(254, 34, 4, "vector", "dot")
    canvas.box(266, 30, 8, 8, kind="vector", round_by=0)
    canvas.label(280, 34, names[1])
    return canvas.finish(
        f"The tokens of two sentences ({names[0]}: dots, {names[1]}: squares). In one plane for both, which "
        f"keeps {share:.0%} of the variance, their means are {told[0]} apart. In two planes, laid on one another, "
        f"both means lie on the crossing of the axes: {told[1]}."
    )


def overflow(numbers, products, lengths):
    """The cosine of a vector with itself, once as it should be and once with products that ran over.

    numbers: of the vector, a few whole numbers. products: what its type made of their squares. lengths: the product of
    the two lengths, in a type that holds it.
    """
    canvas, n = Canvas("06 overflow", 232), len(numbers)
    columns = [96, 96 + n * 76 + 24, 434]
    for x, name in zip(columns, ("products", "their sum", "cosine")):
        canvas.label(x, 44, name, quiet=True)
    canvas.label(2, 14, "a, times itself", quiet=True)
    canvas.grid(112, 2, [[f"{number:g}" for number in numbers]], 60, "vector", height=26)
    last = []
    for y, name, found, kind in ((58, "on paper", [number**2 for number in numbers], "sentence"),
                                 (132, "in int8", products, "loss")):  # fmt: skip
        with canvas.step():
            canvas.label(2, y + 17, name, bold=True)
            for at, product in enumerate(found):
                canvas.box(columns[0] + at * 76, y, 68, 34, f"{product:,}", kind)
            canvas.box_from((columns[0] + n * 76 - 6, y + 17), columns[1], y, 68, 34, f"{sum(found):,}", kind)
            canvas.arrow((columns[1] + 68, y + 17), (columns[2] - 2, y + 17), f"/ {lengths:,.0f}")
            last.append(f"{sum(found) / lengths:.3f}")
            canvas.box(columns[2], y, 80, 34, last[-1], kind, bold=True)
    with canvas.step():
        canvas.label(columns[0], 204, f"int8 has room for 127 at most: of {numbers[0] ** 2:,}\n{products[0]} is left, "
                     "so a does not even resemble itself", bold=True, kind="loss")  # fmt: skip
    return canvas.finish(
        f"The cosine of a vector of {n} numbers {numbers[0]} with itself. On paper, the products are "
        f"{numbers[0] ** 2:,} each, and the cosine is {last[0]}. In int8, of each product {products[0]} is left, and "
        f"the cosine is {last[1]}."
    )


def cosines_to_check(rows, ways, cosines, right):
    """The cosines of a few pairs of vectors by several ways to compute them; what is wrong is in the colour of errors.

    rows: what is odd about each pair. ways: names. cosines: (rows, ways), nan where there is no number.
    right: for each pair, the cosine on paper, or nan where there is none.
    """
    canvas, wide, high, told = Canvas("06 cosines to check", 76 + 56 * len(rows)), 96, 44, []
    fine = np.abs(np.subtract(cosines, np.reshape(right, (-1, 1)))) < 0.005
    wrong = np.count_nonzero(~fine[~np.isnan(right)])
    left, top = canvas.width - 2 - len(ways) * (wide + 6), 40
    canvas.text(left - 52, 16, "on paper", SMALL, bold=True)
    for at, way in enumerate(ways):
        canvas.text(left + at * (wide + 6) + wide / 2, 16, way, SMALL, bold=True)
    for at, (row, true) in enumerate(zip(rows, right, strict=True)):
        middle = top + at * 56 + high / 2
        canvas.label(2, middle, row)
        canvas.text(left - 52, middle, "none" if np.isnan(true) else f"{true:.2f}", bold=True, kind="sentence")
    with canvas.step():
        for at, (row, found, true) in enumerate(zip(rows, cosines, right, strict=True)):
            for place, value in enumerate(found):
                kind = "sentence" if fine[at, place] else "plain" if np.isnan(true) else "loss"
                written = "NaN" if np.isnan(value) else f"{round(float(value), 2) + 0.0:.2f}"
                canvas.box(left + place * (wide + 6), top + at * 56, wide, high, written, kind, bold=kind == "loss")
            told.append(f"{row}: " + ", ".join(f"{value:.2f}" for value in found))
        found = f"orange: {wrong} wrong cosines, and no error message\n(NaN: not a number)"
        canvas.text(canvas.width - 2, top + len(rows) * 56 + 14, found, SMALL, "end", bold=True, kind="loss")
    return canvas.finish(
        f"The cosines of {len(rows)} pairs of vectors, by {', '.join(ways)}. {'; '.join(told)}. On paper: "
        + ", ".join("none" if np.isnan(true) else f"{true:.2f}" for true in right)
        + f". {wrong} cosines are wrong."
    )
