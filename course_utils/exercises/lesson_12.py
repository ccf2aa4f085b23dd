"""Exercises of lesson 12, search."""

from math import log2

from .framework import Case, Exercise, Mistake


def _score_cases(rng):
    mean, k1, b = rng.uniform(80, 120), rng.uniform(1.1, 1.9), rng.uniform(0.5, 0.9)
    return [
        Case("A text of mean length", (rng.randint(2, 6), mean, mean, k1, b)),
        Case("A long text", (rng.randint(2, 6), mean * rng.uniform(2, 4), mean, k1, b)),
        Case("A short text", (rng.randint(2, 6), mean * rng.uniform(0.2, 0.6), mean, k1, b)),
        Case("The text does not have the word", (0, mean * rng.uniform(1.2, 2), mean, k1, b)),
        Case("The word comes many times", (rng.randint(60, 90), mean * 1.5, mean, k1, b)),
        Case("With b = 0, the length does not count", (rng.randint(2, 6), mean * 3, mean, k1, 0.0)),
        Case("With b = 1, it counts in full", (rng.randint(2, 6), mean * 3, mean, k1, 1.0)),
        Case("With k1 = 0, and a text that does not have the word", (0, mean, mean, 0.0, b)),
        Case("With k1 = 0, once is as good as often", (rng.randint(2, 6), mean * 2, mean, 0.0, b)),
    ]


def _score(count, length, mean_length, k1, b):
    return count / (count + k1 * (1 - b + b * length / mean_length)) if count else 0.0


SCORE = Exercise(
    id="12-word-score",
    title="What a word is worth in a text",
    arguments=("count", "length", "mean_length", "k1", "b"),
    cases=_score_cases,
    reference=_score,
    minutes=8,
    difficulty=1,
    points=2,
    mistakes=(
        Mistake("The length of the text is missing. Multiply k1 by 1 - b + b * length / mean_length.",
                lambda f, n, m, k, b: f / (f + k) if f else 0.0),
        Mistake("The length counts in full, whatever b is. b mixes 1 and length / mean_length: 1 - b + b * ratio.",
                lambda f, n, m, k, b: f / (f + k * n / m) if f else 0.0),
        Mistake("The ratio of lengths is upside down. A long text has the larger denominator: length / mean_length.",
                lambda f, n, m, k, b: f / (f + k * (1 - b + b * m / n)) if f else 0.0),
        Mistake("b and 1 - b are exchanged. With b = 0 the length must not count.",
                lambda f, n, m, k, b: f / (f + k * (b + (1 - b) * n / m)) if f else 0.0),
        Mistake("This has the factor k1 + 1, which some books have. Formula 12.1 leaves it out.",
                lambda f, n, m, k, b: f * (k + 1) / (f + k * (1 - b + b * n / m)) if f else 0.0),
        Mistake("k1 multiplies only a part of the bracket. It multiplies all of 1 - b + b * length / mean_length.",
                lambda f, n, m, k, b: f / (f + k * (1 - b) + b * n / m) if f else 0.0),
        Mistake("k1 multiplies only a part of the bracket. It multiplies all of 1 - b + b * length / mean_length.",
                lambda f, n, m, k, b: f / (f + (1 - b) + k * b * n / m) if f else 0.0),
        Mistake("The 1 is missing in the bracket: 1 - b + b * length / mean_length.",
                lambda f, n, m, k, b: f / (f + k * (-b + b * n / m)) if f else 0.0),
        Mistake("The length is divided by nothing. It counts relative to mean_length.",
                lambda f, n, m, k, b: f / (f + k * (1 - b + b * n)) if f else 0.0),
        Mistake("This is the denominator alone. The count stands above it.",
                lambda f, n, m, k, b: f + k * (1 - b + b * n / m)),
        Mistake("With k1 = 0 and a count of 0 this is 0 / 0. A text that does not have the word scores 0.",
                lambda f, n, m, k, b: 0 / 0 if not f and not k else _score(f, n, m, k, b)),
    ),
    hints=(
        "Put the bracket into a variable of its own: 1 - b + b * length / mean_length. It is 1 for a text of mean "
        "length.",
        "`count / (count + k1 * bracket)`, and 0 for a count of 0.",
    ),
)  # fmt: skip


