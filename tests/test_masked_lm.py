"""The masked language model: the adapter of the course, its training script, and other models."""

import random
import re
import shutil

import pytest
import torch
from click.testing import CliRunner
from hypothesis import given, strategies
from safetensors.torch import load_file, save_file

from course_utils import load_encoder, load_masked_lm, load_reviews, models
from course_utils._support import adapter, downloads
from course_utils.trainings import adapter as training

from .conftest import PIECES, small_model

# --- what the course ships


def test_the_file_is_small_and_holds_tensors_only():
    # 25 MB: about one byte for each of its weights, whatever a later training learns
    assert adapter.ADAPTER.stat().st_size <= 25e6
    assert {value.dtype for value in load_file(adapter.ADAPTER).values()} <= {
        torch.int8,
        torch.float32,
    }


@pytest.mark.nightly
def test_its_scores_on_reviews_are_those_of_the_model_card(one_thread):
    # measured again on a sample of the reviews that it was not trained on
    tokenizer, model = load_masked_lm()
    held_out = [
        text
        for source in ("imdb", "rotten_tomatoes")
        for text in load_reviews(source)["text"]
        if training.held_out(text)
    ]
    sample = random.Random(3).sample(held_out, 100)
    passages = training.passages(sample, tokenizer, random.Random(0), lengths=(64,))
    scores = training.scores(model, tokenizer, passages)
    assert scores["tokens"] > 2000  # with fewer, the bound below would be above 0.034
    card = (adapter.ADAPTER.parent / "adapter.md").read_text()
    # the row of its table: kind of texts, masked tokens, top-1 and top-5 accuracy
    (row,) = re.findall(r"\| film reviews \| [\d,]+ \| (0\.\d+) \| (0\.\d+) ", card)
    # of a share of a half, which has the largest
    three_standard_errors = 3 * (0.5 * 0.5 / scores["tokens"]) ** 0.5
    assert [scores["top1"], scores["top5"]] == pytest.approx(
        [float(share) for share in row], abs=three_standard_errors
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:1000]),
        lambda path: save_file({"other": torch.zeros(1)}, path),
        lambda path: save_file(
            {**load_file(adapter.ADAPTER), "cls.predictions.bias": torch.zeros(3)}, path
        ),
    ],
    ids=["gone", "cut off", "other tensors", "a bias of another length"],
)
def test_a_damaged_adapter_is_one_sentence_that_helps(damage, encoder, tmp_path, monkeypatch):
    _, adapted = load_masked_lm()
    copy = tmp_path / "adapter.safetensors"
    shutil.copy(adapter.ADAPTER, copy)
    damage(copy)
    monkeypatch.setattr("course_utils._support.adapter.ADAPTER", copy)
    with (
        monkeypatch.context() as quick,
        pytest.raises(
            downloads.EncoderError, match="adapter at .* cannot be used .*Restore the file"
        ),
    ):
        # to build a model would take long: the damaged file is applied to the adapted one
        quick.setattr("course_utils._support.adapter.masked_lm_on", lambda encoder: adapted)
        models._load_adapted.__wrapped__()  # not its cached result, of the right file


# --- from elsewhere


def test_a_folder_has_a_masked_model_and_its_encoder(tiny_masked):
    tokenizer, model = load_masked_lm(tiny_masked)
    with torch.inference_mode():
        logits = model(**tokenizer("a b [MASK]", return_tensors="pt")).logits
    assert logits.shape == (1, 5, len(PIECES))  # five tokens with [CLS] and [SEP]
    assert not model.training
    encoder = load_encoder(tiny_masked)[1]
    assert [type(part).__name__ for part in (encoder, model)] == ["BertModel", "BertForMaskedLM"]
    assert torch.equal(
        encoder.embeddings.word_embeddings.weight, model.bert.embeddings.word_embeddings.weight
    )


def test_an_encoder_without_a_head_is_refused(tiny):
    with pytest.raises(
        downloads.EncoderError, match=r"has no head for masked words \(its weights lack cls\."
    ):
        load_masked_lm(tiny)


# --- the script


def test_a_new_head_leaves_the_callers_random_generator_alone():
    encoder, state = small_model(), torch.get_rng_state()
    adapter.masked_lm_on(encoder)
    assert torch.equal(torch.get_rng_state(), state)


def test_differences_in_8_bits_bring_a_model_back_up_to_half_a_step(one_thread):
    encoder = small_model()
    model = adapter.masked_lm_on(encoder)
    with torch.no_grad():
        for value in adapter.learned(model).values():
            value.add_(0.1 * torch.randn_like(value))
    tensors = adapter.differences(model, encoder)
    back = adapter.apply(adapter.masked_lm_on(encoder), encoder, tensors)
    for name, value in adapter.learned(model).items():
        # a step is a row's largest difference over 127; the noise above makes none as large as 1
        assert (adapter.learned(back)[name] - value).abs().max() <= 0.5 / 127, name
    matrices = {name for name, value in adapter.learned(model).items() if value.ndim == 2}
    assert matrices == {
        name.removesuffix(adapter.SCALE) for name in tensors if name.endswith(adapter.SCALE)
    }
    assert all(tensors[name].dtype == torch.int8 for name in matrices)


