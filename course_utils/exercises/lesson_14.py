"""Exercises of lesson 14, the capstone: a search engine for documentation.

See `model.py` on how an exercise is written.
"""

import math  # noqa: F401  in the text of mistakes

import numpy as np

from .model import Case, completion, exercise
from .otherwise import alone
from .search_engine import FIND, JUDGE  # noqa: F401  two of this lesson's exercises


def _threshold(answered, unanswered):
    best, most = None, -1
    for tried in sorted([*answered, *unanswered]):
        shown = sum(score >= tried for score in answered)
        away = sum(score < tried for score in unanswered)
        value = shown * len(unanswered) + away * len(answered)  # both shares, times both lengths
        if value >= most:
            best, most = tried, value
    return best


def _threshold_cases(rng):
    shift = rng.randrange(1, 16, 2) / 1024  # exact in float32, too

    def moved(scores):
        return [score / 64 + shift for score in scores]

    for label, answered, unanswered in (
        # The size of each group is a power of two, so sums of shares are exact: rounding does not
        # decide.
        ("The two groups are far apart", [40, 33, 51, 35], [11, 20]),
        ("Many queries with an answer, few without", [44, 20, 51, 22, 39, 48, 25, 42], [30, 28]),
        ("Several thresholds are equally good", [30, 40], [20, 35]),
        ("An answer that scores lower than what has none", [8, 40, 40, 56], [16, 24, 28, 32]),
        ("A score that occurs in both groups", [29, 48], [29, 16, 24, 8]),
        ("The group without an answer scores higher", [8, 12, 16, 24], [40, 48]),
        ("One query in each group", [45], [14]),
        ("Negative scores", [-8, 16], [-24, -16]),
    ):
        yield Case(label, moved(answered), moved(unanswered))


THRESHOLD = exercise("14-threshold", _threshold_cases, _threshold, points=2)(
    decisions_counted={
        "value >= most": "shown + away >= most",
        "tried, value": "tried, shown + away",
    },
    lowest_of_ties={"value >= most": "value > most"},
    equal_hidden=[
        {"score >= tried": "score > tried", "score < tried": "score <= tried"},
        {"score >= tried": "score > tried"},
        {"score < tried": "score <= tried"},
    ],
    one_group_only=[
        {"return best": "return min(answered)"},
        {"return best": "return max(unanswered)"},
    ],
    not_among_scores=[
        {"return best": f"return {other}"}
        for other in (
            "(np.mean(answered) + np.mean(unanswered)) / 2",
            "np.mean([*answered, *unanswered])",
            "np.median([*answered, *unanswered])",
            "(best + max([n for n in answered + unanswered if n < best], default=best)) / 2",
            "(min(answered) + max(unanswered)) / 2",
        )
    ]
    + [
        {"[*answered, *unanswered]": f"[{others}]"}
        for others in (
            *(f"n / {n} for n in range({n} + 1)" for n in (20, 100, 1000)),
            "math.inf, *answered, *unanswered",
        )
    ],
    groups_exchanged={
        "best, most = None": "answered, unanswered = unanswered, answered\n    best, most = None"
    },
    value_returned=[
        {"return best": f"return most / len(answered) / len(unanswered){more}"}
        for more in ("", " / 2")
    ],
    all_shown={"score < tried": "score >= tried"},
    precision=[
        {"value =": f"value = shown / (shown + len(unanswered) - away{or_f1})\n        _ ="}
        for or_f1 in ("", " + len(answered)")
    ],
)


def _top(scores, k):
    return np.argsort(-scores, axis=1)[:, :k]


# What a search with each of the five symptoms returns, by its word.
#
# lengths: those by which dot products are divided, if not the texts'.
def _symptoms(queries, texts, k, lengths=None):
    lengths = np.linalg.norm(texts, axis=1) if lengths is None else lengths
    dots = queries @ texts.T
    right = _top(dots / lengths, k)
    return {
        "fine": right,
        "lengths": _top(dots, k),
        "reversed": right[:, ::-1],
        "shifted": right + 1,
        "stuck": np.repeat(right[:1], len(queries), axis=0),
    }


def _diagnose(queries, texts, found):
    k = len(found[0])
    lists = _symptoms(queries, texts, k)
    words = ["fine", "lengths", "reversed", "shifted", "stuck"]
    said = [word for word in words if np.array_equal(lists[word], found)]
    return said[0] if said else "fine"


# Vectors of two numbers, from their angles in degrees and their lengths.
def _plane(angles, lengths):
    turned = np.radians(angles)
    return (lengths * np.stack([np.cos(turned), np.sin(turned)])).T.astype(np.float32)


def _diagnose_cases(rng):
    labels = {
        "fine": "A search that works, on vectors of any length",
        "lengths": "Long vectors score high, for some query",
        "reversed": "The best comes last",
        "shifted": "Every place is one too high",
        "stuck": "The results of the first query, for all",
    }
    for of_queries, of_texts, lengths, k in (
        # By the dot product, only two texts in the middle of the second list change places. The
        # last text is in no list.
        ([210, 330, 260], [300, 340, 210, 330, 250, 290, 70], [1, 1, 1, 1.2, 1.1, 1.2, 1.1], 5),
        # By the dot product, all lists are the same. The last text is in one that is right.
        ([205, 230], [290, 330, 180, 50, 260, 160], [50, 50, 1, 0.5, 2, 0.5], 2),
    ):
        turn = rng.uniform(0, 360)
        others = range(len(lengths) - 1)
        order = [*rng.sample(others, len(others)), -1]
        queries = _plane(np.add(of_queries, turn), rng.uniform(0.5, 3))
        texts = _plane(np.add(of_texts, turn), lengths)[order]
        for word, places in _symptoms(queries, texts, k).items():
            yield Case(labels[word], queries, texts, places.tolist())


