"""The warm process: it loads what lessons need, and forks a kernel per request.

`python -m course_utils.tools.kernels.server SOCKET PARENT`: the file descriptor of an inherited
listening Unix socket, and the number of the process with which it ends. A request is one line of
JSON with the descriptors of the three standard streams: "arguments", Python's, which begin with
LAUNCH; "folder", where the kernel runs; "environment", its variables; "parent", the number of the
process with which the kernel ends. The reply is {"pid": N} with a descriptor of that process; or
{}, after which the client starts a kernel in the ordinary way.

The kernel runs nothing before the client, which has the reply, sends GO. A client that waited too
long has closed the connection and started a kernel in the ordinary way; then the forked process
ends, and so there is one kernel, never two for the same connection file.

It always computes with one thread: OpenMP's threads do not survive a fork, and a child waiting for
them would hang.
"""

import contextlib
import gc
import importlib
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ...exercises import LESSONS
from ..warm import lesson_modules, load, set_aside

# Beginnings of the names of variables about the client and the terminal, which may differ between
# this process and a kernel. Anything else may have been read during imports.
MAY_DIFFER = re.compile(
    r"JPY_|JUPYTER_|JUPYTERHUB_|PYTEST_|PYDEVD_|KERNEL_|COURSE_WARM_|"
    r"CLICOLOR|COLORTERM|FORCE_COLOR|TERM|LS_COLORS|TEXTDOMAIN|"
    r"(OLDPWD|PWD|SHLVL|_|COLUMNS|LINES|PAGER|GIT_PAGER)$"  # whole names
)
# how Jupyter starts a kernel, before the path of its connection file
LAUNCH = ["-m", "ipykernel_launcher", "-f"]
LONGEST_MESSAGE = 2**20  # bytes; far more than an environment has
CHUNK = 2**16  # bytes of a message that are received at once
GO = b"go"  # what a client sends when it has the reply
# seconds that a forked process waits for GO, which a client sends at once or never
SECONDS_TO_GO = 60
# what each kernel imports, whatever its lesson
IN_EACH_KERNEL = (
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "course_utils.exercises",
    "course_utils.settings",
)


def serve(
    listening: socket.socket,
    parent: int,
    environment: Mapping[str, str],
    idle_imports: Sequence[str] = (),
) -> dict[str, Any] | None:
    """Answer requests until the process `parent` (a file descriptor) ends.

    listening: the socket of requests.
    environment: the one that this process was started with.
    idle_imports: the names of modules to import while there is no request.

    In a forked child, returns the client's request; in the warm process, None. Raises what an
    import in `idle_imports` raises.
    """
    modules = list(idle_imports)
    poll = select.poll()
    for descriptor in (listening.fileno(), parent):
        poll.register(descriptor, select.POLLIN)
    while True:
        events = poll.poll(0 if modules else None)  # waits only if nothing is left to import
        if not events:
            importlib.import_module(modules.pop(0))
            set_aside()  # what was imported is shared with the children
        for descriptor, _ in events:
            if descriptor == parent:
                return None
            request = _answer(listening, environment)
            if request is not None:
                return request


def _answer(listening: socket.socket, environment: Mapping[str, str]) -> dict[str, Any] | None:
    """Fork a kernel for the next request. Returns the request in the child, None in the parent."""
    connection, _ = listening.accept()
    to_close: list[int] = []  # file descriptors
    try:
        connection.settimeout(5)  # seconds: a client sends its request at once
        request = receive(connection, to_close)  # with the client's streams
        if _has_another_environment(request, environment):
            connection.sendall(b"{}\n")
            return None
        pid = os.fork()
        if pid == 0:
            _await_go(connection)
            _become_child(to_close)
            # This has closed the sockets and the received streams. Their numbers may soon be those
            # of other files, so nothing may close them again.
            connection.detach()
            listening.detach()
            to_close = []
            return request
        process = os.pidfd_open(pid)
        to_close.append(process)
        socket.send_fds(connection, [json.dumps({"pid": pid}).encode() + b"\n"], [process])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # the client went away, or is not one of ours; a process that was forked for it hears of it
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    finally:
        connection.close()
        for descriptor in to_close:
            os.close(descriptor)
    return None


def _await_go(connection: socket.socket) -> None:
    """In a forked child: wait until the client says that it takes this kernel, or end."""
    try:
        connection.settimeout(SECONDS_TO_GO)
        received = connection.recv(len(GO), socket.MSG_WAITALL)
    except OSError:  # the client is gone, or stopped
        received = b""
    if received != GO:
        os._exit(1)


