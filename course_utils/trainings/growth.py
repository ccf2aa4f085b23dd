"""How an HNSW index grows: what it compares, and what it finds, among a thousand to a million
vectors.

    python -m course_utils.trainings.growth

embeds 100,500 sentences of IMDB reviews, draws as many vectors with their mean and covariance, and
writes `growth.csv`, which lesson 13 loads, beside this file (about an hour on two cores, most of it
for a million drawn vectors, which need 4 GB of memory). All is built and asked in one thread: with
more, the graph depends on which thread is first.
"""

import numpy as np

from ..embedding import embed, has_bfloat16
from ..evaluation import bootstrap
from ..models import progress_bar
from ..ranking import recalls
from .common import FOLDER, mean, script, write_table
from .matryoshka import review_sentences

FILE = FOLDER / "growth.csv"  # a row per kind of vectors, their number, and width of the search
SIZES = {"reviews": (1_000, 10_000, 100_000), "drawn": (1_000, 10_000, 100_000, 1_000_000)}
WIDTHS = (16, 32, 64, 128, 256, 512)  # usearch's `expansion_search`
ASKED, K, BLOCK = 500, 10, 50_000


def review_vectors(number):
    """Unit vectors, (number, 384), of sentences drawn from all IMDB reviews, without
    repetitions.
    """
    sentences = list(
        dict.fromkeys(sentence for review in review_sentences() for sentence in review)
    )
    chosen = np.random.default_rng(0).permutation(len(sentences))[:number]
    precision = "bfloat16" if has_bfloat16() else "float32"
    return embed([sentences[place] for place in chosen], precision=precision).astype(np.float16)


def drawn_alike(vectors, number, seed=0):
    """Yield blocks of random unit vectors, `number` in all: normal, with the mean and covariance of
    `vectors`.
    """
    vectors, generator = vectors.astype(np.float32), np.random.default_rng(seed)
    root = np.linalg.cholesky(np.cov(vectors.T) + 1e-9 * np.eye(vectors.shape[1])).astype(
        np.float32
    )
    for start in range(0, number, BLOCK):
        normal = generator.standard_normal(
            (min(BLOCK, number - start), vectors.shape[1]), dtype=np.float32
        )
        block = normal @ root.T + vectors.mean(axis=0)
        yield (block / np.linalg.norm(block, axis=1, keepdims=True)).astype(np.float16)


def built(blocks):
    """A usearch index of all blocks, added in one thread. Vectors are kept in float16."""
    from usearch.index import Index

    index = Index(
        ndim=blocks[0].shape[1], metric="cos", dtype="f16", connectivity=16, expansion_add=128
    )
    for block in blocks:
        index.add(np.arange(len(index), len(index) + len(block)), block, threads=1)
    return index


def rows_of(kind, blocks, asked):
    """A row for each width: recall@10 with its interval, vectors compared for a query, and the
    index's size.
    """
    index, rows = built(blocks), []
    nearest = index.search(asked, K, threads=1, exact=True).keys.tolist()
    for width in WIDTHS:
        index.expansion_search = width
        found = index.search(asked, K, threads=1)
        recall = recalls(found.keys.tolist(), nearest, K)
        value, low, high = np.round(bootstrap(mean, recall), 4).tolist()
        compared = round(found.computed_distances / len(asked))
        row = {
            "vectors": kind,
            "n": len(index),
            "width": width,
            "recall": value,
            "low": low,
            "high": high,
        }
        rows.append(
            {**row, "compared": compared, "layers": index.nlevels, "bytes": index.serialized_length}
        )
    return rows


@script
def main(folder):
    """Build an index of each size, and ask it for the ten nearest of 500 vectors in six widths."""
    rows, reviews = [], review_vectors(max(SIZES["reviews"]) + ASKED)
    vectors = {"reviews": reviews[:-ASKED]}
    asked = {"reviews": reviews[-ASKED:], "drawn": next(drawn_alike(reviews, ASKED, seed=1))}
    vectors["drawn"] = np.concatenate(list(drawn_alike(reviews, max(SIZES["drawn"]))))
    every = [(kind, size) for kind, sizes in SIZES.items() for size in sizes]
    for kind, size in (bar := progress_bar(iterable=every, unit="index")):
        blocks = [
            vectors[kind][start : min(start + BLOCK, size)] for start in range(0, size, BLOCK)
        ]
        rows += rows_of(kind, blocks, asked[kind])
        bar.write(str(rows[-1]))
    write_table(rows, folder / FILE.name)
