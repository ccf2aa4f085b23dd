"""manual.csv: the table in which a person gives points by hand.

They are the points of hand-marked cells, or replace the computed points of exercises.
"""

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from .csv_files import numbered_rows, write_table
from .marking import assignment
from .platforms import PARTICIPANT
from .results import GradeError, HandMarkedCell, LearnerRecord, Remark, whole
from .rosters import Roster, roster_of
from .texts import from_cells, in_words

MANUAL = "manual.csv"
COLUMNS = ("learner", "name", "cell", "points", "of", "comment", "page")
UNCHANGED = "Nothing was changed."  # ends messages: the file is as it was

# what a row is about: a learner's key, and the id of an exercise, a cell or a rubric's row
Key = tuple[str, str]


def read_manual(path: Path, learners: Sequence[LearnerRecord]) -> list[str]:
    """Give these learners the points and comments that a person wrote, and renew the table.

    The records are changed, and added up. No file is written if there are no lines to write.

    The table has a line for each hand-marked cell. A cell with a rubric has a line for each row of
    it ("14-report: Result"), and has points as soon as all its lines have some. A line about an
    exercise ("04-mean-pool") is a `Remark`; its points need a comment. A comment on a hand-marked
    cell counts only with points. Lines of other learners and lessons stay, but do not count.

    Returns a sentence about the lines of other lessons, and one about those of other learners, if
    such lines have points or comments.

    Raises GradeError, naming the line, for points that are not a number from 0 to the maximum, for
    two lines about one cell or row, for points of a whole cell that has a rubric, for points of an
    exercise without a reason, and for a cell that the course does not have; also for a file that
    is not such a table. The file is then unchanged, but some of the records may be changed.
    """
    record_of = {learner.learner: learner for learner in learners}
    cells_of = {learner.learner: _cells_in_table(learner) for learner in learners}
    # a line without points for each cell, which the file's line replaces
    rows = {
        (learner_key, cell_id): {"points": ""}
        for learner_key, cells in cells_of.items()
        for cell_id in cells
    }
    ignored = []
    for where, key, row in _rows(path, roster_of(learners)):
        rows[key] = row
        learner_key, cell_id = key
        record = record_of.get(learner_key)
        if not _take(where, row, cell_id, record, cells_of.get(learner_key, {})):
            ignored.append(key)
    for learner in learners:
        _sum_rubrics(learner, cells_of[learner.learner])
        learner.add_up()
    if rows:
        _rewrite(path, rows, learners, cells_of)
    return _about_ignored(ignored, record_of)


def _cells_in_table(learner: LearnerRecord) -> dict[str, HandMarkedCell]:
    """A learner's hand-marked cells, by their ids in the table.

    In place of a cell with a rubric, there is a new one for each row: `_sum_rubrics` adds them up.
    """
    cells = {}
    for cell_id, cell in learner.by_hand.items():
        rows = {f"{cell_id}: {row}": HandMarkedCell(most) for row, most in cell.rubric.items()}
        cells |= rows or {cell_id: cell}
    return cells


def _rows(path: Path, roster: Roster) -> Iterator[tuple[str, Key, dict[str, str]]]:
    """The rows of the table, as (where, key, row).

    `where` is the beginning of messages about a row, `key` says what it is about.

    Raises GradeError for a table without the needed columns, and for two rows with one key.
    """
    keys = set()
    for line, guarded in numbered_rows(path) if path.exists() else []:
        where = f"{path}, {line}: "
        row = {from_cells(column): from_cells(value) for column, value in guarded.items()}
        if not {"learner", "cell", "points"} <= set(row):
            raise GradeError(f"{path} needs the columns learner, cell and points. {UNCHANGED}")
        name = PARTICIPANT.sub(r"\1", row["learner"].strip())  # as Moodle's worksheet has it
        person = roster.find(name)
        learner_key = person.learner if person else name
        cell_id = row["cell"].strip()
        key = (learner_key, cell_id)
        if key in keys:
            raise GradeError(f"{where}{learner_key} has a second line for {cell_id}. {UNCHANGED}")
        keys.add(key)
        yield where, key, row


