"""One style for all figures, and those figures that take more lines than their idea, each with its data as text.

A lesson draws what takes a few lines itself, with seaborn and matplotlib; `setup` shows that in the same way.

Each function displays a picture whose text form (what a terminal, a screen reader or a test sees instead of the pixels)
is the alternative text followed by the drawn data, read back from the figure. So comparing outputs compares pictures.
"""

import itertools
import textwrap
import warnings

import numpy as np

from ._support.colours import ATTENTION as ATTENTION
from ._support.colours import GREY, GRID, HEAT, INK, ink_on
from ._support.colours import contrast as contrast
from ._support.figures import GUIDE, OWN_WORDS, Figure, label_ends, label_point, name_points, references

STYLE = {
    "figure.figsize": (7, 3.6),
    "savefig.dpi": 110,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "axes.titleweight": "bold",
    "font.size": 12,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK[0]),
    "lines.linewidth": 2,
    "lines.markersize": 6,
}
# seaborn's "colorblind", distinguishable under the common colour-vision deficiencies; its import takes seconds
PALETTE = "#0173b2 #de8f05 #029e73 #d55e00 #cc78bc #ca9161 #fbafe4 #949494 #ece133 #56b4e9".split()
MARKERS = "osD^vP"
HATCHES = ("", "//", "..", "xx")


def use_style():
    """Apply the course's matplotlib style for this session."""
    import matplotlib

    matplotlib.rcParams.update(STYLE)
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=PALETTE)


def _axes(title, xlabel, ylabel, size=None):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=size, layout="constrained")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title, wrap=True)
    return figure, axes


def lines(x, series, title="", xlabel="", ylabel="", alt="", doubling=False, spread=None, lead=None, marks=None):
    """Draw one line per entry of `series` (a dictionary from label to values), labelled at its right end.

    A line ends where its last values are missing (nan).

    lead: the labels that the title speaks of; the other lines are grey.
    marks: values to compare with, a dictionary from words to heights, as dashed lines.
    doubling: use a logarithmic axis of base 2, with a tick at each x.
    spread: for some labels, the (lowest, highest) values, drawn as a band around the line.
    """
    figure, axes = _axes(title, xlabel, ylabel)
    for (label, values), marker in zip(series.items(), itertools.cycle(MARKERS)):
        (line,) = axes.plot(list(x), np.asarray(values, dtype=float), marker=marker, label=label)
        if lead and label not in lead:
            line.set(color=GREY, alpha=0.55, zorder=1)
        if spread and label in spread:
            low, high = np.asarray(spread[label], dtype=float)
            axes.fill_between(list(x), low, high, color=line.get_color(), alpha=0.12, linewidth=0, label=f"_{label}")
    if doubling:
        axes.set_xscale("log", base=2)
        axes.set_xticks([], minor=True)
    if doubling or len(set(np.diff(list(x)))) == 1:
        axes.set_xticks(list(x), [f"{value:,}" for value in x])
    if len(series) > 1:
        ends = [line.get_xydata()[np.isfinite(line.get_ydata())][-1] for line in axes.lines]
        label_ends(axes, [(line.get_label(), end, line.get_color()) for line, end in zip(axes.lines, ends)])
    references(axes, marks, "y")
    return Figure(figure, alt)


def ecdf(series, title="", xlabel="", alt=""):
    """Draw for each entry of `series` the share of its values up to x (the empirical distribution)."""
    figure, axes = _axes(title, xlabel, "share of values up to here")
    ordered = sorted(series, key=lambda label: np.median(series[label]))
    for label, values in series.items():
        line = axes.ecdf(np.ravel(values), label=label, gid="ecdf")
        height = 0.85 - 0.7 * ordered.index(label) / max(1, len(series) - 1)  # the leftmost curve's label is highest
        label_point(axes, label, (np.quantile(values, height), height), line.get_color())
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


