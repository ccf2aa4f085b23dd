"""The data that a matplotlib figure shows, as text: read from the figure itself, not from what it
was meant to draw.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import (
    FillBetweenPolyCollection,
    LineCollection,
    PathCollection,
    QuadMesh,
)
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from .figures import GUIDE, OWN_WORDS

# more numbers than this are abbreviated: sorted, the value at every twentieth
MANY = 1000
# the kinds of artists that can be put into words
KNOWN = Axes, Axis, Legend, Line2D, LineCollection, Patch, PathCollection, QuadMesh, Text
# but not what inherits from these: images with places of their own show more than their cells
KNOWN_EXACTLY = AxesImage, FillBetweenPolyCollection


def drawn(figure: Figure, decimals: int = 3) -> list[str]:
    """The data of a figure's axes as lines of text: its lines, bars, points, bands, cells, shapes
    and words.

    decimals: of each number that is not an integer. Two kinds are abbreviated: more than a thousand
    numbers to the values at every twentieth, a swarm to its sorted values. Raises
    NotImplementedError for a kind that cannot be put into words, such as the arrows of a field, or
    axes in three dimensions.
    """
    shapes = [shape for axes in figure.axes for shape in (*axes.collections, *axes.images)]
    colour_bars = [shape.colorbar.ax for shape in shapes if shape.colorbar]
    panels = [
        _Drawn(axes, decimals)
        for axes in figure.axes
        if axes not in colour_bars and axes.get_visible()
    ]
    return [line for panel in panels for line in panel.text()]


class _Drawn:
    """The data of one pair of axes, as text. Axes inside these are not read."""

    def __init__(self, axes: Any, decimals: int):
        self.axes = axes
        self.form = f".{decimals}f"
        self.groups = _names_by_colour(axes.get_legend())
        self.has_cells = bool(axes.images) or any(
            isinstance(shape, QuadMesh) for shape in axes.collections
        )

    def text(self) -> list[str]:
        if self.axes.name == "3d":
            raise NotImplementedError("axes in three dimensions")
        for artist in self.axes.get_children():
            if not isinstance(artist, KNOWN) and type(artist) not in KNOWN_EXACTLY:
                raise NotImplementedError(f"a {type(artist).__name__}")
        bars = [group for group in self.axes.containers if isinstance(group, BarContainer)]
        in_bars = [bar for group in bars for bar in group]
        text = [
            # seaborn draws some lines without points, and some of which all points are missing
            *(
                self._line(line)
                for line in self.axes.lines
                if line.get_visible() and np.isfinite(line.get_xydata()).all(axis=1).any()
            ),
            *(self._bars(group) for group in bars if any(bar.get_visible() for bar in group)),
        ]
        for shape in (*self.axes.collections, *self.axes.images):
            if shape.get_visible():
                text += self._shape(shape)
        text += [
            self._patch(patch)
            for patch in self.axes.patches
            # a patch without width and height is not seen
            if patch not in in_bars and patch.get_visible() and patch.get_extents().size.any()
        ]
        return text + [
            self._words(words) for words in self.axes.texts if self._tells_something(words)
        ]

    def _numbers(self, values: Any) -> str:
        """Values as text: floats with the decimals of this picture, integers and others as they
        are; more than MANY are abbreviated, without those that are missing (NaN).
        """
        # an array, with NaN in place of what is masked; for that, masked integers become floats
        values = np.ma.filled(
            values if np.ma.getmask(values) is np.ma.nomask else values.astype(float), np.nan
        )
        if values.size > MANY:
            # NaN, which equals nothing, is a gap; one would make every twentieth NaN
            known = values[values == values] if (values == values).any() else values
            twentieths = np.quantile(known, np.linspace(0, 1, 21), method="nearest")
            return f"{known.size} values, by twentieths {self._numbers(twentieths)}"
        # by NumPy's kinds: floats, integers, unsigned integers; dates and words have no format
        form = {"f": self.form, "i": "d", "u": "d"}.get(values.dtype.kind, "")
        return " ".join(format(value, form) for value in values.ravel())

    def _named(self, kind: str, artist: Any, colour: Any) -> str:
        """The kind and an artist's label; if it has none of its own, that of its colour in the
        legend.
        """
        label = str(artist.get_label()).removeprefix("_")
        # matplotlib's own labels are _child0, _container0 and _nolegend_
        has_no_label = artist.get_label() is None or label == "nolegend_"
        if has_no_label or label.startswith(("child", "container")):
            # an artist without a colour, such as an empty band, cannot be found in the legend
            label = self.groups.get(to_hex(colour), "") if len(colour) else ""
        return f"{kind} {label}".strip()

    def _line(self, line: Any) -> str:
        x, y = line.get_data(orig=True)
        name = self._named("line", line, line.get_color())
        return f"{name}: x {self._numbers(x)} | y {self._numbers(y)}"

    def _bars(self, bars: Any) -> str:
        if bars.orientation == "horizontal":
            values = [bar.get_width() for bar in bars]
            middles = [bar.get_y() + bar.get_height() / 2 for bar in bars]
            names = _names_of_ticks(self.axes.yaxis)
        else:
            values = [bar.get_height() for bar in bars]
            middles = [bar.get_x() + bar.get_width() / 2 for bar in bars]
            names = _names_of_ticks(self.axes.xaxis)
        numbers = self._numbers(values)
        if names and len(values) <= MANY:  # each bar has the name of the nearest tick
            ticks = [min(names, key=lambda tick: abs(tick - middle)) for middle in middles]
            numbers = ", ".join(
                f"{names[tick]} {value}" for tick, value in zip(ticks, numbers.split(), strict=True)
            )
        colour = bars[0].get_facecolor() if len(bars) else ()
        return f"{self._named('bars', bars, colour)}: {numbers}"

    def _shape(self, shape: Any) -> list[str]:
        if isinstance(shape, QuadMesh):
            rows = len(np.asarray(shape.get_coordinates())) - 1
            return self._cells(np.ma.asarray(shape.get_array()).reshape(rows, -1))
        if isinstance(shape, AxesImage):
            return self._cells(shape.get_array())
        if isinstance(shape, LineCollection):
            return self._segments(shape)
        if isinstance(shape, PathCollection):
            return self._points(shape)
        # a band has the colour of its first part, if it has any
        name = self._named("band", shape, next(iter(shape.get_facecolor()), ()))
        return [f"{name}: corners {self._numbers(path.vertices)}" for path in shape.get_paths()]

    def _cells(self, grid: Any) -> list[str]:
        if grid.size > MANY or grid.ndim > 2:
            return [f"cells {' x '.join(map(str, grid.shape))}: {self._numbers(grid)}"]
        names = [label.get_text() for label in self.axes.get_yticklabels()]
        names = names if len(names) == len(grid) else range(len(grid))
        return [f"row {name}: {self._numbers(row)}" for name, row in zip(names, grid, strict=True)]

    def _segments(self, shape: Any) -> list[str]:
        kind = shape.get_gid() or "lines"
        segments = shape.get_segments()
        if kind == GUIDE or not segments:
            return []
        # lines with the colour "none" have no colours
        name = self._named(kind.split()[0], shape, next(iter(shape.get_color()), ()))
        if sum(map(np.size, segments)) > MANY:
            return [f"{name}: {self._numbers(np.concatenate(segments))}"]
        if kind.startswith("interval"):
            # gid is "interval x" or "interval y" (see `figures`); of each end, only the number
            # along this axis counts
            axis = ["interval x", "interval y"].index(kind)
            segments = [segment[:, axis] for segment in segments]
        from_end_to_end = [" to ".join(map(self._numbers, ends)) for ends in segments]
        return [f"{name}: {', '.join(from_end_to_end)}"]

    def _points(self, shape: Any) -> list[str]:
        points = shape.get_offsets()
        if shape.get_gid() == "dots":
            rows = [name.get_text() for name in self.axes.get_yticklabels()]
            dots = ", ".join(f"{rows[round(y)]} {self._numbers([x])}" for x, y in points)
            return [f"dots {shape.get_label()}: {dots}"]
        if shape.get_gid() == "swarm":
            return [f"values {shape.get_label()}: {self._numbers(np.sort(points[:, 0]))}"]
        colours = shape.get_facecolors() if len(shape.get_facecolors()) else [()]
        if points.size > MANY:
            name = self._named("points", shape, colours[0])
            return [f"{name}: x {self._numbers(points[:, 0])} | y {self._numbers(points[:, 1])}"]
        return self._each_point(shape, points, colours)

    def _each_point(self, shape: Any, points: Any, colours: Any) -> list[str]:
        # fewer colours than points are used in turn, as matplotlib does
        values, sizes = shape.get_array(), shape.get_sizes()
        text = []
        for number, point in enumerate(points):
            name = self._named("point", shape, colours[number % len(colours)])
            value = "" if values is None else f" value {self._numbers(values[number])}"
            size = f" size {self._numbers(sizes[number])}" if len(sizes) > 1 else ""
            text.append(f"{name}: {self._numbers(point)}{value}{size}")
        return text

    def _patch(self, patch: Any) -> str:
        name = self._named(type(patch).__name__.lower(), patch, patch.get_facecolor())
        # in the units of the data
        corners = patch.get_path().transformed(patch.get_transform() - self.axes.transData).vertices
        return f"{name}: corners {self._numbers(corners)}"

    def _tells_something(self, words: Any) -> bool:
        """Whether a text of the figure adds anything: it can be seen, and it is not a label that
        the course's functions write beside its shape, nor a number in its cell.
        """
        in_a_cell = self.has_cells and _is_number(words.get_text())
        can_be_seen = words.get_visible() and bool(words.get_text().strip())
        return can_be_seen and not in_a_cell and words.get_gid() != OWN_WORDS

    def _words(self, words: Any) -> str:
        text = " ".join(words.get_text().split())
        # an annotation has, as `xy`, the place that it points to
        place = words.xy if hasattr(words, "xy") else words.get_position()
        return f"text {text}: {' '.join(map(self._numbers, place))}"


def _names_of_ticks(axis: Any) -> dict[float, str]:
    """{place: name} of the ticks of an axis; empty if all of them are numbers."""
    names = [" ".join(label.get_text().split()) for label in axis.get_ticklabels()]
    return {} if all(map(_is_number, names)) else dict(zip(axis.get_ticklocs(), names))


def _is_number(text: str) -> bool:
    # an empty text counts: it names nothing, such as the label of an unlabelled tick
    try:
        float(text.replace("−", "-").strip() or 0)
    except ValueError:
        return False
    return True


def _names_by_colour(legend: Any) -> dict[str, str]:
    """{colour in hexadecimal: its words in a legend}, without colours that stand for two things."""
    if legend is None:
        return {}
    names_of = {}
    for handle, text in zip(legend.legend_handles, legend.get_texts()):
        names_of.setdefault(_colour(handle), set()).add(text.get_text())
    return {colour: names.pop() for colour, names in names_of.items() if len(names) == 1}


def _colour(handle: Any) -> str:
    # of a handle in a legend, in hexadecimal; "" if it has none
    if isinstance(handle, Line2D):
        markers_alone = handle.get_linestyle() == "None"
        return to_hex(handle.get_markerfacecolor() if markers_alone else handle.get_color())
    colours = np.atleast_2d(handle.get_facecolor())
    return to_hex(colours[0]) if colours.size else ""
