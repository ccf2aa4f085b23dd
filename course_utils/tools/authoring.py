"""Tools for course authors: skeletons, and the facts derived from a lesson's text."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from .._support.fast_nbformat import nbformat, read_notebook
from .._support.files import write_changed
from .._support.installation import ROOT
from .._support.notebooks import (
    FURTHER,
    NOTEBOOKS,
    ROUTES,
    cores,
    is_core,
    kind_of,
    lesson_named,
    name_of,
    part_of,
    parts,
)
from .pages import filled
from .workspace.overview import Overview, in_hours, lesson_minutes, lessons

EXERCISES = Path(__file__).resolve().parents[1] / "exercises"
ANSWERS = ROOT / "tests" / "answers"
CLAIMS = ROOT / "tests" / "claims"
README = ROOT / "README.md"
# the word of each number, from 0
COUNTS = "no one two three four five six seven eight nine ten".split()
ENDING = "## What you have seen"  # the heading above which a lesson's exercises stand
# in a lesson's first cell
MINUTES = re.compile(r"About \d+ minutes")
EXERCISE_COUNT = re.compile(rf"\b({'|'.join(COUNTS)}|\d+) exercises?\b")
ROW = r"^\| \[.*?\]\((?:notebooks/|further/)?{name}\.ipynb\) \|"  # of a lesson, in a README's table
TABLES = {  # of tests/answers/lesson_NN.py, and what each begins with
    "RIGHT": "*[lambda vectors: vectors] * 3,  # TODO: three other correct solutions, as learners write them",
    "WRONG": '(lambda vectors: None, "`return`"),  # TODO: a wrong one, and words of what it is told',
    "PROMISES": '("TODO: words of the text", lambda vectors: None),  # and an answer that breaks only these',
}


def new_exercise(
    lesson: str,
    name: str,
    title: str | None = None,
    folder: str | Path = NOTEBOOKS,
    exercises: Path = EXERCISES,
    answers: Path = ANSWERS,
) -> list[Path]:
    """Write the skeleton of an exercise.

    Its text, answer and check go into the lesson, before "What you have seen", its cases and
    mistakes into the lesson's exercise file, their words into the file beside it, and right and
    wrong answers into the tests.

    lesson: such as "04", or "04-lengths" for a further part.
    name: such as "weighted-pool".
    title: made from the name if omitted.
    folder, exercises, answers: the folders of these files.

    Returns the four paths that changed: the lesson, the exercise file, its words, the answers.
    Raises ValueError, in one sentence and before anything is written, also if there is no such
    lesson.
    """
    path = lesson_named(lesson, folder)
    notebook = read_notebook(path)
    number = path.stem[:2]
    exercise = f"{number}-{name}"
    index = _index_for_exercise(name, exercise, notebook, path)
    title = title or name.replace("-", " ").capitalize()
    function = name.replace("-", "_")
    values = {
        "number": number,
        "key": name,
        "id": exercise,
        "title": title,
        "heading": title[:1].lower() + title[1:],
        "name": function,
        "constant": function.upper(),
    }
    notebook.cells[index:index] = _notebook_from("exercise_cells.json", values).cells
    code = exercises / f"lesson_{number}.py"
    words = code.with_suffix(".toml")
    tests = answers / code.name
    old_answers = _text_or(tests, filled("answers.txt", **values))
    return write_changed({
        path: nbformat.writes(notebook) + "\n",
        code: _text_or(code, filled("exercises.txt", **values)) + filled("exercise.txt", **values),
        words: _text_or(words, f"# The words of lesson {number}'s exercises: see model.py.\n")
        + filled("words.txt", **values),
        tests: _with_answers(old_answers, exercise, tests),
    })  # fmt: skip


def _index_for_exercise(
    name: str, exercise: str, notebook: nbformat.NotebookNode, path: Path
) -> int:
    """The place of a new exercise among the cells: before ENDING.

    Raises ValueError for a name that cannot be one, and for a notebook that has no room for it: a
    page, one without ENDING, or one that has this exercise already.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(
            "An exercise's name must be lower-case words joined by hyphens, such as "
            f"weighted-pool; got {name!r}."
        )
    if kind_of(notebook) == "page":
        raise ValueError(
            f"{path.name} is a page, which has no exercises; its first cell says so "
            '("course.kind").'
        )
    endings = [cell.source.startswith(ENDING) for cell in notebook.cells]
    if exercise in {cell.id for cell in notebook.cells} or not any(endings):
        raise ValueError(
            f'{path.name} already has {exercise}, or no "{ENDING}" to insert it before.'
        )
    return endings.index(True)


