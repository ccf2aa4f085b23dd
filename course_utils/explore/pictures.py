"""The picture of each explorer's first state, where nothing can run: paper, a slide, GitHub, no
JavaScript.

Each function in `PICTURES` takes the state and the answer to it (see the function of its name in
`ANSWERS`), and returns a Diagram. The numbers in it are places and sizes in the units of the
drawing, which is 520 wide. A ranking is cut to the items that its drawing has room for; where there
are more tokens, the drawing is higher.
"""

import itertools
import math

from ..diagrams.canvas import SMALL, WIDTH, Canvas, in_lines, text_width

RIGHT = 510  # where the rows of a drawing end; they begin at 10
# kinds of boxes in a diagram, which have a colour each
GROUPS = ("token", "sentence", "head", "masked")  # by the kind of a sentence in "layers"
# by the grade of a page, which is None if it was not judged; all other pages are "plain"
OF_GRADES: dict[int | None, str] = {2: "sentence", 1: "head"}
OF_ROLES = {"anchor": "token", "positive": "sentence"}  # of points; negatives are "masked"


# Draws tokens from the height `y` on, in as many rows as they take, with a text below each or with
# none. The canvas has room for `rows` of them, and each further one makes it higher. Returns the y
# of the last row.
def _in_rows(canvas, y, tokens, row_height, rows, below=()):
    x = 10
    for token, text in itertools.zip_longest(tokens, below, fillvalue=""):
        width = max(text_width(token, SMALL, mono=True) + 12, text_width(str(text), SMALL) + 4)
        if x + width > RIGHT:
            x, y, rows = 10, y + row_height, rows - 1
            canvas.height += row_height if rows < 1 else 0
        canvas.tokens(x, y, [token], width=width)
        if below:
            canvas.text(x + width / 2, y + 42, text, SMALL, quiet=True)
        x += width + 6
    return y


def _tokens(state, answer):
    canvas = Canvas("explorer tokens", 220)
    y = _in_rows(canvas, 14, answer["pieces"], 62, rows=2, below=answer["ids"])
    shown = f"“{state['text']}” as {answer['total']} tokens with their ids."
    if not answer["words"]:
        return canvas.finish(f"{shown} It has no word to search.")
    word = answer["words"][answer["word"]]
    steps = answer["steps"]  # of the search: (start, end, piece tried, whether it is known)
    known_pieces = [piece for _, _, piece, is_known in steps if is_known]
    # a search that does not end with a known piece has failed
    pieces = known_pieces if steps and steps[-1][3] else ["[UNK]"]
    canvas.text(
        10,
        y + 82,
        f"The search in “{_cut(word, 160)}”: {len(steps)} tries",
        anchor="start",
        bold=True,
    )
    _in_rows(canvas, y + 98, pieces, 36, rows=1)
    return canvas.finish(
        f"{shown} The greedy search cuts “{word}” into {', '.join(pieces)} in {len(steps)} tries."
    )


def _merges(state, answer):
    words, merges = answer["words"][:8], answer["merges"][: answer["steps"]]
    row_height = 34
    canvas = Canvas("explorer merges", 40 + row_height * len(words))
    canvas.text(10, 16, f"After {answer['steps']} merges", anchor="start", bold=True)
    canvas.text(330, 16, "merge, and count", anchor="start", bold=True)
    for row, (_, count, symbols) in enumerate(words):
        # pieces that would reach the second column stand in one box
        if sum(text_width(symbol, SMALL, mono=True) + 15 for symbol in symbols) > 280:
            symbols = [_cut(" ".join(symbols), 200)]
        _, _, right, _ = canvas.tokens(10, 32 + row_height * row, symbols, gap=3)[-1]
        canvas.text(
            right + 8, 46 + row_height * row, f"× {count}", SMALL, anchor="start", quiet=True
        )
    for row, (left, right, count) in enumerate(merges[: len(words)]):
        y = 46 + row_height * row
        canvas.text(330, y, f"{row + 1}. {left} + {right}", anchor="start", mono=True)
        canvas.text(RIGHT, y, count, anchor="end")
    return canvas.finish(
        f"BPE on {len(answer['words'])} words after {answer['steps']} merges: "
        f"{', '.join(f'{left} + {right}' for left, right, _ in merges)}. The corpus has "
        f"{answer['symbols']} pieces now, and the vocabulary {answer['entries']} entries."
    )


