"""The diagrams of lesson 06: angles, pairs, centring, and what a plane leaves out."""

import itertools
import math

import numpy as np

from .canvas import SMALL, Canvas


def four_vectors(vectors):
    """Vectors of two whole numbers as arrows from one origin, each labelled with its numbers; the first is thick.

    vectors: (n, 2).
    """
    canvas, unit, origin = Canvas("06 four vectors", 174), 13, (240, 113)

    def draw(x, y, **look):
        end = (origin[0] + x * unit, origin[1] - y * unit)
        canvas.arrow(origin, end, **look)
        canvas.text(end[0] + (9 if x > 0 else -9), end[1], f"({x:g}, {y:g})", anchor="start" if x > 0 else "end")

    for x, y in canvas.steps(vectors[1:]):
        draw(x, y, kind="vector")
    draw(*vectors[0], kind="sentence", thick=True)
    names = [f"({x:g}, {y:g})" for x, y in vectors]
    return canvas.finish(f"Arrows from one origin: {names[0]}, drawn thick, and {', '.join(names[1:])}.")


def angles(vectors, names):
    """Each vector with the first one, at their true lengths, and divided by them: only the angle is left.

    Any two vectors span a plane, and each row of the drawing shows one such plane with the true angle.
    vectors: (n, hidden), with cosines to the first that are not negative. names: n short ones.
    """
    vectors = np.asarray(vectors, dtype=float)
    lengths = np.linalg.norm(vectors, axis=1)
    cosines = np.clip(vectors @ vectors[0] / lengths / lengths[0], -1, 1)
    turned = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)
    canvas, radius, left, right = Canvas("06 angles", 16 + 122 * (len(vectors) - 1)), 86, 14, 330
    bases = [112 + 120 * row for row in range(len(vectors) - 1)]

    def draw(x, base, row, long):
        """The arrow of a vector, `long` units long, from the corner of a row. Returns its tip."""
        tip = (x + long * turned[row][0], base - long * turned[row][1])
        canvas.arrow((x, base), tip, kind="sentence")
        return tip

    canvas.text(left, 10, "as they come", anchor="start", bold=True)
    for other, base in enumerate(bases, start=1):
        for row in (0, other):
            tip = draw(left, base, row, radius * lengths[row] / lengths.max())
            canvas.label(tip[0] + 8, tip[1], f"{names[row]}, {lengths[row]:.2f}")
    with canvas.step():
        canvas.text(right - 60, 10, "divided by their length", anchor="start", bold=True)
        for other, base in enumerate(bases, start=1):
            quarter = [(right + radius * math.cos(turn), base - radius * math.sin(turn))
                       for turn in np.linspace(0, math.pi / 2, 13)]  # fmt: skip
            canvas.path(*quarter, tip=False, dashed=True)
            for row in (0, other):
                draw(right, base, row, radius)
    for other, base in canvas.steps(enumerate(bases, start=1)):
        x, y = turned[other]
        foot = (right + radius * x, base)
        canvas.arrow((foot[0], base - radius * y), foot, kind="loss", dashed=True)
        canvas.text(foot[0], base + 15, f"{x:.2f}", bold=True, kind="loss")
    told = "; ".join(f"{name} has the length {length:.2f} and the cosine {cosine:.2f}"
                     for name, length, cosine in zip(names[1:], lengths[1:], cosines[1:]))  # fmt: skip
    return canvas.finish(
        f"Pairs of arrows at their true angles, each with {names[0]} (length {lengths[0]:.2f}): {told}. Divided by "
        "their lengths, all end on a circle, and the foot of the perpendicular from each tip stands at the cosine."
    )


def random_pairs(cosines, about):
    """Which entries of a table of cosines are random pairs: not the diagonal, each pair once, no pair of one word.

    cosines: (n, n). about: the word for which each of the n sentences was written.
    """
    canvas, wide, high, left, top = Canvas("06 random pairs", 240), 46, 36, 84, 30
    n = len(about)
    for at, word in enumerate(about):
        canvas.text(left - 8, top + (at + 0.5) * high, f"{at} {word}", SMALL, "end")
        canvas.text(left + (at + 0.5) * wide, top - 12, str(at), SMALL)
    canvas.grid(left, top, cosines, cell=wide, height=high, kind="sentence")
    places = list(itertools.product(range(n), repeat=2))
    itself = [(i, j) for i, j in places if i == j]
    twice = [(i, j) for i, j in places if i > j]
    same = [(i, j) for i, j in places if i < j and about[i] == about[j]]
    kept = [(i, j) for i, j in places if i < j and about[i] != about[j]]
    aside = left + n * wide + 24
    canvas.label(aside, top + 10, f"{n} × {n} cosines")
    crossed = (
        (itself, "itself", "with itself"),
        (twice, "again", "the same pair again"),
        (same, "word", "for the same word"),
    )
    for line, (gone, short, words) in canvas.steps(enumerate(crossed, start=1)):
        for i, j in gone:
            canvas.box(left + j * wide, top + i * high, wide, high, short, "padding", SMALL, dashed=True, round_by=0)
        canvas.label(aside, top + 10 + line * 30, f"− {len(gone)} {words}")
    with canvas.step():
        canvas.label(aside, top + 130, f"= {len(kept)} random pairs", bold=True)
        for at, name in enumerate("ij"):
            numbers = " ".join(str(pair[at]) for pair in kept)
            canvas.label(aside, top + 158 + at * 22, f"{name}: {numbers}", mono=True)
    return canvas.finish(
        f"The {n} by {n} cosines of {n} sentences. Crossed out: {len(itself)} of a sentence with itself, {len(twice)} "
        f"pairs that stand there twice, {len(same)} of sentences for the same word. {len(kept)} random pairs are left."
    )


