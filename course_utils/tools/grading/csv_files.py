"""Read tables that a person made, and write tables that spreadsheets open."""

import csv
import io
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from ..._support.files import read_named, write_whole
from ..._support.tables import DataError, rows_in
from .results import GradeError
from .texts import LONGEST_PATH, for_cells, for_messages, normalised

MOST_ABOVE = 5  # lines above the header, such as the title of an export and an empty line

# for each row: where it stands, such as "line 2", and its values by column
Rows = list[tuple[str, dict[str, str]]]


def numbered_rows(path: str | Path, headings: Collection[str] = ()) -> Rows:
    """[("line 2", {column: value})] of a CSV file, separated by commas, semicolons or tabs.

    These are the rows below the header, none for an empty file. A value that is missing at the end
    of a row is "".

    headings: the first line with one of them is the header, if at most MOST_ABOVE lines are above
    it; else the first line is. They are `normalised`.

    Raises GradeError for a file that cannot be read or is not CSV in UTF-8. An unclosed quotation
    mark is an error too, since it would swallow the lines after it, and so is a row with more
    values than columns.
    """
    shown = for_messages(path, LONGEST_PATH)
    try:
        text = read_named(path).decode("utf-8-sig")
        rows = list(rows_in(_without_lines_above(text, headings), shown))
    except UnicodeDecodeError:
        raise GradeError(f"{shown} is not in UTF-8; save it as CSV in UTF-8.") from None
    except OSError as error:
        raise GradeError(f"{shown} cannot be read: {error.strerror or error}.") from None
    except DataError as error:
        raise GradeError(f"{error}.") from None
    header = rows[0][1] if rows else []
    table = []
    for line, cells in rows[1:]:
        if any(cells[len(header) :]):
            raise GradeError(
                f"{shown}, {line}: there are more values than columns; quote any text that "
                "contains the sign between columns."
            )
        # a row may be shorter than the header
        row = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
        table.append((line, row))
    return table


def _without_lines_above(text: str, headings: Collection[str]) -> str:
    """A table with the lines above its header emptied, so that the others keep their numbers; the
    line that states the separator stays.
    """
    lines = text.split("\n", MOST_ABOVE)
    for place, line in enumerate(lines):
        # the last of these is the rest of the text, of which only the first line is looked at
        titles = {normalised(title) for title in re.split("[,;\t]", line.partition("\n")[0])}
        if not titles.isdisjoint(headings):
            lines[:place] = [line if line.startswith("sep=") else "" for line in lines[:place]]
            break
    return "\n".join(lines)


def normalised_rows(path: str | Path, headings: Collection[str] = ()) -> Rows:
    """`numbered_rows` with `normalised` columns, and without spaces around the values."""
    return [(line, _normalised_row(row)) for line, row in numbered_rows(path, headings)]


def _normalised_row(row: dict[str, str]) -> dict[str, str]:
    return {normalised(column): value.strip() for column, value in row.items()}


def read_table(path: str | Path) -> list[dict[str, str]]:
    """The rows of a CSV file, {column: value} each; see `numbered_rows`."""
    return [row for _, row in numbered_rows(path)]


def write_table(
    path: Path, header: Sequence[object], rows: Iterable[Sequence[object]], mark: str = ""
) -> None:
    """Write a CSV file, or replace it, with cells that no spreadsheet takes for formulas.

    mark: what the file begins with. Spreadsheets read a file with a byte order mark, "\\ufeff", as
    UTF-8.
    """
    write_whole(path, mark + "".join(map(_line, [header, *rows])))


def _line(row: Sequence[object]) -> str:
    text = io.StringIO()
    # with this terminator, cells that contain either line end are quoted
    csv.writer(text, lineterminator="\r\n").writerow([for_cells(value) for value in row])
    return text.getvalue().removesuffix("\r\n") + "\n"
