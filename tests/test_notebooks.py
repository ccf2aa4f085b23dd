"""The source lessons and the learners' copies follow the rules.

No notebook is run here, only unanswered stubs.
"""

import itertools
import json
import re

import nbformat
import numpy as np
import pytest

from course_utils._support.cell_needs import CONDITIONS
from course_utils._support.figures import NO_TITLE, WITHOUT_WORDS
from course_utils._support.notebooks import BEGIN, END, exercise_parts, kind_of, lesson_cells
from course_utils.exercises import all_exercises, check, tasks_of
from course_utils.tools.grading.marking import assignment
from course_utils.tools.grading.statements import bound, used
from course_utils.tools.workspace.copies import learner_copy
from course_utils.tools.workspace.overview import lesson_minutes, words_in

from .formatting import CELL_COLUMNS
from .sources import DIVIDED, SOURCES, tags
from .verdicts import Cell, names

EXERCISES = all_exercises()
BY_HAND = list(assignment()["by_hand"])
SETUP = "from course_utils import setup, check, hint, solution\n\nsetup()"
# what differs from run to run or from machine to machine: pictures without text, paths, addresses
NOISE = re.compile(r"<Figure size|/home/|/Users/|/tmp/|site-packages|0x[0-9a-f]{8}")

# These are not results: "\tag{5.1}", "formula (5.1)", "Formulas (5.1) to (5.3)"
OF_FORMULAS = re.compile(r"\\tag\{[\d.]+\}|\b[Ff]ormulas? \([\d.]+\)( (and|to) \([\d.]+\))?")
# "0.83" and "-0.83"; not "section 2.1", "version 4.5" and "1.2.3"
DECIMAL = re.compile(r"(?<!section )(?<!version )(?<![\w.:])([-\u2212]?)(\d+\.\d+)(?![\d.])")
# "`range(100)`", "(https://example.org/2019)" and "120 minutes"
OF_CODE_LINKS_AND_TIMES = re.compile(r"`[^`]*`|\(http[^)]*\)|\d+ minutes")
# "384" and "10,000"; not "issue 123", "1.384" and "384d2"
WHOLE_NUMBER = re.compile(r"(?<!issue )(?<![\w.:,])\d[\d,]*\d{2}(?![\w.]*\d)")
YEAR = re.compile(r"(19|20)\d\d")
# (lesson, number) in texts that neither code nor outputs of the lesson have: given in an exercise, a
# multiple of what is computed, what somebody says in a question, and the queries of another lesson
ONLY_IN_THE_PROSE = {("01", "200"), ("09", "5,000"), ("11", "500"), ("13-large", "204")}
# By how many units of its last digit a number in the prose may differ from the computed one: by
# half a unit when it is rounded, and by a little more because floating-point numbers are not exact
# (0.125 - 0.12 > 0.005).
ROUNDING = 0.51


def marks_of(cell):
    return cell.metadata.get("nbgrader", {})


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def need_of(cell):
    """The one tag of a cell that says what an encoder must be to run it, or None."""
    needs = [tag for tag in tags(cell) if tag.startswith("needs-")]
    assert len(needs) <= 1, f"{cell.id}: {needs}"
    assert set(needs) <= set(CONDITIONS), f"{cell.id}: {needs}"
    return needs[0] if needs else None


def stored_text_of(notebook):
    """What the cells of a notebook have stored as text."""
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    return json.dumps(
        [(output.get("text"), output.get("data", {}).get("text/plain")) for output in outputs],
        ensure_ascii=False,
    )


def prose_of(notebook):
    """The cells of text whose numbers are results of the lesson."""
    return [
        cell
        for cell in notebook.cells
        if cell.cell_type == "markdown" and not cell.source.startswith("## Further reading")
    ]


each_lesson = pytest.mark.parametrize("key", SOURCES)


@each_lesson
def test_is_a_valid_notebook_that_begins_with_setup(key):
    notebook = SOURCES[key]
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert code_cells(notebook)[0].source == SETUP


@each_lesson
def test_cell_ids_are_unique_and_meaningful(key):
    ids = [cell.id for cell in SOURCES[key].cells]
    assert len(set(ids)) == len(ids)
    assert [name for name in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []
    assert [name for name in ids if re.fullmatch(r"[0-9a-f]{8}", name)] == [], (
        "Jupyter drew these ids"
    )


@each_lesson
def test_no_noise_in_stored_outputs(key):
    for cell in code_cells(SOURCES[key]):
        # a lesson stores an error only where it announces one
        is_error = [output.output_type for output in cell.outputs] == ["error"]
        assert is_error == ("raises-exception" in tags(cell)), cell.id
        for output in cell.outputs:
            assert output.get("name") != "stderr", cell.id
            noise = NOISE.search(json.dumps(output))
            assert not noise, f"{cell.id}: {noise[0]}"
            assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {}), cell.id


