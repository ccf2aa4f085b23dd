"""The functions of lesson 01 agree with the libraries that they imitate.

They are read from the lesson's own cells, so that the test covers what the reader sees.
"""

import itertools
import re
from collections import Counter

import pytest
from hypothesis import given, settings, strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoTokenizer

from course_utils._support.cell_needs import CHECKPOINT
from course_utils.exercises import lesson_01 as exercises
from course_utils.models import encoder_folder

from .sources import cell_of

SPECIAL = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]")


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(encoder_folder())


@pytest.fixture(scope="module")
def lesson(tokenizer):
    """The names that cells of the lesson define; what they print is lost."""
    names = {
        "Counter": Counter,
        "print": lambda *_: None,
        "text": "",
        "vocabulary": tokenizer.get_vocab(),
    }
    for cell_id in (
        "words-of split-word 01-wordpiece 01-encode 01-harmful-entry 01-merge bpe-parts"
    ).split():
        source = cell_of("01", cell_id).source
        # setup(), which replaces the checkpoint by the packaged encoder's folder, does not run here
        # (by a function, since `sub` would read the backslashes of a Windows path as escapes)
        source = CHECKPOINT.sub(lambda _: f"checkpoint = {str(encoder_folder())!r}", source)
        exec(compile(source, cell_id, "exec"), names)
    return names


# any characters but lone halves of surrogate pairs, and more often some that make up words;
# long enough for words above the limit of 100 characters
any_text = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs"]), st.sampled_from("aeinrst#'-. éł🙂")
    ),
    max_size=120,
)

# all strings of one to three of the letters a, b and c
SHORT_PARTS = [
    "".join(signs) for length in (1, 2, 3) for signs in itertools.product("abc", repeat=length)
]
# what a vocabulary can have of them: at the beginning of a word, and inside it
SHORT_ENTRIES = [*SHORT_PARTS, *(f"##{part}" for part in SHORT_PARTS)]
vocabularies = st.sets(st.sampled_from(SHORT_ENTRIES))


def library_cuts(word, pieces):
    """The pieces that the library's WordPiece cuts a word into, with a vocabulary of `pieces`."""
    ids = {piece: number for number, piece in enumerate(["[UNK]", *sorted(pieces)])}
    return [token.value for token in models.WordPiece(ids, unk_token="[UNK]").tokenize(word)]


def assert_agrees(tokenizer, lesson, text):
    # in the pieces of all words, and in their ids
    pieces = [lesson["split_word"](word, lesson["vocabulary"]) for word in lesson["words_of"](text)]
    ids = exercises.encode(pieces, lesson["vocabulary"])
    assert sum(pieces, []) == tokenizer.tokenize(text)
    assert ids == lesson["encode"](pieces, lesson["vocabulary"])
    assert ids == tokenizer(text)["input_ids"]


@pytest.mark.parametrize("text", [
    "", " ", "\t\n", "a", "embeddings", "I love Paris",
    "BERT provides contextual embeddings for each word in a sentence.",
    "don't", "state-of-the-art", "$9.99", "#", "[",  # signs
    "##s", "[unused1]",  # they look like entries of the vocabulary
    "résumé", "Łódź", "naïve", "a\u0301b", "ﬁ", "ß", "STRASSE",  # accents, a ligature, capitals
    "日本語", "привет", "שלום",  # other scripts
    "🙂", "good🙂", "👩‍👩‍👧", "\U0001d518",  # beyond 16 bits, one joined from three
    "\u200b", "hello\u200bworld", "\ufffd", "x\u0000y",  # characters that are removed
    # at the limit of 100 characters, which counts them without accents, and above it
    "a" * 100, "a" * 101, "é" * 101, "0123456789" * 10 + "0", "e\u0301" * 60,
], ids=ascii)  # fmt: skip
def test_words_greedy_search_and_ids_equal_the_library(tokenizer, lesson, text):
    assert_agrees(tokenizer, lesson, text)


# More than the usual 100 examples here and below, where each is quick.
@settings(max_examples=400)
@given(text=any_text.filter(lambda text: not any(token in text for token in SPECIAL)))
def test_words_greedy_search_and_ids_equal_the_library_on_any_text(tokenizer, lesson, text):
    assert_agrees(tokenizer, lesson, text)


@settings(max_examples=400)
@given(text=any_text)
def test_a_word_is_unknown_only_for_a_character_or_its_length(lesson, text):
    vocabulary = lesson["vocabulary"]
    for word in lesson["words_of"](text):
        # 100 is BERT's limit. Each character of its vocabulary also stands there with ##.
        is_unknown = lesson["split_word"](word, vocabulary) == ["[UNK]"]
        assert is_unknown == (len(word) > 100 or not set(word) <= vocabulary.keys())


@settings(max_examples=300)
@given(word=st.text("abc", min_size=1, max_size=8), pieces=vocabularies)
def test_solution_and_reference_cut_words_as_the_library_does_with_any_vocabulary(
    lesson, word, pieces
):
    assert (
        exercises.wordpiece(word, pieces)
        == lesson["wordpiece"](word, pieces)
        == library_cuts(word, pieces)
    )


@settings(max_examples=200)
@given(word=st.text("abc", min_size=2, max_size=6), pieces=vocabularies)
def test_the_entry_that_the_lesson_finds_does_harm_and_if_it_finds_none_no_short_one_does(
    lesson, word, pieces
):
    if exercises.wordpiece(word, pieces) == ["[UNK]"]:
        return  # there is no number of pieces that could grow
    before = len(library_cuts(word, pieces))

    def does_harm(entry):
        return len(library_cuts(word, {*pieces, entry})) > before

    harmful = lesson["harmful_entry"](word, pieces)
    if harmful is None:
        assert [entry for entry in SHORT_ENTRIES if does_harm(entry)] == []
    else:
        assert does_harm(harmful)
        assert exercises._judge_harmful((word, pieces), harmful) is None


@settings(max_examples=100)
@given(
    counts=st.dictionaries(
        st.text("abcd", min_size=2, max_size=6), st.integers(1, 20), min_size=1, max_size=6
    )
)
def test_the_library_learns_by_the_lessons_rule(lesson, counts):
    # At every step, the library merges one of the most frequent pairs, however it breaks ties.
    text = [word for word, count in counts.items() for _ in range(count)]
    library = Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    # 30 entries, the four letters among them: enough to merge many of these words whole
    library.train_from_iterator(text, trainers.BpeTrainer(vocab_size=30, show_progress=False))
    symbols = {word: list(word) for word in counts}
    # The library writes its merges as JSON, pairs such as ["ab","c"], in the order it learned them.
    for left, right in re.findall(r'\["([a-d]+)","([a-d]+)"\]', library.to_str()):
        totals = lesson["count_pairs"](symbols, counts)
        assert totals[left, right] == max(totals.values())
        for word, pieces in symbols.items():
            symbols[word] = exercises.merge(pieces, (left, right))
            assert (
                symbols[word]
                == lesson["merge"](pieces, (left, right))
                == lesson["merge_pair"](pieces, (left, right))
            )
    for word, pieces in symbols.items():
        assert library.encode(word).tokens == pieces
