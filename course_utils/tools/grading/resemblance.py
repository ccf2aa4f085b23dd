"""Hand-ins that share more of their own code than chance explains.

The result is for a person to look at, and never changes a mark.

The fingerprints are those of winnowing (Schleimer, Wilkerson and Aiken 2003, sections 3 and 4): the
runs of RUN tokens, without those that were given out. Answers are short, so every run is kept,
which is a window of 1. The library for it, copydetect, is not used: its last release is of March
2024, its choice of fingerprints depends on Python's `hash`, which differs from process to process,
and it takes a run that an answer repeats for one that was given out.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Literal, Name

from ..._support.files import write_whole
from ..._support.notebooks import parts
from ...exercises.model import FOLDER
from .csv_files import write_table
from .reports import PAGES, RESEMBLANCE
from .results import ANSWERED, LearnerRecord
from .texts import for_pages

PAGE, TABLE = RESEMBLANCE
RUN = 8  # tokens of code, or words of comments and strings, in a fingerprint
LEAST = 8  # own fingerprints of an answer that is compared
# what is in more of the answers than this share, and in more than two, is nobody's own
COMMON = 0.25
# shuffled classes that show what chance does, and the share of them that stays below the threshold
SHUFFLES, QUANTILE = 200, 0.95
PASSAGE = 40  # fingerprints of one answer that only two learners have
MOST, MOST_ANSWERS = 20, 6  # pairs on the page, and answers of each
LONGEST = 6000  # characters of an answer that are compared
# characters of a long answer that are read, and of a string that is left out
MOST_READ, LONG_STRING = 60_000, 200
HEADER = ["learner", "other", "exercise", "shared", "more than chance", "passage"]
LEXER = PythonLexer(stripnl=False, ensurenl=False)
WORD = re.compile(r"\w+")

Token = tuple[str, int, int]  # a token or word, and where it begins and ends


@dataclass(frozen=True)
class Pair:
    """Two learners, by their places in the class.

    shares: by exercise, how much of the shorter answer both have, what is rare counting more.
    total: their sum.
    above: whether this is more than chance explains.
    passages: by exercise, the fingerprints that only these two have, if they are PASSAGE or more.
    """

    places: tuple[int, int]
    shares: dict[str, float]
    total: float
    above: bool
    passages: dict[str, int]


@dataclass
class Comparison:
    """What was compared, and which pairs came out, the one that shares most first.

    chance: the threshold of a pair's `total`.
    compared, too_short: numbers of answers.
    nobodys: by exercise, the fingerprints that were given out or that many have.
    """

    pairs: list[Pair] = field(default_factory=list)
    chance: float = 0
    compared: int = 0
    too_short: int = 0
    nobodys: dict[str, set[int]] = field(default_factory=dict)


def write_resemblance(out: Path, learners: Sequence[LearnerRecord]) -> None:
    """Write the page and the table about the pairs of a class."""
    texts: dict[str, list[str]] = {}
    for place, learner in enumerate(learners):
        for exercise, mark in learner.exercises.items():
            if mark.status in ANSWERED and learner.texts.get(exercise):
                text = compared_part(learner.texts[exercise])
                texts.setdefault(exercise, [""] * len(learners))[place] = text
    lessons = sorted({exercise[:2] for exercise in texts})
    comparison = compare(texts, given_out(tuple(lessons)))
    rows, shown = [], []
    for pair in comparison.pairs[:MOST]:
        two_learners = [learners[place] for place in pair.places]
        rows += _rows(pair, [learner.learner for learner in two_learners])
        shown.append((two_learners, pair, list(_sides(pair, texts, comparison.nobodys))))
    write_table(out / TABLE, HEADER, rows)
    page = PAGES.get_template("resemblance.html.j2").render(
        comparison=comparison,
        learners=learners,
        pairs=shown,
        run=RUN,
        least=LEAST,
        common=COMMON,
        quantile=QUANTILE,
        passage=PASSAGE,
        longest=LONGEST,
    )
    write_whole(out / PAGE, page + "\n")


def compare(texts: Mapping[str, Sequence[str]], given: Set[int] = frozenset()) -> Comparison:
    """What the answers of a class share.

    texts: by exercise, the answer of each learner, "" where there is none.
    given: fingerprints that nobody owns.
    """
    result = Comparison()
    # by exercise, two matrices (learners, learners), and the places of those who answered
    shares, passages, answered = {}, {}, {}
    for exercise, answers in sorted(texts.items()):
        own_prints, result.nobodys[exercise] = _own(answers, given)
        places = [place for place, prints in enumerate(own_prints) if prints]
        answered[exercise] = np.array(places, dtype=int)
        written = sum(map(bool, answers))
        result.compared += len(places)
        result.too_short += written - len(places)
        shares[exercise], passages[exercise] = _shared(own_prints, written)
    if not shares:
        return result
    result.chance = _chance(shares, answered)
    total = np.sum(list(shares.values()), axis=0)
    longest = np.max(list(passages.values()), axis=0)
    # above the diagonal, each two learners stand once
    is_listed = np.triu((total > result.chance) | (longest >= PASSAGE), 1)
    for low, high in np.argwhere(is_listed).tolist():
        shared = {exercise: float(share[low, high]) for exercise, share in shares.items()}
        runs = {exercise: int(counts[low, high]) for exercise, counts in passages.items()}
        result.pairs.append(
            Pair(
                places=(low, high),
                shares={exercise: share for exercise, share in shared.items() if share},
                total=float(total[low, high]),
                above=bool(total[low, high] > result.chance),
                passages={exercise: count for exercise, count in runs.items() if count >= PASSAGE},
            )
        )
    result.pairs.sort(key=lambda pair: (-pair.total, pair.places))
    return result


# ---------------------------------------------------------------- fingerprints


def compared_part(text: str) -> str:
    """What is compared of an answer, and shown: its first LONGEST characters.

    Without empty lines and spaces at the ends of lines. A long answer also loses its comments and
    long strings, so that they hide nothing that stands behind them.
    """
    # first, since the lexer takes minutes for thousands of empty lines
    code = _without_blanks(text[:MOST_READ])
    if len(code) > LONGEST:
        tokens = LEXER.get_tokens_unprocessed(code)
        code = _without_blanks("".join(word for _, kind, word in tokens if _is_code(kind, word)))
    return code[:LONGEST]


def _without_blanks(text: str) -> str:
    """A text without empty lines and spaces at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _is_code(kind: Any, word: str) -> bool:
    return kind not in Comment and not (kind in Literal.String and len(word) > LONG_STRING)


