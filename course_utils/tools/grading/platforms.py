"""Learning platforms: how each names the hand-ins of a download, and the table in which it takes
grades back.

Each is a `Platform` in PLATFORMS. To add one, add it here; .github/MAINTAINING.md lists the tests
and documents that follow. Of the other tables that platforms export, `rosters` knows the headings,
and `late` the dates.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .results import LearnerRecord

# such as 20241130, which could be a file's number
LONG_DATE = re.compile(r"(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d")
# such as 2024_11_30 or 30_11_2024, which could be a learner's number and a file's
SHORT_DATE = re.compile(r"(?<!\d)(?:(?:19|20)\d\d_\d\d?_\d\d?|\d\d?_\d\d?_(?:19|20)\d\d)(?!\d)")


@dataclass(frozen=True)
class Platform:
    """A learning platform.

    name: in lower case. Its table is written to NAME.csv.
    pattern: the platform's part of the name of a file or folder, with these groups: `id`, the
    learner's number there, or user name (the same in all hand-ins of a learner); `file`, a number
    of the file or the hand-in, digits alone, if it has one: a higher one is later; `name`, the
    learner's name or e-mail address, unless that stands before this part (where there is none, the
    user name again). A blank replaces each "_" in it.
    table: the lines of its table, the header first, for these learners and this title of the
    assignment.
    suffix: what the platform may put behind a name that stands before the pattern.
    dates: what is not searched, since the pattern could take it for numbers.
    is_unmistakable: the pattern is in no ordinary file name, so a second match always casts doubt
    on the first.
    repeats_name: all hand-ins with one number have the same name, which can be relied on.
    filled: the lines of its own table, of which these are the rows, with the results filled in;
    None if these rows are no such table.
    feedback: where a zip that it takes back has a learner's page, with {name} (of which each "_" is
    a blank), {id} and {file}; "" if it takes none.
    """

    name: str
    pattern: re.Pattern
    table: Callable[[list[LearnerRecord], str], list[list]]
    suffix: str = ""
    dates: re.Pattern | None = None
    is_unmistakable: bool = False
    repeats_name: bool = False
    filled: Callable[[list[dict], Sequence[LearnerRecord]], list[list] | None] = (
        lambda rows, learners: None
    )
    feedback: str = ""

    def readings(self, entry: str) -> "Iterator[Reading]":
        """All ways to read the name of a file or folder as this platform's."""
        text = entry
        if self.dates:  # dashes of the same length, so that places in both texts are the same
            text = self.dates.sub(lambda match: "-" * len(match[0]), entry)
        for match in self.pattern.finditer(text):
            groups = match.groupdict()
            before = entry[: match.start()]
            if "name" in groups or before:
                name = (groups.get("name") or before.removesuffix(self.suffix)).replace("_", " ")
                yield Reading(match.start(), self, groups["id"], name, groups.get("file") or "")

    def readings_of(self, learner: LearnerRecord) -> "list[Reading]":
        """How the names of the learner's files are read.

        Of each part the first way counts, the platform's own; the learner chose what is behind it.
        """
        parts = "/".join(learner.handed_in).split("/")
        firsts = [next(self.readings(part), None) for part in parts]
        return [reading for reading in firsts if reading]

    def feedback_names(self, learner: LearnerRecord) -> list[str]:
        """Where a zip of feedback has this learner's page: once for each of the hand-ins that the
        names in `feedback` tell apart. [] if no file's name is this platform's.
        """
        # without slashes, since a name must not lead into another folder
        names = [
            self.feedback.format(
                name=re.sub(r"[/\\]", " ", reading.name), id=reading.id, file=reading.file
            )
            for reading in self.readings_of(learner)
        ]
        return list(dict.fromkeys(names))

    def number(self, learner: LearnerRecord) -> str:
        """The learner's number on this platform, "" for learners of another one."""
        return learner.number if learner.platform == self.name else ""


@dataclass(frozen=True)
class Reading:
    """One way to read the name of a file or folder.

    start: where the platform's pattern matches. id, name, file: its groups, see `Platform`; `file`
    is "" without one.
    """

    start: int
    platform: Platform
    id: str
    name: str
    file: str = ""


def readings(entry: str) -> list[Reading]:
    """All ways to read the name of a file or folder, in order of position."""
    ways = [reading for platform in PLATFORMS for reading in platform.readings(entry)]
    ways.sort(key=lambda reading: reading.start)
    # behind the first, a date may look like a file's number
    return ways[:1] + [reading for reading in ways[1:] if not LONG_DATE.fullmatch(reading.file)]


def _grade(learner: LearnerRecord) -> float | None:
    """A learner's points for a platform, None if the only file that may be theirs was left out."""
    is_left_out = learner.status == "nothing handed in" and learner.has_left_out
    return None if is_left_out and not learner.given else learner.points


def in_a_sentence(learner: LearnerRecord) -> str:
    """A learner's result as text for a comment field."""
    if learner.points is None:
        return (
            "Not marked yet: the grader failed or the file changed meanwhile, which is not the "
            "learner's fault."
        )
    sentences = [f"{learner.points} of {learner.of} points."]
    has_nothing = learner.status == "nothing handed in" and not learner.given
    if has_nothing:
        sentences.append("Nothing was handed in.")
    if learner.status == "unreadable":
        sentences.append(f"Not readable: {learner.reason}.")
    sentences += [part.in_words() for part in learner.received if part.deducted]
    if learner.has_left_out:
        sentences.append("A file that may be this learner's was left out.")
    if learner.given:
        sentences.append(f"Given by the teacher: {', '.join(sorted(learner.given))}.")
    not_passed = [
        exercise
        for exercise, mark in learner.exercises.items()
        if mark.status != "passed" and exercise not in learner.given
    ]
    if not_passed and not has_nothing:
        sentences.append(f"Not yet passed: {', '.join(not_passed)}.")
    if learner.waiting:
        sentences.append(f"{learner.waiting} points are still to be marked by hand.")
    return " ".join(sentences)


