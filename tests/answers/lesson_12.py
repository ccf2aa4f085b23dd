"""Answers to the capstone that must pass, and answers that must fail with the words for their mistake."""

import numpy as np

from course_utils import embed, load_encoder, mean_pool, search
from course_utils.benchmark import glove_vectors


def ranks_loop(found, wanted):
    total = 0
    for places, want in zip(found, wanted):
        for rank, place in enumerate(places, start=1):
            if place == want:
                total += 1 / rank
                break
    return total / len(wanted)


def ranks_numpy(found, wanted):
    values = np.zeros(len(found))
    for i in range(len(found)):
        hits = np.where(np.array(found[i]) == wanted[i])[0]
        if hits.size:
            values[i] = 1 / (hits[0] + 1)
    return values.mean()


def ranks_tries(found, wanted):
    def one(places, want):
        try:
            return 1.0 / (list(places).index(want) + 1)
        except ValueError:
            return 0

    return sum(map(one, found, wanted)) / len(found)


def ranks_mean_rank(found, wanted):
    return sum((p.index(w) + 1 if w in p else 0) for p, w in zip(found, wanted)) / len(found)


def ranks_found_only(found, wanted):
    values = [1 / (p.index(w) + 1) for p, w in zip(found, wanted) if w in p]
    return sum(values) / len(values) if values else 0


def ranks_found_only_divides(found, wanted):
    values = [1 / (p.index(w) + 1) for p, w in zip(found, wanted) if w in p]
    return sum(values) / len(values)


def ranks_zero(found, wanted):
    return sum(1 / p.index(w) if w in p else 0 for p, w in zip(found, wanted)) / len(found)


def ranks_behind(found, wanted):
    return np.mean([1 / (p.index(w) + 1 if w in p else len(p) + 1) for p, w in zip(found, wanted)])


def ranks_first(found, wanted):
    return sum(p[0] == w for p, w in zip(found, wanted)) / len(wanted)


def ranks_anywhere(found, wanted):
    return sum(w in p for p, w in zip(found, wanted)) / len(wanted)


def ranks_sum(found, wanted):
    return sum(1 / (p.index(w) + 1) for p, w in zip(found, wanted) if w in p)


def ranks_single(found, wanted):
    return [1 / (p.index(w) + 1) if w in p else 0.0 for p, w in zip(found, wanted)]


def find_course(queries, texts, k):
    places, _ = search(embed(queries), embed(texts), k)
    return places.tolist()


def find_argsort(queries, texts, k):
    cosines = embed(queries) @ embed(texts).T
    return [list(np.argsort(row)[::-1][:k]) for row in cosines]


def find_torch(queries, texts, k):
    import torch

    tokenizer, encoder = load_encoder()

    def vectors(sentences):
        rows = []
        for start in range(0, len(sentences), 64):
            batch = tokenizer(sentences[start : start + 64], padding=True, truncation=True, return_tensors="pt")
            with torch.no_grad():
                rows.append(mean_pool(encoder(**batch).last_hidden_state, batch["attention_mask"]))
        return torch.nn.functional.normalize(torch.cat(rows), dim=1)

    return (vectors(queries) @ vectors(texts).T).topk(k).indices


