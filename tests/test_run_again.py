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
NOT_COMPARED = {"image/png", "application/vnd.jupyter.widget-view+json"}
pytestmark = pytest.mark.nightly


def shown(cell):
    """What a cell shows, but for pictures: their numbers stand beside them as text."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append(output.text)
        elif output.output_type == "error":
            found.append(f"{output.ename}: {output.evalue}")
        else:
            found += [
                str(data) for kind, data in sorted(output.data.items()) if kind not in NOT_COMPARED
            ]
    return "\n".join(found)


def is_figure(cell):
    return any("image/png" in output.get("data", {}) for output in cell.outputs)


def differing(notebook, cells, folder):
    """The ids of the cells among these, run in this order in an empty folder, that do not show what is stored.

    A cell that comes again is compared only the first time.
    """
    copies = [deepcopy(cell) for cell in cells]
    for place, cell in enumerate(copies):
        cell.outputs, cell.execution_count, cell.id = [], None, f"{cell.id[:50]}-{place}"
    run = nbformat.v4.new_notebook(cells=copies, metadata=deepcopy(notebook.metadata))
    client = NotebookClient(
        run, timeout=300, record_timing=False, coalesce_streams=True, allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.extra_arguments = ["--log-level=ERROR"]
    client.execute()
    seen, found = set(), []
    for cell, stored in zip(run.cells, cells, strict=True):
        tags = cell.metadata.get("tags", [])
        failed = (
            any(output.output_type == "error" for output in cell.outputs)
            and "raises-exception" not in tags
        )
        first = stored.id not in seen and IGNORED not in tags
        if failed or first and not nearly_equal(shown(cell), shown(stored)):
            found.append(stored.id)
        seen.add(stored.id)
    return found


@pytest.mark.parametrize("key", SOURCES)
def test_each_cell_may_run_twice_and_each_figure_not_at_all(key, tmp_path):
    notebook = SOURCES[key]
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and not is_figure(cell)]
    assert differing(notebook, [cell for cell in code for _ in range(2)], tmp_path) == []
