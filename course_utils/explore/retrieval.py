"""What Python answers to explorers that search: documentation (lesson 12), reviews (lesson 14)."""

import functools
import re
from collections import Counter

import numpy as np
import torch
from safetensors.numpy import load_file

from ..data import (
    load_doc_judgements,
    load_doc_queries,
    load_docstrings,
    load_queries,
    load_reviews,
)
from ..embedding import embed, hidden_states
from ..pooling import POOLINGS, normalise
from ..ranking import FUSION, best_of_each, bm25_parts, ndcgs, reciprocal_sums, words
from ..trainings.search import DEPTH, VECTORS, pages
from .encoder import rounded, run, tokens_of

# ids in `load_doc_queries`, in the order of the explorer's menu
DOC_QUERIES = tuple("d50 d03 d12 d54 d21 d31 d05 d35 d43 d25 d06 d01".split())
COSINE_UNITS = 100_000  # documentation's cosines are whole numbers: this many are a cosine of 1
LISTED = 8  # pages of each list that are shown
RESULTS = 6  # sentences that are shown
# The histogram of cosines; `page/compute.js` and `search.js` have copies of its numbers.
BINS = 26  # from LOWEST to 1
BINS_PER_UNIT = 20  # so that a bin is 0.05 wide
LOWEST = -0.3  # where the first bin begins; it also counts what is lower


@functools.cache
def documentation() -> dict:
    """All that decides the lists of lesson 12 for `DOC_QUERIES`: every page, so lists are exact.

    A page is known by its place, counted from 0. The keys:

    - "names", "lengths": of the pages; lengths in words.
    - "counts": {word: [steps, counts]} of all queries' words. The steps lead from 0 to the first
      page that has the word, and on from each such page to the next; counts are those in each.
    - "fusion": the constant of reciprocal rank fusion.
    - "queries": {id: entry}, in the order of `DOC_QUERIES`. An entry has
        - "query", "kind": the text, and the kind of query,
        - "cosines": of each page's best window, in units of 1 / COSINE_UNITS,
        - "grades": [page, grade] of each judged page.
    """
    docs, stored = load_docstrings(), load_file(VECTORS)
    place_of = {name: place for place, name in enumerate(docs["name"])}
    doc_queries = load_doc_queries("dev").set_index("id").loc[list(DOC_QUERIES)]
    words_of = [Counter(words(page)) for page in pages(docs)]
    query_vectors = embed(doc_queries["query"].tolist(), model="packaged")
    cosines = best_of_each(query_vectors @ stored["vectors"].astype("f4").T, stored["owners"])
    judged = load_doc_judgements()
    queries = {}
    for position, query in enumerate(doc_queries.itertuples()):
        its_judgements = judged[judged["id"] == query.Index]
        queries[query.Index] = {
            "query": query.query,
            "kind": query.kind,
            "cosines": (COSINE_UNITS * cosines[position]).round().astype(int).tolist(),
            "grades": [
                [place_of[name], grade]
                for name, grade in zip(its_judgements["name"], its_judgements["grade"].tolist())
            ],
        }
    return {
        "names": docs["name"].tolist(),
        "lengths": [counted.total() for counted in words_of],
        "counts": {
            word: _occurrences(word, words_of)
            for query in doc_queries["query"]
            for word in words(query)
        },
        "fusion": FUSION,
        "queries": queries,
    }


def _occurrences(word: str, words_of: list[Counter[str]]) -> list[list[int]]:
    # [steps, counts], as in `documentation`
    places = [place for place, counted in enumerate(words_of) if word in counted]
    return [np.diff(places, prepend=0).tolist(), [words_of[place][word] for place in places]]


