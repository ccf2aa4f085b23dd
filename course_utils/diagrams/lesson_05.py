"""The diagrams of lesson 05: attention."""

from .canvas import SMALL, Canvas


def arcs(tokens, weights, askers):
    """Arcs over a sentence from a token that looks to those that it looks at, as thick as their weights in one head.

    weights: (tokens, tokens), a row for each token that looks. askers: the positions of two tokens that look.
    """
    canvas, n = Canvas("05 arcs", 260), len(tokens)
    step, told = 516 / n, []
    middles = [2 + (at + 0.5) * step for at in range(n)]
    for row, asker in enumerate(askers):
        top, x = 83 + row * 132, middles[asker]
        most = max(range(n), key=lambda at: weights[asker][at])
        for at, token in enumerate(tokens):
            kind = "special" if token in ("[CLS]", "[SEP]") else "token"
            canvas.box(2 + at * step + 2, top, step - 4, 24, token, kind, SMALL, mono=True,
                       bold=at == asker, thick=at == asker)  # fmt: skip
        with canvas.step():
            for at in sorted(range(n), key=lambda at: weights[asker][at]):
                wide, kind = max(1, 15 * weights[asker][at]), "head" if at == most else "plain"
                if at == asker:
                    canvas.arc(x - 12, x + 12, top - 1, 14, wide, kind)
                else:
                    high = 12 + 38 * abs(at - asker) / max(asker, n - 1 - asker)
                    canvas.arc(x, middles[at], top - 1, high, wide, kind)
            for at, weight in enumerate(weights[asker]):
                canvas.text(middles[at], top + 34, f"{weight:.2f}", SMALL, bold=at == most, quiet=at != most)
            canvas.text(260, top - 74, f"“{tokens[asker]}” looks most at “{tokens[most]}”", bold=True, kind="head")
        told.append(f"{tokens[asker]} gives most to {tokens[most]} ({weights[asker][most]:.2f})")
    return canvas.finish(
        f"Arcs over the sentence {' '.join(tokens)}, from a token that looks to each that it looks at, as thick as the "
        f"weight: {'; '.join(told)}."
    )


