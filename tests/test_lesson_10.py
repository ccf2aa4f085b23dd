"""Lesson 10: splits that share nothing, a loop equal to the library's, and tables that match the trainings."""

import re

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import get_linear_schedule_with_warmup, pipeline

from course_utils import embed
from course_utils.data import load_triplets
from course_utils.exercises.lesson_10 import LEAKS, SCHEDULE, SPLIT_PAIRS
from course_utils.trainings import depth, learning_curve, pairs

from .tables import replace, written


def test_the_parts_share_no_sentence():
    parts = learning_curve.review_parts()
    assert [len(part) for part in parts] == [6528, 500, 1500]
    words = [
        {" ".join(re.findall(r"\w+", text.lower())) for text in part["text"]} for part in parts
    ]
    assert len(set.union(*words)) == sum(map(len, words)) == sum(map(len, parts))
    assert not LEAKS.reference(parts[0]["text"].tolist(), parts[2]["text"].tolist())


@pytest.mark.parametrize("steps, warmup", [(56, 6), (10, 0), (3, 2)])
def test_the_schedule_is_the_librarys(steps, warmup):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=5.0)
    schedule = get_linear_schedule_with_warmup(optimizer, warmup, steps)
    for step in range(steps + 3):
        assert SCHEDULE.reference(step, steps, warmup, 5.0) == pytest.approx(
            schedule.get_last_lr()[0], abs=1e-9
        )
        optimizer.step()
        schedule.step()


@pytest.fixture
def small(tiny, little_garbage, monkeypatch):
    """The learning curve's code with a tiny encoder and a few short trainings."""
    monkeypatch.setattr(learning_curve, "encoder_folder", lambda: tiny)
    train, validation, test = learning_curve.review_parts()
    # the tiny encoder has 64 positions
    less = {"LEAST_STEPS": 2, "SIZES": (20, 24), "SEEDS": (0, 1), "LONGEST": 60}
    parts = train, validation, test[:30]
    replace(monkeypatch, learning_curve, **less, review_parts=lambda: parts)
    monkeypatch.setattr(depth, "EXAMPLES", 20)
    return tiny


def test_probabilities_are_those_of_the_librarys_pipeline(small):
    tokenizer, model = learning_curve.fine_tuned(["a b", "x y z", "a a", "y"], [0, 1, 0, 1])
    texts = ["y", "a much longer text " * 60, "a b c", "x"]
    theirs = pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")(
        texts, top_k=None, truncation=True, max_length=60
    )
    theirs = [{row["label"]: row["score"] for row in rows}["LABEL_1"] for rows in theirs]
    assert learning_curve.probabilities(tokenizer, model, texts, batch=3) == pytest.approx(
        theirs, abs=1e-5
    )


def test_the_head_on_the_mean_reads_what_embed_gives(small):
    torch.manual_seed(0)
    tokenizer, model = learning_curve.classifier(pooling="mean")
    texts = ["a b", "x y z x", "a"]
    logits = model.classifier(torch.tensor(embed(texts, normalize=False, model=str(small))))
    found = learning_curve.probabilities(tokenizer, model.eval(), texts)
    assert found == pytest.approx(logits.softmax(dim=1)[:, 1].tolist(), abs=1e-5)


def test_the_same_seed_trains_the_same_model(small):
    texts, labels = ["a b", "x y z", "a a", "y"] * 5, [0, 1, 0, 1] * 5
    trained = (learning_curve.fine_tuned(texts, labels, seed) for seed in (3, 3, 4))
    first, second, other = (learning_curve.probabilities(*model, texts) for model in trained)
    assert np.allclose(first, second, atol=1e-6) and not np.allclose(first, other, atol=1e-4)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "script, files",
    [
        (learning_curve, (learning_curve.CURVE, learning_curve.ANSWERS, learning_curve.VALIDATION)),
        (depth, (depth.TABLE, depth.ANSWERS)),
    ],
)
def test_a_script_writes_whole_tables_in_the_stored_ones_form(script, files, small, tmp_path):
    written(script, tmp_path, *files)
    assert {path.name for path in tmp_path.iterdir()} == {file.name for file in files}


def test_the_stored_tables_fit_each_other():
    curve, answers = pd.read_csv(learning_curve.CURVE), pd.read_csv(learning_curve.ANSWERS)
    labels = learning_curve.review_parts()[2]["label"]
    for name in answers.columns:
        row = curve[
            (curve["examples"] == 1600) & (curve["seed"] == 0) & (curve["classifier"] == name)
        ]
        # rounded to three decimals, so 0.5 may be 0.4999
        assert ((answers[name] > 0.5) == labels).mean() == pytest.approx(
            row["accuracy"].item(), abs=0.002
        )
    read, validation = pd.read_csv(learning_curve.VALIDATION), learning_curve.review_parts()[1]
    assert list(read.columns) == ["fine-tuned encoder, CLS"] and len(read) == len(validation)
    # the same model does about as well there; a column for other sentences would be at 0.5
    assert ((read.iloc[:, 0] > 0.5) == validation["label"]).mean() == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("layers, pooling", [(0, "mean"), (1, "cls"), (None, "mean")])
def test_only_the_last_layers_are_trained(small, layers, pooling):
    torch.manual_seed(0)
    _, before = learning_curve.classifier(pooling=pooling)
    _, after = learning_curve.fine_tuned(
        ["a b", "x y z", "a a", "y"], [0, 1, 0, 1], pooling=pooling, layers=layers
    )
    moved = {
        name
        for name, weight in after.named_parameters()
        if not torch.equal(weight, before.get_parameter(name))
    }
    count = len((after.encoder if pooling == "mean" else after.bert).encoder.layer)
    of_layers = {int(name.split(".layer.")[1].split(".")[0]) for name in moved if ".layer." in name}
    assert of_layers == set(range(count - (count if layers is None else layers), count))
    assert (
        any("embeddings" in name for name in moved) == (layers is None)
        and "classifier.weight" in moved
    )


