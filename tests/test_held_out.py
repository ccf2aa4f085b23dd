"""Held-out queries: the grader alone asks them, and nothing that an answer makes of them is shown."""

import random
import re

import pytest

from course_utils.exercises import check, find
from course_utils.exercises.judging import examine
from course_utils.exercises.search_engine import HELD_OUT_TARGET, _pool
from course_utils.tools.grading.marking import cases_of

EXERCISE = find("14-search")
# {query: its judgements} of the development queries and of the held-out ones, and the texts that
# both are asked of
DEV, HELD_OUT, TEXTS = _pool()


class Mixed:
    """An answer that is the reference but for the held-out queries.

    Not a function: of those, the check also judges which of a notebook's names they use.
    """

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, queries, texts, k):
        # held out or not: the queries of a case are all of one kind
        return (self.answer if queries[0] in HELD_OUT else EXERCISE.reference)(queries, texts, k)


def marked(answer):
    """The grader's report on an answer that is the reference but for the held-out queries.

    The seed draws the order of the texts; any would do.
    """
    return examine(EXERCISE, Mixed(answer), 1, cases=cases_of("14-search", 1))


@pytest.mark.parametrize("seed", range(5))
def test_the_check_of_a_learner_asks_no_held_out_query(seed):
    queries = set().union(*(case.args[0] for case in EXERCISE.cases(random.Random(seed))))
    assert queries > set(DEV)
    assert not queries & set(HELD_OUT)


def test_the_grader_asks_the_held_out_queries_of_the_same_texts():
    (case,) = [case for case in cases_of("14-search", 1) if case.secret]
    assert set(case.args[0]) == set(HELD_OUT)
    assert set(case.args[1]) == set(TEXTS)


def test_a_passed_search_is_told_its_value_on_held_out_queries_by_the_grader_alone():
    report = marked(EXERCISE.reference)
    (value,) = re.findall(
        rf"On {len(HELD_OUT)} held-out queries the mean nDCG@10 is (0\.\d+)\.",
        " ".join(report.messages),
    )
    assert report.passed
    assert float(value) >= HELD_OUT_TARGET
    assert "held-out" not in repr(check("14-search", EXERCISE.reference, 1))


def shows_a_query(texts):
    # 20 characters: long texts are cut; `raising_by_name` has underscores for blanks
    return any(query[:20] in text.replace("_", " ") for text in texts for query in HELD_OUT)


def raising(queries, texts, k):
    raise ValueError(" ".join(queries))


def raising_by_name(queries, texts, k):
    # an exception whose type is named after the query
    raise type(queries[0].replace(" ", "_"), (Exception,), {})()


@pytest.mark.parametrize(
    "answer, words",
    [
        (raising, "raised an error, which is not shown"),
        (raising_by_name, "raised an error, which is not shown"),
        (lambda queries, texts, k: {}[queries[0]], "raised an error, which is not shown"),
        (
            lambda queries, texts, k: [[query] * k for query in queries],
            "did not return lists of k places",
        ),
        (lambda queries, texts, k: queries, "did not return lists of k places"),
        (
            lambda queries, texts, k: [[0.5] * k for _ in queries],
            "did not return lists of k places",
        ),
        (lambda queries, texts, k: None, "returned nothing"),
        (
            lambda queries, texts, k: [list(range(k)) for _ in queries],
            f"and the target is {HELD_OUT_TARGET}",
        ),
    ],
    ids=["raises", "raises by name", "a key", "texts", "queries", "decimals", "nothing", "bad"],
)
def test_nothing_that_an_answer_makes_of_held_out_queries_is_shown(answer, words):
    report = marked(answer)
    assert not report.passed, report.discreet
    assert not shows_a_query(report.discreet)
    assert words in " ".join(report.discreet), report.discreet
