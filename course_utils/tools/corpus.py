"""Embed a large corpus in shards, and go on where an earlier run stopped.

A shard is a safetensors file. Its tensor `vectors` has a row for each of some texts, in order, in
float16; its metadata entry `texts` is a fingerprint of these texts and the model. A shard is
written whole or not at all, so a run that dies loses only the shard that it was computing. No shard
is ever changed: texts that were edited go to a new folder.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from .._support.files import is_regular, read_named, write_whole
from .._support.tables import strings_of
from ..embedding import embed
from ..models import model_digest, progress_bar


def embed_corpus(
    texts: Iterable[str], folder: str | Path, shard: int = 1000, model: str | None = None
) -> tuple[int, int]:
    """Embed texts into a folder of shards.

    Shards that an earlier call has written are not computed again.

    texts: a list of strings; all of them, also when going on.
    folder: where the shards go; it is created if it is missing.
    shard: the number of texts in a shard, at least 1; the last shard may have fewer. When going on,
    it must be the same.
    model: a hub name or a folder, as for `load_encoder`; the same on all machines.

    Returns (number of shards written now, number of shards found); (0, 0) without texts. Raises
    ValueError for a `shard` below 1, and for a folder that holds a damaged shard, a link or no
    ordinary file in the place of a shard, or vectors of other texts or of another model; TypeError
    or ValueError as `embed` does.
    """
    from safetensors.numpy import save

    texts = strings_of(texts, "texts")
    if shard < 1:
        raise ValueError(f"shard must be at least 1; got {shard}.")
    folder = Path(folder).expanduser()
    digest = model_digest(model)
    folder.mkdir(parents=True, exist_ok=True)
    shards = {
        _path(folder, start // shard): texts[start : start + shard]
        for start in range(0, len(texts), shard)
    }
    strangers = sorted(set(folder.glob("*.safetensors")) - set(shards))
    if strangers:
        raise ValueError(
            f"{strangers[0]} is not a shard of these {len(texts):,} texts: name another folder."
        )
    # a link that leads nowhere is not missing: writing would follow it
    missing = {path: members for path, members in shards.items() if not os.path.lexists(path)}
    for path in sorted(shards.keys() - missing.keys()):
        _, metadata = _read(path)
        if metadata.get("texts") != _fingerprint([digest, *shards[path]]):
            raise ValueError(
                f"{path} holds vectors of other texts, of another model, or of shards of another "
                "size: name another folder."
            )
    already_written = len(shards) - len(missing)
    with progress_bar(total=len(shards), initial=already_written, unit="shard") as bar:
        for path, members in missing.items():
            vectors = embed(members, model=model).astype(np.float16)
            metadata = {"texts": _fingerprint([digest, *members])}
            write_whole(path, save({"vectors": vectors}, metadata), through_links=False)
            bar.update()
    return len(missing), already_written


def lines_of(path: str | Path) -> list[str]:
    """The texts in a file, one in each line. An empty line is a text too, the empty one.

    Raises ValueError if the file is not in UTF-8 or holds no text; OSError if it cannot be read, or
    is a pipe or a device.
    """
    try:
        text = read_named(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        text = None  # it is in another encoding
    # UTF-16 without accents is valid UTF-8, with a zero byte beside each letter
    if text is None or "\0" in text:
        raise ValueError(f"{path} is not text in UTF-8. Save it as UTF-8 in an editor.")
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if not any(map(str.strip, lines)):
        raise ValueError(f"{path} holds no texts: it should have one in each line.")
    return lines


def load_corpus(folder: str | Path) -> np.ndarray:
    """The vectors of all shards of a folder, in order: a float16 array (n, hidden).

    Raises ValueError if there are no shards, one in between is missing, or one is damaged, a link
    or no ordinary file. A last
    shard that is missing is not noticed: compare the number of rows with that of your texts.
    """
    paths = sorted(Path(folder).expanduser().glob("*.safetensors"))
    if not paths or paths != [_path(paths[0].parent, number) for number in range(len(paths))]:
        raise ValueError(
            f"{folder} does not hold all shards from the first to the last: run `course embed` "
            "again."
        )
    return np.concatenate([_read(path)[0] for path in paths])


def _path(folder: Path, number: int) -> Path:
    # as many digits for all, so that the names sort as the numbers do
    return folder / f"{number:08d}.safetensors"


def _fingerprint(texts: Sequence[str]) -> str:
    """A SHA-256 in hex of what a shard was computed from: the digest of a model, and texts.

    Each is hashed by itself first: joined as they are, "ab", "c" would equal "a", "bc".
    """
    # text from a broken file may hold lone surrogates, which plain UTF-8 refuses
    digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _read(path: Path) -> tuple[np.ndarray, dict[str, str]]:
    """(vectors, metadata) of a shard. Raises ValueError if it is damaged or no ordinary file."""
    from safetensors import SafetensorError, safe_open

    if not is_regular(path):
        kind = "a symbolic link" if path.is_symlink() else "no ordinary file"
        raise ValueError(f"{path} is {kind}, not a shard: delete it or name another folder.")
    try:
        with safe_open(path, "np") as file:
            return file.get_tensor("vectors"), file.metadata() or {}
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged ({error}): delete it, and run again.") from None
