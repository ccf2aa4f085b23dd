"""Read files of scored sentence pairs strictly: no row is dropped silently."""

import csv
import io
import math

from .tables import begun

PAIR = ["sentence1", "sentence2", "score"]
STSB_PLACES = {"score": 4, "sentence1": 5, "sentence2": 6}  # in the format of the task's own site, which has no header


class DataError(ValueError):
    """A data file is malformed. The message names the file, the line and what is wrong there."""


def read_pairs(path):
    import pandas as pd

    kinds = {".parquet": pd.read_parquet, ".jsonl": lambda path: pd.read_json(path, lines=True, dtype=False)}
    if ".json" in path.suffixes:
        raise DataError(f"{path.name} must have one object a line; write it as JSON Lines, with the ending .jsonl")
    read = next((kinds[suffix] for suffix in path.suffixes if suffix in kinds), None)
    if read is None:
        rows, whole_scale = _rows_of_text(path)
    else:
        try:
            table, whole_scale = read(path), False
        except Exception as error:  # pyarrow and pandas have a class for each kind of damage
            raise DataError(
                f"{path.name} cannot be read as {''.join(path.suffixes)} ({type(error).__name__})"
            ) from None
        _columns_there(path, table.columns)
        rows = ((f"row {row}", *values) for row, values in enumerate(table[PAIR].itertuples(index=False, name=None)))
    pairs = pd.DataFrame([_checked_pair(path, *row) for row in rows], columns=PAIR)
    if pairs.empty:
        raise DataError(f"{path.name} holds no pairs")
    if not whole_scale and pairs["score"].max() <= 1:
        pairs["score"] *= 5
    return pairs


def _columns_there(path, columns):
    missing = [name for name in PAIR if name not in columns]
    if missing:
        raise DataError(f"{path.name} has no column {missing[0]!r}; its columns are {', '.join(map(str, columns))}")


def _rows_of_text(path):
    """([(place, sentence1, sentence2, score)], whether scores are known to go up to 5) of a TSV or CSV file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DataError(f"{path.name}, line {line}: this is not UTF-8 text") from None
    if not text.strip():
        raise DataError(f"{path.name} is empty")
    text, above, sign = begun(text)
    first = text.partition("\n")[0]
    header, tabs = "sentence1" in first, "\t" in first
    # Tab-separated tables never quote: a quotation mark there is part of a sentence.
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter="\t" if tabs else sign,
        strict=True,
        quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL,
    )
    places, width, rows = STSB_PLACES, None, []
    if not header and not tabs:
        raise DataError(f"{path.name}, line 1: neither a header that names {', '.join(PAIR)}, nor tabs between columns")
    start = 1 + above
    try:
        if header:
            names = next(reader)
            _columns_there(path, names)
            places, width = {name: names.index(name) for name in PAIR}, len(names)
        start = reader.line_num + 1 + above
        for cells in reader:
            place, start = f"line {start}", reader.line_num + 1 + above
            if not cells:
                continue
            if len(cells) != width if width else len(cells) < 7:
                raise DataError(
                    f"{path.name}, {place}: {len(cells)} columns, and there should be {width or '7 or more'}"
                )
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
        raise DataError(
            f"{path.name}, {place}: the score is {'missing' if missing else f'{score!r}, not a number from 0 to 5'}"
        )
    return one, other, number