def _with_answers(tables: str, exercise: str, path: Path) -> str:
    """The text of a file of answers with an entry for an exercise at the end of each table.

    path: of the file, for the ValueError that is raised if a table is missing.
    """
    for table, example in TABLES.items():
        # the end of the last entry, the new one, and the brace that closes the table
        entry = f'\n    "{exercise}": [\n        {example}\n    ],\n}}'
        match = re.search(rf"^{table} = {{(.*?)\n?}}$", tables, re.MULTILINE | re.DOTALL)
        if match is None:
            raise ValueError(f"{path} has no line that begins with {table} = {{")
        tables = tables[: match.end(1)] + entry + tables[match.end() :]
    return tables


def new_lesson(
    number: str,
    title: str,
    kind: str = "full",
    folder: str | Path = NOTEBOOKS,
    readme: Path = README,
    claims: Path = CLAIMS,
) -> Path:
    """Write the skeleton of a lesson, its row in a README's table and its table of claims.

    Cores stand in the README of the course, further parts in that of the lessons' folder.

    number: two digits that no lesson has, such as "13".
    kind: one of KINDS. A further part has the number of its lesson, which exists.
    folder, readme, claims: the lessons' folder, the README of the course, the folder of claims.

    Returns the lesson's path. Raises ValueError, in one sentence and before anything is written.
    """
    is_further = kind == "further"
    # a further part has its core's number, a core one of its own
    if not re.fullmatch(r"\d\d", number) or (number in parts(folder)) != is_further:
        wanted = (
            "that of a lesson, as a further part has the number of its core"
            if is_further
            else "two digits that no other lesson has (a further part: --kind further)"
        )
        raise ValueError(f"The number must be {wanted}; got {number!r}.")
    # of "Pooling: from many vectors to one", the file is named after what stands before the colon
    name = re.sub("[^a-z0-9]+", "_", title.partition(":")[0].lower()).strip("_")
    if not name or "\n" in title:
        raise ValueError(
            f"A lesson needs a one-line title with letters from a to z; got {title!r}."
        )
    path = Path(folder) / (FURTHER if is_further else "") / f"{number}_{name}.ipynb"
    if path.exists():
        raise ValueError(f"{path} exists already.")
    table = _table(is_further, folder, readme)
    text = table.read_text(encoding="utf-8")
    rows = list(re.finditer(ROW.format(name=r"(\d\d_\w+)") + ".*\n", text, re.MULTILINE))
    earlier_rows = [row for row in rows if row[1] < path.stem]
    if not earlier_rows:
        raise ValueError(f"{table} has no table of lessons, or none before {number}.")
    row_start = earlier_rows[-1].end()
    # 5 minutes and no exercises, until `renew` counts them
    row = f"| {_link(f'{number} {title}', path)} | TODO | 5 | 0 |\n"
    skeleton = _notebook_from(
        "lesson_skeleton.json", {"number": number, "title": title, "kind": kind}
    )
    write_changed({
        table: text[:row_start] + row + text[row_start:],
        claims / f"{part_of(path)}.toml": f"# What lesson {number} asserts: tests/test_claims.py says how.\n",
        path: nbformat.writes(skeleton) + "\n",
    })  # fmt: skip
    return path


def new_lecture(key: str, folder: str | Path = NOTEBOOKS) -> Path:
    """Write the skeleton of the lecture of a lesson or a further part. Returns its path.

    Raises ValueError, in one sentence and before anything is written, also if there is no such
    lesson, if it has a lecture already, or if none of its cells has an output to show.
    """
    path = lesson_named(key, folder)
    target = Path(folder) / "lectures" / f"{path.stem}.md"
    if target.exists():
        raise ValueError(f"{target} exists already.")
    cells = read_notebook(path).cells
    with_output = [cell.id for cell in cells if cell.cell_type == "code" and cell.outputs]
    if not with_output:
        raise ValueError(
            f"No cell of {path.name} shows anything yet: run it first (make lesson L={key})."
        )
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    # from "# 04 Pooling" to "Pooling"
    title = cells[0].source.partition("\n")[0].removeprefix("# ").partition(" ")[2]
    values = {
        "title": title.replace('"', "'"),  # it stands in quotes
        "lesson": path.stem,
        # a proposal; its author changes it, and the minutes of the sections with it
        "minutes": "20" if path.parent.name == FURTHER else "30",
        "section": re.findall("^## (.+)$", text, re.MULTILINE)[0],
        "cell": with_output[0],
        "notebook": f"../{name_of(path)}.ipynb",
    }
    write_changed({target: filled("lecture.txt", **values)})
    return target


