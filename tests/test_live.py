"""Live copies: worked cells to type, their code on a page, `reveal`; `course lab --live`."""

import json
import re
from unittest.mock import Mock, call

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_utils import reveal
from course_utils._support.notebooks import NOTEBOOKS, ROUTES, cores, name_of, parts
from course_utils.diary.passed import remember
from course_utils.diary.workspace import LIVE
from course_utils.tools.grading.submissions import gather
from course_utils.tools.workspace import copies, lab
from course_utils.tools.workspace.live import (
    WIDTH,
    live_copy,
    page_to_type,
    typed_cells,
    write_live,
)
from course_utils.tools.workspace.overview import overview

from .commands import run_lab
from .sources import DIVIDED, SOURCES, code_of, tags

TYPED = [key for key, notebook in SOURCES.items() if typed_cells(notebook)]
each_typed = pytest.mark.parametrize("key", TYPED)


def live(key):
    # the live copy of a lesson as a notebook, not written to a file
    return live_copy(SOURCES[key], key=key, name=f"{name_of(parts()[key])}.ipynb")


def beside_the_learners(key):
    """[(cell of a live copy, the same cell of the learner's copy)]

    Without the live copy's note and its cell with `reveal`, which a learner's copy does not have.
    """
    title, _, _, *cells = live(key).cells
    return list(zip([title, *cells], copies.learner_copy(SOURCES[key]).cells, strict=True))


def run_in_a_cell(monkeypatch, code, *, cell_id="", arguments=()):
    """The call by which `reveal` hands code to IPython, or None if it does not.

    code, cell_id: of the cell that runs, as JupyterLab sends them. arguments: those of `reveal`.
    """
    request = {"content": {"code": code}, "metadata": {"cellId": cell_id}}
    shell = Mock(get_parent=lambda: request)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    reveal(*arguments)
    return shell.set_next_input.call_args


@pytest.mark.parametrize("key", DIVIDED)
def test_each_worked_cell_of_a_core_says_in_a_few_words_what_to_type(key):
    for cell in code_of(SOURCES[key]):
        is_given = "nbgrader" in cell.metadata or {"completion", "hide-input"} & set(tags(cell))
        does = cell.metadata.get("course", {}).get("does", "")
        is_never_typed = cell.id == "setup" or cell.id.startswith(("diagram-", "explore-"))
        if not (is_given or is_never_typed):
            # in a few words: from three to fourteen
            assert 2 < len(does.split()) < 15, (
                f"{cell.id}: say in metadata.course.does what it does"
            )
    assert key in TYPED  # some of these cells are not folded, so there is a live copy


@each_typed
def test_a_live_copy_has_a_note_and_a_cell_with_reveal_below_its_title(key):
    copy = live(key)
    nbformat.validate(copy)
    assert [cell.id for cell in copy.cells[1:3]] == ["live-note", "live-reveal"]


@each_typed
def test_what_is_not_typed_is_the_learners_but_for_links_to_lessons(key):
    for cell, learners in beside_the_learners(key):
        if cell.id == learners.id:
            assert copies.TO_A_LESSON.sub("", cell.source) == copies.TO_A_LESSON.sub(
                "", learners.source
            )
            assert cell.metadata == learners.metadata


@each_typed
def test_code_to_type_is_a_numbered_comment_and_reveal_brings_it_back(key, monkeypatch):
    emptied = [
        (cell, learners) for cell, learners in beside_the_learners(key) if cell.id != learners.id
    ]
    assert len(emptied) == len(typed_cells(SOURCES[key]))
    for number, (cell, learners) in enumerate(emptied, 1):
        assert cell.source.startswith(f"# {number}. ")
        assert all(
            line.startswith("# ") and len(line) <= WIDTH for line in cell.source.splitlines()
        )
        given_back = run_in_a_cell(monkeypatch, f"{cell.source}\nreveal()", cell_id=cell.id)
        assert given_back == call(learners.source, replace=True)


@each_typed
def test_the_page_to_type_has_a_section_for_each_cell_and_no_heading_twice(key):
    page = page_to_type(SOURCES[key], key)
    assert page.count("<section") == len(typed_cells(SOURCES[key]))
    headings = re.findall("<h2>.*</h2>", page)
    # (a section that goes on from the one above has no heading)
    assert headings and len(set(headings)) == len(headings)


