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


def tokens_three_more(lengths):
    return sum(lengths), sum(a + b + 3 for a, b in itertools.combinations(lengths, 2))


def tokens_without_specials(lengths):
    return sum(lengths), sum(a - 2 + b - 2 for a, b in itertools.combinations(lengths, 2))


def tokens_ordered(lengths):
    return sum(lengths), sum(a + b - 1 for a, b in itertools.permutations(lengths, 2))


def tokens_square(lengths):
    return sum(lengths), sum(a + b - 1 for a in lengths for b in lengths)


def tokens_with_itself(lengths):
    return sum(lengths), sum(a + b - 1 for a, b in itertools.combinations_with_replacement(lengths, 2))


def tokens_neighbours(lengths):
    return sum(lengths), sum(lengths[i] + lengths[i + 1] - 1 for i in range(len(lengths) - 1))


def tokens_passes(lengths):
    return len(lengths), len(list(itertools.combinations(lengths, 2)))


def tokens_by_length(lengths):
    return sum(lengths), sum(a + b - 1 for a in lengths for b in lengths if a != b) // 2


def tokens_added_again(lengths):
    return sum(n + 2 for n in lengths), sum(a + b + 3 for a, b in itertools.combinations(lengths, 2))


def tokens_subtracted(lengths):
    return sum(n - 2 for n in lengths), sum(a + b - 1 for a, b in itertools.combinations(lengths, 2))


def tokens_n_times(lengths):
    n = len(lengths)
    return sum(lengths), n * sum(lengths) - n * (n - 1) // 2


def search_normalised(query, corpus, k):
    values, places = torch.topk(F.normalize(corpus, dim=1) @ F.normalize(query, dim=0), k)
    return [(int(place), float(value)) for place, value in zip(places, values)]


def search_by_sorting(query, corpus, k):
    cosines = F.cosine_similarity(corpus, query.unsqueeze(0)).tolist()
    return sorted(enumerate(cosines), key=lambda pair: -pair[1])[:k]


def search_by_dot(query, corpus, k):
    values, places = (corpus @ query).topk(k)
    return list(zip(places.tolist(), values.tolist()))


def search_half_normalised(query, corpus, k):
    values, places = (F.normalize(corpus, dim=1) @ query).topk(k)
    return list(zip(places.tolist(), values.tolist()))


def search_query_normalised(query, corpus, k):
    values, places = (corpus @ F.normalize(query, dim=0)).topk(k)
    return list(zip(places.tolist(), values.tolist()))


def search_wrong_dimension(query, corpus, k):
    values, places = (F.normalize(corpus, dim=0) @ F.normalize(query, dim=0)).topk(k)
    return list(zip(places.tolist(), values.tolist()))


def search_worst(query, corpus, k):
    cosines = F.cosine_similarity(corpus, query.unsqueeze(0)).tolist()
    return sorted(enumerate(cosines), key=lambda pair: pair[1])[:k]


def search_by_distance(query, corpus, k):
    places = torch.cdist(query[None], corpus)[0].argsort()[:k]
    cosines = F.cosine_similarity(corpus, query[None])
    return [(int(place), float(cosines[place])) for place in places]


def search_absolute(query, corpus, k):
    cosines = F.cosine_similarity(corpus, query.unsqueeze(0)).abs().tolist()
    return sorted(enumerate(cosines), key=lambda pair: -pair[1])[:k]


def search_places(query, corpus, k):
    return F.cosine_similarity(corpus, query.unsqueeze(0)).topk(k).indices.tolist()


def search_two_lists(query, corpus, k):
    values, places = F.cosine_similarity(corpus, query[None]).topk(k)
    return places.tolist(), values.tolist()


def search_ranks(query, corpus, k):
    return list(enumerate(sorted(F.cosine_similarity(corpus, query[None]).tolist(), reverse=True)[:k]))


def search_without_the_first(query, corpus, k):
    return sorted(enumerate(F.cosine_similarity(corpus, query[None]).tolist()), key=lambda pair: -pair[1])[1 : k + 1]


def search_whole(query, corpus, k):
    return sorted(enumerate(F.cosine_similarity(corpus, query[None]).tolist()), key=lambda pair: -pair[1])


