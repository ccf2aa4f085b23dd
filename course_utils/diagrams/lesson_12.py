"""The diagrams of lesson 12: pages and a query, a long text in windows, rankings, the gain of a list, two stages."""

from math import log2

from .canvas import SMALL, Canvas, text_width


def pages_and_reader(packages, words, tokens, read, whole):
    """The pages of a collection by package, and the mean page beside what the encoder reads, true to scale.

    packages: {name: number of pages}. words, tokens: of a page, in the mean. read: tokens that the encoder reads.
    whole: the share of pages that it reads whole.
    """
    canvas = Canvas("12 pages and reader", 226)
    total, x, wide = sum(packages.values()), 12, 496
    canvas.label(12, 14, f"{total:,} pages", quiet=True)
    for name, count in packages.items():
        canvas.box(x, 26, wide * count / total, 34, f"{name} {count}", "token", SMALL)
        x += wide * count / total
    with canvas.step():
        canvas.label(12, 92, f"a page, in the mean: {words:,.0f} words, or {tokens:,.0f} tokens", quiet=True)
        canvas.box(12, 104, wide, 40, kind="token", round_by=0)
    with canvas.step():
        canvas.box(12, 104, wide * read / tokens, 40, f"{read} tokens", "sentence", round_by=0, thick=True)
        canvas.text(12 + wide * read / tokens / 2, 160, "read", SMALL, kind="sentence", bold=True)
        canvas.text(12 + wide * (1 + read / tokens) / 2, 160, "never seen", SMALL, quiet=True)
    with canvas.step():
        canvas.text(260, 204, f"{whole:.0%} of the pages fit whole", bold=True)
    told = ", ".join(f"{name} {count}" for name, count in packages.items())
    return canvas.finish(
        f"A collection of {total:,} pages: {told}. In the mean a page has {words:,.0f} words, or {tokens:,.0f} tokens, "
        f"drawn as a bar. The encoder reads {read} tokens, the first part of the bar, and {whole:.0%} of the pages fit "
        "whole."
    )


def _shortened(text, width):
    """The text, cut at a word so that it is no wider, in units of the drawing."""
    words = text.split()
    while text_width(" ".join(words), SMALL) > width:
        words.pop()
    return " ".join(words) + " …" * (len(words) < len(text.split()))


def query_and_pages(query, names, firsts, grades):
    """A query over a few pages, each with its first words, and how a person graded them: 2, 1 or 0.

    names: of the pages. firsts: the first sentence of each.
    """
    canvas = Canvas("12 query and pages", 62 + 38 * len(names))
    canvas.box(8, 8, 504, 34, query, "token", bold=True)
    canvas.label(414, 56, "grade", quiet=True)
    rows = list(zip(range(68, 400, 38), names, firsts, grades))
    for y, name, first, _ in rows:
        canvas.box(8, y, 394, 30, kind="plain")
        canvas.label(16, y + 15, name, bold=True)
        canvas.label(142, y + 15, _shortened(first, 236))
    with canvas.step():
        for y, _, _, grade in rows:
            meaning = ("0  neither", "1  helps", "2  answers")[grade]
            kind = "sentence" if grade else "plain"
            canvas.box(414, y, 98, 30, meaning, kind, SMALL, bold=grade == 2, thick=grade == 2)
    told = "; ".join(f"{name} ({first}): {grade}" for _, name, first, grade in rows)
    return canvas.finish(f"The query: {query}. Pages with their first words and the grade that a person gave: {told}.")


def word_shares(names, ranks, words, shares):
    """What each word of a query adds to the score of each page: a row per page, a column per word, and the sums.

    ranks: of the pages. words: those of the query that add something. shares: numbers (pages, words).
    """
    canvas = Canvas("12 word shares", 36 + 40 * len(names))
    wide = 396 / (len(words) + 1)
    for at, word in enumerate([*words, "sum"]):
        canvas.text(120 + wide * (at + 0.5), 14, word, SMALL)
    for row, (name, rank) in enumerate(zip(names, ranks)):
        canvas.label(2, 50 + 40 * row, f"{name}\nrank {rank:,}")
    shown = [[float(share) if share > 0.005 else "" for share in row] for row in shares]
    with canvas.step():
        most = max(max(row) for row in shares)
        for row, values in enumerate(shown):
            canvas.grid(120, 30 + 40 * row, [values], wide, "token", height=40, most=most)
    with canvas.step():
        for row, values in enumerate(shares):
            canvas.box(120 + wide * len(words), 30 + 40 * row, wide, 40, f"{sum(values):.2f}", "sentence", bold=True,
                       round_by=0)  # fmt: skip
    told = "; ".join(
        f"{name}, rank {rank:,}: "
        + ", ".join(f"{word} {share:.2f}" for word, share in zip(words, row) if share > 0.005)
        + f", in all {sum(row):.2f}"
        for name, rank, row in zip(names, ranks, shares)
    )
    return canvas.finish(f"What each word of the question adds to the score of {len(names)} pages. {told}.")


def through_rankings(names, grades, rankings, gains=None):
    """A few pages as cards, in the order of each of some rankings; lines show where a card moves.

    grades: 2, 1 or 0 for each page. rankings: {name of the search: rank of each page}, from left to right. gains: for
    each search the nDCG of its whole list.
    """
    canvas = Canvas("12 through rankings", 256)
    across, high, top = 512 / len(rankings), 36, 40
    wide = min(170, across - 14)
    middles = [4 + across * (at + 0.5) for at in range(len(rankings))]
    before = None
    for middle, (search, ranks), gain in canvas.steps(zip(middles, rankings.items(), gains or [None] * len(rankings))):
        canvas.text(middle, 10, search, bold=True)
        if gain is not None:
            canvas.text(middle, 28, f"nDCG {gain:.2f}", SMALL, quiet=True)
        order = sorted(range(len(names)), key=lambda at: ranks[at])
        places = {at: top + row * (high + 3) for row, at in enumerate(order)}
        for at, y in places.items():
            good = grades[at] > 0
            kind = "sentence" if good else "plain"
            if before:
                start = (middle - across + wide / 2, before[at] + high / 2)
                canvas.arrow(start, (middle - wide / 2, y + high / 2), kind=kind, tip=False, thick=good)
        for at, y in places.items():
            kind = "sentence" if grades[at] else "plain"
            text = f"{names[at]}\nrank {ranks[at]:,}"
            canvas.box(middle - wide / 2, y, wide, high, text, kind, SMALL, bold=grades[at] == 2, thick=grades[at] == 2)
        before = places
    canvas.text(260, 247, "green: helps (grade 1); bold green: answers the query (grade 2)", SMALL, quiet=True)
    told = "; ".join(
        f"{search}: " + ", ".join(f"{name} {rank:,}" for rank, name in sorted(zip(ranks, names)))
        for search, ranks in rankings.items()
    )
    graded = ", ".join(f"{name} {grade}" for name, grade in zip(names, grades))
    return canvas.finish(f"Ranks of {len(names)} pages in {len(rankings)} rankings. {told}. Their grades: {graded}.")


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
