"""Write what instructors open: grades.csv, the tables for learning platforms, the pages, and what was left out."""

import csv
import io
import zipfile
from pathlib import Path

from ... import __version__
from ..._support.files import write_whole
from ..._support.notebooks import part_with
from . import class_report, platforms
from .reports import write_feedback, write_summary
from .submissions import read_table
from .untrusted import for_cells

GRADES, LEFT_OUT = "grades.csv", "left_out.csv"
RESEMBLANCE = "resemblance.html", "resemblance.csv"
LONGEST = 500  # characters of a reason or of all notes


def write_tables(out, learners, work, isolated, left_out=(), downloads=(), names=False, **addresses):
    """Write grades.csv, the tables for learning platforms, the feedback pages, the summary and the class report.

    Points that are None become empty cells.

    left_out: files that belong to no learner, with .file and .why.
    downloads: the rows of CSV files, one of which may be a platform's own table to fill in.
    names, addresses: of the class report, see `class_report.write_page`.
    """
    lessons = sorted({part_with(one) for learner in learners for one in (*learner.exercises, *learner.by_hand)})
    _write_grades(out / GRADES, learners, work, lessons)
    title = f"Lessons {', '.join(lessons)}" if len(lessons) > 1 else "".join(work["titles"][one] for one in lessons)
    for platform in platforms.PLATFORMS:
        tables = (platform.filled(rows, learners) for rows in downloads)
        if filled := next(filter(None, tables), None):
            header, rows = list(filled[0]), [list(row.values()) for row in filled]
        else:
            header, *rows = platform.table(list(filter(platform.lists, learners)), title)
        write_table(out / f"{platform.name}.csv", header, rows)
    _write_left_out(out / LEFT_OUT, left_out)
    _write_pages(out / "feedback", learners, work["titles"])
    about = {
        "lessons": lessons,
        "version": __version__,
        "isolated": isolated,
        "left_out": [(one.file, one.why) for one in left_out],
        "by_hand_waiting": sum(
            cell.points is None and bool(cell.text) for learner in learners for cell in learner.by_hand.values()
        ),
    }
    write_summary(out / "summary.html", learners, work["titles"], about)
    found, titles = class_report.items(learners), [work["titles"][one] for one in lessons]
    class_report.write_page(out / "class.html", learners, found, titles, names, **addresses)
    write_table(out / "class.csv", *class_report.table(found, names))


def feedback_zip(out, name):
    """Where the zip of feedback for a platform of this name is."""
    return out / f"feedback_{name}.zip"


def write_feedback_zip(out, learners, name):
    """Write the learners' pages as a platform takes them back, to feedback_NAME.zip. Returns how many.

    The same pages give the same bytes.
    """
    platform = next(one for one in platforms.PLATFORMS if one.name == name)
    data, pages = io.BytesIO(), 0
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for learner in learners:
            for place in platform.feedback_names(learner):
                archive.writestr(zipfile.ZipInfo(place), (out / "feedback" / learner.page).read_bytes())
                pages += 1
    write_whole(feedback_zip(out, name), data.getvalue())
    return pages


def table_or_nothing(path):
    """The rows of a CSV file that somebody gave, none if it cannot be read."""
    try:
        return read_table(path)
    except (OSError, UnicodeDecodeError, csv.Error):
        return []


def count_left_out(out):
    """How many files of the last run belong to no learner."""
    path = Path(out) / LEFT_OUT
    return len(read_table(path)) if path.exists() else 0


def write_table(path, header, rows, mark=""):
    """Write a CSV file. mark: its first characters; spreadsheets read a file with a byte order mark as UTF-8."""
    write_whole(path, mark + "".join(map(_line, [header, *rows])))


def _line(row):
    text = io.StringIO()
    # so that it quotes both line ends
    csv.writer(text, lineterminator="\r\n").writerow([for_cells(value) for value in row])
    return text.getvalue()[:-2] + "\n"


def _write_grades(path, learners, work, lessons):
    """A row for each learner, with a column for each exercise."""
    exercises = [one for one in work["exercises"] if part_with(one) in lessons]
    by_hand = [one for one in work["by_hand"] if part_with(one) in lessons]
    due = any(learner.due for learner in learners)
    last = [*(["late days", "deducted"] if due else []), "total", "of", "to mark by hand", "status", "reason", "notes"]
    rows = [
        [
            learner.learner,
            learner.name,
            f"feedback/{learner.page}",
            *(learner.exercises[one].points for one in exercises),
            *(learner.by_hand[one].points for one in by_hand),
            *([learner.late_days, learner.deducted] if due else []),
            *(learner.points, learner.of, learner.waiting),
            *(learner.status, _cut(learner.reason), _cut("; ".join(learner.notes))),
        ]
        for learner in learners
    ]
    write_table(path, ["learner", "name", "page", *exercises, *by_hand, *last], rows)


def _cut(text):
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"


def _write_left_out(path, left_out):
    if left_out:
        write_table(path, ["file", "why"], [[one.file, one.why] for one in left_out])
    else:
        path.unlink(missing_ok=True)


def _write_pages(folder, learners, titles):
    """Write the feedback pages, and delete those of learners who are no longer in the class."""
    folder.mkdir(exist_ok=True)
    write_feedback(folder, learners, titles)
    for page in {path.name for path in folder.glob("*.html")} - {learner.page for learner in learners}:
        (folder / page).unlink()
