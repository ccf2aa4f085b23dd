"""Hand-ins that share more of their own code than chance explains: for a person to look at, never for a mark.

The fingerprints are those of winnowing (Schleimer, Wilkerson and Aiken 2003, sections 3 and 4): the runs of RUN tokens,
without those that were given out. Answers are short, so every run is kept, which is a window of 1. The library for it,
copydetect, is not used: its last release is of March 2024, its choice of fingerprints depends on Python's `hash`, which
differs from process to process, and it takes a run that an answer repeats for one that was given out.
"""

import inspect
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import chain

import numpy as np
from markupsafe import Markup, escape
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Literal, Name
from scipy import sparse

from ... import exercises
from ..._support.files import write_whole
from ..._support.notebooks import parts
from .reports import PAGES
from .tables import RESEMBLANCE, write_table
from .untrusted import for_pages

PAGE, TABLE = RESEMBLANCE
RUN = 8  # tokens of code, or words of comments and strings, in a fingerprint
LEAST = 8  # own fingerprints of an answer that is compared
COMMON = 0.25  # what is in more of the answers than this share, and in more than two, is nobody's own
SHUFFLES, QUANTILE = 200, 0.95  # classes that say what chance does, and how many of them stay below the threshold
PASSAGE = 40  # fingerprints of one answer that only two learners have
MOST, MOST_ANSWERS = 20, 6  # pairs on the page, and answers of each
LONGEST = 6000  # characters of an answer that are compared
MOST_READ, LONG_STRING = 60_000, 200  # characters of a long answer that are read, and of a string that is left out
LEXER = PythonLexer(stripnl=False, ensurenl=False)
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Pair:
    """Two learners, by their places in the class.

    shares: by exercise, how much of the shorter answer both have, what is rare counting more. total: their sum.
    above: whether this is more than chance explains.
    passages: by exercise, the fingerprints that only these two have, if they are PASSAGE or more.
    """

    places: tuple[int, int]
    shares: dict[str, float]
    total: float
    above: bool
    passages: dict[str, int]


@dataclass
class Found:
    """What was compared, and which pairs came out, the one that shares most first. chance: the threshold of `total`.

    nobodys: by exercise, the fingerprints that were given out or that many have. cut: (place of the learner, exercise)
    of the answers of which only the beginning was compared.
    """

    pairs: list[Pair] = field(default_factory=list)
    chance: float = 0
    compared: int = 0
    too_short: int = 0
    nobodys: dict[str, set] = field(default_factory=dict)
    cut: list[tuple[int, str]] = field(default_factory=list)


def write_resemblance(out, learners):
    """Write the page and the table about the pairs of a class."""
    texts, cut = {}, []
    for place, learner in enumerate(learners):
        for one, mark in learner.exercises.items():
            if mark.status in ("passed", "failed") and learner.texts.get(one):
                own, is_cut = compared_part(learner.texts[one])
                texts.setdefault(one, [""] * len(learners))[place] = own
                cut += [(place, one)] * is_cut
    found = compare(texts, given_out(tuple(sorted({one[:2] for one in texts}))))
    found.cut = cut
    shown = found.pairs[:MOST]
    header = ["learner", "other", "exercise", "shared", "more than chance", "passage"]
    write_table(out / TABLE, header, [row for pair in shown for row in _rows(pair, learners)])
    pairs = [
        ([learners[place] for place in pair.places], pair, list(_sides(pair, texts, found.nobodys))) for pair in shown
    ]
    page = PAGES.get_template("resemblance.html.j2").render(found=found, learners=learners, pairs=pairs, rules=RULES)
    write_whole(out / PAGE, page + "\n")


