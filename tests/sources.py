"""The lessons as notebooks, read once for all tests of a process, which must not change them; numbers in texts.

A lesson's key is its number, such as "05"; that of a further part has more, as `parts` of
course_utils/_support/notebooks.py names it.
"""

import ast
import re

import nbformat

from course_utils._support.notebooks import cores, kind_of, lesson_cells, parts

SOURCES = {key: nbformat.read(path, as_version=4) for key, path in parts().items()}
# the cores that have exercises, questions from memory, a lecture and verdicts: all but pages
DIVIDED = [key for key in cores() if kind_of(SOURCES[key]) != "page"]
# such as -1,234.56, and no part of a word or of a version such as 1.2.3
NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:,\d{3})*(?:\.\d+)?(?!\w|\.\d)")


def tags(cell):
    return cell.metadata.get("tags", [])


def code_of(notebook):
    """The code cells of a lesson, above the pictures for its lecture."""
    return [cell for cell in lesson_cells(notebook) if cell.cell_type == "code"]


def cell_of(key, cell_id):
    """The cell of this name in a lesson or, if it has none, in one of its further parts."""
    for part in sorted(SOURCES):
        for cell in SOURCES[part].cells:
            if part[:2] == key and cell.id == cell_id:
                return cell
    raise LookupError(f"lesson {key} has no cell {cell_id}")


def function_of(key, cell_id, name, **names):
    """A function as a lesson defines it in a cell; `names` are the globals that it finds."""
    (definition,) = [
        part
        for part in ast.parse(cell_of(key, cell_id).source).body
        if isinstance(part, ast.FunctionDef) and part.name == name
    ]
    exec(compile(ast.Module([definition], []), cell_id, "exec"), names)
    return names[name]


def printed_by(cell):
    """The texts of a cell's outputs, joined: printed, plain, of an error, HTML without tags."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        texts += [output.get("text", ""), data.get("text/plain", ""), output.get("evalue", "")]
        texts.append(re.sub("<[^>]+>", " ", data.get("text/html", "")))
    return " ".join(texts)


def stands_in(number, text):
    """Whether a text has this number, a text such as "1,234.5", perhaps with more digits."""
    digits = len(number.partition(".")[2])
    values = [float(numeral.replace(",", "")) for numeral in NUMBER.findall(text)]
    return float(number.replace(",", "")) in [round(value, digits) for value in values]
