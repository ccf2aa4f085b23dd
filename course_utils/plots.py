"""The course's figures: one style, and every figure carries a text description and its data.

Each function displays a picture whose text form (what a terminal, a screen reader or a test sees instead of the pixels)
is the alternative text followed by the drawn data, read back from the figure. So comparing outputs compares pictures.
"""

import io
import itertools

import numpy as np

STYLE = {
    "figure.figsize": (7, 3.6),
    "figure.constrained_layout.use": True,
    "savefig.dpi": 110,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "font.size": 10,
    "text.parse_math": False,  # a "$" in a token is literal
    "lines.linewidth": 2,
    "lines.markersize": 6,
}
PALETTE = "colorblind"  # seaborn's; distinguishable under the common colour-vision deficiencies
MARKERS = "osD^vP"
HATCHES = ("", "//", "..", "xx")
HEAT = "#4292c6"  # the darkest cell of a heatmap: light enough for black numbers


def use_style():
    """Apply the course's matplotlib style for this session."""
    import matplotlib
    import seaborn

    matplotlib.rcParams.update(STYLE)
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=seaborn.color_palette(PALETTE))


def drawn(figure, decimals=3):
    """The data that a matplotlib figure shows, as lines of text: lines, bars, points and heatmap cells, in order.

    It is read from the figure itself, not from the data it was meant to draw.
    """
    from matplotlib.collections import PathCollection, PolyCollection, QuadMesh

    def numbers(values):
        values = np.asarray(values)
        form = "d" if np.issubdtype(values.dtype, np.integer) else f".{decimals}f"
        return " ".join(format(value, form) for value in values.ravel())

    text = []
    for axes in figure.axes:
        if axes.get_label() == "<colorbar>":
            continue
        for line in axes.lines:
            text.append(f"line {line.get_label()}: x {numbers(line.get_xdata())} | y {numbers(line.get_ydata())}")
        for bars in axes.containers:
            text.append(f"bars {bars.get_label()}: {numbers([bar.get_height() for bar in bars])}")
        for shape in axes.collections:
            if isinstance(shape, QuadMesh):
                grid = shape.get_array().reshape(shape.get_coordinates().shape[0] - 1, -1)
                text += [
                    f"row {name.get_text()}: {numbers(row)}"
                    for name, row in zip(axes.get_yticklabels(), grid, strict=True)
                ]
            elif isinstance(shape, PolyCollection):
                text.append(f"band {shape.get_label()}: corners {numbers(shape.get_paths()[0].vertices)}")
            elif isinstance(shape, PathCollection):
                names = [name.get_text() for name in axes.texts if name.get_gid() == shape.get_label()]
                for name, point in itertools.zip_longest(names, shape.get_offsets(), fillvalue=""):
                    text.append(f"point {shape.get_label()} {name}: {numbers(point)}")
    return text


class Figure:
    """A finished picture with its alternative text. Jupyter displays it as PNG, everything else as text."""

    def __init__(self, figure, alt):
        import matplotlib.pyplot as plt

        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": None})
        self.png, self.alt, self.data = buffer.getvalue(), alt, drawn(figure)
        plt.close(figure)

    def _repr_png_(self):
        return self.png, {"alt": self.alt}

    def __repr__(self):
        return "\n".join([f"Figure. {self.alt}", *self.data])


def _axes(title, xlabel, ylabel, size=None):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=size)
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
    return figure, axes


