"""Decide which learner each hand-in belongs to: by the platform's part of its name, then by the
roster.

What a learner can choose never decides. `platforms` says what each platform puts into a name. A
learner chooses what comes after that, and on some platforms the name before it. So an entry may
have two readings; if another learner's number is among them, it is given to no learner.
"""

import os
import re
from collections.abc import Mapping, Sequence
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
# as many of the entries below a folder must name somebody, if it is an assignment's
MOST_OF_A_CLASS = 0.8


@dataclass(frozen=True)
class Owner:
    """Whose a file is: key, name, and number on a platform.

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

    root: the name of the whole download.

    common: the folders that all paths share.
    is_one_entry: whether all notebooks belong to one entry.
    assignments: whether the folders below `common` are assignments.
    platforms, lengths, names, doubtful, contested: see `_collect_readings`.
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
        self.assignments = self._are_assignments(notebooks)
        handed_in: dict[str, set[str]] = {}
        for file in files:
            entry, _ = self._entry(file)
            handed_in.setdefault(entry, set()).update(self._lessons_of(file))
        self._collect_readings(handed_in)

    def of(self, file: HandedFile) -> Owner | LeftOut:
        """The owner of a file, or why it has none."""
        entry, is_file = self._entry(file)
        if ways := readings(entry):
            return self._on_platform(file, ways)
        own = own_part(stem_of(entry)) if is_file else entry
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

    def _collect_readings(self, handed_in: Mapping[str, set[str]]) -> None:
        """Collect the platforms, numbers and names of all entries that can be read in one way only.

        handed_in: {entry: what was handed in there, see `_lessons_of`}.

        names: by number, what the entries of a single reading agree on.
        doubtful: the same of the entries with several readings.
        contested: see `_contested`.
        """
        self.platforms: set[Platform] = set()
        self.lengths: set[int] = set()  # of the numbers of files
        self.names: dict[str, set[tuple[Platform, str]]] = {}
        self.doubtful: dict[str, set[tuple[Platform, str]]] = {}
        all_ways = {entry: readings(entry) for entry in handed_in}
        ways_of = {entry: ways for entry, ways in all_ways.items() if ways}
        for first, *others in ways_of.values():
            if others:
                self.doubtful.setdefault(first.id, set()).add(_reliable_name(first))
                continue
            self.names.setdefault(first.id, set()).add(_reliable_name(first))
            self.platforms.add(first.platform)
            if first.file:
                self.lengths.add(len(first.file))
        certain = {
            entry: ways[0] for entry, ways in ways_of.items() if not self._doubt_of_readings(ways)
        }
        self.contested = self._contested(certain, handed_in)

    def _contested(
        self, certain: Mapping[str, Reading], handed_in: Mapping[str, set[str]]
    ) -> dict[Learner, set[str]]:
        """The numbers of those learners whose name several people may have."""
        handed_by: dict[Learner, dict[str, set[str]]] = {}
        for entry, reading in certain.items():
            person = None if reading.id in self.roster.exact else self._named(reading)
            if person:
                by_number = handed_by.setdefault(person, {})
                by_number.setdefault(reading.id, set()).update(handed_in[entry])
        listed = {reading.id for reading in certain.values()}
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
        names = self.names.get(first.id) or self.doubtful[first.id]
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
            or other.id in self.names
            or other.id in self.roster.exact
        ):
            return True
        if other.platform != first.platform and other.platform in self.platforms:
            return True
        # As in _812_813_99002_, both may match: what the first reading takes for a file's number is
        # the other's learner. The other is likelier if its file's number is higher than its
        # learner's (of two numbers, the longer one is higher), and if no file of this class has a
        # number as long as the first reading says.
        overlaps = other.start <= first.start + len(first.id) + 1
        is_higher = (len(other.file), other.file) > (len(other.id), other.id)
        is_odd_one = bool(self.lengths) and len(first.file) not in self.lengths
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
            if self.assignments and depth == len(self.common):  # an assignment's folder is nobody's
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
        if self.assignments:
            return {file.parts[len(self.common)]}
        return set(notebooks_named_in("/".join(file.parts))) or {""}

    def _are_assignments(self, notebooks: Sequence[HandedFile]) -> bool:
        """Whether the folders below what all paths share are assignments.

        These name nobody, and what is in them does. That must be so for nearly all entries: what
        one learner names does not decide it for a class.
        """
        depth = len(self.common)
        entries = set()
        for file in notebooks:
            levels = 2 if file.outer > depth + 1 else 1
            entries.add(file.parts[depth : depth + levels])
        folders = {entry[0] for entry in entries}
        if len(folders) < 2 or any(self._names_somebody(folder) for folder in folders):
            return False
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
    """What all entries with the same number must agree on."""
    return reading.platform, normalised(reading.name) if reading.platform.repeats_name else ""


def _are_disjoint(sets: Sequence[set[str]]) -> bool:
    """Whether no two of these sets share an element; with what is not known, "", any could."""
    elements = [element for group in sets for element in group]
    return len(sets) < 2 or ("" not in elements and len(elements) == len(set(elements)))
