"""The picture of each explorer's first state, where nothing can run: paper, a slide, GitHub, no JavaScript.

Each function takes the state and the answer to it, and returns a Diagram.
"""

import math

from ..diagrams.canvas import SMALL, Canvas, text_width

GROUPS = ("token", "sentence", "head", "masked")  # the kinds of sentences, by colour


def _rows(canvas, x, y, texts, kinds=None, most=510):
    """Tokens in as many rows as they need. Returns the height below the last one."""
    for place, text in enumerate(texts):
        kind = [kinds[place]] if kinds else None
        wide = text_width(text, SMALL, True) + 12
        if x + wide > most:
            x, y = 10, y + 36
        canvas.tokens(x, y, [text], kind)
        x += wide + 6
    return y + 36


def _tokens(state, answer):
    canvas = Canvas("explorer tokens", 220)
    x, y = 10, 14
    for piece, number in zip(answer["pieces"], answer["ids"]):
        wide = max(text_width(piece, SMALL, True) + 12, text_width(str(number), SMALL) + 4)
        if x + wide > 510:
            x, y = 10, y + 62
        canvas.tokens(x, y, [piece], width=wide)
        canvas.text(x + wide / 2, y + 42, number, SMALL, quiet=True)
        x += wide + 6
    shown = f"“{state['text']}” as {answer['total']} tokens with their ids."
    if not answer["words"]:
        return canvas.finish(f"{shown} It has no word to search.")
    word, steps = answer["words"][answer["word"]], answer["steps"]
    found = [piece for _, _, piece, known in steps if known] if steps and steps[-1][3] else ["[UNK]"]
    canvas.text(10, y + 82, f"The search in “{word}”: {len(steps)} tries", anchor="start", bold=True)
    canvas.tokens(10, y + 98, found)
    return canvas.finish(f"{shown} The greedy search cuts “{word}” into {', '.join(found)} in {len(steps)} tries.")


def _merges(state, answer):
    shown = answer["words"][:8]
    canvas = Canvas("explorer merges", 40 + 34 * len(shown))
    canvas.text(10, 16, f"After {answer['steps']} merges", anchor="start", bold=True)
    canvas.text(330, 16, "merge, and count", anchor="start", bold=True)
    for row, (_, count, cut) in enumerate(shown):
        boxes = canvas.tokens(10, 32 + 34 * row, cut, gap=3)
        canvas.text(boxes[-1][2] + 8, 46 + 34 * row, f"× {count}", SMALL, anchor="start", quiet=True)
    for row, (left, right, count) in enumerate(answer["merges"][: min(len(shown), answer["steps"])]):
        canvas.text(330, 46 + 34 * row, f"{row + 1}. {left} + {right}", anchor="start", mono=True)
        canvas.text(510, 46 + 34 * row, count, anchor="end")
    made = ", ".join(f"{left} + {right}" for left, right, _ in answer["merges"][: answer["steps"]])
    return canvas.finish(
        f"BPE on {len(answer['words'])} words after {answer['steps']} merges: {made}. The corpus has "
        f"{answer['symbols']} pieces now, and the vocabulary {answer['entries']} entries."
    )


def _padding(state, answer):
    rows, height = answer["rows"], 34 + 24 * len(answer["rows"]) + 10 * len(answer["batches"])
    canvas = Canvas("explorer padding", height)
    cell, y = 500 / max(answer["widths"]), 8
    for width, batch in zip(answer["widths"], answer["batches"]):
        for row in batch:
            real = len(rows[row]) * cell
            canvas.box(10, y, real, 20, f"{len(rows[row])}", "token", SMALL)
            if width > len(rows[row]):
                canvas.box(10 + real, y, (width - len(rows[row])) * cell, 20, kind="padding", dashed=True)
            y += 24
        y += 10
    share = 1 - answer["real"] / answer["cells"]
    told = f"{answer['cells']} cells, {answer['real']} of them tokens: {share:.0%} is padding"
    canvas.text(10, y + 8, told, anchor="start")
    return canvas.finish(
        f"{len(rows)} sentences in {len(answer['batches'])} batches, each padded to its longest. {told}."
    )


