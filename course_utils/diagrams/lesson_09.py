"""The diagrams of lesson 09: a sentence encoder as a chain of modules, two ways to compare, and a search."""

from .canvas import SMALL, Canvas


def three_modules(texts, mask, shapes):
    """The chain that makes vectors of texts, with the shape at every arrow.

    mask: of the padded batch, (texts, tokens). shapes: of the token vectors, the pooled ones, and the normalised ones.
    """
    canvas = Canvas("09 three modules", 84 + 44 * len(texts))
    rows = [32 + 24 * at for at in range(len(texts))]
    middle, wide = (rows[0] + rows[-1] + 18) / 2, 76 / len(mask[0])
    below, sizes = rows[-1] + 36, [str(tuple(numbers)) for numbers in shapes]
    for at, (y, text) in enumerate(zip(rows, texts), start=1):
        canvas.box(2, y, 54, 18, f"text {at}", "token", size=SMALL)
        canvas.label(2, 64 + 24 * len(texts) + 20 * at, f"text {at}: {text}", quiet=True)

    def module(x, width, name, task):
        """A module between the arrow into it and the arrow out of it."""
        canvas.box_from((x - 13, middle), x, middle - 22, width, 44, name, "layer", size=SMALL)
        canvas.arrow((x + width, middle), (x + width + 13, middle))
        canvas.text(x + width / 2, 10, task, SMALL, quiet=True)

    def sentences(x):
        for y in rows:
            canvas.vector(x, y, width=36, height=18, kind="sentence", across=True)

    with canvas.step():
        module(69, 94, "Transformer", "tokenizer, encoder")
        for y, counts in zip(rows, mask):
            for place, real in enumerate(counts):
                canvas.box(176 + place * wide, y, wide, 18, kind="vector" if real else "padding", round_by=0)
        canvas.text(214, below, sizes[0], SMALL)
    with canvas.step():
        module(265, 60, "Pooling", "mean")
        sentences(338)
        canvas.text(356, below, sizes[1], SMALL)
    with canvas.step():
        module(387, 82, "Normalize", "length 1")
        sentences(482)
        canvas.text(488, below, sizes[2], SMALL)
    return canvas.finish(
        f"{len(texts)} texts go through three modules: Transformer, which is tokenizer and encoder, Pooling, which "
        f"takes the mean over the tokens that are no padding, and Normalize. The shapes after them: {', '.join(sizes)}."
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
    canvas.text(121, 238, "keeps the vectors", SMALL, quiet=True)
    with canvas.step():
        wide = 228 / both
        canvas.text(398, 12, "cross-encoder", bold=True)
        cells(284, both, wide, (0, first - 1, both - second, both - 1))
        canvas.text(284 + first * wide / 2, 32, "one", SMALL, quiet=True)
        canvas.text(284 + (first + second / 2) * wide, 32, "other", SMALL, quiet=True)
        canvas.box_from((398, 82), 314, 100, 168, 34, "encoder", "layer", size=SMALL)
        canvas.box_from((398, 134), 348, 194, 100, 28, "a number", size=SMALL)
        canvas.text(398, 238, "keeps nothing", SMALL, quiet=True)
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
        canvas.box(276, y - 9, 18, 18, kind=kind, round_by=0)
        canvas.text(302, y, name, anchor="start", bold=True)
        for line, (count, needed) in enumerate(zip((n, large), passes), start=1):
            canvas.label(302, y + 24 * line, f"{count:,} sentences: {needed:,}")
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
    with canvas.step():
        canvas.arrow((322, 138), (322, 198))
        canvas.path((18, 72), (18, 168), (34, 168))
        canvas.box(34, 148, 180, 40, f"cross-encoder\n{candidates} passes", "layer", size=SMALL)
        canvas.arrow((214, 168), (314, 168), tip=False, dashed=True)
        canvas.box(272, 200, 100, 32, "an order", "plain")
    return canvas.finish(
        f"A question and the vectors of {sentences:,} sentences. The bi-encoder reads the question once and computes "
        f"{sentences:,} cosines, which leave {candidates} candidates. The cross-encoder reads each of them with the "
        f"question, in {candidates} passes, and puts them in order."
    )
