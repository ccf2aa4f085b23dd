"""How a figure is shown, and labels that can be read.

A page shows it as SVG, which follows its light or dark mode; paper shows it as PNG; everything else
shows text: what the figure says of itself, and its data.
"""

from __future__ import annotations

import io
import sys
import textwrap
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .bars import ipython_shell
from .colours import GREY, HEAT, INK, Colour, ink_on, readable
from .figure_svg import svg_of

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation
    from numpy.typing import ArrayLike


# matplotlib's group ids (gid) tell `figure_text` what a shape means. Those of `plots.py` are
# "interval x" and "interval y" (lines along this axis), "dots" (one in each row that the y axis
# names) and "swarm" (only the x values count). These two say what not to repeat:
OWN_WORDS = "label"  # words that the course's functions write beside a shape with the same label
GUIDE = "guide"  # lines that only guide the eye

# no figure of a lesson may say one of these
NO_TITLE = "A figure without a title."
WITHOUT_WORDS = "Its data are not said in words: it has "


class Figure:
    """A finished picture with its alternative text, as the functions of `plots.py` return it.

    `png` and `svg` are the picture, `data` is its data as lines of text. Closes the matplotlib
    figure. Raises ValueError without alternative text, NotImplementedError as `drawn` does.
    """

    def __init__(self, figure: matplotlib.figure.Figure, alt: str):
        import matplotlib.pyplot as plt
        from matplotlib.text import Text

        from .figure_text import drawn

        try:
            if not alt:
                raise ValueError("describe the picture for those who cannot see it: alt=...")
            for text in figure.findobj(Text):
                text.set_parse_math(False)  # a "$" in a token is literal
            self.png, self.data = _png(figure), drawn(figure)
            self.alt, self.svg = alt, svg_of(figure, alt)
        finally:
            plt.close(figure)

    def _repr_html_(self) -> str:
        return _on_a_page(self.svg)

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        return self.png, {"alt": self.alt}

    def __repr__(self):
        return "\n".join([f"Figure. {self.alt}", *self.data])


def _on_a_page(svg: str) -> str:
    return f'<figure class="cu-figure" style="margin:0">{svg}</figure>'


def _png(figure: matplotlib.figure.Figure, **settings: Any) -> bytes:
    # settings: of `figure.savefig`
    from PIL import Image

    buffer, smaller = io.BytesIO(), io.BytesIO()
    figure.savefig(buffer, format="png", **settings)
    # 256 colours look the same and take a third of the bytes
    Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        smaller, "png", optimize=True
    )
    return smaller.getvalue()


def show_as_the_course_does() -> None:
    """Let IPython, if it runs, show each matplotlib figure as the course's own, and nothing for its
    parts.

    A cell that ends in `axes.set(...)` or `sns.lineplot(...)` prints nothing beside the figure.
    """
    shell = ipython_shell()
    if shell is None:
        return
    formatter = shell.display_formatter

    def bundle(
        figure: matplotlib.figure.Figure,
    ) -> tuple[dict[str, str | bytes], dict[str, dict[str, str]]]:
        # Jupyter's backend registers a formatter of its own at the first figure, which would be
        # asked next
        formatter.formatters["image/png"].pop(type(figure), None)
        return _bundle(figure)

    # by name, since the import of matplotlib.figure takes half a second
    formatter.mimebundle_formatter.for_type_by_name("matplotlib.figure", "Figure", bundle)
    silent = formatter.ipython_display_formatter
    silent.for_type_by_name("matplotlib.artist", "Artist", _nothing_for_parts_of_figures)
    for kind in (list, tuple, np.ndarray):
        silent.for_type(kind, _nothing_for_parts_of_figures)
    for module, name in ("seaborn.axisgrid", "Grid"), ("matplotlib.container", "PieContainer"):
        silent.for_type_by_name(module, name, lambda value: None)


