"""How a diagram is drawn: tokens, vectors, arrows and boxes on a canvas, in the steps of a slide.

A diagram is an SVG drawing that stands in the page itself, so its text is text. `look.py` says what
each kind of thing looks like.

A drawing is 520 units wide. On a phone (390 px), its text of 16 units is 11 px high; on a slide it
is 30.
"""

import html
import itertools
import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from .look import (
    DARKEST,
    KIND_OF_TOKEN,
    KINDS,
    LINE_SPACING,
    SMALL,
    TEXT,
    in_lines as in_lines,  # other modules take it from here
    stylesheet,
    text_width,
)

WIDTH = 520
MIDDLE = WIDTH / 2
TIP_LENGTH, TIP_WIDTH = 9, 9  # of an arrow
SLACK = 4  # by how much a text may seem too wide, since its width is only estimated
FROM_ARROW = {"across": 12, "up": 8}  # how far a text stands from an arrow that runs like this

Place = Sequence[float]  # (x, y)
Box = tuple[float, float, float, float]  # left, top, right, bottom
Thing = TypeVar("Thing")


class Diagram:
    """A finished diagram. Jupyter displays it as HTML with the drawing inside, others as text.

    The text is the alternative text followed by what the drawing says, in the order drawn:
    comparing outputs compares diagrams.
    """

    def __init__(self, svg: str, alt: str, texts: list[str]):
        self.svg = svg
        self.alt = alt
        self.texts = texts

    def _repr_html_(self) -> str:
        return f'<figure class="cu-diagram" style="margin:0">{self.svg}</figure>'

    def __repr__(self) -> str:
        return "\n".join([f"Diagram. {self.alt}", *self.texts])


