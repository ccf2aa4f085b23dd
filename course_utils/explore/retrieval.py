"""What Python answers to the two explorers that search: in documentation (lesson 12), and in
reviews (lesson 14).
"""

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

# ids in `load_doc_queries`
DOC_QUERIES = tuple("d50 d03 d12 d54 d21 d31 d05 d35 d43 d25 d06 d01".split())
LISTED = 8  # pages of each list that are shown
RESULTS = 6  # sentences that are shown
BINS, LOWEST = 26, -0.3  # of the histogram of cosines, each 0.05 wide


@functools.cache
def documentation() -> dict:
    """All that decides the lists of lesson 12 for `DOC_QUERIES`: every page, so the lists are exact.

    "names" and "lengths" have the pages, lengths in words. "counts" has for each word of a query
    the pages that have it, as steps from one to the next, and how often each has it. "queries" has
    for each id its "query" and "kind", its "grades" (page, grade), and the "cosines" of the pages'
    best windows, in units of 0.00001. "fusion" is the constant of reciprocal rank fusion.
    """
    docs, stored = load_docstrings(), load_file(VECTORS)
    place_of = {name: place for place, name in enumerate(docs["name"])}
    asked = load_doc_queries("dev").set_index("id").loc[list(DOC_QUERIES)]
    words_of = [Counter(words(page)) for page in pages(docs)]
    counts = {}
    for query in asked["query"]:
        for word in words(query):
            places = [place for place, counted in enumerate(words_of) if word in counted]
            counts[word] = [
                np.diff(places, prepend=0).tolist(),
                [words_of[place][word] for place in places],
            ]
    asked_vectors = embed(asked["query"].tolist(), model="packaged")
    cosines = best_of_each(asked_vectors @ stored["vectors"].astype("f4").T, stored["owners"])
    judged = load_doc_judgements()
    queries = {}
    for place, row in enumerate(asked.itertuples()):
        grades = judged[judged["id"] == row.Index]
        queries[row.Index] = {
            "query": row.query,
            "kind": row.kind,
            "cosines": (100_000 * cosines[place]).round().astype(int).tolist(),
            "grades": [
                [place_of[name], grade]
                for name, grade in zip(grades["name"], grades["grade"].tolist())
            ],
        }
    return {
        "names": docs["name"].tolist(),
        "lengths": [counted.total() for counted in words_of],
        "counts": counts,
        "fusion": FUSION,
        "queries": queries,
    }


def _ordered(scores):
    """Places by descending score; scores that are equal but for rounding keep the order of the
    pages.
    """
    return np.argsort(-np.round(1e9 * np.asarray(scores)), kind="stable").tolist()


def hybrid(
    query: str, off: list[str], k1: float, b: float, fusion: str, weight: float, page: int | None
) -> dict:
    """The pages of the documentation by words, by vectors and by both, for one query: lesson 12's
    formulas.

    query: an id of `DOC_QUERIES`. off: its words that BM25 leaves out. fusion: "sum" of scaled
    scores, the words with this `weight`, or reciprocal "ranks" of the first thirty. page: the place
    of a page to explain, or None.

    "lists", "ndcg" and each page's "ranks" are those of words, both and vectors, in this order. A
    page without any of the words is not in the list of the words, and has no rank there.
    """
    docs = documentation()
    asked, names, lengths = docs["queries"][query], docs["names"], docs["lengths"]
    in_query = words(asked["query"])
    parts = [(word, *_bm25_of(word, k1, b)) for word in in_query if word not in off]
    by_words = sum((rarity * worth for _, rarity, _, worth in parts), np.zeros(len(names)))
    by_vectors = np.array(asked["cosines"]) / 100_000
    orders, lists = _rankings(by_words, by_vectors, fusion, weight)
    grades = dict(asked["grades"])
    good = {place: grade for place, grade in grades.items() if grade}
    ranks = [{place: rank for rank, place in enumerate(order, start=1)} for order in orders]

    def about(place):
        return {
            "name": names[place],
            "length": lengths[place],
            "grade": grades.get(place),
            "ranks": [rank_of.get(place) for rank_of in ranks],
        }

    explained = None
    if page is not None:
        explained = {
            **about(page),
            "times": rounded(lengths[page] / float(np.mean(lengths))),
            "parts": [
                [word, rounded(float(rarity)), int(counts[page]), rounded(float(worth[page]))]
                for word, rarity, counts, worth in parts
            ],
            "score": rounded(float(by_words[page])),
            "cosine": float(by_vectors[page]),
        }
    shown = sorted({place for listed in lists for place, _ in listed})
    return {
        "queries": [
            [id_, docs["queries"][id_]["kind"], docs["queries"][id_]["query"]]
            for id_ in DOC_QUERIES
        ],
        "words": [[word, len(docs["counts"][word][0])] for word in dict.fromkeys(in_query)],
        "size": len(names),
        "lists": lists,
        "pages": [{"page": place, **about(place)} for place in shown],
        "good": len(good),
        "ndcg": rounded(ndcgs([order[:10] for order in orders], [good] * 3), 6),
        "explained": explained,
    }


