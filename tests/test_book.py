"""The book written by `make book`: complete, small, self-contained, accessible and printable.

First, a book of real lessons: its files; then, nightly and of all lessons, its pages in Chromium.
These are opened from files, with all network requests blocked, and axe checks each.
Then how listings are set, line by line. Last, a small book of invented lessons, and what stops a
book.
"""

import base64
import re
import shutil
import struct
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlparse

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_utils._support.notebooks import (
    BEGIN,
    NOTEBOOKS,
    name_of,
    part_of,
    part_with,
    parts,
    seen_from,
)
from course_utils.exercises import all_exercises
from course_utils.tools.grading.places import place_of
from course_utils.tools.publish import PublishError, book, listings, paper, slides

from .browser import AXE_ITSELF, in_chromium, in_page, keep
from .other_browsers import in_other_browsers
from .sources import SOURCES, tags

LESSONS = [name_of(path) for path in parts().values()]
START = "00_start_here"
FOLDED = "04_pooling"  # has solutions and quizzes, which are folded
VIEWS = "further/05_layer"  # has attention views
# between them, these lessons have each kind of element
FEW = [START, FOLDED, "05_attention", VIEWS]
TO_A_LESSON = re.compile(
    r"\[(?P<words>[^]]*)\]\((?P<lesson>(?:\.\./|further/)?\d\d_\w+)\.ipynb[^)]*\)"
)
MAX_BYTES = 3_000_000  # the page and all that it loads from the folder, attention views included
# rules of axe that it leaves out unless they are asked for
EXPERIMENTAL = [
    "label-content-name-mismatch",
    "p-as-heading",
    "table-fake-caption",
    "td-has-header",
]
# axe's rules for a whole page are not asked of a frame in it
NO_PAGE_RULES = dict.fromkeys(
    ["landmark-one-main", "page-has-heading-one", "region"], {"enabled": False}
)
# these take seconds a page: see test_colours_have_contrast
COLOURS = ["color-contrast", "link-in-text-block"]
STRUCTURE = {rule: {"enabled": rule in EXPERIMENTAL} for rule in (*EXPERIMENTAL, *COLOURS)}
WIDTHS = (1440, 820, 390)  # of a screen, a tablet and a telephone


