"""One style for all figures, and those figures that take more lines than their idea.

Each function that draws returns a Figure, which a notebook displays. Its text form (what a screen
reader or a test sees) is the alternative text `alt`, which must not be empty (else ValueError),
followed by the drawn data. `_support/figure_text.py` reads these back from the figure: a `gid`
tells what kind of shape something is, and its label names it (one that begins with _ is in no
legend).
"""

from __future__ import annotations

import itertools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ._support.colours import GREY, GRID, INK
from ._support.figures import GUIDE, Figure, heatmap as heatmap, label_ends, references

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from numpy.typing import ArrayLike

STYLE = {
    "figure.figsize": (7, 3.6),
    "savefig.dpi": 110,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "axes.titleweight": "bold",
    "font.size": 12,
    "text.color": INK[0],
    "axes.labelcolor": INK[0],
    "axes.edgecolor": INK[0],
    "xtick.color": INK[0],
    "ytick.color": INK[0],
    "lines.linewidth": 2,
    "lines.markersize": 6,
}
# seaborn's "colorblind", distinguishable under the common colour-vision deficiencies; written out,
# since its import takes seconds
PALETTE = "#0173b2 #de8f05 #029e73 #d55e00 #cc78bc #ca9161 #fbafe4 #949494 #ece133 #56b4e9".split()
# of the series, in turn, so that they also differ without colour; in matplotlib's signs
MARKERS = "osD^vP"
HATCHES = ("", "//", "..", "xx")
GROUP = 0.8  # the width of all bars of a name, or height of its dots; names are 1 apart


def use_style() -> None:
    """Apply the course's matplotlib style for this session."""
    from matplotlib import rcParams
    from matplotlib.rcsetup import cycler

    rcParams.update(STYLE)
    rcParams["axes.prop_cycle"] = cycler(color=PALETTE)


def _axes(
    title: str, xlabel: str, ylabel: str, size: tuple[float, float] | None = None
) -> tuple[Canvas, Axes]:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=size, layout="constrained")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title, wrap=True)
    return figure, axes


def lines(
    x: Iterable[float],
    series: Mapping[str, ArrayLike],
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    alt: str = "",
    *,
    doubling: bool = False,
    spread: Mapping[str, ArrayLike] | None = None,
    lead: Collection[str] | None = None,
    marks: Mapping[str, float] | None = None,
) -> Figure:
    """Draw one line per entry of `series`; if there are several, each is labelled at its right end.

    x: the places of the values. Each has a tick if the steps between them are all equal; those
    between decimals may differ by rounding.
    series: a dictionary from label to values, one for each x. A line ends where its last
    values are missing (nan).
    lead: the labels that the title speaks of; the other lines are grey. If omitted, none are.
    marks: values to compare with, a dictionary from words to heights, as dashed lines.
    doubling: use a logarithmic axis of base 2, with a tick at each x.
    spread: for some labels, the (lowest, highest) values, drawn as a band around the line.
    """
    x, spread = list(x), spread or {}
    figure, axes = _axes(title, xlabel, ylabel)
    for (label, values), marker in zip(series.items(), itertools.cycle(MARKERS)):
        (line,) = axes.plot(x, np.asarray(values, dtype=float), marker=marker, label=label)
        if lead and label not in lead:
            line.set(color=GREY, alpha=0.55, zorder=1)  # below the others, which are at 2
        if label in spread:
            low, high = np.asarray(spread[label], dtype=float)
            band = axes.fill_between(x, low, high, label=f"_{label}", color=line.get_color())
            band.set(alpha=0.12, linewidth=0)
    if doubling:
        axes.set_xscale("log", base=2)
        axes.set_xticks([], minor=True)
    if doubling or len(set(np.diff(x))) == 1:
        axes.set_xticks(x, [f"{value:,}" for value in x])
    ends: list[Any] = []  # (label, last known point, colour) of each line with a known point
    for line in axes.lines:  # the series alone: `references` adds lines later
        points = np.asarray(line.get_xydata())
        known = points[np.isfinite(points[:, 1])]
        ends += [(line.get_label(), last, line.get_color()) for last in known[-1:]]
    if len(series) > 1:
        label_ends(axes, ends)
    references(axes, marks, "y")
    return Figure(figure, alt)


