"""The lessons as notebooks, read once for all tests of a process, which must not change them."""

import nbformat

from course_utils._support.notebooks import cores, lesson_cells, parts

SOURCES = {key: nbformat.read(path, as_version=4) for key, path in parts().items()}
# the cores with questions from memory: all but pages
DIVIDED = [key for key in cores() if any(cell.id == "recall" for cell in SOURCES[key].cells)]


def tags(cell):
    return cell.metadata.get("tags", [])


def code_of(notebook):
    """The code cells of a lesson, above the pictures for its lecture."""
    return [cell for cell in lesson_cells(notebook) if cell.cell_type == "code"]
