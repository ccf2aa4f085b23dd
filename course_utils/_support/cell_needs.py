"""What an encoder other than the packaged one changes in lessons: the checkpoint's line, and cells
that it skips.

The tags of those cells say what they need.
"""

import os
import re
from collections.abc import Callable
from typing import Any

from .bars import ipython_shell
from .hub_cache import PUBLIC_NAME
from .notebooks import tagged

CHECKPOINT = re.compile(rf'checkpoint = "{PUBLIC_NAME}"$', re.MULTILINE)


def _is_bert(tokenizer: Any, model: Any) -> bool:
    """Not only BERT's model: multilingual encoders often have one, and the tokenizer of
    XLM-RoBERTa.
    """
    return model.config.model_type == "bert" and "token_type_ids" in tokenizer.model_input_names


def _is_built_like_bert(model: Any) -> bool:
    return {"encoder.layer.0.attention.self.query", "pooler.dense"} <= dict(
        model.named_modules()
    ).keys()


def _cuts_word_pieces(tokenizer: Any) -> bool:
    return type(tokenizer.backend_tokenizer.model).__name__ == "WordPiece"


# Tags of cells: what an encoder must be to run the cell, and what the cell is about.
CONDITIONS = {
    "needs-packaged-encoder": (lambda tokenizer, model: False, "about the packaged encoder"),
    "needs-bert": (_is_bert, "about BERT"),
    "needs-bert-parts": (lambda tokenizer, model: _is_built_like_bert(model), "about BERT's parts"),
    "needs-wordpiece": (lambda tokenizer, model: _cuts_word_pieces(tokenizer), "about WordPiece"),
}


def adapt_cells(another: str | None, load_encoder: Callable[[], tuple[Any, Any]]) -> None:
    """Let IPython put another encoder into a lesson's line, and skip cells that it cannot run, if
    there is IPython.

    another: a hub name or a folder; None leaves all cells as they are. load_encoder: called for a
    cell with a tag.
    """
    shell = ipython_shell()
    if shell is None:
        return
    steps = shell.input_transformers_cleanup

    def adapted(lines):
        """The lines of a cell with the other encoder, or one that prints why the cell is
        skipped.
        """
        source = "".join(lines)
        if (need := _need(source)) is not None:
            holds, about = CONDITIONS[need]
            if not holds(*load_encoder()):
                return [f'print("skipped: this cell is {about}")\n']
        return CHECKPOINT.sub(lambda _: line, source).splitlines(keepends=True)

    steps[:] = [step for step in steps if getattr(step, "__name__", "") != adapted.__name__]
    if another is not None:
        folder = os.path.abspath(os.path.expanduser(another))
        name = folder if os.path.isdir(folder) else another
        line = f'checkpoint = {name!r}; print("checkpoint:", checkpoint, "(COURSE_ENCODER)")'
        steps.append(adapted)


def _need(source: str) -> str | None:
    """The tag in CONDITIONS of the cell that is run, or None.

    JupyterLab sends a cell's tags with the request, so a cell is recognised after a learner has
    edited it. Other programs send the text alone, which is looked up in the source lessons.
    """
    from IPython import get_ipython

    # an IPython without a kernel has none
    request = getattr(get_ipython(), "get_parent", dict)() or {}
    for tag in request.get("metadata", {}).get("tags", ()):
        if tag in CONDITIONS:
            return tag
    source = source.strip()
    for text, is_answer, tag in tagged("needs-"):
        if source == text or (is_answer and text and source.startswith(text)):
            return tag
    return None
