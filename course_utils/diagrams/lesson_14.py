"""The diagrams of lesson 14: what a number may decide, and how a rank becomes one."""

from .canvas import SMALL, Canvas


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


def reciprocal_ranks(found, wanted):
    """Lists of places, the best first, with the wanted place marked, and what each list counts."""
    longest = max(map(len, found))
    canvas = Canvas("14 reciprocal ranks", 50 * len(found) + 92)
    for rank in range(longest):
        canvas.text(128 + 56 * rank, 16, rank + 1, SMALL, mono=True, quiet=True)
    canvas.label(8, 16, "rank", quiet=True)
    values = []
    for row, (places, want) in enumerate(zip(found, wanted)):
        y = 34 + 50 * row
        canvas.label(8, y + 15, f"wanted: {want}")
        for rank, place in enumerate(places):
            kind = "sentence" if place == want else "plain"
            canvas.box(104 + 56 * rank, y, 48, 30, place, kind, mono=True, thick=place == want)
        values.append(1 / (places.index(want) + 1) if want in places else 0)
        written = f"1/{places.index(want) + 1}" if want in places else "0"
        with canvas.step():
            canvas.arrow((108 + 56 * longest, y + 15), (140 + 56 * longest, y + 15))
            canvas.text(150 + 56 * longest, y + 15, written, anchor="start", mono=True, kind="sentence")
    with canvas.step():
        y = 34 + 50 * len(found)
        mean = sum(values) / len(values)
        canvas.text(140 + 56 * longest, y + 22, f"mean: {mean:.2f}", bold=True, kind="sentence")
    return canvas.finish(
        f"{len(found)} lists of places, the best first. The wanted place is marked where it is in the list, and the "
        f"list counts 1 divided by its rank, or 0: {', '.join(f'{value:.2f}' for value in values)}. The mean is "
        f"{mean:.2f}."
    )