def _bundle(
    figure: matplotlib.figure.Figure,
) -> tuple[dict[str, str | bytes], dict[str, dict[str, str]]]:
    """({kind of content: content}, {kind: metadata}) of a figure."""
    from matplotlib.text import Text

    from .figure_text import drawn

    # a long title is broken into lines, where it would run out of the picture
    for axes in figure.axes:
        for title in axes.get_children():
            if isinstance(title, Text) and title not in axes.texts:
                title.set_wrap(True)
    alt = _description(figure)
    try:
        data = drawn(figure)
    except NotImplementedError as error:
        data = [f"{WITHOUT_WORDS}{error}."]
    png, svg = _png(figure, bbox_inches="tight"), svg_of(figure, alt, bbox_inches="tight")
    return {
        "text/html": _on_a_page(svg),
        "image/png": png,
        "text/plain": "\n".join([f"Figure. {alt}", *data]),
    }, {"image/png": {"alt": alt}}


def _description(figure: matplotlib.figure.Figure) -> str:
    """The label of a figure, if it has one; else its titles, and what its axes show."""
    if figure.get_label():
        return str(figure.get_label())
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    titles = [
        figure.get_suptitle(),
        *(axes.get_title(place) for axes in panels for place in ("left", "center", "right")),
    ]
    sentences = list(filter(None, titles)) or [NO_TITLE]
    for direction, labels in (
        ("Across", [axes.get_xlabel() for axes in panels]),
        ("Up", [axes.get_ylabel() for axes in panels]),
    ):
        if any(labels):
            sentences.append(f"{direction}: {', '.join(dict.fromkeys(filter(None, labels)))}")
    return " ".join(sentence if sentence[-1] in ".!?" else f"{sentence}." for sentence in sentences)


def _nothing_for_parts_of_figures(value: object) -> None:
    """Show nothing for a part of a figure. For anything else, raises NotImplementedError, and
    IPython tries its other formatters.
    """
    if "matplotlib.figure" not in sys.modules or not _is_part(value):
        raise NotImplementedError


def _is_part(value: object) -> bool:
    from matplotlib import artist, figure

    if isinstance(value, np.ndarray):
        value = list(value.flat) if value.dtype == object else []
    if isinstance(value, (list, tuple)):  # a container of bars is a tuple
        value = [part for part in value if part is not None]  # axes.set(xscale=...) returns such
        return bool(value) and all(map(_is_part, value))
    return isinstance(value, artist.Artist) and not isinstance(value, figure.FigureBase)


def heatmap(
    matrix: ArrayLike,
    rows: Collection,
    columns: Collection,
    title: str = "",
    alt: str = "",
    xlabel: str = "",
    ylabel: str = "",
    limits: tuple[float | None, float | None] = (None, None),
) -> Figure:
    """Draw a grid of cells, darker for larger, each with its value in it (two decimals, or whole).

    matrix: (rows, columns). rows, columns: their names, any values with a text.
    limits: the values at the ends of the colours; None means the least or greatest of the matrix.
    alt: the alternative text. Raises ValueError if it is empty.

    With more than 600 cells, a colour bar shows the values instead.
    Where the ends of the colours lie on both sides of 0, red is above 0, blue below, white is 0.
    """
    import matplotlib.pyplot as plt
    import seaborn

    matrix = np.asarray(matrix, dtype=float)
    names, aslant, width = _names_above(columns)
    height = 0.36 if len(rows) < 10 else 0.24  # of a cell, in inches
    # 2.2 and 1.3 inches are for the names, the labels and the title
    figure, axes = plt.subplots(
        figsize=(2.2 + width * len(columns), 1.3 + height * len(rows)), layout="constrained"
    )
    axes.set_title(title, wrap=True)
    low, high = limits
    low = matrix.min() if low is None else low
    high = matrix.max() if high is None else high
    signed = low < 0 < high
    palette = (
        seaborn.color_palette("vlag", as_cmap=True)
        if signed
        else seaborn.light_palette(HEAT, as_cmap=True)
    )
    crowded = matrix.size > 600  # the numbers would have no room
    seaborn.heatmap(
        matrix,  # pyrefly: ignore[bad-argument-type]  # the stubs know no array
        ax=axes,
        cmap=palette,
        center=0 if signed else None,
        vmin=low,
        vmax=high,
        cbar=crowded,
        linewidths=0.5,
        # + 0.0 turns -0.0 into 0.0
        annot=False if crowded else matrix.round(2) + 0.0,  # pyrefly: ignore[bad-argument-type]
        fmt=".0f" if np.array_equal(matrix, matrix.round()) else ".2f",
        xticklabels=names,
        yticklabels=list(rows),
    )
    # there are no texts in a crowded grid
    for text, cell in zip(axes.texts, axes.collections[0].get_facecolor()):
        # the cells' colours are the rows of an array, which the type does not say
        text.set_color(ink_on(cell))  # pyrefly: ignore[bad-argument-type]
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.tick_params(axis="y", rotation=0)
    if aslant:
        axes.set_xticklabels(
            axes.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor"
        )
    return Figure(figure, alt)


