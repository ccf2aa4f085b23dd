"""The diagrams of lesson 09: a sentence encoder as a chain of modules, two ways to compare, and a search."""

import textwrap

from .canvas import SMALL, Canvas, text_width


def three_modules(texts, mask, shapes):
    """The chain that makes vectors of texts, with the shape at every arrow.

    mask: of the padded batch, (texts, tokens). shapes: of the token vectors, the pooled ones, and the normalised ones.
    """
    canvas = Canvas("09 three modules", 100 + 44 * len(texts))
    rows = [32 + 24 * at for at in range(len(texts))]
    middle, wide = (rows[0] + rows[-1] + 18) / 2, 76 / len(mask[0])
    below, sizes = rows[-1] + 36, [str(tuple(numbers)) for numbers in shapes]
    for at, (y, text) in enumerate(zip(rows, texts), start=1):
        canvas.box(2, y, 54, 18, f"text {at}", "token", size=SMALL)
        canvas.label(2, 84 + 24 * len(texts) + 20 * at, f"text {at}: {text}", quiet=True)

    def module(x, width, name, task):
        """A module between the arrow into it and the arrow out of it."""
        canvas.box_from((x - 13, middle), x, middle - 22, width, 44, name, "layer", size=SMALL)
        canvas.arrow((x + width, middle), (x + width + 13, middle))
        canvas.text(x + width / 2, 10, task, SMALL, quiet=True)

    def sentences(x):
        for y in rows:
            canvas.vector(x, y, width=36, height=18, kind="sentence", across=True)

    def shape(x, size, names, aside=0):
        """The names stand a little aside, so that those of two shapes keep apart."""
        canvas.text(x, below, size, SMALL)
        canvas.text(x + aside, below + 20, names, SMALL, quiet=True)

    with canvas.step():
        module(69, 94, "Transformer", "tokenizer, encoder")
        for y, counts in zip(rows, mask):
            for place, real in enumerate(counts):
                canvas.box(176 + place * wide, y, wide, 18, kind="vector" if real else "padding", round_by=0)
        shape(214, sizes[0], "texts, tokens, numbers", aside=-10)
    with canvas.step():
        module(265, 60, "Pooling", "mean")
        sentences(338)
        shape(356, sizes[1], "texts, numbers", aside=8)
    with canvas.step():
        module(387, 82, "Normalize", "length 1")
        sentences(482)
        shape(484, sizes[2], "the same")
    return canvas.finish(
        f"{len(texts)} texts go through three modules: Transformer, which is tokenizer and encoder, Pooling, which "
        f"takes the mean over the tokens that are no padding, and Normalize. The shapes after them: {', '.join(sizes)}."
    )


def two_chains(chains):
    """Chains of three modules that differ in their pooling: whether each gives the loaded model's vectors.

    chains: {pooling: equal to the loaded model}.
    """
    canvas, told = Canvas("09 two chains", 36 + 92 * len(chains), gap=2), []
    rows = [(40 + 92 * at, pooling, equal) for at, (pooling, equal) in enumerate(chains.items())]
    for y, pooling, _ in rows:
        canvas.box(4, y - 24, 96, 48, "Transformer", "layer", SMALL)
        canvas.box_from((100, y), 118, y - 24, 78, 48, f"Pooling\n{pooling}", "layer", SMALL, thick=True)
        canvas.box_from((196, y), 214, y - 24, 82, 48, "Normalize", "layer", SMALL)
        canvas.arrow((296, y), (312, y))
        canvas.vector(314, y - 10, width=52, height=20, kind="sentence", across=True)
    for y, pooling, equal in canvas.steps(rows):
        canvas.text(386, y, "=" if equal else "≠", 24, kind="sentence" if equal else "loss", bold=True)
        canvas.box(406, y - 24, 110, 48, "the loaded\nmodel's vector", "sentence", SMALL)
        told.append(f"with {pooling}, {'equal' if equal else 'not equal'}")
    same = [pooling for pooling, equal in chains.items() if equal]
    with canvas.step():
        verdict = f"the same encoder only with {same[0]} pooling" if len(same) == 1 else f"equal: {len(same)}"
        canvas.text(260, 92 * len(chains) + 18, verdict, bold=True)
    return canvas.finish(
        f"Chains of Transformer, Pooling and Normalize that differ in the pooling. Compared with the loaded model's "
        f"vectors: {'; '.join(told)}."
    )


