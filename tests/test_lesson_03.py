"""Lesson 03: words have the pieces that the tokenizer names; its table follows its rules."""

import re
from collections import Counter
from itertools import combinations

import pytest
import torch

from course_utils import load_encoder, load_senses
from course_utils.exercises.lesson_03 import WORD_VECTOR


@pytest.mark.parametrize("sentence", [
    # accents, a hyphen, an apostrophe, and signs side by side
    "Embeddings, for the café-owner: naïve?",
    '"Don\'t," she said -- (quietly)... and left!', "Zürich's Straßenbahn costs 4,50 CHF",
    "  many   spaces\tand\na new line ",
    "北京 and Tōkyō, e\u0301tude with a combining accent",
    "antidisestablishmentarianism",  # one word of many pieces
    "😀 🎉 unknown signs",
    "x", "",  # one word, and none
])  # fmt: skip
def test_word_vectors_are_means_over_the_pieces_that_the_tokenizer_names(sentence):
    tokenizer, model = load_encoder()
    encoded = tokenizer(sentence, return_tensors="pt")
    with torch.inference_mode():
        states = model(**encoded).last_hidden_state[0]
    word_ids = encoded.word_ids()
    for word in {word for word in word_ids if word is not None}:
        # the library's own mapping from a word to its tokens
        start, end = encoded.word_to_tokens(word)
        torch.testing.assert_close(
            WORD_VECTOR.reference(states, word_ids, word), states[start:end].mean(dim=0)
        )


SENSES = load_senses()
WORDS = sorted(set(SENSES["word"]))
LEAST = 6  # sentences of each sense, as many as the lesson takes
# of all different words in two sentences, the share that stands in both stays below this; chosen so
# that sentences which differ in a word or two are refused
MOST_SHARED = 0.6
# frequent words of four letters or more, which any number of sentences of one sense may have
STOP = set(
    "about after another because before could every from have into that their then there they this "
    "three when where with without over under down stood above again both each".split()
)


def _tokens(sentence):
    return re.findall(r"[A-Za-z]+", sentence)


def test_the_table_of_senses_is_balanced_and_has_no_duplicates():
    assert list(SENSES.columns) == ["word", "sense", "sentence"]
    assert SENSES.notna().all(axis=None)
    assert len(WORDS) == 24  # as the lesson says
    for word, rows in SENSES.groupby("word"):
        first, second = rows["sense"].value_counts()
        assert first == second >= LEAST, word
    without_signs = [" ".join(_tokens(sentence)).lower() for sentence in SENSES["sentence"]]
    assert len(set(without_signs)) == len(without_signs)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_stands_once_in_its_sentence_as_one_piece(word):
    tokenizer, _ = load_encoder()
    assert tokenizer.tokenize(word) == [word]
    for sentence in load_senses(word)["sentence"]:
        # nor does a form such as a plural stand there
        same_stem = [token for token in _tokens(sentence) if token.lower().startswith(word)]
        assert same_stem == [word], sentence


def test_a_sentence_has_5_to_15_words_and_ends_with_a_full_stop_or_a_question_mark():
    for sentence in SENSES["sentence"]:
        assert re.fullmatch(r"\S.*[.?]", sentence), sentence
        assert 5 <= len(_tokens(sentence)) <= 15, sentence


def test_no_word_gives_a_sense_away_by_being_in_more_than_two_of_its_sentences():
    for (word, sense), rows in SENSES.groupby(["word", "sense"]):
        sentences_with = Counter()
        for sentence in rows["sentence"]:
            # a set, so that a sentence counts once; words of up to three letters are frequent ones
            sentences_with.update({token.lower() for token in _tokens(sentence) if len(token) > 3})
        frequent = {token for token, number in sentences_with.items() if number > 2}
        assert frequent <= STOP | {word}, sense


def test_no_two_sentences_follow_one_template():
    word_sets = [set(sentence.lower().split()) for sentence in SENSES["sentence"]]
    for first, second in combinations(word_sets, 2):
        assert len(first & second) / len(first | second) < MOST_SHARED, (first, second)
