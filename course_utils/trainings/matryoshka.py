"""Train an encoder so that the first numbers of its vectors say most: Matryoshka, and without it.

    python -m course_utils.trainings.matryoshka

trains ten times for 64 steps on neighbouring sentences of IMDB reviews (about half an hour on two
cores) and writes `matryoshka.csv`, which lesson 13 loads, beside this file. The collection that is
searched is from Rotten Tomatoes, so no sentence of it is trained on.
"""

import re
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
from .common import FOLDER, mean, rows_of_each, script, write_table
from .negation import encoded, fresh_encoder, train_sentences

FILE = FOLDER / "matryoshka.csv"  # a row per recipe, seed and number of dimensions
DIMENSIONS, SEEDS = (384, 192, 96, 48), range(5)
PAIRS, BATCH, RATE = 2048, 32, 2e-4
ASKED, K = 500, 10


@cache
def review_parts():
    """(texts, asked, queries, wanted): what is searched, and with what.

    They are the collection, sentences outside it, queries in other words, and the places of what
    these look for. The collection is the sentences of 12 to 24 words; those asked have 8 to 11.
    """
    reviews = load_reviews("rotten_tomatoes")["text"]
    words = reviews.str.split().str.len()
    texts, queries = reviews[words.between(12, 24)], load_queries()
    asked = reviews[words.between(8, 11)].tolist()[:ASKED]
    wanted = texts.index.get_indexer(pd.Index(queries["row"])).tolist()
    return texts.tolist(), asked, queries["query"].tolist(), wanted


def review_sentences(shortest=6, longest=40):
    """The sentences of each IMDB review, a list; only those of `shortest` to `longest` words."""
    for text in load_reviews("imdb")["text"]:
        sentences = re.split(r"(?<=[.!?])\s+", text)
        yield [part for part in sentences if shortest <= len(part.split()) <= longest]


def neighbours(number=PAIRS, seed=0):
    """Pairs of sentences that follow each other, one from a review: a dictionary of two columns."""
    pairs = [sentences[:2] for sentences in review_sentences(8, 30) if len(sentences) > 1]
    chosen = np.random.default_rng(seed).permutation(len(pairs))[:number]
    return {
        "anchor": [pairs[row][0] for row in chosen],
        "positive": [pairs[row][1] for row in chosen],
    }


def trained(nested, seed, pairs=PAIRS):
    """The model, trained on neighbours with the ranking loss of lesson 11.

    nested: on all DIMENSIONS at once.
    """

    def loss_of(model):
        loss = MultipleNegativesRankingLoss(model)
        return MatryoshkaLoss(model, loss, list(DIMENSIONS)) if nested else loss

    settings = {
        "learning_rate": RATE,
        "num_train_epochs": 1,
        "per_device_train_batch_size": BATCH,
        "logging_steps": 10,
    }
    data = Dataset.from_dict(neighbours(pairs, seed))
    model, *_ = train_sentences(data, loss_of, seed, **settings)
    return model


def measured(vectors, dimensions):
    """(recall@10 of each asked sentence, reciprocal rank of each query), with the first
    `dimensions` numbers only.

    vectors: of the collection, the asked sentences and the queries. The recall is of the ten
    nearest by whole vectors.
    """
    corpus, asked, queries = vectors
    short = corpus[:, :dimensions]
    whole, _ = search(asked, corpus, k=K)
    recall = recalls(search(asked[:, :dimensions], short, k=K)[0].tolist(), whole.tolist(), K)
    wanted = [[place] for place in review_parts()[3]]
    return recall, reciprocal_ranks(
        search(queries[:, :dimensions], short, k=K)[0].tolist(), wanted, K
    )


def rows_of(recipe, seed, model, before=None):
    """(a row per number of dimensions, the reciprocal ranks).

    before: the untrained encoder's reciprocal ranks, to compare with.
    """
    texts, asked, queries, _ = review_parts()
    vectors, rows, ranks = [encoded(model, part) for part in (texts, asked, queries)], [], {}
    for dimensions in DIMENSIONS:
        recall, ranks[dimensions] = measured(vectors, dimensions)
        change = [ranks[dimensions] - (before or ranks)[dimensions]]
        values = [bootstrap(mean, column) for column in (recall, ranks[dimensions], *change)]
        names = [
            f"{name}{part}"
            for name in ("recall", "mrr", "change")
            for part in ("", "_low", "_high")
        ]
        numbers = np.round(np.ravel(values), 4).tolist()
        rows.append(
            {"recipe": recipe, "seed": seed, "dimensions": dimensions, **dict(zip(names, numbers))}
        )
    return rows, ranks


@script
def main(folder):
    """Train with Matryoshka and without; write recall and mean reciprocal rank by dimensions."""
    rows, before = rows_of("untrained", 0, fresh_encoder())
    trainings = [(name, seed) for name in ("Matryoshka", "ranking loss") for seed in SEEDS]

    def of_a_training(name, seed):
        return rows_of(name, seed, trained(name == "Matryoshka", seed), before)[0]

    write_table(rows + rows_of_each(trainings, of_a_training), folder / FILE.name)
