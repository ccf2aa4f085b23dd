"""Real text from packages, and the tables written for the course: their format, and what they must
not give away. course_utils/tables/README.md has their numbers of rows, and how they were written.
"""

import re
from collections import Counter

import numpy as np
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
from course_utils.data import TABLES

TEXTS = ["anchor", "positive", "negative"]
# English words, and three about films, that any two sentences of the reviews may share
COMMON = set(
    """
    a an and as at be but by for from has have he her his i in is it its more no not of on one or s she so t than
    that the their this to too was well what who with you your film movie story are good most much many some first
    into like little all will if out which
    """.split()
)


def words(sentence):
    # letters and apostrophes, in lower case
    return set(re.findall(r"[a-z']+", sentence.lower()))


# part: one that the table lacks; "train" is a part of the triplets alone
@pytest.mark.parametrize(
    "load, parts, part",
    [
        (load, parts, part)
        for load, parts in (
            (load_queries, ["dev", "test"]),
            (load_doc_queries, ["dev", "test"]),
            (load_triplets, ["dev", "test", "train"]),
        )
        for part in ("train", "valid", "", 0, 3, ["dev"])
        if part not in parts
    ],
)
def test_another_part_is_refused(load, parts, part):
    with pytest.raises(ValueError, match=re.escape(f"part must be one of {parts}; got")):
        load(part)


# ---------------------------------------------------------------- reviews and senses