def _padding(state, answer):
    rows = answer["rows"]
    row_height, between_batches = 24, 10
    canvas = Canvas(
        "explorer padding", 34 + row_height * len(rows) + between_batches * len(answer["batches"])
    )
    cell = 500 / max(answer["widths"])  # the width of a token
    y = 8
    for width, batch in zip(answer["widths"], answer["batches"]):
        for row in batch:
            tokens = len(rows[row])
            # a narrow box has no room for the number
            text = f"{tokens}" if tokens * cell > 16 else ""
            canvas.box(10, y, tokens * cell, 20, text, "token", SMALL)
            if width > tokens:
                canvas.box(
                    10 + tokens * cell, y, (width - tokens) * cell, 20, kind="padding", dashed=True
                )
            y += row_height
        y += between_batches
    share = 1 - answer["real"] / answer["cells"]
    summary = f"{answer['cells']} cells, {answer['real']} of them tokens: {share:.0%} is padding"
    canvas.text(10, y + 8, summary, anchor="start")
    return canvas.finish(
        f"{len(rows)} sentences in {len(answer['batches'])} batches, each padded to "
        f"{state['length'] or 'its longest'}. {summary}."
    )


def side_by_side(places: list[tuple[float, float]], least: float = 23) -> list[tuple[float, float]]:
    """Points moved apart until none covers another, as a new list in the same order.

    least: the distance at which two points do not cover each other; by default that of the circles
    of `_layers`. Of very many points some may still cover others.
    """
    # points at one place have no direction in which to move: each is put a little to the right
    places = [(x + 0.01 * row, y) for row, (x, y) in enumerate(places)]
    pairs = [(first, second) for first in range(len(places)) for second in range(first)]
    for _ in range(60):  # enough rounds for the sentences of an explorer
        for first, second in pairs:
            (x1, y1), (x2, y2) = places[first], places[second]
            distance = math.hypot(x1 - x2, y1 - y2) or 0.01
            if distance < least:
                # each point gives way by half of what is missing
                push = (least - distance) / distance / 2
                right, up = (x1 - x2) * push, (y1 - y2) * push
                places[first], places[second] = (x1 + right, y1 + up), (x2 - right, y2 - up)
    return places


def line_between(
    places: list[tuple[float, float]], kinds: list[int]
) -> tuple[float, float, float] | None:
    """The straight line that separates places of two kinds with the widest margin, or None if there
    is none.

    It is given as (a, b, offset): a place (x, y) lies on it where a x + b y is the offset.
    kinds: two different numbers, one for each place. Raises ValueError if they are all alike.
    """
    from sklearn.svm import SVC  # slow to import

    # C is the price of a place on the wrong side: at distances of many units, 1000 allows none
    machine = SVC(kernel="linear", C=1000).fit(places, kinds)
    if machine.score(places, kinds) < 1:
        return None
    return *machine.coef_[0], -machine.intercept_[0]


def ends_inside(line: tuple[float, float, float], left: float, top: float, size: float) -> tuple:
    """The two ends of a line in a square, ((x, y), (x, y)), the left or else the upper first.

    line: as `line_between` gives it. left, top: the square's corner. Raises ValueError for a line
    that does not meet the square.
    """
    a, b, offset = line
    # a line parallel to a side does not meet it: there, b or a is 0
    ends = [(x, (offset - x * a) / b) for x in (left, left + size) if b]
    ends += [((offset - y * b) / a, y) for y in (top, top + size) if a]
    slack = 1e-6  # for rounding
    ends = [
        (x, y)
        for x, y in ends
        if left - slack <= x <= left + size + slack and top - slack <= y <= top + size + slack
    ]
    return min(ends), max(ends)


