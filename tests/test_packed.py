"""The forward pass behind `embed` equals transformers' up to rounding; other models use transformers' own."""

import copy
import json
import os
import platform
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel

from course_utils import embed, load_encoder, load_reviews
from course_utils._support.downloads import packaged_encoder
from course_utils._support.fast_bert import _attend, fits, packaged_weights, packed_bert
from course_utils._support.routes import MIN_TOKENS_TO_PACK, by_length, packaged_tokens, tokens_of
from course_utils.embedding import has_bfloat16
from course_utils.pooling import POOLINGS

from .conftest import PIECES, SIZES

ROOT = Path(__file__).resolve().parents[1]


def small(**settings):
    torch.manual_seed(0)
    return BertModel(BertConfig(vocab_size=len(PIECES), max_position_embeddings=64, **{**SIZES, **settings})).eval()


def distilled():
    torch.manual_seed(0)
    sizes = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
    return DistilBertModel(DistilBertConfig(vocab_size=len(PIECES), max_position_embeddings=64, **sizes)).eval()


def of_the_library(encoder, row):
    with torch.inference_mode():
        return encoder(input_ids=torch.tensor([row])).last_hidden_state[0]


def packed(encoder, rows, dtype=torch.float32):
    found = {}
    with torch.inference_mode():
        for start, states in packed_bert(
            encoder.state_dict(), encoder.config.num_attention_heads, encoder.config.layer_norm_eps, dtype
        )(rows):
            found |= {start + number: state for number, state in enumerate(states)}
    return [found[row] for row in range(len(rows))]


@given(st.lists(st.integers(1, 64), min_size=1, max_size=12), st.integers(0, 99))
def test_every_token_vector_is_that_of_the_library(lengths, seed):
    encoder, draw = small(), random.Random(seed)
    rows = [[draw.randrange(len(PIECES)) for _ in range(length)] for length in lengths]
    for row, ours in zip(rows, packed(encoder, rows), strict=True):
        torch.testing.assert_close(ours, of_the_library(encoder, row), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "settings", [{"num_attention_heads": 2}, {"layer_norm_eps": 1e-3}, {"num_hidden_layers": 1}, {"type_vocab_size": 1}]
)
def test_other_sizes_of_bert(settings):
    encoder, row = small(**settings), list(range(5, 25))
    torch.testing.assert_close(packed(encoder, [row])[0], of_the_library(encoder, row), rtol=0, atol=1e-5)


@pytest.mark.parametrize("loud", [1, 40, 3000])
def test_scores_that_leave_the_range_of_numbers(loud):
    encoder, rows = small(), [[3, 9, 4, 4], list(range(4, 34)), [2]]
    with torch.no_grad():
        for layer in encoder.encoder.layer:
            layer.attention.self.query.weight *= loud
    for row, ours in zip(rows, packed(encoder, rows), strict=True):
        torch.testing.assert_close(ours, of_the_library(encoder, row), rtol=0, atol=1e-4 * loud**0.5)


