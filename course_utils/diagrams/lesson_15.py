"""The diagram of lesson 15: masks."""

from collections.abc import Mapping, Sequence

from .canvas import SMALL, WIDTH, Canvas, Diagram


def masks(panels: Mapping[str, tuple[Sequence[Sequence[bool]], str]]) -> Diagram:
    """Who may look at whom, a square for each mask.

    panels: {name: (rows of true and false, words below)}, at least one. Each mask is as wide as
    high. Row i says at which tokens token i may look; these cells are filled.
    """
    # the width of a panel, how much of it stays free beside its square, and the top of all squares
    room, free, top = 480 / len(panels), 22, 32
    canvas = Canvas("15 masks", 228)
    for panel, (name, (rows, below)) in canvas.steps(enumerate(panels.items())):
        cell = min(18, (room - free) / len(rows))  # at 18, the words fit below a mask of 8 rows
        wide = cell * len(rows)
        left = 32 + panel * room + (room - free - wide) / 2
        canvas.text(left + wide / 2, 14, name, bold=True)
        for row, seen_by_row in enumerate(rows):
            for column, seen in enumerate(seen_by_row):
                kind, shade = ("head", 0.6) if seen else ("padding", 0)
                x, y = left + column * cell, top + row * cell
                canvas.box(x, y, cell - 2, cell - 2, kind=kind, round_by=2, shade=shade)
        canvas.text(left + wide / 2, top + wide + 20, below, SMALL)
        if panel == 0:  # a panel appears with a key press, and these words with the first
            canvas.text(
                WIDTH / 2,
                216,
                "a row: who looks; a column: what is looked at; filled: may look",
                SMALL,
                quiet=True,
            )
    filled = " ".join(
        f"{name}: {below}, {sum(map(sum, rows))} of {len(rows) ** 2} squares filled."
        for name, (rows, below) in panels.items()
    )
    return canvas.finish(f"Masks as squares, a row for each token that looks. {filled}")
