"""Exercises of lesson 00: a first check, and similarity by hand."""

import numpy as np

from .framework import Case, Exercise, Mistake, difference, normal


def _similarity(rng, n):
    vectors = normal(rng, n, 12).numpy()
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def _nearest(similarity, i):
    return max((j for j in range(len(similarity)) if j != i), key=lambda j: similarity[i][j])


def _nearest_cases(rng):
    """Tables whose best, second best and worst partners lie on both sides of i."""
    cases = []
    for size in (6, 8):
        table = _similarity(rng, size)
        for i in range(size):
            cases.append(Case("The nearest other sentence, whichever row is asked for", (table, i)))
    low = (_similarity(rng, 6) + 1) * 0.4 - 0.9  # between -0.9 and -0.1
    np.fill_diagonal(low, 1.0)
    twice = _similarity(rng, 5)[[0, 0, 1, 2, 3, 4]][:, [0, 0, 1, 2, 3, 4]]
    return [
        *cases,
        *(Case("All similarities but the diagonal are negative", (low, i)) for i in range(6)),
        *(
            Case("Two sentences", (np.array([[1.0, cosine], [cosine, 1.0]]), i))
            for cosine in (-1.0, 0.4)
            for i in (0, 1)
        ),
        *(Case("A sentence that is there twice is nearest to its copy", (twice, i)) for i in (0, 1)),
    ]


NEAREST = Exercise(
    id="00-nearest",
    title="The nearest sentence",
    arguments=("similarity", "i"),
    cases=_nearest_cases,
    reference=_nearest,
    minutes=5,
    difficulty=1,
    mistakes=(
        Mistake(
            "Your function finds sentence `i` itself. Each sentence is most similar to itself, so `i` must be left "
            "out.",
            lambda s, i: int(s[i].argmax()),
        ),
        Mistake(
            "You return the similarity. The position of the sentence is asked for.",
            lambda s, i: float(np.delete(s[i], i).max()),
        ),
        Mistake(
            "You return the similarity. The position of the sentence is asked for.",
            lambda s, i: float(np.sort(s[i])[-2]),
        ),
        Mistake(
            "You return the similarity of sentence `i` to itself. The position of the nearest *other* sentence is "
            "asked for.",
            lambda s, i: float(s[i].max()),
        ),
        Mistake(
            "You compare the similarities without their signs, so the most opposed sentence can win. The most similar "
            "one has the highest cosine.",
            lambda s, i: int(np.where(np.arange(len(s)) == i, -1, np.abs(s[i])).argmax()),
        ),
        Mistake(
            "You leave sentence `i` out, and then all positions behind it are one too small. Keep the original "
            "positions.",
            lambda s, i: int(np.delete(s[i], i).argmax()),
        ),
        Mistake(
            "You return the least similar sentence. The largest similarity is the nearest.",
            lambda s, i: int(s[i].argmin()),
        ),
        Mistake(
            "You search the whole table. Only row `i` holds the similarities of sentence `i`.",
            lambda s, i: int(s.argmax()),
        ),
        Mistake(
            "Where all others are negative, the 0 that you put in place of `i` still wins. Leave `i` out, or put "
            "minus infinity there.",
            lambda s, i: int(np.where(np.arange(len(s)) == i, 0, s[i]).argmax()),
        ),
        Mistake(
            "A cosine may be −1, and then the −1 that you put in place of `i` is as large as the others. Leave `i` "
            "out, or put minus infinity there.",
            lambda s, i: int(np.where(np.arange(len(s)) == i, -1, s[i]).argmax()),
        ),
        Mistake(
            "You take the second largest of the whole row. If a sentence is there twice, the largest two are "
            "equal, and the one you take may be `i` itself. Leave `i` out first.",
            lambda s, i: int(np.argsort(s[i])[-2]),
        ),
        Mistake(
            "You leave out everything as similar as `i` to itself, so a copy of the sentence is left out too. Leave "
            "out the position `i`, not the value 1.",
            lambda s, i: int(np.where(s[i] > 0.999, -2, s[i]).argmax()),
        ),
        Mistake(
            "You return the second best of the other sentences. Is `i` left out twice?",
            lambda s, i: int(np.argsort(s[i])[-3]),
        ),
        Mistake("You return all positions in order. One position is asked for.", lambda s, i: np.argsort(-s[i])),
    ),
    hints=(
        "Row `similarity[i]` holds the similarities of sentence `i` to all sentences. At which position is it "
        "compared with itself?",
        "Go through all positions `j` except `i`, and keep the one with the largest `similarity[i, j]`.",
    ),
)