def test_links_lead_out_of_the_folder():
    texts = [
        cell.source for key in TYPED for cell in live(key).cells if cell.cell_type == "markdown"
    ]
    links = re.findall(r"\]\(([^)#:]+\.ipynb)", "\n".join(texts))
    lessons = [NOTEBOOKS / link.removeprefix("../") for link in links if link.startswith("../")]
    assert len(lessons) == len(links) > 50  # lessons link to each other often
    assert all(lesson.is_file() for lesson in lessons)


# ---------------------------------------------------------------- in a workspace


@pytest.fixture
def sources(tmp_path):
    write_source(tmp_path / "sources", "Add one & print.")
    return tmp_path / "sources"


def write_source(folder, does, **metadata):
    # a course of one lesson, 04, with one worked cell; again, it replaces that lesson
    worked = new_code_cell(
        "print(1 < 2)\n\nx = 1", id="sum", metadata={"course": {"does": does}, **metadata}
    )
    folder.mkdir(exist_ok=True)
    cells = [new_markdown_cell("# 04 Sums"), new_markdown_cell("## A `sum`"), worked]
    nbformat.write(new_notebook(cells=cells), folder / "04_sums.ipynb")


def test_the_code_to_type_is_on_a_page_beside_the_live_copy(sources, tmp_path):
    file, is_edited = write_live(tmp_path / "w", "04", sources)
    assert (file.as_posix(), is_edited) == (f"{LIVE}/04_sums_live.ipynb", False)
    page = (tmp_path / "w" / file).with_suffix(".html").read_text()
    assert "<h2>A <code>sum</code></h2>" in page
    assert "print(1 &lt; 2)</span><span><br>" in page


def test_a_live_copy_that_is_as_it_was_written_is_renewed(sources, tmp_path):
    file, _ = write_live(tmp_path / "w", "04", sources)
    write_source(sources, "Add two.")
    assert write_live(tmp_path / "w", "04", sources) == (file, False)
    copy = tmp_path / "w" / file
    assert nbformat.read(copy, as_version=4).cells[-1].source == "# 1. Add two."
    assert "Add two." in copy.with_suffix(".html").read_text()


def test_an_edited_live_copy_stays_and_so_does_its_page(sources, tmp_path):
    file, _ = write_live(tmp_path / "w", "04", sources)
    copy = tmp_path / "w" / file
    edited = copy.read_text().replace("# 1. Add", "# mine: Add")
    copy.write_text(edited)
    assert write_live(tmp_path / "w", "04", sources) == (file, True), "the course is as it was"
    write_source(sources, "Add four.")
    assert write_live(tmp_path / "w", "04", sources) == (file, True)
    assert copy.read_text() == edited
    assert "Add one &amp; print." in copy.with_suffix(".html").read_text()


def test_what_cannot_be_a_live_copy_is_one_sentence(sources, tmp_path):
    with pytest.raises(ValueError, match="There is no lesson 5; the lessons are 04."):
        write_live(tmp_path / "w", "5", sources)
    # a folded cell is not typed
    write_source(sources, "Draw.", jupyter={"source_hidden": True})
    with pytest.raises(copies.CopyError, match="04_sums.ipynb has no cells to type"):
        write_live(tmp_path / "w", "04", sources)
    write_source(sources, "Add.")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / LIVE).write_text("a file")  # where the folder of live copies would be
    with pytest.raises(copies.CopyError, match="Cannot write"):
        write_live(tmp_path / "w", "04", sources)


def test_a_live_copy_is_no_hand_in_and_no_lesson_of_a_workspace(sources, tmp_path):
    workspace = tmp_path / "class" / "ada"
    file, _ = write_live(workspace, "04", sources)
    (workspace / "04_sums.ipynb").write_bytes((workspace / file).read_bytes())
    (tmp_path / "unpacked").mkdir()
    (hand_in,) = gather(tmp_path / "class", tmp_path / "unpacked")
    assert hand_in.file == "ada/04_sums.ipynb"
    assert list(parts(workspace)) == ["04"]


