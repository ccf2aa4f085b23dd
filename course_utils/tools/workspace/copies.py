"""The learner's copies of the lessons, made from the source notebooks without overwriting a person's work."""

import json
import re
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path

from ... import __version__
from ..._support.fast_nbformat import nbformat
from ..._support.files import alone, save_beside, write_whole
from ..._support.notebooks import BEGIN, END, INSTALLED, NOTEBOOKS, incomplete, lesson_cells, name_of, parts
from ...diary.workspace import RECORD, SAVED
from .merging import STUB, checksums, fingerprint, in_words, merge, read_notebook, recover, write_notebook
from .overview import existing

REPORT_STUB = "YOUR ANSWER HERE"  # nbgrader's wording
GLOSSARY = "glossary.ipynb"
WRITER = "version"  # in the record: the course that wrote there last. A newer one may have other lessons
PATIENCE = 5  # seconds that a command waits for another


class CopyError(RuntimeError):
    """The learner's copies cannot be written. The message is one sentence."""


def stub_out(source):
    """Replace each region between solution marks with a stub. Raises ValueError for an unpaired mark."""
    lines, inside = [], False
    for line in source.splitlines():
        mark = line.strip()
        if mark in (BEGIN, END):
            if inside == (mark == BEGIN):
                raise ValueError(f"{mark!r} has no matching marker")
            inside = not inside
            if inside:
                indent = line[: len(line) - len(line.lstrip())]
                lines += [indent + text for text in STUB]
        elif not inside:
            lines.append(line)
    if inside:
        raise ValueError(f"{BEGIN!r} has no matching marker")
    return "\n".join(lines)


def learner_copy(notebook):
    """Make the learner's version of a source notebook.

    It ends above the pictures for the lecture. Solutions and reports become stubs; outputs are removed.
    """
    copy = deepcopy(notebook)
    copy.cells = lesson_cells(copy)
    for cell in copy.cells:
        cell.metadata.pop("course", None)
        if cell.cell_type == "code":
            cell.source = stub_out(cell.source)
            cell.outputs, cell.execution_count = [], None
        elif cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = REPORT_STUB
    return copy


def write_workspace(workspace, sources=NOTEBOOKS):
    """Bring a workspace up to date: write missing lessons, renew unedited ones, keep the rest.

    A copy that was run but not edited counts as unedited: JupyterLab stores outputs by itself.

    Returns a list of (file name, action): "written", "renewed", "unchanged"; "kept" if the learner's version stays
    although the lesson has changed; "unreadable" if the file is not a notebook, which stays too. Raises CopyError with
    a one-sentence message if there are no sources or the workspace cannot be written. Work done before the error is
    recorded.
    """
    workspace, lessons = Path(workspace), _sources(sources)
    report, target = [], workspace
    try:
        workspace.mkdir(parents=True, exist_ok=True)
        with _recording(workspace) as record:
            for lesson in lessons:
                target = workspace / f"{name_of(lesson)}.ipynb"
                report.append((lesson.name, _place(target, copied(lesson, **_kernel()), record)))
    except OSError as error:
        raise CopyError(cannot_write(target, error)) from None
    return report


def update_workspace(workspace, sources=NOTEBOOKS):
    """Bring a workspace up to date as `write_workspace` does, merging lessons that both sides changed.

    A learner's file is saved in the folder SAVED before it is changed.

    Returns a list of (file name, action, description): "written", "renewed", "unchanged", "unreadable" as in
    `write_workspace`, without a description; "merged". Raises CopyError or NoWorkspace with a one-sentence message.
    """
    workspace, lessons = existing(workspace), _sources(sources)
    report, target = [], workspace
    try:
        with alone(workspace / RECORD, PATIENCE):
            for lesson in lessons:
                target = workspace / f"{name_of(lesson)}.ipynb"
                # one at a time, so that an interruption leaves no lesson unrecorded
                with _recording(workspace) as record:
                    text = copied(lesson, **_kernel())
                    action, words = _place(target, text, record), ""
                    if action == "kept":
                        action, words = _merge_into(target, text, record, workspace / SAVED)
                    report.append((lesson.name, action, words))
    except TimeoutError:
        raise CopyError(_BUSY.format(workspace)) from None
    except OSError as error:
        raise CopyError(cannot_write(target, error, "and run this again")) from None
    return report


