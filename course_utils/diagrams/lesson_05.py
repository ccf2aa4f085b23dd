"""The diagrams of lesson 05: attention."""

from collections.abc import Sequence

from .canvas import SMALL, Canvas, Diagram, Place

Matrix = Sequence[Sequence[float]]
# the top of each row in `one_head`
TOP = {
    "tokens": 4,
    "keys": 38,
    "query": 66,
    "scores": 97,
    "weights": 143,
    "values": 176,
    "sum": 228,
}


def _in_brackets(numbers: Sequence[float]) -> str:
    return "(" + ", ".join(f"{number:.3g}" for number in numbers) + ")"


def one_head(
    tokens: Sequence[str],
    place: int,
    query: Sequence[float],
    keys: Matrix,
    scores: Sequence[float],
    weights: Sequence[float],
    values: Matrix,
    received: Sequence[float],
) -> Diagram:
    """What one head does for one token, in numbers: scores, weights, and the sum of the values.

    place: the position of the token that looks. query: its query, (d,). keys, values: (tokens, d).
    scores, weights: its row of each, (tokens,), the scores divided by the root of d. received: what
    the token receives, (d,).
    """
    canvas = Canvas("05 one head", 260)
    # the left edge of the columns, from one column to the next, and how wide a box is
    left, step, wide = 104, 414 / len(tokens), 84
    middles = [left + (column + 0.5) * step for column in range(len(tokens))]
    middle = left + len(tokens) * step / 2
    looking = tokens[place]

    def row_of_vectors(name: str, vectors: Matrix) -> None:
        canvas.label(2, TOP[name] + 11, name)
        for x, vector in zip(middles, vectors):
            canvas.box(x - wide / 2, TOP[name], wide, 22, _in_brackets(vector), "head", SMALL)

    def row_of_numbers(name: str, numbers: Sequence[float], shaded: bool) -> None:
        canvas.label(2, TOP[name] + 12, name)
        for column, number in enumerate(numbers):
            shade = number / max(numbers) if shaded else 0
            written = f"{round(number, 2) + 0.0:.2f}"  # + 0.0: no -0.0
            x = left + column * step
            canvas.box(x, TOP[name], step, 24, written, "head", SMALL, round_by=0, shade=shade)

    for column, (x, token) in enumerate(zip(middles, tokens)):
        looks = column == place
        y = TOP["tokens"]
        canvas.box(
            x - wide / 2, y, wide, 26, token, "token", SMALL, mono=True, bold=looks, thick=looks
        )
    with canvas.step():
        row_of_vectors("keys", keys)
        x, y = middles[place] - wide / 2, TOP["query"]
        canvas.label(2, y + 11, f"query of {looking}")
        canvas.box(x, y, wide, 22, _in_brackets(query), "head", SMALL, bold=True, thick=True)
        canvas.text(x - 12, y + 11, f"times each key, / √{len(query)}", SMALL, "end")
    with canvas.step():
        row_of_numbers("scores", scores, shaded=False)
    with canvas.step():
        canvas.arrow((40, TOP["scores"] + 24), (40, TOP["weights"] - 1), "softmax")
        row_of_numbers("weights", weights, shaded=True)
    with canvas.step():
        row_of_vectors("values", values)
    with canvas.step():
        for x, weight in zip(middles, weights):
            strong, weak = weight > 0.5, weight < 0.05
            ends = (x, TOP["values"] + 22), (middle, TOP["sum"] - 2)
            canvas.arrow(*ends, kind="head", tip=False, thick=strong, dashed=weak)
        x, y = middle - wide / 2, TOP["sum"]
        canvas.box(x, y, wide, 24, _in_brackets(received), "head", SMALL, bold=True)
        canvas.label(2, y + 12, "weighted sum")
        canvas.label(x + wide + 8, y + 12, f"what {looking} receives")
    most = max(range(len(tokens)), key=lambda column: weights[column])
    return canvas.finish(
        f"One head for the token {looking}. The products of its query {_in_brackets(query)} with "
        f"the keys of all {len(tokens)} tokens, divided by the root of {len(query)}, are "
        f"{len(tokens)} scores. Softmax turns them into {len(tokens)} weights; the largest, "
        f"{weights[most]:.2f}, is that of {tokens[most]}. The values of all tokens, each times its "
        f"weight, add up to {_in_brackets(received)}: what {looking} receives."
    )