def find_and_words(queries, texts, k):
    """Another right way: cosines with a little weight on shared words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True).fit(texts)
    scores = embed(queries) @ embed(texts).T + 0.2 * (words.transform(queries) @ words.transform(texts).T).toarray()
    return np.argsort(-scores, axis=1)[:, :k]


def find_cls(queries, texts, k):
    return np.argsort(-(embed(queries, pooling="cls") @ embed(texts, pooling="cls").T), axis=1)[:, :k].tolist()


def find_max(queries, texts, k):
    return np.argsort(-(embed(queries, pooling="max") @ embed(texts, pooling="max").T), axis=1)[:, :k].tolist()


def find_lowest(queries, texts, k):
    return np.argsort(embed(queries) @ embed(texts).T, axis=1)[:, :k].tolist()


def find_last(queries, texts, k):
    return [row.argsort()[-k:].tolist() for row in embed(queries) @ embed(texts).T]


def find_texts(queries, texts, k):
    return [[texts[place] for place in row] for row in find_course(queries, texts, k)]


def find_glove(queries, texts, k):
    q, t = glove_vectors(queries), glove_vectors(texts)
    t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-9)
    return np.argsort(-(q @ t.T), axis=1)[:, :k].tolist()


def find_from_one(queries, texts, k):
    return [[place + 1 for place in row] for row in find_course(queries, texts, k)]


def find_too_many(queries, texts, k):
    return np.argsort(-(embed(queries) @ embed(texts).T), axis=1).tolist()


def find_twice(queries, texts, k):
    return [[row[0]] * k for row in find_course(queries, texts, k)]


def find_one_list(queries, texts, k):
    return find_course(queries, texts, k)[0]


def ranks_nan(found, wanted):
    return (
        float(np.mean([1 / (p.index(w) + 1) for p, w in zip(found, wanted) if w in p]))
        if any(w in p for p, w in zip(found, wanted))
        else float("nan")
    )


def ranks_index_error(found, wanted):
    return sum(1 / (p.index(w) + 1) for p, w in zip(found, wanted)) / len(wanted)


def find_mixed(queries, texts, k):
    return np.argsort(-(embed(queries) @ embed(texts, pooling="cls").T), axis=1)[:, :k].tolist()


def find_lengths(queries, texts, k):
    return np.argsort(-(embed(queries, normalize=False) @ embed(texts, normalize=False).T), axis=1)[:, :k].tolist()


def find_queries_turned(queries, texts, k):
    return np.argsort(embed(queries) @ embed(texts).T, axis=1)[:, -k:][::-1].tolist()


def find_words(queries, texts, k):
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True).fit(texts)
    return np.argsort(-(words.transform(queries) @ words.transform(texts).T).toarray(), axis=1, kind="stable")[
        :, :k
    ].tolist()


def find_cosines(queries, texts, k):
    return search(embed(queries), embed(texts), k)[1].tolist()


def find_both(queries, texts, k):
    return search(embed(queries), embed(texts), k)


def find_pairs(queries, texts, k):
    places, cosines = find_both(queries, texts, k)
    return [list(zip(one, other)) for one, other in zip(places.tolist(), cosines.tolist())]


RIGHT = {
    "12-reciprocal-rank": [ranks_loop, ranks_numpy, ranks_tries],
    "12-search": [find_course, find_argsort, find_torch, find_and_words],
}
WRONG = {
    "12-reciprocal-rank": [
        (ranks_mean_rank, "These are mean ranks"),
        (ranks_found_only, "divide by all queries"),
        (ranks_found_only_divides, "nothing is left to divide by"),
        (ranks_nan, "the mean of nothing"),
        (ranks_index_error, "`index` raises an error"),
        (ranks_zero, "Ranks count from 1. `index` counts from 0"),
        (ranks_behind, "right behind the last place"),
        (ranks_first, "share of first places"),
        (ranks_anywhere, "found anywhere"),
        (ranks_sum, "This is the sum"),
        (ranks_single, "Return their mean"),
    ],
    "12-search": [
        (find_cls, "You search with [CLS] vectors"),
        (find_max, "the maximum over tokens"),
        (find_lowest, "the *least* similar texts"),
        (find_last, "with the best one last"),
        (find_texts, "You return the texts"),
        (find_mixed, "pooled in different ways"),
        (find_lengths, "long ones win"),
        (find_queries_turned, "turns the *queries* round"),
        (find_words, "You search by words"),
        (find_cosines, "You return the cosines"),
        (find_both, "returned two things"),
        (find_pairs, "which is no place"),
        (find_glove, "and the target is 0.75"),
        (find_from_one, "Yours count from 1"),
        (find_too_many, "are asked for"),
        (find_twice, "different whole numbers"),
        (find_one_list, "cannot be judged"),
    ],
}
