"""Exercises of lesson 12, search. See `model.py` on cases and mistakes' swaps."""

from math import log, log2, log10, nan  # noqa: F401  in source texts of mistakes

from .model import Case, completion, exercise


def _score_cases(rng):
    mean, k1, b = rng.uniform(80, 120), rng.uniform(1.1, 1.9), rng.uniform(0.5, 0.9)
    return [
        Case("A page of mean length", rng.randint(2, 6), mean, mean, k1, b),
        Case("A long page", rng.randint(2, 6), mean * rng.uniform(2, 4), mean, k1, b),
        Case("A short page", rng.randint(2, 6), mean * rng.uniform(0.2, 0.6), mean, k1, b),
        Case("The page does not contain the word", 0, mean * rng.uniform(1.2, 2), mean, k1, b),
        Case("With b = 0, the length does not count", rng.randint(2, 6), mean * 3, mean, k1, 0.0),
        Case("With b = 1, it counts in full", rng.randint(2, 6), mean * 3, mean, k1, 1.0),
        Case("With k1 = 0, and a page that does not contain the word", 0, mean, mean, 0.0, b),
        Case("With k1 = 0, once is as good as often", rng.randint(2, 6), mean * 2, mean, 0.0, b),
    ]


def _score(count, length, mean_length, k1, b):
    if count == 0:
        return 0.0
    ratio = length / mean_length
    return count / (count + k1 * (1 - b + b * ratio))


SCORE = exercise("12-word-score", _score_cases, _score, points=2)(
    ratio_upside_down={"length / mean_length": "mean_length / length"},
    b_unused=[{"1 - b + b * ratio": other} for other in ("b + (1 - b) * ratio", "1", "ratio")],
    extra_factor={"count / (": "count * (k1 + 1) / ("},
    bracket_in_part=[
        {"k1 * (1 - b + b * ratio)": part}
        for part in (
            "k1 - b + b * ratio",
            "k1 * (1 - b) + b * ratio",
            "1 - b + k1 * b * ratio",
            "k1 * (b * ratio - b)",
        )
    ],
    length_undivided=[
        {"length / mean_length": "length"},
        {"length / mean_length": "length", "k1 * (": "k1 / mean_length * ("},
    ],
    zero_by_zero=[
        {"if count == 0": "if False"},
        {"return 0.0": "return 0.0 if k1 else nan"},
        {"count == 0": "count == 0 or k1 == 0"},
        {"ratio =": "if k1 == 0:\n        return count\n    ratio ="},
    ],
    other_numbers=[
        {"ratio =": f"{changed}\n    ratio ="}
        for changed in (
            "k1, b = 1.5, 0.75",
            "k1 = 1.5",
            "b = 0.75",
            "k1 = k1 or 1",
            "b = b or 0.75",
        )
    ],
    count_by_length=[
        {"ratio =": f"count = count {by}\n    ratio ="}
        for by in ("/ length", "/ mean_length", "* mean_length / length")
    ],
    parentheses_lost={"/ (count + k1 * (1 - b + b * ratio))": "/ count + k1 * (1 - b + b * ratio)"},
    whole_ratio=[
        {"length / mean_length": "length // mean_length"},
        {"b * ratio": "b * length // mean_length"},
    ],
)


def _ndcg_cases(rng):
    # the places of 14 texts, four of which are graded; all others have the grade 0
    pool = rng.sample(range(40), 14)
    grades = {pool[0]: 2, pool[3]: 1, pool[6]: 2, pool[9]: 1}
    return [
        Case("Results of grades 2, 1 and 0", pool[:10], grades, 10),
        Case("A perfect list", [pool[2], pool[1], pool[5]], {pool[1]: 1, pool[2]: 2}, 3),
        Case("Only the first k results count", pool[:10], grades, 4),
        Case("More good texts than places in the list", pool[:2], grades, 2),
        Case("A list shorter than k", [pool[4], pool[3]], grades, 10),
        Case("An empty list", [], grades, 10),
        Case("None of the results has a grade", pool[10:], grades, 10),
        Case("A graded text that was not found", [pool[3], pool[5]], {pool[3]: 1, pool[7]: 2}, 10),
    ]


def discounted(discount):
    """Return the function that computes the gain of a list of grades, those of rank 1, 2 and so on.

    The gain is the sum of the grades, each divided by `discount(rank)`; that of an empty list is 0.
    """
    return lambda grades: sum(grade / discount(rank) for rank, grade in enumerate(grades, start=1))


# the usual discounted cumulative gain, of a list of grades
dcg = discounted(lambda rank: log2(1 + rank))


def _normalised(places, grades, k):
    gains = [grades.get(place, 0) for place in places[:k]]
    best = sorted(grades.values(), reverse=True)[:k]
    return dcg(gains) / dcg(best)


