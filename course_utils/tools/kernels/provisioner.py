"""Start Jupyter kernels from the warm process.

If anything fails, the kernel starts in the ordinary way. `server` describes what is sent.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner

from .server import GO, LAUNCH, await_end, receive

NAME = "course-warm"  # the entry point in pyproject.toml
SOCKET = "COURSE_WARM_SOCKET"  # variable: the path of the socket on which the warm process listens
# ipykernel's own flag for Python: debuggers cannot step into frozen modules
NO_FROZEN_MODULES = "-Xfrozen_modules=off"
COLD = "COURSE_COLD_KERNELS"  # variable: if it is not empty, kernels start in the ordinary way
# seconds that a kernel may take: a warm process that is still importing answers when it is done;
# on a slow machine an ordinary kernel takes as long
PATIENCE = 30


def is_possible() -> bool:
    """Whether kernels can be started warm: on Linux, if the course is installed as a package.

    COLD switches it off.
    """
    on_linux = sys.platform == "linux" and hasattr(os, "pidfd_open")
    registered = entry_points(group="jupyter_client.kernel_provisioners", name=NAME)
    return on_linux and bool(registered) and not os.environ.get(COLD)


def listens() -> bool:
    """Whether the warm process named in this environment is listening."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(os.environ[SOCKET])
        return True
    except (OSError, KeyError):
        return False


def start_warm() -> subprocess.Popen[bytes] | None:
    """Start a warm process, from which this process and its children get Jupyter kernels.

    The warm process ends with this one, even if an exec has made this one another program, and
    deletes the folder of its socket. Returns it, or None if there already is one or it cannot be
    started. Changes os.environ: the socket's path and Jupyter's default provisioner.
    """
    if not is_possible() or listens():
        return None
    folder = ""  # for the case that none can be made
    try:
        folder = tempfile.mkdtemp(prefix="course-")  # only this user can read it, and so connect
        socket_path = str(Path(folder) / "kernels")
        process = _start_server(socket_path)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    os.environ[SOCKET] = socket_path
    os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = NAME
    return process


def _start_server(socket_path: str) -> subprocess.Popen[bytes]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(socket_path)
        listening.listen(64)  # requests that may wait, more than a test run makes at once
        return subprocess.Popen(
            [
                sys.executable,
                NO_FROZEN_MODULES,
                "-m",
                f"{__package__}.server",
                str(listening.fileno()),
                str(os.getpid()),
            ],
            pass_fds=[listening.fileno()],
            start_new_session=True,  # Ctrl+C in the terminal does not reach it
            env={**os.environ, SOCKET: socket_path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


class Forked:
    """A kernel forked by another process, with what Jupyter uses of a subprocess.Popen.

    pid: its number, which the system may give away once it has ended. process: a file descriptor
    that stands for it alone (a pidfd), closed once it has ended. Only its parent gets its exit
    status, so 0 is given here.
    """

    stdin = stdout = stderr = None
    returncode: int | None = None

    def __init__(self, pid: int, process: int) -> None:
        self.pid, self.process = pid, process

    def poll(self) -> int | None:
        """None while it lives, else 0."""
        return self._poll(milliseconds=0)

    def wait(self) -> int:
        """Wait until it has ended. Returns 0."""
        while (status := self._poll(milliseconds=None)) is None:
            pass
        return status

    def _poll(self, milliseconds: int | None) -> int | None:
        if self.returncode is None and await_end(self.process, milliseconds):
            self.returncode = 0
            os.close(self.process)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it lives."""
        if self.poll() is None:
            signal.pidfd_send_signal(self.process, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def fork_kernel(
    command: list[str],
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    stdin: int | None = None,
    stdout: int | IO | None = None,
    stderr: int | IO | None = None,
    **unsupported: object,
) -> Forked | None:
    """A kernel from the warm process, started as `subprocess.Popen` would with these arguments.

    None if the warm process cannot or will not give one, or for other arguments than these. stdin
    is ignored: a kernel reads nothing from it.
    """
    socket_path = os.environ.get(SOCKET)
    arguments = [argument for argument in command[1:] if argument != NO_FROZEN_MODULES]
    is_kernel = arguments[: len(LAUNCH)] == LAUNCH and _is_this_python(Path(command[0]))
    if not socket_path or os.environ.get(COLD) or unsupported or not is_kernel:
        return None
    parent = os.getpid()
    request = {
        "arguments": arguments,
        "folder": os.path.abspath(cwd or os.curdir),  # the warm process may run in another folder
        "environment": {**(os.environ if env is None else env), "JPY_PARENT_PID": str(parent)},
        "parent": parent,
    }
    try:
        return _ask_for_kernel(socket_path, request, stdout, stderr)
    # the warm process refuses, is gone or sends no valid answer, or a stream has no descriptor
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None


# raises KeyError if the warm process refuses, and OSError, ValueError, IndexError, TypeError
def _ask_for_kernel(
    socket_path: str, request: dict[str, Any], stdout: int | IO | None, stderr: int | IO | None
) -> Forked:
    devnull = os.open(os.devnull, os.O_RDWR)
    descriptors: list[int] = []
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(socket_path)
            streams = [devnull, _descriptor(stdout, 1, devnull), _descriptor(stderr, 2, devnull)]
            message = json.dumps(request).encode() + b"\n"
            # the descriptors travel with the first bytes, which may not be all
            sent = socket.send_fds(connection, [message], streams)
            connection.sendall(message[sent:])
            answer = receive(connection, descriptors)
            kernel = Forked(answer["pid"], descriptors[0])
            connection.sendall(GO)
            descriptors.clear()  # the kernel's own from now on
            return kernel
    finally:
        for descriptor in (devnull, *descriptors):
            os.close(descriptor)


def _descriptor(stream: int | IO | None, inherited: int, devnull: int) -> int:
    """The descriptor of a stream argument of Popen: None is inherited, DEVNULL discards.

    PIPE has none. Its number, -1, is returned, and sending it fails, so that the kernel starts in
    the ordinary way.
    """
    if stream is None:
        return inherited
    if stream == subprocess.DEVNULL:
        return devnull
    return stream if isinstance(stream, int) else stream.fileno()


# whether a command runs the Python of this environment, whose modules the warm process has loaded
def _is_this_python(program: Path) -> bool:
    return (
        program.name.startswith("python")
        and program.parent.resolve() == Path(sys.executable).parent.resolve()
    )


class WarmProvisioner(LocalProvisioner):
    """Jupyter's own provisioner, except that kernels come from the warm process."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        # does not block Jupyter while the warm process imports
        kernel = await asyncio.to_thread(fork_kernel, cmd, **self._scrub_kwargs(kwargs))
        if kernel is None:
            return await super().launch_kernel(cmd, **kwargs)
        # pyrefly: ignore[bad-override-mutable-attribute]  # Jupyter declares them as None
        self.process, self.pid, self.pgid = kernel, kernel.pid, kernel.pid
        self.cwd = kwargs.get("cwd", Path.cwd())
        return self.connection_info
