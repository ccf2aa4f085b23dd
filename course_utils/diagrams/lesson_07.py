"""The diagrams of lesson 07: the objective and its loss, the adapter, interventions, one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .canvas import SMALL, Canvas, Diagram
from .look import text_width

IGNORED = -100  # the label where nothing is to be predicted
NARROWEST = 41  # the width of a short token in a line: a number stands below it
HIGHEST_BAR = 40
# in `interventions`: the tops of the tokens and of the vectors above them, and how high these are
TOKENS, LOWER, UPPER, VECTOR = 184, 104, 34, 28


def _lines_of_tokens(
    canvas: Canvas, tokens: Sequence[str], spacing: float
) -> Iterator[tuple[float, float, float]]:
    """Draw tokens in lines that lie `spacing` apart. Yields the (left, middle, top) of each."""
    left, top = 8.0, 8.0
    for token in tokens:
        wide = max(text_width(token, SMALL, True) + 8, NARROWEST)
        if left + wide > canvas.width:
            left, top = 8.0, top + spacing
        canvas.tokens(left, top, [token], width=wide)
        yield left, left + wide / 2, top
        left += wide + 4


def objective(
    tokens: Sequence[str], chosen: int, other: str, share: float, becomes: Sequence[float]
) -> Diagram:
    """What becomes of a token that was chosen, and what must be predicted in each case.

    chosen: its place. other: a token that may replace it. share: of all tokens that are chosen.
    becomes: the shares of those that become [MASK], become another token, and stay.
    """
    canvas = Canvas("07 objective", 250)
    token = tokens[chosen]
    kinds = ["masked" if at == chosen else "token" for at in range(len(tokens))]
    first_row, row_height = 78, 42
    canvas.tokens(70, 10, tokens, kinds)
    canvas.text(62, 24, f"{share:.0%}", anchor="end", bold=True, kind="masked")
    canvas.label(70, 52, "of all tokens are chosen. Of these,", quiet=True)
    cases = zip(("[MASK]", other, token), becomes, strict=True)
    for at, (new, part) in canvas.steps(enumerate(cases)):
        y = first_row + at * row_height
        top = y - 8 if at else y  # one line beside the three rows, which belong together
        canvas.arrow((84, top), (84, y + 34), kind="masked", tip=False)
        canvas.text(132, y + 14, f"{part:.0%}", anchor="end", bold=True, kind="masked")
        row = [*tokens[:chosen], new, *tokens[chosen + 1 :]]
        end = canvas.tokens(140, y, row, kinds)[-1][2]
        canvas.arrow((end + 8, y + 14), (458, y + 14), kind="loss")
        canvas.label(466, y + 14, token, mono=True, bold=True, kind="loss")
    with canvas.step():
        y = first_row + 3 * row_height
        canvas.text(62, y + 14, f"{1 - share:.0%}", anchor="end", bold=True)
        end = canvas.tokens(70, y, tokens, "token")[-1][2]
        canvas.label(end + 8, y + 14, "no prediction here", quiet=True)
    masked, replaced, kept = (f"{part:.0%}" for part in becomes)
    return canvas.finish(
        f"In {' '.join(tokens)}, the token {token} is among the {share:.0%} that are chosen. In "
        f"{masked} of the cases it becomes [MASK], in {replaced} another token, such as {other}, "
        f"and in {kept} it stays. Each time {token} must be predicted. Nothing is predicted where "
        "a token is not chosen."
    )


def masked_loss(
    tokens: Sequence[str], labels: Sequence[str | int], losses: Sequence[float]
) -> Diagram:
    """A masked sentence with the label of each token; below that of a mask, its loss as a bar.

    tokens: with [MASK] at the chosen places. labels: a piece at each chosen place, -100 elsewhere.
    losses: one for each chosen place, in their order.
    """
    canvas = Canvas("07 loss", 258)
    asked = []  # the labels that are pieces, and where they stand
    for label, (_, x, top) in zip(labels, _lines_of_tokens(canvas, tokens, 126), strict=True):
        if label == IGNORED:
            canvas.text(x, top + 42, "−100", SMALL, quiet=True)
        else:
            canvas.text(x, top + 42, label, SMALL, bold=True, kind="loss")
            asked.append((label, x, top))
    below = top + 66
    canvas.text(512, below, "−100: ignored", SMALL, "end", quiet=True)
    with canvas.step():
        for (_, x, top), loss in zip(asked, losses, strict=True):
            height = HIGHEST_BAR * loss / max(losses)
            canvas.box(x - 13, top + 56, 26, max(1, height), kind="loss", round_by=0)
            canvas.text(x, top + 66 + height, f"{loss:.2f}", SMALL, kind="loss")
    mean = sum(losses) / len(losses)
    with canvas.step():
        told = f"mean of {len(losses)}: {mean:.2f}"
        canvas.text(512, below + 24, told, anchor="end", bold=True, kind="loss")
    each = ", ".join(f"{label} {loss:.2f}" for (label, _, _), loss in zip(asked, losses))
    return canvas.finish(
        f"The sentence {' '.join(tokens)} with a label under each token: -100, except under the "
        f"chosen ones. Their labels and losses: {each}. The mean of these is the loss, {mean:.2f}."
    )


def trained_parts(parts: Mapping[str, tuple[int, int]], megabytes: float) -> Diagram:
    """The parts of the model from the bottom up: what is trained, what frozen, and what is stored.

    parts: {name: (numbers trained, numbers in all)}. megabytes: what the stored differences take.
    """
    canvas = Canvas("07 trained parts", 224)
    high, apart, base = 44, 56, 174
    told = []
    for at, (name, (trained, total)) in enumerate(parts.items()):
        y = base - at * apart
        state, kind = ("trained", "layer") if trained else ("frozen", "padding")
        look = {"thick": True} if trained else {"dashed": True}
        canvas.box(10, y, 250, high, f"{name}\n{total:,}", kind, SMALL, **look)
        if at:
            canvas.arrow((135, y + apart), (135, y + high))
        canvas.label(272, y + high / 2, state, bold=True, kind=kind)
        told.append(f"{name}, {total:,} numbers, {state}")
    with canvas.step():
        x, wide, top = 340, 170, base - (len(parts) - 1) * apart
        middle = x + wide / 2
        stored = f"differences, 8 bits\n× a scale per row\n{megabytes:.0f} MB"
        canvas.box(x, top, wide, high, "packaged weights", "padding", SMALL, dashed=True)
        canvas.text(middle, top + 58, "+", 18)
        canvas.box(x, top + 72, wide, 60, stored, "layer", SMALL, thick=True)
        canvas.text(middle, top + 146, "=", 18)
        canvas.box(x, top + 160, wide, high, "the adapted model", "layer", SMALL)
    return canvas.finish(
        f"The model from the bottom up: {'; '.join(told)}. Stored are the differences from the "
        f"packaged weights, as 8-bit numbers with a scale for each row, {megabytes:.0f} MB. "
        "Packaged weights plus differences are the adapted model."
    )


def _two_layers(canvas: Canvas, middles: Sequence[float], mask: int, blocked: int | None) -> None:
    """Vectors above the tokens, and the vector at the mask above them, with lines from all below.

    blocked: the place whose lines to the mask are cut, if any.
    """

    def lines_to(end, bottom, cut):
        for at, x in enumerate(middles):
            if at == cut:
                canvas.arrow((x, bottom), end, tip=False, kind="padding", dashed=True)
            else:
                canvas.arrow((x, bottom), end, tip=False, kind="head")

    for at, x in enumerate(middles):
        canvas.vector(x - 10, LOWER, width=20, height=VECTOR)
        lines_to((x, LOWER + VECTOR), TOKENS, blocked if at == mask else None)
    canvas.vector(middles[mask] - 10, UPPER, width=20, height=VECTOR, kind="masked")
    lines_to((middles[mask], UPPER + VECTOR), LOWER, blocked)


def interventions(
    tokens: Sequence[str], place: int, mask: int, word: str, bits: Sequence[float]
) -> Diagram:
    """Two ways to ask whether a prediction depends on a token: mask the token, or block it.

    tokens: three of the sentence, the last one a [MASK]. place, mask: the two places among them.
    word: the prediction. bits: the surprisal of `word` unchanged, with the token masked, and with
    the token blocked from the mask.
    """
    canvas = Canvas("07 interventions", 260)
    gap = 3
    masked = [*tokens]
    masked[place] = "[MASK]"
    # as wide as the wider of a token and what stands in its place when it is masked
    widths = []
    for token, other in zip(tokens, masked):
        widths.append(max(text_width(token, SMALL, True), text_width(other, SMALL, True)) + 8)
    across = sum(widths) + 2 * gap
    via = next(at for at in range(len(tokens)) if at not in (place, mask))
    looked_at = tokens[place]
    remarks = {"unchanged": "", "masked": f"“{looked_at}” is gone"}
    remarks["blocked"] = f"“{looked_at}” gets through"

    for panel, (title, value) in enumerate(zip(remarks, bits, strict=True)):
        left = 1 + panel * (canvas.width - 2 - across) / 2
        canvas.text(left + across / 2, 10, title, bold=True)
        middles, x = [], left
        for token, wide in zip(masked if title == "masked" else tokens, widths):
            canvas.tokens(x, TOKENS, [token], width=wide)
            middles.append(x + wide / 2)
            x += wide + gap
        _two_layers(canvas, middles, mask, place if title == "blocked" else None)
        with canvas.step():
            if title == "blocked":  # the way round
                below = (middles[place], TOKENS), (middles[via], LOWER + VECTOR)
                above = (middles[via], LOWER), (middles[mask], UPPER + VECTOR)
                for ends in (below, above):
                    canvas.arrow(*ends, tip=False, kind="loss", thick=True)
            canvas.text(left + across / 2, 226, remarks[title], SMALL)
            told = f"“{word}”: {value:.1f} bits"
            canvas.text(left + across / 2, 247, told, kind="loss", bold=True)
    return canvas.finish(
        f"Three times the tokens {', '.join(tokens)} under two layers, whose lines lead to the "
        f"vector at the mask. {word} costs {bits[0]:.1f} bits. With {looked_at} masked, it costs "
        f"{bits[1]:.1f} bits. With {looked_at} blocked from the mask, whose lines are dashed, it "
        f"costs {bits[2]:.1f} bits: the word still gets through, by way of the other tokens, whose "
        "lines are thick."
    )


def chosen_by_draws(
    tokens: Sequence[str], draws: Sequence[float], share: float, special: Sequence[bool]
) -> Diagram:
    """The tokens of a sentence with the number drawn for each; those below `share` become masks.

    special: for each token, whether it is a special one, which is never chosen. Numbers are cut off
    after two decimals, so none that is below `share` looks as if it were not.
    """
    canvas = Canvas("07 draws", 260)
    places = list(_lines_of_tokens(canvas, tokens, 128))
    chosen = []
    with canvas.step():
        for token, draw, never, (_, x, top) in zip(tokens, draws, special, places, strict=True):
            written = f"{int(100 * draw) / 100:.2f}"
            if draw < share and not never:
                chosen.append((token, x, top))
                canvas.text(x, top + 44, written, SMALL, bold=True, kind="masked")
            else:
                canvas.text(x, top + 44, written, SMALL, quiet=True)
            if never:
                canvas.text(x, top + 62, "never", SMALL, quiet=True)
        canvas.label(8, 251, f"a random number for each; below {share}: chosen", kind="masked")
    with canvas.step():
        wide = text_width("[MASK]", SMALL, True) + 4
        for _, x, top in chosen:
            canvas.arrow((x, top + 56), (x, top + 72), kind="masked")
            canvas.tokens(x - wide / 2, top + 73, ["[MASK]"], width=wide)
    with canvas.step():
        count = f"{len(chosen)} of {len(tokens) - sum(special)} chosen"
        canvas.text(512, 250, count, anchor="end", bold=True, kind="masked")
    return canvas.finish(
        f"The tokens {' '.join(tokens)}, each with a number drawn from 0 to 1. {len(chosen)} are "
        f"below {share}, and their tokens become masks: "
        f"{', '.join(token for token, _, _ in chosen)}. Special tokens are never chosen."
    )


def one_table_twice(place: str, size: int, vocabulary: int) -> Diagram:
    """The way of a token through the model, which uses one table twice: to read and to score.

    place: the token, such as [MASK]. size: of a vector. vocabulary: how many rows the table has.
    """
    canvas = Canvas("07 one table twice", 184)
    y, high = 36, 84
    middle, bottom = y + high / 2, y + high + 4
    read, scored = 143, 359  # the middles of the table, each time that it is used
    table = "word\nembeddings"
    canvas.tokens(2, middle - 14, [place], width=66)
    canvas.text(read, y - 18, "looked up", SMALL, quiet=True)
    canvas.box_from((68, middle), 90, y, 106, high, table, "layer", thick=True)
    canvas.box_from((196, middle), 218, y + 12, 66, high - 24, "layers", "layer")
    with canvas.step():
        canvas.text(scored, y - 18, f"× {vocabulary:,} rows", SMALL, quiet=True)
        canvas.box_from((284, middle), 306, y, 106, high, kind="layer", thick=True)
        canvas.arrow((412, middle), (436, middle))
        canvas.text(478, middle, f"{vocabulary:,}\nlogits", bold=True, kind="loss")
    with canvas.step():
        canvas.text(scored, middle, table)
        corners = (read, bottom), (read, 148), (scored, 148), (scored, bottom)
        canvas.path(*corners, kind="layer", dashed=True)
        canvas.text(
            (read + scored) / 2, 168, "one table, used at both ends", bold=True, kind="layer"
        )
    return canvas.finish(
        f"{place} is looked up in the table of word embeddings and goes through the layers to a "
        f"vector ({size},). The same table, whose {vocabulary:,} rows are multiplied with that "
        f"vector, gives {vocabulary:,} logits."
    )
