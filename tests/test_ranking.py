"""Search by words, fusion and measures of ranked lists, compared with the libraries on awkward input."""

import unicodedata

import bm25s
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings, strategies as st
from sentence_transformers.util import maxsim
from sklearn.metrics import ndcg_score

from course_utils.ranking import (
    best_of_each,
    bm25,
    chunks,
    max_sim,
    ndcgs,
    recalls,
    reciprocal_rank_fusion,
    reciprocal_ranks,
    reciprocal_sums,
    sections,
    words,
)

TEXTS = [
    "the cat sat",
    "",
    "Cat, cat, CAT!",
    "a dog_house",
    "été naïve 北京 42",
    "the the the",
    "a dog house",
    "?!",
]
QUERIES = ["cat", "cat cat the", "unknown", "", "dog_house 北京", "the cat sat on the mat"]


def scores_of_library(queries, texts, **k1_and_b):
    library = bm25s.BM25(method="lucene", dtype="float64", **k1_and_b)
    library.index([words(text) for text in texts], show_progress=False)

    def scores(query):
        # the library raises an error where none of the words is in a text
        known = [word for word in words(query) if word in library.vocab_dict]
        return library.get_scores(known) if known else np.zeros(len(texts))

    return np.array([scores(query) for query in queries])


@pytest.mark.parametrize("k1, b", [(1.5, 0.75), (0.9, 0.4), (1.2, 0), (2, 1)])
def test_bm25_equals_the_library(k1, b):
    assert np.allclose(
        bm25(QUERIES, TEXTS, k1=k1, b=b), scores_of_library(QUERIES, TEXTS, k1=k1, b=b), atol=1e-12
    )


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join), min_size=1, max_size=6)
)
def test_bm25_equals_the_library_on_any_texts(texts):
    if any(texts):
        assert np.allclose(
            bm25(["a", "b b c"], texts), scores_of_library(["a", "b b c"], texts, k1=1.5, b=0.75)
        )
    else:  # texts without words, of which the library makes no index
        assert not bm25(["a"], texts).any()


@pytest.mark.parametrize(
    "text, separate",
    [
        ("Naïve_42 x²", ["naïve", "42", "x2"]),
        (unicodedata.normalize("NFD", "Überblick"), ["überblick"]),
        ("ﬁle, Ｗｉｄｅ", ["file", "wide"]),
        ("co\u00adoperate zero\u200bwidth می\u200cرزا", ["cooperate", "zero", "width", "میرزا"]),
        ("İstanbul", ["istanbul"]),
        ("हाथी और हाथ", ["हाथी", "और", "हाथ"]),
        ("كِتَاب", ["كِتَاب"]),
        ("ภาษาไทย", ["ภาษาไทย"]),
        ("\u0301 _ ?!", []),
    ],
    ids=[
        "underscore and superscript",
        "accents as characters of their own",
        "ligature and wide letters",
        "invisible characters inside words",
        "a capital that becomes two characters",
        "vowel signs in Hindi",
        "vowel signs in Arabic",
        "vowel signs in Thai",
        "no word",
    ],
)
def test_words_of_any_script(text, separate):
    assert words(text) == separate


@pytest.mark.parametrize("phrase", ["猫在哪里", "ภาษาไทย", "ひらがな"])
def test_bm25_says_what_it_makes_of_scripts_without_spaces(phrase):
    for query, text in (("cat", phrase), (phrase, "cat")):
        with pytest.warns(UserWarning, match="takes a whole phrase as one word"):
            bm25([query], [text])


@pytest.mark.parametrize(
    "queries, texts, error, message",
    [
        ("cat", TEXTS, TypeError, "queries must be a list of strings"),
        (["cat"], {"a.md": "a cat"}, TypeError, "texts must be a list of strings; got"),
        (
            ["cat"],
            pd.DataFrame({"text": ["a cat"]}),
            TypeError,
            "texts must be a list of strings; got",
        ),
        (["cat"], ["a cat", float("nan")], TypeError, r"texts\[1\] must be a string; got float"),
        (["cat"], [], ValueError, "no texts"),
    ],
    ids=["one query", "dict", "table", "missing text", "no texts"],
)
def test_bm25_refuses_what_it_cannot_rank(queries, texts, error, message):
    with pytest.raises(error, match=message):
        bm25(queries, texts)


