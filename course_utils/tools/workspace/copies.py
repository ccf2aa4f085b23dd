"""The learner's copies of the lessons, written without overwriting a person's work.

A copy's metadata hold the checksums of its cells by id, as the course wrote them: cells that differ
are the learner's. The workspace's record, the JSON file RECORD, has the same by the file's name,
without its folder, and stands in for a file that holds none; and under WRITER, it has the version of
the course that wrote last. No link below the workspace is followed, and nothing but ordinary files
is read or replaced.
"""

import os
import re
import textwrap
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from filelock import Timeout

from ... import __version__
from ..._support.fast_nbformat import nbformat, read_notebook
from ..._support.files import Notice, alone, is_regular, save_beside, write_whole
from ..._support.installation import incomplete
from ..._support.notebooks import (
    BEGIN,
    END,
    NOTEBOOKS,
    lesson_cells,
    lesson_named,
    name_of,
    part_of,
    parts,
)
from ...diary.records import read as read_record, write_over
from ...diary.workspace import RECORD, SAVED
from .merging import (
    STUB,
    as_metadata,
    checksum,
    checksums,
    fingerprint,
    in_words,
    merge,
    parse_notebook,
    write_notebook,
    written_in,
)
from .owner import as_owner_of

REPORT_STUB = "YOUR ANSWER HERE"  # nbgrader's wording
GLOSSARY = "glossary.ipynb"
SOLUTION = re.compile(rf"^([ \t]*){BEGIN}[ \t]*$.*?^[ \t]*{END}[ \t]*$", re.MULTILINE | re.DOTALL)
TO_A_LESSON = re.compile(r"(?<=\]\()[\w./-]+(?=\.ipynb)")
# the record's key for the version of the course that wrote it last; a newer course may have other
# lessons
WRITER = "version"
PATIENCE = 5  # seconds that a command waits for another
LEFT_ALONE = {  # why a file was left as it is
    "kept": "your version was kept; the course has a newer one. `course update{option}` merges its "
    "changes and keeps what you wrote; {reset} writes a fresh one.",
    "unreadable": "this file is not a valid notebook and was left unchanged; {reset} writes a fresh "
    "one.",
    "blocked": "{obstacle}",
}


class CopyError(RuntimeError):
    """The learner's copies cannot be written. The message says why and what to do."""


class FileReport(NamedTuple):
    """What was done with the file of a lesson.

    name: of the file, such as "04_pooling.ipynb".
    action: "written", "renewed", "unchanged"; "kept" if the learner's version stays although the
    lesson has changed; "unreadable" if the file is not a notebook, which stays too; "blocked" if a
    link or no ordinary file is in its place; "merged".
    description: how it was merged, or what is in its place.
    """

    name: str
    action: str
    description: str = ""


def existing_workspace(folder: str | Path | None = None) -> Path:
    """The named workspace; by default the current folder if it is one, else `workspace` in it.

    Raises CopyError if there is none.
    """
    if folder is None:
        folder = "." if Path(RECORD).is_file() else "workspace"
    workspace = Path(folder).expanduser()
    if not (workspace / RECORD).is_file():
        raise CopyError(
            f"{workspace.resolve()} is not a folder with your lessons (it has no {RECORD}). Go to "
            "the folder with your lessons, or name it with --workspace; `course lab` creates one."
        )
    return workspace


def stub_out(source: str) -> str:
    """Replace each region between solution marks with a stub.

    Raises ValueError for an unpaired mark.
    """
    text, regions = SOLUTION.subn(
        lambda region: textwrap.indent("\n".join(STUB), prefix=region[1]), source
    )
    marks = [line.strip() for line in source.splitlines() if line.strip() in (BEGIN, END)]
    if marks != [BEGIN, END] * regions:
        raise ValueError(f"{BEGIN!r} or {END!r} has no matching marker")
    return text


