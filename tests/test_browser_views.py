"""bertviz's views work in a real browser without a network: live, from a saved notebook and in exported HTML."""

import re
import subprocess
import sys

import nbformat
import pytest
import torch

from course_utils import plots
from course_utils._support.bertviz_offline import HEAD_VIEW_TOKENS, MODEL_VIEW_TOKENS
from course_utils.attention import attend, head_view, model_view

from .browser import bring_into_view, chromium, goto_when_up, keep, needs_chromium, run_all_cells, running_lab
from .execute import KERNEL
from .test_attention import AWKWARD, random_attentions

pytestmark = needs_chromium

SENTENCE = "The cat sat on the mat"
CELLS = {
    "setup": (
        "from course_utils import setup\nfrom course_utils.attention import attend, head_view, model_view\nsetup()"
    ),
    "attend": f'tokens, attentions = attend("{SENTENCE}")',
    "head-view": "head_view(attentions, tokens)",
    "model-view": "model_view(attentions, tokens)",
    "second-head-view": "head_view(attentions, tokens, layer=2, heads=[9])",
}
LINES = {"Head view of layer 0": 12 * 64, "Model view": 72 * 64, "Head view of layer 2": 12 * 64}
STATE = """() => [...document.querySelectorAll('svg *')].map(element =>
    [element.getAttribute('visibility'), element.getAttribute('stroke-opacity'),
        element.style.opacity].join()).join(';')"""

VISIBLE = "count => document.querySelectorAll('line[visibility=visible]').length === count"


@pytest.fixture(scope="module")
def open_page():
    with chromium() as open_page:
        yield open_page


@pytest.fixture(scope="module")
def shown(open_page):
    """A function that puts a view alone on a dark page and returns the page and the content of the view's frame."""
    plots.use_style()
    page = open_page()

    def show(view):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.set_content(f"<!DOCTYPE html><body style='background:#111;color:#ddd'>{view._repr_html_()}</body>")
        return page, inside(page)

    return show


def inside(page, title="", least=1):
    """The content of the frame of the view whose title starts like this, once its lines are drawn."""
    frame = page.locator(f"iframe[title^='{title}']" if title else "iframe").element_handle().content_frame()
    frame.wait_for_function("least => document.querySelectorAll('svg line').length >= least", arg=least)
    return frame


def weights(frame, lines="svg line", heads=1):
    """The weights shown by the lines, read from the lines' opacities."""
    opacities = frame.eval_on_selector_all(lines, "lines => lines.map(line => +line.getAttribute('stroke-opacity'))")
    return torch.tensor(opacities) * heads


def same(ours, theirs):
    torch.testing.assert_close(ours, theirs.flatten(), rtol=0, atol=5.1e-4)


def fits(frame, narrower_than=9999):
    """Wait until the view fits into its frame."""
    frame.wait_for_function(
        """narrower_than => {
        const boxes = [...document.querySelectorAll('svg, svg text, svg rect, select')]
            .map(e => e.getBoundingClientRect());
        return innerWidth < narrower_than && Math.min(...boxes.map(box => box.left)) >= 0 &&
            Math.max(...boxes.map(box => box.right)) <= innerWidth + 1 &&
            Math.max(...boxes.map(box => box.bottom)) <= innerHeight &&
            document.documentElement.scrollHeight <= innerHeight; }""",
        arg=narrower_than,
    )


def test_lines_are_as_strong_as_the_weights(shown):
    attentions = random_attentions(3, 4, 5)
    page, frame = shown(head_view(attentions, list("abcde")))
    same(weights(frame, heads=4), attentions[0])
    frame.select_option("#layer", "2")
    same(weights(frame, heads=4), attentions[2])
    page, frame = shown(head_view(attentions, list("abcde"), layer=1, heads=[3]))
    same(weights(frame, "[head-index='3'] line"), attentions[1, 3])
    assert not weights(frame, "[head-index='0'] line").any()
    page, frame = shown(model_view(attentions, list("abcde"), layers=[1, 2], heads=[0, 3]))
    same(weights(frame), attentions[1:, [0, 3]])


def test_the_parts_of_a_pair(shown):
    attentions, a, b = random_attentions(2, 3, 7), slice(0, 4), slice(4, 7)
    parts = {
        "All": (slice(0, 7), slice(0, 7)),
        "Sentence A -> Sentence A": (a, a),
        "Sentence B -> Sentence B": (b, b),
        "Sentence A -> Sentence B": (a, b),
        "Sentence B -> Sentence A": (b, a),
    }
    for view, heads in ((head_view, 3), (model_view, 1)):
        _, frame = shown(view(attentions, list("abcdefg"), sentence_b_start=4))
        for name, (rows, columns) in parts.items():
            frame.select_option("#filter", label=name)
            expected = attentions[:1] if view is head_view else attentions
            same(weights(frame, heads=heads), expected[..., rows, columns])


def test_awkward_tokens_are_shown_and_not_obeyed(shown):
    tokens = [*AWKWARD, "<img src=x onerror=alert(1)>", "'></iframe><script>alert(1)</script>"]
    attentions = random_attentions(1, 2, len(tokens))
    page, frame = shown(head_view(attentions, tokens))
    texts = frame.eval_on_selector_all("#left text", "texts => texts.map(text => text.textContent)")
    assert texts == [token.replace("Ġ", " ") for token in tokens]
    fits(frame)
    assert page.problems == [] and page.outside == [] and page.locator("script, img").count() == 0
    page.evaluate("document.querySelector('iframe').remove()")
    assert page.locator("tr th:first-child").all_text_contents()[1:] == tokens
    keep(page, "head_view_without_frame")


