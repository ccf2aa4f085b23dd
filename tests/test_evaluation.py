"""evaluation.py agrees with SciPy and scikit-learn, also on awkward columns, and rejects input without an answer."""

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import assume, given
from hypothesis import strategies as st

from course_utils.evaluation import auc, best_threshold, bootstrap, pearson, ranks, spearman

# includes ties
NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3)) | st.integers(-3, 3).map(float)


@st.composite
def columns(draw, kind=NUMBERS):
    n = draw(st.integers(2, 40))
    x, y = (np.array(draw(st.lists(which, min_size=n, max_size=n))) for which in (kind, NUMBERS))
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    return x, y


@given(columns())
def test_correlations_are_scipys(both):
    x, y = both
    assert pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-8)
    assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-10)
    assert np.array_equal(ranks(x), scipy.stats.rankdata(x))


@given(columns(kind=st.integers(0, 1)))
def test_the_area_is_scikit_learns(both):
    labels, scores = both
    assert auc(labels, scores) == pytest.approx(sklearn.metrics.roc_auc_score(labels, scores))


@given(columns(kind=st.integers(0, 1)))
def test_no_threshold_is_better_than_the_best(both):
    labels, scores = both
    threshold, accuracy = best_threshold(labels, scores)
    assert accuracy == ((scores >= threshold) == labels).mean()
    tried = [
        ((scores >= t) == labels).mean() for t in [*scores, scores.max() + 1, scores.min() - 1]
    ]
    assert accuracy == pytest.approx(max(tried))


@given(st.integers(0, 10**6))
def test_rows_are_columns_of_their_own(seed):
    x, y = np.random.default_rng(seed).integers(-5, 6, size=(2, 5, 12))  # with ties
    for function in (pearson, spearman):
        assert function(x, y) == pytest.approx([function(one, other) for one, other in zip(x, y)])
    labels = np.tile([0, 1, 1, 0], (5, 3))
    assert auc(labels, y) == pytest.approx([auc(one, other) for one, other in zip(labels, y)])


@pytest.mark.parametrize("statistic", [pearson, spearman, lambda x, y: (x - y).mean(axis=-1)])
@pytest.mark.parametrize("n", [15, 300])
def test_the_interval_is_scipys(statistic, n):
    generator = np.random.default_rng(n)
    x = generator.normal(size=n)
    y = x + generator.normal(size=n)
    value, low, high = bootstrap(statistic, x, y, repeats=500, seed=3)
    settings = {"paired": True, "method": "percentile", "n_resamples": 500, "vectorized": True}
    drawn = scipy.stats.bootstrap(
        (x, y), lambda x, y, axis: statistic(x, y), rng=np.random.default_rng(3), **settings
    )
    theirs = drawn.confidence_interval
    assert value == pytest.approx(statistic(x, y)) and (low, high) == pytest.approx(tuple(theirs))
    assert low < value < high


def test_many_resamples_come_in_blocks_and_are_the_same(monkeypatch):
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    whole = bootstrap(pearson, x, y, repeats=99)
    monkeypatch.setattr("course_utils.evaluation.BLOCK", 500)
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
def test_what_has_no_correlation_is_refused(x, y, words):
    for function in (pearson, spearman):
        with pytest.raises(ValueError, match=words):
            function(np.array(x, dtype=float), np.array(y, dtype=float))


@pytest.mark.parametrize("column", [["a", "b"], [None, 1], [1 + 2j, 3]])
def test_words_are_not_numbers(column):
    with pytest.raises(TypeError, match="argument 1 must hold numbers"):
        pearson(column, [1, 2])


@pytest.mark.parametrize("function", [auc, best_threshold])
def test_labels_need_two_classes(function):
    same = "all labels are {}; both"
    for labels, words in (
        ([0, 1, 2], "labels must be 0 or 1"),
        ([1] * 3, same.format(1)),
        ([0] * 3, same.format(0)),
    ):
        with pytest.raises(ValueError, match=words):
            function(labels, [0.1, 0.2, 0.3])


@pytest.mark.parametrize("settings", [{"repeats": 0}, {"level": 1}, {"level": 0}])
def test_impossible_settings_of_the_bootstrap_are_refused(settings):
    with pytest.raises(ValueError, match="repeats must be at least 1 and level"):
        bootstrap(pearson, [1, 2, 3], [1, 3, 2], **settings)


def test_of_equally_good_thresholds_the_lowest_is_taken():
    assert best_threshold([0, 1, 0, 1], [1, 2, 3, 4]) == (1.5, 0.75)  # 3.5 is as good
    threshold, accuracy = best_threshold([1, 0, 0], [1, 2, 3])
    assert threshold > 3 and accuracy == 2 / 3, "nothing is positive"
