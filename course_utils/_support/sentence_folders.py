"""How a model's vectors are made, by the files of Sentence Transformers in its folder."""

import json
import re
from pathlib import Path
from typing import Any

from .downloads import EncoderError

POOLINGS = ("cls", "max", "mean")  # those of `pooling.POOLINGS`, which the library calls the same
OLD_NAMES = {  # old versions had a setting for each pooling
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
# what stands before the class in the "type" of a part, such as "sentence_transformers.models."
MODULE = re.compile(r"^sentence_transformers\.(.*\.)?")
# settings of the transformer that embed follows, or that say what it does anyway
KNOWN_SETTINGS = (
    "max_seq_length do_lower_case transformer_task modality_config module_output_name"
).split()
# files with the settings of the transformer, in the order in which the library looks for them
SETTINGS_FILES = tuple(
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)


def transformer_part(folder: str | Path) -> str | Path:
    """The folder of the transformer itself: old versions put it into an inner folder,
    "0_Transformer". `folder` itself, as it was given, if modules.json names no transformer.

    Raises EncoderError if modules.json is damaged, or points outside the folder.
    """
    return next((str(path) for kind, path in _modules(folder) if kind == "Transformer"), folder)


def stated_length(folder: str | Path) -> int | None:
    """The most tokens of a text that the library reads; None if the folder does not state it.

    folder: of the transformer itself, see `transformer_part`. Raises EncoderError if the file with
    its settings is damaged.
    """
    return _transformer_settings(folder).get("max_seq_length")


def recipe(folder: str | Path) -> tuple[str, str]:
    """(pooling, prompt): how the library pools this model's token vectors, and what it puts before
    each text.

    folder: of the model or of its transformer. ("mean", "") if nothing is said. Raises EncoderError
    for what `embed` cannot do, such as another pooling or a further layer, and for a damaged file.
    """
    folder = Path(folder)
    if not (folder / "modules.json").is_file() and str(folder) == transformer_part(folder.parent):
        folder = folder.parent  # it was the inner folder
    modules = dict(_modules(folder))
    pooling_settings = (
        _read(modules["Pooling"] / "config.json", dict) if "Pooling" in modules else {}
    )
    poolings = _poolings(pooling_settings)
    settings = _read(folder / "config_sentence_transformers.json", dict)
    prompt = (settings.get("prompts") or {}).get(settings.get("default_prompt_name")) or ""

    transformer = modules.get("Transformer", folder)
    other_modules = [
        kind for kind in modules if kind not in ("Transformer", "Pooling", "Normalize")
    ]
    stated = _transformer_settings(transformer)
    unknown_settings = [
        name for name, value in stated.items() if value and name not in KNOWN_SETTINGS
    ]
    truncation_side = _read(transformer / "tokenizer_config.json", dict).get("truncation_side")
    is_another_pooling = len(poolings) > 1 or poolings[0] not in POOLINGS
    # {what the model does that embed cannot do: whether it does that}; the first is reported
    reasons = {
        f"has a further layer, {', '.join(other_modules)}": other_modules,
        f"is used with settings that embed does not know ({', '.join(unknown_settings)})": (
            unknown_settings
        ),
        "cuts off the beginning of long texts (truncation_side)": truncation_side == "left",
        "cuts its vectors (truncate_dim)": settings.get("truncate_dim"),
        "does not pool its token vectors": modules and "Pooling" not in modules,
        f"pools in another way, {' with '.join(map(str, poolings))}": is_another_pooling,
        "leaves its prompt out of the pooling": (
            prompt and pooling_settings.get("include_prompt") is False
        ),
        "reads all text in lower case (do_lower_case)": stated.get("do_lower_case"),
    }
    for reason, applies in reasons.items():
        if applies:
            # embed can pool the token vectors if it finds the transformer: it is named, or the
            # folder has no modules.json and is the transformer itself
            or_else = ""
            if "Transformer" in modules or not modules:
                or_else = ", or name a pooling: embed then pools the model's token vectors"
            raise EncoderError(
                f"The model in {folder} {reason}, which embed does not do. Use "
                f"SentenceTransformer.encode{or_else}."
            )
    return poolings[0], prompt


def _poolings(settings: dict[str, Any]) -> list[Any]:
    """The names of the poolings that these settings ask for: more than one are joined."""
    by_old_names = [kind for name, kind in OLD_NAMES.items() if settings.get(name)]
    names = settings.get("pooling_mode", by_old_names or ["mean"])  # the library's default
    # newer versions write one name, or a list of them
    return names if isinstance(names, list) and names else [names]


def _modules(folder: str | Path) -> list[tuple[str, Path]]:
    """[(class, folder)] of the parts that modules.json lists; empty if there is no such file.

    A class of the library is named without its module, whose name differs between versions.
    """
    folder = Path(folder)
    parts = _read(folder / "modules.json", list)
    try:
        modules = [(MODULE.sub("", part["type"]), folder / part["path"]) for part in parts]
    except (KeyError, TypeError, AttributeError):
        raise EncoderError(
            f"modules.json in {folder} is damaged. Copy or download the model again."
        ) from None
    for _, path in modules:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise EncoderError(f"modules.json in {folder} points outside this folder, to {path}.")
    return modules


def _transformer_settings(folder: str | Path) -> dict[str, Any]:
    # of the first file that is there and not empty
    return next(filter(None, (_read(Path(folder) / name, dict) for name in SETTINGS_FILES)), {})


def _read(path: Path, kind: type) -> Any:
    """The list or dictionary in a JSON file, an empty one if there is no file.

    Raises EncoderError if the file is damaged or holds another kind.
    """
    if not path.is_file():
        return kind()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        content = None
    if not isinstance(content, kind):
        raise EncoderError(f"{path} is damaged. Copy or download the model again.")
    return content
