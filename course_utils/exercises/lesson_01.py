"""Exercises of lesson 01, tokenization. See `model.py` on cases and mistakes' swaps."""

import string

from .comparing import difference
from .model import Case, completion, exercise


# `n` two-letter syllables; no letter occurs twice in all of them, so `n` is at most 13.
def _syllables(rng, n):
    letters = rng.sample(string.ascii_lowercase, 2 * n)
    return ["".join(letters[i : i + 2]) for i in range(0, 2 * n, 2)]


def _longest_start_cases(rng):
    a, b, c = _syllables(rng, 3)
    # with the mark and without it, a syllable and a longer piece that starts with it; `c` stands
    # here only without the mark
    pieces = {a, a + b[0], "##" + b, "##" + b + c[0], c, "##" + a}
    return [
        Case("The longest known start wins", a + b + c, pieces, ""),
        Case("Inside a word, the mark is part of what is looked up", b + c + a, pieces, "##"),
        Case(
            "A piece that is known only without the mark does not fit inside a word",
            c + b,
            pieces,
            "##",
        ),
        Case("The whole rest may be known", a, pieces, "##"),
    ]


def _longest_start(rest, pieces, mark):
    for end in range(len(rest), 0, -1):
        letters = rest[:end]
        if mark + letters in pieces:
            return rest[:end]  # the lesson gives this line: a wrong `letters` does not reach it
    return None


LONGEST_START = completion("01-longest-start", _longest_start_cases, _longest_start)(
    no_mark={"mark + letters": "letters"},
    always_marked={"mark + letters": '"##" + letters'},
    mark_after={"mark + letters": "letters + mark"},
    other_letters=[
        {"letters = rest[:end]": f"letters = rest[{part}]"}
        for part in (":end - 1", ":end + 1", ":-end", ":", "end:", "-end:", "end - 1")
    ],
)


def _pair_totals_cases(rng):
    # groups without a common letter, and ranges without a common number: no two are equal
    a, b, c = (rng.choice(group) for group in ("aeiou", "lmnr", "dgst"))
    low, high = rng.randint(2, 9), rng.randint(10, 99)
    return [
        Case("A pair counts as often as its word occurs", {a + b: [a, b]}, {a + b: high}),
        Case(
            "A pair that occurs twice in a word counts twice",
            {a + b + a + b: [a, b, a, b]},
            {a + b + a + b: low},
        ),
        Case(
            "A pair that occurs in several words has one total",
            {a + b + c: [a, b, c], c + a + b: [c, a, b]},
            {a + b + c: low, c + a + b: high},
        ),
        Case("Symbols may be longer than a letter", {a + b + c: [a + b, c]}, {a + b + c: high}),
    ]


def _pair_totals(words, counts):
    totals = {}
    for word, symbols in words.items():
        for pair in zip(symbols, symbols[1:]):
            before = totals.get(pair, 0)
            totals[pair] = before + counts[word]
    return totals


PAIR_TOTALS = completion("01-pair-totals", _pair_totals_cases, _pair_totals)(
    overwritten={"before + ": ""},
    words_counted_once={"counts[word]": "1"},
    joined_key={"zip(symbols, symbols[1:])": 'map("".join, zip(symbols, symbols[1:]))'},
    wrong_start=[{"(pair, 0)": f"(pair, {start})"} for start in ("1", "counts[word]")],
    first_not_counted=[
        # a pair that is not in `totals` yet adds 0 times its count
        {"before + ": "before + (pair in totals) * "},
        {"before + counts[word]": "before + counts[word] if pair in totals else 1"},
    ],
    nothing_stored={"totals[pair] = ": ""},
)


def encode(words: list[list[str]], vocabulary: dict[str, int]) -> list[int]:
    """The ids of [CLS], of the pieces of all words in order, and of [SEP].

    words: the pieces of each word. A piece that is not in the vocabulary gets the id of [UNK].
    Raises KeyError if [CLS], [SEP] or [UNK] is not in the vocabulary.
    """
    unknown = vocabulary["[UNK]"]
    ids = [vocabulary["[CLS]"]]
    for word in words:
        ids += [vocabulary.get(piece, unknown) for piece in word]
    ids.append(vocabulary["[SEP]"])
    return ids


