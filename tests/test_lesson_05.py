"""Lesson 05: its code agrees with the model at every layer, and its references with slow loops."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from course_utils import load_encoder
from course_utils.attention import attend, attention_weights, head_scores
from course_utils.exercises.lesson_05 import ATTENTION_WEIGHTS, ENTROPY, FIND_THE_BUG

SENTENCES = ["The cat sat on the mat", "Embeddings, for the café-owner: naïve?", "x", "😀 unknown signs 北京 " * 5]


def _split(vectors):
    return vectors.view(len(vectors), 12, 32).transpose(0, 1)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_layer_by_hand_is_the_models(sentence):
    tokenizer, model = load_encoder()
    _, attentions = attend(sentence)
    with torch.inference_mode():
        states = model(**tokenizer(sentence, return_tensors="pt"), output_hidden_states=True).hidden_states
        for layer, weights, before, after in zip(model.encoder.layer, attentions, states[:-1], states[1:], strict=True):
            own, hidden = layer.attention.self, before[0]
            q, k, v = own.query(hidden), own.key(hidden), own.value(hidden)
            torch.testing.assert_close(attention_weights(_split(q), _split(k)), weights, rtol=0, atol=1e-4)
            attended = layer.attention.output.LayerNorm(
                layer.attention.output.dense(FIND_THE_BUG.reference(q, k, v, 12)) + hidden
            )
            widened = layer.intermediate.intermediate_act_fn(layer.intermediate.dense(attended))
            result = layer.output.LayerNorm(layer.output.dense(widened) + attended)
            torch.testing.assert_close(result, after[0], rtol=0, atol=1e-4)


def test_with_a_mask_the_weights_are_those_that_the_model_uses_in_a_batch():
    tokenizer, model = load_encoder()
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    own = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        with torch.inference_mode():
            outputs = model(**batch, output_attentions=True, output_hidden_states=True)
    finally:
        model.set_attn_implementation(own)
    for row, mask in enumerate(batch["attention_mask"]):
        for layer, hidden, weights in zip(
            model.encoder.layer, outputs.hidden_states[:-1], outputs.attentions, strict=True
        ):
            with torch.inference_mode():
                q, k = (_split(part(hidden[row])) for part in (layer.attention.self.query, layer.attention.self.key))
            torch.testing.assert_close(ATTENTION_WEIGHTS.reference(q, k, mask), weights[row], rtol=0, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_heads_put_together_are_those_of_torch(seed):
    generator = torch.Generator().manual_seed(seed)
    q, k, v = torch.randn(3, 7, 12, generator=generator)
    split = [torch.stack(x.chunk(3, dim=1)) for x in (q, k, v)]
    right = torch.cat(list(scaled_dot_product_attention(*split)), dim=1)
    torch.testing.assert_close(FIND_THE_BUG.reference(q, k, v, 3), right)


def test_entropy_is_that_of_a_slow_loop():
    _, attentions = attend(SENTENCES[1])
    for layer, head in [(0, 2), (1, 8), (3, 0), (5, 11)]:
        bits = [-sum(p * math.log2(p) for p in row if p > 0) for row in attentions[layer, head].tolist()]
        assert ENTROPY.reference(attentions)[layer, head].tolist() == pytest.approx(bits, abs=1e-5)


def test_one_head_looks_one_token_back_and_few_look_at_themselves():
    for sentence in SENTENCES[:2]:
        scores = head_scores(attend(sentence)[1])
        assert scores["previous"][0, 2] > 0.99
        assert scores["same"].max() < 0.35
