"""Attention as numbers and as pictures. Derived in lesson 05.

`attentions` is always a tensor (layers, heads, tokens, tokens) for one sentence or pair of sentences: row i of a head
shows how token i distributes its attention, which sums to 1.0, over the tokens.
"""

import contextlib
import math
import warnings

import torch

from ._support.bertviz_offline import HEAD_VIEW_TOKENS, MODEL_VIEW_TOKENS, View, checked, chosen, framed, listed, page
from ._support.bertviz_offline import thumbnails as thumbnails
from .models import load_encoder


def attend(text, pair=None, model=None):
    """Run one sentence (or a pair of sentences) through an encoder and return its attention weights.

    model: what `load_encoder` or `load_masked_lm` returns; the course's encoder by default. It runs this call with the
    "eager" implementation, the only one that returns attention weights, and is switched back afterwards.

    Returns (tokens, attentions): a list of n strings, and a tensor (layers, heads, n, n). Raises TypeError if `text` is
    not a string.
    """
    for sentence in [text] if pair is None else [text, pair]:
        if not isinstance(sentence, str):
            raise TypeError(f"one sentence is wanted, as a string; got {type(sentence).__name__}")
    tokenizer, encoder = model or load_encoder()
    inputs = tokenizer(text, pair, return_tensors="pt").to(encoder.device)
    with eager(encoder), torch.inference_mode():
        weights = encoder(**inputs, output_attentions=True).attentions
    return tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]), torch.cat(weights).cpu()


@contextlib.contextmanager
def eager(encoder):
    """Use eager attention and evaluation mode, and restore both, even if interrupted: the model is shared."""
    own, training = encoder.config._attn_implementation, encoder.training
    encoder.set_attn_implementation("eager")
    encoder.eval()
    try:
        yield
    finally:
        encoder.set_attn_implementation(own)
        encoder.train(training)


def attention_weights(queries, keys, attention_mask=None):
    """softmax(Q K^T / sqrt(d)): Vaswani et al. (2017), section 3.2.1, equation 1, without the values.

    queries, keys: (..., tokens, d).
    attention_mask: (tokens,) or any shape that broadcasts to (..., queries, keys); 1 for a key to attend to, 0 for
    padding, which gets weight 0.

    Returns (..., tokens, tokens); each row sums to 1.
    """
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
    if attention_mask is not None:
        scores = scores.masked_fill(attention_mask == 0, float("-inf"))
    return scores.softmax(dim=-1)


def head_scores(attentions):
    """Measure what each head does: a dictionary from a measure's name to a tensor (layers, heads).

    "same", "previous", "next": the mean weight that a word piece gives to itself, to the piece before it and to the
    piece after it.
    "cls", "sep": the mean weight on the first and on the last token, [CLS] and [SEP].
    "entropy": in bits, 0 when all weight is on one token, log2(tokens) when it is spread evenly.

    Means are over the pieces between [CLS] and [SEP]. Raises ValueError for fewer than two such pieces, which have no
    neighbours.
    """
    tokens = attentions.shape[-1]
    if attentions.ndim != 4 or tokens < 4:
        raise ValueError(
            f"attentions must be (layers, heads, tokens, tokens) with at least 4 tokens; got {tuple(attentions.shape)}"
        )
    words = attentions[:, :, 1:-1, 1:-1]
    rows = attentions[:, :, 1:-1]
    return {
        "same": words.diagonal(dim1=-2, dim2=-1).mean(-1),
        "previous": words.diagonal(-1, dim1=-2, dim2=-1).mean(-1),
        "next": words.diagonal(1, dim1=-2, dim2=-1).mean(-1),
        "cls": rows[..., 0].mean(-1),
        "sep": rows[..., -1].mean(-1),
        "entropy": torch.special.entr(rows).sum(-1).mean(-1) / math.log(2),
    }


def patching_map(target, source, layers):
    """How far a sentence vector moves when one vector on the way to it is replaced by another text's.

    target, source: hidden state 0, the output of the embeddings, of two texts of as many tokens: (1, tokens, hidden).
    layers: a list of functions; `layers[k - 1]` is layer k, which turns hidden state k - 1 into hidden state k. For
    BERT without padding: `model.encoder.layer`.

    Returns (len(layers) + 1, tokens): number [k, i] is the Euclidean length of the change of the target's sentence
    vector, the mean of its last hidden state, when token i of its hidden state k is replaced by the source's token i
    in hidden state k.
    """
    states, others = [target], [source]
    for layer in layers:
        states.append(layer(states[-1]))
        others.append(layer(others[-1]))
    before, moved = states[-1].mean(dim=1), []
    for number, (state, other) in enumerate(zip(states, others, strict=True)):
        tokens = state.shape[1]
        patched = state.repeat(tokens, 1, 1)  # row i is patched at token i
        patched[range(tokens), range(tokens)] = other[0]
        for layer in layers[number:]:
            patched = layer(patched)
        moved.append((patched.mean(dim=1) - before).norm(dim=-1))
    return torch.stack(moved)


