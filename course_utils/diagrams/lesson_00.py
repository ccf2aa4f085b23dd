"""The diagrams of lesson 00: from sentences to similarities, and sums along a dimension."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from .canvas import MIDDLE, SMALL, Canvas, Diagram
from .look import text_width

CLOSE = 0.4  # from this cosine on, the line between two sentences is thick
ARROW = 112  # the length of a vector of length 1


def sentences_to_numbers(sentences: Sequence[str], vectors: np.ndarray, shown: int = 5) -> Diagram:
    """Sentences, and the first numbers of the vector of each. vectors: (sentences, numbers)."""
    count, numbers = vectors.shape
    canvas = Canvas("00 sentences to numbers", 45 * count + 34)
    cell, left = 46, 258
    right = left + cell * shown
    for row, (sentence, vector) in enumerate(zip(sentences, vectors.tolist())):
        y = 3 + 45 * row
        canvas.text(10, y + 20, row, bold=True)
        canvas.box(22, y, 208, 41, textwrap.fill(sentence, 27), "token", SMALL)
        with canvas.step():
            canvas.arrow((234, y + 20), (254, y + 20))
            canvas.grid(left, y + 3, [vector[:shown]], cell, "sentence", height=34, shaded=False)
            canvas.text(right + 16, y + 20, "…")
    with canvas.step():
        y = 45 * count + 20
        canvas.text((left + right) / 2, y, f"{numbers} numbers per sentence", bold=True)
    first = ", ".join(f"{value:.2f}" for value in vectors[0][:shown])
    return canvas.finish(
        f"{count} sentences of different lengths, each with the first {shown} of its {numbers} "
        f"numbers. The numbers of sentence 0 begin with {first}."
    )


def between_two_groups(
    groups: Sequence[Sequence[str]], middle: str, cosines: Mapping[tuple[str, str], float]
) -> Diagram:
    """Two pairs of sentences and one between them, connected by lines labelled with the cosines.

    groups: two pairs of names. middle: a name. cosines: {(name, name): cosine}.
    """
    canvas = Canvas("00 between two groups", 254)
    wide, tall = 116, 40
    left, right = groups
    corners = dict(zip((*left, *right), ((6, 26), (6, 170), (398, 26), (398, 170))))
    corners[middle] = (202, 98)
    centres = {name: (x + wide / 2, y + tall / 2) for name, (x, y) in corners.items()}
    near: set[str] = set()
    for (one, other), cosine in cosines.items():
        start, end = centres[one], centres[other]
        close = cosine >= CLOSE
        canvas.arrow(start, end, tip=False, thick=close, kind="sentence" if close else "plain")
        along = 0.44 if middle in (one, other) else 0.5  # beside the box in the middle
        x = start[0] + along * (end[0] - start[0])
        y = start[1] + along * (end[1] - start[1])
        if start[0] == end[0]:
            canvas.label(x + 8, (start[1] + end[1]) / 2, f"{cosine:.2f}", bold=True)
        else:
            canvas.text(x, y - 13, f"{cosine:.2f}", SMALL, bold=close)
        if close and middle in (one, other):
            near.update((one, other))
    for name, (x, y) in corners.items():
        canvas.box(x, y, wide, tall, name, "token", SMALL, thick=name == middle)
    reached = sum(not near.isdisjoint(group) for group in groups)
    to = ("neither group", "one group", "both groups")[reached]
    verdict = f"{middle}: close to {to} (green: {CLOSE} or more)"
    canvas.text(MIDDLE, 240, verdict, SMALL, kind="sentence", bold=True)
    told = "; ".join(f"{one} and {other} {cosine:.2f}" for (one, other), cosine in cosines.items())
    between = f"{middle} is between the two groups."
    return canvas.finish(f"Lines connect {', '.join(corners)}. Their cosines: {told}. {between}")


def parts_of_encoder(text: str, pieces: Sequence[str], layers: int, numbers: int) -> Diagram:
    """The two parts of an encoder: the tokenizer splits a text, the network computes vectors."""
    canvas = Canvas("00 parts of an encoder", 256)
    left = 8
    total = sum(text_width(piece, SMALL, True) + 18 for piece in pieces) - 6
    right = left + total + 14
    canvas.text(left + total / 2, 14, text)
    canvas.arrow((left + total / 2, 28), (left + total / 2, 50))
    boxes = canvas.tokens(left, 54, pieces, "token", height=30)
    canvas.label(right, 69, "the tokenizer\nsplits the text")
    with canvas.step():
        for at in range(layers):
            canvas.box(left, 98 + 17 * at, total, 15, kind="layer", round_by=3)
        canvas.label(right, 98 + 8.5 * layers, f"the network:\n{layers} layers")
    below = 106 + 17 * layers
    with canvas.step():
        for x0, _, x1, _ in boxes:
            canvas.vector((x0 + x1) / 2 - 12, below, width=24, height=44)
        canvas.label(right, below + 22, f"{numbers} numbers\nfor each token")
    return canvas.finish(
        f"The tokenizer splits the text “{text}” into {len(pieces)} tokens "
        f"([CLS] and [SEP] are left out). The network has {layers} layers and computes {numbers} "
        "numbers for each token."
    )


def angles(pairs: Mapping[tuple[str, str], float], conclusion: str = "") -> Diagram:
    """Pairs of vectors, each drawn as two arrows at the angle that corresponds to their cosine.

    pairs: {(name, name): cosine}. conclusion: a line below the arrows.
    """
    canvas = Canvas("00 angles", 238 if conclusion else 214)
    base = 160
    told = []
    for at, ((one, other), cosine) in enumerate(pairs.items()):
        angle = math.acos(cosine)
        x = canvas.width / len(pairs) * at + 22

        def place(turn, distance, x=x):
            return x + distance * math.cos(turn), base - distance * math.sin(turn)

        for turn in (0, angle):
            canvas.arrow((x, base), place(turn, ARROW), kind="sentence", thick=True)
        canvas.path(*[place(angle * part / 8, 26) for part in range(9)], tip=False)
        canvas.text(*place(angle / 2, 44), f"{math.degrees(angle):.0f}°", SMALL)
        canvas.text(x + ARROW / 2, base + 18, one, SMALL, kind="sentence")
        end = place(angle, ARROW)
        canvas.text(
            min(max(end[0] + 10, x + 30), x + 110), end[1] - 14, other, SMALL, kind="sentence"
        )
        canvas.text(x + ARROW / 2, base + 42, f"cosine {cosine:.2f}", bold=True)
        names = " and ".join(filter(None, (one, other)))
        told.append(f"{names}, {math.degrees(angle):.0f} degrees, cosine {cosine:.2f}")
    if conclusion:
        canvas.text(MIDDLE, 226, conclusion, bold=True, kind="sentence")
    return canvas.finish(
        f"Two arrows of length 1 for each pair, and the angle between them: {'; '.join(told)}."
    )


def sums_of(table: Sequence[Sequence[int]]) -> Diagram:
    """A small table of numbers with its sums along dimension 0 and along dimension 1."""
    rows, columns = len(table), len(table[0])
    canvas = Canvas("00 sums", 60 * rows + 66)
    left, top, wide, high = 90, 26, 52, 40
    right, bottom = left + wide * columns, top + high * rows
    look = {"decimals": 0, "height": high, "size": 16, "shaded": False}
    middle = (left + right) / 2, (top + bottom) / 2
    canvas.grid(left, top, table, wide, "vector", **look)
    canvas.text(left - 10, middle[1], f"({rows}, {columns})", SMALL, "end", mono=True)
    with canvas.step():
        canvas.arrow((middle[0], bottom + 2), (middle[0], bottom + 26), "dim=0")
        sums = [sum(column) for column in zip(*table)]
        canvas.grid(left, bottom + 30, [sums], wide, "sentence", **look)
        canvas.text(left - 10, bottom + 50, f"({columns},)", SMALL, "end", mono=True)
    with canvas.step():
        canvas.arrow((right + 4, middle[1]), (right + 62, middle[1]), "dim=1")
        canvas.grid(right + 66, top, [[sum(row)] for row in table], wide, "sentence", **look)
        canvas.text(right + 92, bottom + 14, f"({rows},)", SMALL, mono=True)
    return canvas.finish(
        f"A table of {rows} rows and {columns} columns. The sum along dimension 0 leaves one "
        f"number for each of the {columns} columns, the sum along dimension 1 one for each of the "
        f"{rows} rows."
    )
