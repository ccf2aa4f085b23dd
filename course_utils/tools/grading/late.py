"""Late hand-ins: the deadline, what a late day costs, and when the platform received each hand-in.

Those dates come from a table that the teacher gives. The dates of files say nothing: whoever makes
a zip chooses them, and a download may renew them.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import NamedTuple

from ..._support.files import write_whole
from ..._support.notebooks import exercise_parts, padded, part_with
from .csv_files import normalised_rows
from .results import GradeError, LearnerRecord, Received, counted, whole
from .rosters import learner_in, roster_of
from .texts import LONGEST_PATH, for_messages, in_words

KEPT, KEPT_DATES = "deadline.json", "deadline.csv"  # in the results folder
DAY = timedelta(days=1)
EXAMPLE = "2026-12-04 18:00"  # of a date, in messages
# what --late takes: "10% a day", "after 3 free days, 2 points a day, at most 50%"
AMOUNT = r"(\d{1,4}(?:\.\d{1,4})?) ?(%|points?)"
RULE = re.compile(
    rf"(?:after (\d{{1,3}}) free days?,? )?{AMOUNT} ?(?:a|per|/) ?day(?:,? at most {AMOUNT})?",
    re.IGNORECASE,
)
# how a date in ISO 8601 begins; seconds and an offset may follow
ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
# as Moodle writes dates in English: Friday, 4 December 2026, 6:03 PM; also with short names,
# without the day of the week, with the month first, or with hours up to 23
LONG_FORMS = tuple(
    f"{day}{date}, {time}"
    for day in ("%A, ", "%a, ", "")
    for date in ("%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y")
    for time in ("%I:%M %p", "%H:%M")
)
# the day of the week before a date, and the dot behind a number: Freitag, 4. Dezember 2026
NOT_IN_ENGLISH_DATES = re.compile(
    r"\b(Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag), (?=\d)|(?<=\d)\.(?= \w)"
)
# those that English spells in another way
GERMAN_MONTHS = {
    "Januar": "January", "Jänner": "January", "Februar": "February", "März": "March", "Mai": "May",
    "Juni": "June", "Juli": "July", "Oktober": "October", "Dezember": "December",
}  # fmt: skip
GERMAN_MONTH = re.compile(rf"\b({'|'.join(GERMAN_MONTHS)})\b")
# names of the column of dates, as `normalised` spells them; the first that a table has counts. The
# second and fourth are of Moodle's grading worksheet, in English and German, the third of Canvas's
# data.
RECEIVED = ("received", "lastmodifiedsubmission", "submittedat", "zuletztgeandertabgabe")
# as Moodle writes it into the column "Status" of the worksheet
EXTENSION = re.compile(
    r"(?:Extension granted until|Verlängertes Abgabeende bis|Verlängerung gewährt bis): (.+)"
)


@dataclass(frozen=True)
class Rule:
    """What each started day costs, after some free ones, and the most that all days cost together.

    text: as the teacher wrote it.
    cost, most: a number and its unit: "%" of the points possible, otherwise points.
    free: the number of late days that cost nothing.
    """

    text: str
    cost: tuple[float, str] = (0, "points")
    most: tuple[float, str] = (math.inf, "points")
    free: int = 0

    def deduction(self, days: int, possible: float) -> float:
        """The points that so many late days cost, of so many points possible."""
        cost = max(0, days - self.free) * _in_points(self.cost, possible)
        return min(cost, _in_points(self.most, possible))

    def __str__(self) -> str:
        if not self.cost[0]:
            return "Late hand-ins lose no points."
        return (
            f"What late hand-ins lose: {self.text}. A started day counts as a whole one, "
            "percentages are of the points possible, and nobody falls below 0 points."
        )


def _in_points(amount: tuple[float, str], possible: float) -> float:
    number, unit = amount
    return number * possible / 100 if unit == "%" else number


def read_rule(text: str) -> Rule:
    """The rule that a text such as "10% a day, at most 50%" states. Raises GradeError."""
    words = " ".join(text.split())
    if words.casefold() == "none":
        return Rule(words)
    match = RULE.fullmatch(words)
    if not match:
        raise GradeError(
            f'--late {for_messages(text)!r} is not understood; write it like "10% a day", '
            '"2 points a day", "after 3 free days, 10% a day, at most 50%", or "none".'
        )
    free, cost, unit, most, most_unit = match.groups()
    return Rule(
        words,
        cost=(float(cost), unit),
        most=(float(most or math.inf), most_unit or "points"),
        free=int(free or 0),
    )


class Terms(NamedTuple):
    """The values of --due, --late and --received."""

    due: str | None = None
    late: str | None = None
    received: str | Path | None = None


@dataclass(frozen=True)
class Line:
    """A line of the table of dates.

    names: all that says whose it is, the most certain first; else where the line stands, "line 2".
    lesson: its key, "" if the line names none.
    when: the date at which the hand-in was received.
    until: the deadline that a platform says it has granted to this learner, None for the class's.
    """

    names: list[str]
    lesson: str
    when: datetime
    until: datetime | None = None


@dataclass(frozen=True)
class Lateness:
    """The deadline and the dates of a class, each with a time zone.

    rule: None if late hand-ins are only listed.
    """

    due: datetime
    rule: Rule | None
    lines: list[Line]

    def write_to(self, learners: Sequence[LearnerRecord]) -> list[str]:
        """Fill in, in these records, when everything was received and what that costs.

        Their points, notes and deadline change. Returns sentences for the teacher.
        """
        lines_of, strangers = self._by_learner(learners)
        for learner in learners:
            self._fill_in(learner, lines_of.get(learner.learner, {}))
        late = [
            f"{learner.name or learner.learner} ({counted(learner.late_days, 'day')})"
            for learner in learners
            if learner.late_days
        ]
        undated = [
            learner.name or learner.learner
            for learner in learners
            if any(not received.when for received in learner.received)
        ]
        names_after = {
            "--received has lines about learners who are not in this class: ": strangers,
            "Late: ": late,
            "Nothing is deducted where no date is known; summary.html lists these learners for "
            "review: ": undated,
        }
        return [f"{start}{in_words(names)}." for start, names in names_after.items() if names]

    def _fill_in(self, learner: LearnerRecord, lines: Mapping[str, Line]) -> None:
        """Fill in when a learner's hand-ins were received and what that costs.

        lines: by lesson. A line without a lesson is about all lessons that have no line.
        """
        learner.due = (
            f"Due {self._shown(self.due)} ({self.due.tzname()}). {self.rule or ''}"
        ).strip()
        learner.received = [
            self._received(learner, lesson, lines.get(lesson) or lines.get(""))
            for lesson in _dated_lessons(learner, lines)
        ]
        learner.add_up()
        # with a rule, the points that late days cost are stated elsewhere
        learner.notes += [
            received.in_words()
            for received in learner.received
            if not received.when or (received.days and self.rule is None)
        ]

    def _by_learner(
        self, learners: Iterable[LearnerRecord]
    ) -> tuple[dict[str, dict[str, Line]], list[str]]:
        """({learner: {lesson: the line with the latest date}}, names in lines about nobody)."""
        roster = roster_of(learners)
        key_of_number = {learner.number: learner.learner for learner in learners}
        lines_of: dict[str, dict[str, Line]] = {}
        strangers = []
        # the latest comes last, and replaces the others
        for line in sorted(self.lines, key=lambda line: line.when):
            people = [roster.find(key_of_number.get(name, name)) for name in line.names]
            owner = next((person for person in people if person), None)
            if owner is None:
                strangers.append(line.names[-1])  # the person's name, if there is one
                continue
            lines_of.setdefault(owner.learner, {})[line.lesson] = line
        return lines_of, strangers

    def _received(self, learner: LearnerRecord, lesson: str, line: Line | None) -> Received:
        """What one date costs, of the points of its lesson, or of all lessons if that is "".

        It costs no more than the points that the learner has there, and nothing without a rule, a
        line, or points.
        """
        if line is None:
            return Received(lesson)
        counting_marks = [
            mark
            for exercise, mark in (*learner.exercises.items(), *learner.by_hand.items())
            if lesson in ("", part_with(exercise))  # "" stands for all lessons
        ]
        due, when = line.until or self.due, line.when
        # a started day counts: the negative of rounding down is rounding up
        days = max(0, -((due - when) // DAY))
        cost = 0.0
        if self.rule and learner.points is not None:
            cost = min(
                self.rule.deduction(days, sum(mark.of for mark in counting_marks)),
                sum(mark.points or 0 for mark in counting_marks),
            )
        # points are written with two digits
        return Received(lesson, self._shown(when), days, whole(round(cost, 2)))

    def _shown(self, when: datetime) -> str:
        """A date in the time zone of the deadline."""
        return f"{when.astimezone(self.due.tzinfo):%Y-%m-%d %H:%M}"


def _dated_lessons(learner: LearnerRecord, lines: Mapping[str, Line]) -> list[str]:
    """The lessons whose dates count: those handed in, if a line names a lesson.

    Else [""] for all together, or [] for a learner without a line or a file.
    """
    if not set(lines) - {""}:
        return [""] if lines or learner.files else []
    handed_in = [
        *(exercise for exercise, mark in learner.exercises.items() if mark.status != "missing"),
        *(cell for cell, mark in learner.by_hand.items() if mark.text),
    ]
    return sorted({part_with(exercise) for exercise in handed_in})


# ---------------------------------------------------------------- what the teacher gives


def read_lateness(terms: Terms) -> Lateness | None:
    """What these terms say, with the table of dates; None without any terms.

    Raises GradeError for a deadline without dates, dates or a rule without a deadline, and whatever
    cannot be read or understood. A deadline without an offset is in the local time zone.
    """
    due, late, received = terms
    if not due:
        if late or received:
            raise GradeError(f'--late and --received need a deadline: --due "{EXAMPLE}".')
        return None
    deadline = _date("--due ", due)
    rule = read_rule(late) if late else None
    if not received:
        raise GradeError(
            "--due needs --received, a CSV file with the columns learner and received: only the "
            "platform knows when something was handed in."
        )
    return Lateness(_in_zone(deadline, None), rule, _read_lines(received, deadline.tzinfo))


def with_kept(terms: Terms, out: Path, lessons: list[str]) -> Terms:
    """The terms of a run; without a deadline, filled in with what `keep` kept for the same lessons.

    --due none stands for no terms at all. Raises GradeError if what was kept is damaged.
    """
    if (terms.due or "").strip().casefold() == "none":
        return Terms()
    if terms.due or not (out / KEPT).exists():
        return terms
    try:
        kept = json.loads((out / KEPT).read_text(encoding="utf-8"))
        if kept["lessons"] != lessons:
            return terms
        return Terms(kept["due"], terms.late or kept["late"], terms.received or out / KEPT_DATES)
    except (OSError, ValueError, KeyError, TypeError):
        raise GradeError(
            f"{out / KEPT} is damaged; give --due, --late and --received again."
        ) from None


def keep(terms: Terms, out: Path, lessons: list[str]) -> None:
    """Keep the terms, with a copy of the table of dates, in the results folder for later runs.

    What an earlier run kept is deleted, and nothing kept if there is no deadline. Raises OSError.
    """
    # read first: this may be the kept table, which is deleted below
    dates = Path(terms.received).read_bytes() if terms.due and terms.received else b""
    for name in (KEPT, KEPT_DATES):
        (out / name).unlink(missing_ok=True)
    if terms.due:
        write_whole(out / KEPT_DATES, dates)
        write_whole(
            out / KEPT,
            json.dumps({"due": terms.due, "late": terms.late, "lessons": lessons}) + "\n",
        )


def _date(where: str, text: str, forms: Sequence[str] = ()) -> datetime:
    """A date and time, with an offset from UTC or without one. Raises GradeError.

    where: what the sentence begins with.
    forms: formats of `strptime` that are allowed besides ISO 8601.
    """
    words = " ".join(text.split())
    when = None
    if ISO.match(words):
        # `fromisoformat` takes neither the letters UTC nor a space before the offset
        with_offset = re.sub(r" ?(UTC|Z)$", "+00:00", words)
        with suppress(ValueError):
            when = datetime.fromisoformat(re.sub(r" (?=[+-]\d)", "", with_offset))
    in_english = GERMAN_MONTH.sub(
        lambda month: GERMAN_MONTHS[month[0]], NOT_IN_ENGLISH_DATES.sub("", words)
    )
    for form in forms:
        with suppress(ValueError):
            when = datetime.strptime(in_english, form)
    # a year of two digits or with a slip would count everybody as late, or nobody
    if when is None or not 2000 <= when.year < 2100:
        raise GradeError(
            f"{where}{for_messages(text)!r} is no date and time; write it like {EXAMPLE} or "
            f"{EXAMPLE} +01:00."
        )
    return when


def _in_zone(when: datetime, zone: tzinfo | None) -> datetime:
    """A date in its own time zone, else in this one, else in the local one."""
    if zone and not when.tzinfo:
        return when.replace(tzinfo=zone)
    return when if when.tzinfo else when.astimezone()


def _read_lines(path: str | Path, zone: tzinfo | None) -> list[Line]:
    """The lines of the table that have a date. Raises GradeError.

    zone: of dates without an offset.
    """
    name = for_messages(path, LONGEST_PATH)
    rows = normalised_rows(path)
    if not rows:
        raise GradeError(
            f"{name} has no lines; it needs one for each learner, with the columns learner and "
            "received."
        )
    column = next((column for column in RECEIVED if column in rows[0][1]), None)
    if column is None:
        raise GradeError(
            f"{name} has no column `received`, and none of Moodle's grading worksheet."
        )
    lines = []
    for place, cells in rows:
        if cells[column] in ("", "-"):
            continue
        where = f"{name}, {place}: "
        granted = EXTENSION.search(cells.get("status", ""))
        until = _in_zone(_date(where, granted[1], LONG_FORMS), zone) if granted else None
        when = _in_zone(_date(where, cells[column], LONG_FORMS), zone)
        person = learner_in(cells)
        # the name last, which `_by_learner` shows
        names = [text for text in (person.learner, person.email, *person.also, person.name) if text]
        lines.append(Line(names or [place], _lesson(where, cells.get("lesson", "")), when, until))
    return lines


def _lesson(where: str, text: str) -> str:
    """The key of the lesson in a cell such as "Lesson 4", here "04"; "" for an empty cell.

    where: what the sentence of the GradeError for any other text begins with.
    """
    key = padded(text.lower().removeprefix("lesson ").strip())
    if text and key not in exercise_parts().values():
        raise GradeError(
            f"{where}{for_messages(text)!r} is no lesson with exercises; write it like 04 or "
            "05-layer."
        )
    return key
