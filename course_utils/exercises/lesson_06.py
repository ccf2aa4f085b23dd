"""Exercises of lesson 06, similarity and projections."""

import math

import numpy as np
import torch

from ..pooling import normalise
from .framework import Case, Exercise, Mistake, normal


def _cosine_cases(rng):
    hidden = rng.randint(6, 9)
    a, b = normal(rng, hidden) + 0.5, normal(rng, hidden) + 0.5
    whole = torch.tensor([rng.choice([-1, 1]) * rng.randint(40, 120) for _ in range(hidden)])
    zero = torch.zeros(hidden)
    some = [rng.randint(1, 40) for _ in range(hidden - 1)]
    balanced = torch.tensor([*some, -sum(some)]).float()
    (first_a, first_b), third_b = (v.clone() for v in (a, b)), b.clone()
    first_a[0] = first_b[0] = third_b[2] = 0
    return [
        Case("Two vectors of one dtype", (a, b)),
        Case("The lengths of the vectors do not matter", (0.01 * a, 250 * b)),
        Case("Opposite directions give -1", (a, -3 * a)),
        Case("float32 and float64 together", (a, 0.7 * b.double())),
        Case("float64 and float32 together", (b.double(), a)),
        Case("Whole numbers and decimals together", (whole, a)),
        Case("Products of int8 numbers do not fit into int8", (whole.to(torch.int8), whole.flip(0).to(torch.int8))),
        Case("Very short vectors have a direction, too", (1e-17 * a, 1e-17 * b)),
        Case("A zero among other numbers makes no zero vector", (first_a, first_b)),
        Case("A zero among other numbers makes no zero vector", (a, third_b)),
        Case("Numbers that add up to 0 make no zero vector", (balanced, b)),
        Case("All numbers may be negative", (-a.abs() - 0.1, b.abs() + 0.1)),
        Case("Very long vectors: their squares do not fit into float32", (1e22 * a, 1e22 * b)),
        Case("A vector of zeros gives 0", (zero, b)),
        Case("A vector of zeros gives 0, in second place too", (a, zero)),
        Case("Two vectors of zeros give 0", (zero, zero.clone())),
    ]


def _cosine(a, b):
    a, b = a.double(), b.double()
    lengths = a.norm() * b.norm()
    return 0.0 if lengths == 0 else (a @ b / lengths).clamp(-1, 1).item()


def _wide(a, b):
    return a.double(), b.double()


def _number(value):
    return value.item() if hasattr(value, "item") else value


def _ratio(a, b, bottom, top=torch.dot, of_zero=None, wide=True):
    """top / bottom for the two vectors. If `of_zero` is given, it is returned when either vector is zero."""
    if of_zero is not None and not (a.any() and b.any()):
        return of_zero
    a, b = _wide(a, b) if wide else (a, b)
    return _number(top(a, b) / bottom(a, b))


def _lengths(a, b):
    return a.norm() * b.norm()


def _squares(a, b):
    return (a * a).sum().sqrt() * (b * b).sum().sqrt()


def _sums(a, b):
    return (a * b).sum()


def _cosine_of(convert, of_zero):
    """The correct formula applied after `convert`, which may lose information."""

    def imitate(a, b):
        if of_zero is not None and not (a.any() and b.any()):
            return of_zero
        a, b = convert(a, b)
        return _number(a @ b / (a.norm() * b.norm()))

    return imitate


MIXED = (
    "The two vectors have different dtypes, and torch does not multiply them. Bring both to one dtype first, for "
    "example with `a.double()` and `b.double()`."
)
INT8 = (
    "Your products are computed in int8, which ends at 127, so they run over without an error. Convert both vectors "
    "to float64 *before* you multiply."
)
ZERO = (
    "Nearly: a vector of zeros gives NaN, because 0 is divided by 0. Ask whether the product of the lengths is 0, "
    "and return 0.0 then."
)
IN_FLOAT32 = (
    "You compute in float32, and squares of very large numbers do not fit into it: the length becomes infinite. Use "
    "float64: `a.double()`."
)
OF_ONE = (
    "You bring both vectors to the dtype of one of them. Where that is a type of whole numbers, decimals are cut off "
    "or products run over. Bring both to float64."
)
EPSILON = (
    "Very short vectors get a cosine of 0, or nearly 0. Either your test takes them for zeros, or a small number "
    "that keeps the division from 0/0 (your own, or the `eps` of torch's `cosine_similarity`, 1e-8) is larger than "
    "their lengths. Compute by hand, and ask whether the product of the lengths *is* 0."
)
SIGNED = (
    "You divide by the largest number with its sign. Where all numbers are negative, that turns the vector round. "
    "Use the largest absolute value, or float64 and no scaling at all."
)
LIBRARY = (
    "A ready-made `cosine_similarity` fails for whole numbers, and for numbers whose squares do not fit into their "
    "dtype. Write the formula by hand, in float64."
)
NO_LENGTHS = "This is the dot product. Divide it by the product of the two lengths."
SQUARED = "You divide by the *squared* lengths. Take the root: `a.norm()` is the length."
ONE_LENGTH = "You divide by one of the lengths only. Divide by the product of both."
SUM_OF_LENGTHS = "You divide by the sum of the lengths. Divide by their product."

