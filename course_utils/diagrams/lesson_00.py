"""The diagrams of lesson 00: from sentences to similarities, and sums along a dimension."""

import math

from .canvas import SMALL, Canvas


def sentences_to_similarities(shape):
    """The way from sentences through the encoder to vectors, and to the cosines of all pairs, still unknown.

    shape: of the vectors, (sentences, numbers).
    """
    count, numbers = shape
    canvas = Canvas("00 sentences to similarities", 236, gap=4)
    for row in range(count):
        canvas.box(8, 30 + 36 * row, 96, 26, f"sentence {row}", "token", SMALL)
    canvas.box_from((108, 116), 144, 60, 74, 112, "encoder", "layer")
    with canvas.step():
        canvas.arrow((222, 116), (252, 116))
        for row in range(count):
            canvas.vector(256, 34 + 36 * row, 5, "sentence", 66, 18, across=True)
        canvas.text(289, 14, f"{count} × {numbers}", SMALL, mono=True)
        canvas.text(289, 222, "vectors", SMALL, quiet=True)
    with canvas.step():
        canvas.arrow((326, 116), (352, 116))
        shown = [["1" if at == row else "?" for at in range(count)] for row in range(count)]
        canvas.grid(356, 30, shown, 32, "sentence", height=36)
        canvas.text(436, 14, f"{count} × {count}", SMALL, mono=True)
        canvas.text(436, 222, "cosines of all pairs", SMALL, quiet=True)
    return canvas.finish(
        f"{count} sentences go into the encoder. Out come {count} vectors of {numbers} numbers, one for each sentence. "
        f"Multiplying all pairs of them gives {count} times {count} cosines."
    )


def angles(pairs):
    """Pairs of vectors as two arrows each, at the angle that belongs to their cosine.

    pairs: {(name, name): cosine}.
    """
    canvas = Canvas("00 angles", 214)
    wide, told = canvas.width / len(pairs), []
    for at, ((one, other), cosine) in enumerate(pairs.items()):
        angle = math.acos(cosine)
        x, y, long = wide * at + 22, 160, 112
        canvas.arrow((x, y), (x + long, y), kind="sentence", thick=True)
        canvas.text(x + long / 2, y + 18, one, SMALL, kind="sentence")
        end = (x + long * math.cos(angle), y - long * math.sin(angle))
        canvas.arrow((x, y), end, kind="sentence", thick=True)
        canvas.text(min(max(end[0] + 10, x + 30), x + 110), end[1] - 14, other, SMALL, kind="sentence")
        turns = [angle * part / 8 for part in range(9)]
        arc = [(x + 26 * math.cos(turn), y - 26 * math.sin(turn)) for turn in turns]
        canvas.path(*arc, tip=False)
        canvas.text(x + 44 * math.cos(angle / 2), y - 44 * math.sin(angle / 2), f"{math.degrees(angle):.0f}°", SMALL)
        canvas.text(x + long / 2, y + 42, f"cosine {cosine:.2f}", bold=True)
        told.append(f"{one} and {other}, {math.degrees(angle):.0f} degrees, cosine {cosine:.2f}")
    return canvas.finish(f"Two arrows of length 1 for each pair of sentences, at their angle: {'; '.join(told)}.")


def sums_of(table):
    """A small table of numbers with its sums along dimension 0 and along dimension 1."""
    rows, columns = len(table), len(table[0])
    canvas = Canvas("00 sums", 60 * rows + 66)
    canvas.grid(90, 26, table, 52, "vector", 0, 40, 16, shaded=False)
    canvas.text(80, 26 + 20 * rows, f"({rows}, {columns})", SMALL, "end", mono=True)
    with canvas.step():
        canvas.arrow((90 + 26 * columns, 28 + 40 * rows), (90 + 26 * columns, 52 + 40 * rows), "dim=0")
        sums = [sum(column) for column in zip(*table)]
        canvas.grid(90, 56 + 40 * rows, [sums], 52, "sentence", 0, 40, 16, shaded=False)
        canvas.text(80, 76 + 40 * rows, f"({columns},)", SMALL, "end", mono=True)
    with canvas.step():
        right = 90 + 52 * columns
        canvas.arrow((right + 4, 26 + 20 * rows), (right + 62, 26 + 20 * rows), "dim=1")
        canvas.grid(right + 66, 26, [[sum(row)] for row in table], 52, "sentence", 0, 40, 16, shaded=False)
        canvas.text(right + 92, 40 + 40 * rows, f"({rows},)", SMALL, mono=True)
    return canvas.finish(
        f"A table of {rows} rows and {columns} columns. The sum along dimension 0 leaves one number for each of the "
        f"{columns} columns, the sum along dimension 1 one for each of the {rows} rows."
    )
