"""Answers to the capstone that must pass, and answers that must fail with the words for their mistake."""

from functools import cache

import numpy as np
import torch

from course_utils import embed, load_queries, load_reviews, search
from course_utils.benchmark import glove_vectors


def ranks_loop(found, wanted):
    total = 0
    for places, want in zip(found, wanted):
        for rank, place in enumerate(places, start=1):
            if place == want:
                total += 1 / rank
                break
    return total / len(wanted)


def ranks_numpy(found, wanted):
    values = np.zeros(len(found))
    for i in range(len(found)):
        hits = np.where(np.array(found[i]) == wanted[i])[0]
        if hits.size:
            values[i] = 1 / (hits[0] + 1)
    return values.mean()


def ranks_tries(found, wanted):
    def one(places, want):
        try:
            return 1.0 / (list(places).index(want) + 1)
        except ValueError:
            return 0

    return sum(map(one, found, wanted)) / len(found)


def ranks_mean_rank(found, wanted):
    return sum((p.index(w) + 1 if w in p else 0) for p, w in zip(found, wanted)) / len(found)


def vectors(sentences, pooling="mean"):
    """As `embed`, from the vectors that the check keeps of all its texts: encoding them takes seconds.

    Not for the first answers of each kind, which also run in the grader's sandbox, where the check is out of reach.
    """
    from course_utils.exercises.lesson_14 import _vectors

    return unit(np.stack([_vectors()[pooling][sentence] for sentence in sentences]))


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


def find_argsort(queries, texts, k):
    cosines = vectors(queries) @ vectors(texts).T
    return [list(np.argsort(row)[::-1][:k]) for row in cosines]


def find_torch(queries, texts, k):
    return (torch.from_numpy(vectors(queries)) @ torch.from_numpy(vectors(texts)).T).topk(k).indices


