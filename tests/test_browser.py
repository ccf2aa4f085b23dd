"""JupyterLab as `make lab` starts it: its kernels, a learner's first minutes, and bertviz's views, in a real browser.

The tests share one JupyterLab and run in this order: the first counts its kernels, the last stops it.

A page's `outside` lists the requests that were blocked, and `problems` the errors of its
scripts: see browser.py.
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
from course_utils.tools.workspace.merging import written_in

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
from .sources import SOURCES, tags

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
# of the encoder, and of SENTENCE: its six words, [CLS] and [SEP]
LAYERS, HEADS, TOKENS = 6, 12, 8
FIRST_VIEW = "Head view of layer 0"
# {start of a view's title: its lines}: each head that is drawn has one for each pair of tokens.
# A head view draws all heads of its layer, and hides those that were not chosen.
LINES = {
    FIRST_VIEW: HEADS * TOKENS**2,
    "Model view": LAYERS * HEADS * TOKENS**2,
    "Head view of layer 1": HEADS * TOKENS**2,
}
# where JupyterLab shows errors and warnings
STDERR = "[data-mime-type='application/vnd.jupyter.stderr']"


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
            yield SimpleNamespace(address=address, workspace=workspace, process=psutil.Process(pid))


# The answer of Jupyter Server's REST API, parsed; None if it is empty.
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
    assert names.count() > len(cores())  # the cores, and at least the glossary
    assert names.evaluate_all(in_page("namesCutOff")) == []


@in_chromium
def test_lesson_00_shows_its_title(page):
    assert "Start here" in page.inner_text(".jp-Notebook .jp-MarkdownCell h1")


@pytest.fixture(scope="module")
def page_after_run(page):
    """The page of lesson 00 after all its cells have run."""
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    run_all_cells(page)
    return page


@in_chromium
def test_lesson_00_runs_without_errors_and_warnings(page_after_run):
    assert page_after_run.locator(STDERR).all_text_contents() == []


@in_chromium
def test_lesson_00_shows_its_picture(page_after_run):
    picture = page_after_run.locator(".jp-OutputArea-output svg.cu-plot").first
    bring_into_view(page_after_run, picture)
    assert picture.bounding_box()["width"] > 300  # pixels: large enough to read
    assert picture.locator("text").count() > 5  # it has labels
    keep(page_after_run, "lesson_00_picture")


@in_chromium
def test_lesson_00_says_of_each_task_that_it_is_not_attempted_yet(page_after_run):
    outputs = page_after_run.locator(".jp-OutputArea-output")
    bring_into_view(page_after_run, outputs.filter(has_text="not there yet").first)
    keep(page_after_run, "lesson_00_check")
    completions = [cell for cell in SOURCES["00"].cells if "completion" in tags(cell)]
    assert outputs.filter(has_text="not attempted yet").count() == len(FIRST) + len(completions)


# bertviz's views in the page of JupyterLab


def open_notebook(open_page, lab, name):
    page = open_page()
    page.goto(f"{lab.address}/lab/tree/{name}.ipynb?token=secret&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    return page


def scroll_to_view(page, title):
    """The frame of the view with this start of its title, and its content, once it is drawn."""
    frame = page.locator(f"iframe[title^='{title}']")
    bring_into_view(page, frame)
    return frame, content_of_view(page, title, LINES[title])


# Put a notebook into the workspace. sources: {id of a code cell: its text}.
def write_notebook(lab, name, sources):
    cells = [nbformat.v4.new_code_cell(source, id=cell_id) for cell_id, source in sources.items()]
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}),
        lab.workspace / f"{name}.ipynb",
    )


def saved_cells(page, file, complete):
    """Save the open notebook, wait until its file's cells are `complete`, and return them."""
    page.keyboard.press("Control+s")
    for _ in range(100):  # half a minute in all
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
    """The page on which the notebook of CELLS was run, after its outputs were saved."""
    write_notebook(lab, "views", CELLS)
    page = open_notebook(open_page, lab, "views")
    run_all_cells(page)
    saved_cells(
        page,
        lab.workspace / "views.ipynb",
        # the first two cells, `setup` and `load`, display nothing
        lambda cells: all(cell.outputs for cell in cells[2:]),
    )
    return page


@pytest.fixture(scope="module", params=["run", "opened again"])
def views(request, saved, lab, open_page):
    """The page above, then one on which the saved notebook is opened and not run."""
    return saved if request.param == "run" else open_notebook(open_page, lab, "views")


@in_chromium
def test_views_run_without_errors_and_warnings(saved):
    assert saved.locator(STDERR).all_text_contents() == []


@in_chromium
def test_each_view_is_drawn_in_full_and_fits_into_its_frame(views):
    for title in LINES:
        _, within = scroll_to_view(views, title)
        wait_until_it_fits(within)
    assert views.locator("iframe").count() == len(LINES)


