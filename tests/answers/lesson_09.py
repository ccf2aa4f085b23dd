"""Answers to lesson 09."""

import itertools
import math

import numpy as np
import torch


def tokens_by_combinations(lengths):
    return [sum(lengths), sum(a + b - 1 for a, b in itertools.combinations(lengths, 2))]


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


def tokens_one_after_the_other(lengths):
    """Each sentence meets those before it."""
    before = pairs = 0
    for place, length in enumerate(lengths):
        pairs += before + place * (length - 1)
        before += length
    return [before, pairs]


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


def tokens_by_loops(ends, extra):
    """Loops over i and j up to n less `ends`, with `extra` tokens for each pair."""

    def tokens_read(lengths):
        pairs, n = 0, len(lengths)
        for i in range(n - ends):
            for j in range(i + 1, n - ends):
                pairs += lengths[i] + lengths[j] + extra
        return sum(lengths), pairs

    return tokens_read


def tokens_of_the_table(extra):
    """Every place of the table with its diagonal on one side, or all of it: two mistakes at once."""
    return lambda lengths: (
        sum(lengths),
        sum(a + b + extra for place, a in enumerate(lengths) for b in lengths[place:]),
    )


def tokens_in_both_orders(extra):
    return lambda lengths: (sum(lengths), sum(a + b + extra for a, b in itertools.permutations(lengths, 2)))


def angle(cosine):
    return np.arccos(np.clip(cosine, -1, 1))


def skip_where(found):
    """Skip where `found` of the two angles and `best`."""
    return lambda query_pivot, corpus_pivot, best: found(angle(query_pivot), angle(corpus_pivot), best)


skip_in_numpy = skip_where(lambda x, y, best: np.cos(x - y) <= best)


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


def skip_that_raises(query_pivot, corpus_pivot, best):
    return [math.cos(math.acos(query_pivot) - math.acos(cosine)) <= best for cosine in corpus_pivot]


def skip_without_clipping(change):
    """Changes the cosines in this way, and turns what is not from -1 to 1 then into NaN."""

    def skip(query_pivot, corpus_pivot, best):
        with np.errstate(invalid="ignore"):
            return np.cos(np.arccos(change(query_pivot)) - np.arccos(change(corpus_pivot))) <= best

    return skip


def in_degrees(cosine):
    return np.degrees(angle(cosine)).round()


def clipped_if_very_near(cosine):
    return np.where(np.abs(cosine) < 1 + 2e-7, np.clip(cosine, -1, 1), cosine)


def closest(vectors, table=None, diagonal=-2):
    """A right answer; each argument changes one thing."""
    table = vectors @ vectors.T if table is None else table
    return divmod(int(table.fill_diagonal_(diagonal).argmax()), len(vectors))


def closest_of_the_later_ties(vectors):
    best, pair = -9.0, ()
    for i, j in itertools.combinations(range(len(vectors)), 2):
        if (cosine := float(vectors[i] @ vectors[j])) >= best:
            best, pair = cosine, [j, i]
    return pair


def closest_in_plain_python(vectors):
    rows = vectors.tolist()

    def cosine(pair):
        return sum(a * b for a, b in zip(rows[pair[0]], rows[pair[1]]))

    return max(itertools.combinations(range(len(rows)), 2), key=cosine)


def closest_by_distance(vectors):
    """In float32, as the vectors are."""
    distances = (vectors[:, None] - vectors).norm(dim=2)
    return divmod(int(distances.fill_diagonal_(9).argmin()), len(vectors))


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


def closest_among(places):
    """Looks at the pairs of these places only; `places` gets the number of vectors."""

    def closest(vectors):
        pairs = list(places(len(vectors)))
        return max(pairs, key=lambda pair: float(vectors[pair[0]] @ vectors[pair[1]]), default=(0, 1))

    return closest


closest_range_too_short = closest_among(lambda n: ((i, j) for i in range(n - 2) for j in range(i + 1, n)))


def closest_by_loops(vectors, end, best=-9.0):
    pair = None
    for i in range(end):
        for j in range(i):
            if vectors[i] @ vectors[j] > best:
                best, pair = vectors[i] @ vectors[j], (j, i)
    return pair


def closest_with_itself(vectors):
    return divmod(int((vectors @ vectors.T).argmax()), len(vectors))


def closest_to_the_best_row(vectors):
    table = vectors @ vectors.T - 3 * torch.eye(len(vectors))
    row = int(table.sum(dim=1).argmax())
    return row, int(table[row].argmax())


def closest_zero_for_empty(vectors):
    table = (vectors @ vectors.T).tril(diagonal=-1)
    return divmod(int(table.masked_fill(table == 0, -2).argmax()), len(vectors))


def closest_by_division(vectors):
    place, n = int((vectors @ vectors.T).fill_diagonal_(-2).argmax()), len(vectors)
    return (place - place % n) / n, place % n


