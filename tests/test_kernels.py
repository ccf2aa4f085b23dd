"""Kernels forked from a warm process behave like ordinary ones, which are used when there is no warm process."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory

from course_utils.tools import doctor
from course_utils.tools.kernels import provisioner
from course_utils.tools.kernels.provisioner import COLD, SOCKET, fork_kernel, listens, start_warm, why_not

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="warm kernels need Linux")


@pytest.fixture(scope="module")
def warm():
    """A warm process for this module, with two threads for its kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(SOCKET, raising=False)
        patch.delenv(COLD, raising=False)
        patch.setenv("JUPYTER_DEFAULT_PROVISIONER_NAME", "")
        patch.setenv("OMP_NUM_THREADS", "2")
        process = start_warm()
        KernelProvisionerFactory.clear_instance()  # another test may have used it before its default was set
        assert process is not None and os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] == provisioner.NAME
        yield process
        process.kill()
        process.wait()
    KernelProvisionerFactory.clear_instance()


class Kernel:
    """A kernel as Jupyter starts it, and the output of its cells."""

    def __init__(self, **settings):
        self.manager = KernelManager(kernel_name="python3")
        self.manager.provisioner_factory = None
        self.manager.start_kernel(stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **settings)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    @property
    def process(self):
        return self.manager.provisioner.process

    def run(self, code, timeout=60):
        seen = []
        self.client.execute_interactive(code, timeout=timeout, output_hook=seen.append)
        said = (message["content"].get("text", "") or message["content"].get("ename", "") for message in seen)
        return "".join(said), seen

    def says(self, code):
        return self.run(code)[0].strip()


@pytest.fixture
def kernels():
    with contextlib.ExitStack() as stack:

        def start(**settings):
            kernel = Kernel(**settings)
            stack.callback(kernel.manager.shutdown_kernel, now=True)
            stack.callback(kernel.client.stop_channels)
            return kernel

        yield start


def gone(pid, seconds=10):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_a_kernel_is_a_child_of_the_warm_process_with_everything_loaded(warm, kernels, tmp_path):
    kernel = kernels(cwd=str(tmp_path))
    assert isinstance(kernel.process, provisioner.Forked)
    assert kernel.says("import os; print(os.getppid(), os.getcwd())") == f"{warm.pid} {tmp_path}"
    assert kernel.says("import sys; print('transformers' in sys.modules, 'torch' in dir())") == "True False"
    warm_embed = "from course_utils import embed, setup; setup(); print(embed(['Is it warm?']).shape)"
    assert kernel.says(warm_embed) == "(1, 384)"
    about = "print(__name__, __doc__ is None or 'automatically' in __doc__.lower(), '' in sys.path)"
    assert kernel.says(about) == "__main__ True True"


def test_it_computes_with_as_many_threads_as_an_ordinary_one(warm, kernels):
    kernel = kernels()
    assert kernel.says("import torch; print(torch.get_num_threads())") == "2"
    assert kernel.says("a = torch.ones(800, 800); print(int((a @ a).sum()), float(a.sum()))") == "512000000 640000.0"
    assert kernel.says("import numpy as np; b = np.ones((800, 800)); print(int((b @ b).sum()))") == "512000000"


def test_several_kernels_share_nothing_that_they_change(warm, kernels):
    one, other = kernels(), kernels()
    one.run("import numpy, course_utils; x = 1; course_utils.mine = 5; numpy.set_printoptions(precision=2)")
    looks = "print('x' in dir(), hasattr(course_utils, 'mine'), numpy.get_printoptions()['precision'])"
    assert other.says(f"import numpy, course_utils; {looks}") == "False False 8"
    draw = "import random, numpy, torch; print(random.random(), numpy.random.rand(), torch.rand(1).item())"
    assert not set(one.says(draw).split()) & set(other.says(draw).split())  # no two draws are equal


def test_restart_interrupt_and_shutdown(warm, kernels):
    kernel = kernels()
    before = kernel.process.pid
    kernel.run("x = 1")
    kernel.manager.restart_kernel(now=False)
    kernel.client.wait_for_ready(timeout=60)
    assert kernel.process.pid != before and gone(before)
    assert kernel.says("print('x' in dir())") == "False"
    begin = "import time; print('begun', flush=True); time.sleep(60)"
    # Otherwise an error would abort requests that arrive shortly after it, such as the next one.
    message = kernel.client.execute(begin, stop_on_error=False)
    while kernel.client.get_iopub_msg(timeout=30)["content"].get("text", "").strip() != "begun":
        pass
    kernel.manager.interrupt_kernel()
    reply = kernel.client.get_shell_msg(timeout=30)
    assert reply["parent_header"]["msg_id"] == message and reply["content"]["ename"] == "KeyboardInterrupt"
    assert kernel.says("print('alive')") == "alive"
    process = kernel.process
    kernel.manager.shutdown_kernel(now=False)
    assert process.wait(10) == 0 and gone(process.pid)


def test_how_a_kernel_ended_is_known(warm, kernels):
    kernel = kernels()
    process = kernel.process
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.2)
    kernel.client.execute("import os; os._exit(7)")
    assert process.wait(10) == 7
    process.send_signal(signal.SIGTERM)  # the process has already ended; this must not raise
    other = kernels()
    process = other.process
    process.kill()
    assert process.wait(10) == -signal.SIGKILL == process.poll()