def _ndcg_cases(rng):
    pool = rng.sample(range(40), 14)
    grades = {pool[0]: 2, pool[3]: 1, pool[6]: 2, pool[9]: 1}
    few = {pool[1]: 1, pool[2]: 2}
    return [
        Case("Results of grades 2, 1 and 0", (pool[:10], grades, 10)),
        Case("A perfect list", ([pool[2], pool[1], pool[5]], few, 3)),
        Case("A perfect list whose best two stand in the wrong order", ([pool[1], pool[2], pool[5]], few, 3)),
        Case("Only the first k results count", (pool[:10], grades, 4)),
        Case("More good texts than places in the list", (pool[:2], grades, 2)),
        Case("A list shorter than k", ([pool[4], pool[3]], grades, 10)),
        Case("An empty list", ([], grades, 10)),
        Case("None of the results has a grade", (pool[10:], grades, 10)),
        Case("A graded text that was not found", ([pool[3], pool[5]], {pool[3]: 1, pool[7]: 2}, 10)),
    ]


def _dcg(values, discount=log2, first=1):
    return sum(value / discount(first + rank) for rank, value in enumerate(values, start=1))


def _ndcg(places, grades, k):
    best = sorted(grades.values(), reverse=True)[:k]
    return _dcg([grades.get(place, 0) for place in places[:k]]) / _dcg(best)


def _of(places, grades):
    return [grades.get(place, 0) for place in places]


NDCG = Exercise(
    id="12-ndcg",
    title="Normalised discounted cumulative gain",
    arguments=("places", "grades", "k"),
    cases=_ndcg_cases,
    reference=_ndcg,
    minutes=15,
    difficulty=3,
    points=3,
    mistakes=(
        Mistake("You divide by the best order of the texts *found*. Divide by that of all graded texts: a search that "
                "finds one poor text is not perfect.",
                lambda p, g, k: (
                    _dcg(_of(p[:k], g)) / best
                    if (best := _dcg(sorted(_of(p[:k], g), reverse=True))) else 0.0
                )),
        Mistake("The best possible list has k places, too: cut the sorted grades at k.",
                lambda p, g, k: _dcg(_of(p[:k], g)) / _dcg(sorted(g.values(), reverse=True))),
        Mistake("You count results beyond the first k.",
                lambda p, g, k: _dcg(_of(p, g)) / _dcg(sorted(g.values(), reverse=True)[:k])),
        Mistake("You leave out the division by the best possible order: this is the discounted gain, not the "
                "normalised one.",
                lambda p, g, k: _dcg(_of(p[:k], g))),
        Mistake("The best order has the highest grade first. Yours has it last.",
                lambda p, g, k: _dcg(_of(p[:k], g)) / _dcg(sorted(g.values())[:k])),
        Mistake("The grades are taken as 0 or 1. A grade of 2 gains twice as much as one of 1.",
                lambda p, g, k: _dcg([place in g for place in p[:k]]) / _dcg([1] * min(k, len(g)))),
        Mistake("You take 2 ** grade - 1 as the gain, as some libraries do. Formula 12.3 takes the grade itself.",
                lambda p, g, k: _dcg([2 ** v - 1 for v in _of(p[:k], g)])
                / _dcg([2 ** v - 1 for v in sorted(g.values(), reverse=True)[:k]])),
        Mistake("You divide by the rank. The discount is log2(1 + rank), which grows more slowly.",
                lambda p, g, k: _dcg(_of(p[:k], g), lambda x: x - 1)
                / _dcg(sorted(g.values(), reverse=True)[:k], lambda x: x - 1)),
        Mistake("The first place is discounted already: ranks count from 1, and log2(1 + 1) is 1.",
                lambda p, g, k: _dcg(_of(p[:k], g), first=2) / _dcg(sorted(g.values(), reverse=True)[:k], first=2)),
        Mistake("No place is discounted. Divide each grade by log2(1 + rank).",
                lambda p, g, k: sum(_of(p[:k], g)) / sum(sorted(g.values(), reverse=True)[:k])),
        Mistake("Texts without a grade are left out before the ranks are counted. They count 0, and they take a "
                "place.",
                lambda p, g, k: _dcg([g[x] for x in p[:k] if x in g]) / _dcg(sorted(g.values(), reverse=True)[:k])),
        Mistake("`grades[place]` raises an error for a text without a grade. `grades.get(place, 0)` gives 0.",
                lambda p, g, k: _dcg([g[x] for x in p[:k]]) / _dcg(sorted(g.values(), reverse=True)[:k])),
        Mistake("This is the share of the graded texts that were found. The order and the grades count as well.",
                lambda p, g, k: len({*p[:k]} & {*g}) / len(g)),
    ),
    hints=(
        "Write a helper `gain(values)` first: the sum of value / log2(1 + rank), with ranks from 1.",
        "You need it twice: for the grades of the first k results, in their order, and for the k highest grades, "
        "the highest first.",
        "`grades.get(place, 0)` is the grade of a place, 0 if nobody judged it.",
    ),
)  # fmt: skip


