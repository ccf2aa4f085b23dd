"""Write what instructors open: grades.csv, the tables for learning platforms, the pages, and what
was left out.
"""

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ... import __version__
from ..._support.files import write_whole
from ..._support.notebooks import part_with
from . import class_report, platforms
from .csv_files import read_table, write_table
from .handed_files import LeftOut
from .reports import write_feedback, write_summary
from .results import LearnerRecord
from .store import GradeError

GRADES, LEFT_OUT = "grades.csv", "left_out.csv"
RESEMBLANCE = "resemblance.html", "resemblance.csv"


def write_tables(
    out: Path,
    learners: list[LearnerRecord],
    work: Mapping[str, dict],
    isolated: bool,
    left_out: Sequence[LeftOut] = (),
    downloads: Iterable[list[dict[str, str]]] = (),
    names: bool = False,
    **addresses: str,
) -> None:
    """Write grades.csv, the tables for learning platforms, the feedback pages, the summary and the
    class report.

    Points that are None become empty cells.

    work: see `marking.assignment`.
    left_out: files that belong to no learner.
    downloads: the rows of CSV files, one of which may be a platform's own table to fill in.
    names, addresses: of the class report, see `class_report.write_page`.
    """
    titles = work["titles"]
    lessons = sorted(
        {part_with(name) for learner in learners for name in (*learner.exercises, *learner.by_hand)}
    )
    _write_grades(out / GRADES, learners, work, lessons)
    title = (
        f"Lessons {', '.join(lessons)}"
        if len(lessons) > 1
        else "".join(titles[one] for one in lessons)
    )
    for platform in platforms.PLATFORMS:
        tables = (platform.filled(rows, learners) for rows in downloads)
        header, *rows = next(filter(None, tables), None) or platform.table(learners, title)
        write_table(out / f"{platform.name}.csv", header, rows)
    if left_out:
        write_table(out / LEFT_OUT, ["file", "why"], [[left.file, left.why] for left in left_out])
    else:
        (out / LEFT_OUT).unlink(missing_ok=True)
    _write_pages(out / "feedback", learners, titles)
    cells = [cell for learner in learners for cell in learner.by_hand.values()]
    about = {
        "lessons": lessons,
        "version": __version__,
        "isolated": isolated,
        "left_out": [(left.file, left.why) for left in left_out],
        "by_hand_waiting": sum(cell.points is None and bool(cell.text) for cell in cells),
    }
    write_summary(out / "summary.html", learners, titles, about)
    items = class_report.items(learners)
    titles_of_lessons = [titles[lesson] for lesson in lessons]
    class_report.write_page(
        out / "class.html", learners, items, titles_of_lessons, names, **addresses
    )
    write_table(out / "class.csv", *class_report.table(items, names))


def feedback_zip(out: Path, name: str) -> Path:
    """Where the zip of feedback for a platform of this name is."""
    return out / f"feedback_{name}.zip"


def write_feedback_zip(out: Path, learners: Iterable[LearnerRecord], name: str) -> int:
    """Write the learners' pages as a platform takes them back, to feedback_NAME.zip. Returns how
    many.

    The same pages give the same bytes.
    """
    platform = next(platform for platform in platforms.PLATFORMS if platform.name == name)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for learner in learners:
            page = (out / "feedback" / learner.page).read_bytes()
            for place in platform.feedback_names(learner):
                archive.writestr(zipfile.ZipInfo(place), page)
        pages = len(archive.namelist())
    write_whole(feedback_zip(out, name), data.getvalue())
    return pages


def table_or_nothing(path: str | Path) -> list[dict[str, str]]:
    """The rows of a CSV file that somebody gave, none if it cannot be read."""
    try:
        return read_table(path)
    except GradeError:
        return []


def _write_grades(
    path: Path, learners: Iterable[LearnerRecord], work: Mapping[str, dict], lessons: list[str]
) -> None:
    """A row for each learner, with a column for each exercise."""
    exercises = [exercise for exercise in work["exercises"] if part_with(exercise) in lessons]
    by_hand = [cell for cell in work["by_hand"] if part_with(cell) in lessons]
    rows = []
    for learner in learners:
        row = {"learner": learner.learner, "name": learner.name, "page": f"feedback/{learner.page}"}
        row |= {exercise: learner.exercises[exercise].points for exercise in exercises}
        row |= {cell: learner.by_hand[cell].points for cell in by_hand}
        if learner.due:
            row |= {"late days": learner.late_days, "deducted": learner.deducted}
        row |= {"total": learner.points, "of": learner.of, "to mark by hand": learner.waiting}
        row |= {
            "status": learner.status,
            "reason": learner.reason,
            "notes": "; ".join(learner.notes),
        }
        rows.append(row)
    header = list(rows[0]) if rows else ["learner"]
    write_table(path, header, [list(row.values()) for row in rows])


def _write_pages(folder: Path, learners: list[LearnerRecord], titles: dict[str, str]) -> None:
    """Write the feedback pages, and delete those of learners who are no longer in the class."""
    folder.mkdir(exist_ok=True)
    write_feedback(folder, learners, titles)
    for page in {path.name for path in folder.glob("*.html")} - {
        learner.page for learner in learners
    }:
        (folder / page).unlink()
