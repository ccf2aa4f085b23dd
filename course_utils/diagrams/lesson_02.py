"""The diagrams of lesson 02: padding and truncation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .canvas import MIDDLE, SMALL, Canvas, Diagram


def padded_row(
    tokens: Sequence[str], ids: Sequence[int], mask: Sequence[int] | None = None
) -> Diagram:
    """Tokens, ids and mask below each other, one step for each.

    Where the mask is 0, the token is padding. Below stands what the mask says of the id 0. Without
    a mask, only tokens and ids are drawn.
    """
    canvas = Canvas("02 padded row", 212 if mask else 116)
    real = mask or [1] * len(tokens)
    cell = 452 / len(tokens)
    lefts = [64 + at * cell for at in range(len(tokens))]

    def boxes(y, name, values):
        canvas.text(54, y + 21, name, anchor="end", quiet=True)
        for x, token, value, counts in zip(lefts, tokens, values, real):
            kind = "special" if token in ("[CLS]", "[SEP]") else "token"
            written = token == "[PAD]"  # by the author of the text
            if counts:
                canvas.box(x, y, cell - 4, 42, value, kind, mono=True, thick=written)
            else:
                canvas.box(x, y, cell - 4, 42, value, "padding", mono=True, dashed=True)

    with canvas.step():
        boxes(8, "tokens", tokens)
    with canvas.step():
        boxes(64, "ids", ids)
    told = f"Tokens and ids below each other. The tokens are {' '.join(tokens)}, the ids "
    told += " ".join(map(str, ids))
    if mask:
        with canvas.step():
            canvas.text(54, 141, "mask", anchor="end", quiet=True)
            for x, value in zip(lefts, mask):
                kind = None if value else "loss"
                canvas.text(x + cell / 2 - 2, 141, value, 24, kind=kind, mono=True, bold=True)
        told += f", and the mask {' '.join(map(str, mask))}"
        of_zeros = [value for number, value in zip(ids, mask) if number == 0]
        if 1 in of_zeros:
            canvas.conclusion(194, "id 0, but mask 1: it is part of the text", kind="loss")
        elif of_zeros:
            canvas.conclusion(194, "mask 1: real, mask 0: padding")
    return canvas.finish(f"{told}.")


def rectangle(lengths: Sequence[int]) -> Diagram:
    """Rows of ids of different lengths, padded to the longest, and the mask of the shortest row."""
    canvas = Canvas("02 rectangle", 44 * len(lengths) + 70)
    longest, shortest = max(lengths), min(lengths)
    left, cell = 90, 400 / longest

    def ids(row, places, **look):
        for at in places:
            canvas.box(left + at * cell, 10 + 44 * row, cell - 3, 30, **look)

    for row, length in enumerate(lengths):
        canvas.text(left - 14, 25 + 44 * row, f"{length} ids", anchor="end")
        ids(row, range(length), kind="token")
    with canvas.step():
        for row, length in enumerate(lengths):
            ids(row, range(length, longest), kind="padding", dashed=True)
    with canvas.step():
        y = 44 * len(lengths) + 20
        canvas.text(left - 14, y, "its mask", SMALL, "end", quiet=True)
        for at in range(longest):
            x = left + (at + 0.5) * cell - 2
            if at < shortest:
                canvas.text(x, y, 1, mono=True)
            else:
                canvas.text(x, y, 0, mono=True, bold=True, kind="loss")
        canvas.label(left, y + 30, "1: real, 0: padding", quiet=True)
    return canvas.finish(
        f"{len(lengths)} rows of ids, of lengths {' and '.join(map(str, lengths))}. The shorter "
        f"one is padded to {longest} ids, so that the rows make a rectangle. In its mask, "
        f"{shortest} ones stand for real tokens and {longest - shortest} zeros for padding."
    )


def position_table(tokens: int, rows: int) -> Diagram:
    """More token vectors than the position table has rows: the sum that fails."""
    canvas = Canvas("02 position table", 216)
    top, tall, wide = 20, 180, 60
    cut = tall * rows / tokens
    canvas.box(96, top, wide, tall, kind="vector")
    canvas.text(126, 10, f"{tokens} token vectors", SMALL)
    canvas.text(228, top + cut / 2, "+", 30)
    canvas.box(300, top, wide, cut, kind="layer")
    canvas.text(330, 10, f"{rows} rows of positions", SMALL)
    with canvas.step():
        canvas.box(300, top + cut, wide, tall - cut, "?", "loss", dashed=True)
        canvas.arrow((160, top + cut), (296, top + cut), kind="loss", tip=False, dashed=True)
        told = f"{tokens - rows} have no\nposition vector:\nan error"
        canvas.label(372, top + (cut + tall) / 2, told, kind="loss")
    return canvas.finish(
        f"A column of {tokens} token vectors beside the {rows} rows of the position table. They "
        f"should be added row by row, but {tokens - rows} token vectors have no position vector, "
        "which causes an error."
    )


def windows(total: int, sizes: Sequence[int], shared: int) -> Diagram:
    """A long text cut into windows that share some tokens.

    total: its tokens, [CLS] and [SEP] included. sizes: of the windows, each with its own [CLS] and
    [SEP]. shared: how many tokens two neighbours have in common.
    """
    canvas = Canvas("02 windows", 88 + 52 * len(sizes))
    unit = 480 / (total - 2)

    def framed(x, y, wide):
        """A row of tokens between [CLS] and [SEP]."""
        canvas.box(x, y, wide, 28, kind="token")
        for side in (x - 10, x + wide):
            canvas.box(side, y, 10, 28, kind="special", round_by=2)

    framed(20, 8, 480)
    canvas.text(MIDDLE, 22, f"the text: {total} ids with [CLS] and [SEP]", SMALL)
    start = 0
    for row, size in enumerate(sizes):
        x, y, wide = 20 + start * unit, 62 + 52 * row, (size - 2) * unit
        overlap = shared * unit if row else 0
        with canvas.step():
            framed(x, y, wide)
            name = f"window {row + 1}: {size} ids"
            if wide > 150:
                canvas.text(x + (overlap + wide) / 2, y + 14, name, SMALL)
            else:
                canvas.text(x - 18, y + 14, name, SMALL, "end")
            if overlap:
                canvas.box(x, y, overlap, 28, kind="masked", round_by=2)
                canvas.bracket(x, x + overlap, y + 32, f"{shared} shared")
        start += size - 2 - shared
    return canvas.finish(
        f"A text of {total} ids cut into windows of {' and '.join(map(str, sizes))} ids. Each has "
        f"a [CLS] and a [SEP] of its own, and each after the first begins with the last {shared} "
        "ids of the one before."
    )


def sides(rows: Mapping[str, Sequence[str]]) -> Diagram:
    """The same sentence with padding on either side: which position each token gets.

    rows: {side: tokens}, all of one length.
    """
    canvas = Canvas("02 sides", 50 + 60 * len(rows))
    positions = range(len(next(iter(rows.values()))))
    wide = 400 / len(positions) - 6
    canvas.text(70, 18, "position", SMALL, "end", quiet=True)
    for at in positions:
        canvas.text(80 + at * (wide + 6) + wide / 2, 18, at, mono=True)
    starts = []  # the boxes of [CLS]
    for row, (side, tokens) in enumerate(rows.items()):
        y = 42 + 60 * row
        canvas.text(70, y + 14, side, anchor="end")
        starts.append(canvas.tokens(80, y, tokens, width=wide)[tokens.index("[CLS]")])
    with canvas.step():
        upper, lower = starts
        ends = ((upper[0] + upper[2]) / 2, upper[3] + 1), ((lower[0] + lower[2]) / 2, lower[1] - 1)
        canvas.arrow(*ends, kind="loss")
    told = [
        f"With padding on the {side}, [CLS] stands at position {tokens.index('[CLS]')}."
        for side, tokens in rows.items()
    ]
    return canvas.finish(f"A sentence padded on either side. {' '.join(told)}")
