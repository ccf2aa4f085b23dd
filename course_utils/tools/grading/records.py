"""Combine what a learner handed in into one record: who has which marks, what is missing, and
why.
"""

import hashlib
import hmac
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..._support.notebooks import part_with
from ...exercises import find
from ..workspace.copies import REPORT_STUB
from .handed_files import LeftOut
from .results import (
    ANSWERED,
    LEFT_OUT,
    MISSING,
    MISSING_EXERCISE,
    NOT_ATTEMPTED,
    NOT_MARKED,
    NOTHING,
    OK,
    SAME_FILE,
    UNANSWERED,
    UNREADABLE,
    HandMarkedCell,
    LearnerRecord,
    Mark,
    Result,
    gravest,
)
from .rosters import Learner
from .store import Entry
from .submissions import Gathered, HandIn
from .texts import in_words

SECRET_DIGITS, DIGEST_DIGITS = 32, 10  # of checksums in names of pages, with a secret and without
# characters of a key in the name of its page: as it is, or before "-" and a checksum
LONGEST_PLAIN, LONGEST_SLUG = 60, 60 - DIGEST_DIGITS - 1
# keys that can be the name of a page as they are, and those that look like one with a checksum
PLAIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
HASHED = re.compile(rf"-[0-9a-f]{{{DIGEST_DIGITS}}}$")
LEFT_OUT_REASON = "what may be this learner's was left out"
STRANGER = "not on the roster"
MOST_WITH_NOTHING = 0.8  # of a class, before it is doubted


def records(
    hand_ins: Gathered,
    entries: Mapping[tuple[str, str], Entry | None],
    roster: Mapping[str, Learner],
    work: Mapping[str, dict],
    lessons: Sequence[str] | None = None,
    secret: bytes | None = None,
) -> list[LearnerRecord]:
    """A `LearnerRecord` for each learner, with every exercise of the lessons that count.

    hand_ins: those of the whole class, as `submissions.gather` returns them.
    entries: by learner and file, the `store.Entry`, or None if it was not marked.
    roster: by key, the learners who get a record even if they handed nothing in.
    work: see `marking.assignment`.
    lessons: those that count; None for all in which somebody handed something in.
    secret: see `page_name`.
    """
    results = {key: entry.result for key, entry in entries.items() if entry}
    wanted = lessons or {lesson for result in results.values() for lesson in result.lessons}
    expected = {
        exercise: most
        for exercise, (_, most) in work["exercises"].items()
        if part_with(exercise) in wanted
    }
    by_hand = {cell: most for cell, most in work["by_hand"].items() if part_with(cell) in wanted}
    files_of: dict[str, list[HandIn]] = {key: [] for key in roster}
    for hand_in in hand_ins:
        files_of.setdefault(hand_in.learner, []).append(hand_in)
    learners = {
        key: _record(key, page_name(key, secret), files, roster)
        for key, files in sorted(files_of.items())
    }
    twins_of = _with_the_same_file(hand_ins, learners)
    for key, record in learners.items():
        marks = _marks_of(files_of[key], results, expected, twins_of)
        _fill(record, marks, by_hand, work["rubrics"], hand_ins.left_out)
    _note_namesakes(learners.values())
    return list(learners.values())


def _with_the_same_file(
    hand_ins: Iterable[HandIn], learners: Mapping[str, LearnerRecord]
) -> dict[str, dict[str, str]]:
    """Who handed in each file: {SHA-256 of a file: {learner: how a sentence names the learner}}."""
    holders: dict[str, dict[str, str]] = {}
    for hand_in in hand_ins:
        if hand_in.sha256:
            key, name = hand_in.learner, learners[hand_in.learner].name
            in_a_sentence = f"{name} ({key})" if name not in ("", key) else key
            holders.setdefault(hand_in.sha256, {})[key] = in_a_sentence
    return holders


