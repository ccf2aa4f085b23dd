"""What Python answers when an explorer asks.

Each function takes an explorer's state and returns a dictionary of texts, numbers and lists, which
can be sent as JSON. Raises ExploreError for what a learner may type or choose and cannot be shown;
a state that no view sends, such as a layer that is not there, may raise other errors.

`page/compute.js` holds the same functions for the book's pages, under the same names; tests compare
the two. Those of lesson 01 stand in `pieces.py`, those of lessons 12 and 14 in `retrieval.py`.
"""

import functools
import itertools
import math

import torch

from ..data import load_scored_pairs
from ..embedding import embed
from ..models import attention_maps, load_encoder, load_masked_lm
from ..pooling import cls_pool, max_pool, mean_pool, normalise
from .encoder import (
    MOST_TOKENS,
    ExploreError,
    checked,
    lines_of,
    rounded,
    run,
    sentence_vectors,
    tokens_of,
)
from .pieces import merges, tokens
from .retrieval import hybrid, search

# ---------------------------------------------------------------- lesson 02


def padding(texts: str, batch: int, ordered: bool, length: int) -> dict:
    """Batches of sentences padded to one length, and what padding does to the vector of the
    shortest.

    texts: a sentence a line. batch: sentences in a batch. ordered: whether they are sorted by
    length first. length: tokens to which all batches are padded; if 0, each is padded to its
    longest sentence.

    Returns:

    - "rows": the tokens of each sentence.
    - "batches": the sentences' places in "rows", batch by batch.
    - "widths": the padded length of each batch.
    - "cells", "real": how many places all batches have, padding included, and how many are tokens.
    - "place": that of the shortest sentence in "rows".
    - "cosines": of that sentence's vector, when it is alone, with its vectors when it is padded as
      in its batch: with the mask, without the mask in pooling, and without any mask.
    """
    lines = lines_of(checked(texts), 24, "lines")  # two of the largest batches
    tokenizer, _ = load_encoder()
    rows = [tokenizer(line).tokens() for line in lines]
    lengths = [len(row) for row in rows]
    longest = max(lengths)
    fact = f"Sentence {lengths.index(longest) + 1} has {longest:,} tokens"
    if longest > MOST_TOKENS["padding"]:
        raise ExploreError(f"{fact}; {MOST_TOKENS['padding']} can be shown.")
    if length and length < longest:
        raise ExploreError(f"{fact}: choose a fixed length of at least {longest}, or 0.")
    # without a key, the order stays
    order = sorted(range(len(rows)), key=lengths.__getitem__ if ordered else None)
    batches = [order[start : start + batch] for start in range(0, len(order), batch)]
    widths = [length or max(lengths[place] for place in places) for places in batches]
    shortest = lengths.index(min(lengths))
    # of the batch that has the shortest sentence
    width = next(width for width, places in zip(widths, batches) if shortest in places)
    return {
        "rows": rows,
        "batches": batches,
        "widths": widths,
        "cells": sum(width * len(places) for width, places in zip(widths, batches)),
        "real": sum(lengths),
        "place": shortest,
        "cosines": _effects_of_padding(lines[shortest], width),
    }


def _effects_of_padding(sentence: str, width: int) -> list[float]:
    """The cosines of a sentence's vector with that of the padded sentence: see `padding`."""
    tokenizer, encoder = load_encoder()
    alone = tokenizer(sentence, return_tensors="pt")
    padded = tokenizer(sentence, padding="max_length", max_length=width, return_tensors="pt")
    mask = padded["attention_mask"]
    everything = torch.ones_like(mask)
    with torch.inference_mode():
        masked = encoder(**padded).last_hidden_state
        unmasked = encoder(padded["input_ids"], everything).last_hidden_state
        unpadded = mean_pool(encoder(**alone).last_hidden_state, alone["attention_mask"])
    vectors = [
        mean_pool(masked, mask),
        mean_pool(masked, everything),
        mean_pool(unmasked, everything),
    ]
    return rounded([float(normalise(unpadded)[0] @ normalise(vector)[0]) for vector in vectors])


