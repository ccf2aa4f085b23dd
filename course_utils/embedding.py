"""Many sentences to vectors. Derived in lesson 04."""

import contextlib
import os
import warnings

import numpy as np
import torch

from ._support.fast_bert import TOKENS, fits, packed_bert
from .models import light_encoder, load_encoder, max_tokens, progress_bar
from .pooling import POOLINGS, normalise

# positions in one forward pass of transformers, padding included; more does not fit a laptop's cache
BATCH_TOKENS = 512
WORTH = 512  # tokens: for fewer, laying out the weights for the processor takes longer than it saves
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def embed(sentences, pooling="mean", normalize=True, model=None, precision="float32"):
    """Turn sentences into vectors, in the order given.

    sentences: a list (or another sequence) of strings. pooling: "mean", "cls" or "max". normalize: scale each vector
    to length 1. model: what `load_encoder` returns, or a name for it. It works in evaluation mode, without dropout.
    precision: "float32", or "bfloat16" for matrix products in half the bits, where the processor has them: several
    times faster, and each vector keeps a cosine of at least 0.9999 to that of float32 (measured for the packaged
    encoder).

    Returns a float32 array (n, hidden). An empty string is a sentence like any other ([CLS] and [SEP]). Sentences over
    the model's length are cut, and one warning says how many. A progress bar shows after two seconds.

    Raises TypeError for a bare string, for items that are not strings or for a model of another form; ValueError for
    no sentences, broken characters, an unknown pooling or precision; RuntimeError for "bfloat16" on a processor
    without. Normalised, equal to SentenceTransformer.encode to 1e-6, which lesson 04 and a test show.
    """
    sentences = _checked(sentences)
    if pooling not in list(POOLINGS):
        raise ValueError(f"pooling must be one of {sorted(POOLINGS)}; got {pooling!r}")
    if precision not in list(PRECISIONS):
        raise ValueError(f"precision must be one of {sorted(PRECISIONS)}; got {precision!r}")
    if precision == "bfloat16" and not has_bfloat16():
        raise RuntimeError(
            'this processor has no bfloat16 arithmetic (AVX-512 BF16 or AMX), so "bfloat16" would be '
            "slower "
            "than float32. Leave precision out"
        )
    light = light_encoder() if model is None else None
    tokenizer, encoder = (None, None) if light else _pair(model)
    # what comes twice is computed once
    row_of = {sentence: row for row, sentence in enumerate(dict.fromkeys(sentences))}
    vectors = None
    with contextlib.nullcontext() if light else _as_made(tokenizer, encoder), torch.inference_mode():
        if light:
            ids = _light_ids(list(row_of), sentences, light[0])
            groups = _packed_states(ids, *light[1:], precision)
        else:
            rows = _token_ids(list(row_of), sentences, tokenizer, max_tokens(tokenizer, encoder))
            ids = [row["input_ids"] for row in rows]
            groups = _last_states(rows, ids, tokenizer, encoder, precision)
        with _token_bar(ids) as bar:
            for places, states, mask in groups:
                pooled = POOLINGS[pooling](states, mask).float()
                if vectors is None:
                    vectors = np.empty((len(row_of), pooled.shape[1]), dtype=np.float32)
                vectors[places] = (normalise(pooled) if normalize else pooled).cpu().numpy()
                bar.update(int(mask.sum()))
    return vectors[[row_of[sentence] for sentence in sentences]]


def hidden_states(sentences, model=None):
    """Batch by batch, what every layer makes of sentences: yields (places, hidden states, attention mask).

    places: where the sentences of the batch stand in `sentences`. hidden states: one tensor (batch, tokens, hidden) per
    layer, the embedding layer first. Arguments and errors as for `embed`.
    """
    sentences = _checked(sentences)
    tokenizer, encoder = _pair(model)
    with _as_made(tokenizer, encoder), torch.inference_mode():
        rows = _token_ids(sentences, sentences, tokenizer, max_tokens(tokenizer, encoder))
        with _token_bar([row["input_ids"] for row in rows]) as bar:
            for places, inputs in _padded(rows, tokenizer, encoder):
                yield places, encoder(**inputs, output_hidden_states=True).hidden_states, inputs["attention_mask"]
                bar.update(int(inputs["attention_mask"].sum()))


def _token_bar(ids):
    """A bar in tokens: long sentences come first, so a bar in sentences would expect too much time."""
    return progress_bar(total=sum(map(len, ids)), unit="token", unit_scale=True)