@each_lesson
def test_cells_are_narrow_and_do_not_meddle(key):
    for cell in code_cells(SOURCES[key]):
        # what `make format` cannot break: texts and comments
        assert max(map(len, cell.source.split("\n"))) <= CELL_COLUMNS, cell.id
        assert not re.search(r"^\s*[%!]|sys\.path|pip install|NBVAL", cell.source, re.MULTILINE), (
            cell.id
        )


@each_lesson
def test_pictures_have_alternative_text_and_carry_their_data(key):
    for cell in code_cells(SOURCES[key]):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                alt, text = output.metadata["image/png"]["alt"], output.data["text/plain"]
                assert len(alt) > 30, cell.id  # characters: more than a title
                assert NO_TITLE not in alt, cell.id
                # the same words, and from the next line on what the figure shows
                assert re.match(rf"Figure\. {re.escape(alt)}\n.", text), cell.id
                assert WITHOUT_WORDS not in text, cell.id


@each_lesson
def test_every_decimal_in_the_prose_is_in_an_output_rounded_as_there(key):
    # Numbers of sections, versions and formulas are not results.
    computed = [float(number) for number in re.findall(r"-?\d+\.\d+", stored_text_of(SOURCES[key]))]
    for cell in prose_of(SOURCES[key]):
        for sign, number in DECIMAL.findall(OF_FORMULAS.sub("", cell.source)):
            # without a sign, a text may speak of the size of a negative number
            values = [-value for value in computed] if sign else map(abs, computed)
            tolerance = ROUNDING * 10 ** -len(number.partition(".")[2])
            assert any(abs(value - float(number)) <= tolerance for value in values), (
                f"{cell.id}: {sign}{number}"
            )


@each_lesson
def test_every_whole_number_over_99_in_the_prose_is_in_an_output_or_in_the_code(key):
    # Years are not results.
    sources = " ".join(cell.source for cell in code_cells(SOURCES[key])).replace("_", "")
    stored = stored_text_of(SOURCES[key]).replace(",", "")
    # digits behind a decimal point are no whole number
    known = set(re.findall(r"(?<![\d.])\d+", sources + stored))
    for cell in prose_of(SOURCES[key]):
        for number in WHOLE_NUMBER.findall(OF_CODE_LINKS_AND_TIMES.sub("", cell.source)):
            assert (
                YEAR.fullmatch(number)
                or (key, number) in ONLY_IN_THE_PROSE
                or number.replace(",", "") in known
            ), f"{cell.id}: {number}"


@each_lesson
def test_opens_with_its_aims_and_minutes(key):
    first = SOURCES[key].cells[0].source
    assert first.startswith(f"# {key[:2]} ")
    assert re.search(r"After this (lesson|part|page) you can", first)
    assert re.search(r"About \d+ minutes", first)


@each_lesson
def test_closes_with_a_recap_and_further_reading(key):
    headings = [cell.source.partition("\n")[0] for cell in lesson_cells(SOURCES[key])]
    assert "## What you have seen" in headings
    assert headings[-1] == "## Further reading"


@each_lesson
def test_nothing_is_left_to_do(key):
    assert not [cell.id for cell in SOURCES[key].cells if "TODO" in cell.source]


@each_lesson
def test_a_lesson_has_its_exercises_and_a_page_has_none(key):
    cells = SOURCES[key].cells
    answers = [marks_of(cell).grade_id for cell in cells if marks_of(cell).get("solution")]
    exercises = [name for name in EXERCISES if exercise_parts()[name] == key]
    assert [name for name in answers if name not in BY_HAND] == exercises
    assert (answers == []) == (kind_of(SOURCES[key]) == "page"), "only a page has no exercises"


@each_lesson
def test_what_learners_write_is_between_marks_and_carries_nbgrader_metadata(key):
    for cell in [cell for cell in SOURCES[key].cells if cell.cell_type != "markdown"]:
        marks = marks_of(cell)
        has_gap = bool(marks and marks.solution) or "completion" in tags(cell)
        assert (BEGIN in cell.source) == has_gap, cell.id
        assert (END in cell.source) == has_gap, cell.id
        assert not marks or set(marks) >= {
            "schema_version",
            "grade",
            "grade_id",
            "locked",
            "solution",
            "task",
        }


@each_lesson
def test_no_mark_of_what_learners_write_is_in_a_text(key):
    assert not [
        cell.id
        for cell in SOURCES[key].cells
        if cell.cell_type == "markdown" and (BEGIN in cell.source or END in cell.source)
    ]


