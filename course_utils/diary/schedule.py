"""What a learner answered, and when each thing is due again: one file in the workspace.

The schedule is FSRS, by the library py-fsrs with its default parameters, and with days as its
smallest step: an answer is due again tomorrow at the earliest. An item is what is asked: the id of
an exercise or of a question, or the id of an exercise, a space and the name of its mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.files import alone
from .records import PATIENCE, read, reason, write_over
from .workspace import current_workspace

if TYPE_CHECKING:
    from fsrs import Scheduler
    from fsrs.card import CardDict

SCHEDULE = ".schedule.json"
VERSION = 1
KEPT = 20_000  # answers; older ones are dropped, their schedule stays
AGAIN, HARD, GOOD = 1, 2, 3  # FSRS's ratings; "easy" is not used, since nobody is asked for it
SURE = ("a guess", "fairly sure", "sure")  # how sure a learner is of an answer


class ScheduleProblem(ValueError):
    """The record of answers cannot be used.

    The message says why in one sentence, and what to do.
    """


@dataclass
class Schedule:
    """What the file holds. `cards`: {item: what FSRS keeps of it}; `answers`: in order of time.

    An answer is {"at": ISO time, "item": id, "right": bool}, with "sure" (0 to 2) if the learner
    said it. `notice`: a sentence about the file, if something was wrong with it.
    """

    cards: dict[str, CardDict] = field(default_factory=dict)
    answers: list[dict[str, Any]] = field(default_factory=list)
    notice: str = ""

    @property
    def latest(self) -> datetime | None:
        """The time of the last answer, or None."""
        return max((datetime.fromisoformat(answer["at"]) for answer in self.answers), default=None)

    def due(self, now: datetime | None = None) -> list[str]:
        """The items that are due, those that have waited longest first.

        now: with its zone, by default the present. The clock may have been set back: for a
        time before the last answer, that of the last answer is taken.
        """
        now = self.not_before(now)
        times = {item: datetime.fromisoformat(card["due"]) for item, card in self.cards.items()}
        return sorted((item for item in times if times[item] <= now), key=lambda item: times[item])

    def not_before(self, now: datetime | None) -> datetime:
        """A time, by default the present, or that of the last answer if this is later."""
        now = now or datetime.now(UTC)
        return max(now, self.latest or now)


def scheduler() -> Scheduler:
    """FSRS with its default parameters, no random part, and no steps below a day."""
    from fsrs import Scheduler

    return Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


def read_schedule(folder: str | Path) -> Schedule:
    """The Schedule of a workspace; an empty one if nothing was recorded.

    Of a damaged file it holds nothing but a notice.

    Raises ScheduleProblem for a file newer than this course, OSError.
    """
    return _read(Path(folder) / SCHEDULE)


def record(
    folder: str | Path,
    item: str,
    right: bool,
    sure: int | None = None,
    rating: int | None = None,
    now: datetime | None = None,
) -> None:
    """Record an answer to an item and schedule it anew. The folder is a workspace.

    sure: 0, a guess, to 2, sure; None if it was not asked. rating: FSRS's; by default "again" for a
    wrong answer, "hard" for a right guess, "good" for any other right answer. now: as in
    `Schedule.due`.

    Raises ScheduleProblem for a file that is newer than this course, OSError.
    """
    from fsrs import Card, Rating

    if rating is None:
        rating = AGAIN
        if right:
            rating = HARD if sure == 0 else GOOD

    def change(schedule: Schedule) -> None:
        time = schedule.not_before(now)
        known = schedule.cards.get(item)
        # the item tells cards apart; without an id, Card would wait to make a unique one
        card = Card.from_dict(known) if known else Card(card_id=0, due=time)
        reviewed, _ = scheduler().review_card(card, Rating(rating), time)
        schedule.cards[item] = reviewed.to_dict()
        answer: dict[str, Any] = {"at": time.isoformat(), "item": item, "right": right}
        if sure is not None:
            answer["sure"] = sure
        schedule.answers.append(answer)

    _change(folder, change)


def begin(folder: str | Path, items: Iterable[str]) -> None:
    """Let items that are not yet known become due now. Raises as `record` does."""
    from fsrs import Card

    known = read_schedule(folder).cards
    new = [item for item in items if item not in known]

    def change(schedule: Schedule) -> None:
        time = schedule.not_before(None)
        for item in new:  # another kernel may have added it since
            schedule.cards.setdefault(item, Card(card_id=0, due=time).to_dict())

    if new:
        _change(folder, change)


def checked(exercise_id: str, report_passed: bool, mistake: str, hints: int) -> str:
    """Record in the current workspace, if there is one, what `check` has seen.

    A known mistake becomes an item that is due now, unless it is one already. An exercise that
    passes is recorded as a right answer, if it is due or was never recorded: "hard" after hints or
    while one of its mistakes is due, else "good".

    mistake: the name of a known mistake, or "". hints: how many were shown. No error here reaches
    the lesson.

    Returns a sentence for the learner if something could not be recorded, or if the file was
    damaged; else "".
    """
    try:
        folder = current_workspace()
        if folder is None or not (mistake or report_passed):
            return ""
        schedule = read_schedule(folder)
        due = schedule.due()
        if mistake:
            begin(folder, [f"{exercise_id} {mistake}"])
        elif exercise_id not in schedule.cards or exercise_id in due:
            stumbled = any(item.startswith(f"{exercise_id} ") for item in due)
            record(folder, exercise_id, True, rating=HARD if hints or stumbled else GOOD)
    except ScheduleProblem as problem:
        return str(problem)
    except Exception as error:  # no error in recording may disturb a lesson
        return f"What to review could not be recorded in {SCHEDULE}: {reason(error)}."
    return schedule.notice


def _change(folder: str | Path, change: Callable[[Schedule], None]) -> None:
    """Read, change and write the file under a lock."""
    path = Path(folder) / SCHEDULE
    with alone(path, PATIENCE, quiet=True):
        schedule = _read(path)
        change(schedule)
        write_over(
            path,
            {"version": VERSION, "cards": schedule.cards, "answers": schedule.answers[-KEPT:]},
            sound=not schedule.notice,
        )


def _read(path: Path) -> Schedule:
    """The Schedule in a file.

    A damaged one holds nothing but a notice, and is moved aside when it is written over.
    """
    content, sound = read(path)
    version = content.get("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        raise ScheduleProblem(
            f"{path} was written by a newer version of the course and was left unchanged. Install "
            "that version here, too."
        )
    schedule = Schedule(content.get("cards", {}), content.get("answers", []))
    if sound and _is_sound(schedule):
        return schedule
    return Schedule(
        notice=f"{path.name} cannot be read. It is kept, with `damaged` in its name, and the review "
        "begins anew."
    )


def _is_sound(schedule: Schedule) -> bool:
    """Whether all of a schedule can be read: somebody may have edited the file."""
    from fsrs import Card

    try:
        for card in schedule.cards.values():
            Card.from_dict(card)
        schedule.due()  # compares all times, which fails where one has no zone
        return isinstance(schedule.answers, list) and all(
            isinstance(answer["right"], bool) and isinstance(answer["item"], str)
            for answer in schedule.answers
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return False
