"""The packaged encoder by its public name, without a network, a variable or a word on stderr."""

import os
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from huggingface_hub import constants, snapshot_download

from course_utils import load_encoder
from course_utils._support import downloads, hub_cache

# the variables of a new terminal: without those of the libraries, which other tests may have set
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("HF_", "TRANSFORMERS_"))
}
# prints whether the vectors are those of `embed` (but for rounding), the encoder's layers, and the
# words of its vocabulary
BY_PUBLIC_NAMES = f"""
import numpy as np
from course_utils import embed, setup
setup()
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer
name = "{hub_cache.PUBLIC_NAME}"
tokenizer, model = AutoTokenizer.from_pretrained(name), AutoModel.from_pretrained(name)
vectors = SentenceTransformer("{hub_cache.SHORT_NAME}").encode(["one", "two"])
print(np.abs(vectors - embed(["one", "two"])).max() < 1e-6, model.config.num_hidden_layers, len(tokenizer))
"""


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """The path of the learner's own cache, which is not there yet.

    The installation is in `prefix` and the home folder in `home` of the test's folder, both empty.
    """
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    return tmp_path / "home" / ".cache" / "huggingface" / "hub"


def sizes_of_files(folder):
    # {path in the folder: bytes}
    return {
        path.relative_to(folder): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file()
    }


def has_packaged_encoder(cache):
    # as Hugging Face's library finds it by its public name; without any model, that raises
    folder = Path(snapshot_download(hub_cache.PUBLIC_NAME, cache_dir=cache, local_files_only=True))
    return (folder.name, sizes_of_files(folder)) == (
        hub_cache.COMMIT,
        sizes_of_files(downloads.packaged_encoder()),
    )


def test_every_library_loads_the_encoder_without_a_variable_and_without_a_word():
    done = subprocess.run(
        [sys.executable, "-c", BY_PUBLIC_NAMES],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("True 6 30522\n", "")


@pytest.mark.parametrize("links", [True, False])
def test_the_encoder_is_laid_out_once_with_links_or_copies(own_cache, links, monkeypatch):
    if not links:
        monkeypatch.setattr(Path, "symlink_to", Mock(side_effect=OSError("no links here")))
    cache = hub_cache.cache_with(own_cache)
    assert cache.is_relative_to(sys.prefix)
    assert has_packaged_encoder(cache)
    assert not own_cache.exists()
    snapshot = cache / hub_cache.ENTRY / "snapshots" / hub_cache.COMMIT
    assert (snapshot / "model.safetensors").is_symlink() == links
    # nothing may be laid out again
    monkeypatch.setattr(hub_cache, "_lay_out", None)
    assert hub_cache.cache_with(own_cache) == cache


@pytest.mark.parametrize("blocked", [["prefix"], ["prefix", "home"]])
def test_what_cannot_be_written_is_passed_over(own_cache, blocked, tmp_path):
    for name in blocked:
        (tmp_path / name).touch()  # a file: nobody, not even root, can make a folder in it
    cache = hub_cache.cache_with(own_cache)
    assert has_packaged_encoder(cache)
    assert cache.is_relative_to(tmp_path / "home") == (blocked == ["prefix"])


# "file": config.json is missing; "commit": the cache names another commit; "size": config.json is
# shorter
@pytest.mark.parametrize("damage", ["commit", "file", "size"])
def test_a_damaged_cache_or_one_of_an_older_course_is_replaced(own_cache, damage):
    entry = hub_cache.cache_with(own_cache) / hub_cache.ENTRY
    config = entry / "snapshots" / hub_cache.COMMIT / "config.json"
    if damage == "commit":
        (entry / "refs" / "main").write_text("0" * 40)
    else:
        config.unlink()  # it may be a link to the package's file
    if damage == "size":
        config.write_text("{}")
    assert has_packaged_encoder(hub_cache.cache_with(own_cache))


def put_model(cache, entry):
    # a model of the learner's own, laid out as the hub's library does
    snapshot = cache / entry / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (cache / entry / "refs").mkdir()
    (cache / entry / "refs" / "main").write_text("1")


def test_a_learners_own_models_are_found_and_nothing_is_written_there(own_cache):
    hub_cache.cache_with(own_cache)
    put_model(own_cache, "models--me--mine")
    put_model(own_cache, hub_cache.ENTRY)  # of the same name, but not the course's
    before = sizes_of_files(own_cache)
    cache = hub_cache.cache_with(own_cache)
    assert Path(snapshot_download("me/mine", cache_dir=cache, local_files_only=True)).name == "1"
    # not in the installation, which others may share
    assert (has_packaged_encoder(cache), cache.is_relative_to(sys.prefix)) == (True, False)
    assert sizes_of_files(own_cache) == before


def test_the_link_to_a_model_that_a_learner_removed_is_removed(own_cache):
    put_model(own_cache, "models--me--mine")
    put_model(own_cache, "models--me--other")  # else the shared cache would be taken afterwards
    link = hub_cache.cache_with(own_cache) / "models--me--mine"
    assert link.is_symlink()
    (own_cache / "models--me--mine").rename(own_cache / "gone")
    assert has_packaged_encoder(hub_cache.cache_with(own_cache))
    assert not link.is_symlink()


def test_load_encoder_takes_the_public_name_and_the_short_one_for_the_packaged_encoder():
    assert (
        load_encoder(hub_cache.PUBLIC_NAME)
        is load_encoder(hub_cache.SHORT_NAME)
        is load_encoder("packaged")
    )


@pytest.fixture
def online_session(monkeypatch):
    """A session that was online, with a cache named "mine"; what `use_cache` sets is undone."""
    for name in ("HF_HUB_OFFLINE", "HF_HUB_CACHE"):
        monkeypatch.setattr(constants, name, getattr(constants, name))
    monkeypatch.setattr(hub_cache, "_original_settings", lambda: (False, "mine"))


def test_online_gives_back_what_was_there(online_session):
    hub_cache.use_cache(online=True)
    assert (constants.HF_HUB_OFFLINE, constants.HF_HUB_CACHE) == (False, "mine")
    hub_cache.use_cache(online=False)
    assert constants.HF_HUB_OFFLINE is True
    assert has_packaged_encoder(constants.HF_HUB_CACHE)


def test_a_name_that_is_not_there_says_at_once_that_the_session_is_offline(
    online_session, shell, capsys
):
    hub_cache.use_cache(online=False)
    shell.run_cell("from transformers import AutoModel")
    before_loading = time.monotonic()
    result = shell.run_cell('AutoModel.from_pretrained("bert-base-uncased")')
    # seconds: the library would ask again for 23
    assert time.monotonic() - before_loading < 20, "nothing waits for a network"
    assert isinstance(result.error_in_exec, OSError)
    assert capsys.readouterr().out.rstrip().endswith(hub_cache.NOTE)
    # an OSError of another cause gets no note
    shell.run_cell("open('no such file')")
    assert hub_cache.NOTE not in capsys.readouterr().out
