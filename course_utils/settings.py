"""What a lesson's first cell switches on."""

import os
import random


def setup(seed=0):
    """Put the notebook in a known state. All the global state that the course touches is named here.

    - The random generators of Python, NumPy and torch start from `seed`.
    - transformers keeps quiet while it loads: no progress bars, errors only. The same holds for its tokenizers,
      which would otherwise warn about processes that are forked.
    - matplotlib draws in the course's one style (`plots.STYLE`).
    - The hints already shown by `hint` are forgotten, so each exercise starts with its first hint again.

    A loaded encoder is kept for the whole session (`models.load_encoder`), as is GloVe; `setup` leaves both alone.
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
