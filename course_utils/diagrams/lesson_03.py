"""The diagrams of lesson 03: contextual vectors."""

import textwrap

from .canvas import SMALL, Canvas


def returned(mask, hidden, sentences=False):
    """What the encoder returns for a padded batch: a vector for each place, and with `sentences` one for each sentence.

    mask: 1 or 0 for each place, a list for each sentence. hidden: how many numbers a vector has.
    """
    height = 72 * len(mask) + (106 if sentences else 76)
    canvas, places = Canvas("03 returned", height), len(mask[0])
    cell = (342 if sentences else 420) / places
    left, top = 94, 30
    for row, marks in enumerate(mask):
        y = top + 72 * row
        canvas.text(left - 8, y + 26, f"sentence {row + 1}", SMALL, "end")
        for at, counts in enumerate(marks):
            canvas.vector(left + at * cell, y, 4, "vector" if counts else "padding", cell - 4, 52)
    bottom, right = top + 72 * len(mask) - 20, left + places * cell - 4
    canvas.bracket(left, right, bottom + 6, f"{places} positions each, {hidden} numbers in a vector")
    shape = (len(mask), places, hidden)
    canvas.text((left + right) / 2, 14, f"{'last_hidden_state ' * sentences}{shape}", SMALL, mono=True, bold=True)
    if sentences:
        canvas.vector(left, bottom + 36, 2, "padding", 20, 20)
        canvas.label(left + 28, bottom + 46, "padding")
        with canvas.step():
            for row in range(len(mask)):
                canvas.vector(right + 44, top + 72 * row, 4, "sentence", cell - 4, 52)
            name = f"pooler_output\n({len(mask)}, {hidden})"
            canvas.text(516, bottom + 46, name, SMALL, "end", mono=True, bold=True)
            canvas.text(260, bottom + 84, "Two: a vector for each token, and one for each sentence", bold=True)
    else:
        with canvas.step():
            real = " and ".join(str(sum(marks)) for marks in mask)
            canvas.vector(left, bottom + 34, 2, "vector", 20, 20)
            canvas.label(left + 28, bottom + 44, f"real tokens: {real}")
            canvas.vector(left + 200, bottom + 34, 2, "padding", 20, 20)
            padding = sum(len(marks) - sum(marks) for marks in mask)
            canvas.label(left + 228, bottom + 44, f"vectors at padding: {padding}")
    return canvas.finish(
        f"Rows of vectors, one row for each of {len(mask)} sentences, {places} vectors in each row, with {hidden} "
        f"numbers each. Real tokens: {', '.join(str(sum(marks)) for marks in mask)}; the rest is padding."
        + " Beside them, the second output: one vector for each sentence."
        * sentences
    )


def encoder_stack(shape, layers):
    """The encoder from ids to last_hidden_state, with the hidden state after each part.

    shape: of one hidden state, (sentences, tokens, hidden). layers: how many the model has.
    """
    rows = layers + 1
    canvas = Canvas("03 encoder stack", 34 * rows + 44)

    def row(number):
        return 34 * (layers - number) + 6

    def part(number):
        y = row(number)
        name = "embeddings" if number == 0 else f"layer {number}"
        canvas.box(70, y + 2, 150, 20, name, "layer")
        canvas.arrow((145, y + 36), (145, y + 22))

    def state(number):
        y = row(number) + 12
        canvas.arrow((220, y), (262, y))
        canvas.vector(266, y - 9, 8, "vector", 74, 18, across=True)
        canvas.label(350, y, f"hidden_states[{number}]", mono=True)

    canvas.text(145, 34 * rows + 18, f"input_ids {shape[:2]}", SMALL, mono=True, kind="token")
    part(0)
    state(0)
    for draw in canvas.steps((part, state)):
        for number in range(1, rows):
            draw(number)
    with canvas.step():
        canvas.text(36, row(layers) + 12, "last", SMALL, kind="vector", bold=True)
        canvas.text(36, row(0) + 12, "no\ncontext", SMALL, quiet=True)
        canvas.arrow((36, row(0) - 14), (36, row(layers) + 26), kind="vector")
        canvas.label(266, 34 * rows + 18, f"{rows} tensors, each {tuple(shape)}", bold=True)
    return canvas.finish(
        f"The encoder as a stack. Ids of shape {tuple(shape[:2])} enter the embeddings below, whose output is hidden "
        f"state 0, without context. {layers} layers stand above. The output of layer k is hidden state k, and that of "
        f"layer {layers} is last_hidden_state. All {rows} hidden states have the shape {tuple(shape)}."
    )


