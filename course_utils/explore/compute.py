"""What Python answers when an explorer asks. Each function takes an explorer's state and returns lists and numbers.

`page/compute.js` holds the same functions for the book's pages, under the same names; tests compare the two.
"""

import functools
import math
import re
from collections import Counter

MOST_TOKENS = {"tokens": 256, "one head": 24, "silence": 18, "masks": 40, "pooling": 40, "padding": 60, "search": 60}
MOST_CHARACTERS = 20_000
LONGEST_WORD = 100  # of the tokenizer: a longer word is [UNK]


class ExploreError(ValueError):
    """The text or setting cannot be shown. The message says why, in a sentence for the one who typed it."""


def _text(text):
    if not text.strip():
        raise ExploreError("Type a text.")
    if len(text) > MOST_CHARACTERS:
        raise ExploreError(f"This text has {len(text):,} characters; {MOST_CHARACTERS:,} can be shown.")
    return text


def _fits(tokens, name):
    if len(tokens) > MOST_TOKENS[name]:
        raise ExploreError(f"This text has {len(tokens):,} tokens; {MOST_TOKENS[name]} can be shown here. Shorten it.")
    return tokens


def _rounded(values, digits=4):
    """Numbers in lists, rounded: what goes to the page is small."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, list):
        return [_rounded(value, digits) for value in values]
    return round(values, digits) + 0.0 if isinstance(values, float) else values


def _pieces(text, name):
    """The tokens of a text, none of them cut off, if they can be shown."""
    from ..models import load_encoder

    return _fits(load_encoder()[0](_text(text)).tokens(), name)


def run(texts, silenced=()):
    """Run texts through the course's encoder, with every state on the way.

    silenced: (layer, head) pairs, layers from 1, whose context counts as 0.

    Returns (tokens of each text, attention_mask, parts): `parts` holds "hidden_states" (layers + 1, texts, tokens,
    hidden), "attentions" (layers, texts, heads, tokens, tokens), and "queries", "keys" and "values" (layers, texts,
    heads, tokens, size of a head).
    """
    import torch

    from ..attention import eager
    from ..models import attention_maps, load_encoder

    tokenizer, encoder = load_encoder()
    inputs = tokenizer(list(texts), padding=True, truncation=True, max_length=256, return_tensors="pt")
    heads = encoder.config.num_attention_heads
    size = encoder.config.hidden_size // heads
    caught, hooks = {"query": [], "key": [], "value": []}, []

    def catch(part):
        return lambda module, given, out: caught[part].append(out.unflatten(-1, (heads, size)).transpose(1, 2))

    def silence(head):
        def hook(module, given):
            joined = given[0].clone()
            joined[..., size * head : size * (head + 1)] = 0
            return (joined,)

        return hook

    maps = attention_maps(encoder)
    for of_layer in maps:
        hooks += [getattr(of_layer, part).register_forward_hook(catch(part)) for part in caught]
    hooks += [maps[layer - 1].output.register_forward_pre_hook(silence(head)) for layer, head in silenced]
    try:
        with eager(encoder), torch.inference_mode():
            out = encoder(**inputs, output_hidden_states=True, output_attentions=True)
    finally:
        for hook in hooks:
            hook.remove()
    parts = {"hidden_states": torch.stack(out.hidden_states), "attentions": torch.stack(out.attentions)}
    names = {"query": "queries", "key": "keys", "value": "values"}
    parts |= {names[part]: torch.stack(found) for part, found in caught.items()}
    tokens = [inputs.tokens(row) for row in range(len(texts))]
    return tokens, inputs["attention_mask"], parts


def sentence_vectors(texts, silenced=()):
    """The vectors of texts, pooled by the mean and of length 1: a tensor (texts, hidden)."""
    from ..pooling import mean_pool, normalise

    _, mask, parts = run(texts, silenced)
    return normalise(mean_pool(parts["hidden_states"][-1], mask))


# ---------------------------------------------------------------- lesson 01


def tokens(text, word=0):
    """The pieces and ids of a text, and each try of the greedy search for its word number `word`."""
    from ..models import load_encoder

    tokenizer, _ = load_encoder()
    text = _text(text)
    inside, words = tokenizer.backend_tokenizer, []
    for place, part in enumerate(re.split(rf"({'|'.join(map(re.escape, tokenizer.all_special_tokens))})", text)):
        if place % 2:  # a special token that was typed is one
            words.append(part)
        else:
            words += [word for word, _ in inside.pre_tokenizer.pre_tokenize_str(inside.normalizer.normalize_str(part))]
    vocabulary = tokenizer.get_vocab()
    pieces, owners = [tokenizer.cls_token], [-1]
    for number, part in enumerate(words[: MOST_TOKENS["tokens"]]):
        steps = greedy(part, vocabulary)
        cut = [piece for _, _, piece, found in steps if found] if steps and steps[-1][3] else [tokenizer.unk_token]
        pieces += cut
        owners += [number] * len(cut)
    pieces.append(tokenizer.sep_token)
    owners.append(-1)
    word = min(word, max(0, len(words) - 1))
    return {
        "pieces": pieces[: MOST_TOKENS["tokens"]],
        "ids": [vocabulary[piece] for piece in pieces[: MOST_TOKENS["tokens"]]],
        "owners": owners[: MOST_TOKENS["tokens"]],
        "total": len(tokenizer(text)["input_ids"]),
        "words": words[: MOST_TOKENS["tokens"]],
        "word": word,
        "steps": [list(step) for step in greedy(words[word], vocabulary)] if words else [],
    }


def greedy(word, vocabulary):
    """Each try of the greedy search in one word: (start, end, piece tried, whether it is in the vocabulary).

    If the last try is not in the vocabulary, a rest of the word has no piece, and the whole word is [UNK]; so is a word
    that is longer than the tokenizer accepts, for which there is no try.
    """
    steps, start = [], 0
    if len(word) > LONGEST_WORD:
        return []
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = "##" * (start > 0) + word[start:end]
            steps.append((start, end, piece, piece in vocabulary))
            if steps[-1][3]:
                break
        else:
            return steps
        start = steps[-1][1]
    return steps


def merges(corpus, steps):
    """BPE on a small corpus, a word and its count in each line: the merges, and the words cut after `steps` of them."""
    counts = Counter()
    for line in corpus.splitlines():
        word, _, count = line.strip().rpartition(" ")
        if not line.strip():
            continue
        if not (word and count.isascii() and count.isdigit()):
            word, count = line.strip(), "1"
        counts["".join(word.split())] += int(count)
    if not counts:
        raise ExploreError("Type a word and its count in each line, such as: low 5")
    if len(counts) > 60 or max(map(len, counts)) > 30:
        raise ExploreError("At most 60 words of at most 30 letters can be shown.")
    words, found = {word: list(word) for word in counts}, []
    shown = {word: list(word) for word in counts}
    while len(found) < 60:
        totals = Counter()
        for word, symbols in words.items():
            for pair in zip(symbols, symbols[1:]):
                totals[pair] += counts[word]
        if not totals:
            break
        best = min(totals, key=lambda pair: (-totals[pair], pair))
        found.append([*best, totals[best]])
        words = {word: _merged(symbols, best) for word, symbols in words.items()}
        if len(found) <= steps:
            shown = words
    letters = {letter for word in counts for letter in word}
    steps = min(steps, len(found))
    return {
        "merges": found,
        "steps": steps,
        "words": [[word, counts[word], shown[word]] for word in counts],
        "entries": len(letters | {left + right for left, right, _ in found[:steps]}),
        "symbols": sum(counts[word] * len(shown[word]) for word in counts),
    }


def _merged(symbols, pair):
    merged, position = [], 0
    while position < len(symbols):
        step = 2 if tuple(symbols[position : position + 2]) == tuple(pair) else 1
        merged.append("".join(symbols[position : position + step]))
        position += step
    return merged


# ---------------------------------------------------------------- lesson 02


def padding(texts, batch, ordered, length):
    """Batches of sentences padded to one length, and what padding does to the vector of the shortest.

    "cosines" are those with the vector of that sentence alone: with the mask, without it in pooling, and without it.

    batch: sentences in a batch. ordered: sorted by length first. length: pad to this, 0 for the longest of each batch.
    """
    import torch

    from ..models import load_encoder
    from ..pooling import mean_pool, normalise

    lines = [line for line in _text(texts).splitlines() if line.strip()]
    if len(lines) > 24:
        raise ExploreError(f"{len(lines)} lines; 24 can be shown.")
    tokenizer, encoder = load_encoder()
    rows = [tokenizer(line).tokens() for line in lines]
    most = max(range(len(rows)), key=lambda row: len(rows[row]))
    if len(rows[most]) > MOST_TOKENS["padding"]:
        raise ExploreError(
            f"Sentence {most + 1} has {len(rows[most]):,} tokens; {MOST_TOKENS['padding']} can be shown."
        )
    if length and length < len(rows[most]):
        least = len(rows[most])
        raise ExploreError(f"Sentence {most + 1} has {least} tokens: choose a fixed length of at least {least}, or 0.")
    order = sorted(range(len(rows)), key=lambda place: len(rows[place])) if ordered else list(range(len(rows)))
    batches = [order[start : start + batch] for start in range(0, len(order), batch)]
    widths = [length or max(len(rows[place]) for place in one) for one in batches]
    cells = sum(width * len(one) for width, one in zip(widths, batches))
    real = sum(map(len, rows))
    # the shortest sentence, in its batch, with the mask and without
    place = min(range(len(rows)), key=lambda row: len(rows[row]))
    width = next(width for width, one in zip(widths, batches) if place in one)
    inputs = tokenizer(lines[place], padding="max_length", max_length=width, return_tensors="pt")
    with torch.inference_mode():
        kept = encoder(**inputs).last_hidden_state
        seen = encoder(inputs["input_ids"], torch.ones_like(inputs["attention_mask"])).last_hidden_state
        by_itself = tokenizer(lines[place], return_tensors="pt")
        alone = normalise(mean_pool(encoder(**by_itself).last_hidden_state, by_itself["attention_mask"]))[0]
    right = normalise(mean_pool(kept, inputs["attention_mask"]))[0]
    pooled = normalise(mean_pool(kept, torch.ones_like(inputs["attention_mask"])))[0]
    wrong = normalise(mean_pool(seen, torch.ones_like(inputs["attention_mask"])))[0]
    return {
        "rows": rows, "batches": batches, "widths": widths, "cells": cells, "real": real,
        "place": place, "cosines": _rounded([float(alone @ one) for one in (right, pooled, wrong)]),
    }  # fmt: skip


# ---------------------------------------------------------------- lessons 03 and 04


def layers(word, texts):
    """A word in several sentences, in every hidden state: points in a plane, and the mean cosine between them.

    texts: a sentence a line; an empty line begins the next kind, of four at most, which the views tell by colour.
    """
    import torch

    from ..models import load_encoder
    from ..pooling import normalise

    word = load_encoder()[0].backend_tokenizer.normalizer.normalize_str(word).strip()
    lines, kinds, gap = [], [], False
    for line in map(str.strip, texts.splitlines()):
        if line:
            lines.append(line)
            kinds.append(min(3, kinds[-1] + gap) if kinds else 0)
        gap = not line
    if not word or len(lines) < 3:
        raise ExploreError("Type a word, and at least three sentences with it, one a line.")
    if len(lines) > 16:
        raise ExploreError(f"{len(lines)} sentences; 16 can be shown.")
    found, mask, parts = run(lines)
    vectors = []
    for row, pieces in enumerate(found):
        place = word_in(word, pieces)
        if place is None:
            raise ExploreError(f"Sentence {row + 1} does not have the word {word}.")
        vectors.append(parts["hidden_states"][:, row, place[0] : place[1]].mean(1))
    states = torch.stack(vectors, dim=1).double()  # (layers + 1, sentences, hidden)
    unit = normalise(states)
    cosines = unit @ unit.mT
    points = []
    for state in states:
        points.append(plane(state, points[-1] if points else None))
    apart = [torch.nn.functional.pdist(state).mean().item() for state in states]
    points, cosines = _rounded([p.tolist() for p in points], 3), _rounded(cosines, 3)
    return {"sentences": lines, "kinds": kinds, "points": points, "cosines": cosines, "apart": _rounded(apart, 3)}


def word_in(word, pieces):
    """(first, behind the last) token of the first place where the pieces make `word`, or None."""
    start = 0
    while start < len(pieces):
        end = start + 1
        while end < len(pieces) and pieces[end].startswith("##"):
            end += 1
        if "".join([pieces[start], *(piece[2:] for piece in pieces[start + 1 : end])]) == word:
            return start, end
        start = end
    return None


def plane(vectors, before=None):
    """The first two principal components of vectors (n, d): a tensor (n, 2), turned to lie near `before`."""
    import torch

    centred = vectors - vectors.mean(0)
    values, directions = torch.linalg.eigh(centred @ centred.T)
    points = directions[:, -2:].flip(1) * values[-2:].flip(0).clamp(min=0).sqrt()
    scale = points.norm(dim=1).max()
    points = points / scale if scale > 1e-4 else torch.zeros_like(points)  # equal but for rounding
    if before is None or not before.any():
        signs = torch.where(points[points.abs().argmax(0), [0, 1]] < 0, -1.0, 1.0)
        return points * signs
    left, _, right = torch.linalg.svd(points.T @ before)  # the nearest rotation or reflection (Schönemann 1966)
    return points @ left @ right


def pooling(one, other, mask=True, pads=0):
    """Two sentences pooled in three ways: their cosines, and how much each token gives to the mean.

    pads: [PAD] tokens added to the first sentence. mask: whether pooling leaves them out.
    """
    import torch

    from ..models import load_encoder
    from ..pooling import cls_pool, max_pool, mean_pool, normalise

    tokenizer, encoder = load_encoder()
    rows = [_fits(tokenizer(_text(text)).tokens(), "pooling") for text in (one, other)]
    vectors, given = [], []
    for row, (text, extra) in enumerate(((one, pads), (other, 0))):
        inputs = tokenizer(text, padding="max_length", max_length=len(rows[row]) + extra, return_tensors="pt")
        with torch.inference_mode():
            states = encoder(**inputs).last_hidden_state
        counted = inputs["attention_mask"] if mask else torch.ones_like(inputs["attention_mask"])
        vectors.append([pool(states, counted)[0] for pool in (cls_pool, mean_pool, max_pool)])
        mean = vectors[-1][1]
        # how much of the mean's length each token brings: the shares add up to 1
        shares = states[0] @ mean / (mean @ mean) / counted.sum() * counted[0]
        given.append({"tokens": inputs.tokens(0), "shares": _rounded(shares)})
    cosines = [float(normalise(a) @ normalise(b)) for a, b in zip(*vectors)]
    return {"sentences": given, "cosines": _rounded(cosines)}


# ---------------------------------------------------------------- lesson 05


def one_head(text, layer, head, token):
    """One token's question to all others in one head, step by step (Vaswani et al. 2017, section 3.2.1, equation 1)."""
    pieces = _pieces(text, "one head")
    _, _, parts = run([text])
    layers, _, heads = parts["queries"].shape[:3]
    if not (0 < layer <= layers and 0 <= head < heads):
        raise ExploreError(f"This encoder has layers 1 to {layers}, with heads 0 to {heads - 1} in each.")
    token = min(token, len(pieces) - 1)
    query, key, value = (parts[name][layer - 1, 0, head] for name in ("queries", "keys", "values"))
    products = query[token] @ key.T
    scores = products / math.sqrt(query.shape[-1])
    shares = scores.softmax(-1)
    if not shares.allclose(parts["attentions"][layer - 1, 0, head, token], atol=1e-4):
        raise ExploreError("This encoder adds something to the scores, such as MPNet for distances: not shown here.")
    return {
        "tokens": pieces, "token": token, "products": _rounded(products, 3), "scores": _rounded(scores, 3),
        "shares": _rounded(shares), "result": _rounded(shares @ value, 3), "layers": layers, "heads": heads,
    }  # fmt: skip


