"""What the scripts share: their command, how they train, and what they write of a training."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from .._support.files import write_whole
from ..models import ENV_VAR, another_encoder, progress_bar

FOLDER = Path(__file__).parent
CHANGE = ("before", "after", "difference", "low", "high")


def script(run):
    """Make `run(folder)`, which writes tables into a folder, the command of its script.

    It stands last in its file: where the file is run by `python -m`, the command begins here, and
    the tables go beside the file. Raises SystemExit then if another encoder is set.
    """
    if run.__module__ != "__main__":
        return run
    if another_encoder():
        sys.exit(
            f"the stored tables are the packaged encoder's, and {ENV_VAR} names another: unset it"
        )
    return run(FOLDER)


def training_settings(**changes):
    """Keyword arguments for TrainingArguments or SentenceTransformerTrainingArguments.

    Training runs on the CPU, seeded, with a warm-up over a tenth of the steps. Every step's loss is
    logged, NaN included. Nothing is written.

    changes: settings that override these.
    """
    on_the_cpu = {"use_cpu": True, "dataloader_pin_memory": False, "seed": 0, "warmup_steps": 0.1}
    logs = {
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "report_to": "none",
        "disable_tqdm": True,
    }
    saves = {"output_dir": tempfile.gettempdir(), "save_strategy": "no"}
    return on_the_cpu | logs | saves | changes


def stepper(model, rate, steps, weight_decay=0.0):
    """A function that makes one step of a training by hand, from its loss.

    AdamW, with the rate rising over a tenth of the steps and then falling to 0; gradients are
    clipped to length 1.
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


def inputs_of(tokenizer, *columns, longest):
    """A batch of texts, or of pairs from two columns. If it is too long, the longer text of a pair
    is cut first.
    """
    texts = (list(column) for column in columns)
    return tokenizer(
        *texts, padding=True, truncation="longest_first", max_length=longest, return_tensors="pt"
    )


def probabilities_of(logits_of, lengths, batch=32):
    """The probability of class 1 for each row, (n,).

    logits_of: called with the places of at most `batch` rows; returns a tensor (rows, 2).
    lengths: of the rows; those of a batch are of similar length.
    """
    found, order = np.empty(len(lengths)), np.argsort(-np.asarray(lengths), kind="stable")
    with torch.inference_mode():
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            found[places] = logits_of(places).softmax(dim=1)[:, 1].numpy()
    return found


def chosen_rate(tries):
    """The rate with the highest score, which stands first in its entry of `tries`.

    Of equal scores, the first.
    """
    return max(tries, key=lambda rate: tries[rate][0])


def rounded(values, names=CHANGE):
    """{name: value}, with the four decimals that a table has."""
    return dict(zip(names, np.round(values, 4).tolist()))


def rows_of_each(turns, rows_of, unit="training"):
    """The rows that `rows_of` returns for each turn, in one list. A bar shows the last one.

    turns: a list of tuples, the arguments of `rows_of`.
    """
    rows = []
    for turn in (bar := progress_bar(iterable=turns, unit=unit)):
        rows += rows_of(*turn)
        bar.write(str(rows[-1]))
    return rows


def write_table(rows, path):
    """Write rows as a CSV file; an existing file stays until the new one is complete."""
    write_whole(path, pd.DataFrame(rows).to_csv(index=False))


def mean(rows):
    """The mean of each row, as `bootstrap` asks for."""
    return np.mean(rows, axis=-1)
