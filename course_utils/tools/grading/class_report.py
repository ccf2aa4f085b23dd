"""The class report, from which the next lecture is prepared: class.html and class.csv.

For each exercise: how many passed, the known mistakes by name and how often, the slide and the
section that treat them, and whether the exercise tells learners apart. Everything is computed from
records; nobody is named unless asked for.
"""

import ast
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scipy.stats import binomtest, pearsonr

from ..._support.files import write_whole
from ..._support.notebooks import part_with
from ...exercises.model import Mistake, words_of_mistakes
from ..publish.slides import ADDRESS
from .csv_files import write_table
from .places import Place, code_of, place_of
from .reports import PAGES
from .results import MARK_STATUSES, LearnerRecord
from .texts import normalised

LONGEST = 5_000  # characters of an answer that may become an example
MOST_CANDIDATES = 20  # answers that are read in search of an example
IN_THE_PLAN = 3  # mistakes that the page proposes for the next lecture
FEWEST = 4  # learners for an interval of a correlation: its standard error is 1 / sqrt(n - 3)
WORD = re.compile(r"[^\W_]+")  # letters and digits: ada_lovelace is two words
COUNTS = ("passed", "tried", "not attempted", "missing")
# the columns of class.csv; `_rows` says which kinds of rows there are
HEADER = [
    *("exercise", "title", "kind", "name", "learners", *COUNTS),
    *("difficulty", "difficulty low", "difficulty high"),
    *("discrimination", "discrimination low", "discrimination high"),
    *("note", "does", "because", "section", "slide", "who"),
]


