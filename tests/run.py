"""Run the tests with the network blocked: `python -m tests.run [--nightly] [PYTEST FLAGS]`.

Without --nightly, all tests but those marked `nightly`; with it, only these. Hosted CI runs both, side by side.
"""

import os
import subprocess
import sys
from pathlib import Path

# Two workers run side by side. With more threads than processors, runs take minutes instead of seconds.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# as conftest.py does, so that kernels may be started from the warm process
os.environ.update(TQDM_DISABLE="1", HF_HUB_OFFLINE="1", COURSE_COLD_SANDBOX="1")

import pytest

from course_utils.tools.kernels.provisioner import start_warm

from .offline import block_network

BIN = Path(sys.executable).parent
FIRST = (["ruff", "check", "--quiet"], ["ruff", "format", "--check", "--quiet"], ["lint-imports", "--no-cache"])


def main(flags):
    for command in FIRST:  # these take seconds, so they run first
        done = subprocess.run([BIN / command[0], *command[1:]], capture_output=True, text=True)
        if done.returncode:
            print(done.stdout, done.stderr)
            print(f"{' '.join(command)} failed. `ruff check --fix` and `ruff format` fix most.")
            return done.returncode
    reason = block_network()
    print(f"Network: {'not blocked, ' + reason if reason else 'blocked, loopback only'}", flush=True)
    os.environ["COURSE_NETWORK_BLOCKED"] = "" if reason else "1"
    if not reason:
        os.environ["NPM_CONFIG_FETCH_RETRIES"] = "0"  # else npm asks its registry again for more than a minute
    start_warm()  # the lessons' kernels are forked from it, as in JupyterLab; tests/matrix.py starts them cold
    nightly = "--nightly" in flags
    os.environ["COURSE_NIGHTLY"] = "1" if nightly else ""
    # The lessons come first because they are few and long. Long tests at the end would leave the other worker idle.
    order = ["--dist", "loadscope", "--no-loadscope-reorder", *(() if nightly else ["notebooks"]), "tests"]
    chosen = ["-m", "nightly" if nightly else "not nightly"]
    return pytest.main(["-n", "2", *order, *chosen, "--durations=10", *(flag for flag in flags if flag != "--nightly")])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
