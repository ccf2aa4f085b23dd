"""The diagrams of lesson 07: the head, the objective and its loss, the adapter, two interventions."""

from .canvas import SMALL, Canvas, text_width


def to_probabilities(tokens, place, shapes):
    """The way of a [MASK] through the model: up through the embeddings and layers, down through the head.

    tokens: of the sentence. place: of the [MASK]. shapes: of "ids", "hidden" and "table", as tuples.
    """
    canvas = Canvas("07 to probabilities", 260, gap=2)
    vocabulary, width = shapes["table"]
    near = tokens[max(0, place - 2) : place + 2]
    boxes = canvas.tokens(10, 226, near)
    right = boxes[-1][2]
    canvas.text(right + 14, 240, "…")
    canvas.box_from((right / 2, 226), 10, 168, right - 10, 32, "word embeddings", "layer", over=str(shapes["ids"]))
    canvas.box_from((right / 2, 168), 10, 112, right - 10, 30, "6 layers", "layer", over=str(shapes["hidden"]))
    canvas.arrow((right / 2, 112), (right / 2, 88), str(shapes["hidden"]))
    for token, (start, _, end, _) in zip(near, boxes):
        middle = (start + end) / 2
        canvas.vector(middle - 12, 46, kind="masked" if token == "[MASK]" else "vector", width=24)
        if token == "[MASK]":
            at = middle
    with canvas.step():
        canvas.path((at, 46), (at, 22), (298, 22), text=f"({width},)", kind="masked", side=-1)
        canvas.box(300, 6, 210, 32, "linear, GELU, norm", "layer")
        canvas.arrow((405, 38), (405, 80), f"({width},)")
    with canvas.step():
        canvas.box(300, 82, 210, 32, "× table, + bias", "layer")
        canvas.arrow((405, 114), (405, 150), f"({vocabulary},)")
        canvas.text(396, 130, "logits", SMALL, "end")
    with canvas.step():
        canvas.arrow((right, 184), (300, 100), kind="layer", dashed=True)
        canvas.text(262, 192, "the same", SMALL, kind="layer")
    with canvas.step():
        canvas.box(300, 152, 210, 30, "softmax")
        canvas.arrow((405, 182), (405, 218), f"({vocabulary},)")
        canvas.text(405, 234, "probabilities, sum 1", kind="masked")
    return canvas.finish(
        f"The ids {shapes['ids']} become vectors {shapes['hidden']} in the table of word embeddings; six layers keep "
        f"that shape. The vector at the [MASK], ({width},), goes through the head: a linear layer with GELU and "
        f"normalisation, then a product with the same table of word embeddings, plus a bias: {vocabulary} logits. The "
        "softmax makes them probabilities, which add up to 1."
    )


def objective(tokens, chosen, other, share, becomes):
    """What becomes of a token that was chosen, and what must be predicted in each case.

    chosen: its place. other: a token that may replace it. share: of all tokens that are chosen.
    becomes: the shares of those that become [MASK], become another token, and stay.
    """
    canvas = Canvas("07 objective", 250)
    rows = [[*tokens[:chosen], new, *tokens[chosen + 1 :]] for new in ("[MASK]", other, tokens[chosen])]
    kinds = ["masked" if at == chosen else "token" for at in range(len(tokens))]
    canvas.tokens(70, 10, tokens, kinds)
    canvas.text(62, 24, f"{share:.0%}", anchor="end", bold=True, kind="masked")
    canvas.label(70, 52, "of all tokens are chosen. Of these,", quiet=True)
    for at, (row, part) in canvas.steps(enumerate(zip(rows, becomes, strict=True))):
        y = 78 + at * 42
        canvas.arrow((84, y - 8 * (at > 0)), (84, y + 34), kind="masked", tip=False)  # they belong together
        canvas.text(132, y + 14, f"{part:.0%}", anchor="end", bold=True, kind="masked")
        end = canvas.tokens(140, y, row, kinds)[-1][2]
        canvas.arrow((end + 8, y + 14), (458, y + 14), kind="loss")
        canvas.label(466, y + 14, tokens[chosen], mono=True, bold=True, kind="loss")
    with canvas.step():
        y = 78 + 3 * 42
        canvas.text(62, y + 14, f"{1 - share:.0%}", anchor="end", bold=True)
        end = canvas.tokens(70, y, tokens, "token")[-1][2]
        canvas.label(end + 8, y + 14, "nothing is asked", quiet=True)
    one, two, three = (f"{part:.0%}" for part in becomes)
    return canvas.finish(
        f"In {' '.join(tokens)}, the token {tokens[chosen]} is among the {share:.0%} that are chosen. In {one} of the "
        f"cases it becomes [MASK], in {two} another token, such as {other}, and in {three} it stays. Each time "
        f"{tokens[chosen]} must be predicted. Nothing is asked where a token is not chosen."
    )


