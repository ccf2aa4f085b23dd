"""What explorers that use the encoder share: checks of a text, a run of it, and rounding."""

import contextlib
import functools
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ..attention import eager
from ..models import attention_maps, load_encoder
from ..pooling import mean_pool, normalise

# The most tokens of a text that an explorer can show, by its name (a key of `compute.ANSWERS`). The
# book's pages have a copy of this and of the next limit, in page/compute.js.
MOST_TOKENS = {
    "tokens": 256,
    "one head": 24,
    "silence": 18,
    "masks": 40,
    "pooling": 40,
    "padding": 60,
    "search": 60,
}
MOST_CHARACTERS = 20_000  # it takes too long to cut more into tokens


class ExploreError(ValueError):
    """The text or setting cannot be shown.

    The message says why, in a sentence for the learner who typed it.
    """


def checked(text: str) -> str:
    """The text as it is. Raises ExploreError if it is blank, or too long to be cut into tokens."""
    if not text.strip():
        raise ExploreError("Type a text.")
    if len(text) > MOST_CHARACTERS:
        raise ExploreError(
            f"This text has {len(text):,} characters; {MOST_CHARACTERS:,} can be shown."
        )
    return text


def tokens_of(text: str, name: str, tokenizer: Any = None) -> list[str]:
    """All tokens of a text, if the explorer of this name can show so many.

    name: a key of MOST_TOKENS. tokenizer: the encoder's, if none is given. Raises ExploreError if
    there are too many, or as `checked`.
    """
    tokenizer = tokenizer or load_encoder()[0]
    tokens = tokenizer(checked(text)).tokens()
    if len(tokens) > MOST_TOKENS[name]:
        raise ExploreError(
            f"This text has {len(tokens):,} tokens; {MOST_TOKENS[name]} can be shown here. Shorten it."
        )
    return tokens


def lines_of(text: str, most: int, things: str = "sentences") -> list[str]:
    """The lines of a text that are not blank, without spaces around them.

    things: what the message calls lines. Raises ExploreError if there are more than `most`.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > most:
        raise ExploreError(f"{len(lines)} {things}; {most} can be shown.")
    return lines


def rounded(values: Any, digits: int = 4) -> Any:
    """Round numbers, so that what goes to the page is short.

    values: a number, or numbers in lists, a tensor or an array, which become lists. Anything but a
    float stays as it is.
    """
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, list):
        return [rounded(value, digits) for value in values]
    # adding 0.0 makes 0.0 of -0.0, which would be shown with its sign
    return round(values, digits) + 0.0 if isinstance(values, float) else values


def run(
    texts: Sequence[str], silenced: Iterable[tuple[int, int]] = ()
) -> tuple[list[list[str]], torch.Tensor, Any]:
    """Run texts, each cut off after MOST_TOKENS["tokens"] tokens, through the course's encoder.

    silenced: (layer, head) pairs, layers from 1, whose context counts as 0.

    Returns (tokens of each text, attention_mask, output). The output has `hidden_states`, layers +
    1 tensors (texts, tokens, hidden), and `attentions`, a tensor (texts, heads, tokens, tokens) for
    each layer.
    """
    tokenizer, encoder = load_encoder()
    inputs = tokenizer(
        list(texts),
        padding=True,
        truncation=True,
        max_length=MOST_TOKENS["tokens"],
        return_tensors="pt",
    )
    head_size = encoder.config.hidden_size // encoder.config.num_attention_heads
    with contextlib.ExitStack() as hooks, eager(encoder), torch.inference_mode():
        for layer, head in silenced:
            mix = attention_maps(encoder)[layer - 1].output
            hook = functools.partial(
                _silence, of_head=slice(head_size * head, head_size * (head + 1))
            )
            hooks.enter_context(mix.register_forward_pre_hook(hook))
        output = encoder(**inputs, output_hidden_states=True, output_attentions=True)
    tokens = [inputs.tokens(row) for row in range(len(texts))]
    return tokens, inputs["attention_mask"], output


def _silence(module, inputs, of_head):
    """Set a head's part of the joined contexts, in which the heads stand side by side, to 0.

    It is a hook that runs before `module`, and returns other inputs for it.
    """
    joined = inputs[0].clone()
    joined[..., of_head] = 0
    return (joined,)


def sentence_vectors(
    texts: Sequence[str], silenced: Iterable[tuple[int, int]] = ()
) -> torch.Tensor:
    """The vectors of texts, pooled by the mean and of length 1: (texts, hidden).

    silenced: as in `run`, which also cuts long texts off.
    """
    _, mask, output = run(texts, silenced)
    return normalise(mean_pool(output.hidden_states[-1], mask))