def two_modes(runs, agreement):
    """One vector from two runs of the same batch, in training mode and in evaluation mode.

    runs: {mode: the first numbers of a token's vector, in two runs}. agreement: {mode: mean cosine of two runs}.
    """
    canvas, told = Canvas("03 two modes", 80 + 76 * len(runs)), []
    numbers = [value for pair in runs.values() for row in pair for value in row]
    low, high = min(numbers), max(numbers)
    canvas.text(239, 14, "run 1", SMALL, quiet=True)
    canvas.text(441, 14, "run 2", SMALL, quiet=True)
    for at, (mode, pair) in canvas.steps(enumerate(runs.items())):
        y, equal = 30 + 76 * at, agreement[mode] > 0.999
        canvas.label(6, y + 12, f"model.{mode}()", mono=True, bold=True)
        canvas.label(6, y + 32, f"dropout: {'on' if mode == 'train' else 'off'}", quiet=True)
        for x, row in zip((166, 368), pair):
            shades = [(value - low) / (high - low) for value in row]
            canvas.vector(x, y, len(row), "vector", 146, 32, values=shades, across=True)
        kind = "sentence" if equal else "loss"
        canvas.text(340, y + 16, "=" if equal else "≠", 24, kind=kind, bold=True)
        canvas.text(340, y + 48, f"mean cosine {agreement[mode]:.1f}", SMALL, kind=kind, bold=True)
        told.append(f"in {mode} mode {'equal' if equal else 'different'}, mean cosine {agreement[mode]:.1f}")
    same = [mode for mode in runs if agreement[mode] > 0.999]
    with canvas.step():
        canvas.text(260, 48 + 76 * len(runs), f"Both runs agree only in {' and '.join(same)} mode.", bold=True)
    return canvas.finish(
        f"The vector of one token in two runs of the same batch: {', and '.join(told)}. Both runs agree only in "
        f"{' and '.join(same)} mode."
    )


def same_word(sentences, word, pairs):
    """A word at its position in sentences, one below the other, and how alike its vectors are in each pair of rows.

    sentences: their tokens. pairs: for rows 0 and 1, for 1 and 2 and so on, the cosine in hidden state 0, and whether
    the vectors are identical there.
    """
    canvas, wide = Canvas("03 same word", 44 + 72 * len(sentences)), 510 / max(map(len, sentences))
    canvas.label(6, 12, f"cosine of the two vectors of {word} in hidden state 0", quiet=True)
    places = [tokens.index(word) for tokens in sentences]
    for row, (tokens, place) in enumerate(zip(sentences, places)):
        canvas.tokens(6, 28 + 82 * row, tokens, width=wide - 5, gap=5)
        canvas.box(6 + wide * place, 28 + 82 * row, wide - 5, 28, kind="token", thick=True)
        canvas.text(6 + wide * place + wide / 2 - 2, 42 + 82 * row, word, SMALL, mono=True, bold=True)
    for row, (cosine, identical) in canvas.steps(enumerate(pairs)):
        top, bottom = ((6 + wide * (places[row + at] + 0.5) - 2, 28 + 82 * row + y) for at, y in ((0, 30), (1, 80)))
        kind = "sentence" if identical else "loss"
        canvas.arrow(top, bottom, kind=kind, tip=False, thick=True)
        where = "same position" if places[row] == places[row + 1] else "other position"
        said = f"{where}:\n{cosine:.3f}, {'identical' if identical else 'not identical'}"
        canvas.label(top[0] + 0.85 * (bottom[0] - top[0]) + 16, 28 + 82 * row + 55, said, kind=kind, bold=True)
    told = "; ".join(
        f"rows {row + 1} and {row + 2}: cosine {cosine:.3f} in hidden state 0, {'' if same else 'not '}identical"
        for row, (cosine, same) in enumerate(pairs)
    )  # fmt: skip
    return canvas.finish(
        f"Tokens of {len(sentences)} sentences with {word} at positions {', '.join(map(str, places))}. The vectors of "
        f"{word} in {told}."
    )


