"""Many sentences to vectors. Derived in lesson 04."""

import os
import warnings

import numpy as np
import torch

from ._support.downloads import progress_bar
from ._support.fast_bert import fits
from ._support.routes import PRECISIONS, PackedRoute, TransformersRoute, packaged_tokens, tokens_of
from ._support.workers import each
from .models import load_encoder, max_tokens, untouched_weights
from .pooling import POOLINGS, normalise


def embed(sentences, pooling="mean", normalize=True, model=None, precision="float32"):
    """Turn sentences into vectors, in the order given.

    sentences: a list (or another sequence) of strings. pooling: "mean", "cls" or "max", or a tuple of these, for
    which each sentence is read once. normalize: scale each vector to length 1. model: what `load_encoder` returns, or a
    name for it. It works in evaluation mode, without dropout.
    precision: "float32", or "bfloat16" for matrix products in half the bits, where the processor has them: several
    times faster, and each vector keeps a cosine of at least 0.9999 to that of float32 (measured for the packaged
    encoder).

    Returns a float32 array (n, hidden), or a tuple of them, one for each pooling. An empty string is a sentence like
    any other ([CLS] and [SEP]). Sentences over the model's length are cut, and one warning says how many. A progress
    bar shows after two seconds.

    Raises TypeError for a bare string, for items that are not strings or for a model of another form; ValueError for
    no sentences, broken characters, an unknown pooling or precision; RuntimeError for "bfloat16" on a processor
    without. Normalised, equal to SentenceTransformer.encode to 1e-6, which lesson 04 and a test show.
    """
    sentences = _checked(sentences)
    poolings = pooling if isinstance(pooling, tuple) else (pooling,)
    if not poolings or any(name not in list(POOLINGS) for name in poolings):
        raise ValueError(f"pooling must be one of {sorted(POOLINGS)}; got {pooling!r}")
    if precision not in list(PRECISIONS):
        raise ValueError(f"precision must be one of {sorted(PRECISIONS)}; got {precision!r}")
    if precision == "bfloat16" and not has_bfloat16():
        raise RuntimeError(
            'this processor has no bfloat16 arithmetic (AVX-512 BF16 or AMX), so "bfloat16" would be '
            "slower "
            "than float32. Leave precision out"
        )
    row_of = {sentence: row for row, sentence in enumerate(dict.fromkeys(sentences))}  # duplicates are encoded once
    route = _route(list(row_of), model, precision)
    _warn_of_cuts(route, list(row_of), sentences)

    def vectors_of(batch):
        found = []
        with torch.inference_mode():
            for places, states, mask in route.states(batch):
                pooled = torch.stack([POOLINGS[name](states, mask).float() for name in poolings])
                found.append((places, (normalise(pooled) if normalize else pooled).cpu().numpy()))
        return found

    vectors = None
    with route, _token_bar(route) as bar:
        for parts in each(vectors_of, route.batches(), route.threads):
            for places, found in parts:
                if vectors is None:
                    vectors = np.empty((len(poolings), len(row_of), found.shape[-1]), dtype=np.float32)
                vectors[:, places] = found
                bar.update(sum(route.lengths[place] for place in places))
    vectors = vectors[:, [row_of[sentence] for sentence in sentences]]
    return tuple(vectors) if isinstance(pooling, tuple) else vectors[0]


def _route(sentences, model, precision):
    """How these sentences, all different, are encoded: see `_support.routes`.

    The packaged encoder needs no transformers, whose import takes seconds, as long as nobody has loaded the model and
    could have changed it. Any other plain BERT runs through the same forward pass, and everything else through its own.
    """
    if model is None and (untouched := untouched_weights()):
        tokenizer, weights, config = untouched
        return PackedRoute(packaged_tokens(sentences, tokenizer), weights, config, precision)
    tokenizer, encoder = _pair(model)
    tokens = tokens_of(sentences, tokenizer, max_tokens(tokenizer, encoder))
    if fits(encoder):
        return PackedRoute(tokens, encoder.state_dict(), encoder.config, precision)
    return TransformersRoute(tokens, tokenizer, encoder, precision)


def hidden_states(sentences, model=None):
    """Batch by batch, what every layer makes of sentences: yields (places, hidden states, attention mask).

    places: where the sentences of the batch stand in `sentences`. hidden states: one tensor (batch, tokens, hidden) per
    layer, the embedding layer first. Arguments and errors as for `embed`.
    """
    sentences = _checked(sentences)
    tokenizer, encoder = _pair(model)
    route = TransformersRoute(tokens_of(sentences, tokenizer, max_tokens(tokenizer, encoder)), tokenizer, encoder)
    _warn_of_cuts(route, sentences, sentences)
    with route, torch.inference_mode(), _token_bar(route) as bar:
        for batch in route.batches():
            yield batch, *route.hidden_states(batch)
            bar.update(sum(route.lengths[place] for place in batch))


def _token_bar(route):
    """A bar in tokens: long sentences come first, so a bar in sentences would expect too much time."""
    return progress_bar(total=sum(route.lengths), unit="token", unit_scale=True)


def _warn_of_cuts(route, sentences, given):
    """Warn how many of the sentences that the caller gave, duplicates included, lose their end."""
    if route.cut:
        cut = {sentences[place] for place in route.cut}
        warnings.warn(
            f"{sum(sentence in cut for sentence in given)} of {len(given)} sentences are longer than the model's "
            f"{route.longest} tokens; the rest of each was cut off",
            stacklevel=3,
        )


def has_bfloat16():
    """Whether this processor multiplies matrices of bfloat16 by itself, and oneDNN may let it."""
    return (
        (torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
        and torch.backends.mkldnn.is_available()
        and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    )


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
                f"sentences[{position}] holds half a character (a lone surrogate) at position {error.start}; it was "
                "read in a wrong encoding"
            ) from None
    if not sentences:
        raise ValueError("sentences is empty: there is nothing to embed")
    return sentences