# as many rows as the training part of each data set
@pytest.mark.parametrize("source, rows", [("rotten_tomatoes", 8530), ("imdb", 25_000)])
def test_reviews_are_whole_and_balanced(source, rows):
    table = load_reviews(source)
    assert list(table.columns) == ["text", "label"]
    assert list(table.index) == list(range(rows))
    assert table["label"].value_counts().to_dict() == {0: rows // 2, 1: rows // 2}
    assert table["text"].str.fullmatch(r"\S(.*\S)?", flags=re.DOTALL).all()
    assert not table["text"].str.contains("<br", regex=False).any()


@pytest.mark.parametrize("source", ["IMDB", "", None, 3, ["imdb"]])
def test_an_unknown_source_is_named(source):
    with pytest.raises(
        ValueError, match=r"source must be one of \('rotten_tomatoes', 'imdb'\); got"
    ):
        load_reviews(source)


def test_the_senses_of_a_word_are_its_rows():
    for word, rows in load_senses().groupby("word"):
        assert load_senses(word).equals(rows.reset_index(drop=True))


# ---------------------------------------------------------------- queries of the capstone


def test_there_are_two_halves_and_each_sentence_is_asked_for_once():
    table = load_queries()
    assert list(table.columns) == ["part", "row", "query"]
    assert table.notna().all(axis=None)
    assert len(load_queries("dev")) == len(load_queries("test")) == 102
    assert table["row"].nunique() == table["query"].nunique() == len(table) == 204


def test_each_wanted_sentence_is_in_the_collection_of_the_capstone():
    lengths = load_reviews()["text"].str.split().str.len()
    # The capstone searches sentences of 12 to 24 words.
    assert lengths[load_queries()["row"]].between(12, 24).all()


def test_queries_are_in_other_words_than_their_sentences():
    sentences = load_reviews()["text"]
    shares = []
    for query, row in load_queries()[["query", "row"]].itertuples(index=False):
        # without apostrophes, so that "film's" is the common word "film"
        of_query = words(query.replace("'", " ")) - COMMON
        of_sentence = words(sentences[row].replace("'", " "))
        shares.append(len(of_query & of_sentence) / len(of_query))
    # The table has 0.10 and 0.50. With more, a search for words would find the sentences.
    assert sum(shares) / len(shares) < 0.2
    assert max(shares) <= 0.6


# ---------------------------------------------------------------- triplets


def test_the_triplets_have_their_columns_and_no_gaps():
    table = load_triplets()  # of all parts
    assert list(table.columns) == ["part", "construction", *TEXTS]
    assert len(table) == 408
    assert table.notna().all(axis=None)
    assert [len(load_triplets(part)) for part in ("train", "dev", "test")] == [168, 42, 198]


def test_no_construction_is_in_two_parts_and_each_has_about_twenty_triplets():
    table = load_triplets()
    of_parts = table.groupby("part")["construction"].nunique()
    assert of_parts.to_dict() == {"train": 8, "dev": 2, "test": 10}
    assert table["construction"].nunique() == of_parts.sum()
    assert table["construction"].value_counts().between(15, 25).all()


def test_every_sentence_of_a_triplet_stands_once():
    counts = Counter(load_triplets()[TEXTS].to_numpy().ravel())
    assert max(counts.values()) == 1, counts.most_common(3)


def test_texts_of_triplets_are_short_sentences():
    for sentence in load_triplets()[TEXTS].to_numpy().ravel():
        # a capital, 2 to 16 words between single spaces, and a full stop or a question mark
        assert re.fullmatch(r"[A-Z]\S*(?: \S+){1,15}(?<=[.?])", sentence), sentence


def test_the_denial_has_the_words_of_the_anchor_and_the_paraphrase_has_not():
    # the shares of the anchor's words that its paraphrase and its denial have
    shares = [
        (len(anchor & paraphrase) / len(anchor), len(anchor & denial) / len(anchor))
        for anchor, paraphrase, denial in load_triplets()[TEXTS].map(words).to_numpy()
    ]
    of_paraphrases, of_denials = np.transpose(shares)
    # The table has 0.87, 0.37 and 0.77: words alone would choose the wrong text.
    assert np.mean(of_denials > of_paraphrases) >= 0.85
    assert of_paraphrases.mean() < 0.4 < 0.7 < of_denials.mean()


def test_the_denial_is_seldom_the_only_text_with_a_negation():
    negations = (
        r"(?i)\b(?:not|never|no|nobody|nothing|none|without|hardly|barely|scarcely|neither)\b|n't\b"
    )
    table = load_triplets()
    # The README says one anchor in seven, and three denials in ten.
    assert table["anchor"].str.contains(negations).mean() >= 0.1
    assert table["negative"].str.contains(negations).mean() <= 0.4


def test_a_word_stands_once_and_has_a_capital_where_it_is_a_name(encoder):
    names = pd.read_csv(TABLES / "names.csv")
    tokenizer, _ = encoder
    # 16 words of four sentences each: twice a name, then twice not
    assert names.groupby("word")["name"].apply(list).tolist() == 16 * [[1, 1, 0, 0]]
    for row in names.itertuples():
        (occurrence,) = re.finditer(rf"\b{row.word}\b", row.sentence, re.IGNORECASE)
        # not at the start of the sentence, where any word has a capital
        assert occurrence.start() > 0, row
        assert occurrence[0].istitle() == bool(row.name), row
        assert len(tokenizer.tokenize(row.word)) == 1, row


# the test queries that the author of the questions had read before writing them
QUERIES_SEEN_BY_THE_AUTHOR = "t03 t13 t18 t21 t44 t62 t63 t65 t68 t72 t75 t87 t92 t96".split()


def test_questions_are_about_texts_but_not_about_answers_to_queries_their_author_had_seen():
    questions, judged = (
        pd.read_csv(TABLES / f"doc_{name}.csv") for name in ("questions", "judgements")
    )
    # 536 questions, all different, about 527 texts
    assert [len(questions), *questions[["name", "query"]].nunique()] == [536, 527, 536]
    # grade 2 answers the query, 1 helps, 0 does neither
    helpful = judged[(judged["grade"] > 0) & judged["id"].isin(QUERIES_SEEN_BY_THE_AUTHOR)]["name"]
    assert set(questions["name"]) <= set(load_docstrings()["name"]) - set(helpful)
    # The README says for how many test queries (ids as "t03") a question is about a text that
    # answers the query.
    answers = judged[(judged["grade"] == 2) & judged["name"].isin(questions["name"])]
    assert answers[answers["id"].str.startswith("t")]["id"].nunique() == 66


def test_each_paragraph_stands_once_beside_its_german():
    paragraphs = pd.read_csv(TABLES / "german.csv")
    assert list(paragraphs.columns) == ["english", "german"]
    assert len(paragraphs) == 78
    assert paragraphs["english"].is_unique
    assert paragraphs["english"].ne(paragraphs["german"]).all()
    assert paragraphs["english"].str.split().str.len().between(5, 40).all()