def bars(
    names: Iterable,
    series: Mapping[str, Iterable[float]],
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    alt: str = "",
    intervals: Mapping[str, ArrayLike] | None = None,
    marks: Mapping[str, float] | None = None,
) -> Figure:
    """Draw grouped bars for each name; `series` is a dictionary from label to one value per name.

    intervals: for some labels, the (lowest, highest) values, drawn as a line over each bar.
    marks: values to compare with, a dictionary from words to heights, as dashed lines.
    """
    names, intervals = list(names), intervals or {}
    figure, axes = _axes(title, xlabel, ylabel)
    width = GROUP / len(series)
    for number, (label, values) in enumerate(series.items()):
        left = np.arange(len(names)) - GROUP / 2 + number * width
        axes.bar(
            left,
            np.array(list(values), dtype=float),  # counts are stored as decimals, too
            width,
            align="edge",
            label=label,
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor="white",
            linewidth=0.5,
        )
        if label in intervals:
            low, high = np.asarray(intervals[label], dtype=float)
            axes.vlines(
                left + width / 2, low, high, color=INK[0], label=f"_{label}", gid="interval y"
            )
    axes.set_xticks(range(len(names)), names)
    if len(series) > 1:
        axes.legend(frameon=False)
    references(axes, marks, "y")
    return Figure(figure, alt)


def dots(
    names: Iterable[str],
    series: Mapping[str, Iterable[float]],
    title: str = "",
    xlabel: str = "",
    alt: str = "",
    intervals: Mapping[str, ArrayLike] | None = None,
    limits: tuple[float | None, float | None] = (None, None),
    row: float | None = None,
    lead: Collection[str] | None = None,
    marks: Mapping[str, float] | None = None,
    *,
    hollow: bool = True,
) -> Figure:
    """Draw a row per name, with one dot per entry of `series`.

    series: a dictionary from label to one value per name.
    intervals: for some labels, the (lowest, highest) values, drawn as a line through each dot.
    Without any, a grey line joins the dots of a row: before and after.
    limits: the ends of the axis of values; an end that is None follows the values.
    row: the height of a row, in inches. If omitted, rows are lower where there are many.
    lead: the names that the title speaks of; the other rows are grey. If omitted, no row is grey.
    marks: values to compare with, a dictionary from words to values, as dashed lines; the words
    stand above the rows.
    hollow: whether a dot is hollow if its interval holds 0, where something lies below 0, as among
    differences.
    """
    from matplotlib.colors import to_rgba

    names, intervals = list(names), intervals or {}
    # (series, names)
    values = np.array([list(of_series) for of_series in series.values()], dtype=float)
    everything = np.concatenate([values.ravel(), *map(np.ravel, intervals.values())])
    signed = everything.min() < 0
    figure, axes = _rows_of_dots(names, row, legend=len(series) > 1)

    # the lines behind the dots
    if not intervals:
        ends = (values.min(axis=0), values.max(axis=0))
        axes.hlines(range(len(names)), *ends, color=GREY, linewidth=1, gid=GUIDE)
    if signed and everything.max() > 0:
        axes.vlines(0, -0.5, len(names) - 0.5, color=GREY, linewidth=1, gid=GUIDE)

    # the dots, and their intervals
    in_colour = np.isin(names, list(lead or names))
    places = np.arange(len(names)) + _shifts(values, apart=bool(intervals))
    drawn_dots = []
    for label, of_series, heights, marker in zip(series, values, places, itertools.cycle(MARKERS)):
        shape = axes.scatter(
            of_series, heights, s=45, marker=marker, label=label, gid="dots", zorder=3
        )
        colours = np.where(in_colour[:, None], shape.get_facecolor(), to_rgba(GREY))
        unclear = np.zeros(len(names), bool)
        if label in intervals:
            low, high = np.asarray(intervals[label], dtype=float)
            axes.hlines(heights, low, high, color=colours, label=f"_{label}", gid="interval x")
            # the intervals that hold 0; none if no value lies below 0, or `hollow` is off
            unclear = (low <= 0) & (high >= 0) & signed & hollow
        drawn_dots.append((shape, colours, unclear))

    # what is written around them
    references(axes, marks, "x")
    axes.set_title("", pad=20 if marks else None)
    if any(unclear.any() for *_, unclear in drawn_dots):
        xlabel += "\nhollow: the interval holds 0, no clear difference"
    axes.set_xlabel(xlabel, wrap=True)
    axes.set_xlim(*limits)  # after all is drawn: it fixes the ends that are None too
    figure.suptitle(title, x=0.01, ha="left", fontsize="medium", fontweight="bold", wrap=True)
    if len(series) > 1:
        figure.legend(
            *axes.get_legend_handles_labels(),
            loc="outside lower center",
            ncols=len(series),
            frameon=False,
        )
    # after the legend, whose dots stay filled and in colour
    for shape, colours, unclear in drawn_dots:
        fill = np.where(unclear[:, None], 1.0, colours)  # 1.0: white
        shape.set(edgecolor=colours, facecolor=fill, linewidth=1.5)
    return Figure(figure, alt)