def _encode_cases(rng):
    a, b, c, d, e = _syllables(rng, 5)  # no piece contains `d`
    pieces = [
        a,
        b,
        c,
        a + b,
        *("##" + piece for piece in (b, c, a, e)),
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[PAD]",
    ]
    vocabulary = dict(zip(pieces, rng.sample(range(1000, 30000), len(pieces)), strict=True))
    vocabulary[a] = 0  # a valid id, although Python treats it as false
    # ids below 1000, since those above may be drawn already
    capitals = {**vocabulary, a.upper(): 101, "##" + b.title(): 102}
    return [
        Case("Ids in the order of the words, between [CLS] and [SEP]", [[a], [c], [b]], vocabulary),
        Case("Every piece gets an id", [[c, "##" + b, "##" + a], [a + b, "##" + c]], vocabulary),
        Case("Two words make one sentence, with one [SEP]", [[b, "##" + c], [a]], vocabulary),
        Case("A word given as [UNK] keeps its place", [[a], ["[UNK]"], [c]], vocabulary),
        Case(
            "A piece that is not in the vocabulary gets the id of [UNK]",
            # two of the pieces are in the vocabulary in another form: ##ab as ab, and e as ##e
            [[a], [d, "##" + a + b, "##" + b], [e], [c, "##" + d]],
            vocabulary,
        ),
        Case("A word that occurs twice gives its id twice", [[c], [a], [c]], vocabulary),
        Case("Without words, only [CLS] and [SEP] are left", [], vocabulary),
        Case(
            "`A` and `a` are different letters",
            [[a.upper(), "##" + b.title()], [a, "##" + b], [c.upper()]],
            capitals,
        ),
    ]


_CLS, _SEP = 'ids = [vocabulary["[CLS]"]]', 'ids.append(vocabulary["[SEP]"])'

ENCODE = exercise("01-encode", _encode_cases, encode)(
    no_special_token=[{_SEP: ""}, {_CLS: "ids = []"}, {_CLS: "ids = []", _SEP: ""}],
    # [SEP] behind each word, or also [CLS] before it
    around_each_word=[
        {f"    {_SEP}": f"        {_SEP}"},
        {
            f"    {_SEP}": f"        {_SEP}",
            _CLS: "ids = []",
            "ids +=": 'ids += [vocabulary["[CLS]"]] +',
        },
    ],
    pieces_returned={
        "vocabulary.get(piece, unknown)": "piece",
        'vocabulary["[CLS]"]': '"[CLS]"',
        'vocabulary["[SEP]"]': '"[SEP]"',
    },
    lists_of_words={
        "+= [vocabulary.get(piece, unknown) for piece in word]": "+= [[*map(vocabulary.get, word)]]"
    },
    unknown_without_id=[
        {".get(piece, unknown)": other}
        for other in ("[piece]", ".get(piece)", ".get(piece, 0)", '.get(piece, "[UNK]")')
    ],
    zero_is_false={"(piece, unknown)": "(piece) or unknown"},
    pieces_left_out=[{"in word]": "in word if piece in vocabulary]"}, {"in word]": "in word[:1]]"}],
    unk_for_word={
        "for piece in word]": "for piece in word] if vocabulary.keys() >= {*word} else [unknown]"
    },
    berts_numbers=[
        {'vocabulary["[CLS]"]': "101"},
        {'vocabulary["[UNK]"]': "100"},
        {'vocabulary["[CLS]"]': "101", 'vocabulary["[SEP]"]': "102"},
    ],
    pieces_changed=[
        {"(piece, ": f"(piece.{change}, "} for change in ("lower()", 'removeprefix("##")')
    ],
)


def wordpiece(word: str, pieces: set[str]) -> list[str]:
    """Cut a word greedily: take the longest known start of the rest, again and again.

    Pieces inside the word stand in `pieces`, and in the result, with ## before them. Returns
    ["[UNK]"] if no start of the rest is known, and an empty list for an empty word.
    """
    cut, rest = [], word
    while rest:
        mark = "##" if cut else ""
        ends = range(len(rest), 0, -1)
        letters = next((rest[:end] for end in ends if mark + rest[:end] in pieces), None)
        if letters is None:
            return ["[UNK]"]
        cut.append(mark + letters)
        rest = rest[len(letters) :]
    return cut


