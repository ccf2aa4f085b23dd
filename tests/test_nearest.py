"""search finds what a full table finds, uses little memory, and rejects invalid input."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from course_utils import search
from course_utils.nearest import BLOCK


# n random vectors, not of unit length
def drawn(n, hidden=8, seed=0):
    return np.random.default_rng(seed).normal(size=(n, hidden))


def unit_rows(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def cosine_table(queries, corpus):
    return unit_rows(queries) @ unit_rows(corpus).T


# BLOCK holds more than the largest of these tables; 16 and 200 divide most of them
@given(
    m=st.integers(1, 30),
    n=st.integers(1, 60),
    seed=st.integers(0, 99),
    block=st.sampled_from([16, 200, BLOCK]),
    data=st.data(),
)
def test_search_is_the_sorted_table(m, n, seed, block, data):
    k = data.draw(st.integers(1, n))
    # 100 more than any seed of queries: no vector is on both sides
    queries, corpus = drawn(m, seed=seed), drawn(n, seed=seed + 100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("course_utils.nearest.BLOCK", block)
        places, cosines = search(queries, corpus, k)
    full = cosine_table(queries, corpus)
    # `search` computes in 32 bits; negated, a row is sorted from the highest cosine down
    assert cosines == pytest.approx(-np.sort(-full, axis=1)[:, :k], abs=1e-6)
    assert np.take_along_axis(full, places, axis=1) == pytest.approx(cosines, abs=1e-6)
    assert all(len(set(row)) == k for row in places.tolist())


def test_no_cosine_is_larger_than_1():
    vectors = drawn(2000, 384)
    _, with_themselves = search(vectors, vectors, 1)
    assert with_themselves.max() == 1


@pytest.mark.parametrize("block", [16, 200, BLOCK])
def test_of_equal_cosines_the_first_in_the_corpus_comes_first(block, monkeypatch):
    # Signs give few different cosines. In whole numbers they are exact; as unit vectors they differ
    # by rounding.
    monkeypatch.setattr("course_utils.nearest.BLOCK", block)
    queries, corpus = np.sign(drawn(7, 24)), np.sign(drawn(90, 24, seed=1))
    places, _ = search(queries, corpus, k=10)
    assert (places == np.argsort(-(queries @ corpus.T), axis=1, kind="stable")[:, :10]).all()


NUMBERS = [[3, 4], [4, 3], [-3, 4], [0, 5]]
IN_MANY_FORMS = {  # NUMBERS, as each kind of array that `search` takes
    "list": NUMBERS,
    "float16": np.array(NUMBERS, np.float16),
    "float32": np.array(NUMBERS, np.float32),
    "int8": np.array(NUMBERS, np.int8),
    "backwards": np.array(NUMBERS[::-1])[::-1],
    "read only": np.frombuffer(np.array(NUMBERS, float).tobytes()).reshape(-1, len(NUMBERS[0])),
    "tensor with gradients": torch.tensor(NUMBERS).float().requires_grad_(),
    "bfloat16": torch.tensor(NUMBERS).bfloat16(),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("vectors", IN_MANY_FORMS.values(), ids=list(IN_MANY_FORMS))
def test_any_kind_of_number_will_do(vectors):
    places, cosines = search(vectors, vectors, 2)
    assert places.tolist() == [[0, 1], [1, 0], [2, 3], [3, 0]]
    assert cosines[:, 0] == pytest.approx(1)
    # products with the second best; all these vectors have length 5
    assert cosines[:, 1] == pytest.approx(np.array([24, 24, 20, 20]) / 5**2)


def test_very_long_and_very_short_vectors_keep_their_direction():
    # the squares of such numbers are infinite, or 0
    vectors = np.array([[1e200, 1e200], [1e-200, 1e-200], [1, 0]])
    places, _ = search(vectors, vectors, 1)
    assert places.tolist() == [[0], [0], [2]]  # the first two have one direction


# six vectors, of which this row, these rows or this (row, column) has another value
def with_value(index, value):
    vectors = drawn(6)
    vectors[index] = value
    return vectors


@pytest.mark.parametrize(
    "vectors, words",
    [
        (with_value((3, 2), np.nan), r"\[3\] holds NaN or infinity \(1 such"),
        (with_value((4, 0), np.inf), r"\[4\] holds NaN or infinity"),
        (with_value([1, 5], 0), r"\[1\] is a zero vector, which has no direction \(2 such"),
        (np.empty((0, 8)), r"at least one of each; got \(0, 8\)"),
        (np.empty((6, 0)), r"at least one of each; got \(6, 0\)"),
        (drawn(6)[0], r"must have the shape .*; got \(8,\)"),
    ],
    ids=["NaN", "infinity", "zeros", "no rows", "no columns", "one vector"],
)
@pytest.mark.parametrize(
    "argument, call",
    [
        ("corpus", lambda vectors: search(drawn(2), vectors, 1)),
        ("queries", lambda vectors: search(vectors, drawn(2), 1)),
    ],
    ids=["corpus", "queries"],
)
def test_vectors_without_a_direction_are_refused(argument, call, vectors, words):
    with pytest.raises(ValueError, match=f"{argument}.*{words}"):
        call(vectors)


@pytest.mark.parametrize("k", [0, -1, 7])
def test_k_outside_the_corpus_is_refused(k):
    with pytest.raises(
        ValueError, match=rf"k must be between 1 and 6 \(the corpus has 6 vectors\); got {k}"
    ):
        search(drawn(2), drawn(6), k)


@pytest.mark.parametrize("k", [1.0, "1", True, None])
def test_k_that_is_no_whole_number_is_refused(k):
    with pytest.raises(TypeError, match="k must be a whole number"):
        search(drawn(2), drawn(6), k)


@pytest.mark.parametrize(
    "vectors, words",
    [
        ([["a", "b"]], "queries must hold numbers; got <U1"),
        (np.ones((3, 2), dtype=complex), "queries must hold numbers; got complex128"),
        (np.ones((3, 2), dtype=bool), "queries must hold numbers; got bool"),
        (torch.ones(3, 2, dtype=torch.bool), "queries must hold numbers; got torch.bool"),
    ],
    ids=["words", "complex numbers", "booleans", "a tensor of booleans"],
)
def test_what_holds_no_numbers_is_refused(vectors, words):
    with pytest.raises(TypeError, match=words):
        search(vectors, vectors, 1)


def test_vectors_of_two_models_are_refused():
    with pytest.raises(
        ValueError,
        match="queries have 8 dimensions and the corpus 5; both must come from the same model",
    ):
        search(drawn(2), drawn(6, hidden=5), 1)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has /proc/self/status")
def test_ten_thousand_vectors_need_no_table_of_all_pairs():
    # A table of all pairs would take 400 MB; the process may grow by less than half of that.
    # A first small search imports all that is needed, so that this is not counted.
    program = r"""
import re, numpy as np, torch
from course_utils import search

def highest():  # in MB; unlike ru_maxrss, it does not begin with the memory of the parent
    return int(re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1]) // 1024

vectors = np.random.default_rng(0).normal(size=(10_000, 32)).astype(np.float32)
search(vectors[:5], vectors[:100])
before = highest()
search(vectors, vectors, 10)
print(highest() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 200, f"{done.stdout.strip()} MB"
