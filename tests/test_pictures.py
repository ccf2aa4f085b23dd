"""What is seen in each lesson: diagrams, typeset formulas, and figures that do not answer the question just asked."""

import functools
import re

import nbformat
import pytest

from course_utils._support.figures import NO_TITLE, WITHOUT_WORDS
from course_utils._support.notebooks import NOTEBOOKS, kind_of, lesson_cells, part_of, parts

PATHS = {path.stem: path for path in (*parts().values(), NOTEBOOKS / "glossary.ipynb")}
LESSONS = [name for name, path in PATHS.items() if name[0].isdigit() and kind_of(nbformat.read(path, 4)) != "page"]
CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*$|(`+)(?!`).+?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL)
DRAWN = re.compile(
    r"-{2,}>|<-{2,}|={2,}>|\+-{3,}|[─│┌┐└┘├┤┬┴┼╭╮╰╯]|^\s*\|\s*$", re.MULTILINE
)  # pictures made of letters
FORMULA = re.compile(r"sqrt\(|\bsum_|\bexp\(|\|\|\w+\|\||\w\^T\b")
TAG = re.compile(r"\\tag\{(\d+)\.(\d+)\}")
DIAGRAM = re.compile(r'<svg[^>]* class="cu-svg"[^>]* aria-label="([^"]+)"')

each_lesson = pytest.mark.parametrize("name", LESSONS)


@functools.cache
def read(name):
    return nbformat.read(PATHS[name], as_version=4)


def for_learners(name, kind):
    return [cell for cell in lesson_cells(read(name)) if cell.cell_type == kind]


def numbered(name):
    return TAG.findall("".join(cell.source for cell in for_learners(name, "markdown")))


def diagrams(name):
    """{cell id: the diagram's HTML} of a notebook."""
    return {cell.id: data for cell in for_learners(name, "code") for output in cell.outputs
             if "cu-diagram" in (data := output.get("data", {}).get("text/html", ""))}  # fmt: skip


@pytest.mark.parametrize("name", [*LESSONS, "glossary"])
def test_there_are_diagrams_and_their_text_says_what_they_say(name):
    found = diagrams(name)
    drawn = [cell for cell in found if not cell.startswith("explore-")]
    assert (len(part_of(name)) == 2) <= len(drawn) <= 6, drawn
    for cell in for_learners(name, "code"):
        if cell.id in found:
            ((_, plain),) = [item for item in cell.outputs[0].data.items() if item[0] == "text/plain"]
            first = plain.splitlines()[0]
            assert first.startswith("Diagram. ") and len(first) > 50, cell.id
            assert DIAGRAM.search(found[cell.id]), cell.id


@pytest.mark.parametrize("name", PATHS)
def test_every_figure_has_a_title_or_a_description_and_says_its_data(name):
    for cell in read(name).cells:
        for output in cell.get("outputs", []):
            if (text := output.get("data", {}).get("text/plain", "")).startswith("Figure."):
                assert NO_TITLE not in text and WITHOUT_WORDS not in text, cell.id
                assert len(text.splitlines()) > 1, cell.id


@each_lesson
def test_formulas_are_typeset_numbered_and_explained(name):
    """Each numbered formula names its symbols and the variables that hold them, in its own cell or the next."""
    cells = [cell for cell in for_learners(name, "markdown") if not cell.source.startswith("## Further reading")]
    numbers = []
    for cell, after in zip(cells, [*cells[1:], cells[-1]]):
        prose = CODE.sub("", cell.source)
        assert not (found := FORMULA.search(re.sub(r"\$\$.+?\$\$|\$[^$\n]+\$", "", prose, flags=re.DOTALL))), (
            cell.id, found)  # fmt: skip
        tags = TAG.findall(cell.source)
        assert cell.source.count("$$") == 2 * len(tags), f"{cell.id}: a formula has no number"
        numbers += [(int(lesson), int(number)) for lesson, number in tags]
        if tags:
            words = cell.source + after.source
            assert re.search(r"\$[^$]+\$[^.]*`[^`]+`|`[^`]+`[^.]*\$[^$]+\$", words), f"{cell.id}: no variable is named"
    first = 1 + sum(
        len(numbered(one)) for one in LESSONS[: LESSONS.index(name)] if one[:2] == name[:2]
    )  # parts go on counting
    assert numbers == [(int(name[:2]), first + at) for at in range(len(numbers))]
    for cell in cells:
        for lesson, number in re.findall(r"\((\d+)\.(\d+)\)", CODE.sub("", cell.source)):
            if "formula" in cell.source and int(lesson) == int(name[:2]):
                assert 0 < int(number) < first + len(numbers), f"{cell.id}: there is no formula ({lesson}.{number})"


@each_lesson
def test_nothing_is_drawn_with_letters(name):
    for cell in for_learners(name, "markdown"):
        text = re.sub(r"^\|.*\|$|<!--.*?-->", "", cell.source, flags=re.MULTILINE)
        assert not (found := DRAWN.search(text)), (cell.id, found)


@each_lesson
def test_a_figure_does_not_answer_the_question_above_it(name):
    """Code that draws a figure below a question is folded, since its alternative text tells the answer."""
    asked = False
    for cell in lesson_cells(read(name)):
        if cell.cell_type == "markdown":
            asked = asked or cell.id.startswith("quiz-") or "**Predict" in cell.source
            continue
        pictures = any("image/png" in output.get("data", {}) for output in cell.outputs)
        if asked and pictures:
            assert cell.metadata.get("jupyter", {}).get("source_hidden"), f"{cell.id} is not folded"
        asked = False
