"""The diagrams of lesson 15: a static model, masks, the last token, guessed words, and late chunks."""

from .canvas import SMALL, Canvas


def three_steps(token, hidden, kept, rank, weight, tokens, other):
    """How a token gets its row in a static model's table: once through the encoder, fewer numbers, a weight.

    hidden, kept: numbers before and after the main directions. tokens: rows of the table. other: another token and its
    weight, shown last.
    """
    canvas = Canvas("15 three steps", 208, gap=4)
    for x, title in ((76, "1 · encode"), (236, "2 · shorten"), (352, "3 · weigh"), (464, "the table")):
        canvas.text(x, 14, title, SMALL, bold=True)
    canvas.tokens(4, 34, ["[CLS]", token, "[SEP]"])
    canvas.arrow((76, 66), (76, 84))
    canvas.box(16, 86, 120, 32, "encoder", "layer", SMALL)
    canvas.arrow((76, 120), (76, 140), "mean")
    canvas.vector(28, 142, 8, "vector", 96, 22, across=True)
    canvas.text(76, 184, f"{hidden} numbers", SMALL, quiet=True)
    with canvas.step():
        canvas.arrow((130, 153), (198, 153))
        canvas.text(236, 112, "along the main\ndirections", SMALL, quiet=True)
        canvas.vector(202, 142, 5, "vector", 68, 22, across=True)
        canvas.text(236, 184, f"{kept} numbers", SMALL, quiet=True)
    with canvas.step():
        canvas.arrow((274, 153), (318, 153))
        canvas.text(352, 142, f"× {weight:.2f}", mono=True, bold=True)
        canvas.text(352, 170, f"{token}: rank {rank:,}", SMALL, quiet=True)
    with canvas.step():
        canvas.arrow((388, 153), (422, 110))
        canvas.grid(428, 34, [[""] * 4] * 6, 18, "vector")
        canvas.box(428, 88, 72, 18, kind="vector", thick=True, round_by=0)
        canvas.text(464, 184, f"{tokens:,} rows", SMALL, quiet=True)
    with canvas.step():
        canvas.text(352, 194, f"{other[0]}: × {other[1]:.2f}", SMALL, bold=True, kind="loss")
    return canvas.finish(
        f"A token's way into the table of a static model, in three steps. 1: {token}, between [CLS] and [SEP], goes "
        f"through the encoder, and the mean of the three vectors has {hidden} numbers. 2: along the main directions, "
        f"{kept} are kept. 3: they are multiplied by a weight, {weight:.2f}, from the token's rank, {rank:,}. The "
        f"result is one of {tokens:,} rows of the table. The weight of {other[0]} is {other[1]:.2f}."
    )


def masks(panels):
    """Who may look at whom, a square for each mask. panels: {name: (rows of true and false, words below)}.

    Row i holds what token i looks at; a square is filled where it may look.
    """
    canvas = Canvas("15 masks", 228)
    wide = 480 / len(panels)
    for at, (name, (rows, below)) in canvas.steps(enumerate(panels.items())):
        number = len(rows)
        cell = min(18, (wide - 22) / number)
        left = 32 + at * wide + (wide - 22 - cell * number) / 2
        canvas.text(left + cell * number / 2, 14, name, bold=True)
        for y, row in enumerate(rows):
            for x, seen in enumerate(row):
                canvas.box(left + x * cell, 32 + y * cell, cell - 2, cell - 2, kind="head" if seen else "padding",
                           round_by=2, shade=0.6 * bool(seen))  # fmt: skip
        canvas.text(left + cell * number / 2, 32 + cell * number + 20, below, SMALL)
        if not at:
            canvas.text(260, 216, "a row: who looks; a column: what is looked at; filled: may look", SMALL, quiet=True)
    told = " ".join(
        f"{name}: {below}, {sum(map(sum, rows))} of {len(rows) ** 2} squares filled."
        for name, (rows, below) in panels.items()
    )
    return canvas.finish(f"Masks as squares, a row for each token that looks. {told}")


def last_column(masks, cosines, texts):
    """A batch padded on each side, its last column framed, and how near `hidden[:, -1]` is to each text's own vector.

    masks: {side: a row of 1 and 0 for each text}. cosines: {side: one for each text}. texts: what begins each row.
    """
    canvas = Canvas("15 last column", 256)
    cell = min(22, 290 / max(len(row) for rows in masks.values() for row in rows))

    def batch(top, side):
        canvas.label(6, top + 12, f"padding on the {side}", bold=True)
        for at, row in enumerate(masks[side]):
            y, last = top + 26 + 25 * at, len(row) - 1
            canvas.label(6, y + 11, texts[at], mono=True)
            for place, real in enumerate(row):
                canvas.box(156 + cell * place, y, cell - 3, cell, kind="token" if real else "padding", round_by=2,
                           thick=place == last)  # fmt: skip

    def found(top, side):
        canvas.text(480, top + 12, "cosine", SMALL, quiet=True)
        for at, cosine in enumerate(cosines[side]):
            canvas.text(480, top + 37 + 25 * at, f"{cosine:.2f}", bold=True, kind=None if cosine > 0.995 else "loss")

    one, other = masks
    batch(2, one)
    with canvas.step():
        found(2, one)
    with canvas.step():
        batch(108, other)
        found(108, other)
    canvas.text(260, 226, "blue: a token, [CLS] and [SEP] too; grey: [PAD]; framed: hidden[:, -1]", SMALL, quiet=True)
    canvas.text(260, 246, "cosine: of the framed vector and the last of the text read alone", SMALL, quiet=True)
    told = " ".join(
        f"Padding on the {side}: "
        + ", ".join(
            f"{text} ends in {'a token' if row[-1] else '[PAD]'}, cosine {cosine:.2f}"
            for text, row, cosine in zip(texts, masks[side], cosines[side])
        )
        + "."
        for side in masks
    )
    return canvas.finish(f"A batch of {len(texts)} texts as rows of squares, the last column framed. {told}")