def test_bm25_refuses_a_share_of_more_than_the_whole_length():
    with pytest.raises(ValueError, match="b between 0 and 1"):
        bm25(["cat"], TEXTS, b=2)


@pytest.mark.parametrize(
    "rankings, fused",
    [
        ([[[7, 3, 5]], [[5, 9]]], [[5, 7, 3, 9]]),
        ([[[7, 3]], [[9, 5]]], [[7, 9, 3, 5]]),
        ([np.array([[1], [2]]), [[], [4]], [[3], [4]]], [[1, 3], [4, 2]]),
    ],
    ids=["5 is in both", "ties: the first ranking's come first", "three rankings, two queries"],
)
def test_fusion_adds_reciprocal_ranks_and_keeps_the_order_of_ties(rankings, fused):
    assert reciprocal_rank_fusion(*rankings) == fused


def test_fusion_refuses_rankings_of_different_numbers_of_queries():
    with pytest.raises(ValueError, match="zip"):
        reciprocal_rank_fusion([[1], [2]], [[1]])


@pytest.mark.parametrize("constant, first", [({}, 9), ({"c": 60}, 9), ({"c": 1}, 0)])
def test_fusion_weighs_low_places_by_its_constant_which_is_the_papers_by_default(constant, first):
    # 9 is fourth in both lists, and 0 first in one. With 60, the constant of the paper and the
    # default, 9 is ahead: 2 / 64 > 1 / 61. With 1, it is behind: 2 / 5 < 1 / 2.
    assert reciprocal_rank_fusion([[0, 1, 2, 9]], [[5, 6, 7, 9]], **constant)[0][0] == first


def test_reciprocal_sums_add_one_over_60_plus_the_rank():
    # 9 is second in one list and first in the other
    assert reciprocal_sums([[0, 9], [9]])[9] == 1 / 62 + 1 / 61


TEN_WORDS = "0 1 2 3 4 5 6 7 8 9"


@pytest.mark.parametrize(
    "text, arguments, pieces",  # arguments: size, and perhaps step
    [
        (TEN_WORDS, (4,), ["0 1 2 3", "4 5 6 7", "8 9"]),
        (TEN_WORDS, (4, 2), ["0 1 2 3", "2 3 4 5", "4 5 6 7", "6 7 8 9"]),
        ("", (4,), [""]),
        (" one\n two ", (4,), ["one two"]),
    ],
    ids=["the last is shorter", "overlapping", "empty", "other white space"],
)
def test_chunks_cover_every_word(text, arguments, pieces):
    assert chunks(text, *arguments) == pieces


@pytest.mark.parametrize("size, step", [(0, None), (4, 0), (4, 5)])
def test_chunks_that_would_leave_words_out_are_refused(size, step):
    with pytest.raises(ValueError, match="step between 1 and size"):
        chunks(TEN_WORDS, size, step)


