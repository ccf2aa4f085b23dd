"""Decide which learner each hand-in belongs to: by the platform's part of its name, then by the
roster.

What a learner can choose never overrides the platform's part. `platforms` says what each platform
puts into a name. A learner chooses what comes after that, and on some platforms the name before it.
So an entry may have two readings; if another learner's number is among them, it is given to no
learner.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from .handed_files import HandedFile, LeftOut
from .platforms import Platform, Reading, readings
from .rosters import Learner, Roster
from .texts import (
    for_keys,
    for_messages,
    in_words,
    normalised,
    notebooks_named_in,
    own_part,
    stem_of,
)

NUMBERED = re.compile(r"(lesson|week|assignment|ps|hw)[-_ ]?\d{1,2}", re.IGNORECASE)
# the share of entries that must name somebody for the folders above them to be assignments: nearly
# all, since one learner's odd names must not decide it for a class
MOST_OF_A_CLASS = 0.8


@dataclass(frozen=True)
class Owner:
    """Whose a file is: key, name, and number on a platform.

    name, platform, number: "" if nothing says so.
    turn: the platform's number of the file, the larger the later; 0 if it has none.
    """

    learner: str
    name: str = ""
    platform: str = ""
    number: str = ""
    turn: int = 0


class Owners:
    """Decides which learner each of these files belongs to.

    They are judged together: by what all paths share, and by which numbers occur.

    An entry is the part of a path that identifies the learner, see `_entry`. Platforms number their
    learners: some entries can be read as a hand-in of more than one number.

    files: all of the download, also those that are no notebooks.
    root: the name of the whole download.
    people: the learners on the roster, by key.

    identifies: `_identifies`, which is asked about the same folders again and again.
    common: the folders that all paths share.
    is_one_entry: whether all notebooks belong to one entry.
    has_assignments: whether the folders below `common` are assignments.
    platforms: of the entries that can be read in one way only.
    file_digits: how many digits the numbers of their files have.
    names_of: by a learner's number, what these entries say, see `_reliable_name`.
    doubtful_names_of: the same of the entries that can be read in several ways.
    contested: by a learner of the roster whose name several people may have, their numbers.
    """

    def __init__(
        self, files: Sequence[HandedFile], root: str, people: Mapping[str, Learner]
    ) -> None:
        self.root = root
        self.roster = Roster(people)
        self.identifies = cache(self._identifies)
        notebooks = [file for file in files if file.notebook]
        # a roster beside the folders is not a hand-in
        folders = [file.parts[:-1] for file in files if file.notebook or len(file.parts) > 1]
        # in this order: `_entry` needs all three of these, and `_collect_readings` the entries
        self.common = os.path.commonprefix(folders) if folders else ()
        self.is_one_entry = len({file.parts[: file.outer] for file in notebooks}) == 1
        self.has_assignments = self._are_assignments(notebooks)
        lessons_of: dict[str, set[str]] = {}
        for file in files:
            entry, _ = self._entry(file)
            lessons_of.setdefault(entry, set()).update(self._lessons_of(file))
        self.platforms: set[Platform] = set()
        self.file_digits: set[int] = set()
        self.names_of: dict[str, set[tuple[Platform, str]]] = {}
        self.doubtful_names_of: dict[str, set[tuple[Platform, str]]] = {}
        all_ways = {entry: readings(entry) for entry in lessons_of}
        ways_of = {entry: ways for entry, ways in all_ways.items() if ways}
        self._collect_readings(ways_of.values())
        self.contested = self._contested(ways_of, lessons_of)

    def of(self, file: HandedFile) -> Owner | LeftOut:
        """The owner of a file, which must be one of `files`, or why it has none."""
        entry, is_file = self._entry(file)
        if ways := readings(entry):
            return self._on_platform(file, ways)
        own = own_part(stem_of(entry)) if is_file else entry  # without the lesson's name
        for text in (entry, own, own_part(entry)):
            if person := self.roster.find(text):
                return Owner(person.learner, person.name)
        named = self.roster.among(own)
        if not named:
            return Owner(for_keys(own or self.root or "nameless"))
        if len(named) == 1:
            return Owner(named[0].learner, named[0].name)
        maybe = tuple(person.learner for person in named)
        why = f"its name matches {in_words(maybe)}; rename it so that it matches one learner"
        return LeftOut(file.file, why, maybe)

    # ---------------------------------------------------------------- platforms

    def _collect_readings(self, ways_of_entries: Iterable[Sequence[Reading]]) -> None:
        """Collect what the readings of each entry say about platforms, numbers and names."""
        for first, *others in ways_of_entries:
            if others:
                self.doubtful_names_of.setdefault(first.id, set()).add(_reliable_name(first))
                continue
            self.names_of.setdefault(first.id, set()).add(_reliable_name(first))
            self.platforms.add(first.platform)
            if first.file:
                self.file_digits.add(len(first.file))

    def _contested(
        self, ways_of: Mapping[str, Sequence[Reading]], lessons_of: Mapping[str, set[str]]
    ) -> dict[Learner, set[str]]:
        """The numbers under those names of the roster that several people may have, by learner.

        ways_of: the readings of each entry. lessons_of: what each was handed in for, see
        `_lessons_of`.
        """
        certain = {
            entry: ways[0] for entry, ways in ways_of.items() if not self._doubt_of_readings(ways)
        }
        handed_by: dict[Learner, dict[str, set[str]]] = {}
        for entry, reading in certain.items():
            person = None if reading.id in self.roster.exact else self._named(reading)
            if person:
                by_number = handed_by.setdefault(person, {})
                by_number.setdefault(reading.id, set()).update(lessons_of[entry])
        listed = {reading.id for reading in certain.values()}
        # one person has one number for each lesson, and does not hand in under two keys
        return {
            person: set(by_number)
            for person, by_number in handed_by.items()
            if person.learner in listed or not _are_disjoint(list(by_number.values()))
        }

    def _named(self, reading: Reading) -> Learner | None:
        """The learner whom a platform's name means: alone, or behind the name of a group."""
        name = reading.name
        if person := self.roster.find(name):
            return person
        for place, sign in enumerate(name):
            if sign == "-" and (person := self.roster.find(name[place + 1 :])):
                # a front of letters alone is a given name: Anna-Lena is not Lena
                return None if name[:place].isalpha() else person
        return None

    def _on_platform(self, file: HandedFile, ways: Sequence[Reading]) -> Owner | LeftOut:
        if why := self._doubt_of_readings(ways):
            return LeftOut(file.file, why)
        first = ways[0]
        person = self.roster.exact.get(first.id) or self._named(first)
        if person and person.learner != first.id and person in self.contested:
            why = (
                f"{person.learner} on the roster has the same name as "
                f"{in_words(self.contested[person])}; put the platform's numbers into the roster's "
                "column id"
            )
            return LeftOut(file.file, why, (person.learner,))
        person = person or Learner(for_keys(first.id))
        return Owner(
            person.learner,
            person.name or for_messages(first.name),
            platform=first.platform.name,
            number=first.id,
            turn=int(first.file or 0),
        )

    def _doubt_of_readings(self, ways: Sequence[Reading]) -> str:
        """Why these readings do not identify an entry's learner; empty if they do."""
        first = ways[0]
        rivals = [
            other.id for other in ways if other.id != first.id and self._is_rival(other, first)
        ]
        if rivals:
            return (
                f"its name can be read as a hand-in of {in_words([first.id, *rivals])}; rename it "
                "so that it matches one learner"
            )
        names = self.names_of.get(first.id) or self.doubtful_names_of[first.id]
        if first.id in self.roster.exact or names == {_reliable_name(first)}:
            return ""
        return (
            f"{first.platform.name.title()}'s number {first.id} appears with different names; "
            "rename the files that are not this learner's"
        )

    def _is_rival(self, other: Reading, first: Reading) -> bool:
        """Whether a second reading of an entry may be meant in place of the first one."""
        if (
            other.platform.is_unmistakable
            or other.id in self.names_of
            or other.id in self.roster.exact
        ):
            return True
        if other.platform != first.platform and other.platform in self.platforms:
            return True
        # As in _812_813_99002_, both may match: what the first reading takes for a file's number is
        # the other's learner. The other is likelier if its file's number is higher than its
        # learner's (of two numbers, the longer one is higher), and if no file of this class has a
        # number as long as the first reading says. A match begins with the "_" before the number,
        # so the first learner's number ends, with a "_", at start + length + 1.
        overlaps = other.start <= first.start + len(first.id) + 1
        is_higher = (len(other.file), other.file) > (len(other.id), other.id)
        is_odd_one = bool(self.file_digits) and len(first.file) not in self.file_digits
        return overlaps and is_higher and is_odd_one

    # ---------------------------------------------------------------- folders

    def _entry(self, file: HandedFile) -> tuple[str, bool]:
        """The part of a path that identifies the learner, and whether it is a file.

        It is the outermost part below what all paths share, since learners choose what is inside
        their folders or zips.
        """
        *folders, last = file.parts[: file.outer]
        if file.outer < len(file.parts):  # a learner's zip, whose label has lost its suffix
            last += ".zip"
        for depth, part in enumerate(folders):
            # an assignment's folder is nobody's
            if self.has_assignments and depth == len(self.common):
                continue
            # a folder that all paths share must name a learner by itself; another must only be no
            # lesson's
            is_shared = depth < len(self.common)
            identifies_learner = self.identifies(part) if is_shared else not self.is_lesson(part)
            if identifies_learner:
                return part, False
        if readings(last):
            return last, True
        # the file may have the lesson's own name: then the folder around it says whose it is, else
        # the name of the download
        shared = [part for part in folders[: len(self.common)] if not self.is_lesson(part)]
        if shared and self.is_one_entry:
            return shared[-1], False
        if own_part(stem_of(last)) and not self.is_lesson(stem_of(last)):
            return last, True
        return (shared[-1] if shared else self.root), False

    def _identifies(self, part: str) -> bool:
        """Whether a folder's name identifies a learner by itself."""
        return bool(readings(part)) or self.roster.find(part) is not None

    def _lessons_of(self, file: HandedFile) -> set[str]:
        """What a file is handed in for: its assignment or lessons, {""} if that is not known.

        A platform numbers a learner anew for each.
        """
        if self.has_assignments:
            return {file.parts[len(self.common)]}
        return set(notebooks_named_in("/".join(file.parts))) or {""}

    def _are_assignments(self, notebooks: Sequence[HandedFile]) -> bool:
        """Whether the folders below what all paths share are assignments.

        These name nobody, and what is in them does. That must be so for nearly all entries: what
        one learner names does not decide it for a class.
        """
        depth = len(self.common)
        entries = set()  # the folder and what is in it, without what is in a learner's zip
        for file in notebooks:
            levels = 2 if file.outer > depth + 1 else 1
            entries.add(file.parts[depth : depth + levels])
        folders = {entry[0] for entry in entries}
        if len(folders) < 2 or any(self._names_somebody(folder) for folder in folders):
            return False
        # of one or two entries, a learner's choice of a name could be most
        named = [len(entry) == 2 and self._names_somebody(stem_of(entry[1])) for entry in entries]
        return len(named) > 2 and sum(named) >= MOST_OF_A_CLASS * len(named)

    def _names_somebody(self, part: str) -> bool:
        return self.identifies(part) or len(self.roster.among(own_part(part))) == 1

    def is_lesson(self, part: str) -> bool:
        """Whether a folder is named after a lesson: "lesson-04", "week 4", "04_pooling".

        A number alone is a learner's: some have short ids.
        """
        if self.roster.find(part):
            return False
        return not own_part(part) or NUMBERED.fullmatch(part) is not None


def _reliable_name(reading: Reading) -> tuple[Platform, str]:
    """What all entries with the same number must agree on.

    It is the platform, and on one that repeats names, the name; else "".
    """
    return reading.platform, normalised(reading.name) if reading.platform.repeats_name else ""


def _are_disjoint(sets: Sequence[set[str]]) -> bool:
    """Whether no two of these sets share an element; "", an unknown one, may equal any."""
    elements = [element for group in sets for element in group]
    return len(sets) < 2 or ("" not in elements and len(elements) == len(set(elements)))
