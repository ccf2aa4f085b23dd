"""Train an encoder to tell a sentence from its denial: what it gains and what it forgets.

    python -m course_utils.trainings.negation

trains each recipe five times, four of them again to an equal gain on the development part, and on
kinds of pairs (about three quarters of an hour on two cores). It writes `negation.csv`,
`negation_gain.csv` and `negation_pairs.csv`, the tables that the further parts of lesson 11 load,
beside this file.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer import evaluation, modules
from sentence_transformers.sentence_transformer.losses import (
    CosineSimilarityLoss,
    MultipleNegativesRankingLoss,
    TripletDistanceMetric,
    TripletLoss,
)
from transformers import TrainerCallback

from ..benchmark import row_cosines
from ..data import load_reviews, load_scored_pairs, load_triplets
from ..embedding import embed
from ..evaluation import bootstrap, spearman
from ..models import encoder_folder
from ..training import watch
from .common import (
    CHANGE,
    FOLDER,
    Folder,
    Model,
    Row,
    mean,
    rounded,
    rows_of_each,
    script,
    training_settings,
    write_table,
)

FILE = FOLDER / "negation.csv"  # one row per recipe, seed and measure
GAIN = FOLDER / "negation_gain.csv"  # the same for trainings that stop at GOAL
PAIRS = FOLDER / "negation_pairs.csv"  # one row per training on pairs
COLUMNS, SEEDS = ["anchor", "positive", "negative"], range(5)
MIXED = 300  # scored pairs that are mixed into the 168 triplets
LONGER = 20  # epochs of the training that collapses
# trainings of an equal gain stop when this share of the development part is right: the four recipes
# that are trained so all reach it
GOAL = 2 / 3
PARTS = CHANGE[2:]  # of a value of `compared`: the difference and the ends of its interval


def negation_parts() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """(fit, dev, test): triplets to train on, to select with, to report on.

    Tables as `load_triplets` returns them. No construction is in two of them.
    """
    return load_triplets("train"), load_triplets("dev"), load_triplets("test")


def fresh_encoder() -> SentenceTransformer:
    """The encoder of `load_encoder()`, as a new SentenceTransformer that returns unit vectors.

    Its attention is the implementation that trains fastest on a CPU.
    """
    model = SentenceTransformer(
        str(encoder_folder()), device="cpu", model_kwargs={"attn_implementation": "eager"}
    )
    if not isinstance(model[-1], modules.Normalize):
        model.append(modules.Normalize())
    return model


def train_sentences(
    data: Any,
    loss_of: Callable[[Any], Any],
    seed: int = 0,
    evaluator: Any = None,
    callbacks: Iterable[TrainerCallback] = (),
    **settings: Any,
) -> tuple[SentenceTransformer, list[float], list[dict[str, Any]]]:
    """Train a fresh encoder. Returns (the model, the loss of each step, the trainer's log).

    data: a dataset, or a dictionary of datasets. loss_of: called with the model; returns its loss,
    or a dictionary with a loss for each dataset. evaluator, callbacks: for the trainer. settings:
    what differs from `training_settings`.
    """
    torch.manual_seed(seed)
    model = fresh_encoder()
    arguments = SentenceTransformerTrainingArguments(**training_settings(seed=seed, **settings))
    trainer = SentenceTransformerTrainer(
        model,
        arguments,
        train_dataset=data,
        loss=loss_of(model),
        evaluator=evaluator,
        callbacks=list(callbacks),
    )
    losses = watch(trainer)
    trainer.train()
    return model, [value for _, value in losses], trainer.state.log_history


def encoded(model: Model, texts: Iterable[str]) -> np.ndarray:
    """The unit vectors of texts: those of `model.encode` (lesson 09), in half the time, since there
    is no padding.
    """
    return embed(list(texts), model=(model.tokenizer, model[0].auto_model))


def triplet_loss_of(model: Model) -> TripletLoss:
    """TripletLoss with cosine distance and a margin of 0.5, as in `losses.py`.

    The library's default is the Euclidean distance with a margin of 5, which vectors of length 1
    cannot satisfy (lesson 11).
    """
    return TripletLoss(model, distance_metric=TripletDistanceMetric.COSINE, triplet_margin=0.5)


def mixed_in(number: int = MIXED) -> pd.DataFrame:
    """Pairs of short review sentences with the cosine that the untrained encoder gives them.

    The sentences have 6 to 16 words; those of a pair are drawn independently. Returns a table with
    the columns sentence1, sentence2 and score.
    """
    reviews = load_reviews()["text"]
    short = reviews[reviews.str.split().str.len().between(6, 16)]
    chosen = short.sample(2 * number, random_state=0).tolist()
    pairs = pd.DataFrame({"sentence1": chosen[:number], "sentence2": chosen[number:]})
    return pairs.assign(score=row_cosines(embed(pairs["sentence1"]), embed(pairs["sentence2"])))


def trained(
    loss: Callable[[Any], Any],
    columns: Sequence[str] = COLUMNS,
    learning_rate: float = 5e-5,
    epochs: int = 4,
    mix: pd.DataFrame | None = None,
    seed: int = 0,
    goal: float | None = None,
) -> tuple[SentenceTransformer, list[float], list[float]]:
    """Train a fresh encoder on the triplets.

    Returns (model, the loss of each step, the triplet accuracy on the development part after each
    epoch, also one that the goal has cut short).

    loss: a function that makes the loss for a model.
    columns: which members of a triplet the loss gets, and in which position; "score" is a column of
    ones.
    mix: a table of scored pairs to train on as well, with the columns of `mixed_in`.
    goal: stop as soon as this share of the development part is right, looking after every second
    step. The rate is then constant after three steps, so that the stop does not depend on `epochs`.
    """
    fit, dev, _ = negation_parts()
    data: Any = _for_the_loss(fit, columns)
    if mix is not None:
        data = {"triplets": data, "mixed in": Dataset.from_pandas(mix, preserve_index=False)}

    def loss_of(model):
        if mix is None:
            return loss(model)
        return {"triplets": loss(model), "mixed in": CosineSimilarityLoss(model)}

    settings: dict[str, Any] = {
        "learning_rate": learning_rate,
        "num_train_epochs": epochs,
        "per_device_train_batch_size": 32,
        "eval_strategy": "epoch",
    }
    if goal is not None:
        settings |= {
            "lr_scheduler_type": "constant_with_warmup",
            "warmup_steps": 3,
            "callbacks": [_Stop(goal, dev)],
        }
    anchors, positives, negatives = (dev[name].tolist() for name in COLUMNS)
    evaluator = evaluation.TripletEvaluator(anchors, positives, negatives, name="dev")
    model, losses, log = train_sentences(data, loss_of, seed, evaluator, **settings)
    accuracy = "eval_dev_cosine_accuracy"  # what the log calls the evaluator's result
    return model, losses, [row[accuracy] for row in log if accuracy in row]


def _for_the_loss(triplets: pd.DataFrame, columns: Sequence[str]) -> Dataset:
    """These columns of a table of triplets, named by their positions, by which the library knows
    them; "score" is a column of ones.
    """
    names = [name if name == "score" else position for name, position in zip(columns, COLUMNS)]
    table = triplets.assign(score=1.0)[list(columns)].set_axis(names, axis="columns")
    return Dataset.from_pandas(table, preserve_index=False)


class _Stop(TrainerCallback):
    """Stop a training once the goal's share of the triplets is right; checked every second step."""

    def __init__(self, goal: float, triplets: pd.DataFrame):
        self.goal, self.triplets = goal, triplets

    def on_step_end(self, args, state, control, model: Model = None, **_):
        if state.global_step % 2 == 0:
            control.should_training_stop = right_triplets(model, self.triplets).mean() >= self.goal


def right_triplets(model: Model, triplets: pd.DataFrame) -> np.ndarray:
    """For each triplet, whether the anchor is nearer to its positive than to its negative: booleans
    (n,).
    """
    anchor, positive, negative = (encoded(model, triplets[name]) for name in COLUMNS)
    return row_cosines(anchor, positive) > row_cosines(anchor, negative)


def other_pairs() -> pd.DataFrame:
    """The scored pairs of lesson 08 without those that reverse the meaning."""
    pairs = load_scored_pairs()
    denials = pairs["phenomenon"].isin(("negation", "antonym", "role swap"))
    return pairs[~denials].reset_index(drop=True)


@functools.cache
def _long_reviews() -> pd.Series:
    """The words of the 1,100 reviews of 80 words or more among 1,200 drawn ones, in that order.

    `review_search` needs 80 words of each. Reading them takes a second.
    """
    words = load_reviews("imdb")["text"].drop_duplicates().sample(1200, random_state=0).str.split()
    return words[words.str.len() >= 80]


def review_search(model: Model, number: int = 500) -> np.ndarray:
    """For each of `number` long reviews, whether its first 30 words find its next 50 first:
    booleans (number,).

    number: at most 1,100.
    """
    words = _long_reviews()[:number]
    queries = encoded(model, words.str[:30].str.join(" "))
    texts = encoded(model, words.str[30:80].str.join(" "))
    return (queries @ texts.T).argmax(axis=1) == np.arange(number)


def measured(model: Model, reviews: int = 500) -> dict[str, list[np.ndarray]]:
    """{measure: the columns of numbers that it is computed from}, for `compared`.

    A measure of one column is its mean; one of two columns is their Spearman correlation.

    reviews: how many reviews the search is among; the stored table has 500.
    """
    pairs = other_pairs()
    cosines = row_cosines(*(encoded(model, pairs[name]) for name in ("sentence1", "sentence2")))
    return {
        "held-out denials": [right_triplets(model, load_triplets("test")).astype(float)],
        "other pairs, Spearman": [pairs["score"].to_numpy(float), cosines],
        "review search": [review_search(model, reviews).astype(float)],
    }


def compared(
    before: Mapping[str, Sequence[np.ndarray]], after: Mapping[str, Sequence[np.ndarray]]
) -> dict[str, tuple[float, ...]]:
    """{measure: (before, after, difference, low, high)} for two results of `measured`.

    The intervals are paired 95% bootstrap intervals.
    """
    changes: dict[str, tuple[float, ...]] = {}
    for name, old_columns in before.items():
        new_columns = after[name]
        # two columns are correlated, and one has a mean: see `measured`
        statistic: Any = spearman if len(old_columns) == 2 else mean
        gain = functools.partial(_gain, statistic, len(old_columns))
        changes[name] = (
            float(statistic(*old_columns)),
            float(statistic(*new_columns)),
            *bootstrap(gain, *old_columns, *new_columns),
        )
    return changes


def _gain(statistic: Callable[..., Any], size: int, *columns: np.ndarray) -> Any:
    """The statistic of the columns after the first `size`, minus that of the first."""
    return statistic(*columns[size:]) - statistic(*columns[:size])


def change_rows(
    before: Mapping[str, Sequence[np.ndarray]],
    now: Mapping[str, Sequence[np.ndarray]],
    other: Mapping[str, Sequence[np.ndarray]] | None = None,
) -> list[Row]:
    """A row for each measure with what a training changed, from results of `measured`.

    A row has the column `measure` and those of CHANGE.

    other: the result of another training. `more`, `more_low` and `more_high` are the paired
    difference from it.
    """
    rows = []
    from_other = compared(other, now) if other else {}
    for measure, values in compared(before, now).items():
        row = {"measure": measure, **rounded(values)}
        if other:
            _, _, *difference = from_other[measure]  # with its interval
            row |= rounded(difference, ("more", "more_low", "more_high"))
        rows.append(row)
    return rows


def recipes() -> dict[str, dict[str, Any]]:
    """{name: keyword arguments of `trained`} for the recipes that the lesson compares."""
    return {
        "triplet loss": {"loss": triplet_loss_of},
        "triplet loss, lower rate": {"loss": triplet_loss_of, "learning_rate": 2e-5},
        "triplet loss, data mixed in": {"loss": triplet_loss_of, "mix": mixed_in()},
        "ranking loss": {"loss": MultipleNegativesRankingLoss},
        "ranking loss, 12 epochs": {"loss": MultipleNegativesRankingLoss, "epochs": 12},
        "ranking loss, denials as positives": {
            "loss": MultipleNegativesRankingLoss,
            "columns": ["anchor", "negative"],
        },
    }


def pair_trainings() -> dict[str, tuple[Callable[[Any], Any], list[str], int]]:
    """{name: (loss, columns, epochs)}: trainings on pairs, in which no loss pushes denials away."""
    scored = ["anchor", "positive", "score"]
    return {
        "denials as positives": (MultipleNegativesRankingLoss, ["anchor", "negative"], 2),
        "paraphrases": (MultipleNegativesRankingLoss, ["anchor", "positive"], 2),
        "paraphrases, score 1": (CosineSimilarityLoss, scored, 2),
        "paraphrases, score 1, longer": (CosineSimilarityLoss, scored, LONGER),
    }


def mean_cosine(model: Model, texts: Iterable[str]) -> float:
    """The mean cosine of two or more texts with each other: near 1 if all vectors have the same
    direction.
    """
    vectors = encoded(model, texts)
    return (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)].mean()


