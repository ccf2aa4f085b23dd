"""Export results to an nbgrader course, to mark cells by hand in its formgrader. Needs the extra
"nbgrader".
"""

import html
import os
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..._support.fast_nbformat import nbformat
from ..._support.notebooks import lesson_cells, part_with, parts
from .records import page_name
from .reports import lessons_of
from .results import GradeError, LearnerRecord


def export(learners: Sequence[LearnerRecord], course: str | Path) -> int:
    """Write learners' points, comments and hand-ins into the nbgrader course in the folder
    `course`.

    Returns the number of hand-ins. There is one assignment per part, such as "lesson-04" or
    "lesson-05-layer", made from the source lesson if the course has none of that name. Learners'
    notebooks are rebuilt from the lesson with the text of their answers, without their output or
    HTML. A learner who handed in several parts counts once for each.

    Changes this process for good: its search path for programs, and it shows no more warnings.

    Raises GradeError without the package nbgrader, if nbgrader refuses a lesson, and if the course
    cannot be written or lacks a cell of a lesson; what is written until then stays.
    """
    try:
        # pyrefly does not find these, of an extra
        from nbgrader.api import Gradebook, MissingEntry  # pyrefly: ignore[missing-import]
        from nbgrader.apps import NbGraderAPI  # pyrefly: ignore[missing-import]
        from sqlalchemy.exc import SQLAlchemyError
        from traitlets.config import Config
    except ImportError:
        raise GradeError(
            "--nbgrader needs the package nbgrader: pip install -e '.[nbgrader]'."
        ) from None
    # nbgrader runs alembic by name, which is beside this Python
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    folder = Path(course).resolve()
    config = Config(
        CourseDirectory={"root": str(folder), "db_url": f"sqlite:///{folder / 'gradebook.db'}"},
        # completions have gaps too, and are no answers
        ClearSolutions={"enforce_metadata": False},
    )
    warnings.simplefilter("ignore")  # from SQLAlchemy, about nbgrader
    count = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Gradebook(config.CourseDirectory.db_url) as book:
            for lesson in lessons_of(learners):
                released = _release(folder, lesson, NbGraderAPI(config=config))
                book.db.expire_all()  # `_release` wrote to the database by a connection of its own
                for learner in learners:
                    if learner.points is not None and _has_handed_in(learner, lesson):
                        _write_points(book, learner, lesson)
                        _write_notebook(folder, released, learner, lesson)
                        count += 1
    except (OSError, SQLAlchemyError, MissingEntry) as error:
        why = getattr(error, "strerror", None) or getattr(error, "orig", None) or error
        raise GradeError(
            f"Cannot write the nbgrader course {folder}: {why}; the tables are complete; run the "
            "same command to try this again."
        ) from None
    return count


def _has_handed_in(learner: LearnerRecord, lesson: str) -> bool:
    """Whether a learner's files hold at least one answer cell of a lesson."""
    answered = [name for name, mark in learner.exercises.items() if mark.status != "missing"]
    answered += [name for name in learner.by_hand if name in learner.texts]
    return bool(learner.files) and lesson in map(part_with, answered)


def _release(course: Path, lesson: str, nbgrader: Any) -> Path:
    """The notebook that nbgrader has released for a lesson; it is made if there is none. Raises
    GradeError.
    """
    path, assignment = parts()[lesson], f"lesson-{lesson}"
    source = course / "source" / assignment / path.name
    released = course / "release" / assignment / path.name
    if not released.exists():
        source.parent.mkdir(parents=True, exist_ok=True)
        if not any(source.parent.iterdir()):
            notebook: Any = nbformat.read(path, as_version=4)
            notebook.cells = lesson_cells(notebook)
            nbformat.write(notebook, source)
        reply = nbgrader.generate_assignment(assignment, force=True, create=True)
        if not reply["success"]:
            report = "\n".join(reply.get(key, "") for key in ("error", "log"))
            # the report ends by saying that there was an error, and names it above
            errors = re.findall(r"\w+Error: .+", report) or [report.strip()]
            raise GradeError(f"nbgrader did not accept {assignment}: {errors[-1][-300:]}")
    return released


def student_id(learner: LearnerRecord) -> str:
    """A learner's key if it is a valid folder name, else a name made from that of the feedback
    page.

    No two learners share one.
    """
    key = learner.learner
    # a key that begins like a made name could be that of another learner
    if re.fullmatch(r"\w[\w.@-]*", key) and not key.startswith("hand-in-"):
        return key
    return f"hand-in-{Path(page_name(key)).stem}"


def _write_notebook(course: Path, released: Path, learner: LearnerRecord, lesson: str) -> None:
    """Write the released lesson with a learner's answers into the course's folder "autograded".

    released: the path of the released notebook. Text answers are escaped, so that the formgrader
    shows their HTML as text.
    """
    notebook: Any = nbformat.read(released, as_version=4)
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        text = learner.texts.get(about.get("grade_id"))
        if text is not None and about.get("solution"):
            cell.source = text if cell.cell_type == "code" else html.escape(text, quote=False)
    path = course / "autograded" / student_id(learner) / f"lesson-{lesson}" / released.name
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def _write_points(book: Any, learner: LearnerRecord, lesson: str) -> None:
    """Write a learner's points and comments for a lesson into nbgrader's gradebook, the `book`."""
    student, assignment = student_id(learner), f"lesson-{lesson}"
    # beside the id of a cell, what nbgrader finds its grade and its comment by
    place = (parts()[lesson].stem, assignment, student)
    # a roster from Canvas has "Lovelace, Ada"
    first, _, last = (
        reversed(learner.name.partition(", "))
        if ", " in learner.name
        else learner.name.rpartition(" ")
    )
    book.update_or_create_student(
        student, first_name=first or None, last_name=last or None, email=learner.email or None
    )
    book.update_or_create_submission(assignment, student)
    for exercise, mark in learner.exercises.items():
        if part_with(exercise) == lesson:
            # its points stand at the cell that checks it, its comment at the one that answers it
            grade = book.find_grade(f"{exercise}-check", *place)
            grade.auto_score, grade.needs_manual_grade = mark.points, False
            remarks = [learner.remarks[exercise].comment] if exercise in learner.remarks else []
            text = html.escape("\n\n".join(remarks + mark.discreet), quote=False)
            book.find_comment(exercise, *place).auto_comment = text
    for name, cell in learner.by_hand.items():
        if part_with(name) == lesson:
            grade = book.find_grade(name, *place)
            grade.auto_score = None  # no program marks it
            # points that a person gave in the formgrader stay
            grade.needs_manual_grade = cell.points is None and grade.manual_score is None
            if cell.points is not None:
                grade.manual_score = cell.points
                book.find_comment(name, *place).manual_comment = cell.comment or None
    book.db.commit()
