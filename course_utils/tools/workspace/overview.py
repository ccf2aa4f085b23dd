"""An overview of the course: what is passed, what is open, and how long each lesson takes.

A workspace is a folder with the learner's copies of the lessons. In a workspace, `check` records passed exercises in a
small file; elsewhere, it records nothing.
"""

import html
import itertools
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..._support.notebooks import NOTEBOOKS, ROUTES, lesson_cells, parts
from ...diary.passed import passed
from ...diary.schedule import Schedule, ScheduleProblem
from ...diary.workspace import RECORD, current

WORDS_A_MINUTE = 200
CELL_SECONDS = 30  # to run a code cell and look at what it prints
OPEN_QUESTIONS = "recall", "which-first"  # cells of questions with an answer to open
LINE_SECONDS = 3  # to read a line of it, unless the cell is folded
PICTURE_MINUTES = QUESTION_MINUTES = 1
EXERCISE = re.compile(r"^## Exercise: (?P<title>.+)\n+`(?P<id>\d\d-[a-z0-9-]+)` · difficulty", re.MULTILINE)
STATED = re.compile(r"^`\d\d-[a-z0-9-]+` · .*?\b(\d+) minutes", re.MULTILINE)


class NoWorkspace(ValueError):
    """A folder is not a workspace. The message says so in one sentence, and what to do."""


def existing(folder):
    """The path of an existing workspace. Raises NoWorkspace for anything else."""
    if not (Path(folder) / RECORD).is_file():
        raise NoWorkspace(
            f"{Path(folder).resolve()} is not a folder with your lessons (it has no {RECORD}). Go to the folder with "
            "your lessons, or name it with --workspace; `course lab` creates one."
        )
    return Path(folder)


# ---------------------------------------------------------------- the lessons


@dataclass(frozen=True)
class Lesson:
    """A core or a further part: its key ("04", "04-lengths"), title, minutes, and exercises as pairs (id, title)."""

    key: str
    title: str
    minutes: int
    exercises: tuple[tuple[str, str], ...]

    @property
    def is_core(self):
        return len(self.key) == 2

    @property
    def sign(self):
        """Its number, or a plus for a further part, which stands below its core."""
        return self.key if self.is_core else " +"


def lessons(folder=NOTEBOOKS):
    """The lessons and their further parts in a folder, in order. Other files are skipped."""
    readable = []
    for key, path in parts(folder).items():
        try:
            notebook = json.loads(path.read_bytes())
            texts = [text for _, kind, text in _read_cells(notebook) if kind == "markdown"]
            title = texts[0].splitlines()[0].removeprefix("# ").partition(" ")[2]
            stated = re.search(r"About (\d+) minutes", texts[0])
            minutes = int(stated[1]) if stated else lesson_minutes(notebook)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            continue
        exercises = tuple(
            (one["id"], one["title"][:1].upper() + one["title"][1:]) for one in EXERCISE.finditer("\n\n".join(texts))
        )
        readable.append(Lesson(key, title, minutes, exercises))
    return tuple(readable)


def lesson_minutes(notebook):
    """How long a notebook takes: by one rule, rounded to a multiple of five.

    notebook: a lesson as nbformat or json reads it, with its outputs.

    200 words of text a minute, without code blocks and link addresses; half a minute for a code cell, and three seconds
    for each line of it that is not folded; a minute for a picture, for a quiz and for each question at the end; an
    exercise or a completion at the minutes stated above it, its code included. Pictures for the lecture do not count.
    """
    cells = [cell for cell in lesson_cells(notebook) if not _is_written(cell)]
    texts = [_text(cell) for cell in cells if cell["cell_type"] == "markdown"]
    code = [cell for cell in cells if cell["cell_type"] == "code" and not _is_worked_by_the_learner(cell)]
    lines = sum(bool(line.strip()) for cell in code if not _is_folded(cell) for line in _text(cell).splitlines())
    questions = sum(
        text.count("<details>") if cell.get("id") in OPEN_QUESTIONS else cell.get("id", "").startswith("quiz-")
        for cell in cells
        for text in [_text(cell)]
    )
    minutes = (
        sum(map(_words, texts)) / WORDS_A_MINUTE
        + (len(code) * CELL_SECONDS + lines * LINE_SECONDS) / 60
        + sum(map(_is_picture, code)) * PICTURE_MINUTES
        + questions * QUESTION_MINUTES
        + sum(int(stated) for text in texts for stated in STATED.findall(text))
    )
    return max(5, 5 * int(minutes / 5 + 0.5))


def in_hours(number):
    """Such as "7 hours"."""
    return f"{number} hour{'' if number == 1 else 's'}"


def _is_worked_by_the_learner(cell):
    return "nbgrader" in cell["metadata"] or "completion" in cell["metadata"].get("tags", [])


def _is_folded(cell):
    return bool(cell["metadata"].get("jupyter", {}).get("source_hidden"))


def _is_picture(cell):
    data = [output.get("data", {}) for output in cell.get("outputs", [])]
    return any("image/png" in one or "<svg" in "".join(one.get("text/html", "")) for one in data)


