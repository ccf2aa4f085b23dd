"""An overview of the course: what is passed, what is open, and how long each lesson takes.

A workspace is a folder with the learner's copies of the lessons. In a workspace, `check` records
passed exercises in a small file; elsewhere, it records nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..._support.notebooks import NOTEBOOKS, ROUTES, is_core, lesson_cells, parts
from ...diary.passed import passed
from ...diary.schedule import Schedule, ScheduleProblem
from ...diary.workspace import RECORD, current
from ..pages import filled

# slower than the 238 of adults who read English silently (Brysbaert 2019): the texts are technical
WORDS_A_MINUTE = 200
CELL_MINUTES = 0.5  # to run a code cell and look at what it prints
# to read a code cell that is not folded; without blanks and line ends, so formatting changes nothing
CODE_CHARACTERS_A_MINUTE = 1050
OPEN_QUESTIONS = ("recall", "which-first")  # cells of questions with an answer to open
PICTURE_MINUTES = QUESTION_MINUTES = 1  # to look at one picture, to answer one question
EXERCISE = re.compile(
    r"^## Exercise: (?P<title>.+)\n+`(?P<id>\d\d-[a-z0-9-]+)` · difficulty", re.MULTILINE
)
# the minutes that are stated below the heading of an exercise, or above a completion
STATED = re.compile(r"^`\d\d-[a-z0-9-]+` · .*?\b(\d+) minutes", re.MULTILINE)


# ---------------------------------------------------------------- the lessons


@dataclass(frozen=True)
class Lesson:
    """A core or a further part. `exercises` are pairs (id, title); `key` is "04", "04-lengths"."""

    key: str
    title: str
    minutes: int
    exercises: tuple[tuple[str, str], ...]

    @property
    def is_core(self) -> bool:
        return is_core(self.key)


def lessons(folder: str | Path = NOTEBOOKS) -> tuple[Lesson, ...]:
    """The lessons and their further parts in a folder, in order."""
    return tuple(
        _read_lesson(key, json.loads(path.read_bytes())) for key, path in parts(folder).items()
    )


def _read_lesson(key: str, notebook: Mapping[str, Any]) -> Lesson:
    texts = [
        _text(cell)
        for cell in lesson_cells(notebook)
        if cell["cell_type"] == "markdown" and not _is_written_by_learner(cell)
    ]
    # without the number in front of it, as in "# 04 Pooling"
    title = texts[0].splitlines()[0].removeprefix("# ").partition(" ")[2]
    stated = re.search(r"About (\d+) minutes", texts[0])
    minutes = int(stated[1]) if stated else lesson_minutes(notebook)
    exercises = tuple(
        # `capitalize` would make the other letters small
        (match["id"], match["title"][:1].upper() + match["title"][1:])
        for match in EXERCISE.finditer("\n\n".join(texts))
    )
    return Lesson(key, title, minutes, exercises)


def lesson_minutes(notebook: Mapping[str, Any]) -> int:
    """How long a notebook takes: by one rule, rounded to a multiple of five, at least five.

    notebook: a lesson as nbformat or json reads it, with its outputs.

    200 words of text a minute, without code blocks and link addresses; half a minute for a code
    cell and, unless it is folded, a minute for 1,050 characters of it without blanks; a minute for
    a picture, for a quiz and for each question at the end; an exercise or a completion at the
    minutes stated above it, its code included. Pictures for the lecture do not count.
    """
    minutes = 0.0
    for cell in lesson_cells(notebook):
        if cell["cell_type"] == "markdown" and not _is_written_by_learner(cell):
            minutes += _reading_minutes(cell)
        elif cell["cell_type"] == "code":
            minutes += _running_minutes(cell)
    return max(5, 5 * int(minutes / 5 + 0.5))


def _reading_minutes(cell: Mapping[str, Any]) -> float:
    text, cell_id = _text(cell), cell.get("id", "")
    questions = (
        text.count("<details>") if cell_id in OPEN_QUESTIONS else int(cell_id.startswith("quiz-"))
    )
    return (
        words_in(text) / WORDS_A_MINUTE
        + questions * QUESTION_MINUTES
        + sum(map(int, STATED.findall(text)))
    )


def _running_minutes(cell: Mapping[str, Any]) -> float:
    """The minutes of a code cell; none where the learner writes it: they are stated above it."""
    if "nbgrader" in cell["metadata"] or "completion" in cell["metadata"].get("tags", []):
        return 0
    is_folded = cell["metadata"].get("jupyter", {}).get("source_hidden")
    minutes = CELL_MINUTES + (PICTURE_MINUTES if _is_picture(cell) else 0)
    if not is_folded:
        minutes += len("".join(_text(cell).split())) / CODE_CHARACTERS_A_MINUTE
    return minutes


def _is_picture(cell: Mapping[str, Any]) -> bool:
    # a picture is an image of matplotlib or a drawing in HTML
    shown = [output.get("data", {}) for output in cell.get("outputs", [])]
    return any(
        "image/png" in data or "<svg" in "".join(data.get("text/html", "")) for data in shown
    )


def _text(cell: Mapping[str, Any]) -> str:
    return "".join(cell["source"])


def _is_written_by_learner(cell: Mapping[str, Any]) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def words_in(markdown: str) -> int:
    """The number of words to read: pieces between blanks that hold a letter, a digit or a "_"."""
    # without code blocks
    text = re.sub(r"^ *(```|~~~).*?^ *\1", " ", markdown, flags=re.MULTILINE | re.DOTALL)
    # without the addresses of links, then without tags and addresses that are written out
    text = re.sub(r"\]\([^)]*\)", "] ", text)
    text = re.sub(r"<[^<>]*>|https?://\S+", " ", text)
    return len(re.findall(r"\S*\w\S*", text))


# ---------------------------------------------------------------- progress


def in_hours(number: int) -> str:
    """Such as "7 hours"."""
    return f"{number} hour{'' if number == 1 else 's'}"


def progress() -> Overview:
    """Show your progress: each lesson, which exercises you passed, and what comes next.

    Displays as a table in a notebook and prints as text. If the folder is gone or its record cannot
    be read, it says so, and that nothing is passed.
    """
    try:
        return overview(current())
    except OSError as error:
        return replace(
            overview(None), notice=f"What you passed cannot be read: {error.strerror or error}"
        )


def overview(folder: str | Path | None) -> Overview:
    """The state of a workspace.

    Every exercise is open for None or a folder that is not a workspace.

    Raises OSError if the record cannot be read.
    """
    if folder is None or not (Path(folder) / RECORD).is_file():
        return Overview(lessons(), frozenset())
    from ..ideas.sheets import calibration, due_today  # late: its imports take half a second

    try:
        items, writing, schedule = due_today(Path(folder))
    except ScheduleProblem as problem:
        items, writing, schedule = [], [], Schedule(notice=str(problem))
    return Overview(
        lessons(),
        frozenset(passed(folder)),
        due=len(items) + len(writing),
        sure=calibration(schedule),
        notice=schedule.notice,
    )


@dataclass(frozen=True)
class Overview:
    """What `progress` returns. `lessons`: all lessons of the course; `passed`: ids of exercises.

    due: how many things `course review` would ask. sure: {how sure: (answers, right ones)}. notice:
    a sentence about the file of the review, if something was wrong with it; else empty.
    """

    lessons: tuple[Lesson, ...]
    passed: frozenset[str]
    due: int = 0
    sure: dict[str, tuple[int, int]] = field(default_factory=dict)
    notice: str = ""

    @property
    def next(self) -> tuple[Lesson, str] | None:
        """(lesson, id of its first open exercise), cores first; None if nothing is open."""
        # False sorts before True
        for lesson in sorted(self.lessons, key=lambda lesson: not lesson.is_core):
            for exercise, _ in lesson.exercises:
                if exercise not in self.passed:
                    return lesson, exercise
        return None

    def done(self, lesson: Lesson) -> int:
        """How many exercises of a lesson are passed."""
        return sum(exercise in self.passed for exercise, _ in lesson.exercises)

    def count(self, lesson: Lesson) -> str:
        """Such as "2 of 4" for a lesson; empty for one without exercises."""
        return f"{self.done(lesson)} of {len(lesson.exercises)}" if lesson.exercises else ""

    @property
    def hours(self) -> dict[str, int]:
        """{route: its hours, rounded}: the only place that computes them.

        READMEs, lessons and the book follow.
        """
        return {name: int(self.on(name).minutes / 60 + 0.5) for name in ROUTES}

    @property
    def minutes(self) -> int:
        """The minutes of all lessons."""
        return sum(lesson.minutes for lesson in self.lessons)

    def on(self, route: str) -> Overview:
        """The same for the lessons of one of ROUTES. Raises KeyError for another name."""
        if route == "everything":
            return self
        cores = [lesson for lesson in self.lessons if lesson.is_core]
        # None in ROUTES stands for all cores
        wanted = ROUTES[route] or [lesson.key for lesson in cores]
        return replace(self, lessons=tuple(lesson for lesson in cores if lesson.key in wanted))

    @property
    def totals(self) -> str:
        """What is passed of all, and the hours of the routes, in sentences."""
        cores = [lesson for lesson in self.lessons if lesson.is_core and lesson.exercises]
        further = [lesson for lesson in self.lessons if not lesson.is_core]
        finished = sum(self.done(lesson) == len(lesson.exercises) for lesson in cores)
        text = (
            f"{self._passed_of(cores)} exercises of the cores passed, {finished} of {len(cores)} "
            "cores finished"
        )
        text += f"; {self._passed_of(further)} exercises of further parts." if further else "."
        hours = self.hours
        return (
            f"{text} The cores take about {in_hours(hours['the course'])}, the one-day route "
            f"{hours['one day']}, everything {hours['everything']}."
        )

    def _passed_of(self, lessons: Sequence[Lesson]) -> str:
        # such as "12 of 40": exercises that are passed, and all
        return (
            f"{sum(map(self.done, lessons))} of {sum(len(lesson.exercises) for lesson in lessons)}"
        )

    @property
    def advice(self) -> str:
        """What comes next, in a sentence."""
        if self.next is None:
            return "next: nothing is open; every exercise is passed."
        lesson, exercise = self.next
        where = f"lesson {lesson.key}" if lesson.is_core else "the further part"
        return f"next: {where}, {lesson.title} (exercise {exercise})"

    @property
    def remembered(self) -> list[str]:
        """Lines about the review of today, and about how sure this learner is."""
        lines = []
        if self.due:
            lines.append(
                f"to review today: {self.due} (`course review`, or review() in a notebook)"
            )
        if self.sure:
            shares = "; ".join(
                f"{name}: {right} of {asked} right" for name, (asked, right) in self.sure.items()
            )
            lines.append(f"how sure you were: {shares}")
        if self.notice:
            lines.append(self.notice)
        return lines

    def plan(self) -> str:
        """The lessons with their minutes and what is passed, and what comes next, in lines."""
        return filled(
            "plan.txt.j2",
            picture=self,
            title_width=max((len(lesson.title) for lesson in self.lessons), default=0),
            squares_width=max((len(lesson.exercises) for lesson in self.lessons), default=0),
        )

    def __repr__(self) -> str:
        return f"{self.totals}\n\n{self.plan()}"

    def _repr_html_(self) -> str:
        return filled("overview.html.j2", picture=self)
