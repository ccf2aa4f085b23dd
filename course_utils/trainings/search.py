"""Search in the documentation in ways that are too slow for lesson 12: their results, and vectors.

    python -m course_utils.trainings.search

encodes the documentation in ten ways (about half an hour on two cores) and writes `search*` beside
this file. The documentation is that of the locked packages: after a change of their versions the
stored results are those of other texts, and a test says so.
"""

import hashlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from safetensors.numpy import load_file, save_file

from ..benchmark import glove_vectors
from ..data import load_doc_queries, load_docstrings, load_queries, load_reviews
from ..embedding import embed, has_bfloat16, hidden_states
from ..models import is_packaged, load_masked_lm, progress_bar
from ..pooling import normalise
from ..ranking import best_of_each, chunks, max_sim
from .common import FOLDER, Folder, script, write_table

# one row per way and query: the names of the best texts, the best one first
RUNS = FOLDER / "search_runs.csv"
# one row per review query: the places of the ten best texts by late interaction, the best first
REVIEWS = FOLDER / "search_reviews.csv"
# "vectors": the unit vectors of all windows, in float16; "owners": the place of each one's text
VECTORS = FOLDER / "search_windows.safetensors"
WORDS, DEPTH = 100, 30  # words in a window; texts that are kept for each query


def load_window_vectors(windows: list[str], checkpoint: str) -> np.ndarray:
    """Unit vectors (windows, hidden) of texts by an encoder, in float32: those of its
    `encode_document`, but without the prompt for documents that it may have.

    windows: a list of strings. checkpoint: the encoder's name. The vectors of lesson 12's windows
    by the packaged encoder are stored, in float16; others are encoded, with a progress bar.
    """
    if is_packaged(checkpoint):
        windows_of_lesson, _ = flat([chunks(page, WORDS) for page in pages(load_docstrings())])
        if windows == windows_of_lesson:
            return load_file(VECTORS)["vectors"].astype(np.float32)
    return text_vectors(windows, model=checkpoint)


def load_doc_runs() -> pd.DataFrame:
    """What the stored searches found in `load_docstrings()`.

    Returns a table with the columns `way`, `query` (its id), `name` (of the page) and `rank` (from
    1, at most DEPTH).
    """
    table = pd.read_csv(RUNS)
    table = table.assign(name=table.pop("names").str.split()).explode("name", ignore_index=True)
    return table.assign(rank=table.groupby(["way", "query"]).cumcount() + 1)


