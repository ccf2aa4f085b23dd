"""`make named-models` on a hub that is imitated: small random models under the same names."""

import gzip
import hashlib
import shutil
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from click.testing import CliRunner
from huggingface_hub import constants

from course_utils import data
from course_utils.trainings import named_models
from course_utils.trainings.named_models import GLOVE, NAMED, STSB, main, rows_of, show

from .hub import Hub, pull_request

SMALL, BASE, DISTIL = "prajjwal1/bert-small", "google-bert/bert-base-uncased", "distilbert/distilroberta-base"
MODELS = [name for name in NAMED if name not in (STSB, GLOVE)]
pytestmark = pytest.mark.nightly  # what only authors run
WORDS = b"3 2\nthe 1.0 0.5\ncat 0.2 -1.0\na -0.3 0.4\n"


def commit(name, branch="main"):
    return hashlib.sha1(f"{name} {branch}".encode()).hexdigest()


@pytest.fixture
def there(tmp_path, tiny_masked, ask, monkeypatch):
    """The folders of the hub, and the table that the runs write. `run(hub settings)` is one run."""
    pairs = data.load_scored_pairs().head(30)
    monkeypatch.setattr(data, "load_scored_pairs", lambda: pairs)
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "home"))
    places = SimpleNamespace(table=tmp_path / "out" / "named_models.csv", glove=tmp_path / "vectors")
    for folder in ("out", "vectors", "stsb/data", "pickles"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(named_models, "TABLE", places.table)
    pairs[["sentence1", "sentence2", "score"]].to_parquet(tmp_path / "stsb" / "data" / "test-0.parquet")
    (tmp_path / "pickles" / "pytorch_model.bin").write_bytes(b"never fetched")
    (places.glove / "glove.gz").write_bytes(gzip.compress(WORDS))
    places.models = dict.fromkeys(MODELS, tiny_masked) | {STSB: tmp_path / "stsb", "tiny/glove": places.glove}
    places.models[SMALL] = {"main": tmp_path / "pickles", "refs/pr/1": tiny_masked}
    known = {name: one._replace(revision=commit(name)) for name, one in NAMED.items()}
    known[SMALL] = NAMED[SMALL]
    known[GLOVE] = NAMED[GLOVE]._replace(revision=hashlib.md5((places.glove / "glove.gz").read_bytes()).hexdigest())
    monkeypatch.setattr(named_models, "NAMED", known)
    places.known = known

    def run(**settings):
        talk = {SMALL: [pull_request(1, "Adding `safetensors` variant of this model")]}
        with Hub(places.models, discussions=talk, **settings) as hub:
            ask(hub.endpoint)
            monkeypatch.setattr(named_models, "GLOVE_ADDRESS", f"{hub.endpoint}/tiny/glove/resolve/main/glove.gz")
            done = CliRunner().invoke(main, ["--folder", str(places.table.parent)])
        places.requests = hub.requests
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    places.run = run
    return places


def names(there):
    return list(dict.fromkeys(pd.read_csv(there.table)["name"])) if there.table.is_file() else []


def test_all_are_measured_once_and_shown(there, capsys):
    show(STSB)
    assert capsys.readouterr().out == ""  # nothing of what was never run
    done = there.run()
    assert done.exit_code == 0, done.output
    assert f"{DISTIL} (331 MB)" in done.output and "2,434 MB to fetch" in done.output
    assert names(there) == list(NAMED)
    assert not any("pytorch_model.bin" in path for _, path in there.requests)
    rows = rows_of(BASE)
    assert rows["layers, heads, numbers per token"] == "2, 4, 32" and rows["transformers"]
    measures = {measure.partition(",")[0] for measure in rows}
    assert {"Spearman on our pairs", "Spearman on STS-B", "cosine of the pair of 1995"} <= measures
    assert rows["The ___ sat on the mat."].count(",") == 4 and " to " in rows["Spearman on STS-B, mean minus GloVe"]
    assert rows_of(GLOVE)["numbers per word"] == "2"
    show(BASE, about=("layers,",))
    assert capsys.readouterr().out.splitlines()[1:] == ["    layers, heads, numbers per token: 2, 4, 32"]
    before = there.table.read_bytes()
    assert "All 7 are in" in there.run().output and there.table.read_bytes() == before and there.requests == []


def test_half_a_download_goes_on_and_what_was_measured_stays(there):
    done = there.run(cut={"glove.gz": 20})
    assert done.exit_code == 1 and "20 bytes are kept" in done.output and "1 of 7 are missing" in done.output
    assert names(there) == [name for name in NAMED if name != GLOVE]
    done = there.run()
    assert done.exit_code == 0 and names(there) == list(NAMED)
    assert done.output.startswith(f"To measure: {GLOVE} (394 MB)\n")


def test_a_wrong_checksum(there):
    (there.glove / "glove.gz").write_bytes(gzip.compress(WORDS + b"dog 1.0 1.0\n"))
    done = there.run()
    assert "does not have the checksum" in done.output and GLOVE not in names(there)
    (blob,) = {path.resolve() for path in _cached(BASE)}
    blob.write_bytes(blob.read_bytes()[:-1] + b"!")
    rows = pd.read_csv(there.table)
    rows[rows["name"] != BASE].to_csv(there.table, index=False)
    done = there.run()
    assert "do not have the checksum that the hub stated" in done.output
    assert names(there) == [name for name in NAMED if name not in (BASE, GLOVE)]


def _cached(name):
    folder = Path(constants.HF_HUB_CACHE) / f"models--{name}".replace("/", "--")
    return list((folder / "snapshots").rglob("*.safetensors"))


def test_another_revision_is_measured_again_and_one_that_the_hub_lacks_is_named(there):
    there.run()
    there.known[DISTIL] = there.known[DISTIL]._replace(revision="0" * 40)
    assert rows_of(DISTIL) == {}
    done = there.run()
    assert f"has no revision {'0' * 40} of {DISTIL!r}" in done.output and done.exit_code == 1
    assert names(there) == list(NAMED), "the earlier rows stay"


def test_other_weights_of_a_model_without_a_commit_are_refused(there, tmp_path, tiny):
    there.run()
    rows = pd.read_csv(there.table)
    rows = rows[~((rows["name"] == SMALL) & rows["measure"].str.contains("STS-B"))]  # so that it is measured again
    rows.to_csv(there.table, index=False)
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    there.models[SMALL]["refs/pr/1"] = tiny
    before = pd.read_csv(there.table)
    done = there.run()
    assert f"The hub has other weights of {SMALL}" in done.output and before.equals(pd.read_csv(there.table))


def test_no_disk(there, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=2e9))
    done = there.run()
    assert done.exit_code == 1 and "Error: Free 434 MB more, or set HF_HOME" in done.output
    assert there.requests == [] and not there.table.exists()


def test_no_network(there, ask, nowhere, monkeypatch):
    there.run(cut={"model.safetensors": 9})
    assert names(there) == [STSB, GLOVE]
    ask(nowhere)
    monkeypatch.setattr(named_models, "GLOVE_ADDRESS", f"{nowhere}/glove.gz")
    done = CliRunner().invoke(main, ["--folder", str(there.table.parent)])
    assert f"No model hub answers at {nowhere}" in done.output and f"{BASE}: not here" in done.output
    assert done.exit_code == 1 and names(there) == [STSB, GLOVE]
