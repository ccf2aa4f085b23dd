"""The diagrams of lesson 14: the order of work, what a number may decide, failures, a threshold, and a report."""

import re
from math import ceil, floor

from .canvas import SMALL, Canvas, text_width


def query_and_wanted(query, name, sentence):
    """The words of a query above those of the text that answers it; words that stand in both are filled."""
    canvas, x, y = Canvas("14 query and wanted", 226), 10, 38
    words = [{word.lower() for word in re.findall(r"\w+", text)} for text in (query, sentence)]
    both = words[0] & words[1]
    canvas.label(10, 18, "asked", quiet=True)
    for word in query.split():
        wide = text_width(word) + 18
        canvas.box(x, y, wide, 34, word, "sentence" if word.lower() in both else "token")
        x += wide + 6
    canvas.label(10, 100, f"wanted: {name}", quiet=True)
    x, y = 10, 116
    for word in sentence.split():
        wide = text_width(word, SMALL) + 16
        if x + wide > 514:
            x, y = 10, y + 34
        canvas.box(x, y, wide, 28, word, "sentence" if word.strip(".,").lower() in both else "plain", SMALL)
        x += wide + 5
    with canvas.step():
        shared = ", ".join(sorted(both)) or "none"
        canvas.text(260, 208, f"words in both: {shared}", bold=True, kind="loss")
    return canvas.finish(f"The query {query!r}, and the text {name}, {sentence!r}. The words that both have: {shared}.")


def order_of_work():
    """The order in which a search is built and measured: six boxes, one after another."""
    canvas = Canvas("14 order of work", 216, gap=2)
    boxes = [
        ("texts", "a folder, cleaned", "token"),
        ("queries and\njudgements", "before any search", "token"),
        ("a first search\nand a baseline", "BM25 beside it", "layer"),
        ("decisions", "by development\nqueries", "plain"),
        ("one number", "from held-out\nqueries, once", "sentence"),
        ("the report", "somebody else\ndecides", "sentence"),
    ]
    for at, (name, remark, kind) in canvas.steps(enumerate(boxes)):
        x, y = 8 + at % 3 * 180, 8 + at // 3 * 112
        if at % 3:
            canvas.arrow((x - 36, y + 25), (x - 2, y + 25))
        elif at:
            canvas.path((440, 78), (440, 102), (78, 102), (78, 118))
        canvas.box(x, y, 144, 50, name, kind, bold=at == len(boxes) - 1)
        canvas.text(x + 72, y + 62 + 8 * remark.count("\n"), remark, SMALL, quiet=True)
    told = "; then ".join(f"{name} ({remark})".replace("\n", " ") for name, remark, _ in boxes)
    return canvas.finish(f"Six boxes in a chain, the order of work: {told}.")