def _marks_of(
    hand_ins: Iterable[HandIn],
    results: Mapping[tuple[str, str], Result],
    expected: Mapping[str, float],
    twins_of: Mapping[str, Mapping[str, str]],
) -> "_LatestMarks":
    """What counts of one learner's hand-ins.

    results: by learner and file. expected: the most points by exercise. twins_of: who handed in
    each file, see `_with_the_same_file`.
    """
    marks = _LatestMarks(expected)
    for hand_in in sorted(hand_ins, key=_order_of_time):
        unmarked = Result(UNREADABLE, hand_in.problem or "it was not marked")
        twins = [
            name
            for learner, name in twins_of.get(hand_in.sha256, {}).items()
            if learner != hand_in.learner
        ]
        marks.add(hand_in.file, results.get((hand_in.learner, hand_in.file), unmarked), twins)
    return marks


def _fill(
    record: LearnerRecord,
    marks: "_LatestMarks",
    by_hand: Mapping[str, float],
    rubrics: Mapping[str, dict[str, float]],
    left_out: Iterable[LeftOut],
) -> None:
    """Fill a learner's record.

    by_hand: the most points by cell that a person marks. rubrics: see `marking.assignment`.
    left_out: of the whole class.
    """
    marks.write_to(record)
    _note_left_out(record, left_out)  # looks at the status
    record.by_hand = {
        cell: HandMarkedCell(most, _without_stub(marks.texts.get(cell, "")), rubrics.get(cell, {}))
        for cell, most in by_hand.items()
    }
    record.texts = {
        name: text
        for name, text in marks.texts.items()
        if name in by_hand or name in marks.expected
    }
    record.add_up()


def _record(
    key: str, page: str, files: Sequence[HandIn], roster: Mapping[str, Learner]
) -> LearnerRecord:
    """A new record: who a learner is, and what was handed in.

    The name and so on are the roster's, else those of the first hand-in that has some.
    """
    name = next((hand_in.name for hand_in in files if hand_in.name), "")
    person = roster.get(key, Learner(key, name))
    on_platform = next((hand_in for hand_in in files if hand_in.platform), HandIn(key))
    return LearnerRecord(
        learner=key,
        page=page,
        name=person.name,
        email=person.email,
        platform=on_platform.platform,
        number=on_platform.number,
        login=person.login,
        sis=person.sis,
        listed=key in roster,
        notes=[STRANGER] if roster and key not in roster else [],
        handed_in=[hand_in.file for hand_in in sorted(files, key=_order_of_time)],
    )


def _note_left_out(record: LearnerRecord, left_out: Iterable[LeftOut]) -> None:
    """Note the files that may be this learner's, as the reason if there are no others."""
    record.notes += [
        f"{LEFT_OUT}{file.file}: {file.why}" for file in left_out if record.learner in file.maybe
    ]
    if record.status == NOTHING and record.has_left_out:
        record.reason = LEFT_OUT_REASON


def _note_namesakes(learners: Collection[LearnerRecord]) -> None:
    """Note files that may be theirs in the records of learners who share a name.

    These learners have handed nothing in, and the files are those of strangers of that name.
    """
    # who has no name on the roster has no namesakes either
    namesakes = Counter(
        learner.name for learner in learners if learner.status == NOTHING and learner.name
    )
    strangers = [
        learner
        for learner in learners
        if STRANGER in learner.notes and learner.files and namesakes[learner.name] > 1
    ]
    for stranger in strangers:
        for learner in learners:
            if learner.name == stranger.name and learner.status == NOTHING:
                learner.notes += [
                    f"{LEFT_OUT}{file}: several on the roster have this name"
                    for file in stranger.files
                ]
                learner.reason = LEFT_OUT_REASON


def doubtful_owners(learners: Sequence[LearnerRecord]) -> str:
    """Why these learners may not be those who handed the files in, in a sentence or two; "" if
    nothing points to it.
    """
    absent = [learner.learner for learner in learners if learner.status == NOTHING]
    strangers = [
        learner.files[0] for learner in learners if STRANGER in learner.notes and learner.files
    ]
    if absent and strangers:
        return (
            f"{len(absent)} on the roster have handed nothing in ({in_words(absent)}), and "
            f"hand-ins of {len(strangers)} belong to nobody on it ({in_words(strangers)}). If "
            "these are the same people: write the id, the e-mail or the whole name into the name "
            "of the file or folder, or the platform's number into the roster's column id, and run "
            "this again. Of several people of one name, only the number says which; Moodle's "
            "grading worksheet of the assignment has it, and can be the roster."
        )
    if len(absent) > MOST_WITH_NOTHING * len(learners):
        return (
            f"Nearly everybody has handed nothing in ({in_words(absent)}): {len(absent)} of "
            f"{len(learners)}. Are these the right files, roster and lessons?"
        )
    return ""