# ---------------------------------------------------------------- Moodle


# as `Platform.table`; Moodle's has no title of the assignment
def _moodle_table(learners: Sequence[LearnerRecord], title: str) -> list[list]:
    lines: list[list] = [
        ["Identifier", "Full name", "Email address", "Grade", "Maximum Grade", "Feedback comments"]
    ]
    for learner in learners:
        number, name = MOODLE.number(learner), learner.name or learner.learner
        identifier = f"Participant {number}" if number else ""
        lines.append(
            [identifier, name, learner.email, _grade(learner), learner.of, in_a_sentence(learner)]
        )
    return lines


# how its grading worksheet names somebody, also where names are hidden
PARTICIPANT = re.compile(
    r"(?:participant|participante|teilnehmer(?:/in|\*in|:in|in)?) ?(\d+)", re.IGNORECASE
)
# columns of the worksheet in English and German, exactly as Moodle writes them
IDENTIFIERS, GRADES = {"Identifier", "ID"}, {"Grade", "Bewertung"}
DATES_OF_GRADES = {"Last modified (grade)", "Zuletzt geändert (Bewertung)"}


def worksheet_numbers(rows: Iterable[dict[str, str]]) -> set[str]:
    """The numbers of all participants in Moodle's grading worksheet, none for other rows."""
    cells = [row.get("Identifier") or row.get("ID") or "" for row in rows]
    matches = [PARTICIPANT.fullmatch(cell.strip()) for cell in cells]
    return {match[1] for match in matches if match}


def _filled_worksheet(
    rows: list[dict[str, str]], learners: Sequence[LearnerRecord]
) -> list[list] | None:
    """Moodle's grading worksheet with these learners' results filled in, None for other rows.

    Moodle takes it back only with its own headings, in the language of the site, and with the dates
    of grades.
    """
    columns = [column for column in rows[0] if column] if rows else []
    identifier = next((column for column in columns if column in IDENTIFIERS), "")
    grade = next((column for column in columns if column in GRADES), "")
    comment = next((column for column in columns if column.startswith("Feedback")), "")
    if not identifier or not grade or DATES_OF_GRADES.isdisjoint(columns):
        return None
    by_key = _by_key(learners)
    # a worksheet in German writes 6,00
    has_comma = any(
        "," in (row.get("Bestwertung") or row.get("Maximum Grade") or "") for row in rows
    )
    values_of_rows = [[value.casefold() for value in row.values()] for row in rows]
    # a value of several rows, such as a name of two people, names nobody
    rows_with = Counter(value for values in values_of_rows for value in set(values))
    lines: list[list] = [columns]
    for row, values in zip(rows, values_of_rows):
        # what in this row may say whose it is, the platform's own number first
        number = PARTICIPANT.sub(r"\1", row[identifier].strip())
        keys = [number.casefold(), *(value for value in values if rows_with[value] == 1)]
        learner = next((by_key[key] for key in keys if key in by_key), None)
        new_cells: dict[str, object] = {}
        if learner:
            points = _grade(learner)
            takes_comma = has_comma and points is not None
            new_cells = {
                grade: str(points).replace(".", ",") if takes_comma else points,
                comment: in_a_sentence(learner),
            }
        lines.append([new_cells.get(column, row[column]) for column in columns])
    return lines


def _by_key(learners: Sequence[LearnerRecord]) -> dict[str, LearnerRecord]:
    """Learners by what a worksheet may hold of them: key, e-mail address and Moodle's number.

    Where two learners share a value, it counts as a number first, then as an e-mail address.
    """
    return {
        **{learner.learner.casefold(): learner for learner in learners},
        **{learner.email.casefold(): learner for learner in learners if learner.email},
        **{reading.id: learner for learner in learners for reading in MOODLE.readings_of(learner)},
    }


# Full Name_ID_assignsubmission_file_...; learners may change their names, so only the number can
# be relied on
MOODLE = Platform(
    "moodle",
    re.compile(r"_(?P<id>\d+)_assignsubmission_(?=.)", re.DOTALL),
    _moodle_table,
    is_unmistakable=True,
    filled=_filled_worksheet,
    feedback="{name}_{id}_assignfeedback_file_/feedback.html",
)


# ---------------------------------------------------------------- Canvas


def _canvas_table(learners: Sequence[LearnerRecord], title: str) -> list[list]:
    """Canvas's gradebook, with the most points in the first line."""
    lines: list[list] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title],
        ["Points Possible", "", "", "", "", learners[0].of if learners else 0],
    ]
    for learner in learners:
        number = CANVAS.number(learner)
        # a key from the roster, or from a folder's name, is a login; else it is Canvas's number
        login = learner.learner if learner.listed or not learner.platform else ""
        if learner.login or learner.sis:  # the roster is Canvas's own table, whose ids are its own
            number, login = learner.learner, learner.login
        lines.append(
            [learner.name or learner.learner, number, learner.sis, login, "", _grade(learner)]
        )
    return lines


# name[_LATE]_ID_NUMBER_...; the numbers may overlap, so the pattern is a lookahead, which takes up
# nothing: _812_813_99002_; a file's number has three digits or more, so "_1_2_" is none
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
