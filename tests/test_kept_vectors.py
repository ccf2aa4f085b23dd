"""Vectors of many sentences are kept: found again, never out of date, remade where damaged."""

import os
import sys

import numpy as np
import pytest

from course_utils import embed, embedding
from course_utils._support import kept_vectors
from course_utils.models import load_encoder

TEXTS = ["A first text.", "Another, longer text of eight words or so."]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """The folder of vectors, where also those of few sentences are kept."""
    monkeypatch.setenv(kept_vectors.VARIABLE, str(tmp_path / "vectors"))
    monkeypatch.setattr(embedding, "MIN_TOKENS_TO_KEEP", 1)
    return tmp_path / "vectors"


@pytest.fixture
def computations(monkeypatch):
    """A list that gets, for each call of `embed` that computes, the number of its sentences."""
    calls, compute = [], embedding._computed

    def counted(route, wanted, *arguments):
        calls.append(len(wanted))
        return compute(route, wanted, *arguments)

    monkeypatch.setattr(embedding, "_computed", counted)
    return calls


def test_a_call_reads_what_others_have_computed_and_adds_the_rest(computations, place):
    first = embed(TEXTS)
    assert np.array_equal(embed(TEXTS[::-1] * 2), [first[1], first[0]] * 2)
    assert computations == [2]
    added = embed(["A third.", *TEXTS])
    assert np.array_equal(added[1:], first)
    assert computations == [2, 1] and len(list(place.iterdir())) == 2
    assert np.array_equal(embed(["A third."]), added[:1])  # now it is in the second file
    assert len(computations) == 2


@pytest.mark.parametrize(
    "texts, options",
    [
        ([text[:-1] for text in TEXTS], {}),
        (TEXTS, {"normalize": False}),
        (TEXTS, {"pooling": "cls"}),
        (TEXTS, {"pooling": ("mean", "cls")}),
    ],
    ids=["texts", "normalize", "pooling", "poolings"],
)
def test_another_call_computes(texts, options, computations):
    embed(TEXTS)
    expected = np.array(embed(texts, **options))
    assert computations == [2, 2]
    assert np.array_equal(embed(texts, **options), expected)


def test_a_model_with_other_weights_computes(computations):
    tokenizer, model = load_encoder()
    before = embed(TEXTS, model=(tokenizer, model))
    weight = model.embeddings.LayerNorm.weight
    kept = weight.data.clone()
    try:
        weight.data[0] += 1e-3
        changed = embed(TEXTS, model=(tokenizer, model))
    finally:
        weight.data = kept
    assert not np.array_equal(changed, before)
    assert np.array_equal(embed(TEXTS, model=(tokenizer, model)), before)
    assert len(computations) == 2


def test_few_tokens_are_not_kept_nor_those_that_a_call_adds(monkeypatch, place, computations):
    many = [f"{number} {TEXTS[1]}" for number in range(10)]
    monkeypatch.setattr(embedding, "MIN_TOKENS_TO_KEEP", 100)
    embed(TEXTS)
    assert not place.exists()
    embed(many)
    embed(many + TEXTS)
    assert len(list(place.iterdir())) == 1 and computations == [2, 10, 2]


def test_nothing_is_kept_where_the_variable_is_empty(monkeypatch, tmp_path, computations):
    monkeypatch.setenv(kept_vectors.VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    embed(TEXTS)
    embed(TEXTS)
    assert len(computations) == 2
    assert os.listdir(tmp_path) == []


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def with_other_vectors(vectors):
    """A function that replaces the vectors of a file."""

    def replace(path):
        with np.load(path) as arrays:
            names = arrays["names"]
        np.savez(path, names=names, vectors=vectors)

    return replace


def as_pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "damage",
    [
        flip_a_bit,
        with_other_vectors(np.array([print, None])),
        with_other_vectors(np.zeros((1, 1, 384), np.float32)),
        pytest.param(
            as_pipe,
            marks=pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files"),
        ),
        lambda path: path.write_bytes(path.read_bytes()[:100]),
        lambda path: path.write_bytes(b""),
        lambda path: np.savez(path, other=np.zeros(2)),
    ],
    ids=["a bit", "pickle", "too few", "a pipe", "cut off", "empty", "another array"],
)
def test_a_damaged_file_is_computed_again(damage, computations, place):
    expected = embed(TEXTS)
    (path,) = place.iterdir()
    damage(path)
    assert np.array_equal(embed(TEXTS), expected)
    assert len(computations) == 2


def test_where_nothing_can_be_written_nothing_is_kept(computations, place):
    place.write_text("no folder")
    assert np.array_equal(embed(TEXTS), embed(TEXTS))
    assert len(computations) == 2


def test_what_is_kept_in_a_read_only_folder_is_read(monkeypatch, computations):
    expected = embed(TEXTS)

    def refuse(*_arguments, **_options):
        raise OSError("read-only")

    monkeypatch.setattr(kept_vectors.Path, "touch", refuse)
    assert np.array_equal(embed(TEXTS), expected)
    assert computations == [2]


def test_what_was_read_longest_ago_makes_room(monkeypatch, place):
    monkeypatch.setattr(kept_vectors, "MOST_BYTES", 9000)
    vector = np.zeros(250)  # 2,000 bytes, and some 500 for the heads
    for age, recipe in enumerate(["new", "old", "older"]):
        kept_vectors.keep(recipe, {b"name": vector})
        (path,) = place.glob(f"{recipe}-*")
        os.utime(path, (1e9 - age, 1e9 - age))
    assert kept_vectors.read("older", [b"another"]) == {}  # which does not count
    assert kept_vectors.read("older", [b"name"]).keys() == {b"name"}  # so now it is the newest
    kept_vectors.keep("last", {b"name": vector})
    left = {path.stem.split("-")[0] for path in place.iterdir()}
    assert left == {"new", "older", "last"}


def test_vectors_that_would_take_most_of_the_room_are_not_kept(monkeypatch, place):
    monkeypatch.setattr(kept_vectors, "MOST_BYTES", 4000)
    kept_vectors.keep("large", {b"name": np.zeros(500)})
    assert not place.exists()
