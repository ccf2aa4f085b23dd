"""Answers to lesson 14; `__init__.py` says what the tables are."""

from bisect import bisect_left
from fractions import Fraction
from functools import reduce

import numpy as np
import pandas as pd
import torch

from course_utils import embed, search
from course_utils.benchmark import glove_vectors
from course_utils.ranking import bm25


def judged(found, grades, k):
    def gain(numbers):
        return sum(number / np.log2(1 + rank) for rank, number in enumerate(numbers[:k], 1))

    values = []
    for query, graded in grades.items():
        if any(graded.values()):
            reached = gain([graded.get(name, 0) for name in found.get(query, [])])
            values.append(reached / gain(sorted(graded.values(), reverse=True)))
    return sum(values) / len(values) if values else 0


# How many queries are decided rightly at a threshold, those of each kind times a weight. With
# 1 / (number of queries of the kind) as weights it is the sum of the two shares.
def right_decisions(answered, unanswered, threshold, answered_weight=1, unanswered_weight=1):
    return (
        sum(score >= threshold for score in answered) * answered_weight
        + sum(score < threshold for score in unanswered) * unanswered_weight
    )


def best_threshold(answered, unanswered):
    shares = Fraction(1, len(answered)), Fraction(1, len(unanswered))
    return max(
        answered + unanswered,
        key=lambda threshold: (
            right_decisions(answered, unanswered, threshold, *shares),
            threshold,
        ),
    )


def vectors(sentences):
    """As `embed`, but from the vectors that the check has stored: encoding its texts takes seconds.

    Not for the first answers of each kind: they also run in the grader's sandbox, which has no
    check.
    """
    from course_utils.exercises.search_engine import _embedded

    return _embedded(sentences, "mean")


def find_near(queries, texts, k, encode=vectors):
    places, _ = search(encode(queries), encode(texts), k)
    return places.tolist()


# Another right way: cosines, and shared words with a weight so small that the target is still met.
def find_and_words(queries, texts, k):
    scores = vectors(queries) @ vectors(texts).T + 0.02 * bm25(queries, texts)
    return np.argsort(-scores, axis=1)[:, :k]


def find_glove(queries, texts, k):
    # 1e-9, since a text without a known word has a vector of zeros
    cosines = glove_vectors(queries) @ unit(glove_vectors(texts) + 1e-9).T
    return np.argsort(-cosines, axis=1)[:, :k].tolist()


# A right answer, except that `change` is applied to each of its lists.
def near_changed_by(change):
    return lambda *args: [change(places) for places in find_near(*args)]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def diagnose_by_symptoms(queries, texts, found):
    found, k = np.array(found), len(found[0])
    cosines = unit(queries.astype(np.float64)) @ unit(texts.astype(np.float64)).T
    right = (-cosines).argsort(1)[:, :k]
    symptoms = {
        "fine": right,
        "shifted": right + 1,
        "reversed": right[:, ::-1],
        "stuck": right[:1].repeat(len(queries), axis=0),
    }
    words = [word for word, places in symptoms.items() if np.array_equal(found, places)]
    return words[0] if words else "lengths"


# An answer that says "fine" if these places of each list are right; the others do not count.
def diagnose_by_places(*places):
    def diagnose(queries, texts, found):
        right = (-(unit(queries) @ unit(texts).T)).argsort(1)[:, : len(found[0])]
        as_right = (right[:, places] == np.array(found)[:, places]).all()
        return "fine" if as_right else diagnose_by_symptoms(queries, texts, found)

    return diagnose


RIGHT = {
    "14-judge": [
        judged,
        lambda *args: torch.tensor(judged(*args), dtype=torch.float32),
        lambda *args: np.array(judged(*args)),
    ],
    "14-threshold": [
        best_threshold,
        lambda answered, unanswered: max(  # with shares in floats
            answered + unanswered,
            key=lambda threshold: (
                right_decisions(
                    answered, unanswered, threshold, 1 / len(answered), 1 / len(unanswered)
                ),
                threshold,
            ),
        ),
        lambda *args: np.array(best_threshold(*args)),
    ],
    "14-search": [
        # encodes by itself: it runs in the sandbox, too, where no check has stored vectors
        lambda *args: find_near(*args, encode=embed),
        lambda queries, texts, k: (
            (torch.from_numpy(vectors(queries)) @ torch.from_numpy(vectors(texts)).T)
            .topk(k)
            .indices
        ),
        find_and_words,
    ],
    "14-diagnose": [
        diagnose_by_symptoms,
        lambda *args: np.array(diagnose_by_symptoms(*args)),
        lambda *args: np.str_(diagnose_by_symptoms(*args)),
    ],
}