def compare(texts, given=frozenset()):
    """What the answers of a class share.

    texts: by exercise, the answer of each learner, "" where there is none. given: fingerprints that nobody owns.
    """
    found, shared = Found(), []
    for one, answers in sorted(texts.items()):
        own, found.nobodys[one] = _own(answers, given)
        written, compared = sum(map(bool, answers)), sum(map(bool, own))
        found.compared += compared
        found.too_short += written - compared
        shared.append((one, *_shared(own, written)))
    found.chance = _chance(shared, max(map(len, texts.values()), default=0))
    pairs = {}
    for one, _, *columns in shared:
        for low, high, share, alone in zip(*(column.tolist() for column in columns)):
            pairs.setdefault((low, high), []).append((one, share, alone))
    for places, rows in pairs.items():
        total = sum(share for _, share, _ in rows)
        passages = {one: alone for one, _, alone in rows if alone >= PASSAGE}
        if total > found.chance or passages:
            shares = {one: share for one, share, _ in rows}
            found.pairs.append(Pair(places, shares, total, total > found.chance, passages))
    found.pairs.sort(key=lambda pair: (-pair.total, pair.places))
    return found


# ---------------------------------------------------------------- fingerprints


def compared_part(text):
    """(what is compared of an answer, and shown; whether that is its beginning only).

    Without empty lines and spaces at the ends of lines. A long answer also loses its comments and long strings, so that
    they hide nothing that stands behind them.
    """
    lines = _filled(text[:MOST_READ])  # first, since the lexer takes minutes for thousands of empty lines
    if len(lines) > LONGEST:
        words = (word for _, kind, word in LEXER.get_tokens_unprocessed(lines) if _is_code(kind, word))
        lines = _filled("".join(words))
    return lines[:LONGEST], len(lines) > LONGEST or len(text) > MOST_READ


def _filled(text):
    """A text without empty lines and spaces at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _is_code(kind, word):
    return kind not in Comment and not (kind in Literal.String and len(word) > LONG_STRING)


def fingerprints(text):
    """The fingerprints of an answer."""
    return {run for tokens in _tokens(text) for run in _runs(tokens)}


def _tokens(text):
    """The tokens of the code, and the words of comments and strings, each as (token, start, end).

    Names of the learner's choice are one token; brackets and commas are none, since a formatter adds and removes them.
    """
    code, words, after_dot = [], [], False
    for start, kind, word in LEXER.get_tokens_unprocessed(text):
        place = (start, start + len(word))
        if kind in Comment or kind in Literal.String:
            words += _words(word, start)
        if kind in Literal.String and code and code[-1][0] == "a string":
            code[-1] = ("a string", code[-1][1], place[1])
        elif kind in Literal.String:
            code.append(("a string", *place))
        elif not (kind in Comment or word in "()," or word.isspace()):
            chosen = kind in Name and kind not in Name.Builtin and not after_dot
            code.append(("a name" if chosen else word, *place))
            after_dot = word == "."
    return code, words


def _words(text, start=0):
    """The words of a comment, a string or a text, with their places."""
    return [(found[0].lower(), start + found.start(), start + found.end()) for found in WORD.finditer(text)]


def _runs(tokens):
    """The fingerprint of each run of tokens, from first to last. Nothing depends on which number a run gets."""
    return list(map(hash, zip(*([token for token, _, _ in tokens[first:]] for first in range(RUN)))))


@cache
def given_out(lessons):
    """The fingerprints of what the course gave: the code of all lessons, and the texts and known mistakes of these."""
    given = set()
    for path in parts().values():
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source, is_code = "".join(cell["source"]), cell["cell_type"] == "code"
            if is_code or path.name[:2] in lessons:  # texts hold code, too
                given.update(fingerprints(source), () if is_code else _runs(_words(source)))
    for lesson in lessons:
        given.update(fingerprints(inspect.getsource(import_module(f"{exercises.__name__}.lesson_{lesson}"))))
    return frozenset(given)


def _own(answers, given):
    """Each learner's own fingerprints of an exercise, none if they are too few to say anything; and those of nobody."""
    prints = [fingerprints(text) for text in answers]
    counts, most = Counter(chain.from_iterable(prints)), max(2, COMMON * sum(map(bool, answers)))
    nobodys = {run for run, count in counts.items() if run in given or count > most}
    return [own if len(own) >= LEAST else set() for own in (one - nobodys for one in prints)], nobodys


