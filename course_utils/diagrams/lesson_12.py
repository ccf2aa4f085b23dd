"""The diagrams of lesson 12: a long text in windows, and the gain of a list."""

from math import log2

from .canvas import SMALL, Canvas


def text_in_windows(words, size, cosines):
    """A text of some words, cut into windows of `size`: each becomes a vector, and the best one speaks for the text.

    cosines: of the query with each window.
    """
    canvas = Canvas("12 text in windows", 230)
    best, left, right = max(range(len(cosines)), key=lambda at: cosines[at]), 12, 508
    unit = (right - left) / words
    canvas.text(left, 14, f"one text, {words} words", SMALL, anchor="start", quiet=True)
    canvas.box(left, 26, right - left, 30, "", "token", round_by=0)
    starts = [left + at * size * unit for at in range(len(cosines))]
    ends = [min(right, start + size * unit) for start in starts]
    with canvas.step():
        for at, (start, end) in enumerate(zip(starts, ends), start=1):
            canvas.box(start, 26, end - start, 30, str(at), "token", SMALL, round_by=0)
    with canvas.step():
        for start, end in zip(starts, ends):
            middle = (start + end) / 2
            canvas.arrow((middle, 58), (middle, 96))
            canvas.vector(middle - 16, 98, width=32, height=16, kind="sentence", across=True)
        canvas.text((starts[0] + ends[1]) / 2, 78, "encoder", SMALL, quiet=True)
    with canvas.step():
        canvas.text(left, 132, "cosine with the query", SMALL, anchor="start", quiet=True)
        for at, (start, end) in enumerate(zip(starts, ends)):
            middle = (start + end) / 2
            canvas.text(middle, 154, f"{cosines[at]:.2f}", bold=at == best, kind="sentence" if at == best else None)
    with canvas.step():
        middle = (starts[best] + ends[best]) / 2
        canvas.arrow((middle, 166), (260, 192), kind="sentence", thick=True)
        canvas.box(150, 194, 220, 30, f"score of the text: {cosines[best]:.2f}", "sentence")
    told = ", ".join(f"{cosine:.2f}" for cosine in cosines)
    return canvas.finish(
        f"A text of {words} words is cut into {len(cosines)} windows of {size} words or less. Each becomes a vector, "
        f"and their cosines with the query are {told}. The highest, {cosines[best]:.2f}, is the score of the text."
    )


def gain_of_a_list(found, graded):
    """What each place of a list gains, beside the best possible list.

    found: the grades of the results, the best one first. graded: the grades of all judged texts.
    """
    ideal = sorted(graded, reverse=True)[: len(found)]
    canvas = Canvas("12 gain of a list", 200)
    width, left = 62, 118
    canvas.text(4, 16, "rank", SMALL, anchor="start", quiet=True)
    canvas.text(4, 40, "log2(1 + rank)", SMALL, anchor="start", quiet=True)
    for rank in range(1, len(found) + 1):
        canvas.text(left + (rank - 0.5) * width, 16, rank, SMALL, mono=True, quiet=True)
        canvas.text(left + (rank - 0.5) * width, 40, f"{log2(1 + rank):.2f}", SMALL, quiet=True)

    def row(y, name, grades, kind):
        canvas.text(4, y + 14, name, SMALL, anchor="start")
        for at, grade in enumerate(grades):
            canvas.box(left + at * width + 4, y, width - 8, 28, grade, kind if grade else "plain")
        gains = [grade / log2(1 + rank) for rank, grade in enumerate(grades, start=1)]
        with canvas.step():
            for at, gain in enumerate(gains):
                canvas.text(left + (at + 0.5) * width, y + 42, f"{gain:.2f}", SMALL)
            canvas.text(left + len(found) * width + 6, y + 42, f"sum {sum(gains):.2f}", SMALL, anchor="start")
        return sum(gains)

    one = row(58, "grades found", found, "token")
    with canvas.step():
        other = row(118, "best possible", ideal, "sentence")
    with canvas.step():
        canvas.text(260, 186, f"nDCG = {one:.2f} / {other:.2f} = {one / other:.2f}", bold=True, kind="sentence")
    return canvas.finish(
        f"A list of results with the grades {', '.join(map(str, found))}. Each grade is divided by log2(1 + rank), and "
        f"the sum is {one:.2f}. The best possible list has the grades {', '.join(map(str, ideal))} and the sum "
        f"{other:.2f}. The quotient, {one / other:.2f}, is the nDCG of the list."
    )
