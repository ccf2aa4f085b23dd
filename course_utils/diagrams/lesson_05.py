"""The diagrams of lesson 05: attention."""

from collections.abc import Iterable, Sequence

from .canvas import SMALL, Canvas, Diagram, Place

Matrix = Sequence[Sequence[float]]
NAMES_X = 2  # where the names of rows begin
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
    # the left edge of the columns, from one column to the next, and how wide a box of a vector is
    left, step, wide = 104, 414 / len(tokens), 84
    middles = [left + (column + 0.5) * step for column in range(len(tokens))]
    middle = left + len(tokens) * step / 2
    looking = tokens[place]

    def row(
        name: str,
        texts: Iterable[str],
        width: float,
        height: float,
        shades: Sequence[float] | None = None,
        round_by: float = 5,
    ) -> None:
        """The name of a row at the left, and a box for each column, some of them shaded."""
        canvas.label(NAMES_X, TOP[name] + height / 2, name)
        for middle, text, shade in zip(middles, texts, shades or [0] * len(tokens)):
            box = (middle - width / 2, TOP[name], width, height, text, "head", SMALL)
            canvas.box(*box, shade=shade, round_by=round_by)

    for column, (x, token) in enumerate(zip(middles, tokens)):
        look = {"mono": True, "bold": column == place, "thick": column == place}
        canvas.box(x - wide / 2, TOP["tokens"], wide, 26, token, "token", SMALL, **look)
    with canvas.step():
        row("keys", map(_in_brackets, keys), wide, 22)
        x, y = middles[place] - wide / 2, TOP["query"]
        canvas.label(NAMES_X, y + 11, f"query of {looking}")
        canvas.box(x, y, wide, 22, _in_brackets(query), "head", SMALL, bold=True, thick=True)
        canvas.text(x - 12, y + 11, f"times each key, / √{len(query)}", SMALL, "end")
    with canvas.step():
        # + 0.0: no -0.0
        row("scores", [f"{round(score, 2) + 0.0:.2f}" for score in scores], step, 24, round_by=0)
    with canvas.step():
        canvas.arrow((40, TOP["scores"] + 24), (40, TOP["weights"] - 1), "softmax")
        shades = [weight / max(weights) for weight in weights]
        row("weights", [f"{weight:.2f}" for weight in weights], step, 24, shades, round_by=0)
    with canvas.step():
        row("values", map(_in_brackets, values), wide, 22)
    with canvas.step():
        for x, weight in zip(middles, weights):
            strong, weak = weight > 0.5, weight < 0.05
            ends = (x, TOP["values"] + 22), (middle, TOP["sum"] - 2)
            canvas.arrow(*ends, kind="head", tip=False, thick=strong, dashed=weak)
        x, y = middle - wide / 2, TOP["sum"]
        canvas.box(x, y, wide, 24, _in_brackets(received), "head", SMALL, bold=True)
        canvas.label(NAMES_X, y + 12, "weighted sum")
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
    left, top, width, height = 206, 88, 190, 132  # of the product
    factor = {"left": 52, "width": 144, "top": 20, "height": 60}  # of the left one, the upper one
    below, beside = top + height + 14, left + width + 8  # where remarks on the matrices are
    rows, columns = shapes[2]
    marked_row, marked_column = place
    shown = [f"{name} {shape}" for name, shape in zip(names, shapes)]
    # where the marked row and the marked column meet
    x, y = left + (marked_column + 0.5) * width / columns, top + (marked_row + 0.5) * height / rows
    canvas.vector(
        factor["left"], top, rows, "plain", factor["width"], height, marked={marked_row: "head"}
    )
    canvas.text(factor["left"] - 8, y, row, SMALL, "end", mono=True, bold=True)
    canvas.text(factor["left"] + factor["width"] / 2, below, shown[0], SMALL)
    upper = (left, factor["top"], columns, "plain", width, factor["height"])
    canvas.vector(*upper, across=True, marked={marked_column: "head"})
    canvas.label(beside, factor["top"] + factor["height"] / 2, shown[1].replace(" ", "\n", 1))
    with canvas.step():
        canvas.vector(left, top, rows, "plain", width, height)
        canvas.box(x - 24, y - 13, 48, 26, number, "head", bold=True, thick=True)
        canvas.text(left + width / 2, below, shown[2], SMALL)
        # in the corner that the matrices leave free
        canvas.text(104, 44, "one row × one column\n= one number", bold=True, kind="head")
    with canvas.step():
        canvas.label(beside, top + height / 2, heads, bold=True)
    return canvas.finish(
        f"{shown[0]} is to the left of {shown[2]}, and {shown[1]} is above it. The row of {row} "
        f"and one column meet in the number {number}. "
        f"For all heads at once: {' '.join(heads.split())}."
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
    left, right = 100, 490  # of the row of heads; the hidden state ends at the right, too
    cell = (right - left) / heads
    middles = [left + (head + 0.5) * cell - 2 for head in range(heads)]
    # the left edges of the three linear maps, and their width
    starts, narrow = (10, 176, 342), 148
    marked = {shown: "head"}
    # of the rows in the drawing
    top = {"state": 4, "map": 40, "cut": 70, "heads": 114, "joined": 156, "output": 222}
    bottom = {"state": 28, "cut": 84, "heads": 138, "joined": 172}
    canvas.box(10, top["state"], 480, 24, f"hidden state {number - 1} {whole}", "vector", SMALL)
    with canvas.step():
        for x, name in zip(starts, ("query", "key", "value")):
            canvas.box_from(
                (x + narrow / 2, bottom["state"]),
                x,
                top["map"],
                narrow,
                22,
                f"{name} map",
                "layer",
                SMALL,
            )
            canvas.vector(x, top["cut"], heads, width=narrow, height=14, across=True, marked=marked)
    with canvas.step():
        for x in starts:
            piece = (x + (shown + 0.5) * narrow / heads, bottom["cut"])
            canvas.arrow(piece, (middles[shown], top["heads"]), kind="head", thick=True)
        for head, middle in enumerate(middles):
            x = middle - cell / 2 + 2
            canvas.box(x, top["heads"], cell - 4, 24, head, "head", SMALL, thick=head == shown)
        canvas.label(NAMES_X, top["heads"] + 12, f"{heads} heads,\n{part} each")
    with canvas.step():
        for middle in middles:
            canvas.arrow((middle, bottom["heads"]), (middle, top["joined"]), kind="head")
        row = (left - 2, top["joined"], heads, "vector", right - left, 16)
        canvas.vector(*row, across=True, marked=marked)
        canvas.label(NAMES_X, top["joined"] + 12, f"joined\n{whole}")
        canvas.text(
            306,
            bottom["joined"] + 14,
            f"{heads} x {size} = {hidden}; heads count from 0",
            SMALL,
            quiet=True,
        )
    with canvas.step():
        y, middle = top["output"], top["output"] + 14
        canvas.box_from((left + 6, bottom["joined"]), 10, y, 104, 28, "output map", "layer", SMALL)
        canvas.box_from((114, middle), 196, y + 2, 24, 24, "+", round_by=12, over=whole)
        # the hidden state goes around all this and is added
        canvas.path((right, 16), (512, 16), (512, y - 16), (208, y - 16), (208, y + 2))
        canvas.box_from((220, middle), 250, y, 100, 28, "LayerNorm", "layer", SMALL)
        canvas.box_from((350, middle), 376, y, 134, 28, f"attended {whole}", "vector", SMALL)
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

    upper, lower, between = 56, 170, 110  # the middles of two rows, and the way from row to row
    canvas.box(2, upper - 20, 104, 40, f"hidden\nstate {number - 1}", "vector", SMALL)
    with canvas.step():
        attention = (172, upper - 20, 104, 40, "attention,\nall heads", "head", SMALL)
        canvas.box_from((106, upper), *attention, over=usual)
        canvas.arrow((276, upper), (342, upper), usual)
        canvas.text(224, upper + 34, "tokens meet only here", SMALL, kind="head")
    with canvas.step():
        add_and_norm(342, upper, (54, upper - 20), 14)
    with canvas.step():
        canvas.arrow((426, upper + 16), (426, between), tip=False)
        canvas.arrow((426, between), (12, between), f"attended {usual}", tip=False, side=-1)
        canvas.arrow((12, between), (12, lower), tip=False)
        linear_map = (lower - 20, 50, 40, "linear\nmap", "layer", SMALL)
        canvas.box_from((12, lower), 24, *linear_map)
        canvas.box_from((74, lower), 148, lower - 16, 46, 32, "GELU", "plain", SMALL, over=widened)
        canvas.box_from((194, lower), 268, *linear_map, over=widened)
        canvas.arrow((318, lower), (390, lower), usual)
        canvas.text(180, lower + 60, "this row: each token alone", SMALL, kind="layer")
    with canvas.step():
        add_and_norm(390, lower, (12, lower), 206)
        canvas.box_from(
            (474, lower + 16), 372, lower + 50, 146, 28, f"hidden state {number}", "vector", SMALL
        )
    return canvas.finish(
        f"A whole layer, with the shapes at its arrows. Hidden state {number - 1} {usual} goes "
        f"through attention with all heads, {usual}; it is added to the result, and LayerNorm "
        f"gives attended, {usual}. Tokens meet in attention only. For each token alone, a linear "
        f"map widens it to {widened}, GELU bends it, and a linear map narrows it to {usual}. "
        f"Attended is added, and LayerNorm gives hidden state {number}."
    )
