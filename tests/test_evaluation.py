"""evaluation.py agrees with SciPy and scikit-learn, also on awkward columns, and rejects input
without an answer.
"""

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import assume, given, strategies as st

from course_utils.evaluation import auc, best_threshold, bootstrap, pearson, ranks, spearman

# in steps, so that some numbers of a column are equal
NUMBERS = st.floats(-1e6, 1e6).map(lambda number: round(number, 3)) | st.integers(-3, 3).map(float)


@st.composite
def columns(draw, first=NUMBERS):
    """Two equally long columns, of which none is constant: one of `first`, and one of NUMBERS."""
    size = draw(st.integers(2, 40))
    x = np.array(draw(st.lists(first, min_size=size, max_size=size)))
    y = np.array(draw(st.lists(NUMBERS, min_size=size, max_size=size)))
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    return x, y


@given(columns())
def test_correlations_and_ranks_are_scipys(pair):
    x, y = pair
    # Pearson's is of numbers up to a million, which round more than Spearman's ranks do
    assert pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-8)
    assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-10)
    assert np.array_equal(ranks(x), scipy.stats.rankdata(x))


@given(columns(first=st.integers(0, 1)))
def test_the_area_is_scikit_learns(pair):
    labels, scores = pair
    assert auc(labels, scores) == pytest.approx(sklearn.metrics.roc_auc_score(labels, scores))


@given(columns(first=st.integers(0, 1)))
def test_no_threshold_is_better_than_the_best(pair):
    labels, scores = pair
    best, accuracy = best_threshold(labels, scores)
    assert accuracy == ((scores >= best) == labels).mean()
    thresholds = [scores.min() - 1, *scores, scores.max() + 1]
    assert accuracy == pytest.approx(
        max(((scores >= threshold) == labels).mean() for threshold in thresholds)
    )


@given(st.integers(0, 10**6))
@pytest.mark.parametrize("measure", [pearson, spearman, auc])
def test_each_row_of_a_table_is_measured_by_itself(measure, seed):
    x, y = np.random.default_rng(seed).integers(-5, 6, size=(2, 5, 12))  # five rows each, with ties
    if measure is auc:
        x = np.tile([0, 1, 1, 0], (5, 3))  # labels, in five rows of 12
    assert measure(x, y) == pytest.approx([measure(*rows) for rows in zip(x, y)])


@pytest.mark.parametrize("statistic", [pearson, spearman, lambda x, y: (x - y).mean(axis=-1)])
@pytest.mark.parametrize("n, level", [(15, 0.95), (300, 0.95), (300, 0.8)])
def test_the_interval_is_scipys(statistic, n, level):
    x, noise = np.random.default_rng(n).normal(size=(2, n))
    y = x + noise
    value, low, high = bootstrap(statistic, x, y, repeats=500, level=level, seed=3)
    theirs = scipy.stats.bootstrap(
        (x, y),
        lambda x, y, axis: statistic(x, y),
        rng=np.random.default_rng(3),
        paired=True,
        method="percentile",
        n_resamples=500,
        confidence_level=level,
        vectorized=True,
    ).confidence_interval
    assert (value, low, high) == pytest.approx((statistic(x, y), *theirs))
    assert low < value < high


# 500: 10 resamples of 50, and the last block has 9; 10: less than one, so one by one
@pytest.mark.parametrize("block", [500, 10])
def test_many_resamples_come_in_blocks_and_are_the_same(block, monkeypatch):
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    whole = bootstrap(pearson, x, y, repeats=99)
    monkeypatch.setattr("course_utils.evaluation.BLOCK", block)
    assert bootstrap(pearson, x, y, repeats=99) == whole


@pytest.mark.parametrize(
    "x, y, words",
    [
        ([1, 2, 3], [1, 2], r"equally long; got \[3, 2\]"),
        ([1, np.nan, 3], [1, 2, 3], "argument 1 holds 1 values that are not finite"),
        ([1, 2, 3], [1, np.inf, np.nan], "argument 2 holds 2 values that are not finite"),
        ([2, 2, 2], [1, 2, 3], "constant"),
        ([1], [2], "at least two"),
        ([], [], "empty"),
        (3, 4, "single number"),
    ],
)
@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_what_has_no_correlation_is_refused(correlation, x, y, words):
    with pytest.raises(ValueError, match=words):
        correlation(np.array(x, dtype=float), np.array(y, dtype=float))


@pytest.mark.parametrize("column", [["a", "b"], [None, 1], [1 + 2j, 3]])
def test_what_is_not_a_real_number_is_refused(column):
    with pytest.raises(TypeError, match="argument 1 must hold numbers"):
        pearson(column, [1, 2])


@pytest.mark.parametrize("function", [auc, best_threshold])
@pytest.mark.parametrize(
    "labels, words",
    [
        ([0, 1, 2], "labels must be 0 or 1"),
        ([1, 1, 1], "all labels are 1; both"),
        ([0, 0, 0], "all labels are 0; both"),
    ],
)
def test_labels_need_two_classes(function, labels, words):
    with pytest.raises(ValueError, match=words):
        function(labels, [0.1, 0.2, 0.3])


def test_the_row_that_lacks_a_class_says_which_it_has():
    with pytest.raises(ValueError, match="all labels are 1; both"):
        auc([[0, 1], [1, 1]], [[0.1, 0.2], [0.1, 0.2]])


@pytest.mark.parametrize("settings", [{"repeats": 0}, {"level": 1}, {"level": 0}])
def test_impossible_settings_of_the_bootstrap_are_refused(settings):
    with pytest.raises(ValueError, match="repeats must be at least 1 and level"):
        bootstrap(pearson, [1, 2, 3], [1, 3, 2], **settings)


def test_of_equally_good_thresholds_the_lowest_is_taken():
    assert best_threshold([0, 1, 0, 1], [1, 2, 3, 4]) == (1.5, 0.75)  # 3.5 is as good


def test_where_nothing_should_be_positive_the_threshold_is_above_all_scores():
    threshold, accuracy = best_threshold([1, 0, 0], np.float32([0.1, 0.2, 0.3]))
    assert (np.float32(0.3) < threshold, accuracy) == (True, 2 / 3)
