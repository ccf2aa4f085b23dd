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
LEAST = 8  # own fingerprints of an answer that is compared: fewer prove nothing
# what is in more of the answers than this share, and in more than two, is nobody's own
COMMON = 0.25
# shuffled classes that show what chance does, and the share of them whose highest total stays below
# the threshold: one class in twenty has a false alarm
SHUFFLES, QUANTILE = 200, 0.95
# fingerprints of one answer that only two learners have, so that the pair is listed whatever its
# total: answers written apart share 2 at most, as the page says
PASSAGE = 40
MOST, MOST_ANSWERS = 20, 6  # pairs in the page and the table, and exercises of each on the page
LONGEST = 6000  # characters of an answer that are compared
# characters of an answer that are read at all, which bounds the lexer's time, and of the longest
# string that stays in an answer over LONGEST
MOST_READ, LONG_STRING = 60_000, 200
HEADER = ["learner", "other", "exercise", "shared", "more than chance", "passage"]
LEXER = PythonLexer(stripnl=False, ensurenl=False)
WORD = re.compile(r"\w+")

Token = tuple[str, int, int]  # a token or word, and where it begins and ends


@dataclass(frozen=True)
class Pair:
    """Two learners, by their places in the class.

    places: the lower one is the first.
    shares: by exercise, how much of the shorter answer both have, from 0 to 1; rare fingerprints
    count more. Exercises of which they share nothing are absent.
    total: the sum of the shares.
    above: whether the total is more than chance explains.
    passages: by exercise, how many fingerprints only these two have, where they are at least
    PASSAGE.
    """

    places: tuple[int, int]
    shares: dict[str, float]
    total: float
    above: bool
    passages: dict[str, int]


@dataclass
class Comparison:
    """What was compared, and the pairs to look at, the one with the highest total first.

    chance: the threshold of a pair's `total`.
    compared, too_short: numbers of answers; those without any text are in neither.
    nobodys: by exercise, the fingerprints that were given out or that many have.
    """

    pairs: list[Pair] = field(default_factory=list)
    chance: float = 0
    compared: int = 0
    too_short: int = 0
    nobodys: dict[str, set[int]] = field(default_factory=dict)


