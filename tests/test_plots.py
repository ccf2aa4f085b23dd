"""A figure's description gives in words and numbers what the figure draws."""

import html
import io
import itertools
import re
from functools import cache
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
import seaborn
from matplotlib.colors import to_rgb, to_rgba
from PIL import Image

from course_utils import plots
from course_utils._support.colours import GREY, INK, PAPER, contrast

SVG = "{http://www.w3.org/2000/svg}"
STYLE = re.compile(r".*?<style>\.cu-plot\{(.*?)display.*?\.cu-plot\{(--.*?)\}", re.DOTALL)
VARIABLE = re.compile(r"--(\w+):(#[0-9a-f]{6});")
ALT = "A picture for a test, described in a sentence."
READABLE, DISCERNIBLE = 4.5, 3  # the contrasts that WCAG 2 requires of normal text, and of lines

LABELS = {"title": "t", "xlabel": "x", "alt": ALT}
INTERVALS = {"one": ([0.5, 0.25], [1.5, 0.75])}
FIGURES = {  # {kind: (how a figure is drawn, what its description says of the data)}
    "lines": (
        lambda: plots.lines([1, 2, 4], {"up": [0.1, 0.25, 1], "down": [1, 0, -1]}, **LABELS),
        ["line up: x 1 2 4 | y 0.100 0.250 1.000", "line down: x 1 2 4 | y 1.000 0.000 -1.000"],
    ),
    "bars with intervals": (
        lambda: plots.bars(
            ["a", "b"], {"one": [1, 0.5], "two": [-0.25, 2]}, **LABELS, intervals=INTERVALS
        ),
        [
            "bars one: a 1.000, b 0.500",
            "bars two: a -0.250, b 2.000",
            "interval one: 0.500 to 1.500, 0.250 to 0.750",
        ],
    ),
    "dots with intervals": (
        lambda: plots.dots(
            ["a", "b"], {"one": [1, 0.5], "two": [0, -1]}, **LABELS, intervals=INTERVALS
        ),
        [
            "dots one: a 1.000, b 0.500",
            "interval one: 0.500 to 1.500, 0.250 to 0.750",
            "dots two: a 0.000, b -1.000",
        ],
    ),
    "a heatmap's rows": (
        lambda: plots.heatmap(
            np.array([[1, 0.5], [0, -0.125]]), ["r", "s"], ["c", "long name"], "t", ALT
        ),
        ["row r: 1.000 0.500", "row s: 0.000 -0.125"],
    ),
}


@pytest.fixture(autouse=True)
def style():
    plots.use_style()
    yield
    assert plt.get_fignums() == [], "a figure was left open"


@pytest.fixture
def axes(monkeypatch):
    """A function that returns the axes of the last figure as drawn, and closes all figures."""
    close = plt.close
    monkeypatch.setattr(plt, "close", lambda figure: None)

    def last():
        figure = plt.gcf()
        figure.draw_without_rendering()
        close("all")
        return figure.axes

    yield last
    close("all")


def dots_of(shown):
    """The dots in a panel, one shape for each entry."""
    return [shape for shape in shown.collections if shape.get_gid() == "dots"]


def hollow(dots):
    return [tuple(colour) == (1, 1, 1, 1) for colour in dots.get_facecolors()]


@pytest.mark.parametrize("kind", FIGURES)
def test_a_figure_describes_the_data_that_it_draws(kind):
    _, description = FIGURES[kind]
    assert repr(all_kinds()[kind]).splitlines() == [f"Figure. {ALT}", *description]


def test_a_figure_without_a_description_is_refused_and_closed():
    with pytest.raises(ValueError, match="alt="):
        plots.lines([1, 2], {"a": [0, 1]})
    assert plt.get_fignums() == []


def test_a_line_ends_and_is_labelled_where_its_last_values_are_missing(axes):
    plots.lines([1, 2, 4], {"whole": [0, 1, 2], "short": [0, 3, float("nan")]}, "t", "x", "y", ALT)
    ends = {text.get_text(): tuple(text.xy) for text in axes()[0].texts}
    assert ends == {"whole": (4, 2), "short": (2, 3)}


@cache
def all_kinds():
    """A figure of each kind in FIGURES."""
    return {kind: draw() for kind, (draw, _) in FIGURES.items()}


