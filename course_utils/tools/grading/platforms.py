"""Learning platforms: how each names the hand-ins of a download, and the table in which it takes grades back.

Each is a `Platform` in PLATFORMS; no other module knows them by name. To add one, add it here; MAINTAINING.md lists
the tests and documents that follow.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from .results import LearnerRecord

LONG_DATE = re.compile(r"(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d")  # 20241130, which could be a file's number
SHORT_DATE = re.compile(r"(?<!\d)(?:(?:19|20)\d\d_\d\d?_\d\d?|\d\d?_\d\d?_(?:19|20)\d\d)(?!\d)")


@dataclass(frozen=True)
class Platform:
    """A learning platform.

    name: in lower case. Its table is written to NAME.csv.
    pattern: the platform's part of the name of a file or folder, with these groups: `id`, the learner's number there
    (the same in all hand-ins of a learner); `file`, a number of the file or the hand-in, if it has one; `name`, the
    learner's name, unless that stands before this part.
    table: the lines of its table, the header first, for these learners and this title of the assignment.
    lists: whether its table has a line for this learner; for all by default, those who handed nothing in, too. Limit it
    only if the import refuses learners whom the platform does not know.
    suffix: what the platform may put behind a name that stands before the pattern.
    dates: what is not searched, since the pattern could take it for numbers.
    is_unmistakable: the pattern is in no ordinary file name, so a second match always casts doubt on the first.
    repeats_name: all hand-ins with one number have the same name, which can be relied on.
    filled: its own table, as rows of a download, with the results filled in; None if these rows are no such table.
    feedback: where a zip that it takes back has a learner's page, with {name}, {id} and {file}; "" if it takes none.
    """

    name: str
    pattern: re.Pattern
    table: Callable[[list[LearnerRecord], str], list[list]]
    lists: Callable[[LearnerRecord], bool] = lambda learner: True
    suffix: str = ""
    dates: re.Pattern | None = None
    is_unmistakable: bool = False
    repeats_name: bool = False
    filled: Callable[[list[dict], list[LearnerRecord]], list[dict] | None] = lambda rows, learners: None
    feedback: str = ""

    @property
    def title(self):
        """The name as in a sentence."""
        return self.name.title()

    def readings(self, entry):
        """All ways to read the name of a file or folder as this platform's."""
        text = self.dates.sub(lambda match: "-" * len(match[0]), entry) if self.dates else entry
        for match in self.pattern.finditer(text):
            groups, before = match.groupdict(), entry[: match.start()]
            if "name" in groups or before:
                name = groups.get("name") or before.removesuffix(self.suffix)
                yield Reading(match.start(), self, groups["id"], name, groups.get("file") or "")

    def names_of(self, learner):
        """How the names of the learner's files are read."""
        parts = (part for file in learner.handed_in for part in file.split("/"))
        return [found[0] for part in parts if (found := list(self.readings(part)))]

    def feedback_names(self, learner):
        """Where a zip of feedback has this learner's page: once for each number that the platform gave the learner."""
        found = self.names_of(learner)
        names = ({"name": re.sub(r"[_/\\]", " ", one.name), "id": one.id, "file": one.file} for one in found)
        return list(dict.fromkeys(self.feedback.format(**name) for name in names))

    def number(self, learner):
        """The learner's number on this platform, "" for learners of another one."""
        return learner.number if learner.platform == self.name else ""


@dataclass(frozen=True)
class Reading:
    """One way to read the name of a file or folder: where it matches, a learner's number there, and the name."""

    start: int
    platform: Platform
    id: str
    name: str
    file: str = ""


def readings(entry):
    """All ways to read the name of a file or folder, in order of position."""
    found = [reading for platform in PLATFORMS for reading in platform.readings(entry)]
    first, *later = sorted(found, key=lambda one: one.start) or [None]
    return [first, *(one for one in later if not LONG_DATE.fullmatch(one.file))] if first else []


def several_assignments(learners):
    """What to do about tables for a platform that numbers a learner anew for each assignment, "" if there is one."""
    numbers = Counter((one.platform, one.name) for one in learners if one.number)
    twice = sum(number > 1 for number in numbers.values())
    if 2 * twice > len(numbers) and not any(one.listed for one in learners):
        return (
            "Most names stand here with several numbers of a platform, as if these were hand-ins of several "
            "assignments: give the list of the class with --roster, and each person is one."
        )
    for platform in PLATFORMS:
        if any(len({one.id for one in platform.names_of(learner)}) > 1 for learner in learners):
            return (
                f"These are hand-ins of several assignments: {platform.name}.csv has their sum, and the numbers of "
                "one. To give back the points of each, mark each by itself, with its own download, --lessons and --out."
            )
    return ""


def _grade(learner, comma=False):
    """A learner's points for a platform, empty if what may be the learner's only file was left out."""
    if learner.points is None or learner.status == "nothing handed in" and learner.has_left_out and not learner.given:
        return None
    return str(learner.points).replace(".", ",") if comma else learner.points


