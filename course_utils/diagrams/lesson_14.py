"""The diagram of lesson 14: what a number may decide."""

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
