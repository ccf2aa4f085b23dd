"""Format all code with ruff: `python -m tests.formatting [--check]`.

Modules and tests have the width of pyproject.toml, the cells of notebooks 88 columns, which is
what people who read them have in their own projects. A cell that ruff cannot parse, such as one
with an error on purpose, gets the tag `not-formatted` and, in its metadata, a `reason`: it is left
as it is. With --check, nothing is written, and what is not formatted is named.
"""

import re
import subprocess
import sys
from pathlib import Path

import nbformat

from .project import ROOT

CELL_COLUMNS = 88
LEFT_OUT = "not-formatted"  # the tag
RUFF = Path(sys.executable).with_name("ruff")
# how ruff names a cell that it cannot parse: by its place in the notebook, from 1
UNPARSED = re.compile(r"\.ipynb:(\d+):\d+:\d+: (.*)")


def is_left_out(cell):
    return LEFT_OUT in cell.metadata.get("tags", [])


def format_notebook(path, is_check=False):
    """Format the code cells of one notebook, and return the ids of those that were not formatted.

    Raises ValueError in a sentence for a cell that ruff cannot parse, and for one that is left out
    without a reason.
    """
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if is_left_out(cell) and not cell.metadata.get("reason"):
            raise ValueError(f'{path.name}: the cell {cell.id} needs a "reason" in its metadata.')
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and not is_left_out(cell)]
    done = subprocess.run(
        [RUFF, "format", "--line-length", str(CELL_COLUMNS), "--stdin-filename", path, "-"],
        input=nbformat.writes(nbformat.v4.new_notebook(cells=cells)),
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    if unparsed := UNPARSED.search(done.stderr):
        place, problem = unparsed.groups()
        raise ValueError(
            f"{path.name}: ruff cannot format the cell {cells[int(place) - 1].id}: {problem}. If "
            f'that is on purpose, give it the tag "{LEFT_OUT}", and a "reason" in its metadata.'
        )
    done.check_returncode()
    changed = []
    for cell, formatted in zip(cells, nbformat.reads(done.stdout, as_version=4).cells):
        if cell.source != formatted.source:
            cell.source = formatted.source
            changed.append(cell.id)
    if changed and not is_check:
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    return changed


def main(is_check):
    """Format everything, and return an exit status."""
    check = ["--check"] if is_check else []
    status = subprocess.run([RUFF, "format", "--quiet", *check, "."], cwd=ROOT).returncode
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        try:
            changed = format_notebook(path, is_check)
        except ValueError as error:
            print(error)
            status = 1
            continue
        if changed:
            verb = "would format" if is_check else "formatted"
            print(f"{path.relative_to(ROOT)}: {verb} {', '.join(changed)}")
            status = status or int(is_check)
    return status


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