def in_a_sentence(learner):
    """A learner's result as text for a comment field."""
    if learner.points is None:
        return "Not marked yet: the grader's marking process failed, which is not the learner's fault."
    open_ones = [one for one, mark in learner.exercises.items() if mark.status != "passed" and one not in learner.given]
    text = f"{learner.points} of {learner.of} points."
    if learner.status == "nothing handed in" and not learner.given:
        left_out = " A file that may be this learner's was left out." if learner.has_left_out else ""
        return f"{text} Nothing was handed in.{left_out}"
    text += f" Not readable: {learner.reason}." if learner.status == "unreadable" else ""
    text += "".join(f" {part.in_words()}" for part in learner.received if part.deducted)
    text += " A file that may be this learner's was left out." if learner.has_left_out else ""
    text += f" Given by the teacher: {', '.join(sorted(learner.given))}." if learner.given else ""
    text += f" Not yet passed: {', '.join(open_ones)}." if open_ones else ""
    return text + (f" {learner.waiting} points are still to be marked by hand." if learner.waiting else "")


# ---------------------------------------------------------------- Moodle


def _moodle_table(learners, title):
    """Moodle's grading worksheet."""
    lines = [["Identifier", "Full name", "Email address", "Grade", "Maximum Grade", "Feedback comments"]]
    for one in learners:
        number, name = MOODLE.number(one), one.name or one.learner
        identifier = f"Participant {number}" if number else ""
        lines.append([identifier, name, one.email, _grade(one), one.of, in_a_sentence(one)])
    return lines


# how its grading worksheet names somebody, also where names are hidden
PARTICIPANT = re.compile(r"(?:participant|participante|teilnehmer(?:/in|\*in|:in|in)?) ?(\d+)", re.IGNORECASE)
# columns of the worksheet in English and German, exactly as Moodle writes them
IDENTIFIERS, GRADES = {"Identifier", "ID"}, {"Grade", "Bewertung"}
DATES_OF_GRADES = {"Last modified (grade)", "Zuletzt geändert (Bewertung)"}


def worksheet_numbers(rows):
    """The numbers of all participants in Moodle's grading worksheet; empty if these rows are none."""
    first = next((name for name in IDENTIFIERS if rows and name in rows[0]), "")
    found = (PARTICIPANT.fullmatch((row[first] or "").strip()) for row in rows) if first else ()
    return {one[1] for one in found if one}


def most_points(rows):
    """What Moodle's grading worksheet calls the maximum grade; None if these rows say none."""
    found = {row.get("Maximum Grade") or row.get("Bestwertung") or "" for row in rows} - {""}
    try:
        return float(found.pop().replace(",", ".")) if len(found) == 1 else None
    except ValueError:
        return None


def _filled_worksheet(rows, learners):
    """Moodle takes back only its own worksheet, with headings in the language of the site and the dates of grades."""
    columns = [column for column in rows[0] if column] if rows else []
    identifier, grade, date, comment = (
        next(filter(is_one, columns), None)
        for is_one in (
            IDENTIFIERS.__contains__, GRADES.__contains__, DATES_OF_GRADES.__contains__,
            lambda column: column.startswith("Feedback"),
        )
    )  # fmt: skip
    if not (identifier and grade and date):
        return None
    comma = any("," in (row.get("Bestwertung") or row.get("Maximum Grade") or "") for row in rows)
    by_key = {one.learner: one for one in learners}
    by_key |= {one.email.casefold(): one for one in learners if one.email}
    by_key |= {name.id: one for one in learners for name in MOODLE.names_of(one)}
    filled = []
    for row in rows:
        names = [PARTICIPANT.sub(r"\1", (row[identifier] or "").strip()), *row.values()]
        one = next(filter(None, (by_key.get(name.casefold()) for name in names if isinstance(name, str))), None)
        given = {grade: _grade(one, comma), **({comment: in_a_sentence(one)} if comment else {})} if one else {}
        filled.append({column: row[column] for column in columns} | given)
    return filled


# Full Name_ID_assignsubmission_file_...; learners may change their names, so that only the number can be relied on
MOODLE = Platform(
    "moodle",
    re.compile(r"_(?P<id>\d+)_assignsubmission_(?=.)", re.DOTALL),
    _moodle_table,
    is_unmistakable=True,
    filled=_filled_worksheet,
    feedback="{name}_{id}_assignfeedback_file_/feedback.html",
)


# ---------------------------------------------------------------- Canvas


def _canvas_table(learners, title):
    """Canvas's gradebook, with the most points in the first line."""
    lines = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title],
        ["Points Possible", "", "", "", "", learners[0].of if learners else 0],
    ]
    for one in learners:
        number, login = CANVAS.number(one), one.learner if one.listed or not one.platform else ""
        if one.login or one.sis:  # the roster is Canvas's own table, whose ids are its own
            number, login = one.learner, one.login
        lines.append([one.name or one.learner, number, one.sis, login, "", _grade(one)])
    return lines


# name[_LATE]_ID_NUMBER_...; the numbers may overlap: _812_813_99002_
CANVAS = Platform(
    "canvas",
    re.compile(r"(?=_(?P<id>[1-9]\d*)_(?P<file>[1-9]\d{2,})_.)", re.DOTALL),
    _canvas_table,
    suffix="_LATE",
    dates=SHORT_DATE,
    repeats_name=True,
    feedback="{name}_{id}_{file}_feedback.html",
)

PLATFORMS = (MOODLE, CANVAS)


def calls_late(learner):
    """Whether a learner's platform marks one of the files as late, by what it puts behind the learner's name."""
    marks = [f"{one.suffix}_{one.number(learner)}_" for one in PLATFORMS if one.suffix and one.number(learner)]
    return any(mark in file for mark in marks for file in learner.files)
