"""Attention: equal to the library's, scores equal to slow loops, and the same views everywhere."""

import base64
import contextlib
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from statistics import fmean

import pytest
import torch
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from course_utils import attention, models, plots
from course_utils.attention import attend, attention_weights, head_scores, head_view, model_view, patching_map
from notebooks.conftest import nearly_equal

AWKWARD = [
    "[CLS]", "</script>", "<b>", "##ing", '"', "'", "&amp;", "\\", "$$", "$x^$", "🙂", "<!--", "é", "PYTHON_PARAMS",
    "const params = 1;", "https://cdnjs.cloudflare.com/x.js", "bertviz-" + "0" * 32, "Ġword", "</iframe>", "[SEP]",
]  # fmt: skip
VIEWS = pytest.mark.parametrize("view", [head_view, model_view])


@pytest.fixture(autouse=True)
def style():
    plots.use_style()


def random_attentions(layers, heads, n, seed=0):
    return torch.randn(layers, heads, n, n, generator=torch.Generator().manual_seed(seed)).mul(3).softmax(-1)


# attention_weights


MASKS = [torch.bool, torch.int64, torch.float32]


@st.composite
def queries_keys_masks(draw):
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    queries, keys, size = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 6))
    mask = (torch.rand(keys, generator=generator) < 0.6).to(draw(st.sampled_from(MASKS)))
    mask[draw(st.integers(0, keys - 1))] = 1
    scale = draw(st.sampled_from([1e-3, 1, 30]))  # with 30, scores are in the hundreds, where a naive softmax overflows
    made = [
        torch.randn(*batch, rows, size, generator=generator, dtype=torch.float64) * scale for rows in (queries, keys)
    ]
    return *made, draw(st.sampled_from([None, mask]))


@given(queries_keys_masks())
def test_weights_are_those_of_the_library(drawn):
    queries, keys, mask = drawn
    each_key = torch.eye(keys.shape[-2], dtype=torch.float64).expand(*keys.shape[:-2], -1, -1)
    rows = None if mask is None else mask.bool().expand(queries.shape[-2], -1)
    theirs = functional.scaled_dot_product_attention(queries, keys, each_key, rows)
    ours = attention_weights(*drawn)
    torch.testing.assert_close(ours, theirs)
    assert mask is None or not ours[..., mask == 0].any(), "masked keys get nothing"


@pytest.fixture(scope="module")
def eager(one_thread):
    """(tokenizer, model) of the packaged encoder as the library loads it, with weights that it returns."""
    folder = models.packaged_encoder()
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    return AutoTokenizer.from_pretrained(folder), model


def test_weights_from_a_models_own_queries_and_keys_for_a_padded_batch(eager):
    """Every layer and head, short and long sentences together, including the rows of padding tokens."""
    tokenizer, model = eager
    batch = tokenizer(["hi", "The cat sat on the mat", "", "naïve 🙂 caféés, 3.14!"], padding=True, return_tensors="pt")
    heads, mask = model.config.num_attention_heads, batch["attention_mask"]
    with torch.inference_mode():
        out = model(**batch, output_attentions=True, output_hidden_states=True)
        for layer, states, theirs in zip(model.encoder.layer, out.hidden_states, out.attentions):
            queries, keys = (
                part(states).unflatten(-1, (heads, -1)).transpose(1, 2)
                for part in (layer.attention.self.query, layer.attention.self.key)
            )
            ours = attention_weights(queries, keys, mask[:, None, None])
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
            assert not ours.masked_select(mask[:, None, None] == 0).any()


# attend