def _others(similarity, i):
    return np.delete(similarity[i], i)


def _odd(similarity, pick=np.argmin, summary=np.mean):
    return int(pick([summary(_others(similarity, i)) for i in range(len(similarity))]))


def _odd_cases(rng):
    def ring(n, odd):
        """Sentence `odd` is far from all others, and not the one with the lowest single similarity."""
        table = 0.5 + 0.1 * _similarity(rng, n)
        table[odd] = table[:, odd] = 0.2
        far = [i for i in range(n) if i != odd][:2]
        table[far[0], far[1]] = table[far[1], far[0]] = 0.05  # the lowest, of two that fit otherwise
        np.fill_diagonal(table, 1.0)
        return table

    n = rng.randint(6, 8)
    unequal = ring(n, 2)
    unequal[np.diag_indices(n)] = [np.nan, 9.0, np.nan, -9.0, *[9.0] * (n - 4)]
    tied = ring(n, 4)
    tied[[1, 4]], tied[:, [1, 4]] = 0.25, 0.25  # sums of quarters are exact in any order
    np.fill_diagonal(tied, 1.0)
    lowest = np.full((n, n), 0.5)  # 0 and 1 are far from each other, and 0 fits a little less to the rest
    lowest[0, 1] = lowest[1, 0] = -0.9
    lowest[0, 2:] = lowest[2:, 0] = 0.47
    lowest[n - 1, 1:-1] = lowest[1:-1, n - 1] = 0.42  # the lowest median
    np.fill_diagonal(lowest, 1.0)
    three = np.array([[1.0, 0.9, 0.3], [0.9, 1.0, 0.4], [0.3, 0.4, 1.0]])
    order = rng.sample(range(3), 3)
    return [
        *(
            Case("The lowest mean similarity to the others", (ring(n, odd),))
            for odd in (0, rng.randint(2, n - 2), n - 1)
        ),
        Case("A single very low similarity lowers the mean", (lowest,)),
        Case("The diagonal does not count", (unequal,)),
        Case("All similarities may be negative", (ring(n, 1) - 1.5,)),
        Case("Of two equally odd sentences, the first", (tied,)),
        Case("Three sentences", (three[order][:, order],)),
    ]


ODD = Exercise(
    id="00-odd-one-out",
    title="The odd one out",
    arguments=("similarity",),
    cases=_odd_cases,
    reference=_odd,
    minutes=8,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "The diagonal is in your sums. It may hold anything, even NaN, which stays NaN if you subtract it or "
            "multiply it by 0. Add up the other positions only.",
            lambda s: int((s.sum(axis=1) - s.diagonal()).argmin()),
        ),
        Mistake(
            "You leave out certain values, and the diagonal may hold any others. Leave out its position.",
            lambda s: int(np.argmin([row[row < 0.999].mean() for row in s])),
        ),
        Mistake(
            "You return the sentence that fits best. The odd one has the *lowest* mean similarity.",
            lambda s: _odd(s, pick=np.argmax),
        ),
        Mistake(
            "You look for the lowest single similarity. Two sentences may be far from each other and near to all the "
            "rest; take the mean of each row.",
            lambda s: int(np.where(np.eye(len(s)) == 1, np.inf, s).min(axis=1).argmin()),
        ),
        Mistake(
            "You return the place in the whole table, counted through all rows. One position of a sentence is asked "
            "for.",
            lambda s: int(s.argmin()),
        ),
        Mistake(
            "You return the mean similarity. The position of the sentence is asked for.",
            lambda s: float(min(_others(s, i).mean() for i in range(len(s)))),
        ),
        Mistake(
            "You return the mean similarities of all sentences. The position of the lowest is asked for.",
            lambda s: [float(_others(s, i).mean()) for i in range(len(s))],
        ),
        Mistake(
            "Where two sentences share the lowest mean, you return the second of them.",
            lambda s: len(s) - 1 - int(np.argmin([_others(s, i).mean() for i in range(len(s))][::-1])),
        ),
    ),
    hints=(
        "For sentence `i`, which numbers of row `i` compare it with another sentence?",
        "Compute one mean for each row, without the position on the diagonal, and return the position of the lowest. "
        "`argmin` and `list.index` both return the first of equals.",
    ),
)


def _table(rng, rows, columns):
    return normal(rng, rows, columns).abs() + 0.1


