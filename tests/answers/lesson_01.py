"""Answers to lesson 01 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import re
from collections import Counter, defaultdict
from functools import cache


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


def encode_through_tokens(words, vocabulary):
    tokens = ["[CLS]"] + sum(words, []) + ["[SEP]"]
    return [vocabulary[t if t in vocabulary else "[UNK]"] for t in tokens]


def encode_in_place(words, vocabulary):
    words.insert(0, ["[CLS]"])
    words.append(["[SEP]"])
    return [vocabulary.get(p, vocabulary["[UNK]"]) for w in words for p in w]


def encode_writes_unknown(words, vocabulary):
    for word in words:
        for piece in word:
            vocabulary.setdefault(piece, vocabulary["[UNK]"])
    return [vocabulary["[CLS]"]] + [vocabulary[p] for w in words for p in w] + [vocabulary["[SEP]"]]


def encode_sep_each_word(words, vocabulary):
    ids = [vocabulary["[CLS]"]]
    for word in words:
        for piece in word:
            ids.append(vocabulary.get(piece, vocabulary["[UNK]"]))
        ids.append(vocabulary["[SEP]"])
    return ids


def encode_nested(words, vocabulary):
    ids = [vocabulary["[CLS]"]]
    for word in words:
        ids.append([vocabulary.get(piece, vocabulary["[UNK]"]) for piece in word])
    return ids + [vocabulary["[SEP]"]]


def encode_skips(words, vocabulary):
    ids = [vocabulary["[CLS]"]]
    for word in words:
        for piece in word:
            if piece in vocabulary:
                ids.append(vocabulary[piece])
    return ids + [vocabulary["[SEP]"]]


def encode_texts(words, vocabulary):
    ids = [vocabulary["[CLS]"]]
    for word in words:
        if word in vocabulary:
            ids.append(vocabulary[word])
        else:
            ids.append(vocabulary["[UNK]"])
    return ids + [vocabulary["[SEP]"]]


def wordpiece_recursive(word, pieces, mark=""):
    if not word:
        return []
    for end in reversed(range(1, len(word) + 1)):
        if mark + word[:end] in pieces:
            rest = wordpiece_recursive(word[end:], pieces, "##")
            return ["[UNK]"] if rest == ["[UNK]"] else [mark + word[:end]] + rest
    return ["[UNK]"]


def wordpiece_two_whiles(word, pieces):
    tokens = []
    rest = word
    while rest != "":
        candidate = rest
        while candidate != "" and ("##" if tokens else "") + candidate not in pieces:
            candidate = candidate[:-1]
        if candidate == "":
            return ["[UNK]"]
        tokens.append("##" + candidate if tokens else candidate)
        rest = rest[len(candidate) :]
    return tokens


def wordpiece_max(word, pieces):
    out, marked = [], word
    while marked not in ("", "##"):
        fitting = [p for p in pieces if marked.startswith(p)]
        fitting = [p for p in fitting if p.startswith("##") == marked.startswith("##")]
        if not fitting:
            return ["[UNK]"]
        out.append(max(fitting, key=len))
        marked = "##" + marked[len(out[-1]) :]
    return out


def wordpiece_changes_pieces(word, pieces):
    tokens = wordpiece_two_whiles(word, pieces)
    pieces.add("[UNK]")
    return tokens


def wordpiece_shortest(word, pieces):
    out, rest = [], word
    while rest:
        for n in range(1, len(rest) + 1):
            name = ("##" if out else "") + rest[:n]
            if name in pieces:
                out.append(name)
                rest = rest[n:]
                break
        else:
            return ["[UNK]"]
    return out


def wordpiece_bare(word, pieces):
    out, i = [], 0
    while i < len(word):
        j = len(word)
        while j > i and word[i:j] not in pieces:
            j -= 1
        if i == j:
            return ["[UNK]"]
        out.append(word[i:j] if i == 0 else "##" + word[i:j])
        i = j
    return out


def wordpiece_hides_marks(word, pieces):
    return [p.replace("##", "") for p in wordpiece_two_whiles(word, pieces)]


def wordpiece_partial(word, pieces):
    out, i = [], 0
    while i < len(word):
        j = len(word)
        while j > i and ("##" if i else "") + word[i:j] not in pieces:
            j -= 1
        if i == j:
            out.append("[UNK]")
            break
        out.append(("##" if i else "") + word[i:j])
        i = j
    return out


def wordpiece_letter_by_letter(word, pieces):
    out, i = [], 0
    while i < len(word):
        j = len(word)
        while j > i and ("##" if i else "") + word[i:j] not in pieces:
            j -= 1
        if i == j:
            out.append("[UNK]")
            i += 1
            continue
        out.append(("##" if i else "") + word[i:j])
        i = j
    return out


def wordpiece_backtracks(word, pieces):
    def search(rest, mark):
        if rest == "":
            return []
        for n in range(len(rest), 0, -1):
            if mark + rest[:n] in pieces:
                tail = search(rest[n:], "##")
                if tail is not None:
                    return [mark + rest[:n]] + tail
        return None

    return search(word, "") or ["[UNK]"]


def wordpiece_bare_string(word, pieces):
    tokens = wordpiece_two_whiles(word, pieces)
    return tokens if tokens != ["[UNK]"] else "[UNK]"


def wordpiece_gives_up(word, pieces):
    if word in pieces:
        return [word]
    return ["[UNK]"]


@cache
def lesson_vocabulary():
    from course_utils import load_encoder

    return load_encoder()[0].get_vocab()


def longest_start(text, mark=""):
    """As in the lesson: reads the vocabulary of BERT."""
    for end in range(len(text), 0, -1):
        if mark + text[:end] in lesson_vocabulary():
            return text[:end]


def wordpiece_by_lesson(word, pieces):
    found = []
    while word:
        mark = "##" if found else ""
        piece = longest_start(word, mark)
        if piece is None:
            return ["[UNK]"]
        found.append(mark + piece)
        word = word[len(piece) :]
    return found


def longest_of(text, mark, pieces):
    return next((text[:n] for n in range(len(text), 0, -1) if mark + text[:n] in pieces), None)


def wordpiece_glues_none(word, pieces):
    found = []
    while word:
        mark = "##" if found else ""
        piece = longest_of(word, mark, pieces)
        found.append(mark + piece)
        word = word[len(piece) :]
    return found


def wordpiece_measures_none(word, pieces):
    found, start = [], 0
    while start < len(word):
        piece = longest_of(word[start:], "##" if start else "", pieces)
        start += len(piece)
        found.append("##" + piece if found else piece)
    return found


def wordpiece_never_one_letter(word, pieces):
    out, rest = [], word
    while rest:
        for n in range(len(rest), 1, -1):
            name = ("##" if out else "") + rest[:n]
            if name in pieces:
                out.append(name)
                rest = rest[n:]
                break
        else:
            return ["[UNK]"]
    return out


def wordpiece_off_by_one(word, pieces):
    out, i = [], 0
    while i < len(word):
        for j in range(len(word) - 1, i, -1):
            if ("##" if i else "") + word[i:j] in pieces:
                out.append(("##" if i else "") + word[i:j])
                i = j
                break
        else:
            return ["[UNK]"]
    return out


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


def merge_on_a_copy(symbols, pair):
    symbols = list(symbols)
    i = 0
    while i < len(symbols) - 1:
        if symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
            symbols[i : i + 2] = ["".join(pair)]
        i += 1
    return symbols


def merge_with_iterator(symbols, pair):
    def stream():
        skip = False
        for left, right in zip(symbols, list(symbols[1:]) + [None]):
            if skip:
                skip = False
            elif (left, right) == pair:
                skip = True
                yield left + right
            else:
                yield left

    return tuple(stream())


def merge_in_place(symbols, pair):
    i = 0
    while i < len(symbols) - 1:
        if (symbols[i], symbols[i + 1]) == pair:
            symbols[i] = symbols[i] + symbols[i + 1]
            del symbols[i + 1]
        i += 1
    return symbols


def merge_once(symbols, pair):
    out = list(symbols)
    for i in range(len(out) - 1):
        if (out[i], out[i + 1]) == pair:
            out[i : i + 2] = [pair[0] + pair[1]]
            break
    return out


def merge_overlaps(symbols, pair):
    out = []
    used = False
    for i in range(len(symbols)):
        if i < len(symbols) - 1 and (symbols[i], symbols[i + 1]) == pair:
            out.append("".join(pair))
            used = True
        elif used:
            used = False
        else:
            out.append(symbols[i])
    return out


def merge_repeats_second(symbols, pair):
    out = []
    for i in range(len(symbols)):
        if symbols[i : i + 2] == list(pair):
            out.append("".join(pair))
        else:
            out.append(symbols[i])
    return out


def merge_reads_beyond(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
            out.append("".join(pair))
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def merge_reads_beyond_with_pairs(symbols, pair):
    out = []
    i = 0
    while i < len(symbols):
        if (symbols[i], symbols[i + 1]) == pair:
            out.append(symbols[i] + symbols[i + 1])
            i = i + 2
        else:
            out.append(symbols[i])
            i = i + 1
    return out


def merge_reads_beyond_in_for(symbols, pair):
    out = []
    for i in range(len(symbols)):
        if (symbols[i], symbols[i + 1]) == pair:
            out.append("".join(pair))
        else:
            out.append(symbols[i])
    return out


def merge_list_against_tuple(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if symbols[i : i + 2] == pair:
            out.append("".join(pair))
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def merge_unescaped(symbols, pair):
    pattern = r"(^|(?<= ))" + pair[0] + " " + pair[1] + r"($|(?= ))"
    return re.sub(pattern, pair[0] + pair[1], " ".join(symbols)).split()


def merge_loses_last(symbols, pair):
    out, i = [], 0
    while i + 1 < len(symbols):
        if (symbols[i], symbols[i + 1]) == pair:
            out.append("".join(pair))
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def merge_by_letters(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if "".join(symbols[i : i + 2]) == "".join(pair) and i + 1 < len(symbols):
            out.append("".join(pair))
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def merge_either_order(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and sorted(symbols[i : i + 2]) == sorted(pair):
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def merge_from_the_right(symbols, pair):
    out = list(symbols)
    i = len(out) - 2
    while i >= 0:
        if (out[i], out[i + 1]) == pair:
            out[i : i + 2] = ["".join(pair)]
            i -= 1
        i -= 1
    return out


def pairs_sorted(words):
    counts = defaultdict(int)
    for word, n in words.items():
        for i in range(len(word) - 1):
            counts[word[i], word[i + 1]] += n
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0]


def pairs_highest_first(words):
    counts = Counter()
    for word, n in words.items():
        for left, right in zip(word, word[1:]):
            counts.update({(left, right): n})
    top = max(counts.values())
    return [min(p for p in counts if counts[p] == top), top]


def pairs_first_met(words):
    counts = {}
    for word, n in words.items():
        for pair in zip(word, word[1:]):
            counts[pair] = counts.get(pair, 0) + n
    best = max(counts, key=counts.get)
    return best, counts[best]


def pairs_last_of_equals(words):
    counts = Counter()
    for word, n in words.items():
        for pair in zip(word, word[1:]):
            counts[pair] += n
    count, pair = max((n, p) for p, n in counts.items())
    return pair, count


def pairs_of_types(words):
    counts = Counter(pair for word in words for pair in zip(word, word[1:]))
    top = max(counts.values())
    return min(p for p in counts if counts[p] == top), top


def pairs_once_a_word(words):
    counts = Counter()
    for word, n in words.items():
        for pair in set(zip(word, word[1:])):
            counts[pair] += n
    top = max(counts.values())
    return min(p for p in counts if counts[p] == top), top


def pairs_overwritten(words):
    counts = {pair: n for word, n in words.items() for pair in zip(word, word[1:])}
    top = max(counts.values())
    return min(p for p in counts if counts[p] == top), top


def pairs_every_two(words):
    counts = Counter()
    for word, n in words.items():
        for i in range(len(word)):
            for j in range(i + 1, len(word)):
                counts[word[i], word[j]] += n
    top = max(counts.values())
    return min(p for p in counts if counts[p] == top), top


def pairs_in_steps_of_two(words):
    counts = Counter()
    for word, n in words.items():
        for i in range(0, len(word) - 1, 2):
            counts[word[i], word[i + 1]] += n
    top = max(counts.values())
    return min(p for p in counts if counts[p] == top), top


def pairs_read_beyond(words):
    totals = {}
    for word, n in words.items():
        for i in range(len(word)):
            totals[word[i], word[i + 1]] = totals.get((word[i], word[i + 1]), 0) + n
    return max(totals.items(), key=lambda item: item[1])


def pairs_empties_words(words):
    counts = Counter()
    while words:
        word, n = words.popitem()
        for pair in zip(word, word[1:]):
            counts[pair] += n
    top = max(counts.values())
    return min(p for p in counts if counts[p] == top), top


def pairs_glued(words):
    totals = Counter()
    for word, count in words.items():
        for left, right in zip(word, word[1:]):
            totals[left, right] += count
    best = sorted(totals, key=lambda pair: (-totals[pair], pair[0] + pair[1]))[0]
    return best, totals[best]


RIGHT = {
    "01-encode": [encode_by_loop, encode_through_tokens],
    "01-wordpiece": [wordpiece_recursive, wordpiece_two_whiles, wordpiece_max],
    "01-merge": [merge_by_memory, merge_on_a_copy, merge_with_iterator],
    "01-pair-counts": [pairs_sorted, pairs_highest_first],
}

WRONG = {
    "01-encode": [
        (lambda words, v: [v.get(p, v["[UNK]"]) for w in words for p in w], "`[CLS]` and `[SEP]` are missing"),
        (lambda words, v: encode_by_loop(words, v)[:-1], "`[SEP]` at the end is missing"),
        (lambda words, v: encode_by_loop(words, v)[1:], "`[CLS]` at the start is missing"),
        (encode_sep_each_word, "after every word"),
        (encode_nested, "one list per word"),
        (encode_skips, "leave out pieces"),
        (lambda words, v: [v[p] for p in ["[CLS]", *sum(words, []), "[SEP]"]], "KeyError"),
        (lambda words, v: [v.get(p) for p in ["[CLS]", *sum(words, []), "[SEP]"]], "becomes `None`"),
        (lambda words, v: [101] + encode_by_loop(words, v)[1:-1] + [102], "BERT's own numbers"),
        (lambda words, v: [101] + [v[p] for w in words for p in w] + [102], "BERT's own numbers"),
        (
            lambda words, v: [101] + [v.get(p, v["[UNK]"]) for w in words for p in w] + [v["[SEP]"]],
            "BERT's own numbers",
        ),
        (
            lambda words, v: [v["[CLS]"]] + [v.get(p) or v["[UNK]"] for w in words for p in w] + [v["[SEP]"]],
            "0 is a real id",
        ),
        (encode_texts, "second loop"),
        (lambda words, v: [v[w] for w in words], "second loop"),
        (lambda words, v: ["[CLS]"] + sum(words, []) + ["[SEP]"], "You return the pieces"),
        (lambda words, v: encode_by_loop([["".join(w).replace("##", "")] for w in words], v), "glue the pieces"),
        (encode_in_place, "changes `words`"),
        (encode_writes_unknown, "changes `vocabulary`"),
        (lambda words, v: print(end=""), "`return`"),
    ],
    "01-wordpiece": [
        (wordpiece_shortest, "shortest"),
        (wordpiece_bare, "without `##`, and add it only to the result"),
        (wordpiece_hides_marks, "return them without"),
        (wordpiece_partial, "add `[UNK]` for the rest"),
        (wordpiece_letter_by_letter, "in place of single letters"),
        (wordpiece_backtracks, "goes back"),
        (wordpiece_bare_string, "always a list"),
        (wordpiece_gives_up, "split it"),
        (wordpiece_by_lesson, "come from BERT's vocabulary"),
        (wordpiece_glues_none, "found nothing and gave `None`"),
        (wordpiece_measures_none, "found nothing and gave `None`"),
        (wordpiece_never_one_letter, "never try a part of one letter"),
        (wordpiece_off_by_one, "leaves out the letter at `end`"),
        (wordpiece_changes_pieces, "changes `pieces`"),
        (lambda word, pieces: wordpiece_two_whiles(word, pieces)[0], "a str where a list is expected"),
    ],
    "01-merge": [
        (merge_once, "only the first occurrence"),
        (merge_overlaps, "overlap in your result"),
        (merge_repeats_second, "second half once more"),
        (merge_reads_beyond, "no right neighbour"),
        (merge_reads_beyond_with_pairs, "no right neighbour"),
        (merge_reads_beyond_in_for, "no right neighbour"),
        (merge_list_against_tuple, "a list with a tuple"),
        (merge_unescaped, "`re.sub` merges other symbols"),
        (merge_loses_last, "last symbol gets lost"),
        (merge_by_letters, "compare letters, not symbols"),
        (merge_either_order, "either order"),
        (merge_from_the_right, "from the right"),
        (
            lambda symbols, pair: (
                " ".join(symbols).replace(pair[0] + " " + pair[1], pair[0] + pair[1]).split(" ") if symbols else []
            ),
            "text with spaces",
        ),
        (merge_in_place, "changes `symbols`"),
        (lambda symbols, pair: "".join(merge_by_memory(symbols, pair)), "one text"),
    ],
    "01-pair-counts": [
        (pairs_glued, "sort the glued texts"),
        (pairs_first_met, "met first"),
        (pairs_last_of_equals, "sorts *last*"),
        (pairs_of_types, "count every word once"),
        (pairs_once_a_word, "once per word"),
        (pairs_overwritten, "overwrites"),
        (pairs_every_two, "all combinations"),
        (pairs_in_steps_of_two, "without overlap"),
        (lambda words: pairs_sorted(words)[0], "only the pair"),
        (lambda words: pairs_sorted(words)[1], "only the count"),
        (lambda words: (pairs_sorted(words)[1], pairs_sorted(words)[0]), "count first"),
        (pairs_read_beyond, "no right neighbour"),
        (pairs_empties_words, "changes `words`"),
        (lambda words: ("".join(pairs_sorted(words)[0]), pairs_sorted(words)[1]), "stay apart"),
    ],
}
