"""The class as its teacher lists it, and which of these learners a text names."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import regex

from .csv_files import normalised_rows
from .platforms import PARTICIPANT
from .results import GradeError, LearnerRecord
from .texts import for_keys, for_messages, normalised

# by what it holds, how a column may be called, in English or German, as `normalised` spells it; of
# several columns, the first that is filled counts
COLUMNS = {
    "id": """
        learner id username login identifier idnumber studentid sisloginid anmeldename benutzername
        idnummer matrikelnummer matrikelnr sid netid studentnumber orgdefinedid githubusername
        sisuserid
    """.split(),
    "name": ["name", "fullname", "student", "vollstandigername"],
    "email": ["email", "emailaddress", "mail", "emailadresse"],
    "first": ["firstname", "givenname", "vorname"],
    "last": ["lastname", "surname", "familyname", "nachname"],
    "login": ["sisloginid"],
    "sis": ["sisuserid"],
}
HEADINGS = frozenset(name for names in COLUMNS.values() for name in names)
# how umlauts and Nordic letters are written where there are none, as in e-mails
TWO_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
    | {"Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Ø": "Oe", "Å": "Aa"}
)
# digits of an id that may stand beside words: shorter ones are times, versions and sheets
SHORTEST_NUMBER = 5
MOST_WORDS = 6  # of a name, id or e-mail that is searched for in a longer text
WORD = regex.compile(r"[\p{L}\p{N}\p{M}]+")  # letters, digits and accents of any script
# 2026-12-04 or 4.12.2026, not inside a longer number
DATE = re.compile(r"(?<!\d)(\d{4}[-_.]\d\d?[-_.]\d\d?|\d\d?[-_.]\d\d?[-_.]\d{4})(?!\d)")


@dataclass(frozen=True)
class Learner:
    """A line of the roster.

    learner: the key, as `learner_in` takes it from the row.
    login, sis: what Canvas's gradebook has beside its own id.
    also: what stands in the roster's other columns of ids.
    """

    learner: str
    name: str = ""
    email: str = ""
    login: str = ""
    sis: str = ""
    also: tuple[str, ...] = ()


def read_roster(path: str | Path) -> dict[str, Learner]:
    """The learners in a CSV file, by key.

    The columns that count are an id (or username, learner, ...), a name (or first and last name)
    and an email, in English or German. Lines above these headings do not count, nor do empty ones
    and those of Canvas's gradebook that are about no learner. "Participant 812", as Moodle's
    grading worksheet has it, is the number 812.

    Raises GradeError if a row has neither an id nor an email, if two rows have the same key, or if
    there are no learners; and for a file that is not such a table, as `numbered_rows` does.
    """
    learners = {}
    for line, cells in normalised_rows(path, HEADINGS):
        person = learner_in(cells)
        # Canvas adds a line with the possible points, and a student for tests; without a column
        # Student, no line is one of Canvas's own
        canvas_student = cells.get("student", "a name")
        is_canvas_line = normalised(canvas_student) in ("", "pointspossible") and not person.learner
        if is_canvas_line or canvas_student == "Student, Test" or not any(cells.values()):
            continue
        if not person.learner:
            raise GradeError(
                f"The roster {path} has no id and no email in {line}; name the columns id, name, "
                "email."
            )
        if person.learner in learners:
            raise GradeError(f"The roster {path} has {person.learner!r} twice (again in {line}).")
        learners[person.learner] = person
    if not learners:
        raise GradeError(f"The roster {path} has no learners.")
    return learners


def learner_in(cells: Mapping[str, str]) -> Learner:
    """Whom a row is about.

    cells: by `normalised` column. The key is the id, else the email, "" if both are missing.
    """
    values = {kind: _first_filled(cells, columns) for kind, columns in COLUMNS.items()}
    key = for_keys(PARTICIPANT.sub(r"\1", values["id"]) or values["email"])
    name, first = values["name"], values["first"]
    # if a column Name lacks the first name that another column has, it holds the last name; Jansen
    # lacks Jan, but scripts without capitals may leave no space between names, as in Chinese
    is_part = first in name and first.upper() == first.lower()
    if not name or not (is_part or _words(first) <= _words(name)):
        name = f"{first} {values['last'] or name}".strip()
    ids = [cells.get(column, "") for column in COLUMNS["id"]]
    return Learner(
        key,
        name=for_messages(name),
        email=for_messages(values["email"]),
        login=for_messages(values["login"]),
        sis=for_messages(values["sis"]),
        also=tuple(other for other in dict.fromkeys(ids) if other not in ("", key)),
    )


def _first_filled(cells: Mapping[str, str], columns: Iterable[str]) -> str:
    return next((cells[column] for column in columns if cells.get(column)), "")


class Roster:
    """Finds the learner that a text names: by exact id, then by other spellings of ids, e-mails and
    names.

    The kinds of spellings, the strongest first: ids, the roster's other ids, e-mails, names. A
    stronger claim to a spelling beats a weaker one; of two equal ones, neither counts.

    people: the learners by key.
    """

    def __init__(self, people: Mapping[str, Learner]) -> None:
        self.people = people.values()
        self.exact = {person.learner: person for person in self.people}
        self.words_of = {person: _words(person.name) for person in self.people}
        # the strongest kind comes last: it replaces the others' claims to the same spelling
        self.spellings = {
            **self._claimed(lambda person: _rotations(person.name)),
            **self._claimed(lambda person: [person.email, person.email.partition("@")[0]]),
            **self._claimed(lambda person: person.also),
            **self._claimed(lambda person: [person.learner]),
        }

    def _claimed(self, texts_of: Callable[[Learner], Iterable[str]]) -> dict[str, Learner | None]:
        """By `normalised` spelling, the learner whom it belongs to; None if several claim it, so
        that no weaker claim applies.
        """
        claims: dict[str, set[Learner]] = {}
        for person in self.people:
            for text in texts_of(person):
                claims.setdefault(normalised(text), set()).add(person)
        claims.pop("", None)  # what is missing in the roster names nobody
        return {
            text: claimants.pop() if len(claimants) == 1 else None
            for text, claimants in claims.items()
        }

    def find(self, text: str) -> Learner | None:
        """The learner whom a text names, or None."""
        return self.exact.get(text) or self.spellings.get(normalised(text))

    def among(self, text: str) -> list[Learner]:
        """All learners whom parts of a text name, wherever they stand between other words and
        signs; empty if there are none.

        The longest parts are tried first, no word counts twice, and dates do not count.
        """
        text = DATE.sub(" ", text)  # its numbers are nobody's id
        words = list(WORD.finditer(text))
        has_words = any(len(word[0]) > 1 and word[0].isalpha() for word in words)
        named, taken = [], set()
        for stretch in _stretches(len(words)):
            if not taken.isdisjoint(stretch):
                continue
            part = text[words[stretch[0]].start() : words[stretch[-1]].end()]
            if has_words and part.isdigit() and len(part) < SHORTEST_NUMBER:
                continue
            person = self.find(part)
            is_whole_text = len(stretch) == len(words)
            if person and (is_whole_text or not _is_given_name(part, person)):
                named.append(person)
                taken.update(stretch)
        return list(dict.fromkeys(named)) + self._others_in(text, named)

    def _others_in(self, text: str, named: list[Learner]) -> list[Learner]:
        """Those whose whole names stand in a text that names others, as in "Maria Anna Schmidt"."""
        words = _words(text)
        # a name of a single word may be a part of anybody's
        fully_named = [
            person
            for person in self.people
            if len(self.words_of[person]) > 1 and self.words_of[person] <= words
        ]
        longest = max(
            (len(self.words_of[person]) for person in fully_named if person in named), default=0
        )
        if not longest:  # nobody is named by a whole name, so a longer one cannot be meant
            return []
        # a shorter whole name may be a part of the one that was found
        return [
            person
            for person in fully_named
            if person not in named and len(self.words_of[person]) >= longest
        ]


def roster_of(records: Iterable[LearnerRecord]) -> Roster:
    """A `Roster` that finds these learners by id, name or e-mail."""
    return Roster(
        {record.learner: Learner(record.learner, record.name, record.email) for record in records}
    )


def _words(text: str) -> set[str]:
    return {normalised(word) for word in WORD.findall(text)}


def _stretches(number: int) -> Iterable[range]:
    """The places of neighbours among so many words, MOST_WORDS at most, the longest first."""
    for length in range(min(number, MOST_WORDS), 0, -1):
        for start in range(number - length + 1):
            yield range(start, start + length)


def _is_given_name(word: str, person: Learner) -> bool:
    """Whether a word is what stands before the @ of this learner's e-mail, and not the id: it may
    be a given name, which others have, too.
    """
    mailbox = person.email.partition("@")[0]
    spelled = word.casefold()
    return word.isalpha() and spelled == mailbox.casefold() and spelled != person.learner.casefold()


def _rotations(name: str) -> Iterable[str]:
    """A name beginning with each of its words in turn, also with umlauts as two letters.

    The words are joined without spaces, as `normalised` would: "AdaLovelace", "LovelaceAda".
    """
    two_letters = unicodedata.normalize("NFC", name).translate(TWO_LETTERS)
    for spelled in (name, two_letters):
        words = spelled.replace(",", " ").split()
        for first in range(len(words)):
            yield "".join(words[first:] + words[:first])
