"""Search in the documentation in ways that are too slow for lesson 12: their results, and vectors.

    python -m course_utils.trainings.search

encodes the documentation in ten ways (about half an hour on two cores) and writes `search*` beside
this file. The documentation is that of the locked packages: after a change of their versions the
stored results are those of other texts, and a test says so.
"""

import hashlib
import re
import warnings
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

from ..benchmark import glove_vectors
from ..data import load_doc_queries, load_docstrings, load_queries, load_reviews
from ..embedding import embed, has_bfloat16, hidden_states
from ..models import is_packaged, load_masked_lm, progress_bar
from ..pooling import normalise
from ..ranking import best_of_each, chunks, max_sim
from .common import FOLDER, script, write_table

# one row per way and query: the names of the best texts, the best one first
RUNS = FOLDER / "search_runs.csv"
# one row per review query: the places of the best texts by late interaction
REVIEWS = FOLDER / "search_reviews.csv"
VECTORS = FOLDER / "search_windows.safetensors"  # the unit vectors of all windows, in float16
WORDS, DEPTH = 100, 30  # words in a window; texts that are kept for each query


def load_window_vectors(windows, checkpoint):
    """Unit vectors (windows, hidden) of texts by an encoder, in float32: what its `encode_document`
    gives.

    windows: a list of strings. checkpoint: the encoder's name. The vectors of lesson 12's windows
    by the packaged encoder are stored, in float16; others are encoded, with a progress bar.
    """
    if (
        is_packaged(checkpoint)
        and windows == flat([chunks(page, WORDS) for page in pages(load_docstrings())])[0]
    ):
        return load_file(VECTORS)["vectors"].astype(np.float32)
    return encoded(windows, model=checkpoint)


def load_doc_runs():
    """What the stored searches found in `load_docstrings()`.

    Returns a table with the columns `way`, `query` (its id), `name` (of the page) and `rank` (from
    1, at most DEPTH).
    """
    import pandas as pd

    table = pd.read_csv(RUNS)
    table = table.assign(name=table.pop("names").str.split()).explode("name", ignore_index=True)
    return table.assign(rank=table.groupby(["way", "query"]).cumcount() + 1)


def summary(text):
    """The first paragraph of a docstring, on one line."""
    return " ".join(text.split("\n\n")[0].split())


def sections(text):
    """The numpydoc sections of a docstring (headings underlined), in windows of WORDS words."""
    parts = re.split(r"\n(?=[A-Z][A-Za-z ]+\n-{3,}\n)", text)
    return [window for part in parts if part.strip() for window in chunks(part, WORDS)]


def checksum(docs):
    """A fingerprint of the documentation that the stored results are about."""
    # Python 3.13 and later indent some docstrings otherwise
    words = docs["text"].str.split().str.join(" ")
    return hashlib.sha256("\0".join(docs["name"] + "\n" + words).encode()).hexdigest()[:16]


def pages(docs):
    """What is searched: each text under its name."""
    return (docs["name"] + "\n\n" + docs["text"]).tolist()


def ways(docs):
    """{way: for each text the list of what is encoded for it}."""
    whole, summaries = pages(docs), [summary(text) for text in docs["text"]]
    windows = [chunks(page, WORDS) for page in whole]
    named = []
    for name, about, cut in zip(docs["name"], summaries, windows):
        named.append([f"{name}: {about} {window}" for window in cut])
    return {
        "summary": [[about] for about in summaries],
        "beginning": [[page] for page in whole],
        "windows": windows,
        "overlapping windows": [chunks(page, WORDS, WORDS // 2) for page in whole],
        "sections": [sections(page) for page in whole],
        "windows with name and summary": named,
    }


def encoded(texts, model=None):
    """Unit vectors (texts, hidden), in bfloat16 where the processor has it."""
    with warnings.catch_warnings(action="ignore"):  # of texts that are cut off
        precision = "bfloat16" if has_bfloat16() else "float32"
        return embed(list(texts), model=model, precision=precision)


def others():
    """{way: what gives unit vectors of texts}, for summaries: masked-word layers, and GloVe."""
    tokenizer, masked = load_masked_lm()
    layers: Any = (tokenizer, masked.base_model)

    def by_glove(texts):
        return normalise(torch.from_numpy(glove_vectors(list(texts)))).numpy()

    return {
        "summary, masked layers": lambda texts: embed(list(texts), model=layers),
        "summary, GloVe": by_glove,
    }


def flat(of_texts):
    """(all chunks, for each the place of its text)."""
    owners = np.repeat(np.arange(len(of_texts)), [*map(len, of_texts)])
    return [chunk for chunks_of_one in of_texts for chunk in chunks_of_one], owners


def best(scores, k):
    """The places of the k highest scores of each row, the highest first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def late_interaction(queries, texts):
    """MaxSim of each query with each text (queries, texts), cut at the encoder's length."""
    asked = dict(token_vectors(queries))
    scores = np.empty((len(queries), len(texts)), dtype=np.float32)
    for place, vectors in token_vectors(texts):
        for number, tokens in asked.items():
            scores[number, place] = max_sim(tokens, vectors)
    return scores


def token_vectors(sentences):
    """Yield (place, unit vectors of its tokens) for each sentence, in any order."""
    with warnings.catch_warnings(action="ignore"):
        for places, states, mask in hidden_states(list(sentences)):
            for place, vectors, real in zip(places, normalise(states[-1]), mask.bool()):
                yield place, vectors[real].numpy()


@script
def main(folder):
    """Encode the documentation in every way, search with every query, and write the results."""
    docs, queries = load_docstrings(), load_doc_queries()
    asked, runs, bar = encoded(queries["query"]), [], progress_bar(total=10, unit="way")

    def add(way, scores):
        runs.extend(
            {"way": way, "query": query, "names": " ".join(docs["name"].iloc[places])}
            for query, places in zip(queries["id"], best(scores, DEPTH))
        )
        bar.update()

    for way, of_texts in ways(docs).items():
        every, owners = flat(of_texts)
        vectors = encoded(every)
        add(way, best_of_each(asked @ vectors.T, owners))
        if way == "windows":
            stored = {"vectors": vectors.astype(np.float16), "owners": owners.astype(np.int16)}
            save_file(stored, folder / VECTORS.name, metadata={"checksum": checksum(docs)})
            means = np.add.reduceat(vectors, np.searchsorted(owners, np.arange(len(docs))))
            add("mean of windows", asked @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T)
    add("late interaction", late_interaction(queries["query"], pages(docs)))
    for way, other in others().items():
        add(way, other(queries["query"]) @ other([summary(text) for text in docs["text"]]).T)
    write_table(runs, folder / RUNS.name)

    reviews = load_reviews("rotten_tomatoes")["text"]
    reviews = reviews[reviews.str.split().str.len().between(12, 24)].tolist()
    wanted = load_queries()
    found = best(late_interaction(wanted["query"], reviews), 10)
    places = [" ".join(map(str, row)) for row in found]
    write_table({"query": wanted["query"], "places": places}, folder / REVIEWS.name)
    bar.close()
