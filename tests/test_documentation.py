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
    assert (
        list(docs.columns) == ["name", "package", "text"] and docs["name"].is_monotonic_increasing
    )
    assert docs["name"].is_unique and set(docs["package"]) == set(DOCUMENTED)
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
    assert queries["id"].is_unique and queries["query"].is_unique
    assert pd.crosstab(queries["part"], queries["kind"]).to_dict("index")["dev"] == {
        "plain": 40, "term": 16, "name": 16, "symptom": 14, "none": 10,
    }  # fmt: skip
    assert len(load_doc_queries("dev")) == len(load_doc_queries("test")) == 96
    assert not judged.duplicated(["id", "name"]).any() and set(judged["grade"]) == {0, 1, 2}
    assert set(judged["name"]) <= set(docs["name"]) and set(judged["id"]) <= set(queries["id"])
    best = judged.groupby("id")["grade"].max().reindex(queries["id"], fill_value=0)
    assert (best[queries["kind"].to_numpy() == "none"] == 0).all()
    assert (best[queries["kind"].to_numpy() != "none"] == 2).all()


def test_no_query_names_its_answer():
    queries = load_doc_queries().set_index("id")["query"]
    answers = load_doc_judgements().query("grade == 2")
    assert not [row for row in answers.itertuples() if row.name in queries[row.id]]