def centring(loose, tight, names):
    """Unit vectors of two spaces as arrows from zero, and those of the second space once more from the tip of m.

    m is the mean vector. From zero, m points upwards, and across lies the axis along which the vectors vary most at a
    right angle to m. From the tip of m, one looks along m: across and up lie the two axes of largest variance.
    loose, tight: (n, hidden), rows of length 1; every sixth is drawn. names: of the two spaces.
    """
    canvas, unit, base = Canvas("06 centring", 260), 150, 214
    canvas.text(177, 34, "shadows in a plane, so shorter than 1", SMALL, quiet=True)

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
        canvas.text(x, 12, f"{name}, from zero", SMALL, bold=True)
        canvas.arrow((x - 76, base - unit), (x + 76, base - unit), tip=False, dashed=True)
        canvas.label(x - 74, base - unit - 11, "length 1", quiet=True)
        for high, (wide, _) in zip(up, across):
            canvas.arrow((x, base), (x + unit * wide, base - unit * high), kind="vector")
        canvas.arrow((x, base), (x, base - unit * length), kind="loss", thick=True)
        canvas.text(x, base + 16, f"m has the length {length:.2f}", SMALL, kind="loss")
        canvas.text(x, base + 36, f"its square: {length**2:.2f}", SMALL, kind="loss")
        told.append(f"{name} {length:.2f}")
    with canvas.step():
        unit, middle = 74 / np.linalg.norm(across, axis=1).max(), (438, 126)
        canvas.text(middle[0], 12, "the same, from m", SMALL, bold=True)
        for wide, high in across:
            canvas.arrow(middle, (middle[0] + unit * wide, middle[1] - unit * high), kind="vector")
        canvas.circle(*middle, 4, "loss", "dot")
        canvas.text(middle[0], base + 16, "zero moved to m,", SMALL, quiet=True)
        canvas.text(middle[0], base + 36, f"{unit / 150:.1f} times as large", SMALL, quiet=True)
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
        canvas.circle(x, base, 4, "vector", "dot")
    with canvas.step():
        canvas.label(left - 90, 12, "↑ out of the plane", quiet=True)
        for token, (x, y) in zip(tokens, spots):
            canvas.circle(x, y, 4, "vector", "dot")
            if token in named:
                canvas.arrow((x, base), (x, y), tip=False, dashed=True)
                canvas.label(x + 10, y, token, mono=True)
        rest = [at for at, token in enumerate(tokens) if token not in named]
        if rest:
            x, y = max(spots[at][0] for at in rest), np.mean([spots[at][1] for at in rest])
            canvas.label(x + 10, y, "\n".join(tokens[at] for at in rest), mono=True)
    nearest = int(inside.argmin())
    with canvas.step():
        x, y = spots[nearest]
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


def two_planes(in_one, in_two, names):
    """The tokens of two sentences in one common plane, and in two planes laid on one another, with both means.

    in_one, in_two: points (n, 2) of the first sentence and (m, 2) of the second. names: of the two sentences.
    """
    canvas = Canvas("06 two planes", 258)
    unit, told = 92 / max(np.abs(points).max() for points in (*in_one, *in_two)), []
    for x, title, sets in ((130, "one plane for both", in_one), (390, "two planes, laid on one another", in_two)):
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
            canvas.text(x, 246, f"the means are {between:.2f} apart", kind="sentence")
            told.append(f"{between:.2f}")
    canvas.text(246, 34, names[0], SMALL, "end")
    canvas.circle(254, 34, 4, "vector", "dot")
    canvas.box(266, 30, 8, 8, kind="vector", round_by=0)
    canvas.label(280, 34, names[1])
    return canvas.finish(
        f"The tokens of two sentences ({names[0]}: dots, {names[1]}: squares). In one plane for both, their means are "
        f"{told[0]} apart. In two planes, laid on one another, both means lie on the crossing of the axes: {told[1]}."
    )