COSINE = Exercise(
    id="06-cosine",
    title="A cosine for everything",
    arguments=("a", "b"),
    cases=_cosine_cases,
    reference=_cosine,
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(ZERO, _cosine_of(_wide, None)),
        *(
            Mistake(MIXED, lambda a, b, top=top, bottom=bottom, zero=zero: _ratio(a, b, bottom, top, zero, wide=False))
            for top in (torch.dot, torch.matmul)
            for bottom in (_lengths, _squares)
            for zero in (None, 0.0)
        ),
        *(
            Mistake(INT8, lambda a, b, zero=zero: _ratio(a, b, _squares, _sums, zero, wide=False))
            for zero in (None, 0.0)
        ),
        *(Mistake(IN_FLOAT32, _cosine_of(lambda a, b: (a.float(), b.float()), zero)) for zero in (None, 0.0)),
        Mistake(
            IN_FLOAT32,
            lambda a, b: (lambda n: 0.0 if n == 0 else (a.float() @ b.float() / n).item())(
                a.float().norm() * b.float().norm()
            ),
        ),
        *(
            Mistake(OF_ONE, _cosine_of(convert, zero))
            for zero in (None, 0.0)
            for convert in (lambda a, b: (a, b.to(a.dtype)), lambda a, b: (a.to(b.dtype), b))
        ),
        Mistake(EPSILON, lambda a, b: torch.cosine_similarity(a.double(), b.double(), dim=0).item()),
        Mistake(LIBRARY, lambda a, b: torch.cosine_similarity(a.float(), b.float(), dim=0).item()),
        Mistake(LIBRARY, lambda a, b: torch.cosine_similarity(a, b, dim=0).item()),
        *(
            Mistake(NO_LENGTHS, lambda a, b, zero=zero: _ratio(a, b, lambda a, b: 1.0, of_zero=zero))
            for zero in (None, 0.0)
        ),
        *(
            Mistake(SQUARED, lambda a, b, zero=zero: _ratio(a, b, lambda a, b: _lengths(a, b) ** 2, of_zero=zero))
            for zero in (None, 0.0)
        ),
        *(
            Mistake(
                ONE_LENGTH, lambda a, b, zero=zero, one=one: _ratio(a, b, lambda a, b: (a, b)[one].norm(), of_zero=zero)
            )
            for zero in (None, 0.0)
            for one in (0, 1)
        ),
        *(
            Mistake(
                SUM_OF_LENGTHS, lambda a, b, zero=zero: _ratio(a, b, lambda a, b: a.norm() + b.norm(), of_zero=zero)
            )
            for zero in (None, 0.0)
        ),
        Mistake(
            "You return 1 minus the cosine, a distance. The cosine itself is asked for.", lambda a, b: 1 - _cosine(a, b)
        ),
        Mistake(
            "You return the Euclidean distance. The cosine is asked for.",
            lambda a, b: (a.double() - b.double()).norm().item(),
        ),
        Mistake("You lose the sign: opposite directions give −1.", lambda a, b: abs(_cosine(a, b))),
        Mistake("You cut off at 0: a cosine may be negative, down to −1.", lambda a, b: max(0.0, _cosine(a, b))),
        Mistake(
            "Two vectors of zeros give 1 in your function. They have no direction: the answer is 0.0.",
            lambda a, b: 1.0 if not (a.any() or b.any()) else _cosine(a, b),
        ),
        Mistake(
            "A vector of zeros gives 1 in your function. It has no direction: the answer is 0.0.",
            lambda a, b: _cosine(a, b) if a.any() and b.any() else 1.0,
        ),
        Mistake(
            "A vector of zeros gives NaN unless both are zeros. If *either* is zero, return 0.0.",
            lambda a, b: _cosine_of(_wide, None)(a, b) if a.any() or b.any() else 0.0,
        ),
        Mistake(
            "You return 0.0 as soon as *one* number is 0. Only a vector whose numbers are *all* 0 has no direction.",
            lambda a, b: 0.0 if (a == 0).any() or (b == 0).any() else _cosine(a, b),
        ),
        Mistake(
            "Your test for zeros looks at the first number only. All of them must be 0.",
            lambda a, b: 0.0 if a[0] == 0 or b[0] == 0 else _cosine(a, b),
        ),
        Mistake(
            "Your test for zeros adds the numbers up, but 3 and −3 give 0, too. Ask whether the product of the "
            "lengths is 0.",
            lambda a, b: 0.0 if a.double().sum() == 0 or b.double().sum() == 0 else _cosine(a, b),
        ),
        Mistake(SIGNED, lambda a, b: _cosine(a / a.max(), b / b.max()) if a.any() and b.any() else 0.0),
        Mistake(
            SIGNED,
            lambda a, b: (
                _cosine(a.double() / a.double().max(), b.double() / b.double().max()) if a.any() and b.any() else 0.0
            ),
        ),
        *(
            Mistake(
                "You return the angle. The cosine itself is asked for.",
                lambda a, b, unit=unit: math.acos(_cosine(a, b)) * unit,
            )
            for unit in (1, 180 / math.pi)
        ),
        *(
            Mistake("You round. Return the number as it is.", lambda a, b, digits=digits: round(_cosine(a, b), digits))
            for digits in (1, 2, 3, 4)
        ),
        Mistake(
            "You return the products number by number. Add them up: the dot product is one number.",
            lambda a, b: _wide(a, b)[0] * _wide(a, b)[1] / (a.double().norm() * b.double().norm()),
        ),
    ),
    hints=(
        "The formula of the lesson is right for most inputs. Which step comes before it, so that dtypes agree and "
        "nothing overflows?",
        "`a.double()` makes a float64 copy of any tensor. What is the product of the lengths when one vector is all "
        "zeros?",
        "Convert both, multiply the lengths, return 0.0 if that product is 0, else the dot product divided by it. "
        "`.item()` makes a plain number.",
    ),
)


