"""manual.csv: the table in which a person gives points for hand-marked cells, and overrides those of exercises."""

import csv
import difflib
from dataclasses import replace
from pathlib import Path

from .marking import assignment
from .owners import in_words
from .platforms import PARTICIPANT
from .results import HandMarkedCell, Remark, whole
from .store import GradeError
from .submissions import numbered_rows, read_table, roster_of
from .tables import write_table
from .untrusted import from_cells

MANUAL = "manual.csv"
COLUMNS = ("learner", "name", "cell", "points", "of", "comment", "page")
UNCHANGED = "Nothing was changed."


def read_manual(path, learners):
    """Read what a person gave and wrote, and rewrite the file with a line for each hand-marked cell.

    A cell with a rubric has a line for each row of it ("14-report: Result"), and has points as soon as all its lines
    have some. A line about an exercise ("04-mean-pool") is a `Remark`; its points need a comment. Lines of other
    learners and lessons stay. Returns a sentence for the lines of other lessons, if there are any.

    Raises GradeError, naming the line, for points that are not a number from 0 to the maximum, for two lines about one
    cell or row, for points of a whole cell that has a rubric, for points of an exercise without a reason, and for a
    cell that the course does not have.
    """
    lines, rubrics = _lines_to_fill_in(learners)
    people, roster = {learner.learner: learner for learner in learners}, roster_of(learners)
    columns, kept, elsewhere = list(COLUMNS), {}, []
    for number, row in _rows(path):
        who = (row["learner"] or "").strip()
        if who not in people:  # a name, an e-mail, or as Moodle's worksheet has it
            who = PARTICIPANT.sub(r"\1", who)
            who = getattr(roster.find(who), "learner", who)
        if who not in people and (several := [one.learner for one in learners if who and one.name == who]):
            which = f"{who} is the name of {in_words(several)}: write one of these ids"
            raise GradeError(f"{path}, line {number}: {which}. {UNCHANGED}")
        key = who, (row["cell"] or "").strip()
        where, person = f"{path}, line {number}: ", people.get(key[0])
        if key in kept:
            raise GradeError(f"{where}{key[0]} has a second line for {key[1]}. {UNCHANGED}")
        kept[key] = row
        columns += [column for column in row if column not in columns]
        if key in lines or key in rubrics:
            _take_points(where, key, row, lines, rubrics)
        elif person and key[1] in person.exercises:
            lines[key] = person, person.exercises[key[1]]
            _take_remark(where, row, person, key[1])
        elif _says_something(row):
            _refuse_unknown(where, key[1])
            elsewhere += [key[1]] * bool(person)
    for cell, parts in rubrics.values():
        _sum_rubric(cell, parts)
    for learner in learners:
        learner.add_up()
    for key, (learner, cell) in lines.items():
        kept[key] = _line(kept.get(key, {}), key, learner, cell)
    if kept:
        values = [[row.get(column) or "" for column in columns] for _, row in sorted(kept.items())]
        write_table(path, columns, values, mark="\ufeff")
    if not elsewhere:
        return []
    return [f"{MANUAL}: lines about {in_words(elsewhere)} are of lessons that do not count here; they stay."]


def unclaimed(out, learners):
    """The learners who have points or comments in manual.csv but are not in this run."""
    path, known = Path(out) / MANUAL, {learner.learner for learner in learners}
    rows = filter(_says_something, read_table(path) if path.exists() else [])
    names = dict.fromkeys(from_cells(row["learner"]).strip() for row in rows)
    return [name for name in names if name not in known]


def _says_something(row):
    return bool((row["points"] or "").strip() or (row.get("comment") or "").strip())


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
        rows = numbered_rows(path) if path.exists() else []
    except (UnicodeDecodeError, csv.Error) as error:
        advice = " In Excel, save it as “CSV UTF-8”." if isinstance(error, UnicodeDecodeError) else ""
        raise GradeError(f"{path} cannot be read as CSV in UTF-8 ({error}).{advice} {UNCHANGED}") from None
    for number, row in rows:
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
    cell.points, cell.comment = _points(where, text, cell.of), row.get("comment") or ""


def _points(where, text, most):
    """Points as a number. Raises GradeError."""
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= most:
        raise GradeError(f"{where}points must be a number from 0 to {most}, got {text!r}. {UNCHANGED}")
    return whole(points)


def _take_remark(where, row, learner, exercise):
    """Put what a row says about an exercise into the record. Raises GradeError."""
    text, comment, mark = (row["points"] or "").strip(), (row.get("comment") or "").strip(), learner.exercises[exercise]
    if text:
        points = _points(where, text, mark.of)
        if not comment:
            raise GradeError(
                f"{where}points that replace the computed ones of {exercise} need a reason, which the learner reads; "
                f"write it under `comment`. {UNCHANGED}"
            )
        learner.remarks[exercise] = Remark(mark.points, comment, points)
        learner.exercises[exercise] = replace(mark, points=points)
    elif comment:
        learner.remarks[exercise] = Remark(mark.points, comment)


def _refuse_unknown(where, cell):
    """Raise GradeError if the course has no such exercise, hand-marked cell or row of a rubric."""
    work = assignment()
    known = {*work["exercises"], *work["by_hand"]}
    known |= {f"{one}: {row}" for one, rubric in work["rubrics"].items() for row in rubric}
    if cell not in known:
        near = difflib.get_close_matches(cell, sorted(known), n=1, cutoff=0)
        raise GradeError(f"{where}{cell!r} is no exercise of this course; did you mean {near[0]!r}? {UNCHANGED}")


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