NDCG = exercise("12-ndcg", _ndcg_cases, _normalised, points=3)(
    # with `or [1]`, such an answer does not divide by 0 where nothing good was found
    best_of_found=[
        {"sorted(grades.values(), reverse=True)[:k]": other}
        for other in (
            "sorted(gains, reverse=True)",
            "sorted(gains, reverse=True) if any(gains) else [1]",
            "sorted((grades[place] for place in places if place in grades), reverse=True)[:k]"
            " or [1]",
        )
    ],
    ideal_unsorted=[
        {"reverse=True)[:k]": "reverse=True)"},
        {"sorted(grades.values(), reverse=True)": "list(grades.values())"},
        {", reverse=True": ""},
    ],
    beyond_k={"places[:k]": "places"},
    not_normalised={" / dcg(best)": ""},
    ideal_as_short=[
        {"reverse=True)[:k]": f"reverse=True)[: len(gains)]{where_empty}"}
        for where_empty in ("", " or [1]")
    ],
    other_gains=[
        {"gains =": f"grades = {{place: {gain} for place, grade in grades.items()}}\n    gains ="}
        for gain in ("2**grade - 1", "1", "int(grade == 2)")
    ],
    other_discount=[
        *(
            {"dcg(": f"discounted(lambda rank: {discount})("}
            for discount in ("rank", "log2(2 + rank)", "1 + log2(rank)", "max(1, log2(rank))", "1")
        ),
        # another one in one of the two sums only
        *(
            {f"dcg({grades})": f"discounted(lambda rank: {discount})({grades})"}
            for grades in ("gains", "best")
            for discount in ("1", "log(1 + rank)", "log2(2 + rank)")
        ),
    ],
    ungraded_left_out=[
        {"in places[:k]": "in places[:k] if place in grades"},
        {"in places[:k]]": "in places if place in grades][:k]"},
    ],
    recall={"dcg(gains) / dcg(best)": "len({*places[:k]} & {*grades}) / len(grades)"},
)


def _pages_cases(rng):
    a, b, c, d, e = rng.sample(range(20, 90), 5)
    # the page of each of twelve windows; 0 is a page like any other
    owners = [a, a, a, 0, 0, b, c, c, c, d, e, e]
    first = [7, 6, 8, 0, 3, 1, 9, 4, 10, 5]  # windows, the best first
    many = rng.randint(80, 120)
    return [
        Case(
            "The first windows, and many of them, are of one page",
            [*range(12, 12 + many), *first],
            [*owners, *[c] * many],
            3,
        ),
        Case("One page is asked for", first, owners, 1),
        Case("The best window of a page decides where it stands", [3, 0, 4, 1, 5], owners, 3),
        Case("Each window is of another page", [0, 3, 5, 6, 9], owners, 4),
        Case("Fewer pages than k", [7, 6, 3, 8], owners, 5),
        Case("No window", [], owners, 3),
        Case("The page with the most windows is not the best one", [9, 0, 1, 2, 5], owners, 2),
    ]


def _best_pages(places, owners, k):
    pages = [owners[place] for place in places]
    return list(dict.fromkeys(pages))[:k]


PAGES = exercise("12-find-the-bug", _pages_cases, _best_pages, points=2)(
    cut_first={"in places]": "in places[:k]]"},
    set_order=[
        {"list(dict.fromkeys(pages))": other}
        for other in ("list(set(pages))", "sorted(set(pages))", "sorted(set(pages))[::-1]")
    ],
    repeated={"list(dict.fromkeys(pages))": "pages"},
    windows_returned=[
        {"owners[place] for": "place for"},
        {"(pages))[:k]": "(places[pages.index(page)] for page in pages))[:k]"},
    ],
    last_place={"(pages))": "(pages[::-1]))[::-1]"},
    most_windows={
        "list(dict": "sorted(dict",
        "(pages))": "(pages), key=lambda page: -pages.count(page))",
    },
    other_number=[{"[:k]": other} for other in ("", "[: k + 1]", "[: k - 1]")],
    neighbours_only={
        "list(dict.fromkeys(pages))": (
            "[page for at, page in enumerate(pages) if not at or page != pages[at - 1]]"
        )
    },
    places_ignored={"[owners[place] for place in places]": "owners"},
)


def _fuse_cases(rng):
    pool, c = rng.sample(range(60), 12), rng.randint(20, 70)
    return [
        Case(
            "Two lists that share some texts",
            pool[:6],
            [pool[3], pool[8], pool[0], pool[9], pool[5]],
            c,
        ),
        Case(
            "A text that is third in both beats one that is first in one",
            pool[:4],
            [*pool[6:8], pool[2]],
            c,
        ),
        Case("With a small c, the first places count much", [7, 2, 1], [9, 4, 1], 0.5),
        Case(
            "With a small c, a second place in both beats a first in one", [7, 1, 2], [9, 1, 4], 0.5
        ),
        Case("Two lists that share nothing", pool[:3], pool[6:9], c),
        Case("Opposite orders: first and last have equal sums", [7, 5, 1], [1, 5, 7], c),
        Case("Lists of unequal length", pool[:2], pool[4:11], c),
        Case("One list is empty", pool[:3], [], c),
        Case("Both lists are empty", [], [], c),
    ]


def _fuse(one, other, c):
    sums = {}
    for places in (one, other):
        for rank, place in enumerate(places, start=1):
            sums[place] = sums.get(place, 0) + 1 / (c + rank)
    return sorted(sums, key=lambda place: -sums[place])