def _text(cell):
    return "".join(cell["source"])


def _is_written(cell):
    """Whether a cell is a text that the learner writes, such as a report."""
    return cell["cell_type"] == "markdown" and cell["metadata"].get("nbgrader", {}).get("solution")


def _read_cells(notebook):
    """(id, type, text) of each cell that a learner reads.

    Texts that the learner writes, such as a report, are excluded.
    """
    for cell in itertools.filterfalse(_is_written, lesson_cells(notebook)):
        yield cell.get("id", ""), cell["cell_type"], _text(cell)


def _words(markdown):
    """The number of words to read."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1", " ", markdown, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "] ", text)
    text = re.sub(r"<[^<>]*>|https?://\S+", " ", text)
    return len(re.findall(r"\S*\w\S*", text))


# ---------------------------------------------------------------- the picture


def progress():
    """Show your progress through the course: each lesson, which exercises you passed, and what comes next.

    Displays as a table in a notebook and prints as text.
    """
    try:
        return overview(current())
    except OSError:  # the folder is gone, or its record cannot be read
        return overview(None)


def overview(folder):
    """The state of a workspace. Every exercise is open for None or a folder that is not a workspace.

    Raises OSError if the record cannot be read.
    """
    if folder is None or not (Path(folder) / RECORD).is_file():
        return Overview(lessons(), frozenset())
    from ..ideas.sheets import calibration, due_today  # what they need takes half a second

    try:
        items, writing, schedule = due_today(folder)
    except ScheduleProblem as problem:
        items, writing, schedule = [], [], Schedule(notice=str(problem))
    due = len(items) + len(writing)
    done, sure = frozenset(passed(folder)), calibration(schedule)
    return Overview(lessons() or lessons(folder), done, due, sure, schedule.notice)


@dataclass(frozen=True)
class Overview:
    """What `progress` returns. `lessons`: all lessons of the course; `passed`: ids of exercises.

    due: how many things `course review` would ask. sure: {how sure: (answers, right ones)}. notice: about the record.
    """

    lessons: tuple[Lesson, ...]
    passed: frozenset[str]
    due: int = 0
    sure: dict = field(default_factory=dict)
    notice: str = ""

    @property
    def next(self):
        """(lesson, id of its first open exercise), cores before further parts; None if nothing is open."""
        in_order = sorted(self.lessons, key=lambda lesson: not lesson.is_core)
        return next(
            ((lesson, one) for lesson in in_order for one, _ in lesson.exercises if one not in self.passed), None
        )

    def done(self, lesson):
        """How many exercises of a lesson are passed."""
        return sum(one in self.passed for one, _ in lesson.exercises)

    def count(self, lesson):
        """Such as "2 of 4" for a lesson; empty for one without exercises."""
        return f"{self.done(lesson)} of {len(lesson.exercises)}" if lesson.exercises else ""

    @property
    def hours(self):
        """{route: its hours, rounded}: the only place that computes them. READMEs, lessons and the book follow."""
        return {name: int(self.on(name).minutes / 60 + 0.5) for name in ROUTES}

    @property
    def minutes(self):
        return sum(lesson.minutes for lesson in self.lessons)

    def on(self, route):
        """The same for the lessons of one of ROUTES."""
        cores = [one for one in self.lessons if one.is_core and one.key in (ROUTES[route] or one.key)]
        return replace(self, lessons=self.lessons if route == "everything" else tuple(cores))

    @property
    def totals(self):
        cores = [one for one in self.lessons if one.is_core and one.exercises]
        further = [one for one in self.lessons if not one.is_core]
        whole = sum(self.done(lesson) == len(lesson.exercises) for lesson in cores)
        text = f"{self._passed_of(cores)} exercises of the cores passed, {whole} of {len(cores)} cores finished"
        text += f"; {self._passed_of(further)} exercises of further parts." if further else "."
        hours = self.hours
        return (
            f"{text} The cores take about {in_hours(hours['the course'])}, the one-day route {hours['one day']}, "
            f"everything {hours['everything']}."
        )

    def _passed_of(self, some):
        return f"{sum(map(self.done, some))} of {sum(len(one.exercises) for one in some)}"

    @property
    def advice(self):
        if self.next is None:
            return "next: nothing is open; every exercise is passed."
        lesson, one = self.next
        where = f"lesson {lesson.key}" if lesson.is_core else "the further part"
        return f"next: {where}, {lesson.title} (exercise {one})"

    @property
    def remembered(self):
        """Lines about the review of today, and about how sure this learner is."""
        lines = [f"to review today: {self.due} (`course review`, or review() in a notebook)"] if self.due else []
        if self.sure:
            shares = "; ".join(f"{name}: {right} of {asked} right" for name, (asked, right) in self.sure.items())
            lines.append(f"how sure you were: {shares}")
        return lines + ([self.notice] if self.notice else [])

    def _calibration(self):
        """How often each degree of being sure was right, as a drawing; "" without answers."""
        if not self.sure:
            return ""
        from scipy.stats import binomtest

        from ...plots import dots

        names = [f"{name} ({asked} answers)" for name, (asked, _) in self.sure.items()]
        shares = [right / asked for asked, right in self.sure.values()]
        intervals = [binomtest(right, asked).proportion_ci(method="wilson") for asked, right in self.sure.values()]
        (asked, right), name = list(self.sure.values())[-1], list(self.sure)[-1]
        title = f"“{name}” was right {right} of {asked} times"
        figure = dots(
            names,
            {"right": shares},
            title,
            "share of right answers, with its 95% interval",
            f"{title}; {'; '.join(self.remembered)}",
            intervals={"right": ([low for low, _ in intervals], [high for _, high in intervals])},
            limits=(0, 1),
            marks={"by chance": 0.25},
        )
        return figure._repr_html_()

    def plan(self):
        """The lessons with their minutes and what is passed, and what comes next, in lines."""
        width = max((len(lesson.title) for lesson in self.lessons), default=0)
        rows = [
            f"{lesson.sign}  {lesson.title:{width}}  {lesson.minutes:3d} min  {self.count(lesson)}".rstrip()
            for lesson in self.lessons
        ]
        return [*rows, self.advice, *self.remembered]

    def __repr__(self):
        width = max((len(lesson.title) for lesson in self.lessons), default=0)
        squares = max((len(lesson.exercises) for lesson in self.lessons), default=0)
        rows = [
            f"{lesson.sign}  {lesson.title:{width}}  {lesson.minutes:3d} min  "
            f"{''.join('✓' if one in self.passed else '○' for one, _ in lesson.exercises):{squares}}  "
            f"{self.count(lesson)}".rstrip()
            for lesson in self.lessons
        ]
        return "\n".join([self.totals, "", *rows, "", self.advice, *self.remembered])

    def plain(self):
        """The overview in ASCII, for a terminal without other characters."""
        return repr(self).replace("✓", "x").replace("○", "-").encode("ascii", "replace").decode()

    def _repr_html_(self):
        rows = []
        for lesson in self.lessons:
            squares = "".join(_square(one, title, one in self.passed) for one, title in lesson.exercises)
            indent = "" if lesson.is_core else "; padding-left: 2.2em"
            cells = f'<td style="{CELL}; text-align: right">{lesson.minutes}</td>'
            cells += f'<td style="{CELL}; white-space: nowrap">{squares}</td>'
            count = f'<td style="{CELL}">{self.count(lesson)}</td>'
            rows.append(
                f'<tr><th scope="row" style="{CELL}; font-weight: normal{indent}">{lesson.sign.strip()} '
                f"{html.escape(lesson.title)}</th>{cells}{count}</tr>"
            )
        remembered = "".join(f'<p style="padding: 0 0.6em">{_with_code(line)}</p>' for line in self.remembered)
        head = "".join(
            f'<th scope="col" style="{CELL}">{name}</th>' for name in ("Lesson", "Minutes", "Exercises", "Passed")
        )
        return (
            '<table style="border-collapse: collapse"><caption style="text-align: left; color: inherit; '
            'padding: 0.3em 0.6em">'
            f"{html.escape(self.totals)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
            f'<p style="padding: 0 0.6em"><strong>{html.escape(self.advice)}</strong></p>'
            f"{remembered}{self._calibration()}"
        )

    def page(self):
        """The overview as a standalone page."""
        return (
            f'{PAGE_MARK}\n<html lang="en">\n<head><meta charset="utf-8"><meta name="viewport" '
            'content="width=device-width, initial-scale=1">'
            f"<title>Progress in the course</title><style>:root {{ color-scheme: light dark }} body {{ font: "
            "1rem/1.5 sans-serif; margin: 2rem auto; "
            f"max-width: 56rem; padding: 0 1rem }}</style></head>\n<body><main><h1>Sentence embeddings: your "
            "progress</h1>\n"
            f"{self._repr_html_()}\n</main></body>\n</html>\n"
        )


PAGE_MARK = "<!doctype html><!-- course progress -->"  # a file that begins with this may be overwritten
CELL = "text-align: left; padding: 0.15em 0.6em; vertical-align: middle"
SQUARE = (
    "display: inline-block; box-sizing: border-box; width: 1.6em; height: 1.6em; line-height: 1.45em; margin-right: "
    "0.25em; text-align: center; border-radius: 3px"
)
DONE, OPEN = (
    "background: #007a5e; color: #ffffff; border: 1px solid #007a5e",
    ("background: transparent; color: inherit; border: 1px solid #808080"),
)


def _with_code(line):
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(line))


def _square(exercise_id, title, done):
    """A square with a tick, or an empty one with a circle.

    Its name is read aloud by screen readers and shown on hover.
    """
    words = html.escape(f"{exercise_id}, {title}: {'passed' if done else 'open'}")
    return (
        f'<span role="img" aria-label="{words}" title="{words}" style="{SQUARE}; '
        f'{DONE if done else OPEN}">{"✓" if done else "○"}</span>'
    )