def _batches(rng, counts, spread=1.0):
    """The means of batches of unit vectors that share a direction, and their counts."""
    hidden = rng.randint(5, 8)
    shared = normal(rng, 1, hidden)
    batches = [normalise(shared + spread * normal(rng, count, hidden)) for count in counts]
    return torch.stack([batch.mean(dim=0) for batch in batches]), list(counts)


def _mean_cosine_cases(rng):
    sizes = rng.sample(range(2, 40), 4)
    axes = torch.eye(4)
    n = rng.randint(3, 6)
    means, counts = _batches(rng, sizes[:2])
    return [
        Case("Batches of different sizes", _batches(rng, sizes)),
        Case("Two batches of the same texts", (means[[0, 1, 0]], [*counts, counts[0]])),
        Case("One large batch beside small ones", _batches(rng, [300, 2, 3], 2.0)),
        Case("One batch alone", _batches(rng, [rng.randint(4, 9)])),
        Case("Two batches of one sentence each", _batches(rng, [1, 1])),
        Case("A batch of one sentence among others", _batches(rng, [1, rng.randint(4, 9), rng.randint(10, 15)])),
        Case("Equal vectors everywhere: 1", (axes[:1].repeat(3, 1), [2, n, 1])),
        Case("Opposite directions", (torch.stack([axes[0], -axes[0]]), [n, n + 2])),
        Case("Right angles between all sentences: 0", (axes[: n - 1 if n < 6 else 4], [1] * (n - 1 if n < 6 else 4))),
    ]


def _total(means, counts):
    counts = torch.tensor(counts, dtype=torch.float64)
    return counts @ means.double(), counts


def _mean_cosine(means, counts):
    total, counts = _total(means, counts)
    n = counts.sum()
    return ((total @ total - n) / (n * (n - 1))).item()


def _each_mean_once(means, counts):
    """Of batches with equal means, only the first counts."""
    once = {tuple(mean): count for mean, count in zip(means.tolist()[::-1], counts[::-1])}
    return _mean_cosine(torch.tensor(list(once)), list(once.values()))


def _of_total(formula):
    """A wrong formula of the sum of all vectors (as its squared length) and their number."""

    def imitate(means, counts):
        total, counts = _total(means, counts)
        return formula((total @ total).item(), counts.sum().item())

    return imitate


def _within(weights):
    """The mean of the mean cosines within each batch; a batch of one sentence has none and counts 0."""

    def imitate(means, counts):
        found = [((n * n * (m @ m) - n) / (n * (n - 1))).item() if n > 1 else 0.0 for m, n in zip(means, counts)]
        return float(np.average(found, weights=weights(counts)))

    return imitate


