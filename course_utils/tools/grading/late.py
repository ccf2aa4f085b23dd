"""Late hand-ins: the deadline, what a late day costs, and when the platform received each hand-in.

Those dates come from a table that the teacher gives. The dates of files say nothing: whoever makes a zip chooses them,
and a download may renew them.
"""

import csv
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from ..._support.files import write_whole
from ..._support.notebooks import exercise_parts, part_with
from .owners import in_words, normalised
from .platforms import PARTICIPANT, calls_late
from .results import Received, counted, whole
from .store import GradeError
from .submissions import KEYS, numbered_rows, roster_of
from .untrusted import for_messages

KEPT, KEPT_DATES = "deadline.json", "deadline.csv"  # in the results folder
DAY, EXAMPLE = timedelta(days=1), "2026-12-04 18:00"
AMOUNT = r"(\d{1,4}(?:\.\d{1,4})?) ?(%|points?)"
RULE = re.compile(
    rf"(?:after (\d{{1,3}}) free days?,? )?{AMOUNT} ?(?:a|per|/) ?day(?:,? at most {AMOUNT})?", re.IGNORECASE
)
ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
# as Moodle writes dates in English: Friday, 4 December 2026, 6:03 PM
LONG_FORMS = tuple(
    f"{day}{date}, {time}"
    for day in ("%A, ", "%a, ", "")
    for date in ("%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y")
    for time in ("%I:%M %p", "%H:%M")
)
GERMAN = re.compile(r"\b(Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag), (?=\d)|(?<=\d)\.(?= \w)")
MONTHS = {"Januar": "January", "Februar": "February", "März": "March", "Mai": "May", "Juni": "June", "Juli": "July"}
MONTHS |= {"Jänner": "January", "Oktober": "October", "Dezember": "December"}
GERMAN_MONTH = rf"\b({'|'.join(MONTHS)})\b"
# the second and fourth are of Moodle's grading worksheet, in English and German, the third of Canvas's data
RECEIVED = ("received", "lastmodifiedsubmission", "submittedat", "zuletztgeandertabgabe")
# as Moodle writes it into the column "Status" of the worksheet
EXTENSION = re.compile(r"(?:Extension granted until|Verlängertes Abgabeende bis|Verlängerung gewährt bis): (.+)")
LESSON = re.compile(r"(?:lesson )?(\d{1,2}(?:-[a-z][-\w]*)?)", re.IGNORECASE)


@dataclass(frozen=True)
class Amount:
    """A number of points, or a share of the points possible in percent."""

    number: float
    percent: bool = False

    def of(self, possible):
        """The points that this is of so many possible points."""
        return self.number * possible / 100 if self.percent else self.number

    def __str__(self):
        return f"{self.number:g}%" if self.percent else counted(self.number, "point")


@dataclass(frozen=True)
class Rule:
    """What each started day costs, after some free ones, and the most that all days cost together."""

    cost: Amount
    most: Amount | None = None
    free: int = 0

    def deduction(self, days, possible):
        """The points that so many late days cost."""
        found = max(0, days - self.free) * self.cost.of(possible)
        return min(found, self.most.of(possible)) if self.most else found

    def __str__(self):
        if not self.cost.number:
            return "Late hand-ins lose no points."
        free = f"The first {counted(self.free, 'day')} after that cost nothing. " if self.free else ""
        day = "further started day" if self.free else "started day after that"
        most = f", at most {self.most}" if self.most else ""
        share = " Percentages are of the points possible." if "%" in f"{self.cost}{most}" else ""
        return f"{free}Each {day} costs {self.cost}{most}.{share} Nobody falls below 0 points."


def read_rule(text):
    """The rule that a text such as "10% a day, at most 50%" states. Raises GradeError."""
    words = " ".join(text.split())
    if words.casefold() == "none":
        return Rule(Amount(0))
    if not (match := RULE.fullmatch(words)):
        raise GradeError(
            f'--late {for_messages(text)!r} is not understood; write it like "10% a day", "2 points a day", '
            '"after 3 free days, 10% a day, at most 50%", or "none".'
        )
    free, cost, unit, most, most_unit = match.groups()
    return Rule(
        Amount(float(cost), unit == "%"), Amount(float(most), most_unit == "%") if most else None, int(free or 0)
    )


@dataclass(frozen=True)
class Line:
    """A line of the table: all that says whose it is, the lesson ("" if it names none), and the date.

    until: the deadline that a platform says it has granted to this learner.
    """

    names: list[str]
    lesson: str
    when: datetime
    until: datetime | None = None