def test_the_stored_table_of_depths_fits_its_answers():
    table, answers = pd.read_csv(depth.TABLE), pd.read_csv(depth.ANSWERS)
    labels = learning_curve.review_parts()[2]["label"]
    for name in (*depth.DEPTHS, *depth.READ):
        tried = table[(table["trained"] == name) & (table["seed"] == 0)]
        chosen = tried.loc[tried["validation"].idxmax()]
        assert ((answers[name] > 0.5) == labels).mean() == pytest.approx(chosen["test"], abs=0.002)
        others = table[(table["trained"] == name) & (table["seed"] > 0)]
        assert set(others["learning_rate"]) == {chosen["learning_rate"]}


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_each_triplet_gives_three_pairs_and_the_unrelated_sentence_is_of_another(part):
    triplets, table = load_triplets(part), pairs.pair_table(part)
    assert table["kind"].tolist() == [*pairs.KINDS] * len(triplets)
    home = {
        text: row
        for name in ("anchor", "positive", "negative")
        for row, text in triplets[name].items()
    }
    own = table["second"].map(home) == table["triplet"]
    assert (own == (table["kind"] != "unrelated")).all()
    assert (table["first"].map(home) == table["triplet"]).all()
    assert (table["label"] == (table["kind"] == "paraphrase")).all()


def test_the_splits_share_what_their_names_say():
    tested_in = []
    for turn in range(3):
        tested, sets = pairs.shared_parts(turn)
        tested_in += zip(tested["triplet"], tested["kind"])
        asked = set(zip(tested["first"], tested["second"]))
        swapped, shared, constructions, nothing = (
            list(zip(one["first"], one["second"])) for one in sets.values()
        )
        assert list(sets) == list(pairs.SPLITS) and {len(one) for one in sets.values()} == {
            3 * len(tested)
        }
        assert all(one["label"].mean() == pytest.approx(1 / 3) for one in [tested, *sets.values()])
        assert asked <= {pair[::-1] for pair in swapped} and not asked & set(swapped)
        assert not asked & {*shared, *(pair[::-1] for pair in shared)}
        assert not {pair[0] for pair in asked} - {pair[0] for pair in shared}
        for clean in (constructions, nothing):
            groups = SPLIT_PAIRS.reference([*asked, *clean])
            assert not set(groups[: len(asked)]) & set(groups[len(asked) :])
        table = load_triplets()
        home = {text: row.construction for row in table.itertuples() for text in row[3:]}
        of = [
            {home[text] for pair in part for text in pair}
            for part in (asked, constructions, nothing)
        ]
        assert of[0] == of[1] and not of[0] & of[2]
    assert len(tested_in) == len(set(tested_in)) == 3 * len(tested)


@pytest.fixture
def small_pairs(small, monkeypatch):
    """The code of the pairs with a tiny encoder, one epoch, and few pairs of each part."""
    table, parts = pairs.pair_table, pairs.shared_parts

    def few_parts(turn):
        tested, sets = parts(turn)
        return tested, {name: rows[:18] for name, rows in sets.items()}

    less = {
        "pair_table": lambda part: table(part)[:18],
        "shared_parts": few_parts,
        "EPOCHS": 1,
        "LONGEST": 60,
    }
    replace(monkeypatch, pairs, **less)


def test_the_heads_read_what_they_should(small_pairs):
    first, second = ["a b", "x y z x"], ["a", "y"]
    torch.manual_seed(0)
    tokenizer, model = pairs.pair_classifier("bi-encoder")
    folder = str(learning_curve.encoder_folder())
    u, v = (torch.tensor(embed(texts, normalize=False, model=folder)) for texts in (first, second))
    expected = model.head(torch.cat([u, v, (u - v).abs()], dim=1)).softmax(dim=1)[:, 1].tolist()
    assert pairs.paraphrase_probabilities(tokenizer, model.eval(), first, second) == pytest.approx(
        expected, abs=1e-5
    )
    tokenizer, model = pairs.pair_classifier("cross-encoder")
    both = tokenizer(first, second, padding=True, return_tensors="pt")
    assert both["token_type_ids"].max() == 1
    expected = model.eval()(**both).logits.softmax(dim=1)[:, 1].tolist()
    assert pairs.paraphrase_probabilities(tokenizer, model, first, second) == pytest.approx(
        expected, abs=1e-5
    )


def test_balanced_accuracy_is_the_mean_of_the_share_of_each_label():
    labels, p = np.array([1, 0, 0, 1, 0, 0]), np.array([0.9, 0.2, 0.7, 0.4, 0.5, 0.1])
    assert pairs.balanced_accuracy(p, labels) == pytest.approx((1 / 2 + 3 / 4) / 2)


def test_the_script_of_pairs_writes_the_stored_form(small_pairs, tmp_path):
    answers, split = written(pairs, tmp_path, pairs.ANSWERS, pairs.SPLIT)
    assert len(answers) == 18 and split.notna().all(axis=None)


def test_the_stored_tables_of_pairs_have_every_pair():
    split, answers = pd.read_csv(pairs.SPLIT), pd.read_csv(pairs.ANSWERS)
    assert split.groupby("triplet")["kind"].nunique().eq(3).all()
    assert list(split.columns[4:]) == list(pairs.SPLITS)
    held = pairs.pair_table("test")
    assert len(answers) == len(held) and answers.notna().all(axis=None)
    # a column for other pairs would be at 0.5
    for way in pairs.WAYS:
        found = pairs.balanced_accuracy(answers[f"{way}, all kinds, 0"], held["label"])
        assert found > 0.6