def one_table(tokens, weights, place, column):
    """A head's table, darker for larger weights, and then the sums of its rows and of its columns.

    weights: (tokens, tokens), a row for each token that looks. place: the row that is marked. column: the column that
    is marked.
    """
    canvas, n = Canvas("05 one table", 256), len(tokens)
    left, top, wide, high = 112, 46, min(38, 304 // n), min(20, 160 // n)
    right, low = left + n * wide, top + n * high
    columns, rows = [sum(column) for column in zip(*weights)], [sum(row) for row in weights]
    for at, token in enumerate(tokens):
        canvas.text(left + (at + 0.5) * wide, top - 12, token, SMALL, bold=at == column)
        canvas.text(left - 8, top + (at + 0.5) * high, token, SMALL, "end", bold=at == place)
        for other, weight in enumerate(weights[at]):
            marked = "head" if at == place else "loss" if other == column else "plain"
            canvas.box(left + other * wide, top + at * high, wide, high, kind=marked, round_by=0, shade=weight)
    canvas.label(2, top + (place + 0.5) * high, "token\nthat looks", kind="head")
    canvas.text(left + n * wide / 2, 10, "token that is looked at", SMALL, kind="loss")
    with canvas.step():
        for at, total in enumerate(rows):
            canvas.label(right + 6, top + (at + 0.5) * high, f"{total:.2f}", bold=at == place, kind="head")
        canvas.label(right + 50, low - n * high / 2, "rows:\nall 1", kind="head", bold=True)
    with canvas.step():
        for at, total in enumerate(columns):
            canvas.text(left + (at + 0.5) * wide, low + 14, f"{total:.2f}", SMALL, bold=at == column, kind="loss")
        told = f"columns: from {min(columns):.2f} to {max(columns):.2f}"
        canvas.text(left + n * wide / 2, low + 38, told, SMALL, kind="loss", bold=True)
    most = max(range(n), key=lambda at: columns[at])
    return canvas.finish(
        f"A table of {n} by {n} cells, a row for each token that looks and a column for each that is looked at. The "
        f"row of {tokens[place]} and the column of {tokens[column]} are marked. Darker cells have larger "
        f"weights. All rows add up to 1. The sums of the columns range from {min(columns):.2f} to {columns[most]:.2f}, "
        f"the sum for {tokens[most]}."
    )


def one_head(tokens, place, query, keys, scores, weights, values, received):
    """What one head does for one token, in numbers: scores, weights, and the weighted sum of the values.

    place: the position of the token that looks. query: its query, (d,). keys, values: (tokens, d). scores, weights: its
    row of each, (tokens,), the scores divided by the root of d. received: what the token receives, (d,).
    """
    canvas, n = Canvas("05 one head", 260), len(tokens)
    left, step, wide = 104, 414 / len(tokens), 84
    middles = [left + (at + 0.5) * step for at in range(n)]

    def written(numbers):
        return "(" + ", ".join(f"{number:.3g}" for number in numbers) + ")"

    for at, (x, token) in enumerate(zip(middles, tokens)):
        canvas.box(x - wide / 2, 4, wide, 26, token, "token", SMALL, mono=True, bold=at == place, thick=at == place)
    with canvas.step():
        canvas.label(2, 49, "keys")
        for x, key in zip(middles, keys):
            canvas.box(x - wide / 2, 38, wide, 22, written(key), "head", SMALL)
        canvas.label(2, 77, f"query of {tokens[place]}")
        canvas.box(middles[place] - wide / 2, 66, wide, 22, written(query), "head", SMALL, bold=True, thick=True)
        canvas.text(middles[place] - wide / 2 - 12, 77, f"times each key, / √{len(query)}", SMALL, "end")
    with canvas.step():
        canvas.label(2, 109, "scores")
        canvas.grid(left, 97, [scores], cell=step, height=24, decimals=2, shaded=False)
    with canvas.step():
        canvas.arrow((40, 121), (40, 142), "softmax")
        canvas.label(2, 155, "weights")
        canvas.grid(left, 143, [weights], cell=step, height=24)
    with canvas.step():
        canvas.label(2, 187, "values")
        for x, value in zip(middles, values):
            canvas.box(x - wide / 2, 176, wide, 22, written(value), "head", SMALL)
    with canvas.step():
        end = left + n * step / 2
        for x, weight in zip(middles, weights):
            canvas.arrow((x, 198), (end, 226), kind="head", tip=False, thick=weight > 0.5, dashed=weight < 0.05)
        canvas.box(end - wide / 2, 228, wide, 24, written(received), "head", SMALL, bold=True)
        canvas.label(2, 240, "weighted sum")
        canvas.label(end + wide / 2 + 8, 240, f"what {tokens[place]} receives")
    most = max(range(n), key=lambda at: weights[at])
    return canvas.finish(
        f"One head for the token {tokens[place]}. The products of its query {written(query)} with the keys of all {n} "
        f"tokens, divided by the root of {len(query)}, are {n} scores. Softmax turns them into {n} weights; the "
        f"largest, {weights[most]:.2f}, is that of {tokens[most]}. The values of all tokens, each times its weight, "
        f"add up to {written(received)}: what {tokens[place]} receives."
    )


def score_square(tokens, shape, scores, place, other):
    """The queries of a head times its transposed keys: a square of scores, each where a row and a column meet.

    shape: of the queries of all heads, (heads, tokens, numbers). scores: (tokens, tokens), divided by the root of the
    numbers. place, other: the row and the column that are marked.
    """
    canvas, (heads, n, size) = Canvas("05 score square", 258), shape
    left, top, cell, high = 232, 92, 204 / n, 136 / n
    for at, token in enumerate(tokens):
        x, y, row, column = left + at * cell, top + at * high, at == place, at == other
        canvas.box(x, 24, cell, 60, kind="head" if column else "plain", round_by=0)
        canvas.box(52, y, 160, high, kind="head" if row else "plain", round_by=0)
        if row:
            canvas.text(44, y + high / 2, token, SMALL, "end", mono=True, bold=True)
        if column:
            canvas.text(x + cell / 2, 12, token, SMALL, mono=True, bold=True)
    canvas.label(left + n * cell + 8, 54, f"K.T\n({size}, {n})")
    canvas.text(132, top + n * high + 14, f"Q ({n}, {size})", SMALL)
    with canvas.step():
        for at in range(n):
            for column in range(n):
                if (at, column) != (place, other):
                    canvas.box(left + column * cell, top + at * high, cell, high, kind="plain", round_by=0)
        x, y = left + other * cell, top + place * high
        canvas.box(x - 8, y - 4, cell + 16, high + 8, f"{scores[place][other]:.1f}", "head", bold=True, thick=True)
        canvas.text(left + n * cell / 2, top + n * high + 14, f"scores ({n}, {n})", SMALL)
        canvas.text(112, 44, "one row × one column\n= one score", bold=True, kind="head")
    with canvas.step():
        canvas.label(left + n * cell + 8, top + n * high / 2, f"{heads} heads:\n({heads}, {n}, {n})", bold=True)
    return canvas.finish(
        f"Q, {n} rows of {size} numbers, is to the left of a square of {n} by {n} scores, and K transposed, {size} by "
        f"{n}, is above it. The row of {tokens[place]} and the column of {tokens[other]} meet in the score "
        f"{scores[place][other]:.1f}. For {heads} heads at once, the shape is ({heads}, {n}, {n})."
    )


def weights_times_values(tokens, shape, place, shown):
    """The weights of a head times its values, and the results of all heads side by side.

    shape: of the values, (heads, tokens, numbers). place: the row that is marked. shown: the head that is drawn.
    """
    canvas, (heads, n, size) = Canvas("05 weights times values", 244), shape
    high = 96 / n
    for left, wide, name in ((52, 96, f"weights ({n}, {n})"), (196, 120, f"values ({n}, {size})")):
        for at in range(n):
            kind = "head" if at == place and left == 52 else "plain"
            canvas.box(left, 8 + at * high, wide, high, kind=kind, round_by=0)
        canvas.text(left + wide / 2, 120, name, SMALL)
    canvas.text(44, 8 + (place + 0.5) * high, tokens[place], SMALL, "end", mono=True, bold=True)
    canvas.text(172, 56, "×", 24, bold=True)
    with canvas.step():
        canvas.text(340, 56, "=", 24, bold=True)
        for at in range(n):
            canvas.box(364, 8 + at * high, 120, high, kind="head" if at == place else "plain", round_by=0)
        canvas.text(424, 120, f"one head ({n}, {size})", SMALL, bold=True)
    with canvas.step():
        cell = 432 / heads
        canvas.arrow((424, 132), (52 + (shown + 0.5) * cell, 152), kind="head")
        for at in range(heads):
            canvas.box(52 + at * cell, 154, cell, 44, kind="head" if at == shown else "plain", round_by=0)
        told = f"{heads} heads × {size} numbers: ({n}, {heads * size})"
        canvas.text(268, 220, told, bold=True, kind="head")
    return canvas.finish(
        f"The weights of a head, ({n}, {n}), times its values, ({n}, {size}), are what its tokens receive, "
        f"({n}, {size}). The results of all heads are side by side: {told}."
    )


def masked_columns(tokens, weights, hidden):
    """The weights of one head for a text with padding: the columns of padding are 0, and each row adds up to 1.

    weights: (tokens, tokens), a row for each token that looks. hidden: for each token, whether it is padding.
    """
    canvas, n = Canvas("05 masked columns", 258), len(tokens)
    left, top, wide, high = 52, 30, 360 / n, 184 / n
    real = [at for at in range(n) if not hidden[at]]
    for at, token in enumerate(tokens):
        canvas.text(left + (at + 0.5) * wide, 16, token, SMALL, mono=True, quiet=hidden[at])
        canvas.text(left - 6, top + (at + 0.5) * high, token, SMALL, "end", mono=True, quiet=hidden[at])
        for other in range(n):
            canvas.box(left + other * wide, top + at * high, wide, high, kind="plain", round_by=0)
    with canvas.step():
        for other in (at for at in range(n) if hidden[at]):
            for at in range(n):
                x, y = left + other * wide, top + at * high
                canvas.box(x, y, wide, high, f"{weights[at][other]:g}", "loss", SMALL, bold=True, round_by=0)
        canvas.bracket(left + (real[-1] + 1) * wide, left + n * wide, top + n * high + 4)
        middle = left + (real[-1] + 1 + n) * wide / 2
        canvas.text(middle, top + n * high + 24, "no token looks at padding", bold=True, kind="loss")
    with canvas.step():
        for at, row in enumerate(weights):
            for other in real:
                x, y = left + other * wide, top + at * high
                canvas.box(x, y, wide, high, f"{row[other]:.2f}", "plain", SMALL, round_by=0)
            canvas.label(left + n * wide + 8, top + (at + 0.5) * high, f"{sum(row):.2f}")
        canvas.label(left + n * wide + 45, top + n * high / 2, "each row\nstill adds\nup to 1", kind="head")
    return canvas.finish(
        f"A table of {n} by {n} weights, a row for each token that looks, for {' '.join(tokens)}. The "
        f"{sum(map(bool, hidden))} columns of padding hold 0 in every row. All rows add up to 1, also those of padding."
    )


def twelve_heads(shape, heads, shown, number):
    """How the heads of a layer share the vectors, and how their results are joined, mixed, added and normalised.

    shape: of the hidden state, (tokens, hidden). shown: the head whose way is drawn. number: of the layer.
    """
    n, hidden = shape
    size = hidden // heads
    canvas = Canvas("05 twelve heads", 260)
    whole, part = f"({n}, {hidden})", f"({n}, {size})"

    def strip(x, y, wide, high, marked):
        cell = wide / heads
        for at in range(heads):
            canvas.box(x + at * cell, y, cell, high, kind="head" if at == marked else "vector", round_by=0)

    canvas.box(10, 4, 480, 24, f"hidden state {number - 1} {whole}", "vector", SMALL)
    narrow = 148
    starts = [10 + at * 166 for at in range(3)]
    with canvas.step():
        for x, name in zip(starts, ("query", "key", "value")):
            canvas.box_from((x + narrow / 2, 28), x, 40, narrow, 22, f"{name} map", "layer", SMALL)
            strip(x, 70, narrow, 14, shown)
    left = 100
    cell = (490 - left) / heads
    with canvas.step():
        middle = left + (shown + 0.5) * cell - 2
        for x in starts:
            canvas.arrow((x + (shown + 0.5) * narrow / heads, 84), (middle, 114), kind="head", thick=True)
        for at in range(heads):
            canvas.box(left + at * cell, 114, cell - 4, 24, str(at), "head", SMALL, thick=at == shown)
        canvas.label(2, 126, f"{heads} heads,\n{part} each")
    with canvas.step():
        for at in range(heads):
            middle = left + (at + 0.5) * cell - 2
            canvas.arrow((middle, 138), (middle, 156), kind="head")
        strip(left - 2, 156, 490 - left, 16, shown)
        canvas.label(2, 168, f"joined\n{whole}")
        canvas.text(left + 206, 186, f"{heads} x {size} = {hidden}; heads count from 0", SMALL, quiet=True)
    with canvas.step():
        canvas.box_from((left + 6, 172), 10, 222, 104, 28, "output map", "layer", SMALL)
        canvas.box_from((114, 236), 196, 224, 24, 24, "+", round_by=12, over=whole)
        canvas.path((490, 16), (512, 16), (512, 206), (208, 206), (208, 224))
        canvas.box_from((220, 236), 250, 222, 100, 28, "LayerNorm", "layer", SMALL)
        canvas.box_from((350, 236), 376, 222, 134, 28, f"attended {whole}", "vector", SMALL)
    return canvas.finish(
        f"The {heads} heads of a layer, joined. Three linear maps turn the hidden state {whole} into queries, keys and "
        f"values, each {whole}. Each of them is cut into {heads} pieces {part}, one for each head. Each head returns "
        f"{part}. Side by side they are {heads} times {size}, so {hidden} numbers for each token. The output map mixes "
        "them, the hidden state is added, and LayerNorm gives attended."
    )


def one_layer(shape, wide, number):
    """A whole layer, with the shape at every arrow: attention, add and norm, feed-forward, add and norm.

    shape: of a hidden state, (tokens, hidden). wide: the numbers of a token between the two linear maps of the
    feed-forward part. number: of the layer.
    """
    n, hidden = shape
    usual, widened = f"({n}, {hidden})", f"({n}, {wide})"
    canvas = Canvas("05 one layer", 252)

    def add_and_norm(x, y, since, around):
        """The input goes around what lies between, is added at x, and the sum is normalised."""
        canvas.box(x, y - 12, 24, 24, "+", round_by=12)
        canvas.path(since, (since[0], around), (x + 12, around), (x + 12, y - 12 if around < y else y + 12))
        canvas.box_from((x + 24, y), x + 40, y - 16, 88, 32, "LayerNorm", "layer", SMALL)

    y = 56
    canvas.box(2, y - 20, 104, 40, f"hidden\nstate {number - 1}", "vector", SMALL)
    with canvas.step():
        canvas.box_from((106, y), 172, y - 20, 104, 40, "attention,\nall heads", "head", SMALL, over=usual)
        canvas.arrow((276, y), (342, y), usual)
        canvas.text(224, y + 34, "tokens meet only here", SMALL, kind="head")
    with canvas.step():
        add_and_norm(342, y, (54, y - 20), 14)
    with canvas.step():
        canvas.arrow((426, y + 16), (426, 110), tip=False)
        canvas.arrow((426, 110), (12, 110), f"attended {usual}", tip=False, side=-1)
        canvas.arrow((12, 110), (12, 170), tip=False)
        y = 170
        canvas.box_from((12, y), 24, y - 20, 50, 40, "linear\nmap", "layer", SMALL)
        canvas.box_from((74, y), 148, y - 16, 46, 32, "GELU", "plain", SMALL, over=widened)
        canvas.box_from((194, y), 268, y - 20, 50, 40, "linear\nmap", "layer", SMALL, over=widened)
        canvas.arrow((318, y), (390, y), usual)
        canvas.text(180, 230, "this row: each token alone", SMALL, kind="layer")
    with canvas.step():
        add_and_norm(390, y, (12, y), 206)
        canvas.box_from((474, y + 16), 372, 220, 146, 28, f"hidden state {number}", "vector", SMALL)
    return canvas.finish(
        f"A whole layer, with the shapes at its arrows. Hidden state {number - 1} {usual} goes through attention with "
        f"all heads, {usual}; it is added to the result, and LayerNorm gives attended, {usual}. Tokens meet in "
        f"attention only. For each token alone, a linear map widens it to {widened}, GELU bends it, and a linear map "
        f"narrows it to {usual}. Attended is added, and LayerNorm gives hidden state {number}."
    )


def score_cells(tokens):
    """Which cells of a head's table its scores read: the token itself, the one before, the one after, [CLS]."""
    canvas, n, cell = Canvas("05 score cells", 222), len(tokens), 112 / len(tokens)
    scores = {"itself": 0, "token before": -1, "token after": 1, "[CLS]": None}
    for at, (name, away) in canvas.steps(enumerate(scores.items())):
        left = 20 + at * 128
        canvas.text(left + 56, 12, name, bold=True, kind="head")
        for row in range(n):
            for column in range(n):
                words = 0 < row < n - 1 and 0 < column < n - 1
                read = words and column - row == away or away is None and column == 0 < row < n - 1
                canvas.box(left + column * cell, 28 + row * cell, cell, cell, kind="head" if read else "plain",
                           shade=1 if read else 0, round_by=0)  # fmt: skip
        canvas.arrow((left + 56, 142), (left + 56, 162))
        canvas.box(left + 16, 164, 80, 26, "mean", "head", SMALL)
    canvas.text(260, 208, f"each head gets {len(scores)} scores, one for each pattern", SMALL, bold=True)
    return canvas.finish(
        f"Four tables of {n} by {n} cells, a row for each token that looks and a column for each that is looked at. "
        "The score for the token itself is the mean of the diagonal, that for the one before the mean of the cells one "
        "place below it, that for the one after of the cells one place above it, each without [CLS] and [SEP]; that "
        "for [CLS] is the mean of the first column in the rows of the words."
    )


def patching(tokens, others, place, state, layers):
    """What patching replaces and what it measures.

    tokens, others: of the target and of the source. place: the position of the vector that is replaced. state: the
    hidden state where it is replaced. layers: how many the model has.
    """
    canvas, n, left, wide = Canvas("05 patching", 256), len(tokens), 186, 30
    top, low, cell = 8, 122, 80 / n
    before = f"layers\n1 to {state}" if state > 1 else "layer 1" if state else "embed-\ndings"
    after = "last\nlayer" if state == layers - 1 else "other\nlayers"

    def run(y, name, token, kind):
        canvas.text(36, y + 24, name, SMALL, quiet=True)
        canvas.tokens(2, y + 34, [token], "token", width=68)
        canvas.arrow((70, y + 48), (90, y + 48))
        canvas.box(92, y + 20, 66, 56, before, "layer", SMALL)
        canvas.arrow((158, y + 48), (left - 2, y + 48))
        for at in range(n):
            marked = at == place
            canvas.box(left, y + 8 + at * cell, wide, cell, kind=kind if marked else "plain", round_by=0)

    run(top, "source", others[place], "loss")
    run(low, "target", tokens[place], "vector")
    canvas.text(left + wide / 2, low + 104, str(state), SMALL, quiet=True)
    canvas.label(92, low + 104, "hidden state", quiet=True)
    with canvas.step():
        height = 8 + (place + 0.5) * cell
        canvas.box(left, low + 8 + place * cell, wide, cell, kind="loss", round_by=0, thick=True)
        canvas.box(left, top + 8 + place * cell, wide, cell, kind="loss", round_by=0, thick=True)
        canvas.arrow((left + wide, top + height), (left + wide, low + height), kind="loss", thick=True, bend=-16)
        canvas.label(
            left + wide + 28, 92, f"replace one vector: {others[place]} for {tokens[place]}", kind="loss", bold=True
        )
    with canvas.step():
        canvas.arrow((left + wide, low + 48), (246, low + 48))
        canvas.box(248, low + 20, 62, 56, after, "layer", SMALL)
        canvas.arrow((310, low + 48), (334, low + 48))
        for at in range(n):
            canvas.box(336, low + 8 + at * cell, wide, cell, kind="plain", round_by=0)
        canvas.text(336 + wide / 2, low + 104, str(layers), SMALL, quiet=True)
    with canvas.step():
        canvas.arrow((366, low + 48), (406, low + 48))
        canvas.text(420, low + 14, "mean", SMALL, kind="sentence")
        canvas.text(518, low + 14, "before", SMALL, "end", quiet=True)
        canvas.vector(408, low + 24, kind="sentence", width=24, height=48)
        canvas.arrow((432, low + 48), (486, low + 48), kind="loss", tip=False, dashed=True)
        canvas.vector(486, low + 24, kind="plain", width=24, height=48)
        canvas.text(518, low + 86, "how far moved?", SMALL, "end", "loss", bold=True)
    return canvas.finish(
        f"Two runs through {layers} layers, of {n} tokens each: the source with {others[place]}, the target with "
        f"{tokens[place]}. In one hidden state of the target, only the vector of {tokens[place]} is replaced by that "
        f"of {others[place]} in the same hidden state of the source. The layers after it run as always, and may change "
        "all vectors. What is measured: how far the mean of the last vectors, the sentence vector, is from that "
        "without the patch."
    )
