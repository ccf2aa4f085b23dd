"""embed: the same vectors as sentence-transformers, in order, for any input; and its warnings and
errors.
"""

import contextlib
import itertools
import json
import random
import re
import shutil
import warnings
from operator import methodcaller
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies
from IPython.core.displaypub import CapturingDisplayPublisher
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import (
    Dense,
    LayerNorm,
    Normalize,
    Pooling,
    Transformer,
)

from course_utils import embed, load_encoder, load_reviews
from course_utils._support.bars import progress_bar
from course_utils._support.downloads import EncoderError, packaged_encoder
from course_utils.pooling import POOLINGS

# many texts here are too long on purpose; the test of the warning listens to all
pytestmark = pytest.mark.filterwarnings("ignore:[0-9]+ of [0-9]+ sentences are longer")
LONG = " ".join(["word"] * 2000)
AWKWARD = {
    "empty": [""],
    "blank": ["", " ", "\n\t", "\u200b"],
    "one word": ["film"],
    "emoji": ["🙂", "👩‍👩‍👧‍👦 family", "🇫🇷", "I ❤️ it"],
    "duplicates": ["the same"] * 5 + ["another"] + ["the same"],
    "2,000 words among short ones": ["short", LONG, "", LONG + " end", "also short"],
    "one very long word": ["a" * 5000, "supercalifragilisticexpialidocious" * 20],
    "control characters": ["a\x00b", "\x07bell\x1b[31m red\x7f", "\ufeffmark", "line\r\nbreak"],
    "scripts": ["Größe naïve Ærø", "日本語の文", "العربية", "Ελληνικά", "ñ n\u0303", "ﬁne"],
    "special tokens written out": ["[CLS] [SEP] [MASK] [PAD] [UNK]"],
    "markup": ["<br />", "&amp;", "{}%s\\n", "'; --"],
}


@pytest.fixture(scope="module")
def library(encoder):
    """The packaged encoder loaded by sentence-transformers: a transformer, mean pooling and
    normalisation.
    """
    return SentenceTransformer(str(packaged_encoder()), device="cpu")


def assert_same(ours, theirs):
    assert (type(ours), ours.dtype, ours.shape) == (np.ndarray, np.float32, theirs.shape)
    # vectors of length 1 in float32, whose sums are rounded in another order
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_sentences_have_the_librarys_vectors(case, library):
    sentences = AWKWARD[case]
    assert_same(embed(sentences), library.encode(sentences))


@settings(max_examples=25)
@given(strategies.lists(strategies.text(max_size=40), min_size=1, max_size=6))
def test_any_sentences_have_the_librarys_vectors(library, sentences):
    assert_same(embed(sentences), library.encode(sentences))


@pytest.fixture(scope="module")
def mixed():
    """60 real texts: 46 short sentences, 12 of any length, and two of several paragraphs, one of
    which must be truncated.
    """
    sentences = load_reviews("rotten_tomatoes")["text"]
    short = sentences[sentences.str.count(" ") < 12]
    paragraphs = [" ".join(sentences[:number]) for number in (7, 30)]
    texts = [*short.sample(46, random_state=0), *sentences.sample(12, random_state=0), *paragraphs]
    return random.Random(1).sample(texts, len(texts))  # shuffled


def test_real_texts_of_all_lengths_have_the_librarys_vectors(library, mixed):
    # small batches, for speed: in the library's usual 32, a long text pads 31 others
    assert_same(embed(mixed), library.encode(mixed, batch_size=8))