def silence(text, others, off):
    """All heads of a text as maps; what its vector and its similarities become with the heads `off` silent.

    off: (layer, head) pairs, layers from 1, heads from 0.
    """
    lines = [line.strip() for line in others.splitlines() if line.strip()]
    if len(lines) > 3:
        raise ExploreError(f"{len(lines)} texts to compare with; three can be shown.")
    pieces = _pieces(text, "silence")
    _, _, parts = run([text])
    before = sentence_vectors([text, *lines])
    after = sentence_vectors([text, *lines], off) if off else before
    return {
        "tokens": pieces, "maps": _rounded(parts["attentions"][:, 0], 3), "others": lines,
        "cosine": _rounded(float(before[0] @ after[0])),
        "before": _rounded(before[1:] @ before[0]), "after": _rounded(after[1:] @ after[0]),
    }  # fmt: skip


# ---------------------------------------------------------------- lessons 07, 08 and 11


def masks(text, masked):
    """The adapter's ten first guesses at each masked place, with probabilities and surprisal in bits.

    masked: places of tokens. A [MASK] that was typed is one too; its "own", "bits" and "rank" are None.
    """
    import torch

    from ..models import load_masked_lm

    tokenizer, model = load_masked_lm()
    inputs = tokenizer(_text(text), return_tensors="pt")
    pieces = _fits(inputs.tokens(0), "masks")
    typed = [piece == tokenizer.mask_token for piece in pieces]
    places = [place for place in range(1, len(pieces) - 1) if typed[place] or place in masked]
    hidden = inputs["input_ids"].clone()
    hidden[0, places] = tokenizer.mask_token_id
    with torch.inference_mode():
        shares = model(hidden, inputs["attention_mask"]).logits[0].softmax(-1)
    guesses = []
    for place in places:
        top = shares[place].topk(10)
        own = shares[place, inputs["input_ids"][0, place]].item()
        guesses.append({
            "place": place, "typed": typed[place], "words": tokenizer.convert_ids_to_tokens(top.indices.tolist()),
            "shares": _rounded(top.values), "own": round(own, 6), "bits": round(-math.log2(max(own, 1e-12)), 2),
            "rank": int((shares[place] > own).sum()) + 1,
        })  # fmt: skip
        if typed[place]:
            guesses[-1] |= dict.fromkeys(("own", "bits", "rank"))
    return {"tokens": pieces, "guesses": guesses}


