"""The masked language model: the adapter of the course, its training script, and other models."""

import random
import re
import shutil

import pytest
import torch
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from course_utils import load_encoder, load_masked_lm, load_reviews, models
from course_utils._support.adapter import ADAPTER, SCALE, apply, differences, learned, masked_lm_on
from course_utils._support.downloads import EncoderError
from course_utils.trainings import adapter as train

from .conftest import PIECES, SIZES, random_model


@pytest.fixture(scope="module")
def adapted(one_thread):
    return load_masked_lm()


# What the course ships


def test_the_file_is_small_and_holds_tensors_only():
    assert ADAPTER.stat().st_size <= 25e6
    assert {value.dtype for value in load_file(ADAPTER).values()} <= {torch.int8, torch.float32}


def test_words_and_layers_are_adapted_and_positions_are_the_encoders_own(adapted, encoder):
    own = encoder[1].state_dict()
    changed = {
        name
        for name, value in adapted[1].bert.state_dict().items()
        if not torch.equal(value, own[name])
    }
    assert {name for name in changed if name.startswith("embeddings.")} == {
        "embeddings.word_embeddings.weight"
    }
    assert {name.split(".")[2] for name in changed if name.startswith("encoder.")} == set("012345")


@pytest.mark.nightly
def test_its_scores_on_text_it_was_not_trained_on(adapted):
    # The model card's figures for reviews, measured again on a sample.
    tokenizer, model = adapted
    texts = (
        text for source in ("imdb", "rotten_tomatoes") for text in load_reviews(source)["text"]
    )
    held = [text for text in texts if train.held_out(text)]
    passages = train.passages(
        random.Random(3).sample(held, 100), tokenizer, random.Random(0), lengths=(64,)
    )
    result = train.scores(model, tokenizer, passages)
    assert result["tokens"] > 2000
    card = (ADAPTER.parent / "adapter.md").read_text()
    top1, top5 = map(
        float, re.search(r"\| film reviews \| [\d,]+ \| ([\d.]+) \| ([\d.]+) ", card).groups()
    )
    error = 3 * 0.5 / result["tokens"] ** 0.5  # at most three standard errors of the sample
    assert result["top1"] == pytest.approx(top1, abs=error) and result["top5"] == pytest.approx(
        top5, abs=error
    ), result
    assert result["top1"] >= 0.38 and result["top5"] >= 0.57, result


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:1000]),
        lambda path: save_file({"other": torch.zeros(1)}, path),
        lambda path: save_file(
            {**load_file(ADAPTER), "cls.predictions.bias": torch.zeros(3)}, path
        ),
    ],
    ids=["gone", "cut", "another", "shape"],
)
def test_a_damaged_adapter_is_one_sentence_that_helps(
    damage, adapted, encoder, tmp_path, monkeypatch
):
    copy = tmp_path / "adapter.safetensors"
    shutil.copy(ADAPTER, copy)
    damage(copy)
    monkeypatch.setattr("course_utils._support.adapter.ADAPTER", copy)
    with (
        monkeypatch.context() as quick,
        pytest.raises(EncoderError, match="adapter at .* cannot be used .*Restore the file"),
    ):
        # what is written into it is what it holds
        quick.setattr("course_utils._support.adapter.masked_lm_on", lambda encoder: adapted[1])
        models._load_adapted.__wrapped__()


# From elsewhere


def test_a_folder_has_a_masked_model_and_its_encoder(tiny_masked):
    tokenizer, model = load_masked_lm(tiny_masked)
    with torch.inference_mode():
        logits = model(**tokenizer("a b [MASK]", return_tensors="pt")).logits
    assert logits.shape == (1, 5, len(PIECES)) and not model.training
    encoder = load_encoder(tiny_masked)[1]
    assert type(encoder).__name__ == "BertModel" and type(model).__name__ == "BertForMaskedLM"
    assert torch.equal(
        encoder.embeddings.word_embeddings.weight, model.bert.embeddings.word_embeddings.weight
    )


def test_an_encoder_without_a_head_is_refused(tiny):
    with pytest.raises(
        EncoderError, match=r"has no head for masked words \(its weights lack cls\."
    ):
        load_masked_lm(tiny)


# The script


def small_encoder(**settings):
    torch.manual_seed(0)
    return random_model(
        "bert", **{"vocab_size": len(PIECES), "max_position_embeddings": 64, **SIZES, **settings}
    )