def _take(
    where: str,
    row: dict[str, str],
    cell_id: str,
    learner: LearnerRecord | None,
    cells: Mapping[str, HandMarkedCell],
) -> bool:
    """Take the points and the comment of a row.

    learner, cells: whom the row is about, with the cells in the table; None and {} for a stranger.

    Returns False if what a person wrote into it does not count. Raises GradeError.
    """
    points = row["points"].strip()
    comment = row.get("comment", "").strip()
    if cell_id in cells:
        if points:
            cells[cell_id].points = _points(where, points, cells[cell_id].of)
            cells[cell_id].comment = comment
    elif learner and cell_id in learner.exercises:
        _take_remark(where, points, comment, learner, cell_id)
    elif points or comment:
        _refuse_unknown(where, cell_id)
        return False
    return True


def _points(where: str, text: str, most: float) -> float:
    with suppress(ValueError):
        points = float(text.replace(",", "."))  # "6,5" is from a spreadsheet in German
        if 0 <= points <= most:
            return whole(points)
    raise GradeError(f"{where}points must be a number from 0 to {most}, got {text!r}. {UNCHANGED}")


def _take_remark(
    where: str, text: str, comment: str, learner: LearnerRecord, exercise: str
) -> None:
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


def _refuse_unknown(where: str, cell_id: str) -> None:
    """Raise GradeError if the course has no such exercise, hand-marked cell or row of a rubric."""
    work = assignment()
    known = {*work["exercises"], *work["by_hand"]} - set(work["rubrics"])
    known |= {f"{name}: {row}" for name, rubric in work["rubrics"].items() for row in rubric}
    if cell_id not in known:
        # without a cutoff, there is always one
        (nearest,) = difflib.get_close_matches(cell_id, sorted(known), n=1, cutoff=0)
        raise GradeError(
            f"{where}{cell_id!r} is no exercise of this course; did you mean {nearest!r}? "
            f"{UNCHANGED}"
        )


def _sum_rubrics(learner: LearnerRecord, cells: Mapping[str, HandMarkedCell]) -> None:
    """Give each cell that has a rubric the comments of its rows, and their points once all have
    some.

    cells: see `_cells_in_table`.
    """
    for cell_id, cell in learner.by_hand.items():
        rows = {row: cells[f"{cell_id}: {row}"] for row in cell.rubric}
        marked = {row: part for row, part in rows.items() if part.points is not None}
        if not marked:
            continue
        if len(marked) == len(rows):
            cell.points = sum(part.points or 0 for part in marked.values())
        lines = []
        for row, part in marked.items():
            comment = f". {part.comment}" if part.comment else ""
            lines.append(f"{row}: {part.points} of {part.of}{comment}")
        cell.comment = "\n".join(lines)


def _rewrite(
    path: Path,
    rows: Mapping[Key, dict[str, str]],
    learners: Iterable[LearnerRecord],
    cells_of: Mapping[str, Mapping[str, HandMarkedCell]],
) -> None:
    """Write the table: what a person wrote stays, the rest is renewed."""
    for learner in learners:
        for cell_id, mark in {**learner.exercises, **cells_of[learner.learner]}.items():
            # an exercise has a row only if a person wrote one
            if row := rows.get((learner.learner, cell_id)):
                row.update(
                    learner=learner.learner,
                    name=learner.name,
                    cell=cell_id,
                    of=str(mark.of),
                    page=f"feedback/{learner.page}",
                )
    # the course's columns first, then those that a person added
    columns = list(dict.fromkeys(chain(COLUMNS, *rows.values())))
    table = [[row.get(column, "") for column in columns] for _, row in sorted(rows.items())]
    write_table(path, columns, table, mark="\ufeff")  # people edit it in spreadsheets


def _about_ignored(keys: Sequence[Key], learners: Collection[str]) -> list[str]:
    """A sentence about rows of other lessons, and one about those of others than these learners.

    Returns only sentences about rows that there are.
    """
    sentences = {
        "lines about {} are of lessons that do not count here; they stay.": [
            cell_id for learner_key, cell_id in keys if learner_key in learners
        ],
        "lines of {} belong to no learner of this run and are not counted.": [
            learner_key for learner_key, _ in keys if learner_key not in learners
        ],
    }
    return [
        f"{MANUAL}: {sentence.format(in_words(names))}"
        for sentence, names in sentences.items()
        if names
    ]