@dataclass(frozen=True)
class Figure:
    """A figure with its 95% interval.

    All three numbers are None where it is undefined, and `why` says why.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""

    def columns(self, name: str) -> dict[str, float | str]:
        """The figure and its interval as columns of class.csv."""
        figures = {name: self.value, f"{name} low": self.low, f"{name} high": self.high}
        # four digits, far finer than the interval of any class
        return {
            column: "" if figure is None else round(figure, 4) for column, figure in figures.items()
        }


@dataclass
class MadeMistake:
    """A mistake that learners made. The name of `mistake` is "" if this course does not know it.

    place: where the lessons treat it; None if they do not.
    example: the code of an answer, or "".
    learners: those who made it.
    """

    mistake: Mistake
    place: Place | None
    example: str
    learners: list[LearnerRecord]

    @property
    def who(self) -> list[str]:
        """The names of the learners."""
        return sorted(learner.name or learner.learner for learner in self.learners)


@dataclass
class Item:
    """An exercise of a class.

    counts: the numbers of learners, by the names in COUNTS. "tried" includes "passed"; the three
    others add up to the marked learners.
    mistakes, others: the failures of learners, most frequent first: known mistakes, and
    [(number of learners, case)] of failures without one.
    """

    id: str
    title: str
    counts: dict[str, int]
    difficulty: Figure
    discrimination: Figure
    mistakes: list[MadeMistake]
    others: list[tuple[int, str]]

    @property
    def note(self) -> str:
        """What a teacher should know about the figures, in a sentence; empty if nothing."""
        tried = self.counts["tried"]
        if not tried:
            return "Nobody tried it."
        if self.counts["passed"] in (0, tried):
            outcome = "All right" if self.counts["passed"] else "All wrong"
            return f"{outcome}: it separates nobody."
        low, high = self.discrimination.low, self.discrimination.high
        if high is not None and high < 0:
            return "Those who are weaker elsewhere pass it more often: look at the exercise."
        if low is not None and low <= 0:
            return f"May separate nobody: with {tried} answers, the interval includes 0."
        return ""


# ---------------------------------------------------------------- figures


def difficulty(passed: int, learners: int) -> Figure:
    """The share of learners who passed, with Wilson's 95% interval; undefined without learners.

    For few learners it is recommended by L. D. Brown, T. T. Cai and A. DasGupta (2001), Interval
    estimation for a binomial proportion, Statistical Science 16 (2), section 3.1.1.
    """
    if not learners:
        return Figure(why="nobody tried it")
    low, high = binomtest(passed, learners).proportion_ci(method="wilson")
    return Figure(passed / learners, float(low), float(high))


def discrimination(passed: Sequence[bool], rest: Sequence[float]) -> Figure:
    """Whether those who pass an exercise are those who do well in the others.

    passed: for each learner, whether the exercise was passed. rest: the learner's points in all
    other exercises.

    The corrected point-biserial correlation: Pearson's r of the two, where `rest` leaves out the
    exercise itself, which would otherwise correlate with itself; S. Henrysson (1963), Correction of
    item-total correlations in item analysis, Psychometrika 28 (2), pp. 211-218. The interval is by
    Fisher's z = artanh r, which assumes two normal variables, and one of these is 0 or 1, so it is
    approximate.
    """
    if len(passed) < FEWEST:
        return Figure(why=f"undefined: fewer than {FEWEST} learners")
    if len(set(passed)) == 1 or len(set(rest)) == 1:
        return Figure(
            why="undefined: they are all alike in this exercise, or in the points of the others"
        )
    correlation = pearsonr(list(map(float, passed)), rest)
    if abs(correlation.statistic) > 1 - 1e-9:  # 1 or -1, but for the rounding of its sums
        return Figure(why="undefined: a correlation of exactly 1 or -1 has no interval")
    low, high = correlation.confidence_interval(0.95)
    return Figure(float(correlation.statistic), float(low), float(high))


def items(learners: Sequence[LearnerRecord]) -> list[Item]:
    """An `Item` for each exercise of these records, in their order.

    Learners who are not marked do not count. Difficulty and discrimination are about those who
    tried the exercise. The points in the other exercises are those of the grades: what is missing
    or not attempted has none.
    """
    marked = [learner for learner in learners if learner.points is not None]
    class_names = {name for learner in marked for name in _names_of(learner) if _is_telling(name)}
    titles = {
        exercise: mark.title for learner in marked for exercise, mark in learner.exercises.items()
    }
    return [_item(exercise, title, marked, class_names) for exercise, title in titles.items()]


def _item(
    exercise: str, title: str, marked: Sequence[LearnerRecord], class_names: Collection[str]
) -> Item:
    """An exercise of the class. class_names: words that identify one of its learners."""
    by_status: dict[str, list[LearnerRecord]] = {status: [] for status in MARK_STATUSES}
    for learner in marked:
        mark = learner.exercises.get(exercise)
        # no points: the hand-in with this exercise is not marked yet
        status = "missing" if mark is None or mark.points is None else mark.status
        by_status[status].append(learner)
    passed, failed = by_status["passed"], by_status["failed"]
    tried = len(passed) + len(failed)
    rest = []  # the points of each learner in all other exercises
    for learner in passed + failed:
        rest.append(
            sum(mark.points or 0 for other, mark in learner.exercises.items() if other != exercise)
        )
    return Item(
        id=exercise,
        title=title,
        counts={
            "passed": len(passed),
            "tried": tried,
            "not attempted": len(by_status["not attempted"]),
            "missing": len(by_status["missing"]),
        },
        difficulty=difficulty(len(passed), tried),
        discrimination=discrimination([True] * len(passed) + [False] * len(failed), rest),
        mistakes=_mistakes(exercise, failed, class_names),
        others=_others(exercise, failed),
    )


# ---------------------------------------------------------------- mistakes


def _mistakes(
    exercise: str, failed: Sequence[LearnerRecord], class_names: Collection[str]
) -> list[MadeMistake]:
    """The mistakes that were made in an exercise, most frequent first.

    class_names: see `_item`.
    """
    mistakes, _ = words_of_mistakes(exercise)
    known = {mistake.message: mistake for mistake in mistakes}
    learners_by_message: dict[str, list[LearnerRecord]] = {}
    for learner in failed:
        for message in learner.exercises[exercise].mistakes:
            learners_by_message.setdefault(message, []).append(learner)
    lesson = code_of(part_with(exercise))
    made_mistakes = []
    for message, learners in learners_by_message.items():
        # an earlier version of the course may have known other mistakes
        mistake = known.get(message, Mistake("", message, because="", imitations=()))
        place = place_of(exercise, mistake.shown_in)
        answers = [(learner.texts.get(exercise, ""), _names_of(learner)) for learner in learners]
        made_mistakes.append(
            MadeMistake(mistake, place, example(answers, class_names, lesson), learners)
        )
    return sorted(made_mistakes, key=lambda made: (-len(made.learners), made.mistake.does))


def _others(exercise: str, failed: Sequence[LearnerRecord]) -> list[tuple[int, str]]:
    """[(number of learners, case)] of failures without a known mistake, most frequent first."""
    learners_with: Counter[str] = Counter()
    for learner in failed:
        mark = learner.exercises[exercise]
        if not mark.mistakes:
            # a set, since a learner counts once for each case
            learners_with.update({_case_without_result(message) for message in mark.discreet})
    cases = sorted(learners_with, key=lambda case: (-learners_with[case], case))
    return [(learners_with[case], case) for case in cases]


def _case_without_result(message: str) -> str:
    # "case: what the answer gave" as "case": learners whose answers gave other results count for
    # the same case
    return message if message.startswith("Stopped: ") else message.partition(": ")[0]


# ---------------------------------------------------------------- examples, which reveal no author


def example(
    answers: Sequence[tuple[str, Collection[str]]], class_names: Collection[str], lesson: str
) -> str:
    """The shortest answer that can be shown, without its comments, docstrings and own strings.

    "" if there is none.

    answers: [(code, names of its learner)], the names as `_names_of` returns them.
    class_names: the words of all names in the class.
    lesson: the code of the lesson: its strings stay, and its words identify no other learner.

    An answer cannot be shown if it is longer than LONGEST, is not Python, or holds a name: of its
    own learner anywhere in the text (as a word if the name is short, see `_is_telling`), of another
    learner as a word. Only the shortest MOST_CANDIDATES are considered.
    """
    telling_words = set(class_names) - _words(lesson)
    shortest_first = sorted(answers, key=lambda answer: (len(answer[0]), answer[0]))
    for text, own_names in shortest_first[:MOST_CANDIDATES]:
        code = _without_own_words(text, lesson) if len(text) <= LONGEST else ""
        if code and not _holds_a_name(code, own_names) and not _words(code) & telling_words:
            return code
    return ""


def _holds_a_name(code: str, names: Collection[str]) -> bool:
    # a short name counts only as a word; others are found across the ends of words too
    words, letters = _words(code), normalised(code)
    return any(name in (letters if _is_telling(name) else words) for name in names)


def _is_telling(name: str) -> bool:
    """Whether a name is long enough to be looked for within words.

    "Li" is a part of many words; one or two Chinese characters are a whole name.
    """
    return len(name) > 2 or not name.isascii()


@cache
def _words(text: str) -> set[str]:
    return {normalised(word) for word in WORD.findall(text)}


@dataclass
class _Cleaner(ast.NodeTransformer):
    """Removes docstrings, and replaces strings by … unless the lesson has them."""

    lesson: str

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        text = node.value
        is_learners_own = (
            isinstance(text, (str, bytes))
            and f'"{text}"' not in self.lesson
            and f"'{text}'" not in self.lesson
        )
        return ast.Constant("…") if is_learners_own else node


def _without_own_words(text: str, lesson: str) -> str:
    """Code as Python itself would write it, without comments, docstrings and own strings.

    "" if nothing is left or it is not Python.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.unparse(_Cleaner(lesson).visit(ast.parse(text))).strip()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _names_of(learner: LearnerRecord) -> set[str]:
    """What identifies a learner, as `normalised` spells it.

    These are id, name, number, e-mail and its part before the @, and the telling words of these.
    """
    mailbox = learner.email.partition("@")[0]
    texts = [learner.learner, learner.name, learner.email, learner.number, mailbox]
    words = [word for text in texts for word in WORD.findall(text) if _is_telling(word)]
    return {normalised(text) for text in (*texts, *words)} - {""}


