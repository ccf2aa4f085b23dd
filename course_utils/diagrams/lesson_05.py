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
    the token receives, (d,). Raises ValueError if a vector is too long to be written in its box.
    """
    canvas = Canvas("05 one head", 260)
    left, column_width = 104, 414 / len(tokens)  # of the columns, one for each token; 2 stay free
    vector_width = 84  # of a box with a token, or with the numbers of a vector
    column_xs = [left + (column + 0.5) * column_width for column in range(len(tokens))]
    sum_x = left + len(tokens) * column_width / 2  # the middle of the weighted sum
    looking = tokens[place]

    def row(
        name: str,  # in `TOP`
        texts: Iterable[str],
        width: float,
        height: float,
        shades: Sequence[float] | None = None,
        round_by: float = 5,
    ) -> None:
        """The name of a row at the left, and a box for each column, some of them shaded."""
        canvas.label(NAMES_X, TOP[name] + height / 2, name)
        for x, text, shade in zip(column_xs, texts, shades or [0] * len(tokens)):
            canvas.box(
                x - width / 2,
                TOP[name],
                width,
                height,
                text,
                "head",
                SMALL,
                shade=shade,
                round_by=round_by,
            )

    for column, (x, token) in enumerate(zip(column_xs, tokens)):
        look = {"mono": True, "bold": column == place, "thick": column == place}
        canvas.box(
            x - vector_width / 2, TOP["tokens"], vector_width, 26, token, "token", SMALL, **look
        )
    with canvas.step():
        row("keys", map(_in_brackets, keys), vector_width, 22)
        query_left, query_y = column_xs[place] - vector_width / 2, TOP["query"] + 11
        canvas.label(NAMES_X, query_y, f"query of {looking}")
        canvas.box(
            query_left,
            TOP["query"],
            vector_width,
            22,
            _in_brackets(query),
            "head",
            SMALL,
            bold=True,
            thick=True,
        )
        # beside the query, on the side that has more room
        is_at_the_right = place >= len(tokens) / 2
        canvas.text(
            query_left - 12 if is_at_the_right else query_left + vector_width + 12,
            query_y,
            f"times each key, / √{len(query)}",
            SMALL,
            "end" if is_at_the_right else "start",
        )
    with canvas.step():
        row(
            "scores",
            [f"{round(score, 2) + 0.0:.2f}" for score in scores],  # + 0.0: no -0.0
            column_width,
            24,
            round_by=0,
        )
    with canvas.step():
        canvas.arrow((40, TOP["scores"] + 24), (40, TOP["weights"] - 1), "softmax")
        shades = [weight / max(weights) for weight in weights]  # the largest is the darkest
        row(
            "weights", [f"{weight:.2f}" for weight in weights], column_width, 24, shades, round_by=0
        )
    with canvas.step():
        row("values", map(_in_brackets, values), vector_width, 22)
    with canvas.step():
        # a weight over 0.5 is more than all others together: thick; one below 0.05 hardly counts
        for x, weight in zip(column_xs, weights):
            canvas.arrow(
                (x, TOP["values"] + 22),
                (sum_x, TOP["sum"] - 2),
                kind="head",
                tip=False,
                thick=weight > 0.5,
                dashed=weight < 0.05,
            )
        sum_left, sum_y = sum_x - vector_width / 2, TOP["sum"] + 12
        canvas.box(
            sum_left, TOP["sum"], vector_width, 24, _in_brackets(received), "head", SMALL, bold=True
        )
        canvas.label(NAMES_X, sum_y, "weighted sum")
        canvas.label(sum_left + vector_width + 8, sum_y, f"what {looking} receives")
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
    and column. row: the token of the row. number: the product's number where the two meet, as text.
    heads: a remark about all heads at once.
    """
    canvas = Canvas("05 product of matrices", 250)
    left, top, width, height = 206, 88, 190, 132  # of the product
    left_x, left_width = 52, 144  # of the left matrix, which is as high as the product
    upper_y, upper_height = 20, 60  # of the upper matrix, which is as wide as the product
    below, beside = top + height + 14, left + width + 8  # where remarks on the matrices are
    rows, columns = shapes[2]
    marked_row, marked_column = place
    left_title, upper_title, product_title = [
        f"{name} {shape}" for name, shape in zip(names, shapes)
    ]
    # the middle of the cell where the marked row and the marked column meet
    cell_x = left + (marked_column + 0.5) * width / columns
    cell_y = top + (marked_row + 0.5) * height / rows
    canvas.vector(left_x, top, rows, "plain", left_width, height, marked={marked_row: "head"})
    canvas.text(left_x - 8, cell_y, row, SMALL, "end", mono=True, bold=True)
    canvas.text(left_x + left_width / 2, below, left_title, SMALL)
    canvas.vector(
        left,
        upper_y,
        columns,
        "plain",
        width,
        upper_height,
        across=True,
        marked={marked_column: "head"},
    )
    # its name in one line, its shape in the next
    canvas.label(beside, upper_y + upper_height / 2, upper_title.replace(" ", "\n", 1))
    with canvas.step():
        canvas.vector(left, top, rows, "plain", width, height)
        canvas.box(cell_x - 24, cell_y - 13, 48, 26, number, "head", bold=True, thick=True)
        canvas.text(left + width / 2, below, product_title, SMALL)
        # in the corner that the matrices leave free
        canvas.text(104, 44, "one row × one column\n= one number", bold=True, kind="head")
    with canvas.step():
        canvas.label(beside, top + height / 2, heads, bold=True)
    return canvas.finish(
        f"{left_title} is to the left of {product_title}, and {upper_title} is above it. The row "
        f"of {row} and one column meet in the number {number}. "
        f"For all heads at once: {' '.join(heads.split())}."
    )


