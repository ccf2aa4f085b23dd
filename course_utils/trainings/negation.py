"""Train an encoder to tell a sentence from its denial: what it gains and what it forgets.

    python -m course_utils.trainings.negation

trains each recipe three times, and on three kinds of pairs (about ten minutes on two cores), and writes `negation.csv`
and `negation_pairs.csv`, the tables that lesson 11 loads, beside this file. The lesson repeats a row of each live.
"""

from functools import cache
from pathlib import Path

import click
import numpy as np

from ..benchmark import row_cosines
from ..data import load_reviews, load_scored_pairs, load_triplets, write_table
from ..evaluation import bootstrap, spearman
from ..models import packaged_encoder, progress_bar

FILE = Path(__file__).with_name("negation.csv")  # one row per recipe, seed and measure
PAIRS = FILE.with_name("negation_pairs.csv")  # one row per training on pairs
COLUMNS, SEEDS, MIXED = ["anchor", "positive", "negative"], (0, 1, 2), 300
DEVELOPMENT = ("never", "antonym, verb")  # constructions of the training part held out for model selection
# for the model's card
EXAMPLE = {
    "source_sentence": "The door is open.",
    "sentences": ["Nobody has closed the door.", "The door is not open."],
}
DENIALS = ("negation", "antonym", "role swap")  # the phenomena of the scored pairs that reverse the meaning


def negation_parts():
    """(fit, dev, test): triplets to train on, to select with, and to report on. No construction is in two of them."""
    train = load_triplets("train")
    decides = train["construction"].isin(DEVELOPMENT)
    return train[~decides].reset_index(drop=True), train[decides].reset_index(drop=True), load_triplets("test")


