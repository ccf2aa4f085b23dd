"""How many labelled sentences does a classifier need? The slow part of lesson 10, stored as tables.

    python -m course_utils.trainings.learning_curve

trains the classifiers again (about an hour on two cores) and writes `learning_curve*.csv` beside
this file. The lesson repeats a few rows live and compares.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer
from transformers.modeling_outputs import SequenceClassifierOutput

from ..data import load_reviews
from ..embedding import embed
from ..models import encoder_folder
from ..pooling import mean_pool
from .common import (
    FOLDER,
    Folder,
    Model,
    Row,
    Tokenizer,
    inputs_of,
    probabilities_of,
    rows_of_each,
    script,
    training_settings,
    write_table,
)

SIZES, SEEDS = (25, 100, 400, 1600), range(5)
BATCH, LEAST_STEPS = 16, 60  # texts in a batch; the fewest steps of a training
LONGEST = 128  # the most tokens of a text
TUNED = {"cls": "fine-tuned encoder, CLS", "mean": "fine-tuned encoder, mean"}
CURVE = FOLDER / "learning_curve.csv"  # one row per classifier, number of examples and seed
# two classifiers' probabilities for each test sentence, 1,600 examples, seed 0
ANSWERS = FOLDER / "learning_curve_answers.csv"
# the fine-tuned one's probabilities for each validation sentence, to read its mistakes there
VALIDATION = FOLDER / "learning_curve_validation.csv"


def review_parts() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """(train, validation, test): labelled review sentences, none of them in two parts.

    Tables with the columns of `load_reviews`: 1,500 rows to test, 500 to validate, the others to
    train. Sentences of the same words count as the same, whatever their punctuation and capital
    letters.
    """
    table = load_reviews("rotten_tomatoes")
    words = table["text"].str.lower().str.findall(r"\w+").str.join(" ")
    table = table[~words.duplicated()].sample(frac=1, random_state=0, ignore_index=True)
    return (
        table[2000:].reset_index(drop=True),
        table[1500:2000].reset_index(drop=True),
        table[:1500].reset_index(drop=True),
    )


class MeanPooledClassifier(torch.nn.Module):
    """An encoder with a linear head on the mean of its token vectors.

    It is called like transformers' own classifiers.
    """

    def __init__(self, encoder: Any):
        super().__init__()
        self.encoder, self.dropout = encoder, torch.nn.Dropout(encoder.config.hidden_dropout_prob)
        self.classifier = torch.nn.Linear(encoder.config.hidden_size, 2)
        torch.nn.init.normal_(self.classifier.weight, std=encoder.config.initializer_range)
        torch.nn.init.zeros_(self.classifier.bias)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        labels: torch.Tensor | None = None,
        **token_types: torch.Tensor,
    ) -> SequenceClassifierOutput:
        output = self.encoder(input_ids=input_ids, attention_mask=attention_mask, **token_types)
        pooled = mean_pool(output.last_hidden_state, attention_mask)
        logits = self.classifier(self.dropout(pooled))
        loss = None if labels is None else torch.nn.functional.cross_entropy(logits, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)


def classifier(pooling: str = "cls") -> tuple[Tokenizer, Model]:
    """(tokenizer, model): the packaged encoder, with a new head for two classes.

    pooling: "cls" for a head on the first token, [CLS], as in BERT; "mean" for one on the mean of
    the tokens.
    """
    folder = encoder_folder()
    eager = {"attn_implementation": "eager"}  # trains faster than torch's fused attention on a CPU
    if pooling == "mean":
        model = MeanPooledClassifier(AutoModel.from_pretrained(folder, **eager))
    else:
        model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2, **eager)
    return AutoTokenizer.from_pretrained(folder), model


def fine_tuned(
    texts: pd.Series,
    labels: pd.Series,
    seed: int = 0,
    learning_rate: float = 5e-5,
    pooling: str = "cls",
    layers: int | None = None,
    read: int | None = None,
) -> tuple[Tokenizer, Model]:
    """(tokenizer, model) trained by transformers' Trainer; the model is in evaluation mode.

    It is trained for three epochs, or for as many as make LEAST_STEPS, if that is more. labels: 0
    or 1. pooling: as in `classifier`.
    layers: how many of the last layers are trained beside the head. The embeddings, and the pooler
    between [CLS] and its head, stay as they are then. If omitted, everything is trained.
    read: the layer that the head reads, counted from 1; the later ones are removed. If omitted, the
    last one.
    """
    # other lessons load this module, and these imports take seconds
    from transformers import DataCollatorWithPadding, Trainer, TrainingArguments

    from ..training import watch

    torch.manual_seed(seed)
    tokenizer, model = classifier(pooling=pooling)
    _cut_and_freeze(model.encoder if pooling == "mean" else model.base_model, layers, read)
    # the trainer takes a list as a dataset, too
    rows: Any = [
        {**tokenizer(text, truncation=True, max_length=LONGEST), "labels": int(label)}
        for text, label in zip(texts, labels)
    ]
    steps_per_epoch = math.ceil(len(rows) / BATCH)
    settings = training_settings(
        seed=seed,
        learning_rate=learning_rate,
        num_train_epochs=max(3, math.ceil(LEAST_STEPS / steps_per_epoch)),
        per_device_train_batch_size=BATCH,
    )
    trainer = Trainer(
        model,
        TrainingArguments(**settings),
        train_dataset=rows,
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    watch(trainer)
    trainer.train()
    return tokenizer, model.eval()


def _cut_and_freeze(encoder: Model, layers: int | None, read: int | None) -> None:
    """Remove the layers after `read`, and freeze all but the last `layers`, as in `fine_tuned`."""
    # the first ModuleList of an encoder is its layers, whatever an architecture calls them
    stack = next(part for part in encoder.modules() if isinstance(part, torch.nn.ModuleList))
    if read is not None:
        del stack[read:]
    if layers is not None:
        encoder.requires_grad_(False)
        # not `-layers`, which would mean all layers for 0; and all if there are fewer
        for layer in stack[max(0, len(stack) - layers) :]:
            layer.requires_grad_(True)


def probabilities(
    tokenizer: Tokenizer, model: Model, texts: pd.Series, batch: int = 32
) -> np.ndarray:
    """The probability of label 1 for each text. Array (n,)."""
    sentences = np.array(list(texts), dtype=object)
    return probabilities_of(
        lambda places: model(**inputs_of(tokenizer, sentences[places], longest=LONGEST)).logits,
        list(map(len, sentences)),
        batch,
    )


def accuracy(answers: np.ndarray, labels: pd.Series) -> float:
    """The share of texts whose more probable label is the right one, to four decimals.

    answers: the probability of label 1 for each text.
    """
    return round(float(((answers > 0.5) == labels).mean()), 4)


def baselines(texts: pd.Series, labels: pd.Series, new_texts: pd.Series) -> dict[str, np.ndarray]:
    """{features: the probability of label 1 for each new text} by logistic regression on four kinds
    of features.

    texts, labels: the examples. The strength of the regularisation is chosen by cross-validation on
    them.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    from ..benchmark import glove_vectors

    kinds = {
        # counts words, does not use labels
        "TF-IDF": TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit(texts).transform,
        "GloVe mean": lambda column: glove_vectors(list(column)),
        "frozen encoder, CLS": lambda column: embed(column, pooling="cls"),
        "frozen encoder, mean": embed,
    }
    search = GridSearchCV(
        LogisticRegression(max_iter=2000, class_weight="balanced"), {"C": (0.1, 1, 10, 100)}, cv=5
    )
    return {
        name: search.fit(features(texts), labels).predict_proba(features(new_texts))[:, 1]
        for name, features in kinds.items()
    }