def summary(text: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(text.split("\n\n")[0].split())


def sections(text: str) -> list[str]:
    """The numpydoc sections of a docstring (headings underlined), in windows of WORDS words.

    What stands before the first heading is a section, too.
    """
    parts = re.split(r"\n(?=[A-Z][A-Za-z ]+\n-{3,}\n)", text)
    return [window for part in parts if part.strip() for window in chunks(part, WORDS)]


def checksum(docs: pd.DataFrame) -> str:
    """A fingerprint of the documentation that the stored results are about: 16 hex digits."""
    # words alone: Python 3.13 and later indent some docstrings differently
    words = docs["text"].str.split().str.join(" ")
    return hashlib.sha256("\0".join(docs["name"] + "\n" + words).encode()).hexdigest()[:16]


def pages(docs: pd.DataFrame) -> list[str]:
    """The texts that are searched: each docstring under its name."""
    return (docs["name"] + "\n\n" + docs["text"]).tolist()


def ways(docs: pd.DataFrame) -> dict[str, list[list[str]]]:
    """{way: for each docstring the list of chunks that are encoded for it}."""
    whole, summaries = pages(docs), [summary(text) for text in docs["text"]]
    windows = [chunks(page, WORDS) for page in whole]
    named = []
    for name, its_summary, its_windows in zip(docs["name"], summaries, windows):
        named.append([f"{name}: {its_summary} {window}" for window in its_windows])
    return {
        "summary": [[its_summary] for its_summary in summaries],
        "beginning": [[page] for page in whole],
        "windows": windows,
        "overlapping windows": [chunks(page, WORDS, WORDS // 2) for page in whole],
        "sections": [sections(page) for page in whole],
        "windows with name and summary": named,
    }


def text_vectors(texts: Iterable[str], model: Any = None) -> np.ndarray:
    """Unit vectors (texts, hidden) in float32, computed in bfloat16 where the processor has it.

    model: as in `embed`. Texts that are too long for it are cut off, without a warning.
    """
    with warnings.catch_warnings(action="ignore"):  # about texts that are cut off
        return embed(
            list(texts), model=model, precision="bfloat16" if has_bfloat16() else "float32"
        )


def others() -> dict[str, Callable[[Iterable[str]], np.ndarray]]:
    """{way: function from texts to unit vectors} of two weaker models, for summaries: the layers of
    the masked language model, and GloVe.
    """
    # imported here, since this import is slow and lessons load the module for what it has stored
    from sklearn.preprocessing import normalize

    tokenizer, masked = load_masked_lm()
    layers: Any = (tokenizer, masked.base_model)
    return {
        "summary, masked layers": lambda texts: embed(list(texts), model=layers),
        "summary, GloVe": lambda texts: normalize(glove_vectors(list(texts))),
    }


def flat(chunks_of_texts: Sequence[Sequence[str]]) -> tuple[list[str], np.ndarray]:
    """(all chunks, for each the place of its text)."""
    owners = np.repeat(np.arange(len(chunks_of_texts)), list(map(len, chunks_of_texts)))
    return [chunk for its_chunks in chunks_of_texts for chunk in its_chunks], owners


def best(scores: np.ndarray, k: int) -> np.ndarray:
    """The places of the k highest scores of each row, the highest first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def late_interaction(queries: pd.Series, texts: list[str]) -> np.ndarray:
    """MaxSim of each query with each text (queries, texts), cut at the encoder's length."""
    tokens_of_queries = dict(token_vectors(queries))  # {place: vectors}
    scores = np.empty((len(queries), len(texts)), dtype=np.float32)
    for text_place, text_tokens in token_vectors(texts):
        for query_place, query_tokens in tokens_of_queries.items():
            scores[query_place, text_place] = max_sim(query_tokens, text_tokens)
    return scores


def token_vectors(sentences: Iterable[str]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (place, unit vectors of its tokens) for each sentence, in any order.

    The vectors are an array (tokens, hidden), without padding.
    """
    with warnings.catch_warnings(action="ignore"):  # about texts that are cut off
        for places, states, mask in hidden_states(list(sentences)):
            for place, vectors, real in zip(places, normalise(states[-1]), mask.bool()):
                yield place, vectors[real].numpy()


def scored(
    docs: pd.DataFrame, queries: pd.Series, folder: Folder
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (way, score of each page for each query (queries, pages)) for the ten ways.

    folder: where VECTORS is written.
    """
    query_vectors = text_vectors(queries)
    for way, chunks_of_docs in ways(docs).items():
        all_chunks, owners = flat(chunks_of_docs)
        vectors = text_vectors(all_chunks)
        yield way, best_of_each(query_vectors @ vectors.T, owners)
        if way == "windows":
            save_file(
                {"vectors": vectors.astype(np.float16), "owners": owners.astype(np.int16)},
                folder / VECTORS.name,
                metadata={"checksum": checksum(docs)},
            )
            # the windows of a page stand side by side, and each page has one or more
            sums = np.add.reduceat(vectors, np.searchsorted(owners, np.arange(len(docs))))
            means = sums / np.linalg.norm(sums, axis=1, keepdims=True)  # of length 1
            yield "mean of windows", query_vectors @ means.T
    yield "late interaction", late_interaction(queries, pages(docs))
    for way, encode in others().items():
        yield way, encode(queries) @ encode(map(summary, docs["text"])).T


@script
def main(folder: Folder) -> None:
    """Encode the documentation in every way, search with every query, and write the results."""
    docs, queries = load_docstrings(), load_doc_queries()
    ten_ways, runs = scored(docs, queries["query"], folder), []
    for way, scores in progress_bar(iterable=ten_ways, total=10, unit="way"):
        runs += [
            {"way": way, "query": query, "names": " ".join(docs["name"].iloc[places])}
            for query, places in zip(queries["id"], best(scores, DEPTH))
        ]
    write_table(runs, folder / RUNS.name)

    # the collection of `matryoshka.review_parts`
    reviews = load_reviews("rotten_tomatoes")["text"]
    reviews = reviews[reviews.str.split().str.len().between(12, 24)].tolist()
    review_queries = load_queries()["query"]
    nearest = best(late_interaction(review_queries, reviews), 10)
    places = [" ".join(map(str, row)) for row in nearest]
    write_table({"query": review_queries, "places": places}, folder / REVIEWS.name)
