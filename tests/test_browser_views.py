"""bertviz's views in a real browser, each alone on a page. test_browser.py has them in JupyterLab."""

import pytest

from course_utils import plots
from course_utils._support.bertviz_offline import LARGE, stand_in

from .browser import CHROMIUM_IS_MISSING, fits, inside
from .test_attention import random_attentions
from .test_bertviz import AWKWARD, head_view, model_view

pytestmark = [pytest.mark.nightly, CHROMIUM_IS_MISSING]


@pytest.fixture(scope="module")
def shown(open_page):
    """A function that puts a view alone on a dark page and returns the page and the content of the view's frame."""
    plots.use_style()
    stand_in()
    page = open_page()

    def show(view):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.set_content(
            f"<!DOCTYPE html><body style='background:#111;color:#ddd'>{view._repr_html_()}</body>"
        )
        return page, inside(page)

    return show


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


@pytest.mark.parametrize(
    ("view", "layers", "heads", "n"),
    [
        (head_view, 6, 12, 2),
        (head_view, 6, 12, 12),
        (head_view, 1, 16, LARGE["head_view"]),
        (model_view, 6, 12, 2),
        (model_view, 6, 12, 12),
        (model_view, 1, 2, 12),
        (model_view, 2, 1, 8),
        (model_view, 12, 16, 4),
        (model_view, 2, 4, LARGE["model_view"]),
    ],
)
def test_the_frame_shows_the_whole_view(shown, view, layers, heads, n):
    tokens = ["representation"] * n
    page, frame = shown(view(random_attentions(layers, heads, n), tokens, sentence_b_start=1))
    fits(frame)
    page.set_viewport_size({"width": 700, "height": 900})
    fits(frame, narrower_than=701)
