"""Diagrams have labels, formulas are typeset and numbered, figures keep a question open."""

import functools
import re

import nbformat
import pytest

from course_utils._support.notebooks import (
    NOTEBOOKS,
    is_core,
    kind_of,
    lesson_cells,
    part_of,
    parts,
)

PATHS = {path.stem: path for path in (*parts().values(), NOTEBOOKS / "glossary.ipynb")}
LESSONS = [
    name
    for name, path in PATHS.items()
    if name[0].isdigit() and kind_of(nbformat.read(path, 4)) != "page"
]
# blocks between fences, which are closed by the same signs, and code in a line
CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*$|(`+)(?!`).+?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL)
# pictures made of letters: arrows, frames, and a vertical line alone
DRAWN = re.compile(r"-{2,}>|<-{2,}|={2,}>|\+-{3,}|[─│┌┐└┘├┤┬┴┼╭╮╰╯]|^\s*\|\s*$", re.MULTILINE)
TYPESET = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.DOTALL)
# what should be typeset: "sqrt(", "sum_", "exp(", "||x||" and "K^T"
NOT_TYPESET = re.compile(r"sqrt\(|\bsum_|\bexp\(|\|\|\w+\|\||\w\^T\b")
TAG = re.compile(r"\\tag\{(\d+)\.(\d+)\}")
# "$x$ ... `name`" or "`name` ... $x$" in one sentence
SYMBOL_AND_VARIABLE = re.compile(r"\$[^$]+\$[^.]*`[^`]+`|`[^`]+`[^.]*\$[^$]+\$")
DIAGRAM = re.compile(r'<svg[^>]* class="cu-svg"[^>]* aria-label="([^"]+)"')

each_lesson = pytest.mark.parametrize("name", LESSONS)


@functools.cache
def read(name):
    return nbformat.read(PATHS[name], as_version=4)


# cells of this type, "markdown" or "code", above the pictures for the lecture
def for_learners(name, kind):
    return [cell for cell in lesson_cells(read(name)) if cell.cell_type == kind]


def numbers_of_formulas(cells):
    """(lesson, number) of each formula in these cells, in their order."""
    return [
        (int(lesson), int(number)) for cell in cells for lesson, number in TAG.findall(cell.source)
    ]


@pytest.mark.parametrize("name", [*LESSONS, "glossary"])
def test_each_diagram_has_a_label_and_a_text_and_each_core_has_a_diagram(name):
    diagrams = [
        (cell.id, output.data)
        for cell in for_learners(name, "code")
        for output in cell.outputs
        if "cu-diagram" in output.get("data", {}).get("text/html", "")
    ]
    for cell_id, data in diagrams:
        assert DIAGRAM.search(data["text/html"]), cell_id
        first_line = data["text/plain"].splitlines()[0]
        assert first_line.startswith("Diagram. "), cell_id
        assert len(first_line) > 50, cell_id  # characters: a sentence, not a title
    # those that readers can change (`explore-`) do not count
    drawn = [cell_id for cell_id, _ in diagrams if not cell_id.startswith("explore-")]
    # each core and the glossary have at least one; more than six are too many for one lesson
    least = 1 if name == "glossary" or is_core(part_of(name)) else 0
    assert least <= len(drawn) <= 6, drawn


def texts_of(name):
    """The cells of text whose formulas are numbered: all but the further reading."""
    return [
        cell
        for cell in for_learners(name, "markdown")
        if not cell.source.startswith("## Further reading")
    ]


def first_number(name):
    """The number of a part's first formula: the parts of a lesson count on."""
    earlier = [other for other in LESSONS[: LESSONS.index(name)] if other[:2] == name[:2]]
    return 1 + sum(len(numbers_of_formulas(for_learners(part, "markdown"))) for part in earlier)


@each_lesson
def test_formulas_are_numbered_in_their_order(name):
    numbers, first = numbers_of_formulas(texts_of(name)), first_number(name)
    assert numbers == [(int(name[:2]), first + place) for place in range(len(numbers))], (
        "they count on from the core through its further parts, by file name"
    )


@each_lesson
def test_formulas_are_typeset_and_each_has_a_number(name):
    for cell in texts_of(name):
        assert not NOT_TYPESET.search(TYPESET.sub("", CODE.sub("", cell.source))), cell.id
        # one before each formula and one behind it
        assert cell.source.count("$$") == 2 * len(numbers_of_formulas([cell])), (
            f"{cell.id}: a formula has no number"
        )


@each_lesson
def test_a_formulas_variables_are_named_in_its_cell_or_the_next(name):
    cells = texts_of(name)
    for place, cell in enumerate(cells):
        if numbers_of_formulas([cell]):
            assert SYMBOL_AND_VARIABLE.search(
                "".join(near.source for near in cells[place : place + 2])
            ), f"{cell.id}: no variable is named"


@each_lesson
def test_formulas_that_a_text_names_exist(name):
    cells = texts_of(name)
    next_number = first_number(name) + len(numbers_of_formulas(cells))
    for cell in [cell for cell in cells if "formula" in cell.source]:
        for lesson, number in re.findall(r"\((\d+)\.(\d+)\)", CODE.sub("", cell.source)):
            if int(lesson) == int(name[:2]):
                assert 0 < int(number) < next_number, (
                    f"{cell.id}: there is no formula ({lesson}.{number})"
                )


@each_lesson
def test_nothing_is_drawn_with_letters(name):
    for cell in for_learners(name, "markdown"):
        # without the rows of tables, and comments
        text = re.sub(r"^\|.*\|$|<!--.*?-->", "", cell.source, flags=re.MULTILINE)
        assert not DRAWN.search(text), cell.id


@each_lesson
def test_a_figure_does_not_answer_the_question_above_it(name):
    # Code that draws a figure below a question is folded: the alternative text has the answer.
    asked = False  # whether a text since the last cell of code asked a question
    for cell in lesson_cells(read(name)):
        if cell.cell_type == "markdown":
            asked = asked or cell.id.startswith("quiz-") or "**Predict" in cell.source
            continue
        has_figure = any("image/png" in output.get("data", {}) for output in cell.outputs)
        if asked and has_figure:
            assert cell.metadata.get("jupyter", {}).get("source_hidden"), f"{cell.id} is not folded"
        asked = False
