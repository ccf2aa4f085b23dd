"""Turn the packaged sentence encoder into a masked language model with `adapter.safetensors`.

The file holds differences from the packaged weights (from zeros for the head, which the encoder
does not have): tables as 8-bit integers with one scale per row, everything else in float32.
`trainings/adapter.py` made it; `trainings/adapter.md` is its model card.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import BertForMaskedLM, PreTrainedModel

ADAPTER = Path(__file__).parents[1] / "trainings" / "adapter.safetensors"
SCALE = ".scale"  # ends the names of the tensors with the scales of a table
# the table of the words' vectors, which the head uses, too: the two are tied
EMBEDDINGS = "bert.embeddings.word_embeddings.weight"


def masked_lm_on(encoder: PreTrainedModel) -> BertForMaskedLM:
    """A BertForMaskedLM with the weights of `encoder` (a BertModel) and an untrained head.

    The head's output weights are tied to the word embeddings.
    """
    # the head is initialised at random; the caller's generator stays unchanged
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config: Any = encoder.config
        model = BertForMaskedLM(config)
    model.bert.load_state_dict(
        {
            name: value
            for name, value in encoder.state_dict().items()
            if not name.startswith("pooler.")  # which a BertForMaskedLM does not have
        }
    )
    return model.eval()


def learned(model: BertForMaskedLM) -> dict[str, torch.nn.Parameter]:
    """The trained parameters, by name: all but the position and segment embeddings and the
    embedding LayerNorm.
    """
    return {
        name: value
        for name, value in model.named_parameters()
        if name == EMBEDDINGS or not name.startswith("bert.embeddings.")
    }


def _bases(model: BertForMaskedLM, encoder: PreTrainedModel) -> dict[str, torch.Tensor]:
    """The weights to which differences are added, by name: the encoder's; zeros for the head."""
    of_encoder = {f"bert.{name}": value for name, value in encoder.named_parameters()}
    return {name: of_encoder.get(name, value * 0) for name, value in learned(model).items()}


def differences(model: BertForMaskedLM, encoder: PreTrainedModel) -> dict[str, torch.Tensor]:
    """The tensors with which `apply` turns `encoder` into `model`, up to rounding.

    A vector has its differences in float32 under the parameter's name. A table has them as 8-bit
    integers, and under the name + SCALE their float32 scales (rows, 1): about one byte per weight.
    """
    tensors = {}
    values = learned(model)
    with torch.no_grad():
        for name, base in _bases(model, encoder).items():
            change = values[name] - base
            if change.ndim < 2:
                tensors[name] = change.contiguous()
            else:
                # The largest difference of a row becomes 127, the largest 8-bit integer. The bound
                # keeps a row without differences from being divided by 0.
                scale = change.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
                tensors[name] = (change / scale).round().to(torch.int8)
                tensors[name + SCALE] = scale
    return tensors


def apply(
    model: BertForMaskedLM, encoder: PreTrainedModel, tensors: Mapping[str, torch.Tensor]
) -> BertForMaskedLM:
    """Give `model` the weights of `encoder` plus the stored differences. Returns `model`.

    model: from `masked_lm_on(encoder)`, changed in place. tensors: as `differences` returns them.
    Raises ValueError if they are for another model; `model` may be half changed then.
    """
    values = learned(model)
    with torch.no_grad():
        for name, base in _bases(model, encoder).items():
            if name not in tensors or tensors[name].shape != base.shape:
                raise ValueError(
                    f"the adapter does not fit this encoder: {name} is missing or of another shape"
                )
            values[name].copy_(base + tensors[name] * tensors.get(name + SCALE, 1))
    return model