@pytest.mark.parametrize(
    "markdown, pieces",
    [
        # no heading, and headings of both forms
        ("", ["a.md"]),
        (" \n\n", ["a.md"]),
        ("No heading,\njust text.", ["a.md\nNo heading, just text."]),
        ("Before.\n# One\nText.\n## Two\nMore.\n# Three\nEnd.",
         ["a.md\nBefore.", "a.md > One\nText.", "a.md > One > Two\nMore.", "a.md > Three\nEnd."]),
        ("One\n===\nText.\n\nTwo\n---\nMore.", ["a.md > One\nText.", "a.md > One > Two\nMore."]),
        # what looks like a heading in code, a list or a quotation is none
        ("# One\n```bash\n# a comment\nls\n```\nAfter.", ["a.md > One\n```bash # a comment ls ``` After."]),
        ("# One\n~~~\n# never closed\n## at all", ["a.md > One\n~~~ # never closed ## at all"]),
        ("# One\n\n    # indented code\n", ["a.md > One\n# indented code"]),
        ("- a list\n\n  # inside it\n\n> # and a quotation", ["a.md\n- a list # inside it > # and a quotation"]),
        # levels that go up and down, or begin below the top
        ("# One\n## Two\n### Three\n## Four\n# Five", ["a.md > One > Two > Three", "a.md > One > Four", "a.md > Five"]),
        ("### Deep\nText.\n# Top\nMore.", ["a.md > Deep\nText.", "a.md > Top\nMore."]),
        # empty headings, a # without a space, markup in a heading, a line that separates
        ("#\nText.\n##   \n#hashtag", ["a.md\nText.", "a.md\n#hashtag"]),
        ("# `code` and *more* #\nText.", ["a.md > `code` and *more*\nText."]),
        ("# One\n\n---\n\nBelow a line.", ["a.md > One\n--- Below a line."]),
        # front matter, of which only the title stays
        ("---\ntitle: \"One\"\ntags:\n  - a\n# why\n---\nText.\n# Two\nMore.",
         ["a.md > One\nText.", "a.md > One > Two\nMore."]),
        ("---\ntitle: One\n---\n# One\nText.", ["a.md > One\nText."]),
        ("---\ntitle: One\n...\n", ["a.md > One"]),
        ("\ufeff---\ndate created: 2024-13-45\n\"my key\": 1\ncss/class: x # why\ntitle: 'One' # comment\n---\nText.",
         ["a.md > One\nText."]),
        # a title over several lines, not valid as YAML, or no text
        ("---\ntitle: >-\n  One\n  and two\n---\nText.", ["a.md > One and two\nText."]),
        ("---\ntitle: |\n  One\n---\nText.", ["a.md > One\nText."]),
        ("---\ntags: @todo\ntitle: >-\n  One\n---\nText.", ["a.md > One\nText."]),
        ("---\ntitle: One: two\nother: [\n---\nText.", ["a.md > One: two\nText."]),
        ("---\ntitle: [One, two]\n---\nText.", ["a.md\nText."]),
        # lines --- that are no front matter, or hold no title, or are not at the very beginning
        ("---\n**Keep**: a note.\n\n---\n# One\nText.", ["a.md\n--- **Keep**: a note. ---", "a.md > One\nText."]),
        ("---\n---\nText.", ["a.md\nText."]),
        ("---\n# a comment\n---\nText.", ["a.md\nText."]),
        ("---\n- a list\n---\nText.", ["a.md\n--- - a list --- Text."]),
        ("---\nnever: closed\n# One\nText.", ["a.md\n--- never: closed", "a.md > One\nText."]),
        ("---\n\nTwo lines, and no front matter.\n\n---\nText.",
         ["a.md\n--- Two lines, and no front matter. --- Text."]),
        ("---\n\nWarning: keep.\n\n---\nText.", ["a.md\n--- Warning: keep. --- Text."]),
        ("\n---\ntitle: too late\n---\n", ["a.md\n---", "a.md > title: too late"]),
    ],
)  # fmt: skip
def test_sections_stand_below_their_headings(markdown, pieces):
    # 128 words: no piece is that long, so none is cut
    for line_end in ("\n", "\r\n", "\r"):
        assert sections(markdown.replace("\n", line_end), 128, "a.md") == pieces, repr(line_end)


@given(st.text("ab#-=`>~ \n", max_size=80), st.integers(1, 5))
def test_no_word_outside_front_matter_is_lost(text, size):
    # front matter stands at the very beginning, so behind an x there is none
    assert set(words(" ".join(sections(f"x\n{text}", size)))) == set(words(f"x\n{text}"))


def test_sections_are_cut_into_windows_and_lose_no_word():
    assert sections("# One\na b c d e\n## Two\nf", 2) == [
        "One\na b",
        "One\nc d",
        "One\ne",
        "One > Two\nf",
    ]
    assert sections("", 2) == sections("#", 2) == [""]


