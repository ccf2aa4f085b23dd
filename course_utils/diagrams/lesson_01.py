"""The diagrams of lesson 01: tokenization."""

import math
import re
import unicodedata
from difflib import SequenceMatcher

from .canvas import SMALL, Canvas, text_width

LETTER = 9  # the width of a letter in a row of letters


def four_ways(rows, exact, unknown="[UNK]"):
    """The pieces that several tokenizers make of one line, how many, and whether their ids give the line back.

    rows: {name: tokens}. exact: {name: whether decoding gives the line back}. What became unknown is marked.
    """
    canvas = Canvas("01 four ways", 64 * len(rows) + 2)
    for row, (name, tokens) in canvas.steps(enumerate(rows.items())):
        y, x, line = 4 + 64 * row, 124, 0
        canvas.text(4, y + 11, name, SMALL, "start", bold=True)
        kind = None if exact[name] else "loss"
        told = "restored" if exact[name] else "not restored"
        canvas.label(4, y + 29, f"{len(tokens)} tokens", quiet=True)
        canvas.label(4, y + 47, told, kind=kind, bold=exact[name])
        for token in tokens:
            wide = text_width(token, SMALL, True) + 3
            if x + wide > 518:
                x, line = 124, line + 1
            look = "loss" if token == unknown else "token"
            canvas.box(x, y + 29 * line, wide, 24, token, look, SMALL, mono=True, round_by=3)
            x += wide + 1.5
    cut = "; ".join(
        f"{name}: {' '.join(tokens)}, {'restored exactly' if exact[name] else 'not restored'}"
        for name, tokens in rows.items()
    )
    return canvas.finish(f"One line as {len(rows)} tokenizers split it. {cut}.")


def words_to_tokens(words, lines, added):
    """The words of a sentence, and below each what it becomes, in two lines; then how many there are of each kind.

    lines: for each line, [(word or "", its tokens)]; a token without a word of its own was added. added: how many
    tokens there are of which kind, {name: count}, words first.
    """
    canvas = Canvas("01 words to tokens", 246)

    def needed(line, spare):
        return sum(text_width(token, SMALL, True) + spare + 2 for _, tokens in line for token in tokens) + 3 * len(line)

    spare = min((512 - needed(line, 0)) / sum(len(tokens) for _, tokens in line) for line in lines)
    for row, line in enumerate(lines):
        y, x, placed = 4 + 96 * row, 4, []
        for word, tokens in line:
            wides = [text_width(token, SMALL, True) + spare for token in tokens]
            total = sum(wides) + 2 * (len(wides) - 1)
            if word:
                canvas.text(x + total / 2, y + 12, word, SMALL, bold=True)
            placed.append((x, total, word, zip(tokens, wides)))
            x += total + 5
        with canvas.step():
            for at, total, word, pieces in placed:
                if word:
                    canvas.bracket(at + 2, at + total - 2, y + 32, below=False)
                for token, wide in pieces:
                    kind = "special" if token.startswith("[") else "token"
                    canvas.box(at, y + 38, wide, 28, token, kind, SMALL, mono=True, thick=not word)
                    at += wide + 2
    with canvas.step():
        wide = (512 - 26 * len(added)) / (len(added) + 1)
        total = sum(added.values())
        for at, (name, count) in enumerate([*added.items(), ("tokens", total)]):
            x = 4 + at * (wide + 26)
            canvas.text(x + wide / 2, 206, count, 20, bold=True)
            canvas.text(x + wide / 2, 230, name, SMALL, quiet=True)
            if at:
                canvas.text(x - 13, 206, "=" if at == len(added) else "+", 20)
    told = ", ".join(f"{word or 'no word'}: {' '.join(tokens)}" for line in lines for word, tokens in line)
    return canvas.finish(
        f"Each of {len(words)} words with its tokens below it. {told}. In total, "
        f"{' and '.join(f'{count} {name}' for name, count in added.items())} make {total} tokens."
    )


