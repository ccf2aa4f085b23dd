"""What a run writes for people: grades.csv, the tables for learning platforms, a page of feedback
for each learner, the summary of the class, and what was left out.

Text from learners is shown as text, never as markup.
"""

import io
import statistics
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ... import __version__
from ..._support.files import write_whole
from ..._support.marks import code_marks
from ..._support.notebooks import part_with
from . import platforms
from .csv_files import read_table, write_table
from .handed_files import LeftOut
from .results import MARK_STATUSES, SAME_FILE, STATUSES, GradeError, LearnerRecord, Mark
from .texts import LONGEST_ON_A_PAGE, for_pages

GRADES, LEFT_OUT = "grades.csv", "left_out.csv"
FEEDBACK_ZIP = "feedback_{}.zip"  # with the name of a platform
RESEMBLANCE = "resemblance.html", "resemblance.csv"


def cut(text: str, longest: int) -> Markup:
    """A text as HTML, cut to this many characters instead of the default number, for templates."""
    return escape(for_pages(text, longest))


def sentence(text: str, longest: int = LONGEST_ON_A_PAGE) -> Markup:
    """A sentence as HTML, with its parts in backticks as code and *emphasis* as such.

    longest: in characters; the rest is cut off.
    """
    return Markup(code_marks(for_pages(text, longest)))


def number(points: float) -> str:
    """Points as they are written, with two decimals at most: 2, 6.5."""
    return f"{round(points, 2):g}"


PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    # every value that a template writes, unless it is markup
    finalize=lambda value: for_pages(value) if type(value) is str else value,
)
PAGES.filters |= {"cut": cut, "sentence": sentence, "number": number}
# jinja2 types only what it puts there itself
PAGES.globals["words"] = MARK_STATUSES  # pyrefly: ignore[unsupported-operation]


def write_for_people(
    out: Path,
    learners: list[LearnerRecord],
    work: Mapping[str, dict],
    isolated: bool,
    left_out: Sequence[LeftOut] = (),
    downloads: Sequence[list[dict[str, str]]] = (),
) -> None:
    """Write grades.csv, the platforms' tables, left_out.csv, the feedback pages and the summary.

    Deletes the feedback pages of other learners, and an earlier left_out.csv if no file was
    left out. Points that are None become empty cells.

    out: the results folder, which must exist.
    work: see `marking.assignment`.
    isolated: whether learners' code ran in the sandbox; the summary warns if it did not.
    left_out: files that belong to no learner.
    downloads: the rows of CSV files, one of which may be a platform's own table to fill in.
    """
    titles, lessons = work["titles"], lessons_of(learners)
    _write_grades(out / GRADES, learners, work, lessons)
    title = titles[lessons[0]] if len(lessons) == 1 else f"Lessons {', '.join(lessons)}"
    for platform in platforms.PLATFORMS:
        # its own table, if one of the downloads is that; else a new one
        tables = (platform.filled(rows, learners) for rows in downloads)
        header, *rows = next(filter(None, tables), None) or platform.table(learners, title)
        write_table(out / f"{platform.name}.csv", header, rows)
    if left_out:
        write_table(out / LEFT_OUT, ["file", "why"], [[left.file, left.why] for left in left_out])
    else:
        (out / LEFT_OUT).unlink(missing_ok=True)
    write_feedback(out / "feedback", learners, titles)
    write_summary(out / "summary.html", learners, titles, isolated, left_out)


def lessons_of(learners: Iterable[LearnerRecord]) -> list[str]:
    """The keys of the lessons that count for these learners, sorted."""
    cell_ids = chain.from_iterable((*learner.exercises, *learner.by_hand) for learner in learners)
    return sorted({part_with(cell_id) for cell_id in cell_ids})


