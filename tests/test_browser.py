"""JupyterLab as `make lab` starts it: its kernels, a learner's first minutes, and bertviz's views, in a real browser.

The tests share one JupyterLab and run in this order: the first counts its kernels, the last stops it.
"""

import json
import sys
import urllib.request
from types import SimpleNamespace

import nbformat
import psutil
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright import sync_api as playwright

from course_utils._support.hub_cache import PUBLIC_NAME
from course_utils._support.notebooks import cores, part_with
from course_utils.attention import attend
from course_utils.diary.passed import remember
from course_utils.diary.schedule import read_schedule
from course_utils.exercises import all_exercises
from course_utils.tools.kernels.provisioner import COLD, SOCKET
from course_utils.tools.workspace.copies import write_workspace
from course_utils.tools.workspace.lab import write_side_by_side
from course_utils.tools.workspace.live import write_live

from .browser import (
    bring_into_view,
    content_of_view,
    in_chromium,
    in_page,
    keep,
    run_all_cells,
    running_lab,
    wait_until_it_fits,
)
from .commands import gone
from .execute import KERNEL

FIRST = [exercise for exercise in all_exercises() if part_with(exercise) == "00"]
SENTENCE = "The cat sat on the mat"
CELLS = {
    "setup": "from course_utils import setup\nsetup()",
    "load": (
        "from bertviz import head_view, model_view\nfrom transformers import AutoModel, AutoTokenizer\n"
        f'tokenizer = AutoTokenizer.from_pretrained("{PUBLIC_NAME}")\n'
        f'model = AutoModel.from_pretrained("{PUBLIC_NAME}", attn_implementation="eager")\n'
        f'inputs = tokenizer("{SENTENCE}", return_tensors="pt")\n'
        "attention = model(**inputs, output_attentions=True).attentions"
    ),
    "head-view": "head_view(attention, inputs.tokens())",
    "model-view": "model_view(attention, inputs.tokens())",
    "second-head-view": "head_view(attention, inputs.tokens(), layer=1, heads=[9])",
}
# {start of a view's title: its lines}: for each head, one for each pair of the sentence's 8 tokens
LINES = {"Head view of layer 0": 12 * 64, "Model view": 72 * 64, "Head view of layer 1": 12 * 64}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A running JupyterLab: its address, workspace and process. It starts a warm process of its own."""
    workspace = tmp_path_factory.mktemp("lab") / "workspace"
    write_workspace(workspace)
    for exercise in FIRST:
        remember(exercise, workspace)  # left over from an earlier user
    with pytest.MonkeyPatch.context() as patch:
        for name in (SOCKET, COLD, "JUPYTER_DEFAULT_PROVISIONER_NAME"):
            patch.delenv(name, raising=False)
        with running_lab(workspace) as (address, pid):
            process = psutil.Process(pid)
            yield SimpleNamespace(address=address, workspace=workspace, process=process)


def ask(lab, path, method="GET"):
    request = urllib.request.Request(
        f"{lab.address}/api/{path}",
        method=method,
        headers={"Authorization": "token secret"},
        data=b"{}" if method == "POST" else None,
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or "null")


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="warm kernels need Linux")


@pytest.mark.nightly
@needs_linux
def test_jupyterlab_gets_its_kernels_from_the_warm_process(lab):
    """Two kernels, one restarted, then both shut down."""
    ids = [ask(lab, "kernels", "POST")["id"] for _ in range(2)]
    (warm,) = lab.process.children()
    kernels = warm.children()
    assert len(kernels) == 2
    ask(lab, f"kernels/{ids[0]}/restart", "POST")
    assert len(warm.children()) == 2
    assert len(set(kernels) & set(warm.children())) == 1
    for kernel_id in ids:
        ask(lab, f"kernels/{kernel_id}", "DELETE")
    assert warm.children() == []


# A learner's first minutes


@pytest.fixture(scope="module")
def page(lab, open_page):
    page = open_page()
    page.goto(f"{lab.address}/?token=secret")  # redirects to the page that `course lab` opens
    return page


@in_chromium
def test_lesson_00_opens_unchanged_beside_its_contents_and_whole_names(page):
    # after that, JupyterLab has stored the kernel's name
    page.wait_for_selector("text='Python 3 (ipykernel) | Idle'")
    page.wait_for_selector(".jp-TableOfContents .jp-tocItem-content:text-is('How to work')")
    assert page.locator(".lm-TabBar-tab.jp-mod-current:has-text('00_start_here')").count() == 1
    assert page.locator(".lm-TabBar-tab.jp-mod-dirty").count() == 0
    names = page.locator(".jp-DirListing-itemText", has_text=".ipynb")
    assert names.count() > len(cores())
    assert names.evaluate_all(in_page("namesCutOff")) == []


@in_chromium
def test_lesson_00_opens_runs_and_shows_its_picture(page):
    page.wait_for_selector(".jp-Notebook .jp-MarkdownCell h1")
    assert "Start here" in page.inner_text(".jp-Notebook .jp-MarkdownCell h1")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    run_all_cells(page)
    # JupyterLab shows errors and warnings here
    red = page.locator("[data-mime-type='application/vnd.jupyter.stderr']")
    assert red.count() == 0, red.all_text_contents()

    picture = page.locator(".jp-OutputArea-output svg.cu-plot").first
    bring_into_view(page, picture)
    assert picture.bounding_box()["width"] > 300
    assert picture.locator("text").count() > 5
    keep(page, "lesson_00_picture")

    bring_into_view(page, page.locator(".jp-OutputArea-output", has_text="not there yet").first)
    keep(page, "lesson_00_check")
    stub = page.locator(".jp-OutputArea-output", has_text="not attempted yet")
    assert stub.count() == len(FIRST) + 2  # and its completions


# Attention views


def opened(open_page, lab, name):
    page = open_page()
    page.goto(f"{lab.address}/lab/tree/{name}.ipynb?token=secret&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    return page


def all_drawn(page):
    """Check that each view, when scrolled into view, is drawn in full and fits into its frame.

    The lines of the first one show the weights, and answer to the mouse.
    """
    for title, lines in LINES.items():
        frame = page.locator(f"iframe[title^='{title}']")
        bring_into_view(page, frame)
        wait_until_it_fits(content_of_view(page, title, lines))
    assert page.locator("iframe").count() == len(LINES)

    frame = page.locator("iframe[title^='Head view of layer 0']")
    bring_into_view(page, frame)
    within = content_of_view(page, "Head view of layer 0")
    opacities = within.eval_on_selector_all("svg line", in_page("opacities"))
    # a line's opacity is its weight, divided by the number of heads that are shown
    weights = attend(SENTENCE)[1][0].flatten()
    torch.testing.assert_close(12 * torch.tensor(opacities), weights, rtol=0, atol=5.1e-4)
    state = within.evaluate(in_page("stateOfLines"))
    picture = frame.screenshot()
    within.locator("#left text", has_text="cat").hover()
    within.wait_for_function(in_page("showsLines"), arg=12 * 8)
    # the lines that start at this token, of all heads
    assert within.locator("line[visibility=visible][left-token-index='2']").count() == 12 * 8
    assert within.evaluate(in_page("stateOfLines")) != state
    assert frame.screenshot() != picture
    within.locator("#layer").hover()  # away from the tokens
    within.wait_for_function(in_page("showsLines"), arg=0)


def write_notebook(lab, name, sources):
    """Put a notebook into the workspace. sources: {id of a code cell: its text}."""
    cells = [nbformat.v4.new_code_cell(source, id=cell_id) for cell_id, source in sources.items()]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    nbformat.write(notebook, lab.workspace / f"{name}.ipynb")


def saved_cells(page, file, complete):
    """Save the open notebook, wait until its file's cells are `complete`, and return them."""
    page.keyboard.press("Control+s")
    for _ in range(100):
        page.wait_for_timeout(300)
        try:
            cells = nbformat.read(file, as_version=4).cells
        except nbformat.reader.NotJSONError:  # JupyterLab is writing it at this moment
            continue
        if complete(cells):
            return cells
    pytest.fail(f"{file.name} was not saved")