def read_and_cut(lengths, limit, cut):
    """Texts from the shortest to the longest, in tokens, and how much of each the encoder reads.

    limit: tokens that the encoder reads. cut: how many texts are longer, in words.
    """
    canvas, floor, high, every = Canvas("14 read and cut", 250), 222, 200, max(1, len(lengths) // 44)
    some = sorted(lengths)[::every]
    most, wide = min(max(some), 5 * limit), 500 / len(some)
    read = high * limit / most
    for at, length in enumerate(some):
        tall = high * min(length, most) / most
        if length > limit:
            canvas.box(10 + at * wide, floor - tall, wide, tall - read, kind="padding", round_by=0)
        canvas.box(10 + at * wide, floor - min(tall, read), wide, min(tall, read), kind="token", round_by=0)
    canvas.text(260, 238, f"every {every}th text; bars end at {most:,} tokens", SMALL, quiet=True)
    canvas.label(14, 160, f"{limit} tokens are read", kind="token", bold=True)
    with canvas.step():
        canvas.text(14, 40, f"{cut}\nare cut off", anchor="start", bold=True, kind="loss")
    return canvas.finish(
        f"Bars, one for every {every}th text by length in tokens. What lies beyond {limit} tokens is grey: it is not "
        f"read. Cut off are {cut}."
    )


def way_of_the_numbers(development, held_out):
    """What development queries and held-out queries may be used for. Both are counts."""
    canvas = Canvas("14 way of the numbers", 256, gap=2)
    canvas.box(10, 10, 170, 50, f"development\n{development} queries", "token")
    canvas.box(270, 10, 170, 50, "look, decide,\nchange", "plain")
    canvas.arrow((184, 26), (266, 26), kind="token")
    canvas.arrow((266, 46), (184, 46), kind="token")
    canvas.text(225, 76, "as often as you like", SMALL, quiet=True)
    with canvas.step():
        canvas.box_from((355, 62), 230, 102, 250, 36, "all decisions written down", "plain", bold=True)
    with canvas.step():
        canvas.box(10, 188, 170, 50, f"held out\n{held_out} queries", "sentence")
        canvas.arrow((355, 140), (355, 186))
        canvas.arrow((184, 213), (266, 213), "once", kind="sentence", thick=True)
        canvas.box(270, 188, 170, 50, "the number\nin the report", "sentence")
    return canvas.finish(
        f"Two sets of queries. With the {development} development queries one may look, decide and change as often as "
        f"one likes. When all decisions are written down, the {held_out} held-out queries are measured once, and this "
        f"number goes into the report."
    )


def failed_query(query, found, wanted, value):
    """A query, the first results with their cosines and grades, and the place of the text that answers it.

    found: [(name, cosine, grade)]. wanted: (rank, name, cosine, grade). value: the nDCG of the list.
    """
    canvas = Canvas("14 failed query", 88 + 30 * len(found) + 54)
    canvas.box(4, 4, 512, 32, query, "token")
    for x, heading in ((24, "rank"), (170, "text"), (326, "cosine"), (420, "grade, 0 to 2")):
        canvas.text(x, 50, heading, SMALL, quiet=True)

    def row(y, rank, name, cosine, grade):
        canvas.text(24, y + 12, rank, bold=True)
        canvas.box(60, y, 230, 25, name, "sentence" if grade else "plain", SMALL)
        canvas.text(326, y + 12, f"{cosine:.2f}")
        canvas.text(420, y + 12, grade, bold=True, kind="sentence" if grade else "loss")

    with canvas.step():
        for at, result in enumerate(found):
            row(62 + 30 * at, at + 1, *result)
    with canvas.step():
        bottom = 62 + 30 * len(found)
        canvas.text(24, bottom + 4, "⋮")
        row(bottom + 18, *wanted)
        canvas.text(260, bottom + 66, f"the wanted text has rank {wanted[0]}", bold=True, kind="loss")
    told = ", ".join(f"{name} {cosine:.2f} (grade {grade})" for name, cosine, grade in found)
    return canvas.finish(
        f"The query {query!r} finds {told}. The text that answers it, {wanted[1]}, has rank {wanted[0]}; the nDCG of "
        f"the first ten is {value:.2f}."
    )


def scores_and_threshold(groups, threshold):
    """The highest cosines of kinds of queries, and how many of each are shown with a threshold.

    groups: {kind of query: its highest cosines}, the kind to be shown first.
    """
    canvas = Canvas("14 scores and threshold", 90 + 58 * len(groups))
    values = [value for group in groups.values() for value in group]
    low, high = floor(10 * min(values)), ceil(10 * max(values))  # in tenths: the ends of the axis
    kinds = ["sentence"] + ["loss"] * (len(groups) - 1)

    def place(value):
        return 152 + 268 * (10 * value - low) / (high - low)

    for at, ((name, group), kind) in enumerate(zip(groups.items(), kinds)):
        y, placed = 64 + 58 * at, []
        canvas.text(4, y, f"{name}\n{len(group)} queries", SMALL, "start", kind=kind)
        for x in sorted(map(place, group)):
            shift = next(move for move in (0, -9, 9, -18, 18, -27, 27) if all(
                abs(x - one) > 9 or abs(move - other) >= 9 for one, other in placed) or move == 27)  # fmt: skip
            placed.append((x, shift))
            canvas.circle(x, y + shift, 4, kind)
    bottom = 64 + 58 * len(groups) - 14
    canvas.arrow((152, bottom - 8), (420, bottom - 8), tip=False)
    for tenth in range(low, high + 1):
        canvas.arrow((place(tenth / 10), bottom - 8), (place(tenth / 10), bottom - 3), tip=False)
        canvas.text(place(tenth / 10), bottom + 6, f"{tenth / 10:.1f}", SMALL, quiet=True)
    canvas.text(4, bottom + 6, "highest cosine", SMALL, "start", quiet=True)
    shown = [sum(value >= threshold for value in group) for group in groups.values()]
    first, *others = map(len, groups.values())
    told = f"{first - shown[0] or 'no'} answers lost, {sum(shown[1:])} of {sum(others)} useless results shown"
    with canvas.step():
        canvas.arrow((place(threshold), bottom - 8), (place(threshold), 26), tip=False, dashed=True, thick=True)
        canvas.text(place(threshold), 12, f"{threshold:.2f}", bold=True)
        canvas.text(474, 20, "shown", SMALL, quiet=True)
        for at, (count, group, kind) in enumerate(zip(shown, groups.values(), kinds)):
            canvas.text(474, 64 + 58 * at, f"{count} of {len(group)}", kind=kind, bold=True)
        canvas.text(260, bottom + 30, told, bold=True, kind="loss")
    counts = ", ".join(f"{count} of {len(group)} {name}" for count, (name, group) in zip(shown, groups.items()))
    return canvas.finish(
        f"Dots, one for each query at its highest cosine, in {len(groups)} rows. At {threshold:.2f} are shown "
        f"{counts}: {told}."
    )


def report_page(title, rows):
    """A report on one page. rows: {what the line is about: what it says}."""
    canvas = Canvas("14 report page", 48 + 40 * len(rows))
    canvas.box(2, 2, 516, 44 + 40 * len(rows), kind="plain", round_by=3)
    canvas.text(14, 24, title, anchor="start", bold=True)
    for at, (name, words) in canvas.steps(enumerate(rows.items())):
        canvas.text(14, 62 + 40 * at, name, anchor="start", bold=True, kind="sentence")
        canvas.text(112, 62 + 40 * at, words, anchor="start")
    told = " ".join(f"{name}: {words}." for name, words in rows.items())
    return canvas.finish(f"One page, a report with the title {title!r}. {told}")
