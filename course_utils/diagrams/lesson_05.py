"""The diagrams of lesson 05: attention."""

from .canvas import SMALL, Canvas


def two_implementations(returned, shape, same):
    """What comes back as attentions from two implementations: nothing, and a tensor for each layer.

    returned: how many tensors the first one returned. shape: of those of the second, joined, (layers, heads, tokens,
    tokens). same: whether both return the same last hidden state.
    """
    layers, heads, n, _ = shape
    canvas, step = Canvas("05 two implementations", 248), 408 / layers
    size, away = 0.44 * step, 0.48 * step / heads
    with canvas.step():
        canvas.box(2, 4, 70, 34, "sdpa", "layer", mono=True)
        canvas.text(37, 50, "the default", SMALL, quiet=True)
        canvas.arrow((72, 21), (106, 21))
        canvas.box(108, 4, 78, 34, f"{returned} tensors", "plain", SMALL, dashed=True)
        canvas.label(198, 21, "an empty tuple, and no error", bold=True)
    with canvas.step():
        canvas.box(2, 92, 70, 34, "eager", "layer", mono=True)
        canvas.arrow((72, 109), (104, 109))
        for layer in range(layers):
            left, low = 108 + layer * step, 138 - size
            for head in reversed(range(heads)):
                canvas.box(left + head * away, low - head * away, size, size, kind="head", round_by=0)
            canvas.text(left + 0.45 * step, 150, f"layer {layer + 1}" if layers < 8 else str(layer + 1), SMALL)
        canvas.bracket(108, 510, 162, f"{layers} tensors, each (1, {heads}, {n}, {n})")
        canvas.text(309, 197, "batch, heads, tokens, tokens", SMALL, quiet=True)
    with canvas.step():
        canvas.box(2, 214, 190, 30, "last hidden state, sdpa", "vector", SMALL)
        canvas.text(212, 229, "=" if same else "≠", 24, bold=True)
        canvas.box(232, 214, 190, 30, "last hidden state, eager", "vector", SMALL)
    return canvas.finish(
        f"Two implementations. sdpa brings {returned} tensors: an empty tuple. eager brings {layers}, one for each "
        f"layer, each of the shape (1, {heads}, {n}, {n}), drawn as {heads} tables behind one another. The last hidden "
        f"state is {'the same' if same else 'not the same'}."
    )


def arcs(tokens, weights, askers):
    """Arcs over a sentence from a token that looks to those that it looks at, as thick as their weights in one head.

    weights: (tokens, tokens), a row for each token that looks. askers: the positions of two tokens that look.
    """
    canvas, n = Canvas("05 arcs", 260), len(tokens)
    step, told = 516 / n, []
    middles = [2 + (at + 0.5) * step for at in range(n)]
    for row, asker in enumerate(askers):
        top, x = 82 + row * 132, middles[asker]
        for at, token in enumerate(tokens):
            kind = "special" if token in ("[CLS]", "[SEP]") else "token"
            canvas.box(2 + at * step + 2, top, step - 4, 26, token, kind, SMALL, mono=True,
                       bold=at == asker, thick=at == asker)  # fmt: skip
        with canvas.step():
            for at, weight in enumerate(weights[asker]):
                wide = max(1, 15 * weight)
                if at == asker:
                    canvas.arc(x - 12, x + 12, top - 1, 14, wide)
                else:
                    canvas.arc(x, middles[at], top - 1, 12 + 58 * abs(at - asker) / max(asker, n - 1 - asker), wide)
                canvas.text(middles[at], top + 37, f"{weight:.2f}", SMALL, bold=weight > 0.2)
        most = max(range(n), key=lambda at: weights[asker][at])
        told.append(f"{tokens[asker]} gives most to {tokens[most]} ({weights[asker][most]:.2f})")
    return canvas.finish(
        f"Arcs over the sentence {' '.join(tokens)}, from a token that looks to each that it looks at, as thick as the "
        f"weight: {'; '.join(told)}."
    )


