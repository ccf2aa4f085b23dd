"""The learner's copies of the lessons: made from the source notebooks, never over anything that a person wrote."""

import hashlib
import json
import os
import tempfile
from copy import deepcopy
from pathlib import Path

import nbformat

from ..exercises.framework import BEGIN, END, NOTEBOOKS

STUB = ["# YOUR CODE HERE", "raise NotImplementedError()"]  # nbgrader's words
REPORT_STUB = "YOUR ANSWER HERE"  # nbgrader's, too
RECORD = ".course.json"  # in the workspace: what was written there, by fingerprint


class CopyError(RuntimeError):
    """The learner's copies cannot be written. One sentence says why."""


def stub_out(source):
    """Replace each region between the solution marks by a stub. Raises ValueError if a mark has no partner."""
    lines, inside = [], False
    for line in source.splitlines():
        mark = line.strip()
        if mark in (BEGIN, END):
            if inside == (mark == BEGIN):
                raise ValueError(f"{mark!r} has no partner")
            inside = not inside
            if inside:
                indent = line[: len(line) - len(line.lstrip())]
                lines += [indent + text for text in STUB]
        elif not inside:
            lines.append(line)
    if inside:
        raise ValueError(f"{BEGIN!r} has no partner")
    return "\n".join(lines)


def learner_copy(notebook):
    """What a learner gets of a source notebook: solutions and reports become stubs, outputs go, instructors' cells go."""
    copy = deepcopy(notebook)
    copy.cells = [cell for cell in copy.cells if "instructor" not in cell.metadata.get("tags", [])]
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.source = stub_out(cell.source)
            cell.outputs, cell.execution_count = [], None
        elif cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = REPORT_STUB
    return copy


def write_workspace(workspace, sources=NOTEBOOKS):
    """Bring a workspace up to date: write missing lessons, renew those the learner never edited, keep the rest.

    A copy that was only run, not edited, counts as never edited: JupyterLab stores outputs by itself.

    Returns a list of (file name, what was done): "written", "renewed" and "unchanged" say themselves; "kept" means that
    the learner's version stays although the lesson has changed; "unreadable" that the file is no notebook, and stays too.
    Raises CopyError with one sentence if there are no sources, or nowhere to write. What was done until then is recorded.
    """
    workspace, lessons = Path(workspace), sorted(Path(sources).glob("[0-9]*.ipynb"))
    if not lessons:
        raise CopyError(f"There are no lessons in {sources}. Install the course from a checkout: pip install -e .")
    report, target = [], workspace
    try:
        workspace.mkdir(parents=True, exist_ok=True)
        known = _read_record(workspace / RECORD)
        record = dict(known)
        try:
            for lesson in lessons:
                target = workspace / lesson.name
                text = nbformat.writes(learner_copy(nbformat.read(lesson, as_version=4))) + "\n"
                report.append((lesson.name, _place(target, text, record)))
        finally:
            if record != known:
                _write_whole(workspace / RECORD, json.dumps(record, indent=1, sort_keys=True))
    except OSError as error:
        raise CopyError(f"Cannot write {target}: {error.strerror or error}. Nothing of yours was changed; mend that, or "
                        f"choose another folder with --workspace.") from None
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, ValueError):
        raise CopyError(f"The source lesson {lesson} is damaged. Fetch it again, for example with: git checkout "
                        f"{lesson}") from None
    return report


def write_release(lessons, out, due="", sources=NOTEBOOKS):
    """Write graded copies of some lessons: points at each exercise, a note on what counts and until when, and manifest.json.

    lessons: such as ("04", "05"). due: a text, such as "Friday, 4 December, 18:00". The same input gives the same bytes.
    Returns the manifest. Raises CopyError with one sentence: for an unknown lesson, or a file there that no release wrote.
    """
    from .. import __version__
    from .marking import assignment

    try:
        work = assignment(tuple(sorted(set(lessons))), Path(sources))
    except ValueError as error:
        raise CopyError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    points = {**{one: most for one, (_, most) in work["exercises"].items()}, **work["by_hand"]}
    files = {}
    for lesson in work["titles"]:
        path, = Path(sources).glob(f"{lesson}_*.ipynb")
        mine = {one: most for one, most in points.items() if one[:2] == lesson}
        files[path.name] = nbformat.writes(_graded(learner_copy(nbformat.read(path, as_version=4)), mine, due)) + "\n"
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    manifest = {"course": __version__, "lessons": list(work["titles"]), "due": due, "points": points, "of": sum(points.values()),
                "marked_by_hand": sorted(work["by_hand"]), "sha256": digests}
    files["manifest.json"] = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    try:
        out.mkdir(parents=True, exist_ok=True)
        earlier = _read_record(out / "manifest.json").get("sha256", {})
        for name, text in files.items():
            if name in digests and (out / name).exists():
                found = hashlib.sha256((out / name).read_bytes()).hexdigest()
                if found not in (digests[name], earlier.get(name)):
                    raise CopyError(f"{out / name} was changed after its release, and stays. Choose another folder, or move it away.")
        for name, text in files.items():
            _write_whole(out / name, text)
    except OSError as error:
        raise CopyError(f"Cannot write to {out}: {error.strerror or error}.") from None
    return manifest


def _graded(copy, points, due):
    """A learner's copy with the points of its exercises, and a note on what counts."""
    before = None
    for cell in copy.cells:
        most = points.get(cell.metadata.get("nbgrader", {}).get("grade_id")) if cell.metadata.get("nbgrader", {}).get("solution") else None
        if most is not None and before is not None:
            before.source += f"\n\n**{most} {'point' if most == 1 else 'points'}.**"
        before = cell
    note = f"**Graded.** This lesson gives {sum(points.values())} points: {', '.join(f'`{one}` {most}' for one, most in points.items())}."
    note += f" Due: {due}." if due else ""
    note += ("\n\nHand in this one file, under any name. Your functions are called on inputs drawn afresh, as `check` does it; what else "
             "stands in the notebook, outputs and timing too, does not count. Keep the names of the functions.")
    copy.cells.insert(1, nbformat.v4.new_markdown_cell(note, id="graded"))
    return copy


def _place(target, text, record):
    """Decide on one lesson and write it if nothing of the learner's is lost. Returns what was done."""
    new = fingerprint(text)
    if not target.exists():
        action = "written"
    else:
        found = fingerprint(target.read_bytes())
        if found is None:
            return "unreadable"
        if found == new:
            record[target.name] = new
        if new in (found, record.get(target.name)):
            return "unchanged"
        if found != record.get(target.name):
            return "kept"
        action = "renewed"
    _write_whole(target, text)
    record[target.name] = new
    return action


def fingerprint(notebook_text):
    """A checksum of what a person edits: the cells' kinds and texts. None for something that is not a notebook."""
    try:
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(notebook_text)["cells"]]
    except (ValueError, KeyError, TypeError):
        return None
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def _read_record(path):
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # without a record every existing file counts as the learner's
    return record if isinstance(record, dict) else {}


def _write_whole(path, text):
    """Write beside and rename, so that nobody ever sees half a file and two at once do no harm."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, suffix=".tmp", encoding="utf-8", newline="\n",
                                     delete=False) as unfinished:
        try:
            unfinished.write(text)
            unfinished.flush()
            os.fsync(unfinished.fileno())  # before the rename, or a power cut leaves an empty file
            unfinished.close()
            os.chmod(unfinished.name, 0o644)
            os.replace(unfinished.name, path.resolve())
        except OSError:
            os.unlink(unfinished.name)
            raise
