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


def good(answered, unanswered, threshold, answered_weight=1, unanswered_weight=1):
    return (
        sum(score >= threshold for score in answered) * answered_weight
        + sum(score < threshold for score in unanswered) * unanswered_weight
    )


def best_threshold(answered, unanswered):
    shares = Fraction(1, len(answered)), Fraction(1, len(unanswered))
    return max(
        answered + unanswered,
        key=lambda threshold: (good(answered, unanswered, threshold, *shares), threshold),
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


# Another right way: cosines, and shared words with a small weight.
def find_and_words(queries, texts, k):
    scores = vectors(queries) @ vectors(texts).T + 0.02 * bm25(queries, texts)
    return np.argsort(-scores, axis=1)[:, :k]


def find_glove(queries, texts, k):
    cosines = glove_vectors(queries) @ unit(glove_vectors(texts) + 1e-9).T
    return np.argsort(-cosines, axis=1)[:, :k].tolist()


# A right answer, except that each of its lists is changed.
def near_and(change):
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
    return [*words, "lengths"][0]


# An answer that says "fine" if these places of each list are right.
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
                good(answered, unanswered, threshold, 1 / len(answered), 1 / len(unanswered)),
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
    "14-best-chunk": [
        lambda cosines, owners: {
            text: max(cosine for cosine, owner in zip(cosines, owners) if owner == text)
            for text in owners
        },
        lambda cosines, owners: dict(sorted(zip(owners, cosines))),
        lambda cosines, owners: pd.Series(cosines).groupby(owners).max().to_dict(),
        lambda cosines, owners: {
            text: np.array(cosines)[np.array(owners) == text].max() for text in np.unique(owners)
        },
        lambda cosines, owners: {
            text: torch.tensor(cosines)[torch.tensor(owners) == text].amax() for text in {*owners}
        },
        lambda cosines, owners: reduce(
            lambda scores, pair: scores | {pair[1]: max(pair[0], scores.get(pair[1], -1))},
            zip(cosines, owners),
            {},
        ),
    ],
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
            sum(map(Fraction, sorted({threshold, *(s for s in scores if s < threshold)})[-2:])) / 2
        ),
    ],
}

WRONG = {
    "14-judge": [
        (
            lambda found, grades, k: judged(
                found, {query: graded for query, graded in grades.items() if query in found}, k
            ),
            "not searched for",
        )
    ],
    "14-threshold": [
        (
            lambda answered, unanswered: max(
                answered + unanswered,
                key=lambda threshold: (good(answered, unanswered, threshold), threshold),
            ),
            "*shares*",
        )
    ],
    "14-search": [
        (find_glove, "and the target is 0.56"),
        (
            lambda queries, texts, k: search(vectors(queries), vectors(texts), k),
            "returned two things",
        ),
        (
            lambda queries, texts, k: [
                [[place, 0.5] for place in places] for places in find_near(queries, texts, k)
            ],
            "whole numbers is asked for",
        ),
        (
            lambda queries, texts, k: find_near(queries, texts, len(texts)),
            "a list of 10 whole numbers",
        ),
        (lambda *args: find_near(*args)[0], "whole numbers is asked for"),
    ],
    "14-diagnose": [
        (
            lambda queries, texts, found: diagnose_by_symptoms(queries[:1], texts, found[:1]),
            "first query only",
        )
    ],
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "14-judge": [
        (
            "a list may be empty",
            lambda found, grades, k: judged(
                {query: names for query, names in found.items() if names[0]}, grades, k
            ),
        ),
        (
            "it may be empty",
            lambda found, grades, k: judged(
                found,
                {query: graded for query, graded in grades.items() if max(graded.values()) >= 0},
                k,
            ),
        ),
        (
            "one that `grades` lacks is left out",
            lambda found, grades, k: judged(
                found,
                {query: grades[query] for query in found} if len(found) > len(grades) else grades,
                k,
            ),
        ),
        (
            "0 if none is left",
            lambda found, grades, k: (
                judged(found, grades, k)
                if any(any(graded.values()) for graded in grades.values())
                else None
            ),
            "`return`",
        ),
        ("as one number", lambda found, grades, k: [judged(found, grades, k)]),
    ],
    "14-threshold": [
        (
            "among all scores of both lists",
            lambda answered, unanswered: max(
                unanswered,
                key=lambda threshold: (
                    good(answered, unanswered, threshold, len(unanswered), len(answered)),
                    threshold,
                ),
            ),
        )
    ],
    "14-search": [
        (
            "`k` is at most the number of texts",
            lambda queries, texts, k: [
                places[: len(texts) - 1] for places in find_near(queries, texts, k)
            ],
        ),
        (
            "of the k best texts",
            lambda queries, texts, k: find_near(queries, texts, min(10, len(texts))),
        ),
        (
            "return a list with the positions in `texts`",
            lambda queries, texts, k: find_near(queries, sorted(texts), k),
        ),
        (
            "the best first",
            near_and(lambda places: [places[0], *places[:0:-1]]),
            "the longest first",
        ),
        (
            "these must follow, the longest first",
            near_and(lambda places: [places[0], *places[1:3][::-1], *places[3:]]),
        ),
        (
            "these must follow, the longest first",
            near_and(lambda places: [*places[:3], *places[3:][::-1]]),
        ),
        (
            "k different whole numbers",
            near_and(lambda places: places[:1] * len(places)),
            "different whole numbers",
        ),
        (
            "For each query, return a list",
            lambda queries, texts, k: np.array(find_near(queries, texts, k)).squeeze().tolist(),
        ),
        (
            "at least 0.56 for the 24 development queries among 130 texts",
            lambda queries, texts, k: find_near(queries, texts[: max(len(texts) // 2, k)], k),
            "the target is",
        ),
    ],
    "14-diagnose": [
        (
            "for each query",
            lambda queries, texts, found: diagnose_by_symptoms(queries[-1:], texts, found[-1:]),
        ),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, -1)),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, 1)),
        (
            "one of these five words",
            lambda queries, texts, found: diagnose_by_symptoms(queries, texts, found).capitalize(),
        ),
        (
            "at least two queries",
            lambda queries, texts, found: (
                diagnose_by_symptoms(queries, texts, found) if len(queries) > 2 else "fine"
            ),
        ),
        (
            "k is at least 2",
            lambda queries, texts, found: (
                diagnose_by_symptoms(queries, texts, found) if len(found[0]) > 2 else "fine"
            ),
        ),
    ],
}
