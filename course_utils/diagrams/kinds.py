"""The kinds of diagrams: a lesson's cell gives the data, and one of these draws them.

`table` has cells below each other, `lines` have pieces that run on, `flow` has boxes joined by
arrows, `bars` have parts as long as they are large. Each takes a sentence that says what the
picture shows; the alternative text is that sentence and all that is written in the picture.

A cell is a text, or (text, look), or (text, look, how many columns it takes); None leaves a place
empty. A text alone is a token. A look is a kind of `look.KINDS`, and words that say more, such as
"token", "loss bare" or "layer thick dashed":

- bare: the text without a box; without a kind, it is grey
- thick: look here; bold, with a thick line
- dashed: a dashed line
- cells: a vector, as a small stack of cells
- line, back (of arrows): an arrow without its tip, an arrow that leads the other way
- a number: with which key press on a slide it appears, 0 is from the beginning. If no cell has one,
  the rows appear one by one; the first row of a table or flow is there from the beginning.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .canvas import MIDDLE, SMALL, TEXT, WIDTH, Canvas, Diagram, Place
from .look import KIND_OF_TOKEN, KINDS, in_lines, text_width

Cell = str | tuple[object, str] | tuple[object, str, int] | None
WORDS = ("bare", "thick", "dashed", "cells", "line", "back")  # of a look, beside its kind
EDGE = 4  # what stays free at the left and at the right
ROOM = WIDTH - 2 * EDGE
LINE = 17  # the height of a line of text: SMALL times look.LINE_SPACING, rounded up
PADDING = 12  # of a box: what its text leaves free, across and up
CONCLUSION = 22  # the height of a line of the conclusion below a drawing
BOLD = 1.08  # about how much wider bold type is
VECTOR_WIDTH, VECTOR_HEIGHT = 28, 36  # of a cell that is drawn as a stack of cells
ROW_GAP, BAR_GAP = 6, 12  # between two rows of a `table`, and between two `bars`
# by how much a column may become wider than it needs to be
GROWTH_IN_TABLE, GROWTH_IN_FLOW = 60, 44
PIECE, NEXT_LINE = 25, 30  # in `lines`: the height of a piece, and from one line to the next
PIECE_GAP = 2  # between two pieces
TIGHT = 7  # by how much less than other pieces the tokens leave free
ARROW_DOWN, NO_ARROW = 24, 8  # in a `flow`: the height of an arrow down, of a row without arrows


class Item(NamedTuple):
    """A cell that has been read: its text, its kind, the words of its look, and its columns."""

    text: str
    kind: str
    words: frozenset[str]
    span: int = 1

    @property
    def press(self) -> int:
        """With which key press it appears; 0, also without a number, is from the beginning."""
        return next((int(word) for word in self.words if word.isdigit()), 0)

    @property
    def mono(self) -> bool:
        """Tokens are written in a type of equal widths, sentences are not."""
        return self.kind in ("token", *KIND_OF_TOKEN.values()) and " " not in self.text

    @property
    def width(self) -> float:
        """How wide the text is, in units, with what a box leaves free around it."""
        widest = max(text_width(line, SMALL, self.mono) for line in self.text.split("\n"))
        return widest * (BOLD if "thick" in self.words else 1) + PADDING

    def height(self, width: float) -> float:
        """How high it is when it is drawn in this width."""
        if "cells" in self.words:
            return VECTOR_HEIGHT
        around = 4 if "bare" in self.words else PADDING  # a text without a box needs less
        return LINE * (1 + self.text_within(width).count("\n")) + around

    def text_within(self, width: float) -> str:
        """The text in lines that fit this width; lines of its own stay lines.

        A word that is wider stays whole, and so does a token.
        """
        if self.width < width + 0.1 or self.mono:  # 0.1: widths are sums of rounded numbers
            return self.text
        within = (width - PADDING) / BOLD  # as if it were bold
        return "\n".join(in_lines(line, within) for line in self.text.split("\n"))

    def draw(
        self, canvas: Canvas, x: float, y: float, width: float, height: float, at_left: bool = False
    ) -> None:
        """Draw it into the place with this upper left corner and this size.

        at_left: a bare text begins at the left instead of standing in the middle.
        """
        bold = "thick" in self.words
        if "cells" in self.words:
            wide = min(width, VECTOR_WIDTH)
            canvas.vector(x + (width - wide) / 2, y, kind=self.kind, width=wide, height=height)
        elif "bare" in self.words:
            kind = None if self.kind == "plain" else self.kind
            quiet = kind is None and not bold
            look = {"mono": self.mono, "kind": kind, "bold": bold, "quiet": quiet}
            place, anchor = (x, "start") if at_left else (x + width / 2, "middle")
            canvas.text(place, y + height / 2, self.text_within(width), SMALL, anchor, **look)
        else:
            dashed = "dashed" in self.words or self.kind == "padding"
            look = {"mono": self.mono, "bold": bold, "thick": bold, "dashed": dashed}
            canvas.box(x, y, width, height, self.text_within(width), self.kind, SMALL, **look)


def read(cell: Cell) -> Item | None:
    """The item of a cell, None of an empty place. A text alone is a token, special ones look
    different.

    Raises ValueError for a look with an unknown word.
    """
    if cell is None:
        return None
    if not isinstance(cell, tuple):
        return Item(cell, KIND_OF_TOKEN.get(cell, "token"), frozenset())
    text, look, *span = cell
    words = look.split()
    for word in words:
        if not (word in KINDS or word in WORDS or word.isdigit()):
            raise ValueError(
                f"There is no look {word!r}. A look has words of {', '.join([*KINDS, *WORDS])}, or "
                "a number."
            )
    kind = next((word for word in words if word in KINDS), "plain")
    return Item(str(text), kind, frozenset(words), *span)


Grid = list[list[Item | None]]  # an item stands in the first of its columns


def _grid(rows: Iterable[Sequence[Cell]]) -> Grid:
    """The cells as items; the further columns that one takes hold None."""
    grid = []
    for row in rows:
        items: list[Item | None] = []
        for item in map(read, row):
            items.append(item)
            items += [None] * (item.span - 1 if item else 0)
        grid.append(items)
    return grid


def _items(row: Sequence[Item | None]) -> list[tuple[int, Item]]:
    """The items of a row, each with its column."""
    return [(column, item) for column, item in enumerate(row) if item]


def _has_presses(grid: Grid) -> bool:
    """Whether the cells say with which key press they appear."""
    return any(word.isdigit() for row in grid for _, item in _items(row) for word in item.words)


def _column_edges(widths: list[float], most: float, growing: Sequence[int]) -> list[float]:
    """Where the columns begin, and where the last one ends: they fill the room, in the middle.

    If they need more than the room, the widest shrink; if less, those of `growing` grow, each by
    at most `most`. growing: numbers of columns. Returns one edge more than there are columns.
    """
    cap = max(widths)  # what no column may be wider than, lowered until all fit
    while sum(min(width, cap) for width in widths) > ROOM:
        cap -= 1
    widths = [min(width, cap) for width in widths]
    more = (ROOM - sum(widths)) / len(growing) if growing else 0
    for column in growing:
        widths[column] += min(most, more)
    left = (WIDTH - sum(widths)) / 2
    return list(itertools.accumulate(widths, initial=left))


def _canvas(alt: str, height: float, conclusion: str) -> Canvas:
    """A canvas with room for the conclusion, which `_finish` draws below all else in its own step.

    height: of all else.
    """
    # errors name a canvas: the beginning of its sentence is enough
    return Canvas(alt[:40], height + CONCLUSION * len(_conclusion_lines(conclusion)) + 6)


def _conclusion_lines(conclusion: str) -> list[str]:
    # in_lines measures type that is not bold
    return in_lines(conclusion, ROOM / BOLD, TEXT).split("\n") if conclusion else []


def _finish(canvas: Canvas, alt: str, rows: Iterable[str], conclusion: str) -> Diagram:
    """Draw the conclusion; the alternative text is `alt` and all that is written, row by row."""
    conclusion_lines = _conclusion_lines(conclusion)
    if conclusion_lines:
        middle_y = canvas.height - CONCLUSION * len(conclusion_lines) / 2 - 4
        with canvas.step():
            canvas.text(MIDDLE, middle_y, "\n".join(conclusion_lines), bold=True)
    written = "; ".join(text for text in (*rows, conclusion) if text)
    return canvas.finish(f"{alt} {written}.")


def _row_text(items: Iterable[Item | None]) -> str:
    """What is written in a row, in one line."""
    return ", ".join(item.text.replace("\n", " ") for item in items if item and item.text)


def table(
    rows: Sequence[Sequence[Cell]], alt: str, conclusion: str = "", gap: float = 5
) -> Diagram:
    """Cells below each other: tokens with their ids, results with their ranks, a report.

    rows: of cells. alt: a sentence that says what the table shows. conclusion: a line below it.
    gap: between two columns.
    """
    grid = _grid(rows)
    # a cell that takes several columns makes none of them wider
    widths = [0.0] * max(map(len, grid))
    growing = set()  # the columns that have a box
    for row in grid:
        for column, item in _items(row):
            if item.span == 1:
                widths[column] = max(widths[column], item.width + gap)
                if "bare" not in item.words:
                    growing.add(column)
    edges = _column_edges(widths, GROWTH_IN_TABLE, sorted(growing))

    def width(column: int, item: Item) -> float:
        return edges[column + item.span] - edges[column] - gap

    heights = [
        max((item.height(width(column, item)) for column, item in _items(row)), default=0)
        for row in grid
    ]
    canvas = _canvas(alt, EDGE + sum(heights) + ROW_GAP * len(heights), conclusion)
    has_presses = _has_presses(grid)
    y = float(EDGE)
    for number, (row, height) in enumerate(zip(grid, heights)):
        for column, item in _items(row):
            with canvas.step(item.press if has_presses else number):
                is_name = column == 0 and item.span == 1
                item.draw(canvas, edges[column], y, width(column, item), height, is_name)
        y += height + ROW_GAP
    return _finish(canvas, alt, map(_row_text, grid), conclusion)


def lines(rows: Mapping[str, Sequence[Cell]], alt: str, conclusion: str = "") -> Diagram:
    """Pieces that run on into further lines, with a name at the left: a text as it was split.

    rows: {name: pieces}; the first line of a name is bold. alt: a sentence that says what the rows
    show. conclusion: a line below them.
    """
    left = _end_of_names(rows)
    placed_rows = []  # (name, its top, [(piece, x, y, width)])
    y = float(EDGE)
    for name, cells in rows.items():
        pieces, last_top = _pieces_in_lines(filter(None, map(read, cells)), left, y)
        placed_rows.append((name, y, pieces))
        # 9 below the pieces, or 13 below the name, whichever is lower
        y = max(last_top + PIECE, y + LINE * (1 + name.count("\n")) + 4) + 9
    canvas = _canvas(alt, y, conclusion)
    has_presses = _has_presses(_grid(rows.values()))
    for number, (name, top, pieces) in enumerate(placed_rows, start=1):
        with canvas.step(0 if has_presses else number):
            _draw_name(canvas, top + PIECE // 2, name)
        for piece, piece_x, piece_y, wide in pieces:
            with canvas.step(piece.press if has_presses else number):
                piece.draw(canvas, piece_x, piece_y, wide, PIECE)
    words = [
        _named_row_text(name, [piece.text for piece, *_ in pieces], " ")
        for name, _, pieces in placed_rows
    ]
    return _finish(canvas, alt, words, conclusion)


def _pieces_in_lines(
    pieces: Iterable[Item], left: float, top: float
) -> tuple[list[tuple[Item, float, float, float]], float]:
    """[(piece, x, y, width)] of a text in as many lines as it needs, and the top of its last.

    left, top: of the first piece. A piece that is wider than a line cannot be drawn.
    """
    x, y = left, top
    placed = []
    for piece in pieces:
        wide = piece.width - (TIGHT if piece.mono else 0)
        if x + wide > WIDTH - 1:  # a line of 1.6 units around the piece stays visible
            x, y = left, y + NEXT_LINE
        placed.append((piece, x, y, wide))
        x += wide + PIECE_GAP
    return placed, y


def _end_of_names(names: Iterable[str]) -> float:
    """The x where the names at the left end, and what they name begins."""
    return EDGE + max(Item(name, "plain", frozenset({"thick"})).width for name in names)


def _named_row_text(name: str, texts: Iterable[str], between: str) -> str:
    """What is written in a row that has a name at the left, in one line.

    between: what separates its texts.
    """
    joined = between.join(text for text in texts if text)
    return ": ".join(filter(None, [name.replace("\n", ", "), joined]))


def _draw_name(canvas: Canvas, y: float, name: str) -> None:
    """A name at the left, whose first line is around the height y and bold."""
    first, *others = name.split("\n")
    canvas.label(EDGE, y, first, bold=True)
    for number, line in enumerate(others, start=1):
        canvas.label(EDGE, y + LINE * number, line, quiet=True)


def flow(rows: Sequence[Sequence[Cell]], alt: str, conclusion: str = "") -> Diagram:
    """Boxes joined by arrows, across and down: the way of a text, a chain of modules.

    rows: a row of boxes, a row of arrows down, a row of boxes, and so on. In a row of boxes, what
    stands between two boxes is the arrow between them. An arrow is its text, which may be "", or
    (text, look); None is no arrow. So [a, "mean", b] is a box, an arrow, and a box, and [] between
    two rows only keeps them apart. A single row appears box by box.
    alt: a sentence that says what the boxes show. conclusion: a line below them.
    """
    grid = _grid(rows)  # with arrows in the rows and columns of odd numbers
    widths = [12.0] * max(map(len, grid))  # at least; a column may have neither box nor arrow
    for row in grid[::2]:
        for column, item in _items(row):
            if item.span == 1:
                # an arrow across has room for its tip, and for the text over it
                least = max(item.width + 8, 30) if column % 2 else item.width
                widths[column] = max(widths[column], least)
    edges = _column_edges(widths, GROWTH_IN_FLOW, range(len(widths)))
    heights = [_height_in_flow(row, number, edges) for number, row in enumerate(grid)]
    y = EDGE + 10.0  # room for the text over an arrow
    canvas = _canvas(alt, sum(heights) + y + EDGE, conclusion)
    has_presses = _has_presses(grid)
    for number, (row, height) in enumerate(zip(grid, heights)):
        for column, item in _items(row):
            left, right = edges[column], edges[column + item.span]
            middle = y + height / 2
            place = column if len(grid) == 1 else number  # a single row appears box by box
            step = (place + 1) // 2  # an arrow comes with the box that it leads to
            with canvas.step(item.press if has_presses else step):
                if number % 2:  # an arrow down
                    x = (left + right) / 2
                    _draw_arrow(canvas, item, (x, y + 1), (x, y + height - 1))
                elif column % 2:  # an arrow across
                    _draw_arrow(canvas, item, (left + 2, middle), (right - 2, middle))
                else:
                    item.draw(canvas, left, y, right - left, height)
        y += height
    return _finish(canvas, alt, map(_row_text, grid), conclusion)


def _height_in_flow(row: Sequence[Item | None], number: int, edges: Sequence[float]) -> float:
    """How high a row of boxes or, if its number is odd, of arrows down is.

    edges: of the columns, from `_column_edges`. A row of boxes must have one.
    """
    items = _items(row)
    if number % 2:
        texts = [item.text.count("\n") for _, item in items]
        return ARROW_DOWN + LINE * max(texts) if texts else NO_ARROW
    boxes = [(column, item) for column, item in items if column % 2 == 0]
    return 4 + max(item.height(edges[column + item.span] - edges[column]) for column, item in boxes)


def _draw_arrow(canvas: Canvas, item: Item, start: Place, end: Place) -> None:
    if "back" in item.words:
        start, end = end, start
    kind = "plain" if item.kind == "token" else item.kind
    look = {"thick": "thick" in item.words, "dashed": "dashed" in item.words}
    canvas.arrow(start, end, item.text, kind, tip="line" not in item.words, **look)


# length in any unit, text, look as in a cell; with None for a look, it is a gap
Part = tuple[float, object, str | None]


def bars(rows: Mapping[str, Sequence[Part]], alt: str, conclusion: str = "") -> Diagram:
    """Bars cut into parts that are as long as they are large: the parts of data, windows of a text.

    rows: {name: parts}; the first line of a name is bold. Each row is a step. A text that is wider
    than its part stands behind it, so only the last part of a bar may have one.
    alt: a sentence that says what the bars show. conclusion: a line below them.
    """
    left = _end_of_names(rows)
    longest = max(sum(length for length, _, _ in parts) for parts in rows.values())
    room = WIDTH - left - EDGE
    # how wide a part of length 1 is
    unit = (room - _behind_the_longest(rows, room, longest)) / longest
    # of a bar: for its name, with 6 units to spare
    high = max(34, 6 + LINE * max(1 + name.count("\n") for name in rows))
    canvas = _canvas(alt, (high + BAR_GAP) * len(rows) + EDGE, conclusion)
    y = float(EDGE)
    for name, parts in canvas.steps(rows.items()):
        _draw_name(canvas, y + high / 2 - LINE * name.count("\n") / 2, name)
        x = left
        for length, text, look in parts:
            wide = length * unit
            part = read((text, look)) if look else None
            # a text needs 3 units on either side; behind its part, it begins 6 units after it
            if part and text_width(part.text, SMALL) + 6 <= wide:
                part.draw(canvas, x, y, wide, high)
            elif part:
                part._replace(text="").draw(canvas, x, y, wide, high)
                canvas.label(x + wide + 6, y + high / 2, part.text)
            x += wide
        y += high + BAR_GAP
    words = [
        _named_row_text(name, [str(text) for _, text, look in row if look], ", ")
        for name, row in rows.items()
    ]
    return _finish(canvas, alt, words, conclusion)


def _behind_the_longest(rows: Mapping[str, Sequence[Part]], room: float, longest: float) -> float:
    """What must stay free behind the longest bar, for texts wider than the last part of a bar.

    room: the width for the longest bar with the texts behind it. longest: the length of that bar.
    """
    behind = 0.0
    for parts in rows.values():
        length, text, _ = parts[-1]
        wide = text_width(str(text), SMALL) + 10  # 6 before the text, 4 behind it
        if text and wide > room * length / longest:
            # behind a shorter bar, there is room already
            free = room * (1 - sum(part_length for part_length, _, _ in parts) / longest)
            behind = max(behind, wide - free)
    return behind
