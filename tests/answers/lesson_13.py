"""Answers to lesson 13 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import numpy as np
import torch


def int8_plain(vectors, low, high):
    step = (high - low) / 255
    step = np.where(step == 0, 1, step)
    return (np.clip(np.floor((vectors - low) / step), 0, 255) - 128).astype(np.int8)


def int8_by_loops(vectors, low, high):
    out = np.zeros(vectors.shape, dtype=np.int8)
    for i, row in enumerate(vectors):
        for j, x in enumerate(row):
            step = (float(high[j]) - float(low[j])) / 255 or 1.0
            out[i, j] = min(255, max(0, int(np.floor((float(x) - float(low[j])) / step)))) - 128
    return out


def int8_clipped_first(vectors, low, high):
    inside = np.minimum(np.maximum(vectors, low), high)
    width = high - low
    width[width == 0] = 255
    return ((inside - low) * 255 // width - 128).astype("int8")


def int8_in_torch(vectors, low, high):
    v, a, b = (torch.from_numpy(x) for x in (vectors, low, high))
    step = (b - a) / 255
    step[step == 0] = 1
    return (((v - a) / step).floor().clamp(0, 255) - 128).to(torch.int8)


def int8_by_uint8(vectors, low, high):
    step = (high - low) / 255
    step[step == 0] = 1
    place = ((vectors - low) / step).clip(0, 255).astype(np.uint8)
    return (place.astype(np.int16) - 128).astype(np.int8)


def int8_without_clip(vectors, low, high):
    step = np.where(high == low, 1, (high - low) / 255)
    return (np.floor((vectors - low) / step) - 128).astype(int).astype(np.int8)


def int8_in_whole_numbers(vectors, low, high):
    return int8_plain(vectors, low, high).astype(int)


def int8_as_lists(vectors, low, high):
    return int8_plain(vectors, low, high).tolist()


def int8_symmetric(vectors, low, high):
    return np.clip(np.round(vectors * 127 / np.abs(np.stack([low, high])).max()), -127, 127).astype(np.int8)


def int8_below_only(vectors, low, high):
    step = np.where(high == low, 1, (high - low) / 255)
    return (np.maximum(np.floor((vectors - low) / step), 0) - 128).astype(int).astype(np.int8)


def int8_above_only(vectors, low, high):
    step = np.where(high == low, 1, (high - low) / 255)
    return (np.minimum(np.floor((vectors - low) / step), 255) - 128).astype(int).astype(np.int8)


def int8_squeezed(vectors, low, high):
    return int8_plain(vectors, low, high).squeeze()


def int8_254_steps(vectors, low, high):
    step = np.where(high == low, 1, (high - low) / 254)
    return (np.clip(np.floor((vectors - low) / step), 0, 254) - 128).astype(np.int8)


def hamming_counted(query, corpus):
    return np.bitwise_count(query ^ corpus).sum(axis=1)


def hamming_unpacked(query, corpus):
    return (np.unpackbits(query) != np.unpackbits(corpus, axis=1)).sum(axis=1)


def hamming_by_loops(query, corpus):
    return [sum(bin(int(a) ^ int(b)).count("1") for a, b in zip(query, row)) for row in corpus]


def hamming_by_table(query, corpus):
    ones = np.array([bin(number).count("1") for number in range(256)])
    return ones[np.bitwise_xor(corpus, query)].sum(axis=-1)


def hamming_by_products(query, corpus):
    a, b = np.unpackbits(query).astype(int), np.unpackbits(corpus, axis=1).astype(int)
    return a.sum() + b.sum(axis=1) - 2 * b @ a


def hamming_as_one_number(query, corpus):
    asked = int.from_bytes(query.tobytes(), "big")
    return [(asked ^ int.from_bytes(row.tobytes(), "big")).bit_count() for row in corpus]


def hamming_bytes(query, corpus):
    return np.count_nonzero(query != corpus, axis=1)


def hamming_squeezed(query, corpus):
    found = hamming_counted(query, corpus)
    return found if len(found) > 1 else int(found[0])


def hamming_sorted(query, corpus):
    return np.sort(hamming_counted(query, corpus))


def hamming_absolute(query, corpus):
    apart = np.abs(query.astype(int) - corpus.astype(int)).astype(np.uint8)
    return np.bitwise_count(apart).sum(axis=1)


def rescore_plain(query, corpus, candidates, k):
    scores = corpus[candidates] @ query
    return candidates[np.argsort(-scores)[:k]]


def rescore_sorted(query, corpus, candidates, k):
    return sorted(candidates.tolist(), key=lambda place: -float(corpus[place] @ query))[:k]


def rescore_pairs(query, corpus, candidates, k):
    pairs = [(float(np.dot(query, corpus[place])), int(place)) for place in candidates]
    pairs.sort(reverse=True)
    return [place for _, place in pairs[:k]]


def rescore_masked(query, corpus, candidates, k):
    scores = np.full(len(corpus), -np.inf)
    scores[candidates] = corpus[candidates] @ query
    return scores.argsort()[::-1][:k]


def rescore_topk(query, corpus, candidates, k):
    rows = torch.from_numpy(corpus[candidates])
    return torch.from_numpy(candidates)[(rows @ torch.from_numpy(query)).topk(k).indices]


def rescore_bug(query, corpus, candidates, k):
    scores = corpus[candidates] @ query
    return np.argsort(-scores)[:k]


def rescore_positive(query, corpus, candidates, k):
    return [place for place in rescore_sorted(query, corpus, candidates, k) if corpus[place] @ query > 0]


def rescore_fewer(query, corpus, candidates, k):
    return rescore_plain(query, corpus, candidates, min(k, len(candidates) - 1))


def rescore_one_number(query, corpus, candidates, k):
    found = rescore_plain(query, corpus, candidates, k)
    return found if k > 1 else int(found[0])


def rescore_in_place(query, corpus, candidates, k):
    candidates[:] = candidates[np.argsort(-(corpus[candidates] @ query))]
    return candidates[:k].copy()


def int8_in_place(vectors, low, high):
    step = np.where(high == low, 1, (high - low) / 255)
    vectors -= low
    vectors /= step
    return (np.clip(np.floor(vectors), 0, 255) - 128).astype(np.int8)


RIGHT = {
    "13-int8": [int8_plain, int8_by_loops, int8_clipped_first, int8_in_torch, int8_by_uint8],
    "13-hamming": [
        hamming_counted,
        hamming_unpacked,
        hamming_by_loops,
        hamming_by_table,
        hamming_by_products,
        hamming_as_one_number,
    ],
    "13-rescore": [rescore_plain, rescore_sorted, rescore_pairs, rescore_masked, rescore_topk],
}
WRONG = {
    "13-int8": [
        (int8_without_clip, "wrap around: 300 becomes 44"),
        (int8_in_whole_numbers, "one byte each is the point"),
        (int8_as_lists, "one byte each is the point"),
    ],
    "13-hamming": [(hamming_bytes, "the *bytes* that differ")],
    "13-rescore": [(rescore_bug, "places in the list of candidates")],
}
PROMISES = {
    "13-int8": [
        ("Each dimension's range, from `low` to `high`,", int8_symmetric),
        ("is divided into 255 steps of equal length", int8_254_steps),
        ("fewer than 0 counts as 0", int8_above_only),
        ("more than 255 as 255", int8_below_only),
        ("dtype int8", int8_in_whole_numbers),
        ("dtype int8", int8_as_lists),
        ("(n, d), with n at least 1", int8_squeezed),
    ],
    "13-hamming": [
        ("how many bits of the query differ from those of each row", hamming_absolute),
        ("one number for each row, in their order", hamming_sorted),
        ("with n at least 1", hamming_squeezed),
    ],
    "13-rescore": [
        ("of the k candidates with the highest dot product", rescore_positive),
        ("k is from 1 to the number of candidates", rescore_fewer),
        ("k is from 1 to the number of candidates", rescore_one_number),
    ],
}
