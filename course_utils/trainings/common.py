"""What the scripts share: their command, how they train, and what they write of a training."""

import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from .._support.files import write_whole
from ..models import ENV_VAR, another_encoder, progress_bar

FOLDER = Path(__file__).parent
# a measure before and after a training, their difference, and the ends of the latter's interval
CHANGE = ("before", "after", "difference", "low", "high")
Folder = Path  # where a script writes its tables
Row = dict[str, Any]  # of a table: {column: value}
Tokenizer = Model = Bar = Any  # classes of the libraries, which differ from model to model


def script(run: Callable[[Folder], None]) -> Callable[[Folder], None] | None:
    """Decorate `run(folder)`, which writes tables into a folder, as the command of its script.

    When the file is imported, the function is returned as it is. When the file is run by
    `python -m`, decorating calls the function at once, and the tables are written beside the file;
    so the function must stand last. Raises SystemExit then if another encoder is set.
    """
    if run.__module__ != "__main__":
        return run
    if another_encoder():
        sys.exit(
            f"the stored tables are the packaged encoder's, and {ENV_VAR} names another: unset it"
        )
    return run(FOLDER)


def training_settings(**changes: Any) -> dict[str, Any]:
    """Keyword arguments for TrainingArguments or SentenceTransformerTrainingArguments.

    Training runs on the CPU, seeded, with a warm-up over a tenth of the steps. Every step's loss is
    logged, NaN included. Nothing is written.

    changes: settings that override these.
    """
    return {
        "use_cpu": True,
        "dataloader_pin_memory": False,
        "seed": 0,
        "warmup_steps": 0.1,  # below 1, it is a share of all steps
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "report_to": "none",
        "disable_tqdm": True,
        "output_dir": tempfile.gettempdir(),
        "save_strategy": "no",
        **changes,
    }


def stepper(
    model: torch.nn.Module, rate: float, steps: int, weight_decay: float = 0.0
) -> Callable[[torch.Tensor], None]:
    """A function that takes the loss and makes one training step, for loops written by hand.

    The optimizer is AdamW. Its rate rises over a tenth of the steps and then falls to 0; gradients
    are clipped to length 1.

    rate: the highest learning rate. steps: how many steps there will be. The caller puts the model
    in training mode.
    """
    from transformers import get_linear_schedule_with_warmup

    optimizer = torch.optim.AdamW(
        model.parameters(), lr=rate, weight_decay=weight_decay, fused=True
    )
    schedule = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)

    def step(loss):
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()

    return step


def inputs_of(tokenizer: Tokenizer, *columns: Iterable[str], longest: int) -> Any:
    """The encoder's inputs for a column of texts, or for pairs from two columns.

    longest: the most tokens of an input, special ones included. A longer text is cut at its end; of
    a longer pair, the longer text is cut first.

    Returns the tokenizer's dictionary of tensors (n, tokens), padded to the longest input.
    """
    return tokenizer(
        *map(list, columns),
        padding=True,
        truncation="longest_first",
        max_length=longest,
        return_tensors="pt",
    )


def probabilities_of(
    logits_of: Callable[[np.ndarray], torch.Tensor], lengths: Sequence[int], batch: int = 32
) -> np.ndarray:
    """The probability of class 1 for each row, (n,), in the order of `lengths`.

    logits_of: called with the places of at most `batch` rows; returns a tensor (rows, 2).
    lengths: of the rows, in any unit; those of a batch are of similar length.
    """
    longest_first = np.argsort(-np.asarray(lengths), kind="stable")
    probabilities = np.empty(len(lengths))
    with torch.inference_mode():
        for start in range(0, len(lengths), batch):
            places = longest_first[start : start + batch]
            probabilities[places] = logits_of(places).softmax(dim=1)[:, 1].numpy()
    return probabilities


def rounded(values: Sequence[float], names: Sequence[str] = CHANGE) -> dict[str, float]:
    """{name: value} for as many values as names, with the four decimals that a table has."""
    return dict(zip(names, np.round(values, 4).tolist()))


def rows_of_each(
    turns: Iterable[tuple[Any, ...]], rows_of: Callable[..., list[Row]], unit: str = "training"
) -> list[Row]:
    """The rows that `rows_of` returns for each turn, in one list.

    turns: the arguments of each call of `rows_of`, which returns at least one row. A bar counts the
    turns, and the last row of each is printed above it.
    """
    rows = []
    for turn in (bar := progress_bar(iterable=turns, unit=unit)):
        rows += rows_of(*turn)
        bar.write(str(rows[-1]))
    return rows


def write_table(rows: Any, path: Path) -> None:
    """Write rows, or anything else that makes a DataFrame, as a CSV file.

    An existing file stays until the new one is complete.
    """
    write_whole(path, pd.DataFrame(rows).to_csv(index=False))


def mean(rows: np.ndarray) -> np.ndarray:
    """The mean of each row: a statistic for `bootstrap`."""
    return np.mean(rows, axis=-1)
