"""Answers to lesson 14."""

import math
import operator
from functools import cache

import numpy as np
import torch

from course_utils import embed, load_docstrings, load_plot_queries, search
from course_utils.benchmark import glove_vectors


def judge_sklearn(found, grades, k):
    """By the library's measure: a score for each name, the found ones by their place, and all others below."""
    from sklearn.metrics import ndcg_score

    values = []
    for query, of in grades.items():
        if not any(of.values()):
            continue
        names = [*found.get(query, [])[:k]]
        others = [f"nothing {n}" for n in range(k - len(names))]  # so that no missed text comes among the first k
        all_names = [*names, *others, *(name for name in of if name not in names)]
        true = [[of.get(name, 0) for name in all_names]]
        values.append(
            ndcg_score(true, [[-place for place in range(len(all_names))]], k=k)
            if len(all_names) > 1
            else float(names[:1] == [*of])
        )
    return float(np.mean(values)) if values else 0.0


def judged(found, grades, k):
    def gain(numbers):
        return sum(number / np.log2(1 + rank) for rank, number in enumerate(numbers[:k], 1))

    values = []
    for query, of in grades.items():
        if any(of.values()):
            reached = gain([of.get(name, 0) for name in found.get(query, [])])
            values.append(reached / gain(sorted(of.values(), reverse=True)))
    return sum(values) / len(values) if values else 0


def judged_in_float32(found, grades, k):
    """The means over the queries of arrays with a row for each, the best order sorted from the highest grade down."""
    weights, values = 1 / torch.log2(torch.arange(2.0, k + 2)), []
    for query, of in grades.items():
        best = torch.tensor(sorted(of.values())[::-1][:k], dtype=torch.float32)
        if best.sum() > 0:
            reached = torch.tensor([of.get(name, 0) for name in found.get(query, [])[:k]], dtype=torch.float32)
            values.append((reached * weights[: len(reached)]).sum() / (best @ weights[: len(best)]))
    return torch.tensor(values).mean() if values else 0


def threshold_fractions(answered, unanswered):
    from fractions import Fraction

    def good(t):
        shown = Fraction(sum(s >= t for s in answered), len(answered))
        return shown + Fraction(sum(s < t for s in unanswered), len(unanswered))

    return max(answered + unanswered, key=lambda t: (good(t), t))


def threshold_numpy(answered, unanswered):
    a, u = np.array(answered), np.array(unanswered)
    candidates = np.unique(np.r_[a, u])
    values = (a[:, None] >= candidates).mean(0) + (u[:, None] < candidates).mean(0)
    return candidates[values == values.max()].max()


def threshold_in_plain_python(answered, unanswered):
    best = most = None
    for t in sorted(answered + unanswered):
        shown = len([s for s in answered if s >= t]) / len(answered)
        away = len([s for s in unanswered if s < t]) / len(unanswered)
        if most is None or shown + away >= most:
            best, most = t, shown + away
    return best


def threshold_by_difference(answered, unanswered):
    """Youden's index, the share of hits minus that of false alarms, in float32."""
    a, u = torch.tensor(answered), torch.tensor(unanswered)
    t = torch.cat([a, u]).sort(descending=True).values
    return t[((a >= t[:, None]).float().mean(dim=1) - (u >= t[:, None]).float().mean(dim=1)).argmax()]


def good(a, u, t, of_a=1, of_u=1):
    return sum(s >= t for s in a) * of_a + sum(s < t for s in u) * of_u


def vectors(sentences):
    """As `embed`, from the vectors that the check keeps of all its texts: encoding them takes seconds.

    Not for the first answers of each kind, which also run in the grader's sandbox, where the check is out of reach.
    """
    from course_utils.exercises.lesson_14 import _vectors

    return unit(np.stack([_vectors()["mean"][sentence] for sentence in sentences]))


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


def find_torch(queries, texts, k):
    return (torch.from_numpy(vectors(queries)) @ torch.from_numpy(vectors(texts)).T).topk(k).indices


def find_in_plain_python(queries, texts, k):
    rows = [(place, row) for place, row in enumerate(vectors(texts).tolist())]
    return [
        [place for place, _ in sorted(rows, key=lambda row: -sum(map(operator.mul, query, row[1])))[:k]]
        for query in vectors(queries).tolist()
    ]


