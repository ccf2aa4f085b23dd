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

# (table, columns that together name a row, number of its rows or None); "index" is the row's place,
# in tables whose rows are those of another one in its order.
# The factors of a number are how many values each column has, in this order, unless a comment says
# otherwise.
STORED = [
    (learning_curve.CURVE, ["examples", "seed", "classifier"], 4 * 5 * 6),
    # sentences of the test part, and of the validation part
    (learning_curve.ANSWERS, ["index"], 1500),
    (learning_curve.VALIDATION, ["index"], 500),
    # for each of 5 choices what to train: 3 rates with one seed, one of them with 4 further seeds
    (depth.TABLE, ["trained", "learning_rate", "seed"], 5 * (3 + 4)),
    (depth.ANSWERS, ["index"], 1500),
    # three pairs of each triplet of the test part
    (pairs.ANSWERS, ["index"], 198 * 3),
    (pairs.SPLIT, ["triplet", "turn"], 99 * 3),
    (negation.FILE, ["recipe", "seed", "measure"], 6 * 5 * 3),
    (negation.GAIN, ["recipe", "seed", "measure"], 4 * 5 * 3),
    (negation.PAIRS, ["training"], 4),
    (losses.FILE, ["loss", "seed", "measure"], 10 * 2 * 3),
    # 15 trainings, each with 8 measures
    (questions.FILE, ["pairs", "number", "seed", "measure"], 15 * 8),
    # 11 trainings: recipes, each with some of the seeds
    (matryoshka.FILE, ["recipe", "seed", "dimensions"], 11 * 4),
    # 7 kinds and numbers of vectors
    (growth.FILE, ["vectors", "n", "width"], 7 * 6),
    (search.RUNS, ["way", "query"], 10 * 192),
    (search.REVIEWS, ["query"], 204),
    # as many rows for each query as it has candidates
    (rerank.SCORES, ["query", "name"], None),
    # the pages whose summary can serve as a question
    (rerank.MINED, ["question"], 1293),
    # one for each 40 steps of the training, and the last
    (rerank.STEPS, ["step"], 12),
]
# (value, low, high): where a table has these three columns, the value is between the other two
INTERVALS = [
    ("difference", "low", "high"),
    ("more", "more_low", "more_high"),
    ("recall", "low", "high"),
    ("recall", "recall_low", "recall_high"),
    ("mrr", "mrr_low", "mrr_high"),
    ("change", "change_low", "change_high"),
]


@pytest.mark.parametrize(
    "file, key_columns, n_rows", STORED, ids=[file.stem for file, *_ in STORED]
)
def test_a_stored_table_is_whole_and_its_numbers_fit_each_other(file, key_columns, n_rows):
    stored = pd.read_csv(file).reset_index()
    assert not stored.duplicated(key_columns).any()
    assert stored.notna().all(axis=None)
    assert n_rows is None or len(stored) == n_rows
    for value, low, high in INTERVALS:
        if {value, low, high} <= set(stored):
            assert stored[value].between(stored[low], stored[high]).all(), value
    if {"before", "after"} <= set(stored):
        # Each of the three is rounded to four decimals, so three errors of 0.5e-4 may add up.
        assert (stored["after"] - stored["before"] - stored["difference"]).abs().max() < 2e-4
        # the encoder before a training is always the same
        assert (stored.groupby("measure")["before"].nunique() == 1).all()