def side_by_side(places, least=23):
    """Points moved apart until none covers another; points at one place part in the order of their numbers."""
    places = [(x + 0.01 * row, y) for row, (x, y) in enumerate(places)]
    for _ in range(60):
        for one in range(len(places)):
            for other in range(one):
                (a, b), (x, y) = places[one], places[other]
                far = math.hypot(a - x, b - y)
                if far < least:
                    right, up = (a - x) / far * (least - far) / 2, (b - y) / far * (least - far) / 2
                    places[one], places[other] = (a + right, b + up), (x - right, y - up)
    return places


def line_between(places, kinds):
    """The straight line that separates places of exactly two kinds with the widest margin, or None if there is none.

    It is given as (a, b, offset): a place (x, y) lies on it where a x + b y is the offset.
    """
    from sklearn.svm import SVC

    machine = SVC(kernel="linear", C=1000).fit(places, kinds)  # places in pixels: C allows no place on the wrong side
    return (*machine.coef_[0], -machine.intercept_[0]) if machine.score(places, kinds) == 1 else None


def inside(a, b, offset, left, top, size):
    """The two ends of a line, as `line_between` gives it, in a square."""
    ends = [(x, (offset - x * a) / b) for x in (left, left + size) if b]
    ends += [((offset - y * b) / a, y) for y in (top, top + size) if a]
    ends = [(x, y) for x, y in ends if left - 1e-6 <= x <= left + size + 1e-6 and top - 1e-6 <= y <= top + size + 1e-6]
    return min(ends), max(ends)


def _layers(state, answer):
    canvas = Canvas("explorer layers", 226)
    kinds, parted = answer["kinds"], []
    two = len({*kinds}) == 2
    for place, number in enumerate((0, 3, len(answer["points"]) - 1)):
        left = 10 + 172 * place
        canvas.box(left, 34, 160, 160, kind="plain")
        canvas.text(left + 80, 16, f"hidden state {number}", bold=True)
        places = side_by_side([(left + 80 + 60 * x, 114 - 60 * y) for x, y in answer["points"][number]])
        line = line_between(places, kinds) if two else None
        parted.append(f"in state {number} {'a' if line else 'no'} straight line separates the two kinds")
        if line:
            canvas.arrow(*inside(*line, left + 4, 38, 152), kind="loss", dashed=True, thick=True, tip=False)
        for row, place in enumerate(places):
            canvas.circle(*place, 11, GROUPS[kinds[row]])
            canvas.text(*place, row + 1, SMALL)
        if two:
            said = ("separated", "loss") if line else ("not separated", "plain")
            canvas.text(left + 80, 212, said[0], SMALL, kind=said[1], bold=True)
    apart = ", ".join(f"{value:.2f}" for value in answer["apart"])
    told = f"{', '.join(parted).capitalize()}. " if two else ""
    return canvas.finish(
        f"The word {state['word']} in {len(answer['sentences'])} sentences, as points in a plane, in three hidden "
        f"states; each kind has a colour. {told}The mean distance of two occurrences from state to state: {apart}."
    )


def _pooling(state, answer):
    height = 118 + 22 * max(len(one["tokens"]) for one in answer["sentences"])
    canvas = Canvas("explorer pooling", height)
    for row, (name, value) in enumerate(zip(("[CLS]", "mean", "maximum"), answer["cosines"])):
        canvas.text(10, 14 + 26 * row, name, anchor="start")
        canvas.box(100, 4 + 26 * row, max(2.0, 340 * value), 20, kind="sentence")
        canvas.text(110 + max(2.0, 340 * value), 14 + 26 * row, f"{value:.2f}", anchor="start")
    canvas.text(10, 96, "what each token brings to the mean", anchor="start", bold=True)
    most = max(max(one["shares"]) for one in answer["sentences"])
    for side, one in enumerate(answer["sentences"]):
        for row, (token, share) in enumerate(zip(one["tokens"], one["shares"])):
            y = 120 + 22 * row
            canvas.text(10 + 260 * side, y, token, SMALL, anchor="start", mono=True)
            canvas.box(110 + 260 * side, y - 8, max(1.0, 90 * share / most), 16, kind="vector")
            canvas.text(116 + 260 * side + 90 * share / most, y, f"{share:.2f}", SMALL, anchor="start")
    values = ", ".join(f"{name} {value:.2f}" for name, value in zip(("[CLS]", "mean", "maximum"), answer["cosines"]))
    return canvas.finish(f"Two sentences under three poolings. Their cosines: {values}. Below, each token's share.")


