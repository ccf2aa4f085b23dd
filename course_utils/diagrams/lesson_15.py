"""The diagrams of lesson 15: a static model, masks, the last token, guessed words, late chunks."""

from collections.abc import Mapping, Sequence

from .canvas import SMALL, WIDTH, Canvas, Diagram, in_lines


def three_steps(
    token: str,
    hidden: int,
    kept: int,
    rank: int,
    weight: float,
    tokens: int,
    other: tuple[str, float],
) -> Diagram:
    """How a token gets its row in a static model's table, in three steps.

    hidden, kept: numbers before and after the main directions. tokens: rows of the table. other:
    another token and its weight, shown last.
    """
    # the middles of the columns: three steps, and the table
    encode_at, shorten_at, weigh_at, table_at = 76, 236, 352, 464
    below = 184  # the height of what stands below them
    canvas = Canvas("15 three steps", 208, gap=4)
    titles = {
        encode_at: "1 · encode",
        shorten_at: "2 · shorten",
        weigh_at: "3 · weigh",
        table_at: "the table",
    }
    for x, title in titles.items():
        canvas.text(x, 14, title, SMALL, bold=True)
    canvas.tokens(4, 34, ["[CLS]", token, "[SEP]"])
    canvas.arrow((encode_at, 66), (encode_at, 84))
    canvas.box(encode_at - 60, 86, 120, 32, "encoder", "layer", SMALL)
    canvas.arrow((encode_at, 120), (encode_at, 140), "mean")
    canvas.vector(28, 142, 8, "vector", 96, 22, across=True)
    canvas.text(encode_at, below, f"{hidden} numbers", SMALL, quiet=True)
    with canvas.step():
        canvas.arrow((130, 153), (198, 153))
        canvas.text(shorten_at, 112, "along the main\ndirections", SMALL, quiet=True)
        canvas.vector(202, 142, 5, "vector", 68, 22, across=True)
        canvas.text(shorten_at, below, f"{kept} numbers", SMALL, quiet=True)
    with canvas.step():
        canvas.arrow((274, 153), (318, 153))
        canvas.text(weigh_at, 142, f"× {weight:.2f}", mono=True, bold=True)
        canvas.text(weigh_at, 170, f"{token}: rank {rank:,}", SMALL, quiet=True)
    with canvas.step():
        canvas.arrow((388, 153), (422, 110))
        canvas.grid(428, 34, [[""] * 4] * 6, 18, "vector")
        canvas.box(428, 88, 72, 18, kind="vector", thick=True, round_by=0)
        canvas.text(table_at, below, f"{tokens:,} rows", SMALL, quiet=True)
    with canvas.step():
        canvas.text(weigh_at, 194, f"{other[0]}: × {other[1]:.2f}", SMALL, bold=True, kind="loss")
    return canvas.finish(
        f"A token's way into the table of a static model, in three steps. 1: {token}, between "
        "[CLS] and [SEP], goes through the encoder, and the mean of the three vectors has "
        f"{hidden} numbers. 2: along the main directions, {kept} are kept. 3: they are multiplied "
        f"by a weight, {weight:.2f}, from the token's rank, {rank:,}. The result is one of "
        f"{tokens:,} rows of the table. The weight of {other[0]} is {other[1]:.2f}."
    )


def masks(panels: Mapping[str, tuple[Sequence[Sequence[bool]], str]]) -> Diagram:
    """Who may look at whom, a square for each mask.

    panels: {name: (rows of true and false, words below)}. Row i holds what token i looks at; a
    square is filled where it may look.
    """
    room, top = 480 / len(panels), 32
    canvas = Canvas("15 masks", 228)
    for at, (name, (rows, below)) in canvas.steps(enumerate(panels.items())):
        cell = min(18, (room - 22) / len(rows))
        wide = cell * len(rows)
        left = 32 + at * room + (room - 22 - wide) / 2
        canvas.text(left + wide / 2, 14, name, bold=True)
        for row, seen_by_row in enumerate(rows):
            for column, seen in enumerate(seen_by_row):
                kind, shade = ("head", 0.6) if seen else ("padding", 0)
                x, y = left + column * cell, top + row * cell
                canvas.box(x, y, cell - 2, cell - 2, kind=kind, round_by=2, shade=shade)
        canvas.text(left + wide / 2, top + wide + 20, below, SMALL)
        if at == 0:
            legend = "a row: who looks; a column: what is looked at; filled: may look"
            canvas.text(WIDTH / 2, 216, legend, SMALL, quiet=True)
    filled = " ".join(
        f"{name}: {below}, {sum(map(sum, rows))} of {len(rows) ** 2} squares filled."
        for name, (rows, below) in panels.items()
    )
    return canvas.finish(f"Masks as squares, a row for each token that looks. {filled}")