def _within_larger(weight):
    """As `_within`, over the batches of at least two sentences."""

    def imitate(means, counts):
        larger = [(_mean_cosine(m[None], [n]), weight(n)) for m, n in zip(means, counts) if n > 1]
        return (
            sum(cosine * weighs for cosine, weighs in larger) / sum(weighs for _, weighs in larger) if larger else 0.0
        )

    return imitate


def _only(across, empty):
    """The mean cosine over pairs within a batch only, or across batches only; `empty` where there are none."""

    def imitate(means, counts):
        total, _ = _total(means, counts)
        inside = sum((n * n * (m.double() @ m.double())).item() for m, n in zip(means, counts))
        n, squares = sum(counts), sum(n * n for n in counts)
        cosines, pairs = ((total @ total).item() - inside, n * n - squares) if across else (inside - n, squares - n)
        return cosines / pairs if pairs else empty(means, counts)

    return imitate


def _less_squares(means, counts):
    """Takes the squared lengths of the means, each times its count, out of the sum."""
    total, counts = _total(means, counts)
    n = counts.sum()
    return ((total @ total - counts @ means.double().square().sum(dim=1)) / (n * (n - 1))).item()


def _unweighted(means, counts):
    n = sum(counts)
    middle = means.double().mean(dim=0)
    return ((n * middle @ middle - 1) / (n - 1)).item()


def _between_means(scaled):
    def imitate(means, counts):
        rows = normalise(means) if scaled else means
        if len(rows) == 1:
            return 1.0
        table = rows @ rows.T
        return ((table.sum() - table.trace()) / (len(rows) * (len(rows) - 1))).item()

    return imitate


BETWEEN = (
    "You compare the batches' mean vectors with each other. Pairs within a batch count too, and large batches hold "
    "more pairs than small ones: start from the sum of all vectors, which the means and counts give you."
)
INSIDE = (
    "You average over the batches what holds within each of them. Most pairs have their two sentences in different "
    "batches: start from the sum of all vectors, which the means and counts give you."
)
NO_PAIRS = (lambda m, c: math.nan, lambda m, c: 0.0, lambda m, c: 0.0 / 0, _mean_cosine)

MEAN_COSINE = Exercise(
    id="06-mean-cosine",
    title="The mean cosine, without the vectors",
    arguments=("means", "counts"),
    cases=_mean_cosine_cases,
    reference=_mean_cosine,
    alike=lambda one, other: not math.isfinite(one) and not math.isfinite(other),  # 0 / 0, or nearly 0 / 0
    minutes=12,
    difficulty=3,
    points=2,
    mistakes=(
        Mistake(
            "Your mean contains the cosine of each sentence with itself, which is 1. How many of these are there, and "
            "how many pairs are left without them?",
            _of_total(lambda square, n: square / n**2),
        ),
        Mistake(
            "You take the cosines of the sentences with themselves out of the sum, but still divide by all n² pairs. "
            "Without them, n(n − 1) are left.",
            _of_total(lambda square, n: (square - n) / n**2),
        ),
        Mistake(
            "You divide by n(n − 1), but the sum still contains the n cosines of the sentences with themselves.",
            _of_total(lambda square, n: square / (n * (n - 1))),
        ),
        Mistake(
            "Your sum holds every pair twice, (a, b) and (b, a), and you divide by the number of pairs counted once.",
            _of_total(lambda square, n: 2 * (square - n) / (n * (n - 1))),
        ),
        Mistake(
            "You take n away from the squared length of the *mean* vector. The n ones are in the sum of all cosines, "
            "which is n² times as large.",
            _of_total(lambda square, n: (square / n**2 - n) / (n * (n - 1))),
        ),
        Mistake(
            "You return the length of the mean vector. The mean cosine of all pairs is its *square*, still with each "
            "sentence's cosine with itself.",
            _of_total(lambda square, n: math.sqrt(square) / n),
        ),
        Mistake(
            "You take the plain mean of the batches' means. Batches have different sizes: weight each by its count.",
            _unweighted,
        ),
        Mistake(
            "You take the plain mean of the batches' means. Batches have different sizes: weight each by its count. "
            "The cosine of each sentence with itself is to be left out, too.",
            lambda means, counts: (lambda m: (m @ m).item())(means.double().mean(dim=0)),
        ),
        Mistake(
            "You count batches with equal means once. Two sentences with the same text are different sentences: each "
            "batch counts.",
            _each_mean_once,
        ),
        *(Mistake(BETWEEN, _between_means(scaled)) for scaled in (True, False)),
        Mistake(INSIDE, lambda means, counts: float(np.average((means * means).sum(dim=1), weights=counts))),
        *(Mistake(INSIDE, _within_larger(weights)) for weights in (lambda n: 1, lambda n: n)),
        *(Mistake(INSIDE, _within(weights)) for weights in (lambda counts: None, lambda counts: counts)),
        *(
            Mistake(
                "You count only the pairs within a batch. Pairs across batches count, too: start from the sum of all "
                "vectors, which the means and counts give you.",
                _only(across=False, empty=empty),
            )
            for empty in NO_PAIRS
        ),
        *(
            Mistake(
                "You count only the pairs across batches. Two different sentences of one batch are a pair, too.",
                _only(across=True, empty=empty),
            )
            for empty in NO_PAIRS
        ),
        Mistake(
            "You take the squared lengths of the means out of the sum, once for each sentence. The cosine of a "
            "sentence with itself is 1, so n is to be taken away.",
            _less_squares,
        ),
        Mistake(
            "You scale the mean vector to length 1, and its length is what the mean cosine depends on.",
            lambda means, counts: 1.0,
        ),
    ),
    hints=(
        "A mean times its count is a sum. What is the sum of *all* unit vectors, and what does its dot product with "
        "itself add up?",
        "The dot product of that sum with itself is the sum of n² cosines. n of them are those of a sentence with "
        "itself, and each is 1.",
        "With `total` the sum of count times mean, and `n` the sum of the counts: take n away from `total @ total`, "
        "and divide by the number of cosines that are left.",
    ),
)


