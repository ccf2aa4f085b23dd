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

NEW = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("HF_", "TRANSFORMERS_"))
}
BY_PUBLIC_NAMES = f"""
import numpy as np
from course_utils import embed, setup
setup()
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer
name = "{hub_cache.PUBLIC_NAME}"
tokenizer, model = AutoTokenizer.from_pretrained(name), AutoModel.from_pretrained(name)
vectors = SentenceTransformer("all-MiniLM-L6-v2").encode(["one", "two"])
print(np.abs(vectors - embed(["one", "two"])).max() < 1e-6, model.config.num_hidden_layers, len(tokenizer))
"""


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """An installation and a home folder that are empty. Returns the learner's own cache in it."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    return tmp_path / "home" / ".cache" / "huggingface" / "hub"


def files(folder):
    return {
        path.relative_to(folder): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file()
    }


def has_packaged_encoder(cache):
    folder = Path(snapshot_download(hub_cache.PUBLIC_NAME, cache_dir=cache, local_files_only=True))
    return folder.name == hub_cache.COMMIT and files(folder) == files(downloads.packaged_encoder())


def test_every_library_loads_it_without_a_variable_and_without_a_word():
    done = subprocess.run(
        [sys.executable, "-c", BY_PUBLIC_NAMES],
        env=NEW,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "True 6 30522\n"
    assert done.stderr == ""


@pytest.mark.parametrize("links", [True, False])
def test_it_is_laid_out_once_with_links_or_copies(nowhere, links, monkeypatch):
    if not links:
        monkeypatch.setattr(Path, "symlink_to", Mock(side_effect=OSError("no links here")))
    cache = hub_cache.cache_with(nowhere)
    assert cache.is_relative_to(sys.prefix)
    assert has_packaged_encoder(cache)
    assert not nowhere.exists()
    snapshot = cache / hub_cache.ENTRY / "snapshots" / hub_cache.COMMIT
    assert (snapshot / "model.safetensors").is_symlink() == links
    # nothing may be laid out again
    monkeypatch.setattr(hub_cache, "_lay_out", None)
    assert hub_cache.cache_with(nowhere) == cache


@pytest.mark.parametrize("blocked", [["prefix"], ["prefix", "home"]])
def test_what_cannot_be_written_is_passed_over(nowhere, blocked, tmp_path):
    for name in blocked:
        (tmp_path / name).touch()  # a file: nobody, not even root, can make a folder in it
    cache = hub_cache.cache_with(nowhere)
    assert has_packaged_encoder(cache)
    assert cache.is_relative_to(tmp_path / "home") == (blocked == ["prefix"])


@pytest.mark.parametrize("damage", ["commit", "file", "size"])
def test_that_of_an_older_course_or_a_damaged_one_is_replaced(nowhere, damage):
    entry = hub_cache.cache_with(nowhere) / hub_cache.ENTRY
    config = entry / "snapshots" / hub_cache.COMMIT / "config.json"
    config.unlink()
    if damage == "commit":
        (entry / "refs" / "main").write_text("0" * 40)
    elif damage == "size":
        config.write_text("{}")
    assert has_packaged_encoder(hub_cache.cache_with(nowhere))


def test_a_learners_own_models_are_found_and_nothing_is_written_there(nowhere, tiny):
    hub_cache.cache_with(nowhere)
    for name in ("models--me--mine", hub_cache.ENTRY):  # one of the same name is not the course's
        snapshot = nowhere / name / "snapshots" / "1"
        snapshot.mkdir(parents=True)
        (snapshot / "config.json").write_text("{}")
        (nowhere / name / "refs").mkdir()
        (nowhere / name / "refs" / "main").write_text("1")
    before = files(nowhere)
    cache = hub_cache.cache_with(nowhere)
    mine = snapshot_download("me/mine", cache_dir=cache, local_files_only=True)
    assert Path(mine).name == "1"
    assert has_packaged_encoder(cache)
    assert files(nowhere) == before
    (nowhere / "models--me--mine").rename(nowhere / "gone")
    cache = hub_cache.cache_with(nowhere)
    assert has_packaged_encoder(cache)
    assert not (cache / "models--me--mine").is_symlink()


def test_its_public_name_is_the_packaged_encoder_here_too():
    assert (
        load_encoder(hub_cache.PUBLIC_NAME)
        is load_encoder("all-MiniLM-L6-v2")
        is load_encoder("packaged")
    )


@pytest.fixture
def given(monkeypatch):
    """The session was given a network and a cache named "mine"; what `use_cache` sets is undone."""
    for name in ("HF_HUB_OFFLINE", "HF_HUB_CACHE"):
        monkeypatch.setattr(constants, name, getattr(constants, name))
    monkeypatch.setattr(hub_cache, "_original_settings", lambda: (False, "mine"))


def test_online_gives_back_what_was_there(given):
    hub_cache.use_cache(online=True)
    assert constants.HF_HUB_OFFLINE is False
    assert constants.HF_HUB_CACHE == "mine"
    hub_cache.use_cache(online=False)
    assert constants.HF_HUB_OFFLINE is True
    assert has_packaged_encoder(constants.HF_HUB_CACHE)


def test_a_name_that_is_not_there_says_at_once_that_the_session_is_offline(given, shell, capsys):
    hub_cache.use_cache(online=False)
    shell.run_cell("from transformers import AutoModel")
    begun = time.monotonic()
    ran = shell.run_cell('AutoModel.from_pretrained("bert-base-uncased")')
    assert time.monotonic() - begun < 5
    assert isinstance(ran.error_in_exec, OSError)
    assert capsys.readouterr().out.rstrip().endswith(hub_cache.NOTE)
    shell.run_cell("open('no such file')")
    assert hub_cache.NOTE not in capsys.readouterr().out
