"""Lists of strings and tables as text: how they are read, whoever brings them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# what separates the columns of a table, and what an error calls it
SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}


class DataError(ValueError):
    """A data file or table is malformed. The message names it, the line and what is wrong there."""


def csv_body(text: str) -> tuple[str, int, str]:
    """(body, how many lines stand above it, separator) of a CSV file: the body is the text without
    the line "sep=;" that spreadsheets write.

    separator: what separates the columns, as that line says, else the commonest of SEPARATORS in
    the header (the first of these if several are, so a comma if there is none).
    """
    stated = re.match(r"\s*sep=(.)\r?\n", text)
    body = text[stated.end() :] if stated else text
    header = body.strip().partition("\n")[0]
    separator = stated[1] if stated else max(SEPARATORS, key=header.count)
    return body, text.count("\n") - body.count("\n"), separator


def table_in(text: str, name: str, columns: Iterable[str], **csv_settings: Any) -> pd.DataFrame:
    """The table in a text with a header line. Its index says where each row begins ("line 2").

    name, csv_settings: as in `rows_in`. columns: for the message about an empty table; see
    `check_columns`. Raises DataError, with the line.
    """
    import pandas as pd

    rows = list(rows_in(text, name, **csv_settings))
    if not rows:
        raise DataError(f"{name}: the table is empty; its first line must be {','.join(columns)}")
    (_, header), *rows = rows
    width = len(header)
    table = {}  # {line: cells}
    for line, cells in rows:
        # separators at the end of a line, as spreadsheets write
        if not any(cell.strip() for cell in cells[width:]):
            cells = cells[:width]
        if len(cells) != width:
            separator = SEPARATORS.get(csv_body(text)[2], "the sign between columns")
            raise DataError(
                f"{name}, {line}: there are {len(cells)} values, and {width} columns. Put a text "
                f'that contains {separator} in quotes: "..."'
            )
        table[line] = cells
    return pd.DataFrame.from_dict(
        table, orient="index", columns=[column.strip() for column in header]
    )


def rows_in(text: str, name: str, **csv_settings: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield ("line 3", cells) of each row that is not blank. Raises DataError, with the line.

    The line is that where the row begins: a quoted cell may have several.
    name: what an error calls the text. csv_settings: further ones of csv.reader.
    """
    body, above, separator = csv_body(text)
    reader = csv.reader(
        io.StringIO(body, newline=""), delimiter=separator, strict=True, **csv_settings
    )
    line = 1 + above
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield f"line {line}", cells
            line = 1 + above + reader.line_num
    except csv.Error:
        raise DataError(
            f"{name}, line {line}: a quotation mark is never closed, or text stands after it. "
            'Write two, "", for one inside a quoted text'
        ) from None


def check_columns(given: Iterable[str], wanted: Iterable[str], name: str) -> None:
    """Raise DataError unless each wanted column is there, once. Others may be there as well.

    wanted: no iterator, since it is read several times. name: what an error calls the table.
    """
    given = list(given)
    if repeated := [column for column in wanted if given.count(column) > 1]:
        raise DataError(f"{name}: there is more than one column {', '.join(repeated)}")
    if missing := [column for column in wanted if column not in given]:
        raise DataError(
            f"{name}: there is no column {', '.join(missing)}; the columns must be "
            f"{', '.join(wanted)}"
        )


def strings_of(strings: Iterable[str], name: str) -> list[str]:
    """Strings as a list. name: what an error calls them. Raises TypeError for anything else."""
    # a dictionary or a table would yield its keys or column names; a set has no order
    is_no_list = not isinstance(strings, Iterable) or isinstance(
        strings, (str, bytes, dict, set, frozenset)
    )
    # an array has ndim, and its strings must stand in one dimension
    if is_no_list or getattr(strings, "ndim", 1) != 1:
        raise TypeError(f"{name} must be a list of strings; got {type(strings).__name__}")
    strings = list(strings)
    for place, string in enumerate(strings):
        if not isinstance(string, str):
            raise TypeError(f"{name}[{place}] must be a string; got {type(string).__name__}")
    return strings
