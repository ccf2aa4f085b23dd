"""Answers to lesson 01; `__init__.py` says what the tables are."""

import collections
import itertools
import re

import numpy as np


def encode_with_get(words, vocabulary):
    pieces = ["[CLS]", *itertools.chain(*words), "[SEP]"]
    return [vocabulary.get(piece, vocabulary["[UNK]"]) for piece in pieces]


# An answer that takes `twin(piece)` for a piece that the vocabulary lacks; [UNK] if it lacks both.
# It makes each piece a word of its own, which does not change the ids.
def encode_or_its_twin(twin):
    return lambda words, vocabulary: encode_with_get(
        [[piece if piece in vocabulary else twin(piece)] for piece in itertools.chain(*words)],
        vocabulary,
    )


# `mark`: what the entry begins with, "##" where `word` is the rest of a word.
def wordpiece_recursive(word, pieces, mark=""):
    if not word:
        return []
    for end in reversed(range(1, len(word) + 1)):
        start = mark + word[:end]
        if start in pieces:
            rest = wordpiece_recursive(word[end:], pieces, "##")
            return rest if rest == ["[UNK]"] else [start, *rest]
    return ["[UNK]"]


# Lets entries with ## open a word that is [UNK] without them.
def wordpiece_any_start(word, pieces):
    cut = wordpiece_recursive(word, pieces)
    return wordpiece_recursive(word, pieces, "##") if cut == ["[UNK]"] else cut


# All parts of a word, written as entries; with `starts`, only parts that begin at these places.
def entries(word, starts=None):
    for start in range(len(word)) if starts is None else starts:
        for end in range(start + 1, len(word) + 1):
            yield ("##" if start else "") + word[start:end]


# Whether the entry makes more pieces of the word. [UNK] is a single piece, so it is never more.
def harms(entry, word, pieces):
    return len(wordpiece_recursive(word, pieces | {entry})) > len(wordpiece_recursive(word, pieces))


# A right answer: the last harmful entry.
def harmful_last(word, pieces):
    return [entry for entry in entries(word) if harms(entry, word, pieces)][-1]


# Prefers an entry that makes the word [UNK].
def harmful_or_unknown(word, pieces):
    unknown = [
        entry for entry in entries(word) if wordpiece_recursive(word, pieces | {entry}) == ["[UNK]"]
    ]
    return unknown[-1] if unknown else harmful_last(word, pieces)


# Also accepts an entry with which the word has as many pieces as before, but different ones.
def harmful_or_equal(word, pieces):
    before = wordpiece_recursive(word, pieces)
    cuts = {entry: wordpiece_recursive(word, pieces | {entry}) for entry in entries(word)}
    return next(
        entry
        for entry, cut in cuts.items()
        if cut not in (before, ["[UNK]"]) and len(cut) >= len(before)
    )


# Tries only entries that begin where the word does or where its last piece but one does, and
# returns None if no such entry is harmful.
def harmful_at_boundaries(word, pieces):
    cut = [piece.removeprefix("##") for piece in wordpiece_recursive(word, pieces)]
    tried = entries(word, starts=[0, len("".join(cut[:-2]))])
    return next((entry for entry in tried if harms(entry, word, pieces)), None)


# A right answer; each keyword breaks one sentence of the text: `again` lets a merged symbol be
# merged once more, `compared_as` changes symbols before they are compared, and `written_as` changes
# a merged one. `str` changes nothing.
def merge_by_memory(symbols, pair, again=False, compared_as=str, written_as=str):
    merged, last_is_merged = [], False
    wanted = [compared_as(symbol) for symbol in pair]
    for symbol in symbols:
        pair_here = [compared_as(part) for part in (*merged[-1:], symbol)]
        if pair_here == wanted and (again or not last_is_merged):
            merged[-1] = written_as(merged[-1] + symbol)
            last_is_merged = True
        else:
            merged.append(symbol)
            last_is_merged = False
    return merged


# Joins the symbols with `separator`, replaces whole symbols only, and splits again.
def merge_with_separator(separator):
    def merge(symbols, pair):
        inside, border = re.escape(separator.join(pair)), re.escape(separator)
        # the pair between two separators, or at an end of the text
        whole_symbols = rf"(?:^|(?<={border})){inside}(?=$|{border})"
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
        # returns the caller's own list where there is nothing to merge
        lambda symbols, pair: (
            merge_by_memory(symbols, pair) if pair in zip(symbols, symbols[1:]) else symbols
        ),
    ],
}

COMPLETED = {
    # `accumulate` yields the starts of a string: its first letter, its first two, and so on
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
        (  # takes the id of the piece without ##; the next takes that of the piece with ## in front
            "A piece that is not in the vocabulary gets the id of `[UNK]`",
            encode_or_its_twin(lambda piece: piece.strip("#")),
        ),
        (
            "A piece that is not in the vocabulary gets the id of `[UNK]`",
            encode_or_its_twin(lambda piece: "##" + piece),
        ),
    ],
    "01-wordpiece": [
        (  # gives up on a single letter
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
        (  # returns the longest part of the word that `pieces` has already
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
            lambda symbols, pair: merge_by_memory(symbols, pair, compared_as=str.lower),
        ),
        (  # merges only where the merged symbol has two letters
            "A symbol may be longer than a letter",
            lambda symbols, pair: (
                merge_by_memory(symbols, pair) if len("".join(pair)) == 2 else list(symbols)
            ),
        ),
        *(  # no separator is safe, however rare: each of these characters, and ##
            ("it can be any string", merge_with_separator(separator))
            for separator in [*" \0\n\t,|#_\x1f§→\ue000", "##"]
        ),
        (  # writes the merged symbol in small letters
            "joined unchanged",
            lambda symbols, pair: merge_by_memory(symbols, pair, written_as=str.lower),
        ),
    ],
}
