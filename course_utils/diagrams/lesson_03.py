"""The diagrams of lesson 03: contextual vectors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from .canvas import MIDDLE, SMALL, Canvas, Diagram

PATCHED_ROWS = (22, 100, 178)  # the tops of the hidden states in `patching`, the last state first
RUN_WIDTH = 212  # of one run there


def returned(mask: Sequence[Sequence[int]], hidden: int, sentences: bool = False) -> Diagram:
    """What the encoder returns for a padded batch: a vector for each place.

    mask: 1 or 0 for each place, a list for each sentence. hidden: how many numbers a vector has.
    sentences: whether it also returns a vector for each sentence.
    """
    places = len(mask[0])
    canvas = Canvas("03 returned", 72 * len(mask) + (106 if sentences else 76))
    left, top = 94, 30
    cell = (342 if sentences else 420) / places
    right, bottom = left + places * cell - 4, top + 72 * len(mask) - 20
    for row, marks in enumerate(mask):
        y = top + 72 * row
        canvas.text(left - 8, y + 26, f"sentence {row + 1}", SMALL, "end")
        for at, counts in enumerate(marks):
            kind = "vector" if counts else "padding"
            canvas.vector(left + at * cell, y, 4, kind, cell - 4, 52)
    each = f"{places} positions each, {hidden} numbers in a vector"
    canvas.bracket(left, right, bottom + 6, each)
    shape = f"{'last_hidden_state ' * sentences}{(len(mask), places, hidden)}"
    canvas.text((left + right) / 2, 14, shape, SMALL, mono=True, bold=True)
    lengths = [sum(marks) for marks in mask]

    def legend(x, kind, text):
        canvas.vector(x, bottom + 35, 2, kind, 20, 20)
        canvas.label(x + 28, bottom + 45, text)

    if sentences:
        legend(left, "padding", "padding")
        with canvas.step():
            for row in range(len(mask)):
                canvas.vector(right + 44, top + 72 * row, 4, "sentence", cell - 4, 52)
            name = f"pooler_output\n({len(mask)}, {hidden})"
            canvas.text(516, bottom + 46, name, SMALL, "end", mono=True, bold=True)
            told = "Two: a vector for each token, and one for each sentence"
            canvas.text(MIDDLE, bottom + 84, told, bold=True)
    else:
        with canvas.step():
            legend(left, "vector", f"real tokens: {' and '.join(map(str, lengths))}")
            padding = places * len(mask) - sum(lengths)
            legend(left + 200, "padding", f"vectors at padding: {padding}")
    second = " Beside them, the second output: one vector for each sentence." * sentences
    return canvas.finish(
        f"Rows of vectors, one row for each of {len(mask)} sentences, {places} vectors in each "
        f"row, with {hidden} numbers each. Real tokens: {', '.join(map(str, lengths))}; the rest "
        f"is padding.{second}"
    )


def encoder_stack(shape: Sequence[int], layers: int) -> Diagram:
    """The encoder from ids to last_hidden_state, with the hidden state after each part.

    shape: of one hidden state, (sentences, tokens, hidden). layers: how many the model has.
    """
    rows = layers + 1
    canvas = Canvas("03 encoder stack", 34 * rows + 44)
    floor = 34 * rows + 18

    def middle(number):
        return 34 * (layers - number) + 18

    def part(number):
        y = middle(number)
        canvas.box(70, y - 10, 150, 20, f"layer {number}" if number else "embeddings", "layer")
        canvas.arrow((145, y + 24), (145, y + 10))

    def state(number):
        y = middle(number)
        canvas.arrow((220, y), (262, y))
        canvas.vector(266, y - 9, 8, "vector", 74, 18, across=True)
        canvas.label(350, y, f"hidden_states[{number}]", mono=True)

    canvas.text(145, floor, f"input_ids {tuple(shape[:2])}", SMALL, mono=True, kind="token")
    part(0)
    state(0)
    for draw in canvas.steps((part, state)):
        for number in range(1, rows):
            draw(number)
    with canvas.step():
        canvas.text(36, middle(layers), "last", SMALL, kind="vector", bold=True)
        canvas.text(36, middle(0), "no\ncontext", SMALL, quiet=True)
        canvas.arrow((36, middle(0) - 26), (36, middle(layers) + 14), kind="vector")
        canvas.label(266, floor, f"{rows} tensors, each {tuple(shape)}", bold=True)
    return canvas.finish(
        f"The encoder as a stack. Ids of shape {tuple(shape[:2])} enter the embeddings below, "
        f"whose output is hidden state 0, without context. {layers} layers stand above. The output "
        f"of layer k is hidden state k, and that of layer {layers} is last_hidden_state. All "
        f"{rows} hidden states have the shape {tuple(shape)}."
    )


def same_word(
    sentences: Sequence[Sequence[str]], word: str, pairs: Sequence[tuple[float, bool]]
) -> Diagram:
    """A word at its position in sentences, and how alike its vectors are in each pair of rows.

    sentences: their tokens. pairs: for rows 0 and 1, for 1 and 2 and so on, the cosine in hidden
    state 0, and whether the vectors are identical there.
    """
    canvas = Canvas("03 same word", 44 + 72 * len(sentences))
    wide = 510 / max(map(len, sentences))
    canvas.label(6, 12, f"cosine of the two vectors of {word} in hidden state 0", quiet=True)
    places = [tokens.index(word) for tokens in sentences]
    marked = []  # the boxes of the word
    for row, (tokens, place) in enumerate(zip(sentences, places)):
        boxes = canvas.tokens(6, 28 + 82 * row, tokens, width=wide - 5, gap=5)
        left, top, right, bottom = boxes[place]
        canvas.box(left, top, right - left, bottom - top, kind="token", thick=True)
        canvas.text((left + right) / 2, (top + bottom) / 2, word, SMALL, mono=True, bold=True)
        marked.append((left, top, right, bottom))
    told = []
    for row, (cosine, identical) in canvas.steps(enumerate(pairs)):
        upper, lower = marked[row : row + 2]
        start = ((upper[0] + upper[2]) / 2, upper[3] + 2)
        end = ((lower[0] + lower[2]) / 2, lower[1] - 2)
        kind = "sentence" if identical else "loss"
        canvas.arrow(start, end, kind=kind, tip=False, thick=True)
        verdict = "identical" if identical else "not identical"
        where = "same position" if places[row] == places[row + 1] else "other position"
        x = start[0] + 0.85 * (end[0] - start[0]) + 16
        canvas.label(x, upper[3] + 27, f"{where}:\n{cosine:.3f}, {verdict}", kind=kind, bold=True)
        told.append(
            f"rows {row + 1} and {row + 2}: cosine {cosine:.3f} in hidden state 0, {verdict}"
        )
    return canvas.finish(
        f"Tokens of {len(sentences)} sentences with {word} at positions "
        f"{', '.join(map(str, places))}. The vectors of {word} in {'; '.join(told)}."
    )


def embedding_sum(tokens: Sequence[str]) -> Diagram:
    """Hidden state 0 of a sentence: rows of three tables, added and normalised for each token."""
    canvas = Canvas("03 embedding sum", 260)
    left, right, gap = 92, 514, 3
    wide = (right - left) / len(tokens) - gap
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
        canvas.box(left, 138, right - gap - left, 28, "LayerNorm, for each token alone", "layer")
        canvas.text(left - 8, 212, "hidden\nstate 0", SMALL, "end")
        told = "each token alone, without its neighbours"
        canvas.text((left + right) / 2, 250, told, bold=True, kind="vector")
    return canvas.finish(
        f"For each of the {len(tokens)} tokens, the row of its piece, the row of its position and "
        "the row of its segment are added. LayerNorm then works on each sum alone, and the result "
        "is hidden state 0. No arrow leads from one token to another."
    )


def words_and_pieces(
    tokens: Sequence[str], word_ids: Sequence[int | None], shown: range
) -> Diagram:
    """Which tokens belong to which word, for the positions `shown`; the mean of one word."""
    canvas = Canvas("03 words and pieces", 240)
    for name, y in (("position", 16), ("token", 46), ("vector", 92), ("word", 146)):
        canvas.label(4, y, name, quiet=True)
    boxes = canvas.tokens(80, 32, [tokens[at] for at in shown], width=432 / len(shown) - 6)
    boxes_of: dict[int | None, list] = {}
    for position, box in zip(shown, boxes):
        middle = (box[0] + box[2]) / 2
        canvas.text(middle, 16, position, SMALL, mono=True)
        canvas.vector(middle - 14, 72)
        boxes_of.setdefault(word_ids[position], []).append(box)
    for word, its_boxes in boxes_of.items():
        left, right = its_boxes[0][0], its_boxes[-1][2]
        canvas.bracket(left + 2, right - 2, 120)
        canvas.text((left + right) / 2, 146, word, mono=True, bold=True)
    # words that are not shown as a whole are no example
    whole = [word for word in boxes_of if word_ids.count(word) == len(boxes_of[word])]
    longest = max(whole, key=lambda word: len(boxes_of[word]))
    its_boxes = boxes_of[longest]
    middle = (its_boxes[0][0] + its_boxes[-1][2]) / 2
    with canvas.step():
        canvas.arrow((middle, 160), (middle, 184), "mean", kind="vector")
        canvas.vector(middle - 14, 188)
        told = f"one vector for word {longest}:\nthe mean of {len(its_boxes)}"
        canvas.text(middle + 22, 208, told, anchor="start", bold=True)
    pieces = [tokens[position] for position in shown if word_ids[position] == longest]
    return canvas.finish(
        f"The tokens at positions {shown[0]} to {shown[-1]}, with their vectors and the number of "
        f"the word that each belongs to. Word {longest} consists of {len(pieces)} tokens, "
        f"{', '.join(pieces)}. The mean of their vectors is the vector of the word."
    )


def _run(
    canvas: Canvas,
    name: str,
    tokens: Sequence[str],
    place: int,
    left: float,
    tops: Sequence[float],
    kind: str = "vector",
) -> list[float]:
    """The hidden states of a run, one row above the other. Returns the middle of each vector.

    place: of the word, whose vectors have another kind.
    """
    wide = RUN_WIDTH / len(tokens)
    middles = [left + (at + 0.5) * wide - 2 for at in range(len(tokens))]
    for y in tops:
        for at, x in enumerate(middles):
            own_kind = kind if at == place else "vector"
            canvas.vector(x - wide / 2 + 2, y, 4, own_kind, wide - 4, 36)
    canvas.text(middles[place], 226, tokens[place], SMALL, bold=True)
    sentence = f"{name}: {' '.join(tokens[1:-1])}"
    canvas.text(left + RUN_WIDTH / 2 - 2, 246, sentence, SMALL, quiet=True)
    return middles


def patching(
    runs: dict[str, tuple[Sequence[str], int]],
    layer: int,
    layers: int,
    question: str,
    every: bool = False,
) -> Diagram:
    """One vector of a run replaced by that of another run, and what the layers above make of it.

    runs: {name: (its tokens, the position of the word)}, first the run that gives the vector, then
    the one that gets it. layer: the hidden state where the vector is replaced. question: what is
    asked of the last hidden state. every: whether it is asked of all of its vectors.
    """
    canvas = Canvas("03 patching", 256)
    states = sorted({0, layer, layers}, reverse=True)
    tops = dict(zip(states, PATCHED_ROWS))
    for state, y in tops.items():
        canvas.label(4, y + 18, f"state {state}", quiet=True)
    (giver, (its_tokens, source)), (getter, (tokens, place)) = runs.items()
    giving = _run(canvas, giver, its_tokens, source, 72, PATCHED_ROWS[: len(states)], "masked")
    getting = _run(canvas, getter, tokens, place, 302, PATCHED_ROWS[: len(states)])
    for upper, lower in itertools.pairwise(PATCHED_ROWS[: len(states)]):
        canvas.arrow((giving[0], lower - 4), (giving[0], upper + 40))
    if layer:
        canvas.arrow((getting[-1], tops[0] - 4), (getting[-1], tops[layer] + 40))
    x, y = getting[place], tops[layer]
    left, wide = -RUN_WIDTH / len(tokens) / 2 + 2, RUN_WIDTH / len(tokens) - 4
    with canvas.step():
        canvas.vector(x + left, y, 4, "masked", wide, 36)
        canvas.arrow((giving[source], y + 40), (x, y + 40), kind="masked", bend=16, thick=True)
        canvas.text(254, y + 66, "copied over", SMALL, kind="masked", bold=True)
    with canvas.step():
        for middle in getting:
            below, above = (x, middle) if every else (middle, x)
            canvas.arrow((below, y - 3), (above, tops[layers] + 39), tip=False)
        for middle in getting if every else [x]:
            y = tops[layers]
            canvas.box(middle + left, y, wide, 36, "?", "masked", dashed=True, round_by=0)
        canvas.text(514, 10, question, SMALL, "end", kind="masked", bold=True)
    asked = "all vectors" if every else "the word's vector"
    return canvas.finish(
        f"Two runs of the encoder, {giver} and {getter}. The vector of the word in hidden state "
        f"{layer} of the {giver} is put in place of the {getter}'s vector there. The layers above "
        f"run on and read the {getter}'s other words. Asked about {asked} in hidden state "
        f"{layers}: {question}"
    )