@dataclass(frozen=True)
class Lateness:
    """The deadline and the dates of a class. rule: None if late hand-ins are only listed."""

    due: datetime
    rule: Rule | None
    lines: list[Line]

    def write_to(self, learners):
        """Fill in when everything was received and what that costs. Returns sentences for the teacher."""
        dates, strangers, granted = self._by_learner(learners)
        for one in learners:
            one.due = f"Due {self._shown(self.due)} ({self.due.tzname()}). {self.rule or ''}".strip()
            parts = _parts(one, dates.get(one.learner, {}))
            due = {lesson: granted.get((one.learner, lesson)) or granted.get((one.learner, "")) for lesson, _ in parts}
            one.received = [self._received(one, lesson, when, due[lesson] or self.due) for lesson, when in parts]
            one.add_up()
            one.notes = one.notes + self._notes(one)
        late = [f"{one.name or one.learner} ({counted(one.late_days, 'day')})" for one in learners if one.late_days]
        unknown = [one.name or one.learner for one in learners if any(not part.when for part in one.received)]
        told = {
            "--received has lines about learners who are not in this class: ": strangers,
            "Late: ": late,
            "Nothing is deducted where no date is known; summary.html lists these learners for review: ": unknown,
        }
        return [f"{what}{in_words(names)}." for what, names in told.items() if names]

    def _by_learner(self, learners):
        """{learner: {lesson: the latest date}}, the names in lines about nobody, {(learner, lesson): own deadline}."""
        roster = roster_of(learners)
        keys = {one.number: one.learner for one in learners} | {one.learner: one.learner for one in learners}
        dates, strangers, granted = {}, [], {}
        for line in self.lines:
            found = (keys.get(name) or getattr(roster.find(name), "learner", None) for name in line.names)
            if owner := next(filter(None, found), None):
                mine = dates.setdefault(owner, {})
                mine[line.lesson] = max(line.when, mine.get(line.lesson, line.when))
                if line.until:
                    granted[owner, line.lesson] = line.until
            else:
                strangers.append(line.names[-1])  # the name, if there is one
        return dates, strangers, granted

    def _received(self, learner, lesson, when, due):
        """What one date costs after this deadline, of the points of its lesson or of all."""
        if when is None:
            return Received(lesson)
        all_marks = learner.exercises | learner.by_hand
        marks = [mark for one, mark in all_marks.items() if lesson in ("", part_with(one))]
        days, cost = max(0, -((due - when) // DAY)), 0
        if self.rule and learner.points is not None:
            cost = self.rule.deduction(days, sum(mark.of for mark in marks))
            cost = min(cost, sum(mark.points or 0 for mark in marks))
        return Received(lesson, self._shown(when), days, whole(round(cost, 2)))

    def _shown(self, when):
        """A date in the time zone of the deadline."""
        return f"{when.astimezone(self.due.tzinfo):%Y-%m-%d %H:%M}"

    def _notes(self, learner):
        """What the teacher should look at."""
        notes = [part.in_words() for part in learner.received if not part.when or part.days and self.rule is None]
        if calls_late(learner) and not learner.late_days:
            notes.append("The platform marks a file as late, and no date says so.")
        return notes


def _parts(learner, dates):
    """The pairs of lesson and date that count. A line without a lesson is about all lessons that have no line."""
    if set(dates) <= {""}:
        return [("", dates.get(""))] if dates or learner.files else []
    handed_in = {part_with(one) for one, mark in learner.exercises.items() if mark.status != "missing"}
    handed_in |= {part_with(one) for one, cell in learner.by_hand.items() if cell.text}
    return [(lesson, dates.get(lesson, dates.get(""))) for lesson in sorted(handed_in)]


# ---------------------------------------------------------------- what the teacher gives


def read_lateness(due, late, received):
    """A `Lateness` from the values of --due, --late and --received, None without a deadline. Raises GradeError."""
    if not due:
        if late or received:
            raise GradeError(f'{"--late" if late else "--received"} needs a deadline: --due "{EXAMPLE}".')
        return None
    try:
        deadline = _date(due)
    except ValueError:
        raise GradeError(
            f'--due {for_messages(due)!r} is no date and time; write it like "{EXAMPLE}" or "{EXAMPLE} +01:00".'
        ) from None
    rule = read_rule(late) if late else None
    if not received:
        raise GradeError(
            "--due needs --received, a CSV file with the columns learner and received: only the platform knows when "
            "something was handed in."
        )
    return Lateness(_in_zone(deadline, None), rule, _read_lines(received, deadline.tzinfo))


def kept_deadline(out, lessons):
    """(due, late) that an earlier run for the same lessons kept in the results folder, None if there is none.

    Raises GradeError.
    """
    try:
        kept = json.loads((out / KEPT).read_text(encoding="utf-8"))
        return (kept["due"], kept["late"]) if kept["lessons"] == lessons else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise GradeError(f"{out / KEPT} is damaged; give --due, --late and --received again.") from None


def keep_lateness(out, due, late, received, lessons):
    """Keep the deadline in the results folder, so that a later run without it deducts the same. None removes it."""
    dates = Path(received).read_bytes() if due else b""  # may be those that are kept already
    for name in (KEPT, KEPT_DATES):
        (out / name).unlink(missing_ok=True)
    if due:
        write_whole(out / KEPT_DATES, dates)
        write_whole(out / KEPT, json.dumps({"due": due, "late": late, "lessons": lessons}) + "\n")


def _date(text, forms=()):
    """A date and time, with an offset from UTC or without one. Raises ValueError."""
    text, found = " ".join(text.split()), None
    if ISO.match(text):
        text = re.sub(r" ?(UTC|Z)$", "+00:00", text)
        found = datetime.fromisoformat(re.sub(r" (?=[+-]\d)", "", text))
    text = re.sub(GERMAN_MONTH, lambda match: MONTHS[match[0]], GERMAN.sub("", text)) if forms else text
    for form in forms:
        with suppress(ValueError):
            found = datetime.strptime(text, form)
    if found is None or not 2000 <= found.year < 2100:
        raise ValueError
    return found


def _in_zone(when, zone):
    """A date in its own time zone, else in this one, else in the local one."""
    if when.tzinfo:
        return when
    return when.replace(tzinfo=zone) if zone else when.astimezone()


def _read_lines(path, zone):
    """The lines of the table that have a date. zone: of dates without an offset. Raises GradeError."""
    lines = []
    for number, where, cells in _rows(path):
        column = next(filter(cells.__contains__, RECEIVED), None)
        if column is None:
            raise GradeError(f"{where}there is no column `received`, and none of Moodle's grading worksheet.")
        if cells[column] not in ("", "-"):
            names = _names(cells) or [f"line {number}"]
            granted = EXTENSION.search(cells.get("status", ""))
            until = _received(where, granted[1], zone) if granted else None
            lines.append(Line(names, _lesson(where, cells), _received(where, cells[column], zone), until))
    return lines


def _rows(path):
    """The rows of the table: number, the beginning of a sentence about it, {normalised column: value}.

    Raises GradeError.
    """
    name = for_messages(path, 300)
    try:
        rows = numbered_rows(path)
    except UnicodeDecodeError:
        raise GradeError(f"{name} is not in UTF-8; save it as CSV in UTF-8.") from None
    except (OSError, csv.Error) as error:
        raise GradeError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if not rows:
        raise GradeError(f"{name} has no lines; it needs one for each learner, with the columns learner and received.")
    for number, row in rows:
        where = f"{name}, line {number}: "
        if None in row:
            raise GradeError(f"{where}there are more values than columns; quote any text that contains a comma.")
        yield number, where, {normalised(column): (value or "").strip() for column, value in row.items()}


def _names(cells):
    """All that says whose a row is."""
    names = [cells.get(key, "") for what in ("id", "email", "name") for key in KEYS[what]]
    names += [" ".join(cells.get(key, "") for what in ("first", "last") for key in KEYS[what]).strip()]
    return [PARTICIPANT.sub(r"\1", name) for name in names if name]


def _lesson(where, cells):
    """The lesson of a row, "" if it names none. Raises GradeError."""
    text = cells.get("lesson", "")
    match = LESSON.fullmatch(text)
    key = f"0{match[1]}" if match and not match[1][1:2].isdigit() else match and match[1]
    key = key and key.lower()
    if text and key not in exercise_parts().values():
        raise GradeError(f"{where}{for_messages(text)!r} is no lesson with exercises; write it like 04 or 05-layer.")
    return key or ""


def _received(where, text, zone):
    """The date of a row. Raises GradeError."""
    try:
        return _in_zone(_date(text, LONG_FORMS), zone)
    except (ValueError, OverflowError, OSError):
        raise GradeError(f"{where}{for_messages(text)!r} is no date and time; write it like {EXAMPLE}.") from None