def masked_loss(tokens, labels, losses):
    """A masked sentence, below each token its label, and below each label other than -100 its loss as a bar.

    tokens: with [MASK] at the chosen places. labels: a piece at each chosen place, -100 elsewhere.
    losses: one for each chosen place, in their order.
    """
    canvas, most = Canvas("07 loss", 258), max(losses)
    left, y, asked = 8, 8, []
    for token, label in zip(tokens, labels, strict=True):
        wide = max(text_width(token, SMALL, True) + 8, 41)
        if left + wide > canvas.width:
            left, y = 8, y + 126
        canvas.tokens(left, y, [token], width=wide)
        if label == -100:
            canvas.text(left + wide / 2, y + 42, "−100", SMALL, quiet=True)
        else:
            canvas.text(left + wide / 2, y + 42, label, SMALL, bold=True, kind="loss")
            asked.append((left + wide / 2, y + 56))
        left += wide + 4
    with canvas.step():
        for (x, top), loss in zip(asked, losses, strict=True):
            canvas.box(x - 13, top, 26, max(1, 40 * loss / most), kind="loss", round_by=0)
            canvas.text(x, top + 10 + 40 * loss / most, f"{loss:.2f}", SMALL, kind="loss")
    with canvas.step():
        mean = sum(losses) / len(losses)
        canvas.text(512, y + 90, f"mean: {mean:.2f}", anchor="end", bold=True, kind="loss")
    asked = ", ".join(f"{label} {loss:.2f}" for label, loss in zip([one for one in labels if one != -100], losses))
    return canvas.finish(
        f"The sentence {' '.join(tokens)} with a label under each token: -100, except under the chosen ones. Their "
        f"labels and losses: {asked}. The mean of these is the loss, {mean:.2f}."
    )


def trained_parts(parts, megabytes):
    """The parts of the model from the bottom up: what is trained and what is frozen, and what is stored of it.

    parts: {name: (numbers trained, numbers in all)}. megabytes: what the stored differences take.
    """
    canvas, high, base, told = Canvas("07 trained parts", 224), 44, 174, []
    top = base - (len(parts) - 1) * (high + 12)
    for at, (name, (trained, total)) in enumerate(parts.items()):
        y = base - at * (high + 12)
        kind, look = "layer" if trained else "padding", {"thick": bool(trained), "dashed": not trained}
        canvas.box(10, y, 250, high, f"{name}\n{total:,}", kind, SMALL, **look)
        if at:
            canvas.arrow((135, y + high + 12), (135, y + high))
        state = "trained" if trained else "frozen"
        canvas.label(272, y + high / 2, state, bold=True, kind=kind)
        told.append(f"{name}, {total:,} numbers, {state}")
    with canvas.step():
        x = 340
        canvas.box(x, top, 170, 44, "packaged weights", "padding", SMALL, dashed=True)
        canvas.text(x + 85, top + 58, "+", 18)
        stored = f"differences, 8 bits\n× a scale per row\n{megabytes:.0f} MB"
        canvas.box(x, top + 72, 170, 60, stored, "layer", SMALL, thick=True)
        canvas.text(x + 85, top + 146, "=", 18)
        canvas.box(x, top + 160, 170, 44, "the adapted model", "layer", SMALL)
    return canvas.finish(
        f"The model from the bottom up: {'; '.join(told)}. Stored are the differences from the packaged weights, as "
        f"8-bit numbers with a scale for each row, {megabytes:.0f} MB. Packaged weights plus differences are the "
        "adapted model."
    )