def guessed_words(text, guesses, own, content, share, frequent):
    """The attack on a stored vector: from the vector by a linear map to guesses, those that the text holds marked.

    content: how many words of the text could be guessed. share: of all stored texts' words, what comes back. frequent:
    the same by always guessing the most frequent words.
    """
    canvas = Canvas("15 guessed words", 232)
    canvas.box(6, 4, 508, 30, text, "token", SMALL)
    canvas.arrow((260, 36), (260, 54), "encoder")
    canvas.vector(188, 56, 8, "sentence", 144, 24, across=True)
    canvas.label(346, 68, "stored", quiet=True)
    with canvas.step():
        canvas.arrow((260, 84), (260, 104), "linear map")
        half = (len(guesses) + 1) // 2
        for at, word in enumerate(guesses):
            x, y = 6 + 103 * (at % half), 108 + 38 * (at // half)
            shown = word if len(word) <= 12 else f"{word[:11]}…"
            canvas.box(x, y, 97, 30, shown, "masked" if word in own else "padding", SMALL, bold=word in own)
    with canvas.step():
        found = f"here {len(own)} of {content} content words; on average {share:.0%} of them"
        canvas.text(260, 200, found, bold=True, kind="loss")
        canvas.text(260, 222, f"({frequent:.0%} by always guessing the most frequent words)", SMALL, quiet=True)
    return canvas.finish(
        f"The text {text!r} goes through the encoder; its vector is stored. From the vector, a linear map guesses "
        f"{len(guesses)} words: {', '.join(guesses)}. Of these, the text holds {', '.join(own) or 'none'}: "
        f"{len(own)} of its {content} content words. On average, {share:.0%} of a stored text's content words come "
        f"back, and {frequent:.0%} by always guessing frequent words."
    )


def late_and_alone(sentences, alone, late, query):
    """A text whose chunks are read alone, and late chunks: pooled from one pass, with their cosines with a query.

    sentences: of the text, a chunk each. alone, late: the cosines, one for each chunk.
    """
    canvas = Canvas("15 late and alone", 258)
    wide, places = 166, [6 + 171 * at for at in range(len(sentences))]
    canvas.text(260, 14, f"query: {query}", SMALL, bold=True)

    def row(y, name, values, kind):
        canvas.label(6, y, name, quiet=True)
        for x, sentence in zip(places, sentences):
            first, *rest = sentence.split()
            half = (len(rest) + 1) // 2
            lines = f"{' '.join([first, *rest[:half]])}\n{' '.join(rest[half:])}"
            canvas.box(x, y + 10, wide, 38, lines, "token", SMALL)
        for x, value in zip(places, values):
            canvas.arrow((x + wide / 2, y + 70), (x + wide / 2, y + 79), tip=False)
            canvas.box(x + 33, y + 80, 100, 24, f"{value:.2f}", kind, SMALL, bold=True, shade=max(0, value),
                       thick=value == max(values))  # fmt: skip

    row(34, "each chunk read alone, and its cosine with the query", alone, "sentence")
    for x in places:
        canvas.box(x + 33, 86, 100, 18, "encoder", "layer", SMALL)
    with canvas.step():
        row(152, "late chunks: one pass, then pooled, and the same cosines", late, "sentence")
        canvas.box(6, 204, places[-1] + wide - 6, 18, "encoder", "layer", SMALL)
    told = "; ".join(f"{s} {a:.2f} alone, {b:.2f} late" for s, a, b in zip(sentences, alone, late))
    return canvas.finish(
        f"A text of {len(sentences)} chunks, first each read alone by the encoder, then all in one pass and pooled "
        f"for each chunk. Their cosines with the query {query!r}: {told}."
    )


def words_of_a_text(text, weights, own):
    """A text, and the heaviest entries of its sparse vector as bars: words that it holds, and words that it does not.

    weights: {word: weight}. own: those of the words that the text holds.
    """
    canvas, unit = Canvas("15 words of a text", 100 + 25 * len(weights)), 270 / max(weights.values())
    canvas.box(6, 4, 508, 28, text, "token", SMALL)
    for at, (word, weight) in enumerate(weights.items()):
        y, kind = 44 + 25 * at, "token" if word in own else "masked"
        canvas.text(150, y + 10, word, SMALL, "end", mono=True)
        canvas.box(158, y, unit * weight, 20, kind=kind, round_by=0)
        canvas.label(164 + unit * weight, y + 10, f"{weight:.2f}" + ("" if word in own else "  new"))
    below = 56 + 25 * len(weights)
    canvas.label(6, below, "weight of a word in the sparse vector", quiet=True)
    canvas.label(6, below + 20, "blue: in the text; orange: not in it; five of each, none short", quiet=True)
    told = ", ".join(f"{word} {weight:.2f}" + ("" if word in own else " (new)") for word, weight in weights.items())
    return canvas.finish(f"The text {text!r}, and weights of words in its sparse vector, as bars: {told}.")
