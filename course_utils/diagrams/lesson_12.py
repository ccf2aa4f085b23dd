"""The diagrams of lesson 12: a query and pages, ranks, a text in windows, the gain of a list."""

from collections.abc import Mapping, Sequence
from math import log2

from .canvas import MIDDLE, SMALL, WIDTH, Canvas, Diagram, in_lines

GRADES = ("neither", "helps", "answers")  # what a person's 0, 1 and 2 for a page mean


def query_and_pages(
    query: str, names: Sequence[str], firsts: Sequence[str], grades: Sequence[int], verdict: str
) -> Diagram:
    """A query over a few pages with their first sentences, and how a person graded them.

    names: of the pages. firsts: the first sentence of each. verdict: what the grades show, in a
    sentence.
    """
    row, high = 39, 35
    foot = 36 + 40 * len(names)
    canvas = Canvas("12 query and pages", foot + 22)
    canvas.box(4, 2, 512, 28, query, "token", bold=True)
    tops = [36 + row * at for at in range(len(names))]
    for y, name, first in zip(tops, names, firsts):
        canvas.box(4, y, 410, high)
        canvas.label(10, y + high / 2, name, bold=True)
        canvas.label(138, y + high / 2, in_lines(first, 270, most=2))
    with canvas.step():
        for y, grade in zip(tops, grades):
            kind = "sentence" if grade else "plain"
            meaning = f"{grade}: {GRADES[grade]}"
            canvas.box(420, y, 98, high, meaning, kind, SMALL, bold=grade == 2, thick=grade == 2)
    canvas.conclusion(foot + 12, verdict, kind="sentence")
    rows = zip(names, firsts, grades)
    pages = "; ".join(f"{name} ({first}): {grade}" for name, first, grade in rows)
    return canvas.finish(
        f"The query: {query}. Pages with their first sentence and the grade that a person gave: {pages}. {verdict}."
    )


def rank_by_rank(
    names: Sequence[str],
    grades: Sequence[int],
    rankings: Mapping[str, Sequence[int]],
    first: int,
    verdict: str,
) -> Diagram:
    """The ranks of a few pages in some rankings: good pages are green among the `first` places.

    grades: 2, 1 or 0 for each page. rankings: {name of the search: rank of each page}, from left to
    right. verdict: what the ranks show, in a sentence.
    """
    left, top, row = 140, 34, 36
    wide = (WIDTH - 4 - left) / len(rankings)
    foot = top + row * len(names)
    canvas = Canvas("12 rank by rank", foot + 46)
    tops = [top + row * at for at in range(len(names))]
    for y, name, grade in zip(tops, names, grades):
        canvas.label(2, y + row / 2, f"{name}\n{GRADES[grade]}", bold=grade == 2)
    for at, (search, ranks) in enumerate(canvas.steps(rankings.items())):
        x = left + at * wide
        canvas.text(x + wide / 2, 16, search, SMALL, bold=True)
        for y, rank, grade in zip(tops, ranks, grades):
            near = rank <= first
            kind = "padding"
            if near:
                kind = "sentence" if grade else "plain"
            thick = near and grade == 2
            canvas.box(
                x + 3, y + 1, wide - 6, row - 5, f"{rank:,}", kind, bold=grade > 0, thick=thick
            )
    legend = {"sentence": f"good, in the first {first}", "plain": f"neither, in the first {first}",
              "padding": "further down"}  # fmt: skip
    for x, (kind, meaning) in zip((4, 190, 390), legend.items()):
        canvas.box(x, foot + 4, 20, 14, kind=kind)
        canvas.label(x + 26, foot + 11, meaning)
    canvas.conclusion(foot + 34, verdict, kind="sentence")
    pages = []
    for at, (name, grade) in enumerate(zip(names, grades)):
        of_page = ", ".join(f"{search} {ranks[at]:,}" for search, ranks in rankings.items())
        pages.append(f"{name} ({GRADES[grade]}): {of_page}")
    ranked = "; ".join(pages)
    return canvas.finish(
        f"Ranks of {len(names)} pages in {len(rankings)} rankings. {ranked}. {verdict}."
    )


