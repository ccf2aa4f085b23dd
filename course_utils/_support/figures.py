"""What a finished figure is, its data as text, and labels that can be read. `plots.py` draws the figures."""

import io
import itertools
import textwrap

import numpy as np

from .colours import GREY, INK, readable
from .figure_svg import svg_of


def drawn(figure, decimals=3):
    """The data that a matplotlib figure shows, as lines of text: lines, bars, points and heatmap cells, in order.

    It is read from the figure itself, not from the data it was meant to draw. Two kinds are abbreviated: an empirical
    distribution to its values at every twentieth of the height, a swarm to its sorted values.
    """
    from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
    from matplotlib.container import BarContainer

    def numbers(values):
        values = np.asarray(values)
        form = "d" if np.issubdtype(values.dtype, np.integer) else f".{decimals}f"
        return " ".join(format(value, form) for value in values.ravel())

    text = []
    for axes in figure.axes:
        if axes.get_label() == "<colorbar>":
            continue
        rows = [name.get_text() for name in axes.get_yticklabels()]
        if axes.get_label() == "panel":
            text.append(f"panel {axes.get_title('left')}")
        for line in axes.lines:
            x, y = line.get_data()
            if line.get_gid() == "ecdf":
                steps = x[np.searchsorted(y, np.linspace(0, 1, 21) - 1e-9)]
                text.append(f"distribution {line.get_label()}: {len(x) - 1} values, by twentieths {numbers(steps)}")
            else:
                text.append(f"line {line.get_label().removeprefix('_')}: x {numbers(x)} | y {numbers(y)}")
        for bars in axes.containers:
            if isinstance(bars, BarContainer):
                text.append(f"bars {bars.get_label()}: {numbers([bar.get_height() for bar in bars])}")
        for shape in axes.collections:
            kind, label = shape.get_gid(), shape.get_label()
            if isinstance(shape, QuadMesh):
                grid = shape.get_array().reshape(shape.get_coordinates().shape[0] - 1, -1)
                text += [f"row {name}: {numbers(row)}" for name, row in zip(rows, grid, strict=True)]
            elif isinstance(shape, PolyCollection):
                text.append(f"band {label}: corners {numbers(shape.get_paths()[0].vertices)}")
            elif isinstance(shape, LineCollection):
                if not kind:  # a guide for the eye
                    continue
                ends = np.array(shape.get_segments())
                ends = {"interval x": ends[..., 0], "interval y": ends[..., 1]}.get(kind, ends)
                intervals = ", ".join(f"{numbers(low)} to {numbers(high)}" for low, high in ends)
                text.append(f"{kind.split()[0]} {label.removeprefix('_')}: {intervals}")
            elif kind == "dots":
                values = ", ".join(f"{rows[round(y)]} {numbers([x])}" for x, y in shape.get_offsets())
                text.append(f"dots {label}: {values}")
            elif kind == "swarm":
                text.append(f"values {label}: {numbers(np.sort(shape.get_offsets()[:, 0]))}")
            elif isinstance(shape, PathCollection):
                names = [name.get_text() for name in axes.texts if name.get_gid() == label]
                for name, point in itertools.zip_longest(names, shape.get_offsets(), fillvalue=""):
                    text.append(f"point {label} {name}: {numbers(point)}")
    return text


class Figure:
    """A finished picture with its alternative text.

    A page shows it as SVG, which follows its light or dark mode; paper shows it as PNG, everything else as text.
    """

    def __init__(self, figure, alt):
        import matplotlib.pyplot as plt
        from PIL import Image

        try:
            if not alt:
                raise ValueError("describe the picture for those who cannot see it: alt=...")
            buffer, smaller = io.BytesIO(), io.BytesIO()
            figure.savefig(buffer, format="png")
            # 256 colours look the same and take a third of the bytes
            Image.open(buffer).convert("RGB").quantize(256, dither=0).save(smaller, "png", optimize=True)
            self.png, self.alt, self.data = smaller.getvalue(), alt, drawn(figure)
            self.svg = svg_of(figure, alt)
        finally:
            plt.close(figure)

    def _repr_html_(self):
        return f'<figure class="cu-figure" style="margin:0">{self.svg}</figure>'

    def _repr_png_(self):
        return self.png, {"alt": self.alt}

    def __repr__(self):
        return "\n".join([f"Figure. {self.alt}", *self.data])