@pytest.mark.parametrize(
    "pooling, normalize", [("cls", True), *((pooling, False) for pooling in POOLINGS)]
)
def test_other_poolings_are_the_librarys(pooling, normalize, library, mixed):
    # so many tokens that they are packed
    sentences = [*AWKWARD["emoji"], *AWKWARD["scripts"], *mixed[:16], "", LONG]
    their_model = SentenceTransformer(
        modules=[library[0], Pooling(384, pooling_mode=pooling)], device="cpu"
    )
    ours = embed(sentences, pooling=pooling, normalize=normalize)
    theirs = their_model.encode(sentences, batch_size=4, normalize_embeddings=normalize)
    # rounding errors grow with a vector's length, which is 6 to 10 before it is normalised
    lengths = np.linalg.norm(theirs, axis=1, keepdims=True)
    assert_same(ours / lengths, theirs / lengths)
    assert np.allclose(lengths, 1) == normalize


def test_several_poolings_in_one_reading_are_those_of_one_each(tiny):
    texts = ["a b", "x", "", "a b", "x y z x"]
    together = embed(texts, pooling=("cls", "mean"), model=tiny)
    assert isinstance(together, tuple)
    for name, vectors in zip(("cls", "mean"), together, strict=True):
        assert_same(vectors, embed(texts, pooling=name, model=tiny))


# What may be given


def change_json(path, **settings):
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def old_layout(folder):
    """The transformer in a folder of its own, its length in a file named after its kind."""
    inner = folder / "0_Transformer"
    inner.mkdir()
    for path in list(folder.iterdir()):
        if path.is_file() and path.name not in (
            "modules.json",
            "config_sentence_transformers.json",
        ):
            path.rename(inner / path.name)
    (inner / "sentence_bert_config.json").unlink()
    (inner / "sentence_distilbert_config.json").write_text(
        json.dumps({"max_seq_length": 12, "do_lower_case": False})
    )
    modules = json.loads((folder / "modules.json").read_text())
    modules[0] |= {"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 32, "pooling_mode_cls_token": True})
    )


def own_class(folder):
    # the transformer is of a class that is not the library's
    path = folder / "modules.json"
    modules = json.loads(path.read_text())
    modules[0]["type"] = "custom_st.Transformer"
    path.write_text(json.dumps(modules))


ACCEPTED = {  # name: arguments of `saved`
    "mean": {},
    "cls": {"pooling_mode": "cls"},
    "max": {"pooling_mode": "max", "more": [Normalize()]},
    "a prompt": {
        "pooling_mode": "cls",
        "prompts": {"q": "query: ", "p": "no"},
        "default_prompt_name": "q",
    },
    "prompts without a default": {"prompts": {"query": "query: "}},
    "old": {"afterwards": old_layout},
}
REFUSED = {  # name: (arguments of `saved`, words of the refusal)
    "weighted mean": ({"pooling_mode": "weightedmean"}, "pools in another way, weightedmean,"),
    "last token": ({"pooling_mode": "lasttoken"}, "pools in another way, lasttoken,"),
    "two": ({"pooling_mode": ("cls", "max")}, "pools in another way, cls with max,"),
    "cut vectors": ({"truncate_dim": 8}, "cuts its vectors (truncate_dim),"),
    "cut on the left": (
        {
            "afterwards": lambda folder: change_json(
                folder / "tokenizer_config.json", truncation_side="left"
            )
        },
        "cuts off the beginning of long texts",
    ),
    "other settings": (
        {
            "afterwards": lambda folder: change_json(
                folder / "sentence_bert_config.json", config_args={"num_hidden_layers": 1}
            )
        },
        "settings that embed does not know (config_args),",
    ),
    "a class of its own": (
        {"afterwards": own_class},
        "has a further layer, custom_st.Transformer,",
    ),
    "dense": ({"more": [Dense(32, 16)]}, "has a further layer, Dense,"),
    "layer norm": ({"more": [LayerNorm(32)]}, "has a further layer, LayerNorm,"),
    "a prompt aside": (
        {"include_prompt": False, "prompts": {"q": "query: "}, "default_prompt_name": "q"},
        "leaves its prompt out of the pooling,",
    ),
}