def rows_of_table(ids, shape, continuing):
    """Pieces of words, and the rows of the model's table that their ids name; a pair that only the mark tells apart.

    ids: {piece: id}. shape: of the table, (rows, numbers). continuing: how many of the pieces carry the mark.
    """
    canvas = Canvas("01 rows of a table", 236)
    canvas.text(84, 14, "piece", SMALL, quiet=True)
    canvas.text(212, 14, "id", SMALL, quiet=True)
    canvas.text(400, 14, f"{shape[0]:,} rows of {shape[1]} numbers", SMALL, quiet=True)
    ordered = sorted(ids.items(), key=lambda pair: pair[1])
    step = 176 / len(ordered)
    twins = [piece for piece in ids if f"##{piece.removeprefix('##')}" in ids and piece.removeprefix("##") in ids]
    canvas.box(296, 28, 208, 184, kind="layer")
    for at, (piece, number) in enumerate(ordered):
        y = 36 + step * at + step / 2
        canvas.box(40, y - 15, 88, 30, piece, "token", mono=True, thick=piece in twins, bold=piece in twins)
        with canvas.step():
            canvas.arrow((132, y), (184, y))
            canvas.text(212, y, number, mono=True, bold=piece in twins)
            canvas.arrow((240, y), (292, y))
            canvas.vector(304, y - 11, 8, "vector", 160, 22, across=True)
            canvas.text(484, y, "…")
    if twins:
        with canvas.step():
            canvas.text(260, 228, f"{' and '.join(twins)}: {len({ids[twin] for twin in twins})} ids, so "
                                  f"{len({ids[twin] for twin in twins})} rows", bold=True)  # fmt: skip
    return canvas.finish(
        f"A table of {shape[0]:,} rows with {shape[1]} numbers in each. "
        + ", ".join(f"{piece} has the id {number}, which is its row" for piece, number in ordered)
        + f". {continuing:,} of the rows are for pieces that continue a word."
    )


def framed(text, tokens, whole, ids):
    """A text, the tokens that it is split into, and the frame of special tokens, with the id of each.

    tokens: the text's own. whole, ids: as the model gets them, special tokens included.
    """
    canvas = Canvas("01 framed", 210)
    wide, gap = 92, 10
    left = 260 - (len(whole) * wide + (len(whole) - 1) * gap) / 2
    first = whole.index(tokens[0])
    canvas.text(260, 20, text, 24)

    def row(y, shown, names, kind=None):
        for at in shown:
            mark = "special" if whole[at].startswith("[") else "token"
            canvas.box(left + at * (wide + gap), y, wide, 36, names[at], kind or mark, mono=True)

    inner = range(first, first + len(tokens))
    outer = [at for at in range(len(whole)) if at not in inner]
    with canvas.step():
        canvas.arrow((260, 38), (260, 64))
        row(70, inner, whole)
    with canvas.step():
        row(70, outer, whole)
    with canvas.step():
        for at in range(len(whole)):
            x = left + at * (wide + gap) + wide / 2
            canvas.arrow((x, 110), (x, 138))
        row(144, range(len(whole)), [str(number) for number in ids])
        canvas.text(260, 197, f"{len(tokens)} words, {len(ids)} ids", SMALL, quiet=True)
    return canvas.finish(
        f"The text {text} is split into {', '.join(tokens)}. With the special tokens it is {' '.join(whole)}, and the "
        f"ids are {', '.join(map(str, ids))}."
    )


def _plain(sign):
    """A letter in lower case and without its accent."""
    return unicodedata.normalize("NFD", sign.lower())[0]


def round_trip(text, back):
    """A text and what comes back from its ids, with everything that is not the same marked and counted."""
    marks, changes = {50: [], 112: []}, {"capital": 0, "accent": 0, "space lost": 0, "space added": 0}
    matcher = SequenceMatcher(None, "".join(map(_plain, text)), "".join(map(_plain, back)), autojunk=False)
    for kind, i0, i1, j0, j1 in matcher.get_opcodes():
        if kind == "equal":
            for i, j in zip(range(i0, i1), range(j0, j1)):
                if text[i] != back[j]:
                    changes["capital" if text[i].lower() == back[j] else "accent"] += 1
                    marks[50].append(i)
                    marks[112].append(j)
        else:
            changes["space lost"] += i1 - i0
            changes["space added"] += j1 - j0
            marks[50] += range(i0, i1)
            marks[112] += range(j0, j1)
    cell = 512 / max(len(text), len(back))
    canvas = Canvas("01 round trip", 196)

    def row(y, name, written):
        canvas.label(4, y - 26, name, quiet=True)
        for place, letter in enumerate(written):
            if letter != " ":
                canvas.text(4 + (place + 0.5) * cell, y, letter, SMALL, mono=True)

    row(50, "into the tokenizer", text)
    with canvas.step():
        row(112, "decoded from the ids", back)
    with canvas.step():
        for y, written in ((50, text), (112, back)):
            for place in marks[y]:
                canvas.box(4 + place * cell, y - 13, cell, 26, kind="loss", round_by=2)
                canvas.text(4 + (place + 0.5) * cell, y, written[place].strip(), SMALL, mono=True)
        wide = 512 / len(changes)
        for at, (name, count) in enumerate(changes.items()):
            canvas.text(4 + wide * (at + 0.5), 154, count, 20, bold=True, kind="loss")
            several = name.replace("space", "spaces") if "space" in name else f"{name}s"
            canvas.text(4 + wide * (at + 0.5), 180, name if count == 1 else several, SMALL)
    return canvas.finish(
        f"Into the tokenizer: {text} Decoded from the ids: {back} Differences: "
        + ", ".join(f"{name} {count}" for name, count in changes.items()) + "."
    )  # fmt: skip


