"""The triplets written for the course follow their format."""

import re
from collections import Counter

import pytest

from course_utils import load_triplets

TEXTS = ["anchor", "positive", "negative"]


def words(sentence):
    return set(re.findall(r"[a-z']+", sentence.lower()))


def test_the_table_has_its_columns_and_no_gaps():
    table = load_triplets()
    assert list(table.columns) == ["part", "construction", *TEXTS]
    assert len(table) >= 400 and not table.isna().any().any()
    assert [len(load_triplets(part)) for part in ("train", "dev", "test")] == [168, 42, 198] and len(table) == 408


def test_no_construction_is_in_two_parts():
    parts = [Counter(load_triplets(part)["construction"]) for part in ("train", "dev", "test")]
    every = Counter(load_triplets()["construction"])
    assert [len(part) for part in parts] == [8, 2, 10] and len(every) == 20
    assert min(every.values()) >= 15 and max(every.values()) <= 25


def test_every_sentence_stands_once():
    found = Counter(load_triplets()[TEXTS].to_numpy().ravel())
    assert max(found.values()) == 1, found.most_common(3)


def test_sentences_are_short_sentences():
    for sentence in load_triplets()[TEXTS].to_numpy().ravel():
        assert re.fullmatch(r"[A-Z].*[.?]", sentence) and sentence == " ".join(sentence.split()), sentence
        assert 2 <= len(sentence.split()) <= 16, sentence


def test_the_denial_has_the_words_of_the_anchor_and_the_paraphrase_has_not():
    def shared(row, name):
        return len(words(row["anchor"]) & words(row[name])) / len(words(row["anchor"]))

    rows = [row for _, row in load_triplets().iterrows()]
    nearer = sum(shared(row, "negative") > shared(row, "positive") for row in rows)
    assert nearer >= 0.85 * len(rows)
    assert (
        sum(shared(row, "negative") for row in rows) / len(rows)
        > 0.7
        > 0.4
        > sum(shared(row, "positive") for row in rows) / len(rows)
    )


def test_not_alone_does_not_tell_the_denial():
    negations = re.compile(
        r"\b(not|never|no|nobody|nothing|none|without|hardly|barely|scarcely|neither)\b|n't\b", re.IGNORECASE
    )
    table = load_triplets()
    first = sum(bool(negations.search(text)) for text in table["anchor"])
    last = sum(bool(negations.search(text)) for text in table["negative"])
    assert first >= 0.1 * len(table) and last <= 0.4 * len(table), (first, last)


def test_no_template_is_used_for_more_than_five_paraphrases():
    starts = Counter(" ".join(sentence.lower().split()[:3]) for sentence in load_triplets()["positive"])
    assert starts.most_common(1)[0][1] <= 5, starts.most_common(3)
    assert (
        max(
            Counter(
                sentence.split()[0] for sentence in load_triplets()["positive"] if sentence.startswith(("There", "One"))
            ).values()
        )
        <= 15
    )


@pytest.mark.parametrize("part", ["valid", "", 0])
def test_another_part_is_refused(part):
    with pytest.raises(ValueError, match='part must be "train", "dev" or "test"; got'):
        load_triplets(part)