def saved(
    folder,
    tiny,
    prompts=None,
    default_prompt_name=None,
    more=(),
    afterwards=None,
    truncate_dim=None,
    **pooling,
):
    """Save a model as the library does.

    more: modules behind the pooling. afterwards: a function that changes the folder. pooling:
    arguments of Pooling.
    """
    modules = [Transformer(str(tiny)), Pooling(**{"embedding_dimension": 32, **pooling}), *more]
    SentenceTransformer(
        modules=modules,
        device="cpu",
        prompts=prompts,
        default_prompt_name=default_prompt_name,
        truncate_dim=truncate_dim,
    ).save(str(folder))
    if afterwards:
        afterwards(folder)
    return folder


@pytest.mark.parametrize("arguments", ACCEPTED.values(), ids=ACCEPTED)
def test_what_a_folder_says_is_done_as_the_library_does_it(arguments, tiny, tmp_path):
    folder = saved(tmp_path / "model", tiny, **arguments)
    texts = ["one two", "a longer sentence, cut by some", "  x "]
    expected = SentenceTransformer(str(folder), device="cpu").encode(
        texts, normalize_embeddings=True
    )
    for model in (folder, load_encoder(folder)):
        assert_same(embed(texts, model=model), expected)
    assert embed(texts, "max", model=folder).shape == (3, 32)


@pytest.mark.parametrize("arguments, words", REFUSED.values(), ids=REFUSED)
def test_a_folder_that_asks_for_more_is_refused_unless_a_pooling_is_named(
    arguments, words, tiny, tmp_path
):
    folder = saved(tmp_path / "model", tiny, **arguments)
    with pytest.raises(
        EncoderError, match=rf"{re.escape(words)}.* Use SentenceTransformer\.encode"
    ):
        embed(["x"], model=folder)
    assert embed(["x"], "max", model=folder).shape == (1, 32)


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("modules.json", "{", "modules.json is damaged"),
        ("modules.json", '[{"type": "Transformer"}]', "is damaged"),
        (
            "modules.json",
            '[{"type": "x.Pooling", "path": "../else"}]',
            "points outside this folder",
        ),
        ("1_Pooling/config.json", "[]", "config.json is damaged"),
        ("sentence_bert_config.json", '{"do_lower_case": true}', "in lower case"),
        ("adapter_config.json", "{}", "holds an adapter (LoRA)"),
    ],
)
def test_a_damaged_folder_of_the_library_is_named(name, text, words, tiny, tmp_path):
    folder = saved(tmp_path / "model", tiny)
    (folder / name).write_text(text)
    with pytest.raises(EncoderError, match=re.escape(words)):
        embed(["a"], model=folder)


SEQUENCES = {  # what makes a sequence of a list of strings
    "the list itself": lambda sentences: sentences,
    "tuple": tuple,
    "iterator": iter,
    "generator": lambda sentences: (text for text in sentences),
    "keys": lambda sentences: dict.fromkeys(sentences).keys(),
    "series": lambda sentences: pd.Series(sentences, index=[7, 7, 9]),
    "array of pandas": lambda sentences: pd.Series(sentences).array,
    "index": pd.Index,
    "array": np.array,
    "array of objects": lambda sentences: np.array(sentences, dtype=object),
    "numpy's strings": lambda sentences: [np.str_(text) for text in sentences],
}


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES)
def test_every_sequence_of_strings_is_accepted_and_stays_as_it_is(sequence, tiny):
    sentences = ["one", "two", "three"]
    assert np.array_equal(
        embed(sequence(sentences), model=tiny), embed(["one", "two", "three"], model=tiny)
    )
    assert sentences == ["one", "two", "three"], "the caller's list stays as it is"


def test_a_model_may_be_given_as_a_pair_or_as_its_folder(tiny, encoder):
    pair = load_encoder(tiny)
    for model in (pair, list(pair), tiny, str(tiny)):
        assert np.array_equal(embed(["x y"], model=model), embed(["x y"], model=pair))
    assert np.array_equal(embed(["x y"], model=encoder), embed(["x y"]))


