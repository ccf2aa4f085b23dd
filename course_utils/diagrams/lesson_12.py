"""The diagrams of lesson 12: pages and a query, a long text in windows, rankings, the gain of a list, two stages."""

from contextlib import nullcontext
from math import log2

from .canvas import SMALL, Canvas, text_width

GRADES = ("neither", "helps", "answers")  # what a person's 0, 1 and 2 for a page mean


def pages_and_reader(packages, words, tokens, read, whole):
    """The pages of a collection by package, and the mean page beside what the encoder reads, true to scale.

    packages: {name: number of pages}. words, tokens: of a page, on average. read: tokens that the encoder reads.
    whole: the share of pages that it reads whole.
    """
    canvas = Canvas("12 pages and reader", 226)
    total, x, wide = sum(packages.values()), 12, 496
    canvas.label(12, 14, f"{total:,} pages", quiet=True)
    for name, count in packages.items():
        canvas.box(x, 26, wide * count / total, 34, f"{name} {count}", "token", SMALL)
        x += wide * count / total
    with canvas.step():
        canvas.label(12, 92, f"a page, on average: {words:,.0f} words, or {tokens:,.0f} tokens", quiet=True)
        canvas.box(12, 104, wide, 40, kind="token", round_by=0)
    with canvas.step():
        canvas.box(12, 104, wide * read / tokens, 40, f"{read} tokens", "sentence", round_by=0, thick=True)
        canvas.text(12 + wide * read / tokens / 2, 160, "read", SMALL, kind="sentence", bold=True)
        canvas.text(12 + wide * (1 + read / tokens) / 2, 160, "never seen", SMALL, quiet=True)
    with canvas.step():
        canvas.text(260, 204, f"{whole:.0%} of the pages fit whole", bold=True)
    told = ", ".join(f"{name} {count}" for name, count in packages.items())
    return canvas.finish(
        f"A collection of {total:,} pages: {told}. On average a page has {words:,.0f} words, or {tokens:,.0f} tokens, "
        f"drawn as a bar. The encoder reads {read} tokens, the first part of the bar, and {whole:.0%} of the pages fit "
        "whole."
    )


def _in_two_lines(text, width):
    """The text in at most two lines of this width, in units of the drawing; what does not fit is left out, with a …."""
    lines, rest = [], text.split()
    while rest and len(lines) < 2:
        line = [rest.pop(0)]
        while rest and text_width(" ".join([*line, rest[0]]), SMALL) <= width:
            line.append(rest.pop(0))
        lines.append(" ".join(line))
    return "\n".join(lines) + " …" * bool(rest)


def query_and_pages(query, names, firsts, grades, found):
    """A query over a few pages, each with its first sentence, and how a person graded them: 2, 1 or 0.

    names: of the pages. firsts: the first sentence of each. found: what the grades show, in a sentence.
    """
    canvas = Canvas("12 query and pages", 58 + 40 * len(names))
    canvas.box(4, 2, 512, 28, query, "token", bold=True)
    rows = list(zip(range(36, 400, 39), names, firsts, grades))
    for y, name, first, _ in rows:
        canvas.box(4, y, 410, 35, kind="plain")
        canvas.label(10, y + 17.5, name, bold=True)
        canvas.label(138, y + 17.5, _in_two_lines(first, 270))
    with canvas.step():
        for y, _, _, grade in rows:
            meaning = f"{grade}: {GRADES[grade]}"
            kind = "sentence" if grade else "plain"
            canvas.box(420, y, 98, 35, meaning, kind, SMALL, bold=grade == 2, thick=grade == 2)
    with canvas.step():
        canvas.text(260, 48 + 40 * len(names), found, bold=True, kind="sentence")
    told = "; ".join(f"{name} ({first}): {grade}" for _, name, first, grade in rows)
    return canvas.finish(
        f"The query: {query}. Pages with their first sentence and the grade that a person gave: {told}. {found}."
    )


def word_shares(names, ranks, word, of_word, sums, found):
    """The score of each page as a bar, and in it the part that one word of the query adds.

    ranks: of the pages. word: of the query. of_word: what it adds to each page. sums: the scores. found: what the
    bars show, in a sentence.
    """
    canvas = Canvas("12 word shares", 34 + 42 * len(names))
    unit, left, rows = 320 / max(sums), 128, [34 + 42 * at for at in range(len(names))]
    for y, name, rank in zip(rows, names, ranks):
        canvas.label(2, y + 17, f"{name}\nrank {rank:,}")
    with canvas.step():
        for y, total in zip(rows, sums):
            canvas.box(left, y + 3, max(2, unit * total), 28, kind="padding", round_by=0)
            canvas.label(left + unit * total + 8, y + 17, f"{total:.2f}", bold=True)
    with canvas.step():
        canvas.text(260, 14, found, bold=True, kind="masked")
        for y, part in zip(rows, of_word):
            if part > 0.005:
                words = f"{word} {part:.2f}"
                inside = words if text_width(words, SMALL) < unit * part else f"{part:.2f}"
                canvas.box(left, y + 3, unit * part, 28, inside, "masked", SMALL, bold=True, round_by=0, thick=True)
    told = "; ".join(
        f"{name}, rank {rank:,}: {part:.2f} of {total:.2f}"
        for name, rank, part, total in zip(names, ranks, of_word, sums)
    )
    return canvas.finish(
        f"The scores of {len(names)} pages as bars, and in them what the word {word} adds. {told}. {found}."
    )


