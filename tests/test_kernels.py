"""Kernels forked from a warm process behave like ordinary ones, which are used when there is no warm process."""

import contextlib
import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from queue import Empty

import psutil
import pytest
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory

from course_utils._support.hub_cache import PUBLIC_NAME, SHORT_NAME
from course_utils.tools.kernels import provisioner
from course_utils.tools.kernels.provisioner import (
    COLD,
    NAME,
    SOCKET,
    Forked,
    fork_kernel,
    listens,
    start_warm,
)

from .commands import gone

MANY_SECONDS = 300  # far more than anything here takes, also beside four busy processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="warm kernels need Linux")


@pytest.fixture(scope="module")
def warm():
    """A warm process for this module, with two threads for its kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SOCKET, "")  # set, so that what `start_warm` writes is undone, as below
        patch.delenv(COLD, raising=False)
        patch.setenv("JUPYTER_DEFAULT_PROVISIONER_NAME", "")
        patch.setenv("OMP_NUM_THREADS", "2")
        process = start_warm()
        # another test may have used it before its default was set
        KernelProvisionerFactory.clear_instance()
        assert os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] == NAME
        with pytest.MonkeyPatch.context() as first:
            # the first kernel waits until all is imported, on a busy machine for minutes
            first.setattr(provisioner, "PATIENCE", MANY_SECONDS)
            Kernel().end()
        yield process
        process.kill()
        process.wait()
    KernelProvisionerFactory.clear_instance()


class Kernel:
    """A kernel as Jupyter starts it, and its output. settings: those of its process."""

    def __init__(self, **settings):
        self.manager = KernelManager(kernel_name="python3")
        self.manager.provisioner_factory = None
        self.manager.start_kernel(stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **settings)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=MANY_SECONDS)

    @property
    def process(self):
        # Forked, or for an ordinary kernel a Popen
        return self.manager.provisioner.process

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, code):
        # the messages that the cell publishes, in Jupyter's form
        messages = []
        self.client.execute_interactive(code, timeout=MANY_SECONDS, output_hook=messages.append)
        return messages

    def reply_to(self, request, seconds):
        # the reply to this request: others, such as those to `wait_for_ready`, may still arrive
        end = time.monotonic() + seconds
        while True:
            reply = self.client.get_shell_msg(timeout=max(0, end - time.monotonic()))
            if reply["parent_header"]["msg_id"] == request:
                return reply["content"]

    def interrupted(self, code, begun="begun"):
        """The reply to code that prints `begun` and then runs on, when it is interrupted.

        Like a person, it interrupts again where nothing happens: Python may look for signals right
        before a system call that then waits, and so miss the first.
        """
        # stop_on_error: else the error aborts requests that arrive soon after, as the next one does
        request = self.client.execute(code, stop_on_error=False)
        printed = ""
        while begun not in printed:
            message = self.client.get_iopub_msg(timeout=MANY_SECONDS)
            if message["parent_header"].get("msg_id") == request:
                printed += message["content"].get("text", "")
        end = time.monotonic() + MANY_SECONDS
        while True:
            self.manager.interrupt_kernel()
            try:
                return self.reply_to(request, seconds=5)
            except Empty:
                if time.monotonic() > end:
                    raise

    def says(self, code):
        # what the cell prints, and the name of its error if it raises one
        contents = [message["content"] for message in self.run(code)]
        return "".join(
            content.get("text", "") or content.get("ename", "") for content in contents
        ).strip()


@pytest.fixture(scope="module")
def start_kernel(warm):
    # a function that starts a Kernel with these settings, which ends with the module's tests
    with contextlib.ExitStack() as stack:

        def start(**settings):
            kernel = Kernel(**settings)
            stack.callback(kernel.end)
            return kernel

        yield start


@pytest.fixture(scope="module")
def shared_kernel(start_kernel, tmp_path_factory):
    return start_kernel(cwd=str(tmp_path_factory.mktemp("shared")))


@pytest.fixture
def kernel(start_kernel):
    return start_kernel()


def test_a_kernel_is_a_child_of_the_warm_process_and_needs_little_memory(warm, shared_kernel):
    parent_and_folder = f"{warm.pid} {shared_kernel.manager.provisioner.cwd}"
    assert shared_kernel.says("import os; print(os.getppid(), os.getcwd())") == parent_and_folder
    unshared_bytes = psutil.Process(shared_kernel.process.pid).memory_full_info().uss
    assert unshared_bytes / 2**20 < 150, "MiB; an ordinary kernel needs about 500"


@pytest.mark.parametrize(
    "code, printed",
    [
        ("import sys; print('transformers' in sys.modules, 'torch' in dir())", "True False"),
        (
            "from course_utils import embed, setup; setup(); print(embed(['Is it warm?']).shape)",
            "(1, 384)",
        ),
        (
            # names of a new kernel: `__doc__` is IPython's or None, not the warm process's
            "print(__name__, __doc__ is None or 'automatically' in __doc__.lower(), '' in sys.path)",
            "__main__ True True",
        ),
        ("import torch; print(torch.get_num_threads())", "2"),  # OMP_NUM_THREADS of `warm`
        # products so large that threads share the work: a fork has none of its parent's threads.
        # 800 * 800 sums of 800 ones
        (
            "import torch; a = torch.ones(800, 800); print(int((a @ a).sum()), float(a.sum()))",
            "512000000 640000.0",
        ),
        ("import numpy as np; b = np.ones((800, 800)); print(int((b @ b).sum()))", "512000000"),
    ],
)
def test_a_warm_kernel_has_everything_loaded_and_computes_as_an_ordinary_one(
    shared_kernel, code, printed
):
    assert shared_kernel.says(code) == printed


def test_pictures_appear_and_warnings_too(shared_kernel):
    assert any(
        "image/png" in message["content"].get("data", {})
        for message in shared_kernel.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    )
    assert "UserWarning: mind this" in shared_kernel.says(
        "import warnings; warnings.warn('mind this')"
    )


IMPORTS = """
import socket
look_up, hosts = socket.getaddrinfo, []
def getaddrinfo(host, *arguments, **options):
    hosts.append(host)
    return look_up(host, *arguments, **options)
