"""Embed a large corpus in shards, and go on where an earlier run stopped.

A shard is a safetensors file with the vectors of some texts, in order, in float16, a digest of each
text, and a fingerprint of all of them. It is written whole or not at all, by the process that calls
`embed_corpus`; workers only compute. So a worker that dies loses what it was computing, a caller
that dies loses what was not yet written, and neither loses more. No shard is ever changed: texts
that were edited go to a new folder.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from .._support.files import write_whole
from ..embedding import embed
from ..models import model_digest, progress_bar
from .cluster import cluster_at

AHEAD = 3  # shards that wait or are computed, for each thread of the cluster


class CorpusError(RuntimeError):
    """The corpus cannot be embedded. The message is one sentence; what was written stays."""


def embed_corpus(
    texts: Iterable[str], folder: str | Path, scheduler: str | None = None, shard: int = 1000, model: str | None = None
) -> tuple[int, int]:
    """Embed texts into a folder of shards.

    Shards that an earlier call has written are not computed again.

    texts: a list of strings; all of them, also when going on.
    folder: where the shards go; it is created if it is missing.
    scheduler: the address of a Dask scheduler, such as "tcp://10.0.0.1:8786". Its workers need the
    course, and no common file system. Without it, this process computes.
    shard: texts in a shard. When going on, it must be the same.
    model: a hub name or a folder, as for `load_encoder`; the same on all machines.

    Returns (shards written now, shards found). Raises CorpusError for a folder that holds the
    vectors of other texts or of another model; ClusterError; TypeError or ValueError as `embed`
    does.
    """
    texts, folder = list(texts), Path(folder).expanduser()
    if not texts or shard < 1:
        raise ValueError(f"at least one text and one text in a shard are needed; got {len(texts)} and {shard}")
    digest = model_digest(model)
    folder.mkdir(parents=True, exist_ok=True)
    parts = {}
    for number, start in enumerate(range(0, len(texts), shard)):
        parts[_path(folder, number)] = texts[start : start + shard]
    extra = sorted(set(folder.glob("*.safetensors")) - set(parts))
    if extra:
        raise CorpusError(f"{extra[0]} is not a shard of these {len(texts):,} texts: name another folder.")
    todo = {path: part for path, part in parts.items() if not _is_written(path, part, digest)}
    with progress_bar(total=len(parts), initial=len(parts) - len(todo), unit="shard") as bar:
        for path, vectors in _computed(todo, model, scheduler):
            _write(path, vectors, todo[path], digest)
            bar.update()
    return len(todo), len(parts) - len(todo)


def lines_of(path: str | Path) -> list[str]:
    """The texts in a file, one a line.

    Raises CorpusError, with the line, if it is not in UTF-8 or holds no text.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:  # UTF-16 without accents is valid UTF-8, with a zero byte beside each letter
        raise CorpusError(f"{path} is not text in UTF-8. Save it as UTF-8 in an editor.")
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if not any(map(str.strip, lines)):
        raise CorpusError(f"{path} holds no texts: it should have one in each line.")
    return lines


def load_corpus(folder: str | Path, texts: Iterable[str] | None = None) -> np.ndarray:
    """The vectors of all shards of a folder, in order: a float16 array (n, hidden).

    texts: the texts that you think these vectors are of; they are compared with those that were
    embedded.

    Raises CorpusError if there are no shards, one in between is missing, one is damaged, or the
    texts are others. Without `texts`, a last shard that is missing is not noticed: compare the
    number of rows with that of your texts.
    """
    paths = sorted(Path(folder).expanduser().glob("*.safetensors"))
    if not paths or paths != [_path(paths[0].parent, number) for number in range(len(paths))]:
        raise CorpusError(f"{folder} does not hold all shards from the first to the last: run `course embed` again.")
    shards = [_read(path) for path in paths]
    if texts is not None:
        embedded = [digest for _, digests, _ in shards for digest in digests]
        if embedded != [_digest(text) for text in texts]:
            raise CorpusError(f"{folder} holds vectors of other texts.")
    return np.concatenate([vectors for vectors, _, _ in shards])


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:08d}.safetensors"


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _read(path: Path) -> tuple[np.ndarray, list[bytes], dict[str, str]]:
    """(vectors, a digest for each of their texts, metadata) of a shard.

    Raises CorpusError if it is damaged.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            digests = [row.tobytes() for row in file.get_tensor("digests")]
            return file.get_tensor("vectors"), digests, file.metadata() or {}
    except SafetensorError as error:
        raise CorpusError(f"{path} is damaged ({error}): delete it, and run again.") from None


def _fingerprint(texts: Sequence[str], model: str) -> str:
    """What a shard was computed from: texts, and a model by its digest."""
    return hashlib.sha256(b"".join(map(_digest, [model, *texts]))).hexdigest()


def _is_written(path: Path, texts: Sequence[str], model: str) -> bool:
    """Whether this shard is there. Raises CorpusError if it was computed from something else."""
    if not path.exists():
        return False
    _, _, metadata = _read(path)
    if metadata.get("texts") != _fingerprint(texts, model):
        raise CorpusError(
            f"{path} holds vectors of other texts, of another model, or of shards of another size: name another folder."
        )
    return True


def _write(path: Path, vectors: np.ndarray, texts: Sequence[str], model: str) -> None:
    from safetensors.numpy import save

    digests = np.array([list(_digest(text)) for text in texts], dtype=np.uint8)
    metadata = {"texts": _fingerprint(texts, model), "model": model}
    write_whole(path, save({"vectors": vectors, "digests": digests}, metadata))


def vectors_of(texts: Sequence[str], model: str | None = None) -> np.ndarray:
    """What a worker computes: (n, hidden), in float16."""
    return embed(texts, model=model).astype(np.float16)


def _computed(
    parts: dict[Path, list[str]], model: str | None, scheduler: str | None
) -> Iterator[tuple[Path, np.ndarray]]:
    """Yield (path, vectors) of each part."""
    if parts and scheduler is not None:
        yield from _on_cluster(parts, model, scheduler)
    else:
        for path, part in parts.items():
            yield path, vectors_of(part, model)


def _on_cluster(parts: dict[Path, list[str]], model: str | None, scheduler: str) -> Iterator[tuple[Path, np.ndarray]]:
    """Yield (path, vectors) as they are computed.

    Few shards are on their way at a time, so memory stays small.
    """
    with cluster_at(scheduler) as client:
        from distributed import as_completed  # pyrefly: ignore[missing-import]

        waiting = iter(parts.items())
        path_of = {}
        done = as_completed()

        def submit(number: int) -> None:
            for path, part in itertools.islice(waiting, number):
                future = client.submit(vectors_of, part, model, pure=False)
                path_of[future] = path
                done.add(future)

        try:
            submit(AHEAD * max(1, sum(client.nthreads().values())))
            for future in done:
                yield path_of.pop(future), future.result()
                submit(1)
        finally:
            client.cancel([*path_of])
