"""The packaged encoder under its public name, offline: a folder laid out like the model hub's
cache.
"""

import contextlib
import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from .bars import ipython_shell
from .downloads import packaged_folder

PUBLIC_NAME = "sentence-transformers/all-MiniLM-L6-v2"
SHORT_NAME = "all-MiniLM-L6-v2"  # as Sentence Transformers calls it
COMMIT = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"  # of the model on the hub, packaged unchanged
ENTRY = f"models--{PUBLIC_NAME}".replace("/", "--")
KINDS = ("models--", "datasets--")  # how the folders in a hub's cache begin
NOTE = "setup() keeps this session offline. To let it ask the internet, run setup(online=True)."


def use_cache(online: bool) -> None:
    """Let transformers and others find the packaged encoder under its public name, without the
    network.

    online: give back the network, and the cache that the learner has without this course.

    Sets `huggingface_hub.constants`: environment variables count only until the library is
    imported. Offline, IPython adds NOTE to errors that name the hub's address.
    """
    from huggingface_hub import constants

    offline, cache = _original_settings()
    constants.HF_HUB_OFFLINE = offline if online else True
    constants.HF_HUB_CACHE = cache if online else str(cache_with(Path(cache)))
    shell = ipython_shell()
    if shell is not None:
        # () removes the handler: NOTE is not true online, nor in a session that was offline before
        # setup(), which online=True leaves offline
        shell.set_custom_exc(() if online or offline else (OSError,), _show_with_reason)


def _show_with_reason(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    traceback: Any,
    tb_offset: int | None = None,
) -> None:
    """Show an error as IPython does, with NOTE if the error names the hub's address: libraries then
    say "check your internet connection". The signature is that of `set_custom_exc`.
    """
    if "https://huggingface.co" in str(error):
        error.add_note(NOTE)
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)


@functools.cache
def _original_settings() -> tuple[bool, str]:
    """(whether huggingface_hub is set offline, its cache), as before the first `use_cache`."""
    from huggingface_hub import constants

    return constants.HF_HUB_OFFLINE, constants.HF_HUB_CACHE


def cache_with(own_cache: Path | None = None) -> Path:
    """A hub's cache that holds the packaged encoder, and links to the models in the learner's own
    cache.

    own_cache: the learner's, if any, in which nothing is written. Returns the first of these
    folders that is complete or can be made so: in the installation (which learners may share, so
    only without models of their own), in the user's cache folder, a temporary one.
    """
    import platformdirs

    entries = own_cache.glob("*--*") if own_cache else ()
    own_models = [path for path in entries if path.name.startswith(KINDS) and path.name != ENTRY]
    installed = Path(sys.prefix) / "share" / "sentence-embeddings-course" / "hub"
    of_user = Path(platformdirs.user_cache_dir("sentence-embeddings-course")) / "hub"
    for folder in ([] if own_models else [installed]) + [of_user]:
        with contextlib.suppress(OSError):
            return _completed(folder, own_models)
    return _completed(Path(_temporary().name), own_models)


@functools.cache
def _temporary() -> tempfile.TemporaryDirectory[str]:
    """A folder that is removed at the end of this process."""
    return tempfile.TemporaryDirectory(prefix="sentence-embeddings-course-")


def _completed(folder: Path, own_models: list[Path]) -> Path:
    """This folder, after adding what it lacks: the packaged encoder, and links to these models.

    Links to deleted models are removed. Raises OSError if it cannot be written.
    """
    source = packaged_folder() / "model"
    if not _is_whole(folder / ENTRY, source):
        _lay_out(folder, source)
    for link in folder.glob("*--*"):
        if link.is_symlink() and not link.exists():  # of a model that the learner has deleted
            link.unlink(missing_ok=True)
    for model in own_models:
        with contextlib.suppress(FileExistsError):
            (folder / model.name).symlink_to(model, target_is_directory=True)
    return folder


def _is_whole(entry: Path, source: Path) -> bool:
    """Whether this entry has each file of the package, with the same size. Checksums are not
    compared.
    """
    try:
        snapshot = entry / "snapshots" / COMMIT
        return (entry / "refs" / "main").read_text() == COMMIT and all(
            (snapshot / path.relative_to(source)).stat().st_size == path.stat().st_size
            for path in _files(source)
        )
    except OSError:
        return False


def _files(source: Path) -> list[Path]:
    return [path for path in source.rglob("*") if path.is_file()]


def _lay_out(folder: Path, source: Path) -> None:
    """Write the entry of the packaged encoder, with links to the package's files, or copies where
    links cannot be made.

    It is made beside its place and renamed, so that another process never sees a part of it. An
    older entry is deleted. Raises OSError, also if another process was faster.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as beside:
        new, entry = Path(beside) / ENTRY, folder / ENTRY
        for path in _files(source):
            target = new / "snapshots" / COMMIT / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                target.symlink_to(path)
            except OSError:
                shutil.copyfile(path, target)
        (new / "refs").mkdir()
        (new / "refs" / "main").write_text(COMMIT)
        if entry.exists():  # of an older course, or damaged
            # deleted with `beside`
            os.replace(entry, Path(beside) / "old")
        os.replace(new, entry)