def two_ways(lengths, both):
    """A bi-encoder, which reads two sentences apart, beside a cross-encoder, which reads them as one input.

    lengths: of the two sentences in tokens, each with [CLS] and [SEP]. both: the length of the two as one input.
    """
    canvas = Canvas("09 two ways", 250)

    def cells(x, count, wide, ends):
        """Tokens without their text, and lines of attention from one in the middle to all."""
        for at in range(count):
            canvas.box(x + at * wide, 62, wide, 20, kind="special" if at in ends else "token", round_by=0)
        looks = x + (ends[-1] // 3 + 0.5) * wide
        for at in range(count):
            if (seen := x + (at + 0.5) * wide) != looks:
                canvas.arrow((looks, 62), (seen, 62), bend=(looks - seen) * 0.11, tip=False, kind="head")

    first, second = lengths
    wide = 204 / (first + second)
    starts = [6, 6 + first * wide + 22]
    canvas.text(121, 12, "bi-encoder", bold=True)
    for start, count, name in zip(starts, lengths, ("one", "other")):
        cells(start, count, wide, (0, count - 1))
        middle = start + count * wide / 2
        canvas.box_from((middle, 82), middle - 42, 100, 84, 34, "encoder", "layer", size=SMALL)
        canvas.arrow((middle, 134), (middle, 152))
        canvas.vector(middle - 28, 152, width=56, height=18, kind="sentence", across=True)
        canvas.arrow((middle, 170), (121, 194))
        canvas.text(middle, 32, name, SMALL, quiet=True)
    canvas.box(81, 194, 80, 28, "cosine", size=SMALL)
    canvas.text(121, 238, "vectors to use again", SMALL, kind="sentence", bold=True)
    with canvas.step():
        wide = 228 / both
        canvas.text(398, 12, "cross-encoder", bold=True)
        cells(284, both, wide, (0, first - 1, both - second, both - 1))
        canvas.text(284 + first * wide / 2, 32, "one", SMALL, quiet=True)
        canvas.text(284 + (first + second / 2) * wide, 32, "other", SMALL, quiet=True)
        canvas.box_from((398, 82), 314, 100, 168, 34, "encoder", "layer", size=SMALL)
        canvas.box_from((398, 134), 348, 194, 100, 28, "a number", size=SMALL)
        canvas.text(398, 238, "a number for this pair only", SMALL, kind="loss", bold=True)
    return canvas.finish(
        f"A bi-encoder reads two sentences of {first} and {second} tokens apart: attention stays within a sentence, "
        "each becomes a vector that can be kept, and the cosine compares the two. A cross-encoder reads both as one "
        f"input of {both} tokens, attention runs between them, and what comes out is one number for this pair."
    )


def pairs_of_n(n, large):
    """All pairs of n sentences as cells of a table, beside the passes of both ways for n and for `large` sentences."""
    canvas = Canvas("09 pairs of n", 250)
    cell, left, top = 220 / n, 24, 24
    for at in range(n):
        middle = (at + 0.5) * cell
        canvas.text(left + middle, 12, str(at + 1), SMALL, quiet=True)
        canvas.text(left - 4, top + middle, str(at + 1), SMALL, "end", quiet=True)
        canvas.box(left + at * cell, top + at * cell, cell, cell, kind="sentence", round_by=0)
    with canvas.step():
        for row in range(n):
            for column in range(row):
                canvas.box(left + column * cell, top + row * cell, cell, cell, kind="layer", round_by=0)
    few, many = (count * (count - 1) // 2 for count in (n, large))
    rows = ((56, "sentence", "one pass each", n, large), (146, "layer", "one pass per pair", few, many))
    for y, kind, name, *passes in canvas.steps(rows):
        canvas.box(256, y - 9, 18, 18, kind=kind, round_by=0)
        canvas.text(282, y, name, anchor="start", bold=True)
        for line, (count, needed) in enumerate(zip((n, large), passes), start=1):
            canvas.label(282, y + 24 * line, f"{count:,} sentences: {needed:,}", bold=count == large)
    return canvas.finish(
        f"A table of {n} by {n} sentences. On its diagonal are the {n} sentences, one pass each. The cells below it "
        f"are the {few} pairs, and those above it would be the same pairs again. For {large:,} sentences, there are "
        f"{large:,} passes with one each, and {many:,} with one per pair."
    )


def retrieve_and_rerank(sentences, candidates):
    """First the bi-encoder finds candidates among all sentences, then the cross-encoder orders these."""
    canvas = Canvas("09 retrieve and re-rank", 236)
    canvas.box(4, 8, 108, 34, "question", "token")
    canvas.box(130, 8, 384, 34, f"{sentences:,} vectors, made before", "sentence")
    with canvas.step():
        canvas.arrow((322, 42), (322, 102))
        canvas.path((18, 42), (18, 72), (34, 72))
        canvas.box(34, 52, 180, 40, f"bi-encoder\n1 pass, {sentences:,} cosines", "layer", size=SMALL)
        canvas.arrow((214, 72), (314, 72), tip=False, dashed=True)
        canvas.box(242, 104, 160, 34, f"{candidates} candidates", "sentence")
        canvas.label(412, 121, "missed here:\nlost for good", kind="loss", bold=True)
    with canvas.step():
        canvas.arrow((322, 138), (322, 198))
        canvas.path((18, 72), (18, 168), (34, 168))
        canvas.box(34, 148, 180, 40, f"cross-encoder\n{candidates} passes", "layer", size=SMALL)
        canvas.arrow((214, 168), (314, 168), tip=False, dashed=True)
        canvas.box(242, 200, 160, 32, f"the {candidates} in order", "plain")
    return canvas.finish(
        f"A question and the vectors of {sentences:,} sentences. The bi-encoder reads the question once and computes "
        f"{sentences:,} cosines, which leave {candidates} candidates; what is not among them is lost. The "
        f"cross-encoder reads each of them with the question, in {candidates} passes, and puts them in order."
    )


def hours_and_seconds(hours, seconds):
    """A long time in cells of one hour each, beside a short one at the same scale: for pairs, and one by one."""
    canvas, cell = Canvas("09 hours and seconds", 252), 36
    canvas.label(6, 12, f"one pass per pair: about {hours} hours, a cell for each", bold=True)
    for at in range(hours):
        canvas.box(6 + at % 14 * cell, 28 + at // 14 * 34, cell, 34, kind="layer", round_by=0)
    y = 28 + 34 * -(-hours // 14) + 14
    canvas.box(6, y, cell, 34, kind="plain", round_by=0)
    canvas.arrow((6.6, y), (6.6, y + 34), kind="sentence", tip=False, thick=True)
    canvas.label(54, y + 8, f"one pass each: about {seconds} seconds,", bold=True)
    canvas.label(54, y + 28, f"at this scale 1/{3600 / seconds:,.0f} of a cell", quiet=True)
    return canvas.finish(
        f"Times to scale. The {hours} hours of one pass per pair are {hours} cells. The {seconds} seconds of one pass "
        f"each are 1/{3600 / seconds:,.0f} of one such cell, a line at its edge."
    )


def one_reading(pairs):
    """Pairs of texts of which the tokenizer makes the same tokens. pairs: [(one, other, tokens, cosine)]."""
    canvas, told = Canvas("09 one reading", 114 * len(pairs) + 32), []
    rows = [(4 + 114 * at, *pair) for at, pair in enumerate(pairs)]
    for y, one, other, *_ in rows:
        canvas.box(4, y, 226, 32, one, "plain", SMALL, mono=True)
        canvas.box(290, y, 226, 32, other, "plain", SMALL, mono=True)
    for y, one, other, tokens, cosine in canvas.steps(rows):
        long = sum(text_width(token, SMALL, True) + 12 for token in tokens) + 6 * (len(tokens) - 1)
        left = 260 - long / 2
        canvas.arrow((117, y + 32), (max(left + 20, 160), y + 62))
        canvas.arrow((403, y + 32), (min(left + long - 20, 360), y + 62))
        canvas.tokens(left, y + 64, tokens)
        canvas.text(516, y + 78, f"{cosine:.3f}", anchor="end", kind="sentence", bold=True)
        told.append(f"{one!r} and {other!r} become {' '.join(tokens)}, with a cosine of {cosine:.3f}")
    with canvas.step():
        canvas.text(260, 114 * len(pairs) + 16, "written differently, but the same tokens", bold=True)
    return canvas.finish(f"Pairs of different texts with the same tokens. {'; '.join(told)}.")


def pairs_with_cosines(pairs, verdict):
    """Pairs of texts, joined by a line with their cosine, the nearest pair above, and in words what they show.

    pairs: [(one, other, cosine)].
    """
    canvas = Canvas("09 pairs with cosines", 56 * len(pairs) + 34)
    rows = [(6 + 56 * at, *pair) for at, pair in enumerate(pairs)]
    for y, one, other, _ in rows:
        canvas.box(4, y, 210, 36, one, "token", SMALL)
        canvas.box(306, y, 210, 36, other, "token", SMALL)
    for y, *_, cosine in canvas.steps(rows):
        canvas.arrow((214, y + 24), (306, y + 24), tip=False, kind="sentence", thick=True)
        canvas.text(260, y + 8, f"{cosine:.3f}", kind="sentence", bold=True)
    with canvas.step():
        canvas.text(260, 56 * len(pairs) + 18, verdict, bold=True)
    told = "; ".join(f"{one!r} and {other!r}, {cosine:.3f}" for one, other, cosine in pairs)
    return canvas.finish(f"Pairs of texts with their cosines, the nearest pair first: {told}.")


def highest_of_a_table(cosines, itself):
    """All cosines of a few texts, the highest ones framed. itself: whether argmax finds a text beside itself."""
    count, cell, high, left, top = len(cosines), 62, 36, 76, 28
    canvas = Canvas("09 highest of a table", top + high * count + 8)
    for at in range(count):
        canvas.text(left + (at + 0.5) * cell, 14, f"text {at + 1}", SMALL, quiet=True)
        canvas.text(left - 8, top + (at + 0.5) * high, f"text {at + 1}", SMALL, "end", quiet=True)
    canvas.grid(left, top, cosines, cell, "sentence", height=high, size=16)
    most = max(map(max, cosines))
    with canvas.step():
        for row, values in enumerate(cosines):
            for column, value in enumerate(values):
                if value > most - 1e-4:  # equal, but for the last digits
                    x, y = left + column * cell, top + row * high
                    corners = (x, y), (x + cell, y), (x + cell, y + high), (x, y + high), (x, y)
                    canvas.path(*corners, tip=False, kind="loss", thick=True)
        canvas.label(left + count * cell + 24, top + 18, "argmax finds one of these:", bold=True)
        remark = "a text beside itself" if itself else "a pair of texts"
        canvas.label(left + count * cell + 24, top + 42, f"{remark}, {most:.2f}", kind="loss", bold=True)
    return canvas.finish(
        f"A table of the cosines of {count} texts with each other. The highest value, {most:.2f}, is framed wherever "
        f"it stands. What argmax finds there is {remark}."
    )


def asked_and_found(rows):
    """What was searched for, and the nearest text to each with its cosine, and whether it fits.

    rows: [(what was searched for, text, cosine, what it is, whether it fits)].
    """
    canvas = Canvas("09 asked and found", 24 + 72 * len(rows))
    canvas.label(6, 10, "searched for", quiet=True)
    canvas.label(310, 10, "the nearest of all", quiet=True)
    placed = [(26 + 72 * at, *row) for at, row in enumerate(rows)]
    for y, wanted, *_ in placed:
        canvas.box(4, y, 184, 50, textwrap.fill(wanted, 24), "token", SMALL)
    for y, _, text, cosine, remark, fits in canvas.steps(placed):
        kind = "sentence" if fits else "loss"
        canvas.arrow((188, y + 26), (306, y + 26), kind=kind, thick=True)
        canvas.text(247, y + 10, f"{cosine:.2f}", kind=kind, bold=True)
        canvas.text(247, y + 42, remark, SMALL, kind=kind, bold=True)
        canvas.box(308, y, 208, 50, textwrap.fill(text, 28), "token", SMALL)
    told = "; ".join(f"{one!r} finds {text!r} with {cosine:.2f}, {remark}" for one, text, cosine, remark, _ in rows)
    return canvas.finish(f"What was searched for, the nearest text that was found, and its cosine: {told}.")
