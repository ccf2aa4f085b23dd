"""Answers to lesson 13; `__init__.py` says what the tables are."""

import numpy as np
import torch
from scipy.spatial.distance import cdist


# A right answer. `steps` changes how many there are, `most` the number of the highest one.
def int8(vectors, low, high, steps=255, most=255):
    step = np.where(high == low, 1, (high - low) / steps)
    return (np.clip(np.floor((vectors - low) / step), 0, most) - 128).astype(np.int8)


def int8_in_torch(vectors, low, high):
    numbers, lowest, highest = (torch.from_numpy(array) for array in (vectors, low, high))
    step = (highest - lowest) / 255
    step[step == 0] = 1
    return (((numbers - lowest) / step).floor().clamp(0, 255) - 128).to(torch.int8)


def hamming_counted(query, corpus):
    return np.bitwise_count(query ^ corpus).sum(axis=1)


def rescore_sorted(query, corpus, candidates, k):
    return sorted(candidates.tolist(), key=lambda place: -float(corpus[place] @ query))[:k]


RIGHT = {
    "13-int8": [int8, int8_in_torch, lambda *args: torch.tensor(int8(*args))],
    "13-hamming": [
        hamming_counted,
        lambda *args: hamming_counted(*args).tolist(),
        lambda *args: tuple(hamming_counted(*args)),
    ],
    "13-rescore": [
        rescore_sorted,
        lambda *args: torch.tensor(rescore_sorted(*args)),
        lambda *args: np.array(rescore_sorted(*args)),
    ],
}

COMPLETED = {
    # the middle of each code's step: code + 128 steps above `low`, and half a step
    "13-decode": [
        lambda codes, low, high: low + (codes.astype(np.int16) + 128 + 0.5) * (high - low) / 255,
        # in the byte of an int8, turning the highest bit adds 128
        lambda codes, low, high: low + ((codes.view(np.uint8) ^ 128) + 0.5) * ((high - low) / 255),
        # weights of `high` and `low`: 126.5 is 255 - 128.5
        lambda codes, low, high: (high * (codes + 128.5) + low * (126.5 - codes)) / 255,
        lambda codes, low, high: [
            [
                lowest + (code + 128.5) * (highest - lowest) / 255
                for code, lowest, highest in zip(row, low.tolist(), high.tolist())
            ]
            for row in codes.tolist()
        ],
        lambda codes, low, high: torch.lerp(
            torch.from_numpy(low),
            torch.from_numpy(high),
            (torch.from_numpy(codes).float() + 128.5) / 255,
        ),
        lambda codes, low, high: np.float32(
            low + (codes.astype(np.float16) + np.float16(128.5)) * np.float64(high - low) / 255
        ),
        # a table of all 255 middles
        lambda codes, low, high: np.take_along_axis(
            (np.linspace(low, high, 256)[1:] + np.linspace(low, high, 256)[:-1]) / 2,
            codes.astype(int) + 128,
            axis=0,
        ),
    ],
    # in how many places a row and the query differ in whether the number is above 0
    "13-signs": [
        lambda query, corpus: np.count_nonzero((corpus > 0) ^ (query > 0), axis=1),
        lambda query, corpus: [
            sum((number > 0) != (other > 0) for number, other in zip(query, row)) for row in corpus
        ],
        lambda query, corpus: hamming_counted(
            np.packbits(query > 0), np.packbits(corpus > 0, axis=1)
        ),
        lambda query, corpus: np.abs((corpus > 0).astype(int) - (query > 0)).sum(axis=1),
        # the dot product of signs -1 and 1: the places that agree, minus those that differ
        lambda query, corpus: (len(query) - (2.0 * (corpus > 0) - 1) @ (2.0 * (query > 0) - 1)) / 2,
        lambda query, corpus: np.where(query > 0, corpus <= 0, corpus > 0).sum(axis=1).tolist(),
        lambda query, corpus: (
            torch.from_numpy(corpus).gt(0).logical_xor(torch.from_numpy(query).gt(0)).sum(dim=1)
        ),
        lambda query, corpus: (
            np.linalg.norm(np.subtract(corpus > 0, query > 0, dtype=float), axis=1) ** 2
        ),
        lambda query, corpus: len(query) * cdist([query > 0], corpus > 0, "hamming")[0],
    ],
}

WRONG = {}

# words of the exercise's text, an answer that breaks them, and sometimes words of its message
PROMISES = {
    "13-int8": [
        (  # makes 254 steps
            "is divided into 255 steps of equal length",
            lambda *args: int8(*args, most=254, steps=254),
        ),
        # returns a list of lists
        ("dtype int8", lambda *args: int8(*args).tolist(), "one byte each is the point"),
        # returns an array (d,) for a single vector
        ("(n, d), with n at least 1", lambda *args: int8(*args).squeeze()),
    ],
    "13-hamming": [
        # returns them in ascending order
        ("one number for each row, in their order", lambda *args: np.sort(hamming_counted(*args)))
    ],
    "13-rescore": [
        (  # drops candidates whose dot product is 0 or less
            "of the k candidates with the highest dot product",
            lambda query, corpus, candidates, k: [
                place
                for place in rescore_sorted(query, corpus, candidates, k)
                if corpus[place] @ query > 0
            ],
        ),
        (  # never returns all candidates, which are `args[2]`
            "k is from 1 to the number of candidates",
            lambda *args: rescore_sorted(*args)[: len(args[2]) - 1],
        ),
    ],
}
