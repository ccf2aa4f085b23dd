"""The diagrams of lesson 00: from sentences to similarities, and sums along a dimension."""

import math
import textwrap

from .canvas import SMALL, Canvas, text_width


def sentences_to_numbers(sentences, vectors, shown=5):
    """Sentences, and the first numbers of the vector of each. vectors: an array (sentences, numbers)."""
    count, numbers = len(vectors), len(vectors[0])
    canvas = Canvas("00 sentences to numbers", 45 * count + 34)
    cell, left = 46, 258
    for row, (sentence, vector) in enumerate(zip(sentences, vectors)):
        y = 3 + 45 * row
        canvas.text(10, y + 20, row, bold=True)
        canvas.box(22, y, 208, 41, "\n".join(textwrap.wrap(sentence, 27)), "token", SMALL)
        with canvas.step():
            canvas.arrow((234, y + 20), (254, y + 20))
            values = [[float(value) for value in vector[:shown]]]
            canvas.grid(left, y + 3, values, cell, "sentence", height=34, shaded=False)
            canvas.text(left + cell * shown + 16, y + 20, "…")
    with canvas.step():
        canvas.text(left + cell * shown / 2, 45 * count + 20, f"{numbers} numbers per sentence", bold=True)
    return canvas.finish(
        f"{count} sentences of different lengths, each with the first {shown} of its {numbers} numbers. "
        f"The numbers of sentence 0 begin with {', '.join(f'{float(value):.2f}' for value in vectors[0][:shown])}."
    )


def between_two_groups(groups, middle, cosines):
    """Two pairs of sentences and a sentence between them, connected by lines that are labelled with the cosines.

    groups: two pairs of names. middle: a name. cosines: {(name, name): cosine}; lines of 0.4 or more are thick.
    """
    canvas = Canvas("00 between two groups", 254)
    wide, tall = 116, 40
    left, right = groups
    places = dict(zip((*left, *right), ((6, 26), (6, 170), (398, 26), (398, 170)))) | {middle: (202, 98)}
    told = []
    for (one, other), cosine in cosines.items():
        (x0, y0), (x1, y1) = places[one], places[other]
        start, end = (x0 + wide / 2, y0 + tall / 2), (x1 + wide / 2, y1 + tall / 2)
        canvas.arrow(start, end, tip=False, thick=cosine >= 0.4, kind="sentence" if cosine >= 0.4 else "plain")
        at = 0.5 if x0 == x1 or middle not in (one, other) else 0.44
        x, y = start[0] + at * (end[0] - start[0]), start[1] + at * (end[1] - start[1])
        if x0 == x1:
            canvas.label(x + 8, y, f"{cosine:.2f}", bold=True)
        else:
            canvas.text(x, y - 13, f"{cosine:.2f}", SMALL, bold=cosine >= 0.4)
        told.append(f"{one} and {other} {cosine:.2f}")
    for name, (x, y) in places.items():
        canvas.box(x, y, wide, tall, name, "token", SMALL, thick=name == middle)
    close = {name for pair, cosine in cosines.items() if middle in pair and cosine >= 0.4 for name in pair}
    near = {2: "both groups", 1: "one group", 0: "neither group"}[sum(not close.isdisjoint(group) for group in groups)]
    canvas.text(260, 240, f"{middle}: close to {near} (green: 0.4 or more)", SMALL, kind="sentence", bold=True)
    return canvas.finish(
        f"Lines connect {', '.join(places)}. Their cosines: {'; '.join(told)}. {middle} is between the two groups."
    )


def row_without_itself(names, row, i):
    """A row of a table of similarities, with two marks: the position that argmax returns, and the correct one."""
    canvas = Canvas("00 row without itself", 186)
    cell, left = 98, 15
    wanted = max((at for at in range(len(row)) if at != i), key=lambda at: row[at])
    for at, (name, value) in enumerate(zip(names, row)):
        x = left + cell * at
        canvas.text(x + cell / 2, 20, name, SMALL)
        canvas.box(x, 36, cell - 6, 48, f"{value:.2f}", "sentence", 20)
        canvas.text(x + cell / 2 - 3, 102, at, SMALL, quiet=True)

    def mark(at, text, kind):
        x = left + cell * at + cell / 2 - 3
        canvas.arrow((x, 146), (x, 114), kind=kind, thick=True)
        canvas.text(min(max(x, 88), 440), 164, text, kind=kind, bold=True)

    with canvas.step():
        mark(i, f"argmax returns {i}", "loss")
    with canvas.step():
        canvas.box(left + cell * i, 36, cell - 6, 48, "", "padding", dashed=True)
        canvas.text(left + cell * i + cell / 2 - 3, 60, "itself", SMALL, quiet=True)
        mark(wanted, f"correct: {wanted}", "sentence")
    return canvas.finish(
        f"The similarities of sentence {i}: "
        + ", ".join(f"{name} {value:.2f}" for name, value in zip(names, row))
        + f". The largest is at {i}, the sentence itself. Without it, the largest is at {wanted}, {names[wanted]}."
    )


def parts_of_encoder(text, pieces, layers, numbers):
    """The two parts of an encoder: the tokenizer splits a text into tokens, and the network computes their vectors."""
    canvas = Canvas("00 parts of an encoder", 256)
    wides = [text_width(piece, SMALL, True) + 12 for piece in pieces]
    total, left = sum(wides) + 6 * (len(pieces) - 1), 8
    middle = left + total / 2
    canvas.text(middle, 14, text)
    canvas.arrow((middle, 28), (middle, 50))
    boxes = canvas.tokens(left, 54, pieces, "token", height=30)
    canvas.label(left + total + 14, 69, "the tokenizer\nsplits the text")
    with canvas.step():
        for at in range(layers):
            canvas.box(left, 98 + 17 * at, total, 15, kind="layer", round_by=3)
        canvas.label(left + total + 14, 98 + 8.5 * layers, f"the network:\n{layers} layers")
    with canvas.step():
        for x0, _, x1, _ in boxes:
            canvas.vector((x0 + x1) / 2 - 12, 106 + 17 * layers, 4, "vector", 24, 44)
        canvas.label(left + total + 14, 128 + 17 * layers, f"{numbers} numbers\nfor each token")
    return canvas.finish(
        f"The tokenizer splits the text “{text}” into {len(pieces)} tokens ([CLS] and [SEP] are left out). The network "
        f"has {layers} layers and computes {numbers} numbers for each token."
    )


def sentences_to_similarities(shape):
    """The steps from sentences to vectors, and from vectors to the cosines of all pairs, which are still unknown.

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
        f"{count} sentences go into the encoder, which returns {count} vectors of {numbers} numbers, one for each "
        f"sentence. Comparing all pairs of vectors gives {count} times {count} cosines."
    )


def angles(pairs):
    """Pairs of vectors, each drawn as two arrows at the angle that corresponds to their cosine.

    pairs: {(name, name): cosine}.
    """
    canvas = Canvas("00 angles", 238)
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
    canvas.text(260, 226, "the smaller the angle, the more similar the sentences", bold=True, kind="sentence")
    return canvas.finish(
        f"Two arrows of length 1 for each pair of sentences, and the angle between them: {'; '.join(told)}."
    )


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
