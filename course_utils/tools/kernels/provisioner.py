"""Start Jupyter kernels from the warm process: `WarmProvisioner`, and `start_warm` for the program that starts Jupyter.

If anything fails, the kernel starts in the ordinary way.
"""

import asyncio
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.metadata import entry_points
from pathlib import Path

from jupyter_client.provisioning import LocalProvisioner

from .server import LAUNCH, receive

NAME = "course-warm"  # the entry point in pyproject.toml
SOCKET = "COURSE_WARM_SOCKET"  # the socket on which the warm process listens
COLD = "COURSE_COLD_KERNELS"  # if set to anything, kernels start in the ordinary way
# seconds: a warm process that is still importing answers when it is done; on a slow machine an ordinary kernel takes as
# long
PATIENCE = 30


def why_not():
    """Why kernels cannot be started warm on this machine, in a few words, or None if they can."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return "it needs Linux"
    if os.environ.get(COLD):
        return f"{COLD} is set"
    if not entry_points(group="jupyter_client.kernel_provisioners", name=NAME):
        return "the course is not installed as a package"
    return None


def listens():
    """Whether the warm process named in this environment is listening."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(os.environ[SOCKET])
        return True
    except (OSError, KeyError):
        return False


def start_warm():
    """Start a warm process, and make the Jupyter kernels of this process and its children come from it.

    The warm process ends with this one (also after an exec). Returns it, or None if there already is one or it cannot
    be started. Changes os.environ: the socket's path and Jupyter's default provisioner.
    """
    if why_not() or listens():
        return None
    folder = None
    try:
        folder = tempfile.mkdtemp(prefix="course-")  # only this user can read it, and so connect
        path = str(Path(folder) / "kernels")
        environment = {**os.environ, SOCKET: path}
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(path)
            listening.listen(64)
            words = [sys.executable, "-Xfrozen_modules=off", "-m", f"{__package__}.server"]
            words += [str(listening.fileno()), str(os.getpid())]
            nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            process = subprocess.Popen(
                words, pass_fds=[listening.fileno()], start_new_session=True, env=environment, **nowhere
            )
    except OSError:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        return None
    os.environ[SOCKET] = path
    os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = NAME
    return process


class Forked:
    """A kernel forked by another process, with the interface of a subprocess.Popen."""

    stdin = stdout = stderr = returncode = None

    def __init__(self, connection, pid, process):
        self.connection, self.pid, self.process = connection, pid, process

    def poll(self):
        """None while it lives, else its exit status; 1 if the status is lost."""
        if self.returncode is None and select.select([self.process], [], [], 0)[0]:
            try:
                self.connection.settimeout(1)
                self.returncode = int(receive(self.connection)[0]["exit"])
            except (OSError, ValueError, KeyError):
                self.returncode = 1
            self.connection.close()
            os.close(self.process)
        return self.returncode

    def wait(self, timeout=None):
        until = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired("kernel", timeout)
            select.select([self.process], [], [], 0.1)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            signal.pidfd_send_signal(self.process, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def fork_kernel(command, env=None, cwd=None, independent=False, stdin=None, stdout=None, stderr=None, **more):
    """A kernel from the warm process, as a Forked. None if it cannot or will not provide one."""
    place = os.environ.get(SOCKET)
    arguments = [argument for argument in command[1:] if argument != "-Xfrozen_modules=off"]
    if not place or os.environ.get(COLD) or more or arguments[: len(LAUNCH)] != LAUNCH or not _this_python(command[0]):
        return None
    environment = dict(os.environ if env is None else env)
    parent = 0 if independent else os.getpid()
    environment["JPY_PARENT_PID"] = str(parent)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        connection.settimeout(PATIENCE)
        connection.connect(place)
        message = {"arguments": arguments, "folder": str(cwd or os.getcwd())}
        message |= {"environment": environment, "parent": parent}
        streams = [nothing, *(_descriptor(stream, number, nothing) for number, stream in ((1, stdout), (2, stderr)))]
        text = json.dumps(message).encode() + b"\n"
        connection.sendall(text[socket.send_fds(connection, [text], streams) :])
        answer, lines = receive(connection)
        if "pid" not in answer:
            connection.close()
            return None
        return Forked(connection, answer["pid"], lines[0])
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        connection.close()
        return None
    finally:
        os.close(nothing)


def _descriptor(stream, inherited, nothing):
    """The descriptor of a stream argument of Popen: None is inherited, DEVNULL discards. ValueError for pipes."""
    if stream is None:
        return inherited
    if stream == subprocess.DEVNULL:
        return nothing
    if isinstance(stream, int) and stream < 0:
        raise ValueError("pipes are for the ordinary start")
    return stream if isinstance(stream, int) else stream.fileno()


def _this_python(program):
    return (
        Path(program).name.startswith("python")
        and Path(program).parent.resolve() == Path(sys.executable).parent.resolve()
    )


class WarmProvisioner(LocalProvisioner):
    """Jupyter's own provisioner, except that kernels come from the warm process."""

    async def launch_kernel(self, cmd, **kwargs):
        # does not block Jupyter while the warm process imports
        kernel = await asyncio.to_thread(fork_kernel, cmd, **self._scrub_kwargs(kwargs))
        if kernel is None:
            return await super().launch_kernel(cmd, **kwargs)
        self.process, self.pid, self.pgid = kernel, kernel.pid, kernel.pid
        self.cwd = kwargs.get("cwd", Path.cwd())
        return self.connection_info