def test_pictures_appear_and_warnings_too(warm, kernels):
    kernel = kernels()
    _, seen = kernel.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert any("image/png" in message["content"].get("data", {}) for message in seen)
    assert "UserWarning: mind this" in kernel.says("import warnings; warnings.warn('mind this')")


def test_a_kernel_costs_little_memory_of_its_own(warm, kernels):
    kernel = kernels()
    kernel.run("from course_utils import embed, setup; setup(); embed(['One sentence.'])")
    with open(f"/proc/{kernel.process.pid}/smaps_rollup") as lines:
        private = sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Dirty", "Private_Clean")))
    assert private / 1024 < 150  # an ordinary kernel needs about 500


def test_another_environment_gets_an_ordinary_kernel(warm, kernels):
    kernel = kernels(env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert isinstance(kernel.process, subprocess.Popen)
    assert kernel.says("import torch; print(torch.get_num_threads())") == "1"


def test_what_is_no_request_does_no_harm(warm, kernels):
    for garbage in (b"", b"{", b"[]\n", b'{"arguments": 1}\n', b"\xff" * 100):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.environ[SOCKET])
            connection.sendall(garbage)
    assert isinstance(kernels().process, provisioner.Forked)


def test_other_programs_pipes_and_a_switch_lead_to_the_ordinary_start(warm, monkeypatch):
    assert fork_kernel(["/usr/bin/true", "-m", "ipykernel_launcher", "-f", "x"]) is None
    assert fork_kernel([sys.executable, "-c", "1"]) is None
    assert fork_kernel([sys.executable, "-m", "other", "-f", "x"]) is None
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "x.json"]
    assert fork_kernel(command, stdout=subprocess.PIPE) is None
    assert fork_kernel(command, preexec_fn=print) is None
    monkeypatch.setenv(COLD, "1")
    assert fork_kernel(command) is None and COLD in why_not() and start_warm() is None


def test_only_the_owner_can_ask_and_it_is_not_started_twice(warm):
    assert os.stat(os.path.dirname(os.environ[SOCKET])).st_mode & 0o077 == 0
    assert listens() and start_warm() is None


def test_the_doctor_says_how_kernels_start(warm, monkeypatch):
    assert "instant: kernels start from" in str(doctor.kernel_start())
    monkeypatch.setenv(COLD, "1")
    assert f"normal, a few seconds ({COLD} is set)" in str(doctor.kernel_start())
    monkeypatch.delenv(COLD)
    monkeypatch.setenv(SOCKET, "/nowhere")
    assert "has ended" in str(doctor.kernel_start())
    monkeypatch.delenv(SOCKET)
    assert "instant in `course lab`" in str(doctor.kernel_start())
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "it needs Linux" in str(doctor.kernel_start())


STARTS_ONE = """
import sys, time
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory
manager = KernelManager(kernel_name="python3")
manager.start_kernel()
print(manager.provisioner.process.pid, flush=True)
time.sleep(100)
"""


def test_a_kernel_ends_with_who_asked_for_it(warm):
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", STARTS_ONE], **piped) as asker:
        pid = int(asker.stdout.readline())
        assert not gone(pid, 1)
        asker.kill()
    assert gone(pid)


STARTS_WARM = """
import os, sys, time
from course_utils.tools.kernels.provisioner import SOCKET, start_warm
print(start_warm().pid, os.environ[SOCKET], flush=True)
os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(100)"])  # as `course lab` does
"""


def test_the_warm_process_ends_with_who_started_it_and_clears_up(warm):
    bare = {name: value for name, value in os.environ.items() if name != SOCKET}
    with subprocess.Popen([sys.executable, "-c", STARTS_WARM], stdout=subprocess.PIPE, env=bare) as starter:
        pid, place = starter.stdout.readline().split()
        assert os.path.exists(place)
        starter.kill()
    assert gone(int(pid), 30)  # it checks for its starter once its imports are done
    assert not os.path.exists(os.path.dirname(place))


def test_where_nothing_can_be_started_nothing_is(monkeypatch, tmp_path):
    monkeypatch.delenv(SOCKET, raising=False)
    monkeypatch.delenv(COLD, raising=False)
    monkeypatch.setattr(provisioner.tempfile, "tempdir", str(tmp_path / ("long" * 40)))
    assert start_warm() is None and SOCKET not in os.environ  # the folder does not exist
    (tmp_path / ("long" * 40)).mkdir()
    assert start_warm() is None and os.listdir(tmp_path / ("long" * 40)) == []  # the path is too long for a socket


def test_a_dead_warm_process_leaves_its_kernels_alone_and_others_start_as_ever(warm, kernels):
    """Must be the last test of this file, since it kills the process that the others use."""
    kernel = kernels()
    kernel.run("x = 41")
    warm.kill()
    warm.wait()
    assert kernel.says("print(x + 1)") == "42" and kernel.process.poll() is None
    other = kernels()
    assert isinstance(other.process, subprocess.Popen) and other.says("print(1 + 1)") == "2"
    process = kernel.process
    kernel.manager.shutdown_kernel(now=False)
    assert process.wait(10) == 1  # the process that knew its exit status has ended