def _wordpiece_cases(rng):
    a, b, c, d = _syllables(rng, 4)
    # each letter, with and without ##: with these, every word from `a`, `b` and `c` can be cut
    single = {*(a + b + c), *("##" + letter for letter in a + b + c)}
    return [
        Case("A word that is a piece stays whole", a + b, {a, a + b, "##" + b} | single),
        Case("A word that is a piece stays whole", b[0], {b, *single}),
        Case("Each piece after the first carries ##", a + b + c, {a, "##" + b, "##" + c} | single),
        Case(
            "The longest start wins, although a longer piece would follow a shorter start",
            a + b + c,
            {a, a + b, "##" + b + c, "##" + c} | single,
        ),
        Case("A piece may occur more than once", a + b + b + b, {a, "##" + b} | single),
        Case("The last piece may be one letter", a + b + c[0], {a, "##" + b} | single),
        Case("An entry without ## is for the start of a word only", a + b, {a, b}),
        Case("An entry with ## is never the start of a word", b + a, {"##" + b, "##" + a}),
        Case(
            "Greedy never goes back: no match after the longest start makes the word unknown",
            a + b + c,
            {a, a + b, "##" + b + c},
        ),
        Case(
            "One part that is not known makes the whole word unknown",
            a + b + d,
            {a, "##" + b} | single,
        ),
        # the mark is no part of the word: its first # is not the piece #
        Case(
            "One part that is not known makes the whole word unknown",
            a + d + b,
            {a, "##" + b, "#", "###" + d} | single,
        ),
        Case("An unknown start makes the whole word unknown", d + a, {a, "##" + a, "##" + b}),
        Case(
            "The longest start wins, although a shorter start would lead to fewer pieces",
            a + b + c,
            {a, a + b, "##" + b + c, "##" + c[0], "##" + c[1]},
        ),
        # from the end of the word, the longest pieces would be ##b[1]c, then ##b[0], then a
        Case(
            "The search begins at the start of the word",
            a + b + c,
            {a, a + b, "##" + c, "##" + b[0], "##" + b[1] + c},
        ),
        Case("`A` and `a` are different letters", a.upper() + b, {a, a.upper(), "##" + b}),
        Case("`A` and `a` are different letters", a + b.upper(), {a, "##" + b} | single),
        # 200 letters, more than each limit of `limit_of_100`; 99 syllables are 9 times 11
        Case("A word of more than 100 letters is no exception", a + 99 * b, {a, "##" + 11 * b}),
    ]


# All ways to cut a word into known pieces, those with a longer first piece before others.
#
# mark: what the first piece carries; all others carry ##.
def _splits(word, pieces, mark=""):
    if not word:
        yield []
    for end in range(len(word), 0, -1):
        if mark + word[:end] in pieces:
            for others in _splits(word[end:], pieces, "##"):
                yield [mark + word[:end], *others]


WORDPIECE = exercise("01-wordpiece", _wordpiece_cases, wordpiece, points=2)(
    shortest_start={"range(len(rest), 0, -1)": "range(1, len(rest) + 1)"},
    looked_up_unmarked={"if mark + rest": "if rest"},
    returned_unmarked={"append(mark + letters)": "append(letters)"},
    first_marked=[
        {'"##" if cut else ""': '"##"'},
        {"append(mark + letters)": 'append("##" + letters)'},
        {"if mark + rest": 'if "##" + rest'},
    ],
    found_kept=[
        *(
            {'return ["[UNK]"]': f"return {kept}"}
            for kept in ('[*cut, "[UNK]"]', "cut", "[*cut, rest]", "[*cut, mark + rest]")
        ),
        {'return ["[UNK]"]': "rest = rest[1:]\n            continue"},
    ],
    unknown_word=[  # the last two raise an error, as answers that go on with None do
        {'return ["[UNK]"]': f"return {other}"}
        for other in ('"[UNK]"', "[]", "None", '"##" + None', "len(None)")
    ],
    too_much_removed=[
        {"len(letters) :": "len(mark + letters) :"},
        {"rest[len(letters) :]": 'rest.replace(letters, "")'},
    ],
    # the first cut that works out, and the one of the fewest pieces
    goes_back=(
        lambda word, pieces: next(_splits(word, pieces), ["[UNK]"]),
        lambda word, pieces: min(_splits(word, pieces), key=len, default=["[UNK]"]),
    ),
    limit_of_100=[  # `most=most`: each function keeps its own
        lambda word, pieces, most=most: ["[UNK]"] if len(word) > most else wordpiece(word, pieces)
        for most in (100, 150)
    ],
    lower_case=lambda word, pieces: wordpiece(word.lower(), pieces),
)