def twelve_heads(shape: tuple[int, int], heads: int, shown: int, number: int) -> Diagram:
    """How the heads of a layer share the vectors, and how their results are joined and added.

    shape: of the hidden state, (tokens, hidden). heads: how many there are; they share `hidden`
    equally. shown: the head whose way is drawn, from 0. number: of the layer, from 1.
    """
    tokens, hidden = shape
    head_size = hidden // heads
    whole, part = f"({tokens}, {hidden})", f"({tokens}, {head_size})"
    canvas = Canvas("05 twelve heads", 260)
    left, right = 100, 490  # of the row of heads; the hidden state ends at the right, too
    cell = (right - left) / heads  # from one head to the next
    # the middles of the heads; a head is 4 units narrower than its cell, and begins where that does
    head_xs = [left + (head + 0.5) * cell - 2 for head in range(heads)]
    # of the three linear maps: their left edges, 18 units apart, and the width of each
    map_lefts, map_width = (10, 176, 342), 148
    marked = {shown: "head"}
    # of the rows in the drawing; a bottom is the top and the height of what the row shows
    top = {"state": 4, "map": 40, "cut": 70, "heads": 114, "joined": 156, "output": 222}
    bottom = {"state": 28, "cut": 84, "heads": 138, "joined": 172}
    canvas.box(10, top["state"], 480, 24, f"hidden state {number - 1} {whole}", "vector", SMALL)
    with canvas.step():  # three linear maps, and their results in as many pieces as heads
        for x, name in zip(map_lefts, ("query", "key", "value")):
            above = (x + map_width / 2, bottom["state"])
            canvas.box_from(above, x, top["map"], map_width, 22, f"{name} map", "layer", SMALL)
            canvas.vector(
                x, top["cut"], heads, width=map_width, height=14, across=True, marked=marked
            )
    with canvas.step():  # three pieces lead to a head
        for x in map_lefts:
            piece = (x + (shown + 0.5) * map_width / heads, bottom["cut"])
            canvas.arrow(piece, (head_xs[shown], top["heads"]), kind="head", thick=True)
        for head, middle in enumerate(head_xs):
            x = middle - cell / 2 + 2
            canvas.box(x, top["heads"], cell - 4, 24, head, "head", SMALL, thick=head == shown)
        canvas.label(NAMES_X, top["heads"] + 12, f"{heads} heads,\n{part} each")
    with canvas.step():  # the results of the heads, side by side
        for x in head_xs:
            canvas.arrow((x, bottom["heads"]), (x, top["joined"]), kind="head")
        canvas.vector(
            left - 2,
            top["joined"],
            heads,
            width=right - left,
            height=16,
            across=True,
            marked=marked,
        )
        canvas.label(NAMES_X, top["joined"] + 12, f"joined\n{whole}")
        canvas.text(
            306,
            bottom["joined"] + 14,
            f"{heads} x {head_size} = {hidden}; heads count from 0",
            SMALL,
            quiet=True,
        )
    with canvas.step():  # output map, plus the hidden state, LayerNorm
        y, middle_y = top["output"], top["output"] + 14
        canvas.box_from((left + 6, bottom["joined"]), 10, y, 104, 28, "output map", "layer", SMALL)
        canvas.box_from((114, middle_y), 196, y + 2, 24, 24, "+", round_by=12, over=whole)
        # the hidden state goes around all this at the right, and down to the plus at 208
        canvas.path((right, 16), (512, 16), (512, y - 16), (208, y - 16), (208, y + 2))
        canvas.box_from((220, middle_y), 250, y, 100, 28, "LayerNorm", "layer", SMALL)
        canvas.box_from((350, middle_y), 376, y, 134, 28, f"attended {whole}", "vector", SMALL)
    return canvas.finish(
        f"The {heads} heads of a layer, joined. Three linear maps turn the hidden state {whole} "
        f"into queries, keys and values, each {whole}. Each of them is cut into {heads} pieces "
        f"{part}, one for each head. Each head returns {part}. Side by side they are {heads} times "
        f"{head_size}, so {hidden} numbers for each token. The output map mixes them, the hidden "
        "state is added, and LayerNorm gives attended."
    )


