"""BERT's forward pass for inference, over sentences packed without padding. Used by `embed`.

Lessons 04 and 09 explain what it computes. The arithmetic is that of `transformers.BertModel`
(Devlin et al. 2019, section 3; Vaswani et al. 2017, section 3), whose weights it reads. It is
faster because there is no padding, because queries, keys and values come from one product, and
because the weights are prepacked for oneDNN, as `torch.compile` does: torch's plain float32 product
uses MKL, which leaves half of some processors idle.
"""

import functools
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn.functional import gelu, layer_norm, linear

from .downloads import packaged_encoder

PACKED_TOKENS = 4096  # in one forward pass; the weights are prepacked for about this many
# attention scores of all heads computed at a time: 0.6 MB, about what fits a core's cache
SCORES_AT_A_TIME = 150_000
SHORT_ROW = 24  # scores in a row, below which exp is faster than torch's softmax
# from states (tokens, in) to (tokens, out)
Product = Callable[[torch.Tensor], torch.Tensor]
Norm = tuple[torch.Tensor, torch.Tensor]  # weight, bias of a LayerNorm


def fits(encoder: Any) -> bool:
    """Whether `packed_bert` computes what `encoder` does: a plain BertModel in float32 on the CPU,
    with GELU, absolute positions, modules of torch and transformers only, and no hooks but those
    of transformers.
    """
    from transformers import BertModel

    config = encoder.config
    modules = list(encoder.modules())
    hooks = [
        hook
        for module in modules
        for hook in (*module._forward_hooks.values(), *module._forward_pre_hooks.values())
    ]
    return (
        (type(encoder), encoder.device.type, encoder.dtype) == (BertModel, "cpu", torch.float32)
        and config.hidden_act == "gelu"
        and not config.is_decoder
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
        and all(
            type(module).__module__.startswith(("torch.nn.", "transformers.")) for module in modules
        )
        # transformers' own hooks remain after output_hidden_states
        and all(str(getattr(hook, "__module__", "")).startswith("transformers.") for hook in hooks)
    )