def learner_copy(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Make the learner's version of a source notebook.

    It ends above the pictures for the lecture. Solutions and reports become stubs; outputs and the
    course's own metadata are removed. The source is not changed. Raises ValueError, as `stub_out`
    does.
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


def with_note(
    copy: nbformat.NotebookNode,
    note: nbformat.NotebookNode,
    code: nbformat.NotebookNode,
    link: Callable[[str], str],
) -> nbformat.NotebookNode:
    """Put two more cells below the title of a learner's copy, and change its links to lessons.

    note, code: these cells.
    link: makes the new address from that of a link, such as "further/05_effects"; both are without
    .ipynb.

    Returns `copy` itself, which is changed.
    """
    for cell in copy.cells:
        if cell.cell_type == "markdown":
            cell.source = TO_A_LESSON.sub(lambda match: link(match[0]), cell.source)
    copy.cells[1:1] = [note, code]
    return copy


def write_workspace(
    workspace: str | Path, sources: str | Path = NOTEBOOKS, merging: bool = False
) -> list[FileReport]:
    """Bring a workspace up to date: write missing lessons, renew unedited ones, keep the rest.

    A copy that was run but not edited counts as unedited: JupyterLab stores outputs by itself.
    merging: merge lessons that both sides changed, after saving the learner's file in the folder
    SAVED.

    Raises CopyError if there are no sources or the workspace cannot be written, ValueError for a
    damaged source. Work done before the error is recorded.
    """
    workspace = Path(workspace)
    texts = {lesson: copied(lesson) for lesson in _sources(Path(sources))}
    reports = []
    with changing(workspace) as record:
        for lesson, text in texts.items():
            target = workspace / f"{name_of(lesson)}.ipynb"
            if blocked := obstacle(workspace, target):
                reports.append(FileReport(lesson.name, "blocked", blocked))
                continue
            report = FileReport(lesson.name, write_copy(target, text, record))
            if report.action == "kept" and merging:
                report = _merge_and_save(workspace, target, text, record)
            reports.append(report)
    return reports


def obstacle(workspace: Path, target: Path) -> str:
    """What keeps the course from writing a file of a workspace, and what to do, as a sentence; ""
    if nothing does.

    It is a link, a folder, a pipe or a device in the place of the file, or a link in the place of
    its folder. The workspace itself may be a link.
    """
    blocked = target
    if target.parent != workspace and target.parent.is_symlink():
        blocked = target.parent
    elif is_regular(target) or not os.path.lexists(target):
        return ""
    kind = "a symbolic link" if blocked.is_symlink() else "no ordinary file"
    return (
        f"{blocked.relative_to(workspace)} is {kind}, which the course neither follows nor "
        "replaces. Rename or delete it, and run this again."
    )


def reset_lesson(
    workspace: Path, key: str, sources: str | Path = NOTEBOOKS
) -> tuple[str, Path | None]:
    """Restore one lesson, such as "04", after saving the learner's file in the folder SAVED.

    Returns (file name, path of the saved file; None if there was no file, or nothing to reset in
    it). Raises CopyError, also if the file is a link or no ordinary file, or ValueError for an
    unknown lesson or a damaged source; the learner's file then stays where it was.
    """
    lesson = lesson_named(key, sources)
    target = workspace / f"{name_of(lesson)}.ipynb"
    text = copied(lesson)
    saved = None
    with changing(workspace) as record:
        if blocked := obstacle(workspace, target):
            raise CopyError(blocked)
        previous = _content(target)
        if previous is not None and previous != text.encode():
            saved = _save(previous, workspace, target.name)
        target.parent.mkdir(exist_ok=True)
        _replace(target, previous, text)
        record[target.name] = checksums(text)
    return target.name, saved


def report_lines(reports: list[FileReport], workspace: Path) -> list[str]:
    """What was done to each file, and what to do about one that was left alone: a line for each,
    but for unchanged ones, and no line twice.
    """
    # the commands find these two by themselves
    option = "" if workspace in (Path("workspace"), Path()) else f' --workspace "{workspace}"'
    lines = []
    for name, action, description in reports:
        if action in LEFT_ALONE:
            reset = (
                f"`course reset {part_of(name)}{option}` saves it and"
                if name != GLOSSARY  # which is no lesson to reset
                else f"rename it, and `course lab{option}`"
            )
            description = LEFT_ALONE[action].format(
                reset=reset, option=option, obstacle=description
            )
        elif action == "renewed":
            description = "renewed; you had not edited it"
        if action == "blocked":  # the sentence names what is in the way, perhaps of many files
            lines.append(description)
        elif action != "unchanged":
            lines.append(f"{name}: {description or action}")
    return list(dict.fromkeys(lines))


def _sources(folder: Path) -> list[Path]:
    """The source lessons, and the glossary if it exists.

    Raises CopyError if there are no lessons.
    """
    if folder == NOTEBOOKS and (problem := incomplete()):
        raise CopyError(
            f"The course is installed only in part: {problem}. Install it again; no lesson was "
            "changed."
        )
    lessons = parts(folder).values()
    if not lessons:
        raise CopyError(f"There are no lessons in {folder}. Install the course again.")
    return [*lessons, *folder.glob(GLOSSARY)]  # which finds one or none


def copied(
    lesson: Path, make: Callable[[nbformat.NotebookNode], nbformat.NotebookNode] = learner_copy
) -> str:
    """The text of a learner's copy, or of what `make` makes of the source notebook.

    Its metadata name the kernel of this environment, and hold the checksums of the cells. Raises
    ValueError for a damaged source.
    """
    copy = make(read_notebook(lesson))
    written = {cell.id: checksum(cell) for cell in copy.cells}
    copy.metadata.update(_kernel(), course=as_metadata(written))
    return nbformat.writes(copy) + "\n"


@cache
def _kernel() -> dict[str, Any]:
    """The metadata that JupyterLab stores when it opens a notebook.

    With anything else, it would show each copy as unsaved before the learner touches it.
    """
    from ipykernel.ipkernel import IPythonKernel
    from jupyter_client.kernelspec import get_kernel_spec

    spec = get_kernel_spec("python3")
    return {
        "kernelspec": {
            "name": "python3",
            "display_name": spec.display_name,
            "language": spec.language,
        },
        "language_info": IPythonKernel.language_info,
    }


def write_copy(target: Path, text: str, record: dict[str, Any]) -> str:
    """Write one lesson unless that would lose the learner's work.

    record: a workspace's, as `changing` yields it; it gets the checksums of what stands there then,
    unless the learner's file stays. Returns the action taken, as in `FileReport`.
    """
    action = "written"
    if target.exists():
        content = target.read_bytes()
        present = fingerprint(content)
        last_written = list(_checksums_written(content, record, target.name).values())
        if present is None:
            return "unreadable"
        # it stands there already, or the course has not changed since this very file was written
        if fingerprint(text) in (present, last_written):
            action = "unchanged"
            if present != last_written and present == fingerprint(text) and written_in(content):
                _note_version(target, content, text)
        elif present == last_written:
            action = "renewed"
        else:
            return "kept"
    if action != "unchanged":
        target.parent.mkdir(exist_ok=True)  # of further parts
        write_whole(target, text, through_links=False)
    record[target.name] = checksums(text)
    return action


def _note_version(target: Path, content: bytes, text: str) -> None:
    """Put the checksums of the course's text into a file that holds this text already."""
    notebook = parse_notebook(content)
    if notebook is not None:
        notebook["metadata"]["course"] = as_metadata(checksums(text))
        _replace(target, content, write_notebook(notebook))


def _merge_and_save(workspace: Path, target: Path, text: str, record: dict[str, Any]) -> FileReport:
    # `text` is the course's new version; what stands in `target` is the learner's, which is saved
    previous = target.read_bytes()
    learner_notebook, course_notebook = parse_notebook(previous), parse_notebook(text)
    if learner_notebook is None or course_notebook is None:
        return FileReport(target.name, "unreadable")
    checksums_written = _checksums_written(previous, record, target.name)
    cells, counts = merge(learner_notebook["cells"], course_notebook["cells"], checksums_written)
    merged_text = write_notebook({
        **learner_notebook,
        "cells": cells,
        "metadata": {
            **course_notebook["metadata"],
            **learner_notebook["metadata"],
            "course": as_metadata(checksums(text)),
        },
        "nbformat_minor": max(
            course_notebook["nbformat_minor"], learner_notebook["nbformat_minor"]
        ),
    })  # fmt: skip
    report = FileReport(target.name, "unchanged")
    if fingerprint(merged_text) != fingerprint(previous):
        saved = _save(previous, workspace, target.name)
        description = f"{in_words(counts)}; your previous file is {SAVED}/{saved.name}"
        if not checksums_written:
            description += (
                "; there is no record of which cells you changed, so every text that differs "
                "counts as yours"
            )
        report = FileReport(target.name, "merged", description)
    # also where no cell changes: its checksums may
    _replace(target, previous, merged_text)
    record[target.name] = checksums(text)
    return report


def _save(content: bytes, workspace: Path, name: str) -> Path:
    """Save a learner's file in the folder SAVED. Raises CopyError if that is a link."""
    folder = workspace / SAVED
    if folder.is_symlink():
        raise CopyError(obstacle(workspace, folder))
    return save_beside(content, folder, name)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _replace(target: Path, previous: bytes | None, text: str) -> None:
    """Replace a file whose content was `previous` (None if it did not exist).

    Raises CopyError if it was saved again in the meantime.
    """
    if _content(target) != previous:
        raise CopyError(
            f"{target} was just saved by another program, so it was left unchanged. Run this again."
        )
    write_whole(target, text, through_links=False)


@contextmanager
def changing(workspace: Path) -> Generator[dict[str, Any]]:
    """Yield a workspace's record, to be changed while no other command changes the workspace.

    If root does it in somebody else's home, the block runs as the owner of that home.

    The folder is made if it is missing. Changes are written even after an error. A damaged record
    is moved aside, and a Notice says so.

    Raises CopyError, with what to do, in place of an OSError (also of the caller's block), if
    another command holds the workspace for PATIENCE, or if a newer course wrote the record: its
    lessons would be taken back to older ones.
    """
    # made here, since the owner of a home may not be able to import what it needs
    lock = alone(workspace / RECORD, PATIENCE)
    try:
        with as_owner_of(workspace):
            workspace.mkdir(parents=True, exist_ok=True)
            with lock, _open_record(workspace) as record:
                yield record
    except Timeout:
        raise CopyError(
            "Another `course` command is running in this folder. Wait until it has finished, and "
            "run this again."
        ) from None
    except OSError as error:
        raise CopyError(
            f"Cannot write {error.filename or workspace}: {error.strerror or error}. None of your "
            "work is lost; fix that, and run this again."
        ) from None


@contextmanager
def _open_record(workspace: Path) -> Generator[dict[str, Any]]:
    """Yield the record, and write it if it has changed, also after an error; see `changing`."""
    path = workspace / RECORD
    written, sound = read_record(path)
    if _numbers(written.get(WRITER)) > _numbers(__version__):
        raise CopyError(
            f"{workspace} was written by version {written[WRITER]} of the course, and this is "
            f"{__version__}. Install that version or a newer one, or choose another folder with "
            "--workspace; nothing was changed."
        )
    record = {**written, WRITER: __version__}
    try:
        yield record
    finally:
        if record != written or not sound or not path.exists():
            aside = write_over(path, record, sound)
            if aside is not None:
                _tell_of_damaged_record(aside)


def _numbers(version: object) -> tuple[int, ...]:
    """A version such as "0.10.0" as numbers to compare; anything else is older than all."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", str(version))
    return tuple(map(int, match.groups())) if match else ()


def _tell_of_damaged_record(aside: Path) -> None:
    warnings.warn(
        Notice(
            f"{RECORD}, the record of what the course wrote, was damaged or no ordinary file. It is "
            f"kept as {aside.name}, and a new one was begun."
        ),
        stacklevel=2,
    )


def _checksums_written(content: bytes, record: dict[str, Any], name: str) -> dict[str, str]:
    """The checksums of what the course wrote into a file: as the file says, else as the record."""
    entry = record.get(name)
    return written_in(content) or (entry if isinstance(entry, dict) else {})