def _centre_cases(rng):
    hidden = rng.randint(6, 9)
    shift = 2 * normal(rng, 1, hidden) + 1
    background = normal(rng, rng.randint(10, 14), hidden) + shift
    first = normal(rng, 4, hidden) + shift + 0.5
    second = first * 0.6 + 0.4 * shift + normal(rng, 4, hidden)
    lengths = torch.tensor([[0.3], [2.0], [9.0], [1.0]])
    far = 3 * normal(rng, 1, hidden)
    shortest = (torch.cat([first, second]) - background.mean(dim=0)).norm(dim=1).min()
    return [
        Case("Some pairs against a background in a cone", (first, second, background)),
        Case("All vectors moved by the same vector", (first + far, second + far, background + far)),
        Case("One pair", (first[:1], second[:1], background)),
        Case("Pairs and background of one length", (first, second, background[:4])),
        Case("Short vectors", tuple(1e-4 / shortest * rows for rows in (first, second, background))),
        Case(
            "As many pairs as dimensions",
            (normal(rng, hidden, hidden) + shift, normal(rng, hidden, hidden) + shift, background),
        ),
        Case("Vectors of very different lengths", (first * lengths, second * lengths.flip(0), background)),
        Case("Pairs in another order", (first[[2, 0, 3, 1]], second[[2, 0, 3, 1]], background)),
    ]


def _rows_cosine(one, other):
    return (one * other).sum(dim=1) / (one.norm(dim=1) * other.norm(dim=1))


def _minus(middle_1, middle_2=None):
    """The cosines after subtracting `middle_1(first, second, background)`, or `middle_2` from the second rows."""

    def imitate(f, s, b):
        return _rows_cosine(f - middle_1(f, s, b), s - (middle_2 or middle_1)(f, s, b))

    return imitate


def _mean(v):
    return v.mean(dim=0)


OWN_MEAN = (
    "You subtract each set's own mean, so the background is not used, and a pair alone becomes two vectors of zeros. "
    "Subtract the mean of `background` from both."
)
OWN_EPSILON = (
    "A small number that keeps your division from 0/0 is too large for vectors as short as 1e-4. None of them is zero: "
    "divide by the lengths alone."
)


def _with_epsilon(cosine):
    return lambda f, s, b: cosine(f - _mean(b), s - _mean(b))


