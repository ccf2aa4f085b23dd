"""Exercises of lesson 14, the capstone: a search engine for documentation.

See `model.py` on cases and mistakes' swaps.
"""

import numpy as np

from .model import Case, completion, exercise
from .search_engine import FIND, JUDGE  # noqa: F401  two of this lesson's exercises


# The threshold at which the share of answered queries that reach it and the share of others that
# stay below it have the largest sum; of several, the highest.
def _threshold(answered, unanswered):
    best, most = None, -1  # less than any value
    for threshold in sorted([*answered, *unanswered]):
        shown = sum(score >= threshold for score in answered)
        rejected = sum(score < threshold for score in unanswered)
        # the sum of both shares, times both lengths: whole numbers, so that ties are exact
        value = shown * len(unanswered) + rejected * len(answered)
        if value >= most:  # also when equal: thresholds rise, and the highest counts
            best, most = threshold, value
    return best


def _threshold_cases(rng):
    # scores are 64ths, moved by less than one, so that they differ with the seed: all exact, even
    # in float32
    shift = rng.randrange(1, 16, 2) / 1024

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
        "value >= most": "shown + rejected >= most",
        "threshold, value": "threshold, shown + rejected",
    },
    lowest_of_ties={"value >= most": "value > most"},
    equal_hidden=[
        {"score >= threshold": "score > threshold", "score < threshold": "score <= threshold"},
        {"score >= threshold": "score > threshold"},
        {"score < threshold": "score <= threshold"},
    ],
    one_group_only=[
        {"return best": "return min(answered)"},
        {"return best": "return max(unanswered)"},
    ],
    not_among_scores=[
        {"return best": "return (np.mean(answered) + np.mean(unanswered)) / 2"},
        {"return best": "return np.mean([*answered, *unanswered])"},
        {"return best": "return np.median([*answered, *unanswered])"},
        # halfway to the next lower score
        {
            "return best": "return (best + max([score for score in answered + unanswered "
            "if score < best], default=best)) / 2"
        },
        {"return best": "return (min(answered) + max(unanswered)) / 2"},
        # thresholds in equal steps from 0 to 1
        {"[*answered, *unanswered]": "[step / 20 for step in range(21)]"},
        {"[*answered, *unanswered]": "[step / 100 for step in range(101)]"},
        {"[*answered, *unanswered]": "[step / 1000 for step in range(1001)]"},
        # a threshold above all scores, too
        {"[*answered, *unanswered]": "[np.inf, *answered, *unanswered]"},
    ],
    groups_exchanged={"(answered, unanswered)": "(unanswered, answered)"},  # the parameters
    # the sum of both shares, or their mean
    value_returned=[
        {"return best": "return most / len(answered) / len(unanswered)"},
        {"return best": "return most / len(answered) / len(unanswered) / 2"},
    ],
    all_shown={"score < threshold": "score >= threshold"},
    precision=[
        {
            "shown * len(unanswered) + rejected * len(answered)": (
                "shown / (shown + len(unanswered) - rejected)"
            )
        },
        {  # half of F1
            "shown * len(unanswered) + rejected * len(answered)": (
                "shown / (shown + len(unanswered) - rejected + len(answered))"
            )
        },
    ],
)


def _symptoms(queries, texts, k, lengths=None):
    """What a search with each of the four symptoms returns, and a "fine" one, by the word for it.

    queries, texts: vectors, (number, hidden). lengths: divisors of the dot products, if these are
    not the lengths of the texts' vectors. Each result has the places of k texts for each query,
    (queries, k); a place that is "shifted" may be behind the last text.
    """
    lengths = np.linalg.norm(texts, axis=1) if lengths is None else lengths
    dots = queries @ texts.T
    right = np.argsort(-dots / lengths, axis=1)[:, :k]
    return {
        "fine": right,
        "lengths": np.argsort(-dots, axis=1)[:, :k],
        "reversed": right[:, ::-1],
        "shifted": right + 1,
        "stuck": np.repeat(right[:1], len(queries), axis=0),
    }


# The word of the symptom whose lists are `found`, or "fine". compared: what is made of all lists
# before they are compared; only imitations of mistakes set it.
def _diagnose(queries, texts, found, compared=np.asarray):
    lists = _symptoms(queries, texts, k=len(found[0]))
    for word in ("fine", "lengths", "reversed", "shifted", "stuck"):
        if np.array_equal(compared(lists[word]), compared(found)):
            return word
    return "fine"


def _plane(angles, lengths):
    """Vectors of two numbers, float32 (n, 2), from n angles in radians and their lengths.

    lengths: n, or one for all.
    """
    return (lengths * np.stack([np.cos(angles), np.sin(angles)])).T.astype(np.float32)


