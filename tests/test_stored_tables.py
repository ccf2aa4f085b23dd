"""Each table that a long training has stored is whole, and its numbers fit each other."""

import pandas as pd
import pytest

from course_utils.trainings import (
    depth,
    growth,
    learning_curve,
    losses,
    matryoshka,
    negation,
    pairs,
    questions,
    rerank,
    search,
)

# a table; the columns that name a row; how many rows it has
STORED = [
    (learning_curve.CURVE, ["examples", "seed", "classifier"], 4 * 5 * 6),
    (depth.TABLE, ["trained", "learning_rate", "seed"], 5 * (3 + 4)),
    (pairs.SPLIT, ["triplet", "turn"], 3 * 99),
    (negation.FILE, ["recipe", "seed", "measure"], 6 * 5 * 3),
    (negation.GAIN, ["recipe", "seed", "measure"], 4 * 5 * 3),
    (negation.PAIRS, ["training"], 4),
    (losses.FILE, ["loss", "seed", "measure"], 10 * 2 * 3),
    (questions.FILE, ["pairs", "number", "seed", "measure"], 15 * 8),
    (matryoshka.FILE, ["recipe", "seed", "dimensions"], 11 * 4),
    (growth.FILE, ["vectors", "n", "width"], 7 * 6),
    (search.RUNS, ["way", "query"], 10 * 192),
    (rerank.SCORES, ["query", "name"], None),
]
INTERVALS = [
    ("difference", "low", "high"),
    ("more", "more_low", "more_high"),
    ("recall", "low", "high"),
    ("recall", "recall_low", "recall_high"),
    ("mrr", "mrr_low", "mrr_high"),
    ("change", "change_low", "change_high"),
]


@pytest.mark.parametrize("file, names, number", STORED, ids=[file.stem for file, *_ in STORED])
def test_a_stored_table_fits_itself(file, names, number):
    stored = pd.read_csv(file)
    assert not stored.duplicated(names).any() and stored.notna().all(axis=None)
    assert number is None or len(stored) == number
    for value, low, high in INTERVALS:
        if {value, low, high} <= set(stored):
            assert stored[value].between(stored[low], stored[high]).all(), value
    if {"before", "after"} <= set(stored):
        assert (stored["after"] - stored["before"] - stored["difference"]).abs().max() < 2e-4
        assert (stored.groupby("measure")["before"].nunique() == 1).all()
