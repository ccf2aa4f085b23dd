"""Attention as numbers. Derived in lesson 05, which draws it with bertviz.

`attentions` is always a tensor (layers, heads, tokens, tokens) for one sentence or pair of
sentences: row i of a head shows how token i distributes its attention, which sums to 1.0, over the
tokens.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ._support.routes import evaluating
from .models import load_encoder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from .models import Pair


def attend(
    text: str, pair: str | None = None, model: Pair | None = None
) -> tuple[list[str], torch.Tensor]:
    """Run one sentence (or a pair of sentences) through an encoder and return its attention
    weights.

    text, pair: strings. They are not truncated to the model's length; for more tokens than its
    position table has rows, 512 in BERT, the model raises an error of its own.
    model: what `load_encoder` or `load_masked_lm` returns; the course's encoder by default. For
    this call, the model uses the "eager" implementation, the only one that returns attention
    weights, and evaluation mode; both are restored afterwards.

    Returns (tokens, attentions): a list of n strings with those that the tokenizer adds, such as
    [CLS], and a tensor (layers, heads, n, n) on the CPU. Raises TypeError if `text` or `pair` is
    not a string.
    """
    for sentence in [text] if pair is None else [text, pair]:
        if not isinstance(sentence, str):
            raise TypeError(f"one sentence is wanted, as a string; got {type(sentence).__name__}")
    tokenizer, encoder = model or load_encoder()
    inputs = tokenizer(text, pair, return_tensors="pt").to(encoder.device)
    with eager(encoder), torch.inference_mode():
        weights = encoder(**inputs, output_attentions=True).attentions
    return list(tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])), torch.cat(weights).cpu()


@contextlib.contextmanager
def eager(encoder: PreTrainedModel) -> Generator[None]:
    """Use eager attention and evaluation mode, and restore both, even if interrupted: the model is
    shared.
    """
    own: Any = encoder.config._attn_implementation
    encoder.set_attn_implementation("eager")
    try:
        with evaluating(encoder):
            yield
    finally:
        encoder.set_attn_implementation(own)


def head_scores(attentions: torch.Tensor) -> dict[str, torch.Tensor]:
    """Measure what each head does: a dictionary from a measure's name to a tensor (layers, heads).

    "same", "previous", "next": the mean weight that a word piece gives to itself, to the piece
    before it and to the piece after it. "cls", "sep": the mean weight on the first and on the last
    token, [CLS] and [SEP]. "entropy": the mean entropy of a row in bits, 0 when all weight is on
    one token, log2(tokens) when it is spread evenly.

    attentions: of one sentence, (layers, heads, tokens, tokens). In those of a pair, the [SEP]
    between the sentences counts as a piece.

    Means are over the pieces between [CLS] and [SEP]; "previous" leaves out the first of them and
    "next" the last, which have no such neighbour there. Raises ValueError for fewer than two such
    pieces, and for another number of dimensions.
    """
    # at least [CLS], two pieces and [SEP]
    if attentions.ndim != 4 or attentions.shape[-1] < 4:
        raise ValueError(
            "attentions must be (layers, heads, tokens, tokens) with at least 4 tokens; got "
            f"{tuple(attentions.shape)}"
        )
    rows = attentions[:, :, 1:-1]  # how the pieces look at all tokens
    among_pieces = rows[..., 1:-1]  # how they look at each other
    return {
        "same": among_pieces.diagonal(dim1=-2, dim2=-1).mean(-1),
        "previous": among_pieces.diagonal(-1, dim1=-2, dim2=-1).mean(-1),
        "next": among_pieces.diagonal(1, dim1=-2, dim2=-1).mean(-1),
        "cls": rows[..., 0].mean(-1),
        "sep": rows[..., -1].mean(-1),
        # entr uses the natural logarithm
        "entropy": torch.special.entr(rows).sum(-1).mean(-1) / math.log(2),
    }


def patching_map(
    target: torch.Tensor,
    source: torch.Tensor,
    layers: Sequence[Callable[[torch.Tensor], torch.Tensor]],
) -> torch.Tensor:
    """How far a sentence vector moves when one vector on the way to it is replaced by another
    text's.

    target, source: hidden state 0, the output of the embeddings, of two texts of as many tokens:
    (1, tokens, hidden) each.
    layers: a list of functions; `layers[k - 1]` is layer k, which turns hidden state k - 1 into
    hidden state k, for several rows at a time. For BERT without padding: `model.encoder.layer`.

    Returns (len(layers) + 1, tokens): number [k, i] is the Euclidean length of the change of the
    target's sentence vector, the mean of its last hidden state, when token i of its hidden state k
    is replaced by the source's token i in hidden state k.
    """
    tokens = target.shape[1]
    states, source_states = [target], [source]
    for layer in layers:
        states.append(layer(states[-1]))
        source_states.append(layer(source_states[-1]))
    before = states[-1].mean(dim=1)
    moved = []  # of each hidden state: (tokens,)
    for number, (state, source_state) in enumerate(zip(states, source_states, strict=True)):
        patched = state.repeat(tokens, 1, 1)  # row i is patched at token i
        patched[range(tokens), range(tokens)] = source_state[0]
        for layer in layers[number:]:
            patched = layer(patched)
        moved.append((patched.mean(dim=1) - before).norm(dim=-1))
    return torch.stack(moved)
