"""Export results to an nbgrader course, to mark cells by hand in its formgrader. Needs the extra "nbgrader"."""

import html
import os
import re
import sys
import warnings
from pathlib import Path

from ..._support.fast_nbformat import nbformat
from ..._support.notebooks import lesson_cells, part_with, parts
from .records import page_name
from .store import GradeError


def export(learners, course):
    """As `_export`, with faults of the machine and of the database raised as GradeError."""
    try:
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:  # `_export` reports what is missing
        SQLAlchemyError = OSError  # noqa: N806
    try:
        return _export(learners, course)
    except (OSError, SQLAlchemyError) as error:
        why = getattr(error, "strerror", None) or getattr(error, "orig", None) or error
        raise GradeError(
            f"Cannot write the nbgrader course {course}: {why}; the tables are complete; run the same command to try "
            "this again."
        ) from None


def _export(learners, course):
    """Write learners' points, comments and hand-ins into the nbgrader course in the folder `course`.

    Returns the number of hand-ins. There is one assignment per part, such as "lesson-04" or "lesson-05-layer", made
    from the source lesson if the course has none of that name. Learners' notebooks are rebuilt from the lesson with the
    text of their answers, without their output or HTML. Raises GradeError.
    """
    try:
        from nbgrader.api import Gradebook
        from nbgrader.apps import NbGraderAPI
        from traitlets.config import Config
    except ImportError:
        raise GradeError("--nbgrader needs the package nbgrader: pip install -e '.[nbgrader]'.") from None
    # nbgrader runs alembic by name
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    course = Path(course).resolve()
    address, config, count = f"sqlite:///{course / 'gradebook.db'}", Config(), 0
    config.CourseDirectory.root, config.CourseDirectory.db_url = str(course), address
    course.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # from SQLAlchemy, about nbgrader
    with Gradebook(address) as book:
        for lesson in sorted(
            {part_with(one) for learner in learners for one in (*learner.exercises, *learner.by_hand)}
        ):
            source, assignment = parts()[lesson], f"lesson-{lesson}"
            released = course / "release" / assignment / source.name
            if not released.exists():
                (course / "source" / assignment).mkdir(parents=True, exist_ok=True)
                if not any((course / "source" / assignment).iterdir()):
                    lesson_alone = nbformat.read(source, as_version=4)
                    lesson_alone.cells = lesson_cells(lesson_alone)
                    nbformat.write(lesson_alone, course / "source" / assignment / source.name)
                made = NbGraderAPI(config=config).generate_assignment(assignment, force=True, create=True)
                if not made["success"]:
                    raise GradeError(
                        f"nbgrader did not accept {assignment}: "
                        f"{(made.get('error') or made.get('log', '')).strip()[-300:]}"
                    )
                book.db.expire_all()
            for learner in learners:
                there = [one for one, mark in learner.exercises.items() if mark.status != "missing"]
                there += [one for one in learner.by_hand if one in learner.texts]
                if learner.points is not None and learner.files and lesson in map(part_with, there):
                    _put(book, learner, lesson, assignment, source.stem)
                    target = course / "autograded" / student_id(learner) / assignment / source.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    nbformat.write(rebuilt(nbformat.read(released, as_version=4), learner.texts), target)
                    count += 1
    return count


def student_id(learner):
    """A learner's key if it is a valid folder name, else a name made from that of the feedback page.

    No two learners share one.
    """
    key = learner.learner
    return (
        key
        if re.fullmatch(r"\w[\w.@-]*", key) and not key.startswith("hand-in-")
        else f"hand-in-{Path(page_name(learner.learner)).stem}"
    )


def rebuilt(released, texts):
    """A released lesson with a learner's answers, as text."""
    for cell in released.cells:
        text = texts.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if text is not None and cell.metadata["nbgrader"].get("solution"):
            cell.source = text if cell.cell_type == "code" else html.escape(text, quote=False)
    return released


def _put(book, learner, lesson, assignment, notebook):
    student = student_id(learner)
    first, _, last = learner.name.rpartition(" ")
    book.update_or_create_student(
        student, first_name=first or None, last_name=last or None, email=learner.email or None
    )
    book.update_or_create_submission(assignment, student)
    for one, mark in learner.exercises.items():
        if part_with(one) == lesson:
            grade = book.find_grade(f"{one}-check", notebook, assignment, student)
            grade.auto_score, grade.needs_manual_grade = mark.points, False
            comment = book.find_comment(one, notebook, assignment, student)
            told = [learner.remarks[one].comment] if one in learner.remarks else []
            comment.auto_comment = "\n\n".join(html.escape(text, quote=False) for text in (*told, *mark.discreet))
    for one, cell in learner.by_hand.items():
        if part_with(one) == lesson:
            grade = book.find_grade(one, notebook, assignment, student)
            # marks given there stay
            grade.auto_score, grade.needs_manual_grade = None, cell.points is None and grade.manual_score is None
            if cell.points is not None:
                grade.manual_score = cell.points
                book.find_comment(one, notebook, assignment, student).manual_comment = cell.comment or None
    book.db.commit()
