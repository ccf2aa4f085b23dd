"""Tools for course authors: skeletons, and the facts derived from a lesson's text."""

import keyword
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._support.fast_nbformat import nbformat, read_notebook
from .._support.files import write_whole
from .._support.notebooks import (
    BEGIN,
    END,
    FURTHER,
    NOTEBOOKS,
    ROOT,
    ROUTES,
    cores,
    kind_of,
    name_of,
    part_of,
    parts,
)
from .workspace.overview import Overview, in_hours, lesson_minutes, lessons

EXERCISES = Path(__file__).resolve().parents[1] / "exercises"
ANSWERS = ROOT / "tests" / "answers"
CLAIMS = ROOT / "tests" / "claims"
README = ROOT / "README.md"
COUNTS = "no one two three four five six seven eight nine ten".split()
MINUTES = re.compile(r"About \d+ minutes")  # in a lesson's first cell
ROW = r"^\| \[.*?\]\((?:notebooks/|further/)?{name}\.ipynb\) \|"  # of a lesson, in a README's table
TABLES = {  # of tests/answers/lesson_NN.py, and what each begins with
    "RIGHT": "*[lambda vectors: vectors] * 3,  # TODO: three other correct solutions, as learners write them",
    "WRONG": '(lambda vectors: None, "`return`"),  # TODO: a wrong one, and words of what it is told',
    "PROMISES": '("TODO: words of the text", lambda vectors: None),  # and an answer that breaks only these',
}


class AuthoringError(ValueError):
    """A skeleton cannot be written. The message is one sentence; nothing was changed."""


def new_exercise(
    lesson: str,
    name: str,
    title: str | None = None,
    folder: str | Path = NOTEBOOKS,
    exercises: Path = EXERCISES,
    answers: Path = ANSWERS,
) -> tuple[Path, Path, Path, Path]:
    """Write the skeleton of an exercise and return the four paths that changed.

    Its text, answer and check go into the lesson, before "What you have seen", its cases and
    mistakes into the lesson's exercise file, their words into the file beside it, and right and
    wrong answers into the tests.

    lesson: such as "04", or "04-lengths" for a further part.
    name: such as "weighted-pool".
    title: made from the name if omitted.

    Raises AuthoringError.
    """
    path, number = _lesson(lesson, folder), lesson[:2]
    code = exercises / f"lesson_{number}.py"
    words, tests = code.with_suffix(".toml"), answers / code.name
    notebook = read_notebook(path)
    names = {
        "number": number,
        "id": f"{number}-{name}",
        "title": title or name.replace("-", " ").capitalize(),
    }
    names["name"] = name.replace("-", "_")
    names["constant"] = names["name"].upper()
    source = _text_or(code, _template("exercises", names))
    _require_free_name(name, names, path, notebook, source)
    begins = [cell.source.startswith("## What you have seen") for cell in notebook.cells]
    if not any(begins):
        raise AuthoringError(
            f'{path.name} has no cell "## What you have seen" to insert it before.'
        )
    end = begins.index(True)
    notebook.cells[end:end] = _exercise_cells(name, names)
    tables = _with_answers(_text_or(tests, _template("answers", names)), names["id"], tests)
    old_words = _text_or(words, f"# The words of lesson {number}'s exercises: see words.py.\n")
    write_whole(code, source + _template("exercise", names))
    write_whole(words, old_words + _template("words", names))
    write_whole(tests, tables)
    write_whole(path, nbformat.writes(notebook) + "\n")
    return path, code, words, tests