# ---------------------------------------------------------------- lessons 03 and 04


def layers(word: str, texts: str) -> dict:
    """A word in several sentences, in every hidden state: points in a plane, and the cosines between
    the occurrences.

    texts: a sentence a line; an empty line begins the next kind, of four at most, which the views
    tell by colour. word: looked for among the first MOST_TOKENS["tokens"] tokens of each.

    Returns (the first hidden state is that of the embeddings):

    - "sentences": the lines.
    - "kinds": the kind of each, from 0.
    - "points": of each hidden state, (x, y) of the word in each sentence.
    - "cosines": of each state, a table of those between the sentences' word vectors.
    - "apart": of each state, the mean distance of two occurrences.
    """
    tokenizer, _ = load_encoder()
    # as the tokenizer writes it, such as in small letters
    word = tokenizer.backend_tokenizer.normalizer.normalize_str(word).strip()
    lines = lines_of(texts, 16)  # four of each kind
    if not word or len(lines) < 3:
        raise ExploreError("Type a word, and at least three sentences with it, one a line.")
    pieces, _, output = run(lines)
    states = torch.stack(output.hidden_states)  # (layers + 1, sentences, tokens, hidden)
    vectors = []
    for row in range(len(lines)):
        span = word_in(word, pieces[row])
        if span is None:
            raise ExploreError(f"Sentence {row + 1} does not have the word {word}.")
        vectors.append(states[:, row, slice(*span)].mean(1))  # the mean of its tokens
    word_vectors = torch.stack(vectors, dim=1).double()  # (layers + 1, sentences, hidden)
    unit = normalise(word_vectors)
    points = [plane(word_vectors[0])]
    for state in word_vectors[1:]:
        points.append(plane(state, before=points[-1]))
    return {
        "sentences": lines,
        "kinds": _kinds(texts),
        "points": rounded(points, 3),
        "cosines": rounded(unit @ unit.mT, 3),
        "apart": rounded(
            [torch.nn.functional.pdist(state).mean().item() for state in word_vectors], 3
        ),
    }


def _kinds(texts: str) -> list[int]:
    """The kind of each sentence: the number of its paragraph from 0, or 3 for all later ones."""
    # of each sentence but the first, whether the line before it is empty
    begins_paragraph = [
        not before.strip()
        for before, line in itertools.pairwise(texts.strip().splitlines())
        if line.strip()
    ]
    return [min(3, number) for number in itertools.accumulate(begins_paragraph, initial=0)]


def word_in(word: str, pieces: list[str]) -> tuple[int, int] | None:
    """(start, end) of the first word among the pieces that is `word`, or None.

    pieces: tokens of WordPiece; those that continue a word begin with ##.
    """
    starts = [place for place, piece in enumerate(pieces) if not piece.startswith("##")]
    for start, end in zip(starts, [*starts[1:], len(pieces)]):
        if "".join(piece.removeprefix("##") for piece in pieces[start:end]) == word:
            return start, end
    return None


def plane(vectors: torch.Tensor, before: torch.Tensor | None = None) -> torch.Tensor:
    """The first two principal components of vectors (n, d): a tensor (n, 2).

    The point farthest from the middle has the distance 1; of equal vectors all points are (0, 0).
    before: points (n, 2) of the same tokens in an earlier state; the result is turned or mirrored
    to lie near them.
    """
    centred = vectors - vectors.mean(0)
    # few vectors of many dimensions: the small table of their products has the same components
    # (n, n), and not (d, d); `eigh` sorts them from the least to the largest
    values, directions = torch.linalg.eigh(centred @ centred.T)
    points = directions[:, -2:].flip(1) * values[-2:].flip(0).clamp(min=0).sqrt()
    scale = points.norm(dim=1).max()
    # vectors that are equal but for rounding are one point
    points = points / scale if scale > 1e-4 else torch.zeros_like(points)
    if before is None or not before.any():
        # a component has no sign of its own: the farthest point along it shall be positive
        farthest = points[points.abs().argmax(0), [0, 1]]
        return points * torch.where(farthest < 0, -1.0, 1.0)
    # the rotation or reflection that brings them nearest to `before` (Schönemann 1966)
    left, _, right = torch.linalg.svd(points.T @ before)
    return points @ left @ right


