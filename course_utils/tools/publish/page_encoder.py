"""Write the encoder for the explorers in the book: an ONNX graph in 8 bits, with everything that an
explorer shows.

The graph is that of `transformers.BertModel` (Devlin et al. 2019, section 3; Vaswani et al. 2017,
section 3), written below in ONNX's own notation, an operator a line, so that the same weights give
the same bytes. The word embeddings are int8 in blocks of 16; most matrices are 8-bit in blocks of
32, which onnxruntime's MatMulNBits multiplies with float32 activations, and those in `HALF` are
float16.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import ModelProto, helper, numpy_helper, parser

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from transformers import PreTrainedConfig

BLOCK = 16  # word embeddings that share a scale
MATRIX_BLOCK = 32  # weights of a matrix that share a scale
# Later layers magnify what is rounded in the first ones, and softmax what is rounded in the scores.
HALF = ("layer.0.", "layer.1.", ".attention.")  # weights kept in float16
STEPS = 127  # an 8-bit weight is one of -127 to 127, times its scale
MIDDLE = 128  # what MatMulNBits subtracts from its unsigned 8 bits
HEAD = "cls.predictions"

# Types are ONNX's numbers: 1 is float32. A name in quotes is that of a weight, or made from one.
GRAPH = """
encoder (
    int64[batch, tokens] input_ids, int64[batch, tokens] attention_mask,
    float[{layers}, {heads}] head_mask
) => ({outputs})
{{{operators}}}
"""
EMBEDDINGS = """
    found_codes = Gather (word_codes, input_ids)
    found_scales = Gather (word_scales, input_ids)
    wide_codes = Cast <to = 1> (found_codes)
    wide_scales = Cast <to = 1> (found_scales)
    blocks = Mul (wide_codes, wide_scales)
    words = Reshape (blocks, joined)
    shape = Shape (input_ids)
    length = Slice (shape, one, two)
    used_places = Slice (places, zero, length, zero)
    embedded = Add (words, used_places)
    states_0 = LayerNormalization <axis = -1, epsilon = {epsilon}> (
        embedded, "{prefix}embeddings.LayerNorm.weight", "{prefix}embeddings.LayerNorm.bias")
    seen = Cast <to = 1> (attention_mask)
    unseen = Sub (one_float, seen)
    lowered = Mul (unseen, lowest)
    hidden_by = Unsqueeze (lowered, one_and_two)
"""
# From states_{before} to states_{after}. A head's mask multiplies its context.
LAYER = """
    {query}
    {key}
    {value}
    query_rows_{after} = Reshape ("{name}.attention.self.query", of_heads)
    key_rows_{after} = Reshape ("{name}.attention.self.key", of_heads)
    value_rows_{after} = Reshape ("{name}.attention.self.value", of_heads)
    queries_{after} = Transpose <perm = [0, 2, 1, 3]> (query_rows_{after})
    keys_{after} = Transpose <perm = [0, 2, 1, 3]> (key_rows_{after})
    values_{after} = Transpose <perm = [0, 2, 1, 3]> (value_rows_{after})
    turned_{after} = Transpose <perm = [0, 1, 3, 2]> (keys_{after})
    products_{after} = MatMul (queries_{after}, turned_{after})
    scores_{after} = Mul (products_{after}, scale)
    masked_{after} = Add (scores_{after}, hidden_by)
    shares_{after} = Softmax <axis = -1> (masked_{after})
    context_{after} = MatMul (shares_{after}, values_{after})
    number_{after} = Constant <value_ints = [{before}]> ()
    of_layer_{after} = Gather <axis = 0> (head_mask, number_{after})
    of_each_head_{after} = Unsqueeze (of_layer_{after}, two_and_three)
    kept_{after} = Mul (context_{after}, of_each_head_{after})
    kept_rows_{after} = Transpose <perm = [0, 2, 1, 3]> (kept_{after})
    whole_{after} = Reshape (kept_rows_{after}, joined)
    {mixed}
    attended_{after} = Add ("{name}.attention.output.dense", states_{before})
    between_{after} = LayerNormalization <axis = -1, epsilon = {epsilon}> (
        attended_{after}, "{name}.attention.output.LayerNorm.weight",
        "{name}.attention.output.LayerNorm.bias")
    {wide}
    active_{after} = Gelu ("{name}.intermediate.dense")
    {narrow}
    grown_{after} = Add ("{name}.output.dense", between_{after})
    states_{after} = LayerNormalization <axis = -1, epsilon = {epsilon}> (
        grown_{after}, "{name}.output.LayerNorm.weight", "{name}.output.LayerNorm.bias")