def bars(names, series, title="", xlabel="", ylabel="", alt="", intervals=None, stacked=False, marks=None):
    """Draw grouped bars for each name; `series` is a dictionary from label to one value per name.

    intervals: for some labels, the (lowest, highest) values, drawn as a line over each bar.
    stacked: draw each name's values on one another, as shares of their sum, with the shares written into them.
    marks: values to compare with, a dictionary from words to heights, as dashed lines.
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
            axes.bar_label(shapes, shares, label_type="center", color=ink_on(colour), fontsize="small", gid=OWN_WORDS)
            ends.append((label, (at[-1] + width, floor[-1] + row[-1] / 2), colour))
        if intervals and label in intervals:
            axes.vlines(at + width / 2, *intervals[label], color=INK[0], label=f"_{label}", gid="interval y")
    axes.set_xticks(range(len(names)), list(names))
    if stacked:
        axes.set_ylim(0, 1)
        label_ends(axes, ends)
    elif len(series) > 1:
        axes.legend(frameon=False)
    references(axes, marks, "y")
    return Figure(figure, alt)


def dots(
    names,
    series,
    title="",
    xlabel="",
    alt="",
    intervals=None,
    panels=None,
    limits=(None, None),
    row=None,
    lead=None,
    marks=None,
    hollow=True,
):
    """Draw a row per name, with one dot per entry of `series` (a dictionary from label to one value per name).

    intervals: for some labels, the (lowest, highest) values, drawn as a line through each dot. Without any, a grey
    line joins the dots of a row: before and after.
    hollow: whether a dot is hollow if its interval holds 0, where something lies below 0, as among differences.
    panels: a dictionary from a panel's title to the number of its rows; the panels stand below each other.
    limits: the ends of the axis of values; an end that is None follows the values. row: the height of a row, in inches.
    lead: the names that the title speaks of; the other rows are grey.
    marks: values to compare with, a dictionary from words to values, as dashed lines; the words stand above the rows.
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import to_rgba

    names, panels, intervals = list(names), panels or {title: len(names)}, intervals or {}
    if sum(panels.values()) != len(names):
        raise ValueError(f"the panels have {sum(panels.values())} rows, the names are {len(names)}")
    row = row or (0.34 if len(names) <= 8 else 0.27)
    height = 1 + 0.3 * (len(panels) + (len(series) > 1)) + row * len(names)
    kind = {"label": "panel"} if len(panels) > 1 else {}
    ratios = {"height_ratios": list(panels.values())}
    figure, grid = plt.subplots(
        len(panels), sharex=True, squeeze=False, figsize=(7, height), layout="constrained", subplot_kw=kind, **ratios
    )
    values = np.array([list(row) for row in series.values()], dtype=float)
    shifts = np.linspace(-0.4, 0.4, len(series)) * (1 - 1 / len(series))
    covering = np.ptp(values, axis=0) < 0.01 * np.ptp(values)  # dots at one place: the last would hide the others
    shifts = shifts[:, None] * (covering | bool(intervals))
    ends = np.concatenate([values.ravel(), *(np.ravel(interval) for interval in intervals.values())])
    first, finished = 0, []
    for axes, (heading, count) in zip(grid[:, 0], panels.items()):
        part, at = slice(first, first + count), np.arange(count)
        first += count
        if not intervals:
            axes.hlines(
                at, values[:, part].min(axis=0), values[:, part].max(axis=0), color=GREY, linewidth=1, gid=GUIDE
            )
        if ends.min() < 0 < ends.max():
            axes.vlines(0, -0.5, count - 0.5, color=GREY, linewidth=1, gid=GUIDE)
        for (label, shown), marker, shift in zip(zip(series, values), itertools.cycle(MARKERS), shifts[:, part]):
            shape = axes.scatter(shown[part], at + shift, s=45, marker=marker, label=label, gid="dots", zorder=3)
            named = np.isin(names[part], lead or names)
            colour = np.where(named[:, None], shape.get_facecolor(), to_rgba(GREY))
            unclear = np.zeros(count, bool)
            if label in intervals:
                low, high = np.asarray(intervals[label], dtype=float)[:, part]
                axes.hlines(at + shift, low, high, color=colour, label=f"_{label}", gid="interval x")
                if ends.min() < 0 and hollow:
                    unclear = (low <= 0) & (high >= 0)
            finished.append((shape, colour, unclear))
        axes.set_ylim(count - 0.5, -0.5)
        axes.set_title(heading if len(panels) > 1 else "", pad=20 if marks and first == count else None)
        axes.set_yticks(at, names[part])
        axes.grid(axis="y", color=GRID[0], linewidth=0.8)
        axes.set_axisbelow(True)
        references(axes, marks if first == count else None, "x")
    if any(unclear.any() for *_, unclear in finished):
        xlabel += "\nhollow: the interval holds 0, no clear difference"
    axes.set_xlabel(xlabel, wrap=True)
    axes.set_xlim(*limits)  # of all panels, and after all are drawn: it fixes the ends that are None too
    figure.suptitle(title, x=0.01, ha="left", fontsize="medium", fontweight="bold", wrap=True)
    if len(series) > 1:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(series), frameon=False)
    for shape, colour, unclear in finished:  # after the legend, whose dots stay filled and in colour
        shape.set(edgecolor=colour, facecolor=np.where(unclear[:, None], 1.0, colour), linewidth=1.5)
    return Figure(figure, alt)