def _become_child(streams: list[int]) -> None:
    """Take the client's streams as 0, 1, 2, and close all other files of the warm process."""
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 4096)  # above the three streams; the warm process has fewer files
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # `main` ignored it; a kernel needs it
    except OSError:
        os._exit(1)  # or it would serve on, beside the warm process


def receive(connection: socket.socket, descriptors: list[int]) -> dict[str, Any]:
    """Receive one message, a line of JSON.

    descriptors: changed: the file descriptors that came with it are added, also if an error is
    raised. The caller must close them.

    Raises OSError, and ValueError for what is not JSON, such as a message cut at LONGEST_MESSAGE.
    """
    message, received, _, _ = socket.recv_fds(connection, CHUNK, 3)  # three streams
    descriptors += received
    while message and not message.endswith(b"\n") and len(message) < LONGEST_MESSAGE:
        chunk = connection.recv(CHUNK)
        if not chunk:
            break
        message += chunk
    return json.loads(message)


def _has_another_environment(request: dict[str, Any], environment: Mapping[str, str]) -> bool:
    """Whether the client's environment differs from ours: its kernel must not come from here.

    What libraries add to the environment when they are imported may be there too: a client may have
    imported them.
    """
    requested = request["environment"]
    fixed = [name for name in {*environment, *requested} if not MAY_DIFFER.match(name)]
    # the values when this process was started, and now
    ours = {name: (environment.get(name), os.environ.get(name)) for name in fixed}
    return any(requested.get(name) not in values for name, values in ours.items())


def be_kernel(request: dict[str, Any], threads: int) -> None:
    """In a forked child: run a kernel in the client's environment until it ends.

    request: see the module. threads: how many torch may use, which the warm process did not.
    """
    import numpy as np
    import torch
    from ipykernel.kernelapp import IPKernelApp

    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    torch.set_num_threads(threads)
    # the seeds of the warm process would be the same in all of its kernels
    random.seed()
    np.random.seed()
    torch.seed()
    gc.enable()  # `set_aside` has switched it off
    threading.Thread(target=end_with, args=[request["parent"]], daemon=True).start()
    # [2:]: without "-m ipykernel_launcher", which Python itself takes from the arguments
    sys.argv = ["ipykernel_launcher", *request["arguments"][2:]]
    # With a parent handle of 1, ipykernel does not watch its parent, the warm process, which may
    # end before the kernel.
    IPKernelApp.launch_instance(["--IPKernelApp.parent_handle=1", *request["arguments"][2:]])


def await_end(process: int, milliseconds: int | None = None) -> bool:
    """Whether a process, given by a descriptor of it (a pidfd), has ended.

    milliseconds: how long to wait for that; without end if None.
    """
    # unlike `select.select`, which takes no descriptor above 1,023
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(milliseconds))


def end_with(parent: int) -> None:
    """Wait until the process with this number has ended, then end this one at once.

    This is how a kernel ends with its parent. It never returns.
    """
    with contextlib.suppress(OSError):
        await_end(os.pidfd_open(parent))
    os._exit(1)


def main() -> None:
    """Run the warm process, and in its children one kernel each."""
    listening = socket.socket(fileno=int(sys.argv[1]))
    starter = int(sys.argv[2])
    environment = dict(os.environ)
    if sys.path[0] in ("", os.getcwd()):
        del sys.path[0]  # as ipykernel_launcher does
    request, threads = None, 1  # `serve` returns a request in a child only
    try:
        parent = os.pidfd_open(starter)
        if os.getppid() == starter:  # else it has already ended
            # as ipykernel sets it, before anything imports matplotlib, which binds its backend to a
            # shell on import; there is no shell here, so the backend is left to the kernels
            os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
            threads = load(IN_EACH_KERNEL)
            set_aside()
            exercises = [f"course_utils.exercises.lesson_{number}" for number in LESSONS]
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # kernels that end leave nothing behind
            request = serve(listening, parent, environment, [*lesson_modules(), *exercises])
    finally:
        if request is None:  # the warm process ends: so does its socket, in its own folder
            shutil.rmtree(os.path.dirname(listening.getsockname()), ignore_errors=True)
    if request:
        be_kernel(request, threads)


if __name__ == "__main__":
    main()
