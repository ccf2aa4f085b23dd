"""Exercises of lesson 01, tokenization."""

import functools
import re
import string
from functools import partial

import numpy as np

from .._support.downloads import packaged_folder
from .comparing import difference
from .model import Case, Completion, Mistake
from .words import exercise


def _syllables(rng, n):
    """`n` different two-letter syllables that share no letters."""
    letters = rng.sample(string.ascii_lowercase, 2 * n)
    return ["".join(letters[i : i + 2]) for i in range(0, 2 * n, 2)]


# --- completions -------------------------------------------------------------------------------------------------


def _longest_start_cases(rng):
    a, b, c = _syllables(rng, 3)
    pieces = {a, a + b[0], "##" + b, "##" + b + c[0], c, "##" + a}
    yield Case("The longest known start wins", a + b + c, pieces, "")
    yield Case("Inside a word, the mark is part of what is looked up", b + c + a, pieces, "##")
    yield Case("A piece that is known only without the mark does not fit inside a word", c + b, pieces, "##")
    yield Case("The whole rest may be known", a, pieces, "##")


def _first_found(rest, pieces, candidate):
    return next((rest[:end] for end in range(len(rest), 0, -1) if candidate(end) in pieces), None)


def _longest_start(rest, pieces, mark):
    return _first_found(rest, pieces, lambda end: mark + rest[:end])


LONGEST_START = Completion(
    "01-longest-start",
    "One step of the search",
    ("rest", "pieces", "mark"),
    _longest_start_cases,
    _longest_start,
    mistakes=(
        Mistake(
            "no_mark",
            "You look the letters up without the mark.",
            "Inside a word, the entry to look up is the mark followed by the letters: `mark + rest[:end]`.",
            (lambda rest, pieces, mark: _longest_start(rest, pieces, ""),),
        ),
        Mistake(
            "always_marked",
            'You look the letters up with `"##"` even at the start of the word.',
            "Use the argument `mark`, which is empty at the start of the word.",
            (lambda rest, pieces, mark: _longest_start(rest, pieces, "##"),),
        ),
        Mistake(
            "mark_after",
            "You put the mark after the letters.",
            "The mark comes before the letters: `mark + rest[:end]`.",
            (lambda rest, pieces, mark: _first_found(rest, pieces, lambda end: rest[:end] + mark),),
        ),
        Mistake(
            "mark_shortened",
            "You count the characters of the mark among the letters that you keep.",
            "Shorten only the letters, and then put the whole mark before them: `mark + rest[:end]`.",
            (lambda rest, pieces, mark: _first_found(rest, pieces, lambda end: (mark + rest)[:end]),),
        ),
        Mistake(
            "one_letter_fewer",
            "Your candidate has one letter fewer than the start that the function returns.",
            "`rest[:end]` already leaves out the letter at `end`.",
            (lambda rest, pieces, mark: _first_found(rest, pieces, lambda end: mark + rest[: end - 1]),),
        ),
    ),
)


def _pair_totals_cases(rng):
    a, b, c = (rng.choice(part) for part in ("aeiou", "lmnr", "dgst"))
    low, high = rng.randint(2, 9), rng.randint(10, 99)
    yield Case("A pair counts as often as its word occurs", {a + b: [a, b]}, {a + b: high})
    yield Case("A pair that occurs twice in a word counts twice", {a + b + a + b: [a, b, a, b]}, {a + b + a + b: low})
    yield Case(
        "A pair that occurs in several words has one total",
        {a + b + c: [a, b, c], c + a + b: [c, a, b]},
        {a + b + c: low, c + a + b: high},
    )
    yield Case("Symbols may be longer than a letter", {a + b + c: [a + b, c]}, {a + b + c: high})


def _pair_totals(words, counts):
    pairs = [(pair, counts[word]) for word, symbols in words.items() for pair in zip(symbols, symbols[1:])]
    return {pair: sum(count for other, count in pairs if other == pair) for pair, _ in pairs}


def _updating(update):
    """A solution that goes over all pairs; `update(totals, pair, count)` is its missing line."""

    def totals_of(words, counts):
        totals = {}
        for word, symbols in words.items():
            for pair in zip(symbols, symbols[1:]):
                update(totals, pair, counts[word])
        return totals

    return totals_of


