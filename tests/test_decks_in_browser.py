"""The decks in a browser without a network: they turn, nothing overflows, and the keys do what a
lecturer needs.
"""

import contextlib
import functools
import re

import pytest
from playwright.sync_api import TimeoutError as NotYet

from course_utils._support.notebooks import part_of
from course_utils.tools.publish.slides import write_deck

from .browser import in_chromium, in_page, keep
from .commands import output_of
from .lectures import LECTURES, drawn, embed, is_quiz, read, written_lecture
from .other_browsers import in_other_browsers
from .sources import SOURCES


def each_lecture(test):
    return in_chromium(pytest.mark.parametrize("name", LECTURES)(test))


def deck(folder, text, *cells):
    written_lecture(folder, text, *cells)
    return write_deck("05", folder, folder)


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """A function that writes a lesson's deck, once, into a folder as on a memory stick."""
    folder = tmp_path_factory.mktemp("memory stick")
    return functools.cache(lambda name: write_deck(part_of(name), folder))


def opened(open_page, path):
    page = open_page(1280, 720)
    page.goto(path.as_uri())
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    return page


@pytest.fixture(scope="module")
def open_deck(decks, open_page):
    """A function that opens a lesson's deck, once for all tests that do not need it on its first
    slide.
    """
    return functools.cache(lambda name: opened(open_page, decks(name)))


@pytest.fixture
def open_for_this_test(open_page):
    with contextlib.ExitStack() as closing:
        yield lambda path: closing.enter_context(contextlib.closing(opened(open_page, path)))


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


# number: from 0, the title slide
def wait_for_slide(page, number):
    page.wait_for_function(f"Reveal.getSlidePastCount() === {number}")


@each_lecture
def test_slides_turn_nothing_overflows_and_nothing_leaves_the_machine(decks, open_deck, name):
    page = open_deck(name)
    assert page.evaluate("Reveal.getTotalSlides()") == len(read(name).slides)
    for number, slide in enumerate(read(name).slides):
        wait_for_slide(page, number)
        assert page.evaluate(in_page("faultsOfSlide")) == [], slide.title
        keep(page, f"deck_{part_of(name)}_{number + 1}")
        page.evaluate("Reveal.next()")
    assert page.problems == page.outside == []
    assert decks(name).stat().st_size < 3e6  # bytes


@pytest.mark.parametrize("name", LECTURES)
@in_other_browsers
def test_in_other_browsers_slides_turn_and_nothing_overflows(decks, browser, name):
    with browser() as page:
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(decks(name).as_uri())
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        for number, slide in enumerate(read(name).slides):
            wait_for_slide(page, number)
            for faults in ("faultsOfSlide", "wordsCutOff"):
                assert page.evaluate(in_page(faults)) == [], slide.title
            page.evaluate("Reveal.next()")
        assert page.problems() == []


@in_chromium
def test_the_notes_open_beside_with_the_minutes(decks, open_for_this_test):
    page = open_for_this_test(decks("04_pooling"))
    value = "document.querySelector('.speaker-controls-notes .value')"
    with page.context.expect_page() as beside:
        page.keyboard.press("s")
    notes = beside.value
    notes.wait_for_function(f"{value}?.innerText.includes('Lecture plan')")
    press(page, "ArrowRight", "ArrowRight")
    notes.wait_for_function(f"/minutes, from minute \\d+ to \\d+ of \\d+/.test({value}.innerText)")
    assert re.search(r"\d\d:\d\d:\d\d", notes.inner_text(".pacing"))
    assert page.problems == page.outside == []
    notes.close()


@in_chromium
def test_an_attention_view_draws_in_the_deck_and_hands_on_the_keys(tmp_path, open_for_this_test):
    head_view = next(cell for cell in SOURCES["05-layer"].cells if cell.id == "head-view")
    slides = (
        f"# One {{minutes=2}}\n# Two {{minutes=2}}\n{embed('head-view')}# Three {{minutes=1}}\n"
    )
    page = open_for_this_test(deck(tmp_path, slides, head_view))
    press(page, "ArrowRight", "ArrowRight")
    view = page.locator("section.present iframe").first
    frame = view.element_handle().content_frame()
    # more than a few: the view is drawn by a script, after its frame has loaded
    frame.wait_for_function("document.querySelectorAll('svg line, svg rect, svg text').length > 20")
    view.click(position={"x": 200, "y": 120})
    assert page.evaluate("document.activeElement.tagName") == "IFRAME"
    # the keys turn slides although the view has the focus
    for key, number in (("ArrowLeft", 1), ("ArrowRight", 2)):
        press(page, key)
        wait_for_slide(page, number)
    # a menu in the view keeps its keys
    menu = frame.locator("select").first
    menu.focus()
    before = menu.input_value()
    press(page, "ArrowDown")
    frame.wait_for_function(f"document.querySelector('select').value !== '{before}'")
    assert frame.evaluate("document.activeElement.tagName") == "SELECT"
    wait_for_slide(page, 2)
    # Escape takes them from it
    press(page, "Escape", "PageDown")
    wait_for_slide(page, 3)


DIAGRAM = (
    '<figure class="cu-diagram"><svg class="cu-svg" role="img" aria-label="a and b" viewBox="0 0 800 300">'
    '<text x="20" y="40" font-size="16">start</text><g class="cu-step" data-step="2"><text x="300" y="99">b</text></g>'
    '<g class="cu-step" data-step="1"><text x="90" y="99">a</text></g></svg></figure>'
)


