"""Exercises of lesson 00: a first check, and similarity by hand."""

import numpy as np

from .framework import Case, Exercise, Mistake, normal


def _similarity(rng, n):
    vectors = normal(rng, n, 12).numpy()
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def _nearest(similarity, i):
    return max((j for j in range(len(similarity)) if j != i), key=lambda j: similarity[i][j])


def _nearest_cases(rng):
    """Tables whose best, second best and worst partners lie on both sides of i."""
    cases = []
    for size in (6, 8):
        table = _similarity(rng, size)
        for i in range(size):
            cases.append(Case("The nearest other sentence, whichever row is asked for", (table, i)))
    low = (_similarity(rng, 6) + 1) * 0.4 - 0.9  # between -0.9 and -0.1
    np.fill_diagonal(low, 1.0)
    twice = _similarity(rng, 5)[[0, 0, 1, 2, 3, 4]][:, [0, 0, 1, 2, 3, 4]]
    return [
        *cases,
        *(Case("It works where all similarities are negative", (low, i)) for i in range(6)),
        *(Case("A sentence that stands there twice is nearest to its copy", (twice, i)) for i in (0, 1)),
    ]


NEAREST = Exercise(
    id="00-nearest",
    title="The nearest sentence",
    arguments=("similarity", "i"),
    cases=_nearest_cases,
    reference=_nearest,
    minutes=5,
    difficulty=1,
    mistakes=(
        Mistake(
            "Your function finds sentence `i` itself. Each sentence is most similar to itself, so `i` must be left "
            "out.",
            lambda s, i: int(s[i].argmax()),
        ),
        Mistake(
            "You return the similarity. The position of the sentence is asked for.",
            lambda s, i: float(np.delete(s[i], i).max()),
        ),
        Mistake(
            "You return the similarity. The position of the sentence is asked for.",
            lambda s, i: float(np.sort(s[i])[-2]),
        ),
        Mistake(
            "You return the similarity of sentence `i` to itself. The position of the nearest *other* sentence is "
            "asked for.",
            lambda s, i: float(s[i].max()),
        ),
        Mistake(
            "You leave sentence `i` out, and then all positions behind it are one too small. Keep the original "
            "positions.",
            lambda s, i: int(np.delete(s[i], i).argmax()),
        ),
        Mistake(
            "You return the least similar sentence. The largest similarity is the nearest.",
            lambda s, i: int(s[i].argmin()),
        ),
        Mistake(
            "You search the whole table. Only row `i` holds the similarities of sentence `i`.",
            lambda s, i: int(s.argmax()),
        ),
        Mistake(
            "Where all others are negative, the 0 that you put in place of `i` still wins. Leave `i` out, or put "
            "minus infinity there.",
            lambda s, i: int(np.where(np.arange(len(s)) == i, 0, s[i]).argmax()),
        ),
        Mistake(
            "You take the second largest of the whole row. If a sentence stands there twice, the largest two are "
            "equal, and the one you take may be `i` itself. Leave `i` out first.",
            lambda s, i: int(np.argsort(s[i])[-2]),
        ),
        Mistake(
            "You leave out everything as similar as `i` to itself, so a copy of the sentence is left out too. Leave "
            "out the position `i`, not the value 1.",
            lambda s, i: int(np.where(s[i] > 0.999, -2, s[i]).argmax()),
        ),
        Mistake(
            "You return the second best of the other sentences. Is `i` left out twice?",
            lambda s, i: int(np.argsort(s[i])[-3]),
        ),
        Mistake("You return all positions in order. One position is asked for.", lambda s, i: np.argsort(-s[i])),
    ),
    hints=(
        "Row `similarity[i]` holds the similarities of sentence `i` to all sentences. At which position is it "
        "compared with itself?",
        "Go through all positions `j` except `i`, and keep the one with the largest `similarity[i, j]`.",
    ),
)


def _pairs(rng):
    def unit(n):
        vector = normal(rng, n).numpy()
        return vector / np.linalg.norm(vector)

    a, b, c = unit(7), unit(7), unit(384)
    return [
        Case("Two different vectors", (a, b)),
        Case("The order of the two does not matter", (b, a)),
        Case("A vector with itself gives 1", (c, c)),
        Case("Opposite vectors give −1", (c, -c)),
    ]


SIMILARITY = Exercise(
    id="00-similarity",
    title="Similarity by hand",
    arguments=("a", "b"),
    cases=_pairs,
    reference=lambda a, b: float(np.dot(a, b)),
    minutes=5,
    difficulty=1,
    mistakes=(
        Mistake("You multiply number by number but do not add up: the result is still a vector.", lambda a, b: a * b),
        Mistake("You take the mean of the products. Add them up instead.", lambda a, b: float((a * b).mean())),
        Mistake("You add the two vectors up. Multiply number by number first.", lambda a, b: float((a + b).sum())),
        Mistake(
            "You multiply the two sums. Multiply number by number first, then add up.",
            lambda a, b: float(a.sum() * b.sum()),
        ),
        Mistake(
            "This is the distance between the two vectors: 0 for equal ones. Similarity is the sum of the products.",
            lambda a, b: float(np.linalg.norm(a - b)),
        ),
        Mistake(
            "You multiply every number of `a` with every number of `b`. Only numbers at the same position belong "
            "together.",
            lambda a, b: np.outer(a, b),
        ),
        Mistake("You use `a` twice; `b` plays no part.", lambda a, b: float(np.dot(a, a))),
        Mistake(
            "Only the first product is in your result. Is `return` inside the loop?", lambda a, b: float(a[0] * b[0])
        ),
        Mistake(
            "Only the last product is in your result. Does the loop set the sum back to 0 each time?",
            lambda a, b: float(a[-1] * b[-1]),
        ),
        Mistake(
            "You drop the signs. Products may be negative, and they must count as such.",
            lambda a, b: float(np.abs(a * b).sum()),
        ),
    ),
    hints=(
        "`zip(a, b)` goes through both vectors at the same time.",
        "Build the products `x * y` and give them to `sum`.",
    ),
)

EXERCISES = (NEAREST, SIMILARITY)