"""
# The table of the words is the output matrix, too.
MASKED_LM = """
    {transform}
    head_active = Gelu ("{head}.transform.dense")
    top = LayerNormalization <axis = -1, epsilon = {epsilon}> (
        head_active, "{head}.transform.LayerNorm.weight", "{head}.transform.LayerNorm.bias")
    table_codes = Cast <to = 1> (word_codes)
    table_scales = Cast <to = 1> (word_scales)
    table_blocks = Mul (table_codes, table_scales)
    table = Reshape (table_blocks, rows)
    turned_table = Transpose <perm = [1, 0]> (table)
    word_products = MatMul (top, turned_table)
    logits = Add (word_products, "{head}.bias")
"""
# states weightᵀ + bias
LINEAR_HALF = """
    "{name}.float" = Cast <to = 1> ("{name}.half")
    "{name}.product" = MatMul ({states}, "{name}.float")
    "{name}" = Add ("{name}.product", "{name}.bias")
"""
LINEAR = """
    "{name}.product" = com.microsoft.MatMulNBits <
        K = {columns}, N = {rows}, bits = 8, block_size = {block}
    > ({states}, "{name}.codes", "{name}.scales")
    "{name}" = Add ("{name}.product", "{name}.bias")
"""
# each layer's part of an output: its name there, and in the operators above
COLLECTED = {
    "hidden_states": "states",
    "attentions": "shares",
    "queries": "queries",
    "keys": "keys",
    "values": "values",
}


class Graph:
    """The operators of an encoder as text, and its weights as they are stored."""

    def __init__(
        self, weights: Mapping[str, torch.Tensor], config: PreTrainedConfig, prefix: str
    ) -> None:
        self.weights = {name: weight.numpy() for name, weight in weights.items()}
        self.heads: int = config.num_attention_heads
        self.epsilon: float = config.layer_norm_eps
        self.prefix = prefix
        self.layers = sum(name.endswith(".attention.output.dense.bias") for name in weights)
        self.constants: dict[str, Any] = {}

    def linear(self, name: str, states: str) -> str:
        """The operators of a linear layer, whose weight is in 8-bit blocks along its inputs, or in
        float16.
        """
        matrix = self.weights[f"{name}.weight"]
        rows, columns = matrix.shape
        if any(part in name for part in HALF):
            self.constants[f"{name}.half"] = matrix.T.astype(np.float16)
            return LINEAR_HALF.format(name=name, states=states)
        codes, scales = quantised(matrix.reshape(rows, columns // MATRIX_BLOCK, MATRIX_BLOCK))
        self.constants[f"{name}.codes"] = (codes + MIDDLE).astype(np.uint8)
        self.constants[f"{name}.scales"] = scales.reshape(-1)
        return LINEAR.format(
            name=name, states=states, rows=rows, columns=columns, block=MATRIX_BLOCK
        )

    def embeddings(self) -> str:
        table = self.weights[f"{self.prefix}embeddings.word_embeddings.weight"]
        hidden = table.shape[1]
        size = hidden // self.heads
        codes, scales = quantised(table.reshape(-1, hidden // BLOCK, BLOCK), np.float16)
        of_places = self.weights[f"{self.prefix}embeddings.position_embeddings.weight"]
        of_types = self.weights[f"{self.prefix}embeddings.token_type_embeddings.weight"]
        self.constants |= {
            "word_codes": codes.astype(np.int8),
            "word_scales": scales,
            "places": of_places + of_types[0],
            "one_float": np.float32(1),
            # is added to the scores of a token that may not be looked at
            "lowest": np.finfo(np.float32).min,
            "scale": np.float32(size**-0.5),
            "zero": np.array([0]),
            "one": np.array([1]),
            "two": np.array([2]),
            "one_and_two": np.array([1, 2]),
            "two_and_three": np.array([2, 3]),
            "of_heads": np.array([0, 0, self.heads, size]),
            "joined": np.array([0, 0, hidden]),
            "rows": np.array([-1, hidden]),
        }
        return EMBEDDINGS.format(prefix=self.prefix, epsilon=self.epsilon)

    def layer(self, before: int) -> str:
        name = f"{self.prefix}encoder.layer.{before}"
        after = before + 1
        return LAYER.format(
            name=name,
            before=before,
            after=after,
            epsilon=self.epsilon,
            query=self.linear(f"{name}.attention.self.query", f"states_{before}"),
            key=self.linear(f"{name}.attention.self.key", f"states_{before}"),
            value=self.linear(f"{name}.attention.self.value", f"states_{before}"),
            mixed=self.linear(f"{name}.attention.output.dense", f"whole_{after}"),
            wide=self.linear(f"{name}.intermediate.dense", f"between_{after}"),
            narrow=self.linear(f"{name}.output.dense", f"active_{after}"),
        )

    def masked_lm(self) -> str:
        transform = self.linear(f"{HEAD}.transform.dense", f"states_{self.layers}")
        return MASKED_LM.format(head=HEAD, epsilon=self.epsilon, transform=transform)

    def collected(self, output: str) -> str:
        """The operators that put the parts of all layers together, the first hidden state included."""
        first = 0 if output == "hidden_states" else 1
        parts = [f"{COLLECTED[output]}_{number}" for number in range(first, self.layers + 1)]
        wide = [f"    {output}_of_{part} = Unsqueeze ({part}, zero)" for part in parts]
        together = ", ".join(f"{output}_of_{part}" for part in parts)
        return "\n".join([*wide, f"    {output} = Concat <axis = 0> ({together})\n"])

    def model(self) -> ModelProto:
        operators = [self.embeddings()]
        operators += [self.layer(number) for number in range(self.layers)]
        operators += [self.collected(output) for output in COLLECTED]
        outputs = list(COLLECTED)
        if f"{HEAD}.bias" in self.weights:
            operators.append(self.masked_lm())
            outputs.append("logits")
        graph = parser.parse_graph(
            GRAPH.format(
                layers=self.layers,
                heads=self.heads,
                outputs=", ".join(f"float[] {output}" for output in outputs),
                operators="".join(operators),
            )
        )
        wanted = {name for node in graph.node for name in node.input}
        arrays = self.weights | self.constants
        stored = {name: array for name, array in arrays.items() if name in wanted}
        for name, array in stored.items():
            graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        # 20 is the first version with Gelu
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def quantised(
    values: np.ndarray, kind: type[np.floating] = np.float32
) -> tuple[np.ndarray, np.ndarray]:
    """(whole numbers from -127 to 127, scales of `kind`) of an array.

    There is one scale for each row of its last axis.
    """
    largest = np.maximum(np.abs(values).max(-1, keepdims=True), 1e-6)
    scales = (largest / STEPS).astype(kind)
    codes = np.round(values / scales.astype(np.float32))
    return np.clip(codes, -STEPS, STEPS).astype(np.int16), scales


def write_encoder(
    path: str | Path,
    weights: Mapping[str, torch.Tensor],
    config: PreTrainedConfig,
    prefix: str = "",
) -> Path:
    """Write a BertModel, or a BertForMaskedLM with a tied head if `weights` have one, as ONNX to
    `path`.

    weights: tensors by name. config: `num_attention_heads` and `layer_norm_eps` of the model's
    configuration. prefix: before the names of the encoder's weights.

    Inputs of the graph: `input_ids` and `attention_mask`, int64 (batch, tokens); `head_mask`,
    float32 (layers, heads). Outputs: `hidden_states` (layers + 1, batch, tokens, hidden);
    `attentions` (layers, batch, heads, tokens, tokens); `queries`, `keys` and `values` (layers,
    batch, heads, tokens, size of a head); with a head also `logits` (batch, tokens, vocabulary). A
    head's mask multiplies its context, as in "Are sixteen heads really better than one?" (Michel et
    al. 2019, section 2.3); `attentions` are those before it.

    The same weights give the same bytes. Returns the path.
    """
    path = Path(path)
    model = Graph(weights, config, prefix).model()
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path
