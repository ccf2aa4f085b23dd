"""Exercises of lesson 08, a similarity benchmark. See `model.py` on cases and mistakes' swaps."""

import numpy as np
import torch
from scipy.stats import kendalltau, rankdata, spearmanr

from .model import Case, completion, exercise, mask_of


# n different whole numbers, as floats.
def _distinct(rng, n):
    return [float(value) for value in rng.sample(range(-50, 50), n)]


# Eight numbers: one value once, one twice, one five times.
def _tied(rng):
    return rng.sample(rng.sample([1.0, 2.0, 3.0, 4.0, 5.0], 3), 8, counts=(1, 2, 5))


def _spearman_cases(rng):
    x = _distinct(rng, rng.randint(8, 10))
    y = [value + rng.uniform(-30, 30) for value in x]
    # The highest of one column stands beside the lowest of the other. No other number is above 79.
    with_outlier = [4000.0 if first == min(x) else second for first, second in zip(x, y)]
    order, lower = rng.sample(range(9), 9), rng.randrange(8)
    # With two neighbours swapped, the correlation is 59/60: an answer that rounds the result, or
    # the numbers, is found out.
    neighbour = {lower: lower + 1, lower + 1: lower}
    return [
        Case("All numbers differ", x, y),
        Case("One is far from all others", x, with_outlier),
        Case("A curve that only rises is perfect, 1", x, [value**3 for value in x]),
        Case("A curve that only falls is −1", x, [-(value**3) for value in x]),
        Case("Equal numbers share the mean of their ranks", _tied(rng), _distinct(rng, 8)),
        Case("Equal numbers in both columns", _tied(rng), _tied(rng)),
        Case(
            "They differ only in the fifth decimal",
            [0.5 + 0.00001 * place for place in order],
            [neighbour.get(place, place) for place in order],
        ),
        Case("Lists of two numbers", _distinct(rng, 2), _distinct(rng, 2)),
    ]


def _spearman(x, y):
    x, y = rankdata(x, "average"), rankdata(y, "average")
    x, y = x - x.mean(), y - y.mean()
    together = float((x * y).sum())
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return together / scale


# swaps: the numbers themselves in place of their ranks
_NUMBERS = {f'rankdata({column}, "average")': f"np.array({column}, dtype=float)" for column in "xy"}

SPEARMAN = exercise("08-spearman", _spearman_cases, _spearman, points=2)(
    pearson=_NUMBERS,
    one_ranked=[{old: new} for old, new in _NUMBERS.items()],
    argsort={f'rankdata({column}, "average")': f"np.argsort({column})" for column in "xy"},
    ties_by_order=[
        {'"average"': '"ordinal"'},
        {f'rankdata({column}, "average")': f"np.argsort(np.argsort({column}))" for column in "xy"},
    ],
    ties_not_at_the_mean=[{'"average"': f'"{method}"'} for method in ("min", "max", "dense")],
    # right only where no two numbers are equal
    short_formula={
        "x - x.mean()": "x",
        "y - y.mean()": "y",
        "together / scale": "1 - 6 * float(((x - y) ** 2).sum()) / (len(x) ** 3 - len(x))",
    },
    not_centred={"x - x.mean()": "x", "y - y.mean()": "y"},
    opposite_ends=[{f"rankdata({column}": f"rankdata(-np.array({column})"} for column in "xy"],
    kendall=lambda x, y: float(kendalltau(x, y).statistic),
    not_the_correlation_alone=[
        lambda x, y: tuple(spearmanr(x, y)),
        lambda x, y: np.corrcoef(rankdata(x), rankdata(y)),
        lambda x, y: float(spearmanr(x, y).pvalue),
    ],
    # the covariance is divided by n - 1 and the deviations by n, or the other way round
    two_divisors=[
        {"/ scale": f"/ scale * {factor}"}
        for factor in ("len(x) / (len(x) - 1)", "(len(x) - 1) / len(x)")
    ],
    covariance=[{"/ scale": f"/ {count}"} for count in ("len(x)", "(len(x) - 1)")],
)


