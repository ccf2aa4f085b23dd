"""How matplotlib's own figures are shown: what they say of themselves, their data as text, and
nothing beside them.
"""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from matplotlib.animation import FuncAnimation

from course_utils import plots
from course_utils._support import colours, figure_text, figures


def table(value):
    return pd.DataFrame(
        {"x": [1, 2, 1, 2], "y": [0, 0.25, 1, value], "kind": ["cat", "cat", "dog", "dog"]}
    )


def by_kind(draw, **options):
    # a function that draws the table of a value with this function of seaborn, each kind in a
    # colour of its own
    return lambda value: draw(table(value), x="x", y="y", hue="kind", **options)


GRID = np.arange(9.0).reshape(3, 3)
# {name: (draws a figure with this value among its data, beginnings of lines of its text)}
KINDS = {
    "seaborn's lines": (by_kind(sns.lineplot), ["line cat: x 1.000 2.000 | y 0.000 0.250", "line dog: "]),
    "lines of two styles": (by_kind(sns.lineplot, style="kind", markers=True), ["line cat: ", "line dog: "]),
    "a line with its band": (lambda value: sns.lineplot(table(value), x="x", y="y", seed=0), ["line: ", "band: "]),
    "seaborn's points": (by_kind(sns.scatterplot), ["point cat: 1.000 0.000", "point dog: 2.000 "]),
    "colours of points": (lambda value: plt.scatter([1, 2], [3, 4], c=[0, value]), ["point: 1.000 3.000 value 0.000"]),
    "sizes of points": (lambda value: plt.scatter([1, 2], [3, 4], s=[9, value]), ["point: 1.000 3.000 size 9.000"]),
    # a text holds at most 1000 numbers of points and of a picture; of more, how many there are
    "many points": (lambda value: plt.scatter([*range(1001)], [value] * 1001), ["points: x 1001 values"]),
    "many points and a gap": (
        lambda value: plt.scatter([*range(1002)], [np.nan] + [value] * 1001),
        ["points: x 1001 values, by twentieths 1.000 "],
    ),
    "many cells and a gap": (
        lambda value: plt.imshow(np.where(np.eye(40) > 0, np.nan, value)),
        ["cells 40 x 40: 1560 values, by twentieths 0."],
    ),
    "lines that are not seen": (
        lambda value: plt.vlines([1], 0, [value], color="none"),
        ["lines: 1.000 0.000 to 1.000 "],
    ),
    "steps": (lambda value: plt.step([1, 2], [3, value]), ["line: x 1 2"]),
    "a line over names": (lambda value: plt.plot(["cat", "dog"], [3, value]), ["line: x cat dog | y 3.000 "]),
    "dates": (lambda value: plt.plot(pd.to_datetime(["2020-01-01"]), [value]), ["line: x 2020-01-01"]),
    "a line across": (lambda value: plt.axvline(value), []),
    "bars": (lambda value: plt.bar(["cat", "dog"], [1, value]), ["bars: cat 1.000, dog "]),
    "bars to the right": (lambda value: plt.barh(["cat", "dog"], [1, value]), ["bars: cat 1.000, dog "]),
    "many bars": (
        lambda value: plt.bar(pd.date_range("2020-01-01", periods=1001), [value] * 1001),
        ["bars: 1001 values"],
    ),
    "seaborn's bars": (
        lambda value: sns.barplot(table(value), x="kind", y="y", hue="x", palette="deep"),
        ["bars 1: cat 0.000, dog 1.000", "bars 2: cat 0.250, dog "],
    ),
    "a histogram": (lambda value: plt.hist([0.5, 1, value], bins=[0, 0.55, 2]), ["bars: "]),
    "a histogram's outline": (lambda value: plt.hist([1, value], bins=[0, 0.55, 2], histtype="step"), ["polygon: "]),
    "intervals of lines": (lambda value: plt.errorbar([1, 2], [3, 4], yerr=value), ["line: x 1 2", "lines: 1.000 "]),
    "vertical lines": (lambda value: plt.vlines([1, 2], 0, [3, value]), ["lines: 1.000 0.000 to 1.000 3.000, 2.000 "]),
    "stems": (lambda value: plt.stem([1, value]), ["line: x 0 1"]),
    "a band": (lambda value: plt.fill_between([1, 2], [0, 0], [1, value], label="sure"), ["band sure: corners "]),
    "a violin": (lambda value: plt.violinplot([[0, 1, value]]), ["band: corners "]),
    "a marked range": (lambda value: plt.axhspan(0, value), ["rectangle: corners "]),
    "a picture": (lambda value: plt.imshow([[0, 1], [2, value]]), ["row 0: 0.000 1.000", "row 1: 2.000 "]),
    "a picture with a hole": (
        lambda value: plt.imshow(np.ma.masked_equal([[0, 7], [2, int(8 * value)]], 7)),
        ["row 0: 0.000 nan", "row 1: 2.000 4.000"],
    ),
    "a large picture": (lambda value: plt.imshow(np.full((40, 40), value)), ["cells 40 x 40: 1600 values"]),
    "a mesh": (lambda value: plt.pcolormesh([[0, 1], [2, value]]), ["row 0: 0.000 1.000"]),
    "a heatmap": (
        lambda value: sns.heatmap([[0, 1], [2, value]], annot=True, yticklabels=["cat", "dog"]),
        ["row cat: 0.000 1.000", "row dog: 2.000 "],
    ),
    "words in a heatmap": (
        lambda value: sns.heatmap([[0, value]], annot=np.array([["low", "high"]]), fmt=""),
        ["text low: 0.500 0.500", "text high: 1.500 0.500"],
    ),
    "a clustered heatmap": (lambda value: sns.clustermap(GRID * value), ["lines: ", "row 0: "]),
    "a pie": (lambda value: plt.pie([1, value], labels=["cat", "dog"]), ["wedge cat: ", "wedge dog: ", "text cat: "]),
    "words": (lambda value: plt.text(1, value, "here\nit is"), ["text here it is: 1 "]),
    "an arrow with words": (lambda value: plt.annotate("there", (1, value), (0, 0), arrowprops={}), ["text there: 1 "]),
    "a table's own plot": (lambda value: table(value).plot(), ["line x: x 0 1 2 3 | y 1 2 1 2", "line y: "]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def course_style_and_no_figure_left():
    plots.use_style()
    yield
    plt.close("all")


@pytest.fixture
def show(shell):
    """What IPython shows of a value: ({kind of content: content}, metadata)."""
    figures.show_as_the_course_does()
    return shell.display_formatter.format


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_of_a_figure_holds_its_data(kind):
    draw, beginnings = KINDS[kind]
    texts = []
    for value in (0.5, 0.625):  # with three decimals, both are exact
        draw(value)
        texts.append(figure_text.drawn(plt.gcf()))
        plt.close("all")
    assert texts[0] != texts[1], "another datum, the same text"
    for words in beginnings:
        assert any(line.startswith(words) for line in texts[0]), texts[0]
    assert not re.search("child|nolegend|container", str(texts)), "names that matplotlib makes up"


@pytest.mark.parametrize(
    "draw, what",
    [
        (lambda: plt.quiver([1], [1], [2], [2]), "a Quiver"),
        (lambda: plt.hexbin([0, 1], [0, 1], gridsize=4), "a PolyCollection"),
        (lambda: plt.contour(GRID, levels=[1]), "a QuadContourSet"),
        (lambda: plt.table(cellText=[["a"]]), "a Table"),
        (lambda: plt.figure().add_subplot(projection="3d"), "axes in three dimensions"),
    ],
)
def test_what_has_no_words_is_an_error_and_is_shown_all_the_same(draw, what, show):
    draw()
    with pytest.raises(NotImplementedError, match=what):
        figure_text.drawn(plt.gcf())
    content, _ = show(plt.gcf())
    assert content["text/plain"].count(f"{figures.WITHOUT_WORDS}{what}.") == 1
    assert content["text/html"].count("<svg") == 1


def test_a_figure_is_shown_as_a_drawing_a_picture_and_text(show):
    plt.plot([1, 2], [0.5, 0.25], label="a $x$ line")
    plt.title("Half as much, " * 9)
    plt.xlabel("layer")
    content, metadata = show(plt.gcf())
    alt = f"{'Half as much, ' * 9}. Across: layer."
    assert content["text/plain"].splitlines() == [
        f"Figure. {alt}",
        "line a $x$ line: x 1 2 | y 0.500 0.250",
    ]
    assert re.findall('^<figure class="cu-figure"|prefers-color', content["text/html"]) == [
        '<figure class="cu-figure"'
    ]
    # the title says it nine times, so there is more than one copy
    assert content["text/html"].count("Half as much") > 9, (
        "the title and its copy for screen readers, in rows"
    )
    assert content["image/png"].startswith(b"\x89PNG")
    assert metadata == {"image/png": {"alt": alt}}
    assert show(plt.gcf())[0] == content


def described(show):
    # what the first line of the current figure's text says behind "Figure. "
    return show(plt.gcf())[0]["text/plain"].splitlines()[0].removeprefix("Figure. ")


def test_what_a_figure_says_of_itself(show):
    plt.figure()
    assert described(show) == figures.NO_TITLE
    figure, (left, right) = plt.subplots(1, 2)
    assert described(show) == figures.NO_TITLE
    left.set(title="Before?", xlabel="layer", ylabel="score")
    right.set(title="After", xlabel="layer")
    right.figure.colorbar(right.imshow([[0, 1]]))
    figure.suptitle("Both")
    assert described(show) == "Both. Before? After. Across: layer. Up: score."
    figure.set_label("Two panels, as words.")
    assert described(show) == "Two panels, as words."


def test_a_figure_that_is_closed_or_moves_is_shown(show):
    figure, axes = plt.subplots()
    (line,) = axes.plot([0, 1])
    moving = FuncAnimation(figure, lambda frame: line.set_ydata([0, frame]), frames=2)
    plt.close(figure)
    assert "line: x 0.000 1.000 | y 0 1" in show(figure)[0]["text/plain"]
    moving.pause()


def test_parts_of_a_figure_print_nothing_and_other_values_do(show):
    figure, axes = plt.subplots(1, 2)
    silent = [
        axes[0],
        axes,
        axes[0].plot([1]),
        axes[0].set(xlabel="x", xscale="log"),
        axes[0].bar([1], [1]),
        axes[1].pie([1]),
        plt.title("t"),
        axes[0].imshow([[1]]),
        sns.FacetGrid(table(1), col="kind"),
        sns.clustermap(GRID),
    ]
    for value in silent:
        assert show(value) == ({}, {}), value
    others = [[1, 2], (1, "a"), [], np.arange(2), np.array(["a", None], dtype=object), [axes[0], 1]]
    assert all("text/plain" in show(value)[0] for value in others)


def test_dark_strokes_of_seaborn_can_be_seen_in_dark_mode(show):
    sns.histplot([1, 2, 2])
    drawing = show(plt.gcf())[0]["text/html"]
    assert "stroke: var(--grey00)" in drawing
    assert f"--grey00:{colours.INK[1]};" in drawing
