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

# every other one of the twelve ends with "x y" in place of "m n"
TEXTS = [f"{'a b c'[number % 5 :]} {'x y' if number % 2 else 'm n'}" for number in range(12)]
# three steps in each epoch
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
    "make, disable, epochs, most_left",  # of the first loss, at the end
    [(classifier, "1", 10, 0.5), (classifier, "0", 2, np.inf), (sentence_trainer, "1", 2, np.inf)],
    ids=["learns", "bar", "pairs"],
)
def test_every_loss_is_collected_and_only_a_bar_is_shown(
    make, disable, epochs, most_left, tiny, tmp_path, capsys, monkeypatch
):
    # as in a long training: each time that the bar looks at the clock, a second has passed
    seconds = iter(range(10**6))
    monkeypatch.setattr("tqdm.std.time", lambda: next(seconds))
    monkeypatch.setenv("TQDM_DISABLE", disable)
    trainer, losses = make(tiny, tmp_path / "out", num_train_epochs=epochs)
    trainer.train()
    steps, values = zip(*losses)
    assert list(steps) == list(range(1, 3 * epochs + 1))
    assert np.isfinite(values).all()
    assert values[-1] < most_left * values[0], "it learns"
    printed = capsys.readouterr()
    has_bar = "/6 [" in printed.err and "loss=" in printed.err
    assert (printed.out, has_bar) == ("", disable == "0"), printed.err
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
    assert save_model(sentence_model, folder) == folder
    assert not (folder / "stale.txt").exists()
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


@pytest.mark.parametrize("step, words", [("write", "No space left"), ("rename", "in use")])
def test_saving_that_breaks_brings_the_whole_old_model_back(
    step, words, sentence_model, tmp_path, monkeypatch
):
    folder, rename = save_model(sentence_model, tmp_path / "model"), Path.rename
    (folder / "old.txt").touch()
    before = contents(tmp_path)

    def write_half(path):
        Path(path).mkdir(parents=True)
        (Path(path) / "half.bin").write_bytes(b"x")
        raise OSError("No space left on device")

    def rename_other_folders(path, target):
        if path.name == "model" and Path(target) == folder:
            raise OSError("in use")
        return rename(path, target)

    breaking = {
        "write": (sentence_model, "save_pretrained", write_half),
        "rename": (Path, "rename", rename_other_folders),
    }
    monkeypatch.setattr(*breaking[step])
    with pytest.raises(OSError, match=words):
        save_model(sentence_model, folder)
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_full_disk_is_seen_before_anything_is_written(sentence_model, tmp_path, monkeypatch):
    # what `disk_usage` returns has no public constructor
    full = shutil._ntuple_diskusage(total=10**9, used=10**9 - 1000, free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    with pytest.raises(
        OSError, match=r"the model needs \d+ MB and .* has 0 MB left. Nothing was written"
    ):
        save_model(sentence_model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