COMPLETED = {
    # {text: its highest cosine}; `owners` has the text of each piece
    "14-best-chunk": [
        lambda cosines, owners: {
            text: max(cosine for cosine, owner in zip(cosines, owners) if owner == text)
            for text in owners
        },
        # sorted by cosine within each text: the last, highest one stays
        lambda cosines, owners: dict(sorted(zip(owners, cosines))),
        lambda cosines, owners: pd.Series(cosines).groupby(owners).max().to_dict(),
        lambda cosines, owners: {
            text: np.array(cosines)[np.array(owners) == text].max() for text in np.unique(owners)
        },
        lambda cosines, owners: {
            text: torch.tensor(cosines)[torch.tensor(owners) == text].amax() for text in {*owners}
        },
        # a pair is (cosine, text); no cosine is below -1
        lambda cosines, owners: reduce(
            lambda scores, pair: scores | {pair[1]: max(pair[0], scores.get(pair[1], -1))},
            zip(cosines, owners),
            {},
        ),
    ],
    # the middle between the threshold and the next lower score; no score is below -1
    "14-margin": [
        lambda threshold, scores: np.mean(
            [threshold, max(score for score in scores if score < threshold)]
        ),
        lambda threshold, scores: (
            threshold - min(threshold - score for score in scores if score < threshold) / 2
        ),
        lambda threshold, scores: (
            0.5 * threshold + 0.5 * sorted(scores)[bisect_left(sorted(scores), threshold) - 1]
        ),
        lambda threshold, scores: (
            threshold / 2 + np.max(scores, where=np.array(scores) < threshold, initial=-1) / 2
        ),
        lambda threshold, scores: (
            torch.tensor([score for score in scores if score < threshold])
            .max()
            .lerp(torch.tensor(threshold), 0.5)
        ),
        lambda threshold, scores: (
            # the last two are the threshold and the score below it
            sum(map(Fraction, sorted({threshold, *(s for s in scores if s < threshold)})[-2:])) / 2
        ),
    ],
}

WRONG = {
    "14-judge": [
        (  # drops the queries that were not searched for, which count 0
            lambda found, grades, k: judged(
                found, {query: graded for query, graded in grades.items() if query in found}, k
            ),
            "not searched for",
        )
    ],
    "14-threshold": [
        (  # adds up counts, not shares
            lambda answered, unanswered: max(
                answered + unanswered,
                key=lambda threshold: (right_decisions(answered, unanswered, threshold), threshold),
            ),
            "*shares*",
        )
    ],
    "14-search": [
        # a search that works, but with averaged word vectors
        (find_glove, "and the target is 0.56"),
        (  # returns both the places and the cosines
            lambda queries, texts, k: search(vectors(queries), vectors(texts), k),
            "returned two things",
        ),
        (  # returns each place in a pair with a score
            lambda queries, texts, k: [
                [[place, 0.5] for place in places] for places in find_near(queries, texts, k)
            ],
            "whole numbers is asked for",
        ),
        (  # returns all texts, not k
            lambda queries, texts, k: find_near(queries, texts, len(texts)),
            "a list of 10 whole numbers",
        ),
        # returns iterators: of the lists, and of the places in each
        (lambda *args: iter(find_near(*args)), "whole numbers is asked for"),
        (lambda *args: [*map(iter, find_near(*args))], "whole numbers is asked for"),
        # returns only the first query's list
        (lambda *args: find_near(*args)[0], "whole numbers is asked for"),
    ],
    "14-diagnose": [
        (
            lambda queries, texts, found: diagnose_by_symptoms(queries[:1], texts, found[:1]),
            "first query only",
        )
    ],
}