def _order_of_time(hand_in: HandIn) -> tuple[int, float, int, str]:
    """What sorts a learner's hand-ins, the latest last; "x (2)" was downloaded after "x"."""
    # a browser's number of a copy has few digits; a learner may write any number
    copy = re.search(r"\((\d{1,4})\)", hand_in.file)
    return hand_in.turn, hand_in.modified, int(copy[1]) if copy else 0, hand_in.file


@dataclass
class _LatestMarks:
    """The marks of one learner, while hand-ins are added, the latest last.

    expected: the most points of each exercise that counts.
    marks, texts: by exercise; texts also by cell that a person marks.
    sources: the file of each mark.
    read: the result of each file that could be read.
    latest: the file of each lesson.
    repeated: the lessons that were handed in more than once.
    notes: what the teacher should know about the files.
    unreadable, not_marked: the reasons, a sentence for each file.
    """

    expected: Mapping[str, float]
    marks: dict[str, Mark] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    read: dict[str, Result] = field(default_factory=dict)
    latest: dict[str, str] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    not_marked: list[str] = field(default_factory=list)

    def add(self, file: str, result: Result, twins: Sequence[str]) -> None:
        """Add a hand-in.

        twins: how a sentence names the other learners who handed in the same bytes.
        """
        if result.status == UNREADABLE:
            self.unreadable.append(f"{file}: {result.reason}")
        elif result.status == NOT_MARKED:
            self.not_marked.append(f"{file}: {result.reason}")
            # nobody knows which exercises it answers, and it may take the place of any earlier
            # answer; so none has points, until this is marked or a later hand-in replaces the mark
            self.marks |= {
                exercise: Mark(
                    title=find(exercise).title,
                    status=NOT_MARKED,
                    points=None,
                    of=most,
                    state=NOT_MARKED,
                    reason=result.reason,
                )
                for exercise, most in self.expected.items()
            }
        else:
            self._add_lessons(file, result)
            self._add_marks(file, result.exercises)
            self._add_texts(file, result)
            if twins and any(mark.status in ANSWERED for mark in result.exercises.values()):
                self.notes.append(f"{SAME_FILE}{in_words(twins)}")

    def _add_lessons(self, file: str, result: Result) -> None:
        """Note which lessons this file is the latest of."""
        self.read[file] = result
        present = {
            exercise for exercise, mark in result.exercises.items() if mark.status != MISSING
        }
        present |= result.texts.keys() - result.exercises.keys()  # what a person marks
        self.repeated |= {part_with(exercise) for exercise in present} & self.latest.keys()
        # without any, it is a hand-in of all its lessons
        self.latest |= {part_with(exercise): file for exercise in present or result.exercises}

    def _add_marks(self, file: str, marks: Mapping[str, Mark]) -> None:
        """Take over a file's marks of exercises that count.

        A stub does not replace an answer, nor a hand-in that may have one, nor what is missing any
        mark.
        """
        stubs = [
            exercise
            for exercise, mark in marks.items()
            if mark.status == NOT_ATTEMPTED
            and exercise in self.marks
            and self.marks[exercise].status in (*ANSWERED, NOT_MARKED)
        ]
        # a copied cell is not a hand-in of its lesson, so what the file lacks keeps its mark
        lacking = [
            exercise
            for exercise, mark in marks.items()
            if mark.status == MISSING and exercise in self.marks
        ]
        taken = {
            exercise: mark
            for exercise, mark in marks.items()
            if exercise in self.expected and exercise not in (*stubs, *lacking)
        }
        self.marks |= taken
        self.sources |= dict.fromkeys(taken, file)
        if stubs:
            self.notes.append(
                f"{file} has no answer to {', '.join(stubs)}: there, the earlier hand-in counts"
            )

    def _add_texts(self, file: str, result: Result) -> None:
        """Take over the texts without a mark, and those whose mark is this file's."""
        for exercise, text in result.texts.items():
            is_latest = exercise not in result.exercises or self.sources.get(exercise) == file
            # a stub takes no report back either
            if is_latest and (_without_stub(text) or exercise not in self.texts):
                self.texts[exercise] = text

    def write_to(self, record: LearnerRecord) -> None:
        """Fill in files, problems, marks, status, reason and notes, for the files handed in."""
        marks = self.marks | self._missing_marks()
        counting_files = {*self.latest.values(), *self.sources.values()}
        record.files = [file for file in self.read if file in counting_files]
        record.problems = [problem for file in record.files for problem in self.read[file].problems]
        record.exercises = {exercise: marks[exercise] for exercise in self.expected}
        record.status, record.reason = self._standing(bool(record.handed_in), marks)
        record.notes = list(dict.fromkeys([*record.notes, *self._notes(record)]))

    def _notes(self, record: LearnerRecord) -> list[str]:
        """What to note about the hand-ins; needs all else that `write_to` fills in."""
        notes = self.notes + [
            f"lesson {lesson} was handed in more than once; the latest counts: "
            f"{self.latest[lesson]}"
            for lesson in sorted(self.repeated)
        ]
        # otherwise these texts are the reason, see `_standing`
        if self.marks or self.read:
            notes += [f"unreadable: {text}" for text in self.unreadable]
        if record.status != NOT_MARKED:
            notes += [f"not marked: {text}" for text in self.not_marked]
        no_answers = all(mark.status in UNANSWERED for mark in record.exercises.values())
        # an exercise's text is its answer, which has a mark; the other texts a person marks
        has_text = any(
            _without_stub(text) for name, text in self.texts.items() if name not in self.expected
        )
        if record.files and no_answers and not has_text:
            notes.append("nothing was filled in")
        return notes

    def _missing_marks(self) -> dict[str, Mark]:
        """For each exercise without a mark, one that says why it has none."""
        lessons = {part_with(exercise) for exercise in self.marks}
        missing = {}
        for exercise in [name for name in self.expected if name not in self.marks]:
            lesson = part_with(exercise)
            reason = (
                "it is not in the notebook"
                if lesson in lessons
                else f"lesson {lesson} was not handed in"
            )
            missing[exercise] = Mark(
                title=find(exercise).title,
                status=MISSING,
                points=0,
                of=self.expected[exercise],
                state=MISSING_EXERCISE,
                reason=reason,
            )
        return missing

    def _standing(self, handed_in: bool, marks: Mapping[str, Mark]) -> tuple[str, str]:
        """The learner's status, and its reason. marks: those of missing exercises included."""
        # a file that was not marked counts until a later one has replaced all its marks
        if self.not_marked and (not marks or any(mark.points is None for mark in marks.values())):
            return NOT_MARKED, "; ".join(self.not_marked)
        if not handed_in:
            return NOTHING, "this learner handed nothing in"
        if not (self.marks or self.read):
            return UNREADABLE, "; ".join(self.unreadable)
        status = gravest({mark.state for mark in marks.values()})
        if status == OK:
            return OK, ""
        return status, "; ".join(
            f"{exercise}: {mark.reason}" for exercise, mark in marks.items() if mark.state == status
        )


def _without_stub(text: str) -> str:
    """What a learner wrote into a hand-marked cell; empty if it is still the stub."""
    return "" if text.strip() in ("", REPORT_STUB) else text


def page_name(key: str, secret: bytes | None = None) -> str:
    """The name of a learner's page. No two keys share one.

    It depends on the key and the secret alone, so it does not change when others hand in. With a
    secret, nobody can guess it who does not know the secret.
    """
    data = key.encode("utf-8", "surrogatepass")
    if secret:
        return f"{hmac.new(secret, data, 'sha256').hexdigest()[:SECRET_DIGITS]}.html"
    if len(key) <= LONGEST_PLAIN and PLAIN.fullmatch(key) and not HASHED.search(key):
        return f"{key}.html"
    # for people to recognise; the checksum is what tells keys apart
    letters = [
        letter for letter in unicodedata.normalize("NFKD", key) if not unicodedata.combining(letter)
    ]
    slug = re.sub(r"[^a-z0-9]+", "-", "".join(letters).lower())[:LONGEST_SLUG].strip("-")
    digest = hashlib.sha256(data).hexdigest()[:DIGEST_DIGITS]
    return f"{slug if re.search('[a-z]', slug) else 'learner'}-{digest}.html"
