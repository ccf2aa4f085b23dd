"""The diagram of lesson 07: two interventions."""

from collections.abc import Sequence

from .canvas import SMALL, WIDTH, Canvas, Diagram, Place
from .look import text_width

# the tops of the tokens and of two rows of vectors, and the height and the width of a vector
TOKENS, LOWER, UPPER, VECTOR, WIDE = 184, 104, 34, 28, 20


def _two_layers(canvas: Canvas, middles: Sequence[float], mask: int, blocked: int | None) -> None:
    """Vectors above the tokens, and the vector at the mask above them, with lines from all below.

    middles: the x of each token. mask: the place of the mask. blocked: the place whose lines to the
    mask are cut, if any.
    """

    def lines_to(end: Place, bottom: float, cut: int | None) -> None:
        for column, x in enumerate(middles):
            if column == cut:
                canvas.arrow((x, bottom), end, tip=False, kind="padding", dashed=True)
            else:
                canvas.arrow((x, bottom), end, tip=False, kind="head")

    for column, x in enumerate(middles):
        canvas.vector(x - WIDE / 2, LOWER, width=WIDE, height=VECTOR)
        lines_to((x, LOWER + VECTOR), TOKENS, blocked if column == mask else None)
    canvas.vector(middles[mask] - WIDE / 2, UPPER, width=WIDE, height=VECTOR, kind="masked")
    lines_to((middles[mask], UPPER + VECTOR), LOWER, blocked)


def interventions(
    tokens: Sequence[str], place: int, mask: int, word: str, bits: Sequence[float]
) -> Diagram:
    """Two ways to ask whether a prediction depends on a token: mask the token, or block it.

    tokens: three of the sentence, one of them a [MASK]. place, mask: where the token and the [MASK]
    are among them.
    word: the prediction. bits: the surprisals of `word` unchanged, with the token masked, and with
    the token blocked from the mask.
    """
    canvas = Canvas("07 interventions", 260)
    gap = 3  # between two tokens
    masked = [*tokens[:place], "[MASK]", *tokens[place + 1 :]]
    # each column is wide enough for its token and for what replaces it, with 4 units on either side
    widths = [
        8 + max(text_width(text, SMALL, mono=True) for text in texts)
        for texts in zip(tokens, masked)
    ]
    across = sum(widths) + 2 * gap  # the width of the three tokens
    (via,) = {0, 1, 2} - {place, mask}  # the third token
    looked_at = tokens[place]
    remarks = {
        "unchanged": "",
        "masked": f"“{looked_at}” is gone",
        "blocked": f"“{looked_at}” gets through",
    }

    for panel, (title, value) in enumerate(zip(remarks, bits, strict=True)):
        # the first of three panels begins 1 unit from the edge, and the last one ends there
        left = 1 + panel * (WIDTH - 2 - across) / 2
        canvas.text(left + across / 2, 10, title, bold=True)
        x, middles = left, []  # of the next token; of those drawn
        for token, wide in zip(masked if title == "masked" else tokens, widths):
            canvas.tokens(x, TOKENS, [token], width=wide)
            middles.append(x + wide / 2)
            x += wide + gap
        _two_layers(canvas, middles, mask, place if title == "blocked" else None)
        with canvas.step():
            if title == "blocked":  # the way by which the word still gets through
                below = (middles[place], TOKENS), (middles[via], LOWER + VECTOR)
                above = (middles[via], LOWER), (middles[mask], UPPER + VECTOR)
                for ends in (below, above):
                    canvas.arrow(*ends, tip=False, kind="loss", thick=True)
            canvas.text(left + across / 2, 226, remarks[title], SMALL)
            canvas.text(
                left + across / 2, 247, f"“{word}”: {value:.1f} bits", kind="loss", bold=True
            )
    return canvas.finish(
        f"Three times the tokens {', '.join(tokens)} under two layers, whose lines lead to the "
        f"vector at the mask. {word} costs {bits[0]:.1f} bits. With {looked_at} masked, it costs "
        f"{bits[1]:.1f} bits. With {looked_at} blocked from the mask, whose lines are dashed, it "
        f"costs {bits[2]:.1f} bits: the word still gets through, by way of the other tokens, whose "
        "lines are thick."
    )
