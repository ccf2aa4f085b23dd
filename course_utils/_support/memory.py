"""What a learner answered, and when each thing is due again: one file in the workspace.

The schedule is FSRS, by the library py-fsrs with its default parameters, and with days as its smallest step: an answer
is due again tomorrow at the earliest. Outside a workspace nothing is recorded.
"""

import contextlib
import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from .files import alone
from .passed import PATIENCE, RECORD, current, write_over

MEMORY = ".memory.json"
VERSION = 1
LARGEST = 2**22  # bytes; this course never writes a larger one
KEPT = 20_000  # answers; older ones are dropped, their schedule stays
AGAIN, HARD, GOOD = 1, 2, 3  # FSRS's ratings; "easy" is not used, since nobody is asked for it
SURE = ("a guess", "fairly sure", "sure")  # how sure a learner is of an answer


class MemoryProblem(ValueError):
    """The record of answers cannot be used. The message says why in one sentence, and what to do."""


@dataclass
class Memory:
    """What the file holds. `cards`: {item: what FSRS keeps of it}; `answers`: in order of time.

    An answer is {"at": ISO time, "item": id, "right": bool}, with "sure" (0 to 2) if the learner said it.
    `notice`: a sentence about the file, if something was wrong with it.
    """

    cards: dict = field(default_factory=dict)
    answers: list = field(default_factory=list)
    notice: str = ""

    @property
    def latest(self):
        """The time of the last answer, or None."""
        return max((datetime.fromisoformat(one["at"]) for one in self.answers), default=None)

    def due(self, now=None):
        """The items that are due, those that have waited longest first.

        The clock may have been set back: no time before the last answer counts.
        """
        now = self._not_before(now)
        times = {item: datetime.fromisoformat(card["due"]) for item, card in self.cards.items()}
        return sorted((item for item, time in times.items() if time <= now), key=times.get)

    def clock_is_behind(self, now=None):
        return self.latest is not None and (now or datetime.now(UTC)) < self.latest

    def _not_before(self, now):
        now = now or datetime.now(UTC)
        return max(now, self.latest or now)


def scheduler():
    """FSRS with its default parameters, no random part, and no steps below a day."""
    from fsrs import Scheduler

    return Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


def read_memory(folder):
    """The Memory of a workspace. Raises MemoryProblem for a file that is newer than this course, OSError."""
    return _read(Path(folder) / MEMORY)[0]


def record(folder, item, right, sure=None, rating=None, now=None):
    """Record an answer to an item and schedule it anew.

    sure: 0, a guess, to 2, sure; None if it was not asked. rating: FSRS's; by default "again" for a wrong answer,
    "hard" for a right guess, "good" for any other right answer.

    Raises MemoryProblem for a file that is newer than this course, OSError.
    """
    from fsrs import Card, Rating

    def change(memory):
        time = memory._not_before(now)
        card = Card.from_dict(memory.cards[item]) if item in memory.cards else Card(card_id=0, due=time)
        grade = rating or (AGAIN if not right else HARD if sure == 0 else GOOD)
        memory.cards[item] = scheduler().review_card(card, Rating(grade), time)[0].to_dict()
        answer = {"at": time.isoformat(), "item": item, "right": bool(right)}
        memory.answers.append(answer if sure is None else {**answer, "sure": int(sure)})

    _change(folder, change)


def begin(folder, items, now=None):
    """Let items that are not yet known become due now. Raises as `record` does."""
    from fsrs import Card

    def change(memory):
        time = memory._not_before(now)
        for item in items:
            memory.cards.setdefault(item, Card(card_id=0, due=time).to_dict())

    if set(items) - read_memory(folder).cards.keys():
        _change(folder, change)


def checked(exercise_id, report_passed, mistake, hints, folder=None):
    """What `check` has seen: a named mistake is due for review from now on, a due exercise that passes is done.

    mistake: the name of a known mistake, or "". hints: how many were shown. No error here reaches the lesson.
    """
    try:
        folder = Path(folder) if folder else current()
        if not (folder / RECORD).is_file():
            return
        if mistake:
            begin(folder, [f"{exercise_id} {mistake}"])
        elif report_passed:
            memory = read_memory(folder)
            if exercise_id not in memory.cards or exercise_id in memory.due():
                stumbled = any(item.startswith(f"{exercise_id} ") for item in memory.due())
                record(folder, exercise_id, True, rating=HARD if hints or stumbled else GOOD)
    except Exception:  # no error in recording may disturb a lesson
        pass


def _change(folder, change):
    """Read, change and write the file under a lock. What is sound in a damaged one is kept."""
    path = Path(folder) / MEMORY
    with alone(path, PATIENCE):
        memory, others, sound = _read(path)
        change(memory)
        content = {**others, "version": VERSION, "cards": memory.cards, "answers": memory.answers[-KEPT:]}
        write_over(path, content, sound)


def _read(path):
    """(Memory, other entries, whether the file is sound); of a damaged file, whatever can be read counts."""
    if not os.path.lexists(path):
        return Memory(), {}, True
    content = None
    if path.is_file() and path.stat().st_size <= LARGEST:  # opening a pipe would block
        with contextlib.suppress(ValueError, RecursionError):
            content = json.loads(path.read_bytes())
    if not isinstance(content, dict):
        return (
            Memory(notice=f"{path.name} cannot be read; it will be moved aside, and the review begins anew."),
            {},
            False,
        )
    version = content.pop("version", None)
    if isinstance(version, int) and version > VERSION:
        raise MemoryProblem(
            f"{path} was written by a newer version of the course and was left unchanged. Install that version here, "
            "too."
        )
    cards, answers = content.pop("cards", {}), content.pop("answers", [])
    kept = {item: card for item, card in (cards if isinstance(cards, dict) else {}).items() if _is_card(card)}
    told = [one for one in (answers if isinstance(answers, list) else []) if _is_answer(one)]
    sound = version == VERSION and kept == cards and told == answers
    notice = "" if sound else f"Some of {path.name} cannot be read; it will be moved aside, and the rest is kept."
    return Memory(kept, told, notice), content, sound


def _is_card(card):
    from fsrs import Card

    try:
        one = Card.from_dict(card)
        reviewed = one.last_review is None or (one.stability > 0 and 1 <= one.difficulty <= 10)
        return reviewed and one.due.tzinfo is not None and isinstance(one.step, int | None)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return False


def _is_answer(one):
    try:
        time = datetime.fromisoformat(one["at"])
        return (
            time.tzinfo is not None
            and isinstance(one["item"], str)
            and isinstance(one["right"], bool)
            and one.get("sure", 0) in (0, 1, 2)
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
