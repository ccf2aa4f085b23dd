"""Readers' own data: a folder of texts, judged queries, scored pairs. It is read unchanged, or
refused with a sentence that says why.

Lessons 08 and 14 use it.
"""

import csv
import difflib
import math
import os
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markdown_it import MarkdownIt

from ._support.tables import DataError, check_columns, csv_body, rows_in, table_in

READABLE = (".md", ".markdown", ".rst", ".txt", ".py")  # what `load_texts` reads
# HTML tags that stay behind when web pages are copied
MARKUP = (
    r"</?(?:a|b|br|code|div|em|h[1-6]|hr|html|body|i|img|li|ol|p|pre|script|span|strong|style|t[dhr]"
    r"|table|ul)\b[^<>]*>"
)
PAIR = ["sentence1", "sentence2", "score"]  # the columns of a table of scored pairs
PAIR_READERS = {  # by the ending of files that are not text with tabs or commas
    ".parquet": pd.read_parquet,
    ".jsonl": lambda path: pd.read_json(path, lines=True, dtype=False),
}


# Texts


def load_texts(folder: str | Path) -> pd.DataFrame:
    """The texts in a folder and the folders inside it: Markdown, reStructuredText, plain text and
    Python, in UTF-8.

    Skipped are hidden files and folders, files of other kinds, linked folders, and what cannot be
    read or named; one warning says how many. Returns a table with the columns `name` (the path in
    the folder, with "/", its accents in Unicode's form NFC) and `text`, in the order of `name`,
    without the carriage returns of Windows. Raises FileNotFoundError for a missing folder or one
    without such files, ValueError for files in another encoding or with a zero character; each
    names what it is about.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder on this machine")
    rows, skipped = [], {}
    for name, path, why in _files_in(folder):
        if why:
            skipped.setdefault(why, []).append(name)
            continue
        try:
            rows.append((name, _utf8_text(path)))
        except OSError:
            skipped.setdefault("unreadable", []).append(name)
    foreign = [name for name, text in rows if text is None]
    summary = " and ".join(
        f"{len(names)} {why} ({_listed(sorted(names))})" for why, names in skipped.items()
    )
    if not rows:
        more = f"; skipped were {summary}" if summary else ""
        raise FileNotFoundError(f"{folder} has no files that end with {', '.join(READABLE)}{more}")
    if foreign:
        raise ValueError(
            f"{len(foreign)} of {len(rows)} files are not in UTF-8, or hold a zero character, which "
            f"no text has: {_listed(foreign)}. Save them as UTF-8 in an editor, or move them out of "
            "the folder"
        )
    if summary:
        warnings.warn(f"{len(rows)} files were read; skipped were {summary}", stacklevel=2)
    return pd.DataFrame(sorted(rows), columns=["name", "text"])


def _files_in(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """(name, path, why it is not read, or "") of the files in a folder and the folders inside it.

    A name is as in `_name_in`. For a file whose ending is not in READABLE it is the ending, or else
    the file's name. Hidden files of this kind are not yielded: nobody misses them.
    """
    unreadable = []
    for parent, folders, files in os.walk(folder, onerror=unreadable.append):
        for path in (Path(parent, name) for name in sorted(folders)):
            if path.is_symlink():  # os.walk does not follow it
                yield _name_in(folder, path), path, "linked folders"
        for path in (Path(parent, name) for name in sorted(files)):
            name = _name_in(folder, path)
            hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if path.suffix.lower() not in READABLE:
                if not hidden:
                    yield path.suffix or path.name, path, "of another kind"
            elif hidden:
                yield name, path, "hidden"
            elif not path.is_file():
                yield name, path, "broken links" if path.is_symlink() else "of another kind"
            else:  # for "\ufffd" see `_name_in`
                yield name, path, "whose names are not in UTF-8" if "\ufffd" in name else ""
    for error in unreadable:
        path = Path(error.filename)
        yield _name_in(folder, path), path, "unreadable"


def _utf8_text(path: Path) -> str | None:
    """The text of a file that can be read, or None if it is not in UTF-8 or holds a zero byte."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    # UTF-16 without accents is valid UTF-8, with a zero byte beside each letter
    return None if "\0" in text else text.replace("\r\n", "\n")


def _name_in(folder: Path, path: Path) -> str:
    name = path.relative_to(folder).as_posix()
    # a byte that is not UTF-8 becomes "\ufffd"
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))


def _listed(values: Iterable[Any], most: int = 5) -> str:
    """The first few of many names: "a, b and 3 more". A name that comes twice is listed once."""
    names = list(dict.fromkeys(map(str, values)))
    first = ", ".join(names[:most])
    return f"{first} and {len(names) - most} more" if len(names) > most else first