def _accuracy_on_test(train_values, train_labels, test_values, test_labels):
    values, labels = np.array(train_values), np.array(train_labels)
    candidates = np.sort(values)
    # a row for each candidate: which training pairs it calls similar
    called = values >= candidates[:, None]
    accuracies = (called == labels).mean(axis=1)
    best = candidates[accuracies.argmax()]  # of equally good ones the lowest
    similar = np.array(test_values) >= best
    return float((similar == np.array(test_labels)).mean())


# The two numbers of training pairs, and the unit of their values. All are powers of two, so shares
# and values are exact, also in float32: rounding does not decide which of two equally good
# thresholds is better, nor whether a value reaches the threshold.
FEW_PAIRS, MANY_PAIRS = 8, 16
UNIT = 1 / 128


def _shuffled(rng, values, labels):
    order = rng.sample(range(len(values)), len(values))
    return [values[place] for place in order], [labels[place] for place in order]


# Training values and labels, test values and labels, all at random.
def _random_pairs(rng):
    units = rng.sample(range(10, 110), rng.choice((FEW_PAIRS, MANY_PAIRS)))
    middle = rng.choice([40, 60, 100])  # in units: where the labels change, but for noise
    labels = [int(unit + rng.gauss(0, 40) > middle) for unit in units]
    values = [unit * UNIT for unit in units]
    test_values = [
        # a training value, which may be the threshold, or any other value
        rng.choice([rng.choice(values), round(rng.uniform(0.1, 0.9), 2)])
        for _ in range(rng.randint(8, 10))
    ]
    # the labels of the test pairs are drawn apart from their values
    return values, labels, test_values, rng.choices((0, 1), k=len(test_values))


# Random pairs, drawn again until every imitation of the mistakes of these names gives another
# accuracy than the right one.
def _pairs_that_expose(rng, *names):
    # THRESHOLD is defined below: it is there when cases are drawn
    mistakes = [mistake for mistake in THRESHOLD.mistakes if mistake.name in names]
    imitations = [imitate for mistake in mistakes for imitate in mistake.imitations]
    while True:
        arguments = _random_pairs(rng)
        accuracy = _accuracy_on_test(*arguments)
        # Some imitations need both labels among those to train on. Accuracies are shares of 8, 9,
        # 10 or 16 pairs: two that differ, differ by 1/144 or more.
        if set(arguments[1]) == {0, 1} and all(
            abs(imitate(*arguments) - accuracy) > 1e-3 for imitate in imitations
        ):
            return arguments


# Arguments: the most similar training pair is labelled 0, and its value is the best threshold.
def _most_similar_labelled_0(rng):
    # all differ: in units, each has another number of eighths behind the point
    low, *others, high = sorted(
        (rng.randint(12, 102) + eighths / 8) * UNIT for eighths in range(FEW_PAIRS)
    )
    return (
        # to train on: the lowest value is labelled 1, all others 0
        *_shuffled(rng, [low, *others, high], [1] + [0] * (len(others) + 1)),
        # to test
        [high, high, high + 0.05, high + 0.1, low - 0.02, others[0]],
        [1, 1, 1, 1, 0, 0],
    )


# Arguments: some test values lie just below the best threshold, the lowest training value that is
# labelled 1, and above the next lower value. similar: the number of training pairs labelled 1.
def _just_below(rng, similar):
    low, high = rng.sample(range(10, 40), FEW_PAIRS - similar), rng.sample(range(60, 90), similar)
    best, under = min(high) * UNIT, max(low) * UNIT
    return (
        *_shuffled(rng, [unit * UNIT for unit in low + high], [0] * len(low) + [1] * len(high)),
        # to test
        [best, best - 0.02, best - 0.0001, best + 0.04, under, under + 0.001],
        [1, 0, 0, 1, 0, 0],
    )


def _threshold_cases(rng):
    return [
        Case(
            "Test pairs for which another threshold would be best",
            *_pairs_that_expose(rng, "chosen_on_test", "training_accuracy"),
        ),
        Case("Values equal to the threshold", *_pairs_that_expose(rng, "greater_only")),
        Case("Several thresholds are equally good", *_pairs_that_expose(rng, "not_the_lowest")),
        Case("The best is neither 0.5 nor the mean", *_pairs_that_expose(rng, "labels_not_used")),
        Case(
            "A threshold above all would be best",
            *_pairs_that_expose(rng, "above_all", "other_measure"),
        ),
        Case("The most similar training pair is labelled 0", *_most_similar_labelled_0(rng)),
        Case("Test values just below the best threshold", *_just_below(rng, rng.randint(3, 5))),
        Case("The highest training value is the best threshold", *_just_below(rng, 1)),
    ]


