"""`course embed`: a shard is whole or not there, and a run goes on where an earlier one stopped."""

import os
from pathlib import Path
from unittest.mock import DEFAULT, Mock

import numpy as np
import pytest

from course_utils import embed
from course_utils.tools import corpus
from course_utils.tools.corpus import embed_corpus, load_corpus

from .commands import output_of

# in shards of five: four full ones, and one with three texts
TEXTS = [f"Text {number} of {'a few ' * (number % 5)}words." for number in range(23)]


@pytest.fixture
def computed(monkeypatch):
    """The texts that are computed, in order. In place of the encoder, something quick does it."""
    encoded = []

    def encode(texts, model=None):
        encoded.extend(texts)
        return np.array([[len(text)] * 4 for text in texts], dtype=np.float16)

    monkeypatch.setattr(corpus, "embed", encode)
    monkeypatch.setattr(corpus, "model_digest", str)  # a model's name, in place of its weights'
    return encoded


@pytest.fixture
def old(computed, tmp_path):
    """The folder of an earlier run, which has written all shards. `computed` is empty again."""
    folder = tmp_path / "new" / "old"
    embed_corpus(TEXTS, folder, shard=5)
    computed.clear()
    return folder


def test_a_folder_with_a_gap_is_not_read(old):
    (old / "00000002.safetensors").unlink()
    with pytest.raises(ValueError, match="does not hold all shards"):
        load_corpus(old)


def test_what_was_written_is_not_computed_again(computed, old):
    (old / "00000002.safetensors").unlink()
    (old / "00000004.safetensors").unlink()
    times = {path: path.stat().st_mtime_ns for path in old.iterdir()}  # of the three that are left
    written, found = embed_corpus(TEXTS, old, shard=5)
    assert (written, found) == (2, 3)
    assert computed == TEXTS[10:15] + TEXTS[20:]
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert load_corpus(old).tolist() == [[len(text)] * 4 for text in TEXTS]


def test_a_run_that_is_stopped_leaves_whole_shards_only(computed, tmp_path, monkeypatch):
    # DEFAULT: the call goes to what is wrapped
    stopped_at_the_third = Mock(
        wraps=corpus.embed, side_effect=[DEFAULT, DEFAULT, KeyboardInterrupt]
    )
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(corpus, "embed", stopped_at_the_third)
        embed_corpus(TEXTS, tmp_path, shard=5)
    assert len(list(tmp_path.iterdir())) == 2
    written, found = embed_corpus(TEXTS, tmp_path, shard=5)
    assert (written, found) == (3, 2)
    assert computed == TEXTS


@pytest.mark.parametrize(
    "texts, settings, error",
    [
        (["Text 0, changed.", *TEXTS[1:]], {"shard": 5}, (ValueError, "name another folder")),
        (TEXTS[:-1] + ["The last, changed."], {"shard": 5}, (ValueError, "name another folder")),
        (TEXTS, {"shard": 5, "model": "another"}, (ValueError, "name another folder")),
        (TEXTS, {"shard": 4}, (ValueError, "name another folder")),
        (TEXTS[:12], {"shard": 5}, (ValueError, "name another folder")),
        (
            [TEXTS[0] + TEXTS[1][0], TEXTS[1][1:], *TEXTS[2:]],
            {"shard": 5},
            (ValueError, "name another folder"),
        ),
        ("one text", {"shard": 5}, (TypeError, "texts must be a list of strings; got str")),
        (TEXTS, {"shard": -1}, (ValueError, "shard must be at least 1; got -1")),
    ],
    ids=[
        *("first text", "last text", "model", "size of shards", "fewer texts", "same when joined"),
        *("a string", "no size"),
    ],
)
def test_a_folder_of_other_texts_is_left_alone(computed, old, texts, settings, error):
    before = {path: path.read_bytes() for path in old.iterdir()}
    with pytest.raises(error[0], match=error[1]):
        embed_corpus(texts, old, **settings)
    assert computed == []
    assert {path: path.read_bytes() for path in old.iterdir()} == before


