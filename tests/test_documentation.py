"""The documentation that lesson 12 searches, and the queries and judgements written for it."""

import inspect

import pandas as pd
import pytest

from course_utils import load_doc_judgements, load_doc_queries, load_docstrings
from course_utils.data import DOCUMENTED, MIN_DOCSTRING_WORDS

# how many queries of each kind a part has: the table in course_utils/tables/README.md
KINDS = {"plain": 40, "term": 16, "name": 16, "symptom": 14, "none": 10}


@pytest.fixture(scope="module")
def docs():
    return load_docstrings()


def test_the_names_are_in_order_and_each_stands_there_once(docs):
    assert docs["name"].tolist() == sorted(set(docs["name"]))


def test_the_columns_and_packages_are_the_declared_ones(docs):
    assert list(docs.columns) == ["name", "package", "text"]
    assert set(docs["package"]) == set(DOCUMENTED)


def test_each_text_has_enough_words_and_no_two_texts_have_the_same(docs):
    words = docs["text"].str.split()
    assert words.str.len().min() >= MIN_DOCSTRING_WORDS
    assert not words.str.join(" ").duplicated().any()


def test_a_text_is_the_docstring_of_its_name(docs):
    assert docs.set_index("name")["text"]["pandas.DataFrame.dropna"] == inspect.getdoc(
        pd.DataFrame.dropna
    )


def test_number_types_private_names_and_what_comes_from_elsewhere_are_left_out(docs):
    assert not set(docs["name"]) & {
        "numpy.float64",
        "numpy.longlong",
        "sklearn.svm.np",
        "sklearn.calibration.clone",
    }
    assert not any(name.rpartition(".")[2].startswith("_") for name in docs["name"])


@pytest.mark.parametrize(
    "load, columns",
    [
        (load_doc_queries, ["id"]),
        (load_doc_queries, ["query"]),
        (load_doc_judgements, ["id", "name"]),
    ],
    ids=["a query's id", "a query", "a judgement"],
)
def test_nothing_is_written_twice(load, columns):
    assert not load().duplicated(columns).any()


@pytest.mark.parametrize("part", ["dev", "test"])
def test_both_parts_have_the_same_number_of_queries_of_each_kind(part):
    assert load_doc_queries(part)["kind"].value_counts(dropna=False).to_dict() == KINDS


def test_judgements_have_known_grades_and_are_of_known_names_and_queries(docs):
    judgements = load_doc_judgements()
    assert set(judgements["grade"]) == {0, 1, 2}
    assert set(judgements["name"]) <= set(docs["name"])
    assert set(judgements["id"]) <= set(load_doc_queries()["id"])


def test_every_query_has_an_answer_unless_its_kind_is_none():
    queries = load_doc_queries()
    best_grades = load_doc_judgements().groupby("id")["grade"].max()
    # a query without any judgement has no answer
    queries["best"] = queries["id"].map(best_grades).fillna(0)
    assert set(queries.query("kind == 'none'")["best"]) == {0}
    assert set(queries.query("kind != 'none'")["best"]) == {2}


def test_no_query_names_its_answer():
    queries = load_doc_queries().set_index("id")["query"]
    answers = load_doc_judgements().query("grade == 2")
    assert not [answer for answer in answers.itertuples() if answer.name in queries[answer.id]]
