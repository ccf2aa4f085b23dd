"""Train an encoder on questions about documentation: how many until a search finds more?

    python -m course_utils.trainings.questions

trains on 67 to 536 pairs of a question and its page, on drawn pairs, three times each, and on as
many pairs from the documentation's own text (about ten minutes on two cores). It writes
`questions.csv`, which lesson 11 loads, beside this file.
"""

import re
from functools import cache

import numpy as np
import pandas as pd
from datasets import Dataset
from sentence_transformers.sentence_transformer import losses, training_args

from .. import ranking
from ..data import load_doc_judgements, load_doc_queries, load_doc_questions, load_docstrings
from . import negation
from .common import FOLDER, Folder, Model, Row, rows_of_each, script, write_table

FILE = FOLDER / "questions.csv"  # one row per kind of pairs, number of pairs, seed and measure
SEEDS, SIZES = range(3), (67, 134, 268, 536)  # the last is all questions; each is half the next
SETTINGS = {"learning_rate": 1e-4, "num_train_epochs": 1, "per_device_train_batch_size": 32}
DEPTH = 10  # ranks that are looked at
REVIEWS = 200  # how many reviews the review search is among
# a query counts as close to a training question from this cosine on, as in lesson 11
CLOSE = 0.6


def without_signatures() -> pd.Series:
    """The docstrings by name, without the calls that some begin with, as `arange(stop)`."""
    return (
        load_docstrings()
        .set_index("name")["text"]
        .str.replace(r"(?s)^([\w.]+\(.*?\n\n)+", "", regex=True)
    )


@cache
def pages() -> pd.Series:
    """The name and first paragraph of each docstring, without signatures: a Series by name."""
    docs = without_signatures()
    return docs.index.to_series() + ": " + docs.str.split("\n\n").str[0].str.split().str.join(" ")


def collection() -> pd.Series:
    """The pages that are searched, by name: all that answer a query, every third of the others.

    The rest is left out to save time.
    """
    shown = pages()
    answering = load_doc_judgements().query("grade == 2")["name"]
    others = shown.index.difference(list(answering))
    return shown[shown.index.isin([*answering, *others[::3]])]


def question_pairs() -> pd.DataFrame:
    """A table with the columns `anchor`, a question, and `positive`, the page it is about."""
    asked = load_doc_questions()
    return pd.DataFrame({"anchor": asked["query"], "positive": asked["name"].map(pages())})


def own_pairs() -> pd.DataFrame:
    """The same from the documentation's own text: a paragraph of a docstring, and its page.

    Of the paragraphs above the sections, directives, examples and the one that the page shows are
    left out, and the first of the others is taken. If it does not have 6 to 60 words, the docstring
    makes no pair.
    """
    rows = []
    for text, page in zip(without_signatures(), pages()):
        before_sections = re.split(r"\n[A-Z][A-Za-z ]+\n-{3,}\n", text)[0]  # headings underlined
        paragraphs = [" ".join(part.split()) for part in before_sections.split("\n\n")]
        # neither empty, nor a directive (..), nor an example (>>>), nor the page's own
        others = [
            part for part in paragraphs if part[:1] not in ("", ".", ">") and part not in page
        ]
        if others and 6 <= len(others[0].split()) <= 60:
            rows.append({"anchor": others[0], "positive": page})
    return pd.DataFrame(rows)


def trained_on_pairs(pairs: pd.DataFrame, seed: int = 0) -> Model:
    """Train a fresh encoder on a table of pairs, as lesson 11 does. Returns the model."""
    model, *_ = negation.train_sentences(
        Dataset.from_pandas(pairs, preserve_index=False),
        losses.MultipleNegativesRankingLoss,
        seed,
        **SETTINGS,
        # another question of the same page would count as a wrong pair
        batch_sampler=training_args.BatchSamplers.NO_DUPLICATES,
    )
    return model


def answered_queries() -> pd.DataFrame:
    """The queries that a page answers, with the column `answers`: a set of names for each."""
    answers = load_doc_judgements().query("grade == 2").groupby("id")["name"].agg(answers=set)
    return load_doc_queries().join(answers, on="id", how="inner")


@cache
def close_to_a_question() -> np.ndarray:
    """For each of `answered_queries`, whether it is CLOSE to a training question before training:
    booleans (queries,).
    """
    original = negation.fresh_encoder()
    queries = negation.encoded(original, answered_queries()["query"])
    questions = negation.encoded(original, load_doc_questions()["query"])
    return (queries @ questions.T).max(axis=1) >= CLOSE


def reciprocal_ranks(model: Model) -> pd.DataFrame:
    """For each answered query: 1 over the rank of the first page that answers it, 0 beyond DEPTH.

    Returns a table with the columns `part`, "dev" or "test", and `score`, in the order of
    `answered_queries`.
    """
    queries, shown = answered_queries(), collection()
    cosines = negation.encoded(model, queries["query"]) @ negation.encoded(model, shown).T
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :DEPTH]
    results = [shown.index[places].tolist() for places in best]
    return queries[["part"]].assign(
        score=ranking.reciprocal_ranks(results, queries["answers"].tolist(), DEPTH)
    )


def measured(model: Model) -> dict[str, list[np.ndarray]]:
    """{measure: the columns of numbers that it is computed from}, for `negation.compared`."""
    ranks, close = reciprocal_ranks(model), close_to_a_question()
    held_out = ranks.loc[ranks["part"] == "test", "score"]
    columns = {
        "development queries": ranks.loc[ranks["part"] == "dev", "score"],
        "held-out queries": held_out,
        "held-out queries, first result right": (held_out == 1).astype(float),
        "close to a training question": ranks.loc[close, "score"],
        "not close": ranks.loc[~close, "score"],
    }
    return {
        **{name: [values.to_numpy()] for name, values in columns.items()},
        **negation.measured(model, REVIEWS),
    }


@script
def main(folder: Folder) -> None:
    """Train on each number of pairs, three times, and write what each training gained and lost."""
    before = measured(negation.fresh_encoder())
    kinds = {"questions": question_pairs(), "own text": own_pairs()}

    def rows_of(kind: str, size: int, seed: int) -> list[Row]:
        model = trained_on_pairs(kinds[kind].sample(size, random_state=seed), seed)
        about = {"pairs": kind, "number": size, "seed": seed}
        return [about | row for row in negation.change_rows(before, measured(model))]

    turns = [("questions", size, seed) for size in SIZES for seed in SEEDS]
    turns += [("own text", SIZES[-1], seed) for seed in SEEDS]
    write_table(rows_of_each(turns, rows_of), folder / FILE.name)
