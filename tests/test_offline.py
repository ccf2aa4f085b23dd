"""The network is really blocked where this suite says so; the lessons run there."""

import os
import subprocess
import sys

import pytest

from .project import ROOT


def in_a_blocked_process(code):
    lines = (
        "from tests.offline import block_network\nreason = block_network()\nif reason: print(reason); raise "
        f"SystemExit(42)\n{code}"
    )
    done = subprocess.run([sys.executable, "-c", lines], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 42:
        pytest.skip(done.stdout.strip())
    return done


def test_only_loopback_is_left():
    done = in_a_blocked_process("""
import socket
from tests.offline import interfaces
assert interfaces() == ["lo"], interfaces()
with socket.socket() as server:
    server.bind(("127.0.0.1", 0)); server.listen()
    socket.create_connection(server.getsockname(), timeout=5).close()
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as error:
    print("refused:", error.strerror)
""")
    assert done.stdout.startswith("refused:"), done.stdout + done.stderr


@pytest.mark.skipif("COURSE_NETWORK_BLOCKED" not in os.environ, reason="only under `make test`")
def test_this_very_run_is_cut_off():
    from tests.offline import interfaces

    assert os.environ["COURSE_NETWORK_BLOCKED"] != "1" or interfaces() == ["lo"]
