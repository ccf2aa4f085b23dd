"""Support for training: a progress bar with the loss, a stop on divergence, atomic saving.

Lessons 10 and 11 use it. Nothing here trains; `transformers.Trainer` and
`SentenceTransformerTrainer` do.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import PrinterCallback, ProgressCallback, TrainerCallback

from ._support.bars import progress_bar

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers import (
        PreTrainedModel,
        Trainer,
        TrainerControl,
        TrainerState,
        TrainingArguments,
    )


class DivergedError(RuntimeError):
    """The loss is NaN or infinite. The message says at which step, and what usually helps."""


def watch(trainer: Trainer) -> list[tuple[int, float]]:
    """Replace a trainer's printed log with a progress bar that shows the loss.

    Returns a list, empty at first, to which (step, loss) is appended each time the trainer logs a
    loss. The bar disappears when training ends, so it is not stored in the notebook. With
    TQDM_DISABLE=1 it does not show. `trainer.train()` then raises DivergedError when a loss is NaN
    or infinite.
    """
    for printing in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(printing)
    watching = _LossWatch()
    trainer.add_callback(watching)
    return watching.losses


class _LossWatch(TrainerCallback):
    """What `watch` adds to a trainer."""

    def __init__(self):
        self.losses: list[tuple[int, float]] = []
        self.bar: Any = None

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self.bar = progress_bar(total=state.max_steps, initial=state.global_step, unit="step")

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self.bar.update(state.global_step - self.bar.n)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        loss = (logs or {}).get("loss")
        if loss is None:
            return
        if not math.isfinite(loss):
            self.bar.close()
            raise DivergedError(
                f"the loss is {loss} at step {state.global_step}, so every weight is lost. Load "
                "the model again, and train with a lower learning rate (it was "
                f"{args.learning_rate:g}) or a longer warm-up"
            )
        self.losses.append((state.global_step, loss))
        self.bar.set_postfix(loss=f"{loss:.3f}", refresh=False)

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self.bar.close()


def save_model(model: SentenceTransformer | PreTrainedModel, folder: str | Path) -> Path:
    """Save a model atomically: `folder` holds either all of it or what was there before.

    model: a SentenceTransformer or a transformers model (`save_pretrained`).

    It is written to a temporary folder and renamed, replacing an earlier model. Returns the
    folder. Raises FileExistsError if something other than a model is there. If the model cannot be
    written, the library's error says why, and what was there stays.
    """
    folder = Path(folder).expanduser().resolve()
    is_free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    # transformers writes the one file, Sentence Transformers the other, and often both
    if not (is_free or (folder / "config.json").is_file() or (folder / "modules.json").is_file()):
        raise FileExistsError(
            f"{folder} is there already and holds no model, so it is left alone. Choose another name"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=".saving-", ignore_cleanup_errors=True
    ) as beside:
        new, old = Path(beside) / "model", Path(beside) / "old"
        model.save_pretrained(str(new))
        if folder.exists():
            folder.rename(old)  # removed with the temporary folder
        try:
            new.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
    return folder