def write_feedback_zip(out: Path, learners: Iterable[LearnerRecord], name: str) -> int:
    """Write the learners' pages as a platform takes them back, to feedback_NAME.zip.

    Returns how many pages it holds, see `Platform.feedback_names`. The same pages give the same
    bytes.

    out: the results folder, in which `write_feedback` has written the pages.
    name: of one of `platforms.PLATFORMS`.
    """
    platform = next(platform for platform in platforms.PLATFORMS if platform.name == name)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for learner in learners:
            page = (out / "feedback" / learner.page).read_bytes()
            for place in platform.feedback_names(learner):
                # ZipInfo sets a fixed date; a name alone would get the present one
                archive.writestr(zipfile.ZipInfo(place), page)
        pages = len(archive.namelist())
    write_whole(out / FEEDBACK_ZIP.format(name), data.getvalue())
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
    """Write a row for each learner, with a column for each exercise and each hand-marked cell."""
    exercises = [exercise for exercise in work["exercises"] if part_with(exercise) in lessons]
    by_hand = [cell for cell in work["by_hand"] if part_with(cell) in lessons]
    rows = []
    for learner in learners:
        row = {"learner": learner.learner, "name": learner.name, "page": f"feedback/{learner.page}"}
        row |= {exercise: learner.exercises[exercise].points for exercise in exercises}
        row |= {cell: learner.by_hand[cell].points for cell in by_hand}
        if learner.due:  # a deadline is the whole class's, so all rows have the same columns
            row |= {"late days": learner.late_days, "deducted": learner.deducted}
        row |= {
            "total": learner.points,
            "of": learner.of,
            "to mark by hand": learner.waiting,
            "status": learner.status,
            "reason": learner.reason,
            "notes": "; ".join(learner.notes),
        }
        rows.append(row)
    header = list(rows[0]) if rows else ["learner"]
    write_table(path, header, [list(row.values()) for row in rows])


# ---------------------------------------------------------------- pages


def write_feedback(folder: Path, learners: list[LearnerRecord], titles: Mapping[str, str]) -> None:
    """Write a page for each of these learners, and delete every other .html file in the folder.

    A page holds nothing about other learners, and no hidden inputs or expected values.

    folder: is made if it does not exist.
    titles: by lesson.
    """
    template = PAGES.get_template("feedback.html.j2")
    folder.mkdir(parents=True, exist_ok=True)
    for learner in learners:
        computed = [
            mark.status
            for exercise, mark in _marks(learner).items()
            if exercise not in learner.given
        ]
        page = template.render(
            learner=learner,
            lessons=_lessons(learner, titles),
            counts=Counter(computed),
            explanation=STATUSES[learner.status],
        )
        write_whole(folder / learner.page, page + "\n")
    pages = {learner.page for learner in learners}
    for path in folder.glob("*.html"):
        if path.name not in pages:
            path.unlink()


def _marks(learner: LearnerRecord) -> dict[str, Mark]:
    """A learner's marks that have points, by exercise."""
    return {
        exercise: mark for exercise, mark in learner.exercises.items() if mark.points is not None
    }


def _lessons(learner: LearnerRecord, titles: Mapping[str, str]) -> Iterator[dict]:
    """The lessons on a learner's page, each as a dict, for the template.

    title: its heading.
    exercises: [(id, mark, sentences)].
    by_hand: [(id, cell)] of the cells that a person marks.
    gone: whether all its exercises are missing, and no sentence says more about one of them; so
    also if it has none.
    """
    marks = _marks(learner)
    for lesson in sorted({part_with(cell_id) for cell_id in (*marks, *learner.by_hand)}):
        exercises = [
            # a known mistake is among the discreet messages too
            (exercise, mark, list(dict.fromkeys([*mark.mistakes, *mark.discreet])))
            for exercise, mark in marks.items()
            if part_with(exercise) == lesson
        ]
        by_hand = [
            (cell_id, cell)
            for cell_id, cell in learner.by_hand.items()
            if part_with(cell_id) == lesson
        ]
        gone = all(mark.status == "missing" and not sentences for _, mark, sentences in exercises)
        yield {
            "title": titles.get(lesson, lesson),
            "exercises": exercises,
            "by_hand": by_hand,
            "gone": gone,
        }


