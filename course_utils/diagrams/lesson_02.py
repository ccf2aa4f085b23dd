"""The diagrams of lesson 02: padding and truncation."""

import textwrap

from .canvas import SMALL, Canvas


def ragged(lengths, cause):
    """Rows of ids of different lengths that shall become one tensor; the gap, and the cause that the error names."""
    canvas = Canvas("02 ragged", 44 * len(lengths) + 96)
    width, cell = max(lengths), 400 / max(lengths)
    for row, length in enumerate(lengths):
        y = 10 + 44 * row
        canvas.text(76, y + 15, f"{length} ids", anchor="end")
        for at in range(length):
            canvas.box(90 + at * cell, y, cell - 3, 30, kind="token")
    below = 44 * len(lengths) + 10
    with canvas.step():
        for row, length in enumerate(lengths):
            if length < width:
                x = 90 + length * cell
                canvas.box(x, 10 + 44 * row, 90 + 400 - 3 - x, 30, "?", "loss", dashed=True)
    with canvas.step():
        canvas.box(90, below, 397, 66, kind="loss")
        canvas.text(288, below + 22, "ValueError: no tensor", bold=True)
        canvas.text(288, below + 46, cause, SMALL)
    return canvas.finish(
        f"Rows of {' and '.join(map(str, lengths))} ids. A tensor needs rows of equal length, so the gap after "
        f"the shorter row causes an error: {cause}."
    )


def _bar(canvas, x, y, real, total, cell, height, cut=0):
    """A row of ids as one bar: real ones, padding behind them, and what was truncated."""
    canvas.box(x, y, real * cell, height, kind="token", round_by=2)
    if total > real:
        canvas.box(x + real * cell, y, (total - real) * cell, height, kind="padding", dashed=True, round_by=2)
    if cut:
        canvas.box(x + total * cell, y, cut * cell, height, kind="loss", dashed=True, round_by=2)


def call_outcomes(rows, lengths):
    """What several calls make of rows of ids, as bars with padding and with what is truncated, and each call's outcome.

    rows: {call: (its number, real ids of each row, all ids of each row, outcome)}. lengths: of the rows before.
    """
    canvas = Canvas("02 calls", 68 * len(rows) + 54)
    cell = 330 / max(lengths)
    for row, (call, (number, real, total, outcome)) in enumerate(rows.items()):
        y, bad = 4 + 68 * row, len(set(total)) > 1
        canvas.text(18, y + 10, number, bold=True)
        canvas.label(36, y + 10, call, mono=True)
        with canvas.step():
            for at, (some, whole, before) in enumerate(zip(real, total, lengths)):
                _bar(canvas, 36, y + 23 + 18 * at, some, whole, cell, 15, before - some)
            canvas.text(386, y + 39, outcome, anchor="start", bold=True, kind="loss" if bad else None)
    y = 68 * len(rows) + 14
    for x, kind, name in ((36, "token", "real"), (120, "padding", "padding"), (228, "loss", "truncated")):
        canvas.box(x, y - 7, 22, 14, kind=kind, dashed=kind != "token", round_by=2)
        canvas.label(x + 28, y, name, quiet=True)
    with canvas.step():
        canvas.text(260, y + 26, "An error only if the rows differ in length", bold=True)
    told = ". ".join(
        f"{call}: rows of {' and '.join(map(str, total))} ids, {' and '.join(map(str, real))} of them real, {outcome}"
        for call, (_, real, total, outcome) in rows.items()
    )
    return canvas.finish(
        f"What each call does with rows of {' and '.join(map(str, lengths))} ids. {told}. An error occurs only "
        "if the rows differ in length."
    )


def lower_limit(rows, lengths):
    """What `max_length` does to rows of ids if nothing may be cut. rows: {max_length: lengths that come out}."""
    canvas = Canvas("02 lower limit", 74 * len(rows) + 34)
    cell = 300 / max(*rows, *lengths)
    for row, (limit, total) in canvas.steps(enumerate(rows.items())):
        y = 6 + 74 * row
        canvas.label(4, y + 32, f"max_length={limit}", mono=True)
        for at, (before, after) in enumerate(zip(lengths, total)):
            _bar(canvas, 140, y + 8 + 25 * at, before, after, cell, 22)
            canvas.text(470, y + 19 + 25 * at, after, bold=True, kind="loss" if after > limit else None)
        canvas.arrow((140 + limit * cell, y), (140 + limit * cell, y + 62), kind="loss", tip=False, thick=True)
    with canvas.step():
        canvas.text(260, 74 * len(rows) + 20, "Rows are padded to the line, never truncated", bold=True)
    told = "; ".join(f"with {limit}, {' and '.join(map(str, total))}" for limit, total in rows.items())
    return canvas.finish(
        f"Rows of {' and '.join(map(str, lengths))} ids, with a line at max_length. Shorter rows are padded to it "
        f"and longer ones stay: {told}."
    )