def _rows_of_dots(names: list[str], row: float | None, legend: bool) -> tuple[Canvas, Axes]:
    """Axes with a row per name, the first one above.

    row: its height in inches. legend: whether a legend needs room.
    """
    import matplotlib.pyplot as plt

    row = row or (0.34 if len(names) <= 8 else 0.27)
    height = 1.3 + 0.3 * legend + row * len(names)  # 1.3 for the title and the axis below
    figure, axes = plt.subplots(figsize=(7, height), layout="constrained")
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.grid(axis="y", color=GRID[0], linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def _shifts(values: np.ndarray, apart: bool) -> np.ndarray:
    """How far each dot lies below the middle of its row, in rows, which are 1 apart: an array
    (series, rows).

    values: (series, rows). apart: whether to shift the dots of all rows; else they are shifted only
    in a row whose dots are all at one place, where the last would hide the others.
    """
    # as the bars of a name stand: each in the middle of its share of GROUP
    shifts = np.linspace(-GROUP / 2, GROUP / 2, len(values)) * (1 - 1 / len(values))
    # within a hundredth of the range of all values, which is less than a dot is wide
    at_one_place = np.ptp(values, axis=0) < 0.01 * np.ptp(values)
    return shifts[:, None] * (at_one_place | apart)


def beeswarm(
    groups: Mapping[str, ArrayLike], title: str = "", xlabel: str = "", alt: str = ""
) -> Figure:
    """Draw every value of each group as a point, a row per group; points that coincide move apart,
    as far as there is room.

    groups: a dictionary from label to values.
    """
    import matplotlib.pyplot as plt

    # the points' diameter in printer's points; smaller where they find no place
    for size in (4, 3, 2.5, 2, 1):
        figure, axes = _axes(title, xlabel, "", (8, 1 + max(2.4, 0.28 * len(groups))))  # in inches
        if _draw_swarm(figure, axes, groups, size) or size == 1:
            break
        plt.close(figure)
    return Figure(figure, alt)


def _draw_swarm(figure: Canvas, axes: Axes, groups: Mapping[str, ArrayLike], size: float) -> bool:
    """Draw a swarm with points of this diameter. Returns whether each of them found a place apart
    from the others.
    """
    import seaborn

    labels = [str(label) for label in groups]
    values = np.concatenate([np.asarray(group) for group in groups.values()])
    rows = np.repeat(labels, [len(np.asarray(group)) for group in groups.values()])
    with warnings.catch_warnings(record=True, action="always") as raised:
        seaborn.swarmplot(x=values, y=rows, order=labels, size=size, ax=axes)
        axes.set(ylabel="")
        for label, shape in zip(labels, axes.collections, strict=True):
            shape.set(label=label, gid="swarm")
        figure.draw_without_rendering()  # places the points
    for shape in axes.collections:
        vars(shape).pop("draw", None)  # seaborn's, which would place them again
        # Points that were placed as smaller ones are hard to see at that size. They are drawn as
        # large as the others (16 is the square of 4), may overlap, and so let others shine through.
        if size < 4:
            shape.set(sizes=[16], alpha=0.6)
    return not any("cannot be placed" in str(warning.message) for warning in raised)
