"""The documentation that lesson 12 searches, and the queries and judgements that were written for it."""

import inspect
import subprocess
import sys

import pandas as pd
import pytest

from course_utils import load_doc_judgements, load_doc_queries, load_docstrings
from course_utils.data import DOCUMENTED, MIN_DOCSTRING_WORDS
from course_utils.trainings.search import checksum


@pytest.fixture(scope="module")
def docs():
    return load_docstrings()


def test_the_documentation_is_that_of_public_names(docs):
    assert docs["name"].tolist() == sorted(set(docs["name"])), "in order, and each once"
    assert (list(docs.columns)[1:], set(docs["package"])) == (["package", "text"], set(DOCUMENTED))
    assert docs["text"].str.split().str.len().min() >= MIN_DOCSTRING_WORDS
    assert not docs["text"].str.split().map(" ".join).duplicated().any()
    assert {
        "pandas.DataFrame.dropna",
        "numpy.where",
        "scipy.stats.ttest_ind",
        "sklearn.svm.SVC",
    } <= set(docs["name"])
    assert docs["text"][docs["name"] == "pandas.DataFrame.dropna"].item() == inspect.getdoc(
        pd.DataFrame.dropna
    )


@pytest.mark.nightly
def test_the_texts_are_the_same_in_another_process(docs):
    code = (
        "from course_utils import load_docstrings, setup; setup(); "
        "from course_utils.trainings.search import checksum; "
    )
    done = subprocess.run(
        [sys.executable, "-c", code + "print(checksum(load_docstrings()))"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == checksum(docs), done.stderr


def test_number_types_and_what_comes_from_elsewhere_are_left_out(docs):
    names = set(docs["name"])
    assert not names & {
        "numpy.float64",
        "numpy.longlong",
        "sklearn.svm.np",
        "sklearn.calibration.clone",
    }
    assert not any(name.rsplit(".", 1)[1].startswith("_") for name in names)


def test_every_query_has_its_kind_and_its_answers(docs):
    queries, judged = load_doc_queries(), load_doc_judgements()
    assert (queries["id"].is_unique, queries["query"].is_unique) == (True, True)
    assert load_doc_queries("dev")["kind"].value_counts().to_dict() == {
        "plain": 40, "term": 16, "name": 16, "symptom": 14, "none": 10,
    }  # fmt: skip
    assert len(load_doc_queries("dev")) == len(load_doc_queries("test")) == 96
    # judgements: no pair twice, and of queries and texts that there are
    assert (judged.duplicated(["id", "name"]).any(), set(judged["grade"])) == (False, {0, 1, 2})
    assert (set(judged["name"]) - set(docs["name"]), set(judged["id"]) - set(queries["id"])) == (
        set(),
        set(),
    )
    best = judged.groupby("id")["grade"].max().reindex(queries["id"], fill_value=0)
    unanswered = queries["kind"].to_numpy() == "none"
    assert (set(best[unanswered]), set(best[~unanswered])) == ({0}, {2})


def test_no_query_names_its_answer():
    queries = load_doc_queries().set_index("id")["query"]
    answers = load_doc_judgements().query("grade == 2")
    assert not [row for row in answers.itertuples() if row.name in queries[row.id]]
