"""Release lessons as an assignment: learners' copies with points and a due date."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ... import __version__
from ..._support.fast_nbformat import nbformat
from ..._support.files import file_sha256, write_whole
from ..._support.notebooks import NOTEBOOKS, name_of, parts
from ...diary.records import read as read_record
from ..workspace.copies import GLOSSARY, CopyError, copied, learner_copy
from .marking import assignment
from .results import counted


def write_release(
    lessons: Iterable[str],
    out: Path,
    due: str = "",
    sources: str | Path = NOTEBOOKS,
    solutions: bool = True,
) -> dict:
    """Write graded copies of some lessons, the glossary and manifest.json. Returns the manifest.

    The copies show the points of each exercise, and a note on what counts and until when.

    lessons: their keys, such as ("04", "05", "05-layer").
    out: the folder, which is made if it does not exist. Files of an earlier release are replaced.
    due: a text, such as "Friday, 4 December, 18:00".
    sources: the folder of the source lessons.
    solutions: whether `solution` shows answers in the copies.

    The manifest has the version of the course, the lessons, `due`, the points of each exercise and
    their sum ("of"), the ids of the cells that a person marks, and the SHA-256 of each other file.

    The same input gives the same bytes. Raises CopyError for a lesson that does not exist or has no
    exercises, without lessons, for a file there that no release wrote or that was changed since,
    and if it cannot write.
    """
    try:
        # without lessons, a key that is refused: `assignment` takes an empty tuple for all
        work = assignment(tuple(sorted(set(lessons))) or ("",), Path(sources))
    except ValueError as error:
        raise CopyError(f"Cannot release this: {error}.") from None
    files = {}
    for lesson in work["titles"]:
        path = parts(sources)[lesson]
        lesson_points = _points(assignment((lesson,), Path(sources)))
        source: Any = nbformat.read(path, as_version=4)
        copy = _graded(learner_copy(source), lesson_points, due)
        if not solutions:
            # a lesson's first code calls `setup`
            first = next(cell for cell in copy.cells if cell.cell_type == "code")
            first.source = first.source.replace("setup()", "setup(solutions=False)")
        files[f"{name_of(path)}.ipynb"] = nbformat.writes(copy) + "\n"
    # the lessons link to it
    files.update({path.name: copied(path) for path in Path(sources).glob(GLOSSARY)})
    points = _points(work)
    manifest = {
        "course": __version__,
        "lessons": list(work["titles"]),
        "due": due,
        "points": points,
        "of": sum(points.values()),
        "marked_by_hand": sorted(work["by_hand"]),
        "sha256": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()},
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        _refuse_changed(out, manifest["sha256"])
        files["manifest.json"] = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
        for name, text in files.items():
            (out / name).parent.mkdir(exist_ok=True)
            write_whole(out / name, text)
    except OSError as error:
        raise CopyError(f"Cannot write to {out}: {error.strerror or error}.") from None
    return manifest


def _refuse_changed(out: Path, digests: Mapping[str, str]) -> None:
    """Raise CopyError if a file that would be overwritten is neither of this release nor of the
    earlier one.

    digests: the SHA-256 of each file of this release but its manifest.
    """
    checksums = read_record(out / "manifest.json")[0].get("sha256")
    earlier = checksums if isinstance(checksums, dict) else {}
    others = [
        out / name
        for name, digest in digests.items()
        if (out / name).exists()
        # what is no file is not read: a pipe would block
        and (
            not (out / name).is_file() or file_sha256(out / name) not in (digest, earlier.get(name))
        )
    ]
    # a manifest without checksums is none of ours
    if others := [*others, *([] if earlier else out.glob("manifest.json"))]:
        raise CopyError(
            f"{others[0]} was changed after its release, or no release wrote it, so it was left "
            "unchanged. Choose another folder, or move it away."
        )


# the most points of each exercise and each hand-marked cell, by id
def _points(work: Mapping[str, dict]) -> dict[str, float]:
    return {exercise: most for exercise, (_, most) in work["exercises"].items()} | work["by_hand"]


def _graded(copy: Any, points: Mapping[str, float], due: str) -> Any:
    """A learner's copy with the points of its exercises, and a note on what counts.

    copy: is changed. points: of this lesson, by id.
    """
    # the text of an exercise is in the cell before its answer
    for before, cell in zip(copy.cells, copy.cells[1:]):
        about = cell.metadata.get("nbgrader", {})
        if about.get("solution") and about.get("grade_id") in points:
            before.source += f"\n\n**{counted(points[about['grade_id']], 'point')}.**"
    listed = ", ".join(f"`{exercise}` {most}" for exercise, most in points.items())
    deadline = f" Due: {due}." if due else ""
    note = (
        f"**Graded.** This lesson gives {counted(sum(points.values()), 'point')}: {listed}."
        f"{deadline}"
        "\n\nHand in this one file, under any name. Of what has points, functions are called on "
        "newly drawn inputs, as `check` does it, and texts are read by a person; nothing else in "
        "the notebook counts, not even outputs and timing. Keep the names of the functions."
    )
    # below the title
    copy.cells.insert(1, nbformat.v4.new_markdown_cell(note, id="graded"))
    return copy
