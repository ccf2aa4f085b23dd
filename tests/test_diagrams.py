"""The look of the diagrams: readable in both modes, reproducible, and strict about what fits."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from course_utils import diagrams
from course_utils._support.colours import contrast
from course_utils.diagrams import look
from course_utils.diagrams.canvas import Canvas
from course_utils.diagrams.lesson_03 import patching

from .test_plots import DISCERNIBLE, READABLE

ALT = "A picture for a test, described in a sentence."
SVG = "{http://www.w3.org/2000/svg}"
PAPERS = ("#ffffff", "#15191d")  # behind a drawing, in light and in dark mode


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("kind", look.KINDS)
def test_text_and_lines_can_be_read_on_every_kind(kind, mode):
    fill, line = look.KINDS[kind][2 * mode : 2 * mode + 2]  # two colours for each mode
    paper = PAPERS[mode]
    fill = paper if fill == "none" else fill
    assert contrast(look.INK[mode], fill) >= READABLE
    assert contrast(look.QUIET[mode], paper) >= READABLE
    assert contrast(line, paper) >= READABLE
    assert contrast(line, fill) >= DISCERNIBLE
    # the strongest shade: so much of the line's colour over the fill
    darkest = (1 - look.DARKEST) * np.array(to_rgb(fill)) + look.DARKEST * np.array(to_rgb(line))
    assert contrast(look.INK[mode], tuple(darkest)) >= READABLE


def test_it_is_one_well_formed_picture_with_its_alternative_text():
    diagram = diagrams.table(
        [["[CLS]", "<b>", "'\"&", "漢字", "[MASK]", "[PAD]"], [("", "vector cells")]],
        f"{ALT} It says \"<b>\" & '漢字'.",
        "so",
    )
    tree = ElementTree.fromstring(diagram.svg)
    assert (tree.attrib["role"], tree.attrib["aria-label"]) == ("img", diagram.alt)
    texts = [text.text for text in tree.iter(f"{SVG}text")]
    # parsing undoes the escapes
    assert texts[:4] == ["[CLS]", "<b>", "'\"&", "漢字"]
    assert repr(diagram).splitlines() == [f"Diagram. {diagram.alt}", *texts]
    assert "http" not in diagram.svg.replace("http://www.w3.org/", "")
    drawing = re.sub(r"<style>.*?</style>", "", diagram.svg, flags=re.DOTALL)
    assert not re.search(r"\d\.\d{3}", drawing), "rounded, it is the same on all machines"


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda canvas: canvas.box(500, 10, 50, 20), r"\(550, 30\) is outside 520 x 100"),
        (
            lambda canvas: canvas.box(10, 10, 50, 20, "a text that is wide"),
            "'a text that is wide' is wider than its box of 50",
        ),
        (lambda canvas: canvas.text(500, 10, "too far to the right"), "is too wide there"),
        (lambda canvas: canvas.box(10, 10, 50, 20, kind="bird"), "there is no kind 'bird'"),
        (lambda canvas: canvas.arrow((0, 0), (0, 101)), r"\(0, 101\) is outside"),
        (lambda canvas: canvas.circle(2, 50, 4), r"\(-2, 46\) is outside"),
        (lambda canvas: canvas.tokens(10, 10, ["x" * 80]), "outside"),
        (lambda canvas: canvas.circle(20, 20, 21), r"\(-1, -1\) is outside"),
    ],
)
def test_what_cannot_be_drawn_names_the_diagram(draw, words):
    with pytest.raises(ValueError, match=f"The diagram '03 one' cannot be drawn: .*{words}"):
        draw(Canvas("03 one", 100))  # 520 wide, as all are, and 100 high


@pytest.mark.parametrize("layers", [1, 2, 6, 24])
def test_patching_fits_for_encoders_of_all_depths(layers):
    tokens = ["<s>", "cat", "sat", "</s>"]
    runs = {"source": (tokens, 1), "target": (tokens, 1)}  # (tokens, the place of the word)
    diagram = patching(runs, layers - 1, layers, "how far does their mean move?", every=True)
    assert diagram.svg.count(f">state {layers}<") == 1, "the last hidden state has its number"


@pytest.mark.parametrize(
    ("kind", "data", "texts", "words"),
    [
        (
            diagrams.table,
            [["[CLS]", ("1.5", "loss bare")], [("both", "layer", 2)]],
            {0: ["1.5", "[CLS]"], 1: ["both"], 2: ["so"]},
            "[CLS], 1.5; both; so",
        ),
        (
            diagrams.table,
            [[("asked", "token 0"), ("found", "sentence 2")], [("why", "bare 1")]],
            {0: ["asked"], 1: ["why"], 2: ["found"], 3: ["so"]},
            "asked, found; why; so",
        ),
        (
            diagrams.lines,
            {"name": ["x", "y"], "n": ["z"]},
            {1: ["name", "x", "y"], 2: ["n", "z"], 3: ["so"]},
            "name: x y; n: z; so",
        ),
        (
            diagrams.flow,
            [[("a", "token"), "mean", ("b", "layer")], ["down"], [("c", "plain", 3)]],
            {0: ["a", "b", "mean"], 1: ["c", "down"], 2: ["so"]},
            "a, mean, b; down; c; so",
        ),
        (
            diagrams.flow,
            [[("a", "token"), "mean", ("b", "layer")]],
            {0: ["a"], 1: ["b", "mean"], 2: ["so"]},
            "a, mean, b; so",
        ),
        (
            diagrams.bars,
            {"all": [(1, "a gap", None), (9, "nine", "token"), (1, "one", "loss")]},
            {1: ["all", "nine", "one"], 2: ["so"]},
            "all: nine, one; so",
        ),
    ],
    ids=["table", "numbers", "lines", "flow", "chain", "bars"],
)
def test_the_kinds_appear_step_by_step_and_their_text_says_all_that_is_written(
    kind, data, texts, words
):
    """texts: {the key press with which they appear on a slide: texts in alphabetical order}."""
    diagram = kind(data, ALT, "so")
    shown_at = {}
    for group in ElementTree.fromstring(diagram.svg).iter(f"{SVG}g"):
        for text in group.findall(f"{SVG}text"):
            shown_at.setdefault(int(group.get("data-step", 0)), []).append(text.text)
    assert {step: sorted(shown) for step, shown in shown_at.items()} == texts
    assert diagram.alt == f"{ALT} {words}."


def test_a_look_that_there_is_not_is_named():
    with pytest.raises(ValueError, match="There is no look 'thik'"):
        diagrams.table([[("a", "token thik")]], ALT)


def test_a_cell_that_is_too_wide_has_several_lines():
    diagram = diagrams.table([[("much longer than its box " * 5, "token")]], ALT)
    assert len(set(re.findall(r'<text [^>]*y="([\d.]+)"', diagram.svg))) > 1


def test_a_row_that_is_too_wide_goes_on_below():
    diagram = diagrams.lines({"name": ["piece"] * 30}, ALT)
    heights = re.findall(r'y="([\d.]+)"[^>]*>piece<', diagram.svg)
    # nine fit into a line
    assert (len(heights), len(set(heights))) == (30, 4)