def _diagnose_cases(rng):
    labels = {
        "fine": "A search that works, on vectors of any length",
        "lengths": "Long vectors score high, for some query",
        "reversed": "The best comes last",
        "shifted": "Every place is one too high",
        "stuck": "The results of the first query, for all",
    }
    # angles in degrees, lengths of the texts' vectors, places in each list
    for query_angles, text_angles, lengths, k in (
        # By the dot product, only two texts in the middle of the second list change places. The
        # last text is in no list.
        ([210, 330, 260], [300, 340, 210, 330, 250, 290, 70], [1, 1, 1, 1.2, 1.1, 1.2, 1.1], 5),
        # By the dot product, all lists are the same. The last text is in one that is right.
        ([205, 230], [290, 330, 180, 50, 260, 160], [50, 50, 1, 0.5, 2, 0.5], 2),
    ):
        turn = rng.uniform(0, 360)  # all vectors are turned by it, so that their cosines stay
        # in any order, but the last text stays last: a shifted place is behind it in the second
        # case only
        order = [*rng.sample(range(len(lengths) - 1), len(lengths) - 1), -1]
        queries = _plane(np.radians(np.add(query_angles, turn)), rng.uniform(0.5, 3))
        texts = _plane(np.radians(np.add(text_angles, turn)), lengths)[order]
        for word, places in _symptoms(queries, texts, k).items():
            yield Case(labels[word], queries, texts, places.tolist())


def _where_none_matches(swaps, *words):
    """For each word, the swaps in `_diagnose`, which then says this word where no list matches."""
    return [{**swaps, 'return "fine"': f'return "{word}"'} for word in words]


DIAGNOSE = exercise("14-diagnose", _diagnose_cases, _diagnose, points=3)(
    reversed_missed=_where_none_matches({', "reversed"': ""}, "fine", "lengths", "stuck"),
    lengths_missed=_where_none_matches({', "lengths"': ""}, "fine", "shifted", "stuck"),
    shift_missed=[
        *_where_none_matches({', "shifted"': ""}, "fine", "lengths", "stuck"),
        # seen only where a place is beyond the last text
        {
            "if np.array_equal": (
                'if (word != "shifted" or np.max(found) == len(texts)) and np.array_equal'
            )
        },
    ],
    stuck_missed=_where_none_matches({', "stuck"': ""}, "fine", "lengths", "shifted"),
    first_query_only={
        "queries, texts, k=": "queries[:1], texts, k=",
        "compared(found)": "compared(found[:1])",
    },
    order_ignored=[
        # All lists are compared without their order, or by their first places alone. These are
        # functions, for swaps would be tried together with other mistakes: that would take long, or
        # explain too much.
        lambda queries, texts, found: _diagnose(queries, texts, found, compared=np.sort),
        lambda queries, texts, found: _diagnose(
            queries, texts, found, compared=lambda lists: np.array(lists)[:, 0]
        ),
        # if the first places are right, the search is fine
        lambda queries, texts, found: (
            "fine"
            if np.array_equal(_symptoms(queries, texts, k=1)["fine"], np.array(found)[:, :1])
            else _diagnose(queries, texts, found)
        ),
    ],
    dots_for_cosines=[
        *_where_none_matches(
            {"len(found[0])": "len(found[0]), lengths=1"}, "lengths", "shifted", "stuck"
        ),
        # the lists by dot products and by cosines, exchanged
        {"lists[word]": 'lists[{"lengths": "fine", "fine": "lengths"}.get(word, word)]'},
    ],
    stuck_by_equal_lists=lambda queries, texts, found: (
        "stuck" if all(places == found[0] for places in found) else _diagnose(queries, texts, found)
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


# {owner: the highest cosine of its chunks}; owners: the text of each chunk.
def _best_chunk(cosines, owners):
    scores: dict[int, float] = {}
    for cosine, owner in zip(cosines, owners):
        before = scores.get(owner, cosine)
        scores[owner] = max(before, cosine)
    return scores


BEST_CHUNK = completion("14-best-chunk", _best_chunk_cases, _best_chunk)(
    last_kept={"max(before, cosine)": "cosine"},
    first_kept={"max(before, cosine)": "before"},
    zero_to_begin={"scores.get(owner, cosine)": "scores.get(owner, 0)"},
    worst_kept={"max(before, cosine)": "min(before, cosine)"},
    averaged={"max(before, cosine)": "(before + cosine) / 2"},
    added={
        "scores.get(owner, cosine)": "scores.get(owner, 0)",
        "max(before, cosine)": "before + cosine",
    },
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


# Halfway from the threshold to the next lower score.
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