def unrelated_cosine(model: Model) -> float:
    """The mean cosine of every 40th review with the others."""
    return mean_cosine(model, load_reviews()["text"].iloc[::40])


def recipe_rows(names: Sequence[str], goal: float | None = None) -> list[Row]:
    """Train these recipes with each seed: a row for each measure, with what was gained or lost.

    goal: train until this share of the development part is right, and compare with the first
    recipe, trained with the same seed, too.
    """
    before, all_recipes = measured(fresh_encoder()), recipes()
    of_first = {}  # {seed: what was measured of the first recipe}
    # every recipe with a goal reaches it before its twelve epochs end
    until_the_goal: dict[str, Any] = {} if goal is None else {"epochs": 12, "goal": goal}

    def rows_of(name: str, seed: int) -> list[Row]:
        model, losses, _ = trained(**all_recipes[name] | until_the_goal, seed=seed)
        now, about = measured(model), {"recipe": name, "seed": seed}
        if goal is not None:
            of_first.setdefault(seed, now)  # the first recipe comes first
            share = right_triplets(model, negation_parts()[1]).mean()
            about |= {"steps": len(losses), "development": round(float(share), 4)}
        # without a goal, `of_first` is empty: there is nothing to compare with
        return [about | row for row in change_rows(before, now, of_first.get(seed))]

    return rows_of_each([(name, seed) for name in names for seed in SEEDS], rows_of)


