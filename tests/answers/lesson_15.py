"""Answers to lesson 15; `__init__.py` says what the tables are."""

import statistics
from fractions import Fraction

import numpy as np
import torch
from scipy.linalg import toeplitz


def distil_plain(ids, table, counts, a):
    weights = a / (a + counts / counts.sum())
    rows = table * weights[:, None]
    vectors = np.zeros((len(ids), table.shape[1]))
    for place, tokens in enumerate(ids):
        if len(tokens):
            mean = rows[tokens].mean(axis=0)
            vectors[place] = mean / np.linalg.norm(mean)
    return vectors


def last_flipped(states, mask):
    # `argmax` finds the first 1 of a reversed row, which is that of the last token
    return states[torch.arange(len(states)), states.shape[1] - 1 - mask.flip(1).argmax(1)]


def late_stacked(last_hidden_state, special, spans):
    of_spans = [(last_hidden_state[start:end], special[start:end] == 0) for start, end in spans]
    vectors = torch.stack([states[is_word].mean(dim=0) for states, is_word in of_spans])
    return vectors / vectors.norm(dim=-1, keepdim=True)


def weat(x, y, a, b):
    x, y, a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y, a, b))
    # the associations of the rows of x, and of y
    of_x, of_y = ((rows @ a.T).mean(axis=1) - (rows @ b.T).mean(axis=1) for rows in (x, y))
    return (of_x.mean() - of_y.mean()) / np.concatenate([of_x, of_y]).std()


# (tokens, tokens): how far token j lies before token i, negative if it comes later.
def places_back(tokens):
    return torch.arange(tokens)[:, None] - torch.arange(tokens)


RIGHT = {
    "15-distil": [
        distil_plain,
        lambda *args: tuple(distil_plain(*args)),
        lambda *args: distil_plain(*args).astype(np.float32),
    ],
    "15-last-token": [
        last_flipped,
        lambda *args: last_flipped(*args).tolist(),
        lambda *args: np.array(last_flipped(*args)),
    ],
    "15-late-chunks": [
        late_stacked,
        lambda *args: np.array(late_stacked(*args)),
        lambda *args: late_stacked(*args).tolist(),
    ],
    "15-weat": [
        weat,
        lambda *args: torch.tensor(weat(*map(np.float32, args))),
        lambda *args: np.array(weat(*args)),
    ],
}

COMPLETED = {
    # the share of `ten` that is in `candidates`
    "15-kept": [
        lambda candidates, ten: len({*candidates} & {*ten}) / len(ten),
        lambda candidates, ten: np.isin(ten, candidates).mean(),
        lambda candidates, ten: sum(map(candidates.count, ten)) / len(ten),
        lambda candidates, ten: (
            1 - len([place for place in ten if place not in candidates]) / len(ten)
        ),
        lambda candidates, ten: (np.array(ten)[:, None] == np.array(candidates)).sum() / len(ten),
        lambda candidates, ten: (
            torch.isin(torch.tensor(ten), torch.tensor(candidates)).float().mean()
        ),
        lambda candidates, ten: Fraction(np.intersect1d(candidates, ten).size, len(ten)),
        # places that are in both lists occur twice
        lambda candidates, ten: (np.bincount(candidates + ten) == 2).sum() / len(ten),
        lambda candidates, ten: statistics.fmean(
            any(place == other for other in candidates) for place in ten
        ),
    ],
    # true where token j is token i or at most `window` tokens before it
    "15-looks-back": [
        lambda tokens, window: torch.ones(tokens, tokens, dtype=torch.bool).tril().triu(-window),
        lambda tokens, window: [
            [0 <= i - j <= window for j in range(tokens)] for i in range(tokens)
        ],
        lambda tokens, window: (
            np.tri(tokens, dtype=bool) & ~np.tri(tokens, k=-window - 1, dtype=bool)
        ),
        # `clamp` changes the distances outside the window, and no others
        lambda tokens, window: places_back(tokens) == places_back(tokens).clamp(0, window),
        lambda tokens, window: toeplitz(np.arange(tokens) <= window, np.zeros(tokens, dtype=bool)),
        lambda tokens, window: (
            torch.tril(torch.ones(tokens, tokens))
            - torch.tril(torch.ones(tokens, tokens), -window - 1)
        ),
        # one diagonal for each distance
        lambda tokens, window: sum(
            torch.diag(torch.ones(tokens - back, dtype=int), -back)
            for back in range(min(window + 1, tokens))
        ),
        lambda tokens, window: torch.isin(places_back(tokens), torch.arange(window + 1)),
    ],
}

WRONG = {}

# words of the exercise's text, an answer that breaks them, and sometimes words of its message
PROMISES = {
    "15-distil": [
        # loses a dimension of length 1: for a single text
        ("an array (n, d)", lambda *args: distil_plain(*args).squeeze()),
        (  # a count below 40 becomes 40
            "at least one of the counts is above 0",
            lambda ids, table, counts, a: distil_plain(ids, table, np.maximum(counts, 40), a),
        ),
        (  # takes square roots of the counts before it computes shares
            "its share of all counts",
            lambda ids, table, counts, a: distil_plain(ids, table, counts**0.5, a),
        ),
        (  # returns ones in place of zeros
            "All zeros if it has no tokens",
            lambda *args: np.where(distil_plain(*args) == 0, 1.0, distil_plain(*args)),
        ),
    ],
    "15-last-token": [
        (  # returns a vector for a batch of one
            "(batch, hidden)",
            lambda states, mask: last_flipped(states, mask).squeeze(0),
            "their shape is",
        )
    ],
    "15-late-chunks": [
        (  # takes the first and the last token for the special ones
            "leave out every position where `special` is 1",
            lambda states, special, spans: late_stacked(
                states,
                torch.nn.functional.pad(torch.zeros_like(special[2:]), (1, 1), value=1),
                spans,
            ),
        ),
        (  # sorts the spans by where they start
            "one vector for each span, in the order of `spans`",
            lambda states, special, spans: late_stacked(states, special, sorted(spans)),
        ),
        # returns a vector for one span
        ("a tensor (spans, hidden)", lambda *args: late_stacked(*args).squeeze(0)),
    ],
    "15-weat": [
        (  # cuts the longer of `x` and `y`
            "The four lists need not be equally long",
            lambda x, y, a, b: weat(x[: len(y)], y[: len(x)], a, b),
        ),
        (  # cuts the longer of `a` and `b`
            "The four lists need not be equally long",
            lambda x, y, a, b: weat(x, y, a[: len(b)], b[: len(a)]),
        ),
        # returns a negative result without its sign
        ("minus that of `y`", lambda *lists: abs(weat(*lists)), "without its signs"),
        # returns a list of one number; the next rounds the number
        ("Return a number", lambda *lists: [weat(*lists)]),
        ("Return a number", lambda *lists: round(float(weat(*lists)), 3)),
    ],
}
