"""What people take out of the course: question banks for learning platforms, and cards for Anki."""

import copy
import dataclasses
import functools
import html
import io
import itertools
import re
import sqlite3
import zipfile
from collections import namedtuple
from xml.etree import ElementTree

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from course_utils._support.notebooks import NOTEBOOKS
from course_utils.exercises import exercises_of
from course_utils.exercises.model import Mistake
from course_utils.tools.publish import PublishError, cards, question_banks
from course_utils.tools.publish.book import read_lessons

from .commands import run
from .sources import SOURCES

QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
PACKAGE = "{http://www.imsglobal.org/xsd/imscp_v1p1}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"


# Its result is shared: a test that edits the lessons copies them first.
read_once = functools.cache(read_lessons)


@pytest.fixture(autouse=True)
def course_is_read_once(monkeypatch):
    """Read the lessons of the course once for all tests; those of another folder each time."""

    def read_the_course_once(sources=NOTEBOOKS):
        return read_once(sources) if sources == NOTEBOOKS else read_lessons(sources)

    for module in (question_banks, cards):
        monkeypatch.setattr(module, "read_lessons", read_the_course_once)


# {(lesson, id of a cell): its source}, without the code that writes the exports; parts of a lesson
# (the key "04-lengths") count as the lesson
TEXTS = {
    (key[:2], cell.id): cell.source for key, lesson in SOURCES.items() for cell in lesson.cells
}


@functools.cache  # a tuple, so that no test changes what the others get
def bank():
    return tuple(question_banks.questions())


def plain(text):
    """A text without asterisks, backquotes, dollar signs and <code>, and with single spaces."""
    return " ".join(re.sub(r"[*`$]|</?code>", "", text).split())


def text_of(element):
    return plain("".join(element.itertext()))


# It must be well-formed: ElementTree.ParseError otherwise.
def xhtml(text):
    return ElementTree.fromstring(f"<div>{text}</div>")


def read_moodle(content):
    """{id: (text, [(right, option, explanation)])} of Moodle XML.

    right: whether this option is the right one. The three texts are XHTML elements.
    """
    quizzes = {}
    for question in ElementTree.fromstring(content).iterfind("question[@type='multichoice']"):
        options = [
            (answer.get("fraction"), answer.findtext("text"), answer.findtext("feedback/text"))
            for answer in question.findall("answer")
        ]
        quizzes[question.findtext("idnumber")] = (
            xhtml(question.findtext("questiontext/text")),
            [(share == "100", xhtml(option), xhtml(why)) for share, option, why in options],
        )
    return quizzes