# ---------------------------------------------------------------- pairs


def _shared(own, written):
    """Who has own code, and the pairs that share some, in columns: one, other, their share, what is theirs alone.

    A fingerprint that f of n answers have weighs log(n/f) / log(n/2): 1 if only these two have it, nothing if all have.
    """
    counts = Counter(chain.from_iterable(own))
    held = np.array([count for count in counts.values() if count > 1], dtype=int)
    numbers = {run: number for number, run in enumerate(run for run, count in counts.items() if count > 1)}
    columns = [[numbers[run] for run in one if run in numbers] for one in own]
    ends = np.cumsum([0, *map(len, columns)])
    table = sparse.csr_array(
        (np.ones(ends[-1]), np.fromiter(chain.from_iterable(columns), int), ends), shape=(len(own), len(held))
    )
    weights = np.log(written / held) / np.log(written / 2) if written > 2 else np.ones(len(held))
    weighed = sparse.triu(table.multiply(weights[None]) @ table.T, 1).tocoo()
    alone = (table.multiply((held == 2)[None]) @ table.T).toarray()
    sizes = np.array(list(map(len, own)))
    low, high = weighed.coords
    # rounded, since the order in which a set is added up differs from process to process
    share = (weighed.data / np.minimum(sizes[low], sizes[high])).round(6)
    return np.flatnonzero(sizes), low, high, share, alone[low, high].astype(int)


def _chance(shared, size):
    """The total that QUANTILE of shuffled classes stay below.

    Shuffled means that the answers to each exercise are dealt anew to those who answered it, as if nobody who shares
    one answer shared others, too. What is left is how often two learners write the same.
    """
    random = np.random.default_rng(0)
    tops = []
    for _ in range(SHUFFLES):
        totals = np.zeros(size * size)
        for _, who, low, high, share, _ in shared:
            dealt = np.arange(size)
            dealt[who] = random.permutation(who)
            pairs = np.minimum(dealt[low], dealt[high]) * size + np.maximum(dealt[low], dealt[high])
            totals[pairs] += share
        tops.append(totals.max(initial=0))
    return float(np.quantile(tops, QUANTILE))


# ---------------------------------------------------------------- what is shown

RULES = {
    name.lower(): globals()[name] for name in "RUN LEAST COMMON QUANTILE PASSAGE MOST MOST_ANSWERS LONGEST".split()
}


def _rows(pair, learners):
    """The lines of a pair in the table: one in all, and one for each exercise of which both share something."""
    names = [learners[place].learner for place in pair.places]
    yield [*names, "all", round(pair.total, 2), "yes" if pair.above else "no", sum(pair.passages.values())]
    for one, share in sorted(pair.shares.items()):
        yield [*names, one, round(share, 2), "", pair.passages.get(one, 0)]


def _sides(pair, texts, nobodys):
    """The exercises of which a pair shares most: (id, share, passage, the two answers as HTML)."""
    most = sorted(pair.shares, key=lambda one: (one not in pair.passages, -pair.shares[one], one))[:MOST_ANSWERS]
    for one in most:
        answers = [texts[one][place] for place in pair.places]
        both = set.intersection(*map(fingerprints, answers)) - nobodys[one]
        yield one, pair.shares[one], pair.passages.get(one, 0), [_marked(text, both) for text in answers]


def _marked(text, both):
    """A text as HTML, with the places of these fingerprints marked."""
    places = set()
    for tokens in _tokens(text):
        for first, run in enumerate(_runs(tokens)):
            if run in both:
                places.update((start, stop) for _, start, stop in tokens[first : first + RUN])
    html, end = Markup(), 0
    joined = []
    for start, stop in sorted(places):
        if joined and not WORD.search(text[joined[-1][1] : start]):
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    for start, stop in joined:
        html += escape(for_pages(text[end:start], LONGEST))
        html += Markup("<mark>{}</mark>").format(escape(for_pages(text[start:stop], LONGEST)))
        end = stop
    return html + escape(for_pages(text[end:], LONGEST))