@in_chromium
def test_the_lines_of_a_view_show_the_weights(views):
    _, within = scroll_to_view(views, FIRST_VIEW)
    opacities = torch.tensor(within.eval_on_selector_all("svg line", in_page("opacities")))
    _, attentions = attend(SENTENCE)
    # a line's opacity is its weight, which the view holds with three decimals, divided by the
    # number of heads that are shown; 0.00001 is for the arithmetic
    torch.testing.assert_close(
        HEADS * opacities, attentions[0].flatten(), rtol=0, atol=0.0005 + 0.00001
    )


@in_chromium
def test_the_lines_of_a_view_answer_to_the_mouse(views):
    frame, within = scroll_to_view(views, FIRST_VIEW)
    state_before = within.evaluate(in_page("stateOfLines"))
    picture_before = frame.screenshot()
    within.locator("#left text", has_text="cat").hover()
    within.wait_for_function(in_page("showsLines"), arg=HEADS * TOKENS)
    # the lines that start at this token, the third, of all heads
    assert (
        within.locator("line[visibility=visible][left-token-index='2']").count() == HEADS * TOKENS
    )
    assert within.evaluate(in_page("stateOfLines")) != state_before
    assert frame.screenshot() != picture_before
    within.locator("#layer").hover()  # away from the tokens
    within.wait_for_function(in_page("showsLines"), arg=0)


# Looks back at the tests above, which have drawn the views.
@in_chromium
def test_views_ask_nothing_of_another_machine(views):
    assert views.outside == []


@in_chromium
def test_views_follow_the_dark_theme(saved):
    frame = saved.locator(f"iframe[title^='{FIRST_VIEW}']")
    assert frame.evaluate(in_page("filterOf")) == "none"
    saved.click(".lm-MenuBar-itemLabel:text-is('Settings')")
    saved.hover(".lm-Menu-itemLabel:text-is('Theme')")
    saved.click(".lm-Menu-itemLabel:text-is('JupyterLab Dark')")
    saved.wait_for_selector("body[data-jp-theme-light=false] .jp-Notebook")
    assert frame.evaluate(in_page("filterOf")).startswith("invert")


# A live copy


@pytest.fixture(scope="module")
def live(lab, open_page):
    """A live copy of lesson 04 beside its card, with `reveal` imported: its page and file."""
    file, _ = write_live(lab.workspace, "04")
    page = open_page()
    page.goto(f"{lab.address}/lab/{write_side_by_side(lab.workspace, file)}?token=secret")
    page.wait_for_selector("text='Python 3 (ipykernel) | Idle'")
    run_cell(page, "import reveal")
    return SimpleNamespace(page=page, file=lab.workspace / file)


# Run the cell that has this text, after typing more below it.
def run_cell(page, text, more=""):
    page.locator(".jp-CodeCell", has_text=text).first.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(more)
    page.keyboard.press("Control+Enter")


@in_chromium
def test_the_card_stands_beside_a_live_copy(live):
    assert "AutoModel.from_pretrained(" in (
        live.page.frame_locator(".jp-HTMLViewer iframe").locator("#card pre").inner_text()
    )


@in_chromium
def test_reveal_replaces_a_cell_in_which_nothing_was_written(live):
    run_cell(live.page, "# 1. ", "\nreveal()")
    live.page.wait_for_selector(".jp-Notebook .cm-content:has-text('library.encode(')")
    assert live.page.locator(".jp-Notebook .jp-CodeCell", has_text="# 1. ").count() == 0


@in_chromium
def test_reveal_puts_the_code_below_what_was_written_and_both_are_saved(live):
    written = nbformat.read(live.file, as_version=4).cells
    run_cell(live.page, "# 2. ", "\nmine = 1\nreveal()")
    live.page.wait_for_selector(".jp-Notebook .cm-content:has-text('def mean_pooling(')")
    # the page holds only the cells in view, the file all of them
    cells = saved_cells(live.page, live.file, lambda cells: len(cells) > len(written))
    # JupyterLab keeps what the file says about the version that it comes from
    assert written_in(live.file.read_bytes())
    assert len(cells) == len(written) + 1
    (own,) = (place for place, cell in enumerate(cells) if "mine = 1" in cell.source)
    assert "def mean_pooling(" in cells[own + 1].source


# Looks back at the tests above.
@in_chromium
def test_a_live_copy_asks_nothing_of_another_machine_and_its_scripts_have_no_errors(live):
    assert live.page.outside == live.page.problems == []


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
    page = open_notebook(open_page, lab, "questions")
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
    # of the 20 that `place` asks; another text may stand before it
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
    (recalled,) = read_schedule(lab.workspace).answers  # the one answer to `review`
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
    assert len(processes) > 2  # JupyterLab, the warm process, and its kernels
    lab.process.terminate()
    assert all(gone(process.pid) for process in processes)
