"""Translations: cut and put together exactly, never outdated, and kept apart from what a learner wrote.

How complete a translation is, is no test: whoever changes an English text would have to translate it. `course translate
status` says it, and so does the lesson.
"""

import json
import re
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_utils._support.notebooks import NOTEBOOKS, kind_of
from course_utils._support.passed import RECORD, SAVED
from course_utils.tools import cli, translations
from course_utils.tools.publish import book
from course_utils.tools.translations import (
    PARTLY,
    SHARED,
    TranslationError,
    differences,
    into_language,
    languages,
    one_line,
    pieces,
    problems,
    read_translations,
    translatable,
    translate,
    update_catalogue,
)
from course_utils.tools.workspace.copies import CopyError, learner_copy, reset_lesson, update_workspace, write_workspace

NAME = "00_start_here.ipynb"
MARKDOWN = MarkdownIt("commonmark").enable("table")
CATALOGUES = [(path.stem, path.parent.name) for path in sorted(NOTEBOOKS.glob("translations/*/*.po"))]
each_catalogue = pytest.mark.parametrize(("stem", "language"), CATALOGUES)
ANSWERS = {"de": ("Richtig.", "Nein.")}
FIRST = "# Title\n\nA paragraph\non two lines.\n\n- an item\n- another item with `code`\n"
QUIZ = "<details><summary>A. One</summary>\n\nRight. It is one.\n\n</details>"
GERMAN = {
    "Title": "Titel",
    "A paragraph on two lines.": "Ein Absatz.",
    "an item": "ein Punkt",
    "another item with `code`": "noch ein Punkt mit `code`",
    "A. One": "A. Eins",
    "Right. It is one.": "Richtig. Es ist eins.",
    SHARED: "Code ist auf Englisch.",
    PARTLY: "Übersetzt: {done} von {all}.",
}


def lesson(first=FIRST, quiz=QUIZ):
    cells = [
        new_markdown_cell(first, id="title"),
        new_markdown_cell("Say aloud", id="notes", metadata={"tags": ["instructor"]}),
        new_code_cell("x = 1  # an item", id="code"),
        new_markdown_cell(quiz, id="quiz-one"),
    ]
    return new_notebook(cells=cells, metadata={"language_info": {"name": "python", "pygments_lexer": "python"}})