# Halfway between neighbouring values; in source texts of mistakes.
def _between(values):
    values = np.unique(values)
    return (values[1:] + values[:-1]) / 2


THRESHOLD = exercise("08-threshold", _threshold_cases, _accuracy_on_test, points=2)(
    chosen_on_test=[
        {
            "np.array(train_values)": f"np.array({values})",
            "np.array(train_labels)": f"np.array({labels})",
            **more,
        }
        for values, labels, more in (
            ("test_values", "test_labels", {}),
            ("test_values", "test_labels", {"np.sort(values)": "np.sort(train_values)"}),
            ("train_values + test_values", "train_labels + test_labels", {}),
        )
    ],
    training_accuracy={
        "similar = np.array(test_values)": "similar = values",
        "== np.array(test_labels)": "== labels",
    },
    threshold_returned=[
        {"(similar == np.array(test_labels)).mean()": "best"},
        {"return ": "return float(best), "},
        {".mean())": ".mean()), float(best)"},
    ],
    greater_only=[
        {">=": ">"},
        {"values >= candidates": "values > candidates"},
        {">= best": "> best"},
    ],
    at_most={">=": "<="},
    # half of F1, precision, the number of hits, and recall less the share of false alarms; `clip`
    # keeps a divisor from being 0
    other_measure=[
        {"(called == labels).mean(axis=1)": measure}
        for measure in (
            "called @ labels / (called.sum(axis=1) + labels.sum()).clip(1)",
            "called @ labels / called.sum(axis=1).clip(1)",
            "called @ labels",
            "called @ (labels / labels.sum().clip(1) - (1 - labels) / (1 - labels).sum().clip(1))",
        )
    ],
    not_the_lowest=[
        {"np.sort(values)": other} for other in ("values", "values[::-1]", "np.sort(values)[::-1]")
    ],
    # one more candidate: far above all values, or hardly above
    above_all=[
        {"np.sort(values)": f"np.append(np.sort(values), values.max() + {more})"}
        for more in ("1", "1e-9")
    ],
    not_training_values=[
        {"np.sort(values)": other}
        for other in (
            "_between(values)",
            "np.append(values.min(), _between(values))",
            "np.hstack([values.min(), _between(values), values.max() + 1])",
            "np.sort(train_values + test_values)",
            "np.linspace(0, 1, 101)",
            "np.arange(101) / 100",
        )
    ],
    labels_not_used=[
        {"candidates[accuracies.argmax()]": other}
        for other in ("0.5", "values.mean()", "np.median(values)")
    ],
    lists_compared={
        "(called == labels).mean(axis=1)": "(called == labels).all(axis=1)",
        "(similar == np.array(test_labels)).mean()": "(similar == np.array(test_labels)).all()",
    },
)


# Scores, two models' similarities, and the number of the group of each row: four lists with a value
# for each row. The rows of a group resemble each other.
#
# sizes: the number of rows of each group. The second model is noisier than the first. The rows of a
# group do not stand together.
def _grouped(rng, *sizes):
    groups = rng.sample(range(len(sizes)), sum(sizes), counts=sizes)
    # from 0 to 5; those of groups all differ, so no resample is constant
    scores = [score / 10 for score in rng.sample(range(51), len(sizes))]
    # what each model says of a group; its rows differ from that by less, 0.8
    view_of_a, view_of_b = ([rng.gauss(score, spread) for score in scores] for spread in (1.5, 3))
    a = [round(rng.gauss(view_of_a[group], 0.8), 3) for group in groups]
    b = [round(rng.gauss(view_of_b[group], 0.8), 3) for group in groups]
    return [scores[group] for group in groups], a, b, groups


# Seven resamples, lists of `drawn` numbers of groups, each with at least three different groups:
# with two, a correlation of ranks may be no more than a sign.
def _draws(rng, groups, drawn):
    return [
        rng.sample(range(groups), 3) + rng.choices(range(groups), k=drawn - 3) for _ in range(7)
    ]