def test_differences_bring_a_model_back_to_a_part_in_a_hundred(one_thread):
    encoder, before = small_encoder(), torch.get_rng_state()
    model = masked_lm_on(encoder)
    assert torch.equal(torch.get_rng_state(), before), "the caller's random generator is left alone"
    with torch.no_grad():
        for value in learned(model).values():
            value.add_(0.1 * torch.randn_like(value))
    tensors = differences(model, encoder)
    back = apply(masked_lm_on(encoder), encoder, tensors)
    for name, value in learned(model).items():
        assert (learned(back)[name] - value).abs().max() <= 0.004 * max(1, value.abs().max()), name
    whole = {name for name, value in learned(model).items() if value.ndim == 2}
    assert whole == {name.removesuffix(SCALE) for name in tensors if name.endswith(SCALE)}
    assert all(tensors[name].dtype == torch.int8 for name in whole)


def test_training_lowers_the_surprise_and_leaves_the_positions(tiny, one_thread):
    tokenizer, encoder = load_encoder(tiny)[0], small_encoder(num_hidden_layers=1)
    model = masked_lm_on(encoder)
    passages = train.passages(["a b c d e f g h i j"] * 100, tokenizer, random.Random(0))
    before = train.scores(model, tokenizer, passages)
    assert train.train(model, tokenizer, passages, 30, 0.02) > 0
    after = train.scores(model, tokenizer, passages)
    assert after["bits"] < before["bits"] - 1 and after["top1"] > before["top1"]
    for name, value in model.bert.embeddings.named_parameters():
        assert torch.equal(value, encoder.embeddings.get_parameter(name)) == (
            name != "word_embeddings.weight"
        ), name


def test_the_command_stores_what_it_trained(tiny, tmp_path, monkeypatch, one_thread):
    letters = [
        " ".join(random.Random(number).sample("abcdefgh", 8)) + " a b c d." for number in range(150)
    ]
    monkeypatch.setattr(train, "TEXTS", {"letters": lambda: letters})
    monkeypatch.setattr(
        train, "load_encoder", lambda name: (load_encoder(tiny)[0], small_encoder())
    )
    path = tmp_path / "made.safetensors"
    done = CliRunner().invoke(train.main, ["--steps", "6", "--output", str(path)])
    assert done.exit_code == 0 and "none trained on" in done.output, done.output
    assert load_file(path).keys() >= {"cls.predictions.bias"}


@given(st.lists(st.text(alphabet="abc .!?", max_size=300), max_size=5), st.integers(0, 99))
def test_passages_hold_the_text_in_order_and_fit(texts, seed):
    tokenizer = load_encoder()[0]
    passages = train.passages(texts, tokenizer, random.Random(seed))
    rest = iter(
        piece for text in texts for piece in tokenizer(text, add_special_tokens=False)["input_ids"]
    )
    assert all(piece in rest for passage in passages for piece in passage[1:-1]), (
        "in order, nothing made up"
    )
    for passage in passages:
        assert (passage[0], passage[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)
        assert 7 <= len(passage) <= max(train.LENGTHS)


@given(st.lists(st.integers(7, 64), min_size=1, max_size=200), st.integers(0, 99))
def test_batches_hold_every_passage_once_and_little_padding(lengths, seed):
    passages = [[number] * length for number, length in enumerate(lengths)]
    groups = train.batches(passages, random.Random(seed), size=256)
    assert sorted(passage[0] for group in groups for passage in group) == list(range(len(passages)))
    assert all(len(group) * max(map(len, group)) <= 256 for group in groups)


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=9),
    st.sampled_from([0.0, 0.15, 1.0]),
    st.integers(0, 99),
)
def test_only_real_tokens_are_masked_and_the_labels_are_what_stood_there(lengths, share, seed):
    tokenizer = load_encoder()[0]
    group = [[101, *range(2000, 2000 + length), 102] for length in lengths]
    ids, mask, chosen, labels = train.masked_batch(
        group, tokenizer, share, torch.Generator().manual_seed(seed)
    )
    assert (ids[chosen] == tokenizer.mask_token_id).all() and int(chosen.sum()) == len(labels)
    assert int(chosen.sum()) == {0.0: 0, 1.0: sum(lengths)}.get(share, len(labels))
    assert mask.sum() == sum(lengths) + 2 * len(group)
    ids[chosen] = labels
    for row, passage in zip(ids.tolist(), group, strict=True):
        assert row == passage + [tokenizer.pad_token_id] * (len(row) - len(passage))