socket.getaddrinfo = getaddrinfo
from course_utils import setup
setup()
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer
"""
LOADS = f"""
model = AutoModel.from_pretrained("{PUBLIC_NAME}")
tokenizer = AutoTokenizer.from_pretrained("{PUBLIC_NAME}")
print(SentenceTransformer("{SHORT_NAME}").encode("one").shape)
"""


@pytest.mark.parametrize("start", ["warm", "cold"])
def test_the_lines_that_everybody_writes_run_without_a_variable_and_without_a_word(
    start, start_kernel, monkeypatch
):
    """Libraries read their variables on import; in a warm kernel they were imported before it was forked."""
    # else the test proves nothing
    assert not any(name.startswith(("HF_", "TRANSFORMERS_")) for name in os.environ)
    if start == "cold":
        monkeypatch.setenv(COLD, "1")
    kernel = start_kernel()
    assert isinstance(kernel.process, Forked) == (start == "warm")
    messages = kernel.run(IMPORTS + LOADS)
    assert kernel.says("print(hosts)") == "[]", "nothing waits for a network"
    streams = [message["content"] for message in messages if message["msg_type"] == "stream"]
    assert [(stream["name"], stream["text"]) for stream in streams] == [("stdout", "(384,)\n")]
    # a bar of the library is one of the course, which the tests switch off and no widget stays of
    assert (
        kernel.says("import tqdm.autonotebook; print(tqdm.autonotebook.trange(2).disable)")
        == "True"
    )


def test_what_one_kernel_changes_is_as_before_in_another(shared_kernel, start_kernel):
    shared_kernel.run(
        "import numpy, course_utils; x = 1; course_utils.mine = 5; numpy.set_printoptions(precision=2)"
    )
    changed = "'x' in dir(), hasattr(course_utils, 'mine'), numpy.get_printoptions()['precision']"
    assert start_kernel().says(f"import numpy, course_utils; print({changed})") == "False False 8"


def test_kernels_draw_different_random_numbers(shared_kernel, kernel):
    draw = "import random, numpy, torch; print(random.random(), numpy.random.rand(), torch.rand(1).item())"
    assert not set(shared_kernel.says(draw).split()) & set(kernel.says(draw).split())


def test_a_restarted_kernel_is_a_new_process_without_the_old_variables(kernel):
    old = kernel.process
    kernel.run("x = 1")
    kernel.manager.shutdown_wait_time = 60  # after half of it, Jupyter sends SIGTERM
    kernel.manager.restart_kernel(now=False)  # shuts the old one down
    kernel.client.wait_for_ready(timeout=MANY_SECONDS)
    assert kernel.process.pid != old.pid
    # `wait` of a forked kernel always returns 0: only the parent of a process learns its status
    assert (old.wait(), gone(old.pid)) == (0, True)
    assert kernel.says("print('x' in dir())") == "False"


def test_an_interrupted_cell_raises_and_the_kernel_goes_on(kernel):
    reply = kernel.interrupted("import time; print('begun', flush=True); time.sleep(3600)")
    assert reply["ename"] == "KeyboardInterrupt"
    assert kernel.says("print('alive')") == "alive"


def test_a_kernel_that_ended_can_be_waited_for_and_signalled(kernel):
    kernel.client.execute("import os; os._exit(7)")
    assert kernel.process.wait() == 0, "only the parent of a process learns its status"
    kernel.process.send_signal(signal.SIGTERM)  # the process has already ended; this must not raise


def launch_command(tmp_path):
    # how Jupyter starts a kernel, with a connection file that is not there
    return [sys.executable, "-m", "ipykernel_launcher", "-f", str(tmp_path / "x.json")]


@pytest.mark.parametrize(
    "garbage", [b"", b"{", b"[]\n", b'{"arguments": 1}\n', b'{"environment": []}\n', b"\xff" * 100]
)
def test_after_what_is_no_request_a_kernel_can_be_started_and_killed(garbage, warm, tmp_path):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ[SOCKET])
        connection.sendall(garbage)
    process = fork_kernel(
        launch_command(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    process.kill()
    assert process.wait() == process.poll() == 0


def children_of(process):
    return {child.pid for child in psutil.Process(process.pid).children()}


def test_a_client_that_waited_too_long_gets_no_kernel_later(warm, monkeypatch, tmp_path):
    """It has started an ordinary one, and a second one for the same file would take its place."""
    command = launch_command(tmp_path)
    before = children_of(warm)
    monkeypatch.setattr(provisioner, "PATIENCE", 0.2)
    warm.send_signal(signal.SIGSTOP)  # as slow as can be
    try:
        assert fork_kernel(command) is None
    finally:
        warm.send_signal(signal.SIGCONT)
    monkeypatch.undo()
    # requests are answered in turn: so the first has been answered, too
    other = fork_kernel(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    forked = children_of(warm) - before - {other.pid}
    assert all(gone(pid) for pid in forked)
    other.kill()
    other.wait()


@pytest.mark.parametrize("said", [b"", b"no"], ids=["nothing", "something else"])
def test_a_kernel_that_its_client_does_not_take_ends_before_it_runs_anything(
    said, warm, monkeypatch, tmp_path
):
    monkeypatch.setattr(provisioner, "GO", said)
    process = fork_kernel(
        launch_command(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert process.wait() == 0
    assert not (tmp_path / "x.json").exists(), "a kernel writes its connection file"


def test_a_kernel_is_waited_for_where_very_many_files_are_open(warm):
    most, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        with subprocess.Popen(["sleep", "3600"]) as sleeping:
            process = os.pidfd_open(sleeping.pid)
            # a number of a file that `select` does not take
            kernel = Forked(sleeping.pid, fcntl.fcntl(process, fcntl.F_DUPFD, 2000))
            os.close(process)
            assert kernel.poll() is None
            kernel.kill()
            assert kernel.wait() == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def test_what_the_warm_process_cannot_give_starts_in_the_ordinary_way(warm, tmp_path):
    command = launch_command(tmp_path)
    for refused, options in (
        (["/usr/bin/true", *command[1:]], {}),  # not this Python
        ([sys.executable, "-c", "1"], {}),  # no module
        ([sys.executable, "-m", "other", "-f", "x"], {}),  # no kernel
        (command, {"stdout": subprocess.PIPE}),
        (command, {"preexec_fn": print}),
        # read on import, so the warm process has its own
        (command, {"env": {**os.environ, "OMP_NUM_THREADS": "1"}}),
    ):
        assert fork_kernel(refused, **options) is None


def test_only_the_owner_can_ask_the_warm_process(warm):
    permissions = os.stat(os.path.dirname(os.environ[SOCKET])).st_mode
    assert permissions & 0o077 == 0, "the group or others have rights in the socket's folder"


def test_the_warm_process_is_not_started_twice(warm):
    assert (listens(), start_warm()) == (True, None)


STARTS_A_KERNEL = """
import time
from jupyter_client.manager import KernelManager
manager = KernelManager(kernel_name="python3")
manager.start_kernel()
print(manager.provisioner.process.pid, flush=True)
time.sleep(100)
"""


def test_a_kernel_ends_with_the_process_that_asked_for_it(warm):
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_A_KERNEL], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as asker:
        pid = int(asker.stdout.readline())
        assert not gone(pid, seconds=1)  # it does not end by itself
        asker.kill()
    assert gone(pid)


# what replaces this program keeps its process id, which the warm process watches
STARTS_WARM = """
import os, sys, time
from course_utils.tools.kernels.provisioner import SOCKET, start_warm
print(start_warm().pid, os.environ[SOCKET], flush=True)
os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(100)"])  # as `course lab` does
"""


def test_the_warm_process_ends_with_the_process_that_started_it_and_clears_up(warm):
    # else `start_warm` finds the warm process of these tests, and starts none
    without_socket = {name: value for name, value in os.environ.items() if name != SOCKET}
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_WARM], stdout=subprocess.PIPE, env=without_socket
    ) as starter:
        pid, socket_path = starter.stdout.readline().split()
        assert os.path.exists(socket_path)
        starter.kill()
    assert gone(
        int(pid), seconds=MANY_SECONDS
    )  # it checks for its starter once its imports are done
    assert not os.path.exists(os.path.dirname(socket_path))


def test_where_no_socket_can_be_made_no_warm_process_starts_and_nothing_is_left(
    monkeypatch, tmp_path
):
    monkeypatch.delenv(SOCKET, raising=False)
    monkeypatch.delenv(COLD, raising=False)
    too_long = tmp_path / ("long" * 40)  # the path of a socket has at most 108 bytes
    too_long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(too_long))
    assert (start_warm(), os.listdir(too_long)) == (None, [])
    assert SOCKET not in os.environ


def test_a_dead_warm_process_leaves_its_kernels_alone_and_others_start_as_ever(
    warm, kernel, start_kernel
):
    """Must be the last test of this file, since it kills the process that the others use."""
    kernel.run("x = 41")
    warm.kill()
    warm.wait()
    assert (kernel.says("print(x + 1)"), kernel.process.poll()) == ("42", None)
    # an ordinary kernel, which gets its variables as well
    other = start_kernel(env={**os.environ, "MINE": "2"})
    assert (type(other.process), other.says("import os; print(os.environ['MINE'])")) == (
        subprocess.Popen,
        "2",
    )
    process = kernel.process
    kernel.manager.shutdown_kernel(now=False)
    assert process.wait() == 0
