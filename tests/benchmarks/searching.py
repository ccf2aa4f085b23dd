"""`make bench`: how long a query takes by exact products, by bits with a second look, and in an index of lesson 13.

The vectors are drawn: how long products take does not depend on what is multiplied. (What an index finds does; the
lesson measures that.) One query at a time; medians. The table in README.md beside this file is updated.
"""

import statistics
import time
from pathlib import Path

import click
import numpy as np

from .speed import machine, show

PAGE = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- bench searching: begin -->", "<!-- bench searching: end -->"
DIMENSIONS, K, MORE, WIDTH = 384, 10, 160, 64


def drawn(n, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((n, DIMENSIONS), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def highest(scores, k):
    """Places of the k highest scores, the highest first."""
    places = np.argpartition(-scores, k)[:k]
    return places[np.argsort(-scores[places])]


def ways(corpus):
    """From a name to (seconds to prepare, bytes a vector, a function from a query to ten places)."""
    from usearch.index import Index

    found = {"exact, float32": (0, 4 * DIMENSIONS, lambda query: highest(corpus @ query, K))}
    start = time.perf_counter()
    bits = np.packbits(corpus > 0, axis=1).view(np.uint64)

    def second_look(query):
        asked = np.packbits(query > 0).view(np.uint64)
        near = highest(-np.bitwise_count(bits ^ asked).sum(axis=1, dtype=np.int64), MORE)
        return near[highest(corpus[near] @ query, K)]

    found[f"bits, {MORE} again"] = time.perf_counter() - start, DIMENSIONS // 8, second_look
    start = time.perf_counter()
    index = Index(ndim=DIMENSIONS, metric="cos", dtype="f16", connectivity=16, expansion_add=128)
    index.expansion_search = WIDTH
    index.add(np.arange(len(corpus)), corpus)
    taken, size = time.perf_counter() - start, index.serialized_length / len(corpus)
    return found | {
        f"usearch, width {WIDTH}": (
            taken,
            size,
            lambda query: index.search(query, K, threads=1).keys,
        )
    }


def milliseconds(find, queries):
    taken = []
    for query in queries:
        start = time.perf_counter()
        find(query)
        taken.append(time.perf_counter() - start)
    return 1000 * statistics.median(taken)


@click.command()
@click.option("--most", default=100_000, show_default=True, help="The largest number of vectors.")
@click.option("--write/--no-write", default=True, help="Renew the table.")
def main(most, write):
    """Measure, print the table, and renew it."""
    import torch

    queries = drawn(50, seed=1)
    lines = [
        "| vectors | way | ms a query | bytes a vector | s to build |",
        "|---|---|---|---|---|",
    ]
    for n in [10**power for power in range(3, 8) if 10**power <= most]:
        for name, (seconds, size, find) in ways(drawn(n)).items():
            lines.append(
                f"| {n:,} | {name} | {milliseconds(find, queries):.2f} | {size:,.0f} | {seconds:.1f} |"
            )
    lines += [
        "",
        f"Measured on: {machine()}, {torch.get_num_threads()} threads; medians of {len(queries)} queries.",
    ]
    show(PAGE, lines, BEGIN, END, write)


if __name__ == "__main__":
    main()