@each_lesson
def test_an_exercise_has_its_text_above_and_its_check_below(key):
    cells = SOURCES[key].cells
    for place, cell in enumerate(cells):
        if cell.cell_type == "code" and marks_of(cell).get("solution"):
            exercise = EXERCISES[marks_of(cell).get("grade_id")]
            difficulty_line = rf"^`{exercise.id}` · difficulty [123] of 3 · [1-9]\d? minutes$"
            assert re.search(difficulty_line, cells[place - 1].source, re.MULTILINE), (
                f"{cell.id}: the text above must say: {difficulty_line}"
            )
            below = cells[place + 1]
            assert marks_of(below).get("grade_id") == f"{exercise.id}-check"
            assert marks_of(below).get("points") == exercise.points
            assert below.source.startswith(f'check("{exercise.id}", ')


# (notebook, cell) of each text that a person marks
MARKED_BY_HAND = [
    (notebook, cell)
    for notebook in SOURCES.values()
    for cell in lesson_cells(notebook)
    if cell.cell_type == "markdown" and marks_of(cell)
]


def test_what_a_person_marks_has_a_rubric_whose_points_add_up():
    for notebook, cell in MARKED_BY_HAND:
        title = f"`{marks_of(cell).grade_id}` ·"
        (rubric,) = (text.source for text in notebook.cells if title in text.source)
        # the digit in the first or second cell of a table's row
        points = re.findall(r"^\|(?: [^|]+ \|)? (\d) \|", rubric, re.MULTILINE)
        assert sum(map(int, points)) == marks_of(cell).points
    assert [marks_of(cell).grade_id for _, cell in MARKED_BY_HAND] == BY_HAND


def test_what_a_person_marks_is_answered_in_the_lesson_and_blank_in_the_learners_copy():
    for notebook, cell in MARKED_BY_HAND:
        marks = marks_of(cell)
        assert marks.grade is True
        assert marks.solution is True
        assert marks.locked is False
        assert marks.task is False
        assert len(cell.source.split()) > 150, "words: a model answer is not a hint"
        (copied,) = (copy for copy in learner_copy(notebook).cells if copy.id == cell.id)
        assert copied.source == "YOUR ANSWER HERE"


def test_few_cells_are_not_compared_and_each_says_why():
    cells = [cell for notebook in SOURCES.values() for cell in code_cells(notebook)]
    ignored = [cell for cell in cells if {"nbval-ignore-output", "nbval-skip"} & set(tags(cell))]
    assert len(ignored) <= 0.03 * len(cells), "3 in 100 are few"
    # characters: a sentence rather than a word
    assert all(len(cell.metadata.get("reason", "")) > 20 for cell in ignored)


@each_lesson
def test_the_learners_copy_has_no_answer_and_no_output(key):
    notebook = SOURCES[key]
    copy = learner_copy(notebook)
    assert not any(BEGIN in cell.source for cell in copy.cells)
    source = "\n".join(cell.source for cell in code_cells(notebook))
    solutions = re.findall(f"{BEGIN}\n(.*?)\n *{END}", source, re.DOTALL)
    assert len(solutions) == source.count(BEGIN)
    text = "\n".join(cell.source for cell in copy.cells)
    assert not [code for code in solutions if code.strip() in text]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code_cells(copy))


@each_lesson
def test_an_answer_left_out_counts_as_not_attempted(key):
    for cell in code_cells(learner_copy(SOURCES[key])):
        if marks_of(cell).get("solution"):
            (stub,) = names(bound, cell)
            namespace = {"np": np}  # one answer uses it as a default argument
            exec(cell.source, namespace)
            assert check(marks_of(cell).grade_id, namespace[stub]).status == "not attempted", (
                cell.id
            )


@each_lesson
def test_only_its_own_check_uses_an_answer(key):
    # So that the other cells of a learner's copy run as in the lesson.
    answered = [cell for cell in code_cells(SOURCES[key]) if BEGIN in cell.source]
    answers = set().union(*(names(bound, cell) for cell in answered))
    cells = code_cells(learner_copy(SOURCES[key]))
    for cell in [cell for cell in cells if not marks_of(cell).get("solution")]:
        if marks_of(cell).get("grade"):
            assert re.fullmatch(r'check\("[\w-]+", (\w+)\)', cell.source)[1] in answers, cell.id
        elif "completion" not in tags(cell):
            assert not names(used, cell) & answers, cell.id


# all but the first, the packaged encoder, which every other encoder lacks
OTHER_NEEDS = list(CONDITIONS)[1:]
# each set of these that an encoder may lack, from none to all
COMBINATIONS = [
    missing
    for number in range(len(CONDITIONS))
    for missing in itertools.combinations(OTHER_NEEDS, number)
]


