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
from ..._support.notebooks import BEGIN, END, INSTALLED, NOTEBOOKS, incomplete, lesson_cells, part_of, parts
from ..._support.passed import RECORD, SAVED
from ..._support.renamed import RENAMED
from ..translations import SOURCE, TranslationError, check_language, into_language
from .merging import STUB, checksums, fingerprint, in_words, merge, read_notebook, recover, write_notebook
from .moving import bring, divide, lacking, moved_in_words
from .overview import existing
from .renames import follow_renames, with_new_ids

REPORT_STUB = "YOUR ANSWER HERE"  # nbgrader's wording
GLOSSARY = "glossary.ipynb"
WRITER = "version"  # in the record: the course that wrote there last. A newer one may have other lessons
PATIENCE = 5  # seconds that a command waits for another
LANGUAGE = "language"  # in a workspace's record; without it, the lessons are in their own language


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


def write_workspace(workspace, sources=NOTEBOOKS, *, language=None):
    """Bring a workspace up to date: write missing lessons, renew unedited ones, keep the rest.

    A copy that was run but not edited counts as unedited: JupyterLab stores outputs by itself.

    language: that of the lessons from now on, such as "de"; None for the one that the workspace has.

    Returns a list of (file name, action): "written", "renewed", "unchanged"; "kept" if the learner's version stays
    although the lesson has changed; "unreadable" if the file is not a notebook, which stays too. A lesson that the
    course has renamed is renamed first, and has a row (old file name, "renamed" or "both"), see `renames`. Answers in a
    core that is kept are not taken along into a further part, which is written without them: `update_workspace` does
    that, then as well. Raises CopyError with a one-sentence message if there are no sources or the workspace cannot be
    written. Work done before the error is recorded.
    """
    workspace, lessons = Path(workspace), _sources(sources)
    report, target = [], workspace
    language = _known(language or language_of(workspace), sources)
    try:
        workspace.mkdir(parents=True, exist_ok=True)
        with _recording(workspace) as record:
            _set_language(record, language)
            renamed = follow_renames(workspace, record)
            report += [(old, action) for old, action, _ in renamed]
            for lesson in _without_doubtful(lessons, renamed):
                target = workspace / lesson.name
                report.append((lesson.name, _place(target, copied(lesson, language, **_kernel()), record)))
    except OSError as error:
        raise CopyError(cannot_write(target, error)) from None
    return report


def update_workspace(workspace, sources=NOTEBOOKS, *, language=None):
    """Bring a workspace up to date as `write_workspace` does, merging lessons that both sides changed.

    Another language is a change of the course like any other. A learner's file is saved in the folder SAVED before it
    is changed. What was written in cells of a core that are in a further part now goes there, see `moving`: the further
    parts are brought up to date first, then they get these cells, then they leave the core, so that an interrupted
    update is completed by the next one.

    Returns a list of (file name, action, description): "written", "renewed", "unchanged", "unreadable", "renamed" and
    "both" as in `write_workspace`, without a description; "merged"; "moved" for a core whose cells went; "waiting" for
    one whose cells cannot go, because the further part is unreadable. Raises CopyError or NoWorkspace with a
    one-sentence message.
    """
    workspace, lessons = existing(workspace), _sources(sources)
    report, target = [], workspace
    language = _known(language or language_of(workspace), sources)
    try:
        with alone(workspace / RECORD, PATIENCE):
            with _recording(workspace) as record:
                _set_language(record, language)
                renamed = follow_renames(workspace, record)
            texts, rows = {}, []
            for lesson in reversed(_without_doubtful(lessons, renamed)):  # a core after its further parts
                target = workspace / lesson.name
                # one at a time, so that an interruption leaves no lesson unrecorded
                with _recording(workspace) as record:
                    text = texts[target] = copied(lesson, language, **_kernel())
                    action = _place(target, text, record)
                    further = {
                        path: texts[path] for path in sorted(texts) if part_of(path).startswith(f"{part_of(lesson)}-")
                    }
                    done = _merge_into(target, text, record, further) if action == "kept" else [(action, "")]
                    rows = [(lesson.name, *outcome) for outcome in done] + rows
            report = [(old, action, "") for old, action, _ in renamed] + rows
    except TimeoutError:
        raise CopyError(_BUSY.format(workspace)) from None
    except OSError as error:
        raise CopyError(cannot_write(target, error, "and run this again")) from None
    return report


def reset_lesson(workspace, lesson, sources=NOTEBOOKS):
    """Restore one lesson, such as "04", after saving the learner's file in the folder SAVED.

    Returns (file name, path of the saved file or None). Raises CopyError or NoWorkspace with a one-sentence message;
    the learner's file then stays where it was.
    """
    workspace = existing(workspace)
    lessons = parts(sources)
    if lesson not in lessons:
        raise CopyError(f"There is no lesson {lesson}; the lessons are {', '.join(lessons)}.")
    language = _known(language_of(workspace), sources)
    target, text = workspace / lessons[lesson].name, copied(lessons[lesson], language, **_kernel())
    try:
        with alone(workspace / RECORD, PATIENCE), _recording(workspace) as record:
            follow_renames(workspace, record)
            before = target.read_bytes() if target.exists() else None
            saved = None if before in (None, text.encode()) else save_beside(before, workspace / SAVED, target.name)
            _replace(target, before, text)
            record[target.name] = _entry(text)
    except TimeoutError:
        raise CopyError(_BUSY.format(workspace)) from None
    except OSError as error:
        raise CopyError(cannot_write(target, error, "and run this again")) from None
    return target.name, saved


