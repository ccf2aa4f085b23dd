"""What the tests of the decks share: the lectures of the course, read once, and small ones."""

import functools

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course_utils.tools.publish.lectures import read_lecture
from course_utils.tools.publish.slides import lectures

LECTURES = {path.stem: path for path in lectures().values()}
FRONT = '---\ntitle: "A"\nsubtitle: b\nlesson: 05_x\nminutes: {}\n---\n'

read = functools.cache(lambda name: read_lecture(LECTURES[name]))


def is_quiz(cell_id):
    return cell_id.startswith("quiz-")


def written_lecture(folder, text, *cells, minutes=5):
    """The path of a lecture with this text, whose lesson has these cells."""
    nbformat.write(new_notebook(cells=list(cells)), folder / "05_x.ipynb")
    (folder / "lectures").mkdir(exist_ok=True)
    path = folder / "lectures" / "05_x.md"
    path.write_text(FRONT.format(minutes) + text, encoding="utf-8")
    return path


def embed(cell):
    return f"{{{{< embed ../05_x.ipynb#{cell} >}}}}\n"


def drawn(cell_id, data):
    """A code cell that shows this data."""
    return new_code_cell("draw()", id=cell_id, outputs=[new_output("display_data", data=data)])
