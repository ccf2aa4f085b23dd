"""The lectures and the quizzes: what stands in them, and the decks that are made of them."""

import json
import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_utils._support.notebooks import (
    NOTEBOOKS,
    OPTION,
    exercise_parts,
    is_core,
    lesson_cells,
    part_of,
    parts,
)
from course_utils.exercises import all_exercises
from course_utils.tools.publish import PublishError, mathematics, paper
from course_utils.tools.publish.lectures import read_lecture
from course_utils.tools.publish.slides import (
    DECK,
    MARKER,
    book_seen_from,
    deck_cells,
    render,
    seconds_of_slides,
    write_deck,
)

from .commands import output_of
from .lectures import FRONT, LECTURES, drawn, embed, is_quiz, read, written_lecture
from .sources import DIVIDED, NUMBER, SOURCES, printed_by, stands_in

# {part: {a number of its lecture: the cell that prints it, or the reason for it in words}}
EXPLAINED_NUMBERS = tomllib.loads(
    (Path(__file__).parent / "lectures.toml").read_text(encoding="utf-8")
)


@pytest.fixture(params=LECTURES)
def name(request):
    return request.param


def quizzes(name):
    return [cell for cell in SOURCES[part_of(name)].cells if is_quiz(cell.id)]


def for_core_or_part(name, core, further):
    """One of two limits: that of a core's lecture, or that of a further part's.

    Those of minutes are promised in notebooks/README.md; the others are rules of this file.
    """
    return core if is_core(part_of(name)) else further


def texts_of(lecture, *kinds):
    return [text for slide in lecture.slides for text in slide.texts(*kinds)]


# ---------------------------------------------------------------- what stands in the lectures


def test_each_core_has_a_lecture_and_each_lecture_its_lesson():
    assert LECTURES.keys() == {path.stem for path in (NOTEBOOKS / "lectures").glob("*.md")}
    assert LECTURES.keys() == {read(name).lesson for name in LECTURES}
    assert LECTURES.keys() >= {parts()[key].stem for key in DIVIDED}


def test_what_is_drawn_for_a_lecture_is_shown_in_it():
    for key, path in parts().items():
        # the cells below those of the lesson
        for_lecture = SOURCES[key].cells[len(lesson_cells(SOURCES[key])) :]
        pictures = {cell.id for cell in for_lecture if cell.get("outputs")}
        slides = read(path.stem).slides if pictures else []  # a part may have no lecture
        assert pictures <= {block.cell for slide in slides for block in slide.blocks}


def test_a_lecture_has_its_time_and_says_what_a_lecturer_needs(name):
    lecture = read(name)
    least_minutes, most_minutes = for_core_or_part(name, core=(25, 45), further=(8, 25))
    assert least_minutes <= lecture.minutes <= most_minutes
    assert for_core_or_part(name, core=3, further=2) <= len(lecture.sections) <= 8
    (plan,) = texts_of(lecture, "plan")
    for part_of_a_plan in ("**Aims.**", "**On the board.**", "**Common misunderstandings.**"):
        assert part_of_a_plan in plan, plan
    # the plan says of each exercise whether it is done in the room or at home
    planned = re.findall(r"`([\w-]+)`", plan.partition("**Exercises.**")[2])
    own = {exercise for exercise, part in exercise_parts().items() if part == part_of(name)}
    assert own & all_exercises().keys() <= set(planned)


def test_signs_that_many_fonts_lack_are_drawn(name):
    drawn_signs = json.loads((DECK / "signs.json").read_text(encoding="utf-8")).keys()
    for cell in deck_cells(read(name)):
        # all common fonts have letters of Europe, punctuation, arrows and signs of mathematics
        rare = set(re.findall(r"[^\0-\u052f\u2000-\u22ff]", json.dumps(cell, ensure_ascii=False)))
        assert rare <= drawn_signs, (
            f"draw {rare - drawn_signs} in deck/signs.json, or do without: {cell.source[:60]}"
        )


