"""Tools for course authors: skeletons of exercises and lessons, and the facts derived from a lesson's text."""

import keyword
import re
from pathlib import Path

from .._support.fast_nbformat import nbformat
from .._support.files import write_whole
from .._support.notebooks import (
    BEGIN,
    END,
    FURTHER,
    KINDS,
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
COUNTS = "no one two three four five six seven eight nine ten".split()
SETUP = "from course_utils import setup, check, hint, solution\nsetup()"
ROW = r"^\| \[.*?\]\((?:notebooks/|further/)?{name}\.ipynb\) \|"  # of a lesson, in a README's table
TABLES = {  # of tests/answers/lesson_NN.py, and what each begins with
    "RIGHT": "*[lambda vectors: vectors] * 3,  # TODO: three other correct solutions, as learners write them",
    "WRONG": '(lambda vectors: None, "`return`"),  # TODO: a wrong one, and words of what it is told',
    "PROMISES": '("TODO: words of the text", lambda vectors: None),  # and an answer that breaks only these',
}


class AuthoringError(ValueError):
    """A skeleton cannot be written. The message is one sentence; nothing was changed."""


def new_exercise(lesson, name, title=None, folder=NOTEBOOKS, exercises=EXERCISES, answers=ANSWERS):
    """Write the skeleton of an exercise and return the four paths that changed.

    Its text, answer and check go into the lesson, before "What you have seen", its cases and mistakes into the lesson's
    exercise file, their words into the file beside it, and right and wrong answers into the tests.

    lesson: such as "04", or "04-lengths" for a further part.
    name: such as "weighted-pool".
    title: made from the name if omitted.

    Raises AuthoringError.
    """
    path, number = _lesson(lesson, folder), lesson[:2]
    code = exercises / f"lesson_{number}.py"
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise AuthoringError(
            f"An exercise's name must be lower-case words joined by hyphens, such as weighted-pool; got {name!r}."
        )
    notebook, exercise_id, function = nbformat.read(path, as_version=4), f"{number}-{name}", name.replace("-", "_")
    source = code.read_text(encoding="utf-8") if code.exists() else ""
    ids = {cell.id for cell in notebook.cells}
    if exercise_id in ids:
        raise AuthoringError(f"{path.name} already has {exercise_id}.")
    if kind_of(notebook) == "page":
        raise AuthoringError(f'{path.name} is a page, which has no exercises; its first cell says so ("course.kind").')
    names = rf"^(def |class )?{function}\s*[=(]|^(from|import) .*\b{function}\b"
    if (
        keyword.iskeyword(function)
        or f"ex-{name}" in ids
        or any(re.search(names, cell.source, re.MULTILINE) for cell in notebook.cells if cell.cell_type == "code")
        or re.search(rf"^({function.upper()} =|def _{function}_cases\b)", source, re.MULTILINE)
    ):
        raise AuthoringError(f"{function!r} is already used in lesson {lesson}; choose a name other than {name!r}.")
    title = title or name.replace("-", " ").capitalize()
    end = next((n for n, cell in enumerate(notebook.cells) if cell.source.startswith("## What you have seen")), None)
    if end is None:
        raise AuthoringError(f'{path.name} has no cell "## What you have seen" to insert it before.')
    marks = {"schema_version": 3, "grade_id": exercise_id, "task": False}
    text = (
        f"## Exercise: {title[:1].lower()}{title[1:]}\n\n`{exercise_id}` · difficulty 2 of 3 · 10 minutes\n\n"
        "TODO: what the function takes and returns: types, shapes, ties, edge cases. This text is the contract."
    )
    answer = f"def {function}(vectors):\n    {BEGIN}\n    return vectors\n    {END}"
    notebook.cells[end:end] = [
        nbformat.v4.new_markdown_cell(text, id=f"ex-{name}"),
        nbformat.v4.new_code_cell(
            answer, id=exercise_id, metadata={"nbgrader": {**marks, "grade": False, "locked": False, "solution": True}}
        ),
        nbformat.v4.new_code_cell(
            f'check("{exercise_id}", {function})',
            id=f"{exercise_id}-check",
            metadata={
                "nbgrader": {
                    **marks,
                    "grade_id": f"{exercise_id}-check",
                    "grade": True,
                    "locked": True,
                    "points": 2,
                    "solution": False,
                }
            },
        ),
    ]
    names = {"id": exercise_id, "name": function, "constant": function.upper(), "title": title, "number": number}
    source = (source or _template("exercises", names)) + _template("exercise", names)
    words, tests = code.with_suffix(".toml"), answers / code.name
    told = (
        words.read_text(encoding="utf-8")
        if words.exists()
        else f"# The words of lesson {number}'s exercises: see words.py.\n"
    )
    tried = tests.read_text(encoding="utf-8") if tests.exists() else _template("answers", names)
    for table, example in TABLES.items():
        if not re.search(rf"^{table} = {{", tried, re.MULTILINE):
            raise AuthoringError(f"{tests} has no line that begins with {table} = {{")
        tried = re.sub(
            rf"^{table} = {{(.*?)\n?}}$",
            lambda found: f'{table} = {{{found[1]}\n    "{exercise_id}": [\n        {example}\n    ],\n}}',  # noqa: B023
            tried, count=1, flags=re.MULTILINE | re.DOTALL,
        )  # fmt: skip
    write_whole(code, source)
    write_whole(words, told + _template("words", names))
    write_whole(tests, tried)
    write_whole(path, nbformat.writes(notebook) + "\n")
    return path, code, words, tests


def new_lesson(number, title, kind="full", folder=NOTEBOOKS, readme=ROOT / "README.md", claims=CLAIMS):
    """Write the skeleton of a lesson, its row in a README's table and its table of claims. Returns the lesson's path.

    Cores stand in the README of the course, further parts in that of the lessons' folder.

    number: two digits that no lesson has, such as "13".
    kind: one of KINDS. A further part has the number of its lesson, which exists.

    Raises AuthoringError.
    """
    known = parts(folder)
    if not re.fullmatch(r"\d\d", number) or (number in known) != (kind == "further"):
        what = "that of a lesson" if kind == "further" else "two digits that no other lesson has"
        raise AuthoringError(f"The number must be {what}; got {number!r}.")
    name = re.sub("[^a-z0-9]+", "_", title.lower()).strip("_")
    if not name or "\n" in title:
        raise AuthoringError(f"A lesson needs a one-line title with letters from a to z; got {title!r}.")
    if kind not in KINDS:
        raise AuthoringError(f"A lesson's kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    time = "About 5 minutes." if kind == "page" else "About 5 minutes, with no exercises."
    first = f"# {number} {title}\n\nTODO: what this is about.\n\n**After this lesson you can**\n\n- TODO\n\n{time}"
    cells = [
        nbformat.v4.new_markdown_cell(first, id="title", metadata={"course": {"kind": kind}}),
        nbformat.v4.new_code_cell(
            SETUP if kind != "page" else SETUP.replace(", check, hint, solution", ""), id="setup"
        ),
        nbformat.v4.new_markdown_cell("## TODO", id="first-step"),
        nbformat.v4.new_markdown_cell("## What you have seen\n\n- TODO", id="recap"),
        nbformat.v4.new_markdown_cell("## Further reading\n\n- TODO", id="reading"),
    ]
    notebook = nbformat.v4.new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
    )
    path = Path(folder) / f"{number}_{name}.ipynb"
    if kind == "further":
        path = path.parent / FURTHER / path.name
        path.parent.mkdir(exist_ok=True)
    readme = _table(kind == "further", folder, readme)
    text = readme.read_text(encoding="utf-8")
    rows = list(re.finditer(ROW.format(name=r"(\d\d_\w+)") + ".*\n", text, re.MULTILINE))
    if not rows:
        raise AuthoringError(f"{readme} has no table of lessons.")
    before = [row for row in rows if row[1] < path.stem]
    place = before[-1].end() if before else rows[0].start()
    row = f"| {_link(f'{number} {title}', path)} | TODO | 5 | 0 |\n"
    write_whole(readme, text[:place] + row + text[place:])
    write_whole(
        Path(claims) / f"{part_of(path)}.toml", f"# What lesson {number} asserts: tests/test_claims.py says how.\n"
    )
    write_whole(path, nbformat.writes(notebook) + "\n")
    return path


def new_lecture(key, folder=NOTEBOOKS):
    """Write the skeleton of the lecture of a lesson or a further part. Returns its path. Raises AuthoringError."""
    path = _lesson(key, folder)
    target = Path(folder) / "lectures" / f"{path.stem}.md"
    if target.exists():
        raise AuthoringError(f"{target} exists already.")
    cells = nbformat.read(path, as_version=4).cells
    sections = re.findall("^## (.+)$", "\n".join(cell.source for cell in cells), re.MULTILINE)
    shown = next((cell.id for cell in cells if cell.cell_type == "code" and cell.outputs), None)
    if shown is None:
        raise AuthoringError(f"No cell of {path.name} shows anything yet: run it first (make lesson L={key}).")
    title = cells[0].source.partition("\n")[0].lstrip("# 0123456789")
    target.parent.mkdir(exist_ok=True)
    names = {"title": title.replace('"', "'"), "lesson": path.stem, "section": sections[0], "cell": shown}
    names["notebook"] = f"../{name_of(path)}.ipynb"
    write_whole(target, _template("lecture", names))
    return target


def needed_by(number, kind):
    """What else a lesson of a kind needs before its tests pass, and what it may have, as lines of text."""
    required = [f"the lesson and its row in the README: fill in everything marked TODO (make lesson L={number} counts)"]
    required.append(
        f"tests/claims/{number}.toml: what the lesson asserts about the model, the data or the literature, and the "
        "cell that shows it or the source (a test finds comparisons that are missing, and nothing else)"
    )
    optional = [f"tests/test_lesson_{number}.py: what this lesson alone promises"]
    diagrams = f"course_utils/diagrams/lesson_{number}.py: its diagrams"
    if kind == "page":
        optional.insert(0, diagrams)
    else:
        required += [
            f"{diagrams}, two to six",
            f"exercises: `course new-exercise {number} NAME` names the files that each needs",
            f"three questions with options (cells quiz-...) and a lecture: course new-lecture {number}",
        ]
        optional.append("CONTEXT in course_utils/tools/publish/question_banks.py: if a question needs other text above")
    return [
        "Required:",
        *(f"- {line}" for line in required),
        "If the lesson has them:",
        *(f"- {line}" for line in optional),
    ]


def renew(lesson, folder=NOTEBOOKS, readme=ROOT / "README.md"):
    """Update what is stated about a lesson or a further part from its text. Returns the paths that changed.

    These are its title, minutes and exercises in a README's table (see `new_lesson`), the two numbers in its first
    cell, too, and the routes in the README and in lesson 00.
    Raises AuthoringError.
    """
    path, changed = _lesson(lesson, folder), []
    notebook = nbformat.read(path, as_version=4)
    minutes = lesson_minutes(notebook)
    table = _table(len(lesson) > 2, folder, readme)
    text = table.read_text(encoding="utf-8")
    row = re.compile(ROW.format(name=path.stem) + r"(?P<learned> .*? \|) *\d+ *\| *\d+ *\|$", re.MULTILINE)
    if (stated := row.search(text)) and "TODO" in stated["learned"]:
        raise AuthoringError(f"{table} still says TODO in the row of {path.stem}: say there what one learns.")
    if not re.search(r"About \d+ minutes", notebook.cells[0].source):
        raise AuthoringError(f'The first cell of {path.name} does not say "About N minutes".')
    answers = sum(
        bool(cell.metadata.get("nbgrader", {}).get("solution")) and cell.cell_type == "code" for cell in notebook.cells
    )
    first = re.sub(r"About \d+ minutes", f"About {minutes} minutes", notebook.cells[0].source)
    exercises = f"{COUNTS[answers] if answers < len(COUNTS) else answers} {'exercise' if answers == 1 else 'exercises'}"
    notebook.cells[0].source = re.sub(rf"\b({'|'.join(COUNTS)}|\d+) exercises?\b", exercises, first, count=1)
    if not stated:
        raise AuthoringError(f"{table} has no row for {path.stem} that ends with minutes and exercises.")
    title = first.partition("\n")[0].removeprefix("# ")
    new_row = f"| {_link(title, path)} |{stated['learned']} {minutes} | {answers} |"
    _write(path, nbformat.writes(notebook) + "\n", changed)
    _write(table, text[: stated.start()] + new_row + text[stated.end() :], changed)
    hours = Overview(lessons(folder), frozenset()).hours
    text = with_routes(readme.read_text(encoding="utf-8"), hours, cores(folder), "notebooks/")
    _write(readme, text, changed)
    if start := cores(folder).get("00"):
        notebook = nbformat.read(start, as_version=4)
        for cell in notebook.cells:
            if cell.id == "map":
                cell.source = with_routes(cell.source, hours, cores(folder))
        _write(start, nbformat.writes(notebook) + "\n", changed)
    return changed


def with_routes(text, hours, paths, way=""):
    """A text with the routes' hours, and with links to the cores of one day.

    It names a route in a line such as "- *one day* (7 hours): the cores [01](01_tokenization.ipynb) and ...".
    hours: {route: number}. paths: {number: path} of the cores. way: their folder, as seen from the text.
    """
    for route, number in hours.items():
        text = re.sub(rf"^- \*{route}\* \(.*?\)", f"- *{route}* ({in_hours(number)})", text, flags=re.MULTILINE)
    links = [f"[{number}]({way}{paths[number].name})" for number in ROUTES["one day"] if number in paths]
    listed = " and ".join(filter(None, (", ".join(links[:-1]), *links[-1:])))
    return re.sub(r"^(- \*one day\* .*?: the cores )\[.*\]\(.*?\)", rf"\1{listed}", text, flags=re.MULTILINE)


def _link(title, path):
    """A lesson as its table names it: that of cores is in the README of the course, outside their folder."""
    title = title.partition(", further:")[0]  # the column beside it says what the part is about
    return f"[{title}]({'notebooks/' if len(part_of(path)) == 2 else f'{FURTHER}/'}{path.name})"


def _table(further, folder, readme):
    return Path(folder) / "README.md" if further else Path(readme)


def _template(name, values):
    path = Path(__file__).parent / "templates" / f"{name}.txt"
    return path.read_text(encoding="utf-8").format(**values)


def _write(path, text, changed):
    if path.read_text(encoding="utf-8") != text:
        write_whole(path, text)
        changed += [path] if path not in changed else []


def _lesson(number, folder):
    found = parts(folder)
    if number not in found:
        raise AuthoringError(f"There is no lesson {number!r}; the lessons are {', '.join(found)}.")
    return found[number]
