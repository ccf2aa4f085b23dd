"""A quick selection of `make matrix`: the lesson with most decimals, as an old processor and with four threads would
see it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .matrix import SETTINGS, code_cells, compare

LESSON = Path(__file__).resolve().parents[1] / "notebooks" / "04_pooling.ipynb"


@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_takes_effect(setting):
    code = "import torch; print(torch.backends.cpu.get_cpu_capability(), torch.get_num_threads())"
    shown = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **SETTINGS[setting]}, capture_output=True, text=True
    )
    capability, threads = shown.stdout.split()
    assert threads == SETTINGS[setting]["OMP_NUM_THREADS"]
    asked = SETTINGS[setting].get("ATEN_CPU_CAPABILITY")
    assert asked is None or capability.lower() == asked


@pytest.mark.parametrize("setting", ["SSE, 1 thread", "AVX2, 2 threads", "as it is, 4 threads"])
def test_stored_outputs_survive_another_processor(setting):
    passed, output = compare([LESSON], setting)
    assert passed, output
    assert f"{code_cells(LESSON)} of {code_cells(LESSON)} code cells compared" in output