def beeswarm(groups, title="", xlabel="", alt=""):
    """Draw every value of each entry of `groups` as a point, a row per entry; points that would coincide move apart."""
    import matplotlib.pyplot as plt
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
        if size == 1 or not any("cannot be placed" in str(warning.message) for warning in raised):
            return Figure(figure, alt)
        plt.close(figure)


def scatter(groups, title="", xlabel="", ylabel="", alt="", names=None):
    """Draw points in the plane, with one colour and marker per group; both axes have the same scale.

    groups: a dictionary from label to points (n, 2).
    names: for some labels, n words written beside the points.
    """
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
        name_points(axes, named)
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
        at, look = edges[:-1] + 0.05 * np.diff(edges) + number * width, {"edgecolor": "white", "linewidth": 0.5}
        axes.bar(at, shares, width, align="edge", label=label, hatch=HATCHES[number % 4], **look)
    whole = np.allclose(edges % 1, 0.5)  # bins around whole numbers are labelled with them, others with their edges
    axes.set_xticks((edges[:-1] + edges[1:]) / 2 if whole else edges)
    if len(series) > 1:
        axes.legend(frameon=False)
    return Figure(figure, alt)


def heatmap(matrix, rows, columns, title="", alt="", xlabel="", ylabel="", numbers=True, limits=(None, None), hue=HEAT):
    """Draw a grid of cells, darker for larger; `numbers` writes the value into each cell (two decimals, or whole).

    Where values or limits go below 0 and above it, red is above 0, blue below, and white is 0; else `hue` is the
    darkest colour: `ATTENTION` for the weights of a head.
    """
    import seaborn

    matrix = np.asarray(matrix, dtype=float)
    whole = np.array_equal(matrix, matrix.round())
    names = [textwrap.fill(str(name), 9, break_long_words=False) for name in columns]
    longest = max((len(line) for name in names for line in name.splitlines()), default=0)
    steep = longest > (5 if len(columns) > 8 else 12)
    width = 0.62 if steep else max(0.62, 0.12 * longest)
    height = 0.36 if len(rows) < 10 else 0.24
    figure, axes = _axes(title, xlabel, ylabel, (2.2 + width * len(columns), 1.3 + height * len(rows)))
    low, high = (given if given is not None else end for given, end in zip(limits, (matrix.min(), matrix.max())))
    signed = low < 0 < high
    colours = seaborn.color_palette("vlag", as_cmap=True) if signed else seaborn.light_palette(hue, as_cmap=True)
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
        text.set_color(ink_on(cell))
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.tick_params(axis="y", rotation=0)
    if steep:
        axes.set_xticklabels(axes.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
    return Figure(figure, alt)
