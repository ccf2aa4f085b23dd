"""The course's figures: what they say and draw, and that they can be read in light and dark mode."""

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
from matplotlib.colors import to_hex, to_rgb, to_rgba
from PIL import Image

from course_utils import plots
from course_utils._support.colours import GREY, INK, PAPER, contrast

# in an SVG: group 1 holds the CSS variables for light mode, group 2 those for dark mode
STYLE = re.compile(r".*?<style>\.cu-plot\{(.*?)display.*?\.cu-plot\{(--.*?)\}", re.DOTALL)
VARIABLE = re.compile(r"--(\w+):(#[0-9a-f]{6});")
ALT = "A picture for a test, described in a sentence."
READABLE, DISCERNIBLE = 4.5, 3  # the contrasts that WCAG 2 requires of normal text, and of lines

LABELS = {"title": "t", "xlabel": "x", "alt": ALT}
INTERVALS = {"one": ([0.5, 0.25], [1.5, 0.75])}  # (lower ends, upper ends)
FIGURES = {  # {kind: how a figure is drawn, and what its description says of the data}
    "lines": {
        "draw": lambda: plots.lines(
            [1, 2, 4], {"up": [0.1, 0.25, 1], "down": [1, 0, -1]}, **LABELS
        ),
        "says": [
            "line up: x 1 2 4 | y 0.100 0.250 1.000",
            "line down: x 1 2 4 | y 1.000 0.000 -1.000",
        ],
    },
    "lines without a value": {
        "draw": lambda: plots.lines([1, 2], {"one": [np.nan] * 2, "two": [np.nan] * 2}, **LABELS),
        "says": [],  # nothing is drawn
    },
    "bars with intervals": {
        "draw": lambda: plots.bars(
            ["a", "b"], {"one": [1, 0.5], "two": [-0.25, 2]}, **LABELS, intervals=INTERVALS
        ),
        "says": [
            "bars one: a 1.000, b 0.500",
            "bars two: a -0.250, b 2.000",
            "interval one: 0.500 to 1.500, 0.250 to 0.750",
        ],
    },
    "dots with intervals": {
        "draw": lambda: plots.dots(
            ["a", "b"], {"one": [1, 0.5], "two": [0, -1]}, **LABELS, intervals=INTERVALS
        ),
        "says": [
            "dots one: a 1.000, b 0.500",
            "interval one: 0.500 to 1.500, 0.250 to 0.750",
            "dots two: a 0.000, b -1.000",
        ],
    },
    "swarm": {
        "draw": lambda: plots.beeswarm({"a": [1, 0.5], "b": [-0.25]}, **LABELS),
        "says": ["values a: 0.500 1.000", "values b: -0.250"],
    },
    "heatmap": {
        "draw": lambda: plots.heatmap(
            np.array([[1, 0.5], [0, -0.125]]), ["r", "s"], ["c", "long name"], "t", ALT
        ),
        "says": ["row r: 1.000 0.500", "row s: 0.000 -0.125"],
    },
}
each_kind = pytest.mark.parametrize("kind", FIGURES)


@cache
def figure_of(kind):
    """A figure of a kind in FIGURES, which tests share since drawing takes time."""
    return FIGURES[kind]["draw"]()


# also fails each test that leaves a figure open
@pytest.fixture(autouse=True)
def style():
    plots.use_style()
    yield
    assert plt.get_fignums() == [], "a figure was left open"


@pytest.fixture
def last_axes(monkeypatch):
    """A function that returns the axes of the last figure, as drawn."""
    monkeypatch.setattr(plt, "close", lambda figure: None)

    def drawn():
        plt.gcf().draw_without_rendering()
        return plt.gcf().axes

    yield drawn
    monkeypatch.undo()
    plt.close("all")


def shapes_of_dots(axes):
    return [shape for shape in axes.collections if shape.get_gid() == "dots"]


@each_kind
def test_a_figure_describes_the_data_that_it_draws(kind):
    assert repr(figure_of(kind)).splitlines() == [f"Figure. {ALT}", *FIGURES[kind]["says"]]


def test_a_figure_without_a_description_is_refused_and_closed():
    with pytest.raises(ValueError, match="alt="):
        plots.lines([1, 2], {"a": [0, 1]})  # the fixture `style` sees that it is closed