@pytest.mark.parametrize("texts", [("The cat sat on the mat",), ("A cat.", "It sat on a mat!"), ("",), ("", "🙂")])
def test_attend_gives_the_models_own_attentions(encoder, eager, texts):
    tokenizer, model = eager
    inputs = tokenizer(*texts, return_tensors="pt")
    with torch.inference_mode():
        theirs = torch.cat(model(**inputs, output_attentions=True).attentions)
    tokens, attentions = attend(*texts)
    assert tokens[0] == "[CLS]" and tokens.count("[SEP]") == len(texts)
    assert attentions.shape == (6, 12, len(tokens), len(tokens))
    torch.testing.assert_close(attentions, theirs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_attend_leaves_the_shared_model_as_it_was(tiny, monkeypatch, training, fails):
    tokenizer, model = models.load_encoder(tiny)
    model.train(training)
    own, seen = model.config._attn_implementation, []
    assert own != "eager"
    forward = type(model).forward

    def watched(self, *args, **kwargs):
        seen.append((self.config._attn_implementation, self.training))
        if fails:
            raise KeyboardInterrupt
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(type(model), "forward", watched)
    with pytest.raises(KeyboardInterrupt) if fails else contextlib.nullcontext():
        tokens, attentions = attend("ab", model=(tokenizer, model))
        assert tokens == ["[CLS]", "a", "##b", "[SEP]"] and attentions.shape == (2, 4, 4, 4)
    assert seen == [("eager", False)]
    assert (model.config._attn_implementation, model.training) == (own, training)
    model.eval()


@pytest.mark.parametrize("texts", [(["a", "b"],), (None,), (3,), (b"a",), ("a", ["b"]), ("a", 3)])
def test_attend_wants_strings(texts):
    with pytest.raises(TypeError, match="one sentence is wanted, as a string; got (list|NoneType|int|bytes)"):
        attend(*texts)


# head_scores


def slow_scores(weights):
    """One head's scores, computed token by token."""
    n = len(weights)
    pieces = range(1, n - 1)
    return {
        "same": fmean(weights[i][i] for i in pieces),
        "previous": fmean(weights[i][i - 1] for i in pieces[1:]),
        "next": fmean(weights[i][i + 1] for i in pieces[:-1]),
        "cls": fmean(weights[i][0] for i in pieces),
        "sep": fmean(weights[i][n - 1] for i in pieces),
        "entropy": fmean(sum(-p * math.log2(p) for p in weights[i] if p > 0) for i in pieces),
    }


@given(st.integers(1, 3), st.integers(1, 3), st.integers(4, 9), st.integers(0, 2**32), st.booleans())
def test_scores_are_those_of_a_slow_loop(layers, heads, n, seed, sharp):
    attentions = random_attentions(layers, heads, n, seed).double()
    if sharp:  # all weight on one token: entropy must be 0, not NaN
        attentions = functional.one_hot(attentions.argmax(-1), n).double()
    scores = head_scores(attentions)
    for layer in range(layers):
        for head in range(heads):
            slow = slow_scores(attentions[layer, head].tolist())
            assert list(scores) == list(slow)
            assert {name: score[layer, head].item() for name, score in scores.items()} == pytest.approx(slow)


@pytest.mark.parametrize("shape", [(1, 1, 3, 3), (1, 1, 2, 2), (4, 4), (2, 5, 5)])
def test_scores_refuse_what_has_no_neighbours(shape):
    with pytest.raises(ValueError, match="at least 4 tokens"):
        head_scores(torch.full(shape, 0.5))


# patching_map


def run_with_hooks(model, ids, place, position, vector):
    """The mean of the last hidden states when a hook replaces one vector of hidden state `place`."""

    def hook(module, inputs, output):
        output = output.clone()
        output[0, position] = vector
        return output

    module = model.embeddings if place == 0 else model.encoder.layer[place - 1]
    handle = module.register_forward_hook(hook)
    try:
        return model(input_ids=ids).last_hidden_state[0].mean(dim=0)
    finally:
        handle.remove()


def test_patching_a_model_layer_by_layer_is_what_a_hook_does(tiny):
    _, model = models.load_encoder(tiny)
    generator = torch.Generator().manual_seed(0)
    target, source = torch.randint(5, model.config.vocab_size, (2, 1, 5), generator=generator)
    with torch.inference_mode():
        found = patching_map(model.embeddings(target), model.embeddings(source), model.encoder.layer)
        states = model(input_ids=source, output_hidden_states=True).hidden_states
        before = model(input_ids=target).last_hidden_state[0].mean(dim=0)
        for place, state in enumerate(states):
            for position in range(target.shape[1]):
                after = run_with_hooks(model, target, place, position, state[0, position])
                torch.testing.assert_close(found[place, position], (after - before).norm(), rtol=1e-4, atol=1e-5)
    assert found.shape == (model.config.num_hidden_layers + 1, 5)


# head_view and model_view


def document(view):
    """The page inside a view's frame."""
    return BeautifulSoup(view._repr_html_(), "html.parser").iframe["srcdoc"]


def data(view):
    """The data passed to bertviz inside the frame."""
    return json.JSONDecoder().raw_decode(document(view).split("const params = ", 1)[1])[0]


def stored(view):
    """The size in bytes of a cell's output as stored in a notebook file."""
    bundle, metadata = DisplayFormatter().format(view)
    if isinstance(bundle["image/png"], bytes):
        bundle["image/png"] = base64.b64encode(bundle["image/png"]).decode()
    return len(json.dumps({"data": bundle, "metadata": metadata}, ensure_ascii=False).encode())


@VIEWS
def test_a_view_holds_the_weights_with_three_decimals(view):
    attentions = random_attentions(2, 3, 5)
    made = view(attentions, list("abcde"))
    params = data(made)
    torch.testing.assert_close(torch.tensor(params["attention"][0]["attn"]), attentions, rtol=0, atol=5.01e-4)
    assert params["attention"][0]["left_text"] == params["attention"][0]["right_text"] == list("abcde")
    numbers = re.search(r'"attn":([\d.,\[\]]+)', document(made))[1]
    assert all(re.fullmatch(r"\d\.\d{3}", number) for number in re.findall(r"[\d.]+", numbers))


@VIEWS
def test_a_models_own_tuple_is_taken_and_nothing_is_changed(view):
    attentions, tokens = random_attentions(2, 3, 4), list("abcd")
    kept = attentions.clone()
    html = view(attentions, tokens)._repr_html_()
    assert html == view(tuple(attentions[:, None]), tuple(tokens))._repr_html_()
    assert html == view([layer[None].requires_grad_() for layer in attentions.clone()], tokens)._repr_html_()
    assert torch.equal(attentions, kept) and tokens == list("abcd")


def test_what_is_shown_at_first():
    attentions = random_attentions(3, 4, 4)
    params = data(head_view(attentions, list("abcd")))
    assert (params["layer"], params["heads"], params["include_layers"]) == (1, [0, 1, 2, 3], [1, 2, 3])
    params = data(head_view(attentions, list("abcd"), layer=torch.tensor(3), heads=torch.tensor([1, 3])))
    assert (params["layer"], params["heads"]) == (3, [1, 3])
    params = data(model_view(attentions, list("abcd"), layers=[3], heads=[1, 3]))
    assert (params["include_layers"], params["include_heads"], params["total_heads"]) == ([3], [1, 3], 4)
    shown = torch.tensor(params["attention"][0]["attn"])
    torch.testing.assert_close(shown, attentions[2:, [1, 3]], rtol=0, atol=5.01e-4)


PROCESS = """
import sys, torch
from course_utils import plots
from course_utils.attention import head_view, model_view
plots.use_style()
made = torch.randn(2, 3, 5, 5, generator=torch.Generator().manual_seed(0)).mul(3).softmax(-1)
for view in (head_view, model_view):
    shown = view(made, list("abcde"), sentence_b_start=3)
    print(shown._repr_html_(), repr(shown))
"""


@pytest.mark.nightly
def test_the_same_on_every_call_and_in_every_process():
    views = [view(random_attentions(2, 3, 5), list("abcde"), sentence_b_start=3) for view in (head_view, model_view)]
    here = "".join(f"{view._repr_html_()} {view!r}\n" for view in views)
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", PROCESS]
    assert subprocess.run(command, capture_output=True, check=True, env=environment).stdout.decode() == here


@VIEWS
def test_another_processor_changes_last_decimals_only(view):
    attentions = random_attentions(2, 6, 12)
    noise = torch.rand(attentions.shape, generator=torch.Generator().manual_seed(1)) * 2.4e-5 - 1.2e-5
    here = view(attentions, AWKWARD[:12])
    there = view((attentions + noise).clamp(0, 1), AWKWARD[:12])
    assert here._repr_html_() != there._repr_html_()
    assert nearly_equal(here._repr_html_(), there._repr_html_())
    assert nearly_equal(repr(here), repr(there))


@VIEWS
def test_ids_come_from_the_content(view):
    attentions, other = random_attentions(2, 3, 4), [{}, {"heads": [0]}, {"sentence_b_start": 2}]
    views = [view(attentions, list("abcd"), **settings) for settings in other]
    views += [view(attentions, list("abce")), view(attentions[:1], list("abcd"))]
    ids = [data(made)["root_div_id"] for made in views]
    for made, id_ in zip(views, ids):
        assert re.fullmatch(r"bertviz-[0-9a-f]{12}", id_) and f'<div id="{id_}"' in document(made)
    assert len(set(ids)) == len(ids)


@VIEWS
def test_nothing_is_asked_for_elsewhere(view):
    """The browser tests check this too; this test shows where the problem is."""
    page = document(view(random_attentions(2, 3, 4), list("abcd")))
    tags = BeautifulSoup(page, "html.parser")
    assert not tags(["link", "img", "base", "object"]) + tags(src=True) + tags(href=True)
    policy = tags.find(attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none';") and not re.search("http|[*]|self|data:", policy)
    assert not re.search(r"cdn|require\.|@import", page)
    assert not re.search(r"https?://(?!www\.w3\.org/|d3js\.org|github\.com/tensorflow/)", page)  # names and comments
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    # no script is cut short by text that looks like its end tag
    assert [len(script) > 50_000 for script in scripts] == [True, True, False]
    assert "<!--" not in page


@VIEWS
def test_stored_size(view):
    """Of a pair of sentences, which bertviz stores twice: whole, and in parts."""
    assert stored(view(random_attentions(6, 12, 12), ["token"] * 12, sentence_b_start=7)) < 550_000


@VIEWS
def test_too_many_tokens_are_refused(view):
    limit = {head_view: attention.HEAD_VIEW_TOKENS, model_view: attention.MODEL_VIEW_TOKENS}[view]
    instead = r"take a shorter text, or draw one head with plots\.heatmap"
    with pytest.raises(ValueError, match=f"^{limit + 1} tokens are more than this view's limit of {limit}: {instead}$"):
        view(random_attentions(1, 1, limit + 1), ["a"] * (limit + 1))
    assert stored(view(random_attentions(6, 12, limit), ["a"] * limit)) < 1_300_000


@VIEWS
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        *(({"layer": layer}, rf"choose one layer or more from 1 to 2; got \[{layer}\]") for layer in (3, 0, -1)),
        ({"tokens": list("abc")}, r"3 tokens need attentions \(layers, heads, 3, 3\); got \(2, 3, 4, 4\)"),
        ({"attentions": torch.zeros(3, 4, 4)}, r"got \(3, 4, 4\)"),
        ({"attentions": (torch.zeros(2, 4, 4),)}, r"got \(2, 4, 4\)"),
        ({"attentions": None}, "eager"),
        ({"attentions": (None, None)}, "eager"),
        ({"attentions": torch.full((2, 3, 4, 4), float("nan"))}, "from 0 to 1"),
        ({"attentions": torch.full((2, 3, 4, 4), -1.0)}, "from 0 to 1"),
        ({"heads": [3]}, r"choose one head or more from 0 to 2; got \[3\]"),
        ({"heads": []}, r"choose one head or more from 0 to 2; got \[\]"),
        ({"heads": [-1]}, r"got \[-1\]"),
        ({"sentence_b_start": 0}, "sentence_b_start must be from 1 to 3; got 0"),
        ({"sentence_b_start": 4}, "sentence_b_start must be from 1 to 3; got 4"),
        ({"tokens": [101, 102, 103, 104]}, "tokens must be strings"),
    ],
)
def test_arguments_that_do_not_fit(view, arguments, says):
    if "layer" in arguments and view is model_view:
        arguments = {"layers": arguments["layer"]}
    with pytest.raises(ValueError if "tokens must" not in says else TypeError, match=says):
        view(**{"attentions": random_attentions(2, 3, 4), "tokens": list("abcd"), **arguments})


