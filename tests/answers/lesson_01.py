"""Answers to lesson 01; `__init__.py` says what the tables are."""

import collections
import itertools
import re

import numpy as np


def encode_with_get(words, vocabulary):
    pieces = ["[CLS]", *itertools.chain(*words), "[SEP]"]
    return [vocabulary.get(piece, vocabulary["[UNK]"]) for piece in pieces]


# An answer that takes `twin(piece)` for a piece that the vocabulary lacks; [UNK] if it lacks both.
def encode_or_its_twin(twin):
    return lambda words, vocabulary: encode_with_get(
        [
            [piece if piece in vocabulary else twin(piece) for piece in pieces_of_word]
            for pieces_of_word in words
        ],
        vocabulary,
    )


def wordpiece_recursive(word, pieces, mark=""):
    if not word:
        return []
    for end in reversed(range(1, len(word) + 1)):
        if mark + word[:end] in pieces:
            rest = wordpiece_recursive(word[end:], pieces, "##")
            return ["[UNK]"] if rest == ["[UNK]"] else [mark + word[:end]] + rest
    return ["[UNK]"]


# Lets an entry with ## open a word, too.
def wordpiece_any_start(word, pieces):
    cut = wordpiece_recursive(word, pieces)
    return wordpiece_recursive(word, pieces, "##") if cut == ["[UNK]"] else cut


# The parts of the word as entries: those that begin at any place, or at one of `starts`.
def entries(word, starts=None):
    for start in range(len(word)) if starts is None else starts:
        for end in range(start + 1, len(word) + 1):
            yield ("##" if start else "") + word[start:end]


def harms(entry, word, pieces):
    return len(wordpiece_recursive(word, pieces | {entry})) > len(wordpiece_recursive(word, pieces))


# The last harmful entry.
def harmful_last(word, pieces):
    return [entry for entry in entries(word) if harms(entry, word, pieces)][-1]


# Prefers an entry that makes the word [UNK].
def harmful_or_unknown(word, pieces):
    unknown = [
        entry for entry in entries(word) if wordpiece_recursive(word, pieces | {entry}) == ["[UNK]"]
    ]
    return unknown[-1] if unknown else harmful_last(word, pieces)


# Also takes an entry that cuts the word into as many pieces, but others.
def harmful_or_equal(word, pieces):
    before = wordpiece_recursive(word, pieces)
    cuts = {entry: wordpiece_recursive(word, pieces | {entry}) for entry in entries(word)}
    return next(
        entry
        for entry, cut in cuts.items()
        if cut not in (before, ["[UNK]"]) and len(cut) >= len(before)
    )


# Tries only longer pieces at two places of the present cut.
def harmful_at_boundaries(word, pieces):
    cut = [piece.removeprefix("##") for piece in wordpiece_recursive(word, pieces)]
    tried = entries(word, [0, sum(map(len, cut[:-2]))])
    return next((entry for entry in tried if harms(entry, word, pieces)), None)


# Merges into the last symbol of the result, unless it is `fresh`: just merged itself. If `again`,
# into this one, too. `form` is applied to compare symbols, `joined` to the merged one.
def merge_by_memory(symbols, pair, again=False, form=str, joined=str):
    out, fresh = [], False
    wanted = [form(symbol) for symbol in pair]
    for symbol in symbols:
        if out and (again or not fresh) and [form(out[-1]), form(symbol)] == wanted:
            out[-1] = joined(out[-1] + symbol)
            fresh = True
        else:
            out.append(symbol)
            fresh = False
    return out


# Joins the symbols with `separator`, replaces whole symbols only, and splits again.
def merge_with_separator(separator):
    def merge(symbols, pair):
        inside, border = re.escape(separator.join(pair)), re.escape(separator)
        # the pair between two separators, or at an end of the text
        whole_symbols = rf"(?:(?<=^)|(?<={border})){inside}(?=$|{border})"
        text = re.sub(whole_symbols, lambda _: pair[0] + pair[1], separator.join(symbols))
        return text.split(separator) if symbols else []

    return merge


def pair_totals(words, counts):
    totals = collections.Counter()
    for word, symbols in words.items():
        for pair in itertools.pairwise(symbols):
            totals[pair] += counts[word]
    return totals