DIAGNOSE = exercise("14-diagnose", _diagnose_cases, _diagnose, points=3)(
    reversed_missed=[
        {'"reversed", ': "", 'else "fine"': f'else "{word}"'}
        for word in ("fine", "lengths", "stuck")
    ],
    lengths_missed=[
        {'"lengths", ': "", 'else "fine"': f'else "{word}"'}
        for word in ("fine", "shifted", "stuck")
    ],
    shift_missed=[
        *(
            {'"shifted", ': "", 'else "fine"': f'else "{word}"'}
            for word in ("fine", "lengths", "stuck")
        ),
        {"[word], found)": '[word], found) and (word != "shifted" or np.max(found) == len(texts))'},
    ],
    stuck_missed=[
        {', "stuck"': "", 'else "fine"': f'else "{word}"'}
        for word in ("fine", "lengths", "shifted")
    ],
    first_query_only={"k = len": "queries, found = queries[:1], found[:1]\n    k = len"},
    order_ignored=[
        alone(
            _diagnose,
            (
                "said = [",
                'said = ["fine"] * np.array_equal(np.sort(lists["fine"]), np.sort(found)) + [',
            ),
        ),
        alone(
            _diagnose,
            ("said = [", 'said = ["fine"] * all(lists["fine"][:, 0] == np.array(found)[:, 0]) + ['),
        ),
        alone(_diagnose, ("(lists[word], found)", "(lists[word][:, 0], np.array(found)[:, 0])")),
    ],
    dots_for_cosines=[
        *(
            {"texts, k)": "texts, k, lengths=1)", 'else "fine"': f'else "{word}"'}
            for word in ("lengths", "shifted", "stuck")
        ),
        {
            "words =": 'lists["fine"], lists["lengths"] = lists["lengths"], lists["fine"]\n    words ='
        },
    ],
    stuck_by_equal_lists=alone(
        _diagnose,
        ("said = [", 'said = ["stuck"] * all(places == found[0] for places in found) + ['),
    ),
)


def _best_chunk_cases(rng):
    return [
        Case("One chunk of each text", [rng.random(), rng.random()], [0, 1]),
        Case(
            "The best chunk is neither the first nor the last",
            [0.2, 0.1, rng.uniform(0.5, 0.9), 0.15],
            [4] * 4,
        ),
        Case("Two texts in turn", [rng.uniform(-0.2, 0.9) for _ in range(6)], [0, 1] * 3),
        Case("All cosines are below 0", [-rng.random(), -rng.random()], [2, 2]),
        Case("The best cosine is 0", [0.0, -rng.random()], [3, 3]),
    ]


def _best_chunk(cosines, owners):
    scores: dict[int, float] = {}
    for cosine, owner in zip(cosines, owners):
        before = scores.get(owner, cosine)
        scores[owner] = max(before, cosine)
    return scores


BEST_CHUNK = completion("14-best-chunk", _best_chunk_cases, _best_chunk)(
    last_kept={"max(before, cosine)": "cosine"},
    first_kept={"max(before, cosine)": "before"},
    zero_to_begin={"owner, cosine)": "owner, 0)"},
    worst_kept={"max(": "min("},
    averaged={"max(before, cosine)": "(before + cosine) / 2"},
    added={"owner, cosine)": "owner, 0)", "max(before, cosine)": "before + cosine"},
    best_of_all={"max(before, cosine)": "max(cosines)"},
)


def _margin_cases(rng):
    return [
        Case(
            "Several scores are lower", 0.6, [rng.uniform(0, 0.5), -0.8, rng.uniform(0, 0.5), 0.6]
        ),
        Case("The threshold lies between scores", 0.45, [0.3, rng.uniform(0.5, 0.9)]),
        Case("The next lower score is below 0", 0.2, [-rng.uniform(0.1, 0.5), 0.2, 0.7]),
        Case(
            "Scores above 1, as dot products can be", 7.6, [rng.uniform(4.2, 4.8), 7.6, 11.3, 2.5]
        ),
    ]


def _with_margin(threshold, scores):
    lower = max(score for score in scores if score < threshold)
    return (threshold + lower) / 2


MARGIN = completion("14-margin", _margin_cases, _with_margin)(
    gap_halved={"threshold + lower": "threshold - lower"},
    brackets_missing={"(threshold + lower) / 2": "threshold + lower / 2"},
    moved_up={"(threshold + lower) / 2": "threshold + (threshold - lower) / 2"},
    lowest_of_all={"max(score for score in scores if score < threshold)": "min(scores)"},
    cut_to_whole={"/ 2": "// 2"},
    whole_way={"(threshold + lower) / 2": "lower"},
)
