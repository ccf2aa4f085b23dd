"""The forward pass behind `embed` equals transformers' up to rounding; other models use
transformers' own.
"""

import copy
import json
import os
import platform
import random
import shutil
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings, strategies

from course_utils import embed, load_encoder, load_reviews
from course_utils._support.downloads import packaged_encoder
from course_utils._support.fast_bert import _attend, fits, packaged_weights, packed_bert
from course_utils._support.routes import MIN_TOKENS_TO_PACK, by_length, packaged_tokens, tokens_of
from course_utils.embedding import has_bfloat16
from course_utils.pooling import POOLINGS

from .conftest import PIECES, small_model
from .project import ROOT


@pytest.fixture(scope="module")
def plain():
    """The model of a small BERT, shared by tests that do not change it."""
    return small_model()


@pytest.fixture
def distilled(tiny):
    """(tokenizer, model) of a small encoder that is not BERT."""
    return load_encoder(tiny)[0], small_model("distilbert")


@torch.inference_mode()
def assert_as_in_the_library(encoder, rows):
    """The packed forward pass gives the vectors that the encoder gives for each row of ids.

    encoder: a BERT model. rows: lists of ids, of any lengths.
    """
    config = encoder.config
    forward = packed_bert(encoder.state_dict(), config.num_attention_heads, config.layer_norm_eps)
    # both are [(place of a row, its tokens' vectors)]; `forward` yields groups of adjacent rows
    packed = [
        (place, state)
        for start, states in forward(rows)
        for place, state in enumerate(states, start)
    ]
    one_by_one = [
        (place, encoder(input_ids=torch.tensor([row])).last_hidden_state[0])
        for place, row in enumerate(rows)
    ]
    # norms keep the numbers near 1, of which float32 has seven digits; two are lost in the sums
    torch.testing.assert_close(packed, one_by_one, rtol=0, atol=1e-5)


@settings(max_examples=40)
@given(
    # up to the model's 64 positions
    lengths=strategies.lists(strategies.integers(1, 64), min_size=1, max_size=12),
    seed=strategies.integers(0, 99),
)
def test_every_token_vector_is_that_of_the_library(plain, lengths, seed):
    rng = random.Random(seed)
    rows = [rng.choices(range(len(PIECES)), k=length) for length in lengths]
    assert_as_in_the_library(plain, rows)


@pytest.mark.parametrize(
    "sizes",
    [
        # all differ from those of `small_model`
        {"num_attention_heads": 2},
        {"layer_norm_eps": 1e-3},
        {"num_hidden_layers": 1},
        {"type_vocab_size": 1},
    ],
)
def test_every_token_vector_is_that_of_the_library_with_other_sizes_of_bert(sizes):
    assert_as_in_the_library(small_model(**sizes), [list(range(5, 25))])


# exp overflows float32 above 88 and underflows below -104: 60 still fits, 500 and -500 do not, and
# the last has another shift for each of the eight queries
@pytest.mark.parametrize("shift", [0, 60, 500, -500, torch.linspace(-500, 500, 8)[:, None]])
def test_the_fast_softmax_and_the_safe_one_agree(shift):
    torch.manual_seed(0)
    # each: (sentences and heads, tokens, size of a head)
    query, key, value = torch.randn(3, 6, 8, 16)
    expected = (query @ key.mT).softmax(-1) @ value
    ones = torch.ones(6, 8, 1)
    # a constant added to all scores of a query leaves its weights as they are, but may take exp out
    # of range; it is the product of a further column of the query and one of ones
    attended = _attend(torch.cat([query, ones * shift], -1), torch.cat([key, ones], -1), value)
    # near 500, float32 numbers are 3e-5 apart
    torch.testing.assert_close(attended, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "module, name, answer",
    [(torch.backends.mkldnn, "is_available", False), (platform, "machine", "arm64")],
)
def test_every_token_vector_is_the_same_on_a_machine_without_onednn(
    module, name, answer, plain, monkeypatch
):
    monkeypatch.setattr(module, name, lambda: answer)
    monkeypatch.delattr(torch.ops, "mkldnn")
    assert_as_in_the_library(plain, [[3, 9, 4, 4], list(range(4, 34))])