def _groups_cases(rng):
    # the sizes of seven groups
    uneven = 1, 2, 1, *rng.sample([1, 3, 4, 6], 4)
    draws = _draws(rng, 7, 7)
    return [
        Case("Three rows of each pair", *_grouped(rng, *[3] * 8), _draws(rng, 8, 8)),
        Case("Groups of different sizes", *_grouped(rng, *uneven), _draws(rng, 7, 7)),
        Case("Each row is a group of its own", *_grouped(rng, *[1] * 12), _draws(rng, 12, 12)),
        Case(
            "A group counts as often as it was drawn", *_grouped(rng, *uneven), _draws(rng, 7, 11)
        ),
        Case(
            "Equal rows",
            *(column + column[:6] for column in _grouped(rng, *uneven)),
            _draws(rng, 7, 7),
        ),
        Case("Some resamples draw the same groups", *_grouped(rng, *uneven), draws + 3 * draws[:3]),
    ]


# Spearman's correlation of the first row of a table with each other row: an array with one number
# fewer than the table has rows. With `np.positive`, which changes nothing, in place of `np.sign`
# it is Pearson's.
#
# The signs of a number's differences from all n numbers of its row add up to 2 * rank - n - 1: its
# rank, centred and doubled. The differences themselves add up to n times the centred number. No
# factor changes a correlation.
def _agreements(table, weigh=np.sign):
    centred = weigh(table[:, :, None] - table[:, None]).sum(axis=2)
    squares = (centred * centred).sum(axis=1)
    # some mistakes take rows of one group only, whose scores are equal
    with np.errstate(invalid="ignore"):
        return centred[1:] @ centred[0] / np.sqrt(squares[1:] * squares[0])


def _grouped_gain(gold, a, b, groups, draws):
    table = np.array([gold, a, b], dtype=float)
    groups = np.array(groups)
    members = [np.flatnonzero(groups == group) for group in range(max(groups) + 1)]
    agreements = []
    for drawn in draws:
        rows = np.concatenate([members[group] for group in drawn])
        agreements.append(_agreements(table[:, rows]))
    of_a, of_b = np.transpose(agreements)
    differences = of_a - of_b
    return np.percentile(differences, [2.5, 97.5]).tolist()


GROUPS = exercise("08-groups", _groups_cases, _grouped_gain, points=2)(
    draws_as_rows={"np.concatenate([members[group] for group in drawn])": "np.array(drawn)"},
    groups_once={"in drawn": "in set(drawn)"},
    one_row_each=[{"== group)": f"== group)[{kept}]"} for kept in (":1", "-1:")],
    group_means={
        "np.array(groups)": "np.array(groups)\n"
        "    table = [np.bincount(groups, column) / np.bincount(groups) for column in table]\n"
        "    table = np.array(table)\n"
        "    groups = np.arange(max(groups) + 1)"
    },
    ends_subtracted=[
        {"(differences, [2.5, 97.5])": f"(of_a, [2.5, 97.5]) - np.percentile(of_b, {ends})"}
        for ends in ("[97.5, 2.5]", "[2.5, 97.5]")
    ],
    pearson={"table[:, rows]": "table[:, rows], np.positive"},
    subtracted_reversed={"of_a - of_b": "of_b - of_a"},
    other_percentiles=[
        {"[2.5, 97.5]": other} for other in ("[5, 95]", "[0, 100]", "[0.025, 0.975]")
    ],
    absolute={"differences, [": "abs(differences), ["},
    normal_interval={
        "np.percentile(differences, [2.5, 97.5])": (
            "(differences.mean() + differences.std() * np.array([-1.96, 1.96]))"
        )
    },
    # The rows of a group are taken to stand together: in blocks of the mean size, or from the first
    # row of the group on.
    equal_blocks=[
        {"np.flatnonzero(groups == group)": f"({block}) % len(groups)"}
        for block in (
            "len(groups) // (max(groups) + 1) * group"
            " + np.arange(len(groups) // (max(groups) + 1))",
            "np.argmax(groups == group) + np.arange((groups == group).sum())",
        )
    ],
)


