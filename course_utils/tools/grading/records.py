"""Combine what a learner handed in into one record: who has which marks, what is missing, and why."""

import hashlib
import hmac
import re
import unicodedata
from collections import Counter

from ..._support.notebooks import part_with
from ...exercises import find
from ..workspace.copies import REPORT_STUB
from .results import LEFT_OUT, NOT_MARKED, SAME_FILE, HandMarkedCell, LearnerRecord, Mark, Result, gravest

PLAIN, HASHED = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"), re.compile(r"-[0-9a-f]{10}$")
LEFT_OUT_REASON = "what may be this learner's was left out"
STRANGER, NOTHING = "not on the roster", "nothing handed in"
MOST_WITH_NOTHING = 0.8  # of a class, before it is doubted
MOST_TWINS = 5  # learners with the same file that a note names


def records(hand_ins, entries, roster, work, lessons=None, secret=None):
    """A `LearnerRecord` for each learner, with every exercise of the lessons that count.

    hand_ins: those of the whole class, as `submissions.gather` returns them.
    entries: by learner and file, the `store.Entry`, or None if it was not marked.
    roster: by key, the learners who get a record even if they handed nothing in.
    work: see `marking.assignment`.
    lessons: those that count; None for all in which somebody handed something in.
    secret: see `page_name`.
    """
    wanted = lessons or sorted({lesson for entry in entries.values() if entry for lesson in entry.result.lessons})
    expected = {one: most for one, (_, most) in work["exercises"].items() if part_with(one) in wanted}
    cells = {one: most for one, most in work["by_hand"].items() if part_with(one) in wanted}
    holders, theirs = {}, {key: [] for key in roster}
    for hand_in in hand_ins:
        theirs.setdefault(hand_in.learner, []).append(hand_in)
        if hand_in.sha256:
            holders.setdefault(hand_in.sha256, set()).add(hand_in.learner)
    shown = {key: _shown(key, mine, roster) for key, mine in theirs.items()}
    made, left_out = [], getattr(hand_ins, "left_out", ())
    for key in sorted(theirs):
        mine, marks = sorted(theirs[key], key=_by_time), _LatestMarks(expected)
        for hand_in in mine:
            twins = [shown[twin] for twin in sorted(holders.get(hand_in.sha256, set()) - {key})]
            marks.add(hand_in.file, _result(hand_in, entries), twins)
        marks.say_which_count(_what_says(mine))
        record = LearnerRecord(key, page_name(key, secret), listed=key in roster)
        _identify(record, mine, roster)
        record.handed_in = [one.file for one in mine]
        marks.write_to(record, bool(mine))
        record.notes += [f"{LEFT_OUT}{one.file}: {one.why}" for one in left_out if key in one.maybe]
        record.notes += [f"{one.file}: {one.doubt}" for one in mine if one.doubt]
        if record.status == NOTHING and record.has_left_out:
            record.reason = LEFT_OUT_REASON
        texts = record.texts = {one: text for one, text in marks.texts.items() if one in cells or one in expected}
        record.by_hand = {
            one: HandMarkedCell(most, _without_stub(texts.get(one, "")), work["rubrics"].get(one, {}))
            for one, most in cells.items()
        }
        record.add_up()
        made.append(record)
    _note_namesakes(made)
    return made


def _note_namesakes(learners):
    """Note in the rows of people of one name, who have nothing, what belongs to one of them."""
    bearers = Counter(one.name for one in learners if one.status == NOTHING)
    strangers = [one for one in learners if STRANGER in one.notes and bearers[one.name] > 1]
    for one in learners:
        files = [file for stranger in strangers if stranger.name == one.name for file in stranger.files]
        if one.status == NOTHING and files:
            one.notes += [f"{LEFT_OUT}{file}: several on the roster have this name" for file in files]
            one.reason = LEFT_OUT_REASON


def doubtful_owners(learners):
    """Why these learners may not be those who handed the files in, in a sentence or two; "" if nothing points to it."""
    nothing = [one.learner for one in learners if one.status == NOTHING]
    strangers = [one.files[0] for one in learners if STRANGER in one.notes and one.files]
    if nothing and strangers:
        return (
            f"{len(nothing)} on the roster have handed nothing in ({_some(nothing)}), and hand-ins of {len(strangers)} "
            f"belong to nobody on it ({_some(strangers)}). If these are the same people: write the id, the e-mail or "
            "the whole name into the name of the file or folder, or the platform's number into the roster's column id, "
            f"and run this again.{_about_namesakes(learners)}"
        )
    if len(nothing) > MOST_WITH_NOTHING * len(learners):
        return (
            f"Nearly everybody has handed nothing in ({_some(nothing)}): {len(nothing)} of {len(learners)}. Are these "
            "the right files, roster and lessons?"
        )
    return ""


