"""The models and data that the sources of this course name, measured where a model hub can be reached.

    make named-models

fetches them one after the other (2.4 GB in all) and writes what it measures to `named_models.csv` beside this file.
A download that broke off goes on, and what is in the table is not measured again. Lessons show its rows.
"""

import gzip
import hashlib
import http.client
import shutil
import urllib.request
from collections import namedtuple
from pathlib import Path

import click

from .._support.downloads import EncoderError, hub_answers, hub_dataset, hub_snapshot
from .._support.files import file_sha256
from .._support.tables import write_table
from ..models import load_encoder, load_masked_lm, progress_bar
from .learning_curve import FOLDER

TABLE = FOLDER / "named_models.csv"  # one row per measure
AGAIN = "make named-models"
STSB, GLOVE = "mteb/stsbenchmark-sts", "glove-wiki-gigaword-300"
GLOVE_ADDRESS = f"https://github.com/piskvorky/gensim-data/releases/download/{GLOVE}/{GLOVE}.gz"
# The commit on the hub, or the MD5 that gensim's list states. None: the hub's own conversion to safetensors, which has
# no commit in the model's history; the weights that were measured first are then the only ones accepted.
Named = namedtuple("Named", "revision megabytes")
NAMED = {
    STSB: Named("b0fddb56ed78048fa8b90373c8a3cfc37b684831", 1),
    "prajjwal1/bert-small": Named(None, 116),
    "distilbert/distilroberta-base": Named("fb53ab8802853c8e4fbdbcd0529f21fc6f459b2b", 331),
    "google-bert/bert-base-uncased": Named("86b5e0934494bd15c9632b12f734a8a67f723594", 440),
    "sentence-transformers/all-mpnet-base-v2": Named("e8c3b32edf5434bc2275fc9bab85f82640a19130", 438),
    "google-bert/bert-base-multilingual-cased": Named("3f076fdb1ab68d5b2880cb87a0886f315b8146f8", 714),
    GLOVE: Named("29e9329ac2241937d55b852e8284e89b", 394),
}
PAIR = (
    "In 1995, the last survey, those numbers were equal.",
    "The last time the survey was conducted, in 1995, those numbers matched.",
)


def rows_of(name):
    """{measure: what was found} for a name of `NAMED`, as stored; empty if it was not run.

    Raises KeyError for another name.
    """
    known = NAMED[name]
    stored = [row for row in _stored(TABLE) if row["name"] == name and known.revision in (None, row["revision"])]
    return {row["measure"]: row["found"] for row in stored}


def show(*names, about=("",)):
    """Print what was measured of named models; nothing of those that were not run. Names and errors as in `rows_of`.

    about: only measures whose names hold one of these words.
    """
    for name in names:
        rows = rows_of(name)
        if rows:
            print(f"{name}: measured with transformers {rows['transformers']}")
        for measure, found in rows.items():
            if measure not in ("transformers", "torch") and any(word in measure for word in about):
                print(f"    {measure}: {found}")


def _stored(path):
    import csv

    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _said(interval):
    return "{:.3f} ({:.3f} to {:.3f})".format(*interval)


def _ahead(gold, one, other):
    from ..evaluation import spearman

    return spearman(gold, one) - spearman(gold, other)


def agreement(label, pairs, folder, best=None):
    """How well an encoder's cosines agree with the scores of pairs, and the differences that papers report.

    best: a layer that was highest on other pairs, to be compared with the last one. Returns (measures, highest layer).
    """
    from ..benchmark import similarities
    from ..evaluation import bootstrap, spearman

    spaces, gold = similarities(pairs, folder), pairs["score"].to_numpy()
    means = {name: values for name, values in spaces.items() if name.startswith("layer") and name.endswith("mean")}
    *_, last = means
    cls, glove = spaces[last.replace("mean", "cls")], spaces["GloVe, mean"]
    found = {
        f"Spearman on {label}, mean": _said(bootstrap(spearman, gold, means[last])),
        f"Spearman on {label}, mean minus GloVe": _said(bootstrap(_ahead, gold, means[last], glove)),
        f"Spearman on {label}, CLS minus GloVe": _said(bootstrap(_ahead, gold, cls, glove)),
        f"Spearman on {label}, mean minus CLS": _said(bootstrap(_ahead, gold, means[last], cls)),
    }
    if best:
        gain = _said(bootstrap(_ahead, gold, means[last], means[best]))
        found[f"Spearman on {label}, last layer minus {best}, the highest on other pairs"] = gain
    return found, max(means, key=lambda name: spearman(gold, means[name]))


