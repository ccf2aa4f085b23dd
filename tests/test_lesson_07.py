"""Lesson 07: its code agrees with the library, and its held-out text is held out."""

import copy
import hashlib
import math
from functools import partial

import pytest
import torch
from torch.func import functional_call
from transformers import pipeline

from course_utils import load_masked_lm, load_reviews
from course_utils.exercises.lesson_07 import BUG, EDIT_ROW, IGNORED, MASK_TOKENS, SURPRISAL
from course_utils.trainings.adapter import held_out, masked_batch

from .sources import cell_of, function_of

_from_the_notebook = partial(function_of, "07", math=math, torch=torch)
SENTENCE = "The [MASK] sat on the mat."
MASK_PLACE = 2  # of [MASK] in the ids of SENTENCE, behind [CLS] and "the"
PLAIN = [
    "The train to the coast leaves at nine.", "Everybody admired the chrysanthemums.", "Yes",
    "It rained, and it rained.",
]  # fmt: skip
# places that nothing at the mask may attend to, a list for each copy of the sentence
BLOCKS = [[], [3], [0, 4]]


def copy_with(attention):
    """A copy of the model, which all tests share, with this implementation of attention."""
    model = copy.deepcopy(load_masked_lm()[1])
    model.set_attn_implementation(attention)
    return model


def with_blocks(bits_at):
    """What the lesson returns for BLOCKS if this function is its `bits_at`."""
    bits_with_blocks = _from_the_notebook("occlusion-tools", "bits_with_blocks", bits_at=bits_at)
    tokenizer, _ = load_masked_lm()
    ids = tokenizer(SENTENCE, return_tensors="pt")["input_ids"]
    return bits_with_blocks(ids, MASK_PLACE, 7, BLOCKS)  # 7: the id of any piece would do


def test_a_blocked_token_has_no_weight():
    # this `bits_at` returns what bits are computed from: the copies of the ids, and what is added
    # to the scores of attention
    copies, added = with_blocks(lambda copies, place, piece, added: (copies, added))
    eager = copy_with("eager")  # the one implementation that returns the weights
    with torch.inference_mode():
        output = eager(input_ids=copies, attention_mask=added, output_attentions=True)
    for weights in output.attentions:  # (copies, heads, from, to) of each layer
        assert torch.allclose(weights.sum(dim=-1), torch.ones(()), atol=1e-5)
        for from_mask, blocked in zip(weights[:, :, MASK_PLACE], BLOCKS, strict=True):
            assert not from_mask[:, blocked].any()
        assert (weights[0] > 0).all(), "nothing is blocked in the first copy"
        assert (weights[:, :, MASK_PLACE + 1] > 0).all(), "another token may attend to all"


def test_blocks_cost_the_same_bits_under_either_implementation_of_attention():
    # True and false, as sdpa takes, would do nearly nothing under eager: adding works in both.
    bits = [
        with_blocks(_from_the_notebook("occlusion-tools", "bits_at", model=copy_with(attention)))
        for attention in ("eager", "sdpa")
    ]
    assert torch.allclose(*bits, atol=1e-4)
    assert ((bits[0][1:] - bits[0][0]).abs() > 1e-3).all(), "a block changes the bits"


@pytest.mark.parametrize("seed", range(3))
def test_masks_and_labels_lead_to_the_librarys_loss(seed):
    # a share of 0.4, so that some of these few tokens are masked, and some are not
    tokenizer, model = load_masked_lm()
    batch = tokenizer(PLAIN, padding=True, return_tensors="pt")
    draws = torch.rand(batch["input_ids"].shape, generator=torch.Generator().manual_seed(seed))
    ids, labels = MASK_TOKENS.reference(
        batch["input_ids"], tokenizer.all_special_ids, tokenizer.mask_token_id, draws, 0.4
    )
    chosen = labels != IGNORED
    assert not torch.isin(batch["input_ids"][chosen], torch.tensor(tokenizer.all_special_ids)).any()
    assert torch.equal(ids, torch.where(chosen, tokenizer.mask_token_id, batch["input_ids"])), (
        "the chosen tokens are masked, and no others"
    )
    with torch.inference_mode():
        output = model(input_ids=ids, attention_mask=batch["attention_mask"], labels=labels)
    bits = SURPRISAL.reference(output.logits[chosen], labels[chosen])
    perplexity = pytest.approx(math.exp(output.loss.item()), rel=1e-5)
    assert BUG.reference(output.logits, labels) == perplexity
    assert 2 ** bits.mean().item() == perplexity


