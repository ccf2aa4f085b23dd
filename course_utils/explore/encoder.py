"""What all explorers with the encoder share: checks of the text, a run of the encoder, and short
numbers.
"""

import contextlib
import functools
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ..attention import eager
from ..models import attention_maps, load_encoder
from ..pooling import mean_pool, normalise

MOST_TOKENS = {
    "tokens": 256,
    "one head": 24,
    "silence": 18,
    "masks": 40,
    "pooling": 40,
    "padding": 60,
    "search": 60,
}
MOST_CHARACTERS = 20_000


class ExploreError(ValueError):
    """The text or setting cannot be shown.

    The message says why, in a sentence for the learner who typed it.
    """


def checked(text: str) -> str:
    """The text, if it is one that can be shown."""
    if not text.strip():
        raise ExploreError("Type a text.")
    if len(text) > MOST_CHARACTERS:
        raise ExploreError(
            f"This text has {len(text):,} characters; {MOST_CHARACTERS:,} can be shown."
        )
    return text


def tokens_of(text: str, name: str, tokenizer: Any = None) -> list[str]:
    """The tokens of a text, none of them cut off, if the explorer of this name can show so many."""
    tokens = (tokenizer or load_encoder()[0])(checked(text)).tokens()
    if len(tokens) > MOST_TOKENS[name]:
        raise ExploreError(
            f"This text has {len(tokens):,} tokens; {MOST_TOKENS[name]} can be shown here. Shorten it."
        )
    return tokens


def lines_of(text: str, most: int, things: str = "sentences") -> list[str]:
    """The lines of a text that are not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > most:
        raise ExploreError(f"{len(lines)} {things}; {most} can be shown.")
    return lines


def rounded(values: Any, digits: int = 4) -> Any:
    """Numbers, also in lists, tensors and arrays, as rounded numbers in lists: what goes to the
    page is small.
    """
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, list):
        return [rounded(value, digits) for value in values]
    return round(values, digits) + 0.0 if isinstance(values, float) else values


def run(
    texts: Sequence[str], silenced: Iterable[tuple[int, int]] = ()
) -> tuple[list[list[str]], torch.Tensor, Any]:
    """Run texts through the course's encoder.

    silenced: (layer, head) pairs, layers from 1, whose context counts as 0.

    Returns (tokens of each text, attention_mask, output). The output has `hidden_states`, layers +
    1 tensors (texts, tokens, hidden), and `attentions`, a tensor (texts, heads, tokens, tokens) for
    each layer.
    """
    tokenizer, encoder = load_encoder()
    inputs = tokenizer(
        list(texts), padding=True, truncation=True, max_length=256, return_tensors="pt"
    )
    size = encoder.config.hidden_size // encoder.config.num_attention_heads
    with contextlib.ExitStack() as stack:
        for layer, head in silenced:
            mix = attention_maps(encoder)[layer - 1].output
            hook = functools.partial(_silence, place=slice(size * head, size * (head + 1)))
            stack.enter_context(mix.register_forward_pre_hook(hook))
        stack.enter_context(eager(encoder))
        with torch.inference_mode():
            output = encoder(**inputs, output_hidden_states=True, output_attentions=True)
    return list(map(inputs.tokens, range(len(texts)))), inputs["attention_mask"], output


def _silence(module, inputs, place):
    """Set a head's part of the joined contexts, in which the heads stand side by side, to 0."""
    joined = inputs[0].clone()
    joined[..., place] = 0
    return (joined,)


def sentence_vectors(
    texts: Sequence[str], silenced: Iterable[tuple[int, int]] = ()
) -> torch.Tensor:
    """The vectors of texts, pooled by the mean and of length 1: (texts, hidden)."""
    _, mask, output = run(texts, silenced)
    return normalise(mean_pool(output.hidden_states[-1], mask))
