"""Lesson 08: its references agree with SciPy and slow loops, and nothing that it lists depends on a near tie."""

import numpy as np
import pytest
import scipy.stats

from course_utils import embed, load_scored_pairs
from course_utils.benchmark import row_cosines
from course_utils.evaluation import bootstrap, ranks, spearman
from course_utils.exercises.lesson_08 import GROUPS, SPEARMAN, THRESHOLD


@pytest.fixture(scope="module")
def pairs(one_thread):
    return load_scored_pairs()


@pytest.fixture(scope="module")
def cosines(pairs):
    return row_cosines(embed(pairs["sentence1"]), embed(pairs["sentence2"]))


@pytest.mark.parametrize("seed", range(5))
def test_spearman_is_scipys(seed):
    x, y = np.random.default_rng(seed).integers(0, 6, size=(2, 20)).tolist()
    assert SPEARMAN.reference(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)


@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_is_the_lowest_of_the_best(seed):
    generator = np.random.default_rng(seed)
    values, labels = (
        (generator.integers(0, 9, 15) / 10).tolist(),
        generator.integers(0, 2, 15).tolist(),
    )
    test, test_labels = (
        (generator.integers(0, 9, 15) / 10).tolist(),
        generator.integers(0, 2, 15).tolist(),
    )
    right = {t: sum((value >= t) == label for value, label in zip(values, labels)) for t in values}
    threshold = min(t for t in values if right[t] == max(right.values()))
    assert THRESHOLD.reference(values, labels, test, test_labels) == pytest.approx(
        sum((value >= threshold) == label for value, label in zip(test, test_labels)) / 15
    )


def test_the_grouped_interval_of_single_rows_is_the_courses_bootstrap():
    generator = np.random.default_rng(0)
    gold, a, b = generator.normal(size=(3, 40))
    rows = np.random.default_rng(7).integers(0, 40, (200, 40))
    _, low, high = bootstrap(
        lambda gold, a, b: spearman(gold, a) - spearman(gold, b), gold, a, b, repeats=200, seed=7
    )
    found = GROUPS.reference(gold.tolist(), a.tolist(), b.tolist(), list(range(40)), rows.tolist())
    assert found == pytest.approx((low, high))


def test_the_worst_pairs_are_not_listed_by_a_near_tie(pairs, cosines):
    """If two cosines change places, a pair moves by one rank; the lists must not change."""
    gold = pairs["score"].to_numpy()
    off = (ranks(cosines) - ranks(gold)) / (len(gold) - 1)
    for order in (np.argsort(-off)[:6], np.argsort(off)[:7]):  # one more than the lesson shows
        assert np.abs(np.diff(off[order])).min() > 1 / (len(gold) - 1)
