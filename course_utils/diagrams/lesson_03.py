"""The diagrams of lesson 03: contextual vectors."""

import itertools
from collections.abc import Sequence

from .canvas import SMALL, Canvas, Diagram

PATCHED_ROWS = (22, 100, 178)  # the tops of the hidden states in `patching`, the last state first
RUN_WIDTH, RUN_HEIGHT, GAP = 212, 36, 4  # of a run there, of its vectors, and between two of them
WORD_Y, SENTENCE_Y = 226, 246  # heights of the texts below a run
SOURCE_LEFT, TARGET_LEFT = 72, 302  # the left edges of the two runs
STEP = 34  # from one layer of `encoder_stack` to the next


def encoder_stack(shape: Sequence[int], layers: int) -> Diagram:
    """The encoder from ids to last_hidden_state, with the hidden state after each part.

    shape: of one hidden state, (sentences, tokens, hidden). layers: how many the model has.
    """
    rows = layers + 1
    canvas = Canvas("03 encoder stack", STEP * rows + 44)  # 44: for the ids below the rows
    # the y of the middle of each layer and its state, the last one on top; and of the ids
    middles = [STEP * (layers - number) + 18 for number in range(rows)]
    ids_y = STEP * rows + 18

    # columns: "last" and "no context" around 36, layers around 145, states from 266, names from 350
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
    """The hidden states of a run, one row above the other. Returns the x of each token's vectors.

    name, tokens: of the run. The sentence below it leaves out the first and the last token, [CLS]
    and [SEP]. place: of the word, whose vectors are of this `kind`. left: edge of the run. tops: of
    the rows.
    """
    step = RUN_WIDTH / len(tokens)
    wide = step - GAP
    middles = [left + token * step + wide / 2 for token in range(len(tokens))]
    for y in tops:
        for token, x in enumerate(middles):
            own_kind = kind if token == place else "vector"
            canvas.vector(x - wide / 2, y, 4, own_kind, wide, RUN_HEIGHT)
    canvas.text(middles[place], WORD_Y, tokens[place], SMALL, bold=True)
    canvas.text(
        left + (RUN_WIDTH - GAP) / 2,
        SENTENCE_Y,
        f"{name}: {' '.join(tokens[1:-1])}",
        SMALL,
        quiet=True,
    )
    return middles


def patching(
    runs: dict[str, tuple[Sequence[str], int]],
    layer: int,
    layers: int,
    question: str,
    every: bool = False,
) -> Diagram:
    """One vector of a run replaced by that of another run, and what the layers above make of it.

    runs: {name: (its tokens, the position of the word)}, first the source, the run that gives the
    vector, then the target, which gets it. layer: the hidden state where the vector is replaced.
    layers: how many the encoder has. question: about the last hidden state. every: whether it is
    about all of its vectors, not only that of the word.
    """
    canvas = Canvas("03 patching", 256)
    # {hidden state: the top of its row}; two rows if the state is the first or the last one
    tops = dict(zip(sorted({0, layer, layers}, reverse=True), PATCHED_ROWS))
    for state, y in tops.items():
        canvas.label(4, y + RUN_HEIGHT / 2, f"state {state}", quiet=True)
    (source, (source_tokens, source_place)), (target, (tokens, place)) = runs.items()
    rows = [*tops.values()]
    source_xs = _run(canvas, source, source_tokens, source_place, SOURCE_LEFT, rows, "masked")
    target_xs = _run(canvas, target, tokens, place, TARGET_LEFT, rows)
    # the source runs through all layers, the target up to the state where its vector is replaced
    for upper, lower in itertools.pairwise(rows):
        canvas.arrow((source_xs[0], lower - 4), (source_xs[0], upper + RUN_HEIGHT + 4))
    if layer:
        canvas.arrow((target_xs[-1], tops[0] - 4), (target_xs[-1], tops[layer] + RUN_HEIGHT + 4))
    word_x, patched_top = target_xs[place], tops[layer]
    wide = RUN_WIDTH / len(tokens) - GAP  # of the target's vectors
    with canvas.step():
        canvas.vector(word_x - wide / 2, patched_top, 4, "masked", wide, RUN_HEIGHT)
        below = patched_top + RUN_HEIGHT + 4
        canvas.arrow(
            (source_xs[source_place], below), (word_x, below), kind="masked", bend=16, thick=True
        )
        canvas.text(254, below + 26, "copied over", SMALL, kind="masked", bold=True)
    with canvas.step():
        asked_top = tops[layers]  # of the vectors that the question is about
        # lines from the patched vector to all of those, or from its whole row to the word's vector
        for x in target_xs:
            lower_x, upper_x = (word_x, x) if every else (x, word_x)
            canvas.arrow(
                (lower_x, patched_top - 3), (upper_x, asked_top + RUN_HEIGHT + 3), tip=False
            )
        for x in target_xs if every else [word_x]:
            canvas.box(
                x - wide / 2, asked_top, wide, RUN_HEIGHT, "?", "masked", dashed=True, round_by=0
            )
        canvas.text(514, 10, question, SMALL, "end", kind="masked", bold=True)
    subject = "all vectors" if every else "the word's vector"
    return canvas.finish(
        f"Two runs of the encoder, {source} and {target}. The vector of the word in hidden state "
        f"{layer} of the {source} is put in place of the {target}'s vector there. The layers above "
        f"run on and read the {target}'s other words. Asked about {subject} in hidden state "
        f"{layers}: {question}"
    )