@pytest.mark.parametrize(
    "use", [lambda folder: embed_corpus(TEXTS, folder, shard=5), load_corpus], ids=["embed", "load"]
)
def test_a_damaged_shard_is_named(old, use):
    (old / "00000000.safetensors").write_bytes(b"half")
    with pytest.raises(ValueError, match="00000000.safetensors is damaged"):
        use(old)


ODD_THINGS = {
    "link": (lambda path, elsewhere: path.symlink_to(elsewhere), "a symbolic link"),
    "dangling link": (lambda path, elsewhere: path.symlink_to("nowhere"), "a symbolic link"),
    "pipe": (lambda path, elsewhere: os.mkfifo(path), "no ordinary file"),
}


@pytest.mark.timeout(120)  # reading a pipe would wait for ever
@pytest.mark.parametrize("thing", ODD_THINGS)
def test_a_link_or_a_pipe_is_no_shard_and_is_neither_read_nor_written_through(old, tmp_path, thing):
    shard, elsewhere = old / "00000001.safetensors", tmp_path / "elsewhere"
    shard.rename(elsewhere)
    before = elsewhere.read_bytes()
    make, kind = ODD_THINGS[thing]
    make(shard, elsewhere)
    for use in (lambda: embed_corpus(TEXTS, old, shard=5), lambda: load_corpus(old)):
        with pytest.raises(ValueError, match=f"00000001.safetensors is {kind}, not a shard"):
            use()
    assert (elsewhere.read_bytes(), (old / "nowhere").exists()) == (before, False)


@pytest.mark.timeout(120)
def test_texts_are_read_from_files_and_from_links_to_them(computed, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "texts.txt").write_text("one")
    (tmp_path / "link").symlink_to("texts.txt")
    assert corpus.lines_of(tmp_path / "link") == ["one"]
    for source in (tmp_path / "pipe", Path("/dev/zero")):
        assert output_of("embed", source, "--out", tmp_path / "out", status=1) == (
            f"Error: {source}: It is a pipe or a device, not a file.\n"
        )


def test_the_command_reads_a_text_from_each_line(computed, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    for counts in ("5 written, 0 found", "0 written, 5 found"):  # of the first run and the second
        assert f"23 texts in 5 shards: {counts}" in output_of(
            "embed", tmp_path / "texts.txt", "--out", tmp_path / "out", "--shard", 5
        )


@pytest.mark.parametrize(
    "data, message",
    [
        ("naïve".encode("latin-1"), "texts.txt is not text in UTF-8. Save it"),
        ("plain".encode("utf-16"), "texts.txt is not text in UTF-8. Save it"),
        ("plain".encode("utf-16-le"), "texts.txt is not text in UTF-8. Save it"),
        (b"", "texts.txt holds no texts"),
        (b"\xef\xbb\xbf\r\n\r\n", "texts.txt holds no texts"),
    ],
    ids=["Latin-1", "UTF-16", "UTF-16 without its mark", "empty", "a mark and empty lines"],
)
def test_a_file_that_holds_no_text_is_named(data, message, tmp_path):
    (tmp_path / "texts.txt").write_bytes(data)
    assert message in output_of(
        "embed", tmp_path / "texts.txt", "--out", tmp_path / "out", status=1
    )
    assert not (tmp_path / "out").exists()


def test_a_file_from_windows_has_the_same_lines(tmp_path):
    # a byte order mark, and line ends of two characters; U+2028 ends no line
    (tmp_path / "texts.txt").write_bytes("\ufeffone\r\n\r\ntwo\u2028lines\r\n".encode())
    assert corpus.lines_of(tmp_path / "texts.txt") == ["one", "", "two\u2028lines"]


def test_the_vectors_are_those_that_embed_returns(tmp_path):
    embed_corpus(TEXTS[:3], tmp_path)
    # the shards round to float16: below 1, by 2**-12 at most
    assert np.abs(load_corpus(tmp_path) - embed(TEXTS[:3])).max() < 1e-3
