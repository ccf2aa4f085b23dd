"""The diagrams of lesson 01: tokenization."""

from .canvas import SMALL, Canvas, text_width


def path_of_a_text(text, normal, words, tokens, ids):
    """What each step makes of a text, from letters to ids; the first two steps throw something away."""
    canvas = Canvas("01 path of a text", 258)
    canvas.text(300, 18, text, 20, mono=True)

    def row(y, pieces, kind, names):
        widths = [text_width(str(piece), 16, True) + 16 for piece in pieces]
        x = 300 - (sum(widths) + 8 * (len(widths) - 1)) / 2
        for piece, wide in zip(pieces, widths):
            canvas.box(x, y, wide, 28, piece, kind, mono=True)
            x += wide + 8
        canvas.arrow((300, y - 22), (300, y - 3))
        canvas.text(10, y - 13, names[0], anchor="start", bold=True)
        canvas.label(10, y + 6, names[1], quiet=True)

    row(54, [normal], "plain", ("normalise", "lower case, no accents"))
    with canvas.step():
        row(108, words, "plain", ("split", "spaces, punctuation"))
    with canvas.step():
        row(162, tokens, "token", ("cut", "WordPiece"))
    with canvas.step():
        row(216, ids, "token", ("look up", "row numbers"))
    return canvas.finish(
        f"The text {text} on its way to ids. Normalised it is {normal}; split, {' '.join(words)}; cut into pieces, "
        f"{' '.join(tokens)}; looked up, {' '.join(map(str, ids))}. What normalising and splitting throw away, no "
        f"later step has."
    )


def greedy_cut(pieces):
    """A word cut by the longest match, one step a row: what is taken, and what is left."""
    word = "".join(piece.removeprefix("##") for piece in pieces)
    cell = 300 / len(word)
    canvas = Canvas("01 greedy cut", 46 * len(pieces) + 44)
    start = 0
    for at, letter in enumerate(word):
        canvas.box(90 + at * cell, 6, cell - 3, 28, letter, "plain", mono=True)
    for row, piece in enumerate(pieces):
        y, stop = 52 + 46 * row, start + len(piece.removeprefix("##"))
        with canvas.step():
            canvas.text(80, y + 14, f"step {row + 1}", SMALL, "end", quiet=True)
            canvas.box(90 + start * cell, y, (stop - start) * cell - 3, 28, kind="token", thick=True)
            for at in range(start, len(word)):
                if at >= stop:
                    canvas.box(90 + at * cell, y, cell - 3, 28, kind="plain", dashed=True)
                canvas.text(90 + (at + 0.5) * cell - 1.5, y + 14, word[at], mono=True, bold=at < stop)
            canvas.text(404, y + 14, piece, anchor="start", mono=True, kind="token")
        start = stop
    return canvas.finish(
        f"The word {word} cut from left to right. Each step takes the longest start of what is left that is in the "
        f"vocabulary: {', then '.join(pieces)}."
    )


def merges_of(word, merges):
    """How the merges of BPE join the letters of a word, a row for each merge that changes it.

    merges: pairs of symbols, in the order in which they were learned.
    """
    rows, symbols = [("letters", list(word))], list(word)
    for number, pair in enumerate(merges, start=1):
        joined, at = [], 0
        while at < len(symbols):
            both = tuple(symbols[at : at + 2]) == tuple(pair)
            joined.append("".join(symbols[at : at + 1 + both]))
            at += 1 + both
        if joined != symbols:
            rows.append((f"{number}: {pair[0]} + {pair[1]}", joined))
        symbols = joined
    cell = 380 / len(word)
    canvas = Canvas("01 merges", 44 * len(rows) + 6)
    for row, (name, parts) in canvas.steps(enumerate(rows)):
        y, x = 6 + 44 * row, 120
        canvas.text(110, y + 15, name, SMALL, "end", quiet=True)
        for part in parts:
            wide = len(part) * cell
            canvas.box(x, y, wide - 4, 30, part, "token" if len(part) > 1 else "plain", mono=True)
            x += wide
    return canvas.finish(
        f"The word {word} as letters, and after each merge that changes it: "
        + "; ".join(f"{name} gives {' '.join(parts)}" for name, parts in rows[1:]) + "."
    )  # fmt: skip