def head_view(attentions, tokens, layer=None, heads=None, sentence_b_start=None):
    """bertviz's head view (Vig, 2019): lines from token to token, as strong as the weights, one colour per head.

    attentions: (layers, heads, n, n) from `attend`, or the `attentions` that a model returns for one text.
    tokens: n strings.
    layer, heads: what is shown at first (layer 1, all heads). Layers count from 1 here and in the view, as everywhere
    in the course (bertviz itself counts them from 0), heads from 0.
    sentence_b_start: the index of the second sentence's first token.

    In the view, choose a layer, click or double-click the heads' colours, or point at tokens. The still picture is the
    mean of the heads shown. Raises ValueError for more than HEAD_VIEW_TOKENS tokens and for arguments that do not fit
    together, EncoderError if a package that provides the scripts is not installed.
    """
    import matplotlib

    from . import plots

    attentions, tokens = checked(attentions, tokens, sentence_b_start, HEAD_VIEW_TOKENS)
    (layer,) = chosen("layer", 1 if layer is None else layer, attentions.shape[0], first=1)
    heads = chosen("head", heads, attentions.shape[1])
    what = f"layer {layer}, {'mean of ' * (len(heads) > 1)}{listed('head', heads)}"
    alt = f"Head view of {what}: how much each of {len(tokens)} tokens (rows) looks at each (columns)"
    mean = attentions[layer - 1, heads].mean(0)

    def draw():
        plain = matplotlib.rc_context({"text.parse_math": False})  # "$" in tokens
        with plain, warnings.catch_warnings(action="ignore"):  # about characters that the font lacks
            names = {"title": what.capitalize(), "alt": f"{alt}.", "xlabel": "looked at", "ylabel": "token"}
            return plots.heatmap(mean.numpy(), tokens, tokens, **names, numbers=len(tokens) <= 16, limits=(0, 1))

    options = {"layer": layer - 1, "heads": heads, "sentence_b_start": sentence_b_start}
    outside = max(0, 8 * max(map(len, tokens)) - 100)  # long tokens extend beyond bertviz's columns
    size = (360 + 2 * outside, 70 + 22.5 * len(tokens))
    html = page("head_view", attentions, tokens, options, size[0], margin=8 + outside)
    return View(framed(html, alt, size, mean, tokens, tokens), draw)


def model_view(attentions, tokens, layers=None, heads=None, sentence_b_start=None):
    """bertviz's model view (Vig, 2019): a thumbnail per head, a row per layer. Click one to enlarge it.

    Arguments and errors as for `head_view`, except that layers and heads are the ones drawn (all by default), and the
    limit is MODEL_VIEW_TOKENS tokens. The still picture draws the same heads as small heatmaps.
    """
    attentions, tokens = checked(attentions, tokens, sentence_b_start, MODEL_VIEW_TOKENS)
    layers = chosen("layer", layers, attentions.shape[0], first=1)
    heads = chosen("head", heads, attentions.shape[1])
    alt = (
        f"Model view of {len(tokens)} tokens in {listed('layer', layers)} (rows) and {listed('head', heads)} "
        "(columns): how much tokens look at tokens; a number is a head's largest weight"
    )
    places = [layer - 1 for layer in layers]
    shown = attentions[places][:, heads]
    options = {"include_layers": places, "include_heads": heads, "sentence_b_start": sentence_b_start}
    options["display_mode"] = "light"
    rows = 38 + len(layers) * (10 + 84 / attentions.shape[1] * len(tokens))
    size = (990, (38 if sentence_b_start is None else 60) + max(rows, 55 + 18 * len(tokens)))
    html, largest = page("model_view", attentions, tokens, options, size[0]), shown.amax((-1, -2))
    return View(
        framed(html, alt, size, largest, layers, heads), lambda: thumbnails(shown, layers, heads, f"{alt}.", tokens)
    )
