"""Shared fixtures: the encoder, tiny models, and a guard that keeps every test on this machine."""

import os

os.environ["TQDM_DISABLE"] = "1"
# the grader starts in a third of the time; tests of answers request a warm one
os.environ["COURSE_COLD_SANDBOX"] = "1"
# vectors are computed afresh; tests/run.py names a folder that is empty at first
os.environ.setdefault("COURSE_VECTORS", "")
# huggingface_hub reads this when it is imported: so this process is offline (tests of the hub undo
# that), and the processes that tests start are as a learner has them
os.environ["HF_HUB_OFFLINE"] = "1"
from huggingface_hub import constants

del os.environ["HF_HUB_OFFLINE"]

import gc
import ipaddress
import socket
import string

import pytest
from hypothesis import settings

# a failing run can be repeated exactly
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

CHARACTERS = [*string.ascii_lowercase, *string.digits, *string.punctuation]
# the vocabulary of small models: one piece per character, and again with ## for those within a word
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *CHARACTERS,
    *(f"##{character}" for character in CHARACTERS),
]
# files that take long and that pytest would start late
LONG_BUT_LATE = {"test_take_along.py", "test_training.py", "test_workspace.py"}
SIZES = {  # of small models, as the configurations of transformers name them
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}


def random_model(kind, **sizes):
    """A model of this kind, as transformers names it, with random weights.

    sizes: of its configuration. The random numbers are torch's, so a seed repeats the weights.
    """
    from transformers import AutoConfig, AutoModel

    return AutoModel.from_config(AutoConfig.for_model(kind, **sizes)).eval()


def small_model(kind="bert", **sizes):
    """A small model with the same random weights each time; `tiny` holds the one of kind "bert".

    sizes: of its configuration, beside or in place of SIZES. Changes torch's seed.
    """
    import torch

    torch.manual_seed(0)
    return random_model(
        kind, **{"vocab_size": len(PIECES), "max_position_embeddings": 64, **SIZES, **sizes}
    )


def is_local(host):
    """Whether a host is this machine's loopback, by name or by number; None and "" count as it."""
    if host in (None, "", "localhost", "ip6-localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="module")
def open_page():
    """A function that opens a page in Chromium: see browser.py."""
    from .browser import chromium

    with chromium() as open_page:
        yield open_page


def pytest_collection_modifyitems(items):
    """Put the lessons and LONG_BUT_LATE first: a long file started last keeps one worker busy alone."""
    items.sort(
        key=lambda item: item.path.suffix != ".ipynb" and item.path.name not in LONG_BUT_LATE
    )


def pytest_terminal_summary(terminalreporter):
    """Report a run in which too much was skipped."""
    ended = {
        kind: len(terminalreporter.stats.get(kind, []))
        for kind in ("passed", "failed", "error", "skipped")
    }
    if ended["skipped"] * 10 > sum(ended.values()):
        terminalreporter.write_line(
            f"{ended['skipped']} of {sum(ended.values())} tests were skipped, more than a tenth: this proves little. "
            "With -rs, pytest shows what this machine lacks, and how to get it."
        )


@pytest.fixture(scope="session", autouse=True)
def only_this_machine():
    """Refuse connections (`connect`) and name lookups (`getaddrinfo`) beyond loopback, as libraries make them.

    Fails the test: libraries could swallow an OSError.
    """
    getaddrinfo = socket.getaddrinfo

    def refuse_remote(host):
        if not is_local(host):
            pytest.fail(f"a test wanted to reach {host}")

    def checked(connect):
        def call(self, address):
            if self.family in (socket.AF_INET, socket.AF_INET6):
                refuse_remote(address[0])
            return connect(self, address)

        return call

    def checked_getaddrinfo(host, *args, **kwargs):
        refuse_remote(host)
        return getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, checked(getattr(socket.socket, name)))
        patch.setattr(socket, "getaddrinfo", checked_getaddrinfo)
        yield


@pytest.fixture(scope="session")
def one_thread():
    """Use one thread: there are as many test processes as processors, and more threads would only wait."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def encoder(one_thread):
    """(tokenizer, model) of the packaged encoder."""
    from course_utils import load_encoder

    return load_encoder()


@pytest.fixture(scope="session")
def tiny(one_thread, tmp_path_factory):
    """The folder of a BERT with random weights, 64 tokens at most, one token per character.

    Copy it before changing it.
    """
    from transformers import BertTokenizer

    folder = tmp_path_factory.mktemp("models") / "tiny"
    small_model().save_pretrained(folder)
    BertTokenizer(
        vocab={piece: row for row, piece in enumerate(PIECES)}, model_max_length=64
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def sentence_model(tiny):
    """The tiny model, loaded by Sentence Transformers."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(tiny), device="cpu")


@pytest.fixture
def little_garbage():
    """Freeze all objects until this process ends: the garbage collector then skips them.

    A trainer calls it, which takes half a second if it visits the libraries' objects.
    """
    gc.freeze()


@pytest.fixture(scope="session")
def tiny_masked(tiny, tmp_path_factory):
    """The folder of a BERT as in `tiny`, but with a head for masked words, and its own weights."""
    import shutil

    import torch
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("masked") / "tiny"
    shutil.copytree(tiny, folder)
    torch.manual_seed(0)
    BertForMaskedLM(BertConfig.from_pretrained(tiny)).save_pretrained(folder)
    return folder


@pytest.fixture
def point_hub_at(monkeypatch, tmp_path):
    """A function that points huggingface_hub at an endpoint, or sets it offline.

    Its cache is empty.

    The library read its environment variables when it was imported: its constants are set instead.
    """
    from types import SimpleNamespace

    from huggingface_hub import file_download

    from course_utils._support.downloads import hub_dataset, hub_snapshot

    def point(endpoint, offline=False):
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(
            constants,
            "HUGGINGFACE_CO_URL_TEMPLATE",
            endpoint + "/{repo_id}/resolve/{revision}/{filename}",
        )
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        hub_dataset.cache_clear()
        hub_snapshot.cache_clear()

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    # the library sleeps between attempts: not here
    monkeypatch.setattr(file_download, "time", SimpleNamespace(sleep=lambda seconds: None))
    yield point
    hub_dataset.cache_clear()
    hub_snapshot.cache_clear()


@pytest.fixture
def shell():
    """IPython. Tests set `request`, which a kernel's shell has: what JupyterLab sends with a cell."""
    from IPython.core.interactiveshell import InteractiveShell

    class Shell(InteractiveShell):
        request = {}

        def get_parent(self):
            return self.request

    yield Shell.instance(user_ns={})
    Shell.clear_instance()


@pytest.fixture
def nowhere():
    """An endpoint where no server is listening."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{probe.getsockname()[1]}"
