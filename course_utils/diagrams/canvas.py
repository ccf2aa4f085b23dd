"""The visual language of the diagrams: what each thing looks like, in every lesson, and how it is drawn.

A diagram is an SVG drawing that stands in the page itself, so its text is text, and its colours are CSS variables that
follow the light or dark mode of JupyterLab and the book. One kind of thing has one colour everywhere (`KINDS`).

A drawing is 520 units wide. On a phone (390 px), its text of 16 units is 11 px high; on a slide it is 30.
"""

import html
import itertools
import unicodedata
from contextlib import contextmanager

from .._support.colours import DARK, FONTS, INK, QUIET

WIDTH = 520
TEXT, SMALL = 16, 14  # heights of type, in units; nothing is smaller
DARKEST = 0.33  # the strongest shade of a cell or box: text on it can be read in both modes
# Each kind of thing: its fill and its line, in light and in dark mode. The hues are those of Okabe and Ito (2008),
# "Color Universal Design", which stay apart under the common colour-vision deficiencies.
KINDS = {
    "token": ("#d6e8f6", "#005b8f", "#123f5c", "#7cc1ee"),  # a piece of text, and its id
    "special": ("#ffffff", "#005b8f", "#15191d", "#7cc1ee"),  # [CLS], [SEP]: added by the tokenizer
    "padding": ("#e9ecef", "#5f6b76", "#2b333a", "#a3afb9"),  # [PAD], and what the mask hides
    "masked": ("#fbdccb", "#a33f00", "#5a2707", "#ffa775"),  # [MASK], and what must be predicted
    "vector": ("#e3f2fb", "#2b7bb0", "#16303f", "#8ccbf0"),  # the vector of a token: a row of last_hidden_state
    "layer": ("#f6e3ee", "#8f3a6c", "#472338", "#e9a6cb"),  # what has weights: embeddings, layers, classifiers
    "head": ("#fdedc8", "#7d5600", "#493504", "#f3c04d"),  # an attention head: queries, keys, values, weights
    "sentence": ("#d2efe4", "#00664c", "#0d4435", "#5fd3ae"),  # the vector of a whole text
    "loss": ("#fbdccb", "#a33f00", "#5a2707", "#ffa775"),  # a loss, an error, a gradient
    "plain": ("none", "#53606c", "none", "#9dabb8"),  # everything else
}


def _style():
    """The stylesheet that each drawing carries: page and drawing need nothing else."""

    def variables(mode):
        pairs = [(f"{name}-{part}", KINDS[name][2 * mode + at]) for name in KINDS for at, part in enumerate(("f", "l"))]
        pairs += [("ink", INK[mode]), ("quiet", QUIET[mode])]
        return "".join(f"--{name}:{colour};" for name, colour in pairs)

    kinds = "".join(
        f".cu-svg .{name}{{fill:var(--{name}-f);stroke:var(--{name}-l)}}"
        f".cu-svg .{name}-text{{fill:var(--{name}-l)}}.cu-svg .{name}-line{{fill:none;stroke:var(--{name}-l)}}"
        for name in KINDS
    )
    return (
        f".cu-svg{{{variables(0)}display:block;width:100%;max-width:44rem;height:auto;margin:0 auto}}"
        f"{','.join(f'{page} .cu-svg' for page in DARK)}{{{variables(1)}}}"
        f".cu-svg text{{fill:var(--ink);font-family:{FONTS['sans']};text-anchor:middle;dominant-baseline:central}}"
        f".cu-svg .mono{{font-family:{FONTS['mono']}}}.cu-svg .bold{{font-weight:650}}"
        ".cu-svg .start{text-anchor:start}.cu-svg .end{text-anchor:end}.cu-svg .quiet{fill:var(--quiet)}"
        f".cu-svg rect,.cu-svg path,.cu-svg circle{{stroke-width:1.6}}{kinds}"
        ".cu-svg .dashed{stroke-dasharray:5 4}.cu-svg .thick{stroke-width:3}.cu-svg .tip{stroke:none}"
        + "".join(f".cu-svg .{name}-tip{{fill:var(--{name}-l);stroke:none}}" for name in KINDS)
    )


