"""The diagrams of lesson 01: tokenization."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from .canvas import SMALL, Canvas, Diagram
from .look import text_width

Line = Sequence[tuple[str, Sequence[str]]]  # words with their tokens


def four_ways(
    rows: Mapping[str, Sequence[str]], exact: Mapping[str, bool], unknown: str = "[UNK]"
) -> Diagram:
    """The pieces that several tokenizers make of one line, and whether their ids give it back.

    rows: {name: tokens}. exact: {name: whether decoding gives the line back}. What became unknown
    is marked.
    """
    canvas = Canvas("01 four ways", 64 * len(rows) + 2)
    told = []
    for row, (name, tokens) in canvas.steps(enumerate(rows.items())):
        top = 4 + 64 * row
        restored = exact[name]
        canvas.label(4, top + 11, name, bold=True)
        canvas.label(4, top + 29, f"{len(tokens)} tokens", quiet=True)
        if restored:
            canvas.label(4, top + 47, "restored", bold=True)
        else:
            canvas.label(4, top + 47, "not restored", kind="loss")
        x, y = 124.0, top
        for token in tokens:
            wide = text_width(token, SMALL, True) + 3
            if x + wide > 518:
                x, y = 124.0, y + 29
            kind = "loss" if token == unknown else "token"
            canvas.box(x, y, wide, 24, token, kind, SMALL, mono=True, round_by=3)
            x += wide + 1.5
        outcome = "restored exactly" if restored else "not restored"
        told.append(f"{name}: {' '.join(tokens)}, {outcome}")
    return canvas.finish(f"One line as {len(rows)} tokenizers split it. {'; '.join(told)}.")


def _needed(line: Line) -> float:
    """How wide a line of words and their tokens is, without space around the tokens' texts."""
    tokens = [token for _, pieces in line for token in pieces]
    return sum(text_width(token, SMALL, True) + 2 for token in tokens) + 3 * len(line)


def _draw_line(canvas: Canvas, y: float, line: Line, spare: float) -> None:
    """Words, and in a step their tokens below them. spare: the space around a token's text."""
    x = 4.0
    placed = []
    for word, tokens in line:
        widths = [text_width(token, SMALL, True) + spare for token in tokens]
        end = x + sum(widths) + 2 * (len(widths) - 1)
        if word:
            canvas.text((x + end) / 2, y + 12, word, SMALL, bold=True)
        placed.append((x, end, widths))
        x = end + 5
    with canvas.step():
        for (word, tokens), (x, end, widths) in zip(line, placed):
            if word:
                canvas.bracket(x + 2, end - 2, y + 32, below=False)
            for token, wide in zip(tokens, widths):
                kind = "special" if token.startswith("[") else "token"
                canvas.box(x, y + 38, wide, 28, token, kind, SMALL, mono=True, thick=not word)
                x += wide + 2


def words_to_tokens(
    words: Sequence[str], lines: Sequence[Line], added: Mapping[str, int]
) -> Diagram:
    """The words of a sentence, and below each what it becomes, in two lines; then their numbers.

    lines: for each line, [(word or "", its tokens)]; a token without a word of its own was added.
    added: how many tokens there are of which kind, {name: count}, words first.
    """
    canvas = Canvas("01 words to tokens", 246)
    spares = []
    for line in lines:
        count = sum(len(tokens) for _, tokens in line)
        spares.append((512 - _needed(line)) / count)
    for row, line in enumerate(lines):
        _draw_line(canvas, 4 + 96 * row, line, min(spares))
    total = sum(added.values())
    gap = 26  # between two terms of the sum
    wide = (512 - gap * len(added)) / (len(added) + 1)
    with canvas.step():
        for at, (name, count) in enumerate([*added.items(), ("tokens", total)]):
            x = 4 + at * (wide + gap)
            canvas.text(x + wide / 2, 206, count, 20, bold=True)
            canvas.text(x + wide / 2, 230, name, SMALL, quiet=True)
            if at:
                canvas.text(x - gap / 2, 206, "=" if at == len(added) else "+", 20)
    told = [f"{word or 'no word'}: {' '.join(tokens)}" for line in lines for word, tokens in line]
    terms = " and ".join(f"{count} {name}" for name, count in added.items())
    return canvas.finish(
        f"Each of {len(words)} words with its tokens below it. {', '.join(told)}. In total, "
        f"{terms} make {total} tokens."
    )


def rows_of_table(ids: Mapping[str, int], shape: tuple[int, int], continuing: int) -> Diagram:
    """Pieces of words, and the rows of the model's table that their ids name.

    ids: {piece: id}; a pair that only the mark tells apart is thick. shape: of the table, (rows,
    numbers). continuing: how many of the pieces carry the mark.
    """
    canvas = Canvas("01 rows of a table", 236)
    headings = {84: "piece", 212: "id", 400: f"{shape[0]:,} rows of {shape[1]} numbers"}
    for x, heading in headings.items():
        canvas.text(x, 14, heading, SMALL, quiet=True)
    ordered = sorted(ids.items(), key=lambda pair: pair[1])
    twins = [piece for piece in ids if f"##{piece}" in ids]
    twins += [f"##{piece}" for piece in twins]
    row_height = 176 / len(ordered)
    canvas.box(296, 28, 208, 184, kind="layer")
    for at, (piece, number) in enumerate(ordered):
        y = 36 + row_height * (at + 0.5)
        twin = piece in twins
        canvas.box(40, y - 15, 88, 30, piece, "token", mono=True, thick=twin, bold=twin)
        with canvas.step():
            canvas.arrow((132, y), (184, y))
            canvas.text(212, y, number, mono=True, bold=twin)
            canvas.arrow((240, y), (292, y))
            canvas.vector(304, y - 11, 8, "vector", 160, 22, across=True)
            canvas.text(484, y, "…")
    if twins:
        count = len({ids[twin] for twin in twins})
        canvas.conclusion(228, f"{' and '.join(twins)}: {count} ids, so {count} rows")
    told = ", ".join(f"{piece} has the id {number}, which is its row" for piece, number in ordered)
    return canvas.finish(
        f"A table of {shape[0]:,} rows with {shape[1]} numbers in each. {told}. {continuing:,} of "
        "the rows are for pieces that continue a word."
    )


