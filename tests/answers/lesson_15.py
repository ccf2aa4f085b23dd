"""Right and wrong answers to the exercises of lesson 15."""

import math
import statistics

import numpy as np
import torch
import torch.nn.functional as F


def distil_plain(ids, table, counts, a):
    rows = table * (a / (a + counts / counts.sum()))[:, None]
    found = np.zeros((len(ids), table.shape[1]))
    for at, one in enumerate(ids):
        if len(one):
            mean = rows[one].mean(axis=0)
            found[at] = mean / np.linalg.norm(mean)
    return found


def distil_by_counting(ids, table, counts, a):
    """Texts as rows of counts, and one matrix product."""
    bags = np.array([np.bincount(np.array(one, dtype=int), minlength=len(table)) for one in ids])
    summed = bags @ (table * (a * counts.sum() / (a * counts.sum() + counts))[:, None])
    return summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-32)


def distil_in_torch(ids, table, counts, a):
    shares = torch.tensor(counts / counts.sum(), dtype=torch.float32)
    rows = torch.tensor(table, dtype=torch.float32) * (a / (a + shares)).unsqueeze(1)
    summed = torch.stack([rows[torch.tensor(one, dtype=torch.long)].sum(dim=0) for one in ids])
    return torch.nn.functional.normalize(summed, dim=1)


def distil_in_plain_python(ids, table, counts, a):
    total, rows, found = sum(counts.tolist()), table.tolist(), []
    for one in ids:
        vector = [sum(rows[i][k] * a / (a + counts[i] / total) for i in one) for k in range(len(rows[0]))]
        length = sum(x * x for x in vector) ** 0.5 or 1
        found.append([float(x / length) for x in vector])
    return found


def distil_once(ids, table, counts, a):
    return distil_plain([sorted(set(one)) for one in ids], table, counts, a)


def last_flipped(h, m):
    """Counted from the end."""
    return h[torch.arange(len(h)), h.shape[1] - 1 - m.flip(1).argmax(1)]


def last_of_the_card(h, m):
    """As model cards of decoders have it: one question to the whole batch."""
    if m[:, -1].sum() == len(m):
        return h[:, -1]
    return h[torch.arange(len(h)), m.sum(dim=1) - 1]


def last_in_lists(h, m):
    rows = zip(h.tolist(), m.tolist())
    return [[vector for vector, real in zip(vectors, marks) if real][-1] for vectors, marks in rows]


def last_by_product(h, m):
    """The mask, less itself without its last 1: one row of it times the vectors, in float32."""
    from_here = m.flip(1).cumsum(1).flip(1)
    return torch.einsum("bt,bth->bh", ((from_here == 1) & (m == 1)).float(), h.float())


def last_before_the_first_zero(h, m):
    """-1, the last, where the first zero is at 0 or there is none."""
    return h[torch.arange(len(h)), m.argmin(dim=1) - 1]


def last_nonzero(h, m):
    there = (h.abs().sum(-1) * m > 0).long()
    return last_flipped(h, there)


def late_looped(last_hidden_state, special, spans):
    vectors = []
    for start, end in spans:
        real = special[start:end] == 0
        vectors.append(last_hidden_state[start:end][real].mean(dim=0))
    vectors = torch.stack(vectors)
    return vectors / vectors.norm(dim=-1, keepdim=True)


def late_as_product(last_hidden_state, special, spans):
    """A matrix of weights, a row for each chunk; the sum has the direction of the mean."""
    weights = torch.zeros(len(spans), len(special))
    for row, (start, end) in enumerate(spans):
        weights[row, start:end] = (1 - special[start:end]).float()
    return torch.nn.functional.normalize(weights @ last_hidden_state, dim=1)


def late_in_plain_python(last_hidden_state, special, spans):
    rows, skip, found = last_hidden_state.tolist(), special.tolist(), []
    for start, end in spans:
        kept = [rows[at] for at in range(start, end) if not skip[at]]
        mean = [sum(column) / len(kept) for column in zip(*kept)]
        length = sum(x * x for x in mean) ** 0.5
        found.append([x / length for x in mean])
    return found


def late_by_running_sums(last_hidden_state, special, spans):
    """Differences of running sums, in NumPy."""
    real = last_hidden_state.numpy().astype(np.float64) * (special.numpy() == 0)[:, None]
    sums = np.concatenate([np.zeros((1, real.shape[1])), real.cumsum(axis=0)])
    vectors = np.stack([sums[end] - sums[start] for start, end in spans])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def late_squeezed(*args):
    return late_looped(*args).squeeze(0)


def late_sorted(last_hidden_state, special, spans):
    return late_looped(last_hidden_state, special, sorted(spans))


def late_last_is_sep(last_hidden_state, special, spans):
    """Leaves out the first and the last position of the pass only."""
    special = torch.zeros_like(special)
    special[[0, -1]] = 1
    return late_looped(last_hidden_state, special, spans)


