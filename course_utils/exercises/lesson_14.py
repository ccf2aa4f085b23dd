"""Exercises of lesson 14, the capstone: a search over reviews."""

from functools import cache

import numpy as np

from .._support.values import is_array
from .framework import Case, Exercise, Mistake, normal

TARGET, DEPTH, TEXTS = 0.75, 10, 240  # mean reciprocal rank to reach, results per query, texts to search
SHORTER_TARGET = 0.65  # where each query has lost its middle word
WHOLE = 28, 150  # among the other texts: each fifth that one of these loses takes more than 0.1 off its cosine


def _ranks_cases(rng):
    n, k = rng.randint(5, 8), rng.randint(4, 6)
    found = [rng.sample(range(50), k) for _ in range(n)]
    wanted = [places[rng.randrange(1, k)] for places in found]
    wanted[0], wanted[1], wanted[2] = found[0][0], 60, found[2][-1]
    return [
        Case("First places, later places, and one that is not found", (found, wanted)),
        Case("All in the first place", ([[3, 1, 2], [5, 4, 0]], [3, 5])),
        Case("None is found", ([[3, 1, 2], [5, 4, 0]], [7, 8])),
        Case("The wanted place is 0", ([[4, 0, 2]], [0])),
        Case("Lists of unequal length", ([[4, 7], [9, 8, 6, 5], [1]], [7, 5, 2])),
        Case("An empty list", ([[], [3, 1]], [4, 1])),
        Case("A place far down a long list", ([(places := rng.sample(range(50), 15))], [places[-1]])),
        Case("One query", ([[6, 2, 9]], [2])),
    ]


def _reciprocal(found, wanted, first=1, missing=lambda places: 0.0, mean=np.mean):
    return float(
        mean(
            [
                1 / (places.index(want) + first) if want in places else missing(places)
                for places, want in zip(found, wanted)
            ]
        )
    )


RANKS = Exercise(
    id="14-reciprocal-rank",
    title="Mean reciprocal rank",
    arguments=("found", "wanted"),
    cases=_ranks_cases,
    reference=_reciprocal,
    minutes=8,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "These are mean ranks. A rank counts by its reciprocal, 1/rank.",
            lambda f, w: np.mean([p.index(x) + 1 if x in p else 0 for p, x in zip(f, w)]),
        ),
        Mistake(
            "You leave out queries whose text was not found. They count 0, and they count: divide by all queries.",
            lambda f, w: np.mean([1 / (p.index(x) + 1) for p, x in zip(f, w) if x in p] or [0.0]),
        ),
        Mistake(
            "You leave out queries whose text was not found, and where none is found, nothing is left to divide by. "
            "They count 0: divide by all queries.",
            lambda f, w: sum(found := [1 / (p.index(x) + 1) for p, x in zip(f, w) if x in p]) / len(found),
        ),
        Mistake(
            "You leave out queries whose text was not found, and where none is found, the mean of nothing is no "
            "number. They count 0: divide by all queries.",
            lambda f, w: (
                sum(found) / len(found) if (found := [1 / (p.index(x) + 1) for p, x in zip(f, w) if x in p]) else np.nan
            ),
        ),
        Mistake(
            "`index` raises an error where the wanted text is not in the list. It needs a case of its own: `if want "
            "in places`.",
            lambda f, w: np.mean([1 / (p.index(x) + 1) for p, x in zip(f, w)]),
        ),
        Mistake(
            "Ranks count from 1: the first place has the rank 1. You begin with 2.",
            lambda f, w: _reciprocal(f, w, first=2),
        ),
        Mistake(
            "Ranks count from 1. `index` counts from 0, so the first place divides by zero.",
            lambda f, w: _reciprocal(f, w, first=0),
        ),
        Mistake(
            "A text that was not found counts 0. You let it count as if it stood right behind the last place.",
            lambda f, w: _reciprocal(f, w, missing=lambda p: 1 / (len(p) + 1)),
        ),
        Mistake(
            "This is the share of first places. Later places count, too: the second 1/2, the third 1/3.",
            lambda f, w: np.mean([p[:1] == [x] for p, x in zip(f, w)]),
        ),
        Mistake(
            "This is the share of texts that were found anywhere in the list. Where they stand counts.",
            lambda f, w: np.mean([x in p for p, x in zip(f, w)]),
        ),
        Mistake(
            "This is the reciprocal of the mean rank. Take the reciprocals first, then their mean.",
            lambda f, w: 1 / np.mean([p.index(x) + 1 for p, x in zip(f, w) if x in p] or [np.inf]),
        ),
        Mistake("This is the sum. The mean over all queries is asked for.", lambda f, w: _reciprocal(f, w, mean=sum)),
        Mistake(
            "These are the reciprocal ranks of the single queries. Return their mean.",
            lambda f, w: [1 / (p.index(x) + 1) if x in p else 0.0 for p, x in zip(f, w)],
        ),
    ),
    hints=(
        "For each query: where in its list does the wanted text stand? The first place gives 1, the second 1/2, and "
        "no place gives 0.",
        "`places.index(want)` counts from 0, and raises an error if it is not there. Ask `want in places` first.",
    ),
)


