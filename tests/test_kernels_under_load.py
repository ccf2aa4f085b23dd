"""Kernels of the warm process beside four busy processes: no second kernel, no lost stop, nothing left."""

import contextlib
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from .test_kernels import (
    MANY_SECONDS,
    Kernel,
    children_of,
    warm,  # noqa: F401 (a fixture)
)

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(sys.platform != "linux", reason="warm kernels need Linux"),
]

STARTS = 300
AT_A_TIME = 4
# of these rounds of starts, the warm process answers later than a client waits (PATIENCE), so that
# ordinary kernels start in place of those that it is asked for
SLOW_ROUNDS = (5, 40)
SLOW_START_SECONDS = 40
INTERRUPTS = 1000
# cells that are interrupted: one that waits and one that computes
CELLS = (
    "import time; print('begun', flush=True); time.sleep(3600)",
    "print('begun', flush=True)\nwhile True: pass",
)


@pytest.fixture(scope="module", autouse=True)
def busy_neighbours():
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(neighbour.wait)
            stack.callback(neighbour.kill)  # is called first
        yield


def ordinary_kernels():
    return {
        child.pid
        for child in psutil.Process().children()
        if "ipykernel_launcher" in child.cmdline()
    }


def become(expected, processes):
    """Whether `processes()` is this set within a time; those that were not taken end by themselves."""
    end = time.monotonic() + MANY_SECONDS
    while processes() != expected:
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@contextlib.contextmanager
def stopped(process, seconds):
    """The process answers nobody for some seconds."""
    process.send_signal(signal.SIGSTOP)
    goes_on = threading.Timer(seconds, process.send_signal, [signal.SIGCONT])
    goes_on.start()
    yield
    goes_on.join()


def test_each_start_is_one_kernel_and_the_one_that_answers(warm):  # noqa: F811
    before = children_of(warm)

    def kernels_of_this_test():
        return (children_of(warm) - before) | ordinary_kernels()

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for number in range(STARTS // AT_A_TIME):
            seconds = SLOW_START_SECONDS if number in SLOW_ROUNDS else 0
            with stopped(warm, seconds) if seconds else contextlib.nullcontext():
                kernels = list(pool.map(lambda _: Kernel(), range(AT_A_TIME)))
            controlled = [kernel.process.pid for kernel in kernels]
            answers = [int(kernel.says("import os; print(os.getpid())")) for kernel in kernels]
            assert answers == controlled, number
            assert become(set(controlled), kernels_of_this_test), number
            assert bool(ordinary_kernels()) == bool(seconds), number
            for kernel in kernels:
                kernel.end()
    assert become(set(), kernels_of_this_test), "no process is left"


def stop_often(number):
    """Interrupt the cells of a new kernel, in turn, INTERRUPTS // AT_A_TIME times."""
    kernel = Kernel()
    try:
        for stop in range(INTERRUPTS // AT_A_TIME):
            reply = kernel.interrupted(CELLS[stop % len(CELLS)])
            assert reply["ename"] == "KeyboardInterrupt", (number, stop)
        assert kernel.says("print('alive')") == "alive"
    finally:
        kernel.end()


def test_each_stop_is_answered_and_the_kernel_goes_on(warm):  # noqa: F811
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        list(pool.map(stop_often, range(AT_A_TIME)))