def _about_namesakes(learners):
    """A sentence about learners with nothing who share a name with each other and with somebody off the roster."""
    bearers = Counter(one.name for one in learners if one.status == NOTHING)
    strangers = {one.name for one in learners if STRANGER in one.notes}
    if not (shared := sorted(name for name, times in bearers.items() if times > 1 and name in strangers)):
        return ""
    return (
        f" Several on the roster are called {_some(shared)}, so only a number tells them apart: Moodle's grading "
        "worksheet of the assignment has it, and can be the roster."
    )


def _some(names):
    """The first three of many names."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _result(hand_in, entries):
    """What a hand-in got; without a result, it is unreadable."""
    entry = entries.get((hand_in.learner, hand_in.file))
    return entry.result if entry else Result("unreadable", hand_in.problem or "it was not marked")


def _by_time(hand_in):
    """What sorts a learner's hand-ins, the latest last; "x (2)" was downloaded after "x"."""
    copy = re.search(r"\((\d{1,4})\)", hand_in.file)
    return hand_in.turn, hand_in.modified, int(copy[1]) if copy else 0, hand_in.file


def _what_says(hand_ins):
    """What says which of several hand-ins is the latest, for a sentence."""
    *_, before, last = [None, None, *hand_ins]
    if not before or last.turn != before.turn:
        return "the number or date in its name counts"
    if last.modified != before.modified:
        return "the file's date counts"
    return "its name counts, since no date tells them apart"


def _shown(key, mine, roster):
    """A learner in a sentence: the key, behind the name if it is known and different."""
    name = _name(mine, roster.get(key))
    return f"{name} ({key})" if name not in ("", key) else key


def _name(mine, person):
    """A learner's name: on the roster, else in the first hand-in that says it."""
    return person.name if person else next((one.name for one in mine if one.name), "")


def _identify(record, mine, roster):
    """Fill in who a learner is: from the roster, else from the first hand-in that says so."""
    person = roster.get(record.learner)
    record.name = _name(mine, person)
    if person:
        record.email, record.login, record.sis = person.email, person.login, person.sis
    record.platform, record.number = next(((one.platform, one.number) for one in mine if one.platform), ("", ""))
    record.notes = [STRANGER] if roster and person is None else []


