"""Read tables that a person made, and write tables that spreadsheets open."""

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from ..._support.files import write_whole
from ..._support.tables import begun
from .names import normalised
from .store import GradeError
from .untrusted import for_cells, for_messages

LARGEST = 2**26  # bytes
MOST_ABOVE = 5  # lines above the header


def numbered_rows(
    path: str | Path, headings: Collection[str] = ()
) -> list[tuple[int, dict[str, str]]]:
    """[(the line where it ends, row)] of a CSV file, separated by commas, semicolons or tabs.

    headings: the first line with one of them is the header, if there is one near the beginning;
    else the first line. They are `normalised`.

    Raises GradeError for a file that is not CSV in UTF-8. An unclosed quotation mark is an error
    too, since it would swallow the lines after it, and so is a row with more values than columns.
    """
    shown = for_messages(path, 300)
    try:
        return _rows(path, headings)
    except UnicodeDecodeError:
        raise GradeError(f"{shown} is not in UTF-8; save it as CSV in UTF-8.") from None
    except (OSError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise GradeError(f"{shown} cannot be read: {why}.") from None


def _rows(path: str | Path, headings: Collection[str]) -> list[tuple[int, dict[str, str]]]:
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise csv.Error(f"it is larger than {LARGEST // 2**20} MB")
    text, above, separator = begun(data.decode("utf-8-sig"))
    lines = text.split("\n", MOST_ABOVE)
    for place, line in enumerate(lines):
        titles = {normalised(title) for title in re.split("[,;\t]", line)}
        if not titles.isdisjoint(headings):
            text, _, separator = begun("\n".join(lines[place:]))
            above += place
            break
    file = io.StringIO(text, newline="")
    reader = csv.DictReader(file, delimiter=separator, strict=True, restval="")
    try:
        rows = [(above + reader.line_num, row) for row in reader]
    except csv.Error as error:
        line = above + reader.line_num + 1
        raise csv.Error(f"line {line}: {error}; is there an unclosed quotation mark?") from None
    for line, row in rows:
        if any(row.pop(None, ())):
            raise csv.Error(
                f"line {line}: there are more values than columns; quote any text that contains a comma"
            )
    return rows


def normalised_rows(
    path: str | Path, headings: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """`numbered_rows` with `normalised` columns, and without spaces around the values."""
    for number, row in numbered_rows(path, headings):
        yield number, {normalised(column): value.strip() for column, value in row.items()}


def read_table(path: str | Path) -> list[dict[str, str]]:
    """The rows of a CSV file, see `numbered_rows`."""
    return [row for _, row in numbered_rows(path)]


def write_table(
    path: Path, header: Sequence[object], rows: Iterable[Sequence[object]], mark: str = ""
) -> None:
    """Write a CSV file.

    mark: its first characters; spreadsheets read a file with a byte order mark as UTF-8.
    """
    lines = [_line(row) for row in (header, *rows)]
    write_whole(path, mark + "".join(lines))


def _line(row: Sequence[object]) -> str:
    text = io.StringIO()
    # with this terminator, cells that contain either line end are quoted
    csv.writer(text, lineterminator="\r\n").writerow([for_cells(value) for value in row])
    return text.getvalue()[:-2] + "\n"
