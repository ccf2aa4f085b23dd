"""The setup call in each lesson's first cell."""

import os
import random

from ._support.notebooks import tagged
from .models import another_is_set


def _is_bert(tokenizer, model):
    """Not only BERT's model: multilingual encoders often have one, and the tokenizer of XLM-RoBERTa."""
    return model.config.model_type == "bert" and "token_type_ids" in tokenizer.model_input_names


def _is_built_like_bert(model):
    return {"encoder.layer.0.attention.self.query", "pooler.dense"} <= dict(model.named_modules()).keys()


def _cuts_word_pieces(tokenizer):
    return type(tokenizer.backend_tokenizer.model).__name__ == "WordPiece"


# Tags of cells: what an encoder must be to run the cell, and what the cell is about.
CONDITIONS = {
    "needs-packaged-encoder": (lambda tokenizer, model: False, "about the packaged encoder"),
    "needs-bert": (_is_bert, "about BERT"),
    "needs-bert-parts": (lambda tokenizer, model: _is_built_like_bert(model), "about BERT's parts"),
    "needs-wordpiece": (lambda tokenizer, model: _cuts_word_pieces(tokenizer), "about WordPiece"),
}


def setup(seed=0):
    """Put the notebook in a known state. This docstring names all global state that the course changes.

    - The random generators of Python, NumPy and torch start from `seed`.
    - transformers loads quietly: no progress bars, errors only. Its tokenizers no longer warn about forked processes.
    - matplotlib uses the course's style (`plots.STYLE`).
    - If COURSE_ENCODER names another encoder, IPython skips the lessons' cells with one of these tags, and they say so:
      `needs-packaged-encoder`; `needs-bert`, unless it and its tokenizer are BERT's; `needs-bert-parts`, unless its
      parts have the same names as BERT's (as RoBERTa's have); `needs-wordpiece`, unless its tokenizer is WordPiece.
    - The record of hints shown by `hint` is cleared, so each exercise starts with its first hint again.

    Loaded encoders (`models.load_encoder`) and GloVe are cached for the session; `setup` leaves them alone.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

    import numpy as np
    import torch
    import transformers

    from . import plots
    from ._support.passed import hints_shown

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    plots.use_style()
    hints_shown.clear()
    _skip_cells()


def _skip_cells():
    """Let IPython ask `_or_skipped` about each cell, if there is IPython and another encoder is set."""
    import sys

    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    steps = shell.input_transformers_cleanup
    steps[:] = [step for step in steps if getattr(step, "__name__", "") != _or_skipped.__name__]
    if another_is_set():
        steps.append(_or_skipped)


def _or_skipped(lines):
    """The lines of a cell, or one that prints why it is skipped."""
    need = _need("".join(lines))
    if need is None:
        return lines
    from .models import load_encoder

    holds, about = CONDITIONS[need]
    return lines if holds(*load_encoder()) else [f'print("skipped: this cell is {about}")\n']


def _need(source):
    """The tag in CONDITIONS of the cell that is run, or None.

    JupyterLab sends a cell's tags with the request, so a cell is recognised after a learner has edited it. Other
    programs send the text alone, which is looked up in the source lessons.
    """
    from IPython import get_ipython

    request = getattr(get_ipython(), "get_parent", dict)() or {}  # an IPython without a kernel has none
    sent = (tag for tag in request.get("metadata", {}).get("tags", ()) if tag in CONDITIONS)
    source = source.strip()
    known = (
        tag for text, answer, tag in tagged("needs-") if source == text or answer and text and source.startswith(text)
    )
    return next(sent, None) or next(known, None)
