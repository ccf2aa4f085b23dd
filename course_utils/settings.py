"""The setup call in each lesson's first cell."""

import logging
import os
import random
import sys
from importlib import import_module

from . import models
from ._support.bars import bars_are_text, progress_bar

# imported under a progress bar, since the import of torch may take many seconds
PACKAGES = ("numpy", "torch", "transformers", "matplotlib")


def setup(seed: int = 0, solutions: bool = True, online: bool = False) -> None:
    """Put the notebook in a known state. This docstring names all global state that the course
    changes.

    - The random generators of Python, NumPy and torch start from `seed`.
    - The packaged encoder has its public name, "sentence-transformers/all-MiniLM-L6-v2", for all
      libraries, without a network: `huggingface_hub.constants` are those of a cache that holds it,
      beside the models of your own cache. With `online=True`, or if COURSE_ENCODER names a model of
      the hub, they are what they are without this course. Without a network, IPython's handler of
      OSError adds a note to those that name the hub.
    - transformers loads quietly: no progress bars, errors only. Its tokenizers no longer warn about
      forked processes (TOKENIZERS_PARALLELISM is "false", unless it is set).
    - huggingface_hub and sentence-transformers log errors only. The progress bars of the latter are
      text, not widgets.
    - matplotlib uses the course's style (`plots.STYLE`), and IPython shows its figures as SVG that
      follows a page's light or dark mode, with a description, and their data as text. A cell that
      ends in an Axes prints nothing more.
    - `bertviz.head_view` and `bertviz.model_view` draw without a network.
    - If COURSE_ENCODER names another encoder, IPython puts it into the line that names a lesson's
      checkpoint (`checkpoint = "sentence-transformers/all-MiniLM-L6-v2"`), and skips cells with one
      of these tags, which say so: `needs-packaged-encoder`; `needs-bert`, unless it and its
      tokenizer are BERT's; `needs-bert-parts`, unless its parts have the same names as BERT's (as
      RoBERTa's have); `needs-wordpiece`, unless its tokenizer is WordPiece.
    - The record of hints shown by `hint` is cleared, so each exercise starts with its first hint
      again.
    - With `solutions=False`, as in copies that are graded, `solution` shows no answers.

    Loaded encoders (`models.load_encoder`) and GloVe are cached for the session; `setup` leaves
    them alone. While it imports packages for the first time, a progress bar shows.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    missing = [name for name in PACKAGES if name not in sys.modules]
    if missing:
        for name in progress_bar(iterable=missing, unit="package", delay=0):
            import_module(name)

    import huggingface_hub
    import numpy as np
    import torch
    import transformers

    from . import plots
    from ._support import bertviz_offline, cell_needs, figures, hub_cache
    from .diary.session import hints_shown, shows

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    another = models.another_encoder()
    is_on_the_hub = another is not None and not os.path.isdir(os.path.expanduser(another))
    hub_cache.use_cache(online or is_on_the_hub)
    huggingface_hub.utils.logging.set_verbosity_error()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    bars_are_text()
    plots.use_style()
    figures.show_as_the_course_does()
    bertviz_offline.stand_in()
    hints_shown.clear()
    shows["solutions"] = solutions
    cell_needs.adapt_cells(another, models.load_encoder)
