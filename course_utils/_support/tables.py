"""Lists of strings and tables as text: how they are read, whoever brings them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SIGNS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}  # what separates the columns of a table


class DataError(ValueError):
    """A data file or table is malformed. The message names it, the line and what is wrong there."""


def begun(text: str) -> tuple[str, int, str]:
    """(text, lines above, sign) of a CSV file, without the line "sep=;" that spreadsheets write.

    sign: what separates the columns, as that line says, else the commonest of SIGNS in the header.
    """
    stated = re.match(r"\s*sep=(.)\r?\n", text)
    below = text[stated.end() :] if stated else text
    header = below.strip().partition("\n")[0]
    sign = stated[1] if stated else max(SIGNS, key=header.count)
    return below, text.count("\n") - below.count("\n"), sign


def table_in(text: str, name: str, columns: Iterable[str], **how: Any) -> pd.DataFrame:
    """The table in a text with a header line, its index the lines ("line 2"). Raises DataError,
    with the line.
    """
    import pandas as pd

    rows = list(rows_in(text, name, **how))
    if not rows:
        raise DataError(f"{name}: the table is empty; its first line must be {','.join(columns)}")
    (_, head), *rows = rows
    width, table = len(head), {}
    for line, cells in rows:
        # signs at the end of a line, as spreadsheets write
        if not any(cell.strip() for cell in cells[width:]):
            cells = cells[:width]
        if len(cells) != width:
            sign = SIGNS.get(begun(text)[2], "the sign between columns")
            raise DataError(
                f"{name}, {line}: there are {len(cells)} values, and {width} columns. Put a text "
                f'that contains {sign} in quotes: "..."'
            )
        table[line] = cells
    return pd.DataFrame.from_dict(
        table, orient="index", columns=[column.strip() for column in head]
    )


def rows_in(text: str, name: str, **how: Any) -> Iterator[tuple[str, list[str]]]:
    """("line 3", cells) of each row that is not blank. how: settings of csv.reader."""
    text, above, sign = begun(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True, **how)
    line = 1 + above
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield f"line {line}", cells
            line = 1 + above + reader.line_num
    except csv.Error:
        raise DataError(
            f"{name}, line {line}: a quotation mark is never closed, or text stands after it. Write "
            'two, "", for one inside a quoted text'
        ) from None


def check_columns(given: Iterable[str], wanted: Iterable[str], name: str) -> None:
    """Raise DataError unless each wanted column is there, once."""
    given = list(given)
    if twice := [column for column in wanted if given.count(column) > 1]:
        raise DataError(f"{name}: there is more than one column {', '.join(twice)}")
    if missing := [column for column in wanted if column not in given]:
        raise DataError(
            f"{name}: there is no column {', '.join(missing)}; the columns must be "
            f"{', '.join(wanted)}"
        )


def strings_of(strings: Iterable[str], name: str) -> list[str]:
    """Strings as a list. name: what an error calls them. Raises TypeError for anything else."""
    # a dictionary or a table would yield its keys or column names; a set has no order
    no_list = not isinstance(strings, Iterable) or isinstance(strings, (str, bytes, dict, set))
    if no_list or getattr(strings, "ndim", 1) != 1:
        raise TypeError(f"{name} must be a list of strings; got {type(strings).__name__}")
    strings = list(strings)
    for place, string in enumerate(strings):
        if not isinstance(string, str):
            raise TypeError(f"{name}[{place}] must be a string; got {type(string).__name__}")
    return strings