def fresh_encoder():
    """The packaged encoder as a SentenceTransformer, with the attention that trains fastest on a CPU."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(packaged_encoder()), device="cpu", model_kwargs={"attn_implementation": "eager"})
    model.model_card_data.widget = [EXAMPLE]  # else the library searches for examples and leaves a bar in the notebook
    return model


def encoded(model, texts):
    """The unit vectors of texts, as `model.encode` gives them (lesson 09), but without padding: in half the time."""
    from ..embedding import embed

    return embed(list(texts), model=(model.tokenizer, model[0].auto_model))


def triplet_loss_of(model):
    """TripletLoss with cosine distance and a margin of 0.5."""
    from sentence_transformers.sentence_transformer.losses import TripletDistanceMetric, TripletLoss

    return TripletLoss(model, distance_metric=TripletDistanceMetric.COSINE, triplet_margin=0.5)


def mixed_in(number=MIXED):
    """Pairs of short review sentences with the cosine that the untrained encoder gives them.

    Returns a table with the columns sentence1, sentence2 and score.
    """
    import pandas as pd

    from ..embedding import embed

    reviews = load_reviews()["text"]
    chosen = reviews[reviews.str.split().str.len().between(6, 16)].sample(2 * number, random_state=0).tolist()
    one, other = chosen[:number], chosen[number:]
    return pd.DataFrame({"sentence1": one, "sentence2": other, "score": row_cosines(embed(one), embed(other))})


def trained(loss, columns=COLUMNS, learning_rate=5e-5, epochs=4, mix=None, seed=0):
    """Train a fresh encoder on the triplets. Returns (model, losses, dev triplet accuracy after each epoch).

    loss: a function that makes the loss for a model.
    columns: which members of a triplet the loss gets, and in which position; "score" is a column of ones.
    mix: a table of scored pairs to train on as well.
    """
    import torch
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.evaluation import TripletEvaluator
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss

    from ..training import checked_triplets, training_settings, watch

    fit, dev, _ = negation_parts()
    checked_triplets(fit[COLUMNS].itertuples(index=False))
    torch.manual_seed(seed)
    model = fresh_encoder()
    names = [name if name == "score" else place for name, place in zip(columns, COLUMNS)]
    data, losses = (
        Dataset.from_pandas(fit.assign(score=1.0)[columns].set_axis(names, axis="columns"), preserve_index=False),
        loss(model),
    )
    if mix is not None:
        data, losses = (
            {"triplets": data, "mixed in": Dataset.from_pandas(mix, preserve_index=False)},
            {"triplets": losses, "mixed in": CosineSimilarityLoss(model)},
        )
    trainer = SentenceTransformerTrainer(
        model,
        SentenceTransformerTrainingArguments(
            **training_settings(
                seed=seed,
                learning_rate=learning_rate,
                num_train_epochs=epochs,
                per_device_train_batch_size=32,
                eval_strategy="epoch",
            )
        ),
        train_dataset=data,
        loss=losses,
        evaluator=TripletEvaluator(*(dev[name].tolist() for name in COLUMNS), name="dev"),
    )
    seen = watch(trainer)
    trainer.train()
    return (
        model,
        [value for _, value in seen],
        [row["eval_dev_cosine_accuracy"] for row in trainer.state.log_history if "eval_dev_cosine_accuracy" in row],
    )


def right_triplets(model, triplets):
    """For each triplet, whether the anchor is nearer to its positive than to its negative. Boolean array (n,)."""
    anchor, positive, negative = (encoded(model, triplets[name]) for name in COLUMNS)
    return row_cosines(anchor, positive) > row_cosines(anchor, negative)


def other_pairs():
    """The scored pairs of lesson 08 without those that reverse the meaning."""
    pairs = load_scored_pairs()
    return pairs[~pairs["phenomenon"].isin(DENIALS)].reset_index(drop=True)


@cache
def _long_reviews():
    """The words of long reviews, in a drawn order. Reading them takes a second."""
    words = load_reviews("imdb")["text"].drop_duplicates().sample(1200, random_state=0).str.split()
    return words[words.str.len() >= 80]


def review_search(model, number=500):
    """For each of `number` long reviews, whether its first 30 words rank its next 50 above those of all others.

    Array (number,).
    """
    words = _long_reviews()[:number]
    queries, texts = (encoded(model, part.str.join(" ")) for part in (words.str[:30], words.str[30:80]))
    return (queries @ texts.T).argmax(axis=1) == np.arange(number)


def measured(model, reviews=500, right=None):
    """The columns of numbers that the measures use: a dictionary for `compared`.

    reviews: how many reviews the search is among; the stored table has 500.
    right: `right_triplets` of the test part, if they are known.
    """
    pairs = other_pairs()
    right = right_triplets(model, load_triplets("test")) if right is None else right
    return {
        "held-out denials": [right.astype(float)],
        "other pairs, Spearman": [
            pairs["score"].to_numpy(float),
            row_cosines(*(encoded(model, pairs[name]) for name in ("sentence1", "sentence2"))),
        ],
        "review search": [review_search(model, reviews).astype(float)],
    }


def compared(before, after):
    """{measure: (before, after, difference, low, high)} for two results of `measured`.

    The intervals are paired 95% bootstrap intervals.
    """
    found = {}
    for name, old in before.items():
        value = spearman if len(old) == 2 else (lambda rows: np.mean(rows, axis=-1))
        size = len(old)

        def gain(*columns, value=value, size=size):
            return value(*columns[size:]) - value(*columns[:size])

        found[name] = (float(value(*old)), float(value(*after[name])), *bootstrap(gain, *old, *after[name]))
    return found


def recipes():
    """{name: keyword arguments of `trained`} for the recipes that the lesson compares."""
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    return {
        "triplet loss": {"loss": triplet_loss_of},
        "triplet loss, lower rate": {"loss": triplet_loss_of, "learning_rate": 2e-5},
        "triplet loss, data mixed in": {"loss": triplet_loss_of, "mix": mixed_in()},
        "ranking loss": {"loss": MultipleNegativesRankingLoss},
        "ranking loss, denials as positives": {"loss": MultipleNegativesRankingLoss, "columns": ["anchor", "negative"]},
    }


def pair_trainings():
    """{name: (loss, columns)} for the trainings on pairs, two epochs each, in which nothing keeps denials away."""
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss, MultipleNegativesRankingLoss

    return {
        "denials as positives": (MultipleNegativesRankingLoss, ["anchor", "negative"]),
        "paraphrases": (MultipleNegativesRankingLoss, ["anchor", "positive"]),
        "paraphrases, score 1": (CosineSimilarityLoss, ["anchor", "positive", "score"]),
    }


def unrelated_cosine(model):
    """The mean cosine of every 40th review with the others: near 1 if all vectors have the same direction."""
    vectors = encoded(model, load_reviews()["text"].iloc[::40])
    return (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)].mean()


def recipe_rows():
    """Train every recipe three times: a row for each measure, with what was gained or lost."""
    before, rows, every = measured(fresh_encoder()), [], recipes()
    for name, seed in (
        bar := progress_bar(iterable=[(name, seed) for name in every for seed in SEEDS], unit="training")
    ):
        model, losses, by_epoch = trained(**every[name], seed=seed)
        bar.write(
            f"{name}, seed {seed}: loss {losses[0]:.2f} to {losses[-1]:.2f}, development part {np.round(by_epoch, 2)}"
        )
        for measure, values in compared(before, measured(model)).items():
            rows.append(
                {"recipe": name, "seed": seed, "measure": measure}
                | dict(zip(("before", "after", "difference", "low", "high"), np.round(values, 4)))
            )
            bar.write(
                f"    {measure}: {values[0]:.2f} to {values[1]:.2f}, difference {values[2]:+.2f} ({values[3]:+.2f} to "
                f"{values[4]:+.2f})"
            )
    return rows


def pair_rows():
    """Train on each kind of pairs: a row for each, with losses, accuracies and the cosine of unrelated reviews."""
    rows, every = [], pair_trainings()
    for name in (bar := progress_bar(iterable=list(every), unit="training")):
        model, losses, (one, two) = trained(*every[name], epochs=2)
        found = {
            "first losses": np.mean(losses[:3]),
            "last losses": np.mean(losses[-3:]),
            "test part": right_triplets(model, load_triplets("test")).mean(),
            "development part, epoch 1": one,
            "development part, epoch 2": two,
            "unrelated reviews": unrelated_cosine(model),
        }
        rows.append({"training": name} | {measure: round(float(value), 4) for measure, value in found.items()})
        bar.write(f"{name}: " + ", ".join(f"{measure} {value:.2f}" for measure, value in found.items()))
    return rows


@click.command()
@click.option(
    "--folder",
    default=FILE.parent,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Where the two tables go.",
)
def main(folder):
    """Train every recipe three times and on three kinds of pairs, and write what each gained and lost."""
    write_table(pair_rows(), folder / PAIRS.name)
    write_table(recipe_rows(), folder / FILE.name)


if __name__ == "__main__":
    main()