def _one_head(state, answer):
    texts = answer["tokens"]
    canvas = Canvas("explorer one head", 36 + 30 * len(texts))
    for x, name in ((190, "q · k"), (280, f"÷ √{len(answer['result'])}"), (420, "softmax: its share")):
        canvas.text(x, 14, name, SMALL, bold=True)
    for row, text in enumerate(texts):
        y = 30 + 30 * row
        canvas.tokens(10, y, [text], ["head"] if row == answer["token"] else None, width=120, height=26)
        canvas.text(210, y + 13, f"{answer['products'][row]:.2f}", anchor="end")
        canvas.text(300, y + 13, f"{answer['scores'][row]:.2f}", anchor="end")
        share = answer["shares"][row]
        canvas.box(350, y + 4, max(1.0, 110 * share), 18, kind="head")
        canvas.text(358 + 110 * share, y + 13, f"{share:.2f}", anchor="start")
    best = max(range(len(texts)), key=lambda row: answer["shares"][row])
    return canvas.finish(
        f"Layer {state['layer']}, head {state['head']}: the token {texts[answer['token']]} asks, and takes "
        f"{answer['shares'][best]:.2f} of what it gets from {texts[best]}."
    )


def _silence(state, answer):
    maps = answer["maps"]
    canvas = Canvas("explorer silence", 36 + 40 * len(maps))
    step, n = min(39, 468 / len(maps[0])), len(answer["tokens"])
    size = step - 3
    for head in range(len(maps[0])):
        canvas.text(50 + step * head + size / 2, 12, head, SMALL, quiet=True)
    for layer, heads in enumerate(maps):
        canvas.text(20, 30 + 40 * layer + size / 2, layer + 1, SMALL, quiet=True)
        for head, rows in enumerate(heads):
            canvas.cells(50 + step * head, 26 + 40 * layer, size, n, [row.index(max(row)) for row in rows], "head")
    return canvas.finish(
        f"The {sum(map(len, maps))} heads for “{state['text']}”, a row for each layer. In each map a row is a token "
        "that looks, and the filled cell is the token it looks at most."
    )


def _masks(state, answer):
    texts = [*answer["tokens"]]
    if not answer["guesses"]:
        canvas = Canvas("explorer masks", 120)
        _rows(canvas, 10, 8, texts)
        return canvas.finish(f"The tokens of “{state['text']}”, none of them masked.")
    guess = answer["guesses"][0]
    texts[guess["place"]] = "[MASK]"
    canvas = Canvas("explorer masks", 250)
    y = _rows(canvas, 10, 8, texts) + 6
    for row, (word, share) in enumerate(zip(guess["words"][:6], guess["shares"])):
        canvas.text(120, y + 10 + 26 * row, word, anchor="end", mono=True)
        canvas.box(130, y + 26 * row, max(1.0, 300 * share / guess["shares"][0]), 20, kind="masked")
        canvas.text(138 + 300 * share / guess["shares"][0], y + 10 + 26 * row, f"{share:.2f}", anchor="start")
    return canvas.finish(
        f"“{state['text']}” with {answer['tokens'][guess['place']]} masked. The first guesses: "
        + ", ".join(f"{word} {share:.2f}" for word, share in zip(guess["words"][:6], guess["shares"])) + "."
    )  # fmt: skip


