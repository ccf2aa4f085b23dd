"""Training can be watched, stops when it diverges, and saves everything or nothing."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

from course_utils import load_encoder
from course_utils.training import DivergedError, save_model, watch
from course_utils.trainings.common import training_settings

# Six beginnings, each with both endings: the classifier tells "m n" (label 0) from "x y" (label 1).
TEXTS = [
    f"{beginning} {ending}"
    for beginning in ("a b c", "a b", "b c", "a", "b", "c")
    for ending in ("m n", "x y")
]
STEPS_PER_EPOCH = 3
SHORT = {
    "num_train_epochs": 2,
    "per_device_train_batch_size": len(TEXTS) // STEPS_PER_EPOCH,
    "learning_rate": 1e-2,  # any rate at which a tiny model does not diverge
}

pytestmark = pytest.mark.usefixtures("little_garbage")


def classifier(tiny, folder, **changes):
    """A trainer of a classifier of texts by their ending, and its losses."""
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    trainer = Trainer(
        model=AutoModelForSequenceClassification.from_pretrained(tiny, num_labels=2),
        args=TrainingArguments(**training_settings(output_dir=str(folder), **SHORT | changes)),
        train_dataset=[
            {**tokenizer(text), "labels": number % 2} for number, text in enumerate(TEXTS)
        ],
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    return trainer, watch(trainer)


def sentence_trainer(tiny, folder, **changes):
    """A trainer of sentence vectors, on pairs that mean nothing, and its losses."""
    torch.manual_seed(0)
    model = SentenceTransformer(str(tiny), device="cpu")
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            **training_settings(output_dir=str(folder), **SHORT | changes)
        ),
        train_dataset=Dataset.from_dict({"anchor": TEXTS, "positive": TEXTS[::-1]}),
        loss=MultipleNegativesRankingLoss(model),
    )
    return trainer, watch(trainer)


with_and_without_a_bar = pytest.mark.parametrize(
    "make, has_bar",
    [
        (classifier, False),
        (classifier, True),
        # for one that has the library's bar, which prints each loss
        (lambda *folders: classifier(*folders, disable_tqdm=False), True),
        (sentence_trainer, False),
    ],
    ids=["classifier", "with a bar", "in place of the library's", "pairs"],
)


@with_and_without_a_bar
def test_every_loss_is_collected(make, has_bar, tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "0" if has_bar else "1")
    trainer, losses = make(tiny, tmp_path / "out")
    trainer.train()
    steps, values = zip(*losses)
    assert list(steps) == list(range(1, SHORT["num_train_epochs"] * STEPS_PER_EPOCH + 1))
    assert np.isfinite(values).all()
    # the settings of the course write no checkpoints
    assert not list(tmp_path.rglob("*.safetensors"))


@with_and_without_a_bar
def test_only_a_bar_is_shown(make, has_bar, tiny, tmp_path, capsys, monkeypatch):
    # as in a long training: each time that the bar looks at the clock, a second has passed
    monkeypatch.setattr("tqdm.std.time", itertools.count().__next__)
    monkeypatch.setenv("TQDM_DISABLE", "0" if has_bar else "1")
    trainer, _ = make(tiny, tmp_path)
    trainer.train()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert (f"/{SHORT['num_train_epochs'] * STEPS_PER_EPOCH} [" in printed.err) == has_bar, (
        printed.err
    )
    assert ("loss=" in printed.err) == has_bar, printed.err


@pytest.mark.parametrize("make", [classifier, sentence_trainer])
def test_training_that_diverges_stops_with_a_sentence(make, tiny, tmp_path):
    # A step of 1e30 makes products that 32 bits cannot hold, and no warm-up makes it smaller.
    trainer, losses = make(tiny, tmp_path, learning_rate=1e30, warmup_steps=0, max_grad_norm=0)
    with pytest.raises(
        DivergedError,
        match=r"the loss is (nan|inf) at step \d+, so every weight is lost. "
        r".* lower learning rate \(it was 1e\+30\)",
    ):
        trainer.train()
    assert len(losses) < SHORT["num_train_epochs"] * STEPS_PER_EPOCH


# ---------------------------------------------------------------- saving


# a static model has modules.json alone, one of transformers config.json
@pytest.mark.parametrize("lacking", ["config.json", "modules.json"])
def test_a_saved_model_is_the_model_and_replaces_what_was_there(lacking, sentence_model, tmp_path):
    folder = save_model(sentence_model, tmp_path / "new" / "model")
    (folder / lacking).rename(folder / "stale.txt")
    assert save_model(sentence_model, folder) == folder
    assert not (folder / "stale.txt").exists()
    assert np.array_equal(
        SentenceTransformer(str(folder), device="cpu").encode(TEXTS), sentence_model.encode(TEXTS)
    )
    assert load_encoder(folder)[1].config.hidden_size == 32  # that of `tiny`
    assert [path.name for path in folder.parent.iterdir()] == ["model"], "nothing is left beside it"


@pytest.mark.parametrize("own_file", ["thesis", "thesis/notes.txt"])
def test_saving_leaves_alone_what_is_no_model(own_file, sentence_model, tmp_path):
    (tmp_path / own_file).parent.mkdir(exist_ok=True)
    (tmp_path / own_file).write_text("mine")
    with pytest.raises(FileExistsError, match="thesis is there already and holds no model"):
        save_model(sentence_model, tmp_path / "thesis")
    assert (tmp_path / own_file).read_text() == "mine"


def test_a_model_is_saved_into_an_empty_folder(sentence_model, tmp_path):
    assert (save_model(sentence_model, tmp_path) / "config.json").is_file()


def contents(folder):
    """What a folder holds, at any depth: {path: the bytes of a file, or None for a folder}."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


# `model` and `path` are the arguments of the method that it replaces.
def write_half(model, path):
    """In place of `SentenceTransformer.save_pretrained`: the disk is full when half is written."""
    Path(path).mkdir(parents=True)
    (Path(path) / "half.bin").write_bytes(b"x")
    raise OSError("No space left on device")


def rename_all_but_the_new_model(path, target, rename=Path.rename):
    """In place of `Path.rename`: another program uses the folder that the new model should replace.

    Only when the new model moves there, both paths end in "model": the old one moves to "old".
    """
    if path.name == Path(target).name == "model":
        raise OSError("in use")
    return rename(path, target)


@pytest.mark.parametrize(
    "owner, method, breaking, message",
    [
        (SentenceTransformer, "save_pretrained", write_half, "No space left"),
        (Path, "rename", rename_all_but_the_new_model, "in use"),
    ],
    ids=["write", "rename"],
)
def test_saving_that_breaks_brings_the_whole_old_model_back(
    owner, method, breaking, message, sentence_model, tmp_path, monkeypatch
):
    folder = save_model(sentence_model, tmp_path / "model")
    (folder / "old.txt").touch()  # tells the old folder from a new one
    before = contents(tmp_path)
    monkeypatch.setattr(owner, method, breaking)
    with pytest.raises(OSError, match=message):
        save_model(sentence_model, folder)
    assert contents(tmp_path) == before