def test_the_fast_pass_fits_the_packaged_encoder(encoder):
    assert fits(encoder[1])


def test_the_fast_pass_still_fits_when_all_layers_were_asked_for():
    encoder = small_model()
    with torch.inference_mode():
        encoder(
            input_ids=torch.tensor([[2, 5, 3]]), output_hidden_states=True, output_attentions=True
        )
    assert any(module._forward_hooks for module in encoder.modules()), (
        "transformers leaves hooks of its own"
    )
    assert fits(encoder)


class Exchanged(torch.nn.Linear):
    """A layer that could compute anything."""


CHANGES = {  # {what is changed: a function that changes it}
    # of the layer's own sizes, intermediate and hidden: only its class is another
    "a module": lambda encoder: setattr(
        encoder.encoder.layer[0].output, "dense", Exchanged(64, 32)
    ),
    "a hook": lambda encoder: encoder.encoder.layer[1].register_forward_hook(lambda *_: None),
    "a decoder": lambda encoder: encoder.config.update({"is_decoder": True}),
    "the activation": lambda encoder: encoder.config.update({"hidden_act": "relu"}),
    "the type of numbers": torch.nn.Module.double,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_encoder_is_left_to_the_library(change):
    encoder = small_model()
    assert fits(encoder)
    CHANGES[change](encoder)
    assert not fits(encoder)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_other_models_take_the_librarys_way(pooling, distilled):
    tokenizer, model = distilled
    # of different lengths: in a batch, they are padded
    sentences = ["a b c", "", "a", "x y z " * 9]
    ours = embed(sentences, pooling=pooling, normalize=False, model=distilled)
    for sentence, vector in zip(sentences, ours, strict=True):
        batch = tokenizer(sentence, return_tensors="pt", return_token_type_ids=False)
        with torch.inference_mode():
            states = model(**batch).last_hidden_state
        expected = POOLINGS[pooling](states, batch["attention_mask"])[0].numpy()
        assert vector == pytest.approx(expected, abs=1e-5)


def test_weights_changed_in_place_are_seen(tiny):
    tokenizer, model = copy.deepcopy(load_encoder(tiny))
    before = embed(["a b"], model=(tokenizer, model))
    with torch.no_grad():
        model.encoder.layer[0].attention.self.value.weight.mul_(2)
    # far more than rounding, which is about 1e-6
    assert np.abs(embed(["a b"], model=(tokenizer, model)) - before).max() > 1e-3


# Whole lists, through `embed`


# numbers of sentences with just too few tokens to prepack weights and just enough: [CLS], a number,
# [SEP] in each
@pytest.mark.parametrize("number", [MIN_TOKENS_TO_PACK // 3 - 1, MIN_TOKENS_TO_PACK // 3 + 1])
def test_few_and_many_tokens_get_the_vectors_of_the_librarys_way(number, encoder, monkeypatch):
    sentences = list(map(str, range(number)))
    ours = embed(sentences)
    monkeypatch.setattr("course_utils.embedding.fits", lambda encoder: False)
    assert np.abs(ours - embed(sentences)).max() <= 1e-6


# Without transformers


@given(
    sentences=strategies.lists(
        # lone surrogates (Cs) are no characters, and tokenizers refuse them
        strategies.text(strategies.characters(exclude_categories=["Cs"])),
        min_size=1,
        max_size=5,
    )
)
@example(
    [
        "[MASK] [CLS] x",  # special tokens in a text
        "ÀÉ café\u0301 \u200b 你好 😀",
        "",
        " \n",
        "a" * 300,  # a word too long for WordPiece: [UNK]
        "word " * 400,  # more than the model's 256 tokens
    ]
)
@pytest.mark.filterwarnings("ignore:.*longer than the model")
def test_the_light_tokenizer_gives_the_same_ids(encoder, sentences):
    ids, cut, longest = packaged_tokens(sentences, packaged_weights()[0])
    rows, *rest = tokens_of(sentences, encoder[0], 256)
    assert ids == [row["input_ids"] for row in rows]
    assert [cut, longest] == rest


EMBEDS_WITHOUT_TRANSFORMERS = """
import json, sys, warnings
import numpy as np
from course_utils import embed
with warnings.catch_warnings(record=True) as warned:
    np.save("light.npy", embed(json.load(open("texts.json"))))
assert len(warned) == 1, warned
assert warned[0].filename == "<string>", warned
assert "transformers" not in sys.modules

import torch
from course_utils import load_encoder
_, model = load_encoder()
before = embed(["a"])
with torch.no_grad():
    model.embeddings.word_embeddings.weight *= 2
difference = np.abs(embed(["a"]) - before).max()
assert difference > 1e-3, "embed must see that the shared model was changed"
"""


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:.*longer than the model")
def test_a_fresh_process_embeds_without_transformers(texts, tmp_path):
    texts = texts[24:]  # the last 16 sentences, and all other texts
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COURSE_ENCODER": ""}
    subprocess.run(
        [sys.executable, "-c", EMBEDS_WITHOUT_TRANSFORMERS],
        cwd=tmp_path,
        check=True,
        env=environment,
    )
    # the same weights and products, in batches that may differ: float32 rounding of unit vectors
    assert np.abs(np.load(tmp_path / "light.npy") - embed(texts)).max() <= 1e-6


def test_a_damaged_parcel_is_left_to_load_encoder(tmp_path, monkeypatch):
    shutil.copytree(packaged_encoder(), tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").write_text("{")
    monkeypatch.setattr("course_utils._support.downloads.packaged_folder", lambda: tmp_path)
    # without its cache, which keeps what an intact parcel gave
    assert packaged_weights.__wrapped__() is None


# Half the bits


@pytest.fixture(scope="module")
def texts():
    """40 real sentences, three texts of 4, 8 and 40 of them, an empty text and a letter."""
    sentences = load_reviews("rotten_tomatoes")["text"].sample(40, random_state=3).tolist()
    return [*sentences, *(" ".join(sentences[:number]) for number in (4, 8, 40)), "", "a"]


@pytest.mark.filterwarnings("ignore:.*longer than the model")
@pytest.mark.skipif(not has_bfloat16(), reason="this processor has no bfloat16")
@pytest.mark.parametrize("number", [None, 5], ids=["all", "so few that they take another path"])
def test_bfloat16_keeps_the_direction_of_every_vector(texts, number):
    full, half = embed(texts[:number]), embed(texts[:number], precision="bfloat16")
    assert half.dtype == np.float32
    assert np.linalg.norm(half, axis=1) == pytest.approx(1, abs=1e-5)
    # the cosine of each vector with itself in full precision
    assert (full * half).sum(axis=1).min() >= 0.9999
    assert not np.array_equal(full, half), "it is another computation"


@pytest.mark.skipif(not has_bfloat16(), reason="this processor has no bfloat16")
def test_bfloat16_for_a_model_that_is_not_bert(distilled):
    full, half = (
        embed(["a b c", "x"], model=distilled, precision=kind) for kind in ("float32", "bfloat16")
    )
    assert half.dtype == np.float32
    # by torch's autocast, of a random model: the bound is wider than for the packed pass
    assert (full * half).sum(axis=1).min() > 0.999


def test_a_processor_without_bfloat16_is_told_so(monkeypatch):
    monkeypatch.setattr("course_utils.embedding.has_bfloat16", lambda: False)
    with pytest.raises(RuntimeError, match="no bfloat16 arithmetic .* Leave precision out"):
        embed(["a"], precision="bfloat16")


def test_an_instruction_set_that_onednn_may_not_use_counts_as_missing():
    program = "from course_utils.embedding import has_bfloat16; print(has_bfloat16())"
    # oneDNN reads this once; AVX2 has no bfloat16
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    assert done.stdout.split() == [b"False"]


# Duplicates


def test_what_comes_twice_is_computed_once(tiny, monkeypatch):
    watched = Mock(wraps=by_length)
    monkeypatch.setattr("course_utils._support.routes.by_length", watched)
    vectors = embed(["a b", "c", "a b", "c", "a b"], model=tiny)
    # it is called once, with the lengths of the two different sentences
    assert [len(call.args[0]) for call in watched.call_args_list] == [2]
    assert np.array_equal(vectors, embed(["a b", "c"], model=tiny)[[0, 1, 0, 1, 0]])