def _threshold(state, answer):
    canvas = Canvas("explorer threshold", 240)
    low, bins = -0.1, 22
    step = (1 - low) / bins
    counts = {True: [0] * bins, False: [0] * bins}
    for value, label in zip(answer["cosines"], answer["labels"]):
        counts[label][max(0, min(bins - 1, int((value - low) / step)))] += 1
    most = max(max(row) for row in counts.values())
    for label, row in counts.items():
        for place, count in enumerate(row):
            high = 74 * count / most
            if count:
                top = 96 - high if label else 100
                kind = "sentence" if label else "masked"
                canvas.box(10 + 500 / bins * place, top, 500 / bins - 2, high, kind=kind, round_by=0)
    x = 10 + 500 * (min(max(state["at"], low), 1) - low) / (1 - low)
    canvas.arrow((x, 8), (x, 186), tip=False, thick=True)
    canvas.text(x - 6, 12, f"{state['at']:.2f}", anchor="end", bold=True)
    canvas.text(10, 40, "similar", anchor="start", kind="sentence")
    canvas.text(10, 170, "not similar", anchor="start", kind="masked")
    precision = "–" if answer["precision"] is None else f"{answer['precision']:.2f}"
    told = f"precision {precision}, recall {answer['recall']:.2f}, accuracy {answer['accuracy']:.2f}"
    for value in (0, 0.25, 0.5, 0.75):
        canvas.text(10 + 500 * (value - low) / (1 - low), 194, f"{value:g}", 14)
    canvas.text(510, 194, "cosine 1", 14, "end")
    canvas.text(10, 224, told, anchor="start")
    return canvas.finish(
        f"The cosines of {len(answer['cosines'])} pairs, similar from score {state['cut']:g} on above the line and the "
        f"others below it. With the threshold {state['at']:.2f}: {told}."
    )


def _losses(state, answer):
    canvas = Canvas("explorer losses", 340)

    def place(point):
        return 260 + 85 * point[0], 180 - 85 * point[1]

    names = ["anchor", "positive", *(f"negative {row + 1}" for row in range(len(state["negatives"])))]
    points = [state["anchor"], state["positive"], *state["negatives"]]
    (x, y), radius = place(state["anchor"]), 85 * (answer["distances"][0] + state["margin"])
    if state["kind"] == "triplet" and radius <= min(x, y, canvas.width - x, canvas.height - y):
        canvas.circle(x, y, radius, look="ring", dashed=True)  # outside, a negative costs nothing
    longest = max(sum(value**2 for value in one) ** 0.5 for one in answer["gradients"]) or 1
    for name, point, gradient in zip(names, points, answer["gradients"]):
        x, y = place(point)
        if sum(value**2 for value in gradient) ** 0.5 > 0.02 * longest:
            canvas.arrow((x, y), (x - 60 * gradient[0] / longest, y + 60 * gradient[1] / longest), thick=True)
        canvas.circle(x, y, 10, {"anchor": "token", "positive": "sentence"}.get(name, "masked"))
        inside = math.hypot(point[0] - state["anchor"][0], point[1] - state["anchor"][1]) * 85 < radius
        above = name.startswith("negative") and (point[1] > state["anchor"][1]) != inside  # the ring crosses no name
        canvas.text(x, y - 18 if above else y + 22, name, SMALL)
    canvas.text(10, 326, f"loss {answer['loss']:.3f}", anchor="start", bold=True)
    return canvas.finish(
        f"Anchor, positive and {len(state['negatives'])} negatives in the plane under the {state['kind']} loss, "
        f"{answer['loss']:.3f}. Arrows show where gradient descent would move each point."
    )


