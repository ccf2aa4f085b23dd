"""The diagrams of lesson 09: two ways to compare, and both in one search."""

from .canvas import SMALL, Canvas, Diagram
from .kinds import flow

# the middles of the texts and the tops of the rows in `two_ways`
Y = {
    "title": 12,
    "name": 32,
    "tokens": 62,
    "encoder": 100,
    "vector": 152,
    "result": 194,
    "remark": 238,
}
ARC = 0.11  # how high a line of attention rises, as a fraction of the distance that it spans


def two_ways(lengths: tuple[int, int], both: int) -> Diagram:
    """A bi-encoder, which reads two sentences separately, beside a cross-encoder, which does not.

    lengths: of the two sentences in tokens, each with [CLS] and [SEP]. both: the length of the two
    as one input, in tokens, separators included.
    """
    canvas = Canvas("09 two ways", 250)

    def sequence(left: float, count: int, wide: float, special: tuple[int, ...]) -> None:
        """Tokens without their text, and lines of attention from one to all others.

        left: the edge of the first token. count: of tokens. wide: the width of each. special: the
        places of [CLS] and the separators.
        """
        for token in range(count):
            kind = "special" if token in special else "token"
            canvas.box(left + token * wide, Y["tokens"], wide, 20, kind=kind, round_by=0)
        looking = (count - 1) // 3  # whose attention is shown: in the first third
        looking_x = left + (looking + 0.5) * wide
        for token in range(count):
            x = left + (token + 0.5) * wide
            if token != looking:
                canvas.arrow(
                    (looking_x, Y["tokens"]),
                    (x, Y["tokens"]),
                    bend=(looking_x - x) * ARC,
                    tip=False,
                    kind="head",
                )

    first, second = lengths
    bi_x, cross_x = 121, 398  # the middles of the two halves
    both_left = 284  # the left edge of the one input
    wide = 204 / (first + second)  # of a token, so that both sentences have 204 units
    canvas.text(bi_x, Y["title"], "bi-encoder", bold=True)
    # two sequences, 22 units apart
    for left, count, name in ((6, first, "one"), (28 + first * wide, second, "other")):
        sequence(left, count, wide, (0, count - 1))
        middle = left + count * wide / 2
        canvas.box_from(
            (middle, Y["tokens"] + 20), middle - 42, Y["encoder"], 84, 34, "encoder", "layer", SMALL
        )
        canvas.arrow((middle, Y["encoder"] + 34), (middle, Y["vector"]))
        canvas.vector(middle - 28, Y["vector"], width=56, height=18, kind="sentence", across=True)
        canvas.arrow((middle, Y["vector"] + 18), (bi_x, Y["result"]))
        canvas.text(middle, Y["name"], name, SMALL, quiet=True)
    canvas.box(bi_x - 40, Y["result"], 80, 28, "cosine", size=SMALL)
    canvas.text(bi_x, Y["remark"], "vectors to use again", SMALL, kind="sentence", bold=True)
    with canvas.step():
        pair_wide = 228 / both  # of a token in the one input, which has 228 units
        canvas.text(cross_x, Y["title"], "cross-encoder", bold=True)
        # [CLS] and the separators: between the sentences BERT has one, where the second and the
        # third of these places are the same, and RoBERTa two
        sequence(both_left, both, pair_wide, (0, first - 1, both - second, both - 1))
        canvas.text(both_left + first * pair_wide / 2, Y["name"], "one", SMALL, quiet=True)
        canvas.text(
            both_left + (first + second / 2) * pair_wide, Y["name"], "other", SMALL, quiet=True
        )
        canvas.box_from(
            (cross_x, Y["tokens"] + 20),
            cross_x - 84,
            Y["encoder"],
            168,
            34,
            "encoder",
            "layer",
            SMALL,
        )
        canvas.box_from(
            (cross_x, Y["encoder"] + 34), cross_x - 50, Y["result"], 100, 28, "a number", size=SMALL
        )
        canvas.text(
            cross_x, Y["remark"], "a number for this pair only", SMALL, kind="loss", bold=True
        )
    return canvas.finish(
        f"A bi-encoder reads two sentences of {first} and {second} tokens apart: attention stays "
        "within a sentence, each becomes a vector that can be kept, and the cosine compares the "
        f"two. A cross-encoder reads both as one input of {both} tokens, attention runs between "
        "them, and what comes out is one number for this pair."
    )


def retrieve_and_rerank(sentences: int, candidates: int) -> Diagram:
    """The bi-encoder finds candidates among all sentences, the cross-encoder orders these.

    sentences, candidates: how many there are.
    """
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
