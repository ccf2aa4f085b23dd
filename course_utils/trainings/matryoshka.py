"""Train an encoder so that the first numbers of its vectors say most: Matryoshka, and without it.

    python -m course_utils.trainings.matryoshka

trains ten times for 64 steps on neighbouring sentences of IMDB reviews (about half an hour on two
cores) and writes `matryoshka.csv`, which lesson 13 loads, beside this file. The collection that is
searched is from Rotten Tomatoes, so no sentence of it is trained on.
"""

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd
from datasets import Dataset
from sentence_transformers.sentence_transformer.losses import (
    MatryoshkaLoss,
    MultipleNegativesRankingLoss,
)

from ..data import load_queries, load_reviews
from ..evaluation import bootstrap
from ..nearest import search
from ..ranking import recalls, reciprocal_ranks
from .common import FOLDER, Folder, Model, Row, mean, rounded, rows_of_each, script, write_table
from .negation import encoded, fresh_encoder, train_sentences

FILE = FOLDER / "matryoshka.csv"  # a row per recipe, seed and number of dimensions
DIMENSIONS, SEEDS = (384, 192, 96, 48), range(5)
PAIRS, BATCH, RATE = 2048, 32, 2e-4  # pairs of a training, pairs in a batch, learning rate
ASKED, K = 500, 10  # sentences to search with, and the nearest that are looked for


@cache
def review_parts() -> tuple[list[str], list[str], list[str], list[int]]:
    """(texts, asked, queries, wanted): what is searched, and with what.

    texts: the collection, sentences of 12 to 24 words (`search.py` has the same). asked: sentences
    of 8 to 11 words to search with. queries: others to search with, each in other words than one
    text. wanted: the places of these texts.
    """
    reviews = load_reviews("rotten_tomatoes")["text"]
    words = reviews.str.split().str.len()
    texts, queries = reviews[words.between(12, 24)], load_queries()
    asked = reviews[words.between(8, 11)].tolist()[:ASKED]
    wanted = texts.index.get_indexer(pd.Index(queries["row"])).tolist()
    return texts.tolist(), asked, queries["query"].tolist(), wanted


def review_sentences(shortest: int = 6, longest: int = 40) -> Iterator[list[str]]:
    """Yield a list for each IMDB review: its sentences of `shortest` to `longest` words."""
    for text in load_reviews("imdb")["text"]:
        sentences = re.split(r"(?<=[.!?])\s+", text)
        yield [sentence for sentence in sentences if shortest <= len(sentence.split()) <= longest]


def neighbours(number: int = PAIRS, seed: int = 0) -> dict[str, list[str]]:
    """Pairs of neighbouring sentences, one pair from each of `number` drawn reviews.

    They are the first two of a review that have 8 to 30 words; shorter and longer ones between them
    are passed over. Returns the columns `anchor` and `positive`, or fewer rows than `number` if the
    reviews run out.
    """
    pairs = [sentences[:2] for sentences in review_sentences(8, 30) if len(sentences) > 1]
    chosen = np.random.default_rng(seed).permutation(len(pairs))[:number]
    return {
        "anchor": [pairs[row][0] for row in chosen],
        "positive": [pairs[row][1] for row in chosen],
    }


def trained_on_neighbours(nested: bool, seed: int, pairs: int = PAIRS) -> Model:
    """A fresh encoder, trained on `pairs` neighbours with the ranking loss of lesson 11.

    nested: whether the loss counts for all DIMENSIONS at once, as Matryoshka has it.
    """

    def loss_of(model):
        loss = MultipleNegativesRankingLoss(model)
        return MatryoshkaLoss(model, loss, list(DIMENSIONS)) if nested else loss

    model, *_ = train_sentences(
        Dataset.from_dict(neighbours(pairs, seed)),
        loss_of,
        seed,
        learning_rate=RATE,
        num_train_epochs=1,
        per_device_train_batch_size=BATCH,
        logging_steps=10,
    )
    return model


def measured(
    dimensions: int, texts: np.ndarray, asked: np.ndarray, queries: np.ndarray, *, wanted: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """(recall@10 of each asked sentence, reciprocal rank of each query), with the first
    `dimensions` numbers only.

    texts, asked, queries: the vectors of the first three of `review_parts`. wanted: its last. The
    recall is of the ten nearest by whole vectors.
    """
    nearest, _ = search(asked, texts, k=K)
    by_asked, _ = search(asked[:, :dimensions], texts[:, :dimensions], k=K)
    by_queries, _ = search(queries[:, :dimensions], texts[:, :dimensions], k=K)
    right = [[place] for place in wanted]  # one text for each query
    return (
        recalls(by_asked.tolist(), nearest.tolist(), K),
        reciprocal_ranks(by_queries.tolist(), right, K),
    )


def rows_of(
    recipe: str, seed: int, model: Model, before: dict[int, np.ndarray] | None = None
) -> tuple[list[Row], dict[int, np.ndarray]]:
    """(a row per number of dimensions, {dimensions: the reciprocal ranks}).

    A row has `recall`, `mrr` and `change` (of the mean reciprocal rank, from `before`), each with
    the ends of its interval, `_low` and `_high`.

    before: the untrained encoder's reciprocal ranks, to compare with; omitted for itself.
    """
    texts, asked, queries, wanted = review_parts()
    vectors = [encoded(model, part) for part in (texts, asked, queries)]
    rows, ranks = [], {}
    for dimensions in DIMENSIONS:
        recall, ranks[dimensions] = measured(dimensions, *vectors, wanted=wanted)
        # without `before`, this is the untrained encoder: its change is 0
        change = ranks[dimensions] - (before or ranks)[dimensions]
        row = {"recipe": recipe, "seed": seed, "dimensions": dimensions}
        columns = {"recall": recall, "mrr": ranks[dimensions], "change": change}
        for name, column in columns.items():
            row |= rounded(bootstrap(mean, column), (name, f"{name}_low", f"{name}_high"))
        rows.append(row)
    return rows, ranks


@script
def main(folder: Folder) -> None:
    """Train with Matryoshka and without; write recall and mean reciprocal rank by dimensions."""
    rows, before = rows_of("untrained", 0, fresh_encoder())
    trainings = [(name, seed) for name in ("Matryoshka", "ranking loss") for seed in SEEDS]

    def rows_of_training(name: str, seed: int) -> list[Row]:
        return rows_of(name, seed, trained_on_neighbours(name == "Matryoshka", seed), before)[0]

    write_table(rows + rows_of_each(trainings, rows_of_training), folder / FILE.name)
