"""manual.csv: the table in which a person gives points for hand-marked cells, and overrides those
of exercises.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from .csv_files import numbered_rows, read_table, write_table
from .marking import assignment
from .names import in_words
from .platforms import PARTICIPANT
from .results import HandMarkedCell, LearnerRecord, Remark, whole
from .rosters import roster_of
from .store import GradeError
from .untrusted import from_cells

MANUAL = "manual.csv"
COLUMNS = ("learner", "name", "cell", "points", "of", "comment", "page")
UNCHANGED = "Nothing was changed."


def read_manual(path: Path, learners: Sequence[LearnerRecord]) -> list[str]:
    """Read what a person gave and wrote, and rewrite the file with a line for each hand-marked
    cell.

    A cell with a rubric has a line for each row of it ("14-report: Result"), and has points as soon
    as all its lines have some. A line about an exercise ("04-mean-pool") is a `Remark`; its points
    need a comment. Lines of other learners and lessons stay. Returns a sentence for the lines of
    other lessons, if there are any.

    Raises GradeError, naming the line, for points that are not a number from 0 to the maximum, for
    two lines about one cell or row, for points of a whole cell that has a rubric, for points of an
    exercise without a reason, and for a cell that the course does not have.
    """
    people, roster = {learner.learner: learner for learner in learners}, roster_of(learners)
    lines = {
        (learner.learner, line): cell for learner in learners for line, cell in _lines_of(learner)
    }
    filled_in, columns, elsewhere = {}, list(COLUMNS), []
    for number, row in _rows(path):
        where = f"{path}, line {number}: "
        name = PARTICIPANT.sub(r"\1", row["learner"].strip())  # as Moodle's worksheet has it
        line, person = row["cell"].strip(), roster.find(name)
        key = person.learner if person else name, line
        learner = people.get(key[0])
        if key in filled_in:
            raise GradeError(f"{where}{key[0]} has a second line for {line}. {UNCHANGED}")
        filled_in[key] = row
        columns += [column for column in row if column not in columns]
        if key in lines:
            if text := row["points"].strip():
                lines[key].points = _points(where, text, lines[key].of)
                lines[key].comment = row.get("comment", "")
        elif learner and line in learner.exercises:
            _take_remark(where, row, learner, line)
        elif _says_something(row):
            _refuse_unknown(where, line)
            elsewhere += [line] if learner else []
    for learner in learners:
        for name, cell in learner.by_hand.items():
            _sum_rubric(
                cell, {row: lines[learner.learner, f"{name}: {row}"] for row in cell.rubric}
            )
        learner.add_up()
    for key in lines:
        filled_in.setdefault(key, {"points": ""})
    if filled_in:
        _rewrite(path, columns, filled_in, learners)
    if not elsewhere:
        return []
    return [
        f"{MANUAL}: lines about {in_words(elsewhere)} are of lessons that do not count here; they stay."
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
                row |= {
                    "learner": learner.learner,
                    "name": learner.name,
                    "cell": line,
                    "of": mark.of,
                }
                row["page"] = f"feedback/{learner.page}"
    table = []
    for _, row in sorted(rows.items()):
        table.append([row.get(column, "") for column in columns])
    write_table(path, columns, table, mark="\ufeff")


def unclaimed(out: str | Path, learners: Iterable[LearnerRecord]) -> list[str]:
    """The learners who have points or comments in manual.csv but are not in this run."""
    path, known = Path(out) / MANUAL, {learner.learner for learner in learners}
    rows = read_table(path) if path.exists() else []
    names = [from_cells(row["learner"]).strip() for row in rows if _says_something(row)]
    return [name for name in dict.fromkeys(names) if name not in known]


def _says_something(row: Mapping[str, str]) -> bool:
    return bool(row["points"].strip() or row.get("comment", "").strip())


def _lines_of(learner: LearnerRecord) -> Iterator[tuple[str, HandMarkedCell]]:
    """The lines that the table needs, each with the cell or row of a rubric that it is about."""
    for name, cell in learner.by_hand.items():
        for row, most in cell.rubric.items():
            yield f"{name}: {row}", HandMarkedCell(most)
        if not cell.rubric:
            yield name, cell


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of the table with their line numbers. Raises GradeError."""
    if path.exists() and not path.is_file():
        raise GradeError(
            f"{path} is not a file: move it away, and run the same command to write a new one."
        )
    for number, guarded in numbered_rows(path) if path.exists() else []:
        row = {from_cells(column): from_cells(value) for column, value in guarded.items()}
        if not {"learner", "cell", "points"} <= set(row):
            raise GradeError(f"{path} needs the columns {', '.join(COLUMNS)}. {UNCHANGED}")
        yield number, row


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


def _take_remark(where: str, row: Mapping[str, str], learner: LearnerRecord, exercise: str) -> None:
    text, comment = row["points"].strip(), row.get("comment", "").strip()
    mark = learner.exercises[exercise]
    points = _points(where, text, mark.of) if text else None
    if points is not None:
        if not comment:
            raise GradeError(
                f"{where}points that replace the computed ones of {exercise} need a reason, which the learner reads; "
                f"write it under `comment`. {UNCHANGED}"
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
        near = difflib.get_close_matches(cell, sorted(known), n=1, cutoff=0)
        raise GradeError(
            f"{where}{cell!r} is no exercise of this course; did you mean {near[0]!r}? {UNCHANGED}"
        )


def _sum_rubric(cell: HandMarkedCell, rows: Mapping[str, HandMarkedCell]) -> None:
    """Give a cell the points and comments of the rows of its rubric, if it has one."""
    given = {row: part for row, part in rows.items() if part.points is not None}
    if not given:
        return
    if len(given) == len(rows):
        cell.points = sum(part.points or 0 for part in given.values())
    lines = []
    for row, part in given.items():
        comment = f". {part.comment}" if part.comment else ""
        lines.append(f"{row}: {part.points} of {part.of}{comment}")
    cell.comment = "\n".join(lines)