_SORTED = "sorted(sums, key=lambda place: -sums[place])"
# Source: the sums begin with what the lists that lack a place add for it. The expression that
# replaces {} is that, and `places` in it is such a list.
_MISSING = (
    "sums = {{p: sum({} for places in (one, other) if p not in places) for p in one + other}}"
)

FUSE = exercise("12-fuse", _fuse_cases, _fuse, points=2)(
    ranks_from_zero={"start=1": "start=0"},
    worst_first={"-sums[place]": "sums[place]"},
    in_both_only={"sorted(sums,": "sorted([place for place in one if place in other],"},
    not_added=[
        {_SORTED: "list(sums)"},
        {_SORTED: "list(dict.fromkeys([*other, *one]))"},
        {"sums.get(place, 0) + 1 / (c + rank)": "max(sums.get(place, 0), 1 / (c + rank))"},
    ],
    fixed_c=[{"(c + rank)": "(60 + rank)"}, {"(c + rank)": "rank"}],
    ranks_added=[
        {"1 / (c + rank)": "rank", "-sums[place]": "sums[place]"},
        *(
            {
                "1 / (c + rank)": "rank",
                "-sums[place]": "sums[place]",
                "sums = {}": _MISSING.format(rank),
            }
            for rank in ("len(places) + 1", "1e6")  # a missing place is the next, or far behind
        ),
    ],
    missing_as_last=[
        {"sums = {}": _MISSING.format(f"1 / (c + {rank})")}
        for rank in ("len(places) + 1", "max(len(one), len(other)) + 1", "len({*one, *other}) + 1")
    ],
    sums_returned=[
        {_SORTED: "sorted(sums.values(), reverse=True)"},
        {_SORTED: f"[(p, sums[p]) for p in {_SORTED}]"},
    ],
    overwritten={"sums.get(place, 0) + 1": "1"},
    other_ties=[
        {"(one, other):": "(other, one):"},
        {"-sums[place])": "(-sums[place], place))"},
        {"-sums[place])": "(-sums[place], -place))"},
        {"sorted(sums,": "sorted({*one, *other},"},
    ],
)


def _gain_cases(rng):
    return [
        Case("One result, in the first place", [2]),
        Case("Five results", [rng.randint(0, 2) for _ in range(4)] + [1]),
        Case("The answer stands last", [0] * rng.randint(2, 6) + [2]),
        Case("Nothing good was found", [0] * rng.randint(2, 6)),
    ]


def _gain(found):
    total = 0
    for rank, grade in enumerate(found, start=1):
        total += grade / log2(1 + rank)
    return total


GAIN = completion("12-gain", _gain_cases, _gain)(
    other_base=[{"log2(": "log("}, {"log2(": "log10("}],
    exponential={"grade /": "(2**grade - 1) /"},
    one_outside=[
        {"log2(1 + rank)": other}
        for other in ("1 + log2(rank)", "log2(rank)", "max(1, log2(rank))")
    ],
    no_logarithm=[{"log2(1 + rank)": "rank"}, {" / log2(1 + rank)": ""}],
    rank_moved={"1 + rank": "2 + rank"},
    multiplied={"/ log2": "* log2"},
    grade_left_out=[{"grade /": "1 /"}, {"grade /": "(grade > 0) /"}],
    overwritten={"total +=": "total ="},
)


def _fused_score_cases(rng):
    return [
        Case("Two lists", [rng.randint(1, 9), rng.randint(1, 9)], 60),
        Case("One of two lists lacks the page", [rng.randint(1, 9), None], 60),
        Case("Three lists", [rng.randint(1, 30) for _ in range(3)], rng.randint(10, 90)),
        Case("A small c", [1, rng.randint(5, 30)], rng.randint(1, 3)),
        Case("No list has the page", [None, None], 60),
    ]


def _fused_score(ranks, c):
    listed = [rank for rank in ranks if rank is not None]
    fractions = [1 / (c + rank) for rank in listed]
    return sum(fractions)


FUSED_SCORE = completion("12-fused-score", _fused_score_cases, _fused_score)(
    fixed_c={"(c +": "(60 +"},
    rank_moved=[{"+ rank)": "+ rank + 1)"}, {"+ rank)": "+ rank - 1)"}],
    mean=[
        {"sum(fractions)": f"sum(fractions) / {number}"}
        for number in ("len(ranks)", "len(listed)", "max(len(listed), 1)", "(len(listed) or nan)")
    ],
    ranks_added_first=[
        {"sum(fractions)": "1 / (c + sum(listed))"},
        {"sum(fractions)": "1 / sum(c + r for r in listed)"},
    ],
    no_c={"(c + rank)": "rank"},
    parentheses_lost={"(c + rank)": "c + rank"},
    one_list_only=[
        {"sum(fractions)": score}
        for score in (
            "max(fractions)",
            "max(fractions, default=0)",
            "sum(fractions[:1])",
            "fractions[-1]",
        )
    ],
    c_above={"1 / (c": "c / (c"},
)
