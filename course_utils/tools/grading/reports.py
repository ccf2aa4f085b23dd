"""What a run writes for people: grades.csv, the tables for learning platforms, a page of feedback
for each learner, the summary of the class, and what was left out.

Text from learners is shown as text, never as markup.
"""

import io
import statistics
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
RESEMBLANCE = "resemblance.html", "resemblance.csv"


def cut(text: str, longest: int) -> Markup:
    """Clean a text and cut it to a given length instead of the default, for templates."""
    return escape(for_pages(text, longest))


def sentence(text: str, longest: int = LONGEST_ON_A_PAGE) -> Markup:
    """A sentence as HTML, with its parts in backticks as code and *emphasis* as such."""
    return Markup(code_marks(for_pages(text, longest)))


def number(points: float) -> str:
    """Points as they are written: 2, 6.5."""
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


def write_tables(
    out: Path,
    learners: list[LearnerRecord],
    work: Mapping[str, dict],
    isolated: bool,
    left_out: Sequence[LeftOut] = (),
    downloads: Iterable[list[dict[str, str]]] = (),
) -> None:
    """Write grades.csv, the tables for learning platforms, the feedback pages and the summary.

    Points that are None become empty cells.

    work: see `marking.assignment`.
    left_out: files that belong to no learner.
    downloads: the rows of CSV files, one of which may be a platform's own table to fill in.
    """
    titles, lessons = work["titles"], lessons_of(learners)
    _write_grades(out / GRADES, learners, work, lessons)
    title = titles[lessons[0]] if len(lessons) == 1 else f"Lessons {', '.join(lessons)}"
    for platform in platforms.PLATFORMS:
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
    """The keys of the lessons that count for these learners."""
    names = [name for learner in learners for name in (*learner.exercises, *learner.by_hand)]
    return sorted({part_with(name) for name in names})


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
    """Write a page for each of these learners, and delete those of others.

    A page holds nothing about other learners, and no hidden inputs or expected values.
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
    """The marks of a learner that have points."""
    return {
        exercise: mark for exercise, mark in learner.exercises.items() if mark.points is not None
    }


def _lessons(learner: LearnerRecord, titles: Mapping[str, str]) -> Iterator[dict]:
    """The lessons on a learner's page, each as a dict.

    title; exercises: [(id, mark, sentences)]; by_hand: [(id, cell)]; gone: whether nothing of it
    was handed in.
    """
    lessons: dict[str, tuple[list, list]] = {}
    for exercise, mark in _marks(learner).items():
        sentences = list(dict.fromkeys([*mark.mistakes, *mark.discreet]))
        lessons.setdefault(part_with(exercise), ([], []))[0].append((exercise, mark, sentences))
    for identifier, cell in learner.by_hand.items():
        lessons.setdefault(part_with(identifier), ([], []))[1].append((identifier, cell))
    for key, (exercises, by_hand) in sorted(lessons.items()):
        gone = all(mark.status == "missing" and not sentences for _, mark, sentences in exercises)
        yield {
            "title": titles.get(key, key),
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

    Learners not yet marked are not counted.
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
    """Whom a teacher should look at.

    First come learners without an ordinary status, last those who only have the same file as others.
    """

    def urgency(learner: LearnerRecord) -> tuple[bool, bool]:
        only_same_file = all(note.startswith(SAME_FILE) for note in learner.notes)
        return learner.status == "ok", only_same_file

    return sorted(
        (learner for learner in learners if learner.status != "ok" or learner.notes), key=urgency
    )


def _scores(learners: list[LearnerRecord]) -> dict:
    """The distribution of scores: learners in each tenth of their points, and a few numbers.

    Learners for whom no points are available are excluded.
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
    """For each exercise, how many learners have which status. An exercise absent from a record
    counts as missing.
    """
    rows = []
    for exercise in dict.fromkeys(name for learner in learners for name in learner.exercises):
        marks = [
            learner.exercises[exercise] for learner in learners if exercise in learner.exercises
        ]
        counts = Counter(mark.status for mark in marks)
        counts["missing"] += len(learners) - len(marks)
        points = sum(mark.points or 0 for mark in marks)
        most = max(mark.of for mark in marks) * len(learners)
        share = f"{100 * points / most:.0f}%" if most else "no points"
        row = {"id": exercise, "title": marks[0].title, "share": share}
        rows.append(row | {status: counts[status] for status in MARK_STATUSES})
    return sorted(rows, key=lambda row: part_with(str(row["id"])))