def pooling(one: str, other: str, mask: bool = True, pads: int = 0) -> dict:
    """Two sentences pooled in three ways: their cosines, and what each token adds to the mean.

    pads: [PAD] tokens added to the first sentence. mask: whether pooling leaves them out.

    Returns:

    - "sentences": of each its "tokens" and "shares", the part of the mean's length that each token
      brings.
    - "cosines": under [CLS], mean and max pooling.
    """
    tokenizer, encoder = load_encoder()
    vectors, sentences = [], []
    lengths = [len(tokens_of(text, "pooling")) for text in (one, other)]
    for text, length in ((one, lengths[0] + pads), (other, lengths[1])):
        inputs = tokenizer(text, padding="max_length", max_length=length, return_tensors="pt")
        with torch.inference_mode():
            states = encoder(**inputs).last_hidden_state
        counted = inputs["attention_mask"] if mask else torch.ones_like(inputs["attention_mask"])
        cls, mean, maximum = (pool(states, counted)[0] for pool in (cls_pool, mean_pool, max_pool))
        vectors.append([cls, mean, maximum])
        # how much of the mean's length each token brings: the shares add up to 1
        shares = states[0] @ mean / (mean @ mean) / counted.sum() * counted[0]
        sentences.append({"tokens": inputs.tokens(0), "shares": rounded(shares)})
    cosines = [float(normalise(left) @ normalise(right)) for left, right in zip(*vectors)]
    return {"sentences": sentences, "cosines": rounded(cosines)}


# ---------------------------------------------------------------- lesson 05


def one_head(text: str, layer: int, head: int, token: int) -> dict:
    """One token's question to all others in one head, step by step (Vaswani et al. 2017, section
    3.2.1, equation 1).

    layer: from 1. head: from 0. token: the place of the one that asks, from 0.

    Returns:

    - "tokens": all tokens of the text.
    - "token": the place of the one that asks.
    - "products": of its query with each key.
    - "scores": these, scaled.
    - "shares": the softmax of the scores.
    - "result": the sum of the values, weighted by their shares.
    - "layers", "heads": how many layers the encoder has, and how many heads in each.
    """
    pieces = tokens_of(text, "one head")
    _, encoder = load_encoder()
    maps = attention_maps(encoder)  # of each layer: its linear maps, query, key and value
    heads = encoder.config.num_attention_heads
    if not (0 < layer <= len(maps) and 0 <= head < heads):
        raise ExploreError(
            f"This encoder has layers 1 to {len(maps)}, with heads 0 to {heads - 1} in each."
        )
    _, _, output = run([text])
    state, attention = output.hidden_states[layer - 1][0], maps[layer - 1]
    with torch.inference_mode():
        # (tokens, hidden) to (tokens, heads, size of a head), and this head of it
        queries, keys, values = (
            linear_map(state).unflatten(-1, (heads, -1))[:, head]
            for linear_map in (attention.query, attention.key, attention.value)
        )
    token = min(token, len(pieces) - 1)  # one of a longer text may still be chosen
    products = keys @ queries[token]
    scores = products / math.sqrt(queries.shape[-1])
    shares = scores.softmax(-1)
    # what the encoder itself computed, up to rounding
    if not shares.allclose(output.attentions[layer - 1][0, head, token], atol=1e-4):
        raise ExploreError(
            "This encoder adds something to the scores, such as MPNet for distances: not shown here."
        )
    return {
        "tokens": pieces,
        "token": token,
        "products": rounded(products, 3),
        "scores": rounded(scores, 3),
        "shares": rounded(shares),
        "result": rounded(shares @ values, 3),
        "layers": len(maps),
        "heads": heads,
    }


