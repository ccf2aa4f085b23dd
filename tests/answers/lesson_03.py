"""Answers to lesson 03; `__init__.py` says what the tables are."""

import itertools
import statistics

import numpy as np
import torch
import torch.nn.functional as F


def word_by_mask(states, word_ids, index):
    return torch.mean(states[torch.tensor([word == index for word in word_ids])], 0)


# A list of all hidden states, from 0 on, with `vector` for token `position` in state `layer`.
def patch_in_a_loop(embeddings, layers, layer, position, vector):
    states = [embeddings.clone()]
    if layer == 0:
        states[0][position] = vector
    for number, (mix, weight) in enumerate(layers, start=1):
        new = torch.tanh(mix @ states[-1] @ weight)
        if number == layer:
            new[position] = vector
        states.append(new)
    return states


def nearest_by_loop(vectors, senses):
    hits = 0
    for place, row in enumerate(vectors):
        others = [other for other in range(len(senses)) if other != place]
        nearest = max(others, key=lambda other: F.cosine_similarity(row, vectors[other], dim=0))
        hits += senses[nearest] == senses[place]
    return hits / len(senses)


# A right answer, except that it searches the table `change(cosines, senses)`.
def nearest_changed(change):
    def nearest(vectors, senses):
        unit = F.normalize(vectors)
        cosines = change(unit @ unit.T, senses).fill_diagonal_(-torch.inf)
        hits = [senses[row] == sense for sense, row in zip(senses, cosines.argmax(1).tolist())]
        return sum(hits) / len(senses)

    return nearest


# An answer that compares `part(label)` instead of whole labels.
def nearest_by_part(part):
    return lambda vectors, senses: nearest_by_loop(vectors, [part(label) for label in senses])


# A table (words, words) that is true where two words have the same sense, so on the diagonal, too.
def of_one_sense(senses):
    return torch.tensor(np.equal.outer(senses, senses))


# The mean cosine of the pairs whose senses are the same, or of those whose senses are not.
def mean_over_pairs(cosines, senses, same):
    pairs = itertools.combinations(range(len(senses)), 2)
    return statistics.fmean(
        cosines[i, j].item() for i, j in pairs if (senses[i] == senses[j]) == same
    )


RIGHT = {
    "03-word-vector": [
        word_by_mask,
        lambda *args: word_by_mask(*args).tolist(),
        lambda states, word_ids, index: word_by_mask(states, word_ids, index).double().numpy(),
    ],
    "03-nearest-sense": [
        nearest_by_loop,
        lambda vectors, senses: torch.tensor(nearest_by_loop(vectors, senses)),
        lambda *args: np.array(nearest_by_loop(*args)),
    ],
    "03-patch": [
        patch_in_a_loop,
        lambda *args: torch.stack(patch_in_a_loop(*args)),
        lambda *args: torch.stack(patch_in_a_loop(*args)).tolist(),
    ],
}