def _fuse_cases(rng):
    pool, c = rng.sample(range(60), 12), rng.randint(20, 70)
    one, other = pool[:6], [pool[3], pool[8], pool[0], pool[9], pool[5]]
    return [
        Case("Two lists that share some texts", (one, other, c)),
        Case("A text that is third in both beats one that is first in one", (pool[:4], [*pool[6:8], pool[2]], c)),
        Case("With a small c, the first places count much", ([7, 2, 1], [9, 4, 1], 0.5)),
        Case("With a small c, a second place in both beats a first in one", ([7, 1, 2], [9, 1, 4], 0.5)),
        Case("Two lists that share nothing", (pool[:3], pool[6:9], c)),
        Case("The same list twice", (pool[:4], pool[:4], c)),
        Case("Opposite orders: first and last have equal sums", ([9, 5, 1], [1, 5, 9], c)),
        Case("Lists of unequal length", (pool[:2], pool[4:11], c)),
        Case("One list is empty", (pool[:3], [], c)),
        Case("Both lists are empty", ([], [], c)),
    ]


def _sums(one, other, c, first=1):
    sums = {}
    for places in (one, other):
        for rank, place in enumerate(places, start=first):
            sums[place] = sums.get(place, 0) + 1 / (c + rank)
    return sums


def _ordered(sums):
    return sorted(sums, key=lambda place: -sums[place])


def _fuse(one, other, c):
    return _ordered(_sums(one, other, c))


def _rank(places, place, missing):
    return places.index(place) + 1 if place in places else missing


def _all(one, other):
    return list(dict.fromkeys([*one, *other]))


FUSE = Exercise(
    id="12-fuse",
    title="Reciprocal rank fusion",
    arguments=("one", "other", "c"),
    cases=_fuse_cases,
    reference=_fuse,
    minutes=12,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake("Your ranks count from 0. The first place has the rank 1.",
                lambda a, b, c: _ordered(_sums(a, b, c, first=0))),
        Mistake("The worst comes first: sort by descending sums.",
                lambda a, b, c: sorted(sums := _sums(a, b, c), key=sums.get)),
        Mistake("You keep only the texts that are in both lists. A text in one list has one reciprocal.",
                lambda a, b, c: [x for x in _fuse(a, b, c) if x in a and x in b]),
        Mistake("You put one list behind the other. The sums decide.", lambda a, b, c: _all(a, b)),
        Mistake("You put one list behind the other. The sums decide.", lambda a, b, c: _all(b, a)),
        Mistake("You take places from the lists in turn, or the better of two ranks. The two reciprocals are added.",
                lambda a, b, c: list(dict.fromkeys(
                    x for at in range(max(len(a), len(b), 0)) for x in (*a[at:at + 1], *b[at:at + 1])))),
        Mistake("You leave out c. Without it, the first place of one list counts as much as two second places.",
                lambda a, b, c: _ordered(_sums(a, b, 0))),
        Mistake("You always take c = 60. It is an argument.", lambda a, b, c: _ordered(_sums(a, b, 60))),
        Mistake("You add ranks, not their reciprocals.",
                lambda a, b, c: sorted(_all(a, b), key=lambda x: _rank(a, x, len(a) + 1) + _rank(b, x, len(b) + 1))),
        Mistake("A text that is missing from a list adds nothing for it. You treat it as if it stood behind the end.",
                lambda a, b, c: sorted(_all(a, b), key=lambda x: -(
                    1 / (c + _rank(a, x, len(a) + 1)) + 1 / (c + _rank(b, x, len(b) + 1))))),
        Mistake("You return the sums. The places are asked for, by descending sum.",
                lambda a, b, c: sorted(_sums(a, b, c).values(), reverse=True)),
        Mistake("The second list overwrites the sums of the first. Add to what is there: `sums.get(place, 0) + ...`.",
                lambda a, b, c: _ordered(
                    {x: 1 / (c + _rank(b, x, 0) if x in b else c + _rank(a, x, 0)) for x in _all(a, b)})),
        Mistake("Of two texts with equal sums, the one from `one` comes first. You let the smaller place decide.",
                lambda a, b, c: sorted(sums := _sums(a, b, c), key=lambda x: (-sums[x], x))),
        Mistake("Of two texts with equal sums, the one from `one` comes first. You begin with `other`.",
                lambda a, b, c: _fuse(b, a, c)),
    ),
    hints=(
        "Keep a dictionary {place: sum}. Go through both lists, and add 1 / (c + rank) for each place.",
        "`enumerate(places, start=1)` counts the ranks. A dictionary keeps the order in which its keys came, and "
        "`sorted` keeps the order of equal keys.",
    ),
)  # fmt: skip