@functools.cache
def scored_cosines():
    """(scores, cosines, pairs of sentences) of the course's scored pairs, as lists."""
    from ..data import load_scored_pairs
    from ..embedding import embed

    pairs = load_scored_pairs()
    one, other = (embed(pairs[name].tolist()) for name in ("sentence1", "sentence2"))
    sentences = pairs[["sentence1", "sentence2"]].to_numpy().tolist()
    return pairs["score"].tolist(), _rounded((one * other).sum(1).astype(float)), sentences


def threshold(cut, at):
    """The course's scored pairs, "similar" from the score `cut` on, told apart by the cosine `at`.

    "above" has the three pairs that pass most narrowly: [sentence, sentence, score, cosine].
    """
    from sklearn.metrics import roc_curve

    scores, cosines, sentences = scored_cosines()
    labels = [score >= cut for score in scores]
    if len(set(labels)) < 2:
        raise ExploreError("With this cut all pairs are of one kind.")
    said = [cosine >= at for cosine in cosines]
    table = Counter(zip(labels, said))
    alarms, hits, _ = roc_curve(labels, cosines, drop_intermediate=False)
    curve = [list(point) for point in zip(alarms.tolist(), hits.tolist())]
    narrow = sorted((row for row in range(len(said)) if said[row]), key=lambda row: cosines[row])[:3]
    hit, miss, alarm, right = (table[key] for key in ((True, True), (True, False), (False, True), (False, False)))
    return {
        "cosines": cosines, "labels": labels, "counts": [hit, miss, alarm, right], "curve": _rounded(curve),
        "precision": _rounded(hit / (hit + alarm)) if hit + alarm else None, "recall": _rounded(hit / (hit + miss)),
        "accuracy": _rounded((hit + right) / len(labels)), "false_alarms": _rounded(alarm / (alarm + right)),
        "above": [[*sentences[row], scores[row], cosines[row]] for row in narrow],
    }  # fmt: skip