RIGHT = {
    "01-encode": [
        encode_with_get,
        lambda *args: np.array(encode_with_get(*args)),
        lambda *args: tuple(encode_with_get(*args)),
    ],
    "01-wordpiece": [
        wordpiece_recursive,
        lambda word, pieces: tuple(wordpiece_recursive(word, pieces)),
        lambda *args: np.array(wordpiece_recursive(*args)),
    ],
    "01-harmful-entry": [
        harmful_last,
        lambda word, pieces: min(
            (entry for entry in entries(word) if harms(entry, word, pieces)), key=len
        ),
        lambda *args: np.str_(harmful_last(*args)),
    ],
    "01-merge": [
        merge_by_memory,
        lambda *args: tuple(merge_by_memory(*args)),
        # the same list, where there is nothing to merge
        lambda symbols, pair: (
            merge_by_memory(symbols, pair) if pair in zip(symbols, symbols[1:]) else symbols
        ),
    ],
}

COMPLETED = {
    "01-longest-start": [
        lambda rest, pieces, mark="": max(
            (start for start in itertools.accumulate(rest) if f"{mark}{start}" in pieces),
            key=len,
            default=None,
        ),
        lambda rest, pieces, mark="": next(
            (rest[:end] for end in range(len(rest), 0, -1) if mark + rest[:end] in pieces), None
        ),
        lambda rest, pieces, mark="": max(
            (np.str_(start) for start in itertools.accumulate(rest) if mark + start in pieces),
            key=len,
            default=None,
        ),
    ],
    "01-pair-totals": [
        pair_totals,
        lambda *args: dict(pair_totals(*args)),
        lambda *args: {pair: np.float64(total) for pair, total in pair_totals(*args).items()},
    ],
}

WRONG = {
    "01-encode": [
        (
            lambda words, vocabulary: [
                vocabulary.get(piece, vocabulary["[UNK]"]) for word in words for piece in word
            ],
            "is missing, or both",
        )
    ],
    "01-wordpiece": [
        (
            lambda word, pieces: wordpiece_recursive(word, pieces)[0],
            "a str where a list is expected",
        )
    ],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "01-encode": [
        (  # needs a first word
            "`words` may be empty",
            lambda words, vocabulary: encode_with_get(words, vocabulary) if words[0] else [],
        ),
        (  # the ids in order of their size
            "`[CLS]`, then all pieces in order, then `[SEP]`",
            lambda *args: sorted(encode_with_get(*args)),
        ),
        (
            "A piece that is not in the vocabulary gets the id of `[UNK]`",
            encode_or_its_twin(lambda piece: piece.strip("#")),
        ),
        (
            "A piece that is not in the vocabulary gets the id of `[UNK]`",
            encode_or_its_twin(lambda piece: "##" + piece),
        ),
    ],
    "01-wordpiece": [
        (
            "string of at least one letter",
            lambda word, pieces: wordpiece_recursive(word, pieces) if len(word) > 1 else ["[UNK]"],
        ),
        ("those that continue a word begin with `##`", wordpiece_any_start),
        (
            "Return the pieces in order, as a list or tuple",
            lambda *args: " ".join(wordpiece_recursive(*args)),
        ),
    ],
    "01-harmful-entry": [
        ("Return one entry, a string", lambda *args: [harmful_last(*args)]),
        (  # an entry that `pieces` has already
            "that is not in `pieces` yet",
            lambda word, pieces: max(
                (piece for piece in pieces if piece.replace("##", "") in word), key=len
            ),
            "is in `pieces` already",
        ),
        ("has at least one harmful entry", harmful_at_boundaries),
        ("into *more* pieces than before", harmful_or_equal, "which is not more than"),
        (
            "An entry that continues a word begins with `##`",
            lambda *args: harmful_last(*args).replace("##", ""),
        ),
        ("The word must not become `[UNK]`", harmful_or_unknown, "the word becomes [UNK]"),
    ],
    "01-merge": [
        ("Return a list or tuple", lambda symbols, pair: " ".join(merge_by_memory(symbols, pair))),
        (  # merges a symbol that was just merged once more
            "every occurrence of the pair",
            lambda symbols, pair: merge_by_memory(symbols, pair, again=True),
        ),
        (  # does not tell capital letters from small ones
            "every occurrence of the pair",
            lambda symbols, pair: merge_by_memory(symbols, pair, form=str.lower),
        ),
        (
            "A symbol may be longer than a letter",
            lambda symbols, pair: (
                merge_by_memory(symbols, pair) if len("".join(pair)) == 2 else list(symbols)
            ),
        ),
        *(
            ("it can be any string", merge_with_separator(separator))
            for separator in (
                " ",
                "\0",
                "\n",
                "\t",
                ",",
                "|",
                "#",
                "##",
                "_",
                "\x1f",
                "§",
                "→",
                "\ue000",
            )
        ),
        (  # writes the merged symbol in small letters
            "joined unchanged",
            lambda symbols, pair: merge_by_memory(symbols, pair, joined=str.lower),
        ),
    ],
}
