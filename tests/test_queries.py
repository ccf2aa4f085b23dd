"""The queries written for the capstone follow their format."""

import re

import pytest

from course_utils import load_queries, load_reviews

COMMON = set(
    """
    a an and as at be but by for from has have he her his i in is it its more no not of on one or s she so t than
    that the their this to too was well what who with you your film movie story are good most much many some first
    into like little all will if out which
    """.split()
)


def words(text):
    return set(re.findall(r"[a-z]+", text.lower())) - COMMON


def test_there_are_two_halves_and_each_sentence_is_asked_for_once():
    table = load_queries()
    assert list(table.columns) == ["part", "row", "query"] and not table.isna().any().any()
    assert len(load_queries("dev")) == len(load_queries("test")) == 42
    assert (
        table["row"].is_unique and table["query"].is_unique and table["row"].between(0, len(load_reviews()) - 1).all()
    )


def test_each_wanted_sentence_is_in_the_collection_of_the_capstone():
    words_of = load_reviews()["text"].str.split().str.len()
    assert words_of[load_queries()["row"]].between(12, 24).all()


def test_queries_are_in_other_words_than_their_sentences():
    texts = load_reviews()["text"]
    shares = [
        len(words(query) & words(texts[row])) / len(words(query))
        for row, query in load_queries()[["row", "query"]].itertuples(index=False)
    ]
    assert sum(shares) / len(shares) < 0.2 and max(shares) <= 0.6


@pytest.mark.parametrize("part", ["train", "", 3, ["dev"]])
def test_another_part_is_refused(part):
    with pytest.raises(ValueError, match='part must be "dev" or "test"'):
        load_queries(part)
