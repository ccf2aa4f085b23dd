"""Asking: `place`, `review` and `predictions`, as a widget in JupyterLab.

A session holds things to ask, in order. It gives the next one as a sheet, which the widget and the
commands in a terminal show, and takes the answer. Nothing is judged in these views.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from markdown_it import MarkdownIt

from ..._support.notebooks import as_key, parts
from ...diary.passed import passed
from ...diary.schedule import HARD, SURE, ScheduleProblem, record
from ...diary.workspace import current_workspace
from ...exercises import find
from ...exercises.report import Note
from ..pages import filled
from .route import BY_DOING, placing, route, route_by_doing
from .sheets import PARTLY, Sheet, due_today, predictions_of, sheet_of

HERE = Path(__file__).parent
# the explorers' styles, with what the questions add
STYLES = (HERE.parents[1] / "explore" / "view.css", HERE / "asking.css")
A_DAY = 12  # things asked in a review: five minutes


class Session:
    """Things to ask in order, by their ids, see `sheets`.

    left: the ids still to ask.
    count: how many there were.
    answered: (id, whether right, how sure) of those that have been asked.
    folder: the workspace where answers are recorded; None to record none.
    shows_feedback: whether `answer` says what was right.
    """

    shows_feedback = True

    def __init__(self, items: Iterable[str], folder: Path | None = None) -> None:
        self.left = list(items)
        self.count = len(self.left)
        self.answered: list[tuple[str, bool, int | None]] = []
        self.folder = folder

    def sheet(self) -> Sheet | None:
        """The next thing to ask, or None at the end."""
        return sheet_of(self.left[0]) if self.left else None

    def answer(self, number: int, sure: int | None = None) -> str:
        """Take an answer to the present sheet, record it, and go on to the next.

        number: which option, counted from 0. sure: 0 to 2, where that is asked.

        Returns the feedback in Markdown; "" in a session without. Raises IndexError if nothing is
        left to ask or there are not so many options, and ScheduleProblem and OSError from
        recording: the sheet is then asked again.
        """
        sheet = sheet_of(self.left[0])
        option = sheet.options[number]
        if self.folder is not None:
            # half remembered is right, but comes again soon; None: the rating follows from the rest
            rating = HARD if option is PARTLY else None
            record(self.folder, sheet.item, option.right, sure, rating)
        self.left.pop(0)  # only once the answer is recorded
        self.answered.append((sheet.item, option.right, sure))
        return sheet.feedback(option) if self.shows_feedback else ""

    def end(self) -> str:
        """What is said at the end, in Markdown."""
        return f"{sum(right for _, right, _ in self.answered)} of {len(self.answered)} right."


class Placing(Session):
    """`place`: no feedback, and a route at the end.

    An idea counts as known if its question was answered right and not by a guess. Nothing is
    recorded.
    """

    shows_feedback = False

    def __init__(self) -> None:
        super().__init__(asked.id for asked in placing())

    def end(self) -> str:
        # an id is "IDEA.before"; 0 is a guess, see SURE
        known = {
            item.partition(".")[0] for item, right, sure in self.answered if right and sure != 0
        }
        return filled("route.md.j2", route=route(known))


class Reviewing(Session):
    """`review`: what is due today, at most A_DAY things, and at the end an exercise to write again.

    writing: the id of that exercise in a list, or none. waiting: how many more things are due.
    notice: see `Schedule`. Raises ScheduleProblem, OSError.
    """

    def __init__(self, folder: Path, now: datetime | None = None) -> None:
        items, writing, schedule = due_today(folder, now)
        super().__init__(items[:A_DAY], folder)
        self.writing = writing[:1]
        self.waiting = len(items) - self.count
        self.notice = schedule.notice

    def end(self) -> str:
        lines = [self.notice] if self.notice else []
        lines.append(super().end() if self.answered else "Nothing is left to ask today.")
        if self.waiting:
            lines.append(f"{self.waiting} more can wait until tomorrow, or run this again.")
        lines += [
            f"To write again, from an empty cell: {find(exercise_id).title} "
            f"(lesson {exercise_id[:2]}), then `check({exercise_id!r}, your_function)`."
            for exercise_id in self.writing
        ]
        return "\n\n".join(lines)


# ---------------------------------------------------------------- what learners call


def place(by: str = "questions") -> Asked | Note:
    """Find out where to begin: twenty questions in ten minutes, and a route at the end.

    by: "questions"; or "doing", for the route that follows from one exercise of each core from 01
    to 10, which you write from an empty cell and `check`.

    Returns what JupyterLab displays. Raises ValueError for another word.
    """
    if by not in ("questions", "doing"):
        raise ValueError(f'by must be "questions" or "doing", not {by!r}')
    return Asked(Placing()) if by == "questions" else Note(by_doing(current_workspace()))


def by_doing(folder: Path | None) -> str:
    """What `place(by="doing")` says, in Markdown.

    folder: the workspace; without one, nothing counts as done.
    """
    done = passed(folder) if folder else set()
    return filled(
        "by_doing.md.j2",
        exercises=list(map(find, BY_DOING.values())),
        done=done,
        route=route_by_doing(done),
    )


def review() -> Asked | Note:
    """Ask what is due today: about five minutes.

    In a workspace; what is due is also in `progress()`.

    Returns what JupyterLab displays: a sentence if there is no workspace, or if its record of
    answers cannot be used. Raises OSError.
    """
    folder = current_workspace()
    if folder is None:
        return Note(
            "There is nothing to review here: a review needs a folder with your lessons, as "
            "`course lab` makes it."
        )
    try:
        return Asked(Reviewing(folder))
    except ScheduleProblem as problem:
        return Note(str(problem))


def predictions(lesson: str | int) -> Asked:
    """Answer the predictions of a lesson, such as "02" or "02-windows", and say how sure you are.

    In a workspace the answers are recorded: `progress()` shows how often "sure" was right. Returns
    what JupyterLab displays. Raises ValueError for a part of the course without predictions.
    """
    key = as_key(str(lesson))
    if key not in parts() or not predictions_of(key):
        raise ValueError(f"lesson {lesson!r} has no predictions in this course")
    return Asked(Session(predictions_of(key), current_workspace()))


# ---------------------------------------------------------------- the view


def view_of(session: Session, last: str = "") -> dict[str, Any]:
    """What the widget's view shows, asking.js: the next sheet, or the end.

    last: what is said about the last answer, in Markdown.

    Returns "done" and "of", how many things are answered and how many there are, and "last" as
    HTML. At the end, "end" as HTML; else what is in the sheet: "item" and "about", as HTML "ask",
    "options" and "back", the "kind", "recall" or "choice", and "sures", the words for how sure one
    is, or none where that is not asked.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    state = {"done": len(session.answered), "of": session.count, "last": markdown.render(last)}
    sheet = session.sheet()
    if sheet is None:
        return {**state, "end": markdown.render(session.end())}
    return {
        **state,
        "item": sheet.item,
        "kind": "recall" if sheet.back else "choice",
        "ask": markdown.render(sheet.ask),
        "options": [markdown.renderInline(option.text) for option in sheet.options],
        "back": markdown.render(sheet.back),
        "about": sheet.about,
        "sures": [] if sheet.back else list(SURE),
    }