def harmful_entry(word: str, pieces: set[str]) -> str | None:
    """An entry that, added to `pieces`, makes the greedy search cut `word` into more pieces.

    Of several, the one that starts first in the word, and of these the shortest. An entry for the
    inside of the word begins with ##. None if there is no such entry.
    """
    before = wordpiece(word, pieces)
    for start in range(len(word)):
        for end in range(start + 1, len(word) + 1):
            entry = ("##" if start else "") + word[start:end]
            after = wordpiece(word, pieces | {entry})
            if len(after) > len(before):
                return entry
    return None


def _harmful_cases(rng):
    a, b, c, d, e, f = _syllables(rng, 6)
    single = {*(a + b + c), *("##" + letter for letter in a + b + c)}
    # the pieces of the third case, in which `f` ends the word
    known = {d, *("##" + piece for piece in (e, e[1], a, b + c, b[1] + c, c[0], c[1], f))}
    return [
        Case("A longer start breaks up what follows", a + b + c, {a, "##" + b + c} | single),
        # only a + b does harm; the same letters with ## are another entry
        Case(
            "The word stays known",
            a + b + c,
            {a, "##" + b + c, "##" + c[0], "##" + c[1], "##" + a + b},
        ),
        # only ##ab does harm, in the middle of the word; the entry d + e[0] gives another cut, with
        # as many pieces as before
        Case("Another cut is not always a longer one", d + e + a + b + c + f, known),
        # only abc + d[0] does harm: a shorter entry is never the longest start, and after one with
        # all of d only ##e follows, so there are two pieces as before
        Case(
            "The entry may be a long one",
            a + b + c + d + e,
            {a + b + c, "##" + d + e, "##" + d[1], "##" + e},
        ),
    ]


def _judge_harmful(args, outcome):
    word, pieces = args
    if not isinstance(outcome, str):
        return difference(outcome, harmful_entry(word, pieces))
    if outcome in pieces:
        return f"`{outcome}` is in `pieces` already"
    before, after = wordpiece(word, pieces), wordpiece(word, pieces | {outcome})
    if after == ["[UNK]"]:
        return f"with `{outcome}` as an entry the word becomes [UNK]"
    if after == before:
        return f"`{outcome}` as an entry does not change the cut, {' '.join(before)}"
    if len(after) <= len(before):
        return (
            f"`{outcome}` as an entry gives {' '.join(after)}, "
            f"which is not more than {' '.join(before)}"
        )
    return None


HARMFUL = exercise("01-harmful-entry", _harmful_cases, harmful_entry, judge=_judge_harmful)(
    changed_not_more=[
        {"len(after) > len(before)": other}
        for other in ("after != before", "len(after) != len(before)")
    ],
    # the first entry that makes the word unknown; where none does, the right answer
    makes_unknown={
        "len(after) > len(before)": 'after == ["[UNK]"]',
        "return None": "return harmful_entry(word, pieces)",
    },
    only_at_start={"range(len(word))": "range(1)"},
    only_inside={"range(len(word))": "range(1, len(word))"},
    # the only right entry of the last case has 7 letters
    short_entries_only=[
        {"len(word) + 1)": f"min(start + {most}, len(word)) + 1)"} for most in (3, 4, 5)
    ],
    unmarked={"return entry": "return word[start:end]"},
)


