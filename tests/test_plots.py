"""A figure's description gives in words and numbers what it draws, as read back from the drawing."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from course_utils import plots

ALT = "A picture for a test, described in a sentence."


@pytest.fixture(autouse=True)
def style():
    plots.use_style()
    yield
    assert plt.get_fignums() == [], "a figure was left open"


def test_lines_tell_their_points():
    figure = plots.lines([1, 2, 4], {"up": [0.1, 0.25, 1], "down": [1, 0, -1]}, "t", "x", "y", ALT)
    assert repr(figure).splitlines() == [
        f"Figure. {ALT}",
        "line up: x 1 2 4 | y 0.100 0.250 1.000",
        "line down: x 1 2 4 | y 1.000 0.000 -1.000",
    ]


def test_a_band_tells_its_corners():
    figure = plots.lines(
        [1, 2], {"up": [0, 1], "down": [1, 0]}, "t", "x", "y", ALT, spread={"up": ([-0.5, 0.5], [0.25, 1.25])}
    )
    (band,) = [row for row in figure.data if row.startswith("band _up: corners ")]
    corners = np.array(band.removeprefix("band _up: corners ").split(), dtype=float).reshape(-1, 2)
    assert {tuple(corner) for corner in corners} >= {(1, -0.5), (2, 0.5), (1, 0.25), (2, 1.25)}


def test_histograms_tell_shares_that_add_up():
    figure = plots.histogram({"one": [1, 1, 2, 3], "two": [3, 3]}, [0.5, 1.5, 2.5, 3.5], "t", "x", ALT)
    assert figure.data == ["bars one: 0.500 0.250 0.250", "bars two: 0.000 0.000 1.000"]


@pytest.mark.parametrize("values", [[0.1, 0.9], [2, 9], []])
def test_histograms_refuse_values_that_would_be_missing(values):
    with pytest.raises(ValueError, match="'one' must hold values between the edges 0.5 and 3.5"):
        plots.histogram({"one": values}, [0.5, 1.5, 2.5, 3.5], "t", "x", ALT)
    plt.close("all")


def test_bars_stand_side_by_side_and_tell_their_heights():
    figure = plots.bars(["a", "b"], {"one": [1, 0.5], "two": [-0.25, 2]}, "t", "x", "y", ALT)
    assert figure.data == ["bars one: 1.000 0.500", "bars two: -0.250 2.000"]


def test_points_tell_their_names_and_places():
    figure = plots.scatter(
        {"words": [[0, 1], [0.5, -1]], "means": np.ones((1, 2))}, "t", "x", "y", ALT, names={"words": ["cat", "mat"]}
    )
    assert figure.data == ["point words cat: 0.000 1.000", "point words mat: 0.500 -1.000", "point means : 1.000 1.000"]


def test_points_want_as_many_names_as_there_are_points():
    with pytest.raises(ValueError):
        plots.scatter({"words": [[0, 1], [0.5, -1]]}, "t", "x", "y", ALT, names={"words": ["cat"]})
    plt.close("all")


def test_more_lines_than_markers():
    assert len(plots.lines([1, 2], {str(n): [n, n] for n in range(9)}, "t", "x", "y", ALT).data) == 9


def test_heatmaps_tell_their_rows():
    figure = plots.heatmap(np.array([[1, 0.5], [0, -0.125]]), ["r", "s"], ["c", "long name"], "t", ALT)
    assert figure.data == ["row r: 1.000 0.500", "row s: 0.000 -0.125"]


def test_large_heatmaps_name_every_row():
    figure = plots.heatmap(np.zeros((40, 3)), range(40), range(3), "t", ALT, numbers=False)
    assert [line.split(":")[0] for line in figure.data] == [f"row {number}" for number in range(40)]


def test_a_changed_picture_changes_its_text():
    one = plots.lines([1, 2], {"a": [0, 1]}, "t", "x", "y", ALT)
    two = plots.lines([1, 2], {"a": [0, 0.9]}, "t", "x", "y", ALT)
    assert repr(one) != repr(two)


def test_the_png_carries_the_alternative_text_and_no_date():
    png, metadata = plots.lines([1, 2], {"a": [0, 1]}, "t", "x", "y", ALT)._repr_png_()
    assert png.startswith(b"\x89PNG") and metadata == {"alt": ALT}
    assert b"Software" not in png and b"tIME" not in png
    assert png == plots.lines([1, 2], {"a": [0, 1]}, "t", "x", "y", ALT)._repr_png_()[0]


def test_numbers_in_heatmap_cells_can_be_read():
    """Black on the darkest cell reaches the contrast that WCAG 2 requires for normal text (4.5 to 1)."""
    import seaborn

    red, green, blue, _ = seaborn.light_palette(plots.HEAT, as_cmap=True)(1.0)
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    assert (luminance + 0.05) / 0.05 >= 4.5