def has_bfloat16():
    """Whether this processor multiplies matrices of bfloat16 by itself, and oneDNN may let it."""
    return (
        (torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
        and torch.backends.mkldnn.is_available()
        and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    )


@contextlib.contextmanager
def _as_made(tokenizer, encoder):
    """Both as `load_encoder` made them; they are shared, and somebody may have turned them. Put back even if
    interrupted.
    """
    side, training = tokenizer.truncation_side, encoder.training
    tokenizer.truncation_side = "right"
    encoder.eval()
    try:
        yield
    finally:
        tokenizer.truncation_side = side
        encoder.train(training)


def _token_ids(unique, sentences, tokenizer, longest):
    """What the tokenizer makes of each of `unique`, cut to `longest`; a warning counts what `sentences` lost."""
    encoded = tokenizer(unique, truncation=True, max_length=longest, return_overflowing_tokens=True)
    owner = encoded.pop("overflow_to_sample_mapping")
    first = np.unique(owner, return_index=True)[1]  # later rows of a sentence hold what was cut off
    _warn_of_cuts({unique[place] for place in np.delete(owner, first)}, sentences, longest)
    return [{name: values[i] for name, values in encoded.items()} for i in first]


def _warn_of_cuts(long, sentences, longest):
    if long:
        warnings.warn(
            f"{sum(sentence in long for sentence in sentences)} of {len(sentences)} sentences are longer "
            "than the "
            f"model's {longest} tokens; the rest of each was cut off",
            stacklevel=4,
        )


def _light_ids(unique, sentences, tokenizer):
    """As `_token_ids`, for the tokenizer of `light_encoder`, and the ids alone."""
    encoded = tokenizer.encode_batch(unique)
    _warn_of_cuts(
        {sentence for sentence, found in zip(unique, encoded) if found.overflowing},
        sentences,
        tokenizer.truncation["max_length"],
    )
    return [found.ids for found in encoded]


def _last_states(rows, ids, tokenizer, encoder, precision):
    """Yield (places, last hidden states, attention mask) for groups of rows, whose token ids are `ids`, the longest
    first.
    """
    if fits(encoder):
        yield from _packed_states(ids, encoder.state_dict(), encoder.config, precision)
        return
    half = torch.autocast(encoder.device.type, torch.bfloat16, enabled=precision == "bfloat16")
    for places, inputs in _padded(rows, tokenizer, encoder):
        with half:
            yield places, encoder(**inputs).last_hidden_state, inputs["attention_mask"]


def _packed_states(ids, weights, config, precision):
    forward = packed_bert(
        weights,
        config.num_attention_heads,
        config.layer_norm_eps,
        PRECISIONS[precision],
        lay_out=sum(map(len, ids)) >= WORTH,
    )
    for batch in _batches([len(row) for row in ids], TOKENS):
        for start, states in forward([ids[place] for place in batch]):
            yield batch[start : start + len(states)], states, torch.ones(states.shape[:2], dtype=torch.int64)


def _padded(rows, tokenizer, encoder):
    """Yield (places, the encoder's inputs) for batches of rows of like length."""
    for batch in _batches([len(row["input_ids"]) for row in rows], BATCH_TOKENS):
        yield (
            batch,
            tokenizer.pad([rows[i] for i in batch], padding_side="right", return_tensors="pt").to(encoder.device),
        )


def _batches(lengths, budget):
    """Yield lists of positions, longest sentences first, so that a batch holds equals and little padding."""
    batch, widest = [], 0
    for position in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        widest = widest or lengths[position]
        if batch and widest * (len(batch) + 1) > budget:
            yield batch
            batch, widest = [], lengths[position]
        batch.append(position)
    yield batch


def _pair(model):
    """(tokenizer, encoder) from the argument `model` of `embed`."""
    if model is None or isinstance(model, (str, os.PathLike)):
        return load_encoder(model)
    if isinstance(model, (tuple, list)) and len(model) == 2 and isinstance(model[1], torch.nn.Module):
        return model
    raise TypeError(
        f"model must be a name, a folder or the pair (tokenizer, model) from load_encoder; got {type(model).__name__}"
    )


def _checked(sentences):
    if isinstance(sentences, str):
        raise TypeError("sentences must be a list of strings; got one string. Write embed([sentence])")
    # A dictionary or a table would give its keys or the names of its columns, a set no order.
    if isinstance(sentences, (bytes, dict, set)) or getattr(sentences, "ndim", 1) != 1:
        raise TypeError(f"sentences must be a list of strings; got {type(sentences).__name__}")
    try:
        sentences = list(sentences)
    except TypeError:
        raise TypeError(f"sentences must be a list of strings; got {type(sentences).__name__}") from None
    for position, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            raise TypeError(f"sentences[{position}] must be a string; got {type(sentence).__name__}")
        try:
            sentence.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"sentences[{position}] holds half a character (a lone surrogate) at position "
                f"{error.start}; it was read in a wrong encoding"
            ) from None
    if not sentences:
        raise ValueError("sentences is empty: there is nothing to embed")
    return sentences