def losses(kind, anchor, positive, negatives, margin, scale):
    """A loss on points in the plane, and its gradient at each: lesson 11's formulas.

    kind: "triplet" (Schroff et al. 2015, section 3.1, but distances not squared, as in Reimers & Gurevych 2019, section
    3), over each negative; or "ranking" (van den Oord et al. 2018, equation 4): cross entropy of scaled cosines.
    "costs" has what each negative costs in the triplet loss, before their mean, or its share of the softmax.
    """
    import torch

    points = torch.tensor([anchor, positive, *negatives], dtype=torch.float64, requires_grad=True)
    one, near, far = points[0], points[1], points[2:]
    if kind == "triplet":
        costs = ((one - near).norm() - (one - far).norm(dim=1) + margin).relu()  # no gradient at 0
        loss = costs.mean()
    else:
        unit = points / points.norm(dim=1, keepdim=True).clamp(min=1e-12)
        scores = scale * unit[1:] @ unit[0]
        costs = scores.softmax(0)[1:]
        loss = torch.nn.functional.cross_entropy(scores[None], torch.tensor([0]))
    loss.backward()
    cosines = torch.nn.functional.cosine_similarity(one[None], points[1:]).detach()
    distances = (one - points[1:]).norm(dim=1).detach()
    return {"loss": _rounded(loss.item()), "gradients": _rounded(points.grad), "cosines": _rounded(cosines),
            "distances": _rounded(distances), "costs": _rounded(costs.detach())}  # fmt: skip