class Asked(anywidget.AnyWidget):
    """A session, displayed as a widget where there is a kernel, as its first question elsewhere.

    It speaks with asking.js through two dicts. `shown`: see `view_of`, with "problem" if the last
    answer could not be recorded. `given`, which the view sets: "item", the id of the sheet, and
    "option" and "sure", the arguments of `Session.answer`.
    """

    _esm = HERE / "asking.js"
    _css = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    shown = traitlets.Dict().tag(sync=True)
    given = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Session) -> None:
        super().__init__(shown=view_of(session))
        self.session = session
        self.observe(self._answer, "given")

    def __repr__(self) -> str:
        sheet = self.session.sheet()
        if sheet is None:
            return plain(self.session.end())
        options = "\n".join(
            f"  {letter}. {option.text}" for letter, option in zip("ABCD", sheet.options)
        )
        return (
            f"Question {len(self.session.answered) + 1} of {self.session.count}. "
            f"{sheet.ask}\n{options}"
        )

    def _answer(self, change: dict[str, Any]) -> None:
        given = change["new"]
        if not self.session.left or given.get("item") != self.session.left[0]:
            return  # an answer from another window, or a second click
        try:
            feedback = self.session.answer(given["option"], given.get("sure"))
            self.shown = view_of(self.session, feedback)
        except (ScheduleProblem, OSError) as problem:
            self.shown = {
                **view_of(self.session),
                "problem": f"This answer could not be recorded: {problem}",
            }


def plain(markdown: str) -> str:
    """Markdown for a terminal, without the signs of strong emphasis, code and quotations."""
    return re.sub(r"\*\*|`|^> ", "", markdown, flags=re.MULTILINE)