def test_slides_are_short_and_have_notes_and_the_title_asks_a_question(name):
    lecture = read(name)
    fewest, most = for_core_or_part(name, core=(10, 26), further=(5, 14))
    assert fewest <= len(lecture.slides) <= most
    title = lecture.slides[0]
    # it asks the question of the lecture, in bold
    assert any("?**" in text for text in title.texts("text"))
    assert any("**After this lecture they can**" in text for text in title.texts("notes"))
    for slide in lecture.slides:
        assert len(slide.title) <= 60  # characters
        assert slide.texts("notes"), slide.title
        assert all(len(re.findall(r"\w+", text)) <= 60 for text in slide.texts("text")), slide.title


def test_code_on_a_slide_has_room(name):
    cells = {cell.id: cell for cell in SOURCES[part_of(name)].cells}
    with_code = [block for slide in read(name).slides for block in slide.blocks if block.echo]
    for block in with_code:
        # lines: at 18 pixels, no more fit a slide beside its title and the output
        assert len(cells[block.cell].source.splitlines()) <= 18, block.cell


def test_questions_come_before_results(name):
    lecture = read(name)
    # of the key that shows what a slide still hides
    presses = sum(
        max((block.press for block in slide.blocks), default=0) for slide in lecture.slides
    )
    assert presses >= for_core_or_part(name, core=4, further=2)
    notes = "\n".join(texts_of(lecture, "notes"))
    assert notes.count("**Pause and ask.**") >= for_core_or_part(name, core=3, further=2)
    assert notes.count("**Expected:**") >= notes.count("**Pause and ask.**")


def results_in(text):
    """The numbers of a text that may be results, without their signs.

    These are decimals, and whole numbers of three digits or more.
    """
    numbers = [number.strip("-") for number in NUMBER.findall(text)]
    return [number for number in numbers if "." in number or len(number) > 2]


def test_each_number_that_is_shown_or_said_is_on_the_slide_or_printed_by_a_cell_that_is_named(name):
    """tests/lectures.toml names the cell of a number that is not on the slide, or says the reason in
    words.
    """
    lecture, reasons = read(name), EXPLAINED_NUMBERS.get(part_of(name), {})
    texts = {  # hyphens in a cell, as in "top-10", are no signs of numbers
        cell.id: f"{cell.source} {printed_by(cell)}".replace("-", " ")
        for cell in SOURCES[part_of(name)].cells
    }
    needed = set()
    for slide in lecture.slides:
        shown = " ".join(texts[block.cell] for block in slide.blocks if block.cell)
        results = results_in(" ".join(slide.texts("text", "notes")))
        needed.update(number for number in results if not stands_in(number, shown))
    assert needed == reasons.keys(), (
        f"write down in tests/lectures.toml, or remove: {needed ^ reasons.keys()}"
    )
    for number, cell_or_reason in reasons.items():
        # a reason has several words
        assert " " in cell_or_reason or stands_in(number, texts[cell_or_reason]), number


def test_a_lecture_shows_some_quizzes(name):
    assert len(quizzes(name)) <= 5
    on_slides = sum(is_quiz(block.cell) for slide in read(name).slides for block in slide.blocks)
    assert on_slides >= for_core_or_part(name, core=2, further=1)


QUIZZES = {f"{name}-{quiz.id}": quiz for name in LECTURES for quiz in quizzes(name)}


@pytest.mark.parametrize("quiz", QUIZZES.values(), ids=QUIZZES)
def test_a_quiz_is_a_question_with_three_or_four_options_and_explains_each(quiz):
    assert quiz.source.split("<details>")[0].strip().endswith("?")
    letters, options, reasons = zip(*OPTION.findall(quiz.source))
    # no two are the same, and OPTION fits each that is folded
    assert 3 <= len(options) == len(set(options)) == quiz.source.count("<details>") <= 4
    assert "".join(letters) in ("ABC", "ABCD")
    # at least a short sentence after "Right." or "No."
    assert all(len(reason.split()) >= 6 for reason in reasons)


