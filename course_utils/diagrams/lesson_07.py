"""The diagrams of lesson 07: the objective and its loss, the adapter, two interventions, one table used twice."""

from .canvas import SMALL, Canvas, text_width


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
        canvas.label(end + 8, y + 14, "no prediction here", quiet=True)
    one, two, three = (f"{part:.0%}" for part in becomes)
    return canvas.finish(
        f"In {' '.join(tokens)}, the token {tokens[chosen]} is among the {share:.0%} that are chosen. In {one} of the "
        f"cases it becomes [MASK], in {two} another token, such as {other}, and in {three} it stays. Each time "
        f"{tokens[chosen]} must be predicted. Nothing is predicted where a token is not chosen."
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
    canvas.text(512, y + 66, "−100: ignored", SMALL, "end", quiet=True)
    with canvas.step():
        for (x, top), loss in zip(asked, losses, strict=True):
            canvas.box(x - 13, top, 26, max(1, 40 * loss / most), kind="loss", round_by=0)
            canvas.text(x, top + 10 + 40 * loss / most, f"{loss:.2f}", SMALL, kind="loss")
    with canvas.step():
        mean = sum(losses) / len(losses)
        canvas.text(512, y + 90, f"mean of {len(losses)}: {mean:.2f}", anchor="end", bold=True, kind="loss")
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
    """Two ways to ask whether a prediction at a mask depends on a token: mask the token, or block it from the mask.

    tokens: three of the sentence, the last one a [MASK]. place, mask: the two places among them. word: the prediction.
    bits: the surprisal of `word` unchanged, with the token masked, and with the token blocked.
    """
    canvas, gap = Canvas("07 interventions", 260), 3
    widths = [max(text_width(token, SMALL, True), text_width("[MASK]", SMALL, True) * (at == place)) + 8
              for at, token in enumerate(tokens)]  # fmt: skip
    across = sum(widths) + 2 * gap
    for panel, (title, value) in enumerate(zip(("unchanged", "masked", "blocked"), bits, strict=True)):
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
            if panel == 2:  # the way round
                via = next(at for at in range(len(tokens)) if at not in (place, mask))
                canvas.arrow((middles[place], 184), (middles[via], 132), tip=False, kind="loss", thick=True)
                canvas.arrow((middles[via], 104), (middles[mask], 62), tip=False, kind="loss", thick=True)
            how = ("", f"“{tokens[place]}” is gone", f"“{tokens[place]}” gets through")[panel]
            canvas.text(left + across / 2, 226, how, SMALL)
            canvas.text(left + across / 2, 247, f"“{word}”: {value:.1f} bits", kind="loss", bold=True)
    return canvas.finish(
        f"Three times the tokens {', '.join(tokens)} under two layers, whose lines lead to the vector at the mask. "
        f"{word} costs {bits[0]:.1f} bits. With {tokens[place]} masked, it costs {bits[1]:.1f} "
        f"bits. With {tokens[place]} blocked from the mask, whose lines are dashed, it costs {bits[2]:.1f} bits: the "
        "word still gets through, by way of the other tokens, whose lines are thick."
    )


def shares_of_the_whole(tokens, words, probabilities, other, vocabulary):
    """The probability of a few words at a [MASK], as parts of the whole: the first ones, another one, and all the rest.

    words, probabilities: the most probable, in order. other: a word and its probability. vocabulary: of all pieces.
    """
    canvas, left, wide = Canvas("07 shares of the whole", 236), 116, 340
    middle = (canvas.width - sum(text_width(token, SMALL, True) + 18 for token in tokens) + 6) / 2
    canvas.tokens(middle, 4, tokens)
    rest = 1 - sum(probabilities) - other[1]
    rows = [*zip(words, probabilities), other, (f"{vocabulary - len(words) - 1:,} others", rest)]
    for places in (range(len(words)), [len(words)], [len(words) + 1]):
        with canvas.step():
            for at in places:
                kind = "padding" if at > len(words) else "masked"
                _share(canvas, left, 46 + at * 30, wide, *rows[at], kind=kind)
            if at > len(words):
                found = f"the first has {probabilities[0]:.2f}: the model is not sure"
                canvas.text(left + wide / 2, 66 + len(rows) * 30, found, bold=True, kind="loss")
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
    canvas = Canvas("07 draws", 260)
    places, chosen = [*_places(canvas, tokens, 128)], []
    for token, (left, top, wide) in zip(tokens, places):
        canvas.tokens(left, top, [token], width=wide)
    with canvas.step():
        for draw, never, (left, top, wide) in zip(draws, special, places, strict=True):
            low = draw < share and not never
            canvas.text(left + wide / 2, top + 44, f"{int(100 * draw) / 100:.2f}", SMALL, bold=low, quiet=not low,
                        kind="masked" if low else None)  # fmt: skip
            if never:
                canvas.text(left + wide / 2, top + 62, "never", SMALL, quiet=True)
        canvas.label(8, 251, f"a random number for each; below {share}: chosen", kind="masked")
    with canvas.step():
        for token, draw, never, (left, top, wide) in zip(tokens, draws, special, places):
            if draw < share and not never:
                chosen.append(token)
                canvas.arrow((left + wide / 2, top + 56), (left + wide / 2, top + 72), kind="masked")
                width = text_width("[MASK]", SMALL, True) + 4
                canvas.tokens(left + wide / 2 - width / 2, top + 73, ["[MASK]"], width=width)
    with canvas.step():
        count = f"{len(chosen)} of {len(tokens) - sum(special)} chosen"
        canvas.text(512, 250, count, anchor="end", bold=True, kind="masked")
    return canvas.finish(
        f"The tokens {' '.join(tokens)}, each with a number drawn from 0 to 1. {len(chosen)} are below {share}, and "
        f"their tokens become masks: {', '.join(chosen)}. Special tokens are never chosen."
    )


def one_table_twice(place, size, vocabulary):
    """The way of a token through the model, which uses one table twice: to read pieces, and to score them.

    place: the token, such as [MASK]. size: of a vector. vocabulary: how many rows the table has.
    """
    canvas, y, high = Canvas("07 one table twice", 184), 36, 84
    middle = y + high / 2
    canvas.tokens(2, middle - 14, [place], width=66)
    canvas.text(143, y - 18, "looked up", SMALL, quiet=True)
    canvas.box_from((68, middle), 90, y, 106, high, "word\nembeddings", "layer", thick=True)
    canvas.box_from((196, middle), 218, y + 12, 66, high - 24, "layers", "layer")
    with canvas.step():
        canvas.text(359, y - 18, f"× {vocabulary:,} rows", SMALL, quiet=True)
        canvas.box_from((284, middle), 306, y, 106, high, kind="layer", thick=True)
        canvas.arrow((412, middle), (436, middle))
        canvas.text(478, middle, f"{vocabulary:,}\nlogits", bold=True, kind="loss")
    with canvas.step():
        canvas.text(359, middle, "word\nembeddings")
        canvas.path((143, y + high + 4), (143, 148), (359, 148), (359, y + high + 4), kind="layer", dashed=True)
        canvas.text(251, 168, "one table, used at both ends", bold=True, kind="layer")
    return canvas.finish(
        f"{place} is looked up in the table of word embeddings and goes through the layers to a vector ({size},). The "
        f"same table, whose {vocabulary:,} rows are multiplied with that vector, gives {vocabulary:,} logits."
    )