def interventions(tokens, place, mask, word, bits):
    """Two ways to ask whether a prediction at a mask depends on a token: hide the token, or cut the mask's view of it.

    tokens: three of the sentence, the last one a [MASK]. place, mask: the two places among them. word: the prediction.
    bits: the surprisal of `word` unchanged, with the token hidden, and with the view of it cut.
    """
    canvas, gap = Canvas("07 interventions", 260), 3
    widths = [max(text_width(token, SMALL, True), text_width("[MASK]", SMALL, True) * (at == place)) + 8
              for at, token in enumerate(tokens)]  # fmt: skip
    across = sum(widths) + 2 * gap
    for panel, (title, value) in enumerate(zip(("as it is", "hidden", "cut"), bits, strict=True)):
        left = 1 + panel * (canvas.width - 2 - across) / 2
        shown = ["[MASK]" if panel == 1 and at == place else token for at, token in enumerate(tokens)]
        canvas.text(left + across / 2, 10, title, bold=True)
        middles = []
        for at, (token, wide) in enumerate(zip(shown, widths)):
            start = left + sum(widths[:at]) + at * gap
            canvas.tokens(start, 184, [token], width=wide)
            middles.append(start + wide / 2)
        for x in middles:
            canvas.vector(x - 10, 104, width=20, height=28)
        canvas.vector(middles[mask] - 10, 34, width=20, height=28, kind="masked")
        for start, tops in ((184, [(x, 132) for x in middles]), (104, [(middles[mask], 62)])):
            for at, x in enumerate(middles):
                for end in tops:
                    gone = panel == 2 and at == place and end[0] == middles[mask]
                    canvas.arrow((x, start), end, tip=False, kind="padding" if gone else "head", dashed=gone)
        with canvas.step():
            canvas.text(left + across / 2, 225, f"surprisal of “{word}”", SMALL, kind="loss")
            canvas.text(left + across / 2, 246, f"{value:.1f} bits", kind="loss", bold=True)
    return canvas.finish(
        f"Three times the tokens {', '.join(tokens)} under two layers, whose lines lead to the vector at the mask. "
        f"{word} costs {bits[0]:.1f} bits. With {tokens[place]} hidden, replaced by a [MASK], {bits[1]:.1f} "
        f"bits. With the lines from {tokens[place]} to the mask cut, here dashed, {bits[2]:.1f} bits: it still reaches "
        "the other tokens, and these reach the mask."
    )


def logits_of_all_places(tokens, pieces, logits, vocabulary, mask):
    """A row of logits for each token, with the columns of a few pieces; then the row that we read.

    logits: numbers (tokens, pieces). vocabulary: how many columns there are in all. mask: the row of the [MASK].
    """
    canvas, high, left, wide = Canvas("07 all places", 254), 25, 84, 58
    most, right = max(map(max, logits)), 84 + len(pieces) * wide
    for at, token in enumerate(tokens):
        canvas.tokens(8, 26 + at * high, [token], width=66, height=high - 3)
    with canvas.step():
        for at, piece in enumerate(pieces):
            canvas.text(left + (at + 0.5) * wide, 12, piece, SMALL, mono=True)
        canvas.label(right + 4, 12, f"… {vocabulary:,}", quiet=True)
        for at, row in enumerate(logits):
            for place, value in enumerate(row):
                look = {"kind": "masked" if at == mask else "vector", "shade": max(0, value) / most, "round_by": 0}
                number = f"{round(value, 1) + 0.0:.1f}".replace("-", "−")
                canvas.box(left + place * wide, 26 + at * high, wide, high - 3, number, size=SMALL, **look)
            canvas.label(right + 10, 25 + (at + 0.5) * high, "…", quiet=True)
    with canvas.step():
        canvas.box(2, 22 + mask * high, right + 40, high + 5, thick=True)
    told = "; ".join(f"{piece} {value:.1f}" for piece, value in zip(pieces, logits[mask]))
    return canvas.finish(
        f"A table with a row for each of the {len(tokens)} tokens {' '.join(tokens)} and a column for each of "
        f"{vocabulary:,} pieces, of which {len(pieces)} are shown. A frame marks the row of the [MASK]: {told}."
    )