def _texts_cases(rng):
    owners = [0, 0, 0, 1, 1, 2, 3, 3, 3, 4, 5, 5]
    names = rng.sample(range(20, 90), 6)
    owners = [names[owner] for owner in owners]
    first = [7, 6, 8, 0, 3, 1, 9, 4, 10, 5]
    return [
        Case("The first three chunks are of one text", (first, owners, 3)),
        Case("One text is asked for", (first, owners, 1)),
        Case("The best chunk of a text decides where it stands", ([3, 0, 4, 1, 5], owners, 3)),
        Case("Each chunk is of another text", ([0, 3, 5, 6, 9], owners, 4)),
        Case("Fewer texts than k", ([7, 6, 3, 8], owners, 5)),
        Case("All chunks are of one text", ([2, 0, 1], owners, 2)),
        Case("No chunk", ([], owners, 3)),
        Case("The text with the most chunks is not the best one", ([9, 0, 1, 2, 5], owners, 2)),
    ]


def _texts_of(places, owners, k):
    return list(dict.fromkeys(owners[place] for place in places))[:k]


def _last_seen(places, owners, k):
    return _texts_of(places[::-1], owners, len(places))[::-1][:k]


def _most(places, owners, k):
    of = [owners[place] for place in places]
    return sorted(dict.fromkeys(of), key=lambda text: -of.count(text))[:k]


TEXTS = Exercise(
    id="12-find-the-bug",
    title="Find the bug: ten results, or three",
    arguments=("places", "owners", "k"),
    cases=_texts_cases,
    reference=_texts_of,
    minutes=8,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake("The list is cut to k chunks before the repeated texts are removed, so fewer than k texts are left. "
                "Remove first, then cut.",
                lambda p, o, k: list(dict.fromkeys(o[x] for x in p[:k]))),
        Mistake("Two faults: the list is cut before the repeated texts are removed, and a sorted set has lost the "
                "order of the results.",
                lambda p, o, k: sorted({o[x] for x in p[:k]})),
        Mistake("Two faults: the list is cut before the repeated texts are removed, and a set has lost the "
                "order of the results.",
                lambda p, o, k: list({o[x] for x in p[:k]})),
        Mistake("A set, or a sorted one, loses the order: the best text has to stay first.",
                lambda p, o, k: sorted({o[x] for x in p})[:k]),
        Mistake("The repeated texts are still there.", lambda p, o, k: [o[x] for x in p][:k]),
        Mistake("You return places of chunks. Their texts are asked for: `owners[place]`.",
                lambda p, o, k: list(p)[:k]),
        Mistake("You keep the first chunk of each text, but return the chunk. Its text is asked for: `owners[place]`.",
                lambda p, o, k: [x for at, x in enumerate(p) if o[x] not in [o[y] for y in p[:at]]][:k]),
        Mistake("You keep the last place of each text. Its first, the best chunk, decides.", _last_seen),
        Mistake("You put the text with the most chunks first. The best chunk decides.", _most),
        Mistake("The list is in the opposite order.", lambda p, o, k: _texts_of(p, o, k)[::-1]),
        Mistake("You return all texts. The first k are asked for.", lambda p, o, k: _texts_of(p, o, None)),
    ),
    hints=(
        "Run it in your head on three chunks of one text with k = 2. How many texts come back?",
        "`dict.fromkeys(...)` removes what is repeated and keeps the order. Cut the list after that.",
    ),
)  # fmt: skip

EXERCISES = (SCORE, NDCG, TEXTS, FUSE)
