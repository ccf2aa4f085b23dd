"""Attention: equal to the library's, and scores equal to slow loops."""

import contextlib
import math
from statistics import fmean

import pytest
import torch
from hypothesis import given, strategies as st
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from course_utils import models
from course_utils.attention import attend, head_scores, patching_map


# (layers, heads, n, n), whose rows sum to 1
def random_attentions(layers, heads, n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    # times 3, so that some weights are near 1
    return (3 * torch.randn(layers, heads, n, n, generator=generator)).softmax(-1)


@pytest.fixture(scope="module")
def eager(one_thread):
    """(tokenizer, model) of the packaged encoder as the library loads it: it can return weights."""
    folder = models.packaged_encoder()
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    return AutoTokenizer.from_pretrained(folder), model


# attend


@pytest.mark.parametrize(
    "texts", [("The cat sat on the mat",), ("A cat.", "It sat on a mat!"), ("",), ("", "🙂")]
)
def test_attend_gives_the_models_own_attentions(encoder, eager, texts):
    tokenizer, model = eager
    inputs = tokenizer(*texts, return_tensors="pt")
    with torch.inference_mode():
        theirs = torch.cat(model(**inputs, output_attentions=True).attentions)
    tokens, attentions = attend(*texts)
    assert tokens[0] == "[CLS]"
    assert tokens.count("[SEP]") == len(texts)
    assert attentions.shape == (6, 12, len(tokens), len(tokens))
    torch.testing.assert_close(attentions, theirs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_attend_leaves_the_shared_model_as_it_was(tiny, monkeypatch, request, training, fails):
    tokenizer, model = models.load_encoder(tiny)
    request.addfinalizer(model.eval)  # later tests expect the shared model so
    model.train(training)
    usual = model.config._attn_implementation
    while_running = []  # (implementation, training) of each call of the model
    assert usual != "eager"
    forward = type(model).forward

    def watched(self, *args, **kwargs):
        while_running.append((self.config._attn_implementation, self.training))
        if fails:
            raise KeyboardInterrupt
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(type(model), "forward", watched)
    # an interrupt inside `attend`, or none
    with pytest.raises(KeyboardInterrupt) if fails else contextlib.nullcontext():
        tokens, attentions = attend("ab", model=(tokenizer, model))
        assert tokens == ["[CLS]", "a", "##b", "[SEP]"]
        assert attentions.shape == (2, 4, 4, 4)
    assert while_running == [("eager", False)]
    assert model.config._attn_implementation == usual
    assert model.training == training


@pytest.mark.parametrize("texts", [(["a", "b"],), (None,), (3,), (b"a",), ("a", ["b"]), ("a", 3)])
def test_attend_wants_strings(texts):
    with pytest.raises(
        TypeError, match="one sentence is wanted, as a string; got (list|NoneType|int|bytes)"
    ):
        attend(*texts)


# head_scores


def slow_scores(weights):
    """{score: its value} of one head's (n, n) weights, as nested lists, computed token by token."""
    n = len(weights)
    pieces = range(1, n - 1)  # all tokens but [CLS] and [SEP]
    return {
        "same": fmean(weights[i][i] for i in pieces),
        "previous": fmean(weights[i][i - 1] for i in pieces[1:]),
        "next": fmean(weights[i][i + 1] for i in pieces[:-1]),
        "cls": fmean(weights[i][0] for i in pieces),
        "sep": fmean(weights[i][n - 1] for i in pieces),
        "entropy": fmean(sum(-w * math.log2(w) for w in weights[i] if w > 0) for i in pieces),
    }


@given(
    st.integers(1, 3), st.integers(1, 3), st.integers(4, 9), st.integers(0, 2**32), st.booleans()
)
def test_scores_are_those_of_a_slow_loop(layers, heads, n, seed, sharp):
    attentions = random_attentions(layers, heads, n, seed).double()
    if sharp:  # all weight on one token: entropy must be 0, not NaN
        attentions = functional.one_hot(attentions.argmax(-1), n).double()
    scores = head_scores(attentions)
    for layer in range(layers):
        for head in range(heads):
            slow = slow_scores(attentions[layer, head].tolist())
            assert list(scores) == list(slow)
            assert {
                name: score[layer, head].item() for name, score in scores.items()
            } == pytest.approx(slow)


@pytest.mark.parametrize("shape", [(1, 1, 3, 3), (1, 1, 2, 2), (4, 4), (2, 5, 5)])
def test_scores_refuse_fewer_than_four_tokens_and_other_shapes(shape):
    with pytest.raises(ValueError, match="at least 4 tokens"):
        head_scores(torch.full(shape, 0.5))


# patching_map


def run_with_hooks(model, ids, place, position, vector):
    """The mean of the last hidden states when a hook replaces one vector of hidden state `place`.

    place: 0 for the embeddings, then a layer's number from 1.
    """

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
    # two texts of 5 tokens; ids below 5 are special tokens
    target, source = torch.randint(5, model.config.vocab_size, (2, 1, 5), generator=generator)
    with torch.inference_mode():
        distances = patching_map(
            model.embeddings(target), model.embeddings(source), model.encoder.layer
        )
        states = model(input_ids=source, output_hidden_states=True).hidden_states
        before = model(input_ids=target).last_hidden_state[0].mean(dim=0)
        for place, state in enumerate(states):
            for position in range(target.shape[1]):
                after = run_with_hooks(model, target, place, position, state[0, position])
                torch.testing.assert_close(
                    distances[place, position], (after - before).norm(), rtol=1e-4, atol=1e-5
                )
    assert distances.shape == (model.config.num_hidden_layers + 1, 5)