@pytest.fixture(scope="module")
def saved(open_page, lab):
    """The page on which the notebook was run, after the outputs were saved to disk."""
    write_notebook(lab, "views", CELLS)
    page = opened(open_page, lab, "views")
    run_all_cells(page)
    saved_cells(
        page, lab.workspace / "views.ipynb", lambda cells: all(cell.outputs for cell in cells[2:])
    )
    return page


@in_chromium
def test_drawn_when_run(saved):
    assert saved.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    all_drawn(saved)
    assert saved.outside == []


@in_chromium
def test_drawn_again_when_the_saved_notebook_is_opened(saved, lab, open_page):
    page = opened(open_page, lab, "views")
    all_drawn(page)
    assert page.outside == []


@in_chromium
def test_views_follow_the_dark_theme(saved):
    frame = saved.locator("iframe[title^='Head view of layer 0']")
    assert frame.evaluate(in_page("filterOf")) == "none"
    saved.click(".lm-MenuBar-itemLabel:text-is('Settings')")
    saved.hover(".lm-Menu-itemLabel:text-is('Theme')")
    saved.click(".lm-Menu-itemLabel:text-is('JupyterLab Dark')")
    saved.wait_for_selector("body[data-jp-theme-light=false] .jp-Notebook")
    assert frame.evaluate(in_page("filterOf")).startswith("invert")
    bring_into_view(saved, frame)


