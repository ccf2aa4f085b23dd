"""A learner's first minutes: JupyterLab as `make lab` starts it, with lesson 00 run in full in a real browser."""

import pytest

from course_utils._support.passed import remember
from course_utils.exercises import LESSONS, all_exercises
from course_utils.tools.workspace.copies import write_workspace

from .browser import bring_into_view, chromium, goto_when_up, keep, needs_chromium, run_all_cells, running_lab

pytestmark = needs_chromium
EXERCISES = list(all_exercises())
FIRST = [one for one in EXERCISES if one[:2] == "00"]
PASSED = [*FIRST, "01-encode"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    workspace = tmp_path_factory.mktemp("lab") / "workspace"
    write_workspace(workspace)
    for passed in PASSED:
        remember(passed, workspace)  # left over from an earlier user
    with running_lab(workspace) as lab, chromium() as open_page:
        page = open_page()
        goto_when_up(page, f"{lab}/?token=secret")  # redirects to the page that `course lab` opens
        yield page


def test_lesson_00_opens_runs_and_shows_its_picture(page):
    page.wait_for_selector(".jp-Notebook .jp-MarkdownCell h1")
    assert "Start here" in page.inner_text(".jp-Notebook .jp-MarkdownCell h1")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    keep(page, "lesson_00_opened")

    run_all_cells(page)
    red = page.locator("[data-mime-type='application/vnd.jupyter.stderr']")  # JupyterLab shows errors and warnings here
    assert red.count() == 1 and "EncoderError" in red.text_content(), red.all_text_contents()

    picture = page.locator(".jp-OutputArea-output img").first
    bring_into_view(page, picture)
    page.wait_for_function("image => image.complete && image.naturalWidth > 300", arg=picture.element_handle())
    keep(page, "lesson_00_picture")

    bring_into_view(page, page.locator(".jp-OutputArea-output", has_text="not there yet").first)
    keep(page, "lesson_00_check")
    stub = page.locator(".jp-OutputArea-output", has_text="not attempted yet")
    assert stub.count() == len(FIRST)


def test_a_quiz_explains_the_option_that_is_opened(page):
    option = page.locator(".jp-MarkdownCell details").nth(1)
    bring_into_view(page, option)
    answer = option.locator("p").first
    assert not answer.is_visible()
    option.locator("summary").click()
    assert answer.is_visible() and answer.inner_text().startswith(("Right.", "No."))
    # the Markdown inside is rendered
    assert option.locator("code, em, strong").count() == 0 or "`" not in option.inner_text()
    keep(page, "lesson_00_quiz")
    option.locator("summary").press("Enter")
    assert not answer.is_visible()


def test_the_whole_course_is_drawn_with_what_was_passed(page):
    picture = page.locator(".jp-OutputArea-output table", has_text=f"of {len(EXERCISES)} exercises passed")
    bring_into_view(page, picture)
    totals = f"{len(PASSED)} of {len(EXERCISES)} exercises passed, 1 of {len(LESSONS)} lessons finished"
    assert totals in picture.inner_text()
    assert picture.locator("span[title$=': passed']").count() == len(PASSED)
    assert picture.locator("span[title$=': open']").count() == len(EXERCISES) - len(PASSED)
    keep(page, "lesson_00_progress")


def test_nothing_outside_was_asked_for(page):
    assert page.outside == []