def hybrid(
    query: str, off: list[str], k1: float, b: float, fusion: str, weight: float, page: int | None
) -> dict:
    """What lesson 12's formulas find for one query: pages by words, by vectors and by both.

    query: an id of `DOC_QUERIES`. off: its words that BM25 leaves out. k1, b: as in `bm25`. fusion:
    "sum" of scaled scores, those by words with this `weight` from 0 to 1 and those by vectors with
    the rest; or "ranks", reciprocal rank fusion of the first DEPTH of each list.
    page: the place of a page to explain, or None.

    Returns (three of a kind are by words, by both and by vectors, in this order):

    - "queries": [id, kind, text] of each query that can be chosen.
    - "words": [word, number of pages that have it] of each word of this query.
    - "size": the number of all pages.
    - "lists": three lists of [page, score], as far as they are shown. A page without any of the
      words is not in the list of the words.
    - "pages": of each page in "lists" its place as "page", and "name", "length" (words), "grade"
      (None if not judged) and "ranks" (three; None where it is in no list).
    - "good": the number of relevant pages.
    - "ndcg": three values, each of the first ten pages.
    - "explained": of `page` the same as in "pages", and what `_explanation` adds; or None.
    """
    docs = documentation()
    entry = docs["queries"][query]
    in_query = words(entry["query"])
    per_word = [_bm25_of(word, k1, b) for word in in_query if word not in off]
    # it begins with zeros, since all words may be left out
    by_words = sum(
        (rarity * scores for _, rarity, _, scores in per_word), np.zeros(len(docs["names"]))
    )
    by_vectors = np.array(entry["cosines"]) / COSINE_UNITS
    orders, scores_of = _rankings(by_words, by_vectors, fusion, weight)
    lists = [_listed(order, scores) for order, scores in zip(orders, scores_of)]
    grades = dict(entry["grades"])
    relevant = {place: grade for place, grade in grades.items() if grade}
    ranks = [{place: rank for rank, place in enumerate(order, start=1)} for order in orders]
    shown = sorted({place for listed in lists for place, _ in listed})
    explained = (
        None
        if page is None
        else _about(page, grades, ranks) | _explanation(page, per_word, by_words, by_vectors)
    )
    return {
        "queries": [[id_, other["kind"], other["query"]] for id_, other in docs["queries"].items()],
        "words": [[word, len(docs["counts"][word][0])] for word in dict.fromkeys(in_query)],
        "size": len(docs["names"]),
        "lists": lists,
        "pages": [{"page": place, **_about(place, grades, ranks)} for place in shown],
        "good": len(relevant),
        "ndcg": rounded(ndcgs(orders, [relevant] * len(orders)), 6),
        "explained": explained,
    }


def _about(place: int, grades: dict[int, int], ranks: list[dict[int, int]]) -> dict:
    # of a page, as in "pages" of `hybrid`; ranks: {place: rank} of each list
    return {
        "name": documentation()["names"][place],
        "length": documentation()["lengths"][place],
        "grade": grades.get(place),
        "ranks": [rank_of.get(place) for rank_of in ranks],
    }


def _explanation(
    page: int,
    per_word: list[tuple[str, float, np.ndarray, np.ndarray]],
    by_words: np.ndarray,
    by_vectors: np.ndarray,
) -> dict:
    """Where a page's scores come from.

    per_word: of each word what `_bm25_of` returns. by_words, by_vectors: the scores of all pages.
    The result has

    - "times": the page's length, in mean lengths.
    - "parts": [word, rarity, count, score] of each word that BM25 counts.
    - "score", "cosine": by words and by vectors.
    """
    lengths = documentation()["lengths"]
    return {
        "times": rounded(lengths[page] / float(np.mean(lengths))),
        "parts": [
            [word, rounded(rarity), int(counts[page]), rounded(float(scores[page]))]
            for word, rarity, counts, scores in per_word
        ],
        "score": rounded(float(by_words[page])),
        "cosine": float(by_vectors[page]),
    }


def _bm25_of(word: str, k1: float, b: float) -> tuple[str, float, np.ndarray, np.ndarray]:
    """A word of a query, how rare it is, and for each page its count and its score from 0 to 1."""
    lengths = np.array(documentation()["lengths"], dtype=float)
    steps, counts_there = documentation()["counts"][word]
    places = np.cumsum(steps, dtype=int)  # with a type, since there may be no steps
    counts, scores = np.zeros(len(lengths), dtype=int), np.zeros(len(lengths))
    counts[places] = counts_there
    rarity, scores[places] = bm25_parts(
        counts[places], lengths[places], lengths.mean(), len(steps), len(lengths), k1, b
    )
    return word, float(rarity), counts, scores


def _rankings(
    by_words: np.ndarray, by_vectors: np.ndarray, fusion: str, weight: float
) -> tuple[list[list[int]], list[np.ndarray]]:
    """All places by words, by both and by vectors, the best first; and the scores of all pages."""
    of_words = [place for place in _ordered(by_words) if by_words[place] > 0]
    of_vectors = _ordered(by_vectors)
    if fusion == "ranks":
        sums = reciprocal_sums([of_words[:DEPTH], of_vectors[:DEPTH]])
        by_both = np.array([sums.get(place, 0.0) for place in range(len(by_words))])
        of_both = sorted(sums, key=lambda place: -sums[place])
    else:
        by_both = weight * _scaled(by_words) + (1 - weight) * _scaled(by_vectors)
        of_both = _ordered(by_both)
    return [of_words, of_both, of_vectors], [by_words, by_both, by_vectors]


