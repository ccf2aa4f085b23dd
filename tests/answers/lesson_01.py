"""Answers to lesson 01."""

import collections
import itertools
import re

import numpy as np


def encode_by_loop(words, vocabulary):
    ids = [vocabulary["[CLS]"]]
    for word in words:
        for piece in word:
            if piece in vocabulary:
                ids.append(vocabulary[piece])
            else:
                ids.append(vocabulary["[UNK]"])
    ids.append(vocabulary["[SEP]"])
    return ids


def wordpiece_recursive(word, pieces, mark=""):
    if not word:
        return []
    for end in reversed(range(1, len(word) + 1)):
        if mark + word[:end] in pieces:
            rest = wordpiece_recursive(word[end:], pieces, "##")
            return ["[UNK]"] if rest == ["[UNK]"] else [mark + word[:end]] + rest
    return ["[UNK]"]


def merge_by_memory(symbols, pair):
    out, fresh = [], False
    for symbol in symbols:
        if out and not fresh and (out[-1], symbol) == pair:
            out[-1] += symbol
            fresh = True
        else:
            out.append(symbol)
            fresh = False
    return out


def entries(word, starts=None):
    """Each part of the word as an entry."""
    for start in range(len(word)) if starts is None else starts:
        for end in range(start + 1, len(word) + 1):
            yield ("##" if start else "") + word[start:end]


def harms(entry, word, pieces):
    return len(wordpiece_recursive(word, pieces | {entry})) > len(wordpiece_recursive(word, pieces))


def harmful_last(word, pieces):
    return [entry for entry in entries(word) if harms(entry, word, pieces)][-1]


def harmful_or_unknown(word, pieces):
    """Counts a cut that fails as the pieces found and [UNK]."""
    before = len(wordpiece_recursive(word, pieces))
    for end in range(1, len(word) + 1):
        cut, rest = [], word
        known = pieces | {word[:end]}
        while rest:
            fit = [n for n in range(len(rest), 0, -1) if ("##" if cut else "") + rest[:n] in known]
            cut.append(rest[: fit[0]] if fit else "[UNK]")
            rest = rest[fit[0] :] if fit else rest[1:]
        if len(cut) > before:
            return word[:end]
    return harmful_last(word, pieces)


def harmful_or_equal(word, pieces):
    before = wordpiece_recursive(word, pieces)
    for entry in entries(word):
        after = wordpiece_recursive(word, pieces | {entry})
        if after not in (before, ["[UNK]"]) and len(after) >= len(before):
            return entry


def harmful_not_in(known):
    """Right, but it leaves out the parts that `known` takes for known."""

    def harmful(word, pieces):
        unknown = (entry for entry in entries(word) if not known(entry.removeprefix("##"), pieces))
        return next((entry for entry in unknown if harms(entry, word, pieces)), None)

    return harmful


def harmful_at_boundaries(word, pieces):
    """Tries only longer pieces at two places of the present cut."""
    cut = [piece.removeprefix("##") for piece in wordpiece_recursive(word, pieces)]
    starts = [sum(map(len, cut[:i])) for i in range(len(cut))]
    tried = entries(word, [starts[0], starts[-2]])
    return next((entry for entry in tried if harms(entry, word, pieces)), None)


def harmful_rest_as_before(word, pieces):
    """Cuts what follows the new entry without it."""
    cut = wordpiece_recursive(word, pieces)
    start = 0
    for number, piece in enumerate(cut):
        for end in range(start + 1, len(word) + 1):
            entry, rest = ("##" if start else "") + word[start:end], word[end:]
            if entry in pieces or end - start <= len(piece.removeprefix("##")):
                continue
            after = wordpiece_recursive(rest, pieces, "##")
            if after != ["[UNK]"] and number + 1 + len(after) > len(cut):
                return entry
        start += len(piece.removeprefix("##"))


def harmful_known_piece(word, pieces):
    return max((piece for piece in pieces if piece.replace("##", "") in word), key=len)


def encode_one_unknown_for_many(words, vocabulary):
    kept = []
    for piece in sum(words, []):
        if piece in vocabulary or not kept or kept[-1] in vocabulary:
            kept.append(piece)
    return encode_by_loop([kept], vocabulary)


def encode_one_unknown_for_the_word(words, vocabulary):
    return encode_by_loop([w if all(p in vocabulary for p in w) else ["[UNK]"] for w in words], vocabulary)


def encode_or_its_twin(twin):
    """Looks for the piece with or without its mark before it takes [UNK]."""
    return lambda words, v: encode_by_loop([[p if p in v else twin(p) for p in w] for w in words], v)


