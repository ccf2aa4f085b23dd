"""The diagrams of lesson 03: contextual vectors."""

import itertools
from collections.abc import Sequence

from .canvas import SMALL, Canvas, Diagram

PATCHED_ROWS = (22, 100, 178)  # the tops of the hidden states in `patching`, the last state first
RUN_WIDTH, RUN_HEIGHT, GAP = 212, 36, 4  # of a run there, of its vectors, and between two of them
WORD_Y, SENTENCE_Y = 226, 246  # heights of the texts below a run
GIVER_LEFT, GETTER_LEFT = 72, 302  # the left edges of the two runs
STEP = 34  # from one layer of `encoder_stack` to the next


def encoder_stack(shape: Sequence[int], layers: int) -> Diagram:
    """The encoder from ids to last_hidden_state, with the hidden state after each part.

    shape: of one hidden state, (sentences, tokens, hidden). layers: how many the model has.
    """
    rows = layers + 1
    canvas = Canvas("03 encoder stack", STEP * rows + 44)
    # the middle of each layer and its state, the last one above all others; and of the ids
    middles = [STEP * (layers - number) + 18 for number in range(rows)]
    ids_y = STEP * rows + 18

    def part(number: int) -> None:
        y = middles[number]
        canvas.box(70, y - 10, 150, 20, f"layer {number}" if number else "embeddings", "layer")
        canvas.arrow((145, y + 24), (145, y + 10))

    def state(number: int) -> None:
        y = middles[number]
        canvas.arrow((220, y), (262, y))
        canvas.vector(266, y - 9, 8, "vector", 74, 18, across=True)
        canvas.label(350, y, f"hidden_states[{number}]", mono=True)

    canvas.text(145, ids_y, f"input_ids {tuple(shape[:2])}", SMALL, mono=True, kind="token")
    part(0)
    state(0)
    for draw in canvas.steps((part, state)):
        for number in range(1, rows):
            draw(number)
    with canvas.step():
        canvas.text(36, middles[layers], "last", SMALL, kind="vector", bold=True)
        canvas.text(36, middles[0], "no\ncontext", SMALL, quiet=True)
        canvas.arrow((36, middles[0] - 26), (36, middles[layers] + 14), kind="vector")
        canvas.label(266, ids_y, f"{rows} tensors, each {tuple(shape)}", bold=True)
    return canvas.finish(
        f"The encoder as a stack. Ids of shape {tuple(shape[:2])} enter the embeddings below, "
        f"whose output is hidden state 0, without context. {layers} layers stand above. The output "
        f"of layer k is hidden state k, and that of layer {layers} is last_hidden_state. All "
        f"{rows} hidden states have the shape {tuple(shape)}."
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
    """The hidden states of a run, one row above the other. Returns the middles of the vectors.

    place: of the word, whose vectors are of this `kind`. left: edge of the run. tops: of the rows.
    """
    step = RUN_WIDTH / len(tokens)
    wide = step - GAP
    middles = [left + token * step + wide / 2 for token in range(len(tokens))]
    for y in tops:
        for token, x in enumerate(middles):
            own_kind = kind if token == place else "vector"
            canvas.vector(x - wide / 2, y, 4, own_kind, wide, RUN_HEIGHT)
    canvas.text(middles[place], WORD_Y, tokens[place], SMALL, bold=True)
    sentence = f"{name}: {' '.join(tokens[1:-1])}"
    canvas.text(left + (RUN_WIDTH - GAP) / 2, SENTENCE_Y, sentence, SMALL, quiet=True)
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
    the run that gets it. layer: the hidden state where the vector is replaced. layers: of the
    encoder. question: about the last hidden state. every: whether it is about all of its vectors,
    not only that of the word.
    """
    canvas = Canvas("03 patching", 256)
    tops = dict(zip(sorted({0, layer, layers}, reverse=True), PATCHED_ROWS))
    for state, y in tops.items():
        canvas.label(4, y + RUN_HEIGHT / 2, f"state {state}", quiet=True)
    (giver, (giver_tokens, source)), (getter, (tokens, place)) = runs.items()
    rows = [*tops.values()]
    giving = _run(canvas, giver, giver_tokens, source, GIVER_LEFT, rows, "masked")
    getting = _run(canvas, getter, tokens, place, GETTER_LEFT, rows)
    for upper, lower in itertools.pairwise(rows):
        canvas.arrow((giving[0], lower - 4), (giving[0], upper + RUN_HEIGHT + 4))
    if layer:
        canvas.arrow((getting[-1], tops[0] - 4), (getting[-1], tops[layer] + RUN_HEIGHT + 4))
    x, y = getting[place], tops[layer]
    wide = RUN_WIDTH / len(tokens) - GAP  # of the getter's vectors
    with canvas.step():
        canvas.vector(x - wide / 2, y, 4, "masked", wide, RUN_HEIGHT)
        below = y + RUN_HEIGHT + 4
        canvas.arrow((giving[source], below), (x, below), kind="masked", bend=16, thick=True)
        canvas.text(254, below + 26, "copied over", SMALL, kind="masked", bold=True)
    with canvas.step():
        asked = tops[layers]  # the top of the vectors that the question is about
        for middle in getting:
            lower_x, upper_x = (x, middle) if every else (middle, x)
            canvas.arrow((lower_x, y - 3), (upper_x, asked + RUN_HEIGHT + 3), tip=False)
        for middle in getting if every else [x]:
            canvas.box(
                middle - wide / 2, asked, wide, RUN_HEIGHT, "?", "masked", dashed=True, round_by=0
            )
        canvas.text(514, 10, question, SMALL, "end", kind="masked", bold=True)
    subject = "all vectors" if every else "the word's vector"
    return canvas.finish(
        f"Two runs of the encoder, {giver} and {getter}. The vector of the word in hidden state "
        f"{layer} of the {giver} is put in place of the {getter}'s vector there. The layers above "
        f"run on and read the {getter}'s other words. Asked about {subject} in hidden state "
        f"{layers}: {question}"
    )
