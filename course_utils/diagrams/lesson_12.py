"""The diagrams of lesson 12: a long text in windows, the gain of a list, and a search in two stages."""

from math import log2

from .canvas import SMALL, Canvas


def text_in_windows(words, size, cosines):
    """A text of some words, cut into windows of `size`: each becomes a vector, and the best one speaks for the text.

    cosines: of the query with each window.
    """
    canvas = Canvas("12 text in windows", 230)
    best, left, right = max(range(len(cosines)), key=lambda at: cosines[at]), 12, 508
    unit = (right - left) / words
    canvas.label(left, 14, f"one text, {words} words", quiet=True)
    canvas.box(left, 26, right - left, 30, "", "token", round_by=0)
    starts = [left + at * size * unit for at in range(len(cosines))]
    ends = [min(right, start + size * unit) for start in starts]
    with canvas.step():
        for at, (start, end) in enumerate(zip(starts, ends), start=1):
            canvas.box(start, 26, end - start, 30, str(at), "token", SMALL, round_by=0)
    middles = [(start + end) / 2 for start, end in zip(starts, ends)]
    with canvas.step():
        for middle in middles:
            canvas.arrow((middle, 58), (middle, 96))
            canvas.vector(middle - 16, 98, width=32, height=16, kind="sentence", across=True)
        canvas.text((starts[0] + ends[1]) / 2, 78, "encoder", SMALL, quiet=True)
    with canvas.step():
        canvas.label(left, 132, "cosine with the query", quiet=True)
        for at, middle in enumerate(middles):
            canvas.text(middle, 154, f"{cosines[at]:.2f}", bold=at == best, kind="sentence" if at == best else None)
    with canvas.step():
        canvas.arrow((middles[best], 166), (260, 192), kind="sentence", thick=True)
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
    canvas.label(4, 16, "rank", quiet=True)
    canvas.label(4, 40, "log2(1 + rank)", quiet=True)
    for rank in range(1, len(found) + 1):
        canvas.text(left + (rank - 0.5) * width, 16, rank, SMALL, mono=True, quiet=True)
        canvas.text(left + (rank - 0.5) * width, 40, f"{log2(1 + rank):.2f}", SMALL, quiet=True)

    def row(y, name, grades, kind):
        canvas.label(4, y + 14, name)
        for at, grade in enumerate(grades):
            canvas.box(left + at * width + 4, y, width - 8, 28, grade, kind if grade else "plain")
        gains = [grade / log2(1 + rank) for rank, grade in enumerate(grades, start=1)]
        with canvas.step():
            for at, gain in enumerate(gains):
                canvas.text(left + (at + 0.5) * width, y + 42, f"{gain:.2f}", SMALL)
            canvas.label(left + len(found) * width + 6, y + 42, f"sum {sum(gains):.2f}")
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


def two_stages(texts, vectors, kept, shown):
    """A search in two stages: cheap ways find candidates among all texts, and a cross-encoder orders these.

    texts, vectors: of the collection, made once. kept: candidates of a query. shown: results.
    """
    canvas = Canvas("12 two stages", 252, gap=2)
    canvas.box(10, 10, 90, 34, "query", "token")
    canvas.box(330, 10, 180, 50, f"{texts:,} texts\n{vectors:,} vectors, kept", "sentence", SMALL)
    canvas.arrow((55, 46), (55, 72))
    canvas.arrow((70, 46), (190, 72))
    canvas.box(10, 74, 120, 50, "words\nno pass", "plain", SMALL)
    canvas.box(150, 74, 120, 50, "bi-encoder\n1 pass", "layer", SMALL)
    canvas.arrow((330, 48), (272, 86))
    with canvas.step():
        canvas.arrow((70, 126), (120, 150))
        canvas.arrow((210, 126), (160, 150))
        canvas.box(50, 152, 180, 32, f"{kept} candidates", "plain", SMALL)
    with canvas.step():
        canvas.box_from((232, 168), 292, 143, 136, 50, f"cross-encoder\n{kept} passes", "layer", SMALL)
        canvas.box_from((360, 195), 280, 214, 160, 32, f"{shown} results", "sentence", SMALL)
    return canvas.finish(
        f"A query is compared by its words, which needs no pass of the encoder, or by its vector, which needs one; "
        f"{vectors:,} vectors of {texts:,} texts were made before. {kept} candidates are left. The cross-encoder reads "
        f"the query with each of them, in {kept} passes, and {shown} results are shown."
    )