def padded_row(tokens, ids, mask):
    """Tokens, ids and mask below each other, one step for each; where the mask is 0, the token is padding.

    Below stands what the mask says of the id 0.
    """
    canvas = Canvas("02 padded row", 212)
    cell = 452 / len(tokens)
    kinds = ["special" if token in ("[CLS]", "[SEP]") else "token" for token in tokens]
    kinds = [kind if real else "padding" for kind, real in zip(kinds, mask)]
    for row, (name, values) in canvas.steps(enumerate({"tokens": tokens, "ids": ids, "mask": mask}.items())):
        y = 8 + 56 * row
        canvas.text(54, y + 21, name, anchor="end", quiet=True)
        for at, (value, kind, real) in enumerate(zip(values, kinds, mask)):
            x = 64 + at * cell
            if name == "mask":
                canvas.text(x + cell / 2 - 2, y + 21, value, 24, mono=True, bold=True, kind=None if value else "loss")
            else:
                written = real and tokens[at] == "[PAD]"  # a part of the text
                canvas.box(x, y, cell - 4, 42, value, kind, mono=True, dashed=kind == "padding", thick=written)
    told = {real for number, real in zip(ids, mask) if number == 0}
    if told:
        with canvas.step():
            remark = "id 0, but mask 1: it is part of the text" if 1 in told else "mask 1: real, mask 0: padding"
            canvas.text(260, 194, remark, bold=True, kind="loss" if 1 in told else None)
    return canvas.finish(
        f"Tokens, ids and mask below each other. The tokens are {' '.join(tokens)}, the ids {' '.join(map(str, ids))}, "
        f"the mask {' '.join(map(str, mask))}."
    )


def limits(sources, verdict):
    """How many tokens of a text each source allows, as bars, and in words what follows.

    sources: {name: (tokens, what happens there)}.
    """
    canvas = Canvas("02 limits", 66 * len(sources) + 36)
    most = max(tokens for tokens, _ in sources.values())
    for row, (name, (tokens, why)) in canvas.steps(enumerate(sources.items())):
        y, wide = 6 + 66 * row, 440 * tokens / most
        canvas.label(8, y + 10, name, bold=True)
        canvas.label(130, y + 10, why)
        canvas.box(8, y + 24, 440, 30, kind="padding", dashed=True, round_by=2)
        canvas.box(8, y + 24, wide, 30, kind="token", round_by=2)
        canvas.text(512, y + 39, tokens, 20, "end", bold=True)
    with canvas.step():
        canvas.text(260, 66 * len(sources) + 20, verdict, bold=True)
    return canvas.finish(
        f"{len(sources)} lengths, as bars, from {len(sources)} sources: "
        + "; ".join(f"{name}, {tokens} tokens: {why}" for name, (tokens, why) in sources.items()) + "."
    )  # fmt: skip


def cut_text(total, limit, kept, lost):
    """A text that is cut at a limit: how much is kept, how it ends there, and then what is lost.

    kept: the end of what is kept. lost: what is not, or its beginning and its end.
    """
    canvas = Canvas("02 cut text", 210)
    gone = total - limit
    wide = 500 * limit / total
    canvas.box(10, 8, wide, 42, f"kept: {limit} of {total} tokens", "token")
    canvas.box(10 + wide, 8, 500 - wide, 42, f"{gone} lost", "loss", SMALL, dashed=True)
    canvas.arrow((6 + wide, 54), (6 + wide, 76), tip=False)
    canvas.text(14 + wide, 90, f"it ends: … {kept}", 16, "end", bold=True)
    with canvas.step():
        canvas.box(10, 112, 500, 92, kind="loss", dashed=True)
        canvas.text(260, 126, "lost:", SMALL, bold=True, kind="loss")
        canvas.text(260, 168, "\n".join(textwrap.wrap(" … ".join(lost), 60)), kind="loss")
    return canvas.finish(
        f"A text of {total} tokens as a bar, truncated after {limit}. The kept part ends with: {kept}. The lost part: "
        f"{' … '.join(lost)}."
    )