def test_the_fast_softmax_and_the_safe_one_agree():
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 6, 8, 16)
    for shift in (0, 60, 500, -500):  # adding a constant to every score does not change the weights
        moved = torch.cat([query, torch.full((6, 8, 1), float(shift))], -1), torch.cat([key, torch.ones(6, 8, 1)], -1)
        torch.testing.assert_close(_attend(*moved, value), (query @ key.mT).softmax(-1) @ value, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "module, name, answer", [(torch.backends.mkldnn, "is_available", False), (platform, "machine", "arm64")]
)
def test_a_machine_without_onednn(module, name, answer, monkeypatch):
    encoder, rows = small(), [[3, 9, 4, 4], list(range(4, 34))]
    fast = packed(encoder, rows)
    monkeypatch.setattr(module, name, lambda: answer)
    monkeypatch.delattr(torch.ops, "mkldnn")
    for one, other in zip(fast, packed(encoder, rows), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


def test_it_is_used_for_the_packaged_encoder_and_after_all_layers_were_asked_for(encoder):
    assert fits(encoder[1])
    encoder = small()
    with torch.inference_mode():
        encoder(input_ids=torch.tensor([[2, 5, 3]]), output_hidden_states=True, output_attentions=True)
    assert any(module._forward_hooks for module in encoder.modules()), "transformers leaves hooks of its own"
    assert fits(encoder)


def exchanged(encoder):
    class Louder(torch.nn.Linear):
        def forward(self, states):
            return 2 * super().forward(states)

    dense = encoder.encoder.layer[0].output
    dense.dense = Louder(dense.dense.in_features, dense.dense.out_features)


def listening(encoder):
    encoder.encoder.layer[1].register_forward_hook(lambda module, inputs, output: None)


def relu(encoder):
    encoder.config.hidden_act = "relu"


@pytest.mark.parametrize("change", [exchanged, listening, relu, torch.nn.Module.double])
def test_a_changed_encoder_is_left_to_the_library(change):
    encoder = small()
    assert fits(encoder)
    change(encoder)
    assert not fits(encoder)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_other_models_take_the_librarys_way(pooling, tiny):
    tokenizer, model = load_encoder(tiny)[0], distilled()
    sentences = ["a b c", "", "a", "x y z " * 9]
    ours = embed(sentences, pooling=pooling, normalize=False, model=(tokenizer, model))
    for sentence, vector in zip(sentences, ours):
        batch = tokenizer(sentence, return_tensors="pt")
        with torch.inference_mode():
            states = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
        assert vector == pytest.approx(POOLINGS[pooling](states, batch["attention_mask"])[0].numpy(), abs=1e-5)


def test_weights_changed_in_place_are_seen(tiny):
    tokenizer, model = load_encoder(tiny)
    model = copy.deepcopy(model)
    before = embed(["a b"], model=(tokenizer, model))
    with torch.no_grad():
        model.encoder.layer[0].attention.self.value.weight.mul_(2)
    assert np.abs(embed(["a b"], model=(tokenizer, model)) - before).max() > 1e-3


# Whole lists, through `embed`


@pytest.mark.parametrize("number", [MIN_TOKENS_TO_PACK // 3 - 1, MIN_TOKENS_TO_PACK // 3 + 1])
def test_few_and_many_tokens_go_different_ways_to_the_same_vectors(number, encoder, monkeypatch):
    sentences = [f"{i}" for i in range(number)]  # [CLS], one piece or more, [SEP]
    ours = embed(sentences)
    monkeypatch.setattr("course_utils.embedding.fits", lambda encoder: False)
    assert np.abs(ours - embed(sentences)).max() <= 1e-6


# Without transformers


@pytest.fixture(scope="module")
def light():
    return packaged_weights()


@given(sentences=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
@example(["[MASK] [CLS] x", "ÀÉ café\u0301 \u200b 你好 😀", "", " \n", "a" * 300, "word " * 400])
@pytest.mark.filterwarnings("ignore:.*longer than the model")
def test_the_light_tokenizer_gives_the_same_ids(light, encoder, sentences):
    ids, cut, longest = packaged_tokens(sentences, light[0])
    rows, *rest = tokens_of(sentences, encoder[0], 256)
    assert ids == [row["input_ids"] for row in rows] and [cut, longest] == rest


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:.*longer than the model")
def test_a_fresh_process_embeds_without_transformers(texts, tmp_path):
    texts = texts[140:156]  # sentences, and whole reviews
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    program = (
        "import json, sys, warnings, numpy as np\nfrom course_utils import embed\n"
        "with warnings.catch_warnings(record=True) as said:\n"
        "    np.save('light.npy', embed(json.load(open('texts.json'))))\n"
        "assert len(said) == 1 and said[0].filename == '<string>', said\n"
        "assert 'transformers' not in sys.modules\n"
        "from course_utils import load_encoder\nimport torch\n_, model = load_encoder()\n"
        "before = embed(['a'])\nwith torch.no_grad(): model.embeddings.word_embeddings.weight *= 2\n"
        "assert np.abs(embed(['a']) - before).max() > 1e-3, 'embed must see that the shared model was changed'"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COURSE_ENCODER": ""}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, env=environment)
    assert np.abs(np.load(tmp_path / "light.npy") - embed(texts)).max() <= 1e-6


def test_a_damaged_parcel_is_left_to_load_encoder(tmp_path, monkeypatch):
    shutil.copytree(packaged_encoder(), tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").write_text("{")
    monkeypatch.setattr("course_utils._support.downloads.packaged_folder", lambda: tmp_path)
    packaged_weights.cache_clear()
    try:
        assert packaged_weights() is None
    finally:
        packaged_weights.cache_clear()


# Half the bits


@pytest.fixture(scope="module")
def texts():
    parts = (("rotten_tomatoes", 150), ("imdb", 8))
    return [text for name, n in parts for text in load_reviews(name)["text"].sample(n, random_state=3)] + ["", "a"]


@pytest.mark.filterwarnings("ignore:.*longer than the model")
@pytest.mark.skipif(not has_bfloat16(), reason="this processor has no bfloat16")
def test_bfloat16_keeps_the_direction_of_every_vector(texts):
    full, half = embed(texts), embed(texts, precision="bfloat16")
    few = texts[:5]  # so few tokens that another code path is used
    assert (embed(few) * embed(few, precision="bfloat16")).sum(axis=1).min() >= 0.9999
    assert half.dtype == np.float32 and np.linalg.norm(half, axis=1) == pytest.approx(1, abs=1e-5)
    assert (full * half).sum(axis=1).min() >= 0.9999
    assert not np.array_equal(full, half), "it is another computation"


@pytest.mark.skipif(not has_bfloat16(), reason="this processor has no bfloat16")
def test_bfloat16_for_a_model_that_is_not_bert(tiny):
    tokenizer, model = load_encoder(tiny)[0], distilled()
    both = ("float32", "bfloat16")
    full, half = (embed(["a b c", "x"], model=(tokenizer, model), precision=precision) for precision in both)
    assert half.dtype == np.float32 and (full * half).sum(axis=1).min() > 0.999


def test_a_processor_without_bfloat16_is_told_so(monkeypatch):
    monkeypatch.setattr("course_utils.embedding.has_bfloat16", lambda: False)
    with pytest.raises(RuntimeError, match="no bfloat16 arithmetic .* Leave precision out"):
        embed(["a"], precision="bfloat16")


def test_an_instruction_set_that_onednn_may_not_use_counts_as_missing():
    command = [sys.executable, "-c", "from course_utils import embed; embed(['a'], precision='bfloat16')"]
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert "RuntimeError: " in done.stderr and "no bfloat16 arithmetic" in done.stderr.splitlines()[-1], done.stderr


@pytest.mark.parametrize("precision", ["float16", None, 32, ["float32"]])
def test_an_unknown_precision_is_named(precision):
    with pytest.raises(ValueError, match="precision must be one of .*'bfloat16', 'float32'.*; got"):
        embed(["a"], precision=precision)


# Duplicates


def test_what_comes_twice_is_computed_once(tiny, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "course_utils._support.routes.by_length",
        lambda lengths, budget: seen.append(len(lengths)) or by_length(lengths, budget),
    )
    vectors = embed(["a b", "c", "a b", "c", "a b"], model=tiny)
    assert seen == [2] and vectors.shape == (5, 32)
    assert np.array_equal(vectors[0], vectors[2]) and np.array_equal(vectors[1], vectors[3])
    assert np.array_equal(vectors, embed(["a b", "c"], model=tiny)[[0, 1, 0, 1, 0]])
