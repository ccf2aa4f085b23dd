"""Release lessons as an assignment: learners' copies with points and a due date."""

import hashlib
import json
from pathlib import Path

from ... import __version__
from ..._support.fast_nbformat import nbformat
from ..._support.files import write_whole
from ..._support.notebooks import NOTEBOOKS, name_of, parts
from ..workspace.copies import GLOSSARY, CopyError, copied, learner_copy, read_record
from .marking import assignment


def write_release(lessons, out, due="", sources=NOTEBOOKS, solutions=True):
    """Write graded copies of some lessons and manifest.json. Returns the manifest.

    The copies show the points of each exercise, and a note on what counts and until when.

    lessons: such as ("04", "05", "05-layer").
    due: a text, such as "Friday, 4 December, 18:00".
    solutions: whether `solution` shows answers in the copies.

    The same input gives the same bytes. Raises CopyError with a one-sentence message for an unknown lesson, or a file
    there that no release wrote.
    """
    try:
        work = assignment(tuple(sorted(set(lessons))), Path(sources))
    except ValueError as error:
        raise CopyError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    points = _points(work)
    files = {}
    for lesson in work["titles"]:
        path, mine = parts(sources)[lesson], _points(assignment((lesson,), Path(sources)))
        copy = _graded(learner_copy(nbformat.read(path, as_version=4)), mine, due)
        if not solutions:
            begin = next(cell for cell in copy.cells if cell.cell_type == "code")
            begin.source = begin.source.replace("setup()", "setup(solutions=False)")
        files[f"{name_of(path)}.ipynb"] = nbformat.writes(copy) + "\n"
    files.update({path.name: copied(path) for path in Path(sources).glob(GLOSSARY)})  # the lessons link to it
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    manifest = {
        "course": __version__,
        "lessons": list(work["titles"]),
        "due": due,
        "points": points,
        "of": sum(points.values()),
        "marked_by_hand": sorted(work["by_hand"]),
        "sha256": digests,
    }
    files["manifest.json"] = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    try:
        out.mkdir(parents=True, exist_ok=True)
        earlier = read_record(out / "manifest.json").get("sha256", {})
        for name in files:
            if name in digests and (out / name).exists():
                found = hashlib.sha256((out / name).read_bytes()).hexdigest()
                if found not in (digests[name], earlier.get(name)):
                    raise CopyError(
                        f"{out / name} was changed after its release, so it was left unchanged. Choose another folder, "
                        "or move it away."
                    )
        for name, text in files.items():
            (out / name).parent.mkdir(exist_ok=True)
            write_whole(out / name, text)
    except OSError as error:
        raise CopyError(f"Cannot write to {out}: {error.strerror or error}.") from None
    return manifest


def _points(work):
    return {**{one: most for one, (_, most) in work["exercises"].items()}, **work["by_hand"]}


def _graded(copy, points, due):
    """A learner's copy with the points of its exercises, and a note on what counts."""
    before = None
    for cell in copy.cells:
        most = (
            points.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            if cell.metadata.get("nbgrader", {}).get("solution")
            else None
        )
        if most is not None and before is not None:
            before.source += f"\n\n**{most} {'point' if most == 1 else 'points'}.**"
        before = cell
    note = (
        f"**Graded.** This lesson gives {sum(points.values())} points: "
        f"{', '.join(f'`{one}` {most}' for one, most in points.items())}."
    )
    note += f" Due: {due}." if due else ""
    note += (
        "\n\nHand in this one file, under any name. Your functions are called on newly drawn inputs, as `check` does "
        "it; nothing else in the notebook counts, not even outputs and timing. Keep the names of the functions."
    )
    copy.cells.insert(1, nbformat.v4.new_markdown_cell(note, id="graded"))
    return copy