class Canvas:
    """A drawing under way. Places are (x, y) in units, y downwards.

    A box is given by its upper left corner.
    name: the lesson and the diagram, such as "05 one head"; errors name it.
    height: in units. At most 260 lets a slide show the drawing at its full width. gap: between the
    tip of an arrow and the box that it leads to, in `box_from`.

    The methods that draw raise ValueError for a place outside the drawing, for a text that is wider
    than its box or the drawing, and for a kind that `look.KINDS` does not have.
    """

    def __init__(self, name: str, height: float, gap: float = 0):
        import drawsvg

        self._svg = drawsvg
        self.name = name
        self.height = height
        self.gap = gap
        self._drawing = drawsvg.Group()
        self._into = self._drawing  # or the group of the step that is being drawn
        self._last_step = 0
        self.texts: list[str] = []

    def _refuse(self, why: str) -> NoReturn:
        raise ValueError(f"The diagram {self.name!r} cannot be drawn: {why}.")

    def _check_inside(self, *places: Place) -> None:
        for x, y in places:
            if not (0 <= x <= WIDTH and 0 <= y <= self.height):
                self._refuse(f"({x:g}, {y:g}) is outside {WIDTH} x {self.height}")

    def _checked_kind(self, kind: str) -> str:
        if kind not in KINDS:
            self._refuse(f"there is no kind {kind!r} (the kinds are {', '.join(KINDS)})")
        return kind

    def _add(
        self,
        shape: str,
        *arguments: Any,
        classes: str,
        dashed: bool = False,
        thick: bool = False,
        **attributes: Any,
    ) -> None:
        # a string times False is empty
        classes = classes.strip() + " dashed" * dashed + " thick" * thick
        rounded = [round(value, 1) if isinstance(value, float) else value for value in arguments]
        self._into.append(getattr(self._svg, shape)(*rounded, class_=classes, **attributes))

    def _rectangle(
        self, x: float, y: float, width: float, height: float, classes: str, **attributes: Any
    ) -> None:
        self._check_inside((x, y), (x + width, y + height))
        self._add("Rectangle", x, y, float(width), float(height), classes=classes, **attributes)

    @contextmanager
    def step(self, number: int | None = None) -> Generator[None]:
        """A step of a slide: all that is drawn inside appears together, one key press later.

        number: of the step, which other calls with this number may share; 0 is there from the
        beginning. Without it, it is the step after the last one.
        """
        if number == 0:
            yield
            return
        number = number or self._last_step + 1
        self._last_step = max(self._last_step, number)
        outer = self._into
        self._into = self._svg.Group(class_="cu-step", data_step=number)
        yield
        outer.append(self._into)
        self._into = outer

    def steps(self, things: Iterable[Thing]) -> Iterator[Thing]:
        """Each of the things in turn, for a loop in which each is drawn in a step of its own."""
        for thing in things:
            with self.step():
                yield thing

    def text(
        self,
        x: float,
        y: float,
        text: object,
        size: float = TEXT,
        anchor: str = "middle",
        *,
        kind: str | None = None,
        mono: bool = False,
        bold: bool = False,
        quiet: bool = False,
    ) -> None:
        """A line of text, or several separated by line ends, around the middle height `y`.

        size: of the type, in units. anchor: whether x is the "start", "middle" or "end" of the
        text. kind: the colour, of `look.KINDS`. mono: in letters of equal widths, for tokens and
        code. quiet: in grey, for remarks.
        """
        # the classes of the stylesheet; text without an anchor is around the middle
        flags = {"mono": mono, "bold": bold, "quiet": quiet, anchor: anchor != "middle"}
        classes = " ".join(name for name, wanted in flags.items() if wanted)
        if kind:
            classes += f" {self._checked_kind(kind)}-text"
        lines = str(text).split("\n")
        for number, line in enumerate(lines):
            width = text_width(line, size, mono)
            left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
            if left < -SLACK or left + width > WIDTH + SLACK:
                self._refuse(f"{line!r} is too wide there")
            line_y = y + (number - (len(lines) - 1) / 2) * size * LINE_SPACING
            self._check_inside((x, line_y))
            self._add("Text", line, size, float(x), float(line_y), classes=classes)
        if any(lines):
            self.texts.append(" ".join(lines))

    def label(self, x: float, y: float, text: object, **look: Any) -> None:
        """A small text that starts at x. look: further arguments of `text`, such as kind."""
        self.text(x, y, text, SMALL, "start", **look)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        text: object = "",
        kind: str = "plain",
        size: float = TEXT,
        *,
        mono: bool = False,
        bold: bool = False,
        dashed: bool = False,
        thick: bool = False,
        round_by: float = 5,
        shade: float = 0,
    ) -> Box:
        """A box with its text in the middle. Returns its (left, top, right, bottom).

        text: one line or several. round_by: the radius of the corners. shade: from 0 to 1, drawn as
        darkness; a number beyond counts as the nearer of these.
        """
        area = (float(x), float(y), width, height)
        self._rectangle(*area, self._checked_kind(kind), dashed=dashed, thick=thick, rx=round_by)
        if shade:
            darkness = round(DARKEST * min(1.0, max(0.0, float(shade))), 2)
            self._rectangle(*area, f"{kind}-tip", rx=round_by, fill_opacity=darkness)
        if str(text):
            for line in str(text).split("\n"):
                if text_width(line, size, mono) > width:
                    self._refuse(f"{line!r} is wider than its box of {width:g}")
            self.text(x + width / 2, y + height / 2, text, size, mono=mono, bold=bold)
        return x, y, x + width, y + height

    def box_from(
        self,
        start: Place,
        x: float,
        y: float,
        width: float,
        height: float,
        *text: Any,
        over: str = "",
        **look: Any,
    ) -> Box:
        """A `box` with an arrow to its nearest place from `start`. Returns what `box` returns.

        text, look: further arguments of `box`: its text, kind and size by position, others by name.
        over: a text over the arrow.
        """
        nearest = (
            min(max(start[0], x - self.gap), x + width + self.gap),
            min(max(start[1], y - self.gap), y + height + self.gap),
        )
        self.arrow(start, nearest, over)
        return self.box(x, y, width, height, *text, **look)

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        kind: str = "plain",
        look: str = "filled",
        *,
        dashed: bool = False,
        thick: bool = False,
    ) -> None:
        """A circle around (x, y): "filled", a "ring", or a "dot" in the colour of a line."""
        self._check_inside((x - radius, y - radius), (x + radius, y + radius))
        classes = self._checked_kind(kind) + {"filled": "", "ring": "-line", "dot": "-tip"}[look]
        self._add(
            "Circle", float(x), float(y), float(radius), classes=classes, dashed=dashed, thick=thick
        )

    def tokens(
        self,
        x: float,
        y: float,
        tokens: Sequence[object],
        kinds: Sequence[str] | None = None,
        *,
        width: float | None = None,
        height: float = 28,
        gap: float = 6,
    ) -> list[Box]:
        """A row of tokens. Special ones, [MASK] and [PAD] look different. Returns their boxes.

        kinds: one for each. width: of each token; without it, each is as wide as its text.
        """
        if kinds is None:
            kinds = [KIND_OF_TOKEN.get(str(token), "token") for token in tokens]
        boxes = []
        for token, kind in zip(tokens, kinds, strict=True):
            # 6 units are free on either side of the text
            wide = width or text_width(str(token), SMALL, True) + 12
            boxes.append(
                self.box(
                    x, y, wide, height, token, kind, SMALL, mono=True, dashed=kind == "padding"
                )
            )
            x += wide + gap
        return boxes

    def vector(
        self,
        x: float,
        y: float,
        cells: int = 4,
        kind: str = "vector",
        width: float = 28,
        height: float = 40,
        *,
        values: Sequence[float] | None = None,
        across: bool = False,
        marked: dict[int, str] | None = None,
    ) -> Box:
        """A vector as a small stack of cells, or a row of them (`across`). Returns its box.

        width, height: of the whole vector. values: numbers from 0 to 1, one for each cell, drawn as
        darkness; a number beyond counts as the nearer of these. marked: {cell: kind} of those that
        are of another kind.
        """
        for number in range(cells):
            if across:
                cell = (x + number * width / cells, y, width / cells, height)
            else:
                cell = (x, y + number * height / cells, width, height / cells)
            cell_kind = (marked or {}).get(number, kind)
            self._rectangle(*cell, self._checked_kind(cell_kind))
            if values is not None:
                opacity = round(min(1.0, max(0.0, float(values[number]))), 2)
                self._rectangle(*cell, f"{cell_kind}-tip", fill_opacity=opacity)
        return x, y, x + width, y + height

    def cells(self, x: float, y: float, size: float, number: int, filled: Sequence[int]) -> None:
        """A small square matrix of `number` rows: in row i, cell filled[i] is filled."""
        self._rectangle(float(x), float(y), size, size, "head-line")
        side = size / number
        # a path for each filled cell: to its upper left corner, then right, down, left and back
        squares = [
            f"M{x + side * column:.1f},{y + side * row:.1f} h{side:.1f} v{side:.1f} h-{side:.1f} z"
            for row, column in enumerate(filled)
        ]
        self._add("Path", " ".join(squares), classes="head-tip")

    def arrow(
        self,
        start: Place,
        end: Place,
        text: str = "",
        kind: str = "plain",
        *,
        bend: float = 0,
        dashed: bool = False,
        thick: bool = False,
        tip: bool = True,
        side: int = 1,
    ) -> None:
        """An arrow from one place to another, with a text beside its middle, such as a shape.

        bend: how far its middle lies beside the straight line; to the right, seen in its direction,
        if positive. tip=False draws a line. side: where the text stands: 1 is above the arrow, or
        to its right if it runs more up or down than across; -1 is the other side.
        """
        self._check_inside(start, end)
        (x0, y0), (x1, y1) = start, end
        length = math.dist(start, end) or 1  # 1: do not divide by 0
        across = (-(y1 - y0) / length, (x1 - x0) / length)
        middle = ((x0 + x1) / 2 + bend * across[0], (y0 + y1) / 2 + bend * across[1])
        # the curve goes half of the way to this place, so its middle is `bend` beside the line
        control = (middle[0] + bend * across[0], middle[1] + bend * across[1])
        last_part = math.dist(control, end) or 1
        ahead = ((x1 - control[0]) / last_part, (y1 - control[1]) / last_part)
        # the line goes on for 2 units below the tip, so that no gap shows
        hidden = TIP_LENGTH - 2 if tip else 0
        stop = (x1 - hidden * ahead[0], y1 - hidden * ahead[1])
        self._add(
            "Path",
            f"M{x0:.1f},{y0:.1f} Q{control[0]:.1f},{control[1]:.1f} {stop[0]:.1f},{stop[1]:.1f}",
            classes=f"{self._checked_kind(kind)}-line",
            dashed=dashed,
            thick=thick,
        )
        if tip:
            self._tip(end, ahead, kind)
        if text:
            runs = "up" if abs(x1 - x0) < abs(y1 - y0) else "across"
            self._beside(*middle, runs, text, side)

    def _beside(self, x: float, y: float, runs: str, text: str, side: int) -> None:
        """A text beside the middle (x, y) of an arrow that runs "across" or "up"."""
        distance = FROM_ARROW[runs] * side
        if runs == "across":
            self.text(x, y - distance, text, SMALL, quiet=True)
        else:
            anchor = "start" if side > 0 else "end"
            self.text(x + distance, y, text, SMALL, anchor, quiet=True)

    def _tip(self, end: Place, ahead: Place, kind: str) -> None:
        """The triangle at the end of an arrow. ahead: its direction there, of length 1."""
        x, y = end[0] - TIP_LENGTH * ahead[0], end[1] - TIP_LENGTH * ahead[1]
        shape = f"M{end[0]:.1f},{end[1]:.1f}"
        # from the middle of its base, at a right angle to the direction, to both of its corners
        for half in (TIP_WIDTH / 2, -TIP_WIDTH / 2):
            shape += f" L{x + half * ahead[1]:.1f},{y - half * ahead[0]:.1f}"
        self._add("Path", f"{shape} Z", classes=f"{kind}-tip")

    def path(self, *points: Place, text: str = "", tip: bool = True, **look: Any) -> None:
        """Lines from point to point, two at least, the last of them an `arrow` with the text beside
        it. tip=False makes it a line. look: further arguments of `arrow`, for all of them.
        """
        *corners, last = itertools.pairwise(points)
        for start, end in corners:
            self.arrow(start, end, tip=False, **look)
        self.arrow(*last, text, tip=tip, **look)

    def finish(self, alt: str) -> Diagram:
        """The finished diagram.

        alt: what the drawing says, in words: for a screen reader it is the diagram.
        """
        drawing = self._svg.Drawing(
            WIDTH,
            self.height,
            class_="cu-svg",
            role="img",
            aria_label=html.escape(alt),  # drawsvg writes attributes as they are
        )
        drawing.append_css(stylesheet())
        drawing.append(self._drawing)
        # it stands in a page of HTML: no XML declaration, no script
        return Diagram(str(drawing.as_svg(header="", skip_js=True)), alt, self.texts)