# words of the exercise's text, an answer that breaks them, and sometimes words of its message
PROMISES = {
    "14-judge": [
        (  # raises IndexError for an empty list of names
            "a list may be empty",
            lambda found, grades, k: judged(
                {query: names for query, names in found.items() if names[0]}, grades, k
            ),
        ),
        (  # raises ValueError for a query without grades
            "it may be empty",
            lambda found, grades, k: judged(
                found,
                {query: graded for query, graded in grades.items() if max(graded.values()) >= 0},
                k,
            ),
        ),
        (  # raises KeyError if more queries were searched for than have grades
            "one that `grades` lacks is left out",
            lambda found, grades, k: judged(
                found,
                {query: grades[query] for query in found} if len(found) > len(grades) else grades,
                k,
            ),
        ),
        (  # returns None if no query is left
            "0 if none is left",
            lambda found, grades, k: (
                judged(found, grades, k)
                if any(any(graded.values()) for graded in grades.values())
                else None
            ),
            "`return`",
        ),
        # returns a list of one number
        ("as one number", lambda found, grades, k: [judged(found, grades, k)]),
    ],
    "14-threshold": [
        (  # tries only the scores of `unanswered`
            "among all scores of both lists",
            lambda answered, unanswered: max(
                unanswered,
                key=lambda threshold: (
                    # the shares, each times both lengths
                    right_decisions(
                        answered, unanswered, threshold, len(unanswered), len(answered)
                    ),
                    threshold,
                ),
            ),
        )
    ],
    "14-search": [
        (  # never returns all texts
            "`k` is at most the number of texts",
            lambda queries, texts, k: [
                places[: len(texts) - 1] for places in find_near(queries, texts, k)
            ],
        ),
        (  # never returns more than 10 texts
            "of the k best texts",
            lambda queries, texts, k: find_near(queries, texts, min(10, len(texts))),
        ),
        (  # returns positions in the sorted texts
            "return a list with the positions in `texts`",
            lambda queries, texts, k: find_near(queries, sorted(texts), k),
        ),
        (  # returns all but the first in reverse
            "the best first",
            near_changed_by(lambda places: [places[0], *places[:0:-1]]),
            "the longest first",
        ),
        (  # exchanges the second and the third
            "these must follow, the longest first",
            near_changed_by(lambda places: [places[0], *places[1:3][::-1], *places[3:]]),
        ),
        (  # returns all but the first three in reverse
            "these must follow, the longest first",
            near_changed_by(lambda places: [*places[:3], *places[3:][::-1]]),
        ),
        (  # returns the best one k times
            "k different whole numbers",
            near_changed_by(lambda places: places[:1] * len(places)),
            "different whole numbers",
        ),
        (  # loses a dimension of length 1: for a single query, or for a k of 1
            "For each query, return a list",
            lambda queries, texts, k: np.array(find_near(queries, texts, k)).squeeze().tolist(),
        ),
        (  # searches only the first half of the texts
            "at least 0.56 for the 24 development queries among 130 texts",
            lambda queries, texts, k: find_near(queries, texts[: max(len(texts) // 2, k)], k),
            "the target is",
        ),
    ],
    "14-diagnose": [
        (  # looks at the last query only
            "for each query",
            lambda queries, texts, found: diagnose_by_symptoms(queries[-1:], texts, found[-1:]),
        ),
        # looks at the first and the last place, or at the first two
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, -1)),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, 1)),
        (  # writes the word with a capital
            "one of these five words",
            lambda queries, texts, found: diagnose_by_symptoms(queries, texts, found).capitalize(),
        ),
        (  # says "fine" for two queries, whatever was found
            "at least two queries",
            lambda queries, texts, found: (
                diagnose_by_symptoms(queries, texts, found) if len(queries) > 2 else "fine"
            ),
        ),
        (  # says "fine" for a k of 2, whatever was found
            "k is at least 2",
            lambda queries, texts, found: (
                diagnose_by_symptoms(queries, texts, found) if len(found[0]) > 2 else "fine"
            ),
        ),
    ],
}