def packed_bert(
    weights: Mapping[str, torch.Tensor],
    heads: int,
    epsilon: float,
    dtype: torch.dtype = torch.float32,
    lay_out: bool = True,
) -> Callable[[Sequence[Sequence[int]]], Iterator[tuple[int, torch.Tensor]]]:
    """A function from sentences to the `last_hidden_state` of their tokens. It takes one sentence
    or more, as lists of one token id or more.

    weights: tensors by their names in a BertModel.
    heads, epsilon: num_attention_heads and layer_norm_eps of its configuration.
    dtype: of the matrix products. The residual stream and its normalisation stay in float32.
    lay_out: prepack the weights for the processor; not worth the time for few tokens.

    The function yields (start, states): for each group of adjacent sentences of equal length, the
    index of the first one, and a float32 tensor (sentences, tokens, hidden). Sort sentences by
    length first, so that groups are large.
    """
    word_embeddings = weights["embeddings.word_embeddings.weight"]
    # all tokens have the type 0, as those of a first sentence
    position_embeddings = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = word_embeddings.shape[1]
    layers = _layers(weights, heads, dtype, lay_out)

    def normalised(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return layer_norm(states, (hidden,), weight, bias, epsilon)

    def forward(rows: Sequence[Sequence[int]]) -> Iterator[tuple[int, torch.Tensor]]:
        lengths = [len(row) for row in rows]
        groups = list(_groups(lengths, heads))
        ids = torch.tensor([token_id for row in rows for token_id in row])
        states = normalised(
            word_embeddings[ids] + torch.cat([position_embeddings[:length] for length in lengths]),
            *_weight_and_bias(weights, "embeddings.LayerNorm"),
        )
        attended = torch.empty(len(ids), hidden, dtype=dtype)
        for query_key_value, output, first_norm, up, down, second_norm in layers:
            _attend_in_groups(query_key_value(states.to(dtype)), groups, heads, attended)
            states = normalised(states.add_(output(attended)), *first_norm)
            states = normalised(states.add_(down(up(states.to(dtype)))), *second_norm)
        for row, start, end, count, length in groups:
            yield row, states[start:end].view(count, length, hidden)

    return forward


def _layers(
    weights: Mapping[str, torch.Tensor], heads: int, dtype: torch.dtype, lay_out: bool
) -> list[tuple[Product, Product, Norm, Product, Product, Norm]]:
    """The six steps of each layer in order: products are functions, norms are (weight, bias).

    To queries, keys and values side by side; to the output of attention; its norm; up and down in
    the feed-forward part; its norm.
    """

    def dense(name: str, activation: str = "none") -> Product:
        return _product(*_weight_and_bias(weights, name), dtype, activation, lay_out)

    def query_key_value(layer: str) -> Product:
        (query, query_bias), (key, key_bias), (value, value_bias) = (
            _weight_and_bias(weights, f"{layer}.attention.self.{part}")
            for part in ("query", "key", "value")
        )
        scale = (len(query) // heads) ** -0.5  # scale of the scores, folded into the queries
        return _product(
            torch.cat([query * scale, key, value]),
            torch.cat([query_bias * scale, key_bias, value_bias]),
            dtype,
            "none",
            lay_out,
        )

    layers = []
    while f"encoder.layer.{len(layers)}.output.dense.weight" in weights:
        layer = f"encoder.layer.{len(layers)}"
        layers.append(
            (
                query_key_value(layer),
                dense(f"{layer}.attention.output.dense"),
                _weight_and_bias(weights, f"{layer}.attention.output.LayerNorm"),
                dense(f"{layer}.intermediate.dense", "gelu"),
                dense(f"{layer}.output.dense"),
                _weight_and_bias(weights, f"{layer}.output.LayerNorm"),
            )
        )
    return layers


def _weight_and_bias(
    weights: Mapping[str, torch.Tensor], name: str
) -> tuple[torch.Tensor, torch.Tensor]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _groups(lengths: Sequence[int], heads: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield (first row, first token, end token, rows, tokens per row) for each group of adjacent
    rows of equal length, whose scores are at most SCORES_AT_A_TIME.
    """
    row = start = 0
    while row < len(lengths):
        length, count = lengths[row], 1
        # a row has length² scores in each head
        most_rows = max(1, SCORES_AT_A_TIME // (heads * length**2))
        while count < most_rows and row + count < len(lengths) and lengths[row + count] == length:
            count += 1
        yield row, start, start + count * length, count, length
        row, start = row + count, start + count * length


def _attend_in_groups(
    queries_keys_values: torch.Tensor,
    groups: Iterable[tuple[int, int, int, int, int]],
    heads: int,
    attended: torch.Tensor,
) -> None:
    """Write into `attended`, for the tokens of each group, what all heads make of them.

    queries_keys_values: (tokens, 3 * hidden). attended: (tokens, hidden).
    """
    for _, start, end, count, length in groups:
        # each of the three becomes (rows * heads, tokens, size of a head)
        query, key, value = (
            queries_keys_values[start:end]
            .view(count, length, 3, heads, -1)
            .permute(2, 0, 3, 1, 4)  # (3, rows, heads, tokens, size of a head)
            .reshape(3, count * heads, length, -1)
        )
        context = _attend(query, key, value).view(count, heads, length, -1)
        # in `attended`, the heads of a token stand side by side again
        attended[start:end].view(count, length, heads, -1).copy_(context.transpose(1, 2))


def _attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """softmax(query keyᵀ) value, over (sentences and heads, tokens, size of a head).

    torch's softmax is slow for short rows and for bfloat16. For those, the weights are exp(scores),
    divided by their sum afterwards; if the sums show an overflow or underflow, softmax is used
    after all.
    """
    scores = query @ key.mT
    if scores.shape[-1] < SHORT_ROW or scores.dtype == torch.bfloat16:
        weights = scores.exp()
        total = weights.sum(-1, keepdim=True)
        low, high = total.aminmax()
        # float32 and bfloat16 reach from 1e-38 to 3e38; the rest is room for single weights and for
        # the product with the values
        if low > 1e-30 and high < 1e35:
            return (weights @ value).div_(total)
    return scores.softmax(-1) @ value


def _product(
    weight: torch.Tensor,
    bias: torch.Tensor,
    dtype: torch.dtype,
    activation: str = "none",
    lay_out: bool = True,
) -> Product:
    """A function from (tokens, in) to (tokens, out): apply weight and bias, then the activation.

    weight: (out, in). bias: (out,). activation: "gelu" or "none". dtype, lay_out: as for
    `packed_bert`.
    """
    weight, bias = weight.to(dtype), bias.to(dtype)
    # the processors on which oneDNN was tested
    is_tested = platform.machine().lower() in ("x86_64", "amd64")
    if lay_out and is_tested and torch.backends.mkldnn.is_available():
        ready = torch.ops.mkldnn._reorder_linear_weight(weight, PACKED_TOKENS)
        # [] and "none": the activation has no parameters, and GELU is the exact one
        return lambda states: torch.ops.mkldnn._linear_pointwise(
            states, ready, bias, activation, [], "none"
        )
    if activation == "gelu":
        return lambda states: gelu(linear(states, weight, bias))
    return lambda states: linear(states, weight, bias)


@functools.cache
def packaged_weights() -> tuple[Any, dict[str, torch.Tensor], SimpleNamespace] | None:
    """(tokenizer, weights by name, configuration) of the packaged encoder, without transformers.

    Each call returns the same objects. Returns None if another file than the weights is damaged or
    missing; raises EncoderError, as `packaged_encoder` does, if the weights are.
    """
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    folder = packaged_encoder()
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        settings = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
        tokenizer.enable_truncation(settings["max_seq_length"])
        config = SimpleNamespace(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
        return tokenizer, load_file(folder / "model.safetensors"), config
    except Exception:  # damaged or incomplete: load_encoder says how
        return None