def _smile(canvas, x, y, radius=8):
    """An emoji that many fonts lack."""
    canvas.circle(x, y, radius, "head")
    for side in (-1, 1):
        canvas.arrow((x + 3 * side, y - 4), (x + 3 * side, y - 1), tip=False)
    canvas.arrow((x - 4.5, y + 2), (x + 4.5, y + 2), bend=3, tip=False)


def _written(canvas, x, y, text):
    """A text in type of one width, with the signs that many fonts lack drawn. Returns its right end."""
    for sign in text:
        if sign == "🙂":
            _smile(canvas, x + 9, y)
        elif sign != " ":
            canvas.text(x + LETTER / 2, y, sign, mono=True)
        x += 18 if sign == "🙂" else 10
    return x


def unknown_words(found, unknown="[UNK]", longest=100):
    """What stands in a text, one row each, its tokens, and in words what made a word of it unknown.

    found: {text: tokens}. longest: how many characters a word may have. Long runs of one letter are shortened.
    """
    canvas = Canvas("01 unknown words", 58 * len(found) + 4)
    for row, (text, tokens) in enumerate(found.items()):
        y, many = 28 + 58 * row, len(text) > 20
        if many:
            canvas.text(10, y, f"{text[0]} × {len(text)}", anchor="start", mono=True)
        else:
            _written(canvas, 10, y, text)
        with canvas.step():
            canvas.arrow((96, y), (126, y))
            if len(tokens) > 5:
                canvas.box(136, y - 15, 116, 30, f"{len(tokens)} pieces", "token", SMALL)
            else:
                kinds = ["loss" if token == unknown else "token" for token in tokens]
                canvas.tokens(136, y - 15, tokens, kinds, height=30, size=16)
            long, alone = any(len(word) > longest for word in text.split()), tokens == [unknown]
            if alone:
                sign = "one unknown character makes\nthe whole word unknown"
                cause = f"too long: a word of more\nthan {longest} characters" if long else sign
                canvas.label(276, y, cause, kind="loss", bold=True)
            else:
                canvas.label(276, y, "one character is lost" if unknown in tokens else "nothing is lost", quiet=True)
    told = [
        f"{text if len(text) < 20 else f'{len(text)} times the letter {text[0]}'} "
        f"becomes {' '.join(tokens) if len(tokens) <= 5 else f'{len(tokens)} pieces'}"
        for text, tokens in found.items()
    ]
    return canvas.finish(
        f"Texts and their tokens: {'; '.join(told)}. Two causes: a character that is not in the vocabulary, "
        f"or more than {longest} characters."
    )


def starts_tried(word, tried):
    """The starts of a word that are looked up, longest first, until one of them is an entry.

    tried: {start: whether it is in the vocabulary}.
    """
    canvas = Canvas("01 starts tried", 24 * len(tried) + 4)
    cell = 26

    def row(number, start, known):
        y = 24 * number - 21
        canvas.text(70, y + 11, number, SMALL, "end", quiet=True)
        canvas.box(90, y, cell * len(start), 21, kind="token" if known else "plain", thick=known)
        for at, letter in enumerate(start):
            canvas.text(90 + (at + 0.5) * cell, y + 11, letter, mono=True, bold=known)
        told = "in the vocabulary" if known else "not in it"
        canvas.text(104 + cell * len(word), y + 11, told, SMALL, "start", bold=known, quiet=not known)

    (first, *between, found) = enumerate(tried.items(), start=1)
    row(first[0], *first[1])
    for together in (between, [found]):
        with canvas.step():
            for number, (start, known) in together:
                row(number, start, known)
    last = list(tried)[-1]
    return canvas.finish(
        f"{len(tried)} starts of {word}, each a letter shorter than the one before. Only the last, {last}, is in the "
        f"vocabulary."
    )


