"""What Python answers to the explorers of lesson 01: how a text is cut, and how BPE learns to cut words."""

import itertools
import re
from collections import Counter

from ..models import load_encoder
from .encoder import MOST_TOKENS, ExploreError, checked

LONGEST_WORD = 100  # of the tokenizer: a longer word is [UNK]


def tokens(text: str, word: int = 0) -> dict:
    """The pieces and ids of a text, and each try of the greedy search for its word number `word`."""
    tokenizer, _ = load_encoder()
    encoded, most = tokenizer(checked(text)), MOST_TOKENS["tokens"]
    words = _words(text, tokenizer)
    word = min(word, max(0, len(words) - 1))
    steps = greedy(words[word], tokenizer.get_vocab()) if words else []
    return {
        "pieces": encoded.tokens()[:most],
        "ids": encoded["input_ids"][:most],
        "owners": [-1 if owner is None else owner for owner in encoded.word_ids()[:most]],
        "total": len(encoded["input_ids"]),
        "words": words[:most],
        "word": word,
        "steps": [list(step) for step in steps],
    }


def _words(text: str, tokenizer) -> list[str]:
    """The words of a text before they are cut. A special token that was typed is one."""
    special = "|".join(map(re.escape, tokenizer.all_special_tokens))
    backend, words = tokenizer.backend_tokenizer, []
    for place, part in enumerate(re.split(f"({special})", text)):
        if place % 2:  # what the pattern matched, a special token
            words.append(part)
        else:
            normal = backend.normalizer.normalize_str(part)
            words += [word for word, _ in backend.pre_tokenizer.pre_tokenize_str(normal)]
    return words


def greedy(word: str, vocabulary: dict) -> list[tuple[int, int, str, bool]]:
    """Each try of the greedy search in one word: (start, end, piece tried, whether it is in the
    vocabulary).

    If the last piece tried is not in the vocabulary, the rest of the word has no piece, and the
    whole word is [UNK]. So is a word that is longer than the tokenizer accepts, which is not tried.
    """
    steps, start, end = [], 0, len(word)
    while start < end and len(word) <= LONGEST_WORD:
        piece = ("##" if start else "") + word[start:end]
        known = piece in vocabulary
        steps.append((start, end, piece, known))
        start, end = (end, len(word)) if known else (start, end - 1)
    return steps


def merges(corpus: str, steps: int) -> dict:
    """BPE on a small corpus, a word and its count in each line: the merges, and the words cut after
    `steps` of them.
    """
    counts = _counts(corpus)
    cut = {word: " ".join(word) for word in counts}  # symbols with spaces between them
    stages, joins = [cut], []  # how the words are cut after each merge, and the merges
    while len(joins) < 60:  # whatever `steps` is
        totals = Counter()
        for word, symbols in cut.items():
            for pair in itertools.pairwise(symbols.split()):
                totals[pair] += counts[word]
        if not totals:
            break
        left, right = min(totals, key=lambda pair: (-totals[pair], pair))
        joins.append([left, right, totals[left, right]])
        # the two symbols beside each other, each one whole
        both = re.compile(rf"(?<!\S){re.escape(left)} {re.escape(right)}(?!\S)")
        joined = (left + right).replace("\\", r"\\")  # a backslash means something to `sub`
        cut = {word: both.sub(joined, symbols) for word, symbols in cut.items()}
        stages.append(cut)
    letters = {letter for word in counts for letter in word}
    steps = min(steps, len(joins))
    shown = {word: symbols.split() for word, symbols in stages[steps].items()}
    return {
        "merges": joins,
        "steps": steps,
        "words": [[word, counts[word], shown[word]] for word in counts],
        "entries": len(letters | {left + right for left, right, _ in joins[:steps]}),
        "symbols": sum(counts[word] * len(shown[word]) for word in counts),
    }


def _counts(corpus: str) -> Counter[str]:
    """How often each word of a small corpus occurs.

    A line without a count is a word that occurs once.
    """
    counts = Counter()
    for line in filter(None, map(str.strip, corpus.splitlines())):
        counted = re.fullmatch(r"(.+) ([0-9]+)", line)
        word, count = counted.groups() if counted else (line, "1")
        counts["".join(word.split())] += int(count)
    if not counts:
        raise ExploreError("Type a word and its count in each line, such as: low 5")
    if len(counts) > 60 or max(map(len, counts)) > 30:
        raise ExploreError("At most 60 words of at most 30 letters can be shown.")
    return counts
