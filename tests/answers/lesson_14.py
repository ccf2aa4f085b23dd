"""Answers to lesson 14."""

from bisect import bisect_left
from fractions import Fraction
from functools import cache, reduce

import numpy as np
import pandas as pd
import torch

from course_utils import embed, load_plot_queries, search
from course_utils.benchmark import glove_vectors


def judged(found, grades, k):
    def gain(numbers):
        return sum(number / np.log2(1 + rank) for rank, number in enumerate(numbers[:k], 1))

    values = []
    for query, of in grades.items():
        if any(of.values()):
            reached = gain([of.get(name, 0) for name in found.get(query, [])])
            values.append(reached / gain(sorted(of.values(), reverse=True)))
    return sum(values) / len(values) if values else 0


def good(a, u, t, of_a=1, of_u=1):
    return sum(s >= t for s in a) * of_a + sum(s < t for s in u) * of_u


def best_threshold(answered, unanswered):
    shares = Fraction(1, len(answered)), Fraction(1, len(unanswered))
    return max(answered + unanswered, key=lambda t: (good(answered, unanswered, t, *shares), t))


def vectors(sentences):
    """As `embed`, from the vectors that the check keeps of all its texts: encoding them takes seconds.

    Not for the first answers of each kind, which also run in the grader's sandbox, where the check is out of reach.
    """
    from course_utils.exercises.search_engine import _embedded

    return _embedded(sentences, "mean")


@cache
def embedded(*sentences):
    """Two cases ask about the same texts."""
    return embed(sentences)


def find_course(queries, texts, k):
    places, _ = search(embedded(*queries), embedded(*texts), k)
    return places.tolist()


def find_near(queries, texts, k):
    places, _ = search(vectors(queries), vectors(texts), k)
    return places.tolist()


def word_scores(queries, texts):
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True).fit(texts)
    return (words.transform(queries) @ words.transform(texts).T).toarray()


def find_and_words(queries, texts, k):
    """Another right way: cosines with a little weight on shared words."""
    scores = vectors(queries) @ vectors(texts).T + 0.2 * word_scores(queries, texts)
    return np.argsort(-scores, axis=1)[:, :k]


def find_glove(queries, texts, k):
    cosines = glove_vectors(queries) @ unit(glove_vectors(texts) + 1e-9).T
    return np.argsort(-cosines, axis=1)[:, :k].tolist()


def near_and(change):
    """A right answer after which each list is changed."""
    return lambda *args: [change(places) for places in find_near(*args)]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def diagnose_step_by_step(queries, texts, found):
    found, k = np.array(found), len(found[0])
    cosines = unit(queries.astype(np.float64)) @ unit(texts.astype(np.float64)).T
    right = (-cosines).argsort(1)[:, :k]
    if (found == right).all():
        return "fine"
    if (found - 1 == right).all():
        return "shifted"
    if (found[:, ::-1] == right).all():
        return "reversed"
    return "stuck" if (found == found[0]).all() and (found[0] == right[0]).all() else "lengths"


def diagnose_by_places(*places):
    """Finds a search fine where these places of each list are right."""

    def diagnose(queries, texts, found):
        right = (-(unit(queries) @ unit(texts).T)).argsort(1)[:, : len(found[0])]
        as_right = (right[:, places] == np.array(found)[:, places]).all()
        return "fine" if as_right else diagnose_step_by_step(queries, texts, found)

    return diagnose