# ---------------------------------------------------------------- lesson 12

DOC_QUERIES = tuple("d50 d03 d12 d54 d21 d31 d05 d35 d43 d25 d06 d01".split())  # of load_doc_queries
LISTED = 8  # pages of each list that are shown


@functools.cache
def documentation():
    """All that decides the lists of lesson 12 for `DOC_QUERIES`: every page takes part, so the lists are exact.

    Returns a dict. "names" and "lengths" have the pages, lengths in words. "counts" has for each word of a query the
    pages that have it, as steps from one to the next, and how often each has it. "queries" has for each id its "query"
    and "kind", its "grades" (page, grade), and the "cosines" of the pages' best windows, in units of 0.00001.
    "fusion" is the constant of reciprocal rank fusion.
    """
    import numpy as np
    from safetensors.numpy import load_file

    from ..data import load_doc_judgements, load_doc_queries, load_docstrings
    from ..embedding import embed
    from ..ranking import FUSION, best_of_each, words
    from ..trainings.search import VECTORS, pages

    docs, judged = load_docstrings(), load_doc_judgements()
    asked = load_doc_queries("dev").set_index("id").loc[list(DOC_QUERIES)]
    split = [Counter(words(page)) for page in pages(docs)]
    counts = {}
    for word in dict.fromkeys(word for query in asked["query"] for word in words(query)):
        having = [place for place, own in enumerate(split) if word in own]
        counts[word] = [np.diff(having, prepend=0).tolist(), [split[place][word] for place in having]]
    stored, place_of = load_file(VECTORS), {name: place for place, name in enumerate(docs["name"])}
    asked_vectors = embed(asked["query"].tolist(), model="packaged")
    cosines = best_of_each(asked_vectors @ stored["vectors"].astype("f4").T, stored["owners"])
    grades = dict(iter(judged.groupby("id")))
    return {
        "names": docs["name"].tolist(), "lengths": [own.total() for own in split], "counts": counts, "fusion": FUSION,
        "queries": {
            one: {
                "query": query, "kind": kind, "cosines": (100_000 * row).round().astype(int).tolist(),
                "grades": [[place_of[name], grade] for name, grade in zip(grades[one]["name"], grades[one]["grade"])],
            }
            for one, query, kind, row in zip(asked.index, asked["query"], asked["kind"], cosines)
        },
    }  # fmt: skip