def wordpiece_any_start(word, pieces):
    """An entry with ## may open a word, too."""
    found, rest = [], word
    while rest:
        for n in range(len(rest), 0, -1):
            marked = [mark + rest[:n] for mark in ("", "##") if mark + rest[:n] in pieces]
            if marked:
                found.append(marked[-1] if found else marked[0])
                rest = rest[n:]
                break
        else:
            return ["[UNK]"]
    return found


def wordpiece_shortened(shorten, skip=False):
    """Shortens the rest of the word by `shorten(rest, piece)`; may skip a letter where nothing fits."""

    def search(word, pieces):
        out, rest = [], word
        while rest:
            ends = [n for n in range(1, len(rest) + 1) if "##" * bool(out) + rest[:n] in pieces]
            if ends:
                out.append("##" * bool(out) + rest[: ends[-1]])
                rest = shorten(rest, out[-1])
            elif skip:
                rest = rest[1:]
            else:
                return ["[UNK]"]
        return out

    return search


def merge_into_the_last(symbols, pair):
    out = []
    for symbol in symbols:
        if out and (out[-1], symbol) == pair:
            out[-1] += symbol
        else:
            out.append(symbol)
    return out


def merge_one_letter_only(symbols, pair):
    return merge_by_memory(symbols, pair) if len(pair[0] + pair[1]) == 2 else list(symbols)


def merge_with_separator(z):
    """Joins the symbols with `z`, replaces whole symbols only, and splits again."""

    def merge(symbols, pair):
        if not symbols:
            return []
        inside = re.escape(z.join(pair))
        around = rf"(?:(?<=^)|(?<={re.escape(z)})){inside}(?=$|{re.escape(z)})"
        return re.sub(around, lambda _: pair[0] + pair[1], z.join(symbols)).split(z)

    return merge


def merge_by_loop(symbols, pair, new=None, form=str):
    """Writes `new` in the place of the pair, or the two as they stand there; compares them in this form."""
    out, i = [], 0
    while i < len(symbols):
        here = [form(symbol) for symbol in symbols[i : i + 2]] == [form(symbol) for symbol in pair]
        out.append((new or symbols[i] + symbols[i + 1]) if here else symbols[i])
        i += 2 if here else 1
    return out


def merge_the_same_list(symbols, pair):
    return merge_by_memory(symbols, pair) if pair in zip(symbols, symbols[1:]) else symbols


def encode_in_one_chain(words, vocabulary):
    pieces = itertools.chain(["[CLS]"], *words, ["[SEP]"])
    return tuple(map(collections.defaultdict(lambda: vocabulary["[UNK]"], vocabulary).__getitem__, pieces))


def encode_from_the_end(words, vocabulary):
    ids, left = [vocabulary["[SEP]"]], [list(pieces) for pieces in words]
    while left:
        pieces = left.pop()
        while pieces:
            ids.insert(0, vocabulary.get(pieces.pop(), vocabulary["[UNK]"]))
    return [vocabulary["[CLS]"], *ids]


def wordpiece_by_filter(word, pieces):
    """Picks the longest of all the pieces that fit."""
    found, rest = [], word
    while rest:
        fit = [p for p in pieces if p.startswith("##") == bool(found) and rest.startswith(p.removeprefix("##"))]
        fit = [p for p in fit if p not in ("", "##")]
        if not fit:
            return ["[UNK]"]
        found.append(max(fit, key=len))
        rest = rest[len(found[-1].removeprefix("##")) :]
    return found


def wordpiece_by_pattern(word, pieces):
    def longest_of(some):
        return "|".join(map(re.escape, sorted(filter(None, some), key=len, reverse=True))) or "(?!)"

    start = re.match(longest_of(p for p in pieces if p[:2] != "##"), word)
    found, rest = ([start[0]], word[start.end() :]) if start else ([], word)
    more = re.compile(longest_of(p[2:] for p in pieces if p[:2] == "##"))
    while found and rest and (fit := more.match(rest)):
        found.append("##" + fit[0])
        rest = rest[fit.end() :]
    return ["[UNK]"] if rest else found


def harmful_shortest(word, pieces):
    return min((entry for entry in entries(word) if harms(entry, word, pieces)), key=len)


def harmful_by_another_search(word, pieces):
    def count(known):
        cut = wordpiece_by_filter(word, known)
        return 0 if cut == ["[UNK]"] else len(cut)

    return max(sorted(entries(word)), key=lambda entry: count({*pieces, entry}))


