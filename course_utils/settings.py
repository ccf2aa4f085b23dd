"""The setup call in each lesson's first cell."""

import os
import random
import re

from .models import another_is_set


def _is_bert(tokenizer, model):
    """Not only BERT's model: multilingual encoders often have one, and the tokenizer of XLM-RoBERTa."""
    return model.config.model_type == "bert" and "token_type_ids" in tokenizer.model_input_names


def _is_built_like_bert(model):
    return {"encoder.layer.0.attention.self.query", "pooler.dense"} <= dict(model.named_modules()).keys()


def _cuts_word_pieces(tokenizer):
    return type(tokenizer.backend_tokenizer.model).__name__ == "WordPiece"


# Comments that end a line of a cell, and for which encoders this cell is: a condition, and what it says elsewhere.
CONDITIONS = {
    "packaged encoder only": (lambda tokenizer, model: False, "about the packaged encoder"),
    "BERT only": (_is_bert, "about BERT"),
    "BERT's names": (lambda tokenizer, model: _is_built_like_bert(model), "about BERT's parts"),
    "WordPiece only": (lambda tokenizer, model: _cuts_word_pieces(tokenizer), "about WordPiece"),
}
COMMENT = re.compile(rf"^\S.*# ({'|'.join(CONDITIONS)})$", re.M)


def setup(seed=0):
    """Put the notebook in a known state. This docstring names all global state that the course changes.

    - The random generators of Python, NumPy and torch start from `seed`.
    - transformers loads quietly: no progress bars, errors only. Its tokenizers no longer warn about forked processes.
    - matplotlib uses the course's style (`plots.STYLE`).
    - If COURSE_ENCODER names another encoder, IPython skips the cells in which a line ends with one of these comments,
      and they say so: `# packaged encoder only`; `# BERT only`, unless it and its tokenizer are BERT's; `# BERT's
      names`, unless its parts have the same names as BERT's (as RoBERTa's have); `# WordPiece only`, unless its
      tokenizer is WordPiece.
    - The record of hints shown by `hint` is cleared, so each exercise starts with its first hint again.

    Loaded encoders (`models.load_encoder`) and GloVe are cached for the session; `setup` leaves them alone.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

    import numpy as np
    import torch
    import transformers

    from . import plots
    from ._support import session

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    plots.use_style()
    session.hints_shown.clear()
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
    found = COMMENT.search("".join(lines))
    if found is None:
        return lines
    from .models import load_encoder

    holds, about = CONDITIONS[found[1]]
    return lines if holds(*load_encoder()) else [f'print("skipped: this cell is {about}")\n']