def _rankings(by_words, by_vectors, fusion, weight):
    """The places of pages in the lists of words, both and vectors, and what is shown of each list:
    places with scores.
    """
    of_words = [place for place in _ordered(by_words) if by_words[place] > 0]
    of_vectors = _ordered(by_vectors)
    if fusion == "ranks":
        sums = reciprocal_sums([of_words[:DEPTH], of_vectors[:DEPTH]])
        by_both = np.array([sums.get(place, 0.0) for place in range(len(by_words))])
        of_both = sorted(sums, key=lambda place: -sums[place])
    else:
        by_both = weight * _scaled(by_words) + (1 - weight) * _scaled(by_vectors)
        of_both = _ordered(by_both)
    orders = [of_words, of_both, of_vectors]
    lists = []
    for order, scores in zip(orders, (by_words, by_both, by_vectors)):
        lists.append([[place, rounded(float(scores[place]))] for place in order[:LISTED]])
    return orders, lists


def _bm25_of(word, k1, b):
    """(rarity, counts, worth) of a word of a query: how rare it is, how often each page has it, and
    what that is worth.
    """
    docs = documentation()
    lengths = np.array(docs["lengths"], dtype=float)
    steps, counts_there = docs["counts"][word]
    places = np.cumsum(steps, dtype=int)  # with a type, since there may be no steps
    counts, worth = np.zeros(len(lengths), dtype=int), np.zeros(len(lengths))
    counts[places] = counts_there
    rarity, worth[places] = bm25_parts(
        counts[places], lengths[places], lengths.mean(), len(steps), len(lengths), k1, b
    )
    return rarity, counts, worth


def _scaled(scores):
    return (scores - scores.mean()) / (scores.std() + 1e-9)


@functools.cache
def collection() -> tuple[list[str], torch.Tensor, torch.Tensor]:
    """Sentences to search in, and for each its vectors by every hidden state and pooling, in 8
    bits.

    They are every fourth sentence of lesson 14, and those that its development queries look for.

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
        batches.append((places, torch.stack(pooled).unflatten(0, (-1, len(POOLINGS)))))
    vectors = torch.cat([batch for _, batch in batches], dim=2)  # (states, poolings, texts, hidden)
    order = torch.tensor([place for places, _ in batches for place in places])
    vectors = vectors[:, :, order.argsort()]  # in the order of the texts again
    scales = vectors.abs().amax(-1) / 127
    codes = (vectors / scales[..., None]).round().to(torch.int8)
    return texts, codes, scales


def search(query: str, layer: int, pooling: str) -> dict:
    """The sentences of the collection nearest to a query, by the vectors of one hidden state and
    pooling.

    layer: which hidden state, from 0. pooling: a name of `pooling.POOLINGS`. "usual" is the rank by
    the last state and the mean; "first" is the rank here of the sentence that is first by these.
    """
    tokens_of(query, "search")
    _, mask, output = run([query])
    texts, codes, scales = collection()

    def cosines_by(state, name):
        vector = normalise(POOLINGS[name](output.hidden_states[state], mask))[0]
        place = list(POOLINGS).index(name)
        return rounded(codes[state, place].float() @ vector * scales[state, place], 3)

    cosines, usual = cosines_by(layer, pooling), cosines_by(-1, "mean")
    order = sorted(range(len(texts)), key=lambda place: -cosines[place])
    query_words = set(re.findall(r"\w+", query.lower()))
    bins = np.floor((np.array(cosines) - LOWEST) * 20).clip(0, BINS - 1).astype(int)
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