@pytest.fixture
def small_deck(tmp_path):
    """A title and three slides: a diagram in steps with a sentence, a question, and a last one."""
    question = "".join(
        f"<details><summary>{letter}. Is it?</summary>\n\nNo. {'It is not. ' * 20}\n\n</details>\n"
        for letter in "ABCD"
    )
    slides = (
        f"# One {{minutes=5}}\n{embed('steps')}\n. . .\n\nAt last \N{SLIGHTLY SMILING FACE}.\n"
        f"## Two\nWhich?\n\n{question}## Three\nThe end.\n"
    )
    return deck(tmp_path, slides, drawn("steps", {"text/html": DIAGRAM}))


@in_chromium
def test_the_keys_build_a_diagram_in_steps_and_go_back(small_deck, open_for_this_test):
    page = open_for_this_test(small_deck)
    steps = [["start"], ["a", "start"], ["a", "b", "start"], ["At last .", "a", "b", "start"]]
    forwards = [("ArrowRight", shown) for shown in steps]
    backwards = [("ArrowLeft", shown) for shown in steps[-2::-1]]
    for key, shown in forwards + backwards:
        press(page, key)
        page.wait_for_function(in_page("showsParts"), arg=shown)
        wait_for_slide(page, 1)


@in_chromium
def test_space_opens_the_option_that_has_the_focus_and_turns_no_slide(
    small_deck, open_for_this_test
):
    page = open_for_this_test(small_deck)
    page.evaluate(in_page("showWholeSlide"), 2)
    page.locator("section.present summary").first.focus()
    press(page, "Space")
    page.wait_for_function(in_page("onlyTheFocusedOptionIsOpen"))
    wait_for_slide(page, 2)
    # elsewhere, it turns the slide
    page.evaluate("document.activeElement.blur()")
    press(page, "Space")
    wait_for_slide(page, 3)
    # a button of the deck's own: back
    page.locator(".controls .navigate-left").focus()
    press(page, "Space")
    wait_for_slide(page, 2)


@in_chromium
def test_the_overview_lays_out_slides_as_when_they_are_shown(decks, open_for_this_test):
    page = open_for_this_test(decks("04_pooling"))
    press(page, "Escape")
    page.wait_for_function("Reveal.isOverview()")
    in_overview = page.evaluate(in_page("sizesOfSlides"))
    press(page, "Escape")
    page.wait_for_function("!Reveal.isOverview()")
    for number, sizes in enumerate(in_overview):
        page.evaluate("number => Reveal.slide(number)", number)
        assert page.evaluate(in_page("sizesOfSlides"))[number] == sizes, number
    assert len(in_overview) > 5, "those near the current one are laid out"


@in_chromium
def test_pictures_fill_the_slide(small_deck, open_for_this_test):
    page = open_for_this_test(small_deck)
    press(page, *["ArrowRight"] * 5)  # to the diagram, through its three steps, to the question
    wait_for_slide(page, 2)
    press(page, "ArrowLeft")
    assert page.evaluate(in_page("faultsOfSlide")) == []
    box = page.locator("section.present .cu-svg").bounding_box()
    # as wide as the slide within its padding, 1280 - 2 * 64, and in the proportion of DIAGRAM's view
    # box
    assert box["width"] == pytest.approx(1152)
    assert box["height"] == pytest.approx(1152 * 300 / 800)
    assert (
        page.locator("section.present .sign").get_attribute("aria-label")
        == "\N{SLIGHTLY SMILING FACE}"
    )


@in_chromium
def test_a_line_that_is_too_wide_is_wrapped_and_no_type_is_below_18_pixels(
    tmp_path, open_for_this_test
):
    wide = drawn("wide", {"text/plain": "wide " * 60})
    page = open_for_this_test(deck(tmp_path, "# One {minutes=5}\n" + embed("wide"), wide))
    press(page, "ArrowRight")
    style = page.evaluate("getComputedStyle(document.querySelector('section.present .output pre'))")
    assert style["fontSize"] == "18px"
    assert style["whiteSpace"] == "pre-wrap"


@in_chromium
def test_the_pdf_of_a_deck_has_a_page_for_each_slide(tmp_path):
    output_of("slides", "04", "--pdf", "--out", tmp_path)
    printed = (tmp_path / "04_pooling.slides.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == len(read("04_pooling").slides)


@each_lecture
def test_slides_on_paper_have_margins_and_hide_nothing(decks, open_page, name):
    page = open_page(1280, 720)
    page.goto(f"{decks(name).as_uri()}?print-pdf")
    assert page.locator(".print-pdf section").count() == len(read(name).slides)
    assert page.evaluate(in_page("faultsOnPaper")) == []
    page.close()


@each_lecture
def test_a_quiz_opens_with_the_keyboard_one_option_at_a_time_within_the_slide(open_deck, name):
    page = open_deck(name)
    quizzes = [
        number
        for number, slide in enumerate(read(name).slides)
        if any(is_quiz(block.cell) for block in slide.blocks)
    ]
    for number in quizzes:
        page.evaluate(in_page("showWholeSlide"), number)
        # two at once: the second stays, however late the browser reports that the first opened
        page.evaluate(
            "document.querySelectorAll('section.present summary').forEach(summary => summary.click())"
        )
        page.wait_for_function(
            "document.querySelector('section.present details:last-of-type[open]')"
        )
        for summary in page.locator("section.present summary").all():
            summary.focus()
            page.keyboard.press("Enter")
            page.wait_for_function(in_page("onlyTheFocusedOptionIsOpen"))
            # The slide is resized shortly after the option reports that it opened. If it stays
            # wrong, its faults say more than the end of this wait.
            with contextlib.suppress(NotYet):
                page.wait_for_function(in_page("slideIsRight"), timeout=5000)
            assert page.evaluate(in_page("faultsOfSlide")) == []
