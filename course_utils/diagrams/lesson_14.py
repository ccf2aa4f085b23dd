"""The diagrams of lesson 14: a query and its text, the order of work, a failure, a report."""

import re
from collections.abc import Mapping, Sequence

from .canvas import SMALL, WIDTH, Canvas, Diagram, text_width


def query_and_wanted(query: str, name: str, sentence: str) -> Diagram:
    """The words of a query above those of the text that answers it; shared words are filled."""
    left, right, gap, row = 10, 514, 6, 34
    canvas = Canvas("14 query and wanted", 226)
    asked, wanted = (set(re.findall(r"\w+", text.lower())) for text in (query, sentence))

    def words(y, text, kind):
        """Draw each word in a box, in rows from the height y on."""
        x = left
        for word in text.split():
            wide = text_width(word, SMALL) + 16
            if x + wide > right:
                x, y = left, y + row
            shared = word.strip(".,").lower() in asked & wanted
            canvas.box(x, y, wide, 28, word, "sentence" if shared else kind, SMALL)
            x += wide + gap

    canvas.label(left, 18, "asked", quiet=True)
    words(38, query, "token")
    canvas.label(left, 100, f"wanted: {name}", quiet=True)
    words(116, sentence, "plain")
    both = ", ".join(sorted(asked & wanted)) or "none"
    canvas.conclusion(208, f"words in both: {both}", kind="loss")
    return canvas.finish(
        f"The query {query!r}, and the text {name}, {sentence!r}. The words that both have: {both}."
    )


def order_of_work() -> Diagram:
    """The order in which a search is built and measured: six boxes, one after another."""
    boxes = (
        ("texts", "a folder, cleaned", "token"),
        ("queries and\njudgements", "before any search", "token"),
        ("a first search\nand a baseline", "BM25 beside it", "layer"),
        ("decisions", "by development\nqueries", "plain"),
        ("one number", "from held-out\nqueries, once", "sentence"),
        ("the report", "somebody else\ndecides", "sentence"),
    )
    columns, wide, high, between_columns, between_rows = 3, 144, 50, 36, 62
    canvas = Canvas("14 order of work", 216, gap=2)
    for at, (name, remark, kind) in canvas.steps(enumerate(boxes)):
        row, column = divmod(at, columns)
        x, y = 8 + column * (wide + between_columns), 8 + row * (high + between_rows)
        if column:
            canvas.arrow((x - between_columns, y + high / 2), (x - 2, y + high / 2))
        elif row:  # from below the last box of the row above, and back to the left
            canvas.path((440, 78), (440, 102), (78, 102), (78, 118))
        canvas.box(x, y, wide, high, name, kind, bold=name == "the report")
        canvas.text(x + wide / 2, y + high + 12 + 8 * remark.count("\n"), remark, SMALL, quiet=True)
    chain = "; then ".join(f"{name} ({remark})".replace("\n", " ") for name, remark, _ in boxes)
    return canvas.finish(f"Six boxes in a chain, the order of work: {chain}.")


def way_of_the_numbers(development: int, held_out: int) -> Diagram:
    """What development queries and held-out queries may be used for. Both are counts."""
    left, right, wide, high = 10, 270, 170, 50  # the left edges of two columns; the size of a box
    above, below = 10, 188  # the tops of two rows
    start, end = left + wide + 4, right - 4  # of the arrows between the columns
    middle = right + wide / 2  # of the right column
    canvas = Canvas("14 way of the numbers", 256, gap=2)
    canvas.box(left, above, wide, high, f"development\n{development} queries", "token")
    canvas.box(right, above, wide, high, "look, decide,\nchange", "plain")
    canvas.arrow((start, 26), (end, 26), kind="token")
    canvas.arrow((end, 46), (start, 46), kind="token")
    canvas.text((start + end) / 2, 76, "as often as you like", SMALL, quiet=True)
    with canvas.step():
        words = "all decisions written down"
        canvas.box_from((middle, 62), middle - 125, 102, 250, 36, words, "plain", bold=True)
    with canvas.step():
        canvas.box(left, below, wide, high, f"held out\n{held_out} queries", "sentence")
        canvas.arrow((middle, 140), (middle, below - 2))
        canvas.arrow((start, 213), (end, 213), "once", kind="sentence", thick=True)
        canvas.box(right, below, wide, high, "the number\nin the report", "sentence")
    return canvas.finish(
        f"Two sets of queries. With the {development} development queries one may look, decide and "
        f"change as often as one likes. When all decisions are written down, the {held_out} "
        "held-out queries are measured once, and this number goes into the report."
    )


def failed_query(
    query: str,
    found: Sequence[tuple[str, float, int]],
    wanted: tuple[int, str, float, int],
    value: float,
) -> Diagram:
    """A query, its first results with cosines and grades, and the rank of the text that answers it.

    found: [(name, cosine, grade)]. wanted: (rank, name, cosine, grade). value: the nDCG of the
    list.
    """
    rank_at, name_at, cosine_at, grade_at = 24, 175, 326, 420  # the middles of the columns
    top, step = 62, 30
    bottom = top + step * len(found)
    canvas = Canvas("14 failed query", bottom + 80)
    canvas.box(4, 4, 512, 32, query, "token")
    headings = {rank_at: "rank", name_at: "text", cosine_at: "cosine", grade_at: "grade, 0 to 2"}
    for x, heading in headings.items():
        canvas.text(x, 50, heading, SMALL, quiet=True)

    def row(y, rank, name, cosine, grade):
        canvas.text(rank_at, y + 12, rank, bold=True)
        canvas.box(name_at - 115, y, 230, 25, name, "sentence" if grade else "plain", SMALL)
        canvas.text(cosine_at, y + 12, f"{cosine:.2f}")
        canvas.text(grade_at, y + 12, grade, bold=True, kind="sentence" if grade else "loss")

    with canvas.step():
        for at, result in enumerate(found):
            row(top + step * at, at + 1, *result)
    with canvas.step():
        canvas.text(rank_at, bottom + 4, "⋮")
        row(bottom + 18, *wanted)
        verdict = f"the wanted text has rank {wanted[0]}"
        canvas.text(WIDTH / 2, bottom + 66, verdict, bold=True, kind="loss")
    results = ", ".join(f"{name} {cosine:.2f} (grade {grade})" for name, cosine, grade in found)
    return canvas.finish(
        f"The query {query!r} finds {results}. The text that answers it, {wanted[1]}, has rank "
        f"{wanted[0]}; the nDCG of the first ten is {value:.2f}."
    )


def report_page(title: str, rows: Mapping[str, str]) -> Diagram:
    """A report on one page. rows: {what the line is about: what it says}."""
    row = 40
    canvas = Canvas("14 report page", 48 + row * len(rows))
    canvas.box(2, 2, 516, 44 + row * len(rows), round_by=3)
    canvas.text(14, 24, title, anchor="start", bold=True)
    for at, (name, words) in canvas.steps(enumerate(rows.items())):
        y = 62 + row * at
        canvas.text(14, y, name, anchor="start", bold=True, kind="sentence")
        canvas.text(112, y, words, anchor="start")
    lines = " ".join(f"{name}: {words}." for name, words in rows.items())
    return canvas.finish(f"One page, a report with the title {title!r}. {lines}")
