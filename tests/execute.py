"""Run source lessons from top to bottom and store their outputs: `python -m tests.execute [PATTERN ...]`.

All stored outputs are made by this Restart & Run All. Progress bars are off and timings are not recorded. Frames inside
libraries are removed from stored tracebacks, since they contain this machine's paths.
"""

import os
import re
import sys

import nbformat
from nbclient import NotebookClient
from tqdm import tqdm

from course_utils._support.notebooks import NOTEBOOKS, parts

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def lessons(patterns=()):
    """The source lessons in reading order, then the glossary.

    With patterns, those whose names contain one of them; SystemExit if there is none.
    """
    paths = [*parts().values(), NOTEBOOKS / "glossary.ipynb"]
    chosen = [
        path for path in paths if not patterns or any(pattern in path.name for pattern in patterns)
    ]
    if not chosen:  # pytest takes no path for all of its tests
        raise SystemExit(f"No lesson has in its name: {' '.join(patterns)}")
    return chosen


def without_library_frames(traceback):
    """The traceback's entries without those from files, which leaves the notebook's own."""
    # a colour is an escape sequence
    uncoloured = [re.sub("\x1b\\[[0-9;]*m", "", entry).lstrip() for entry in traceback]
    return [entry for entry, text in zip(traceback, uncoloured) if not text.startswith("File ")]


def execute(path):
    """Run one notebook in place.

    If a cell fails that is not tagged to do so, or takes too long, raises nbclient's
    CellExecutionError or CellTimeoutError, and the file stays unchanged.
    """
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    client = NotebookClient(
        notebook,
        resources={"metadata": {"path": str(path.parent)}},
        timeout=300,  # seconds, of one cell
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
    )
    # no progress bars, vectors computed afresh, and the encoder that everybody has
    environment = {**os.environ, "TQDM_DISABLE": "1", "COURSE_VECTORS": ""}
    environment.pop("COURSE_ENCODER", None)
    client.execute(env=environment)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                output.traceback = without_library_frames(output.traceback)
            # a widget's number, which is another one in each run; the widget's picture is stored
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    notebook.metadata.clear()
    notebook.metadata.update(kernelspec=KERNEL, language_info={"name": "python"})
    unfinished = path.with_suffix(".tmp")
    nbformat.write(notebook, unfinished)
    unfinished.replace(path)


def main(patterns):
    """Execute the lessons whose names contain one of these patterns, by default all."""
    for path in tqdm(lessons(patterns), unit="lesson"):
        execute(path)


if __name__ == "__main__":
    main(sys.argv[1:])