def test_each_of_many_sections_is_cut_into_its_own_windows():
    words_of_three_windows = "word " * 41
    # headings of all six levels by turns
    long = "".join(
        f"{'#' * (number % 6 + 1)} Part {number}\n\n{words_of_three_windows}\n\n"
        for number in range(2500)
    )
    # windows of 20 words, the last of one, for each of the 2500
    assert len(sections(long, 20, "long.md")) == 2500 * 3


@pytest.mark.parametrize("size", [0, -1])
def test_windows_of_no_words_are_refused(size):
    with pytest.raises(ValueError, match="size must be 1 or more"):
        sections("# One", size)


def test_a_text_has_the_score_of_its_best_chunk():
    # scores of four chunks for one query, and the text that each chunk is from
    assert best_of_each([[0.1, 0.9, 0.3, 0.2]], [0, 0, 1, 0]).tolist() == [[0.9, 0.3]]


def test_a_text_without_a_chunk_is_refused():
    with pytest.raises(ValueError, match="some text has no chunk"):
        best_of_each([[0.1, 0.9]], [0, 2])


@pytest.mark.parametrize("tokens_of_query, tokens_of_text", [(1, 1), (3, 1), (5, 9)])
def test_max_sim_equals_the_library(tokens_of_query, tokens_of_text):
    torch.manual_seed(0)
    # a vector of 6 numbers for each token
    query, text = (
        torch.nn.functional.normalize(torch.randn(tokens, 6), dim=1)
        for tokens in (tokens_of_query, tokens_of_text)
    )
    assert max_sim(query, text) == pytest.approx(float(maxsim([query], [text])), abs=1e-5)


@settings(max_examples=100)
@given(
    st.permutations(range(8)),
    st.lists(st.integers(0, 3), min_size=8, max_size=8),
    st.integers(1, 10),
)
def test_ndcg_equals_the_library(places, grades, k):
    graded = {place: grade for place, grade in enumerate(grades) if grade}
    if graded:
        # scikit-learn takes a score for each text: 8 for the first of `places`, 1 for the last
        scores = np.empty(8)
        scores[list(places)] = np.arange(8, 0, -1)
        assert ndcgs([places], [graded], k)[0] == pytest.approx(ndcg_score([grades], [scores], k=k))


@pytest.mark.parametrize(
    "measure, limit, values",  # values: one for each list
    [
        (reciprocal_ranks, {}, [1 / 3, 1, 0]),
        (reciprocal_ranks, {"k": 2}, [0, 1, 0]),
        (recalls, {}, [1 / 2, 1, 0]),
        (recalls, {"k": 1}, [0, 1, 0]),
    ],
)
def test_measures_of_three_ranked_lists(measure, limit, values):
    # of two relevant texts the third place has one; the first place is relevant; nothing was found
    ranked, relevant = [[4, 2, 9], [1, 0], []], [{9, 7}, [1], {3}]
    assert measure(ranked, relevant, **limit).tolist() == values


@pytest.mark.parametrize("ranked, grades, limit", [([4, 2], {2: 1}, {"k": 1}), ([], {3: 2}, {})])
def test_ndcg_is_0_where_no_relevant_text_was_found(ranked, grades, limit):
    assert ndcgs([ranked], [grades], **limit).tolist() == [0]


@pytest.mark.parametrize("measure", [reciprocal_ranks, recalls, ndcgs])
@pytest.mark.parametrize(
    "ranked, grades, message",
    [
        ([[1], [2]], [{1: 1}, {}], "query 1 has no relevant text"),
        ([[1, 1]], [{1: 1}], "holds a text twice"),
        ([[1]], [{1: 1}, {2: 1}], "1 lists of results for 2 queries"),
    ],
)
def test_measures_refuse_lists_for_which_they_are_not_defined(measure, ranked, grades, message):
    with pytest.raises(ValueError, match=message):
        measure(ranked, grades)
