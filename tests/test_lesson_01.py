"""The functions of lesson 01 agree with the libraries that they imitate.

They are read from the lesson's own cells, so that the test covers what the reader sees.
"""

import itertools
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
        source = CHECKPOINT.sub(lambda _: f"checkpoint = {str(encoder_folder())!r}", source)
        exec(compile(source, cell_id, "exec"), names)
    return names


@pytest.fixture(scope="module")
def letters(lesson):
    return {piece for piece in lesson["vocabulary"] if len(piece) == 1}


any_text = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs"]), st.sampled_from("aeinrst#'-. éł🙂")
    ),
    max_size=120,
)

# all texts of one to three of the letters a, b and c
SHORT_PARTS = [
    "".join(signs) for length in (1, 2, 3) for signs in itertools.product("abc", repeat=length)
]
vocabularies = st.sets(
    st.text("abc", min_size=1, max_size=3).flatmap(
        lambda part: st.sampled_from([part, "##" + part])
    )
)


def library_cuts(word, pieces):
    ids = {piece: number for number, piece in enumerate(["[UNK]", *sorted(pieces)])}
    return [token.value for token in models.WordPiece(ids, unk_token="[UNK]").tokenize(word)]


def assert_agrees(tokenizer, lesson, text):
    pieces = [lesson["split_word"](word, lesson["vocabulary"]) for word in lesson["words_of"](text)]
    ids = exercises.encode(pieces, lesson["vocabulary"])
    assert sum(pieces, []) == tokenizer.tokenize(text)
    assert ids == lesson["encode"](pieces, lesson["vocabulary"])
    assert ids == tokenizer(text)["input_ids"]


@pytest.mark.parametrize("text", [
    "", " ", "a", "embeddings",
    "BERT provides contextual embeddings for each word in a sentence.", "I love Paris",
    "don't", "state-of-the-art", "résumé", "Łódź", "ﬁ", "ß", "STRASSE", "naïve", "日本語",
    "привет", "שלום", "🙂", "good🙂", "👩‍👩‍👧", "a" * 100, "a" * 101, "é" * 101, "\u200b",
    "hello\u200bworld", "\ufffd", "\t\n", "##s", "#", "[", "[unused1]", "a\u0301b",
    "x\u0000y", "0123456789" * 10 + "0", "$9.99", "e\u0301" * 60, "\U0001d518",
], ids=ascii)  # fmt: skip
def test_words_greedy_search_and_ids_equal_the_library(tokenizer, lesson, text):
    assert_agrees(tokenizer, lesson, text)


@settings(max_examples=400)
@given(text=any_text)
def test_words_greedy_search_and_ids_equal_the_library_on_any_text(
    tokenizer, lesson, letters, text
):
    if not any(token in text for token in SPECIAL):
        assert_agrees(tokenizer, lesson, text)
    for word in lesson["words_of"](text):
        unknown = lesson["split_word"](word, lesson["vocabulary"]) == ["[UNK]"]
        assert unknown == (len(word) > 100 or not set(word) <= letters), (
            "only for a character or its length"
        )


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
def test_an_entry_does_harm_if_the_library_says_so(lesson, word, pieces):
    # And if the exercise finds no harmful entry, no entry of up to three letters does harm, whether
    # in the word or not.
    if exercises.wordpiece(word, pieces) == ["[UNK]"]:
        return
    before = len(library_cuts(word, pieces))

    def does_harm(entry):
        return len(library_cuts(word, {*pieces, entry})) > before

    found = lesson["harmful_entry"](word, pieces)
    if found is None:
        for part in SHORT_PARTS:
            assert not does_harm(part)
            assert not does_harm(f"##{part}")
    else:
        assert does_harm(found)
        assert exercises._judge_harmful((word, pieces), found) is None


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
    library.train_from_iterator(text, trainers.BpeTrainer(vocab_size=30, show_progress=False))
    symbols = {word: list(word) for word in counts}
    for left, right in re.findall(r'\["([a-d]+)","([a-d]+)"\]', library.to_str()):
        totals = lesson["count_pairs"](symbols, counts)
        assert totals[left, right] == max(totals.values())
        for word, parts in symbols.items():
            symbols[word] = exercises.merge(parts, (left, right))
            assert (
                symbols[word]
                == lesson["merge"](parts, (left, right))
                == lesson["merge_pair"](parts, (left, right))
            )
    for word, parts in symbols.items():
        assert library.encode(word).tokens == parts