def test_the_right_option_stands_anywhere_and_is_not_the_longest():
    # of each quiz, its options: [(letter, text, reason)]
    all_options = [OPTION.findall(quiz.source) for quiz in QUIZZES.values()]
    right = [option for option in sum(all_options, []) if option[2].startswith("Right.")]
    letters = [letter for letter, _, _ in right]
    # at least half of a letter's equal share, a quarter
    assert all(letters.count(letter) >= len(letters) / 8 for letter in "ABCD"), letters
    longest = [max(options, key=lambda option: len(option[1])) for options in all_options]
    # whoever always takes the longest is wrong in half of them
    assert sum(option in longest for option in right) <= len(all_options) / 2


# ---------------------------------------------------------------- the command


def test_the_command_writes_one_file_and_says_what_is_missing_for_the_pdf(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "BROWSERS", ())
    text = output_of("slides", "5", "--pdf", "--out", tmp_path / "new" / "deck", status=1)
    assert str(tmp_path / "new" / "deck" / "05_attention.slides.html") in text
    assert text.count("Chromium was not found on PATH, so no PDF was made.") == 1
    assert [path.name for path in (tmp_path / "new" / "deck").iterdir()] == [
        "05_attention.slides.html"
    ]


def test_an_earlier_pdf_stays_if_chromium_cannot_print_a_new_one(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "BROWSERS", ("false",))
    (tmp_path / "deck.pdf").write_text("%PDF of yesterday")
    problem = paper.print_pdf(tmp_path / "deck.html", tmp_path / "deck.pdf")
    assert "could not print deck.pdf" in problem
    assert (tmp_path / "deck.pdf").read_text() == "%PDF of yesterday"


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "line 1: its sections take 0 minutes, and the front matter says 5"),
        ("# One {minutes=4}", "line 1: its sections take 4 minutes, and the front matter says 5"),
        ("# One", "line 7: a section is `# Title {minutes=5}`"),
        ("# One {minutes=5 .optional}", "line 7: a section is"),
        ("# One {minutes=4.5}", "line 7: .* in whole minutes"),
        ("# One {minutes=5}\n## Two {minutes=5}", "line 8: .* and a slide `## Title`"),
        ("# One {minutes=5}\n::: {.notes}\nx", "line 8: notes begin with"),
        ("# One {minutes=5}\n::: {.notes}\n::: {.notes}\n:::\n:::", "line 11: notes begin with"),
        ("# One {minutes=5}\n::: {.columns}\n:::", "line 8: notes begin with"),
        (
            "# One {minutes=5}\n---\ntitle: x\n---",
            "line 8: --- stands only around the one front matter",
        ),
        ("# One {minutes=5}\n```\n# x", "line 8: code ends with a line ```"),
        (
            "# One {minutes=5}\nSee " + embed("shown"),
            "line 8: a cell is embedded .* on a line of its own",
        ),
        ("# One {minutes=5}\n{< embed ../05_x.ipynb#shown >}}", "line 8: a cell is embedded as"),
        ("# One {minutes=5}\n{{< embed ../05_x.ipynb#shown echo=True >}}", "line 8: .* echo=true"),
        ("# One {minutes=5}\n...", "line 8: a press of a key is"),
        ("# One {minutes=5}\nA\x0bB\u2028C\n...", "line 9: a press of a key is"),
        (
            "# One {minutes=5}\n{{< embed ../05_y.ipynb#shown >}}",
            "line 8: ../05_y.ipynb, .* not a valid notebook",
        ),
        ("# One {minutes=5}\n" + embed("show"), "line 8: 05_x.ipynb has no cell show"),
        (
            "# One {minutes=5}\n" + embed("silent"),
            "line 8: the cell silent shows nothing: run the lesson",
        ),
    ],
)
def test_a_lecture_that_cannot_be_a_deck_says_where_and_why(tmp_path, text, words):
    # the rows embed a cell with an output, one without, and one of a notebook that is damaged
    path = written_lecture(
        tmp_path, text, drawn("shown", {"text/plain": "1"}), new_code_cell("1", id="silent")
    )
    (tmp_path / "05_y.ipynb").write_text("{")
    # "05_x.md, line 8: ..." or "05_x.md: ..."
    with pytest.raises(PublishError, match=rf"^05_x.md[,:].* ?{words}") as error:
        render(path)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    "front",
    [
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"", id="empty"),
        pytest.param(b"x", id="no front matter"),
        pytest.param(b"---\n", id="not closed"),
        pytest.param(b"---\ntitle: A\n---\n", id="keys missing"),
        pytest.param(b"---\na: [\n---\n", id="a bad list"),
        pytest.param(b"---\ntitle: a: b\n---\n", id="a bad title"),
        pytest.param(b"---\ntitle: 2026-02-30\n---\n", id="a day that is none"),
        pytest.param(b"---\n- x\n---\n", id="no mapping"),
        pytest.param(FRONT.format("many").encode(), id="minutes in words"),
        # the mark of a section stands behind an x, and so is none
        pytest.param(FRONT.format(0).encode() + b"x ", id="no minutes, and no section"),
        pytest.param(FRONT.replace("05_x", "06_y").format(5).encode(), id="of another lesson"),
    ],
)
def test_a_file_that_is_no_lecture_is_named(tmp_path, front):
    path = tmp_path / "05_x.md"
    path.write_bytes(front + b"# One {minutes=5}\n")
    with pytest.raises(PublishError, match="05_x.md(, line 1: .*front matter| cannot be read)"):
        read_lecture(path)