def test_the_drawing_is_well_formed_and_the_same_each_time():
    for name, figure in all_kinds().items():
        tree = ElementTree.fromstring(figure.svg)
        assert (tree.attrib["role"], tree.attrib["aria-label"]) == ("img", ALT), name
        again = FIGURES[name][0]()
        assert (figure.svg, figure.png) == (again.svg, again.png), name
        assert "http" not in figure.svg.replace("http://www.w3.org/", ""), name
    odd = plots.bars(
        ['<b>&"', "$x$ 0.125"], {"one": [0.125, 1]}, "a < b", "x", "y", 'with "<signs>" & a picture'
    )
    texts = [
        "".join(text.itertext()) for text in ElementTree.fromstring(odd.svg).iter(f"{SVG}text")
    ]
    assert {'<b>&"', "$x$ 0.125", "a < b"} <= set(texts) and odd.alt in html.unescape(odd.svg)


def test_every_colour_of_a_drawing_follows_the_mode_and_text_can_be_read_in_both():
    # But for the cells of a heatmap and the numbers in them, which stay as they are.
    for name, figure in all_kinds().items():
        light, dark = (dict(VARIABLE.findall(part)) for part in STYLE.match(figure.svg).groups())
        assert light.keys() == dark.keys() >= {"ink", "paper"}, name
        body = figure.svg.partition("</style>")[2]
        assert set(re.findall(r"var\(--([a-z]+\d*)\)", body)) <= light.keys(), name
        for tag in re.findall(r"<text[^>]*var\(--(\w+)\)", body):
            worse = min(contrast(light[tag], "white"), contrast(dark[tag], PAPER[1]))
            assert worse >= READABLE, (name, tag)
        for tag in set(light) - {"paper", "grid", "ink"}:
            assert contrast(dark[tag], PAPER[1]) >= DISCERNIBLE, (name, tag)
        assert "heatmap" in name or not re.search(r": #[0-9a-f]{6}", body), name


@pytest.mark.parametrize("lowest", [0, -1, -0.4])
def test_numbers_in_heatmap_cells_can_be_read(axes, lowest):
    plots.heatmap(
        np.linspace(lowest, 1, 40).reshape(2, 20), "ab", range(20), "t", ALT, limits=(lowest, 1)
    )
    (shown,) = axes()
    cells = shown.collections[0].get_facecolors()
    pairs = zip(shown.texts, cells, strict=True)
    assert min(contrast(text.get_color(), cell) for text, cell in pairs) >= READABLE


@pytest.mark.parametrize("limits", [(None, None), (-0.8, 0.8), (-0.4, 0.8)])
def test_a_signed_heatmap_is_pale_at_0_and_equally_dark_at_equal_distances(axes, limits):
    plots.heatmap([[-0.4, 0, 0.4, 0.8]], ["r"], "abcd", "t", ALT, limits=limits)
    blue, zero, red, darkest = axes()[0].collections[0].get_facecolors()
    assert contrast(zero, "white") < 1.2, "nearly white"
    assert contrast(blue, "white") == pytest.approx(contrast(red, "white"), abs=0.3)
    assert contrast(darkest, "white") > 4
    assert blue[2] > blue[0] and red[0] > red[2]


def test_lines_are_labelled_at_their_ends_and_no_label_covers_another(axes):
    ends = {
        "a long name that needs two lines": 0.5,
        "one": 0.5,
        "two": 0.51,
        "three": 0.49,
        "far": 5,
    }
    ends |= {str(number): number for number in range(len(plots.MARKERS))}  # more lines than markers
    plots.lines([1, 2], {name: [0, end] for name, end in ends.items()}, "t", "x", "y", ALT)
    (shown,) = axes()
    assert [text.get_text().replace("\n", " ") for text in shown.texts] == sorted(
        ends, key=ends.get
    )
    boxes = [text.get_window_extent() for text in shown.texts]
    assert all(upper.y0 >= lower.y1 - 0.01 for lower, upper in zip(boxes, boxes[1:]))
    assert all(contrast(text.get_color(), "white") >= READABLE for text in shown.texts)
    assert shown.get_legend() is None


def test_an_axis_of_dots_with_one_end_given_follows_the_values_at_the_other(axes):
    plots.dots("ab", {"one": [3, 4]}, "t", "x", ALT, limits=(0, None))
    low, high = axes()[0].get_xlim()
    assert low == 0 and high > 4, "beyond the largest value"


def test_a_difference_that_could_be_0_is_hollow_and_no_dot_hides_another(axes):
    for values, interval in (([-1, 1], ([-2, 0.5], [0, 2])), ([0.5, 1], ([-0.1, 0.5], [1, 2]))):
        plots.dots("ab", {"one": values}, "t", "x", ALT, intervals={"one": interval})
        assert hollow(*dots_of(axes()[0])) == [True, False]
    figure = plots.dots("ab", {"one": [0, 1], "two": [0, 2]}, "t", "x", ALT)
    one, two = (shape.get_offsets() for shape in dots_of(axes()[0]))
    assert one[0, 1] < two[0, 1] and one[1, 1] == two[1, 1] == 1
    assert figure.data == ["dots one: a 0.000, b 1.000", "dots two: a 0.000, b 2.000"]