class _LatestMarks:
    """The marks of one learner, while hand-ins are added, the latest last.

    expected: the most points of each exercise that counts.
    """

    def __init__(self, expected):
        self.expected = expected
        self.marks, self.texts, self.read, self.latest = {}, {}, {}, {}
        self.source = {}  # the file of each mark
        self.again, self.notes, self.unreadable, self.not_marked = set(), [], [], []

    def add(self, file, result, twins):
        """Add a hand-in. twins: other learners who handed in the same bytes."""
        if result.status == "unreadable":
            self.unreadable.append(f"{file}: {result.reason}")
        elif result.status == NOT_MARKED:  # it may belong to any lesson without a later hand-in
            self.not_marked.append(f"{file}: {result.reason}")
            self.marks = {
                one: Mark(find(one).title, NOT_MARKED, None, most, NOT_MARKED, result.reason)
                for one, most in self.expected.items()
            }
        else:
            self._add_marks(file, result)
            if twins and any(mark.status in ("passed", "failed") for mark in result.exercises.values()):
                more = f" and {len(twins) - MOST_TWINS} others" if len(twins) > MOST_TWINS else ""
                self.notes.append(f"{SAME_FILE}{', '.join(twins[:MOST_TWINS])}{more}")

    def _add_marks(self, file, result):
        self.read[file] = result
        answered = {one for one, mark in result.exercises.items() if mark.status != "missing"}
        answered |= result.texts.keys() - result.exercises.keys()  # what a person marks
        self.again |= {part_with(one) for one in answered} & self.latest.keys()
        self.latest.update({part_with(one): file for one in answered or result.exercises})
        kept = []
        for one, mark in result.exercises.items():
            # a copied cell is not a hand-in of its lesson, and a stub takes no answer back
            if one not in self.expected or one not in answered and one in self.marks:
                continue
            if mark.status == "not attempted" and self.marks.get(one, mark).status in ("passed", "failed"):
                kept.append(one)
            else:
                self.marks[one], self.source[one] = mark, file
        if kept:
            self.notes.append(f"{file} has no answer to {', '.join(kept)}: there, the earlier answer counts")
        marks = result.exercises
        counts = {one for one in result.texts if one not in marks or self.marks.get(one) is marks[one]}
        # a stub takes no report back either
        self.texts |= {
            one: result.texts[one] for one in counts if _without_stub(result.texts[one]) or one not in self.texts
        }

    def say_which_count(self, by):
        """Note which files count of lessons that were handed in more than once. by: what says so."""
        for file in dict.fromkeys(self.latest[lesson] for lesson in sorted(self.again)):
            lessons = ", ".join(lesson for lesson in sorted(self.again) if self.latest[lesson] == file)
            self.notes.append(f"lesson {lessons} was handed in more than once; the latest by {by}: {file}")

    def write_to(self, record, handed_in):
        """Fill in marks, status, reason and notes. handed_in: whether there was anything."""
        states = [(mark.state, f"{one}: {mark.reason}") for one, mark in self.marks.items()]
        if self.read and not states:
            states = [("ok", "")]
        self._fill_gaps()
        counts = {*self.latest.values(), *self.source.values()}
        record.files = [file for file in self.read if file in counts]
        record.problems = [problem for file in record.files for problem in self.read[file].problems]
        record.exercises = {one: self.marks[one] for one in self.expected}
        notes = record.notes + self.notes
        notes += [f"unreadable: {text}" for text in self.unreadable] if states else []
        if self.not_marked and (not self.marks or any(mark.points is None for mark in self.marks.values())):
            record.status, record.reason = NOT_MARKED, "; ".join(self.not_marked)
        else:
            record.status, record.reason = self._standing(handed_in, states)
            notes += [f"not marked: {text}" for text in self.not_marked]
        if record.files and {mark.status for mark in record.exercises.values()} <= {"not attempted", "missing"}:
            notes.append("nothing was filled in")
        record.notes = list(dict.fromkeys(notes))

    def _fill_gaps(self):
        """Give 0 points for each exercise without a mark."""
        lessons = {part_with(one) for one in self.marks}
        for one, most in self.expected.items():
            if one not in self.marks:
                lesson = part_with(one)
                reason = "it is not in the notebook" if lesson in lessons else f"lesson {lesson} was not handed in"
                self.marks[one] = Mark(find(one).title, "missing", 0, most, "missing exercise", reason)

    def _standing(self, handed_in, states):
        """The learner's status, and its reason. states: of the exercises that were handed in, with their reasons."""
        if not handed_in:
            return NOTHING, "this learner handed nothing in"
        if not states:
            return "unreadable", "; ".join(self.unreadable)
        status = gravest({state for state, _ in states})
        missing = [f"{one}: {mark.reason}" for one, mark in self.marks.items() if mark.state == "missing exercise"]
        if missing and status in ("ok", "missing exercise"):
            return "missing exercise", "; ".join(missing)
        return status, "; ".join(reason for state, reason in states if state == status != "ok")


def _without_stub(text):
    """What a learner wrote into a hand-marked cell; empty if it is still the stub."""
    return "" if text.strip() in ("", REPORT_STUB) else text


def page_name(key, secret=None):
    """The name of a learner's page. No two keys share one.

    It depends on the key alone, so it does not change when others hand in. With a secret, bytes, nobody can guess it
    who does not know the secret.
    """
    if secret:
        return f"{hmac.new(secret, key.encode('utf-8', 'surrogatepass'), 'sha256').hexdigest()[:32]}.html"
    if len(key) <= 60 and PLAIN.fullmatch(key) and not HASHED.search(key):
        return f"{key}.html"
    spelled = "".join(
        letter for letter in unicodedata.normalize("NFKD", key) if not unicodedata.combining(letter)
    ).lower()
    slug = re.sub(r"[^a-z0-9]+", "-", spelled)[:49].strip("-")
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{slug if re.search('[a-z]', slug) else 'learner'}-{digest}.html"