RIGHT = {
    "14-judge": [
        judged,
        lambda *args: torch.tensor(judged(*args), dtype=torch.float32),
        lambda *args: np.array(judged(*args)),
    ],
    "14-threshold": [
        best_threshold,
        lambda *args: np.float64(best_threshold(*args)),
        lambda *args: np.array(best_threshold(*args)),
    ],
    "14-search": [
        find_course,
        lambda q, t, k: (
            (torch.from_numpy(vectors(q)) @ torch.from_numpy(vectors(t)).T).topk(k).indices
        ),
        find_and_words,
    ],
    "14-diagnose": [
        diagnose_step_by_step,
        lambda *args: np.array(diagnose_step_by_step(*args)),
        lambda *args: np.str_(diagnose_step_by_step(*args)),
    ],
}
COMPLETED = {
    "14-best-chunk": [
        lambda cosines, owners: {
            o: max(c for c, of in zip(cosines, owners) if of == o) for o in owners
        },
        lambda cosines, owners: dict(sorted(zip(owners, cosines))),
        lambda cosines, owners: pd.Series(cosines).groupby(owners).max().to_dict(),
        lambda cosines, owners: {
            o: np.array(cosines)[np.array(owners) == o].max() for o in np.unique(owners)
        },
        lambda cosines, owners: {
            o: torch.tensor(cosines)[torch.tensor(owners) == o].amax() for o in {*owners}
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
            torch.tensor([s for s in scores if s < threshold])
            .max()
            .lerp(torch.tensor(threshold), 0.5)
        ),
        lambda threshold, scores: (
            sum(Fraction(s) for s in sorted(s for s in {*scores, threshold} if s <= threshold)[-2:])
            / 2
        ),
    ],
}
WRONG = {
    "14-judge": [
        (lambda f, g, k: judged(f, {q: of for q, of in g.items() if q in f}, k), "not searched for")
    ],
    "14-threshold": [(lambda a, u: max(a + u, key=lambda t: (good(a, u, t), t)), "*shares*")],
    "14-search": [
        (find_glove, "and the target is 0.56"),
        (lambda q, t, k: search(vectors(q), vectors(t), k), "returned two things"),
        (
            lambda q, t, k: [[[place, 0.5] for place in places] for places in find_near(q, t, k)],
            "whole numbers is asked for",
        ),
        (lambda q, t, k: find_near(q, t, len(t)), "a list of 10 whole numbers"),
        (lambda *args: find_near(*args)[0], "whole numbers is asked for"),
    ],
    "14-diagnose": [(lambda q, t, f: diagnose_step_by_step(q[:1], t, f[:1]), "first query only")],
}

PROMISES = {
    "14-judge": [
        ("a list may be empty", lambda f, g, k: judged({q: n for q, n in f.items() if n[0]}, g, k)),
        (
            "it may be empty",
            lambda f, g, k: judged(f, {q: of for q, of in g.items() if max(of.values()) >= 0}, k),
        ),
        (
            "one that `grades` lacks is left out",
            lambda f, g, k: judged(f, {q: g[q] for q in f} if len(f) > len(g) else g, k),
        ),
        (
            "0 if none is left",
            lambda f, g, k: judged(f, g, k) if any(any(of.values()) for of in g.values()) else None,
            "`return`",
        ),
        ("as one number", lambda f, g, k: [judged(f, g, k)]),
    ],
    "14-threshold": [
        (
            "among all scores of both lists",
            lambda a, u: max(u, key=lambda t: (good(a, u, t, len(u), len(a)), t)),
        )
    ],
    "14-search": [
        (
            "`k` is at most the number of texts",
            lambda q, t, k: [places[: len(t) - 1] for places in find_near(q, t, k)],
        ),
        ("of the k best texts", lambda q, t, k: find_near(q, t, min(10, len(t)))),
        ("return a list with the positions in `texts`", lambda q, t, k: find_near(q, sorted(t), k)),
        ("the best first", near_and(lambda p: [p[0], *p[:0:-1]]), "the longest first"),
        (
            "these must follow, the longest first",
            near_and(lambda p: [*p[:1], *p[1:3][::-1], *p[3:]]),
        ),
        ("these must follow, the longest first", near_and(lambda p: [*p[:3], *p[3:][::-1]])),
        (
            "k different whole numbers",
            near_and(lambda p: p[:1] * len(p)),
            "different whole numbers",
        ),
        (
            "For each query, return a list",
            lambda q, t, k: np.array(find_near(q, t, k)).squeeze().tolist(),
        ),
        (
            "at least 0.56 for the 24 development queries among 130 texts",
            lambda q, t, k: find_near(q, t[: max(len(t) // 2, k)], k),
            "the target is",
        ),
    ],
    "14-diagnose": [
        ("for each query", lambda q, t, f: diagnose_step_by_step(q[-1:], t, f[-1:])),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, -1)),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, 1)),
        ("one of these five words", lambda q, t, f: diagnose_step_by_step(q, t, f).capitalize()),
        (
            "at least two queries",
            lambda q, t, f: diagnose_step_by_step(q, t, f) if len(q) > 2 else "fine",
        ),
        (
            "k is at least 2",
            lambda q, t, f: diagnose_step_by_step(q, t, f) if len(f[0]) > 2 else "fine",
        ),
    ],
}