@cache
def _pool():
    """(queries, wanted texts, other texts): the development queries, and reviews to search among."""
    from ..data import load_queries, load_reviews

    texts, queries = load_reviews("rotten_tomatoes")["text"], load_queries("dev")
    others = texts.drop(load_queries()["row"]).drop_duplicates().sample(TEXTS - 42, random_state=0)
    return queries["query"].tolist(), texts[queries["row"]].tolist(), others.tolist()


@cache
def _vectors():
    """The vectors of every text in the pool, {pooling: {text: vector}}, computed once for all checks of a session."""
    from ..embedding import embed

    texts, poolings = [text for part in _pool() for text in part], ("mean", "cls", "max")
    texts += [*map(_without_middle, _pool()[0]), *(text for family in _beginnings() for text in family)]
    return {
        pooling: dict(zip(texts, vectors))
        for pooling, vectors in zip(poolings, embed(texts, pooling=poolings, normalize=False))
    }


def _without_middle(query):
    words = query.split()
    return " ".join(words[: len(words) // 2] + words[len(words) // 2 + 1 :])


def _beginnings():
    """Some texts, each followed by its first four fifths, three fifths, two fifths and first fifth."""
    texts = [_pool()[2][number].split() for number in WHOLE]
    return [[" ".join(words[: round(len(words) * fifths / 5)]) for fifths in (5, 4, 3, 2, 1)] for words in texts]


def _find_cases(rng):
    queries, wanted, others = _pool()
    shorter = list(map(_without_middle, queries))
    texts = rng.sample([*wanted, *others], TEXTS)
    exact, rest = texts[:5], texts[5 : TEXTS // 2]
    family = rng.choice(_beginnings())
    beginnings = [family[n] for n in rng.choice([(2, 4, 1, 3), (3, 1, 4, 2)])]  # in no order of length
    beginnings.insert(rng.randrange(5), family[0])
    return [
        Case(f"{len(queries)} development queries, {TEXTS} texts", (queries, texts, DEPTH)),
        Case("The same queries, each without its middle word", (shorter, texts, DEPTH)),
        Case("A text of the collection, word for word, finds itself first", (exact, rest + exact, 1)),
        Case("As many places as texts: the query and its beginnings", (family[:1], beginnings, 5)),
    ]


def _mean_reciprocal_rank(queries, texts, found):
    """A query of no known target wants itself."""
    asked, targets, _ = _pool()
    target_of = dict(zip([*asked, *map(_without_middle, asked)], [*targets, *targets]))
    return np.mean(
        [
            next(
                (1 / rank for rank, place in enumerate(places, 1) if texts[int(place)] == target_of.get(query, query)),
                0.0,
            )
            for query, places in zip(queries, found)
        ]
    )


def _cosines(queries, texts, pooling="mean", of_texts=None, normalize=True):
    one, other = (
        np.stack([_vectors()[kind][sentence] for sentence in sentences])
        for kind, sentences in ((pooling, queries), (of_texts or pooling, texts))
    )
    if normalize:
        one, other = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (one, other))
    return one @ other.T


def _best(scores, k):
    return np.argsort(-scores, axis=1, kind="stable")[:, :k].tolist()


def _find(queries, texts, k):
    return _best(_cosines(queries, texts), k)


def _by_words(sublinear):
    def find(queries, texts, k):
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(sublinear_tf=sublinear).fit(texts)
        return _best((words.transform(queries) @ words.transform(texts).T).toarray(), k)

    return find


def _is_table(value):
    """Whether this is a matrix or a list of lists. For two queries, the answer itself is a pair of lists of numbers."""
    return (
        np.ndim(value) == 2
        if is_array(value)
        else isinstance(value, (list, tuple)) and all(isinstance(row, (list, tuple)) or is_array(row) for row in value)
    )


def _judge(args, outcome):
    queries, texts, k = args
    if isinstance(outcome, tuple) and len(outcome) == 2 and all(map(_is_table, outcome)):
        return "your function returned two things, as `search` does. Only the places are asked for: the first of them"
    try:
        found = [list(places) for places in outcome]
    except TypeError:
        return "your function returned no lists of places. One for each query is asked for, where k is 1, too"
    if len(found) != len(queries):
        return f"your function returned {len(found)} lists for {len(queries)} queries"
    for number, places in enumerate(found):
        if not all(np.ndim(place) == 0 and np.issubdtype(np.asarray(place).dtype, np.number) for place in places):
            return (
                f"query {number} has {places[0]!r:.80} in its list, which is no place in `texts`: a whole number is "
                "asked for"
            )
        if len(places) != k:
            return f"query {number} has {len(places)} places where k = {k} are asked for"
        if (
            any(place != int(place) or not 0 <= place < len(texts) for place in places)
            or len(set(map(int, places))) < k
        ):
            return (
                f"the list of query {number} begins with {places[:3]}; it must hold {k} different whole numbers from "
                f"0 to {len(texts) - 1}"
            )
    if k == len(texts):
        return _order_of_beginnings(texts, found[0])
    asked = _pool()[0]
    target = (TARGET if queries[0] in asked else SHORTER_TARGET) if k == DEPTH else 1.0
    reached = _mean_reciprocal_rank(queries, texts, found)
    return None if reached >= target else f"the mean reciprocal rank is {reached:.3f}, and the target is {target}"


def _order_of_beginnings(texts, places):
    names = ("the whole text", "its first four fifths", "three fifths", "two fifths", "one fifth")
    longest_first = sorted(texts, key=len, reverse=True)
    order = [longest_first.index(texts[int(place)]) for place in places]
    if order == sorted(order):
        return None
    return f"the list holds {', '.join(names[n] for n in order)}. The right order is {', '.join(names)}"


def _alike(one, other):
    """Whether more than 90% of the places agree: rounding decides the order of two equally near texts."""
    one, other = np.asarray(one), np.asarray(other)
    return one.shape == other.shape and float(np.mean(np.isclose(one, other, atol=1e-5))) > 0.9


FIND = Exercise(
    id="14-search",
    title="A search that reaches its target",
    arguments=("queries", "texts", "k"),
    cases=_find_cases,
    reference=_find,
    judge=_judge,
    alike=_alike,
    minutes=25,
    difficulty=3,
    points=4,
    seconds=60,
    mistakes=(
        Mistake(
            "You search with [CLS] vectors. This encoder was trained so that the *mean* of its tokens can be "
            "compared (lesson 04).",
            lambda q, t, k: _best(_cosines(q, t, "cls"), k),
        ),
        Mistake(
            "You search with the maximum over tokens. This encoder was trained so that their *mean* can be compared "
            "(lesson 04).",
            lambda q, t, k: _best(_cosines(q, t, "max"), k),
        ),
        Mistake(
            "Queries and texts are pooled in different ways. Use the same pooling, the mean, for both.",
            lambda q, t, k: _best(_cosines(q, t, "mean", "cls"), k),
        ),
        Mistake(
            "Queries and texts are pooled in different ways. Use the same pooling, the mean, for both.",
            lambda q, t, k: _best(_cosines(q, t, "cls", "mean"), k),
        ),
        Mistake(
            "These are dot products of vectors of any length, so long ones win. Cosines need vectors of length 1.",
            lambda q, t, k: _best(_cosines(q, t, normalize=False), k),
        ),
        Mistake(
            "These are the *least* similar texts: sort from the highest cosine down.",
            lambda q, t, k: _best(-_cosines(q, t), k),
        ),
        Mistake(
            "`[::-1]` turns the *queries* round. To turn the places of each query round, write `[:, ::-1]`.",
            lambda q, t, k: [places[::-1] for places in _find(q, t, k)][::-1],
        ),
        Mistake(
            "You search by words, and the queries are in other words than the texts. Compare meanings: vectors of "
            "the encoder.",
            _by_words(False),
        ),
        Mistake(
            "You search by words, and the queries are in other words than the texts. Compare meanings: vectors of "
            "the encoder.",
            _by_words(True),
        ),
        Mistake(
            "The best k are there, with the best one last. Sort from the highest cosine down.",
            lambda q, t, k: [places[::-1] for places in _find(q, t, k)],
        ),
        Mistake(
            "You return the cosines. The places of the best texts are asked for.",
            lambda q, t, k: -np.sort(-_cosines(q, t), axis=1)[:, :k],
        ),
        Mistake(
            "You return the texts. Their places in `texts` are asked for.",
            lambda q, t, k: [[t[place] for place in places] for places in _find(q, t, k)],
        ),
        Mistake(
            "You return the same places for every query: those of the first one.",
            lambda q, t, k: [_find(q[:1], t, k)[0] for _ in q],
        ),
        Mistake(
            "Places in `texts` count from 0. Yours count from 1.",
            lambda q, t, k: [[place + 1 for place in places] for places in _find(q, t, k)],
        ),
    ),
    hints=(
        "Three steps that you know: a vector for each text and each query (`embed`), all cosines (a matrix "
        "product), the k highest of each row.",
        "The course's own `search(queries, corpus, k)` of lesson 09 takes vectors, and does the last two steps.",
        "`places, cosines = search(embed(queries), embed(texts), k)`, and `places.tolist()` is a list of lists.",
    ),
)


def _top(scores, k):
    return np.argsort(-scores, axis=1)[:, :k]


def _symptoms(queries, texts, k):
    dots = queries @ texts.T
    right = _top(dots / np.linalg.norm(texts, axis=1), k)
    return {
        "fine": right,
        "lengths": _top(dots, k),
        "reversed": right[:, ::-1],
        "shifted": right + 1,
        "stuck": np.repeat(right[:1], len(queries), axis=0),
    }


def _diagnose(queries, texts, found, told=("fine", "lengths", "reversed", "shifted", "stuck")):
    symptoms = _symptoms(queries, texts, len(found[0]))
    return next((name for name in told if np.array_equal(symptoms[name], found)), "fine")


def _told_by_texts(queries, texts, found, name):
    """Says `name` where the right texts stand in another order."""
    right = _symptoms(queries, texts, len(found[0]))["fine"]
    if np.array_equal(np.sort(right, axis=1), np.sort(found, axis=1)) and not np.array_equal(right, found):
        return name
    return _diagnose(queries, texts, found)


def _told_by_first_places(queries, texts, found):
    right = _symptoms(queries, texts, len(found[0]))["fine"]
    return "fine" if np.array_equal(right[:, 0], np.asarray(found)[:, 0]) else _diagnose(queries, texts, found)


def _searches(rng, n, k, last):
    """One result of each kind, no two alike: for the first and the last of n queries, the lengths change nothing.

    last: whether some shifted place is m. The vectors have unequal lengths.
    """
    while True:
        m, width = rng.randint(5, 9), rng.randint(3, 6)
        queries, texts = normal(rng, n, width).numpy(), normal(rng, m, width).numpy()
        found = set(_symptoms(queries, texts, k)["fine"].ravel().tolist())
        if not (fit := found if last else set(range(m)) - found):
            continue
        texts[[m - 1, min(fit)]] = texts[[min(fit), m - 1]]
        searches = _of_some_lengths(rng, queries, texts, k, last)
        if searches:
            return searches


def _of_some_lengths(rng, queries, directions, k, last, draws=20):
    """As `_searches`, for texts of these directions, or None if no drawn lengths will do."""
    n, m = len(queries), len(directions)
    for _ in range(draws):
        texts = directions * np.array([[rng.uniform(0.2, 5)] for _ in range(m)], dtype=np.float32)
        symptoms = _symptoms(queries, texts, k)
        kinds = {tuple(map(tuple, np.sort(places, axis=1))) for name, places in symptoms.items() if name != "reversed"}
        ends = [0] if n == 2 else [0, -1]
        if (
            len(kinds) == 4
            and (symptoms["lengths"][ends] == symptoms["fine"][ends]).all()
            and (symptoms["shifted"].max() == m) == last
        ):
            return {name: (queries, texts, places.tolist()) for name, places in symptoms.items()}


def _dominated(rng):
    """A search by dot products that finds the same texts for every query, which cosines do not: some are very long."""
    while True:
        queries, texts = normal(rng, 2, 4).numpy(), normal(rng, 7, 4).numpy()
        texts[:2] *= 50
        symptoms = _symptoms(queries, texts, 2)
        lists, right = symptoms["lengths"], np.sort(symptoms["fine"], axis=1)
        others = (np.sort(lists, axis=1) != right).any(axis=1).all() and (lists != symptoms["shifted"]).any()
        if others and (lists[0] == lists[1]).all() and (right[0] != right[1]).any():
            return queries, texts, lists.tolist()


def _same_texts(rng):
    """A search by dot products that finds the right texts: in one list, two in the middle have changed places."""
    while True:
        queries, texts = normal(rng, 3, 4).numpy(), normal(rng, 6, 4).numpy()
        texts *= np.array([[rng.uniform(0.9, 1.1)] for _ in texts]) / np.linalg.norm(texts, axis=1, keepdims=True)
        symptoms = _symptoms(queries, texts, 5)
        right, lists = symptoms["fine"], symptoms["lengths"]
        exchanged = right.copy()
        exchanged[1, [2, 3]] = right[1, [3, 2]]
        if (lists == exchanged).all() and len(set(right[:, 0])) > 1:
            return queries, texts, lists.tolist()


def _diagnose_cases(rng):
    drawn = [_searches(rng, 2, 2, False), _searches(rng, 3, 3, True), _searches(rng, 4, rng.randint(2, 3), False)]
    drawn[1]["lengths"] = _same_texts(rng)
    labels = {
        "fine": "A search that works, on vectors of any length",
        "lengths": "Long vectors score high, for some query",
        "reversed": "The best comes last",
        "shifted": "Every place is one too high",
        "stuck": "The results of the first query, for all",
    }
    return [
        *(Case(label, searches[name]) for searches in drawn for name, label in labels.items()),
        Case("The same long vectors for all queries", _dominated(rng)),
    ]


DIAGNOSE = Exercise(
    id="14-diagnose",
    title="What is wrong with this search?",
    arguments=("queries", "texts", "found"),
    cases=_diagnose_cases,
    reference=_diagnose,
    minutes=15,
    difficulty=3,
    points=3,
    mistakes=(
        Mistake(
            "You look at the first query only. Its list is right in a search that is stuck, and may be right where the "
            "lengths count. Compare the lists of all queries.",
            lambda q, t, f: _diagnose(q[:1], t, f[:1]),
        ),
        Mistake(
            "You take the dot products for the right scores, so `fine` and `lengths` are swapped. Cosines need "
            "vectors of length 1.",
            lambda q, t, f: {"fine": "lengths", "lengths": "fine"}.get(_diagnose(q, t, f), _diagnose(q, t, f)),
        ),
        Mistake(
            "You miss lists in which the best comes last. Their texts are right, and only the order is wrong.",
            lambda q, t, f: _diagnose(q, t, f, told=("fine", "lengths", "shifted", "stuck")),
        ),
        Mistake(
            "You compare which texts were found, not in which order. In a reversed list the texts are right, and they "
            "may be right where the lengths count.",
            lambda q, t, f: _told_by_texts(q, t, f, "fine"),
        ),
        Mistake(
            "You take each list of the right texts in another order for a reversed one. Where the lengths count, the "
            "texts may be right, too: compare the order.",
            lambda q, t, f: _told_by_texts(q, t, f, "reversed"),
        ),
        Mistake(
            "Your answer goes by the first places, and they may be right where the lengths count: compare whole lists.",
            _told_by_first_places,
        ),
        Mistake(
            "You look the scores of the places up, and a shifted place may lie behind the last text. Compare places "
            "instead.",
            lambda q, t, f: [scores[places] for scores, places in zip(q @ t.T, f)] and _diagnose(q, t, f),
        ),
        Mistake("You find every search fine. Compare the lists with those of a right search.", lambda q, t, f: "fine"),
        Mistake(
            "You take each search for fine or reversed. Three other things can be wrong.",
            lambda q, t, f: _diagnose(q, t, f, told=("fine", "reversed")),
        ),
        Mistake(
            "You miss lists that are ordered by the dot product: they look like the right ones for some queries.",
            lambda q, t, f: _diagnose(q, t, f, told=("fine", "reversed", "shifted", "stuck")),
        ),
        Mistake(
            "You miss places that are one too high. Such a list equals the right one plus 1.",
            lambda q, t, f: _diagnose(q, t, f, told=("fine", "reversed", "lengths", "stuck")),
        ),
        Mistake(
            "You miss searches that are stuck. Each of their lists equals the right list of the first query.",
            lambda q, t, f: _diagnose(q, t, f, told=("fine", "reversed", "lengths", "shifted")),
        ),
        Mistake(
            "You return whether the search is fine. One of the five words is asked for.",
            lambda q, t, f: _diagnose(q, t, f) == "fine",
        ),
    ),
    hints=(
        "Build the right lists first: cosines, then the k highest of each query. What would each of the five searches "
        "have returned?",
        "Compute all five results, and return the word whose lists equal `found`: `np.array_equal(lists, found)`.",
    ),
)

EXERCISES = (RANKS, FIND, DIAGNOSE)
