"""Support for training: checked examples, a live loss curve, a stop on divergence, atomic saving.

Lessons 10 and 11 use it. Nothing here trains; `transformers.Trainer` and `SentenceTransformerTrainer` do.
"""

import shutil
import tempfile
from pathlib import Path

from transformers import PrinterCallback, ProgressCallback

from ._support.loss_watch import DivergedError as DivergedError
from ._support.loss_watch import LossWatch

MARGIN = 1.2  # a model on disk takes at most this many times the size of its weights


class ExampleError(ValueError):
    """Training examples that cannot teach what they are meant to. The message names the row."""


def training_settings(folder=None, **changes):
    """Keyword arguments for TrainingArguments or SentenceTransformerTrainingArguments, as the course trains.

    Training runs on the CPU, seeded, with a warm-up over a tenth of the steps. Every step's loss is logged, NaN
    included. Nothing is written by default.

    folder: where checkpoints go, if any.
    changes: settings that override these.

    Raises ValueError if checkpoints are requested without a folder.
    """
    if folder is None and changes.get("save_strategy", "no") != "no":
        raise ValueError("checkpoints need a folder: training_settings(folder, save_strategy=...)")
    on_the_cpu = {"use_cpu": True, "dataloader_pin_memory": False, "seed": 0, "warmup_steps": 0.1}
    logs = {"logging_steps": 1, "logging_nan_inf_filter": False, "report_to": "none", "disable_tqdm": True}
    saves = {"output_dir": str(folder or tempfile.gettempdir()), "save_strategy": "no"}
    return on_the_cpu | logs | saves | changes


def watch(trainer):
    """Replace a trainer's printed log with a progress bar and, in JupyterLab, a live loss curve.

    Returns the list to which (step, loss) are appended. The bar and the curve disappear when training ends, so neither
    is stored in the notebook. With TQDM_DISABLE=1 neither shows. `trainer.train()` then raises DivergedError when a
    loss is NaN or infinite.
    """
    for printing in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(printing)
    watching = LossWatch()
    trainer.add_callback(watching)
    return watching.losses


def checked_labels(texts, labels, classes=2):
    """(texts, labels) as lists, checked to be fit for training a classifier.

    Raises ExampleError for no examples, unequal numbers, a text that is missing or empty, a label that is not a whole
    number from 0 to classes - 1, or fewer than two different labels.
    """
    texts, labels = list(texts), list(labels)
    if not texts:
        raise ExampleError("there are no examples to train on")
    if len(texts) != len(labels):
        raise ExampleError(f"{len(texts)} texts and {len(labels)} labels; each text needs one")
    for row, (text, label) in enumerate(zip(texts, labels)):
        if not isinstance(text, str) or not text.strip():
            raise ExampleError(f"example {row} has no text; got {text!r}")
        if isinstance(label, bool) or label not in range(classes):
            raise ExampleError(
                f"example {row} has the label {label!r}; labels are whole numbers from 0 to {classes - 1}"
            )
    if len(set(map(int, labels))) < 2:
        raise ExampleError(
            f"all {len(labels)} examples have the label {int(labels[0])}; a classifier needs two classes at least"
        )
    return texts, [int(label) for label in labels]


def checked_triplets(triplets):
    """Rows (anchor, positive, negative) as lists of text, checked to be fit for training.

    Raises ExampleError for no triplets, for a row without three texts, and for a row in which two of the three are
    equal.
    """
    rows = [list(row) for row in triplets]
    if not rows:
        raise ExampleError("there are no triplets to train on")
    for number, row in enumerate(rows):
        if len(row) != 3 or not all(isinstance(text, str) and text.strip() for text in row):
            raise ExampleError(f"triplet {number} is not three texts (anchor, positive, negative): {row!r}")
        names = {text.strip().casefold(): name for text, name in zip(row, ("anchor", "positive", "negative"))}
        if len(names) < 3:
            raise ExampleError(
                f"triplet {number} has two equal members, so it teaches nothing or the wrong thing: {row!r}"
            )
    return rows


def save_model(model, folder):
    """Save a model atomically: `folder` holds either all of it or what was there before.

    model: a SentenceTransformer or a transformers model (`save_pretrained`).

    It is written to a temporary folder and renamed, replacing an earlier model. Returns the folder. Raises
    FileExistsError if something other than a model is there, and OSError if the disk has too little room; nothing is
    written then.
    """
    folder = Path(folder).expanduser().resolve()
    if folder.exists() and not (folder.is_dir() and ((folder / "config.json").is_file() or not any(folder.iterdir()))):
        raise FileExistsError(f"{folder} is there already and holds no model, so it is left alone. Choose another name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    needed = MARGIN * sum(weight.numel() * weight.element_size() for weight in model.parameters())
    free = shutil.disk_usage(folder.parent).free
    if free < needed:
        raise OSError(
            f"the model needs {needed / 1e6:.0f} MB and {folder.parent} has {free / 1e6:.0f} MB left. Nothing was "
            "written"
        )
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".saving-", ignore_cleanup_errors=True) as beside:
        new = Path(beside) / "model"
        model.save_pretrained(str(new))
        old = Path(beside) / "old"  # removed with the temporary folder
        if folder.exists():
            folder.rename(old)
        try:
            new.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
    return folder
