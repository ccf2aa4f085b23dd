"""A cell run twice, or a figure left out, changes nothing that follows.

nbval runs each lesson from top to bottom in an empty folder of its own (notebooks/conftest.py); people do not.
"""

from copy import deepcopy

import nbformat
import pytest
from nbclient import NotebookClient

from notebooks.conftest import nearly_equal

from .sources import SOURCES

IGNORED = "nbval-ignore-output"
# pictures, and widgets, whose ids are new in each run; both have a text beside them
NOT_COMPARED = {"image/png", "application/vnd.jupyter.widget-view+json"}
pytestmark = pytest.mark.nightly


def texts_of(output):
    if output.output_type == "stream":
        return [output.text]
    if output.output_type == "error":
        return [f"{output.ename}: {output.evalue}"]
    return [str(output.data[kind]) for kind in sorted(output.data.keys() - NOT_COMPARED)]


# What a cell shows as text. Its pictures and widgets are left out (NOT_COMPARED).
def shown(cell):
    return "\n".join(text for output in cell.outputs for text in texts_of(output))


def is_figure(cell):
    return any("image/png" in output.get("data", {}) for output in cell.outputs)


# Whether a cell raised an exception that it is not there to show.
def fails(cell):
    has_error = any(output.output_type == "error" for output in cell.outputs)
    return has_error and "raises-exception" not in cell.metadata.get("tags", [])


def run_twice(notebook, cells, folder):
    """Run each of these cells of a notebook twice in a row, in an empty folder.

    Returns copies with their outputs, two for each cell. Errors stop nothing: see `fails`.
    """
    copies = [deepcopy(cell) for cell in cells for _ in range(2)]
    # ids: different for both copies, and with at most 64 characters, as nbformat requires
    for place, cell in enumerate(copies):
        cell.update(outputs=[], execution_count=None, id=f"{cell.id[:50]}-{place}")
    run = nbformat.v4.new_notebook(cells=copies, metadata=deepcopy(notebook.metadata))
    client = NotebookClient(
        run, timeout=3000, record_timing=False, coalesce_streams=True, allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.extra_arguments = ["--log-level=ERROR"]
    client.execute()
    return run.cells


@pytest.mark.parametrize("key", SOURCES)
def test_each_cell_may_run_twice_and_each_figure_not_at_all(key, tmp_path):
    cells = [
        cell for cell in SOURCES[key].cells if cell.cell_type == "code" and not is_figure(cell)
    ]
    run = run_twice(SOURCES[key], cells, tmp_path)
    assert [cell.id for cell in run if fails(cell)] == []
    # Every other copy is a first run, in which all cells above have run twice. The second run may
    # show something else, such as a message that comes once.
    compared = [
        (stored, first)
        for stored, first in zip(cells, run[::2], strict=True)
        if IGNORED not in stored.metadata.get("tags", [])
    ]
    assert [
        stored.id for stored, first in compared if not nearly_equal(shown(first), shown(stored))
    ] == []