def test_the_minutes_of_a_section_are_spread_over_its_slides_by_their_words(tmp_path):
    path = written_lecture(tmp_path, "# One {minutes=4}\n## Two\n# Three {minutes=2}\n", minutes=6)
    # Of the title and the three slides. A look counts as 40 words: the first section's 240 seconds
    # are for 60 + 40 + 140 words, and the second's 120 seconds for one slide.
    assert seconds_of_slides(read_lecture(path), words=[20, 0, 100, 7]) == [60, 40, 140, 120]


def test_a_lecture_that_was_saved_by_notepad_is_the_same(tmp_path):
    path = written_lecture(
        tmp_path, "# One {minutes=5}\n\n. . .\n\ntext\n\n::: {.notes}\n# no slide\n:::\n"
    )
    before = read_lecture(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_lecture(path) == before
    # the heading in the notes begins no slide
    assert [(block.kind, block.press) for block in before.slides[1].blocks] == [
        ("text", 1),
        ("notes", 0),
    ]


def test_without_a_lecture_the_error_says_how_to_begin_one(tmp_path):
    nbformat.write(new_notebook(cells=[new_markdown_cell("# A")]), tmp_path / "05_x.ipynb")
    with pytest.raises(
        PublishError, match="Lesson 05 has no lecture: `course new-lecture 05` begins one"
    ):
        write_deck("05", tmp_path, tmp_path)


def test_a_file_in_the_place_of_the_folder_is_kept(tmp_path):
    written_lecture(tmp_path, "# One {minutes=5}")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError, match="file"):
        write_deck("05", tmp_path / "file", tmp_path)
    assert (tmp_path / "file").read_text() == "mine"


def test_odd_text_does_no_harm_and_formulas_are_drawn_on_a_slide_and_in_its_notes(tmp_path):
    slides = (
        "# One {minutes=5}\n<b>&amp;</b> `</script>` </section></aside> ü 漢 $\\sqrt{x_1^2}$\n"
        "::: {.notes}\nsaid aloud: $y$\n:::\n"
    )
    text = render(written_lecture(tmp_path, slides, new_markdown_cell("not embedded")))
    assert [words in text for words in ("said aloud", "漢", "not embedded")] == [True, True, False]
    assert text.count("</script>") == 2  # the deck's own; the text's is escaped
    # one on the slide and one in its notes, and no LaTeX is left
    assert [text.count(formula) for formula in ("<math", "<msqrt>", "sqrt{")] == [2, 1, 0]


@pytest.mark.parametrize(
    "text",
    [
        "it costs $5 and $6",
        "`$x$` and ``a ` $x$``",
        "```\n$x$\n```",
        "~~~\n$$x$$\n~~~",
        "\\$x$",
        "US$x$",
    ],
)
def test_code_and_money_are_no_formulas(text):
    assert mathematics.with_mathml(text) == text


def test_no_line_begins_with_the_comma_after_a_formula():
    assert mathematics.with_mathml("of ($d$), so").endswith("</math>),</span> so")