def fingerprints(text: str) -> set[int]:
    """The fingerprints of an answer."""
    return {run for tokens in _tokens(text) for run in _runs(tokens)}


def _tokens(text: str) -> tuple[list[Token], list[Token]]:
    """The tokens of the code, and the words of comments and strings.

    Names of the learner's choice are one token; brackets and commas are none, since a formatter
    adds and removes them.
    """
    code, words, is_after_dot = [], [], False
    for start, kind, word in LEXER.get_tokens_unprocessed(text):
        end = start + len(word)
        if kind in Comment or kind in Literal.String:
            words += _words(word, start)
        if kind in Literal.String:
            # the lexer gives a string in parts, quote, text and quote, which become one token
            if code and code[-1][0] == "a string":
                _, start, _ = code.pop()
            code.append(("a string", start, end))
        elif not (kind in Comment or word in "()," or word.isspace()):
            is_chosen = kind in Name and kind not in Name.Builtin and not is_after_dot
            code.append(("a name" if is_chosen else word, start, end))
            is_after_dot = word == "."
    return code, words


def _words(text: str, start: int = 0) -> list[Token]:
    """The words of a comment, a string or a text, with their places."""
    return [
        (match[0].lower(), start + match.start(), start + match.end())
        for match in WORD.finditer(text)
    ]


def _runs(tokens: Sequence[Token]) -> list[int]:
    """The fingerprint of each run of tokens, from first to last.

    Nothing depends on which number a run gets.
    """
    words = [word for word, _, _ in tokens]
    return [hash(tuple(words[first : first + RUN])) for first in range(len(words) - RUN + 1)]


@cache
def given_out(lessons: tuple[str, ...]) -> frozenset[int]:
    """The fingerprints of what the course gave to learners.

    This is the code of all lessons, and the texts and known mistakes of these lessons.
    """
    given: set[int] = set()
    for path in parts().values():
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                given |= fingerprints(source)
            elif path.name[:2] in lessons:  # texts hold code, too
                given |= {*fingerprints(source), *_runs(_words(source))}
    for lesson in lessons:
        given |= fingerprints((FOLDER / f"lesson_{lesson}.py").read_text(encoding="utf-8"))
    return frozenset(given)


def _own(answers: Sequence[str], given: Set[int]) -> tuple[list[set[int]], set[int]]:
    """Each learner's own fingerprints of an exercise, and those that are nobody's own.

    A learner has none if they are too few to say anything.
    """
    prints = [fingerprints(text) for text in answers]
    owners = Counter(chain.from_iterable(prints))
    most_owners = max(2, COMMON * sum(map(bool, answers)))
    nobodys = {run for run, number in owners.items() if run in given or number > most_owners}
    own_prints = [runs - nobodys for runs in prints]
    return [runs if len(runs) >= LEAST else set() for runs in own_prints], nobodys