def _names_above(columns: Collection) -> tuple[list[Any], bool, float]:
    """How the columns of a heatmap are named: the names as they are written, whether they are
    written aslant, and the width of a cell in inches.
    """
    # in lines of 9 letters; longer words stay whole
    names = [textwrap.fill(str(name), 9, break_long_words=False) for name in columns]
    longest = max(map(len, "\n".join(names).splitlines()), default=0)  # in letters
    # 0.62 inches hold a value of two decimals, and 5 letters. More letters would make a grid of
    # many columns too wide; a grid of up to 8 has room for 12.
    if longest > (5 if len(columns) > 8 else 12):
        return list(columns), True, 0.62
    return names, False, max(0.62, 0.12 * longest)  # 0.12 inches for each letter


def label_point(axes: Axes, label: str, point: tuple[float, float], colour: Colour) -> Annotation:
    """Write a label to the right of a point, in lines of at most 22 letters, in a readable shade
    of `colour`. Returns the text.
    """
    from matplotlib.patheffects import withStroke

    text = axes.annotate(
        textwrap.fill(label, 22),
        point,
        (8, 0),  # beside the mark; `label_ends` keeps the 8
        textcoords="offset points",
        va="center",
        gid=OWN_WORDS,
    )
    text.set(color=readable(colour), path_effects=[withStroke(linewidth=3, foreground="white")])
    return text


def references(axes: Axes, marks: Mapping[str, float] | None, along: str) -> None:
    """Draw a thin dashed line across the axis `along` ("x" or "y") at each of `marks`.

    marks: {words beside the line: its value on that axis}.
    """
    line_style: dict[str, Any] = {"color": GREY, "linewidth": 1.2, "linestyle": "--", "zorder": 1}
    text_style: dict[str, Any] = {
        "textcoords": "offset points",
        "color": INK[0],
        "va": "bottom",
        "gid": OWN_WORDS,
    }
    # the underscore of a label keeps a line out of the legend; `figure_text` takes it off
    for words, value in (marks or {}).items():
        if along == "x":
            axes.axvline(value, label=f"_{words}", **line_style)
            axes.annotate(
                words,
                (value, 1),  # in the frame's height
                (0, 3),
                xycoords=axes.get_xaxis_transform(),
                ha="center",
                **text_style,
            )
        else:
            axes.axhline(value, label=f"_{words}", **line_style)
            axes.annotate(
                words,
                (0, value),  # in the frame's width
                (3, 1),
                xycoords=axes.get_yaxis_transform(),
                ha="left",
                **text_style,
            )
    if marks and along == "y":  # room for the words below the title
        low, high = axes.get_ylim()
        axes.set_ylim(low, max(high, max(marks.values()) + 0.1 * (high - low)))


def label_ends(axes: Axes, ends: Iterable[tuple[Any, tuple[float, float], Colour]]) -> None:
    """Label points that lie above each other, and move the labels apart.

    ends: (label, point, colour) of each, as for `label_point`.
    """
    from scipy.optimize import isotonic_regression

    # from the lowest point to the highest
    texts = [label_point(axes, *end) for end in sorted(ends, key=lambda end: end[1][1])]
    if not texts:
        return
    figure: Any = axes.figure
    figure.draw_without_rendering()  # places the texts
    boxes = [text.get_window_extent() for text in texts]  # in pixels
    # the centre and the height of each, with 4 pixels between two
    wanted, heights = np.array([((box.y0 + box.y1) / 2, box.height + 4) for box in boxes]).T
    stack = np.cumsum(heights) - heights / 2  # the centres if they stood close together
    # the nearest centres at which no text overlaps the one below it
    centres = isotonic_regression(wanted - stack).x + stack
    for text, moved in zip(texts, centres - wanted, strict=True):
        text.xyann = (8, moved * 72 / figure.dpi)  # in points, of which an inch has 72
