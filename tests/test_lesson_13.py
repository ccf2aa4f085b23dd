"""Lesson 13: codes and bits equal to the library's, an index that counts alike, and tables that fit themselves."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies
from sentence_transformers.util.quantization import quantize_embeddings

from course_utils import search
from course_utils.exercises.lesson_13 import HAMMING, INT8, RESCORE
from course_utils.ranking import recalls
from course_utils.trainings import growth, matryoshka, negation

from .tables import replace, written


def drawn(number, dimensions=13, seed=0):
    # random vectors, not of length 1; the bits of 13 dimensions do not fill whole bytes
    return np.random.default_rng(seed).normal(size=(number, dimensions)).astype(np.float32)


def awkward():
    """{case: (vectors, ranges)}

    ranges: the least and the greatest of each dimension, (2, dimensions), by which the vectors are
    quantised.
    """
    vectors, calibration = drawn(30), drawn(200, seed=1)
    constant = vectors.copy()
    constant[:, 4] = 0.25
    ends = np.stack([calibration.min(axis=0), calibration.max(axis=0)])
    flat_ends = ends.copy()
    flat_ends[:, 4] = 0.25
    return {
        "inside": (calibration, ends),
        "outside": (vectors * 3, ends),  # beyond the ranges, where codes must be clipped
        "one vector": (vectors[:1], ends),
        "constant dimension": (constant, flat_ends),
        "zeros": (np.zeros((3, 13), np.float32), ends),
        "zeros and no range": (np.zeros((3, 13), np.float32), np.zeros((2, 13), np.float32)),
        "infinite": (np.array([[np.inf, -np.inf, *[0.0] * 11]], np.float32), ends),
        "none": (vectors[:0], ends),
    }


@pytest.mark.parametrize("vectors, ranges", awkward().values(), ids=awkward())
def test_the_codes_are_the_librarys(vectors, ranges):
    codes = INT8.reference(vectors, *ranges)
    assert codes.dtype == np.int8
    assert np.array_equal(codes, quantize_embeddings(vectors, "int8", ranges=ranges))


@given(strategies.integers(1, 40), strategies.integers(1, 70), strategies.integers(0, 999))
def test_hamming_distances_of_packed_bits_are_those_of_signs(number, dimensions, seed):
    # Also where the dimensions fill no whole bytes: the bits that are added are 0 on both sides.
    # Rounded, so that some numbers are 0, which is not above 0.
    vectors = np.round(drawn(number + 1, dimensions, seed), 1)
    signs = vectors > 0
    packed = np.packbits(signs, axis=1)
    assert np.array_equal(packed, quantize_embeddings(vectors, "ubinary"))
    assert packed.shape == (number + 1, math.ceil(dimensions / 8))
    assert HAMMING.reference(packed[0], packed[1:]).tolist() == [
        (signs[0] != other).sum() for other in signs[1:]
    ]


def test_a_second_look_at_everything_is_the_exact_search():
    query, corpus = drawn(1, seed=2)[0], drawn(50)
    corpus /= np.linalg.norm(corpus, axis=1, keepdims=True)
    shuffled = np.random.default_rng(0).permutation(50)
    nearest, _ = search(query[None], corpus, k=7)
    assert np.array_equal(RESCORE.reference(query, corpus, shuffled, 7), nearest[0])


def test_an_index_counts_the_same_each_time_and_a_wider_search_compares_more():
    # in float16, as the index keeps them
    blocks = [drawn(300, 32, seed).astype(np.float16) for seed in range(2)]
    asked = drawn(40, 32, seed=9).astype(np.float16)
    nearest, _ = search(asked, np.concatenate(blocks), k=growth.K)
    exact = growth.built(blocks).search(asked, growth.K, threads=1, exact=True).keys
    assert np.array_equal(exact, nearest)
    compared, recall = [], []
    for width in (10, 10, 600):  # the same width twice, then as wide as there are vectors
        index = growth.built(blocks)
        index.expansion_search = width
        result = index.search(asked, growth.K, threads=1)
        compared.append(result.computed_distances)
        recall.append(recalls(result.keys.tolist(), nearest.tolist(), growth.K).mean())
    assert compared[0] == compared[1] < compared[2]
    assert recall[0] == recall[1] < recall[2]
    assert recall[2] > 0.99


def test_vectors_drawn_alike_have_the_mean_and_the_covariance():
    # unit vectors whose dimensions are correlated, close together around the first axis; more are
    # drawn than BLOCK, so that they come in two blocks
    real = drawn(4000, 6) @ drawn(6, 6, seed=3) / 20 + np.eye(6)[0]
    real /= np.linalg.norm(real, axis=1, keepdims=True)
    alike = np.concatenate(list(growth.drawn_alike(real, 60_000))).astype(np.float32)
    assert len(alike) == 60_000
    assert np.abs(np.linalg.norm(alike, axis=1) - 1).max() < 1e-3  # float16 has three digits
    # only roughly: scaling the drawn vectors to length 1 changes both a little
    assert np.abs(alike.mean(axis=0) - real.mean(axis=0)).max() < 0.02
    covariance = np.cov(real.T)
    assert np.abs(np.cov(alike.T) - covariance).max() < 0.2 * np.abs(covariance).max()


def test_the_collection_has_every_wanted_text_and_shares_none_with_the_training():
    texts, asked, queries, wanted = matryoshka.review_parts()
    assert len(asked) == matryoshka.ASKED
    assert len(queries) == len(wanted)
    assert min(wanted) >= 0  # -1 would be the place of a text that is not in the collection
    pairs = matryoshka.neighbours()
    trained_on = {*pairs["anchor"], *pairs["positive"]}
    assert len(pairs["anchor"]) == len(pairs["positive"]) == matryoshka.PAIRS
    assert not trained_on & {*texts, *asked, *queries}
    assert not {*texts} & {*asked}


def test_the_stored_recalls_and_changes_fit_the_untrained_encoder():
    stored = pd.read_csv(matryoshka.FILE)
    assert (stored.loc[stored["dimensions"] == 384, "recall"] == 1).all()
    before = stored[stored["recipe"] == "untrained"].set_index("dimensions")["mrr"]
    # three numbers of four decimals, each rounded by up to 5e-5
    assert (stored["mrr"] - stored["dimensions"].map(before) - stored["change"]).abs().max() < 2e-4


def test_the_stored_table_of_growth_has_all_widths_and_grows_with_them():
    grown = pd.read_csv(growth.FILE)
    for _, rows in grown.groupby(["vectors", "n"]):
        assert tuple(rows["width"]) == growth.WIDTHS
        assert rows["compared"].is_monotonic_increasing
        assert rows["recall"].is_monotonic_increasing
    # more than the vectors alone: 384 numbers of two bytes
    assert (grown["bytes"] > grown["n"] * 384 * 2).all()


@pytest.mark.nightly
def test_the_script_of_growth_writes_the_stored_form(tmp_path, monkeypatch):
    replace(
        monkeypatch,
        growth,
        SIZES={"reviews": (300,), "drawn": (300, 600)},
        ASKED=20,
        review_vectors=lambda number: drawn(number, 24).astype(np.float16),
    )
    (table,) = written(growth, tmp_path, growth.FILE)
    assert len(table) == 3 * len(growth.WIDTHS)  # one index of reviews, and two of drawn vectors


@pytest.mark.nightly
def test_the_script_of_matryoshka_writes_the_stored_form(tmp_path, monkeypatch):
    texts, asked, queries, wanted = matryoshka.review_parts()
    # the wanted texts, whose places change, and the first 200
    kept = sorted({*wanted, *range(200)})
    few_texts = [texts[place] for place in kept]
    few_wanted = [kept.index(place) for place in wanted]
    fresh_encoder, trained = negation.fresh_encoder, matryoshka.trained_on_neighbours

    def shallow_encoder():
        # one layer of six, so that it trains quickly
        model = fresh_encoder()
        model[0].auto_model.encoder.layer = model[0].auto_model.encoder.layer[:1]
        return model

    replace(
        monkeypatch,
        matryoshka,
        SEEDS=(0,),
        BATCH=8,
        review_parts=lambda: (few_texts, asked[:20], queries, few_wanted),
        trained_on_neighbours=lambda nested, seed: trained(nested, seed, pairs=80),
        fresh_encoder=shallow_encoder,
    )
    replace(monkeypatch, negation, fresh_encoder=shallow_encoder)
    (table,) = written(matryoshka, tmp_path, matryoshka.FILE)
    # untrained, and trained with both losses
    assert list(table["dimensions"]) == [*matryoshka.DIMENSIONS] * 3
