"""The warm process: it imports what lessons import, loads the encoder, and forks a kernel per request on its socket.

`python -m course_utils.tools.kernels.server SOCKET PARENT`: the file descriptor of an inherited listening Unix socket,
and the process with which it ends. A request is one line of JSON (arguments, folder, environment) with the three
standard streams. The reply is {"pid": N} with a file descriptor of that process, followed by {"exit": status} when it
has ended; or {"no": reason}, after which the client starts a kernel in the ordinary way.

It always computes with one thread: OpenMP's threads do not survive a fork, and a child waiting for them would hang.
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

from ...exercises import LESSONS
from ..warm import lesson_modules, load, set_aside

# What may differ between this process and a kernel: variables about the client and the terminal. Anything else may have
# been read during imports.
FREE = re.compile(
    r"(JPY_|JUPYTER_|JUPYTERHUB_|PYTEST_|PYDEVD_|KERNEL_|COURSE_WARM_|CLICOLOR|COLORTERM|FORCE_COLOR|TERM|"
    r"LS_COLORS|(OLD)?PWD$|SHLVL$|_$|COLUMNS$|LINES$|(GIT_)?PAGER$|TEXTDOMAIN)"
)
LAUNCH = ["-m", "ipykernel_launcher", "-f"]
LONGEST = 2**20
FIRST = ("ipykernel.ipkernel", "ipykernel.kernelapp", "course_utils.exercises", "course_utils.settings")


def serve(listening, parent, asked, later=()):
    """Answer requests until the parent process ends; while idle, import `later`, the names of modules.

    In a forked child, returns the client's request; in the warm process, None.
    """
    poll = select.poll()
    for line in (listening, parent):
        poll.register(line, select.POLLIN)
    children, later = {}, list(later)  # children: file descriptor of a process -> (its PID, the client's connection)
    while True:
        events = poll.poll(0 if later else None)
        if not events:
            importlib.import_module(later.pop(0))
            set_aside()
        for line, _ in events:
            if line == parent:
                return None
            if line in children:
                poll.unregister(line)
                pid, connection = children.pop(line)
                os.close(line)
                _tell(connection, {"exit": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])})
                connection.close()
                continue
            connection, _ = listening.accept()
            streams = []
            try:
                connection.settimeout(5)
                request, streams = receive(connection)
                if reason := _refuse(request, streams, asked):
                    _tell(connection, {"no": reason})
                    connection.close()
                    continue
                pid = os.fork()
                if pid == 0:
                    os.setsid()
                    for number, stream in enumerate(streams):
                        os.dup2(stream, number)
                    os.closerange(3, 4096)
                    for thing in (connection, listening, *(other for _, other in children.values())):
                        thing.detach()  # closed above
                    streams.clear()
                    return request
                process = os.pidfd_open(pid)
                children[process] = pid, connection
                poll.register(process, select.POLLIN)
                socket.send_fds(connection, [json.dumps({"pid": pid}).encode() + b"\n"], [process])
            except (OSError, ValueError, KeyError, TypeError):  # the client went away, or is not one of ours
                connection.close()
            finally:
                for stream in streams:
                    os.close(stream)


def receive(connection):
    """Receive one message, a line of JSON, and its file descriptors. Raises ValueError or OSError."""
    text, lines, _, _ = socket.recv_fds(connection, 65536, 3)
    while text and not text.endswith(b"\n") and len(text) < LONGEST:
        more = connection.recv(65536)
        if not more:
            break
        text += more
    message = json.loads(text)
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message, lines


def _tell(connection, message):
    with contextlib.suppress(OSError):  # the client is gone
        connection.sendall(json.dumps(message).encode() + b"\n")


def _refuse(request, streams, asked):
    """Why this kernel must not come from here, or None. asked: the environment that this process was started with.

    What libraries add to the environment when they are imported may be there too: a client may have imported them.
    """
    arguments, wanted = request["arguments"], request["environment"]
    if len(streams) != 3:
        return "no streams"
    if arguments[: len(LAUNCH)] != LAUNCH:
        return "another program"
    differ = [
        name
        for name in {*asked, *wanted}
        if wanted.get(name) not in (asked.get(name), os.environ.get(name)) and not FREE.match(name)
    ]
    if differ:
        return f"other environment: {', '.join(sorted(differ))}"
    return None


def be_kernel(request, threads):
    """In a forked child: take on the client's environment and streams, and run a kernel until it ends."""
    import numpy as np
    import torch
    from ipykernel.kernelapp import IPKernelApp

    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    torch.set_num_threads(threads)
    random.seed()
    np.random.seed()
    torch.seed()
    gc.enable()
    if request["parent"]:
        threading.Thread(target=end_with, args=[request["parent"]], daemon=True).start()
    sys.argv = ["ipykernel_launcher", *request["arguments"][2:]]
    # With a parent handle of 1, ipykernel does not watch its parent, the warm process, which may end before the kernel.
    IPKernelApp.launch_instance(["--IPKernelApp.parent_handle=1", *request["arguments"][2:]])


def end_with(parent):
    """End this process when that one has ended, as a kernel does when its parent is gone."""
    try:
        line = os.pidfd_open(parent)
        select.select([line], [], [])
    except OSError:
        pass
    os._exit(1)


def main():
    """Run the warm process, and in its children one kernel each."""
    listening, starter, asked = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), dict(os.environ)
    if sys.path[0] in ("", os.getcwd()):
        del sys.path[0]  # as ipykernel_launcher does
    request = None
    try:
        parent = os.pidfd_open(starter)
        if os.getppid() == starter:  # else it has already ended
            # as ipykernel sets it, before anything imports matplotlib, which binds its backend to a shell on import;
            # there is no shell here, so the backend is left to the kernels
            os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
            threads = load(FIRST)
            set_aside()
            request = serve(
                listening,
                parent,
                asked,
                [*lesson_modules(), *(f"course_utils.exercises.lesson_{number}" for number in LESSONS)],
            )
    finally:
        if request is None:
            shutil.rmtree(os.path.dirname(listening.getsockname()), ignore_errors=True)
    if request:
        be_kernel(request, threads)


if __name__ == "__main__":
    main()
