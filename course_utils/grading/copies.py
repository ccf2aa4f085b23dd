"""The learner's copies of the lessons: made from the source notebooks, never over anything that a person wrote."""

import hashlib
import json
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import nbformat

from ..exercises.framework import BEGIN, END, NOTEBOOKS
from ..files import alone, save_beside, write_whole
from ..overview import RECORD, SAVED, existing
from .merging import STUB, checksums, fingerprint, in_words, merge, read_notebook, recover, write_notebook

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
    """What a learner gets of a source notebook: solutions and reports become stubs; outputs, instructors' cells and marks for slides go."""
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
    the learner's version stays although the lesson has changed; "unreadable" that the file is no notebook, and stays too.
    Raises CopyError with one sentence if there are no sources, or nowhere to write. What was done until then is recorded.
    """
    workspace, lessons = Path(workspace), _sources(sources)
    report, target = [], workspace
    try:
        workspace.mkdir(parents=True, exist_ok=True)
        with _recording(workspace) as record:
            for lesson in lessons:
                target = workspace / lesson.name
                report.append((lesson.name, _place(target, _copied(lesson), record)))
    except OSError as error:
        raise CopyError(_cannot_write(target, error)) from None
    return report


def update_workspace(workspace, sources=NOTEBOOKS):
    """Bring a workspace up to date as `write_workspace` does, and merge lessons that both the learner and the course changed.

    A learner's file is saved in the folder SAVED before it is touched. Returns a list of (file name, what was done, in words): "written",
    "renewed", "unchanged" and "unreadable" as there, without words, and "merged". Raises CopyError or NoWorkspace with one sentence.
    """
    workspace, lessons = existing(workspace), _sources(sources)
    report, target = [], workspace
    try:
        with alone(workspace / RECORD, PATIENCE):
            for lesson in lessons:
                target = workspace / lesson.name
                with _recording(workspace) as record:  # each on its own, so that an interruption leaves no lesson without its record
                    text = _copied(lesson)
                    action = _place(target, text, record)
                    report.append((lesson.name, *(_merge_into(target, text, record) if action == "kept" else (action, ""))))
    except TimeoutError:
        raise CopyError(_BUSY.format(workspace)) from None
    except OSError as error:
        raise CopyError(_cannot_write(target, error, "and run this again")) from None
    return report


def reset_lesson(workspace, lesson, sources=NOTEBOOKS):
    """Write one lesson, such as "04", as the course gives it, after the learner's file was saved in the folder SAVED.

    Returns (file name, path of what was saved or None). Raises CopyError or NoWorkspace with one sentence; the learner's file is then
    where it was.
    """
    workspace, lessons = existing(workspace), {path.name[:2]: path for path in _sources(sources) if path.name != GLOSSARY}
    if lesson not in lessons:
        raise CopyError(f"There is no lesson {lesson}; the lessons are {', '.join(lessons)}.")
    target, text = workspace / lessons[lesson].name, _copied(lessons[lesson])
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


def _copied(lesson):
    """The text of a learner's copy. Raises CopyError if the source is damaged."""
    try:
        return nbformat.writes(learner_copy(nbformat.read(lesson, as_version=4))) + "\n"
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, ValueError):
        raise CopyError(f"The source lesson {lesson} is damaged. Fetch it again, for example with: git checkout "
                        f"{lesson}") from None


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
    files.update({path.name: _copied(path) for path in Path(sources).glob(GLOSSARY)})  # the lessons have links to it
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
            write_whole(out / name, text)
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
    merged = {**mine, "cells": cells, "metadata": {**new["metadata"], **mine["metadata"]},
              "nbformat_minor": max(new["nbformat_minor"], mine["nbformat_minor"])}
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
    unknown = "" if base is not None else "; which cells you changed is not on record, so all texts that differ count as yours"
    return "merged", f"{in_words(done)}{unknown}; your file before is {SAVED}/{saved.name}"


def _replace(target, before, text):
    """Write a file whose content was `before` (None: there was none). Raises CopyError if it was saved anew meanwhile."""
    if (target.read_bytes() if target.exists() else None) != before:
        raise CopyError(f"{target} was saved by another program at this very moment, and stays. Run this again.")
    write_whole(target, text)


@contextmanager
def _recording(workspace):
    """The record of a workspace, to be changed; what was changed is written down in any case."""
    path = workspace / RECORD
    known = _read_record(path)
    record = dict(known)
    try:
        yield record
    finally:
        if record != known or not path.exists():
            write_whole(path, json.dumps(record, indent=1, sort_keys=True))


def _entry(text):
    """What the record says of a lesson: a checksum of the whole, and one of each cell by its id. Earlier ones were a text, the first."""
    return {"whole": fingerprint(text), "cells": checksums(text)}


def _whole_of(record, name):
    entry = record.get(name)
    return entry.get("whole") if isinstance(entry, dict) else entry if isinstance(entry, str) else None


def _cells_of(record, name):
    cells = record[name].get("cells") if isinstance(record.get(name), dict) else None
    return cells if isinstance(cells, dict) else None


def _read_record(path):
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}  # without a record every existing file counts as the learner's
    return record if isinstance(record, dict) else {}
