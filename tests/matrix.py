"""Run the lessons under other instruction sets and numbers of threads: `python -m tests.matrix [PATTERN ...]`.

Older processors are imitated: torch's two arithmetic back ends can be told not to use some of this one's instructions.
What differs in the last place only is what `make shake` proves.
The kernels start cold. A forked one has its modules loaded already, so it would not notice a missing import.
"""

import os
import subprocess
import sys

from tqdm import tqdm

from .execute import lessons
from .project import ROOT

SETTINGS = {
    "AVX2, 2 threads": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OMP_NUM_THREADS": "2",
    },
    "SSE, 4 threads": {  # possibly more threads than cores
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "OMP_NUM_THREADS": "4",
        "MKL_DYNAMIC": "FALSE",
    },
}


def compare(notebooks, setting):
    """Compare the stored outputs of some lessons under one setting. Returns (passed, last lines of the output)."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--nbval",
        *map(str, notebooks),
    ]
    environment = {**os.environ, **SETTINGS[setting], "COURSE_COLD_KERNELS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return done.returncode == 0, done.stdout


def main(patterns):
    chosen, failed = lessons(patterns), 0
    for setting in (bar := tqdm(SETTINGS, unit="setting")):
        passed, output = compare(chosen, setting)
        failed += not passed
        bar.write(f"{'ok  ' if passed else 'FAIL'}  {setting}: {output.strip().splitlines()[-1]}")
        if not passed:
            bar.write(output)
    print(f"{len(SETTINGS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