def write_summary(
    path: Path,
    learners: list[LearnerRecord],
    titles: Mapping[str, str],
    isolated: bool,
    left_out: Sequence[LeftOut] = (),
) -> None:
    """Write the page about the class, for the instructor.

    Scores and the numbers for each exercise count only learners who are marked. Statuses, late days
    and texts that wait for a person count all learners.

    titles: by lesson. isolated, left_out: see `write_for_people`.
    """
    marked = [learner for learner in learners if learner.points is not None]
    cells = [cell for learner in learners for cell in learner.by_hand.values()]
    page = PAGES.get_template("summary.html.j2").render(
        learners=learners,
        version=__version__,
        isolated=isolated,
        left_out=left_out,
        by_hand_waiting=sum(cell.points is None and bool(cell.text) for cell in cells),
        not_marked=[learner for learner in learners if learner.points is None],
        lessons=[titles.get(lesson, lesson) for lesson in lessons_of(learners)],
        scores=_scores(marked),
        exercises=_exercises(marked),
        marked=len(marked),
        due=next((learner.due for learner in learners if learner.due), ""),
        late=[learner for learner in learners if learner.late_days],
        given=sum(len(learner.given) for learner in marked),
        statuses=Counter(learner.status for learner in learners).most_common(),
        look_at=_to_review(learners),
    )
    write_whole(path, page + "\n")


def _to_review(learners: list[LearnerRecord]) -> list[LearnerRecord]:
    """The learners whom a teacher should look at: those with a note, or a status other than "ok".

    First come those whose status is not "ok", last those who are "ok" and only have the same file
    as others.
    """

    def urgency(learner: LearnerRecord) -> tuple[bool, bool]:
        only_same_file = all(note.startswith(SAME_FILE) for note in learner.notes)
        return learner.status == "ok", only_same_file

    return sorted(
        (learner for learner in learners if learner.status != "ok" or learner.notes), key=urgency
    )


def _scores(learners: list[LearnerRecord]) -> dict:
    """The distribution of the scores of learners who are marked, as a dict.

    A score is the share of the points possible. Learners whose lessons give no points have none.

    tenths: how many scores are below 10%, from 10% to below 20%, and so on; 100% is in the last.
    counted: how many learners have a score. full: how many of them have all points.
    mean, median: of the scores, as text.
    of: the points possible; several numbers if learners differ.
    """
    shares = [100 * (learner.points or 0) / learner.of for learner in learners if learner.of]
    tenths = Counter(max(0, min(9, int(share // 10))) for share in shares)
    return {
        "tenths": [tenths[tenth] for tenth in range(10)],
        "counted": len(shares),
        "full": sum(share >= 100 for share in shares),
        "mean": f"{statistics.fmean(shares or [0]):.1f}%",
        "median": f"{statistics.median(shares or [0]):.1f}%",
        "of": sorted({learner.of for learner in learners}),
    }


def _exercises(learners: list[LearnerRecord]) -> list[dict]:
    """For each exercise, how many learners have which status, as a dict.

    It has an exercise's id and title, a number for each of MARK_STATUSES, and the share, as text,
    of all points possible that these learners have. An exercise absent from a record is missing.
    """
    rows = []
    for exercise in dict.fromkeys(chain.from_iterable(learner.exercises for learner in learners)):
        marks = [
            learner.exercises[exercise] for learner in learners if exercise in learner.exercises
        ]
        counts = Counter(mark.status for mark in marks)
        counts["missing"] += len(learners) - len(marks)
        points = sum(mark.points or 0 for mark in marks)
        most = max(mark.of for mark in marks) * len(learners)
        share = f"{100 * points / most:.0f}%" if most else "no points"
        rows.append(
            {
                "id": exercise,
                "title": marks[0].title,
                "share": share,
                **{status: counts[status] for status in MARK_STATUSES},
            }
        )
    return sorted(rows, key=lambda row: part_with(str(row["id"])))