# ---------------------------------------------------------------- pairs


def _shared(own_prints: Sequence[set[int]], written: int) -> tuple[np.ndarray, np.ndarray]:
    """What each two answers to an exercise share, and how many fingerprints are theirs alone.

    own_prints: each learner's own fingerprints.
    written: the number of answers, n.

    A fingerprint that f of n answers have weighs log(n/f) / log(n/2): 1 if only these two have it,
    nothing if all have. Returns two symmetric matrices, (learners, learners).
    """
    owners = Counter(chain.from_iterable(own_prints))
    shared_runs = sorted(run for run, number in owners.items() if number > 1)
    has = np.zeros((len(own_prints), len(shared_runs)), dtype=np.float32)  # (learners, runs)
    for place, runs in enumerate(own_prints):
        has[place] = [run in runs for run in shared_runs]
    numbers = has.sum(axis=0)  # f
    # of two answers, both have whatever is shared
    weights = np.log(written / numbers) / np.log(written / 2) if written > 2 else 1
    sizes = np.array([max(1, len(runs)) for runs in own_prints])
    # rounded, since the order in which a sum is added up differs from process to process
    shares = (has * weights @ has.T / np.minimum.outer(sizes, sizes)).round(6)
    np.fill_diagonal(shares, 0)
    return shares, has * (numbers == 2) @ has.T


def _chance(shares: Mapping[str, np.ndarray], answered: Mapping[str, np.ndarray]) -> float:
    """The total that QUANTILE of shuffled classes stay below.

    shares: by exercise, what each two learners share, (learners, learners).
    answered: by exercise, the places of those who answered.

    Shuffled means that the answers to each exercise are dealt anew to those who answered it, as if
    nobody who shares one answer shared others, too. What is left is how often two learners write
    the same.
    """
    random = np.random.default_rng(0)
    size = max(map(len, shares.values()))
    highest_totals = []
    for _ in range(SHUFFLES):
        total = np.zeros((size, size))
        for exercise, share in shares.items():
            dealt = np.arange(size)
            dealt[answered[exercise]] = random.permutation(answered[exercise])
            total[np.ix_(dealt, dealt)] += share
        highest_totals.append(total.max())
    return float(np.quantile(highest_totals, QUANTILE))


# ---------------------------------------------------------------- what is shown


def _rows(pair: Pair, names: Sequence[str]) -> Iterator[list]:
    """The lines of a pair in the table: one in all, and one for each exercise with a share."""
    yield [
        *names,
        "all",
        round(pair.total, 2),
        "yes" if pair.above else "no",
        sum(pair.passages.values()),
    ]
    for exercise, share in sorted(pair.shares.items()):
        yield [*names, exercise, round(share, 2), "", pair.passages.get(exercise, 0)]


def _sides(
    pair: Pair, texts: Mapping[str, Sequence[str]], nobodys: Mapping[str, set[int]]
) -> Iterator[tuple[str, float, int, list[Markup]]]:
    """The exercises of which a pair shares most: (id, share, passage, the two answers as HTML)."""

    def importance(exercise: str) -> tuple[bool, float, str]:
        return exercise not in pair.passages, -pair.shares[exercise], exercise

    for exercise in sorted(pair.shares, key=importance)[:MOST_ANSWERS]:
        answers = [texts[exercise][place] for place in pair.places]
        in_both = set.intersection(*map(fingerprints, answers)) - nobodys[exercise]
        marked = [_marked(text, in_both) for text in answers]
        yield exercise, pair.shares[exercise], pair.passages.get(exercise, 0), marked


def _marked(text: str, shared_runs: Collection[int]) -> Markup:
    """A text as HTML, in which these fingerprints are marked.

    What stands between two of them is marked, too, unless it is a word.
    """
    # for each character: "m" in one of these fingerprints, "w" in another word, "." elsewhere
    kinds = ["w" if WORD.match(character) else "." for character in text]
    for tokens in _tokens(text):
        for first, run in enumerate(_runs(tokens)):
            if run in shared_runs:
                for _, start, end in tokens[first : first + RUN]:
                    kinds[start:end] = "m" * (end - start)
    html, done = Markup(), 0
    for match in re.finditer(r"m([m.]*m)?", "".join(kinds)):
        start, end = match.span()
        html += escape(for_pages(text[done:start], LONGEST))
        html += Markup("<mark>{}</mark>").format(for_pages(text[start:end], LONGEST))
        done = end
    return html + escape(for_pages(text[done:], LONGEST))