def _require_free_name(
    name: str, names: Mapping[str, str], path: Path, notebook: nbformat.NotebookNode, source: str
) -> None:
    """Raise AuthoringError if a lesson cannot have an exercise of this name."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise AuthoringError(
            f"An exercise's name must be lower-case words joined by hyphens, such as weighted-pool; got {name!r}."
        )
    if kind_of(notebook) == "page":
        raise AuthoringError(
            f'{path.name} is a page, which has no exercises; its first cell says so ("course.kind").'
        )
    if names["id"] in {cell.id for cell in notebook.cells}:
        raise AuthoringError(f"{path.name} already has {names['id']}.")
    function, constant = names["name"], names["constant"]
    bound = rf"^(def |class )?{function}\s*[=(]|^(from|import) .*\b{function}\b"
    cells = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    in_exercises = rf"^({constant} =|def _{function}_cases\b)"
    if (
        keyword.iskeyword(function)
        or re.search(bound, cells, re.MULTILINE)
        or re.search(in_exercises, source, re.MULTILINE)
    ):
        raise AuthoringError(
            f"{function!r} is already used in {path.name}; choose a name other than {name!r}."
        )


def _exercise_cells(name: str, names: Mapping[str, str]) -> list[nbformat.NotebookNode]:
    exercise, function, title = names["id"], names["name"], names["title"]
    text = (
        f"## Exercise: {title[:1].lower()}{title[1:]}\n\n`{exercise}` · difficulty 2 of 3 · 10 "
        "minutes\n\n"
        "TODO: what the function takes and returns: types, shapes, ties, edge cases. This text is "
        "the contract."
    )
    marks = {"schema_version": 3, "task": False}
    answer = {**marks, "grade_id": exercise, "grade": False, "locked": False, "solution": True}
    check = {
        **marks,
        "grade_id": f"{exercise}-check",
        "grade": True,
        "locked": True,
        "points": 2,
        "solution": False,
    }
    return [
        nbformat.v4.new_markdown_cell(text, id=f"ex-{name}"),
        nbformat.v4.new_code_cell(
            f"def {function}(vectors):\n    {BEGIN}\n    return vectors\n    {END}",
            id=exercise,
            metadata={"nbgrader": answer},
        ),
        nbformat.v4.new_code_cell(
            f'check("{exercise}", {function})', id=f"{exercise}-check", metadata={"nbgrader": check}
        ),
    ]


def _with_answers(tables: str, exercise: str, path: Path) -> str:
    """The text of a file of answers with an entry for an exercise at the end of each table."""
    for table, example in TABLES.items():
        entry = f'\n    "{exercise}": [\n        {example}\n    ],\n}}'
        whole = re.search(rf"^{table} = {{(.*?)\n?}}$", tables, re.MULTILINE | re.DOTALL)
        if whole is None:
            raise AuthoringError(f"{path} has no line that begins with {table} = {{")
        tables = tables[: whole.end(1)] + entry + tables[whole.end() :]
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

    Returns the lesson's path.

    Cores stand in the README of the course, further parts in that of the lessons' folder.

    number: two digits that no lesson has, such as "13".
    kind: one of KINDS. A further part has the number of its lesson, which exists.

    Raises AuthoringError.
    """
    is_further = kind == "further"
    if not re.fullmatch(r"\d\d", number) or (number in parts(folder)) != is_further:
        wanted = "that of a lesson" if is_further else "two digits that no other lesson has"
        raise AuthoringError(f"The number must be {wanted}; got {number!r}.")
    name = re.sub("[^a-z0-9]+", "_", title.lower()).strip("_")
    if not name or "\n" in title:
        raise AuthoringError(
            f"A lesson needs a one-line title with letters from a to z; got {title!r}."
        )
    home = Path(folder) / FURTHER if is_further else Path(folder)
    path = home / f"{number}_{name}.ipynb"
    table = _table(is_further, folder, readme)
    text = table.read_text(encoding="utf-8")
    rows = list(re.finditer(ROW.format(name=r"(\d\d_\w+)") + ".*\n", text, re.MULTILINE))
    before = [row for row in rows if row[1] < path.stem]
    if not before:
        raise AuthoringError(f"{table} has no table of lessons, or none before {number}.")
    place = before[-1].end()
    row = f"| {_link(f'{number} {title}', path)} | TODO | 5 | 0 |\n"
    home.mkdir(exist_ok=True)
    write_whole(table, text[:place] + row + text[place:])
    write_whole(
        claims / f"{part_of(path)}.toml",
        f"# What lesson {number} asserts: tests/test_claims.py says how.\n",
    )
    write_whole(path, nbformat.writes(_lesson_skeleton(number, title, kind)) + "\n")
    return path


def _lesson_skeleton(number: str, title: str, kind: str) -> nbformat.NotebookNode:
    time = "About 5 minutes." if kind == "page" else "About 5 minutes, with no exercises."
    first = f"# {number} {title}\n\nTODO: what this is about.\n\n**After this lesson you can**\n\n- TODO\n\n{time}"
    return nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(first, id="title", metadata={"course": {"kind": kind}}),
            nbformat.v4.new_code_cell(
                "from course_utils import setup, check, hint, solution\nsetup()", id="setup"
            ),
            nbformat.v4.new_markdown_cell("## TODO", id="first-step"),
            nbformat.v4.new_markdown_cell("## What you have seen\n\n- TODO", id="recap"),
            nbformat.v4.new_markdown_cell("## Further reading\n\n- TODO", id="reading"),
        ],
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
    )


def new_lecture(key: str, folder: str | Path = NOTEBOOKS) -> Path:
    """Write the skeleton of the lecture of a lesson or a further part. Returns its path.

    Raises AuthoringError.
    """
    path = _lesson(key, folder)
    target = Path(folder) / "lectures" / f"{path.stem}.md"
    if target.exists():
        raise AuthoringError(f"{target} exists already.")
    cells = read_notebook(path).cells
    shown = [cell.id for cell in cells if cell.cell_type == "code" and cell.outputs]
    if not shown:
        raise AuthoringError(
            f"No cell of {path.name} shows anything yet: run it first (make lesson L={key})."
        )
    sections = re.findall("^## (.+)$", "\n".join(cell.source for cell in cells), re.MULTILINE)
    title = cells[0].source.partition("\n")[0].lstrip("# 0123456789")
    names = {
        "title": title.replace('"', "'"),
        "lesson": path.stem,
        "section": sections[0],
        "cell": shown[0],
    }
    names["notebook"] = f"../{name_of(path)}.ipynb"
    target.parent.mkdir(exist_ok=True)
    write_whole(target, _template("lecture", names))
    return target