def write_resemblance(out: Path, learners: Sequence[LearnerRecord]) -> None:
    """Write the page and the table about the pairs of a class, as PAGE and TABLE in a folder.

    out: the folder, which must exist.
    """
    texts: dict[str, list[str]] = {}
    for place, learner in enumerate(learners):
        for exercise, mark in learner.exercises.items():
            if mark.status in ANSWERED and learner.texts.get(exercise):
                text = compared_part(learner.texts[exercise])
                texts.setdefault(exercise, [""] * len(learners))[place] = text
    lessons = sorted({exercise[:2] for exercise in texts})  # "04" of "04-mean-pool"
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

    texts: by exercise, the answer of each learner, "" where there is none; in each list, a learner
    has the same place.
    given: fingerprints that nobody owns.
    """
    result = Comparison()
    # by exercise, two matrices (learners, learners), see `_shared`, and the places of those whose
    # answers are compared
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
        lengths = {exercise: int(length[low, high]) for exercise, length in passages.items()}
        result.pairs.append(
            Pair(
                places=(low, high),
                shares={exercise: share for exercise, share in shared.items() if share},
                total=float(total[low, high]),
                above=bool(total[low, high] > result.chance),
                passages={
                    exercise: length for exercise, length in lengths.items() if length >= PASSAGE
                },
            )
        )
    result.pairs.sort(key=lambda pair: (-pair.total, pair.places))
    return result


# ---------------------------------------------------------------- fingerprints


def compared_part(text: str) -> str:
    """The part of an answer that is compared and shown: its first LONGEST characters, after empty
    lines and spaces at the ends of lines are removed.

    If the answer is still longer, comments and long strings are removed, too, so that they cannot
    push code out of this part. Code behind the first MOST_READ characters is never read.
    """
    # blanks first, since the lexer takes minutes for thousands of empty lines
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
    """The fingerprints of an answer: of its code, and of its comments and strings.

    They hold in this process only, see `_runs`.
    """
    code, words = _tokens(text)
    return {*_runs(code), *_runs(words)}


def _tokens(text: str) -> tuple[list[Token], list[Token]]:
    """The tokens of the code, and the words of comments and strings.

    All names that are neither built in nor behind a dot, which a learner may have chosen, become
    the same token, and so do all strings. Parentheses and commas are no tokens, since a formatter
    adds and removes them.
    """
    code, words, is_after_dot = [], [], False
    for start, kind, word in LEXER.get_tokens_unprocessed(text):
        end = start + len(word)
        if kind in Comment or kind in Literal.String:
            words += _words(word, start)
        if kind in Literal.String:
            # the lexer gives a string in parts: quote, text and quote; they become one token, which
            # begins where the first of them does
            if code and code[-1][0] == "a string":
                _, start, _ = code.pop()
            code.append(("a string", start, end))
        elif not (kind in Comment or word in "()," or word.isspace()):
            is_chosen = kind in Name and kind not in Name.Builtin and not is_after_dot
            code.append(("a name" if is_chosen else word, start, end))
            is_after_dot = word == "."
    return code, words


def _words(text: str, start: int = 0) -> list[Token]:
    """The words of a comment, a string or a text, with their places.

    start: the place of the text itself.
    """
    return [
        (match[0].lower(), start + match.start(), start + match.end())
        for match in WORD.finditer(text)
    ]


def _runs(tokens: Sequence[Token]) -> list[int]:
    """The fingerprint of each run of RUN tokens, from first to last; none of fewer tokens.

    `hash` gives a run another number in each process, but no result depends on the numbers.
    """
    words = [word for word, _, _ in tokens]
    return [hash(tuple(words[first : first + RUN])) for first in range(len(words) - RUN + 1)]


@cache
def given_out(lessons: tuple[str, ...]) -> frozenset[int]:
    """The fingerprints of what the course gave to learners.

    This is the code of all lessons and, of these lessons ("04"), the texts and the module with the
    solutions and known mistakes.
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

    A learner with fewer than LEAST has none: so few prove nothing.
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
    written: the number of answers, n, those that are too short among them.

    A fingerprint that f learners own weighs log(n/f) / log(n/2): 1 if only these two have it,
    nothing if all have. A share is the weight of what both have, divided by the number of
    fingerprints of the one who has fewer.

    Returns two symmetric matrices, (learners, learners): the shares, with zeros on the diagonal,
    and the numbers of fingerprints that nobody else has, whose diagonal means nothing.
    """
    owners = Counter(chain.from_iterable(own_prints))
    shared_runs = sorted(run for run, number in owners.items() if number > 1)
    has = np.zeros((len(own_prints), len(shared_runs)), dtype=np.float32)  # (learners, runs)
    for place, runs in enumerate(own_prints):
        has[place] = [run in runs for run in shared_runs]
    numbers = has.sum(axis=0)  # f
    # of two answers, both have whatever is shared, and log(n/2) is 0
    weights = np.log(written / numbers) / np.log(written / 2) if written > 2 else 1
    sizes = np.array([max(1, len(runs)) for runs in own_prints])  # 1: nothing is divided by 0
    # the order in which a sum is added up differs from process to process, and with it the last of
    # the seven digits of float32
    shares = (has * weights @ has.T / np.minimum.outer(sizes, sizes)).round(6)
    np.fill_diagonal(shares, 0)
    return shares, has * (numbers == 2) @ has.T


def _chance(shares: Mapping[str, np.ndarray], answered: Mapping[str, np.ndarray]) -> float:
    """The threshold: in the share QUANTILE of shuffled classes, no pair has a higher total.

    shares: by exercise, what each two learners share, (learners, learners).
    answered: by exercise, the places of those whose answers are compared.

    In a shuffled class, the answers to each exercise are dealt anew to those who answered it. There
    two learners who share one answer share others only by chance.
    """
    random = np.random.default_rng(0)  # so that a class always gets the same threshold
    size = max(map(len, shares.values()))  # all have the same
    highest_totals = []
    for _ in range(SHUFFLES):
        total = np.zeros((size, size))
        for exercise, share in shares.items():
            dealt = np.arange(size)  # by place, where the answer that stands there goes
            dealt[answered[exercise]] = random.permutation(answered[exercise])
            total[np.ix_(dealt, dealt)] += share
        highest_totals.append(total.max())
    return float(np.quantile(highest_totals, QUANTILE))


# ---------------------------------------------------------------- what is shown


def _rows(pair: Pair, names: Sequence[str]) -> Iterator[list]:
    """The lines of a pair in the table, as HEADER says: first the sums, then each exercise with a
    share.
    """
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
    """The exercises to show of a pair, MOST_ANSWERS at most: first those with a passage, then those
    with the largest shares.

    Yields (id, share, length of the passage or 0, the two answers as HTML with what both have
    marked).
    """

    def importance(exercise: str) -> tuple[bool, float, str]:
        return exercise not in pair.passages, -pair.shares[exercise], exercise

    for exercise in sorted(pair.shares, key=importance)[:MOST_ANSWERS]:
        answers = [texts[exercise][place] for place in pair.places]
        in_both = set.intersection(*map(fingerprints, answers)) - nobodys[exercise]
        marked = [_marked(text, in_both) for text in answers]
        yield exercise, pair.shares[exercise], pair.passages.get(exercise, 0), marked


def _marked(text: str, shared_runs: Collection[int]) -> Markup:
    """A text as HTML, in which the tokens of these fingerprints are marked.

    What stands between two such tokens is marked, too, unless a character of a word is in it.
    """
    # for each character: "m" in such a token, else "w" in a word, "." elsewhere
    kinds = ["w" if WORD.match(character) else "." for character in text]
    for tokens in _tokens(text):
        for first, run in enumerate(_runs(tokens)):
            if run in shared_runs:
                for _, start, end in tokens[first : first + RUN]:
                    kinds[start:end] = "m" * (end - start)
    html, done = Markup(), 0
    # from an "m" to the last one before a "w"
    for match in re.finditer(r"m([m.]*m)?", "".join(kinds)):
        start, end = match.span()
        html += escape(for_pages(text[done:start], LONGEST))
        html += Markup("<mark>{}</mark>").format(for_pages(text[start:end], LONGEST))
        done = end
    return html + escape(for_pages(text[done:], LONGEST))
