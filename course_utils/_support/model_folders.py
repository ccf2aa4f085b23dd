"""Load an encoder from a folder, and say what is wrong with one that cannot be used."""

import contextlib
import json
import textwrap
from collections.abc import Callable, Generator
from inspect import signature
from pathlib import Path
from typing import Any

from .downloads import EncoderError

# without one of these, transformers makes up a tokenizer
VOCABULARY_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
OR_ELSE = "or leave out the name to use the packaged encoder."
AGAIN = f"Copy the whole folder again, {OR_ELSE}"
# {}: the folder
OWN_CODE = (
    "The model in {} needs Python code of its own, which the course does not run. "
    f"Choose another model, {OR_ELSE}"
)


def load_folder(
    folder: str | Path, masked_lm: bool, max_tokens: Callable[[Any, Any], object]
) -> tuple[Any, Any]:
    """(tokenizer, model) of a folder, the model in float32 and evaluation mode. Raises
    EncoderError, which says what is wrong with the folder and what to do.

    masked_lm: load the head for masked words, too. max_tokens: called with (tokenizer, model), and
    what it returns is not used: it reads one more file, which may be damaged.
    """
    _check_files(Path(folder))
    try:
        with _quietly():
            tokenizer, model, report = _read_folder(folder, masked_lm)
            max_tokens(tokenizer, model)
    except EncoderError:
        raise
    except Exception as error:  # four libraries, each with its own classes for damage
        # about two lines: a library's own message may be long
        detail = textwrap.shorten(str(error), 160, placeholder=" ...")
        raise EncoderError(
            f"The model in {folder} is damaged, half written or of an unknown kind "
            f"({type(error).__name__}: {detail}). Copy or download it again."
        ) from None
    _check_weights(folder, model, report, masked_lm)
    if not tokenizer.is_fast or tokenizer.pad_token is None:
        raise EncoderError(
            f"The tokenizer in {folder} is not a fast one with a padding token, which batches "
            f"need. Choose an encoder like BERT, {OR_ELSE}"
        )
    return tokenizer, model.eval()


def _check_files(folder: Path) -> None:
    """Raise EncoderError unless the folder has what a model needs, in formats that run no code."""
    if (folder / "adapter_config.json").is_file():
        raise EncoderError(
            f"{folder} holds an adapter (LoRA), which changes another model. Merge the two with "
            "the library peft, model.merge_and_unload(), and save the result to a folder of its "
            "own."
        )
    if not (folder / "config.json").is_file():
        raise EncoderError(
            f"{folder} has no config.json, so it is not a complete model folder. {AGAIN}"
        )
    if not any(folder.glob("*.safetensors")):
        raise EncoderError(
            f"{folder} has no *.safetensors file. Weights in other formats can run code while they "
            "load, so the course refuses them; convert them, or choose another model."
        )
    if not any(any(folder.glob(pattern)) for pattern in VOCABULARY_FILES):
        raise EncoderError(f"{folder} has no tokenizer ({', '.join(VOCABULARY_FILES)}). {AGAIN}")


@contextlib.contextmanager
def _quietly() -> Generator[None]:
    """Keep transformers from showing bars and warnings: an EncoderError says what is wrong."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _check_weights(folder: str | Path, model: Any, report: Any, masked_lm: bool) -> None:
    """Raise EncoderError if weights are missing or of another shape.

    transformers fills these with random numbers and only warns. The pooler may be missing: `embed`
    does not use it. report: transformers' loading report.
    """
    missing = {key for key in report["missing_keys"] if not key.startswith("pooler.")}
    misfits = sorted(missing.union(key for key, *_ in report["mismatched_keys"]))
    if not misfits:
        return
    # all of them are outside the encoder, so in the head
    if masked_lm and not any(key.startswith(model.base_model_prefix) for key in misfits):
        raise EncoderError(
            f"The model in {folder} has no head for masked words (its weights lack {misfits[0]}). "
            "Choose one that has, or leave out the name to use the course's own."
        )
    if getattr(model.config, "auto_map", None):
        raise EncoderError(OWN_CODE.format(folder))
    raise EncoderError(
        f"The weights in {folder} do not fit its config.json (missing or of another shape: "
        f"{len(misfits)}, the first is {misfits[0]}). {AGAIN}"
    )


def _read_folder(folder: str | Path, masked_lm: bool) -> tuple[Any, Any, Any]:
    """The tokenizer, the model and transformers' loading report. Code that ships with the model is
    not run.
    """
    from transformers import (
        CONFIG_MAPPING,
        AutoConfig,
        AutoModel,
        AutoModelForMaskedLM,
        AutoTokenizer,
        BertConfig,
    )
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    safety = {"local_files_only": True, "trust_remote_code": False}
    stated_config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    kind = stated_config.get("model_type")
    if "auto_map" in stated_config and kind not in CONFIG_MAPPING:
        raise EncoderError(OWN_CODE.format(folder))
    # The first BERT models, including prajjwal1/bert-small, do not state that they are BERT.
    unnamed_bert = kind is None and "type_vocab_size" in stated_config
    config = (BertConfig if unnamed_bert else AutoConfig).from_pretrained(folder, **safety)
    has_decoder = config.is_encoder_decoder or getattr(config, "is_decoder", False)
    if has_decoder or config.model_type not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise EncoderError(
            f"The model in {folder} is of the kind "
            f"{config.model_type}{' with a decoder' if has_decoder else ''}, not an encoder like BERT, "
            f"RoBERTa, MPNet or DistilBERT, which the lessons need. Choose one of these, {OR_ELSE}"
        )
    tokenizer = AutoTokenizer.from_pretrained(folder, config=config, **safety)
    model_class = AutoModelForMaskedLM if masked_lm else AutoModel
    model, report = model_class.from_pretrained(
        folder,
        config=config,
        use_safetensors=True,
        dtype="float32",
        ignore_mismatched_sizes=True,  # `_check_weights` reports them
        output_loading_info=True,
        **safety,
    )
    # Funnel has a mask, but lets padding through
    if "attention_mask" not in signature(model.forward).parameters or config.model_type == "funnel":
        raise EncoderError(
            f"The model in {folder} is of the kind {config.model_type}, which lets padding into "
            "its vectors: they would depend on the other texts of a batch. Choose another one, "
            f"{OR_ELSE}"
        )
    return tokenizer, model, report