@pytest.fixture
def sources(tmp_path):
    """A folder with one lesson and its complete catalogue."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    nbformat.write(lesson(), folder / NAME)
    update_catalogue(folder / NAME, "de", folder)
    fill(folder)
    return folder


def fill(folder):
    """Write GERMAN into the catalogue, as a translator does: between the quotes of `msgstr`."""
    path = folder / "translations" / "de" / "00_start_here.po"
    text = path.read_text(encoding="utf-8")
    for original, german in GERMAN.items():
        empty = f'msgid "{original}"\nmsgstr ""\n'
        assert empty in text
        text = text.replace(empty, f'msgid "{original}"\nmsgstr "{german}"\n')
    path.write_text(text, encoding="utf-8")
    return path


def in_german(sources, notebook):
    into_language(notebook, "00_start_here", "de", sources)
    return [cell.source for cell in notebook.cells]


WHOLE = [
    "# Titel\n\nEin Absatz.\n\n- ein Punkt\n- noch ein Punkt mit `code`\n\n\n*Code ist auf Englisch.*",
    "Say aloud",
    "x = 1  # an item",
    "<details><summary>A. Eins</summary>\n\nRichtig. Es ist eins.\n\n</details>",
]


# ---------------------------------------------------------------- cutting


def test_a_lesson_translated_into_itself_has_the_same_bytes():
    for path in NOTEBOOKS.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:  # those of instructors, too
            cell.metadata.pop("tags", None)
            cell.metadata.pop("nbgrader", None)
        itself = {
            one_line(cell.source[start:end]): cell.source[start:end]
            for cell in translatable(notebook)
            for start, end in pieces(cell.source)
        }
        before = deepcopy(notebook)
        done, total = translate(notebook, itself)
        least = {"full": 100, "further": 20, "page": 3}[kind_of(notebook)]
        assert notebook == before and done == total > least, path


def test_pieces_leave_out_what_no_translator_may_touch():
    source = (
        "## Heading ##\n\n1. *one*\n   and more\n   - two\n\n> quoted\n\n$$x = y \\tag{1.1}$$\n\n```python\nprint(1)\n"
        "```\n\n| a | word |\n|---|---|\n| 1 | 2 |\n\n`f()`\n\n<details><summary>A <b>word</b></summary>\n\n</details>"
    )
    assert [source[start:end] for start, end in pieces(source)] == [
        "Heading", "*one*\n   and more", "two", "quoted", "| a | word |", "A <b>word</b>",
    ]  # fmt: skip


# ---------------------------------------------------------------- no outdated translation


def test_a_complete_translation_and_its_note(sources):
    assert in_german(sources, lesson()) == WHOLE


def test_a_changed_paragraph_is_shown_as_it_is_now_and_the_others_stay_translated(sources):
    title, *others = in_german(sources, lesson(FIRST.replace("two lines", "three lines")))
    assert title == WHOLE[0].replace("Ein Absatz.", "A paragraph\non three lines.").replace(
        "*Code", "*Übersetzt: 5 von 6. Code"
    )
    assert others == WHOLE[1:]


def test_breaking_lines_anew_changes_nothing(sources):
    assert in_german(sources, lesson(FIRST.replace("A paragraph\non", "A\nparagraph on"))) == WHOLE


def test_an_update_marks_what_changed_and_such_a_translation_is_not_used(sources):
    changed = lesson(FIRST.replace("on two lines", "on two or three lines").replace("- an item\n", ""))
    nbformat.write(changed, sources / NAME)
    found = update_catalogue(sources / NAME, "de", sources)
    assert found == {"translated": 4, "all": 5, "empty": 0, "fuzzy": 1, "obsolete": 1}
    path = sources / "translations" / "de" / "00_start_here.po"
    text = path.read_text(encoding="utf-8")
    assert '#, fuzzy\n#| msgid "A paragraph on two lines."\nmsgid "A paragraph on two or three lines."' in text
    assert "A paragraph\non two or three lines." in in_german(sources, deepcopy(changed))[0]
    path.write_text(re.sub("#, fuzzy\n#. msgid.*\n", "", text), encoding="utf-8")  # a translator has looked at it
    assert "Ein Absatz." in in_german(sources, deepcopy(changed))[0]
    update_catalogue(sources / NAME, "de", sources)
    once = path.read_bytes()
    assert update_catalogue(sources / NAME, "de", sources)["obsolete"] == 1 and path.read_bytes() == once
    nbformat.write(lesson(), sources / NAME)  # the item is back
    assert update_catalogue(sources / NAME, "de", sources) == {
        "translated": 5, "all": 6, "empty": 0, "fuzzy": 1, "obsolete": 0,
    }  # fmt: skip


def test_without_any_translation_the_lesson_stays_as_it_is(sources):
    nothing = update_catalogue(sources / NAME, "fr", sources)
    assert (nothing["translated"], nothing["empty"]) == (0, 8)
    notebook = lesson()
    into_language(notebook, "00_start_here", "fr", sources)
    assert notebook == lesson()


# ---------------------------------------------------------------- the translations of the course


@each_catalogue
def test_a_translation_keeps_code_formulas_links_tags_and_numbers(stem, language):
    assert problems(stem, language) == []


@pytest.mark.parametrize(
    ("original", "translation"),
    [
        ("`a` and `b`", "`a` und `c`"),
        ("$u_j$ here", "$u_i$ hier"),
        ("a [link](a.ipynb#b)", "ein [Verweis](a.ipynb#c)"),
        ("![what it shows](a.png)", "[was es zeigt](a.png)"),
        ("see https://a.org now", "siehe https://b.org nun"),
        ("a <b>word</b>", "ein Wort"),
        ("{done} of all", "alle"),
        ("it is 0.44 now", "es ist nun 0,44"),
        ("twice 1 and 1", "zweimal 1"),
        ("a **bold** word", "ein fettes Wort"),
        ("| a | b |", "| a b |"),
    ],
)
def test_what_a_translation_lost_is_found(original, translation):
    assert differences(original, original) == [] and len(differences(original, translation)) == 1


@each_catalogue
def test_a_translated_lesson_has_the_same_code_cells_ids_and_structure(stem, language):
    source = nbformat.read(NOTEBOOKS / f"{stem}.ipynb", as_version=4)
    notebook = deepcopy(source)
    translate(notebook, read_translations(stem, language))
    assert len(notebook.cells) == len(source.cells)
    for cell, original in zip(notebook.cells, source.cells):
        if cell.cell_type == "markdown":
            assert [one.type for one in MARKDOWN.parse(cell.source)] == [
                one.type for one in MARKDOWN.parse(original.source)
            ], cell.id
            cell.source = original.source
    assert notebook == source


@each_catalogue
def test_quizzes_keep_exactly_one_right_option(stem, language):
    known = read_translations(stem, language)
    right, wrong = ANSWERS[language]
    for original, translation in known.items():
        for english, other in (("Right.", right), ("No.", wrong)):
            assert original.startswith(f"{english} ") == translation.startswith(f"{other} "), translation
    notebook = nbformat.read(NOTEBOOKS / f"{stem}.ipynb", as_version=4)
    translate(notebook, known)
    for cell in notebook.cells:
        if cell.id.startswith("quiz-"):
            assert len(re.findall(f"^(Right|{re.escape(right[:-1])})\\. ", cell.source, re.MULTILINE)) == 1, cell.id


# ---------------------------------------------------------------- a learner's workspace


def texts(workspace):
    return [cell.source for cell in nbformat.read(workspace / NAME, as_version=4).cells]


def answer(workspace, **changes):
    notebook = nbformat.read(workspace / NAME, as_version=4)
    for cell in notebook.cells:
        cell.source = changes.get(cell.id, cell.source)
    nbformat.write(notebook, workspace / NAME)


def test_the_workspace_remembers_its_language(sources, tmp_path):
    workspace, learner = tmp_path / "w", [WHOLE[0], *WHOLE[2:]]
    write_workspace(workspace, sources, language="de")
    assert texts(workspace) == learner
    assert write_workspace(workspace, sources) == [(NAME, "unchanged")]
    assert update_workspace(workspace, sources) == [(NAME, "unchanged", "")]
    answer(workspace, code="x = 2")
    reset_lesson(workspace, "00", sources)
    assert texts(workspace) == learner
    assert update_workspace(workspace, sources, language="en") == [(NAME, "renewed", "")]
    assert texts(workspace) == [cell.source for cell in learner_copy(lesson()).cells]
    assert "language" not in json.loads((workspace / RECORD).read_text())


def test_another_language_keeps_what_a_learner_wrote(sources, tmp_path):
    workspace, mine = tmp_path / "w", {"code": "x = 2  # mine", "quiz-one": "My note."}
    write_workspace(workspace, sources)
    answer(workspace, **mine)
    before = (workspace / NAME).read_bytes()
    assert write_workspace(workspace, sources, language="de") == [(NAME, "kept")]
    assert (workspace / NAME).read_bytes() == before
    ((_, action, _),) = update_workspace(workspace, sources)  # in German since the call before
    assert action == "merged" and (workspace / SAVED / "00_start_here-1.ipynb").read_bytes() == before
    title, code, quiz, note = texts(workspace)
    assert (title, code, quiz) == (WHOLE[0], mine["code"], WHOLE[3]) and note.endswith(mine["quiz-one"])


@pytest.mark.parametrize("command", [write_workspace, update_workspace])
def test_an_unknown_language_is_one_sentence_and_changes_nothing(sources, tmp_path, command):
    workspace = tmp_path / "w"
    write_workspace(workspace, sources, language="de")
    before = {path.name: path.read_bytes() for path in workspace.iterdir() if path.is_file()}
    with pytest.raises(CopyError, match=r"the language 'xx'; there are: en \(the original\), de\.$"):
        command(workspace, sources, language="xx")
    assert before == {path.name: path.read_bytes() for path in workspace.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'msgid "a"\nmsgstr "b\n', "is damaged in line 2"),
        (b"msgid \"a\"\nmsgstr 'b'\n", "is damaged in line 2"),
        (b'msgid "a"\nwhat is this\n', "is damaged in line 2"),
        (b'msgid "a"\n', "is damaged in line 1"),
        (b"<<<<<<< HEAD\n", "is damaged in line 1"),
        ('msgid "a"\nmsgstr "ä"\n'.encode("latin-1"), "is not in UTF-8"),
        (b"\x00\xff", "is not in UTF-8"),
    ],
)
def test_a_damaged_catalogue_is_one_sentence(sources, tmp_path, content, said):
    path = sources / "translations" / "de" / "00_start_here.po"
    path.write_bytes(content)
    with pytest.raises(CopyError, match=f"^The catalogue .*00_start_here.po {said}. [^\n]*$"):
        write_workspace(tmp_path / "w", sources, language="de")
    with pytest.raises(TranslationError, match=said):
        update_catalogue(sources / NAME, "de", sources)
    assert path.read_bytes() == content


# ---------------------------------------------------------------- commands


def course(*words, code=0):
    done = CliRunner().invoke(cli.main, list(words))
    assert done.exit_code == code, done.output
    return done.output


def test_the_commands_of_a_translator(sources, monkeypatch):
    for function in (update_catalogue, translations.state, translations.read_translations):
        monkeypatch.setattr(function, "__defaults__", (sources,))
    for function in (translations.catalogue_of, problems, languages, translations.check_language):
        monkeypatch.setattr(function, "__defaults__", (sources,))
    monkeypatch.setattr(cli, "NOTEBOOKS", sources)
    monkeypatch.setattr(cli, "INSTALLED", False)
    assert course("translate", "status", "de") == "de 00_start_here: 6 of 6 translated\n"
    nbformat.write(lesson(FIRST), sources / "00_start_here_further_more.ipynb")
    assert course("translate", "status", "de") == "de 00_start_here: 6 of 6 translated\n"
    nbformat.write(lesson(FIRST + "\nSomething else."), sources / NAME)
    assert course("translate", "update", "de") == "de 00_start_here: 6 of 7 translated; 1 empty\n"
    path = sources / "translations" / "de" / "00_start_here.po"
    path.write_text(path.read_text().replace("Punkt mit `code`", "Punkt mit `kode`"))
    assert "other code, formulas, links or tags" in course("translate", "status", "de", code=1)
    assert "there are: en (the original), de." in course("translate", "status", "fr", code=1)
    assert "not the code of a language" in course("translate", "update", "../de", "00", code=1)
    assert "There is no lesson 05" in course("translate", "update", "fr", "05", code=1)
    assert course("translate", "update", "fr", "00").startswith("fr 00_start_here: 0 of 7 translated; 9 empty")
    assert (sources / "translations" / "fr" / "00_start_here.po").is_file()


def test_a_page_of_the_book_says_its_language(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(book, "BROWSERS", ())
    nbformat.write(lesson(FIRST.replace("Title", "Another title\n\nAbout 25 minutes.")), sources / "01_more.ipynb")
    site = book.write_book(tmp_path / "book", sources, list, language="de").parent
    front, german, english = (
        (site / f"{name}.html").read_text(encoding="utf-8") for name in ("index", "00_start_here", "01_more")
    )
    assert '<html lang="de"' in german and "<p>Ein Absatz.</p>" in german
    assert all('<html lang="en"' in page and "Titel</a>" in page for page in (front, english))
    assert "25 minutes" in front and "A paragraph" in english
    with pytest.raises(book.BookError, match="there are: en"):
        book.write_book(tmp_path / "book", sources, list, language="xx")


def test_lab_writes_the_lessons_in_a_language_and_names_them(tmp_path):
    said = course("lab", "--write-only", "--workspace", str(tmp_path / "w"), "--language", "de")
    assert "Language de: lesson 00" in said and "What is not translated is in English." in said
    assert "Vorhersage" in Path(tmp_path / "w" / NAME).read_text(encoding="utf-8")
    assert "there are: en (the original), de" in course(
        "lab", "--write-only", "--workspace", str(tmp_path / "v"), "--language", "xx", code=1
    )
    assert not (tmp_path / "v").exists()
