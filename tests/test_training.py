"""Training can be watched, stops when it diverges, and saves everything or nothing."""

import shutil
from pathlib import Path
from types import SimpleNamespace

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
# six steps: twelve rows, in batches of four, twice
SHORT = {"num_train_epochs": 2, "per_device_train_batch_size": 4, "learning_rate": 1e-2}


pytestmark = pytest.mark.usefixtures("little_garbage")


def classifier(tiny, folder, **changes):
    """A trainer of a classifier that tells x from m, and its losses."""
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    model = AutoModelForSequenceClassification.from_pretrained(tiny, num_labels=2)
    rows = [{**tokenizer(text), "labels": number % 2} for number, text in enumerate(TEXTS)]
    trainer = Trainer(
        model,
        TrainingArguments(**training_settings(output_dir=str(folder), **SHORT | changes)),
        train_dataset=rows,
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    return trainer, watch(trainer)


def sentence_trainer(tiny, folder, **changes):
    torch.manual_seed(0)
    model = SentenceTransformer(str(tiny), device="cpu")
    rows = Dataset.from_dict({"anchor": TEXTS, "positive": TEXTS[::-1]})
    settings = training_settings(output_dir=str(folder), **SHORT | changes)
    trainer = SentenceTransformerTrainer(
        model,
        SentenceTransformerTrainingArguments(**settings),
        train_dataset=rows,
        loss=MultipleNegativesRankingLoss(model),
    )
    return trainer, watch(trainer)


@pytest.mark.parametrize(
    "make, shows_bar, epochs",
    [(classifier, False, 10), (classifier, True, 2), (sentence_trainer, False, 2)],
    ids=["learns", "bar", "pairs"],
)
def test_every_loss_is_collected_and_only_a_bar_is_shown(
    make, shows_bar, epochs, tiny, tmp_path, capsys, monkeypatch
):
    clock = iter(range(10**6))
    monkeypatch.setattr("tqdm.std.time", lambda: next(clock))  # a long training
    monkeypatch.setenv("TQDM_DISABLE", str(int(not shows_bar)))
    trainer, losses = make(tiny, tmp_path / "out", num_train_epochs=epochs)
    trainer.train()
    steps, values = zip(*losses)
    assert list(steps) == list(range(1, 3 * epochs + 1)) and np.isfinite(values).all()
    assert epochs < 10 or values[-1] < 0.5 * values[0], "it learns"
    out, err = capsys.readouterr()
    assert (out, "/6 [" in err, "loss=" in err) == ("", shows_bar, shows_bar), err
    assert not list(tmp_path.rglob("*.safetensors"))


@pytest.mark.parametrize("make", [classifier, sentence_trainer])
def test_training_that_diverges_stops_with_a_sentence(make, tiny, tmp_path):
    trainer, losses = make(tiny, tmp_path, learning_rate=1e30, warmup_steps=0, max_grad_norm=0)
    message = (
        r"the loss is (nan|inf) at step \d+, so every weight is lost. "
        r".* lower learning rate \(it was 1e\+30\)"
    )
    with pytest.raises(DivergedError, match=message):
        trainer.train()
    assert len(losses) < 6


# Files


def test_a_saved_model_is_the_model_and_replaces_what_was_there(sentence_model, tmp_path):
    folder = save_model(sentence_model, tmp_path / "new" / "model")
    (folder / "stale.txt").touch()
    assert (save_model(sentence_model, folder), (folder / "stale.txt").exists()) == (folder, False)
    assert np.array_equal(
        SentenceTransformer(str(folder), device="cpu").encode(TEXTS), sentence_model.encode(TEXTS)
    )
    assert load_encoder(folder)[1].config.hidden_size == 32
    assert [path.name for path in folder.parent.iterdir()] == ["model"], "nothing is left beside it"


@pytest.mark.parametrize("file", ["thesis", "thesis/notes.txt"])
def test_saving_leaves_alone_what_is_no_model(file, sentence_model, tmp_path):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("mine")
    with pytest.raises(FileExistsError, match="thesis is there already and holds no model"):
        save_model(sentence_model, tmp_path / "thesis")
    (tmp_path / "empty").mkdir()
    assert (save_model(sentence_model, tmp_path / "empty") / "config.json").is_file()
    assert (tmp_path / file).read_text() == "mine"


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("breaking, message", [("write", "No space left"), ("rename", "in use")])
def test_saving_that_breaks_brings_the_whole_old_model_back(
    breaking, message, sentence_model, tmp_path, monkeypatch
):
    folder, rename = save_model(sentence_model, tmp_path / "model"), Path.rename
    (folder / "old.txt").touch()
    before = contents(tmp_path)

    def write_half(path):
        Path(path).mkdir(parents=True)
        (Path(path) / "half.bin").write_bytes(b"x")
        raise OSError("No space left on device")

    def rename_unless_into_place(path, target):
        if path.name == "model" and Path(target) == folder:
            raise OSError("in use")
        return rename(path, target)

    replacements = {
        "write": (sentence_model, "save_pretrained", write_half),
        "rename": (Path, "rename", rename_unless_into_place),
    }
    monkeypatch.setattr(*replacements[breaking])
    with pytest.raises(OSError, match=message):
        save_model(sentence_model, folder)
    assert (contents(tmp_path), list(tmp_path.iterdir())) == (before, [folder])


def test_a_full_disk_is_seen_before_anything_is_written(sentence_model, tmp_path, monkeypatch):
    # a thousand bytes
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(
        OSError, match=r"the model needs \d+ MB and .* has 0 MB left. Nothing was written"
    ):
        save_model(sentence_model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
