"""The learner's copies of the lessons: made from the source notebooks, never over anything that a person wrote."""

import json
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

from ..._support.fast_nbformat import nbformat
from ..._support.files import alone, save_beside, write_whole
from ..._support.notebooks import BEGIN, END, NOTEBOOKS
from ..._support.passed import RECORD, SAVED
from .merging import STUB, checksums, fingerprint, in_words, merge, read_notebook, recover, write_notebook
from .overview import existing

REPORT_STUB = "YOUR ANSWER HERE"  # nbgrader's words
GLOSSARY = "glossary.ipynb"
PATIENCE = 5  # seconds that a command waits for another one


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
    """What a learner gets of a source notebook: solutions and reports become stubs; outputs, instructors' cells and
    marks for slides go.
    """
    copy = deepcopy(notebook)
    copy.cells = [cell for cell in copy.cells if "instructor" not in cell.metadata.get("tags", [])]
    for cell in copy.cells:
        cell.metadata.pop("slideshow", None)
        tags = [tag for tag in cell.metadata.pop("tags", []) if tag != "reveal" and not tag.startswith("slide-")]
        if tags:
            cell.metadata.tags = tags
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
    the learner's version stays although the lesson has changed; "unreadable" that the file is no notebook, and stays
    too.
    Raises CopyError with one sentence if there are no sources, or nowhere to write. What was done until then is
    recorded.
    """
    workspace, lessons = Path(workspace), _sources(sources)
    report, target = [], workspace
    try:
        workspace.mkdir(parents=True, exist_ok=True)
        with _recording(workspace) as record:
            for lesson in lessons:
                target = workspace / lesson.name
                report.append((lesson.name, _place(target, copied(lesson), record)))
    except OSError as error:
        raise CopyError(_cannot_write(target, error)) from None
    return report


def update_workspace(workspace, sources=NOTEBOOKS):
    """Bring a workspace up to date as `write_workspace` does, and merge lessons that both the learner and the course
    changed.

    A learner's file is saved in the folder SAVED before it is touched. Returns a list of (file name, what was done, in
    words): "written", "renewed", "unchanged" and "unreadable" as there, without words, and "merged". Raises CopyError
    or NoWorkspace with one sentence.
    """
    workspace, lessons = existing(workspace), _sources(sources)
    report, target = [], workspace
    try:
        with alone(workspace / RECORD, PATIENCE):
            for lesson in lessons:
                target = workspace / lesson.name
                # each on its own, so that an interruption leaves no lesson without its record
                with _recording(workspace) as record:
                    text = copied(lesson)
                    action = _place(target, text, record)
                    report.append(
                        (lesson.name, *(_merge_into(target, text, record) if action == "kept" else (action, "")))
                    )
    except TimeoutError:
        raise CopyError(_BUSY.format(workspace)) from None
    except OSError as error:
        raise CopyError(_cannot_write(target, error, "and run this again")) from None
    return report


def reset_lesson(workspace, lesson, sources=NOTEBOOKS):
    """Write one lesson, such as "04", as the course gives it, after the learner's file was saved in the folder SAVED.

    Returns (file name, path of what was saved or None). Raises CopyError or NoWorkspace with one sentence; the
    learner's file is then where it was.
    """
    workspace, lessons = (
        existing(workspace),
        {path.name[:2]: path for path in _sources(sources) if path.name != GLOSSARY},
    )
    if lesson not in lessons:
        raise CopyError(f"There is no lesson {lesson}; the lessons are {', '.join(lessons)}.")
    target, text = workspace / lessons[lesson].name, copied(lessons[lesson])
    try:
        with alone(workspace / RECORD, PATIENCE), _recording(workspace) as record:
            before = target.read_bytes() if target.exists() else None
            saved = None if before in (None, text.encode()) else save_beside(before, workspace / SAVED, target.name)
            _replace(target, before, text)
            record[target.name] = _entry(text)
    except TimeoutError:
        raise CopyError(_BUSY.format(workspace)) from None
    except OSError as error:
        raise CopyError(_cannot_write(target, error, "and run this again")) from None
    return target.name, saved


_BUSY = "Another `course` command is at work in {}. Wait until it has ended, and run this again."


def _cannot_write(target, error, advice="or choose another folder with --workspace"):
    return f"Cannot write {target}: {error.strerror or error}. Nothing of yours is lost; mend that, {advice}."


def _sources(folder):
    """The source lessons, and the glossary if there is one. Raises CopyError if there are no lessons."""
    lessons = sorted(Path(folder).glob("[0-9]*.ipynb"))
    if not lessons:
        raise CopyError(f"There are no lessons in {folder}. Install the course from a checkout: pip install -e .")
    return [*lessons, *Path(folder).glob(GLOSSARY)]


def copied(lesson):
    """The text of a learner's copy. Raises CopyError if the source is damaged."""
    try:
        return nbformat.writes(learner_copy(nbformat.read(lesson, as_version=4))) + "\n"
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, ValueError):
        raise CopyError(
            f"The source lesson {lesson} is damaged. Fetch it again, for example with: git checkout {lesson}"
        ) from None


