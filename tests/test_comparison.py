"""What the comparison of stored outputs accepts and what it rejects. Runs small notebooks made here."""

import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

CONFTEST = Path(__file__).resolve().parents[1] / "notebooks" / "conftest.py"
_spec = importlib.util.spec_from_file_location("notebooks_conftest", CONFTEST)
comparison = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(comparison)


@pytest.mark.parametrize(
    "one, other, same",
    [
        ("cosine 0.123", "cosine 0.124", True),
        ("cosine 0.123", "cosine 0.125", False),
        ("cosine -0.000", "cosine 0.000", True),
        ("[ 0.10 -0.00]", "[ 0.10  0.00]", True),
        ("0.9 of 10", "1.0 of 10", True),
        ("0.9 of 10", "1.0 of 11", False),
        ("12 tokens", "13 tokens", False),
        ("a 0.5", "b 0.5", False),
        ("0.50", "0.5", False),
        ("1.0 2.0", "1.0", False),
        ("version 2.13.0", "version 2.13.1", False),
        ("version 2.13.0", "version 2.14.0", False),
        ("127.0.0.1", "127.1.0.1", False),
        ("it is 0.5.", "it is 0.4.", True),
        ("1.00 0.5", "1.01 0.6", True),
        ("row a: 1.000 0.439", "row a: 0.999 0.440", True),
        ("99.99", "100.00", True),
        ("1.5e-07", "1.5e-03", False),
    ],
)
def test_decimals_are_tolerant_words_and_integers_are_not(one, other, same):
    assert comparison.nearly_equal(one, other) is same
    assert (comparison.Tolerant(one) == other) is same
    assert (comparison.Tolerant(one) != other) is not same


def run(folder, *cells, timeout="30"):
    """Compare one notebook in a new folder. Each cell is (source, stored stdout, count[, tags])."""
    shutil.copy(CONFTEST, folder / "conftest.py")
    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "", "language": "python"}})
    for source, stored, count, *tags in cells:
        outputs = [new_output("stream", name="stdout", text=stored)] if stored else []
        notebook.cells.append(new_code_cell(source, outputs=outputs, execution_count=count, metadata={"tags": tags}))
    nbformat.write(notebook, folder / "probe.ipynb")
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--nbval",
            "--nbval-current-env",
            "-p",
            "no:cacheprovider",
            f"--nbval-cell-timeout={timeout}",
            "--rootdir",
            str(folder),
            "-c",
            "/dev/null",
            str(folder / "probe.ipynb"),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
    )


def test_equal_outputs_pass_and_are_counted(tmp_path):
    done = run(
        tmp_path,
        ("print(1)", "1\n", 1),
        ("41 + 1;", "", 2),
        ("print(0.5001)", "0.5000\n", 3),
        ("print('any')", "other\n", 4, "nbval-ignore-output"),
    )
    assert done.returncode == 0, done.stdout
    assert "3 of 4 code cells compared" in done.stdout


def test_a_changed_number_fails(tmp_path):
    done = run(tmp_path, ("print(0.52)", "0.50\n", 1))
    assert done.returncode == 1 and "0 of 1 code cells compared" in done.stdout


def test_a_cleared_notebook_fails(tmp_path):
    done = run(tmp_path, ("print(1)", "", None))
    assert done.returncode == 1 and "its place is 1" in done.stdout


def test_counts_out_of_order_fail(tmp_path):
    done = run(tmp_path, ("a = 1", "", 2), ("b = 1", "", 1))
    assert done.returncode == 1 and "make notebooks" in done.stdout


def test_a_dead_kernel_ends_quickly(tmp_path):
    start = time.monotonic()
    done = run(tmp_path, ("import os; os._exit(1)", "", 1), ("print(1)", "1\n", 2), timeout="300")
    assert done.returncode == 1 and "died" in done.stdout
    assert time.monotonic() - start < 60