def three_uses(uses, senses):
    """Sentences with one word as the corners of a triangle, and whether the word has the same sense in two of them.

    uses: {name: sentence}, three of them. senses: of the three.
    """
    canvas, names = Canvas("03 three uses", 254), list(uses)
    corners = ((6, 18), (294, 18), (150, 172))
    boxes = []
    for name, (x, y) in zip(names, corners):
        boxes.append(canvas.box(x, y, 220, 76, textwrap.fill(uses[name], 28), "plain", SMALL))
        canvas.text(x + 110, y - 10, name, SMALL, bold=True)
    ends = {(0, 1): ((228, 56), (292, 56)), (0, 2): ((90, 96), (196, 154)), (1, 2): ((430, 96), (324, 154))}
    with canvas.step():
        for (one, other), (start, end) in ends.items():
            same = senses[one] == senses[other]
            canvas.arrow(start, end, kind="sentence" if same else "loss", tip=False, thick=True)
            said, kind = ("same\nsense", "sentence") if same else ("different senses", "loss")
            x, y, anchor = {1: (260, 82, "middle"), 2: (8, 148, "start"), 3: (512, 148, "end")}[one + other]
            canvas.text(x, y, said, SMALL, anchor, kind=kind, bold=True)
    told = "; ".join(f"{name}: {sentence}" for name, sentence in uses.items())
    pairs = ", ".join(
        f"{names[one]} and {names[other]} {'the same' if senses[one] == senses[other] else 'different senses'}"
        for one, other in ends
    )
    return canvas.finish(f"Three sentences as the corners of a triangle. {told} Its sides: {pairs}.")


def embedding_sum(tokens):
    """Hidden state 0 of a sentence: the rows of three tables, added up and normalised for each token."""
    canvas = Canvas("03 embedding sum", 260)
    left, gap = 92, 3
    wide = (520 - 6 - left) / len(tokens) - gap
    rows = {"piece": tokens, "+ position": range(len(tokens)), "+ segment": [0] * len(tokens)}
    for at, (name, values) in enumerate(rows.items()):
        canvas.text(left - 8, 22 + 38 * at, name, SMALL, "end")
        canvas.tokens(left, 8 + 38 * at, values, "layer" if at else None, wide, gap=gap)
    with canvas.step():
        for place in range(len(tokens)):
            x = left + place * (wide + gap) + wide / 2
            canvas.arrow((x, 114), (x, 138))
            canvas.arrow((x, 166), (x, 190))
            canvas.vector(x - 14, 192)
        canvas.box(left, 138, 514 - gap - left, 28, "LayerNorm, for each token alone", "layer")
        canvas.text(left - 8, 212, "hidden\nstate 0", SMALL, "end")
        canvas.text((left + 514) / 2, 250, "each token alone, without its neighbours", bold=True, kind="vector")
    return canvas.finish(
        f"For each of the {len(tokens)} tokens, the row of its piece, the row of its position and the row of its "
        "segment are added. LayerNorm then works on each sum alone, and the result is hidden state 0. No arrow leads "
        "from one token to another."
    )


def words_and_pieces(tokens, word_ids, shown):
    """Which tokens belong to which word, for the positions in the range `shown`, and the mean of a word's vectors."""
    canvas = Canvas("03 words and pieces", 240)
    wide = 432 / len(shown) - 6
    places = {}
    for name, y in (("position", 16), ("token", 46), ("vector", 92), ("word", 146)):
        canvas.label(4, y, name, quiet=True)
    for at, position in enumerate(shown):
        x = 80 + at * (wide + 6)
        canvas.text(x + wide / 2, 16, position, SMALL, mono=True)
        canvas.tokens(x, 32, [tokens[position]], width=wide)
        canvas.vector(x + wide / 2 - 14, 72)
        places.setdefault(word_ids[position], []).append(x)
    whole = [word for word in places if word_ids.count(word) == len(places[word])]
    for word, lefts in places.items():
        right = lefts[-1] + wide
        canvas.bracket(lefts[0] + 2, right - 2, 120)
        canvas.text((lefts[0] + right) / 2, 146, "None" if word is None else word, mono=True, bold=True)
    longest = max(whole, key=lambda word: len(places[word]))
    lefts = places[longest]
    middle = (lefts[0] + lefts[-1] + wide) / 2
    with canvas.step():
        canvas.arrow((middle, 160), (middle, 184), "mean", kind="vector")
        canvas.vector(middle - 14, 188)
        said = f"one vector for word {longest}:\nthe mean of {len(lefts)}"
        canvas.text(middle + 22, 208, said, anchor="start", bold=True)
    said = [tokens[position] for position in shown if word_ids[position] == longest]
    return canvas.finish(
        f"The tokens at positions {shown[0]} to {shown[-1]}, with their vectors and the number of the word that each "
        f"belongs to. Word {longest} consists of {len(said)} tokens, {', '.join(said)}. The mean of their vectors is "
        f"the vector of the word."
    )