def all_answers(
    examples: pd.DataFrame, new_texts: pd.Series, seed: int
) -> tuple[dict[str, np.ndarray], dict[str, tuple[Tokenizer, Model]]]:
    """(answers, tuned) of every classifier, trained on a table of examples with `text` and `label`.

    answers: {classifier: the probability of label 1 for each new text}.
    tuned: {pooling: (tokenizer, model)} for the poolings of TUNED.
    """
    answers = baselines(examples["text"], examples["label"], new_texts)
    tuned = {}
    for pooling, name in TUNED.items():
        tuned[pooling] = fine_tuned(examples["text"], examples["label"], seed, pooling=pooling)
        answers[name] = probabilities(*tuned[pooling], new_texts)
    return answers, tuned


@script
def main(folder: Folder) -> None:
    """Train every classifier on 25 to 1,600 sentences, five times each, and write its accuracy on
    1,500 others.
    """
    train, validation, test = review_parts()

    def rows_of(size: int, seed: int) -> list[Row]:
        examples = train.sample(size, random_state=seed)
        answers, tuned = all_answers(examples, test["text"], seed)
        if (size, seed) == (SIZES[-1], SEEDS[0]):  # of this training, the answers are kept, too
            on_validation = probabilities(*tuned["cls"], validation["text"])
            write_table({TUNED["cls"]: on_validation.round(3)}, folder / VALIDATION.name)
            kept = ("frozen encoder, mean", TUNED["cls"])
            write_table({name: answers[name].round(3) for name in kept}, folder / ANSWERS.name)
        return [
            {
                "examples": size,
                "seed": seed,
                "classifier": name,
                "accuracy": accuracy(values, test["label"]),
            }
            for name, values in answers.items()
        ]

    turns = [(size, seed) for size in SIZES for seed in SEEDS]
    write_table(rows_of_each(turns, rows_of), folder / CURVE.name)