CENTRE = Exercise(
    id="06-centre",
    title="Similarity after centring",
    arguments=("first", "second", "background"),
    cases=_centre_cases,
    reference=_minus(lambda f, s, b: _mean(b)),
    minutes=8,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "You do not subtract the mean: these are plain cosines, and `background` is not used.",
            lambda f, s, b: _rows_cosine(f, s),
        ),
        Mistake(
            "You subtract one number, the mean over everything. The mean vector has one number per dimension: "
            "`background.mean(dim=0)`.",
            _minus(lambda f, s, b: b.mean()),
        ),
        Mistake(
            "You average over the wrong dimension: `mean(dim=1)` gives one number per sentence. The mean *sentence* "
            "is `mean(dim=0)`.",
            _minus(lambda f, s, b: b.mean(dim=1)),
        ),
        Mistake(
            "You average over the wrong dimension: `mean(dim=1)` gives one number per sentence. The mean *sentence* "
            "is `mean(dim=0)`.",
            _minus(lambda f, s, b: b.mean(dim=1, keepdim=True)),
        ),
        Mistake(
            "You subtract from each vector the mean of its own numbers. Subtract the mean vector of the background.",
            _minus(lambda f, s, b: f.mean(dim=1, keepdim=True), lambda f, s, b: s.mean(dim=1, keepdim=True)),
        ),
        Mistake(OWN_MEAN, _minus(lambda f, s, b: _mean(f), lambda f, s, b: _mean(s))),
        Mistake(OWN_MEAN, lambda f, s, b: torch.cosine_similarity(f - _mean(f), s - _mean(s))),
        Mistake(
            "You subtract the mean of `first` and `second` together. `background` is not used; its mean is the one "
            "to subtract.",
            _minus(lambda f, s, b: _mean(torch.cat([f, s]))),
        ),
        *(
            Mistake(
                "You subtract the mean of one set of sentences from both. `background` is not used; its mean is the "
                "one to subtract.",
                lambda f, s, b, of=of, cosine=cosine: cosine(f - _mean((f, s)[of]), s - _mean((f, s)[of])),
            )
            for of in (0, 1)
            for cosine in (_rows_cosine, torch.cosine_similarity)
        ),
        Mistake(
            "You subtract the first vector of the background. Its mean vector is asked for: `background.mean(dim=0)`.",
            _minus(lambda f, s, b: b[0]),
        ),
        *(
            Mistake("You subtract the median of the background. Its mean is asked for.", _minus(middle))
            for middle in (lambda f, s, b: b.median(dim=0).values, lambda f, s, b: b.quantile(0.5, dim=0))
        ),
        *(
            Mistake(OWN_EPSILON, _with_epsilon(lambda x, y, eps=eps: torch.cosine_similarity(x, y, eps=eps)))
            for eps in (1e-3, 1e-2)
        ),
        *(
            Mistake(
                OWN_EPSILON, _with_epsilon(lambda x, y, eps=eps: (x * y).sum(1) / (x.norm(dim=1) * y.norm(dim=1) + eps))
            )
            for eps in (1e-8, 1e-6)
        ),
        Mistake(
            "You return 1 minus the cosine, a distance. The cosine itself is asked for.",
            lambda f, s, b: 1 - _rows_cosine(f - _mean(b), s - _mean(b)),
        ),
        Mistake(
            "You take the mean over the pairs and the background together. Only the background decides the mean.",
            _minus(lambda f, s, b: _mean(torch.cat([f, s, b]))),
        ),
        Mistake(
            "You subtract the mean from `first` only. Both vectors of a pair must be moved.",
            lambda f, s, b: _rows_cosine(f - _mean(b), s),
        ),
        Mistake(
            "You subtract the mean from `second` only. Both vectors of a pair must be moved.",
            lambda f, s, b: _rows_cosine(f, s - _mean(b)),
        ),
        Mistake("You add the mean. Subtract it.", _minus(lambda f, s, b: -_mean(b))),
        Mistake(
            "You divide by the lengths from *before* the subtraction. Subtract first, then take the lengths.",
            lambda f, s, b: ((f - _mean(b)) * (s - _mean(b))).sum(dim=1) / (f.norm(dim=1) * s.norm(dim=1)),
        ),
        Mistake(
            "You normalise first and subtract the mean afterwards. Subtract first: the vectors keep the lengths "
            "that they have.",
            lambda f, s, b: _rows_cosine(normalise(f) - _mean(b), normalise(s) - _mean(b)),
        ),
        Mistake(
            "You normalise everything before you subtract the mean. Here the vectors keep the lengths that they "
            "have: subtract first.",
            lambda f, s, b: _rows_cosine(normalise(f) - _mean(normalise(b)), normalise(s) - _mean(normalise(b))),
        ),
        Mistake(
            "You normalise the background before you take its mean. Here the vectors keep the lengths that they have.",
            _minus(lambda f, s, b: _mean(normalise(b))),
        ),
        Mistake(
            "You scale the mean to length 1 before you subtract it. Subtract it as it is.",
            _minus(lambda f, s, b: _mean(b) / _mean(b).norm()),
        ),
        *(
            Mistake(
                "After the subtraction the vectors do not have length 1 any more, and you multiply them as if they "
                "had. Subtract first, then divide by the lengths.",
                lambda f, s, b, of=of: ((normalise(f) - of(b)) * (normalise(s) - of(b))).sum(dim=1),
            )
            for of in (_mean, lambda b: _mean(normalise(b)))
        ),
        Mistake(
            "You divide by one length for the whole table: `norm()` without `dim` runs over all numbers. Each row "
            "has a length of its own: `norm(dim=1)`.",
            lambda f, s, b: (
                ((f - _mean(b)) * (s - _mean(b))).sum(dim=1) / ((f - _mean(b)).norm() * (s - _mean(b)).norm())
            ),
        ),
        Mistake(
            "You also divide by the standard deviation of each dimension. Subtract the mean, and nothing else.",
            lambda f, s, b: _rows_cosine((f - _mean(b)) / b.std(dim=0), (s - _mean(b)) / b.std(dim=0)),
        ),
        Mistake(
            "These are dot products. Divide each by the lengths of its two vectors, after the subtraction.",
            lambda f, s, b: ((f - _mean(b)) * (s - _mean(b))).sum(dim=1),
        ),
        Mistake(
            "You return a table of all cosines. Only row i of `first` with row i of `second` is asked for: (n,).",
            lambda f, s, b: normalise(f - _mean(b)) @ normalise(s - _mean(b)).T,
        ),
        Mistake(
            "You return the mean over the pairs. One cosine per pair is asked for: (n,).",
            lambda f, s, b: _rows_cosine(f - _mean(b), s - _mean(b)).mean().item(),
        ),
        Mistake(
            "You work along the columns. Each row is a vector: take sums and lengths along `dim=1`.",
            lambda f, s, b: torch.cosine_similarity(f - _mean(b), s - _mean(b), dim=0),
        ),
    ),
    hints=(
        "The mean vector of the background has the shape (hidden,). From which vectors is it subtracted?",
        "`middle = background.mean(dim=0)`, then both `first - middle` and `second - middle`. Only now come "
        "products and lengths.",
        "Row by row: `(one * other).sum(dim=1)` are the dot products, `one.norm(dim=1)` the lengths.",
    ),
)