def kinds_of_query(kinds, examples, values, intervals, measure):
    """A few kinds of query, each with an example, and then how well a search answers them, as bars from 0 to 1.

    values: of each kind, with their intervals, (lowest, highest). measure: the name of what the bars show.
    """
    canvas, left, wide = Canvas("12 kinds of query", 52 + 50 * len(kinds)), 8, 440
    rows = [26 + 50 * at for at in range(len(kinds))]
    for y, kind, example in zip(rows, kinds, examples):
        canvas.label(left, y + 9, f"{kind}:", bold=True)
        canvas.label(left + text_width(kind, SMALL) * 1.12 + 14, y + 9, f"“{example}”")
    with canvas.step():
        for at, y in enumerate(rows):
            look = "sentence" if at == 0 else "masked" if at == len(rows) - 1 else "padding"
            canvas.box(left, y + 20, wide * values[at], 22, kind=look, round_by=0, thick=look != "padding")
            low, high = (left + wide * end for end in intervals[at])
            canvas.arrow((low, y + 31), (high, y + 31), tip=False, thick=True)
            canvas.label(max(high, left + wide * values[at]) + 6, y + 31, f"{values[at]:.2f}", bold=True)
        foot = rows[-1] + 60
        for end in (0, 1):
            canvas.text(left + wide * end, foot, end, SMALL, quiet=True)
        canvas.text(left + wide / 2, foot, measure, SMALL, quiet=True)
    with canvas.step():
        words = f"Best for {kinds[0]} ({values[0]:.2f}), worst for {kinds[-1]} ({values[-1]:.2f})"
        canvas.text(260, 10, words, bold=True)
    told = "; ".join(
        f"{kind} ({example}): {value:.2f} ({low:.2f} to {high:.2f})"
        for kind, example, value, (low, high) in zip(kinds, examples, values, intervals)
    )
    return canvas.finish(f"{measure} of {len(kinds)} kinds of query, each with an example, the best first: {told}.")


def through_rankings(names, grades, rankings, found):
    """A few pages as cards, in the order of two rankings; lines show where a card moves.

    grades: 2, 1 or 0 for each page. rankings: {name of the search: rank of each page}, from left to right. found: what
    the two show, in a sentence.
    """
    canvas, wide, high, top = Canvas("12 through rankings", 250), 192, 31, 24
    canvas.box(4, 207, 20, 14, kind="sentence", thick=True)
    canvas.label(30, 214, "answers")
    canvas.box(100, 207, 20, 14, kind="sentence")
    canvas.label(126, 214, "helps")
    canvas.box(178, 207, 20, 14)
    canvas.label(204, 214, "neither; the other pages are not drawn")
    before = None
    for middle, (search, ranks) in canvas.steps(zip((106, 414), rankings.items())):
        canvas.text(middle, 10, f"rank {search}", bold=True)
        order = sorted(range(len(names)), key=lambda at: ranks[at])
        places = {at: top + row * (high + 4) for row, at in enumerate(order)}
        for at in sorted(places, key=lambda at: grades[at]):
            y, good = places[at], grades[at] > 0
            if before:
                start = (106 + wide / 2, before[at] + high / 2)
                kind = "sentence" if good else "plain"
                canvas.arrow(start, (middle - wide / 2, y + high / 2), kind=kind, tip=False, thick=good)
            text = f"{names[at]}: {ranks[at]:,}"
            kind = "sentence" if good else "plain"
            canvas.box(middle - wide / 2, y, wide, high, text, kind, SMALL, bold=grades[at] == 2, thick=grades[at] == 2)
        before = places
    with canvas.step():
        canvas.text(260, 238, found, bold=True, kind="sentence")
    told = "; ".join(
        f"{search}: " + ", ".join(f"{name} {rank:,}" for rank, name in sorted(zip(ranks, names)))
        for search, ranks in rankings.items()
    )
    graded = ", ".join(f"{name} {grade}" for name, grade in zip(names, grades))
    return canvas.finish(
        f"Ranks of {len(names)} pages in {len(rankings)} rankings. {told}. Their grades: {graded}. {found}."
    )