def merge_recursive(symbols, pair):
    if len(symbols) < 2:
        return list(symbols)
    if (symbols[0], symbols[1]) == pair:
        return [pair[0] + pair[1]] + merge_recursive(symbols[2:], pair)
    return [symbols[0]] + merge_recursive(symbols[1:], pair)


def merge_by_places(symbols, pair):
    places = []
    for i, two in enumerate(zip(symbols, symbols[1:])):
        if two == pair and (not places or places[-1] < i - 1):
            places.append(i)
    second = {i + 1 for i in places}
    return ["".join(pair) if i in places else s for i, s in enumerate(symbols) if i not in second]


RIGHT = {
    "01-encode": [
        encode_by_loop,
        encode_in_one_chain,
        encode_from_the_end,
        lambda *args: np.array(encode_by_loop(*args)),
    ],
    "01-wordpiece": [
        wordpiece_recursive,
        wordpiece_by_filter,
        wordpiece_by_pattern,
        lambda word, pieces: tuple(wordpiece_recursive(word, pieces)),
    ],
    "01-harmful-entry": [
        harmful_last,
        harmful_shortest,
        harmful_by_another_search,
        lambda *args: np.str_(harmful_last(*args)),
    ],
    "01-merge": [
        merge_by_memory,
        merge_recursive,
        merge_by_places,
        lambda *args: tuple(merge_by_memory(*args)),
        merge_the_same_list,
    ],
}

WRONG = {
    "01-encode": [
        (lambda words, v: [v.get(p, v["[UNK]"]) for w in words for p in w], "`[CLS]` and `[SEP]` are missing")
    ],
    "01-wordpiece": [
        (lambda word, pieces: wordpiece_recursive(word, pieces)[0], "a str where a list is expected"),
        (wordpiece_shortened(lambda rest, piece: rest[len(piece) :]), "two more for its mark"),
        (wordpiece_shortened(lambda rest, piece: rest.replace(piece.strip("#"), "")), "removes every occurrence"),
        (wordpiece_shortened(lambda rest, piece: rest[len(piece.strip("#")) :], skip=True), "you skip a letter"),
    ],
}

PROMISES = {
    "01-encode": [
        ("`words` may be empty", lambda words, v: encode_by_loop(words, v) if words[0] else []),
        ("`[CLS]`, then all pieces in order, then `[SEP]`", lambda *args: sorted(encode_by_loop(*args))),
        ("all pieces in order", encode_one_unknown_for_many),
        ("all pieces in order", encode_one_unknown_for_the_word),
        ("A piece that is not in the vocabulary gets the id of `[UNK]`", encode_or_its_twin(lambda p: p.strip("#"))),
        ("A piece that is not in the vocabulary gets the id of `[UNK]`", encode_or_its_twin(lambda p: "##" + p)),
    ],
    "01-wordpiece": [
        ("string of at least one letter", lambda word, p: wordpiece_recursive(word, p) if len(word) > 1 else ["[UNK]"]),
        ("those that continue a word begin with `##`", wordpiece_any_start),
        ("Return the pieces in order, as a list or tuple", lambda *args: " ".join(wordpiece_recursive(*args))),
    ],
    "01-harmful-entry": [
        ("Return one entry, a string", lambda *args: [harmful_last(*args)]),
        ("that is not in `pieces` yet", harmful_known_piece, "is in `pieces` already"),
        ("that is not in `pieces` yet", harmful_not_in(lambda part, pieces: part in pieces)),
        ("that is not in `pieces` yet", harmful_not_in(lambda part, pieces: "##" + part in pieces)),
        ("has at least one harmful entry", harmful_at_boundaries),
        ("When this entry is added to `pieces`, greedy search", harmful_rest_as_before),
        ("into *more* pieces than before", harmful_or_equal, "which is not more than"),
        ("An entry that continues a word begins with `##`", lambda *args: harmful_last(*args).replace("##", "")),
        ("The word must not become `[UNK]`", harmful_or_unknown, "the word becomes [UNK]"),
    ],
    "01-merge": [
        ("Return a list or tuple", lambda symbols, pair: " ".join(merge_by_memory(symbols, pair))),
        ("every occurrence of the pair", merge_into_the_last),
        ("every occurrence of the pair", lambda symbols, pair: merge_by_loop(symbols, pair, form=str.lower)),
        ("A symbol may be longer than a letter", merge_one_letter_only),
        *(
            ("it can be any string", merge_with_separator(z))
            for z in (" ", "\0", "\n", "\t", ",", "|", "#", "##", "_", "\x1f", "§", "→", "\ue000")
        ),
        ("joined unchanged", lambda symbols, pair: merge_by_loop(symbols, pair, "".join(pair).lower())),
    ],
}