def lines(x, series, title, xlabel, ylabel, alt, doubling=False, spread=None):
    """Draw one line per entry of `series` (a dictionary from label to values), told apart by colour and marker.

    doubling: use a logarithmic axis of base 2, with a tick at each x.
    spread: for some labels, the (lowest, highest) values, drawn as a band around the line.
    """
    figure, axes = _axes(title, xlabel, ylabel)
    for (label, values), marker in zip(series.items(), itertools.cycle(MARKERS)):
        (line,) = axes.plot(list(x), np.asarray(values, dtype=float), marker=marker, label=label)
        if spread and label in spread:
            axes.fill_between(
                list(x),
                *np.asarray(spread[label], dtype=float),
                color=line.get_color(),
                alpha=0.12,
                linewidth=0,
                label=f"_{label}",
            )
    if doubling:
        axes.set_xscale("log", base=2)
        axes.set_xticks([], minor=True)
    if doubling or len(set(np.diff(list(x)))) == 1:
        axes.set_xticks(list(x), [str(value) for value in x])
    if len(series) > 1:
        beside = {"loc": "center left", "bbox_to_anchor": (1, 0.5)} if len(series) > 5 else {}
        axes.legend(frameon=False, **beside)
    return Figure(figure, alt)


def bars(names, series, title, xlabel, ylabel, alt):
    """Draw grouped bars for each name; `series` is a dictionary from label to one value per name."""
    figure, axes = _axes(title, xlabel, ylabel)
    width, hatches = 0.8 / len(series), itertools.cycle(HATCHES)
    for number, ((label, values), hatch) in enumerate(zip(series.items(), hatches)):
        at = np.arange(len(names)) - 0.4 + number * width
        axes.bar(
            at,
            np.asarray(values, dtype=float),
            width,
            align="edge",
            label=label,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.5,
        )
    axes.set_xticks(range(len(names)), list(names))
    if len(series) > 1:
        axes.legend(frameon=False)
    return Figure(figure, alt)


def scatter(groups, title, xlabel, ylabel, alt, names=None):
    """Draw points in the plane, with one colour and marker per group; both axes have the same scale.

    groups: a dictionary from label to points (n, 2).
    names: for some labels, n words written beside the points.
    """
    figure, axes = _axes(title, xlabel, ylabel, (7, 5))
    for (label, points), marker in zip(groups.items(), itertools.cycle(MARKERS)):
        points = np.asarray(points, dtype=float).reshape(-1, 2)
        axes.scatter(*points.T, s=45, marker=marker, label=label)
        for name, point in zip((names or {}).get(label, []), points, strict=label in (names or {})):
            axes.annotate(name, point, xytext=(6, 3), textcoords="offset points", gid=label)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    if len(groups) > 1:
        axes.legend(frameon=False)
    return Figure(figure, alt)


def histogram(series, edges, title, xlabel, alt):
    """Draw the share of values per bin, with the entries of `series` side by side; `edges` are the bin edges.

    Raises ValueError for values outside the edges: they would be missing from the picture.
    """
    figure, axes = _axes(title, xlabel, "share of values")
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


def heatmap(matrix, rows, columns, title, alt, xlabel="", ylabel="", numbers=True, limits=(None, None)):
    """Draw a grid of cells, darker for larger; `numbers` writes the value into each cell (two decimals, or whole).

    With `limits` symmetric around 0, red is above 0, blue below, and pale near it.
    """
    import seaborn

    matrix = np.asarray(matrix, dtype=float)
    whole = np.array_equal(matrix, matrix.round())
    figure, axes = _axes(title, xlabel, ylabel, (2.2 + 0.62 * len(columns), 1.3 + 0.36 * len(rows)))
    signed = limits[0] is not None and limits[0] == -limits[1]
    colours = seaborn.color_palette("vlag", as_cmap=True) if signed else seaborn.light_palette(HEAT, as_cmap=True)
    seaborn.heatmap(
        matrix,
        ax=axes,
        cmap=colours,
        vmin=limits[0],
        vmax=limits[1],
        cbar=not numbers,
        linewidths=0.5,
        annot=matrix.round(2) + 0.0 if numbers else False,  # + 0.0 avoids writing -0.0 as -0.00
        annot_kws={"color": "black"},
        fmt=".0f" if whole else ".2f",
        xticklabels=list(columns),
        yticklabels=list(rows),
    )
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.tick_params(axis="y", rotation=0)
    if max(len(str(name)) for name in columns) > 5:
        axes.set_xticklabels(axes.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
    return Figure(figure, alt)