def renew(lesson: str, folder: str | Path = NOTEBOOKS, readme: Path = README) -> list[Path]:
    """Update what is stated about a lesson or a further part from its text.

    That is: its title, minutes and number of exercises in a README's table (see `new_lesson`), both
    numbers in its first cell, and the routes in the README and in lesson 00.

    Returns the paths that changed. Raises ValueError for no lesson, and, before anything is
    written, if the table has no filled-in row for it.
    """
    path = lesson_named(lesson, folder)
    notebook = read_notebook(path)
    table = _table(not is_core(part_of(path)), folder, readme)
    text = table.read_text(encoding="utf-8")
    # after the link: | what one learns | minutes | exercises |
    numbers = r"(?P<learned> .*? \|) *\d+ *\| *\d+ *\|$"
    row = re.search(ROW.format(name=path.stem) + numbers, text, re.MULTILINE)
    if row is None or "TODO" in row["learned"]:
        raise ValueError(
            f"{table} has no row for {path.stem} that says what one learns, minutes and exercises."
        )
    first_cell = notebook.cells[0]
    minutes = lesson_minutes(notebook)
    answers = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]
    exercises = sum(cell.cell_type == "code" for cell in answers)  # a report is text
    first_cell.source = _with_minutes_and_exercises(first_cell.source, minutes, exercises)
    title = first_cell.source.partition("\n")[0].removeprefix("# ")
    new_row = f"| {_link(title, path)} |{row['learned']} {minutes} | {exercises} |"
    changed = write_changed({
        path: nbformat.writes(notebook) + "\n",
        table: text[: row.start()] + new_row + text[row.end() :],
    })  # fmt: skip
    return list(dict.fromkeys(changed + _renew_routes(Path(folder), readme)))


def _with_minutes_and_exercises(text: str, minutes: int, exercises: int) -> str:
    count = COUNTS[exercises] if exercises < len(COUNTS) else str(exercises)
    noun = "exercise" if exercises == 1 else "exercises"
    text = MINUTES.sub(f"About {minutes} minutes", text)
    return EXERCISE_COUNT.sub(f"{count} {noun}", text, count=1)


def _renew_routes(folder: Path, readme: Path) -> list[Path]:
    hours = Overview(lessons(folder), frozenset()).hours
    texts = {
        readme: with_routes(
            readme.read_text(encoding="utf-8"), hours, cores(folder), folder="notebooks/"
        )
    }
    start = cores(folder).get("00")
    if start is not None:
        notebook = read_notebook(start)
        for cell in notebook.cells:
            if cell.id == "map":
                cell.source = with_routes(cell.source, hours, cores(folder))
        texts[start] = nbformat.writes(notebook) + "\n"
    return write_changed(texts)


def with_routes(
    text: str, hours: Mapping[str, int], paths: Mapping[str, Path], folder: str = ""
) -> str:
    """A text with the routes' hours, and with links to the cores of one day.

    It names a route in a line such as "- *one day* (7 hours): the cores [01](01_tokenization.ipynb)
    and ...".
    hours: {route: its length in hours}.
    paths: {number: path} of the cores.
    folder: theirs, as seen from the text, with a slash at its end.
    """
    for route, number in hours.items():
        text = re.sub(
            rf"^- \*{route}\* \(.*?\)",
            f"- *{route}* ({in_hours(number)})",
            text,
            flags=re.MULTILINE,
        )
    links = [
        f"[{number}]({folder}{paths[number].name})"
        for number in ROUTES["one day"] or ()  # not None, which stands for all cores
        if number in paths
    ]
    # "a, b and c"
    listed = ", ".join(links[:-2] + [" and ".join(links[-2:])])
    return re.sub(
        r"^(- \*one day\* .*?: the cores )\[.*\]\(.*?\)", rf"\1{listed}", text, flags=re.MULTILINE
    )


def _link(title: str, path: Path) -> str:
    """The link to a lesson in its table (see `new_lesson`). The table of cores is in the course's
    README, outside their folder.
    """
    title = title.partition(", further:")[0]  # the column beside it says what the part is about
    folder = "notebooks" if is_core(part_of(path)) else FURTHER
    return f"[{title}]({folder}/{path.name})"


def _table(is_further: bool, folder: str | Path, readme: Path) -> Path:
    return Path(folder) / "README.md" if is_further else readme


def _notebook_from(template: str, values: Mapping[str, str]) -> nbformat.NotebookNode:
    # the template is JSON and has the quotes around each value
    escaped = {key: json.dumps(value)[1:-1] for key, value in values.items()}
    return cast("nbformat.NotebookNode", nbformat.reads(filled(template, **escaped), 4))


def _text_or(path: Path, default: str) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else default