def _place(target, text, record):
    """Decide on one lesson and write it if nothing of the learner's is lost. Returns what was done."""
    new, known = fingerprint(text), _whole_of(record, target.name)
    if not target.exists():
        action = "written"
    else:
        found = fingerprint(target.read_bytes())
        if found is None:
            return "unreadable"
        if new in (found, known):
            record[target.name] = _entry(text)
            return "unchanged"
        if found != known:
            return "kept"
        action = "renewed"
    write_whole(target, text)
    record[target.name] = _entry(text)
    return action


def _merge_into(target, text, record):
    """Merge a lesson that both sides changed. Returns what was done, and that in words."""
    before, new = target.read_bytes(), read_notebook(text)
    mine = read_notebook(before)
    if mine is None:
        return "unreadable", ""
    base = _cells_of(record, target.name) or recover(mine["cells"], new["cells"], _whole_of(record, target.name))
    cells, done = merge(mine["cells"], new["cells"], base)
    merged = {
        **mine,
        "cells": cells,
        "metadata": {**new["metadata"], **mine["metadata"]},
        "nbformat_minor": max(new["nbformat_minor"], mine["nbformat_minor"]),
    }
    try:
        merged_text = write_notebook(merged)
    except RecursionError:  # outputs that nest deeper than can be written
        return "unreadable", ""
    if fingerprint(merged_text) == fingerprint(before):
        record[target.name] = _entry(text)
        return "unchanged", ""
    saved = save_beside(before, target.parent / SAVED, target.name)
    _replace(target, before, merged_text)
    record[target.name] = _entry(text)
    unknown = (
        ""
        if base is not None
        else ("; which cells you changed is not on record, so all texts that differ count as yours")
    )
    return "merged", f"{in_words(done)}{unknown}; your file before is {SAVED}/{saved.name}"


def _replace(target, before, text):
    """Write a file whose content was `before` (None: there was none). Raises CopyError if it was saved anew
    meanwhile.
    """
    if (target.read_bytes() if target.exists() else None) != before:
        raise CopyError(f"{target} was saved by another program at this very moment, and stays. Run this again.")
    write_whole(target, text)


@contextmanager
def _recording(workspace):
    """The record of a workspace, to be changed; what was changed is written down in any case."""
    path = workspace / RECORD
    known = read_record(path)
    record = dict(known)
    try:
        yield record
    finally:
        if record != known or not path.exists():
            write_whole(path, json.dumps(record, indent=1, sort_keys=True))


def _entry(text):
    """What the record says of a lesson: a checksum of the whole, and one of each cell by its id. Earlier ones were a
    text, the first.
    """
    return {"whole": fingerprint(text), "cells": checksums(text)}


def _whole_of(record, name):
    entry = record.get(name)
    return entry.get("whole") if isinstance(entry, dict) else entry if isinstance(entry, str) else None


def _cells_of(record, name):
    cells = record[name].get("cells") if isinstance(record.get(name), dict) else None
    return cells if isinstance(cells, dict) else None


def read_record(path):
    """What a workspace, or a release, has on record; empty if there is nothing that can be read."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}  # without a record every existing file counts as the learner's
    return record if isinstance(record, dict) else {}
