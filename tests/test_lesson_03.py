"""Lesson 03: words have the pieces that the tokenizer names; its table follows its rules."""

import re
from collections import Counter
from itertools import combinations

import pytest
import torch

from course_utils import load_encoder, load_senses
from course_utils.exercises.lesson_03 import WORD_VECTOR

AWKWARD = [
    "Embeddings, for the café-owner: naïve?",
    '"Don\'t," she said -- (quietly)... and left!', "Zürich's Straßenbahn costs 4,50 CHF",
    "  many   spaces\tand\na new line ",
    "北京 and Tōkyō, e\u0301tude with a combining accent", "antidisestablishmentarianism",
    "😀 🎉 unknown signs", "x", "",
]  # fmt: skip


def _states(sentence):
    tokenizer, model = load_encoder()
    encoded = tokenizer(sentence, return_tensors="pt")
    with torch.inference_mode():
        return encoded, model(**encoded, output_hidden_states=True)


@pytest.mark.parametrize("sentence", AWKWARD)
def test_word_vectors_are_means_over_the_pieces_that_the_tokenizer_names(sentence):
    encoded, outputs = _states(sentence)
    states, word_ids = outputs.last_hidden_state[0], encoded.word_ids()
    count = len({word for word in word_ids if word is not None})
    for word in range(count):
        # the library's own mapping from a word to its tokens
        start, end = encoded.word_to_tokens(word)
        vector = WORD_VECTOR.reference(states, word_ids, word)
        torch.testing.assert_close(
            vector, torch.stack([states[i] for i in range(start, end)]).mean(dim=0)
        )


SENSES = load_senses()
WORDS = sorted(set(SENSES["word"]))
LEAST = 6  # sentences of each sense
STOP = set(
    "about after another because before could every from have into that their then there they this "
    "three when where with without over under down stood above again both each".split()
)


def _tokens(sentence):
    return re.findall(r"[A-Za-z]+", sentence)


def test_the_table_of_senses_is_balanced_and_has_no_duplicates():
    assert list(SENSES.columns) == ["word", "sense", "sentence"] and not SENSES.isna().any().any()
    assert len(WORDS) >= 24
    for word, rows in SENSES.groupby("word"):
        counts = rows["sense"].value_counts()
        assert len(counts) == 2 and counts.min() == counts.max() >= LEAST, (word, counts.to_dict())
    plain = [" ".join(_tokens(sentence)).lower() for sentence in SENSES["sentence"]]
    assert len(set(plain)) == len(plain)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_stands_once_in_its_sentence_as_one_piece(word):
    tokenizer, _ = load_encoder()
    assert tokenizer.tokenize(word) == [word]
    for sentence in load_senses(word)["sentence"]:
        found = [other for other in _tokens(sentence) if other.lower().startswith(word)]
        assert found == [word], sentence
        assert tokenizer(sentence).tokens().count(word) == 1, sentence
        assert sentence == sentence.strip() and sentence[-1] in ".?", sentence
        assert 5 <= len(_tokens(sentence)) <= 15, sentence


def test_no_template_and_no_giveaway():
    for (word, sense), rows in SENSES.groupby(["word", "sense"]):
        used = Counter(
            token
            for sentence in rows["sentence"]
            for token in {t.lower() for t in _tokens(sentence)}
        )
        often = {
            token
            for token, n in used.items()
            if n > 2 and len(token) > 3 and token not in STOP | {word}
        }
        assert not often, (word, sense, often)
    for one, other in combinations(
        [set(sentence.lower().split()) for sentence in SENSES["sentence"]], 2
    ):
        assert len(one & other) / len(one | other) < 0.6, (one, other)
