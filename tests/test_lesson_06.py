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

from .sources import SOURCES, cell_of

GENERATOR = torch.Generator().manual_seed(6)
A, B = torch.randn(2, 9, generator=GENERATOR)
AWKWARD = [
    (A, B), (A, -A), (A, A), (1e6 * A, 1e-6 * B), (A, B.double()), (A.double(), B),
    ((50 * A).int(), B), ((50 * A).to(torch.int8), (50 * B).to(torch.int8)), (0 * A, B),
    (A, 0 * B), (0 * A, 0 * B), (A.half(), B.half()),
]  # fmt: skip


@pytest.mark.parametrize("a, b", AWKWARD)
def test_the_reference_cosine_is_that_of_both_libraries(a, b):
    ours = COSINE.reference(a, b)
    assert isinstance(ours, float) and -1 <= ours <= 1
    assert ours == pytest.approx(cosine_similarity(a.double(), b.double(), dim=0).item(), abs=1e-9)
    assert ours == pytest.approx(
        cosine_in_sklearn(a.double()[None], b.double()[None]).item(), abs=1e-9
    )


def _of(cell, name):
    """The value that a lesson's cell gives to a name, written as a literal."""
    for statement in ast.parse(cell_of("06", cell).source).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == name:
            return ast.literal_eval(statement.value)
    raise LookupError(f"{cell} gives {name} no value")


def _words(sentence):
    return re.findall(r"\w+", sentence.lower())


def test_the_pairs_keep_their_rules():
    paraphrases, swaps = _of("pairs-one", "paraphrases"), _of("swaps", "swaps")
    assert (len(paraphrases), len(swaps)) == (12, 6)
    sentences = [sentence for pair in paraphrases + swaps for sentence in pair]
    assert len(set(sentences)) == len(sentences) and not set(sentences) & set(
        load_senses()["sentence"]
    )
    assert all(Counter(_words(one)) == Counter(_words(other)) for one, other in swaps)
    assert all(_words(one) != _words(other) for one, other in paraphrases + swaps)
    # not the pictures' bytes
    sources = [cell.source for cell in SOURCES["06"].cells]
    assert not any("1995" in source for source in sources), "the source's pair is an item of STS-B"


def _rows(sentence):
    tokenizer, model = load_encoder()
    with torch.inference_mode():
        return model(**tokenizer(sentence, return_tensors="pt")).last_hidden_state[0].numpy()


PICTURES = {
    "words": lambda: embed(_of("lie", "words")),
    "cat": lambda: _rows("The cat sat on the mat"),
    "two": lambda: np.concatenate(
        [_rows(sentence) for sentence in _of("pairs-one", "paraphrases")[4]]
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_no_near_tie_decides_a_sign_or_an_axis(name):
    """scikit-learn turns each axis so that its largest number, in absolute value, is positive."""
    pca = PCA(3).fit(PICTURES[name]())
    second, largest = np.sort(np.abs(pca.components_[:2]))[:, -2:].T
    assert (largest > 1.02 * second).all()
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