def test_training_lowers_the_surprise_and_leaves_the_positions(tiny, one_thread):
    tokenizer, encoder = load_encoder(tiny)[0], small_model(num_hidden_layers=1)
    model = adapter.masked_lm_on(encoder)
    passages = training.passages(["a b c d e f g h i j"] * 100, tokenizer, random.Random(0))
    before = training.scores(model, tokenizer, passages)
    # 30 steps at a rate of 0.02, which is high, since it has to learn one sentence only
    assert training.train(model, tokenizer, passages, 30, 0.02) > 0
    after = training.scores(model, tokenizer, passages)
    assert after["bits"] < before["bits"] - 1
    assert after["top1"] > before["top1"]
    for name, value in model.bert.embeddings.named_parameters():
        assert torch.equal(value, encoder.embeddings.get_parameter(name)) == (
            name != "word_embeddings.weight"
        ), name


def test_the_command_stores_what_it_trained(tiny, tmp_path, monkeypatch, one_thread):
    letters = [
        " ".join(random.Random(number).sample("abcdefgh", 8)) + " a b c d." for number in range(150)
    ]
    monkeypatch.setattr(training, "TEXTS", {"letters": lambda: letters})
    monkeypatch.setattr(
        training, "load_encoder", lambda name: (load_encoder(tiny)[0], small_model())
    )
    # of 150 texts, about seven (one in HELD_OUT) are held out for the scores
    path = tmp_path / "made.safetensors"
    done = CliRunner().invoke(training.main, ["--steps", "6", "--output", str(path)])
    assert done.exit_code == 0, done.output
    assert "none trained on" in done.output
    assert load_file(path).keys() >= {"cls.predictions.bias"}


@given(
    strategies.lists(strategies.text(alphabet="abc .!?", max_size=300), max_size=5),
    strategies.integers(0, 99),
)
def test_passages_hold_the_text_in_order_and_fit(texts, seed):
    tokenizer = load_encoder()[0]
    passages = training.passages(texts, tokenizer, random.Random(seed))
    pieces = [
        piece for text in texts for piece in tokenizer(text, add_special_tokens=False)["input_ids"]
    ]
    held = [piece for passage in passages for piece in passage[1:-1]]
    rest = iter(pieces)  # `in` goes on in an iterator behind what it found last
    assert all(piece in rest for piece in held), "in order, nothing made up"
    # nothing is lost but the end of a text that has fewer than SHORTEST tokens
    assert len(pieces) - len(held) <= (training.SHORTEST - 1) * len(texts)
    for passage in passages:
        assert (passage[0], passage[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)
        assert training.SHORTEST + 2 <= len(passage) <= max(training.LENGTHS)


@given(
    strategies.lists(strategies.integers(7, 64), min_size=1, max_size=200),
    strategies.integers(0, 99),
)
def test_batches_hold_every_passage_once_and_little_padding(lengths, seed):
    # each made of its own number, so that it can be told from the others
    passages = [[number] * length for number, length in enumerate(lengths)]
    groups = training.batches(passages, random.Random(seed), size=256)
    assert sorted(passage[0] for group in groups for passage in group) == list(range(len(passages)))
    assert all(len(group) * max(map(len, group)) <= 256 for group in groups)


@given(
    strategies.lists(strategies.integers(1, 60), min_size=1, max_size=9),
    strategies.sampled_from([0.0, 0.15, 1.0]),
    strategies.integers(0, 99),
)
def test_only_real_tokens_are_masked_and_the_labels_are_what_stood_there(lengths, share, seed):
    tokenizer = load_encoder()[0]
    # [CLS], ids of ordinary pieces, [SEP]
    group = [[101, *range(2000, 2000 + length), 102] for length in lengths]
    ids, mask, chosen, labels = training.masked_batch(
        group, tokenizer, share, torch.Generator().manual_seed(seed)
    )
    assert (ids[chosen] == tokenizer.mask_token_id).all()
    assert chosen.sum() == len(labels)
    # chance decides how many, unless the share is none or all
    assert share == 0.15 or len(labels) == share * sum(lengths)
    assert mask.sum() == sum(lengths) + 2 * len(group)  # all but padding
    # with the labels put back, the rows are the passages
    ids[chosen] = labels
    for row, passage in zip(ids.tolist(), group, strict=True):
        assert row == passage + [tokenizer.pad_token_id] * (len(row) - len(passage))
