"""The learner's copies of the lessons: made from the source notebooks, never over anything a learner wrote."""

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
            unfinished.close()
            os.chmod(unfinished.name, 0o644)
            os.replace(unfinished.name, path.resolve())
        except OSError:
            os.unlink(unfinished.name)
            raise