@pytest.mark.parametrize(
    "lines, ends",
    [
        ({"whole": [0, 1, 2], "short": [0, 3, np.nan]}, {"whole": (4, 2), "short": (2, 3)}),
        ({"whole": [0, 1, 2], "none": [np.nan] * 3}, {"whole": (4, 2)}),
        ({"none": [np.nan] * 3, "either": [np.nan] * 3}, {}),
    ],
)
def test_a_line_ends_and_is_labelled_where_its_last_values_are_missing(lines, ends, last_axes):
    plots.lines([1, 2, 4], lines, alt=ALT)
    assert {text.get_text(): tuple(text.xy) for text in last_axes()[0].texts} == ends


@each_kind
def test_the_drawing_is_the_same_each_time(kind):
    assert vars(FIGURES[kind]["draw"]()) == vars(figure_of(kind))


@each_kind
def test_the_drawing_has_an_accessible_name(kind):
    root = ElementTree.fromstring(figure_of(kind).svg)
    assert root.attrib.items() >= {"role": "img", "aria-label": ALT}.items()


@each_kind
def test_the_drawing_loads_nothing(kind):
    # addresses at w3.org are only names, those of the formats
    assert "http" not in figure_of(kind).svg.replace("http://www.w3.org/", "")


@each_kind
def test_every_brace_of_the_stylesheet_has_its_partner(kind):
    # a browser drops the rule after a stray one
    assert figure_of(kind).svg.count("{") == figure_of(kind).svg.count("}")


def test_odd_characters_stand_in_the_drawing_as_they_are():
    figure = plots.bars(
        ['<b>&"', "$x$ 0.125"],
        {"one": [0.125, 1]},
        '<a id="x" href="#y">',
        "x",
        "y",
        'with "<signs>" & a picture',
    )
    elements = ElementTree.fromstring(figure.svg).iter("{http://www.w3.org/2000/svg}text")
    assert {'<b>&"', "$x$ 0.125", '<a id="x" href="#y">'} <= {
        "".join(text.itertext()) for text in elements
    }
    assert figure.alt in html.unescape(figure.svg)


@each_kind
def test_every_colour_of_a_drawing_follows_the_mode(kind):
    svg = figure_of(kind).svg
    light, dark = (dict(VARIABLE.findall(mode)) for mode in STYLE.match(svg).groups())
    assert light.keys() == dark.keys() >= {"ink", "paper"}
    body = svg.partition("</style>")[2]
    assert set(re.findall(r"var\(--([a-z]+\d*)\)", body)) <= light.keys()
    # the cells of a heatmap and the numbers in them have the same colours in both modes
    assert kind == "heatmap" or not re.search(r": #[0-9a-f]{6}", body)


@each_kind
def test_text_can_be_read_in_both_modes_and_lines_can_be_seen_in_dark_mode(kind):
    light, dark = (
        dict(VARIABLE.findall(mode)) for mode in STYLE.match(figure_of(kind).svg).groups()
    )
    for variable in re.findall(r"<text[^>]*var\(--(\w+)\)", figure_of(kind).svg):
        contrasts = contrast(light[variable], "white"), contrast(dark[variable], PAPER[1])
        assert min(contrasts) >= READABLE, variable
    # only in dark mode: in light mode, lines have the palette's colours, some of which are paler.
    # The grid may be faint, and the ink is a colour of text.
    for variable in set(light) - {"paper", "grid", "ink"}:
        assert contrast(dark[variable], PAPER[1]) >= DISCERNIBLE, variable


@pytest.mark.parametrize("lowest", [0, -1, -0.4])
def test_numbers_in_heatmap_cells_can_be_read(last_axes, lowest):
    # 40 shades, from the palest to the darkest
    plots.heatmap(
        np.linspace(lowest, 1, 40).reshape(2, 20), "ab", range(20), "t", ALT, limits=(lowest, 1)
    )
    (axes,) = last_axes()
    pairs = zip(axes.texts, axes.collections[0].get_facecolors(), strict=True)
    assert min(contrast(text.get_color(), cell) for text, cell in pairs) >= READABLE