def _ordered(scores: np.ndarray) -> list[int]:
    """Places by descending score; scores that agree in nine decimals keep the pages' order."""
    return np.argsort(-np.round(1e9 * scores), kind="stable").tolist()


def _scaled(scores: np.ndarray) -> np.ndarray:
    # 1e-9: scores that are all equal become 0
    return (scores - scores.mean()) / (scores.std() + 1e-9)


def _listed(order: list[int], scores: np.ndarray) -> list[list]:
    return [[place, rounded(float(scores[place]))] for place in order[:LISTED]]


@functools.cache
def collection() -> tuple[list[str], torch.Tensor, torch.Tensor]:
    """Sentences to search in, with vectors in 8 bits by every hidden state and pooling.

    They are those of lesson 14's sentences that have 12 to 24 words, and of these each fourth and
    those that its development queries look for: few enough for the book's pages, which load them.

    Returns (texts, codes, scales): `codes` int8 (states, poolings, texts, hidden), `scales` float32
    (states, poolings, texts); code times scale is a vector of length 1. The poolings stand in the
    order of `pooling.POOLINGS`. A progress bar appears after two seconds.
    """
    reviews = load_reviews()["text"]
    reviews = reviews[reviews.str.split().str.len().between(12, 24)]
    texts = reviews[sorted({*reviews.index[::4], *load_queries("dev")["row"]})].tolist()
    batches = []
    for places, states, mask in hidden_states(texts):
        pooled = [normalise(pool(state, mask)) for state in states for pool in POOLINGS.values()]
        # (states, poolings, texts of the batch, hidden)
        batches.append((places, torch.stack(pooled).unflatten(0, (-1, len(POOLINGS)))))
    order = torch.tensor([place for places, _ in batches for place in places])
    # (states, poolings, texts, hidden), in the order of the texts again
    vectors = torch.cat([batch for _, batch in batches], dim=2)[:, :, order.argsort()]
    scales = vectors.abs().amax(-1) / torch.iinfo(torch.int8).max
    codes = (vectors / scales[..., None]).round().to(torch.int8)
    return texts, codes, scales


def search(query: str, layer: int, pooling: str) -> dict:
    """The sentences nearest to a query, by the vectors of one hidden state and pooling.

    layer: which hidden state, from 0. pooling: a name of `pooling.POOLINGS`. The usual vectors are
    those of the last state and the mean. Raises ExploreError as `tokens_of` does.

    Returns:

    - "results": of the nearest sentences "text", "cosine", "usual" (the rank by the usual vectors)
      and "shared" (the words that the query has, too).
    - "first": the rank of the sentence that is first by the usual vectors.
    - "size": the number of sentences.
    - "counts": how many cosines are in each bin of a histogram.
    - "lowest", "mean": of all cosines.
    """
    tokens_of(query, "search")  # for its checks; `run` would cut off a long query
    _, mask, output = run([query])
    texts, codes, scales = collection()

    def cosines_by(state: int, name: str) -> list[float]:
        vector = normalise(POOLINGS[name](output.hidden_states[state], mask))[0]
        place = list(POOLINGS).index(name)
        return rounded(codes[state, place].float() @ vector * scales[state, place], 3)

    cosines, usual = cosines_by(layer, pooling), cosines_by(-1, "mean")
    order = sorted(range(len(texts)), key=lambda place: -cosines[place])
    # of the texts, nearly all are in lower case already
    query_words = set(re.findall(r"\w+", query.lower()))
    bins = np.floor((np.array(cosines) - LOWEST) * BINS_PER_UNIT).clip(0, BINS - 1).astype(int)
    results = [
        {
            "text": texts[place],
            "cosine": cosines[place],
            "usual": sum(value > usual[place] for value in usual) + 1,
            "shared": sorted(query_words.intersection(re.findall(r"\w+", texts[place]))),
        }
        for place in order[:RESULTS]
    ]
    return {
        "results": results,
        "first": order.index(usual.index(max(usual))) + 1,
        "size": len(texts),
        "counts": np.bincount(bins, minlength=BINS).tolist(),
        "lowest": min(cosines),
        "mean": round(sum(cosines) / len(cosines), 3),
    }