@pytest.mark.parametrize(
    "middle", [[0.5, 0.25, 0.25], [0.5] * 40], ids=["few", "crowded, so smaller"]
)
def test_a_swarm_tells_all_its_values_and_draws_them_apart(middle, axes):
    figure = plots.beeswarm({"b": middle, "a": [0, 1]}, "t", "x", ALT)
    numbers = " ".join(f"{value:.3f}" for value in sorted(middle))
    assert figure.data == [f"values b: {numbers}", "values a: 0.000 1.000"]
    assert len(np.unique(axes()[0].collections[0].get_offsets().round(6), axis=0)) == len(middle)


def test_fewer_colours_change_no_colour_that_is_seen():
    # The palette of the PNG keeps white, the ink and the lines' colours.
    png = plots.bars("abc", {name: [1, 2, 3] for name in "abc"}, "t", "x", "y", ALT)._repr_png_()[0]
    picture = Image.open(io.BytesIO(png))
    assert picture.mode == "P" and picture.width == 7 * 110
    shown = np.array(picture.convert("RGB")).reshape(-1, 3)
    assert seaborn.color_palette("colorblind").as_hex() == plots.PALETTE
    for colour in ("white", INK[0], *plots.PALETTE[:3]):
        assert np.abs(shown - 255 * np.array(to_rgb(colour))).max(axis=1).min() <= 2


def test_what_the_title_speaks_of_is_in_colour_and_references_have_words(axes):
    look = {
        "intervals": {"one": ([-2, 0.5, 1], [0, 2, 3])},
        "lead": ["b"],
        "marks": {"chance": 0.5},
    }
    figure = plots.dots("abc", {"one": [-1, 1, 2]}, "t", "x", ALT, **look)
    (shown,) = axes()
    (dots,) = dots_of(shown)
    assert [tuple(colour) == to_rgba(GREY) for colour in dots.get_edgecolors()] == [
        True,
        False,
        True,
    ]
    assert figure.data[0] == "line chance: x 0.500 0.500 | y 0 1" and "chance" in figure.svg
    assert shown.get_xlabel().endswith("hollow: the interval holds 0, no clear difference")
    plots.dots("ab", {"one": [-1, 1]}, "t", "x", ALT, intervals={"one": ([-2, 0.5], [-1, 2])})
    assert axes()[0].get_xlabel() == "x", "none is hollow"
    plots.dots("abc", {"one": [-1, 1, 2]}, "t", "x", ALT, **look, hollow=False)
    (shown,) = axes()
    assert shown.get_xlabel() == "x" and not any(hollow(*dots_of(shown)))
    plots.lines(
        [1, 2], {"one": [1, 2], "two": [2, 3]}, "t", alt=ALT, lead=["two"], marks={"half": 1.5}
    )
    one, two, half = axes()[0].lines
    assert one.get_color() == GREY != two.get_color() and list(half.get_ydata()) == [1.5, 1.5]
    assert "half" in plots.bars("ab", {"one": [1, 2]}, alt=ALT, marks={"half": 1.5}).svg


def test_a_title_is_not_cut_off_beside_long_names_and_no_words_of_a_reference_lie_on_it(axes):
    long = "what is said in a title or below an axis, and is longer than the axis is wide"
    plots.dots(
        [long[:44], "b"],
        {"one": [1, 2], "two": [2, 1]},
        long,
        long,
        ALT,
        lead=["b"],
        marks={"chance": 1.5},
    )
    (shown,) = axes()
    figure = shown.figure
    # Matplotlib has no public attribute for a figure's title
    words = [figure._suptitle, shown.xaxis.label, *shown.texts]
    boxes = [text.get_window_extent() for text in words]
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert not any(box.overlaps(other) for box, other in itertools.combinations(boxes, 2)), (
        "a text covers another"
    )
    colours = {tuple(handle.get_facecolor()[0]) for handle in figure.legends[0].legend_handles}
    assert len(colours) == 2, "of the rows in colour, not of the grey ones"
    plots.lines([1, 2], {"one": [1, 2]}, "t", alt=ALT, marks={"the most": 2})
    (shown,) = axes()
    tops = {text.get_text(): text.get_window_extent().y1 for text in shown.texts}
    assert tops["the most"] <= shown.bbox.y1