def product_of_matrices(
    names: Sequence[str],
    shapes: Sequence[tuple[int, int]],
    place: tuple[int, int],
    row: str,
    number: str,
    heads: str,
) -> Diagram:
    """Two matrices and their product, with the row and the column that make one number of it.

    names, shapes: of the left matrix, of the upper one and of the product. place: the marked row
    and column. row: the token of the row. number: the product's number where the two meet. heads: a
    remark about all heads at once.
    """
    canvas = Canvas("05 product of matrices", 250)
    left, top = 206, 88  # the corner of the product
    width, height = 190, 132  # of the product
    rows, columns = shapes[2]
    marked_row, marked_column = place
    shown = [f"{name} {shape}" for name, shape in zip(names, shapes)]
    x = left + (marked_column + 0.5) * width / columns
    y = top + (marked_row + 0.5) * height / rows
    canvas.vector(52, top, rows, "plain", 144, height, marked={marked_row: "head"})
    canvas.text(44, y, row, SMALL, "end", mono=True, bold=True)
    canvas.text(124, top + height + 14, shown[0], SMALL)
    canvas.vector(
        left, 20, columns, "plain", width, 60, across=True, marked={marked_column: "head"}
    )
    canvas.label(left + width + 8, 50, shown[1].replace(" ", "\n", 1))
    with canvas.step():
        canvas.vector(left, top, rows, "plain", width, height)
        canvas.box(x - 24, y - 13, 48, 26, number, "head", bold=True, thick=True)
        canvas.text(left + width / 2, top + height + 14, shown[2], SMALL)
        canvas.text(104, 44, "one row × one column\n= one number", bold=True, kind="head")
    with canvas.step():
        canvas.label(left + width + 8, top + height / 2, heads, bold=True)
    heads_in_a_line = " ".join(heads.split())
    return canvas.finish(
        f"{shown[0]} is to the left of {shown[2]}, and {shown[1]} is above it. The row of {row} "
        f"and one column meet in the number {number}. For all heads at once: {heads_in_a_line}."
    )


def twelve_heads(shape: tuple[int, int], heads: int, shown: int, number: int) -> Diagram:
    """How the heads of a layer share the vectors, and how their results are joined and added.

    shape: of the hidden state, (tokens, hidden). shown: the head whose way is drawn. number: of the
    layer.
    """
    tokens, hidden = shape
    size = hidden // heads
    whole, part = f"({tokens}, {hidden})", f"({tokens}, {size})"
    canvas = Canvas("05 twelve heads", 260)
    right = 490  # where the rows of vectors end
    marked = {shown: "head"}
    canvas.box(10, 4, 480, 24, f"hidden state {number - 1} {whole}", "vector", SMALL)
    # the width of a linear map, and the left edges of the three
    narrow, starts = 148, [10, 176, 342]
    with canvas.step():
        for x, name in zip(starts, ("query", "key", "value")):
            middle = x + narrow / 2
            canvas.box_from((middle, 28), x, 40, narrow, 22, f"{name} map", "layer", SMALL)
            canvas.vector(x, 70, heads, width=narrow, height=14, across=True, marked=marked)
    left = 100  # where the heads begin
    cell = (right - left) / heads
    middles = [left + (head + 0.5) * cell - 2 for head in range(heads)]
    with canvas.step():
        for x in starts:
            piece = (x + (shown + 0.5) * narrow / heads, 84)
            canvas.arrow(piece, (middles[shown], 114), kind="head", thick=True)
        for head, middle in enumerate(middles):
            x = middle - cell / 2 + 2
            canvas.box(x, 114, cell - 4, 24, head, "head", SMALL, thick=head == shown)
        canvas.label(2, 126, f"{heads} heads,\n{part} each")
    with canvas.step():
        for middle in middles:
            canvas.arrow((middle, 138), (middle, 156), kind="head")
        canvas.vector(
            left - 2, 156, heads, width=right - left, height=16, across=True, marked=marked
        )
        canvas.label(2, 168, f"joined\n{whole}")
        canvas.text(
            left + 206, 186, f"{heads} x {size} = {hidden}; heads count from 0", SMALL, quiet=True
        )
    with canvas.step():
        canvas.box_from((left + 6, 172), 10, 222, 104, 28, "output map", "layer", SMALL)
        canvas.box_from((114, 236), 196, 224, 24, 24, "+", round_by=12, over=whole)
        canvas.path((right, 16), (512, 16), (512, 206), (208, 206), (208, 224))
        canvas.box_from((220, 236), 250, 222, 100, 28, "LayerNorm", "layer", SMALL)
        canvas.box_from((350, 236), 376, 222, 134, 28, f"attended {whole}", "vector", SMALL)
    return canvas.finish(
        f"The {heads} heads of a layer, joined. Three linear maps turn the hidden state {whole} "
        f"into queries, keys and values, each {whole}. Each of them is cut into {heads} pieces "
        f"{part}, one for each head. Each head returns {part}. Side by side they are {heads} times "
        f"{size}, so {hidden} numbers for each token. The output map mixes them, the hidden state "
        "is added, and LayerNorm gives attended."
    )