SHARES = Exercise(
    id="00-shares",
    title="Shares",
    arguments=("table",),
    cases=lambda rng: [
        Case("Each row adds up to 1", (_table(rng, 3, 5),)),
        Case("More rows than columns", (_table(rng, 6, 2),)),
        Case("As many rows as columns", (_table(rng, 4, 4),)),
        Case("One row", (_table(rng, 1, 4),)),
        Case("One column", (_table(rng, 3, 1),)),
    ],
    reference=lambda table: table / table.sum(dim=1, keepdim=True),
    minutes=5,
    difficulty=1,
    mistakes=(
        Mistake(
            "The sums have lost their dimension: (rows,) is lined up with the columns. Use `keepdim=True`, or "
            "`unsqueeze(-1)`.",
            lambda t: t / t.sum(dim=1),
        ),
        Mistake(
            "You divide by the sums of the columns. `dim` names the dimension that disappears: for one sum per row, "
            "the columns disappear, `dim=1`.",
            lambda t: t / t.sum(dim=0),
        ),
        Mistake("You divide by the sum of the whole table. Each row has its own sum.", lambda t: t / t.sum()),
        Mistake("You return the sums. Divide the table by them.", lambda t: t.sum(dim=1)),
        Mistake("You return the sums. Divide the table by them.", lambda t: t.sum(dim=1, keepdim=True)),
        Mistake(
            "You divide by the largest number of each row. Then that number is 1, and the row adds up to more.",
            lambda t: t / t.amax(dim=1, keepdim=True),
        ),
        Mistake(
            "This is `softmax`, which takes the exponential of each number first. Here the numbers themselves are "
            "divided.",
            lambda t: t.softmax(dim=1),
        ),
    ),
    hints=(
        "What shape has one sum per row, and what shape must it have to divide a table of (rows, columns)?",
        "`table.sum(dim=1, keepdim=True)` has the shape (rows, 1).",
    ),
)


def _factor_cases(rng):
    def case(label, sentences, words, numbers):
        return Case(label, (normal(rng, sentences, words, numbers), normal(rng, sentences, words)))

    vectors, factors = normal(rng, 2, 4, 3), normal(rng, 2, 4)
    factors[0, 1], factors[1] = 0.0, 0.0
    return [
        case("Three different sizes", 2, 5, 3),
        case("As many words as numbers", 2, 4, 4),
        case("As many sentences as words", 3, 3, 5),
        case("As many sentences as numbers", 3, 4, 3),
        case("All three sizes equal", 3, 3, 3),
        case("One sentence of one word", 1, 1, 4),
        Case("Factors of 0", (vectors, factors)),
    ]


WEIGHTED = Exercise(
    id="00-weighted-sum",
    title="One factor for each word",
    arguments=("vectors", "factors"),
    cases=_factor_cases,
    reference=lambda v, w: (v * w.unsqueeze(-1)).sum(dim=1),
    minutes=6,
    difficulty=2,
    mistakes=(
        Mistake(
            "The factors are lined up with the numbers inside a vector, not with the words: broadcasting starts at "
            "the "
            "right. Give them a last dimension of size 1 with `unsqueeze(-1)`.",
            lambda v, w: (v * w).sum(dim=1),
        ),
        Mistake(
            "`unsqueeze(1)` puts the new dimension in the middle, so the factors are lined up with the numbers "
            "inside a "
            "vector. The new dimension belongs last: `unsqueeze(-1)`.",
            lambda v, w: (v * w.unsqueeze(1)).sum(dim=1),
        ),
        Mistake(
            "You multiply but do not add up over the words: the result still has three dimensions.",
            lambda v, w: v * w.unsqueeze(-1),
        ),
        Mistake(
            "You add up the numbers inside each vector. Words are dimension 1.",
            lambda v, w: (v * w.unsqueeze(-1)).sum(dim=-1),
        ),
        Mistake("You add up over the sentences. Words are dimension 1.", lambda v, w: (v * w.unsqueeze(-1)).sum(dim=0)),
        Mistake(
            "This is the weighted *mean*: you divide by the sum of the factors, which may even be 0. The sum is "
            "asked for.",
            lambda v, w: (v * w.unsqueeze(-1)).sum(dim=1) / w.sum(dim=1, keepdim=True),
        ),
        Mistake(
            "You take the mean over the words. The sum is asked for.", lambda v, w: (v * w.unsqueeze(-1)).mean(dim=1)
        ),
        Mistake(
            "Negative factors count as 0 in your function. They count as they are.",
            lambda v, w: (v * w.clamp(min=0).unsqueeze(-1)).sum(dim=1),
        ),
        Mistake(
            "You take the factors without their signs. Negative ones count as they are.",
            lambda v, w: (v * w.abs().unsqueeze(-1)).sum(dim=1),
        ),
        Mistake("You add the factors instead of multiplying by them.", lambda v, w: (v + w.unsqueeze(-1)).sum(dim=1)),
    ),
    hints=(
        "A factor belongs to a whole vector. Which shape must the factors have so that PyTorch repeats each one over "
        "the numbers of its vector?",
        "`factors.unsqueeze(-1)` has the shape (sentences, words, 1). After the product, words are dimension 1.",
    ),
)


