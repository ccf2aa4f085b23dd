"""What the tests of the decks share: the lectures of the course, read once, and small ones."""

import functools

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course_utils.tools.publish.lectures import read_lecture
from course_utils.tools.publish.slides import lectures

LECTURES = {path.stem: path for path in lectures().values()}
# the head of a lecture; {}: its minutes
FRONT = '---\ntitle: "A"\nsubtitle: b\nlesson: 05_x\nminutes: {}\n---\n'

# by the name of a lecture, what `read_lecture` returns
read = functools.cache(lambda name: read_lecture(LECTURES[name]))


def is_quiz(cell_id):
    return cell_id.startswith("quiz-")


def written_lecture(folder, text, *cells, minutes=5):
    """The path of a lecture with this text, whose lesson has these cells.

    Both are written into the folder. minutes: how long the lecture says that it takes.
    """
    nbformat.write(new_notebook(cells=list(cells)), folder / "05_x.ipynb")
    (folder / "lectures").mkdir(exist_ok=True)
    path = folder / "lectures" / "05_x.md"
    path.write_text(FRONT.format(minutes) + text, encoding="utf-8")
    return path


# a line of a lecture in place of which the deck has the outputs of this cell, given by its id
def embed(cell_id):
    return f"{{{{< embed ../05_x.ipynb#{cell_id} >}}}}\n"


def drawn(cell_id, data):
    """A code cell whose output shows this data: {MIME type: content}."""
    return new_code_cell("draw()", id=cell_id, outputs=[new_output("display_data", data=data)])
