"""Learning platforms: how each names the hand-ins of a download, and the table in which it takes grades back.

Each is a `Platform` in PLATFORMS; no other module knows them by name. To add one, add it here; CONTRIBUTING.md lists
the tests and documents that follow.
"""

import re
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

    def feedback_names(self, learner):
        """Where a zip of feedback has this learner's page: once for each number that the platform gave the learner."""
        parts = (part for file in learner.files for part in file.split("/"))
        found = (next(self.readings(part), None) for part in parts)
        names = ({"name": re.sub(r"[_/\\]", " ", one.name), "id": one.id, "file": one.file} for one in found if one)
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


def in_a_sentence(learner):
    """A learner's result as text for a comment field."""
    if learner.points is None:
        return "Not marked yet: the grader's marking process failed, which is not the learner's fault."
    open_ones = [
        one
        for one, mark in learner.exercises.items()
        if mark.status != "passed" and not (one in learner.given and mark.points == mark.of)
    ]
    text = f"{learner.points} of {learner.of} points."
    text += "".join(f" {part.in_words()}" for part in learner.received if part.deducted)
    text += " A file that may be this learner's was left out." if learner.has_left_out else ""
    text += f" Not yet passed: {', '.join(open_ones)}." if open_ones else ""
    return text + (f" {learner.waiting} points are still to be marked by hand." if learner.waiting else "")


# ---------------------------------------------------------------- Moodle


def _moodle_table(learners, title):
    """Moodle's grading worksheet."""
    lines = [["Identifier", "Full name", "Email address", "Grade", "Maximum Grade", "Feedback comments"]]
    for one in learners:
        number, name = MOODLE.number(one), one.name or one.learner
        identifier = f"Participant {number}" if number else ""
        lines.append([identifier, name, one.email, one.points, one.of, in_a_sentence(one)])
    return lines


# Full Name_ID_assignsubmission_file_...; learners may change their names, so that only the number can be relied on
MOODLE = Platform(
    "moodle",
    re.compile(r"_(?P<id>\d+)_assignsubmission_(?=.)", re.DOTALL),
    _moodle_table,
    is_unmistakable=True,
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
        lines.append([one.name or one.learner, number, one.sis, login, "", one.points])
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
