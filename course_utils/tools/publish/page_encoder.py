"""Write the encoder for the explorers in the book: an ONNX graph in 8 bits, with everything that an explorer shows.

The graph is that of `transformers.BertModel` (Devlin et al. 2019, section 3; Vaswani et al. 2017, section 3), built
operator by operator, so that the same weights give the same bytes. The word embeddings are int8 in blocks of 16; most
matrices are 8-bit in blocks of 32, which onnxruntime's MatMulNBits multiplies with float32 activations, and those in
`HALF` are float16.
"""

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 20  # the first with Gelu
BLOCK = 16  # word embeddings that share a scale
MATRIX_BLOCK = 32  # weights of a matrix that share a scale
# Later layers magnify what is rounded in the first ones, and softmax what is rounded in the scores.
HALF = ("layer.0.", "layer.1.", ".attention.")  # weights kept in float16
STEPS = 127  # an 8-bit weight is one of -127 to 127, times its scale
MIDDLE = 128  # what MatMulNBits subtracts from its unsigned 8 bits
HEAD = "cls.predictions"
LAST = "cls.predictions.bias"


class Graph:
    """Operators and weights, in the order in which they were added."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes, self.constants = [], {}

    def constant(self, name, values):
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def weight(self, name):
        return self.constant(name, self.weights[name].numpy())

    def add(self, operator, *inputs, name, domain="", **attributes):
        """Add an operator. Returns the name of its output, which is its own."""
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def linear(self, states, name):
        """states weightᵀ + bias, the weight in 8-bit blocks along its inputs, or in float16."""
        matrix = self.weights[f"{name}.weight"].numpy()
        if any(part in name for part in HALF):
            turned = self.constant(f"{name}.half", matrix.T.astype(np.float16))
            turned = self.add("Cast", turned, name=f"{name}.float", to=TensorProto.FLOAT)
            product = self.add("MatMul", states, turned, name=f"{name}.product")
            return self.add("Add", product, self.weight(f"{name}.bias"), name=name)
        rows, columns = matrix.shape
        codes, scales = quantised(matrix.reshape(rows, columns // MATRIX_BLOCK, MATRIX_BLOCK))
        product = self.add(
            "MatMulNBits",
            states,
            self.constant(f"{name}.codes", (codes + MIDDLE).astype(np.uint8)),
            self.constant(f"{name}.scales", scales.reshape(-1)),
            name=f"{name}.product",
            domain="com.microsoft",
            K=columns,
            N=rows,
            bits=8,
            block_size=MATRIX_BLOCK,
        )
        return self.add("Add", product, self.weight(f"{name}.bias"), name=name)

    def normal(self, states, name, epsilon):
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", states, scale, shift, name=name, axis=-1, epsilon=epsilon)

    def model(self, inputs, outputs):
        graph = helper.make_graph(self.nodes, "encoder", inputs, outputs, list(self.constants.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def quantised(values, kind=np.float32):
    """(whole numbers from -127 to 127, scales of `kind`) of an array: one scale for each row of its last axis."""
    scales = (np.maximum(np.abs(values).max(-1, keepdims=True), 1e-6) / STEPS).astype(kind)
    return np.clip(np.round(values / scales.astype(np.float32)), -STEPS, STEPS).astype(np.int16), scales


def encoder_graph(weights, config, prefix=""):
    """An ONNX model of a BertModel, or of a BertForMaskedLM with a tied head if `weights` have one.

    weights: tensors by name. config: `num_attention_heads` and `layer_norm_eps` of the model's configuration.
    prefix: before the names of the encoder's weights.

    Inputs: `input_ids` and `attention_mask`, int64 (batch, tokens); `head_mask`, float32 (layers, heads).
    Outputs: `hidden_states` (layers + 1, batch, tokens, hidden); `attentions` (layers, batch, heads, tokens, tokens);
    `queries`, `keys` and `values` (layers, batch, heads, tokens, size of a head); with a head also `logits` (batch,
    tokens, vocabulary). A head's mask multiplies its context, as in "Are sixteen heads really better than one?"
    (Michel et al. 2019, section 2.3); `attentions` are those before it.
    """
    graph, heads = Graph(weights), config.num_attention_heads
    epsilon, table = config.layer_norm_eps, f"{prefix}embeddings.word_embeddings.weight"
    hidden = weights[table].shape[1]
    size = hidden // heads
    layers = len({name.split(".layer.")[1].split(".")[0] for name in weights if ".layer." in name})
    integers = {name: graph.constant(name, np.array(values)) for name, values in {
        "zero": [0], "one": [1], "two": [2], "axes 1 2": [1, 2], "of heads": [0, 0, heads, size],
        "joined": [0, 0, hidden],
    }.items()}  # fmt: skip

    def add(operator, *inputs, name, **attributes):
        return graph.add(operator, *(integers.get(one, one) for one in inputs), name=name, **attributes)

    codes, scales = quantised(weights[table].numpy().reshape(-1, hidden // BLOCK, BLOCK), np.float16)
    graph.constant("words.codes", codes.astype(np.int8))
    graph.constant("words.scales", scales)

    found = []
    for part in ("words.codes", "words.scales"):
        rows = add("Gather", part, "input_ids", name=f"{part}.found")
        found.append(add("Cast", rows, name=f"{part}.float", to=TensorProto.FLOAT))
    words = add("Reshape", add("Mul", *found, name="words.blocks"), "joined", name="words")
    places = weights[f"{prefix}embeddings.position_embeddings.weight"]
    places = (places + weights[f"{prefix}embeddings.token_type_embeddings.weight"][0]).numpy()
    length = add("Slice", add("Shape", "input_ids", name="shape"), "one", "two", name="length")
    places = add("Slice", graph.constant("places", places), "zero", length, "zero", name="places.used")
    states = graph.normal(add("Add", words, places, name="embeddings"), f"{prefix}embeddings.LayerNorm", epsilon)
    # 0 where a token may be looked at, the lowest number where it may not
    kept = add("Cast", "attention_mask", name="mask.float", to=TensorProto.FLOAT)
    graph.constant("1.0", np.float32(1))
    graph.constant("lowest", np.float32(np.finfo(np.float32).min))
    graph.constant("scale", np.float32(size**-0.5))
    hidden_by = add("Mul", add("Sub", "1.0", kept, name="mask.not"), "lowest", name="mask.lowest")
    hidden_by = add("Unsqueeze", hidden_by, "axes 1 2", name="mask.of scores")
    collected = {"hidden_states": [states], "attentions": [], "queries": [], "keys": [], "values": []}
    for layer in range(layers):
        name = f"{prefix}encoder.layer.{layer}"
        parts = {}
        for part in ("query", "key", "value"):
            flat = graph.linear(states, f"{name}.attention.self.{part}")
            split = add("Reshape", flat, "of heads", name=f"{name}.{part}.split")
            parts[part] = add("Transpose", split, name=f"{name}.{part}", perm=[0, 2, 1, 3])
        turned = add("Transpose", parts["key"], name=f"{name}.key.turned", perm=[0, 1, 3, 2])
        scores = add("Mul", add("MatMul", parts["query"], turned, name=f"{name}.dot"), "scale", name=f"{name}.scores")
        masked = add("Add", scores, hidden_by, name=f"{name}.masked")
        shares = add("Softmax", masked, name=f"{name}.attentions", axis=-1)
        context = add("MatMul", shares, parts["value"], name=f"{name}.context")
        row = graph.constant(f"layer {layer}", np.array([layer]))
        mask = add("Gather", "head_mask", row, name=f"{name}.head_mask", axis=0)  # (1, heads)
        mask = add("Unsqueeze", mask, graph.constant("axes 2 3", np.array([2, 3])), name=f"{name}.head_mask.wide")
        context = add("Mul", context, mask, name=f"{name}.context.kept")
        context = add("Transpose", context, name=f"{name}.context.turned", perm=[0, 2, 1, 3])
        context = add("Reshape", context, "joined", name=f"{name}.context.joined")
        mixed = add("Add", graph.linear(context, f"{name}.attention.output.dense"), states, name=f"{name}.mixed")
        states = graph.normal(mixed, f"{name}.attention.output.LayerNorm", epsilon)
        wide = add("Gelu", graph.linear(states, f"{name}.intermediate.dense"), name=f"{name}.gelu")
        grown = add("Add", graph.linear(wide, f"{name}.output.dense"), states, name=f"{name}.grown")
        states = graph.normal(grown, f"{name}.output.LayerNorm", epsilon)
        for output, value in zip(collected, (states, shares, *parts.values()), strict=True):
            collected[output].append(value)
    for output, values in collected.items():
        wide = [add("Unsqueeze", value, "zero", name=f"{output} {place}") for place, value in enumerate(values)]
        add("Concat", *wide, name=output, axis=0)
    outputs = list(collected)
    if LAST in weights:
        top = add("Gelu", graph.linear(states, f"{HEAD}.transform.dense"), name="head.gelu")
        top = graph.normal(top, f"{HEAD}.transform.LayerNorm", epsilon)
        # the table of the words is the output matrix too
        parts = [
            add("Cast", part, name=f"head.{part}", to=TensorProto.FLOAT) for part in ("words.codes", "words.scales")
        ]
        rows = graph.constant("rows", np.array([-1, hidden]))
        matrix = add("Reshape", add("Mul", *parts, name="head.blocks"), rows, name="head.matrix")
        matrix = add("Transpose", matrix, name="head.turned", perm=[1, 0])
        add("Add", add("MatMul", top, matrix, name="head.dot"), graph.weight(LAST), name="logits")
        outputs.append("logits")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in
              ("input_ids", "attention_mask")]  # fmt: skip
    inputs.append(helper.make_tensor_value_info("head_mask", TensorProto.FLOAT, [layers, heads]))
    return graph.model(inputs, [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs])


def write_encoder(path, weights, config, prefix=""):
    """Write the graph of `encoder_graph` to `path`; the same weights give the same bytes. Returns the path."""
    path = Path(path)
    path.write_bytes(encoder_graph(weights, config, prefix).SerializeToString(deterministic=True))
    return path