def shares_of_the_whole(tokens, words, probabilities, other, vocabulary):
    """The probability of a few words at a [MASK], as parts of the whole: the first ones, another one, and all the rest.

    words, probabilities: the most probable, in order. other: a word and its probability. vocabulary: of all pieces.
    """
    canvas, left, wide, told = Canvas("07 shares of the whole", 258), 116, 340, []
    middle = (canvas.width - sum(text_width(token, SMALL, True) + 18 for token in tokens) + 6) / 2
    canvas.tokens(middle, 4, tokens)
    rest = 1 - sum(probabilities) - other[1]
    rows = [*zip(words, probabilities), other, (f"{vocabulary - len(words) - 1:,} others", rest)]
    for at, (word, probability) in enumerate(rows):
        y = 46 + at * 30
        if at >= len(words):
            with canvas.step():
                _share(canvas, left, y, wide, word, probability, kind="padding" if at > len(words) else "masked")
        else:
            told.append((y, word, probability))
    with canvas.step():
        for y, word, probability in told:
            _share(canvas, left, y, wide, word, probability)
    first = ", ".join(f"{word} {probability:.2f}" for word, probability in zip(words, probabilities))
    return canvas.finish(
        f"Bars for the pieces at the [MASK] of {' '.join(tokens)}, each as a part of the whole: {first}. The word "
        f"{other[0]} has {other[1]:.4f}, and all other pieces have {rest:.2f} together."
    )


def _share(canvas, left, y, wide, word, probability, kind="masked"):
    canvas.text(left - 8, y + 11, word, SMALL, "end", mono=kind == "masked", quiet=kind != "masked")
    canvas.box(left, y, wide, 22, round_by=0)
    canvas.box(left, y, max(1, wide * probability), 22, kind=kind, shade=1, round_by=0)
    canvas.label(left + wide + 8, y + 11, f"{probability:.2f}" if probability > 0.005 else f"{probability:.4f}")


def first_candidates(rows, together):
    """Sentences with a gap, and the most probable pieces for it, darker for more probable.

    rows: {text with [MASK]: (pieces, probabilities)}. together: whether all appear with one key press, or one by one.
    """
    canvas, high, wide = Canvas("07 candidates", 8 + 48 * len(rows)), 48, 74
    count = len(next(iter(rows.values()))[0])
    left = canvas.width - count * wide - 2
    for at, text in enumerate(rows):
        canvas.text(left - 10, 27 + at * high, text.replace("[MASK]", "___"), SMALL, "end")

    def boxes(at, pieces, probabilities):
        for place, (piece, probability) in enumerate(zip(pieces, probabilities)):
            look = {"kind": "masked", "size": SMALL, "shade": probability, "bold": place == 0}
            canvas.box(left + place * wide, 8 + at * high, wide - 4, high - 8, f"{piece}\n{probability:.2f}", **look)

    if together:
        with canvas.step():
            for at, found in enumerate(rows.values()):
                boxes(at, *found)
    else:
        for at, found in canvas.steps(enumerate(rows.values())):
            boxes(at, *found)
    told = "; ".join(
        f"{text} " + ", ".join(f"{piece} {probability:.2f}" for piece, probability in zip(*found))
        for text, found in rows.items()
    )
    return canvas.finish(f"Sentences with the {count} most probable pieces at the [MASK]: {told}.")


def _places(canvas, tokens, between, least=41):
    """Where tokens stand that fill lines which lie `between` apart: (left, top, width) for each."""
    left, top = 8, 8
    for token in tokens:
        wide = max(text_width(token, SMALL, True) + 8, least)
        if left + wide > canvas.width:
            left, top = 8, top + between
        yield left, top, wide
        left += wide + 4


