"""A person's first minutes: JupyterLab as `make lab` starts it, lesson 00 in a real browser, all cells run."""

import pytest

from .browser import bring_into_view, chromium, goto_when_up, keep, needs_chromium, run_all_cells, running_lab

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with running_lab(tmp_path_factory.mktemp("lab") / "workspace") as lab, chromium() as open_page:
        page = open_page()
        goto_when_up(page, f"{lab}/?token=secret")  # redirected to where `course lab` opens
        yield page


def test_lesson_00_opens_runs_and_shows_its_picture(page):
    page.wait_for_selector(".jp-Notebook .jp-MarkdownCell h1")
    assert "Start here" in page.inner_text(".jp-Notebook .jp-MarkdownCell h1")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    keep(page, "lesson_00_opened")

    run_all_cells(page)
    red = page.locator("[data-mime-type='application/vnd.jupyter.stderr']")  # where Lab shows errors and warnings
    assert red.count() == 1 and "EncoderError" in red.text_content(), red.all_text_contents()

    picture = page.locator(".jp-OutputArea-output img").first
    bring_into_view(page, picture)
    page.wait_for_function("image => image.complete && image.naturalWidth > 300", arg=picture.element_handle())
    keep(page, "lesson_00_picture")

    bring_into_view(page, page.locator(".jp-OutputArea-output", has_text="not there yet").first)
    keep(page, "lesson_00_check")
    stub = page.locator(".jp-OutputArea-output", has_text="not attempted yet")
    assert stub.count() == 2


def test_nothing_outside_was_asked_for(page):
    assert page.outside == []