def _layers(state, answer):
    canvas = Canvas("explorer layers", 226)
    kinds = answer["kinds"]
    verdicts = []
    are_two_kinds = len(set(kinds)) == 2
    last = len(answer["points"]) - 1  # of the hidden states
    for panel, number in enumerate((0, last // 2, last)):
        left = 10 + 172 * panel
        canvas.box(left, 34, 160, 160, kind="plain")
        canvas.text(left + 80, 16, f"hidden state {number}", bold=True)
        x0, y0, unit = left + 80, 114, 60  # the middle of the plane, and a length of 1
        places = side_by_side([(x0 + unit * x, y0 - unit * y) for x, y in answer["points"][number]])
        # many points push some out of the box
        places = [(min(max(x, left + 12), left + 148), min(max(y, 46), 182)) for x, y in places]
        line = line_between(places, kinds) if are_two_kinds else None
        verdicts.append(
            f"in state {number} {'a' if line else 'no'} straight line separates the two kinds"
        )
        if line:
            ends = ends_inside(line, left + 4, 38, 152)
            canvas.arrow(*ends, kind="loss", dashed=True, thick=True, tip=False)
        for row, place in enumerate(places):
            canvas.circle(*place, 11, GROUPS[kinds[row]])
            canvas.text(*place, row + 1, SMALL)
        if are_two_kinds:
            verdict, kind = ("separated", "loss") if line else ("not separated", "plain")
            canvas.text(left + 80, 212, verdict, SMALL, kind=kind, bold=True)
    apart = ", ".join(f"{value:.2f}" for value in answer["apart"])
    separated = f"{', '.join(verdicts).capitalize()}. " if are_two_kinds else ""
    return canvas.finish(
        f"The word {state['word']} in {len(answer['sentences'])} sentences, as points in a plane, in three hidden "
        f"states; each kind has a colour. {separated}The mean distance of two occurrences from state to state: {apart}."
    )


def _pooling(state, answer):
    sentences = answer["sentences"]
    cosines = dict(zip(("[CLS]", "mean", "maximum"), answer["cosines"]))
    bar_row, token_row = 26, 22  # the heights of a cosine's row and of a token's
    longest = max(len(sentence["tokens"]) for sentence in sentences)
    canvas = Canvas("explorer pooling", 118 + token_row * longest)
    for row, (name, value) in enumerate(cosines.items()):
        length = max(2.0, 340 * value)
        y = 14 + bar_row * row
        canvas.text(10, y, name, anchor="start")
        canvas.box(100, y - 10, length, 20, kind="sentence")
        canvas.text(110 + length, y, f"{value:.2f}", anchor="start")
    canvas.text(10, 96, "what each token brings to the mean", anchor="start", bold=True)
    most = max(max(sentence["shares"]) for sentence in sentences)
    for side, sentence in enumerate(sentences):
        for row, (token, share) in enumerate(zip(sentence["tokens"], sentence["shares"])):
            x, y = 10 + 260 * side, 120 + token_row * row
            canvas.text(x, y, token, SMALL, anchor="start", mono=True)
            canvas.box(x + 100, y - 8, max(1.0, 90 * share / most), 16, kind="vector")
            canvas.text(x + 106 + 90 * share / most, y, f"{share:.2f}", SMALL, anchor="start")
    values = ", ".join(f"{name} {value:.2f}" for name, value in cosines.items())
    return canvas.finish(
        f"Two sentences under three poolings. Their cosines: {values}. Below, each token's share."
    )


def _one_head(state, answer):
    texts, shares = answer["tokens"], answer["shares"]
    row_height, widest_bar = 30, 110
    canvas = Canvas("explorer one head", 36 + row_height * len(texts))
    for x, name in (
        (190, "q · k"),
        (280, f"÷ √{len(answer['result'])}"),
        (420, "softmax: its share"),
    ):
        canvas.text(x, 14, name, SMALL, bold=True)
    for row, text in enumerate(texts):
        y = 43 + row_height * row
        canvas.tokens(
            10, y - 13, [text], ["head"] if row == answer["token"] else None, width=120, height=26
        )
        canvas.text(210, y, f"{answer['products'][row]:.2f}", anchor="end")
        canvas.text(300, y, f"{answer['scores'][row]:.2f}", anchor="end")
        canvas.box(350, y - 9, max(1.0, widest_bar * shares[row]), 18, kind="head")
        canvas.text(358 + widest_bar * shares[row], y, f"{shares[row]:.2f}", anchor="start")
    best = shares.index(max(shares))
    return canvas.finish(
        f"Layer {state['layer']}, head {state['head']}: the token {texts[answer['token']]} asks, and takes "
        f"{shares[best]:.2f} of what it gets from {texts[best]}."
    )


def _silence(state, answer):
    maps, tokens = answer["maps"], len(answer["tokens"])
    row_height = 40
    canvas = Canvas("explorer silence", 36 + row_height * len(maps))
    step = min(39, 468 / len(maps[0]))
    size = step - 3
    for head in range(len(maps[0])):
        canvas.text(50 + step * head + size / 2, 12, head, SMALL, quiet=True)
    for layer, heads in enumerate(maps):
        top = 26 + row_height * layer
        canvas.text(20, top + 4 + size / 2, layer + 1, SMALL, quiet=True)
        for head, rows in enumerate(heads):
            canvas.cells(50 + step * head, top, size, tokens, [row.index(max(row)) for row in rows])
    return canvas.finish(
        f"The {sum(map(len, maps))} heads for “{state['text']}”, a row for each layer. In each map a row is a token "
        "that looks, and the filled cell is the token it looks at most."
    )


def _masks(state, answer):
    texts = list(answer["tokens"])
    guess = answer["guesses"][0] if answer["guesses"] else None
    canvas = Canvas("explorer masks", 250 if guess else 120)
    if guess:
        texts[guess["place"]] = "[MASK]"
    y = _in_rows(canvas, 8, texts, 36, rows=2)
    if not guess:
        return canvas.finish(f"The tokens of “{state['text']}”, none of them masked.")
    words = dict(zip(guess["words"][:6], guess["shares"]))
    for row, (word, share) in enumerate(words.items()):
        middle = y + 52 + 26 * row
        length = 300 * share / guess["shares"][0]
        canvas.text(120, middle, word, anchor="end", mono=True)
        canvas.box(130, middle - 10, max(1.0, length), 20, kind="masked")
        canvas.text(138 + length, middle, f"{share:.2f}", anchor="start")
    return canvas.finish(
        f"“{state['text']}” with {answer['tokens'][guess['place']]} masked. "
        f"The first guesses: {', '.join(f'{word} {share:.2f}' for word, share in words.items())}."
    )


def _threshold(state, answer):
    canvas = Canvas("explorer threshold", 240)
    low = -0.1  # the lowest cosine of the histogram
    _draw_histogram(canvas, answer, low)

    def x_of(cosine):
        return 10 + 500 * (cosine - low) / (1 - low)

    x = x_of(min(max(state["at"], low), 1))
    canvas.arrow((x, 8), (x, 186), tip=False, thick=True)
    canvas.text(x - 6, 12, f"{state['at']:.2f}", anchor="end", bold=True)
    canvas.text(10, 40, "similar", anchor="start", kind="sentence")
    canvas.text(10, 170, "not similar", anchor="start", kind="masked")
    for value in (0, 0.25, 0.5, 0.75):
        canvas.text(x_of(value), 194, f"{value:g}", SMALL)
    canvas.text(RIGHT, 194, "cosine 1", SMALL, "end")
    precision = "–" if answer["precision"] is None else f"{answer['precision']:.2f}"
    measures = (
        f"precision {precision}, recall {answer['recall']:.2f}, accuracy {answer['accuracy']:.2f}"
    )
    canvas.text(10, 224, measures, anchor="start")
    return canvas.finish(
        f"The cosines of {len(answer['cosines'])} pairs, similar from score {state['cut']:g} on above the line and the "
        f"others below it. With the threshold {state['at']:.2f}: {measures}."
    )


def _draw_histogram(canvas, answer, low):
    """Draw bars, up to 74 high: those of similar pairs rise from 96, the others hang from 100.

    low: the cosine at the left; those below it are counted in the first bar.
    """
    bins = 22  # of 0.05 each, from -0.1 to 1
    bin_width = 500 / bins
    counts = {True: [0] * bins, False: [0] * bins}  # by whether a pair is similar
    for cosine, is_similar in zip(answer["cosines"], answer["labels"]):
        place = int((cosine - low) / (1 - low) * bins)
        counts[is_similar][max(0, min(bins - 1, place))] += 1
    most = max(map(max, counts.values()))
    for is_similar, bars in counts.items():
        for place, count in enumerate(bars):
            height = 74 * count / most
            top, kind = (96 - height, "sentence") if is_similar else (100, "masked")
            if count:
                canvas.box(
                    10 + bin_width * place, top, bin_width - 2, height, kind=kind, round_by=0
                )


def _losses(state, answer):
    canvas = Canvas("explorer losses", 340)
    names = [
        "anchor",
        "positive",
        *(f"negative {row + 1}" for row in range(len(state["negatives"]))),
    ]
    x0, y0, unit = 260, 180, 85  # the origin, and a length of 1
    places = [
        (x0 + unit * x, y0 - unit * y)
        for x, y in (state["anchor"], state["positive"], *state["negatives"])
    ]
    anchor_x, anchor_y = places[0]
    # outside the ring, a negative costs nothing; it is drawn where it fits
    radius = unit * (answer["distances"][0] + state["margin"])
    room = min(anchor_x, anchor_y, WIDTH - anchor_x, canvas.height - anchor_y)
    if state["kind"] == "triplet" and radius <= room:
        canvas.circle(anchor_x, anchor_y, radius, look="ring", dashed=True)
    longest = max(math.hypot(*gradient) for gradient in answer["gradients"]) or 1
    for name, (x, y), (right, up) in zip(names, places, answer["gradients"], strict=True):
        if math.hypot(right, up) > 0.02 * longest:  # a shorter arrow would be only a tip
            # against the gradient; y grows downwards, and the longest arrow has a length of 60
            canvas.arrow((x, y), (x - 60 * right / longest, y + 60 * up / longest), thick=True)
        canvas.circle(x, y, 10, OF_ROLES.get(name, "masked"))
        # a negative's name is on the side where the ring does not cross it
        is_inside = math.dist((x, y), places[0]) < radius
        is_upper = y < anchor_y
        above = name.startswith("negative") and is_upper != is_inside
        canvas.text(x, y - 18 if above else y + 22, name, SMALL)
    canvas.text(10, 326, f"loss {answer['loss']:.3f}", anchor="start", bold=True)
    return canvas.finish(
        f"Anchor, positive and {len(state['negatives'])} negatives in the plane under the {state['kind']} loss, "
        f"{answer['loss']:.3f}. Arrows show where gradient descent would move each point."
    )


def _search(state, answer):
    results = answer["results"][:4]
    row_height = 62
    canvas = Canvas("explorer search", 54 + row_height * len(results))
    canvas.text(10, 18, in_lines(state["query"], 380), SMALL, anchor="start", bold=True)
    for row, result in enumerate(results):
        y = 68 + row_height * row
        canvas.box(10, y - 12, max(2.0, 60 * result["cosine"]), 24, kind="sentence")
        canvas.text(78, y, f"{result['cosine']:.2f}", anchor="start", bold=True)
        canvas.text(128, y, in_lines(result["text"], 385), SMALL, anchor="start")
    return canvas.finish(
        f"A search for “{state['query']}” among {answer['size']:,} sentences of reviews, by hidden state "
        f"{state['layer']} and the pooling {state['pooling']}. The first result, with a cosine of "
        f"{results[0]['cosine']:.2f}: “{results[0]['text']}”"
    )


def _hybrid(state, answer):
    pages = {page["page"]: page for page in answer["pages"]}  # by their places
    lists = dict(zip(("words", "both", "vectors"), answer["lists"]))
    column_width = 177
    canvas = Canvas("explorer hybrid", 260)
    query = next(query for id_, _, query in answer["queries"] if id_ == state["query"])
    canvas.text(2, 10, _cut(f"“{query}”", RIGHT), SMALL, anchor="start", bold=True)
    heights = []  # of the pages in each list: {page: y}
    for column, (name, listed) in enumerate(lists.items()):
        left = 2 + column_width * column
        canvas.text(left, 34, f"{name} {answer['ndcg'][column]:.2f}", anchor="start", bold=True)
        # the first five, for which the drawing has room
        heights.append(_draw_pages(canvas, left, [pages[page] for page, _ in listed[:5]]))
    for column in (0, 1):
        right = 164 + column_width * column  # behind the names, which are up to 130 wide
        _link_pages(canvas, right, heights[column], heights[column + 1], pages)
    canvas.text(
        2,
        248,
        "in the box: the page's grade; beside the list's name: nDCG@10",
        SMALL,
        anchor="start",
        quiet=True,
    )
    first_pages = []
    for name, listed in lists.items():
        names = [pages[page]["name"] for page, _ in listed[:3]]
        first_pages.append(f"by {name} {', '.join(names) or 'none'}")
    values = "words {:.2f}, both {:.2f}, vectors {:.2f}".format(*answer["ndcg"])
    return canvas.finish(
        f"The query “{query}” on {answer['size']:,} pages. The first {'; '.join(first_pages)}. nDCG@10: {values}."
    )


def _draw_pages(canvas, left, pages):
    """Draw a column of pages, each with its grade in a box. Returns where they stand, {page: y}."""
    heights = {page["page"]: 65 + 38 * row for row, page in enumerate(pages)}
    for page, y in zip(pages, heights.values()):
        written = "–" if page["grade"] is None else page["grade"]
        canvas.box(left, y - 17, 22, 34, written, OF_GRADES.get(page["grade"], "plain"))
        canvas.text(left + 28, y, _name_in_two_lines(page["name"], 130), SMALL, anchor="start")
    return heights


def _link_pages(canvas, right, heights, next_heights, pages):
    """Join the pages that are in a column and in the next one; relevant pages by thick lines.

    right: where the names of the column end.
    """
    for page, about in pages.items():
        if page in heights and page in next_heights:
            canvas.arrow(
                (right, heights[page]),
                (right + 12, next_heights[page]),
                kind=OF_GRADES.get(about["grade"], "plain"),
                tip=False,
                thick=bool(about["grade"]),
            )


def _name_in_two_lines(name, most):
    """The name of a page in two lines of at most `most`, with an ellipsis for what has no room.

    It is broken before its last part, or where that is too wide, at an underscore in it. Of a wide
    module only the package and the module's own name are shown.
    """
    module, _, last = name.rpartition(".")
    if text_width(module, SMALL) > most:
        package, *_, own_name = module.split(".")
        module = f"{package}…{own_name}"
    first_line, second_line = module, f".{last}"
    # behind the first underscore after a third of the last part; 0 if there is none
    place = second_line.find("_", len(last) // 3 + 1) + 1
    if place and text_width(second_line, SMALL) > most:
        first_line, second_line = module + second_line[:place], second_line[place:]
    return f"{_cut(first_line, most)}\n{_cut(second_line, most)}"


def _cut(text, most):
    """The text, cut off with an ellipsis where it is wider than `most` units of small type."""
    if text_width(text, SMALL) <= most:
        return text
    while text_width(f"{text}…", SMALL) > most:
        text = text[:-1]
    return f"{text}…"


PICTURES = {
    "tokens": _tokens,
    "merges": _merges,
    "padding": _padding,
    "layers": _layers,
    "pooling": _pooling,
    "one head": _one_head,
    "silence": _silence,
    "masks": _masks,
    "threshold": _threshold,
    "losses": _losses,
    "search": _search,
    "hybrid": _hybrid,
}