def fills(folder):
    """The five likeliest words at a mask, with a full stop at the end and without one."""
    import torch

    tokenizer, model = load_masked_lm(folder)
    found = {}
    for text in ("The ___ sat on the mat.", "The ___ sat on the mat"):
        inputs = tokenizer(text.replace("___", tokenizer.mask_token), return_tensors="pt")
        with torch.inference_mode():
            logits = model(**inputs).logits[0, inputs["input_ids"][0] == tokenizer.mask_token_id][0]
        top = logits.softmax(-1).topk(5)
        found[text] = ", ".join(
            f"{tokenizer.decode(word).strip()} {value:.3f}" for word, value in zip(top.indices, top.values.tolist())
        )
    return found


def survey_pair(folder):
    """The cosines of a pair of a tutorial, by pooling; it has 0.866, 0.875 and 0.939 with bert-small."""
    from ..benchmark import layer_vectors, row_cosines

    layers = layer_vectors(PAIR, folder, ("cls", "mean", "max"))
    last = max(layer for layer, _ in layers)
    return {
        f"cosine of the pair of 1995, {pooling}": f"{row_cosines(vectors[:1], vectors[1:])[0]:.3f}"
        for (layer, pooling), vectors in layers.items()
        if layer == last
    }


def vocabulary(folder, pairs):
    """Whether the ids of the course's pairs are those of the packaged tokenizer, and the tokens per word."""
    texts = [*pairs["sentence1"], *pairs["sentence2"]]
    tokenizer, packaged = load_encoder(folder)[0], load_encoder("packaged")[0]
    ids, ours = tokenizer(texts)["input_ids"], packaged(texts)["input_ids"]
    pieces = tokenizer(texts, add_special_tokens=False)["input_ids"]
    return {
        "same ids as the packaged tokenizer": f"{sum(map(list.__eq__, ids, ours))} of {len(texts)} sentences",
        "tokens per word": f"{sum(map(len, pieces)) / sum(len(text.split()) for text in texts):.3f}",
    }


def measures(folder, tables):
    """{measure: found} of an encoder in a folder. tables: {label: scored pairs}."""
    model = load_encoder(folder)[1]
    shape = model.config.num_hidden_layers, model.config.num_attention_heads, model.config.hidden_size
    found = {
        "layers, heads, numbers per token": "{}, {}, {}".format(*shape),
        "parameters": f"{sum(part.numel() for part in model.parameters()):,}",
        **vocabulary(folder, tables["our pairs"]),
        **survey_pair(folder),
    }
    try:
        found |= fills(folder)
    except EncoderError:
        found["The ___ sat on the mat."] = "has no head for masked words"
    best = None
    for label, pairs in tables.items():
        agreed, best = agreement(label, pairs, folder, best)
        found |= agreed
    return found


def glove_measures(path, tables):
    """The mean of large GloVe vectors beside that of the packaged ones. path: gzipped text, a word and its numbers."""
    import numpy as np

    from ..benchmark import glove_vectors, row_cosines
    from ..evaluation import bootstrap, spearman
    from ..models import load_glove

    row_of, vectors = {}, []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)  # how many, of how many numbers
        for line in file:
            word, *numbers = line.rstrip().split(" ")
            row_of[word] = len(row_of)
            vectors.append(np.array(numbers, dtype=np.float32))
    large, found = (row_of, np.stack(vectors)), {"numbers per word": str(len(vectors[0]))}
    for name, pairs in tables.items():
        gold = pairs["score"].to_numpy()
        big, small = (
            row_cosines(*(glove_vectors(pairs[part].tolist(), table=table) for part in ("sentence1", "sentence2")))
            for table in (large, load_glove())
        )
        found[f"Spearman on {name}, mean"] = _said(bootstrap(spearman, gold, big))
        found[f"Spearman on {name}, minus 50 numbers a word"] = _said(bootstrap(_ahead, gold, big, small))
    return found


def fetch_file(address, path, md5):
    """Fetch a file by HTTP; one that broke off goes on. Raises EncoderError if it fails or has another checksum."""
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    have = part.stat().st_size if part.is_file() else 0
    try:
        request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
        with urllib.request.urlopen(request, timeout=30) as answer:
            more = answer.status == 206
            whole = int(answer.headers["Content-Length"]) + have * more
            with (
                part.open("ab" if more else "wb") as file,
                progress_bar(total=whole, initial=have * more, unit="B", unit_scale=True, desc=path.name) as bar,
            ):
                while piece := answer.read(1 << 20):
                    bar.update(file.write(piece))
        if part.stat().st_size != whole:
            raise ConnectionError
    except (OSError, http.client.HTTPException) as error:
        kept = part.stat().st_size if part.is_file() else 0
        raise EncoderError(
            f"Fetching {address} failed ({type(error).__name__}); {kept:,} bytes are kept, and the next run goes on."
        ) from None
    if hashlib.md5(part.read_bytes(), usedforsecurity=False).hexdigest() != md5:
        part.unlink()
        raise EncoderError(f"{address} does not have the checksum {md5}, so it was deleted.")
    return part.rename(path)