def masked_weights(scores, mask, rows):
    """Scores of tokens and the weights made of them, a row for each way. rows: {name: weights}.

    mask: 1 for a real token, 0 for padding. A weight above 0 at padding is marked.
    """
    canvas = Canvas("02 masked weights", 52 * (len(rows) + 1) + 56)
    cell, left = 48, 84
    canvas.text(left + cell * sum(mask) / 2, 12, "real tokens", SMALL, quiet=True)
    canvas.text(left + cell * (len(mask) - (len(mask) - sum(mask)) / 2), 12, "padding", SMALL, quiet=True)

    def row(y, name, values, decimals):
        canvas.text(left - 8, y + 20, name, anchor="end")
        for at, (value, real) in enumerate(zip(values, mask)):
            kind = ("plain" if name == "scores" else "head") if real else "padding"
            if not real and value > 0 and name != "scores":
                kind = "loss"
            canvas.box(
                left + cell * at, y, cell - 3, 40, f"{value:.{decimals}f}", kind, SMALL, dashed=kind == "padding"
            )

    row(26, "scores", scores, 1)
    canvas.text(508, 46, "sum over\nreal tokens", SMALL, "end", quiet=True)
    for number, (name, weights) in canvas.steps(enumerate(rows.items(), start=1)):
        row(26 + 52 * number, name, weights, 3)
        real = sum(weight for weight, one in zip(weights, mask) if one)
        canvas.text(
            508, 46 + 52 * number, f"{real:.3f}", anchor="end", bold=True, kind="loss" if real < 0.999 else None
        )
        wrong = [weight for weight, one in zip(weights, mask) if not one and weight > 0]
        if wrong:
            canvas.text(260, 52 * (len(rows) + 1) + 42, "multiplying leaves padding with a weight", bold=True,
                        kind="loss")  # fmt: skip
    told = "; ".join(f"{name}, {' '.join(f'{weight:.3f}' for weight in weights)}" for name, weights in rows.items())
    return canvas.finish(
        f"A row of {len(mask)} scores, {len(mask) - sum(mask)} of them of padding, and the weights computed from them: "
        f"{told}."
    )


def batches(panels):
    """Batches as blocks of thin rows, one for each sentence, with their padding; the blocks stand side by side.

    panels: {name: (lengths of one batch, share of padding in all batches)}.
    """
    canvas = Canvas("02 batches", 250)
    most, room = max(len(lengths) for lengths, _ in panels.values()), 520 / len(panels)
    unit, tall = (room - 20) / max(max(lengths) for lengths, _ in panels.values()), 200 / most
    for number, (name, (lengths, share)) in canvas.steps(enumerate(panels.items())):
        x = 10 + room * number
        canvas.label(x, 12, name)
        canvas.box(x, 26, max(lengths) * unit, tall * len(lengths), kind="padding", round_by=0)
        canvas.stairs(x, 26, [length * unit for length in lengths], tall, "token")
        canvas.label(x, 38 + tall * len(lengths), f"padding: {share:.1%}", bold=True)
    return canvas.finish(
        "Batches as blocks, with a row for each sentence and padding behind it. "
        + " ".join(
            f"{name}: lengths from {min(lengths)} to {max(lengths)}, and {share:.1%} of all positions are padding."
            for name, (lengths, share) in panels.items()
        )
    )


def rectangle(lengths):
    """Rows of ids of different lengths, padded to the longest, and the mask of the shortest row."""
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
        f"{len(lengths)} rows of ids, of lengths {' and '.join(map(str, lengths))}. The shorter one is padded to "
        f"{width} ids, so that the rows make a rectangle. In its mask, {shortest} ones stand for real tokens "
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
        canvas.label(372, 20 + (cut + tall) / 2, f"{tokens - rows} have no\nposition vector:\nan error", kind="loss")
    return canvas.finish(
        f"A column of {tokens} token vectors beside the {rows} rows of the position table. They should be added row by "
        f"row, but {tokens - rows} token vectors have no position vector, which causes an error."
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
