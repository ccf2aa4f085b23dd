"""Encode sentences as vectors. Derived in lesson 04."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch

from ._support import kept_vectors
from ._support.bars import progress_bar
from ._support.downloads import EncoderError
from ._support.fast_bert import fits
from ._support.routes import (
    PRECISIONS,
    PackedRoute,
    TransformersRoute,
    checked_sentences,
    packaged_tokens,
    tokens_of,
)
from ._support.sentence_folders import recipe
from ._support.workers import each
from .models import encoder_folder, is_packaged, load_encoder, max_tokens, untouched_weights
from .pooling import POOLINGS, normalise

if TYPE_CHECKING:
    from .models import Pair

    Model = str | Path | Pair | None


# of sentences whose vectors are kept: about a second of computing on one core
MIN_TOKENS_TO_KEEP = 5_000


@overload
def embed(
    sentences: Iterable[str],
    pooling: str | None = None,
    normalize: bool = True,
    model: Model = None,
    precision: str = "float32",
) -> np.ndarray: ...


@overload
def embed(
    sentences: Iterable[str],
    pooling: tuple[str, ...],
    normalize: bool = True,
    model: Model = None,
    precision: str = "float32",
) -> tuple[np.ndarray, ...]: ...


def embed(
    sentences: Iterable[str],
    pooling: str | tuple[str, ...] | None = None,
    normalize: bool = True,
    model: Model = None,
    precision: str = "float32",
) -> np.ndarray | tuple[np.ndarray, ...]:
    """Encode sentences as vectors, in the order given.

    sentences: a list (or another sequence) of strings.
    pooling: "mean", "cls" or "max", or a tuple of these; each sentence is then encoded once for all
    of them. If omitted, the one that the model's folder states for Sentence Transformers, "mean" if
    it states none.
    normalize: scale each vector to length 1.
    model: what `load_encoder` returns, or a name for it. It runs in evaluation mode, without
    dropout. A default prompt in its folder is put before each sentence.
    precision: "float32", or "bfloat16" for matrix products in bfloat16 on processors that support
    it: several times faster, and each vector keeps a cosine of at least 0.9999 with its float32
    version (measured for the packaged encoder).

    Returns a float32 array (n, hidden), or a tuple of them, one per pooling. An empty string is
    encoded like any other sentence ([CLS] and [SEP]). Sentences over the model's length are
    truncated, and one warning says how many. A progress bar appears after two seconds. Vectors that
    take more than a second are kept in the user's cache folder, where later calls find those of the
    same sentences.

    Raises TypeError for a bare string, for items that are not strings or for an invalid model;
    ValueError for no sentences, broken characters, a text without tokens, an unknown pooling or
    precision; RuntimeError for "bfloat16" on a processor without it; EncoderError for a model whose
    vectors need another pooling or a further layer, if `pooling` is omitted.

    Normalised vectors equal those of SentenceTransformer.encode to 1e-6, as lesson 04 and a test
    show.
    """
    sentences = checked_sentences(sentences)
    stated, prompt = _recipe(model, pooling)
    pooling = stated if pooling is None else pooling
    poolings = pooling if isinstance(pooling, tuple) else (pooling,)
    # compared with a list, since a dict refuses what cannot be hashed with another error
    if not poolings or any(name not in list(POOLINGS) for name in poolings):
        raise ValueError(f"pooling must be one of {sorted(POOLINGS)}; got {pooling!r}")
    _check_precision(precision)
    # duplicates are encoded once
    row_of = {sentence: row for row, sentence in enumerate(dict.fromkeys(sentences))}
    route = _route([prompt + sentence for sentence in row_of], model, precision)
    _warn_of_cuts(route, list(row_of), sentences)

    by_row = _read_or_computed(route, poolings, normalize)
    rows = [row_of[sentence] for sentence in sentences]
    by_pooling = np.ascontiguousarray(by_row[rows].swapaxes(0, 1))
    return tuple(by_pooling) if isinstance(pooling, tuple) else by_pooling[0]


def _read_or_computed(
    route: PackedRoute | TransformersRoute, poolings: tuple[str, ...], normalize: bool
) -> np.ndarray:
    """The vectors of a route's sentences: (rows, poolings, hidden).

    Where computing takes long, those that are kept are read, and the others are kept. Not where it
    is not known what vectors depend on: the code of another model may be any.
    """
    every = range(len(route.lengths))
    is_fast = sum(route.lengths) < MIN_TOKENS_TO_KEEP
    if is_fast or not isinstance(route, PackedRoute) or kept_vectors.folder() is None:
        return _computed(route, every, poolings, normalize)
    recipe = f"{'-'.join(poolings)}-{'normalised' if normalize else 'raw'}-{route.digest()}"
    names = route.sentence_digests()
    vectors = kept_vectors.read(recipe, names)
    missing = [row for row in every if names[row] not in vectors]
    if missing:
        computed = _computed(route, missing, poolings, normalize)
        added = dict(zip([names[row] for row in missing], computed, strict=True))
        if sum(route.lengths[row] for row in missing) >= MIN_TOKENS_TO_KEEP:
            kept_vectors.keep(recipe, added)
        vectors |= added
    return np.stack([vectors[name] for name in names])


def _computed(
    route: PackedRoute | TransformersRoute,
    wanted: Sequence[int],
    poolings: tuple[str, ...],
    normalize: bool,
) -> np.ndarray:
    """The vectors of the wanted rows, in their order: (rows, poolings, hidden)."""

    def vectors_of(batch: list[int]) -> list[tuple[list[int], np.ndarray]]:
        encoded = []  # [(rows, as in `row_of`; their vectors (rows, poolings, hidden))]
        with torch.inference_mode():
            for rows, states, mask in route.states(batch):
                pooled = torch.stack(
                    [POOLINGS[name](states, mask).float() for name in poolings], dim=1
                )
                vectors = normalise(pooled) if normalize else pooled
                encoded.append((rows, vectors.cpu().numpy()))
        return encoded

    vectors_of_row = {}  # {row: (poolings, hidden)}
    with _token_bar(sum(route.lengths[row] for row in wanted)) as bar:
        for encoded in each(vectors_of, route.batches(wanted), route.threads):
            for rows, vectors in encoded:
                vectors_of_row.update(zip(rows, vectors, strict=True))
                bar.update(sum(route.lengths[row] for row in rows))
    return np.stack([vectors_of_row[row] for row in wanted])


def _check_precision(precision: str) -> None:
    if precision not in list(PRECISIONS):  # a list: see `embed`
        raise ValueError(f"precision must be one of {sorted(PRECISIONS)}; got {precision!r}")
    if precision == "bfloat16" and not has_bfloat16():
        raise RuntimeError(
            'this processor has no bfloat16 arithmetic (AVX-512 BF16 or AMX), so "bfloat16" would '
            "be slower than float32. Leave precision out"
        )


def _recipe(model: Model, pooling: str | tuple[str, ...] | None) -> tuple[str, str]:
    """(pooling, prompt) as the folder of the model states them.

    pooling: the caller's. If one is given, a recipe that `embed` cannot follow is no error, and
    both are empty.
    """
    if is_packaged(model):
        return "mean", ""
    if isinstance(model, (str, os.PathLike)) or model is None:
        folder = encoder_folder(model)
    else:
        # where transformers has loaded it from; "" for a model without a configuration
        folder = getattr(getattr(_pair(model)[1], "config", None), "_name_or_path", "")
    try:
        return recipe(folder)
    except EncoderError:
        if pooling is None:
            raise
        # another pooling was asked for, so what the folder says of its own does not matter
        return "", ""


def _route(sentences: list[str], model: Model, precision: str) -> PackedRoute | TransformersRoute:
    """How to encode these sentences, all different: see `_support.routes`.

    The packaged encoder does not need transformers, whose import takes seconds, until the model has
    been loaded and could have been modified. Any other plain BERT uses the same forward pass; other
    models use their own.
    """
    untouched = untouched_weights(model) if model is None or isinstance(model, str) else None
    if untouched:
        tokenizer, weights, config = untouched
        return PackedRoute(packaged_tokens(sentences, tokenizer), weights, config, precision)
    tokenizer, encoder = _pair(model)
    tokens = tokens_of(sentences, tokenizer, max_tokens(tokenizer, encoder))
    if fits(encoder):
        return PackedRoute(tokens, encoder.state_dict(), encoder.config, precision)
    return TransformersRoute(tokens, tokenizer, encoder, precision)


def hidden_states(
    sentences: Iterable[str], model: Model = None
) -> Iterator[tuple[list[int], tuple[torch.Tensor, ...], torch.Tensor]]:
    """Yield the hidden states of every layer, batch by batch, as (places, hidden states, attention
    mask).

    places: the batch's indices into `sentences`.
    hidden states: one tensor (batch, tokens, hidden) per layer, the embedding layer first.

    Arguments and errors as for `embed`, but the default prompt of a model is left out, and errors
    come with the first batch, not with the call.
    """
    sentences = checked_sentences(sentences)
    tokenizer, encoder = _pair(model)
    route = TransformersRoute(
        tokens_of(sentences, tokenizer, max_tokens(tokenizer, encoder)), tokenizer, encoder
    )
    _warn_of_cuts(route, sentences, sentences)
    with torch.inference_mode(), _token_bar(sum(route.lengths)) as bar:
        for batch in route.batches():
            yield batch, *route.hidden_states(batch)
            bar.update(sum(route.lengths[place] for place in batch))


def _token_bar(tokens: int) -> Any:
    """A progress bar in tokens: long sentences come first, so a bar in sentences would overestimate
    the time left.
    """
    return progress_bar(total=tokens, unit="token", unit_scale=True)


def _warn_of_cuts(
    route: PackedRoute | TransformersRoute, sentences: list[str], given: list[str]
) -> None:
    """Warn how many of the caller's sentences, duplicates included, were truncated."""
    if route.cut:
        cut = {sentences[place] for place in route.cut}
        warnings.warn(
            f"{sum(sentence in cut for sentence in given)} of {len(given)} sentences are longer "
            f"than the model's {route.longest} tokens; the rest of each was cut off",
            stacklevel=3,  # the line that calls `embed`
        )


def has_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 matrices natively and oneDNN may use that.

    It asks private functions of torch, which has no public ones for it.
    """
    return (
        (torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
        and torch.backends.mkldnn.is_available()
        and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    )


def _pair(model: Model) -> Pair:
    """(tokenizer, encoder) from the `model` argument of `embed`."""
    if model is None or isinstance(model, (str, os.PathLike)):
        return load_encoder(model)
    if (
        isinstance(model, (tuple, list))
        and len(model) == 2
        and isinstance(model[1], torch.nn.Module)
    ):
        return model
    raise TypeError(
        "model must be a name, a folder or the pair (tokenizer, model) from load_encoder; got "
        f"{type(model).__name__}"
    )