def of_the_earlier_layout(workspace):
    """The names of further parts that stand beside the cores in a workspace, as all did before they had a folder."""
    return sorted(path.name for path in Path(workspace).glob("[0-9][0-9]_*_further*.ipynb"))


def reset_lesson(workspace, lesson, sources=NOTEBOOKS):
    """Restore one lesson, such as "04", after saving the learner's file in the folder SAVED.

    Returns (file name, path of the saved file or None). Raises CopyError or NoWorkspace with a one-sentence message;
    the learner's file then stays where it was.
    """
    workspace = existing(workspace)
    lessons = parts(sources)
    if lesson not in lessons:
        raise CopyError(f"There is no lesson {lesson}; the lessons are {', '.join(lessons)}.")
    path = lessons[lesson]
    target, text = workspace / f"{name_of(path)}.ipynb", copied(path, **_kernel())
    try:
        with alone(workspace / RECORD, PATIENCE), _recording(workspace) as record:
            before = target.read_bytes() if target.exists() else None
            saved = None if before in (None, text.encode()) else save_beside(before, workspace / SAVED, target.name)
            target.parent.mkdir(exist_ok=True)
            _replace(target, before, text)
            record[target.name] = _entry(text)
    except TimeoutError:
        raise CopyError(_BUSY.format(workspace)) from None
    except OSError as error:
        raise CopyError(cannot_write(target, error, "and run this again")) from None
    return target.name, saved


def write_other(lesson, target, workspace, make):
    """Write another copy of a lesson, made by `make` from its source, to a file of a workspace, unless it was edited.

    Returns whether it was edited. Raises CopyError with a one-sentence message.
    """
    text = copied(lesson, make, **_kernel())
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _recording(Path(workspace)) as record:
            _place(target, text, record)
        return fingerprint(target.read_bytes()) != fingerprint(text)
    except OSError as error:
        raise CopyError(cannot_write(target, error)) from None


_BUSY = "Another `course` command is running in {}. Wait until it has finished, and run this again."


def cannot_write(target, error, advice="or choose another folder with --workspace"):
    """The message about an OSError, with what to do."""
    return f"Cannot write {target}: {error.strerror or error}. None of your work is lost; fix that, {advice}."


def _sources(folder):
    """The source lessons, and the glossary if it exists. Raises CopyError if there are no lessons."""
    if folder == NOTEBOOKS and (problem := incomplete()):
        raise CopyError(f"The course is installed only in part: {problem}. Install it again; no lesson was changed.")
    lessons = parts(folder).values()
    if not lessons:
        raise CopyError(f"There are no lessons in {folder}. Install the course again.")
    return [*lessons, *Path(folder).glob(GLOSSARY)]


def copied(lesson, make=learner_copy, **metadata):
    """The text of a learner's copy (or what `make` makes of the source), with this metadata.

    Raises CopyError if the source is damaged.
    """
    try:
        copy = make(nbformat.read(lesson, as_version=4))
        copy.metadata.update(metadata)
        return nbformat.writes(copy) + "\n"
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, ValueError):
        advice = "Install the course again" if INSTALLED else f"Fetch it again, for example with: git checkout {lesson}"
        raise CopyError(f"The source lesson {lesson} is damaged. {advice}") from None


@cache
def _kernel():
    """The metadata that JupyterLab stores when it opens a notebook.

    With anything else, it would show each copy as unsaved before the learner touches it.
    """
    from ipykernel.ipkernel import IPythonKernel
    from jupyter_client.kernelspec import get_kernel_spec

    spec = get_kernel_spec("python3")
    return {
        "kernelspec": {"name": "python3", "display_name": spec.display_name, "language": spec.language},
        "language_info": IPythonKernel.language_info,
    }