def checked(folder):
    """The SHA-256 of the weights in a folder of the hub's cache, compared with the hub's own where the cache has it.

    Raises EncoderError if they differ.
    """
    digests = []
    for path in sorted(Path(folder).glob("*.safetensors")):
        digests.append(file_sha256(path))
        stated = path.resolve().name  # the cache names a large file by the checksum that the hub stated
        if len(stated) == len(digests[-1]) and stated != digests[-1]:
            raise EncoderError(
                f"The weights in {path} do not have the checksum that the hub stated, so they are damaged. Delete "
                f"{path.resolve()}, and run {AGAIN} again."
            )
    return " ".join(digests)


def measured(name, tables, cache):
    """(checksum, {measure: found}) of a name, fetched first. Raises EncoderError in one sentence."""
    known = NAMED[name]
    if name == GLOVE:
        return known.revision, glove_measures(fetch_file(GLOVE_ADDRESS, cache / f"{GLOVE}.gz", known.revision), tables)
    folder = hub_snapshot(name, known.revision)
    return checked(folder), measures(str(folder), tables)


def stsb_pairs():
    """The test part of STS-B, at the revision that `NAMED` states. Raises EncoderError or DataError."""
    from ..data import read_parts

    return read_parts(hub_dataset(STSB, NAMED[STSB].revision))


def pending(stored, with_stsb):
    """The names that are not measured yet: at this revision, and on STS-B if it is there."""
    for name, known in NAMED.items():
        rows = [row for row in stored if row["name"] == name and known.revision in (None, row["revision"])]
        if not rows or (with_stsb and name != STSB and not any("STS-B" in row["measure"] for row in rows)):
            yield name


@click.command()
@click.option("--folder", default=FOLDER, type=click.Path(path_type=Path, file_okay=False, exists=True))
def main(folder):
    """Fetch and measure what is not in the table yet. What was measured stays, whatever fails."""
    import torch
    import transformers
    from huggingface_hub import constants

    from ..data import load_scored_pairs

    table, cache, failed = folder / TABLE.name, Path(constants.HF_HOME) / "course", []
    todo = list(pending(_stored(table), True))
    if not todo:
        click.echo(f"All {len(NAMED)} are in {table}.")
        return
    size = sum(NAMED[name].megabytes for name in todo)
    click.echo("To measure: " + ", ".join(f"{name} ({NAMED[name].megabytes} MB)" for name in todo))
    place = next(folder for folder in (cache, *cache.parents) if folder.exists())
    free = shutil.disk_usage(place).free / 1e6
    click.echo(f"Up to {size:,} MB to fetch; {free:,.0f} MB are free at {place}.")
    if free < size:
        raise click.ClickException(f"Free {size - free:,.0f} MB more, or set HF_HOME to a folder on another disk.")
    if not (online := hub_answers()):
        click.echo(f"No model hub answers at {constants.ENDPOINT}: only what was fetched before can be measured.")
    tables = {"our pairs": load_scored_pairs()}
    versions = {"transformers": transformers.__version__, "torch": torch.__version__.partition("+")[0]}
    for name in progress_bar(iterable=[STSB, *(name for name in todo if name != STSB)], unit="model"):
        try:
            if name == STSB:
                tables["STS-B"] = stsb_pairs()
                digest, found = "", {"pairs": f"{len(tables['STS-B']):,}"}
            else:
                digest, found = measured(name, tables, cache)
            earlier = {row["checksum"] for row in _stored(table) if row["name"] == name} - {""}
            if NAMED[name].revision is None and earlier - {digest}:
                raise EncoderError(f"The hub has other weights of {name} than those measured before; delete its rows.")
        except (EncoderError, ValueError, OSError) as error:
            failed.append(name)
            click.echo(f"{name}: {error if online else 'not here'}")
            continue
        row = {"name": name, "revision": NAMED[name].revision or digest, "checksum": digest}
        rows = [row | {"measure": measure, "found": text} for measure, text in (found | versions).items()]
        # in the order of `NAMED`, whatever the order of the runs
        everything = [one for one in _stored(table) if one["name"] != name] + rows
        write_table(sorted(everything, key=lambda one: list(NAMED).index(one["name"])), table)
        click.echo(f"{name}: {len(found)} measures")
    if failed:
        raise click.ClickException(f"{len(failed)} of {len(NAMED)} are missing; what was measured is in {table}.")


if __name__ == "__main__":
    main()
