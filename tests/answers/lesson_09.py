"""Answers to lesson 09 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import itertools
import math

import numpy as np
import torch


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


def tokens_as_floats(lengths):
    n = len(lengths)
    return [sum(lengths), (n - 1) * sum(lengths) - n * (n - 1) / 2]


def tokens_by_the_cut_mean(lengths):
    n, mean = len(lengths), np.mean(lengths)
    return sum(lengths), int((2 * mean - 1) * (n * (n - 1) // 2))


def tokens_by_the_rounded_mean(lengths):
    n, mean = len(lengths), round(sum(lengths) / len(lengths), 2)
    return round(mean * n), round((2 * mean - 1) * n * (n - 1) / 2)


def tokens_per_pass(lengths):
    each, pairs = tokens_by_combinations(lengths)
    n = len(lengths)
    return each, pairs / max(1, n * (n - 1) // 2)


def tokens_fails_on_one(lengths):
    pairs = [a + b - 1 for a, b in itertools.combinations(lengths, 2)]
    return sum(lengths), sum(pairs) if min(pairs) > 0 else 0


def skip_on_paper(query_pivot, corpus_pivot, best):
    q, limit = np.degrees(np.arccos([min(1, max(-1, query_pivot)), best]))
    angles = np.degrees(np.arccos(corpus_pivot.clip(-1, 1)))
    return [not q - limit < angle < q + limit for angle in angles]


def skip_by_the_range(query_pivot, corpus_pivot, best):
    low, high = np.arccos(np.clip(query_pivot, -1, 1)) + np.arccos(best) * np.array([-1, 1])
    y = np.arccos(np.minimum(np.maximum(corpus_pivot, -1), 1))
    return np.logical_or(y <= low, y >= high)


def skip_by_vectors(query_pivot, corpus_pivot, best):
    def in_the_plane(cosine):
        cosine = torch.as_tensor(cosine, dtype=torch.float64).clamp(-1, 1)
        return torch.stack([cosine, (1 - cosine**2).sqrt()])

    return (in_the_plane(query_pivot) @ in_the_plane(corpus_pivot) <= best).tolist()


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


def skip_by_the_sum(query_pivot, corpus_pivot, best):
    x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return np.cos(x + y) <= best


def skip_a_little_more(query_pivot, corpus_pivot, best):
    x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return np.cos(1.12 * (x - y)) <= best


def skip_a_little_less(query_pivot, corpus_pivot, best):
    x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return np.cos(0.86 * (x - y)) <= best


def skip_with_positive_best(query_pivot, corpus_pivot, best):
    return skip_in_numpy(query_pivot, corpus_pivot, max(0.0, best))


def skip_with_positive_question(query_pivot, corpus_pivot, best):
    return skip_in_numpy(abs(query_pivot), corpus_pivot, best)


def skip_squeezed(query_pivot, corpus_pivot, best):
    return skip_in_numpy(query_pivot, corpus_pivot, best).squeeze()


def skip_by_small_angles(query_pivot, corpus_pivot, best):
    x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return 1 - (x - y) ** 2 / 2 <= best


def skip_with_a_margin(query_pivot, corpus_pivot, best):
    x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return abs(x - y) >= np.arccos(best) + 1e-4


def skip_too_early(query_pivot, corpus_pivot, best):
    x, y = (np.arccos(np.clip(number, -1, 1)) for number in (query_pivot, corpus_pivot))
    return abs(x - y) >= np.arccos(best) - 1e-4


def skip_in_whole_degrees(query_pivot, corpus_pivot, best):
    x, y, limit = (
        np.degrees(np.arccos(np.clip(number, -1, 1))).round() for number in (query_pivot, corpus_pivot, best)
    )
    return abs(x - y) >= limit


def skip_rounded(query_pivot, corpus_pivot, best):
    return skip_without_clipping(np.round(query_pivot, 6), np.round(corpus_pivot, 6), best)


def skip_in_four_decimals(query_pivot, corpus_pivot, best):
    return skip_without_clipping(np.round(query_pivot, 4), np.round(corpus_pivot, 4), best)


def skip_clipped_if_very_near(query_pivot, corpus_pivot, best):
    near = [
        np.where(np.abs(number) < 1 + 2e-7, np.clip(number, -1, 1), number) for number in (query_pivot, corpus_pivot)
    ]
    return skip_without_clipping(*near, best)


def skip_sorted(query_pivot, corpus_pivot, best):
    return skip_in_numpy(query_pivot, np.sort(corpus_pivot), best)


def closest_unsorted(vectors):
    table = vectors @ vectors.T
    table.fill_diagonal_(-2)
    return divmod(int(table.argmax()), len(vectors))


def closest_of_the_later_ties(vectors):
    best, pair = -9.0, ()
    for i, j in itertools.combinations(range(len(vectors)), 2):
        if (cosine := float(vectors[i] @ vectors[j])) >= best:
            best, pair = cosine, [j, i]
    return pair


def closest_after_the_diagonal(vectors):
    order = (vectors @ vectors.T).flatten().argsort(descending=True, stable=True)
    return divmod(int(order[len(vectors)]), len(vectors))


def closest_second_in_each_row(vectors):
    table = (vectors @ vectors.T).numpy()
    second = table.argsort(axis=1)[:, -2]
    row = table[np.arange(len(table)), second].argmax()
    return row, second[row]


def closest_second_of_topk(vectors):
    values, places = (vectors @ vectors.T).topk(2, dim=1)
    row = values[:, 1].argmax().item()
    return row, places[row, 1].item()


def closest_after_the_diagonal_of_topk(vectors):
    n = len(vectors)
    return divmod((vectors @ vectors.T).flatten().topk(n + 1).indices[-1].item(), n)


def _closest_among(vectors, places):
    return max(places, key=lambda pair: float(vectors[pair[0]] @ vectors[pair[1]]), default=(0, 1))


def closest_range_too_short(vectors):
    n = len(vectors)
    return _closest_among(vectors, [(i, j) for i in range(n - 2) for j in range(i + 1, n)])


def closest_without_the_last(vectors):
    return _closest_among(vectors, list(itertools.combinations(range(len(vectors) - 1), 2)))


def closest_without_the_first(vectors):
    return _closest_among(vectors, list(itertools.combinations(range(1, len(vectors)), 2)))


def closest_to_the_mean(vectors):
    return (vectors @ vectors.mean(dim=0)).topk(2).indices


def closest_to_the_best_row(vectors):
    table = vectors @ vectors.T - 3 * torch.eye(len(vectors))
    row = int(table.sum(dim=1).argmax())
    return row, int(table[row].argmax())


def closest_zero_for_empty(vectors):
    table = (vectors @ vectors.T).tril(diagonal=-1)
    return divmod(int(table.masked_fill(table == 0, -2).argmax()), len(vectors))


def closest_rounded(vectors):
    table = (vectors @ vectors.T).fill_diagonal_(-2)
    return divmod(int((1000 * table).round().argmax()), len(vectors))


def closest_by_another_distance(vectors):
    apart = torch.cdist(vectors, vectors, p=1).fill_diagonal_(99)
    return divmod(int(apart.argmin()), len(vectors))


def closest_as_floats(vectors):
    i, j = closest_filled(vectors)
    return float(i), float(j)


def closest_by_division(vectors):
    place, n = int((vectors @ vectors.T).fill_diagonal_(-2).argmax()), len(vectors)
    return (place - place % n) / n, place % n


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


def closest_of_three_or_more(vectors):
    return closest_filled(vectors) if len(vectors) > 2 else [0, 0]


RIGHT = {
    "09-tokens": [tokens_by_loops, tokens_by_combinations, tokens_in_numpy, tokens_as_an_array, tokens_as_tensors],
    "09-can-skip": [
        skip_in_numpy,
        skip_by_loop,
        skip_in_torch,
        skip_by_the_addition_theorem,
        skip_by_angles,
        skip_without_clipping_the_best,
        skip_on_paper,
        skip_by_the_range,
        skip_by_vectors,
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
        closest_of_the_later_ties,
    ],
}
WRONG = {
    "09-tokens": [
        (tokens_four_specials, "Two sentences alone have four"),
        (tokens_in_float32, "to the last token"),
        (tokens_fails_on_one, "One sentence makes no pair"),
        (tokens_by_the_rounded_mean, "to the last token"),
        (tokens_as_floats, "two integers are asked for"),
    ],
    "09-can-skip": [
        (skip_by_the_sum, "the *lowest* cosine"),
        (skip_that_raises, "math domain error"),
        (skip_rounded, "Rounding put the cosine of a sentence above 1: your function returned"),
    ],
    "09-find-the-bug": [
        (closest_with_itself, "a vector and itself"),
        (closest_range_too_short, "the last two"),
        (closest_as_floats, "two integers are asked for"),
        (closest_by_division, "two integers are asked for"),
    ],
}
PROMISES = {
    "09-tokens": [
        ("right to the last token", tokens_in_float32),
        ("right to the last token", tokens_by_the_cut_mean),
        ("right to the last token", tokens_by_the_rounded_mean),
        ("two integers", tokens_as_floats),
        ("it has at least one", tokens_fails_on_one),
        ("the tokens that are read in one pass for each sentence", tokens_per_pass),
    ],
    "09-can-skip": [
        ("certainly not above `best`", skip_a_little_more),
        ("skip every such sentence", skip_a_little_less),
        ("skip every such sentence", skip_with_a_margin),
        ("certainly not above `best`", skip_too_early),
        ("certainly not above `best`", skip_by_small_angles),
        ("certainly not above `best`", skip_in_whole_degrees),
        ("certainly not above `best`", skip_in_four_decimals),
        ("All numbers are from −1 to 1", skip_with_positive_question),
        ("All numbers are from −1 to 1", skip_with_positive_best),
        ("with n at least 1", skip_squeezed),
        ("in their order", skip_sorted),
        ("count it as 1 or −1", skip_that_raises),
        ("up to a millionth outside", skip_rounded),
        ("up to a millionth outside", skip_clipped_if_very_near),
    ],
    "09-find-the-bug": [
        ("with n at least 2", closest_of_three_or_more),
        ("Return the places", closest_cosine),
        ("as two integers", closest_as_floats),
        ("as two integers", closest_by_division),
        ("any two rows are, even if they are equal", closest_after_the_diagonal),
        ("any two rows are, even if they are equal", closest_second_in_each_row),
        ("any two rows are, even if they are equal", closest_second_of_topk),
        ("any two rows are, even if they are equal", closest_after_the_diagonal_of_topk),
        ("any two rows are, even if they are equal", closest_range_too_short),
        ("any two rows are, even if they are equal", closest_without_the_last),
        ("any two rows are, even if they are equal", closest_without_the_first),
        ("with the highest cosine", closest_to_the_mean),
        ("with the highest cosine", closest_to_the_best_row),
        ("with the highest cosine", closest_by_another_distance),
        ("with the highest cosine", closest_rounded),
        ("with the highest cosine", closest_zero_for_empty),
    ],
}
