"""Answers to lesson 09 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import itertools
import math

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


def skip_in_numpy(query_pivot, corpus_pivot, best):
    x = np.arccos(np.clip(query_pivot, -1, 1))
    y = np.arccos(np.clip(corpus_pivot, -1, 1))
    return np.cos(np.abs(x - y)) <= best


def skip_by_loop(query_pivot, corpus_pivot, best):
    def angle(cosine):
        return math.acos(max(-1.0, min(1.0, float(cosine))))

    return [math.cos(angle(query_pivot) - angle(cosine)) <= best for cosine in corpus_pivot]


def skip_in_torch(query_pivot, corpus_pivot, best):
    x = torch.tensor(float(query_pivot)).clamp(-1, 1).arccos()
    y = torch.from_numpy(corpus_pivot).float().clamp(-1, 1).arccos()
    return (x - y).cos() <= best


def skip_by_the_addition_theorem(query_pivot, corpus_pivot, best):
    a, c = np.clip(query_pivot, -1, 1), np.clip(corpus_pivot, -1, 1)
    return a * c + np.sqrt((1 - a * a) * (1 - c * c)) <= best


def skip_by_angles(query_pivot, corpus_pivot, best):
    x, y, needed = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot, best))
    return abs(x - y) >= needed


def skip_in_zeros_and_ones(query_pivot, corpus_pivot, best):
    return skip_in_numpy(query_pivot, corpus_pivot, best).astype(int)


def skip_without_clipping(query_pivot, corpus_pivot, best):
    with np.errstate(invalid="ignore"):
        return np.cos(np.arccos(query_pivot) - np.arccos(corpus_pivot)) <= best


def skip_without_clipping_the_best(query_pivot, corpus_pivot, best):
    with np.errstate(invalid="ignore"):
        x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
        return abs(x - y) >= np.arccos(best)


def skip_that_raises(query_pivot, corpus_pivot, best):
    return [math.cos(math.acos(query_pivot) - math.acos(cosine)) <= best for cosine in corpus_pivot]


def skip_without_ties(query_pivot, corpus_pivot, best):
    return skip_by_loop(query_pivot, corpus_pivot, best - 1e-6)


def skip_by_the_sum(query_pivot, corpus_pivot, best):
    x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return np.cos(x + y) <= best


def skip_by_distances(query_pivot, corpus_pivot, best):
    a, c = (np.sqrt(2 - 2 * np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return (a - c) ** 2 >= 2 - 2 * best


def skip_a_little_more(query_pivot, corpus_pivot, best):
    x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return np.cos(1.12 * (x - y)) <= best


def skip_a_little_less(query_pivot, corpus_pivot, best):
    x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return np.cos(0.86 * (x - y)) <= best


def skip_farther_only(query_pivot, corpus_pivot, best):
    return skip_in_numpy(query_pivot, corpus_pivot, best) & (corpus_pivot <= query_pivot)


def skip_with_positive_best(query_pivot, corpus_pivot, best):
    return skip_in_numpy(query_pivot, corpus_pivot, max(0.0, best))


def skip_with_positive_question(query_pivot, corpus_pivot, best):
    return skip_in_numpy(abs(query_pivot), corpus_pivot, best)


def skip_squeezed(query_pivot, corpus_pivot, best):
    return skip_in_numpy(query_pivot, corpus_pivot, best).squeeze()


def skip_one_for_all(query_pivot, corpus_pivot, best):
    return bool(skip_in_numpy(query_pivot, corpus_pivot, best).all())


def skip_sorted(query_pivot, corpus_pivot, best):
    return skip_in_numpy(query_pivot, np.sort(corpus_pivot), best)


def skip_places(query_pivot, corpus_pivot, best):
    return np.flatnonzero(skip_in_numpy(query_pivot, corpus_pivot, best))


def skip_turned(query_pivot, corpus_pivot, best):
    return ~skip_in_numpy(query_pivot, corpus_pivot, best)


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
    "09-can-skip": [
        skip_in_numpy,
        skip_by_loop,
        skip_in_torch,
        skip_by_the_addition_theorem,
        skip_by_angles,
        skip_in_zeros_and_ones,
    ],
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
    "09-can-skip": [
        (skip_by_the_sum, "the *lowest* cosine"),
        (skip_without_clipping, "has no arccos"),
        (skip_that_raises, "math domain error"),
        (skip_by_distances, "Use the angles"),
        (skip_farther_only, "much nearer to the pivot"),
        (skip_turned, "exchanged"),
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
    "09-can-skip": [
        ("certainly not above `best`", skip_by_the_sum),
        ("certainly not above `best`", skip_a_little_more),
        ("certainly not above `best`", skip_turned),
        ("skip every such sentence", skip_by_distances),
        ("skip every such sentence", skip_a_little_less),
        ("skip every such sentence", skip_farther_only),
        ("one that can only equal `best` too", skip_without_ties),
        ("numbers from −1 to 1", skip_with_positive_question),
        ("numbers from −1 to 1", skip_with_positive_best),
        ("with n at least 1", skip_squeezed),
        ("a truth value for each sentence", skip_one_for_all),
        ("a truth value for each sentence", skip_places),
        ("in their order", skip_sorted),
        ("Rounding can put any of these cosines a millionth outside", skip_without_clipping),
        ("Rounding can put any of these cosines a millionth outside", skip_without_clipping_the_best),
        ("count it as 1 or −1", skip_that_raises),
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