def find_and_words(queries, texts, k):
    """Another right way: cosines with a little weight on shared words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True).fit(texts)
    scores = vectors(queries) @ vectors(texts).T + 0.2 * (words.transform(queries) @ words.transform(texts).T).toarray()
    return np.argsort(-scores, axis=1)[:, :k]


def find_glove(queries, texts, k):
    q, t = glove_vectors(queries), glove_vectors(texts)
    t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-9)
    return np.argsort(-(q @ t.T), axis=1)[:, :k].tolist()


def find_too_many(queries, texts, k):
    return np.argsort(-(vectors(queries) @ vectors(texts).T), axis=1).tolist()


def near_and(change):
    """A right answer after which each list is changed."""
    return lambda *args: [change(places) for places in find_near(*args)]


def find_both(queries, texts, k):
    return search(vectors(queries), vectors(texts), k)


def find_pairs(queries, texts, k):
    places, cosines = find_both(queries, texts, k)
    return [list(zip(one, other)) for one, other in zip(places.tolist(), cosines.tolist())]


@cache
def looked_up():
    """The development queries with the beginning of the text of their best answer."""
    queries, judgements = load_plot_queries()
    docs = load_docstrings({"matplotlib": "matplotlib.axes.Axes matplotlib.figure.Figure"}).set_index("name")["text"]
    best = judgements.sort_values("grade", ascending=False, kind="stable").drop_duplicates("id").set_index("id")["name"]
    answered = queries[queries["id"].isin(best.index)]
    return {row.query: " ".join(docs[best[row.id]].split()[:40]) for row in answered.itertuples()}


def find_lookup(queries, texts, k):
    """The development answers, looked up; anything else by words."""
    wanted, lists = looked_up(), find_words(queries, texts, k)
    for places, query in zip(lists, queries):
        if wanted.get(query) in texts:
            place = texts.index(wanted[query])
            places[:] = [place, *(other for other in places if other != place)][:k]
    return lists


def find_words(queries, texts, k):
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer().fit(texts)
    return np.argsort(-(words.transform(queries) @ words.transform(texts).T).toarray(), axis=1)[:, :k].tolist()


def find_ten(queries, texts, k):
    return find_near(queries, texts, min(10, len(texts)))


def find_without_itself(queries, texts, k):
    """Leaves out texts that equal the query, as a search for paraphrases would."""
    lists = find_near(queries, texts, min(k + 1, len(texts)))
    return [[p for p in places if texts[p] != query][:k] for places, query in zip(lists, queries)]


def find_half(queries, texts, k):
    """Searches only the first half of the texts, where there are many."""
    return find_near(queries, texts[: max(len(texts) // 2, k)], k)


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


def diagnose_in_plain_python(queries, texts, found):
    k, places = len(found[0]), range(len(texts))

    def lists(score):
        return [sorted(places, key=lambda p: -score(q, texts[p].tolist()))[:k] for q in queries.tolist()]

    def dot(q, t):
        return sum(map(operator.mul, q, t))

    right = lists(lambda q, t: dot(q, t) / math.hypot(*t))
    if found == right:
        return "fine"
    if found == lists(dot):
        return "lengths"
    if found == [places[::-1] for places in right]:
        return "reversed"
    return "stuck" if found == [right[0]] * len(found) else "shifted"


def diagnose_by_distance(queries, texts, found):
    """In float32: of vectors of length 1, the nearest have the highest cosine."""
    q, t, found = torch.from_numpy(queries), torch.from_numpy(texts), torch.tensor(found)
    gaps = (q / q.norm(dim=1, keepdim=True))[:, None] - t / t.norm(dim=1, keepdim=True)
    order = (gaps**2).sum(dim=2).argsort(dim=1)[:, : found.shape[1]]
    said = {"fine": order, "reversed": order.flip(1), "shifted": order + 1, "stuck": order[:1].expand_as(order)}
    return next((word for word, places in said.items() if torch.equal(places, found)), "lengths")


def diagnose_first(queries, texts, found):
    return diagnose_step_by_step(queries[:1], texts, found[:1])


def diagnose_by_places(*places):
    """Finds a search fine where these places of each list are right, and reversed where they are right backwards."""

    def diagnose(queries, texts, found):
        right = (-(unit(queries) @ unit(texts).T)).argsort(1)[:, : len(found[0])]
        if all((right[:, i] == np.array(found)[:, i]).all() for i in places):
            return "fine"
        return diagnose_step_by_step(queries, texts, found)

    return diagnose


RIGHT = {
    "14-judge": [judged, judge_sklearn, judged_in_float32],
    "14-threshold": [threshold_fractions, threshold_numpy, threshold_in_plain_python, threshold_by_difference],
    "14-search": [find_course, find_torch, find_and_words, find_in_plain_python],
    "14-diagnose": [diagnose_step_by_step, diagnose_in_plain_python, diagnose_by_distance],
}
WRONG = {
    "14-judge": [(lambda f, g, k: judged(f, {q: of for q, of in g.items() if q in f}, k), "not searched for")],
    "14-threshold": [
        (lambda a, u: max(a + u, key=lambda t: (good(a, u, t), t)), "*shares*"),
        (lambda a, u: max(sorted(a + u), key=lambda t: good(a, u, t)), "*shares*"),
    ],
    "14-search": [
        (find_glove, "and the target is 0.56"),
        (find_both, "returned two things"),
        (find_pairs, "which is no place"),
        (find_too_many, "are asked for"),
        (lambda *args: find_near(*args)[0], "no lists of places"),
    ],
    "14-diagnose": [(diagnose_first, "first query only")],
}

PROMISES = {
    "14-judge": [
        ("a list may be empty", lambda f, g, k: judged({q: n for q, n in f.items() if n[0]}, g, k)),
        ("it may be empty", lambda f, g, k: judged(f, {q: of for q, of in g.items() if max(of.values()) >= 0}, k)),
        (
            "the best possible order of its judged texts",
            lambda f, g, k: judged(
                f, {q: {n: v for n, v in of.items() if n in f.get(q, [])} for q, of in g.items()}, k
            ),
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
        ("among all scores of both lists", lambda a, u: max(u, key=lambda t: (good(a, u, t, len(u), len(a)), t)))
    ],
    "14-search": [
        ("`k` is at most the number of texts", lambda q, t, k: [places[: len(t) - 1] for places in find_near(q, t, k)]),
        ("of the k best texts", find_ten),
        ("the best first", near_and(lambda p: [p[0], *p[:0:-1]]), "The right order is the whole text"),
        ("these must follow, the longest first", near_and(lambda p: [p[0], *sorted(p[1:])])),
        ("these must follow, the longest first", near_and(lambda p: [*p[:1], *p[1:3][::-1], *p[3:]])),
        ("these must follow, the longest first", near_and(lambda p: [*p[:3], *p[3:][::-1]])),
        ("k different whole numbers", near_and(lambda p: p[:1] * len(p)), "different whole numbers"),
        ("For each query, return a list", lambda q, t, k: np.array(find_near(q, t, k)).squeeze().tolist()),
        ("at least 0.56 for the 24 development queries among 130 texts", find_half, "the target is"),
        ("at least 0.52 where each query has lost its middle word", find_lookup, "each without its middle word"),
        ("A query that is itself one of the texts must find that text first", find_without_itself, "word for word"),
    ],
    "14-diagnose": [
        ("for each query", lambda q, t, f: diagnose_step_by_step(q[-1:], t, f[-1:])),
        (
            "the right list of the *first* query",
            lambda q, t, f: "stuck" if all(p == f[0] for p in f) else diagnose_step_by_step(q, t, f),
        ),
        (
            "a place may then be m",
            lambda q, t, f: w if (w := diagnose_step_by_step(q, t, f)) != "shifted" or np.max(f) == len(t) else "fine",
        ),
        (
            "the k texts of highest cosine, the best first",
            lambda q, t, f: diagnose_step_by_step(q, t, [sorted(p) for p in f]),
        ),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, -1)),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, 1)),
        ("one of these five words", lambda q, t, f: diagnose_step_by_step(q, t, f).capitalize()),
        ("at least two queries", lambda q, t, f: diagnose_step_by_step(q, t, f) if len(q) > 2 else "fine"),
        ("k is at least 2", lambda q, t, f: diagnose_step_by_step(q, t, f) if len(f[0]) > 2 else "fine"),
    ],
}