def search_in_order_of_dots(query, corpus, k):
    cosines = F.cosine_similarity(corpus, query[None])
    return [(int(place), float(cosines[place])) for place in (corpus @ query).argsort(descending=True)[:k]]


def closest_unsorted(vectors):
    table = vectors @ vectors.T
    table.fill_diagonal_(-2)
    return divmod(int(table.argmax()), len(vectors))


def closest_filled_with_minus_one(vectors):
    table = vectors @ vectors.T
    table.fill_diagonal_(-1)
    return sorted(divmod(int(table.argmax()), len(vectors)))


def closest_absolute(vectors):
    table = (vectors @ vectors.T).abs()
    table.fill_diagonal_(0)
    return sorted(divmod(int(table.argmax()), len(vectors)))


def closest_minus_identity(vectors):
    table = vectors @ vectors.T - torch.eye(len(vectors))
    return sorted(divmod(int(table.argmax()), len(vectors)))


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


def closest_zero_diagonal(vectors):
    table = vectors @ vectors.T
    table.fill_diagonal_(0)
    place = int(table.argmax())
    return place // len(vectors), place % len(vectors)


def closest_upper_triangle(vectors):
    place = int(torch.triu(vectors @ vectors.T, diagonal=1).argmax())
    return place // len(vectors), place % len(vectors)


def closest_below_one(vectors):
    best, pair = -9, None
    for i, j in itertools.combinations(range(len(vectors)), 2):
        cosine = float(vectors[i] @ vectors[j])
        if best < cosine < 0.9999:
            best, pair = cosine, (i, j)
    return pair


def closest_smallest(vectors):
    table = vectors @ vectors.T
    place = int(table.argmin())
    return sorted([place // len(vectors), place % len(vectors)])


def closest_flat(vectors):
    table = vectors @ vectors.T
    return int(table.masked_fill(~torch.ones_like(table).triu(1).bool(), -2).argmax())


def closest_turned(vectors):
    return closest_filled(vectors)[::-1]


def closest_neighbour(vectors):
    place = max(range(len(vectors) - 1), key=lambda i: float(vectors[i] @ vectors[i + 1]))
    return place, place + 1


RIGHT = {
    "09-tokens": [tokens_by_loops, tokens_by_combinations, tokens_in_numpy],
    "09-search": [search_normalised, search_by_sorting],
    "09-find-the-bug": [closest_filled, closest_by_loop, closest_unsorted, closest_turned],
}
WRONG = {
    "09-tokens": [
        (tokens_four_specials, "Two sentences alone have four"),
        (tokens_three_more, "three special tokens *more*"),
        (tokens_without_specials, "leave out all special tokens"),
        (tokens_ordered, "each pair twice"),
        (tokens_square, "n times n"),
        (tokens_with_itself, "also with itself"),
        (tokens_neighbours, "the next one only"),
        (tokens_passes, "You count passes"),
        (tokens_by_length, "compare places, not lengths"),
        (tokens_added_again, "Do not add them again"),
        (tokens_subtracted, "Do not subtract them"),
        (tokens_n_times, "in n − 1 pairs"),
    ],
    "09-search": [
        (search_by_dot, "These are dot products"),
        (search_half_normalised, "Only the corpus is normalised"),
        (search_query_normalised, "Only the query is normalised"),
        (search_wrong_dimension, "lengths of the columns"),
        (search_worst, "*least* similar"),
        (search_by_distance, "nearest by distance"),
        (search_absolute, "absolute value"),
        (search_places, "without their cosines"),
        (search_two_lists, "all places and all cosines apart"),
        (search_ranks, "are ranks"),
        (search_without_the_first, "leave out the nearest"),
        (search_whole, "all vectors of the corpus"),
        (search_in_order_of_dots, "order is that of dot products"),
    ],
    "09-find-the-bug": [
        (closest_with_itself, "a vector and itself"),
        (closest_zero_diagonal, "it holds 0"),
        (closest_upper_triangle, "Fill with something below −1"),
        (closest_below_one, "Equal vectors in different places"),
        (closest_smallest, "farthest apart"),
        (closest_flat, "one long row"),
        (closest_neighbour, "the next one only"),
        (closest_filled_with_minus_one, "it holds −1"),
        (closest_absolute, "absolute value"),
        (closest_minus_identity, "something below −1"),
    ],
}