def pair_rows() -> pd.DataFrame:
    """Train on each kind of pairs: a row for each.

    It has losses (means of the first and of the last three steps), accuracies and the mean cosine
    of unrelated reviews. The last columns are the differences from before, and the difference of
    the test part from the training on paraphrases, each with its interval.
    """
    results, before = {}, measured(fresh_encoder())

    def rows_of(name: str, loss: Any, columns: list[str], epochs: int) -> list[Row]:
        model, losses, by_epoch = trained(loss, columns, epochs=epochs)
        results[name] = measured(model)
        row = {
            "training": name,
            "epochs": epochs,
            "first losses": np.mean(losses[:3]),
            "last losses": np.mean(losses[-3:]),
            "test part": results[name]["held-out denials"][0].mean(),
            "development part, first epoch": by_epoch[0],
            "development part, last epoch": by_epoch[-1],
            "unrelated reviews": unrelated_cosine(model),
        }
        for measure, (_, _, *difference) in compared(before, results[name]).items():
            row |= {f"{measure}, {part}": value for part, value in zip(PARTS, difference)}
        return [row]

    rows = rows_of_each([(name, *training) for name, training in pair_trainings().items()], rows_of)
    # the trainings are compared with each other when all are done
    for row in rows:
        changes = compared(results["paraphrases"], results[row["training"]])
        # [2:]: the difference and its interval, as in PARTS
        row |= {
            f"held-out denials, {part} from paraphrases": value
            for part, value in zip(PARTS, changes["held-out denials"][2:])
        }
    return pd.DataFrame(rows).round(4)


@script
def main(folder: Folder) -> None:
    """Train every recipe, to an equal gain, and on kinds of pairs; write the gains and losses."""
    write_table(pair_rows(), folder / PAIRS.name)
    names = list(recipes())  # the first four are also trained to an equal gain
    write_table(recipe_rows(names[:4], GOAL), folder / GAIN.name)
    write_table(recipe_rows(names), folder / FILE.name)