def one_layer(shape: tuple[int, int], wide: int, number: int) -> Diagram:
    """A whole layer, with the shape at every arrow: attention and feed-forward, add and norm.

    shape: of a hidden state, (tokens, hidden). wide: the numbers of a token between the two linear
    maps of the feed-forward part. number: of the layer.
    """
    tokens, hidden = shape
    usual, widened = f"({tokens}, {hidden})", f"({tokens}, {wide})"
    canvas = Canvas("05 one layer", 252)

    def add_and_norm(x: float, y: float, branch: Place, detour_y: float) -> None:
        """The input at `branch` goes around the other boxes, at the height `detour_y`, is added at
        (x, y), and the sum is normalised.
        """
        canvas.box(x, y - 12, 24, 24, "+", round_by=12)
        nearer_end = y - 12 if detour_y < y else y + 12
        canvas.path(branch, (branch[0], detour_y), (x + 12, detour_y), (x + 12, nearer_end))
        canvas.box_from((x + 24, y), x + 40, y - 16, 88, 32, "LayerNorm", "layer", SMALL)

    upper = 56  # the middle of the first row
    canvas.box(2, upper - 20, 104, 40, f"hidden\nstate {number - 1}", "vector", SMALL)
    with canvas.step():
        canvas.box_from(
            (106, upper),
            172,
            upper - 20,
            104,
            40,
            "attention,\nall heads",
            "head",
            SMALL,
            over=usual,
        )
        canvas.arrow((276, upper), (342, upper), usual)
        canvas.text(224, upper + 34, "tokens meet only here", SMALL, kind="head")
    with canvas.step():
        add_and_norm(342, upper, (54, upper - 20), 14)
    with canvas.step():
        canvas.arrow((426, upper + 16), (426, 110), tip=False)
        canvas.arrow((426, 110), (12, 110), f"attended {usual}", tip=False, side=-1)
        canvas.arrow((12, 110), (12, 170), tip=False)
        lower = 170  # the middle of the second row
        canvas.box_from((12, lower), 24, lower - 20, 50, 40, "linear\nmap", "layer", SMALL)
        canvas.box_from((74, lower), 148, lower - 16, 46, 32, "GELU", "plain", SMALL, over=widened)
        canvas.box_from(
            (194, lower), 268, lower - 20, 50, 40, "linear\nmap", "layer", SMALL, over=widened
        )
        canvas.arrow((318, lower), (390, lower), usual)
        canvas.text(180, 230, "this row: each token alone", SMALL, kind="layer")
    with canvas.step():
        add_and_norm(390, lower, (12, lower), 206)
        canvas.box_from(
            (474, lower + 16), 372, 220, 146, 28, f"hidden state {number}", "vector", SMALL
        )
    return canvas.finish(
        f"A whole layer, with the shapes at its arrows. Hidden state {number - 1} {usual} goes "
        f"through attention with all heads, {usual}; it is added to the result, and LayerNorm "
        f"gives attended, {usual}. Tokens meet in attention only. For each token alone, a linear "
        f"map widens it to {widened}, GELU bends it, and a linear map narrows it to {usual}. "
        f"Attended is added, and LayerNorm gives hidden state {number}."
    )