def silence(text: str, others: str, off: list) -> dict:
    """All heads of a text as maps, and its vector and similarities with and without some of them.

    others: texts to compare with, one a line. off: the heads that are silenced, (layer, head)
    pairs: layers from 1, heads from 0.

    Returns:

    - "tokens": those of the text.
    - "maps": for each layer and head the attention (tokens, tokens), with nothing silenced.
    - "others": the lines.
    - "cosine": of the text's vectors with and without these heads.
    - "before", "after": the cosines of the text with each other text, with and without them.
    """
    lines = lines_of(others, 3, "texts to compare with")  # few: encoded at every change
    pieces = tokens_of(text, "silence")
    _, _, output = run([text])
    before = sentence_vectors([text, *lines])
    after = sentence_vectors([text, *lines], off) if off else before
    return {
        "tokens": pieces,
        "maps": [rounded(layer[0], 3) for layer in output.attentions],
        "others": lines,
        "cosine": rounded(float(before[0] @ after[0])),
        "before": rounded(before[1:] @ before[0]),
        "after": rounded(after[1:] @ after[0]),
    }


# ---------------------------------------------------------------- lessons 07, 08 and 11


def masks(text: str, masked: list[int]) -> dict:
    """The adapter's ten first guesses at each masked place, with probabilities and surprisal in
    bits.

    masked: places of tokens; those of [CLS] and [SEP] are ignored. A [MASK] that was typed is
    masked too.

    Returns "tokens", those of the text as it was typed, and "guesses", which has for each masked
    place:

    - "place", "typed": where it is, and whether it was a typed [MASK].
    - "words", "shares": the guesses and their probabilities.
    - "own", "bits", "rank": the probability, the surprisal and the rank, from 1, of the token in
      the text; None for a typed [MASK].
    """
    tokenizer, model = load_masked_lm()
    pieces = tokens_of(text, "masks", tokenizer)
    inputs = tokenizer(text, return_tensors="pt")
    typed = [place for place, piece in enumerate(pieces) if piece == tokenizer.mask_token]
    places = [place for place in range(1, len(pieces) - 1) if place in typed or place in masked]
    ids = inputs["input_ids"].clone()
    ids[0, places] = tokenizer.mask_token_id
    with torch.inference_mode():
        shares = model(ids, inputs["attention_mask"]).logits[0].softmax(-1)
    guesses = []
    for place in places:
        top = shares[place].topk(10)
        own = shares[place, inputs["input_ids"][0, place]].item()  # of the piece in the text
        known = {
            "own": round(own, 6),
            "bits": round(-math.log2(max(own, 1e-12)), 2),  # a probability may underflow to 0
            "rank": int((shares[place] > own).sum()) + 1,
        }
        guesses.append({
            "place": place,
            "typed": place in typed,
            "words": tokenizer.convert_ids_to_tokens(top.indices.tolist()),
            "shares": rounded(top.values),
            **(dict.fromkeys(known) if place in typed else known),  # the same keys, all None
        })  # fmt: skip
    return {"tokens": pieces, "guesses": guesses}


@functools.cache
def scored_cosines() -> tuple[list[float], list[float], list[list[str]]]:
    """(scores, cosines, pairs of sentences) of the course's scored pairs.

    The lists are cached, so callers must not change them.
    """
    pairs = load_scored_pairs()
    sentences = pairs[["sentence1", "sentence2"]]
    left, right = (embed(sentences[name].tolist()) for name in sentences)
    cosines = (left * right).sum(1).astype(float)
    return pairs["score"].tolist(), rounded(cosines), sentences.to_numpy().tolist()