def qti_items(content):
    """{identifier: item} of a QTI package, by its manifest; tags without QTI's namespace.

    Fails if the manifest and the files of the package differ, or if a tag has another namespace.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        manifest = ElementTree.fromstring(package.read("imsmanifest.xml"))
        files = {
            resource.get("identifier"): resource.get("href")
            for resource in manifest.iter(f"{PACKAGE}resource")
        }
        assert {*files.values()} == set(package.namelist()) - {"imsmanifest.xml"}
        items = {name: ElementTree.fromstring(package.read(file)) for name, file in files.items()}
    for element in itertools.chain.from_iterable(item.iter() for item in items.values()):
        assert element.tag.startswith((QTI, MATHML))
        element.tag = element.tag.removeprefix(QTI)  # in place, for the tests
    return items


def read_qti(content):
    """What `read_moodle` returns, of a QTI package. Fails if an option has no explanation."""
    quizzes = {}
    for name, item in qti_items(content).items():
        assert item.get("identifier") == name
        right = item.findtext("responseDeclaration/correctResponse/value")
        explanations = {part.get("identifier"): part for part in item.iterfind("modalFeedback")}
        choices = {part.get("identifier"): part for part in item.iter("simpleChoice")}
        assert explanations.keys() == choices.keys()
        text = ElementTree.Element("div")
        text.extend([item.find("itemBody/div"), item.find("itemBody/choiceInteraction/prompt")])
        quizzes[name] = (
            text,
            [(letter == right, choice, explanations[letter]) for letter, choice in choices.items()],
        )
    return quizzes


FORMATS = pytest.mark.parametrize(
    "write, read",
    [(question_banks.moodle, read_moodle), (question_banks.qti, read_qti)],
    ids=["moodle", "qti"],
)


@FORMATS
def test_every_quiz_is_exported_with_one_right_option_and_the_lessons_explanations(write, read):
    exported = read(write(bank()))
    quizzes = {
        f"q{lesson}-{name}": source for (lesson, name), source in TEXTS.items() if "quiz-" in name
    }
    assert exported.keys() == quizzes.keys() != set()
    for name, source in quizzes.items():
        text, options = exported[name]
        question, *parts = re.split(r"<details><summary>[A-D]\. |</summary>|</details>", source)
        assert text_of(text).endswith(plain(question.removeprefix("**Predict.** "))), name
        # of each option, the split gives its text, its explanation, and what follows
        written = [
            (plain(why).startswith("Right."), plain(option), plain(why))
            for option, why in zip(parts[::3], parts[1::3])
        ]
        assert [(right, text_of(option), text_of(why)) for right, option, why in options] == written


def test_a_question_brings_its_context_and_nothing_that_leads_nowhere():
    for question in bank():
        assert f"From lesson {question.lesson}" in question.context
        assert question.title in text_of(xhtml(question.context))
    written = html.unescape(question_banks.moodle(bank()).decode())
    # links into the course, the request to predict, and pictures
    assert [text for text in (".ipynb", "Predict.", "<img") if text in written] == []
    # a key is as "04-quiz-one": the lesson, and the cell of the question
    for name, context in question_banks.CONTEXT.items():
        assert {(name[:2], cell) for cell in (name[3:], *context)} <= TEXTS.keys(), name


def test_the_bytes_depend_on_the_lessons_alone():
    again = question_banks.questions()
    assert question_banks.moodle(bank()) == question_banks.moodle(again)
    written = question_banks.qti(bank())
    assert written == question_banks.qti(again)
    with zipfile.ZipFile(io.BytesIO(written)) as package:
        assert {entry.date_time for entry in package.infolist()} == {
            (1980, 1, 1, 0, 0, 0)  # the first time that ZIP can store
        }


# the source of a quiz's cell: A is wrong, B is right
QUIZ = (
    "**Predict.** {question}\n\n<details><summary>A. {option}</summary>\n\nNo. {why}\n\n</details>\n\n"
    "<details><summary>B. Something else entirely</summary>\n\nRight. It is something else.\n\n</details>\n"
)
# signs of XML in code, formulas and text, links into the course and out of it, the end of CDATA, a
# backslash, and letters beyond ASCII and beyond 16 bits
AWKWARD = r"""Is `a < b && c[i] > "d"` so, for $x_i < \sqrt{2}$ & 5 < 6? See [the glossary](glossary.ipynb#token) or
[the paper](https://example.org/?a=1&b=2) ]]> \alpha ł 🙂 and so on?"""


# Writes lesson 04 with a title and these cells, as the only one, and returns the folder.
def lessons(folder, *cells):
    title = new_markdown_cell("# 04 A & B\n\nWhat comes.", id="title")
    nbformat.write(new_notebook(cells=[title, *cells]), folder / "04_some.ipynb")
    return folder


def quiz(name, question="Is it?", option="It is", why="It is not."):
    text = QUIZ.format(question=question, option=option, why=why)
    return new_markdown_cell(text, id=f"quiz-{name}")


@FORMATS
def test_awkward_signs_formulas_code_links_and_tables_survive(write, read, tmp_path):
    section = new_markdown_cell(
        "## Signs < & >\n\n| a | b |\n|:--|--:|\n| `x\\|y` | $\\frac{1}{2}$ |\n\n```python\nif a < b:\n    c\n```\n\n"
        "![A <picture>](data:image/png;base64,AAAA)",
        id="intro",
    )
    sources = lessons(
        tmp_path, section, quiz("signs", AWKWARD, "a < `b & c`", "Since `x < 1` ]]> and $y^2$.")
    )
    ((name, (text, options)),) = read(write(question_banks.questions(sources=sources))).items()
    assert name == "q04-quiz-signs"
    for part in (
        'a < b && c[i] > "d"',
        "& 5 < 6? See the glossary or the paper ]]> \\alpha ł 🙂 and so on?",
        "section “Signs < & >”",
        "[A <picture>]",
    ):
        assert part in text_of(text)
    assert {"table", "th", "td", f"{MATHML}msqrt", f"{MATHML}mfrac"} <= {
        element.tag for element in text.iter()
    }
    assert "".join(text.find(".//pre").itertext()) == "if a < b:\n    c\n"
    assert [link.get("href") for link in text.iter("a")] == ["https://example.org/?a=1&b=2"]
    # of option A, which is wrong, the text and the explanation
    assert [text_of(part) for part in options[0][1:]] == [
        "a < b & c",
        "No. Since x < 1 ]]> and y2.",
    ]


def test_identifiers_stay_when_cells_move_or_change(tmp_path):
    one, other = quiz("one"), quiz("other")
    before = question_banks.questions(sources=lessons(tmp_path, one, other))
    after = question_banks.questions(
        sources=lessons(tmp_path, other, quiz("new"), quiz("one", "Is it really?"))
    )
    assert {question.id for question in before} == {"q04-quiz-one", "q04-quiz-other"}
    assert [question.id for question in after] == ["q04-quiz-other", "q04-quiz-new", "q04-quiz-one"]
    assert len({question.id for question in bank()}) == len(bank())
    # QTI 2.1, "identifier": a name without a colon, which systems may cut after 32 characters
    assert all(re.fullmatch(r"[a-z][a-z0-9-]{1,31}", question.id) for question in bank())


TWO_RIGHT = quiz("two-right", why="Hm.").source.replace("No. Hm.", "Right. It is.")


@pytest.mark.parametrize(
    "cells, numbers, message",
    [
        (
            [new_markdown_cell(TWO_RIGHT, id="quiz-two-right")],
            [],
            "quiz-two-right of lesson 04 is not a question",
        ),
        ([quiz("html", "<b>Is it?")], [], "HTML that cannot be exported"),
        ([], ["4"], "Lesson 04 has no questions"),
    ],
    ids=["two right options", "a tag without its end", "no questions"],
)
def test_what_cannot_be_exported_is_refused(cells, numbers, message, tmp_path):
    with pytest.raises(PublishError, match=message):
        question_banks.questions(numbers, lessons(tmp_path, *cells))


# QTI 2.1, Assessment Item Information Model, section "Content Model": what may stand in what, of the tags that the
# export can write.
INLINE = {"a", "br", "code", "em", "span", "strong", "sub", "sup", f"{MATHML}math"}
BLOCK = {"blockquote", "div", "hr", "ol", "p", "pre", "table", "ul", f"{MATHML}math"}
WITH_BOTH = ("div", "li", "td", "th", "simpleChoice", "modalFeedback")
WITH_INLINE = ("p", "pre", "prompt", *INLINE - {"br", f"{MATHML}math"})
CONTENT = {
    "itemBody": BLOCK | {"choiceInteraction"},
    "blockquote": BLOCK,
    "choiceInteraction": {"prompt", "simpleChoice"},
    **dict.fromkeys(WITH_BOTH, INLINE | BLOCK),
    **dict.fromkeys(WITH_INLINE, INLINE),
    **dict.fromkeys(("ul", "ol"), {"li"}),
    "table": {"thead", "tbody"},
    **dict.fromkeys(("thead", "tbody"), {"tr"}),
    "tr": {"td", "th"},
    **dict.fromkeys(("br", "hr"), set()),
}


# Each tag may hold only the tags that CONTENT names for it, some may hold text, and no tag has an
# attribute but a link's.
def assert_holds_only_what_it_may(part):
    for element in part.iter():
        if element.tag.startswith(MATHML):
            continue
        assert {child.tag for child in element} <= CONTENT[element.tag], element.tag
        text = "".join([element.text or "", *(child.tail or "" for child in element)])
        assert element.tag in (*WITH_BOTH, *WITH_INLINE) or not text.strip(), element.tag
        assert element.tag not in INLINE | BLOCK or element.attrib.keys() <= {"href"}, element.tag


def assert_declares_the_outcomes_that_it_sets(item):
    outcomes = {
        declaration.get("identifier"): declaration.get("baseType")
        for declaration in item.iter("outcomeDeclaration")
    }
    assert outcomes == {"SCORE": "float", "FEEDBACK": "identifier"}
    assert {value.get("identifier") for value in item.iter("setOutcomeValue")} == {*outcomes}


# the same, section "Item": the parts of an item before its feedbacks, in their order
PARTS_OF_AN_ITEM = (
    "responseDeclaration outcomeDeclaration outcomeDeclaration itemBody responseProcessing".split()
)


def test_items_follow_the_information_model_of_qti():
    # Its sections "Item", "Choice Interaction" and "Response Processing".
    for name, item in qti_items(question_banks.qti(bank())).items():
        feedbacks, options = item.findall("modalFeedback"), item.findall(".//simpleChoice")
        parts = PARTS_OF_AN_ITEM + ["modalFeedback"] * len(options)
        assert [part.tag for part in item] == parts, name
        assert item.tag == "assessmentItem" and item.get("title"), name
        assert item.attrib.items() >= {("adaptive", "false"), ("timeDependent", "false")}
        assert_holds_only_what_it_may(item.find("itemBody"))
        for feedback in feedbacks:
            assert_holds_only_what_it_may(feedback)
            assert feedback.attrib.items() >= {
                ("outcomeIdentifier", "FEEDBACK"),
                ("showHide", "show"),
            }
        (interaction,) = item.iter("choiceInteraction")
        assert interaction.get("responseIdentifier") == item[0].get("identifier")
        assert (interaction.get("maxChoices"), interaction[0].tag) == ("1", "prompt")
        letters = [option.get("identifier") for option in options]
        assert letters == list("ABCD")[: len(letters)]
        assert item.find(".//correctResponse")[0].text in letters
        assert_declares_the_outcomes_that_it_sets(item)


def test_moodle_gets_a_category_before_each_lessons_questions():
    categories = []
    for question in ElementTree.fromstring(question_banks.moodle(bank())):
        if question.get("type") == "category":
            categories.append(question.findtext("category/text"))
            continue
        lesson = categories[-1].removeprefix("Sentence embeddings/Lesson ")
        assert question.findtext("idnumber").startswith(f"q{lesson}-")
        assert question.findtext("tags/tag/text") == f"lesson-{lesson}"
        # Moodle stores 255 characters of a name
        assert 0 < len(question.findtext("name/text")) <= 255
        assert question.findtext("single") == "true"
        assert {answer.get("fraction") for answer in question.iter("answer")} == {"0", "100"}
    assert len(categories) == len({question.lesson for question in bank()})


def test_course_quiz_replaces_an_export_and_nothing_else(tmp_path):
    out, own_file = tmp_path / "new" / "bank.xml", tmp_path / "mine.xml"
    moodle, qti = ("quiz", "--format", "moodle", "--out"), ("quiz", "--format", "qti", "--out")
    text, _ = run(*moodle, out, "--lesson", 99)
    assert "Error: There is no lesson 99; the lessons are 00" in text
    assert not out.exists()
    assert run(*moodle, out, "--lesson", 4, "--lesson", "05")[1] == 0
    assert {name[:3] for name in read_moodle(out.read_bytes())} == {"q04", "q05"}
    for _ in range(2):  # over an export of the other format, and of the same
        assert run(*qti, out, "--lesson", 4)[1] == 0
    own_file.write_text("my own questions")
    text, status = run(*moodle, own_file)
    assert "is not an earlier export, so it was left unchanged" in text
    assert (status, own_file.read_text()) == (1, "my own questions")
    assert "File exists" in run(*moodle, own_file / "bank.xml", "--lesson", 4)[0]


# ---------------------------------------------------------------- cards


# A note has two tags (as "lesson-04", and "terms" or "mistakes") and four fields.
Note = namedtuple("Note", "deck lesson kind about front back more")


def notes(package):
    """{guid: Note} of an Anki package, and the note type's templates and CSS as text."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        database = sqlite3.connect(":memory:")
        database.deserialize(archive.read("collection.anki2"))
    rows = database.execute(
        "select guid, did, tags, flds from notes join cards on cards.nid = notes.id"
    ).fetchall()
    ((models,),) = database.execute("select models from col").fetchall()
    notes_by_guid = {
        # Anki separates the fields of a note by this character
        guid: Note(deck, *tags.split(), *fields.split("\x1f"))
        for guid, deck, tags, fields in rows
    }
    return notes_by_guid, models


@pytest.fixture
def exercises_of_one_lesson(monkeypatch):
    """Cards are made from the exercises of lesson 04 alone, so that no others are imported."""
    exercises = exercises_of(["04"])
    monkeypatch.setattr(cards, "all_exercises", lambda: exercises)
    return exercises


def test_there_is_a_card_for_each_term_and_for_mistakes(exercises_of_one_lesson):
    package, terms, mistakes = cards.deck()
    cards_of_deck, models = notes(package)
    assert terms == sum(
        cell.id.startswith("term-") for cell in nbformat.read(NOTEBOOKS / "glossary.ipynb", 4).cells
    )
    assert terms + mistakes == len(cards_of_deck)
    assert mistakes > 20  # of lesson 04 alone
    # each term is spelt as in the lessons; the glossary's "First in lesson ..." is on no card
    assert set(
        re.findall(
            r"First in lesson|(?<=What does <strong>)[^a-z]+(?=</strong>)", str(cards_of_deck)
        )
    ) == {"BM25", "PCA", "RAG", "TF-IDF"}
    # nothing is loaded from the network, and there is a night mode
    assert set(re.findall(r"night|http(?!://www\.w3\.org/1998/Math/MathML)", models)) == {"night"}


def test_a_card_says_where_it_is_from_and_a_mistake_explains_itself(exercises_of_one_lesson):
    messages = [
        plain(mistake.message)
        for exercise in exercises_of_one_lesson.values()
        for mistake in exercise.mistakes
    ]
    cards_of_deck, _ = notes(cards.deck()[0])
    for note in cards_of_deck.values():
        number = re.fullmatch(r"lesson-(\d\d)", note.lesson)[1]
        assert note.about.endswith(number) or f"lesson {number})" in note.about
        assert "" not in (note.front, note.back)
        # raises ParseError if it is not well-formed
        all_sides = xhtml(note.front + note.back + note.more)
        assert ".ipynb" not in ElementTree.tostring(all_sides, encoding="unicode")
        # only a mistake has more to say than the back
        assert (note.kind == "terms") == (note.more == "")
        if note.kind == "mistakes":
            answer = xhtml(note.front).find("blockquote")
            assert f"{text_of(answer)} {text_of(xhtml(note.back))}" in messages


def test_an_update_changes_cards_and_adds_none(exercises_of_one_lesson, monkeypatch):
    before, _ = notes(cards.deck()[0])
    edited_lessons = copy.deepcopy(cards.read_lessons())
    exercise = exercises_of_one_lesson["04-mean-pool"]
    entry = next(cell for cell in edited_lessons["glossary"].cells if cell.id == "term-pooling")
    entry.source = entry.source.replace("The step from", "The edited step from")
    first, *others = exercise.mistakes
    edited = dataclasses.replace(first, because=f"The edited mask. {first.because}")
    # two new mistakes: one with a card, one without
    rain = Mistake("rain", "You wait for rain.", "It seldom rains in a computer.", ())
    snow = dataclasses.replace(rain, does="You wait for snow.", card=False)
    exercises_of_one_lesson["04-mean-pool"] = dataclasses.replace(
        exercise, mistakes=(*others, edited, rain, snow)
    )
    monkeypatch.setattr(cards, "read_lessons", lambda sources: edited_lessons)
    after, _ = notes(cards.deck()[0])
    (new,) = after.keys() - before.keys()
    assert after.keys() == before.keys() | {new}
    assert after[new].back.startswith("It seldom rains")
    changed = [after[guid].back for guid in before if before[guid] != after[guid]]
    assert sorted(re.search(r"The edited (\w+)", back)[1] for back in changed) == ["mask", "step"]


def test_course_cards_says_what_it_wrote_and_writes_over_it(exercises_of_one_lesson, tmp_path):
    out = tmp_path / "cards.apkg"
    assert re.fullmatch(
        rf"\d+ terms and \d+ mistakes in {re.escape(str(out))}\.\n", run("cards", "--out", out)[0]
    )
    assert run("cards", "--out", out)[1] == 0
