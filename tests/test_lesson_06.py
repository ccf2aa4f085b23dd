"""Lesson 06: a cosine equal to the libraries', sentences by their rules, no picture at a tie."""

import ast
import re
from collections import Counter

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity as cosine_in_sklearn
from torch.nn.functional import cosine_similarity

from course_utils import embed, load_encoder, load_senses
from course_utils.benchmark import glove_vectors
from course_utils.exercises.lesson_06 import COSINE

from .sources import cell_of

U, V = torch.randn(2, 9, generator=torch.Generator().manual_seed(6))


@pytest.mark.parametrize("u, v", [
    (U, V), (U, -U), (U, U),  # between the ends, at -1, at 1
    (1e6 * U, 1e-6 * V),  # very different lengths
    (U, V.double()), (U.double(), V), (U.half(), V.half()),  # other precisions
    ((50 * U).int(), V), ((50 * U).to(torch.int8), (50 * V).to(torch.int8)),  # whole numbers
    (0 * U, V), (U, 0 * V), (0 * U, 0 * V),  # all zeros
])  # fmt: skip
def test_the_reference_cosine_is_that_of_both_libraries(u, v):
    ours = COSINE.reference(u, v)
    assert isinstance(ours, float)
    assert -1 <= ours <= 1
    u, v = u.double(), v.double()
    assert cosine_similarity(u, v, dim=0).item() == pytest.approx(ours, abs=1e-9)
    assert cosine_in_sklearn(u[None], v[None]).item() == pytest.approx(ours, abs=1e-9)


def _literal(cell_id, name):
    """The value that a lesson's cell gives to a name, written as a literal."""
    (value,) = [
        statement.value
        for statement in ast.parse(cell_of("06", cell_id).source).body
        if isinstance(statement, ast.Assign) and statement.targets[0].id == name
    ]
    return ast.literal_eval(value)


PARAPHRASES, SWAPS = _literal("pairs-one", "paraphrases"), _literal("swaps", "swaps")


def _words(sentence):
    return re.findall(r"\w+", sentence.lower())


def test_there_are_12_paraphrases_and_6_swaps_and_each_sentence_stands_once():
    assert (len(PARAPHRASES), len(SWAPS)) == (12, 6)
    counts = Counter(sentence for pair in PARAPHRASES + SWAPS for sentence in pair)
    assert set(counts.values()) == {1}
    # nor does one stand in the table of lesson 03
    assert not counts.keys() & set(load_senses()["sentence"])


def test_a_swap_has_the_same_words_in_another_order_and_a_paraphrase_other_words():
    assert all(sorted(_words(first)) == sorted(_words(second)) for first, second in SWAPS)
    assert all(_words(first) != _words(second) for first, second in SWAPS)
    assert all(sorted(_words(first)) != sorted(_words(second)) for first, second in PARAPHRASES)


def _token_vectors(sentence):
    tokenizer, model = load_encoder()
    with torch.inference_mode():
        return model(**tokenizer(sentence, return_tensors="pt")).last_hidden_state[0].numpy()


PICTURES = {  # what the lesson draws in two dimensions
    "words": lambda: embed(_literal("lie", "words")),
    "cat": lambda: _token_vectors("The cat sat on the mat"),
    # the pair that the lesson draws
    "two": lambda: np.concatenate([_token_vectors(sentence) for sentence in PARAPHRASES[4]]),
}


@pytest.mark.parametrize("name", PICTURES)
def test_no_near_tie_decides_a_sign_or_an_axis(name):
    # Two machines differ by rounding. At a near tie, it would decide what the picture looks like;
    # the bounds here are far larger.
    pca = PCA(3).fit(PICTURES[name]())  # the two axes that are drawn, and the next one
    # scikit-learn turns an axis so that its largest number, in absolute value, is positive: the
    # second largest must be smaller by 2 percent
    second, largest = np.sort(np.abs(pca.components_[:2]))[:, -2:].T
    assert (largest > 1.02 * second).all()
    # axes come in the order of their variance: the share of it that each explains must be half a
    # percentage point above that of the next
    assert (-np.diff(pca.explained_variance_ratio_) > 0.005).all()


def test_the_glove_mean_leaves_out_unknown_words_and_refuses_a_sentence_of_them():
    names = {"np": np}
    exec(cell_of("06", "glove-split").source, names)
    glove_mean = names["glove_mean"]
    sentences = ["The ferry leaves.", "Nobody snorfles here!", "No"]
    expected = glove_vectors(sentences)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert glove_mean(sentences) == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ValueError, match="GloVe knows no word of 'Snorfle blimbat'"):
        glove_mean(["The ferry leaves.", "Snorfle blimbat"])