def last_column(
    masks: Mapping[str, Sequence[Sequence[int]]],
    cosines: Mapping[str, Sequence[float]],
    texts: Sequence[str],
) -> Diagram:
    """A batch padded on each side, and how near `hidden[:, -1]` is to each text's own vector.

    masks: {side: a row of 1 and 0 for each text}. cosines: {side: one for each text}. texts: what
    begins each row.
    """
    row, left, right, equal = 25, 156, 480, 0.995
    longest = max(len(counts) for rows in masks.values() for counts in rows)
    cell = min(22, 290 / longest)
    canvas = Canvas("15 last column", 256)

    def batch(top, side):
        canvas.label(6, top + 12, f"padding on the {side}", bold=True)
        for at, (text, counts) in enumerate(zip(texts, masks[side])):
            y = top + 26 + row * at
            canvas.label(6, y + 11, text, mono=True)
            for place, counted in enumerate(counts):
                kind, last = "token" if counted else "padding", place == len(counts) - 1
                canvas.box(
                    left + cell * place, y, cell - 3, cell, kind=kind, round_by=2, thick=last
                )

    def compared(top, side):
        canvas.text(right, top + 12, "cosine", SMALL, quiet=True)
        for at, cosine in enumerate(cosines[side]):
            kind = None if cosine > equal else "loss"
            canvas.text(right, top + 37 + row * at, f"{cosine:.2f}", bold=True, kind=kind)

    first, second = masks
    batch(2, first)
    with canvas.step():
        compared(2, first)
    with canvas.step():
        batch(108, second)
        compared(108, second)
    legend = (
        "blue: a token, [CLS] and [SEP] too; grey: [PAD]; framed: hidden[:, -1]",
        "cosine: of the framed vector and the last of the text read alone",
    )
    for y, words in zip((226, 246), legend):
        canvas.text(WIDTH / 2, y, words, SMALL, quiet=True)
    sides = []
    for side, rows in masks.items():
        ends = ["a token" if counts[-1] else "[PAD]" for counts in rows]
        of_texts = ", ".join(f"{text} ends in {end}, cosine {cosine:.2f}"
                             for text, end, cosine in zip(texts, ends, cosines[side]))  # fmt: skip
        sides.append(f"Padding on the {side}: {of_texts}.")
    both = " ".join(sides)
    return canvas.finish(
        f"A batch of {len(texts)} texts as rows of squares, the last column framed. {both}"
    )


def guessed_words(
    text: str,
    guesses: Sequence[str],
    own: Sequence[str],
    content: int,
    share: float,
    frequent: float,
) -> Diagram:
    """The attack on a stored vector: a linear map from it to guessed words, the right ones marked.

    content: how many words of the text could be guessed. share: of all stored texts' words, what
    comes back. frequent: the same by always guessing the most frequent words.
    """
    middle, longest = WIDTH / 2, 12  # longest: of a word that fits into its box, in letters
    canvas = Canvas("15 guessed words", 232)
    canvas.box(6, 4, 508, 30, text, "token", SMALL)
    canvas.arrow((middle, 36), (middle, 54), "encoder")
    canvas.vector(middle - 72, 56, 8, "sentence", 144, 24, across=True)
    canvas.label(346, 68, "stored", quiet=True)
    with canvas.step():
        canvas.arrow((middle, 84), (middle, 104), "linear map")
        columns = (len(guesses) + 1) // 2
        for at, word in enumerate(guesses):
            row, column = divmod(at, columns)
            right = word in own
            shown = word if len(word) <= longest else f"{word[: longest - 1]}…"
            kind = "masked" if right else "padding"
            canvas.box(6 + 103 * column, 108 + 38 * row, 97, 30, shown, kind, SMALL, bold=right)
    with canvas.step():
        back = f"here {len(own)} of {content} content words; on average {share:.0%} of them"
        canvas.text(middle, 200, back, bold=True, kind="loss")
        baseline = f"({frequent:.0%} by always guessing the most frequent words)"
        canvas.text(middle, 222, baseline, SMALL, quiet=True)
    return canvas.finish(
        f"The text {text!r} goes through the encoder; its vector is stored. From the vector, a "
        f"linear map guesses {len(guesses)} words: {', '.join(guesses)}. Of these, the text holds "
        f"{', '.join(own) or 'none'}: {len(own)} of its {content} content words. On average, "
        f"{share:.0%} of a stored text's content words come back, and {frequent:.0%} by always "
        "guessing frequent words."
    )


def late_and_alone(
    sentences: Sequence[str], alone: Sequence[float], late: Sequence[float], query: str
) -> Diagram:
    """Chunks of a text read alone, and late chunks, pooled from one pass: cosines with a query.

    sentences: of the text, a chunk each. alone, late: the cosines, one for each chunk.
    """
    wide, cosine_wide = 166, 100
    lefts = [6 + 171 * at for at in range(len(sentences))]
    inset = (wide - cosine_wide) / 2
    canvas = Canvas("15 late and alone", 258)
    canvas.text(WIDTH / 2, 14, f"query: {query}", SMALL, bold=True)

    def row(y, name, cosines, kind):
        canvas.label(6, y, name, quiet=True)
        for x, sentence, cosine in zip(lefts, sentences, cosines):
            middle = x + wide / 2
            canvas.box(x, y + 10, wide, 38, in_lines(sentence, wide - 12), "token", SMALL)
            canvas.arrow((middle, y + 70), (middle, y + 79), tip=False)
            best = cosine == max(cosines)
            canvas.box(x + inset, y + 80, cosine_wide, 24, f"{cosine:.2f}", kind, SMALL, bold=True,
                       shade=max(0, cosine), thick=best)  # fmt: skip

    row(34, "each chunk read alone, and its cosine with the query", alone, "sentence")
    for x in lefts:
        canvas.box(x + inset, 86, cosine_wide, 18, "encoder", "layer", SMALL)
    with canvas.step():
        row(152, "late chunks: one pass, then pooled, and the same cosines", late, "sentence")
        canvas.box(6, 204, lefts[-1] + wide - 6, 18, "encoder", "layer", SMALL)
    compared = "; ".join(
        f"{sentence} {own:.2f} alone, {pooled:.2f} late"
        for sentence, own, pooled in zip(sentences, alone, late)
    )
    return canvas.finish(
        f"A text of {len(sentences)} chunks, first each read alone by the encoder, then all in one "
        f"pass and pooled for each chunk. Their cosines with the query {query!r}: {compared}."
    )