def within_and_between(cosines, senses):
    """The cosines of all pairs of sentences, by whether the two have the same sense.

    cosines: (n, n) for n sentences, sorted by sense. senses: their n senses.
    """
    n, cell = len(senses), 46
    canvas = Canvas("03 within and between", 30 * n + 42)
    labels = [f"{sense} {senses[: at + 1].count(sense)}" for at, sense in enumerate(senses)]
    for at, label in enumerate(labels):
        canvas.text(84, 47 + 30 * at, label, SMALL, "end")
        for other in range(at):
            kind = "sentence" if senses[at] == senses[other] else "loss"
            canvas.box(92 + cell * other, 32 + 30 * at, cell - 3, 27, f"{float(cosines[at][other]):.2f}", kind, SMALL)
    for other, label in enumerate(labels[:-1]):
        canvas.text(92 + cell * (other + 0.5), 16, label.split()[0][:1] + label.split()[1], SMALL, quiet=True)
    x = 92 + cell * (n - 1) + 16
    with canvas.step():
        means = []
        for at, (name, kind, same) in enumerate((("same sense", "sentence", True), ("other sense", "loss", False))):
            canvas.box(x, 40 + 48 * at, 22, 22, kind=kind)
            picked = [float(cosines[i][j]) for i in range(n) for j in range(i) if (senses[i] == senses[j]) is same]
            means.append(sum(picked) / len(picked))
            canvas.label(x + 30, 51 + 48 * at, f"{name}:\nmean {means[-1]:.2f}", kind=kind, bold=True)
        canvas.label(x, 150, f"the sense gap:\n{means[0]:.3f} - {means[1]:.3f}\n= {means[0] - means[1]:.3f}", bold=True)
    canvas.label(x, 30 * n + 22, f"{n} uses, last layer", quiet=True)
    return canvas.finish(
        f"The cosines of all pairs of {n} sentences. Those of the same sense have the mean {means[0]:.3f}, those of "
        f"different senses {means[1]:.3f}. The difference of the two is the sense gap, {means[0] - means[1]:.3f}."
    )


def patching(host, donor, place, donor_place, layer, layers):
    """One vector of a run replaced by that of another run, and what the layers above can make of it.

    host, donor: the tokens of two sentences. place, donor_place: the positions of the word.
    layer: the hidden state where its vector is replaced.
    """
    canvas, tops = Canvas("03 patching", 256), {layers: 22, layer: 100, 0: 178}
    for state, y in tops.items():
        canvas.label(4, y + 18, f"state {state}", quiet=True)
    middles = {}
    for name, tokens, at, left in (("donor", donor, donor_place, 72), ("host", host, place, 302)):
        wide = 212 / len(tokens)
        middles[name] = [left + (token + 0.5) * wide - 2 for token in range(len(tokens))]
        for y in tops.values():
            for token, x in enumerate(middles[name]):
                own = token == at and name == "donor"
                canvas.vector(x - wide / 2 + 2, y, 4, "masked" if own else "vector", wide - 4, 36)
        canvas.text(middles[name][at], 226, tokens[at], SMALL, bold=True)
        canvas.text(left + 104, 246, f"{name}: {' '.join(tokens[1:-1])}", SMALL, quiet=True)
        for y, x in ((tops[layer], middles[name][0]), (tops[0], middles[name][-1 if name == "host" else 0])):
            canvas.arrow((x, y - 4), (x, y - 38))
    x, low, wide = middles["host"][place], tops[layer], 212 / len(host)
    with canvas.step():
        canvas.vector(x - wide / 2 + 2, low, 4, "masked", wide - 4, 36)
        canvas.arrow((middles["donor"][donor_place], low + 40), (x, low + 40), kind="masked", bend=16, thick=True)
        canvas.text(254, low + 66, "copied over", SMALL, kind="masked", bold=True)
    with canvas.step():
        for start in middles["host"]:
            canvas.arrow((start, low - 3), (x, tops[layers] + 39), tip=False)
        canvas.box(x - wide / 2 + 2, tops[layers], wide - 4, 36, "?", "masked", dashed=True, round_by=0)
        canvas.text(514, 10, "like the donor's, or the host's?", SMALL, "end", kind="masked", bold=True)
    return canvas.finish(
        f"Two runs of the encoder. The vector of the word in hidden state {layer} of the donor is put in place of the "
        f"host's vector there. The layers above run on and read the host's other words. Asked is what the word's "
        f"vector in hidden state {layers} then is nearer to."
    )
