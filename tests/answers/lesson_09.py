"""Answers to lesson 09 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import itertools

import numpy as np
import torch
import torch.nn.functional as F


def tokens_by_loops(lengths):
    pairs = 0
    for i in range(len(lengths)):
        for j in range(i):
            pairs += lengths[i] - 2 + lengths[j] - 2 + 3
    return sum(lengths), pairs


def tokens_by_combinations(lengths):
    return [sum(lengths), sum(a + b - 1 for a, b in itertools.combinations(lengths, 2))]


def tokens_in_numpy(lengths):
    x, n = np.array(lengths), len(lengths)
    return x.sum(), (n - 1) * x.sum() - n * (n - 1) // 2


def tokens_four_specials(lengths):
    return sum(lengths), sum(a + b for a, b in itertools.combinations(lengths, 2))


def tokens_as_an_array(lengths):
    a = np.asarray(lengths, dtype=np.int64)
    pairs = (a[:, None] + a[None, :] - 1)[np.triu_indices(len(a), k=1)]
    return np.array([a.sum(), pairs.sum()])


def tokens_as_tensors(lengths):
    t = torch.tensor(lengths)
    n = len(t)
    return t.sum(), t.sum() * (n - 1) - n * (n - 1) // 2


def tokens_in_float32(lengths):
    each, pairs = tokens_by_combinations(lengths)
    return each, int(torch.tensor(pairs, dtype=torch.float32))


def tokens_per_pass(lengths):
    each, pairs = tokens_by_combinations(lengths)
    n = len(lengths)
    return each, pairs / max(1, n * (n - 1) // 2)


def tokens_fails_on_one(lengths):
    pairs = [a + b - 1 for a, b in itertools.combinations(lengths, 2)]
    return sum(lengths), sum(pairs) if min(pairs) > 0 else 0


def tokens_padded(lengths):
    n, longest = len(lengths), max(lengths)
    return n * longest, n * (n - 1) // 2 * (2 * longest - 1)


def tokens_padded_pairs(lengths):
    return sum(lengths), sum(2 * max(a, b) - 1 for a, b in itertools.combinations(lengths, 2))


def tokens_added_specials(lengths):
    inside = [n + 2 for n in lengths]
    return sum(inside), sum(a + b - 1 for a, b in itertools.combinations(inside, 2))


def tokens_both_orders(lengths):
    return sum(lengths), sum(a + b - 1 for a, b in itertools.permutations(lengths, 2))


def mean_cosine_in_numpy(total, n):
    t = total.numpy()
    return (np.dot(t, t) - n) / (n**2 - n)


def mean_cosine_by_loop(total, n):
    squared = 0.0
    for number in total.tolist():
        squared += number * number
    pairs = n * (n - 1) / 2
    return (squared - n) / 2 / pairs


def mean_cosine_in_float64(total, n):
    return (total.double().norm().square() - n) / n / (n - 1)


def mean_cosine_through_the_mean(total, n):
    middle = total / n
    return (n * (middle**2).sum() - 1) / (n - 1)


def mean_cosine_never_negative(total, n):
    return max(0.0, mean_cosine_by_loop(total, n))


def mean_cosine_of_three_or_more(total, n):
    return mean_cosine_by_loop(total, n) if n > 2 else 0.0


def mean_cosine_of_itself_too(total, n):
    return (mean_cosine_by_loop(total, n) * (n - 1) + 1) / n


def mean_cosine_sum(total, n):
    return mean_cosine_by_loop(total, n) * n * (n - 1) / 2


def mean_cosine_in_a_list(total, n):
    return [mean_cosine_by_loop(total, n)]


def mean_cosine_rounded(total, n):
    return round(mean_cosine_by_loop(total, n), 2) + 0.001


def mean_cosine_normalised(total, n):
    return mean_cosine_by_loop(total / total.norm().clamp(min=1e-9), n)


def closest_unsorted(vectors):
    table = vectors @ vectors.T
    table.fill_diagonal_(-2)
    return divmod(int(table.argmax()), len(vectors))


def closest_filled(vectors):
    table = vectors @ vectors.T
    table.fill_diagonal_(-2)
    place = int(table.argmax())
    return sorted([place // len(vectors), place % len(vectors)])


def closest_by_loop(vectors):
    best, pair = -9, None
    for i, j in itertools.combinations(range(len(vectors)), 2):
        if float(vectors[i] @ vectors[j]) > best + 1e-6:
            best, pair = float(vectors[i] @ vectors[j]), (i, j)
    return pair


def closest_with_itself(vectors):
    place = int((vectors @ vectors.T).argmax())
    return place // len(vectors), place % len(vectors)


def closest_turned(vectors):
    return closest_filled(vectors)[::-1]


def closest_as_an_array(vectors):
    table = (vectors @ vectors.T).numpy()
    np.fill_diagonal(table, -np.inf)
    return np.array(np.unravel_index(table.argmax(), table.shape))


def closest_as_a_tensor(vectors):
    i, j = torch.triu_indices(len(vectors), len(vectors), offset=1)
    best = (vectors[i] * vectors[j]).sum(dim=1).argmax()
    return torch.stack([i[best], j[best]])


def closest_as_numpy_numbers(vectors):
    table = vectors.numpy() @ vectors.numpy().T - 3 * np.eye(len(vectors))
    return np.unravel_index(np.argmax(table), table.shape)


def closest_by_distance(vectors):
    apart = torch.cdist(vectors.double(), vectors.double()).fill_diagonal_(9)
    return divmod(apart.argmin().item(), len(vectors))


def closest_cosine(vectors):
    i, j = closest_filled(vectors)
    return float(vectors[i] @ vectors[j])


def closest_upper_with_zeros(vectors):
    table = (vectors @ vectors.T).triu(diagonal=1)
    return divmod(int(table.argmax()), len(vectors))


def closest_different_values(vectors):
    table = vectors @ vectors.T
    table[table > 0.99999] = -2
    return divmod(int(table.argmax()), len(vectors))


def closest_of_three_or_more(vectors):
    return closest_filled(vectors) if len(vectors) > 2 else [0, 0]


def closest_minus_one(vectors):
    table = (vectors @ vectors.T).fill_diagonal_(-1)
    return divmod(int(table.argmax()), len(vectors))


def closest_absolute(vectors):
    table = (vectors @ vectors.T).abs().fill_diagonal_(-2)
    return divmod(int(table.argmax()), len(vectors))


RIGHT = {
    "09-tokens": [tokens_by_loops, tokens_by_combinations, tokens_in_numpy, tokens_as_an_array, tokens_as_tensors],
    "09-mean-cosine": [mean_cosine_in_numpy, mean_cosine_by_loop, mean_cosine_in_float64, mean_cosine_through_the_mean],
    "09-find-the-bug": [
        closest_filled,
        closest_by_loop,
        closest_unsorted,
        closest_turned,
        closest_as_an_array,
        closest_as_a_tensor,
        closest_as_numpy_numbers,
        closest_by_distance,
    ],
}
WRONG = {
    "09-tokens": [
        (tokens_four_specials, "Two sentences alone have four"),
        (tokens_in_float32, "to the last token"),
        (tokens_fails_on_one, "One sentence makes no pair"),
        (tokens_padded_pairs, "No padding"),
    ],
    "09-mean-cosine": [
        (mean_cosine_of_itself_too, "with itself"),
        (mean_cosine_sum, "This is the sum over all pairs"),
        (mean_cosine_never_negative, "never negative"),
    ],
    "09-find-the-bug": [
        (closest_with_itself, "a vector and itself"),
        (closest_upper_with_zeros, "0 is the highest"),
        (closest_minus_one, "Opposite vectors have this cosine"),
        (closest_absolute, "absolute value"),
    ],
}
PROMISES = {
    "09-tokens": [
        ("right to the last token", tokens_in_float32),
        ("it has at least one", tokens_fails_on_one),
        ("as the tokenizer gives it*, with `[CLS]` and `[SEP]`", tokens_added_specials),
        ("`[CLS] one [SEP] other [SEP]`", tokens_four_specials),
        ("the tokens that are read in one pass for each sentence", tokens_per_pass),
        ("in one order only", tokens_both_orders),
        ("No padding is counted", tokens_padded),
        ("No padding is counted", tokens_padded_pairs),
    ],
    "09-mean-cosine": [
        ("n is at least 2", mean_cosine_of_three_or_more),
        ("Return one number", mean_cosine_in_a_list),
        ("the average cosine", mean_cosine_sum),
        ("the average cosine", mean_cosine_never_negative),
        ("the average cosine", mean_cosine_rounded),
        ("No vector is paired with itself", mean_cosine_of_itself_too),
        ("the sum of n unit vectors", mean_cosine_normalised),
    ],
    "09-find-the-bug": [
        ("with n at least 2", closest_of_three_or_more),
        ("Return the places", closest_cosine),
        ("the two different rows", closest_with_itself),
        ("with the highest cosine", closest_absolute),
        ("with the highest cosine", closest_upper_with_zeros),
        ("with the highest cosine", closest_minus_one),
        ("they are a pair like any other", closest_different_values),
    ],
}