def one_table(tokens, weights, place, column):
    """A head's table without its numbers, and then the sums of its rows and of its columns.

    weights: (tokens, tokens), a row for each token that looks. place: the row that is marked. column: the column that
    is marked.
    """
    canvas, n = Canvas("05 one table", 260), len(tokens)
    left, top, wide, high = 100, 34, min(38, 304 // n), min(22, 176 // n)
    right, low = left + n * wide, top + n * high
    columns, rows = [sum(column) for column in zip(*weights)], [sum(row) for row in weights]
    for at, token in enumerate(tokens):
        canvas.text(left + (at + 0.5) * wide, top - 12, token, SMALL, mono=True, bold=at == column)
        canvas.text(left - 8, top + (at + 0.5) * high, token, SMALL, "end", mono=True, bold=at == place)
        for other in range(n):
            marked = "head" if at == place else "loss" if other == column else "plain"
            canvas.box(left + other * wide, top + at * high, wide, high, kind=marked, round_by=0)
    canvas.label(2, top + (place + 0.5) * high, "who\nlooks", kind="head")
    canvas.text(left + (column + 0.5) * wide, 8, "looked at", SMALL, kind="loss")
    with canvas.step():
        for at, total in enumerate(rows):
            canvas.label(right + 8, top + (at + 0.5) * high, f"{total:.2f}", bold=at == place)
        canvas.label(right + 47, low - n * high / 2, "each row\nadds up\nto 1", kind="head")
    with canvas.step():
        for at, total in enumerate(columns):
            canvas.text(left + (at + 0.5) * wide, low + 14, f"{total:.2f}", SMALL, bold=at == column)
        canvas.text(left + n * wide / 2, low + 36, "what each token gets from all", SMALL, kind="loss")
    most = max(range(n), key=lambda at: columns[at])
    return canvas.finish(
        f"A table of {n} by {n} cells, a row for each token that looks and a column for each that is looked at. The "
        f"row of {tokens[place]} and the column of {tokens[column]} are marked. All rows add up to 1. The sums of the "
        f"columns reach from {min(columns):.2f} to {columns[most]:.2f}, which is that of {tokens[most]}."
    )


def one_head(tokens, place, scores, weights, size, state):
    """What one head does for one token: a score and a weight for each token, and the weighted sum of the values.

    tokens: each stands for its vector in hidden state `state`. place: the position of the token that looks. scores,
    weights: its row of each, (tokens,), the scores divided by the root of `size`, which is how many numbers queries,
    keys and values have in a head.
    """
    canvas, n = Canvas("05 one head", 260), len(tokens)
    left, step, gap = 104, 414 / n, min(4, 32 / n)
    middles = [left + (at + 0.5) * step for at in range(n)]
    canvas.label(2, 17, f"hidden\nstate {state}")
    x, *_ = canvas.tokens(left + 2, 4, tokens, width=step - gap, height=26, gap=gap)[place]
    canvas.box(x, 4, step - gap, 26, tokens[place], "token", SMALL, mono=True, bold=True, thick=True)
    with canvas.step():
        canvas.label(2, 52, f"keys ({n}, {size})")
        for x in middles:
            canvas.arrow((x, 30), (x, 42))
            canvas.vector(x - 20, 44, kind="head", width=40, height=16, across=True)
        canvas.label(2, 79, f"query ({size})")
        x, beside = middles[place], middles[place] + step / 2
        canvas.path((x + 16, 30), (beside, 42), (beside, 79), (x + 20, 79), tip=False, kind="head", thick=True)
        canvas.vector(x - 20, 70, kind="head", width=40, height=18, across=True)
        away, anchor = (beside + 8, "start") if place < n / 2 else (x - 28, "end")
        canvas.text(away, 79, f"times each key, / √{size}", SMALL, anchor)
        canvas.label(2, 252, f"4 boxes stand for {size} numbers", quiet=True)
    with canvas.step():
        canvas.label(2, 109, f"scores ({n})")
        canvas.grid(left, 97, [scores], cell=step, height=24, decimals=1, shaded=False)
    with canvas.step():
        canvas.arrow((40, 119), (40, 140), "softmax")
        canvas.label(2, 151, f"weights ({n})")
        canvas.grid(left, 139, [weights], cell=step, height=24)
    with canvas.step():
        canvas.label(2, 180, f"values ({n}, {size})")
        for x in middles:
            canvas.vector(x - 20, 172, kind="head", width=40, height=16, across=True)
    with canvas.step():
        end = left + n * step / 2
        for x, weight in zip(middles, weights):
            canvas.arrow((x, 190), (end, 222), kind="head", tip=False, thick=weight > 0.5, dashed=weight < 0.05)
        canvas.vector(end - 40, 224, kind="head", width=80, height=18, across=True)
        canvas.label(2, 233, "weighted sum")
        canvas.label(end + 48, 233, f"({size}): what {tokens[place]} receives")
    most = max(range(n), key=lambda at: weights[at])
    return canvas.finish(
        f"One head for the token {tokens[place]}. Its query of {size} numbers meets the keys of all {n} tokens: that "
        f"gives {n} scores. Softmax makes {n} weights of them; the largest, {weights[most]:.2f}, is that of "
        f"{tokens[most]}. The values of all tokens, each times its weight, add up to {size} numbers: what "
        f"{tokens[place]} receives."
    )


def cut_into_heads(shape, cut, shown, state):
    """Three maps make queries, keys and values of the vectors, and each result is cut into a sheet for every head.

    shape: of the hidden state, (tokens, hidden). cut: the shape of the queries in heads, (heads, tokens, numbers).
    shown: the head whose piece is marked. state: the number of the hidden state.
    """
    canvas, heads = Canvas("05 cut into heads", 236), cut[0]
    canvas.box(2, 87, 92, 62, f"hidden\nstate {state}\n{tuple(shape)}", "vector", SMALL, round_by=0)
    tops, wide, away = [12, 90, 168], 120, 26 / heads
    for y, name in zip(tops, ("query", "key", "value")):
        canvas.arrow((94, 118), (122, y + 28))
        canvas.box(124, y + 10, 60, 36, f"{name}\nmap", "layer", SMALL)
        canvas.arrow((184, y + 28), (208, y + 28))
        for at in range(heads):
            canvas.box(210 + at * wide / heads, y, wide / heads, 44, kind="head" if at == shown else "vector",
                       round_by=0)  # fmt: skip
        canvas.text(210 + wide / 2, y + 55, f"{tuple(shape)}", SMALL, quiet=True)
    with canvas.step():
        for y in tops:
            canvas.arrow((334, y + 28), (360, y + 28))
            for head in reversed(range(heads)):
                kind = "head" if head == shown else "vector"
                canvas.box(364 + head * away, y + (heads - 1 - head) * away - 8, 40, 44, kind=kind, round_by=0)
            canvas.label(438, y + 24, f"({cut[0]}, {cut[1]}, {cut[2]})", bold=True)
    return canvas.finish(
        f"Hidden state {state}, of shape {tuple(shape)}, goes through a query map, a key map and a value map. Each "
        f"result is again {tuple(shape)}, and is cut into {heads} strips, which become {heads} sheets: {tuple(cut)}."
    )


def score_square(tokens, queries, keys, scores, place, other, heads, same):
    """The queries of a head times its keys, turned: a square of scores, in the place where row and column meet.

    queries, keys: (tokens, numbers). scores: (tokens, tokens), divided by the root of the numbers. place, other: the
    row and the column that are marked. heads: how many such squares a layer has. same: whether the softmax of all
    of them is what the model returns.
    """
    canvas, n, size = Canvas("05 score square", 260), len(tokens), len(queries[0])
    left, top, cell, high = 196, 92, 312 / n, 148 / n
    most = max(abs(value) for rows in (queries, keys) for row in rows for value in row)
    for at, (query, key, token) in enumerate(zip(queries, keys, tokens)):
        x, y = left + at * cell, top + at * high
        canvas.text(x + cell / 2, 8, token, SMALL, mono=True, bold=at == other)
        canvas.text(48, y + high / 2, token, SMALL, "end", mono=True, bold=at == place)
        canvas.vector(x + 1, 18, size, "head", cell - 2, 64, [abs(one) / most for one in key], lined=False)
        canvas.vector(54, y + 1, size, "head", 128, high - 2, [abs(one) / most for one in query], True, lined=False)
    canvas.box(left + other * cell + 1, 18, cell - 2, 64, kind="plain", thick=True, round_by=0)
    canvas.box(54, top + place * high + 1, 128, high - 2, kind="plain", thick=True, round_by=0)
    canvas.text(188, 40, f"K turned\n({size}, {n})", SMALL, "end")
    canvas.text(118, 80, f"Q ({n}, {size})", SMALL)
    canvas.label(2, 24, "darker:\nfarther from 0", quiet=True)
    with canvas.step():
        canvas.grid(left, top, scores, cell, height=high, decimals=1, shaded=False)
        canvas.box(left + other * cell, top + place * high, cell, high, kind="plain", thick=True, round_by=0)
        canvas.label(2, 251, f"{heads} heads at once: ({heads}, {n}, {n})", bold=True)
    with canvas.step():
        told = "softmax: the model's own weights" if same else "softmax: not the model's weights"
        canvas.text(508, 251, told, SMALL, "end", kind="head")
    return canvas.finish(
        f"Q, {n} rows of {size} numbers, stands to the left of a square of {n} by {n} scores, and K, turned, {size} by "
        f"{n}, above it. The row of {tokens[place]} and the column of {tokens[other]} meet in the score "
        f"{scores[place][other]:.1f}. For {heads} heads at once, the shape is ({heads}, {n}, {n})."
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
                canvas.box(x, y, wide, high, f"{weights[at][other]:g}", "padding", SMALL, round_by=0)
        canvas.bracket(left + (real[-1] + 1) * wide, left + n * wide, top + n * high + 4, "score −∞, so weight 0")
    with canvas.step():
        canvas.grid(left, top, [[row[at] for at in real] for row in weights], wide, height=high)
        for at, row in enumerate(weights):
            canvas.label(left + n * wide + 8, top + (at + 0.5) * high, f"{sum(row):.2f}")
        canvas.label(left + n * wide + 45, top + n * high / 2, "each row\nadds up\nto 1", kind="head")
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
        far = middle < 270
        canvas.text(518 if far else 2, 102, "the others likewise", SMALL, "end" if far else "start", quiet=True)
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
    canvas.box(2, y - 20, 104, 40, f"hidden state\n{number - 1}", "vector", SMALL)
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
        canvas.box_from((12, y), 26, y - 20, 50, 40, "linear\nmap", "layer", SMALL)
        canvas.box_from((76, y), 156, y - 16, 46, 32, "GELU", "plain", SMALL, over=widened)
        canvas.box_from((202, y), 282, y - 20, 50, 40, "linear\nmap", "layer", SMALL, over=widened)
        canvas.arrow((332, y), (390, y), usual)
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
    canvas, n, cell = Canvas("05 score cells", 182), len(tokens), 112 / len(tokens)
    scores = {"itself": 0, "the one before": -1, "the one after": 1, "[CLS]": None}
    for at, (name, away) in canvas.steps(enumerate(scores.items())):
        left = 20 + at * 128
        canvas.text(left + 56, 12, name)
        for row in range(n):
            for column in range(n):
                words = 0 < row < n - 1 and 0 < column < n - 1
                read = words and column - row == away or away is None and column == 0 < row < n - 1
                canvas.box(left + column * cell, 26 + row * cell, cell, cell, kind="head" if read else "plain",
                           thick=read, round_by=0)  # fmt: skip
    canvas.text(260, 152, "rows: who looks · columns: what is looked at", SMALL, quiet=True)
    canvas.text(260, 169, "the first and the last are [CLS] and [SEP]", SMALL, quiet=True)
    return canvas.finish(
        f"Four tables of {n} by {n} cells, a row for each token that looks and a column for each that is looked at. "
        "The score for the token itself reads the diagonal, that for the one before the cells one place below it, that "
        "for the one after the cells one place above it, each without [CLS] and [SEP]; that for [CLS] reads the first "
        "column in the rows of the words."
    )


def patching(tokens, others, place, state, layers):
    """What patching replaces and what it measures.

    tokens, others: of the target and of the source. place: the position of the vector that is replaced. state: the
    hidden state where it is replaced. layers: how many the model has.
    """
    canvas, n = Canvas("05 patching", 256), len(tokens)
    left, step, cell = 100, min(48, 288 / layers), 72 / len(tokens)
    wide, top, low = min(22, 2 * step / 3), 20, 138
    end = left + layers * step + wide

    def run(y, name, token):
        canvas.text(2, y + 20, name, anchor="start", bold=True)
        canvas.tokens(2, y + 36, [token], "token", width=58)

    def states(y, numbers, kind="vector"):
        for number in numbers:
            x = left + number * step
            if number:
                canvas.arrow((x - step + wide, y + 36), (x, y + 36))
            for at in range(n):
                canvas.box(x, y + at * cell, wide, cell, kind=kind, round_by=0)

    run(top, "source", others[place])
    states(top, range(layers + 1))
    run(low, "target", tokens[place])
    states(low, range(state + 1))
    for number in range(0, layers + 1, 1 if step > 20 else 2):
        canvas.text(left + number * step + wide / 2, low + 84, str(number), SMALL, quiet=True)
    canvas.label(2, low + 84, "hidden state", quiet=True)
    with canvas.step():
        x, height = left + state * step, (place + 0.5) * cell
        canvas.box(x, low + place * cell, wide, cell, kind="loss", round_by=0, thick=True)
        canvas.box(x, top + place * cell, wide, cell, kind="vector", round_by=0, thick=True)
        canvas.arrow((x + wide, top + height), (x + wide, low + height), kind="loss", thick=True, bend=-12)
        away, anchor = (x + wide + 18, "start") if state < layers / 2 else (x + 8, "end")
        canvas.text(away, 115, f"one vector: {others[place]} for {tokens[place]}", SMALL, anchor, "loss")
    with canvas.step():
        states(low, range(state + 1, layers + 1), "loss")
    with canvas.step():
        canvas.arrow((end, low + 36), (end + 14, low + 36))
        canvas.vector(end + 14, low + 12, kind="sentence", width=22, height=48)
        canvas.text(end + 25, low - 10, "mean: patched", SMALL, kind="sentence")
    with canvas.step():
        canvas.vector(end + 74, low + 12, kind="sentence", width=22, height=48)
        canvas.text(518, low + 74, "not patched", SMALL, "end", kind="sentence")
        canvas.arrow((end + 36, low + 36), (end + 74, low + 36), kind="loss", tip=False, dashed=True)
        canvas.text(518, low + 106, "how far apart are the two means?", SMALL, "end", "loss")
    return canvas.finish(
        f"Two runs through {layers} layers, of {n} tokens each: the source with {others[place]}, the target with "
        f"{tokens[place]}. In one hidden state of the target, only the vector of {tokens[place]} is replaced by that "
        f"of {others[place]} in the same hidden state of the source. The layers after it run as always, and may change "
        "all vectors. What is measured: how far the mean of the last vectors, the sentence vector, is from that "
        "without the patch."
    )
