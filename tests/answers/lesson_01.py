"""Answers to lesson 01 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

from collections import Counter, defaultdict


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
        (encode_in_place, "changes `words`"),
        (encode_writes_unknown, "changes `vocabulary`"),
        (lambda words, v: print(end=""), "`return`"),
    ],
    "01-wordpiece": [
        (wordpiece_shortest, "shortest"),
        (wordpiece_changes_pieces, "changes `pieces`"),
        (lambda word, pieces: wordpiece_two_whiles(word, pieces)[0], "a str where a list is expected"),
    ],
    "01-merge": [(merge_once, "only the first occurrence"), (merge_in_place, "changes `symbols`")],
    "01-pair-counts": [(pairs_glued, "sort the glued texts"), (pairs_empties_words, "changes `words`")],
}