def merge(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """A new list, in which one symbol replaces each occurrence of `pair`.

    The search goes from the left, and occurrences do not overlap: of a, a, a the first two become
    aa. Without the pair, the symbols stay as they are.
    """
    merged, position = [], 0
    while position < len(symbols):
        neighbours = tuple(symbols[position : position + 2])
        if neighbours == pair:
            merged.append(pair[0] + pair[1])
            position += 2
        else:
            merged.append(symbols[position])
            position += 1
    return merged


# Symbols without letters or digits: ##, those of Latin-1, a line separator, an arrow, the space of
# SentencePiece, a picture of a control character, and one for private use. An answer might join all
# symbols to one text, with one of these between them, and replace the pair there. Where a case has
# that one as a symbol, the text is then split in the wrong places.
_SEPARATORS = ["##", *(chr(n) for n in range(256) if not chr(n).isalnum()), *"\u2028→▁␟\ue000"]


def _merge_cases(rng):
    a, b, c, d = rng.sample(string.ascii_lowercase, 4)
    return [
        Case("One occurrence becomes one symbol", [c, a, b, d], (a, b)),
        Case(
            "Every occurrence is merged, also at the start and at the end",
            [a, b, c, a, b, d, a, b],
            (a, b),
        ),
        Case("The order inside the pair matters", [c, a, b, d, b, a, a, b], (a, b)),
        Case("Without the pair nothing changes", [b, a, b.upper(), c, d, a], (a, b)),
        Case("Neighbours only: a symbol between them keeps them apart", [a, c, b, d], (a, b)),
        Case("Occurrences do not overlap; the left one comes first", [a, a, a, c], (a, a)),
        Case("Occurrences do not overlap; the left one comes first", [c, a, a, a, a, a], (a, a)),
        Case("Symbols may be longer than one letter", [a + b, c, d, a + b, c], (a + b, c)),
        Case(
            "Symbols count, not letters: the same letters in other symbols are another pair",
            [a + b, c, a, b + c],
            (a, b + c),
        ),
        Case("Only whole symbols count", [d + a, b, c, a, b + d], (a, b)),
        Case("Any text can be a symbol, also a full stop", [b, a, ".", a, c], (".", a)),
        Case("Any text can be a symbol, also the empty one", [a, "", "", b], (a, "")),
        Case("Any text can be a symbol", [a, b, *_SEPARATORS, c + " " + d, a, b], (a, b)),
        Case("Both texts stay as they are", [a.upper(), "##" + b, c], (a.upper(), "##" + b)),
        Case("Both texts stay as they are", [c, " " + a, b + " "], (" " + a, b + " ")),
        Case("A single symbol stays as it is", [a], (a, b)),
        Case("An empty list stays empty", [], (a, b)),
    ]


MERGE = exercise("01-merge", _merge_cases, merge)(
    # until something is merged, as many symbols are in the result as were passed
    first_only={"neighbours == pair": "neighbours == pair and len(merged) == position"},
    moved_by_one={"position += 2": "position += 1"},
    # the list is reversed, as is each pair of neighbours in it; the result is reversed back
    from_the_right={
        "position = [], 0": "position = [], 0\n    symbols = symbols[::-1]",
        "+ 2])": "+ 2][::-1])",
        "return merged": "return merged[::-1]",
    },
    either_order=[
        {"neighbours == pair": "neighbours in (pair, pair[::-1])", "pair[0] + pair[1]": new}
        for new in ("pair[0] + pair[1]", '"".join(neighbours)')
    ],
    joined_text={
        "neighbours == pair": 'len(neighbours) == 2 and "".join(neighbours) == "".join(pair)'
    },
    # the symbols are joined to one text, in which the pair is replaced, and split again
    through_text=[  # `sign=sign`: each function keeps its own
        lambda symbols, pair, sign=sign: (
            sign.join(symbols).replace(sign.join(pair), "".join(pair)).split(sign)
            if symbols
            else []
        )
        for sign in (" ", ",", "|")
    ],
    new_symbol_otherwise=[
        {"pair[0] + pair[1]": new}
        for new in ('" ".join(pair)', "pair", 'pair[0] + pair[1].removeprefix("##")')
    ],
    empty_dropped={"return merged": "return [symbol for symbol in merged if symbol]"},
    last_lost={"< len(symbols)": "< len(symbols) - 1"},
    # a list never equals a tuple
    nothing_merged={"neighbours == pair": "list(neighbours) == pair"},
)