def _project_cases(rng):
    hidden = rng.randint(6, 9)
    turn = torch.linalg.qr(normal(rng, hidden, hidden)).Q.double().numpy()

    def placed(rows, offset=(0.0, 0.0, 0.0)):
        """Rows given on three axes, with a little noise added, rotated at random into the full space."""
        wide = np.array([[rng.uniform(-0.2, 0.2) for _ in range(hidden)] for _ in rows])
        wide[:, :3] += np.array(rows) + np.array(offset)
        return wide @ turn

    # Together they vary most along axes 1 and 2; each set alone has a different plane.
    first = placed([(-5, 0.2, 1.2), (-2.5, -0.4, -1.2), (0, 0.3, 1.5), (2.5, 0, -1.4), (5, -0.2, 1)])
    second = placed([(0.3, -2, 1.3), (-0.2, 0, -1.4), (0, 2.5, 1.2), (0.4, 5, -1.3)], (1.0, 4.0, 0.5))
    far = np.zeros(hidden)
    far[0] = 40.0
    return [
        Case("Two sets, one plane for both", (first, second)),
        Case("The other way round, the table is turned", (second, first)),
        Case("A set against itself", (first, first.copy())),
        Case("The second set is part of the first", (first, first[:3])),
        Case("A set that was moved away stays away", (first, first + 9 * turn[1])),
        Case("Moving both sets together changes nothing", (first + far, second + far)),
        Case("A single row as the second set", (first, second[3:])),
        Case("A single row as the first set", (second[:1], first)),
    ]


def _pca():
    from sklearn.decomposition import PCA  # slow to import, and only this exercise needs it

    return PCA(n_components=2)


def _plane(rows, axes=2, centred=True):
    """A function that projects rows into the plane of these rows. As scikit-learn's PCA, and faster."""
    if len(rows) < axes:
        _pca().fit(rows)  # raises as an answer's PCA does
    middle = rows.mean(axis=0) if centred else 0 * rows[0]
    directions = np.linalg.svd(rows - middle, full_matrices=False)[2][:axes]
    return lambda other: (other - middle) @ directions.T


def _table(one, other):
    return np.linalg.norm(one[:, None] - other[None], axis=-1)


def _projected(f, s, rows, **options):
    """The distances of both sets in the plane of these rows."""
    to_plane = _plane(rows, **options)
    return _table(to_plane(f), to_plane(s))


def _stacked(f, s):
    return np.concatenate([f, s])


def _distances(f, s):
    return _projected(f, s, _stacked(f, s))


def _centred(rows):
    return rows - rows.mean(axis=0)


def _whitened(f, s):
    both = _stacked(f, s)
    to_plane = _plane(both)
    spread = to_plane(both).std(axis=0, ddof=1)
    return _table(to_plane(f) / spread, to_plane(s) / spread)