def text_in_windows(words: int, size: int, cosines: Sequence[float]) -> Diagram:
    """A page cut into windows of `size` words: each becomes a vector, and the best one counts.

    cosines: of the query with each window.
    """
    left, right = 12, 508
    canvas = Canvas("12 text in windows", 230)
    best = max(cosines)
    unit = (right - left) / words
    canvas.label(left, 14, f"one page, {words} words", quiet=True)
    canvas.box(left, 26, right - left, 30, kind="token", round_by=0)
    starts = [left + at * size * unit for at in range(len(cosines))]
    ends = [min(right, start + size * unit) for start in starts]
    middles = [(start + end) / 2 for start, end in zip(starts, ends)]
    with canvas.step():
        for number, (start, end) in enumerate(zip(starts, ends), start=1):
            canvas.box(start, 26, end - start, 30, number, "token", SMALL, round_by=0)
    with canvas.step():
        for middle in middles:
            canvas.arrow((middle, 58), (middle, 96))
            canvas.vector(middle - 16, 98, width=32, height=16, kind="sentence", across=True)
        canvas.text((starts[0] + ends[1]) / 2, 78, "encoder", SMALL, quiet=True)
    with canvas.step():
        canvas.label(left, 132, "cosine with the query", quiet=True)
        for middle, cosine in zip(middles, cosines):
            wins = cosine == best
            kind = "sentence" if wins else None
            canvas.text(middle, 154, f"{cosine:.2f}", bold=wins, kind=kind)
    with canvas.step():
        start = (middles[cosines.index(best)], 166)
        canvas.arrow(start, (MIDDLE, 192), kind="sentence", thick=True)
        canvas.box(150, 194, 220, 30, f"score of the page: {best:.2f}", "sentence")
    return canvas.finish(
        f"A page of {words} words is cut into {len(cosines)} windows of {size} words or less. Each "
        "becomes a vector, and their cosines with the query are "
        f"{', '.join(f'{cosine:.2f}' for cosine in cosines)}. The highest, {best:.2f}, is the "
        "score of the page."
    )


def gain_of_a_list(found: Sequence[int], graded: Sequence[int]) -> Diagram:
    """What each place of a list gains, beside the best possible list.

    found: the grades of the results, the best one first. graded: the grades of all judged texts.
    """
    width, left = 62, 118
    best_list = sorted(graded, reverse=True)[: len(found)]
    canvas = Canvas("12 gain of a list", 200)
    canvas.label(4, 16, "rank", quiet=True)
    canvas.label(4, 40, "log2(1 + rank)", quiet=True)
    for rank in range(1, len(found) + 1):
        middle = left + (rank - 0.5) * width
        canvas.text(middle, 16, rank, SMALL, mono=True, quiet=True)
        canvas.text(middle, 40, f"{log2(1 + rank):.2f}", SMALL, quiet=True)

    def row(y, name, grades, kind):
        """Draw the grades with what each gains, and return the sum."""
        canvas.label(4, y + 14, name)
        for at, grade in enumerate(grades):
            canvas.box(left + at * width + 4, y, width - 8, 28, grade, kind if grade else "plain")
        gains = [grade / log2(1 + rank) for rank, grade in enumerate(grades, start=1)]
        with canvas.step():
            for at, gain in enumerate(gains):
                canvas.text(left + (at + 0.5) * width, y + 42, f"{gain:.2f}", SMALL)
            canvas.label(left + len(found) * width + 6, y + 42, f"sum {sum(gains):.2f}")
        return sum(gains)

    own = row(58, "grades found", found, "token")
    with canvas.step():
        best = row(118, "best possible", best_list, "sentence")
    quotient = f"nDCG = {own:.2f} / {best:.2f} = {own / best:.2f}"
    canvas.conclusion(186, quotient, kind="sentence")
    return canvas.finish(
        f"A list of results with the grades {', '.join(map(str, found))}. Each grade is divided by "
        f"log2(1 + rank), and the sum is {own:.2f}. The best possible list has the grades "
        f"{', '.join(map(str, best_list))} and the sum {best:.2f}. The quotient, {own / best:.2f}, "
        "is the nDCG of the list."
    )
