"""Exercises of lesson 12, search."""

from functools import partial
from math import log, log2, log10, nan
from statistics import mean

from .model import Case, Completion, Mistake
from .words import exercise


def _score_cases(rng):
    mean, k1, b = rng.uniform(80, 120), rng.uniform(1.1, 1.9), rng.uniform(0.5, 0.9)
    yield Case("A page of mean length", rng.randint(2, 6), mean, mean, k1, b)
    yield Case("A long page", rng.randint(2, 6), mean * rng.uniform(2, 4), mean, k1, b)
    yield Case("A short page", rng.randint(2, 6), mean * rng.uniform(0.2, 0.6), mean, k1, b)
    yield Case("The page does not contain the word", 0, mean * rng.uniform(1.2, 2), mean, k1, b)
    yield Case("The word occurs many times", rng.randint(60, 90), mean * 1.5, mean, k1, b)
    yield Case("With b = 0, the length does not count", rng.randint(2, 6), mean * 3, mean, k1, 0.0)
    yield Case("With b = 1, it counts in full", rng.randint(2, 6), mean * 3, mean, k1, 1.0)
    yield Case("With k1 = 0, and a page that does not contain the word", 0, mean, mean, 0.0, b)
    yield Case("With k1 = 0, once is as good as often", rng.randint(2, 6), mean * 2, mean, 0.0, b)


def _score(count, length, mean_length, k1, b):
    return count / (count + k1 * (1 - b + b * length / mean_length)) if count else 0.0