def _ordered(scores):
    """Places by descending score; scores that are equal but for rounding keep the order of the pages."""
    import numpy as np

    return np.argsort(-np.round(1e9 * np.asarray(scores)), kind="stable").tolist()


def hybrid(query, off, k1, b, fusion, weight, page):
    """The pages of the documentation by words, by vectors and by both, for one query: lesson 12's formulas.

    query: an id of `DOC_QUERIES`. off: its words that BM25 leaves out. fusion: "sum" of scaled scores, the words with
    this `weight`, or reciprocal "ranks" of the first thirty. page: the place of a page to explain, or None.

    "lists", "ndcg" and each page's "ranks" are those of words, both and vectors, in this order. A page without any of
    the words is not in the list of the words, and has no rank there.
    """
    import numpy as np

    from ..ranking import bm25_parts, ndcgs, reciprocal_rank_fusion, reciprocal_sums, words
    from ..trainings.search import DEPTH

    docs = documentation()
    asked, names, lengths = docs["queries"][query], docs["names"], np.array(docs["lengths"], dtype=float)
    by_words, having, parts = np.zeros(len(names)), {}, []
    for word in words(asked["query"]):
        steps, counts = (np.array(one, dtype=int) for one in docs["counts"][word])
        places, having[word] = np.cumsum(steps), len(steps)
        if word in off:
            continue
        worth, count = np.zeros(len(names)), np.zeros(len(names), dtype=int)
        rarity, worth[places] = bm25_parts(counts, lengths[places], lengths.mean(), len(steps), len(names), k1, b)
        count[places] = counts
        by_words += rarity * worth
        if page is not None:
            parts.append([word, float(rarity), int(count[page]), float(worth[page])])
    by_vectors = np.array(asked["cosines"]) / 100_000
    of_words, of_vectors = [place for place in _ordered(by_words) if by_words[place] > 0], _ordered(by_vectors)
    if fusion == "ranks":
        first = of_words[:DEPTH], of_vectors[:DEPTH]
        (of_both,), sums = reciprocal_rank_fusion(*([one] for one in first)), reciprocal_sums(first)
        by_both = np.array([sums.get(place, 0.0) for place in range(len(names))])
    else:
        scaled = [(one - one.mean()) / (one.std() + 1e-9) for one in (by_words, by_vectors)]
        by_both = weight * scaled[0] + (1 - weight) * scaled[1]
        of_both = _ordered(by_both)
    grades, orders = dict(asked["grades"]), (of_words, of_both, of_vectors)
    good = {place: grade for place, grade in grades.items() if grade}
    ranks = [{place: rank for rank, place in enumerate(order, start=1)} for order in orders]
    shown = sorted({place for order in orders for place in order[:LISTED]})
    return {
        "queries": [[one, docs["queries"][one]["kind"], docs["queries"][one]["query"]] for one in DOC_QUERIES],
        "words": [[word, number] for word, number in having.items()], "size": len(names),
        "lists": [
            [[place, _rounded(float(scores[place]))] for place in order[:LISTED]]
            for order, scores in zip(orders, (by_words, by_both, by_vectors))
        ],
        "pages": [{
            "page": place, "name": names[place], "length": int(lengths[place]), "grade": grades.get(place),
            "ranks": [of.get(place) for of in ranks],
        } for place in shown],
        "good": len(good), "ndcg": _rounded(ndcgs([order[:10] for order in orders], [good] * 3), 6),
        "explained": None if page is None else {
            "name": names[page], "length": int(lengths[page]), "times": _rounded(float(lengths[page] / lengths.mean())),
            "parts": _rounded(parts), "score": _rounded(float(by_words[page])), "cosine": float(by_vectors[page]),
            "grade": grades.get(page), "ranks": [of.get(page) for of in ranks],
        },
    }  # fmt: skip


