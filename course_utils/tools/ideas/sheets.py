"""What is asked: sheets, by the ids that a learner's schedule holds, and which are due today.

Such an id is called an item. It names a question of the inventory ("02-mask.before"), a prediction
of a lesson ("02-quiz-one"), a question to answer from memory ("02-recall-1"), or a known mistake of
an exercise ("02-pad-batch ragged"). The schedule also holds exercises to write again
("02-pad-batch"), which have no sheet.
"""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..._support.notebooks import cores, exercise_parts, parts
from ...diary.passed import passed
from ...diary.schedule import SURE, Schedule, read_schedule
from ...exercises import find
from .inventory import Option, inventory, question, read_prediction

# things asked for the first time: a core brings seven
NEW_A_DAY = 8
# counts as right, but is scheduled as hard: see `asking.Session.answer`
PARTLY = Option("I had some of it", "", right=True)
RECALLED = (
    Option("I had all of it", "", right=True),
    PARTLY,
    Option("I had it wrong, or nothing", ""),
)
# a numbered question in bold, and its answer in a fold below
RECALL = re.compile(
    r"^\d\. \*\*(.+?)\*\*\n+<details><summary>Answer</summary>\n\n(.+?)\n\n</details>", re.M | re.S
)


@dataclass(frozen=True)
class Sheet:
    """One thing to ask.

    item: its id, see the module.
    ask, back: Markdown, as the options' texts are.
    about: where it comes from, as plain text.

    Without a `back`, a learner chooses the right option. Where there is one, they recall the
    answer, see it in the `back`, and say with one of RECALLED how much of it they had.
    """

    item: str
    ask: str
    about: str
    options: tuple[Option, ...] = RECALLED
    back: str = ""

    def feedback(self, chosen: Option) -> str:
        """What is said about the chosen option, in Markdown; "" about what was recalled."""
        if self.back:
            return ""
        if chosen.right:
            return f"**Right.** {chosen.why}"
        right = next(option for option in self.options if option.right)
        return f"**Not this one.** {chosen.why}\n\nRight is: {right.text} {right.why}"


def sheet_of(item: str) -> Sheet:
    """The sheet of an id.

    Raises KeyError or ValueError for one that the course does not have (any more).
    """
    lesson = f"Lesson {item[:2]}"
    if "." in item:
        of_inventory = question(item)
        return Sheet(item, of_inventory.ask, lesson, of_inventory.options)
    if "-quiz-" in item:
        ask, options = predictions_of(item.partition("-quiz-")[0])[item]
        return Sheet(item, ask, f"{lesson}, a prediction", options)
    if "-recall-" in item:
        ask, back = recalled_of(item[:2])[item]
        return Sheet(item, ask, f"{lesson}, from memory", back=back)
    exercise_id, _, name = item.partition(" ")
    exercise = find(exercise_id)
    mistake = {mistake.name: mistake for mistake in exercise.mistakes}[name]
    ask = (
        f"An answer to “{exercise.title}” got this message:\n\n> {mistake.does}\n\n"
        "Why is that wrong?"
    )
    return Sheet(item, ask, f"{lesson}, a mistake you made", back=mistake.because or mistake.does)


@functools.cache
def predictions_of(part: str) -> dict[str, tuple[str, tuple[Option, ...]]]:
    """{id: (question, options)} of the predictions in a part of the course; {} if it has none.

    part: the key of a core or a further part in `parts`: "02" for ids such as "02-quiz-one".
    Raises KeyError for another.
    """
    predictions = {}
    for cell in _cells(parts()[part]):
        if cell["cell_type"] == "markdown" and cell["id"].startswith("quiz-"):
            predictions[f"{part}-{cell['id']}"] = read_prediction("".join(cell["source"]))
    return predictions


@functools.cache
def recalled_of(lesson: str) -> dict[str, tuple[str, str]]:
    """{id: (question, answer)} of the questions to answer from memory at the end of a core; {}
    if it has none.

    lesson: "02" for ids such as "02-recall-1". Raises KeyError if there is no such core.
    """
    sources = {cell["id"]: "".join(cell["source"]) for cell in _cells(cores()[lesson])}
    return {
        f"{lesson}-recall-{number}": question_and_answer
        for number, question_and_answer in enumerate(RECALL.findall(sources.get("recall", "")), 1)
    }


def _cells(path: Path) -> list[Mapping[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


# ---------------------------------------------------------------- what is due


def due_today(folder: Path, now: datetime | None = None) -> tuple[list[str], list[str], Schedule]:
    """(items to ask, ids of exercises to write again, the schedule) of a workspace.

    Items of the schedule come first, without a limit: those that have been asked before, and
    mistakes that `check` has named. Then come new ones of finished cores, as many as leave at most
    NEW_A_DAY first answers a day, to predictions and mistakes too. now: in UTC, by default the
    present; days are those of UTC.

    Raises ScheduleProblem, OSError.
    """
    schedule = read_schedule(folder)
    exercises = exercise_parts()
    due = schedule.due(now)
    to_ask = [item for item in due if item not in exercises and _is_known(item)]
    to_write = [item for item in due if item in exercises]
    candidates = [item for lesson in _finished_cores(folder) for item in material(lesson)]
    new = [item for item in candidates if item not in schedule.cards]
    # an exercise does not count: it enters the schedule when it is passed, not by being asked
    begun = _begun_on(schedule.not_before(now), schedule) - exercises.keys()
    return to_ask + new[: max(0, NEW_A_DAY - len(begun))], to_write, schedule


# the items, exercises among them, whose first answer was on this day
def _begun_on(day: datetime, schedule: Schedule) -> set[str]:
    # from the latest answer to the earliest, which so replaces the others of its item
    first_times = {
        answer["item"]: datetime.fromisoformat(answer["at"])
        for answer in reversed(schedule.answers)
    }
    return {item for item, time in first_times.items() if time.date() == day.date()}


def material(lesson: str) -> list[str]:
    """The items of a core that are asked once it is finished, in the order in which they are new.

    These are its questions to recall, then those of its ideas: the form "after" before the other,
    which `place` may have asked already. lesson: such as "02".
    """
    ideas = [idea for idea in inventory().values() if idea.lesson == lesson]
    return [
        *recalled_of(lesson),
        *(idea.after.id for idea in ideas),
        *(idea.before.id for idea in ideas),
    ]


# the cores of whose exercises all are passed, those without exercises among them
def _finished_cores(folder: Path) -> list[str]:
    done = passed(folder)
    unfinished = {part for exercise_id, part in exercise_parts().items() if exercise_id not in done}
    return [lesson for lesson in cores() if lesson not in unfinished]


def _is_known(item: str) -> bool:
    """Whether the course still has this item: an update may have dropped it."""
    try:
        sheet_of(item)
        return True
    except (KeyError, ValueError):
        return False


def calibration(schedule: Schedule) -> dict[str, tuple[int, int]]:
    """{one of SURE: (number of answers, number of right ones)} of a schedule.

    All answers count, also several to one item. What the learner has never said is left out.
    """
    counts = {}
    for step, name in enumerate(SURE):
        rights = [answer["right"] for answer in schedule.answers if answer.get("sure") == step]
        if rights:
            counts[name] = len(rights), sum(rights)
    return counts
