"""Cells that an encoder other than the packaged one skips: their tags say what they need."""

import sys

from .notebooks import tagged


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


def skip_cells(load_encoder):
    """Let IPython skip the cells that the encoder of `load_encoder()` cannot run, if there is IPython.

    load_encoder: called at the first cell with a tag; None if no cell is to be skipped.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    steps = shell.input_transformers_cleanup

    def or_skipped(lines):
        """The lines of a cell, or one that prints why it is skipped."""
        if (need := _need("".join(lines))) is None:
            return lines
        holds, about = CONDITIONS[need]
        return lines if holds(*load_encoder()) else [f'print("skipped: this cell is {about}")\n']

    steps[:] = [step for step in steps if getattr(step, "__name__", "") != or_skipped.__name__]
    if load_encoder is not None:
        steps.append(or_skipped)


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