def counted_pairs(counts, pair, total):
    """Words as letters, with how often each occurs; then each place of one pair of neighbours, and its total.

    counts: {word: count}.
    """
    half = math.ceil(len(counts) / 2)
    canvas = Canvas("01 counted pairs", 40 * half + 44)
    cell, letters, terms = 17, "".join(pair), []
    for at, (word, count) in enumerate(counts.items()):
        x, y = (8 if at < half else 276), 6 + 40 * (at % half)
        canvas.text(x + 34, y + 14, count, SMALL, "end", bold=True)
        for place, letter in enumerate(word):
            canvas.box(x + 42 + place * cell, y, cell - 2, 28, letter, "plain", SMALL, mono=True, round_by=3)
        starts = [found.start() for found in re.finditer(letters, word)]
        terms += [f"{len(starts)}·{count}" if len(starts) > 1 else str(count)] * bool(starts)
        if starts:
            with canvas.step():
                for start in starts:
                    canvas.box(x + 42 + start * cell, y, 2 * cell - 2, 28, letters, "token", SMALL, True, thick=True)
    with canvas.step():
        canvas.text(260, 40 * half + 26, f"most often {' '.join(pair)}:  {' + '.join(terms)} = {total}", 20, bold=True)
    return canvas.finish(
        f"{len(counts)} words as letters with their counts: {', '.join(f'{w} {n}' for w, n in counts.items())}. "
        f"The pair {' '.join(pair)} is marked. It occurs {' plus '.join(terms)} times, {total} in all."
    )


def merges_learned(merges, ending):
    """Merges in the order in which they were learned, each with its total as a bar; one new piece is marked.

    merges: [(pair, total)]. ending: the piece that is marked.
    """
    canvas = Canvas("01 merges learned", 31 * len(merges) + 30)
    most = max(total for _, total in merges)
    for x, name in ((114, "the most frequent pair"), (271, "new piece")):
        canvas.text(x, 12, name, SMALL, quiet=True)
    canvas.label(322, 12, "times it occurs", quiet=True)

    def row(number, pair, total):
        y, marked = 31 * number - 4, "".join(pair) == ending
        canvas.text(20, y + 13, number, SMALL, "end", quiet=True)
        canvas.text(114, y + 13, "+", SMALL)
        for x, symbol in ((32, pair[0]), (126, pair[1])):
            canvas.box(x, y, 70, 26, symbol, "token" if len(symbol) > 1 else "plain", mono=True)
        canvas.arrow((202, y + 13), (230, y + 13))
        canvas.box(236, y, 70, 26, "".join(pair), "loss" if marked else "token", mono=True, thick=marked, bold=marked)
        wide = 90 * total / most
        canvas.box(322, y + 3, wide, 20, kind="plain", round_by=0)
        canvas.label(328 + wide, y + 13, total)
        if marked:
            canvas.label(366 + wide, y + 13, "an ending", kind="loss", bold=True)

    row(1, *merges[0])
    for number, merge in canvas.steps(enumerate(merges[1:], start=2)):
        row(number, *merge)
    return canvas.finish(
        "Merges in their order, with how often each pair occurs: "
        + ", ".join(f"{one} and {other} to {one}{other} {total}" for (one, other), total in merges) + "."
    )  # fmt: skip


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
        lost = names[2] != "nothing lost"
        canvas.text(516, y + 14, names[2], SMALL, "end", kind="loss" if lost else None, bold=lost, quiet=not lost)

    row(54, [normal], "plain", ("normalise", "lower case, no accents", "capitals and\naccents lost"))
    with canvas.step():
        row(108, words, "plain", ("split into words", "at spaces, punctuation", "number of\nspaces lost"))
    with canvas.step():
        row(162, tokens, "token", ("split into pieces", "WordPiece", "nothing lost"))
    with canvas.step():
        row(216, ids, "token", ("look up", "row numbers", "nothing lost"))
    return canvas.finish(
        f"The text {text} on its way to ids. Normalised, it is {normal}; split into words, {' '.join(words)}; "
        f"split into pieces, {' '.join(tokens)}; looked up, {' '.join(map(str, ids))}. No later step can "
        f"recover what normalising and splitting into words discard."
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
        f"The word {word} is split from left to right. Each step takes the longest start of the rest that is in the "
        f"vocabulary: {', then '.join(pieces)}."
    )
