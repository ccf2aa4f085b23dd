"""The diagrams of lesson 03: contextual vectors."""

import itertools
from collections.abc import Sequence

from .canvas import SMALL, Canvas, Diagram

PATCHED_ROWS = (22, 100, 178)  # the tops of the hidden states in `patching`, the last state first
RUN_HEIGHT, RUN_WIDTH = 36, 212  # of a run there, and of its vectors
GIVER_LEFT, GETTER_LEFT = 72, 302  # the left edges of the two runs
STEP = 34  # from one layer of `encoder_stack` to the next


def encoder_stack(shape: Sequence[int], layers: int) -> Diagram:
    """The encoder from ids to last_hidden_state, with the hidden state after each part.

    shape: of one hidden state, (sentences, tokens, hidden). layers: how many the model has.
    """
    rows = layers + 1
    canvas = Canvas("03 encoder stack", STEP * rows + 44)
    floor = STEP * rows + 18

    def middle(number: int) -> int:
        return STEP * (layers - number) + 18

    def part(number: int) -> None:
        y = middle(number)
        canvas.box(70, y - 10, 150, 20, f"layer {number}" if number else "embeddings", "layer")
        canvas.arrow((145, y + 24), (145, y + 10))

    def state(number: int) -> None:
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

    place: of the word, whose vectors are of this `kind`. left: edge of the run. tops: of the rows.
    """
    wide = RUN_WIDTH / len(tokens)
    middles = [left + (token + 0.5) * wide - 2 for token in range(len(tokens))]
    for y in tops:
        for token, x in enumerate(middles):
            own_kind = kind if token == place else "vector"
            canvas.vector(x - wide / 2 + 2, y, 4, own_kind, wide - 4, RUN_HEIGHT)
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
    the run that gets it. layer: the hidden state where the vector is replaced. layers: of the
    encoder. question: about the last hidden state. every: whether it is about all of its vectors,
    not only that of the word.
    """
    canvas = Canvas("03 patching", 256)
    states = sorted({0, layer, layers}, reverse=True)
    tops = dict(zip(states, PATCHED_ROWS))
    for state, y in tops.items():
        canvas.label(4, y + 18, f"state {state}", quiet=True)
    (giver, (giver_tokens, source)), (getter, (tokens, place)) = runs.items()
    rows = PATCHED_ROWS[: len(states)]
    giving = _run(canvas, giver, giver_tokens, source, GIVER_LEFT, rows, "masked")
    getting = _run(canvas, getter, tokens, place, GETTER_LEFT, rows)
    for upper, lower in itertools.pairwise(rows):
        canvas.arrow((giving[0], lower - 4), (giving[0], upper + 40))
    if layer:
        canvas.arrow((getting[-1], tops[0] - 4), (getting[-1], tops[layer] + 40))
    x, y = getting[place], tops[layer]
    wide = RUN_WIDTH / len(tokens) - 4  # of the getter's vectors
    with canvas.step():
        canvas.vector(x - wide / 2, y, 4, "masked", wide, RUN_HEIGHT)
        canvas.arrow((giving[source], y + 40), (x, y + 40), kind="masked", bend=16, thick=True)
        canvas.text(254, y + 66, "copied over", SMALL, kind="masked", bold=True)
    with canvas.step():
        for middle in getting:
            below, above = (x, middle) if every else (middle, x)
            canvas.arrow((below, y - 3), (above, tops[layers] + 39), tip=False)
        for middle in getting if every else [x]:
            canvas.box(
                middle - wide / 2,
                tops[layers],
                wide,
                RUN_HEIGHT,
                "?",
                "masked",
                dashed=True,
                round_by=0,
            )
        canvas.text(514, 10, question, SMALL, "end", kind="masked", bold=True)
    subject = "all vectors" if every else "the word's vector"
    return canvas.finish(
        f"Two runs of the encoder, {giver} and {getter}. The vector of the word in hidden state "
        f"{layer} of the {giver} is put in place of the {getter}'s vector there. The layers above "
        f"run on and read the {getter}'s other words. Asked about {subject} in hidden state "
        f"{layers}: {question}"
    )
