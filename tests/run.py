"""Everything that CI runs, with the network blocked: `python -m tests.run [PYTEST FLAGS]`."""

import os
import sys

# Two workers run side by side. With more threads than processors they wait for each other, minutes instead of seconds.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from .offline import block_network


def main(flags):
    reason = block_network()
    print(f"Network: {'not blocked, ' + reason if reason else 'blocked, loopback only'}", flush=True)
    os.environ["COURSE_NETWORK_BLOCKED"] = "" if reason else "1"
    return pytest.main(["-n", "2", "--dist", "loadscope", "tests", "notebooks", *flags])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