SCORE = exercise("12-word-score", _score_cases, _score, points=2)(
    no_length=lambda f, n, m, k, b: f / (f + k) if f else 0.0,
    b_unused=lambda f, n, m, k, b: f / (f + k * n / m) if f else 0.0,
    ratio_upside_down=lambda f, n, m, k, b: f / (f + k * (1 - b + b * m / n)) if f else 0.0,
    b_exchanged=lambda f, n, m, k, b: f / (f + k * (b + (1 - b) * n / m)) if f else 0.0,
    extra_factor=lambda f, n, m, k, b: f * (k + 1) / (f + k * (1 - b + b * n / m)) if f else 0.0,
    k1_on_part=(
        lambda f, n, m, k, b: f / (f + k * (1 - b) + b * n / m) if f else 0.0,
        lambda f, n, m, k, b: f / (f + (1 - b) + k * b * n / m) if f else 0.0,
        lambda f, n, m, k, b: f / (f + k - b + b * n / m) if f else 0.0,
    ),
    no_one=lambda f, n, m, k, b: f / (f + k * (-b + b * n / m)) if f else 0.0,
    length_undivided=lambda f, n, m, k, b: f / (f + k * (1 - b + b * n)) if f else 0.0,
    denominator_alone=lambda f, n, m, k, b: f + k * (1 - b + b * n / m),
    zero_by_zero=(
        lambda f, n, m, k, b: 0 / 0 if not f and not k else _score(f, n, m, k, b),
        lambda f, n, m, k, b: f / (f + k * (1 - b + b * n / m)),
        lambda f, n, m, k, b: _score(f, n, m, k, b) if f or k else nan,
    ),
    fixed_numbers=(
        lambda f, n, m, k, b: _score(f, n, m, 1.5, 0.75),
        lambda f, n, m, k, b: _score(f, n, m, 1.2, 0.75),
        lambda f, n, m, k, b: _score(f, n, m, 2.0, 0.75),
        lambda f, n, m, k, b: _score(f, n, m, 1.5, b),
        lambda f, n, m, k, b: _score(f, n, m, 1.2, b),
        lambda f, n, m, k, b: _score(f, n, m, k, 0.75),
    ),
    zero_replaced=(
        lambda f, n, m, k, b: _score(f, n, m, k or 1, b),
        lambda f, n, m, k, b: _score(f, n, m, k or 1.5, b),
        lambda f, n, m, k, b: _score(f, n, m, k or 1.2, b),
        lambda f, n, m, k, b: _score(f, n, m, k, b or 0.75),
        lambda f, n, m, k, b: _score(f, n, m, k, b or 1),
    ),
    count_by_length=(
        lambda f, n, m, k, b: _score(f / n, n, m, k, b),
        lambda f, n, m, k, b: _score(f / m, n, m, k, b),
        lambda f, n, m, k, b: _score(f * m / n, n, m, k, b),
    ),
    k1_zero_as_nothing=lambda f, n, m, k, b: _score(f, n, m, k, b) if k else 0.0,
    k1_zero_as_count=lambda f, n, m, k, b: _score(f, n, m, k, b) if k else f,
    parentheses_lost=lambda f, n, m, k, b: 1 + k * (1 - b + b * n / m) if f else 0.0,
    bracket_divided=lambda f, n, m, k, b: f / (f + k * (1 - b + b * n) / m) if f else 0.0,
    one_side_only=(
        lambda f, n, m, k, b: _score(f, max(n, m), m, k, b),
        lambda f, n, m, k, b: _score(f, min(n, m), m, k, b),
    ),
    whole_ratio=(
        lambda f, n, m, k, b: f / (f + k * (1 - b + b * n // m)) if f else 0.0,
        lambda f, n, m, k, b: f / (f + k * (1 - b + b * (n // m))) if f else 0.0,
    ),
    ratio_and_b=lambda f, n, m, k, b: f / (f + k * (b + (1 - b) * m / n)) if f else 0.0,
    ratio_and_factor=lambda f, n, m, k, b: f * (k + 1) / (f + k * (1 - b + b * m / n)) if f else 0.0,
)


def _ndcg_cases(rng):
    pool = rng.sample(range(40), 14)
    grades = {pool[0]: 2, pool[3]: 1, pool[6]: 2, pool[9]: 1}
    few = {pool[1]: 1, pool[2]: 2}
    yield Case("Results of grades 2, 1 and 0", pool[:10], grades, 10)
    yield Case("A perfect list", [pool[2], pool[1], pool[5]], few, 3)
    yield Case("A perfect list whose best two stand in the wrong order", [pool[1], pool[2], pool[5]], few, 3)
    yield Case("Only the first k results count", pool[:10], grades, 4)
    yield Case("More good texts than places in the list", pool[:2], grades, 2)
    yield Case("A list shorter than k", [pool[4], pool[3]], grades, 10)
    yield Case("An empty list", [], grades, 10)
    yield Case("None of the results has a grade", pool[10:], grades, 10)
    yield Case("A graded text that was not found", [pool[3], pool[5]], {pool[3]: 1, pool[7]: 2}, 10)


def _dcg(values, discount=log2, first=1):
    return sum(value / discount(first + rank) for rank, value in enumerate(values, start=1))


def _ndcg(places, grades, k):
    best = sorted(grades.values(), reverse=True)[:k]
    return _dcg([grades.get(place, 0) for place in places[:k]]) / _dcg(best)


def _of(places, grades):
    return [grades.get(place, 0) for place in places]


def _with_ideal(ideal, empty, places, grades, k):
    """A mistake in the best possible list. empty: the result where that gains nothing; None divides by 0."""
    best = _dcg(ideal(places, grades, k))
    return _dcg(_of(places[:k], grades)) / best if best or empty is None else empty


NDCG = exercise("12-ndcg", _ndcg_cases, _ndcg, points=3)(
    best_of_found=[
        partial(_with_ideal, ideal, empty)
        for ideal in (
            lambda p, g, k: sorted(_of(p[:k], g), reverse=True),
            lambda p, g, k: sorted(_of(p, g), reverse=True)[:k],
        )
        for empty in (0.0, None, nan)
    ],
    ideal_too_long=lambda p, g, k: _dcg(_of(p[:k], g)) / _dcg(sorted(g.values(), reverse=True)),
    beyond_k=lambda p, g, k: _dcg(_of(p, g)) / _dcg(sorted(g.values(), reverse=True)[:k]),
    not_normalised=lambda p, g, k: _dcg(_of(p[:k], g)),
    worst_order=lambda p, g, k: _dcg(_of(p[:k], g)) / _dcg(sorted(g.values())[:k]),
    binary=(
        lambda p, g, k: _dcg([place in g for place in p[:k]]) / _dcg([1] * min(k, len(g))),
        lambda p, g, k: _ndcg(p, {x: 1 for x in g if g[x] == 2}, k),
    ),
    exponential=lambda p, g, k: (
        _dcg([2**v - 1 for v in _of(p[:k], g)]) / _dcg([2**v - 1 for v in sorted(g.values(), reverse=True)[:k]])
    ),
    divided_by_rank=lambda p, g, k: (
        _dcg(_of(p[:k], g), lambda x: x - 1) / _dcg(sorted(g.values(), reverse=True)[:k], lambda x: x - 1)
    ),
    discounted_too_early=lambda p, g, k: (
        _dcg(_of(p[:k], g), first=2) / _dcg(sorted(g.values(), reverse=True)[:k], first=2)
    ),
    not_discounted=lambda p, g, k: sum(_of(p[:k], g)) / sum(sorted(g.values(), reverse=True)[:k]),
    ungraded_left_out=(
        lambda p, g, k: _dcg([g[x] for x in p[:k] if x in g]) / _dcg(sorted(g.values(), reverse=True)[:k]),
        lambda p, g, k: _dcg([g[x] for x in p if x in g][:k]) / _dcg(sorted(g.values(), reverse=True)[:k]),
    ),
    keyerror=lambda p, g, k: _dcg([g[x] for x in p[:k]]) / _dcg(sorted(g.values(), reverse=True)[:k]),
    recall=lambda p, g, k: len({*p[:k]} & {*g}) / len(g),
    ideal_unsorted=lambda p, g, k: _dcg(_of(p[:k], g)) / _dcg([*g.values()][:k]),
    ideal_as_short=[
        partial(_with_ideal, lambda p, g, k: sorted(g.values(), reverse=True)[: min(k, len(p))], empty)
        for empty in (0.0, None, nan)
    ],
    two_discounts=(
        lambda p, g, k: _dcg(_of(p[:k], g), log) / _dcg(sorted(g.values(), reverse=True)[:k]),
        lambda p, g, k: _dcg(_of(p[:k], g)) / _dcg(sorted(g.values(), reverse=True)[:k], log),
        lambda p, g, k: _dcg(_of(p[:k], g), first=2) / _dcg(sorted(g.values(), reverse=True)[:k]),
        lambda p, g, k: _dcg(_of(p[:k], g)) / _dcg(sorted(g.values(), reverse=True)[:k], first=2),
        lambda p, g, k: _dcg(_of(p[:k], g)) / sum(sorted(g.values(), reverse=True)[:k]),
        lambda p, g, k: sum(_of(p[:k], g)) / _dcg(sorted(g.values(), reverse=True)[:k]),
    ),
    one_outside=(
        lambda p, g, k: (
            _dcg(_of(p[:k], g), lambda x: 1 + log2(x - 1))
            / _dcg(sorted(g.values(), reverse=True)[:k], lambda x: 1 + log2(x - 1))
        ),
        lambda p, g, k: (
            _dcg(_of(p[:k], g), lambda x: max(1, log2(x - 1)))
            / _dcg(sorted(g.values(), reverse=True)[:k], lambda x: max(1, log2(x - 1)))
        ),
    ),
)


def _pages_cases(rng):
    owners = [0, 0, 0, 1, 1, 2, 3, 3, 3, 4, 5, 5]
    names = []
    while list({*names[:4]}) == sorted(names[:4]):  # so that a set and a sorted one are told apart
        names = rng.sample(range(20, 90), 6)
        names[1] = 0  # a page like any other
    owners = [names[owner] for owner in owners]
    first = [7, 6, 8, 0, 3, 1, 9, 4, 10, 5]
    many = rng.randint(80, 120)
    yield Case(
        "The first windows, and many of them, are of one page",
        [*range(12, 12 + many), *first],
        [*owners, *[owners[7]] * many],
        3,
    )
    yield Case("One page is asked for", first, owners, 1)
    yield Case("The best window of a page decides where it stands", [3, 0, 4, 1, 5], owners, 3)
    yield Case("Each window is of another page", [0, 3, 5, 6, 9], owners, 4)
    yield Case("Fewer pages than k", [7, 6, 3, 8], owners, 5)
    yield Case("All windows are of one page", [2, 0, 1], owners, 2)
    yield Case("No window", [], owners, 3)
    yield Case("The page with the most windows is not the best one", [9, 0, 1, 2, 5], owners, 2)


def _best_pages(places, owners, k):
    return list(dict.fromkeys(owners[place] for place in places))[:k]


def _filled(pages, filler, k):
    return [*pages, *[filler] * (k - len(pages))]


def _most(places, owners, k):
    of = [owners[place] for place in places]
    return sorted(dict.fromkeys(of), key=lambda page: -of.count(page))[:k]


PAGES = exercise("12-find-the-bug", _pages_cases, _best_pages, points=2)(
    cut_first=lambda p, o, k: list(dict.fromkeys(o[x] for x in p[:k])),
    cut_first_and_sorted_set=lambda p, o, k: sorted({o[x] for x in p[:k]}),
    cut_first_and_set=lambda p, o, k: list({o[x] for x in p[:k]}),
    set_order=(
        lambda p, o, k: sorted({o[x] for x in p})[:k],
        lambda p, o, k: list({o[x] for x in p})[:k],
        lambda p, o, k: sorted({o[x] for x in p}, reverse=True)[:k],
    ),
    repeated=lambda p, o, k: [o[x] for x in p][:k],
    windows_returned=lambda p, o, k: list(p)[:k],
    windows_of_first=lambda p, o, k: [x for at, x in enumerate(p) if o[x] not in [o[y] for y in p[:at]]][:k],
    last_place=lambda places, owners, k: _best_pages(places[::-1], owners, len(places))[::-1][:k],
    most_windows=_most,
    reversed=lambda p, o, k: _best_pages(p, o, k)[::-1],
    all_returned=lambda p, o, k: _best_pages(p, o, None),
    neighbours_only=lambda p, o, k: [o[x] for at, x in enumerate(p) if not at or o[p[at - 1]] != o[x]][:k],
    one_page_off=(lambda p, o, k: _best_pages(p, o, k + 1), lambda p, o, k: _best_pages(p, o, k - 1)),
    too_few_forgotten=lambda p, o, k: [pages[at] for pages in [_best_pages(p, o, None)] for at in range(k)],
    places_ignored=(lambda p, o, k: list(dict.fromkeys(o))[:k], lambda p, o, k: list(dict.fromkeys(o))),
    filled_up=(
        lambda p, o, k: _filled(_best_pages(p, o, k), None, k),
        lambda p, o, k: _filled(_best_pages(p, o, k), -1, k),
    ),
    sorted_and_off=lambda p, o, k: sorted({o[x] for x in p})[: k + 1],
    cut_first_and_reversed=lambda p, o, k: list(dict.fromkeys(o[x] for x in p[:k]))[::-1],
)


def _fuse_cases(rng):
    pool, c = rng.sample(range(60), 12), rng.randint(20, 70)
    one, other = pool[:6], [pool[3], pool[8], pool[0], pool[9], pool[5]]
    yield Case("Two lists that share some texts", one, other, c)
    yield Case("A text that is third in both beats one that is first in one", pool[:4], [*pool[6:8], pool[2]], c)
    yield Case("With a small c, the first places count much", [7, 2, 1], [9, 4, 1], 0.5)
    yield Case("With a small c, a second place in both beats a first in one", [7, 1, 2], [9, 1, 4], 0.5)
    yield Case("Two lists that share nothing", pool[:3], pool[6:9], c)
    yield Case("The same list twice", pool[:4], pool[:4], c)
    yield Case("Opposite orders: first and last have equal sums", [7, 5, 1], [1, 5, 7], c)
    yield Case("Lists of unequal length", pool[:2], pool[4:11], c)
    yield Case("One list is empty", pool[:3], [], c)
    yield Case("Both lists are empty", [], [], c)


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


def _in_order(places, one, other, c):
    sums = _sums(one, other, c)
    return sorted(places, key=lambda place: -sums[place])


def _with_missing(one, other, c, rank):
    """Where a place that a list lacks has this rank in it."""
    return sorted(_all(one, other), key=lambda x: -1 / (c + _rank(one, x, rank)) - 1 / (c + _rank(other, x, rank)))


FUSE = exercise("12-fuse", _fuse_cases, _fuse, points=2)(
    ranks_from_zero=lambda a, b, c: _ordered(_sums(a, b, c, first=0)),
    worst_first=lambda a, b, c: sorted(sums := _sums(a, b, c), key=sums.get),
    in_both_only=lambda a, b, c: [x for x in _fuse(a, b, c) if x in a and x in b],
    one_after_other=(lambda a, b, c: _all(a, b), lambda a, b, c: _all(b, a)),
    in_turn=(
        lambda a, b, c: list(
            dict.fromkeys(x for at in range(max(len(a), len(b), 0)) for x in (*a[at : at + 1], *b[at : at + 1]))
        ),
        lambda a, b, c: list(dict.fromkeys(x for pair in zip(a, b) for x in pair)),
        lambda a, b, c: list(
            dict.fromkeys(x for at in range(len(a) + len(b)) for x in (*b[at : at + 1], *a[at : at + 1]))
        ),
    ),
    no_c=lambda a, b, c: _ordered(_sums(a, b, 0)),
    fixed_c=lambda a, b, c: _ordered(_sums(a, b, 60)),
    ranks_added=(
        lambda a, b, c: sorted(_all(a, b), key=lambda x: _rank(a, x, len(a) + 1) + _rank(b, x, len(b) + 1)),
        lambda a, b, c: sorted(_all(a, b), key=lambda x: _rank(a, x, 0) + _rank(b, x, 0)),
        lambda a, b, c: sorted(_all(a, b), key=lambda x: _rank(a, x, -c) + _rank(b, x, -c)),
        lambda a, b, c: sorted(_all(a, b), key=lambda x: _rank(a, x, 1e6) + _rank(b, x, 1e6)),
    ),
    missing_as_last=(
        lambda a, b, c: sorted(
            _all(a, b), key=lambda x: -(1 / (c + _rank(a, x, len(a) + 1)) + 1 / (c + _rank(b, x, len(b) + 1)))
        ),
        lambda a, b, c: _with_missing(a, b, c, max(len(a), len(b)) + 1),
        lambda a, b, c: _with_missing(a, b, c, len(_all(a, b)) + 1),
    ),
    sums_returned=lambda a, b, c: sorted(_sums(a, b, c).values(), reverse=True),
    overwritten=lambda a, b, c: _ordered(
        {x: 1 / (c + _rank(b, x, 0) if x in b else c + _rank(a, x, 0)) for x in _all(a, b)}
    ),
    ties_by_place=(
        lambda a, b, c: sorted(sums := _sums(a, b, c), key=lambda x: (-sums[x], x)),
        lambda a, b, c: sorted(sums := _sums(a, b, c), key=lambda x: (-sums[x], -x)),
    ),
    ties_from_other=lambda a, b, c: _fuse(b, a, c),
    set_ties=(lambda a, b, c: _in_order({*a, *b}, a, b, c), lambda a, b, c: _in_order({*a} | {*b}, a, b, c)),
    pairs_returned=(
        lambda a, b, c: [(x, sums[x]) for sums in [_sums(a, b, c)] for x in _ordered(sums)],
        lambda a, b, c: [(sums[x], x) for sums in [_sums(a, b, c)] for x in _ordered(sums)],
        lambda a, b, c: _sums(a, b, c),
    ),
    looked_up_in_both=lambda a, b, c: sorted(_all(a, b), key=lambda x: -1 / (c + a.index(x)) - 1 / (c + b.index(x))),
)


def _exponential(found):
    return [2**grade - 1 for grade in found]


def _the_rank(one_more):
    """A discount for `_dcg`, which takes the logarithm of 1 + rank."""
    return one_more - 1


def _gain_cases(rng):
    yield Case("One result, in the first place", [2])
    yield Case("Five results", [rng.randint(0, 2) for _ in range(4)] + [1])
    yield Case("The answer stands last", [0] * rng.randint(2, 6) + [2])
    yield Case("Ten results", [rng.randint(0, 2) for _ in range(9)] + [2])
    yield Case("Nothing good was found", [0] * rng.randint(2, 6))


GAIN = Completion(
    "12-gain",
    "Discounted gain",
    ("found",),
    _gain_cases,
    _dcg,
    mistakes=(
        Mistake(
            "other_base",
            "You take a logarithm to another base.",
            "Formula 12.3 has base 2, `math.log2`, so that the discount at rank 1 is 1. (`math.log` has base e.)",
            (lambda found: _dcg(found, log), lambda found: _dcg(found, log10)),
        ),
        Mistake(
            "exponential",
            "You take 2 ** grade - 1 as the gain, as some libraries do.",
            "Formula 12.3 divides the grade itself.",
            (lambda found: _dcg(_exponential(found)),),
        ),
        Mistake(
            "divided_by_rank",
            "You divide by the rank.",
            "The discount is log2(1 + rank), which grows more slowly.",
            (lambda found: _dcg(found, _the_rank),),
        ),
        Mistake(
            "rank_moved",
            "You take log2(2 + rank), and `rank` already counts from 1.",
            "Divide by log2(1 + rank), which is 1 at rank 1.",
            (lambda found: _dcg(found, first=2),),
        ),
        Mistake(
            "zero_at_rank_1",
            "At rank 1 you divide by 0: the logarithm of 1 is 0.",
            "The 1 belongs inside the parentheses: `math.log2(1 + rank)`.",
            (lambda found: sum(grade / log2(rank) for rank, grade in enumerate(found, start=1)),),
        ),
        Mistake(
            "one_outside",
            "The 1 stands outside the logarithm, or is missing.",
            "Divide by log2(1 + rank), which is 1 at rank 1 and 1.58 at rank 2.",
            (
                lambda found: _dcg(found, lambda x: 1 + log2(x - 1)),
                lambda found: _dcg(found, lambda x: max(1, log2(x - 1))),
            ),
        ),
        Mistake(
            "not_discounted",
            "No grade is discounted.",
            "Divide each grade by log2(1 + rank) before you add it.",
            (lambda found: sum(found),),
        ),
        Mistake(
            "multiplied",
            "You multiply by the discount, so a good page counts more further down.",
            "Divide each grade by log2(1 + rank).",
            (lambda found: _dcg(found, lambda x: 1 / log2(x)),),
        ),
        Mistake(
            "grade_left_out",
            "You add up the discounts alone.",
            "The grade stands above the fraction line.",
            (lambda found: _dcg([1] * len(found)), lambda found: sum(log2(2 + at) for at in range(len(found)))),
        ),
        Mistake(
            "overwritten",
            "Each place overwrites the total of those before it.",
            "Add to it: `total += ...`.",
            (lambda found: found[-1] / log2(1 + len(found)),),
        ),
        Mistake(
            "gain_and_discount",
            "Two faults: you take 2 ** grade - 1 as the gain, and the discount is not log2(1 + rank).",
            "Formula 12.3 divides the grade itself, and its logarithm has base 2.",
            (
                lambda found: _dcg(_exponential(found), log),
                lambda found: _dcg(_exponential(found), _the_rank),
                lambda found: _dcg(_exponential(found), first=2),
            ),
        ),
        Mistake(
            "total_and_discount",
            "Two faults: each place overwrites the total, and the discount is not log2(1 + rank).",
            "Add to the total, `total += ...`, and divide by `math.log2(1 + rank)`.",
            (
                lambda found: found[-1] / len(found),
                lambda found: found[-1] / log(1 + len(found)),
                lambda found: found[-1] / log2(2 + len(found)),
            ),
        ),
    ),
)


def _listed(ranks):
    return [rank for rank in ranks if rank is not None]


def _reciprocals(ranks, c):
    return sum(1 / (c + rank) for rank in ranks)


def _mean(ranks, c, empty):
    return _reciprocals(_listed(ranks), c) / len(_listed(ranks)) if _listed(ranks) else empty


def _last(listed, c):
    for rank in listed:
        score = 1 / (c + rank)
    return score


def _fused_score_cases(rng):
    yield Case("Two lists", [rng.randint(1, 9), rng.randint(1, 9)], 60)
    yield Case("One of two lists lacks the page", [rng.randint(1, 9), None], 60)
    yield Case("Three lists", [rng.randint(1, 30) for _ in range(3)], rng.randint(10, 90))
    yield Case("A small c", [1, rng.randint(5, 30)], rng.randint(1, 3))
    yield Case("No list has the page", [None, None], 60)


FUSED_SCORE = Completion(
    "12-fused-score",
    "The score of a fusion",
    ("ranks", "c"),
    _fused_score_cases,
    lambda ranks, c: _reciprocals(_listed(ranks), c),
    mistakes=(
        Mistake(
            "fixed_c",
            "You always take 60.",
            "`c` is an argument: use what the caller gives.",
            (lambda ranks, c: _reciprocals(_listed(ranks), 60),),
        ),
        Mistake(
            "rank_plus_one",
            "You add 1 to the rank, as if ranks counted from 0.",
            "Here the first place has the rank 1: the fraction is 1 / (c + rank).",
            (lambda ranks, c: _reciprocals(_listed(ranks), c + 1),),
        ),
        Mistake(
            "rank_minus_one",
            "You subtract 1 from the rank.",
            "Here the first place has the rank 1: the fraction is 1 / (c + rank).",
            (lambda ranks, c: _reciprocals(_listed(ranks), c - 1),),
        ),
        Mistake(
            "mean",
            "You take the mean of the fractions.",
            "Formula 12.4 adds them up, so a page in two lists is ahead of a page in one.",
            (
                lambda ranks, c: _reciprocals(_listed(ranks), c) / len(_listed(ranks)),
                lambda ranks, c: _mean(ranks, c, 0.0),
                lambda ranks, c: _mean(ranks, c, nan),
                lambda ranks, c: _reciprocals(_listed(ranks), c) / len(ranks),
                lambda ranks, c: mean(1 / (c + rank) for rank in _listed(ranks)),
            ),
        ),
        Mistake(
            "ranks_added_first",
            "You add the ranks, and divide once.",
            "Each list gives a fraction of its own, 1 / (c + rank), and these are added.",
            (
                lambda ranks, c: 1 / (c + sum(_listed(ranks))),
                lambda ranks, c: 1 / sum(c + rank for rank in _listed(ranks)),
                lambda ranks, c: sum(c + rank for rank in _listed(ranks)),
            ),
        ),
        Mistake(
            "no_c",
            "You leave out c.",
            "Without it, the first place of one list counts as much as two second places.",
            (lambda ranks, c: _reciprocals(_listed(ranks), 0),),
        ),
        Mistake(
            "parentheses_lost",
            "The denominator needs parentheses: `1 / c + rank` divides by c alone, and adds the rank.",
            "Write 1 / (c + rank).",
            (lambda ranks, c: sum(1 / c + rank for rank in _listed(ranks)),),
        ),
        Mistake(
            "best_list_only",
            "You count only one of the lists.",
            "Formula 12.4 adds up the fractions of all lists.",
            (
                lambda ranks, c: _reciprocals(sorted(_listed(ranks))[:1], c),
                lambda ranks, c: 1 / (c + min(_listed(ranks))),
                lambda ranks, c: max(1 / (c + rank) for rank in _listed(ranks)),
                lambda ranks, c: _reciprocals(_listed(ranks)[:1], c),
                lambda ranks, c: 1 / (c + _listed(ranks)[0]),
                lambda ranks, c: _last(_listed(ranks), c),
            ),
        ),
        Mistake(
            "places_in_the_list",
            "You count the lists with `enumerate`, and take these numbers for ranks.",
            "The ranks are what `listed` holds.",
            (
                lambda ranks, c: _reciprocals(range(1, len(_listed(ranks)) + 1), c),
                lambda ranks, c: _reciprocals(range(len(_listed(ranks))), c),
            ),
        ),
        Mistake(
            "none_counted",
            "You go through `ranks`, which holds `None` for a list without the page.",
            "`listed` holds only the ranks.",
            (lambda ranks, c: sum(1 / (c + rank) for rank in ranks),),
        ),
        Mistake(
            "mean_of_others",
            "Two faults: you take the mean of the fractions, and the fraction is not 1 / (c + rank).",
            "Use the argument `c` and the rank as it is, and add the fractions up.",
            (
                lambda ranks, c: _mean(ranks, 60, 0.0),
                lambda ranks, c: _reciprocals(_listed(ranks), 60) / len(_listed(ranks)),
                lambda ranks, c: _mean(ranks, c + 1, 0.0),
                lambda ranks, c: _reciprocals(_listed(ranks), c + 1) / len(_listed(ranks)),
                lambda ranks, c: _reciprocals(_listed(ranks), 60) / len(ranks),
                lambda ranks, c: _reciprocals(_listed(ranks), c + 1) / len(ranks),
            ),
        ),
        Mistake(
            "fixed_and_moved",
            "Two faults: you always take 60, and you add 1 to the rank.",
            "The fraction is 1 / (c + rank).",
            (lambda ranks, c: _reciprocals(_listed(ranks), 61),),
        ),
    ),
)
