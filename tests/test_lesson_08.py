"""Lesson 08: an interval is the course's own, and nothing that it lists depends on a near tie."""

import numpy as np
import pytest

from course_utils import embed, load_scored_pairs
from course_utils.benchmark import row_cosines
from course_utils.evaluation import bootstrap, ranks, spearman
from course_utils.exercises.lesson_08 import GROUPS


def test_the_grouped_interval_of_single_rows_is_the_courses_bootstrap():
    gold, a, b = np.random.default_rng(0).normal(size=(3, 40))
    rows = np.random.default_rng(7).integers(0, 40, (200, 40))
    _, low, high = bootstrap(
        lambda gold, a, b: spearman(gold, a) - spearman(gold, b), gold, a, b, repeats=200, seed=7
    )
    found = GROUPS.reference(gold.tolist(), a.tolist(), b.tolist(), list(range(40)), rows.tolist())
    assert found == pytest.approx((low, high))


def test_the_worst_pairs_are_not_listed_by_a_near_tie(one_thread):
    # If two cosines change places, a pair moves by one rank; the lists must not change.
    pairs = load_scored_pairs()
    cosines = row_cosines(embed(pairs["sentence1"]), embed(pairs["sentence2"]))
    gold = pairs["score"].to_numpy()
    off = (ranks(cosines) - ranks(gold)) / (len(gold) - 1)
    for order in (np.argsort(-off)[:6], np.argsort(off)[:7]):  # one more than the lesson shows
        assert np.abs(np.diff(off[order])).min() > 1 / (len(gold) - 1)