COMPLETED = {
    "03-token-in-all-states": [
        lambda states, row, position: torch.stack(states)[:, row, position],
        lambda states, row, position: [state[row][position].tolist() for state in states],
        lambda states, row, position: np.array([state.numpy()[row, position] for state in states]),
        lambda states, row, position: tuple(
            state.select(0, row).select(0, position).double() for state in states
        ),
        lambda states, row, position: torch.cat(
            [state[row, position : position + 1] for state in states]
        ),
        # a product with one-hot vectors for the row and the position
        lambda states, row, position: torch.einsum(
            "lbth,b,t->lh",
            torch.stack(states),
            torch.eye(len(states[0]))[row],
            torch.eye(len(states[0][0]))[position],
        ),
    ],
    "03-gap-from-table": [
        # each pair once
        lambda cosines, senses: (
            mean_over_pairs(cosines, senses, same=True)
            - mean_over_pairs(cosines, senses, same=False)
        ),
        # each pair of one sense once, and each pair of two senses twice
        lambda cosines, senses: (
            cosines[of_one_sense(senses).triu(1)].mean()
            - cosines[~of_one_sense(senses)].double().mean()
        ),
        # NumPy's masked arrays, which leave out where the mask is true
        lambda cosines, senses: (
            np.ma.array(
                cosines, mask=~of_one_sense(senses).numpy() | np.eye(len(senses), dtype=bool)
            ).mean()
            - np.ma.array(cosines, mask=of_one_sense(senses).numpy()).mean()
        ),
        # sums and counts, without the diagonal
        lambda cosines, senses: (
            ((cosines * of_one_sense(senses)).sum() - cosines.trace())
            / (of_one_sense(senses).sum() - len(senses))
            - (cosines * ~of_one_sense(senses)).sum() / (~of_one_sense(senses)).sum()
        ),
        # what does not count is NaN
        lambda cosines, senses: (
            torch.nanmean(
                cosines.clone().fill_diagonal_(torch.nan).where(of_one_sense(senses), torch.nan)
            )
            - cosines[~of_one_sense(senses)].mean()
        ),
    ],
    # the share of draws in which the mean of `second` is above that of `first`
    "03-overtaken": [
        # sums of each draw
        lambda first, second, draws: (
            sum(sum(first[drawn]) < sum(second[drawn]) for drawn in draws) / len(draws)
        ),
        lambda first, second, draws: np.mean(first[draws].mean(1) < second[draws].mean(1)),
        # in float32
        lambda first, second, draws: (
            torch.tensor(first - second).float()[torch.tensor(draws)].mean(1).lt(0).float().mean()
        ),
        # the mean of the differences, and the result in float32
        lambda first, second, draws: np.mean(
            np.einsum("dw->d", (first - second)[draws]) / len(first) < 0, dtype=np.float32
        ),
        lambda first, second, draws: statistics.mean(
            statistics.fmean(first[drawn] - second[drawn]) < 0 for drawn in draws
        ),
        # each draw as a row of weights: the share of its places that hold each word
        lambda first, second, draws: (
            (draws[:, :, None] == np.arange(len(first))).mean(axis=1) @ (first - second) < 0
        ).mean(),
        # the difference of both means
        lambda first, second, draws: (
            np.diff([values[draws].mean(1) for values in (first, second)], axis=0) > 0
        ).mean(),
    ],
}

WRONG = {
    "03-word-vector": [
        (
            lambda states, word_ids, index: states[torch.tensor(word_ids).eq(index)].mean(dim=0),
            "`None` is not a number",
        )
    ]
}

# words of the text, an answer that breaks them, and sometimes words of what it is told
PROMISES = {
    "03-word-vector": [
        (  # takes only the first two pieces
            "all pieces",
            lambda states, word_ids, index: states[
                [place for place, word in enumerate(word_ids) if word == index][:2]
            ].mean(dim=0),
        ),
        (  # takes the token after [CLS] for word 0
            "Words are numbered from 0",
            lambda states, word_ids, index: (
                word_by_mask(states, word_ids, index) if index else states[1]
            ),
        ),
        (  # (1, hidden)
            "of shape (hidden,)",
            lambda states, word_ids, index: word_by_mask(states, word_ids, index)[None],
            "their shape is",
        ),
    ],
    "03-nearest-sense": [
        (
            "a number from 0 to 1",
            lambda vectors, senses: 100 * nearest_by_loop(vectors, senses),
            "times 100",
        ),
        ("the same label", lambda vectors, senses: 1 - nearest_by_loop(vectors, senses), "1 minus"),
        # compare the first or last letter, the length, the first word, the letters in any order
        ("the same label", nearest_by_part(lambda label: label[0])),
        ("the same label", nearest_by_part(lambda label: label[-1])),
        ("the same label", nearest_by_part(len)),
        ("the same label", nearest_by_part(lambda label: label.split()[0])),
        ("the same label", nearest_by_part(sorted)),
        (  # prefers rows whose labels begin alike: 3 outweighs any difference of cosines
            "most similar *other* row",
            nearest_changed(
                lambda cosines, senses: cosines + 3 * of_one_sense([sense[0] for sense in senses])
            ),
        ),
        # rounded cosines may be equal
        ("most similar *other* row", nearest_changed(lambda cosines, _: cosines.round(decimals=2))),
        ("most similar *other* row", nearest_changed(lambda cosines, _: cosines.round(decimals=4))),
        (  # tells only the first label from all others
            "more than two values",
            lambda vectors, senses: nearest_by_loop(
                vectors, [sense == senses[0] for sense in senses]
            ),
        ),
        # takes a negative cosine for 0
        ("can be negative, down to −1", nearest_changed(lambda cosines, _: cosines.clamp(min=0))),
    ],
    "03-patch": [
        (  # takes four layers at most
            "one or more pairs",
            lambda embeddings, layers, *rest: patch_in_a_loop(embeddings, layers[:4], *rest),
        ),
        (  # (tokens, len(layers) + 1, hidden)
            "(len(layers) + 1, tokens, hidden)",
            lambda *args: torch.stack(patch_in_a_loop(*args)).transpose(0, 1),
        ),
    ],
}
