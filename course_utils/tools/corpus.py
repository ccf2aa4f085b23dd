"""Embed a large corpus in shards, here or on a Dask cluster, and go on where an earlier run stopped.

A shard is a safetensors file with the vectors of some texts, in order, in float16, a digest of each text, and a
fingerprint of all of them. It is written whole or not at all, by the process that calls `embed_corpus`; workers only
compute. So a worker that dies loses what it was computing, a caller that dies loses what was not yet written, and
neither loses more. No shard is ever changed: texts that were edited go to a new folder, which takes the vectors of the
others from the old one.
"""

import contextlib
import hashlib
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np

from .._support.files import write_whole
from ..embedding import embed
from ..models import model_digest, progress_bar

JOINING = 30  # seconds that the first worker of a cluster has to join its scheduler
AHEAD = 3  # shards that wait or are computed, for each thread of the cluster


class CorpusError(RuntimeError):
    """The corpus cannot be embedded. The message is one sentence; what was written stays."""


def embed_corpus(texts, folder, scheduler=None, shard=1000, model=None, known=None):
    """Embed texts into a folder of shards. Shards that an earlier call has written are not computed again.

    texts: a list of strings; all of them, also when going on.
    folder: where the shards go; it is created if it is missing.
    scheduler: the address of a Dask scheduler ("tcp://10.0.0.1:8786"), or a `distributed.Client`. Its workers need the
    course, and no common file system. Without it, this process computes.
    shard: texts in a shard. When going on, it must be the same.
    model: a hub name or a folder, as for `load_encoder`; the same on all machines.
    known: the folder of an earlier call for other texts, complete or not. The texts that it holds are not computed
    again, wherever they now stand: after one file was edited, only its new pieces are computed.

    Returns (shards written now, shards found). Raises CorpusError for a folder that holds the vectors of other texts or
    of another model, a `known` without shards or of another model, a scheduler that cannot be reached or lost its
    workers; TypeError or ValueError as `embed` does.
    """
    texts, folder, of = list(texts), Path(folder).expanduser(), model_digest(model)
    if not texts or shard < 1:
        raise ValueError(f"at least one text and one text in a shard are needed; got {len(texts)} and {shard}")
    folder.mkdir(parents=True, exist_ok=True)
    parts = {_path(folder, number): texts[start : start + shard]
             for number, start in enumerate(range(0, len(texts), shard))}  # fmt: skip
    if extra := sorted({*folder.glob("*.safetensors")} - {*parts}):
        raise CorpusError(f"{extra[0]} is not a shard of these {len(texts):,} texts: name another folder.")
    todo = {path: part for path, part in parts.items() if not _written(path, part, of)}
    wanted = {_digest(text) for part in todo.values() for text in part}
    have = {} if known is None else _vectors_in(known, of, wanted)
    new = {path: [text for text in part if _digest(text) not in have] for path, part in todo.items()}
    unknown = {path: part for path, part in new.items() if part}
    compute = _here(unknown, model) if scheduler is None or not unknown else _on_cluster(unknown, model, scheduler)
    with progress_bar(total=len(parts), initial=len(parts) - len(todo), unit="shard") as bar:
        for path, vectors in chain(((path, ()) for path in todo if path not in unknown), compute):
            now = dict(zip(new[path], vectors))
            rows = [now[text] if text in now else have[_digest(text)] for text in todo[path]]
            _write(path, np.stack(rows), todo[path], of)
            bar.update()
    return len(todo), len(parts) - len(todo)


def lines_of(path):
    """The texts in a file, one a line. Raises CorpusError, with the line, if it is not in UTF-8 or holds no text."""
    data = Path(path).read_bytes()
    try:
        text = data.decode("utf-8-sig")
        encoded = "\0" not in text  # UTF-16 without accents is valid UTF-8, with a zero byte beside each letter
    except UnicodeDecodeError:
        encoded = False
    if not encoded:
        raise CorpusError(f"{path} is not text in UTF-8. Save it as UTF-8 in an editor.")
    lines = text.replace("\r\n", "\n").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    if not any(map(str.strip, lines)):
        raise CorpusError(f"{path} holds no texts: it should have one in each line.")
    return lines