class DiagramError(ValueError):
    """A diagram cannot be drawn. The message names it."""


class Diagram:
    """A finished diagram. Jupyter displays it as HTML with the drawing inside, everything else as text.

    The text is the alternative text followed by what the drawing says, in the order drawn: comparing outputs compares
    diagrams.
    """

    def __init__(self, svg, alt, told):
        self.svg, self.alt, self.told = svg, alt, told

    def _repr_html_(self):
        return f'<figure class="cu-diagram" style="margin:0">{self.svg}</figure>'

    def __repr__(self):
        return "\n".join([f"Diagram. {self.alt}", *self.told])


def text_width(text, size=TEXT, mono=False):
    """About how wide a line of text is, in units: enough to see that it does not fit."""
    if mono:
        return len(text) * size * 0.605
    wide = sum(1.0 if unicodedata.east_asian_width(sign) in "WF" else 0.86 if sign in "mwMW@" else 0 for sign in text)
    slim = sum(sign in "iljt.,:;'|()[]!fI " for sign in text)
    rest = sum(not (sign in "mwMW@iljt.,:;'|()[]!fI " or unicodedata.east_asian_width(sign) in "WF") for sign in text)
    return size * (wide + 0.33 * slim + 0.56 * rest)


def in_lines(text, width, size=SMALL, most=None):
    """The text broken into lines of at most this width. What does not fit into `most` lines is left out, with a …."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or text_width(longer, size) <= width:
            lines[-1] = longer
        elif len(lines) == most:
            lines[-1] += " …"
            break
        else:
            lines.append(word)
    return "\n".join(lines)


class Canvas:
    """A drawing under way. Places are (x, y) in units, y downwards; a box is given by its upper left corner.

    name: the lesson and the diagram, such as "05 one head"; errors name it.
    height: in units. At most 260 lets a slide show the drawing at its full width. gap: between the tip of an arrow and
    the box that it leads to, in `box_from`.

    Each method raises DiagramError for something outside the drawing, or for a text that is wider than its box.
    """

    def __init__(self, name, height, gap=0):
        import drawsvg

        self._svg, self.name, self.width, self.height, self.gap = drawsvg, name, WIDTH, height, gap
        self._group, self._steps, self._told = drawsvg.Group(), itertools.count(1), []
        self._into = self._group

    def _refuse(self, why):
        raise DiagramError(f"The diagram {self.name!r} cannot be drawn: {why}.")

    def _inside(self, *points):
        for x, y in points:
            if not (0 <= x <= self.width and 0 <= y <= self.height):
                self._refuse(f"({x:g}, {y:g}) is outside {self.width} x {self.height}")

    def _kind(self, kind):
        if kind not in KINDS:
            self._refuse(f"there is no kind {kind!r} (the kinds are {', '.join(KINDS)})")
        return kind

    def _add(self, thing, *arguments, classes="", **attributes):
        rounded = [round(value, 1) if isinstance(value, float) else value for value in arguments]
        self._into.append(getattr(self._svg, thing)(*rounded, class_=classes.strip(), **attributes))

    def _rectangle(self, x, y, width, height, classes, **attributes):
        self._add("Rectangle", x, y, float(width), float(height), classes=classes, **attributes)

    def _outline(self, path, classes):
        self._into.append(self._svg.Path(d=path, class_=classes))

    @contextmanager
    def step(self):
        """What is drawn inside appears together on a slide, one key press after what came before."""
        outer, number = self._into, next(self._steps)
        self._into = self._svg.Group(class_="cu-step", data_step=number)
        yield
        outer.append(self._into)
        self._into = outer

    def steps(self, things):
        """Each of the things in turn, for a loop in which each is drawn in a step of its own."""
        for thing in things:
            with self.step():
                yield thing

    def text(self, x, y, text, size=TEXT, anchor="middle", kind=None, mono=False, bold=False, quiet=False):
        """A line of text, or several separated by line ends, around the middle height `y`.

        anchor: whether x is the "start", "middle" or "end" of the text. kind: the colour. quiet: for remarks.
        """
        if size < SMALL:
            self._refuse(f"type of {size} units is too small")
        lines = str(text).split("\n")
        for at, line in enumerate(lines):
            width = text_width(line, size, mono)
            left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
            if left < -4 or left + width > self.width + 4:
                self._refuse(f"{line!r} is too wide there")
            here = y + (at - (len(lines) - 1) / 2) * size * 1.2
            self._inside((x, here))
            flags = {"mono": mono, "bold": bold, "quiet": quiet, anchor: anchor != "middle"}
            classes = " ".join(name for name, wanted in flags.items() if wanted)
            classes += f" {self._kind(kind)}-text" if kind else ""
            self._add("Text", line, size, float(x), float(here), classes=classes)
        if any(lines):
            self._told.append(" ".join(lines))

    def label(self, x, y, text, **look):
        """A small text that starts at x, with the look of a `text`."""
        self.text(x, y, text, SMALL, "start", **look)

    def box(self, x, y, width, height, text="", kind="plain", size=TEXT, mono=False, bold=False, dashed=False,
            thick=False, round_by=5, shade=0):  # fmt: skip
        """A box with its text in the middle. Returns its (left, top, right, bottom).

        shade: from 0 to 1, drawn as darkness.
        """
        self._inside((x, y), (x + width, y + height))
        classes = self._kind(kind) + " dashed" * dashed + " thick" * thick
        self._rectangle(float(x), float(y), width, height, classes, rx=round_by)
        if shade:
            share = round(DARKEST * min(1.0, max(0.0, float(shade))), 2)
            self._rectangle(float(x), float(y), width, height, f"{kind}-tip", rx=round_by, fill_opacity=share)
        for line in str(text).split("\n"):
            if text_width(line, size, mono) > width:
                self._refuse(f"{line!r} is wider than its box of {width:g}")
        if str(text):
            self.text(x + width / 2, y + height / 2, text, size, mono=mono, bold=bold)
        return x, y, x + width, y + height

    def box_from(self, start, x, y, width, height, *text, over="", **look):
        """A `box` with an arrow to its nearest place from `start`, and a text over the arrow. Returns as `box` does."""
        ends = ((x, x + width), (y, y + height))
        nearest = [min(max(at, low - self.gap), high + self.gap) for at, (low, high) in zip(start, ends)]
        self.arrow(start, nearest, over)
        return self.box(x, y, width, height, *text, **look)

    def circle(self, x, y, radius, kind="plain", look="filled", dashed=False, thick=False):
        """A circle around (x, y): "filled", a "ring", or a "dot" in the colour of the kind's line."""
        self._inside((x - radius, y - radius), (x + radius, y + radius))
        ending = {"filled": "", "ring": "-line", "dot": "-tip"}[look]
        classes = self._kind(kind) + ending + " dashed" * dashed + " thick" * thick
        self._add("Circle", float(x), float(y), float(radius), classes=classes)

    def tokens(self, x, y, tokens, kinds=None, width=None, height=28, gap=6, size=SMALL, shades=None):
        """A row of tokens. Special tokens, [MASK] and [PAD] look different by themselves. Returns their boxes.

        kinds: one kind for all, or one for each. width: of each token; without it, each is as wide as its text.
        shades: for each, as in `box`.
        """
        by_name = {"[CLS]": "special", "[SEP]": "special", "[MASK]": "masked", "[PAD]": "padding"}
        if kinds is None:
            kinds = [by_name.get(token, "token") for token in tokens]
        boxes = []
        kinds, shades = [kinds] * len(tokens) if isinstance(kinds, str) else kinds, shades or [0] * len(tokens)
        for token, kind, shade in zip(tokens, kinds, shades, strict=True):
            wide, dashed = width or text_width(token, size, True) + 12, kind == "padding"
            boxes.append(self.box(x, y, wide, height, token, kind, size, mono=True, dashed=dashed, shade=shade))
            x += wide + gap
        return boxes

    def vector(self, x, y, cells=4, kind="vector", width=28, height=40, values=None, across=False, lined=True):
        """A vector as a small stack of cells, or a row of them (`across`). Returns its (left, top, right, bottom).

        values: numbers from 0 to 1, one for each cell, drawn as darkness. lined=False: without lines between the cells.
        """
        self._inside((x, y), (x + width, y + height))
        if not lined:
            self._rectangle(float(x), float(y), width, height, self._kind(kind))
        for at in range(cells):
            wide, high = (width / cells, height) if across else (width, height / cells)
            left, top = (x + at * wide, y) if across else (x, y + at * high)
            if lined:
                self._rectangle(left, top, wide, high, self._kind(kind))
            if values is not None:
                opacity = round(min(1.0, max(0.0, float(values[at]))), 2)
                self._rectangle(left, top, wide, high, f"{kind}-tip", fill_opacity=opacity)
        return x, y, x + width, y + height

    def grid(self, x, y, values, cell=34, kind="head", decimals=2, height=None, size=SMALL, shaded=True,
             most=None):  # fmt: skip
        """A matrix: each value in its cell, darker for larger if `shaded`. Values are numbers or short texts.

        most: the value of the darkest cells; by default the largest of these.

        Returns its (left, top, right, bottom).
        """
        height = height or cell
        numbers = [value for row in values for value in row if not isinstance(value, str)]
        most = most or max(map(abs, numbers), default=1) or 1
        for at, row in enumerate(values):
            for place, value in enumerate(row):
                left, top = float(x + place * cell), float(y + at * height)
                written = value if isinstance(value, str) else f"{round(value, decimals) + 0.0:.{decimals}f}"  # no -0.0
                self._inside((left + cell, top + height))
                self._rectangle(left, top, cell, height, self._kind(kind))
                if shaded and not isinstance(value, str):
                    share = round(DARKEST * abs(value) / most, 2)
                    self._rectangle(left, top, cell, height, f"{kind}-tip", fill_opacity=share)
                if text_width(written, size) > cell:
                    self._refuse(f"{written!r} is wider than its cell of {cell:g}")
                self.text(left + cell / 2, top + height / 2, written, size)
        return x, y, x + len(values[0]) * cell, y + len(values) * height

    def cells(self, x, y, size, number, filled, kind="head"):
        """A small square matrix of `number` rows without numbers: in row i, cell filled[i] is filled."""
        self._inside((x, y), (x + size, y + size))
        self._rectangle(float(x), float(y), size, size, f"{self._kind(kind)}-line")
        one = size / number
        way = " ".join(f"M{x + one * at:.1f},{y + one * row:.1f} h{one:.1f} v{one:.1f} h-{one:.1f} z"
                       for row, at in enumerate(filled))  # fmt: skip
        self._outline(way, f"{kind}-tip")

    def stairs(self, x, y, widths, height, kind):
        """Rows of different widths below each other as one shape, each `height` high, without lines between them."""
        self._inside((x, y), (x + max(widths), y + height * len(widths)))
        steps = " ".join(f"H{x + width:.1f} v{height:.2f}" for width in widths)
        self._outline(f"M{x:.1f},{y:.1f} {steps} H{x:.1f} Z", self._kind(kind))

    def arrow(self, start, end, text="", kind="plain", bend=0, dashed=False, thick=False, tip=True, at=0.5, side=1):
        """An arrow from one place to another, with a text beside its middle, such as a shape.

        bend: how far its middle lies beside the straight line. tip=False draws a line. at: how far along the arrow the
        text stands. side: 1 or -1, the side of the arrow where it stands.
        """
        self._inside(start, end)
        (x0, y0), (x1, y1) = start, end
        long = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5 or 1
        across = (-(y1 - y0) / long, (x1 - x0) / long)
        middle = ((x0 + x1) / 2 + 2 * bend * across[0], (y0 + y1) / 2 + 2 * bend * across[1])
        toward = (x1 - middle[0], y1 - middle[1])
        norm = (toward[0] ** 2 + toward[1] ** 2) ** 0.5 or 1
        ahead = (toward[0] / norm, toward[1] / norm)
        stop = (x1 - 7 * ahead[0], y1 - 7 * ahead[1]) if tip else end
        way = f"M{x0:.1f},{y0:.1f} Q{middle[0]:.1f},{middle[1]:.1f} {stop[0]:.1f},{stop[1]:.1f}"
        classes = f"{self._kind(kind)}-line" + " dashed" * dashed + " thick" * thick
        self._outline(way, classes)
        if tip:
            back = (x1 - 9 * ahead[0], y1 - 9 * ahead[1])
            sides = [(back[0] + turn * 4.5 * ahead[1], back[1] - turn * 4.5 * ahead[0]) for turn in (1, -1)]
            shape = f"M{x1:.1f},{y1:.1f} " + " ".join(f"L{x:.1f},{y:.1f}" for x, y in sides) + " Z"
            self._outline(shape, f"{kind}-tip")
        if text:
            upright = abs(x1 - x0) < abs(y1 - y0)
            x, y = x0 + at * (x1 - x0) + bend * across[0], y0 + at * (y1 - y0) + bend * across[1]
            if upright:
                self.text(x + 8 * side, y, text, SMALL, anchor="start" if side > 0 else "end", quiet=True)
            else:
                self.text(x, y - 12 * side, text, SMALL, quiet=True)

    def arc(self, x0, x1, y, high, width, kind="head"):
        """An arc over two places of the height `y`, whose middle is `high` above them: a line as wide as `width`."""
        self._inside((x0, y), (x1, y), (x0, y - high - width / 2))
        top = y - 4 / 3 * high
        way = f"M{x0:.1f},{y:.1f} C{x0:.1f},{top:.1f} {x1:.1f},{top:.1f} {x1:.1f},{y:.1f}"
        self._into.append(self._svg.Path(d=way, class_=f"{self._kind(kind)}-line", style=f"stroke-width:{width:.1f}"))

    def path(self, *points, text="", tip=True, **look):
        """Lines from point to point, the last of them an `arrow` with the text beside it, all with the look of one."""
        *corners, last = itertools.pairwise(points)
        for start, end in corners:
            self.arrow(start, end, tip=False, **look)
        self.arrow(*last, text, tip=tip, **look)

    def bracket(self, x0, x1, y, text="", below=True):
        """A bracket over or under what lies from x0 to x1, with a text beyond it."""
        self._inside((x0, y), (x1, y))
        way = 6 if below else -6
        self._outline(f"M{x0:.1f},{y:.1f} v{way} H{x1:.1f} v{-way}", "plain-line")
        if text:
            self.text((x0 + x1) / 2, y + 2.8 * way, text, SMALL, quiet=True)

    def finish(self, alt):
        """The finished Diagram. `alt` says in words what the drawing says: for a screen reader it is the diagram."""
        if len(alt) < 40:
            self._refuse("its alternative text is too short to say what it shows")
        drawing = self._svg.Drawing(
            self.width, self.height, class_="cu-svg", role="img", aria_label=html.escape(alt), id_prefix="d"
        )
        drawing.append_css(_style())
        drawing.append(self._group)
        return Diagram(drawing.as_svg(header="", skip_js=True), alt, self._told)
