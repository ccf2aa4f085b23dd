"""The course's figures: one style, and every figure carries a text description and its data.

Each function displays a picture whose text form (what a terminal, a screen reader or a test sees instead of the pixels)
is the alternative text followed by the drawn data, read back from the figure. So comparing outputs compares pictures.
"""

import io
import itertools
import textwrap
import warnings

import numpy as np

STYLE = {
    "figure.figsize": (7, 3.6),
    "figure.constrained_layout.use": True,
    "savefig.dpi": 160,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "font.size": 12,
    "text.parse_math": False,  # a "$" in a token is literal
    "lines.linewidth": 2,
    "lines.markersize": 6,
}
PALETTE = "colorblind"  # seaborn's; distinguishable under the common colour-vision deficiencies
MARKERS = "osD^vP"
HATCHES = ("", "//", "..", "xx")
GREY = "#767676"  # lines that guide the eye
HEAT = "#4292c6"  # the darkest cell of a heatmap: light enough for black numbers


def use_style():
    """Apply the course's matplotlib style for this session."""
    import matplotlib
    import seaborn

    matplotlib.rcParams.update(STYLE)
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=seaborn.color_palette(PALETTE))


def contrast(one, other):
    """The contrast of two colours as WCAG 2 defines it: from 1 to 21; text needs 4.5."""
    from matplotlib.colors import to_rgb

    rgb = np.array([to_rgb(one), to_rgb(other)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    dark, light = sorted(linear @ (0.2126, 0.7152, 0.0722))
    return (light + 0.05) / (dark + 0.05)


def _on(background):
    """The colour of text on this background."""
    return max(("black", "white"), key=lambda ink: contrast(ink, background))


def _ink(colour):
    """The colour, darkened until text in it can be read on white."""
    from matplotlib.colors import to_rgb

    shades = (tuple(scale * np.array(to_rgb(colour))) for scale in np.linspace(1, 0, 21))
    return next(shade for shade in shades if contrast(shade, "white") >= 4.5)


def drawn(figure, decimals=3):
    """The data that a matplotlib figure shows, as lines of text: lines, bars, points and heatmap cells, in order.

    It is read from the figure itself, not from the data it was meant to draw. Two things are told in short: of an
    empirical distribution the values at every twentieth of its height, of a swarm the sorted values.
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
                text.append(f"line {line.get_label()}: x {numbers(x)} | y {numbers(y)}")
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
                told = (f"{numbers(one)} to {numbers(other)}" for one, other in ends)
                text.append(f"{kind.split()[0]} {label.removeprefix('_')}: " + ", ".join(told))
            elif kind == "dots":
                told = (f"{rows[round(y)]} {numbers([x])}" for x, y in shape.get_offsets())
                text.append(f"dots {label}: " + ", ".join(told))
            elif kind == "swarm":
                text.append(f"values {label}: {numbers(np.sort(shape.get_offsets()[:, 0]))}")
            elif isinstance(shape, PathCollection):
                names = [name.get_text() for name in axes.texts if name.get_gid() == label]
                for name, point in itertools.zip_longest(names, shape.get_offsets(), fillvalue=""):
                    text.append(f"point {label} {name}: {numbers(point)}")
    return text


class Figure:
    """A finished picture with its alternative text. Jupyter displays it as PNG, everything else as text."""

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
        finally:
            plt.close(figure)

    def _repr_png_(self):
        return self.png, {"alt": self.alt}

    def __repr__(self):
        return "\n".join([f"Figure. {self.alt}", *self.data])


def _axes(title, xlabel, ylabel, size=None):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=size)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title, wrap=True)
    return figure, axes


def _label(axes, label, point, colour):
    """Write a label to the right of a point, in its colour."""
    from matplotlib.patheffects import withStroke

    text = axes.annotate(textwrap.fill(label, 22), point, (8, 0), textcoords="offset points", va="center")
    text.set(color=_ink(colour), path_effects=[withStroke(linewidth=3, foreground="white")])
    return text


def _label_ends(axes, ends):
    """Label points that lie above each other, (label, point, colour) for each, and move the labels apart."""
    from scipy.optimize import isotonic_regression

    texts = [_label(axes, *end) for end in sorted(ends, key=lambda end: end[1][1])]
    axes.figure.draw_without_rendering()
    wanted, heights = np.array(
        [((box.y0 + box.y1) / 2, box.height) for box in (t.get_window_extent() for t in texts)]
    ).T
    stack = np.cumsum(heights) - heights / 2  # their centres if they stood close together
    for text, moved in zip(texts, isotonic_regression(wanted - stack).x + stack - wanted, strict=True):
        text.xyann = (8, moved * 72 / axes.figure.dpi)


def lines(x, series, title="", xlabel="", ylabel="", alt="", doubling=False, spread=None):
    """Draw one line per entry of `series` (a dictionary from label to values), labelled at its right end.

    A line ends where its last values are missing (nan).

    doubling: use a logarithmic axis of base 2, with a tick at each x.
    spread: for some labels, the (lowest, highest) values, drawn as a band around the line.
    """
    figure, axes = _axes(title, xlabel, ylabel)
    for (label, values), marker in zip(series.items(), itertools.cycle(MARKERS)):
        (line,) = axes.plot(list(x), np.asarray(values, dtype=float), marker=marker, label=label)
        if spread and label in spread:
            low, high = np.asarray(spread[label], dtype=float)
            axes.fill_between(list(x), low, high, color=line.get_color(), alpha=0.12, linewidth=0, label=f"_{label}")
    if doubling:
        axes.set_xscale("log", base=2)
        axes.set_xticks([], minor=True)
    if doubling or len(set(np.diff(list(x)))) == 1:
        axes.set_xticks(list(x), [str(value) for value in x])
    if len(series) > 1:
        ends = [line.get_xydata()[np.isfinite(line.get_ydata())][-1] for line in axes.lines]
        _label_ends(axes, [(line.get_label(), end, line.get_color()) for line, end in zip(axes.lines, ends)])
    return Figure(figure, alt)


def ecdf(series, title="", xlabel="", alt=""):
    """Draw for each entry of `series` the share of its values up to x (the empirical distribution)."""
    figure, axes = _axes(title, xlabel, "share of values up to here")
    ordered = sorted(series, key=lambda label: np.median(series[label]))
    for label, values in series.items():
        line = axes.ecdf(np.ravel(values), label=label, gid="ecdf")
        height = 0.85 - 0.7 * ordered.index(label) / max(1, len(series) - 1)  # the leftmost curve's label is highest
        _label(axes, label, (np.quantile(values, height), height), line.get_color())
    return Figure(figure, alt)


def roc(curves, title="", alt="", xlabel="share of negatives that pass", ylabel="share of positives that pass"):
    """Draw ROC curves over the grey diagonal of guessing, each with the area under it.

    curves: a dictionary from label to (shares of negatives that pass, shares of positives), both rising from 0 to 1.
    """
    figure, axes = _axes(title, xlabel, ylabel, (5.5, 4.4))
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1, label="guessing (area 0.50)")
    for label, (alarms, hits) in curves.items():
        axes.plot(alarms, hits, label=f"{label} (area {np.trapezoid(hits, alarms):.2f})")
    axes.set_aspect("equal")
    axes.legend(frameon=False, loc="lower right")
    return Figure(figure, alt)


def bars(names, series, title="", xlabel="", ylabel="", alt="", intervals=None, stacked=False):
    """Draw grouped bars for each name; `series` is a dictionary from label to one value per name.

    intervals: for some labels, the (lowest, highest) values, drawn as a line over each bar.
    stacked: draw each name's values on one another, as shares of their sum, with the shares written into them.
    """
    figure, axes = _axes(title, xlabel, ylabel)
    values = np.array([list(row) for row in series.values()], dtype=float)
    width = 0.8 if stacked else 0.8 / len(series)
    if stacked:
        values /= values.sum(axis=0)
    floors = (np.cumsum(values, axis=0) - values) * stacked
    ends = []
    for number, (label, row, floor, hatch) in enumerate(zip(series, values, floors, itertools.cycle(HATCHES))):
        at = np.arange(len(names)) - 0.4 + (0 if stacked else number * width)
        hatch = None if stacked else hatch  # it would cross the numbers
        shapes = axes.bar(
            at, row, width, floor, align="edge", label=label, hatch=hatch, edgecolor="white", linewidth=0.5
        )
        colour = shapes[0].get_facecolor()
        if stacked:
            shares = [f"{share:.2f}" if share >= 0.07 else "" for share in row]
            axes.bar_label(shapes, shares, label_type="center", color=_on(colour), fontsize="small")
            ends.append((label, (at[-1] + width, floor[-1] + row[-1] / 2), colour))
        if intervals and label in intervals:
            axes.vlines(at + width / 2, *intervals[label], color="black", label=f"_{label}", gid="interval y")
    axes.set_xticks(range(len(names)), list(names))
    if stacked:
        axes.set_ylim(0, 1)
        _label_ends(axes, ends)
    elif len(series) > 1:
        axes.legend(frameon=False)
    return Figure(figure, alt)


def dots(names, series, title="", xlabel="", alt="", intervals=None, panels=None, limits=(None, None), row=0.34):
    """Draw a row per name, with one dot per entry of `series` (a dictionary from label to one value per name).

    intervals: for some labels, the (lowest, highest) values, drawn as a line through each dot. Without any, a grey
    line joins the dots of a row: before and after. Among differences, some of them below 0, a dot is hollow if its
    interval holds 0.
    panels: a dictionary from a panel's title to the number of its rows; the panels stand below each other.
    limits: the ends of the axis of values; an end that is None follows the values. row: the height of a row, in inches.
    """
    import matplotlib.pyplot as plt

    panels, intervals = panels or {title: len(names)}, intervals or {}
    if sum(panels.values()) != len(names):
        raise ValueError(f"the panels have {sum(panels.values())} rows, the names are {len(names)}")
    height = 1 + 0.3 * (len(panels) + (len(series) > 1)) + row * len(names)
    kind = {"label": "panel"} if len(panels) > 1 else {}
    ratios = {"height_ratios": list(panels.values())}
    figure, grid = plt.subplots(len(panels), sharex=True, squeeze=False, figsize=(7, height), subplot_kw=kind, **ratios)
    values = np.array([list(row) for row in series.values()], dtype=float)
    shifts = np.linspace(-0.4, 0.4, len(series)) * (1 - 1 / len(series))
    covering = np.ptp(values, axis=0) < 0.01 * np.ptp(values)  # dots at one place: the last would hide the others
    shifts = shifts[:, None] * (covering | bool(intervals))
    first, hollow = 0, []
    for axes, (heading, count) in zip(grid[:, 0], panels.items()):
        part, at = slice(first, first + count), np.arange(count)
        first += count
        if not intervals:
            axes.hlines(at, values[:, part].min(axis=0), values[:, part].max(axis=0), color=GREY, linewidth=1)
        if values.min() < 0 < values.max():
            axes.vlines(0, -0.5, count - 0.5, color=GREY, linewidth=1)
        for (label, shown), marker, shift in zip(zip(series, values), itertools.cycle(MARKERS), shifts[:, part]):
            shape = axes.scatter(shown[part], at + shift, s=45, marker=marker, label=label, gid="dots", zorder=3)
            if label in intervals:
                low, high = np.asarray(intervals[label], dtype=float)[:, part]
                colour = shape.get_facecolor()
                axes.hlines(at + shift, low, high, color=colour, label=f"_{label}", gid="interval x")
                if values.min() < 0:
                    hollow.append((shape, np.where(((low <= 0) & (high >= 0))[:, None], 1.0, colour)))
        axes.set(title=heading, ylim=(count - 0.5, -0.5))
        axes.set_yticks(at, list(names)[part])
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
    axes.set_xlabel(xlabel)
    axes.set_xlim(*limits)  # of all panels, and after all are drawn: it fixes the ends that are None too
    if len(panels) > 1:
        figure.suptitle(title, x=0.01, ha="left", fontsize="medium")
    if len(series) > 1:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(series), frameon=False)
    for shape, colours in hollow:  # after the legend, whose dots stay filled
        shape.set(edgecolor=shape.get_facecolor(), facecolor=colours, linewidth=1.5)
    return Figure(figure, alt)


def beeswarm(groups, title="", xlabel="", alt=""):
    """Draw every value of each entry of `groups` as a point, a row per entry; points that would coincide move apart."""
    import seaborn

    values = np.concatenate(list(groups.values()))
    rows = np.repeat([str(label) for label in groups], [len(group) for group in groups.values()])
    for size in (4, 3, 2.5, 2, 1):
        figure, axes = _axes(title, xlabel, "", (8, 1 + max(2.4, 0.28 * len(groups))))
        with warnings.catch_warnings(record=True) as raised:
            seaborn.swarmplot(x=values, y=rows, order=[str(label) for label in groups], size=size, ax=axes)
            axes.set(xlabel=xlabel, ylabel="")
            for label, shape in zip(groups, axes.collections, strict=True):
                shape.set(label=label, gid="swarm")
            figure.draw_without_rendering()  # places the points
            for shape in axes.collections:
                vars(shape).pop("draw", None)  # seaborn's, which would place them again
                if size < 4:  # small points hide less of each other, and are hard to see
                    shape.set(sizes=[16], alpha=0.6)
            made = Figure(figure, alt)
        if not any("cannot be placed" in str(warning.message) for warning in raised):
            break
    return made


def _name_points(axes, named):
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


def scatter(groups, title="", xlabel="", ylabel="", alt="", names=None, joined=None):
    """Draw points in the plane, with one colour and marker per group; both axes have the same scale.

    groups: a dictionary from label to points (n, 2).
    names: for some labels, n words written beside the points.
    joined: pairs of points (n, 2, 2) to join by a thin grey line.
    """
    from matplotlib.collections import LineCollection

    figure, axes = _axes(title, xlabel, ylabel, (7, 3.8))
    named = []
    for (label, points), marker in zip(groups.items(), itertools.cycle(MARKERS)):
        points = np.asarray(points, dtype=float).reshape(-1, 2)
        axes.scatter(*points.T, s=45, marker=marker, label=label)
        words = (names or {}).get(label, [])
        named += [(word, point, label) for word, point in zip(words, points, strict=label in (names or {}))]
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    if named:
        _name_points(axes, named)
    if joined is not None:
        ends = np.asarray(joined, dtype=float)
        axes.add_collection(LineCollection(ends, color=GREY, linewidth=1, zorder=0, gid="joined", label="_points"))
    if len(groups) > 1:
        axes.legend(frameon=False)
    return Figure(figure, alt)


def histogram(series, edges, title="", xlabel="", alt="", ylabel="share of values"):
    """Draw the share of values per bin, with the entries of `series` side by side; `edges` are the bin edges.

    Raises ValueError for values outside the edges: they would be missing from the picture.
    """
    figure, axes = _axes(title, xlabel, ylabel)
    edges = np.asarray(edges, dtype=float)
    width = 0.9 * np.diff(edges) / len(series)
    for number, (label, values) in enumerate(series.items()):
        values = np.asarray(values, dtype=float).ravel()
        if not len(values) or values.min() < edges[0] or values.max() > edges[-1]:
            raise ValueError(
                f"{label!r} must hold values between the edges {edges[0]:g} and {edges[-1]:g}, at least one"
            )
        shares = np.histogram(values, bins=edges)[0] / len(values)
        axes.bar(
            edges[:-1] + 0.05 * np.diff(edges) + number * width,
            shares,
            width,
            align="edge",
            label=label,
            hatch=HATCHES[number % 4],
            edgecolor="white",
            linewidth=0.5,
        )
    whole = np.allclose(edges % 1, 0.5)  # bins around whole numbers are labelled with them, others with their edges
    axes.set_xticks((edges[:-1] + edges[1:]) / 2 if whole else edges)
    if len(series) > 1:
        axes.legend(frameon=False)
    return Figure(figure, alt)


def heatmap(matrix, rows, columns, title="", alt="", xlabel="", ylabel="", numbers=True, limits=(None, None)):
    """Draw a grid of cells, darker for larger; `numbers` writes the value into each cell (two decimals, or whole).

    Where values or limits go below 0 and above it, red is above 0, blue below, and white is 0.
    """
    import seaborn

    matrix = np.asarray(matrix, dtype=float)
    whole = np.array_equal(matrix, matrix.round())
    names = [textwrap.fill(str(name), 9, break_long_words=False) for name in columns]
    longest = max((len(line) for name in names for line in name.splitlines()), default=0)
    steep = longest > (5 if len(columns) > 8 else 12)
    width = 0.62 if steep else max(0.62, 0.12 * longest)
    height = 0.36 if len(rows) < 10 else 0.3
    figure, axes = _axes(title, xlabel, ylabel, (2.2 + width * len(columns), 1.3 + height * len(rows)))
    low, high = (given if given is not None else end for given, end in zip(limits, (matrix.min(), matrix.max())))
    signed = low < 0 < high
    colours = seaborn.color_palette("vlag", as_cmap=True) if signed else seaborn.light_palette(HEAT, as_cmap=True)
    seaborn.heatmap(
        matrix,
        ax=axes,
        cmap=colours,
        vmin=low,
        vmax=high,
        center=0 if signed else None,
        cbar=not numbers,
        linewidths=0.5,
        annot=matrix.round(2) + 0.0 if numbers else False,  # + 0.0 avoids writing -0.0 as -0.00
        fmt=".0f" if whole else ".2f",
        xticklabels=list(columns) if steep else names,
        yticklabels=list(rows),
    )
    for text, cell in zip(axes.texts, axes.collections[0].get_facecolors()):
        text.set_color(_on(cell))
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.tick_params(axis="y", rotation=0)
    if steep:
        axes.set_xticklabels(axes.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
    return Figure(figure, alt)
