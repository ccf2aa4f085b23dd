"""What marking produces, stated here and nowhere else: marks, results of hand-ins, and records of
learners.

A `Result` is what one hand-in gets, with a `Mark` for each exercise. It travels between processes
and is stored as JSON: `dataclasses.asdict` writes it, `result_from` reads it. A `LearnerRecord`
combines all hand-ins of a learner with the marks given by hand; tables and pages are made from
records.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

# the statuses of results, learners and marks that other modules name
NOTHING, NOT_MARKED, UNREADABLE = "nothing handed in", "not marked", "unreadable"
MISSING_EXERCISE, OK = "missing exercise", "ok"
PASSED, FAILED, NOT_ATTEMPTED, MISSING = "passed", "failed", "not attempted", "missing"
ANSWERED, UNANSWERED = (PASSED, FAILED), (NOT_ATTEMPTED, MISSING)  # statuses of marks
SAME_FILE = "the same file as "  # begins a note
LEFT_OUT = "left out: "  # begins a note about a file that may be the learner's
# the statuses of a mark: the sign and the words that pages show
MARK_STATUSES = {
    PASSED: ("✓", "passed"),
    FAILED: ("✗", "not there yet"),
    NOT_ATTEMPTED: ("○", "not attempted"),
    MISSING: ("—", "missing"),
}
# the statuses of a result or a learner, and the states of marks, in plain words for the learner; of
# several, the first counts, see `gravest`
STATUSES = {
    NOTHING: "Nothing was handed in under this name.",
    NOT_MARKED: (
        "Your submission is not marked yet because the grader failed or the file changed meanwhile. "
        "This is not your fault and costs no points."
    ),
    UNREADABLE: "Your submission could not be read.",
    "crashed": "Some of your code ended the Python process that ran it.",
    "memory": "Some of your code asked for more memory than a submission may use, and was stopped.",
    "timeout": "Some of your code did not finish in time and was stopped.",
    "unreadable cell": "The cell of at least one exercise could not be read.",
    MISSING_EXERCISE: "At least one exercise has no answer to mark.",
    OK: "",
}


class GradeError(RuntimeError):
    """A class cannot be marked. The message is one sentence."""


@dataclass(frozen=True)
class Mark:
    """What one exercise of one hand-in gets.

    status: one of MARK_STATUSES; in a record also NOT_MARKED, whose points are None.
    points, of: those that the answer gets, and the most that it can get.
    state: one of STATUSES, which says how running the answer ended; `reason` says why, unless it is
    "ok".
    messages: what the check says. discreet: the same without inputs and expected values. mistakes:
    the messages of known mistakes among these.
    seed: of the inputs, None if the answer was not run on any.
    """

    title: str
    status: str
    points: float | None
    of: float
    state: str = OK
    reason: str = ""
    messages: list[str] = field(default_factory=list)
    discreet: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    seed: int | None = None


@dataclass(frozen=True)
class Result:
    """What one hand-in gets.

    status: one of STATUSES; `reason` says why, unless it is "ok".
    exercises: a mark for each exercise of `lessons`, by its id.
    texts: what the learner wrote, by exercise.
    problems: a sentence for each cell that could not be read.
    """

    status: str
    reason: str = ""
    lessons: list[str] = field(default_factory=list)
    exercises: dict[str, Mark] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


@dataclass
class HandMarkedCell:
    """A cell that a person marks, or a row of its rubric.

    of: the most points.
    text: what the learner wrote, "" if nothing.
    rubric: the most points for each row, empty without a rubric.
    points: None until marked.
    comment: the teacher's.
    """

    of: float
    text: str = ""
    rubric: dict[str, float] = field(default_factory=dict)
    points: float | None = None
    comment: str = ""


@dataclass(frozen=True)
class Remark:
    """What a teacher writes about an exercise.

    computed: the points that the grader gave, None if the exercise was not marked.
    points: those that the teacher gives in their place, None if the computed ones count.
    """

    computed: float | None
    comment: str
    points: float | None = None


@dataclass(frozen=True)
class Received:
    """When the platform received a hand-in, and what that costs.

    lesson: "" if it is about everything.
    when: date and time as text, "" if they are not known.
    days: how many days late, where a day that has begun counts as one.
    deducted: the points that this costs.
    """

    lesson: str = ""
    when: str = ""
    days: int = 0
    deducted: float = 0

    def in_words(self) -> str:
        """One sentence for the feedback page, which begins with the lesson if there is one."""
        if not self.when:
            text = "it is not known when this was received, so nothing is deducted."
        elif not self.days:
            text = f"received {self.when}, in time."
        else:
            cost = f": {counted(self.deducted, 'point')} deducted" if self.deducted else ""
            text = f"received {self.when}, {counted(self.days, 'day')} late{cost}."
        return f"Lesson {self.lesson}: {text}" if self.lesson else text[0].upper() + text[1:]


@dataclass
class LearnerRecord:
    """What a learner has: the latest mark of every exercise that counts, and the cells marked by
    hand.

    A mark holds the points that count; if they were given in place of the computed ones, its remark
    has these.

    learner: the key, an id or an e-mail if there is a roster.
    page: the file name of the feedback page.
    listed: whether the roster has this learner.
    status: one of STATUSES; `reason` says why, unless it is "ok".
    notes: what the teacher should know, such as files that do not count.
    exercises, by_hand, remarks, texts: by the id of the exercise or cell.
    platform, number: the learning platform, and the learner's number there, if the hand-ins come
    from one.
    login, sis: what the roster has beside Canvas's id, if it is Canvas's gradebook.
    files, problems: of the hand-ins that count. handed_in: all files of the learner.
    points, of: all points, and the most that are possible. `points` is None if `status` is
    NOT_MARKED, which is not the same as 0.
    waiting: the most points for texts that nobody has marked yet; in `points` they count 0.
    due: the deadline and the rule about late hand-ins in words, "" without a deadline.
    received: one for each lesson, or one about everything; empty without a deadline.
    """

    learner: str
    page: str
    name: str = ""
    email: str = ""
    platform: str = ""
    number: str = ""
    login: str = ""
    sis: str = ""
    listed: bool = False
    status: str = OK
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    exercises: dict[str, Mark] = field(default_factory=dict)
    by_hand: dict[str, HandMarkedCell] = field(default_factory=dict)
    remarks: dict[str, Remark] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    handed_in: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    points: float | None = None
    of: float = 0
    waiting: float = 0
    due: str = ""
    received: list[Received] = field(default_factory=list)

    @property
    def given(self) -> set[str]:
        """The exercises whose points a teacher gave in place of the computed ones."""
        return {exercise for exercise, remark in self.remarks.items() if remark.points is not None}

    @property
    def has_left_out(self) -> bool:
        """Whether a file that may be this learner's does not count."""
        return any(note.startswith(LEFT_OUT) for note in self.notes)

    @property
    def late_days(self) -> int | None:
        """The sum of late days, None if no date is known."""
        known = [part.days for part in self.received if part.when]
        return sum(known) if known else None

    @property
    def deducted(self) -> float | None:
        """The points that late days cost, None if `points` is None."""
        cost = round(sum(part.deducted for part in self.received), 2)  # as `late` rounds each
        return None if self.points is None else whole(cost)

    def add_up(self) -> None:
        """Set `of`, `waiting` and `points` from marks, hand-marked cells and late days."""
        cells = self.by_hand.values()
        most = [mark.of for mark in self.exercises.values()] + [cell.of for cell in cells]
        self.of = whole(sum(most))
        self.waiting = whole(sum(cell.of for cell in cells if cell.points is None and cell.text))
        self.points = None
        if self.status != NOT_MARKED:
            points = sum(mark.points or 0 for mark in self.exercises.values())
            self.points = whole(points + sum(cell.points or 0 for cell in cells))
            if self.deducted:  # known now that `points` is set
                self.points = whole(max(0, self.points - self.deducted))


def whole(points: float) -> float:
    """A number of points without the last digits of a sum (1.1 + 2.2); as an int, if it is one."""
    points = round(points, 6)
    return int(points) if points == int(points) else points


def counted(number: float, noun: str) -> str:
    """A number with a noun: "1 day", "2 days"."""
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def gravest(states: Collection[str]) -> str:
    """The one of several states that counts, the first in STATUSES; "ok" if there are none.

    Raises ValueError for a state that is not there.
    """
    return min(states, key=list(STATUSES).index, default=OK)


def result_from(data: dict[str, Any]) -> Result:
    """A result from its JSON form.

    Raises ValueError for an unknown key, and if "exercises" or a field without a default is missing.
    The types of the values are not checked.
    """
    try:
        return replace(
            Result(**data),
            exercises={exercise: Mark(**mark) for exercise, mark in data["exercises"].items()},
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"it is not a result: {error}") from None
