"""Vectors of large collections are kept: found again, never out of date, remade where damaged."""

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
    """The folder of vectors, of which also small collections are kept."""
    monkeypatch.setenv(kept_vectors.VARIABLE, str(tmp_path / "vectors"))
    monkeypatch.setattr(embedding, "MIN_TOKENS_TO_KEEP", 1)
    return tmp_path / "vectors"


@pytest.fixture
def computations(monkeypatch):
    """A list that grows by one for each call of `embed` that computes."""
    calls, compute = [], embedding._computed

    def counted(*arguments):
        calls.append(arguments)
        return compute(*arguments)

    monkeypatch.setattr(embedding, "_computed", counted)
    return calls


def test_the_same_call_reads_what_another_has_computed(computations, place):
    first = embed(TEXTS * 2)
    assert np.array_equal(embed(TEXTS * 2), first)
    # duplicates and their order do not count: they are encoded once
    assert np.array_equal(embed(TEXTS), first[:2])
    assert len(computations) == len(list(place.iterdir())) == 1


@pytest.mark.parametrize(
    "texts, options",
    [
        (TEXTS[::-1], {}),
        (["A first text", *TEXTS[1:]], {}),
        (TEXTS, {"normalize": False}),
        (TEXTS, {"pooling": "cls"}),
        (TEXTS, {"pooling": ("mean", "cls")}),
    ],
    ids=["order", "text", "normalize", "pooling", "poolings"],
)
def test_another_call_computes(texts, options, computations):
    embed(TEXTS)
    expected = np.array(embed(texts, **options))
    assert len(computations) == 2
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


def test_few_tokens_are_not_kept(monkeypatch, place):
    monkeypatch.setattr(embedding, "MIN_TOKENS_TO_KEEP", 10_000)
    embed(TEXTS)
    assert not place.exists()


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


def with_pickle(path):
    np.savez(path, vectors=np.array([print, None]))


def as_pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "damage",
    [
        flip_a_bit,
        with_pickle,
        pytest.param(
            as_pipe,
            marks=pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files"),
        ),
        lambda path: path.write_bytes(path.read_bytes()[:100]),
        lambda path: path.write_bytes(b""),
        lambda path: np.savez(path, other=np.zeros(2)),
    ],
    ids=["a bit", "pickle", "a pipe", "cut off", "empty", "another array"],
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


def test_what_was_read_longest_ago_makes_room(monkeypatch, place):
    monkeypatch.setattr(kept_vectors, "MOST_BYTES", 9000)
    for age, name in enumerate(["new", "old", "older"]):
        kept_vectors.keep(name, np.zeros(250))  # 2,000 bytes, and some 260 for the head
        os.utime(place / f"{name}.npz", (1e9 - age, 1e9 - age))
    assert kept_vectors.read("older") is not None  # so now it is the newest
    kept_vectors.keep("last", np.zeros(250))
    assert {path.stem for path in place.iterdir()} == {"new", "older", "last"}


def test_an_array_that_would_take_most_of_the_room_is_not_kept(monkeypatch, place):
    monkeypatch.setattr(kept_vectors, "MOST_BYTES", 4000)
    kept_vectors.keep("large", np.zeros(500))
    assert not place.exists()