# ---------------------------------------------------------------- lesson 14

RESULTS = 6
BINS, LOWEST = 26, -0.3  # of the histogram of cosines, each 0.05 wide


@functools.cache
def collection():
    """Sentences to search in, with a vector for each, from each hidden state and pooling, in 8 bits.

    Of the sentences of lesson 14, every fourth, and those that its development queries want.

    Returns (texts, codes, scales): `codes` int8 (states, poolings, texts, hidden), `scales` float32 (states, poolings,
    texts); code times scale is a vector of length 1. The poolings stand in the order of `pooling.POOLINGS`. A progress
    bar appears after two seconds.
    """
    import torch

    from ..data import load_queries, load_reviews
    from ..embedding import hidden_states
    from ..pooling import POOLINGS, normalise

    reviews = load_reviews()["text"]
    reviews = reviews[reviews.str.split().str.len().between(12, 24)]
    texts = reviews[sorted({*reviews.index[::4], *load_queries("dev")["row"]})].tolist()
    codes = scales = None
    for places, states, mask in hidden_states(texts):
        pooled = [torch.stack([normalise(pool(state, mask)) for pool in POOLINGS.values()]) for state in states]
        vectors = torch.stack(pooled)  # (states, poolings, texts, hidden)
        if codes is None:
            shape = (*vectors.shape[:2], len(texts), vectors.shape[-1])
            codes, scales = torch.empty(shape, dtype=torch.int8), torch.empty(shape[:-1])
        scale = vectors.abs().amax(-1) / 127
        codes[:, :, places] = (vectors / scale[..., None]).round().to(torch.int8)
        scales[:, :, places] = scale
    return texts, codes, scales