def counted_pairs(counts: Mapping[str, int], pair: tuple[str, str], total: int) -> Diagram:
    """Words as letters, with how often each occurs; then each place of one pair, and its total.

    counts: {word: count}.
    """
    half = math.ceil(len(counts) / 2)
    canvas = Canvas("01 counted pairs", 40 * half + 44)
    cell, letters, terms = 17, "".join(pair), []
    for at, (word, count) in enumerate(counts.items()):
        x, y = (50 if at < half else 318), 6 + 40 * (at % half)
        canvas.text(x - 8, y + 14, count, SMALL, "end", bold=True)
        for place, letter in enumerate(word):
            left = x + place * cell
            canvas.box(left, y, cell - 2, 28, letter, size=SMALL, mono=True, round_by=3)
        starts = [found.start() for found in re.finditer(letters, word)]
        if starts:
            terms.append(f"{len(starts)}·{count}" if len(starts) > 1 else str(count))
            with canvas.step():
                for start in starts:
                    left, wide = x + start * cell, 2 * cell - 2
                    canvas.box(left, y, wide, 28, letters, "token", SMALL, mono=True, thick=True)
    told = f"most often {' '.join(pair)}:  {' + '.join(terms)} = {total}"
    canvas.conclusion(40 * half + 26, told, size=20)
    return canvas.finish(
        f"{len(counts)} words as letters with their counts: "
        f"{', '.join(f'{word} {count}' for word, count in counts.items())}. The pair "
        f"{' '.join(pair)} is marked. It occurs {' plus '.join(terms)} times, {total} in all."
    )


def path_of_a_text(
    text: str, normal: str, words: Sequence[str], tokens: Sequence[str], ids: Sequence[int]
) -> Diagram:
    """What each step makes of a text, from letters to ids; the first two throw something away."""
    canvas = Canvas("01 path of a text", 258)
    centre = 300
    canvas.text(centre, 18, text, 20, mono=True)

    def row(y, pieces, kind, name, remark, lost=""):
        widths = [text_width(str(piece), 16, True) + 16 for piece in pieces]
        x = centre - (sum(widths) + 8 * (len(widths) - 1)) / 2
        for piece, wide in zip(pieces, widths):
            canvas.box(x, y, wide, 28, piece, kind, mono=True)
            x += wide + 8
        canvas.arrow((centre, y - 22), (centre, y - 3))
        canvas.text(10, y - 13, name, anchor="start", bold=True)
        canvas.label(10, y + 6, remark, quiet=True)
        if lost:
            canvas.text(516, y + 14, lost, SMALL, "end", kind="loss", bold=True)
        else:
            canvas.text(516, y + 14, "nothing lost", SMALL, "end", quiet=True)

    without_accents = "lower case, no accents"
    row(54, [normal], "plain", "normalise", without_accents, "capitals and\naccents lost")
    with canvas.step():
        at_spaces = "at spaces, punctuation"
        row(108, words, "plain", "split into words", at_spaces, "number of\nspaces lost")
    with canvas.step():
        row(162, tokens, "token", "split into pieces", "WordPiece")
    with canvas.step():
        row(216, ids, "token", "look up", "row numbers")
    return canvas.finish(
        f"The text {text} on its way to ids. Normalised, it is {normal}; split into words, "
        f"{' '.join(words)}; split into pieces, {' '.join(tokens)}; looked up, "
        f"{' '.join(map(str, ids))}. No later step can recover what normalising and splitting into "
        "words discard."
    )


def greedy_cut(pieces: Sequence[str]) -> Diagram:
    """A word cut by the longest match, one step a row: what is taken, and what is left."""
    word = "".join(piece.removeprefix("##") for piece in pieces)
    left, cell = 90, 300 / len(word)
    canvas = Canvas("01 greedy cut", 46 * len(pieces) + 44)
    for at, letter in enumerate(word):
        canvas.box(left + at * cell, 6, cell - 3, 28, letter, mono=True)
    start = 0
    for row, piece in enumerate(pieces):
        y, stop = 52 + 46 * row, start + len(piece.removeprefix("##"))
        with canvas.step():
            canvas.text(left - 10, y + 14, f"step {row + 1}", SMALL, "end", quiet=True)
            taken = (stop - start) * cell - 3
            canvas.box(left + start * cell, y, taken, 28, kind="token", thick=True)
            for at in range(start, len(word)):
                x = left + at * cell
                if at >= stop:
                    canvas.box(x, y, cell - 3, 28, dashed=True)
                canvas.text(x + cell / 2 - 1.5, y + 14, word[at], mono=True, bold=at < stop)
            canvas.text(left + 314, y + 14, piece, anchor="start", mono=True, kind="token")
        start = stop
    return canvas.finish(
        f"The word {word} is split from left to right. Each step takes the longest start of the "
        f"rest that is in the vocabulary: {', then '.join(pieces)}."
    )
