"""The diagrams of lesson 09: an encoder as a chain of modules, two ways to compare, a search."""

import textwrap
from collections.abc import Mapping, Sequence

from .canvas import SMALL, WIDTH, Canvas, Diagram, text_width


def three_modules(
    texts: Sequence[str], mask: Sequence[Sequence[int]], shapes: Sequence[Sequence[int]]
) -> Diagram:
    """The chain that makes vectors of texts, with the shape at every arrow.

    mask: of the padded batch, (texts, tokens). shapes: of the token vectors, the pooled ones, and
    the normalised ones.
    """
    row, high = 24, 18
    canvas = Canvas("09 three modules", 100 + 44 * len(texts))
    tops = [32 + row * at for at in range(len(texts))]
    middle, below = (tops[0] + tops[-1] + high) / 2, tops[-1] + 36
    sizes = [str(tuple(shape)) for shape in shapes]
    for number, (y, text) in enumerate(zip(tops, texts), start=1):
        canvas.box(2, y, 54, high, f"text {number}", "token", size=SMALL)
        canvas.label(2, below + 40 + 20 * number, f"text {number}: {text}", quiet=True)

    def module(x, width, name, task):
        """A module between the arrow into it and the arrow out of it."""
        canvas.box_from((x - 13, middle), x, middle - 22, width, 44, name, "layer", size=SMALL)
        canvas.arrow((x + width, middle), (x + width + 13, middle))
        canvas.text(x + width / 2, 10, task, SMALL, quiet=True)

    def sentences(x):
        for y in tops:
            canvas.vector(x, y, width=36, height=high, kind="sentence", across=True)

    def shape(x, size, names, aside=0):
        """The names stand a little aside, so that those of two shapes keep apart."""
        canvas.text(x, below, size, SMALL)
        canvas.text(x + aside, below + 20, names, SMALL, quiet=True)

    with canvas.step():
        module(69, 94, "Transformer", "tokenizer, encoder")
        cell = 76 / len(mask[0])
        for y, counts in zip(tops, mask):
            for place, counted in enumerate(counts):
                kind = "vector" if counted else "padding"
                canvas.box(176 + place * cell, y, cell, high, kind=kind, round_by=0)
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
        f"{len(texts)} texts go through three modules: Transformer, which is tokenizer and "
        "encoder, Pooling, which takes the mean over the tokens that are no padding, and "
        f"Normalize. The shapes after them: {', '.join(sizes)}."
    )


def two_chains(chains: Mapping[str, bool]) -> Diagram:
    """Chains that differ in their pooling: whether each gives the loaded model's vectors.

    chains: {pooling: equal to the loaded model}.
    """
    row, high = 92, 48
    canvas = Canvas("09 two chains", 36 + row * len(chains), gap=2)
    middles = [40 + row * at for at in range(len(chains))]
    for y, pooling in zip(middles, chains):
        top = y - high / 2
        canvas.box(4, top, 96, high, "Transformer", "layer", SMALL)
        canvas.box_from(
            (100, y), 118, top, 78, high, f"Pooling\n{pooling}", "layer", SMALL, thick=True
        )
        canvas.box_from((196, y), 214, top, 82, high, "Normalize", "layer", SMALL)
        canvas.arrow((296, y), (312, y))
        canvas.vector(314, y - 10, width=52, height=20, kind="sentence", across=True)
    for y, equal in canvas.steps(zip(middles, chains.values())):
        sign, kind = ("=", "sentence") if equal else ("≠", "loss")
        canvas.text(386, y, sign, 24, kind=kind, bold=True)
        canvas.box(406, y - high / 2, 110, high, "the loaded\nmodel's vector", "sentence", SMALL)
    same = [pooling for pooling, equal in chains.items() if equal]
    verdict = f"equal: {len(same)}"
    if len(same) == 1:
        verdict = f"the same encoder only with {same[0]} pooling"
    canvas.conclusion(row * len(chains) + 18, verdict)
    compared = "; ".join(
        f"with {name}, {'equal' if equal else 'not equal'}" for name, equal in chains.items()
    )
    return canvas.finish(
        "Chains of Transformer, Pooling and Normalize that differ in the pooling. Compared with "
        f"the loaded model's vectors: {compared}."
    )


