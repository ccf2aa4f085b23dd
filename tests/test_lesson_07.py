"""Lesson 07: its code agrees with the library, and its held-out text is held out."""

import hashlib
import math

import nbformat
import pytest
import torch

from course_utils import load_masked_lm, load_reviews
from course_utils._support.notebooks import parts
from course_utils.exercises.lesson_07 import BUG, IGNORED, MASK_TOKENS, SURPRISAL
from course_utils.trainings.adapter import held_out

CELLS = {
    cell.id: cell
    for key, path in parts().items()
    if key[:2] == "07"
    for cell in nbformat.read(path, as_version=4).cells
}
MASKED = "The [MASK] sat on the mat."
PLAIN = [
    "The train to the coast leaves at nine.", "Everybody admired the chrysanthemums.", "Yes",
    "It rained, and it rained.",
]  # fmt: skip


def test_a_blocked_token_has_no_weight_under_either_implementation_of_attention():
    """True and false, as sdpa takes, would do nearly nothing under eager: adding works in both."""
    tokenizer, model = load_masked_lm()
    ids, own = tokenizer(MASKED, return_tensors="pt")["input_ids"], model.config._attn_implementation
    bits_at = _from_the_notebook("occlusion-tools", "bits_at", model=model)
    seen = []

    def watched(copies, at, piece, added):
        if model.config._attn_implementation == "eager":
            with torch.inference_mode():
                seen.extend(model(input_ids=copies, attention_mask=added, output_attentions=True).attentions)
        return bits_at(copies, at, piece, added)

    bits_with_blocks = _from_the_notebook("occlusion-tools", "bits_with_blocks", bits_at=watched)
    results = []
    for implementation in ("eager", "sdpa"):
        model.set_attn_implementation(implementation)
        results.append(bits_with_blocks(ids, 2, 7, [[], [3], [0, 4]]))
    model.set_attn_implementation(own)
    assert torch.allclose(*results, atol=1e-4)
    for weights in seen:  # (copies, heads, from, to) of each layer
        assert torch.allclose(weights.sum(dim=-1), torch.ones(()), atol=1e-5)
        assert not weights[1, :, 2, 3].any() and not weights[2, :, 2, [0, 4]].any()
        assert (weights[0] > 0).all() and (weights[:, :, 3] > 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_masks_and_labels_lead_to_the_librarys_loss(seed):
    tokenizer, model = load_masked_lm()
    batch = tokenizer(PLAIN, padding=True, return_tensors="pt")
    draws = torch.rand(batch["input_ids"].shape, generator=torch.Generator().manual_seed(seed))
    special = tokenizer.all_special_ids
    ids, labels = MASK_TOKENS.reference(batch["input_ids"], special, tokenizer.mask_token_id, draws, 0.4)
    chosen = labels != IGNORED
    assert not torch.isin(batch["input_ids"][chosen], torch.tensor(tokenizer.all_special_ids)).any()
    assert (ids[chosen] == tokenizer.mask_token_id).all() and torch.equal(ids[~chosen], batch["input_ids"][~chosen])
    with torch.inference_mode():
        output = model(input_ids=ids, attention_mask=batch["attention_mask"], labels=labels)
    bits = SURPRISAL.reference(output.logits[chosen], labels[chosen])
    assert bits.mean().item() * math.log(2) == pytest.approx(output.loss.item(), rel=1e-5)
    assert BUG.reference(output.logits, labels) == pytest.approx(math.exp(output.loss.item()), rel=1e-5)
    assert 2 ** bits.mean().item() == pytest.approx(math.exp(output.loss.item()), rel=1e-5)


def _from_the_notebook(cell_id, name, **given):
    """A function as the lesson defines it."""
    source = CELLS[cell_id].source
    definition = source[source.index(f"def {name}(") :].split("\n\n")[0]
    space = {"torch": torch, "math": math, **given}
    exec(definition, space)
    return space[name]


@pytest.mark.parametrize("text", PLAIN)
def test_a_sentence_scored_in_one_batch_is_the_sentence_scored_mask_by_mask(text):
    tokenizer, model = load_masked_lm()
    pieces, bits = _from_the_notebook("surprise-tools", "bits_per_token", tokenizer=tokenizer, model=model)(text)
    ids = tokenizer(text)["input_ids"]
    assert pieces == tokenizer.convert_ids_to_tokens(ids[1:-1])
    for place, found in enumerate(bits, start=1):
        hidden = torch.tensor([[*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]])
        with torch.inference_mode():
            probability = model(input_ids=hidden).logits[0, place].softmax(dim=-1)[ids[place]].item()
        assert found == pytest.approx(-math.log2(probability), abs=1e-3)


def test_the_lessons_reviews_were_never_trained_on():
    texts = load_reviews("imdb").sample(60, random_state=0)["text"].tolist()
    unseen = [text for text in texts if held_out(text)]
    assert 0 < len(unseen) < 12
    by_hand = _from_the_notebook("held-out-reviews", "held_out", hashlib=hashlib)
    assert [text for text in texts if by_hand(text)] == unseen