def rank_by_rank(names, grades, rankings, first, found):
    """The ranks of a few pages in some rankings, one press for each: good pages are green among the `first` places.

    names, grades, rankings, found: as in `through_rankings`.
    """
    canvas, left = Canvas("12 rank by rank", 96 + 46 * len(names)), 140
    wide = (516 - left) / len(rankings)
    rows = [34 + 46 * at for at in range(len(names))]
    for y, name, grade in zip(rows, names, grades):
        canvas.label(2, y + 21, f"{name}\n{GRADES[grade]}", bold=grade == 2)
    for at, (search, ranks) in enumerate(canvas.steps(rankings.items())):
        x = left + at * wide
        canvas.text(x + wide / 2, 16, search, SMALL, bold=True)
        for y, rank, grade in zip(rows, ranks, grades):
            kind = "sentence" if grade and rank <= first else "padding" if rank > first else "plain"
            canvas.box(x + 3, y, wide - 6, 40, f"{rank:,}", kind, bold=grade > 0, thick=grade == 2 and rank <= first)
    foot = rows[-1] + 46
    legend = (("sentence", f"good, in the first {first}"), ("plain", f"neither, in the first {first}"),
              ("padding", "further down"))  # fmt: skip
    for x, (kind, meaning) in zip((4, 190, 390), legend):
        canvas.box(x, foot + 4, 20, 14, kind=kind)
        canvas.label(x + 26, foot + 11, meaning)
    with canvas.step():
        canvas.text(260, foot + 36, found, bold=True, kind="sentence")
    told = "; ".join(
        f"{name} ({GRADES[grade]}): " + ", ".join(f"{search} {ranks[at]:,}" for search, ranks in rankings.items())
        for at, (name, grade) in enumerate(zip(names, grades))
    )
    return canvas.finish(f"Ranks of {len(names)} pages in {len(rankings)} rankings. {told}. {found}.")


def text_in_windows(words, size, cosines):
    """A page of some words, cut into windows of `size`: each becomes a vector, and the best one speaks for the page.

    cosines: of the query with each window.
    """
    canvas = Canvas("12 text in windows", 230)
    best, left, right = max(range(len(cosines)), key=lambda at: cosines[at]), 12, 508
    unit = (right - left) / words
    canvas.label(left, 14, f"one page, {words} words", quiet=True)
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
        canvas.box(150, 194, 220, 30, f"score of the page: {cosines[best]:.2f}", "sentence")
    told = ", ".join(f"{cosine:.2f}" for cosine in cosines)
    return canvas.finish(
        f"A page of {words} words is cut into {len(cosines)} windows of {size} words or less. Each becomes a vector, "
        f"and their cosines with the query are {told}. The highest, {cosines[best]:.2f}, is the score of the page."
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


def gain_as_bars(found, graded):
    """What a list gains and what the best possible list gains, as bars in one scale; their quotient is nDCG.

    found, graded: as in `gain_of_a_list`.
    """
    canvas, left = Canvas("12 gain as bars", 240), 8
    lists = (("found", found, "token"), ("best possible", sorted(graded, reverse=True)[: len(found)], "sentence"))
    sums = [sum(grade / log2(1 + rank) for rank, grade in enumerate(one, start=1)) for _, one, _ in lists]
    unit = 504 / max(sums)
    for at, (name, one, kind) in enumerate(lists):
        y, x = 4 + 102 * at, left
        with nullcontext() if at == 0 else canvas.step():
            canvas.label(left, y + 14, name, bold=True)
            for rank, grade in enumerate(one, start=1):
                canvas.box(74 + 60 * rank, y, 52, 28, grade, kind if grade else "plain", bold=grade > 0)
        with canvas.step():
            for rank, grade in enumerate(one, start=1):
                if grade:
                    gain = grade / log2(1 + rank)
                    canvas.box(x, y + 38, unit * gain, 30, f"{gain:.2f}", kind, SMALL, round_by=0)
                    x += unit * gain
            canvas.text(512, y + 14, f"sum {sums[at]:.2f}", SMALL, "end", bold=True)
            if at == 0:
                words = f"a 2 at rank 1 counts 2.00, at rank 2 only {2 / log2(3):.2f}"
                canvas.label(left, y + 84, words, quiet=True)
    with canvas.step():
        words = f"nDCG: {sums[0]:.2f} of {sums[1]:.2f} is {sums[0] / sums[1]:.2f}"
        canvas.text(260, 222, words, 20, bold=True, kind="sentence")
    return canvas.finish(
        f"Two lists of grades as bars in one scale. Found: {', '.join(map(str, found))}, sum {sums[0]:.2f}. Best "
        f"possible: {', '.join(map(str, lists[1][1]))}, sum {sums[1]:.2f}. nDCG is {sums[0] / sums[1]:.2f}."
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