@pytest.mark.parametrize("text", PLAIN)
def test_a_sentence_scored_in_one_batch_is_the_sentence_scored_mask_by_mask(text):
    tokenizer, model = load_masked_lm()
    bits_per_token = _from_the_notebook(
        "surprise-tools", "bits_per_token", tokenizer=tokenizer, model=model
    )
    pieces, in_one_batch = bits_per_token(text)
    ids = tokenizer(text)["input_ids"]
    assert pieces == tokenizer.convert_ids_to_tokens(ids[1:-1])
    for place, bits in enumerate(in_one_batch, start=1):
        masked = torch.tensor([[*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]])
        with torch.inference_mode():
            probabilities = model(input_ids=masked).logits[0, place].softmax(dim=-1)
        assert bits == pytest.approx(-math.log2(probabilities[ids[place]]), abs=1e-3)


def test_the_lesson_holds_out_the_reviews_that_the_training_held_out():
    # the first 60 of the reviews that the lesson draws
    texts = load_reviews("imdb").sample(60, random_state=0)["text"].tolist()
    unseen = [text for text in texts if held_out(text)]
    assert 0 < len(unseen) < len(texts) / 5  # one text in 20 is held out, three of these on average
    by_hand = _from_the_notebook("held-out-reviews", "held_out", hashlib=hashlib)
    assert list(filter(by_hand, texts)) == unseen


@pytest.mark.parametrize("text", [
    "The [MASK] sat on the mat", "The [MASK] sat on the mat.",
    "[MASK]", "[MASK] at the beginning, naïve café-owner?",
    "antidisestablishment[MASK]",  # no space before it
    '"Don\'t," she said -- (quietly)... and [MASK]!', "  many   spaces\tand\na new line [MASK] ",
    "北京 and 😀 [MASK]",  # unknown signs
    "a " * 200 + "[MASK]",  # far from the beginning
])  # fmt: skip
def test_filling_by_hand_is_the_librarys_pipeline(text):
    tokenizer, model = load_masked_lm()
    unmasker = pipeline("fill-mask", model=model, tokenizer=tokenizer, device="cpu")
    batch = tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        names = {"batch": batch, "logits": model(**batch).logits}
    # the first lines of the cell, which compute the probabilities
    exec(cell_of("07", "softmax").source.split("top =")[0], names)
    for answer in unmasker(text, top_k=60):  # those that come first; to compare all is slow
        assert names["probabilities"][answer["token"]].item() == pytest.approx(
            answer["score"], abs=1e-6
        )


@pytest.mark.parametrize("probability", [0.01, 0.5, 0.97])
def test_an_edited_row_gives_its_piece_the_probability_in_the_model(probability):
    # The exercise changes the head alone. The model has one table for its head and its input, where
    # the row of a piece in the text would change the vectors, too.
    tokenizer, model = load_masked_lm()
    cat = tokenizer.convert_tokens_to_ids("cat")
    encoded = tokenizer(SENTENCE, return_tensors="pt")
    vector = _from_the_notebook("edit-at-mask", "at_mask")(SENTENCE, tokenizer, model)
    table, bias = model.cls.predictions.decoder.weight.detach(), model.cls.predictions.bias.detach()
    edited = table.clone()
    edited[cat] = EDIT_ROW.reference(vector, table, bias, cat, probability)
    with torch.inference_mode():
        before = model(**encoded).logits[0, MASK_PLACE].softmax(-1)[cat].item()
        assert (table @ vector + bias).softmax(-1)[cat] == pytest.approx(before, abs=1e-6)
        # no "cat" in the text, so the vectors stay, and the edited model can be run as a whole
        changed = {"bert.embeddings.word_embeddings.weight": edited}
        logits = functional_call(model, changed, kwargs=dict(encoded)).logits[0, MASK_PLACE]
    assert logits.softmax(-1)[cat].item() == pytest.approx(probability, abs=1e-4)


def test_the_exercises_masks_are_those_of_the_training_script():
    tokenizer, _ = load_masked_lm()
    group = tokenizer(PLAIN)["input_ids"]
    masked_of_script, _, _, labels_of_script = masked_batch(
        group, tokenizer, 0.3, torch.Generator().manual_seed(4)
    )
    ids = tokenizer.pad({"input_ids": group}, return_tensors="pt")["input_ids"]
    draws = torch.rand(ids.shape, generator=torch.Generator().manual_seed(4))
    masked, labels = MASK_TOKENS.reference(
        ids, tokenizer.all_special_ids, tokenizer.mask_token_id, draws, 0.3
    )
    assert torch.equal(masked, masked_of_script)
    assert torch.equal(labels[labels != IGNORED], labels_of_script)
