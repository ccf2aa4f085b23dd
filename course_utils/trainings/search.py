"""Search in the documentation, in the ways that are too slow for lesson 12: their results, and a re-ranker.

    python -m course_utils.trainings.search

encodes the documentation in seven ways, trains a cross-encoder on pairs mined from it (about half an hour on two cores)
and writes `search*` beside this file. The documentation is that of the locked packages: after a change of their
versions the stored results are those of other texts, and a test says so.
"""

import hashlib
import random
import re
from functools import cache

import click
import numpy as np

from ..data import load_doc_queries, load_docstrings, load_queries, load_reviews, write_table
from ..embedding import embed, has_bfloat16, hidden_states
from ..models import packaged_encoder, progress_bar
from ..ranking import best_of_each, bm25, chunks
from .learning_curve import FOLDER, into_folder

RUNS = FOLDER / "search_runs.csv"  # one row per way and query: the names of the best texts, the best one first
RERANKED = FOLDER / "search_reranked.csv"  # one row per query and candidate: the cross-encoder's score
MINED = FOLDER / "search_mined.csv"  # one row per summary and hard negative: names, cosines, for a look at them
REVIEWS = FOLDER / "search_reviews.csv"  # one row per review query: the places of the best texts by late interaction
VECTORS = FOLDER / "search_windows.safetensors"  # the unit vectors of all windows, in float16
WORDS, DEPTH = 100, 30  # words in a window; texts that are kept for each query, and ranked again
BODY, PIECES = 60, 4  # words of a mined text; how many at the beginning of a page are looked at
HARD, TAKEN = (1, 11), 3  # which neighbours are hard negatives; how many of them are taken
LENGTH, BATCH, RATE, SEED = 192, 32, 5e-5, 0


def summary(text):
    """The first paragraph of a docstring, on one line."""
    return " ".join(text.split("\n\n")[0].split())


def body(text):
    """A docstring without its first paragraph."""
    return text.partition("\n\n")[2]


def sections(text):
    """The sections of a docstring (headings underlined, as numpydoc has them), each in windows of WORDS words."""
    parts = re.split(r"\n(?=[A-Z][A-Za-z ]+\n-{3,}\n)", text)
    return [window for part in parts if part.strip() for window in chunks(part, WORDS)]


def checksum(docs):
    """A fingerprint of the documentation that the stored results are about."""
    return hashlib.sha256("\0".join(docs["name"] + "\n" + docs["text"]).encode()).hexdigest()[:16]


def pages(docs):
    """What is searched: each text under its name."""
    return (docs["name"] + "\n\n" + docs["text"]).tolist()


