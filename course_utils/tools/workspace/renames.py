"""Follow the lessons that the course has renamed, in a learner's workspace. Nothing is overwritten."""

import itertools
import os
from pathlib import Path

from ..._support.files import save_beside
from ..._support.passed import SAVED
from ..._support.renamed import RENAMED, new_id
from .merging import fingerprint, read_notebook

CHECKPOINTS = ".ipynb_checkpoints"  # JupyterLab's


def follow_renames(workspace, record):
    """Give a learner's copies of renamed lessons their new names, and the record's entries too.

    Each step can be repeated, so an interrupted call is completed by the next one. Returns rows (old file name, action,
    new file name). The action is "renamed", or "both": there are two files that hold the learner's work, and both stay
    as they are.
    """
    report = []
    for one in RENAMED:
        old, new = Path(workspace) / f"{one.old}.ipynb", Path(workspace) / f"{one.new}.ipynb"
        if old.is_file() and (old.name in record or _has_ids(old, one)):
            action = _follow(old, new, record)
            report.append((old.name, action, new.name))
            if action == "both":
                continue
        elif old.name in record and new.is_file() and new.name not in record and _has_ids(new, one):
            _move_entry(old.name, new.name, record)  # what an interrupted call left undone
        if not old.exists():
            _move_backups(old, new)
    return report


def with_new_ids(cells):
    """The cells of a renamed lesson, with the present ids of its exercises."""
    renamed = []
    for cell in cells:
        cell = {**cell, "id": new_id(cell["id"])} if "id" in cell else cell
        marks = cell["metadata"].get("nbgrader")
        if isinstance(marks, dict) and "grade_id" in marks:
            marks = {**marks, "grade_id": new_id(marks["grade_id"])}
            cell = {**cell, "metadata": {**cell["metadata"], "nbgrader": marks}}
        renamed.append(cell)
    return renamed


def _follow(old, new, record):
    if not new.exists():
        os.rename(old, new)
    elif _unedited(old, record):
        save_beside(old.read_bytes(), old.parent / SAVED, new.name)
        old.unlink()
        record.pop(old.name, None)
        return "renamed"
    elif _unedited(new, record):
        os.replace(old, new)
    else:
        return "both"
    _move_entry(old.name, new.name, record)
    return "renamed"


def _unedited(path, record):
    """Whether a file is what the course last wrote there."""
    entry = record.get(path.name)
    whole = entry.get("whole") if isinstance(entry, dict) else entry
    return whole is not None and fingerprint(path.read_bytes()) == whole


def _has_ids(path, one):
    """Whether a notebook has cells of the renamed lesson's exercises, under their old ids."""
    notebook = read_notebook(path.read_bytes())
    names = set()
    for cell in notebook["cells"] if notebook else ():
        marks = cell["metadata"].get("nbgrader")
        names |= {str(cell.get("id")), str(marks.get("grade_id") if isinstance(marks, dict) else None)}
    return not names.isdisjoint(one.ids())


def _move_entry(old, new, record):
    """Move a record's entry, or remove that of `new` if there is none for `old`: it describes another file."""
    entry = record.pop(old, None)
    record.pop(new, None)
    if isinstance(entry, dict) and isinstance(entry.get("cells"), dict):
        entry = {**entry, "cells": {new_id(name): checksum for name, checksum in entry["cells"].items()}}
    if entry is not None:
        record[new] = entry


def _move_backups(old, new):
    """Rename the learner's saved versions of a lesson, and JupyterLab's checkpoint, to the first free name."""
    folder = old.parent / SAVED
    for path in sorted(folder.glob(f"{old.stem}-*.ipynb")) if folder.is_dir() else ():
        free = (folder / f"{new.stem}-{number}.ipynb" for number in itertools.count(1))
        os.rename(path, next(target for target in free if not os.path.lexists(target)))
    kept, target = (old.parent / CHECKPOINTS / f"{path.stem}-checkpoint.ipynb" for path in (old, new))
    if kept.is_file() and not os.path.lexists(target):
        os.rename(kept, target)