def _search(state, answer):
    shown = answer["results"][:4]
    canvas = Canvas("explorer search", 54 + 62 * len(shown))
    canvas.text(10, 18, _lines(state["query"], 380), SMALL, anchor="start", bold=True)
    for row, one in enumerate(shown):
        y = 68 + 62 * row
        canvas.box(10, y - 12, max(2.0, 60 * one["cosine"]), 24, kind="sentence")
        canvas.text(78, y, f"{one['cosine']:.2f}", anchor="start", bold=True)
        canvas.text(128, y, _lines(one["text"], 385), SMALL, anchor="start")
    return canvas.finish(
        f"A search for “{state['query']}” among {answer['size']:,} sentences of reviews, by hidden state "
        f"{state['layer']} and the pooling {state['pooling']}. The first result, with a cosine of "
        f"{shown[0]['cosine']:.2f}: “{shown[0]['text']}”"
    )


def _hybrid(state, answer):
    shown, pages = 5, {one["page"]: one for one in answer["pages"]}
    canvas = Canvas("explorer hybrid", 70 + 38 * shown)
    query = next(query for one, _, query in answer["queries"] if one == state["query"])
    canvas.text(2, 10, _cut(f"“{query}”", 510), SMALL, anchor="start", bold=True)
    places = {}
    for at, (name, listed, value) in enumerate(zip(("words", "both", "vectors"), answer["lists"], answer["ndcg"])):
        left = 2 + 177 * at
        canvas.text(left, 34, f"{name} {value:.2f}", anchor="start", bold=True)
        for row, (page, _) in enumerate(listed[:shown]):
            y, grade = 48 + 38 * row, pages[page]["grade"]
            canvas.box(left, y, 22, 34, "–" if grade is None else grade, {2: "sentence", 1: "head"}.get(grade, "plain"))
            canvas.text(left + 28, y + 17, _name_in_two_lines(pages[page]["name"], 130), SMALL, anchor="start")
            places[at, page] = y + 17
    for at in (0, 1):
        for page, grade in ((one["page"], one["grade"]) for one in answer["pages"]):
            if (at, page) in places and (at + 1, page) in places:
                ends = (177 * at + 164, places[at, page]), (177 * at + 176, places[at + 1, page])
                canvas.arrow(*ends, kind={2: "sentence", 1: "head"}.get(grade, "plain"), tip=False, thick=bool(grade))
    canvas.text(
        2,
        58 + 38 * shown,
        "in the box: the page's grade; beside the list's name: nDCG@10",
        SMALL,
        anchor="start",
        quiet=True,
    )
    found = "; ".join(
        f"by {name} " + (", ".join(pages[page]["name"] for page, _ in listed[:3]) or "none")
        for name, listed in zip(("words", "both", "vectors"), answer["lists"])
    )
    values = "words {:.2f}, both {:.2f}, vectors {:.2f}".format(*answer["ndcg"])
    return canvas.finish(f"The query “{query}” on {answer['size']:,} pages. The first {found}. nDCG@10: {values}.")


def _name_in_two_lines(name, most):
    """The name of a page, broken before its last part, or at an underscore where that part is wider than `most`."""
    module, _, last = name.rpartition(".")
    if text_width(module, SMALL) > most:
        first, *_, own = module.split(".")
        module = f"{first}…{own}"
    at = last.find("_", len(last) // 3) + 1
    if at and text_width(f".{last}", SMALL) > most:
        module, rest = f"{module}.{last[:at]}", last[at:]
    else:
        rest = f".{last}"
    return f"{_cut(module, most)}\n{_cut(rest, most)}"


def _cut(text, most):
    """The text, cut off with an ellipsis where it is wider than `most` units of small type."""
    if text_width(text, SMALL) <= most:
        return text
    while text_width(f"{text}…", SMALL) > most:
        text = text[:-1]
    return f"{text}…"


def _lines(text, most):
    """The text in lines of at most `most` units of small type."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, SMALL) <= most:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


PICTURES = {
    "tokens": _tokens, "merges": _merges, "padding": _padding, "layers": _layers, "pooling": _pooling,
    "one head": _one_head, "silence": _silence, "masks": _masks, "threshold": _threshold, "losses": _losses,
    "search": _search, "hybrid": _hybrid,
}  # fmt: skip