def chosen_by_draws(tokens, draws, share, special):
    """The tokens of a sentence with the number drawn for each; those below `share` are chosen, and become masks.

    special: for each token, whether it is a special one, which is never chosen. Numbers are cut off after two decimals,
    so none that is below `share` looks as if it were not.
    """
    canvas = Canvas("07 draws", 250)
    places, chosen = [*_places(canvas, tokens, 128)], []
    for token, (left, top, wide) in zip(tokens, places):
        canvas.tokens(left, top, [token], width=wide)
    with canvas.step():
        for draw, never, (left, top, wide) in zip(draws, special, places, strict=True):
            low = draw < share and not never
            canvas.text(left + wide / 2, top + 44, f"{int(100 * draw) / 100:.2f}", SMALL, bold=low, quiet=not low,
                        kind="masked" if low else None)  # fmt: skip
    with canvas.step():
        for token, draw, never, (left, top, wide) in zip(tokens, draws, special, places):
            if draw < share and not never:
                chosen.append(token)
                canvas.arrow((left + wide / 2, top + 56), (left + wide / 2, top + 72), kind="masked")
                width = text_width("[MASK]", SMALL, True) + 4
                canvas.tokens(left + wide / 2 - width / 2, top + 73, ["[MASK]"], width=width)
    with canvas.step():
        canvas.text(512, 244, f"{len(chosen)} of {len(tokens) - sum(special)}", anchor="end", bold=True, kind="masked")
    return canvas.finish(
        f"The tokens {' '.join(tokens)}, each with a number drawn from 0 to 1. {len(chosen)} are below {share}, and "
        f"their tokens become masks: {', '.join(chosen)}. Special tokens are never chosen."
    )


def surprising_tokens(tokens, bits):
    """A sentence whose tokens are darker the more bits each costs, with the number of bits below it.

    bits: the surprisal of each token when it alone is hidden.
    """
    canvas, most = Canvas("07 surprising tokens", 184), max(bits)
    places = [*_places(canvas, tokens, 100, least=46)]
    for token, (left, top, wide) in zip(tokens, places):
        canvas.tokens(left, top, [token], width=wide, height=40)
    with canvas.step():
        for token, number, (left, top, wide) in zip(tokens, bits, places, strict=True):
            canvas.tokens(left, top, [token], "loss", width=wide, height=40, shades=[number / most])
            canvas.text(left + wide / 2, top + 58, f"{round(number, 1) + 0.0:.1f}", kind="loss", bold=True)
        left, top, wide = places[-1]
        canvas.text(left + wide + 8, top + 58, "bits", anchor="start", kind="loss")
    told = ", ".join(f"{token} {number:.1f}" for token, number in zip(tokens, bits))
    return canvas.finish(f"A sentence whose tokens are darker the more bits each costs when it is hidden: {told}.")


def attention_and_effect(tokens, attention, hidden, cut):
    """For each token, to the left the attention it gets from the mask, to the right what its loss costs in bits.

    hidden, cut: how many bits more the prediction costs with the token hidden, or with the mask's view of it cut.
    """
    canvas, high, left = Canvas("07 attention and effect", 260), 23, 152
    canvas.text(left - 4, 12, "attention it gets", SMALL, "end", kind="head")
    for at, (token, weight) in enumerate(zip(tokens, attention)):
        y = 28 + at * high
        canvas.tokens(left, y, [token], width=84, height=high - 3)
        long = max(1, 100 * weight / max(attention))
        canvas.box(left - 4 - long, y + 3, long, high - 9, kind="head", shade=1, round_by=0)
        canvas.text(left - 8 - long, y + 10, f"{weight:.2f}", SMALL, "end")
    for title, values, x in canvas.steps((("hidden: bits more", hidden, 242), ("cut: bits more", cut, 396))):
        canvas.label(x, 12, title, kind="loss")
        for at, value in enumerate(values):
            y = 28 + at * high
            long = 100 * value / max(*hidden, *cut)
            if value:
                canvas.box(x, y + 3, long, high - 9, kind="loss", shade=1, round_by=0)
                canvas.label(x + long + 5, y + 10, f"{value:.1f}", kind="loss", bold=True)
            else:
                canvas.label(x, y + 10, "0.0", quiet=True)
    told = "; ".join(
        f"{token} {weight:.2f}, {one:.1f} and {other:.1f}"
        for token, weight, one, other in zip(tokens, attention, hidden, cut)
    )
    return canvas.finish(
        f"For each token its mean attention from the mask, and the bits more when it is hidden and when it is cut off: "
        f"{told}."
    )