def uses_of_skipped(cells, lacking):
    """[(cell, name, the skipped cell that defines it)] for an encoder other than the packaged one.

    cells: [(what an encoder needs for it, a key of CONDITIONS or None; Cell)]. lacking: the keys
    of CONDITIONS, beside the packaged encoder, that this encoder does not meet.
    """
    known, skipped, uses = set(), {}, []
    for need, cell in cells:
        if need in ("needs-packaged-encoder", *lacking):
            skipped |= dict.fromkeys(cell.binds - known, cell.id)
        else:
            known |= cell.binds
            lost = (cell.uses - known) & skipped.keys()
            uses += [(cell.id, name, skipped[name]) for name in lost]
    return uses


@each_lesson
def test_no_cell_uses_what_one_defines_that_another_encoder_skips(key):
    # With each combination of what another encoder may lack: BERT's kind, BERT's parts, WordPiece.
    cells = [(need_of(cell), Cell(cell.id, cell.source)) for cell in code_cells(SOURCES[key])]
    for lacking in COMBINATIONS:
        assert uses_of_skipped(cells, lacking) == [], lacking


def test_equal_cells_need_the_same_encoder():
    # In JupyterLab, an edited lesson finds its cells' needs by their text.
    texts = {}  # {what a learner's copy keeps of a cell's source: the needs of such cells}
    for cell in (cell for notebook in SOURCES.values() for cell in notebook.cells):
        need = need_of(cell)
        assert cell.cell_type == "code" or need is None, cell.id
        if cell.cell_type == "code":
            texts.setdefault(cell.source.split(BEGIN)[0].strip(), set()).add(need)
    assert set().union(*texts.values()) == {None, *CONDITIONS}
    assert not [text for text, needs in texts.items() if len(needs) > 1]


# ---------------------------------------------------------------- cores and further parts


# as CONTRIBUTING.md promises
@pytest.mark.parametrize("key", DIVIDED)
def test_a_core_fits_its_hour(key):
    notebook = SOURCES[key]
    words = sum(
        words_in(cell.source) for cell in lesson_cells(notebook) if cell.cell_type == "markdown"
    )
    answers = [cell for cell in code_cells(notebook) if marks_of(cell).get("solution")]
    assert words <= 3000, "words of text"
    assert len(code_cells(notebook)) <= 40, "code cells"
    assert len(answers) <= 3, "exercises: a further part has room for others"
    assert lesson_minutes(notebook) <= 60, "minutes"


@pytest.mark.parametrize("key", DIVIDED)
def test_a_core_has_completions_and_questions_from_memory(key):
    cells = SOURCES[key].cells
    (recall,) = (cell for cell in cells if cell.id == "recall")
    assert recall.source.count("<details>") == 3, "questions, each with a folded answer"
    # the last paragraph
    assert recall.source.strip().split("\n\n")[-1].startswith("**At work you would now**")
    assert sum("completion" in tags(cell) for cell in cells) >= 2, "gaps to fill in on the way"


@each_lesson
def test_completions_are_right_and_have_their_text(key):
    notebook = SOURCES[key]
    for cell in [cell for cell in notebook.cells if "completion" in tags(cell)]:
        checked = re.search(r'^check\("([\w-]+)", \w+\)', cell.source, re.MULTILINE)
        assert checked and checked[1] in tasks_of([key[:2]]), cell.id
        assert "✓ passed" in str(cell.outputs), cell.id
        words = f"`{checked[1]}` · completion · "
        assert any(words in text.source for text in notebook.cells), cell.id


@pytest.mark.parametrize("key", [key for key in SOURCES if key[:2] in DIVIDED])
def test_names_that_cross_cells_are_bound_once_and_not_by_figures(key):
    # So a cell that is run again, or out of order, changes nothing in other cells, and a figure
    # can be left out.
    cells = [cell for cell in code_cells(SOURCES[key]) if "take-along" not in tags(cell)]
    binding, crossing = {}, set()  # {name: cells that bind it}; names that cells take from others
    for cell in cells:
        own = names(bound, cell)
        crossing |= {name for name in names(used, cell) if name not in own}
        for name in own:
            binding.setdefault(name, []).append(cell.id)
    assert not {
        name: binding[name] for name in crossing & binding.keys() if len(binding[name]) > 1
    }, "a cell reads what several cells bind: give each its own name, or bind it in one"
    for cell in cells:
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            assert not names(bound, cell) & crossing, (
                f"{cell.id} is a figure, and later cells need what it binds"
            )