def test_a_formula_on_lines_of_its_own_is_drawn_without_a_script_and_with_its_number():
    text = mathematics.with_mathml(
        "- so:\n  $$\\begin{aligned} a &= b \\\\ &= c \\tag{5.1} \\end{aligned}$$\n  as said"
    )
    assert text.startswith('- so:\n  <span class="formula" id="eq-5.1"><math')
    assert text.endswith('</math><span class="number">(5.1)</span></span>\n  as said')
    assert [text.count(part) for part in ('display="block"', "<mtr>", "tag")] == [1, 2, 0]


def test_a_formula_has_no_sign_that_markdown_would_read():
    assert "_" not in mathematics.with_mathml("$\\text{input\\_ids}$")


def test_a_number_within_a_line_is_an_error():
    with pytest.raises(PublishError, match="cannot be read"):
        mathematics.with_mathml("$a \\tag{5.1}$")


@pytest.fixture
def lecture_with_an_explorer(tmp_path):
    picture = drawn("shown", {"text/html": '<figure data-explorer="one_head"></figure>'})
    (tmp_path / "further").mkdir()
    nbformat.write(
        new_notebook(cells=[new_code_cell("1", id="explore-one-head")]),
        tmp_path / "further" / "05_y.ipynb",
    )
    return written_lecture(tmp_path, "# One {minutes=5}\n" + embed("shown"), picture)


@pytest.mark.parametrize(
    "book, start", [("", ""), ("../book/", "../book/"), ("https://a.org/b", "https://a.org/b/")]
)
def test_the_picture_of_an_explorer_links_to_the_book(lecture_with_an_explorer, book, start):
    assert f'href="{start}further/05_y.html#explore-one-head"' in render(
        lecture_with_an_explorer, book
    )


@pytest.mark.parametrize(
    "book", ["javascript:alert(1)//", 'x" onclick="y', "ftp://a.org", "//a.org/b"]
)
def test_the_book_is_an_address_or_a_folder(lecture_with_an_explorer, book):
    with pytest.raises(PublishError, match="--book must be an address"):
        render(lecture_with_an_explorer, book)


def test_without_a_book_the_picture_of_an_explorer_is_no_link(lecture_with_an_explorer):
    deck = render(lecture_with_an_explorer)
    assert "explore-link" not in deck[deck.index("<section") :]


def test_the_links_lead_to_the_book_that_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert book_seen_from(".") is None
    # The books of earlier rows stay. Of those that are there, the one in the folder of the decks or
    # beside it comes first.
    for book, decks, address in (
        ("build/book", ".", "build/book"),
        ("build/book", "two words", "../build/book"),
        ("my talks/book", "my talks/decks", "../book"),
        ("site", "site", ""),
    ):
        Path(book).mkdir(parents=True, exist_ok=True)
        (Path(book) / MARKER).touch()
        assert book_seen_from(decks) == address


def test_the_title_slide_shows_where_the_lesson_stands(tmp_path):
    path = written_lecture(tmp_path, "# One {minutes=5}")
    assert "Lesson 05 is about the stage encoder." in render(path)
    elsewhere = path.with_name("x5_x.md")
    elsewhere.write_text(path.read_text().replace("lesson: 05_x", "lesson: x5_x"))
    other = render(elsewhere)
    assert "cu-svg" not in other[other.index("<section") : other.rindex("</section>")]


def test_an_error_below_its_code_is_its_message(tmp_path):
    error = new_output(
        "error", ename="ValueError", evalue="a < b", traceback=["-----", "ValueError: a < b"]
    )
    cells = [new_code_cell("1 / 0", id=name, outputs=[error]) for name in ("one", "two")]
    slides = "# One {minutes=5}\n{{< embed ../05_x.ipynb#one echo=true >}}\n" + embed("two")
    text = render(written_lecture(tmp_path, slides, *cells))
    assert "\N{PILCROW SIGN}" not in text
    # below its code, the message; alone, the traceback
    assert text.count('<pre class="error">ValueError: a &lt; b</pre>') == 1
    assert text.count("-----") == 1