@VIEWS
@pytest.mark.parametrize("package", ["xstatic", "mpld3"])
def test_a_missing_package_is_named(view, package, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else found(name))
    with pytest.raises(models.EncoderError, match=f"The package {package} is not installed.*pip install"):
        view(random_attentions(2, 3, 2), ["a", "b"])


@VIEWS
def test_awkward_tokens_arrive_as_they_are(view, recwarn):
    n = len(AWKWARD)
    made = view(random_attentions(2, 3, n), AWKWARD, sentence_b_start=5)
    parts = data(made)["attention"]
    assert [token.replace("Ġ", " ") for token in AWKWARD] == parts[0]["left_text"]  # bertviz writes Ġ as a space
    names = [f"Sentence {a} -> Sentence {b}" for a, b in ("AA", "BB", "AB", "BA")]
    assert [part["name"] for part in parts[1:]] == names
    line = next(line for line in document(made).splitlines() if "const params = " in line)
    assert "<" not in line and line.isascii()
    assert not [warning for warning in recwarn if issubclass(warning.category, UserWarning)]


def sanitised(view):
    """(cells of the table, other text) of what is left of a page without frames, scripts and styles."""
    page = BeautifulSoup(view._repr_html_(), "html.parser")
    for gone in page(["iframe", "script", "style"]):
        gone.decompose()
    cells = [[cell.extract().text for cell in row(["td", "th"])] for row in page("tr")]
    return cells, page.text


