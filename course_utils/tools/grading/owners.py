"""Decide which learner each hand-in belongs to: by the platform's part of its name, then by the roster.

What a learner can choose never decides. `platforms` says what each platform puts into a name. A learner chooses what
comes after that, and on some platforms the name before it. So an entry may have two readings; if another learner's
number is among them, it is given to no learner.
"""

import os
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import PurePosixPath

import regex

from ..._support.notebooks import parts
from .platforms import readings
from .untrusted import for_keys, for_messages

WITHOUT_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
TWO_LETTERS = str.maketrans(dict(zip("äöüøåÄÖÜØÅ", "ae oe ue oe aa Ae Oe Ue Oe Aa".split())))
SHORTEST_NUMBER = 5  # digits of an id that may stand beside words: shorter ones are times, versions and sheets
NUMBERED = re.compile(r"(lesson|week|assignment|ps|hw)?[-_ ]?(\d{1,2})", re.IGNORECASE)
WORD = regex.compile(r"[\p{L}\p{N}\p{M}]+")
DATE = re.compile(r"(?<!\d)(\d{4}[-_.]\d\d?[-_.]\d\d?|\d\d?[-_.]\d\d?[-_.]\d{4})(?!\d)")
MOST_WORDS = 6  # of a name or an e-mail
MOST_OF_A_CLASS = 0.8  # as many of the entries below a folder must name somebody, if it is an assignment's
SUFFIXES = re.compile(r"(\.(ipynb|txt|json|zip))+$", re.IGNORECASE)


def normalised(text):
    """A text without the differences between spellings of one name: case, accents, spaces, punctuation."""
    text = unicodedata.normalize("NFKD", str(text)).casefold().translate(WITHOUT_STROKES)
    return "".join(
        letter
        for letter in text
        if letter.isalnum() or unicodedata.category(letter)[0] == "M" and not "\u0300" <= letter <= "\u036f"
    )


