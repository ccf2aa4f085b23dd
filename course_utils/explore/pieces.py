"""What Python answers to the explorers of lesson 01: how a text is cut, and how BPE learns to cut
words.
"""

import itertools
import re
from collections import Counter

from ..models import load_encoder
from .encoder import MOST_TOKENS, ExploreError, checked

# in characters; WordPiece's own limit (`max_input_chars_per_word`): a longer word is [UNK]
LONGEST_WORD = 100
# The limits of BPE here; `page/compute.js` has a copy of them.
MOST_MERGES = 60  # that are learned, whether or not they are shown
MOST_WORDS, MOST_LETTERS = 60, 30  # in a corpus, and in each of its words


def tokens(text: str, word: int = 0) -> dict:
    """The pieces and ids of a text, and each try of the greedy search for its word number `word`.

    word: counted from 0; the last one if there are fewer. Returns (of tokens and of words the first
    MOST_TOKENS["tokens"], as many as are shown):

    - "pieces", "ids": of the tokens, with the special ones.
    - "owners": for each token the place of its word, or -1 for what the tokenizer adds, such as
      [CLS].
    - "total": the number of all tokens.
    - "words": the words before they are cut.
    - "word", "steps": the word's number, and all that `greedy` returns for it, as lists; 0 and no
      steps for a text without words.

    Raises ExploreError as `checked` does.
    """
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
    """The words of a text before they are cut. A special token that was typed, such as [MASK], is
    one.
    """
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
    """BPE on a small corpus: the merges, and the words cut after `steps` of them.

    corpus: a word and its count in each line, with white space between them. Returns:

    - "merges": [left, right, count] of each merge, of those after `steps`, too.
    - "steps": as given, or the number of all merges if there are fewer.
    - "words": [word, count, symbols] of each word, cut after `steps` merges.
    - "entries": the size of the vocabulary then: letters and merged symbols.
    - "symbols": the length of the whole corpus then, in symbols.

    Raises ExploreError for a corpus that is empty or too large to be shown.
    """
    counts = _counts(corpus)
    learned, stages = _learned_merges(counts)
    steps = min(steps, len(learned))
    shown = {word: symbols.split() for word, symbols in stages[steps].items()}
    letters = {letter for word in counts for letter in word}
    return {
        "merges": learned,
        "steps": steps,
        "words": [[word, counts[word], shown[word]] for word in counts],
        "entries": len(letters | {left + right for left, right, _ in learned[:steps]}),
        "symbols": sum(counts[word] * len(shown[word]) for word in counts),
    }


def _learned_merges(counts: Counter[str]) -> tuple[list[list], list[dict[str, str]]]:
    """(merges, stages): [left, right, count] of each merge, and how the words are cut before the
    first and after each, so there is one stage more.

    A stage is {word: its symbols with spaces between them}.
    """
    cut = {word: " ".join(word) for word in counts}
    learned, stages = [], [cut]
    while len(learned) < MOST_MERGES:
        totals = Counter()
        for word, symbols in cut.items():
            for pair in itertools.pairwise(symbols.split()):
                totals[pair] += counts[word]
        if not totals:
            break
        # the most frequent pair; of equally frequent ones, the first by its letters
        left, right = min(totals, key=lambda pair: (-totals[pair], pair))
        learned.append([left, right, totals[left, right]])
        # the two symbols beside each other, each one whole
        both = re.compile(rf"(?<!\S){re.escape(left)} {re.escape(right)}(?!\S)")
        joined = (left + right).replace("\\", r"\\")  # a backslash means something to `sub`
        cut = {word: both.sub(joined, symbols) for word, symbols in cut.items()}
        stages.append(cut)
    return learned, stages


def _counts(corpus: str) -> Counter[str]:
    """How often each word of a small corpus occurs.

    A line without a count is a word that occurs once. Raises ExploreError as `merges` does.
    """
    counts = Counter()
    for line in filter(None, map(str.strip, corpus.splitlines())):
        counted = re.fullmatch(r"(.+)\s([0-9]+)", line)
        word, count = counted.groups() if counted else (line, "1")
        # without the spaces inside: they would part symbols
        counts["".join(word.split())] += int(count)
    if not counts:
        raise ExploreError("Type a word and its count in each line, such as: low 5")
    if len(counts) > MOST_WORDS or max(map(len, counts)) > MOST_LETTERS:
        raise ExploreError(
            f"At most {MOST_WORDS} words of at most {MOST_LETTERS} letters can be shown."
        )
    return counts
