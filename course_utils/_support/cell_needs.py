"""How lessons run with another encoder than the packaged one: the line with the checkpoint's name
is changed, and some cells are skipped.

The tags of those cells say what they need.
"""

import os
import re
from collections.abc import Callable
from typing import Any

from .bars import ipython_shell
from .hub_cache import PUBLIC_NAME
from .notebooks import cells_with_needs

CHECKPOINT = re.compile(rf'checkpoint = "{PUBLIC_NAME}"$', re.MULTILINE)
# tags of cells, and what the cell is about
CONDITIONS = {
    "needs-packaged-encoder": "the packaged encoder",
    "needs-bert": "BERT",
    "needs-bert-parts": "BERT's parts",
    "needs-wordpiece": "WordPiece",
}


def _is_met(need: str, tokenizer: Any, model: Any) -> bool:
    """Whether cells with a tag of CONDITIONS can run with an encoder that is not the packaged one."""
    return {
        "needs-packaged-encoder": False,
        # multilingual encoders often have BERT's model, and the tokenizer of XLM-RoBERTa
        "needs-bert": model.config.model_type == "bert"
        and "token_type_ids" in tokenizer.model_input_names,
        "needs-bert-parts": {"encoder.layer.0.attention.self.query", "pooler.dense"}
        <= dict(model.named_modules()).keys(),
        "needs-wordpiece": type(tokenizer.backend_tokenizer.model).__name__ == "WordPiece",
    }[need]


def adapt_cells(another: str | None, load_encoder: Callable[[], tuple[Any, Any]]) -> None:
    """Let IPython, if it runs, put another encoder into a lesson's line with the checkpoint, and
    skip cells that do not work with it.

    another: a hub name or a folder; None leaves all cells as they are.
    load_encoder: returns (tokenizer, model) of that encoder; called for each cell that has a need.
    """
    shell = ipython_shell()
    if shell is None:
        return
    steps = shell.input_transformers_cleanup
    # an earlier call may have added its `adapted`, for this encoder or another
    steps[:] = [step for step in steps if getattr(step, "__name__", "") != "adapted"]
    if another is None:
        return
    folder = os.path.abspath(os.path.expanduser(another))
    name = folder if os.path.isdir(folder) else another
    # in one line: the line numbers of errors stay those of the cell
    line = f'checkpoint = {name!r}; print("checkpoint:", checkpoint, "(COURSE_ENCODER)")'

    def adapted(lines: list[str]) -> list[str]:
        """The lines of a cell with the other encoder, or a line that prints why the cell is
        skipped.
        """
        source = "".join(lines)
        for need in _needs(source.strip()):
            if not _is_met(need, *load_encoder()):
                return [f'print("skipped: this cell is about {CONDITIONS[need]}")\n']
        # by a function, since `sub` would read the backslashes of a Windows path as escapes
        return CHECKPOINT.sub(lambda _: line, source).splitlines(keepends=True)

    steps.append(adapted)


def _needs(source: str) -> list[str]:
    """The tags in CONDITIONS of the cell that is run. source: the cell's, stripped.

    JupyterLab sends a cell's tags with the request, so a cell is recognised after a learner has
    edited it. Other programs send the text alone, which is looked up in the source lessons.
    """
    # The request that runs this cell. Only the shell of a kernel has `get_parent`; without a kernel,
    # the request is empty.
    request = getattr(ipython_shell(), "get_parent", dict)() or {}
    tags = request.get("metadata", {}).get("tags", ())
    return [tag for tag in tags if tag in CONDITIONS] or [
        tag
        for text, is_answer, tag in cells_with_needs()
        if source == text or (is_answer and text and source.startswith(text))
    ]