def load_corpus(folder, texts=None):
    """The vectors of all shards of a folder, in the order of the texts: a float16 array (n, hidden).

    texts: the texts that you think these vectors are of; they are compared with those that were embedded.

    Raises CorpusError if there are no shards, one in between is missing, one is damaged, or the texts are others.
    Without `texts`, a last shard that is missing is not noticed: compare the number of rows with that of your texts.
    """
    paths = sorted(Path(folder).expanduser().glob("*.safetensors"))
    if not paths or paths != [_path(paths[0].parent, number) for number in range(len(paths))]:
        raise CorpusError(f"{folder} does not hold all shards from the first to the last: run `course embed` again.")
    shards = [_read(path) for path in paths]
    if texts is not None:
        embedded = [digest for _, digests, _ in shards for digest in digests]
        other = next((place for place, pair in enumerate(zip_longest(embedded, map(_digest, texts)))
                      if pair[0] != pair[1]), None)  # fmt: skip
        if other is not None:
            raise CorpusError(f"{folder} holds vectors of other texts, from the text at place {other:,} on.")
    return np.concatenate([vectors for vectors, _, _ in shards])


def _path(folder, number):
    return folder / f"{number:08d}.safetensors"


def _digest(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _read(path):
    """(vectors, a digest for each of their texts, that of the model) of a shard. Raises CorpusError if damaged."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            vectors, digests = file.get_tensor("vectors"), file.get_tensor("digests")
            return vectors, [one.tobytes() for one in digests], file.metadata()["model"]
    except (SafetensorError, KeyError, TypeError) as error:
        raise CorpusError(f"{path} is damaged ({error}): delete it, and run again.") from None


def _vectors_in(folder, model, wanted):
    """{digest of a text: its vector}, for those of the wanted ones that a folder of shards holds."""
    paths, known = sorted(Path(folder).expanduser().glob("*.safetensors")), {}
    if not paths:
        raise CorpusError(f"{folder} holds no shards: nothing in it is known.")
    for path in paths:
        vectors, digests, of = _read(path)
        if of != model:
            raise CorpusError(f"{path} holds vectors of another model: they cannot stand beside these.")
        known |= {digest: row for digest, row in zip(digests, vectors) if digest in wanted}
    return known


def _fingerprint(texts, of):
    """What a shard was computed from: texts, and a model by its digest. Lengths first, so that no two lists are one."""
    content = [text.encode("utf-8", "surrogatepass") for text in (of, *texts)]
    return hashlib.sha256(b"".join(len(one).to_bytes(8, "big") + one for one in content)).hexdigest()


def _written(path, texts, of):
    """Whether this shard is there. Raises CorpusError if it was computed from something else."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        return False
    try:
        with safe_open(path, "np") as file:
            stored = (file.metadata() or {}).get("texts")
    except SafetensorError as error:
        raise CorpusError(f"{path} is damaged ({error}): delete it, and run again.") from None
    if stored != _fingerprint(texts, of):
        raise CorpusError(
            f"{path} holds vectors of other texts, of another model, or of shards of another size: name another folder "
            "(and this one as `known`: then only those texts are computed that it lacks)."
        )
    return True


def _write(path, vectors, texts, of):
    from safetensors.numpy import save

    digests = np.array([list(_digest(text)) for text in texts], dtype=np.uint8)
    metadata = {"texts": _fingerprint(texts, of), "model": of}
    write_whole(path, save({"vectors": vectors, "digests": digests}, metadata))


def vectors_of(texts, model=None):
    """What a worker computes: (n, hidden), in float16."""
    return embed(texts, model=model).astype(np.float16)


def _here(parts, model):
    return ((path, vectors_of(part, model)) for path, part in parts.items())


def _on_cluster(parts, model, scheduler):
    """Yield (path, vectors) as they are computed. Few shards are on their way at a time, so memory stays small."""
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise CorpusError(
            "--scheduler needs dask.distributed: pip install -e '.[cluster]', here and on the cluster."
        ) from None
    given = isinstance(scheduler, Client)
    try:
        client = scheduler if given else Client(scheduler, timeout=20)
    except (OSError, ValueError) as error:
        raise CorpusError(f"There is no Dask scheduler at {scheduler} ({error}).") from None
    with contextlib.nullcontext() if given else client:
        try:
            client.wait_for_workers(1, timeout=JOINING)
        except TimeoutError:
            raise CorpusError(f"The Dask scheduler at {scheduler} has no workers.") from None
        waiting, path_of, done = iter(parts.items()), {}, as_completed(with_results=False)

        def submit():
            for path, part in waiting:
                future = client.submit(vectors_of, part, model, pure=False)
                path_of[future] = path
                done.add(future)
                return

        try:
            for _ in range(AHEAD * max(1, sum(client.nthreads().values()))):
                submit()
            for future in done:
                try:
                    vectors = future.result()
                except KilledWorker as error:
                    raise CorpusError(f"The cluster lost a worker too often ({error}).") from None
                yield path_of.pop(future), vectors
                submit()
        finally:
            client.cancel([*path_of])