def _adding(key=lambda pair: pair, start=lambda count: 0):
    return _updating(
        lambda totals, pair, count: totals.update({key(pair): totals.get(key(pair), start(count)) + count})
    )


def _last_count_of_each(words, counts):
    return {pair: counts[word] for word, symbols in words.items() for pair in zip(symbols, symbols[1:])}


PAIR_TOTALS = Completion(
    "01-pair-totals",
    "Totals of pairs",
    ("words", "counts"),
    _pair_totals_cases,
    _pair_totals,
    mistakes=(
        Mistake(
            "no_default",
            "Your function stops with a KeyError: it looks up a key that the dictionary does not have.",
            "`totals.get(pair, 0)` gives 0 for a new pair, and the keys of `counts` are words.",
            (_updating(lambda totals, pair, count: totals.update({pair: totals[pair] + count})),),
        ),
        Mistake(
            "overwritten",
            "Each count replaces the previous count, so only the last word with a pair counts.",
            "Add `counts[word]` to the total that the pair already has.",
            (_last_count_of_each,),
        ),
        Mistake(
            "words_counted_once",
            "You add 1 for each occurrence of a pair in a word.",
            "Add `counts[word]`, because the word occurs that often.",
            (lambda words, counts: _pair_totals(words, dict.fromkeys(counts, 1)),),
        ),
        Mistake(
            "joined_key",
            "Your keys are texts, because you join the two symbols of a pair.",
            "The key is the pair itself: `totals[pair]`.",
            (_adding(key="".join),),
        ),
        Mistake(
            "wrong_start",
            "The total of a new pair does not start at 0, so each of your totals is too high.",
            "`totals.get(pair, 0)` gives 0 for a new pair.",
            (_adding(start=lambda count: 1), _adding(start=lambda count: count)),
        ),
        Mistake(
            "first_count_only",
            "You keep the first count of each pair and add nothing to it.",
            "Add `counts[word]` to the total each time the pair occurs.",
            (_updating(lambda totals, pair, count: totals.setdefault(pair, count)),),
        ),
    ),
)


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
    yield Case("The ids are in the order of the words, between [CLS] and [SEP]", [[a], [c], [b]], vocabulary)
    yield Case("Every piece of a word gets an id", [[c, "##" + b, "##" + a], [a + b, "##" + c]], vocabulary)
    yield Case("Two words make one sentence, with one [SEP]", [[b, "##" + c], [a]], vocabulary)
    yield Case("A word given as [UNK] keeps its place", [[a], ["[UNK]"], [c]], vocabulary)
    yield Case("A piece that is not in the vocabulary gets the id of [UNK]", strangers, vocabulary)
    yield Case("A word that occurs twice gives its id twice", [[c], [a], [c]], vocabulary)
    yield Case("Without words, only [CLS] and [SEP] are left", [], vocabulary)
    yield Case(
        "Upper-case and lower-case letters are different letters",
        [[a.upper(), "##" + b.title()], [a, "##" + b], [c.upper()]],
        capitals,
    )


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


def _with_berts_numbers(inside, ends):
    return lambda w, v: [ends[0](v), *inside(w, v), ends[1](v)]


