"""`make matrix` compares what it claims to: its settings take effect, and one lesson runs as on an old processor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .matrix import SETTINGS, code_cells, compare

pytestmark = pytest.mark.nightly  # as the matrix is
LESSON = Path(__file__).resolve().parents[1] / "notebooks" / "00_start_here.ipynb"


@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_takes_effect(setting):
    code = "import torch; print(torch.backends.cpu.get_cpu_capability(), torch.get_num_threads())"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **SETTINGS[setting]},
        capture_output=True,
        text=True,
    )
    capability, threads = shown.stdout.split()
    assert threads == SETTINGS[setting]["OMP_NUM_THREADS"]
    assert capability.lower() == SETTINGS[setting]["ATEN_CPU_CAPABILITY"]


def test_stored_outputs_survive_another_processor():
    passed, output = compare([LESSON], "SSE, 4 threads")
    assert passed, output
    assert f"{code_cells(LESSON)} of {code_cells(LESSON)} code cells compared" in output
