"""The registry of lesson 08: each space matches its name, and `course benchmark` prints one table for any model."""

import math
import re

import numpy as np
import pytest
import torch

from course_utils import embed, load_encoder, load_glove, load_scored_pairs
from course_utils.benchmark import (
    SIMILAR,
    glove_vectors,
    halves_right,
    layer_vectors,
    row_cosines,
    score_table,
    similarities,
)
from course_utils.evaluation import auc, best_threshold, pearson, spearman

from .commands import run

AWKWARD = [
    "The ferry leaves at noon.", "Snorfle blimbat qwxz", "The ferry leaves at noon.", "No", "naïve café; 北京!",
    "a " * 60,
]  # fmt: skip


@pytest.fixture(scope="module")
def pairs(one_thread):
    return load_scored_pairs().iloc[::9].reset_index(drop=True)


def test_glove_means_are_those_of_a_slow_loop():
    row_of, glove = load_glove()
    total = math.fsum(1 / rank for rank in range(1, len(row_of) + 1))
    plain, weighted = glove_vectors(AWKWARD), glove_vectors(AWKWARD, weighted=True)
    for place, sentence in enumerate(AWKWARD):
        words = [word for word in re.findall(r"\w+|[^\w\s]", sentence.lower()) if word in row_of]
        if not words:
            assert not plain[place].any() and not weighted[place].any()
            continue
        assert plain[place] == pytest.approx(
            np.mean([glove[row_of[word]] for word in words], axis=0), abs=1e-5
        )
        weights = [1e-3 / (1e-3 + 1 / ((row_of[word] + 1) * total)) for word in words]
        assert weighted[place] == pytest.approx(
            np.average([glove[row_of[word]] for word in words], axis=0, weights=weights), abs=1e-4
        )


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_the_last_layer_is_embed_and_the_first_is_the_embedding_layer(pooling, one_thread):
    found = layer_vectors(AWKWARD, poolings=(pooling,))
    assert sorted(found) == [(layer, pooling) for layer in range(7)]
    assert found[6, pooling] == pytest.approx(
        embed(AWKWARD, pooling=pooling, normalize=False), abs=1e-5
    )
    tokenizer, encoder = load_encoder()
    with torch.inference_mode():
        states = encoder(
            **tokenizer(AWKWARD[:1], return_tensors="pt"), output_hidden_states=True
        ).hidden_states
    for layer in range(7):
        state = states[layer][0]
        expected = {"mean": state.mean(dim=0), "cls": state[0], "max": state.amax(dim=0)}[pooling]
        assert found[layer, pooling][0] == pytest.approx(expected.numpy(), abs=1e-5)


def test_a_zero_vector_is_similar_to_nothing():
    assert row_cosines(
        [[0, 0], [3, 4], [1, 0]], [[1, 2], [6, 8], [-2, 0]]
    ).tolist() == pytest.approx([0, 1, -1])


def test_the_threshold_of_each_half_comes_from_the_other():
    generator = np.random.default_rng(0)
    labels, values = generator.integers(0, 2, 41), generator.normal(size=41)
    right = halves_right(labels, values)
    threshold, _ = best_threshold(labels[1::2], values[1::2])
    assert right[::2].tolist() == ((values[::2] >= threshold) == labels[::2]).tolist()
    threshold, _ = best_threshold(labels[::2], values[::2])
    assert right[1::2].tolist() == ((values[1::2] >= threshold) == labels[1::2]).tolist()


def test_the_table_holds_what_the_measures_give(pairs):
    found = similarities(pairs)
    assert list(found)[:2] == ["GloVe, mean", "GloVe, weighted mean"] and len(found) == 11
    cosines = (embed(pairs["sentence1"]) * embed(pairs["sentence2"])).sum(axis=1)
    assert found["layer 6, mean"] == pytest.approx(cosines, abs=1e-5)
    table = score_table(found, pairs["score"], repeats=50)
    assert list(table.index) == list(found) and list(table.columns) == [
        "Spearman",
        "Pearson",
        "AUC",
        "accuracy",
    ]
    labels = (pairs["score"] >= SIMILAR).astype(int)
    for name, values in found.items():
        expected = {
            "Spearman": spearman(pairs["score"], values),
            "Pearson": pearson(pairs["score"], values),
        }
        expected |= {"AUC": auc(labels, values), "accuracy": halves_right(labels, values).mean()}
        for column, value in expected.items():
            parts = re.fullmatch(
                r"(-?[\d.]+) \((-?[\d.]+) to (-?[\d.]+)\)", table.loc[name, column]
            )
            shown, low, high = map(float, parts.groups())
            assert shown == pytest.approx(value, abs=0.0051) and low <= shown <= high


# The command


BENCHMARK = ("benchmark", "--repeats", 20)


def test_the_command_prints_the_table_for_any_model_and_file(pairs, tiny, tmp_path):
    path = tmp_path / "mine.csv"
    pairs[["sentence1", "sentence2", "score"]].to_csv(path, index=False)
    text, status = run(*BENCHMARK, "--model", tiny, "--data", path)
    assert status == 0 and f"{len(pairs)} pairs, " in text
    assert re.search(r"layer 2, mean +-?0\.\d\d \(.*\) .*", text) and "layer 3" not in text, (
        "the tiny model has two layers"
    )


HEADER = "sentence1,sentence2,score\n"
WRONG = [
    (["--data", "nowhere.csv"], "no file nowhere.csv"),
    (["--model", "/nowhere/at/all", "--data", "course"], "neither a folder"),
    (["--data", "bad.csv"], "bad.csv, line 2: the score"),
    (["--data", "same.csv"], "constant"),
]


@pytest.mark.parametrize("arguments, words", WRONG)
def test_what_cannot_be_had_or_measured_is_one_sentence(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(f"{HEADER}A b.,C d.,\n")
    (tmp_path / "same.csv").write_text(f"{HEADER}A b.,C d.,2\nE f.,G h.,2\n")
    text, status = run(*BENCHMARK, *arguments)
    assert status == 1 and words in text