def parsed(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def paths_of(site):
    return [*sorted(site.glob("*.html")), *sorted(site.glob("further/*.html"))]


def write_quick_book(out, lessons, say=print):
    """The folder of a book without its PDF, and without what runs explorers: see test_explore.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book, "write_explorers", Path)
        patch.setattr(paper, "BROWSERS", ())
        return book.write_book(out, lessons, say).parent


# A decorator: the test runs nightly, in Chromium, on the book of all lessons.
def of_the_whole_book(test):
    return in_chromium(pytest.mark.parametrize("names", ["all"], indirect=True)(test))


@pytest.fixture(scope="module", params=["few", pytest.param("all", marks=pytest.mark.nightly)])
def names(request):
    """The lessons in the book, beside the glossary."""
    return LESSONS if request.param == "all" else FEW


@pytest.fixture(scope="module")
def site(names, tmp_path_factory):
    """The folder of the book, built once; that of all lessons with its PDF if there is a Chromium."""
    folder = tmp_path_factory.mktemp("book")
    if names == LESSONS:
        return book.write_book(folder / "book").parent
    (folder / "lessons" / "further").mkdir(parents=True)
    for name in (*names, "glossary"):
        lesson = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)

        def without_dead_link(link):
            return link[0] if seen_from(name, link["lesson"]) in names else link["words"]

        for cell in lesson.cells:  # a link to a lesson that is not there would stop the book
            cell.source = TO_A_LESSON.sub(without_dead_link, cell.source)
        nbformat.write(lesson, folder / "lessons" / f"{name}.ipynb")
    return write_quick_book(folder / "book", folder / "lessons")


@pytest.fixture(scope="module")
def pages(site):
    """{name: the page, parsed}."""
    return {name_of(path): parsed(path) for path in paths_of(site)}


def layout(page):
    """{width: how the listings of the open page fit}, and the faults that axe finds."""
    fits, faults = {}, []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(in_page("keyboardReachesWhatScrolls"))
        fits[width] = page.evaluate(in_page("howListingsFit"))
        faults += page.evaluate(in_page("axeFinds"), {"rules": STRUCTURE})
    return fits, faults


@pytest.fixture(scope="module")
def visited(site, open_page):
    """What the browser found on each page of the book, all opened one after the other.

    {a file's name without .html: {"bytes": the size of the files it loads from the folder,
    "wrong": blocked requests and errors of scripts, its own and those of the pages before it,
    "fit": {width: how listings fit, see howListingsFit in page_checks.mjs},
    "faults": [rule of axe, number of elements, the first of them] of each fault}}
    """
    visits = {}
    loaded = []  # addresses, filled while a page loads
    page = open_page(WIDTHS[0])
    page.on("requestfinished", lambda request: loaded.append(request.url))
    for path in paths_of(site):
        loaded.clear()
        page.goto(path.as_uri())
        page.evaluate(AXE_ITSELF.read_text(encoding="utf-8"))
        page.evaluate(in_page("openBoxes"))  # so that axe looks into them
        page.evaluate(in_page("makePlain"))
        fits, faults = layout(page)
        files = {unquote(urlparse(address).path) for address in loaded if "file:" in address}
        visits[path.stem] = {
            "bytes": sum(Path(file).stat().st_size for file in files),
            "wrong": [*page.outside, *page.problems],
            "fit": fits,
            "faults": faults,
        }
    return visits


def go(open_page, site, name, **size):
    page = open_page(**size)
    page.goto((site / f"{name}.html").as_uri())
    return page


# ---------------------------------------------------------------- the files of the book


def test_what_the_decks_and_the_class_report_link_to_is_there(names, pages):
    ids = {
        name: {element["id"] for element in page.find_all(id=True)} for name, page in pages.items()
    }
    exercises = [key for key in all_exercises() if name_of(parts()[part_with(key)]) in names]
    explorers = [
        address
        for address in slides.explorer_pages("").values()
        if address.partition(".html#")[0] in names
    ]
    for address in [*explorers, *(place_of(exercise_id).page for exercise_id in exercises)]:
        name, _, anchor = address.partition(".html#")
        assert anchor in ids[name], address


def cells_of(name):
    return SOURCES[part_of(name)].cells


def answers_among(cells):
    return [cell for cell in cells if cell.cell_type == "code" and BEGIN in cell.source]


def test_the_book_has_a_page_for_each_lesson_and_four_more(names, pages):
    assert pages.keys() == {*names, "index", "search", "glossary", "literature"}


def test_the_first_page_leads_to_every_lesson(names, pages):
    cores = [name for name in names if "/" not in name]
    cards = pages["index"].select("ul.cards > li")
    assert [card.a["href"] for card in cards] == [f"{name}.html" for name in [*cores, "glossary"]]
    assert all(card.select_one(".art > svg") for card in cards), "each has a picture"
    further = [link["href"].removesuffix(".html") for link in pages["index"].select("ul.further a")]
    assert further == [name for name in names if name not in cores]


def test_the_first_page_says_what_a_lesson_is_called_and_how_long_it_is(names, pages):
    for name in names:
        cells = cells_of(name)
        first = cells[0].source
        link = pages["index"].select_one(f'ul.cards a[href="{name}.html"]')
        # a card shows the title as the lesson has it, or without the number
        assert first.startswith((f"# {link.text}\n", f"# {Path(name).name[:2]} {link.text}\n"))
        facts = next(text for text in link.find_all_next(string=True) if "minutes" in text)
        # "0" where no exercise is named
        minutes, exercises = re.search(r"(\d+) minutes(?: · (\d+) exercise)?", facts).groups("0")
        assert f"About {minutes} minutes" in first
        assert int(exercises) == sum(
            "completion" not in tags(cell) for cell in answers_among(cells)
        )


def test_pages_have_no_marks_of_solutions_and_nothing_of_the_lecture(names, pages):
    texts = {name: pages[name].article.get_text() for name in names}
    assert [
        name for name in texts if re.search("SOLUTION|Pictures for the lecture", texts[name])
    ] == []


def test_every_answer_and_quiz_is_in_its_lesson(names, pages):
    for name in names:
        cells = cells_of(name)
        answers = answers_among(cells)
        assert pages[name].article.get_text().count("raise NotImplementedError()") == len(answers)
        # texts that learners write, which are marked by hand
        reports = sum("nbgrader" in cell.metadata for cell in cells if cell.cell_type == "markdown")
        solutions = pages[name].select("details.solution > summary")
        assert [solution.text for solution in solutions] == ["One way to write it"] * (
            len(answers) + reports
        )
        # all other boxes are of quizzes
        assert len(pages[name].select("article details:not(.solution, .hide)")) == sum(
            cell.source.count("<details>") for cell in cells
        )


def test_what_is_folded_is_set_like_the_rest(pages):
    assert pages[START].select("details.solution .highlight .k"), "a solution is code in colours"
    for page in pages.values():
        for box in page.select("article details"):
            assert box.find(["p", "div", "ul"]), "text in a box is a paragraph, not raw Markdown"


def test_every_picture_has_a_text(names, pages):
    wanted = "img:not(.art img), article svg.cu-svg:not(.art svg), iframe"
    pictures = [picture for page in pages.values() for picture in page.select(wanted)]
    assert len(pictures) >= 3 * len(names), "the selector matches too little"
    for picture in pictures:
        text = picture.get("alt") or picture.get("aria-label") or picture.get("title", "")
        assert len(text) > 30, picture  # characters: more than a word or two


def test_every_figure_has_a_number_and_a_caption(names, pages):
    for name in names:
        figures = pages[name].select("figure")
        assert len(figures) == len(
            pages[name].select(".cell_output img, .cell_output svg, .cell_output iframe")
        )
        # a core's figures are 5.1, 5.2; those of its further parts 5a.1, 5b.1
        lesson = Path(name).name[:2]
        further = sorted(other for other in names if other.startswith(f"further/{lesson}_"))
        letter = "abc"[further.index(name)] if name in further else ""
        chapter = f"{int(lesson)}{letter}"
        for number, figure in enumerate(figures, 1):
            assert figure.select_one("figcaption strong").text == f"Figure {chapter}.{number}."
            assert figure["id"] == f"figure-{chapter}-{number}"
            assert len(figure.figcaption.get_text()) > 30  # more than its number


def test_nothing_is_asked_of_another_machine(pages, site):
    for name, page in pages.items():
        loads = page.select(
            "script[src], link[rel=stylesheet], link[rel=preload], link[rel=icon], img, iframe[src]"
        )
        sources = [tag.get("src") or tag.get("href") for tag in loads]
        assert len(sources) > 5, "the selector matches too little"
        assert page.select_one("link[rel=icon]"), "browsers ask the server for one otherwise"
        assert [source for source in sources if re.match(r"(https?:)?//", source)] == [], name
    for style in site.glob("_static/**/*.css"):
        assert not re.search(
            r"(url\(|@import)\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8")
        ), style


def test_the_book_has_no_path_of_this_machine(site):
    for path in [*paths_of(site), site / "searchindex.js"]:
        text = path.read_text(encoding="utf-8")
        assert not [folder for folder in (site.parent, NOTEBOOKS) if str(folder) in text], path


def test_links_to_the_next_page_lead_through_the_book_in_its_order(names, pages):
    page, order = "index", []
    while onward := pages[page].select_one("a.right-next"):
        page = seen_from(page, onward["href"]).removesuffix(".html")
        order.append(page)
    assert order == [*names, "glossary", "literature"]


# ---------------------------------------------------------------- its pages in Chromium


@of_the_whole_book
def test_pages_are_light_and_stay_on_this_machine(visited):
    for name, visit in visited.items():
        # less than half a megabyte would be a page without its theme
        assert 500_000 < visit["bytes"] < MAX_BYTES, name
        assert visit["wrong"] == [], name


@pytest.mark.parametrize("names", ["all"], indirect=True)
@in_other_browsers
def test_in_other_browsers_pages_fit_and_no_word_of_a_drawing_is_cut_off(site, browser):
    faults = {}
    with browser() as page:
        for path in paths_of(site):
            page.goto(path.as_uri())
            for width in (1280, 500):  # the windows of these browsers are not narrower
                page.set_viewport_size({"width": width, "height": 900})
                if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    faults[path.stem, width] = "the page scrolls sideways"
                if cut := page.evaluate(in_page("wordsCutOff")):
                    faults[path.stem, width] = cut
            if problems := page.problems():
                faults[path.stem, "scripts"] = problems
    assert faults == {}


@of_the_whole_book
def test_axe_finds_nothing(visited):
    assert {name: page["faults"] for name, page in visited.items() if page["faults"]} == {}


@of_the_whole_book
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", FOLDED, VIEWS])
def test_colours_have_contrast(site, open_page, name, theme):
    """On pages that, between them, have every kind of element: it takes seconds a page."""
    for width in (WIDTHS[0], WIDTHS[-1]):
        page = go(open_page, site, name, width=width)
        page.emulate_media(reduced_motion="reduce")  # colours change at once
        page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        page.evaluate(in_page("openBoxes"))
        page.evaluate(AXE_ITSELF.read_text(encoding="utf-8"))
        assert page.evaluate(in_page("axeFinds"), {"runOnly": COLOURS}) == []


@of_the_whole_book
def test_code_fits_and_only_some_tables_scroll_on_a_telephone(names, visited):
    for width in WIDTHS:
        fits = [visit["fit"][width] for visit in visited.values()]
        assert not any(fit["page_scrolls"] for fit in fits)
        total = sum(fit["listings"] for fit in fits)
        scrolling = sum(fit["scrolling"] for fit in fits)
        assert total > 25 * len(names), "the selector matches too little"
        # tables may scroll on a telephone
        assert scrolling == 0 or (width == WIDTHS[-1] and scrolling < total / 10)


@of_the_whole_book
def test_the_keyboard_opens_the_search_and_what_it_finds(site, open_page):
    page = go(open_page, site, START)
    page.keyboard.press("Control+k")
    page.keyboard.type("bertviz")
    page.keyboard.press("Enter")
    page.locator("#search-results a", has_text="Attention, further").first.click()
    page.wait_for_url(f"**/{VIEWS}.html*")
    assert page.problems == page.outside == []


def reached_by_tab(page):
    """The tags, classes and texts of what Tab reaches; each must be outlined when it is focused."""
    for _ in range(200):  # more than a page has
        page.keyboard.press("Tab")
        tag, classes, text, outlined = page.evaluate(in_page("focused"))
        if tag == "BODY":  # the focus has gone round once
            return
        assert outlined, text
        yield f"{tag} {classes} {text}"


@of_the_whole_book
def test_tab_reaches_everything_in_reading_order(names, site, open_page):
    reached = list(reached_by_tab(go(open_page, site, START)))
    order = [  # of each, a part of its class or text
        "Skip to main content",
        "search-button",
        "theme-switch-button",
        names[0][:2],  # the first lesson in the navigation, by its number
        "internal nav-link",  # the page's own contents
        Path(names[-1]).name[:2],  # the last lesson in the navigation
        "C. 1, the puppy",  # a box in the text
        "right-next",  # the link to the next page
    ]

    def first_with(part):
        return next(index for index, text in enumerate(reached) if part in text)

    indices = [first_with(part) for part in order]
    assert indices == sorted(indices), reached


@of_the_whole_book
def test_the_keyboard_opens_a_box(site, open_page):
    page = go(open_page, site, START)
    page.locator("summary", has_text="C. 1, the puppy").focus()
    page.keyboard.press("Enter")
    assert page.locator("article details[open]").count() == 1
    assert page.locator("article details[open] p").is_visible()


@of_the_whole_book
def test_the_keyboard_opens_the_navigation_of_a_zoomed_page(site, open_page):
    page = go(open_page, site, START)
    # as zoomed to 200%: the navigation becomes a button
    page.set_viewport_size({"width": 640, "height": 450})
    page.focus("button.primary-toggle")
    page.keyboard.press("Enter")
    page.locator(f'#pst-primary-sidebar-modal a[href="{FOLDED}.html"]').focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{FOLDED}.html")


@of_the_whole_book
def test_attention_views_draw_and_answer(site, open_page):
    page = go(open_page, site, VIEWS)
    assert page.locator("iframe").count() == 2
    frame = page.locator("iframe").first
    frame.scroll_into_view_if_needed()
    within = frame.element_handle().content_frame()
    within.wait_for_function(in_page("hasDrawn"), arg=101)  # more than a hundred lines
    # scaled down to fit, but not so far that it cannot be read
    assert within.evaluate("Number(document.body.style.zoom)") >= 0.5
    assert within.evaluate("document.documentElement.scrollHeight <= innerHeight")
    within.evaluate(AXE_ITSELF.read_text(encoding="utf-8"))
    assert within.evaluate(in_page("axeFinds"), {"rules": NO_PAGE_RULES}) == []
    keep(page, "book_views")
    before = within.eval_on_selector_all("svg line", in_page("opacities"))
    within.select_option("#layer", "3")
    assert within.eval_on_selector_all("svg line", in_page("opacities")) != before
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert frame.evaluate(in_page("filterOf")).startswith("invert")
    assert page.problems == page.outside == []


@of_the_whole_book
def test_a_figure_opens_in_full_size(site, open_page):
    page = go(open_page, site, VIEWS)
    figure = page.locator("figure.diagram").first
    button = figure.get_by_role("button", name=re.compile(r"Enlarge Figure 5\w\."))
    full = page.locator("dialog.full-size")

    # by keyboard
    button.focus()
    page.keyboard.press("Enter")
    assert full.is_visible()
    assert full.get_attribute("aria-label").startswith("Figure 5")
    assert (
        full.locator("svg").bounding_box()["width"] > figure.locator("svg").bounding_box()["width"]
    )
    page.keyboard.press("Escape")
    assert not full.is_visible()
    assert button.evaluate("element => element === document.activeElement")

    # by mouse
    figure.locator("svg").click()
    assert full.is_visible()
    full.get_by_role("button", name="Close").click()
    assert not full.is_visible()


@of_the_whole_book
def test_on_paper_everything_stands_open_and_nothing_is_cut_off(site, open_page):
    page = go(open_page, site, FOLDED, width=660)  # an A4 page without margins
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details[open]").count() == page.locator("details").count() > 10
    code = page.evaluate("getComputedStyle(document.querySelector('.highlight .k')).color")
    assert code != page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert page.locator("html").get_attribute("data-theme") == "light"
    beside = ".bd-header, .bd-sidebar-primary, .bd-sidebar-secondary, .prev-next-footer"
    assert not any(part.is_visible() for part in page.locator(beside).all())
    assert page.evaluate(in_page("cutOff")) == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("html").get_attribute("data-theme") == "dark"


def stored_pictures():
    """Yield (width, height), in pixels, of each PNG in the lessons as the book shows them."""
    for lesson in book.read_lessons().values():
        for cell in lesson.cells:
            for output in cell.get("outputs", []):
                picture = output.get("data", {}).get("image/png")
                if picture:  # its size stands in the bytes 16 to 23
                    yield struct.unpack(">II", base64.b64decode(picture)[16:24])


@of_the_whole_book
def test_the_pdf_holds_everything(names, pages, site):
    pdf = (site / book.PDF).read_bytes()
    assert re.fullmatch(rb"%PDF.*%%EOF\s*", pdf, re.DOTALL)
    # a lesson takes 10 to 40 pages
    assert 10 * len(names) < len(re.findall(rb"/Type\s*/Page\b", pdf)) < 40 * len(names)
    # plots and attention views are printed as the pixels that the lessons store
    printed = re.findall(rb"/Subtype /Image\s*/Width (\d+)\s*/Height (\d+)", pdf)
    missing = Counter(stored_pictures()) - Counter((int(w), int(h)) for w, h in printed)
    assert not missing
    assert pages["index"].find("a", href=book.PDF)


# ---------------------------------------------------------------- listings


def listing_as_set(text):
    page = f'<div class="highlight-myst-ansi notranslate"><div class="highlight"><pre>{text}</pre></div></div>'
    return BeautifulSoup(listings.set_listings(page), "html.parser").pre


# hangs: for each line, the column below which its rest stands when it wraps
@pytest.mark.parametrize(
    ("kind", "lines", "hangs"),
    [
        ("table", ["layer 1   0.10   0.20", "layer 2   0.30   0.40"], [2, 2]),
        ("text", ["0.83  A man is playing the guitar.", "0.42  A dog runs over the lawn."], [6, 6]),
        ("text", ["one line", "  and another"], [2, 4]),
        (
            "text",
            [
                "1  0.77  As for the acting, it's mediocre.",
                "2  0.72  6/10 Acting, not great at all.",
            ],
            [9, 9],
        ),
        ("table", ["int8, decoded    384 bytes  recall  99.4%  MRR +0.00 (+0.00 to +0.00)"], [2]),
        (
            "table",
            [
                "muddy  gets 1.25 from all, 1.00 with the mask",
                "bank   gets 1.73 from all, 1.73 with the mask",
            ],
            [2, 2],
        ),
        (
            "table",
            [
                "   i + n  467  t h in g    in t e r e s t in g",
                "  in + g  364  t h ing     in t e r e s t ing",
            ],
            [5, 4],
        ),
    ],
    ids=["table", "scores", "text", "reviews", "measure", "sentences", "merges"],
)
def test_how_a_line_that_is_too_long_goes_on(kind, lines, hangs):
    assert listings.kind_of("myst-ansi", lines) == kind
    assert [listings.hang(kind, line) for line in lines] == hangs
    text = listing_as_set("<span></span>" + "\n".join(lines))
    assert text["class"] == [kind]
    assert text["style"] == f"--columns:{max(map(len, lines))}"
    assert text.get_text() == "\n".join([*lines, ""])


def test_code_goes_on_further_in():
    assert listings.kind_of("ipython3", ["x  =  1", "y  =  2"]) == "code"
    assert listings.hang("code", "    return x") == 8
    code = '<b class="a.b">x.y(1.5, [])</b>'
    assert listings.breakable(code) == '<b class="a.b">x.<wbr>y(<wbr>1.5,<wbr> [])</b>'


def test_a_sentence_above_the_rows_of_a_table_goes_on_below():
    lines = [
        "two queries, by the mean of their ranks",
        "BM25   0.39  0.87",
        "mean   0.41  0.66",
        "-" * 75,
    ]
    text = listing_as_set("\n".join(lines))
    assert text["class"] == ["table"]
    assert text["style"] == "--columns:17"
    assert [line["class"][1:] for line in text.select(".line")] == [["sentence"], [], [], ["rule"]]


# ---------------------------------------------------------------- a small book

DRAWN = '<figure class="cu-diagram"><svg xmlns="http://www.w3.org/2000/svg" aria-label="{}">{}</svg></figure>'


# with one output of this kind; data, fields: as `new_output` takes them
def cell(name, kind, *data, **fields):
    return new_code_cell("draw()", outputs=[new_output(kind, *data, **fields)], id=name)


def view(alt="One head looks at a word. It is small.", name="view"):
    return cell(
        name,
        "display_data",
        {"text/html": "<iframe srcdoc='<p>A view.</p>'></iframe>"},
        metadata={"image/png": {"alt": alt}} if alt else {},
    )


def diagram(alt="Two boxes. One is blue.", inside="<rect/>"):
    return cell("boxes", "execute_result", {"text/html": DRAWN.format(alt, inside)})


def lesson(*cells):
    """The text of a lesson of these cells; a string stands for a cell of Markdown."""
    as_cells = [new_markdown_cell(part) if isinstance(part, str) else part for part in cells]
    return nbformat.writes(
        new_notebook(cells=as_cells, metadata={"language_info": {"name": "python"}})
    )


FAILED = cell("boxes", "error", ename="ValueError", evalue="too wide", traceback=[])
CAPTIONED = view(name="again")
CAPTIONED.metadata["course"] = {"caption": "A *dot* of 1 $."}
SMALL = {
    "00_one": lesson(
        "# 00 One\n\nAbout 20 minutes. The [mean](glossary.ipynb#mean-pooling), [CLS](glossary.ipynb#CLS-token), "
        "[the other](01_two.ipynb)."
    ),
    "01_two": lesson(
        "# 01 Two\n\nAbout 40 minutes. The length is $\\sqrt{x}$ and `$y$`.",
        view(),
        diagram(),
        CAPTIONED,
    ),
    "glossary": lesson(
        "# Glossary\n\n## mean pooling\n\nA mean.\n\n## CLS token\n\nFirst, see [mean pooling](#mean-pooling)."
    ),
}


def in_folder(folder, texts):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def lessons(tmp_path):
    return in_folder(tmp_path / "lessons", SMALL)


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    """A book made without a browser: its folder `site`, its parsed `pages`, the lines `printed`."""
    folder, printed = tmp_path_factory.mktemp("small"), []
    lessons = in_folder(folder / "lessons", SMALL)
    site = write_quick_book(folder / "build" / "book", lessons, printed.append)
    return SimpleNamespace(
        site=site, pages={path.stem: parsed(path) for path in paths_of(site)}, printed=printed
    )


def test_links_lead_to_entries_of_the_glossary_and_to_other_lessons(small_book):
    assert [
        link["href"] for link in small_book.pages["00_one"].select("article p a.reference")
    ] == ["glossary.html#mean-pooling", "glossary.html#cls-token", "01_two.html"]
    glossary = small_book.pages["glossary"]
    # the links in its margin
    headings = [
        glossary.find(id=link["href"].removeprefix("#")).h2.text
        for link in glossary.select("details.sections a")
    ]
    assert [text.strip().removesuffix("#") for text in headings] == ["mean pooling", "CLS token"]


def test_the_first_page_says_how_long_each_route_is(small_book):
    # each of the three routes has both lessons, 20 and 40 minutes
    times = small_book.pages["index"].table.select("tbody tr > td:last-child")
    assert [time.text for time in times] == ["1 hour", "1 hour", "1 hour"]


def test_without_chromium_there_is_no_pdf_and_no_link_to_one(small_book):
    assert any("Chromium was not found" in line for line in small_book.printed)
    assert not (small_book.site / book.PDF).exists()
    assert book.PDF not in str(small_book.pages["index"])


def test_nothing_is_left_beside_the_book(small_book):
    assert [path.name for path in small_book.site.parent.iterdir()] == ["book"]


def test_formulas_are_drawn_without_a_script(small_book):
    page = (small_book.site / "01_two.html").read_text(encoding="utf-8")
    assert "<msqrt>" in page.lower()
    assert "$y$" in page.lower(), "what is in code is no formula"
    assert "mathjax" not in page.lower()


def test_figures_are_numbered_in_their_order(small_book):
    page = small_book.pages["01_two"]
    captions = [
        caption.get_text().strip().removesuffix("#")
        for caption in page.select("figure > figcaption")
    ]
    texts = ["One head looks at a word.", "Two boxes. One is blue.", "A *dot* of 1 $."]
    assert captions == [f"Figure 1.{number}. {text}" for number, text in enumerate(texts, 1)]
    assert page.select_one("#figure-1-1 iframe")
    assert page.select_one("#figure-1-2 svg")["aria-label"] == "Two boxes. One is blue."


def test_the_picture_of_a_card_has_no_text_of_its_own(small_book):
    cards = small_book.pages["index"].select("ul.cards > li")
    assert cards[0].svg is None
    assert cards[1].svg.get("aria-label") is None


def test_links_on_paper_lead_somewhere(tmp_path, lessons, monkeypatch):
    kept = tmp_path / "kept.html"
    # a program that exists: it is not run
    monkeypatch.setattr(paper, "BROWSERS", (sys.executable,))
    # The page that would be printed is copied. The copy's path, which is returned, is taken for the
    # reason why there is no PDF.
    monkeypatch.setattr(book, "print_pdf", lambda page, target: shutil.copy(page, kept))
    book.write_book(tmp_path / "book", lessons, say=str)  # `str` prints nothing
    page = parsed(kept)
    links = {link["href"] for link in page.select('article a[href^="#"]')} - {"#"}
    assert {"#mean-pooling", "#cls-token"} <= links
    assert all(page.find(id=link[1:]) for link in links)


def test_a_link_to_nothing_stops_the_book_and_the_older_one_stays(tmp_path, lessons, small_book):
    shutil.copytree(small_book.site, tmp_path / "book")
    in_folder(lessons, {"01_two": lesson("# 01 Two\n\n[nowhere](glossary.ipynb#nowhere)")})
    with pytest.raises(PublishError, match=r"01_two.*nowhere") as error:
        write_quick_book(tmp_path / "book", lessons)
    assert "\n" not in str(error.value)
    assert all(
        (tmp_path / "book" / name).read_bytes() == (small_book.site / name).read_bytes()
        for name in ("index.html", "01_two.html")
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        *((text, "damaged") for text in ("", "[]", "{}", '{"cells": [')),
        ('{"nbformat": 4, "nbformat_minor": "x", "metadata": {}, "cells": []}', "damaged"),
        (lesson(view("")), r"cell view .*picture that has no alt text"),
        (lesson(diagram("")), r"cell boxes .*no alt text"),
        (lesson(diagram(inside="<rect>")), r"picture of the cell boxes cannot be drawn"),
        (lesson(FAILED), r"cell boxes ended with ValueError"),
        (lesson(new_code_cell(f"{BEGIN}\nx = 1")), r"no matching marker"),
    ],
    ids=[
        "empty",
        "list",
        "dict",
        "cut off",
        "no number",
        "view without alt",
        "diagram without alt",
        "bad svg",
        "error",
        "half a mark",
    ],
)
def test_a_damaged_lesson_is_named(tmp_path, lessons, content, sentence):
    in_folder(lessons, {"01_two": content})
    with pytest.raises(
        (PublishError, ValueError),
        match=rf"01_two\.ipynb (is|cannot go into the book:) .*{sentence}",
    ):
        book.write_book(tmp_path / "book", lessons)
    assert not (tmp_path / "book").exists()


def test_a_file_that_somebody_else_made_stays(tmp_path, lessons):
    chapter = tmp_path / "thesis" / "chapter.txt"
    chapter.parent.mkdir()
    chapter.write_text("years of work", encoding="utf-8")
    # a folder with another's file, that file, a folder in that file; then, a folder without lessons
    for out, sources, problem, sentence in (
        (chapter.parent, lessons, PublishError, "was not made by `course book`"),
        (chapter, lessons, OSError, "chapter.txt"),
        (chapter / "book", lessons, OSError, "chapter.txt"),
        (tmp_path / "book", tmp_path, PublishError, "There are no lessons"),
    ):
        with pytest.raises(problem, match=sentence):
            book.write_book(out, sources)
    assert chapter.read_text(encoding="utf-8") == "years of work"
