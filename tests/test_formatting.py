"""The one command that formats modules, tests and the cells of notebooks."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from .formatting import CELL_COLUMNS, LEFT_OUT, format_notebook

# 89 characters, which fit a module's line of 100 and no cell's
LONG = "x = f(" + ", ".join(f"argument_{number}" for number in range(7)) + ")"


@pytest.fixture
def notebook(tmp_path):
    """`notebook(*sources, **metadata)` writes one; the metadata are those of its last cell."""

    def write(*sources, **metadata):
        cells = [new_code_cell(source, id=f"cell-{place}") for place, source in enumerate(sources)]
        cells[-1].metadata.update(metadata)
        path = tmp_path / "04_x.ipynb"
        nbformat.write(new_notebook(cells=[new_markdown_cell("a=1"), *cells]), path)
        return path

    return write


def sources_in(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def test_cells_are_formatted_at_their_own_width_and_a_check_writes_nothing(notebook):
    path = notebook("a=1", LONG, "b = 2;")
    before = path.read_bytes()
    assert format_notebook(path, is_check=True) == ["cell-0", "cell-1"]
    assert path.read_bytes() == before
    assert format_notebook(path) == ["cell-0", "cell-1"]
    text, first, second, last = sources_in(path)
    assert (text, first, last) == ("a=1", "a = 1", "b = 2;")
    assert len(LONG) == CELL_COLUMNS + 1
    assert len(second.splitlines()) == 3
    assert format_notebook(path, is_check=True) == []


def test_a_cell_that_cannot_be_formatted_is_named(notebook):
    with pytest.raises(ValueError, match=f'^04_x.ipynb: .* the cell cell-1: .*"{LEFT_OUT}"'):
        format_notebook(notebook("a=1", "def f(:"))


def test_a_cell_is_left_out_with_its_reason(notebook):
    with pytest.raises(ValueError, match='cell-1 needs a "reason"'):
        format_notebook(notebook("a=1", "def f(:", tags=[LEFT_OUT]))
    path = notebook("a=1", "def f(:", tags=[LEFT_OUT], reason="it shows a mistake")
    assert format_notebook(path) == ["cell-0"]
    assert sources_in(path)[1:] == ["a = 1", "def f(:"]