def ways(docs):
    """{way: for each text the list of what is encoded for it}."""
    whole = pages(docs)
    windows = [chunks(page, WORDS) for page in whole]
    return {
        "summary": [[summary(text)] for text in docs["text"]],
        "beginning": [[page] for page in whole],
        "windows": windows,
        "overlapping windows": [chunks(page, WORDS, WORDS // 2) for page in whole],
        "sections": [sections(page) for page in whole],
        "windows with name and summary": [
            [f"{name}: {summary(text)} {window}" for window in of_text]
            for name, text, of_text in zip(docs["name"], docs["text"], windows)
        ],
    }


def encoded(texts):
    """Unit vectors (texts, hidden), in bfloat16 where the processor has it; warnings of cuts are expected here."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return embed(list(texts), precision="bfloat16" if has_bfloat16() else "float32")


def flat(of_texts):
    """(all chunks, for each the place of its text)."""
    return [chunk for one in of_texts for chunk in one], np.repeat(np.arange(len(of_texts)), [*map(len, of_texts)])


def best(scores, k=DEPTH):
    """The places of the k highest scores of each row, the highest first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def late_interaction(queries, texts):
    """MaxSim of each query with each text (queries, texts); texts are cut at the encoder's length."""
    import warnings

    def tokens_of(sentences):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for places, states, mask in hidden_states(sentences):
                last = states[-1] / states[-1].norm(dim=-1, keepdim=True)
                yield from ((place, vectors[real.bool()]) for place, vectors, real in zip(places, last, mask))

    asked = dict(tokens_of(list(queries)))
    scores = np.empty((len(queries), len(texts)), dtype=np.float32)
    for place, vectors in tokens_of(list(texts)):
        for number in range(len(queries)):
            scores[number, place] = float((asked[number] @ vectors.T).max(dim=1).values.sum())
    return scores


@cache
def mined(seed=SEED):
    """(summary, text, label) for every docstring: a piece of its own body (1), three of neighbours and one other (0).

    The hard negatives are pieces of the texts whose bodies are nearest to the summary, the best piece of each.
    Returns the rows and a table of the hard negatives.
    """
    docs, drawn = load_docstrings(), random.Random(seed)
    summaries = [summary(text) for text in docs["text"]]
    pieces = [chunks(body(text) or text, BODY)[:PIECES] for text in docs["text"]]
    every, owners = flat(pieces)
    asked, vectors = encoded(summaries), encoded(every)
    alike = asked @ vectors.T
    rows, table = [], []
    for place, neighbours in enumerate(best(best_of_each(alike, owners), HARD[1] + 1)):
        rows.append((summaries[place], drawn.choice(pieces[place][:2]), 1))
        whole = " ".join((body(docs["text"][place]) or docs["text"][place]).split())
        others = [int(other) for other in neighbours if other != place and summaries[other] != summaries[place]]
        for other in drawn.sample(others[HARD[0] : HARD[1]], TAKEN):
            # functions of a family share paragraphs: a piece that the own body has as well is no wrong answer
            near = [at for at in np.flatnonzero(owners == other) if every[at] not in whole]
            if near:
                nearest = max(near, key=lambda at: alike[place, at])
                rows.append((summaries[place], every[nearest], 0))
                own = alike[place, owners == place].max()
                table.append((docs["name"][place], docs["name"][other], alike[place, nearest], own))
        other = drawn.choice([other for other in range(len(docs)) if other not in neighbours])
        rows.append((summaries[place], drawn.choice(pieces[other][:2]), 0))
    names = ("asked", "negative", "cosine", "own")
    return rows, [dict(zip(names, (*row[:2], *np.round(row[2:], 3).tolist()))) for row in table]


def trained_reranker(rows):
    """A cross-encoder: the packaged encoder reads both texts, and a new head gives one score. Trained for one epoch."""
    from datasets import Dataset
    from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss
    from transformers import set_seed

    set_seed(SEED)
    model = CrossEncoder(str(packaged_encoder()), num_labels=1, max_length=LENGTH, device="cpu")
    data = Dataset.from_dict(dict(zip(("query", "text", "label"), zip(*rows)))).cast_column("label", _floats())
    settings = CrossEncoderTrainingArguments(
        num_train_epochs=1,
        per_device_train_batch_size=BATCH,
        learning_rate=RATE,
        warmup_steps=0.1,
        seed=SEED,
        bf16=has_bfloat16(),
        use_cpu=True,
        save_strategy="no",
        report_to="none",
        logging_steps=20,
    )
    CrossEncoderTrainer(model=model, args=settings, train_dataset=data, loss=BinaryCrossEntropyLoss(model)).train()
    return model


def _floats():
    from datasets import Value

    return Value("float32")


def names_of(docs, places):
    """The names at these places, one text for a table."""
    return " ".join(docs["name"].iloc[places])


def reranked(docs, queries, reranker, *candidates):
    """One row for each query and page in one of the lists of candidates, with the cross-encoder's score."""
    pairs = [
        (number, place)
        for number, lists in enumerate(zip(*candidates))
        for place in dict.fromkeys(int(place) for places in lists for place in places)
    ]
    texts, asked = pages(docs), queries["query"].tolist()
    scores = reranker.predict([(asked[number], texts[place]) for number, place in pairs], show_progress_bar=False)
    return [
        {"query": queries["id"][number], "name": docs["name"][place], "score": round(float(score), 4)}
        for (number, place), score in zip(pairs, scores)
    ]


@click.command()
@into_folder
def main(folder):
    """Encode the documentation in every way, search with every query, train the re-ranker, and write it all down."""
    from safetensors.numpy import save_file

    docs, queries = load_docstrings(), load_doc_queries()
    asked, runs, bar = encoded(queries["query"]), [], progress_bar(total=9, unit="step")

    def add(way, scores):
        runs.extend(
            {"way": way, "query": query, "names": names_of(docs, places)}
            for query, places in zip(queries["id"], best(scores))
        )
        bar.update()

    candidates = [best(bm25(queries["query"], pages(docs)))]
    for way, of_texts in ways(docs).items():
        every, owners = flat(of_texts)
        vectors = encoded(every)
        add(way, best_of_each(asked @ vectors.T, owners))
        if way == "windows":
            stored = {"vectors": vectors.astype(np.float16), "owners": owners.astype(np.int16)}
            save_file(stored, folder / VECTORS.name, metadata={"checksum": checksum(docs)})
            means = np.add.reduceat(vectors, np.searchsorted(owners, np.arange(len(docs))))
            candidates.append(best(best_of_each(asked @ vectors.T, owners)))
            add("mean of windows", asked @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T)
    add("late interaction", late_interaction(queries["query"], pages(docs)))
    write_table(runs, folder / RUNS.name)

    reviews = load_reviews("rotten_tomatoes")["text"]
    reviews = reviews[reviews.str.split().str.len().between(12, 24)].tolist()
    wanted = load_queries()
    found = best(late_interaction(wanted["query"], reviews), 10)
    write_table(
        [{"query": query, "places": " ".join(map(str, places))} for query, places in zip(wanted["query"], found)],
        folder / REVIEWS.name,
    )

    rows, table = mined()
    write_table(table, folder / MINED.name)
    write_table(reranked(docs, queries, trained_reranker(rows), *candidates), folder / RERANKED.name)
    bar.close()


if __name__ == "__main__":
    main()
