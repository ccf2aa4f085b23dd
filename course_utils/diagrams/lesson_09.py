"""The diagrams of lesson 09: two ways to compare, and both in one search."""

from .canvas import SMALL, Canvas, Diagram
from .kinds import flow


def two_ways(lengths: tuple[int, int], both: int) -> Diagram:
    """A bi-encoder, which reads two sentences separately, beside a cross-encoder, which does not.

    lengths: of the two sentences in tokens, each with [CLS] and [SEP]. both: the length of the two
    as one input.
    """
    canvas = Canvas("09 two ways", 250)

    def cells(x: float, count: int, wide: float, special: tuple[int, ...]) -> None:
        """Tokens without their text, and lines of attention from one in the middle to all."""
        for token in range(count):
            kind = "special" if token in special else "token"
            canvas.box(x + token * wide, 62, wide, 20, kind=kind, round_by=0)
        looking = special[-1] // 3  # a token in the first third looks at all others
        start = x + (looking + 0.5) * wide
        for token in range(count):
            end = x + (token + 0.5) * wide
            if token != looking:
                canvas.arrow(
                    (start, 62), (end, 62), bend=(start - end) * 0.11, tip=False, kind="head"
                )

    first, second = lengths
    left, right = 121, 398  # the middles of the two halves
    both_left = 284  # the left edge of the one input
    wide = 204 / (first + second)  # of a token
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
        # [CLS] and the separators between the sentences: one in BERT (these two are the same place
        # there), two in RoBERTa
        cells(both_left, both, wide, (0, first - 1, both - second, both - 1))
        canvas.text(both_left + first * wide / 2, 32, "one", SMALL, quiet=True)
        canvas.text(both_left + (first + second / 2) * wide, 32, "other", SMALL, quiet=True)
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
    ahead, back = ("", "plain"), ("", "plain back")
    return flow(
        [
            [
                (f"a question, and\n{sentences:,} vectors", "token"),
                ahead,
                (f"bi-encoder: 1 pass,\n{sentences:,} cosines", "layer"),
                ahead,
                (f"{candidates} candidates", "sentence"),
            ],
            [None, None, None, None, ahead],
            [
                (f"the {candidates} in order", "sentence thick"),
                back,
                (f"cross-encoder:\n{candidates} passes", "layer"),
                back,
                ("the question with\neach candidate", "token"),
            ],
        ],
        "Search first, then read the best candidates together with the question.",
        "missed by the bi-encoder: lost for good",
    )
