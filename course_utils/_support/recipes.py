"""Functions that checks pass to answers, each with a `recipe` to make it again in the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def _made_by(function: Any, *recipe: Any) -> Any:
    """The function, with its recipe: the name of a function of this module, and its arguments.

    `tools/grading/wire.py` sends the recipe to the sandbox, and calls that function there.
    """
    function.recipe = recipe
    return function


def linear_maker(
    weight: torch.Tensor, rate: float
) -> Callable[[], tuple[torch.nn.Module, torch.optim.Optimizer]]:
    """A function that makes the same new linear model and its optimiser on each call.

    weight: (classes, width); the bias is 0. rate: the learning rate.
    """
    import torch

    def make() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
        model = torch.nn.Linear(weight.shape[1], weight.shape[0])
        model.load_state_dict({"weight": weight.clone(), "bias": torch.zeros(weight.shape[0])})
        return model, torch.optim.SGD(model.parameters(), lr=rate)

    return _made_by(make, "linear_maker", weight, rate)


def layer_maker(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function that stands in for a layer: one head of attention, the residual connection, a norm.

    query, key, value: (hidden, hidden). The function takes hidden states (batch, tokens, hidden)
    and returns the next.
    """

    def layer(states: torch.Tensor) -> torch.Tensor:
        scores = (states @ query) @ (states @ key).transpose(-1, -2) / states.shape[-1] ** 0.5
        attended = states + scores.softmax(dim=-1) @ (states @ value)
        return attended / attended.std(dim=-1, keepdim=True)

    return _made_by(layer, "layer_maker", query, key, value)


def small_encoder(
    token_table: torch.Tensor, position_table: torch.Tensor, rule: str, leak: float = 1.0
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """An encoder of one attention layer: from (input_ids, attention_mask) to a vector per position.

    The function takes two (batch, tokens) tensors and returns (batch, tokens, hidden).

    token_table, position_table: (vocabulary, hidden) and (positions, hidden).
    rule: how it lets padding through: "none" ignores the mask, "product" multiplies scores by it,
    "ends" treats the first and the last position of each row as real, "one" ignores the mask for
    the last real token of each row.
    leak: how much of the rule holds, from 0.0, where padding is hidden, to 1.0.
    """

    def encode(input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        vectors = token_table[input_ids] + position_table[: input_ids.shape[1]]
        scores = vectors @ vectors.transpose(1, 2) / vectors.shape[-1] ** 0.5
        real = (attention_mask == 1)[:, None]  # for each position, those to which it may attend
        masked = scores.masked_fill(~real, -float("inf")).softmax(dim=-1)
        unmasked = scores.softmax(dim=-1)
        with_ends = real.clone()
        with_ends[..., [0, -1]] = True
        # the last real token of a row: there, the count of real tokens reaches that of the row
        last = (
            (attention_mask.cumsum(dim=1) == attention_mask.sum(dim=1, keepdim=True))
            & (attention_mask == 1)
        )[..., None]
        weights = {
            "none": unmasked,
            "product": (scores * real).softmax(dim=-1),
            "ends": scores.masked_fill(~with_ends, -float("inf")).softmax(dim=-1),
            "one": masked + last * (unmasked - masked),
        }[rule]
        return (masked + leak * (weights - masked)) @ vectors

    return _made_by(encode, "small_encoder", token_table, position_table, rule, leak)
