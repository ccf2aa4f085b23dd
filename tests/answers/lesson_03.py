"""Answers to lesson 03 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import numpy as np
import torch
import torch.nn.functional as F


def word_by_loop(hidden_states, word_ids, index):
    total, count = torch.zeros(hidden_states.shape[1]), 0
    for vector, w in zip(hidden_states, word_ids):
        if w == index:
            total = total + vector
            count += 1
    return total / count


def word_by_mask(h, w, i):
    keep = torch.tensor([x == i for x in w])
    return torch.mean(h[keep], 0)


def word_by_span(h, w, i):
    start = w.index(i)
    return h[start : start + w.count(i)].mean(0)


def word_by_weights(h, w, i):
    weight = torch.tensor([float(x == i) for x in w])
    return weight @ h / weight.sum()


def word_in_place(h, w, i):
    for k in range(len(w)):
        if w[k] is None:
            w[k] = -1
    return h[torch.tensor(w) == i].mean(0)


def word_none_is_zero(h, w, i):
    ids = torch.tensor([0 if x is None else x for x in w])
    return h[ids == i].mean(0)


def word_skips_cls(h, w, i):
    words = [x for x in w if x is not None]
    return h[[k for k in range(len(words)) if words[k] == i]].mean(0)


def word_truthy(h, w, i):
    rows = [h[k] for k in range(len(w)) if w[k] and w[k] == i]
    return torch.stack(rows).mean(0) if rows else h[[]].mean(0)


def word_truthy_stack(h, w, i):
    return torch.stack([v for v, x in zip(h, w) if x and x == i]).mean(0)


def word_truthy_count(h, w, i):
    total, count = 0, 0
    for v, x in zip(h, w):
        if x and x == i:
            total, count = total + v, count + 1
    return total / count


def word_short_slice(h, w, i):
    p = [k for k, x in enumerate(w) if x == i]
    return h[p[0] : p[-1]].mean(0)


def gap_by_loop(vectors, senses):
    within, between = [], []
    for i in range(len(senses)):
        for j in range(i):
            c = F.cosine_similarity(vectors[i], vectors[j], dim=0).item()
            if senses[i] == senses[j]:
                within.append(c)
            else:
                between.append(c)
    return np.mean(within) - np.mean(between)


def gap_in_numpy(v, s):
    u = v.numpy() / np.linalg.norm(v.numpy(), axis=1, keepdims=True)
    c, s = u @ u.T, np.array(s)
    same = s[:, None] == s[None, :]
    other = same.copy()
    np.fill_diagonal(same, False)
    return c[same].mean() - c[~other].mean()


def gap_by_sums(v, s):
    c = F.cosine_similarity(v[:, None], v[None], dim=-1)
    ids = torch.tensor([sorted(set(s)).index(x) for x in s])
    same = (ids[:, None] == ids).float()
    n = len(s)
    return ((c * same).sum() - n) / (same.sum() - n) - (c * (1 - same)).sum() / (1 - same).sum()


def gap_parts(v, s):
    u = F.normalize(v)
    c = u @ u.T
    same = torch.tensor(np.array(s)[:, None] == np.array(s))
    off = ~torch.eye(len(s)).bool()
    return c, same, off


def gap_with_self(v, s):
    c, same, off = gap_parts(v, s)
    return c[same].mean() - c[~same].mean()


def gap_raw(v, s):
    _, same, off = gap_parts(v, s)
    return (v @ v.T)[same & off].mean() - (v @ v.T)[~same].mean()


def gap_reversed(v, s):
    c, same, off = gap_parts(v, s)
    return c[~same].mean().item() - c[same & off].mean().item()


def gap_within_only(v, s):
    c, same, off = gap_parts(v, s)
    return c[same & off].mean().item()


def gap_both(v, s):
    c, same, off = gap_parts(v, s)
    return c[same & off].mean().item(), c[~same].mean().item()


def gap_mean_of_means(v, s):
    c, same, off = gap_parts(v, s)
    s = np.array(s)
    parts = []
    for kind in np.unique(s):
        block = c.numpy()[np.ix_(s == kind, s == kind)]
        if len(block) < 2:
            raise ZeroDivisionError("division by zero")
        parts.append(block[~np.eye(len(block), dtype=bool)].mean())
    return np.mean(parts) - c[~same].mean().item()


def gap_of_centres(v, s):
    s = np.array(s)
    means = [v[torch.tensor(s == kind)].mean(0) for kind in np.unique(s)]
    cosines = [F.cosine_similarity(a, b, dim=0).item() for i, a in enumerate(means) for b in means[i + 1 :]]
    return 1 - sum(cosines) / len(cosines)


def gap_against_all(v, s):
    c, same, off = gap_parts(v, s)
    return c[same & off].mean() - c[off].mean()


def gap_not_meaned(v, s):
    c, same, off = gap_parts(v, s)
    return torch.triu(c * same, 1).sum() - torch.triu(c * ~same, 1).sum()


def gap_euclid(v, s):
    _, same, off = gap_parts(v, s)
    d = (v[:, None] - v[None]).pow(2).sum(-1).sqrt()
    return d[same & off].mean() - d[~same].mean()


def gap_not_within(v, s):
    c, same, off = gap_parts(v, s)
    within = same & off
    return (c[within].mean() - c[~within].mean()).item()


def gap_below_1(v, s):
    c, same, _ = gap_parts(v, s)
    return c[same & (c < 1)].mean() - c[~same].mean()


def gap_not_1(v, s):
    c, same, _ = gap_parts(v, s)
    same[c == 1] = False
    return c[same].mean() - c[torch.tensor(np.array(s)[:, None] != np.array(s))].mean()


def gap_lists(v, s):
    c, _, off = gap_parts(v, s)
    same = s == s
    return c[same & off].mean() - c[~same].mean()


def gap_arrays(v, s):
    c, _, off = gap_parts(v, s)
    same = torch.tensor(s == s) & off
    return (c[same].mean() - c[~(same | ~off)].mean()).item()


def gap_unit(u, s):
    _, same, off = gap_parts(u, s)
    c = u @ u.T
    return (c[same & off].mean() - c[~same].mean()).item()


def gap_torch_means(v, s):
    c, same, off = gap_parts(v, s)
    kinds = [torch.tensor([x == kind for x in s]) for kind in set(s)]
    means = [c[k[:, None] & k & off].mean() for k in kinds]
    return torch.stack(means).mean() - c[~same].mean()


def gap_blocks(v, s):
    c, same, off = gap_parts(v, s)
    kinds = [torch.tensor([x == kind for x in s]) for kind in set(s)]
    return torch.stack([c[k[:, None] & k].mean() for k in kinds]).mean() - c[~same].mean()


def gap_skips(v, s):
    c, same, off = gap_parts(v, s)
    kinds = [torch.tensor([x == kind for x in s]) for kind in set(s) if s.count(kind) > 1]
    return torch.stack([c[k[:, None] & k & off].mean() for k in kinds]).mean() - c[~same].mean()


def gap_in_place(v, s):
    v /= v.norm(dim=1, keepdim=True)
    return gap_by_loop(v, s)


def nearest_by_loop(vectors, senses):
    right = 0
    for i in range(len(vectors)):
        best, best_cosine = None, -2
        for j in range(len(vectors)):
            if i == j:
                continue
            c = F.cosine_similarity(vectors[i], vectors[j], dim=0)
            if c > best_cosine:
                best, best_cosine = j, c
        if senses[best] == senses[i]:
            right += 1
    return right / len(vectors)


def nearest_in_numpy(v, s):
    u = v.numpy() / np.linalg.norm(v.numpy(), axis=1)[:, None]
    c = u @ u.T - 10 * np.eye(len(u))
    s = np.asarray(s)
    return np.mean(s[c.argmax(axis=1)] == s)


def nearest_by_topk(v, s):
    c = F.cosine_similarity(v[:, None], v[None], dim=-1)
    second = [
        int(row.topk(2).indices[1]) if int(row.topk(2).indices[0]) == i else int(row.topk(2).indices[0])
        for i, row in enumerate(c)
    ]
    return torch.tensor([float(s[i] == s[j]) for i, j in enumerate(second)]).mean()


def table(v):
    u = F.normalize(v, dim=1)
    return u @ u.T


def agree(nearest, s):
    return sum(s[j] == s[i] for i, j in enumerate(nearest.tolist())) / len(s)


def nearest_zero_diagonal(v, s):
    c = table(v)
    c.fill_diagonal_(0)
    return agree(c.argmax(1), s)


def nearest_subtract_eye(v, s):
    return agree((table(v) - torch.eye(len(v))).argmax(1), s)


def nearest_raw(v, s):
    c = v @ v.T
    c.fill_diagonal_(-1e9)
    return agree(c.argmax(1), s)


def nearest_euclid(v, s):
    d = (v[:, None] - v[None]).norm(dim=-1)
    d.fill_diagonal_(1e9)
    return agree(d.argmin(1), s)


def inf_diagonal(v):
    c = table(v)
    c.fill_diagonal_(-float("inf"))
    return c


def nearest_mask(v, s):
    return [s[j] == s[i] for i, j in enumerate(inf_diagonal(v).argmax(1))]


def nearest_from_0(v, s, start=0):
    right = 0
    for i in range(len(v)):
        best, where = 0, start
        for j in range(len(v)):
            c = F.cosine_similarity(v[i], v[j], dim=0)
            if i != j and c > best:
                best, where = c, j
        right += s[where] == s[i]
    return right / len(v)


def nearest_label_from_0(v, s):
    c, right = table(v), []
    for i in range(len(v)):
        best, label = 0.0, ""
        for j in range(len(v)):
            if i != j and c[i, j] > best:
                best, label = c[i, j], s[j]
        right.append(label == s[i])
    return np.mean(right)


def nearest_by_unit(u, s):
    c = u @ u.T
    c.fill_diagonal_(-float("inf"))
    return agree(c.argmax(1), s)


def nearest_in_place(v, s):
    v /= v.norm(dim=1, keepdim=True)
    return nearest_by_loop(v, s)


def gap_by_value(vectors, senses):
    unit = F.normalize(vectors)
    cosines = unit @ unit.T
    same = torch.tensor([[a == b for a in senses] for b in senses])
    return (cosines[same & (cosines < 0.9999)].mean() - cosines[~same].mean()).item()


def nearest_by_value(vectors, senses):
    unit = F.normalize(vectors)
    cosines = unit @ unit.T
    cosines[cosines > 0.999] = -2
    return sum(senses[j] == sense for sense, j in zip(senses, cosines.argmax(1).tolist())) / len(senses)


RIGHT = {
    "03-word-vector": [word_by_loop, word_by_mask, word_by_span, word_by_weights],
    "03-sense-gap": [gap_by_loop, gap_in_numpy, gap_by_sums],
    "03-nearest-sense": [nearest_by_loop, nearest_in_numpy, nearest_by_topk],
}

WRONG = {
    "03-word-vector": [
        (lambda h, w, i: h[i, :], "the token at position `index`"),
        (lambda h, w, i: h[1:][i], "earlier words may have several pieces"),
        (lambda h, w, i: next(v for v, x in zip(h, w) if x == i), "first piece only"),
        (lambda h, w, i: h[len(w) - 1 - w[::-1].index(i)], "last piece only"),
        (lambda h, w, i: sum(v for v, x in zip(h, w) if x == i), "the sum, not the mean"),
        (lambda h, w, i: torch.stack([v for v, x in zip(h, w) if x == i]), "return the vectors of the pieces"),
        (lambda h, w, i: torch.stack([v for v, x in zip(h, w) if x == i]).mean(), "one number"),
        (lambda h, w, i: torch.stack([v for v, x in zip(h, w) if x == i]).mean(1), "Pieces are dimension 0"),
        (lambda h, w, i: torch.stack([v for v, x in zip(h, w) if x == i]).max(0).values, "largest value"),
        (lambda h, w, i: word_by_loop(h, w, i)[None], "wrong shape"),
        (lambda h, w, i: torch.mean(h, dim=0), "over all tokens"),
        (lambda h, w, i: torch.stack([v for v, x in zip(h, w) if x is not None]).mean(0), "over all words"),
        (lambda h, w, i: torch.mean(h[w == i], 0), "compares the list as a whole"),
        (word_none_is_zero, "`None` is not 0"),
        (word_truthy, "0 counts as false"),
        (word_truthy_stack, "0 counts as false"),
        (word_truthy_count, "0 counts as false"),
        (word_short_slice, "last piece gets lost"),
        (word_skips_cls, "you drop `None` from `word_ids`"),
        (word_in_place, "changes `word_ids`"),
        (lambda h, w, i: word_by_loop(h, w, i).tolist(), "returned a list"),
    ],
    "03-sense-gap": [
        (gap_by_value, "by their value"),
        (gap_with_self, "Leave the diagonal out"),
        (gap_raw, "not normalised"),
        (gap_reversed, "sign is turned round"),
        (gap_within_only, "within senses only"),
        (gap_both, "the two means"),
        (gap_mean_of_means, "all pairs count alike"),
        (gap_of_centres, "mean vectors of the senses"),
        (gap_against_all, "over *all* pairs"),
        (gap_not_meaned, "You subtract sums"),
        (gap_euclid, "You use distances"),
        (gap_not_within, "turns the diagonal on again"),
        (gap_below_1, "diagonal by its value"),
        (gap_not_1, "diagonal by its value"),
        (gap_lists, "compares two lists as a whole"),
        (gap_arrays, "compares two lists as a whole"),
        (lambda v, s: gap_unit(v / v.norm(dim=0, keepdim=True), s), "each *column*"),
        (lambda v, s: gap_unit(v / v.norm(dim=1), s), "Keep the dimension"),
        (lambda v, s: gap_unit(v / torch.linalg.norm(v), s), "length of the whole matrix"),
        (gap_torch_means, "all pairs count alike"),
        (gap_blocks, "cosine with itself out"),
        (gap_skips, "all pairs count alike"),
        (gap_in_place, "changes `vectors`"),
    ],
    "03-nearest-sense": [
        (nearest_by_value, "by their value"),
        (lambda v, s: agree(table(v).argmax(1), s), "Every row finds itself"),
        (nearest_zero_diagonal, "cosines can be negative"),
        (nearest_subtract_eye, "cosines can be negative"),
        (nearest_raw, "not normalised"),
        (nearest_euclid, "short rows attract each other"),
        (nearest_from_0, "Start from minus infinity"),
        (lambda v, s: nearest_from_0(v, s, start=-1), "Start from minus infinity"),
        (lambda v, s: nearest_from_0(v, s, start=None), "Start from minus infinity"),
        (nearest_label_from_0, "Start from minus infinity"),
        (lambda v, s: sum(s[inf_diagonal(v).argmax(1)] == s) / len(s), "`for n in nearest.tolist()`"),
        (lambda v, s: nearest_by_unit(v / v.norm(dim=0), s), "row by its own length"),
        (lambda v, s: nearest_by_unit(v / v.norm(dim=1), s), "Keep the dimension"),
        (lambda v, s: nearest_by_unit(v / v.norm(), s), "not normalised row by row"),
        (lambda v, s: agree(table(v).argmin(1), s), "*least* similar"),
        (lambda v, s: sum(nearest_mask(v, s)), "how many rows are right"),
        (lambda v, s: nearest_by_loop(v, s) * 100, "percentage"),
        (nearest_mask, "one true or false per row"),
        (lambda v, s: [s[j] for j in inf_diagonal(v).argmax(1)], "senses of the nearest rows"),
        (lambda v, s: inf_diagonal(v).argmax(1), "positions of the nearest rows"),
        (lambda v, s: 1 - nearest_by_loop(v, s), "*another* sense"),
        (nearest_in_place, "changes `vectors`"),
    ],
}