def find_and_words(queries, texts, k):
    """Another right way: cosines with a little weight on shared words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True).fit(texts)
    scores = vectors(queries) @ vectors(texts).T + 0.2 * (words.transform(queries) @ words.transform(texts).T).toarray()
    return np.argsort(-scores, axis=1)[:, :k]


def find_cls(queries, texts, k):
    return np.argsort(-(vectors(queries, "cls") @ vectors(texts, "cls").T), axis=1)[:, :k].tolist()


def find_glove(queries, texts, k):
    q, t = glove_vectors(queries), glove_vectors(texts)
    t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-9)
    return np.argsort(-(q @ t.T), axis=1)[:, :k].tolist()


def find_too_many(queries, texts, k):
    return np.argsort(-(vectors(queries) @ vectors(texts).T), axis=1).tolist()


def find_twice(queries, texts, k):
    return [[row[0]] * k for row in find_near(queries, texts, k)]


def find_one_list(queries, texts, k):
    return find_near(queries, texts, k)[0]


def find_both(queries, texts, k):
    return search(vectors(queries), vectors(texts), k)


def find_pairs(queries, texts, k):
    places, cosines = find_both(queries, texts, k)
    return [list(zip(one, other)) for one, other in zip(places.tolist(), cosines.tolist())]


@cache
def looked_up():
    reviews, table = load_reviews("rotten_tomatoes")["text"], load_queries()
    return dict(zip(table["query"], reviews[table["row"]]))


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


def find_from_one(queries, texts, k):
    return [[place + 1 for place in places] for places in find_near(queries, texts, k)]


def find_without_itself(queries, texts, k):
    """Leaves out texts that equal the query, as a search for paraphrases would."""
    lists = find_near(queries, texts, min(k + 1, len(texts)))
    return [[p for p in places if texts[p] != query][:k] for places, query in zip(lists, queries)]


def find_rest_reversed(queries, texts, k):
    return [[places[0], *places[:0:-1]] for places in find_near(queries, texts, k)]


def find_rest_by_place(queries, texts, k):
    return [[places[0], *sorted(places[1:])] for places in find_near(queries, texts, k)]


def find_next_two_exchanged(queries, texts, k):
    return [[*places[:1], *places[1:3][::-1], *places[3:]] for places in find_near(queries, texts, k)]


def find_after_the_third_reversed(queries, texts, k):
    return [[*places[:3], *places[3:][::-1]] for places in find_near(queries, texts, k)]


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


def diagnose_by_loops(queries, texts, found):
    k = len(found[0])

    def ranked(score):
        return [sorted(range(len(texts)), key=lambda j: -score(query, texts[j]))[:k] for query in queries]

    right = ranked(lambda q, t: float(np.dot(q, t)) / float(np.dot(t, t)) ** 0.5)
    dots = ranked(lambda q, t: float(np.dot(q, t)))
    answers = [
        ("fine", right),
        ("lengths", dots),
        ("reversed", [row[::-1] for row in right]),
        ("shifted", [[place + 1 for place in row] for row in right]),
        ("stuck", [right[0]] * len(right)),
    ]
    return [word for word, lists in answers if lists == [list(map(int, row)) for row in found]][0]


def diagnose_by_elimination(queries, texts, found):
    """Looks for the four faults, and says "fine" if it finds none."""
    queries, texts = torch.from_numpy(queries), torch.from_numpy(texts)
    k, places = len(found[0]), torch.tensor(found)
    dots = queries @ texts.T
    right = (dots / texts.norm(dim=1)).topk(k).indices
    if torch.equal(places, right + 1):
        return "shifted"
    if torch.equal(places.flip(1), right):
        return "reversed"
    if not torch.equal(places, right):
        return "stuck" if torch.equal(places, right[:1].expand_as(right)) else "lengths"
    return "fine"


def diagnose_first(queries, texts, found):
    return diagnose_step_by_step(queries[:1], texts, found[:1])


def diagnose_by_scores(queries, texts, found):
    """Looks each place up in the scores."""
    scores = unit(queries) @ unit(texts).T
    [scores[i][place] for i, places in enumerate(found) for place in places]
    return diagnose_step_by_step(queries, texts, found)


def told(*words):
    """Knows only these words and "fine"."""

    def diagnose(queries, texts, found):
        answer = diagnose_step_by_step(queries, texts, found)
        return answer if answer in words else "fine"

    return diagnose


def diagnose_by_texts(word):
    """Says `word` where the right texts stand in another order."""

    def diagnose(queries, texts, found):
        cosines = unit(queries) @ unit(texts).T
        right = (-cosines).argsort(1)[:, : len(found[0])]
        if (right != found).any() and all(set(one) == set(other) for one, other in zip(right.tolist(), found)):
            return word
        return diagnose_step_by_step(queries, texts, found)

    return diagnose


def diagnose_by_places(*places):
    """Finds a search fine where these places of each list are right, and reversed where they are right backwards."""

    def diagnose(queries, texts, found):
        right = (-(unit(queries) @ unit(texts).T)).argsort(1)[:, : len(found[0])]
        if all((right[:, i] == np.array(found)[:, i]).all() for i in places):
            return "fine"
        return diagnose_step_by_step(queries, texts, found)

    return diagnose


RIGHT = {
    "14-reciprocal-rank": [ranks_loop, ranks_numpy, ranks_tries],
    "14-search": [find_course, find_argsort, find_torch, find_and_words],
    "14-diagnose": [diagnose_step_by_step, diagnose_by_loops, diagnose_by_elimination],
}
WRONG = {
    "14-reciprocal-rank": [(ranks_mean_rank, "These are mean ranks")],
    "14-search": [
        (find_glove, "and the target is 0.75"),
        (find_both, "returned two things"),
        (find_pairs, "which is no place"),
        (find_cls, "You search with [CLS] vectors"),
        (find_too_many, "are asked for"),
        (find_twice, "different whole numbers"),
        (find_one_list, "no lists of places"),
        (find_lookup, "each without its middle word"),
        (find_half, "the target is"),
        (find_without_itself, "word for word"),
        (find_rest_reversed, "The right order is the whole text"),
    ],
    "14-diagnose": [
        (diagnose_first, "first query only"),
        (diagnose_by_scores, "behind the last text"),
        (told("lengths", "shifted", "stuck"), "miss lists in which the best comes last"),
        (told("lengths", "reversed", "stuck"), "one too high"),
        (told("lengths", "reversed", "shifted"), "searches that are stuck"),
        (diagnose_by_texts("fine"), "not in which order"),
        (diagnose_by_texts("reversed"), "in another order for a reversed one"),
        (diagnose_by_places(0), "by the first places"),
        (lambda q, t, f: None, "`return`"),
    ],
}

PROMISES = {
    "14-reciprocal-rank": [
        ("the lists may be of unequal length", lambda f, w: ranks_loop([p[: len(f[0])] for p in f], w)),
        (
            "a list may be empty",
            lambda f, w: np.mean([1 / (p.index(x) + 1) if x in p else 0 * p[0] for p, x in zip(f, w)]),
        ),
        ("one list of places for each query", lambda f, w: ranks_loop([p[:10] for p in f], w)),
        ("which may be 0", lambda f, w: ranks_loop(f, [x or -1 for x in w])),
        (
            "A text that is not in its list counts 0",
            lambda f, w: np.mean([1 / (p.index(x) + 1) if x in p else 1 / (len(p) + 1) for p, x in zip(f, w)]),
        ),
        (
            "the mean over *all* queries",
            lambda f, w: sum(r := [1 / (p.index(x) + 1) for p, x in zip(f, w) if x in p]) / max(len(r), 1),
        ),
        ("as one number", lambda f, w: [1 / (p.index(x) + 1) if x in p else 0 for p, x in zip(f, w)]),
        ("there is at least one query", lambda f, w: ranks_loop(f, w) if len(f) > 1 else None),
    ],
    "14-search": [
        ("`k` is at most the number of texts", lambda q, t, k: [places[: len(t) - 1] for places in find_near(q, t, k)]),
        ("return a list with the places in `texts`", lambda q, t, k: [[t[p] for p in ps] for ps in find_near(q, t, k)]),
        ("of the k best texts", find_ten),
        ("the best first", lambda q, t, k: [places[::-1] for places in find_near(q, t, k)]),
        ("the best first", find_rest_reversed),
        ("these follow, the longest first", find_rest_by_place),
        ("these follow, the longest first", find_next_two_exchanged),
        ("these follow, the longest first", find_after_the_third_reversed),
        ("k different whole numbers", find_twice),
        ("counted from 0", find_from_one),
        ("For each query, return a list", lambda q, t, k: np.array(find_near(q, t, k)).squeeze().tolist()),
        ("at least 0.75 for the 42 development queries among 240 texts", find_half),
        ("at least 0.65 where each query has lost its middle word", find_lookup),
        ("A query that stands word for word among the texts finds that text first", find_without_itself),
    ],
    "14-diagnose": [
        (
            "they may have any length",
            lambda q, t, f: {"fine": "lengths", "lengths": "fine"}.get(w := diagnose_step_by_step(q, t, f), w),
        ),
        ("for each query", diagnose_first),
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
        ("the same by the dot product", told("reversed", "shifted", "stuck")),
        ("the k texts of highest cosine, the best first", diagnose_by_texts("fine")),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0)),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, -1)),
        ("the k texts of highest cosine, the best first", diagnose_by_places(0, 1)),
        ("the best *last*", diagnose_by_texts("reversed")),
        ("the best *last*", told("lengths", "shifted", "stuck")),
        ("every place one too high", told("lengths", "reversed", "stuck")),
        ("(a place may then be m)", diagnose_by_scores),
        ("every query got the right list of the *first* query", told("lengths", "reversed", "shifted")),
        ("one of these five words", lambda q, t, f: diagnose_step_by_step(q, t, f).capitalize()),
        ("at least two queries", lambda q, t, f: diagnose_step_by_step(q, t, f) if len(q) > 2 else "fine"),
        ("k is at least 2", lambda q, t, f: diagnose_step_by_step(q, t, f) if len(f[0]) > 2 else "fine"),
    ],
}