ENCODE = exercise("01-encode", _encode_cases, encode)(
    no_special_tokens=lambda w, v: _inside(w, v),
    no_special_tokens_and_keyerror=_known,
    no_sep=lambda w, v: [v["[CLS]"], *_inside(w, v)],
    no_cls=lambda w, v: [*_inside(w, v), v["[SEP]"]],
    sep_after_each_word=lambda w, v: [v["[CLS]"], *(i for p in w for i in [*_inside([p], v), v["[SEP]"]])],
    both_around_each_word=lambda w, v: [i for p in w for i in _framed(_inside([p], v), v)],
    swapped=lambda w, v: [v["[SEP]"], *_inside(w, v), v["[CLS]"]],
    pieces_returned=lambda w, v: ["[CLS]", *_flat(w), "[SEP]"],
    lists_of_words=lambda w, v: _framed([_inside([p], v) for p in w], v),
    keyerror=lambda w, v: _framed([v[piece] for piece in _flat(w)], v),
    unknown_is_none=lambda w, v: _framed([v.get(piece) for piece in _flat(w)], v),
    zero_is_false=lambda w, v: _framed([v.get(piece) or v["[UNK]"] for piece in _flat(w)], v),
    unknown_is_zero=lambda w, v: _framed([v.get(piece, 0) for piece in _flat(w)], v),
    unknown_dropped=lambda w, v: _framed([v[piece] for piece in _flat(w) if piece in v], v),
    rest_of_word_dropped=lambda w, v: _framed(_inside([_up_to_unknown(p, v) for p in w], v), v),
    unk_for_word=lambda w, v: _framed(_inside([p if set(p) <= set(v) else ["[UNK]"] for p in w], v), v),
    text_unk=lambda w, v: _framed([v.get(piece, "[UNK]") for piece in _flat(w)], v),
    berts_numbers=(
        *(_with_berts_numbers(inside, ends) for inside in _INSIDES for ends in _ENDS),
        lambda w, v: _framed([v.get(piece, 100) for piece in _flat(w)], v),
    ),
    list_as_key=(lambda w, v: _framed(_through_texts(w, v), v), _through_texts),
    first_piece_only=lambda w, v: _framed(_inside([p[:1] for p in w], v), v),
    words_looked_up=lambda w, v: _framed(_inside([["".join(p).replace("##", "")] for p in w], v), v),
    lower_case=lambda w, v: _framed(_inside([[x.lower() for x in p] for p in w], v), v),
    marks_cut_off=lambda w, v: _framed(_inside([[x.removeprefix("##") for x in p] for p in w], v), v),
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
    yield Case("A word that is a piece stays whole", a + b, {a, a + b, "##" + b} | single)
    yield Case("A word that is a piece stays whole", b[0], {b, *single})
    yield Case("Each piece after the first carries ##", a + b + c, {a, "##" + b, "##" + c} | single)
    yield Case(
        "The longest start wins, although a longer piece would follow a shorter start",
        a + b + c,
        {a, a + b, "##" + b + c, "##" + c} | single,
    )
    yield Case("A piece may occur more than once", a + b + b + b, {a, "##" + b} | single)
    yield Case("The last piece may be one letter", a + b + c[0], {a, "##" + b} | single)
    yield Case("An entry without ## is for the start of a word only", a + b, {a, b})
    yield Case("An entry with ## is never the start of a word", b + a, {"##" + b, "##" + a})
    yield Case(
        "Greedy never goes back: no match after the longest start makes the word unknown",
        a + b + c,
        {a, a + b, "##" + b + c},
    )
    yield Case("One part that is not known makes the whole word unknown", a + b + d, {a, "##" + b} | single)
    # the mark is no part of the word: its first # is not the piece #
    yield Case(
        "One part that is not known makes the whole word unknown", a + d + b, {a, "##" + b, "#", "###" + d} | single
    )
    yield Case("One part that is not known makes the whole word unknown", d + a, {a, "##" + a, "##" + b})
    yield Case(
        "The longest start wins, although a shorter start would lead to fewer pieces",
        a + b + c,
        {a, a + b, "##" + b + c, "##" + c[0], "##" + c[1]},
    )
    yield Case(
        "The search begins at the start of the word", a + b + c, {a, a + b, "##" + c, "##" + b[0], "##" + b[1] + c}
    )
    yield Case("Upper-case and lower-case letters are different letters", a.upper() + b, {a, a.upper(), "##" + b})
    yield Case("Upper-case and lower-case letters are different letters", a + b.upper(), {a, "##" + b} | single)
    yield Case("A word of more than 100 letters is split like any other", a + 49 * b + c[0], {a, "##" + b, "##" + c[0]})
    yield Case("A word of more than 100 letters is split like any other", a + 99 * b, {a, "##" + b})


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


def _skipping(word, pieces, trace=(), marked=lambda found, start: start):
    """Moves on by a letter where nothing fits, and leaves `trace` there."""
    found, start = [], 0
    while start < len(word):
        mark = "##" if marked(found, start) else ""
        letters = _longest_start(word[start:], pieces, mark)
        found += trace if letters is None else [mark + letters]
        start += len(letters or "-")
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


def _removing(remove):
    """A search that shortens the rest of the word by `remove(rest, letters, mark)`."""

    def search(word, pieces):
        found, rest = [], word
        while rest:
            mark = "##" if found else ""
            letters = _longest_start(rest, pieces, mark)
            if letters is None:
                return ["[UNK]"]
            found.append(mark + letters)
            rest = remove(rest, letters, mark)
        return found

    return search


@functools.cache
def _berts_pieces():
    return frozenset((packaged_folder() / "model" / "vocab.txt").read_text(encoding="utf-8").split("\n"))


def _stops_at_none(use):
    """A search that returns None when it finds nothing; `use` is what the learner's code then does with that None."""
    return lambda w, p: _match(w, p, stuck=lambda found, rest: use(None))


WORDPIECE = exercise("01-wordpiece", _wordpiece_cases, wordpiece, points=2)(
    berts_vocabulary=lambda w, p: _match(w, _berts_pieces()),
    start_not_found=(_stops_at_none(lambda piece: "##" + piece), _stops_at_none(len)),
    shortest_start=lambda w, p: _match(w, p, ends=lambda start, n: range(start + 1, n + 1)),
    never_marked=lambda w, p: _match(w, p, mark=""),
    marked_in_result_only=lambda w, p: _match(w, p, mark="", show=lambda start: "##" if start else ""),
    marked_in_lookup_only=lambda w, p: _match(w, p, show=lambda start: ""),
    first_marked_too=lambda w, p: _match(w, p, show=lambda start: "##"),
    first_looked_up_marked=lambda w, p: _match(w, p, first_mark="##"),
    unk_for_rest=lambda w, p: _match(w, p, stuck=lambda found, rest: [*found, "[UNK]"]),
    rest_dropped=lambda w, p: _match(w, p, stuck=lambda found, rest: found),
    rest_as_it_is=(
        lambda w, p: _match(w, p, stuck=lambda found, rest: [*found, rest]),
        lambda w, p: _match(w, p, stuck=lambda found, rest: [*found, ("##" if found else "") + rest]),
    ),
    unk_for_letters=lambda w, p: _skipping(w, p, trace=["[UNK]"]),
    letters_skipped=[
        lambda w, p, marked=marked, otherwise=otherwise: _skipping(w, p, marked=marked) or otherwise
        for marked in (lambda found, start: found, lambda found, start: start)
        for otherwise in ([], ["[UNK]"])
    ],
    mark_cut_off_too=_removing(lambda rest, letters, mark: rest[len(mark + letters) :]),
    every_occurrence_removed=_removing(lambda rest, letters, mark: rest.replace(letters, "")),
    unk_as_text=lambda w, p: _match(w, p, stuck=lambda found, rest: "[UNK]"),
    nothing_for_unknown=lambda w, p: _match(w, p, stuck=lambda found, rest: []),
    none_for_unknown=lambda w, p: _match(w, p, stuck=lambda found, rest: None),
    backtracks=lambda w, p: _any_split(w, p) or ["[UNK]"],
    cut_into_marks=_mark_in_the_rest,
    limit_of_100=[lambda w, p, most=most: ["[UNK]"] if len(w) > most else wordpiece(w, p) for most in (100, 150)],
    fewest_pieces=[lambda w, p, end_first=end_first: _fewest(w, p, end_first) for end_first in (list, reversed)],
    lower_case=lambda w, p: wordpiece(w.lower(), p),
    from_the_end=_from_the_end,
    never_one_letter=lambda w, p: _match(w, p, ends=lambda start, n: range(n, start + 1, -1)),
    never_whole_rest=lambda w, p: _match(w, p, ends=lambda start, n: range(n - 1, start, -1)),
    whole_word_only=lambda w, p: [w] if w in p else ["[UNK]"],
    stops_after_one=lambda w, p: _match(w, p)[:1],
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
    yield Case("A longer start breaks up what follows", a + b + c, {a, "##" + b + c} | single)
    # only a + b does harm; the same letters with ## are another entry
    yield Case("The word stays known", a + b + c, {a, "##" + b + c, "##" + c[0], "##" + c[1], "##" + a + b})
    # only ## + a + b does harm, in the middle of the cut; d + e[0] changes it
    yield Case("Another cut is not always a longer one", d + e + a + b + c + f, known)
    # only ## + f + e does harm; ## + b + c would if it were not used twice: then the second c + e breaks up
    yield Case("Only an entry with ## does harm", a + b + c + d + b + c + e + f + e + d, twice | {f + e})
    # only a + b + c + d[0] does harm: a shorter start is not the longest one, and a longer one leaves e alone
    long = {a + b + c, "##" + d + e, "##" + d[1], "##" + e}
    yield Case("The entry may be a long one", a + b + c + d + e, long)


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


def _continuations(word):
    return (entry for entry in _entries(word) if entry.startswith("##"))


def _entries_up_to(most, word):
    return (entry for entry in _entries(word) if len(entry.removeprefix("##")) <= most)


def _starts(word):
    return (word[:end] for end in range(1, len(word) + 1))


HARMFUL = exercise("01-harmful-entry", _harmful_cases, harmful_entry, judge=_judge_harmful)(
    changed_not_more=(
        lambda w, p: _first_entry(w, p, lambda before, after: after != before),
        lambda w, p: _first_entry(w, p, lambda before, after: after not in (before, ["[UNK]"])),
    ),
    makes_unknown=lambda w, p: _first_entry(
        w, p, lambda before, after: after == ["[UNK]"], otherwise=harmful_entry(w, p)
    ),
    only_at_start=(
        lambda w, p: _first_entry(w, p, _longer, entries=_starts),
        lambda w, p: _first_entry(w, p, _longer, entries=_starts, otherwise=None),
    ),
    only_inside=(
        lambda w, p: _first_entry(w, p, _longer, entries=_continuations),
        lambda w, p: _first_entry(w, p, _longer, entries=_continuations, otherwise=None),
    ),
    short_entries_only=[
        lambda w, p, most=most, otherwise=otherwise: _first_entry(
            w, p, _longer, entries=partial(_entries_up_to, most), otherwise=otherwise
        )
        for most in (3, 4, 5)
        for otherwise in ("", None)
    ],
    unmarked=lambda w, p: harmful_entry(w, p).removeprefix("##"),
    longer_cut=lambda w, p: wordpiece(w, p | {harmful_entry(w, p)}),
    all_entries=lambda w, p: [e for e in _entries(w) if _longer(wordpiece(w, p), wordpiece(w, p | {e}))],
    whole_word=lambda w, p: w,
    existing_piece=lambda w, p: wordpiece(w, p)[0],
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
    yield Case("One occurrence becomes one symbol", [c, a, b, d], (a, b))
    yield Case("Every occurrence is merged, also at the start and at the end", [a, b, c, a, b, d, a, b], (a, b))
    yield Case("The order inside the pair matters", word, (a, b))
    yield Case("Without the pair nothing changes", [b, a, b.upper(), c, d, a], (a, b))
    yield Case("Neighbours only: a symbol between them keeps them apart", [a, c, b, d], (a, b))
    yield Case("Occurrences do not overlap; the left one comes first", [a, a, a, c], (a, a))
    yield Case("Occurrences do not overlap; the left one comes first", [c, a, a, a, a, a], (a, a))
    yield Case("Symbols may be longer than one letter", [a + b, c, d, a + b, c], (a + b, c))
    yield Case(
        "Symbols count, not letters: the same letters in other symbols are another pair",
        [a + b, c, a, b + c],
        (a, b + c),
    )
    yield Case("Only whole symbols count", [d + a, b, c, a, b + d], (a, b))
    yield Case("Any text can be a symbol, also a full stop", [b, a, ".", a, c], (".", a))
    yield Case("Any text can be a symbol, also a space or a line break", [a, b, " ", "\n", c + " " + d], (a, b))
    yield Case("Any text can be a symbol, also the empty one", [c, "", a, b, "", d], (a, b))
    yield Case("Any text can be a symbol, also the empty one", [a, "", "", b], (a, ""))
    yield Case("Any text can be a symbol", [a, b, *_NO_LETTERS, a, b], (a, b))
    yield Case("The two texts are put together as they are", [a.upper(), "##" + b, c], (a.upper(), "##" + b))
    yield Case("The two texts are put together as they are", [c, " " + a, b + " "], (" " + a, b + " "))
    yield Case("A single symbol stays as it is", [a], (a, b))
    yield Case("An empty list stays empty", [], (a, b))


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


def _with_separator(z, whole, s, p):
    """Joins the symbols, replaces in the text (in whole symbols only, or anywhere), and splits again."""
    pair = re.escape(z.join(p))
    if whole:
        pair = rf"(?<![^{z}]){pair}(?![^{z}])"
    return re.sub(pair, lambda _: "".join(p), z.join(s)).split(z) if s else []


def _beyond_the_end(fits, step, s, p):
    """Reads the right neighbour of every symbol, including the last, which has none."""
    merged, i = [], 0
    for _ in s:
        if i < len(s):
            here = fits(s, i, p)
            merged.append(p[0] + p[1] if here else s[i])
            i += step if here else 1
    return merged


_NEIGHBOURS = (
    lambda s, i, p: s[i] == p[0] and s[i + 1] == p[1],
    lambda s, i, p: (s[i], s[i + 1]) == p,
    lambda s, i, p: s[i] + s[i + 1] == p[0] + p[1],
)


MERGE = exercise("01-merge", _merge_cases, merge)(
    first_only=_first_only,
    overlapping=_overlapping,
    second_half_again=lambda s, p: _merge_where(s, lambda x, y: (x, y) == p, step=1),
    from_the_right=_from_the_right,
    either_order=lambda s, p: _merge_where(s, lambda x, y: {x, y} == set(p)),
    joined_text=lambda s, p: _merge_where(s, lambda x, y: x + y == "".join(p)),
    spaced_text=lambda s, p: " ".join(s).replace(" ".join(p), "".join(p)).split(),
    spaced_pattern=lambda s, p: re.sub(" ".join(p), "".join(p), " ".join(s)).split(),
    pattern=lambda s, p: re.sub(rf"(?<!\S){' '.join(p)}(?!\S)", "".join(p), " ".join(s)).split(),
    spaced_symbol=lambda s, p: _merge_where(s, lambda x, y: (x, y) == p, glue=lambda x, y: x + " " + y),
    pair_as_pair=lambda s, p: _merge_where(s, lambda x, y: (x, y) == p, glue=lambda x, y: (x, y)),
    pair_dropped=lambda s, p: [
        x for x in _merge_where(s, lambda x, y: (x, y) == p, glue=lambda x, y: None) if x is not None
    ],
    empty_dropped=lambda s, p: [x for x in merge(s, p) if x],
    marks_cut_off=lambda s, p: _merge_where(s, lambda x, y: (x, y) == p, glue=lambda x, y: x + y.removeprefix("##")),
    ends_only=[
        lambda s, p, glue=glue: _merge_where(
            s, lambda x, y: x.endswith(p[0]) and y.startswith(p[1]), glue=lambda x, y: glue(x, y, p)
        )
        for glue in (lambda x, y, p: x + y, lambda x, y, p: "".join(p))
    ],
    separator=(
        *(partial(_with_separator, z, whole) for z in (" ", "\0", "\n", ",", "|", "\t") for whole in (True, False)),
        lambda s, p: re.sub(rf"(?<!\S){re.escape(' '.join(p))}(?!\S)", lambda _: "".join(p), " ".join(s)).split(),
    ),
    last_lost=_without_last,
    beyond_the_end=[partial(_beyond_the_end, fits, step) for fits in _NEIGHBOURS for step in (1, 2)],
    nothing_merged=lambda s, p: list(s),
    one_text=lambda s, p: "".join(s),
    array=lambda s, p: np.array(merge(s, p)).tolist(),
)
