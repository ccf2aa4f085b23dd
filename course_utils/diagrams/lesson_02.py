"""The diagrams of lesson 02: padding and truncation."""

from .canvas import SMALL, Canvas


def rectangle(lengths):
    """Rows of ids of different lengths, filled up to the longest, and the mask of the shortest row."""
    canvas = Canvas("02 rectangle", 44 * len(lengths) + 70)
    width, cell = max(lengths), 400 / max(lengths)
    for row, length in enumerate(lengths):
        y = 10 + 44 * row
        canvas.text(76, y + 15, f"{length} ids", anchor="end")
        for at in range(length):
            canvas.box(90 + at * cell, y, cell - 3, 30, kind="token")
    with canvas.step():
        for row, length in enumerate(lengths):
            for at in range(length, width):
                canvas.box(90 + at * cell, 10 + 44 * row, cell - 3, 30, kind="padding", dashed=True)
    shortest = min(lengths)
    with canvas.step():
        y = 44 * len(lengths) + 20
        canvas.text(76, y, "its mask", SMALL, "end", quiet=True)
        for at, real in enumerate([1] * shortest + [0] * (width - shortest)):
            x = 90 + (at + 0.5) * cell - 2
            canvas.text(x, y, real, mono=True, bold=not real, kind=None if real else "loss")
        canvas.label(90, y + 30, "1: real, 0: padding", quiet=True)
    return canvas.finish(
        f"{len(lengths)} rows of ids, of lengths {' and '.join(map(str, lengths))}. The shorter one is filled up to "
        f"{width} with padding, so that the rows make a rectangle. In its mask, {shortest} ones stand for real tokens "
        f"and {width - shortest} zeros for padding."
    )


def position_table(tokens, rows):
    """More token vectors than the position table has rows: the sum that fails."""
    canvas = Canvas("02 position table", 216)
    tall = 180
    cut = tall * rows / tokens
    canvas.box(96, 20, 60, tall, kind="vector")
    canvas.text(126, 10, f"{tokens} token vectors", SMALL)
    canvas.text(228, 20 + cut / 2, "+", 30)
    canvas.box(300, 20, 60, cut, kind="layer")
    canvas.text(330, 10, f"{rows} rows of positions", SMALL)
    with canvas.step():
        canvas.box(300, 20 + cut, 60, tall - cut, "?", "loss", dashed=True)
        canvas.arrow((160, 20 + cut), (296, 20 + cut), kind="loss", tip=False, dashed=True)
        canvas.label(372, 20 + (cut + tall) / 2, f"{tokens - rows} without\na partner:\nan error", kind="loss")
    return canvas.finish(
        f"A column of {tokens} token vectors beside the {rows} rows of the position table. They are to be added row by "
        f"row, and {tokens - rows} token vectors have no partner, which is an error."
    )


def windows(total, sizes, shared):
    """A long text cut into windows that share some tokens.

    total: its tokens, [CLS] and [SEP] included. sizes: of the windows, each with its own [CLS] and [SEP].
    """
    canvas = Canvas("02 windows", 88 + 52 * len(sizes))
    unit = 480 / (total - 2)
    canvas.box(20, 8, 480, 28, f"the text: {total} ids with [CLS] and [SEP]", "token", SMALL)
    canvas.box(10, 8, 10, 28, kind="special", round_by=2)
    canvas.box(500, 8, 10, 28, kind="special", round_by=2)
    start = 0
    for row, size in enumerate(sizes):
        x, y, wide = 20 + start * unit, 62 + 52 * row, (size - 2) * unit
        with canvas.step():
            canvas.box(x, y, wide, 28, kind="token")
            canvas.box(x - 10, y, 10, 28, kind="special", round_by=2)
            canvas.box(x + wide, y, 10, 28, kind="special", round_by=2)
            left = x + shared * unit * bool(row)
            place, anchor = ((left + x + wide) / 2, "middle") if wide > 150 else (x - 18, "end")
            canvas.text(place, y + 14, f"window {row + 1}: {size} ids", SMALL, anchor)
            if row:
                canvas.box(x, y, shared * unit, 28, kind="masked", round_by=2)
                canvas.bracket(x, x + shared * unit, y + 32, f"{shared} shared")
        start += size - 2 - shared
    return canvas.finish(
        f"A text of {total} ids cut into windows of {' and '.join(map(str, sizes))} ids. Each has a [CLS] and a [SEP] "
        f"of its own, and each after the first begins with the last {shared} ids of the one before."
    )


def sides(rows):
    """The same sentence with padding on either side: which position each token gets.

    rows: {side: tokens}, all of one length.
    """
    canvas = Canvas("02 sides", 50 + 60 * len(rows))
    (first, *_) = rows.values()
    wide = 400 / len(first) - 6
    canvas.text(70, 18, "position", SMALL, "end", quiet=True)
    for at in range(len(first)):
        canvas.text(80 + at * (wide + 6) + wide / 2, 18, at, mono=True)
    for row, (side, tokens) in enumerate(rows.items()):
        y = 42 + 60 * row
        canvas.text(70, y + 14, side, anchor="end")
        canvas.tokens(80, y, tokens, width=wide)
    places = {side: tokens.index("[CLS]") for side, tokens in rows.items()}
    with canvas.step():
        top, bottom = places.values()
        canvas.arrow((80 + top * (wide + 6) + wide / 2, 71), (80 + bottom * (wide + 6) + wide / 2, 101), kind="loss")
    return canvas.finish(
        "A sentence padded on either side. "
        + " ".join(f"With padding on the {side}, [CLS] stands at position {place}." for side, place in places.items())
    )