@pytest.mark.parametrize("limits", [(None, None), (-0.8, 0.8), (-0.4, 0.8)])
def test_a_signed_heatmap_is_pale_at_0_and_equally_dark_at_equal_distances(last_axes, limits):
    plots.heatmap([[-0.4, 0, 0.4, 0.8]], ["r"], "abcd", "t", ALT, limits=limits)
    blue, zero, red, darkest = last_axes()[0].collections[0].get_facecolors()
    # The contrast with white is 1 for white itself, and 21 for black. 0.3: a blue and a red of the
    # colour map are only about equally dark.
    assert contrast(zero, "white") < 1.2, "not nearly white"
    assert contrast(blue, "white") == pytest.approx(contrast(red, "white"), abs=0.3)
    assert contrast(darkest, "white") > 4, "not dark"
    # (red, green, blue, opacity)
    assert blue[2] > blue[0]
    assert red[0] > red[2]


def test_lines_are_labelled_at_their_ends_and_no_label_covers_another(last_axes):
    ends = {  # {label: the last value}: several ends lie at one height or nearly so
        "a long name that needs two lines": 0.5,
        "one": 0.5,
        "two": 0.51,
        "three": 0.49,
        "far": 5,
        # more lines than markers
        **{str(number): number for number in range(len(plots.MARKERS))},
    }
    plots.lines([1, 2], {name: [0, end] for name, end in ends.items()}, "t", "x", "y", ALT)
    (axes,) = last_axes()
    assert [text.get_text().replace("\n", " ") for text in axes.texts] == sorted(ends, key=ends.get)
    boxes = [text.get_window_extent() for text in axes.texts]
    # 0.01 pixels for rounding
    assert all(upper.y0 >= lower.y1 - 0.01 for lower, upper in zip(boxes, boxes[1:]))
    assert all(contrast(text.get_color(), "white") >= READABLE for text in axes.texts)
    assert axes.get_legend() is None


def test_an_axis_of_dots_with_one_end_given_follows_the_values_at_the_other(last_axes):
    plots.dots("ab", {"one": [3, 4]}, "t", "x", ALT, limits=(0, None))
    low, high = last_axes()[0].get_xlim()
    assert low == 0
    assert high > 4, "beyond the largest value"


@pytest.mark.parametrize(
    "values, intervals, options, expected",
    [
        ([-1, 1], ([-2, 0.5], [0, 2]), {}, [True, False]),
        ([0.5, 1], ([-0.1, 0.5], [1, 2]), {}, [True, False]),
        ([-1, 1], ([-2, 0.5], [-1, 2]), {}, [False, False]),
        ([-1, 1], ([-2, 0.5], [0, 2]), {"hollow": False}, [False, False]),
    ],
    ids=["one holds 0", "one holds 0, no value is below", "none holds 0", "not wanted"],
)
def test_a_difference_that_could_be_0_is_hollow_and_the_axis_says_so(
    values, intervals, options, expected, last_axes
):
    plots.dots("ab", {"one": values}, "t", "x", ALT, intervals={"one": intervals}, **options)
    (axes,) = last_axes()
    colours = shapes_of_dots(axes)[0].get_facecolors()
    assert [to_hex(colour) == "#ffffff" for colour in colours] == expected
    note = "\nhollow: the interval holds 0, no clear difference" if any(expected) else ""
    assert axes.get_xlabel() == f"x{note}"


def test_no_dot_hides_another(last_axes):
    figure = plots.dots("ab", {"one": [0, 1], "two": [0, 2]}, "t", "x", ALT)
    one, two = (shape.get_offsets() for shape in shapes_of_dots(last_axes()[0]))
    # heights: in row 0 both values are 0, so the dots move apart; in row 1 they differ
    assert one[0, 1] < two[0, 1] and one[1, 1] == two[1, 1] == 1
    assert figure.data == ["dots one: a 0.000, b 1.000", "dots two: a 0.000, b 2.000"]


