"""Exercises: one file per lesson defines each task, its checks and its hints.

`check` runs a learner's function on fresh inputs and judges the results; `hint` and `solution` give help.
"""

import difflib
import inspect
import json
import pkgutil
from importlib import import_module

from .._support.notebooks import BEGIN, END, NOTEBOOKS, parts
from ..diary.passed import remember
from ..diary.schedule import checked
from ..diary.session import hints_shown, shows
from .judging import examine
from .model import Completion, Exercise, Note, Report

# numbers of the lessons that have exercises: "00", "01", ...
LESSONS = tuple(sorted(name[-2:] for _, name, _ in pkgutil.iter_modules(__path__) if name.startswith("lesson_")))


def exercises_of(lessons):
    """The exercises of some lessons, such as ("04", "05"), by id, in the order in which their modules define them."""
    return {name: one for name, one in _defined(lessons).items() if not isinstance(one, Completion)}


def completions_of(lessons):
    """The completions of some lessons by id."""
    return {name: one for name, one in _defined(lessons).items() if isinstance(one, Completion)}


def _defined(lessons):
    things = (thing for lesson in lessons for thing in vars(import_module(f"{__name__}.lesson_{lesson}")).values())
    return {thing.id: thing for thing in things if isinstance(thing, Exercise)}


def all_exercises():
    """All exercises of the course by id, in reading order."""
    return exercises_of(LESSONS)


def find(exercise_id):
    """The exercise with this id. Raises ValueError, suggesting the nearest id, if there is none."""
    lesson = str(exercise_id)[:2]
    if lesson in LESSONS and exercise_id in (defined := _defined([lesson])):
        return defined[exercise_id]
    exercises = all_exercises()
    near = difflib.get_close_matches(str(exercise_id), exercises, n=1, cutoff=0.3)
    advice = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"exercise_id {exercise_id!r} is not an exercise of this course{advice}")


def check(exercise_id, answer, seed=None):
    """Judge an answer by what it does on newly drawn inputs.

    exercise_id: such as "04-mean-pool".
    answer: the function you wrote (not the result of calling it).
    seed: an integer that repeats the inputs of an earlier check; a failed report shows its seed.

    Returns a Report: `.status` is "passed", "failed" or "not attempted"; `.passed`; `.messages` (one sentence per
    problem, the likely mistake first). It prints as text; a notebook shows it at once, wherever in a cell the check
    stands. Raises ValueError for an unknown id. In a workspace, passed exercises are recorded (see
    `course_utils.progress`).
    """
    exercise = find(exercise_id)
    report = examine(exercise, answer, seed)
    if not isinstance(exercise, Completion):
        if report.passed:
            remember(report.exercise_id)
        named = next((one.name for one in exercise.mistakes if one.card and one.message in report.mistakes), "")
        if named and is_the_lessons(answer, exercise.lesson):
            named = ""
        checked(report.exercise_id, report.passed, named, hints_shown.get(exercise_id, 0))
    report.show()
    return report


def hint(exercise_id):
    """The next hint for an exercise or a completion, each a little more direct than the last."""
    exercise = find(exercise_id)
    shown = hints_shown.get(exercise_id, 0)
    hints_shown[exercise_id] = min(shown + 1, len(exercise.hints))
    if shown == len(exercise.hints):
        return Note(f"There are no more hints.{_way_to(exercise_id)}")
    return Note(f"**Hint {shown + 1} of {len(exercise.hints)}.** {exercise.hints[shown]}")


def _way_to(exercise_id):
    return f" Run `solution({exercise_id!r})` to see one way to write it." if shows["solutions"] else ""


def solution(exercise_id):
    """One way to write the answer, read from the lesson's source notebook. Not in copies that are graded."""
    if not shows["solutions"]:
        return Note("This copy is graded, so it shows no answers. `hint` still helps.")
    return Note(f"One way to write it; yours may well differ.\n\n```python\n{written_solution(find(exercise_id))}\n```")


def written_solution(exercise, folder=NOTEBOOKS):
    """The text between the solution marks in the lesson's source notebook, with the lines around it.

    Raises FileNotFoundError with a one-sentence message if the source notebooks are not beside the package.
    """
    for cell in _cells_of(exercise.lesson, folder):
        is_completion = "completion" in cell["metadata"].get("tags", []) and exercise.id in "".join(cell["source"])
        if is_completion or cell["metadata"].get("nbgrader", {}).get("grade_id") == exercise.id:
            lines = "".join(cell["source"]).splitlines()
            return "\n".join(line for line in lines if line.strip() not in (BEGIN, END))
    raise FileNotFoundError(
        f"The source notebook of lesson {exercise.lesson} is not in {folder}, so its solutions cannot be shown. "
        "Install the course again."
    )


def is_the_lessons(answer, lesson, folder=NOTEBOOKS):
    """Whether a cell of the lesson defines this very function: its mistake, shown on purpose, is not the learner's."""
    try:
        text = inspect.getsource(answer).strip()
    except (OSError, TypeError):  # made by no source that is kept
        return False
    return any(text in "".join(cell["source"]) for cell in _cells_of(lesson, folder))


def _cells_of(lesson, folder):
    for path in [path for key, path in parts(folder).items() if key[:2] == lesson]:
        yield from json.loads(path.read_text(encoding="utf-8"))["cells"]


__all__ = ["Note", "Report", "all_exercises", "check", "find", "hint", "solution"]