RIGHT = {
    "09-tokens": [tokens_by_combinations, tokens_as_an_array, tokens_as_tensors, tokens_one_after_the_other],
    "09-can-skip": [
        skip_in_numpy,
        skip_by_loop,
        skip_in_torch,
        skip_by_the_addition_theorem,
        lambda *args: skip_in_numpy(*args).astype(int),
    ],
    "09-find-the-bug": [
        closest,
        lambda vectors: closest(vectors)[::-1],
        lambda vectors: np.array(closest(vectors)),
        lambda vectors: tuple(np.array(closest(vectors))),
        lambda vectors: torch.tensor(closest(vectors.double())),
        closest_of_the_later_ties,
        closest_in_plain_python,
        closest_by_distance,
    ],
}
WRONG = {
    "09-tokens": [
        (tokens_four_specials, "Two sentences alone have four"),
        (tokens_by_loops(1, -1), "in none of your pairs"),
        (tokens_by_loops(0, -3), "take three tokens off"),
        (tokens_by_loops(0, 1), "add a token for each pair"),
        (lambda lengths: (sum(lengths), tokens_four_specials(lengths)[1] - 1), "or only once"),
        (lambda lengths: (sum(lengths), tokens_by_combinations(lengths)[1] // 2), "half of what the pairs read"),
        (tokens_in_both_orders(-2), "Two things: you count each pair in both orders"),
        (tokens_of_the_table(0), "Two things: you also pair each sentence with itself"),
    ],
    "09-can-skip": [(skip_where(lambda x, y, best: np.cos(x + y) <= best), "the *lowest* cosine")],
    "09-find-the-bug": [
        (closest_with_itself, "a vector and itself"),
        (lambda vectors: closest_by_loops(vectors, len(vectors) - 1), "never look at the last vector"),
        (lambda vectors: closest_by_loops(vectors, len(vectors), 0.0), "your search starts at 0"),
        (lambda vectors: (vectors @ vectors.T - 9 * torch.eye(len(vectors))).argmax(dim=0), "in each row"),
        (lambda vectors: float((vectors @ vectors.T).fill_diagonal_(-2).max()), "return the cosine"),
    ],
}
PROMISES = {
    "09-tokens": [
        ("exact to the last token", tokens_in_float32, "to the last token"),
        ("exact to the last token", tokens_by_the_cut_mean),
        ("exact to the last token", tokens_by_the_rounded_mean, "to the last token"),
        ("two integers", tokens_as_floats, "two integers are asked for"),
        ("It has at least one entry", tokens_fails_on_one, "One sentence makes no pair"),
        ("the number of tokens read with one pass for each sentence", tokens_per_pass),
    ],
    "09-can-skip": [
        ("skip every such sentence", skip_where(lambda x, y, best: np.cos(0.86 * (x - y)) <= best)),
        ("skip every such sentence", skip_where(lambda x, y, best: abs(x - y) >= np.arccos(best) + 1e-4)),
        ("certainly not above `best`", skip_where(lambda x, y, best: np.cos(1.12 * (x - y)) <= best)),
        ("certainly not above `best`", skip_where(lambda x, y, best: abs(x - y) >= np.arccos(best) - 1e-4)),
        ("certainly not above `best`", skip_where(lambda x, y, best: 1 - (x - y) ** 2 / 2 <= best)),
        ("certainly not above `best`", lambda q, c, best: abs(in_degrees(q) - in_degrees(c)) >= in_degrees(best)),
        ("certainly not above `best`", skip_without_clipping(lambda cosine: np.round(cosine, 4))),
        ("All numbers are from −1 to 1", lambda q, c, best: skip_in_numpy(abs(q), c, best)),
        ("All numbers are from −1 to 1", lambda q, c, best: skip_in_numpy(q, c, max(0.0, best))),
        ("with n at least 1", lambda *args: skip_in_numpy(*args).squeeze()),
        ("in their order", lambda q, c, best: skip_in_numpy(q, np.sort(c), best)),
        ("count it as 1 or −1", skip_that_raises, "raised ValueError"),
        (
            "up to a millionth outside",
            skip_without_clipping(lambda cosine: np.round(cosine, 6)),
            "Rounding put the cosine of a sentence above 1: your function returned",
        ),
        ("up to a millionth outside", skip_without_clipping(clipped_if_very_near)),
    ],
    "09-find-the-bug": [
        ("with n at least 2", lambda vectors: closest(vectors) if len(vectors) > 2 else (0, 0)),
        ("Return the indices", lambda vectors: float((vectors @ vectors.T).fill_diagonal_(-2).max())),
        ("as two integers", lambda vectors: [float(place) for place in closest(vectors)], "two integers are asked for"),
        ("as two integers", closest_by_division, "two integers are asked for"),
        ("count as a pair, even if they are equal", closest_after_the_diagonal),
        ("count as a pair, even if they are equal", closest_second_in_each_row),
        ("count as a pair, even if they are equal", closest_second_of_topk),
        ("count as a pair, even if they are equal", closest_after_the_diagonal_of_topk),
        ("count as a pair, even if they are equal", closest_range_too_short, "the last two"),
        ("count as a pair, even if they are equal", closest_among(lambda n: itertools.combinations(range(n - 1), 2))),
        ("count as a pair, even if they are equal", closest_among(lambda n: itertools.combinations(range(1, n), 2))),
        ("with the highest cosine", lambda vectors: (vectors @ vectors.mean(dim=0)).topk(2).indices),
        ("with the highest cosine", closest_to_the_best_row),
        ("with the highest cosine", lambda vectors: closest(vectors, -torch.cdist(vectors, vectors, p=1), -99)),
        ("with the highest cosine", lambda vectors: closest(vectors, (1000 * vectors @ vectors.T).round(), -2000)),
        ("with the highest cosine", closest_zero_for_empty),
    ],
}