def _paired_cases(rng):
    generator = np.random.default_rng(rng.randrange(2**32))
    rows = 12
    # sharing: the number of rows that have the same score
    for label, sharing in (("Two models that differ", 1), ("Equal scores share a rank", 3)):
        gold = np.floor(generator.permutation(rows) / sharing)
        # the noise of the two models, as a share of the range of scores
        close, far = (
            gold + generator.normal(0, share * rows / sharing, rows) for share in (0.15, 0.5)
        )
        # 20 resamples of the rows
        yield Case(label, gold, close, far, generator.integers(rows, size=(20, rows)))
    # the same scores and models, exchanged
    yield Case(
        "The second model is ahead", gold, far, close, generator.integers(rows, size=(20, rows))
    )


def _paired_interval(gold, a, b, draws):
    differences = []
    for rows in draws:
        of_a, of_b = _agreements(np.array([gold[rows], a[rows], b[rows]]))
        differences.append(of_a - of_b)
    return np.percentile(differences, [2.5, 97.5])


PAIRED_GAIN = completion("08-paired-gain", _paired_cases, _paired_interval)(
    all_rows_each_time={"[rows]": ""},
    subtracted_reversed={"of_a - of_b": "of_b - of_a"},
    pearson={"b[rows]])": "b[rows]]), np.positive"},
    one_model=[
        {"of_a - of_b": "of_a"},
        {"of_a - of_b": "of_b"},
        {"of_a - of_b": "of_a - _agreements(np.array([gold, b]))[0]"},
    ],
    columns_apart=[
        {"gold[rows]": "gold"},
        {"a[rows]": "a"},
        {"b[rows]": "b"},
        {"a[rows]": "a", "b[rows]": "b"},
    ],
    model_against_model={"of_a - of_b": "_agreements(np.array([a[rows], b[rows]]))[0]"},
    absolute={"of_a - of_b": "abs(of_a - of_b)"},
    rows_once={"in draws": "in map(np.unique, draws)"},
)


def _inner_cases(rng):
    for label, lengths, most_padding_columns in (
        ("Padding on the right", [5, 3, 4], 2),
        ("No padding", [4, 4], 0),
        ("Nothing between", [2, 6], 2),
    ):
        yield Case(label, mask_of(lengths, max(lengths) + rng.randint(0, most_padding_columns)))


def _inner_mask(attention_mask):
    inner = attention_mask.clone()
    rows = torch.arange(len(attention_mask))
    last = attention_mask.sum(dim=1) - 1
    inner[:, 0] = 0
    inner[rows, last] = 0
    return inner


INNER_MASK = completion("08-inner-mask", _inner_cases, _inner_mask)(
    last_column={"[rows, last]": "[:, -1]"},
    beside_the_last=[{" - 1": ""}, {" - 1": " - 2"}],
    every_row={"[rows, last]": "[:, last]"},
    last_kept={"inner[rows, last] = 0": ""},
    a_row_left_out=[
        {"[rows, last]": f"[rows[{kept}], last[{kept}]]"} for kept in (":-1", "1:", "0")
    ],
)


def _baseline_cases(rng):
    for label, similar, other in (
        ("Few similar pairs", 2, 8),
        ("Mostly similar pairs", 8, 2),
        ("As many of both", 5, 5),
        ("One similar pair", 1, 15),
    ):
        labels = [1] * similar + [0] * other
        rng.shuffle(labels)
        # similar pairs have higher cosines, but for chance; multiples of 1/64 are exact in float32
        values = [rng.choice(range(20, 60)) / 64 + 0.25 * label for label in labels]
        yield Case(label, np.array(values), np.array(labels), rng.choice(values))


def _accuracy_and_baseline(values, labels, threshold):
    called = values >= threshold
    accuracy = float((called == labels).mean())
    similar = float(labels.mean())
    return accuracy, max(similar, 1 - similar)


BASELINE = completion("08-baseline", _baseline_cases, _accuracy_and_baseline)(
    one_answer_only=[{"max(similar, 1 - similar)": only} for only in ("similar", "1 - similar")],
    worse_answer={"max": "min"},
    one_half={"max(similar, 1 - similar)": "0.5"},
    of_the_cosines=[
        {"labels.mean()": "called.mean()"},
        {"float(labels.mean())": "accuracy"},
        {"max(similar, 1 - similar)": "1 - accuracy"},
    ],
    count={"max(similar,": "len(labels) * max(similar,"},
    answer_returned={"max(similar, 1 - similar)": "float(similar >= 0.5)"},
)