LIST, STRING = "sentences must be a list of strings; got ", r" must be a string; got "
BAD = {
    "a string": ("a film", TypeError, rf"{LIST}one string. Write embed\(\[sentence\]\)"),
    "an empty string": ("", TypeError, "got one string"),
    "bytes": (b"a film", TypeError, f"{LIST}bytes"),
    "nothing": (None, TypeError, f"{LIST}NoneType"),
    "a number": (3, TypeError, f"{LIST}int"),
    "a dictionary": ({"a": 1}, TypeError, f"{LIST}dict"),
    "a set": ({"a", "b"}, TypeError, f"{LIST}set"),
    "a frozen set": (frozenset("ab"), TypeError, f"{LIST}frozenset"),
    "a table": (pd.DataFrame({"text": ["a"], "label": [1]}), TypeError, f"{LIST}DataFrame"),
    "an array of two dimensions": (np.array([["a"]]), TypeError, f"{LIST}ndarray"),
    "an array of none": (np.array("a"), TypeError, f"{LIST}ndarray"),
    "a number within": (["a", 3], TypeError, rf"sentences\[1\]{STRING}int"),
    "a missing value": (
        pd.Series(["a", None, "b"]),
        TypeError,
        rf"sentences\[1\]{STRING}(float|NoneType|NAType)",
    ),
    "bytes within": (["a", "b", b"c"], TypeError, rf"sentences\[2\]{STRING}bytes"),
    "lists within": ([["a"]], TypeError, rf"sentences\[0\]{STRING}list"),
    "pairs within": ([("a", "b")], TypeError, rf"sentences\[0\]{STRING}tuple"),
    "half a character": (
        ["a", "b \ud83d c"],
        ValueError,
        r"sentences\[1\] holds half a character .*at position 2",
    ),
    "no sentences": ([], ValueError, "sentences is empty: there is nothing to embed"),
    "an empty series": (pd.Series([], dtype=str), ValueError, "sentences is empty"),
    "a spent iterator": (iter(()), ValueError, "sentences is empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_sentences_are_named(case, tiny):
    sentences, error, words = BAD[case]
    with pytest.raises(error, match=words):
        embed(sentences, model=tiny)


@pytest.mark.parametrize("pooling", ["average", "MEAN", "", 3, ["mean"], (), ("mean", "average")])
def test_an_unknown_pooling_is_named(pooling, tiny):
    with pytest.raises(ValueError, match=r"pooling must be one of \['cls', 'max', 'mean'\]; got"):
        embed(["a"], model=tiny, pooling=pooling)


@pytest.mark.parametrize("precision", ["float16", None, 32, ["float32"]])
def test_an_unknown_precision_is_named(precision, tiny):
    with pytest.raises(
        ValueError, match=r"precision must be one of \['bfloat16', 'float32'\]; got"
    ):
        embed(["a"], model=tiny, precision=precision)


def test_another_form_of_model_is_named(encoder, library):
    tokenizer, model = encoder
    for wrong in (model, tokenizer, library, (tokenizer,), (model, tokenizer), 3, {}):
        words = rf"model must be .* the pair \(tokenizer, model\) .*; got {type(wrong).__name__}"
        with pytest.raises(TypeError, match=words):
            embed(["a"], model=wrong)


# Long sentences


def pieces(number):
    return "a " * number  # the tiny model's tokenizer adds two special tokens


@pytest.mark.parametrize(  # 62 pieces and two special tokens are the model's 64
    "lengths, cut",
    [([62], 0), ([63], 1), ([1, 62, 63, 64, 0], 2), ([200, 200, 200, 10], 3), ([310, 310], 2)],
)
def test_one_warning_counts_the_cut_sentences(lengths, cut, tiny):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        vectors = embed([pieces(length) for length in lengths], model=tiny)
    words = (
        f"{cut} of {len(lengths)} sentences are longer than the model's 64 tokens; "
        "the rest of each was cut off"
    )
    # it points at the caller's line
    expected = [(words, __file__)] if cut else []
    assert [(str(warning.message), warning.filename) for warning in caught] == expected
    assert vectors.shape == (len(lengths), 32)


# Progress


@pytest.mark.parametrize(
    "disable, seconds_a_look, shown", [("0", 1, True), ("0", 0, False), ("1", 1, False)]
)
def test_a_bar_shows_after_two_seconds(disable, seconds_a_look, shown, tiny, capsys, monkeypatch):
    """seconds_a_look: by so much tqdm's clock goes on each time it is read."""
    monkeypatch.setattr("tqdm.std.time", itertools.count(0, seconds_a_look).__next__)
    monkeypatch.setenv("TQDM_DISABLE", disable)
    embed([f"{pieces(30)} {number}" for number in range(100)], model=tiny)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("token/s" in captured.err) == shown, captured.err


@pytest.fixture
def published(shell):
    """The outputs that a notebook is sent in this process.

    Of each: {"data": ..., "update": whether it replaces the last}.
    """
    shell.kernel = None
    shell.display_pub = CapturingDisplayPublisher()
    return shell.display_pub.outputs


STEP = methodcaller("update")
INTERRUPT = Mock(side_effect=KeyboardInterrupt)


@pytest.mark.parametrize(
    "actions, last_text",
    [  # (what is done with the bar, each after so many seconds; how its last text begins)
        ([(1, STEP)] * 10, "100%"),
        ([(3, STEP), (0, INTERRUPT)], " 10%"),
        ([(0, methodcaller("set_description", "too early"))], None),
        ([(3, methodcaller("set_description", "nothing else"))], "nothing else"),
    ],
    ids=["whole", "broken off", "early", "late"],
)
def test_in_a_notebook_a_bar_begins_and_ends_empty(actions, last_text, published, monkeypatch):
    clock = [0]
    monkeypatch.setattr("tqdm.std.time", lambda: clock[0])
    monkeypatch.setenv("TQDM_DISABLE", "0")
    with contextlib.suppress(KeyboardInterrupt), progress_bar(total=10) as bar:
        for seconds, act in actions:
            clock[0] += seconds
            act(bar)
    shown = [(output["data"], output["update"]) for output in published]
    if last_text is None:
        assert not shown
    else:
        assert shown[0] == ({"text/plain": ""}, False), "a page without updates keeps this state"
        assert shown[-2][0]["text/plain"].startswith(last_text)
        assert shown[-1] == ({}, True)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("interrupted", [True, False])
def test_a_shared_pair_that_somebody_changed_gives_the_same_and_stays_changed(
    packed, interrupted, encoder, monkeypatch
):
    tokenizer, model = encoder
    sentences = ["short", "a somewhat longer sentence", "word " * 400]
    if not packed:
        # as for a model that is no plain BERT, whose sentences are not packed
        monkeypatch.setattr("course_utils.embedding.fits", lambda encoder: False)
    before = embed(sentences)
    model.train()
    tokenizer.padding_side = tokenizer.truncation_side = "left"
    try:
        if interrupted:
            monkeypatch.setattr("course_utils._support.routes.by_length", INTERRUPT)
            with pytest.raises(KeyboardInterrupt):
                embed(sentences)
        else:
            assert np.array_equal(embed(sentences), before)
        assert model.training
        assert model.embeddings.dropout.training, "every part, not only the model"
        assert tokenizer.padding_side == tokenizer.truncation_side == "left"
    finally:
        model.eval()
        tokenizer.padding_side = tokenizer.truncation_side = "right"


def test_a_text_without_tokens_is_named(tiny, tmp_path):
    folder = shutil.copytree(tiny, tmp_path / "bare")
    change_json(folder / "tokenizer.json", post_processor=None)  # no [CLS], no [SEP]
    change_json(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    assert len(embed(["one"], model=folder)) == 1
    with pytest.raises(ValueError, match="'' has no tokens for this model"):
        embed(["one", ""], model=folder)
