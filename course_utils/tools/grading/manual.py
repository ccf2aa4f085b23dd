"""manual.csv: the table in which a person gives points for hand-marked cells."""

import csv
from pathlib import Path

from .results import HandMarkedCell, whole
from .store import GradeError
from .submissions import read_table
from .tables import write_table
from .untrusted import from_cells

MANUAL = "manual.csv"
COLUMNS = ("learner", "name", "cell", "points", "of", "comment", "page")
UNCHANGED = "Nothing was changed."


def read_manual(path, learners):
    """Read the points that a person gave, and rewrite the file with a line for each hand-marked cell.

    A cell with a rubric has a line for each row of it ("14-report: Result"), and has points as soon as all its lines
    have some. Lines of other learners stay. Raises GradeError, naming the line, for points that are not a number from 0
    to the maximum, for two lines about one cell or row, and for points of a whole cell that has a rubric.
    """
    lines, rubrics = _lines_to_fill_in(learners)
    columns, kept = list(COLUMNS), {}
    for number, row in _rows(path):
        key, where = (row["learner"] or "", row["cell"] or ""), f"{path}, line {number}: "
        if key in kept:
            raise GradeError(f"{where}{key[0]} has a second line for {key[1]}. {UNCHANGED}")
        kept[key] = row
        columns += [column for column in row if column not in columns]
        _take_points(where, key, row, lines, rubrics)
    for cell, parts in rubrics.values():
        _sum_rubric(cell, parts)
    for learner in learners:
        learner.add_up()
    for key, (learner, cell) in lines.items():
        kept[key] = _line(kept.get(key, {}), key, learner, cell)
    if kept:
        values = [[row.get(column) or "" for column in columns] for _, row in sorted(kept.items())]
        write_table(path, columns, values, mark="\ufeff")


def unclaimed(out, learners):
    """The lines of manual.csv that have points but belong to no learner of this run."""
    path, known = Path(out) / MANUAL, {learner.learner for learner in learners}
    return [
        from_cells(row["learner"])
        for row in (read_table(path) if path.exists() else [])
        if from_cells(row["points"]) and from_cells(row["learner"]) not in known
    ]


def _lines_to_fill_in(learners):
    """The lines that the table needs, and the cells whose points are sums of lines.

    Returns {(learner, text of the line): (record, HandMarkedCell)} and {(learner, cell): (cell, {row: its part})}.
    """
    lines, rubrics = {}, {}
    for learner in learners:
        for one, cell in learner.by_hand.items():
            parts = {row: HandMarkedCell(most) for row, most in cell.rubric.items()}
            lines |= {(learner.learner, f"{one}: {row}"): (learner, part) for row, part in parts.items()}
            if parts:
                rubrics[learner.learner, one] = cell, parts
            else:
                lines[learner.learner, one] = learner, cell
    return lines, rubrics


def _rows(path):
    """The rows of the table with their line numbers. Raises GradeError."""
    if path.exists() and not path.is_file():
        raise GradeError(f"{path} is not a file: move it away, and run the same command to write a new one.")
    try:
        rows = read_table(path) if path.exists() else []
    except (UnicodeDecodeError, csv.Error) as error:
        raise GradeError(f"{path} cannot be read as CSV in UTF-8 ({error}). {UNCHANGED}") from None
    for number, row in enumerate(rows, 2):
        row = {_unguarded(column): _unguarded(value) for column, value in row.items()}
        if not {"learner", "cell", "points"} <= set(row):
            raise GradeError(f"{path} needs the columns {', '.join(COLUMNS)}. {UNCHANGED}")
        if None in row:
            raise GradeError(
                f"{path}, line {number}: there are more values than columns; quote any text that contains a comma. "
                f"{UNCHANGED}"
            )
        yield number, row


def _unguarded(value):
    return from_cells(value) if isinstance(value, str) else value


def _take_points(where, key, row, lines, rubrics):
    """Put the points of a row into its cell. where: the beginning of a sentence about the row. Raises GradeError."""
    text = (row["points"] or "").strip()
    if key in rubrics and text:
        raise GradeError(
            f"{where}{key[1]} is marked by the rows of its rubric now, {key[1]}: {', '.join(rubrics[key][1])}; move "
            f"the points there and empty them here. {UNCHANGED}"
        )
    if key not in lines or not text:
        return
    _, cell = lines[key]
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= cell.of:
        raise GradeError(f"{where}points must be a number from 0 to {cell.of}, got {text!r}. {UNCHANGED}")
    cell.points, cell.comment = whole(points), row.get("comment") or ""


def _sum_rubric(cell, parts):
    """Give a cell the points and comments of the rows of its rubric."""
    if all(part.points is not None for part in parts.values()):
        cell.points = sum(part.points for part in parts.values())
    cell.comment = "\n".join(
        f"{row}: {part.points} of {part.of}{'. ' if part.comment else ''}{part.comment}"
        for row, part in parts.items()
        if part.points is not None
    )


def _line(old, key, learner, cell):
    """A row of the table: what a person wrote stays, the rest is renewed."""
    return {
        **old,
        "learner": key[0],
        "name": learner.name,
        "cell": key[1],
        "points": old.get("points") or "",
        "of": cell.of,
        "comment": old.get("comment") or "",
        "page": f"feedback/{learner.page}",
    }
