"""Everything that CI runs, with the network blocked: `python -m tests.run [PYTEST FLAGS]`."""

import os
import sys

# Two workers run side by side. With more threads than processors they wait for each other, minutes instead of seconds.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.update(TQDM_DISABLE="1", HF_HUB_OFFLINE="1")  # as conftest.py does, so that kernels may come from the warm process

import pytest

from course_utils.tools.kernels.provisioner import start_warm

from .offline import block_network


def main(flags):
    reason = block_network()
    print(f"Network: {'not blocked, ' + reason if reason else 'blocked, loopback only'}", flush=True)
    os.environ["COURSE_NETWORK_BLOCKED"] = "" if reason else "1"
    start_warm()  # conftest.py of the lessons sees to it that CI runs them cold
    return pytest.main(["-n", "2", "--dist", "loadscope", "tests", "notebooks", "--durations=10", *flags])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