def doubtful_texts(table: pd.DataFrame) -> pd.DataFrame:
    """What a search may stumble over in a table with the columns `name` and `text`.

    Returns a table with the columns `name` and `problem`: texts that are empty, that equal an
    earlier one (white space aside), or that hold HTML tags; no rows if there are none. Tags in the
    code of Markdown, and in files whose name ends with .py, are content and do not count. Two
    things need the encoder and are not looked at here: whether it reads a text to its end, and
    which texts are nearly the same (lesson 14).
    """
    rows, first_with = [], {}  # first_with: {words of a text: the first name that has them}
    for name, text in zip(table["name"], table["text"]):
        words = " ".join(text.split())
        if not words:
            rows.append((name, "it is empty: leave it out"))
        elif words in first_with:
            rows.append((name, f"it is the same text as {first_with[words]}: keep one"))
        first_with.setdefault(words, name)
        tags = 0 if str(name).endswith(".py") else _tags_outside_code(text)
        if tags:
            noun = "tag" if tags == 1 else "tags"
            rows.append((name, f"it holds {tags:,} HTML {noun} outside code: remove them"))
    return pd.DataFrame(rows, columns=["name", "problem"])


def _tags_outside_code(text: str) -> int:
    """How many of the tags in MARKUP a text holds outside its code, read as Markdown."""
    if not re.search(MARKUP, text):  # most texts have none, and parsing takes long
        return 0
    blocks = MarkdownIt("commonmark").parse(text)
    tokens = blocks + [child for block in blocks for child in block.children or ()]
    html = "\n".join(
        token.content for token in tokens if token.type in ("html_block", "html_inline")
    )
    return len(re.findall(MARKUP, html))


# Judged queries


def read_judged(
    queries: pd.DataFrame | str, judgements: pd.DataFrame | str, names: Iterable[str]
) -> pd.DataFrame:
    """Queries with their judgements, from two tables: DataFrames, or text with a header line.

    The text's columns are separated by commas, semicolons or tabs, as its first line has them;
    blank lines do not count. However its accents and spaces are encoded, a name is the same.

    queries: the columns `id`, `part` ("dev" or "test") and `query`.
    judgements: the columns `id`, `name` and `grade` (2 answers the query, 1 helps, 0 does neither).
    names: of all texts; a text without a line has not been judged.

    Returns the queries with a column `grades`: for each a dict {place in names: grade above 0},
    empty if no text is relevant. Raises ValueError, naming what is wrong: a quotation mark that is
    never closed, a column that is missing, an id or query that is empty or comes twice, a part, id
    or name that does not exist, a text that is judged twice, another grade.
    """
    queries = _texts_of(queries, ("id", "part", "query"), "queries")
    judgements = _texts_of(judgements, ("id", "name", "grade"), "judgements")

    # the queries
    _refuse_any(queries["query"][queries["id"] == ""], "queries: there is no id for")
    for column in ("id", "query"):
        _refuse_any(
            queries[column][queries[column].duplicated()], f"queries: this {column} comes twice"
        )
    _refuse_any(queries["id"][queries["query"] == ""], "queries: there is no query for")
    _refuse_any(
        queries["part"][~queries["part"].isin(("dev", "test"))],
        'queries: part must be "dev" or "test"; got',
    )

    # the judgements
    places = {_spelled(str(name)): place for place, name in enumerate(names)}
    judgements["name"] = judgements["name"].map(_spelled)
    ids, judged_names, grade = (judgements[column] for column in ("id", "name", "grade"))
    _refuse_any(ids[~ids.isin(queries["id"])], "judgements: there is no query with the id")
    _refuse_any(
        judged_names[~judged_names.isin(places)], "judgements: there is no text called", places
    )
    _refuse_any(grade[~grade.isin(("0", "1", "2"))], "judgements: grade must be 0, 1 or 2; got")
    twice = judgements[judgements.duplicated(["id", "name"])]
    _refuse_any(twice["id"] + " " + twice["name"], "judgements: this is judged twice")

    # {id of a query: {place of a text: grade}}
    grades = {query_id: {} for query_id in queries["id"]}
    for query_id, name, value in zip(ids, judged_names, grade):
        if value != "0":
            grades[query_id][places[name]] = int(value)
    return queries.assign(grades=pd.Series(list(grades.values()), queries.index)).reset_index(
        drop=True
    )


