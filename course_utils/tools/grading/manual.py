"""manual.csv: the table in which a person gives points for hand-marked cells, and overrides those
of exercises.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from .csv_files import numbered_rows, write_table
from .marking import assignment
from .platforms import PARTICIPANT
from .results import GradeError, HandMarkedCell, LearnerRecord, Remark, whole
from .rosters import roster_of
from .texts import from_cells, in_words

MANUAL = "manual.csv"
COLUMNS = ("learner", "name", "cell", "points", "of", "comment", "page")
UNCHANGED = "Nothing was changed."


def read_manual(path: Path, learners: Sequence[LearnerRecord]) -> list[str]:
    """Read what a person gave and wrote, and rewrite the file with a line for each hand-marked
    cell.

    A cell with a rubric has a line for each row of it ("14-report: Result"), and has points as soon
    as all its lines have some. A line about an exercise ("04-mean-pool") is a `Remark`; its points
    need a comment. Lines of other learners and lessons stay. Returns a sentence about each of
    these, if there are any.

    Raises GradeError, naming the line, for points that are not a number from 0 to the maximum, for
    two lines about one cell or row, for points of a whole cell that has a rubric, for points of an
    exercise without a reason, and for a cell that the course does not have.
    """
    by_key, roster = {learner.learner: learner for learner in learners}, roster_of(learners)
    cells = {
        (learner.learner, line): cell for learner in learners for line, cell in _lines_of(learner)
    }
    rows, columns, strangers, other_lessons = {}, list(COLUMNS), [], []
    for number, row in _rows(path):
        where = f"{path}, {number}: "
        name = PARTICIPANT.sub(r"\1", row["learner"].strip())  # as Moodle's worksheet has it
        cell_name, person = row["cell"].strip(), roster.find(name)
        learner_key = person.learner if person else name
        learner, key = by_key.get(learner_key), (learner_key, cell_name)
        if key in rows:
            raise GradeError(f"{where}{learner_key} has a second line for {cell_name}. {UNCHANGED}")
        rows[key] = row
        columns += [column for column in row if column not in columns]
        points, comment = row["points"].strip(), row.get("comment", "").strip()
        if key in cells:
            if points:
                cells[key].points = _points(where, points, cells[key].of)
                cells[key].comment = comment
        elif learner and cell_name in learner.exercises:
            _take_remark(where, points, comment, learner, cell_name)
        elif points or comment:
            _refuse_unknown(where, cell_name)
            if learner:
                other_lessons.append(cell_name)
            else:
                strangers.append(name)
    for learner in learners:
        for name, cell in learner.by_hand.items():
            parts = {row: cells[learner.learner, f"{name}: {row}"] for row in cell.rubric}
            _sum_rubric(cell, parts)
        learner.add_up()
    for key in cells:
        rows.setdefault(key, {"points": ""})
    if rows:
        _rewrite(path, columns, rows, learners)
    sentences = {
        "lines about {} are of lessons that do not count here; they stay.": other_lessons,
        "lines of {} belong to no learner of this run and are not counted.": strangers,
    }
    return [
        f"{MANUAL}: {sentence.format(in_words(names))}"
        for sentence, names in sentences.items()
        if names
    ]


def _rewrite(
    path: Path,
    columns: list[str],
    rows: dict[tuple[str, str], dict],
    learners: Iterable[LearnerRecord],
) -> None:
    """Write the table again: what a person wrote stays, the rest is renewed."""
    for learner in learners:
        marks = {**learner.exercises, **dict(_lines_of(learner))}
        for line, mark in marks.items():
            if row := rows.get((learner.learner, line)):
                row.update(learner=learner.learner, name=learner.name, cell=line, of=mark.of)
                row["page"] = f"feedback/{learner.page}"
    table = [[row.get(column, "") for column in columns] for _, row in sorted(rows.items())]
    write_table(path, columns, table, mark="\ufeff")


def _lines_of(learner: LearnerRecord) -> Iterator[tuple[str, HandMarkedCell]]:
    """The lines that the table needs, each with the cell or row of a rubric that it is about."""
    for name, cell in learner.by_hand.items():
        for row, most in cell.rubric.items():
            yield f"{name}: {row}", HandMarkedCell(most)
        if not cell.rubric:
            yield name, cell


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of the table with their lines. Raises GradeError."""
    for line, guarded in numbered_rows(path) if path.exists() else []:
        row = {from_cells(column): from_cells(value) for column, value in guarded.items()}
        if not {"learner", "cell", "points"} <= set(row):
            raise GradeError(f"{path} needs the columns {', '.join(COLUMNS)}. {UNCHANGED}")
        yield line, row


def _points(where: str, text: str, most: float) -> float:
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= most:
        raise GradeError(
            f"{where}points must be a number from 0 to {most}, got {text!r}. {UNCHANGED}"
        )
    return whole(points)


def _take_remark(
    where: str, text: str, comment: str, learner: LearnerRecord, exercise: str
) -> None:
    """Take the points and the comment of a line about an exercise."""
    mark = learner.exercises[exercise]
    points = _points(where, text, mark.of) if text else None
    if points is not None:
        if not comment:
            raise GradeError(
                f"{where}points that replace the computed ones of {exercise} need a reason, which "
                f"the learner reads; write it under `comment`. {UNCHANGED}"
            )
        learner.exercises[exercise] = replace(mark, points=points)
    if comment:
        learner.remarks[exercise] = Remark(mark.points, comment, points)


def _refuse_unknown(where: str, cell: str) -> None:
    """Raise GradeError if the course has no such exercise, hand-marked cell or row of a rubric."""
    work = assignment()
    known = {*work["exercises"], *work["by_hand"]} - set(work["rubrics"])
    for name, rubric in work["rubrics"].items():
        known |= {f"{name}: {row}" for row in rubric}
    if cell not in known:
        (nearest,) = difflib.get_close_matches(cell, sorted(known), n=1, cutoff=0)
        raise GradeError(
            f"{where}{cell!r} is no exercise of this course; did you mean {nearest!r}? {UNCHANGED}"
        )


def _sum_rubric(cell: HandMarkedCell, rows: Mapping[str, HandMarkedCell]) -> None:
    """Give a cell the points and comments of the rows of its rubric, if it has one."""
    marked = {row: part for row, part in rows.items() if part.points is not None}
    if not marked:
        return
    if len(marked) == len(rows):
        cell.points = sum(part.points or 0 for part in marked.values())
    lines = []
    for row, part in marked.items():
        comment = f". {part.comment}" if part.comment else ""
        lines.append(f"{row}: {part.points} of {part.of}{comment}")
    cell.comment = "\n".join(lines)