def test_without_frames_a_table_is_left():
    attentions = random_attentions(2, 3, len(AWKWARD))
    cells, text = sanitised(head_view(attentions, AWKWARD, layer=2, heads=[0, 2]))
    assert text == (
        "Head view of layer 2, mean of heads 0, 2: how much each of 20 tokens (rows) looks at each (columns). (Where "
        "scripts run, bertviz's view covers this table.)"
    )
    assert cells[0] == ["", *AWKWARD] and [row[0] for row in cells[1:]] == AWKWARD
    mean = attentions[1, [0, 2]].mean(0)
    assert [row[1:] for row in cells[1:]] == [[f"{weight:.2f}" for weight in row] for row in mean.tolist()]
    cells, _ = sanitised(model_view(attentions, AWKWARD))
    assert [len(row) for row in cells] == [4, 4, 4]
    assert float(cells[2][3]) == pytest.approx(attentions[1, 2].max().item(), abs=0.0051)


@VIEWS
def test_text_and_png_stand_in_and_exports_choose_the_right_form(view):
    from nbconvert.exporters import HTMLExporter, LatexExporter

    attentions = random_attentions(2, 3, 4)
    made = view(attentions, list("abcd"))
    png, metadata = made._repr_png_()
    assert png.startswith(b"\x89PNG") and 2_000 < len(png) < 40_000
    first, *rest = repr(made).splitlines()
    assert first == f"Figure. {metadata['alt']}" and 30 < len(metadata["alt"]) < 200
    if view is head_view:
        assert rest == [
            f"row {token}: " + " ".join(f"{weight:.3f}" for weight in row)
            for token, row in zip("abcd", attentions[0].mean(0).tolist())
        ]
    else:
        assert rest == ["tokens: a b c d"] + [
            f"layer {layer}: " + " ".join(f"{head.max():.3f}" for head in heads)
            for layer, heads in enumerate(attentions, start=1)
        ]
    bundle, _ = DisplayFormatter().format(made)
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    # JupyterLab ranks HTML before PNG; so does nbconvert for HTML, but for LaTeX it is the other way round
    for exporter, form in ((HTMLExporter, "text/html"), (LatexExporter, "image/png")):
        ranking = exporter().config.NbConvertBase.display_data_priority
        assert next(kind for kind in ranking if kind in bundle) == form