def _spelled(name: str) -> str:
    """A name as names are compared: in Unicode's form NFC, and each run of spaces as one blank."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def _refuse_any(values: pd.Series, what: str, known: Iterable[str] = ()) -> None:
    """Raise DataError if there are values: its message is `what`, then the values.

    known: what would be right; the one most like the first value is suggested.
    """
    if len(values):
        near = difflib.get_close_matches(values.iloc[0], known, n=1)
        suggestion = f"; did you mean {near[0]}?" if near else ""
        raise DataError(f"{what} {_listed(value or '(empty)' for value in values)}{suggestion}")


def _texts_of(table: pd.DataFrame | str, columns: Sequence[str], name: str) -> pd.DataFrame:
    """These columns of a table, as texts without white space around them.

    name: what an error calls the table. Raises DataError for a missing column.
    """
    if isinstance(table, str):
        table = table_in(table.removeprefix("\ufeff"), name, columns, skipinitialspace=True)
    check_columns(table.columns, columns, name)
    return table[list(columns)].map(_as_text)


def _as_text(value: Any) -> str:
    """A cell as text: "" for a missing value; a whole number without ".0", which pandas may add."""
    if pd.isna(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


# Scored pairs


def read_pairs(path: Path) -> pd.DataFrame:
    """The pairs in a file: the columns of PAIR. For its formats see `data.load_scored_pairs`.

    Raises DataError for one that is damaged: no row is dropped silently.
    """
    if ".json" in path.suffixes:
        raise DataError(
            f"{path.name} must have one object a line; write it as JSON Lines, with the ending .jsonl"
        )
    # of all endings, since a table may be compressed, as in .jsonl.gz
    readers = [PAIR_READERS[suffix] for suffix in path.suffixes if suffix in PAIR_READERS]
    table, is_scale_known = (
        (_pairs_read_by(readers[0], path), False) if readers else _pairs_in_text(path)
    )
    check_columns(table.columns, PAIR, path.name)
    rows = table[PAIR].itertuples(name=None)
    pairs = pd.DataFrame(
        [_checked_pair(f"{path.name}, {place}", *row) for place, *row in rows], columns=PAIR
    )
    if pairs.empty:
        raise DataError(f"{path.name} holds no pairs")
    if not is_scale_known and pairs["score"].max() <= 1:  # these go from 0 to 1, the course's to 5
        pairs["score"] *= 5
    return pairs


def _pairs_read_by(reader: Callable[[Path], pd.DataFrame], path: Path) -> pd.DataFrame:
    """The table that a reader finds in a file, with "row 0" and so on as its index.

    Raises DataError for a file that the reader cannot read.
    """
    try:
        table = reader(path)
    except Exception as error:  # pyarrow and pandas have a class for each kind of damage
        raise DataError(
            f"{path.name} cannot be read as {''.join(path.suffixes)} ({type(error).__name__})"
        ) from None
    table.index = [f"row {number}" for number in range(len(table))]
    return table


def _pairs_in_text(path: Path) -> tuple[pd.DataFrame, bool]:
    """(table, whether scores are known to go up to 5) of a text with tabs or commas.

    The index says where a row stands, such as "line 2". Raises DataError for a text that is not
    UTF-8, or whose form is none of those in `data.load_scored_pairs`.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DataError(f"{path.name}, line {line}: this is not UTF-8 text") from None
    first_line = csv_body(text)[0].partition("\n")[0]
    # Tab-separated tables never quote: a quotation mark there is part of a sentence.
    csv_options = {"quoting": csv.QUOTE_NONE} if "\t" in first_line else {}
    if "sentence1" in first_line or not text.strip():
        return table_in(text, path.name, PAIR, **csv_options), False
    if "\t" not in first_line:
        raise DataError(
            f"{path.name}, line 1: neither a header that names {', '.join(PAIR)}, nor tabs between "
            "columns"
        )
    # STS-B as its authors distribute it, without a header: four columns about a pair's origin, the
    # score, both sentences, and in some rows the sources
    rows = {}
    for line, cells in rows_in(text, path.name, **csv_options):
        if len(cells) < 7:
            raise DataError(
                f"{path.name}, {line}: {len(cells)} columns, and there should be 7 or more"
            )
        rows[line] = cells[:7]
    names = {4: "score", 5: "sentence1", 6: "sentence2"}
    return pd.DataFrame.from_dict(rows, orient="index").rename(columns=names), True


def _checked_pair(place: str, sentence1: Any, sentence2: Any, score: Any) -> tuple[str, str, float]:
    # place: of the pair in its file, for the errors
    for name, sentence in (("sentence1", sentence1), ("sentence2", sentence2)):
        if not isinstance(sentence, str) or not sentence.strip():
            raise DataError(f"{place}: {name} is missing")
    try:
        number = float(score)
    except (TypeError, ValueError):
        number = math.nan  # which is in no range
    if not 0 <= number <= 5:
        raise DataError(f"{place}: the score must be a number from 0 to 5; got {score!r}")
    return sentence1, sentence2, number
