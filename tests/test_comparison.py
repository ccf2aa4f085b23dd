"""What the comparison of stored outputs accepts and what it rejects.

Runs small notebooks made here.
"""

import os
import re
import shutil
import subprocess
import sys
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
        # one unit in the last place, or more
        ("cosine 0.123", "cosine 0.124", True),
        ("cosine 0.123", "cosine 0.125", False),
        # the sign of a zero
        ("cosine -0.000", "cosine 0.000", True),
        ("[ 0.10 -0.00]", "[ 0.10  0.00]", True),
        # whole numbers and words
        ("0.9 of 10", "1.0 of 10", True),
        ("0.9 of 10", "1.0 of 11", False),
        ("12 tokens", "13 tokens", False),
        ("a 0.5", "b 0.5", False),
        # the number of decimals in one number, and in the text
        ("0.50", "0.5", False),
        ("1.0 2.0", "1.0", False),
        # versions and addresses are not decimals; a decimal at the end of a sentence is one
        ("version 2.13.0", "version 2.13.1", False),
        ("version 2.13.0", "version 2.14.0", False),
        ("127.0.0.1", "127.1.0.1", False),
        ("it is 0.5.", "it is 0.4.", True),
        # several decimals; more or fewer digits before the point
        ("1.00 0.5", "1.01 0.6", True),
        ("row a: 1.000 0.439", "row a: 0.999 0.440", True),
        ("99.99", "100.00", True),
        # an exponent
        ("1.5e-07", "1.5e-03", False),
    ],
)
def test_decimals_are_tolerant_words_and_integers_are_not(text, other, equal):
    assert comparison.nearly_equal(text, other) is equal
    assert (comparison.Tolerant(text) == other) is equal
    assert (comparison.Tolerant(text) != other) is not equal


def cell(source, printed, count, *tags):
    """A cell whose stored output is `printed`, with its stored execution count."""
    outputs = [new_output("stream", name="stdout", text=printed)] if printed else []
    return new_code_cell(
        source, outputs=outputs, execution_count=count, metadata={"tags": list(tags)}
    )


EQUAL = [
    cell("print(1)", "1\n", 1),
    cell("41 + 1;", "", 2),
    cell("print(0.5001)", "0.5000\n", 3),
    cell("print('any')", "other\n", 4, "nbval-ignore-output"),
]
DIFFERENT = {  # notebook: (cells, words of the failure)
    "a changed number": ([cell("print(0.52)", "0.50\n", 1)], "0.52"),
    "cleared": ([cell("print(1)", "", None)], "its place is 1"),
    "out of order": ([cell("a = 1", "", 2), cell("b = 1", "", 1)], "make notebooks"),
    "a dead kernel": ([cell("import os; os._exit(1)", "", 1), cell("print(1)", "1\n", 2)], "died"),
}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """What pytest prints about a notebook of EQUAL cells and all that are DIFFERENT."""
    folder = tmp_path_factory.mktemp("compared")
    shutil.copy(CONFTEST, folder / "conftest.py")
    for name, (cells, _) in {"equal": (EQUAL, ""), **DIFFERENT}.items():
        kernelspec = {"name": "python3", "display_name": "", "language": "python"}
        nbformat.write(
            new_notebook(cells=cells, metadata={"kernelspec": kernelspec}), folder / f"{name}.ipynb"
        )
    # -c: without the settings of the project; -rA: a line for each cell, also for those that pass
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-rA", "--rootdir", folder, "-c", "/dev/null"),
            *("-p", "course_utils._support.fast_nbformat", "-p", "no:cacheprovider"),
            *("--nbval", "--nbval-current-env", "--nbval-cell-timeout=300"),
            folder,
        ],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 1  # some cells fail; another status is an error of pytest's own
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)  # without colours


def test_equal_outputs_pass(compared):
    assert len(re.findall(r"^PASSED \S*equal\.ipynb", compared, re.M)) == len(EQUAL)


def test_the_summary_counts_the_cells_that_pass_a_comparison_and_all_cells(compared):
    # of the EQUAL cells one has nbval-ignore-output; the DIFFERENT notebooks have six cells
    assert f"{len(EQUAL) - 1} of {len(EQUAL) + 6} code cells compared" in compared


def test_a_dead_kernel_is_noticed_before_the_time_of_its_cell_is_over(compared):
    seconds = float(re.search(r"\d passed in ([\d.]+)s", compared)[1])
    assert seconds < 250, "of all notebooks together; --nbval-cell-timeout is 300"


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_fails_and_says_why(name, compared):
    assert re.search(rf"^FAILED \S*{name}\.ipynb", compared, re.M), compared
    failures = compared.partition("= FAILURES =")[2].partition("= PASSES =")[0]
    # what stands below each heading of a cell of this notebook, up to the next heading or the end
    heading = r"^_+ {}\.ipynb::Cell \d+ _+$"
    next_heading = heading.format(r"[^\n]+")
    messages = re.findall(
        rf"{heading.format(name)}(.*?)(?={next_heading}|\Z)", failures, re.MULTILINE | re.DOTALL
    )
    assert any(DIFFERENT[name][1] in message for message in messages), failures


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
    passed, output = compare([CONFTEST.with_name("00_start_here.ipynb")], "SSE, 4 threads")
    assert passed, output
    # all cells were compared, and there is at least one
    assert re.search(r"\b([1-9]\d*) of \1 code cells compared", output), output