def two_ways(lengths: tuple[int, int], both: int) -> Diagram:
    """A bi-encoder, which reads two sentences apart, beside a cross-encoder, which does not.

    lengths: of the two sentences in tokens, each with [CLS] and [SEP]. both: the length of the two
    as one input.
    """
    canvas = Canvas("09 two ways", 250)

    def cells(x, count, wide, special):
        """Tokens without their text, and lines of attention from one in the middle to all."""
        for at in range(count):
            kind = "special" if at in special else "token"
            canvas.box(x + at * wide, 62, wide, 20, kind=kind, round_by=0)
        looks = special[-1] // 3
        start = x + (looks + 0.5) * wide
        for at in range(count):
            end = x + (at + 0.5) * wide
            if at != looks:
                canvas.arrow(
                    (start, 62), (end, 62), bend=(start - end) * 0.11, tip=False, kind="head"
                )

    first, second = lengths
    left, right = 121, 398  # the middles of the two halves
    both_at = 284  # the left edge of the one input
    wide = 204 / (first + second)
    canvas.text(left, 12, "bi-encoder", bold=True)
    for start, count, name in ((6, first, "one"), (28 + first * wide, second, "other")):
        cells(start, count, wide, (0, count - 1))
        middle = start + count * wide / 2
        canvas.box_from((middle, 82), middle - 42, 100, 84, 34, "encoder", "layer", size=SMALL)
        canvas.arrow((middle, 134), (middle, 152))
        canvas.vector(middle - 28, 152, width=56, height=18, kind="sentence", across=True)
        canvas.arrow((middle, 170), (left, 194))
        canvas.text(middle, 32, name, SMALL, quiet=True)
    canvas.box(left - 40, 194, 80, 28, "cosine", size=SMALL)
    canvas.text(left, 238, "vectors to use again", SMALL, kind="sentence", bold=True)
    with canvas.step():
        wide = 228 / both
        canvas.text(right, 12, "cross-encoder", bold=True)
        cells(both_at, both, wide, (0, first - 1, both - second, both - 1))
        canvas.text(both_at + first * wide / 2, 32, "one", SMALL, quiet=True)
        canvas.text(both_at + (first + second / 2) * wide, 32, "other", SMALL, quiet=True)
        canvas.box_from((right, 82), right - 84, 100, 168, 34, "encoder", "layer", size=SMALL)
        canvas.box_from((right, 134), right - 50, 194, 100, 28, "a number", size=SMALL)
        canvas.text(right, 238, "a number for this pair only", SMALL, kind="loss", bold=True)
    return canvas.finish(
        f"A bi-encoder reads two sentences of {first} and {second} tokens apart: attention stays "
        "within a sentence, each becomes a vector that can be kept, and the cosine compares the "
        f"two. A cross-encoder reads both as one input of {both} tokens, attention runs between "
        "them, and what comes out is one number for this pair."
    )


def retrieve_and_rerank(sentences: int, candidates: int) -> Diagram:
    """The bi-encoder finds candidates among all sentences, the cross-encoder orders these."""
    canvas = Canvas("09 retrieve and re-rank", 236)
    canvas.box(4, 8, 108, 34, "question", "token")
    canvas.box(130, 8, 384, 34, f"{sentences:,} vectors, made before", "sentence")
    with canvas.step():
        canvas.arrow((322, 42), (322, 102))
        canvas.path((18, 42), (18, 72), (34, 72))
        canvas.box(
            34, 52, 180, 40, f"bi-encoder\n1 pass, {sentences:,} cosines", "layer", size=SMALL
        )
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
        f"A question and the vectors of {sentences:,} sentences. The bi-encoder reads the question "
        f"once and computes {sentences:,} cosines, which leave {candidates} candidates; what is "
        "not among them is lost. The cross-encoder reads each of them with the question, in "
        f"{candidates} passes, and puts them in order."
    )


def one_reading(pairs: Sequence[tuple[str, str, Sequence[str], float]]) -> Diagram:
    """Pairs of texts of which the tokenizer makes the same tokens.

    pairs: [(text, other text, tokens, cosine)].
    """
    row, gap = 114, 6
    canvas = Canvas("09 one reading", row * len(pairs) + 32)
    tops = [4 + row * at for at in range(len(pairs))]
    for y, (text, other, *_) in zip(tops, pairs):
        canvas.box(4, y, 226, 32, text, "plain", SMALL, mono=True)
        canvas.box(290, y, 226, 32, other, "plain", SMALL, mono=True)
    for y, (_, _, tokens, cosine) in canvas.steps(zip(tops, pairs)):
        wide = sum(text_width(token, SMALL, True) + 12 + gap for token in tokens) - gap
        left, right = (WIDTH - wide) / 2, (WIDTH + wide) / 2
        canvas.arrow((117, y + 32), (max(left + 20, 160), y + 62))
        canvas.arrow((403, y + 32), (min(right - 20, 360), y + 62))
        canvas.tokens(left, y + 64, tokens, gap=gap)
        canvas.text(516, y + 78, f"{cosine:.3f}", anchor="end", kind="sentence", bold=True)
    canvas.conclusion(row * len(pairs) + 16, "written differently, but the same tokens")
    readings = "; ".join(
        f"{text!r} and {other!r} become {' '.join(tokens)}, with a cosine of {cosine:.3f}"
        for text, other, tokens, cosine in pairs
    )
    return canvas.finish(f"Pairs of different texts with the same tokens. {readings}.")


def asked_and_found(rows: Sequence[tuple[str, str, float, str, bool]]) -> Diagram:
    """What was searched for, and the nearest text to each with its cosine, and whether it fits.

    rows: [(what was searched for, text, cosine, what it is, whether it fits)].
    """
    row, high = 72, 50
    canvas = Canvas("09 asked and found", 24 + row * len(rows))
    canvas.label(6, 10, "searched for", quiet=True)
    canvas.label(310, 10, "the nearest of all", quiet=True)
    tops = [26 + row * at for at in range(len(rows))]
    for y, (wanted, *_) in zip(tops, rows):
        canvas.box(4, y, 184, high, textwrap.fill(wanted, 24), "token", SMALL)
    for y, (_, text, cosine, remark, fits) in canvas.steps(zip(tops, rows)):
        kind = "sentence" if fits else "loss"
        canvas.arrow((188, y + 26), (306, y + 26), kind=kind, thick=True)
        canvas.text(247, y + 10, f"{cosine:.2f}", kind=kind, bold=True)
        canvas.text(247, y + 42, remark, SMALL, kind=kind, bold=True)
        canvas.box(308, y, 208, high, textwrap.fill(text, 28), "token", SMALL)
    results = "; ".join(f"{wanted!r} finds {text!r} with {cosine:.2f}, {remark}"
                        for wanted, text, cosine, remark, _ in rows)  # fmt: skip
    return canvas.finish(
        f"What was searched for, the nearest text that was found, and its cosine: {results}."
    )