def _standardised(f, s):
    spread = _stacked(f, s).std(axis=0)
    return _distances(f / spread, s / spread)


def _side_by_side(f, s):
    plane = _pca().fit(np.concatenate([f, s], axis=1))
    return _table(plane.transform(f), plane.transform(s))


TWO_PLANES = (
    "Each set still gets a plane of its own: `fit_transform` fits a new one each time. Fit once, on both sets stacked, "
    "and then only `transform` each set."
)

PROJECT = Exercise(
    id="06-project",
    title="Two sets in one plane",
    arguments=("first", "second"),
    cases=_project_cases,
    reference=_distances,
    minutes=12,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(TWO_PLANES, lambda f, s: _table(_pca().fit_transform(f), _pca().fit_transform(s))),
        Mistake(
            "You fit the plane on `first` only. It is the best plane for that set, and what distinguishes the other "
            "one may be lost. Fit on both, stacked.",
            lambda f, s: _projected(f, s, f),
        ),
        Mistake(
            "You fit the plane on `second` only. It is the best plane for that set, and what distinguishes the "
            "other one may be lost. Fit on both, stacked.",
            lambda f, s: _projected(f, s, s),
        ),
        Mistake(
            "You fit on `first` and then on `second`: the second `fit` forgets the first. Stack the sets and fit once.",
            lambda f, s: (_plane(f), _projected(f, s, s))[1],
        ),
        Mistake("You measure with all dimensions. Project both sets into the plane first.", _table),
        Mistake(
            "You take the first two dimensions of the vectors. The plane of the largest variance is asked for: "
            "`PCA(n_components=2)`.",
            lambda f, s: _table(f[:, :2], s[:, :2]),
        ),
        Mistake(
            "You use one axis. A plane has two: `n_components=2`.",
            lambda f, s: _projected(f, s, _stacked(f, s), axes=1),
        ),
        Mistake(
            "You use three axes. A plane has two: `n_components=2`.",
            lambda f, s: _projected(f, s, _stacked(f, s), axes=3),
        ),
        Mistake(
            "Your axes are not those of a PCA: PCA subtracts the mean of all rows first.",
            lambda f, s: _projected(f, s, _stacked(f, s), centred=False),
        ),
        Mistake(
            "You give both axes the same variance (`whiten=True`). Distances change by that; leave it out.", _whitened
        ),
        Mistake(
            "You divide each dimension by its standard deviation first. Distances change by that; leave it out.",
            _standardised,
        ),
        Mistake(
            "You centre each set on its own mean, so both come to lie on one another. Stack the sets as they are.",
            lambda f, s: _distances(_centred(f), _centred(s)),
        ),
        Mistake(
            "You fit the plane after each set was centred on its own mean. Stack the sets as they are: the way from "
            "one set to the other counts.",
            lambda f, s: _projected(f, s, _stacked(_centred(f), _centred(s))),
        ),
        Mistake(
            "You fit one plane, but also centre each set on its own mean, so both come to lie on one another. Project "
            "the sets as they are.",
            lambda f, s: _projected(_centred(f), _centred(s), _stacked(f, s)),
        ),
        Mistake("You return squared distances. Take the root.", lambda f, s: _distances(f, s) ** 2),
        Mistake(
            "You add absolute differences. The distance is the root of the sum of squares.",
            lambda f, s: (lambda to: np.abs(to(f)[:, None] - to(s)[None]).sum(axis=-1))(_plane(_stacked(f, s))),
        ),
        Mistake("Your table is turned: rows belong to `first`, columns to `second`.", lambda f, s: _distances(f, s).T),
        Mistake(
            "You return the distances within both sets stacked. Rows belong to `first`, columns to `second`: (n, m).",
            lambda f, s: (lambda both: _distances(both, both))(_stacked(f, s)),
        ),
        Mistake(
            "You return the points. Return the table of their distances, (n, m).",
            lambda f, s: tuple(_plane(_stacked(f, s))(rows) for rows in (f, s)),
        ),
        Mistake(
            "You stack the sets side by side (`axis=1`). Stack them as rows: `np.concatenate([first, second])`.",
            _side_by_side,
        ),
    ),
    hints=(
        "How many planes does the function with the bug compute? Where does the middle of each set come to lie?",
        "A `PCA` is fitted once, on all rows: `np.concatenate([first, second])` stacks two tables.",
        "`plane = PCA(n_components=2).fit(stacked)`; then `plane.transform(first)` and `plane.transform(second)`. "
        "The line with the distances was right.",
    ),
)

EXERCISES = (COSINE, MEAN_COSINE, CENTRE, PROJECT)