def needed_by(number: str, kind: str) -> list[str]:
    """What else a lesson of a kind needs, and what it may have, as lines of text."""
    names = {"number": number}
    return _template("needed_by_a_page" if kind == "page" else "needed", names).splitlines()


def renew(lesson: str, folder: str | Path = NOTEBOOKS, readme: Path = README) -> list[Path]:
    """Update what is stated about a lesson or a further part from its text.

    Returns the paths that changed.

    These are its title, minutes and exercises in a README's table (see `new_lesson`), the two
    numbers in its first cell, too, and the routes in the README and in lesson 00. Raises
    AuthoringError.
    """
    path = _lesson(lesson, folder)
    changed: dict[Path, None] = {}
    notebook = read_notebook(path)
    minutes = lesson_minutes(notebook)
    table = _table(len(lesson) > 2, folder, readme)
    text = table.read_text(encoding="utf-8")
    row = re.compile(
        ROW.format(name=path.stem) + r"(?P<learned> .*? \|) *\d+ *\| *\d+ *\|$", re.MULTILINE
    )
    stated = row.search(text)
    if stated is None or "TODO" in stated["learned"]:
        raise AuthoringError(
            f"{table} has no row for {path.stem} that says what one learns, minutes and exercises."
        )
    first = notebook.cells[0]
    if not MINUTES.search(first.source):
        raise AuthoringError(f'The first cell of {path.name} does not say "About N minutes".')
    number = sum(map(_is_code_to_write, notebook.cells))
    in_words = COUNTS[number] if number < len(COUNTS) else str(number)
    exercises = f"{in_words} {'exercise' if number == 1 else 'exercises'}"
    first.source = MINUTES.sub(f"About {minutes} minutes", first.source)
    first.source = re.sub(
        rf"\b({'|'.join(COUNTS)}|\d+) exercises?\b", exercises, first.source, count=1
    )
    title = first.source.partition("\n")[0].removeprefix("# ")
    new_row = f"| {_link(title, path)} |{stated['learned']} {minutes} | {number} |"
    _write(path, nbformat.writes(notebook) + "\n", changed)
    _write(table, text[: stated.start()] + new_row + text[stated.end() :], changed)
    _renew_routes(Path(folder), readme, changed)
    return list(changed)


def _is_code_to_write(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.metadata.get("nbgrader", {}).get("solution"))


def _renew_routes(folder: Path, readme: Path, changed: dict[Path, None]) -> None:
    hours = Overview(lessons(folder), frozenset()).hours
    text = readme.read_text(encoding="utf-8")
    _write(readme, with_routes(text, hours, cores(folder), "notebooks/"), changed)
    start = cores(folder).get("00")
    if start is not None:
        notebook = read_notebook(start)
        for cell in notebook.cells:
            if cell.id == "map":
                cell.source = with_routes(cell.source, hours, cores(folder))
        _write(start, nbformat.writes(notebook) + "\n", changed)


def with_routes(
    text: str, hours: Mapping[str, int], paths: Mapping[str, Path], way: str = ""
) -> str:
    """A text with the routes' hours, and with links to the cores of one day.

    It names a route in a line such as "- *one day* (7 hours): the cores [01](01_tokenization.ipynb)
    and ...".
    hours: {route: number}. paths: {number: path} of the cores. way: their folder, as seen from the
    text.
    """
    for route, number in hours.items():
        text = re.sub(
            rf"^- \*{route}\* \(.*?\)",
            f"- *{route}* ({in_hours(number)})",
            text,
            flags=re.MULTILINE,
        )
    links = [
        f"[{number}]({way}{paths[number].name})"
        for number in ROUTES["one day"] or ()
        if number in paths
    ]
    listed = ", ".join(links[:-2] + [" and ".join(links[-2:])])
    return re.sub(
        r"^(- \*one day\* .*?: the cores )\[.*\]\(.*?\)", rf"\1{listed}", text, flags=re.MULTILINE
    )


def _link(title: str, path: Path) -> str:
    """A lesson as its table names it; that of cores is outside their folder."""
    title = title.partition(", further:")[0]  # the column beside it says what the part is about
    folder = "notebooks" if len(part_of(path)) == 2 else FURTHER
    return f"[{title}]({folder}/{path.name})"


def _table(is_further: bool, folder: str | Path, readme: Path) -> Path:
    return Path(folder) / "README.md" if is_further else readme


def _template(name: str, values: Mapping[str, Any]) -> str:
    path = Path(__file__).parent / "templates" / f"{name}.txt"
    return path.read_text(encoding="utf-8").format(**values)


def _text_or(path: Path, default: str) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else default


def _write(path: Path, text: str, changed: dict[Path, None]) -> None:
    if path.read_text(encoding="utf-8") != text:
        write_whole(path, text)
        changed[path] = None


def _lesson(key: str, folder: str | Path) -> Path:
    lessons = parts(folder)
    if key not in lessons:
        raise AuthoringError(f"There is no lesson {key!r}; the lessons are {', '.join(lessons)}.")
    return lessons[key]
