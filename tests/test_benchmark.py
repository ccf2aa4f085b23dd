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

from .commands import output_of

AWKWARD = [
    "The ferry leaves at noon.", "Snorfle blimbat qwxz", "The ferry leaves at noon.", "No", "naïve café; 北京!",
    "a " * 60,
]  # fmt: skip


@pytest.fixture(scope="module")
def pairs(one_thread):
    return load_scored_pairs().iloc[::9].reset_index(drop=True)  # a ninth, to be quick


def test_glove_means_are_those_of_a_slow_loop():
    row_of, glove = load_glove()
    total = math.fsum(1 / rank for rank in range(1, len(row_of) + 1))
    plain, weighted = glove_vectors(AWKWARD), glove_vectors(AWKWARD, weighted=True)
    for sentence, mean, weighted_mean in zip(AWKWARD, plain, weighted, strict=True):
        words = [word for word in re.findall(r"\w+|[^\w\s]", sentence.lower()) if word in row_of]
        if not words:
            assert not mean.any()
            assert not weighted_mean.any()
            continue
        vectors = [glove[row_of[word]] for word in words]
        # a word's share of all words, by Zipf's law from its rank; its weight is a / (a + share),
        # with a = 0.001
        shares = [1 / ((row_of[word] + 1) * total) for word in words]
        weights = [1e-3 / (1e-3 + share) for share in shares]
        assert mean == pytest.approx(np.mean(vectors, axis=0), abs=1e-5)
        assert weighted_mean == pytest.approx(np.average(vectors, 0, weights), abs=1e-4)


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_the_vectors_of_layers_are_pooled_hidden_states_and_the_last_are_those_of_embed(
    pooling, one_thread
):
    vectors = layer_vectors(AWKWARD, poolings=(pooling,))
    assert sorted(vectors) == [(layer, pooling) for layer in range(7)]
    assert vectors[6, pooling] == pytest.approx(
        embed(AWKWARD, pooling=pooling, normalize=False), abs=1e-5
    )
    tokenizer, encoder = load_encoder()
    with torch.inference_mode():
        output = encoder(**tokenizer(AWKWARD[:1], return_tensors="pt"), output_hidden_states=True)
    for layer, (state,) in enumerate(output.hidden_states):
        expected = {"mean": state.mean(dim=0), "cls": state[0], "max": state.amax(dim=0)}[pooling]
        assert vectors[layer, pooling][0] == pytest.approx(expected.numpy(), abs=1e-5)


def test_a_zero_vector_is_similar_to_nothing():
    # the zero vector; then the same direction, and the opposite one
    assert row_cosines(
        [[0, 0], [3, 4], [1, 0]], [[1, 2], [6, 8], [-2, 0]]
    ).tolist() == pytest.approx([0, 1, -1])


def test_the_threshold_of_each_half_comes_from_the_other():
    generator = np.random.default_rng(0)
    labels, values = generator.integers(0, 2, 41), generator.normal(size=41)
    right = halves_right(labels, values)
    even, odd = slice(0, None, 2), slice(1, None, 2)
    for half, other in ((even, odd), (odd, even)):
        threshold, _ = best_threshold(labels[other], values[other])
        assert right[half].tolist() == ((values[half] >= threshold) == labels[half]).tolist()


@pytest.fixture(scope="module")
def values_of(pairs):
    return similarities(pairs)  # {space: of each pair, the similarity in it}


def test_the_similarities_are_of_two_glove_spaces_and_of_the_encoders(pairs, values_of):
    assert list(values_of)[:2] == ["GloVe, mean", "GloVe, weighted mean"]
    assert len(values_of) == 11  # 2 of GloVe; 7 layers by their means, and two more of the last
    cosines = (embed(pairs["sentence1"]) * embed(pairs["sentence2"])).sum(axis=1)
    assert values_of["layer 6, mean"] == pytest.approx(cosines, abs=1e-5)


def test_the_table_holds_what_the_measures_give(pairs, values_of):
    table = score_table(values_of, pairs["score"], repeats=50)
    assert list(table.index) == list(values_of)
    labels = (pairs["score"] >= SIMILAR).astype(int)
    for name, values in values_of.items():
        expected = {
            "Spearman": spearman(pairs["score"], values),
            "Pearson": pearson(pairs["score"], values),
            "AUC": auc(labels, values),
            "accuracy": halves_right(labels, values).mean(),
        }
        assert list(expected) == list(table.columns)
        for value, entry in zip(expected.values(), table.loc[name]):
            # such as "0.61 (0.58 to 0.64)"
            numbers = re.fullmatch(r"(-?\d\.\d+) \((-?\d\.\d+) to (-?\d\.\d+)\)", entry)
            shown, low, high = map(float, numbers.groups())
            assert shown == pytest.approx(value, abs=0.0051)  # printed with two decimals
            assert low <= shown <= high


# The command


def test_the_command_prints_the_table_for_any_model_and_file(pairs, tiny, tmp_path):
    path = tmp_path / "mine.csv"
    pairs[["sentence1", "sentence2", "score"]].to_csv(path, index=False)
    text = output_of("benchmark", "--repeats", 20, "--model", tiny, "--data", path)
    assert f"{len(pairs)} pairs, " in text
    # the tiny model has two layers
    assert re.findall(r"layer (\d), mean +-?0\.\d\d \(", text) == ["0", "1", "2"]