def write_other(lesson, target, workspace, make, language=None):
    """Write another copy of a lesson, made by `make` from its source, to a file of a workspace, unless it was edited.

    Returns whether it was edited. Raises CopyError with a one-sentence message.
    """
    text = copied(lesson, _known(language or language_of(workspace), lesson.parent), make, **_kernel())
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _recording(Path(workspace)) as record:
            _place(target, text, record)
        return fingerprint(target.read_bytes()) != fingerprint(text)
    except OSError as error:
        raise CopyError(cannot_write(target, error)) from None


def language_of(workspace):
    """The language of the lessons in a workspace, such as "en"; also of a folder that is none."""
    language = read_record(Path(workspace) / RECORD).get(LANGUAGE)
    return language if isinstance(language, str) else SOURCE


def _known(language, sources):
    """A language that exists. Raises CopyError for another one."""
    try:
        check_language(language, sources)
    except TranslationError as error:
        raise CopyError(str(error)) from None
    return language


def _set_language(record, language):
    record.pop(LANGUAGE, None)
    if language != SOURCE:
        record[LANGUAGE] = language


_BUSY = "Another `course` command is running in {}. Wait until it has finished, and run this again."


def cannot_write(target, error, advice="or choose another folder with --workspace"):
    """The message about an OSError, with what to do."""
    return f"Cannot write {target}: {error.strerror or error}. None of your work is lost; fix that, {advice}."


def _sources(folder):
    """The source lessons, and the glossary if it exists. Raises CopyError if there are no lessons."""
    if folder == NOTEBOOKS and (problem := incomplete()):
        raise CopyError(f"The course is installed only in part: {problem}. Install it again; no lesson was changed.")
    lessons = sorted(Path(folder).glob("[0-9]*.ipynb"))
    if not lessons:
        raise CopyError(f"There are no lessons in {folder}. Install the course again.")
    return [*lessons, *Path(folder).glob(GLOSSARY)]


def _without_doubtful(lessons, renamed):
    """The lessons but those that a learner has twice, under the old and the new name."""
    doubtful = {new for _, action, new in renamed if action == "both"}
    return [lesson for lesson in lessons if lesson.name not in doubtful]


def copied(lesson, language=SOURCE, make=learner_copy, **metadata):
    """The text of a learner's copy (or what `make` makes of the source), with this metadata.

    Raises CopyError if the source or its catalogue is damaged.
    """
    try:
        notebook = nbformat.read(lesson, as_version=4)
        into_language(notebook, lesson.stem, language, lesson.parent)
        copy = make(notebook)
        copy.metadata.update(metadata)
        return nbformat.writes(copy) + "\n"
    except TranslationError as error:
        raise CopyError(str(error)) from None
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


def _merge_into(target, text, record, further):
    """Merge a lesson that both sides changed. Returns pairs (action, description).

    further: the course's texts of its further parts, by their paths in the workspace.
    """
    before, new = target.read_bytes(), read_notebook(text)
    mine = read_notebook(before)
    if mine is None:
        return [("unreadable", "")]
    if target.stem in {one.new for one in RENAMED}:
        mine["cells"] = with_new_ids(mine["cells"])
    parts_of = {path: read_notebook(other)["cells"] for path, other in further.items()}
    everything = [cell for cells in (*parts_of.values(), new["cells"]) for cell in cells]
    base = _cells_of(record, target.name) or recover(mine["cells"], everything, _whole_of(record, target.name))
    stay, going = divide(mine["cells"], new["cells"], parts_of, base)
    moved = []
    for path, cells in going.items():
        words = _bring_into(path, further[path], cells, base, mine["cells"])
        if words is None:
            told = f"what you wrote for {path.name} waits here, since that file is not a valid notebook"
            return [*moved, ("waiting", f"{told}; repair or reset it and update again")]
        moved += [("moved", words)] if words else []
    cells, done = merge(stay, new["cells"], base)
    merged_text = _merged(mine, cells, new)
    if merged_text is None:
        return [*moved, ("unreadable", "")]
    if fingerprint(merged_text) == fingerprint(before):
        record[target.name] = _entry(text)
        return [*moved, ("unchanged", "")]
    saved = save_beside(before, target.parent / SAVED, target.name)
    _replace(target, before, merged_text)
    record[target.name] = _entry(text)
    unknown = "; there is no record of which cells you changed, so every text that differs counts as yours"
    unknown = "" if base is not None else unknown
    return [*moved, ("merged", f"{in_words(done)}{unknown}; your previous file is {SAVED}/{saved.name}")]


def _bring_into(target, text, cells, base, core):
    """Bring a learner's cells from a core into a further part. Returns what was done, in words, "" for nothing.

    core: all cells of the core, from where they come.

    None if the further part is unreadable. Its entry in the record is that of the course's text, before and after.
    """
    before, new = target.read_bytes(), read_notebook(text)
    there = read_notebook(before)
    if there is None:
        return None
    brought, done = bring(there["cells"], new["cells"], cells, base)
    if not any(done.values()):
        return ""
    brought_text = _merged(there, brought, new)
    if brought_text is None:
        return None
    if fingerprint(before) != fingerprint(text):
        save_beside(before, target.parent / SAVED, target.name)
    _replace(target, before, brought_text)
    lacks = lacking(done["moved"], brought, core)
    return moved_in_words(done, new["cells"], target.name, lacks)


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