@in_chromium
def test_a_live_copy_stands_beside_its_code_and_reveal_brings_a_cells_back(lab, open_page):
    file, _ = write_live(lab.workspace, "04")
    written = nbformat.read(lab.workspace / file, as_version=4).cells
    page = open_page()
    page.goto(f"{lab.address}/lab/{write_side_by_side(lab.workspace, file)}?token=secret")
    page.wait_for_selector("text='Python 3 (ipykernel) | Idle'")
    card = page.frame_locator(".jp-HTMLViewer iframe").locator("#card pre")
    assert "AutoModel.from_pretrained(" in card.inner_text()
    cells = page.locator(".jp-Notebook .jp-CodeCell")

    def run(comment, more=""):
        """Run the cell that has this text, after typing more below it."""
        cells.filter(has_text=comment).first.locator(".cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.type(more)
        page.keyboard.press("Control+Enter")

    run("import reveal")
    run("# 1. ", "\nreveal()")
    page.wait_for_selector(".jp-Notebook .cm-content:has-text('library.encode(')")
    assert cells.filter(has_text="# 1. ").count() == 0
    run("# 2. ", "\nmine = 1\nreveal()")
    page.wait_for_selector(".jp-Notebook .cm-content:has-text('def mean_pooling(')")
    # the page holds only the cells in view, the file all of them
    sources = [
        cell.source
        for cell in saved_cells(page, lab.workspace / file, lambda saved: len(saved) > len(written))
    ]
    assert len(sources) == len(written) + 1
    (typed,) = (place for place, source in enumerate(sources) if "mine = 1" in source)
    assert "def mean_pooling(" in sources[typed + 1]
    assert page.outside == page.problems == []


# Questions from memory


@pytest.fixture(scope="module")
def questions(lab, open_page):
    """The page of a notebook in which `place` asks a question, then `review`; then `progress`."""
    write_notebook(
        lab,
        "questions",
        {
            "setup": "from course_utils import setup, place, review, progress\nsetup()",
            "place": "place()",
            "review": "review()",
            "progress": "progress()",
        },
    )
    page = opened(open_page, lab, "questions")
    page.set_viewport_size({"width": 1280, "height": 1500})
    run_all_cells(page)
    return page


def answer(question, *keys):
    """Press keys from the first option on, and Enter.

    keys: to the option, then to the degree of being sure if it is asked, and to the button.
    """
    before = question.locator("form .cu-small").inner_text()
    question.locator("button, input").first.focus()
    for key in (*keys, "Enter"):
        question.page.keyboard.press(key)
    playwright.expect(question.locator("form .cu-small")).not_to_have_text(before)


@in_chromium
def test_progress_counts_what_is_due(questions):
    assert "to review today: " in questions.locator(".jp-OutputArea-output").last.inner_text()


@in_chromium
def test_a_question_of_place_is_answered_by_keyboard(questions):
    placing = questions.locator(".cu-ask").nth(0)
    answer(placing, "ArrowDown", "Tab", "ArrowRight", "Tab")
    # it may come after another text
    playwright.expect(placing.locator(".cu-small")).to_contain_text("2 of 20")
    assert questions.evaluate("document.activeElement.tagName") == "LEGEND", (
        "the next question has the focus"
    )
    placing.locator("button[type=submit]").click()
    assert "Choose an answer first." in placing.inner_text()


@in_chromium
def test_a_question_of_review_is_answered_by_keyboard(questions, lab):
    # a question to recall: show the answer, then say how much of it one had
    reviewing = questions.locator(".cu-ask").nth(1)
    reviewing.locator("button").focus()
    questions.keyboard.press("Enter")
    reviewing.locator("input").first.wait_for()
    answer(reviewing, "ArrowDown", "Tab")
    (recalled,) = read_schedule(lab.workspace).answers
    assert recalled["right"]
    assert recalled["item"] not in read_schedule(lab.workspace).due()


@in_chromium
@pytest.mark.parametrize("is_light", ["true", "false"], ids=["light", "dark"])
def test_axe_finds_nothing_in_questions(questions, is_light):
    questions.evaluate("light => { document.body.dataset.jpThemeLight = light }", is_light)
    violations = Axe().run(questions, context=".cu-ask").response["violations"]
    assert [violation["id"] for violation in violations] == []
    assert questions.outside == questions.problems == []


@pytest.mark.nightly
@needs_linux
def test_nothing_is_left_when_jupyterlab_is_stopped(lab):
    """Must be the last test of this file."""
    processes = [lab.process, *lab.process.children(recursive=True)]
    assert len(processes) > 2
    lab.process.terminate()
    assert all(gone(process.pid, 30) for process in processes)