# ---------------------------------------------------------------- reveal


def test_reveal_takes_a_number_and_replaces_no_code_of_ones_own(monkeypatch):
    third = typed_cells(SOURCES["04"])[2]
    assert run_in_a_cell(
        monkeypatch, 'reveal("04", 3)', cell_id="a1b2c3d4", arguments=("04", 3)
    ) == call(third.source, replace=True)
    assert run_in_a_cell(
        monkeypatch, "# 3. Multiply\nhidden * 2\nreveal()", cell_id=f"live_04_{third.id}"
    ) == call(third.source, replace=False)


@pytest.mark.parametrize(
    "cell_id, arguments",
    [
        ("a1b2c3d4", ()),  # a cell of the learner's own
        ("live_04_04-mean-pool", ()),  # an exercise
        ("live_99_x", ()),  # no such lesson
        ("live_", ()),
        ("", ("04", 99)),  # numbers begin at 1, and no lesson has so many cells
        ("", ("04", 0)),
        ("", ("04-mean-pool", 1)),  # an exercise in place of a lesson
        ("", (4,)),  # a number alone
    ],
)
def test_where_there_is_nothing_to_reveal_a_sentence_says_so(
    monkeypatch, capsys, cell_id, arguments
):
    assert run_in_a_cell(monkeypatch, "reveal()", cell_id=cell_id, arguments=arguments) is None
    monkeypatch.undo()
    reveal("04", 1)  # outside Jupyter
    assert capsys.readouterr().out.count("There is no code to bring back here") == 2


# ---------------------------------------------------------------- the command


def test_lab_opens_a_live_copy_beside_its_code_and_says_how_to_get_a_new_one(tmp_path, monkeypatch):
    file = f"{LIVE}/04_pooling_live.ipynb"
    printed, pages = run_lab(monkeypatch, "--workspace", tmp_path, "--live", "04")
    assert (
        f"The live copy is {file}, and the code to type is beside it in 04_pooling_live.html."
        in printed
    )
    assert pages == [f"workspaces/04_pooling_live/tree/{file}"]
    assert (tmp_path / file).is_file()
    # JupyterLab opens the two files side by side
    (layout,) = (tmp_path / lab.LAB_FILES).glob("04_pooling_live-*")
    dock = json.loads(layout.read_text())["data"]["layout-restorer:data"]["main"]["dock"]
    widgets = [area["widgets"] for area in dock["children"]]
    assert widgets == [[f"notebook:{file}"], [f"htmlviewer:{file.replace('.ipynb', '.html')}"]]

    (tmp_path / file).write_text((tmp_path / file).read_text().replace("# 1. ", "# mine "))
    printed, _ = run_lab(monkeypatch, "--workspace", tmp_path, "--live", "04", "--write-only")
    assert (
        f"{file}: you have worked in it, so it was kept; rename or delete it, and run this again"
        in printed
    )


def test_lab_prints_a_route_and_opens_its_first_open_lesson(tmp_path, monkeypatch):
    first, second, *_ = ROUTES["one day"]
    printed, pages = run_lab(monkeypatch, "--workspace", tmp_path, "--route", "day")
    # the rows of the table are the lines with a time; each begins with its lesson
    rows = [line for line in printed.splitlines() if " min  " in line]
    assert [row[:2] for row in rows] == ROUTES["one day"]
    assert rows[0].endswith("  0 of 2")
    assert pages == [f"tree/{cores()[first].name}"]
    # once the exercises of the first lesson are passed, the second is the first open one
    for exercise, _ in overview(None).on("one day").lessons[0].exercises:
        remember(exercise, tmp_path)
    printed, pages = run_lab(monkeypatch, "--workspace", tmp_path, "--route", "day")
    assert f"next: lesson {second}" in printed
    assert pages == [f"tree/{cores()[second].name}"]


@pytest.mark.parametrize(
    "route, keys",
    [("one day", ROUTES["one day"]), ("the course", list(cores())), ("everything", list(parts()))],
)
def test_a_route_has_its_lessons_in_order(route, keys):
    assert [lesson.key for lesson in overview(None).on(route).lessons] == keys
