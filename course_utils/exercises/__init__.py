"""Exercises: for each lesson, one file defines the tasks and their checks, another has their words.

`check` runs a learner's function on fresh inputs and judges the results; `hint` and `solution` give
help.
"""

import difflib
import inspect
import json
import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from .._support.notebooks import BEGIN, END, NOTEBOOKS, parts
from ..diary.passed import remember
from ..diary.schedule import checked
from ..diary.session import hints_shown, shows
from .judging import examine
from .model import Completion, Exercise
from .report import Note, Report

# numbers of the lessons that have exercises: "00", "01", ...
LESSONS = tuple(
    sorted(name[-2:] for _, name, _ in pkgutil.iter_modules(__path__) if name.startswith("lesson_"))
)


def exercises_of(lessons: Iterable[str]) -> dict[str, Exercise]:
    """The exercises of some lessons, such as ("04", "05"), by id, in the order given."""
    return {
        key: task for key, task in tasks_of(lessons).items() if not isinstance(task, Completion)
    }


def tasks_of(lessons: Iterable[str]) -> dict[str, Exercise]:
    """The exercises and completions of some lessons by id, as in `exercises_of`."""
    tasks: dict[str, Exercise] = {}
    for lesson in lessons:
        defined = vars(import_module(f"{__name__}.lesson_{lesson}")).values()
        tasks |= {task.id: task for task in defined if isinstance(task, Exercise)}
    return tasks


def all_exercises() -> dict[str, Exercise]:
    """All exercises of the course by id, in reading order."""
    return exercises_of(LESSONS)


def find(exercise_id: object) -> Exercise:
    """The exercise or completion with this id. Raises ValueError, suggesting the nearest id."""
    # an id begins with the number of its lesson, so only that module is imported
    tasks = tasks_of({str(exercise_id)[:2]} & {*LESSONS})
    if str(exercise_id) in tasks:
        return tasks[str(exercise_id)]
    # half of difflib's default cutoff: any id that is alike helps more than none
    near = difflib.get_close_matches(str(exercise_id), tasks_of(LESSONS), n=1, cutoff=0.3)
    advice = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"exercise_id {exercise_id!r} is not an exercise of this course{advice}")


def check(exercise_id: str, answer: Any, seed: int | None = None) -> Report:
    """Judge an answer by what it does on newly drawn inputs.

    exercise_id: such as "04-mean-pool". answer: the function you wrote (not the result of calling
    it). seed: an integer that repeats the inputs of an earlier check; a failed report shows its
    seed.

    Returns a Report: `.status` is "passed", "failed" or "not attempted"; `.passed`; `.messages`
    (one sentence per problem, the likely mistake first). It prints as text; a notebook shows it at
    once, wherever in a cell the check stands. Raises ValueError for an unknown id. In a workspace,
    passed exercises are recorded (see `course_utils.progress`); a printed sentence says so if they
    cannot be.
    """
    exercise = find(exercise_id)
    report = examine(exercise, answer, seed)
    notice = ""
    if not isinstance(exercise, Completion):
        if report.passed:
            notice = remember(exercise.id)
        cards = [
            mistake.name
            for mistake in exercise.mistakes
            if mistake.card and mistake.message in report.mistakes
        ]
        card = cards[0] if cards and not is_from_the_lesson(answer, exercise.lesson) else ""
        hints = hints_shown.get(exercise_id, 0)
        about_review = checked(exercise.id, report.passed, card, hints)
        notice = notice or about_review  # of two, the cause is mostly the same
    report.show()
    if notice:
        print(notice)
    return report


def hint(exercise_id: str) -> Note:
    """The next hint for an exercise or a completion, each a little more direct than the last.

    After the last hint it says that there are no more. Raises ValueError for an unknown id.
    """
    exercise = find(exercise_id)
    shown = hints_shown.get(exercise_id, 0)
    hints_shown[exercise_id] = min(shown + 1, len(exercise.hints))
    if shown == len(exercise.hints):
        return Note(
            f"There are no more hints. Run `solution({exercise_id!r})` to see one way to write it."
            if shows["solutions"]
            else "There are no more hints."
        )
    return Note(f"**Hint {shown + 1} of {len(exercise.hints)}.** {exercise.hints[shown]}")


def solution(exercise_id: str) -> Note:
    """One way to write the answer, read from the lesson's source notebook.

    In copies that are graded, a Note that says so, for any id. In others, raises ValueError for an
    unknown id, FileNotFoundError as `written_solution` does.
    """
    if not shows["solutions"]:
        return Note("This copy is graded, so it shows no answers. `hint` still helps.")
    code = written_solution(find(exercise_id))
    return Note(f"One way to write it; yours may well differ.\n\n```python\n{code}\n```")


def written_solution(exercise: Exercise, folder: str | Path = NOTEBOOKS) -> str:
    """The cell of the lesson's source notebook that answers an exercise, without the marks.

    Raises FileNotFoundError, with what to do, if the source notebooks are not in `folder`.
    """
    for cell in _cells_of(exercise.lesson, folder):
        source, metadata = "".join(cell["source"]), cell["metadata"]
        is_completion = "completion" in metadata.get("tags", []) and exercise.id in source
        if is_completion or metadata.get("nbgrader", {}).get("grade_id") == exercise.id:
            return "\n".join(
                line for line in source.splitlines() if line.strip() not in (BEGIN, END)
            )
    raise FileNotFoundError(
        f"The source notebook of lesson {exercise.lesson} is not in {folder}, so its solutions "
        "cannot be shown. Install the course again."
    )


def is_from_the_lesson(answer: Any, lesson: str) -> bool:
    """Whether a cell of the lesson defines this very function: its mistake is shown on purpose."""
    try:
        text = inspect.getsource(answer).strip()
    except (OSError, TypeError):  # there is no source, as of a built-in function
        return False
    return any(text in "".join(cell["source"]) for cell in _cells_of(lesson, NOTEBOOKS))


# The cells of a lesson's core and further parts.
def _cells_of(lesson: str, folder: str | Path) -> Iterator[dict[str, Any]]:
    for key, path in parts(folder).items():
        if key[:2] == lesson:
            yield from json.loads(path.read_text(encoding="utf-8"))["cells"]