def threshold(cut: float, at: float) -> dict:
    """The course's scored pairs, classified by whether their cosine is at least `at`.

    A pair is "similar" if its score is at least `cut`.

    Returns:

    - "cosines", "labels": of each pair its cosine, and whether it is similar.
    - "counts": hits, misses, false alarms and right rejections.
    - "curve": the points (false alarm rate, hit rate) of all thresholds.
    - "precision", "recall", "accuracy": the precision is None if no pair passes.
    - "false_alarms": their rate.
    - "above": the three pairs that pass most narrowly, [sentence, sentence, score, cosine].
    """
    from sklearn.metrics import roc_curve

    scores, cosines, sentences = scored_cosines()
    labels = [score >= cut for score in scores]
    if len(set(labels)) < 2:
        raise ExploreError("With this cut all pairs are of one kind.")
    passed = [row for row, cosine in enumerate(cosines) if cosine >= at]
    hit = sum(labels[row] for row in passed)
    false_alarm, miss = len(passed) - hit, sum(labels) - hit
    right_rejection = len(labels) - hit - false_alarm - miss
    alarm_rates, hit_rates, _ = roc_curve(labels, cosines, drop_intermediate=False)
    narrow = sorted(passed, key=cosines.__getitem__)[:3]
    return {
        "cosines": cosines,
        "labels": labels,
        "counts": [hit, miss, false_alarm, right_rejection],
        "curve": [list(point) for point in zip(rounded(alarm_rates), rounded(hit_rates))],
        "precision": rounded(hit / len(passed)) if passed else None,
        "recall": rounded(hit / sum(labels)),
        "accuracy": rounded((hit + right_rejection) / len(labels)),
        "false_alarms": rounded(false_alarm / (false_alarm + right_rejection)),
        "above": [[*sentences[row], scores[row], cosines[row]] for row in narrow],
    }


def losses(
    kind: str, anchor: list, positive: list, negatives: list, margin: float, scale: float
) -> dict:
    """A loss on points in the plane, and its gradient at each point, by lesson 11's formulas.

    kind: "triplet" (Schroff et al. 2015, section 3.1, but distances not squared, as in Reimers &
    Gurevych 2019, section 3), over each negative; or "ranking" (van den Oord et al. 2018, equation
    4): cross entropy of scaled cosines. anchor, positive and each of `negatives`: [x, y]. margin:
    of the triplet loss. scale: of the ranking loss.

    Returns:

    - "loss": of all points.
    - "gradients": [x, y] at the anchor, the positive and each negative.
    - "cosines", "distances": of the anchor with the positive and each negative.
    - "costs": what each negative costs in the triplet loss, before their mean, or its share of the
      softmax.
    """
    points = torch.tensor([anchor, positive, *negatives], dtype=torch.float64, requires_grad=True)
    from_anchor = (points[0] - points[1:]).norm(dim=1)
    unit = points / points.norm(dim=1, keepdim=True).clamp(min=1e-12)  # none is divided by 0
    scores = scale * unit[1:] @ unit[0]
    if kind == "triplet":
        costs = (from_anchor[0] - from_anchor[1:] + margin).relu()  # no gradient at 0
        loss = costs.mean()
    else:
        costs = scores.softmax(0)[1:]
        # the right answer is 0, the place of the positive
        loss = torch.nn.functional.cross_entropy(scores[None], torch.tensor([0]))
    loss.backward()
    cosines = torch.nn.functional.cosine_similarity(points[:1], points[1:])
    return {
        "loss": rounded(loss.item()),
        "gradients": rounded(points.grad),
        "cosines": rounded(cosines.detach()),
        "distances": rounded(from_anchor.detach()),
        "costs": rounded(costs.detach()),
    }


ANSWERS = {
    "tokens": tokens,
    "merges": merges,
    "padding": padding,
    "layers": layers,
    "pooling": pooling,
    "one head": one_head,
    "silence": silence,
    "masks": masks,
    "threshold": threshold,
    "losses": losses,
    "search": search,
    "hybrid": hybrid,
}