@lru_cache(2**14)
def own_part(stem, folder=None):
    """The part of a lesson's file name that a learner added: "ada" in "04_pooling-ada (2)"."""
    for lesson in _stems(folder):
        stem = stem.replace(lesson, " ")
    stem = re.sub(r"\(\d+\)|[-_ ]copy\d*\b|\.ipynb\b", " ", stem, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", stem).strip(" _-.")


@cache
def _stems(folder=None):
    """The names of the lessons; longest first, as one may begin with another."""
    names = [path.stem for path in parts(folder).values()]
    return sorted(names, key=lambda name: (-len(name), name))


@cache
def _of_a_part():
    """What stands behind the number in a further part's key, such as "-layer", as nbgrader calls an assignment."""
    return re.compile(rf"(?<=\d)({'|'.join(key[2:] for key in parts() if len(key) > 2)})$")


def notebooks_named_in(text):
    """The names of lessons in a text: "05_layer" in "05_layer-ada"."""
    return re.findall("|".join(_stems()), text)


def stem_of(name):
    """A file's name without its suffixes, even if repeated: "ada" for "ada.ipynb.txt"."""
    return SUFFIXES.sub("", name) if SUFFIXES.search(name) else PurePosixPath(name).stem


@dataclass(frozen=True)
class Owner:
    """Whose a file is: key, name, and number on a platform; or `why` it belongs to no learner.

    turn: the platform's number of the file, the larger the later; 0 if it has none.
    maybe: the learners on the roster to one of whom it may belong nevertheless.
    doubt: why it may be somebody else's all the same.
    """

    learner: str = ""
    name: str = ""
    platform: str = ""
    number: str = ""
    turn: int = 0
    doubt: str = ""
    why: str = ""
    maybe: tuple[str, ...] = ()


class Roster:
    """Finds the learner that a text names: by exact id, then by id with another case, then by other spellings.

    Other spellings are those of ids, e-mails and names. A text that two learners could claim names neither.
    """

    def __init__(self, people):
        self.people = people.values()
        self.exact = {_raw(person): person for person in self.people}
        self.words = {person: {normalised(word[0]) for word in WORD.finditer(person.name)} for person in self.people}
        self.folded = self._claimed(lambda person: [_folded(_raw(person))])
        self.spellings = {
            **self._claimed(lambda person: map(normalised, _rotations(person.name))),
            **self._claimed(lambda person: [normalised(person.email), normalised(person.email.partition("@")[0])]),
            **self._claimed(lambda person: map(normalised, person.also)),
            **self._claimed(lambda person: [normalised(_raw(person))]),
        }

    def _claimed(self, forms):
        """Which learner each text belongs to; None if several claim it, so that no weaker claim applies."""
        claims = {}
        for person in self.people:
            for text in filter(None, forms(person)):
                claims.setdefault(text, set()).add(person)
        return {text: next(iter(claimants)) if len(claimants) == 1 else None for text, claimants in claims.items()}

    def find(self, text):
        """The learner whom a text names, or None."""
        if text in self.exact:
            return self.exact[text]
        folded = _folded(text)
        return self.folded[folded] if folded in self.folded else self.spellings.get(normalised(text))

    def among(self, text):
        """All learners whom parts of a text name, wherever they stand between other words and signs.

        The longest parts come first, and no word counts twice.
        """
        text = DATE.sub(" ", text)  # its numbers are nobody's id
        words, found, taken = list(WORD.finditer(text)), {}, set()
        has_words = any(word[0].isalpha() and len(word[0]) > 1 for word in words)
        for length in range(min(len(words), MOST_WORDS), 0, -1):
            for start in range(len(words) - length + 1):
                places = range(start, start + length)
                part = text[words[start].start() : words[places[-1]].end()]
                if part.isdigit() and has_words and len(part) < SHORTEST_NUMBER:
                    continue
                if taken.isdisjoint(places) and (person := self.find(part)):
                    if length < len(words) and self._is_given_name(part, person):
                        continue
                    found[person] = None
                    taken.update(places)
        return list(found) + self._others_in(text, found)

    def _is_given_name(self, part, person):
        """Whether a word names somebody only as what stands before the @, which may be a given name of others."""
        part = part.casefold()
        return part.isalpha() and part == person.email.partition("@")[0].casefold() and part != _folded(_raw(person))

    def _others_in(self, text, found):
        """Those whose whole names stand in a text in which others were found, as in "Maria Anna Schmidt"."""
        said = {normalised(word[0]) for word in WORD.finditer(text)}
        named = [len(self.words[one]) for one in found if len(self.words[one]) > 1 and self.words[one] <= said]
        most = max(named, default=0)
        others = (one for one in self.people if one not in found and len(self.words[one]) >= most)
        return [one for one in others if most and self.words[one] <= said]


def _reliable_name(reading):
    """What all entries with the same number must agree on."""
    return reading.platform, normalised(reading.name) if reading.platform.repeats_name else ""


def _are_disjoint(sets):
    """Whether no two of these sets share an element; with what is not known, "", any could."""
    several = list(sets)
    return len(several) < 2 or sum(map(len, several)) == len(set().union(*several)) and "" not in set().union(*several)


def _raw(person):
    return person.raw or person.learner


def _folded(text):
    return unicodedata.normalize("NFC", text).casefold()


def _rotations(name):
    """A name with its words in other orders, also with umlauts as two letters."""
    spelled = {name, unicodedata.normalize("NFC", name).translate(TWO_LETTERS)}
    words = [one.replace(",", " ").split() for one in spelled]
    return ["".join(one[n:] + one[:n]) for one in words for n in range(len(one))]


class Owners:
    """Decides which learner each of these files belongs to.

    They are judged together: by what all paths share, and by which numbers occur.

    files: objects with `parts`, the path; `outer`, how many of the parts the learner did not choose (learners choose
    what is in their zips); `notebook`, whether it counts as one.
    root: the name of the whole download.
    """

    def __init__(self, files, root, people):
        self.root, self.roster = root, Roster(people)
        self.strong = cache(self._strong)
        notebooks = [one for one in files if one.notebook]
        # a roster beside them is not a hand-in
        folders = [one.parts[:-1] for one in files if one.notebook or len(one.parts) > 1]
        self.common = os.path.commonprefix(folders) if folders else ()
        self.alone = len({one.parts[: one.outer] for one in notebooks}) == 1
        self.assignments = self._are_assignments(notebooks)
        self.ids_not_lessons = ()
        self.ids_not_lessons = self._ids_not_lessons(notebooks)
        handed_in = {}
        for one in files:
            handed_in.setdefault(self._entry(one)[0], set()).update(self._lessons_of(one))
        self.word_counts = Counter(
            one for entry in handed_in for one in {normalised(word[0]) for word in WORD.finditer(entry)}
        )
        self._read(handed_in)

    def _read(self, handed_in):
        """Collect the platforms, numbers and names of all entries that can be read in one way only.

        handed_in: {entry: what was handed in there, see `_lessons_of`}.
        """
        self.platforms, self.ids, self.lengths, self.names, self.doubtful, by_name = set(), set(), set(), {}, {}, {}
        read = {entry: found for entry in handed_in if (found := readings(entry))}
        self.fronts = Counter(one.name.replace("_", " ").partition("-")[0] for one, *_ in read.values())
        for first, *later in read.values():
            (self.doubtful if later else self.names).setdefault(first.id, set()).add(_reliable_name(first))
            if not later:
                self.platforms.add(first.platform)
                self.ids.add(first.id)
                self.lengths.update([len(first.file)] * bool(first.file))
        self.known = self.ids | set(self.roster.exact)
        certain = {entry: found[0] for entry, found in read.items() if not self._doubt(found)}
        for entry, one in certain.items():
            if one.id not in self.roster.exact and (person := self._named(one)):
                by_name.setdefault(person, {}).setdefault((one.platform, one.id), set()).update(handed_in[entry])
        listed = {one.id for one in certain.values()}
        self.contested = {
            person: set(numbers)
            for person, numbers in by_name.items()
            if _raw(person) in listed or not _are_disjoint(numbers.values())
        }

    def _named(self, reading):
        """The learner on the roster whom a platform's name means: alone, or behind the name of a group."""
        name = reading.name.replace("_", " ")
        if person := self.roster.find(name):
            return person
        parts = name.split("-")
        behind = ((at, self.roster.find("-".join(parts[at:]))) for at in range(1, len(parts)))
        at, person = next((one for one in behind if one[1]), (0, None))
        return person if person and self._is_group("-".join(parts[:at])) else None

    def _is_group(self, front):
        """Whether what stands before a name is a group's, and no given name: "Team 3", or one that several have."""
        return not front.isalpha() or self.fronts[front] > 1

    def _lessons_of(self, one):
        """What a file is handed in for: its assignment or lessons. A platform numbers a learner anew for each."""
        if self.assignments:
            return {one.parts[len(self.common)]}
        return set(notebooks_named_in("/".join(one.parts))) or {""}

    def _are_assignments(self, notebooks):
        """Whether the folders below what all paths share are assignments: they name nobody, and what is in them does.

        That must be so for nearly all entries: what a learner names does not decide it for a class.
        """
        at = len(self.common)
        entries = {one.parts[at : at + 2] if one.outer > at + 1 else one.parts[at : at + 1] for one in notebooks}
        tops = {entry[0] for entry in entries}
        if len(tops) < 2 or any(map(self._names_somebody, tops)):
            return False
        named = [len(entry) == 2 and self._names_somebody(stem_of(entry[1])) for entry in entries]
        return len(named) > 2 and sum(named) >= MOST_OF_A_CLASS * len(named)

    def _names_somebody(self, part):
        return bool(self.strong(part)) or len(self.roster.among(own_part(part))) == 1

    def of(self, one):
        """The `Owner` of a file."""
        entry, is_file = self._entry(one)
        if found := readings(entry):
            return self._on_platform(found)
        own = own_part(stem_of(entry)) if is_file else entry
        person = next(filter(None, map(self.roster.find, (entry, own, own_part(entry)))), None)
        doubt = ""
        if person is None:
            named = self.roster.among(own)
            if len(named) > 1:
                names = in_words(person.learner for person in named)
                why = f"its name matches {names}; rename it so that it matches one learner"
                return Owner(why=why, maybe=tuple(person.learner for person in named))
            person = next(iter(named), None)
            doubt = person and self._doubt_of_words(own, person) or ""
        return (
            Owner(person.learner, person.name, doubt=doubt)
            if person
            else Owner(for_keys(own or self.root or "nameless"))
        )

    def _doubt_of_words(self, text, person):
        """Why a text in which not all of a learner's name stands may name somebody else, "" if nothing points to it."""
        said = [word[0] for word in WORD.finditer(text)]
        if len(self.roster.words[person]) > 1 and self.roster.words[person] <= set(map(normalised, said)):
            return ""
        id_or_mail = {normalised(word[0]) for word in WORD.finditer(f"{_raw(person)} {person.email}")}
        known = self.roster.words[person] | id_or_mail
        others = [one for one in said if one[0].isupper() and one.isalpha() and normalised(one) not in known]
        unique = [one for one in others if len(one) > 1 and self.word_counts[normalised(one)] == 1]
        return f"taken for {person.learner}'s, and its name also says {in_words(unique)}" if unique else ""

    def _doubt(self, found):
        """Why these readings do not identify an entry's learner; empty if they do."""
        first, *later = found
        others = [one for one in later if one.id != first.id]
        for rivals in (self._is_known, self._fits_this_class, self._takes_the_file_number):
            if clash := [one for one in others if rivals(one, first)]:
                return (
                    f"its name can be read as a hand-in of {in_words([first.id, *(one.id for one in clash)])}; rename "
                    "it so that it matches one learner"
                )
        names = self.names.get(first.id) or self.doubtful[first.id]
        if first.id not in self.roster.exact and (len(names) > 1 or _reliable_name(first) not in names):
            return (
                f"{first.platform.title}'s number {first.id} appears with different names; rename the files that are "
                "not this learner's"
            )
        return ""

    def _is_known(self, other, first):
        """Whether another reading certainly names a learner."""
        return other.platform.is_unmistakable or other.id in self.known

    def _fits_this_class(self, other, first):
        """Whether another reading is of another platform, from which others of this class come."""
        return other.platform != first.platform and other.platform in self.platforms

    def _takes_the_file_number(self, other, first):
        """Whether another reading begins in the number that the first one takes for a file's, and is the likelier one.

        It is if its file's number is higher than its learner's, and no file in this class has a number as long as the
        first reading says.
        """
        return bool(
            other.start <= first.start + len(first.id) + 1
            and (len(other.file), other.file) > (len(other.id), other.id)
            and self.lengths
            and len(first.file) not in self.lengths
        )

    def _on_platform(self, found):
        first, *_ = found
        if why := self._doubt(found):
            return Owner(why=why)
        own = first.name.replace("_", " ")
        person = self.roster.exact.get(first.id)
        if person is None:
            person = self._named(first)
            if person in self.contested:
                numbers = in_words(number for _, number in self.contested[person])
                return Owner(
                    why=f"{person.learner} on the roster has the same name as {numbers}; put the platform's numbers "
                    "into the roster's column id",
                    maybe=(person.learner,),
                )
        key, name = (person.learner, person.name) if person else (for_keys(first.id), "")
        return Owner(key, name or for_messages(own), first.platform.name, first.id, int(first.file or 0))

    def _entry(self, one):
        """The part of a path that identifies the learner, and whether it is a file.

        It is the outermost part below what all paths share, since learners choose what is inside their folders or zips.
        """
        *folders, last = one.parts[: one.outer]
        last += ".zip" * (one.outer < len(one.parts))
        for depth, part in enumerate(folders):
            if self.assignments and depth == len(self.common):
                continue
            if self.strong(part) if depth < len(self.common) else not self.is_lesson(part):
                return part, False
        shared = [part for part in folders[: len(self.common)] if not self.is_lesson(part)]
        if readings(last):
            return last, True
        if shared and self.alone:
            return shared[-1], False
        if own_part(stem_of(last)) and not self.is_lesson(stem_of(last)):
            return last, True
        if one.outer < len(one.parts):  # inside a zip that is named like a lesson
            for depth, part in enumerate(one.parts[one.outer : -1], one.outer):
                if depth >= len(self.common) and not self.is_lesson(part):
                    return part, False
            if own_part(stem_of(one.parts[-1])):
                return one.parts[-1], True
        return (shared[-1] if shared else self.root), False

    def _strong(self, part):
        """Whether a folder's name identifies a learner by itself."""
        return bool(readings(part)) or self.roster.find(part) is not None

    def is_lesson(self, part):
        """Whether a folder is named after a lesson: by a number that the course has and no learner, or by its name."""
        if self.roster.find(part):
            return False
        part = _of_a_part().sub("", part)
        match = NUMBERED.fullmatch(part)
        if not match:
            own = own_part(part)
            return own != part and own.casefold() in ("", "lesson", "week", "assignment", "ps", "hw")
        word, number = (match[1] or "").lower(), match[2]
        if word in ("", "ps", "hw") and part in self.ids_not_lessons or not word and part != number:
            return False
        return word == "week" or number.zfill(2) in _lessons() and (bool(word) or len(number) == 2)

    def _ids_not_lessons(self, notebooks):
        """Folders that have a lesson's number but are learners.

        That is so if no file name identifies a learner, and one lesson is in several folders, or in another lesson's.
        """
        held = {}
        for one in notebooks:
            folders, last = one.parts[: one.outer - 1], one.parts[one.outer - 1]
            below = folders[len(self.common) :] or folders
            if (
                below
                and all(map(self.is_lesson, below))
                and (match := NUMBERED.fullmatch(below[0]))
                and (match[1] or "").lower() in ("", "ps", "hw")
                and not readings(last)
                and not self.roster.find(own_part(stem_of(last)))
            ):
                held.setdefault(below[0], set()).add(last)
        all_names = {name for names in held.values() for name in names}
        same_name = len(held) > 1 and len(all_names) == 1
        lessons = {
            part: {stem[:2] for stem in _stems() for name in names if stem in name} for part, names in held.items()
        }
        if any(own_part(stem_of(name)) for name in all_names):
            lessons = {}
        counts = Counter(lesson for found in lessons.values() for lesson in found)
        unlike = any(part.isdigit() and found - {part} for part, found in lessons.items())
        bare = {one.parts[len(self.common)] for one in notebooks if one.outer - 1 > len(self.common)}
        strangers = any(re.fullmatch(r"\d\d", part) and part not in _lessons() for part in bare)
        if unlike or same_name or strangers or any(number > 1 for number in counts.values()):
            return set(held)
        return ()


@cache
def _lessons():
    return {stem[:2] for stem in _stems()}


def in_words(names):
    """A list in a sentence: at most five of the names."""
    names = [for_messages(name) for name in sorted(set(names))]
    if len(names) > 5:
        names[4:] = [f"{len(names) - 4} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
