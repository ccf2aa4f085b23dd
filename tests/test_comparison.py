"""What the comparison of stored outputs accepts and what it rejects. Runs small notebooks made here."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from notebooks import conftest as comparison

from .matrix import SETTINGS, compare

CONFTEST = Path(comparison.__file__)


@pytest.mark.parametrize(
    "text, other, equal",
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
def test_decimals_are_tolerant_words_and_integers_are_not(text, other, equal):
    assert comparison.nearly_equal(text, other) is equal
    assert (comparison.Tolerant(text) == other) is equal
    assert (comparison.Tolerant(text) != other) is not equal


EQUAL = [
    ("print(1)", "1\n", 1),
    ("41 + 1;", "", 2),
    ("print(0.5001)", "0.5000\n", 3),
    ("print('any')", "other\n", 4, "nbval-ignore-output"),
]
WRONG = {
    "a changed number": ([("print(0.52)", "0.50\n", 1)], "0.52"),
    "cleared": ([("print(1)", "", None)], "its place is 1"),
    "out of order": ([("a = 1", "", 2), ("b = 1", "", 1)], "make notebooks"),
    "a dead kernel": ([("import os; os._exit(1)", "", 1), ("print(1)", "1\n", 2)], "died"),
}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """What the runner prints about notebooks whose cells are (source, stored stdout, count[, tags])."""
    folder = tmp_path_factory.mktemp("compared")
    shutil.copy(CONFTEST, folder / "conftest.py")
    for name, (cells, _) in {"equal": (EQUAL, ""), **WRONG}.items():
        notebook = new_notebook(
            metadata={"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
        )
        for source, stored, count, *tags in cells:
            outputs = [new_output("stream", name="stdout", text=stored)] if stored else []
            cell = new_code_cell(
                source, outputs=outputs, execution_count=count, metadata={"tags": tags}
            )
            notebook.cells.append(cell)
        nbformat.write(notebook, folder / f"{name}.ipynb")
    plugins = ["-p", "course_utils._support.fast_nbformat", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-rA", "--nbval", "--nbval-current-env", *plugins]
    options = ["--nbval-cell-timeout=300", "--rootdir", folder, "-c", "/dev/null"]
    start = time.monotonic()
    done = subprocess.run([*command, *options, folder], capture_output=True, text=True, cwd=folder)
    assert time.monotonic() - start < 60, "a dead kernel is noticed before its cell's time"
    assert done.returncode == 1  # some cells fail
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def test_equal_outputs_pass_and_are_counted(compared):
    assert len(re.findall(r"^PASSED \S*equal\.ipynb", compared, re.M)) == len(EQUAL)
    assert "3 of 10 code cells compared" in compared


@pytest.mark.parametrize("name", WRONG)
def test_what_differs_fails_and_says_why(name, compared):
    assert re.search(rf"^FAILED \S*{name}\.ipynb", compared, re.M), compared
    failures = compared.partition("= FAILURES =")[2].partition("= PASSES =")[0]
    _, *parts = re.split(r"^_+ (.+)\.ipynb::Cell \d+ _+$", failures, flags=re.M)
    failed_cells = zip(parts[::2], parts[1::2], strict=True)  # (notebook, what is said of a cell)
    assert any(WRONG[name][1] in text for notebook, text in failed_cells if notebook == name), (
        failures
    )


# ---------------------------------------------------------------- `make matrix`


@pytest.mark.nightly  # as the matrix is
@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_takes_effect(setting):
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            "import torch; print(torch.backends.cpu.get_cpu_capability(), torch.get_num_threads())",
        ],
        env={**os.environ, **SETTINGS[setting]},
        capture_output=True,
        text=True,
    )
    capability, threads = shown.stdout.split()
    assert (threads, capability.lower()) == (
        SETTINGS[setting]["OMP_NUM_THREADS"],
        SETTINGS[setting]["ATEN_CPU_CAPABILITY"],
    )


@pytest.mark.nightly
def test_stored_outputs_survive_another_processor():
    lesson = CONFTEST.with_name("00_start_here.ipynb")
    passed, output = compare([lesson], "SSE, 4 threads")
    assert passed, output
    assert re.search(r"\b([1-9]\d*) of \1 code cells compared", output), output
