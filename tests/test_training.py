"""Training can be watched, stops when it diverges, and saves everything or nothing."""

import shutil
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

TEXTS = [f"{'a b c'[number % 5 :]} {'x y' if number % 2 else 'm n'}" for number in range(12)]
# six steps
SHORT = {"num_train_epochs": 2, "per_device_train_batch_size": 4, "learning_rate": 1e-2}


pytestmark = pytest.mark.usefixtures("little_garbage")


def classifier(tiny, folder, **changes):
    """A trainer of a classifier that tells x from m, and its losses."""
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    model = AutoModelForSequenceClassification.from_pretrained(tiny, num_labels=2)
    rows = [{**tokenizer(text), "labels": number % 2} for number, text in enumerate(TEXTS)]
    settings = TrainingArguments(**training_settings(output_dir=str(folder), **SHORT | changes))
    trainer = Trainer(
        model, settings, train_dataset=rows, data_collator=DataCollatorWithPadding(tokenizer)
    )
    return trainer, watch(trainer)


def sentence_trainer(tiny, folder, **changes):
    torch.manual_seed(0)
    model = SentenceTransformer(str(tiny), device="cpu")
    rows = Dataset.from_dict({"anchor": TEXTS, "positive": TEXTS[::-1]})
    settings = SentenceTransformerTrainingArguments(
        **training_settings(output_dir=str(folder), **SHORT | changes)
    )
    trainer = SentenceTransformerTrainer(
        model, settings, train_dataset=rows, loss=MultipleNegativesRankingLoss(model)
    )
    return trainer, watch(trainer)


@pytest.mark.parametrize(
    "make, disable, epochs",
    [(classifier, "1", 10), (classifier, "0", 2), (sentence_trainer, "1", 2)],
    ids=["learns", "bar", "pairs"],
)
def test_every_loss_is_collected_and_only_a_bar_is_shown(
    make, disable, epochs, tiny, tmp_path, capsys, monkeypatch
):
    clock = iter(range(10**6))
    monkeypatch.setattr("tqdm.std.time", lambda: next(clock))  # a long training
    monkeypatch.setenv("TQDM_DISABLE", disable)
    trainer, losses = make(tiny, tmp_path / "out", num_train_epochs=epochs)
    trainer.train()
    steps, values = zip(*losses)
    assert list(steps) == list(range(1, 3 * epochs + 1)) and np.isfinite(values).all()
    assert epochs < 10 or values[-1] < 0.5 * values[0], "it learns"
    said = capsys.readouterr()
    assert said.out == "" and ("/6 [" in said.err and "loss=" in said.err) == (disable == "0"), (
        said.err
    )
    assert not list(tmp_path.rglob("*.safetensors"))


@pytest.mark.parametrize("make", [classifier, sentence_trainer])
def test_training_that_diverges_stops_with_a_sentence(make, tiny, tmp_path):
    trainer, losses = make(tiny, tmp_path, learning_rate=1e30, warmup_steps=0, max_grad_norm=0)
    words = r"the loss is (nan|inf) at step \d+, so every weight is lost. .* lower learning rate \(it was 1e\+30\)"
    with pytest.raises(DivergedError, match=words):
        trainer.train()
    assert len(losses) < 6


# Files


def test_a_saved_model_is_the_model_and_replaces_what_was_there(sentence_model, tmp_path):
    folder = save_model(sentence_model, tmp_path / "new" / "model")
    (folder / "stale.txt").touch()
    assert save_model(sentence_model, folder) == folder and not (folder / "stale.txt").exists()
    assert np.array_equal(
        SentenceTransformer(str(folder), device="cpu").encode(TEXTS), sentence_model.encode(TEXTS)
    )
    assert load_encoder(folder)[1].config.hidden_size == 32
    assert [path.name for path in folder.parent.iterdir()] == ["model"], "nothing is left beside it"


@pytest.mark.parametrize("mine", ["thesis", "thesis/notes.txt"])
def test_saving_leaves_alone_what_is_no_model(mine, sentence_model, tmp_path):
    (tmp_path / mine).parent.mkdir(exist_ok=True)
    (tmp_path / mine).write_text("mine")
    with pytest.raises(FileExistsError, match="thesis is there already and holds no model"):
        save_model(sentence_model, tmp_path / "thesis")
    (tmp_path / "empty").mkdir()
    assert (save_model(sentence_model, tmp_path / "empty") / "config.json").is_file()
    assert (tmp_path / mine).read_text() == "mine"


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("breaking", ["write", "rename"])
def test_saving_that_breaks_brings_the_whole_old_model_back(
    breaking, sentence_model, tmp_path, monkeypatch
):
    folder, rename = save_model(sentence_model, tmp_path / "model"), Path.rename
    (folder / "old.txt").touch()
    before = contents(tmp_path)

    def half(path):
        Path(path).mkdir(parents=True)
        (Path(path) / "half.bin").write_bytes(b"x")
        raise OSError("No space left on device")

    def in_use(path, target):
        if path.name == "model" and Path(target) == folder:
            raise OSError("in use")
        return rename(path, target)

    monkeypatch.setattr(
        *{"write": (sentence_model, "save_pretrained", half), "rename": (Path, "rename", in_use)}[
            breaking
        ]
    )
    with pytest.raises(OSError, match="No space left" if breaking == "write" else "in use"):
        save_model(sentence_model, folder)
    assert contents(tmp_path) == before and [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_full_disk_is_seen_before_anything_is_written(sentence_model, tmp_path, monkeypatch):
    monkeypatch.setattr(
        shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000)
    )
    with pytest.raises(
        OSError, match=r"the model needs \d+ MB and .* has 0 MB left. Nothing was written"
    ):
        save_model(sentence_model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
