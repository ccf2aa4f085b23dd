"""How an HNSW index grows: what it compares and finds, among a thousand to a million vectors.

    python -m course_utils.trainings.growth

embeds 100,500 sentences of IMDB reviews, draws as many vectors with their mean and covariance, and
writes `growth.csv`, which lesson 13 loads, beside this file (about an hour on two cores, most of it
for a million drawn vectors, which need 4 GB of memory). All is built and asked in one thread: with
more, the graph depends on which thread is first.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..evaluation import bootstrap
from ..ranking import recalls
from .common import FOLDER, Folder, Row, mean, rounded, rows_of_each, script, write_table
from .matryoshka import review_sentences
from .search import text_vectors

FILE = FOLDER / "growth.csv"  # a row per kind of vectors, their number, and width of the search
SIZES = {"reviews": (1_000, 10_000, 100_000), "drawn": (1_000, 10_000, 100_000, 1_000_000)}
WIDTHS = (16, 32, 64, 128, 256, 512)  # usearch's `expansion_search`
ASKED, K = 500, 10  # queries; the nearest vectors that are looked for
BLOCK = 50_000  # vectors that are drawn or added at a time, to save memory


def review_vectors(number: int) -> np.ndarray:
    """Unit vectors, (number, 384) in float16, of different sentences drawn from the IMDB reviews."""
    sentences = list(dict.fromkeys(itertools.chain.from_iterable(review_sentences())))
    chosen = np.random.default_rng(0).permutation(len(sentences))[:number]
    return text_vectors([sentences[place] for place in chosen]).astype(np.float16)


def drawn_alike(vectors: np.ndarray, number: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Yield blocks of random unit vectors in float16, `number` in all.

    They are drawn from the normal distribution with the mean and covariance of `vectors`, and then
    scaled to length 1, which changes both a little.
    """
    vectors, generator = vectors.astype(np.float32), np.random.default_rng(seed)
    # Cholesky's method needs a matrix that is positive definite despite rounding
    covariance = np.cov(vectors.T) + 1e-9 * np.eye(vectors.shape[1])
    root = np.linalg.cholesky(covariance).astype(np.float32)
    for start in range(0, number, BLOCK):
        size = min(BLOCK, number - start)  # the last block may be smaller
        normal = generator.standard_normal((size, vectors.shape[1]), dtype=np.float32)
        block = normal @ root.T + vectors.mean(axis=0)
        yield (block / np.linalg.norm(block, axis=1, keepdims=True)).astype(np.float16)


def built(blocks: Sequence[np.ndarray]) -> Any:
    """A usearch index of all blocks, added in one thread. Vectors are kept in float16.

    The keys count the vectors through all blocks, from 0.
    """
    from usearch.index import Index

    # connectivity and expansion_add are usearch's defaults
    index = Index(
        ndim=blocks[0].shape[1], metric="cos", dtype="f16", connectivity=16, expansion_add=128
    )
    for block in blocks:
        index.add(np.arange(len(index), len(index) + len(block)), block, threads=1)
    return index


def rows_of(kind: str, blocks: Sequence[np.ndarray], queries: np.ndarray) -> list[Row]:
    """A row for each width, with recall@10 and its interval.

    `compared` is the mean number of vectors that a query was compared with; `layers` and `bytes`
    are the size of the index.
    """
    index, rows = built(blocks), []
    nearest = index.search(queries, K, threads=1, exact=True).keys.tolist()
    for width in WIDTHS:
        index.expansion_search = width
        results = index.search(queries, K, threads=1)
        recall = recalls(results.keys.tolist(), nearest, K)
        rows.append(
            {
                "vectors": kind,
                "n": len(index),
                "width": width,
                **rounded(bootstrap(mean, recall), ("recall", "low", "high")),
                "compared": round(results.computed_distances / len(queries)),
                "layers": index.nlevels,
                "bytes": index.serialized_length,
            }
        )
    return rows


@script
def main(folder: Folder) -> None:
    """Build an index of each size, and search it for 500 vectors with each of six widths."""
    reviews = review_vectors(max(SIZES["reviews"]) + ASKED)
    drawn = np.concatenate(list(drawn_alike(reviews, max(SIZES["drawn"]))))
    vectors = {"reviews": reviews[:-ASKED], "drawn": drawn}
    queries = {"reviews": reviews[-ASKED:], "drawn": next(drawn_alike(reviews, ASKED, seed=1))}

    def rows_of_size(kind: str, size: int) -> list[Row]:
        # the first `size` vectors
        blocks = [
            vectors[kind][start : min(start + BLOCK, size)] for start in range(0, size, BLOCK)
        ]
        return rows_of(kind, blocks, queries[kind])

    turns = [(kind, size) for kind, sizes in SIZES.items() for size in sizes]
    write_table(rows_of_each(turns, rows_of_size, unit="index"), folder / FILE.name)