def _place(target, text, record):
    """Write one lesson unless that would lose the learner's work. Returns the action taken."""
    new, known = fingerprint(text), _whole_of(record, target.name)
    if not target.exists():
        action = "written"
        target.parent.mkdir(exist_ok=True)  # of further parts
    else:
        present = fingerprint(target.read_bytes())
        if present is None:
            return "unreadable"
        if new in (present, known):
            record[target.name] = _entry(text)
            return "unchanged"
        if present != known:
            return "kept"
        action = "renewed"
    write_whole(target, text)
    record[target.name] = _entry(text)
    return action


def _merge_into(target, text, record, saved_files):
    """Merge a lesson that both sides changed, and save the learner's file. Returns (action, description)."""
    before, new = target.read_bytes(), read_notebook(text)
    mine = read_notebook(before)
    if mine is None:
        return "unreadable", ""
    base = _cells_of(record, target.name) or recover(mine["cells"], new["cells"], _whole_of(record, target.name))
    cells, done = merge(mine["cells"], new["cells"], base)
    merged_text = _merged(mine, cells, new)
    if merged_text is None:
        return "unreadable", ""
    if fingerprint(merged_text) == fingerprint(before):
        record[target.name] = _entry(text)
        return "unchanged", ""
    saved = save_beside(before, saved_files, target.name)
    _replace(target, before, merged_text)
    record[target.name] = _entry(text)
    unknown = "; there is no record of which cells you changed, so every text that differs counts as yours"
    unknown = "" if base is not None else unknown
    return "merged", f"{in_words(done)}{unknown}; your previous file is {SAVED}/{saved.name}"


def _merged(mine, cells, new):
    """The text of a learner's notebook with these cells; None if its outputs are nested too deeply to be written."""
    merged = mine | {"cells": cells, "metadata": {**new["metadata"], **mine["metadata"]}}
    merged["nbformat_minor"] = max(new["nbformat_minor"], mine["nbformat_minor"])
    try:
        return write_notebook(merged)
    except RecursionError:
        return None


def _replace(target, before, text):
    """Replace a file whose content was `before` (None if it did not exist).

    Raises CopyError if it was saved again in the meantime.
    """
    if (target.read_bytes() if target.exists() else None) != before:
        raise CopyError(f"{target} was just saved by another program, so it was left unchanged. Run this again.")
    write_whole(target, text)


@contextmanager
def _recording(workspace):
    """Yield a workspace's record to be changed. Changes are written even after an error.

    Raises CopyError if a newer course wrote it: its lessons would be taken back to older ones.
    """
    path = workspace / RECORD
    known = read_record(path)
    if _numbers(known.get(WRITER)) > _numbers(__version__):
        raise CopyError(
            f"{workspace} was written by version {known[WRITER]} of the course, and this is {__version__}. Install "
            "that version or a newer one, or choose another folder with --workspace; nothing was changed."
        )
    record = {**known, WRITER: __version__}
    try:
        yield record
    finally:
        if record != known or not path.exists():
            write_whole(path, json.dumps(record, indent=1, sort_keys=True))


def _numbers(version):
    """A version such as "0.10.0" as numbers to compare; anything else is older than all."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version) if isinstance(version, str) else None
    return tuple(map(int, match.groups())) if match else ()


def _entry(text):
    """The record's entry for a lesson: a checksum of the whole, and one per cell by id.

    Older records held only the first, as a string.
    """
    return {"whole": fingerprint(text), "cells": checksums(text)}


def _whole_of(record, name):
    entry = record.get(name)
    return entry.get("whole") if isinstance(entry, dict) else entry if isinstance(entry, str) else None


def _cells_of(record, name):
    cells = record[name].get("cells") if isinstance(record.get(name), dict) else None
    return cells if isinstance(cells, dict) else None


def read_record(path):
    """The record of a workspace or a release; empty if it cannot be read."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}  # without a record, every existing file counts as the learner's
    return record if isinstance(record, dict) else {}