def weat(x, y, a, b):
    x, y, a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y, a, b))
    of_x, of_y = ((rows @ a.T).mean(axis=1) - (rows @ b.T).mean(axis=1) for rows in (x, y))
    return (of_x.mean() - of_y.mean()) / np.concatenate([of_x, of_y]).std()


def weat_in_plain_python(x, y, a, b):
    def cosine(u, v):
        return sum(p * q for p, q in zip(u, v)) / math.hypot(*u) / math.hypot(*v)

    def association(w):
        return statistics.fmean(cosine(w, v) for v in a) - statistics.fmean(cosine(w, v) for v in b)

    x, y, a, b = (rows.tolist() for rows in (x, y, a, b))
    of_x, of_y = [association(w) for w in x], [association(w) for w in y]
    return (statistics.fmean(of_x) - statistics.fmean(of_y)) / statistics.pstdev(of_x + of_y)


def weat_in_torch(x, y, a, b):
    x, y, a, b = (torch.nn.functional.normalize(torch.tensor(rows, dtype=torch.float32)) for rows in (x, y, a, b))
    both = torch.cat([x, y]) @ (a.mean(dim=0) - b.mean(dim=0))
    return (both[: len(x)].mean() - both[len(x) :].mean()) / both.std(correction=0)


def weat_from_variances(x, y, a, b):
    """The spread of all by the spread within the lists and the one between them."""

    def associations(rows):
        near = [rows @ v / np.linalg.norm(rows, axis=1) / np.linalg.norm(v) for v in (*a, *b)]
        return np.average(near[: len(a)], axis=0) - np.average(near[len(a) :], axis=0)

    s, t = associations(x), associations(y)
    n, m, apart = len(s), len(t), s.mean() - t.mean()
    return apart / math.sqrt((n * s.var() + m * t.var()) / (n + m) + n * m * apart**2 / (n + m) ** 2)


def weat_sample(x, y, a, b):
    """As SciPy's tests do it, with n - 1."""
    return weat(x, y, a, b) * math.sqrt((len(x) + len(y) - 1) / (len(x) + len(y)))


RIGHT = {
    "15-distil": [distil_plain, distil_by_counting, distil_in_torch, distil_in_plain_python],
    "15-last-token": [last_flipped, last_of_the_card, last_in_lists, last_by_product, last_before_the_first_zero],
    "15-late-chunks": [late_looped, late_as_product, late_in_plain_python, late_by_running_sums],
    "15-weat": [weat, weat_in_plain_python, weat_in_torch, weat_from_variances],
}


WRONG = {
    "15-distil": [(distil_once, "One that occurs twice counts twice")],
    "15-last-token": [
        (lambda h, m: h[:, -1, :], "the vector of a [PAD]"),
        (lambda h, m: h[range(len(h)), m.sum(1) - 1], "do not begin at position 0"),
    ],
    "15-late-chunks": [
        (lambda h, special, spans: torch.stack([h[a:z].mean(dim=0) for a, z in spans]), "[CLS], [SEP] and padding too")
    ],
    "15-weat": [(weat_sample, "Divide by their number")],
}


PROMISES = {
    "15-distil": [
        ("an array (n, d)", lambda *args: distil_plain(*args).squeeze()),
        ("at least one of the counts is above 0", lambda i, t, c, a: distil_plain(i, t, np.maximum(c, 40), a)),
        ("its share of all counts", lambda i, t, c, a: distil_plain(i, t, c**0.5, a)),
        ("All zeros if it has no tokens", lambda *args: np.where(distil_plain(*args) == 0, 1.0, distil_plain(*args))),
    ],
    "15-last-token": [
        ("stands on the right", lambda h, m: h[:, -1], "the vector of a [PAD]"),
        ("on the left", lambda h, m: h[torch.arange(len(h)), m.sum(1) - 1], "do not begin at position 0"),
        ("a text may have none", lambda h, m: h[:, -1] if m[0, -1] == 1 else last_of_the_card(h, m), "One row decides"),
        ("even if it holds zeros", last_nonzero, "only the mask says what is real"),
        ("as it is", lambda h, m: F.normalize(last_flipped(h, m)), "length 1"),
        ("(batch, hidden)", lambda h, m: last_flipped(h, m).squeeze(0)),
    ],
    "15-late-chunks": [
        ("leave out every position where `special` is 1", late_last_is_sep),
        ("Spans may overlap, leave tokens out and come in any order", late_sorted),
        ("one vector for each span, in the order of `spans`", late_sorted),
        ("a tensor (spans, hidden)", late_squeezed),
    ],
    "15-weat": [
        ("dividing by their number", weat_sample, "Divide by their number"),
        ("The four lists need not be equally long", lambda x, y, a, b: weat(x[: len(y)], y[: len(x)], a, b)),
        ("The four lists need not be equally long", lambda x, y, a, b: weat(x, y, a[: len(b)], b[: len(a)])),
        ("Rows need not have length 1", lambda x, y, a, b: weat(x, y, a, b) * np.linalg.norm(a[0])),
        ("Return a number", lambda *lists: [weat(*lists)]),
    ],
}
