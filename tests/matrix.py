"""Run the lessons under other instruction sets and numbers of threads, and compare their outputs.

`python -m tests.matrix [PATTERN ...]`, where a pattern is a part of the names of lessons.

Older processors are imitated: torch's two arithmetic back ends can be told not to use some of this
one's instructions. `make shake` tests differences in the last place only, which are smaller.
The kernels start cold. A forked one has its modules loaded already, so it would not notice a
missing import.
"""

import os
import subprocess
import sys

from tqdm import tqdm

from .execute import lessons
from .project import ROOT

# environment variables, by the name of the setting
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
    """Run some lessons under one setting, and compare their outputs with those that are stored.

    Returns (whether all are the same, what pytest printed).
    """
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval"]
    done = subprocess.run(
        [*pytest, *map(str, notebooks)],
        cwd=ROOT,
        env={**os.environ, **SETTINGS[setting], "COURSE_COLD_KERNELS": "1"},
        capture_output=True,
        text=True,
    )
    return done.returncode == 0, done.stderr + done.stdout


def main(patterns):
    """Compare all settings and print how each went. Returns an exit status."""
    chosen = lessons(patterns)
    failed = 0
    for setting in tqdm(SETTINGS, unit="setting"):
        passed, output = compare(chosen, setting)
        failed += not passed
        # pytest's own, or the last line of what was written before something ended it
        summary = output.strip().rpartition("\n")[2]
        # tqdm's `write` does not break into the bar
        tqdm.write(f"{'ok  ' if passed else 'FAIL'}  {setting}: {summary}")
        if not passed:
            tqdm.write(output)
    print(f"{len(SETTINGS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