# ---------------------------------------------------------------- page and table


def check_address(address: str) -> None:
    """Raise ValueError for what is neither empty, nor a web address, nor a folder."""
    if address and not ADDRESS.fullmatch(address):
        raise ValueError(
            f"--book and --decks must be an address (https://...) or a folder, got {address!r}."
        )


def table(exercises: Sequence[Item], names: bool = False) -> tuple[list[str], list[list]]:
    """(header, rows) of class.csv; cells that do not apply are "".

    names: whether to say who made a mistake.
    """
    rows = [row for item in exercises for row in _rows(item, names)]
    return HEADER, [[row.get(column, "") for column in HEADER] for row in rows]


def _rows(item: Item, names: bool) -> Iterator[dict[str, object]]:
    """A row for an exercise, and one for each mistake and each other failure in it, by column.

    The column "kind" tells them apart: exercise, mistake, other.
    """
    about: dict[str, object] = {"exercise": item.id, "title": item.title}
    yield {
        **about,
        "kind": "exercise",
        **item.counts,
        **item.difficulty.columns("difficulty"),
        **item.discrimination.columns("discrimination"),
        "note": item.note or item.discrimination.why,
        **_links(place_of(item.id)),
    }
    for made in item.mistakes:
        yield {
            **about,
            "kind": "mistake",
            "name": made.mistake.name,
            "learners": len(made.learners),
            "does": made.mistake.does,
            "because": made.mistake.because,
            "who": "; ".join(made.who) if names else "",
            **_links(made.place),
        }
    for number, case in item.others:
        yield {**about, "kind": "other", "learners": number, "does": case}


def _links(place: Place | None) -> dict[str, str]:
    if place is None:
        return {}
    slide = f"{place.slide_number}: {place.slide}" if place.slide_number else ""
    return {"section": place.section, "slide": slide}


def write_report(
    out: Path,
    learners: Sequence[LearnerRecord],
    lessons: Sequence[str],
    names: bool = False,
    book: str = "",
    decks: str = "",
) -> None:
    """Write class.html and class.csv to the folder `out`.

    lessons: the titles of the lessons.
    names: whether to say who made a mistake.
    book, decks: where links to the book and the decks lead: a web address, or a folder relative to
    the page. If "", links lead to files beside the page, and a file that is not there gets no link.
    """
    exercises = items(learners)
    write_table(out / "class.csv", *table(exercises, names))
    mistakes = [(item, made) for item in exercises for made in item.mistakes]
    most_frequent = sorted(mistakes, key=lambda pair: -len(pair[1].learners))[:IN_THE_PLAN]
    page = PAGES.get_template("class.html.j2").render(
        learners=len(learners),
        not_marked=sum(learner.points is None for learner in learners),
        tried=any(item.counts["tried"] for item in exercises),
        failed=any(item.counts["tried"] > item.counts["passed"] for item in exercises),
        items=exercises,
        most=most_frequent,
        have_one=len({learner.learner for _, made in most_frequent for learner in made.learners}),
        lessons=lessons,
        names=names,
        book=book and f"{book.rstrip('/')}/",
        decks=decks and f"{decks.rstrip('/')}/",
        is_beside=lambda page: (out / page.partition("#")[0]).exists(),
        place_of=place_of,
    )
    write_whole(out / "class.html", page + "\n")