def _kept_cases(rng):
    import torch

    def keep(rows, columns):
        mask = torch.tensor([[rng.randint(0, 1) for _ in range(columns)] for _ in range(rows)])
        mask[0, 0], mask[-1, -1] = 1, 0
        return mask

    table, mask = normal(rng, 3, 5), keep(3, 5)
    unequal = torch.tensor([[1, 0, 0, 0], [1, 1, 1, 0]])  # the mean of the rows' means is another number
    spoilt = normal(rng, 3, 4)
    spoiling = keep(3, 4)
    spoilt[spoiling == 0] = float("nan")
    endless = normal(rng, 2, 4).masked_fill(unequal == 0, float("inf"))
    zero = normal(rng, 2, 3)
    zero[0] = 0.0
    whole = torch.tensor([[rng.randint(1, 9) for _ in range(4)] for _ in range(2)])
    whole[0, 0], whole[1, :3] = 3, torch.tensor([1, 2, 4])
    single = torch.zeros(3, 4, dtype=torch.int64)
    single[1, 2] = 1
    return [
        Case("Only the kept numbers count", (table, mask)),
        Case("Rows that keep different numbers of values", (normal(rng, 2, 4), unequal)),
        Case("As many rows as columns", (normal(rng, 3, 3), keep(3, 3))),
        Case("A table of integers", (whole, unequal)),
        Case("A kept 0 counts like any other number", (zero, torch.tensor([[1, 1, 0], [1, 0, 1]]))),
        Case("NaN where `keep` holds 0", (spoilt, spoiling)),
        Case("Infinity where `keep` holds 0", (endless, unequal)),
        Case("A single 1", (normal(rng, 3, 4), single)),
        Case("All kept", (table, torch.ones_like(mask))),
    ]


def _kept_mean(table, keep):
    return table[keep == 1].float().mean().item()


def _judge_kept(args, outcome):
    if type(outcome).__name__ == "Tensor":
        return "your function returned a Tensor where one Python number is asked for: `.item()` takes it out"
    return difference(outcome, _kept_mean(*args))


KEPT = Exercise(
    id="00-kept-mean",
    title="The mean of what is kept",
    arguments=("table", "keep"),
    cases=_kept_cases,
    reference=_kept_mean,
    judge=_judge_kept,
    minutes=6,
    difficulty=2,
    mistakes=(
        Mistake(
            "`keep` holds integers, and integers in the brackets are positions of rows. Compare first: `table[keep "
            "== 1]`.",
            lambda t, k: t[k].float().mean().item(),
        ),
        Mistake(
            "The mask is upside down: you average the numbers where `keep` holds 0.",
            lambda t, k: t[k == 0].float().mean().item(),
        ),
        Mistake(
            "You average the whole table. Choose the numbers where `keep` holds 1 first.",
            lambda t, k: t.float().mean().item(),
        ),
        Mistake(
            "You multiply by `keep`. NaN times 0 is NaN, and so is infinity times 0. Choose with `keep == 1` instead.",
            lambda t, k: ((t * k).sum() / k.sum()).item(),
        ),
        Mistake(
            "You take the mean of each row first, and then the mean of these. A row that keeps one number then "
            "counts as "
            "much as a row that keeps four.",
            lambda t, k: float(
                np.mean([row[kept == 1].float().mean().item() for row, kept in zip(t, k) if (kept == 1).any()])
            ),
        ),
        Mistake(
            "All cells are in your count, also those where `keep` holds 0. Divide by the number of those that are "
            "kept.",
            lambda t, k: (t[k == 1].float().sum() / k.numel()).item(),
        ),
        Mistake(
            "`mean` needs decimals, and a table of integers has none. Convert with `.float()` first.",
            lambda t, k: t[k == 1].mean().item(),
        ),
        Mistake(
            "You return the sum. Divide by the number of what is kept.", lambda t, k: t[k == 1].float().sum().item()
        ),
    ),
    hints=(
        "`keep == 1` is a tensor of true and false. In the brackets of `table` it chooses.",
        "`.float()` turns integers into decimals, `.mean()` returns a tensor, and `.item()` takes the number out.",
    ),
)

EXERCISES = (NEAREST, ODD, SHARES, WEIGHTED, KEPT)