@pytest.mark.parametrize(
    "middle", [[0.5, 0.25, 0.25], [0.5] * 40], ids=["few", "crowded, so smaller"]
)
def test_a_swarm_tells_all_its_values_and_draws_them_apart(middle, last_axes):
    figure = plots.beeswarm({"b": middle, "a": [0, 1]}, "t", "x", ALT)
    numbers = " ".join(f"{value:.3f}" for value in sorted(middle))
    assert figure.data == [f"values b: {numbers}", "values a: 0.000 1.000"]
    dots = last_axes()[0].collections[0].get_offsets()
    # rounded: dots that differ only by an error of arithmetic lie at one place
    assert len(np.unique(dots.round(6), axis=0)) == len(middle)


def test_the_palette_is_the_one_of_seaborn():
    assert seaborn.color_palette("colorblind").as_hex() == plots.PALETTE


def test_the_fewer_colours_of_the_png_keep_white_the_ink_and_the_colours_of_bars():
    png = plots.bars("abc", {name: [1, 2, 3] for name in "abc"}, "t", "x", "y", ALT)._repr_png_()[0]
    picture = Image.open(io.BytesIO(png))
    assert (picture.mode, picture.width) == ("P", 7 * 110)  # inches times dots per inch
    pixels = np.array(picture.convert("RGB")).reshape(-1, 3)
    # Some pixel nearly has this colour: of 255 steps, each channel is at most 2 away.
    for colour in ("white", INK[0], *plots.PALETTE[:3]):
        assert np.abs(pixels - 255 * np.array(to_rgb(colour))).max(axis=1).min() <= 2


def test_rows_that_the_title_speaks_of_are_in_colour_and_so_is_the_legend(last_axes):
    plots.dots(
        "abc",
        {"one": [-1, 1, 2], "two": [3, 2, 2]},
        alt=ALT,
        intervals={"one": ([-2, 0.5, 1], [0, 2, 3])},  # so the first dot is hollow
        lead=["b"],
    )
    (axes,) = last_axes()
    for dots in shapes_of_dots(axes):
        grey = [tuple(colour) == to_rgba(GREY) for colour in dots.get_edgecolors()]
        assert grey == [True, False, True]
    colours_of_legend = {
        tuple(handle.get_facecolor()[0]) for handle in axes.figure.legends[0].legend_handles
    }
    assert len(colours_of_legend) == 2, "one for each label"


def test_lines_that_the_title_speaks_of_are_in_colour(last_axes):
    plots.lines([1, 2], {"one": [1, 2], "two": [2, 3]}, "t", alt=ALT, lead=["two"])
    assert [line.get_color() == GREY for line in last_axes()[0].lines] == [True, False]


@pytest.mark.parametrize(
    "draw, description",
    [
        (
            lambda: plots.dots("a", {"one": [1]}, alt=ALT, marks={"half": 1.5}),
            "line half: x 1.500 1.500 | y 0 1",
        ),
        (
            lambda: plots.lines([1, 2], {"one": [1, 2]}, alt=ALT, marks={"half": 1.5}),
            "line half: x 0 1 | y 1.500 1.500",
        ),
        (
            lambda: plots.bars("a", {"one": [1]}, alt=ALT, marks={"half": 1.5}),
            "line half: x 0 1 | y 1.500 1.500",
        ),
    ],
    ids=["dots", "lines", "bars"],
)
def test_a_reference_is_drawn_with_its_words(draw, description):
    figure = draw()
    assert description in figure.data
    assert "half" in figure.svg


def test_a_title_is_not_cut_off_beside_long_names(last_axes):
    long = "what is said in a title or below an axis, and is longer than the axis is wide"
    names = ["a name that takes about half of the picture's", "b"]
    plots.dots(names, {"one": [1, 2], "two": [2, 1]}, long, long, ALT, marks={"chance": 1.5})
    (axes,) = last_axes()
    figure = axes.figure
    boxes = [
        text.get_window_extent()
        # Matplotlib has no public attribute for a figure's title
        for text in (figure._suptitle, axes.xaxis.label, *axes.texts)
    ]
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert not any(box.overlaps(other) for box, other in itertools.combinations(boxes, 2)), (
        "a text covers another"
    )


def test_no_words_of_a_reference_lie_on_the_title(last_axes):
    plots.lines([1, 2], {"one": [1, 2]}, "t", alt=ALT, marks={"the most": 2})
    (axes,) = last_axes()
    tops = {text.get_text(): text.get_window_extent().y1 for text in axes.texts}
    assert tops["the most"] <= axes.bbox.y1