def search(query, layer, pooling):
    """The sentences of the collection nearest to a query, by the vectors of one hidden state and pooling.

    layer: which hidden state, from 0. pooling: a name of `pooling.POOLINGS`. "usual" is the rank by the last state and
    the mean; "first" is the rank here of the sentence that is first by these.
    """
    from ..pooling import POOLINGS, normalise

    _pieces(query, "search")
    _, mask, parts = run([query])
    texts, codes, scales = collection()

    def cosines_by(state, name):
        one = normalise(POOLINGS[name](parts["hidden_states"][state], mask))[0]
        place = list(POOLINGS).index(name)
        return [round(value, 3) for value in (codes[state, place].float() @ one * scales[state, place]).tolist()]

    cosines, usual = cosines_by(layer, pooling), cosines_by(-1, "mean")
    order = sorted(range(len(texts)), key=lambda place: -cosines[place])
    words = set(re.findall(r"\w+", query.lower()))
    counts = [0] * BINS
    for value in cosines:
        counts[max(0, min(BINS - 1, math.floor((value - LOWEST) * 20)))] += 1
    return {
        "results": [{
            "text": texts[place], "cosine": cosines[place], "usual": sum(value > usual[place] for value in usual) + 1,
            "shared": sorted(words & set(re.findall(r"\w+", texts[place]))),
        } for place in order[:RESULTS]],
        "first": order.index(usual.index(max(usual))) + 1, "size": len(texts), "counts": counts, "lowest": min(cosines),
        "mean": round(sum(cosines) / len(cosines), 3),
    }  # fmt: skip


ANSWERS = {
    "tokens": tokens, "merges": merges, "padding": padding, "layers": layers, "pooling": pooling, "one head": one_head,
    "silence": silence, "masks": masks, "threshold": threshold, "losses": losses,
    "search": search, "hybrid": hybrid,
}  # fmt: skip