@pytest.mark.parametrize(
    ("view", "layers", "heads", "n"),
    [
        (head_view, 6, 12, 2),
        (head_view, 6, 12, 12),
        (head_view, 1, 16, HEAD_VIEW_TOKENS),
        (model_view, 6, 12, 2),
        (model_view, 6, 12, 12),
        (model_view, 1, 2, 12),
        (model_view, 2, 1, 8),
        (model_view, 12, 16, 4),
        (model_view, 2, 4, MODEL_VIEW_TOKENS),
    ],
)
def test_the_frame_shows_the_whole_view(shown, view, layers, heads, n):
    tokens = ["representation"] * n
    page, frame = shown(view(random_attentions(layers, heads, n), tokens, sentence_b_start=1))
    fits(frame)
    page.set_viewport_size({"width": 700, "height": 900})
    fits(frame, narrower_than=701)


def test_a_click_enlarges_a_head(shown):
    attentions = random_attentions(2, 3, 6)
    page, frame = shown(model_view(attentions, ["one", "two", "three", "four", "five", "six"]))
    frame.locator("svg > g > rect:last-child").nth(4).click()
    frame.wait_for_selector("text=Layer 1, Head 1")
    same(weights(frame, ".detail line"), attentions[1, 1])
    fits(frame)
    keep(page, "model_view_enlarged")


@pytest.fixture(scope="module")
def lab(tmp_path_factory, open_page):
    """(address, workspace) of a running JupyterLab whose workspace has the notebook views.ipynb, not yet run."""
    workspace = tmp_path_factory.mktemp("lab") / "workspace"
    with running_lab(workspace) as address:
        goto_when_up(open_page(), f"{address}/api?token=secret")
        cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in CELLS.items()]
        nbformat.write(
            nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), workspace / "views.ipynb"
        )
        yield address, workspace


def opened(open_page, lab, name="views"):
    page = open_page()
    page.goto(f"{lab[0]}/lab/tree/{name}.ipynb?token=secret&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    return page


def all_drawn(page, name):
    """Check that each view, when scrolled into view, is drawn in full and fits into its frame."""
    for title, lines in LINES.items():
        frame = page.locator(f"iframe[title^='{title}']")
        bring_into_view(page, frame)
        within = inside(page, title, lines)
        fits(within)
        keep(page, f"{name}_{title.lower().replace(' ', '_')}")
    assert page.locator("iframe").count() == len(LINES)
    same(weights(inside(page, "Head view of layer 0"), heads=12), attend(SENTENCE)[1][0])


def hover_changes(page):
    frame = page.locator("iframe[title^='Head view of layer 0']")
    bring_into_view(page, frame)
    within = inside(page, "Head view of layer 0")
    before, picture = within.evaluate(STATE), frame.screenshot()
    within.locator("#left text", has_text="cat").hover()
    within.wait_for_function(VISIBLE, arg=12 * 8)
    assert within.locator("line[visibility=visible][left-token-index='2']").count() == 12 * 8  # all that start there
    assert within.evaluate(STATE) != before and frame.screenshot() != picture
    keep(page, "head_view_hovered")
    within.locator("#layer").hover()
    within.wait_for_function(VISIBLE, arg=0)


@pytest.fixture(scope="module")
def saved(open_page, lab):
    """The page on which the notebook was run, after the outputs were saved to disk."""
    page = opened(open_page, lab)
    run_all_cells(page)
    page.keyboard.press("Control+s")
    for _ in range(100):
        page.wait_for_timeout(300)
        try:
            cells = nbformat.read(lab[1] / "views.ipynb", as_version=4).cells
        except nbformat.reader.NotJSONError:  # JupyterLab is writing it at this moment
            continue
        if all(cell.outputs for cell in cells[2:]):
            return page
    pytest.fail("the notebook was not saved")


def test_drawn_when_run(saved):
    assert saved.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    all_drawn(saved, "live")
    hover_changes(saved)
    assert saved.outside == []


def test_drawn_again_when_the_saved_notebook_is_opened(saved, lab, open_page):
    page = opened(open_page, lab)
    all_drawn(page, "reopened")
    hover_changes(page)
    assert page.outside == []


def test_a_notebook_from_elsewhere_shows_the_table_until_it_is_trusted(saved, lab, open_page):
    notebook = nbformat.read(lab[1] / "views.ipynb", as_version=4)
    notebook.cells[1].source += "  # changed elsewhere, so that JupyterLab does not know it"
    for cell in notebook.cells:
        for output in cell.outputs:
            output.metadata["from"] = "elsewhere"
            output.data["text/plain"] += " "
    nbformat.write(notebook, lab[1] / "elsewhere.ipynb")
    page = opened(open_page, lab, "elsewhere")
    page.wait_for_selector("text=Head view of layer 0, mean of heads 0 to 11")
    table = page.locator(".jp-OutputArea-output table").first
    bring_into_view(page, table)
    assert page.locator("iframe").count() == 0
    assert table.locator("td").count() == 64 and table.is_visible()
    keep(page, "not_trusted")
    assert page.outside == []


def test_drawn_in_exported_html(saved, lab, open_page, tmp_path):
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--output-dir", tmp_path, lab[1] / "views.ipynb"]
    subprocess.run(command, check=True, capture_output=True)
    page = open_page()
    page.goto((tmp_path / "views.html").as_uri(), wait_until="commit")
    all_drawn(page, "exported")
    hover_changes(page)
    # nbconvert's own template requests MathJax
    assert [address for address, frame in page.outside if frame != page.url] == []
    assert re.search("mathjax|require", str(page.outside), re.IGNORECASE), "the guard sees nothing any more"
