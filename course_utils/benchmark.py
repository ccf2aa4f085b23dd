"""Compare ways to measure sentence similarity on scored pairs, for lesson 08 and `course
benchmark`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .embedding import hidden_states
from .evaluation import auc, best_threshold, bootstrap, pearson, spearman
from .models import load_glove, progress_bar
from .pooling import POOLINGS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .embedding import Model

# on the scale from 0 to 5, pairs with at least this score count as similar: they share the main
# point
SIMILAR = 3
RARITY = 1e-3  # the constant a of Arora et al. (2017)


def glove_vectors(sentences: Sequence[str], weighted: bool = False) -> np.ndarray:
    """The mean of the GloVe vectors of each sentence's words, in lower case; zeros if no word is
    known. Array (n, 50).

    weighted: weight each word by a / (a + p), with a = 0.001 and p its relative frequency (Arora et
    al. 2017, section 3, without removing the common component). The package gives no counts, only
    words in order of frequency, so p comes from Zipf's law: inversely proportional to the rank.
    """
    row_of, glove = load_glove()  # {word: row}, the commonest word first; (words, 50)
    # about the sum of 1/rank over all words; 0.5772 is Euler's constant
    harmonic = math.log(len(row_of)) + 0.5772
    vectors = np.zeros((len(sentences), glove.shape[1]))
    for place, sentence in enumerate(sentences):
        words = re.findall(r"\w+|[^\w\s]", sentence.lower())  # punctuation marks are words, too
        rows = np.array([row_of[word] for word in words if word in row_of], dtype=int)
        if len(rows):
            frequencies = 1 / ((rows + 1) * harmonic)  # a row's rank counts from 1
            weights = RARITY / (RARITY + frequencies) if weighted else np.ones(len(rows))
            vectors[place] = weights @ glove[rows] / weights.sum()
    return vectors


def layer_vectors(
    sentences: Sequence[str], model: Model = None, poolings: Sequence[str] = ("mean",)
) -> dict[tuple[int, str], np.ndarray]:
    """Sentence vectors from every layer of an encoder: a dictionary from (layer, pooling) to an
    array (n, hidden).

    Layer 0 is the embedding layer. sentences, model: as for `embed`, whose vectors (before
    normalisation) are those of the last layer. poolings: of "mean", "cls" and "max"; KeyError for
    another.
    """
    vectors_of = {}
    for places, states, mask in hidden_states(sentences, model):
        for layer, state in enumerate(states):
            for pooling in poolings:
                vectors = vectors_of.setdefault(
                    (layer, pooling), np.empty((len(sentences), state.shape[-1]), dtype=np.float32)
                )
                vectors[places] = POOLINGS[pooling](state, mask).numpy()
    return vectors_of


def row_cosines(left: ArrayLike, right: ArrayLike) -> np.ndarray:
    """The cosine of each row of `left` with the same row of `right`, 0 where a row is zero. Arrays
    (n, d) -> (n,).

    Rounded to six decimal places, so that pairs of the same words in another order are ties despite
    rounding errors.
    """
    left, right = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = (left * right).sum(axis=1)
    cosines = np.divide(products, lengths, out=np.zeros(len(left)), where=lengths > 0)
    return cosines.round(6)


def similarities(pairs: pd.DataFrame, model: Model = None) -> dict[str, np.ndarray]:
    """The similarity of every pair in every space: GloVe twice, the mean of each layer, CLS and max
    of the last layer.

    pairs: a table with `sentence1` and `sentence2`.

    Returns a dictionary from the name of the space to an array (n,): "GloVe, mean",
    "GloVe, weighted mean", "layer 0, mean" and so on, and of the last layer "layer 12, cls" and
    "layer 12, max", if it is layer 12.
    """
    sentences = [*pairs["sentence1"], *pairs["sentence2"]]
    spaces = {
        "GloVe, mean": glove_vectors(sentences),
        "GloVe, weighted mean": glove_vectors(sentences, weighted=True),
    }
    layers = layer_vectors(sentences, model, poolings=("mean", "cls", "max"))
    last = max(layer for layer, _ in layers)
    spaces |= {f"layer {layer}, mean": layers[layer, "mean"] for layer in range(last + 1)}
    spaces |= {f"layer {last}, {pooling}": layers[last, pooling] for pooling in ("cls", "max")}
    return {
        name: row_cosines(vectors[: len(pairs)], vectors[len(pairs) :])
        for name, vectors in spaces.items()
    }


def halves_right(labels: ArrayLike, values: ArrayLike) -> np.ndarray:
    """For each pair, whether a threshold chosen on the *other* half of the pairs classifies it
    correctly.

    The halves are alternate pairs. labels: (n,), 0 or 1. values: (n,). Returns booleans (n,).
    Raises ValueError if a half lacks one of the labels.
    """
    labels, values = np.asarray(labels), np.asarray(values)
    right = np.empty(len(labels), dtype=bool)
    for half in (0, 1):
        threshold, _ = best_threshold(labels[1 - half :: 2], values[1 - half :: 2])
        right[half::2] = (values[half::2] >= threshold) == labels[half::2]
    return right


def score_table(
    values_of: Mapping[str, np.ndarray], scores: ArrayLike, repeats: int = 1000
) -> pd.DataFrame:
    """One row per space: Spearman, Pearson, AUC and accuracy, each with its 95% interval.

    AUC and accuracy are for "similar or not": whether a pair's score is at least SIMILAR. The cells
    are text, such as "0.85 (0.80 to 0.90)".

    values_of: a dictionary from names of spaces to similarities (n,), as `similarities` returns.
    scores: the gold scores (n,), from 0 to 5.
    repeats: how many resamples each interval is computed from, see `evaluation.bootstrap`.
    """
    scores = np.asarray(scores)
    labels = (scores >= SIMILAR).astype(int)
    rows = {}
    for name, values in progress_bar(iterable=values_of.items(), unit="space"):
        measured = {
            "Spearman": bootstrap(spearman, scores, values, repeats=repeats),
            "Pearson": bootstrap(pearson, scores, values, repeats=repeats),
            "AUC": bootstrap(auc, labels, values, repeats=repeats),
            "accuracy": bootstrap(
                lambda right: right.mean(axis=-1), halves_right(labels, values), repeats=repeats
            ),
        }
        rows[name] = {
            measure: f"{value:.2f} ({low:.2f} to {high:.2f})"
            for measure, (value, low, high) in measured.items()
        }
    return pd.DataFrame.from_dict(rows, orient="index")