def one_layer(shape: tuple[int, int], wide: int, number: int) -> Diagram:
    """A whole layer, with the shape at every arrow: attention and feed-forward, add and norm.

    shape: of a hidden state, (tokens, hidden). wide: the numbers of a token between the two linear
    maps of the feed-forward part. number: of the layer, from 1.
    """
    tokens, hidden = shape
    usual, widened = f"({tokens}, {hidden})", f"({tokens}, {wide})"
    canvas = Canvas("05 one layer", 252)

    def add_and_norm(x: float, y: float, branch: Place, detour_y: float) -> None:
        """The input at `branch` goes around the other boxes, at the height `detour_y`, is added at
        (x, y), and the sum is normalised.
        """
        canvas.box(x, y - 12, 24, 24, "+", round_by=12)
        # of the plus, a circle with a radius of 12: its top or its bottom
        nearer_end = y - 12 if detour_y < y else y + 12
        canvas.path(branch, (branch[0], detour_y), (x + 12, detour_y), (x + 12, nearer_end))
        canvas.box_from((x + 24, y), x + 40, y - 16, 88, 32, "LayerNorm", "layer", SMALL)

    upper, lower, between = 56, 170, 110  # the middles of two rows, and the way from row to row
    canvas.box(2, upper - 20, 104, 40, f"hidden\nstate {number - 1}", "vector", SMALL)
    with canvas.step():  # attention
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
    with canvas.step():  # plus the hidden state, which goes around at the top
        add_and_norm(342, upper, (54, upper - 20), 14)
    with canvas.step():  # down to the lower row, and feed-forward
        canvas.arrow((426, upper + 16), (426, between), tip=False)
        canvas.arrow((426, between), (12, between), f"attended {usual}", tip=False, side=-1)
        canvas.arrow((12, between), (12, lower), tip=False)
        # the top, the size and the look that both linear maps have
        linear_map = (lower - 20, 50, 40, "linear\nmap", "layer", SMALL)
        canvas.box_from((12, lower), 24, *linear_map)
        canvas.box_from((74, lower), 148, lower - 16, 46, 32, "GELU", "plain", SMALL, over=widened)
        canvas.box_from((194, lower), 268, *linear_map, over=widened)
        canvas.arrow((318, lower), (390, lower), usual)
        canvas.text(180, lower + 60, "this row: each token alone", SMALL, kind="layer")
    with canvas.step():  # plus what came into the lower row, which goes around at the bottom
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