def label_point(axes, label, point, colour):
    """Write a label to the right of a point, in its colour."""
    from matplotlib.patheffects import withStroke

    text = axes.annotate(textwrap.fill(label, 22), point, (8, 0), textcoords="offset points", va="center")
    text.set(color=readable(colour), path_effects=[withStroke(linewidth=3, foreground="white")])
    return text


def references(axes, marks, along):
    """Draw a thin dashed line at each value of `marks`, a dictionary from its words, across the axis `along`."""
    for words, value in (marks or {}).items():
        draw = axes.axvline if along == "x" else axes.axhline
        draw(value, color=GREY, linewidth=1.2, linestyle="--", label=f"_{words}", zorder=1)
        if along == "x":
            at, frame, side = (value, 1), axes.get_xaxis_transform(), {"ha": "center"}
        else:
            at, frame, side = (0, value), axes.get_yaxis_transform(), {"ha": "left"}
        style = {"xycoords": frame, "textcoords": "offset points", "color": INK[0], "va": "bottom"}
        axes.annotate(words, at, (0, 3) if along == "x" else (3, 1), **side, **style)
    if marks and along == "y":  # room for the words below the title
        low, high = axes.get_ylim()
        axes.set_ylim(low, max(high, max(marks.values()) + 0.1 * (high - low)))


def label_ends(axes, ends):
    """Label points that lie above each other, (label, point, colour) for each, and move the labels apart."""
    from scipy.optimize import isotonic_regression

    texts = [label_point(axes, *end) for end in sorted(ends, key=lambda end: end[1][1])]
    axes.figure.draw_without_rendering()
    wanted, heights = np.array(
        [((box.y0 + box.y1) / 2, box.height) for box in (t.get_window_extent() for t in texts)]
    ).T
    stack = np.cumsum(heights) - heights / 2  # their centres if they stood close together
    for text, moved in zip(texts, isotonic_regression(wanted - stack).x + stack - wanted, strict=True):
        text.xyann = (8, moved * 72 / axes.figure.dpi)


def name_points(axes, named):
    """Write names beside points, (name, point, the group's label) for each, where they cover least."""
    from matplotlib.transforms import Bbox

    axes.figure.draw_without_rendering()
    points = np.concatenate([shape.get_offsets() for shape in axes.collections])
    taken = [Bbox([place - 5, place + 5]) for place in axes.transData.transform(points)]
    places = [
        (side, (x * (1 + far / 12), y + far if y > 0 else y - far))
        for far in (0, 14, 28, 42)
        for y in (3, -12)
        for side, x in (("left", 6), ("right", -6), ("center", 0))
    ]

    def misread(box, point):
        """How many points are nearer to this box than its own: a reader would take it for their name."""
        spots = axes.transData.transform([point, *points])
        own, *others = np.hypot(*(np.clip(spots, box.min, box.max) - spots).T)
        return sum(other < own - 1 for other in others)

    for name, point, label in named:
        text = axes.annotate(name, point, (0, 0), textcoords="offset points", gid=label)
        covered = []
        for side, offset in places:
            text.set(ha=side, position=offset)
            box = text.get_window_extent()
            unjoined = len(covered) < 6
            covered.append(sum(box.overlaps(other) for other in taken) + (misread(box, point) if unjoined else 0))
        best = int(np.argmin(covered))
        side, offset = places[best]
        text.set(ha=side, position=offset)
        taken.append(text.get_window_extent().padded(6, 0))
        if name and best >= 6:  # too far to see whose name it is
            line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.7}
            axes.annotate("", point, offset, textcoords="offset points", arrowprops=line)
