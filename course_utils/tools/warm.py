"""Prepare a process from which kernels and sandboxes of submissions are forked.

Such a process always computes with one thread: OpenMP's threads do not survive a fork, and a child
waiting for them would hang.
"""

import gc
import importlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from .. import HOME
from .._support.bars import bars_are_text
from .._support.notebooks import NOTEBOOKS, parts


def lesson_modules(folder: str | Path = NOTEBOOKS) -> list[str]:
    """The modules that the lessons import and this environment has, the most used first.

    Of `course_utils`, those that define the names in the lessons. A module whose package is
    installed counts as there, since a search for the module itself would import the package.
    """
    times: Counter[str] = Counter()
    for path in parts(folder).values():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        names = HOME.keys() & set(re.findall(r"\w+", code))
        times.update(f"course_utils.{HOME[name]}" for name in names)
        times.update(re.findall(r"^ *(?:from|import) ([\w.]+)", code, re.MULTILINE))
    return [name for name, _ in times.most_common() if find_spec(name.partition(".")[0])]


def load(modules: Iterable[str]) -> int:
    """Import modules, load the encoder that `load_encoder` gives by default, and run it once.

    From then on this process computes with one thread, and progress bars are text. Returns the
    previous number of torch threads, for a caller that sets it again.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    bars_are_text()
    for name in modules:
        importlib.import_module(name)
    from .. import embedding, models

    models.load_encoder()
    embedding.embed(["The first sentence lays the weights out."])
    return threads


def set_aside() -> None:
    """Turn the garbage collector off, and keep what exists now out of any later collection.

    A child shares this process's memory, and each page that a collection writes to is copied.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
