"""Write the encoder for the explorers in the book: an ONNX graph in 8 bits, with everything that an
explorer shows.

The graph is that of `transformers.BertModel` (Devlin et al. 2019, section 3; Vaswani et al. 2017,
section 3), written in ONNX's own notation in templates/encoder.onnx.j2, an operator a line, so that
the same weights give the same bytes. The word embeddings are int8 in blocks of 16; most matrices
are 8-bit in blocks of 32, which onnxruntime's MatMulNBits multiplies with float32 activations, and
those in `HALF` are float16.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from onnx import helper, numpy_helper, parser

from ..pages import filled

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from transformers import PreTrainedConfig

BLOCK = 16  # word embeddings that share a scale
MATRIX_BLOCK = 32  # weights of a matrix that share a scale
# Later layers magnify what is rounded in the first ones, and softmax what is rounded in the scores.
HALF = ("layer.0.", "layer.1.", ".attention.")  # parts of the names of layers kept in float16
# the name of a linear layer's weight; the group is the layer's name, by which the template knows it
LINEAR = re.compile(r"(.+\.(?:dense|query|key|value))\.weight")
STEPS = 127  # an 8-bit weight is one of -127 to 127, times its scale
MIDDLE = 128  # what MatMulNBits subtracts from its unsigned 8 bits


def quantised(
    values: np.ndarray, kind: type[np.floating] = np.float32
) -> tuple[np.ndarray, np.ndarray]:
    """(codes, scales) of an array, whose product is about the array.

    codes: whole numbers from -127 to 127, of the array's shape. They are int16, so that MIDDLE can
    be added to them.
    scales: one for each row of the last axis, (..., 1), as floats of `kind`.
    """
    # far below any weight, so that a row of zeros gets no scale that float16 rounds to 0
    largest = np.maximum(np.abs(values).max(-1, keepdims=True), 1e-5)
    scales = (largest / STEPS).astype(kind)
    codes = np.round(values / scales.astype(np.float32))
    return np.clip(codes, -STEPS, STEPS).astype(np.int16), scales


def write_encoder(
    path: str | Path,
    weights: Mapping[str, torch.Tensor],
    config: PreTrainedConfig,
    prefix: str = "",
) -> None:
    """Write a BertModel, or a BertForMaskedLM with a tied head if `weights` have one, as ONNX to
    `path`.

    weights: tensors by name. config: the model's configuration, of which `num_hidden_layers`,
    `num_attention_heads` and `layer_norm_eps` are used. prefix: before the names of the encoder's
    weights.

    Inputs of the graph: `input_ids` and `attention_mask`, int64 (batch, tokens); `head_mask`,
    float32 (layers, heads). Outputs: `hidden_states` (layers + 1, batch, tokens, hidden);
    `attentions` (layers, batch, heads, tokens, tokens); `queries`, `keys` and `values` (layers,
    batch, heads, tokens, size of a head); with a head also `logits` (batch, tokens, vocabulary). A
    head's mask multiplies its context, as in "Are sixteen heads really better than one?" (Michel et
    al. 2019, section 2.3); `attentions` are those before it.

    The same weights give the same bytes.
    """
    arrays = {name: weight.numpy() for name, weight in weights.items()}
    linear = {
        match[1]: array for name, array in arrays.items() if (match := LINEAR.fullmatch(name))
    }
    half = {name for name in linear if any(part in name for part in HALF)}
    graph = parser.parse_graph(
        filled(
            "encoder.onnx.j2",
            half=half,
            shapes={name: matrix.shape for name, matrix in linear.items()},
            block=MATRIX_BLOCK,
            layers=config.num_hidden_layers,
            heads=config.num_attention_heads,
            epsilon=config.layer_norm_eps,
            prefix=prefix,
            has_head="cls.predictions.bias" in arrays,
        )
    )
    arrays |= _constants(arrays, config.num_attention_heads, prefix)
    for name, matrix in linear.items():
        arrays |= _stored(name, matrix, name in half)
    wanted = {name for node in graph.node for name in node.input}
    for name, array in arrays.items():
        if name in wanted:
            graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    # 20 is the first version with Gelu. Without ir_version, a newer onnx would write newer bytes.
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    Path(path).write_bytes(model.SerializeToString(deterministic=True))


def _stored(name: str, matrix: np.ndarray, is_half: bool) -> dict[str, np.ndarray]:
    """The weight of a linear layer as it is stored: in float16, or in 8-bit blocks along its
    inputs.

    matrix: (outputs, inputs); without `is_half`, MATRIX_BLOCK must divide the number of inputs.
    Returns {name in the graph: array}.
    """
    if is_half:
        return {f"{name}.half": matrix.T.astype(np.float16)}
    rows, columns = matrix.shape
    codes, scales = quantised(matrix.reshape(rows, columns // MATRIX_BLOCK, MATRIX_BLOCK))
    return {
        f"{name}.codes": (codes + MIDDLE).astype(np.uint8),
        f"{name}.scales": scales.reshape(-1),
    }


def _constants(arrays: Mapping[str, np.ndarray], heads: int, prefix: str) -> dict[str, np.ndarray]:
    """The embeddings as they are stored, and the numbers that the operators name, by the names that
    encoder.onnx.j2 uses.
    """
    table = arrays[f"{prefix}embeddings.word_embeddings.weight"]
    hidden = table.shape[1]
    codes, scales = quantised(table.reshape(-1, hidden // BLOCK, BLOCK), np.float16)
    positions = arrays[f"{prefix}embeddings.position_embeddings.weight"]
    return {
        "word_codes": codes.astype(np.int8),
        "word_scales": scales,
        # each token has the first type
        "places": positions + arrays[f"{prefix}embeddings.token_type_embeddings.weight"][0],
        "one_float": np.array(1, np.float32),
        # is added to the scores of a token that may not be looked at
        "lowest": np.array(np.finfo(np.float32).min),
        # of the scores: one over the root of a head's size
        "scale": np.array((hidden // heads) ** -0.5, np.float32),
        "zero": np.array([0]),
        "one": np.array([1]),
        "two": np.array([2]),
        "one_and_two": np.array([1, 2]),
        "two_and_three": np.array([2, 3]),
        # shapes: 0 keeps a dimension, -1 takes what is left
        "of_heads": np.array([0, 0, heads, hidden // heads]),
        "joined": np.array([0, 0, hidden]),
        "rows": np.array([-1, hidden]),
    }
