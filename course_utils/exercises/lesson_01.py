"""Exercises of lesson 01, tokenization."""

import functools
import re
import string

import numpy as np

from .._support.downloads import packaged_folder
from .framework import Case, Exercise, Mistake, difference


def _syllables(rng, n):
    """`n` different two-letter syllables that share no letters."""
    letters = rng.sample(string.ascii_lowercase, 2 * n)
    return ["".join(letters[i : i + 2]) for i in range(0, 2 * n, 2)]


# --- ids ---------------------------------------------------------------------------------------------------------


def encode(words, vocabulary):
    """The ids of [CLS], of all pieces in order, and of [SEP]."""
    unknown = vocabulary["[UNK]"]
    inside = [vocabulary.get(piece, unknown) for pieces in words for piece in pieces]
    return [vocabulary["[CLS]"], *inside, vocabulary["[SEP]"]]


def _encode_cases(rng):
    a, b, c, d, e = _syllables(rng, 5)
    known = [a, b, c, a + b, "##" + b, "##" + c, "##" + a, "##" + e]
    names = [*known, "[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    vocabulary = dict(zip(names, rng.sample(range(1000, 30000), len(names)), strict=True))
    vocabulary[a] = 0  # a valid id, although Python treats it as false
    capitals = {**vocabulary, a.upper(): 101, "##" + b.title(): 102}
    # of the pieces that are not in the vocabulary, ##ab and e have a twin there: ab and ##e
    strangers = [[a], [d, "##" + a + b, "##" + b], [e], [c, "##" + d]]
    return [
        Case("The ids stand in the order of the words, between [CLS] and [SEP]", ([[a], [c], [b]], vocabulary)),
        Case("Every piece of a word gets an id", ([[c, "##" + b, "##" + a], [a + b, "##" + c]], vocabulary)),
        Case("Two words make one sentence, with one [SEP]", ([[b, "##" + c], [a]], vocabulary)),
        Case("A word given as [UNK] keeps its place", ([[a], ["[UNK]"], [c]], vocabulary)),
        Case("A piece that the vocabulary does not know gets the id of [UNK]", (strangers, vocabulary)),
        Case("A word that comes twice gives its id twice", ([[c], [a], [c]], vocabulary)),
        Case("No words: [CLS] and [SEP] are left", ([], vocabulary)),
        Case(
            "A capital letter is another letter than the small one",
            ([[a.upper(), "##" + b.title()], [a, "##" + b], [c.upper()]], capitals),
        ),
    ]


def _inside(words, v):
    return [v.get(piece, v["[UNK]"]) for pieces in words for piece in pieces]


def _framed(inside, v):
    return [v["[CLS]"], *inside, v["[SEP]"]]


def _flat(words):
    return [piece for pieces in words for piece in pieces]


def _up_to_unknown(pieces, v):
    return pieces[: next((i for i, piece in enumerate(pieces, start=1) if piece not in v), None)]


def _known(words, v):
    return [v[piece] for piece in _flat(words)]


def _through_texts(words, v):
    return [v[pieces] for pieces in words]


_ENDS = ((lambda v: 101, lambda v: v["[SEP]"]), (lambda v: v["[CLS]"], lambda v: 102), (lambda v: 101, lambda v: 102))
_INSIDES = (
    _inside,
    _known,
    _through_texts,
    lambda w, v: [v.get(piece, 100) for piece in _flat(w)],
    lambda w, v: [v.get(piece) for piece in _flat(w)],
    lambda w, v: [v.get(piece, 0) for piece in _flat(w)],
    lambda w, v: [v[piece] for piece in _flat(w) if piece in v],
)
_BERTS_NUMBERS = (
    "You use BERT's own numbers 101, 102 or 100. Another vocabulary has other numbers: look up "
    '`vocabulary["[CLS]"]` and '
    "the others."
)


def _with_berts_numbers(inside, ends):
    return lambda w, v: [ends[0](v), *inside(w, v), ends[1](v)]


_TEXTS = (
    "Your function stops with a TypeError (unhashable type: 'list'): an element of `words` is itself a list of "
    "pieces. You need a second loop."
)
_KEY_ERROR = (
    "Your function stops with a KeyError at a piece that is not in the vocabulary. Such a piece gets the id of "
    "`[UNK]`: `vocabulary.get(piece, ...)` takes a value to fall back on."
)

ENCODE = Exercise(
    id="01-encode",
    title="From pieces to ids",
    arguments=("words", "vocabulary"),
    cases=_encode_cases,
    reference=encode,
    minutes=5,
    difficulty=1,
    mistakes=(
        Mistake(
            "`[CLS]` and `[SEP]` are missing: the id of `[CLS]` comes first, and the id of `[SEP]` last.",
            lambda w, v: _inside(w, v),
        ),
        Mistake(
            "`[CLS]` and `[SEP]` are missing, and a piece that is not in the vocabulary makes your function stop. "
            "It gets the id of `[UNK]`.",
            _known,
        ),
        Mistake("The `[SEP]` at the end is missing.", lambda w, v: [v["[CLS]"], *_inside(w, v)]),
        Mistake("The `[CLS]` at the start is missing.", lambda w, v: [*_inside(w, v), v["[SEP]"]]),
        Mistake(
            "You write a `[SEP]` after every word. It separates sentences, not words: one stands at the end.",
            lambda w, v: [v["[CLS]"], *(i for p in w for i in [*_inside([p], v), v["[SEP]"]])],
        ),
        Mistake(
            "You put `[CLS]` and `[SEP]` around every word. They go around the whole sentence, once.",
            lambda w, v: [i for p in w for i in _framed(_inside([p], v), v)],
        ),
        Mistake("`[CLS]` and `[SEP]` have changed places.", lambda w, v: [v["[SEP]"], *_inside(w, v), v["[CLS]"]]),
        Mistake(
            "You return the pieces. The model wants their ids: look each one up in `vocabulary`.",
            lambda w, v: ["[CLS]", *_flat(w), "[SEP]"],
        ),
        Mistake(
            "You return one list per word inside the list. The model wants one flat list of numbers.",
            lambda w, v: _framed([_inside([p], v) for p in w], v),
        ),
        Mistake(_KEY_ERROR, lambda w, v: _framed([v[piece] for piece in _flat(w)], v)),
        Mistake(
            "A piece that is not in the vocabulary becomes `None`. Give `get` a second value to fall back on: the "
            "id of `[UNK]`.",
            lambda w, v: _framed([v.get(piece) for piece in _flat(w)], v),
        ),
        Mistake(
            "A piece with the id 0 becomes `[UNK]`: 0 is a real id, but `or` takes it for false. Use "
            "`vocabulary.get(piece, unknown)`.",
            lambda w, v: _framed([v.get(piece) or v["[UNK]"] for piece in _flat(w)], v),
        ),
        Mistake(
            "A piece that is not in the vocabulary becomes 0, and 0 is the id of another entry. The fallback is the "
            "id of `[UNK]`.",
            lambda w, v: _framed([v.get(piece, 0) for piece in _flat(w)], v),
        ),
        Mistake(
            "You leave out pieces that are not in the vocabulary. Then nothing shows that something stood there: "
            "`[UNK]` keeps the place.",
            lambda w, v: _framed([v[piece] for piece in _flat(w) if piece in v], v),
        ),
        Mistake(
            "You leave out the rest of a word after a piece that is not in the vocabulary. Each piece gets an id.",
            lambda w, v: _framed(_inside([_up_to_unknown(p, v) for p in w], v), v),
        ),
        Mistake(
            "You put the text `[UNK]` among the numbers. Look up its id too.",
            lambda w, v: _framed([v.get(piece, "[UNK]") for piece in _flat(w)], v),
        ),
        *(Mistake(_BERTS_NUMBERS, _with_berts_numbers(inside, ends)) for inside in _INSIDES for ends in _ENDS),
        Mistake(_BERTS_NUMBERS, lambda w, v: _framed([v.get(piece, 100) for piece in _flat(w)], v)),
        Mistake(_TEXTS, lambda w, v: _framed(_through_texts(w, v), v)),
        Mistake(_TEXTS, _through_texts),
        Mistake(
            "You take only the first piece of each word. The continuations have ids too.",
            lambda w, v: _framed(_inside([p[:1] for p in w], v), v),
        ),
        Mistake(
            "You glue the pieces of a word together and look up the whole word. Each piece has its own id.",
            lambda w, v: _framed(_inside([["".join(p).replace("##", "")] for p in w], v), v),
        ),
        Mistake(
            "You make the pieces lower-case. Look each piece up as it is: `A` and `a` are two entries.",
            lambda w, v: _framed(_inside([[x.lower() for x in p] for p in w], v), v),
        ),
        Mistake(
            "You cut the `##` off before you look a piece up. `##s` and `s` are two entries with two ids.",
            lambda w, v: _framed(_inside([[x.removeprefix("##") for x in p] for p in w], v), v),
        ),
    ),
    hints=(
        "Two loops, one inside the other: over the words, and over the pieces of each word. Start from a list that "
        "holds the id of [CLS].",
        "`vocabulary.get(piece, unknown)` gives the id of `piece`, or `unknown` if the vocabulary has no such piece.",
        'Set `unknown = vocabulary["[UNK]"]`; append the id of every piece; at the end append `vocabulary["[SEP]"]`.',
    ),
)


# --- longest match -----------------------------------------------------------------------------------------------


def wordpiece(word, pieces):
    """Greedy longest match: repeatedly take the longest known prefix of the rest; ["[UNK]"] if no prefix is known."""
    found, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in pieces:
                break
        else:
            return ["[UNK]"]
        found.append(mark + word[start:end])
        start = end
    return found


def _wordpiece_cases(rng):
    a, b, c, d = _syllables(rng, 4)
    single = {piece for letter in a + b + c for piece in (letter, "##" + letter)}
    return [
        Case("A word that is a piece stays whole", (a + b, {a, a + b, "##" + b} | single)),
        Case("A word that is a piece stays whole", (b[0], {b, *single})),
        Case("Each piece after the first carries ##", (a + b + c, {a, "##" + b, "##" + c} | single)),
        Case(
            "The longest start wins, although a longer piece would follow a shorter start",
            (a + b + c, {a, a + b, "##" + b + c, "##" + c} | single),
        ),
        Case("A piece may come more than once", (a + b + b + b, {a, "##" + b} | single)),
        Case("The last piece may be one letter", (a + b + c[0], {a, "##" + b} | single)),
        Case("An entry without ## is for the start of a word only", (a + b, {a, b})),
        Case("An entry with ## is never the start of a word", (b + a, {"##" + b, "##" + a})),
        Case(
            "Greedy never goes back: no match after the longest start makes the word unknown",
            (a + b + c, {a, a + b, "##" + b + c}),
        ),
        Case("One part that is not known makes the whole word unknown", (a + b + d, {a, "##" + b} | single)),
        # the mark is no part of the word: its first # is not the piece #
        Case(
            "One part that is not known makes the whole word unknown",
            (a + d + b, {a, "##" + b, "#", "###" + d} | single),
        ),
        Case("One part that is not known makes the whole word unknown", (d + a, {a, "##" + a, "##" + b})),
        Case(
            "The longest start wins, although a shorter start would lead to fewer pieces",
            (a + b + c, {a, a + b, "##" + b + c, "##" + c[0], "##" + c[1]}),
        ),
        Case(
            "The search begins at the start of the word",
            (a + b + c, {a, a + b, "##" + c, "##" + b[0], "##" + b[1] + c}),
        ),
        Case("A capital letter is another letter than the small one", (a.upper() + b, {a, a.upper(), "##" + b})),
        Case("A capital letter is another letter than the small one", (a + b.upper(), {a, "##" + b} | single)),
        Case("A word of more than 100 letters is cut like any other", (a + 49 * b + c[0], {a, "##" + b, "##" + c[0]})),
        Case("A word of more than 100 letters is cut like any other", (a + 99 * b, {a, "##" + b})),
    ]


def _match(
    word,
    pieces,
    mark="##",
    ends=lambda start, n: range(n, start, -1),
    stuck=lambda found, rest: ["[UNK]"],
    first_mark="",
    show=None,
):
    found, start = [], 0
    while start < len(word):
        here = mark if start else first_mark
        end = next((end for end in ends(start, len(word)) if here + word[start:end] in pieces), None)
        if end is None:
            return stuck(found, word[start:])
        found.append((here if show is None else show(start)) + word[start:end])
        start = end
    return found


def _any_split(word, pieces, mark=""):
    if not word:
        return []
    for end in range(len(word), 0, -1):
        if mark + word[:end] in pieces:
            rest = _any_split(word[end:], pieces, "##")
            if rest is not None:
                return [mark + word[:end], *rest]
    return None


def _from_the_end(word, pieces):
    found, end = [], len(word)
    while end:
        start = next((s for s in range(end) if ("##" if s else "") + word[s:end] in pieces), None)
        if start is None:
            return ["[UNK]"]
        found.insert(0, ("##" if start else "") + word[start:end])
        end = start
    return found


def _fewest(word, pieces, end_first):
    """The cut with the fewest pieces; among several, the one that `end_first` of the possible lengths finds first."""
    cuts = {len(word): []}  # from each position to the end of the word
    for start in reversed(range(len(word))):
        found = [
            [("##" if start else "") + word[start:end], *cuts[end]]
            for end in end_first(range(start + 1, len(word) + 1))
            if end in cuts and ("##" if start else "") + word[start:end] in pieces
        ]
        if found:
            cuts[start] = min(found, key=len)
    return cuts.get(0, ["[UNK]"])


def _skipping(word, pieces):
    found, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((e for e in range(len(word), start, -1) if mark + word[start:e] in pieces), None)
        found.append("[UNK]" if end is None else mark + word[start:end])
        start = start + 1 if end is None else end
    return found


def _mark_in_the_rest(word, pieces):
    """Puts ## before the rest of the word, and shortens both together."""
    found, rest = [], word
    while rest:
        end = next((end for end in range(len(rest), 0, -1) if rest[:end] in pieces), None)
        if end is None:
            return ["[UNK]"]
        found.append(rest[:end])
        rest = "##" + rest[end:] if rest[end:] else ""
    return found


@functools.cache
def _berts_pieces():
    return frozenset((packaged_folder() / "model" / "vocab.txt").read_text(encoding="utf-8").split("\n"))


def _stops_at_none(use):
    """A search that returns None when it finds nothing; `use` is what the learner's code then does with that None."""
    return lambda w, p: _match(w, p, stuck=lambda found, rest: use(None))


_NOTHING_FOUND = 'Your search found nothing and gave `None`; this is the case for `["[UNK]"]`.'

WORDPIECE = Exercise(
    id="01-wordpiece",
    title="Greedy longest match",
    arguments=("word", "pieces"),
    cases=_wordpiece_cases,
    reference=wordpiece,
    minutes=20,
    difficulty=3,
    points=2,
    mistakes=(
        Mistake(
            "Your pieces come from BERT's vocabulary, not from `pieces`. If your function calls `longest_start`: it "
            "looks into `vocabulary`.",
            lambda w, p: _match(w, _berts_pieces()),
        ),
        Mistake(_NOTHING_FOUND, _stops_at_none(lambda piece: "##" + piece)),
        Mistake(_NOTHING_FOUND, _stops_at_none(len)),
        Mistake(
            "You take the *shortest* known start. Try the whole rest of the word first, then shorten it letter by "
            "letter.",
            lambda w, p: _match(w, p, ends=lambda start, n: range(start + 1, n + 1)),
        ),
        Mistake(
            "You look pieces up without `##`. Inside a word, a piece is found under its name with the mark: "
            '`"##" + part`.',
            lambda w, p: _match(w, p, mark=""),
        ),
        Mistake(
            "You look pieces up without `##`, and add it only to the result. Inside a word the entry to look for "
            'is `"##" + part`.',
            lambda w, p: _match(w, p, mark="", show=lambda start: "##" if start else ""),
        ),
        Mistake(
            "You look pieces up with `##` but return them without. The mark is part of the piece's name.",
            lambda w, p: _match(w, p, show=lambda start: ""),
        ),
        Mistake(
            "You put `##` before the first piece too. It marks a continuation, so the first piece has none.",
            lambda w, p: _match(w, p, show=lambda start: "##"),
        ),
        Mistake(
            "You look for the first piece with `##` too. The start of a word is looked up without the mark.",
            lambda w, p: _match(w, p, first_mark="##"),
        ),
        Mistake(
            "You keep the pieces that were found and add `[UNK]` for the rest. If any part of a word fails, the "
            'whole word becomes `["[UNK]"]`.',
            lambda w, p: _match(w, p, stuck=lambda found, rest: [*found, "[UNK]"]),
        ),
        Mistake(
            "You keep the pieces that were found and drop the rest without a sign. If any part of a word fails, "
            'the whole word becomes `["[UNK]"]`.',
            lambda w, p: _match(w, p, stuck=lambda found, rest: found),
        ),
        Mistake(
            "You keep the pieces that were found and add the rest as it is. If any part of a word fails, the "
            'whole word becomes `["[UNK]"]`.',
            lambda w, p: _match(w, p, stuck=lambda found, rest: [*found, rest]),
        ),
        Mistake(
            "You keep the pieces that were found and add the rest as it is. If any part of a word fails, the "
            'whole word becomes `["[UNK]"]`.',
            lambda w, p: _match(w, p, stuck=lambda found, rest: [*found, ("##" if found else "") + rest]),
        ),
        Mistake(
            "You put `[UNK]` in place of single letters and go on. If any part of a word fails, the whole word "
            'becomes `["[UNK]"]`.',
            _skipping,
        ),
        Mistake(
            'You return the text `[UNK]`. Put it into a list or tuple: `["[UNK]"]` or `("[UNK]",)`.',
            lambda w, p: _match(w, p, stuck=lambda found, rest: "[UNK]"),
        ),
        Mistake(
            'You return no token for an unknown word. It has one: `["[UNK]"]`.',
            lambda w, p: _match(w, p, stuck=lambda found, rest: []),
        ),
        Mistake(
            'You return `None` for an unknown word. It has one token: `["[UNK]"]`.',
            lambda w, p: _match(w, p, stuck=lambda found, rest: None),
        ),
        Mistake(
            "Your function goes back and tries a shorter start when it is stuck. Greedy search never goes back: when "
            'no piece fits, the word is `["[UNK]"]`.',
            lambda w, p: _any_split(w, p) or ["[UNK]"],
        ),
        Mistake(
            "You put `##` before the rest and shorten it down to its first `#`, which may be a piece itself. At least "
            "one letter must be left after the mark.",
            _mark_in_the_rest,
        ),
        *(
            Mistake(
                "You make long words unknown. There is no limit of 100 characters here: a word can have up to 200.",
                lambda w, p, most=most: ["[UNK]"] if len(w) > most else wordpiece(w, p),
            )
            for most in (100, 150)
        ),
        *(
            Mistake(
                "You look for the cut with the fewest pieces. Greedy search takes the longest start, whatever follows.",
                lambda w, p, end_first=end_first: _fewest(w, p, end_first),
            )
            for end_first in (list, reversed)
        ),
        Mistake(
            "You make the word lower-case. Cut it as it is: `A` and `a` are two letters.",
            lambda w, p: wordpiece(w.lower(), p),
        ),
        Mistake(
            "You match from the end of the word. Greedy matching starts at the beginning and takes the longest start.",
            _from_the_end,
        ),
        Mistake(
            "You never try a part of one letter. `range(n, 1, -1)` ends at 2; to reach 1, write `range(n, 0, -1)`.",
            lambda w, p: _match(w, p, ends=lambda start, n: range(n, start + 1, -1)),
        ),
        Mistake(
            "You never try the whole rest of the word: `word[start:end]` leaves out the letter at `end`, so `end` "
            "starts at `len(word)`.",
            lambda w, p: _match(w, p, ends=lambda start, n: range(n - 1, start, -1)),
        ),
        Mistake(
            "You only look whether the whole word is a piece. If it is not, split it.",
            lambda w, p: [w] if w in p else ["[UNK]"],
        ),
        Mistake(
            "You split off one piece and stop. Go on with what is left of the word.", lambda w, p: _match(w, p)[:1]
        ),
    ),
    hints=(
        "Keep two positions: `start`, where the next piece begins, and `end`, which runs from the end of the word "
        "down to `start + 1`. "
        'If no `end` fits, return `["[UNK]"]` at once.',
        'The name to look up is `word[start:end]` when `start` is 0, and `"##" + word[start:end]` afterwards. When '
        "it is found, the next `start` is this `end`. "
        'When no part is found, the answer is `["[UNK]"]`; without this branch the loop never ends.',
        "Python's `for ... else` helps: the `else` part runs only if the loop ended without `break`, that is, if no "
        'piece fitted. There, return `["[UNK]"]`.',
    ),
)


# --- an entry that does harm -------------------------------------------------------------------------------------


def _entries(word):
    """Every entry that stands for a part of the word at its place."""
    for start in range(len(word)):
        for end in range(start + 1, len(word) + 1):
            yield ("##" if start else "") + word[start:end]


def _first_entry(word, pieces, fits, entries=_entries, otherwise=""):
    """The first entry with which `fits(cut before, cut with it)`."""
    before = wordpiece(word, pieces)
    return next((e for e in entries(word) if fits(before, wordpiece(word, pieces | {e}))), otherwise)


def _longer(before, after):
    return len(after) > len(before)


def harmful_entry(word, pieces):
    """The first entry with which the greedy search cuts `word` into more pieces."""
    return _first_entry(word, pieces, _longer)


def _harmful_cases(rng):
    a, b, c, d, e, f = _syllables(rng, 6)
    single = {piece for letter in a + b + c for piece in (letter, "##" + letter)}
    known = {d, "##" + e, "##" + e[1], "##" + a, "##" + b + c, "##" + b[1] + c, "##" + c[0], "##" + c[1], "##" + f}
    twice = {a, "##" + b, "##" + c + d, "##" + c + e, "##" + f, "##" + e + d, "##" + d[0], "##" + d[1]}
    return [
        Case("A longer start breaks up what follows", (a + b + c, {a, "##" + b + c} | single)),
        # only a + b does harm; the same letters with ## are another entry
        Case("The word stays known", (a + b + c, {a, "##" + b + c, "##" + c[0], "##" + c[1], "##" + a + b})),
        # only ## + a + b does harm, in the middle of the cut; d + e[0] changes it
        Case("Another cut is not always a longer one", (d + e + a + b + c + f, known)),
        # only ## + f + e does harm; ## + b + c would if it were not used twice: then the second c + e breaks up
        Case("Only an entry with ## does harm", (a + b + c + d + b + c + e + f + e + d, twice | {f + e})),
    ]


def _judge_harmful(args, outcome):
    word, pieces = args
    if not isinstance(outcome, str):
        return difference(outcome, "")
    if outcome in pieces:
        return f"`{outcome}` is in `pieces` already"
    before, after = wordpiece(word, pieces), wordpiece(word, pieces | {outcome})
    if after == ["[UNK]"]:
        return f"with `{outcome}` as an entry the word becomes [UNK]"
    if after == before:
        return f"`{outcome}` as an entry does not change the cut, {' '.join(before)}"
    if len(after) <= len(before):
        return f"`{outcome}` as an entry gives {' '.join(after)}, which is not more than {' '.join(before)}"
    return None


_INSIDE = (
    "Your function finds no entry where only one inside the word does harm. Try all parts inside the word: there an "
    "entry carries `##`."
)
_CHANGES = "Your entry changes the cut, but more pieces are asked for. Compare the numbers of pieces, not the cuts."


_AT_THE_START = (
    "Your function finds no entry where only one at the start of the word does harm. Try all parts at the start: "
    "they carry no `##`."
)


def _continuations(word):
    return (entry for entry in _entries(word) if entry.startswith("##"))


def _starts(word):
    return (word[:end] for end in range(1, len(word) + 1))


HARMFUL = Exercise(
    id="01-harmful-entry",
    title="An entry that does harm",
    arguments=("word", "pieces"),
    cases=_harmful_cases,
    reference=harmful_entry,
    judge=_judge_harmful,
    minutes=15,
    difficulty=2,
    mistakes=(
        Mistake(_CHANGES, lambda w, p: _first_entry(w, p, lambda before, after: after != before)),
        Mistake(_CHANGES, lambda w, p: _first_entry(w, p, lambda before, after: after not in (before, ["[UNK]"]))),
        Mistake(
            "Your entry may make the word unknown. [UNK] is one token, and the word must stay known.",
            lambda w, p: _first_entry(w, p, lambda before, after: after == ["[UNK]"], otherwise=harmful_entry(w, p)),
        ),
        Mistake(_INSIDE, lambda w, p: _first_entry(w, p, _longer, entries=_starts)),
        Mistake(_INSIDE, lambda w, p: _first_entry(w, p, _longer, entries=_starts, otherwise=None)),
        Mistake(_AT_THE_START, lambda w, p: _first_entry(w, p, _longer, entries=_continuations)),
        Mistake(_AT_THE_START, lambda w, p: _first_entry(w, p, _longer, entries=_continuations, otherwise=None)),
        Mistake(
            "Your entry lacks its mark. An entry that continues a word carries `##`.",
            lambda w, p: harmful_entry(w, p).removeprefix("##"),
        ),
        Mistake(
            "You return the pieces of the longer cut. The entry that causes it is asked for, one text.",
            lambda w, p: wordpiece(w, p | {harmful_entry(w, p)}),
        ),
        Mistake(
            "You return all such entries. One of them is asked for, as a text.",
            lambda w, p: [e for e in _entries(w) if _longer(wordpiece(w, p), wordpiece(w, p | {e}))],
        ),
        Mistake("With the whole word as an entry, one piece is left. More pieces are asked for.", lambda w, p: w),
        Mistake(
            "You return the first piece of the cut, which is in `pieces` already. A new entry is asked for.",
            lambda w, p: wordpiece(w, p)[0],
        ),
    ),
    hints=(
        "Only an entry that stands somewhere in the word can change its cut. A word of six letters has 21 parts, "
        "`word[start:end]`: few enough to try them all.",
        "`split_word(word, pieces | {entry})` cuts with one entry more, and leaves `pieces` as it is.",
        "Two loops, over `start` and `end`. The entry is `word[start:end]`, with `##` before it if `start` is above 0. "
        "Return it as soon as the cut has more pieces than before.",
    ),
)


# --- byte-pair encoding ------------------------------------------------------------------------------------------


def merge(symbols, pair):
    """Replace every non-overlapping occurrence of `pair`, from the left, by one symbol."""
    merged, position = [], 0
    while position < len(symbols):
        if tuple(symbols[position : position + 2]) == tuple(pair):
            merged.append(pair[0] + pair[1])
            position += 2
        else:
            merged.append(symbols[position])
            position += 1
    return merged


_NO_LETTERS = ["##", *(chr(n) for n in range(256) if not chr(n).isalnum()), "\u2028", "→", "▁", "␟", "\ue000"]


def _merge_cases(rng):
    a, b, c, d = rng.sample(string.ascii_lowercase, 4)
    word = [c, a, b, d, b, a, a, b]
    return [
        Case("One occurrence becomes one symbol", ([c, a, b, d], (a, b))),
        Case("Every occurrence is merged, also at the start and at the end", ([a, b, c, a, b, d, a, b], (a, b))),
        Case("The order inside the pair matters", (word, (a, b))),
        Case("Without the pair nothing changes", ([b, a, b.upper(), c, d, a], (a, b))),
        Case("Neighbours only: a symbol between them keeps them apart", ([a, c, b, d], (a, b))),
        Case("Occurrences do not overlap; the left one comes first", ([a, a, a, c], (a, a))),
        Case("Occurrences do not overlap; the left one comes first", ([c, a, a, a, a, a], (a, a))),
        Case("Symbols may be longer than one letter", ([a + b, c, d, a + b, c], (a + b, c))),
        Case(
            "Symbols count, not letters: the same letters in other symbols are another pair",
            ([a + b, c, a, b + c], (a, b + c)),
        ),
        Case("Only whole symbols count", ([d + a, b, c, a, b + d], (a, b))),
        Case("Any text can be a symbol, also a full stop", ([b, a, ".", a, c], (".", a))),
        Case("Any text can be a symbol, also a space or a line break", ([a, b, " ", "\n", c + " " + d], (a, b))),
        Case("Any text can be a symbol, also the empty one", ([c, "", a, b, "", d], (a, b))),
        Case("Any text can be a symbol, also the empty one", ([a, "", "", b], (a, ""))),
        Case("Any text can be a symbol", ([a, b, *_NO_LETTERS, a, b], (a, b))),
        Case("The two texts are put together as they are", ([a.upper(), "##" + b, c], (a.upper(), "##" + b))),
        Case("The two texts are put together as they are", ([c, " " + a, b + " "], (" " + a, b + " "))),
        Case("A single symbol stays as it is", ([a], (a, b))),
        Case("An empty list stays empty", ([], (a, b))),
    ]


def _first_only(s, p):
    for i in range(len(s) - 1):
        if (s[i], s[i + 1]) == p:
            return [*s[:i], p[0] + p[1], *s[i + 2 :]]
    return list(s)


def _merge_where(s, fits, glue=lambda x, y: x + y, step=2):
    merged, i = [], 0
    while i < len(s):
        if i + 1 < len(s) and fits(s[i], s[i + 1]):
            merged.append(glue(s[i], s[i + 1]))
            i += step
        else:
            merged.append(s[i])
            i += 1
    return merged


def _overlapping(s, p):
    merged, i = [], 0
    while i < len(s):
        here = i + 1 < len(s) and (s[i], s[i + 1]) == p
        if here:
            merged.append(s[i] + s[i + 1])
        elif not (i and (s[i - 1], s[i]) == p):
            merged.append(s[i])
        i += 1
    return merged


def _from_the_right(s, p):
    merged, i = [], len(s) - 1
    while i >= 0:
        if i and (s[i - 1], s[i]) == p:
            merged.insert(0, s[i - 1] + s[i])
            i -= 2
        else:
            merged.insert(0, s[i])
            i -= 1
    return merged


def _through_text(s, p):
    return " ".join(s).replace(" ".join(p), "".join(p)).split()


def _without_last(s, p):
    merged, i = [], 0
    while i < len(s) - 1:
        if (s[i], s[i + 1]) == p:
            merged.append(s[i] + s[i + 1])
            i += 2
        else:
            merged.append(s[i])
            i += 1
    return merged


def _through_pattern(s, p):
    return re.sub(" ".join(p), "".join(p), " ".join(s)).split()


def _through_whole_symbols(s, p):
    return re.sub(rf"(?<!\S){' '.join(p)}(?!\S)", "".join(p), " ".join(s)).split()


def _with_separator(z, whole):
    """Joins the symbols, replaces in the text (in whole symbols only, or anywhere), and splits again."""

    def imitate(s, p):
        pair = re.escape(z.join(p))
        if whole:
            pair = rf"(?<![^{z}]){pair}(?![^{z}])"
        return re.sub(pair, lambda _: "".join(p), z.join(s)).split(z) if s else []

    return imitate


def _through_split(s, p):
    return re.sub(rf"(?<!\S){re.escape(' '.join(p))}(?!\S)", lambda _: "".join(p), " ".join(s)).split()


def _beyond_the_end(fits, step):
    """Reads the right neighbour of every symbol, including the last, which has none."""

    def imitate(s, p):
        merged, i = [], 0
        for _ in s:
            if i < len(s):
                here = fits(s, i, p)
                merged.append(p[0] + p[1] if here else s[i])
                i += step if here else 1
        return merged

    return imitate


_NEIGHBOURS = (
    lambda s, i, p: s[i] == p[0] and s[i + 1] == p[1],
    lambda s, i, p: (s[i], s[i + 1]) == p,
    lambda s, i, p: s[i] + s[i + 1] == p[0] + p[1],
)
_NO_NEIGHBOUR = (
    "Your function reads beyond the end of the list (IndexError). The last symbol has no right neighbour; stop one "
    "earlier, and keep the last symbol."
)

_SEPARATOR = (
    "You join the symbols into one text with a separator, and split it again. Any text can be a symbol, the separator "
    "too: go through the list."
)

MERGE = Exercise(
    id="01-merge",
    title="Merging a pair",
    arguments=("symbols", "pair"),
    cases=_merge_cases,
    reference=merge,
    minutes=10,
    difficulty=2,
    mistakes=(
        Mistake("You merge only the first occurrence. Go on to the end of the list.", _first_only),
        Mistake(
            "Occurrences overlap in your result: a symbol that was merged is used again. After a merge, go on *two* "
            "symbols further.",
            _overlapping,
        ),
        Mistake(
            "You add the merged symbol and then its second half once more. After a merge, go on *two* symbols "
            "further. In a `for` loop, changing the position has no effect; use `while`.",
            lambda s, p: _merge_where(s, lambda x, y: (x, y) == p, step=1),
        ),
        Mistake(
            "You merge from the right. In a row of three equal symbols, the first two belong together.", _from_the_right
        ),
        Mistake(
            "You merge the pair in either order. `(a, b)` is another pair than `(b, a)`.",
            lambda s, p: _merge_where(s, lambda x, y: {x, y} == set(p)),
        ),
        Mistake(
            "You compare letters, not symbols: `ab` + `c` gives the same text as `a` + `bc` but is another pair. "
            "Compare both symbols.",
            lambda s, p: _merge_where(s, lambda x, y: x + y == "".join(p)),
        ),
        Mistake(
            "You search in a text with spaces, and `a b` is found inside `da b` too. Compare whole symbols: go "
            "through the list.",
            _through_text,
        ),
        Mistake(
            "You search in a text with spaces, and in a pattern `.` stands for any character. Compare whole "
            "symbols: go through the list.",
            _through_pattern,
        ),
        Mistake(
            "In a pattern, `.` stands for any character, so `re.sub` merges other symbols too. Compare whole "
            "symbols: go through the list.",
            _through_whole_symbols,
        ),
        Mistake(
            "You put a space inside the new symbol. The two texts are written together: `pair[0] + pair[1]`.",
            lambda s, p: _merge_where(s, lambda x, y: (x, y) == p, glue=lambda x, y: x + " " + y),
        ),
        Mistake(
            "You put the pair into the list as a pair. The new symbol is one text: `pair[0] + pair[1]`.",
            lambda s, p: _merge_where(s, lambda x, y: (x, y) == p, glue=lambda x, y: (x, y)),
        ),
        Mistake(
            "The pair disappears from your result. Put the new symbol `pair[0] + pair[1]` in its place.",
            lambda s, p: [
                x for x in _merge_where(s, lambda x, y: (x, y) == p, glue=lambda x, y: None) if x is not None
            ],
        ),
        Mistake(
            "Empty symbols disappear from your result. An empty text is a symbol like any other: keep it.",
            lambda s, p: [x for x in merge(s, p) if x],
        ),
        Mistake(
            "You cut the `##` off the second text. Here the two texts are put together as they are.",
            lambda s, p: _merge_where(s, lambda x, y: (x, y) == p, glue=lambda x, y: x + y.removeprefix("##")),
        ),
        *(
            Mistake(
                "You look only at the end of the left symbol and the start of the right one. Compare whole symbols, "
                "with `==`.",
                lambda s, p, glue=glue: _merge_where(
                    s, lambda x, y: x.endswith(p[0]) and y.startswith(p[1]), glue=lambda x, y: glue(x, y, p)
                ),
            )
            for glue in (lambda x, y, p: x + y, lambda x, y, p: "".join(p))
        ),
        *(
            Mistake(_SEPARATOR, _with_separator(z, whole))
            for z in (" ", "\0", "\n", ",", "|", "\t")
            for whole in (True, False)
        ),
        Mistake(_SEPARATOR, _through_split),
        Mistake(
            "The last symbol gets lost when it is not part of a pair. It has no right neighbour, but it must be kept.",
            _without_last,
        ),
        *(Mistake(_NO_NEIGHBOUR, _beyond_the_end(fits, step)) for fits in _NEIGHBOURS for step in (1, 2)),
        Mistake(
            "You return the list as it was: no pair is merged. Do you compare a list with a tuple? They are never "
            "equal.",
            lambda s, p: list(s),
        ),
        Mistake("You join everything into one text. Return a list or tuple of symbols.", lambda s, p: "".join(s)),
        Mistake(
            "You put the symbols into an array. NumPy drops null characters at the end of a text; use a list or tuple.",
            lambda s, p: np.array(merge(s, p)).tolist(),
        ),
    ),
    hints=(
        "Build a new list. Walk over the old one with a position that moves on by 1, or by 2 after a merge. A `for` "
        "loop cannot do that; a `while` loop can.",
        "`tuple(symbols[position:position + 2]) == pair` is also safe at the last symbol: the slice is shorter "
        "there, so it is not equal.",
        "If the two fit: append `pair[0] + pair[1]` and add 2 to the position. Else: append `symbols[position]` and "
        "add 1.",
    ),
)


EXERCISES = (ENCODE, WORDPIECE, HARMFUL, MERGE)
